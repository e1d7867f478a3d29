"""A_α − 1 and the Kullback–Leibler value of the sampled Laplace mechanism, certified."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb, ctx

from symacct.core import deadline
from symacct.numerics.densities.quadrature import sampled_laplace_excess_by_quadrature
from symacct.numerics.normal.magnitude import LOG2, log_laplace_excess, log_laplace_kl
from symacct.numerics.sums.alternating import binomial_integral
from symacct.numerics.sums.refine import ball, steered_by_floats, to_relative_accuracy

_LAST_SERIES_ORDER = 1000  # from here on the integral takes less time than ⌊α⌋ terms


@steered_by_floats
def sampled_laplace_excess(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1, A_α = E_Q[(1−γ+γP/Q)^α], for P = Lap(1, b), Q = Lap(0, b) and real α > 1."""
    if alpha > _LAST_SERIES_ORDER:
        return sampled_laplace_excess_by_quadrature(alpha, gamma, b)
    return sampled_laplace_excess_by_series(alpha, gamma, b)


def sampled_laplace_excess_by_series(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1 = m(r₀)^α/2 + m(r₁)^α/(2r₁) − 1 + (4√r₁)^{−1} ∫_{r₀}^{r₁} r^{−3/2} m(r)^α dr.

    m(r) = 1−γ+γr, r₀ = e^{−1/b}, r₁ = e^{1/b}; the integral is the density inside [0, 1] carried
    to the likelihood ratio, an incomplete beta integral at −½ in x = γr/(1−γ).
    Its proof is in docs/proofs.md, section 9.
    """
    log_value = log_laplace_excess(alpha, gamma, b)

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        scale = (max(log_value, 0.0) - log_tolerance) / LOG2
        growth = 2 * math.log2(scale + float(alpha)) + math.log2(2 + float(1 / b))
        with ctx.workprec(int(scale + growth) + 12):
            return _excess(alpha, gamma, b, arb(log_tolerance).exp())

    return to_relative_accuracy(evaluate)


def _excess(alpha: Fraction, gamma: Fraction, b: Fraction, tolerance: arb) -> arb:
    """The formula above at the current precision; not a number if an end may lie on x = 1."""
    order, odds, width = ball(alpha), ball(gamma / (1 - gamma)), ball(1 / b).exp()
    low, high = odds / width, odds * width
    if low.contains(1) or high.contains(1):
        return arb.nan()
    atoms = (1 + low) ** order + (1 + high) ** order / width
    rest = ball(1 - gamma) ** order
    factor = rest * (odds / width).sqrt() / 4
    inside = arb(0)
    if low < 1:
        top = high if high < 1 else arb(1)
        moments = _power_moments(Fraction(-1, 2), 1, low, top, factor)
        inside += binomial_integral(alpha, moments, top, tolerance)
    if high > 1:
        bottom = low if low > 1 else arb(1)
        moments = _power_moments(alpha - Fraction(1, 2), -1, bottom, high, factor)
        inside += binomial_integral(alpha, moments, 1 / bottom, tolerance)
    return rest * atoms / 2 - 1 + inside


def _power_moments(power: Fraction, step: int, bottom: arb, top: arb, factor: arb) -> Iterator[arb]:
    """factor·∫_bottom^top x^{s−1} dx for s = power, power + step, …: (top^s − bottom^s)/s."""
    upper, lower = factor * top ** ball(power), factor * bottom ** ball(power)
    upper_step, lower_step = (top, bottom) if step > 0 else (1 / top, 1 / bottom)
    numerator, denominator = power.numerator, power.denominator
    while True:
        deadline.check()
        if 2 * abs(numerator) < denominator:
            # (e^{s·span} − 1)/s, and its limit at s = 0, where the integral is a logarithm.
            s, span = ball(Fraction(numerator, denominator)), (top / bottom).log()
            yield lower * ((s * span).expm1() / s if numerator else span)
        else:
            yield (upper - lower) * denominator / numerator
        upper *= upper_step
        lower *= lower_step
        numerator += step * denominator


@steered_by_floats
def sampled_laplace_kl(gamma: Fraction, b: Fraction) -> arb:
    """D_1(mixture‖Q) = E_Q[m log m] for Lap(1, b) sampled at rate γ, in closed form.

    ∫ r^{−3/2} m log m dr = V log m − 4γs + 8√(γ(1−γ)) atan(s√(γ/(1−γ))) with s = √r and
    V = 2γs − 2(1−γ)/s, from s = e^{−1/(2b)} to e^{1/(2b)}.
    """
    log_value = log_laplace_kl(gamma, b)

    def evaluate(bits: int) -> arb:
        with ctx.workprec(bits + 8 + max(0, int((1 - log_value + float(1 / b)) / LOG2))):
            rate, rest, width = ball(gamma), ball(1 - gamma), (ball(1 / b) / 2).exp()
            scale, slope = (rate * rest).sqrt(), (rate / rest).sqrt()
            total = arb(0)
            for s, sign in ((width, 1), (1 / width, -1)):
                mixture = rest + rate * s * s
                log_m = mixture.log()
                inner = 2 * (rate * s - rest / s) * log_m - 4 * rate * s
                inner += 8 * scale * (s * slope).atan()
                atom = mixture * log_m / (s * width)
                total += atom / 2 + sign * inner / (4 * width)
            return total

    return to_relative_accuracy(evaluate)
