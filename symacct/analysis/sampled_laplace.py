"""The sampled Laplace mechanism has A_α − 1 and expectations over its pair, certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb, ctx

from symacct.analysis.series import binomial_integral
from symacct.kernel import limits
from symacct.kernel.arithmetic.ball import (
    LOG2,
    ball,
    integral,
    log_laplace_excess,
    log_laplace_kl,
    log_mixture,
    normal_tail,
    steered_by_floats,
    to_relative_accuracy,
    up_to,
)
from symacct.kernel.errors import PrecisionError

# --- integrals
#
# Expectations of the sampled Laplace pair by flint's rigorous integration.

#: (z, analytic) ↦ the integrand over a ball, not finite where `analytic` is asked and not proved.
ComplexFunction = Callable[[acb, bool], acb]
#: (u, log m) ↦ what is expected over Q, u = γ(P/Q − 1) and m = 1 + u.
Direction = Callable[[acb, acb], acb]


def integrate(integrand: ComplexFunction, points: list[arb], log_tolerance: float) -> arb:
    """∫ from the first to the last point, certified; each piece to about e^{log_tolerance}."""
    tolerance = arb(log_tolerance).exp().mid()
    total = arb(0)
    for left, right in pairwise(points):
        total += integral(integrand, left, right, rel_tol=arb(0), abs_tol=tolerance).real
    return total


def _bits(log_value: float, log_tolerance: float, exponent: float) -> int:
    """Bits for an integrand of size 1 + value to the tolerance, with exponents of that size.

    Too few widen the ball.
    """
    scale = max(log_value, 0.0) - log_tolerance
    return int(scale / LOG2 + math.log2((scale + exponent) ** 2 + 1)) + 20


def sampled_laplace_excess_by_quadrature(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1 = E_Q[(1+u)^α − 1 − αu], Lap(1, b) sampled at rate γ against Q = Lap(0, b).

    To the current precision, by flint's certified integration; α > 1 and 0 < γ < 1.
    """
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
    """E_Q[direction]: the ratio is e^{∓1/b} outside [0, 1], and e^{(2z−1)/b} inside; 0 < γ < 1."""
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


# --- the upper half
#
# E_Q[ψ(1−γ+γL); L > 1], ψ(t) = (t^α − 1)(1 − t^{1−α}) or (t−1) log t at order 1, certified.

#: Standard deviations that the peak αδ may be away: beyond it an integral takes minutes, and other
#: bounds are nearly as tight. Farther ones are refused by PrecisionError.
_FARTHEST_PEAK_DEVIATIONS = 128.0

#: (log L, analytic) ↦ ψ(1−γ+γL) over a ball.
Psi = Callable[[acb, bool], acb]


@steered_by_floats
def gaussian_upper_half(alpha: Fraction | None, gamma: Fraction, shift: Fraction) -> arb:
    """E_Q[ψ(1−γ+γL); L > 1] over x ~ N(0, 1), L = e^{δx − δ²/2}, δ = `shift`; 0 < γ <= 1.

    To the current precision; order 1 where `alpha` is None. Beyond R the integrand is at most
    (cL)^α φ(x), c = γ + κ/L(R): ψ(t) <= t^α, and at order 1 (t−1) log t <= t². PrecisionError for
    αδ > 128.
    """
    power = 2.0 if alpha is None else float(alpha)
    delta, rate = float(shift), float(gamma)
    if power * delta > _FARTHEST_PEAK_DEVIATIONS:
        raise PrecisionError(
            f"the expectation over L > 1: found its peak {power * delta:,.0f} deviations away, "
            f"needed at most {_FARTHEST_PEAK_DEVIATIONS:.0f}",
            remedy="ask for a lower order, or another theorem",
        )
    places = [delta / 2 + k / 8 for k in range(1, int(8 * (power * delta + 2)) + 16)]
    log_value = max(_log_size(alpha, rate, delta, x) for x in places[:4096])

    def evaluate(bits: int) -> arb:
        """Integrate up to R in pieces, and bound what lies beyond."""
        log_tolerance = log_value - (bits + 4) * LOG2
        top = power * math.log(rate + (1 - rate) * math.exp(-delta * delta / 2))
        drop = power * (power - 1) * delta * delta / 2 + max(top, -700.0) - log_tolerance
        reach = power * delta + math.sqrt(2 * max(drop, 1.0))
        with ctx.workprec(_bits_above(bits, log_value, log_tolerance, power * (1 + delta * reach))):
            start, end = ball(shift) / 2, arb(reach)
            pieces = max(2, math.ceil((reach - delta / 2) / 8))
            points = [start + (end - start) * k / pieces for k in range(pieces + 1)]
            inside = integrate(_over_bell(alpha, gamma, shift), points, log_tolerance)
            inside /= (2 * arb.pi()).sqrt()
            order = ball(Fraction(2) if alpha is None else alpha)
            return inside + up_to(_bell_tail(order, gamma, shift, end))

    return to_relative_accuracy(evaluate)


@steered_by_floats
def laplace_upper_half(alpha: Fraction | None, gamma: Fraction, shift: Fraction) -> arb:
    """E_Q[ψ(1−γ+γL); L > 1] for L = e^{sy}, y between −1 and 1, as Laplace noise has it.

    y has the density (s/4) e^{−s(1+y)/2} inside and the mass e^{−s}/2 at 1, s = `shift`. To the
    current precision, for 0 < γ <= 1; order 1 where `alpha` is None.
    """
    power, rate, s = 2.0 if alpha is None else float(alpha), float(gamma), float(shift)
    log_value = _log_psi(alpha, log_mixture(s, rate, 1 - rate)) - s - LOG2

    def evaluate(bits: int) -> arb:
        log_tolerance = log_value - (bits + 4) * LOG2
        with ctx.workprec(_bits_above(bits, log_value, log_tolerance, power * (1 + s))):
            width, psi = ball(shift), _psi_of_ratio(alpha, gamma)

            def integrand(y: acb, analytic: bool) -> acb:
                return psi(width * y, analytic) * (-width * (1 + y) / 2).exp()

            inside = integrate(integrand, [arb(0), arb(1) / 2, arb(1)], log_tolerance) * width / 4
            return inside + psi(acb(width), False).real * (-width).exp() / 2

    return to_relative_accuracy(evaluate)


def _bits_above(bits: int, log_value: float, log_tolerance: float, exponent: float) -> int:
    """Bits for an integrand that is a product of two differences, to the tolerance.

    PrecisionError where they are more than the limit "bits".
    """
    scale = max(log_value, 0.0) - log_tolerance + abs(min(log_value, 0.0))
    most = limits.current().bits
    if not scale / LOG2 < most:
        raise PrecisionError(
            f"the expectation over L > 1: found an integrand of more than {most:,} bits",
            remedy="ask for another theorem, or raise the limit bits",
        )
    return int(scale / LOG2 + math.log2(exponent + scale + 2) * 2) + 30


def _log_psi(alpha: Fraction | None, log_t: float) -> float:
    """log ψ(t) in float64 for log t > 0, −∞ for others; order 1 where `alpha` is None."""
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
    """The function log L ↦ ψ(1−γ+γL), of order 1 where `alpha` is None."""
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
    """x ↦ ψ(1−γ+γe^{δx − δ²/2}) e^{−x²/2}."""
    psi, delta = _psi_of_ratio(alpha, gamma), ball(shift)

    def integrand(x: acb, analytic: bool) -> acb:
        return psi(delta * x - delta**2 / 2, analytic) * (-x * x / 2).exp()

    return integrand


def _bell_tail(order: arb, gamma: Fraction, shift: Fraction, end: arb) -> arb:
    """∫_R^∞ (cL)^α φ = c^α e^{α(α−1)δ²/2} Φ(αδ − R), an upper bound beyond R = `end`."""
    delta, rate = ball(shift), ball(gamma)
    log_c = (rate + (1 - rate) * (delta**2 / 2 - delta * end).exp()).log()
    beyond = normal_tail(end - order * delta)
    return (order * log_c + order * (order - 1) * delta**2 / 2).exp() * beyond


# --- every order
#
# A_α − 1 and the Kullback–Leibler value of the sampled Laplace mechanism, certified.

#: The largest order by a series: from here on the integral takes less time than ⌊α⌋ terms.
_LAST_SERIES_ORDER = 1000


@steered_by_floats
def sampled_laplace_excess(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1, A_α = E_Q[(1−γ+γP/Q)^α], for P = Lap(1, b), Q = Lap(0, b), α > 1 and 0 < γ < 1.

    Certified, to the current precision.
    """
    if alpha > _LAST_SERIES_ORDER:
        return sampled_laplace_excess_by_quadrature(alpha, gamma, b)
    return sampled_laplace_excess_by_series(alpha, gamma, b)


def sampled_laplace_excess_by_series(alpha: Fraction, gamma: Fraction, b: Fraction) -> arb:
    """A_α − 1 of the sampled Laplace pair as two atoms and an incomplete beta integral:

    A_α − 1 = m(r₀)^α/2 + m(r₁)^α/(2r₁) − 1 + (4√r₁)^{−1} ∫_{r₀}^{r₁} r^{−3/2} m(r)^α dr.

    m(r) = 1−γ+γr, r₀ = e^{−1/b}, r₁ = e^{1/b}; the integral is the density inside [0, 1] carried
    to the likelihood ratio, an incomplete beta integral at −½ in x = γr/(1−γ).
    Its proof is in docs/proofs/sampling.md, Lemma sampled-laplace.
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
    """The series' formula at the current precision; NaN if γe^{±1/b}/(1−γ) may be 1."""
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
    """factor·∫_bottom^top x^{s−1} dx = factor·(top^s − bottom^s)/s, s = power, power + step, …

    `step` is 1 or −1, and 0 < bottom <= top. It has no end, so who reads it looks at the time.
    """
    upper, lower = factor * top ** ball(power), factor * bottom ** ball(power)
    upper_step, lower_step = (top, bottom) if step > 0 else (1 / top, 1 / bottom)
    numerator, denominator = power.numerator, power.denominator
    while True:
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
    """D_1(m‖Q) = E_Q[m log m] in nats for Lap(1, b) at rate 0 < γ < 1, in closed form.

    ∫ r^{−3/2} m log m dr = V log m − 4γs + 8√(γ(1−γ)) atan(s√(γ/(1−γ))) with s = √r and
    V = 2γs − 2(1−γ)/s, from s = e^{−1/(2b)} to e^{1/(2b)}.
    """
    log_value = log_laplace_kl(gamma, b)

    def evaluate(bits: int) -> arb:
        """Evaluate the antiderivative at both ends, and the atoms there."""
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
