"""Certified balls: python-flint's arb at flint's current precision, and signs decided exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import gcd, lcm
from operator import methodcaller

import flint
from flint import arb

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import LimitError, PrecisionError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, exact, sympy
from symacct.kernel.memory import new_lock

# --- balls

# flint's precision belongs to the process, so one certified evaluation runs at a time.
_flint = new_lock(flint.ctx.default)
#: The largest precision in bits; a number of more bits would not fit into memory.
_MOST_BITS = 2**31


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls at `bits` bits within the block, in this thread only."""
    deadline.check()
    if bits > _MOST_BITS:
        raise PrecisionError(f"found a precision of {echo(bits)} bits, needed at most {_MOST_BITS}")
    with _flint:
        before, flint.ctx.prec = flint.ctx.prec, bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def ends_of(x: arb) -> tuple[arb, arb]:
    """The lower and the upper end of a ball, each exact."""
    return x.lower(), x.upper()


def floor(x: arb) -> int:
    """The largest whole number that no number in a ball is below."""
    return _whole(x.lower().floor())


def ceiling(x: arb) -> int:
    """The smallest whole number that no number in a ball is above."""
    return _whole(x.upper().ceil())


def _whole(x: arb) -> int:
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa) << int(exponent)


def float_above(x: arb) -> float:
    """A float64 that is above every number in a ball, hardly more than the largest of them."""
    return math.nextafter(float(x.upper()), math.inf)


def doubled(bits: int, limit: int | None = None) -> Iterator[int]:
    """Precisions from this one on, each twice the last, up to the limit in force."""
    while bits <= (limit or limits.current().bits):
        deadline.check()
        yield bits
        bits *= 2


class BallArithmetic(PlainGaps):
    """Balls of arb: every value encloses the true one, roundings included."""

    certified = True

    @property
    def bits(self) -> int:
        return int(flint.ctx.prec)

    def number(self, value: Numeric) -> arb:
        if isinstance(value, int):
            return arb(value)
        if isinstance(value, Fraction):
            return arb(value.numerator) / value.denominator  # sooner than by a fmpq, the same bits
        if value == INFINITY:
            return arb("inf")
        value = exact(value)
        return self.number(value) if isinstance(value, Fraction) else evaluate(self, value)

    pi = staticmethod(arb.pi)
    exp = staticmethod(methodcaller("exp"))
    expm1 = staticmethod(methodcaller("expm1"))
    log = staticmethod(methodcaller("log"))
    log1p = staticmethod(methodcaller("log1p"))
    sqrt = staticmethod(methodcaller("sqrt"))
    log_gamma = staticmethod(methodcaller("lgamma"))
    digamma = staticmethod(methodcaller("digamma"))

    def power(self, x: arb, y: arb) -> arb:
        return x if x == 0 and y > 0 else arb(x) ** y

    def binomial(self, n: int, k: int) -> arb:
        limits.check("order", n, "order alpha")
        return arb(flint.fmpz.bin_uiui(n, k))

    def minimum(self, smallest: arb, *others: arb) -> arb:
        for x in others:
            smallest = smallest.min(x)
        return smallest

    def maximum(self, largest: arb, *others: arb) -> arb:
        for x in others:
            largest = largest.max(x)
        return largest

    def is_infinite(self, x: arb) -> bool:
        return not x.is_finite() and bool(x > 0)


BALL = BallArithmetic()
#: The largest exponent of a ball whose fraction is formed; a longer one would fill the memory.
_LONGEST = 2**30


def rational(x: arb) -> Fraction:
    """The midpoint of a ball, a binary fraction; LimitError where it is too long for one.

    FLINT ends the process where an exponent is beyond a machine's words.
    """
    if not x.is_finite() or abs(int(x.mid().man_exp()[1])) >= _LONGEST:
        raise LimitError("found a number too far from 1 to be written as a fraction")
    fraction = x.mid().fmpq()
    return Fraction(int(fraction.p), int(fraction.q))


def rational_ends(value: Exact, bits: int) -> tuple[Fraction, ...]:
    """The rational number itself, else one below and one above, alike to more than twice the bits.

    What is monotone in a parameter lies, for an irrational one, between its values at the two.
    """
    if isinstance(value, Fraction):
        return (value,)
    for finer in doubled(2 * bits + 64, 64 * (bits + 64)):
        with precision(finer):
            ball = BALL.number(value)
            if ball.rel_accuracy_bits() > 2 * bits:
                return tuple(map(rational, ends_of(ball)))
    raise PrecisionError(
        f"found {echo(value)}, too near to 0 to compute", remedy="write it as a rational number"
    )


def nearest_rational(value: Exact, bits: int) -> Fraction:
    """The rational number itself, else one that agrees with it to more than twice the bits."""
    return rational_ends(value, bits)[0]


def decide(holds: Callable[[arb], bool | None], value: sympy.Expr) -> bool | None:
    """What balls of growing precision say of a constant by `holds`: True, False, or None."""
    for bits in doubled(64, 4096):
        with precision(bits):
            answer = holds(BALL.number(value))
        if answer is not None:
            return answer
    return None


# --- signs
#
# Signs that are decided exactly: no precision chosen beforehand tells a log x + b log y from 0.

#: Bits up to which a rational power is formed to decide an equality.
_EXACT_POWER_BITS = 2**22


def log_sign(a: Fraction, x: Fraction, b: Fraction, y: Fraction) -> int:
    """The exact sign of a log x + b log y, rationals x, y > 0; PrecisionError beyond limits."""
    if a == 0 or x == 1:
        return _sign(b) * _sign(y - 1)
    if b == 0 or y == 1:
        return _sign(a) * _sign(x - 1)
    scale = lcm(a.denominator, b.denominator)
    first, second = int(a * scale), int(b * scale)
    common = gcd(first, second)
    if _cancel(x, first // common, y, second // common):
        return 0
    for bits in doubled(64):
        with precision(bits):
            value = first * BALL.number(x).log() + second * BALL.number(y).log()
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
    limit = limits.current().bits
    raise PrecisionError(f"whether {x}^{first} exceeds {y}^{-second}: not decided at {limit} bits")


def _cancel(x: Fraction, a: int, y: Fraction, b: int) -> bool:
    """Is x^a y^b = 1, for whole a and b without a common factor, and x, y other than 1?

    Then x is a b-th power of a rational and y an a-th power, so that a and b are small.
    """
    sizes_ = [max(v.numerator.bit_length(), v.denominator.bit_length()) for v in (x, y)]
    if abs(b) > sizes_[0] or abs(a) > sizes_[1] or abs(a) * sizes_[0] > _EXACT_POWER_BITS:
        return False
    return x**a * y**b == 1


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
