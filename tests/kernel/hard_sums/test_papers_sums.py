"""The papers' sums for hard curves, orders and rates, and how few oracle calls they take."""

import functools
from fractions import Fraction

import pytest

from symacct import (
    ZCDP,
    Accountant,
    Gaussian,
    PoissonSubsample,
    SubsampleWithoutReplacement,
)
from tests.kernel.hard_sums.formulas import (
    CUSTOM,
    FULL,
    INFINITY,
    NEAR_ONE,
    RATE,
    SEEDS,
    TINY_RATE,
    WIDE,
    ask,
    check_all_sums,
    curve_of,
    holds,
    moments,
    mp,
    theorem_5,
    theorem_8,
    theorem_9,
    with_curves,
)
from tests.thinning import covering, some


@pytest.mark.parametrize(
    ("sigma", "alpha"), [(5, 346), (5, 345), (5, 347), *some([], [(50, 34540)])]
)
def test_two_balanced_peaks(sigma, alpha):
    check_all_sums(Gaussian(sigma), curve_of(Gaussian(sigma)), alpha, RATE)


@covering()
@pytest.mark.parametrize("gamma", [TINY_RATE, RATE, Fraction(1, 2), NEAR_ONE], ids=str)
@pytest.mark.parametrize("alpha", [2, 3, 17, 240])
@FULL
def test_near_degenerate_rates(name, alpha, gamma):
    check_all_sums(*WIDE[name], alpha, gamma)


@pytest.mark.parametrize("name", ["Laplace(1/2)", "RandomizedResponse(0.9)", "Gaussian(50)"])
def test_large_orders(name):
    base, eps = WIDE[name]
    check_all_sums(base, eps, some(2000, 5000), RATE)


#: e^{ε(∞)} − 1 below 1, above 1 (the square below 2, the fourth power above), and above 2.
SPREADS = with_curves(
    *(f"Laplace({b})" for b in ("2", "5/4", "1/2")),
    *(f"RandomizedResponse({p})" for p in ("0.6", "11/16", "0.9")),
)


@covering()
@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2)], ids=str)
@pytest.mark.parametrize("name", SPREADS)
def test_every_branch_of_theorem_9(name, gamma):
    base, eps = SPREADS[name]
    fixed = SubsampleWithoutReplacement(base, gamma)
    for alpha in (2, 3, 4, 5, 40, 333):
        true = theorem_9(alpha, gamma, moments(eps, alpha), eps(INFINITY))
        assert holds(ask(fixed, alpha, "WBK19-T9"), true), alpha


# --- curves that are not convex


@covering()
@pytest.mark.parametrize("gamma", [TINY_RATE, Fraction(1, 50), NEAR_ONE], ids=str)
@pytest.mark.parametrize("name", CUSTOM)
def test_curves_of_any_shape(name, gamma):
    base, eps = CUSTOM[name]
    for alpha in (2, 3, 40, 1200):
        values = moments(eps, alpha)
        found = ask(PoissonSubsample(base, gamma), alpha, "ZW19-T5")
        assert holds(found, theorem_5(alpha, gamma, values))
        found = ask(SubsampleWithoutReplacement(base, gamma), alpha, "WBK19-T9")
        assert holds(found, theorem_9(alpha, gamma, values, mp.inf))


def sampled(theorem, eps, gamma):
    """The curve that a theorem gives."""
    return functools.cache(lambda alpha: theorem(alpha, gamma, moments(eps, alpha)))


@covering()
@pytest.mark.parametrize("inner", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("outer", [TINY_RATE, Fraction(1, 20), NEAR_ONE], ids=str)
def test_sampling_twice(inner, outer):
    base = curve_of(Gaussian(3))
    once, roughly = sampled(theorem_8, base, inner), sampled(theorem_5, base, inner)
    twice = PoissonSubsample(PoissonSubsample(Gaussian(3), inner), outer)
    general = PoissonSubsample(PoissonSubsample(ZCDP("1/18"), inner), outer)
    for alpha in (2, 3, 61):
        of_both = theorem_8(alpha, outer, moments(once, alpha))
        assert holds(ask(twice, alpha), of_both)
        assert holds(ask(general, alpha), of_both)  # S22-POISSON is that sum for every mechanism
        assert holds(ask(twice, alpha, "ZW19-T6"), of_both)
        rough = theorem_5(alpha, outer, moments(roughly, alpha))
        assert holds(ask(twice, alpha, "ZW19-T5"), rough)


# --- oracle calls


@covering()
@pytest.mark.parametrize(("alpha", "most"), [(10**4, 300), (10**5, 1000), (10**6, 3000)])
@FULL
def test_fifty_digits_take_few_oracle_calls(name, alpha, most):
    base, _ = WIDE[name]
    accountant = Accountant(50)
    found = accountant.rdp(PoissonSubsample(base, RATE), alpha)
    assert found.digits >= 50
    assert 1 <= accountant.oracle_calls(base) <= most


@pytest.mark.parametrize("name", ["Laplace(2)", "Laplace(1/2)", "RandomizedResponse(0.6)"])
def test_fewer_digits_cost_fewer_oracle_calls(name):
    base, _ = SEEDS[name]
    calls = []
    for digits in (5, 50):
        accountant = Accountant(digits)
        accountant.rdp(PoissonSubsample(base, RATE), 10**4)
        calls.append(accountant.oracle_calls(base))
    assert calls[0] < calls[1] * 3 // 4
