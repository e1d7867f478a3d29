"""How a peer's numbers are written: with few digits, or computed in float32."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.judging import matching
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Finding, explained_by_rounding

_FLOAT32 = struct.Struct("f")
#: So many answers tell, and with so many digits no error is explained any more.
_ENOUGH, _MOST_DIGITS = 12, 8


def form(values: Iterable[Fraction]) -> str | None:
    """What all of a peer's numbers have in common; None where they are float64s or better.

    >>> form(Fraction(round(10**5 / 7 ** (i / 9)), 10**5) for i in range(12))
    'printed with 5 digits'
    """
    distinct = {value for value in values if value}
    if len(distinct) < _ENOUGH:
        return None
    digits = max(_digits(value) for value in distinct)
    if digits <= _MOST_DIGITS:
        return f"printed with {digits} digits"
    return "computed in float32" if all(map(is_float32, distinct)) else None


def explained(found: Finding, written: str | None, oracle: Oracle) -> Finding:
    """The finding with the form of the peer's numbers, where that is all that is wrong."""
    value, truth = found.answer.finite, found.truth
    if written is None or value is None or truth is None:
        return found
    stated = matching.claimed(oracle, found.ask, found.answer.claims or "")
    low, high = stated or (truth.lower, truth.upper)
    if float("inf") in (low, high):
        return found
    end = Fraction(low if value < low else high if value > high else value)
    gap = abs(value - end)
    if written.startswith("printed"):
        digits = int(written.split()[2])
        right = gap <= Fraction(10) ** (1 - digits) * abs(value)
    else:
        near = gap <= Fraction(1, 2**18) * end
        right = near or explained_by_rounding(found.ask, gap, end, bits=24)
    return replace(found, form=written) if right else found


def _digits(value: Fraction) -> int:
    """Significant digits of a decimal number; more than are counted for any other."""
    number = nearest_float(value)
    if math.isfinite(number):
        for digits in range(1, _MOST_DIGITS + 1):
            if Fraction(f"{number:.{digits}g}") == value:
                return digits
    return _MOST_DIGITS + 1


def is_float32(value: Fraction) -> bool:
    """Is it a number that float32 has?"""
    number = nearest_float(value)
    try:
        return bool(_FLOAT32.unpack(_FLOAT32.pack(number))[0] == number)
    except OverflowError:
        return False
