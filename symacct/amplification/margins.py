"""Conditions of theorems on numbers, decided by certified balls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from symacct import sizes
from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.errors import OrderError, PrecisionError, echo
from symacct.exact import Exact, Order

# A margin is a number whose sign decides: the condition holds where it is >= 0 (or > 0).
Margin = Callable[[], Any]


def holds(margin: Margin, what: str, strict: bool = False) -> bool:
    """Is the margin >= 0 (> 0 if `strict`)? PrecisionError where no precision decides."""
    bits = 64
    while bits <= sizes.current().bits:
        with precision(bits):
            value = margin()
            if value > 0 or (value >= 0 and not strict):
                return True
            if value < 0 or (value <= 0 and strict):
                return False
        bits *= 2
    raise PrecisionError(f"{what}: too close to equality to decide within {bits // 2} bits")


def failing(conditions: Iterable[tuple[str, Margin, bool]]) -> str | None:
    """The first condition that fails, in words; None if all hold."""
    return next(
        (text for text, margin, strict in conditions if not holds(margin, text, strict)), None
    )


def require_orders(name: str, alpha: Order, conditions: Callable[[Any], Iterable[Any]]) -> None:
    """OrderError naming the condition that fails at α, one order or an array of them.

    A symbolic order is taken to satisfy them: the formula stands under its assumptions.
    """
    if isinstance(alpha, sympy.Expr):
        return
    for one in np.unique(alpha) if isinstance(alpha, np.ndarray) else [alpha]:
        order = Fraction(float(one)) if isinstance(one, np.floating) else one
        failed = failing(conditions(order))
        if failed is not None:
            raise OrderError(
                f"{name} needs {failed}, which fails at order {echo(one)}; "
                "ask for a lower order, or leave out by= for the default bound"
            )


def are_numbers(*values: Exact) -> bool:
    """Are these numbers, rational or not, in which no symbol is left open?"""
    return all(isinstance(value, Fraction) or not value.free_symbols for value in values)


def number(value: Exact | int) -> Any:
    """A ball at the current precision."""
    return BALL.number(value)
