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
#: The largest precision, in bits; a number of more would not fit into memory. More are refused by
#: PrecisionError.
_MOST_BITS = 2**31


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls at `bits` bits within the block, in this thread only; other threads wait for its end.

    The precision before it comes back at its end. PrecisionError above _MOST_BITS.
    """
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
    """The lower and the upper end of a ball, as exact balls rounded outwards to the precision."""
    return x.lower(), x.upper()


def floor(x: arb) -> int:
    """⌊lower end⌋ of a finite ball: the largest whole number that none in it is below."""
    return _whole(x.lower().floor())


def ceiling(x: arb) -> int:
    """⌈upper end⌉ of a finite ball: the smallest whole number that none in it is above."""
    return _whole(x.upper().ceil())


def _whole(x: arb) -> int:
    """The integer that a finite exact ball is, which its caller knows to be whole."""
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa) << int(exponent)


def float_above(x: arb) -> float:
    """A float64 above every number in a ball: the one after its upper end at the precision.

    ∞ where that is beyond the floats; NaN for a ball that is NaN.
    """
    return math.nextafter(float(x.upper()), math.inf)


def accuracy(x: arb) -> float:
    """The significant decimal digits that a ball has, relative to its midpoint; may be a fraction.

    ∞ for an exact number, 0 or less where no digit is known, −∞ where the ball is not finite.
    """
    if not x.is_finite():
        return -math.inf
    if x.is_exact():
        return math.inf
    return (x.rel_accuracy_bits() - 1) * math.log10(2)  # the width is twice the radius


def doubled(bits: int, limit: int | None = None) -> Iterator[int]:
    """The precisions bits, 2·bits, 4·bits, … up to `limit`, else to the limit on bits in force.

    None where the first is beyond it. The time is looked at before each.
    """
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
        """A ball that encloses an exact value, at the current precision; a whole number exactly."""
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
        """C(n,k) rounded to no precision, 0 <= k <= n; LimitError above the limit on orders."""
        limits.check("order", n, "order alpha")
        return arb(flint.fmpz.bin_uiui(n, k))

    def minimum(self, smallest: arb, *others: arb) -> arb:
        """The ball of the smallest; where balls overlap it holds each that may be it."""
        for x in others:
            smallest = smallest.min(x)
        return smallest

    def maximum(self, largest: arb, *others: arb) -> arb:
        """The ball of the largest; where balls overlap it holds each that may be it."""
        for x in others:
            largest = largest.max(x)
        return largest

    def is_infinite(self, x: arb) -> bool:
        """Is the ball certainly ∞? False for NaN and for a ball of infinite radius."""
        return not x.is_finite() and bool(x > 0)


#: The arithmetic of balls, at flint's current precision.
BALL = BallArithmetic()
#: The largest binary exponent of a ball whose fraction is formed; a longer one fills the memory,
#: and is refused by LimitError.
_MOST_EXPONENT = 2**30


def rational(x: arb) -> Fraction:
    """The midpoint of a ball as the binary fraction that it is, which bounds nothing by itself.

    LimitError where it is not finite or too long for a fraction: FLINT ends the process where an
    exponent is beyond a machine's words.
    """
    if not x.is_finite() or abs(int(x.mid().man_exp()[1])) >= _MOST_EXPONENT:
        raise LimitError("found a number too far from 1 to be written as a fraction")
    fraction = x.mid().fmpq()
    return Fraction(int(fraction.p), int(fraction.q))


def rational_ends(value: Exact, bits: int) -> tuple[Fraction, ...]:
    """The rational number itself; of an irrational one a rational below it and one above.

    The two are alike to more than 2·bits bits. What is monotone in a parameter lies between its
    values at them. PrecisionError for a constant too near to 0.
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
    """The rational number itself, else one below it that agrees with it to over 2·bits bits."""
    return rational_ends(value, bits)[0]


def decide(holds: Callable[[arb], bool | None], value: sympy.Expr) -> bool | None:
    """What balls of a constant say by `holds`, at the first of 64 to 4096 bits that decides it.

    `holds` gives None where its ball does not decide; so does this where none of them does.
    """
    for bits in doubled(64, 4096):
        with precision(bits):
            answer = holds(BALL.number(value))
        if answer is not None:
            return answer
    return None


# --- signs
#
# Signs that are decided exactly: no precision chosen beforehand tells a log x + b log y from 0.

#: Bits of a rational power up to which it is formed to decide an equality; beyond, none is looked
#: for, and balls decide or refuse.
_EXACT_POWER_BITS = 2**22


def log_sign(a: Fraction, x: Fraction, b: Fraction, y: Fraction) -> int:
    """The exact sign, 1, 0 or −1, of a log x + b log y for rationals a, b and x, y > 0.

    PrecisionError where balls do not decide it up to the limit on bits.
    """
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

    Then x is a b-th power of a rational and y an a-th power, so that a and b are small. False also
    where x^a has more than _EXACT_POWER_BITS bits.
    """
    sizes_ = [max(v.numerator.bit_length(), v.denominator.bit_length()) for v in (x, y)]
    if abs(b) > sizes_[0] or abs(a) > sizes_[1] or abs(a) * sizes_[0] > _EXACT_POWER_BITS:
        return False
    return x**a * y**b == 1


def _sign(value: Fraction) -> int:
    """1, 0 or −1."""
    return (value > 0) - (value < 0)
