"""Evaluation: an expression in one arithmetic, each curve's values remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from symacct.arithmetic import Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.arithmetic.float64 import LogNumber
from symacct.arithmetic.symbolic import SymbolicArithmetic
from symacct.core.claims import Claim, Kind
from symacct.core.errors import (
    AdjacencyError,
    AssumptionError,
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
)
from symacct.core.exact import INFINITY, Order
from symacct.core.lazy_import import sympy
from symacct.core.lru_table import Key, Remembered
from symacct.core.pinning import By
from symacct.expressions import theorem_choice, theorem_registry
from symacct.expressions.node import Node, as_node
from symacct.expressions.orders import floor_order, larger_order
from symacct.expressions.theorem_registry import Bound, Theorem
from symacct.mechanisms.mechanism import Mechanism, order_by_order
from symacct.numerics.local import REACH, LocalProduct
from symacct.rdp.curve import LeafCurve, NodeCurve

NUMBERS = (BallArithmetic, MpmathArithmetic)  # what waits for proofs; float64 is for speed


class CurveKey(NamedTuple):
    """Under which values of a node's curve are remembered: all that changes them.

    `derived` says what else of the curve it is, such as the polynomial about a whole order.
    """

    arithmetic: str
    bits: int
    goal: Kind
    by: By
    revision: int
    told_apart: Key = ()
    derived: str = ""


class Evaluation:
    """One way of evaluating: an arithmetic, the kind of bound wanted, a pinned theorem.

    `memo(node, key)` is the table of what is already known of a node's curve under a key of
    everything that changes a value; new values are written into it.
    """

    #: What tells the values of this kind of evaluation from those of the others.
    told_apart: Key = ()

    def __init__(
        self,
        ctx: Arithmetic,
        goal: Kind = Kind.UPPER,
        by: By = None,
        memo: Callable[[Node, Key], Remembered] | None = None,
    ) -> None:
        self.ctx: Any = ctx  # what it can do beyond the protocol is known to who made it
        self.goal = goal
        self.by = by
        self.memo = memo or (lambda node, key: Remembered())
        revision = theorem_registry.revision()
        self.key = CurveKey(type(ctx).__name__, ctx.bits, goal, by, revision, self.told_apart)
        #: All that a claim depends on, beside the node and the kind of order.
        self.claimed_by: Key = goal, by, self.states, self.told_apart, revision
        self._curves: dict[Node, NodeCurve] = {}
        self._default: Evaluation | None = None

    @property
    def states(self) -> bool:
        """Is it by theorems that give a value at every order: in formulas, and in float64?"""
        return not isinstance(self.ctx, NUMBERS)

    def curve(self, node: Node) -> NodeCurve:
        """The curve of `node`, its values remembered."""
        node = theorem_node(node, self.by)
        found: NodeCurve | None = self._curves.get(node)
        if found is None:
            values = self.memo(node, self.key)
            found = self._curves[node] = (
                LeafCurve(self, node, values)
                if isinstance(node, Mechanism)
                else OperationCurve(self, node, values)
            )
        return found

    def default(self) -> Evaluation:
        """This evaluation without a pinned theorem."""
        if self.by is None:
            return self
        if self._default is None:
            self._default = self.with_theorem(self.ctx, None)
        return self._default

    def using(self, ctx: Arithmetic) -> Evaluation:
        """This evaluation in another arithmetic, or in balls at the precision now current."""
        return self.with_theorem(ctx, self.by)

    def with_theorem(self, ctx: Arithmetic, by: By) -> Evaluation:
        """This evaluation in the arithmetic `ctx`, by the pinned theorem `by`."""
        return Evaluation(ctx, self.goal, by, self.memo)

    def formula(self, theorem: Theorem, node: Node) -> Bound:
        """By what a theorem is evaluated for a node."""
        return theorem.bound

    def stated(self, theorem: Theorem) -> Theorem:
        """The theorem that states what `formula` evaluates."""
        return theorem

    def supports(self, curve: NodeCurve, alpha: Order) -> bool:
        """Is a curve of this evaluation nowhere above the true one, and of convex CGF?"""
        return curve.claim(alpha).kind is Kind.EXACT

    def theorem_node(self, node: Node) -> Node:
        """The node of the same curve that theorems are asked about."""
        return theorem_node(node, self.by)

    def pins(self, node: Node) -> bool:
        """Does a pinned theorem replace the default anywhere in `node`?"""
        return self.by is not None and any(
            theorem_registry.named_about(self.by, below) for below in node.walk()
        )


class OperationCurve(NodeCurve):
    """The curve of an operation: the best of the theorems that apply."""

    def __init__(self, evaluation: Evaluation, node: Node, values: Remembered) -> None:
        super().__init__(evaluation, node, values)
        self._theorems: dict[str | float, list[Theorem]] = {}
        #: The theorems that answered before any other was asked.
        self._alone: dict[Order, Theorem] = {}
        self._premises: tuple[NodeCurve, ...] | None = None
        self._bounds: dict[str, Callable[[Order], Number]] = {}
        self._rate = node.sampling_rate
        #: Is it run on all of the data, whose neighbours are those that its curve is read for?
        self._takes_all = node.sampling_rate == 1 and node.is_one_step()

    @property
    def _is_pinned(self) -> bool:
        """Does a theorem that the user named answer for this node?"""
        return bool(theorem_registry.named_about(self.evaluation.by, self.node))

    def theorems(self, alpha: Order) -> list[Theorem]:
        """The theorems whose best value is the answer at α."""
        key = theorem_choice.order_class(alpha)
        if key not in self._theorems:
            if among := theorem_registry.named_about(self.evaluation.by, self.node):
                found = theorem_choice.pinned(among, self.node, alpha)
            else:
                bounding = (
                    theorem_choice.stating if self.evaluation.states else theorem_choice.bounding
                )
                found = bounding(self.node, alpha, self.evaluation.goal)
            self._theorems[key] = found
        return self._theorems[key]

    def compute(self, alpha: Order) -> Number:
        if self._takes_all and not self._is_pinned:
            self.theorems(alpha)  # raises where nothing is proved
            return self.evaluation.curve(self.node.children[0])(alpha)
        theorems = self.theorems(alpha)
        if len(theorems) == 1:
            return self._value_of(theorems[0], alpha)
        found = self._values(alpha)
        if len(found) == 1:
            theorem, value = found[0]
            if not isinstance(alpha, np.ndarray):
                self._alone[alpha] = theorem
            return value
        ctx = self.evaluation.ctx
        best = ctx.minimum if self.evaluation.goal is Kind.UPPER else ctx.maximum
        return best(*(value for _, value in found))

    def _values(self, alpha: Order) -> list[tuple[Theorem, Number]]:
        """What each theorem gives; one that cannot be computed is left out where another can.

        Where a tight one answers, the others need not.
        """
        values, error, is_array = [], None, isinstance(alpha, np.ndarray)
        for theorem in self.theorems(alpha):
            try:
                values.append((theorem, self._value_of(theorem, alpha)))
            except (PrecisionError, LimitError, OrderError) as failed:
                error = error or failed
            else:
                if not is_array and theorem.is_tight(self.node, alpha):
                    break
        if error is not None and not values:
            raise error
        return values

    def _value_of(self, theorem: Theorem, alpha: Order) -> Number:
        """The bound of one theorem; over an array ∞ at the orders where it says nothing."""
        if not (theorem.partial and isinstance(alpha, np.ndarray)):
            return self.value_by(theorem, alpha)

        def each(one: Order) -> Number:
            try:
                return self.value_by(theorem, one)
            except (PrecisionError, LimitError, OrderError):
                return self.evaluation.ctx.number(INFINITY)

        return order_by_order(self.evaluation.ctx, each)(alpha)

    def value_by(self, theorem: Theorem, alpha: Order) -> Number:
        """The bound of one theorem at α; at γ = 0 nothing of the record is seen."""
        bound = self._bounds.get(theorem.name)
        if bound is None:
            bound = self._bounds[theorem.name] = self._bound(theorem)
        try:
            return bound(alpha)
        except TypeError as error:
            if isinstance(error, SymacctError):
                raise
            takes = ", ".join(("ctx", "eps", "alpha", *self.node.parameters()))
            raise DomainError(
                f"{theorem.name} at order {alpha}: found {error}",
                remedy=(
                    f"its bound takes ({takes}) by "
                    "these names, and the order by ctx.number(alpha) before it meets a number"
                ),
            ) from error

    def _bound(self, theorem: Theorem) -> Callable[[Order], Number]:
        """α ↦ its bound; no sum over whole orders to α is finite where the mechanism's ε(α) is not.

        The curves that it reads and its parameters are brought into the arithmetic once.
        """
        ctx, formula = self.evaluation.ctx, self.evaluation.formula(theorem, self.node)
        if self._rate == 0:
            return lambda alpha: ctx.number(0)
        read = self._read(theorem)
        parameters = theorem.arguments(ctx, self.node)
        # Is it an upper bound by what the mechanism's curve is at the whole orders up to α?
        over_orders = theorem.orders.whole and theorem.reads != "itself"
        sums = formula is theorem.bound and over_orders and theorem.kind is not Kind.LOWER
        if self._rate is None or not sums:
            return lambda alpha: formula(ctx, read, alpha, **parameters)

        (mechanism,) = self._below()

        def finite(alpha: Order) -> Number:
            if type(alpha) is int and ctx.is_infinite(top := mechanism(alpha)):
                return top
            return formula(ctx, read, alpha, **parameters)

        return finite

    def local(self, middle: int) -> LocalProduct | None:
        """By the one theorem that answers between whole orders, remembered."""
        if self._rate in (0, 1):
            return None
        known = self.remember("local")
        found: tuple[LocalProduct | None] | None = known[middle]
        if found is None:
            theorem, *others = self.theorems(middle + REACH)
            made = None
            if not others and theorem.local is not None:
                made = theorem.local(self._read(theorem), middle, **self.node.parameters())
            found = known[middle] = (made,)
        return found[0]

    def _read(self, theorem: Theorem) -> NodeCurve | tuple[NodeCurve, ...]:
        """The curve or curves that the theorem reads."""
        if theorem.reads == "itself":
            return self.evaluation.default().curve(self.node)
        return self._below()[0] if "mechanism" in self.node.fields() else self._below()

    def _below(self) -> tuple[NodeCurve, ...]:
        """The curves of the node's parts."""
        if self._premises is None:
            self._premises = tuple(map(self.evaluation.curve, self.node.children))
        return self._premises

    def best(self, alpha: Order) -> Theorem:
        """The theorem that gave the value at α."""
        theorems = self.theorems(alpha)
        if len(theorems) == 1:
            return theorems[0]
        answer = self(alpha)
        if alpha in self._alone:
            return self._alone[alpha]
        return min(self._values(alpha), key=lambda pair: _distance(pair[1], answer))[0]

    def claim(self, alpha: Order) -> Claim:
        # Where one theorem answers at every node below, the claim does not depend on values.
        key = self._claim_key(alpha)
        known: dict[object, Claim] = self.node._derived("claims")
        if key not in known:
            claim = self._claim_by(self.best(alpha), alpha)
            if not self._is_settled(alpha):
                return claim
            known[key] = claim
        return known[key]

    def _is_settled(self, alpha: Order) -> bool:
        """Does one theorem answer here, and at every node that its claim is inferred from?"""
        if self._claim_key(alpha) in self.node._derived("claims"):
            return True
        theorems = self.theorems(alpha)
        if len(theorems) > 1:
            return False
        return all(
            not isinstance(curve, OperationCurve) or curve._is_settled(at)
            for curve, at in self._claimed_of(theorems[0], alpha)
        )

    def _claim_key(self, alpha: Order) -> Key:
        """All that a claim depends on where it does not depend on values."""
        return theorem_choice.order_class(alpha), self._is_hull(alpha), self.evaluation.claimed_by

    def _is_hull(self, alpha: Order) -> bool:
        """Are whole orders about this one all that is read?"""
        return isinstance(alpha, int | Fraction) and alpha <= self.node.hull_up_to

    def _claimed_of(self, theorem: Theorem, alpha: Order) -> list[tuple[NodeCurve, Order]]:
        """The curves that a theorem reads, each with an order of the kind it is read at."""
        if self._is_hull(alpha) or theorem.reads == "itself":
            alpha = larger_order(floor_order(alpha), 2)
        if theorem.reads == "itself":
            return [(self.evaluation.default().curve(self.node), alpha)]
        read = 2 if theorem.orders.whole else alpha
        return [(curve, read) for curve in self._below()]

    def claim_throughout(self, alpha: Order) -> Claim:
        theorems = self.theorems(alpha)
        if not any(theorem.partial for theorem in theorems):
            return self.claim(alpha)
        return self._claim_by(theorem_choice.answering_always(theorems)[0], alpha)

    def _claim_by(self, theorem: Theorem, alpha: Order) -> Claim:
        premises = [
            curve.claim(at) if at is alpha or self._is_hull(alpha) else curve.claim_throughout(at)
            for curve, at in self._claimed_of(theorem, alpha)
        ]
        claim = self.evaluation.stated(theorem).infer(self.node, premises, alpha)
        return replace(
            claim,
            adjacency=self.node.claim.adjacency,
            theorems=tuple(dict.fromkeys(chain(*(one.theorems for one in (claim, *premises))))),
            sources=tuple(dict.fromkeys(chain(*(one.sources for one in (claim, *premises))))),
        )


def theorem_node(node: Node, by: By) -> Node:
    """The node of the same curve that theorems are asked about.

    What was written, where pinned theorems are about parts of it and hold for them.
    """
    rewritten = node.rewritten
    if by is None or rewritten is node:
        return rewritten
    named = [(below, theorem_registry.named_about(by, below)) for below in node.walk()]
    about = [(below, theorems) for below, theorems in named if theorems]
    holds = about and all(
        any(theorem.applies(below) is None for theorem in theorems) for below, theorems in about
    )
    return node if holds else rewritten


def exact_pure(m: Node, by: By) -> Fraction | None:
    """ε(∞) where it is a rational number, which balls never prove; None where it is not known."""
    try:
        value = Evaluation(SymbolicArithmetic(), Kind.UPPER, by).curve(m)(INFINITY)
    except SymacctError:  # a Python function has no formula
        return None
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sympy.Rational) else None


def goal_of(m: Node, by: By) -> Kind:
    """Whether an upper or a lower bound answers: what a pinned theorem, else the node, is."""
    as_node(m, "expression")
    pinned = theorem_registry.all_named(by)
    for theorem in pinned:
        if not any(theorem_registry.is_about(theorem, node) for node in m.walk()):
            raise _about_nothing(theorem, m)
    kinds = [theorem.kind for theorem in pinned]
    if Kind.LOWER in kinds and Kind.UPPER in kinds:
        raise DomainError(f"by: found upper and lower bounds in {by}, needed one kind")
    return Kind.LOWER if m.claim.kind is Kind.LOWER or Kind.LOWER in kinds else Kind.UPPER


def _about_nothing(theorem: Theorem, m: Node) -> SymacctError:
    """What a pinned theorem finds in none of the nodes: its operation, or its relation there."""
    if any(theorem_registry.is_of_operation(theorem, node) for node in m.walk()):
        return AdjacencyError(
            f"{theorem.name} is about {theorem.about} under {theorem.adjacency}, and "
            f"{type(m).__name__} contains it under another relation only"
        )
    return AssumptionError(
        f"{theorem.name} is about {theorem.about}, and {type(m).__name__} contains none"
    )


def _distance(a: Number, b: Number) -> float:
    """How far a bound is from the best one, for picking its name."""
    if isinstance(a, sympy.Expr):
        return 0.0 if a == b else 1.0
    difference = a - b
    if isinstance(difference, LogNumber):
        return float(np.max(np.abs(difference.value())))
    if hasattr(difference, "mid"):
        if not difference.is_finite():  # ∞ − ∞ where both say nothing
            return 0.0 if a is b else math.inf
        return float(abs(difference).mid())
    return float(abs(difference))
