"""Binomial sums Σ_l C(α,l) u^l v^{α−l} T_l over a curve, certified, in each arithmetic."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, singledispatch
from heapq import heapify, heappop, heappush
from itertools import pairwise
from operator import mul
from typing import Any, Protocol

import numpy as np
from flint import arb, arb_poly, ctx, fmpz_poly

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.arithmetic.ball import BALL, up_to, within
from symacct.kernel.exact import Numeric, Order
from symacct.kernel.memory import cached_property

# --- weights
#
# The weights C(α,l) u^l v^{α−l} of a binomial sum: about their size in floats, and as balls.

Span = tuple[int, int]
Rates = tuple[arb, arb]

#: The largest modulus of a float that steers; its products with orders are finite. It steers.
HUGE = 1e200
#: Newton steps by which the edge of a window is found; a rough edge costs terms, not soundness.
NEWTON_STEPS = 12


def float_log(x: arb) -> float:
    """log x of a ball x >= 0 as a float that steers, also where x itself leaves the floats.

    −∞ at 0; NaN where only the ball's own log could tell, and it holds numbers not above 0.
    """
    value = float(x)
    if 0.0 < value < math.inf:
        return math.log(value)
    return -math.inf if x.is_zero() else to_float(x.log())


def to_float(x: arb) -> float:
    """The midpoint of x as a float that steers, cut off at ±HUGE; NaN stays NaN."""
    value = float(x)
    return value if abs(value) <= HUGE or value != value else math.copysign(HUGE, value)


class Weights:
    """The weights b_l = C(α,l) u^l v^{α−l} of whole α >= 1 and certainly positive balls u and v.

    Methods that return balls prove, those that return floats steer.
    """

    def __init__(self, alpha: int, rates: Rates) -> None:
        self.alpha = alpha
        self.u, self.v = rates
        self.log_v = float_log(self.v)
        self.log_odds = float_log(self.u) - self.log_v
        self.base = alpha * (self.log_v + math.log(alpha))

    def at(self, order: int) -> arb:
        """The weight b_l = C(α,l) u^l v^{α−l} as a ball at the current precision, 0 <= l <= α."""
        rest = self.alpha - order
        return arb.bin_uiui(self.alpha, min(order, rest)) * self.u**order * self.v**rest

    def total(self, low: int, terms: list[arb]) -> arb:
        """Σ b_l t_l over l = low, low+1, …, one term each; at least one, and 0 <= l <= α.

        Horner's rule by b_{l+1} = b_l·(α−l)/(l+1)·u/v, so that only b_low is a power.
        """
        ratio = self.u / self.v
        order = low + len(terms) - 1
        total = terms[-1]
        for value in reversed(terms[:-1]):
            total = value + total * (self.alpha - order + 1) * ratio / order
            order -= 1
        return self.at(low) * total

    # Proved in docs/proofs/sums.md, Lemma block-bound.
    def bound(self, span: Span, level: arb, slope: arb) -> arb:
        """(v + u e^t)^α e^{c + max((d−t)lo, (d−t)hi)} >= Σ_{l=lo}^{hi} b_l e^{c+dl}, as a ball.

        `level` is c and `slope` is d. The tilt t is found in floats; the bound holds for any t.
        """
        tilt = arb(self.best_tilt(span, to_float(slope)))
        drop = slope - tilt
        peak = (drop * span[0]).max(drop * span[1])
        log_mass = (self.v + self.u * tilt.exp()).log() * self.alpha
        return (log_mass + level + peak).exp()

    def log_peak(self, order: int) -> float:
        """log min_t (v + u e^t)^α e^{−tl} in floats, 1 <= l <= α; about log b_l, and not below it.

        It steers: where to cut, and which terms are too small to be summed.
        """
        value = self.base + order * (self.log_odds - math.log(order))
        rest = self.alpha - order
        return value - rest * math.log(rest) if rest else value

    def mode(self, slope: float) -> float:
        """The mode α u e^d/(v + u e^d) of the weights b_l e^{dl}, a float; 0 where it is tiny."""
        odds = self.log_odds + slope
        return self.alpha / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0

    def tilt(self, order: int) -> float:
        """The tilt t for which b_l e^{tl} has its mode at this order, or ½ beside it at 0 and α."""
        return math.log((order or 0.5) / (self.alpha - order or 0.5)) - self.log_odds

    def best_tilt(self, span: Span, slope: float) -> float:
        """The t that minimises (v + u e^t)^α max(e^{(d−t)lo}, e^{(d−t)hi}), in floats."""
        least = self.tilt(span[0])
        if slope <= least:
            return least
        most = self.tilt(span[1])
        return min(slope, most)

    def edge(self, order: float, slope: float, floor: float) -> float:
        """About the order l at which log_peak(l) + d·l meets `floor`, a log, by Newton steps.

        `order` is where the steps begin, outside of the orders that are above the floor.
        """
        # The function is concave: the steps come nearer without passing the root.
        odds = self.log_odds + slope
        for _ in range(NEWTON_STEPS):
            rest = self.alpha - order
            value = self.base + order * (odds - math.log(order)) - rest * math.log(rest) - floor
            if value > -1.0:
                break
            order -= value / (odds + math.log(rest / order))
        return order

    def window(self, span: Span, slope: float, floor: float) -> Span:
        """The orders of a span at which log_peak(l) + d·l is about the log `floor` or above it."""
        low, high = span
        mode = self.mode(slope)
        if mode < high:
            start = min(high, self.alpha - 0.5)
            high = max(low, min(high, math.ceil(self.edge(start, slope, floor))))
        if mode > low:
            low = min(high, max(low, math.floor(self.edge(low, slope, floor))))
        return low, high

    def log_bound(self, span: Span, level: float, slope: float) -> float:
        """The log of `bound` in floats: whether a block can be left out, before balls prove it."""
        tilt = self.best_tilt(span, slope)
        odds = self.log_odds + tilt
        log_mass = self.log_v + (odds if odds > 40.0 else math.log1p(math.exp(odds)))
        drop = slope - tilt
        return self.alpha * log_mass + level + drop * span[drop > 0.0]


def guarded(alpha: int) -> int:
    """The bits at which α additions lose no digit of the current precision: log₂ α + 8 more."""
    return ctx.prec + alpha.bit_length() + 8


# --- runs of exponentials
#
# Sums of moments made of exponentials over a whole run of orders, from few exponentials in all.
#
# A closed form is e^{(l−1)ε(l)} − 1 = Σ_i c_i(l) (e^{a_i + d_i·l} − 1) / m(l).  Weighted by w_l x^l
# and summed over a run, it is Σ_i e^{a_i} P_i(x e^{d_i}) − P_i(x), where the polynomial P_i has the
# coefficients w_l c_i(l)/m(l).  A leaf's own formula gives a, c, d and m in the arithmetic below.


@dataclass(frozen=True)
class LinearExponent:
    """The numbers a + d·l at the orders l of a run, which stand for the order in a formula.

    Only sums and products with constants stay of this form; others are NotImplemented, from which
    `over_run` sees that a formula is no sum of exponentials.
    """

    #: The whole orders of the run, each one more than the last, as Python's integers.
    orders: np.ndarray
    a: int | arb = 0
    d: int | arb = 1

    def numbers(self) -> np.ndarray:
        """The numbers a + d·l, one for each order: whole numbers or balls, never floats."""
        return self.a + self.d * self.orders

    def expm1(self) -> ExponentialSum:
        """The sum of exponentials that is e^{a + d·l} − 1 alone."""
        return ExponentialSum([(1, self)])

    def __add__(self, other: object) -> Any:
        """Add a number to the exponents at all orders."""
        if isinstance(other, int | arb):
            return LinearExponent(self.orders, self.a + other, self.d)
        return NotImplemented

    def __mul__(self, other: object) -> Any:
        """Multiply the exponents at all orders by a number."""
        if isinstance(other, int | arb):
            return LinearExponent(self.orders, self.a * other, self.d * other)
        return NotImplemented

    def __neg__(self) -> LinearExponent:
        return LinearExponent(self.orders, -self.a, -self.d)

    def __sub__(self, other: LinearExponent | int | arb) -> Any:
        return self + -other

    def __rsub__(self, other: object) -> Any:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


@dataclass(frozen=True)
class ExponentialSum:
    """Σ_i c_i(l) (e^{a_i + d_i·l} − 1) / m(l) at the orders l of a run.

    Each c_i and m is a whole number, a ball, or an array of one for each order.
    """

    #: The pairs of c_i and of the exponent a_i + d_i·l.
    parts: list[tuple[Any, LinearExponent]]
    m: Any = 1

    def __add__(self, other: object) -> Any:
        """Add two sums, over the product of their denominators."""
        if isinstance(other, ExponentialSum):
            mine, theirs = self._times(other.m), other._times(self.m)
            return ExponentialSum(mine + theirs, self.m * other.m)
        return NotImplemented

    def __sub__(self, other: ExponentialSum) -> Any:
        return self + other * -1

    def __mul__(self, other: object) -> Any:
        """Multiply by a number, or by one for each order."""
        factor = other.numbers() if isinstance(other, LinearExponent) else other
        if isinstance(factor, int | arb | np.ndarray):
            return ExponentialSum(self._times(factor), self.m)
        return NotImplemented

    def __truediv__(self, other: object) -> Any:
        """Divide by a number, or by one for each order."""
        factor = other.numbers() if isinstance(other, LinearExponent) else other
        if isinstance(factor, int | arb | np.ndarray):
            return ExponentialSum(self.parts, self.m * factor)
        return NotImplemented

    __rmul__ = __mul__

    def _times(self, factor: int | arb | np.ndarray) -> list[tuple[Any, LinearExponent]]:
        """The parts with their factors c_i multiplied by a number, or by one for each order."""
        return [(c * factor, line) for c, line in self.parts]

    def summed(self, weights: np.ndarray, x: arb) -> list[arb]:
        """The balls that add up to Σ_l w_l x^{l−low} Σ_i c_i (e^{a_i + d_i·l} − 1)/m.

        `low` is the first order. They are e^{a_i + d_i·low} P_i(x e^{d_i}) and −P_i(x), P_i having
        the coefficients w_l c_i/m from low on: a pair for each exponential, so that the caller sees
        how much cancels.
        """
        m = self.m
        if isinstance(m, np.ndarray):
            weights, m = weights / m, 1
        values = []
        for c, line in self.parts:
            varies = isinstance(c, np.ndarray)
            polynomial = arb_poly((weights * c if varies else weights).tolist())
            scale = 1 / arb(m) if varies else arb(c) / m
            rise = arb(line.a + line.d * int(line.orders[0])).exp()
            values += [scale * rise * polynomial(x * arb(line.d).exp()), -scale * polynomial(x)]
        return values


class ExponentialArithmetic(BallArithmetic):
    """Balls, in which a whole run of orders stands for the order: `number` leaves it as it is."""

    def number(self, value: Numeric | LinearExponent) -> Number:
        """The number, or exponents linear in the order as they are."""
        return value if isinstance(value, LinearExponent) else super().number(value)


#: The arithmetic in which a theorem's terms become sums of exponentials in the order.
EXPONENTIALS = ExponentialArithmetic()


def over_run(formula: Callable[[Arithmetic], Any], orders: range) -> ExponentialSum | None:
    """A leaf's formula at all orders of a run, as a sum of exponentials; None where it is none.

    The formula, called with an arithmetic, gives back l ↦ e^{(l−1)ε(l)} − 1. An AttributeError or a
    TypeError of it is taken to say that it is made of something else.
    """
    try:
        value = formula(EXPONENTIALS)(
            LinearExponent(np.arange(orders.start, orders.stop).astype(object))
        )
    except (AttributeError, TypeError):
        return None
    return value if isinstance(value, ExponentialSum) else None


def binomial_weights(alpha: int, orders: range) -> np.ndarray:
    """Balls for C(α,l)/C(α,low) at the orders l of a run that starts at low, 0 <= l <= α."""
    l = np.arange(orders.start, orders.stop - 1).astype(object)
    ratios = arb(1) * (alpha - l) / (l + 1)
    return np.multiply.accumulate(np.concatenate([[arb(1)], ratios]))


# --- terms
#
# What a binomial sum over a curve adds up; to a low order all of it, as one polynomial.

#: The largest order α at which all terms are summed as one polynomial, where they are cheap: to
#: prove that most of more are small costs less. Both ways are enclosures; it costs time alone.
DENSE_ORDER = 64

#: A run of orders ↦ the terms over it; None where exponentials do not make them up.
Exponentials = Callable[[range], ExponentialSum | None]


class SummedCurve(Protocol):
    """A curve ε whose K_l = (l−1)ε(l) a sum asks for at whole orders."""

    @property
    def shape(self) -> str | None:
        """What is proved at whole orders: K is "convex", K_1 = 0; ε is "nondecreasing"; or None."""

    def __call__(self, alpha: Order) -> Number:
        """ε(α) in nats."""

    def excesses(self) -> Callable[[Number], Number]:
        """l ↦ e^{K_l} − 1."""

    def exponentials(self) -> Exponentials | None:
        """A run ↦ e^{K_l} − 1 over it in balls; None where the curve offers no such function."""

    def dense(self, orders: range) -> list[Number] | None:
        """e^{K_l} − 1 at each order of a run; None where a value costs more than a sum spares."""


def _itself(l: Number, excess: Number) -> Number:
    """The form of a term that is e^{K_l} − 1 itself."""
    return excess


# Proved in docs/proofs/sums.md, Lemma no-cancellation.
@dataclass(frozen=True)
class Terms:
    """The terms t_l = form(l, e^{K_l} − 1), 0 <= t_l <= factor·e^{K_l}, with K_l = (l−1)ε(l) >= 0.

    Who writes a `form` guarantees that bound, on which the sum's certificate rests. If `shift` is
    not None, the term is factor·e^{K_l} − shift, and closed forms of whole runs apply.
    """

    eps: SummedCurve
    form: Callable[[Number, Number], Number] = _itself
    factor: int = 1
    shift: int | None = 1

    @cached_property
    def excess(self) -> Callable[[Number], Number]:
        """l ↦ e^{K_l} − 1, by the curve's own formula where it has one."""
        return self.eps.excesses()

    def __call__(self, l: Number) -> Number:
        """t_l at a whole order, or at each of an array in float64."""
        return self.excess(l) if self.form is _itself else self.form(l, self.excess(l))

    def at(self, l: int, log_moment: arb) -> Number:
        """t_l in balls from a ball for K_l."""
        return self.form(l, log_moment.expm1())

    def dense(self, orders: range) -> list[Number] | None:
        """t_l at all orders of a run; None where they are not cheap."""
        excesses = self.eps.dense(orders)
        if excesses is None or self.form is _itself:
            return excesses
        return list(map(self.form, orders, excesses))

    def log_moment(self, l: int) -> Number:
        """K_l = (l−1)ε(l) in nats, which asks the curve at l."""
        return (l - 1) * self.eps(l)

    def exponentials(self) -> Exponentials | None:
        """A run ↦ e^{K_l} − 1 over it as exponentials; None where `shift` is, or without them."""
        return None if self.shift is None else self.eps.exponentials()


@cache
def _binomials(alpha: int, first: int) -> list[arb]:
    """C(α,l) for first <= l <= α, as exact balls; remembered, so α has to be small."""
    return list(map(arb, (fmpz_poly([1, 1]) ** alpha).coeffs()[first:]))


def dense_sum(terms: Terms, alpha: int, rates: Rates, first: int) -> arb | None:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l by all of its terms, as one polynomial.

    None where α > DENSE_ORDER or α < first, where a rate is not certainly positive, where the terms
    are not cheap, and where the sum is not finite.
    """
    u, v = rates
    if not (first <= alpha <= DENSE_ORDER and u > 0 and v > 0):
        return None
    # Whatever the order, so that the terms serve the next one.
    with ctx.workprec(guarded(DENSE_ORDER)):
        values = terms.dense(range(first, alpha + 1))
        if values is None:
            return None
        weighed = list(map(mul, values, _binomials(alpha, first)))
        if u > v:  # what is uncertain of a small v counts little in its powers
            total = u**alpha * arb_poly(weighed[::-1])(v / u)
        else:
            total = u**first * v ** (alpha - first) * arb_poly(weighed)(u / v)
    return total if total.is_finite() else None


# --- lines about the curve
#
# K_l = (l−1)ε(l) at the orders asked so far, and lines above and below it between them.
#
# On a block [lo, hi] where log T_l ≤ c + d·l, for every real tilt t,
#
#     Σ_{l=lo}^{hi} C(α,l) u^l v^{α−l} T_l ≤ (v + u e^t)^α · e^{c + max((d−t)lo, (d−t)hi)}.
#
# Python floats choose the cuts and tilts; balls evaluate the lines and the inequality.

LOG_2 = math.log(2.0)
#: The number of terms up to which all are summed, because to steer among them costs more. It costs
#: time alone.
SHORT_TERMS = 16
#: Bits beyond the precision for lines through large K: of K's digits e^K keeps log₂ K fewer. Of
#: fewer the balls are wider.
LINE_BITS = 32
#: The bend of K, as a share of K, from which floats show that K is no line; it saves balls only. A
#: smaller share costs time alone, as balls decide.
CLEAR_BEND = 2.0**-40


class Majorant:
    """What is known of K_l = (l−1)ε(l): its values at some orders, the cuts, and their lines.

    Between two neighbouring cuts, a block, a line lies above K: the chord where K is convex, else
    that from (1, 0) to the right end, as ε does not fall. Values that were asked are remembered.
    """

    def __init__(self, terms: Terms, first: int) -> None:
        self.terms = terms
        self.first = first
        self.log_factor = math.log(terms.factor)
        self.exponentials = terms.exponentials()
        self.convex = terms.eps.shape == "convex"
        self.moments: dict[int, arb] = {1: arb(0)}
        self.floats: dict[int, float] = {1: 0.0}
        self.known: dict[int, Number] = {}
        self.cuts: list[int] = [1]

    def moment(self, order: int) -> arb:
        """A ball for K_l; the curve is asked at most once per order."""
        value = self.moments.get(order)
        if value is None:
            value = self.moments[order] = self.terms.log_moment(order)
        return value

    def cut(self, order: int) -> float:
        """Makes the order a cut, at which its term is kept; gives back log t_l as a float."""
        moment = self.moment(order)
        self.floats[order] = to_float(moment)
        insort(self.cuts, order)
        term = self.known[order] = self.terms.at(order, moment)
        return float_log(term)

    def term(self, order: int) -> Number:
        """t_l: as it was found at a cut, unless e^{K_l} − 1 has a formula, which loses less."""
        known = self.known.get(order)
        if known is None or self.terms.eps.exponentials() is not None:
            return self.terms(order)
        return known

    def blocks(self) -> Iterable[Span]:
        """The blocks, pairs of neighbouring cuts; the first begins at 1, where K_1 = 0."""
        return pairwise(self.cuts)

    def inner(self, left: int, right: int) -> Span:
        """The orders of the sum strictly inside a block."""
        return max(left + 1, self.first), right - 1

    def is_small(self, right: int) -> bool:
        """Is the constant factor·(e^{K_right} − 1) to bound the terms up to `right`, for K < log 2?

        It does bound them where shift = factor; the chord of e^K would be far above small terms.
        """
        return self.terms.shift == self.terms.factor and self.floats[right] < LOG_2

    def anchor(self, left: int) -> int:
        """The order, `left` or 1, whose chord to the right end of the block lies above K."""
        return left if self.convex else 1

    def float_line(self, left: int, right: int) -> tuple[float, float]:
        """Floats c and d with about log t_l <= c + d·l on the block; they steer."""
        if self.is_small(right):
            return float_log(self.moments[right].expm1()) + self.log_factor, 0.0
        level, slope = self.float_chord(self.anchor(left), right)
        return level + self.log_factor, slope

    def float_chord(self, left: int, right: int) -> tuple[float, float]:
        """Floats c and d of the line c + d·l through K at two cuts; d = 0 where they are one."""
        end = self.floats[right]
        slope = (end - self.floats[left]) / (right - left) if left < right else 0.0
        return end - slope * right, slope

    def slope(self, left: int, right: int) -> arb:
        """The slope of the chord of K between two cuts, a ball; 0 where they are one."""
        if left == right:
            return arb(0)
        return (self.moments[right] - self.moments[left]) / (right - left)

    # Proved in docs/proofs/sums.md, Lemma lines-above.
    def bound(self, weights: Weights, block: Span, span: Span) -> arb:
        """An upper bound of Σ b_l t_l over a span of orders in a block, by the line above K."""
        left, right = block
        end, factor = self.moments[right], self.terms.factor
        if self.is_small(right):
            return factor * end.expm1() * weights.bound(span, arb(0), arb(0))
        slope = self.slope(self.anchor(left), right)
        return factor * weights.bound(span, end - slope * right, slope)

    def outside(self, weights: Weights, runs: list[Span]) -> arb:
        """The ball [0, bound] that holds Σ b_l t_l over all orders of the sum outside the runs."""
        spans = self.spans_outside(runs)
        return up_to(sum((self.bound(weights, *side) for side in spans), arb(0)))

    def spans_outside(self, runs: list[Span]) -> Iterator[tuple[Span, Span]]:
        """Pairs of a block and a span of its orders that lies in no run, left end excluded.

        The runs are ascending and disjoint; together with the spans they cover `first` to the last
        cut once, on which the certificate of the whole sum rests.
        """
        beyond = self.cuts[-1] + 1
        ahead = iter([*runs, (beyond, beyond)])
        start, end = next(ahead)
        low = self.first
        for left, right in self.blocks():
            while low <= right:
                deadline.check()
                if low < start:
                    high = right if right < start else start - 1
                    yield (left, right), (low, high)
                    low = high + 1
                else:
                    low = end + 1
                    start, end = next(ahead)

    def neighbours(self, left: int, right: int) -> tuple[int, int]:
        """The cut before `left` and the cut after `right`, whose chords lie below K on the block.

        1 and 0 where there is none, or where K is not known to be convex.
        """
        index = bisect_left(self.cuts, left)
        after = bisect_left(self.cuts, right) + 1
        before = self.cuts[index - 1] if index and self.convex else 1
        return before, self.cuts[after] if after < len(self.cuts) and self.convex else 0

    def float_gap(self, left: int, right: int) -> float:
        """About `gap`, in floats, to see at once that a block is no line."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.float_chord(anchor, right)[1]
        gap = (above - self.float_chord(before, left)[1]) * (right - anchor)
        if after:
            gap = min(gap, (self.float_chord(right, after)[1] - above) * (right - left))
        return gap

    def gap(self, left: int, right: int) -> arb:
        """A ball whose upper end bounds how far the line above K is from those below on a block."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.slope(anchor, right)
        gap = (above - self.slope(before, left)) * (right - anchor)
        if after:
            gap = gap.min((self.slope(right, after) - above) * (right - left))
        return gap

    def is_affine(self, left: int, right: int) -> bool:
        """Do lines enclose K on the block about as well as the curve's own balls would?

        That is to 8 radii of K, or to the last bits of min(K, 1).
        """
        radius = self.moments[right].rad()
        if self.float_gap(left, right) > max(CLEAR_BEND * self.floats[right], 16.0 * float(radius)):
            return False
        least = self.moments[left].min(arb(1))
        error = 8 * radius + least * arb(2) ** (2 - ctx.prec)
        with ctx.workprec(ctx.prec + LINE_BITS):
            return bool(self.gap(left, right) <= error)

    def affine_balls(self, blocks: list[Span]) -> dict[int, arb]:
        """Balls for K at the orders inside those blocks of more than SHORT_TERMS that are lines."""
        balls: dict[int, arb] = {}
        for left, right in blocks:
            if right - left > SHORT_TERMS and self.is_affine(left, right):
                with ctx.workprec(ctx.prec + LINE_BITS):
                    balls.update(self.interpolated((left, right), (left + 1, right - 1)))
        return balls

    def chain(self, run: Span) -> list[Span]:
        """The blocks that make up a run; empty if one of its ends is no cut."""
        inside = self.cuts[bisect_left(self.cuts, run[0]) : bisect_left(self.cuts, run[1] + 1)]
        ends = inside[:1] + inside[-1:]
        return list(pairwise(inside)) if ends == list(run) else []

    # Proved in docs/proofs/sums.md, Lemma convex-sums.
    def interpolated(self, block: Span, span: Span) -> dict[int, arb]:
        """Balls for K at a span of orders in a block, from the line above it and those below it."""
        left, right = block
        before, after = self.neighbours(left, right)
        start, end = self.moments[left], self.moments[right]
        above, below = self.slope(self.anchor(left), right), self.slope(before, left)
        beyond = self.slope(right, after) if after else None
        balls = {}
        for order in range(span[0], span[1] + 1):
            lower = start + below * (order - left)
            if beyond is not None:
                lower = lower.max(end - beyond * (right - order))
            balls[order] = lower.union(end - above * (right - order))
        return balls


# --- truncated sums
#
# Certified sums Σ C(α,l) u^l v^{α−l} T_l: few terms, and lines that bound the rest.

#: Minus the log of a block's bound, the two ends of the block, and c and d of its line c + d·l.
Block = tuple[float, int, int, float, float]

#: What a curve may state, if anything: a convex K, or an ε that does not fall. Either gives a line
#: above K on each block.
SHAPES = ("convex", "nondecreasing")
#: The terms left out are to be below 2^{9 − precision} of the sum. A bound of them is added,
#: whatever they are: more bits save terms, and widen the ball.
SLACK_BITS = 9
#: The number of terms up to which a block is summed without being cut once more. It costs time
#: alone.
BLOCK_TERMS = 64
#: The number of terms that a cut has to spare to pay for the value of the curve that it asks. It
#: costs time alone.
SPARED_TERMS = 5
#: Bits that may cancel among the exponentials of a run, before its terms are summed one by one.
#: More would widen the ball.
MOST_CANCELLED_BITS = 8


# Proved in docs/proofs/sums.md, Lemma partition.
def certified_mixture(terms: Terms, alpha: int, u: arb, v: arb, first: int = 2) -> arb:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l as a ball, of whole α and balls u, v >= 0.

    Where K's shape is known, few terms are summed, and a proved bound of the others enters the
    radius. LimitError above the limit on orders; ValueError for a negative or infinite rate.
    """
    limits.check("order", alpha, "order alpha")
    shape = terms.eps.shape
    if shape is not None and shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}")
    dense = dense_sum(terms, alpha, (u, v), first)
    if dense is not None:
        return dense
    curve = Majorant(terms, first)

    def value(rates: Rates) -> arb:
        weights = Weights(alpha, rates)
        if shape is None or alpha - first < SHORT_TERMS:
            return +run_sums(curve, {}, weights, [(first, alpha)])
        return _truncated(curve, weights)

    return at_rates(curve, alpha, (u, v), value)


def at_rates(curve: Majorant, alpha: int, rates: Rates, value: Callable[[Rates], arb]) -> arb:
    """The sum as value(u, v) gives it where both rates are positive and K_α is finite.

    Else its limits: 0 for α < first or u = 0, and u^α t_α for v = 0 or an infinite K_α. A rate
    whose ball reaches 0 is replaced by its two ends, as the sum rises in both rates.
    """
    u, v = rates
    if alpha < curve.first or u.is_zero():
        return arb(0)
    positive = u > 0 and v > 0
    if positive and curve.moment(alpha).is_finite():
        return value(rates)
    if positive or v.is_zero():
        last: arb = curve.terms.at(alpha, curve.moment(alpha))
        return u**alpha * last
    if u < 0 or v < 0 or not (u.is_finite() and v.is_finite()):
        raise ValueError("the rates must be finite and nonnegative")
    # The sum does not decrease in u or v, so a ball that reaches zero is bracketed by its ends.
    low, high = (_lower(u), _lower(v)), (u.upper(), v.upper())
    return at_rates(curve, alpha, low, value).union(at_rates(curve, alpha, high, value))


def _lower(rate: arb) -> arb:
    """The lower end of a ball, or 0 where it is below."""
    return rate.lower() if rate > 0 else arb(0)


class BlockPlan:
    """The plan of which orders are summed: blocks between cuts, split until the rest is small.

    Floats make the plan; `Majorant.outside` proves what it leaves out. Cuts ask for values of K.
    """

    def __init__(self, curve: Majorant, weights: Weights, bits: float, ends: Span) -> None:
        self.curve = curve
        self.weights = weights
        #: How many nats below the highest term a block may be left out.
        self.drop = bits * LOG_2 + 2.0
        #: The log of about the highest term so far.
        self.best = -math.inf
        #: About log b_l t_l at each cut.
        self.heights: dict[int, float] = {}
        #: The spans of which every term is summed.
        self.dense: list[Span] = []
        for order in ends:
            self.add(order)

    def add(self, order: int) -> None:
        """Cuts at the order, and keeps about log b_l t_l there."""
        height = self.weights.log_peak(order) + self.curve.cut(order)
        self.heights[order] = height
        self.best = max(self.best, height)

    def block(self, left: int, right: int) -> Block:
        """The block between two cuts with its bound and its line, as a heap sorts them."""
        level, slope = self.curve.float_line(left, right)
        span = self.curve.inner(left, right)
        return -self.weights.log_bound(span, level, slope), left, right, level, slope

    def refine(self) -> None:
        """Splits the block of the largest bound until all that is not dense is below the floor."""
        # The block before the first order of the sum has none of its orders inside.
        heap = [self.block(a, b) for a, b in self.curve.blocks() if b - a > 1 and a > 1]
        heapify(heap)
        self.dense = []
        while heap and -heap[0][0] > self.best - self.drop:
            deadline.check()
            _, left, right, level, slope = heappop(heap)
            order = self.choose(left, right, level, slope)
            if not order:
                continue
            self.add(order)
            if order - left > 1:
                heappush(heap, self.block(left, order))
            if right - order > 1:
                heappush(heap, self.block(order, right))

    def choose(self, left: int, right: int, level: float, slope: float) -> int:
        """The order to cut a block at, or 0: then the terms to sum of it are kept in `dense`."""
        length = right - left
        mode = self.weights.mode(slope)
        margin = max(SHORT_TERMS, length // 64)
        if left + margin < mode < right - margin:
            return round(mode)
        low, high = self.weights.window((left, right), slope, self.best - self.drop - level)
        if high - low <= SHORT_TERMS:
            self.dense.append((low, high))
            return 0
        least = max(SPARED_TERMS, length // 16)
        if right - high > least:
            return high
        if low - left > least:
            return low
        cheap = self.curve.exponentials or self.curve.is_affine(left, right)
        if length > BLOCK_TERMS and not cheap:
            return (left + right) // 2
        self.dense.append((left, right))
        return 0

    def runs(self) -> list[Span]:
        """The maximal runs of orders to sum: dense spans, and the cuts above the floor."""
        floor = self.best - self.drop
        tall = [(k, k) for k, height in self.heights.items() if height > floor]
        return merged(self.dense + tall)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of spans of whole orders as maximal runs, in ascending order."""
    runs: list[Span] = []
    for low, high in sorted(spans):
        if runs and low <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(high, runs[-1][1])
        else:
            runs.append((low, high))
    return runs


def run_sums(curve: Majorant, balls: dict[int, arb], weights: Weights, runs: list[Span]) -> arb:
    """Σ b_l t_l over all orders of the runs, K_l from `balls` where it is there, else asked."""
    terms = curve.terms
    values = [
        [
            terms.at(k, balls[k]) if k in balls else curve.term(k)
            for k in deadline.each(range(low, high + 1))
        ]
        for low, high in runs
    ]
    with ctx.workprec(guarded(weights.alpha)):
        parts = zip(runs, values, strict=True)
        return sum((weights.total(run[0], sums) for run, sums in parts), arb(0))


def _truncated(curve: Majorant, weights: Weights) -> arb:
    """The sum over the orders that matter, plus the ball [0, bound] for all the others.

    The floor sinks until that bound is below 2^{SLACK_BITS − precision} of the sum or its radius.
    """
    curve.cuts = [1]
    plan = BlockPlan(curve, weights, ctx.prec - SLACK_BITS, (curve.first, weights.alpha))
    while True:
        deadline.check()
        plan.refine()
        runs = plan.runs()
        total = _sum_of_runs(curve, weights, runs, plan.dense)
        rest = curve.outside(weights, runs)
        goal = (total * arb(2) ** (SLACK_BITS - ctx.prec)).max(total.rad())
        # Nothing is left to refine at an infinite drop, nor where a moment is no number.
        if rest <= goal or not plan.drop < math.inf:
            return total + rest
        plan.drop += float_log(rest) - float_log(goal) + 1.0


def _sum_of_runs(curve: Majorant, weights: Weights, runs: list[Span], dense: list[Span]) -> arb:
    """Σ b_l t_l over the runs, in closed form where K is a line or e^K is made of exponentials.

    `dense` are the spans of the plan in which lines may stand for the curve's values.
    """
    total, listed = arb(0), []
    for run in runs:
        closed = affine_sum(curve, weights, run)
        if closed is None:
            closed = exponential_sum(curve, weights, run)
        if closed is None:
            listed.append(run)
        else:
            total += closed
    wanted = [span for span in dense if any(a <= span[0] and span[1] <= b for a, b in listed)]
    return total + run_sums(curve, curve.affine_balls(wanted), weights, listed)


# Proved in docs/proofs/sums.md, Lemma exponentials.
def exponential_sum(curve: Majorant, weights: Weights, run: Span) -> arb | None:
    """Σ b_l t_l over a run from the few exponentials that make e^K up.

    None for a short run, for a curve or terms not made of them, for small terms, and where more
    than MOST_CANCELLED_BITS cancel.
    """
    (low, high), terms = run, curve.terms
    if high - low < SHORT_TERMS or curve.exponentials is None or terms.shift is None:
        return None
    if curve.is_small(curve.cuts[bisect_left(curve.cuts, high)]):
        return None
    orders = range(low, high + 1)
    with ctx.workprec(guarded(weights.alpha)):
        excess = curve.exponentials(orders)
        if excess is None:
            return None
        # A term is F e^K − s = F(e^K − 1) + (F − s).
        binomials, odds = binomial_weights(weights.alpha, orders), weights.u / weights.v
        parts = [terms.factor * part for part in excess.summed(binomials, odds)]
        if terms.shift != terms.factor:
            parts.append((terms.factor - terms.shift) * arb_poly(binomials.tolist())(odds))
        total = sum(parts, arb(0))
        kept = sum(map(abs, parts), arb(0)) <= total * 2**MOST_CANCELLED_BITS
        return weights.at(low) * total if kept else None


# Proved in docs/proofs/sums.md, Lemma closed-run.
def affine_sum(curve: Majorant, weights: Weights, run: Span) -> arb | None:
    """F e^c (v + u e^d)^α for a run where K_l = c + dl: the binomial theorem, F the terms' factor.

    What lies outside the run is bounded and enters the radius, as does the bend of K. None for a
    short run, one of other terms or without lines, and where the radius is much more than K's.
    """
    (low, high), terms = run, curve.terms
    if high - low <= BLOCK_TERMS or low <= curve.first or terms.shift is None:
        return None
    blocks = curve.chain(run)
    if not blocks or not all(curve.is_affine(*block) for block in blocks):
        return None
    alpha, moments = weights.alpha, curve.moments
    error = moments[high].rad() * 16 + arb(2) ** (SLACK_BITS + 1 - ctx.prec)
    with ctx.workprec(ctx.prec + alpha.bit_length() + LINE_BITS):
        # Between two cuts K − dl leaves the range of its ends by the gap of the lines at most.
        slope = curve.slope(low, high).mid()
        level = moments[low] - slope * low
        for _, right in blocks:
            level = level.union(moments[right] - slope * right)
        level += within(BALL.maximum(*(curve.gap(*block) for block in blocks)))
        outside = weights.bound((0, low - 1), level, slope)
        if high < alpha:
            outside += weights.bound((high + 1, alpha), level, slope)
        mass = (weights.v + weights.u * slope.exp()) ** alpha * level.exp()
        # The terms are F e^{K_l} − s, and K_l is at least K_low.
        least = 1 - (-moments[low]).exp() * terms.shift / terms.factor
        total = terms.factor * (mass - up_to(outside)) * least.union(arb(1))
        return total if total.rad() <= error * total else None


# --- sums by arithmetic
#
# Binomial sums Σ_l C(α,l) u^l v^{α−l} t_l in each arithmetic.


@singledispatch
def binomial_sum(
    ctx: Arithmetic, alpha: Order, u: Number, v: Number, terms: Terms, first: int = 2
) -> Number:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l, for whole or symbolic α >= 1 and rates u, v >= 0.

    Here term by term, as in formulas; LimitError above the limit on orders in all other
    arithmetics.
    """

    def term(l: Number) -> Number:
        return ctx.binomial(alpha, l) * (u**l * v ** (alpha - l)) * terms(l)

    return ctx.sum(term, first, alpha)


@binomial_sum.register
def _(ctx: BallArithmetic, alpha: int, u: arb, v: arb, terms: Terms, first: int = 2) -> arb:
    """In balls: the terms that matter at this precision, and a proved bound on all the others."""
    return certified_mixture(terms, alpha, u, v, first)


@binomial_sum.register
def _(
    ctx: MpmathArithmetic, alpha: int, u: Number, v: Number, terms: Terms, first: int = 2
) -> Number:
    """In mpmath: every term, by b_{l+1} = b_l·(α−l)/(l+1)·u/v; u^α t_α for v = 0."""
    limits.check("order", alpha, "order alpha")
    if alpha < first:
        return ctx.number(0)
    if ctx.is_zero(v):
        return u**alpha * terms(alpha)
    weight = ctx.binomial(alpha, first) * u**first * v ** (alpha - first)
    odds = u / v
    total = weight * terms(first)
    for l in range(first + 1, alpha + 1):
        deadline.check()
        weight = weight * odds * (alpha - l + 1) / l
        total += weight * terms(l)
    return total


@binomial_sum.register
def _(
    ctx: Float64Arithmetic,
    alpha: int | np.ndarray,
    u: LogNumber,
    v: LogNumber,
    terms: Terms,
    first: int = 2,
) -> Number:
    """In float64, for one order or an array of them at once: b_l is 0 from l > α on."""
    orders = np.asarray(alpha, dtype=np.float64)
    limits.check("order", int(orders.max()), "order alpha")
    if ctx.is_zero(v):
        inside = np.where(orders >= first, 1.0, 0.0)
        return u**orders * terms(alpha) * inside
    powers = v ** np.maximum(orders - first, 0.0)
    weight = ctx.binomial(orders, first) * u**first * powers
    odds = u / v
    total = LogNumber.of(np.zeros_like(orders))
    for l in range(first, int(orders.max()) + 1):
        deadline.check()
        total = total + weight * terms(l)
        weight = weight * odds * (np.maximum(orders - l, 0.0) / (l + 1))
    return total
