"""The defining expectations by flint's rigorous integration: the other side of the tests."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, arb, ctx

from symacct.numerics.densities.quadrature import (
    ComplexFunction,
    _bell,
    _bits,
    _crossing,
    _inner_points,
    _kullback_leibler,
    _laplace_expectation,
    _smaller_part,
    _tilt,
    integrate,
)
from symacct.numerics.normal.magnitude import (
    LOG2,
    log_gaussian_excess,
    log_laplace_kl,
    log_mixture,
    reach_of,
)
from symacct.numerics.sums.refine import (
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)


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


@steered_by_floats
def sampled_gaussian_reverse_kl(q: Fraction, sigma: Fraction) -> arb:
    """D_1(Q‖mixture) = E_Q[u − log(1+u)], the smaller of the two directions at order 1."""
    fall = float(q) * -math.expm1(-1.5 / float(sigma) ** 2)
    log_value = math.log(fall * fall / 20)
    return _kullback_leibler(q, sigma, log_value, reverse, reverse_tails)


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


def reverse(log_m: acb, weight: acb, rise: acb) -> acb:
    """(u − log m)·w from log m, w and u·w."""
    return rise - weight * log_m


def excess_tails(alpha: Fraction, q: Fraction, sigma: Fraction, left: arb, right: arb) -> arb:
    """Bound on the parts of A_α − 1 over z < −left (F(u) ≤ αq) and z > right (F(u) ≤ m^α)."""
    scale, order = ball(sigma), ball(alpha)
    peak = ball(alpha * (alpha - 1) / (2 * sigma * sigma))
    beyond = (peak + order * _tilt(q, sigma, right).log()).exp()
    beyond *= normal_tail((right - order) / scale)
    return ball(alpha * q) * normal_tail(left / scale) + beyond


def reverse_tails(q: Fraction, sigma: Fraction, left: arb, right: arb) -> arb:
    """The same for u − log m: at most −log(1−q) on the left, and at most q r on the right."""
    scale = ball(sigma)
    start = -ball(1 - q).log() * normal_tail(left / scale)
    return start + ball(q) * normal_tail((right - 1) / scale)


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
