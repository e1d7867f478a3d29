"""Expectations of the sampled Laplace pair by flint's rigorous integration."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx

from symacct.numerics.normal.magnitude import LOG2, log_laplace_excess
from symacct.numerics.sums.refine import ball, integral, to_relative_accuracy

ComplexFunction = Callable[[acb, bool], acb]
Direction = Callable[[acb, acb], acb]


def integrate(integrand: ComplexFunction, points: list[arb], log_tolerance: float) -> arb:
    """∫ over consecutive points, each piece to about the tolerance; the radius is rigorous."""
    tolerance = arb(log_tolerance).exp().mid()
    total = arb(0)
    for left, right in pairwise(points):
        total += integral(integrand, left, right, rel_tol=arb(0), abs_tol=tolerance).real
    return total


def _bits(log_value: float, log_tolerance: float, exponent: float) -> int:
    """Bits for an integrand of size 1 + value to the tolerance, with exponents of that size."""
    scale = max(log_value, 0.0) - log_tolerance
    return int(scale / LOG2 + math.log2((scale + exponent) ** 2 + 1)) + 20


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
