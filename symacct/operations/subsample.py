"""Subsampling: each record kept with probability γ, or a fixed share of the records."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from symacct.kernel.claims import (
    ADD_REMOVE,
    ANY_OF_SEVERAL,
    NAMED,
    REPLACE_ONE,
    UNKNOWN,
    ZERO_OUT,
    Adjacency,
    AttainedBy,
    Kind,
    Relation,
)
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import AdjacencyError, SymacctError
from symacct.kernel.exact import Exact, Numeric, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import rate
from symacct.mechanisms import Gaussian

#: The reason why `one_query` keeps the curve of a Poisson sample.
_QUERIES = (
    "Gaussian queries on one Poisson sample are one query, their squares of sensitivity over "
    "noise summed"
)


class Sampling(Operation):
    """The mechanism on a random sample, for neighbours of any relation.

    What two samples of neighbouring datasets can differ in is fixed by the scheme, so the relation
    that the mechanism's curve is read for is the scheme's own, whichever the result is about.
    """

    mechanism: Node
    gamma: Exact
    adjacency: Adjacency
    _json_optional: ClassVar[tuple[str, ...]] = ("adjacency",)
    #: The sentence that says why a sample of a sample is one sample.
    _nested: ClassVar[str]

    @classmethod
    def _sampled(cls, mechanism: Node, gamma: Numeric, adjacency: str | Adjacency) -> Self:
        """The node of checked fields; AdjacencyError unless one relation is named."""
        name = cls.__name__
        relation = named_adjacency(adjacency)
        if relation not in NAMED:
            raise AdjacencyError(
                f"{name}: found adjacency {relation}, needed 'add_remove', 'replace_one' or "
                "'zero_out'"
            )
        return cls._intern(
            mechanism=as_node(mechanism, f"{name}, mechanism"),
            gamma=rate(gamma, f"{name}, gamma"),
            adjacency=relation,
        )

    @property
    def sampling_rate(self) -> Exact:  # type: ignore[override]
        """The rate γ at which a record is in the sample."""
        return self.gamma

    _says_who_takes_part = True

    @property
    def premises(self) -> tuple[str, ...]:  # type: ignore[override]
        """How samples are drawn; none for γ = 1, where all of the data is taken."""
        return () if self.gamma == 1 else self._drawn

    def _on(self, sample: str) -> str:
        """The mechanism on this sample, or on all of the data where no record is left out."""
        if self.gamma == 1:
            return "{mechanism} on all of the records"
        return f"{{mechanism}}{{each}} on {sample}"

    _drawn = ("each sample is drawn anew and at random, and is kept secret",)

    @cached_property
    def attained(self) -> AttainedBy:
        """The mixture (1−γ)Q + γP against Q, of a record that is added or removed.

        For γ = 1 it is the mechanism's own pair; of a replaced record it is any of several. What
        attains a bound of a zeroed one between others is not known.
        """
        if self.gamma == 1 and (self._is_one_step() or self.adjacency == self._read_adjacency):
            return self.mechanism.attained
        if self.adjacency == ZERO_OUT and not self._is_one_step():
            return UNKNOWN
        return (
            ANY_OF_SEVERAL if self.adjacency == REPLACE_ONE else self.mechanism.attained.sampled()
        )

    @property
    def _changes_size(self) -> bool:  # type: ignore[override]
        """Has the sample fewer records than the data? It may, unless γ = 1."""
        return self.gamma != 1

    def _of_same_curve(self) -> tuple[Node, str]:
        """One sample at the product of the rates, of a sample of a sample of one scheme."""
        inner = self.mechanism
        if not isinstance(inner, type(self)) or inner.adjacency != self._read_adjacency:
            return self, ""
        return self._over(inner.mechanism, self.gamma * inner.gamma, self._nested)

    def _over(self, mechanism: Node, gamma: Exact, why: str) -> tuple[Node, str]:
        """The scheme over another mechanism, and `why`; itself and "" if the node is refused.

        It is refused where a number would be too long.
        """
        try:
            return type(self)(mechanism, gamma, self.adjacency), why  # type: ignore[call-arg]
        except SymacctError:
            return self, ""


class PoissonSubsample(Sampling):
    """The mechanism on a Poisson sample, which keeps each record independently with probability γ.

    The result is about add/remove neighbours, or about replace-one or zero-out neighbours if
    `adjacency` says so. The curve of `mechanism` is read for add/remove in all cases, because a
    sample either holds a record or not. A sum of records clipped to norm C therefore has
    sensitivity C here. The two records of a replacement may move the sum by 2C, and the theorems
    account for that. A record that is zeroed out costs what a removed one does. `gamma` lies in
    [0, 1]. Raises DomainError, and AdjacencyError if the mechanism's curve is about another
    relation. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(PoissonSubsample(Gaussian(5), "1/1000").rdp(2, digits=10))
    4.081077335e-8
    """

    _read_adjacency = ADD_REMOVE
    _nested = (
        "a Poisson sample of a Poisson sample is a Poisson sample, at the product of the rates"
    )
    _drawing = "Poisson sampling"

    @property
    def words(self) -> str:  # type: ignore[override]
        """How the sample is drawn."""
        return self._on(
            "a fresh Poisson sample (each record kept independently with probability {gamma})"
        )

    def __new__(
        cls, mechanism: Node, gamma: Numeric, adjacency: str | Adjacency = "add_remove"
    ) -> PoissonSubsample:
        return cls._sampled(mechanism, gamma, adjacency)

    # Proved in docs/proofs/directions.md, Lemma empty-places.
    @property
    def _theorem_adjacency(self) -> Adjacency:
        """The relation; for a record zeroed out that of a record removed, as the laws are alike."""
        return ADD_REMOVE if self.adjacency == ZERO_OUT else self.adjacency

    def _of_same_curve(self) -> tuple[Node, str]:
        """The sample of one query, of Gaussian queries on one sample; else as for any scheme."""
        query = one_query(self.mechanism)
        if query is self.mechanism:
            return super()._of_same_curve()
        return self._over(query, self.gamma, _QUERIES)

    def _is_one_step(self) -> bool:
        """Are neighbours one step apart in the relation that the mechanism's curve is read for?

        A replaced record is one removed and one added.
        """
        return self.adjacency != REPLACE_ONE


class SubsampleWithoutReplacement(Sampling):
    """The mechanism on a uniformly chosen subset of m = γn of the n records.

    The result is about replace-one neighbours, or about add/remove or zero-out neighbours if
    `adjacency` says so. With add/remove the datasets have n and n − 1 records and the same m, and γ
    is m/n of the larger one; for a group, γ is the largest m/n of its steps, which is that of the
    last step. The curve of `mechanism` is read for replace-one in both cases, because another
    record takes the place of the missing one. A sum of records clipped to norm C therefore has
    sensitivity 2C here. With zero-out the sample may hold the empty place, and the curve is read
    for zero-out: the sum has sensitivity C, and the theorems account for the records that stand in
    the sample otherwise. `gamma` lies in [0, 1]. Raises DomainError, and AdjacencyError if the
    mechanism's curve is about another relation. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(SubsampleWithoutReplacement(Gaussian(5), "1/1000").rdp(2, digits=10))
    4.121587968e-8
    """

    _nested = (
        "a uniform subset of a uniform subset is a uniform subset, at the product of the rates"
    )
    _drawing = "samples of a fixed size"

    @property
    def words(self) -> str:  # type: ignore[override]
        """How the sample is drawn."""
        return self._on(
            "a fresh uniform sample without replacement (a share {gamma} of the records, of fixed "
            "size)"
        )

    def __new__(
        cls, mechanism: Node, gamma: Numeric, adjacency: str | Adjacency = "replace_one"
    ) -> SubsampleWithoutReplacement:
        return cls._sampled(mechanism, gamma, adjacency)

    @property
    def _read_adjacency(self) -> Adjacency:  # type: ignore[override]
        """The relation in which the records differ that a place of the sample may hold."""
        return ZERO_OUT if self.adjacency == ZERO_OUT else REPLACE_ONE

    # Proved in docs/proofs/triples.md, Lemma zeroed-triples.
    def _is_one_step(self) -> bool:
        """Are the laws of a sample pairwise one step apart?

        They are not where a record is zeroed out: another one in its place is two steps away.
        """
        return self.adjacency != ZERO_OUT

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The premises, and for add/remove that both samples have the same number of records."""
        alike = ("the samples of both datasets have the same number of records",)
        return self.premises + (alike if self._counts_records and self.gamma != 1 else ())

    @property
    def _counts_records(self) -> bool:  # type: ignore[override]
        """Is γ the share of n records alone? For add/remove as many are taken of n − 1 records."""
        return self.adjacency == ADD_REMOVE


def one_query(mechanism: Node) -> Node:
    """The Gaussian mechanism with (Δ/σ)² summed over a composition of Gaussian queries.

    The node itself for another composition, for symbols, or where only a bound of Δ is known.
    """
    if not isinstance(mechanism, Compose) or mechanism.free_symbols or not mechanism.terms:
        return mechanism
    square: Any = 0
    for part, count in mechanism.terms.items():
        if not isinstance(part, Gaussian) or part.kind is not Kind.EXACT:
            return mechanism
        square += count * (part.sensitivity / part.sigma) ** 2
    return Gaussian(1 / sympy.sqrt(square))


#: For one record added or removed each of these makes (1−γ)q + γp against q, for its own p and q.
SAMPLINGS = (PoissonSubsample, SubsampleWithoutReplacement)
