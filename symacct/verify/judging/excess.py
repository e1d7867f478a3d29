"""What an ε or δ is above the truth by: RDP, its conversion, the orders searched, the series."""

from __future__ import annotations

import math
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.judging.bounds import Bound, Truth, decimal_text


def excess(
    value: Fraction,
    truth: Truth | None,
    methods: tuple[Truth, Truth, Truth | None],
    given: bool = False,
    by_variation: bool = False,
) -> tuple[tuple[tuple[str, float], ...], str]:
    """The excess over the truth, where it is known, as RDP + conversion + order grid + series.

    With a sentence about the largest part that is the peer's own; of orders that were `given` only
    the last part is.
    """
    least, every, grid = methods
    known = truth is not None and truth.exact
    rows = [("RDP", _minus(least.upper, truth.upper))] if truth and known else []
    rows.append(("conversion", _minus(every.upper, least.upper)))
    if grid is None:
        rows.append(("orders and series", _minus(value, every.upper)))
    else:
        # The total variation comes from the order 1 alone: no other orders give as little.
        name = "total variation at order 1" if by_variation else "order grid"
        rows.append((name, _minus(grid.upper, every.upper)))
        rows.append(("series", _minus(value, grid.upper)))
    return tuple(rows), _mostly(rows[-1:] if given else rows, every.upper)


def _minus(a: Bound, b: Bound) -> float:
    return math.inf if math.inf in (a, b) else nearest_float(Fraction(a) - Fraction(b))


def _mostly(split: list[tuple[str, float]], every: Bound) -> str:
    own = [row for row in split if row[0] != "RDP"]
    name, part = max(own, key=lambda row: row[1])
    every = every if name == "order grid" else math.inf
    whole = sum(x for _, x in own)
    # Of a part that is larger than the whole another one takes away: it does better than declared.
    share = "all" if part >= whole else f"{part:.3g}"
    without = f"; over all orders it would be {decimal_text(every, True, 3)}" * (every < math.inf)
    return f"mostly from the {name}: {share} of the excess of {whole:.3g}{without}"
