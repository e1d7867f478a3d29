"""Fixed size, a record replaced, from one pair that dominates all neighbours: one expectation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

from symacct.analysis.sampled_laplace import gaussian_upper_half, laplace_upper_half
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import FINITE_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import Exact, Order, expression, sympy
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import Gaussian
from symacct.mechanisms.integer_noise import IntegerNoise
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import ResponsePair
from symacct.operations.subsample import SubsampleWithoutReplacement, one_query
from symacct.theory.amplification.pairs import falling_in, rising_in_rate, shape_ratio
from symacct.theory.amplification.triples.careful import carefully
from symacct.theory.rdp_curve import RDPCurve


def has_dominating_pair(node: Node) -> str | None:
    """One pair dominates, and its expectations are known: noise and two answers."""
    mechanism = one_query(node.mechanism)  # type: ignore[attr-defined]
    if not isinstance(mechanism, Gaussian | LaplacePair | IntegerNoise | ResponsePair):
        return (
            "it is computed for noise, Gaussian compositions, randomized response and pure DP, "
            f"got {type(mechanism).__name__}"
        )
    return None


@theorem(
    "TRIPLE-DOMINATED",
    operation=SubsampleWithoutReplacement,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs.md, section 14, Theorem U"),
    orders=FINITE_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="one pair $(P, Q)$ dominates every neighbouring pair, in either order",
    applies=has_dominating_pair,
    monotone=False,
    default=True,
    tight=False,
    takes_exact=True,
    status="proved",
)
@rising_in_rate
def above_one(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) <= log( 1 + E_Q[ψ(1−γ+γL); L > 1] ), L = P/Q, ψ(t) = (t^α − 1)(1 − t^{1−α})"""
    if gamma == 0:
        return ctx.number(0)
    value = carefully(ctx, _expected, eps, alpha, gamma)
    if isinstance(alpha, int) and alpha == 1:
        return value
    return ctx.log1p(value) / (ctx.number(alpha) - 1)


def _expected(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    return expectation(ctx, one_query(eps.node), None if alpha == 1 else alpha, gamma)


def psi(ctx: Arithmetic, alpha: Order, log_t: Any) -> Number:
    """(t^α − 1)(1 − t^{1−α}), and (t−1) log t where α is None."""
    if alpha is None:
        return ctx.expm1(log_t) * log_t
    order = ctx.number(alpha)
    return -(ctx.expm1(order * log_t) * ctx.expm1((1 - order) * log_t))


@singledispatch
def expectation(ctx: Arithmetic, mechanism: Any, alpha: Order, gamma: Exact) -> Number:
    """E_Q[ψ(1−γ+γL); L > 1]"""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


def of_answers(ctx: Arithmetic, mechanism: ResponsePair, alpha: Order, gamma: Exact) -> Number:
    """ψ(u)/(e+1), u = 1−γ+γe"""
    pure = mechanism.at_infinity(ctx)
    log_u = ctx.log1p(ctx.number(gamma) * ctx.expm1(pure))
    return psi(ctx, alpha, log_u) / (ctx.exp(pure) + 1)


def over_integers(ctx: Arithmetic, mechanism: IntegerNoise, alpha: Order, gamma: Exact) -> Number:
    """Σ Q ψ(1−γ+γL) over L > 1, where 0 <= ψ(t) <= t^α, or t² for α = 1"""
    rate = ctx.number(gamma)

    def value(log_ratio: Number) -> Number:
        return psi(ctx, alpha, ctx.log1p(rate * ctx.expm1(log_ratio)))

    return mechanism.expected(ctx, value, 2 if alpha is None else alpha, above_one=True)


@expectation.register
def _(ctx: BallArithmetic, mechanism: Any, alpha: Order, gamma: Fraction) -> Number:
    if isinstance(mechanism, ResponsePair):
        return of_answers(ctx, mechanism, alpha, gamma)
    if isinstance(mechanism, IntegerNoise):
        return over_integers(ctx, mechanism, alpha, gamma)
    order = None if alpha is None else Fraction(alpha)
    half = gaussian_upper_half if isinstance(mechanism, Gaussian) else laplace_upper_half
    return falling_in(shape_ratio(mechanism), lambda ratio: half(order, gamma, 1 / ratio))


@expectation.register
def _(ctx: MpmathArithmetic, mechanism: Any, alpha: Order, gamma: Fraction) -> Number:
    if isinstance(mechanism, ResponsePair):
        return of_answers(ctx, mechanism, alpha, gamma)
    if isinstance(mechanism, IntegerNoise):
        return over_integers(ctx, mechanism, alpha, gamma)
    mp, rate = ctx.mp, ctx.number(gamma)

    def value(log_ratio: Any) -> Any:
        return psi(ctx, alpha, mp.log1p(rate * mp.expm1(log_ratio)))

    s = 1 / ctx.number(shape_ratio(mechanism))
    if isinstance(mechanism, LaplacePair):
        inside = quadrature(
            mp, lambda y: value(s * y) * mp.exp(-s * (1 + y) / 2), [0, mp.mpf(1) / 2, 1]
        )
        return inside * s / 4 + value(s) * mp.exp(-s) / 2
    high = (1 if alpha is None else ctx.number(alpha)) * s + mp.sqrt(2 * ctx.bits)
    places = mp.linspace(s / 2, high, int(high * (1 + s) / 4) + 4)
    total = quadrature(
        mp, lambda x: value(s * x - s * s / 2) * mp.exp(-x * x / 2), places, method="gauss-legendre"
    )
    return total / mp.sqrt(2 * mp.pi)


@expectation.register
def _(ctx: SymbolicArithmetic, mechanism: Any, alpha: Order, gamma: Exact) -> Number:
    if isinstance(mechanism, ResponsePair):
        return of_answers(ctx, mechanism, alpha, gamma)
    order = None if alpha is None else ctx.number(alpha)
    if isinstance(mechanism, IntegerNoise):
        rate = ctx.number(gamma)
        return mechanism.expected(
            ctx,
            lambda x: written_psi(order, 1 - rate + rate * sympy.exp(x)),
            alpha or 2,
            above_one=True,
        )
    return above_one_of(mechanism, gamma, lambda t: written_psi(order, t))


def written_psi(order: Any, t: sympy.Expr) -> sympy.Expr:
    """ψ as it is printed."""
    return (t - 1) * sympy.log(t) if order is None else (t**order - 1) * (1 - t ** (1 - order))


def above_one_of(
    mechanism: Any, gamma: Any, value: Callable[[sympy.Expr], sympy.Expr]
) -> sympy.Expr:
    """E_Q[value(1−γ+γL); L > 1] as an integral over the noise's shape."""
    z, rate = sympy.Dummy("z", real=True), expression(gamma)
    s = 1 / expression(shape_ratio(mechanism))

    def at(log_ratio: sympy.Expr) -> sympy.Expr:
        return value(1 - rate + rate * sympy.exp(log_ratio))

    if isinstance(mechanism, LaplacePair):
        inside = written.Integral(sympy.exp(-s * (1 + z) / 2) * at(s * z), (z, 0, 1))
        return s * inside / 4 + at(s) * sympy.exp(-s) / 2
    density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return written.Integral(density * at(s * z - s**2 / 2), (z, s / 2, sympy.oo))
