"""Mechanisms whose worst pair is known: the sampled curve itself, at every real order."""

from __future__ import annotations

from typing import Any

from symacct.claims import ADD_REMOVE, FINITE_ORDERS, Kind
from symacct.expr import Node
from symacct.mechanisms.response import ResponsePair
from symacct.sources import MTZ19
from symacct.theory import theorem


def is_response_pair(node: Node) -> str | None:
    """The worst pair is (p, 1−p) against (1−p, p)."""
    if isinstance(node.mechanism, ResponsePair):  # type: ignore[attr-defined]
        return None
    return "no closed form is known for the worst pair of this mechanism"


@theorem(
    "PAIR-EXACT",
    about="PoissonSubsample",
    kind=Kind.EXACT,
    source=MTZ19.at("Theorem 5, for the pair of randomized response"),
    orders=FINITE_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="one pair (P, Q) dominates and an involution that preserves the measure swaps it",
    applies=is_response_pair,
    tight=True,
)
def sampled_response(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """ε′(α) = log( (1−p)(1−γ+γp/(1−p))^α + p(1−γ+γ(1−p)/p)^α )/(α−1), its limit at α = 1"""
    p, log_odds = eps.node.truth_probability(ctx), eps.node.log_odds(ctx)
    # log of the mixture's likelihood ratio, for the two answers, whose laws are 1−p and p.
    first = ctx.log1p(gamma * ctx.expm1(log_odds))
    second = ctx.log1p(gamma * ctx.expm1(-log_odds))
    if isinstance(alpha, int) and alpha == 1:
        return (1 - p) * ctx.exp(first) * first + p * ctx.exp(second) * second
    alpha = ctx.number(alpha)
    excess = (1 - p) * ctx.expm1(alpha * first) + p * ctx.expm1(alpha * second)
    return ctx.log1p(excess) / (alpha - 1)
