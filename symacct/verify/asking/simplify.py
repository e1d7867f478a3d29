"""Questions beside one that shows a finding: the simplest that still does, and others close by."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from symacct.kernel.deadline import OutOfTimeError
from symacct.verify.asking.questions import short
from symacct.verify.asking.regions import RIGHT_AT, Right, bounded
from symacct.verify.asking.values import SCALED, WHOLE
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.protocol import ASKED, BUDGETED, Ask, AskedPart

Probe = Callable[[Ask], Finding | None]

#: Steps of a tree, and the ε that noise is asked for.
_STEPS, _WITHIN = ("1", "2", "3", "4", "7", "8", "1000"), ("1", "0.1", "10")
_RATES = ("0.5", "0.1", "0.01", "0.001", "0.0001", "1e-6", "0.9", "0.99")
_AT = {
    "rdp": ("2", "3", "4", "8", "16", "64", "256", "1.5", "2.5", "3.5", "10.5", "1.1", "1.01"),
    "epsilon": ("1e-5", "0.001"),
    "delta": ("1", "0.1"),
} | dict.fromkeys(BUDGETED, ("1e-5", "0.001"))
_BISECTIONS = 16
#: What an implementation falls into from some order on, and the size of what it gives says nothing.
_EDGES = ("nan", "inf", "exception", "zero")
#: The share of the worst error that a simpler question has to show.
_LARGE = 0.1


def simplest(
    found: Finding,
    probe: Probe,
    budget: int = 90,
    edges: int = 0,
    right: Right = lambda ask: True,
) -> Finding:
    """A finding of the same kind at a question that cannot be made simpler one step at a time.

    Or at the simplest that was found before the time was over. With so many questions more, the
    `edges` between which it shows.
    """
    left, worst = budget, found

    def budgeted(ask: Ask) -> Finding | None:
        nonlocal left
        if left == 0:
            raise OutOfTimeError
        left -= 1
        return probe(ask)

    def shows(ask: Ask) -> Finding | None:
        try:
            again = budgeted(ask)
        except OutOfTimeError:
            return None
        return again if again is not None and _same_kind(again, worst) else None

    before = None
    while left and found is not before:
        before = found
        for simpler in SIMPLER:
            found = next(filter(None, map(shows, simpler(found.ask))), found)
    left = _BISECTIONS
    if found.verdict in _EDGES:
        found = _at_the_edge(found, shows, right)
    left = edges
    return bounded(found, budgeted, right) if edges and not found.ask.how else found


def _same_kind(again: Finding, worst: Finding) -> bool:
    """Is it the worst's defect: its verdict, and an error of a tenth of the worst's or more?

    What is simplified is compared with the worst found, not with the step before: many small
    steps would lose it.
    """
    kind = (again.verdict, again.below, again.beyond_rounding)
    if kind != (worst.verdict, worst.below, worst.beyond_rounding):
        return False
    return again.verdict in _EDGES or _error(again) >= _LARGE * _error(worst)


def _error(found: Finding) -> float:
    """1 − value/truth of what is too small, 1 − truth/value of what is too large."""
    return -math.expm1(-found.severity)


def _at_the_edge(found: Finding, shows: Probe, is_right: Right) -> Finding:
    """The first whole order from which on it is so, if the answer is right at the order 2."""
    ask = found.ask
    if ask.kind != "rdp" or ask.batch or Fraction(ask.at).denominator != 1:
        return found
    second = replace(ask, at="2")
    if ask.at == "2" or shows(second) or not is_right(second):
        return found
    right, wrong = 2, int(ask.at)
    while wrong - right > 1:
        middle = replace(ask, at=str((right + wrong) // 2))
        again = shows(middle)
        if again:
            found, wrong = again, int(middle.at)
        elif is_right(middle):
            right = int(middle.at)
        else:
            break
    note = "; ".join(filter(None, (found.note, RIGHT_AT.format(right))))
    return replace(found, note=note)


def _fewer_parts(ask: Ask) -> Iterator[Ask]:
    for i in range(len(ask.parts) if len(ask.parts) > 1 else 0):
        yield replace(ask, parts=ask.parts[:i] + ask.parts[i + 1 :])


def _fewer_orders(ask: Ask) -> Iterator[Ask]:
    """Without one of the orders that are to be searched, or are asked at once."""
    orders = ask.orders or ()
    if ask.batch:
        yield replace(ask, orders=None)
    for i in range(len(orders) if len(orders) > 1 else 0):
        if not ask.batch or orders[i] != ask.at:
            yield replace(ask, orders=orders[:i] + orders[i + 1 :])


def _fewer_records(ask: Ask) -> Iterator[Ask]:
    """One record, or two; then the sensitivity 1, or 2."""
    yield from (replace(ask, group=n) for n in (1, 2) if n < ask.group)
    for i, part in enumerate(ask.parts):
        for size in () if part.sensitivity == "1" else _before(("1", "2"), part.sensitivity):
            yield _with(ask, i, replace(part, sensitivity=size))


def _fewer_steps(ask: Ask) -> Iterator[Ask]:
    """A smaller tree."""
    for i, part in enumerate(ask.parts):
        named = dict(part.parameters)
        for steps in _STEPS if "steps" in named else ():
            if int(steps) < int(named["steps"]):
                own = (part.parameters[0], ("steps", steps))
                yield _with(ask, i, replace(part, parameters=own))


def _bold(ask: Ask) -> Iterator[Ask]:
    """The plainest question of all with the order kept, and with the rate kept."""
    for gamma in ("0.5", "0.1", "0.001"):
        plain = replace(ask, parts=tuple(_plain(part, gamma) for part in ask.parts))
        if len(plain.expression) < len(ask.expression):
            yield plain


def _fewer_inside(ask: Ask) -> Iterator[Ask]:
    for i, part in enumerate(ask.parts):
        yield from (_with(ask, i, replace(part, inner=n)) for n in (1, 2, 3) if n < part.inner)


def _fewer_runs(ask: Ask) -> Iterator[Ask]:
    for count in (1, 2, 6, 10, 100, 1000, 10_000, 100_000):
        for i, part in enumerate(ask.parts):
            if part.count > count:
                yield _with(ask, i, replace(part, count=count))


def _simpler_place(ask: Ask) -> Iterator[Ask]:
    """A known order, ε or δ, or one of fewer digits; of a batch the orders are what they are."""
    if ask.within is not None:
        for within in (*_before(_WITHIN, ask.within), *_shorter(ask.within)):
            yield replace(ask, within=within)
    if not ask.at or ask.batch:
        return
    least = "1" if ask.kind == "rdp" else "0"
    known = (*_before(_AT[ask.kind], ask.at), *_shorter(ask.at, least))
    yield from (replace(ask, at=at) for at in known)


def _plain(part: AskedPart, gamma: str) -> AskedPart:
    """One run with the first of the known values."""
    rate = None if part.gamma is None else gamma
    one = min(part.count, 1)  # none where the number of runs is asked for
    return replace(_first(part, ASKED[part.mechanism].simple[0]), gamma=rate, count=one, inner=1)


def _with(ask: Ask, i: int, part: AskedPart) -> Ask:
    return replace(ask, parts=(*ask.parts[:i], part, *ask.parts[i + 1 :]))


def _before(known: tuple[str, ...], text: str) -> Iterator[str]:
    """The known simple values that come before this one; all of them if it is not known."""
    for value in known:
        if Fraction(value) == Fraction(text):
            return
        yield value


def _shorter(text: str, low: str = "0", high: str = "Infinity") -> Iterator[str]:
    """The number with fewer significant digits, the fewest first, strictly between two others."""
    if "/" in text:
        return
    number = Decimal(text)
    for digits in range(1, len(number.normalize().as_tuple().digits)):
        fewer = Decimal(f"{number:.{digits}g}")
        if Decimal(low) < fewer < Decimal(high):
            yield str(int(fewer) if fewer == int(fewer) else fewer)


def _simpler_rates(ask: Ask) -> Iterator[Ask]:
    for i, part in enumerate(ask.parts):
        given = part.gamma
        known = () if given is None else (*_before(_RATES, given), *_shorter(given, high="1"))
        yield from (_with(ask, i, replace(part, gamma=gamma)) for gamma in known)


def _simpler_values(ask: Ask) -> Iterator[Ask]:
    for i, part in enumerate(ask.parts):
        if not part.parameters:
            continue
        given = part.parameters[0][1]
        limits = ("0.5", "1") if part.mechanism == "RandomizedResponse" else ("0", "Infinity")
        for value in (*_before(ASKED[part.mechanism].simple, given), *_shorter(given, *limits)):
            yield _with(ask, i, _first(part, value))


#: Each of these gives simpler questions, the simplest first; the boldest ways first.
SIMPLER = (
    _fewer_parts, _fewer_orders, _fewer_records, _bold, _fewer_inside, _fewer_runs,
    _simpler_place, _simpler_rates, _simpler_values, _fewer_steps,
)  # fmt: skip


def _first(part: AskedPart, value: str) -> AskedPart:
    """The part with another first parameter, if it has any."""
    if not part.parameters:
        return part
    (name, _), *rest = part.parameters
    return replace(part, parameters=((name, value), *rest))


def other_side(ask: Ask) -> Iterator[Ask]:
    """Where an error may have the other sign: parts swapped, and what is above 1 below it."""
    if len(ask.parts) > 1:
        yield replace(ask, parts=ask.parts[::-1])
        yield replace(ask, parts=ask.parts[1:] + ask.parts[:1])
    for i, part in enumerate(ask.parts):
        size = Fraction(part.sensitivity)
        if size != 1:
            whole = part.mechanism in WHOLE
            yield _with(ask, i, replace(part, sensitivity=_number(1 / size if not whole else 2)))
        if part.parameters and part.mechanism in SCALED and Fraction(part.parameters[0][1]) != 1:
            yield _with(ask, i, _first(part, _number(1 / Fraction(part.parameters[0][1]))))
        if part.gamma is not None and part.sampling == "poisson" and part.rate < 1:
            yield _with(ask, i, replace(part, gamma=_number(1 - part.rate)))
    if ask.kind == "rdp" and not ask.batch and Fraction(ask.at) > 2:
        alpha = Fraction(ask.at)
        yield replace(ask, at="2" if alpha.denominator == 1 else _number(1 + 1 / (alpha - 1)))


def _number(x: Fraction | int) -> str:
    return str(x) if Fraction(x).denominator == 1 else short(float(x))


def nearby(ask: Ask, chance: random.Random) -> Ask:
    """A question close by: every number moved by up to a factor of two."""

    def moved(text: str, least: float = 0, most: float | None = None) -> str:
        x = Decimal(short(float(Fraction(text) - least) * 2 ** chance.uniform(-1, 1)))
        x += Decimal(str(least))
        return text if most is not None and x >= most else str(x)

    def moved_part(part: AskedPart) -> AskedPart:
        gamma = None if part.gamma is None else moved(part.gamma, 0, 1)
        named = part.parameters
        if named:
            name, value = named[0]
            limits = (0.5, 1) if name == "p" else (0, None)
            named = ((name, moved(value, *limits)), *named[1:])
        return replace(part, parameters=named, gamma=gamma)

    at = ask.at
    if ask.kind == "rdp" and not ask.batch:
        alpha = Fraction(at)
        whole = alpha.denominator == 1
        at = moved(at, 1, 4097)
        at = str(max(2, round(Fraction(at)))) if whole else at
    return replace(ask, parts=tuple(map(moved_part, ask.parts)), at=at)
