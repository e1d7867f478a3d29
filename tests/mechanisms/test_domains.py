"""An argument of a mechanism or of a law that is outside of its domain is a DomainError."""

import math

import pytest

from symacct import (
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    DistributionPair,
    DomainError,
    ExponentialFamily,
    ExponentialMechanism,
    FiniteMechanism,
    GaussianNoisyMax,
    GaussianSparseVector,
    MatrixMechanism,
    NoisyDescent,
    NoisyMax,
    NoisyPass,
    ParseError,
    PermuteAndFlip,
    Skellam,
    SparseVector,
    TreeAggregation,
    laws,
)
from symacct.baselines import skellam_bound

SCALES = [(0,), (-1,), ("inf",)]
MOVES = [(2, 0), (2, "1/2"), (2, -1), (2, "x")]
#: By what the error names: arguments of which one is not allowed.
OUTSIDE = {
    DiscreteGaussian: {"sigma": SCALES, "sensitivity": MOVES},
    DiscreteLaplace: {"b": SCALES, "sensitivity": MOVES},
    Skellam: {"mu": SCALES, "sensitivity": MOVES},
    skellam_bound: {"found": [(2, 0), (2, -1), (2, 3, 0), (2, 3, 1, -1), ("x", 3)]},
    ExponentialMechanism: {"epsilon": [(0,), (-1,), ("inf",), ("x",)], "found": [(1, "sometimes")]},
    PermuteAndFlip: {"epsilon": [(0,), (-1,), ("inf",), ("x",)], "found": [(1, "sometimes")]},
    SparseVector: {"b_threshold": [(0, 1)], "b_query": [(1, -1)], "count": [(1, 1, 0)],
                   "sensitivity": [(1, 1, 1, 0)]},
    GaussianSparseVector: {"count": [(1, 1, 3, 4)], "queries": [(1, 1, "1/2")]},
    NoisyMax: {"b": [("inf",)]},
    GaussianNoisyMax: {"candidates": [(1, 1)], "sigma": [(-1, 2)]},
    FiniteMechanism.permute_and_flip: {"base": [([[0, 1], [1, 0]], -1)]},
    FiniteMechanism.exponential: {"base": [([[0, 1], [1, 0]], 0)]},
    DiscreteGaussianSum: {"sigma": [(0, 3)], "parties": [(1, 0), (1, 10**9 + 1), (1, "3/2")],
                          "sensitivity": [(1, 3, -1)], "dimension": [(1, 3, 1, 0)]},
    NoisyDescent: {"sigma": [(0, 9)], "steps": [(4, 0), (4, 10**10)], "diameter": [(4, 9, 1, -1)],
                   "contraction": [(4, 9, 2), (4, 9, "0.9999999999"), (4, 9, "sqrt(1/2)")]},
    NoisyPass: {"steps": [(4, "1/2")], "contraction": [(4, 9, 0)]},
    MatrixMechanism: {"strategy": [([], 1), ([[1, 0], [1]], 1), ([[0, 0]], 1)], "found": [(5, 1)],
                      "sigma": [([[1]], 0)], "participations": [([[1]], 1, 0)],
                      "separation": [([[1]], 1, 1, "1/2")]},
    TreeAggregation: {"steps": [(1, 0)]},
    ExponentialFamily: {"L": [(-1,)], "B": [(1, -1)], "sensitivity": [(1, 1, 5, 0)],
                        "kappa": [(1, 1, "1/2"), (1, 1, 1, "3/2")]},
    laws.Exponential: {"found": [(0,)]},
    laws.Normal: {"found": [(0, -1)]},
    laws.Uniform: {"found": [(1, 1)]},
    laws.Bernoulli: {"found": [(2,)]},
    laws.Geometric: {"found": [(1,)]},
    laws.Poisson: {"found": [(math.inf,)]},
    laws.MultivariateNormal: {"found": [
        ([0], [[1, 0], [0, 1]]), ([0, 0], [[1, 2], [3, 9]]), ([0, 0], [[1, 2], [2, 1]]), ([], []),
        (1, 2), ({1, 2}, [[1, 0], [0, 1]]), ([0, 0], {1: 2, 2: 1}), ([0, 0], [{1, 2}, [0, 1]]),
    ]},
    laws.Density: {"found": [("-x**2", {1, 2}), ("-x**2", {1: 2}.keys())]},
}  # fmt: skip
HALF, HALVES = ["1/2", "1/2"], {"x": "1/2", "y": "1/2"}
#: Of a pair: probabilities that are none, laws that do not go together, and what has no order.
NO_PAIR = [
    (["1/2", "1/3"], HALF), ([1 / 3] * 3, [1 / 3] * 3), (["3/2", "-1/2"], HALF), ([1], HALF),
    ([], []), ("10", [1, 0]), (1, 1), (HALF, ["1/2", math.nan]), (laws.Poisson(1), HALF),
    (laws.Poisson(1), laws.Geometric("1/2")),
    (laws.MultivariateNormal([0], [[1]]), laws.MultivariateNormal([0, 0], [[1, 0], [0, 1]])),
    (HALVES, {"x": 1}), ({"x": 1}, HALVES), (HALVES, {"z": 0, **HALVES}),
    (dict.fromkeys(range(9), 0), HALVES), (HALVES, HALF), (HALF, HALVES), ({0, 1}, [0, 1]),
    ([0, 1], frozenset([0, 1])), ({0: 1, 1: 0}.keys(), [0, 1]), ({0: 1, 1: 0}.items(), [0, 1]),
    (b"\x00\x01", [0, 1]), (["1/1e9999", "1/2"], ["1/4", "3/4"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "named", "arguments"),
    [
        (make, name, arguments)
        for make, names in OUTSIDE.items()
        for name, every in names.items()
        for arguments in every
    ],
)
def test_an_argument_outside_its_domain_is_named(make, named, arguments):
    with pytest.raises(DomainError, match=rf"\b{named}\b.*needed") as caught:
        make(*arguments)
    assert "\n" not in str(caught.value)


def test_entries_that_are_no_numbers_are_refused():
    with pytest.raises((DomainError, ParseError), match="found 'x'"):
        MatrixMechanism([["x"]], 1)


@pytest.mark.parametrize(("P", "Q"), NO_PAIR)
def test_what_is_no_pair_of_laws_is_refused(P, Q):  # noqa: N803
    with pytest.raises(DomainError, match=r"found .*needed") as caught:
        DistributionPair(P, Q)
    assert "\n" not in str(caught.value)
