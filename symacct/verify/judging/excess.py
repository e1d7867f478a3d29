"""What an ε or δ is above the truth by: RDP, its conversion, the orders searched, the series."""

from __future__ import annotations

import math
from fractions import Fraction

from symacct.results.rounding import nearest_float
from symacct.verify.judging.bounds import Bound, Truth


def excess(
    value: Fraction, truth: Truth | None, methods: tuple[Truth, Truth, Truth | None]
) -> tuple[tuple[str, float], ...]:
    """The excess over the truth, where it is known, as RDP + conversion + order grid + series."""
    least, every, grid = methods
    known = truth is not None and truth.exact
    rows = [("RDP", _minus(least.upper, truth.upper))] if truth and known else []
    rows.append(("conversion", _minus(every.upper, least.upper)))
    if grid is None:
        return (*rows, ("orders and series", _minus(value, every.upper)))
    rows.append(("order grid", _minus(grid.upper, every.upper)))
    return (*rows, ("series", _minus(value, grid.upper)))


def _minus(a: Bound, b: Bound) -> float:
    return math.inf if math.inf in (a, b) else nearest_float(Fraction(a) - Fraction(b))


def mostly(split: tuple[tuple[str, float], ...]) -> str:
    own = [row for row in split if row[0] != "RDP"]
    name, excess = max(own, key=lambda row: row[1])
    whole = sum(x for _, x in own)
    share = "all" if excess >= whole else f"{excess:.3g}"
    return f"mostly from the {name}: {share} of the excess of {whole:.3g}"
