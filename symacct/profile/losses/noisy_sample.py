"""Gaussian noise and other mechanisms run on one sample: the sampled Gaussian's moments, averaged.

Where the others have the loss y, the pair is that of Gaussian noise sampled at the rate γe^y/c,
c = 1−γ+γe^y, but for a factor c: F(z) = E_y[c^z F_G(z)]. The others are finite, or Laplace noise,
whose losses Gauss's rule takes (docs/proofs.md, section 16).
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
from symacct.kernel.arithmetic.ball import float_above
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import legendre, legendre_floats
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.losses.mixed import Member, MixtureMoments
from symacct.profile.losses.one_sample import OneSample
from symacct.profile.losses.sampled_gaussian import real_line
from symacct.profile.losses.sampled_gaussian.frame import SampledFrame
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.part import OrderLine, Part, Runs
from symacct.profile.sums.power_sums import sums_on_a_line

_BITS = 64  # of bounds
_ELLIPSES = [1.1 * 1.3**j for j in range(16)]
_MOST_LAPLACE, _MOST_OUTCOMES = 2, 64
_POINTS = 6  # of float64, and for each unit of the losses' range twice as many
_CELLS = (8, 64)  # for each unit of half the range of Laplace noise
_SPARE = 3.0

Weighed = list[tuple[arb, arb]]  # Q-masses, and losses or cells of them


@dataclass(frozen=True)
class NoisySample(MixtureMoments, OneSample):
    """The runs, with Gaussian noise among them, and the sampling rate."""

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
        """(q, y) of all finite runs together."""
        finite = [
            multinomial_laws(own.common(), k)
            for part, k in self.runs
            if (own := part.finite) is not None
        ]
        return _products([[(q, (p / q).log()) for p, q in laws] for laws in finite])

    def _at(self, y: arb) -> tuple[arb, arb]:
        """log c and the rate of the Gaussian noise beside a loss."""
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
            found: list[Member] = []
            for q, y in every:
                log_c, rate = self._at(y)
                found.append((float(q.log()), float(log_c), self._rough(rate)))
            return found

    # --- balls: what is proved

    def terms(self, line: OrderLine, need: float) -> int:
        far = line.h * line.last
        count = math.prod(2 + self._rule(i, line.a, far, need)[1] for i in self._indices)
        _, rate = self._at(self._highest)
        return count * real_line.strip(self._rough(rate), line.a, far, need).terms

    @property
    def _indices(self) -> range:
        """Of the runs of Laplace noise."""
        return range(len(self._laplace))

    def transform(self, line: OrderLine, need: float) -> list[acb]:
        far, a = line.h * line.last, arb(line.a)
        every, off = self._nodes(line.a, far, need)
        weights, losses = [], []
        for q, y in every:
            log_c, frame = self._frame(y, line.a)
            rule = real_line.strip(self._rough(frame.gamma), line.a, far, need)
            grown = q * (a * log_c).exp()
            off += grown * real_line.error(frame, rule, far)
            own, log_ratios = real_line.nodes(frame, arb(rule.step), rule.first, rule.last)
            weights += [grown * weight for weight in own]
            losses += [log_c + log_ratio for log_ratio in log_ratios]
        return sums_on_a_line(weights, losses, line, off)

    def _nodes(self, a: float, far: float, need: float) -> tuple[Weighed, arb]:
        """Masses and losses that the others are summed over, and the error of the moments.

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
            own = arb(64) / 15 * s / 2 * log_most.exp() / (1 - rho**-2) * rho ** (-2 * count)
            off += mass * own
            mass *= sum((q for q, _ in rows[-1]), arb(0))
        return _products(rows), off

    def _rule(self, i: int, a: float, far: float, need: float) -> tuple[arb, int, float]:
        return _gauss_rule(self, i, a, far, need)

    def log_most(self, i: int, a: float, far: float, ellipse: float) -> arb | None:
        """log of a bound of ½e^{−x}E[|R^z|] in an ellipse about [0, s], Re z = a, |Im z| <= far.

        |Im 2x| <= θ <= π/2 there, so that arg R and |R| are at most as at θ and at the right end.
        """
        s, rho = BALL.number(self._laplace[i]), arb(ellipse)
        theta, reach = s * (rho - 1 / rho) / 2, s * (rho + 1 / rho) / 2
        if not theta < arb.pi() / 2:
            return None
        log_c, frame = self._frame(self._highest - s + reach, a)
        angle = float_above(theta)
        edge = real_line.log_edge(frame, real_line.edge(angle), far)
        return (
            edge - arb(angle) ** 2 * frame.variance / 2 + a * log_c + (reach - s) / 2 - arb(2).log()
        )

    def decay(self, a: float, t: float, slack: float) -> arb:
        """The sampled Gaussian's, averaged over cells of losses, whose rates are one ball."""
        fallen = float(self.float_moments(np.array([a]))[0][0]) - self.log_decay(a, t)
        rows = [self._outcomes(), *(self._cells(s, fallen / slack) for s in self._laplace)]
        total = arb(0)
        for q, y in _products(rows):
            log_c, frame = self._frame(y, a)
            angle, _, own = self._rough(frame.gamma).best_angle(a, t)
            bound = frame.decay(angle, t, _SPARE - math.log(slack) + max(own, 0.0))
            total += (q.log() + a * log_c + bound).exp()
        return total.log()

    def _cells(self, shift: Exact, fineness: float) -> Weighed:
        """The Q-masses of Laplace noise at its atoms and in cells between them."""
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
    """log of a bound in the ellipse of the fewest nodes, how many these are, the ellipse."""
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
    found = [(arb(1), arb(0))]
    for row in rows:
        found = [(q * v, y + z) for q, y in found for v, z in row]
    return found


def on_one_sample(runs: Runs, gamma: Exact) -> OneSample:
    """The runs sampled together, with moments where they are known."""
    outcomes = laplace = gaussian = 0
    for part, k in runs:
        if (own := part.finite) is not None and own.mass_at_infinity(True) == 0:
            outcomes += math.comb(len(own.laws) + k - 1, k)
        elif part.laplace_shift is not None:
            laplace += k
        elif part.gaussian_ratio is not None:
            gaussian += k
        else:
            return OneSample(runs, gamma)
    are_few = laplace <= _MOST_LAPLACE and outcomes <= _MOST_OUTCOMES
    return NoisySample(runs, gamma) if gaussian and are_few else OneSample(runs, gamma)
