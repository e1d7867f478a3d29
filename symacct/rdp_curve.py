"""RDPCurve: what a theorem reads of the mechanism below, in whatever arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from symacct.arithmetic.context import Arithmetic, Number
from symacct.exact import Order
from symacct.expr import Node
from symacct.sums.terms import Exponentials


class RDPCurve(Protocol):
    """α ↦ ε(α) of one node, evaluated in one arithmetic."""

    node: Node

    @property
    def shape(self) -> str | None:
        """What is proved of its CGF at whole orders: "convex", or nothing."""

    def __call__(self, alpha: Order) -> Number:
        """ε(α)."""

    def excesses(self) -> Callable[[Order], Number]:
        """l ↦ e^{(l−1)ε(l)} − 1 at whole orders."""

    def exponentials(self) -> Exponentials | None:
        """The same over a run of orders in balls; None where exponentials do not make it up."""

    def remember(self, what: str) -> dict[Any, Any]:
        """A table for what else is computed from this curve, kept as long as its values."""

    def using(self, ctx: Arithmetic) -> RDPCurve:
        """The same curve in another arithmetic, or in balls at the precision now current."""
