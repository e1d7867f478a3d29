"""One of two mechanisms by a coin that may be told: moments average."""

from __future__ import annotations

from symacct.arithmetic import Arithmetic, Number
from symacct.core.claims import ALL_ORDERS, EITHER, Kind
from symacct.core.exact import INFINITY, Exact, Order
from symacct.core.sources import SYMACCT
from symacct.expressions.theorem_registry import always, theorem
from symacct.operations.either import Either
from symacct.theory.rdp_curve import RDPCurve


@theorem(
    "EITHER",
    operation=Either,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 27"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
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
