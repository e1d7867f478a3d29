"""A record zeroed out of a sample of fixed size, between others that may be its opposite.

The laws with the record and without it are D = (1−γ)N(y) + γN(x) and D′ = (1−γ)N(y) + γN(0), where
another record y stands in the sample otherwise. At ε >= 0 the worst of D against D′ is y = −x, and
that of D′ against D is y = x (docs/proofs/triples.md, Lemma zeroed-noise). `need` and the rest
are in the units of profile/part.py, and all logarithms are natural.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from symacct.analysis.halves import normal_nodes
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import normal_tail
from symacct.kernel.exact import Exact
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.losses.summed import float_moments_of_atoms
from symacct.profile.part import Floats, Part, ProfileOnly, no_pair

#: Nodes that steer reach so many deviations beyond the orders, in at most so many panels.
_REACH, _MOST_PANELS = 9.0, 2000


class Zeroed(ProfileOnly):
    """The pair of a record zeroed out is the worst at each y, and known by its profile alone.

    A subclass says what the two directions have at y >= 0.
    """

    @property
    def symmetric(self) -> bool:
        """False: with the record there is more to see."""
        return False

    def with_record(self, y: arb) -> arb:
        """Enclose D_y of the law with the record from the one without it, for a ball y >= 0."""
        raise NotImplementedError

    def without_record(self, y: arb) -> arb:
        """Enclose D_y of the law without the record from the one with it, for a ball y >= 0."""
        raise NotImplementedError

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) of one direction; below 0 by the other one, D(y) = 1−e^y+e^yD′(−y).

        NaN where the ball y does not show its sign.
        """
        forward, backward = self.with_record, self.without_record
        if reverse:
            forward, backward = backward, forward
        if y >= 0:
            return forward(y)
        return y.exp() * backward(-y) - y.expm1() if y <= 0 else arb.nan()

    def sampled(self, gamma: Exact) -> Part:
        """Raise AssumptionError: no pair of a sample is known."""
        raise no_pair(
            "found a sample of fixed size sampled again, needed a sample of the mechanism itself"
        )

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return 0: each outcome of one law is one of the other."""
        return Fraction(0)


# Proved in docs/proofs/triples.md, Lemma zeroed-gaussian.
@dataclass(frozen=True)
class ZeroedGaussian(Zeroed):
    """Gaussian noise on a sample of fixed size has `variance` = σ²/Δ², `gamma` of the records.

    0 < γ < 1. With δ = Δ/σ the crossing of D and e^yD′ lies log(s)/δ right of the middle of the
    record and nothing, where γe^{δ²}s(s − e^y) = (1−γ)(e^y − 1).
    """

    variance: Exact
    gamma: Exact

    def with_record(self, y: arb) -> arb:
        """Compute D_y at the crossing v = log(s)/δ, for other records that are the opposite.

        γ(Φ(δ/2−v) − e^yΦ(−δ/2−v)) − (1−γ)(e^y−1)Φ(−3δ/2−v)
        """
        delta, gamma = 1 / BALL.number(self.variance).sqrt(), BALL.number(self.gamma)
        u, rest = y.exp(), BALL.number(1 - self.gamma)
        more = y.expm1()
        odds = 4 * rest * more / (gamma * (delta * delta).exp())
        v = ((u + (u * u + odds).sqrt()) / 2).log() / delta
        seen = normal_tail(v - delta / 2) - u * normal_tail(v + delta / 2)
        return gamma * seen - rest * more * normal_tail(v + 3 * delta / 2)

    def without_record(self, y: arb) -> arb:
        """Take the mixture against noise alone, as of a record added to a Poisson sample."""
        return SampledGaussian(self.variance, self.gamma).hockey_stick(y, False)

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L by Gauss's nodes on both sides of the middle."""
        delta, gamma = 1 / math.sqrt(float(self.variance)), float(self.gamma)
        most = float(np.max(np.maximum(orders, 1 - orders), initial=1.0))
        v, log_normal = normal_nodes(delta, 2 * most * delta + _REACH, _MOST_PANELS)
        log_rest, log_gamma = math.log1p(-gamma), math.log(gamma)
        opposite = log_rest - delta * (delta + v)
        without = np.logaddexp(opposite, log_gamma)
        seen = np.logaddexp(opposite, log_gamma + delta * v) - without
        alone = np.logaddexp(log_rest, log_gamma + delta * v)
        rest = sum(math.erf(x * delta / math.sqrt(8)) for x in (1, 3)) / 2
        log_rest_mass = log_rest + math.log(rest)
        log_weights = np.concatenate([log_normal + without, log_normal + alone, [log_rest_mass]])
        losses = np.concatenate([seen, -alone, [0.0]])
        return float_moments_of_atoms(orders, log_weights, losses)


# Proved in docs/proofs/triples.md, Lemma zeroed-triples.
@dataclass(frozen=True)
class ZeroedBound(Zeroed):
    """A bound for any mechanism, by its pairs for records `one` and `two` steps apart, 0 < γ < 1.

    D(y) <= γ((1−w)H₁ + wH₂) at τ = (e^y−1+γ)/γ, with w = (1−γ)(e^y−1)/(e^y−1+γ), and at most γH₁
    at e^y. Neither the first nor the smaller one is convex in e^y, so that it is no pair's profile
    and not composed.
    """

    one: Part
    two: Part
    gamma: Exact

    def with_record(self, y: arb) -> arb:
        """Bound D_y by γ((1−w)H₁ + wH₂) at τ, or by γH₁ at e^y where that is less."""
        gamma, more = BALL.number(self.gamma), y.expm1()
        beyond = (1 + more / gamma).log()
        share = (1 - gamma) * more / (more + gamma)
        near, far = (part.hockey_stick(beyond, False) for part in (self.one, self.two))
        by_both: arb = (1 - share) * near + share * far
        return gamma * by_both.min(self.one.hockey_stick(y, False))

    def without_record(self, y: arb) -> arb:
        """Bound D_y of the exchanged laws by γH₁ at τ."""
        beyond = (1 + y.expm1() / BALL.number(self.gamma)).log()
        return BALL.number(self.gamma) * self.one.hockey_stick(beyond, False)

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L by a sample of the pair two steps apart."""
        return self.two.sampled(self.gamma).float_moments(orders)

    def largest(self, reverse: bool) -> arb:
        """Bound the largest loss, beyond which the smaller of both bounds is 0."""
        near = self.one.largest(False)
        most = near if reverse else near.max(self.two.largest(False))
        if not most.is_finite():
            return near
        return (BALL.number(self.gamma) * most.expm1()).log1p().min(near)

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return γ times that of one step."""
        return self.gamma * self.one.mass_at_infinity(False)
