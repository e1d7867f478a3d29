"""What orders are compared by, where the search over them starts, and what proves an optimum."""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import replace
from itertools import islice

from flint import arb

from symacct.arithmetic import BALL
from symacct.core import limits as sizes
from symacct.core.claims import Kind
from symacct.core.errors import LimitError, OrderError, PrecisionError
from symacct.core.exact import Order
from symacct.core.pinning import By
from symacct.expressions import theorem_registry
from symacct.expressions.node import Node
from symacct.expressions.theorem_registry import Bound, Theorem
from symacct.numerics import order_search
from symacct.operations.compose import Compose
from symacct.rdp.curve import NodeCurve
from symacct.rdp.evaluation import Evaluation, OperationCurve
from symacct.rdp.question import EpsilonDelta

_VERY_MANY, _A_FEW = 128, 16  # parts of a composition
_FAR = 2**17  # an order from which a search takes growing steps to what lies beyond
_SCALE = 8  # times further down, other valleys are looked for
_CHEAP = 64  # and as far up as a sum to the order costs little
_STEPS = 4  # of Newton's method, which is to be right to an order
_UNKNOWN = (ArithmeticError, ValueError, OrderError, PrecisionError, LimitError)


class Steering(Evaluation):
    """An evaluation by what the theorems offer to compare orders by; nothing rests on it."""

    told_apart = ("steering",)

    def __init__(self, proved: Evaluation) -> None:
        super().__init__(proved.ctx, proved.goal, proved.by, proved.memo)

    def formula(self, theorem: Theorem, node: Node) -> Bound:
        rough = theorem_registry.rough_curve(node) if _says_all(theorem) else None
        if rough is None:
            return theorem.steer or theorem.bound
        return lambda ctx, eps, alpha, **parameters: arb(rough(alpha))


class SteeringFromBelow(Evaluation):
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
        return offered and all(
            super(SteeringFromBelow, self).supports(part, alpha) for part in parts
        )


def _says_all(theorem: Theorem) -> bool:
    """Is it the curve itself of what it is about?"""
    return theorem.tight and theorem.kind is Kind.EXACT


def is_steered(node: Node, by: By) -> bool:
    """Are orders compared by what a theorem about something in the node offers, or by floats?"""
    known: dict[object, bool] = node._derived("is steered")
    key = by, theorem_registry.revision()
    if key not in known:
        asked = theorem_registry.theorems() if by is None else theorem_registry.all_named(by)
        if any(map(theorem_registry.rough_curve, node.walk())):
            known[key] = by is None or all(map(_says_all, asked))
        else:
            known[key] = any(
                theorem_registry.is_about(theorem, below) and theorem.applies(below) is None
                for theorem in asked
                if theorem.steer is not None
                for below in node.walk()
            )
    return known[key]


def below_near(proved: Evaluation, near: Order, node: Node) -> NodeCurve | None:
    """What is offered below a node's curve, mostly it about an order; None if nothing is."""
    offer = [theorem for theorem in theorem_registry.theorems() if theorem.below is not None]
    if any(theorem_registry.is_about(theorem, below) for below in node.walk() for theorem in offer):
        return SteeringFromBelow(proved, near).curve(node)
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
        if below.sampling_rate is not None:
            is_convex = all(part.convex for part in below.children)
            last = min(last, limits.search_sum if is_convex else limits.hull)
    return last


def whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The whole order at the bottom of f's valley, f what the conversion makes of the curve.

    The search starts where it would be if K were quadratic and the conversion classic, a little
    below, as most curves grow faster, or where the growth between says.
    """
    guess = 2
    with contextlib.suppress(*_UNKNOWN):
        given, eps = BALL.number(question.value), float(curve(2))
        square = -2 * float(given.log()) / eps if question.asks_epsilon else float(given) / eps
        guess = 1 + round(min(math.sqrt(square) if question.asks_epsilon else square, _FAR))
    guess = max(first, guess)
    near = guess - max(1, guess // 8)
    if not (question.asks_epsilon and first < near <= last):
        return order_search.whole_valley(f, first, last, guess)
    found = _if_exponential(curve, f, first, near)
    if 2 * found > near:
        return order_search.whole_valley_near(f, first, last, min(max(first, found), last))
    return order_search.whole_valley(f, first, last, near)


def lowest_whole_valley(
    question: EpsilonDelta, curve: NodeCurve, f: order_search.Objective, first: int, last: int
) -> int:
    """The lowest of several valleys of a curve over whole orders, by some places next to them.

    A curve may have several where one theorem ends and another goes on.
    """
    found = whole_valley(question, curve, f, first, last)
    if curve.shape is not None:
        return found
    least, most = max(first, found // _SCALE), min(last, max(found, _CHEAP))
    places = (lead << twice for twice in range(most.bit_length()) for lead in (2, 3))
    start = order_search.lowest(f, (found, *(place for place in places if least <= place <= most)))
    return found if start == found else order_search.whole_valley_near(f, first, last, start)


def _if_exponential(curve: NodeCurve, f: order_search.Objective, first: int, near: int) -> int:
    """The best order if K = kλ(λ+1)e^{gλ} and λf − K = c + t log λ, by two orders; 0 for none.

    There λK′ − K = kλ²(1 + g(λ+1))e^{gλ} is what c + t log λ exceeds its derivative by, times λ.
    """
    with contextlib.suppress(*_UNKNOWN):
        low, lam = first - 1.0, near - 1.0
        (k1, c1), (k2, c2) = (
            (x * float(eps := curve(alpha)), x * float(f(alpha) - eps))  # K(λ) and λf − K
            for x, alpha in ((low, first), (lam, near))
        )
        growth = math.log(k2 * low * (low + 1) / (k1 * lam * (lam + 1))) / (lam - low)
        rise = (c2 - c1) / math.log(lam / low)
        size = math.log(k1 / (low * (low + 1))) - growth * low
        for _ in range(_STEPS):
            bend = 1 + growth * (lam + 1)
            paid = c2 + rise * (math.log(lam / (near - 1)) - 1)
            off = size + growth * lam + math.log(lam * lam * bend / paid)
            lam = max(lam / 4, lam - off / (2 / lam + growth + growth / bend - rise / (lam * paid)))
        return 1 + round(lam)
    return 0
