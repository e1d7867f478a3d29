"""The weights C(α,l) u^l v^{α−l} of a binomial sum: about their size in floats, and as balls."""

from __future__ import annotations

import math

from flint import arb, ctx

Span = tuple[int, int]
Rates = tuple[arb, arb]

HUGE = 1e200  # a float whose products with orders are finite
NEWTON_STEPS = 12


def float_log(x: arb) -> float:
    """log x as a float, also where x leaves the range of floats."""
    value = float(x)
    if 0.0 < value < math.inf:
        return math.log(value)
    return -math.inf if x.is_zero() else to_float(x.log())


def to_float(x: arb) -> float:
    """x as a float, kept so small that what steers by it stays finite; NaN as it is."""
    value = float(x)
    return value if abs(value) <= HUGE or value != value else math.copysign(HUGE, value)


class Weights:
    """C(α,l) u^l v^{α−l} at positive rates u and v; the floats steer and prove nothing."""

    def __init__(self, alpha: int, rates: Rates) -> None:
        self.alpha = alpha
        self.u, self.v = rates
        self.log_v = float_log(self.v)
        self.log_odds = float_log(self.u) - self.log_v
        self.base = alpha * (self.log_v + math.log(alpha))

    def at(self, order: int) -> arb:
        """C(α,l) u^l v^{α−l}."""
        rest = self.alpha - order
        return arb.bin_uiui(self.alpha, min(order, rest)) * self.u**order * self.v**rest

    def total(self, low: int, terms: list[arb]) -> arb:
        """Σ b_l t_l over a run, by b_{l+1} = b_l·(α−l)/(l+1)·u/v from the end."""
        ratio = self.u / self.v
        order = low + len(terms) - 1
        total = terms[-1]
        for value in reversed(terms[:-1]):
            total = value + total * (self.alpha - order + 1) * ratio / order
            order -= 1
        return self.at(low) * total

    def bound(self, span: Span, level: arb, slope: arb) -> arb:
        """(v + u e^t)^α e^{c + max((d−t)lo, (d−t)hi)}, which bounds Σ b_l e^{c+dl}."""
        tilt = arb(self.best_tilt(span, to_float(slope)))
        drop = slope - tilt
        peak = (drop * span[0]).max(drop * span[1])
        log_mass = (self.v + self.u * tilt.exp()).log() * self.alpha
        return (log_mass + level + peak).exp()

    def log_peak(self, order: int) -> float:
        """Log min_t (v+ue^t)^α e^{−tl}, about the weight times the width of a peak."""
        value = self.base + order * (self.log_odds - math.log(order))
        rest = self.alpha - order
        return value - rest * math.log(rest) if rest else value

    def mode(self, slope: float) -> float:
        """The mode α u e^d/(v + u e^d) of the weights tilted by d."""
        odds = self.log_odds + slope
        return self.alpha / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0

    def tilt(self, order: int) -> float:
        """The tilt that moves the mode to the order."""
        return math.log((order or 0.5) / (self.alpha - order or 0.5)) - self.log_odds

    def best_tilt(self, span: Span, slope: float) -> float:
        """The minimiser over t of (v + u e^t)^α max(e^{(d−t)lo}, e^{(d−t)hi})."""
        least = self.tilt(span[0])
        if slope <= least:
            return least
        most = self.tilt(span[1])
        return min(slope, most)

    def edge(self, order: float, slope: float, floor: float) -> float:
        """About where log_peak + d·l meets the floor, by Newton steps from below it."""
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
        """The part of a span where the weights times e^{d·l} peak above e^floor."""
        low, high = span
        mode = self.mode(slope)
        if mode < high:
            start = min(high, self.alpha - 0.5)
            high = max(low, min(high, math.ceil(self.edge(start, slope, floor))))
        if mode > low:
            low = min(high, max(low, math.floor(self.edge(low, slope, floor))))
        return low, high

    def log_bound(self, span: Span, level: float, slope: float) -> float:
        """The log of the block bound for the majorant e^{c + d·l}."""
        tilt = self.best_tilt(span, slope)
        odds = self.log_odds + tilt
        log_mass = self.log_v + (odds if odds > 40.0 else math.log1p(math.exp(odds)))
        drop = slope - tilt
        return self.alpha * log_mass + level + drop * span[drop > 0.0]


def guarded(alpha: int) -> int:
    """A working precision at which sums over a run lose nothing that counts."""
    return ctx.prec + alpha.bit_length() + 8
