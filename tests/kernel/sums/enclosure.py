"""The same sums enclosed from a few oracle calls: rough values, to hold the certified ones against.

The lines above and below K bound each block; the block with the largest gap is cut next.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise

from flint import arb, ctx

from symacct.kernel.sums.binomial_sums import (
    LINE_BITS,
    LOG_2,
    SHAPES,
    Majorant,
    Rates,
    Span,
    Terms,
    Weights,
    at_rates,
    merged,
    run_sums,
    to_float,
)

SAMPLES = 9  # points at which the gap of a block is estimated
STEP = 2.0**-10  # of a secant, against the range of slopes
WIDE = 1 << 14  # wider windows are left to the block bound


def peak_width(weights: Weights, order: float) -> float:
    """√(2π l(α−l)/α) or 1, the width of a peak of tilted weights at the order."""
    return math.sqrt(max(1.0, 2.0 * math.pi * order * (weights.alpha - order) / weights.alpha))


def enclosed_mixture(
    terms: Terms, alpha: int, u: arb, v: arb, first: int = 2, calls: int = 32, gap: float = 0.0
) -> arb:
    """A ball around the sum from at most max(calls, 1) oracle calls.

    It stops early once the ball's width is at most gap·(1 + sum), about the gap of log(1 + sum).
    Besides what `certified_mixture` asks, the term must not decrease in K and be convex in K.
    """
    if terms.eps.shape not in SHAPES:
        raise ValueError(f"unknown shape {terms.eps.shape!r}")
    curve = Majorant(terms, first)

    def value(rates: Rates) -> arb:
        return Enclosure(curve, Weights(alpha, rates)).refined(calls, gap)

    return at_rates(curve, alpha, (u, v), value)


def float_under(curve: Majorant, left: int, right: int) -> list[tuple[float, float]]:
    """Floats c, d of the lines below K on the block."""
    before, after = curve.neighbours(left, right)
    lines = [curve.float_chord(before, left)]
    return [*lines, curve.float_chord(right, after)] if after else lines


class Enclosure:
    """Blocks between cuts, of which the one with the largest gap is split next."""

    def __init__(self, curve: Majorant, weights: Weights) -> None:
        self.curve = curve
        self.weights = weights
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
        """The estimated log of Σ b_l (e^above − e^below) and the order of its maximum."""
        low, high = self.curve.inner(left, right)
        if low > high:
            return -math.inf, 0
        weights, curve = self.weights, self.curve
        level, slope = curve.float_chord(curve.anchor(left), right)
        lines = float_under(curve, left, right)
        orders = self.samples(low, high, slope)
        logs = []
        for order in orders:
            above = level + slope * order
            excess = -math.expm1(min(max(c + d * order for c, d in lines) - above, 0.0))
            height = weights.log_peak(order) - math.log(peak_width(weights, order)) + above
            logs.append(height + math.log(excess) if excess > 0.0 else -math.inf)
        best = max(logs)
        if best == -math.inf:
            return best, 0
        mean = sum(math.exp(x - best) for x in logs) / len(logs)
        count = orders[-1] - orders[0] + 1
        return best + math.log(mean * count) + curve.log_factor, orders[logs.index(best)]

    def samples(self, low: int, high: int, slope: float) -> range:
        """Evenly spread orders of a span around the mode of its majorant."""
        mode = min(max(int(self.weights.mode(slope)), low), high)
        half = 2 + int(1.25 * peak_width(self.weights, mode))
        low, high = max(low, mode - half), min(high, mode + half)
        return range(low, high + 1, max(1, (high - low) // (SAMPLES - 1)))

    def log_gap(self) -> float:
        """The estimated log of the gap of the whole sum."""
        logs = [gap for gap, _ in self.gaps.values()]
        best = max(logs, default=-math.inf)
        if best == -math.inf:
            return best
        return best + math.log(sum(math.exp(x - best) for x in logs))

    def refined(self, calls: int, gap: float) -> arb:
        """The ball once the calls are spent, the gap is reached or nothing is unknown."""
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
        """The log of about 1 + the sum, from the tallest cut."""
        return max(0.0, *self.heights.values())

    def windows(self) -> dict[Span, Span]:
        """The spans inside blocks whose terms are not left to the block bound."""
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
        """The enclosure of the sum that the present cuts give."""
        curve, windows = self.curve, self.windows()
        cuts = merged((k, k) for k in curve.cuts[1:])
        balls: dict[int, arb] = {}
        for block, window in windows.items():
            with ctx.workprec(ctx.prec + LINE_BITS):
                balls.update(curve.interpolated(block, window))
        runs = merged([*cuts, *windows.values()])
        total = run_sums(curve, balls, self.weights, runs)
        ball = total + curve.outside(self.weights, runs)
        lower = ball.lower().max(arb(0))
        if curve.convex:
            known = run_sums(curve, {}, self.weights, cuts)
            shares = sum((self.share(k, windows) for k in curve.cuts[:-1]), arb(0))
            lower = lower.max((known + shares).lower())
        return lower.union(ball.upper())

    def share(self, cut: int, windows: dict[Span, Span]) -> arb:
        """A lower bound of min_s G(s), G(s) = Σ w_l term(l, K_cut + s(l − cut))."""
        sides = self.sides(cut, windows)
        if not sides:
            return arb(0)
        # A slope s of K at the cut lies between those of the chords, and G is convex: the secants
        # at a point of the interval, prolonged away from it, stay below G.
        curve = self.curve
        before, after = self.around(cut)
        least = curve.slope(before, cut)
        range_ = curve.slope(cut, after) - least
        at = self.balance(cut, sides, to_float(least), to_float(range_))
        low, mid, high = (
            self.slope_sum(cut, sides, least + range_ * (at + k * STEP)) for k in (-1, 0, 1)
        )
        rising = ((mid - low) / STEP * (1.0 - at)).min(arb(0))
        falling = ((mid - high) / STEP * at).min(arb(0))
        return (mid + rising.min(falling)).max(arb(0))

    def around(self, cut: int) -> Span:
        """The cuts before and after a cut that is not the last, 1 before the first."""
        index = bisect_left(self.curve.cuts, cut)
        return self.curve.cuts[max(index - 1, 0)], self.curve.cuts[index + 1]

    def sides(self, cut: int, windows: dict[Span, Span]) -> list[tuple[range, int]]:
        """The orders nearer to the cut than to the next one, each side with a tie or 0."""
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
        """About where in [0, 1] between the chords' slopes G is least."""
        logs = [
            (self.weights.log_peak(k) - math.log(peak_width(self.weights, k)), k - cut, k == shared)
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
        """G at a slope: each term on the line through the cut, a tied one half."""
        curve, start = self.curve, self.curve.moments[cut]
        total = arb(0)
        for orders, shared in sides:
            values = [curve.terms.at(k, start + slope * (k - cut)) for k in orders]
            if shared in orders:
                values[shared - orders[0]] /= 2
            total += self.weights.total(orders[0], values)
        return total
