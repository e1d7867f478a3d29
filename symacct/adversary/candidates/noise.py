"""Gaussian and Laplace noise: tails, curves, and expectations over the two laws a step apart.

Q is centred at 0, P at 1, and log P/Q = ℓ. An expectation under Q is a sum over a grid for the
search, and flint's integral with proved tails for the proof: nothing of symacct.analysis.densities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from flint import acb, arb, ctx

from symacct import laws
from symacct.kernel.arithmetic import Number
from symacct.kernel.arithmetic.ball import ceiling, floor, precision
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.sums.balls import ball, integral, normal_tail, up_to
from symacct.laws import Law
from symacct.mechanisms import Gaussian, Laplace, ScalarGaussian

_NODES = 1200


@dataclass(frozen=True)
class RatioIntegrand:
    """f(u, log m), m = 1 + u = 1−γ+γe^ℓ, with 0 <= f <= `left` for ℓ <= 0 and

    f <= `right`·e^{`power`·ℓ} for ℓ >= 0: what is left out of an integral.
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

    def law(self, centre: int, scale: Fraction) -> Law:
        """The law of the noisy answer about this centre."""
        return laws.Normal(centre, scale**2)

    def curve(self, scale: Number, alpha: Order) -> Number:
        """ε(α) in float64."""
        return alpha / (2 * scale**2)

    def tail(self, x: Number) -> Number:
        """P(noise > x·scale), for an array of float64."""
        return np.vectorize(math.erfc)(x / math.sqrt(2)) / 2

    ball_tail = staticmethod(normal_tail)

    def grid(self, scale: Number, alpha: float) -> tuple[Number, Number]:
        """Weights under Q, and ℓ, for each candidate; `scale` has shape (candidates, 1)."""
        z = -10 * scale + (alpha + 20 * scale) * np.linspace(0, 1, _NODES)
        step = (alpha + 20 * scale) / (_NODES - 1)
        weights = step * np.exp(-((z / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))
        return weights, (2 * z - 1) / (2 * scale**2)

    def expectation(self, f: RatioIntegrand, rate: arb, scale: arb) -> arb:
        """E_Q[f]"""
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
    """e^{−|z|/b}/(2b)"""

    name, scale, drawn = "Laplace noise", "b", (0.2, 20.0)

    mechanism = on_the_line = staticmethod(Laplace)
    law = staticmethod(laws.Laplace)

    def curve(self, scale: Number, alpha: Order) -> Number:
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
        s = 1 / scale
        nodes, weights = np.polynomial.legendre.leggauss(64)
        z = (nodes + 1) / 2
        ends = np.concatenate([0.5 + 0 * s, np.exp(-s) / 2, weights * s * np.exp(-s * z) / 4], 1)
        return ends, np.concatenate([-s, s, s * (2 * z - 1)], axis=1)

    def expectation(self, f: RatioIntegrand, rate: arb, scale: arb) -> arb:
        s = 1 / scale

        def density(z: acb, analytic: bool) -> acb:
            return _at(f, rate, s * (2 * z - 1), analytic) * (-s * z).exp()

        inside = _integral(density, arb(0), _crossing(rate, scale), arb(1)) * s
        ends = _at(f, rate, acb(-s), False) + _at(f, rate, acb(s), False) * (-s).exp()
        return (ends.real + inside) / 2

    def largest_log_ratio(self, scale: arb) -> arb:
        return 1 / scale


def _at(f: RatioIntegrand, rate: arb, log_ratio: acb, analytic: bool) -> acb:
    u = rate * log_ratio.expm1()
    return f.value(u, (1 + u).log(analytic=analytic))


def _grown(power: arb, scale: arb) -> arb:
    """E_Q[e^{kℓ}] = e^{k(k−1)/(2σ²)}"""
    return (power * (power - 1) / (2 * scale**2)).exp()


def _crossing(rate: arb, width: arb) -> arb:
    """The z at which γe^ℓ = 1−γ, ℓ = (2z−1)/width: the branch points lie straight above it."""
    return ((1 + width * ((1 - rate) / rate).log()) / 2).mid()


def _integral(density: Callable[[acb, bool], acb], left: arb, middle: arb, right: arb) -> arb:
    points = [left, middle, right] if left < middle < right else [left, right]
    total = arb(0)
    for a, b in pairwise(points):
        total += integral(density, a, b).real
    return total


#: A law of noise with a scale, as an attack needs it.
Noise: TypeAlias = GaussianNoise | LaplaceNoise


def half_open(x: Fraction, noise: Noise, up: bool) -> Fraction:
    """P(noise > x·scale), rounded up or down to 40 bits but kept inside (0, 1)."""
    value = noise.ball_tail(ball(x)) * arb(2) ** 40
    whole = ceiling(value) if up else floor(value)
    return Fraction(min(max(whole, 1), 2**40 - 1), 2**40)


def concentration_rho(largest: Fraction) -> Fraction:
    """ρ = ε(∞)²/2 for ε(∞) = log of this ratio, rounded up to nine decimals: ρ-zCDP."""
    with precision(128):
        rho = ceiling(ball(largest).log() ** 2 / 2 * 10**9)
    return Fraction(max(rho, 1), 10**9)


NOISES: tuple[Noise, ...] = (GaussianNoise(), LaplaceNoise())
