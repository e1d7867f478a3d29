"""Sums of discrete Gaussian noise: the laws themselves convolved, and the bound as printed."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from sympy import Symbol

from symacct import (
    AssumptionError,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DomainError,
    Gaussian,
    Kind,
    LimitError,
    OrderError,
    PoissonSubsample,
)
from symacct.baselines import discrete_sum_rdp
from symacct.kernel.accountant import FormulaAccountant
from tests import independent
from tests.support import holds, overlap
from tests.thinning import covering, some

MP = independent.context(60)
ONE = (DiscreteGaussian(1), DiscreteGaussianSum(1, 1))


def summed(sigma, parties, reach):
    """The law of the sum on −reach … reach, convolved party by party."""
    one = [MP.exp(-(MP.mpf(k) ** 2) / (2 * sigma**2)) for k in range(-reach, reach + 1)]
    total = MP.fsum(one)
    one = {k: w / total for k, w in zip(range(-reach, reach + 1), one, strict=True)}
    law = dict(one)
    for _ in range(parties - 1):
        law = {
            k: MP.fsum(law[j] * one[k - j] for j in law if abs(k - j) <= reach)
            for k in range(-reach, reach + 1)
        }
    return law


def divergence(law, alpha, moved):
    kept = [(law[k - moved], law[k]) for k in law if k - moved in law]
    return MP.log(MP.fsum(p**alpha * q ** (1 - alpha) for p, q in kept)) / (alpha - 1)


@pytest.mark.parametrize("seed", range(some(5, 14)))
def test_the_bound_and_the_curve_as_printed(seed):
    rng = random.Random(seed)
    sigma, moved = Fraction(rng.randint(3, 30), 10), Fraction(rng.randint(1, 20), 4)
    dimension = rng.choice([1, 3, 10**6])
    m = DiscreteGaussianSum(sigma, rng.randint(1, 5 if dimension == 1 else 200), moved, dimension)
    for alpha in (1, 2, Fraction(rng.randint(11, 400), 10), independent.INFINITY):
        assert holds(m.rdp(alpha, digits=30), independent.rdp(MP, m, alpha), 30, trusted=50)
        if m.dimension == 1:
            stated, many = FormulaAccountant(30).rdp(m, alpha), m.parties
            two = DiscreteGaussianSum(sigma, many, moved, 2).rdp(alpha)
            assert m.rdp(alpha).upper <= stated.upper <= two.upper


def hockey_stick(law, moved, grown, rate=1):
    """The larger of both directions of Σ (m − ag)₊, m the noise moved, at this rate."""
    kept = [((1 - rate) * law[k] + rate * law[k - moved], law[k]) for k in law if k - moved in law]
    straight = MP.fsum(max(p - grown * q, 0) for p, q in kept)
    return max(straight, MP.fsum(max(q - grown * p, 0) for p, q in kept))


@covering()
@pytest.mark.parametrize("part", range(3))
def test_the_exact_profile_is_that_of_the_laws_convolved(part):
    rng = random.Random(part)
    for _ in range(some(2, 5)):
        sigma, parties = Fraction(rng.randint(2, 10), 10), rng.randint(1, 5)
        moved, epsilon = rng.randint(1, 3), Fraction(rng.randint(0, 20), 10)
        law = summed(independent.number(MP, sigma), parties, 45)
        m = DiscreteGaussianSum(sigma, parties, moved + Fraction(rng.randint(0, 9), 10))
        for node, rate in ((m, Fraction(1)), (PoissonSubsample(m, "1/7"), Fraction(1, 7))):
            grown, share = (independent.number(MP, x) for x in (epsilon / rate.denominator, rate))
            found = node.delta(epsilon / rate.denominator, digits=20, conversion="exact")
            assert found.kind is Kind.EXACT
            known = hockey_stick(law, moved, MP.exp(grown), share)
            assert holds(found.delta, known, 20, trusted=25)


def test_the_exact_profile_is_below_what_is_said_of_the_curve():
    for sigma, parties, moved in (("1/2", 100, 3), (1, 100, 1), ("1/10", 10, 1)):
        m = DiscreteGaussianSum(sigma, parties, moved)
        exact, improved = (m.epsilon("1e-5", conversion=one) for one in ("exact", "improved"))
        assert exact.epsilon.upper < improved.epsilon.upper
    one = [m.delta(1, digits=20, conversion="exact").delta for m in ONE]
    assert overlap(*one)
    assert DiscreteGaussianSum(1, 9, "1/2").delta(0, conversion="exact").delta.upper == 0
    with pytest.raises(AssumptionError, match="needed dimension=1"):
        DiscreteGaussianSum(1, 9, 1, 2).delta(1, conversion="exact")
    with pytest.raises(LimitError, match="far from one number"):
        DiscreteGaussianSum("1/50", 100).delta(1, conversion="exact")


def test_one_party_and_a_billion():
    assert abs(DiscreteGaussianSum(2, 1).rdp(3).upper - Gaussian(2).rdp(3).upper) < 1e-25
    assert DiscreteGaussianSum(3, 10**9).rdp(2, digits=12).upper < 1.2e-10
    many = DiscreteGaussianSum(1, 100).rdp(8).upper
    assert many < DiscreteGaussian(1).rdp(8).upper / 99
    # Where noise is little, the others' helps nothing that is proved.
    few = DiscreteGaussianSum("1/9", 50, 1, 2).rdp(2)
    assert abs(few.upper - Gaussian("1/9").rdp(2).upper) < 1e-25


@pytest.mark.parametrize("sigma", ["1e-400", "1e-5", "1e400"])
@pytest.mark.parametrize("parties", [1, 2, 10**9])
def test_far_ends_have_a_value(sigma, parties):
    m = DiscreteGaussianSum(sigma, parties, 2)
    values = [m.rdp(alpha, digits=6) for alpha in (1, 2, "1e400")]
    assert all(a.upper <= b.upper for a, b in pairwise(values))


@pytest.mark.parametrize(
    ("sigma", "parties", "sensitivity"),
    [("1/2", 2, 1), ("1/2", 5, "3/2"), ("2/3", 3, 2), (1, 4, 1), ("3/4", 1, 3)],
)
def test_the_curve_of_one_number_is_that_of_the_laws_convolved(sigma, parties, sensitivity):
    law = summed(independent.number(MP, Fraction(sigma)), parties, 40)
    for alpha in (Fraction(5, 4), 2, 5):
        found = discrete_sum_rdp(alpha, sigma, parties, sensitivity, digits=20)
        order = independent.number(MP, alpha)
        assert holds(found, divergence(law, order, int(Fraction(sensitivity))), 20, 30)
        assert found.claim.kind is Kind.EXACT
        node = DiscreteGaussianSum(sigma, parties, sensitivity)
        for engine in ("ball", "mpmath"):
            assert overlap(node.rdp(alpha, digits=15, engine=engine), found)
    moved = int(Fraction(sensitivity))
    pairs = [(law[k - moved], law[k]) for k in law if k - moved in law]
    assert holds(node.rdp(1, digits=20), MP.fsum(p * MP.log(p / q) for p, q in pairs), 20, 30)


def test_the_curve_goes_on_as_the_bound_where_outcomes_are_too_many():
    for node in (
        DiscreteGaussianSum(1, 10**9),
        DiscreteGaussianSum("1/50", 9),
        DiscreteGaussianSum(1, 4, 2, 2),
    ):
        stated = FormulaAccountant(12).rdp(node, 3)
        assert node.rdp(3, digits=12) == stated
    far = DiscreteGaussianSum("1/2", 4)
    values = [far.rdp(alpha, digits=12) for alpha in (1, "3/2", 24, 25, 26, 1000)]
    assert all(a.upper < b.lower for a, b in pairwise(values))
    assert values[2].upper < FormulaAccountant(12).rdp(far, 24).lower
    # Of the bound alone it is proved that nothing is steeper than at order 1.
    assert overlap(far.zcdp(12), FormulaAccountant(12).rdp(far, 1))


def test_a_curve_of_one_number_moved_by_a_symbol_is_refused():
    with pytest.raises(DomainError, match="sensitivity"):
        discrete_sum_rdp(2, 1, 4, Symbol("s", positive=True))


def test_the_curve_of_one_number_at_its_edges():
    assert discrete_sum_rdp(3, 1, 4, "1/2").upper == 0
    one = DiscreteGaussian(2).rdp(3, digits=15)
    assert one.lower <= discrete_sum_rdp(3, 2, 1, digits=15).upper
    for order in (1, "inf"):
        with pytest.raises(OrderError, match="needed 1 < alpha"):
            discrete_sum_rdp(order, 1, 4)
    with pytest.raises(LimitError, match="outcomes that count"):
        discrete_sum_rdp(2, 1, 10**9)
