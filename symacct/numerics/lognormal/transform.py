"""φ(u) = E e^{−uW} of a lognormal W = e^{sZ − s²/2}, of mean 1, at complex u with Im u >= 0.

On the line Im z = −y the integrand decays where Re(u e^{−isy}) >= 0, and it is at most e^{y²/2}
times what it is at a real u: so |φ(u)| <= e^{y²/2} φ(Re(u e^{−isy})), and the trapezoidal rule on
such a line has a strip around it (docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import acb, arb, ctx

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import floor
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.core.exact import Exact
from symacct.core.forking import cached_property
from symacct.numerics.sums.refine import acb_within, normal_tail, rounded_down

Floats = np.ndarray


_BOUND_BITS, _BOUND_NEED, _BOUND_MOST = 128, 40.0, 4000.0  # nats of what bounds read
_PLACES = 32  # of an octave at which log φ is known
_SPARE = 3.0  # nats of each of three errors below what is needed
_BLOCK = 16  # nodes that share a line
_LINES = 24  # that are looked at for a block
_INSIDE = 1 - 2.0**-20  # of the widest strip
_LOG_LOW, _LOG_HIGH, _LOG_STEP = -60.0, 90.0, 0.1  # of the table in float64
_LEAST_FLOAT, _CANCELS = 1e-300, 0.9
_SMALL = 1e-7  # where log φ + u is its first term
_ANGLES = np.array([0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0])  # of arg u
_ASIDE = np.array([0.0003, 0.003, 0.03, 0.2])  # beyond the least on which it falls
_MARGIN = 1e-4  # of |u|: for roundings
_TILTS = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.3])  # of what is best for small u


def _octave() -> arb:
    return arb(2).log() / _PLACES


def _power(j: int) -> arb:
    """2^{j/32}."""
    return (j * _octave()).exp()


class Line(NamedTuple):
    """Im z = −y, half the width of the strip around it, and the spacing of nodes on it."""

    y: float
    w: float
    spacing: float


@dataclass(frozen=True)
class Lognormal:
    """`ratio` is s² > 0."""

    ratio: Exact

    @property
    def square(self) -> arb:
        """s², at flint's current precision."""
        return BALL.number(self.ratio)

    @cached_property
    def s(self) -> float:
        """About s."""
        return math.sqrt(float(self.ratio))

    @cached_property
    def variance(self) -> float:
        """About e^{s²} − 1."""
        return math.expm1(float(self.ratio))

    # --- float64: where to look

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats]:
        """log u, log(u + log φ(u)) there, and log φ(u)."""
        logs = np.arange(_LOG_LOW - self.s**2, _LOG_HIGH, _LOG_STEP)
        x = np.arange(-40.0, 10.0, min(0.2, 0.3 / self.s))
        log_w = self.s * x - self.s**2 / 2
        rows = []
        for log_u in logs:
            exponents = -np.exp(np.minimum(log_u + log_w, 300.0)) - x**2 / 2
            rows.append(np.logaddexp.reduce(exponents))
        log_phi = np.array(rows) - np.logaddexp.reduce(-(x**2) / 2)
        u = np.exp(logs)
        first = u**2 * self.variance / 2
        excess = np.where(u * math.exp(self.s**2) < _SMALL, first, np.maximum(u + log_phi, 1e-300))
        return logs, np.log(np.maximum(excess, 1e-300)), log_phi

    @property
    def log_places(self) -> Floats:
        """log of the u at which φ is known in float64."""
        return self._table[0]

    @property
    def log_phi(self) -> Floats:
        """About log φ at these."""
        return self._table[2]

    def about_log_phi(self, u: Floats) -> Floats:
        """About log φ(u), u > 0, next to −u where that is most of it; ∞ elsewhere."""
        log_u = np.log(np.maximum(u, _LEAST_FLOAT))
        excess = np.exp(np.interp(log_u, *self._table[:2]))
        found = np.where(excess < _CANCELS * u, excess - u, np.interp(log_u, *self._table[::2]))
        return np.where(u > 0, found, np.inf)

    def log_negative_moments(self, orders: Floats, count: int) -> Floats:
        """About log E[(S/t)^{−λ}], λ > 0, by ∫ u^{λ−1} φ(u)^t du."""
        log_u, _, log_phi = self._table
        rows = orders[:, None] * (log_u + math.log(count)) + count * log_phi
        log_gammas = np.array([math.lgamma(order) for order in orders])
        return np.asarray(np.logaddexp.reduce(rows, axis=1) + math.log(_LOG_STEP) - log_gammas)

    def tilts(self, u: Floats) -> Floats:
        """Some y for each u, the first axis, of which one bounds φ well."""
        beta, size = np.angle(u), np.abs(u)
        by_angle = _ANGLES[:, None] * beta / self.s
        least = np.maximum(beta - math.pi / 2, 0.0) / self.s
        by_tilt = _TILTS[:, None] * size * self.s * np.sin(beta)
        aside = least + _ASIDE[:, None] / self.s
        found = np.concatenate([np.zeros((1, u.size)), by_angle, by_tilt, least + by_tilt, aside])
        return np.asarray(np.clip(found, 0.0, math.pi / self.s * _INSIDE))

    def log_bounds(self, u: Floats, place: float, count: float) -> tuple[Floats, Floats]:
        """About the least bound of log|e^{uK} φ(u)^t|, and the y of it."""
        y = self.tilts(u)
        every = self._log_bounds(u, y, place, count)
        best = every.argmin(axis=0), np.arange(u.size)
        return every[best], y[best]

    def tilt_for_all(self, u: Floats, place: float, count: float) -> float:
        """About the y that bounds the largest best."""
        y = self.tilts(u).reshape(-1, 1)
        every = self._log_bounds(u, y, place, count).max(axis=1)
        return float(y[every.argmin(), 0])

    def _log_bounds(self, u: Floats, y: Floats, place: float, count: float) -> Floats:
        rho = (u * np.exp(-1j * self.s * y)).real
        with np.errstate(all="ignore"):
            every = place * u.real + count * (y**2 / 2 + self.about_log_phi(rho))
        return np.where(rho > _MARGIN * np.abs(u), every, np.inf)

    # --- balls: what is proved

    def chord(self, low: arb, high: arb) -> tuple[arb, arb, arb]:
        """A place, a height there and a slope of a line above log φ between two real numbers > 0.

        log φ is convex, and so below its chords, which end at powers of 2^{1/32}.
        """
        first = floor(low.log() / _octave())
        last = -floor(-high.log() / _octave())
        left, right = self._log_above(first), self._log_above(max(last, first + 1))
        x = _power(first)
        slope = (right - left) / (_power(max(last, first + 1)) - x)
        return x, left, slope if -1 <= slope <= 0 else arb(0)  # log φ falls

    def log_above(self, u: arb) -> arb:
        """At least log φ(u), of a real u > 0: it falls."""
        return self._log_above(floor(u.log() / _octave()))

    def _log_above(self, j: int) -> arb:
        """At least log φ, and little more, at 2^{j/32}."""
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
        return {}

    def values(self, nodes: Sequence[acb], needs: Sequence[float]) -> list[acb]:
        """φ at nodes in the upper half plane, each to an absolute error of about e^{−need}."""
        found: list[acb] = []
        for first in range(0, len(nodes), _BLOCK):
            deadline.check()
            found.extend(
                self._block(nodes[first : first + _BLOCK], max(needs[first : first + _BLOCK]))
            )
        return found

    def _block(self, nodes: Sequence[acb], need: float) -> Iterator[acb]:
        need = max(need, 1.0) + _SPARE
        angles = [float(u.arg().mid()) for u in nodes]
        line = self._best_line(min(angles), max(angles), need)
        turn = acb(0, -self._s * arb(line.y)).exp()
        least = min((u * turn).real.lower() for u in nodes)
        points, reach = self._points(line, need, arb(0).max(least))
        strip = self._strip(line)
        for u in nodes:
            deadline.check()
            self._check(u, line)
            total = acb(0)
            for weight, w in points:
                total += weight * (-u * w).exp()
            yield total + acb_within(strip + self._left_out(line, (u * turn).real, reach))

    @property
    def _s(self) -> arb:
        return self.square.sqrt()

    def _check(self, u: acb, line: Line) -> None:
        """The integrand decays on both edges of the strip, and so between."""
        half, angle = arb.pi() / 2, u.arg()
        edges = (line.y - line.w, line.y + line.w)
        if not all(abs(angle - self._s * arb(edge)) <= half for edge in edges):
            raise PrecisionError(
                "the transform of a lognormal variable: found no strip in which it falls, needed "
                "a less extreme variance"
            )

    def _best_line(self, low: float, high: float, need: float) -> Line:
        """Of the widest spacing, for all angles between two."""
        ends = (high - math.pi / 2) / self.s, (low + math.pi / 2) / self.s
        lines = [
            self._line(max(0.0, ends[0]) + share * (ends[1] - max(0.0, ends[0])), low, high, need)
            for share in np.linspace(0.0, 1.0, _LINES)[:-1] ** 2
        ]
        return max(lines, key=lambda line: line.spacing)

    def _line(self, y: float, low: float, high: float, need: float) -> Line:
        widest = min(y - (high - math.pi / 2) / self.s, (low + math.pi / 2) / self.s - y)
        w = min(widest * _INSIDE, math.sqrt(2 * need + y * y))
        if not w > 0:
            return Line(y, 0.0, 0.0)
        spacing = 2 * math.pi * w / ((y + w) ** 2 / 2 + need + 1)
        return Line(y, w, rounded_down(spacing))

    def _points(
        self, line: Line, need: float, least: arb
    ) -> tuple[list[tuple[acb, acb]], tuple[int, int]]:
        """Weights and values of W on the line, and the first and the last of their numbers."""
        reach = math.sqrt(2 * (need + line.y**2 / 2 + _SPARE))
        first, last = -math.ceil(reach / line.spacing), math.ceil(reach / line.spacing)
        rho = float(least)
        goal = need + line.y**2 / 2 + _SPARE
        if rho > 0:
            # where ρe^{sx−s²/2} is as much as is needed
            far = (math.log(goal / rho) + self.s**2 / 2) / self.s
            last = min(last, max(first + 1, math.ceil(far / line.spacing)))
        h, y, s, half = arb(line.spacing), arb(line.y), self._s, self.square / 2
        scale = h / (2 * arb.pi()).sqrt()
        found = []
        for k in range(first, last + 1):
            deadline.check()
            z = acb(h * k, -y)
            found.append((scale * (-z * z / 2).exp(), (s * z - half).exp()))
        return found, (first, last)

    def _strip(self, line: Line) -> arb:
        """The error of the sum over all nodes of a line."""
        y, w = arb(line.y), arb(line.w)
        grown = ((y + w) ** 2 / 2).exp() + ((y - w) ** 2 / 2).exp()
        return grown / (2 * arb.pi() * w / arb(line.spacing)).expm1()

    def _left_out(self, line: Line, rho: arb, reach: tuple[int, int]) -> arb:
        """What the nodes beyond both ends are worth: e^{−ρW} falls to the right."""
        h, y = arb(line.spacing), arb(line.y)
        left, right = -h * reach[0], h * reach[1]
        fallen = (-rho.max(arb(0)) * (self._s * right - self.square / 2).exp()).exp()
        return (y * y / 2).exp() * (normal_tail(left) + fallen * self._right(right))

    def _right(self, x: arb) -> arb:
        """Σ h φ(kh) beyond a node x, be it left of 0: at most 1 and a node at 0."""
        return normal_tail(x) if x >= 0 else arb(2)
