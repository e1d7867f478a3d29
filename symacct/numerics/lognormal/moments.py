"""E[S^z] of a sum S of t independent lognormal variables of mean 1, at every real z, in balls.

W under the weight W^k is e^{ks²}W: E[W^k e^{−uW}] is m_k φ(ue^{ks²}), m_k = e^{s²k(k−1)/2}
(docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.lognormal.transform import Lognormal
from symacct.numerics.sums.refine import geometric_tail, up_to, within
from symacct.numerics.sums.sum_moments import SumMoments

_WIDEST = 1.5  # the angle that no y turns away, below π/2
_SHARES = np.linspace(0.02, 1.0, 50)
_MOST_NODES, _MOST_NEED = 20_000, 5000.0


class LogGrid(NamedTuple):
    """s² in so many parts, and how many of them lie between two places of log u."""

    parts: int
    step: int


@dataclass(frozen=True, eq=False)
class LognormalMoments(SumMoments):
    """Of `count` variables, to so many bits; values of φ are kept."""

    called = "lognormal variables"
    law: Lognormal
    count: int
    bits: int
    _known: dict[tuple[int, int], arb] = field(default_factory=dict)

    def moments_of_one(self, n: int) -> list[arb]:
        half = self.law.square / 2
        return [(half * (k * (k - 1))).exp() for k in range(n + 1)]

    def _integral(self, n: int, theta: arb) -> arb:
        """∫ e^{θx} E[Sⁿ e^{−e^x S}] dx, by a sum whose terms are all positive."""
        about = float(theta)
        turned, tilt = self._strip(about)
        grid = self._grid(self._spacing(turned, tilt, about))
        first, last = self._ends(about, grid)
        h = grid.step * self._unit(grid)

        def term(j: int) -> arb:
            return (theta * h * j).exp() * self._weighted(n, grid, grid.step * j)

        total = sum((term(j) for j in range(first, last + 1)), arb(0))
        whole = self._powers(n, self.moments_of_one(n))[0]  # E[Sⁿ], which E[Sⁿe^{−uS}] is at most
        while True:
            deadline.check()
            left, right = (self._beyond(theta, grid, x, way) for x, way in ((first, -1), (last, 1)))
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
        y, angle = arb(tilt), arb(turned) - self._s * arb(tilt)
        grown = (self.count * y * y / 2).exp() / angle.cos() ** theta
        off = 2 * grown / (2 * arb.pi() * arb(turned) / h).expm1()
        return value / (1 + within(off))

    @property
    def _s(self) -> arb:
        return self.law.square.sqrt()

    # --- the grid on which log u lies

    def _grid(self, spacing: float) -> LogGrid:
        """No wider; of s² in parts of a power of 2, that orders share values."""
        square = self.law.s**2
        parts = 2 ** max(0, math.ceil(math.log2(square / spacing)))
        return LogGrid(parts, max(1, math.floor(spacing * parts / square)))

    def _unit(self, grid: LogGrid) -> arb:
        return self.law.square / grid.parts

    def _strip(self, theta: float) -> tuple[float, float]:
        """Half the height of the strip, and the y on its edges."""
        s = self.law.s
        tilts = np.concatenate([[0.0], _SHARES * math.pi / s])
        sides = _SHARES * _WIDEST
        spacings = [
            (self._spacing(s * y + a, y, theta), s * y + a, y) for y in tilts for a in sides
        ]
        _, turned, tilt = max(spacings)
        return turned, tilt

    def _spacing(self, turned: float, tilt: float, theta: float) -> float:
        grown = self.count * tilt**2 / 2 - theta * math.log(math.cos(turned - self.law.s * tilt))
        return 2 * math.pi * turned / (self._need + grown)

    def _ends(self, theta: float, grid: LogGrid) -> tuple[int, int]:
        """About the first and the last place that counts; float64."""
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
        """E[Sⁿ e^{−uS}] at so many units of log u."""
        phi = (self._phi(grid, place + k * grid.parts) for k in range(n + 1))
        terms = [m * value for m, value in zip(self.moments_of_one(n), phi, strict=True)]
        return self._powers(n, terms)[0]

    def _log_phi(self, u: float) -> float:
        return float(self.law.about_log_phi(np.array([u]))[0])

    def _phi(self, grid: LogGrid, index: int) -> arb:
        """φ at so many units of log u."""
        if (grid.parts, index) not in self._known:
            u = (self._unit(grid) * index).exp()
            need = self._need + math.log(self.count) - self._log_phi(float(u))
            if need > _MOST_NEED:
                raise PrecisionError(
                    f"a moment of {self.count} lognormal variables: found that its transform is "
                    f"needed to {need:.0f} nats, needed at most {_MOST_NEED:.0f}",
                    remedy="ask for a lower order",
                )
            (value,) = self.law.values([acb(u)], [need])
            self._known[grid.parts, index] = value.real
        return self._known[grid.parts, index]

    def _beyond(self, theta: arb, grid: LogGrid, end: int, way: int) -> arb:
        """Σ e^{θx} φ(e^x)^t beyond a place, on one side: θx + t log φ(e^x) is concave."""
        before, here = (self._phi(grid, grid.step * j) for j in (end - way, end))
        if not (before > 0 and here > 0):
            return arb("inf")
        h = grid.step * self._unit(grid)
        ratio = (way * theta * h).exp() * (here / before) ** self.count
        return geometric_tail((theta * h * end).exp() * here**self.count * ratio, ratio)
