"""RDPCurve: what a theorem reads of the mechanism below, in whatever arithmetic."""

from __future__ import annotations

from typing import Any, Protocol

from symacct.kernel.arithmetic.context import Arithmetic
from symacct.kernel.node import Node
from symacct.kernel.sums.binomial_sums import SummedCurve
from symacct.kernel.sums.local import LocalProduct


class RDPCurve(SummedCurve, Protocol):
    """α ↦ ε(α) of one node, evaluated in one arithmetic."""

    node: Node

    def remember(self, what: str) -> dict[Any, Any]:
        """A table for what else is computed from this curve, kept as long as its values."""

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order, in balls; None if not offered."""

    def using(self, ctx: Arithmetic) -> RDPCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""

    def of(self, node: Node) -> RDPCurve:
        """The curve of another node in the same evaluation."""
