"""Binomial sums Σ_l C(α,l) u^l v^{α−l} t_l in each arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import sympy

from symacct import sizes
from symacct.arithmetic import (
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    SymbolicArithmetic,
)

Term = Callable[[Any], Any]


@singledispatch
def binomial_sum(ctx: Any, alpha: Any, u: Any, v: Any, term: Term, first: int = 2) -> Any:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} term(l), for whole α and u, v >= 0."""
    raise TypeError(f"no binomial sum for {type(ctx).__name__}")


@binomial_sum.register
def _(ctx: SymbolicArithmetic, alpha: Any, u: Any, v: Any, term: Term, first: int = 2) -> Any:
    if isinstance(alpha, int) and alpha < first:
        return sympy.Integer(0)
    return ctx.sum(
        lambda l: ctx.binomial(alpha, l) * u**l * v ** (alpha - l) * term(l), first, alpha
    )


@binomial_sum.register(BallArithmetic)
@binomial_sum.register(MpmathArithmetic)
def _(ctx: Any, alpha: int, u: Any, v: Any, term: Term, first: int = 2) -> Any:
    sizes.check("order", alpha, "order alpha")
    if alpha < first:
        return ctx.number(0)
    if ctx.is_zero(v):
        return u**alpha * term(alpha)
    weight = ctx.binomial(alpha, first) * u**first * v ** (alpha - first)
    odds = u / v
    total = weight * term(first)
    for l in range(first + 1, alpha + 1):
        weight = weight * odds * (alpha - l + 1) / l
        total += weight * term(l)
    return total


@binomial_sum.register
def _(ctx: Float64Arithmetic, alpha: Any, u: Any, v: Any, term: Term, first: int = 2) -> Any:
    """The same recurrence for a whole array of orders: C(α,l) is 0 once l > α."""
    orders = np.asarray(alpha, dtype=np.float64)
    sizes.check("order", int(orders.max()), "order alpha")
    if ctx.is_zero(v):
        inside = np.where(orders >= first, 1.0, 0.0)
        return u**orders * term(alpha) * inside
    powers = v ** np.maximum(orders - first, 0.0)
    weight = ctx.binomial(orders, first) * u**first * powers
    odds = u / v
    total = LogNumber.of(np.zeros_like(orders))
    for l in range(first, int(orders.max()) + 1):
        total = total + weight * term(l)
        weight = weight * odds * (np.maximum(orders - l, 0.0) / (l + 1))
    return total
