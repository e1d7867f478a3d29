"""One of two mechanisms by a coin, and a mechanism that may fail."""

from __future__ import annotations

from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, EITHER, Kind
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.operations.either import Either
from symacct.operations.failing import Failing
from symacct.theory.amplification.directions import (
    SECTION,
    TWO_DIRECTIONS,
    OneDirection,
    has_two_directions,
    larger_of_directions,
    of_node,
    why_not,
    why_not_parts,
)
from symacct.theory.amplification.elementary import why_directions_differ

# --- one of two mechanisms
#
# One of two mechanisms by a coin that may be told: moments average.


@theorem(
    "EITHER",
    operation=Either,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/allocations.md, either"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    assumes="nothing further",
    applies=always,
    why_upper=why_directions_differ,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def either(ctx: Arithmetic, eps: tuple[RDPCurve, RDPCurve], alpha: Order, share: Exact) -> Number:
    """ε′(α) = log( s e^{(α−1)ε₁(α)} + (1−s) e^{(α−1)ε₂(α)} )/(α−1), which is sε₁ + (1−s)ε₂ at 1,
    and the larger of the two at ∞"""
    if share in (0, 1):
        return eps[1 - int(share)](alpha)
    first, second = (curve(alpha) for curve in eps)
    if isinstance(alpha, float) and alpha == INFINITY:
        return ctx.maximum(first, second)
    for value in (first, second):
        if ctx.is_infinite(value):
            return value
    s = ctx.number(share)
    if isinstance(alpha, int) and alpha == 1:
        return s * first + (1 - s) * second
    lam = ctx.number(alpha) - 1
    return ctx.log1p(s * ctx.expm1(lam * first) + (1 - s) * ctx.expm1(lam * second)) / lam


@why_not.register(Either)
def _(node: Either) -> str | None:
    """None if the addition's direction is known in both mechanisms, of which the coin takes one."""
    return why_not_parts(node)


@of_node.register(Either)
def _(node: Either, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """The coin's average of the moments of both mechanisms in this one direction."""
    first, second = (OneDirection(eps.of(part), removed) for part in (node.first, node.second))
    return either(BALL, (first, second), alpha, node.share)


@theorem(
    "EITHER-DIRECTIONS",
    operation=Either,
    kind=Kind.EXACT,
    source=SECTION,
    orders=ALL_ORDERS,
    adjacency=EITHER,
    assumes=TWO_DIRECTIONS,
    applies=has_two_directions,
    tight=True,
    partial=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def coin_of_directions(
    ctx: Arithmetic, eps: tuple[RDPCurve, RDPCurve], alpha: Order, share: Exact
) -> Number:
    """ε′(α) = max over both directions D of log( s e^{(α−1)D₁(α)} + (1−s) e^{(α−1)D₂(α)} )/(α−1)"""
    return larger_of_directions(ctx, eps, lambda each: either(BALL, each, alpha, share))


# --- failures
#
# A mechanism that may fail: its Rényi curve is infinite, and its δ(ε) is known.


@theorem(
    "FAILING",
    operation=Failing,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/conversions.md, failing"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def failing(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Exact) -> Number:
    """ε′(α) = ∞, while 1 − δ′(ε) = (1−δ)(1 − δ(ε)) in every composition, whatever gives δ(ε)"""
    return ctx.number(INFINITY)
