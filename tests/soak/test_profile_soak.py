"""The exact profile at thousands of drawn compositions, each against everything that bounds it."""

import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

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
from symacct.kernel.answer import to_fraction
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.limits import limits
from symacct.mechanisms.pair import Overlap
from symacct.profile.answer import EXACT
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.solve import CompositionProfile
from symacct.verify.judging.bounds import ends
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
    assert low <= ends(accountant.epsilon(m, delta, "improved", digits=8).epsilon)[1], (
        "above Rényi's"
    )
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
    assert low <= ends(accountant.epsilon(m, delta, "improved", digits=8).epsilon)[1], (
        "above Rényi's"
    )
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
        direction = CompositionProfile(
            ((SampledGaussian(variance, Fraction(1, rate)), count),), False
        )
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
            glued = ends(EXACT.remembered(m, accountant._table).guarantee(True, delta, 6).epsilon)
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


def logistic(shift):
    """The law about `shift`, and the logarithm of its density."""
    x = f"(x-{shift})"
    law = laws.Density(f"exp(-Abs{x})/(1+exp(-Abs{x}))**2")

    def log_density(x):
        away = np.abs(x - float(shift))
        return -away - 2 * np.log1p(np.exp(-away))

    return law, log_density


def cut_off(rate):
    """The exponential law up to 4."""
    law = laws.Density(f"exp(-({rate})*x)", (0, 4), mass="any")
    return law, lambda x: -float(rate) * x + math.log(rate / -math.expm1(-4 * rate))


def drawn_monotone(chance):
    """Two laws whose loss is monotone, their log-densities, and where they nearly end."""
    shift = Fraction(chance.randint(1, 30), 10)
    if chance.random() < 0.5:
        return *logistic(shift), *logistic(Fraction(0)), (-38.0, 38.0 + float(shift))
    return *cut_off(Fraction(1)), *cut_off(1 + shift), (0.0, 4.0)


def laid_out(masses, losses, count):
    """A function y ↦ between what D(y) of so many runs is: losses rounded down and up, by FFT."""
    low, high = np.minimum(losses[:-1], losses[1:]), np.maximum(losses[:-1], losses[1:])
    step = (high.max() - low.min()) / 2**13
    places = np.floor((low - low.min()) / step), np.ceil((high - low.min()) / step)
    size = 2 ** math.ceil(math.log2(count * (2**13 + 2)))
    laid = [np.bincount(place.astype(int), masses, minlength=size) for place in places]
    powers = [np.fft.irfft(np.fft.rfft(one) ** count, size) for one in laid]
    totals = count * low.min() + step * np.arange(size)

    def between(y):
        share = -np.expm1(np.minimum(y - totals, 0))
        return tuple(float(power @ share) for power in powers)

    return between


@pytest.mark.parametrize("block", range(BLOCKS))
def test_few_runs_of_densities_by_convolution(block, record_property):
    """Bounded losses, both ways, from δ = 1/2 to next to the largest loss and beyond it."""
    chance, counts = random.Random(f"laid out {block}"), Counter()
    P, first, Q, second, ends = drawn_monotone(chance)
    gamma, reverse = Fraction(1, chance.choice([1, 1, 2, 10])), chance.random() < 0.5
    count = chance.randint(2, 6)
    edges, rate = np.linspace(*ends, 2**17), float(gamma)
    middles, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    losses = np.log1p(rate * np.expm1(first(edges) - second(edges)))
    q = width * np.exp(second(middles))
    m = q * (1 + rate * np.expm1(first(middles) - second(middles)))
    part = DensityLoss(DensityPair(Overlap(P, Q), gamma))
    between = laid_out(q if reverse else m, -losses if reverse else losses, count)
    direction, y = CompositionProfile(((part, count),), reverse), 0.0
    largest = float(direction.runs.largest.mid())
    goal = chance.choice([0.5, 0.1, 1e-2, 1e-4, 1e-6, 1e-8])
    low, high = -1.0, largest
    for _ in range(40):
        y = (low + high) / 2
        low, high = (y, high) if between(y)[0] > goal else (low, y)
    assert direction.delta(lambda: arb(largest) + arb(10) ** -9, 3) == 0
    try:
        with np.errstate(all="ignore"):
            found = direction.delta(lambda: arb(y), 2)
        counts["held"] += 1
        least, most = between(y)
        assert float(found.upper()) >= least * (1 - 1e-3) - 1e-12
        assert float(found.lower()) <= most * (1 + 1e-3) + 1e-12
    except (PrecisionError, LimitError):
        counts["vacuous"] += 1
    record(counts, record_property, "laid out")
