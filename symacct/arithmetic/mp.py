"""mpmath numbers in a context of their own: the second, independent engine."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from symacct.arithmetic.expression import evaluate
from symacct.exact import INFINITY, exact


class MpmathArithmetic:
    """mpf numbers of a private context at `bits` bits: roundings are not tracked."""

    certified = False

    def __init__(self, bits: int) -> None:
        self.mp = MPContext()
        self.mp.prec = bits

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
        return self.mp.expm1(x)

    def log(self, x: Any) -> Any:
        return self.mp.log(x)

    def log1p(self, x: Any) -> Any:
        return self.mp.log1p(x)

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
