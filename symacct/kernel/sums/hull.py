"""Lower convex hulls of points, from balls or exact numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number

#: A place, such as a CGF order λ, and the value there.
Point = tuple[Any, Number]


# Proved in docs/proofs/certificates.md, Lemma chord-bound.
def lower_hull(points: Sequence[Point]) -> list[Point]:
    """The corners of the lower convex hull of bounds of a convex function, from left on.

    A corner that balls do not decide is left out: the chord past it bounds the function as well.
    """
    hull: list[Point] = []
    for point in points:
        while len(hull) > 1 and not _turns_up(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def hull_of_curve(
    ctx: Arithmetic, eps: Callable[[int], Number], orders: Iterable[int]
) -> list[Point]:
    """The corners of the hull of (0, 0) and of (l−1, (l−1)ε(l)) over ascending whole orders l >= 2.

    Orders at which ε is infinite are left out, so that the last corner may be (0, 0) alone.
    """
    points = [(l - 1, (l - 1) * eps(l)) for l in orders]
    finite = [point for point in points if not ctx.is_infinite(point[1])]
    return lower_hull([(0, ctx.number(0)), *finite])


def chord_at(
    hull: Sequence[Point], place: int | Fraction, number: Callable[[int | Fraction], Number]
) -> Number:
    """The hull's value at a CGF order from 0 to its last corner, by the chord about it.

    The caller has seen that it is not beyond, where a chord is no upper bound. There are two
    corners at least. `number` brings an exact number into the arithmetic.
    """
    index = min(max(bisect_left([x for x, _ in hull], place), 1), len(hull) - 1)
    (left, low), (right, high) = hull[index - 1], hull[index]
    if place == right:  # no digit is lost to a share that is 1
        return high
    share = number(place - left) / (right - left)
    return low * (1 - share) + high * share


def _turns_up(a: Point, b: Point, c: Point) -> bool:
    """Does the hull certainly bend upwards at b from a to c? False where balls overlap."""
    return bool((b[1] - a[1]) * (c[0] - b[0]) < (c[1] - b[1]) * (b[0] - a[0]))
