"""Scaling a curve by a number."""

from __future__ import annotations

from symacct.kernel.claims import AttainedBy, Pairs
from symacct.kernel.exact import Exact, Numeric, Order
from symacct.kernel.node import STATED_OF_IT, Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import nonnegative


class Scale(Operation):
    """The curve c·ε(α) of a mechanism, which the user states, for a number c >= 0.

    A whole c is built as a composition of c runs of `mechanism`. Any other multiple need not be the
    curve of a mechanism, so an exact curve becomes an upper bound. ε(α) is in nats. Raises
    DomainError.

    >>> from symacct import Gaussian
    >>> print(Scale(Gaussian(5), "1/2").rdp(8, digits=3))
    0.08
    """

    mechanism: Node
    c: Exact
    has_one_formula = True
    words = "a mechanism whose Rényi curve is stated to be {c} times that of {mechanism}"
    premises = (STATED_OF_IT,)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """A multiple of a lower bound is at most one of the pair's divergences, of no one pair."""
        return AttainedBy(Pairs.SEVERAL, self.mechanism.attained.way)

    def __new__(cls, mechanism: Node, c: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "Scale, mechanism")
        factor = nonnegative(c, "Scale, c")
        if getattr(factor, "denominator", None) == 1:
            return Compose({mechanism: factor})
        return cls._intern(mechanism=mechanism, c=factor)

    @property
    def steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.mechanism.steepest_up_to

    @property
    def convex(self) -> bool:
        return self.mechanism.convex
