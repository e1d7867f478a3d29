"""Profiles that many pairs have together: bounded range, and finitely many finite laws."""

import itertools
import random
from fractions import Fraction

import pytest
from flint import arb, ctx

from symacct import (
    ExponentialMechanism,
    FiniteMechanism,
    Gaussian,
    Kind,
    PoissonSubsample,
    SubsampleWithoutReplacement,
)
from symacct.kernel.arithmetic.ball import accuracy
from symacct.profile.envelopes import envelope
from symacct.profile.losses.bounded_range import bounded_range
from symacct.profile.solve import CompositionProfile
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(50)


def surplus(masses, grown):
    return sum((max(p - grown * q, 0) for p, q in masses), 0 * grown)


def two_losses(epsilon, t):
    """(p, q) of the losses t and t − ε."""
    q = (MP.exp(-t) - MP.exp(-epsilon)) / (1 - MP.exp(-epsilon))
    return [(q * MP.exp(t), q), ((1 - q) * MP.exp(t - epsilon), 1 - q)]


def drawn(seed):
    draw = random.Random(seed)
    epsilon = Fraction(draw.randint(1, 60), 12)
    return epsilon, epsilon * Fraction(draw.randint(0, 19), 20)


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_bounded_range_is_the_worst_of_two_losses_that_far_apart(seed):
    epsilon, y = drawn(seed)
    e, at = (independent.number(MP, x) for x in (epsilon, y))
    grown = MP.exp(at)
    worst = -independent.smallest(MP, lambda t: -surplus(two_losses(e, t), grown), at, e)
    found = ExponentialMechanism(epsilon).delta(y, digits=20, conversion="exact")
    assert found.kind is Kind.EXACT
    assert holds(found.delta, worst, 20, trusted=25)


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_and_so_it_is_sampled(seed):
    """By the worst of two losses, mixed either way round."""
    epsilon, y = drawn(seed)
    rate = Fraction(seed + 1, 14)
    e, at, share = (independent.number(MP, x) for x in (epsilon, y / 3, rate))
    grown = MP.exp(at)

    def less(t):
        mixed = [((1 - share) * q + share * p, q) for p, q in two_losses(e, t)]
        return -surplus(mixed, grown)

    worst = -independent.smallest(MP, less, e / 10**9, e * (1 - MP.mpf(10) ** -9))
    for m in (
        PoissonSubsample(ExponentialMechanism(epsilon), rate),
        SubsampleWithoutReplacement(ExponentialMechanism(epsilon), rate),
    ):
        found = m.delta(y / 3, digits=20, conversion="exact")
        assert found.kind is Kind.EXACT
        assert holds(found.delta, worst, 20, trusted=16)


@pytest.mark.parametrize("y", ["-3/2", "-1/5", "0", "1/3", "7/5", "19/10"])
def test_two_and_three_runs_by_integrals(y):
    """E_P[D(y − s)] over the loss s of the other runs, uniform or triangular but for e^{s/2}."""
    at = independent.number(MP, Fraction(y))
    constant = 4 * MP.sinh(MP.mpf(1) / 2)

    def alone(x):
        if abs(x) >= 1:
            return max(-MP.expm1(x), 0)
        return (MP.exp(MP.mpf(1) / 2) - MP.exp(x / 2)) ** 2 / MP.expm1(1)

    part = bounded_range(Fraction(1))
    for others in (1, 2):
        places = {-others, 0, others, *(x for x in (at - 1, at + 1) if abs(x) < others)}
        known = MP.quad(
            lambda s: MP.exp(s / 2) * (1 if others == 1 else 2 - abs(s)) * alone(at - s),  # noqa: B023
            sorted(places),
        )
        known /= constant**others
        runs = CompositionProfile(((part, others + 1),), False)
        with ctx.workprec(120):
            found = runs.delta(lambda: arb(Fraction(y).numerator) / Fraction(y).denominator, 20)
            assert found.overlaps(arb(MP.nstr(known, 40), "1e-35"))
            assert accuracy(found) >= 20


def test_a_hundred_runs_lie_between_what_they_have_and_what_dominates_each():
    m = 100 * ExponentialMechanism("1/10")
    for epsilon in (0, 1):
        lower, upper = m.lower_delta(epsilon, digits=8), m.delta(epsilon, conversion="exact")
        assert upper.kind is Kind.UPPER
        assert 0 < lower.upper < upper.delta.lower
        # The greatest loss of each run is what any of its pairs may have.
        grown = MP.exp(epsilon)
        pairs = [two_losses(MP.mpf("0.1"), MP.mpf(t) / 100) for t in (2, 5, 7)]
        for (up, q), (down, rest) in pairs:
            every = (
                (up**k * down ** (100 - k), q**k * rest ** (100 - k), MP.binomial(100, k))
                for k in range(101)
            )
            least = surplus([(ways * p, ways * q) for p, q, ways in every], grown)
            assert least <= independent.number(MP, independent.fraction(upper.delta.upper))


def laws(draw, answers):
    weights = [draw.choice([0, 1, 1, 2, 3, 7]) for _ in range(answers)]
    weights[draw.randrange(answers)] += 1
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize("seed", range(some(8, 20)))
def test_the_largest_of_some_finite_profiles(seed):
    draw = random.Random(seed)
    answers = draw.randint(2, 4)
    pairs = [list(zip(laws(draw, answers), laws(draw, answers), strict=True)) for _ in range(4)]
    found = envelope(pairs)
    assert [sum(one) for one in zip(*found, strict=True)] == [1, 1]
    for _ in range(40):
        grown = Fraction(draw.randint(0, 60), draw.randint(1, 15))
        assert surplus(found, grown) == max(surplus(masses, grown) for masses in pairs)


def three_laws(seed):
    draw = random.Random(seed)
    found = []
    while len(found) < 3:
        law = laws(draw, 3)
        found += [law] if law not in found else []
    return found


@pytest.mark.parametrize("seed", range(some(5, 12)))
def test_finitely_many_laws_have_the_worst_of_their_pairs(seed):
    """One run exactly, sampled or not, and two adaptive ones."""
    rate, epsilon = Fraction(seed + 1, 14), Fraction(seed, 8)
    every, grown = three_laws(seed), MP.exp(independent.number(MP, epsilon))
    m = FiniteMechanism(every)
    pairs = [list(zip(p, q, strict=True)) for p, q in itertools.permutations(every, 2)]
    mixed = [[((1 - rate) * q + rate * p, q) for p, q in masses] for masses in pairs]
    turned = [[(q, p) for p, q in masses] for masses in mixed]
    kept = [list(zip(p, q, strict=True)) for p, q in itertools.permutations(every, 2)]
    for node, alternatives in ((m, kept), (PoissonSubsample(m, rate), mixed + turned)):
        worst = max(surplus(_numbers(masses), grown) for masses in alternatives)
        found = node.delta(epsilon, digits=20, conversion="exact")
        assert found.kind is Kind.EXACT
        assert holds(found.delta, worst, 20 if worst else 0, trusted=40)
    twice = (2 * m).delta(epsilon, digits=20, conversion="exact")
    assert twice.kind is Kind.EXACT
    worst = adaptive(pairs, grown)
    assert holds(twice.delta, worst, 20 if worst else 0, trusted=40)
    assert (2 * m).lower_delta(epsilon, digits=8).lower <= twice.delta.upper


def _numbers(masses):
    return [(independent.number(MP, p), independent.number(MP, q)) for p, q in masses]


def adaptive(pairs, grown):
    """The largest profile of two runs, the second pair chosen by what the first run said."""

    def second(p, q):
        return max(surplus([(p * u, q * v) for u, v in _numbers(other)], grown) for other in pairs)

    return max(MP.fsum(second(p, q) for p, q in _numbers(masses)) for masses in pairs)


def test_beside_noise_they_have_their_profile():
    """The noise may come first, and tell which pair is the worst: so it is of each outcome."""
    m = FiniteMechanism([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/6", "1/6", "2/3"]])
    both = (m + Gaussian(2)).epsilon("1e-4", digits=10, conversion="exact")
    assert both.kind is Kind.EXACT
    by_orders = (m + Gaussian(2)).epsilon("1e-4", conversion="improved")
    assert both.epsilon.upper < by_orders.epsilon.upper
    assert (m + Gaussian(2)).lower_epsilon("1e-4", digits=6).lower <= both.epsilon.upper


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 5)])
def test_beside_gaussian_noise_bounded_range_has_all_digits(rate):
    """Its moments fall: no grid of losses, of which only some digits are to be had."""
    pure, size, y = Fraction(3, 5), Fraction(10, 33), Fraction(37, 50)
    end, share, apart, at = (independent.number(MP, x) for x in (pure, rate, size, y))

    def alone(x):
        return MP.ncdf(apart / 2 - x / apart) - MP.exp(x) * MP.ncdf(-apart / 2 - x / apart)

    def given(t, reverse):
        q = MP.exp(-t / 2) / (4 * MP.sinh(end / 2))
        p = (1 - share + share * MP.exp(t)) * q
        return q * alone(at - MP.log(q / p)) if reverse else p * alone(at - MP.log(p / q))

    ends = [-end, 0, end]
    worst = max(MP.quad(lambda t, way=way: given(t, way), ends) for way in (False, True))
    node = PoissonSubsample(ExponentialMechanism(pure), rate) + Gaussian(1 / size)
    found = node.delta(y, digits=25, conversion="exact")
    assert found.conversion == "exact"
    assert holds(found.delta, worst, 25, trusted=35)
