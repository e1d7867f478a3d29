"""The sampled Gaussian's pair: P = (1−γ)N(0, σ²) + γN(1, σ²) against Q = N(0, σ²).

F(z) = E_Q[R^z], R(x) = 1−γ+γe^w, w = (2x−1)/(2σ²). R has zeros only at Im w = π mod 2π, so the
line of integration may be moved to any Im x = η, 0 <= η < πσ² (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np
from flint import acb, arb, arb_poly

from symacct.analysis.normal_tails import FARTHEST_TAIL, RELATIVE_ERROR, upper_tail
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import acb_within, normal_tail
from symacct.profile.float_laws import FEW, UNIT, Beyond, TailsInFloats, nearest, unsampled
from symacct.profile.losses.sampled_gaussian import real_line
from symacct.profile.losses.sampled_gaussian.frame import (
    CHORDS,
    LineRule,
    SampledFrame,
    log_shrink,
    lowest,
)
from symacct.profile.losses.sampled_gaussian.many import merged_runs
from symacct.profile.part import Factor, Floats, OrderLine, Part, log_turning, rounded_down
from symacct.profile.sums.power_sums import power_sums
from symacct.profile.written_laws import Write, WrittenLaws, mixed, normals

_ANGLES = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.05, 1.2])
_SCALES = np.array([0.5, 0.75, 1.0, 1.4, 2.0])  # of the likely best angle
_REACH = 8.0  # deviations that steering looks at
_MOST_POINTS = 50_000
_LONG_WAY, _WAY = 4.0, 96  # deviations between the peaks of QR^a; points looked at
_SPREAD = 16  # of t²p₂ in σ², below which the likely angle is the best
_DEARER = 1.25  # a node off the real line than one on it


@dataclass(frozen=True)
class SampledGaussian(Part):
    """`variance` = σ²/Δ², the sampling rate `gamma` in (0, 1): at 1 it is a GaussianLoss."""

    variance: Exact
    gamma: Exact

    symmetric = False
    jumps_rarely = True

    def sampled(self, gamma: Exact) -> SampledGaussian:
        """Sampled once more."""
        return SampledGaussian(self.variance, self.gamma * gamma)

    @classmethod
    def factors(cls, runs: Sequence[tuple[Self, int]]) -> Sequence[tuple[Factor, int]]:
        """Those of many about as large noises are interpolated together."""
        return merged_runs(runs)

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        sigma, orders = math.sqrt(self.variance), np.asarray(orders, dtype=np.float64)
        # The peak is where x = a dlog R/dw: below 0 dlog R/dw <= γ.
        low = min(orders.min() * float(self.gamma), 0) - _REACH * sigma
        high = max(orders.max(), 0) + _REACH * sigma
        count = (high - low) / min(sigma / 2, sigma**2)
        if count > _MOST_POINTS:
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
        return np.logaddexp(
            self.log_rest, self.log_gamma + (2 * x - 1) / (2 * float(self.variance))
        )

    @cached_property
    def log_rest(self) -> float:
        """log(1−γ), where γ itself may be 1."""
        return float(BALL.number(1 - self.gamma).log().mid())

    @cached_property
    def log_gamma(self) -> float:
        """log γ, where γ itself may be 0."""
        return float(BALL.number(self.gamma).log().mid())

    def in_floats(self, reverse: bool, rare: float) -> TailsInFloats:
        return normal_tails(1 / self.variance, self.gamma, reverse, rare)

    def log_decay(self, a: float, t: float) -> float:
        """The least over the angles of log B_η(t), by a plain sum."""
        return self.best_angle(a, t)[1]

    def best_angle(self, a: float, t: float) -> tuple[float, float, float]:
        """The angle θ = η/σ² with the least bound, its logarithm, and how far below log F(a) it is.

        About t·p₁/(σ² + t²p₂), p_j = E[p^j] under the tilted law, p = γe^w/R, where p is small.
        """
        variance, found = float(self.variance), _tilted(self, a, math.frexp(t)[1])
        likely, spread = t * found.first, t * t * found.second
        angles = np.array([likely / (variance + spread)])
        if spread > variance / _SPREAD:
            angles = np.concatenate([angles * _SCALES, _ANGLES])
        angles = np.minimum(angles, _ANGLES[-1])
        log_r = np.log(found.rest + found.weighed * np.exp(1j * angles)[:, None])
        exponent = found.log_density + a * (log_r.real + found.scale) - t * log_r.imag
        top = exponent.max(axis=1)
        logs = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + angles**2 * variance / 2
        best = int(np.argmin(logs))
        return float(angles[best]), float(logs[best]), found.log_moment - float(logs[best])

    def log_moment(self, a: float) -> float:
        """At most log F(a), and about it: by 1 − γ, by γe^w, and by 1 beyond [0, 1]."""
        if a < 0:
            return 0.0
        peak = a * self.log_gamma + (a * a - a) / (2 * float(self.variance))
        return max(a * self.log_rest, peak, 0.0 if a > 1 else -math.inf)

    def rule(self, a: float, need: float) -> LineRule:
        """Nodes for an error of about e^{−need} F(a) at every t >= 0."""
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        log_moment, want = self.log_moment(a), max(need, 1.0)

        def chosen(widest: float) -> tuple[float, float, float]:
            eta = min(sigma * math.sqrt(0.37 * want), widest * variance)
            grown = log_shrink(a, 2 * eta / variance, self.log_rest)
            drop = want + (eta / sigma) ** 2 / 2 + 2 + grown
            return 2 * math.pi * eta / (2 * (eta / sigma) ** 2 + want + 2 + grown), eta, drop

        step, eta, drop = max(map(chosen, _widest(a)))
        step = rounded_down(step)
        return LineRule(rounded_down(eta), step, *self.ends(a, drop - log_moment, step))

    def ends(self, a: float, drop: float, step: float) -> tuple[int, int]:
        """Multiples of a step beyond which QR^a comes to about e^{−drop}."""
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        left = lowest(a, self.log_rest, self.log_gamma, variance, drop)
        # The hump about a has γ^a e^{a(a−1)/(2σ²)} in all, which can be far above 1.
        hump = max(0.0, a * (self.log_gamma + (a - 1) / (2 * variance))) if a > 0 else 0.0
        right = max(a, 0.5) + sigma * math.sqrt(2 * max(drop + hump, 1.0))
        first, last = math.floor(left / step), math.ceil(right / step)
        if a > _LONG_WAY * sigma:
            x = np.linspace(0.5, right, _WAY)
            log_ratio = self._log_ratio(x)
            large = np.flatnonzero(a * log_ratio - x * x / (2 * variance) > -drop)
            nearer = math.ceil(x[min(int(large[-1]) + 1 if large.size else 1, _WAY - 1)] / step)
            # The chords that what lies beyond is to be proved by: a node later they may rise.
            chords = np.linspace(nearer * step, a - (first - 1) * step, CHORDS + 1)
            slopes = np.diff(self._log_ratio(chords)) / np.diff(chords)
            if (a * variance * slopes < chords[:-1]).all():
                last = min(last, nearer)
        return first, last

    def log_values(self, line: OrderLine) -> Floats:
        """log F on a line in complex128."""
        rule, variance = self.rule(line.a, 30.0), float(self.variance)
        x = rule.step * np.arange(rule.first, rule.last + 1) + 1j * rule.eta
        log_r = np.log(
            float(1 - self.gamma) + np.exp(self.log_gamma + (2 * x - 1) / (2 * variance))
        )
        log_weight = line.a * log_r - x * x / (2 * variance) + math.log(rule.step)
        return log_turning(log_weight - 0.5 * math.log(2 * math.pi * variance), log_r, line)

    # --- balls: what is proved

    def frame(self, a: float) -> SampledFrame:
        """The parameters in balls."""
        return self.frame_for(BALL.number(self.variance), a)

    def frame_for(self, variance: arb, a: float) -> SampledFrame:
        """The parameters in balls, for a ball of variances."""
        return SampledFrame(variance, BALL.number(self.gamma), BALL.number(1 - self.gamma), a)

    def terms(self, line: OrderLine, need: float) -> int:
        return _cheaper(self, line, need).terms

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        return _cheaper(self, line, need).transform(self, line)

    def off_the_line(self, line: OrderLine, rule: LineRule) -> list[acb]:
        """F on a line of orders by a sum over nodes above the real line."""
        frame = self.frame(line.a)
        log_ratios, weights = frame.nodes(rule)
        disc = acb_within(frame.error(rule, weights))
        turns = [acb(0, arb(line.h)) * log_ratio for log_ratio in log_ratios]
        weights = [w * (turn * line.first).exp() for w, turn in zip(weights, turns, strict=True)]
        sums = power_sums(weights, [turn.exp() for turn in turns], len(line.nodes))
        return [value + disc for value in sums]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """log of B_η(t) = e^{η²/(2σ²)} E_Q[|R(x+iη)|^a e^{−t arg R(x+iη)}], which bounds |F(a+is)|.

        For s >= t, as arg R is in (0, η/σ²); the conjugate for s <= −t.
        """
        angle, _, fallen = self.best_angle(a, t)
        return self.frame(a).decay(angle, t, 2 - math.log(slack) + max(fallen, 0.0))

    def frequencies(self) -> list[arb]:
        return [BALL.number(1 - self.gamma).log()]

    def amplitude_bounds(self, a: float, t: float, length: int) -> list[arb_poly]:
        return [self.frame(a).amplitude_bounds(t, length)]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """γΦ̄(x−1) − (e^y−1+γ)Φ̄(x), x = ½ + σ² log((e^y−1+γ)/γ) where the loss is y; of (Q, P)

        (1−(1−γ)e^y)Φ(x) − γe^y Φ(x−1), x where it is −y.
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
        """∞, and −log(1−γ) from the side of Q."""
        return -BALL.number(1 - self.gamma).log() if reverse else arb("inf")

    def in_latex(self, write: Write) -> WrittenLaws:
        on, off = normals(self.variance, write)
        return WrittenLaws(mixed(self.gamma, on, off, write), off)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        return Fraction(0)


def normal_tails(ratio: Exact, gamma: Exact, reverse: bool, rare: float) -> TailsInFloats:
    """(1−γ)N(0, 1) + γN(s, 1) against N(0, 1): beyond z the loss log(1−γ+γe^{sz−s²/2}) is larger.

    The other way round it is beyond a node where z is below the place of the node's negative.
    """
    s, g, rest = math.sqrt(nearest(ratio)), nearest(gamma), nearest(1 - gamma)
    if not s:
        raise PrecisionError("found noise beyond the range of float64 to lay a grid over")
    far = math.sqrt(-2 * math.log(rare))
    z = np.array([-far, s + far])
    with np.errstate(divide="ignore"):
        ends = np.logaddexp(np.log(rest), math.log(g) + s * z - s * s / 2)
    least, largest = -ends[::-1] if reverse else ends

    def beyond(losses: Floats) -> Beyond:
        w, turned = unsampled(-losses if reverse else losses, g, rest)
        place = w / s + s / 2
        if reverse:
            p = upper_tail(-place)
            q = rest * p + g * upper_tail(s - place)
            unknown = (s - place > FARTHEST_TAIL) & ~_is_rounding(s - place, s, g, rest, rest * p)
        else:
            q = upper_tail(place)
            p = rest * q + g * upper_tail(place - s)
            unknown = place > FARTHEST_TAIL
        units = 26 * turned + 26 * s * (13 + 2 * s) + 6 * s * s + 13 + 4 * s + FEW
        return Beyond(p, q, 4 * RELATIVE_ERROR + units * UNIT, unknown)

    return TailsInFloats(float(least), float(largest), beyond)


def _is_rounding(x: Floats, s: float, g: float, rest: float, known: Floats) -> Floats:
    """Is γΦ(−x), x > 12, below a unit of (1−γ)Φ(s−x), the mass `known`?

    So it is where γΦ(−12) is, and by Φ(−x) <= e^{s²/2−sx}Φ(s−x) for any s >= 0.
    """
    with np.errstate(divide="ignore"):
        least = np.log(rest) + math.log(UNIT / g)
    most = g * float(upper_tail(np.array(FARTHEST_TAIL)))
    found: Floats = np.logical_or(most <= known * UNIT, s * (s / 2 - x) <= least)
    return found


@lru_cache(256)
def _cheaper(part: SampledGaussian, line: OrderLine, need: float) -> LineRule:
    """Nodes on the real line, or on one above it."""
    shifted = part.rule(line.a, need)
    real = real_line.strip(part, line.a, line.h * line.last, need)
    return real if real.terms <= _DEARER * shifted.terms else shifted


@dataclass(frozen=True)
class _Tilted:
    """Q on a grid of x, γe^w and R but for a factor e^scale, p₁, p₂ and log F(a); float64."""

    log_density: Floats
    weighed: Floats
    rest: Floats
    scale: Floats
    first: float
    second: float
    log_moment: float


@lru_cache(256)
def _tilted(part: SampledGaussian, a: float, reach: int) -> _Tilted:
    """The grid that sums with t < 2^reach need."""
    variance, sigma = float(part.variance), math.sqrt(part.variance)
    far = -variance * math.log1p(2.0**reach * float(part.gamma)) - _REACH * sigma
    far += min(a * float(part.gamma), 0.0)
    high = max(a, 0.0) + _REACH * sigma
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
    """The largest η/σ² worth while: below π/2, less where |R_θ|^a grows beyond R^a.

    Or not by more than (1−γ)^a, for 2η/σ² < π/2.
    """
    if a >= 0:
        return (0.49 * math.pi,)
    return 0.49 * math.pi / (1 + 0.1 * math.sqrt(-a)), 0.245 * math.pi


def _certain(y: arb, reverse: bool) -> arb:
    """H where every loss is above y, or, of (Q, P), none."""
    return arb(0) if reverse else -y.expm1()
