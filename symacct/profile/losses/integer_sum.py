"""The law of a sum of discrete Gaussian noise, by a finite Fourier sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from symacct.arithmetic import BALL
from symacct.core import limits
from symacct.core.errors import LimitError
from symacct.core.exact import Exact, expression
from symacct.core.forking import cached_property
from symacct.core.lazy_import import sympy
from symacct.mechanisms import DiscreteGaussian, DiscreteGaussianSum
from symacct.mechanisms.integers.integer_noise import IntegerSums, check_terms
from symacct.numerics.sums.refine import within
from symacct.numerics.sums.theta import log_theta_ratio

_SPARE_BITS = 32
_MOST_SPREAD = 1000.0  # nats


@dataclass(frozen=True)
class SummedNoise(IntegerSums):
    """S of so many parties, P moved by `sensitivity`; log-concave, as a convolution of such laws.

    S and one discrete Gaussian number of σ√n have log-probabilities within τ of each other
    (docs/proofs.md, section 32), and so P^aQ^{1−a} of both within (|a| + |1−a|)τ.
    """

    sigma: Exact
    parties: int
    sensitivity: int

    @cached_property
    def near(self) -> DiscreteGaussian:
        """The one number."""
        return DiscreteGaussian(expression(self.sigma) * sympy.sqrt(self.parties), self.sensitivity)

    @property
    def spread(self) -> arb:
        """τ"""
        found: arb = DiscreteGaussianSum(self.sigma, self.parties).log_spread(BALL)
        if not found < _MOST_SPREAD:
            raise LimitError(
                f"conversion='exact': found a sum of {self.parties:,} discrete Gaussian numbers of "
                f"little noise, far from one number (by {float(found):.3g} nats), needed at most "
                f"{_MOST_SPREAD:.0f}; take more noise, or conversion='improved'"
            )
        return found

    def outcomes(self, least: float, most: float, need: float) -> range:
        spare = float(self.spread) * (1 + 2 * max(abs(least), abs(most)))
        return self.near.outcomes(least, most, need + spare)

    def weighed(self, kept: range) -> list[tuple[arb, arb]]:
        check_terms(kept)
        reach = max(abs(kept[0] - self.sensitivity), abs(kept[-1])) + self.sensitivity
        block = math.ceil(self.near.in_float)  # windows of about one length share their masses
        law = masses(self.sigma, self.parties, block * math.ceil(reach / block), ctx.prec)
        logs = [(law[abs(k)], law[abs(k - self.sensitivity)]) for k in kept]
        return [(q, (p / q).log()) for q, p in logs]

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """Of the one number."""
        return self.near.in_floats(kept)

    def left_out(self, a: float, kept: range) -> arb:
        apart = self.spread * (abs(arb(a)) + abs(1 - arb(a)))
        return apart.exp() * self.near.left_out(a, kept)


@lru_cache(16)
def masses(sigma: Exact, parties: int, reach: int, bits: int) -> list[arb]:
    """P(S = k), 0 <= k <= reach, as (1/N) Σ_j φ(2πj/N)^n cos(2πjk/N), N = 2X+1.

    φ is the characteristic function of one. What has another place modulo N lies beyond N − k: by
    P(S >= x) <= e^{−x²/(2nσ²)} that is little. φ falls up to N/2, so that once φ^n is small, so is
    the rest.
    """
    spread = float(BALL.number(sigma)) * math.sqrt(parties)
    need = (bits + _SPARE_BITS) * math.log(2) + (reach / spread) ** 2 / 2 + math.log(2 + reach)
    last = (reach + math.ceil(spread * math.sqrt(2 * need))) // 2 + 1
    with ctx.workprec(math.ceil(need / math.log(2)) + _SPARE_BITS):
        at = BALL.number(sigma)
        waves, rest = _waves(1 / (2 * arb.pi() * at), parties, last)
        beyond = 2 * (-(arb(2 * last + 1 - reach) ** 2) / (2 * parties * at**2)).exp()
        off, period = within(rest + beyond), 2 * last + 1
        turned = [(arb(2 * r) / period).cos_pi() for r in range(period)]

        def mass(k: int) -> arb:
            places = (j * k % period for j in range(1, len(waves) + 1))
            total = sum((x * turned[r] for x, r in zip(waves, places, strict=True)), arb(0))
            return (1 + 2 * total) / period + off

        return [mass(k) for k in range(reach + 1)]


def _waves(dual: arb, parties: int, last: int) -> tuple[list[arb], arb]:
    """φ(2πj/N)^n for j >= 1, as far as they count, and a bound of the rest of the mean."""
    found: list[arb] = []
    small = arb(2) ** -ctx.prec
    for j in range(1, last + 1):
        limits.check("order", j, "nodes of the sum of discrete Gaussians")
        power = (-parties * log_theta_ratio(dual, Fraction(j, 2 * last + 1))).exp()
        if power < small:
            return found, power
        found.append(power)
    return found, arb(0)
