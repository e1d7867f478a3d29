"""An accountant with the methods of dp_accounting's, answered by symacct."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Self

from symacct.accountant import Accountant
from symacct.domains import whole
from symacct.enclosure import Guarantee
from symacct.errors import SymacctError
from symacct.exact import Numeric
from symacct.expr import Node
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
        self._orders = orders
        self._relation = relation_named(neighboring_relation)
        self._conversion = conversion
        self._accountant = Accountant(digits=_DIGITS) if accountant is None else accountant
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
        return self.get_epsilon_and_optimal_order(target_delta)[0]

    def get_epsilon_and_optimal_order(self, target_delta: Numeric) -> tuple[float, float]:
        """(ε(δ) rounded up, the order that gives it)"""
        return _with_order(self._ask(self._accountant.epsilon, target_delta))

    def get_delta(self, target_epsilon: Numeric) -> float:
        """The smallest δ(ε) over the orders, rounded up."""
        return self.get_delta_and_optimal_order(target_epsilon)[0]

    def get_delta_and_optimal_order(self, target_epsilon: Numeric) -> tuple[float, float]:
        """(δ(ε) rounded up, the order that gives it)"""
        return _with_order(self._ask(self._accountant.delta, target_epsilon))

    def _ask(self, question: Callable[..., Guarantee], target: Numeric) -> Guarantee:
        return question(self._composed, target, self._conversion, self._orders)


def _with_order(guarantee: Guarantee) -> tuple[float, float]:
    return float(guarantee.asked), float(guarantee.alpha)
