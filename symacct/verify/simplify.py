"""The simplest question that still shows a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from symacct.verify.protocol import Ask, Part
from symacct.verify.verdict import Finding

Probe = Callable[[Ask], Finding | None]

_VALUES = {
    "Gaussian": ("1", "2", "5", "10", "0.5", "100", "0.1"),
    "Laplace": ("1", "2", "10", "0.5", "100", "0.1"),
    "RandomizedResponse": ("0.75", "0.6", "0.9", "0.99"),
    "PureDP": ("1", "2", "0.1", "10", "0.01"),
    "ZCDP": ("1", "0.1", "0.01"),
}
_RATES = ("0.5", "0.1", "0.01", "0.001", "0.0001", "1e-6", "0.9", "0.99")
_AT = {
    "rdp": ("2", "3", "4", "8", "16", "64", "256", "1.5", "2.5", "3.5", "10.5", "1.1", "1.01"),
    "epsilon": ("1e-5", "0.001"),
    "delta": ("1", "0.1"),
}
_ROUNDS = 4


def simplest(
    found: Finding, probe: Probe, late: Callable[[], bool] = lambda: False, budget: int = 60
) -> Finding:
    """A finding of the same kind at a question that cannot be made simpler one step at a time."""
    left = budget
    for _ in range(_ROUNDS):
        for simpler in simplifications(found.ask):
            if left == 0 or late():
                return found
            left -= 1
            again = probe(simpler)
            if again is not None and _same_kind(again, found):
                found = again
                break
        else:
            return found
    return found


def _same_kind(again: Finding, found: Finding) -> bool:
    """The same verdict, not ten times less severe: not another, smaller defect."""
    kind = (again.verdict, again.below, again.beyond_rounding)
    if kind != (found.verdict, found.below, found.beyond_rounding):
        return False
    return again.severity >= min(found.severity, 10.0) / 10


def simplifications(ask: Ask) -> Iterator[Ask]:
    """Simpler questions, the boldest first."""
    if len(ask.parts) > 1:
        for i in range(len(ask.parts)):
            yield replace(ask, parts=ask.parts[:i] + ask.parts[i + 1 :])
    yield from _bold(ask)
    for count in (1, 2, 6):
        for i, part in enumerate(ask.parts):
            if part.count > count:
                yield _with(ask, i, replace(part, count=count))
    yield from (replace(ask, at=at) for at in _before(_AT[ask.kind], ask.at))
    for i, part in enumerate(ask.parts):
        yield from (_with(ask, i, simpler) for simpler in _simpler_parts(part))


def _bold(ask: Ask) -> Iterator[Ask]:
    """The plainest question of all with the order kept, and with the rate kept."""
    for gamma in ("0.5", "0.1", "0.001"):
        plain = replace(ask, parts=tuple(_plain(part, gamma) for part in ask.parts))
        if len(plain.expression) < len(ask.expression):
            yield plain


def _plain(part: Part, gamma: str) -> Part:
    """One run with the first of the known values."""
    rate = None if part.gamma is None else gamma
    return replace(_first(part, _VALUES[part.mechanism][0]), gamma=rate, count=1)


def _with(ask: Ask, i: int, part: Part) -> Ask:
    return replace(ask, parts=(*ask.parts[:i], part, *ask.parts[i + 1 :]))


def _before(known: tuple[str, ...], text: str) -> Iterator[str]:
    """The known simple values that come before this one; all of them if it is not known."""
    for value in known:
        if Fraction(value) == Fraction(text):
            return
        yield value


def _simpler_parts(part: Part) -> Iterator[Part]:
    if part.gamma is not None:
        yield from (replace(part, gamma=gamma) for gamma in _before(_RATES, part.gamma))
    for value in _before(_VALUES[part.mechanism], part.parameters[0][1]):
        yield _first(part, value)


def _first(part: Part, value: str) -> Part:
    """The part with another first parameter."""
    (name, _), *rest = part.parameters
    return replace(part, parameters=((name, value), *rest))
