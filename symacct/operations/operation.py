"""Operation: a node made of other nodes; its claim comes from the theorems about it."""

from __future__ import annotations

from dataclasses import replace

from symacct.claims import ALL_ORDERS, EITHER, Adjacency, Claim, Kind
from symacct.expr import Node
from symacct.theory import bounding

# An order of the kind that every theorem about an operation speaks of.
_TYPICAL_ORDER = 2


class Operation(Node):
    """What was done to one or more mechanisms."""

    #: The neighbouring relation that the operation itself fixes.
    fixed_adjacency: Adjacency = EITHER

    def _infer(self) -> Claim:
        premises = [child.claim for child in self.children]
        lower = any(claim.kind is Kind.LOWER for claim in premises)
        goal = Kind.LOWER if lower else Kind.UPPER
        claim = bounding(self, _TYPICAL_ORDER, goal)[0].infer(self, premises)
        adjacency = claim.adjacency
        if self.fixed_adjacency is not EITHER:
            adjacency = adjacency.meet(self.fixed_adjacency, type(self).__name__)
        return replace(claim, adjacency=adjacency, orders=ALL_ORDERS)
