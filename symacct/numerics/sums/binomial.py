"""Binomial sums Σ_l C(α,l) u^l v^{α−l} t_l in each arithmetic."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from flint import arb

from symacct.arithmetic import (
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.core import deadline, limits
from symacct.core.exact import Order
from symacct.numerics.sums.terms import Terms
from symacct.numerics.sums.truncation import certified_mixture


@singledispatch
def binomial_sum(
    ctx: Arithmetic, alpha: Order, u: Number, v: Number, terms: Terms, first: int = 2
) -> Number:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l, for whole α and u, v >= 0; here term by term."""

    def term(l: Number) -> Number:
        return ctx.binomial(alpha, l) * (u**l * v ** (alpha - l)) * terms(l)

    return ctx.sum(term, first, alpha)


@binomial_sum.register
def _(ctx: BallArithmetic, alpha: int, u: arb, v: arb, terms: Terms, first: int = 2) -> arb:
    """The terms that matter at this precision, and a proved bound on all the others."""
    return certified_mixture(terms, alpha, u, v, first)


@binomial_sum.register
def _(
    ctx: MpmathArithmetic, alpha: int, u: Number, v: Number, terms: Terms, first: int = 2
) -> Number:
    limits.check("order", alpha, "order alpha")
    if alpha < first:
        return ctx.number(0)
    if ctx.is_zero(v):
        return u**alpha * terms(alpha)
    weight = ctx.binomial(alpha, first) * u**first * v ** (alpha - first)
    odds = u / v
    total = weight * terms(first)
    for l in range(first + 1, alpha + 1):
        deadline.check()
        weight = weight * odds * (alpha - l + 1) / l
        total += weight * terms(l)
    return total


@binomial_sum.register
def _(
    ctx: Float64Arithmetic,
    alpha: int | np.ndarray,
    u: LogNumber,
    v: LogNumber,
    terms: Terms,
    first: int = 2,
) -> Number:
    """By the recurrence for a whole array of orders: C(α,l) is 0 once l > α."""
    orders = np.asarray(alpha, dtype=np.float64)
    limits.check("order", int(orders.max()), "order alpha")
    if ctx.is_zero(v):
        inside = np.where(orders >= first, 1.0, 0.0)
        return u**orders * terms(alpha) * inside
    powers = v ** np.maximum(orders - first, 0.0)
    weight = ctx.binomial(orders, first) * u**first * powers
    odds = u / v
    total = LogNumber.of(np.zeros_like(orders))
    for l in range(first, int(orders.max()) + 1):
        deadline.check()
        total = total + weight * terms(l)
        weight = weight * odds * (np.maximum(orders - l, 0.0) / (l + 1))
    return total
