"""Poisson samples of Gaussian answers: a record replaced, and groups; `conversion="exact"`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from symacct import (
    AssumptionError,
    Compose,
    Either,
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
)
from tests.thinning import covering

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


@covering()
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


@pytest.mark.parametrize("size", [2, 3])
def test_a_group_replaced_is_as_many_removed_and_added(size):
    """Half of them, one way or the other, are fewer: .812 for a true .998."""
    sigma, gamma, epsilon = Fraction(2), Fraction(1, 10), Fraction(1, 2)
    node = GroupPrivacy(replaced(sigma, gamma), size)
    with mp.workdps(34):
        p, q = (mixture(size, gamma, sigma, sign) for sign in (1, -1))
        truth = by_quadrature(p, q, mpf(1) / 2, (-30, 32))
        found = node.delta(epsilon, conversion="exact", digits=DIGITS).delta
        assert abs(mpf(str(found)) / truth - 1) < mpf(10) ** (1 - DIGITS)
    for runs in (node, node + replaced(sigma, gamma)):  # the sum is about one record alone
        least = runs.lower_epsilon("1e-5", digits=8).lower
        assert least <= (2 * replaced(sigma, gamma)).epsilon("1e-5", 8, "exact").epsilon.upper


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
    assert found.epsilon <= node.epsilon("1e-6", conversion="improved").epsilon


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


def sampled(sigma, gamma, size):
    return GroupPrivacy(PoissonSubsample(Gaussian(sigma), gamma), size)


erfc = np.vectorize(math.erfc)


class Floats:
    """Σ Bin(count, γ)(j) N(±j, σ²): its density and tail."""

    def __init__(self, count, gamma, sigma, sign):
        g, self.sigma = float(Fraction(gamma)), float(Fraction(sigma))
        self.terms = [
            (math.comb(count, j) * g**j * (1 - g) ** (count - j), sign * j)
            for j in range(count + 1)
        ]

    def density(self, x):
        bells = (w * np.exp(-(((x - m) / self.sigma) ** 2) / 2) for w, m in self.terms)
        return sum(bells) / (self.sigma * math.sqrt(2 * math.pi))

    def tail(self, x):
        root = self.sigma * math.sqrt(2)
        return sum(w * erfc((x - m) / root) for w, m in self.terms) / 2


def side_by_side(pairs, grown):
    """∫∫(p₁p₂ − e^ε q₁q₂)₊ of two pairs: at each x the half-line of the second, by bisection."""
    (p, q), (more, less) = pairs
    x = np.arange(-960, 961) / 64
    above, below = p.density(x), grown * q.density(x)
    low, high = np.full(len(x), -30.0), np.full(len(x), 30.0)
    for _ in range(50):
        middle = (low + high) / 2
        is_above = above * more.density(middle) > below * less.density(middle)
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return math.fsum(above * more.tail(low) - below * less.tail(low)) / 64


ALIKE, UNLIKE = (1, "1/3"), ("3/2", "1/2")


@covering(lambda size, runs, epsilon: {len(set(runs))})
@pytest.mark.parametrize(
    ("size", "runs", "epsilon"),
    [
        (2, (ALIKE, ALIKE), Fraction(1, 2)),
        (2, (ALIKE, UNLIKE), Fraction(1, 2)),
        (3, (ALIKE, UNLIKE), Fraction(2)),
        (3, (UNLIKE, UNLIKE), Fraction(1, 10)),
    ],
)
def test_two_runs_of_a_group_are_the_worst_double_integral(size, runs, epsilon):
    """The same records more, and less, in both; float64 and a sum of smooth tails."""
    node = Compose(*(sampled(sigma, gamma, size) for sigma, gamma in runs))
    found = node.delta(epsilon, conversion="exact", digits=10)
    most = max(
        side_by_side(
            [
                (
                    Floats(more, Fraction(gamma), Fraction(sigma), 1),
                    Floats(size - more, Fraction(gamma), Fraction(sigma), -1),
                )
                for sigma, gamma in runs
            ],
            math.exp(epsilon),
        )
        for more in range(size + 1)
    )
    assert abs(float(found.delta) / most - 1) < 1e-9
    assert found.kind is Kind.EXACT
    assert node.lower_delta(epsilon, digits=9).lower <= found.delta.upper


def test_many_runs_of_a_group_are_below_the_curve_and_above_one_record():
    one, group = PoissonSubsample(Gaussian(2), "1/10"), sampled(2, "1/10", 2)
    found = (1000 * group).epsilon("1e-5", conversion="exact", digits=8)
    assert found.kind is Kind.EXACT
    assert (1000 * one).epsilon("1e-5", conversion="exact").epsilon < found.epsilon
    assert found.epsilon < (1000 * group).epsilon("1e-5", conversion="improved").epsilon
    assert GroupPrivacy(1000 * one, 2) is 1000 * group


def test_a_sampled_group_at_the_rate_1_is_noise_of_its_sensitivity():
    """n runs at a rate near 1 are nearly those of N(gΔ, σ²), and one of them at σ/√n."""
    most = Gaussian(2, 3).epsilon("1e-6", conversion="exact", digits=9).epsilon
    near = (4 * sampled(4, 1 - Fraction(1, 10**12), 3)).epsilon(
        "1e-6", conversion="exact", digits=9
    )
    assert abs(float(near.epsilon) / float(most) - 1) < 1e-9


def test_groups_beside_what_is_for_smaller_ones():
    """With no group there is one record, for which groups of two are a bound, and not the truth."""
    one, group = PoissonSubsample(Gaussian(2), "1/10"), sampled(2, "1/10", 2)
    both, less = group + Laplace(20), one + Laplace(20)
    found = both.delta("1/10", conversion="exact", digits=6)
    assert found.kind is Kind.UPPER
    truth = less.delta("1/10", conversion="exact", digits=6)
    assert truth.delta < found.delta
    assert both.lower_delta("1/10", digits=6).lower <= truth.delta.upper
    told = Either(group, one, "1/2")
    assert told.delta("1/10", conversion="exact").kind is Kind.UPPER
    assert told.lower_delta("1/10").lower <= one.delta("1/10", conversion="exact").delta.upper
    alike = Either(group, sampled(1, "1/3", 2), "1/2")
    assert alike.delta("1/10", conversion="exact").kind is Kind.EXACT


def test_what_is_not_proved_is_refused():
    group = sampled(1, "1/100", 2)
    with pytest.raises(AssumptionError, match="groups of 2 and of 3 records in one Compose"):
        (group + sampled(1, "1/100", 3)).epsilon("1e-6", conversion="exact")
    with pytest.raises(AssumptionError, match="sampled again"):
        SubsampleWithoutReplacement(group, "1/2").epsilon("1e-6", conversion="exact")
    with pytest.raises(AssumptionError, match="one Gaussian query"):
        PoissonSubsample(Laplace(1), "1/100", adjacency="replace_one").epsilon(
            "1e-6", conversion="exact"
        )
