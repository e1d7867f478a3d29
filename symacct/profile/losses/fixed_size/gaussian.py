"""The dominating pair of Gaussian noise on a sample of fixed size, a record replaced.

Right of ½ the laws are (1−γ)Q + γP and Q, P = N(1, σ²) and Q = N(0, σ²); left of it they are
the mirror image, P and (1−γ)P + γQ; what is left of both is one outcome without loss. With
R = 1−γ+γe^{v/σ²}, v = x − ½,

F(z) = (1−γ)TV(P, Q) + ∫_0^∞ Q(½+v)(R^z + R^{1−z}) dv (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.exact import Exact
from symacct.kernel.sums.balls import legendre, legendre_floats, normal_tail, tilted_tail
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.losses.summed import Sample, SummedLoss, fixed_size_hockey_stick
from symacct.profile.part import Floats, OrderLine, rounded_down
from symacct.profile.sums.tail_maximum import End
from symacct.profile.written_laws import Write, WrittenLaws, normals, of_fixed_size

_ELLIPSES = np.geomspace(1.1, 12.0, 40)
_PANEL = 1.5  # deviations, or variances where these are less
_STEER_REACH, _STEER_POINTS = 9.0, 24
_MOST_PANELS = 2000


@dataclass(frozen=True)
class FixedSizeGaussian(SummedLoss):
    """`variance` = σ²/Δ², the share `gamma` of the records in the sample, in (0, 1)."""

    variance: Exact
    gamma: Exact

    decays_slowly = True

    # --- float64: where to look

    @property
    def _floats(self) -> tuple[float, float]:
        return float(self.variance), float(self.gamma)

    def floats(self, least: float, most: float) -> tuple[Floats, Floats]:
        variance, gamma = self._floats
        sigma = math.sqrt(variance)
        edges = self._edges(max(most, 1 - least) + _STEER_REACH * sigma)
        nodes, weights = legendre_floats(_STEER_POINTS)
        half = np.diff(edges)[:, None] / 2
        v = ((edges[:-1] + edges[1:])[:, None] / 2 + half * nodes).ravel()
        loss = np.logaddexp(math.log1p(-gamma), math.log(gamma) + v / variance)
        log_q = np.log((half * weights).ravel()) - (v + 0.5) ** 2 / (2 * variance)
        log_q -= 0.5 * math.log(2 * math.pi * variance)
        rest = math.log((1 - gamma) * math.erf(0.5 / math.sqrt(2 * variance)))
        return (
            np.concatenate([log_q, log_q + loss, [rest]]),
            np.concatenate([loss, -loss, [0.0]]),
        )

    def _edges(self, top: float, finer: int = 1) -> Floats:
        """Of the panels in v."""
        variance, _ = self._floats
        width = _PANEL * min(math.sqrt(variance), variance) / finer
        return np.linspace(0.0, top, min(math.ceil(top / width), _MOST_PANELS) + 1)

    def _rule(self, a: float, far: float, need: float) -> tuple[Floats, Floats, int]:
        """Panels, the ellipse of each, and how many nodes they need."""
        variance, gamma = self._floats
        sigma = math.sqrt(variance)
        most = max(a, 1 - a, 0.5)
        edges = self._edges(rounded_down(most + sigma * math.sqrt(2 * (need + 3))))
        middle, half = (edges[1:] + edges[:-1])[:, None] / 2, np.diff(edges)[:, None] / 2
        reach = half * (_ELLIPSES + 1 / _ELLIPSES) / 2
        height = half * (_ELLIPSES - 1 / _ELLIPSES) / 2
        theta = np.minimum(height / variance, math.pi / 2)
        left, right = (middle - reach) / variance, (middle + reach) / variance
        high = np.logaddexp(math.log1p(-gamma), math.log(gamma) + right)
        low = np.log(1 - gamma + gamma * np.exp(left) * np.maximum(np.cos(theta), 0.0))
        angle = np.arctan2(
            gamma * np.sin(theta), (1 - gamma) * np.exp(-right) + gamma * np.cos(theta)
        )
        grown = np.maximum(np.maximum(a * high, a * low), np.maximum((1 - a) * high, (1 - a) * low))
        nearest = np.maximum(middle - reach + 0.5, 0.0)
        grown += far * angle + (height**2 - nearest**2) / (2 * variance)
        grown += np.log(half / sigma * 5 * len(half)) - np.log1p(-(_ELLIPSES**-2.0))
        grown -= float(self.float_moments(np.array([a]))[0][0])
        counts = np.where(
            height / variance < 1.55, (need + 3 + grown) / (2 * np.log(_ELLIPSES)), np.inf
        )
        best = np.argmin(counts, axis=1)
        worst = float(counts[np.arange(len(best)), best].max())
        return edges, _ELLIPSES[best], max(4, math.ceil(worst) + 1)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        edges, _, count = self._rule(line.a, line.h * line.last, need)
        return 2 * count * len(edges)

    def sample(self, a: float, far: float, need: float) -> Sample:
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """What bounds |F| far out, by parts.

        Of h = Q R^b/(log R)′ = (σ²/γ)Q R^{b+1}e^{−w}, b = a and 1−a, h(0) and the variation, as
        |h′| <= Q R^b(((1−γ)e^{−w}+γ)(x+1)/γ + |b+1|). Cells take each factor at the end where it is
        larger; beyond them ∫xQR^b <= σ²QR^b + max(b, 0)∫QR^b.
        """
        frame = _Frame(self, a, 0.0)
        return [(self.uninformative_mass(), frame.end + sum(map(frame.variation, frame.powers)))]

    def uninformative_mass(self) -> arb:
        """(1−γ)TV(P, Q), the mass of what says nothing."""
        variance = BALL.number(self.variance)
        return BALL.number(1 - self.gamma) * (1 / (8 * variance).sqrt()).erf()

    def _density(self, v: arb) -> arb:
        """Q(½+v)."""
        variance = BALL.number(self.variance)
        return (-((v + arb(0.5)) ** 2) / (2 * variance)).exp() / (2 * arb.pi() * variance).sqrt()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        return fixed_size_hockey_stick(SampledGaussian(self.variance, self.gamma), y)

    def in_latex(self, write: Write) -> WrittenLaws:
        return of_fixed_size(*normals(self.variance, write), self.gamma, write)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        return Fraction(0)


@lru_cache(16)
def _sample(part: FixedSizeGaussian, a: float, far: float, need: float, bits: int) -> Sample:
    """Gauss's rule on each panel, its error as in `laplace._sample`, and the tail."""
    edges, ellipses, count = part._rule(a, far, need)
    frame = _Frame(part, a, far)
    losses, weights = [arb(0)], [part.uninformative_mass()]
    error = frame.tail_integral(arb(float(edges[-1])))
    rule = legendre(count, bits)
    for low, high, ellipse in zip(edges[:-1], edges[1:], ellipses, strict=True):
        middle, half = (
            (arb(float(high)) + arb(float(low))) / 2,
            (arb(float(high)) - arb(float(low))) / 2,
        )
        for node, weight in rule:
            frame.add(middle + half * node, half * weight, losses, weights)
        error += frame.quadrature_error(middle, half, arb(float(ellipse)), count)
    return Sample(losses, weights, error)


class _Frame:
    """The parameters in balls, for one real part of the order and |t| <= far."""

    def __init__(self, part: FixedSizeGaussian, a: float, far: float) -> None:
        self.part, self.decay_constants = part, arb(far)
        self.powers = arb(a), 1 - arb(a)
        self.gamma, self.rest = BALL.number(part.gamma), BALL.number(1 - part.gamma)
        self.variance = BALL.number(part.variance)
        self.sigma = self.variance.sqrt()

    @property
    def end(self) -> arb:
        """h(0) of both terms."""
        return 2 * self.variance / self.gamma * self.part._density(arb(0))

    def variation(self, b: arb) -> arb:
        """A bound of ∫|h′|."""
        top = float(b.max(arb(0))) + _STEER_REACH * float(self.sigma)
        edges = [arb(float(v)) for v in self.part._edges(top, 8)]
        total = arb(0)
        for left, right in pairwise(edges):
            near, far = ((left + 0.5) / self.sigma, (right + 0.5) / self.sigma)
            at = right if b >= 0 else left
            held = self.rest * (-left / self.variance).exp() / self.gamma + 1
            total += (
                (normal_tail(near) - normal_tail(far))
                * self._power(at, b)
                * (held * (right + 1.5) + abs(b + 1))
            )
        last = edges[-1]
        edge = self.variance * self.part._density(last) * self._power(last, b)
        rest = edge + (1 + b.max(arb(0)) + abs(b + 1)) * self._tail(last, b)
        return total + rest / self.gamma

    def _power(self, v: arb, b: arb) -> arb:
        """R^b"""
        return (b * (self.gamma * (v / self.variance).expm1()).log1p()).exp()

    def add(self, v: arb, weight: arb, losses: list[arb], weights: list[arb]) -> None:
        """The node of either sign."""
        loss = (self.gamma * (v / self.variance).expm1()).log1p()
        mass = weight * self.part._density(v)
        for b, signed in zip(self.powers, (loss, -loss), strict=True):
            losses.append(signed)
            weights.append(mass * (b * loss).exp())

    def quadrature_error(self, middle: arb, half: arb, ellipse: arb, count: int) -> arb:
        """What Gauss's rule is off by on a panel, both terms together.

        In the ellipse |Im v|/σ² <= θ <= π/2, so 1−γ+γe^w cos θ <= |R| <= 1−γ+γe^w, and arg R is
        largest at the right end.
        """
        reach, height = half * (ellipse + 1 / ellipse) / 2, half * (ellipse - 1 / ellipse) / 2
        theta = height / self.variance
        if not theta <= arb.pi() / 2:
            return arb.pos_inf()
        left, edge = (
            ((middle - reach) / self.variance).exp(),
            ((middle + reach) / self.variance).exp() * self.gamma,
        )
        most = (self.rest + edge).log()
        least = (self.rest + self.gamma * left * theta.cos()).log()
        angle = acb(self.rest + edge * theta.cos(), edge * theta.sin()).arg()
        turned = self.decay_constants * angle * (1 + arb(2) ** -40)
        nearest = (middle - reach + arb(0.5)).max(arb(0))
        exponent = turned + (height**2 - nearest**2) / (2 * self.variance)
        grown = sum(((b * most).max(b * least) + exponent).exp() for b in self.powers)
        grown /= (2 * arb.pi()).sqrt() * self.sigma
        return arb(64) / 15 * half * grown * ellipse ** (-2 * count) / (1 - ellipse**-2)

    def tail_integral(self, v: arb) -> arb:
        """∫ Q(R^a + R^{1−a}) from there on."""
        return sum((self._tail(v, b) for b in self.powers), arb(0))

    def _tail(self, v: arb, b: arb) -> arb:
        """∫ QR^b from there on: R <= e^w(γ+(1−γ)e^{−w₁}) tilts Q to N(b, σ²)."""
        x = v + arb(0.5)
        if b <= 0:
            return normal_tail(x / self.sigma)
        log_share = (self.gamma + self.rest * (-v / self.variance).exp()).log()
        log_tilt = (b * b - b) / (2 * self.variance) + b * log_share
        return tilted_tail(log_tilt, (x - b) / self.sigma)
