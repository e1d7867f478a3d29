"""Steinke 2022: the bound of Zhu and Wang's Theorem 8 without its condition, for every mechanism.

The proof is written down step by step in docs/theorems.md; the inequality that it rests on is
`pointwise_gap` >= 0.
"""

from __future__ import annotations

from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import INTEGER_ORDERS, Kind
from symacct.kernel.exact import Order
from symacct.kernel.sources import S22
from symacct.kernel.theorem_registry import RDPCurve, always
from symacct.theory.amplification.samples import of_a_record
from symacct.theory.amplification.zw19 import log_moment


@of_a_record(
    "S22-POISSON",
    kind=Kind.UPPER,
    source=S22.at("tight subsampled RDP; SYMACCT, docs/theorems.md"),
    orders=INTEGER_ORDERS,
    assumes="$ε$ bounds both directions, as it does for add/remove neighbours",
    applies=always,
)
def every_mechanism(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)


def weight_of_forward(ctx: Arithmetic, alpha: Order, gamma: Number) -> Number:
    """c = 3(1−γ)/(3 + 2γ(α−2)), the share of E_Q[(1−γ+γP/Q)^α] in the bound on A₂; α >= 2."""
    return 3 * (1 - gamma) / (3 + 2 * gamma * (ctx.number(alpha) - 2))


def pointwise_gap(ctx: Arithmetic, alpha: Order, gamma: Number, ratio: Any) -> Number:
    """c m^α + (1−c) r (1−γ+γ/r)^α + κ(r−1) − m^{1−α} >= 0 for r > 0, m = 1−γ+γr, α >= 2 real.

    κ makes the slope at r = 1 vanish; its mean is 0, since E_Q[P/Q] = 1.
    """
    a, c = ctx.number(alpha), weight_of_forward(ctx, alpha, gamma)
    m, swapped = 1 - gamma + gamma * ratio, 1 - gamma + gamma / ratio
    slope = (1 - a) * gamma - c * a * gamma - (1 - c) * (1 - a * gamma)
    forward, backward = ctx.power(m, a), ratio * ctx.power(swapped, a)
    return c * forward + (1 - c) * backward + slope * (ratio - 1) - 1 / ctx.power(m, a - 1)
