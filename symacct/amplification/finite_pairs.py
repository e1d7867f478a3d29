"""Finite pairs: the sampled curve itself, outcome by outcome, at every real order.

A DistributionPair says that the outputs on two neighbouring datasets have the laws P and Q, and
does not say which of the two datasets is the one with the record. With the record x, the sampled
output is a mixture over the samples S of the others: (1−γ)M(S) + γM(S∪{x}), and M(S) without it.
D_α is jointly quasi-convex (VEH14 Theorem 13), so the worst S counts alone; either law may be
M(S∪{x}); and D_α has two directions. The largest of these four divergences is attained where x
is the only record, so it is the exact value.
"""

from __future__ import annotations

from typing import Any

from symacct.claims import ADD_REMOVE, ALL_ORDERS, REPLACE_ONE, Kind
from symacct.exact import INFINITY, Exact
from symacct.expr import Node
from symacct.mechanisms.direction import FiniteDirection
from symacct.mechanisms.pair import DistributionPair, mixture
from symacct.sources import VEH14, WBK19
from symacct.theory import theorem


def is_finite_pair(node: Node) -> str | None:
    """The mechanism is given by the probabilities of finitely many outcomes."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if isinstance(mechanism, DistributionPair) and mechanism.masses is not None:
        return None
    return "the mechanism is not given as a pair of finite distributions"


@theorem(
    "PAIR-FINITE",
    about="PoissonSubsample",
    kind=Kind.EXACT,
    source=VEH14.at("Definition 2 and Theorem 13"),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="neighbouring datasets give the laws P and Q, of finitely many outcomes, in any order",
    applies=is_finite_pair,
    tight=True,
    takes_exact=True,
)
def sampled_either_way(ctx: Any, eps: Any, alpha: Any, gamma: Exact) -> Any:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P)"""
    return _largest(ctx, eps, alpha, gamma)


@theorem(
    "PAIR-FINITE-WOR",
    about="SubsampleWithoutReplacement",
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11, its datasets with P and Q themselves"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="neighbouring datasets give the laws P and Q, of finitely many outcomes, in any order",
    applies=is_finite_pair,
    takes_exact=True,
)
def replaced_record(ctx: Any, eps: Any, alpha: Any, gamma: Exact) -> Any:
    """ε′(α) >= max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P):
    datasets [x,…,x,x′] and [x,…,x], samples of which give q unless x′ is in them"""
    return _largest(ctx, eps, alpha, gamma)


def _largest(ctx: Any, eps: Any, alpha: Any, gamma: Exact) -> Any:
    """The largest divergence at α; what does not depend on the order is remembered."""
    known = eps.remember("sampled directions")
    if gamma not in known:
        directions = _directions(eps.node, gamma)
        known[gamma] = directions, [direction.curve(ctx) for direction in directions]
    directions, curves = known[gamma]
    if isinstance(alpha, int | float) and alpha in (1, INFINITY):
        return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))
    return ctx.maximum(*(curve(alpha) for curve in curves))


def _directions(pair: DistributionPair, gamma: Exact) -> list[FiniteDirection]:
    """Both directions for each role of the laws; one role where a permutation swaps them."""
    roles = [pair] if pair.swap_symmetric else [pair, pair.swapped()]
    mixed = [mixture(role.masses or (), gamma) for role in roles]
    back = [[(q, m) for m, q in masses] for masses in mixed]
    return [FiniteDirection(masses) for masses in [*mixed, *back]]
