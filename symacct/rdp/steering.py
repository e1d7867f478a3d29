"""What orders are compared by, and an optimum is proved by, where a bound costs much."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from itertools import islice

from flint import arb

from symacct.core import limits as sizes
from symacct.core.claims import Kind
from symacct.core.exact import Order
from symacct.core.pinning import By
from symacct.expressions import theorem_registry
from symacct.expressions.node import Node
from symacct.expressions.theorem_registry import Bound, Theorem
from symacct.operations.compose import Compose
from symacct.operations.subsample import Sampling
from symacct.rdp.curve import NodeCurve
from symacct.rdp.evaluation import Evaluation, OperationCurve
from symacct.theory.amplification.poisson.finite_pairs import roughly

_VERY_MANY, _A_FEW = 128, 16  # parts of a composition


class Steering(Evaluation):
    """An evaluation by what the theorems offer to compare orders by; nothing rests on it."""

    told_apart = ("steering",)

    def __init__(self, proved: Evaluation) -> None:
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def formula(self, theorem: Theorem, node: Node) -> Bound:
        rough = roughly(node) if _says_all(theorem) else None
        if rough is None:
            return theorem.steer or theorem.bound
        return lambda ctx, eps, alpha, **parameters: arb(rough(alpha))


class Below(Evaluation):
    """By what theorems offer below the exact curve, of convex CGF; mostly the curve at `near`."""

    def __init__(self, proved: Evaluation, near: Order) -> None:
        self.near = near
        self.told_apart = ("below", near)
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def formula(self, theorem: Theorem, node: Node) -> Bound:
        if theorem.below is None:
            return theorem.bound
        return functools.partial(theorem.below, near=self.near)

    def stated(self, theorem: Theorem) -> Theorem:
        return theorem if theorem.below is None else replace(theorem, kind=Kind.LOWER)

    def supports(self, curve: NodeCurve, alpha: Order) -> bool:
        """By what a theorem offers over exact curves, or by a sum of such and of exact ones."""
        if super().supports(curve, alpha):
            return True
        parts = [self.curve(part) for part in curve.node.children]
        if isinstance(curve.node, Compose):
            return all(self.supports(part, alpha) for part in parts)
        offered = isinstance(curve, OperationCurve) and curve.best(alpha).below is not None
        return offered and all(super(Below, self).supports(part, alpha) for part in parts)


def _says_all(theorem: Theorem) -> bool:
    """Is it the curve itself of what it is about?"""
    return theorem.tight and theorem.kind is Kind.EXACT


def is_steered(node: Node, by: By) -> bool:
    """Are orders compared by what a theorem about something in the node offers, or by floats?"""
    known: dict[object, bool] = node.__dict__.setdefault("_is_steered", {})
    key = by, theorem_registry.revision()
    if key not in known:
        known[key] = _is_steered(node, by)
    return known[key]


def _is_steered(node: Node, by: By) -> bool:
    asked = theorem_registry.theorems() if by is None else theorem_registry.all_named(by)
    if any(map(roughly, node.walk())):
        return by is None or all(map(_says_all, asked))
    offer = [theorem for theorem in asked if theorem.steer is not None]
    return bool(offer) and any(
        theorem_registry.is_about(theorem, below) and theorem.applies(below) is None
        for below in node.walk()
        for theorem in offer
    )


def below_near(proved: Evaluation, near: Order, node: Node) -> NodeCurve | None:
    """What is offered below a node's curve, mostly it about an order; None if nothing is."""
    offer = [theorem for theorem in theorem_registry.theorems() if theorem.below is not None]
    if any(theorem_registry.is_about(theorem, below) for below in node.walk() for theorem in offer):
        return Below(proved, near).curve(node)
    return None


def standing_for_all(node: Node) -> Node | None:
    """A few parts of a composition of very many, run as often as all; None of any other node."""
    if not isinstance(node, Compose) or len(node.terms) < _VERY_MANY or node.free_symbols:
        return None
    step = math.ceil(len(node.terms) / _A_FEW)
    return Compose(
        {part: step * count for part, count in islice(node.terms.items(), 0, None, step)}
    )


def last_order(node: Node) -> int:
    """The largest whole order to try: where it is found by a sum, one that takes no minutes."""
    limits = sizes.current()
    last = limits.search_order
    for below in node.walk():
        if isinstance(below, Sampling):
            last = min(last, limits.search_sum if below.mechanism.convex else limits.hull)
    return last
