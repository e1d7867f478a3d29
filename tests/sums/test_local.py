"""A_α − 1 about a whole order as one polynomial, against each order by itself, and integrals."""

import random
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct.integrals.gaussian import (
    _ALIKE_LOCALLY,
    _nodes_over,
    sampled_gaussian_excess,
    sampled_gaussian_local,
)
from symacct.integrals.newton import newton_length, newton_local
from symacct.sums.local import REACH, Local, Product, product
from symacct.sums.refine import ball
from tests.sums.quadrature import sampled_gaussian_excess_by_quadrature
from tests.thinning import examples

AWAY = (-REACH, Fraction(-1, 3), Fraction(0), Fraction(1, 10**9), REACH)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(110):
        yield


def cases(count, seed):
    """(n, q, σ): far below the orders where A grows, about them, and beyond."""
    rng = random.Random(seed)
    for _ in range(count):
        middle, q = 2 + int(10 ** rng.uniform(0, 1.9)), Fraction(10 ** rng.uniform(-6, -0.01))
        yield middle, q, Fraction(10 ** rng.uniform(-0.3, 1.7))


def slope_of(sigma):
    return 1 / (2 * sigma * sigma)


@given(st.integers(0, 10**12))
@examples(40, 4000)
def test_a_polynomial_gives_what_each_order_by_itself_gives(seed):
    for middle, q, sigma in cases(1, seed):
        local = sampled_gaussian_local(middle, q, sigma)
        for away in AWAY if local is not None else ():
            one = local(ball(away))
            assert one.overlaps(sampled_gaussian_excess(middle + away, q, sigma))
            assert one.rel_accuracy_bits() > 84


def test_most_cases_have_a_polynomial():
    without = [case for case in cases(60, seed=1) if sampled_gaussian_local(*case) is None]
    assert 0 < len(without) < 25


@pytest.mark.parametrize("bits", [2, 6, 20])
def test_few_terms_of_newtons_series_hold_the_truth(bits):
    """With few terms what is left out dominates, so that a remainder too small shows."""
    lengths = set()
    for middle, q, sigma in cases(40, seed=bits):
        for length in (2, 4, 2 * (middle // 2), middle + 2 - middle % 2, middle + 4 + middle % 2):
            if length < 2:
                continue
            lengths.add((length > middle) - (length < middle))
            coarse = newton_local(middle, q, slope_of(sigma), length)
            for away in AWAY:
                truth = sampled_gaussian_excess(middle + away, q, sigma)
                assert coarse(ball(away)).overlaps(truth), (middle, q, sigma, length, away)
    assert lengths == {-1, 0, 1}


@pytest.mark.parametrize("bits", [1, 3, 8, 20])
def test_few_terms_over_coarse_nodes_hold_the_truth(bits):
    held = 0
    for middle, q, sigma in cases(40, seed=bits):
        orders = middle - REACH, middle + REACH
        nodes = None if middle < 3 else _nodes_over(orders, q, sigma, bits, _ALIKE_LOCALLY)
        local = None if nodes is None else nodes.local(middle)
        for away in AWAY if local is not None else ():
            assert local(ball(away)).contains(sampled_gaussian_excess(middle + away, q, sigma))
            held += 1
    assert held > 20


def test_both_ways_and_the_definition_agree():
    """Where the series of Newton and the nodes both do."""
    for middle, q, sigma in ((14, "1/1000", "3"), (7, "1/100", "3"), (20, "1/50", "9")):
        q, sigma = Fraction(q), Fraction(sigma)
        length = newton_length(middle, float(q), float(slope_of(sigma)), -90.0)
        one = newton_local(middle, q, slope_of(sigma), length)
        orders = middle - REACH, middle + REACH
        other = _nodes_over(orders, q, sigma, 110, _ALIKE_LOCALLY).local(middle)
        for away in AWAY:
            truth = sampled_gaussian_excess_by_quadrature(middle + away, q, sigma)
            assert one(ball(away)).overlaps(other(ball(away)))
            assert one(ball(away)).overlaps(truth)


def test_a_length_is_stated_only_where_the_terms_get_small():
    assert newton_length(14, 1e-3, 1 / 2, -100.0) is None  # σ = 1: e^{k²/2} wins at once
    assert newton_length(14, 1e-3, 1 / 18, -100.0) == 16


def test_a_product_of_powers_is_the_sum_of_the_logarithms():
    parts = [sampled_gaussian_local(9, Fraction(1, 50), Fraction(sigma)) for sigma in (4, 5, 6)]
    whole = product([(3, Product({1: parts[:2]})), (2, Product({3: parts[2:], 1: parts[:1]}))])
    for away in AWAY:
        first, second, third = (part(ball(away)).log1p() for part in parts)
        assert whole.log(away).overlaps(5 * first + 3 * second + 6 * third)
        assert whole.log(away).rel_accuracy_bits() >= 90


def test_what_is_uncertain_of_a_factor_is_uncertain_of_the_product():
    part = sampled_gaussian_local(9, Fraction(1, 50), Fraction(4))
    wide = Product({7: [Local(part.polynomial, part.error + ball(Fraction(1, 10**9)) * 0 + 1)]})
    assert wide.log(Fraction(1, 3)) > Product({7: [part]}).log(Fraction(1, 3))
