"""Conditions of theorems as data: an inequality with its sides, in any arithmetic, and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from symacct.arithmetic import Arithmetic, Number
from symacct.exact import Exact, Order

Of = TypeVar("Of")
#: A side of an inequality: (ctx, …) → its value, from the quantities that `words` name.
Side = Callable[..., Number]


@dataclass(frozen=True)
class Inequality:
    """left <= right, or left < right where it is `strict`; `words` say it as the page does."""

    words: str
    left: Side
    right: Side
    strict: bool = False

    def sides(self, ctx: Arithmetic, *quantities: Exact | Order | Number) -> tuple[Number, Number]:
        """Both sides in an arithmetic."""
        numbers = [ctx.number(quantity) for quantity in quantities]
        return self.left(ctx, *numbers), self.right(ctx, *numbers)


@dataclass(frozen=True)
class Regime(Generic[Of]):
    """Where a theorem holds: conditions on the node's quantities, and on those and the order."""

    quantities: Callable[[Of], tuple[Exact | float, ...]]
    of_node: tuple[Inequality, ...] = ()
    of_order: tuple[Inequality, ...] = ()
