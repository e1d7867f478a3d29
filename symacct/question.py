"""An (ε, δ) question, and what a conversion makes of a curve's value in answer to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL
from symacct.conversion.conversion import Conversion, WholeProfile
from symacct.enclosure import Guarantee
from symacct.errors import InfiniteError, LimitError, PrecisionError
from symacct.exact import Order, text
from symacct.expr import Node
from symacct.options import By


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """An (ε, δ) question: the node, how to convert, and the number given."""

    m: Node
    by: By
    conversion: Conversion | WholeProfile
    given: str
    value: Fraction

    @property
    def per_order(self) -> Conversion:
        """The conversion, which has a formula at each order."""
        assert isinstance(self.conversion, Conversion)  # noqa: S101  # the exact profile has none
        return self.conversion

    @property
    def asks_epsilon(self) -> bool:
        """Is δ given?"""
        return self.given == "delta"

    @property
    def key(self) -> tuple[object, ...]:
        """All that the answer depends on, beside the node, the orders and the digits."""
        # A fraction works its hash out anew each time, which takes as long as a sum.
        return self.by, self.conversion, self.given, *self.value.as_integer_ratio()

    def exact_key(self, digits: int) -> tuple[Hashable, ...]:
        """What the exact profile's answer depends on, as the first of an evaluation's key."""
        return type(BALL).__name__, digits, self.given, text(self.value)

    def objective(self) -> Callable[[arb, Order], arb]:
        """ε(α) and α ↦ what the conversion makes of it: an ε, or a log δ; ∞ where that is."""
        given, asks_epsilon = BALL.number(self.value), self.asks_epsilon
        formula = self.per_order.epsilon if asks_epsilon else self.per_order.log_delta

        def converted(eps: arb, alpha: Order) -> arb:
            if BALL.is_infinite(eps):
                return arb("inf")
            if eps.is_zero():  # at any order: the two laws are one
                return arb(0 if asks_epsilon else "-inf")
            found: arb = formula(BALL, eps, BALL.number(alpha), given)
            return found

        return converted

    def answer(self, ball: arb) -> arb:
        """The number asked, from the objective: clamped to ε >= 0 and δ <= 1."""
        if self.asks_epsilon:
            return arb(0) if ball < 0 else ball
        return arb(1) if ball > 0 else ball.exp()


def smaller(*asked: Callable[[], Guarantee]) -> Guarantee:
    """The least of the upper bounds that are finite and have digits; else the last one's error."""
    found: list[Guarantee] = []
    for ask in asked:
        try:
            found.append(ask())
        except (PrecisionError, LimitError, InfiniteError):
            if ask is asked[-1] and not found:
                raise
    return min(found, key=lambda guarantee: guarantee.asked.upper)
