"""Laws of what an attacker can do: of every leaf, of laws that lack outcomes, at every rate."""

from __future__ import annotations

import functools
import itertools
import random
from fractions import Fraction
from statistics import NormalDist

import pytest
from flint import arb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symacct import (
    ApproximateDP,
    AssumptionError,
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Kind,
    NoisyMax,
    PoissonSubsample,
    RandomizedResponse,
    RepeatAndSelect,
    SparseVector,
    SymacctError,
    laws,
    risk,
)
from symacct.profile.hulls import pair_above
from symacct.profile.tradeoff import smallest_mu
from tests import independent
from tests.explore.test_risk import best_power, close, drawn_laws
from tests.support import INFINITE, LEAVES, fractions
from tests.thinning import some

MP = independent.context(40)
LEVELS = st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 10**9), Fraction(99, 100)])
FEW = settings(
    max_examples=some(2, 100), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def number(x):
    return independent.number(MP, independent.fraction(x) if hasattr(x, "_mpf_") else Fraction(x))


TINY = MP.mpf(10) ** -15


def above(shown):
    """The upper end, with its roundings in mpmath."""
    return number(shown.upper) * (1 + MP.mpf(10) ** -20)


# --- every leaf


def risks_are_those_of_the_profile(m, level, epsilon):
    """TPR <= e^ε FPR + δ(ε), the advantage is δ(0), and a guess at even odds half of it more."""
    found = risk(m, digits=5)
    power, advantage = found.tpr(level), found.advantage
    chance = number(level)
    assert 0 <= power.lower <= power.upper <= 1
    assert chance <= above(power)
    most = MP.exp(number(epsilon)) * chance
    assert number(power.lower) <= most + above(m.delta(epsilon, conversion="exact").delta)
    at_0 = m.delta(0, conversion="exact").delta
    assert number(at_0.lower) <= above(advantage)
    assert number(advantage.lower) <= above(at_0)
    assert number(power.lower) <= chance + above(advantage)
    guess = found.bayes_success()
    assert 2 * number(guess.lower) - 1 <= above(advantage)
    assert number(advantage.lower) <= 2 * above(guess) - 1
    assert power.lower <= found.reconstruction(level).upper
    assert power.claim.kind is found.kind or not found._known.tests
    if found.lower is not None:
        for ask in (lambda r: r.tpr(level), lambda r: r.advantage, lambda r: r.bayes_success()):
            assert number(ask(found.lower).lower) <= above(ask(found))
            assert ask(found.lower).claim.kind is Kind.LOWER
        assert number(found.lower.mu.lower) <= above(found.mu)


@pytest.mark.parametrize("leaf", sorted({**LEAVES, **INFINITE}))
@FEW
@given(data=st.data(), level=LEVELS | fractions(0, 1, 50), epsilon=fractions(0, 4, 10))
def test_risks_of_every_leaf_are_those_of_its_profile_or_of_its_curve(leaf, data, level, epsilon):
    m = data.draw({**LEAVES, **INFINITE}[leaf])
    try:
        m.delta(0, conversion="exact")
    except AssumptionError:
        risks_are_what_the_curve_implies(m, level)
    else:
        if risk(m).kind is not Kind.LOWER:
            risks_are_those_of_the_profile(m, level, epsilon)


def risks_are_what_the_curve_implies(m, level):
    """At most e^{ε}FPR + δ where the curve has δ = 0, and no less than two equal laws have."""
    found = risk(m, digits=5)
    power, advantage, guess = found.tpr(level), found.advantage, found.bayes_success()
    assert {found.kind, power.claim.kind, advantage.claim.kind, guess.claim.kind} == {Kind.UPPER}
    assert number(level) <= above(power) <= 1 + TINY
    assert above(power) <= number(level) + above(advantage) + TINY
    assert above(guess) <= (1 + above(advantage)) / 2 * (1 + MP.mpf(10) ** -4)
    # Pinsker: the total variation is at most √(ε(1)/2); the hull's places are rounded upwards.
    assert above(advantage) <= MP.sqrt(above(m.rdp(1, digits=6)) / 2) * (1 + MP.mpf(10) ** -4)
    assert found.reconstruction(level).claim.kind is Kind.UPPER
    assert found.lower is None


# --- laws of which either lacks outcomes, at the ends of the rates


def different_laws(seed, count, most):
    """Laws of up to so many outcomes, no two alike."""
    draw = random.Random(seed)
    while True:
        every = drawn_laws(draw, count, draw.randint(2, most))
        if len(set(map(tuple, every))) == count:
            return every


def levels_about(q, p):
    """0, 1, and beside the level from which on the power is 1."""
    full = 1 - sum(y for x, y in zip(p, q, strict=True) if not x)
    tiny = Fraction(1, 10**60)
    return [x for x in (0, 1, full, full - tiny, full + tiny, Fraction(1, 7)) if 0 <= x <= 1]


@pytest.mark.parametrize("seed", range(some(12, 200)))
def test_powers_where_what_is_lost_decides(seed):
    p, q = different_laws(seed, 2, 4)
    found = risk(DistributionPair(p, q), digits=8)
    for level in map(Fraction, levels_about(q, p)):
        truth = max(best_power(p, q, level), best_power(q, p, level))
        assert close(found.tpr(level), independent.number(MP, truth), 8) or truth == 0
        if truth in (0, 1):
            assert found.tpr(level).upper == truth


def test_a_level_that_few_bits_do_not_tell_from_one():
    m, tiny = ApproximateDP(0, "1e-60"), Fraction(1, 10**60)
    assert risk(m).tpr(1 - tiny).upper == 1
    assert close(risk(m).tpr(tiny), number("2e-60"), 6)
    assert m.tradeoff(1 - tiny).upper == 0
    p, q, level = (
        (Fraction(0), Fraction(1)),
        (Fraction(2, 3), Fraction(1, 3)),
        Fraction(1, 3) - tiny,
    )
    truth = max(best_power(p, q, level), best_power(q, p, level))
    assert close(
        risk(DistributionPair(p, q), digits=8).tpr(level), independent.number(MP, truth), 8
    )


@pytest.mark.parametrize(
    "m",
    [
        RandomizedResponse("1/2"),
        PoissonSubsample(Gaussian(1), 0),
        RepeatAndSelect(RandomizedResponse("1/2"), laws.Poisson(3)),
    ],
    ids=repr,
)
def test_what_tells_nothing_has_no_risk(m):
    found = risk(m)
    assert [x.upper for x in (found.advantage, found.mu, found.regret, found.mu_of_all)] == [0] * 4
    assert close(found.tpr("1/3"), number("1/3"), 6)
    assert close(found.bayes_success("1/3"), number("2/3"), 6)


def test_a_loss_that_ends_in_one_direction_and_where_is_not_known():
    """Gumbel noise moved by 3/10: the profile of one direction is 0 from there on."""
    median = -MP.log(-MP.log(MP.mpf(1) / 2))
    one = 1 - gumbel_below(median - MP.mpf(3) / 10)
    other = gumbel_below(median + MP.mpf(3) / 10)
    assert close(power_of_gumbel(), max(one, other), 5)


# --- reconstruction


def gumbel(move):
    """A number plus Gumbel noise, moved by so much."""
    return DistributionPair(
        laws.Density("exp(-x-exp(-x))"), laws.Density(f"exp(-(x-{move})-exp(-(x-{move})))")
    )


@functools.cache
def power_of_gumbel():
    """The power at the level 1/2 where the number is moved by 3/10."""
    return risk(gumbel("3/10"), digits=5).tpr("1/2")


def gumbel_below(x):
    return MP.exp(-MP.exp(-x))


def test_no_guess_between_two_records_that_move_a_number_either_way_is_better():
    """Each is as likely, and the one up is guessed from x on: right with (2 − F(x−t) …)/2."""
    move = MP.mpf(3) / 10
    most = above(risk(gumbel("3/10"), digits=4).reconstruction("1/2"))
    rights = []
    for x in (MP.mpf(k) / 100 for k in range(-200, 300)):
        rights.append((1 - gumbel_below(x - move) + gumbel_below(x + move)) / 2)
    assert max(rights) <= most
    assert max(rights) > number(power_of_gumbel().upper)  # so no one test bounds it


@pytest.mark.parametrize("seed", range(some(4, 100)))
def test_reconstruction_by_records_of_different_pairs_is_concave(seed):
    """Records each of which is found by its own test, at its own level, are so on the mean."""
    found = risk(FiniteMechanism(different_laws(seed, 3, 3)), digits=8)
    for a, b in itertools.combinations([Fraction(k, 6) for k in range(7)], 2):
        mean = (number(found.tpr(a).lower) + number(found.tpr(b).lower)) / 2
        assert mean <= above(found.reconstruction((a + b) / 2))


# --- μ, and pairs above bounds


def test_the_mu_of_a_profile_that_may_be_0():
    """A power of at most a + h at the level a is that of no Gaussian curve of a smaller μ."""

    class Unknown:
        gaussian_mu = None

        @property
        def each_way(self):
            return [(self, self)]

        def __call__(self, x):
            return arb(0).union(arb("1e-20"))

    found = smallest_mu(Unknown(), Fraction(1, 10**10), 6)  # type: ignore[arg-type]
    density = NormalDist().pdf(NormalDist().inv_cdf(1e-10))
    assert found.upper() >= 0.999e-20 / density
    assert not found > 0


@pytest.mark.parametrize("seed", range(some(20, 2000)))
def test_a_pair_above_bounds_is_a_pair_whatever_they_are(seed):
    draw = random.Random(seed)
    bounds = [
        (Fraction(draw.randint(1, 90)), Fraction(draw.randint(0, 30), draw.randint(1, 20)))
        for _ in range(draw.randint(0, 4))
    ]
    bounds = [(x, max(h, 1 - x)) for x, h in bounds]
    pair = pair_above(bounds)
    assert [sum(law) for law in zip(*pair, strict=True)] == [1, 1]
    assert sorted(pair) == sorted((q, p) for p, q in pair)
    for x, h in bounds:
        assert sum(max(p - x * q, 0) for p, q in pair) <= max(h, 0)


def test_a_selection_of_which_nothing_is_known_may_tell_all():
    m = RepeatAndSelect(ApproximateDP(1, "1/2"), laws.TruncatedNegativeBinomial(1, "1/10"))
    assert risk(m).advantage.upper == risk(m).tpr(0).upper == 1
    # No run fails with probability E[2^−K] = 1/11; nothing is said of what is then released.
    survives = Fraction(1, 11)
    assert float(1 - survives**2) < float((2 * m).delta(1, conversion="exact")) < 1


def test_a_selection_of_hardly_any_run_has_epsilon_0_from_its_delta_at_0_on():
    m = RepeatAndSelect(Gaussian(5), laws.Poisson("1/10"))
    delta = m.delta(0, conversion="exact", digits=5).delta.upper
    for share in ("1/100", "1/2"):  # δ(0) is .0083, and no δ is above the mean number of runs
        assert m.epsilon(share, conversion="exact").epsilon.upper == 0
    assert m.epsilon(delta * 0.9, conversion="exact").epsilon.upper > 0


# --- from below: two numbers with Laplace noise


@pytest.mark.parametrize(
    ("m", "scales", "lead"),
    [
        (NoisyMax(3, 2), (3, 3), 2),
        (SparseVector(2, 4), (2, 4), "1/2"),
        (SparseVector(1, 1, 3), (1, 1), "1/2"),
    ],
    ids=repr,
)
def test_which_of_two_noisy_numbers_leads_is_told_at_least(m, scales, lead):
    """By the integral of one law's tail against the other's density."""
    first, second = (number(x) for x in scales)
    gap = number(lead)

    def tail(x):
        return MP.exp(-x / first) / 2 if x > 0 else 1 - MP.exp(x / first) / 2

    def density(y):
        return MP.exp(-abs(y) / second) / (2 * second)

    cuts = [-MP.inf, -gap, 0, gap, MP.inf]
    p = MP.quad(lambda y: tail(y - gap) * density(y), cuts)
    delta = MP.mpf(10) ** -5
    epsilon = MP.log((p - delta) / (1 - p))
    found = m.lower_epsilon("1e-5", digits=12)
    assert close(found, epsilon, 12)
    assert found.lower <= m.epsilon("1e-5", conversion="exact").epsilon.upper
    assert (30 * m).lower_epsilon("1e-5").lower <= (30 * m).epsilon("1e-5").epsilon.upper
    with pytest.raises(SymacctError):
        risk(m).lower.reconstruction("1/10")
