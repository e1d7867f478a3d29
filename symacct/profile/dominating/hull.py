"""A pair whose profile is above one that is bounded at some places: the convex hull of the bounds.

H(x) of the worse of both orders of two laws is convex, 1 at 0, never rises, and H(1/x) is
1 − (1 − H(x))/x. So it is below the hull of bounds at some x and 1/x, which is the profile of a
finite pair that exchanging its laws leaves alone (docs/proofs.md, section 40).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

Point = tuple[Fraction, Fraction]  # x, and what H(x) is at most


def pair_above(bounds: Iterable[Point]) -> tuple[tuple[Fraction, Fraction], ...]:
    """(p, q) of a pair whose H is at least every H with H(x) <= h for all these (x, h), x >= 1."""
    zero, one = Fraction(0), Fraction(1)
    known = [*bounds, (one, one)]
    corners = _lower_hull([(zero, one), *known, *((1 / x, 1 - (1 - h) / x) for x, h in known)])
    slopes = [*((v[1] - u[1]) / (v[0] - u[0]) for u, v in pairwise(corners)), zero]
    turns = zip(corners[1:], pairwise(slopes), strict=True)
    masses = [(x * (after - before), after - before) for (x, _), (before, after) in turns]
    only_p, only_q = corners[-1][1], 1 + slopes[0]
    return tuple(pair for pair in (*masses, (only_p, zero), (zero, only_q)) if any(pair))


def _lower_hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the largest convex function below all points that never rises."""
    found: list[Point] = []
    for point in sorted(points):
        if found and point[1] >= found[-1][1]:
            continue  # the function may stay as low as it is
        while len(found) > 1 and _is_above(found[-1], found[-2], point):
            found.pop()
        found.append(point)
    return found


def _is_above(middle: Point, left: Point, right: Point) -> bool:
    """Is the middle one not below the line through the others?"""
    rise = (right[1] - left[1]) * (middle[0] - left[0])
    return (middle[1] - left[1]) * (right[0] - left[0]) >= rise
