"""The Gaussian's pair N(1, σ²) against N(0, σ²): L ~ N(s²/2, s²) under P, s = Δ/σ.

`need` and `slack` are in nats, as in profile/part.py: closed forms serve any.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np
from flint import acb, arb

from symacct.analysis.normal_tails import hockey_stick
from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact, LazyModule
from symacct.laws.neighbours import NormalShift
from symacct.profile.losses.sampled_gaussian import SampledGaussian, normal_tails
from symacct.profile.part import Floats, OrderLine, Part, Runs, loss_for
from symacct.profile.proofs import GAUSSIAN

if TYPE_CHECKING:
    from symacct.profile import written_laws
    from symacct.profile.float_laws import TailsInFloats
    from symacct.profile.losses import allocated, fixed_size, normal_mixtures, zeroed
else:  # a question of Poisson samples alone needs none of them
    allocated, fixed_size, normal_mixtures, zeroed = (
        LazyModule(f"symacct.profile.losses.{file}")
        for file in ("allocated", "fixed_size", "normal_mixtures", "zeroed")
    )
    written_laws = LazyModule("symacct.profile.written_laws")


@dataclass(frozen=True)
class GaussianLoss(Part):
    """Gaussian noise on all of the data has F(z) = e^{(z²−z)s²/2}.

    `ratio` = s² = Δ²/σ², the sum of those of all runs that it stands for, is above 0.
    """

    ratio: Exact

    symmetric = True  # z ↦ 1 − z exchanges the two laws
    proof = GAUSSIAN

    @property
    def gaussian_ratio(self) -> Exact:  # type: ignore[override]
        return self.ratio

    @classmethod
    def joined(cls, runs: Sequence[tuple[Self, int]]) -> Runs:
        """Join them in one run whose ratio is the sum of the ratios; in none where that is 0."""
        ratio: Exact = sum((k * part.ratio for part, k in runs), Fraction(0))
        return ((cls(ratio), 1),) if ratio else ()

    def sampled(self, gamma: Exact) -> SampledGaussian:
        """Make the loss of (1−γ)Q + γP against Q, 0 < γ < 1."""
        return SampledGaussian(1 / self.ratio, gamma)

    def fixed_size_pair(self, gamma: Exact) -> fixed_size.FixedSizeGaussian:
        """Make the loss of what dominates a sample of fixed size both ways, a record replaced."""
        return fixed_size.FixedSizeGaussian(1 / self.ratio, gamma)

    def zeroed_pair(self, gamma: Exact) -> zeroed.ZeroedGaussian:
        """Make the loss of what dominates a sample of fixed size both ways, a record zeroed out."""
        return zeroed.ZeroedGaussian(1 / self.ratio, gamma)

    def allocated(self, steps: int) -> allocated.AllocatedGaussian:
        """Make the pair of a run among so many steps."""
        return allocated.AllocatedGaussian(self.ratio, steps)

    def in_groups(self, gamma: Exact, added: int, removed: int) -> Part:
        """Make the loss of `added` records on Poisson samples against `removed` ones.

        Their answers are opposite, Δ and −Δ, and each is in the sample with probability γ. Not both
        numbers are 0.
        """
        upper, lower = (
            [(math.comb(n, j) * gamma**j * (1 - gamma) ** (n - j), j) for j in range(n + 1)]
            for n in (added, removed)
        )
        mirrored = tuple((w, -j) for w, j in reversed(lower))
        return normal_mixtures.NormalMixtures(tuple(upper), mirrored, self.ratio)

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Compute log F(z) = z(z−1)μ²/2 and the variance μ² of L at real orders."""
        ratio = float(self.ratio)
        return (orders * orders - orders) * ratio / 2, np.full_like(orders, ratio)

    def in_floats(self, reverse: bool, rare: float) -> TailsInFloats:
        """Give the law by tails in float64, without laws that are rare."""
        return normal_tails(self.ratio, Fraction(1), reverse, rare)

    def log_decay(self, a: float, t: float) -> float:
        """Compute log|F(a+it)| = (a² − a − t²)μ²/2 in float64."""
        return (a * a - a - t * t) * float(self.ratio) / 2

    def log_values(self, line: OrderLine) -> Floats:
        """Compute log F = z(z−1)μ²/2 on a line of orders in float64."""
        z = line.a + 1j * line.h * np.arange(line.last + 1)
        return np.asarray((z * z - z) * float(self.ratio) / 2)

    def terms(self, line: OrderLine, need: float) -> int:
        """Return 1: a value is one exponential."""
        return 1

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Compute F(z) = e^{z(z−1)μ²/2} on a line of orders, μ = Δ/σ."""
        half = BALL.number(self.ratio) / 2
        orders = (acb(arb(line.a), arb(line.h) * n) for n in line.nodes)
        return [((z * z - z) * half).exp() for z in orders]

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Compute log|F(a+it)| = (a² − a − t²)μ²/2, which falls in t."""
        return (arb(a) ** 2 - arb(a) - arb(t) ** 2) * BALL.number(self.ratio) / 2

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute the divergence of two normal laws of one variance."""
        return hockey_stick(y, BALL.number(self.ratio).sqrt())

    def in_latex(self, write: written_laws.Write) -> written_laws.WrittenLaws:
        """Write N(1, σ²) and N(0, σ²), in units of the sensitivity."""
        return written_laws.WrittenLaws(*written_laws.normals(1 / self.ratio, write))


@loss_for(NormalShift)
def _(law: NormalShift) -> GaussianLoss:
    return GaussianLoss(law.squared_ratio)
