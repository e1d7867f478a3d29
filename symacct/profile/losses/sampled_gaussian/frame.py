"""The sampled Gaussian's parameters in balls, its trapezoidal sums over a line of x, their errors.

R has zeros only at Im w = π mod 2π, so the line of integration may be moved to any Im x = η,
0 <= η < πσ² (docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, arb_poly

from symacct.kernel.sums.balls import normal_tail, tilted_tail
from symacct.profile.part import OrderLine, rounded_down

if TYPE_CHECKING:
    from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian

_SLOW_ANGLE = 1.45
CHORDS = 8  # of log R, where the order is far above
_WAY = 96  # points looked at
_FLAT, _STEEP, _CELL = 6.0, 4.0, 0.125  # of cells in log(γe^w/(1−γ))


@dataclass(frozen=True)
class LineRule:
    """Nodes x = jκ + iη, first <= j <= last, of a trapezoidal sum in x; exact binary numbers."""

    eta: float
    step: float
    first: int
    last: int

    @property
    def terms(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def transform(self, part: SampledGaussian, line: OrderLine) -> list[acb]:
        """F on a line of orders."""
        return part.off_the_line(line, self)


class SampledFrame:
    """The parameters in balls, at flint's current precision, for one real part a of the order."""

    def __init__(self, variance: arb, gamma: arb, rest: arb, a: float) -> None:
        self.a = arb(a)
        self.gamma, self.rest, self.variance = gamma, rest, variance
        self.sigma = self.variance.sqrt()
        self.half = 1 / (2 * self.variance)
        self.density = 1 / (self.sigma * (2 * arb.pi()).sqrt())
        self.negative = a < 0

    def nodes(self, rule: LineRule) -> tuple[list[acb], list[acb]]:
        """log R and κ Q R^a at each node."""
        step, angle = arb(rule.step), arb(rule.eta) / self.variance
        weighed = acb(0, angle).exp() * (
            self.gamma * ((2 * step * rule.first - 1) * self.half).exp()
        )
        growth = (2 * step * self.half).exp()
        log_ratios, weights = [], []
        scale = self.density * step
        for j in range(rule.first, rule.last + 1):
            x = acb(step * j, arb(rule.eta))
            log_ratio = (weighed + self.rest).log()
            log_ratios.append(log_ratio)
            weights.append((self.a * log_ratio - x * x * self.half).exp() * scale)
            weighed *= growth
        return log_ratios, weights

    def error(self, rule: LineRule, weights: list[acb]) -> arb:
        """A bound, at every t >= 0, of what the trapezoidal sum over the nodes is off by.

        Both edges of the strip 0 <= Im x <= 2η bound the integrand: by Q R^a, and by
        e^{(2η)²/(2σ²)} Q R^a, times `shrink` for a < 0.
        """
        step, eta = arb(rule.step), arb(rule.eta)
        angle = eta / self.variance
        left_out = (eta * eta * self.half).exp() * self.outside_sum(rule, angle)
        edges = 1 + (4 * eta * eta * self.half).exp() * self.shrink(2 * angle)
        share = edges / (2 * arb.pi() * eta / step).expm1()
        moment = abs(sum(weights, acb(0)))
        if not share < 1:
            return arb.pos_inf()
        return left_out + share * (moment + left_out) / (1 - share)

    def shrink(self, angle: arb) -> arb:
        """At least E_Q[|R_θ|^a]/F(a): 1 for a >= 0, else cos(θ/2)^a, as |R_θ| >= R cos(θ/2).

        Or (1−γ)^a, as |R_θ| >= 1 − γ for θ <= π/2, and F(a) >= E_Q[R]^a = 1.
        """
        if not self.negative:
            return arb(1)
        most = self._cosine(angle)
        return most.min(self._most) if 2 * angle < arb.pi() else most

    def _cosine(self, angle: arb) -> arb:
        """|R_θ|^a <= cos(θ/2)^a R^a for a < 0."""
        return (self.a * (angle / 2).cos().log()).exp()

    @property
    def _most(self) -> arb:
        """R^a <= (1−γ)^a for a < 0."""
        return (self.a * self.rest.log()).exp()

    def outside_sum(self, rule: LineRule, angle: arb) -> arb:
        """κ Σ Q |R_θ|^a over the real parts of the nodes beyond first and last, by integrals."""
        step = arb(rule.step)
        return self.tail_sum(step * rule.first, step * rule.last, step, angle)

    def tail_sum(self, left: arb, right: arb, step: arb, angle: arb) -> arb:
        """κ Σ Q |R_θ|^a over the multiples of a step below `left` and above `right`."""
        if not left < 0 or not right > arb(0.5):
            return arb.pos_inf()
        if self.negative:
            most = self.shrink(angle)
            below = most * self._most * _tail(-left / self.sigma)  # R >= 1 − γ
            above = most * _tail(right / self.sigma)  # R >= 1
            for cosine, share in self._smaller(angle):
                below = below.min(cosine * self._under_tangent(left, share))
                above = above.min(cosine * self._under_tangent(right, share))
            return below + above
        if right >= self.a:
            return _tail(-left / self.sigma) + self.tilted_beyond(right)
        far = self.a - left
        if not far > self.a.max(arb(0.5)):
            return arb.pos_inf()
        between = self._under_chords(right, far + step)
        return _tail(-left / self.sigma) + between + self.tilted_beyond(far)

    def _smaller(self, angle: arb) -> list[tuple[arb, arb]]:
        """(C, g) with |R_θ|^a <= C(1−γ+gγe^w)^a, a < 0: by R cos(θ/2), or the real part of R_θ."""
        found = [(self._cosine(angle), arb(1))]
        return [*found, (arb(1), angle.cos())] if 0 < 2 * angle < arb.pi() else found

    def _under_tangent(self, x: arb, share: arb) -> arb:
        """At least ∫QR^a beyond a point on either side of its peak, a < 0, a share of γe^w in R:

        a log R is concave in x. The tangent's slope s tilts Q to N(sσ², σ²), which falls from x on;
        ∞ where x is no end.
        """
        weighed = share * self.gamma * ((2 * x - 1) * self.half).exp()
        ratio = self.rest + weighed
        mean = self.a * weighed / ratio  # sσ²
        away = x - mean if x > 0 else mean - x
        if not away > 0:
            return arb.pos_inf()
        log_tilt = self.a * ratio.log() + (mean - 2 * x) * mean * self.half
        return tilted_tail(log_tilt, away / self.sigma)

    def tilted_beyond(self, right: arb) -> arb:
        """∫ QR^a from a point >= a >= 0 on: R <= e^w(γ+(1−γ)e^{−w₁}) tilts Q to N(a, σ²)."""
        w = (2 * right - 1) * self.half
        log_tilt = (self.a**2 - self.a) * self.half
        log_tilt += self.a * (self.gamma + self.rest * (-w).exp()).log()
        return tilted_tail(log_tilt, (right - self.a) / self.sigma)

    def tilted_mass(self, slope: arb, left: arb, right: list[arb]) -> arb:
        """At least E_Q[e^{sw}] from `left` on, up to `right` if there is one.

        e^{sw} tilts Q to e^{(s²−s)/2σ²} N(s, σ²), of which one tail bounds the share.
        """
        log_mass = (slope * slope - slope) * self.half
        for end in right:
            if (x := self.variance * end + 0.5) < slope:
                return tilted_tail(log_mass, (slope - x) / self.sigma)
        return tilted_tail(log_mass, (self.variance * left + 0.5 - slope) / self.sigma)

    def _under_chords(self, right: arb, far: arb) -> arb:
        """At least ∫ QR^a between two points, a >= 0: log R is convex, so below its chords.

        Their slopes s tilt Q to N(asσ², σ²); the integrand is to fall from the first point on.
        """
        width, total = (far - right) / CHORDS, arb(0)
        places = [right + width * i for i in range(CHORDS + 1)]
        logs = [(self.rest + self.gamma * ((2 * x - 1) * self.half).exp()).log() for x in places]
        for x, (start, end) in zip(places, itertools.pairwise(logs), strict=False):
            slope = self.a * (end - start) / width
            mean = slope * self.variance
            if not x >= mean:
                return arb.pos_inf()
            log_tilt = self.a * start + slope * (mean / 2 - x)
            total += tilted_tail(log_tilt, (x - mean) / self.sigma)
        return total

    def decay(self, angle: float, t: float, need: float) -> arb:
        """log of an upper bound of B_η(t), η = angle·σ², too large by about e^{−need} F(a).

        In Z = x/σ, so that σ may be a wide ball. With φ = y/σ and θ+φ <= π/2 the integrand on
        Im Z = ±y is at most e^{y²/2} Q R^a, times cos((θ+φ)/2)^a for a < 0: arg R grows with the
        angle, up to π/2.
        """
        sigma = float(self.sigma.lower())
        need += (angle * sigma) ** 2 / 2  # for what is summed is e^{η²/2σ²} times too small
        height = min((1.57 - angle) * sigma, math.sqrt(2 * need))
        log_rest = float(self.rest.log().mid())
        grown = log_shrink(float(self.a), angle + height / sigma, log_rest)
        step = rounded_down(2 * math.pi * height / (height**2 / 2 + need + 1 + grown))
        drop = need + 3 + grown
        logs = float(self.rest.log()), float(self.gamma.log())
        last = math.ceil((max(float(self.a), 0.5) / sigma + math.sqrt(2 * drop)) / step)
        first = math.floor(lowest(float(self.a), *logs, sigma * sigma, drop) / sigma / step)
        theta, total, moment = arb(angle), arb(0), arb(0)
        cosine, sine = theta.cos(), theta.sin()
        for j in range(first, last + 1):
            z = arb(step) * j
            weighed = self.gamma * (z / self.sigma - self.half).exp()
            log_ratio = acb(self.rest + weighed * cosine, weighed * sine).log()
            log_weight = -z * z / 2
            total += (log_weight + self.a * log_ratio.real - t * log_ratio.imag).exp()
            moment += (log_weight + self.a * (self.rest + weighed).log()).exp()
        scale, y, apart = arb(step) / (2 * arb.pi()).sqrt(), arb(height), self.sigma * step
        ends = apart * first, apart * last, apart
        plain, turned = (self.tail_sum(*ends, x) for x in (arb(0), theta))
        widest = theta + y / self.sigma
        edge = (y * y / 2).exp() * self.shrink(widest)
        share = 2 * edge / (2 * arb.pi() * y / step).expm1()
        if not (share < 1 and widest <= arb.pi() / 2):
            return arb.pos_inf()
        most = (moment * scale + plain) / (1 - share)
        bound = total * scale + turned + share * most
        return bound.log() + theta * theta * self.variance / 2

    def amplitude_bounds(self, t: float, length: int) -> arb_poly:
        """Bounds of e^{η²/(2σ²)} E_Q[|log(R_θ/(1−γ))|^j |R_θ|^a e^{−t arg R_θ}]/j!, θ = η/σ² < π/2.

        |R_θ|, arg R_θ and |log(R_θ/(1−γ))| grow with x: cells of x take the first and the last at
        their right ends, arg at the left ones, |R_θ|^a at the right for a >= 0. Beyond them all
        |log(R_θ/(1−γ))|^j/j! <= e^{π/2}R/(1−γ).
        """
        sigma = math.sqrt(float(self.variance.mid()))
        theta = arb(min(_SLOW_ANGLE, 4 / sigma))
        low = -math.log(t) - _FLAT
        cells = math.ceil((_STEEP - low) / _CELL)
        ratio, before, total = acb(self.rest), arb(0), arb_poly([0])
        for i in range(cells + 1):
            p = self.rest * arb(low + i * _CELL).exp()  # γe^w
            x = self.variance * (p / self.gamma).log() + arb(0.5)
            below, left = normal_tail(-x / self.sigma), ratio
            ratio = acb(self.rest + p * theta.cos(), p * theta.sin())
            most = left if self.negative else ratio
            weight = (self.a * abs(most).log() - t * left.arg()).exp() * (below - before)
            total += weight * arb_poly(_exponential(abs((ratio / self.rest).log()), length))
            before = below
        tail = (arb.pi() / 2 - t * ratio.arg()).exp() / self.rest * self._grown()
        total += arb_poly([tail] * length)
        return total * (theta * theta * self.variance / 2).exp()

    def _grown(self) -> arb:
        """A bound of E_Q[R |R_θ|^a]: R^{a+1} <= 1−γ+γe^{(a+1)w}, or |R_θ| >= 1−γ for a < 0."""
        if self.negative:
            return self._most
        return self.rest + self.gamma * (self.a * (self.a + 1) * self.half).exp()


def _exponential(x: arb, length: int) -> list[arb]:
    """x^j/j! for 0 <= j < length."""
    found = [arb(1)]
    for j in range(1, length):
        found.append(found[-1] * x / j)
    return found


def _tail(x: arb) -> arb:
    """At least P(Z > x)."""
    return tilted_tail(arb(0), x)


def lowest(a: float, log_rest: float, log_gamma: float, variance: float, drop: float) -> float:
    """About the x below which QR^a comes to e^{−drop}: float64.

    For a < 0 it rises up to a peak, which may be far from 0, and is at most (1−γ)^a Q.
    """
    far = -math.sqrt(2 * variance * max(drop + min(a, 0.0) * log_rest, 1.0))
    if a >= 0:
        return far
    x = np.linspace(far, 0.0, _WAY)
    log_ratio = np.logaddexp(log_rest, log_gamma + (2 * x - 1) / (2 * variance))
    large = np.flatnonzero(a * log_ratio - x * x / (2 * variance) > -drop)
    if not large.size:
        raise OverflowError("a peak that float64 does not see")
    return float(x[max(int(large[0]) - 1, 0)])


def log_shrink(a: float, angle: float, log_rest: float) -> float:
    """About the log of `Frame.shrink`, which is 0 for a >= 0."""
    least = math.log(math.cos(angle / 2))
    return min(a, 0.0) * (max(least, log_rest) if angle < math.pi / 2 else least)
