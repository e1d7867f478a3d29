"""float64 as a sign, log|x| and a bound on its error that every operation carries on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import numpy as np
from flint import arb

from symacct.kernel import limits
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, Numeric, exact

Array: TypeAlias = np.ndarray
#: Plain floats, one or an array of them.
Floats: TypeAlias = Array | float
#: What stands beside a LogNumber.
Real: TypeAlias = "LogNumber | Array | float"

#: The largest relative error of one rounding to a double. Error bars rest on it.
_UNIT = 2.0**-53
#: A bound of the relative error of an elementary function of NumPy's, which is a few roundings.
#: Error bars rest on it; they are no proof.
_FUNCTION_ERROR = 8 * _UNIT
#: The smallest positive double, which bounds the absolute error of an underflow. Error bars rest on
#: it.
_TINY = 5e-324
#: The error of a logarithm, in nats, from which on its number is shown as unknown. A larger one
#: would show numbers without a digit.
_UNKNOWN_ERROR = 0.5
#: The logarithm of |x|, in nats, below which x, e^x − 1 and log(1 + x) are one double. A larger one
#: is wrong: the digits of small numbers rest on it.
_LINEAR_LOG = -37.0
#: The largest number of terms of a series that falls at least by halves; it has 53 bits by then.
#: Fewer would lose digits, more cost time.
_MOST_TERMS = 80
#: The number of terms of a long sum that are formed at once, so that they fit into memory. It costs
#: memory alone.
_BLOCK_TERMS = 1 << 18


class LogNumber:
    """A real number, or an array of them, as its sign (−1, 0 or 1) and log|x| in float64.

    `error` bounds the error of the log in nats, so the relative error of x, as far as NumPy's
    functions err by _FUNCTION_ERROR; it is ∞ where nothing is known. It is no proof.
    """

    __slots__ = ("error", "log", "sign")
    __array_ufunc__ = None  # numpy scalars on the left leave the work to us

    def __init__(self, sign: Floats, log: Floats, error: Floats = 0.0) -> None:
        self.sign = np.asarray(sign, dtype=np.float64)
        self.log = np.asarray(log, dtype=np.float64)
        error = np.asarray(error, dtype=np.float64)
        self.error = np.where(np.isnan(error) | np.isnan(self.log), np.inf, error)

    @classmethod
    def of(cls, x: Real) -> LogNumber:
        """The LogNumber of an int of any size, or of floats that are taken to be exact."""
        if isinstance(x, LogNumber):
            return x
        if isinstance(x, int):
            return _rounded(np.sign(x), _log_int(abs(x)), 0.0)
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return _rounded(np.sign(x), np.log(np.abs(x)), 0.0)

    @classmethod
    def from_parts(
        cls, shape: tuple[int, ...], parts: Iterable[tuple[Array | int, LogNumber]]
    ) -> LogNumber:
        """An array put together from parts and their places, which fill all of it."""
        fields = [np.empty(shape) for _ in range(3)]
        for chosen, part in parts:
            for field, values in zip(fields, (part.sign, part.log, part.error), strict=True):
                field[chosen] = values
        return cls(*fields)

    def known(self) -> Array:
        """The plain values, NaN where the error is _UNKNOWN_ERROR or more."""
        return np.where(self.error < _UNKNOWN_ERROR, self.value(), np.nan)

    def value(self) -> Array:
        """The plain float64 value, whatever its error; ±inf and 0 where it is out of range."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return np.where(self.sign == 0, 0.0, self.sign * np.exp(self.log))

    def __neg__(self) -> LogNumber:
        return LogNumber(-self.sign, self.log, self.error)

    def __add__(self, other: Real) -> LogNumber:
        return _add(self, LogNumber.of(other))

    def __sub__(self, other: Real) -> LogNumber:
        return _add(self, -LogNumber.of(other))

    def __rsub__(self, other: Real) -> LogNumber:
        return _add(LogNumber.of(other), -self)

    def __mul__(self, other: Real) -> LogNumber:
        """The product: logarithms and their errors add up; 0 times anything is 0."""
        other = LogNumber.of(other)
        sign = self.sign * other.sign
        with np.errstate(invalid="ignore"):
            log = np.where(sign == 0, -np.inf, self.log + other.log)
        zero = self._is_zero() | other._is_zero()
        return _rounded(sign, log, np.where(zero, 0.0, self.error + other.error))

    def __truediv__(self, other: Real) -> LogNumber:
        """The quotient: logarithms are subtracted, errors add up; NaN for a divisor of 0."""
        other = LogNumber.of(other)
        with np.errstate(invalid="ignore"):
            log = np.where(self.sign == 0, -np.inf, self.log - other.log)
        sign = np.where(other.sign == 0, np.nan, self.sign * other.sign)
        error = np.where(self._is_zero(), 0.0, self.error + other.error)
        return _rounded(sign, log, np.where(other.sign == 0, np.inf, error))

    def __rtruediv__(self, other: Real) -> LogNumber:
        return LogNumber.of(other) / self

    def __floordiv__(self, other: Real) -> LogNumber:
        return LogNumber.of(np.floor((self / other).value()))

    def __pow__(self, exponent: Real) -> LogNumber:
        """Whole powers of any number, real powers of one that is not negative; 0^0 = 1."""
        power, off = _exponent(exponent)
        with np.errstate(invalid="ignore"):
            log = np.where(power == 0, 0.0, self.log * power)
            error = np.where(self.error == 0, 0.0, self.error * np.abs(power))
            error = error + np.where(np.isfinite(log), np.abs(log) * off, 0.0)
        # A negative number has no real power, which is then not known; so it has no root.
        error = np.where((self.sign < 0) & (power != np.floor(power)), np.inf, error)
        odd = np.mod(power, 2) == 1
        sign = np.where(odd | (self.sign >= 0), self.sign, np.abs(self.sign))
        return _rounded(np.where(power == 0, 1.0, sign), log, np.where(power == 0, 0.0, error))

    def __lt__(self, other: LogNumber | float) -> bool:
        """Is every element smaller, by the values and not by their errors? It steers."""
        return bool(np.all((self - other).sign < 0))

    def __gt__(self, other: LogNumber | float) -> bool:
        """Is every element larger, by the values and not by their errors? It steers."""
        return bool(np.all((self - other).sign > 0))

    __radd__ = __add__
    __rmul__ = __mul__

    def total(self) -> LogNumber:
        """The sum of the elements of an array, which are not negative."""
        top = np.max(self.log)
        if not np.isfinite(top):
            return LogNumber(float(top > 0), top, np.max(self.error))
        with np.errstate(invalid="ignore", over="ignore"):
            shares = np.where(self.sign == 0, 0.0, np.exp(self.log - top))
            whole = np.sum(shares)
            # The logarithm of a sum moves by at most the mean of what its terms move by.
            off = np.where(shares > 0, np.expm1(self.error) + _UNIT * (top - self.log), 0.0)
            error = np.log1p(np.sum(shares * off) / whole) + 2 * _FUNCTION_ERROR
        return _rounded(1.0, top + np.log(whole), error)

    def _is_zero(self) -> Array:
        """Which elements are exactly 0, without an error."""
        zero: Array = (self.sign == 0) & (self.error == 0)
        return zero


def _rounded(sign: Floats, log: Floats, error: Floats) -> LogNumber:
    """The number of this log, whose error grows by that of a log just computed: 4 units of it."""
    off = np.where(np.isfinite(log), 4 * _UNIT * np.abs(log), 0.0)
    return LogNumber(sign, log, error + off)


def _exponent(x: Real) -> tuple[Array, Floats]:
    """An exponent as a float, and a bound on its relative error: 0 for a whole one."""
    if isinstance(x, LogNumber):
        return x.value(), np.expm1(x.error) + _FUNCTION_ERROR
    power = np.asarray(x, dtype=np.float64)
    return power, np.where(power == np.floor(power), 0.0, _UNIT)


def _log_int(x: int) -> float:
    """log x of an int of any size; −∞ at 0."""
    if x == 0:
        return -np.inf
    shift = max(0, x.bit_length() - 60)
    return float(np.log(float(x >> shift)) + shift * np.log(2.0))


def _log1mexp(x: Array) -> Array:
    """log(1 − e^x) for x <= 0, without cancellation; −∞ at 0."""
    with np.errstate(divide="ignore"):
        log: Array = np.where(x > -0.7, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))
    return log


def _add(a: LogNumber, b: LogNumber) -> LogNumber:
    """a + b from the larger magnitude, so that nothing overflows.

    The error is ∞ where the two may cancel altogether, and 0 for an exact 0.
    """
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        swap = b.log > a.log
        high, low = np.where(swap, b.log, a.log), np.where(swap, a.log, b.log)
        sign, other = np.where(swap, b.sign, a.sign), np.where(swap, a.sign, b.sign)
        above, below = np.where(swap, b.error, a.error), np.where(swap, a.error, b.error)
        down = np.where(np.isneginf(low), -np.inf, low - high)
        down = np.where(np.isposinf(high) & np.isposinf(low), 0.0, down)
        # How far the smaller one may move against the larger one.
        below = below + np.where(np.isfinite(down), _UNIT * np.abs(down), 0.0)
        sums = _sum_of_logs(down, below - above), _difference_of_logs(down, below + above)
        apart = sign * other < 0
        change, error = (np.where(apart, sums[1][k], sums[0][k]) for k in (0, 1))
        log = high + change
        error = above + error + 3 * _FUNCTION_ERROR * np.abs(change) + _TINY * (low > -np.inf)
    error = np.where(np.isposinf(high) & ~apart, above, error)
    error = np.where(np.isneginf(low) & (below > 0), np.inf, error)  # it may be any number
    gone = np.isneginf(log)
    both = np.where(a._is_zero() & b._is_zero(), 0.0, np.inf)
    exactly = np.where((a.error == 0) & (b.error == 0), 0.0, both)
    return _rounded(np.where(gone, 0.0, sign), log, np.where(gone, exactly, error))


def _sum_of_logs(down: Array, moves: Array) -> tuple[Array, Array]:
    """log(1 + e^down), and by how much it grows where `down` grows by `moves`."""
    change = np.logaddexp(0.0, down)
    grown = np.where(np.isneginf(down), 0.0, np.logaddexp(0.0, down + moves) - change)
    return change, grown


def _difference_of_logs(down: Array, moves: Array) -> tuple[Array, Array]:
    """log(1 − e^down), and by how much it falls where `down` grows by `moves`; ∞ if to 0."""
    change = _log1mexp(down)
    fallen = change - _log1mexp(np.minimum(down + moves, 0.0))
    return change, np.where(np.isneginf(down), 0.0, fallen)


def _better(a: LogNumber, b: LogNumber, where: Array | bool = True) -> LogNumber:
    """The form of one number that errs less, a or b, element by element; b only where allowed."""
    chosen = where & (b.error < a.error)
    return LogNumber(
        np.where(chosen, b.sign, a.sign),
        np.where(chosen, b.log, a.log),
        np.where(chosen, b.error, a.error),
    )


def _extreme(a: LogNumber, b: LogNumber, smallest: bool) -> LogNumber:
    """The smaller, or the larger, of a and b, with an error that allows for either one.

    Of numbers of unlike signs, or of which one is 0 or ∞, it is the error of the one that is taken;
    ∞ where either error is.
    """
    side = 1.0 if smallest else -1.0
    first, second = side * a.sign, side * b.sign
    with np.errstate(invalid="ignore"):
        below = (first < second) | ((first == second) & (first * a.log <= first * b.log))
    sign, log = np.where(below, a.sign, b.sign), np.where(below, a.log, b.log)
    error = np.where(below, a.error, b.error)
    with np.errstate(invalid="ignore"):
        ends = ((a.log + k * a.error, b.log + k * b.error) for k in (-1.0, 1.0))
        # The smaller of two negative numbers has the larger absolute value.
        low, high = (np.where((first > 0), np.minimum(x, y), np.maximum(x, y)) for x, y in ends)
        overlap = np.maximum(np.maximum(log - low, high - log), 0.0)
    alike = (a.sign == b.sign) & (a.sign != 0)
    both = alike & ~(np.isposinf(a.log) | np.isposinf(b.log))
    unknown = np.isposinf(a.error) | np.isposinf(b.error)
    return LogNumber(sign, log, np.where(both, overlap, np.where(unknown, np.inf, error)))


class Float64Arithmetic:
    """LogNumbers: about 15 digits less what cancels; for pictures and searches, never a proof."""

    certified = False
    rounds = True
    bits = 53

    def number(self, value: Numeric | LogNumber | Array) -> LogNumber:
        """The LogNumber of an exact number or ∞; floats of an array are taken to be exact."""
        if isinstance(value, LogNumber | np.ndarray | int):
            return LogNumber.of(value)
        if value == INFINITY:
            return LogNumber(1.0, np.inf)
        value = exact(value)
        return _of_fraction(value) if isinstance(value, Fraction) else evaluate(self, value)

    def near(self, x: Real) -> LogNumber:
        """LogNumbers of floats that are the roundings of some numbers, with that error."""
        return LogNumber.of(x) * LogNumber(1.0, 0.0, _FUNCTION_ERROR)

    def from_balls(self, question: Callable[[], arb]) -> LogNumber:
        """The LogNumber of a number >= 0 that `question` gives as a ball, at bits that are doubled.

        It ends once the ball has float64's 53 bits, or at the limit on bits with what is known.
        """
        bits, limit = 2 * self.bits, limits.current().bits
        while True:
            with precision(bits):
                ball = question()
                if (ball.is_finite() and ball.rel_accuracy_bits() >= self.bits) or bits >= limit:
                    return self.of_ball(ball)
            bits = min(2 * bits, limit)

    def of_ball(self, ball: arb) -> LogNumber:
        """The LogNumber of a ball of a number >= 0, with its radius as the error.

        The error is ∞ where the ball contains 0 or is not finite, but for an exact 0 and ∞.
        """
        if ball == 0 or ball == arb("inf"):
            return self.number(INFINITY if ball > 0 else 0)
        log = ball.log()
        middle, error = float(log.mid()), float(log.rad())
        known = np.isfinite(middle) and np.isfinite(error)
        return _rounded(1.0, middle if known else 0.0, error if known else np.inf)

    def pi(self) -> LogNumber:
        return self.near(np.pi)

    def exp(self, x: LogNumber) -> LogNumber:
        """e^x, whose logarithm is x, and the error that of x as a plain number."""
        value = x.value()
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(value) * (np.expm1(x.error) + _FUNCTION_ERROR) + _TINY * (x.sign != 0)
        endless = np.isinf(value)
        error = np.where(endless, np.where(np.isposinf(x.log), x.error, np.inf), error)
        return LogNumber(np.where(np.isneginf(value), 0.0, 1.0), value, error)

    def expm1(self, x: LogNumber) -> LogNumber:
        """e^x − 1, by log(1 − e^{−|x|}), and x itself where e^{37}|x| < 1."""
        value = x.value()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            large = np.maximum(value, 0.0)
            rest = np.where(value == 0, -np.inf, _log1mexp(-np.abs(value)))
            moved = np.where(x.error == 0, 0.0, x.error * (1 + large * np.exp(x.error)))
            error = (
                moved + _FUNCTION_ERROR * (large + 3 * np.abs(rest)) + _TINY * np.isfinite(x.log)
            )
        small, endless = x.log < _LINEAR_LOG, np.isinf(value)
        beyond = endless & np.isfinite(x.log)  # too large even for its logarithm
        error = np.where(endless, np.where(beyond & (value > 0), np.inf, x.error), error)
        error = np.where(small, x.error + np.abs(value) + _TINY * (x.sign != 0), error)
        return LogNumber(x.sign, np.where(small, x.log, large + rest), error)

    def log(self, x: LogNumber) -> LogNumber:
        """log x for x >= 0; PrecisionError for a negative number, unless nothing is known of it."""
        if np.any((x.sign < 0) & np.isfinite(x.error)):
            raise PrecisionError(
                "float64: found the logarithm of a negative number; needed another engine, or "
                "finite_up_to stated of a curve that is infinite from some order on"
            )
        logarithm = LogNumber.of(x.log)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(x.error == 0, 0.0, x.error / np.abs(x.log))
            error = np.where(share < 1, -np.log1p(-np.minimum(share, 1.0)), np.inf)
        return LogNumber(logarithm.sign, logarithm.log, logarithm.error + error)

    def log1p(self, x: LogNumber) -> LogNumber:
        """log(1 + x) for x >= −1; below, the error is ∞."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            positive, least = (np.logaddexp(0.0, l) for l in (x.log, x.log - x.error))
            negative, most = (-_log1mexp(np.minimum(l, 0.0)) for l in (x.log, x.log + x.error))
            log = np.log(np.where(x.sign < 0, negative, positive))
            moved = np.where(x.sign < 0, np.log(most) - log, log - np.log(least))
            moved = np.where(x.error == 0, 0.0, moved)
            error = moved + _FUNCTION_ERROR * (2 + np.where(np.isfinite(log), np.abs(log), 0.0))
        error = np.where((x.sign < 0) & (x.log > 0), np.inf, error)
        small = x.log < _LINEAR_LOG
        near = x.error + np.exp(np.minimum(x.log, 0.0))
        error = np.where(small, np.where(x._is_zero(), 0.0, near), error)
        return LogNumber(x.sign, np.where(small, x.log, log), error)

    def sqrt(self, x: LogNumber) -> LogNumber:
        """√x; of a negative number nothing is known, as its error says."""
        return _rounded(x.sign, x.log / 2, np.where(x.sign < 0, np.inf, x.error / 2))

    def power(self, x: LogNumber, y: Real) -> LogNumber:
        """x^y, as `LogNumber` has it."""
        return x**y

    def exp_gap(self, x: LogNumber) -> LogNumber:
        """e^x − 1 − x, by its series where the difference would cancel."""
        near = np.clip(x.value(), -0.5, 0.5)
        series = np.ones_like(near)
        for k in range(16, 2, -1):  # 2·0.5^15/17! is below half a unit in the last place
            series = 1 + series * near / k
        by_series = x * x * _near_one(series / 2, x.error)
        return _better(self.expm1(x) - x, by_series, np.abs(x.value()) <= 0.5)

    def power_gap(self, gamma: LogNumber, x: LogNumber, lam: LogNumber) -> LogNumber:
        """(1+u)^{λ+1} − 1 − (λ+1)u for u = γ(e^x − 1), by its series where u is small."""
        u = gamma * self.expm1(x)
        plain = (u + 1) * self.expm1(lam * self.log1p(u)) - lam * u
        small = np.abs(u.value() * (lam.value() + 1)) < 0.5
        step, order = np.where(small, u.value(), 0.0), np.where(small, lam.value() + 1, 2.0)
        series = _series(lambda k: step * (order - k) / (k + 1))
        start = lam * (lam + 1) * (u * u)
        return _better(plain, start * _near_one(series / 2, u.error + lam.error), small)

    def entropy_gap(self, gamma: LogNumber, x: LogNumber) -> LogNumber:
        """(1+u) log(1+u) − u for u = γ(e^x − 1), by its series where u is small."""
        u = gamma * self.expm1(x)
        plain = (u + 1) * self.log1p(u) - u
        small = np.abs(u.value()) < 0.25
        step = np.where(small, u.value(), 0.0)
        series = _series(lambda k: -step * (k - 1) / (k + 1))
        return _better(plain, u * u * _near_one(series / 2, u.error), small)

    def binomial(self, n: int | Array, k: int) -> LogNumber:
        """C(n,k) as a product of k factors, n one number or an array of them; 0 for whole n < k."""
        result = LogNumber.of(1)
        for i in range(k):
            result = result * (np.asarray(n, dtype=np.float64) - i) / (i + 1)
        return result

    def sum(self, term: Callable[[int], Real], first: int, last: int | Array) -> LogNumber:
        """Σ term(i) for first <= i <= last, a sum for each `last` of an array."""
        last = np.asarray(last)
        total = LogNumber(0.0, -np.inf) * np.ones(last.shape)
        for i in range(first, int(np.max(last)) + 1):
            total = total + LogNumber.of(term(i)) * np.where(i <= last, 1.0, 0.0)
        return total

    def long_sum(self, term: Callable[[LogNumber], LogNumber], last: LogNumber) -> LogNumber:
        """Σ term(i) for 0 <= i <= last, of terms that are not negative, _BLOCK_TERMS at a time.

        LimitError for more terms than the limit on orders; no remainder is bounded.
        """
        count = _count(last) + 1
        result = LogNumber.of(0)
        for start in range(0, count, _BLOCK_TERMS):
            block = np.arange(start, min(start + _BLOCK_TERMS, count), dtype=np.float64)
            result = result + term(LogNumber.of(block)).total()
        return result

    def integral(self, value: Callable[[LogNumber], LogNumber], pieces: LogNumber) -> LogNumber:
        """∫_0^1 value(z) dz of a function >= 0 smooth on each of `pieces` equal pieces.

        By Gauss's rule of 16 nodes on each, whose error is not bounded. LimitError as in
        `long_sum`.
        """
        rule = np.polynomial.legendre.leggauss(16)
        nodes, weights = (self.near(x) for x in rule)
        result = LogNumber.of(0)
        for piece in range(_count(pieces)):
            values = value((piece + (nodes + 1) / 2) / pieces)
            result = result + (values * weights).total()
        return result / (2 * pieces)

    def grid_nats(self) -> LogNumber:
        """50 nats, by which the errors of a sum over a grid are to be below it: 72 bits."""
        return LogNumber.of(50)

    def minimum(self, *xs: LogNumber) -> LogNumber:
        return reduce(lambda a, b: _extreme(a, b, smallest=True), xs)

    def maximum(self, *xs: LogNumber) -> LogNumber:
        return reduce(lambda a, b: _extreme(a, b, smallest=False), xs)

    def is_zero(self, x: LogNumber) -> bool:
        """Is every element exactly 0?"""
        return bool(np.all(x._is_zero()))

    def is_infinite(self, x: LogNumber) -> bool:
        """Is every element ∞?"""
        return bool(np.all(np.isposinf(x.log) & (x.sign > 0)))


def _of_fraction(value: Fraction) -> LogNumber:
    """The LogNumber of a rational number, whose log has all digits near ±1 too."""
    top, bottom = abs(value.numerator), value.denominator
    if not bottom < 2 * top < 4 * bottom:
        return LogNumber.of(value.numerator) / LogNumber.of(bottom)
    off = _TINY if top != bottom else 0.0
    return _rounded(1.0 if value > 0 else -1.0, np.log1p((top - bottom) / bottom), off)


def _count(x: LogNumber) -> int:
    """The whole number nearest to x, the terms of a sum; LimitError above the limit on orders."""
    count = round(min(float(x.value()), 1e18))
    limits.check("order", count, "terms of a sum in float64, which the engine ball does without")
    return count


def _near_one(series: Array, moved: Array) -> LogNumber:
    """The sum of a series of falling positive terms, whose argument errs by the share `moved`."""
    return _rounded(1.0, np.log(series), 4 * _FUNCTION_ERROR + moved)


def _series(ratio: Callable[[int], Array]) -> Array:
    """1 + r(2) + r(2) r(3) + …, up to a term below 10^−18 of the sum; |r| <= ½."""
    total = term = np.ones_like(ratio(2))
    for k in range(2, 2 + _MOST_TERMS):
        term = term * ratio(k)
        total = total + term
        if not np.any(np.abs(term) > 1e-18 * total):
            break
    return total


#: The arithmetic of float64 with error bars, which are no proof.
FLOAT64 = Float64Arithmetic()
