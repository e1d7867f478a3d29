"""Poisson samples of Gaussian answers: a record replaced, and groups; `conversion="exact"`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from symacct import (
    AssumptionError,
    Compose,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
)

SETTINGS = [
    (Fraction(1), Fraction(1, 100)),
    (Fraction(5), Fraction(1, 2)),
    (Fraction(1, 2), Fraction(1, 9)),
]
DIGITS = 20


def replaced(sigma, gamma):
    return PoissonSubsample(Gaussian(sigma), gamma, adjacency="replace_one")


def mixture(count, gamma, sigma, sign):
    """The density Σ Bin(count, γ)(j) N(±j, σ²), in mpmath."""
    g, s = (mpf(x.numerator) / x.denominator for x in (gamma, sigma))
    return lambda x: mp.fsum(
        math.comb(count, j) * g**j * (1 - g) ** (count - j) * mp.npdf(x, sign * j, s)
        for j in range(count + 1)
    )


def by_quadrature(p, q, epsilon, ends):
    """∫(p − e^ε q)₊, the place where it begins by bisection: p/q rises."""
    grown = mp.exp(epsilon)
    low, high = map(mpf, ends)
    for _ in range(115):
        middle = (low + high) / 2
        low, high = (low, middle) if p(middle) > grown * q(middle) else (middle, high)
    return mp.quad(lambda x: p(x) - grown * q(x), mp.linspace(low, ends[1], 12))


@pytest.mark.parametrize(("sigma", "gamma"), SETTINGS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_one_run_with_a_record_replaced_is_the_integral(sigma, gamma, epsilon):
    with mp.workdps(34):
        ends = (-14 * float(sigma) - 2, 14 * float(sigma) + 2)
        p, q = (mixture(1, gamma, sigma, sign) for sign in (1, -1))
        truth = by_quadrature(p, q, mpf(epsilon.numerator) / epsilon.denominator, ends)
        found = replaced(sigma, gamma).delta(epsilon, conversion="exact", digits=DIGITS).delta
        assert abs(mpf(str(found)) / truth - 1) < mpf(10) ** (1 - DIGITS)


def test_a_group_in_one_run_is_the_worst_integral():
    """Of all ways to split it into records more and records less, both ways round."""
    size, sigma, gamma, epsilon = 3, Fraction(1), Fraction(1, 10), Fraction(1, 2)
    with mp.workdps(34):
        truth = max(
            by_quadrature(
                mixture(more, gamma, sigma, 1),
                mixture(size - more, gamma, sigma, -1),
                mpf(1) / 2,
                (-15, 18),
            )
            for more in range(1, size + 1)
        )
        node = GroupPrivacy(PoissonSubsample(Gaussian(sigma), gamma), size)
        found = node.delta(epsilon, conversion="exact", digits=DIGITS).delta
        assert abs(mpf(str(found)) / truth - 1) < mpf(10) ** (1 - DIGITS)


# dp_accounting 0.6.0, privacy_loss_distribution.from_gaussian_mechanism with REPLACE_ONE: ε at
# δ = 1e-6 of an optimistic estimate and of a pessimistic one.
ENDS = [
    (1, "1/100", 1, 0.3738799912611763, 0.3739300013145543),
    (1, "1/100", 100, 1.1054288555105967, 1.110429380979614),
    (1, "1/100", 10000, 11.456866546322319, 11.956884623731314),
    (5, "1/1000", 10000, 0, 0.14990745059637536),
]


@pytest.mark.parametrize(("sigma", "gamma", "runs", "low", "high"), ENDS)
def test_several_runs_are_between_the_ends_of_another_program(sigma, gamma, runs, low, high):
    node = replaced(sigma, gamma) * runs
    found = node.epsilon("1e-6", conversion="exact", digits=10)
    assert low <= float(found.epsilon) <= high
    assert node.lower_epsilon("1e-6", digits=10).lower <= found.epsilon
    assert found.epsilon <= node.epsilon("1e-6").epsilon


def test_it_rises_with_the_rate_up_to_two_sensitivities():
    rates = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), 1 - Fraction(1, 10**12)]
    asked = (replaced(2, g).epsilon("1e-6", conversion="exact", digits=9) for g in rates)
    found = [answer.epsilon for answer in asked]
    twice = Gaussian(1).epsilon("1e-6", conversion="exact", digits=9).epsilon
    assert all(a < b for a, b in itertools.pairwise([*found, twice]))
    assert abs(float(found[-1]) / float(twice) - 1) < 1e-9
    whole = replaced(2, 1).epsilon("1e-6", conversion="exact", digits=9).epsilon
    assert float(whole) == float(twice)
    assert float(replaced(2, 0).epsilon("1e-6", conversion="exact").epsilon) == 0


def test_it_is_composed_with_other_noise():
    node = replaced(1, "1/100") * 100
    alone = node.epsilon("1e-6", conversion="exact", digits=9).epsilon
    more = Compose({replaced(1, "1/100"): 100, Laplace(20): 1})
    both = more.epsilon("1e-6", conversion="exact", digits=9).epsilon
    assert alone < float(both) <= float(alone) + 0.05


def test_what_is_not_proved_is_refused():
    group = GroupPrivacy(PoissonSubsample(Gaussian(1), "1/100"), 2)
    with pytest.raises(AssumptionError, match="needed one run"):
        (group * 2).epsilon("1e-6", conversion="exact")
    with pytest.raises(AssumptionError, match="one Gaussian query"):
        PoissonSubsample(Laplace(1), "1/100", adjacency="replace_one").epsilon(
            "1e-6", conversion="exact"
        )
