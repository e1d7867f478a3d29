"""Projection of a bound onto the curves that a CGF can have."""

from __future__ import annotations

from symacct.kernel import limits
from symacct.kernel.claims import Kind
from symacct.kernel.errors import SoundnessError
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import whole


class Convexify(Operation):
    """The lower convex hull of the CGF of a mechanism at the orders λ = 0, 1, …, max_order − 1.

    A true CGF is convex, so every chord of an upper bound is an upper bound too. The hull therefore
    holds at every real order up to `max_order`, and is nowhere above the curve of `mechanism` at
    whole orders. Beyond `max_order` the curve itself is used. Raises SoundnessError for a lower
    bound, because its chords bound nothing. ε(α) is in nats.

    >>> from symacct import Gaussian, SubsampleWithoutReplacement
    >>> print(SubsampleWithoutReplacement(Gaussian(5), "1/1000").convexify(64).rdp("7/2", digits=9))
    7.41885843e-8
    """

    mechanism: Node
    max_order: int
    words = "{mechanism}, accounted by the convex hull of its curve"

    def __new__(cls, mechanism: Node, max_order: Numeric) -> Convexify:
        mechanism = as_node(mechanism, "Convexify, mechanism")
        last = whole(max_order, "Convexify, max_order", least=2)
        limits.check("order", last, "Convexify, max_order")
        if mechanism.claim.kind is Kind.LOWER:
            raise SoundnessError(
                "Convexify: found a lower bound, needed an exact or upper one, because chords "
                "of a lower bound are no bound"
            )
        return cls._intern(mechanism=mechanism, max_order=last)

    @property
    def hull_up_to(self) -> int:  # type: ignore[override]
        """The last order of the hull."""
        return self.max_order
