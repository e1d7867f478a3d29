"""Parts of which only a Rényi curve is known, beside parts whose laws are known."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    ApproximateDP,
    AssumptionError,
    Curve,
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    risk,
)
from symacct.kernel.answer import to_fraction
from symacct.profile.pairs import products
from tests.thinning import examples

HALF = ApproximateDP("1/2", "1e-5")
BESIDE = [
    HALF,
    2 * HALF + RandomizedResponse("3/4"),
    Laplace(2),
    20 * PoissonSubsample(Gaussian(1), "1/100"),
    FiniteMechanism([["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"], ["1/3", "1/6", "1/2"]]),
]
SAMPLE = SubsampleWithoutReplacement(Gaussian(2), "1/100")


@pytest.mark.parametrize("beside", BESIDE, ids=repr)
def test_noise_that_has_the_curve_is_below_what_the_curve_implies(beside):
    """zCDP is what Gaussian noise has, whose profile beside the same parts is known."""
    bound = (ZCDP("1/18") + beside).epsilon("1e-3", 8, "exact")
    true = (Gaussian(3) + beside).epsilon("1e-3", 8, "exact")
    assert bound.kind is Kind.UPPER
    assert true.epsilon.lower < bound.epsilon.upper < 2 * true.epsilon.upper


def test_what_it_rests_on_is_named():
    m = ZCDP("1/100") + 100 * PoissonSubsample(Gaussian(1), "1/100")
    assert "curve-pair" in str(m.epsilon("1e-6", 8, "exact").claim.sources)


def test_a_part_of_infinite_curve_no_longer_hides_the_others():
    m = ZCDP("1/10") + HALF
    assert m.rdp(2).upper == math.inf
    assert m.epsilon("1e-3", 6).epsilon.rounded() == "1.78799"  # 1.78965 by the pairs of both
    assert risk(m).advantage.claim.kind is Kind.UPPER


def test_it_is_less_than_by_rényi_orders_where_the_known_parts_are_many():
    m = 100 * PoissonSubsample(Gaussian(1), "1/100") + ZCDP("1/100")
    exact, orders = (m.epsilon("1e-6", 6, how) for how in ("exact", "improved"))
    assert exact.epsilon.upper < orders.epsilon.lower * Fraction(7, 10)


def test_what_is_not_certified_is_not_beside_others_either():
    m = Curve(lambda alpha: alpha / 20, "upper", "add_remove") + HALF
    assert not m.epsilon("1e-3", 6, "exact").claim.certified


def test_where_nothing_follows_the_error_names_the_part():
    lower = Curve("alpha/50", kind="lower", adjacency="add_remove")
    mixed = PoissonSubsample(HALF + ZCDP("1/10"), "1/100", "replace_one")
    for m in (ZCDP("1/10"), mixed + Gaussian(2)):
        with pytest.raises(AssumptionError, match="conversion exact: found"):
            m.epsilon("1e-3", 6, "exact")
    least = [m.lower_epsilon("1e-3", 6).lower for m in (lower + Gaussian(2), Gaussian(2))]
    assert least[0] == least[1] > 0


def test_several_of_them_leave_no_triangle_between():
    """One pair is all of them together, though triangles may be chosen between two of them."""
    assert products(100 * SAMPLE + ZCDP("1/100"))[0].smoothed is not None
    assert products(100 * SAMPLE + 2 * ZCDP("1/100"))[0].smoothed is None


ODDS = st.lists(st.integers(1, 9), min_size=2, max_size=3)


def laws(odds):
    """Two laws on few outcomes, of these odds and of their reverse."""
    return tuple([Fraction(x, sum(odds)) for x in one] for one in (odds, odds[::-1]))


def least_rho(*pairs):
    """The least ρ of these pairs, a little more: the largest D_α/α, by both orders."""
    orders = np.array([1 + 2.0**e for e in np.arange(-12, 12, 0.05)])
    found = 0.0
    for p, q in itertools.chain(pairs, (pair[::-1] for pair in pairs)):
        ratios = np.log([float(x / y) for x, y in zip(p, q, strict=True)])
        terms = np.log([float(y) for y in q]) + orders[:, None] * ratios
        peak = terms.max(axis=1, keepdims=True)
        moments = peak[:, 0] + np.log(np.exp(terms - peak).sum(axis=1))
        found = max(found, *(moments / (orders - 1) / orders))
    return Fraction(math.ceil(found * 1.01 * 10**6) + 1, 10**6)


@examples(6, 400)
@given(
    first=ODDS,
    known=ODDS,
    later=st.lists(ODDS, min_size=9, max_size=9),
    epsilon=st.sampled_from(["0", "1/10", "1/2", "1", "2"]),
)
def test_a_known_part_may_stand_between_two_whose_second_it_steers(first, known, later, epsilon):
    """All outcomes counted in fractions: the second curve's law depends on what came before."""
    last = [laws(odds) for odds in later]
    one, between = laws(first), laws(known)
    total, bound = (
        Fraction(0),
        Fraction(math.exp(float(Fraction(epsilon)))).limit_denominator(10**9),
    )
    for i, j in itertools.product(range(len(first)), range(len(known))):
        p, q = last[3 * i + j]
        for x, y in zip(p, q, strict=True):
            more, less = one[0][i] * between[0][j] * x, one[1][i] * between[1][j] * y
            total += max(Fraction(0), more - bound * less)
    m = ZCDP(least_rho(one)) + DistributionPair(*between) + ZCDP(least_rho(*last))
    found = m.delta(epsilon, 8, "exact").delta
    assert to_fraction(found.upper) >= total - Fraction(1, 10**8)
