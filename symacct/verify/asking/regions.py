"""Where a defect shows: a band in the noise, the rate or the order, a number of runs, a modulus."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from symacct.kernel.deadline import OutOfTimeError
from symacct.verify.asking.questions import short
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.protocol import Answer, Ask

#: The finding at a question, None where its answer is right; OutOfTimeError where it is too late.
Shows = Callable[[Ask], Finding | None]
#: Was this question asked, and is the answer right for a reason that tells? See History.is_right.
Right = Callable[[Ask], bool]
#: What is known of the order below the first that shows it.
RIGHT_AT = "the answer is right at the order {}"
#: Factors by which a number is moved until the answer is right; then the edge is bisected.
_FACTORS = (2, 8, 64)
_BISECTIONS = 7
_MOST_RUNS, _MOST_ORDER = 10**6, 4096
_MODULI = tuple(2**bits for bits in (32, 31, 24, 16, 15, 8))


@dataclass(frozen=True)
class _Axis:
    """One number of a question: its name, what it is now, and the question with another."""

    name: str
    value: Fraction
    moved: Callable[[str], Ask]
    low: Fraction
    high: Fraction
    whole: bool = False

    def text(self, x: Fraction) -> str:
        return str(round(x)) if self.whole else short(float(x))

    def at(self, x: Fraction) -> Ask | None:
        """The question there; None outside of what the number may be."""
        text = self.text(x)
        inside = self.low < Fraction(text) < self.high and Fraction(text) != self.value
        return self.moved(text) if inside else None


def bounded(found: Finding, shows: Shows, right: Right = lambda ask: True) -> Finding:
    """The finding with the edges between which it shows, at the fewest runs that show it.

    Only what was asked and answered rightly is named. A rounding error has no edges.
    """
    if not found.beyond_rounding or len(found.ask.parts) > 1:
        return found
    said = []
    with contextlib.suppress(OutOfTimeError):
        for axes in (_runs, _axes):  # the fewest runs first: the other edges are those of that many
            for axis in axes(found.ask):
                below, above = (_edge(axis, shows, right, up) for up in (False, True))
                if axis.name == "runs" and below is not None:
                    found = shows(axis.moved(axis.text(below[1]))) or found
                edges = (below, None if axis.name == "runs" else above)
                texts = [axis.text(edge[0]) for edge in edges if edge is not None]
                places = [f"{axis.name} = {x}" for x in texts if not _is_said(found, axis, x)]
                if places:
                    said.append(f"the answer is right with {' or '.join(places)} instead")
    return replace(found, note="; ".join(filter(None, (found.note, *said))))


def _is_said(found: Finding, axis: _Axis, text: str) -> bool:
    return axis.name == "α" and RIGHT_AT.format(text) in found.note.split("; ")


def _runs(ask: Ask) -> Iterator[_Axis]:
    (part,) = ask.parts
    if part.count:

        def moved(text: str) -> Ask:
            return replace(ask, parts=(replace(part, count=int(text)),))

        most = Fraction(_MOST_RUNS + 1)
        yield _Axis("runs", Fraction(part.count), moved, Fraction(0), most, True)


def _axes(ask: Ask) -> Iterator[_Axis]:
    (part,) = ask.parts

    def with_part(**changes: object) -> Ask:
        return replace(ask, parts=(replace(part, **changes),))  # type: ignore[arg-type]

    def with_value(text: str) -> Ask:
        return with_part(parameters=((name, text), *part.parameters[1:]))

    for name, value in part.parameters[:1]:
        most = (Fraction(1, 2), Fraction(1)) if name == "p" else (Fraction(0), Fraction(10**9))
        yield _Axis(name, Fraction(value), with_value, *most)
    if part.gamma is not None and part.sampling == "poisson":
        rate = Fraction(part.gamma)
        yield _Axis("γ", rate, lambda text: with_part(gamma=text), Fraction(0), Fraction(1))
    if ask.kind == "rdp" and not ask.batch:
        order = Fraction(ask.at)
        whole = order.denominator == 1
        limits = (Fraction(1), Fraction(_MOST_ORDER + 1))
        yield _Axis("α", order, lambda text: replace(ask, at=text), *limits, whole)


def _edge(axis: _Axis, shows: Shows, right: Right, up: bool) -> tuple[Fraction, Fraction] | None:
    """(right, wrong) next to each other on this side; None where none is known to be right."""
    wrong = axis.value
    for factor in _FACTORS:
        place = axis.value * factor if up else axis.value / factor
        if axis.name == "α":  # which begins at 1
            place = 1 + (axis.value - 1) * factor if up else 1 + (axis.value - 1) / factor
        if axis.whole:
            place = Fraction(round(place))
        ask = axis.at(place)
        if ask is None:
            return None
        if shows(ask) is None:
            return _bisected(axis, shows, right, (place, wrong)) if right(ask) else None
        wrong = place
    return None


def _bisected(
    axis: _Axis, shows: Shows, right: Right, edge: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Whole numbers to neighbours, others to where three digits are the same."""
    good, bad = edge
    for _ in range(20 if axis.whole else _BISECTIONS):
        middle = Fraction(axis.text((good + bad) / 2))
        if middle in (good, bad):
            break
        ask = axis.at(middle)
        if ask is None:
            break
        if shows(ask) is not None:
            bad = middle
        elif right(ask):
            good = middle
        else:
            break  # neither right nor wrong: nothing closer is known
    return good, bad


def as_runs(found: Finding, answers: Mapping[Ask, Answer]) -> Finding:
    """The finding with how many runs its value is, where that is another number: a modulus."""
    (part, *more), value = found.ask.parts, found.answer.finite
    single = answers.get(replace(found.ask, parts=(replace(part, count=1),)))
    one = None if single is None or more or found.ask.kind != "rdp" else single.finite
    if not one or value is None:
        return found
    runs = round(value / one)
    if runs == part.count or abs(value - runs * one) > Fraction(1, 10**9) * abs(value):
        return found
    modulus = next((m for m in _MODULI if m <= part.count and part.count % m == runs), None)
    counted = "" if modulus is None else f", their number modulo {modulus:,}"
    said = f"the answer is that of {runs:,} of the {part.count:,} runs{counted}"
    return replace(found, note="; ".join(filter(None, (found.note, said))))
