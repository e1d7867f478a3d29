"""Appendix G of WBK19: between the largest item and α+1 times it."""

import pytest
from mpmath import mp, mpf

import symacct as sa
from symacct.softmax import softmax_bounds


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
        if expected > 0:
            assert abs(low.upper / expected - 1) < mpf(10) ** -24
        assert abs((high.upper - mp.log(alpha + 1) / (alpha - 1)) - expected) < mpf(10) ** -20


def test_the_value_lies_between_and_few_orders_are_asked():
    mechanism = sa.Gaussian(37)
    m = sa.PoissonSubsample(mechanism, "1/1000")
    from symacct.accountant import default_accountant

    before = default_accountant("ball").oracle_calls(mechanism)
    low, high = softmax_bounds(m, 100_000)
    assert default_accountant("ball").oracle_calls(mechanism) - before < 150
    exact = m.rdp(100_000)
    assert bool(low <= exact)
    assert bool(exact <= high)


def test_other_mechanisms_are_refused():
    with pytest.raises(sa.AssumptionError, match="two local maxima"):
        softmax_bounds(sa.PoissonSubsample(sa.Laplace(2), "1/1000"), 100)
