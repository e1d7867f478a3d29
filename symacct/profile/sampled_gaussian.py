"""The sampled Gaussian's pair: P = (1−γ)N(0, σ²) + γN(1, σ²) against Q = N(0, σ²).

F(z) = E_Q[R^z], R(x) = 1−γ+γe^w, w = (2x−1)/(2σ²). R has zeros only at Im w = π mod 2π, so the
line of integration may be moved to any Im x = η, 0 <= η < πσ² (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, acb_mat, arb, arb_poly

from symacct.arithmetic import BALL
from symacct.exact import Exact
from symacct.profile.part import Floats, Line, log_turning, short

_ANGLES = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.05, 1.2])
_SCALES = np.array([0.5, 0.75, 1.0, 1.4, 2.0])  # of the likely best angle
_REACH = 8.0  # deviations that steering looks at
_MOST_POINTS = 50_000
_ROWS = 256  # of a matrix product at once
_COLUMNS = 2048
_SLOW_ANGLE = 1.45
_FLAT, _STEEP, _CELL = 6.0, 4.0, 0.125  # of cells in log(γe^w/(1−γ))


@dataclass(frozen=True)
class Rule:
    """Nodes x = jκ + iη, first <= j <= last, of a trapezoidal sum in x; exact binary numbers."""

    eta: float
    step: float
    first: int
    last: int


@dataclass(frozen=True)
class SampledGaussian:
    """`variance` = σ²/Δ², the sampling rate `gamma` in (0, 1]."""

    variance: Exact
    gamma: Exact

    symmetric = False

    def sampled(self, gamma: Exact) -> SampledGaussian:
        """Sampled once more."""
        return SampledGaussian(self.variance, self.gamma * gamma)

    # --- float64: where to look

    def steer(self, orders: Floats) -> tuple[Floats, Floats]:
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
        with np.errstate(divide="ignore"):
            rest = np.log(float(1 - self.gamma))
        return np.logaddexp(rest, self._log_gamma + (2 * x - 1) / (2 * float(self.variance)))

    @property
    def _log_gamma(self) -> float:
        return float(BALL.number(self.gamma).log().mid())

    def log_decay(self, a: float, t: float) -> float:
        """The least over the angles of log B_η(t), by a plain sum."""
        return self._best_angle(a, t)[1]

    def _best_angle(self, a: float, t: float) -> tuple[float, float]:
        """The angle θ = η/σ² with the least bound, and its logarithm.

        About t·p₁/(σ² + t²p₂), p_j = E[p^j] under the tilted law, p = γe^w/R, where p is small.
        """
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        far = -variance * math.log1p(t * float(self.gamma)) - _REACH * sigma
        far += min(a * float(self.gamma), 0.0)
        high = max(a, 0.0) + _REACH * sigma
        x = np.linspace(far, high, min(4000, int((high - far) / min(sigma / 2, variance)) + 2))
        log_density, w = -x * x / (2 * variance), self._log_gamma + (2 * x - 1) / (2 * variance)
        log_density -= math.log(float(np.exp(log_density).sum()))
        log_ratio = self._log_ratio(x)
        tilted, p = log_density + a * log_ratio, np.exp(w - log_ratio)
        tilted = np.exp(tilted - tilted.max())
        first, second = (tilted @ p, tilted @ p**2) / tilted.sum()
        likely = t * first / (variance + t * t * second)
        angles = np.minimum(np.concatenate([likely * _SCALES, _ANGLES]), _ANGLES[-1])
        log_r = np.log(float(1 - self.gamma) + np.exp(np.minimum(w, 600.0) + 1j * angles[:, None]))
        exponent = log_density + a * (log_r.real + np.maximum(w - 600.0, 0.0)) - t * log_r.imag
        top = exponent.max(axis=1)
        logs = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + angles**2 * variance / 2
        best = int(np.argmin(logs))
        return float(angles[best]), float(logs[best])

    def rule(self, a: float, need: float) -> Rule:
        """Nodes for an error of about e^{−need} F(a) at every t >= 0."""
        variance, sigma = float(self.variance), math.sqrt(self.variance)
        log_moment = float(self.steer(np.array([a]))[0][0])
        want = max(need, 1.0)
        eta = min(sigma * math.sqrt(0.37 * want), _widest(a) * variance)
        grown = log_shrink(a, 2 * eta / variance)
        drop = want + (eta / sigma) ** 2 / 2 + 2 + grown
        step = 2 * math.pi * eta / (2 * (eta / sigma) ** 2 + want + 2 + grown)
        lowest = a * math.log(float(1 - self.gamma)) if a < 0 < 1 - self.gamma else 0.0
        left = sigma * math.sqrt(2 * max(drop - log_moment + lowest, 1.0))
        step = short(step)
        right = max(a, 0.5) + sigma * math.sqrt(2 * drop)
        return Rule(short(eta), step, math.floor(-left / step), math.ceil(right / step))

    def log_values(self, line: Line) -> Floats:
        """log F on a line in complex128."""
        rule, variance = self.rule(line.a, 30.0), float(self.variance)
        x = rule.step * np.arange(rule.first, rule.last + 1) + 1j * rule.eta
        log_r = np.log(
            float(1 - self.gamma) + np.exp(self._log_gamma + (2 * x - 1) / (2 * variance))
        )
        log_weight = line.a * log_r - x * x / (2 * variance) + math.log(rule.step)
        return log_turning(log_weight - 0.5 * math.log(2 * math.pi * variance), log_r, line)

    # --- balls: what is proved

    def terms(self, line: Line, need: float) -> int:
        rule = self.rule(line.a, need)
        return rule.last - rule.first + 1

    def transform(self, line: Line, need: float) -> list[acb]:
        rule = self.rule(line.a, need)
        frame = Frame(self, line.a)
        log_ratios, weights = frame.nodes(rule)
        radius = frame.error(rule, weights)
        turn = acb(0, arb(line.h))
        turns = [(turn * log_ratio).exp() for log_ratio in log_ratios]
        disc = acb(arb(0, radius.upper()), arb(0, radius.upper()))
        return [value + disc for value in power_sums(weights, turns, line.last + 1)]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """log of B_η(t) = e^{η²/(2σ²)} E_Q[|R(x+iη)|^a e^{−t arg R(x+iη)}], which bounds |F(a+is)|

        for s >= t, as arg R is in (0, η/σ²); the conjugate for s <= −t.
        """
        angle, log_bound = self._best_angle(a, t)
        fallen = float(self.steer(np.array([a]))[0][0]) - log_bound
        return Frame(self, a).decay(angle, t, 2 - math.log(slack) + max(fallen, 0.0))

    def turns(self) -> list[arb]:
        return [BALL.number(1 - self.gamma).log()]

    def slow(self, a: float, t: float, length: int) -> list[arb_poly]:
        return [Frame(self, a).slow(t, length)]

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
            return y.exp() * (ratio * _above(-x / sigma) - gamma * _above((1 - x) / sigma))
        return gamma * _above((x - 1) / sigma) - ratio * _above(x / sigma)

    def largest(self, reverse: bool) -> arb:
        """∞, and −log(1−γ) from the side of Q."""
        return -BALL.number(1 - self.gamma).log() if reverse else arb("inf")

    def exact_largest(self, reverse: bool) -> Exact | None:
        return None

    def lost(self, reverse: bool) -> Exact:
        return Fraction(0)


class Frame:
    """The parameters in balls, at flint's current precision, for one real part a of the order."""

    def __init__(self, part: SampledGaussian, a: float) -> None:
        self.a = arb(a)
        self.gamma, self.rest = BALL.number(part.gamma), BALL.number(1 - part.gamma)
        self.variance = BALL.number(part.variance)
        self.sigma = self.variance.sqrt()
        self.half = 1 / (2 * self.variance)
        self.density = 1 / (self.sigma * (2 * arb.pi()).sqrt())
        self.negative = a < 0

    def nodes(self, rule: Rule) -> tuple[list[acb], list[acb]]:
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

    def error(self, rule: Rule, weights: list[acb]) -> arb:
        """A bound, at every t >= 0, of what the trapezoidal sum over the nodes is off by.

        Both edges of the strip 0 <= Im x <= 2η bound the integrand: by Q R^a, and by
        e^{(2η)²/(2σ²)} Q R^a, times cos(η/σ²)^a for a < 0.
        """
        step, eta = arb(rule.step), arb(rule.eta)
        angle = eta / self.variance
        left_out = (eta * eta * self.half).exp() * self.shrink(angle) * self.outside(rule)
        edges = 1 + (4 * eta * eta * self.half).exp() * self.shrink(2 * angle)
        share = edges / (2 * arb.pi() * eta / step).expm1()
        moment = sum(weights, acb(0)).abs_upper()
        if not share < 1:
            return arb.pos_inf()
        return left_out + share * (moment + left_out) / (1 - share)

    def shrink(self, angle: arb) -> arb:
        """sup |R_θ|^a/R^a: 1 for a >= 0, else cos(θ/2)^a, as |R_θ| >= R cos(θ/2)."""
        return (self.a * (angle / 2).cos().log()).exp() if self.negative else arb(1)

    def outside(self, rule: Rule) -> arb:
        """κ Σ Q R^a over the real parts of the nodes beyond first and last, by integrals."""
        left, right = arb(rule.step) * rule.first, arb(rule.step) * rule.last
        if not left < 0 or not right > arb(0.5) or not right >= self.a:
            return arb.pos_inf()
        if self.negative:
            below = (self.a * self.rest.log()).exp()  # R >= 1 − γ
            return below * _above(-left / self.sigma) + _above(right / self.sigma)
        # R <= 1 on the left; e^w(γ+(1−γ)e^{−w₁}) on the right, where it tilts Q to N(a, σ²).
        w = (2 * right - 1) * self.half
        log_tilt = (self.a**2 - self.a) * self.half
        log_tilt += self.a * (self.gamma + self.rest * (-w).exp()).log()
        return _above(-left / self.sigma) + log_tilt.exp() * _above((right - self.a) / self.sigma)

    def decay(self, angle: float, t: float, need: float) -> arb:
        """log of an upper bound of B_η(t), η = angle·σ², too large by about e^{−need} F(a).

        With φ = y/σ² and θ+φ <= π/2 the integrand on Im x = ±y is at most e^{y²/(2σ²)} Q R^a,
        times cos((θ+φ)/2)^a for a < 0: arg R grows with the angle, up to π/2.
        """
        sigma = math.sqrt(float(self.variance.mid()))
        height = min((1.57 - angle) * sigma**2, sigma * math.sqrt(2 * need))
        grown = log_shrink(float(self.a), angle + height / sigma**2)
        step = short(2 * math.pi * height / ((height / sigma) ** 2 / 2 + need + 1 + grown))
        reach = sigma * math.sqrt(2 * (need + 3 + grown))
        rule = Rule(
            0.0,
            step,
            math.floor(-reach / step),
            math.ceil((max(float(self.a), 0.5) + reach) / step),
        )
        theta, total, moment = arb(angle), arb(0), arb(0)
        cosine, sine = theta.cos(), theta.sin()
        for j in range(rule.first, rule.last + 1):
            x = arb(step) * j
            weighed = self.gamma * ((2 * x - 1) * self.half).exp()
            log_ratio = acb(self.rest + weighed * cosine, weighed * sine).log()
            log_weight = -x * x * self.half
            total += (log_weight + self.a * log_ratio.real - t * log_ratio.imag).exp()
            moment += (log_weight + self.a * (self.rest + weighed).log()).exp()
        scale, y = self.density * arb(step), arb(height)
        outside = self.outside(rule)
        edge = (y * y * self.half).exp() * self.shrink(theta + y / self.variance)
        share = 2 * edge / (2 * arb.pi() * y / arb(step)).expm1()
        if not share < 1:
            return arb.pos_inf()
        most = (moment * scale + outside) / (1 - share)
        bound = total * scale + self.shrink(theta) * outside + share * most
        return bound.log() + theta * theta * self.variance / 2

    def slow(self, t: float, length: int) -> arb_poly:
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
            below, left = _above(-x / self.sigma), ratio
            ratio = acb(self.rest + p * theta.cos(), p * theta.sin())
            most = left if self.negative else ratio
            weight = (self.a * abs(most).log() - t * left.arg()).exp() * (below - before)
            total += weight * arb_poly(_exponential(abs((ratio / self.rest).log()).upper(), length))
            before = below
        tail = (arb.pi() / 2 - t * ratio.arg()).exp() / self.rest * self._grown()
        total += arb_poly([tail] * length)
        return total * (theta * theta * self.variance / 2).exp()

    def _grown(self) -> arb:
        """A bound of E_Q[R |R_θ|^a]: R^{a+1} <= 1−γ+γe^{(a+1)w}, or |R_θ| >= 1−γ for a < 0."""
        if self.negative:
            return (self.a * self.rest.log()).exp()
        return self.rest + self.gamma * (self.a * (self.a + 1) * self.half).exp()


def _exponential(x: arb, length: int) -> list[arb]:
    """x^j/j! for 0 <= j < length."""
    found = [arb(1)]
    for j in range(1, length):
        found.append(found[-1] * x / j)
    return found


def log_shrink(a: float, angle: float) -> float:
    """log of sup |R_θ|^a/R^a, which is 0 for a >= 0."""
    return min(a, 0.0) * math.log(math.cos(angle / 2))


def _widest(a: float) -> float:
    """The largest η/σ² worth while: below π/2, less where |R_θ|^a grows beyond R^a."""
    return 0.49 * math.pi if a >= 0 else 0.49 * math.pi / (1 + 0.1 * math.sqrt(-a))


def power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    """Σ_j w_j r_j^n for 0 <= n < count, as products of matrices of powers; so many j at once."""
    sums: list[acb] = []
    for first in range(0, len(ratios), _COLUMNS):
        part = slice(first, first + _COLUMNS)
        found = _power_sums(weights[part], ratios[part], count)
        sums = [x + y for x, y in zip(sums, found, strict=True)] if sums else found
    return sums


def _power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    small = max(1, math.isqrt(count))
    steps = _columns(ratios, small + 1)
    giants = _columns(steps[small], -(-count // small))
    inner = acb_mat([list(row) for row in zip(*steps[:small], strict=True)])
    sums: list[acb] = []
    for first in range(0, len(giants), _ROWS):
        rows = [
            [w * g for w, g in zip(weights, giant, strict=True)]
            for giant in giants[first : first + _ROWS]
        ]
        sums.extend((acb_mat(rows) * inner).entries())
    return sums[:count]


def _columns(ratios: list[acb], count: int) -> list[list[acb]]:
    """The n-th powers of all the ratios, for 0 <= n < count."""
    found = [[acb(1)] * len(ratios), ratios]
    for n in range(2, count):
        half, rest = found[n // 2], found[n - n // 2]
        found.append([x * y for x, y in zip(half, rest, strict=True)])
    return found[:count]


def _certain(y: arb, reverse: bool) -> arb:
    """H where every loss is above y, or, of (Q, P), none."""
    return arb(0) if reverse else -y.expm1()


def _above(x: arb) -> arb:
    """1 − Φ(x)."""
    return (x / arb(2).sqrt()).erfc() / 2
