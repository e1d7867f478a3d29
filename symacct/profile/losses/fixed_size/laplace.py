"""The dominating pair of Laplace noise on a sample of fixed size, a record replaced.

Scale 1, shift s, R(x) = 1−γ+γe^{2x−s}. Right of s/2 the laws are (1−γ)Q + γP and Q, left of it the
mirror image; what is left of both is one outcome without loss. With TV = 1 − e^{−s/2}

F(z) = (1−γ)TV + ½e^{−s}(R(s)^z + R(s)^{1−z}) + ∫_{s/2}^s ½e^{−x}(R^z + R^{1−z}) dx
(docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.kernel.sums.balls import legendre, legendre_floats
from symacct.profile.losses.summed import Sample, SummedLoss, fixed_size_hockey_stick
from symacct.profile.part import Floats, OrderLine
from symacct.profile.sums.tail_maximum import End
from symacct.profile.written_laws import Write, WrittenLaws, laplaces, of_fixed_size

if TYPE_CHECKING:
    from symacct.profile.losses.laplace import LaplaceLoss

_STEER_POINTS = 96
_ELLIPSES = np.geomspace(1.02, 60.0, 60)


@dataclass(frozen=True)
class FixedSizeLaplace(SummedLoss):
    """`mixture` is the noise on a Poisson sample, at the share of the records in the sample."""

    mixture: LaplaceLoss

    ends_in_atoms = True
    decays_slowly = True

    @property
    def shift(self) -> Exact:
        """Δ/b."""
        return self.mixture.shift

    @property
    def gamma(self) -> Exact:
        """The share of the records, in (0, 1)."""
        return self.mixture.gamma

    # --- float64: where to look

    def floats(self, least: float, most: float) -> tuple[Floats, Floats]:
        s, gamma = float(self.shift), float(self.gamma)
        nodes, weights = legendre_floats(_STEER_POINTS)
        x = np.append(s * (3 + nodes) / 4, s)
        log_q = np.log(np.append(s / 8 * weights * np.exp(-x[:-1]), math.exp(-s) / 2))
        loss = np.log1p(gamma * np.expm1(2 * x - s))
        rest = math.log((1 - gamma) * -math.expm1(-s / 2))
        return (
            np.concatenate([log_q, log_q + loss, [rest]]),
            np.concatenate([loss, -loss, [0.0]]),
        )

    def _rule(self, a: float, far: float, need: float) -> tuple[float, int]:
        """The ellipse and the fewest nodes for an error of about e^{−need} F(a)."""
        s, gamma = float(self.shift), float(self.gamma)
        log_moment = float(self.float_moments(np.array([a]))[0][0])
        reach, theta = s * (_ELLIPSES + 1 / _ELLIPSES) / 8, s * (_ELLIPSES - 1 / _ELLIPSES) / 4
        left, right = s / 2 - 2 * reach, s / 2 + 2 * reach
        safe = np.minimum(theta, 1.5)
        most = np.log1p(gamma * np.expm1(right))
        least = np.log(1 - gamma + gamma * np.exp(left) * np.cos(safe))
        angle = np.angle(1 - gamma + gamma * np.exp(right + 1j * safe))
        powers = (b * end for b in (a, 1 - a) for end in (most, least))
        height = np.maximum.reduce(list(powers)) + far * angle + reach - 3 * s / 4
        wanted = need + 4 + height - log_moment - np.log1p(-(_ELLIPSES**-2.0))
        counts = np.where(theta < safe + 1e-9, wanted / (2 * np.log(_ELLIPSES)), np.inf)
        best = int(np.argmin(counts))
        return float(_ELLIPSES[best]), max(4, math.ceil(float(counts[best])) + 2)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        return 3 + 2 * self._rule(line.a, line.h * line.last, need)[1]

    def sample(self, a: float, far: float, need: float) -> Sample:
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """The atoms, and by parts 2(h(s/2) + h(s)) of either power b, h = e^{s−3x}R^{b+1}/4γ:

        (log h)′ = −3 + 2(b+1)γe^{2x−s}/R changes its sign at most once, from − to +.
        """
        s, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        top, atoms, falling = self.largest(False), self.uninformative_mass(), arb(0)
        for b in (arb(a), 1 - arb(a)):
            atoms += (b * top - s).exp() / 2
            falling += ((-s / 2).exp() + ((b + 1) * top - 2 * s).exp()) / (2 * gamma)
        return [(atoms, falling)]

    def uninformative_mass(self) -> arb:
        """(1−γ)TV(P, Q), the mass of what says nothing."""
        return -BALL.number(1 - self.gamma) * (-BALL.number(self.shift) / 2).expm1()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        return fixed_size_hockey_stick(self.mixture, y)

    def largest(self, reverse: bool) -> arb:
        """log(1−γ+γe^s), from either side."""
        return self.mixture.largest(False)

    def in_latex(self, write: Write) -> WrittenLaws:
        return of_fixed_size(*laplaces(self.shift, write), self.gamma, write)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        return Fraction(0)


@lru_cache(16)
def _sample(part: FixedSizeLaplace, a: float, far: float, need: float, bits: int) -> Sample:
    """Gauss's rule on [s/2, s], and the atoms."""
    ellipse, count = part._rule(a, far, need)
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    losses, weights = [arb(0)], [part.uninformative_mass()]
    points = [(s, (-s).exp() / 2)]
    for u, w in legendre(count, bits):
        x = s * (3 + u) / 4
        points.append((x, s / 8 * w * (-x).exp()))
    for x, mass in points:
        loss = (gamma * (2 * x - s).expm1()).log1p()
        for b, signed in ((arb(a), loss), (1 - arb(a), -loss)):
            losses.append(signed)
            weights.append(mass * (b * loss).exp())
    return Sample(losses, weights, _off(part, a, far, arb(ellipse), count))


def _off(part: FixedSizeLaplace, a: float, far: float, rho: arb, count: int) -> arb:
    """What the rule is off by for both powers, as in `laplace._sample`."""
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    reach, theta = s * (rho + 1 / rho) / 8, s * (rho - 1 / rho) / 4
    if not theta <= arb.pi() / 2:
        return arb.pos_inf()
    left, edge = (s / 2 - 2 * reach).exp(), gamma * (s / 2 + 2 * reach).exp()
    most, least = (1 - gamma + edge).log(), (1 - gamma + gamma * left * theta.cos()).log()
    angle = acb(1 - gamma + edge * theta.cos(), edge * theta.sin()).arg()
    turned = arb(far) * angle * (1 + arb(2) ** -40) + reach - 3 * s / 4
    powers = (((b * most).max(b * least) + turned).exp() / 2 for b in (arb(a), 1 - arb(a)))
    return arb(64) / 15 * s / 4 * sum(powers, arb(0)) * rho ** (-2 * count) / (1 - rho**-2)
