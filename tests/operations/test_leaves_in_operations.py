"""Leaves of every sort beyond the seeds' papers, run a random number of times."""

import pytest

from symacct import (
    DiscreteGaussian,
    DistributionPair,
    ExponentialMechanism,
    GaussianNoisyMax,
    MatrixMechanism,
    RepeatAndSelect,
    SparseVector,
    from_json,
    laws,
    parse,
)
from tests.support import answers

MIXTURE = DistributionPair(laws.NormalMixture([1, 2], ["3/4", "1/4"], 25), laws.Normal(0, 25))
LEAVES = [
    MIXTURE,
    DiscreteGaussian(4),
    ExponentialMechanism("1/3"),
    GaussianNoisyMax(25, 10),
    SparseVector(12, 20),
    MatrixMechanism([[1, 0], ["1/2", 1]], 8, 2),
]
RUNS = [laws.Poisson(3), laws.TruncatedNegativeBinomial(0, "1/10")]


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
