"""An exact number as the float64 next to it on the sound side: less noise, more sampling."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import sympy

from symacct.kernel.answer import rational_float
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Exact, binary, exact


def down(x: Exact, what: str) -> float:
    """Round down to the largest float64 <= x, for a noise scale; DomainError as `up`."""
    return -up(-rational(x, what), what)


def up(x: Exact, what: str) -> float:
    """Round up to the smallest float64 >= x, for a sampling rate or a privacy parameter.

    DomainError for a number that is not rational, or beyond float64; `what` begins its message.
    """
    number = rational(x, what)
    nearest(number, what)  # there is one
    return rational_float(number)


def noise_multiplier(noise: Exact, sensitivity: Exact, what: str) -> float:
    """Compute the noise scale over the sensitivity, which may be a root, rounded down."""
    scale = rational(noise, what)
    if isinstance(sensitivity, sympy.Expr) and not sensitivity.free_symbols:
        return root_down(scale**2 / rational(exact(sensitivity**2, what), what), what)
    return down(scale / rational(sensitivity, what), what)


def root_down(square: Fraction, what: str) -> float:
    """Round √square down to the largest float64 <= it."""
    # So many binary places that no float64 lies between what is kept of the root and the root.
    places = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return down(Fraction(math.isqrt(math.floor(square * 4**places)), 2**places), what)


def rational(x: Exact, what: str) -> Fraction:
    """Return x, where it is rational; DomainError where it is not."""
    if not isinstance(x, int | Fraction):
        raise DomainError(
            f"{what}: found {echo(x)}, needed a rational number",
            remedy="put numbers in the place of symbols",
        )
    return Fraction(x)


def nearest(x: Fraction, what: str) -> float:
    """Round x to the nearest float64; DomainError beyond the range of float64."""
    try:
        return float(x)
    except OverflowError:
        raise DomainError(f"{what}: found {echo(x)}, needed a number within float64") from None


def scalar(value: Any) -> Any:
    """Take a number out of an array without dimensions, NumPy's or JAX's; others are as they are.

    A float is its exact binary value: the other library ran with it.
    """
    held = value.item() if getattr(value, "shape", None) == () else value
    return binary(held) if isinstance(held, float) and math.isfinite(held) else held


def exactly(x: Exact, what: str) -> float:
    """Return the float64 that is x; DomainError where none is."""
    near = nearest(rational(x, what), what)
    if Fraction(near) != x:
        raise DomainError(f"{what}: found {echo(x)}, needed a number that is a float64")
    return near
