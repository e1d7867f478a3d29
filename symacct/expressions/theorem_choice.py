"""Which of the registered theorems answer for a node at an order."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from symacct.core.claims import INTEGER_ORDERS, Kind
from symacct.core.errors import AssumptionError, DomainError, OrderError, SoundnessError, echo
from symacct.core.exact import INFINITY, Order
from symacct.expressions.node import Node
from symacct.expressions.orders import is_real
from symacct.expressions.theorem_registry import (
    Theorem,
    covers,
    lineage,
    order_finding,
    order_remedy,
    revision,
    speaks_of_relation,
    theorems,
)


def order_class(alpha: Order | np.ndarray) -> str | float:
    """What decides which theorems speak of an order: 1, ∞, whole, between those, or symbolic."""
    if isinstance(alpha, int):
        return 1 if alpha == 1 else "whole"
    if isinstance(alpha, Fraction):
        return "fractional" if alpha.numerator > 2 * alpha.denominator else "below 2"
    if isinstance(alpha, float) and alpha == INFINITY:
        return INFINITY
    if isinstance(alpha, np.ndarray):
        whole = alpha[0] == np.floor(alpha[0])
        return "whole" if whole else order_class(Fraction(np.min(alpha)))
    return "symbolic real" if is_real(alpha) else "symbolic"


def bounding(node: Node, alpha: Order | np.ndarray, goal: Kind) -> list[Theorem]:
    """The theorems that give the default answer: a tight one alone, else all whose best counts.

    First those that may say nothing, the tight one of them before all. Raises where there is none.
    """
    key = (order_class(alpha), goal, revision())
    known: dict[object, list[Theorem]] = node._derived("bounding")
    if key not in known:
        known[key] = _find_bounding(node, alpha, goal, _defaults(lineage(node), revision()))
    return known[key]


def stating(node: Node, alpha: Order | np.ndarray, goal: Kind) -> list[Theorem]:
    """The theorems that bound and give a value at every order, so that a formula can say them."""
    among = _defaults(lineage(node), revision())
    return _find_bounding(node, alpha, goal, [t for t in among if not t.partial])


@functools.lru_cache(128)
def _defaults(names: tuple[str, ...], at: int) -> tuple[Theorem, ...]:
    """The theorems of the register about one of these classes that answer by default."""
    return tuple(t for t in theorems() if t.default and not set(t.operation).isdisjoint(names))


def _find_bounding(
    node: Node, alpha: Order | np.ndarray, goal: Kind, among: Iterable[Theorem]
) -> list[Theorem]:
    wanted = [
        t
        for t in among
        if t.kind_for(node, alpha) in (Kind.EXACT, goal) and speaks_of_relation(t, node)
    ]
    here = [t for t in wanted if covers(t.orders, alpha)]
    if covers(INTEGER_ORDERS, alpha):
        # A theorem that reads the node's own curve derives other orders from the whole ones.
        here = [t for t in here if t.reads != "itself"]
    # Among theorems that give the same value, the one stated for whole orders goes first.
    tight = sorted((t for t in here if t.is_tight(node, alpha)), key=lambda t: not t.orders.whole)
    for theorem in tight:
        if not theorem.partial and theorem.why_not(node, alpha) is None:
            return [theorem]
    found = [theorem for theorem in here if theorem.why_not(node, alpha) is None]
    if not found:
        _raise_unanswered(node, alpha, goal, wanted)
    return sorted(found, key=lambda t: (not t.partial, not t.is_tight(node, alpha)))


def _raise_unanswered(
    node: Node, alpha: Order | np.ndarray, goal: Kind, wanted: list[Theorem]
) -> None:
    """Say why there is no bound of this kind: the order, or nothing is proved at all."""
    if not wanted:
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved", remedy="ask rdp instead"
        )
    reasons = [t.why_not(node, alpha) or "" for t in wanted]
    if all(not covers(t.orders, alpha) for t in wanted):
        raise OrderError(reasons[0], remedy=order_remedy(wanted[0]))
    if goal is Kind.LOWER and all(t.kind is Kind.EXACT for t in wanted):
        raise SoundnessError(
            f"{type(node).__name__}: no {goal} bound is proved: {'; '.join(reasons)}",
            remedy="ask rdp instead",
        )
    raise AssumptionError(f"{type(node).__name__} at order {alpha}: {'; '.join(reasons)}")


def answering_always(theorems: list[Theorem]) -> list[Theorem]:
    """The theorems that give a value at every order; all of them where none does."""
    return [t for t in theorems if not t.partial] or theorems


def pinned(among: tuple[Theorem, ...], node: Node, alpha: Order | np.ndarray) -> list[Theorem]:
    """The one of the theorems named by the user whose assumptions are proved here."""
    holding = [theorem for theorem in among if theorem.why_not(node, alpha) is None]
    if len(holding) > 1:
        both = ", ".join(theorem.name for theorem in holding)
        raise DomainError(f"by: found {both}, which all apply to {echo(node)}, needed one of them")
    return [_checked((holding or among)[0], node, alpha)]


def _checked(theorem: Theorem, node: Node, alpha: Order | np.ndarray) -> Theorem:
    """The theorem, or what is in its way."""
    if not covers(theorem.orders, alpha):
        raise OrderError(order_finding(theorem, alpha), remedy=order_remedy(theorem))
    theorem.infer(node, [child.claim for child in node.children], alpha)
    reason = theorem.why_not(node, alpha)
    if reason is not None:
        raise AssumptionError(
            reason, where=theorem.name, remedy="ask without by for the default bound"
        )
    return theorem
