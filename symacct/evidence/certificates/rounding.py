"""Numbers of a certificate: decimal fractions not below what they bound, and a little above it."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from symacct.kernel.arithmetic.ball import rational

_MARGIN = 64  # a bound is above what it bounds by at least this part of its last digit


def above(x: Fraction, digits: int) -> Fraction:
    """The least decimal of so many significant digits above x >= 0 by 1/64 of the last digit.

    Equality can't be decided in intervals: the margin is what lets a checker prove the claim.

    >>> print(above(Fraction(1, 3), 4), above(Fraction(2), 3))
    1667/5000 201/100
    """
    if x <= 0:
        return Fraction(0)
    step = Fraction(1)
    while x / step >= 10**digits:
        step *= 10
    while x / step < 10 ** (digits - 1):
        step /= 10
    return -((-x / step - Fraction(1, _MARGIN)) // 1) * step


def upper(x: arb) -> Fraction:
    """The upper end of a finite ball."""
    return rational(x.upper())
