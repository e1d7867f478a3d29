"""Certified sums Σ C(α,l) u^l v^{α−l} T_l: few terms, and lines that bound the rest."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

from flint import arb, arb_poly, ctx

from symacct.arithmetic.ball import BALL
from symacct.core import deadline, limits
from symacct.numerics.sums.exponentials import binomial_weights
from symacct.numerics.sums.majorant import LINE_BITS, LOG_2, SHORT, Majorant
from symacct.numerics.sums.refine import up_to, within
from symacct.numerics.sums.terms import Terms, dense_sum
from symacct.numerics.sums.weights import Rates, Span, Weights, float_log, guarded

Block = tuple[float, int, int, float, float]

SHAPES = ("convex", "nondecreasing")
SLACK_BITS = 9  # what is skipped aims below 2^-(prec-SLACK_BITS) of the sum
LONG = 64  # a longer block is cut before all of its terms are summed
GAIN = 5  # a cut must spare more terms than this to pay for itself
CANCELLED = 8  # bits that the exponentials of a run may lose before its terms are taken singly


def certified_mixture(terms: Terms, alpha: int, u: arb, v: arb, first: int = 2) -> arb:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l; every term where K has no known shape."""
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
        if shape is None or alpha - first < SHORT:
            return +run_sums(curve, {}, weights, [(first, alpha)])
        return _truncated(curve, weights)

    return at_rates(curve, alpha, (u, v), value)


def at_rates(curve: Majorant, alpha: int, rates: Rates, value: Callable[[Rates], arb]) -> arb:
    """value(u, v) where both rates are positive, and its limits elsewhere."""
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
    """The lower end of a rate, cut off at zero."""
    return rate.lower() if rate > 0 else arb(0)


class BlockPlan:
    """Blocks between cuts, split until those not to be summed fall below the floor."""

    def __init__(self, curve: Majorant, weights: Weights, bits: float, ends: Span) -> None:
        self.curve = curve
        self.weights = weights
        self.drop = bits * LOG_2 + 2.0
        self.best = -math.inf
        self.heights: dict[int, float] = {}
        self.dense: list[Span] = []
        for order in ends:
            self.add(order)

    def add(self, order: int) -> None:
        """Cut at the order and learn the height of its term."""
        height = self.weights.log_peak(order) + self.curve.cut(order)
        self.heights[order] = height
        self.best = max(self.best, height)

    def block(self, left: int, right: int) -> Block:
        """A block as minus the log of its bound, its ends and its line."""
        level, slope = self.curve.float_line(left, right)
        span = self.curve.inner(left, right)
        return -self.weights.log_bound(span, level, slope), left, right, level, slope

    def refine(self) -> None:
        """Split the largest block until what is not dense lies below the floor."""
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
        """The order to cut a block at, or 0 once the terms to sum are known."""
        length = right - left
        mode = self.weights.mode(slope)
        margin = max(SHORT, length // 64)
        if left + margin < mode < right - margin:
            return round(mode)
        low, high = self.weights.window((left, right), slope, self.best - self.drop - level)
        if high - low <= SHORT:
            self.dense.append((low, high))
            return 0
        least = max(GAIN, length // 16)
        if right - high > least:
            return high
        if low - left > least:
            return low
        cheap = self.curve.exponentials or self.curve.is_affine(left, right)
        if length > LONG and not cheap:
            return (left + right) // 2
        self.dense.append((left, right))
        return 0

    def runs(self) -> list[Span]:
        """The maximal runs of orders to sum: dense spans and tall cuts."""
        floor = self.best - self.drop
        tall = [(k, k) for k, height in self.heights.items() if height > floor]
        return merged(self.dense + tall)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans as maximal runs in ascending order."""
    runs: list[Span] = []
    for low, high in sorted(spans):
        if runs and low <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(high, runs[-1][1])
        else:
            runs.append((low, high))
    return runs


def run_sums(curve: Majorant, balls: dict[int, arb], weights: Weights, runs: list[Span]) -> arb:
    """The sum of all terms in the runs, K taken from the balls or else from the oracle."""
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
        return sum((weights.total(run[0], found) for run, found in parts), arb(0))


def _truncated(curve: Majorant, weights: Weights) -> arb:
    """The sum over the orders that matter, plus a ball for the others."""
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
    """The sum over the runs, in closed form where K is a line or made of exponentials."""
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


def exponential_sum(curve: Majorant, weights: Weights, run: Span) -> arb | None:
    """The sum over a run by its few exponentials, if no more than CANCELLED bits cancel."""
    (low, high), terms = run, curve.terms
    if high - low < SHORT or curve.exponentials is None or terms.shift is None:
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
        kept = sum(map(abs, parts), arb(0)) <= total * 2**CANCELLED
        return weights.at(low) * total if kept else None


def affine_sum(curve: Majorant, weights: Weights, run: Span) -> arb | None:
    """F e^c (v + u e^d)^α for a run where K_l = c + dl, if its ends do not count."""
    (low, high), terms = run, curve.terms
    if high - low <= LONG or low <= curve.first or terms.shift is None:
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
