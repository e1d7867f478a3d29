"""Wang, Balle, Kasiviswanathan 2019: Theorem 9 for pure DP, summed up (the remark after it)."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import INTEGER_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.sources import WBK19
from symacct.kernel.theorem_registry import theorem
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.theory.amplification.poisson.tau_terms import is_nondecreasing
from symacct.theory.rdp_curve import RDPCurve


@theorem(
    "WBK19-PURE",
    operation=SubsampleWithoutReplacement,
    kind=Kind.UPPER,
    source=WBK19.at("the remark on pure DP after Theorem 9"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="a nondecreasing $ε$ and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=is_nondecreasing,
    default=False,
    monotone=True,
    status="proved",
)
def pure_remark(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= α/(α−1) log(1 + γ e^{ε(α)} (e^{ε(∞)} − 1))"""
    if ctx.is_zero(gamma):
        return ctx.number(0)
    pure, order = eps(INFINITY), ctx.number(alpha)
    if ctx.is_infinite(pure):
        return ctx.number(INFINITY)
    return order * ctx.log1p(gamma * ctx.exp(eps(alpha)) * ctx.expm1(pure)) / (order - 1)
