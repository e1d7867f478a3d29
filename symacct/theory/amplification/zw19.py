"""Zhu, Wang 2019: Poisson subsampling under add/remove adjacency."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from symacct.kernel import limits
from symacct.kernel.arithmetic import Arithmetic, BallArithmetic, Number
from symacct.kernel.arithmetic.ball import within
from symacct.kernel.claims import INFINITE_ORDER, INTEGER_ORDERS, Kind, Way
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import ZW19
from symacct.kernel.sums.binomial_sums import (
    HUGE,
    Terms,
    binomial_sum,
    certified_mixture,
    dense_sum,
    float_log,
    to_float,
)
from symacct.kernel.theorem_registry import RDPCurve, always
from symacct.theory.amplification.samples import of_a_record


def has_swap_symmetric_pair(node: Node) -> str | None:
    """None if condition (4) is proved, by a dominating pair that a symmetry swaps; else why not."""
    if node.mechanism.attained.is_swapped:  # type: ignore[attr-defined]
        return None
    return (
        "its condition (4), that all odd chi-divergences are nonnegative, is not proved for "
        f"{type(node.mechanism).__name__}"  # type: ignore[attr-defined]
    )


def has_one_pair(node: Node) -> str | None:
    """None if one pair attains the curve, P the law with the record; else the reason."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if mechanism.attained.by_one_pair:
        return None
    return (
        f"the curve of {type(mechanism).__name__} may be the larger of two, not that of one pair, "
        "with the record against without it, at every order"
    )


def log_moment(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """log A(α), A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}.

    Evaluated as log(1 + Σ_{l>=2} b_l (e^{(l−1)ε(l)} − 1)), the same number: the b_l sum to 1.
    """
    return log_sum(ctx, Terms(eps), alpha, gamma)


@singledispatch
def log_sum(ctx: Arithmetic, terms: Terms, alpha: Order, gamma: Number) -> Number:
    """log A(α) = log(1 + Σ_{l>=2} b_l (e^{K_l} − 1)) from these terms, at a whole order."""
    return ctx.log1p(binomial_sum(ctx, alpha, gamma, 1 - gamma, terms))


@log_sum.register
def _(ctx: BallArithmetic, terms: Terms, alpha: int, gamma: Number) -> Number:
    """In balls: from the last term where that is proved to be all, so that K may be huge.

    γ^α e^K, K = K_α, is exceeded by what is in [0, 1 + e^{K_{α−1}}]: the weights sum to 1 and a
    convex K does not fall.
    """
    limits.check("order", alpha, "order alpha")
    dense = dense_sum(terms, alpha, (gamma, 1 - gamma), 2)
    # Of a larger K all that e^K is known to be may be less than is known of K.
    if dense is not None and 0 < dense < HUGE:
        return ctx.log1p(dense)
    last = terms.log_moment(alpha)
    if ctx.is_infinite(last):
        return last
    # A quadratic K ends with a step of 2K/α: of one that ends less steeply the sum is taken.
    steep = alpha * (2 * ctx.bits - alpha * float_log(gamma))
    if terms.eps.shape == "convex" and 2 * to_float(last) > steep:
        log_last = last + alpha * ctx.log(gamma)
        gap = log_last - (terms.log_moment(alpha - 1) if alpha > 2 else 0)
        if gap > 2 * ctx.bits:
            return log_last + within(2 * (-gap).exp())
    return ctx.log1p(certified_mixture(terms, alpha, gamma, 1 - gamma))


@of_a_record(
    "ZW19-T8",
    kind=Kind.EXACT,
    source=ZW19.at("Theorem 8 and Proposition 10"),
    orders=INTEGER_ORDERS,
    assumes="$E_Q[(P/Q − 1)^l] >= 0$ for all odd $3 <= l <= α$ and all adjacent pairs "
    "(condition 4)",
    applies=has_swap_symmetric_pair,
    tight=True,
)
def tight_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) = log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_sum(ctx, Terms(eps), alpha, gamma) / (ctx.number(alpha) - 1)


@of_a_record(
    "ZW19-T5",
    kind=Kind.UPPER,
    source=ZW19.at("Theorem 5"),
    orders=INTEGER_ORDERS,
    default=False,
    applies=always,
)
def general_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( (1−γ)^{α−1}(αγ−γ+1) + C(α,2)γ²(1−γ)^{α−2}e^{ε(2)}
    + 3 Σ_{l=3}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)} )/(α−1)"""
    keep = 1 - gamma
    second = ctx.binomial(alpha, 2) * gamma**2 * keep ** (alpha - 2) * ctx.expm1(eps(2))
    # 3e^K − 1 = 3(e^K − 1) + 2, so that nothing cancels where K is small.
    tripled = Terms(eps, lambda l, excess: 3 * excess + 2, factor=3)
    rest = binomial_sum(ctx, alpha, gamma, keep, tripled, first=3)
    return ctx.log1p(second + rest) / (ctx.number(alpha) - 1)


@of_a_record(
    "ZW19-T6",
    kind=Kind.LOWER,
    source=ZW19.at("Theorem 6"),
    orders=INTEGER_ORDERS,
    assumes="one pair attains the curve at every order, $ε(l) = D_l(P‖Q)$ with $P$ the law with "
    "the record. It is a lower bound for the class of mechanisms with this curve, the worst of "
    "which attains it. It is none for a mechanism whose curve is that of the removal, $D_l(Q‖P)$",
    applies=has_one_pair,
)
def lower_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) >= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)


def may_be_of_a_removal(node: Node, alpha: Order | np.ndarray) -> str | None:
    """None if the mechanism's ε(∞) is attained by the addition of a record; else the reason."""
    if node.mechanism.attained.way_at(alpha) is not Way.LARGER:  # type: ignore[attr-defined]
        return None
    return "ε(∞) of the mechanism may be that of a record removed, which a sample has less of"


@of_a_record(
    "ZW19-L4",
    kind=Kind.EXACT,
    source=ZW19.at("Lemma 4"),
    orders=INFINITE_ORDER,
    assumes="add/remove neighbours; it is exact as the largest value over the mechanisms with this "
    "$ε(∞)$, and is attained if the addition of the record attains $ε(∞)$",
    tight=True,
    applies=always,
    why_upper=may_be_of_a_removal,
)
def pure_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(∞) = log(1 + γ(e^{ε(∞)} − 1))"""
    return sampled_pure(ctx, eps(INFINITY), gamma)


def sampled_pure(ctx: Arithmetic, epsilon: Any, gamma: Number) -> Number:
    """log(1 + γ(e^ε − 1)), ε(∞) of a sample whose mechanism has ε(∞) = ε; 0 for γ = 0, ε = ∞."""
    if ctx.is_zero(gamma):
        return ctx.number(0)
    if ctx.is_infinite(epsilon):
        return ctx.number(INFINITY)
    return ctx.log1p(gamma * ctx.expm1(epsilon))


def sampled_pure_of_removal(ctx: Arithmetic, epsilon: Any, gamma: Number) -> Number:
    """−log(1 − γ + γe^{−ε}), ε(∞) of a sample where that of the mechanism is a removal's.

    −log(1−γ) for ε = ∞. The rate is below 1, or ε is finite.
    """
    fall = -gamma if ctx.is_infinite(epsilon) else gamma * ctx.expm1(-epsilon)
    return -ctx.log1p(fall)
