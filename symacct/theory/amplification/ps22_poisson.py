"""Papernot, Steinke 2022: the best of a Poisson number of runs; proofs.md, section 22."""

from __future__ import annotations

from fractions import Fraction

from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.claims import ALL_ORDERS, FINITE_ORDERS
from symacct.kernel.errors import OrderError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.parameters import larger_order
from symacct.kernel.sources import PS22
from symacct.laws.families import Poisson
from symacct.theory.amplification.groups import of_pure
from symacct.theory.amplification.ps22 import (
    NEAREST,
    OURS,
    SEARCH_BITS,
    TRIED,
    counted_by,
    pure,
    refuse_formula,
    searched_order,
    upper_bound,
)
from symacct.theory.rdp_curve import RDPCurve

_FLATTEST = Fraction(1, 2**20)  # of an ε(∞): every order that is searched lies below 2^20

POISSON = counted_by(Poisson)


def often_enough(node: Node) -> str | None:
    """A Poisson number of runs of mean at least 1: fewer are none too often to be left out."""
    reason = POISSON(node)
    if reason is not None or node.runs.rate >= 1:  # type: ignore[attr-defined]
        return reason
    return f"needed a mean of at least 1, got {node.runs.rate}"  # type: ignore[attr-defined]


def excess_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order) -> Number:
    """λ/(j−1) ((1−1/λ)(1−1/j))^j e^{(j−1)ε(j)}, above (λ−1)y′ − λy for an event's chances"""
    j, number = ctx.number(order), ctx.number(lam)
    shrink = j * (ctx.log1p(-1 / number) + ctx.log1p(-1 / j))
    return number / (j - 1) * ctx.exp((j - 1) * eps(order) + shrink)


def pure_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order) -> Number:
    """((λ−1)e^t − λ)/(e^t + 1), t = ε(∞), a bound of c_j where it is not negative; λ−1 at t = ∞"""
    t, less = pure(ctx, eps), ctx.number(lam) - 1
    if t is None:
        return less
    shrunk = ctx.exp(-t)
    return (less * -ctx.expm1(-t) - shrunk) / (shrunk + 1)


def even_order(eps: RDPCurve) -> Order:
    """About e^t/(e^t−1), t = ε(∞), from where on c > 0; 2 where that is no order of a search."""
    known = eps.remember("repeated")
    if "even" not in known:
        with precision(SEARCH_BITS):
            t = pure(BALL, eps.using(BALL))
            if t is None or not t > BALL.number(_FLATTEST):
                known["even"] = 2
            else:
                known["even"] = max(NEAREST, rational(-1 / (-t).expm1()))
    order: Order = known["even"]
    return order


def told_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, mean: Number, growths: list[Number]
) -> Number:
    """log( 1 + E[K] e^{min{max(0, g), g_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1)"""
    lam = ctx.number(order) - 1
    rise = ctx.expm1(lam * eps(order))
    if not isinstance(ctx, SymbolicArithmetic):
        growths = [ctx.minimum(*growths)]  # of one that is far too large there is no e^x
    first, *rest = map(ctx.exp, growths)
    factors = [ctx.maximum(ctx.number(1), first), *rest]
    # The smallest of whole bounds, which a page has room for, and not an exponent of them.
    return ctx.minimum(*(ctx.log1p(mean * factor * rise) / lam for factor in factors))


def poisson_told_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, excesses: list[Number], runs: Poisson
) -> Number:
    """log( 1 + μ e^{μ min{max(0, c), c_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1)"""
    mu = ctx.number(runs.rate)
    return told_at(ctx, eps, order, mu, [mu * c for c in (pure_excess(ctx, eps, order), *excesses)])


@upper_bound(
    "PS22-T6",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs, which may be 0",
    applies=POISSON,
)
def poisson(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= log( 1 + μ e^{μ min{max(0, c), min_j c_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1),

    λ = max(α, 2), c = ((λ−1)e^t − λ)/(e^t + 1), t = ε(∞), and
    c_j = λ/(j−1) ((1−1/λ)(1−1/j))^j e^{(j−1)ε(j)}, j = 2, 4
    """
    lam = larger_order(alpha, 2)
    excesses = [excess_at(ctx, eps, lam, order) for order in TRIED[:2]]
    return poisson_told_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "PS22-T6-BEST",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs, which may be 0; $λ$ and $j$ are searched for",
    applies=POISSON,
    partial=True,
)
def poisson_at_best(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= the least bound of Theorem 6 at λ = α, where c = 0 and at the best λ >= α, with the
    best j"""
    refuse_formula(ctx)
    best: Order = NEAREST  # where log μ is not positive there is no valley
    if runs.rate > 1:
        best = searched_order(
            eps, runs, lambda curve, lam: poisson_printed(BALL, curve, lam, runs, eps)
        )
    tried = {max(alpha, lam) for lam in (NEAREST, best, even_order(eps))}
    return ctx.minimum(*(poisson_at(ctx, eps, lam, runs) for lam in sorted(tried)))


@upper_bound(
    "PS22-T6-PRINTED",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs of mean at least 1; $j$ is searched for",
    applies=often_enough,
    partial=True,
    default=False,
)
def poisson_as_printed(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= ε(α) + (μ min{max(0, c), c_j} + log μ)/(α−1), α > 1 and the best j"""
    refuse_formula(ctx)
    if alpha == 1:
        raise OrderError("PS22-T6-PRINTED: found the order 1, needed one above, as it is printed")
    return poisson_printed(ctx, eps, alpha, runs, eps)


def poisson_printed(
    ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Poisson, asked: RDPCurve
) -> Number:
    """ε(λ) + (μ min{max(0, c), c_j} + log μ)/(λ−1), where log μ is not negative a bound"""
    mu = ctx.number(runs.rate)
    excess = ctx.minimum(pure_excess(ctx, eps, lam), best_excess(ctx, eps, lam, asked))
    return eps(lam) + (mu * ctx.maximum(ctx.number(0), excess) + ctx.log(mu)) / (
        ctx.number(lam) - 1
    )


def poisson_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Poisson) -> Number:
    """Theorem 6 at this λ, and the j that is searched for."""
    return poisson_told_at(ctx, eps, lam, [best_excess(ctx, eps, lam, eps)], runs)


def best_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order, asked: RDPCurve) -> Number:
    """c_j at the j that is searched for, and remembered by the curve that was asked"""
    j = searched_order(asked, ("j", lam), lambda curve, order: excess_at(BALL, curve, lam, order))
    return excess_at(ctx, eps, lam, j)


@upper_bound(
    "REPEAT-POISSON-PURE",
    source=OURS,
    orders=ALL_ORDERS,
    assumes="a Poisson number of runs and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=POISSON,
)
def poisson_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + μ tanh(t/2), t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    share = -ctx.expm1(-t) / (ctx.exp(-t) + 1)
    return of_pure(ctx, t + ctx.number(runs.rate) * share, alpha)


@upper_bound(
    "REPEAT-POISSON-ALL",
    source=OURS,
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs",
    applies=POISSON,
)
def poisson_all(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= μ (e^{(α−1)ε(α)} − 1)/(α−1), με(1) at 1: all outputs are revealed"""
    mu = ctx.number(runs.rate)
    if isinstance(alpha, int) and alpha == 1:
        return mu * eps(1)
    lam = ctx.number(alpha) - 1
    return mu * ctx.expm1(lam * eps(alpha)) / lam
