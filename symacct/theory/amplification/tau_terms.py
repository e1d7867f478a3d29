"""Zhu, Wang 2019, Theorems 11 and 20: bounds from the first and the last τ terms.

The middle ε(l) are replaced by one value E of the curve, which is nondecreasing: from above for
a bound on A(α). What is left of the sum is a binomial theorem, so 2τ values of ε are enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial, singledispatch
from typing import Any

import numpy as np

from symacct.kernel.arithmetic import Arithmetic, Number, SymbolicArithmetic
from symacct.kernel.claims import INTEGER_ORDERS, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node, order_by_order
from symacct.kernel.sources import ZW19
from symacct.kernel.theorem_registry import RDPCurve
from symacct.theory.amplification.samples import of_a_record
from symacct.theory.amplification.zw19 import general_bound, has_swap_symmetric_pair, tight_bound

#: The values that by= may give to τ and to the sides of the sum; 0, that no τ is given, is none.
OPTION_VALUES = (("tau", range(1, 10**9)), ("sides", range(1, 3)))

#: Whole orders in a row: the first one, and how many there are.
OrdersInRow = tuple[Number, int]


def is_nondecreasing(node: Node) -> str | None:
    """None if ε is proved nondecreasing, as that of a convex CGF is; else the reason."""
    if node.mechanism.convex:  # type: ignore[attr-defined]
        return None
    return "that the mechanism's curve is nondecreasing is not proved"


def tight_and_nondecreasing(node: Node) -> str | None:
    """None if Theorem 8 and the replacement of the middle terms are proved; else the reason."""
    return has_swap_symmetric_pair(node) or is_nondecreasing(node)


# Proved in docs/proofs/sums.md, Lemma tau-terms.
@of_a_record(
    "ZW19-T11",
    kind=Kind.UPPER,
    source=ZW19.at("Theorem 11"),
    orders=INTEGER_ORDERS,
    assumes="condition (4), and a nondecreasing $ε$; unless $2τ <= α$, it is Theorem 8 itself",
    applies=tight_and_nondecreasing,
    default=False,
    options=(("tau", 0), ("sides", 2)),
    option_values=OPTION_VALUES,
)
def tau_terms(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, tau: int, sides: int
) -> Number:
    """ε′(α) <= log( (1−γ)^α(1−e^{−E}) + e^{−E}(1−γ+γe^E)^α
    − Σ_{l=2}^{τ} b_l (e^{(l−1)E} − e^{(l−1)ε(l)})
    + Σ_{l=α−τ+1}^{α} b_l (e^{(l−1)ε(l)} − e^{(l−1)E}) )/(α−1), E = ε(α−τ);
    with sides=1 the last sum is left out and E = ε(α). Without tau, the terms that the
    digits asked for need are found, and the value is enclosed from both sides."""
    if isinstance(alpha, np.ndarray):
        at = partial(tau_terms, ctx, eps, gamma=gamma, tau=tau, sides=sides)
        return order_by_order(ctx, at)(alpha)
    if _is_whole_sum(tau, alpha):
        # kernel/sums/binomial_sums.py finds which terms matter, and bounds the rest on both sides.
        return tight_bound(ctx, eps, alpha, gamma)
    top = eps(alpha - tau if sides == 2 else alpha)
    excess = middle_excess(ctx, alpha, gamma, top) + replaced_terms(
        ctx, eps, alpha, gamma, top, _kept_orders(alpha, tau, sides, first=2)
    )
    return ctx.log1p(excess) / (ctx.number(alpha) - 1)


@of_a_record(
    "ZW19-T20",
    kind=Kind.UPPER,
    source=ZW19.at("Theorem 20 (supplement)"),
    orders=INTEGER_ORDERS,
    assumes="a nondecreasing $ε$; unless $2τ <= α$, it is Theorem 5 itself",
    applies=is_nondecreasing,
    default=False,
    options=(("tau", 0), ("sides", 1)),
    option_values=OPTION_VALUES,
)
def tau_terms_general(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, tau: int, sides: int
) -> Number:
    """ε′(α) <= log( (1−γ)^α(1−3e^{−E}) + 3e^{−E}(1−γ+γe^E)^α
    − 3 Σ_{l=3}^{τ} b_l (e^{(l−1)E} − e^{(l−1)ε(l)}) − 2γα(1−γ)^{α−1}
    + C(α,2)γ²(1−γ)^{α−2}(e^{ε(2)} − 3e^E) )/(α−1), E = ε(α);
    with sides=2, E = ε(α−τ) and + 3 Σ_{l=α−τ+1}^{α} b_l (e^{(l−1)ε(l)} − e^{(l−1)E}).
    Without tau it is Theorem 5 with all its terms."""
    if isinstance(alpha, np.ndarray):
        at = partial(tau_terms_general, ctx, eps, gamma=gamma, tau=tau, sides=sides)
        return order_by_order(ctx, at)(alpha)
    if _is_whole_sum(tau, alpha):
        return general_bound(ctx, eps, alpha, gamma)
    top = eps(alpha - tau if sides == 2 else alpha)
    keep = 1 - gamma
    # Three times the whole sum with E, less two thirds of its terms l = 0 and 1: A − 1 of it.
    excess = 3 * middle_excess(ctx, alpha, gamma, top)
    excess += 2 * (1 - keep**alpha - alpha * gamma * keep ** (alpha - 1))
    excess += _weight(ctx, alpha, gamma, 2) * (ctx.exp(eps(2)) - 3 * ctx.exp(top))
    kept = _kept_orders(alpha, tau, sides, first=3)
    excess += 3 * replaced_terms(ctx, eps, alpha, gamma, top, kept)
    return ctx.log1p(excess) / (ctx.number(alpha) - 1)


def middle_excess(ctx: Arithmetic, alpha: Order, gamma: Number, top: Any) -> Number:
    """(1−γ)^α(1−e^{−E}) + e^{−E}(1−γ+γe^E)^α − 1: A(α) − 1 if every ε(l) were E."""
    if ctx.rounds:  # the same by terms that are not negative
        lam, endless = ctx.number(alpha) - 1, -ctx.number(INFINITY)
        gap, empty = (ctx.power_gap(gamma, x, lam) for x in (top, endless))
        return ctx.exp(-top) * gap - ctx.expm1(-top) * empty
    keep = 1 - gamma
    powers = (keep + gamma * ctx.exp(top)) ** alpha
    return ctx.exp(-top) * (powers - keep**alpha) + keep**alpha - 1


def _is_whole_sum(tau: int, alpha: Order) -> bool:
    """Is there no τ (0), or are τ terms at each end all there is?

    A symbolic order is taken to be larger than that.
    """
    return tau == 0 or (isinstance(alpha, int) and 2 * tau > alpha)


def _kept_orders(alpha: Order, tau: int, sides: int, first: int) -> list[OrdersInRow]:
    """The orders first … τ and, for `sides` = 2, α−τ+1 … α: the l whose terms keep their own ε(l).

    None are below `first`, and the count of an empty row is 0. 2τ <= α, so that no l is in both.
    """
    rows: list[OrdersInRow] = [(first, max(tau - first + 1, 0))]
    if sides == 2:
        # A symbolic order is taken to be larger than what would be skipped.
        skipped = max(first - (alpha - tau + 1), 0) if isinstance(alpha, int) else 0
        rows.append((alpha - tau + 1 + skipped, tau - skipped))
    return rows


def replaced_terms(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, top: Any, rows: list[OrdersInRow]
) -> Number:
    """Σ b_l (e^{(l−1)ε(l)} − e^{(l−1)E}) over the orders l of the rows, E = `top`."""
    total = ctx.number(0)
    for first, count in rows:
        for step, weight in zip(range(count), weights(ctx, alpha, gamma, first), strict=False):
            l = first + step
            total += weight * (ctx.exp((l - 1) * eps(l)) - ctx.exp((l - 1) * top))
    return total


@singledispatch
def weights(ctx: Arithmetic, alpha: Order, gamma: Number, first: Number) -> Iterator[Number]:
    """b_first, b_{first+1}, … without end: one binomial, then b_{l+1}/b_l = (α−l)/(l+1)·γ/(1−γ).

    For γ = 1 they are 0 but for b_α = 1.
    """
    keep = 1 - gamma
    if ctx.is_zero(keep):
        yield from (ctx.number(int(l == alpha)) for l in itertools.count(first))
    weight, odds = _weight(ctx, alpha, gamma, first), gamma / keep
    for l in itertools.count(first):
        yield weight
        weight = weight * odds * (alpha - l) / (l + 1)


@weights.register
def _(ctx: SymbolicArithmetic, alpha: Order, gamma: Number, first: Any) -> Iterator[Any]:
    """The weights b_l as expressions, each written by itself."""
    return (_weight(ctx, alpha, gamma, first + step) for step in itertools.count())


def _weight(ctx: Arithmetic, alpha: Order, gamma: Number, l: Any) -> Number:
    """b_l = C(α,l)(1−γ)^{α−l}γ^l."""
    return ctx.binomial(alpha, l) * gamma**l * (1 - gamma) ** (alpha - l)
