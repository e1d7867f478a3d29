"""m = κ + γe^{δx − δ²/2} against n = κ + γe^{−δx − δ²/2}, x ~ N(0, 1), at order 1, certified."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, arb, ctx

from symacct.numerics.densities.quadrature import ComplexFunction, integrate
from symacct.numerics.normal.magnitude import LOG2
from symacct.numerics.sums.refine import (
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)


@steered_by_floats
def opposite_kl(gamma: Fraction, delta: Fraction) -> arb:
    """E[m log(m/n)] = E[(m−n) log(m/n); x > 0]; beyond R at most γ² E[X²; x > R]/κ."""
    rate, shift = float(gamma), float(delta)
    log_value = 2 * math.log(rate * -math.expm1(-shift)) - math.log(4)

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        drop = shift**2 + 2 * math.log(rate) - math.log(float(1 - gamma)) - log_tolerance
        reach = 2 * shift + math.sqrt(2 * max(drop, 0.5))
        with ctx.workprec(int(bits + 2 * abs(log_value) / LOG2 + 40)):
            points = [arb(0), *(arb(k * reach / 4) for k in (1, 2, 3, 4))]
            inside = integrate(_integrand(gamma, delta), points, log_tolerance)
            inside /= (2 * arb.pi()).sqrt()
            return inside + up_to(_tail(gamma, delta, points[-1]))

    return to_relative_accuracy(evaluate)


def _integrand(gamma: Fraction, delta: Fraction) -> ComplexFunction:
    rate, rest, shift = ball(gamma), ball(1 - gamma), ball(delta)

    def at(x: acb, analytic: bool) -> acb:
        u = rate * (shift * x - shift**2 / 2).exp()
        w = rate * (-shift * x - shift**2 / 2).exp()
        m, n = rest + u, rest + w
        log_ratio = m.log(analytic=analytic) - n.log(analytic=analytic)
        return (u - w) * log_ratio * (-x * x / 2).exp()

    return at


def _tail(gamma: Fraction, delta: Fraction, reach: arb) -> arb:
    """γ²/κ · E[X²; x > R] = γ²/κ · e^{δ²} Φ̄(R − 2δ)"""
    rate, shift = ball(gamma), ball(delta)
    return rate**2 / (1 - rate) * (shift**2).exp() * normal_tail(reach - 2 * shift)
