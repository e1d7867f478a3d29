"""Van Erven, Harremoës 2014: what every Rényi divergence obeys."""

from __future__ import annotations

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, EITHER, FINITE_ORDERS, Kind, Orders
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.parameters import floor_order
from symacct.kernel.sources import VEH14
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.operations.postprocess import PostProcess
from symacct.theory.amplification.samples import of_samples
from symacct.theory.amplification.zw19 import sampled_pure


@of_samples(
    "VEH14-T13",
    kind=Kind.UPPER,
    source=VEH14.at("Theorem 13 (joint quasi-convexity)"),
    orders=ALL_ORDERS,
    applies=always,
)
def never_worse_than_base(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= ε(α)"""
    return eps(alpha)


@of_samples(
    "VEH14-T3-CAP",
    kind=Kind.UPPER,
    source=VEH14.at("Theorem 3 (monotone in the order), with ZW19 Lemma 4 and WBK19 Lemma 3"),
    orders=FINITE_ORDERS,
    applies=always,
)
def never_worse_than_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= ε′(∞) = log(1 + γ(e^{ε(∞)} − 1))"""
    return sampled_pure(ctx, eps(INFINITY), gamma)


@of_samples(
    "VEH14-T3",
    kind=Kind.LOWER,
    source=VEH14.at("Theorem 3 (monotone in the order)"),
    orders=Orders(2, infinite=False),
    reads="itself",
    applies=always,
)
def at_next_lower_order(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε(α) >= ε(⌊α⌋)"""
    return eps(floor_order(alpha))


@theorem(
    "VEH14-T9",
    operation=PostProcess,
    kind=Kind.UPPER,
    source=VEH14.at("Theorem 9 (data processing)"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def post_processing(ctx: Arithmetic, eps: RDPCurve, alpha: Order) -> Number:
    """ε′(α) <= ε(α)"""
    return eps(alpha)
