"""A sum S of independent lognormal variables has E(K − S)₊ and E[S^z] in balls."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.analysis.series import SumMoments
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import (
    acb_within,
    ends_of,
    floor,
    geometric_tail,
    normal_tail,
    rounded_down,
    up_to,
    within,
)
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property

# --- the Laplace transform
#
# φ(u) = E e^{−uW} of a lognormal W = e^{sZ − s²/2}, of mean 1, at complex u with Im u >= 0.
#
# On the line Im z = −y the integrand decays where Re(u e^{−isy}) >= 0, and it is at most e^{y²/2}
# times what it is at a real u: so |φ(u)| <= e^{y²/2} φ(Re(u e^{−isy})), and the trapezoidal rule on
# such a line has a strip around it (docs/proofs/allocations.md, Lemma lognormal-transform).

#: An array of float64 or complex128, by which nothing is proved.
Floats = np.ndarray


#: Balls that bound log φ from above have so many bits; of fewer the bounds are wider.
_BOUND_BITS = 128
#: Nats of φ's relative accuracy there, and the most nats of its absolute error: the bound holds
#: whatever they are.
_BOUND_NEED, _BOUND_MOST = 40.0, 4000.0
#: Places of an octave of u at which log φ is bounded: chords between them are close to it. Each
#: chord is an upper bound, wider where there are fewer places.
_PLACES_PER_OCTAVE = 32
#: Nats by which each of three errors is aimed below what is needed; bounds do not rest on it.
_TRANSFORM_SPARE_NATS = 3.0
#: Nodes that share a line, whose points then cost one exponential each. It costs time alone.
_BLOCK_NODES = 16
#: Lines that are looked at for a block, of which the one of the widest spacing is taken. They
#: steer.
_LINES_TRIED = 23
#: The share of the widest strip that is used, so that roundings of its edge leave it inside.
#: Outside there is no bound.
_STRIP_SHARE = 1 - 2.0**-20
#: The table in float64 has the log u from −60 − s² to 90 in steps of 0.1. It steers.
_LOG_LOW, _LOG_HIGH, _LOG_STEP = -60.0, 90.0, 0.1
#: A float below which logarithms are not taken. It steers.
_SMALLEST_FLOAT = 1e-300
#: Where log φ + u is below this share of u, log φ is read from it: little cancels. It steers.
_CANCELLING_SHARE = 0.9
#: Where u e^{s²} is below this, log φ + u is taken for its first term u²(e^{s²} − 1)/2. It serves
#: the table in float64 alone. It steers.
_SMALL_EXCESS = 1e-7
#: The shares of arg u by which a line may turn u towards the real axis. The best one saves time.
_ANGLES = np.array([0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])
#: Radians beyond the least turn by which the integrand falls, over s. The best one saves time.
_ASIDE_ANGLES = np.array([0.0003, 0.003, 0.03, 0.2])
#: The share of |u| that the real part of a turned u has to have, for roundings. Lines that have
#: less are left out, at the cost of time.
_POSITIVE_SHARE = 1e-4
#: Shares of the tilt y = s·Im u that is best for small u. The best one saves time.
_TILTS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.3])


def _octave() -> arb:
    """The distance of two places of log u at which log φ is bounded."""
    return arb(2).log() / _PLACES_PER_OCTAVE


def _power(j: int) -> arb:
    """2^{j/32}."""
    return (j * _octave()).exp()


class Line(NamedTuple):
    """A line is Im z = −y, with half the width w of its strip, and the spacing of its nodes.

    They are chosen in float64; bounds hold for any w > 0 that `_check` lets pass.
    """

    y: float
    w: float
    spacing: float


@dataclass(frozen=True)
class Lognormal:
    """A lognormal variable W of mean 1 has s² = `ratio` > 0."""

    ratio: Exact

    @property
    def square(self) -> arb:
        """s², at flint's current precision."""
        return BALL.number(self.ratio)

    @property
    def root(self) -> arb:
        """s, at flint's current precision."""
        return self.square.sqrt()

    @cached_property
    def s(self) -> float:
        """s in float64; PrecisionError for an s² beyond float64."""
        try:
            return math.sqrt(float(self.ratio))
        except OverflowError as error:
            raise self._beyond_floats() from error

    @cached_property
    def variance(self) -> float:
        """About e^{s²} − 1; PrecisionError where it is beyond float64, from s² of 709 on."""
        try:
            return math.expm1(float(self.ratio))
        except OverflowError as error:
            raise self._beyond_floats() from error

    @staticmethod
    def _beyond_floats() -> PrecisionError:
        """The error, to be raised, of a variance that float64 does not have."""
        return PrecisionError(
            "the transform of a lognormal variable: found a variance beyond float64, needed a "
            "less extreme one"
        )

    # --- float64: where to look

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats]:
        """log u, log(u + log φ(u)) and log φ(u) in float64, at equal steps of log u: it steers."""
        variance = self.variance  # which is refused before much is tabulated
        logs = np.arange(_LOG_LOW - self.s**2, _LOG_HIGH, _LOG_STEP)
        x = np.arange(-40.0, 10.0, min(0.2, 0.3 / self.s))
        log_w = self.s * x - self.s**2 / 2
        rows = []
        for log_u in logs:
            exponents = -np.exp(np.minimum(log_u + log_w, 300.0)) - x**2 / 2
            rows.append(np.logaddexp.reduce(exponents))
        log_phi = np.array(rows) - np.logaddexp.reduce(-(x**2) / 2)
        u = np.exp(logs)
        first = u**2 * variance / 2
        is_small = u * (1 + variance) < _SMALL_EXCESS
        excess = np.where(is_small, first, np.maximum(u + log_phi, 1e-300))
        return logs, np.log(np.maximum(excess, 1e-300)), log_phi

    @property
    def log_places(self) -> Floats:
        """log of the u at which φ is known in float64."""
        return self._table[0]

    @property
    def log_phi(self) -> Floats:
        """log φ at `log_places`, in float64."""
        return self._table[2]

    def about_log_phi(self, u: Floats) -> Floats:
        """log φ(u) in float64 for u > 0, ∞ for others: it steers.

        Read from u + log φ(u) where that is small beside u, else from log φ.
        """
        log_u = np.log(np.maximum(u, _SMALLEST_FLOAT))
        excess = np.exp(np.interp(log_u, *self._table[:2]))
        is_small = excess < _CANCELLING_SHARE * u
        logs = np.where(is_small, excess - u, np.interp(log_u, *self._table[::2]))
        return np.where(u > 0, logs, np.inf)

    def log_negative_moments(self, orders: Floats, count: int) -> Floats:
        """log E[(S/t)^{−λ}] in float64, S the sum of t = `count` variables, λ > 0 the orders.

        By t^λ/Γ(λ) ∫ u^{λ−1} φ(u)^t du, of which orders near 0 have much below the first u of the
        table: there φ^t is taken as it is at that u.
        """
        log_u, _, log_phi = self._table
        rows = orders[:, None] * (log_u + math.log(count)) + count * log_phi
        steps = orders * _LOG_STEP
        below = rows[:, 0] - steps - np.log(-np.expm1(-steps))
        log_sums = np.logaddexp(np.logaddexp.reduce(rows, axis=1), below)
        log_gammas = np.array([math.lgamma(order) for order in orders])
        return np.asarray(log_sums + math.log(_LOG_STEP) - log_gammas)

    def tilts(self, u: Floats) -> Floats:
        """Candidates y for each u, along the first axis; one of them bounds φ(u) well."""
        beta, size = np.angle(u), np.abs(u)
        by_angle = _ANGLES[:, None] * beta / self.s
        floor = np.maximum(beta - math.pi / 2, 0.0) / self.s
        by_tilt = _TILTS[:, None] * size * self.s * np.sin(beta)
        aside = floor + _ASIDE_ANGLES[:, None] / self.s
        every = np.concatenate([np.zeros((1, u.size)), by_angle, by_tilt, floor + by_tilt, aside])
        return np.asarray(np.clip(every, 0.0, math.pi / self.s * _STRIP_SHARE))

    def log_bounds(self, u: Floats, place: float, count: float) -> Floats:
        """About the least bound of log|e^{uK} φ(u)^t| over some y, K = `place` and t = `count`."""
        bounds: Floats = self._log_bounds(u, self.tilts(u), place, count).min(axis=0)
        return bounds

    def tilt_for_all(self, u: Floats, place: float, count: float) -> float:
        """The y that bounds log|e^{uK} φ(u)^t| best where that is the largest over all u."""
        y = self.tilts(u).reshape(-1, 1)
        every = self._log_bounds(u, y, place, count).max(axis=1)
        return float(y[every.argmin(), 0])

    def _log_bounds(self, u: Floats, y: Floats, place: float, count: float) -> Floats:
        """Re(u)K + t(y²/2 + log φ(Re(ue^{−isy}))) in float64; ∞ where that real part is not > 0."""
        rho = (u * np.exp(-1j * self.s * y)).real
        with np.errstate(all="ignore"):
            every = place * u.real + count * (y**2 / 2 + self.about_log_phi(rho))
        return np.where(rho > _POSITIVE_SHARE * np.abs(u), every, np.inf)

    # --- balls: what is proved

    def chord(self, low: arb, high: arb) -> tuple[arb, arb, arb]:
        """A place, a height there and a slope of a line proved above log φ from low > 0 to high.

        log φ is convex, and so below its chords, which end at powers of 2^{1/32}.
        """
        first = floor(low.log() / _octave())
        last = -floor(-high.log() / _octave())
        left, right = self._log_above(first), self._log_above(max(last, first + 1))
        x = _power(first)
        slope = (right - left) / (_power(max(last, first + 1)) - x)
        return x, left, slope if -1 <= slope <= 0 else arb(0)  # log φ falls

    def log_above(self, u: arb) -> arb:
        """An upper bound of log φ(u) for a real u > 0, by the place before it, as log φ falls."""
        return self._log_above(floor(u.log() / _octave()))

    def _log_above(self, j: int) -> arb:
        """An upper bound of log φ at 2^{j/32}, close to it, and remembered."""
        if j not in self._known:
            with ctx.workprec(_BOUND_BITS):
                u = _power(j)
                about = float(u)
                need = _BOUND_NEED - float(self.about_log_phi(np.array([about]))[0])
                (value,) = self._block([acb(u)], min(need, _BOUND_MOST))
                self._known[j] = value.real.upper().log().upper()
        return self._known[j]

    @cached_property
    def _known(self) -> dict[int, arb]:
        """Bounds of log φ at 2^{j/32} by j, as they are computed."""
        return {}

    def values(self, nodes: Sequence[acb], needs: Sequence[float]) -> list[acb]:
        """φ in balls at nodes in the upper half plane, each to an error of about e^{−need}.

        The error is in the ball, whatever it is. PrecisionError where no line has a strip.
        """
        balls: list[acb] = []
        for first in range(0, len(nodes), _BLOCK_NODES):
            deadline.check()
            some = slice(first, first + _BLOCK_NODES)
            balls.extend(self._block(nodes[some], max(needs[some])))
        return balls

    def _block(self, nodes: Sequence[acb], need: float) -> Iterator[acb]:
        """φ at some nodes, summed over the points of one line, to errors of about e^{−need}."""
        need = max(need, 1.0) + _TRANSFORM_SPARE_NATS
        angles = [float(u.arg().mid()) for u in nodes]
        line = self._best_line(min(angles), max(angles), need)
        turn = acb(0, -self.root * arb(line.y)).exp()
        nearest = min((u * turn).real.lower() for u in nodes)
        points, reach = self._points(line, need, arb(0).max(nearest))
        strip = self._strip(line)
        for u in nodes:
            deadline.check()
            self._check(u, line)
            total = acb(0)
            for weight, w in points:
                total += weight * (-u * w).exp()
            yield total + acb_within(strip + self._left_out(line, (u * turn).real, reach))

    def _check(self, u: acb, line: Line) -> None:
        """Raise PrecisionError unless the integrand decays on both edges of the strip.

        So it does between.
        """
        half, angle = arb.pi() / 2, u.arg()
        edges = (line.y - line.w, line.y + line.w)
        if not all(abs(angle - self.root * arb(edge)) <= half for edge in edges):
            raise PrecisionError(
                "the transform of a lognormal variable: found no strip in which it falls, needed "
                "a less extreme variance"
            )

    def _best_line(self, low: float, high: float, need: float) -> Line:
        """The line of the widest spacing, of some, for all arg u from low to high."""
        ends = (high - math.pi / 2) / self.s, (low + math.pi / 2) / self.s
        lines = [
            self._line(max(0.0, ends[0]) + share * (ends[1] - max(0.0, ends[0])), low, high, need)
            for share in np.linspace(0.0, 1.0, _LINES_TRIED, endpoint=False) ** 2
        ]
        return max(lines, key=lambda line: line.spacing)

    def _line(self, y: float, low: float, high: float, need: float) -> Line:
        """The line at y with the strip and the spacing for errors of e^{−need}; 0 if none fits."""
        widest = min(y - (high - math.pi / 2) / self.s, (low + math.pi / 2) / self.s - y)
        w = min(widest * _STRIP_SHARE, math.sqrt(2 * need + y * y))
        if not w > 0:
            return Line(y, 0.0, 0.0)
        spacing = 2 * math.pi * w / ((y + w) ** 2 / 2 + need + 1)
        return Line(y, w, rounded_down(spacing))

    def _points(
        self, line: Line, need: float, nearest: arb
    ) -> tuple[list[tuple[acb, acb]], tuple[int, int]]:
        """Weights and values of W at the points of a line, and the first and the last number k.

        `nearest` is at most Re(ue^{−isy}) of the nodes: where e^{−uW} has fallen, points are cut.
        """
        reach = math.sqrt(2 * (need + line.y**2 / 2 + _TRANSFORM_SPARE_NATS))
        first, last = -math.ceil(reach / line.spacing), math.ceil(reach / line.spacing)
        rho = float(nearest)
        goal = need + line.y**2 / 2 + _TRANSFORM_SPARE_NATS
        if rho > 0:
            # where ρe^{sx−s²/2} is as much as is needed
            far = (math.log(goal / rho) + self.s**2 / 2) / self.s
            last = min(last, max(first + 1, math.ceil(far / line.spacing)))
        h, y, s, half = arb(line.spacing), arb(line.y), self.root, self.square / 2
        scale = h / (2 * arb.pi()).sqrt()
        points = []
        for k in range(first, last + 1):
            deadline.check()
            z = acb(h * k, -y)
            points.append((scale * (-z * z / 2).exp(), (s * z - half).exp()))
        return points, (first, last)

    def _strip(self, line: Line) -> arb:
        """An upper bound of the error of the sum over all points of a line, by its strip."""
        y, w = arb(line.y), arb(line.w)
        grown = ((y + w) ** 2 / 2).exp() + ((y - w) ** 2 / 2).exp()
        return grown / (2 * arb.pi() * w / arb(line.spacing)).expm1()

    def _left_out(self, line: Line, rho: arb, reach: tuple[int, int]) -> arb:
        """An upper bound of the points beyond both ends: e^{−ρW} falls to the right."""
        h, y = arb(line.spacing), arb(line.y)
        left, right = -h * reach[0], h * reach[1]
        fallen = (-rho.max(arb(0)) * (self.root * right - self.square / 2).exp()).exp()
        return (y * y / 2).exp() * (normal_tail(left) + fallen * self._right(right))

    def _right(self, x: arb) -> arb:
        """An upper bound of h Σ of the normal density at points beyond x; 2 for x < 0."""
        return normal_tail(x) if x >= 0 else arb(2)


# --- hyperbolas
#
# Where E(K − S)₊ is summed: hyperbolas u = μ(1 − sin(α − iθ)), chosen in float64.
#
# Between the angles `left` and `right` lies the strip around the one that is summed.

#: Multiples of the saddle that a hyperbola's μ may be. The one of the fewest nodes is taken: it
#: saves time.
_SADDLE_SCALES = [0.6, 1.0, 1.6, 2.5]
#: Angles in radians of the left edge of a strip, from 0 on, and of the right one, below 0, rising.
#: Of these pairs are tried, each with its proved error; the best one saves time.
_LEFT = np.array([0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.2])
_RIGHT = np.array([-0.7, -0.5, -0.35, -0.2, -0.1])
#: The θ at which the integrand is looked at in float64 go up to the first by the second.
_LAST_THETA, _THETA_STEP = 30.0, 0.15
#: Nats below the error of all to which a plan aims each of its parts. What the parts come to is
#: proved apart.
_PLAN_SPARE_NATS = 6.0
#: Nodes of a contour; more are refused by PrecisionError. They take some seconds.
_MOST_CONTOUR_NODES = 20_000


class Hyperbola(NamedTuple):
    """A hyperbola has 2N+1 nodes of spacing h on `angle`, to errors of about e^{log_error}.

    Beyond the last one the path goes on at the angle `tail`.
    """

    scale: float
    angle: float
    left: float
    right: float
    tail: float
    step: float
    last: int
    log_error: float
    log_largest: float

    @property
    def end(self) -> float:
        """θ where the strip ends, half a step beyond the last node."""
        return self.step * (self.last + 0.5)


def saddle(law: Lognormal, place: float, count: int) -> tuple[float, float]:
    """The u > 0 at which e^{uK}φ(u)^t/u² is least, and its logarithm there, in float64."""
    u = np.exp(law.log_places)
    values = place * u + count * law.about_log_phi(u) - 2 * law.log_places
    best = int(values.argmin())
    return float(u[best]), float(values[best])


def hyperbola(law: Lognormal, place: float, count: int, log_error: float) -> Hyperbola:
    """The hyperbola of the fewest nodes for errors of about e^{log_error}, in float64.

    PrecisionError where none is found.
    """
    centre, _ = saddle(law, place, count)
    theta = np.arange(0.0, _LAST_THETA, _THETA_STEP)
    choices = []
    for scale in _SADDLE_SCALES:
        choices.extend(_choices(law, place, count, log_error, rounded_down(scale * centre), theta))
    best = min(choices, key=lambda x: x.last, default=None)
    if best is None or best.last > _MOST_CONTOUR_NODES:
        raise PrecisionError(
            f"a sum of {count} lognormal variables: found no contour, needed a point nearer to "
            "its mean, or fewer digits"
        )
    return best


def _choices(
    law: Lognormal, place: float, count: int, log_error: float, scale: float, theta: Floats
) -> list[Hyperbola]:
    """Hyperbolas of one scale μ, for pairs of angles that bound their strip, in float64."""
    angles = np.concatenate([_RIGHT, _LEFT])
    rows = np.array([_log_sizes(law, place, count, scale, angle, theta) for angle in angles])
    beyond = np.maximum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    goal, zero, choices = log_error - _PLAN_SPARE_NATS, len(_RIGHT), []
    for right in range(len(angles) - 1):
        deadline.check()
        for left in range(max(right + 1, zero), len(angles)):
            tails = [left, max(right, zero)]
            most = np.maximum(rows[right : left + 1].max(axis=0), beyond[tails].min(axis=0))
            ends = np.nonzero(most < goal)[0]
            if not len(ends):
                continue
            end = int(ends[0])
            tail = min(tails, key=lambda i: beyond[i, end])
            sides = [
                float(np.logaddexp.reduce(rows[i][: end + 1])) + math.log(_THETA_STEP)
                for i in (right, left)
            ]
            needs = [max(side - goal, 1.0) for side in sides]
            width = float(angles[left] - angles[right])
            step = rounded_down(2 * math.pi * width / sum(needs))
            angle = float(angles[right]) + width * needs[0] / sum(needs)
            last = math.ceil(theta[end] / step)
            middle = rows[right : left + 1, : end + 1].min(axis=0).max()
            choices.append(
                Hyperbola(
                    scale,
                    rounded_down(angle),
                    rounded_down(float(angles[left])),
                    rounded_down(float(angles[right])),
                    rounded_down(float(angles[tail])),
                    step,
                    last,
                    log_error,
                    max(float(middle), float(rows[right, 0])),
                )
            )
    return choices


def places(scale: float, angle: float, theta: Floats) -> tuple[Floats, Floats]:
    """u = μ(1 − sin(angle − iθ)) and log|du/dθ| − 2 log|u| at each θ, μ = `scale`."""
    turned = angle - 1j * theta
    u = scale * (1 - np.sin(turned))
    return u, np.log(scale * np.abs(np.cos(turned))) - 2 * np.log(np.abs(u))


def _log_sizes(
    law: Lognormal, place: float, count: int, scale: float, angle: float, theta: Floats
) -> Floats:
    """About log|e^{uK} φ(u)^t u^{−2} du/dθ| at each θ, ∞ where no bound is known."""
    with np.errstate(all="ignore"):
        u, log_weight = places(scale, angle, theta)
        sizes = law.log_bounds(u, place, count) + log_weight
    return np.where(np.isfinite(sizes) | (sizes == -np.inf), sizes, np.inf)


# --- moments
#
# E[S^z] of a sum S of t independent lognormal variables of mean 1, at every real z, in balls.
#
# W under the weight W^k is e^{ks²}W: E[W^k e^{−uW}] is m_k φ(ue^{ks²}), m_k = e^{s²k(k−1)/2}
# (docs/proofs/allocations.md, Lemma lognormal-moments).

#: The widest angle of a strip in radians that no y turns away, below π/2. Wider ones have no bound.
_WIDEST_ANGLE = 1.5
#: The shares of it, and of the largest y, that are tried, up to 1. The best one saves time.
_STRIP_SHARES = np.linspace(0.02, 1.0, 50)
#: Points of the sum; more are refused by PrecisionError. They take some seconds.
_MOST_NODES = 20_000
#: Nats to which φ may be needed at a point; more are refused by PrecisionError.
_MOST_NEED_NATS = 5000.0


class LogGrid(NamedTuple):
    """A grid of log u has s² in so many `parts`, and a `step` of so many of these."""

    parts: int
    step: int


@dataclass(frozen=True, eq=False)
class LognormalMoments(SumMoments):
    """Moments of a sum of `count` variables are computed to so many bits; values of φ are kept.

    They are kept for all orders, by the grid and the place.
    """

    called = "lognormal variables"
    law: Lognormal
    count: int
    bits: int
    _known: dict[tuple[int, int], arb] = field(default_factory=dict)

    def variable_moments(self, n: int) -> list[arb]:
        """E[W^k] = e^{s²k(k−1)/2} for k <= n, in balls."""
        half = self.law.square / 2
        return [(half * (k * (k - 1))).exp() for k in range(n + 1)]

    def _integral(self, n: int, theta: arb) -> arb:
        """Enclose ∫ e^{θx} E[Sⁿ e^{−e^x S}] dx by a trapezoidal sum of positive terms."""
        about = float(theta)
        turned, tilt = self._strip(about)
        grid = self._grid(self._spacing(turned, tilt, about))
        first, last = self._ends(about, grid)
        h = grid.step * self._unit(grid)

        def term(j: int) -> arb:
            return (theta * h * j).exp() * self._weighted(n, grid, grid.step * j)

        total = sum((term(j) for j in range(first, last + 1)), arb(0))
        whole = self._powers(n, self.variable_moments(n))[0]  # E[Sⁿ], which E[Sⁿe^{−uS}] is at most
        while True:
            deadline.check()
            left, right = (
                self._beyond(theta, grid, x, sign) for x, sign in ((first, -1), (last, 1))
            )
            if n:
                left = geometric_tail((theta * h * (first - 1)).exp(), (-theta * h).exp())
            rest, left, right = arb(2) ** -self.bits * total, whole * left, whole * right
            if (left < rest and right < rest) or last - first > _MOST_NODES:
                break
            if not left < rest:
                total += term(first := first - 1)
            if not right < rest:
                total += term(last := last + 1)
        value = h * (total + up_to(left) + up_to(right))
        y, angle = arb(tilt), arb(turned) - self.law.root * arb(tilt)
        grown = (self.count * y * y / 2).exp() / angle.cos() ** theta
        off = 2 * grown / (2 * arb.pi() * arb(turned) / h).expm1()
        return value / (1 + within(off))

    # --- the grid on which log u lies

    def _grid(self, spacing: float) -> LogGrid:
        """The widest grid within the spacing, s² in 2^k parts, so that orders share values."""
        square = self.law.s**2
        parts = 2 ** max(0, math.ceil(math.log2(square / spacing)))
        return LogGrid(parts, max(1, math.floor(spacing * parts / square)))

    def _unit(self, grid: LogGrid) -> arb:
        """One part of s², the unit in which places of log u are counted."""
        return self.law.square / grid.parts

    def _strip(self, theta: float) -> tuple[float, float]:
        """Half the height of the strip of the widest spacing in radians, and the y on its edges.

        OverflowError for an s² that is no normal number of float64.
        """
        s = float(self.law.s)
        if s * s < sys.float_info.min:
            raise OverflowError(f"s = {s}: its square is not a normal number of float64")
        tilts = np.concatenate([[0.0], _STRIP_SHARES * math.pi / s])
        sides = _STRIP_SHARES * _WIDEST_ANGLE
        spacings = [
            (self._spacing(s * y + a, y, theta), s * y + a, y) for y in tilts for a in sides
        ]
        _, turned, tilt = max(spacings)
        return turned, tilt

    def _spacing(self, turned: float, tilt: float, theta: float) -> float:
        """The spacing at which the sum is off by about what is wanted, in float64."""
        grown = self.count * tilt**2 / 2 - theta * math.log(math.cos(turned - self.law.s * tilt))
        return 2 * math.pi * turned / (self._need + grown)

    def _ends(self, theta: float, grid: LogGrid) -> tuple[int, int]:
        """The first and the last place that counts, in float64; PrecisionError for too many."""
        h = grid.step * self.law.s**2 / grid.parts
        log_u = self.law.log_places
        logs = theta * log_u + self.count * self.law.log_phi  # E[Sⁿe^{−uS}] is at most E[Sⁿ] times
        inside = np.nonzero(logs > logs.max() - self._need)[0]
        first, last = math.floor(log_u[inside[0]] / h), math.ceil(log_u[inside[-1]] / h)
        if last - first > _MOST_NODES:
            raise PrecisionError(
                f"a moment of {self.count} lognormal variables: found {last - first} points to "
                f"sum over, needed {_MOST_NODES} at most"
            )
        return first, last

    # --- values

    def _weighted(self, n: int, grid: LogGrid, place: int) -> arb:
        """E[Sⁿ e^{−uS}] where log u is `place` units."""
        phi = (self._phi(grid, place + k * grid.parts) for k in range(n + 1))
        terms = [m * value for m, value in zip(self.variable_moments(n), phi, strict=True)]
        return self._powers(n, terms)[0]

    def _log_phi(self, u: float) -> float:
        """log φ(u) in float64."""
        return float(self.law.about_log_phi(np.array([u]))[0])

    def _phi(self, grid: LogGrid, index: int) -> arb:
        """φ where log u is `index` units, in a ball that is remembered.

        PrecisionError where it is needed to too many nats.
        """
        if (grid.parts, index) not in self._known:
            u = (self._unit(grid) * index).exp()
            need = self._need + math.log(self.count) - self._log_phi(float(u))
            if need > _MOST_NEED_NATS:
                raise PrecisionError(
                    f"a moment of {self.count} lognormal variables: found that its transform is "
                    f"needed to {need:.0f} nats, needed at most {_MOST_NEED_NATS:.0f}",
                    remedy="ask for a lower order",
                )
            (value,) = self.law.values([acb(u)], [need])
            self._known[grid.parts, index] = value.real
        return self._known[grid.parts, index]

    def _beyond(self, theta: arb, grid: LogGrid, end: int, sign: int) -> arb:
        """An upper bound of Σ e^{θx} φ(e^x)^t beyond a place to the left (−1) or the right (1).

        θx + t log φ(e^x) is concave, so that what follows two places is at most geometric.
        """
        before, here = (self._phi(grid, grid.step * j) for j in (end - sign, end))
        if not (before > 0 and here > 0):
            return arb("inf")
        h = grid.step * self._unit(grid)
        ratio = (sign * theta * h).exp() * (here / before) ** self.count
        return geometric_tail((theta * h * end).exp() * here**self.count * ratio, ratio)


# --- the shortfall
#
# E(K − S)₊ of a sum S of t independent lognormal variables of mean 1, in balls.
#
# It is (1/2πi)∫ e^{uK} φ(u)^t u^{−2} du on a line Re u = c > 0, which is bent into a hyperbola and
# summed by the trapezoidal rule (docs/proofs/allocations.md, Lemma lognormal-shortfall).

#: Balls that bound the error of a shortfall have so many bits; of fewer the bound is wider.
_SHORTFALL_BITS = 96
#: The θ of a piece of an edge before it is halved. Shorter ones take longer, and bound the error
#: more sharply.
_PIECE_LENGTH = 0.1
#: Pieces of a side of the strip, before they are halved. More take longer, and bound the error more
#: sharply.
_SIDE_PIECES = 4
#: Nats that a piece's bound may be above its middle's, else it is halved. A smaller slack takes
#: longer, and bounds the error more sharply. φ at a node has as many to spare, which steers.
_SLACK_NATS = 2.0
#: Halvings of a piece, after which its bound is taken as it is. More take longer, and bound the
#: error more sharply.
_MOST_HALVINGS = 8
#: The sum has so many bits beyond what its cancellation loses; of fewer its ball is wider.
_GUARD_BITS = 40
#: The θ of a piece beyond the strip. Shorter ones take longer, and bound the rest more sharply.
_FARTHER_STEP = 0.5
#: The θ at which PrecisionError is raised, if the rest is not bounded before.
_LAST_SHORTFALL_THETA = 60.0
#: The multiple of the least y whose bound falls along an edge that is taken beyond it. At 1
#: roundings may leave no bound.
_TILT_FACTOR = 1.001
#: Nats below the error of all, from which on a piece is not halved. More take longer, and bound the
#: error more sharply.
_SHORTFALL_SPARE_NATS = 10.0


class Piece(NamedTuple):
    """A piece of an edge has |e^{uK}φ(u)^t u^{−2} du| <= e^{log_bound + (K − K₀) Re u}.

    `real` is Re u, and `share` the error per unit of that bound.
    """

    log_bound: arb
    real: arb
    share: arb  # of the error, per unit of the bound


@dataclass(frozen=True, eq=False)
class Shortfall:
    """A shortfall sums over one hyperbola, laid for a place K₀; places near it do as well."""

    law: Lognormal
    count: int
    place: float
    plan: Hyperbola

    @cached_property
    def bits(self) -> int:
        """Bits in which the sum is worked out; a wrong choice widens the ball."""
        lost = self.plan.log_largest - self.plan.log_error + math.log(self.count)
        grown = self._steepest
        return math.ceil((max(lost, 0.0) + grown) / math.log(2)) + _GUARD_BITS

    @property
    def _steepest(self) -> float:
        """Nats by which roundings of the exponent grow: log(1 + Kμ) + 2 log(1 + t)."""
        return math.log1p(self.place * self.plan.scale) + 2 * math.log1p(self.count)

    def value(self, place: arb) -> arb:
        """E(K − S)₊ in a ball, at flint's current precision at most; sharp for K next to K₀."""
        with ctx.workprec(self.bits):
            first, *others = (term * (u * place).exp() for u, term in self._terms)
            total = first.real / 2 + sum((x.real for x in others), arb(0))
            value = total * arb(self.plan.step) / arb.pi()
        with ctx.workprec(_SHORTFALL_BITS):
            off = self._off(place)
        return value + within(off)

    @cached_property
    def _terms(self) -> list[tuple[acb, acb]]:
        """u and φ(u)^t u^{−2} du/(i dθ) at the nodes of the upper half, of which the first is real.

        K does not enter. They are remembered at the precision of who asks first, which is `bits`.
        """
        nodes = [self._place(arb(self.plan.angle), arb(self.plan.step) * n) for n in self._numbers]
        values = self.law.values([u for u, _ in nodes], self._needs)
        return [
            (u, value**self.count * slope / (u * u))
            for (u, slope), value in zip(nodes, values, strict=True)
        ]

    @property
    def _numbers(self) -> range:
        """The numbers of the nodes of the upper half; the lower half is its conjugate."""
        return range(self.plan.last + 1)

    def _place(self, angle: arb, theta: arb) -> tuple[acb, acb]:
        """u = μ(1 − sin(angle − iθ)) and du/(i dθ)."""
        turned = acb(angle, -theta)
        scale = arb(self.plan.scale)
        return scale * (1 - turned.sin()), scale * turned.cos()

    @cached_property
    def _needs(self) -> list[float]:
        """The nats to which φ is needed at each node, in float64: they steer."""
        plan, t = self.plan, self.count
        u, log_weights = places(plan.scale, plan.angle, plan.step * np.arange(plan.last + 1))
        bounds = self.law.log_bounds(u, self.place, t)
        log_phi = (bounds - self.place * u.real) / t
        off = plan.log_error - math.log(plan.step * (plan.last + 1) * t)
        needs = log_weights + bounds - log_phi - off
        floors = _SLACK_NATS + math.log(t) - log_phi  # for the power not to grow what φ is off by
        return [max(pair) for pair in zip(needs, floors, strict=True)]

    # --- what the sum is off by

    def _off(self, place: arb) -> arb:
        """An upper bound of the sum's error: the strip's edges and ends, and what is beyond."""
        moved = place - arb(self.place)
        total = arb(0)
        for piece in self._pieces:
            total += piece.share * (piece.log_bound + piece.real * moved).exp()
        return total / arb.pi()

    @cached_property
    def _pieces(self) -> list[Piece]:
        """Both edges, the sides and the way beyond them, in pieces with their bounds.

        PrecisionError where one has no bound.
        """
        plan = self.plan
        end, h = arb(plan.end), arb(plan.step)
        pieces: list[Piece] = []
        for edge in (plan.left, plan.right):
            apart = abs(arb(edge) - arb(plan.angle))
            share = 1 / (2 * arb.pi() * apart / h).expm1()
            count = math.ceil(plan.end / _PIECE_LENGTH)
            for i in range(count):
                low, high = end * i / count, end * (i + 1) / count
                pieces += self._along(arb(edge), arb(edge), low, high, share * (high - low))
        width = arb(plan.left) - arb(plan.right)
        for i in range(_SIDE_PIECES):
            low = arb(plan.right) + width * i / _SIDE_PIECES
            high = arb(plan.right) + width * (i + 1) / _SIDE_PIECES
            pieces += self._along(low, high, end, end, 2 * (high - low))
        return [*pieces, *self._farther()]

    def _along(
        self, low: arb, high: arb, first: arb, last: arb, share: arb, halvings: int = 0
    ) -> Iterator[Piece]:
        """Pieces over angles low to high and θ first to last, halved where much above the middle.

        `share` is divided between halves. PrecisionError where a piece has no bound.
        """
        piece = self._piece(low.union(high), first.union(last), share)
        middle = self._piece((low + high) / 2, (first + last) / 2, share)
        tolerable = (middle.log_bound + _SLACK_NATS).max(
            self.plan.log_error - share.log() - _SHORTFALL_SPARE_NATS
        )
        if halvings == _MOST_HALVINGS or piece.log_bound < tolerable:
            if not piece.log_bound.is_finite():
                raise self._unknown()
            yield piece
            return
        centre, between = (low + high) / 2, (first + last) / 2
        yield from self._along(low, centre, first, between, share / 2, halvings + 1)
        yield from self._along(centre, high, between, last, share / 2, halvings + 1)

    def _piece(self, angle: arb, theta: arb, share: arb) -> Piece:
        """The bound over the balls of an angle and of θ."""
        deadline.check()
        u, slope = self._place(angle, theta)
        weight = abs(slope).upper() / abs(u).lower() ** 2
        return Piece(self._log_most(u) + weight.log(), u.real, share)

    def _tilt(self, u: acb) -> float:
        """The y that bounds φ well at the corners of the ball u, in float64: it steers."""
        x, y = u.real, u.imag
        corners = [complex(float(a), float(b)) for a in ends_of(x) for b in ends_of(y)]
        return self.law.tilt_for_all(np.array(corners), self.place, self.count)

    def _log_most(self, u: acb) -> arb:
        """An upper bound of log|e^{uK₀}φ(u)^t| over the ball u; ∞ where none is proved."""
        s = self.law.root
        y = arb(self._tilt(u))
        turn = acb(0, -s * y).exp()
        rho = (u * turn).real
        if not rho > 0:
            return arb("inf")
        start, height, slope = self.law.chord(rho.lower(), rho.upper())
        bent = (u * (arb(self.place) + self.count * slope * turn)).real
        return (bent + self.count * (height - slope * start + y * y / 2)).upper()

    def _farther(self) -> Iterator[Piece]:
        """Pieces from the strip's end on, and the rest where all three factors fall.

        PrecisionError where the rest is not small up to `_LAST_SHORTFALL_THETA`.
        """
        edge, low = arb(self.plan.tail), arb(self.plan.end)
        while True:
            deadline.check()
            beyond = self._beyond(low)
            if beyond.log_bound + beyond.share.log() < self.plan.log_error - _SHORTFALL_SPARE_NATS:
                yield beyond
                return
            if low > _LAST_SHORTFALL_THETA:
                raise self._unknown()
            high = low + _FARTHER_STEP
            yield from self._along(edge, edge, low, high, high - low)
            low = high

    def _beyond(self, end: arb) -> Piece:
        """The bound of all beyond θ at the last angle, where e^{uK} falls, with one y for φ.

        ∞ where one of the factors is not proved to fall.
        """
        angle, s = arb(self.plan.tail), self.law.root
        u, _ = self._place(angle, end)
        share = 1 / (arb(self.plan.scale) * angle.cos() ** 2 * end.sinh())
        y = arb(max(self._tilt(u), _TILT_FACTOR * self.plan.tail / self.law.s))
        rho = (u * acb(0, -s * y).exp()).real.lower()
        if not (rho > 0 and s * y >= angle and s * y <= arb.pi()):
            return Piece(arb("inf"), u.real, share)
        most = arb(self.place) * u.real + self.count * (y * y / 2 + self.law.log_above(rho))
        return Piece(most.upper(), u.real, share)

    def _unknown(self) -> PrecisionError:
        """The error, to be raised, of a transform without a bound."""
        return PrecisionError(
            f"a sum of {self.count} lognormal variables: found no bound of its transform, "
            "needed fewer digits, or a point nearer to its mean"
        )
