"""Feldman, Shenfeld 2025: each record in one step of many; docs/proofs.md, section 30."""

from __future__ import annotations

import math
from fractions import Fraction

from symacct.arithmetic import Arithmetic, Number
from symacct.core.claims import ABOVE_ONE, ADD_REMOVE, ALL_ORDERS, Kind
from symacct.core.errors import OrderError, echo
from symacct.core.exact import Order
from symacct.core.sources import FS25, SYMACCT
from symacct.expressions.theorem_registry import always, theorem
from symacct.operations.allocation import RandomAllocation
from symacct.theory.rdp_curve import RDPCurve

_LAST = 256  # order: its square is the number of products


@theorem(
    "ALLOCATION-TOLD",
    operation=RandomAllocation,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs.md, section 30"),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    applies=always,
    monotone=True,
    status="proved",
)
def told(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """ε′(α) <= ε(α), as if the step were told"""
    return eps(alpha)


@theorem(
    "FS25-DIRECT",
    operation=RandomAllocation,
    kind=Kind.UPPER,
    source=FS25.at("the direct bounds of the authors' program; docs/proofs.md, section 30"),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes=f"α <= {_LAST}",
    applies=always,
    monotone=True,
    partial=True,
    status="proved",
)
def direct(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """ε′(α) <= max( ε(1 + (α−1)/T), log M(α)/(α−1) ), M(α) = α! T^{−α} [z^α] (Σ_k e^{(k−1)ε(k)}
    z^k/k!)^T at whole orders, log M a chord between them"""
    if not isinstance(alpha, int | Fraction):
        raise OrderError("FS25-DIRECT: found an open symbol, needed numbers: sums end at the order")
    if alpha > _LAST:
        raise OrderError(f"FS25-DIRECT: found {echo(alpha)}, needed an order up to {_LAST}")
    below, above = math.floor(alpha), math.ceil(alpha)
    if ctx.is_infinite(eps(above)):
        return eps(above)
    part = ctx.number(alpha - below)
    ends = [ctx.log1p(_mean(ctx, eps, steps, order)) for order in (below, above)]
    removed = ((1 - part) * ends[0] + part * ends[1]) / ctx.number(alpha - 1)
    return ctx.maximum(removed, eps(1 + Fraction(alpha - 1) / steps))


def _mean(ctx: Arithmetic, eps: RDPCurve, steps: int, order: int) -> Number:
    """E_Q[(the mean of T ratios)^n] − 1, remembered: that of two parts of the steps, joined."""
    if order < 2:
        return ctx.number(0)
    if steps == 1:
        return eps.excesses()(order)
    known = eps.remember("allocated")
    if (steps, order) not in known:
        part = steps // 2
        first, second = (
            [_mean(ctx, eps, s, i) for i in range(order + 1)] for s in (part, steps - part)
        )
        known[steps, order] = _joined(ctx, first, second, Fraction(part, steps))
    return known[steps, order]


def _joined(ctx: Arithmetic, first: list[Number], second: list[Number], share: Fraction) -> Number:
    """Σ_i C(n, i) share^i (1−share)^j (x_i + y_j + x_i y_j), j = n − i: no term is negative."""
    one, other = ctx.number(share), ctx.number(1 - share)
    total, last = ctx.number(0), len(first) - 1
    for i, x in enumerate(first):
        y = second[last - i]
        weight = math.comb(last, i) * (one**i * other ** (last - i))
        total = total + weight * (x + y + x * y)
    return total
