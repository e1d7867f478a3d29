"""One of two mechanisms by a coin, and Poisson batches that are cut to a size."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy

from symacct import (
    AdjacencyError,
    AssumptionError,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    DomainError,
    Either,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    truncated_poisson,
)
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(20)  # for quadratures


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_a_coin_that_is_told_is_one_pair_of_laws(seed):
    """Of two pairs that an involution swaps, all outcomes with the coin's side."""
    draw = random.Random(seed)
    p, q = (Fraction(draw.randint(1, 99), 100) for _ in range(2))
    s = Fraction(draw.randint(1, 99), 100)
    m = Either(RandomizedResponse(p), RandomizedResponse(q), s)
    told = [s * p, s * (1 - p), (1 - s) * q, (1 - s) * (1 - q)]
    pair = DistributionPair(told, [told[1], told[0], told[3], told[2]])
    for alpha in (1, 2, Fraction(draw.randint(11, 90), 10), math.inf):
        one, other = m.rdp(alpha, digits=25), pair.rdp(alpha, digits=25)
        masses = list(zip(pair.P, pair.Q, strict=True))
        assert holds(one, independent.divergence(FINE, alpha, masses), 25, trusted=50)
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert one.claim.kind is Kind.EXACT


def test_a_coin_that_is_no_coin_or_of_two_relations_is_refused():
    assert Either(Gaussian(5), PureDP(1), 1).rdp(3).upper == Gaussian(5).rdp(3).upper
    with pytest.raises(AdjacencyError):
        Either(PoissonSubsample(Gaussian(5), "1/9"), SubsampleWithoutReplacement(Laplace(1), 1), 0)
    for share in (2, -1):
        with pytest.raises(DomainError, match="Either, share: found"):
            Either(Gaussian(5), Gaussian(5), share)
    with pytest.raises(DomainError, match="Either, second"):
        Either(Gaussian(5), 5, "1/2")


FINE = independent.context(60)


def gaussian_profile(mu, epsilon):
    """δ(ε) of N(μ, 1) against N(0, 1)."""
    x = epsilon / mu
    return FINE.ncdf(mu / 2 - x) - FINE.exp(epsilon) * FINE.ncdf(-mu / 2 - x)


@pytest.mark.parametrize("seed", range(some(4, 10)))
def test_the_exact_profile_is_the_mean_over_all_coins(seed):
    """Runs of Gaussian noise of one σ or another: given the coins, Gaussian noise."""
    draw = random.Random(seed)
    runs, epsilon = draw.choice([1, 2, 7]), Fraction(draw.randint(1, 30), 10)
    scales = [Fraction(draw.randint(8, 40), 10) for _ in range(2)]
    share = Fraction(draw.randint(1, 9), 10)
    m = runs * Either(*map(Gaussian, scales), share)
    first, second = (1 / independent.number(FINE, sigma) ** 2 for sigma in scales)
    s = independent.number(FINE, share)
    total = FINE.fsum(
        FINE.binomial(runs, j)
        * s**j
        * (1 - s) ** (runs - j)
        * gaussian_profile(
            FINE.sqrt(j * first + (runs - j) * second), independent.number(FINE, epsilon)
        )
        for j in range(runs + 1)
    )
    shown = m.delta(epsilon, conversion="exact", digits=20)
    assert holds(shown.delta, total, 20, trusted=50)
    assert shown.kind is Kind.EXACT


def test_the_exact_profile_of_finite_laws_and_of_samples():
    told = 3 * Either(RandomizedResponse("3/4"), RandomizedResponse("2/3"), "1/4")
    pair = DistributionPair(["3/16", "1/16", "1/2", "1/4"], ["1/16", "3/16", "1/4", "1/2"])
    one, other = (m.epsilon("1/100", conversion="exact") for m in (told, 3 * pair))
    assert abs(one.epsilon.upper - other.epsilon.upper) < 1e-25
    cut = 20 * truncated_poisson(Gaussian(2), "1/10", 100, 15)
    by_orders, exact = (cut.epsilon("1e-5", 6, one) for one in ("improved", "exact"))
    assert exact.epsilon.upper < by_orders.epsilon.lower
    assert exact.kind is Kind.UPPER
    with pytest.raises(AssumptionError, match="whole numbers"):
        Either(DiscreteGaussian(2), Gaussian(2), "1/2").delta(1, conversion="exact")
    with pytest.raises(AssumptionError, match="inside of Either"):
        PoissonSubsample(Either(Laplace(2), Gaussian(2), "1/2"), "1/9").delta(1, conversion="exact")


def binomial(count, gamma, k):
    return math.comb(count, k) * gamma**k * (1 - gamma) ** (count - k)


@pytest.mark.parametrize(
    ("n", "gamma", "batch"),
    [(5, "1/2", 2), (30, "1/3", 10), (30, "1/3", 20), (200, "1/100", 4), (40, "9/10", 3)],
)
def test_its_numbers_are_the_chances_of_a_cut_rounded_upwards(n, gamma, batch):
    g = Fraction(gamma)
    cut = sum(binomial(n - 1, g, j) for j in range(batch, n))
    share = sum(binomial(n - 1, g, j) * g * batch / (j + 1) for j in range(batch, n)) / cut
    coin = truncated_poisson(Gaussian(3), g, n, batch).mechanism
    slack = 1 + Fraction(1, 10**19)
    assert cut <= coin.share <= cut * slack
    assert 1 - cut <= (1 - coin.share) * (1 + Fraction(4, 10**20))
    assert share <= coin.first.gamma <= share * slack
    assert coin.second.gamma == g * (1 + Fraction(4, 10**20))
    assert coin.first.mechanism == Gaussian(3, 2)


def moment(gamma, square, alpha):
    """E[(P/Q)^α] of Poisson samples of Gaussian noise, (Δ/σ)² = square: the sum over who is in."""
    return FINE.fsum(
        FINE.binomial(alpha, j)
        * gamma**j
        * (1 - gamma) ** (alpha - j)
        * FINE.exp(square * j * (j - 1) / 2)
        for j in range(alpha + 1)
    )


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_the_curve_is_the_mean_over_the_coin_rounded_upwards(seed):
    """The chances as sums in exact fractions; the node's own are of 20 digits, rounded up."""
    draw = random.Random(seed)
    n, g, alpha = draw.randint(3, 60), Fraction(draw.randint(1, 60), 100), draw.randint(2, 9)
    batch, sigma = draw.randint(1, n - 1), Fraction(draw.randint(10, 60), 10)
    cut = sum(binomial(n - 1, g, j) for j in range(batch, n))
    kept = sum(binomial(n - 1, g, j) * g * batch / (j + 1) for j in range(batch, n)) / cut
    chance, square = independent.number(FINE, cut), 1 / independent.number(FINE, sigma) ** 2
    mean = chance * moment(independent.number(FINE, kept), 4 * square, alpha)
    mean += (1 - chance) * moment(independent.number(FINE, g), square, alpha)
    value = FINE.log(mean) / (alpha - 1)
    found = truncated_poisson(Gaussian(sigma), g, n, batch).rdp(alpha, digits=25).upper
    above = FINE.mpf(found) / value - 1
    assert 0 <= above < FINE.mpf(10) ** -17, (n, g, batch, sigma, alpha)


def batches(n, gamma, batch):
    """Every batch of the first n records with its chance."""
    for taken in itertools.product((False, True), repeat=n):
        chosen = [i for i in range(n) if taken[i]]
        chance = gamma ** len(chosen) * (1 - gamma) ** (n - len(chosen))
        kept = list(itertools.combinations(chosen, min(batch, len(chosen))))
        for one in kept:
            yield one, chance / len(kept)


def sums(values, gamma, batch):
    """The law of the sum of the values in the batch."""
    found = {}
    for chosen, chance in batches(len(values), gamma, batch):
        total = sum(values[i] for i in chosen)
        found[total] = found.get(total, 0) + chance
    return found


def divergence(first, second, sigma, alpha):
    """D_α of two mixtures of normal laws, by quadrature."""

    def density(law, z):
        return MP.fsum(number(c) * MP.npdf(z, number(x), sigma) for x, c in law.items())

    places = range(-30, 31, 5)
    moment = MP.quad(
        lambda z: density(first, z) ** alpha * density(second, z) ** (1 - alpha), places
    )
    return MP.log(moment) / (alpha - 1)


def number(x):
    return independent.number(MP, x)


@pytest.mark.parametrize(
    ("others", "gamma", "batch"),
    [
        ((-1, -1, -1), "1/2", 2),
        ((-1, -1, 1, 0), "1/4", 2),
        ((0, 0), "9/10", 1),
    ],
)
def test_no_dataset_exceeds_it(others, gamma, batch):
    """Every batch of few records enumerated, a record of 1 more or less, noise of σ = 2."""
    g = Fraction(gamma)
    m = truncated_poisson(Gaussian(2), g, len(others) + 1, batch)
    with_one, without = sums((*others, 1), g, batch), sums(others, g, batch)
    bound = number(independent.fraction(m.rdp(4, digits=12).upper))
    for first, second in ((with_one, without), (without, with_one)):
        assert divergence(first, second, 2, 4) <= bound


def told_apart(first, second, sigma, epsilons):
    """∫(p − e^ε q)₊ and e^{3 D_4} of two mixtures of normal laws, summed over a fine grid."""
    z = np.arange(-1600, 1601) / 100.0

    def density(law):
        bells = (float(c) * np.exp(-(((z - float(x)) / sigma) ** 2) / 2) for x, c in law.items())
        return sum(bells) / (sigma * math.sqrt(2 * math.pi))

    p, q = density(first), density(second)
    sticks = [np.maximum(p - math.exp(epsilon) * q, 0).sum() / 100 for epsilon in epsilons]
    return sticks, (p * (p / q) ** 3).sum() / 100


@pytest.mark.parametrize(
    ("others", "gamma", "batch"),
    [
        ((-1, -1, -1), "1/2", 2),
        ((-1, -1, 1, 0), "1/4", 2),
        ((1, -1, 1), "3/4", 2),
        ((0, 0), "9/10", 1),
        ((-1, -1), "1", 1),
        ((Fraction(1, 2), 1, -1), "1/3", 3),
    ],
)
def test_no_record_replaced_exceeds_it(others, gamma, batch):
    """Every batch of few records enumerated, 1 in the place of others, noise of σ = 1 and 2."""
    g, epsilons = Fraction(gamma), (0, Fraction(1, 2), 2)
    for sigma in (1, 2):
        m = truncated_poisson(Gaussian(sigma), g, len(others) + 1, batch, adjacency="replace_one")
        asked = (m.delta(epsilon, conversion="exact", digits=6) for epsilon in epsilons)
        most = [float(one.delta) for one in asked]
        for other in (-1, Fraction(-1, 2), 0):
            first, second = (sums((*others, x), g, batch) for x in (1, other))
            for way in ((first, second), (second, first)):
                sticks, moment = told_apart(*way, float(sigma), epsilons)
                assert all(a <= b * (1 + 1e-4) for a, b in zip(sticks, most, strict=True))
                assert moment <= math.exp(3 * m.rdp(4, digits=12).upper) * (1 + 1e-9)


def test_a_record_replaced_is_near_a_sample_that_is_never_cut():
    plain = PoissonSubsample(Gaussian(2), "1/10", "replace_one")
    rarely = truncated_poisson(Gaussian(2), "1/10", 100, 60, adjacency="replace_one")
    assert truncated_poisson(Gaussian(2), "1/10", 100, 100, adjacency="replace_one") is plain
    assert (rarely.claim.kind, rarely.claim.adjacency) == (Kind.UPPER, plain.claim.adjacency)
    one, other = ((100 * m).epsilon("1e-5", conversion="exact", digits=4) for m in (plain, rarely))
    assert float(one.epsilon) <= float(other.epsilon) * 1.0002 <= float(one.epsilon) * 1.002


def test_it_lies_between_one_sample_and_records_replaced():
    for batch in (1, 8, 10, 12, 60):
        m = truncated_poisson(Gaussian(2), "1/10", 100, batch)
        assert m.claim.kind is Kind.UPPER
        value = m.rdp(4).lower
        assert value <= PoissonSubsample(Gaussian(2, 2), "1/10").rdp(4).upper
        assert value >= PoissonSubsample(Gaussian(2), "1/10").rdp(4).lower or batch < 8
    plain = PoissonSubsample(Gaussian(2), "1/10")
    assert truncated_poisson(Gaussian(2), "1/10", 100, 100) is plain
    every = truncated_poisson(Gaussian(2), 1, 10, 4)
    assert (every.mechanism, every.records) == (PoissonSubsample(Gaussian(2, 2), "2/5"), 10)
    assert truncated_poisson(DiscreteLaplace(2), "1/10", 9, 3).rdp(2).digits >= 30


def test_the_event_of_dp_accounting():
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    from symacct.interop import from_dp_event

    event = dp_event.TruncatedSubsampledGaussianDpEvent(100, 0.125, 20, 2.0)
    node = from_dp_event(event, "add_remove")
    assert node is truncated_poisson(Gaussian(2), "1/8", 100, 20)
    with pytest.raises(AdjacencyError, match="needed add_remove"):
        from_dp_event(event, "replace_one")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((PureDP(1), "1/2", 9, 3), "needed noise"),
        ((Gaussian(1), sympy.sqrt(2) / 2, 9, 3), "rational"),
        ((Gaussian(1), 1 - Fraction(1, 10**30), 9, 3), "close to 1"),
        ((Gaussian(1), 1 - Fraction(3, 10**20), 100, 50), "close to 1"),
        ((Gaussian(1), "1/2", 0, 3), "n: found 0"),
        ((Gaussian(1), "1/2", 9, 0), "batch: found 0"),
        ((Gaussian(1), "1/2", 10**8, 3), "n: found .*<= 10,000,000"),
        ((Gaussian(1), "3/2", 9, 3), "rate"),
        ((Gaussian(1), "1/2", 9, 3, "either"), "adjacency: found 'either'"),
    ],
)
def test_bad_input_is_one_typed_error(arguments, said):
    with pytest.raises(DomainError, match=said):
        truncated_poisson(*arguments)


@pytest.mark.parametrize("turned", [False, True])
def test_the_largest_loss_of_either_is_that_of_the_worse(turned):
    pair = RandomizedResponse("2/3"), RandomizedResponse("9/10")
    m = Either(*(pair[::-1] if turned else pair), "1/2")
    found = m.epsilon(0, conversion="exact").epsilon
    assert found.lower <= float(MP.log(9)) * (1 + 1e-9)
    assert found.upper >= float(MP.log(9)) * (1 - 1e-9)
    assert float(found.upper) == pytest.approx(float(MP.log(9)), rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0.3", "0.6", "0.8"])
def test_the_profile_of_either_is_the_mean_of_both(epsilon):
    """1 − e^{(ε − 1/b)/2} of Laplace noise up to its largest loss 1/b, of which one is ½."""
    found = Either(Laplace(1), Laplace(2), "1/2").delta(epsilon, conversion="exact").delta
    known = (max(-MP.expm1((MP.mpf(epsilon) - loss) / 2), 0) for loss in (MP.one, MP.one / 2))
    assert float(found.upper) == pytest.approx(float(sum(known) / 2), rel=1e-12)
