"""Guesses in float64 that choose steps, windows and precision; no result rests on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

# --- magnitudes
#
# float64 guesses of logarithms. They steer step sizes and precision, no result rests on them.

LOG2 = math.log(2)
_KL_STEP = 2.0**-40
_LEAST_LAMBDA = 1e-200


def cgf_order(alpha: Fraction) -> float:
    """λ = α − 1, kept away from the underflow of float64."""
    return max(float(alpha - 1), _LEAST_LAMBDA)


def log_mixture(log_ratio: float, rate: float, rest: float) -> float:
    """log(1−q+q e^w) for w = log_ratio, q = rate, 1−q = rest, without overflow."""
    if log_ratio < -1:
        return math.log(rest + rate * math.exp(log_ratio))
    if log_ratio < 700:
        return math.log1p(rate * math.expm1(log_ratio))
    return math.log(rate) + log_ratio + math.log1p(rest / rate * math.exp(-log_ratio))


def log_convex_excess(log_base: float, lam: float) -> float:
    """log(m^α − 1 − α(m−1)) for α = 1 + λ and m = e^log_base > 1."""
    growth = (1 + lam) * log_base
    if growth > 30:
        return growth + math.log(-math.expm1(-lam * log_base))
    if growth < 1e-3:
        return math.log((1 + lam) * lam / 2) + 2 * math.log(log_base)
    rise = math.expm1(lam * log_base)
    return math.log(math.exp(log_base) * rise - lam * math.expm1(log_base))


def log_normal_tail(x: float) -> float:
    """log P(Z > x) for a standard normal Z, x ≥ 0."""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


def crossing(rate: float, rest: float, sigma: float) -> float:
    """The point z₁ = 1/2 + σ² log((1−q)/q) where both parts of the mixture weigh the same."""
    return 0.5 + sigma * sigma * math.log(rest / rate)


def reach_of(drop: float) -> float:
    """Where e^{−x²/2} has fallen by e^{−drop}, at least 1."""
    return math.sqrt(2 * max(drop, 0.5))


def _upper_peak(alpha: float, middle: float, sigma: float) -> float:
    """Three steps down from α towards the largest z with z = α·logistic((z − z₁)/σ²)."""
    z = alpha
    for _ in range(3):
        z = alpha / (1 + math.exp(min((middle - z) / sigma**2, 700.0)))
    return z


def log_gaussian_excess(alpha: Fraction, q: Fraction, sigma: Fraction) -> float:
    """About, and normally below, log(A_α − 1): the best F(u(z))·P(N(0,σ²) > z), z > 1/2."""
    lam, rate, rest, scale = cgf_order(alpha), float(q), float(1 - q), float(sigma)
    middle = crossing(rate, rest, scale)
    peak = _upper_peak(1 + lam, middle, scale)
    points = (1.5 * scale, 1.0, 2.0, 1 + lam, middle, peak)
    return max(
        log_convex_excess(log_base, lam) + log_normal_tail(z / scale)
        for z in points
        if z > 0.5 and (log_base := log_mixture((z - 0.5) / scale**2, rate, rest)) > 0
    )


def log_laplace_excess(alpha: Fraction, gamma: Fraction, b: Fraction) -> float:
    """log of a lower bound of A_α − 1: the part with the ratio e^{1/b}, of mass e^{−1/b}/2."""
    log_base = log_mixture(float(1 / b), float(gamma), float(1 - gamma))
    return log_convex_excess(log_base, cgf_order(alpha)) - float(1 / b) - LOG2


def log_laplace_kl(gamma: Fraction, b: Fraction) -> float:
    """A value near log E_Q[m log m], from the excess just above order 1."""
    return log_laplace_excess(1 + Fraction(_KL_STEP), gamma, b) - math.log(_KL_STEP)


# --- least values
#
# Where a function of a positive number is about least; nothing rests on it.

_STEPS = (2.0, 0.5, 0.1)  # of the logarithm
_LARGEST = 200.0  # logarithm


def lowest(size: Callable[[float], float], start: float) -> float:
    """The bottom of a valley, by ever smaller steps; its logarithm is asked for and given."""
    best, least = start, size(start)
    for step in _STEPS:
        for way in (step, -step):
            while abs(best) < _LARGEST and (there := size(best + way)) < least:
                best, least = best + way, there
    return best
