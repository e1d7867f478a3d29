"""An accountant with the methods of dp_accounting's, answered by symacct."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from symacct import doors
from symacct.accountant import Accountant
from symacct.conversion import named as conversion_named
from symacct.domains import whole
from symacct.enclosure import Guarantee
from symacct.errors import DomainError, SymacctError, echo
from symacct.exact import INFINITY, Numeric
from symacct.expr import Node
from symacct.interop import floats
from symacct.interop.dp_events import from_dp_event, relation_named, to_dp_event
from symacct.operations import Compose

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

_DIGITS = 16


class EventAccountant:
    """compose, get_epsilon, get_delta, … of dp_accounting's RdpAccountant, with proved answers.

    Events are read by `from_dp_event`; nodes are taken as they are. The floats that come back are
    rounded up. `orders` restricts the search; without it every real order is searched. What has no
    privacy at all (noise multiplier 0, NonPrivateDpEvent) is refused with a DomainError.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> step = PoissonSubsample(Gaussian(4), "0.01")
    >>> EventAccountant().compose(step, 10_000).get_epsilon(1e-5)
    1.0353840019441014
    """

    def __init__(
        self,
        orders: Iterable[Numeric] | None = None,
        neighboring_relation: object = "add_remove",
        conversion: str = "improved",
        accountant: Accountant | None = None,
    ) -> None:
        self._orders = (
            orders
            if orders is None or isinstance(orders, str)
            else tuple(doors.listed(orders, "orders", "[2, 4, 8]"))
        )
        self._relation = relation_named(neighboring_relation)
        self._conversion = conversion_named(conversion).name
        if accountant is not None and not isinstance(accountant, Accountant):
            raise DomainError(f"accountant: found {echo(accountant)}, needed an Accountant")
        self._accountant = accountant or Accountant(digits=_DIGITS)
        self._composed = Compose()

    @property
    def neighboring_relation(self) -> str:
        """The relation that events are read under."""
        return self._relation

    @property
    def node(self) -> Node:
        """What was composed."""
        return self._composed

    @property
    def ledger(self) -> DpEvent:
        """What was composed, as a DpEvent; MissingPackageError where dp_accounting is missing."""
        return to_dp_event(self._composed)

    def supports(self, event: object) -> bool:
        """Can this event be composed with what is there?"""
        try:
            self._composed + self._node(event)
        except SymacctError:
            return False
        return True

    def compose(self, event: object, count: int = 1) -> Self:
        """Add `count` runs of an event or a node; raises where it cannot be read."""
        runs = whole(count, "compose, count")
        self._composed = Compose(self._composed, {self._node(event): runs})
        return self

    def _node(self, event: object) -> Node:
        return event if isinstance(event, Node) else from_dp_event(event, self._relation)

    def get_epsilon(self, target_delta: Numeric) -> float:
        """The smallest ε(δ) over the orders, rounded up."""
        return float(self._ask(self._accountant.epsilon, target_delta).asked)

    def get_epsilon_and_optimal_order(self, target_delta: Numeric) -> tuple[float, float]:
        """(ε(δ) rounded up, the order that gives it); DomainError for one beyond float64"""
        return _with_order(self._ask(self._accountant.epsilon, target_delta))

    def get_delta(self, target_epsilon: Numeric) -> float:
        """The smallest δ(ε) over the orders, rounded up."""
        return float(self._ask(self._accountant.delta, target_epsilon).asked)

    def get_delta_and_optimal_order(self, target_epsilon: Numeric) -> tuple[float, float]:
        """(δ(ε) rounded up, the order that gives it); DomainError for one beyond float64"""
        return _with_order(self._ask(self._accountant.delta, target_epsilon))

    def _ask(self, question: Callable[..., Guarantee], target: Numeric) -> Guarantee:
        return question(self._composed, target, self._conversion, self._orders)


def _with_order(guarantee: Guarantee) -> tuple[float, float]:
    alpha = guarantee.alpha
    order = alpha if alpha == INFINITY else floats.nearest(Fraction(alpha), "the optimal order")
    return float(guarantee.asked), float(order)
