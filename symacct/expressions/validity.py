"""Where theorems hold, as data: inequalities in any arithmetic, each said in words as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from symacct.arithmetic import BallArithmetic, Number
from symacct.arithmetic.ball import BALL, doubled, precision
from symacct.core import limits
from symacct.core.errors import OrderError, PrecisionError, echo
from symacct.core.exact import Exact, Numeric, Order
from symacct.core.lazy_import import sympy
from symacct.expressions.node import Node
from symacct.expressions.words import unmarked


@dataclass(frozen=True)
class Inequality:
    """left <= right, or left < right where it is `strict`, of numbers of one arithmetic."""

    #: With the mathematics marked.
    words: str
    left: Number
    right: Number
    strict: bool = False

    def decided(self) -> bool | None:
        """Does it hold? None where balls overlap."""
        margin = self.right - self.left
        if margin > 0 or (margin >= 0 and not self.strict):
            return True
        return False if margin < 0 or (margin <= 0 and self.strict) else None


#: (ctx, …) ↦ inequalities between quantities, those first that make the others defined.
Conditions = Callable[..., Iterator[Inequality]]
#: What an inequality is about: exact numbers, ∞, or expressions.
Quantities = tuple[Exact | float, ...]


@dataclass(frozen=True)
class Regime:
    """The conditions on a mechanism's quantities and rate, and those on the order as well."""

    names: tuple[str, ...]
    quantities: Callable[[Node, Exact], Quantities]
    of_node: Conditions
    of_order: Conditions

    def __str__(self) -> str:
        """All of the conditions, marked as in a template, which are the same for all numbers."""
        given = [arb(1)] * len(self.names)
        asked = [*self.of_node(BALL, *given), *self.of_order(BALL, *given, arb(1))]
        return ", ".join(one.words for one in asked)

    def after(self, why_not: Callable[[Node], str | None]) -> Callable[[Node], str | None]:
        """What a theorem asks of a node: what is asked first, then the conditions on numbers."""
        return lambda node: why_not(node) or self._why_not(node.mechanism, node.gamma)  # type: ignore[attr-defined]

    def _why_not(self, mechanism: Node, gamma: Exact) -> str | None:
        """The condition that fails, and of what; None if all hold, or are the reader's to check."""
        given = self.quantities(mechanism, gamma)
        failed = None if _is_open(given) else _failing(self.of_node, given)
        if failed is None:
            return None
        found = ", ".join(
            f"{n} = {echo(value)}" for n, value in zip(self.names, given, strict=True)
        )
        return f"it needs {failed}, got {found}"

    def require(self, theorem: str, mechanism: Node, gamma: Exact, alpha: Order) -> None:
        """OrderError naming the condition that fails at α, or in an array of orders."""
        given = self.quantities(mechanism, gamma)
        is_number = isinstance(alpha, int | float | Fraction | np.ndarray | np.number)
        if not is_number or _is_open(given) or gamma == 0:
            return
        for one in np.unique(alpha) if isinstance(alpha, np.ndarray) else [alpha]:
            order = Fraction(float(one)) if isinstance(one, np.floating) else one
            failed = _failing(self.of_order, (*given, order))
            if failed is not None:
                raise OrderError(
                    f"{theorem} needs {failed}, which fails at order {echo(one)}",
                    remedy="ask for a lower order, or without by for the default bound",
                )


class _RationalsKept(BallArithmetic):
    """Balls, but of rational numbers only from the first logarithm on: equality is decided."""

    def number(self, value: Numeric) -> arb | fmpq:  # type: ignore[override]
        if isinstance(value, int | Fraction) or (
            isinstance(value, sympy.Expr) and value.is_Rational
        ):
            return fmpq(int(value.numerator), int(value.denominator))
        return BALL.number(value)

    def log(self, x: arb | fmpq) -> arb:
        return arb(x).log()

    def log1p(self, x: arb | fmpq) -> arb:
        return arb(x).log1p()


_DECIDING = _RationalsKept()


def _is_open(given: Quantities) -> bool:
    """Is a symbol left open? Irrational constants are numbers, and the conditions are asked."""
    return any(isinstance(value, sympy.Expr) and value.free_symbols for value in given)


def _failing(conditions: Conditions, given: tuple[Numeric, ...]) -> str | None:
    """The first condition that fails, in words; PrecisionError where no precision decides."""
    words = ""
    for bits in doubled(64):
        with precision(bits):
            for one in conditions(_DECIDING, *map(_DECIDING.number, given)):
                words, holds = unmarked(one.words), one.decided()
                if not holds:
                    break
            else:
                return None
        if holds is False:
            return words
    most = limits.current().bits
    raise PrecisionError(f"{words}: too close to equality to decide within {most} bits")
