"""E_Q[ψ(1−γ+γL); L > 1], ψ(t) = (t^α − 1)(1 − t^{1−α}) or (t−1) log t at order 1, certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import acb, arb, ctx

from symacct.core import limits
from symacct.core.errors import PrecisionError
from symacct.numerics.densities.quadrature import integrate
from symacct.numerics.normal.magnitude import LOG2, log_mixture
from symacct.numerics.sums.refine import (
    ball,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)

_FARTHEST_PEAK = 128.0  # beyond it an integral takes minutes, and other bounds are nearly as tight

Psi = Callable[[acb, bool], acb]


@steered_by_floats
def gaussian_upper_half(alpha: Fraction | None, gamma: Fraction, shift: Fraction) -> arb:
    """The expectation over x ~ N(0, 1), L = e^{δx − δ²/2}; 0 < γ <= 1.

    Beyond R the integrand is at most (cL)^α φ(x), c = γ + κ/L(R): ψ(t) <= t^α, and at order 1
    (t−1) log t <= t².
    """
    power = 2.0 if alpha is None else float(alpha)
    delta, rate = float(shift), float(gamma)
    if power * delta > _FARTHEST_PEAK:
        raise PrecisionError(
            f"the expectation over L > 1: found its peak {power * delta:,.0f} deviations away, "
            f"needed at most {_FARTHEST_PEAK:.0f}",
            remedy="ask for a lower order, or another theorem",
        )
    places = [delta / 2 + k / 8 for k in range(1, int(8 * (power * delta + 2)) + 16)]
    log_value = max(_log_size(alpha, rate, delta, x) for x in places[:4096])

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        top = power * math.log(rate + (1 - rate) * math.exp(-delta * delta / 2))
        drop = power * (power - 1) * delta * delta / 2 + max(top, -700.0) - log_tolerance
        reach = power * delta + math.sqrt(2 * max(drop, 1.0))
        with ctx.workprec(_bits(bits, log_value, log_tolerance, power * (1 + delta * reach))):
            start, end = ball(shift) / 2, arb(reach)
            pieces = max(2, math.ceil((reach - delta / 2) / 8))
            points = [start + (end - start) * k / pieces for k in range(pieces + 1)]
            inside = integrate(_over_bell(alpha, gamma, shift), points, log_tolerance)
            inside /= (2 * arb.pi()).sqrt()
            return inside + up_to(_bell_tail(power, gamma, shift, end))

    return to_relative_accuracy(evaluate)


@steered_by_floats
def laplace_upper_half(alpha: Fraction | None, gamma: Fraction, shift: Fraction) -> arb:
    """The expectation for L = e^{sy}, y between −1 and 1, as Laplace noise has it.

    y has the density (s/4) e^{−s(1+y)/2} inside and the mass e^{−s}/2 at 1; 0 < γ <= 1.
    """
    power, rate, s = 2.0 if alpha is None else float(alpha), float(gamma), float(shift)
    log_value = _log_psi(alpha, log_mixture(s, rate, 1 - rate)) - s - LOG2

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        with ctx.workprec(_bits(bits, log_value, log_tolerance, power * (1 + s))):
            width, psi = ball(shift), _psi_of_ratio(alpha, gamma)

            def integrand(y: acb, analytic: bool) -> acb:
                return psi(width * y, analytic) * (-width * (1 + y) / 2).exp()

            inside = integrate(integrand, [arb(0), arb(1) / 2, arb(1)], log_tolerance) * width / 4
            return inside + psi(acb(width), False).real * (-width).exp() / 2

    return to_relative_accuracy(evaluate)


def _bits(bits: int, log_value: float, log_tolerance: float, exponent: float) -> int:
    """Bits for an integrand that is a product of two differences, to the tolerance."""
    scale = max(log_value, 0.0) - log_tolerance + abs(min(log_value, 0.0))
    most = limits.current().bits
    if not scale / LOG2 < most:
        raise PrecisionError(
            f"the expectation over L > 1: found an integrand of more than {most:,} bits",
            remedy="ask for another theorem, or raise the limit bits",
        )
    return int(scale / LOG2 + math.log2(exponent + scale + 2) * 2) + 30


def _log_psi(alpha: Fraction | None, log_t: float) -> float:
    """log ψ(t) in float64, for log t > 0."""
    if log_t <= 0:
        return -math.inf
    if alpha is None:
        return math.log(log_t) + (log_t if log_t > 30 else math.log(math.expm1(log_t)))
    growth, lam = float(alpha) * log_t, max(float(alpha - 1), 1e-200)
    first = growth if growth > 30 else math.log(math.expm1(growth))
    return first + math.log(-math.expm1(-lam * log_t))


def _log_size(alpha: Fraction | None, rate: float, delta: float, x: float) -> float:
    """log of the integrand at x: an integral over a stretch of length about 1."""
    log_t = log_mixture(delta * x - delta * delta / 2, rate, 1 - rate)
    return _log_psi(alpha, log_t) - x * x / 2 - 3


def _psi_of_ratio(alpha: Fraction | None, gamma: Fraction) -> Psi:
    """log L ↦ ψ(1−γ+γL)"""
    rate = ball(gamma)
    order = None if alpha is None else ball(alpha)

    def psi(log_ratio: acb, analytic: bool) -> acb:
        u = rate * log_ratio.expm1()
        log_t = (1 + u).log(analytic=analytic)
        if order is None:
            return u * log_t
        return -((order * log_t).expm1() * ((1 - order) * log_t).expm1())

    return psi


def _over_bell(alpha: Fraction | None, gamma: Fraction, shift: Fraction) -> Psi:
    psi, delta = _psi_of_ratio(alpha, gamma), ball(shift)

    def integrand(x: acb, analytic: bool) -> acb:
        return psi(delta * x - delta**2 / 2, analytic) * (-x * x / 2).exp()

    return integrand


def _bell_tail(power: float, gamma: Fraction, shift: Fraction, end: arb) -> arb:
    """(c e^{…})^α: c^α e^{α(α−1)δ²/2} Φ̄(R − αδ)"""
    order, delta, rate = arb(power), ball(shift), ball(gamma)
    log_c = (rate + (1 - rate) * (delta**2 / 2 - delta * end).exp()).log()
    beyond = normal_tail(end - order * delta)
    return (order * log_c + order * (order - 1) * delta**2 / 2).exp() * beyond
