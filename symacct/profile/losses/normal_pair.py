"""Two mixtures of normal laws of one variance whose loss rises with the outcome.

Their means are multiples of one number, and none of P's is below one of Q's, or none is above.
Mirrored in the second case, they are `NormalMixtures`; N(0, σ²) and that moved against N(0, σ²) is
Gaussian noise on a Poisson sample. Both are summed much sooner than densities are integrated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from symacct.kernel.exact import Exact, exact
from symacct.laws.neighbours import TwoDensities
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.fixed_size import FixedSizeGaussian
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.normal_mixtures import NormalMixtures, Weights
from symacct.profile.losses.pointwise_maximum import PointwiseMaximum
from symacct.profile.part import Part, loss_for


@dataclass(frozen=True)
class NormalPair(NormalMixtures):
    """A normal pair is two ordered mixtures, and the same pair as `densities`, for samples."""

    densities: DensityLoss

    def sampled(self, gamma: Exact) -> Part:
        """Sample the densities: where Q's and P's means are mixed, no order of them is left."""
        return self.densities.sampled(gamma)


# Proved in docs/proofs/pairs.md, Lemma normal-either-way.
@dataclass(frozen=True)
class EitherWayNormal(FixedSizeGaussian):
    """A normal law and its mixture with a moved one have the glued pair, either way round.

    `densities` are the two ways round, of which samples are made.
    """

    densities: PointwiseMaximum

    @property
    def alternatives(self) -> Sequence[Part]:
        """The losses that stand for this one, those of its densities."""
        return self.densities.alternatives

    def sampled(self, gamma: Exact) -> Part:
        """The larger of the two ways round, both sampled."""
        return self.densities.sampled(gamma)


class Ordered(NamedTuple):
    """Two mixtures are ordered: their (w, j) by growing j, and the ratio Δ²/σ² of a j more."""

    upper: Weights
    lower: Weights
    ratio: Exact

    @property
    def is_sample(self) -> bool:
        """Is the first law the second one, mixed with it moved?"""
        return len(self.lower) == 1 and len(self.upper) == 2 and self.upper[0][1] == 0

    @property
    def noise(self) -> GaussianLoss:
        """The loss of the second law and it moved, where the first is a sample of these."""
        return GaussianLoss(exact(self.ratio * self.upper[1][1] ** 2))


def normal_pair(pair: DensityPair) -> Part | None:
    """Make the loss of two ordered mixtures; None where they are not so, or not known.

    (1−γ)N(0, σ²) + γN(d, σ²) against N(0, σ²) is a sampled Gaussian.
    """
    ordered = _ordered(pair)
    if ordered is None:
        return None
    if ordered.is_sample:
        return ordered.noise.sampled(ordered.upper[1][0])
    return NormalPair(*ordered, DensityLoss(pair))


def either_way(loss: DensityLoss) -> Part | None:
    """Make the loss of both ways round, where one law is the other one mixed with it moved."""
    exchanged = loss.exchanged
    if exchanged is None:
        return None
    for pair in (loss.pair, loss.pair.exchanged):
        ordered = _ordered(pair)
        if ordered is not None and ordered.is_sample:
            both = PointwiseMaximum(frozenset({loss, exchanged}))
            return EitherWayNormal(1 / ordered.noise.ratio, ordered.upper[1][0], both)
    return None


def _ordered(pair: DensityPair) -> Ordered | None:
    """Order the means of two mixtures; None where they are not so ordered, or not known.

    Weights and means are to be rational, the variances one number, and nothing sampled. Mixtures
    with P to the left are mirrored.
    """
    parts = pair.overlap.normal_parts
    if parts is None or pair.gamma != 1:
        return None
    p, q = parts
    numbers = (*p.means, *q.means, *p.weights, *q.weights)
    if p.variance != q.variance or not all(isinstance(x, Fraction) for x in numbers):
        return None
    sign = 1 if min(p.means) >= max(q.means) and max(p.means) > max(q.means) else -1
    start = min(sign * mean for mean in q.means)
    moved = [[sign * mean - start for mean in law.means] for law in (p, q)]
    unit = _common_unit([mean for means in moved for mean in means])
    upper, lower = (
        tuple(sorted(zip(law.weights, [int(m / unit) for m in means], strict=True), key=_at))
        for law, means in zip((p, q), moved, strict=True)
    )
    if not (upper[0][1] >= lower[-1][1] and upper[-1][1] > lower[-1][1]):
        return None
    return Ordered(upper, lower, exact(unit**2 / p.variance))


def _at(part: tuple[Exact, int]) -> int:
    """Return the mean of a weighed normal law, in units of the common one."""
    return part[1]


def _common_unit(distances: list[Fraction]) -> Fraction:
    """Compute the largest fraction of which all are whole multiples, positive even if all are 0."""
    below = math.lcm(*(x.denominator for x in distances))
    return Fraction(math.gcd(*(int(x * below) for x in distances)) or 1, below)


@loss_for(TwoDensities)
def _(law: TwoDensities) -> Part:
    """Take ordered mixtures by their means, where one way round is all that is asked.

    Of two ways the pointwise maximum is asked, which a grid takes of densities.
    """
    plain = DensityLoss(DensityPair(law.overlap))
    return plain if law.either_way else normal_pair(plain.pair) or plain
