"""Pairs whose profile is above, or below, one that is bounded at some places: convex hulls.

H(x) of the worse of both orders of two laws is convex, 1 at 0, never rises, and H(1/x) is
1 − (1 − H(x))/x. So it is below the hull of bounds at some x and 1/x, which is the profile of a
finite pair that exchanging its laws leaves alone; and H of one order is above the hull of what its
chords say beyond their ends (docs/proofs/selection.md, Lemma hull-pair).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from symacct.kernel import deadline
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.kernel.sums.hull import lower_hull

#: x = e^ε, and what H(x) is at most.
Point = tuple[Fraction, Fraction]
#: x, and what H(x) is at least and at most.
Enclosed = tuple[Fraction, Fraction, Fraction]
#: (p, q) of every outcome of two laws.
FractionMasses = tuple[tuple[Fraction, Fraction], ...]

_ZERO, _ONE = Fraction(0), Fraction(1)
T = TypeVar("T")


def at_smallest(ask: Callable[[Fraction], T], deltas: Sequence[Fraction]) -> T:
    """Return what is asked at the first of some rising δ at which no error forbids it.

    It is where the places of a hull end. Raises the error of the last δ where all have one.
    """
    *others, largest = deltas
    for delta in others:
        with suppress(PrecisionError, LimitError, InfiniteError):
            return ask(delta)
    return ask(largest)


def pair_above(bounds: Iterable[Point]) -> FractionMasses:
    """Make the pair (p, q) whose H is at least every H with H(x) <= h for all (x, h), x >= 1.

    H is that of the worse of both orders, so that the pair dominates both.
    """
    known = [*bounds, (_ONE, _ONE)]
    return _pair_of([(_ZERO, _ONE), *known, *((1 / x, 1 - (1 - h) / x) for x, h in known)])


def pair_below(known: Iterable[Enclosed]) -> FractionMasses:
    """Make the pair (p, q) whose H is at most every H that is so enclosed at these x > 0.

    H is that of one order of two laws, where x < 1 tells of the other one. No x may come twice.
    """
    enclosures = [(_ZERO, _ONE, _ONE)]
    enclosures += [(x, max(low, 1 - x, _ZERO), high) for x, low, high in sorted(known)]
    points: list[Point] = []
    for i, (x, low, _) in enumerate(enclosures):
        points.append((x, low))
        fall = _fall_beyond(enclosures, i)
        if i + 1 == len(enclosures):
            points += [(x + low / fall, _ZERO)] if fall else []
            break
        (after, next_low, _), rise = enclosures[i + 1], _rise_before(enclosures, i + 1)
        if fall <= rise:
            continue
        step = (low - next_low - rise * (after - x)) / (fall - rise)
        if low < fall * step:
            points.append((x + low / fall, _ZERO))
            break
        if 0 < step < after - x:
            points.append((x + step, low - fall * step))
    return _pair_of(points)


def _fall_beyond(enclosures: Sequence[Enclosed], i: int) -> Fraction:
    """Bound from above by how much H falls for 1 beyond the i-th place: as on the chord before it.

    Beyond 0 it is at most 1.
    """
    if i == 0:
        return _ONE
    (before, _, high), (x, low, _) = enclosures[i - 1], enclosures[i]
    return min(_ONE, max(_ZERO, (high - low) / (x - before)))


def _rise_before(enclosures: Sequence[Enclosed], i: int) -> Fraction:
    """Bound from below by how much H falls for 1 up to the i-th place: as on the chord behind it.

    Before the last place nothing but 0 is known.
    """
    if i + 1 == len(enclosures):
        return _ZERO
    (x, low, _), (after, _, high) = enclosures[i], enclosures[i + 1]
    return max(_ZERO, (low - high) / (after - x))


def _pair_of(points: Iterable[Point]) -> FractionMasses:
    """Make the pair whose H is the largest convex function below all points that never rises."""
    corners = falling_hull(points)
    slopes = [*((v[1] - u[1]) / (v[0] - u[0]) for u, v in pairwise(corners)), _ZERO]
    turns = zip(corners[1:], pairwise(slopes), strict=True)
    masses = [(x * (after - before), after - before) for (x, _), (before, after) in turns]
    only_p, only_q = corners[-1][1], 1 + slopes[0]
    return tuple(pair for pair in (*masses, (only_p, _ZERO), (_ZERO, only_q)) if any(pair))


def falling_hull(points: Iterable[Point]) -> list[Point]:
    """Return the corners of the largest convex function below all points that never rises."""
    falling: list[Point] = []
    for point in deadline.each(sorted(points)):
        if not falling or point[1] < falling[-1][1]:  # else the function may stay as low as it is
            falling.append(point)
    return lower_hull(falling)
