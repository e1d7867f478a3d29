"""Moments of a mean over a ring, against sums over all places that n draws may have."""

import itertools
from fractions import Fraction

import pytest
from flint import arb

from symacct.analysis import ring_moments
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from tests import independent

MP = independent.context(60)
BITS = 120


def by_draws(gram, size, n):
    """E[(ΣW_i/t)^n] as the mean over n places drawn one by one, of which each two have a factor."""
    total = MP.mpf(0)
    for places in itertools.product(range(size), repeat=n):
        apart = (abs(i - j) for i, j in itertools.combinations(places, 2))
        ring = (min(d, size - d) for d in apart)
        exponent = sum((gram[d] for d in ring if d < len(gram)), Fraction(0))
        total += MP.exp(independent.number(MP, exponent))
    return total / size**n


def moments(gram, size, most):
    with precision(BITS):
        return ring_moments.ring_moments([BALL.number(g) for g in gram], size, most)


GRAMS = [
    [Fraction(1, 2)],
    [Fraction(11, 10), Fraction(1, 2)],
    [Fraction(3, 2), Fraction(1, 3), Fraction(1, 7)],
    [Fraction(1, 9), Fraction(1, 8), Fraction(0), Fraction(2, 5)],
]


@pytest.mark.parametrize("gram", GRAMS, ids=len)
@pytest.mark.parametrize(("size", "most"), [(1, 5), (2, 6), (3, 5), (4, 4), (7, 4), (10, 3)])
def test_every_moment_is_the_mean_over_all_draws(gram, size, most):
    """Places all around the ring, those that are near to each other both ways, and long rings."""
    for n, value in enumerate(moments(gram, size, most)):
        assert value.rel_accuracy_bits() > BITS - 20
        with precision(BITS):
            assert holds_ball(value, by_draws(gram, size, n))


def holds_ball(ball, truth):
    """Does the ball hold a number that is known to 55 digits?"""
    return ball.overlaps(arb(MP.nstr(truth, 58), MP.nstr(truth * MP.mpf(10) ** -55, 5)))


@pytest.mark.parametrize("gram", GRAMS, ids=len)
def test_clusters_and_the_way_around_give_the_same(gram):
    """On rings that are long enough for clusters and short enough to be gone around."""
    reach = len(gram)
    for most in (2, 3, 5):
        size = most * (reach - 1) + 1
        with precision(BITS):
            ring = ring_moments._Ring(tuple(BALL.number(g) for g in gram), size, most)
            for one, other in zip(ring.by_clusters(), ring.around(), strict=True):
                assert one.overlaps(other)
                assert one.rel_accuracy_bits() > BITS - 20


def test_of_independent_places_it_is_the_power_of_a_series():
    """n! [z^n] (Σ m_k z^k/k!)^t / t^n in fractions, of any number of places."""
    for size in (1, 2, 30, 10**9):
        found = moments([Fraction(0)], size, 6)  # all are 1
        assert all(holds_ball(value, MP.mpf(1)) for value in found)
    square = Fraction(1, 4)
    second = 1 + (MP.exp(independent.number(MP, square)) - 1) / 10**9
    assert holds_ball(moments([square], 10**9, 2)[2], second)
