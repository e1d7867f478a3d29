"""The exponential mechanism by bounded range, and permute-and-flip."""

import random
from fractions import Fraction

import pytest

from symacct import (
    Accountant,
    DomainError,
    ExponentialMechanism,
    FiniteMechanism,
    Kind,
    PermuteAndFlip,
    PoissonSubsample,
    PureDP,
    SubsampleWithoutReplacement,
    from_json,
    parse,
)
from tests import independent
from tests.support import INFINITY, holds

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


@pytest.mark.parametrize("seed", range(12))
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


def test_permute_and_flip_is_accounted_as_pure_dp_and_bounds_it():
    m, pure = PermuteAndFlip("1/2"), PureDP("1/2")
    for alpha in (1, Fraction(5, 2), INFINITY):
        assert (m.rdp(alpha).lower, m.rdp(alpha).upper) == (
            pure.rdp(alpha).lower,
            pure.rdp(alpha).upper,
        )
    assert m.claim.kind is Kind.UPPER
    found = m.delta("1/5", conversion="exact")
    assert found.kind is Kind.UPPER
    assert PoissonSubsample(m, "1/9").claim.kind is Kind.UPPER


def test_permute_and_flip_itself_is_below():
    """Two candidates, their scores from 0 and 0 to Δ and −Δ: the coins' own probabilities."""
    fall = MP.exp(MP.mpf(-1) / 2)  # e^{ε(u−max u)/(2Δ)} for ε = 1/2, a gap of 2Δ
    best = (1 + (1 - fall)) / 2
    masses = [(best, MP.mpf(1) / 2), (1 - best, MP.mpf(1) / 2)]
    for alpha in (1, 2, 9):
        assert (
            independent.divergence(MP, alpha, masses, MP.mpf)
            < PermuteAndFlip("1/2").rdp(alpha).lower
        )


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_text_json_words_and_code(kind):
    node = 10 * PoissonSubsample(kind("1/2", "add_remove"), "1/100")
    assert parse(repr(node)) is node
    assert from_json(node.to_json()) is node
    assert "ε = 0.5" in node.epsilon("1e-6").statement()
    assert r"\epsilon" in kind(2).latex()
    assert "double rdp" in kind("1/2").code("c", points=20, max_order=64)
    sampled = SubsampleWithoutReplacement(kind("1/2"), "1/9")
    assert sampled.rdp(3).upper < kind("1/2").rdp(3).lower


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
@pytest.mark.parametrize("arguments", [(-1,), ("inf",), ("x",), (1, "sometimes")])
def test_bad_input(kind, arguments):
    with pytest.raises(DomainError, match="found"):
        kind(*arguments)


def test_no_choice_at_random_is_no_choice():
    with pytest.raises(DomainError, match="ExponentialMechanism, epsilon: found 0"):
        ExponentialMechanism(0)


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
