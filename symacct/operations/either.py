"""One of two mechanisms, by a coin."""

from __future__ import annotations

from symacct.kernel.claims import AttainedBy, together
from symacct.kernel.exact import Exact, Numeric
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import rate


class Either(Operation):
    """The first mechanism with probability `share`, and otherwise the second.

    The coin does not depend on the data. Its result may be published; if it is kept secret, the
    cost is no larger. `share` lies in [0, 1]. Raises DomainError for another share, and
    AdjacencyError if the two mechanisms are about different neighbours. ε(α) is in nats.

    >>> from symacct import Gaussian
    >>> print(Either(Gaussian(1), Gaussian(5), "1/100").rdp(2, digits=6))
    0.0559884
    """

    first: Node
    second: Node
    share: Exact

    def __new__(cls, first: Node, second: Node, share: Numeric) -> Either:
        return cls._intern(
            first=as_node(first, "Either, first"),
            second=as_node(second, "Either, second"),
            share=rate(share, "Either, share"),
        )

    says_who_takes_part = True
    words = "{first} with probability {share}, and otherwise {second}"
    premises = ("which of the two mechanisms is run, a coin decides that does not see the data",)

    @cached_property
    def attained(self) -> AttainedBy:
        """The coin with the pair of the mechanism that it chose; involutions leave it alone."""
        return together((self.first.attained, self.second.attained))

    @property
    def convex(self) -> bool:
        """log(s e^{K₁} + (1−s) e^{K₂}) is convex if K₁ and K₂ are."""
        return self.first.convex and self.second.convex
