"""Asoodeh, Liao, Calmon, Kosut, Sankar 2021: all that one order says about (ε, δ).

The set {P > e^ε Q} is a binary statistic that keeps δ and does not raise D_α, so among all pairs
with D_α <= ρ two-point ones are the worst. With v = p − δ and q = v e^{−ε} the least moment is
min_v H(v), H = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}, and (ε, δ) holds for every pair with D_α <= ρ
if and only if it is >= e^{(α−1)ρ}. It grows with ε and with δ, so one unknown is solved for.

H is convex in v. Floats and Newton steps find a candidate; balls prove it: the tangent at the
candidate bounds min H from below, any value of H bounds it from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb

from symacct.arithmetic import BALL
from symacct.conversion import bbghs20
from symacct.conversion.conversion import Conversion, register
from symacct.sources import ALCKS21

_FLOAT_STEPS = 80
_NEWTON_STEPS = 30
_WIDENINGS = 48
_UNKNOWN = arb(0, "inf")


def epsilon(ctx: Any, eps: arb, alpha: arb, delta: arb) -> arb:
    """The least ε >= 0 such that D_α <= ε(α) implies (ε, δ)-DP, in certified balls."""
    most = bbghs20.epsilon(ctx, eps, alpha, delta)
    if not most.is_finite():
        return most
    if most <= 0:
        return arb(0)
    if alpha * delta >= 1:
        # The worst first law is on one answer: q^{1−α} = e^{(α−1)ρ} with q = (1−δ)e^{−ε}.
        return (eps + (-delta).log1p()).max(arb(0))
    problem = Problem(alpha, (alpha - 1) * eps, lambda x: Pair(alpha, x, delta))
    if problem.is_enough(arb(0)):
        return arb(0)
    found = problem.solve(most, arb(0))
    return arb(0).union(most) if found is None else found.max(arb(0)).min(most)


def log_delta(ctx: Any, eps: arb, alpha: arb, epsilon: arb) -> arb:
    """The least log δ such that D_α <= ε(α) implies (ε, δ)-DP, in certified balls."""
    most = bbghs20.log_delta(ctx, eps, alpha, epsilon)
    if not most.is_finite() or not eps > 0:
        return most
    single = -(epsilon - eps).expm1()  # δ where the worst first law is on one answer
    if alpha * single >= 1:
        return single.log().min(most)
    problem = Problem(alpha, (alpha - 1) * eps, lambda x: Pair(alpha, epsilon, x.exp()))
    # From δ = 1/α on the worst law is on one answer, so the δ sought is smaller.
    ceiling = most.min(-alpha.log())
    found = problem.solve(ceiling, None)
    return _UNKNOWN if found is None else found.min(most)


register(
    Conversion(
        "optimal",
        ALCKS21.at("the exact conversion of one order"),
        epsilon,
        log_delta,
        False,
        "improved",
    )
)


@dataclass(frozen=True)
class Pair:
    """The two-point pairs (p, 1−p), (q, 1−q) with p − e^ε q = δ, by v = p − δ; αδ < 1."""

    alpha: arb
    epsilon: arb
    delta: arb

    def excess(self, v: arb) -> arb:
        """H(v) − 1."""
        p, q = self.laws(v)
        lam = self.alpha - 1
        first = (p.log() + lam * (p / q).log()).exp()
        return first + (self.alpha * (-p).log1p() - lam * (-q).log1p()).expm1()

    def laws(self, v: arb) -> tuple[arb, arb]:
        """p and q."""
        return v + self.delta, v * (-self.epsilon).exp()

    def parts(self, v: arb) -> tuple[arb, arb, arb, arb]:
        """p, q, p/q and (1−p)/(1−q)."""
        p, q = self.laws(v)
        return p, q, (1 + self.delta / v) * self.epsilon.exp(), (1 - p) / (1 - q)

    def slope(self, v: arb) -> arb:
        """H′(v), in a form where nothing cancels at large p/q."""
        _, _, x, y = self.parts(v)
        lam, share = self.alpha - 1, (-self.epsilon).exp()
        near = x**lam * (1 - lam * self.delta / v)
        return near - y**lam * (self.alpha - lam * share * y)

    def curvature(self, v: arb) -> arb:
        """H″(v) >= 0."""
        _, q, x, y = self.parts(v)
        lam, share = self.alpha - 1, (-self.epsilon).exp()
        near = x ** (lam - 1) * (1 - share * x) ** 2 / q
        return self.alpha * lam * (near + y ** (lam - 1) * (1 - share * y) ** 2 / (1 - q))

    def per_epsilon(self, v: arb) -> arb:
        """∂H/∂ε at fixed v."""
        _, q, x, y = self.parts(v)
        return (self.alpha - 1) * q * (x**self.alpha - y**self.alpha)

    def per_log_delta(self, v: arb) -> arb:
        """∂H/∂log δ at fixed v."""
        _, _, x, y = self.parts(v)
        lam = self.alpha - 1
        return self.delta * self.alpha * (x**lam - y**lam)

    def least_excess(self, v: arb) -> arb | None:
        """A lower bound of min H − 1 from the tangent at v; None if v is not near the minimum."""
        most = 1 - self.delta
        left, right = v * arb(0.875), v * arb(1.125)
        end = right if right < most else most
        if not self.slope(left) < 0 or (right < most and not self.slope(right) > 0):
            return None
        # The minimum lies between left and end; p = 1 at `most`.
        reach = (v - left).max(end - v)
        return self.excess(v) - abs(self.slope(v)) * reach


@dataclass(frozen=True)
class Problem:
    """The least x with min_v H >= e^target for the pairs `at(x)`; x is ε, or log δ."""

    alpha: arb
    target: arb
    at: Callable[[arb], Pair]

    def is_enough(self, x: arb) -> bool:
        """Is min H >= e^target proved at x?"""
        pair = self.at(x)
        v = polished(pair, float_argmin(float(self.alpha), float(pair.epsilon), pair.delta))
        least = pair.least_excess(v)
        return least is not None and bool(least >= self.target.expm1())

    def solve(self, most: arb, least: arb | None) -> arb | None:
        """An enclosure of the x asked for, below `most` (and above `least`); None if not proved."""
        x, v = self._candidate(most.mid(), least)
        if not x.is_finite() or not v > 0:
            return None
        goal = self.target.expm1()
        width = abs(x) * arb(2) ** (4 - BALL.bits) + 4 * self.target.rad() + x.rad()
        for _ in range(_WIDENINGS):
            enough = self.at(x + width).least_excess(v)
            if enough is not None and enough >= goal and self.at(x - width).excess(v) <= goal:
                return (x - width).union(x + width)
            width *= 4
        return None

    def _candidate(self, most: arb, least: arb | None) -> tuple[arb, arb]:
        """Midpoints of x and of the minimum's v: a bracket in floats, then Newton steps."""
        goal = self.target.mid().expm1()
        x = self._by_floats(most, least)
        pair = self.middle(x)
        v = polished(pair, float_argmin(float(self.alpha), float(pair.epsilon), pair.delta))
        derivative = Pair.per_log_delta if least is None else Pair.per_epsilon
        for _ in range(_NEWTON_STEPS):
            gap, rise = pair.excess(v) - goal, derivative(pair, v)
            step = (gap / rise).mid()
            x = (x - step).mid()
            pair = self.middle(x)
            bend = (pair.slope(v) / pair.curvature(v)).mid()
            v = _inside(pair, v, v - bend)
            if not step.is_finite() or not abs(step) > abs(x) * arb(2) ** (-BALL.bits):
                break
        return x, v

    def _by_floats(self, most: arb, least: arb | None) -> arb:
        """x to about eight digits, by bisection between two ends; `least` is found if None."""
        high = most
        low = least if least is not None else most - 1
        if least is None:
            while self._float_enough(low) and low > -(2**40):
                low = most - 2 * (most - low)
        for _ in range(_FLOAT_STEPS):
            middle = ((low + high) / 2).mid()
            if not low < middle < high or high - low < abs(high) * arb(2) ** -30:
                break
            if self._float_enough(middle):
                high = middle
            else:
                low = middle
        return high

    def middle(self, x: arb) -> Pair:
        """The pairs at x, with the midpoints of their parameters."""
        pair = self.at(x)
        return Pair(pair.alpha.mid(), pair.epsilon.mid(), pair.delta.mid())

    def _float_enough(self, x: arb) -> bool:
        pair = self.middle(x)
        v = float_argmin(float(self.alpha), float(pair.epsilon), pair.delta)
        return bool(pair.excess(v).mid() >= self.target.expm1().mid())


def float_argmin(alpha: float, epsilon: float, delta: arb) -> arb:
    """About where H is smallest: v = (α−1)δ(1+t), the root of t/(1+t) = (y/x)^{α−1}(α−(α−1)sy)."""
    lam, d = alpha - 1, float(delta)
    log_most = math.log(max((1 / d - 1) / lam - 1, 1e-30)) if d > 0 else 690.0

    def rises(log_t: float) -> bool:
        t = math.exp(log_t)
        part = 1 / (lam * (1 + t))  # δ/v
        v = d / part
        p, q = min(v + d, 1.0), v * math.exp(-epsilon)
        if p >= 1:
            return True
        log_x, log_y = math.log1p(part) + epsilon, math.log1p(-p) - math.log1p(-q)
        rest = alpha - lam * math.exp(log_y - epsilon)
        return log_t - math.log1p(t) + lam * (log_x - log_y) > math.log(rest)

    high, low = log_most, log_most - 1
    while low > -1e6 and rises(low):
        high, low = low, low - 2 * (log_most - low)
    for _ in range(44):
        middle = (low + high) / 2
        if rises(middle):
            high = middle
        else:
            low = middle
    grown = 1 + arb(high).exp().mid()
    return _within(delta, ((arb(alpha) - 1) * delta * grown).mid())


def polished(pair: Pair, v: arb) -> arb:
    """v after two Newton steps towards the minimum."""
    for _ in range(2):
        v = _inside(pair, v, v - (pair.slope(v) / pair.curvature(v)).mid())
    return v


def _inside(pair: Pair, old: arb, new: arb) -> arb:
    """The midpoint of the new place, or a place half way to the end of [0, 1−δ) it passed."""
    new = new.mid()
    if not new.is_finite():
        return old
    if not new > old / 2:
        return (old / 2).mid()
    return _within(pair.delta, new)


def _within(delta: arb, v: arb) -> arb:
    """v, kept below 1 − δ by more than rounding."""
    most = (1 - delta).mid() * (1 - arb(2) ** -(BALL.bits // 2))
    return v if v < most else most.mid()
