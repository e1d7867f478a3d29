"""E_Q[m^α] − 1 and E_Q[m log m] for m = 1−γ+γP/Q of a known pair, in each arithmetic.

Balls have proved formulas of their own (integrals/); mpmath integrates the definition, float64
and generated code sum it by one rule, and SymPy writes it down.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch, wraps
from typing import Any

import numpy as np

from symacct.analysis.normal_mixtures import sampled_relative_entropy
from symacct.analysis.sampled_gaussian import Known, sampled_gaussian_excess
from symacct.analysis.sampled_laplace import sampled_laplace_excess, sampled_laplace_kl
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    RuledArithmetic,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import rational_ends
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact, Order, exact, sympy
from symacct.kernel.node import Mechanism, order_by_order
from symacct.kernel.theorem_registry import Bound
from symacct.mechanisms import Gaussian
from symacct.mechanisms.integers.integer_noise import IntegerNoise
from symacct.mechanisms.response import ResponsePair

_NUMERIC = BallArithmetic | MpmathArithmetic | Float64Arithmetic
_MOST_STEPS = 1 << 9  # of mpmath's quadrature, each some milliseconds


def excess(
    ctx: Arithmetic, mechanism: Mechanism, alpha: Order, gamma: Exact, known: Known
) -> Number:
    """E_Q[m^α] − 1 = E_Q[(1+u)^α − 1 − αu], u = γ(P/Q − 1), for real α > 1.

    What is `known` of the sampled Gaussian in balls near one order serves the next.
    """
    if isinstance(mechanism, Gaussian) and isinstance(ctx, BallArithmetic):
        asked, rate = Fraction(alpha), Fraction(gamma)
        return falling_in(
            shape_ratio(mechanism), lambda scale: sampled_gaussian_excess(asked, rate, scale, known)
        )
    if isinstance(mechanism, IntegerNoise):
        return _over_integers(ctx, mechanism, gamma, alpha)
    if not isinstance(mechanism, ResponsePair):
        return expectation(ctx, mechanism, gamma, alpha)
    order = ctx.number(alpha)
    if ctx.rounds:
        return mechanism.over_answers(ctx, _gap(ctx, gamma, order - 1))
    return _over_answers(ctx, mechanism, gamma, lambda log_m: ctx.expm1(order * log_m))


def relative_entropy(ctx: Arithmetic, mechanism: Mechanism, gamma: Exact) -> Number:
    """E_Q[m log m], the Kullback–Leibler divergence of the mixture from Q."""
    if isinstance(mechanism, IntegerNoise):
        return _over_integers(ctx, mechanism, gamma, None)
    if not isinstance(mechanism, ResponsePair):
        return expectation(ctx, mechanism, gamma, None)
    if ctx.rounds:
        return mechanism.over_answers(ctx, _gap(ctx, gamma, None))
    return _over_answers(ctx, mechanism, gamma, lambda log_m: ctx.exp(log_m) * log_m)


def _gap(ctx: Arithmetic, gamma: Exact, lam: Any) -> Callable[[Order], Number]:
    """log(P/Q) ↦ (1+u)^α − 1 − αu, or (1+u) log(1+u) − u where λ is None: never below 0."""
    rate = ctx.number(gamma)
    if lam is None:
        return lambda x: ctx.entropy_gap(rate, x)
    return lambda x: ctx.power_gap(rate, x, lam)


def _over_integers(
    ctx: Arithmetic, mechanism: IntegerNoise, gamma: Exact, alpha: Order | None
) -> Number:
    """E_Q[(1+u)^α − 1 − αu], or E_Q[(1+u) log(1+u) − u] where alpha is None."""
    if isinstance(ctx, SymbolicArithmetic):
        written = mechanism.expected(ctx, _written(ctx, gamma, alpha), alpha or 2)
        return written if alpha is None else written - 1
    if isinstance(alpha, np.ndarray):
        each = order_by_order(ctx, lambda one: _over_integers(ctx, mechanism, gamma, one))
        return each(alpha)
    lam = None if alpha is None else ctx.number(alpha) - 1
    return mechanism.expected(ctx, _gap(ctx, gamma, lam), 2 if alpha is None else alpha)


def _written(
    ctx: SymbolicArithmetic, gamma: Exact, alpha: Order | None
) -> Callable[[sympy.Expr], sympy.Expr]:
    """log(P/Q) ↦ m^α, or m log m where alpha is None."""

    def value(log_ratio: sympy.Expr) -> sympy.Expr:
        m = 1 - ctx.number(gamma) + ctx.number(gamma) * sympy.exp(log_ratio)
        return m * sympy.log(m) if alpha is None else m ** ctx.number(alpha)

    return value


def _over_answers(
    ctx: Arithmetic, mechanism: ResponsePair, gamma: Exact, value: Callable[[Order], Number]
) -> Number:
    """(1−p)·value(log m₁) + p·value(log m₂), m₁ = 1−γ+γp/(1−p), m₂ = 1−γ+γ(1−p)/p."""
    p, log_odds = mechanism.truth_probability(ctx), mechanism.log_odds(ctx)
    rate = ctx.number(gamma)
    first = ctx.log1p(rate * ctx.expm1(log_odds))
    second = ctx.log1p(rate * ctx.expm1(-log_odds))
    return (1 - p) * value(first) + p * value(second)


def shape_ratio(mechanism: Any) -> Exact:
    """σ/Δ of Gaussian noise, b/Δ of Laplace noise: the pair depends on nothing else."""
    if isinstance(mechanism, Gaussian):
        return exact(mechanism.sigma / mechanism.sensitivity)
    return exact(1 / mechanism.pure)


@singledispatch
def expectation(ctx: Arithmetic, mechanism: Mechanism, gamma: Number, alpha: Order) -> Number:
    """E_Q[m^α] − 1, or E_Q[m log m] where alpha is None."""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


def falling_in(ratio: Exact, value: Callable[[Fraction], Number]) -> Number:
    """A value that falls in the ratio: an irrational one's is between those of rational ones."""
    first, *other = map(value, rational_ends(ratio, BALL.bits))
    return first.union(*other) if other else first


def rising_in_rate(bound: Bound) -> Bound:
    """A bound that never falls in γ, told rational rates: an irrational one's is between theirs.

    D_f((1−γ)q + γp ‖ (1−γ)q + γp′) is convex in γ, never below 0, and 0 at γ = 0.
    """

    @wraps(bound)
    def between(ctx: Any, eps: Any, alpha: Any, gamma: Exact, **near: Any) -> Number:
        if isinstance(gamma, Fraction) or gamma.free_symbols or not isinstance(ctx, _NUMERIC):
            return bound(ctx, eps, alpha, gamma, **near)
        ends = (min(end, Fraction(1)) for end in rational_ends(gamma, ctx.bits))
        least, most = (bound(ctx, eps, alpha, end, **near) for end in ends)
        return least.union(most) if isinstance(ctx, BallArithmetic) else least

    return between


@expectation.register
def _(ctx: BallArithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Order) -> Number:
    def value(scale: Fraction) -> Number:
        if isinstance(mechanism, Gaussian):
            if alpha is None:
                return sampled_relative_entropy(gamma, scale)
            return sampled_gaussian_excess(Fraction(alpha), gamma, scale)
        if alpha is None:
            return sampled_laplace_kl(gamma, scale)
        return sampled_laplace_excess(Fraction(alpha), gamma, scale)

    return falling_in(shape_ratio(mechanism), value)


@expectation.register
def _(ctx: SymbolicArithmetic, mechanism: Mechanism, gamma: Number, alpha: Order) -> Number:
    z = sympy.Dummy("z", real=True)
    scale, value = ctx.number(shape_ratio(mechanism)), _written(ctx, gamma, alpha)
    one = 0 if alpha is None else 1
    if isinstance(mechanism, Gaussian):
        density = sympy.exp(-(z**2) / (2 * scale**2)) / (sympy.sqrt(2 * sympy.pi) * scale)
        whole = (z, -sympy.oo, sympy.oo)
        return written.Integral(density * value((2 * z - 1) / (2 * scale**2)), whole) - one
    s = 1 / scale
    inside = written.Integral(sympy.exp(-s * z) * value(s * (2 * z - 1)), (z, 0, 1))
    return (value(-s) + sympy.exp(-s) * value(s) + s * inside) / 2 - one


@expectation.register
def _(ctx: MpmathArithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Order) -> Number:
    """By mpmath's quadrature of the convex integrand, which is nonnegative: nothing cancels."""
    mp = ctx.mp
    scale, order = ctx.number(shape_ratio(mechanism)), ctx.number(1 if alpha is None else alpha)
    gap = _gap(ctx, gamma, None if alpha is None else order - 1)
    if isinstance(mechanism, Gaussian):
        reach = mp.sqrt(2 * ctx.bits) * scale
        last = reach + order
        steps = int(mp.ceil((reach + last) / (2 * scale)))
        if steps > _MOST_STEPS:
            raise PrecisionError(
                f"an integral in mpmath: found {steps:,} steps for noise so small, needed at most "
                f"{_MOST_STEPS:,}",
                remedy="ask the engine ball, or a whole order",
            )
        points = [-reach + (reach + last) * k / steps for k in range(steps + 1)]
        half_square = 2 * scale**2
        total = quadrature(
            mp,
            lambda z: mp.exp(-z * z / half_square) * gap((2 * z - 1) / half_square),
            points,
            method="gauss-legendre",
        )
        return total / (scale * mp.sqrt(2 * mp.pi))
    s = 1 / scale
    inside = quadrature(mp, lambda z: mp.exp(-s * z) * gap(s * (2 * z - 1)), [0, mp.mpf(1) / 2, 1])
    return (gap(-s) + mp.exp(-s) * gap(s) + s * inside) / 2


@expectation.register
def _(ctx: Float64Arithmetic, mechanism: Mechanism, gamma: Fraction, alpha: Order) -> Number:
    if isinstance(alpha, np.ndarray):
        return order_by_order(ctx, lambda one: expectation(ctx, mechanism, gamma, one))(alpha)
    return by_quadrature(ctx, mechanism, gamma, alpha)


def by_quadrature(ctx: RuledArithmetic, mechanism: Mechanism, gamma: Exact, alpha: Order) -> Number:
    """The expectation of the gap by a fixed rule, in an arithmetic that has rules."""
    scale, order = ctx.number(shape_ratio(mechanism)), ctx.number(1 if alpha is None else alpha)
    gap = _gap(ctx, gamma, None if alpha is None else order - 1)
    rule = _over_gaussian if isinstance(mechanism, Gaussian) else _over_laplace
    return rule(ctx, scale, order, gap)


def _over_gaussian(
    ctx: RuledArithmetic, sigma: Any, order: Any, gap: Callable[[Order], Number]
) -> Number:
    """E_{z~N(0,σ²)}[gap((2z−1)/(2σ²))], a sum over the grid −Rσ, −Rσ + σ/k, … α + Rσ.

    With T nats of precision, R = √(2T); the integrand is analytic up to |Im z| < πσ², so the
    sum over a grid of step σ/k errs by e^{−2π²σk + π²σ²/2} or e^{−2π²k²}, whichever is larger.
    """
    nats, square = ctx.grid_nats(), 2 * ctx.pi() ** 2
    per_sigma = ctx.sqrt(nats / square) + nats / square / sigma
    reach, step = ctx.sqrt(2 * nats) * sigma, sigma / per_sigma

    def term(i: Any) -> Any:
        z = step * i - reach
        half = z / sigma
        return ctx.exp(-(half * half / 2)) * gap((2 * z - 1) / (2 * sigma**2))

    total = ctx.long_sum(term, (order + 2 * reach) // step)
    return total / (per_sigma * ctx.sqrt(2 * ctx.pi()))


def _over_laplace(
    ctx: RuledArithmetic, scale: Any, order: Any, gap: Callable[[Order], Number]
) -> Number:
    """½ gap(−s) + ½ e^{−s} gap(s) + (s/2) ∫_0^1 e^{−sz} gap(s(2z−1)) dz, s = Δ/b."""
    s = 1 / scale
    pieces = s * (order + 1) // 3 + 1
    inside = ctx.integral(lambda z: ctx.exp(-(s * z)) * gap(s * (2 * z - 1)), pieces)
    return (gap(-s) + ctx.exp(-s) * gap(s) + s * inside) / 2
