"""Laws that need no reference: RDP nondecreasing in α, a convex CGF, sums of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

from symacct.kernel.answer import nearest_float
from symacct.verify.judging.verdict import ALLOWANCE, Finding, explained_by_rounding
from symacct.verify.peer.protocol import Answer, Ask, Asked


def curves(points: Iterable[Asked]) -> list[list[Asked]]:
    """The finite values of each curve, by their orders."""
    found: dict[object, list[Asked]] = {}
    for ask, answer in points:
        if answer.finite is not None:
            found.setdefault((ask.parts, ask.adjacency, ask.group), []).append((ask, answer))
    return [sorted(curve, key=lambda point: Fraction(point[0].at)) for curve in found.values()]


def curve_laws(curve: list[Asked], allowance: Fraction = ALLOWANCE) -> Iterator[Finding]:
    """Violations along one curve, asked at several orders; for curves claimed to be exact."""
    for low, high in pairwise(curve):
        if (fall := _value(low) - _value(high)) > allowance * abs(_value(low)):
            note = (
                f"the peer's ε(α) falls from α = {low[0].at} on, but a true curve is nondecreasing"
            )
            yield _broken("nondecreasing", high, low, fall, note)
    for before, middle, after in zip(curve, curve[1:], curve[2:], strict=False):
        (a, ka), (b, kb), (c, kc) = (_cgf(point) for point in (before, middle, after))
        above = kb - ka - (kc - ka) * (b - a) / (c - a)
        if above > allowance * (abs(ka) + abs(kb) + abs(kc)):
            note = (
                f"the peer's (α − 1) ε(α) is above its chord from {before[0].at} to {after[0].at}"
            )
            yield _broken("convex", middle, after, above / b, f"{note}, but a true one is convex")


def _broken(law: str, point: Asked, other: Asked, gap: Fraction, note: str) -> Finding:
    beyond = not explained_by_rounding(point[0], gap, abs(_value(point)))
    return Finding("inconsistent", *point, beyond_rounding=beyond, note=note, other=other, law=law)


def _cgf(point: Asked) -> tuple[Fraction, Fraction]:
    lam = Fraction(point[0].at) - 1
    return lam, lam * _value(point)


def _value(point: Asked) -> Fraction:
    value = point[1].finite
    assert value is not None  # noqa: S101  # only finite points are compared
    return value


def sum_law(
    ask: Ask, answer: Answer, runs: list[Asked], allowance: Fraction = ALLOWANCE
) -> Finding | None:
    """n-fold is n times, and a composition is the sum: against the peer's own single runs."""
    if answer.finite is None or any(run.finite is None for _, run in runs):
        return None
    shares = [part.count * _value(run) for part, run in zip(ask.parts, runs, strict=True)]
    total = sum(shares, Fraction())
    if abs(answer.finite - total) <= allowance * max(abs(answer.finite), abs(total)):
        return None
    what = " + ".join(
        f"{part.count}·({nearest_float(_value(run)):.12g})"
        for part, run in zip(ask.parts, runs, strict=True)
    )
    note = f"the runs it is made of give {what} = {nearest_float(total):.12g}"
    return Finding("inconsistent", ask, answer, note=note, other=runs[0], law="sum of its runs")
