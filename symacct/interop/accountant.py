"""An accountant with the methods of dp_accounting's, answered by symacct."""

from __future__ import annotations

from typing import Any, Self

from symacct.accountant import Accountant
from symacct.domains import whole
from symacct.enclosure import Guarantee
from symacct.errors import SymacctError
from symacct.expr import Node
from symacct.interop.dp_events import from_dp_event, relation_named, to_dp_event
from symacct.operations import Compose

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
        orders: Any = None,
        neighboring_relation: Any = "add_remove",
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
    def ledger(self) -> Any:
        """What was composed, as a DpEvent; MissingPackageError where dp_accounting is missing."""
        return to_dp_event(self._composed)

    def supports(self, event: Any) -> bool:
        """Can this event be composed with what is there?"""
        try:
            self._composed + self._node(event)
        except SymacctError:
            return False
        return True

    def compose(self, event: Any, count: int = 1) -> Self:
        """Add `count` runs of an event or a node; raises where it cannot be read."""
        runs = whole(count, "compose, count")
        self._composed = Compose(self._composed, {self._node(event): runs})
        return self

    def _node(self, event: Any) -> Node:
        return event if isinstance(event, Node) else from_dp_event(event, self._relation)

    def get_epsilon(self, target_delta: Any) -> float:
        """The smallest ε(δ) over the orders, rounded up."""
        return self.get_epsilon_and_optimal_order(target_delta)[0]

    def get_epsilon_and_optimal_order(self, target_delta: Any) -> tuple[float, float]:
        """(ε(δ) rounded up, the order that gives it)"""
        return _with_order(self._ask(self._accountant.epsilon, target_delta))

    def get_delta(self, target_epsilon: Any) -> float:
        """The smallest δ(ε) over the orders, rounded up."""
        return self.get_delta_and_optimal_order(target_epsilon)[0]

    def get_delta_and_optimal_order(self, target_epsilon: Any) -> tuple[float, float]:
        """(δ(ε) rounded up, the order that gives it)"""
        return _with_order(self._ask(self._accountant.delta, target_epsilon))

    def _ask(self, question: Any, target: Any) -> Guarantee:
        return question(self._composed, target, self._conversion, self._orders)


def _with_order(guarantee: Guarantee) -> tuple[float, float]:
    return float(guarantee.asked), float(guarantee.alpha)
