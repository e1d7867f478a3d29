"""The leaves beyond the seeds' papers, run a random number of times and under a budget."""

import pytest

from symacct import (
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    DistributionPair,
    ExponentialMechanism,
    Filter,
    GaussianNoisyMax,
    GaussianSparseVector,
    MatrixMechanism,
    NoisyDescent,
    NoisyMax,
    NoisyPass,
    Odometer,
    PermuteAndFlip,
    RepeatAndSelect,
    Skellam,
    SparseVector,
    TreeAggregation,
    from_json,
    laws,
    parse,
)
from tests import independent
from tests.support import answers

MP = independent.context(50)
MIXTURE = DistributionPair(laws.NormalMixture([1, 2], ["3/4", "1/4"], 25), laws.Normal(0, 25))
LEAVES = [
    MIXTURE,
    DiscreteGaussian(4),
    DiscreteGaussianSum(2, 9),
    DiscreteLaplace(6),
    Skellam(20),
    ExponentialMechanism("1/3"),
    PermuteAndFlip("1/4"),
    NoisyMax(9),
    GaussianNoisyMax(25, 10),
    SparseVector(12, 20),
    GaussianSparseVector(20, 40, 10),
    MatrixMechanism([[1, 0], ["1/2", 1]], 8, 2),
    TreeAggregation(12, 7),
    NoisyDescent(12, 30, "1/2", 3),
    NoisyPass(3, 9),
]
RUNS = [laws.Poisson(3), laws.TruncatedNegativeBinomial(0, "1/10")]
ORDERS = (2, 5, 16)


@pytest.mark.parametrize("m", LEAVES, ids=repr)
def test_the_best_of_many_runs(m):
    """The default is the least of what the theorems say, at or above the runs all told once."""
    for runs in RUNS:
        node = RepeatAndSelect(m, runs)
        assert parse(repr(node)) is node
        assert from_json(node.to_json()) is node
        said = answers(node, 4, digits=12, default_only=True)
        assert len(said) >= 2
        best = node.rdp(4, digits=12)
        assert best.lower <= min(one.upper for one in said.values())
        assert best.upper >= min(one.lower for one in said.values())
    more = RepeatAndSelect(m, laws.Poisson(30)).rdp(4, digits=12)
    assert more.upper >= RepeatAndSelect(m, RUNS[0]).rdp(4, digits=12).lower


def held(m, runs, epsilon, delta):
    """Is one of the orders' ε within the budget for its share of δ?"""
    share = MP.mpf(delta) / len(ORDERS)
    for alpha in ORDERS:
        curve = runs * independent.number(MP, independent.fraction(m.rdp(alpha, digits=40).upper))
        lost = MP.log(1 - MP.mpf(1) / alpha) - MP.log(share * alpha) / (alpha - 1)
        if curve + lost <= epsilon:
            return True
    at_infinity = m.rdp("inf").upper
    return runs * at_infinity <= epsilon


@pytest.mark.parametrize("m", LEAVES, ids=repr)
def test_a_budget_admits_as_many_runs_as_hold(m):
    budget = Filter(3, "1e-6", ORDERS)
    count = budget.left(m)
    assert count >= 1
    assert held(m, count, 3, "1e-6")
    assert not held(m, count + 1, 3, "1e-6")
    budget.spend(m)
    assert budget.left(m) == count - 1
    assert Filter.from_json(budget.to_json()).left(m) == count - 1
    meter = Odometer("1e-6", ORDERS)
    meter.add(m)
    one = independent.fraction(meter.epsilon(digits=12).upper)
    meter.add(m)
    both = meter.epsilon(digits=12)
    assert one < independent.fraction(both.upper)
    assert independent.fraction(both.lower) <= 2 * one
