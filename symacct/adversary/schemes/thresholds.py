"""Gaussian and Laplace noise, seen through a threshold or itself, under either sampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import acb, arb

from symacct.adversary.candidates.arrays import ArrayCurve
from symacct.adversary.candidates.finite import Candidates, Law, Pair
from symacct.adversary.candidates.noise import (
    NOISES,
    GaussianNoise,
    Noise,
    RatioIntegrand,
    half_open,
)
from symacct.adversary.schemes.scheme import BOTH_SIDES, LEFT_OUT, RATE, Scheme, Worded, both, mixed
from symacct.kernel.arithmetic import Number
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import ADD_REMOVE, Adjacency, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball
from symacct.mechanisms import DistributionPair

_SAMPLING = {"PoissonSubsample": "Poisson", "SubsampleWithoutReplacement": "without replacement"}


@dataclass(frozen=True)
class NoisyRecord(Worded):
    """One record moves the centre of the noise from 0 to 1; all others are alike."""

    slow_population, slow_cost = 4, 48
    noise: Noise
    about: str = "PoissonSubsample"
    side: Kind = Kind.UPPER
    relation: Adjacency | None = None

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (RATE, (self.noise.scale, *self.noise.drawn))

    @property
    def sampling(self) -> str:
        """How the record is sampled, in words."""
        return LEFT_OUT if self.relation else _SAMPLING[self.about]

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)  # not used: the laws follow from the numbers

    def array_curves(self, c: Candidates) -> ArrayCurve:
        scale = c.numbers[self.noise.scale][:, 0]
        return ArrayCurve(lambda alpha: self.noise.curve(scale, alpha))

    def premise(self, c: Candidates) -> Node:
        return self.noise.mechanism(c.number(self.noise.scale))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return ()


@dataclass(frozen=True)
class Threshold(NoisyRecord):
    """Is the noisy answer above t? P(z > t) for both centres, rounded towards each other."""

    words = "{self.sampling}, {self.noise.name} through a threshold"
    names = ("P, with the record", "Q, without")

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (*super().numbers, ("threshold + 5", 0.05, 20.0))

    def pair(self, c: Candidates) -> Pair:
        if c.exact:
            scale, cut = c.number(self.noise.scale), c.number("threshold + 5") - 5
            with precision(128):
                above = half_open((cut - 1) / scale, self.noise, up=False)
                below = min(above, half_open(cut / scale, self.noise, up=True))
            p, q = (np.array([[x, 1 - x]], dtype=object) for x in (above, below))
            return p, q
        scales, cuts = c.numbers[self.noise.scale], c.numbers["threshold + 5"] - 5
        tails = (self.noise.tail((cuts - centre) / scales) for centre in (1, 0))
        inside = (np.clip(x, 1e-12, 1 - 1e-12) for x in tails)
        p, q = (np.concatenate([x, 1 - x], axis=1) for x in inside)
        return p, q

    def result(self, c: Candidates) -> list[Pair]:
        p, q = self.pair(c)
        return both((mixed(c.numbers["gamma"], p, q), q))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return self.pair(c)


@dataclass(frozen=True)
class NoisyAnswer(NoisyRecord):
    """The noisy answer itself, the pair said to attain the curve, by flint's integration."""

    words = "{self.sampling}, {self.noise.name} itself{attained}"
    last_bits = 256

    def premise(self, c: Candidates) -> Node:
        scale = c.number(self.noise.scale)
        replaced = self.about == "SubsampleWithoutReplacement" and self.relation is None
        if replaced and self.side is Kind.LOWER:  # more dimensions attain more than this pair
            return self.noise.on_the_line(scale)
        return self.noise.mechanism(scale)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        scale, rate = c.numbers[self.noise.scale], c.numbers["gamma"]
        if alpha == INFINITY:
            ratio = np.expm1(self.noise.curve(scale, INFINITY))
            return np.log1p(rate * ratio)[:, 0]
        a = float(alpha)
        weights, log_ratio = self.noise.grid(scale, a)
        u = rate * np.expm1(log_ratio)
        log_m = np.log1p(u)
        if a == 1:
            return np.maximum(*(np.sum(weights * f, 1) for f in ((1 + u) * log_m - u, u - log_m)))
        moments = [np.sum(weights * (np.expm1(b * log_m) - b * u), 1) for b in (a, 1 - a)]
        return np.log1p(np.maximum(*moments)) / (a - 1)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        rate, scale = ball(c.number("gamma")), ball(c.number(self.noise.scale))
        if alpha == INFINITY:
            return (rate * self.noise.largest_log_ratio(scale).expm1()).log1p()
        made = _entropies(rate) if alpha == 1 else _powers(rate, ball(Fraction(alpha)))
        forward, backward = (self.noise.expectation(f, rate, scale) for f in made)
        larger = forward.max(backward)
        return larger if alpha == 1 else larger.log1p() / (ball(Fraction(alpha)) - 1)


@dataclass(frozen=True)
class NoisyLaws(NoisyAnswer):
    """A noisy answer stated as a pair of laws: nothing is said of noise or of sensitivity."""

    words = "{self.sampling}, {self.noise.name} itself{attained}, as a pair of laws"
    orders = (1, 2, Fraction(5, 2))
    slow_population, slow_cost, last_bits = 2, 1000, 128

    def premise(self, c: Candidates) -> Node:
        scale = c.number(self.noise.scale)
        return DistributionPair(self.noise.law(1, scale), self.noise.law(0, scale))


def _powers(rate: arb, alpha: arb) -> tuple[RatioIntegrand, RatioIntegrand]:
    """m^β − 1 − βu for β = α and β = 1−α."""
    lam = alpha - 1

    def power(order: arb) -> Callable[[acb, acb], acb]:
        return lambda u, log_m: (order * log_m).exp() - 1 - order * u

    return (
        RatioIntegrand(power(alpha), alpha * rate, arb(1), alpha),
        RatioIntegrand(power(-lam), (-lam * (-rate).log1p()).exp(), lam, arb(1)),
    )


def _entropies(rate: arb) -> tuple[RatioIntegrand, RatioIntegrand]:
    """m log m − u and u − log m."""
    return (
        RatioIntegrand(lambda u, log_m: (1 + u) * log_m - u, rate, arb(1), arb(2)),
        RatioIntegrand(lambda u, log_m: u - log_m, -(-rate).log1p(), arb(1), arb(1)),
    )


class NormalTriangle(NoisyRecord):
    """Three normal laws in the plane, variance σ², means at mutual distance 1: Gaussian noise.

    P and Q hold the old and the new record, R neither. With A = E_R[((P−Q)/R)²] = 2x² − 2x and
    C = E_Q[((P−Q)/R)²] = x⁶ − x⁴, x = e^{1/(2σ²)}, the inequality of Cauchy and Schwarz gives
    e^{D₂} − 1 = γ²E[(P−Q)²/((1−γ)R+γQ)] >= γ²A²/((1−γ)A+γC), which stands for the truth.
    """

    name = "without replacement, three normal laws in the plane"
    orders = (2,)

    def __init__(self) -> None:
        super().__init__(GaussianNoise(), "SubsampleWithoutReplacement")

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        rate, sigma = c.numbers["gamma"][:, 0], c.numbers["sigma"][:, 0]
        return np.log1p(_triangle(np.exp(1 / (2 * sigma**2)), rate))

    def truth(self, c: Candidates, alpha: Order) -> arb:
        x = (1 / (2 * ball(c.number("sigma")) ** 2)).exp()
        least: arb = _triangle(x, ball(c.number("gamma")))
        return least.log1p()


def _triangle(x: Number, rate: Number) -> Number:
    """γ²A²/((1−γ)A+γC)"""
    spread, skew = 2 * x * (x - 1), x**4 * (x**2 - 1)
    return rate**2 * spread**2 / ((1 - rate) * spread + rate * skew)


_SAMPLINGS = tuple(_SAMPLING)

SCHEMES: tuple[Scheme, ...] = (
    NormalTriangle(),
    *(Threshold(noise, about) for noise in NOISES for about in _SAMPLINGS),
    *(
        NoisyAnswer(noise, about, side)
        for noise in NOISES
        for about in _SAMPLINGS
        for side in BOTH_SIDES
    ),
    *(NoisyLaws(noise, _SAMPLINGS[1], Kind.LOWER) for noise in NOISES),
    *(NoisyAnswer(noise, _SAMPLINGS[1], s, ADD_REMOVE) for noise in NOISES for s in BOTH_SIDES),
)
