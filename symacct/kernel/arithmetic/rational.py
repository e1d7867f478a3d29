"""Fractions, for formulas of + − × ÷ alone: their value is known itself, which no ball shows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

from symacct.kernel.exact import INFINITY


class NoFractionError(Exception):
    """A formula asks for a function whose value need not be a fraction."""


class RationalArithmetic:
    """Numbers are fractions; whatever leaves them, ∞ too, raises NoFractionError.

    Of an arithmetic's functions only those below exist: any other name gives one that refuses.
    """

    certified = True
    rounds = False
    bits = 0  # nothing is rounded

    def number(self, value: object) -> Fraction:
        """The fraction that a whole number, a fraction or a finite float is."""
        if isinstance(value, int | float | Fraction) and value != INFINITY:
            return Fraction(value)
        raise NoFractionError

    def minimum(self, *xs: object) -> Fraction:
        """The smallest of fractions."""
        return min(map(self.number, xs))

    def maximum(self, *xs: object) -> Fraction:
        """The largest of fractions."""
        return max(map(self.number, xs))

    def is_zero(self, x: object) -> bool:
        """Is the fraction 0?"""
        return self.number(x) == 0

    def is_infinite(self, x: object) -> bool:
        """False: no fraction is infinite; what is no fraction is refused."""
        self.number(x)
        return False

    def __getattr__(self, name: str) -> Any:
        """A function that raises NoFractionError, for exp, log, sqrt and what else there may be."""

        def refuse(*arguments: object) -> NoReturn:
            raise NoFractionError(name)

        return refuse
