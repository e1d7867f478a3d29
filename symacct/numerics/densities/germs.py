"""What an expression does past a point: for all y >= Y it lies in [low, high]·y^power."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.numerics.densities.jets import Jet
from symacct.numerics.sums.refine import ball

_INFINITE = arb("inf")
_ZERO = arb(0)
_MANY = 8  # the power of y that an exponential beats


@dataclass(frozen=True)
class Germ:
    """Numbers between low·y^power and high·y^power for all y >= start; ends may be infinite."""

    start: arb
    power: Fraction
    low: arb
    high: arb

    def _scaled(self, power: Fraction) -> tuple[arb, arb]:
        """The ends as multiples of a higher power of y, whose ratio to this one lies in (0, t]."""
        if power == self.power:
            return self.low, self.high
        t = self.start ** ball(self.power - power)
        return _times(self.low, t).min(_ZERO), _times(self.high, t).max(_ZERO)

    def __add__(self, other: Germ) -> Germ:
        power = max(self.power, other.power)
        if self._is_zero() or other._is_zero():
            return other if self._is_zero() else self
        (a, b), (c, d) = self._scaled(power), other._scaled(power)
        return Germ(self.start, power, _sum(a, c, -_INFINITE), _sum(b, d, _INFINITE))

    def __neg__(self) -> Germ:
        return Germ(self.start, self.power, -self.high, -self.low)

    def __sub__(self, other: Germ) -> Germ:
        return self + -other

    def __mul__(self, other: Germ) -> Germ:
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = ends[0], ends[0]
        for end in ends[1:]:
            low, high = low.min(end), high.max(end)
        return Germ(self.start, self.power + other.power, low, high)

    def _is_zero(self) -> bool:
        return bool(self.low == 0) and bool(self.high == 0)

    def inverse(self) -> Germ:
        """1 over it; unbounded where it may be 0."""
        if self.low > 0 or self.high < 0:
            return Germ(self.start, -self.power, _reciprocal(self.high), _reciprocal(self.low))
        return Germ(self.start, -self.power, -_INFINITE, _INFINITE)

    def least(self) -> arb:
        """A lower bound for all y >= start."""
        return -(-self).most()

    def most(self) -> arb:
        """An upper bound for all y >= start."""
        if self.power == 0:
            return self.high
        at_start = _times(self.high, self.start ** ball(self.power))
        if self.high > 0:
            return _INFINITE if self.power > 0 else at_start
        return at_start if self.power > 0 else _ZERO


@dataclass(frozen=True)
class Germs:
    """The functions of germs at `start`; a derivative is with respect to log y."""

    start: arb

    def number(self, value: int | arb) -> Germ:
        one = arb(value)
        return Germ(self.start, Fraction(0), one, one)

    def variable(self) -> Jet:
        """y itself."""
        y = Germ(self.start, Fraction(1), arb(1), arb(1))
        return Jet(self, y, y)

    def whole_power(self, f: Germ, n: int) -> Germ:
        if n < 0:
            return self.whole_power(f.inverse(), -n)
        if n == 0:
            return self.number(1)
        if f.low >= 0:
            return Germ(self.start, f.power * n, f.low**n, f.high**n)
        if n % 2 == 0:
            square = f * f
            square = Germ(self.start, square.power, square.low.max(_ZERO), square.high)
            return self.whole_power(square, n // 2)
        return f * self.whole_power(f, n - 1)

    def power(self, f: Germ, c: Fraction) -> Germ:
        if c < 0:
            return self.power(f.inverse(), -c)
        if not f.low >= 0:
            return Germ(self.start, f.power * c, -_INFINITE, _INFINITE)
        return Germ(self.start, f.power * c, f.low ** ball(c), f.high ** ball(c))

    def exp(self, f: Germ) -> Germ:
        if f.power > 0 and f.low > 0:
            return self._growing(f)
        low, high = f.least().exp(), f.most().exp()
        if f.power > 0 and f.high < 0:
            # y^m e^{c y^p} falls once m <= −cp y^p.
            fall = -f.high * ball(f.power) * self.start ** ball(f.power)
            if fall >= _MANY:
                return Germ(self.start, Fraction(-_MANY), _ZERO, high * self.start**_MANY)
        return Germ(self.start, Fraction(0), low, high)

    def _growing(self, f: Germ) -> Germ:
        """e^f >= f^n/n!"""
        n = max(1, int(_MANY / f.power))
        return Germ(self.start, f.power * n, f.low**n / arb(n + 1).gamma(), _INFINITE)

    def log(self, f: Germ) -> Germ:
        """log c + p log y, and log y >= log(start)."""
        low = f.low.log() if f.low > 0 else -_INFINITE
        high = f.high.log() if f.high.is_finite() and f.high > 0 else _INFINITE
        rise = ball(f.power) * self.start.log()
        if f.power > 0:
            low, high = low + rise, _INFINITE
        elif f.power < 0:
            low, high = -_INFINITE, high + rise
        return Germ(self.start, Fraction(0), low, high)

    def larger(self, one: Jet, other: Jet) -> tuple[Germ, Germ]:
        gap = one.value - other.value
        if gap.low >= 0 or gap.high <= 0:
            winner = one if gap.low >= 0 else other
            return winner.value, winner.slope
        value = _hull(one.value, other.value)
        return value, _hull(one.slope, other.slope)

    def leads(self, one: Germ, other: Germ) -> bool:
        """Is the first the larger from here on?"""
        return bool((one - other).low >= 0)


def _hull(one: Germ, other: Germ) -> Germ:
    power = max(one.power, other.power)
    (a, b), (c, d) = one._scaled(power), other._scaled(power)
    return Germ(one.start, power, a.min(c), b.max(d))


def _times(a: arb, b: arb) -> arb:
    """The product, with 0·∞ = 0."""
    return _ZERO if a == 0 or b == 0 else a * b


def _sum(a: arb, b: arb, unknown: arb) -> arb:
    """The sum of two lower or two upper ends; the trivial bound where it is ∞ − ∞."""
    total = a + b
    return unknown if total.is_nan() else total


def _reciprocal(x: arb) -> arb:
    return _ZERO if not x.is_finite() else 1 / x
