"""A small question that a theorem answers: an expression and an order, found by its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import INFINITY, order
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import Theorem
from symacct.text import parse

#: The mechanisms that are tried, the simplest first, as text.
_LEAVES = (
    "Gaussian(2)",
    "Laplace(2)",
    "PureDP(1/2)",
    "RandomizedResponse(3/4)",
    "ZCDP(1/10)",
    "TCDP(1/10, 100)",
    "FiniteMechanism([[1/2, 1/2], [1/4, 3/4], [1/3, 2/3]])",
    "DiscreteGaussian(2)",
    "ExponentialMechanism(1)",
    "Gaussian(5)",
    "DistributionPair([1/2, 1/4, 1/4], [1/4, 5/8, 1/8])",
    "DistributionPair(laws.Normal(0, 1), laws.Normal(1, 2))",
    "Curve('alpha/10', kind='lower', adjacency='either')",
    "RandomAllocation(Laplace(2), 3)",
    "2 * DistributionPair([9/10, 1/10], [1/2, 1/2], adjacency=add_remove, with_record='P')",
)
#: The operations that are tried on each of them, of which each is what some theorem is about.
_OPERATIONS = (
    "PoissonSubsample({}, 1/100)",
    "PoissonSubsample({}, 1/100, adjacency=replace_one)",
    "SubsampleWithoutReplacement({}, 1/100)",
    "SubsampleWithoutReplacement({}, 1/100, adjacency=add_remove)",
    "PoissonSubsample({}, 1/100, adjacency=zero_out)",
    "SubsampleWithoutReplacement({}, 1/100, adjacency=zero_out)",
    "100 * {}",
    "Scale({}, 1/2)",
    "Convexify({}, 8)",
    "PostProcess({})",
    "GroupPrivacy({}, 2)",
    "Either({}, Laplace(3), 1/2)",
    "{} + PoissonSubsample(Laplace(2), 1/3)",
    "Either({}, PoissonSubsample(Laplace(2), 1/3), 1/2)",
    "Failing({}, 1/1000)",
    "RandomAllocation({}, 10)",
    "Shuffled({}, 10)",
    "RepeatAndSelect({}, laws.Poisson(5))",
    "RepeatAndSelect({}, laws.TruncatedNegativeBinomial(1, 1/10))",
    "RepeatAndSelect({}, laws.Binomial(10, 1/2))",
)
#: The orders that are tried at each of these expressions, as text.
_ORDERS = ("4", "8", "5/2", "3/2", "1", "inf")


def example(theorem: Theorem) -> tuple[str, str] | None:
    """An expression and an order at which the theorem proves a finite bound, as text.

    The first of those tried; one whose bound is infinite if there is no other, and None if it
    answers none of them, as may be for one of the user's own. It computes with the default
    accountant.

    >>> from symacct.kernel.theorem_registry import named
    >>> example(named("ZW19-T8"))
    ('PoissonSubsample(Gaussian(2), 1/100)', '4')
    """
    is_infinite = None
    for text, m in _candidates():
        for alpha in _ORDERS:
            if theorem.why_not(m, order(alpha)) is None and (known := _answer(m, alpha, theorem)):
                if known < INFINITY:
                    return text, alpha
                is_infinite = is_infinite or (text, alpha)
    return is_infinite


def _answer(m: Node, alpha: str, theorem: Theorem) -> float | None:
    """The upper end of what the theorem says of m there, as a float; None where it says nothing."""
    try:
        return float(m.rdp(alpha, digits=3, by=theorem.name).upper)
    except SymacctError:
        return None


@lru_cache(1)
def _candidates() -> list[tuple[str, Node]]:
    """The expressions that are tried, as text and as nodes, read once."""
    return list(_parsed())


def _parsed() -> Iterator[tuple[str, Node]]:
    """Each operation on each leaf, but for those that the operation does not take."""
    for leaf in _LEAVES:
        for done in _OPERATIONS:
            try:
                yield (text := done.format(leaf)), parse(text)
            except SymacctError:  # what that operation does not take
                continue
