"""Poisson sampling under replace-one, any mechanism: through the law without either record."""

from __future__ import annotations

from typing import Any

from symacct.amplification.zw19 import log_moment
from symacct.claims import INTEGER_ORDERS, REPLACE_ONE, Kind
from symacct.sources import SYMACCT
from symacct.theory import always, theorem


@theorem(
    "TRIPLE-ANY-POISSON",
    about="PoissonSubsample",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs.md, section 14, Cauchy–Schwarz; S22, tight subsampled RDP"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="ε bounds both directions, as it does for add/remove neighbours",
    applies=always,
    monotone=True,
    default=True,
    status="proved",
)
def through_neither(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """ε′(α) <= ( log A(2α) + log A(2α−1) )/(2(α−1)),
    A(n) = (1−γ)^{n−1}(nγ−γ+1) + Σ_{l=2}^{n} C(n,l)(1−γ)^{n−l}γ^l e^{(l−1)ε(l)}"""
    there, back = (log_moment(ctx, eps, n, gamma) for n in (2 * alpha, 2 * alpha - 1))
    return (there + back) / (2 * (ctx.number(alpha) - 1))
