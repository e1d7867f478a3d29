"""Where a search over whole orders starts: two values of a curve say how it grows."""

from __future__ import annotations

import contextlib
import math

from symacct.arithmetic import BALL
from symacct.core.errors import LimitError, OrderError, PrecisionError
from symacct.numerics import order_search
from symacct.rdp.curve import NodeCurve
from symacct.rdp.question import EpsilonDelta

_FAR = 2**17  # an order from which a search takes growing steps to what lies beyond
_SCALE = 8  # times further down, other valleys are looked for
_CHEAP = 64  # and as far up as a sum to the order costs little
_STEPS = 4  # of Newton's method, which is to be right to an order
_UNKNOWN = (ArithmeticError, ValueError, OrderError, PrecisionError, LimitError)


def whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The whole order at the bottom of f's valley, f what the conversion makes of the curve."""
    guess = max(first, _if_quadratic(question, curve))
    near = guess - max(1, guess // 8)  # most curves grow faster
    if not (question.asks_epsilon and first < near <= last):
        return order_search.whole_valley(f, first, last, guess)
    found = _if_exponential(curve, f, first, near)
    if 2 * found > near:
        return order_search.whole_valley_near(f, first, last, min(max(first, found), last))
    return order_search.whole_valley(f, first, last, near)


def lowest_whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The lowest of several valleys of a curve over whole orders, by some places next to them.

    A curve may have several where one theorem ends and another goes on.
    """
    found = whole_valley(question, curve, f, first, last)
    if curve.shape is not None:
        return found
    least, most = max(first, found // _SCALE), min(last, max(found, _CHEAP))
    places = (lead << twice for twice in range(most.bit_length()) for lead in (2, 3))
    start = order_search.lowest(f, (found, *(place for place in places if least <= place <= most)))
    return found if start == found else order_search.whole_valley_near(f, first, last, start)


def _if_quadratic(question: EpsilonDelta, curve: NodeCurve) -> int:
    """The best order if K were quadratic and the conversion classic; at most `_FAR`."""
    with contextlib.suppress(*_UNKNOWN):
        given, eps = BALL.number(question.value), float(curve(2))
        square = -2 * float(given.log()) / eps if question.asks_epsilon else float(given) / eps
        lam = math.sqrt(square) if question.asks_epsilon else square
        return 1 + round(min(lam, _FAR))
    return 2


def _if_exponential(curve: NodeCurve, f: order_search.Objective, first: int, near: int) -> int:
    """The best order if K = kλ(λ+1)e^{gλ} and λf − K = c + t log λ, by two orders; 0 for none.

    There λK′ − K = kλ²(1 + g(λ+1))e^{gλ} is what c + t log λ exceeds its derivative by, times λ.
    """
    with contextlib.suppress(*_UNKNOWN):
        (low, k1, c1), (lam, k2, c2) = (_parts(curve, f, alpha) for alpha in (first, near))
        growth = math.log(k2 * low * (low + 1) / (k1 * lam * (lam + 1))) / (lam - low)
        rise = (c2 - c1) / math.log(lam / low)
        size = math.log(k1 / (low * (low + 1))) - growth * low
        for _ in range(_STEPS):
            bend = 1 + growth * (lam + 1)
            paid = c2 + rise * (math.log(lam / (near - 1)) - 1)
            off = size + growth * lam + math.log(lam * lam * bend / paid)
            lam = max(lam / 4, lam - off / (2 / lam + growth + growth / bend - rise / (lam * paid)))
        return 1 + round(lam)
    return 0


def _parts(curve: NodeCurve, f: order_search.Objective, alpha: int) -> tuple[float, float, float]:
    """λ, K(λ) and λf − K, in floats."""
    lam, eps = alpha - 1, curve(alpha)
    return float(lam), lam * float(eps), lam * float(f(alpha) - eps)
