"""E_Q[m^α] − 1 and E_Q[m log m] for m = 1−γ+γP/Q of a known pair, in each arithmetic.

Balls have proved formulas of their own (integrals/); mpmath integrates the definition, float64
sums it on a grid, and SymPy writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
import sympy

from symacct.arithmetic import (
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    SymbolicArithmetic,
)
from symacct.exact import Exact
from symacct.integrals.gaussian import sampled_gaussian_excess
from symacct.integrals.laplace import sampled_laplace_excess, sampled_laplace_kl
from symacct.integrals.quadrature import sampled_gaussian_kl
from symacct.mechanisms import Gaussian
from symacct.mechanisms.mechanism import Mechanism
from symacct.mechanisms.response import ResponsePair


def excess(ctx: Any, mechanism: Mechanism, alpha: Any, gamma: Exact) -> Any:
    """E_Q[m^α] − 1 = E_Q[(1+u)^α − 1 − αu], u = γ(P/Q − 1), for real α > 1."""
    if isinstance(mechanism, ResponsePair):
        order = ctx.number(alpha)
        return _over_answers(ctx, mechanism, gamma, lambda log_m: ctx.expm1(order * log_m))
    return _expectation(ctx, mechanism, gamma, alpha)


def relative_entropy(ctx: Any, mechanism: Mechanism, gamma: Exact) -> Any:
    """E_Q[m log m], the Kullback–Leibler divergence of the mixture from Q."""
    if isinstance(mechanism, ResponsePair):
        return _over_answers(ctx, mechanism, gamma, lambda log_m: ctx.exp(log_m) * log_m)
    return _expectation(ctx, mechanism, gamma, None)


def _over_answers(
    ctx: Any, mechanism: ResponsePair, gamma: Exact, value: Callable[[Any], Any]
) -> Any:
    """(1−p)·value(log m₁) + p·value(log m₂), m₁ = 1−γ+γp/(1−p), m₂ = 1−γ+γ(1−p)/p."""
    p, log_odds = mechanism.truth_probability(ctx), mechanism.log_odds(ctx)
    rate = ctx.number(gamma)
    first = ctx.log1p(rate * ctx.expm1(log_odds))
    second = ctx.log1p(rate * ctx.expm1(-log_odds))
    return (1 - p) * value(first) + p * value(second)


def shape_ratio(mechanism: Mechanism) -> Any:
    """σ/Δ of Gaussian noise, b/Δ of Laplace noise: the pair depends on nothing else."""
    noise, sensitivity = mechanism.fields().values()
    return noise / sensitivity


@singledispatch
def _expectation(ctx: Any, mechanism: Mechanism, gamma: Any, alpha: Any) -> Any:
    """E_Q[m^α] − 1, or E_Q[m log m] where alpha is None."""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


@_expectation.register
def _(ctx: BallArithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Any) -> Any:
    scale = Fraction(shape_ratio(mechanism))
    if isinstance(mechanism, Gaussian):
        if alpha is None:
            return sampled_gaussian_kl(gamma, scale)
        return sampled_gaussian_excess(Fraction(alpha), gamma, scale)
    if alpha is None:
        return sampled_laplace_kl(gamma, scale)
    return sampled_laplace_excess(Fraction(alpha), gamma, scale)


@_expectation.register
def _(ctx: SymbolicArithmetic, mechanism: Mechanism, gamma: Any, alpha: Any) -> Any:
    z = sympy.Dummy("z", real=True)
    scale, gamma = ctx.number(shape_ratio(mechanism)), ctx.number(gamma)

    def value(log_ratio: Any) -> Any:
        m = 1 - gamma + gamma * sympy.exp(log_ratio)
        return m * sympy.log(m) if alpha is None else m ** ctx.number(alpha)

    one = 0 if alpha is None else 1
    if isinstance(mechanism, Gaussian):
        density = sympy.exp(-(z**2) / (2 * scale**2)) / (sympy.sqrt(2 * sympy.pi) * scale)
        whole = (z, -sympy.oo, sympy.oo)
        return sympy.Integral(density * value((2 * z - 1) / (2 * scale**2)), whole) - one
    s = 1 / scale
    inside = sympy.Integral(sympy.exp(-s * z) * value(s * (2 * z - 1)), (z, 0, 1))
    return (value(-s) + sympy.exp(-s) * value(s) + s * inside) / 2 - one


@_expectation.register
def _(ctx: MpmathArithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Any) -> Any:
    """mpmath's own quadrature of the convex integrand, which is nonnegative: nothing cancels."""
    mp = ctx.mp
    scale, rate = ctx.number(shape_ratio(mechanism)), ctx.number(gamma)
    order = None if alpha is None else ctx.number(alpha)

    def value(log_ratio: Any) -> Any:
        u = rate * mp.expm1(log_ratio)
        # Half of the digits are lost to the cancellation of the leading terms where u is small.
        with mp.workprec(2 * ctx.bits + max(0, -2 * mp.mag(u)) if u else ctx.bits):
            log_m = mp.log1p(u)
            if order is None:
                return (1 + u) * log_m - u
            return mp.expm1(order * log_m) - order * u

    if isinstance(mechanism, Gaussian):
        reach = mp.sqrt(2 * ctx.bits) * scale
        last = reach + (1 if order is None else order)
        steps = int(mp.ceil((reach + last) / (2 * scale)))
        points = [-reach + (reach + last) * k / steps for k in range(steps + 1)]
        half_square = 2 * scale**2
        total = mp.quad(
            lambda z: mp.exp(-z * z / half_square) * value((2 * z - 1) / half_square),
            points,
            method="gauss-legendre",
        )
        return total / (scale * mp.sqrt(2 * mp.pi))
    s = 1 / scale
    inside = mp.quad(lambda z: mp.exp(-s * z) * value(s * (2 * z - 1)), [0, mp.mpf(1) / 2, 1])
    return (value(-s) + mp.exp(-s) * value(s) + s * inside) / 2


@_expectation.register
def _(ctx: Float64Arithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Any) -> Any:
    orders = [None] if alpha is None else np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    scale, rate = float(shape_ratio(mechanism)), float(gamma)
    logs = [_float_log_expectation(mechanism, scale, rate, order) for order in orders]
    return LogNumber(1.0, np.array(logs).reshape(np.shape(alpha) if alpha is not None else ()))


def _float_log_expectation(mechanism: Mechanism, scale: float, rate: float, order: Any) -> float:
    """log of the expectation by a sum over a grid: trapezoids, or Gauss–Legendre on [0, 1]."""
    blocks = _gaussian_grid if isinstance(mechanism, Gaussian) else _laplace_grid
    logs = []
    for log_weight, log_ratio in blocks(scale, 1.0 if order is None else order):
        logs.append(np.logaddexp.reduce(log_weight + _log_convex(log_ratio, rate, order)))
    return float(np.logaddexp.reduce(logs))


def _gaussian_grid(scale: float, order: float) -> Iterator[tuple[Any, Any]]:
    """Weights and log-ratios on −9σ … α + 9σ in steps small against the width π σ² of the strip."""
    step = min(scale / 16, scale**2 / 4)
    count = int((order + 18 * scale) / step) + 1
    for start in range(0, count, 1 << 20):
        z = -9 * scale + step * np.arange(start, min(start + (1 << 20), count))
        log_weight = np.log(step / (scale * np.sqrt(2 * np.pi))) - z * z / (2 * scale**2)
        yield log_weight, (2 * z - 1) / (2 * scale**2)


def _laplace_grid(scale: float, order: float) -> Iterator[tuple[Any, Any]]:
    """The two outer parts, where the ratio is constant, and nodes between the two centres."""
    s = 1 / scale
    yield np.log([0.5, 0.5]) + np.array([0.0, -s]), np.array([-s, s])
    nodes, weights = np.polynomial.legendre.leggauss(64)
    pieces = max(1, int(s * (1 + order) / 8))
    for piece in range(pieces):
        z = (piece + (nodes + 1) / 2) / pieces
        yield np.log(weights * s / (4 * pieces)) - s * z, s * (2 * z - 1)


def _log_convex(log_ratio: Any, rate: float, order: Any) -> Any:
    """log((1+u)^α − 1 − αu), or log((1+u) log(1+u) − u), for u = γ(e^x − 1)."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        u = rate * np.expm1(np.minimum(log_ratio, 700.0))
        log_m = np.where(
            log_ratio > 30, np.logaddexp(np.log1p(-rate), np.log(rate) + log_ratio), np.log1p(u)
        )
        if order is None:
            plain = np.log((1 + u) * log_m - u)
            small = np.log(u * u / 2 * (1 - u / 3 + u * u / 6 - u**3 / 10))
            large = log_m + np.log(log_m)
            return np.where(np.abs(u) < 1e-3, small, np.where(u > 1e8, large, plain))
        growth = order * log_m
        plain = np.log(np.expm1(np.minimum(growth, 700.0)) - order * u)
        series = 1 + (order - 2) * u / 3 * (1 + (order - 3) * u / 4 * (1 + (order - 4) * u / 5))
        small = np.log(order * (order - 1) / 2 * u * u * series)
        return np.where(np.abs(order * u) < 1e-3, small, np.where(growth > 40, growth, plain))
