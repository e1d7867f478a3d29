"""Subsampling: each record kept with probability γ, or a fixed share of the records."""

from __future__ import annotations

from typing import Any

from symacct.claims import ADD_REMOVE, REPLACE_ONE
from symacct.domains import rate
from symacct.exact import Exact
from symacct.expr import Node, as_node
from symacct.operations.operation import Operation


class Sampling(Operation):
    """A mechanism on a sample that holds each record with probability γ."""

    mechanism: Node
    gamma: Exact


class PoissonSubsample(Sampling):
    """The mechanism on a sample that keeps each record with probability γ, independently.

    The result is about add/remove neighbours. `gamma` lies in [0, 1]. Raises DomainError, and
    AdjacencyError over a replace-one curve.

    >>> from symacct import Gaussian
    >>> print(PoissonSubsample(Gaussian(5), "1/1000").rdp(2, digits=10))
    4.081077335e-8
    """

    fixed_adjacency = ADD_REMOVE

    def __new__(cls, mechanism: Any, gamma: Any) -> PoissonSubsample:
        return cls._intern(
            mechanism=as_node(mechanism, "PoissonSubsample, mechanism"),
            gamma=rate(gamma, "PoissonSubsample, gamma"),
        )

    @property
    def one_pair(self) -> bool:  # type: ignore[override]
        """The pair of the sample's mixture and the law without the record."""
        return self.mechanism.one_pair


class SubsampleWithoutReplacement(Sampling):
    """The mechanism on a uniformly chosen subset of m = γn of the n records.

    The result is about replace-one neighbours. `gamma` lies in [0, 1]. Raises DomainError, and
    AdjacencyError over an add/remove curve.

    >>> from symacct import Gaussian
    >>> print(SubsampleWithoutReplacement(Gaussian(5), "1/1000").rdp(2, digits=10))
    1.632430834e-7
    """

    fixed_adjacency = REPLACE_ONE

    def __new__(cls, mechanism: Any, gamma: Any) -> SubsampleWithoutReplacement:
        return cls._intern(
            mechanism=as_node(mechanism, "SubsampleWithoutReplacement, mechanism"),
            gamma=rate(gamma, "SubsampleWithoutReplacement, gamma"),
        )

    @property
    def one_pair(self) -> bool:  # type: ignore[override]
        """The pair of the sample's mixture and the law without the record."""
        return self.mechanism.one_pair
