"""The certified interval that a truth lies in, with exact fractions as ends, and its text."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from symacct.kernel.answer import Enclosure, nearest_float, rational_text, to_fraction

#: An end of an interval: an exact fraction, or the float ∞; never another float.
Bound = Fraction | float
#: log₂ of the largest finite end, and −log₂ of the smallest positive one. It only keeps fractions
#: short, which saves time: any number above 1075 holds all that a float64 can be compared with.
_EXPONENT = 4096
_SMALL = Fraction(1, 2**_EXPONENT)
_LARGE = Fraction(2**_EXPONENT)


@dataclass(frozen=True)
class Truth:
    """The certified interval lower <= truth <= upper.

    With `exact` the ends are those of one computation, as close as its digits; without it they are
    a lower and an upper bound by different proofs, which may be far apart.
    """

    lower: Bound
    upper: Bound
    exact: bool

    def hull(self, other: Truth) -> Truth:
        """The smallest interval that holds both truths; it is `exact` only if both are."""
        return Truth(
            min(self.lower, other.lower), max(self.upper, other.upper), self.exact and other.exact
        )


def ends(value: Enclosure) -> tuple[Bound, Bound]:
    """Returns both ends of an enclosure of a number >= 0 as fractions, rounded outwards.

    They are exact within 2^±4096. Below it the lower end is 0 and a positive upper one 2^−4096;
    above it the lower end is 2^4096 and the upper one ∞.
    """
    low, high = mpmath.mag(value.lower), mpmath.mag(value.upper)
    if low > _EXPONENT:
        return _LARGE, math.inf
    lower = to_fraction(value.lower) if low >= -_EXPONENT else Fraction(0)
    if high > _EXPONENT:
        return lower, math.inf
    return lower, _SMALL if -math.inf < high < -_EXPONENT else to_fraction(value.upper)


def nearest_float32(x: Fraction) -> Fraction | None:
    """Rounds x to float64 and that to float32, as code does; None beyond float32's largest."""
    try:
        return Fraction(*struct.unpack("f", struct.pack("f", nearest_float(x))))
    except OverflowError:
        return None


def is_float32(x: Fraction) -> bool:
    """Does rounding the float64 nearest to x to float32 change nothing? 0 is one; ∞ is not."""
    return nearest_float32(x) == nearest_float(x)


def decimal_text(x: Bound, up: bool, digits: int = 20) -> str:
    """A bound as decimal text of at most `digits` significant digits, rounded once; ∞ as "inf".

    Upwards where it is `up`, as an upper end, and else downwards.

    >>> decimal_text(Fraction(1, 3), up=True)
    '0.33333333333333333334'
    """
    return rational_text(x, digits, up) if isinstance(x, Fraction) else str(x)


#: A share of the truth by which a value is off is itself written where it is smaller than this.
#: Only a sentence rests on it.
_NEAR = 1e-5


def missing_share(value: Fraction, lower: Fraction) -> str:
    """Says by how much a value is below a lower bound of the truth; the value need not be positive.

    >>> missing_share(1 - Fraction(3, 10**8), Fraction(1))
    '3e-08 of the truth too little'
    >>> missing_share(Fraction(199, 100), Fraction(2))
    '0.995 of the truth'
    >>> missing_share(Fraction(-5), Fraction(2, 10**17))
    'negative where the truth is at least 2e-17'
    """
    if value < 0:
        return f"negative where the truth is at least {decimal_text(lower, False, 2)}"
    gap = nearest_float(1 - value / lower)
    if gap < _NEAR:
        return f"{gap:.3g} of the truth too little"
    return f"{nearest_float(value / lower):.6g} of the truth"
