"""Gaussian and Laplace noise, seen through a threshold or itself, under either sampling."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import TypeAlias

import numpy as np
from flint import acb, arb, ctx

from symacct import laws
from symacct.adversary.candidates import ArrayCurve, Candidates, Law, Pair
from symacct.adversary.schemes.scheme import BOTH_SIDES, LEFT_OUT, RATE, Scheme, Worded, both, mixed
from symacct.kernel.arithmetic import Number
from symacct.kernel.arithmetic.ball import (
    ball,
    ceiling,
    floor,
    integral,
    normal_tail,
    precision,
    up_to,
)
from symacct.kernel.claims import ADD_REMOVE, ZERO_OUT, Adjacency, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.mechanisms import DistributionPair, Gaussian, Laplace, ScalarGaussian

# --- the two laws a step apart
#
# Tails, curves, and expectations. Q is centred at 0, P at 1, and log P/Q = ℓ. An expectation under
# Q is a sum over a grid for the search, and flint's integral with proved tails for the proof:
# nothing of symacct.analysis.densities.

#: The search sums an expectation under Gaussian noise over a grid of this many points. It steers.
_GRID_POINTS = 1200


@dataclass(frozen=True)
class RatioIntegrand:
    """f(u, log m), m = 1 + u = 1−γ+γe^ℓ, with bounds for what is left out of an integral

    These are 0 <= f <= `left` for ℓ <= 0, and 0 <= f <= `right`·e^{`power`·ℓ} for ℓ >= 0.
    """

    value: Callable[[acb, acb], acb]
    left: arb
    right: arb
    power: arb


class GaussianNoise:
    """N(0, σ²): its name, what its scale is called, the smallest and the largest drawn."""

    name, scale, drawn = "Gaussian noise", "sigma", (0.3, 20.0)

    mechanism = staticmethod(Gaussian)
    on_the_line = staticmethod(ScalarGaussian)  # of a query that is known to be a real number

    def law(self, centre: int, scale: Fraction) -> laws.Law:
        """Return the law of the noisy answer about this centre."""
        return laws.Normal(centre, scale**2)

    def curve(self, scale: Number, alpha: Order) -> Number:
        """ε(α) in float64."""
        return alpha / (2 * scale**2)

    def tail(self, x: Number) -> Number:
        """P(noise > x·scale), for an array of float64."""
        return np.vectorize(math.erfc)(x / math.sqrt(2)) / 2

    ball_tail = staticmethod(normal_tail)

    def grid(self, scale: Number, alpha: float) -> tuple[Number, Number]:
        """Compute weights under Q, and ℓ, on a grid; `scale` has shape (candidates, 1)."""
        z = -10 * scale + (alpha + 20 * scale) * np.linspace(0, 1, _GRID_POINTS)
        step = (alpha + 20 * scale) / (_GRID_POINTS - 1)
        weights = step * np.exp(-((z / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))
        return weights, (2 * z - 1) / (2 * scale**2)

    def expectation(self, f: RatioIntegrand, rate: arb, scale: arb) -> arb:
        """Enclose E_Q[f] for sampling at `rate`: an integral, and a bound on its two tails."""
        reach = scale * (arb(2).log() * 2 * (ctx.prec + 20)).sqrt()
        left, right = -reach.mid(), (f.power.max(arb(1)) + reach).mid()
        beyond = f.left * self.ball_tail(-left / scale)
        beyond += f.right * self.ball_tail((right - f.power) / scale) * _grown(f.power, scale)

        def density(z: acb, analytic: bool) -> acb:
            value = _at(f, rate, (2 * z - 1) / (2 * scale**2), analytic)
            return value * (-(z**2) / (2 * scale**2)).exp()

        middle = _crossing(rate, 2 * scale**2)
        inside = _integral(density, left, middle, right) / (scale * (2 * arb.pi()).sqrt())
        return inside + up_to(beyond)

    def largest_log_ratio(self, scale: arb) -> arb:
        """ess sup ℓ"""
        return arb("inf")


class LaplaceNoise:
    """The density e^{−|z|/b}/(2b): its name, what its scale is called, smallest and largest."""

    name, scale, drawn = "Laplace noise", "b", (0.2, 20.0)

    mechanism = on_the_line = staticmethod(Laplace)
    law = staticmethod(laws.Laplace)

    def curve(self, scale: Number, alpha: Order) -> Number:
        """Compute D_α of Laplace noise at a distance of 1, in float64, s = 1/b.

        log(1 + [α(e^{(α−1)s} − 1) + (α−1)(e^{−αs} − 1)]/(2α−1))/(α−1), and s − 1 + e^{−s} at 1.
        """
        s = 1 / scale
        if alpha == INFINITY:
            return s
        if alpha == 1:
            return s + np.expm1(-s)
        a = float(alpha)
        grown = a * np.expm1((a - 1) * s) + (a - 1) * np.expm1(-a * s)
        return np.log1p(grown / (2 * a - 1)) / (a - 1)

    def tail(self, x: Number) -> Number:
        half = np.exp(-np.abs(x)) / 2
        return np.where(x > 0, half, 1 - half)

    def ball_tail(self, x: arb) -> arb:
        half = (-abs(x)).exp() / 2
        return half if x > 0 else 1 - half

    def grid(self, scale: Number, alpha: float) -> tuple[Number, Number]:
        """The Q-masses and the losses log p/q of both atoms and of 64 Gauss nodes between."""
        s = 1 / scale
        nodes, weights = np.polynomial.legendre.leggauss(64)
        z = (nodes + 1) / 2
        ends = np.concatenate([0.5 + 0 * s, np.exp(-s) / 2, weights * s * np.exp(-s * z) / 4], 1)
        return ends, np.concatenate([-s, s, s * (2 * z - 1)], axis=1)

    def expectation(self, f: RatioIntegrand, rate: arb, scale: arb) -> arb:
        """Enclose E_Q[f] for sampling at `rate`: an integral between 0 and 1, and the two atoms."""
        s = 1 / scale

        def density(z: acb, analytic: bool) -> acb:
            return _at(f, rate, s * (2 * z - 1), analytic) * (-s * z).exp()

        inside = _integral(density, arb(0), _crossing(rate, scale), arb(1)) * s
        ends = _at(f, rate, acb(-s), False) + _at(f, rate, acb(s), False) * (-s).exp()
        return (ends.real + inside) / 2

    def largest_log_ratio(self, scale: arb) -> arb:
        return 1 / scale


def _at(f: RatioIntegrand, rate: arb, log_ratio: acb, analytic: bool) -> acb:
    """Evaluate the integrand at ℓ; with `analytic` it is NaN where it has a branch cut."""
    u = rate * log_ratio.expm1()
    return f.value(u, (1 + u).log(analytic=analytic))


def _grown(power: arb, scale: arb) -> arb:
    """E_Q[e^{kℓ}] = e^{k(k−1)/(2σ²)}"""
    return (power * (power - 1) / (2 * scale**2)).exp()


def _crossing(rate: arb, width: arb) -> arb:
    """The z at which γe^ℓ = 1−γ, ℓ = (2z−1)/width: the branch points lie straight above it."""
    return ((1 + width * ((1 - rate) / rate).log()) / 2).mid()


def _normal_mean(integrand: Callable[[acb, bool], acb], reach: arb) -> arb:
    """Enclose (2π)^{−1/2} ∫ f over [−reach, reach], where f has the factor e^{−z²/2}."""
    return _integral(integrand, -reach, arb(0), reach) / (2 * arb.pi()).sqrt()


def _integral(density: Callable[[acb, bool], acb], left: arb, middle: arb, right: arb) -> arb:
    """Enclose an integral, split at the middle if that lies between the ends."""
    points = [left, middle, right] if left < middle < right else [left, right]
    total = arb(0)
    for a, b in pairwise(points):
        total += integral(density, a, b).real
    return total


#: A law of noise with a scale, as an attack needs it.
Noise: TypeAlias = GaussianNoise | LaplaceNoise


def half_open(x: Fraction, noise: Noise, up: bool) -> Fraction:
    """Round P(noise > x·scale) up or down to 40 bits, but keep it inside (0, 1)."""
    value = noise.ball_tail(ball(x)) * arb(2) ** 40
    whole = ceiling(value) if up else floor(value)
    return Fraction(min(max(whole, 1), 2**40 - 1), 2**40)


def concentration_rho(largest: Fraction) -> Fraction:
    """Compute ρ = ε(∞)²/2 for ε(∞) = log of this ratio, rounded up to nine decimals.

    A mechanism with this ε(∞) is ρ-zCDP.
    """
    with precision(128):
        rho = ceiling(ball(largest).log() ** 2 / 2 * 10**9)
    return Fraction(max(rho, 1), 10**9)


#: The kinds of noise that schemes are made of.
NOISES: tuple[Noise, ...] = (GaussianNoise(), LaplaceNoise())


# --- schemes
#
# Gaussian and Laplace noise, seen through a threshold or itself, under either sampling.

#: Each sampling's name in the name of a scheme.
_SAMPLING = {"PoissonSubsample": "Poisson", "SubsampleWithoutReplacement": "without replacement"}


@dataclass(frozen=True)
class NoisyRecord(Worded):
    """One record moves the centre of the noise from 0 to 1; all others are alike."""

    slow_population, slow_cost = 4, 48
    drawn, outcomes = 1, 2  # not used: the laws follow from the numbers
    noise: Noise
    about: str = "PoissonSubsample"
    side: Kind = Kind.UPPER
    relation: Adjacency | None = None

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (RATE, (self.noise.scale, *self.noise.drawn))

    @property
    def sampling(self) -> str:
        """The words on how the record is sampled."""
        if self.relation == ZERO_OUT:
            return "fixed size, a record zeroed out"
        return LEFT_OUT if self.relation else _SAMPLING[self.about]

    def array_curves(self, c: Candidates) -> ArrayCurve:
        """Return the curve of the noise at the drawn scales, in float64."""
        scale = c.numbers[self.noise.scale][:, 0]
        return ArrayCurve(lambda alpha: self.noise.curve(scale, alpha))

    def premise(self, c: Candidates) -> Node:
        """Return the noise at the drawn scale."""
        return self.noise.mechanism(c.number(self.noise.scale))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        """Return no laws: the numbers say them."""
        return ()


@dataclass(frozen=True)
class Threshold(NoisyRecord):
    """Whether the noisy answer is above t: P(z > t) for both centres.

    The two are rounded towards each other, so that the pair is dominated by that of the noise.
    """

    words = "{self.sampling}, {self.noise.name} through a threshold"
    names = ("P, with the record", "Q, without")

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        """List the noise's numbers, and the threshold moved by 5 so that it is above 0."""
        return (*super().numbers, ("threshold + 5", 0.05, 20.0))

    def pair(self, c: Candidates) -> Pair:
        """Return the probabilities of an answer above the threshold and below, for P and Q."""
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
        """List the sample against Q of the answer above the threshold, both ways."""
        p, q = self.pair(c)
        return both((mixed(c.numbers["gamma"], p, q), q))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        """List the laws of the answer above the threshold."""
        return self.pair(c)


@dataclass(frozen=True)
class NoisyAnswer(NoisyRecord):
    """The noisy answer itself, the pair said to attain the curve, by flint's integration."""

    words = "{self.sampling}, {self.noise.name} itself{attained}"
    last_bits = 256

    def premise(self, c: Candidates) -> Node:
        """Return the noise, on the line alone where a lower bound is of a record replaced."""
        scale = c.number(self.noise.scale)
        replaced = self.about == "SubsampleWithoutReplacement" and self.relation is None
        if replaced and self.side is Kind.LOWER:  # more dimensions attain more than this pair
            return self.noise.on_the_line(scale)
        return self.noise.mechanism(scale)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Sum E[m^β] − 1 over a grid for β = α and 1 − α; the larger is the truth."""
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
        """Enclose the larger D_α of (1−γ)Q + γP and Q either way, P moved by 1 from Q."""
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
        """Return the noise as a pair of two laws given by their densities."""
        scale = c.number(self.noise.scale)
        return DistributionPair(self.noise.law(1, scale), self.noise.law(0, scale))


def _powers(rate: arb, alpha: arb) -> tuple[RatioIntegrand, RatioIntegrand]:
    """m^β − 1 − βu, m = 1+u, for β = α and β = 1−α, α > 1"""
    lam = alpha - 1

    def power(order: arb) -> Callable[[acb, acb], acb]:
        return lambda u, log_m: (order * log_m).exp() - 1 - order * u

    return (
        RatioIntegrand(power(alpha), alpha * rate, arb(1), alpha),
        RatioIntegrand(power(-lam), (-lam * (-rate).log1p()).exp(), lam, arb(1)),
    )


def _entropies(rate: arb) -> tuple[RatioIntegrand, RatioIntegrand]:
    """m log m − u and u − log m, m = 1+u, of the two directions at order 1"""
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

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Compute the bound of the triangle in float64."""
        rate, sigma = c.numbers["gamma"][:, 0], c.numbers["sigma"][:, 0]
        return np.log1p(_triangle(np.exp(1 / (2 * sigma**2)), rate))

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose log(1 + γ²A²/((1−γ)A + γC)), x = e^{1/(2σ²)}, in a ball."""
        x = (1 / (2 * ball(c.number("sigma")) ** 2)).exp()
        smallest: arb = _triangle(x, ball(c.number("gamma")))
        return smallest.log1p()


def _triangle(x: Number, rate: Number) -> Number:
    """γ²A²/((1−γ)A+γC)"""
    spread, skew = 2 * x * (x - 1), x**4 * (x**2 - 1)
    return rate**2 * spread**2 / ((1 - rate) * spread + rate * skew)


class OppositeNormals(NoisyRecord):
    """Poisson sampling of Gaussian noise, records that move the mean by 1 in opposite directions.

    The truth is the definition by flint's integration: for m = κ+γe^x, n = κ+γe^{−x−δ²} it is
    E[n(r^α − 1 − α(r−1))], r = m/n, or E[n(r log r − r + 1)] at order 1.
    """

    words = "Poisson, a record replaced, normal laws at opposite ends, {self.side}"
    slow_population, slow_cost, last_bits = 8, 2, 128

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Sum the integrand of the truth over a grid of 2000 outcomes, in float64."""
        rate, shift = c.numbers["gamma"], 1 / c.numbers["sigma"]
        a, z = float(alpha), np.linspace(-12, 12, 2000) + np.zeros_like(shift)
        z = z + np.maximum(z, 0) / 12 * (a - 1) * shift  # as far to the right as the peak needs
        m, n = (1 + rate * np.expm1(s * shift * z - shift**2 / 2) for s in (1, -1))
        s = m / n - 1
        rise = np.expm1(a * np.log1p(s)) - a * s if a > 1 else (1 + s) * np.log1p(s) - s
        weights = np.gradient(z, axis=1) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        total = np.sum(weights * n * rise, axis=1)
        return np.log1p(total) / (a - 1) if a > 1 else total

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose D, where the integral of n(r^α − 1 − α(r−1)) under N(0, 1) is e^{(α−1)D} − 1."""
        rate, shift = ball(c.number("gamma")), 1 / ball(c.number("sigma"))
        order = ball(Fraction(alpha))
        reach = (2 * arb(2).log() * (ctx.prec + 40)).sqrt() + shift * (order + 2)

        def integrand(z: acb, analytic: bool) -> acb:
            m, n = (1 + rate * (s * shift * z - shift**2 / 2).expm1() for s in (1, -1))
            log_m, log_n = m.log(analytic=analytic), n.log(analytic=analytic)
            bell = (-z * z / 2).exp()
            if alpha == 1:
                return bell * (m * (log_m - log_n) - m + n)
            power = (order * log_m + (1 - order) * log_n).exp()
            return bell * (power - order * m - (1 - order) * n)

        total = _normal_mean(integrand, reach.mid())
        total += up_to(_beyond(arb(2) if alpha == 1 else order, rate, shift, arb(reach.mid())))
        return total if alpha == 1 else total.log1p() / (order - 1)


def _beyond(order: arb, rate: arb, shift: arb, reach: arb) -> arb:
    """Bound E[n(r^α − 1 − α(r−1)); |z| > reach] of records at opposite ends, `order` being α > 1.

    For z > 0 it is m^α n^{1−α} + (α−1)n with m <= e^{δz} and 1−γ <= n <= 1 at most, and for z < 0
    with m <= 1 and 1−γ <= n <= e^{−δz}. At α = 2 it bounds n(r log r − r + 1) too, since
    m log(m/n) <= m²/n.
    """
    power, rest = (1 - rate) ** (1 - order), order - 1
    right = power * ((order * shift) ** 2 / 2).exp() * normal_tail(reach - order * shift)
    left = rest * (shift**2 / 2).exp() * normal_tail(reach - shift)
    return right + left + (power + rest) * normal_tail(reach)


class OneByOne(NoisyRecord):
    """A scheme whose truth is integrated for one candidate after the other, in balls."""

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Raise NotImplementedError."""
        raise NotImplementedError("one by one, in balls")


class NormalTriangles(OneByOne):
    """Fixed size, three normal laws: on a line with the third one, and at the same distances.

    At whole orders E[m^α n^{1−α}] is a binomial sum over the powers of X of E[n^{1−α}] under
    log Y ~ N(l c − B/2, B): integrals over the line.
    """

    words = "without replacement, three normal laws, {self.side}"
    orders = (2, 3, 5)
    slow_population, slow_cost, last_bits = 2, 30, 64

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (RATE, ("sigma", 0.8, 20.0))

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose log of the larger moment of both extreme triangles over α − 1."""
        rate, square = ball(c.number("gamma")), 1 / ball(c.number("sigma")) ** 2
        ends = (arb(0), square)
        moments = [_by_powers(int(alpha), rate, square, side) for side in ends]
        return moments[0].max(moments[1]).log() / (int(alpha) - 1)


def _by_powers(alpha: int, rate: arb, square: arb, side: arb) -> arb:
    """Σ_l C(α,l)κ^{α−l}γ^l e^{l(l−1)A/2} E[(κ+γe^V)^{1−α}], V ~ N(lB/2 − B/2, B)."""
    width, reach = side.sqrt(), (2 * arb(2).log() * (ctx.prec + 20)).sqrt().mid()
    total = arb(0)
    for l in range(alpha + 1):
        centre = (l - 1) * side / 2

        def integrand(t: acb, analytic: bool, centre: arb = centre) -> acb:
            n = 1 + rate * (centre + width * t).expm1()
            exponent: acb = (1 - alpha) * n.log(analytic=analytic) - t * t / 2
            return exponent.exp()

        beyond = (1 - rate) ** (1 - alpha) * (reach / arb(2).sqrt()).erfc()
        mean = _normal_mean(integrand, reach) + up_to(beyond)
        weight = arb(comb(alpha, l)) * (1 - rate) ** (alpha - l) * rate**l
        total += weight * (l * (l - 1) * square / 2).exp() * mean
    return total


class OppositeZeroed(OneByOne):
    """Fixed size, a record zeroed out: normal laws at 1, at 0 and, of another record, at y.

    To an upper bound y is anywhere in [−1, 1]. To a lower one it is −1, the opposite record, or 0,
    an empty place. The truth is the definition by flint's integration: with
    w = (1−γ)e^{yδz−y²δ²/2}, m = w + γe^{δz−δ²/2} and n = w + γ, it is E[f_α(m, n)] or E[f_α(n, m)],
    f_α(m, n) = m^α n^{1−α} − αm − (1−α)n, of z ~ N(0, 1).
    """

    words = "fixed size, a record zeroed out, normal laws on a line{attained}"
    orders = (Fraction(5, 4), 2, 3, Fraction(9, 2))
    slow_population, slow_cost, last_bits = 4, 24, 128

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (*super().numbers, *([("y + 2", 1.0, 3.0)] if self.side is Kind.UPPER else []))

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose the largest D over the other records and both orders of the pair."""
        rate, shift = ball(c.number("gamma")), 1 / ball(c.number("sigma"))
        order = ball(Fraction(alpha))
        others = [c.number("y + 2") - 2] if self.side is Kind.UPPER else [Fraction(-1), Fraction(0)]
        moments = [
            _zeroed_moment(order, rate, shift, ball(other), is_removed)
            for other in others
            for is_removed in (False, True)
        ]
        return functools.reduce(arb.max, moments).log1p() / (order - 1)


def _zeroed_moment(order: arb, rate: arb, shift: arb, other: arb, is_removed: bool) -> arb:
    """E[f_α(m, n)], or E[f_α(n, m)] where `is_removed`, of `OppositeZeroed`; α > 1, γ > 0.

    As w <= e^{δ|z|} and m/γ >= e^{−δ|z|−δ²/2}, beyond ±reach either integrand is at most
    γ^{1−α} e^{(α−1)δ²/2} e^{(2α−1)δ|z|} + (α−1)e^{δ|z|}.
    """
    rest = order - 1
    reach = ((2 * arb(2).log() * (ctx.prec + 40)).sqrt() + 2 * order * shift).mid()

    def integrand(z: acb, analytic: bool) -> acb:
        alone = (1 - rate) * (other * shift * z - (other * shift) ** 2 / 2).exp()
        first, second = alone + rate * (shift * z - shift**2 / 2).exp(), alone + rate
        if is_removed:
            first, second = second, first
        power = order * first.log(analytic=analytic) - rest * second.log(analytic=analytic)
        value: acb = (-z * z / 2).exp() * (power.exp() - order * first + rest * second)
        return value

    scale = (rest * shift**2 / 2).exp() * rate ** (-rest)
    beyond = scale * _exponential_tail((2 * order - 1) * shift, reach)
    beyond += rest * _exponential_tail(shift, reach)
    return _normal_mean(integrand, reach) + up_to(beyond)


def _exponential_tail(power: arb, reach: arb) -> arb:
    """E[e^{c|z|}; |z| > reach] of z ~ N(0, 1), c being `power`."""
    return 2 * (power**2 / 2).exp() * normal_tail(reach - power)


#: The samplings that schemes of noise are about.
_SAMPLINGS = tuple(_SAMPLING)

#: The schemes of noise, one for each kind, sampling and side.
SCHEMES: tuple[Scheme, ...] = (
    NormalTriangle(GaussianNoise(), _SAMPLINGS[1]),
    *(Threshold(noise, about) for noise in NOISES for about in _SAMPLINGS),
    *(
        NoisyAnswer(noise, about, side)
        for noise in NOISES
        for about in _SAMPLINGS
        for side in BOTH_SIDES
    ),
    *(NoisyLaws(noise, _SAMPLINGS[1], Kind.LOWER) for noise in NOISES),
    *(NoisyAnswer(noise, _SAMPLINGS[1], s, ADD_REMOVE) for noise in NOISES for s in BOTH_SIDES),
    *(NoisyAnswer(LaplaceNoise(), _SAMPLINGS[1], side, ZERO_OUT) for side in BOTH_SIDES),
    *(OppositeZeroed(GaussianNoise(), _SAMPLINGS[1], side, ZERO_OUT) for side in BOTH_SIDES),
)
