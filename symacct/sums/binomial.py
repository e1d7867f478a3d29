"""Binomial sums Σ_l C(α,l) u^l v^{α−l} t_l in each arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from symacct.sums.mixture import Exponentials, certified_binomial_sum


@dataclass(frozen=True)
class Terms:
    """t_l = term(l, K_l), K_l = log_moment(l) >= 0, with 0 <= term(l, K) <= factor·e^K.

    If `shift` is not None the term is factor·e^K − shift. `shape` is what is proved of K:
    "convex" in l with K_1 = 0, or None.
    """

    log_moment: Callable[[Any], Any]
    term: Callable[[Any, Any], Any]
    factor: int
    shift: int | None
    shape: str | None
    #: term(l, K_l) where it is had without K_l.
    direct: Callable[[Any], Any]
    #: Asked by balls alone: e^{K_l} − 1 over a run of orders, where exponentials make it up.
    exponentials: Callable[[], Exponentials | None] = lambda: None

    def __call__(self, l: Any) -> Any:
        return self.direct(l)


@singledispatch
def binomial_sum(ctx: Any, alpha: Any, u: Any, v: Any, terms: Terms, first: int = 2) -> Any:
    """Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l, for whole α and u, v >= 0."""
    raise TypeError(f"no binomial sum for {type(ctx).__name__}")


@binomial_sum.register
def _(ctx: SymbolicArithmetic, alpha: Any, u: Any, v: Any, terms: Terms, first: int = 2) -> Any:
    if isinstance(alpha, int) and alpha < first:
        return sympy.Integer(0)
    return ctx.sum(
        lambda l: ctx.binomial(alpha, l) * u**l * v ** (alpha - l) * terms(l), first, alpha
    )


@binomial_sum.register
def _(ctx: BallArithmetic, alpha: int, u: Any, v: Any, terms: Terms, first: int = 2) -> Any:
    """The terms that matter at this precision, and a proved bound on all the others."""
    sizes.check("order", alpha, "order alpha")
    return certified_binomial_sum(
        alpha,
        u,
        v,
        terms.log_moment,
        terms.term,
        terms.factor,
        first,
        terms.shape,
        terms.shift,
        terms.direct,
        terms.exponentials(),
    )


@binomial_sum.register
def _(ctx: MpmathArithmetic, alpha: int, u: Any, v: Any, terms: Terms, first: int = 2) -> Any:
    sizes.check("order", alpha, "order alpha")
    if alpha < first:
        return ctx.number(0)
    if ctx.is_zero(v):
        return u**alpha * terms(alpha)
    weight = ctx.binomial(alpha, first) * u**first * v ** (alpha - first)
    odds = u / v
    total = weight * terms(first)
    for l in range(first + 1, alpha + 1):
        weight = weight * odds * (alpha - l + 1) / l
        total += weight * terms(l)
    return total


@binomial_sum.register
def _(ctx: Float64Arithmetic, alpha: Any, u: Any, v: Any, terms: Terms, first: int = 2) -> Any:
    """The same recurrence for a whole array of orders: C(α,l) is 0 once l > α."""
    orders = np.asarray(alpha, dtype=np.float64)
    sizes.check("order", int(orders.max()), "order alpha")
    if ctx.is_zero(v):
        inside = np.where(orders >= first, 1.0, 0.0)
        return u**orders * terms(alpha) * inside
    powers = v ** np.maximum(orders - first, 0.0)
    weight = ctx.binomial(orders, first) * u**first * powers
    odds = u / v
    total = LogNumber.of(np.zeros_like(orders))
    for l in range(first, int(orders.max()) + 1):
        total = total + weight * terms(l)
        weight = weight * odds * (np.maximum(orders - l, 0.0) / (l + 1))
    return total
