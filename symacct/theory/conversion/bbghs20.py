"""Balle et al. 2020, Canonne, Kamath, Steinke 2020: the improved conversion."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.conversion import Conversion, state
from symacct.kernel.sources import CKS20


def epsilon(ctx: Arithmetic, eps: Number, alpha: Number, delta: Number) -> Number:
    """ε = ε(α) + log((α−1)/α) − (log δ + log α)/(α−1)"""
    lam = alpha - 1
    return eps - ctx.log1p(1 / lam) - (ctx.log(delta) + ctx.log(alpha)) / lam


def log_delta(ctx: Arithmetic, eps: Number, alpha: Number, epsilon: Number) -> Number:
    """log δ = (α−1)(ε(α) − ε) − log(α−1) + α log(1 − 1/α)"""
    lam = alpha - 1
    return lam * (eps - epsilon) - ctx.log(lam) - alpha * ctx.log1p(1 / lam)


# (α−1)·ε(δ) and log δ(ε) add λ log λ − (λ+1) log(λ+1) to the CGF's part, whose second derivative
# 1/λ − 1/(λ+1) is positive, so both stay convex.
state(
    Conversion(
        name="improved",
        source=CKS20.at("Proposition 12 (arXiv v4); BBGHS20, Theorem 21"),
        epsilon=epsilon,
        log_delta=log_delta,
        one_valley=True,
        at_one="total-variation",
        status="proved",
    )
)
