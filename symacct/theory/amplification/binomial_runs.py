"""The best of those of n runs that are made, each with one probability; proofs.md, section 22."""

from __future__ import annotations

from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, FINITE_ORDERS
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.parameters import larger_order
from symacct.laws.families import Binomial
from symacct.theory.amplification import ps22_poisson
from symacct.theory.amplification.groups import of_pure
from symacct.theory.amplification.ps22 import (
    NEAREST,
    OURS,
    TRIED,
    counted_by,
    log_of,
    log_ratio,
    pure,
    pure_log_ratio,
    refuse_formula,
    searched_order,
    upper_bound,
)
from symacct.theory.rdp_curve import RDPCurve

BINOMIAL = counted_by(Binomial)


def excess_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order, runs: Binomial) -> Number:
    """θ (log(1/(1−θ))/θ)^j c_j of a Poisson number, above λ log p − (λ−1) log p′"""
    theta = ctx.number(runs.theta)
    steepness = ctx.log(-log_of(ctx, 1 - runs.theta) / theta)
    poisson = ps22_poisson.excess_at(ctx, eps, lam, order)
    return theta * ctx.exp(ctx.number(order) * steepness) * poisson


def ratio_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order, runs: Binomial) -> Number:
    """(λ−1)((1−1/j)ε(j) + log(1/(1−θ))/j), above λ log p − (λ−1) log p′, as p <= 1"""
    return (ctx.number(lam) - 1) * log_ratio(ctx, eps, order, 1 - runs.theta)


def pure_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Binomial) -> Number:
    """λ log p − (λ−1) log p′ at p = 1 − θ/(1+e^t), p′ = 1 − θe^t/(1+e^t), t = ε(∞)"""
    ratio = (ctx.number(lam) - 1) * pure_log_ratio(ctx, eps, 1 - runs.theta)
    t = pure(ctx, eps)
    if t is None:
        return ratio
    shrunk = ctx.exp(-t)
    return ratio + ctx.log1p(-ctx.number(runs.theta) * shrunk / (1 + shrunk))


def told_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, excesses: list[Number], runs: Binomial
) -> Number:
    """log( 1 + nθ e^{(n−1) min{max(0, c), …}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1)"""
    others, mean = ctx.number(runs.n - 1), ctx.number(runs.n * runs.theta)
    found = [pure_excess(ctx, eps, order, runs), *excesses]
    # Of one run nothing is raised to a power, also where an excess is infinite.
    growths = [others * c for c in found] if runs.n > 1 else [others]
    return ps22_poisson.told_at(ctx, eps, order, mean, growths)


@upper_bound(
    "REPEAT-BINOMIAL",
    source=OURS,
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs, which may be 0",
    applies=BINOMIAL,
)
def binomial(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= log( 1 + nθ e^{(n−1) min{max(0, c), c_j, r_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1),

    λ = max(α, 2), κ = log(1/(1−θ)), c = λ log(1 − θ/(1+e^t)) − (λ−1) log(1 − θe^t/(1+e^t)),
    t = ε(∞), c_j = λθ/(j−1) ((1−1/λ)(1−1/j)κ/θ)^j e^{(j−1)ε(j)} and
    r_j = (λ−1)((1−1/j)ε(j) + κ/j), j = 2, 4
    """
    lam = larger_order(alpha, 2)
    excesses = [
        at(ctx, eps, lam, order, runs) for at in (excess_at, ratio_at) for order in TRIED[:2]
    ]
    return told_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "REPEAT-BINOMIAL-BEST",
    source=OURS,
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs, which may be 0; $λ$ and $j$ are searched for",
    applies=BINOMIAL,
    partial=True,
)
def binomial_at_best(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= the least bound of REPEAT-BINOMIAL at λ = α and at the best λ >= α, with the best
    j"""
    refuse_formula(ctx)
    best: Order = NEAREST  # where log E[K] is not positive there is no valley
    if runs.n * runs.theta > 1:
        best = searched_order(eps, runs, lambda curve, lam: _at(BALL, curve, lam, runs, eps))
    tried = {max(alpha, lam) for lam in (NEAREST, best)}
    return ctx.minimum(*(_at(ctx, eps, lam, runs, eps) for lam in sorted(tried)))


def _at(ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Binomial, asked: RDPCurve) -> Number:
    """REPEAT-BINOMIAL at this λ, and the j of either kind that are searched for by `asked`."""
    j = searched_order(
        asked, ("j", lam, runs), lambda curve, order: excess_at(BALL, curve, lam, order, runs)
    )
    gamma = 1 - runs.theta
    i = searched_order(
        asked, ("j", gamma), lambda curve, order: log_ratio(BALL, curve, order, gamma)
    )
    excesses = [excess_at(ctx, eps, lam, j, runs), ratio_at(ctx, eps, lam, i, runs)]
    return told_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "REPEAT-BINOMIAL-PURE",
    source=OURS,
    orders=ALL_ORDERS,
    assumes="a binomial number of runs and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=BINOMIAL,
)
def binomial_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + (n−1) log( (1−θ+e^t)/(1+(1−θ)e^t) ) <= nt, t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    rest = ctx.number(runs.n - 1) * pure_log_ratio(ctx, eps, 1 - runs.theta)
    return of_pure(ctx, t + rest, alpha)


@upper_bound(
    "REPEAT-BINOMIAL-ALL",
    source=OURS,
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs",
    applies=BINOMIAL,
)
def binomial_all(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= n log(1 + θ(e^{(α−1)ε(α)} − 1))/(α−1), nθε(1) at 1: all outputs are
    revealed"""
    if isinstance(alpha, int) and alpha == 1:
        return ctx.number(runs.n * runs.theta) * eps(1)
    lam = ctx.number(alpha) - 1
    return (
        ctx.number(runs.n) * ctx.log1p(ctx.number(runs.theta) * ctx.expm1(lam * eps(alpha))) / lam
    )
