"""Sums of moments made of exponentials over a whole run of orders, from few exponentials in all.

A closed form is e^{(l−1)ε(l)} − 1 = Σ_i c_i(l) (e^{a_i + d_i·l} − 1) / m(l).  Weighted by w_l x^l
and summed over a run, it is Σ_i e^{a_i} P_i(x e^{d_i}) − P_i(x), where the polynomial P_i has the
coefficients w_l c_i(l)/m(l).  A leaf's own formula gives a, c, d and m in the arithmetic below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_poly

from symacct.arithmetic import Arithmetic, BallArithmetic, Number
from symacct.core.exact import Numeric


@dataclass(frozen=True)
class LinearExponent:
    """The numbers a + d·l at the orders l of a run."""

    orders: np.ndarray
    a: int | arb = 0
    d: int | arb = 1

    def numbers(self) -> np.ndarray:
        """One for each order: whole numbers or balls, never floats."""
        return self.a + self.d * self.orders

    def expm1(self) -> ExponentialSum:
        """e^{a + d·l} − 1."""
        return ExponentialSum([(1, self)])

    def __add__(self, other: object) -> Any:
        if isinstance(other, int | arb):
            return LinearExponent(self.orders, self.a + other, self.d)
        return NotImplemented

    def __mul__(self, other: object) -> Any:
        if isinstance(other, int | arb):
            return LinearExponent(self.orders, self.a * other, self.d * other)
        return NotImplemented

    def __neg__(self) -> LinearExponent:
        return LinearExponent(self.orders, -self.a, -self.d)

    def __sub__(self, other: LinearExponent | int | arb) -> Any:
        return self + -other

    def __rsub__(self, other: object) -> Any:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


@dataclass(frozen=True)
class ExponentialSum:
    """Σ_i c_i (e^{a_i + d_i·l} − 1) / m over a run; each c_i and m is a number or one per order."""

    parts: list[tuple[Any, LinearExponent]]
    m: Any = 1

    def __add__(self, other: object) -> Any:
        if isinstance(other, ExponentialSum):
            mine, theirs = self._times(other.m), other._times(self.m)
            return ExponentialSum(mine + theirs, self.m * other.m)
        return NotImplemented

    def __sub__(self, other: ExponentialSum) -> Any:
        return self + other * -1

    def __mul__(self, other: object) -> Any:
        factor = other.numbers() if isinstance(other, LinearExponent) else other
        if isinstance(factor, int | arb | np.ndarray):
            return ExponentialSum(self._times(factor), self.m)
        return NotImplemented

    def __truediv__(self, other: object) -> Any:
        factor = other.numbers() if isinstance(other, LinearExponent) else other
        if isinstance(factor, int | arb | np.ndarray):
            return ExponentialSum(self.parts, self.m * factor)
        return NotImplemented

    __rmul__ = __mul__

    def _times(self, factor: int | arb | np.ndarray) -> list[tuple[Any, LinearExponent]]:
        return [(c * factor, line) for c, line in self.parts]

    def summed(self, weights: np.ndarray, x: arb) -> list[arb]:
        """All e^{a_i + d_i·low} P_i(x e^{d_i}) and −P_i(x), divided by x^low.

        The weights w_l, one for each order from low on, are balls.
        """
        m = self.m
        if isinstance(m, np.ndarray):
            weights, m = weights / m, 1
        values = []
        for c, line in self.parts:
            varies = isinstance(c, np.ndarray)
            polynomial = arb_poly((weights * c if varies else weights).tolist())
            scale = 1 / arb(m) if varies else arb(c) / m
            rise = arb(line.a + line.d * int(line.orders[0])).exp()
            values += [scale * rise * polynomial(x * arb(line.d).exp()), -scale * polynomial(x)]
        return values


class ExponentialArithmetic(BallArithmetic):
    """Balls, and for the order the whole run of them."""

    def number(self, value: Numeric | LinearExponent) -> Number:
        return value if isinstance(value, LinearExponent) else super().number(value)


EXPONENTIALS = ExponentialArithmetic()


def over_run(formula: Callable[[Arithmetic], Any], orders: range) -> ExponentialSum | None:
    """The value formula(arithmetic)(l) over a run, None where it is made of anything else."""
    try:
        value = formula(EXPONENTIALS)(
            LinearExponent(np.arange(orders.start, orders.stop).astype(object))
        )
    except (AttributeError, TypeError):
        return None
    return value if isinstance(value, ExponentialSum) else None


def binomial_weights(alpha: int, orders: range) -> np.ndarray:
    """Balls for C(α,l)/C(α,low) at the orders of a run that starts at low."""
    l = np.arange(orders.start, orders.stop - 1).astype(object)
    ratios = arb(1) * (alpha - l) / (l + 1)
    return np.multiply.accumulate(np.concatenate([[arb(1)], ratios]))
