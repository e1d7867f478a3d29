"""E[S^z] of a sum S of t independent likelihood ratios of Laplace noise, at every real z, in balls.

No ratio is below e^{−s}, so that e^{−uS} falls at least like e^{−ute^{−s}}; and at a complex u
nothing is larger than at its real part (docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.laplace_sums.ratio import LaplaceRatio
from symacct.numerics.sums.refine import geometric_tail, rounded_down, up_to, within
from symacct.numerics.sums.sum_moments import SumMoments

_ANGLES = np.linspace(0.01, 1.0, 100) * 1.55  # half the height of a strip, below π/2
_MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class LaplaceMoments(SumMoments):
    """Of `count` ratios, to so many bits."""

    called = "ratios of Laplace noise"
    ratio: LaplaceRatio
    count: int
    bits: int

    def moments_of_one(self, n: int) -> list[arb]:
        return self.ratio.moments(n)

    def _integral(self, n: int, theta: arb) -> arb:
        about, need = float(theta), self.bits + math.ceil(math.log2(self.count))
        widest, turned = max((self._spacing(d, about), d) for d in _ANGLES.tolist())
        spacing = rounded_down(widest)
        h = arb(spacing)

        def term(j: int) -> arb:
            (power,) = self._powers(n, self.ratio.weighted(h * j, n, need))
            return (theta * h * j).exp() * power

        first = last = round(math.log(about / self.count) / spacing)
        total = end = term(first)
        (whole,) = self._powers(n, self.moments_of_one(n))  # E[Sⁿ], which E[Sⁿe^{−uS}] is at most
        least = self.count * self.ratio.low
        while True:
            deadline.check()
            left = whole * geometric_tail((theta * h * (first - 1)).exp(), (-theta * h).exp())
            ratio = (theta * h - least * (h * last).exp() * h.expm1()).exp()
            right, rest = geometric_tail(end * ratio, ratio), arb(2) ** -self.bits * total
            if left < rest and right < rest:
                break
            if last - first > _MOST_NODES:
                raise PrecisionError(
                    f"a moment of {self.count} {self.called}: found more than {_MOST_NODES} "
                    "points to sum over, needed fewer digits, or more noise"
                )
            if not left < rest:
                total += term(first := first - 1)
            if not right < rest:
                total += (end := term(last := last + 1))
        off = 2 / (arb(turned).cos() ** theta * (2 * arb.pi() * arb(turned) / h).expm1())
        return h * (total + up_to(left) + up_to(right)) / (1 + within(off))

    def _spacing(self, turned: float, theta: float) -> float:
        """At which the sum is off by about as much as is wanted."""
        return 2 * math.pi * turned / (self._need - theta * math.log(math.cos(turned)))
