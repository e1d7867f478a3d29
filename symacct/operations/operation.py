"""Operation: a node made of other nodes; its claim comes from the theorems about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symacct.core.claims import ALL_ORDERS, EITHER, Adjacency, Claim, Kind, narrowed_claim
from symacct.core.errors import DomainError, echo
from symacct.expressions.node import Node
from symacct.expressions.theorem_choice import answering_always, bounding

#: An order of the kind that every theorem about an operation speaks of.
TYPICAL_ORDER = 2


class Operation(Node):
    """What was done to one or more mechanisms."""

    #: The neighbouring relation that the operation's result is about, where it fixes one.
    fixed_adjacency: Adjacency = EITHER
    #: The relation that it reads its mechanism's curve for, where it fixes one.
    read_adjacency: Adjacency = EITHER
    #: How it draws records at random, in few words, if it does.
    drawing: str = ""
    #: Is what is below run on another number of records than there are?
    changes_size: bool = False

    def carried(self, premises: Iterable[Claim], what: str) -> list[Claim]:
        """The premises as claims about the result's relation; or AdjacencyError."""
        if self.fixed_adjacency == self.read_adjacency:
            return list(premises)
        what = f"{what}, which reads the mechanism for {self.read_adjacency} neighbours"
        read = [
            narrowed_claim(premise, premise.adjacency.meet(self.read_adjacency, what))
            for premise in premises
        ]
        return [replace(premise, adjacency=self.fixed_adjacency) for premise in read]

    def _refuse_counting(self) -> None:
        """DomainError where what is below is stated for a number of records."""
        counting = next((node for node in self._below if node.counts_records), None)
        if counting is not None:
            raise DomainError(
                f"{type(self).__name__}: found {echo(counting)}, which is stated for a given "
                "number of records, inside an operation that changes this number; needed a "
                "mechanism for any number of records, or one scheme that draws from all of the "
                "records"
            )

    def _refuse_other_sizes(self) -> None:
        """DomainError where the parts are stated for different numbers of records."""
        least, most = self.sizes
        if least > most:
            raise DomainError(
                f"{type(self).__name__}: found parts for {most:,} records and for {least:,}, "
                "needed one number of records, as all parts are about the same data"
            )

    def _infer(self) -> Claim:
        self._refuse_other_sizes()
        if self.changes_size:
            self._refuse_counting()
        premises = [child.claim for child in self.children]
        lower = any(claim.kind is Kind.LOWER for claim in premises)
        goal = Kind.LOWER if lower else Kind.UPPER
        answering = answering_always(bounding(self, TYPICAL_ORDER, goal))
        claim = answering[0].infer(self, premises, TYPICAL_ORDER)
        adjacency = claim.adjacency
        if self.fixed_adjacency is not EITHER:
            adjacency = adjacency.meet(self.fixed_adjacency, type(self).__name__)
        return replace(claim, adjacency=adjacency, orders=ALL_ORDERS)
