"""The privacy loss of Gaussian noise on a Poisson sample.

x, η and steps are in units of Δ, w = (2x−1)/(2σ²) and angles θ = Im w are in radians; t bounds
|Im z|. `need`, `drop` and `slack` are in nats, as in profile/part.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np
from flint import acb, arb, arb_poly, ctx

from symacct.analysis.normal_tails import FARTHEST_TAIL, RELATIVE_ERROR, upper_tail
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import acb_within, normal_tail, tilted_tail
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact, LazyModule
from symacct.kernel.memory import cached_property
from symacct.profile.part import Factor, Floats, OrderLine, Part, log_turning, rounded_down
from symacct.profile.sums import power_sums, sums_on_a_line

if TYPE_CHECKING:
    from symacct.profile import float_laws, written_laws
    from symacct.profile.losses import many_gaussians
else:  # which grids, printers and compositions of many different noises read
    many_gaussians = LazyModule("symacct.profile.losses.many_gaussians")
    float_laws = LazyModule("symacct.profile.float_laws")
    written_laws = LazyModule("symacct.profile.written_laws")

# --- frames
#
# The sampled Gaussian's parameters in balls, its trapezoidal sums over a line of x, their errors.
#
# R has zeros only at Im w = π mod 2π, so the line of integration may be moved to any Im x = η,
# 0 <= η < πσ² (docs/proofs/losses.md, Lemma gaussian-decay).

#: Amplitudes of a taper are bounded on a line of this angle at most, in radians. Each angle below
#: π/2 has its bound; a larger one is unsound.
_SLOW_ANGLE = 1.45
#: log R is bounded by so many chords up to an order that is far above the last node. More are
#: sharper, and take longer.
CHORDS = 8
#: The peak of QR^a is looked for at so many points. It steers.
_PEAK_PLACES = 96
#: Amplitudes are bounded on cells of v = log(γe^w/(1−γ)) from v = log(1/t) − 6 to v = 4, each so
#: long, and by one term beyond each end: the bound holds for other numbers, only less closely.
_CELLS_BEFORE, _CELLS_END, _CELL = 6.0, 4.0, 0.125


@dataclass(frozen=True)
class LineRule:
    """A rule on a line has nodes x = jκ + iη, first <= j <= last, as exact binary numbers."""

    eta: float
    step: float
    first: int
    last: int

    @property
    def terms(self) -> int:
        """Count the nodes."""
        return self.last - self.first + 1

    def transform(self, part: SampledGaussian, line: OrderLine) -> list[acb]:
        """Sum F on a line of orders over the nodes, which are above the real line."""
        frame = part.frame(line.a)
        log_ratios, weights = frame.nodes(self)
        disc = acb_within(frame.error(self, weights))
        turns = [acb(0, arb(line.h)) * log_ratio for log_ratio in log_ratios]
        weights = [w * (turn * line.first).exp() for w, turn in zip(weights, turns, strict=True)]
        sums = power_sums(weights, [turn.exp() for turn in turns], len(line.nodes))
        return [value + disc for value in sums]


class SampledFrame:
    """A frame holds the parameters in balls, for one real part a of the order.

    `rest` is 1−γ. The variance may be a wide ball, in which case bounds hold for all of it.
    """

    def __init__(self, variance: arb, gamma: arb, rest: arb, a: float) -> None:
        self.a = arb(a)
        self.gamma, self.rest, self.variance = gamma, rest, variance
        self.sigma = self.variance.sqrt()
        self.half = 1 / (2 * self.variance)
        self.density = 1 / (self.sigma * (2 * arb.pi()).sqrt())
        self.negative = a < 0

    def nodes(self, rule: LineRule) -> tuple[list[acb], list[acb]]:
        """Compute log R and κ Q R^a at each node."""
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
        """Bound what the trapezoidal sum over the nodes is off by, for every t = Im z >= 0.

        Both edges of the strip 0 <= Im x <= 2η bound the integrand: by Q R^a, and by
        e^{(2η)²/(2σ²)} Q R^a, times `shrink` for a < 0. ∞ where the step is too wide for a bound.
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
        """Bound E_Q[|R_θ|^a]/F(a): 1 for a >= 0, else cos(θ/2)^a, as |R_θ| >= R cos(θ/2).

        Or (1−γ)^a, as |R_θ| >= 1 − γ for θ <= π/2, and F(a) >= E_Q[R]^a = 1.
        """
        if not self.negative:
            return arb(1)
        most = self._cosine(angle)
        return most.min(self._most) if 2 * angle < arb.pi() else most

    def _cosine(self, angle: arb) -> arb:
        """Compute cos(θ/2)^a, with |R_θ|^a <= cos(θ/2)^a R^a for a < 0."""
        return (self.a * (angle / 2).cos().log()).exp()

    @property
    def _most(self) -> arb:
        """Compute (1−γ)^a, which R^a is at most for a < 0."""
        return (self.a * self.rest.log()).exp()

    def outside_sum(self, rule: LineRule, angle: arb) -> arb:
        """Bound κ Σ Q |R_θ|^a over the real parts of the nodes beyond first and last."""
        step = arb(rule.step)
        return self.tail_sum(step * rule.first, step * rule.last, step, angle)

    def tail_sum(self, left: arb, right: arb, step: arb, angle: arb) -> arb:
        """Bound κ Σ Q |R_θ|^a over the multiples of a step below `left` and above `right`.

        ∞ where the two are no ends: `left` >= 0, `right` <= ½, or QR^a rising beyond one.
        """
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
        """List (C, g) with |R_θ|^a <= C(1−γ+gγe^w)^a, a < 0: by R cos(θ/2), or by Re R_θ."""
        bounds = [(self._cosine(angle), arb(1))]
        return [*bounds, (arb(1), angle.cos())] if 0 < 2 * angle < arb.pi() else bounds

    def _under_tangent(self, x: arb, share: arb) -> arb:
        """Bound ∫QR^a beyond a point on either side of its peak, a < 0, a share of γe^w in R.

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
        """Bound ∫QR^a from a point >= a >= 0 on.

        With w₁ there R <= e^w(γ+(1−γ)e^{−w₁}) tilts Q to N(a, σ²).
        """
        w = (2 * right - 1) * self.half
        log_tilt = (self.a**2 - self.a) * self.half
        log_tilt += self.a * (self.gamma + self.rest * (-w).exp()).log()
        return tilted_tail(log_tilt, (right - self.a) / self.sigma)

    def tilted_mass(self, slope: arb, left: arb, right: list[arb]) -> arb:
        """Bound E_Q[e^{sw}] from `left` on, up to `right` if there is one.

        e^{sw} tilts Q to e^{(s²−s)/2σ²} N(s, σ²), of which one tail bounds the share. `right` has
        one end or none, both ends being values of w.
        """
        log_mass = (slope * slope - slope) * self.half
        for end in right:
            if (x := self.variance * end + 0.5) < slope:
                return tilted_tail(log_mass, (slope - x) / self.sigma)
        return tilted_tail(log_mass, (self.variance * left + 0.5 - slope) / self.sigma)

    def _under_chords(self, right: arb, far: arb) -> arb:
        """Bound ∫QR^a between two points, a >= 0: log R is convex, so below its chords.

        Their slopes s tilt Q to N(asσ², σ²); the integrand is to fall from the first point on, and
        the bound is ∞ where chords don't show it.
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
        """Bound log B_η(t), η = angle·σ², of a B too large by about e^{−need} F(a).

        In Z = x/σ, so that σ may be a wide ball. With φ = y/σ and θ+φ <= π/2 the integrand on
        Im Z = ±y is at most e^{y²/2} Q R^a, times cos((θ+φ)/2)^a for a < 0: arg R grows with the
        angle, up to π/2. ∞ where the steps chosen show no bound.
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
        """Bound e^{η²/(2σ²)} E_Q[|log(R_θ/(1−γ))|^j |R_θ|^a e^{−t arg R_θ}]/j! for j < length.

        θ = η/σ² < π/2 is fixed, and t > 0.

        |R_θ|, arg R_θ and |log(R_θ/(1−γ))| grow with x: cells of x take the first and the last at
        their right ends, arg at the left ones, |R_θ|^a at the right for a >= 0. Beyond them all
        |log(R_θ/(1−γ))|^j/j! <= e^{π/2}R/(1−γ).
        """
        sigma = math.sqrt(float(self.variance.mid()))
        theta = arb(min(_SLOW_ANGLE, 4 / sigma))
        low = -math.log(t) - _CELLS_BEFORE
        cells = math.ceil((_CELLS_END - low) / _CELL)
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
        """Bound E_Q[R |R_θ|^a]: R^{a+1} <= 1−γ+γe^{(a+1)w}, or |R_θ| >= 1−γ for a < 0."""
        if self.negative:
            return self._most
        return self.rest + self.gamma * (self.a * (self.a + 1) * self.half).exp()


def _exponential(x: arb, length: int) -> list[arb]:
    """Compute x^j/j! for 0 <= j < length."""
    terms = [arb(1)]
    for j in range(1, length):
        terms.append(terms[-1] * x / j)
    return terms


def _tail(x: arb) -> arb:
    """Bound P(Z > x) from above for a standard normal Z, as `tilted_tail` does."""
    return tilted_tail(arb(0), x)


def lowest(a: float, log_rest: float, log_gamma: float, variance: float, drop: float) -> float:
    """Estimate the x below which QR^a sums to e^{−drop}.

    For a < 0 it rises up to a peak, which may be far from 0, and is at most (1−γ)^a Q.
    OverflowError where no place looked at is above the goal.
    """
    far = -math.sqrt(2 * variance * max(drop + min(a, 0.0) * log_rest, 1.0))
    if a >= 0:
        return far
    x = np.linspace(far, 0.0, _PEAK_PLACES)
    log_ratio = np.logaddexp(log_rest, log_gamma + (2 * x - 1) / (2 * variance))
    large = np.flatnonzero(a * log_ratio - x * x / (2 * variance) > -drop)
    if not large.size:
        raise OverflowError("a peak that float64 does not see")
    return float(x[max(int(large[0]) - 1, 0)])


def log_shrink(a: float, angle: float, log_rest: float) -> float:
    """Estimate log of `SampledFrame.shrink`, which is 0 for a >= 0."""
    log_cosine = math.log(math.cos(angle / 2))
    return min(a, 0.0) * (max(log_cosine, log_rest) if angle < math.pi / 2 else log_cosine)


# --- sums on the real line
#
# The sampled Gaussian's moments by trapezoidal sums over real x, one grid for a line of orders.
#
# log R and the weights κQR^a are real there and do not depend on Im z; a strip |Im x| <= θσ², θ <
# π, bounds the error for all |Im z| <= t at once (docs/proofs/losses.md, Lemma strip-trapezoids).

#: Bounds are worked out at this many bits; of fewer they are wider.
_BITS = 64
#: A strip's angle is chosen from these shares of π, and some nearer to it. Each share below 1 has
#: its bound; the best one is taken.
_SHARES = [0.004, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7]
_LINE_ANGLES = np.array([*_SHARES, 0.8, 0.9, 0.95, 0.98, 0.995])[:, None] * math.pi
#: Places beside 0, where arg R_θ rises fast for θ near π. Chords between them are bounds: more are
#: sharper.
_NEAR_0 = [0.03, 0.1, 0.25, 0.5]
#: An edge of a strip is bounded between these rising places v = log(γe^w/(1−γ)), 0 among them. More
#: are a nearer bound.
_PLACES = np.array(
    [*np.arange(-18.0, -0.5, 0.5), *(-v for v in _NEAR_0[::-1]), 0.0, *_NEAR_0, 1.0, 2.0, 4.0]
)
#: The index of the place 0 among `_PLACES`: the proof needs it among those of a strip.
_ZERO = int(np.flatnonzero(_PLACES == 0)[0])
#: What is estimated to be below e^{−3} of the bound has one chord for all. It steers: any chord is
#: a bound.
_SPARE_NATS = 3.0
#: arg R_θ at each angle and place, in float64, as `log_edge` has it in balls. It steers.
_ARG = np.angle(1 + np.exp(_PLACES + 1j * _LINE_ANGLES))
#: The slope of arg R_θ at each angle and place, in float64. It steers.
_RISE = np.sin(_LINE_ANGLES) / (2 * np.cosh(_PLACES) + 2 * np.cos(_LINE_ANGLES))
#: log sin θ of each angle, in float64. It steers.
_LOG_SINE = np.log(np.sin(_LINE_ANGLES))
#: log(1 + e^w) at each place, in float64. It steers.
_LOG_GROWTH = np.logaddexp(0, _PLACES)
#: p = γe^w/R at the next place, and 1 beyond the last one. It steers.
_SHARE = np.append(1 / (1 + np.exp(-_PLACES[1:])), 1.0)


@dataclass(frozen=True)
class Strip(LineRule):
    """A strip has real nodes, and bounds their error by |Im x| <= θσ² and places v_0 < … < v_m.

    v = log(γe^w/(1−γ)); 0 is one of them.
    """

    angle: float
    places: tuple[float, ...]

    def transform(self, part: SampledGaussian, line: OrderLine) -> list[acb]:
        """Sum F on a line of orders over the real nodes, with one error for the whole line."""
        frame = part.frame(line.a)
        weights, losses = nodes(frame, arb(self.step), self.first, self.last)
        return sums_on_a_line(weights, losses, line, error(frame, self, line.h * line.last))


def edge(angle: float) -> Strip:
    """Make a strip of all places and no nodes worth summing, for bounds on |Im w| <= an angle."""
    return Strip(0.0, 1.0, 0, 0, angle, tuple(_PLACES))


def strip(part: SampledGaussian, a: float, t: float, need: float) -> Strip:
    """Estimate the widest step for an error of about e^{−need} F(a) at every |Im z| <= t."""
    variance, want = float(part.variance), max(need, 1.0)
    heights = t * _ARG + a * (part.log_rest + (_LOG_SINE if a < 0 else _LOG_GROWTH))
    edges = _log_edges(part, a, t, heights)
    log_moment = part.log_moment(a)
    fall = edges + math.log(2) + _LINE_ANGLES[:, 0] ** 2 * variance / 2 - log_moment + want + 2
    steps = np.nan_to_num(2 * math.pi * variance * _LINE_ANGLES[:, 0] / fall, nan=0.0)
    i = int(np.argmax(steps))
    step = rounded_down(max(float(steps[i]), 2.0**-40 * math.sqrt(variance)))
    first, last = part.ends(a, want + 2 - log_moment, step)
    places = _few_places(part, a, t, heights[i], float(edges[i]))
    return Strip(0.0, step, first, last, float(_LINE_ANGLES[i, 0]), places)


def _few_places(
    part: SampledGaussian, a: float, t: float, heights: Floats, edge: float
) -> tuple[float, ...]:
    """Choose places from where the exponent matters up to where one chord to 0 is enough."""
    low = np.flatnonzero((heights <= edge) & (_PLACES < 0))
    first = int(low[-1]) if low.size else 0
    below = np.arange(first, _ZERO)
    slopes = (heights[_ZERO] - heights[below]) / -_PLACES[below]
    small = _log_masses(part, _PLACES[below], slopes, 0.0) + heights[below] < edge - _SPARE_NATS
    last = int(below[small.argmax()]) if small.any() else _ZERO
    return tuple(_PLACES[[*range(first, last + 1), *range(max(last + 1, _ZERO), len(_PLACES))]])


def _log_edges(part: SampledGaussian, a: float, t: float, heights: Floats) -> Floats:
    """Estimate `log_edge` less θ²σ²/2 for each angle; `heights` are the exponents at all places."""
    slopes = t * _RISE + max(a, 0.0) * _SHARE
    slopes[:, :_ZERO] = (np.diff(heights) / np.diff(_PLACES))[:, :_ZERO]
    logs = heights + _log_masses(part, _PLACES, slopes, np.append(_PLACES[1:], math.inf))
    return np.asarray(np.logaddexp(heights[:, 0], np.logaddexp.reduce(logs, axis=1)))


def _log_masses(
    part: SampledGaussian, left: Floats, slopes: Floats, right: Floats | float
) -> Floats:
    """Estimate log E_Q[e^{s(v − v_i)}] between places."""
    variance, log_odds = float(part.variance), part.log_gamma - part.log_rest
    x, end = (variance * (v - log_odds) + 0.5 for v in (left, right))
    beyond = np.maximum(np.maximum(x - slopes, slopes - end), 0.0)
    tilts = slopes * (slopes - 1) - beyond**2
    return np.asarray(tilts / (2 * variance) - slopes * (left - log_odds))


def nodes(frame: SampledFrame, step: arb, first: int, last: int) -> tuple[list[arb], list[arb]]:
    """Compute κQR^a and log R at the multiples of a step κ."""
    weighed = frame.gamma * ((2 * step * first - 1) * frame.half).exp()
    growth, fall = (2 * step * frame.half).exp(), step * step * frame.half
    scale, a, rest = frame.density * step, frame.a, frame.rest
    weights, losses = [], []
    for j in range(first, last + 1):
        loss = (weighed + rest).log()
        losses.append(loss)
        weights.append((a * loss - fall * (j * j)).exp() * scale)
        weighed *= growth
    return weights, losses


def error(frame: SampledFrame, rule: Strip, t: float) -> arb:
    """Bound for |Im z| <= t what the trapezoidal sum over the real nodes is off by."""
    with ctx.workprec(_BITS):
        edge = log_edge(frame, rule, t).exp()
        decay = (2 * arb.pi() * arb(rule.angle) * frame.variance / arb(rule.step)).expm1()
        return frame.outside_sum(rule, arb(0)) + 2 * edge / decay


def log_edge(frame: SampledFrame, rule: Strip, t: float) -> arb:
    """Bound log e^{θ²σ²/2} E_Q[|R_θ|^a e^{t arg R_θ}], and so with −θ, for a whole line.

    With v = log(γe^w/(1−γ)) the exponent t arg R_θ + a log R rises with v, convex up to v = 0.
    Below v_0 it is at most what it is there; between two places up to 0 at most its chord; from
    another on it rises by at most t arg′ at the place and a at most, ap at the next one.
    """
    theta, log_odds = arb(rule.angle), (frame.gamma / frame.rest).log()
    growths = [arb(v).exp() for v in rule.places]
    heights = [_height(frame, theta, u, t) for u in growths]
    total = heights[0].exp()
    for i, v in enumerate(rule.places):
        following = slice(i + 1, i + 2)
        [*right] = (place - log_odds for place in rule.places[following])
        if v < 0:
            slope = (heights[i + 1] - heights[i]) / (rule.places[i + 1] - arb(v))
        else:
            slope = _rise(frame, theta, growths[i], growths[following], t)
        left = v - log_odds
        total += (heights[i] - slope * left).exp() * frame.tilted_mass(slope, left, right)
    base = frame.rest * theta.sin() if frame.negative else frame.rest
    return theta * theta * frame.variance / 2 + frame.a * base.log() + total.log()


def _height(frame: SampledFrame, theta: arb, u: arb, t: float) -> arb:
    """Compute t arg R_θ + a log R, less a log(1−γ); for a < 0 without a log R.

    There |R_θ| >= (1−γ) sin θ serves.
    """
    arg = acb(1 + u * theta.cos(), u * theta.sin()).arg()
    return t * arg if frame.negative else t * arg + frame.a * u.log1p()


def _rise(frame: SampledFrame, theta: arb, u: arb, following: list[arb], t: float) -> arb:
    """Bound the slope of `_height` in log u, from u >= 1 on to the following place or to ∞."""
    arg = t * u * theta.sin() / (1 + 2 * u * theta.cos() + u * u)
    if frame.negative:
        return arg
    return arg + sum((frame.a * (v / (1 + v) - 1) for v in following), frame.a)


# --- the loss
#
# The sampled Gaussian's pair: P = (1−γ)N(0, σ²) + γN(1, σ²) against Q = N(0, σ²).
#
# F(z) = E_Q[R^z], R(x) = 1−γ+γe^w, w = (2x−1)/(2σ²). R has zeros only at Im w = π mod 2π, so the
# line of integration may be moved to any Im x = η, 0 <= η < πσ² (docs/proofs/losses.md, Lemma
# gaussian-decay).

#: The angle θ of `decay` is chosen from these, in radians, the largest of all last. Each below π/2
#: has its bound; the best one is taken.
_ANGLES = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.05, 1.2])
#: The angle θ of `decay` is chosen besides from these multiples of the likely best angle, up to the
#: last of `_ANGLES`. Each has its bound; the best one is taken.
_MULTIPLES_OF_ANGLE = np.array([0.5, 0.75, 1.0, 1.4, 2.0])
#: Sums that steer go so many deviations beyond the peaks. It steers.
_STEERING_REACH = 8.0
#: A sum that steers has at most so many points, and is ∞ where it would have more.
_MOST_STEERING_POINTS = 50_000
#: The right end is looked for at so many points where a is more than 4σ: QR^a has two peaks. They
#: steer: what is beyond the end is bounded.
_DEVIATIONS_OF_TWO_PEAKS, _WAY_POINTS = 4.0, 96
#: The likely angle is the best where t²p₂ is at most this part of σ². It steers.
_PART_OF_VARIANCE = 16
#: A node off the real line takes the time of so many on it. It steers.
_COST_OFF_LINE = 1.25


@dataclass(frozen=True)
class SampledGaussian(Part):
    """A Gaussian query on a Poisson sample has `variance` = σ²/Δ² and the rate `gamma` in (0, 1).

    At the rate 1 it is a GaussianLoss.
    """

    variance: Exact
    gamma: Exact

    symmetric = False
    jumps_rarely = True

    def sampled(self, gamma: Exact) -> SampledGaussian:
        """Mix P once more, at the rate of this loss times γ."""
        return SampledGaussian(self.variance, self.gamma * gamma)

    @classmethod
    def factors(cls, runs: Sequence[tuple[Self, int]]) -> Sequence[tuple[Factor, int]]:
        """Gather many noises about as large, which are interpolated together."""
        return many_gaussians.merged_runs(runs)

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L at real orders by a plain sum.

        Both are ∞ where the points are too many.
        """
        sigma, orders = math.sqrt(self.variance), np.asarray(orders, dtype=np.float64)
        # The peak is where x = a dlog R/dw: below 0 dlog R/dw <= γ.
        low = min(orders.min() * float(self.gamma), 0) - _STEERING_REACH * sigma
        high = max(orders.max(), 0) + _STEERING_REACH * sigma
        count = (high - low) / min(sigma / 2, sigma**2)
        if count > _MOST_STEERING_POINTS:
            return np.full(orders.shape, np.inf), np.full(orders.shape, np.inf)
        x = np.linspace(low, high, int(count) + 2)
        log_ratio, log_density = self._log_ratio(x), -x * x / (2 * sigma**2)
        exponent = orders[:, None] * log_ratio + log_density
        top = exponent.max(axis=1)
        weight = np.exp(exponent - top[:, None])
        total = weight.sum(axis=1)
        mean = weight @ log_ratio / total
        spread = weight @ log_ratio**2 / total - mean**2
        return np.log(total / np.exp(log_density).sum()) + top, spread

    def _log_ratio(self, x: Floats) -> Floats:
        """Compute log R at some x in float64."""
        return np.logaddexp(
            self.log_rest, self.log_gamma + (2 * x - 1) / (2 * float(self.variance))
        )

    @cached_property
    def log_rest(self) -> float:
        """log(1−γ), which is right where γ rounds to 1 as a float."""
        return float(BALL.number(1 - self.gamma).log().mid())

    @cached_property
    def log_gamma(self) -> float:
        """log γ, which is right where γ rounds to 0 as a float."""
        return float(BALL.number(self.gamma).log().mid())

    def in_floats(self, reverse: bool, rare: float) -> float_laws.TailsInFloats:
        """Give the law by tails in float64, without laws that are rare."""
        return normal_tails(1 / self.variance, self.gamma, reverse, rare)

    def log_decay(self, a: float, t: float) -> float:
        """Estimate the smallest log B_η(t) over the angles, by a plain sum."""
        return self.best_angle(a, t)[1]

    def best_angle(self, a: float, t: float) -> tuple[float, float, float]:
        """Estimate the angle θ = η/σ² of the smallest log B_η(t), that logarithm, and its fall.

        The fall is how far it is below log F(a). Where p = γe^w/R is small, the angle is about
        t·p₁/(σ² + t²p₂), p_j = E[p^j] under the tilted law.
        """
        variance, tilted = float(self.variance), _tilted(self, a, math.frexp(t)[1])
        likely, spread = t * tilted.first, t * t * tilted.second
        angles = np.array([likely / (variance + spread)])
        if spread > variance / _PART_OF_VARIANCE:
            angles = np.concatenate([angles * _MULTIPLES_OF_ANGLE, _ANGLES])
        angles = np.minimum(angles, _ANGLES[-1])
        log_r = np.log(tilted.rest + tilted.weighed * np.exp(1j * angles)[:, None])
        exponent = tilted.log_density + a * (log_r.real + tilted.scale) - t * log_r.imag
        top = exponent.max(axis=1)
        logs = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + angles**2 * variance / 2
        best = int(np.argmin(logs))
        return float(angles[best]), float(logs[best]), tilted.log_moment - float(logs[best])

    def log_moment(self, a: float) -> float:
        """Estimate log F(a) from below: by 1 − γ, by γe^w, and by 1 beyond [0, 1]."""
        if a < 0:
            return 0.0
        peak = a * self.log_gamma + (a * a - a) / (2 * float(self.variance))
        return max(a * self.log_rest, peak, 0.0 if a > 1 else -math.inf)

    def rule(self, a: float, need: float) -> LineRule:
        """Estimate nodes off the real line for an error of about e^{−need} F(a) at every t >= 0."""
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        log_moment, want, choices = self.log_moment(a), max(need, 1.0), []
        for widest in _widest(a):
            eta = min(sigma * math.sqrt(0.37 * want), widest * variance)
            grown = log_shrink(a, 2 * eta / variance, self.log_rest)
            drop = want + (eta / sigma) ** 2 / 2 + 2 + grown
            step = 2 * math.pi * eta / (2 * (eta / sigma) ** 2 + want + 2 + grown)
            choices.append((step, eta, drop))
        step, eta, drop = max(choices)
        step = rounded_down(step)
        return LineRule(rounded_down(eta), step, *self.ends(a, drop - log_moment, step))

    def ends(self, a: float, drop: float, step: float) -> tuple[int, int]:
        """Estimate the first and last multiple of a step, beyond which QR^a sums to e^{−drop}."""
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        left = lowest(a, self.log_rest, self.log_gamma, variance, drop)
        # The hump about a has γ^a e^{a(a−1)/(2σ²)} in all, which can be far above 1.
        hump = max(0.0, a * (self.log_gamma + (a - 1) / (2 * variance))) if a > 0 else 0.0
        right = max(a, 0.5) + sigma * math.sqrt(2 * max(drop + hump, 1.0))
        first, last = math.floor(left / step), math.ceil(right / step)
        if a > _DEVIATIONS_OF_TWO_PEAKS * sigma:
            x = np.linspace(0.5, right, _WAY_POINTS)
            log_ratio = self._log_ratio(x)
            large = np.flatnonzero(a * log_ratio - x * x / (2 * variance) > -drop)
            beyond = int(large[-1]) + 1 if large.size else 1
            nearer = math.ceil(x[min(beyond, _WAY_POINTS - 1)] / step)
            # The chords that what lies beyond is to be proved by: a node later they may rise.
            chords = np.linspace(nearer * step, a - (first - 1) * step, CHORDS + 1)
            slopes = np.diff(self._log_ratio(chords)) / np.diff(chords)
            if (a * variance * slopes < chords[:-1]).all():
                last = min(last, nearer)
        return first, last

    def log_values(self, line: OrderLine) -> Floats:
        """Estimate log F on a line from 0 on, by nodes off the real line."""
        rule, variance = self.rule(line.a, 30.0), float(self.variance)
        x = rule.step * np.arange(rule.first, rule.last + 1) + 1j * rule.eta
        log_r = np.log(
            float(1 - self.gamma) + np.exp(self.log_gamma + (2 * x - 1) / (2 * variance))
        )
        log_weight = line.a * log_r - x * x / (2 * variance) + math.log(rule.step)
        return log_turning(log_weight - 0.5 * math.log(2 * math.pi * variance), log_r, line)

    # --- balls: what is proved

    def frame(self, a: float, variance: arb | None = None) -> SampledFrame:
        """Make the frame of the parameters in balls, or of a ball of variances in σ²'s place."""
        variance = BALL.number(self.variance) if variance is None else variance
        return SampledFrame(variance, BALL.number(self.gamma), BALL.number(1 - self.gamma), a)

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value, real or off the real line, whichever are fewer."""
        return _cheaper(self, line, need).terms

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F on a line of orders, by the rule of the fewer nodes."""
        return _cheaper(self, line, need).transform(self, line)

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F(a+is)| for |s| >= t by log B_η(t) at the best angle.

        B_η(t) = e^{η²/(2σ²)} E_Q[|R(x+iη)|^a e^{−t arg R(x+iη)}]. For s >= t, as arg R is in (0,
        η/σ²); the conjugate for s <= −t.
        """
        angle, _, fallen = self.best_angle(a, t)
        return self.frame(a).decay(angle, t, 2 - math.log(slack) + max(fallen, 0.0))

    def frequencies(self) -> list[arb]:
        """List log(1−γ), the least loss, at which F turns."""
        return [BALL.number(1 - self.gamma).log()]

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        """List the series that bound the amplitude of that turn beyond t."""
        return [self.frame(a).amplitude_bounds(t, length)]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute γΦ̄(x−1) − (e^y−1+γ)Φ̄(x), x = ½ + σ² log((e^y−1+γ)/γ) where the loss is y.

        Of (Q, P) it is (1−(1−γ)e^y)Φ(x) − γe^y Φ(x−1), x where the loss is −y.
        """
        gamma, variance = BALL.number(self.gamma), BALL.number(self.variance)
        ratio = (-y if reverse else y).expm1() + gamma
        if not ratio > 0:
            return _certain(y, reverse) if ratio <= 0 else arb("0.5 +/- 0.5")
        sigma = variance.sqrt()
        x = variance * (ratio / gamma).log() + arb(0.5)
        if reverse:
            return y.exp() * (
                ratio * normal_tail(-x / sigma) - gamma * normal_tail((1 - x) / sigma)
            )
        return gamma * normal_tail((x - 1) / sigma) - ratio * normal_tail(x / sigma)

    def largest(self, reverse: bool) -> arb:
        """Return ∞, or −log(1−γ) if `reverse`."""
        return -BALL.number(1 - self.gamma).log() if reverse else arb("inf")

    def in_latex(self, write: written_laws.Write) -> written_laws.WrittenLaws:
        """Write (1−γ)N(0, σ²) + γN(1, σ²) and N(0, σ²)."""
        on, off = written_laws.normals(self.variance, write)
        return written_laws.WrittenLaws(written_laws.mixed(self.gamma, on, off, write), off)


def normal_tails(
    ratio: Exact, gamma: Exact, reverse: bool, rare: float
) -> float_laws.TailsInFloats:
    """Give (1−γ)N(0, 1) + γN(s, 1) against N(0, 1) by tails in float64.

    Beyond z the loss log(1−γ+γe^{sz−s²/2}) is larger. Exchanged it is beyond a node where z is
    below the place of the node's negative. `ratio` = s²; PrecisionError where s is 0 as a float.
    """
    s = math.sqrt(float_laws.nearest(ratio))
    g, rest = float_laws.nearest(gamma), float_laws.nearest(1 - gamma)
    if not s:
        raise PrecisionError("found noise beyond the range of float64 to lay a grid over")
    far = math.sqrt(-2 * math.log(rare))
    z = np.array([-far, s + far])
    with np.errstate(divide="ignore"):
        ends = np.logaddexp(np.log(rest), math.log(g) + s * z - s * s / 2)
    smallest, largest = -ends[::-1] if reverse else ends

    def beyond(losses: Floats) -> float_laws.Beyond:
        """Compute the masses beyond some losses, and what float64 loses of them."""
        w, turned = float_laws.unsampled(-losses if reverse else losses, g, rest)
        place = w / s + s / 2
        if reverse:
            p = upper_tail(-place)
            q = rest * p + g * upper_tail(s - place)
            unknown = (s - place > FARTHEST_TAIL) & ~_is_rounding(s - place, s, g, rest, rest * p)
        else:
            q = upper_tail(place)
            p = rest * q + g * upper_tail(place - s)
            unknown = place > FARTHEST_TAIL
        units = 26 * turned + 26 * s * (13 + 2 * s) + 6 * s * s + 13 + 4 * s + float_laws.FEW
        short = 4 * RELATIVE_ERROR + units * float_laws.UNIT
        return float_laws.Beyond(p, q, short, unknown)

    return float_laws.TailsInFloats(float(smallest), float(largest), beyond)


def _is_rounding(x: Floats, s: float, g: float, rest: float, known: Floats) -> Floats:
    """Decide if γΦ(−x), x > 12, is below a unit of (1−γ)Φ(s−x), the mass `known`.

    So it is where γΦ(−12) is, and by Φ(−x) <= e^{s²/2−sx}Φ(s−x) for any s >= 0.
    """
    with np.errstate(divide="ignore"):
        log_unit = np.log(rest) + math.log(float_laws.UNIT / g)
    most = g * float(upper_tail(np.array(FARTHEST_TAIL)))
    is_rounding: Floats = np.logical_or(
        most <= known * float_laws.UNIT, s * (s / 2 - x) <= log_unit
    )
    return is_rounding


@lru_cache(256)
def _cheaper(part: SampledGaussian, line: OrderLine, need: float) -> LineRule:
    """Choose nodes on the real line, or on one above it, whichever are estimated to cost less."""
    shifted = part.rule(line.a, need)
    real = strip(part, line.a, line.h * line.last, need)
    return real if real.terms <= _COST_OFF_LINE * shifted.terms else shifted


@dataclass(frozen=True)
class _Tilted:
    """A tilted law is Q on a grid of x with γe^w and R but for a factor e^scale; float64.

    `first` and `second` are p₁ and p₂, and `log_moment` is log F(a).
    """

    log_density: Floats
    weighed: Floats
    rest: Floats
    scale: Floats
    first: float
    second: float
    log_moment: float


@lru_cache(256)
def _tilted(part: SampledGaussian, a: float, reach: int) -> _Tilted:
    """Tilt Q by R^a on a grid of x, in float64, so wide that it serves all t < 2^reach."""
    variance, sigma = float(part.variance), math.sqrt(part.variance)
    far = -variance * math.log1p(2.0**reach * float(part.gamma)) - _STEERING_REACH * sigma
    far += min(a * float(part.gamma), 0.0)
    high = max(a, 0.0) + _STEERING_REACH * sigma
    x = np.linspace(far, high, min(4000, int((high - far) / min(sigma / 2, variance)) + 2))
    log_density, w = -x * x / (2 * variance), part.log_gamma + (2 * x - 1) / (2 * variance)
    log_density -= math.log(float(np.exp(log_density).sum()))
    scale = np.maximum(w - 600.0, 0.0)
    log_ratio = np.logaddexp(part.log_rest, w)
    tilted, p = log_density + a * log_ratio, np.exp(w - log_ratio)
    top = tilted.max()
    share = np.exp(tilted - top)
    total = share.sum()
    first, second = float(share @ p / total), float(share @ p**2 / total)
    log_moment = float(np.log(total) + top)
    weighed, rest = np.exp(w - scale), float(1 - part.gamma) * np.exp(-scale)
    return _Tilted(log_density, weighed, rest, scale, first, second, log_moment)


def _widest(a: float) -> tuple[float, ...]:
    """List the largest η/σ² worth while: below π/2, less where |R_θ|^a grows beyond R^a.

    Or not by more than (1−γ)^a, for 2η/σ² < π/2.
    """
    if a >= 0:
        return (0.49 * math.pi,)
    return 0.49 * math.pi / (1 + 0.1 * math.sqrt(-a)), 0.245 * math.pi


def _certain(y: arb, reverse: bool) -> arb:
    """Compute D(y) where every loss is above y, 1 − e^y; of (Q, P), where none is, 0."""
    return arb(0) if reverse else -y.expm1()
