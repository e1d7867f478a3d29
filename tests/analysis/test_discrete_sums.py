"""Sums over two laws on 0, 1, 2, …, whose small stretches are left out, against plain sums."""

import random
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from symacct import DistributionPair, PoissonSubsample, PrecisionError, laws
from symacct.analysis import densities
from symacct.analysis.densities import ChiDivergence, Entropy, Excess, ReverseEntropy
from symacct.kernel.arithmetic.ball import precision
from symacct.laws import families
from symacct.mechanisms.pair import Overlap
from tests.thinning import some

mp = mpmath.mp.clone()
mp.dps = 60


def number(x):
    x = Fraction(x)
    return mp.mpf(x.numerator) / x.denominator


# --- values, by plain sums over every outcome that counts


def plain_rdp(mean, other, gamma, alpha, outcomes):
    """The larger of the four divergences of a sampled pair of Poisson laws, term by term."""
    alpha, gamma = number(alpha), number(gamma)

    def divergence(up, down, mixed_first):
        total = mp.mpf(0)
        for k in range(outcomes):
            log_p = k * mp.log(up) - up - mp.loggamma(k + 1)
            log_q = k * mp.log(down) - down - mp.loggamma(k + 1)
            log_m = mp.log((1 - gamma) * mp.exp(log_q - log_p) + gamma) + log_p
            x, y = (log_m, log_q) if mixed_first else (log_q, log_m)
            total += mp.exp(alpha * x + (1 - alpha) * y)
        return mp.log(total) / (alpha - 1)

    up, down = number(mean), number(other)
    return max(divergence(*roles, way) for roles in ((up, down), (down, up)) for way in (0, 1))


@pytest.mark.parametrize(
    ("mean", "other", "gamma", "alpha", "outcomes"),
    [
        (900, 1000, "1/100", "11/2", 3000),
        (40, "1/2", "1/3", "3/2", 900),
        (3, 4, "1/10", "15/2", 200),
    ],
)
def test_a_sum_with_stretches_left_out_is_the_plain_sum(mean, other, gamma, alpha, outcomes):
    node = PoissonSubsample(DistributionPair(laws.Poisson(mean), laws.Poisson(other)), gamma)
    found = node.rdp(alpha, digits=20)
    true = plain_rdp(mean, other, gamma, alpha, outcomes)
    assert abs(mp.mpf(found.upper) / true - 1) < mp.mpf(10) ** -19


def test_few_terms_are_taken_of_laws_with_large_means(monkeypatch):
    """Some thousands of terms around 90,000; and what has no end says so at once."""
    taken, real = [], densities._at
    monkeypatch.setattr(densities, "_at", lambda *given: taken.append(1) or real(*given))
    pair = DistributionPair(laws.Poisson(90_000), laws.Poisson(90_300))
    found = PoissonSubsample(pair, "1/100").rdp("5/2", digits=10)
    # Laws of variance 300² and means 300 apart are next to N(1, 1) and N(0, 1), whose curve is
    # αγ²(e − 1)/2 but for terms of γ³.
    assert 0.95 < found.upper / (1.25e-4 * (mp.e - 1)) < 1.05
    assert 1000 < len(taken) < 120_000
    taken.clear()
    far = PoissonSubsample(DistributionPair(laws.Poisson(3), laws.Poisson(5)), "1/100")
    with pytest.raises(PrecisionError, match="terms that count"):
        far.rdp("81/2")
    assert len(taken) < 100


def test_laws_next_to_each_other_lose_no_digits(monkeypatch):
    """χ²-like sums of 10⁻⁴⁰⁰ are read at a few hundred bits: nothing of 1 − 1 is left in them."""
    bits, real = set(), densities.ProgressionSeries._total
    monkeypatch.setattr(
        densities.ProgressionSeries,
        "_total",
        lambda self, i, b: bits.add(densities.ctx.prec) or real(self, i, b),
    )
    mean = Fraction(1, 10**400)
    pair = DistributionPair(laws.Poisson(mean), laws.Poisson(2 * mean))
    found = PoissonSubsample(pair, "1/100").rdp("5/2", digits=20)
    # All but k = 1 is of the square of the mean: D = (E[(m/q)^α] − 1)/(α − 1).
    a, g = mp.mpf("2.5"), mp.mpf("0.01")

    def first_order(ratio, a):  # E_q of (1 + g(ratio − 1))^a − 1 − a·g(ratio − 1), at k = 1
        return (1 + g * (ratio - 1)) ** a - 1 - a * g * (ratio - 1)

    values = [q * first_order(r, b) for q, r in ((1, 2), (2, 0.5)) for b in (a, 1 - a)]
    true = max(values) * number(mean) / (a - 1)
    assert abs(mp.mpf(found.upper) / true - 1) < mp.mpf(10) ** -19
    assert max(bits) < 400


# --- the bounds of what is left out


def drawn(source):
    """Two laws of one family and an integrand."""
    gamma = Fraction(source.randrange(1, 1000), 1000)
    power = source.choice(
        [Fraction(source.randrange(11, 200), 10), -Fraction(1, source.randrange(1, 9))]
    )
    integrand = source.choice(
        [
            Excess(gamma, power),
            Entropy(gamma),
            ReverseEntropy(gamma),
            ChiDivergence(source.randrange(2, 7)),
        ]
    )
    if source.random() < 0.7:
        one, other = (Fraction(source.randrange(1, 4000), 100) for _ in range(2))
        return families.Poisson(one), families.Poisson(other), integrand
    one, other = (Fraction(source.randrange(300, 700), 1000) for _ in range(2))
    return families.Geometric(one), families.Geometric(other), integrand


@pytest.mark.parametrize("seed", range(some(25, 60)))
def test_what_is_left_out_is_at_most_its_bound(seed):
    source = random.Random(seed)
    first, second, integrand = drawn(source)
    side = Overlap(first, second).series
    start = source.randrange(0, 200)
    end = start + source.randrange(1, 200)
    with precision(300):
        terms = [densities._at(integrand, side._logs(k)) for k in range(start, end)]
        bound = side._between(integrand, start, end)
        assert sum(map(abs, terms), arb(0)).lower() <= bound
        if integrand.diverges(side):
            return
        for cover in integrand.covers(side):
            for k, term in zip(range(start, end), terms, strict=True):
                total = sum((c * side._term((a, b), k) for c, a, b in cover), arb(0))
                assert abs(term).lower() <= total.upper(), (k, cover)


@pytest.mark.parametrize("seed", range(some(6, 20)))
def test_a_sum_to_few_bits_holds_the_whole_sum(seed):
    """So that what is left out counts: the ball is wide because of it, and the truth lies in it."""
    source = random.Random(seed)
    one, other = (Fraction(source.randrange(200, 20_000), 10) for _ in range(2))
    side = Overlap(families.Poisson(one), families.Poisson(other)).series
    integrand = Excess(Fraction(1, source.randrange(2, 10**6)), Fraction(3, 2))
    with precision(200):
        summits = side._summits(integrand)
        if max(summits) > 20_000:
            return
        found = side._total(integrand, 4)
        outcomes = range(max(summits) + 60 * int(max(summits) ** 0.5 + 10))
        true = sum((densities._at(integrand, side._logs(k)) for k in outcomes), arb(0))
        assert found.contains(true)


@pytest.mark.parametrize(("one", "other"), [(3, 4), (40, 37), ("1/100", "1/50")])
def test_both_entropies_are_the_kullback_leibler_divergences(one, other):
    p, q = (
        [mp.exp(-r) * r**k / mp.factorial(k) for k in range(300)] for r in map(number, (one, other))
    )
    m = [(6 * b + a) / 7 for a, b in zip(p, q, strict=True)]
    side = Overlap(families.Poisson(Fraction(one)), families.Poisson(Fraction(other))).series
    for integrand, x, y in (
        (Entropy(Fraction(1, 7)), m, q),
        (ReverseEntropy(Fraction(1, 7)), q, m),
    ):
        true = mp.fsum(a * mp.log(a / b) for a, b in zip(x, y, strict=True))
        with precision(120):
            found = side.expectation(integrand, 70)
            assert abs(mp.mpf(found.str(30, radius=False)) / true - 1) < mp.mpf(10) ** -19
