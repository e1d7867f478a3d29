"""Laplace noise: P = (1−γ)Q + γ·Lap(s) against Q = Lap(0), of scale 1, s = Δ/b.

Under Q the noise is below 0 with probability ½ and above s with e^{−s}/2: two atoms of the loss;
between them R(x) = 1−γ+γe^{2x−s} rises. With 0 <= x <= s

F(z) = ½R(0)^z + ½e^{−s}R(s)^z + ∫ ½e^{−x}R(x)^z dx (docs/proofs.md, section 16).
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, arb_poly, ctx

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import float_above
from symacct.core.exact import Exact
from symacct.numerics.sums.refine import within
from symacct.profile.part import Floats, OrderLine, log_turning
from symacct.profile.sums.power_sums import power_sums, sums_on_a_line

_STEER_POINTS = 96
_STEER_GRID = 4096
_ELLIPSES = np.geomspace(1.02, 60.0, 60)
_SHARE = 16  # of what the density adds to the atoms, in which far orders are told apart
_MOST_FAR = 2**24  # terms of all sums on a grid far away
_VARIANCE_NEED = 46.0
_GRID_NEED = math.log(_SHARE) + 12.0
_BITS = 80
_NEAR_HALF = 0.25
_CLOSED = 32  # products that two exponentials take


@dataclass(frozen=True)
class LaplaceLoss:
    """`shift` = Δ/b, the sampling rate `gamma` in (0, 1]."""

    shift: Exact
    gamma: Exact = Fraction(1)

    hardly_falls = True

    @property
    def symmetric(self) -> bool:
        """x ↦ s − x exchanges the two laws where nothing is sampled."""
        return self.gamma == 1

    def sampled(self, gamma: Exact) -> LaplaceLoss:
        """Sampled once more."""
        return LaplaceLoss(self.shift, self.gamma * gamma)

    # --- float64: where to look

    def floats(self) -> tuple[Floats, Floats]:
        """Weights and losses: the two atoms, and points between them."""
        shift, (nodes, weights) = float(self.shift), _steer_points()
        x = np.concatenate([[0.0, shift], shift * (1 + nodes) / 2])
        ends = [0.5, 0.5 * math.exp(-shift)]
        weight = np.concatenate([ends, shift / 4 * weights * np.exp(-x[2:])])
        return weight, np.log1p(float(self.gamma) * np.expm1(2 * x - shift))

    def steer(self, orders: Floats) -> tuple[Floats, Floats]:
        weight, loss = self.floats()
        exponent = orders[:, None] * loss + np.log(weight)
        top = exponent.max(axis=1)
        share = np.exp(exponent - top[:, None])
        total = share.sum(axis=1)
        mean = share @ loss / total
        centred = loss - mean[:, None]
        return np.log(total) + top, (share * centred**2).sum(axis=1) / total

    def log_decay(self, a: float, t: float) -> float:
        log_moment, near, variance, times, heights = _far(self, a)
        if t < near:
            first = 0.5 * math.log1p(-4 * (t / math.pi) ** 2 * variance)
            return log_moment + max(first, float(heights[0]))
        return log_moment + float(heights[min(int(np.searchsorted(times, t)), len(heights) - 1)])

    def log_values(self, line: OrderLine) -> Floats:
        weight, loss = self.floats()
        return log_turning(np.log(weight) + line.a * loss, loss, line)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        if self._is_closed(line.a):
            return _CLOSED
        return 2 + _rule(self, line.a, line.h * line.last, need)[1]

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        if self._is_closed(line.a):
            return [self._closed(acb(line.a, arb(line.h) * n)) for n in line.nodes]
        sample = LaplaceSample(self, line.a, line.h * line.last, need)
        return sums_on_a_line(sample.weights, sample.losses, line, sample.error)

    def _is_closed(self, a: float) -> bool:
        """Is F known by `_closed`, which cancels next to z = ½?"""
        return self.gamma == 1 and abs(a - 0.5) > _NEAR_HALF

    def _closed(self, z: acb) -> acb:
        """½(e^{−zs} + e^{(z−1)s} + (e^{(z−1)s} − e^{−zs})/(2z−1)) of what is not sampled."""
        shift = BALL.number(self.shift)
        low, high = (-z * shift).exp(), ((z - 1) * shift).exp()
        return (low + high + (high - low) / (2 * z - 1)) / 2

    def decay(self, a: float, t: float, slack: float) -> arb:
        """log of the larger of two bounds: near the line's real point, and far from it.

        |F(a+iu)|² <= F(a)²(1 − 4u²V/π²) for u <= π/(L₁−L₀); a grid beyond, and atoms at the end.
        """
        frame = LaplaceFrame(self, a)
        near = arb.pi() / (frame.high - frame.low)
        start = arb(t).max(near) if not arb(t) < near else near
        far = frame.far(start)
        if not arb(t) < near:
            return far.log()
        close = 1 - 4 * (arb(t) / arb.pi()) ** 2 * frame.variance
        return (frame.moment * close.max(arb(0)).sqrt()).max(far).log()

    def turns(self) -> list[arb]:
        return [-self.largest(True), self.largest(False)]

    def slow(self, a: float, t: float, length: int) -> list[arb_poly]:
        """½e^{aL₀} + …, with bounds g(L)e^{aL}/t^{j+1} at either end of the density g of L,

        κe^{−L/2}(1−(1−γ)e^{−L})^{−3/2} = Σ c_m e^{−(m+½)L}, c_m >= 0: each term, integrated against
        e^{zL}, is c_m e^{(z−m−½)L}/(z−m−½) at the ends, and |z−m−½| >= t.
        """
        shift, scale = BALL.number(self.shift), 1 / (4 * BALL.number(self.gamma))
        found = []
        for loss, atom, density in zip(
            self.turns(),
            [arb(0.5), (-shift).exp() / 2],
            [shift.exp() * scale, (-2 * shift).exp() * scale],
            strict=True,
        ):
            tilt = (arb(a) * loss).exp()
            tail = [density * loss.exp() * tilt * arb(t) ** (-j - 1) for j in range(length)]
            found.append(arb_poly([tilt * atom]) + arb_poly(tail))
        return found

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """γ(1−e^{x−s}), x where the loss is y; of (Q, P) γe^{y+x−s}(e^x−1), x where it is −y."""
        shift, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        ratio = (-y if reverse else y).expm1() / gamma + 1
        if not ratio > 0:
            beyond = arb(0) if reverse else -y.expm1()
            return beyond if ratio <= 0 else arb("0.5 +/- 0.5")
        x = (shift + ratio.log()) / 2
        outside = x > shift if reverse else x < 0
        inside = x <= shift if reverse else x >= 0
        if outside:
            return -y.expm1()
        if reverse:
            value = gamma * (y + x - shift).exp() * x.expm1()
        else:
            value = -gamma * (x - shift).expm1()
        value = value.max(arb(0))
        return value if inside else value.union(-y.expm1())

    def largest(self, reverse: bool) -> arb:
        """log(1−γ+γe^s), and −log(1−γ+γe^{−s}) from the side of Q."""
        shift, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        if self.gamma == 1:
            return shift
        end = (gamma * (-shift if reverse else shift).expm1()).log1p()
        return -end if reverse else end

    def exact_largest(self, reverse: bool) -> Exact | None:
        return self.shift if self.gamma == 1 else None

    def lost(self, reverse: bool) -> Exact:
        return Fraction(0)


@lru_cache(1)
def _steer_points() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(_STEER_POINTS)


@lru_cache(64)
def _far(part: LaplaceLoss, a: float) -> tuple[float, float, float, Floats, Floats]:
    """log F(a), the end of the near part, V; some t, and log sup |F/F(a)| from each on; float64."""
    weight, loss = part.floats()
    log_moments, variances = part.steer(np.array([a]))
    tilted = np.exp(a * loss + np.log(weight) - log_moments[0])
    width = float(loss[1] - loss[0])
    near, atoms = math.pi / width, float(tilted[0] + tilted[1])
    times = np.linspace(near, 60 * near, _STEER_GRID)
    heights = np.abs(np.exp(1j * times[:, None] * loss) @ tilted)
    least = atoms + (1 - atoms) / _SHARE * 2
    falling = np.maximum(np.maximum.accumulate(heights[::-1])[::-1] + (1 - atoms) / _SHARE, least)
    return float(log_moments[0]), near, float(variances[0]), times, np.log(falling)


class LaplaceSample:
    """Losses and tilted weights whose sums Σ w e^{itℓ} are F(a+it), up to `error`, 0 <= t <= `far`.

    Gauss's rule with J nodes for a function that is at most m in the ellipse with the foci 0, s
    and the sum ρ of its half-axes over s/2 is off by at most (s/2)(64/15) m ρ^{−2J}/(1−ρ^{−2}).
    """

    def __init__(self, part: LaplaceLoss, a: float, far: float, need: float) -> None:
        self.shift, self.gamma = BALL.number(part.shift), BALL.number(part.gamma)
        self.rest, self.a = BALL.number(1 - part.gamma), arb(a)
        ellipse, count = _rule(part, a, far, need)
        self.losses, self.weights = [], []
        for x, weight in [
            (arb(0), arb(0.5)),
            (self.shift, (-self.shift).exp() / 2),
            *((x, weight * (-x).exp() / 2) for x, weight in self._points(count)),
        ]:
            loss = (self.gamma * (2 * x - self.shift).expm1()).log1p()
            self.losses.append(loss)
            self.weights.append(weight * (self.a * loss).exp())
        self.largest, bound = self._bound(ellipse, far)
        self.error = arb(64) / 15 * self.shift / 2 * bound / (1 - arb(ellipse) ** -2)
        self.error *= arb(ellipse) ** (-2 * count)

    def total(self, terms: list[arb], grown: arb = arb(1)) -> arb:  # noqa: B008  # immutable
        """The sum of the terms, for an integrand that is `grown` times as large at most."""
        return sum(terms, within(self.error * grown))

    def _points(self, count: int) -> list[tuple[arb, arb]]:
        half = self.shift / 2
        return [(half * (1 + u), half * w) for u, w in legendre(count, ctx.prec)]

    def _bound(self, ellipse: float, far: float) -> tuple[arb, arb]:
        """Upper bounds in the ellipse: of |log R|, and of |½e^{−x}R^{a+it}| for 0 <= t <= far.

        There |Im 2x| <= θ <= π/2, so 1−γ+γe^w cos θ <= |R| <= 1−γ+γe^w, and arg R, which grows
        with w and with θ, is largest at the right end.
        """
        rho, half = arb(ellipse), self.shift / 2
        reach, theta = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho)
        if not theta <= arb.pi() / 2:
            return arb.pos_inf(), arb.pos_inf()
        left, right = 2 * (half - reach) - self.shift, 2 * (half + reach) - self.shift
        most = (self.rest + self.gamma * right.exp()).log()
        least = (self.rest + self.gamma * left.exp() * theta.cos()).log()
        edge = self.gamma * right.exp()
        angle = acb(self.rest + edge * theta.cos(), edge * theta.sin()).arg()
        height = (self.a * most).max(self.a * least) + arb(far) * angle * (1 + arb(2) ** -40)
        return abs(most).max(abs(least)) + angle, (reach - half + height).exp() / 2


def _rule(part: LaplaceLoss, a: float, far: float, need: float) -> tuple[float, int]:
    """The ellipse and the fewest nodes for an error of about e^{−need} F(a); float64."""
    shift, gamma = float(part.shift), float(part.gamma)
    log_moment, best = float(part.steer(np.array([a]))[0][0]), (math.inf, 1.5)
    for rho in (float(x) for x in _ELLIPSES):
        reach, theta = shift * (rho + 1 / rho) / 4, shift * (rho - 1 / rho) / 2
        if theta > 1.5:
            break
        left, right = -2 * reach, 2 * reach
        top = cmath.log(1 - gamma + gamma * cmath.exp(complex(right, theta)))
        most = math.log1p(gamma * math.expm1(right))
        least = math.log(1 - gamma + gamma * math.exp(left) * math.cos(theta))
        height = max(a * most, a * least) + far * top.imag + reach - shift / 2 - log_moment
        wanted = need + height + 3 - math.log1p(-(rho**-2))
        best = min(best, (wanted / (2 * math.log(rho)), rho))
    rho = best[1] if best[0] < math.inf else 1 + 1 / (1 + shift)
    count = best[0] if best[0] < math.inf else need * (2 + shift)
    return rho, max(4, math.ceil(count) + 2)


@lru_cache(32)
def legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """Nodes and weights of Gauss's rule on [−1, 1], at a precision; they come in pairs ±u."""
    with ctx.workprec(bits):
        half = [arb.legendre_p_root(count, k, weight=True) for k in range((count + 1) // 2)]
        return half + [(-u, w) for u, w in half[: count // 2]]


class LaplaceFrame:
    """What bounds |F(a+it)| from some t on, in balls."""

    def __init__(self, part: LaplaceLoss, a: float) -> None:
        self.part, self.order = part, a
        with ctx.workprec(_BITS):
            sample = LaplaceSample(part, a, 0.0, _VARIANCE_NEED)
            self.low, self.high = sample.losses[:2]
            self.atoms = sample.weights[0] + sample.weights[1]
            zero = sample.total(sample.weights)
            tilted = [w * loss for w, loss in zip(sample.weights, sample.losses, strict=True)]
            one = sample.total(tilted, sample.largest)
            again = [w * loss for w, loss in zip(tilted, sample.losses, strict=True)]
            two = sample.total(again, sample.largest * sample.largest)
            self.moment = zero
            self.variance = (two / zero - (one / zero) ** 2).max(self._of_atoms(sample))
            self.ends = self._ends(sample)

    def _of_atoms(self, sample: LaplaceSample) -> arb:
        """V >= p₀p₁(L₁−L₀)², of the atoms alone."""
        width = self.high - self.low
        return sample.weights[0] * sample.weights[1] * (width / self.moment) ** 2

    def _ends(self, sample: LaplaceSample) -> arb:
        """2(h(0) + h(s)), h = ½e^{−x}R^a/(log R)′ = e^{s−3x}R^{a+1}/(4γ).

        (log h)′ = −3 + 2(a+1)γe^{2x−s}/R changes its sign at most once, from − to +, so that h
        varies by at most h(0) + h(s) and, once integrated by parts, |∫| <= 2(h(0) + h(s))/t.
        """
        shift, lam = sample.shift, sample.a + 1
        first = (shift + lam * self.low).exp()
        last = (lam * self.high - 2 * shift).exp()
        return (first + last) / (2 * sample.gamma)

    def far(self, start: arb) -> arb:
        """An upper bound of |F(a+it)| for all t >= start.

        On a grid |F| is known, and between its points it changes by at most F(a)√V per unit.
        Unsampled it is at most the atoms' share times 1 + 1/|2z−1|.
        """
        with ctx.workprec(_BITS):
            away = abs(acb(2 * arb(self.order) - 1, 2 * start))
            if self.part.gamma == 1 and away > _SHARE:
                return self.atoms * (1 + 1 / away)
            added = self.moment - self.atoms
            end = float(_SHARE * self.ends / added)
            spread = self.moment * self.variance.sqrt()
            step = float(2 * added / (_SHARE * spread))
            last = math.ceil(max(0.0, end - float(start)) / step) + 1
            if not math.isfinite(end / step) or last * self._terms(end) > _MOST_FAR:
                return self.moment
            tail = self.atoms + self.ends / end
            return tail.max(self._on_grid(start, step, last) + spread * arb(step) / 2)

    def _terms(self, reach: float) -> int:
        """How many are summed for a value up to there."""
        return _rule(self.part, self.order, reach, _GRID_NEED)[1]

    def _on_grid(self, start: arb, step: float, last: int) -> arb:
        """The largest |F(a+it)| at t = start + n·step, 0 <= n <= last."""
        reach = float_above(start + arb(step) * last)
        sample = LaplaceSample(self.part, self.order, reach, _GRID_NEED)
        turns = [acb(0, arb(step) * loss).exp() for loss in sample.losses]
        first = [
            acb(w) * acb(0, start * loss).exp()
            for w, loss in zip(sample.weights, sample.losses, strict=True)
        ]
        largest = arb(0)
        for value in power_sums(first, turns, last + 1):
            largest = largest.max(abs(value))
        return largest + sample.error
