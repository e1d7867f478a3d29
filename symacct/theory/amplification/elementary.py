"""Composition (Mironov 2017) and scaling of RDP curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ALL_ORDERS, EITHER, Kind, Source, why_no_one_way
from symacct.kernel.exact import Order
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.sources import MIR17
from symacct.kernel.sums.local import LocalProduct, times
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.operations.curves import Scale

#: The source of a scaled curve, which no mechanism need have.
_STATED = Source("user", "a scaled curve, stated by the user")


def _composed(
    eps: tuple[RDPCurve, ...], middle: int, terms: Mapping[Node, Count]
) -> LocalProduct | None:
    """Π e^{n_i K_i}, the moment of a composition near a whole order, from those of its parts.

    None where a count is a symbol or a part offers none. Products are remembered with the parts, so
    that compositions which begin alike share them.
    """
    product: LocalProduct | None = None
    for curve, count in zip(eps, terms.values(), strict=True):
        part = curve.local(middle) if isinstance(count, int) else None
        if part is None:
            return None
        known, key = curve.remember("product"), (middle, count, product)
        if key not in known:
            for local in part:
                product = times(product, count * local.count, local.factor)
            known[key] = product
        product = known[key]
    return product


def why_directions_differ(node: Node, alpha: Order | np.ndarray) -> str | None:
    """None if one direction is the larger one in all parts at α, so that the sum is attained.

    Else the reason why the sum is only an upper bound there.
    """
    return why_no_one_way((part.attained for part in node.children), alpha)


# Proved in docs/proofs/pairs.md, Lemma composition.
@theorem(
    "MIR17-P1",
    operation=Compose,
    kind=Kind.EXACT,
    source=MIR17.at("Proposition 1"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    assumes="nothing further",
    applies=always,
    why_upper=why_directions_differ,
    local=_composed,
    monotone=True,
    status="proved",
)
def composition(
    ctx: Arithmetic, eps: tuple[RDPCurve, ...], alpha: Order, terms: Mapping[Node, Count]
) -> Number:
    """ε(α) = Σ n_i ε_i(α)"""
    total = ctx.number(0)
    for curve, count in zip(eps, terms.values(), strict=True):
        value = curve(alpha)
        if ctx.is_infinite(value):
            return value
        total = total + (count if isinstance(count, int) else ctx.number(count)) * value
    return total


def is_lower(node: Node) -> str | None:
    """None if the mechanism's curve is a lower bound; else the reason."""
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
def scaling(ctx: Arithmetic, eps: RDPCurve, alpha: Order, c: Any) -> Number:
    """ε′(α) = c ε(α)"""
    return c * eps(alpha)
