"""Noise on samples of fixed size has a loss that dominates a record's replacement.

The third loss, of three means, bounds from below. `need`, `far` and `slack` are in the units of
profile/part.py, and all logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb, ctx

from symacct.analysis.triangles import BellMajorant, PlaneRule, Triple, rows_of, shifted_planes
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import (
    ball,
    legendre,
    legendre_floats,
    normal_tail,
    tilted_tail,
    up_to,
)
from symacct.kernel.errors import LimitError
from symacct.kernel.exact import Exact
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.losses.summed import End, Sample, SummedLoss, fixed_size_hockey_stick
from symacct.profile.part import Floats, OrderLine, rounded_down
from symacct.profile.written_laws import Write, WrittenLaws, laplaces, normals, of_fixed_size

if TYPE_CHECKING:
    from symacct.profile.losses.laplace import LaplaceLoss


# --- Gaussian noise
#
# The dominating pair of Gaussian noise on a sample of fixed size, a record replaced.
#
# Right of ½ the laws are (1−γ)Q + γP and Q, P = N(1, σ²) and Q = N(0, σ²); left of it they are
# the mirror image, P and (1−γ)P + γQ; what is left of both is one outcome without loss. With
# R = 1−γ+γe^{v/σ²}, v = x − ½,
#
# F(z) = (1−γ)TV(P, Q) + ∫_0^∞ Q(½+v)(R^z + R^{1−z}) dv (docs/proofs/losses.md, Lemma
# glued-gaussian).

#: A panel's ellipse is chosen from these, each by its half axes' sum over half the panel. Each has
#: its bound; the best one saves nodes.
_ELLIPSES = np.geomspace(1.1, 12.0, 40)
#: A panel is 1.5σ long, or 1.5σ² where that is less, σ over Δ: so far QR^z is nearly a polynomial.
#: Each panel's error is bounded: it costs time alone.
_PANEL_IN_DEVIATIONS = 1.5
#: Panels that steer go 9σ beyond the farthest order, with so many nodes on each.
_STEERING_DEVIATIONS, _STEERING_POINTS = 9.0, 24
#: The panels of an outcome are so many at most; longer ones have wider bounds, or none. They take
#: time.
_MOST_PANELS = 2000
#: The number of nodes keeps so many leading bits, rounded up, so that few rules serve many panels.
#: It costs time alone.
_RULE_BITS = 4  # of the number of nodes on a panel
#: A panel that needs more nodes is cut: the roots of a long rule take longer than sums over them.
_MOST_POINTS = 64


@dataclass(frozen=True)
class FixedSizeGaussian(SummedLoss):
    """Gaussian noise on a sample of fixed size has `variance` = σ²/Δ², `gamma` of the records.

    0 < γ < 1. Both directions are one.
    """

    variance: Exact
    gamma: Exact

    decays_slowly = True

    # --- float64: where to look

    @property
    def _floats(self) -> tuple[float, float]:
        """σ²/Δ² and γ."""
        return float(self.variance), float(self.gamma)

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return log of Q's masses, and losses: at nodes right of ½, mirrored, and of the rest."""
        variance, gamma = self._floats
        sigma = math.sqrt(variance)
        edges = self._edges(max(highest_order, 1 - lowest_order) + _STEERING_DEVIATIONS * sigma)
        nodes, weights = legendre_floats(_STEERING_POINTS)
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
        """List the ends of the panels in v from 0 to `top`, each `finer` times shorter."""
        variance, _ = self._floats
        width = _PANEL_IN_DEVIATIONS * min(math.sqrt(variance), variance) / finer
        return np.linspace(0.0, top, min(math.ceil(top / width), _MOST_PANELS) + 1)

    def _rule(self, a: float, far: float, need: float) -> tuple[Floats, Floats, list[int]]:
        """Choose panels, and of each the ellipse and how many nodes it needs.

        Next to 0 the loss hardly turns, so that a panel needs few of them. Where it needs many it
        is cut. What is chosen is estimated; `_sample` proves the error of any choice.
        """
        sigma = math.sqrt(self._floats[0])
        farthest = max(a, 1 - a, 0.5)
        edges = self._edges(rounded_down(farthest + sigma * math.sqrt(2 * (need + 3))))
        ellipses, counts = self._ellipses(edges, a, far, need)
        finite = np.where(np.isfinite(counts), counts, 1)
        pieces = np.maximum(np.ceil(finite / _MOST_POINTS), 1).astype(int)
        if pieces.max() > 1:
            inner = [
                np.linspace(low, high, count, endpoint=False)
                for low, high, count in zip(edges[:-1], edges[1:], pieces.tolist(), strict=True)
            ]
            edges = np.concatenate([*inner, edges[-1:]])
            ellipses, counts = self._ellipses(edges, a, far, need)
        return edges, ellipses, [_few_rules(float(count)) for count in counts]

    def _ellipses(self, edges: Floats, a: float, far: float, need: float) -> tuple[Floats, Floats]:
        """Choose the ellipse of each panel that needs the fewest nodes, and estimate how many."""
        variance, gamma = self._floats
        sigma = math.sqrt(variance)
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
        return _ELLIPSES[np.argmin(counts, axis=1)], counts.min(axis=1)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value, on both sides of 0."""
        _, _, counts = self._rule(line.a, line.h * line.last, need)
        return 2 * sum(counts)

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by Gauss's rule on panels of the outcome."""
        return _sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """Bound |F| far out by parts: the mass without loss, and the variation of h.

        Of h = Q R^b/(log R)′ = (σ²/γ)Q R^{b+1}e^{−w}, b = a and 1−a, h(0) and the variation, as
        |h′| <= Q R^b(((1−γ)e^{−w}+γ)(x+1)/γ + |b+1|). Cells take each factor at the end where it is
        larger; beyond them ∫xQR^b <= σ²QR^b + max(b, 0)∫QR^b.
        """
        frame = _Frame(self, a, 0.0)
        return [(self.uninformative_mass(), frame.end + sum(map(frame.variation, frame.powers)))]

    def uninformative_mass(self) -> arb:
        """Compute (1−γ)TV(P, Q), the mass of the outcome whose loss is 0."""
        variance = BALL.number(self.variance)
        return BALL.number(1 - self.gamma) * (1 / (8 * variance).sqrt()).erf()

    def _density(self, v: arb) -> arb:
        """Compute the density Q(½+v)."""
        variance = BALL.number(self.variance)
        return (-((v + arb(0.5)) ** 2) / (2 * variance)).exp() / (2 * arb.pi() * variance).sqrt()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by the mixture of one record, either way round."""
        return fixed_size_hockey_stick(SampledGaussian(self.variance, self.gamma), y)

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both laws, glued of a mixture and its mirror image."""
        return of_fixed_size(*normals(self.variance, write), self.gamma, write)


def _few_rules(count: float) -> int:
    """Round a number of nodes up, so that few of Gauss's rules serve all panels."""
    step = 1 << max(0, math.ceil(count).bit_length() - _RULE_BITS)
    return max(4, step * math.ceil((count + 1) / step))


@lru_cache(16)
def _sample(part: FixedSizeGaussian, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum by Gauss's rule on each panel, and bound its error and the tail.

    `bits` is flint's current precision, for the memory.
    """
    edges, ellipses, counts = part._rule(a, far, need)
    frame = _Frame(part, a, far)
    losses, weights = [arb(0)], [part.uninformative_mass()]
    error = frame.tail_integral(arb(float(edges[-1])))
    for low, high, ellipse, count in zip(edges[:-1], edges[1:], ellipses, counts, strict=True):
        deadline.check()
        middle, half = (
            (arb(float(high)) + arb(float(low))) / 2,
            (arb(float(high)) - arb(float(low))) / 2,
        )
        for node, weight in legendre(count, bits):
            frame.add(middle + half * node, half * weight, losses, weights)
        error += frame.quadrature_error(middle, half, arb(float(ellipse)), count)
    return Sample(losses, weights, error)


class _Frame:
    """A frame holds the parameters in balls, for one real part of the order and |t| <= far."""

    def __init__(self, part: FixedSizeGaussian, a: float, far: float) -> None:
        self.part, self.far = part, arb(far)
        self.powers = arb(a), 1 - arb(a)
        self.gamma, self.rest = BALL.number(part.gamma), BALL.number(1 - part.gamma)
        self.variance = BALL.number(part.variance)
        self.sigma = self.variance.sqrt()

    @property
    def end(self) -> arb:
        """Compute h(0) of both terms together, h = (σ²/γ)Q R^{b+1}e^{−w}."""
        return 2 * self.variance / self.gamma * self.part._density(arb(0))

    def variation(self, b: arb) -> arb:
        """Bound ∫|h′| over v >= 0 for the power b of R."""
        top = float(b.max(arb(0))) + _STEERING_DEVIATIONS * float(self.sigma)
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
        """Compute R^b at v."""
        return (b * (self.gamma * (v / self.variance).expm1()).log1p()).exp()

    def add(self, v: arb, weight: arb, losses: list[arb], weights: list[arb]) -> None:
        """Append the loss and the weight of a node at v and of its mirror image."""
        loss = (self.gamma * (v / self.variance).expm1()).log1p()
        mass = weight * self.part._density(v)
        for b, signed in zip(self.powers, (loss, -loss), strict=True):
            losses.append(signed)
            weights.append(mass * (b * loss).exp())

    def quadrature_error(self, middle: arb, half: arb, ellipse: arb, count: int) -> arb:
        """Bound what Gauss's rule is off by on a panel, both terms together.

        In the ellipse |Im v|/σ² <= θ <= π/2, so 1−γ+γe^w cos θ <= |R| <= 1−γ+γe^w, and arg R is
        largest at the right end. ∞ where the ellipse is too high for that.
        """
        reach, height = half * (ellipse + 1 / ellipse) / 2, half * (ellipse - 1 / ellipse) / 2
        theta = height / self.variance
        if not theta <= arb.pi() / 2:
            return arb.pos_inf()
        left, edge = (
            ((middle - reach) / self.variance).exp(),
            ((middle + reach) / self.variance).exp() * self.gamma,
        )
        largest_log_modulus = (self.rest + edge).log()
        smallest_log_modulus = (self.rest + self.gamma * left * theta.cos()).log()
        angle = acb(self.rest + edge * theta.cos(), edge * theta.sin()).arg()
        turned = self.far * angle * (1 + arb(2) ** -40)
        nearest = (middle - reach + arb(0.5)).max(arb(0))
        exponent = turned + (height**2 - nearest**2) / (2 * self.variance)
        grown = sum(
            ((b * largest_log_modulus).max(b * smallest_log_modulus) + exponent).exp()
            for b in self.powers
        )
        grown /= (2 * arb.pi()).sqrt() * self.sigma
        return arb(64) / 15 * half * grown * ellipse ** (-2 * count) / (1 - ellipse**-2)

    def tail_integral(self, v: arb) -> arb:
        """Bound ∫ Q(R^a + R^{1−a}) from v on."""
        return sum((self._tail(v, b) for b in self.powers), arb(0))

    def _tail(self, v: arb, b: arb) -> arb:
        """Bound ∫ QR^b from v >= 0 on: R <= e^w(γ+(1−γ)e^{−w(v)}) tilts Q to N(b, σ²)."""
        x = v + arb(0.5)
        if b <= 0:
            return normal_tail(x / self.sigma)
        log_share = (self.gamma + self.rest * (-v / self.variance).exp()).log()
        log_tilt = (b * b - b) / (2 * self.variance) + b * log_share
        return tilted_tail(log_tilt, (x - b) / self.sigma)


# --- Laplace noise
#
# The dominating pair of Laplace noise on a sample of fixed size, a record replaced.
#
# Scale 1, shift s, R(x) = 1−γ+γe^{2x−s}. Right of s/2 the laws are (1−γ)Q + γP and Q, left of it
# the mirror image; what is left of both is one outcome without loss. With TV = 1 − e^{−s/2}
#
# F(z) = (1−γ)TV + ½e^{−s}(R(s)^z + R(s)^{1−z}) + ∫_{s/2}^s ½e^{−x}(R^z + R^{1−z}) dx
# (docs/proofs/losses.md, Lemma glued-laplace).

#: Moments that steer are summed over so many of Gauss's nodes on [s/2, s].
_LAPLACE_STEERING_POINTS = 96
#: The ellipse about [s/2, s] is chosen from these, each by its half axes' sum over s/4. Each has
#: its bound; the best one saves nodes.
_LAPLACE_ELLIPSES = np.geomspace(1.02, 60.0, 60)


@dataclass(frozen=True)
class FixedSizeLaplace(SummedLoss):
    """Laplace noise on a sample of fixed size is given by its `mixture` on a Poisson sample.

    The mixture's rate is the share of the records, 0 < γ < 1. Both directions are one.
    """

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

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return log of Q's masses, and the losses: on [s/2, s], of its mirror image, of the rest.

        On [s/2, s] there are Gauss's nodes and then the atom at s. They serve all orders.
        """
        s, gamma = float(self.shift), float(self.gamma)
        nodes, weights = legendre_floats(_LAPLACE_STEERING_POINTS)
        x = np.append(s * (3 + nodes) / 4, s)
        log_q = np.log(np.append(s / 8 * weights * np.exp(-x[:-1]), math.exp(-s) / 2))
        loss = np.log1p(gamma * np.expm1(2 * x - s))
        rest = math.log((1 - gamma) * -math.expm1(-s / 2))
        return (
            np.concatenate([log_q, log_q + loss, [rest]]),
            np.concatenate([loss, -loss, [0.0]]),
        )

    def _rule(self, a: float, far: float, need: float) -> tuple[float, int]:
        """Choose the ellipse and the fewest nodes for an error of about e^{−need} F(a)."""
        s, gamma = float(self.shift), float(self.gamma)
        log_moment = float(self.float_moments(np.array([a]))[0][0])
        reach, theta = (
            s * (_LAPLACE_ELLIPSES + 1 / _LAPLACE_ELLIPSES) / 8,
            s * (_LAPLACE_ELLIPSES - 1 / _LAPLACE_ELLIPSES) / 4,
        )
        left, right = s / 2 - 2 * reach, s / 2 + 2 * reach
        safe = np.minimum(theta, 1.5)
        largest_log_modulus = np.log1p(gamma * np.expm1(right))
        smallest_log_modulus = np.log(1 - gamma + gamma * np.exp(left) * np.cos(safe))
        angle = np.angle(1 - gamma + gamma * np.exp(right + 1j * safe))
        powers = (
            b * end for b in (a, 1 - a) for end in (largest_log_modulus, smallest_log_modulus)
        )
        height = np.maximum.reduce(list(powers)) + far * angle + reach - 3 * s / 4
        wanted = need + 4 + height - log_moment - np.log1p(-(_LAPLACE_ELLIPSES**-2.0))
        counts = np.where(theta < safe + 1e-9, wanted / (2 * np.log(_LAPLACE_ELLIPSES)), np.inf)
        best = int(np.argmin(counts))
        return float(_LAPLACE_ELLIPSES[best]), max(4, math.ceil(float(counts[best])) + 2)

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value on both sides, and three atoms."""
        return 3 + 2 * self._rule(line.a, line.h * line.last, need)[1]

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by Gauss's rule between the atoms."""
        return _laplace_sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """Bound |F| far out by the atoms, and by parts 2(h(s/2) + h(s)) of either power b.

        h = e^{s−3x}R^{b+1}/4γ, and (log h)′ = −3 + 2(b+1)γe^{2x−s}/R changes its sign at most once,
        from − to +.
        """
        s, gamma = BALL.number(self.shift), BALL.number(self.gamma)
        top, atoms, falling = self.largest(False), self.uninformative_mass(), arb(0)
        for b in (arb(a), 1 - arb(a)):
            atoms += (b * top - s).exp() / 2
            falling += ((-s / 2).exp() + ((b + 1) * top - 2 * s).exp()) / (2 * gamma)
        return [(atoms, falling)]

    def uninformative_mass(self) -> arb:
        """Compute (1−γ)TV(P, Q), the mass of the outcome whose loss is 0."""
        return -BALL.number(1 - self.gamma) * (-BALL.number(self.shift) / 2).expm1()

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) by the mixture of one record, either way round."""
        return fixed_size_hockey_stick(self.mixture, y)

    def largest(self, reverse: bool) -> arb:
        """Enclose log(1−γ+γe^s), the largest loss in either direction."""
        return self.mixture.largest(False)

    def in_latex(self, write: Write) -> WrittenLaws:
        """Write both laws, glued of a mixture and its mirror image."""
        return of_fixed_size(*laplaces(self.shift, write), self.gamma, write)


@lru_cache(16)
def _laplace_sample(part: FixedSizeLaplace, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum over the atoms, and by Gauss's rule on [s/2, s]."""
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
    """Bound what the rule is off by for both powers, as in `laplace._sample`.

    ∞ where the ellipse, of half axes' sum `rho`, is too high for the bound of |R|.
    """
    s, gamma = BALL.number(part.shift), BALL.number(part.gamma)
    reach, theta = s * (rho + 1 / rho) / 8, s * (rho - 1 / rho) / 4
    if not theta <= arb.pi() / 2:
        return arb.pos_inf()
    left, edge = (s / 2 - 2 * reach).exp(), gamma * (s / 2 + 2 * reach).exp()
    largest_log_modulus, smallest_log_modulus = (
        (1 - gamma + edge).log(),
        (1 - gamma + gamma * left * theta.cos()).log(),
    )
    angle = acb(1 - gamma + edge * theta.cos(), edge * theta.sin()).arg()
    turned = arb(far) * angle * (1 + arb(2) ** -40) + reach - 3 * s / 4
    powers = (
        ((b * largest_log_modulus).max(b * smallest_log_modulus) + turned).exp() / 2
        for b in (arb(a), 1 - arb(a))
    )
    return arb(64) / 15 * s / 4 * sum(powers, arb(0)) * rho ** (-2 * count) / (1 - rho**-2)


# --- equilateral triangles
#
# The pair of Gaussian noise on a sample of fixed size whose three means are equally far apart.
#
# Each record's answer is a point of the plane, x's and x′'s and all others' δ = Δ/σ apart. With q =
# N(0, I), m = 1−γ+γX and n = 1−γ+γY, X and Y the densities of the shifted laws over q, the laws
# are mq and nq, and F(z) = E_q[m^z n^{1−z}] (docs/proofs/losses.md, Lemma three-means). Nobody's
# profile may be smaller than that of a mechanism that fits the description: a lower bound.

#: A plane is shifted by a pair of these heights, in deviations, for a bound of the aliases. Each
#: has its bound; the best one saves nodes.
_HEIGHTS = np.geomspace(1e-3, 40, 90)
#: A shift turns m and n by less than this angle in radians: at π/2 the bound of |m| fails.
_WIDEST_ANGLE = 1.5
#: Moments that steer are summed over a square grid of this step, so far beyond the means; both are
#: in deviations. A plane that reaches so far from its middle is also what the nodes of a moment
#: far out are estimated for, of which more than `_MOST_FAR_NODES` are refused.
_STEERING_STEP, _STEERING_DEVIATIONS_OF_PLANE = 0.4, 8.5
#: Bounds are worked out at this many bits, of fewer they are wider; `below` asks for 54 at least.
_BOUND_BITS = 64
#: The plane is cut at so many levels of X and Y, where arg m and arg n are bounded one by one. More
#: are sharper, and take longer.
_LEVELS = 48
#: More nodes than these, of a moment far out and of one that steers, are refused by a LimitError.
_MOST_FAR_NODES, _MOST_STEERING_NODES = 200_000, 100_000
#: Far out F is bounded above one of these y alone, in deviations, where that is the best bound.
#: Each bound is proved.
_STARTS = (-40.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
#: m^a is split by convexity with one of these weights w of (γX)^a, where that is the best bound.
#: Each bound is proved.
_SHARES = tuple(float(w) for w in np.geomspace(1e-4, 0.5, 14))
#: f″ is bounded by bells of which that about 0 has one of these weights, whichever bounds it best.
#: Each bound is proved.
_WEIGHTS = (0.25, 0.5, 0.7, 0.85, 0.95, 0.99)


# Proved in docs/proofs/triples.md, Lemmas smooth-class, one-edge and equilateral.
@dataclass(frozen=True)
class Equilateral(SummedLoss):
    """Three means equally far apart have `delta` = Δ/σ and the share `gamma` in (0, 1).

    Orders are at least 1. Its profile is known where many runs are summed; that of one run is a
    bound but at y = 0 (`hockey_stick`).
    """

    delta: Fraction
    gamma: Fraction

    lowest_order = 1.0
    refuses_far_orders = True

    def triple(self, a: float) -> Triple:
        """Make the integrand φm^a n^{1−a} at a real order a."""
        half = self.delta / 2
        return Triple(Fraction(a), self.gamma, half, -half, self.delta**2 - half**2)

    # --- float64: where to look

    def floats(self, lowest_order: float, highest_order: float) -> tuple[Floats, Floats]:
        """Return log of Q's masses, and losses, on a grid of the plane about the tilted means."""
        reach = max(highest_order, 1 - lowest_order)
        half, rise = float(self.delta) / 2, math.sqrt(3) / 2 * float(self.delta)
        margin = _STEERING_DEVIATIONS_OF_PLANE
        z = np.arange(0, reach * half + margin, _STEERING_STEP)
        z = np.concatenate([-z[:0:-1], z])[:, None]
        y = np.arange(-margin, reach * rise + margin, _STEERING_STEP)[None, :]
        _refuse_many(z.size * y.size, _MOST_STEERING_NODES)
        log_m, log_n = self._log_laws(z, y)
        log_q = -(z * z + y * y) / 2 + math.log(_STEERING_STEP**2 / (2 * math.pi))
        return (log_n + log_q).ravel(), (log_m - log_n).ravel()

    def _log_laws(self, z: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Compute log m and log n in float64."""
        delta, gamma = float(self.delta), float(self.gamma)
        across = math.sqrt(3) / 2 * delta * y - delta**2 / 2
        rest, log_gamma = math.log1p(-gamma), math.log(gamma)
        return (
            np.logaddexp(rest, log_gamma + across + delta / 2 * z),
            np.logaddexp(rest, log_gamma + across - delta / 2 * z),
        )

    def rule(self, a: float, far: float, need: float) -> tuple[PlaneRule, BellMajorant]:
        """Choose steps and heights, and the bells that bound the integrand, at orders a + it.

        |t| <= `far`, in units of the order; an error of about e^{−need}F(a) is wanted. The choice
        is of float64 and may miss it: `_equilateral_sample` proves the error of any rule.
        """
        log_moment, half = float(self.float_moments(np.array([a]))[0][0]), float(self.delta) / 2
        log_tolerance = log_moment - need - 4
        bound = BellMajorant.best(self.triple(a), log_tolerance)
        d, e = _HEIGHTS[:, None], _HEIGHTS[None, :]
        angle = half * d + math.sqrt(3) * half * e
        safe = np.minimum(angle, _WIDEST_ANGLE)
        angles = np.geomspace(float(safe.min()), _WIDEST_ANGLE, 60)
        tabled = [self._log_turned(bound, far * math.tan(x / 2) * 4) for x in angles]
        turned = np.interp(safe, angles, tabled)
        cost = need + 5 + (d * d + e * e) / 2 - a * np.log(np.cos(safe / 2)) + turned
        size = np.where(angle < _WIDEST_ANGLE, d * e / cost**2, -1.0)
        best = np.unravel_index(np.argmax(size), size.shape)
        heights = float(_HEIGHTS[best[0]]), float(_HEIGHTS[best[1]])
        first, second = (
            rounded_down(2 * math.pi * height / float(cost[best])) for height in heights
        )
        return PlaneRule((first, second), heights, log_tolerance), bound

    def _log_turned(self, bound: BellMajorant, turn: float) -> float:
        """Estimate log of `_turned`/F(a), for bells over F(a)."""
        delta, gamma = float(self.delta), float(self.gamma)
        log_x = self.levels(turn)
        share = 1 / (1 + (1 - gamma) / gamma * np.exp(-log_x))
        beyond = np.full_like(log_x, -np.inf)
        for bell in bound.bells:
            start = float(bell.centre[0].mid()) * delta / 2
            start += float(bell.centre[1].mid()) * delta * math.sqrt(3) / 2
            away = np.maximum((log_x + delta**2 / 2 - start) / delta, 0.0)
            beyond = np.logaddexp(beyond, float(bell.log_factor.mid()) - away**2 / 2)
        above = np.append(turn * share[1:], turn) + beyond
        return float(np.logaddexp.reduce([turn * float(share[0]), *above]))

    def cells(self, a: float, far: float, need: float) -> PlaneRule:
        """Choose square cells whose midpoints' sum is off by about e^{−need} F(a), by estimates."""
        log_moment = float(self.float_moments(np.array([a]))[0][0])
        with ctx.workprec(_BOUND_BITS):
            bent = sum(float(x.mid()) for x in self.curvature_bounds(a, far))
        step = rounded_down(min(0.5, math.sqrt(4 * math.exp(log_moment - need) / bent)))
        return PlaneRule((step, step), (1.0, 1.0), log_moment - need - 4)

    def curvature_bounds(self, a: float, far: float) -> tuple[arb, arb]:
        """Bound ∫|f_zz| and ∫|f_yy|, f = φm^a n^{1−a}e^{itL}, |t| <= far, by some bells."""
        triple = self.triple(a)
        bounds = (BellMajorant.weighted(triple, math.log(w)) for w in _WEIGHTS)
        bents = (self._curvature_bound_by(bound, arb(a), arb(far)) for bound in bounds)
        return min(bents, key=lambda both: float((both[0] + both[1]).mid()))

    def _curvature_bound_by(self, bound: BellMajorant, a: arb, t: arb) -> tuple[arb, arb]:
        """Bound both integrals by the bells above |f|.

        |f_zz| <= |f|(2s_z² + 2t²L_z² + |s_zz| + t|L_zz|), s = log|f|, and so in y; the slopes of
        log m and log n are p_m and p_n times at most δ, p_m <= min(γX/(1−γ), 1).
        """
        delta, odds = ball(self.delta), ball(self.gamma / (1 - self.gamma))
        square, first, second = delta**2, arb(0), arb(0)
        for bell in bound.bells:
            z, y = bell.centre
            logs = [(y * arb(3).sqrt() + sign * z) * delta / 2 for sign in (1, -1)]  # a·c, b·c
            shares = (odds * sum((x.exp() for x in logs), arb(0))).min(arb(2))
            squares = odds**2 * sum(((2 * x + square).exp() for x in logs), arb(0))
            squares = squares.min(arb(2))
            size, bends = bell.log_factor.exp(), 1 + a * square / 2 + t * square * shares
            first += size * (4 * (z * z + 1) + (2 * a * a + t * t) * square * squares + bends)
            turned = (3 * a * a + arb(3) / 2 * t * t) * square * squares
            second += size * (4 * (y * y + 1) + turned + bends)
        return first, second

    def levels(self, turn: float) -> Floats:
        """List log x, by which the plane is cut where X or Y is above x: evenly, from 0 on."""
        deviations = np.linspace(0.0, 3 + math.sqrt(2 * turn + 100), _LEVELS)
        return np.asarray(float(self.delta) * deviations)

    def terms(self, line: OrderLine, need: float) -> int:
        """Estimate the nodes; LimitError where bounds of far moments would take too many."""
        rule, _ = self.rule(line.a, line.h * line.last, need)
        if line.last:
            self._refuse_dear(line.a)
        reach = 2 * math.sqrt(2 * max(need, 1.0)) + line.a * float(self.delta)
        return math.ceil(math.prod(reach / step for step in rule.steps))

    def _refuse_dear(self, a: float) -> None:
        """Raise LimitError where the moments that bound F far out take too many nodes."""
        _refuse_many(_far_nodes(self, a), _MOST_FAR_NODES)

    def log_decay(self, a: float, t: float) -> float:
        """Estimate the bound of log|F| beyond t; LimitError where moments that bound it are dear.

        So a plan is refused before the table of |F| is made, which takes a second.
        """
        self._refuse_dear(a)
        return super().log_decay(a, t)

    # --- balls: what is proved

    def sample(self, a: float, far: float, need: float) -> Sample:
        """Make nodes for orders a + it by a lattice on the plane."""
        return _equilateral_sample(self, a, far, need, ctx.prec)

    def decay_constants(self, a: float, moment: arb) -> list[End]:
        """Bound |F| far out, by parts in z.

        L rises with L_z = (δ/2)(p_m+p_n), |L_zz| <= (δ/2)L_z, and the logarithm of g = φm^a n^{1−a}
        has a slope of at most |z| + (δ/2)(a p_m + (a−1)p_n). So |F| t <= ∫g((|z|+δ/2)/L_z + a), and
        1/(p_m+p_n) <= 1 + ((1−γ)/γ)e^{δ²/2−ry}. Or so above some y alone, where that is not large,
        and below it ∫g.
        """
        constants = []
        for start in _STARTS:
            halves = [self._halved(arb(a), arb(share), arb(start)) for share in _SHARES]
            below = BALL.minimum(*(below for below, _ in halves))
            steep = BALL.minimum(*(steep for _, steep in halves))
            constants.append((below, steep * 2 / ball(self.delta) + arb(a) * moment))
        return constants

    def _halved(self, a: arb, share: arb, start: arb) -> tuple[arb, arb]:
        """Bound E_q[g; y < start] and E_q[g(|z|+δ/2)(1 + odds e^{−ry}); y >= start].

        g = m^a n^{1−a}, n >= 1−γ, and m^a <= (1−w)^{1−a}(1−γ)^a + w^{1−a}(γX)^a, 0 < w < 1, by
        convexity; X^a tilts q to z ~ N(aδ/2, 1), y ~ N(ar, 1).
        """
        delta, gamma = ball(self.delta), ball(self.gamma)
        rest, rise = 1 - gamma, arb(3).sqrt() / 2 * delta
        odds, below, steep = rest / gamma * (delta**2 / 2).exp(), arb(0), arb(0)
        for part, mass, b in ((1 - share, rest, arb(0)), (share, gamma, a)):
            log_size = (1 - a) * (part * rest).log() + a * mass.log() + (b * b - b) * delta**2 / 2
            away, middle = (1 + (b * delta / 2) ** 2).sqrt() + delta / 2, b * rise
            fallen = odds * (rise**2 / 2 - b * rise**2).exp() * normal_tail(start - middle + rise)
            steep += log_size.exp() * away * (normal_tail(start - middle) + fallen)
            below += log_size.exp() * normal_tail(middle - start)
        return below, steep

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute γTV at 0; elsewhere bound it by 0 and the largest of one run, the mixture's."""
        gamma = ball(self.gamma)
        if y == 0:
            return gamma * (ball(self.delta) / arb(8).sqrt()).erf()
        largest = SampledGaussian(1 / self.delta**2, self.gamma).hockey_stick(abs(y), False)
        below = (-y.expm1()).max(arb(0))
        return below + up_to(y.exp().max(arb(1)) * largest)


def _refuse_many(nodes: float, most: int) -> None:
    """Raise LimitError for more than `most` nodes of a moment."""
    if not nodes <= most:
        raise LimitError(
            f"a lower bound by three means: found about {nodes:.0e} nodes of its moments, the "
            f"limit is {most:.0e}; needed more noise, or more runs"
        )


@lru_cache(64)
def _far_nodes(part: Equilateral, a: float) -> float:
    """Estimate how many nodes the moments take that bound F far out."""
    moment = math.exp(float(part.float_moments(np.array([a]))[0][0]))
    ends = ((float(x.mid()), float(y.mid())) for x, y in part.decay_constants(a, arb(moment)))
    end = min(falling / (moment - below) for below, falling in ends if below < moment)
    sides = (2 * _STEERING_DEVIATIONS_OF_PLANE / step for step in part.cells(a, end, 1.0).steps)
    return math.prod(sides)


@lru_cache(16)
def _equilateral_sample(part: Equilateral, a: float, far: float, need: float, bits: int) -> Sample:
    """Sum by trapezoids, or far away and for few digits by the midpoints of wide cells."""
    rule, bound = part.rule(a, far, need)
    cells = part.cells(a, far, need)
    if math.prod(cells.steps) > math.prod(rule.steps):
        return _summed(part, a, cells, bound, lambda _: _off_midpoints(part, a, far, cells))
    return _summed(part, a, rule, bound, lambda total: _aliases(part, a, far, bound, rule, total))


def _summed(
    part: Equilateral, a: float, rule: PlaneRule, bound: BellMajorant, error: Callable[[arb], arb]
) -> Sample:
    """Sum over nodes of the plane. `error` bounds what all nodes are off by, given their total.

    What is cut off from them is bounded and added.
    """
    rows = list(rows_of(rule, bound))
    losses, weights = [], []
    for loss, weight in _nodes(part, arb(a), rule, rows):
        losses.append(loss)
        weights.append(weight)
    with ctx.workprec(_BOUND_BITS):
        left_out = bound.left_out(rule, rows)
        return Sample(losses, weights, left_out + error(sum(weights, arb(0)) + left_out))


def _aliases(
    part: Equilateral, a: float, far: float, bound: BellMajorant, rule: PlaneRule, total: arb
) -> arb:
    """Bound what the trapezoidal rule is off by: the integrals of |f| over shifted planes.

    `total` is at least the sum of |f| over all nodes. ∞ where the steps or heights are too wide.
    """
    delta, rise = ball(part.delta), arb(3).sqrt() / 2 * ball(part.delta)
    theta = delta / 2 * arb(rule.heights[0]) + rise * arb(rule.heights[1])
    share = shifted_planes((delta / 2, -delta / 2, rise), arb(a), rule)
    if not (share < 1 and theta < arb.pi() / 2):
        return arb.pos_inf()
    return share * _turned(part, bound, 4 * arb(far) * (theta / 2).tan(), total / (1 - share))


def _off_midpoints(part: Equilateral, a: float, far: float, cells: PlaneRule) -> arb:
    """Bound (h²/8)∫|f″| in each coordinate; any row of a bell's sum is at most 1 + h of it."""
    h, across = (arb(step) for step in cells.steps)
    first, second = part.curvature_bounds(a, far)
    return (h * h * (1 + across) * first + across * across * second) / 8


def _turned(part: Equilateral, bound: BellMajorant, turn: arb, moment: arb) -> arb:
    """Bound ∫φm^a n^{1−a}e^{t(|arg m|+|arg n|)} on the shifted planes.

    |arg m| <= 2p tan(θ/2), p = γX/m. Where X, Y <= x both p are at most γx/(1−γ+γx), so level by
    level; X > x and Y > x are half-planes, and the bells bound the integrand.
    """
    delta, gamma = ball(part.delta), ball(part.gamma)
    levels = [arb(float(log_x)) for log_x in part.levels(float(turn))]
    shares = [1 / (1 + (1 - gamma) / gamma * (-log_x).exp()) for log_x in levels]
    total = (turn * shares[0]).exp() * moment
    for log_x, share in zip(levels, [*shares[1:], arb(1)], strict=True):
        deadline.check()
        beyond = arb(0)
        for bell in bound.bells:
            across, up = bell.centre[0] * delta / 2, bell.centre[1] * arb(3).sqrt() / 2 * delta
            for start in (up + across, up - across):
                away = (log_x + delta**2 / 2 - start) / delta
                beyond += bell.log_factor.exp() * normal_tail(away)
        total += (turn * share).exp() * beyond
    return total


def _nodes(
    part: Equilateral, a: arb, rule: PlaneRule, rows: list[tuple[int, int, int]]
) -> Iterator[tuple[arb, arb]]:
    """Yield (log(m/n), h₁h₂φm^a n^{1−a}) at every node."""
    delta, gamma = ball(part.delta), ball(part.gamma)
    rest, rise = 1 - gamma, arb(3).sqrt() / 2 * delta
    step, across = arb(rule.steps[0]), arb(rule.steps[1])
    scale = step * across / (2 * arb.pi())
    for i, first, last in rows:
        deadline.check()
        z = step * i
        apart = (delta / 2 * z).exp()
        for j in range(first, last):
            y = across * j
            common = gamma * (rise * y - delta**2 / 2).exp()
            log_n = (rest + common / apart).log()
            loss = (rest + common * apart).log() - log_n
            yield loss, scale * (a * loss + log_n - (z * z + y * y) / 2).exp()


def below(ratio: Exact) -> Fraction:
    """Round √ratio down to a fraction, √ratio itself where that is one.

    A triangle of a smaller side has a smaller profile, so that it stays below the truth.
    """
    if isinstance(ratio, Fraction):
        roots = math.isqrt(ratio.numerator), math.isqrt(ratio.denominator)
        if (roots[0] ** 2, roots[1] ** 2) == (ratio.numerator, ratio.denominator):
            return Fraction(*roots)
    with ctx.workprec(_BOUND_BITS):
        # More is taken off than the ball, of 54 bits or more, and its rounding to a float are wide.
        return Fraction(float(BALL.number(ratio).sqrt()) * (1 - 2.0**-50))
