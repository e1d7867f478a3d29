"""Exact rationals as balls, flint's integrals, results to a stated accuracy, guesses in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import acb, arb, ctx

from symacct.kernel import deadline
from symacct.kernel.errors import LimitError, PrecisionError, SymacctError

# --- balls and integrals

#: The number of evaluations, each for more bits, after which an accuracy is refused. More take
#: longer before a PrecisionError.
_MOST_EVALUATIONS = 12


@contextmanager
def within_floats(finding: str, where: str = "", remedy: str = "") -> Iterator[None]:
    """Turns a float's ArithmeticError or ValueError in the decorated function to a PrecisionError.

    Floats that choose steps may leave their range; the error has the finding, where and remedy.
    Arrays that do are ∞ or NaN without a warning.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except SymacctError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise PrecisionError(finding, where=where, remedy=remedy) from error


#: Decorates an integral whose steps are chosen by floats, which may overflow.
steered_by_floats = within_floats(
    "an integral: found parameters beyond the range of the floats that choose its "
    "steps, about 10⁻³⁰⁰ to 10³⁰⁰; needed less extreme ones, or a whole order"
)


def ball(x: Fraction) -> arb:
    """The rational x as a ball that encloses it, at the current precision."""
    return arb(x.numerator) / x.denominator


#: ½, and a float just above 1/√(2π), so that the bound by Mills' ratio is not rounded down.
_HALF, _MILLS = arb(0.5), arb(0.3989422804014327)


#: From this x on flint's erfc of a ball is wide: it bounds the slope e^{−x²} by an x² of 30 bits.
#: Both ways are enclosures; from there on the other one is narrower.
_FAR = 2**8


def normal_tail(x: arb) -> arb:
    """P(Z > x) for a standard normal Z, as a ball at the current precision."""
    x = x / arb(2).sqrt()
    if x > _FAR:
        return x.lower().erfc().union(x.upper().erfc()) / 2  # it falls
    return x.erfc() / 2


def tilted_tail(log_tilt: arb, x: arb) -> arb:
    """An upper bound of e^m P(Z > x), Z standard normal, which is at most about twice it.

    It is e^m e^{−x²/2} min(1/2, 1/(x√(2π))), and e^m where x is not certainly above 0.
    """
    if not x > 0:
        return log_tilt.exp()
    return (log_tilt - x * x / 2).exp() * (_MILLS / x).min(_HALF)


def rounded_down(x: float, bits: int = 16) -> float:
    """The finite float x, rounded down to so many significant bits.

    Multiples of a step of few bits are then exact at low precision.
    """
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


def within(error: arb) -> arb:
    """The ball [−error, error] of a remainder whose modulus is at most error ≥ 0.

    Of an error that is itself a ball the upper end counts.
    """
    return arb(0, error)


def acb_within(error: arb) -> acb:
    """The box about 0 that holds all complex numbers whose modulus is at most error ≥ 0."""
    return acb(within(error), within(error))


def up_to(bound: arb) -> arb:
    """The ball [0, bound] of a remainder that is not negative, up to the bound's upper end."""
    return arb(0).union(bound)


def geometric_tail(first: arb, ratio: arb) -> arb:
    """An upper bound first/(1 − ratio) of terms that each are at most `ratio` times the last.

    ∞ where the ratio is not certainly below 1.
    """
    return first / (1 - ratio) if ratio < 1 else arb("inf")


def integral(
    integrand: Callable[[acb, bool], acb], low: arb | int, high: arb | int, **options: Any
) -> acb:
    """The rigorous integral of flint over a real interval, at the current precision.

    `integrand(x, analytic)` encloses the function on a box, and is NaN there if `analytic` and it
    is not analytic. Each call looks at the time. The first error it raises is raised as it was;
    `options` are flint's, tolerances among them.
    """

    def looked(x: acb, analytic: bool) -> acb:
        deadline.check()
        return integrand(x, analytic)

    try:
        return acb.integral(looked, low, high, **options)
    except SystemError as error:
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        raise first from None


def to_relative_accuracy(evaluate: Callable[[int], arb]) -> arb:
    """evaluate(bits), with bits raised until the ball's relative radius is at most 2^(2−prec).

    `evaluate` works at a precision of its own that gives about so many bits. PrecisionError where
    _MOST_EVALUATIONS do not do, as for a value that is 0 and no exact ball.
    """
    wanted = ctx.prec - 2
    extra = 6
    for _ in range(_MOST_EVALUATIONS):
        deadline.check()
        value = +evaluate(wanted + extra)
        missing = wanted - value.rel_accuracy_bits()
        if missing <= 0:
            return value
        extra = 2 * extra + min(missing, wanted)
    raise PrecisionError(
        f"{wanted} bits wanted, {wanted - missing} reached with {wanted + extra} asked for; "
        "the value may be 0 or the parameters beyond the float64 range of the estimates"
    )


# --- Gauss's rule
#
# Gauss's rule on an interval, in balls.


#: The largest number of nodes of a rule: of more, one root of the polynomial may take seconds. More
#: are refused by LimitError.
_MOST_NODES = 2**22


@lru_cache(32)
def legendre(count: int, bits: int) -> list[tuple[arb, arb]]:
    """The nodes and weights of Gauss's rule of `count` nodes on [−1, 1], as balls of `bits` bits.

    The nodes u >= 0 come first, then their negatives. LimitError above _MOST_NODES.
    """
    if count > _MOST_NODES:
        raise LimitError(f"found Gauss's rule of {count:,} nodes, needed at most {_MOST_NODES:,}")
    with ctx.workprec(bits):
        places = deadline.each(range((count + 1) // 2))
        half = [arb.legendre_p_root(count, k, weight=True) for k in places]
        return half + [(-u, w) for u, w in half[: count // 2]]


@lru_cache(8)
def legendre_floats(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes and weights of Gauss's rule on [−1, 1] in float64, for what only steers."""
    return np.polynomial.legendre.leggauss(count)


# --- magnitudes
#
# Logarithms in float64 that choose steps, windows and precision; no result rests on them.

LOG2 = math.log(2)
#: The CGF order λ at which K(λ)/λ stands for ε(1). It steers.
_KL_ORDER = 2.0**-40
#: The smallest CGF order λ of a magnitude, below which float64 would underflow to 0. It steers.
_LEAST_LAMBDA = 1e-200


def cgf_order(alpha: Fraction) -> float:
    """λ = α − 1 as a float, at least _LEAST_LAMBDA."""
    return max(float(alpha - 1), _LEAST_LAMBDA)


def log_mixture(log_ratio: float, rate: float, rest: float) -> float:
    """log(1−q+q e^w) in floats, w = log_ratio, q = rate > 0, 1−q = rest, without overflow."""
    if log_ratio < -1:
        return math.log(rest + rate * math.exp(log_ratio))
    if log_ratio < 700:
        return math.log1p(rate * math.expm1(log_ratio))
    return math.log(rate) + log_ratio + math.log1p(rest / rate * math.exp(-log_ratio))


def log_convex_excess(log_base: float, lam: float) -> float:
    """log(m^α − 1 − α(m−1)) in floats, for α = 1 + λ, λ > 0, and m = e^log_base > 1."""
    growth = (1 + lam) * log_base
    if growth > 30:
        return growth + math.log(-math.expm1(-lam * log_base))
    if growth < 1e-3:
        return math.log((1 + lam) * lam / 2) + 2 * math.log(log_base)
    rise = math.expm1(lam * log_base)
    return math.log(math.exp(log_base) * rise - lam * math.expm1(log_base))


def log_normal_tail(x: float) -> float:
    """About log P(Z > x) in floats for a standard normal Z, x ≥ 0; by Mills' ratio from 25 on."""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


def crossing(rate: float, rest: float, sigma: float) -> float:
    """The point z₁ = 1/2 + σ² log((1−q)/q) where both parts of the mixture weigh the same."""
    return 0.5 + sigma * sigma * math.log(rest / rate)


def reach_of(drop: float) -> float:
    """√(2·drop), the x > 0 at which e^{−x²/2} has fallen to e^{−drop}; at least 1."""
    return math.sqrt(2 * max(drop, 0.5))


def _upper_peak(alpha: float, middle: float, sigma: float) -> float:
    """About the largest z with z = α·logistic((z − z₁)/σ²), by three steps down from α.

    There m^α φ(z/σ) has its upper peak, m the sampled ratio; `middle` is z₁.
    """
    z = alpha
    for _ in range(3):
        z = alpha / (1 + math.exp(min((middle - z) / sigma**2, 700.0)))
    return z


def log_gaussian_excess(alpha: Fraction, q: Fraction, sigma: Fraction) -> float:
    """About, and mostly below, log(A_α − 1) of the sampled Gaussian at the rate q, in floats.

    A_α = E_Q[m^α], and by Markov's inequality A_α − 1 >= F(m(z))·P(N(0,σ²) > z) for z > 1/2, where
    F(m) = m^α − 1 − α(m−1); six likely z are tried. ValueError where none of them is in range.
    """
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
    """About the log of a lower bound of A_α − 1 of sampled Laplace noise, in floats.

    It is the part of the mean at which the ratio is e^{1/b}, of mass e^{−1/b}/2.
    """
    log_base = log_mixture(float(1 / b), float(gamma), float(1 - gamma))
    return log_convex_excess(log_base, cgf_order(alpha)) - float(1 / b) - LOG2


def log_laplace_kl(gamma: Fraction, b: Fraction) -> float:
    """About log E_Q[m log m] of sampled Laplace noise in floats, by an order just above 1."""
    return log_laplace_excess(1 + Fraction(_KL_ORDER), gamma, b) - math.log(_KL_ORDER)


# --- minima

#: The steps, in nats, in which the logarithm at a minimum is looked for, in turn. They steer.
_LOG_STEPS = (2.0, 0.5, 0.1)
#: The largest modulus of a logarithm from which another step is tried, in nats: what is asked at
#: e^{±200}, and its square, are floats, which end at e^{709}. It steers.
_LARGEST_LOG = 200.0


def lowest(size: Callable[[float], float], start: float) -> float:
    """The logarithm at which `size`, a function of one valley of it, is about smallest.

    It only steers: walks down from `start`, in steps that get smaller.
    """
    best, best_height = start, size(start)
    for step in _LOG_STEPS:
        for way in (step, -step):
            while abs(best) < _LARGEST_LOG and (there := size(best + way)) < best_height:
                best, best_height = best + way, there
    return best
