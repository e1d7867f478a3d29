"""Expectations of two sampled pairs by flint's rigorous integration, with proved tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx

from symacct.numerics.normal.magnitude import LOG2, log_gaussian_kl, log_laplace_excess, reach_of
from symacct.numerics.sums.refine import (
    ball,
    integral,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)

ComplexFunction = Callable[[acb, bool], acb]
Direction = Callable[[acb, acb], acb]
Density = Callable[[acb, acb, acb], acb]


def integrate(integrand: ComplexFunction, points: list[arb], log_tolerance: float) -> arb:
    """∫ over consecutive points, each piece to about the tolerance; the radius is rigorous."""
    tolerance = arb(log_tolerance).exp().mid()
    total = arb(0)
    for left, right in pairwise(points):
        total += integral(integrand, left, right, rel_tol=arb(0), abs_tol=tolerance).real
    return total


@steered_by_floats
def sampled_gaussian_kl(q: Fraction, sigma: Fraction) -> arb:
    """D_1(mixture‖Q) = E_Q[m log m − u], m = 1+u: the curve of the sampled Gaussian at order 1.

    It is the larger of the two directions: E_Q[m^α] ≥ E_Q[m^{1−α}] for α > 1 (Mironov–Talwar–
    Zhang 2019, Theorem 5); subtract 1, divide by α − 1 and let α fall to 1.
    """
    return _kullback_leibler(q, sigma, log_gaussian_kl(q, sigma), _forward, _forward_tails)


def _kullback_leibler(
    q: Fraction,
    sigma: Fraction,
    log_value: float,
    density: Density,
    tails: Callable[[Fraction, Fraction, arb, arb], arb],
) -> arb:
    """E_Q[density] over a window about the two means 0 and 1, with the tails outside."""
    scale = float(sigma)

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        reach = scale * reach_of(4 - log_tolerance - min(0.0, math.log(scale)))
        with ctx.workprec(_bits(log_value, log_tolerance, 1 / scale**2 + 1)):
            integrand = _against_normal(density, q, sigma)
            points = [arb(-reach), *_inner_points(q, sigma, reach, 1 + reach), arb(1 + reach)]
            inside = integrate(integrand, points, log_tolerance)
            inside /= ball(sigma) * (2 * arb.pi()).sqrt()
            return inside + up_to(tails(q, sigma, arb(reach), arb(1 + reach)))

    return to_relative_accuracy(evaluate)


def _bits(log_value: float, log_tolerance: float, exponent: float) -> int:
    """Bits for an integrand of size 1 + value to the tolerance, with exponents of that size."""
    scale = max(log_value, 0.0) - log_tolerance
    return int(scale / LOG2 + math.log2((scale + exponent) ** 2 + 1)) + 20


def _inner_points(q: Fraction, sigma: Fraction, left: float, right: float) -> list[arb]:
    """The crossing z₁ if the window contains it: the branch points lie straight above it."""
    middle = 0.5 + float(sigma) ** 2 * math.log(float((1 - q) / q))
    return [arb(middle)] if -left < middle < right else []


def _bell(z: acb, centre: arb, variance: arb) -> acb:
    """exp(−(z − centre)²/(2·variance)); the square keeps the decay in wide balls."""
    return (-((z - centre) ** 2) / (2 * variance)).exp()


def _smaller_part(z: acb, crossing: arb, variance: arb, analytic: bool) -> tuple[bool, acb]:
    """(before the crossing z₁?, log(1 + smaller/larger part)); not finite on the cut."""
    log_odds = (z - crossing) / variance
    before = bool(z.real.mid() < crossing.mid())
    return before, (1 + (log_odds if before else -log_odds).exp()).log(analytic=analytic)


def _crossing(q: Fraction, variance: arb) -> arb:
    """z₁ = 1/2 + σ² log((1−q)/q)."""
    return 0.5 + variance * ball((1 - q) / q).log()


def _against_normal(density: Density, q: Fraction, sigma: Fraction) -> ComplexFunction:
    """z ↦ density(log m, w, u·w) with the weight w = e^{−z²/(2σ²)}."""
    rate, variance = ball(q), ball(sigma * sigma)
    crossing, log_rest, log_rate = _crossing(q, variance), ball(1 - q).log(), rate.log()

    def integrand(z: acb, analytic: bool) -> acb:
        before, bend = _smaller_part(z, crossing, variance, analytic)
        log_m = bend + (log_rest if before else log_rate + (z - 0.5) / variance)
        base = _bell(z, arb(0), variance)
        return density(log_m, base, rate * (_bell(z, arb(1), variance) - base))

    return integrand


def _forward(log_m: acb, weight: acb, rise: acb) -> acb:
    """(m log m − u)·w from log m, w and u·w."""
    return (weight + rise) * log_m - rise


def _tilt(q: Fraction, sigma: Fraction, right: arb) -> arb:
    """c with m(z) ≤ c·e^{(2z−1)/(2σ²)} for z ≥ right."""
    return ball(q) + ball(1 - q) * ((0.5 - right) / ball(sigma * sigma)).exp()


def _forward_tails(q: Fraction, sigma: Fraction, left: arb, right: arb) -> arb:
    """The tails of m log m − u: at most q on the left; (c r) log(c r), c = _tilt, on the right."""
    scale, tilt = ball(sigma), _tilt(q, sigma, right)
    x = (right - 1) / scale
    density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
    mean = (tilt.log() + ball(1 / (2 * sigma * sigma))) * normal_tail(x) + density / scale
    return ball(q) * normal_tail(left / scale) + tilt * mean


def sampled_laplace_excess_by_quadrature(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1 = E_Q[(1+u)^α − 1 − αu] for Lap(1, b) sampled at rate γ against Q = Lap(0, b)."""
    log_value = log_laplace_excess(alpha, gamma, b)

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        with ctx.workprec(_bits(log_value, log_tolerance, float(alpha * (1 + 1 / b)))):
            order = ball(alpha)

            def excess(u: acb, log_m: acb) -> acb:
                return (order * log_m).exp() - 1 - order * u

            return _laplace_expectation(excess, gamma, b, log_tolerance)

    return to_relative_accuracy(evaluate)


def _laplace_expectation(
    direction: Direction, gamma: Fraction, b: Fraction, log_tolerance: float
) -> arb:
    """E_Q[direction]: the ratio is e^{∓1/b} outside [0, 1], and e^{(2z−1)/b} inside."""
    rate, width = ball(gamma), ball(1 / b)

    def at(log_ratio: acb, analytic: bool) -> acb:
        u = rate * log_ratio.expm1()
        return direction(u, (1 + u).log(analytic=analytic))

    def integrand(z: acb, analytic: bool) -> acb:
        return at((2 * z - 1) * width, analytic) * (-z * width).exp()

    middle = 0.5 + float(b) / 2 * math.log(float((1 - gamma) / gamma))
    inner = [arb(middle)] if 0 < middle < 1 else []
    inside = integrate(integrand, [arb(0), *inner, arb(1)], log_tolerance) * width
    atoms = at(acb(-width), False) + at(acb(width), False) * (-width).exp()
    return (inside + atoms.real) / 2
