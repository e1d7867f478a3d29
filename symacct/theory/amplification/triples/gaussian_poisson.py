"""Gaussian noise, Poisson sampling, a record replaced: the two records at opposite ends."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from symacct.analysis.normal_mixtures import sampled_relative_entropy
from symacct.analysis.triangles import Triple, line_excess, line_log_excess
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import FINITE_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import Exact, Order, sympy
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import Gaussian
from symacct.operations.subsample import PoissonSubsample
from symacct.theory.amplification.pairs import falling_in, rising_in_rate, shape_ratio
from symacct.theory.rdp_curve import RDPCurve


def is_gaussian(node: Node) -> str | None:
    """The Gaussian mechanism; two normal laws are not all of it."""
    if isinstance(node.mechanism, Gaussian):  # type: ignore[attr-defined]
        return None
    return "the mechanism is not the Gaussian one"


@theorem(
    "TRIPLE-GAUSSIAN-POISSON",
    operation=PoissonSubsample,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 14, Gaussian noise"),
    orders=FINITE_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="a Gaussian mechanism, of any dimension; it is attained if $0 < γ < 1$",
    applies=is_gaussian,
    monotone=True,
    default=True,
    tight=True,
    takes_exact=True,
    status="proved",
)
@rising_in_rate
def at_opposite_ends(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_{x~N(0,1)}[ (1−γ+γe^{δx−δ²/2})^α (1−γ+γe^{−δx−δ²/2})^{1−α} ]/(α−1),
    δ = Δ/σ, any real α > 1"""
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return 4 * eps(alpha)
    shift = 1 / shape_ratio(eps.node)
    if isinstance(alpha, int) and alpha == 1:
        return relative_entropy(ctx, gamma, shift)
    return log_moment(ctx, alpha, gamma, shift) / (ctx.number(alpha) - 1)


@singledispatch
def log_moment(ctx: Arithmetic, alpha: Order, gamma: Number, shift: Any) -> Number:
    """(α−1) ε′(α)"""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


@singledispatch
def relative_entropy(ctx: Arithmetic, gamma: Number, shift: Any) -> Number:
    """E[m log(m/n)]"""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


@log_moment.register
def _(ctx: BallArithmetic, alpha: Order, gamma: Fraction, shift: Fraction) -> Number:
    def excess(ratio: Fraction) -> Number:
        return line_excess(Triple(Fraction(alpha), gamma, 1 / ratio, -1 / ratio))

    return falling_in(1 / shift, excess).log1p()


@relative_entropy.register
def _(ctx: BallArithmetic, gamma: Fraction, shift: Fraction) -> Number:
    return falling_in(1 / shift, lambda ratio: sampled_relative_entropy(gamma, ratio, -1))


@log_moment.register
def _(ctx: SymbolicArithmetic, alpha: Order, gamma: Number, shift: Any) -> Number:
    order = ctx.number(alpha)
    return ctx.log(_integral(ctx, gamma, shift, lambda m, n: m**order * n ** (1 - order)))


@relative_entropy.register
def _(ctx: SymbolicArithmetic, gamma: Number, shift: Any) -> Number:
    return _integral(ctx, gamma, shift, lambda m, n: m * sympy.log(m / n))


def _integral(ctx: SymbolicArithmetic, gamma: Number, shift: Any, value: Any) -> sympy.Expr:
    x = sympy.Dummy("z", real=True)
    rate, delta = ctx.number(gamma), ctx.number(shift)
    m, n = (1 - rate + rate * sympy.exp(s * delta * x - delta**2 / 2) for s in (1, -1))
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return written.Integral(density * value(m, n), (x, -sympy.oo, sympy.oo))


@log_moment.register
def _(ctx: MpmathArithmetic, alpha: Order, gamma: Fraction, shift: Fraction) -> Number:
    """By mpmath's own quadrature of the convex integrand, which is nonnegative."""
    order = ctx.number(alpha)

    def gap(mp: Any, u: Any, w: Any) -> Any:
        growth = order * mp.log1p(u) + (1 - order) * mp.log1p(w)
        return mp.expm1(growth) - order * u - (1 - order) * w

    return ctx.log1p(_by_quadrature(ctx, gamma, shift, order, gap))


@relative_entropy.register
def _(ctx: MpmathArithmetic, gamma: Fraction, shift: Fraction) -> Number:
    def gap(mp: Any, u: Any, w: Any) -> Any:
        return (1 + u) * (mp.log1p(u) - mp.log1p(w)) - u + w

    return _by_quadrature(ctx, gamma, shift, ctx.number(1), gap)


def _by_quadrature(
    ctx: MpmathArithmetic, gamma: Number, shift: Any, order: Any, gap: Any
) -> Number:
    mp = ctx.mp
    with mp.workprec(3 * ctx.bits):
        rate, delta = ctx.number(gamma), ctx.number(shift)
        reach = mp.sqrt(4 * ctx.bits)
        low, high = -reach, reach + order * delta

        def integrand(x: Any) -> Any:
            u, w = (rate * mp.expm1(s * delta * x - delta**2 / 2) for s in (1, -1))
            return mp.exp(-x * x / 2) * gap(mp, u, w)

        places = mp.linspace(low, high, int((high - low) * (1 + delta) / 4) + 4)
        total = quadrature(mp, integrand, places, method="gauss-legendre") / mp.sqrt(2 * mp.pi)
    return +total


@log_moment.register
def _(ctx: Float64Arithmetic, alpha: Order, gamma: Fraction, shift: Fraction) -> Number:
    """By the nodes that the proof would take."""
    a, orders = Fraction(float(shift)), np.asarray(alpha)
    each = map(Fraction, orders.ravel().tolist())
    logs = [line_log_excess(Triple(one, gamma, a, -a)) for one in each]
    return ctx.log1p(LogNumber(1.0, np.reshape(np.array(logs), orders.shape)))


@relative_entropy.register
def _(ctx: Float64Arithmetic, gamma: Fraction, shift: Fraction) -> Number:
    a = Fraction(float(shift))
    return LogNumber(1.0, Triple(Fraction(1), gamma, a, -a).floats.log_entropy())
