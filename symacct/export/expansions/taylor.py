"""Certified remainders: f^{(n)}/n! enclosed over an interval, by Taylor series with ball centres.

If γ = ξ + x with ξ the ball [a, b], the coefficient of x^n in f holds f^{(n)}(ξ)/n! for every ξ
in [a, b]: Lagrange's remainder of the expansion at 0 is ξ's part of it, times γ^n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import methodcaller
from typing import TypeAlias

import flint
import sympy
from flint import arb, arb_series

from symacct.kernel.arithmetic.ball import BALL, precision
from symacct.kernel.arithmetic.context import Number, PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.exact import Exact, Order
from symacct.kernel.node import Mechanism
from symacct.theory.amplification.pairs import expectation

#: A ball, or a Taylor series of balls.
Taylor: TypeAlias = Number


class Unproved(Exception):  # never leaves this package: there is then no remainder
    """The enclosure cannot be had this way."""


class Reciprocal:
    """1/x for a Taylor series x that may be 0: only quotients by it and its powers are numbers."""

    def __init__(self, inverse: Taylor) -> None:
        self.inverse = inverse

    def __rtruediv__(self, other: Taylor) -> Taylor:
        return other * self.inverse

    def __mul__(self, other: Taylor | Reciprocal) -> Reciprocal:
        if isinstance(other, arb_series | Reciprocal):
            raise Unproved
        return Reciprocal(self.inverse / other)

    __rmul__ = __mul__

    def __truediv__(self, other: Taylor) -> Reciprocal:
        return Reciprocal(self.inverse * other)

    def __pow__(self, exponent: int) -> Reciprocal:
        return Reciprocal(self.inverse**exponent)


class TaylorArithmetic(PlainGaps):
    """Balls, and Taylor series of balls in x, the variable being [low, high] + x, or its 1/x."""

    certified = True

    def __init__(
        self, variable: sympy.Symbol, low: Fraction, high: Fraction, reciprocal: bool
    ) -> None:
        self.variable = variable
        centre = arb_series([BALL.number(low).union(BALL.number(high)), 1])
        self.value = Reciprocal(centre) if reciprocal else centre

    @property
    def bits(self) -> int:
        return BALL.bits

    def number(self, value: Exact | int | float) -> Taylor:
        if isinstance(value, sympy.Expr) and value.has(self.variable):
            return evaluate(self, value, {self.variable: self.value})
        return BALL.number(value)

    pi = staticmethod(arb.pi)

    exp = staticmethod(methodcaller("exp"))
    log = staticmethod(methodcaller("log"))
    sqrt = staticmethod(methodcaller("sqrt"))

    def expm1(self, x: Taylor) -> Taylor:
        return x.exp() - 1 if isinstance(x, arb_series) else x.expm1()

    def log1p(self, x: Taylor) -> Taylor:
        return (1 + x).log() if isinstance(x, arb_series) else x.log1p()

    def power(self, x: Taylor, y: Taylor) -> Taylor:
        if isinstance(x, arb_series) or isinstance(y, arb_series):
            return (y * x.log()).exp()
        return BALL.power(x, y)

    binomial = staticmethod(BALL.binomial)

    def minimum(self, *xs: Taylor) -> Taylor:
        self._refuse_series(xs)
        return BALL.minimum(*xs)

    def maximum(self, *xs: Taylor) -> Taylor:
        self._refuse_series(xs)
        return BALL.maximum(*xs)

    def _refuse_series(self, xs: tuple[Taylor, ...]) -> None:
        if any(isinstance(x, arb_series) for x in xs):
            raise Unproved

    def is_below(self, a: Taylor, b: Taylor) -> bool:
        raise Unproved  # which bound is the smaller all over an interval is not looked into

    def is_zero(self, x: Taylor) -> bool:
        return isinstance(x, arb) and BALL.is_zero(x)

    def is_infinite(self, x: Taylor) -> bool:
        return isinstance(x, arb) and BALL.is_infinite(x)


@expectation.register
def _(ctx: TaylorArithmetic, mechanism: Mechanism, gamma: Taylor, alpha: Order) -> Taylor:
    raise Unproved  # E_Q[(P/Q−1)^n m^{α−n}] over an interval of γ has no formula here


@contextmanager
def taylor_precision(bits: int, terms: int) -> Iterator[None]:
    """Balls at `bits` bits and Taylor series up to x^{terms−1}, in this thread only."""
    with precision(bits):
        before = flint.ctx.cap
        flint.ctx.cap = terms
        try:
            yield
        finally:
            flint.ctx.cap = before


def coefficient_over(
    value: Callable[[TaylorArithmetic], Taylor],
    variable: sympy.Symbol,
    until: Fraction,
    power: int,
    reciprocal: bool,
    pieces: int,
) -> arb:
    """The hull of f^{(power)}(ξ)/power! for 0 <= ξ <= until, piece by piece."""
    found: arb | None = None
    for piece in range(pieces):
        low, high = until * Fraction(piece, pieces), until * Fraction(piece + 1, pieces)
        series = value(TaylorArithmetic(variable, low, high, reciprocal))
        ball = series[power] if isinstance(series, arb_series) else arb(0)
        if not ball.is_finite():
            raise Unproved
        found = ball if found is None else found.union(ball)
    assert found is not None  # noqa: S101  # there is at least one piece
    return found
