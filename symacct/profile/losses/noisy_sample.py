"""Several queries on one sample have one loss together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import float_above
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import legendre, legendre_floats, up_to
from symacct.profile.losses import sampled_gaussian
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.losses.mixed import Member, MixtureMoments
from symacct.profile.losses.sampled_gaussian import SampledFrame, SampledGaussian
from symacct.profile.losses.summed import float_moments_of_atoms
from symacct.profile.part import Floats, OrderLine, Part, ProfileOnly, Runs
from symacct.profile.solve import CompositionProfile
from symacct.profile.sums import sums_on_a_line
from symacct.profile.written_laws import Write, WrittenLaws, mixed, product

# --- one sample
#
# Several mechanisms run on one sample: (1−γ)Q + γP against Q, (P, Q) the product of their pairs.
#
# For a > 1−γ it has H_a = γH_b(P‖Q), b = (a−1+γ)/γ, and exchanged, for a(1−γ) < 1,
# H_a = (1−a(1−γ))H_c(Q‖P), c = γa/(1−a(1−γ)); else what is known of any pair, 1−a and 0. So one run
# has the digits that the product has, several are laid on a grid (docs/proofs/losses.md, Lemma
# sampled-products).

_SHARED_SAMPLE_BITS = 128  # for what steers
_STEERING, _FARTHEST = 128, 64.0  # places on either side, and losses
_LOST_BITS, _FEW_DIGITS = 24, 3.0  # of a value, by a place that is known to as many bits as it


@dataclass(frozen=True)
class OneSample(ProfileOnly):
    """Runs on one sample have the pair (1−γ)Q + γP against Q, (P, Q) the product of their pairs."""

    runs: Runs
    gamma: Exact

    symmetric = False
    is_costly = True
    may_be_chosen = False

    def sampled(self, gamma: Exact) -> Part:
        """This loss in a sample, where P is mixed once more."""
        return type(self)(self.runs, self.gamma * gamma)

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """On chords of the product's profile, whose tilted mean and variance are near its own."""
        return float_moments_of_atoms(orders, *_steering(self))

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute H_a of the sample by the product's: γH_b, or (1−a(1−γ))H_c exchanged."""
        rate, a = BALL.number(self.gamma), y.exp()
        if reverse:
            left = 1 - a * (1 - rate)
            if not left > 0:
                return up_to(left.max(arb(0)))
            return left * self._stick(rate * a / left, True)
        b = 1 + y.expm1() / rate
        if not b > 0:  # from 1 − a to what is more at the largest b
            return 1 - a + up_to(rate * b.max(arb(0)))
        return rate * self._stick(b, False)

    def _stick(self, b: arb, reverse: bool) -> arb:
        """Compute H_b of the product; below 1 by the exchanged pair, 1 − b + bH_{1/b}(Q‖P)."""
        is_below = bool(b < 1)
        direction, y = _direction(self.runs, reverse != is_below), abs(b.log())
        value = direction.value_without_contour(y)
        if not value.is_finite():
            digits = max(_FEW_DIGITS, (ctx.prec - _LOST_BITS) / 3.33)
            value = direction.delta(lambda: y, digits)
        return 1 - b + b * value if is_below else value

    def largest(self, reverse: bool) -> arb:
        """Enclose log(1−γ+γe^ℓ), ℓ the product's largest loss, or −log(1−γ+γe^{−ℓ}) if `reverse`.

        An outcome that Q alone has, ℓ = ∞ if `reverse`, has the finite loss −log(1−γ) for γ < 1.
        """
        rate, most = BALL.number(self.gamma), _direction(self.runs, reverse).runs.largest
        if reverse and self.gamma != 1 and self._mass_of_product_at_infinity(True) != 0:
            return -BALL.number(1 - self.gamma).log()
        if reverse:
            return -(rate * (-most).expm1()).log1p()
        return (rate * most.expm1()).log1p()

    def in_latex(self, write: Write) -> WrittenLaws | None:
        inner: list[tuple[WrittenLaws, int]] = []
        for part, count in self.runs:
            if (laws := part.in_latex(write)) is None:
                return None
            inner.append((laws, count))
        P = product((laws.P, count) for laws, count in inner)  # noqa: N806
        Q = product((laws.Q, count) for laws, count in inner)  # noqa: N806
        words = dict.fromkeys(line for laws, _ in inner for line in laws.words)
        return WrittenLaws(mixed(self.gamma, P, Q, write), Q, tuple(words))

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return γ times the product's mass; from Q's side 0 for γ < 1, where P has all of Q."""
        if reverse and self.gamma != 1:
            return Fraction(0)
        return self.gamma * self._mass_of_product_at_infinity(reverse)

    def _mass_of_product_at_infinity(self, reverse: bool) -> Exact:
        """Compute 1 − Π (1 − d_i)^{k_i}, d_i the mass at infinity of one run of a part."""
        kept: Exact = Fraction(1)
        for part, count in self.runs:
            kept *= (1 - part.mass_at_infinity(reverse)) ** count
        return 1 - kept


@lru_cache(16)
def _direction(runs: Runs, reverse: bool) -> CompositionProfile:
    """Return the product's profile, with the contours that it has summed."""
    return CompositionProfile(runs, reverse)


@lru_cache(16)
def _steering(part: OneSample) -> tuple[Floats, Floats]:
    """Return log of Q's masses, and the losses, of chords of the product's profile; float64."""
    with ctx.workprec(_SHARED_SAMPLE_BITS):
        most = min(_FARTHEST, float(_direction(part.runs, False).runs.largest))
        ratios = np.exp(np.linspace(-most, most, 2 * _STEERING + 1))
        values = [float(part._stick(arb(float(a)), False)) for a in ratios]
    places, heights = np.concatenate([[0.0], ratios]), np.array([1.0, *values])
    slopes = np.concatenate([[-1.0], np.diff(heights) / np.diff(places), [0.0]])
    weights = np.maximum(np.diff(slopes)[1:], np.finfo(float).tiny)
    rate = float(part.gamma)
    return np.log(weights), np.log1p(rate * np.expm1(np.log(ratios)))


# --- noise on a sample
#
# Gaussian noise and other mechanisms run on one sample: the sampled Gaussian's moments, averaged.
#
# Where the others have the loss y, the pair is that of Gaussian noise sampled at the rate γe^y/c,
# c = 1−γ+γe^y, but for a factor c: F(z) = E_y[c^z F_G(z)]. The others are finite, or Laplace noise,
# whose losses Gauss's rule takes (docs/proofs/losses.md, Lemma beside-gaussian).

_BITS = 64  # of bounds
_ELLIPSES = [1.1 * 1.3**j for j in range(16)]
_MOST_LAPLACE, _MOST_OUTCOMES = 2, 64
_POINTS = 6  # of float64, and for each unit of the losses' range twice as many
_CELLS = (8, 64)  # for each unit of half the range of Laplace noise
_SPARE = 3.0

Weighed = list[tuple[arb, arb]]  # Q-masses, and losses or cells of them


@dataclass(frozen=True)
class NoisySample(MixtureMoments, OneSample):
    """Runs on one sample that have Gaussian noise among them have moments at complex orders."""

    has_moments = True

    @cached_property
    def _variance(self) -> Exact:
        ratios = ((part.gaussian_ratio, k) for part, k in self.runs)
        return 1 / sum(k * ratio for ratio, k in ratios if ratio is not None)

    @cached_property
    def _laplace(self) -> list[Exact]:
        """The shift of each run of Laplace noise."""
        shifts = ((part.laplace_shift, k) for part, k in self.runs)
        return list(itertools.chain(*([shift] * k for shift, k in shifts if shift is not None)))

    @cached_property
    def _highest(self) -> arb:
        """The largest loss of the others, at few bits."""
        with ctx.workprec(_BITS):
            others = (k * part.largest(False) for part, k in self._others)
            return sum(others, arb(0))

    @property
    def _others(self) -> Iterator[tuple[Part, int]]:
        return (run for run in self.runs if run[0].gaussian_ratio is None)

    def _outcomes(self) -> Weighed:
        """List (q, y) of all finite runs together."""
        finite = [
            multinomial_laws(atoms.common(), k)
            for part, k in self.runs
            if (atoms := part.finite) is not None
        ]
        return _products([[(q, (p / q).log()) for p, q in laws] for laws in finite])

    def _at(self, y: arb) -> tuple[arb, arb]:
        """Compute log c and the rate of the Gaussian noise beside a loss."""
        rate = BALL.number(self.gamma)
        c = 1 + rate * y.expm1()
        return c.log(), rate / (rate + BALL.number(1 - self.gamma) * (-y).exp())

    def _frame(self, y: arb, a: float) -> tuple[arb, SampledFrame]:
        """log c and the Gaussian noise beside a loss."""
        log_c, rate = self._at(y)
        rest = BALL.number(1 - self.gamma) * (-log_c).exp()
        return log_c, SampledFrame(BALL.number(self._variance), rate, rest, a)

    def _rough(self, rate: arb) -> SampledGaussian:
        return SampledGaussian(self._variance, Fraction(float(rate)))

    # --- float64: where to look

    @cached_property
    def _members(self) -> list[Member]:
        with ctx.workprec(_BITS):
            every = _products([self._outcomes(), *map(_few_points, map(float, self._laplace))])
            members: list[Member] = []
            for q, y in every:
                log_c, rate = self._at(y)
                members.append((float(q.log()), float(log_c), self._rough(rate)))
            return members

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        far = line.h * line.last
        count = math.prod(2 + self._rule(i, line.a, far, need)[1] for i in self._indices)
        _, rate = self._at(self._highest)
        return count * sampled_gaussian.strip(self._rough(rate), line.a, far, need).terms

    @property
    def _indices(self) -> range:
        """Of the runs of Laplace noise."""
        return range(len(self._laplace))

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        """Sum F over the nodes of the others' losses, each with a sampled Gaussian beside it."""
        far, a = line.h * line.last, arb(line.a)
        every, off = self._nodes(line.a, far, need)
        weights, losses = [], []
        for q, y in every:
            log_c, frame = self._frame(y, line.a)
            rule = sampled_gaussian.strip(self._rough(frame.gamma), line.a, far, need)
            grown = q * (a * log_c).exp()
            off += grown * sampled_gaussian.error(frame, rule, far)
            node_weights, log_ratios = sampled_gaussian.nodes(
                frame, arb(rule.step), rule.first, rule.last
            )
            weights += [grown * weight for weight in node_weights]
            losses += [log_c + log_ratio for log_ratio in log_ratios]
        return sums_on_a_line(weights, losses, line, off)

    def _nodes(self, a: float, far: float, need: float) -> tuple[Weighed, arb]:
        """List masses and losses that the others are summed over, and bound the moments' error.

        One run after the other, so that those before are sums already, of weights that are more
        than 1 by what rounding adds.
        """
        rows, off, mass = [self._outcomes()], arb(0), arb(1)
        for i in self._indices:
            log_most, count, ellipse = self._rule(i, a, far, need)
            s = BALL.number(self._laplace[i])
            points = [(s * (1 + u) / 2, w * s / 2) for u, w in legendre(count, ctx.prec)]
            row = [(w * (-x).exp() / 2, 2 * x - s) for x, w in points]
            rows.append([(arb(0.5), -s), ((-s).exp() / 2, s), *row])
            rho = arb(ellipse)
            run_error = arb(64) / 15 * s / 2 * log_most.exp() / (1 - rho**-2) * rho ** (-2 * count)
            off += mass * run_error
            mass *= sum((q for q, _ in rows[-1]), arb(0))
        return _products(rows), off

    def _rule(self, i: int, a: float, far: float, need: float) -> tuple[arb, int, float]:
        return _gauss_rule(self, i, a, far, need)

    def log_most(self, i: int, a: float, far: float, ellipse: float) -> arb | None:
        """Bound log ½e^{−x}E[|R^z|] in an ellipse about [0, s], Re z = a, |Im z| <= far.

        |Im 2x| <= θ <= π/2 there, so that arg R and |R| are at most as at θ and at the right end.
        None where the ellipse is too high for that.
        """
        s, rho = BALL.number(self._laplace[i]), arb(ellipse)
        theta, reach = s * (rho - 1 / rho) / 2, s * (rho + 1 / rho) / 2
        if not theta < arb.pi() / 2:
            return None
        log_c, frame = self._frame(self._highest - s + reach, a)
        angle = float_above(theta)
        edge = sampled_gaussian.log_edge(frame, sampled_gaussian.edge(angle), far)
        return (
            edge - arb(angle) ** 2 * frame.variance / 2 + a * log_c + (reach - s) / 2 - arb(2).log()
        )

    def decay(self, a: float, t: float, slack: float) -> arb:
        """Bound log|F| by sampled Gaussians' bounds, over cells of losses with balls of rates."""
        fallen = float(self.float_moments(np.array([a]))[0][0]) - self.log_decay(a, t)
        rows = [self._outcomes(), *(self._cells(s, fallen / slack) for s in self._laplace)]
        total = arb(0)
        for q, y in _products(rows):
            log_c, frame = self._frame(y, a)
            angle, _, fallen_beside = self._rough(frame.gamma).best_angle(a, t)
            bound = frame.decay(angle, t, _SPARE - math.log(slack) + max(fallen_beside, 0.0))
            total += (q.log() + a * log_c + bound).exp()
        return total.log()

    def _cells(self, shift: Exact, fineness: float) -> Weighed:
        """List the Q-masses of Laplace noise at its atoms and in cells between them."""
        s = BALL.number(shift)
        count = math.ceil(float(s) * min(max(fineness, _CELLS[0]), _CELLS[1]))
        ends = [s * i / count for i in range(count + 1)]
        masses = [((-x).exp() - (-z).exp()) / 2 for x, z in itertools.pairwise(ends)]
        losses = [(2 * x - s).union(2 * z - s) for x, z in itertools.pairwise(ends)]
        atoms = [(arb(0.5), -s), ((-s).exp() / 2, s)]
        return [*atoms, *zip(masses, losses, strict=True)]


@lru_cache(256)
def _gauss_rule(
    part: NoisySample, i: int, a: float, far: float, need: float
) -> tuple[arb, int, float]:
    """Choose the ellipse of the fewest nodes: log of a bound in it, their count, the ellipse."""
    log_moment, best = (
        float(part.float_moments(np.array([a]))[0][0]),
        (arb.pos_inf(), math.inf, 2.0),
    )
    with ctx.workprec(_BITS):
        for rho in _ELLIPSES:
            log_most = part.log_most(i, a, far, rho)
            if log_most is None:
                break
            wanted = need + float(log_most.mid()) - log_moment + _SPARE - math.log1p(-(rho**-2))
            count = wanted / (2 * math.log(rho))
            if count < best[1]:
                best = log_most, count, rho
    return best[0], max(2, math.ceil(best[1])), best[2]


def _few_points(shift: float) -> Weighed:
    """Atoms and points of Laplace noise, in float64."""
    nodes, weights = legendre_floats(_POINTS + math.ceil(2 * shift))
    x = shift * (1 + nodes) / 2
    row = [
        (arb(q), arb(y))
        for q, y in zip(shift / 4 * weights * np.exp(-x), 2 * x - shift, strict=True)
    ]
    return [(arb(0.5), arb(-shift)), (arb(0.5 * math.exp(-shift)), arb(shift)), *row]


def _products(rows: list[Weighed]) -> Weighed:
    """Of independent losses: their masses' products, and their sums."""
    products = [(arb(1), arb(0))]
    for row in rows:
        products = [(q * v, y + z) for q, y in products for v, z in row]
    return products


def on_shared_sample(runs: Runs, gamma: Exact) -> OneSample:
    """Make the loss of runs that are sampled together, with moments where they are known."""
    outcomes = laplace = gaussian = 0
    for part, k in runs:
        if (atoms := part.finite) is not None and atoms.mass_at_infinity(True) == 0:
            outcomes += math.comb(len(atoms.laws) + k - 1, k)
        elif part.laplace_shift is not None:
            laplace += k
        elif part.gaussian_ratio is not None:
            gaussian += k
        else:
            return OneSample(runs, gamma)
    are_few = laplace <= _MOST_LAPLACE and outcomes <= _MOST_OUTCOMES
    return NoisySample(runs, gamma) if gaussian and are_few else OneSample(runs, gamma)
