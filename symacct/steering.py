"""What orders are compared by, where a bound costs much and a formula near it does not."""

from __future__ import annotations

from symacct import theory
from symacct.evaluation import Evaluation
from symacct.expr import Node
from symacct.theory import Bound, Theorem


class Steering(Evaluation):
    """The same evaluation by what the theorems offer to compare orders by; nothing rests on it."""

    def __init__(self, proved: Evaluation) -> None:
        memo = proved.memo
        super().__init__(
            proved.ctx, proved.goal, proved.by, lambda node, key: memo(node, (*key, "steering"))
        )

    def formula(self, theorem: Theorem) -> Bound:
        return theorem.steer or theorem.bound


def is_steered(node: Node, by: str | None) -> bool:
    """Does a theorem about something in the node offer a formula to compare orders by?"""
    asked = theory.theorems() if by is None else [theory.named(by)]
    offer = [theorem for theorem in asked if theorem.steer is not None]
    return any(
        theory.is_about(theorem, below) and theorem.applies(below) is None
        for theorem in offer
        for below in node.walk()
    )
