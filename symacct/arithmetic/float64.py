"""float64 in the log domain: sign and log|x|, whole numpy arrays at a time; never overflows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from symacct.arithmetic.expression import evaluate
from symacct.exact import INFINITY, exact

Array = np.ndarray

# Below this log, x, e^x − 1 and log(1 + x) are one float64.
_NEGLIGIBLE = -37.0


class LogNumber:
    """A real number, or an array of them, as (sign, log|x|)."""

    __slots__ = ("log", "sign")
    __array_ufunc__ = None  # numpy scalars on the left leave the work to us

    def __init__(self, sign: Any, log: Any) -> None:
        self.sign = np.asarray(sign, dtype=np.float64)
        self.log = np.asarray(log, dtype=np.float64)

    @classmethod
    def of(cls, x: Any) -> LogNumber:
        """The LogNumber of an int (of any size), a float or an array."""
        if isinstance(x, LogNumber):
            return x
        if isinstance(x, int):
            return cls(np.sign(x), _log_int(abs(x)))
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return cls(np.sign(x), np.log(np.abs(x)))

    def value(self) -> Array:
        """The plain float64 value; ±inf and 0 where the magnitude is out of range."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.where(self.sign == 0, 0.0, self.sign * np.exp(self.log))

    def __neg__(self) -> LogNumber:
        return LogNumber(-self.sign, self.log)

    def __add__(self, other: Any) -> LogNumber:
        return _add(self, LogNumber.of(other))

    def __sub__(self, other: Any) -> LogNumber:
        return _add(self, -LogNumber.of(other))

    def __rsub__(self, other: Any) -> LogNumber:
        return _add(LogNumber.of(other), -self)

    def __mul__(self, other: Any) -> LogNumber:
        other = LogNumber.of(other)
        sign = self.sign * other.sign
        with np.errstate(invalid="ignore"):
            return LogNumber(sign, np.where(sign == 0, -np.inf, self.log + other.log))

    def __truediv__(self, other: Any) -> LogNumber:
        other = LogNumber.of(other)
        with np.errstate(invalid="ignore"):
            log = np.where(self.sign == 0, -np.inf, self.log - other.log)
        return LogNumber(np.where(other.sign == 0, np.nan, self.sign * other.sign), log)

    def __rtruediv__(self, other: Any) -> LogNumber:
        return LogNumber.of(other) / self

    def __pow__(self, exponent: Any) -> LogNumber:
        """Whole powers of any number, real powers of a nonnegative one; 0^0 = 1."""
        power = np.asarray(exponent, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            log = np.where(power == 0, 0.0, self.log * power)
        odd = np.mod(power, 2) == 1
        sign = np.where(odd | (self.sign >= 0), self.sign, np.abs(self.sign))
        return LogNumber(np.where(power == 0, 1.0, sign), log)

    def __lt__(self, other: Any) -> bool:
        """Is every element smaller?"""
        return bool(np.all((self - other).sign < 0))

    def __gt__(self, other: Any) -> bool:
        """Is every element larger?"""
        return bool(np.all((self - other).sign > 0))

    __radd__ = __add__
    __rmul__ = __mul__


def _log_int(x: int) -> float:
    """log x of an int of any size; −∞ at 0."""
    if x == 0:
        return -np.inf
    shift = max(0, x.bit_length() - 60)
    return float(np.log(float(x >> shift)) + shift * np.log(2.0))


def _add(a: LogNumber, b: LogNumber) -> LogNumber:
    """log|a ± b| from the larger magnitude, so that nothing overflows."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        swap = b.log > a.log
        high, low = np.where(swap, b.log, a.log), np.where(swap, a.log, b.log)
        ratio = np.where(np.isneginf(low), 0.0, np.exp(low - high))
        ratio = np.where(np.isposinf(high) & np.isposinf(low), 1.0, ratio)
        same = np.where(swap, b.sign, a.sign) * np.where(swap, a.sign, b.sign)
        log = high + np.log1p(np.where(same < 0, -ratio, np.where(same == 0, 0.0, ratio)))
        sign = np.where(swap, b.sign, a.sign)
    return LogNumber(np.where(np.isneginf(log), 0.0, sign), log)


class Float64Arithmetic:
    """LogNumbers: about 15 digits, no bound on the error; meant for pictures and for searching."""

    certified = False
    bits = 53

    def number(self, value: Any) -> LogNumber:
        if isinstance(value, LogNumber | np.ndarray | int):
            return LogNumber.of(value)
        if value == INFINITY:
            return LogNumber(1.0, np.inf)
        value = exact(value)
        if isinstance(value, Fraction):
            return LogNumber.of(value.numerator) / LogNumber.of(value.denominator)
        return evaluate(self, value)

    def pi(self) -> LogNumber:
        return LogNumber.of(np.pi)

    def exp(self, x: LogNumber) -> LogNumber:
        return LogNumber(1.0, x.value())

    def expm1(self, x: LogNumber) -> LogNumber:
        value = x.value()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            plain = np.log(np.abs(np.expm1(np.minimum(value, 700.0))))
            large = value + np.log1p(-np.exp(-np.maximum(value, 1.0)))
            log = np.where(value > 30.0, large, plain)
        return LogNumber(x.sign, np.where(x.log < _NEGLIGIBLE, x.log, log))

    def log(self, x: LogNumber) -> LogNumber:
        if np.any(x.sign < 0):
            raise ArithmeticError("logarithm of a negative float64 number")
        return LogNumber.of(x.log)

    def log1p(self, x: LogNumber) -> LogNumber:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            negative = np.log(-np.log1p(-np.exp(np.minimum(x.log, 0.0))))
            positive = np.log(np.logaddexp(0.0, x.log))
        log = np.where(x.sign < 0, negative, positive)
        return LogNumber(x.sign, np.where(x.log < _NEGLIGIBLE, x.log, log))

    def sqrt(self, x: LogNumber) -> LogNumber:
        return LogNumber(x.sign, x.log / 2)

    def power(self, x: LogNumber, y: Any) -> LogNumber:
        return x ** (y.value() if isinstance(y, LogNumber) else y)

    def binomial(self, n: Any, k: int) -> LogNumber:
        result = LogNumber.of(1)
        for i in range(k):
            result = result * (np.asarray(n, dtype=np.float64) - i) / (i + 1)
        return result

    def sum(self, term: Callable[[int], Any], first: int, last: Any) -> LogNumber:
        last = np.asarray(last)
        total = LogNumber(0.0, -np.inf) * np.ones(last.shape)
        for i in range(first, int(np.max(last)) + 1):
            total = total + LogNumber.of(term(i)) * np.where(i <= last, 1.0, 0.0)
        return total

    def minimum(self, *xs: LogNumber) -> LogNumber:
        return LogNumber.of(reduce(np.minimum, [x.value() for x in xs]))

    def maximum(self, *xs: LogNumber) -> LogNumber:
        return LogNumber.of(reduce(np.maximum, [x.value() for x in xs]))

    def is_zero(self, x: LogNumber) -> bool:
        return bool(np.all(x.sign == 0))

    def is_infinite(self, x: LogNumber) -> bool:
        return bool(np.all(np.isposinf(x.log) & (x.sign > 0)))


FLOAT64 = Float64Arithmetic()
