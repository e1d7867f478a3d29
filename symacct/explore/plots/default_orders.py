"""The orders that a picture of ε(α) shows where none are given: those that a usual δ asks for."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise

from symacct.kernel import limits
from symacct.kernel.accountant import BY_ORDERS, Accountant
from symacct.kernel.arguments import By
from symacct.kernel.deadline import Budget
from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node

#: The δ of which the best order is looked for.
DELTA = Fraction(1, 10**5)
_DIGITS = 6
_HALF = Fraction(1, 2)  # of a question's time
_NEAR_ONE = tuple(map(Fraction, ("1.1", "1.25", "1.5", "1.75")))
_STEPS = 8  # whole orders to an octave, where there are so many
_STEEP, _PARTS = 1.5, 4  # a step over which ε grows by more is cut into so many
_BEYOND = 10  # times the best order
_FAR = 100  # times ε at the best order: what is larger no usual δ makes use of
_ALMOST = 0.99  # of ε at the last order: a curve that has an end is flat from there on
_LEAST, _LARGEST = 16, 1024


def default_orders(m: Node, by: By = None) -> tuple[list[Order], Order | None]:
    """(the orders from 1.1 to about ten times the best one, the best one at δ = 1e-5).

    They end where ε is a hundred times that of the best order, or has almost reached its end. If
    the best order is infinite, or not known within a question's time, they end at 1024. Those
    below 2 are left out where there is no answer. The best order is None if it is not among them.
    Where ε grows steeply the orders lie closer, so that its bend is no corner.
    """
    accountant = Accountant(_DIGITS)

    def value(alpha: Order) -> float:
        try:
            return float(accountant.rdp(m, alpha, by=by))
        except SymacctError:
            return math.inf

    def best_order() -> Order:
        try:
            return accountant.epsilon(m, DELTA, BY_ORDERS, by=by).alpha
        except SymacctError:
            return INFINITY

    best = Budget(limits.current().seconds).ask(_HALF, best_order)
    if best is None:
        return [*_whole(_LARGEST)], None
    last = _LARGEST
    if best != INFINITY:
        last = max(_LEAST, min(_BEYOND * int(best), max(_LARGEST, 2 * int(best))))
    orders: list[Order] = [*_whole(last)]
    most = min(_FAR * value(best), _ALMOST * value(orders[-1]))
    orders = orders[: bisect_right(orders, most, key=value) + 1]
    orders = [alpha for alpha in orders if value(alpha) < math.inf] or orders
    steep = [pair for pair in pairwise(orders) if value(pair[1]) > _STEEP * value(pair[0])]
    more = [*_NEAR_ONE, *(alpha for low, high in steep for alpha in _between(low, high))]
    orders = sorted({*orders, *(alpha for alpha in more if value(alpha) < math.inf)})
    orders = orders[: bisect_right(orders, most, key=value) + 1]
    return orders, best if orders and 1 < best <= orders[-1] else None


def _between(low: Order, high: Order) -> list[Order]:
    """Orders that cut a step into equal parts, whole where it is a long one."""
    cut = [low + (high - low) * Fraction(part, _PARTS) for part in range(1, _PARTS)]
    return [*cut] if high - low < _PARTS else [round(alpha) for alpha in cut]


def _whole(last: int) -> list[int]:
    """Whole orders from 2 to the last, eight to an octave."""
    steps = range(_STEPS, math.ceil(_STEPS * math.log2(last)) + 1)
    return [*dict.fromkeys(min(last, round(2 ** (step / _STEPS))) for step in steps)]
