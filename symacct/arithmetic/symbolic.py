"""SymPy expressions: the formula itself, sums and binomials kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from symacct.exact import INFINITY, expression

# Summation indices, outermost first; a formula nests no deeper than the limit on depth.
_INDEX_NAMES = ("l", "j", "i", "k")


class SymbolicArithmetic:
    """SymPy expressions; nothing is evaluated, so nothing is rounded."""

    certified = True
    bits = 0  # nothing is rounded

    def __init__(self) -> None:
        self._depth = 0

    def number(self, value: Any) -> sympy.Expr:
        if value == INFINITY:
            return sympy.oo
        return expression(value)

    def pi(self) -> sympy.Expr:
        return sympy.pi

    def exp(self, x: Any) -> sympy.Expr:
        return sympy.exp(x)

    def expm1(self, x: Any) -> sympy.Expr:
        return sympy.exp(x) - 1

    def log(self, x: Any) -> sympy.Expr:
        return sympy.log(x)

    def log1p(self, x: Any) -> sympy.Expr:
        return sympy.log(1 + x)

    def sqrt(self, x: Any) -> sympy.Expr:
        return sympy.sqrt(x)

    def power(self, x: Any, y: Any) -> sympy.Expr:
        return self.number(x) ** y

    def binomial(self, n: Any, k: Any) -> sympy.Expr:
        return sympy.binomial(n, k)

    def sum(self, term: Callable[[Any], Any], first: int, last: Any) -> sympy.Expr:
        """Σ as an unevaluated Sum; nested sums get indices of their own."""
        name = _INDEX_NAMES[self._depth % len(_INDEX_NAMES)]
        turn = self._depth // len(_INDEX_NAMES)
        index = sympy.Symbol(f"{name}_{turn}" if turn else name, integer=True, positive=True)
        self._depth += 1
        try:
            summand = term(index)
        finally:
            self._depth -= 1
        return sympy.Sum(summand, (index, first, last))

    def minimum(self, *xs: Any) -> sympy.Expr:
        return sympy.Min(*xs)

    def maximum(self, *xs: Any) -> sympy.Expr:
        return sympy.Max(*xs)

    def is_zero(self, x: Any) -> bool:
        return bool(x == 0)

    def is_infinite(self, x: Any) -> bool:
        return bool(x == sympy.oo)
