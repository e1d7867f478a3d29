"""Exponential mechanisms chosen beforehand: all answers counted, any losses tried, bad input."""

import itertools
import random
from fractions import Fraction

import pytest

from symacct import DomainError, ExponentialMechanism, Kind
from symacct.baselines import exponential_runs, exponential_runs_epsilon
from symacct.baselines.exponential_runs import BoundedRangeRuns
from symacct.kernel.arithmetic.ball import rational
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(60)


def number(x):
    return independent.number(MP, x)


def by_answers(epsilon, each, losses):
    """δ(ε) of two candidates in each run, of losses t and t − ε₀: all sequences of answers."""
    least, total = MP.exp(-number(each)), MP.mpf(0)
    rare = [(1 - MP.exp(-number(t))) / (1 - least) for t in losses]
    for lower in itertools.product((False, True), repeat=len(losses)):
        chance = MP.fprod(b if low else 1 - b for b, low in zip(rare, lower, strict=True))
        loss = number(sum(losses) - sum(lower) * each)
        total += chance * max(MP.exp(loss) - MP.exp(number(epsilon)), MP.mpf(0))
    return total


def by_counts(epsilon, each, runs, loss):
    """The same for the same losses."""
    rare = (1 - MP.exp(-number(loss))) / (1 - MP.exp(-number(each)))
    return MP.fsum(
        MP.binomial(runs, i)
        * rare**i
        * (1 - rare) ** (runs - i)
        * max(MP.exp(number(runs * loss - i * each)) - MP.exp(number(epsilon)), MP.mpf(0))
        for i in range(runs + 1)
    )


def drawn(rng, most):
    runs, each = rng.randrange(1, most), Fraction(rng.randrange(1, 40), 10)
    return runs, each, runs * each * Fraction(rng.randrange(0, 95), 100)


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_no_losses_cost_more(seed):
    """A hundred vectors of losses; two made equal cost no less."""
    rng = random.Random(seed)
    runs, each, epsilon = drawn(rng, 6)
    delta = exponential_runs(epsilon, each, runs, digits=20).delta
    assert delta.claim.kind is Kind.EXACT
    for _ in range(100):
        losses = [each * Fraction(rng.randrange(0, 101), 100) for _ in range(runs)]
        cost = by_answers(epsilon, each, losses)
        assert cost <= delta.upper
        mean = sum(losses[:2]) / len(losses[:2])
        assert cost <= by_answers(epsilon, each, [mean] * len(losses[:2]) + losses[2:]) * (
            1 + MP.eps
        )


@pytest.mark.parametrize("seed", range(some(6, 14)))
def test_it_is_the_largest_over_one_loss(seed):
    """The largest of finitely many, all counted; no other loss is above."""
    rng = random.Random(100 + seed)
    runs, each, epsilon = drawn(rng, 40)
    tried = [(epsilon + (i + 1) * each) / (runs + 1) for i in range(runs)]
    largest = max(by_counts(epsilon, each, runs, t) for t in tried if t < each)
    assert holds(exponential_runs(epsilon, each, runs, digits=25).delta, largest, 25, 40)
    others = (each * Fraction(i, 60) for i in range(61))
    assert max(by_counts(epsilon, each, runs, t) for t in others) <= largest


@pytest.mark.parametrize(
    ("runs", "each", "epsilon"),
    [(150, Fraction(1, 10), 2), (150, Fraction(1, 1000), Fraction(1, 50)), (120, 3, 120)],
)
def test_the_counts_left_out_are_no_larger(runs, each, epsilon):
    found = exponential_runs(epsilon, each, runs, digits=20).delta
    tried = [(Fraction(epsilon) + (i + 1) * each) / (runs + 1) for i in range(0, runs, 3)]
    values = [by_counts(epsilon, each, runs, t) for t in tried if t < each]
    assert max(values) <= found.upper
    assert max(values) > found.lower * MP.mpf("0.99")


@pytest.mark.parametrize("seed", range(some(3, 6)))
def test_what_leaves_counts_out_is_a_bound_and_as_said(seed):
    """(x−c)₊ is at most x^α c^{1−α} (α−1)^{α−1}/α^α, of x = P/Q, and as much where x = cα/(α−1)."""
    rng = random.Random(seed)
    runs, each, epsilon = drawn(rng, 30)
    order = Fraction(rng.randrange(11, 90), 10)
    a, c = number(order), MP.exp(number(epsilon))
    share = c ** (1 - a) * (a - 1) ** (a - 1) / a**a
    for count in range(runs):
        t = (epsilon + (count + 1) * each) / (runs + 1)
        if t >= each:
            break
        rare = (1 - MP.exp(-number(t))) / (1 - MP.exp(-number(each)))
        one = (1 - rare) * MP.exp(a * number(t)) + rare * MP.exp(a * number(t - each))
        found = BoundedRangeRuns(each, runs).log_most(count, epsilon, order)
        ends = [number(rational(end)) for end in (found.lower(), found.upper())]
        value = MP.log(one**runs * share)
        assert abs(ends[0] - value) < 1e-9 > abs(ends[1] - value)
        assert by_counts(epsilon, each, runs, t) <= MP.exp(value)


def test_one_run_and_runs_chosen_by_answers():
    for each, epsilon in (("1/2", "1/4"), (3, 1), (1, 0)):
        one = ExponentialMechanism(each).delta(epsilon, digits=15, conversion="exact").delta
        found = exponential_runs(epsilon, each, 1, digits=15).delta
        assert one.lower <= found.upper
        assert found.lower <= one.upper
    for runs, each in ((10, "1/2"), (100, "1/10")):
        spent = exponential_runs_epsilon("1e-6", each, runs).epsilon
        chosen = (runs * ExponentialMechanism(each)).epsilon("1e-6", digits=5).epsilon
        assert chosen.lower * 0.9 < spent.upper < chosen.lower


def test_epsilon_is_the_least_that_keeps_to_delta():
    for runs, each, delta in ((10, "1/2", "1e-6"), (3, 2, "1e-2"), (30, "1/10", 0)):
        found = exponential_runs_epsilon(delta, each, runs, digits=20).epsilon
        epsilon = independent.fraction(found.upper)
        assert exponential_runs(epsilon, each, runs).delta.upper <= number(Fraction(delta))
        less = epsilon - Fraction(each) * runs / 2**29
        assert exponential_runs(less, each, runs).delta.upper > number(Fraction(delta))


def test_the_edges():
    assert exponential_runs(1, "1/10", 10).delta.upper == 0
    assert 0 < exponential_runs("99/100", "1/10", 10).delta.lower < 1e-9


@pytest.mark.parametrize(
    "arguments", [(-1, 1, 3), (1, 0, 3), (1, 101, 3), (1, "1e-400", 3), (1, 1, 0), (1, 1, 1001)]
)
def test_bad_input_is_one_typed_error(arguments):
    with pytest.raises(DomainError):
        exponential_runs(*arguments)
    with pytest.raises(DomainError):
        exponential_runs_epsilon(1, 1, 3)
