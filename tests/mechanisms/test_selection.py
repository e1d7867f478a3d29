"""The exponential mechanism by bounded range, and permute-and-flip."""

import functools
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Accountant,
    ExponentialMechanism,
    FiniteMechanism,
    GroupPrivacy,
    Kind,
    Laplace,
    PermuteAndFlip,
    PoissonSubsample,
    PureDP,
)
from tests import independent
from tests.support import holds
from tests.thinning import examples, some

MP = independent.context(60)


def worst_of_two(epsilon, alpha):
    """The largest D_α of two outcomes with losses ε apart, by golden sections over t."""
    e = independent.number(MP, epsilon)

    def less(t):
        q = (MP.exp(-t) - MP.exp(-e)) / (1 - MP.exp(-e))
        return -independent.divergence(
            MP, alpha, [(q * MP.exp(t), q), ((1 - q) * MP.exp(t - e), 1 - q)], MP.mpf
        )

    return -independent.smallest(MP, less, e * MP.mpf(10) ** -9, e * (1 - MP.mpf(10) ** -9))


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_the_curve_is_the_worst_pair_of_losses_that_far_apart(seed):
    draw = random.Random(seed)
    epsilon, alpha = Fraction(draw.randint(1, 60), 12), Fraction(draw.randint(11, 90), 10)
    m = ExponentialMechanism(epsilon)
    for order in (1, alpha):
        value = worst_of_two(epsilon, order)
        assert holds(m.rdp(order, digits=30), value, 30, trusted=35)
        for engine in ("float64", "mpmath"):
            rounded = float(Accountant(engine=engine).rdp(m, order))
            assert rounded == pytest.approx(float(value), rel=1e-11)


def test_mechanisms_of_few_candidates_are_below_it_and_come_close():
    """Scores one step apart, base e^{ε/(2Δ)} = 3/2: exact by their probabilities."""
    epsilon = 2 * MP.log(MP.mpf(3) / 2)
    bound = independent.exponential_mechanism(MP, 3, independent.fraction(epsilon))
    best = max(
        FiniteMechanism.exponential([[s, 0, 0], [s + 1, -1, -1]], "3/2").rdp(3).upper
        for s in range(-3, 4)
    )
    assert bound * MP.mpf("0.97") < best <= bound


@pytest.mark.parametrize("epsilon", ["1/1000", "1/3", "2", "40"])
def test_it_lies_between_zcdp_s_line_and_pure_dp(epsilon):
    """ε(α) <= αε²/8, the line of Dong, Durfee and Rogers, and what every ε-DP mechanism has."""
    m, e = ExponentialMechanism(epsilon), Fraction(epsilon)
    for alpha in (1, Fraction(3, 2), 2, 17):
        line = alpha * e**2 / 8
        assert m.rdp(alpha).lower <= independent.number(MP, line)
        assert m.rdp(alpha).lower <= PureDP(epsilon).rdp(alpha).upper
    assert m.rdp("inf").upper >= independent.number(MP, e)
    small = ExponentialMechanism("1e-9").rdp(2)
    assert abs(small.upper * 4 - MP.mpf(10) ** -18) < MP.mpf(10) ** -33


def permuted(coins):
    """Who is taken: coins tossed in random order, ∫₀¹ w_i Π_{j≠i} (1 − w_j v) dv, in fractions."""
    law = []
    for i, coin in enumerate(coins):
        others = functools.reduce(
            times, ([1, -w] for w in coins[:i] + coins[i + 1 :]), [Fraction(1)]
        )
        law.append(coin * sum(c / (k + 1) for k, c in enumerate(others)))
    assert sum(law) == 1
    return law


def times(p, q):
    """The product of two polynomials."""
    found = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def hockey_stick(P, Q, a):  # noqa: N803
    return sum(max(p - a * q, 0) for p, q in zip(P, Q, strict=True))


def coins_of(weights):
    return [w / max(weights) for w in weights]


parts = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)


@examples(60, 2000)
@given(
    rows=st.lists(st.tuples(parts, st.integers(-4, 4)), min_size=2, max_size=6),
    step=st.fractions(Fraction(21, 20), 4, max_denominator=20),
    at=st.fractions(Fraction(1, 4), 2, max_denominator=40),
)
def test_no_scores_permute_and_flip_beyond_laplace_noise(rows, step, at):
    """H_a <= 1 − √(a e^{−ε}), squared: exact fractions, e^{ε/2} = step⁴, each score moved by steps.

    Where ln a is beyond ±ε it is 0, or 1 − a. Order 2 is below Laplace's in the same way.
    """
    r = step**4
    before = coins_of([w for w, _ in rows])
    after = coins_of([w * step**k for w, k in rows])
    P, Q = permuted(before), permuted(after)
    a = at * at
    for one, other in ((P, Q), (Q, P)):
        found = hockey_stick(one, other, a)
        most = max(0, 1 - at / r) if a >= r**-2 else 1 - a
        assert found <= most
        second = sum(p * p / q for p, q in zip(one, other, strict=True))
        assert second <= 2 * r**2 / 3 + r**-4 / 3


@pytest.mark.parametrize("at", [Fraction(1), Fraction(21, 20), Fraction(6, 5), Fraction(3, 2)])
def test_two_candidates_attain_laplace_noise_at_every_epsilon(at):
    """The leader's coin against it is √(a e^{−ε}); there the two meet, for any a in reach."""
    r = Fraction(8, 5)
    gap = at / r
    P = permuted([Fraction(1), gap])
    Q = permuted(coins_of([1 / r, gap * r]))
    assert hockey_stick(P, Q, at * at) == 1 - at / r
    epsilon, pure = (2 * MP.log(independent.number(MP, x)) for x in (at, r))
    m = PermuteAndFlip(independent.fraction(pure))
    found = m.delta(independent.fraction(epsilon), digits=25, conversion="exact")
    assert holds(found.delta, 1 - independent.number(MP, at / r), 25, trusted=50)
    assert found.kind is Kind.EXACT
    assert m.lower_delta(independent.fraction(epsilon)).upper >= found.delta.lower


def test_several_permute_and_flips_are_bounded_from_both_sides():
    m = PermuteAndFlip("1/10")
    assert m.claim.kind is Kind.UPPER
    found = (30 * m).epsilon("1e-6", conversion="exact", digits=6)
    same = (30 * Laplace(10)).epsilon("1e-6", conversion="exact", digits=6)
    assert (found.kind, same.kind) == (Kind.UPPER, Kind.EXACT)
    assert found.epsilon.upper == same.epsilon.upper
    assert found.epsilon.upper * Fraction(9, 10) < (30 * m).lower_epsilon("1e-6").lower
    assert PoissonSubsample(m, "1/9").claim.kind is Kind.UPPER
    assert PoissonSubsample(m, "1/9").delta("1/100", conversion="exact").kind is Kind.EXACT
    group = GroupPrivacy(m, 3).delta("1/5", conversion="exact", digits=6)
    assert (
        group.delta.upper
        == PermuteAndFlip("3/10").delta("1/5", conversion="exact", digits=6).delta.upper
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_k_best_cost_as_k_selections(seed):
    """Two of four candidates, in order, by one draw of Gumbel noise: never more than 2 selections.

    Their probabilities by an integral over the second largest; all log-ratios of a neighbour whose
    scores moved by Δ = 1 are below.
    """
    draw = random.Random(seed)
    scale, alpha = Fraction(draw.randint(4, 12), 3), Fraction(draw.randint(11, 60), 10)
    scores = [draw.randint(-2, 2) for _ in range(4)]
    moves = (1, -1, draw.choice((-1, 1)), draw.choice((-1, 1)))
    moved = [u + move for u, move in zip(scores, moves, strict=True)]

    def chance(u, first, second):
        rates = [MP.exp(MP.mpf(x) / independent.number(MP, scale)) for x in u]
        left = sum(rates) - rates[first]
        # T = e^{-(u+G)/s} is exponential: the first comes before t, the second at t, others later.
        return MP.quad(
            lambda t: (1 - MP.exp(-rates[first] * t)) * rates[second] * MP.exp(-left * t),
            [0, 1, 4, 16, MP.inf],
        )

    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    laws = [[chance(u, *pair) for pair in pairs] for u in (scores, moved)]
    assert all(abs(sum(law) - 1) < 1e-20 for law in laws)
    cost = independent.divergence(MP, alpha, list(zip(*laws, strict=True)), MP.mpf)
    assert 0 < cost <= (2 * ExponentialMechanism.of_noise(scale)).rdp(alpha).upper
