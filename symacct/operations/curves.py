"""What is done to a curve and not to data: scaling, and the convex hull."""

from __future__ import annotations

from symacct.kernel import limits
from symacct.kernel.claims import AttainedBy, Kind, Pairs
from symacct.kernel.errors import SoundnessError
from symacct.kernel.exact import Exact, Numeric, Order
from symacct.kernel.node import STATED_OF_IT, Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import nonnegative, whole

# --- scaling
#
# Scaling a curve by a number.


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
    _has_one_formula = True
    words = "a mechanism whose Rényi curve is stated to be {c} times that of {mechanism}"
    premises = (STATED_OF_IT,)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """The mechanism's direction, but no one pair: a multiple belongs to none."""
        return AttainedBy(Pairs.SEVERAL, self.mechanism.attained.way)

    def __new__(cls, mechanism: Node, c: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "Scale, mechanism")
        factor = nonnegative(c, "Scale, c")
        if getattr(factor, "denominator", None) == 1:
            return Compose({mechanism: factor})
        return cls._intern(mechanism=mechanism, c=factor)

    @property
    def _steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.mechanism._steepest_up_to

    @property
    def convex(self) -> bool:
        """Is the CGF convex, as that of the mechanism is?"""
        return self.mechanism.convex


# --- the convex hull
#
# Projection of a bound onto the curves that a CGF can have.


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
    def _hull_up_to(self) -> int:  # type: ignore[override]
        """The last order α of the hull."""
        return self.max_order
