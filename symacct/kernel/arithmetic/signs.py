"""Signs that are decided exactly: no precision chosen beforehand tells a log x + b log y from 0."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from symacct.kernel import limits
from symacct.kernel.arithmetic.ball import BALL, doubled, precision
from symacct.kernel.errors import PrecisionError

_EXACT_POWER_BITS = 2**22  # a rational power of up to so many bits is formed


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
    most = limits.current().bits
    raise PrecisionError(f"whether {x}^{first} exceeds {y}^{-second}: not decided at {most} bits")


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
