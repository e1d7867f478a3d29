"""Numbers as the files write them: doubles in two forms, ends as thirty outward rounded digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from symacct.kernel.errors import PrecisionError

#: The two ends of what encloses a number, exact.
Ends: TypeAlias = tuple[Fraction, Fraction]

DIGITS = 30
#: Digits asked for, until thirty are decided; a number that the last do not tell from a decimal of
#: thirty digits is taken to be it.
TRIES = (36, 60, 100)
_EQUAL = Fraction(1, 10**60)


def both_forms(x: float) -> list[str]:
    """The shortest decimal that reads back as the double, and its exact value in base 16.

    >>> both_forms(0.1), both_forms(2.0)
    (['0.1', '0x1.999999999999ap-4'], ['2', '0x1p+1'])
    """
    if x == float("inf"):
        return ["Infinity", "Infinity"]
    mantissa, power = x.hex().split("p")
    return [repr(x).removesuffix(".0"), f"{mantissa.rstrip('0').rstrip('.')}p{power}"]


def outward(asked: Callable[[int], Ends]) -> tuple[str, str]:
    """The ends of a number, of thirty digits, whatever ends `asked(digits)` gives.

    A number strictly between two neighbouring decimals of thirty digits has these for ends; one
    that is such a decimal, or is not told from it by the last try, has those on both sides of it,
    and 0 itself where it is proved. So what is printed depends on the number and not on how wide
    an enclosure of it is. PrecisionError where the last try decides nothing.

    >>> outward(lambda digits: (Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**digits)))
    ('3.33333333333333333333333333333e-1', '3.33333333333333333333333333334e-1')
    >>> outward(lambda digits: (Fraction(1), Fraction(1)))
    ('9.99999999999999999999999999999e-1', '1.00000000000000000000000000001e0')
    """
    for digits in TRIES:
        low, high = asked(digits)
        if low == high == 0:
            return "0", "0"
        if low > 0:
            unit = _unit(low)
            floor = low // unit
            if floor * unit < low and high < (floor + 1) * unit:
                return scientific(floor * unit), scientific((floor + 1) * unit)
        if low == high:
            break
    if low <= 0 or high - low > _EQUAL * low:
        raise PrecisionError("found an enclosure that is too wide, needed thirty digits")
    decimal = round(high / unit) * unit
    return scientific(decimal - _unit(decimal * (1 - _EQUAL))), scientific(decimal + _unit(decimal))


def _unit(x: Fraction) -> Fraction:
    """What one more in the last of thirty digits adds to a number."""
    return Fraction(10) ** (exponent(x) - DIGITS + 1)


def scientific(x: Fraction, up: bool = False) -> str:
    """Thirty digits with one before the point, rounded down or up where there are more."""
    unit = _unit(x)
    rounded = -(-x // unit) * unit if up else x // unit * unit
    digits = str(int(rounded / _unit(rounded)))
    return f"{digits[0]}.{digits[1:]}e{exponent(rounded)}"


def exponent(x: Fraction) -> int:
    """The largest e such that 10^e <= x, for x > 0."""
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    found = (bits + 1) * 30103 // 100000 + 1
    while Fraction(10) ** found > x:
        found -= 1
    return found
