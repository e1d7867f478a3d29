"""Composition, scaling and group privacy of RDP curves (Mironov 2017)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symacct.claims import ALL_ORDERS, EITHER, Kind, Source
from symacct.exact import INFINITY
from symacct.expr import Node
from symacct.operations.compose import Compose
from symacct.operations.group import GroupPrivacy
from symacct.operations.scale import Scale
from symacct.sources import MIR17
from symacct.theory import always, larger_order, theorem

_STATED = Source("user", "a scaled curve, stated by the user")


@theorem(
    "MIR17-P1",
    operation=Compose,
    kind=Kind.EXACT,
    source=MIR17.at("Proposition 1"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def composition(ctx: Any, eps: Any, alpha: Any, terms: Mapping[Any, int]) -> Any:
    """ε(α) = Σ n_i ε_i(α)"""
    total = ctx.number(0)
    for curve, count in zip(eps, terms.values(), strict=True):
        value = curve(alpha)
        if ctx.is_infinite(value):
            return value
        total = total + (count if isinstance(count, int) else ctx.number(count)) * value
    return total


def is_lower(node: Node) -> str | None:
    """The mechanism's curve is a lower bound."""
    if node.mechanism.claim.kind is Kind.LOWER:  # type: ignore[attr-defined]
        return None
    return "a scaled curve need not be attained, so only a lower bound stays one"


@theorem(
    "SCALE-LOWER",
    operation=Scale,
    kind=Kind.LOWER,
    source=_STATED,
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=is_lower,
    monotone=True,
    status="proved",
)
@theorem(
    "SCALE",
    operation=Scale,
    kind=Kind.UPPER,
    source=_STATED,
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def scaling(ctx: Any, eps: Any, alpha: Any, c: Any) -> Any:
    """ε′(α) = c ε(α)"""
    return c * eps(alpha)


@theorem(
    "MIR17-P2",
    operation=GroupPrivacy,
    kind=Kind.UPPER,
    source=MIR17.at("Proposition 2"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def group_privacy(ctx: Any, eps: Any, alpha: Any, c: int) -> Any:
    """ε′(α) <= 3^c ε(2^c α) for α >= 2, its value at 2 below (ε is nondecreasing), 2^c ε(∞) at ∞"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return 2**c * eps(INFINITY)
    return 3**c * eps(2**c * larger_order(alpha, 2))
