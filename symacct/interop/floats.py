"""An exact number as the float64 next to it on the sound side: less noise, more sampling."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symacct.errors import DomainError, echo


def down(x: Any, what: str) -> float:
    """The largest float64 <= x: for a noise scale."""
    near = _nearest(x, what)
    return near if Fraction(near) <= x else math.nextafter(near, -math.inf)


def up(x: Any, what: str) -> float:
    """The smallest float64 >= x: for a sampling rate or a privacy parameter."""
    near = _nearest(x, what)
    return near if Fraction(near) >= x else math.nextafter(near, math.inf)


def _nearest(x: Any, what: str) -> float:
    if not isinstance(x, int | Fraction):
        raise DomainError(
            f"{what}: found {echo(x)}, needed a rational number; give numbers to symbols with "
            ".subs()"
        )
    try:
        return float(x)
    except OverflowError:
        raise DomainError(f"{what}: found {echo(x)}, needed a number within float64") from None
