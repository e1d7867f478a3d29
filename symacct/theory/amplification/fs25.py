"""Feldman, Shenfeld 2025: each record in one step of many; docs/proofs.md, section 30."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from fractions import Fraction

from symacct.kernel.arithmetic import Arithmetic, MpmathArithmetic, Number
from symacct.kernel.claims import ABOVE_ONE, ADD_REMOVE, ALL_ORDERS, Kind
from symacct.kernel.errors import OrderError, echo
from symacct.kernel.exact import Order
from symacct.kernel.sources import FS25, SYMACCT
from symacct.kernel.theorem_registry import always, theorem
from symacct.operations.allocation import RandomAllocation
from symacct.theory.rdp_curve import RDPCurve

LAST = 256  # order: its square is about the number of products
_TIMES = 4  # the bits asked


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
    """ε′(α) <= ε(α), as if the step were revealed"""
    return eps(alpha)


@theorem(
    "FS25-DIRECT",
    operation=RandomAllocation,
    kind=Kind.UPPER,
    source=FS25.at(
        "the direct bounds of the authors' program; SYMACCT, docs/proofs.md, section 30"
    ),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes=f"$α <= {LAST}$",
    applies=always,
    monotone=True,
    partial=True,
    status="proved",
)
def direct(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """ε′(α) <= max( ε(1 + (α−1)/T), log M(α)/(α−1) ), M(α) = α! T^{−α} [z^α] (Σ_k e^{(k−1)ε(k)}
    z^k/k!)^T at whole orders, log M a chord between them"""
    if not isinstance(alpha, int | Fraction):
        raise OrderError(
            "FS25-DIRECT: found a symbol without a value, needed numbers, because "
            "the order is the last term of sums"
        )
    if alpha > LAST:
        raise OrderError(f"FS25-DIRECT: found {echo(alpha)}, needed an order up to {LAST}")
    below, above = math.floor(alpha), math.ceil(alpha)
    if ctx.is_infinite(eps(above)):
        return eps(above)
    part, (low, high) = ctx.number(alpha - below), log_moments(ctx, eps, steps, (below, above))
    removed = ((1 - part) * low + part * high) / ctx.number(alpha - 1)
    return ctx.maximum(removed, eps(1 + Fraction(alpha - 1) / steps))


def log_moments(ctx: Arithmetic, eps: RDPCurve, steps: int, orders: Iterable[int]) -> list[Number]:
    """log M(n) at these n >= 1, by the coefficients of h = f^T: f·h′ = T·f′·h and f(0) = 1.

    So each follows from those before it, which are remembered.
    """
    known, excess, one = eps.remember("allocated"), eps.excesses(), ctx.number(1)
    terms, power = known[steps] or ([one, one], [one])
    known[steps] = terms, power

    def log_moment(order: int) -> Number:
        for n in range(len(power), order + 1):
            if n > 1:
                terms.append((1 + excess(n)) / math.factorial(n))
            parts = ((k * (steps + 1) - n) * terms[k] * power[n - k] for k in range(1, n + 1))
            power.append(sum(parts, ctx.number(0)) / n)
        return ctx.log(power[order] * math.factorial(order) / ctx.number(steps) ** order)

    # Moments are next to 1, which balls tell by themselves.
    with ctx.mp.workprec(_TIMES * ctx.bits) if isinstance(ctx, MpmathArithmetic) else nullcontext():
        return [ctx.number(0) if order == 1 else log_moment(order) for order in orders]
