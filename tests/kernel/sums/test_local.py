"""A_α − 1 about a whole order as one polynomial, against each order by itself, and integrals."""

import random
from fractions import Fraction

import pytest
from flint import arb, arb_poly, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct.analysis.sampled_gaussian import (
    _ALIKE_LOCALLY_NATS,
    _nodes_over,
    _taylor,
    newton_length,
    newton_local,
    sampled_gaussian_excess,
    sampled_gaussian_local,
)
from symacct.kernel.arithmetic.ball import ball, within
from symacct.kernel.sums.local import REACH, Local, LocalProduct, times
from tests.thinning import examples, some

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
        yield middle, q, Fraction(10 ** rng.uniform(-1.2, 1.7))


def slope_of(sigma):
    return 1 / (2 * sigma * sigma)


@given(st.integers(0, 10**12))
@examples(15, 4000)
def test_a_polynomial_gives_what_each_order_by_itself_gives(seed):
    for middle, q, sigma in cases(1, seed):
        local = sampled_gaussian_local(middle, q, sigma)
        for away in AWAY if local is not None else ():
            one = local(ball(away))
            assert one.overlaps(sampled_gaussian_excess(middle + away, q, sigma))
            assert one.rel_accuracy_bits() > 84


@pytest.mark.parametrize("bits", [2, 6, 20])
def test_few_terms_of_newtons_series_hold_the_truth(bits):
    """With few terms what is left out dominates, so that a remainder too small shows."""
    lengths = set()
    for middle, q, sigma in cases(some(15, 40), seed=bits):
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
    for middle, q, sigma in cases(some(20, 40), seed=bits):
        orders = middle - REACH, middle + REACH
        nodes = None if middle < 3 else _nodes_over(orders, q, sigma, bits, _ALIKE_LOCALLY_NATS)
        local = None if nodes is None else nodes.local(middle)
        for away in AWAY if local is not None else ():
            assert local(ball(away)).contains(sampled_gaussian_excess(middle + away, q, sigma))
            held += 1
    assert held > 10


@given(st.integers(0, 10**12))
@examples(20, 2000)
def test_few_terms_of_taylors_formula_leave_out_no_more_than_is_said(seed):
    """With few terms what is left out dominates, of the first half of the nodes or the second."""
    draw = random.Random(seed)
    logs = sorted(draw.uniform(-0.5, draw.choice([0.5, 8.0])) for _ in range(draw.randint(1, 40)))
    nodes = [(arb(x), arb(draw.uniform(-9, 0) - 3 * x)) for x in logs]
    total = sum(((3 * x + weight).exp() for x, weight in nodes), arb(0))
    negligible = total / 2 ** draw.randint(1, 20)
    polynomial, rest = _taylor(nodes, 3, negligible)
    assert rest < negligible
    for away in (ball(-REACH), arb(0), ball(REACH)):
        value = sum(((x * (3 + away) + weight).exp() for x, weight in nodes), arb(0))
        assert (polynomial(away) + arb(0, rest)).overlaps(value)


def test_a_length_is_stated_only_where_the_terms_get_small():
    assert newton_length(14, 1e-3, 1 / 2, -100.0) is None  # σ = 1: e^{k²/2} wins at once
    assert newton_length(14, 1e-3, 1 / 18, -100.0) == 16


def powers(*parts):
    """Π (1 + E)^count of (count, E) in turn."""
    found = None
    for count, part in parts:
        found = times(found, count, part)
    return found


@given(st.integers(0, 10**12))
@examples(12, 1000)
def test_joined_factors_meet_each_by_itself(seed):
    rng = random.Random(seed)
    middle, q, sigma = next(cases(1, seed))
    drawn = [sigma * Fraction(rng.randint(100, 150), 100) for _ in range(rng.randint(2, 12))]
    factors = [sampled_gaussian_local(middle, q, one) for one in drawn]
    factors = [one for one in factors if one is not None]
    if not factors:
        return
    whole = powers(*((7, one) for one in factors))
    for away in AWAY:
        apart = 7 * sum(one(ball(away)).log1p() for one in factors)
        assert whole.log(ball(away)).overlaps(apart)
        assert whole.log(ball(away)).rel_accuracy_bits() >= apart.rel_accuracy_bits() - 24


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_what_joined_factors_leave_out_is_in_their_error(bits):
    """Of a few terms at few bits some of the product's are left out, which count."""
    rng, left_out = random.Random(bits), 0
    for _ in range(60):
        one, two = (
            Local(arb_poly([rng.uniform(1, 2) / 2**k for k in range(rng.randint(2, 5))]), arb(0))
            for _ in range(2)
        )
        with ctx.workprec(bits):
            joined = one.times(two)
        whole = one.polynomial.length() + two.polynomial.length() - 1
        left_out += joined.polynomial.length() < whole
        for away in AWAY:
            e, f = one(ball(away)), two(ball(away))
            assert joined(ball(away)).contains(e + f + e * f)
    assert left_out > 10


def test_a_thousand_factors_are_some_ten():
    part = sampled_gaussian_local(9, Fraction(1, 1000), Fraction(5))
    whole = powers(*((1, part) for _ in range(1000)))
    assert sum(one.joined for one in whole) == 1000
    assert len(list(whole)) == 6  # the ones of 1,000 in binary
    assert whole.log(ball(REACH)).overlaps(1000 * part(ball(REACH)).log1p())


def test_what_is_uncertain_of_a_factor_is_uncertain_of_the_product():
    part = sampled_gaussian_local(9, Fraction(1, 50), Fraction(4))
    wide = Local(part.polynomial, part.error + 1)
    sharp = LocalProduct(7, part).log(ball(Fraction(1, 3)))
    assert LocalProduct(7, wide).log(ball(Fraction(1, 3))) > sharp
    assert part.times(wide)(ball(REACH)) > part.times(part)(ball(REACH))
    vague = Local(part.polynomial, within(arb(1) / 2**40))
    both = [
        times(LocalProduct(7, one), 7, other) for one in (part, vague) for other in (part, vague)
    ]
    assert [len(list(one)) for one in both] == [1, 2, 2, 2]
