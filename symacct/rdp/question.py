"""An (ε, δ) question, and what a conversion makes of a curve's value in answer to it.

Also which answer is given where what was asked for is not to be had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.arithmetic import BALL
from symacct.core.errors import InfiniteError, LimitError, PrecisionError, SymacctError
from symacct.core.exact import Order, text
from symacct.core.pinning import By
from symacct.expressions.node import Node
from symacct.results.enclosure import Guarantee
from symacct.theory.conversion.conversion import Conversion, WholeProfile

_FEWER = range(1, 7)  # digits, where those asked for are out of reach: more are refused late


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


def by_the_profile(
    ask: Callable[[int], Guarantee],
    digits: int,
    is_default: bool,
    by_the_curve: Callable[[], Guarantee] | None,
) -> Guarantee:
    """The exact profile's answer, or the curve's where that is asked beside it and smaller.

    Where the digits are out of reach, those there are if no digits were asked for or there is a
    curve's answer beside, else the error at once. What was not had is said in words.
    """
    refused: SymacctError | None = None
    found: Guarantee | None = None
    try:
        found = ask(digits)
    except InfiniteError as error:
        if by_the_curve is None:
            raise
        refused = error
    except (PrecisionError, LimitError) as error:
        if not is_default and by_the_curve is None:
            raise
        found = _to_fewer(ask, digits, error)
        refused = error if found is None or found.note else None
    if by_the_curve is not None:
        with suppress(*([PrecisionError, LimitError, InfiniteError] if found else [])):
            other = by_the_curve()
            if found is None or other.asked.upper < found.asked.upper:
                return replace(other, note=_instead(found, refused))
    if found is None:
        assert refused is not None  # noqa: S101  # else it was found
        raise refused
    return found


def _to_fewer(ask: Callable[[int], Guarantee], digits: int, why: Exception) -> Guarantee | None:
    """To some digits, if there are any: each time to more, until they are refused."""
    found: Guarantee | None = None
    for few in _FEWER:
        if few >= digits or (found is not None and found.asked.digits >= few):
            continue
        try:
            found = ask(few)
        except (PrecisionError, LimitError):
            break
    if found is None:
        return None
    had = max(found.asked.digits_asked, math.floor(min(found.asked.digits, digits)))
    name = "epsilon" if found.epsilon is found.asked else "delta"
    shown: dict[str, Any] = {name: replace(found.asked, digits_asked=had)}
    note = f"{had} digits are known of the {digits} asked for: {_reason(why)}"
    return replace(found, note=note if had < digits else "", **shown)


def _instead(found: Guarantee | None, refused: Exception | None) -> str:
    """Why the curve answers where conversion='exact' was asked for."""
    why = f"gives no less than {found}" if found else f"was refused: {_reason(refused)}"
    return f"conversion='exact' was asked for and {why}"


def _reason(error: Exception | None) -> str:
    """What an error found, without its remedies."""
    return str(error).split(";")[0]
