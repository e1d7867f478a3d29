"""Certified sums Σ C(α,l) u^l v^{α−l} T_l whose terms come from an oracle K_l = (l−1)ε(l).

A few oracle calls find where the terms matter.  There every term is summed; the rest is bounded by
one inequality.  On a block [lo, hi] where log T_l ≤ c + d·l, for every real tilt t,

    Σ_{l=lo}^{hi} C(α,l) u^l v^{α−l} T_l ≤ (v + u e^t)^α · e^{c + max((d−t)lo, (d−t)hi)}.

Python floats choose the cuts and tilts; balls evaluate the sums, the lines and the inequality.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise

from flint import arb, arb_poly, ctx

from symacct.sums.exponentials import ExponentialSum, binomial_weights

LogMoment = Callable[[int], arb]
Term = Callable[[int, arb], arb]
Exponentials = Callable[[range], ExponentialSum | None]
Span = tuple[int, int]
Rates = tuple[arb, arb]
Block = tuple[float, int, int, float, float]

SHAPES = ("convex", "nondecreasing")
LOG_2 = math.log(2.0)
HUGE = 1e200  # a float whose products with orders are finite
SLACK_BITS = 9  # what is skipped aims below 2^-(prec-SLACK_BITS) of the sum
LONG = 64  # a longer block is cut before all of its terms are summed
SHORT = 16  # so few terms cost less than steering
GAIN = 5  # a cut must spare more terms than this to pay for itself
LINE_BITS = 32  # guard bits of lines through large K, whose exponentials are taken
NEWTON_STEPS = 12
CLEAR = 2.0**-40  # a bend of K, relative to K, that floats show for certain
SAMPLES = 9  # points at which the gap of a block is estimated
STEP = 2.0**-10  # of a secant, against the range of slopes
CANCELLED = 8  # bits that the exponentials of a run may lose before its terms are taken singly
WIDE = 1 << 14  # an enclosure leaves wider windows to the block bound


def _float_log(x: arb) -> float:
    """Return log x as a float, also where x leaves the range of floats."""
    value = float(x)
    if 0.0 < value < math.inf:
        return math.log(value)
    return -math.inf if x.is_zero() else _float(x.log())


def _float(x: arb) -> float:
    """Return x as a float, kept so small that what steers by it stays finite; NaN as it is."""
    value = float(x)
    return min(max(value, -HUGE), HUGE) if value == value else value


class _Weights:
    """Float logs of C(α,l) u^l v^{α−l}: they steer and prove nothing."""

    def __init__(self, alpha: int, rates: Rates) -> None:
        self.alpha = alpha
        self.log_v = _float_log(rates[1])
        self.log_odds = _float_log(rates[0]) - self.log_v
        self.base = alpha * (self.log_v + math.log(alpha))

    def log_peak(self, order: int) -> float:
        """Return log min_t (v+ue^t)^α e^{−tl}, about the weight times the width of a peak."""
        value = self.base + order * (self.log_odds - math.log(order))
        rest = self.alpha - order
        return value - rest * math.log(rest) if rest else value

    def width(self, order: float) -> float:
        """Return √(2π l(α−l)/α) or 1, the width of a peak of tilted weights at the order."""
        return math.sqrt(max(1.0, 2.0 * math.pi * order * (self.alpha - order) / self.alpha))

    def mode(self, slope: float) -> float:
        """Return the mode α u e^d/(v + u e^d) of the weights tilted by d."""
        odds = self.log_odds + slope
        return self.alpha / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0

    def tilt(self, order: int) -> float:
        """Return the tilt that moves the mode to the order."""
        return math.log((order or 0.5) / (self.alpha - order or 0.5)) - self.log_odds

    def best_tilt(self, span: Span, slope: float) -> float:
        """Return the minimiser over t of (v + u e^t)^α max(e^{(d−t)lo}, e^{(d−t)hi})."""
        least = self.tilt(span[0])
        if slope <= least:
            return least
        most = self.tilt(span[1])
        return min(slope, most)

    def edge(self, order: float, slope: float, floor: float) -> float:
        """Return about where log_peak + d·l meets the floor, by Newton steps from below it."""
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
        """Return the part of a span where the weights times e^{d·l} peak above e^floor."""
        low, high = span
        mode = self.mode(slope)
        if mode < high:
            start = min(high, self.alpha - 0.5)
            high = max(low, min(high, math.ceil(self.edge(start, slope, floor))))
        if mode > low:
            low = min(high, max(low, math.floor(self.edge(low, slope, floor))))
        return low, high

    def log_bound(self, span: Span, level: float, slope: float) -> float:
        """Return the log of the block bound for the majorant e^{c + d·l}."""
        tilt = self.best_tilt(span, slope)
        odds = self.log_odds + tilt
        log_mass = self.log_v + (odds if odds > 40.0 else math.log1p(math.exp(odds)))
        drop = slope - tilt
        return self.alpha * log_mass + level + drop * span[drop > 0.0]


def _tilted_bound(weights: _Weights, rates: Rates, span: Span, level: arb, slope: arb) -> arb:
    """Return (v + u e^t)^α e^{c + max((d−t)lo, (d−t)hi)}, which bounds Σ b_l e^{c+dl}."""
    tilt = arb(weights.best_tilt(span, _float(slope)))
    drop = slope - tilt
    peak = (drop * span[0]).max(drop * span[1])
    log_mass = (rates[1] + rates[0] * tilt.exp()).log() * weights.alpha
    return (log_mass + level + peak).exp().upper()


class _Curve:
    """K at the orders asked so far, and lines above and below it between the cuts."""

    def __init__(
        self,
        log_moment: LogMoment,
        term: Term,
        factor: int,
        shift: int | None,
        shape: str | None,
        first: int,
        direct: Callable[[int], arb] | None = None,
        exponentials: Exponentials | None = None,
    ) -> None:
        self.log_moment = log_moment
        self.known_term = direct or (lambda order: term(order, self.moment(order)))
        self.exponentials = exponentials
        self.term = term
        self.factor = factor
        self.log_factor = math.log(factor)
        # The bound factor·(e^K − 1) is relative: it stays sharp for a tiny K.
        self.relative = shift == factor
        self.shift = shift
        self.convex = shape == "convex"
        self.moments: dict[int, arb] = {1: arb(0)}
        self.floats: dict[int, float] = {1: 0.0}
        self.first = first
        self.cuts: list[int] = [1]

    def moment(self, order: int) -> arb:
        """Return a ball for K_l; the oracle is asked at most once per order."""
        value = self.moments.get(order)
        if value is None:
            value = self.moments[order] = self.log_moment(order)
        return value

    def cut(self, order: int) -> float:
        """Make the order an end of blocks; return the log of its term as a float."""
        moment = self.moment(order)
        self.floats[order] = _float(moment)
        insort(self.cuts, order)
        return _float_log(self.term(order, moment))

    def blocks(self) -> Iterable[Span]:
        """Return the pairs of neighbouring cuts, the first of them with K_1 = 0."""
        return pairwise(self.cuts)

    def inner(self, left: int, right: int) -> Span:
        """Return the orders of the sum strictly inside a block."""
        return max(left + 1, self.first), right - 1

    def is_small(self, right: int) -> bool:
        """Tell whether the constant factor·expm1(K_right) is to bound the terms up to right."""
        return self.relative and self.floats[right] < LOG_2

    def anchor(self, left: int) -> int:
        """Return the order left or 1 whose line through the right end lies above K."""
        return left if self.convex else 1

    def float_line(self, left: int, right: int) -> tuple[float, float]:
        """Return floats c, d with log T_l ≤ c + d·l on the block."""
        if self.is_small(right):
            return _float_log(self.moments[right].expm1()) + self.log_factor, 0.0
        level, slope = self.float_chord(self.anchor(left), right)
        return level + self.log_factor, slope

    def float_chord(self, left: int, right: int) -> tuple[float, float]:
        """Return floats c, d of the line through K at two orders, level where both are 1."""
        end = self.floats[right]
        slope = (end - self.floats[left]) / (right - left) if left < right else 0.0
        return end - slope * right, slope

    def float_under(self, left: int, right: int) -> list[tuple[float, float]]:
        """Return floats c, d of the lines below K on the block."""
        before, after = self.neighbours(left, right)
        lines = [self.float_chord(before, left)]
        return [*lines, self.float_chord(right, after)] if after else lines

    def slope(self, left: int, right: int) -> arb:
        """Return the slope of the chord of K between two orders, 0 where both are 1."""
        if left == right:
            return arb(0)
        return (self.moments[right] - self.moments[left]) / (right - left)

    def bound(self, weights: _Weights, rates: Rates, block: Span, span: Span) -> arb:
        """Return the upper bound of the module's head for a span of orders in a block."""
        left, right = block
        end = self.moments[right]
        if self.is_small(right):
            bound = _tilted_bound(weights, rates, span, arb(0), arb(0))
            return self.factor * end.expm1().upper() * bound
        slope = self.slope(self.anchor(left), right)
        return self.factor * _tilted_bound(weights, rates, span, end - slope * right, slope)

    def neighbours(self, left: int, right: int) -> tuple[int, int]:
        """Return the cut before left, or 1, and the cut after right, or 0."""
        index = bisect_left(self.cuts, left)
        after = bisect_left(self.cuts, right) + 1
        before = self.cuts[index - 1] if index and self.convex else 1
        return before, self.cuts[after] if after < len(self.cuts) and self.convex else 0

    def float_gap(self, left: int, right: int) -> float:
        """Return about how far the line above K leaves a line below it on the block."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.float_chord(anchor, right)[1]
        gap = (above - self.float_chord(before, left)[1]) * (right - anchor)
        if after:
            gap = min(gap, (self.float_chord(right, after)[1] - above) * (right - left))
        return gap

    def gap(self, left: int, right: int) -> arb:
        """Return a bound of how far the line above K leaves a line below it on the block."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.slope(anchor, right)
        gap = (above - self.slope(before, left)) * (right - anchor)
        if after:
            gap = gap.min((self.slope(right, after) - above) * (right - left))
        return gap.upper()

    def is_affine(self, left: int, right: int) -> bool:
        """Tell whether lines enclose K, or e^K where K is large, about as well as the oracle."""
        radius = self.moments[right].rad()
        if self.float_gap(left, right) > max(CLEAR * self.floats[right], 16.0 * float(radius)):
            return False
        least = self.moments[left].min(arb(1))
        error = 8 * radius + least * arb(2) ** (2 - ctx.prec)
        with ctx.workprec(ctx.prec + LINE_BITS):
            return bool(self.gap(left, right) <= error)

    def affine_balls(self, blocks: list[Span]) -> dict[int, arb]:
        """Return balls for K inside those of the blocks where lines replace the oracle."""
        balls: dict[int, arb] = {}
        for left, right in blocks:
            if right - left > SHORT and self.is_affine(left, right):
                with ctx.workprec(ctx.prec + LINE_BITS):
                    balls.update(self.interpolated((left, right), (left + 1, right - 1)))
        return balls

    def chain(self, run: Span) -> list[Span]:
        """Return the blocks that make up a run, none if its ends are not cuts."""
        inside = self.cuts[bisect_left(self.cuts, run[0]) : bisect_left(self.cuts, run[1] + 1)]
        ends = inside[:1] + inside[-1:]
        return list(pairwise(inside)) if ends == list(run) else []

    def interpolated(self, block: Span, span: Span) -> dict[int, arb]:
        """Return balls for K from the line above and the lines below a block."""
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


class _Plan:
    """Blocks between cuts, split until those not to be summed fall below the floor."""

    def __init__(self, curve: _Curve, weights: _Weights, bits: float, ends: Span) -> None:
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
        """Return a block as minus the log of its bound, its ends and its line."""
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
        """Return the order to cut a block at, or 0 once the terms to sum are known."""
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
        """Return the maximal runs of orders to sum: dense spans and tall cuts."""
        floor = self.best - self.drop
        tall = [(k, k) for k, height in self.heights.items() if height > floor]
        return _merged(self.dense + tall)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans as maximal runs in ascending order."""
    runs: list[Span] = []
    for low, high in sorted(spans):
        if runs and low <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(high, runs[-1][1])
        else:
            runs.append((low, high))
    return runs


def _spans_outside(curve: _Curve, runs: list[Span]) -> Iterable[tuple[Span, Span]]:
    """Yield each block with the orders in it, left end excluded, that lie in no run."""
    beyond = curve.cuts[-1] + 1
    ahead = iter([*runs, (beyond, beyond)])
    start, end = next(ahead)
    low = curve.first
    for left, right in curve.blocks():
        while low <= right:
            if low < start:
                high = right if right < start else start - 1
                yield (left, right), (low, high)
                low = high + 1
            else:
                low = end + 1
                start, end = next(ahead)


def _run_sum(alpha: int, rates: Rates, low: int, terms: list[arb]) -> arb:
    """Return Σ C(α,l) u^l v^{α−l} T_l over a run, by b_{l+1} = b_l·(α−l)/(l+1)·u/v from the end."""
    u, v = rates
    ratio = u / v
    order = low + len(terms) - 1
    total = terms[-1]
    for value in reversed(terms[:-1]):
        total = value + total * (alpha - order + 1) * ratio / order
        order -= 1
    return _weight(alpha, low, rates) * total


def _weight(alpha: int, order: int, rates: Rates) -> arb:
    """Return C(α,l) u^l v^{α−l}."""
    u, v = rates
    return arb.bin_uiui(alpha, min(order, alpha - order)) * u**order * v ** (alpha - order)


def _run_sums(
    curve: _Curve, balls: dict[int, arb], alpha: int, rates: Rates, runs: list[Span]
) -> arb:
    """Return the sum of all terms in the runs, K taken from the balls or else from the oracle."""
    term, known = curve.term, curve.known_term
    values = [
        [term(k, balls[k]) if k in balls else known(k) for k in range(low, high + 1)]
        for low, high in runs
    ]
    with ctx.workprec(ctx.prec + alpha.bit_length() + 8):
        parts = zip(runs, values, strict=True)
        return sum((_run_sum(alpha, rates, run[0], terms) for run, terms in parts), arb(0))


def _outside(curve: _Curve, weights: _Weights, rates: Rates, runs: list[Span]) -> arb:
    """Return [0, bound] for the sum of all terms outside the runs."""
    rest = arb(0)
    for block, span in _spans_outside(curve, runs):
        rest += curve.bound(weights, rates, block, span)
    return arb(0).union(rest)


def certified_binomial_sum(
    alpha: int,
    u: arb,
    v: arb,
    log_moment: LogMoment,
    term: Term,
    factor: int,
    first: int = 2,
    shape: str | None = "convex",
    shift: int | None = None,
    direct: Callable[[int], arb] | None = None,
    exponentials: Exponentials | None = None,
) -> arb:
    """Return Σ_{l=first}^{α} C(α,l) u^l v^{α−l} term(l, K_l), 0 ≤ term(l, K) ≤ factor·e^K.

    K_l = log_moment(l) ≥ 0.  The shape says what is known of K besides: "convex" (in l, with
    K_1 = 0), "nondecreasing" (ε(l) = K_l/(l−1)), or None, and then every term is summed.
    A shift says that term(l, K) = factor·e^K − shift, or at l = first no more than that.
    direct(l) is term(l, K_l) where that is had without K_l; exponentials(range) is e^{K_l} − 1 over
    a run of orders where it is made of exponentials, and then the shift holds at l = first too.
    """
    if shape is not None and shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}")
    curve = _Curve(log_moment, term, factor, shift, shape, first, direct, exponentials)

    def value(rates: Rates) -> arb:
        if shape is None or alpha - first < SHORT:
            return +_run_sums(curve, {}, alpha, rates, [(first, alpha)])
        return _truncated(curve, _Weights(alpha, rates), rates, first)

    return _at_rates(curve, alpha, (u, v), first, value)


def enclose_binomial_sum(
    alpha: int,
    u: arb,
    v: arb,
    log_moment: LogMoment,
    term: Term,
    factor: int,
    first: int = 2,
    calls: int = 32,
    shape: str = "convex",
    shift: int | None = None,
    gap: float = 0.0,
) -> arb:
    """Return a ball around the same sum from at most max(calls, 1) oracle calls.

    It stops early once the ball's width is at most gap·(1 + sum), about the gap of log(1 + sum).
    Besides what certified_binomial_sum asks, the term must not decrease in K and be convex in K.
    """
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}")
    curve = _Curve(log_moment, term, factor, shift, shape, first)

    def value(rates: Rates) -> arb:
        return _Enclosure(curve, _Weights(alpha, rates), rates).refined(calls, gap)

    return _at_rates(curve, alpha, (u, v), first, value)


def _at_rates(
    curve: _Curve, alpha: int, rates: Rates, first: int, value: Callable[[Rates], arb]
) -> arb:
    """Return value(u, v) where both rates are positive, and its limits elsewhere."""
    u, v = rates
    if alpha < first or u.is_zero():
        return arb(0)
    if u > 0 and v > 0:
        top = curve.moment(alpha)
        return value(rates) if top.is_finite() else u**alpha * curve.term(alpha, top)
    if v.is_zero():
        return u**alpha * curve.term(alpha, curve.moment(alpha))
    if u < 0 or v < 0 or not (u.is_finite() and v.is_finite()):
        raise ValueError("the rates must be finite and nonnegative")
    # The sum does not decrease in u or v, so a ball that reaches zero is bracketed by its ends.
    low, high = (_lower(u), _lower(v)), (u.upper(), v.upper())
    return _at_rates(curve, alpha, low, first, value).union(
        _at_rates(curve, alpha, high, first, value)
    )


def _lower(rate: arb) -> arb:
    """Return the lower end of a rate, cut off at zero."""
    return rate.lower() if rate > 0 else arb(0)


def _truncated(curve: _Curve, weights: _Weights, rates: Rates, first: int) -> arb:
    """Return the sum over the orders that matter, plus a ball for the others."""
    alpha = weights.alpha
    curve.cuts = [1]
    plan = _Plan(curve, weights, ctx.prec - SLACK_BITS, (first, alpha))
    while True:
        plan.refine()
        runs = plan.runs()
        total = _sum_of_runs(curve, weights, rates, runs, plan.dense)
        rest = _outside(curve, weights, rates, runs)
        goal = (total * arb(2) ** (SLACK_BITS - ctx.prec)).max(total.rad())
        # Nothing is left to refine at an infinite drop, nor where a moment is no number.
        if rest <= goal or not plan.drop < math.inf:
            return total + rest
        plan.drop += _float_log(rest) - _float_log(goal) + 1.0


def _sum_of_runs(
    curve: _Curve, weights: _Weights, rates: Rates, runs: list[Span], dense: list[Span]
) -> arb:
    """Return the sum over the runs, in closed form where K is a line."""
    total, listed = arb(0), []
    for run in runs:
        closed = _affine_sum(curve, weights, rates, run)
        if closed is None:
            closed = _exponential_sum(curve, weights.alpha, rates, run)
        if closed is None:
            listed.append(run)
        else:
            total += closed
    wanted = [span for span in dense if any(a <= span[0] and span[1] <= b for a, b in listed)]
    return total + _run_sums(curve, curve.affine_balls(wanted), weights.alpha, rates, listed)


def _exponential_sum(curve: _Curve, alpha: int, rates: Rates, run: Span) -> arb | None:
    """Return the sum over a run by its few exponentials, if no more than CANCELLED bits cancel."""
    low, high = run
    if high - low < SHORT or curve.exponentials is None or curve.shift is None:
        return None
    if curve.is_small(curve.cuts[bisect_left(curve.cuts, high)]):
        return None
    orders = range(low, high + 1)
    with ctx.workprec(ctx.prec + alpha.bit_length() + 8):
        moment = curve.exponentials(orders)
        if moment is None:
            return None
        # A term is F e^K − s = F(e^K − 1) + (F − s).
        weights, odds = binomial_weights(alpha, orders), rates[0] / rates[1]
        parts = [curve.factor * part for part in moment.summed(weights, odds)]
        if curve.shift != curve.factor:
            parts.append((curve.factor - curve.shift) * arb_poly(weights.tolist())(odds))
        total = sum(parts, arb(0))
        kept = sum(map(abs, parts), arb(0)) <= total * 2**CANCELLED
        return _weight(alpha, low, rates) * total if kept else None


def _affine_sum(curve: _Curve, weights: _Weights, rates: Rates, run: Span) -> arb | None:
    """Return F e^c (v + u e^d)^α for a run where K_l = c + dl, if its ends do not count."""
    low, high = run
    if high - low <= LONG or low <= curve.first or curve.shift is None:
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
        level += arb(0, max(curve.gap(*block) for block in blocks))
        outside = _tilted_bound(weights, rates, (0, low - 1), level, slope)
        if high < alpha:
            outside += _tilted_bound(weights, rates, (high + 1, alpha), level, slope)
        mass = (rates[1] + rates[0] * slope.exp()) ** alpha * level.exp()
        # The terms are F e^{K_l} − s, and K_l is at least K_low.
        least = 1 - (-moments[low]).exp() * curve.shift / curve.factor
        total = curve.factor * (mass - arb(0).union(outside)) * least.union(arb(1))
        return total if total.rad() <= error * total else None


class _Enclosure:
    """Blocks between cuts, of which the one with the largest gap is split next."""

    def __init__(self, curve: _Curve, weights: _Weights, rates: Rates) -> None:
        self.curve = curve
        self.weights = weights
        self.rates = rates
        self.heights: dict[int, float] = {}
        self.gaps: dict[Span, tuple[float, int]] = {}
        curve.cuts = [1]
        for order in sorted(curve.moments)[1:]:
            self.add(order)

    def add(self, order: int) -> None:
        """Cut at the order, and measure the blocks whose lines change."""
        curve = self.curve
        self.heights[order] = self.weights.log_peak(order) + curve.cut(order)
        index = bisect_left(curve.cuts, order)
        near = curve.cuts[max(index - 2, 0) : index + 3]
        if 0 < index < len(curve.cuts) - 1:
            del self.gaps[curve.cuts[index - 1], curve.cuts[index + 1]]
        for left, right in pairwise(near):
            self.gaps[left, right] = self.measure(left, right)

    def measure(self, left: int, right: int) -> tuple[float, int]:
        """Return the estimated log of Σ b_l (e^above − e^below) and the order of its maximum."""
        low, high = self.curve.inner(left, right)
        if low > high:
            return -math.inf, 0
        weights, curve = self.weights, self.curve
        level, slope = curve.float_chord(curve.anchor(left), right)
        lines = curve.float_under(left, right)
        orders = self.samples(low, high, slope)
        logs = []
        for order in orders:
            above = level + slope * order
            excess = -math.expm1(min(max(c + d * order for c, d in lines) - above, 0.0))
            height = weights.log_peak(order) - math.log(weights.width(order)) + above
            logs.append(height + math.log(excess) if excess > 0.0 else -math.inf)
        best = max(logs)
        if best == -math.inf:
            return best, 0
        mean = sum(math.exp(x - best) for x in logs) / len(logs)
        count = orders[-1] - orders[0] + 1
        return best + math.log(mean * count) + curve.log_factor, orders[logs.index(best)]

    def samples(self, low: int, high: int, slope: float) -> range:
        """Return evenly spread orders of a span around the mode of its majorant."""
        mode = min(max(int(self.weights.mode(slope)), low), high)
        half = 2 + int(1.25 * self.weights.width(mode))
        low, high = max(low, mode - half), min(high, mode + half)
        return range(low, high + 1, max(1, (high - low) // (SAMPLES - 1)))

    def log_gap(self) -> float:
        """Return the estimated log of the gap of the whole sum."""
        logs = [gap for gap, _ in self.gaps.values()]
        best = max(logs, default=-math.inf)
        if best == -math.inf:
            return best
        return best + math.log(sum(math.exp(x - best) for x in logs))

    def refined(self, calls: int, gap: float) -> arb:
        """Return the ball once the calls are spent, the gap is reached or nothing is unknown."""
        goal = math.log(gap) if gap > 0.0 else -math.inf
        while True:
            while len(self.heights) < calls and self.log_gap() > goal + self.log_total():
                self.add(max(self.gaps.values())[1])
            ball = self.ball()
            spent = len(self.heights) >= calls or self.log_gap() == -math.inf
            if spent or 2 * ball.rad() <= gap * (1 + ball.lower()):
                return ball
            goal -= 2.0

    def log_total(self) -> float:
        """Return the log of about 1 + the sum, from the tallest cut."""
        return max(0.0, *self.heights.values())

    def windows(self) -> dict[Span, Span]:
        """Return the spans inside blocks whose terms are not left to the block bound."""
        weights, curve = self.weights, self.curve
        least = max(self.heights.values()) - ctx.prec * LOG_2
        floor = max(least, self.log_gap() - 7.0)
        windows: dict[Span, Span] = {}
        for left, right in curve.blocks():
            span = curve.inner(left, right)
            if span[0] > span[1]:
                continue
            level, slope = curve.float_line(left, right)
            if weights.log_bound(span, level, slope) > floor:
                low, high = weights.window(span, slope, floor - level)
                if high - low < WIDE:
                    windows[left, right] = low, high
        return windows

    def ball(self) -> arb:
        """Return the enclosure of the sum that the present cuts give."""
        curve, windows = self.curve, self.windows()
        cuts = _merged((k, k) for k in curve.cuts[1:])
        balls: dict[int, arb] = {}
        for block, window in windows.items():
            with ctx.workprec(ctx.prec + LINE_BITS):
                balls.update(curve.interpolated(block, window))
        runs = _merged([*cuts, *windows.values()])
        total = _run_sums(curve, balls, self.weights.alpha, self.rates, runs)
        ball = total + _outside(curve, self.weights, self.rates, runs)
        lower = ball.lower().max(arb(0))
        if curve.convex:
            known = _run_sums(curve, {}, self.weights.alpha, self.rates, cuts)
            shares = sum((self.share(k, windows) for k in curve.cuts[:-1]), arb(0))
            lower = lower.max((known + shares).lower())
        return lower.union(ball.upper())

    def share(self, cut: int, windows: dict[Span, Span]) -> arb:
        """Return a lower bound of min_s G(s), G(s) = Σ w_l term(l, K_cut + s(l − cut))."""
        sides = self.sides(cut, windows)
        if not sides:
            return arb(0)
        # A slope s of K at the cut lies between those of the chords, and G is convex: the secants
        # at a point of the interval, prolonged away from it, stay below G.
        curve = self.curve
        before, after = self.around(cut)
        least = curve.slope(before, cut)
        range_ = curve.slope(cut, after) - least
        at = self.balance(cut, sides, _float(least), _float(range_))
        low, mid, high = (
            self.slope_sum(cut, sides, least + range_ * (at + k * STEP)) for k in (-1, 0, 1)
        )
        rising = ((mid - low) / STEP * (1.0 - at)).min(arb(0))
        falling = ((mid - high) / STEP * at).min(arb(0))
        return (mid + rising.min(falling)).max(arb(0))

    def around(self, cut: int) -> Span:
        """Return the cuts before and after a cut that is not the last, 1 before the first."""
        index = bisect_left(self.curve.cuts, cut)
        return self.curve.cuts[max(index - 1, 0)], self.curve.cuts[index + 1]

    def sides(self, cut: int, windows: dict[Span, Span]) -> list[tuple[range, int]]:
        """Return the orders nearer to the cut than to the next one, each side with a tie or 0."""
        before, after = self.around(cut)
        sides = []
        if (before, cut) in windows:
            low, high = windows[before, cut]
            middle, odd = divmod(before + cut, 2)
            sides.append((range(max(low, middle + odd), high + 1), 0 if odd else middle))
        if (cut, after) in windows:
            low, high = windows[cut, after]
            middle, odd = divmod(cut + after, 2)
            # The slope at the last cut has no upper bound, so the cut before it takes all.
            if after == self.curve.cuts[-1]:
                middle, odd = high, 1
            sides.append((range(low, min(high, middle) + 1), 0 if odd else middle))
        return [(orders, tie) for orders, tie in sides if orders]

    def balance(
        self, cut: int, sides: list[tuple[range, int]], least: float, width: float
    ) -> float:
        """Return about where in [0, 1] between the chords' slopes G is least."""
        logs = [
            (self.weights.log_peak(k) - math.log(self.weights.width(k)), k - cut, k == shared)
            for orders, shared in sides
            for k in orders
        ]
        top = max(log + (least + width) * d for log, d, _ in logs)

        def slope(s: float) -> float:
            return sum(
                d * math.exp(min(log + s * d - top, 600.0)) / (1 + tie) for log, d, tie in logs
            )

        start, end = slope(least), slope(least + width)
        if start >= 0.0:
            return 0.0
        return start / (start - end) if end > 0.0 else 1.0

    def slope_sum(self, cut: int, sides: list[tuple[range, int]], slope: arb) -> arb:
        """Return G at a slope: each term on the line through the cut, a tied one half."""
        curve, start = self.curve, self.curve.moments[cut]
        total = arb(0)
        for orders, shared in sides:
            values = [curve.term(k, start + slope * (k - cut)) for k in orders]
            if shared in orders:
                values[shared - orders[0]] /= 2
            total += _run_sum(self.weights.alpha, self.rates, orders[0], values)
        return total
