"""Poisson sampling under replace-one, any mechanism: through the law without either record."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import INTEGER_ORDERS, REPLACE_ONE, Kind, Orders
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import always, theorem
from symacct.operations.subsample import PoissonSubsample
from symacct.theory.amplification.zw19 import has_one_pair, log_moment, sampled_pure
from symacct.theory.rdp_curve import RDPCurve


@theorem(
    "TRIPLE-ANY-POISSON",
    operation=PoissonSubsample,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs.md, section 14, Hölder; S22, tight subsampled RDP"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="$ε$ bounds both directions, as it does for add/remove neighbours",
    applies=always,
    monotone=True,
    default=True,
    status="proved",
)
def through_neither(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= ( log A(2α) + α log A(2α−1)/(α−1) )/(2α−1),
    A(n) = (1−γ)^{n−1}(nγ−γ+1) + Σ_{l=2}^{n} C(n,l)(1−γ)^{n−l}γ^l e^{(l−1)ε(l)}"""
    there, back = (log_moment(ctx, eps, n, gamma) for n in (2 * alpha, 2 * alpha - 1))
    order = ctx.number(alpha)
    return (there + order * back / (order - 1)) / (2 * order - 1)


@theorem(
    "TRIPLE-LOWER-POISSON",
    operation=PoissonSubsample,
    kind=Kind.LOWER,
    source=SYMACCT.at("docs/proofs.md, section 14, p′ = q; ZW19, Theorem 6"),
    orders=Orders(2, whole=True),
    adjacency=REPLACE_ONE,
    assumes="the same as ZW19-T6, and another record that changes nothing",
    applies=has_one_pair,
    monotone=True,
    default=True,
    status="proved",
)
def of_one_record(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) >= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)};
    ε′(∞) >= log(1 + γ(e^{ε(∞)} − 1))"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), gamma)
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)
