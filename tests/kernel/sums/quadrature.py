"""The defining expectations by flint's rigorous integration: the other side of the tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import acb, arb, ctx

from symacct.analysis.sampled_laplace import ComplexFunction, _bits, _laplace_expectation, integrate
from symacct.kernel.sums.balls import (
    LOG2,
    ball,
    log_gaussian_excess,
    log_laplace_kl,
    log_mixture,
    normal_tail,
    reach_of,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)

Density = Callable[[acb, acb, acb], acb]


@steered_by_floats
def sampled_gaussian_kl_by_quadrature(q: Fraction, sigma: Fraction) -> arb:
    """D_1(mixture‖Q) = E_Q[m log m − u], m = 1+u: the curve of the sampled Gaussian at order 1.

    It is the larger of the two directions: E_Q[m^α] ≥ E_Q[m^{1−α}] for α > 1 (Mironov–Talwar–
    Zhang 2019, Theorem 5); subtract 1, divide by α − 1 and let α fall to 1.
    """
    return kullback_leibler(q, sigma, _log_gaussian_kl(q, sigma), forward, forward_tails)


def kullback_leibler(
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
            integrand = against_normal(density, q, sigma)
            points = [arb(-reach), *_inner_points(q, sigma, reach, 1 + reach), arb(1 + reach)]
            inside = integrate(integrand, points, log_tolerance)
            inside /= ball(sigma) * (2 * arb.pi()).sqrt()
            return inside + up_to(tails(q, sigma, arb(reach), arb(1 + reach)))

    return to_relative_accuracy(evaluate)


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


def against_normal(density: Density, q: Fraction, sigma: Fraction) -> ComplexFunction:
    """z ↦ density(log m, w, u·w) with the weight w = e^{−z²/(2σ²)}."""
    rate, variance = ball(q), ball(sigma * sigma)
    crossing, log_rest, log_rate = _crossing(q, variance), ball(1 - q).log(), rate.log()

    def integrand(z: acb, analytic: bool) -> acb:
        before, bend = _smaller_part(z, crossing, variance, analytic)
        log_m = bend + (log_rest if before else log_rate + (z - 0.5) / variance)
        base = _bell(z, arb(0), variance)
        return density(log_m, base, rate * (_bell(z, arb(1), variance) - base))

    return integrand


def forward(log_m: acb, weight: acb, rise: acb) -> acb:
    """(m log m − u)·w from log m, w and u·w."""
    return (weight + rise) * log_m - rise


def _tilt(q: Fraction, sigma: Fraction, right: arb) -> arb:
    """c with m(z) ≤ c·e^{(2z−1)/(2σ²)} for z ≥ right."""
    return ball(q) + ball(1 - q) * ((0.5 - right) / ball(sigma * sigma)).exp()


def forward_tails(q: Fraction, sigma: Fraction, left: arb, right: arb) -> arb:
    """The tails of m log m − u: at most q on the left; (c r) log(c r), c = _tilt, on the right."""
    scale, tilt = ball(sigma), _tilt(q, sigma, right)
    x = (right - 1) / scale
    density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
    mean = (tilt.log() + ball(1 / (2 * sigma * sigma))) * normal_tail(x) + density / scale
    return ball(q) * normal_tail(left / scale) + tilt * mean


def _log_gaussian_kl(q: Fraction, sigma: Fraction) -> float:
    """A value near log E_Q[m log m], from the excess just above order 1."""
    return log_gaussian_excess(1 + Fraction(2.0**-40), q, sigma) - math.log(2.0**-40)


def sampled_gaussian_excess_by_quadrature(alpha: Fraction, q: Fraction, sigma: Fraction) -> arb:
    """A_α − 1 = E_{N(0,σ²)}[(1+u)^α − 1 − αu], u = q(e^{(2z−1)/(2σ²)} − 1), since E[u] = 0."""
    log_value = log_gaussian_excess(alpha, q, sigma)
    order, scale = float(alpha), float(sigma)
    exponent = (order / scale) ** 2 + order

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        top = order * log_mixture((order - 0.5) / scale**2, float(q), float(1 - q))
        left = scale * reach_of(math.log(order * float(q)) - log_tolerance)
        right = order + scale * reach_of(top - (order / scale) ** 2 / 2 - log_tolerance)
        with ctx.workprec(_bits(log_value, log_tolerance, exponent)):
            points = [arb(-left), *_inner_points(q, sigma, left, right), arb(right)]
            inside = integrate(gaussian_excess(alpha, q, sigma), points, log_tolerance)
            inside /= ball(sigma) * (2 * arb.pi()).sqrt()
            return inside + up_to(excess_tails(alpha, q, sigma, arb(left), arb(right)))

    return to_relative_accuracy(evaluate)


def gaussian_excess(alpha: Fraction, q: Fraction, sigma: Fraction) -> ComplexFunction:
    """z ↦ ((1+u)^α − 1 − αu)e^{−z²/(2σ²)}, with the squares completed at 0, 1 and α."""
    order, variance, linear = ball(alpha), ball(sigma * sigma), ball(alpha * q)
    crossing = _crossing(q, variance)
    start = ball(1 - q) ** order
    peak = ball(q) ** order * (ball(alpha * (alpha - 1)) / (2 * variance)).exp()

    def integrand(z: acb, analytic: bool) -> acb:
        before, bend = _smaller_part(z, crossing, variance, analytic)
        scale, centre = (start, arb(0)) if before else (peak, order)
        exponent = order * bend - (z - centre) ** 2 / (2 * variance)
        rest = (1 - linear) * _bell(z, arb(0), variance) + linear * _bell(z, arb(1), variance)
        return scale * exponent.exp() - rest

    return integrand


def excess_tails(alpha: Fraction, q: Fraction, sigma: Fraction, left: arb, right: arb) -> arb:
    """Bound on the parts of A_α − 1 over z < −left (F(u) ≤ αq) and z > right (F(u) ≤ m^α)."""
    scale, order = ball(sigma), ball(alpha)
    peak = ball(alpha * (alpha - 1) / (2 * sigma * sigma))
    beyond = (peak + order * _tilt(q, sigma, right).log()).exp()
    beyond *= normal_tail((right - order) / scale)
    return ball(alpha * q) * normal_tail(left / scale) + beyond


def sampled_laplace_kl_by_quadrature(gamma: Fraction, b: Fraction) -> arb:
    """D_1(mixture‖Q) = E_Q[m log m − u], m = 1+u, for Lap(1, b) sampled at rate γ."""
    log_value = log_laplace_kl(gamma, b)

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        with ctx.workprec(_bits(log_value, log_tolerance, float(1 + 1 / b))):
            return _laplace_expectation(forward_kl, gamma, b, log_tolerance)

    return to_relative_accuracy(evaluate)


def forward_kl(u: acb, log_m: acb) -> acb:
    """m log m − u."""
    return (1 + u) * log_m - u
