"""K_l = (l−1)ε(l) at the orders asked so far, and lines above and below it between them.

On a block [lo, hi] where log T_l ≤ c + d·l, for every real tilt t,

    Σ_{l=lo}^{hi} C(α,l) u^l v^{α−l} T_l ≤ (v + u e^t)^α · e^{c + max((d−t)lo, (d−t)hi)}.

Python floats choose the cuts and tilts; balls evaluate the lines and the inequality.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import pairwise

from flint import arb, ctx

from symacct.arithmetic import Number
from symacct.core import deadline
from symacct.numerics.sums.refine import up_to
from symacct.numerics.sums.terms import Terms
from symacct.numerics.sums.weights import Span, Weights, float_log, to_float

LOG_2 = math.log(2.0)
SHORT = 16  # so few terms cost less than steering
LINE_BITS = 32  # guard bits of lines through large K, whose exponentials are taken
CLEAR = 2.0**-40  # a bend of K, relative to K, that floats show for certain


class Majorant:
    """What is known of K: its values at the cuts, and the lines through them."""

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
        """A ball for K_l; the oracle is asked at most once per order."""
        value = self.moments.get(order)
        if value is None:
            value = self.moments[order] = self.terms.log_moment(order)
        return value

    def cut(self, order: int) -> float:
        """Make the order an end of blocks; return the log of its term as a float."""
        moment = self.moment(order)
        self.floats[order] = to_float(moment)
        insort(self.cuts, order)
        term = self.known[order] = self.terms.at(order, moment)
        return float_log(term)

    def term(self, order: int) -> Number:
        """T_l: as it was found at a cut, unless the moment has a formula, which loses less."""
        known = self.known.get(order)
        if known is None or self.terms.eps.exponentials() is not None:
            return self.terms(order)
        return known

    def blocks(self) -> Iterable[Span]:
        """The pairs of neighbouring cuts, the first of them with K_1 = 0."""
        return pairwise(self.cuts)

    def inner(self, left: int, right: int) -> Span:
        """The orders of the sum strictly inside a block."""
        return max(left + 1, self.first), right - 1

    def is_small(self, right: int) -> bool:
        """Whether the constant factor·expm1(K_right) is to bound the terms up to right."""
        return self.terms.shift == self.terms.factor and self.floats[right] < LOG_2

    def anchor(self, left: int) -> int:
        """The order left or 1 whose line through the right end lies above K."""
        return left if self.convex else 1

    def float_line(self, left: int, right: int) -> tuple[float, float]:
        """Floats c, d with log T_l ≤ c + d·l on the block."""
        if self.is_small(right):
            return float_log(self.moments[right].expm1()) + self.log_factor, 0.0
        level, slope = self.float_chord(self.anchor(left), right)
        return level + self.log_factor, slope

    def float_chord(self, left: int, right: int) -> tuple[float, float]:
        """Floats c, d of the line through K at two orders, level where both are 1."""
        end = self.floats[right]
        slope = (end - self.floats[left]) / (right - left) if left < right else 0.0
        return end - slope * right, slope

    def slope(self, left: int, right: int) -> arb:
        """The slope of the chord of K between two orders, 0 where both are 1."""
        if left == right:
            return arb(0)
        return (self.moments[right] - self.moments[left]) / (right - left)

    def bound(self, weights: Weights, block: Span, span: Span) -> arb:
        """The upper bound of the module's head for a span of orders in a block."""
        left, right = block
        end, factor = self.moments[right], self.terms.factor
        if self.is_small(right):
            return factor * end.expm1() * weights.bound(span, arb(0), arb(0))
        slope = self.slope(self.anchor(left), right)
        return factor * weights.bound(span, end - slope * right, slope)

    def outside(self, weights: Weights, runs: list[Span]) -> arb:
        """[0, bound] for the sum of all terms outside the runs."""
        spans = self.spans_outside(runs)
        return up_to(sum((self.bound(weights, *one) for one in spans), arb(0)))

    def spans_outside(self, runs: list[Span]) -> Iterator[tuple[Span, Span]]:
        """Each block with the orders in it, left end excluded, that lie in no run."""
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
        """The cut before left, or 1, and the cut after right, or 0."""
        index = bisect_left(self.cuts, left)
        after = bisect_left(self.cuts, right) + 1
        before = self.cuts[index - 1] if index and self.convex else 1
        return before, self.cuts[after] if after < len(self.cuts) and self.convex else 0

    def float_gap(self, left: int, right: int) -> float:
        """About how far the line above K leaves a line below it on the block."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.float_chord(anchor, right)[1]
        gap = (above - self.float_chord(before, left)[1]) * (right - anchor)
        if after:
            gap = min(gap, (self.float_chord(right, after)[1] - above) * (right - left))
        return gap

    def gap(self, left: int, right: int) -> arb:
        """A bound of how far the line above K leaves a line below it on the block."""
        before, after = self.neighbours(left, right)
        anchor = self.anchor(left)
        above = self.slope(anchor, right)
        gap = (above - self.slope(before, left)) * (right - anchor)
        if after:
            gap = gap.min((self.slope(right, after) - above) * (right - left))
        return gap

    def is_affine(self, left: int, right: int) -> bool:
        """Whether lines enclose K, or e^K where K is large, about as well as the oracle."""
        radius = self.moments[right].rad()
        if self.float_gap(left, right) > max(CLEAR * self.floats[right], 16.0 * float(radius)):
            return False
        least = self.moments[left].min(arb(1))
        error = 8 * radius + least * arb(2) ** (2 - ctx.prec)
        with ctx.workprec(ctx.prec + LINE_BITS):
            return bool(self.gap(left, right) <= error)

    def affine_balls(self, blocks: list[Span]) -> dict[int, arb]:
        """Balls for K inside those of the blocks where lines replace the oracle."""
        balls: dict[int, arb] = {}
        for left, right in blocks:
            if right - left > SHORT and self.is_affine(left, right):
                with ctx.workprec(ctx.prec + LINE_BITS):
                    balls.update(self.interpolated((left, right), (left + 1, right - 1)))
        return balls

    def chain(self, run: Span) -> list[Span]:
        """The blocks that make up a run, none if its ends are not cuts."""
        inside = self.cuts[bisect_left(self.cuts, run[0]) : bisect_left(self.cuts, run[1] + 1)]
        ends = inside[:1] + inside[-1:]
        return list(pairwise(inside)) if ends == list(run) else []

    def interpolated(self, block: Span, span: Span) -> dict[int, arb]:
        """Balls for K from the line above and the lines below a block."""
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
