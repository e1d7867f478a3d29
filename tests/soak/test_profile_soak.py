"""The exact profile at thousands of drawn compositions, each against everything that bounds it."""

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from symacct import (
    Accountant,
    Compose,
    DistributionPair,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    laws,
)
from symacct.enclosure import to_fraction
from symacct.errors import LimitError, PrecisionError
from symacct.profile.sampled_gaussian import SampledGaussian
from symacct.profile.solve import Direction
from symacct.sizes import limits
from symacct.verify.bounds import ends
from tests.profile.laws import rare_jumps

BLOCKS, CASES, DENSITIES = 200, 10, 3
FIXED_BLOCKS = BLOCKS // 2
TINY = Fraction(1, 10**12)


def drawn(chance):
    """A composition of one to three kinds of noise, sampled or not, few or many runs of each."""
    parts = []
    for _ in range(chance.choice([1, 1, 2, 3])):
        scale = Fraction(chance.randint(2, 80), 10)
        base = chance.choice(
            [Gaussian(scale), Gaussian(scale), Laplace(scale), PureDP(1 / (10 * scale)),
             RandomizedResponse(Fraction(1, 2) + 1 / (20 * scale))]
        )  # fmt: skip
        gamma = Fraction(1, chance.choice([1, 2, 5, 10, 100, 1000]))
        count = chance.choice([1, 2, 3, 5, 10, 100, 1000, 10**5])
        parts.append(count * (base if gamma == 1 else PoissonSubsample(base, gamma)))
    return Compose(*parts)


def at_most(m, delta, accountant):
    """The upper end of ε(δ); ∞ where it was not to be had, as of two runs of densities."""
    try:
        return ends(accountant.epsilon(m, delta, "exact", digits=8).epsilon)[1]
    except (PrecisionError, LimitError):
        return math.inf


def check(m, chance, accountant):
    """One question about m by every law; "vacuous" where no digits were to be had in time."""
    delta = Fraction(1, 10 ** chance.choice([3, 5, 8, 12]))
    try:
        with limits(contour=2**28):
            found = accountant.epsilon(m, delta, "exact", digits=10)
            low, high = ends(found.epsilon)
            less = ends(accountant.epsilon(m, delta * 2, "exact", digits=8).epsilon)
            finer = ends(accountant.epsilon(m, delta, "exact", digits=16).epsilon)
            back = ends(accountant.delta(m, to_fraction(found.epsilon.upper), "exact").delta)
            more = at_most(Compose(m, m), delta, accountant)
    except (PrecisionError, LimitError):
        return "vacuous"
    assert found.kind is Kind.EXACT
    assert less[0] <= high, "not monotone in δ"
    assert low <= more, "not monotone in the runs"
    assert max(low, finer[0]) <= min(high, finer[1]), "disjoint"
    assert back[0] <= delta, "δ(ε(δ)) above δ"
    assert ends(accountant.lower_epsilon(m, delta, 6))[0] <= high + TINY, "the lower bound above"
    assert low <= ends(accountant.epsilon(m, delta, digits=8).epsilon)[1], "above Rényi's"
    return "held"


def record(counts, record_property, name):
    """Held and vacuous cases are counted over all blocks: tests/soak/conftest.py."""
    record_property("progress", f"{name}: {dict(counts)}")
    for became, count in counts.items():
        record_property(became, count)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_law_of_the_profile(block, record_property):
    chance, accountant, counts = random.Random(block), Accountant(10), Counter()
    for _ in range(CASES):
        counts[check(drawn(chance), chance, accountant)] += 1
    record(counts, record_property, "exact profile")


def drawn_densities(chance):
    """One or many runs of a pair of densities, sampled or not."""
    return chance.choice([1, 50, 200, 1000, 10**4, 10**5]) * drawn_run(chance)


def drawn_run(chance):
    """A pair of densities, sampled or not."""
    scale = Fraction(chance.randint(11, 30), 10)
    family = chance.choice(
        [
            (laws.Normal(0, scale**2), laws.Normal(1, scale**2)),
            (laws.Normal(0, 4), laws.Normal(Fraction(1, 2), 4 * scale)),  # moments end
            (laws.Exponential(1), laws.Exponential(scale)),
            (laws.Gamma(scale, 1), laws.Gamma(scale, Fraction(6, 5))),
            (laws.Beta(2, 1 + scale), laws.Beta(1 + scale, 2)),
        ]
    )
    pair = DistributionPair(*family) if chance.random() < 0.5 else DistributionPair(*family[::-1])
    gamma = Fraction(1, chance.choice([1, 2, 10, 100]))
    return pair if gamma == 1 else PoissonSubsample(pair, gamma)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_law_of_pairs_of_densities(block, record_property):
    chance, accountant, counts = random.Random(f"densities {block}"), Accountant(10), Counter()
    for _ in range(DENSITIES):
        m = drawn_densities(chance)
        counts[check(m, chance, accountant)] += 1
    record(counts, record_property, "densities")


def check_few(m, chance, accountant):
    """Few runs have two digits or so: against more runs, the lower bound and Rényi's."""
    delta = Fraction(1, 10 ** chance.choice([2, 3, 4]))
    try:
        found = accountant.epsilon(m, delta, "exact", digits=2)
        back = ends(accountant.delta(m, to_fraction(found.epsilon.upper), "exact", digits=1).delta)
        low, high = ends(found.epsilon)
        more = at_most(Compose(m, m), delta, accountant)
    except (PrecisionError, LimitError):
        return "vacuous"
    assert found.kind is Kind.EXACT
    assert low <= more, "not monotone in the runs"
    assert back[0] <= delta, "δ(ε(δ)) above δ"
    assert ends(accountant.lower_epsilon(m, delta, 2))[0] <= high + TINY, "the lower bound above"
    assert low <= ends(accountant.epsilon(m, delta, digits=8).epsilon)[1], "above Rényi's"
    return "held"


@pytest.mark.parametrize("block", range(BLOCKS))
def test_few_runs_of_pairs_of_densities(block, record_property):
    chance, accountant, counts = random.Random(f"few {block}"), Accountant(10), Counter()
    m = chance.choice([2, 3, 5, 12]) * drawn_run(chance)
    counts[check_few(m, chance, accountant)] += 1
    record(counts, record_property, "few densities")


@pytest.mark.parametrize("block", range(BLOCKS))
def test_few_runs_of_which_one_rarely_jumps(block, record_property):
    """At most 50 runs at rates of at most 1/100, against masses that are spread and convolved."""
    chance, counts = random.Random(f"rare {block}"), Counter()
    for _ in range(CASES):
        count, rate = chance.randint(2, 50), chance.randint(100, 20_000)
        variance = Fraction(chance.randint(50, 2500), 100)
        most, is_near = rare_jumps(variance, Fraction(1, rate), count)
        delta = Fraction(most / 10 ** chance.uniform(0.2, 5))
        direction = Direction(((SampledGaussian(variance, Fraction(1, rate)), count),), False)
        try:
            with np.errstate(all="ignore"):
                found = direction.epsilon(delta, 6)
        except (PrecisionError, LimitError):
            counts["vacuous"] += 1
            continue
        assert is_near(float(found), float(delta))
        counts["held"] += 1
    record_property("progress", f"rare jumps: {dict(counts)}")
    assert counts["held"] > CASES * 3 / 4


def drawn_of_fixed_size(chance):
    """Noise on samples of fixed size, often, beside Gaussian noise on all records."""
    gamma = Fraction(1, chance.choice([2, 5, 10, 100, 1000]))
    noise = chance.choice([Gaussian, Gaussian, Gaussian, Laplace])
    sampled = SubsampleWithoutReplacement(noise(Fraction(chance.randint(5, 100), 10)), gamma)
    m = chance.choice([20, 100, 1000, 10**4, 10**5]) * sampled
    return m + Gaussian(chance.randint(2, 9)) if chance.random() < 0.3 else m


def check_bracket(m, chance, accountant):
    """The lower bounds, the glued profile and the curve's answer in their order."""
    delta = Fraction(1, 10 ** chance.choice([3, 5, 8]))
    try:
        with limits(contour=2**28):
            least = ends(accountant.lower_epsilon(m, delta, 5))
            found = accountant.epsilon(m, delta, "exact", digits=6)
            glued = ends(accountant._profile(m).epsilon(delta, 6).epsilon)
    except (PrecisionError, LimitError):
        return "vacuous"
    assert found.kind is Kind.UPPER
    assert least[0] <= ends(found.epsilon)[1], "the lower bound above the upper one"
    assert least[0] <= glued[1], "the lower bound above the glued profile"
    assert ends(found.epsilon)[1] <= glued[1] * (1 + TINY) + TINY, "more than the glued profile"
    return "held"


@pytest.mark.parametrize("block", range(FIXED_BLOCKS))
def test_brackets_of_samples_of_fixed_size(block, record_property):
    chance, accountant, counts = random.Random(f"fixed {block}"), Accountant(6), Counter()
    for _ in range(CASES):
        counts[check_bracket(drawn_of_fixed_size(chance), chance, accountant)] += 1
    record(counts, record_property, "brackets")
