"""Evaluation: an expression in one arithmetic, each curve's values remembered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from symacct.kernel import deadline, theorem_registry
from symacct.kernel.answer import Enclosure
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.float64 import LogNumber
from symacct.kernel.arithmetic.rational import NoFractionError, RationalArithmetic
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import (
    AdjacencyError,
    AssumptionError,
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SoundnessError,
    SymacctError,
)
from symacct.kernel.exact import INFINITY, Order, sympy
from symacct.kernel.memory import Key, Remembered, cached_property
from symacct.kernel.node import Mechanism, Node, as_node, order_by_order
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import floor_order, larger_order
from symacct.kernel.sums.binomial_sums import EXPONENTIALS, ExponentialSum, over_run
from symacct.kernel.sums.local import REACH, LocalProduct
from symacct.kernel.theorem_registry import Theorem

# --- the curve of a node
#
# α ↦ ε(α) of one node in one evaluation, its values remembered.

_NEXT = 3  # orders beyond the largest asked, of a run of cheap ones


class NodeCurve:
    """α ↦ ε(α) of one node in one evaluation."""

    def __init__(self, evaluation: Evaluation, node: Node, values: Remembered) -> None:
        self.evaluation = evaluation
        self.node = node
        self.values = values

    def __call__(self, alpha: Order) -> Number:
        try:
            value = self.values[alpha]
        except TypeError:  # arrays of orders have no hash, and are not remembered
            return self._array(np.asarray(alpha))
        if value is None:
            deadline.check()
            if type(alpha) is not int:
                alpha = _normal(alpha)
            value = self.values[alpha] = self.compute(alpha)
        return value

    def among(self, alpha: Order) -> Number:
        """ε(α) where orders about it are asked too: by what is found of all of them at once."""
        if type(alpha) is int or not isinstance(alpha, Fraction) or alpha.denominator == 1:
            return self(alpha)
        middle = round(alpha)
        local = self.local(middle) if middle > 1 else None
        if local is None:
            return self(alpha)
        at = self.evaluation.ctx.number(alpha)
        return local.log(at - middle) / (at - 1)

    # Proved in docs/proofs/certificates.md, Lemma convex-cgf.
    @cached_property
    def shape(self) -> str | None:
        """What is proved of its CGF at whole orders: "convex", or nothing."""
        return "convex" if self.node.convex and not self.evaluation.pins(self.node) else None

    def using(self, ctx: Arithmetic) -> NodeCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""
        return self.evaluation.using(ctx).curve(self.node)

    def of(self, node: Node) -> NodeCurve:
        """The curve of another node in the same evaluation."""
        return self.evaluation.curve(node)

    def remember(self, what: str) -> Remembered:
        """A table for what else is computed from this curve, kept as long as its values."""
        return self.evaluation.memo(self.node, self.evaluation.key._replace(derived=what))

    def excesses(self) -> Callable[[Order], Number]:
        """l ↦ e^{(l−1)ε(l)} − 1 at whole orders, remembered; directly where there is a formula."""
        ctx, values = self.evaluation.ctx, self.remember("excess")
        mechanism = self.node
        direct = mechanism.excess_in(ctx) if isinstance(mechanism, Mechanism) else None
        compute = direct or (lambda l: ctx.expm1((l - 1) * self(l)))
        if isinstance(mechanism, Mechanism):
            compute = mechanism.within(ctx, compute)

        def moment(l: Order) -> Number:
            try:
                value = values[l]
            except TypeError:  # an array of orders
                return compute(l)
            if value is None:
                value = values[l] = compute(l)
            return value

        return moment

    def exponentials(self) -> Callable[[range], ExponentialSum | None] | None:
        """The moments over a run of orders in balls; None where the moment has no formula."""
        mechanism = self.node
        if not isinstance(mechanism, Mechanism) or mechanism.excess(EXPONENTIALS) is None:
            return None
        if mechanism.finite_up_to != INFINITY:
            return None

        def over(orders: range) -> ExponentialSum | None:
            asked = self.using(EXPONENTIALS).remember("excess")
            asked.update(dict.fromkeys(orders))  # the formula is evaluated at each of them
            return over_run(mechanism.excess, orders)

        return over

    def dense(self, orders: range) -> list[Number] | None:
        """The excesses at each order of a run, if the leaf says that they are cheap."""
        if not (isinstance(self.node, Mechanism) and self.node.is_cheap):
            return None
        known = self._run
        if known[orders[-1]] is not None:
            values = [known[l] for l in orders]
            if all(value is not None for value in values):
                return values
        # All anew, so that none depends on which were asked before, and the next few too.
        run = range(2, orders.stop + _NEXT)
        known.update(zip(run, self.node.excesses(self.evaluation.ctx), strict=False))
        return [known[l] for l in orders]

    @cached_property
    def _run(self) -> Remembered:
        """The excesses of a leaf that says that they are cheap."""
        return self.remember("dense")

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order, in balls; None if not offered."""
        return None

    def compute(self, alpha: Order) -> Number:
        """ε(α), not looked up."""
        raise NotImplementedError

    def claim(self, alpha: Order) -> Claim:
        """What is claimed of ε(α)."""
        return self.inferred(alpha)[0]

    def inferred(self, alpha: Order) -> tuple[Claim, bool]:
        """What is claimed of ε(α), and whether it would be claimed of any other value as well."""
        raise NotImplementedError

    def inferred_throughout(self, alpha: Order) -> tuple[Claim, bool]:
        """What is claimed of ε at every order of the kind of α, and the same of it."""
        return self.inferred(alpha)

    def _array(self, alpha: np.ndarray) -> LogNumber:
        """A whole array of orders, group by group: whole, fractional, 1 and ∞ differ in theorem."""
        whole = (alpha == np.floor(alpha)) & (alpha > 1) & np.isfinite(alpha)
        between = ~whole & np.isfinite(alpha) & (alpha > 1)
        parts = [(alpha == one, self(one)) for one in (1, INFINITY) if np.any(alpha == one)]
        parts += [
            (chosen, self.compute(alpha[chosen]))
            for chosen in (whole, between & (alpha < 2), between & (alpha > 2))
            if np.any(chosen)
        ]
        return LogNumber.from_parts(alpha.shape, parts)


class LeafCurve(NodeCurve):
    """The curve of a mechanism: its own formula."""

    node: Mechanism

    def __init__(self, evaluation: Evaluation, node: Mechanism, values: Remembered) -> None:
        super().__init__(evaluation, node, values)
        opposite = Kind.LOWER if evaluation.goal is Kind.UPPER else Kind.UPPER
        if node.claim.kind is opposite:
            raise SoundnessError(
                f"{type(node).__name__}: found a curve of kind {opposite}, needed an exact or "
                f"{evaluation.goal} one for a bound of kind {evaluation.goal}"
            )

    def compute(self, alpha: Order) -> Number:
        """ε(α) by the formula; an error that is none of ours is one of the formula."""
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            value = self._at_end(alpha)
        else:
            try:
                value = self._formula(alpha)
            except (TypeError, ValueError) as error:
                if isinstance(error, SymacctError):
                    raise
                raise self._no_number(alpha, error) from error
            if hasattr(value, "_mpc_"):
                raise self._no_number(alpha, value)
        if self._sharper is None or alpha == INFINITY:
            return value
        try:
            return self.evaluation.ctx.minimum(value, self._sharper(alpha))
        except (LimitError, PrecisionError):
            return value

    @cached_property
    def _formula(self) -> Callable[[Order], Number]:
        """α ↦ ε(α) at 1 < α < ∞; its constants are computed with the first value."""
        ctx = self.evaluation.ctx
        function = self.node.within(ctx, self.node.curve(ctx))
        if self.node.is_of_user:
            return lambda alpha: _possible(function(alpha), alpha)
        return function

    def _at_end(self, alpha: Order) -> Number:
        """ε(1) or ε(∞)."""
        ctx = self.evaluation.ctx
        if alpha == INFINITY and self.node.finite_up_to != INFINITY:
            return ctx.number(INFINITY)
        value = self.node.at_one(ctx) if alpha == 1 else self.node.at_infinity(ctx)
        return _possible(value, alpha) if self.node.is_of_user else value

    @cached_property
    def _sharper(self) -> Callable[[Order], Number] | None:
        """What has no formula, where none is written."""
        return None if self.evaluation.states else self.node.sharper(self.evaluation.ctx)

    def _no_number(self, alpha: Order, found: object) -> DomainError:
        return DomainError(
            f"{type(self.node).__name__} at order {alpha}: found {found}, needed a number",
            remedy=(
                "bring the order in by ctx.number(alpha) before it meets a number, and state "
                "finite_up_to where the curve is infinite from some order on"
            ),
        )

    def inferred(self, alpha: Order) -> tuple[Claim, bool]:
        return self.node.claim, True


def _normal(alpha: Order) -> Order:
    """Whole orders as int, so that 5/1 and 5 are one question."""
    if isinstance(alpha, Fraction | float):
        return int(alpha) if isinstance(alpha, Fraction) and alpha.denominator == 1 else alpha
    if isinstance(alpha, sympy.Basic) and alpha.is_Integer:
        return int(alpha)
    return alpha


def _possible(value: Number, alpha: Order) -> Number:
    """The value of a user's curve, unless it is wrong: no Rényi divergence is negative or NaN."""
    if isinstance(value, sympy.Expr | LogNumber):
        return value
    try:
        undefined = value.is_nan() if hasattr(value, "is_nan") else value != value
        negative = bool(value < 0)
    except TypeError:
        raise DomainError(
            f"Curve: found a value of type {type(value).__name__} at order {alpha}, needed a "
            "number of the arithmetic that was given",
            remedy="write the curve with ctx's functions",
        ) from None
    if undefined:
        raise OrderError(f"Curve: undefined at order {alpha}", remedy="ask for another order")
    if negative:
        raise DomainError(f"Curve: found the value {value} at order {alpha}, needed >= 0")
    return value


# --- evaluations
#
# Evaluation: an expression in one arithmetic, each curve's values remembered.

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
    variant: Key = ()
    derived: str = ""


class Evaluation:
    """One way of evaluating: an arithmetic, the kind of bound wanted, a pinned theorem.

    `memo(node, key)` is the table of what is already known of a node's curve under a key of
    everything that changes a value; new values are written into it.
    """

    #: What tells the values of this kind of evaluation from those of the others.
    variant: Key = ()
    #: Is it by the theorems that a formula is written by, in whatever arithmetic?
    is_of_formulas = False

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
        #: Is it by theorems that give a value at every order: in formulas, and in float64?
        self.states = self.is_of_formulas or not isinstance(ctx, NUMBERS)
        revision = theorem_registry.register.revision
        self.key = CurveKey(type(ctx).__name__, ctx.bits, goal, by, revision, self.variant)
        #: All that a claim depends on, beside the node and the kind of order.
        self.claimed_by: Key = goal, by, self.states, self.variant, revision
        self._curves: dict[Node, NodeCurve] = {}
        self._default: Evaluation | None = None

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

    def in_place_of(self, theorem: Theorem, node: Node) -> Theorem:
        """The statement that this evaluation reads for a node in the place of a theorem."""
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
        self._bounds: dict[str, Callable[[Order], Number]] = {}
        self._rate = node.sampling_rate
        #: Is it run on all of the data, whose neighbours are those that its curve is read for?
        self._takes_all = (
            isinstance(node, Operation) and node.sampling_rate == 1 and node.is_one_step()
        )

    @property
    def _is_pinned(self) -> bool:
        """Does a theorem that the user named answer for this node?"""
        return bool(theorem_registry.named_about(self.evaluation.by, self.node))

    def theorems(self, alpha: Order) -> list[Theorem]:
        """The theorems whose best value is the answer at α."""
        key = theorem_registry.order_class(alpha)
        if key not in self._theorems:
            if among := theorem_registry.named_about(self.evaluation.by, self.node):
                found = theorem_registry.pinned(among, self.node, alpha)
            else:
                bounding = (
                    theorem_registry.stating
                    if self.evaluation.states
                    else theorem_registry.bounding
                )
                found = bounding(self.node, alpha, self.evaluation.goal)
            self._theorems[key] = found
        return self._theorems[key]

    def compute(self, alpha: Order) -> Number:
        if self._takes_all and not self._is_pinned:
            self.theorems(alpha)  # raises where nothing is proved
            return self._parts[0](alpha)
        theorems = self.theorems(alpha)
        if len(theorems) == 1:
            return self.value_by(theorems[0], alpha)
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
                values.append((theorem, self.value_by(theorem, alpha)))
            except (PrecisionError, LimitError, OrderError) as failed:
                error = error or failed
            else:
                if not is_array and theorem.is_tight(self.node, alpha):
                    break
        if error is not None and not values:
            raise error
        return values

    def value_by(self, theorem: Theorem, alpha: Order) -> Number:
        """The bound of one theorem at α, or at each order of an array.

        There it is ∞ at the orders where a theorem says nothing that need not.
        """
        if theorem.partial and isinstance(alpha, np.ndarray):
            return order_by_order(self.evaluation.ctx, lambda at: self._or_infinite(theorem, at))(
                alpha
            )
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

    def _or_infinite(self, theorem: Theorem, alpha: Order) -> Number:
        try:
            return self.value_by(theorem, alpha)
        except (PrecisionError, LimitError, OrderError):
            return self.evaluation.ctx.number(INFINITY)

    def _bound(self, theorem: Theorem) -> Callable[[Order], Number]:
        """α ↦ its bound; at γ = 0 it is 0, as nothing of the record is seen.

        No sum over whole orders to α is finite where the mechanism's ε(α) is not. The curves that
        it reads and its parameters are brought into the arithmetic once.
        """
        ctx, formula = self.evaluation.ctx, self.evaluation.in_place_of(theorem, self.node).bound
        if self._rate == 0:
            return lambda alpha: ctx.number(0)
        read = self._read(theorem)
        parameters = theorem.arguments(ctx, self.node)
        # Is it an upper bound by what the mechanism's curve is at the whole orders up to α?
        over_orders = theorem.orders.whole and theorem.reads != "itself"
        sums = formula is theorem.bound and over_orders and theorem.kind is not Kind.LOWER
        if self._rate is None or not sums:
            return lambda alpha: formula(ctx, read, alpha, **parameters)

        (mechanism,) = self._parts

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
        return self._parts[0] if "mechanism" in self.node.fields() else self._parts

    @cached_property
    def _parts(self) -> tuple[NodeCurve, ...]:
        """The curves of the node's parts."""
        return tuple(map(self.evaluation.curve, self.node.children))

    def best(self, alpha: Order) -> Theorem:
        """The theorem that gave the value at α."""
        theorems = self.theorems(alpha)
        if len(theorems) == 1:
            return theorems[0]
        answer = self(alpha)
        if alpha in self._alone:
            return self._alone[alpha]
        return min(self._values(alpha), key=lambda pair: _distance(pair[1], answer))[0]

    def inferred(self, alpha: Order) -> tuple[Claim, bool]:
        """Where one theorem answers at every node below, the claim does not depend on values."""
        key = theorem_registry.order_class(alpha), self._is_hull(alpha), self.evaluation.claimed_by
        known: dict[object, Claim] = self.node._derived("claims")
        if key in known:
            return known[key], True
        claim, is_settled = self._inferred_by(self.best(alpha), alpha)
        is_settled = is_settled and len(self.theorems(alpha)) == 1
        if is_settled:
            known[key] = claim
        return claim, is_settled

    def inferred_throughout(self, alpha: Order) -> tuple[Claim, bool]:
        theorems = self.theorems(alpha)
        if not any(theorem.partial for theorem in theorems):
            return self.inferred(alpha)
        always = theorem_registry.answering_always(theorems)
        return self._inferred_by(always, alpha)[0], False

    def _is_hull(self, alpha: Order) -> bool:
        """Are whole orders about this one all that is read?"""
        return isinstance(alpha, int | Fraction) and alpha <= self.node.hull_up_to

    def _inferred_by(self, theorem: Theorem, alpha: Order) -> tuple[Claim, bool]:
        """The claim of a theorem, of the curves that it reads at orders of the kind it reads."""
        is_hull, at = self._is_hull(alpha), alpha
        if is_hull or theorem.reads == "itself":
            at = larger_order(floor_order(alpha), 2)
        if theorem.orders.whole and theorem.reads != "itself":
            at = 2
        read = self._read(theorem)
        known = [
            curve.inferred(at) if at is alpha or is_hull else curve.inferred_throughout(at)
            for curve in (read if isinstance(read, tuple) else (read,))
        ]
        premises = [claim for claim, _ in known]
        stated = self.evaluation.in_place_of(theorem, self.node)
        claim = stated.infer(self.node, premises, alpha)
        together = [claim, *premises]
        claim = replace(
            claim,
            adjacency=self.node.claim.adjacency,
            theorems=tuple(dict.fromkeys(chain(*(one.theorems for one in together)))),
            sources=tuple(dict.fromkeys(chain(*(one.sources for one in together)))),
        )
        return claim, all(is_settled for _, is_settled in known)


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


# --- values that are short decimals
#
# Values that are short decimals, 0.02 and not 0.0200000…: no ball shows that a number is one.

_Found = TypeVar("_Found", bound=Enclosure)


def as_decimal(
    found: _Found, m: Node, alpha: Order, goal: Kind, by: By, factor: Fraction | int = 1
) -> _Found:
    """What was found of factor · ε(α), known to be the decimal of the digits asked that it is."""
    short = found.decimal() if found.certified else None
    if short is None:
        return found
    value = Fraction(0) if factor == 0 else in_fractions(m, alpha, goal, by)
    is_short = value is not None and value * factor == short  # 0.02, but not 1/3
    return found.known_to_be(short) if is_short else found


def in_fractions(m: Node, alpha: Order, goal: Kind, by: By) -> Fraction | None:
    """ε(α) where its formula needs + − × ÷ alone; None for any other, and for a user's function."""
    if any(isinstance(one, Mechanism) and one.is_of_user for one in m.walk()):
        return None
    ctx: Any = RationalArithmetic()  # what it has not of an arithmetic it refuses
    node = theorem_node(m, by)
    try:
        if not isinstance(node, Mechanism):
            value = Evaluation(ctx, goal, by).curve(node)(alpha)
        elif alpha in (1, INFINITY):
            value = node.at_one(ctx) if alpha == 1 else node.at_infinity(ctx)
        else:
            value = node.within(ctx, node.curve(ctx))(alpha)
    except (NoFractionError, SymacctError, ArithmeticError, TypeError, ValueError):
        return None
    return Fraction(value) if isinstance(value, int | Fraction) else None
