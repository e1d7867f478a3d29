"""Several queries on one sample have one loss together, of the product of their pairs.

The units of arguments are those of profile/part.py. What steers is float64; D, F and its bounds are
balls at flint's current precision.
"""

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
from symacct.kernel.arithmetic.ball import float_above, legendre, legendre_floats, up_to
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.profile.losses import sampled_gaussian
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.losses.mixed import Member, MixtureMoments
from symacct.profile.losses.sampled_gaussian import SampledFrame, SampledGaussian
from symacct.profile.losses.summed import float_moments_of_atoms
from symacct.profile.part import Floats, OrderLine, Part, ProfileOnly, Runs, no_pair
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

#: The product's profile is asked at this many bits where its values steer.
_STEERING_BITS = 128
#: Chords that steer begin at so many places on either side of the loss 0, up to this loss in nats.
_STEERING_PLACES, _FARTHEST = 128, 64.0
#: A value of D is asked for to this many bits less than its place has, as where D is steep it has
#: fewer, and to 3 digits at least. It costs time: the ball says what it has.
_BITS_LOST_TO_PLACE, _FEWEST_DIGITS = 24, 3.0


@dataclass(frozen=True)
class OneSample(ProfileOnly):
    """Runs on one sample have the pair (1−γ)Q + γP against Q, (P, Q) the product of their pairs.

    At γ = 1 it is the product as one loss, 0 < γ <= 1. No symmetry is looked for.
    """

    runs: Runs
    gamma: Exact

    symmetric = False
    is_costly = True
    may_be_chosen = False

    def sampled(self, gamma: Exact) -> Part:
        """Mix P once more, at the rate of this loss times γ."""
        return type(self)(self.runs, self.gamma * gamma)

    def allocated(self, steps: int) -> Part:
        """Raise AssumptionError: each value of the product's profile may be a contour."""
        raise no_pair(
            "found RandomAllocation of several mechanisms in one run, needed one, Gaussian "
            "noise alone, or finite laws"
        )

    # --- float64: where to look

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate the moments of the law that chords of the product's profile have."""
        return float_moments_of_atoms(orders, *_steering(self))

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute H_a of the sample by the product's: γH_b, or (1−a(1−γ))H_c exchanged.

        PrecisionError or LimitError where the product's profile has too few digits.
        """
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
        """Compute H_b of the product, b > 0; below 1 by the exchanged pair, 1 − b + bH_{1/b}(Q‖P).

        A contour is summed where no value is had without one.
        """
        is_below = bool(b < 1)
        direction, y = _direction(self.runs, reverse != is_below), abs(b.log())
        value = direction.value_without_contour(y)
        if not value.is_finite():
            digits = max(_FEWEST_DIGITS, (ctx.prec - _BITS_LOST_TO_PLACE) / 3.33)
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
        """Write the product's laws, mixed; None where those of some part are not written."""
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
    """Return the product's profile, which is remembered with the contours that it has summed."""
    return CompositionProfile(runs, reverse)


@lru_cache(16)
def _steering(part: OneSample) -> tuple[Floats, Floats]:
    """Estimate log of Q's masses, and the losses, of a finite law that stands for the sample.

    Chords of the product's profile, between evenly spaced losses ℓ, are the profile of atoms at
    these ℓ. In the sample an atom keeps its mass, and has the loss log(1−γ+γe^ℓ).
    """
    with ctx.workprec(_STEERING_BITS):
        most = min(_FARTHEST, float(_direction(part.runs, False).runs.largest))
        ratios = np.exp(np.linspace(-most, most, 2 * _STEERING_PLACES + 1))
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

#: Bounds are worked out at this many bits; of fewer they are wider.
_BOUND_BITS = 64
#: Ellipses that bound Gauss's rule are chosen from these, each by its half axes' sum over s/2. They
#: rise: the search ends at the first that is too high. Each has its bound; the best one saves
#: nodes.
_ELLIPSES = [1.1 * 1.3**j for j in range(16)]
#: Moments are known beside so many runs of Laplace noise, and outcomes of finite laws together, at
#: most: nodes are the product of all their numbers, and beyond these a grid is sooner had. It costs
#: time alone.
_MOST_LAPLACE, _MOST_OUTCOMES = 2, 64
#: A run of Laplace noise is steered by so many points, and twice Δ/b more. They steer.
_STEERING_POINTS = 6
#: A bound of |F| far out has between 8 and 64 cells for each nat of Δ/b. More are narrower bounds.
_FEWEST_CELLS, _MOST_CELLS = 8, 64
#: Errors are asked to be e^{−3} of what is needed, as several of them add up. What they come to is
#: proved apart.
_SPARE_NATS = 3.0

#: Q-masses, and the loss of each, a ball as wide as its cell where it stands for one.
Weighed = list[tuple[arb, arb]]


@dataclass(frozen=True)
class NoisySample(MixtureMoments, OneSample):
    """Runs on one sample that have Gaussian noise among them have moments at complex orders.

    The others are finite laws without Q(L = −∞) > 0, or Laplace noise on all of the data, and few
    (`on_shared_sample` sees to it).
    """

    has_moments = True

    @cached_property
    def _variance(self) -> Exact:
        """σ²/Δ² of all Gaussian noise together."""
        ratios = ((part.gaussian_ratio, k) for part, k in self.runs)
        return 1 / sum(k * ratio for ratio, k in ratios if ratio is not None)

    @cached_property
    def _laplace(self) -> list[Exact]:
        """The shift Δ/b of each run of Laplace noise."""
        shifts = ((part.laplace_shift, k) for part, k in self.runs)
        return list(itertools.chain(*([shift] * k for shift, k in shifts if shift is not None)))

    @cached_property
    def _highest(self) -> arb:
        """The largest finite loss of the others together, at few bits."""
        with ctx.workprec(_BOUND_BITS):
            others = (k * part.largest(False) for part, k in self._others)
            return sum(others, arb(0))

    @property
    def _others(self) -> Iterator[tuple[Part, int]]:
        """The runs without Gaussian noise."""
        return (run for run in self.runs if run[0].gaussian_ratio is None)

    def _outcomes(self) -> Weighed:
        """List Q-masses and losses of all finite runs together; without any, the loss 0."""
        finite = [
            multinomial_laws(atoms.common(), k)
            for part, k in self.runs
            if (atoms := part.finite) is not None
        ]
        return _products([[(q, (p / q).log()) for p, q in laws] for laws in finite])

    def _at(self, y: arb) -> tuple[arb, arb]:
        """Compute log c and the rate γe^y/c of the Gaussian noise beside a loss y."""
        rate = BALL.number(self.gamma)
        c = 1 + rate * y.expm1()
        return c.log(), rate / (rate + BALL.number(1 - self.gamma) * (-y).exp())

    def _frame(self, y: arb, a: float) -> tuple[arb, SampledFrame]:
        """Compute log c, and the frame of the Gaussian noise beside a loss y, at Re z = a."""
        log_c, rate = self._at(y)
        rest = BALL.number(1 - self.gamma) * (-log_c).exp()
        return log_c, SampledFrame(BALL.number(self._variance), rate, rest, a)

    def _rough(self, rate: arb) -> SampledGaussian:
        """Make the sampled Gaussian at about this rate, which steers."""
        return SampledGaussian(self._variance, Fraction(float(rate)))

    # --- float64: where to look

    @cached_property
    def _members(self) -> list[Member]:
        """The sampled Gaussian beside each loss of the others, by few points of Laplace noise."""
        with ctx.workprec(_BOUND_BITS):
            every = _products([self._outcomes(), *map(_few_points, map(float, self._laplace))])
            members: list[Member] = []
            for q, y in every:
                log_c, rate = self._at(y)
                members.append((float(q.log()), float(log_c), self._rough(rate)))
            return members

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        """Count the nodes of a value: the product of those of each run and of the Gaussian line."""
        far = line.h * line.last
        count = math.prod(2 + self._rule(i, line.a, far, need)[1] for i in self._indices)
        _, rate = self._at(self._highest)
        return count * sampled_gaussian.strip(self._rough(rate), line.a, far, need).terms

    @property
    def _indices(self) -> range:
        """The indices of the runs of Laplace noise."""
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
        """List masses and losses that the others are summed over, and bound the error of F.

        Runs are replaced by sums one after the other: the error of one is weighed with the total of
        the weights before it, which rounding may make more than 1.
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
        """Choose Gauss's rule for the i-th run of Laplace noise, as `_gauss_rule` does."""
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
        """Bound log|F| by sampled Gaussians' bounds, over cells of losses with balls of rates.

        The cells are as fine as the estimated fall over `slack` says, between two limits.
        """
        fallen = float(self.float_moments(np.array([a]))[0][0]) - self.log_decay(a, t)
        rows = [self._outcomes(), *(self._cells(s, fallen / slack) for s in self._laplace)]
        total = arb(0)
        for q, y in _products(rows):
            log_c, frame = self._frame(y, a)
            angle, _, fallen_beside = self._rough(frame.gamma).best_angle(a, t)
            need = _SPARE_NATS - math.log(slack) + max(fallen_beside, 0.0)
            bound = frame.decay(angle, t, need)
            total += (q.log() + a * log_c + bound).exp()
        return total.log()

    def _cells(self, shift: Exact, fineness: float) -> Weighed:
        """List the Q-masses of Laplace noise at its atoms, and in cells between them.

        There are about `fineness` cells for each nat of the shift.
        """
        s = BALL.number(shift)
        count = math.ceil(float(s) * min(max(fineness, _FEWEST_CELLS), _MOST_CELLS))
        ends = [s * i / count for i in range(count + 1)]
        masses = [((-x).exp() - (-z).exp()) / 2 for x, z in itertools.pairwise(ends)]
        losses = [(2 * x - s).union(2 * z - s) for x, z in itertools.pairwise(ends)]
        atoms = [(arb(0.5), -s), ((-s).exp() / 2, s)]
        return [*atoms, *zip(masses, losses, strict=True)]


@lru_cache(256)
def _gauss_rule(
    part: NoisySample, i: int, a: float, far: float, need: float
) -> tuple[arb, int, float]:
    """Choose the ellipse of the fewest nodes: log of a bound in it, their count, the ellipse.

    Their count is an estimate, 2 at least; the bound is proved.
    """
    log_moment, best = (
        float(part.float_moments(np.array([a]))[0][0]),
        (arb.pos_inf(), math.inf, 2.0),
    )
    with ctx.workprec(_BOUND_BITS):
        for rho in _ELLIPSES:
            log_most = part.log_most(i, a, far, rho)
            if log_most is None:
                break
            error = need + _SPARE_NATS - math.log1p(-(rho**-2))
            wanted = error + float(log_most.mid()) - log_moment
            count = wanted / (2 * math.log(rho))
            if count < best[1]:
                best = log_most, count, rho
    return best[0], max(2, math.ceil(best[1])), best[2]


def _few_points(shift: float) -> Weighed:
    """List the atoms of Laplace noise and Gauss's points between them, which steer."""
    nodes, weights = legendre_floats(_STEERING_POINTS + math.ceil(2 * shift))
    x = shift * (1 + nodes) / 2
    row = [
        (arb(q), arb(y))
        for q, y in zip(shift / 4 * weights * np.exp(-x), 2 * x - shift, strict=True)
    ]
    return [(arb(0.5), arb(-shift)), (arb(0.5 * math.exp(-shift)), arb(shift)), *row]


def _products(rows: list[Weighed]) -> Weighed:
    """List every choice of one entry of each row: the product of masses, the sum of losses."""
    products = [(arb(1), arb(0))]
    for row in rows:
        products = [(q * v, y + z) for q, y in products for v, z in row]
    return products


def on_shared_sample(runs: Runs, gamma: Exact) -> OneSample:
    """Make the loss of runs that are sampled together, with moments where they are known.

    They are known where Gaussian noise is among the runs, and the others are few outcomes or one or
    two runs of Laplace noise.
    """
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
