"""Lower hulls of points against all chords, in exact fractions."""

import random
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from flint import arb, fmpq

from symacct.kernel.sums.hull import chord_at, lower_hull
from tests.thinning import covering, some


def exact(x):
    return x


def drawn(seed):
    """Points of rising abscissae, some of them on one line."""
    chance = random.Random(seed)
    places = sorted(chance.sample(range(1, 60), chance.randrange(1, 14)))
    return [(x, Fraction(chance.randrange(-9, 40))) for x in places]


def envelope(points, place):
    """The least of all chords at a place: the greatest convex function below the points there."""
    on_chords = [
        y0 + (place - x0) * (y1 - y0) / (x1 - x0)
        for (x0, y0), (x1, y1) in combinations(points, 2)
        if x0 <= place <= x1
    ]
    return min([*on_chords, *(y for x, y in points if x == place)])


@covering(lambda seed: {seed % 40})
@pytest.mark.parametrize("seed", range(200))
def test_a_hull_is_the_least_of_all_chords(seed):
    points = drawn(seed)
    hull = lower_hull(points)
    assert set(hull) <= set(points)
    assert hull == [p for p in points if p in hull]
    if len(points) > 1:
        for x in range(2 * points[0][0], 2 * points[-1][0] + 1):
            place = Fraction(x, 2)
            assert chord_at(hull, place, exact) == envelope(points, place)


@pytest.mark.parametrize("seed", range(some(15, 50)))
def test_a_hull_has_no_more_corners_than_it_needs(seed):
    hull = lower_hull(drawn(seed))
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(hull)]
    assert all(a < b for a, b in pairwise(slopes))


def test_a_corner_that_balls_do_not_decide_is_left_out():
    flat = [(1, arb(0)), (2, arb(1, 1e-9)), (3, arb(2))]
    assert [x for x, _ in lower_hull(flat)] == [1, 3]
    bent = [(1, arb(0)), (2, arb(1, 1e-9)), (3, arb(2.001))]
    assert [x for x, _ in lower_hull(bent)] == [1, 2, 3]
    half = chord_at(
        lower_hull(bent), Fraction(5, 2), lambda x: arb(fmpq(x.numerator, x.denominator))
    )
    assert half.contains(arb(1.5005))
