"""Post-processing: any function of a mechanism's output."""

from __future__ import annotations

from symacct.exact import Order
from symacct.expr import Node, as_node
from symacct.operations.operation import Operation


class PostProcess(Operation):
    """Any function, random or not, of the mechanism's output alone: the curve never rises.

    >>> from symacct import Gaussian
    >>> print(PostProcess(Gaussian(5)).rdp(8, digits=3))
    0.160
    """

    mechanism: Node

    def __new__(cls, mechanism: Node) -> PostProcess:
        return cls._intern(mechanism=as_node(mechanism, "PostProcess, mechanism"))

    @property
    def swap_symmetric(self) -> bool:  # type: ignore[override]
        """The pair that dominates the mechanism dominates its post-processing."""
        return self.mechanism.swap_symmetric

    @property
    def steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.mechanism.steepest_up_to

    @property
    def convex(self) -> bool:
        return self.mechanism.convex
