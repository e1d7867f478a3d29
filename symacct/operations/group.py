"""Group privacy: datasets that differ in up to 2^c records."""

from __future__ import annotations

from dataclasses import replace

from symacct.claims import Adjacency, Claim
from symacct.domains import whole
from symacct.errors import DomainError, echo
from symacct.exact import Numeric
from symacct.expr import Node, as_node
from symacct.operations.operation import Operation


class GroupPrivacy(Operation):
    """The mechanism's curve for datasets up to 2^c neighbouring steps apart; c a whole number.

    Groups of 2 under add/remove cover every replace-one pair.

    >>> from symacct import Gaussian
    >>> print(GroupPrivacy(Gaussian(5), 1).rdp(4, digits=3))
    0.480
    """

    mechanism: Node
    c: int

    def __new__(cls, mechanism: Node, c: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "GroupPrivacy, mechanism")
        steps = whole(c, "GroupPrivacy, c")
        if steps > 30:
            raise DomainError(
                f"GroupPrivacy, c: found {echo(steps)}, needed c <= 30 (groups of 2^c)"
            )
        return cls._intern(mechanism=mechanism, c=steps) if steps else mechanism

    def _infer(self) -> Claim:
        claim = super()._infer()
        base = self.mechanism.claim.adjacency
        return replace(claim, adjacency=Adjacency(base.relation, base.group * 2**self.c))
