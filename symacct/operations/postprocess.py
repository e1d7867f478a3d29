"""Post-processing: any function of a mechanism's output."""

from __future__ import annotations

from typing import Any, ClassVar

from symacct.core.exact import Numeric, Order
from symacct.expressions.node import Node, as_node
from symacct.expressions.parameters import number_of_records
from symacct.operations.operation import Operation


class PostProcess(Operation):
    """A function, random or not, of the output of the mechanism alone, whose curve is no larger.

    `records` is a whole number. It says that the result holds for datasets of so many records,
    where the larger of two neighbours counts; then no sampling may be put above it. Raises
    DomainError. ε(α) is in nats. The `mechanism` is a Node.

    >>> from symacct import Gaussian
    >>> print(PostProcess(Gaussian(5)).rdp(8, digits=3))
    0.16
    """

    mechanism: Node
    records: int | None
    json_optional: ClassVar[tuple[str, ...]] = ("records",)

    def __new__(cls, mechanism: Node, records: Numeric | None = None) -> PostProcess:
        return cls._intern(
            mechanism=as_node(mechanism, "PostProcess, mechanism"),
            records=number_of_records(records, "PostProcess, records"),
        )

    @property
    def counts_records(self) -> bool:  # type: ignore[override]
        """If their number is stated."""
        return self.records is not None

    def parameters(self) -> dict[str, Any]:
        """None that a curve reads."""
        return {}

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
