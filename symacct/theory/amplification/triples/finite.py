"""Mechanisms given by all of their laws: the largest over finitely many triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import Any

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ADD_REMOVE, ALL_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import theorem
from symacct.laws.direction import FiniteDirection
from symacct.mechanisms import FiniteMechanism, RandomizedResponse
from symacct.mechanisms.finite import alike_once
from symacct.operations.subsample import SAMPLINGS
from symacct.theory.rdp_curve import RDPCurve

Law = tuple[Any, ...]
Triple = tuple[Law, Law, Law]


def has_finitely_many_laws(node: Node) -> str | None:
    """All laws of the mechanism are known, and they are finitely many."""
    if isinstance(node.mechanism, FiniteMechanism | RandomizedResponse):  # type: ignore[attr-defined]
        return None
    return "the mechanism is not given by all of its laws; FiniteMechanism states one that is"


@theorem(
    "TRIPLE-FINITE",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 14, Theorem 1"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="finitely many laws, any two of which are those of neighbours; it is attained if "
    "$0 < γ < 1$ and there is a third record",
    applies=has_finitely_many_laws,
    monotone=True,
    default=True,
    tight=True,
    takes_exact=True,
    status="proved",
)
def record_replaced(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max D_α( (1−γ)q + γp ‖ (1−γ)q + γp′ ) over the laws p, p′ and q"""
    return largest(ctx, eps, alpha, gamma, "TRIPLE-FINITE")


@theorem(
    "TRIPLE-FINITE-ONE",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs.md, section 14, Theorem 1"),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="finitely many laws, any two of which are those of neighbours",
    applies=has_finitely_many_laws,
    monotone=True,
    default=True,
    tight=True,
    takes_exact=True,
    status="proved",
)
def record_added_or_removed(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp and the laws p and q"""
    return largest(ctx, eps, alpha, gamma, "TRIPLE-FINITE-ONE")


def largest(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, name: str) -> Number:
    """The largest D_α over the triples; what does not depend on the order is remembered."""
    if gamma == 0:
        return ctx.number(0)
    known = eps.remember(f"triples of laws, {name}")
    if gamma not in known:
        directions = worst_directions(eps.node, gamma, name)
        known[gamma] = directions, [one.curve(ctx) for one in directions]
    directions, curves = known[gamma]
    if isinstance(alpha, int | float) and alpha in (1, INFINITY):
        return ctx.maximum(*(one.at(ctx, alpha) for one in directions))
    return ctx.maximum(*(curve(alpha) for curve in curves))


def worst_directions(mechanism: Any, gamma: Exact, name: str) -> list[FiniteDirection]:
    """The pairs of mixtures of which one is the worst: of any three laws, or of two."""
    triples = _any_three if name == "TRIPLE-FINITE" else _one_is_the_third
    return [FiniteDirection(masses) for masses in mixtures(triples(laws_of(mechanism)), gamma)]


def laws_of(mechanism: Any) -> tuple[Law, ...]:
    """All laws of the mechanism."""
    if isinstance(mechanism, RandomizedResponse):
        p = mechanism.p
        return (p, 1 - p), (1 - p, p)
    laws: tuple[Law, ...] = mechanism.laws
    return laws


def _any_three(laws: tuple[Law, ...]) -> Iterator[Triple]:
    """(p, p′, q) with p ≠ p′."""
    return ((p, other, q) for (p, other), q in product(permutations(laws, 2), laws))


def _one_is_the_third(laws: tuple[Law, ...]) -> Iterator[Triple]:
    """(p, q, q) and (q, p, q)."""
    for p, q in permutations(laws, 2):
        yield from ((p, q, q), (q, p, q))


def mixtures(triples: Iterable[Triple], gamma: Exact) -> tuple[Any, ...]:
    """(m, n) for every outcome of each triple, those alike but once."""

    def mixed(triple: Triple) -> tuple[tuple[Any, Any], ...]:
        return tuple(
            (q + gamma * (p - q), q + gamma * (other - q))
            for p, other, q in zip(*triple, strict=True)
        )

    return alike_once(map(mixed, triples))
