"""The true (ε, δ) of an expression: the largest profile of its products, in either direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.claims import Kind, combine
from symacct.expr import Node
from symacct.profile.pairs import Product, products
from symacct.profile.solve import Direction

_FEW_DIGITS = 5.0  # at which a direction is usually seen to be the smaller one


@dataclass(frozen=True)
class Answer:
    """The number asked, as a ball; the order 1 + c at whose line its profile is steepest."""

    value: arb
    alpha: float
    kind: Kind


class Profile:
    """δ(ε) and ε(δ) of a node; AssumptionError where its pairs are not known."""

    def __init__(self, node: Node) -> None:
        found = products(node)
        self.kind = combine((product.kind for product in found), "conversion='exact'")
        self.directions = [
            Direction(product.runs, reverse)
            for product in found
            for reverse in (False, True)
            if not (reverse and all(part.symmetric for part, _ in product.runs))
        ]

    def delta(self, y: Callable[[], arb], digits: float) -> Answer:
        """δ(ε), the largest over the directions."""
        first, *others = self.directions
        value = first.delta(y, digits)
        best = first
        for other in others:
            rough = other.delta(y, min(_FEW_DIGITS, digits))
            if not rough <= value:
                exact = other.delta(y, digits)
                best = other if exact > value else best
                value = value.max(exact)
        return Answer(value, best.order(y), self.kind)

    def epsilon(self, delta: Fraction, digits: float) -> Answer:
        """ε(δ), the largest over the directions."""
        first, *others = self.directions
        value, best = first.epsilon(delta, digits), first
        for other in others:
            least = value.lower()
            if not other.is_within(least.mid, delta):
                exact = other.epsilon(delta, digits)
                best = other if exact > value else best
                value = value.max(exact)
        return Answer(value, best.order(lambda: value), self.kind)
