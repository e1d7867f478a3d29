"""Pei 2019 (blog): moment subsampling."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import FINITE_ORDERS, INTEGER_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import Order
from symacct.kernel.sources import BLOG
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.theory.amplification.mtz19 import not_gaussian
from symacct.theory.amplification.samples import of_samples
from symacct.theory.amplification.zw19 import log_moment


@of_samples(
    "BLOG-C24",
    kind=Kind.UPPER,
    source=BLOG.at("Claim 24"),
    orders=FINITE_ORDERS,
    applies=always,
)
def moment_subsampling(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log(1 + γ(e^{(α−1)ε(α)} − 1))/(α−1), and γ ε(1) at α = 1"""
    if isinstance(alpha, int) and alpha == 1:
        return gamma * eps(1)
    lam = ctx.number(alpha) - 1
    cgf = lam * eps(alpha)
    if ctx.is_infinite(cgf):
        return cgf if not ctx.is_zero(gamma) else ctx.number(0)
    return ctx.log1p(gamma * ctx.expm1(cgf)) / lam


@theorem(
    "BLOG-C26",
    operation=SubsampleWithoutReplacement,
    kind=Kind.UPPER,
    source=BLOG.at("Claim 26, part 1, with Claim 27"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="a Gaussian mechanism, and Conjecture 1 for its mixtures, which is false",
    applies=not_gaussian,
    default=False,
    status="refuted",
    monotone=True,
)
def sampled_gaussian_conjecture(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number
) -> Number:
    """ε′(α) <= log( Σ_{l=0}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{l(l−1)Δ²/(2σ²)} )/(α−1), which is
    refuted"""
    # Three normal laws in the plane whose means are at mutual distance Δ exceed it as γ → 0:
    # with x = e^{Δ²/(2σ²)}, 2x² − 2x against x² − 1 at α = 2. See docs/theorems.md.
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)
