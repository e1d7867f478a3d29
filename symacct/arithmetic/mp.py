"""mpmath numbers in a context of their own: the second, independent engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from symacct.arithmetic.context import PlainGaps
from symacct.arithmetic.expression import evaluate
from symacct.exact import INFINITY, exact


class MpmathArithmetic(PlainGaps):
    """mpf numbers of a private context at `bits` bits: roundings are not tracked.

    They all go one way, here downwards.
    """

    certified = False
    rounds = True
    rounding = "f"

    def __init__(self, bits: int) -> None:
        self.mp = MPContext()
        self.mp.prec = bits
        self.mp._prec_rounding[1] = self.rounding

    @property
    def bits(self) -> int:
        return int(self.mp.prec)

    def number(self, value: Any) -> Any:
        if isinstance(value, int):
            return self.mp.mpf(value)
        if value == INFINITY:
            return self.mp.inf
        value = exact(value)
        if isinstance(value, Fraction):
            return self.mp.mpf(value.numerator) / value.denominator
        return evaluate(self, value)

    def pi(self) -> Any:
        return +self.mp.pi

    def exp(self, x: Any) -> Any:
        return self.mp.exp(x)

    def expm1(self, x: Any) -> Any:
        return self.mp.mpf(-1) if x == self.mp.ninf else self.mp.expm1(x)

    def log(self, x: Any) -> Any:
        return self.mp.log(x)

    def log1p(self, x: Any) -> Any:
        return self.mp.log1p(x)

    def exp_gap(self, x: Any) -> Any:
        with self._twice_the_digits(x):
            gap = super().exp_gap(x)
        return +gap

    def power_gap(self, gamma: Any, x: Any, lam: Any) -> Any:
        with self._twice_the_digits(gamma * self.expm1(x)):
            gap = super().power_gap(gamma, x, lam)
        return +gap

    def entropy_gap(self, gamma: Any, x: Any) -> Any:
        with self._twice_the_digits(gamma * self.expm1(x)):
            gap = super().entropy_gap(gamma, x)
        return +gap

    def _twice_the_digits(self, x: Any) -> Any:
        """What is of the second order in x loses as many digits as x is small."""
        spare = max(0, -2 * self.mp.mag(x)) if x and self.mp.isfinite(x) else 0
        return self.mp.workprec(2 * self.bits + spare)

    def sqrt(self, x: Any) -> Any:
        return self.mp.sqrt(x)

    def power(self, x: Any, y: Any) -> Any:
        return x if x == 0 and y > 0 else self.mp.power(x, y)

    def binomial(self, n: int, k: int) -> Any:
        return self.mp.binomial(n, k)

    def sum(self, term: Callable[[int], Any], first: int, last: int) -> Any:
        return self.mp.fsum(term(i) for i in range(first, last + 1))

    def minimum(self, *xs: Any) -> Any:
        return min(xs)

    def maximum(self, *xs: Any) -> Any:
        return max(xs)

    def is_zero(self, x: Any) -> bool:
        return bool(x == 0)

    def is_infinite(self, x: Any) -> bool:
        return bool(x == self.mp.inf)


class UpwardMpmathArithmetic(MpmathArithmetic):
    """The same, rounded upwards."""

    rounding = "c"
