"""Papernot, Steinke 2022: the best of a truncated negative binomial number of runs.

proofs.md, section 22.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.claims import ALL_ORDERS, EITHER, FINITE_ORDERS, Kind
from symacct.kernel.errors import OrderError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.parameters import larger_order
from symacct.kernel.sources import PS22, SYMACCT
from symacct.kernel.sums import order_search
from symacct.kernel.theorem_registry import Condition, theorem
from symacct.laws.families import TruncatedNegativeBinomial
from symacct.operations.repeat import RepeatAndSelect
from symacct.theory.amplification.groups import of_pure
from symacct.theory.rdp_curve import RDPCurve

#: The orders j that a formula tries; one that reads ε(j) anywhere is a bound.
TRIED = tuple(2**k for k in range(1, 9))
_LAST, _FIRST_GUESS, SEARCH_BITS = 2**9, 8, 80
#: No order nearer to 1 is read: what it gives is near what needs no curve at all.
NEAREST = Fraction(65, 64)
OURS = SYMACCT.at("docs/proofs.md, section 22")

#: (the curve in balls, an order) ↦ what is to be small.
Cost: TypeAlias = Callable[[RDPCurve, Order], arb]


def counted_by(law: type) -> Condition:
    """The number of runs is of this law."""

    def applies(node: Node) -> str | None:
        runs = node.runs  # type: ignore[attr-defined]
        if isinstance(runs, law):
            return None
        return f"needed a {law.__name__} number of runs, got {type(runs).__name__}"

    return applies


NEGATIVE_BINOMIAL = counted_by(TruncatedNegativeBinomial)

#: The decorator of what is proved, from above, of the best of several runs.
upper_bound = functools.partial(
    theorem,
    operation=RepeatAndSelect,
    kind=Kind.UPPER,
    adjacency=EITHER,
    monotone=True,
    status="proved",
)


def refuse_formula(ctx: Arithmetic) -> None:
    """OrderError where numbers decide what is read, and whether a sum is finite."""
    if isinstance(ctx, SymbolicArithmetic):
        raise OrderError(
            "found a question for a formula, needed numbers, because they decide which orders "
            "are used",
            remedy="ask without by for a formula",
        )


def searched_order(eps: RDPCurve, what: object, cost: Cost) -> Order:
    """An order >= 1 at which the cost is about smallest: a bound holds whichever it is."""
    known = eps.remember("repeated")
    if what not in known:
        with precision(SEARCH_BITS):
            curve = eps.using(BALL)
            known[what] = lowest(lambda order: cost(curve, order))
    order: Order = known[what]
    return order


def lowest(f: order_search.Objective) -> Order:
    """The bottom of f's valley among whole orders, and between those where f can be asked."""
    whole = order_search.whole_valley(f, 2, _LAST, _FIRST_GUESS)
    try:
        found = order_search.real_valley(
            f, order_search.places(f, whole, True), Fraction(whole, 2**14), True
        )
    except OrderError:
        return whole
    return max(found, NEAREST)


def pure(ctx: Arithmetic, eps: RDPCurve) -> Number | None:
    """ε(∞) where it is known and finite."""
    try:
        t = eps(INFINITY)
    except OrderError:  # a curve of the user's own that does not say
        return None
    return None if ctx.is_infinite(t) else t


def log_of(ctx: Arithmetic, gamma: Fraction) -> Number:
    """log γ, from 1−γ where that is the smaller: arithmetics that round would make γ 1."""
    if isinstance(gamma, Fraction) and 2 * gamma > 1:
        return ctx.log1p(ctx.number(gamma - 1))
    return ctx.log(ctx.number(gamma))


def log_mean(ctx: Arithmetic, runs: TruncatedNegativeBinomial) -> Number:
    """log E[K], E[K] = η(1−γ)/(γ(1−γ^η)); (1−γ)/(γ log(1/γ)) for η = 0"""
    log_gamma = log_of(ctx, runs.gamma)
    odds = ctx.number((1 - runs.gamma) / runs.gamma)
    if runs.eta == 0:
        return ctx.log(odds / -log_gamma)
    eta = ctx.number(runs.eta)
    return ctx.log(eta * odds / -ctx.expm1(eta * log_gamma))


def log_ratio(ctx: Arithmetic, eps: RDPCurve, order: Order, gamma: Fraction) -> Number:
    """(1−1/j)ε(j) + log(1/γ)/j, above log (γ + (1−γ)y′)/(γ + (1−γ)y) for an event's chances"""
    j = ctx.number(order)
    return ((j - 1) * eps(order) - log_of(ctx, gamma)) / j


def pure_log_ratio(ctx: Arithmetic, eps: RDPCurve, gamma: Fraction) -> Number:
    """log( (γ + e^t)/(1 + γe^t) ), t = ε(∞), a bound as `log_ratio` is; log(1/γ) where t is ∞"""
    t = pure(ctx, eps)
    if t is None:
        return -log_of(ctx, gamma)
    rise = ctx.number(1 - gamma) * -ctx.expm1(-t) / (ctx.exp(-t) + ctx.number(gamma))
    return ctx.log1p(rise)


def read_at(
    ctx: Arithmetic,
    eps: RDPCurve,
    order: Order,
    runs: TruncatedNegativeBinomial,
    log: Number,
) -> Number:
    """ε(λ) + log E[K]/(λ−1) + (1+η)·log"""
    value = eps(order)
    if ctx.is_infinite(value):
        return value
    value = value + ctx.number(runs.eta + 1) * log
    if isinstance(order, float) and order == INFINITY:
        return value
    return value + log_mean(ctx, runs) / (ctx.number(order) - 1)


@upper_bound(
    "PS22-T2",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs",
    applies=NEGATIVE_BINOMIAL,
)
def negative_binomial(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= ε(λ) + log E[K]/(λ−1) + (1+η) min{ log( (γ+e^t)/(1+γe^t) ),

    min_j ((1−1/j)ε(j) + log(1/γ)/j) }, λ = max(α, 2), t = ε(∞), j = 2, 4, 8, …, 256
    """
    ratios = [log_ratio(ctx, eps, order, runs.gamma) for order in TRIED]
    least = ctx.minimum(pure_log_ratio(ctx, eps, runs.gamma), *ratios)
    return read_at(ctx, eps, larger_order(alpha, 2), runs, least)


@upper_bound(
    "PS22-T2-BEST",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs; $λ$ and $j$ are searched for",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
)
def negative_binomial_at_best(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= the bound of PS22-T2 at the best λ >= α and the best j"""
    return at_best(ctx, eps, alpha, runs, pure_log_ratio(ctx, eps, runs.gamma))


@upper_bound(
    "PS22-T2-PRINTED",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs; $λ$ and $j$ are searched for, and "
    "$j = ∞$ is tried",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
    default=False,
)
def negative_binomial_as_printed(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= ε(λ) + log E[K]/(λ−1) + (1+η)((1−1/j)ε(j) + log(1/γ)/j) for the best λ >= α and
    j > 1"""
    return at_best(ctx, eps, alpha, runs, pure(ctx, eps))


def at_best(
    ctx: Arithmetic,
    eps: RDPCurve,
    alpha: Order,
    runs: TruncatedNegativeBinomial,
    pure_ratio: Number | None,
) -> Number:
    """Theorem 2 at the λ and j that are searched for, or with this ratio and with 1/γ, at j = 1."""
    refuse_formula(ctx)
    lam = searched_order(
        eps, ("λ", runs), lambda curve, order: read_at(BALL, curve, order, runs, arb(0))
    )
    j = searched_order(
        eps, ("j", runs), lambda curve, order: log_ratio(BALL, curve, order, runs.gamma)
    )
    ratios = [-log_of(ctx, runs.gamma), log_ratio(ctx, eps, j, runs.gamma)]
    ratios += [] if pure_ratio is None else [pure_ratio]
    return read_at(ctx, eps, max(alpha, lam), runs, ctx.minimum(*ratios))


@upper_bound(
    "REPEAT-PURE",
    source=OURS,
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs and a finite $ε(∞)$; otherwise the bound "
    "is infinite",
    applies=NEGATIVE_BINOMIAL,
)
def negative_binomial_pure(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + (1+η) log( (γ+e^t)/(1+γe^t) ) <= (2+η)t, t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    rest = ctx.number(runs.eta + 1) * pure_log_ratio(ctx, eps, runs.gamma)
    return of_pure(ctx, t + rest, alpha)


@upper_bound(
    "REPEAT-ALL",
    source=OURS,
    orders=FINITE_ORDERS,
    assumes="a truncated negative binomial number of runs, $(1−γ)e^{(α−1)ε(α)} < 1$",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
)
def negative_binomial_all(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= log E[e^{(α−1)ε(α)K}]/(α−1), E[K]ε(1) at 1: all outputs are
    revealed"""
    refuse_formula(ctx)
    if isinstance(alpha, int) and alpha == 1:
        return ctx.exp(log_mean(ctx, runs)) * eps(1)
    lam = ctx.number(alpha) - 1
    rise = ctx.number((1 - runs.gamma) / runs.gamma) * ctx.expm1(lam * eps(alpha))
    if not rise < 1:
        raise OrderError(
            f"REPEAT-ALL: found (1−γ)e^{{(α−1)ε(α)}} >= 1, or too near to tell, at order {alpha}, "
            "needed < 1",
            remedy="ask for a smaller order",
        )
    log_gamma = log_of(ctx, runs.gamma)
    if runs.eta == 0:
        return ctx.log1p(ctx.log1p(-rise) / log_gamma) / lam
    eta = ctx.number(runs.eta)
    return ctx.log1p(-ctx.expm1(-eta * ctx.log1p(-rise)) / ctx.expm1(eta * log_gamma)) / lam
