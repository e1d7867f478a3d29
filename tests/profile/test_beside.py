"""Finite parts beside others, whose profile is asked for at every loss that they leave."""

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import Accountant, parse
from symacct.kernel.answer import to_fraction
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.solve import CompositionProfile
from tests.profile.laws import MP, contains, mp
from tests.profile.laws import SampledGaussian as Normal
from tests.thinning import examples


def randomized(p):
    """Randomized response with the truth p."""
    return Atoms(((p, 1 - p), (1 - p, p)))


def counted(p, count, profile, y):
    """Σ_j C(k,j) p^{k−j}(1−p)^j D(y − (k−2j) log(p/(1−p)))."""
    loss = MP.log(mp(p) / (1 - mp(p)))
    return sum(
        math.comb(count, j) * mp(p) ** (count - j) * (1 - mp(p)) ** j
        * profile(y - (count - 2 * j) * loss)
        for j in range(count + 1)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gamma", "reverse", "y"), [("1/50", False, "3/10"), ("1/50", True, "2"), ("1/3", True, "3/10")]
)
def test_one_run_beside_randomized_response(gamma, reverse, y):
    """A run of sampled noise does not decay fast enough to be summed along a line."""
    p, sigma = Fraction(7, 10), Fraction(6, 5)
    noise = Normal(sigma, Fraction(gamma))
    expected = counted(p, 2, lambda x: noise.one_run(x, reverse), mp(Fraction(y)))
    part = SampledGaussian(sigma**2, Fraction(gamma))
    direction = CompositionProfile(((part, 1), (randomized(p), 2)), reverse)
    found = direction.delta(lambda: arb(Fraction(y).numerator) / Fraction(y).denominator, 20)
    assert contains(found, expected, 20)
    assert found.rel_accuracy_bits() > 60


@examples(5, 100)
@given(st.integers(51, 95), st.integers(1, 6), st.integers(20, 40), st.booleans())
def test_a_contour_of_everything_agrees(percent, finite, runs, reverse):
    """Where the others decay fast the same is had from one contour."""
    parts = (
        (SampledGaussian(Fraction(1), Fraction(1, 5)), runs),
        (randomized(Fraction(percent, 100)), finite),
    )
    direction = CompositionProfile(parts, reverse)
    assert len(direction._given_finite) == 2
    ways = (direction.strategies[1], direction.contours)
    one, other = (way.delta(lambda: arb(1) / 2, 12) for way in ways)
    assert one.overlaps(other)
    assert min(one.rel_accuracy_bits(), other.rel_accuracy_bits()) > 36


REFUSED = [
    "PoissonSubsample(Gaussian('6/5'), '1/50') + 20*RandomizedResponse('87/100')",
    "2*PoissonSubsample(Laplace('39/10'), '1/30') + 2*RandomizedResponse('77/100')",
    "20*Laplace('13/5') + 5*RandomizedResponse('77/100')",
    "DiscreteGaussian(3) + 2*RandomizedResponse('3/5')",
    "100*DiscreteGaussian(3) + 20*RandomizedResponse('3/5')",
    "3*DiscreteLaplace(3) + RandomizedResponse('3/5')",
    "2*PoissonSubsample(Gaussian('6/5'), '1/1000')"
    " + 4*PoissonSubsample(RandomizedResponse('3/4'), '1/10')",
    "Gaussian(2) + PoissonSubsample(DiscreteGaussian(3), '1/10')",
    "Skellam(9) + DistributionPair(['1/2', '1/3', '1/6'], ['1/6', '1/2', '1/3'])",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_line_gave(text):
    """ε and δ are each other's inverse."""
    m, accountant = parse(text), Accountant(digits=15)
    epsilon = accountant.epsilon(m, "1e-3", conversion="exact").epsilon
    delta = accountant.delta(m, to_fraction(epsilon.upper), conversion="exact").delta
    assert to_fraction(delta.lower) <= Fraction(1, 1000)
    assert to_fraction(delta.upper) >= Fraction(1, 1000) * (1 - Fraction(1, 10**12))


def test_what_both_can_lose_is_lost_once():
    """P(ℓ = ∞) of two finite parts, one of which is taken in closed form."""
    m = parse(
        "30*DistributionPair(['9/10', '1/20', '1/20'], ['1/20', '19/20', 0])"
        " + 300*DistributionPair(['1/2', '499/1000', '1/1000'], ['499/1000', '501/1000', 0])"
    )
    most = 1 - Fraction(19, 20) ** 30 * Fraction(999, 1000) ** 300
    found = Accountant(digits=15).delta(m, 10, conversion="exact").delta
    assert to_fraction(found.upper) >= most
    beyond = Accountant(digits=15).delta(m, 10**4, conversion="exact").delta
    assert to_fraction(beyond.lower) <= most <= to_fraction(beyond.upper)
