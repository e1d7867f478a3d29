"""Appendix G of WBK19: between the largest item and α+1 times it."""

from fractions import Fraction

import pytest
import sympy
from mpmath import mp, mpf

import symacct as sa
from symacct.explore.softmax import softmax_bounds
from tests.thinning import covering


def items(alpha, sigma, gamma, sampler):
    """The logs of all items of Theorem 8's or 9's sum, plainly."""
    with mp.workdps(40):
        g, k = mpf(gamma.numerator) / gamma.denominator, lambda l: mpf(l) * (l - 1) / (2 * sigma**2)
        if sampler is sa.PoissonSubsample:
            return [
                mp.log(mp.binomial(alpha, l) * (1 - g) ** (alpha - l) * g**l) + k(l)
                for l in range(alpha + 1)
            ]
        second = min(4 * mp.expm1(k(2)), 2 * mp.exp(k(2)))
        rest = [mp.log(mp.binomial(alpha, j) * g**j * 2) + k(j) for j in range(3, alpha + 1)]
        return [mpf(0), mp.log(mp.binomial(alpha, 2) * g**2 * second), *rest]


@covering()
@pytest.mark.parametrize("sampler", [sa.PoissonSubsample, sa.SubsampleWithoutReplacement])
@pytest.mark.parametrize("gamma", ["1/1000", "1/50", "1/2"])
@pytest.mark.parametrize("sigma", [1, 5, 12, 50])
@pytest.mark.parametrize("alpha", [2, 3, 7, 64, 346, 1001])
def test_the_largest_item_is_found(alpha, sigma, gamma, sampler):
    m = sampler(sa.Gaussian(sigma), gamma)
    low, high = softmax_bounds(m, alpha, digits=25)
    largest = max(items(alpha, sigma, m.gamma, sampler))
    with mp.workdps(40):
        expected = largest / (alpha - 1)
        assert low.lower <= low.upper
        assert low.lower - mpf(10) ** -35 <= expected <= low.upper + mpf(10) ** -35
        assert low.upper - low.lower <= abs(expected) * mpf(10) ** -24
        assert abs((high.upper - mp.log(alpha + 1) / (alpha - 1)) - expected) < mpf(10) ** -20


@covering()
@pytest.mark.parametrize("sampler", [sa.PoissonSubsample, sa.SubsampleWithoutReplacement])
@pytest.mark.parametrize("gamma", [0, "1/1000", "1/2", "99/100"])
@pytest.mark.parametrize("sigma", [1, 20])
@pytest.mark.parametrize("alpha", [2, 5, 64])
def test_an_end_is_a_bound_of_the_curve_where_it_says_so(alpha, sigma, gamma, sampler):
    """Against the best bounds of both kinds that the theorems prove."""
    m = sampler(sa.Gaussian(sigma), gamma)
    low, high = softmax_bounds(m, alpha)
    assert low.claim.kind is (sa.Kind.LOWER if sampler is sa.PoissonSubsample else sa.Kind.NEITHER)
    assert high.claim.kind is sa.Kind.UPPER
    if low.claim.kind is sa.Kind.LOWER:
        assert low.lower <= m.rdp(alpha).upper
    assert high.upper >= m.lower_bound(alpha).lower
    assert low.upper <= m.rdp(alpha, by=low.claim.theorems[0]).upper
    for end in (low, high):
        assert end.claim.adjacency == m.claim.adjacency
        assert alpha in end.claim.orders
        assert Fraction(5, 2) not in end.claim.orders


def test_below_the_theorem_is_not_below_the_curve():
    m = sa.SubsampleWithoutReplacement(sa.Gaussian(20), "1/2")
    low, _ = softmax_bounds(m, 5)
    assert low.lower > m.rdp(5).upper
    assert low.claim.kind is sa.Kind.NEITHER


def test_the_value_lies_between_and_few_orders_are_asked():
    mechanism = sa.Gaussian(37)
    m = sa.PoissonSubsample(mechanism, "1/1000")
    from symacct.kernel.accountant import default_accountant

    before = default_accountant("ball").oracle_calls(mechanism)
    low, high = softmax_bounds(m, 100_000)
    assert default_accountant("ball").oracle_calls(mechanism) - before < 150
    exact = m.rdp(100_000)
    assert bool(low <= exact)
    assert bool(exact <= high)


def test_other_mechanisms_are_refused():
    with pytest.raises(sa.AssumptionError, match="two local maxima"):
        softmax_bounds(sa.PoissonSubsample(sa.Laplace(2), "1/1000"), 100)
    replaced = sa.PoissonSubsample(sa.Gaussian(5), "1/1000", adjacency="replace_one")
    with pytest.raises(sa.AssumptionError, match="relation replace_one, needed add_remove"):
        softmax_bounds(replaced, 100)


@pytest.mark.parametrize("alpha", [2, 9, 10**6])
def test_a_single_item_is_the_whole_sum(alpha):
    """At γ = 0 nothing is sampled; at γ = 1 Poisson sampling is the mechanism, ε = α/50."""
    both = [sa.PoissonSubsample, sa.SubsampleWithoutReplacement]
    for m in (sampler(sa.Gaussian(5), 0) for sampler in both):
        assert [(end.lower, end.upper) for end in softmax_bounds(m, alpha)] == [(0, 0)] * 2
    for end in softmax_bounds(sa.PoissonSubsample(sa.Gaussian(5), 1), alpha):
        assert end.lower <= mpf(alpha) / 50 * (1 + mpf(2) ** -52)
        assert end.upper >= mpf(alpha) / 50 * (1 - mpf(2) ** -52)
        assert float(end.rounded_up(20)) == float(end.rounded_down(20)) == alpha / 50
        assert str(end) == str(sa.Gaussian(5).rdp(alpha))


def test_theorem_9_at_rate_one_is_a_sum_like_any():
    alpha, m = 7, sa.SubsampleWithoutReplacement(sa.Gaussian(5), 1)
    low, high = softmax_bounds(m, alpha)
    largest = max(items(alpha, 5, m.gamma, type(m)))
    assert abs(low.upper - largest / 6) < 1e-12
    assert bool(low <= m.rdp(alpha, by="WBK19-T9"))
    assert bool(m.rdp(alpha, by="WBK19-T9") <= high)


@pytest.mark.parametrize("alpha", ["inf", float("inf"), 1, "5/2", sympy.Symbol("a")])
def test_only_whole_orders_have_items(alpha):
    needed = r"softmax_bounds: found order .*, needed integer orders >= 2; ask rdp"
    with pytest.raises(sa.OrderError, match=needed):
        softmax_bounds(sa.PoissonSubsample(sa.Gaussian(5), "1/1000"), alpha)


def test_an_irrational_sigma_is_taken_where_its_square_is_rational():
    """σ² alone decides where the logs are concave; items at α = 3, γ = 1/3, σ² = 2 by hand."""
    low, _ = softmax_bounds(sa.PoissonSubsample(sa.Gaussian(sympy.sqrt(2)), "1/3"), 3)
    logs = [mp.log(mpf(8) / 27), mp.log(mpf(12) / 27), mp.log(mpf(6) / 27) + 0.5]
    assert abs(low.upper - max(*logs, mp.log(mpf(1) / 27) + 1.5) / 2) < 1e-14
    for sigma in (sympy.pi, sympy.Symbol("s", positive=True)):
        with pytest.raises(sa.AssumptionError, match=r"needed a rational \(sigma/sensitivity\)"):
            softmax_bounds(sa.PoissonSubsample(sa.Gaussian(sigma), "1/3"), 3)


def test_a_sigma_of_many_digits_is_taken():
    low, high = softmax_bounds(sa.PoissonSubsample(sa.Gaussian("1e12000"), "1/2"), 3)
    assert abs(low.upper - mp.log(mpf(3) / 8) / 2) < 1e-14
    assert abs(high.upper - mp.log(mpf(3) / 2) / 2) < 1e-14
