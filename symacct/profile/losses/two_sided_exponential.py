"""A pair whose loss is two-sided exponential, which smooths the loss of what stands beside it.

Under Q the loss has the density α(α−1)/(2α−1) times e^{−αx} right of 0 and e^{(α−1)x} left of it:
F(z) = α(α−1)/((α−z)(α−1+z)) for 1−α < Re z < α (docs/proofs/triples.md, Lemma smoothed-stick).
`need` and `slack` are in nats, as in profile/part.py: the closed form serves any.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np
from flint import acb, arb

from symacct.kernel.arithmetic.ball import ball
from symacct.kernel.errors import AssumptionError
from symacct.kernel.exact import Exact
from symacct.profile.part import Floats, OrderLine, Part


@dataclass(frozen=True)
class TwoSidedExponential(Part):
    """A two-sided exponential loss has moments for 1−α < Re z < α, α = `alpha` > 1.

    It stands beside bounds alone: no mechanism has it.
    """

    alpha: Fraction

    symmetric = True  # z ↦ 1 − z exchanges the two laws
    decays_slowly = False  # |F| falls as t^{−2}

    def sampled(self, gamma: Exact) -> NoReturn:
        """Raise AssumptionError: no mechanism has this pair."""
        raise AssumptionError("found a bound of several samples, needed a mechanism to sample")

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Compute log F and the variance of L, ∞ at orders outside of (1−α, α).

        F(a) = α(α−1)/((α−a)(α−1+a)).
        """
        alpha = float(self.alpha)
        right, left = alpha - orders, alpha - 1 + orders
        inside = (right > 0) & (left > 0)
        with np.errstate(all="ignore"):
            log_moments = math.log(alpha * (alpha - 1)) - np.log(right) - np.log(left)
            variances = right**-2.0 + left**-2.0
        return np.where(inside, log_moments, np.inf), np.where(inside, variances, np.inf)

    def log_decay(self, a: float, t: float) -> float:
        """Compute log|F(a+it)|, which falls in t."""
        alpha = float(self.alpha)
        sizes = math.hypot(alpha - a, t) * math.hypot(alpha - 1 + a, t)
        return math.log(alpha * (alpha - 1) / sizes)

    def log_values(self, line: OrderLine) -> Floats:
        """Compute log F on a line of orders in float64."""
        alpha, z = float(self.alpha), line.a + 1j * line.h * np.arange(line.last + 1)
        return np.asarray(math.log(alpha * (alpha - 1)) - np.log(alpha - z) - np.log(alpha - 1 + z))

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Return 1: a value is one quotient."""
        return 1

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F(z) = α(α−1)/((α−z)(α−1+z)) on a line of orders."""
        return [self._moment(acb(arb(line.a), arb(line.h) * n)) for n in line.nodes]

    def _moment(self, z: acb) -> acb:
        """Compute F(z); NaN where Re z is not certainly between 1−α and α."""
        alpha = ball(self.alpha)
        if not (1 - alpha < z.real and z.real < alpha):
            return acb(arb.nan())
        return alpha * (alpha - 1) / ((alpha - z) * (alpha - 1 + z))

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Return log|F(a+it)|, as |F| falls in t."""
        return abs(self._moment(acb(arb(a), arb(t)))).log()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute (1 − e^y)₊ + min(1, e^y) e^{−(α−1)|y|}/(2α−1)."""
        alpha, negative = ball(self.alpha), y.min(arb(0))
        smoothed = (-(alpha - 1) * abs(y)).exp() / (2 * alpha - 1)
        return -negative.expm1() + negative.exp() * smoothed
