"""Evaluation: an expression in one arithmetic, each curve's values remembered."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from symacct.kernel import deadline, theorem_registry
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.float64 import LogNumber
from symacct.kernel.arithmetic.rational import NoFractionError, RationalArithmetic
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import (
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SoundnessError,
    SymacctError,
)
from symacct.kernel.exact import INFINITY, Order, sympy
from symacct.kernel.memory import Key, Remembered, cached_property
from symacct.kernel.node import Mechanism, Node, order_by_order
from symacct.kernel.operation import Operation
from symacct.kernel.parameters import By, at_least_two, floor_order
from symacct.kernel.sums.binomial_sums import EXPONENTIALS, ExponentialSum, over_run
from symacct.kernel.sums.local import REACH, LocalProduct
from symacct.kernel.theorem_registry import Theorem

# --- the curve of a node

#: The number of orders beyond the largest one asked to which a run of cheap moments is computed,
#: because a search over whole orders asks for those next to each other. It costs time, and each is
#: an oracle call.
_EXTRA_ORDERS = 3


@dataclass(eq=False, repr=False)
class NodeCurve:
    """α ↦ ε(α) in nats of one node in one evaluation, a number of its arithmetic.

    The order is exact and in [1, ∞], or an array of such floats in float64. Values at single orders
    are remembered in `values`, and before a new one is computed the time is looked at.
    """

    evaluation: Evaluation
    node: Node
    values: Remembered
    #: The tables of derived values that were read, by their names.
    _tables: dict[str, Remembered] = field(default_factory=dict, init=False)

    def __call__(self, alpha: Order) -> Number:
        """ε(α), or the values at an array of orders, which are not remembered."""
        try:
            value = self.values[alpha]
        except TypeError:  # arrays of orders have no hash, and are not remembered
            return self._array(np.asarray(alpha))
        if value is None:
            deadline.check()
            if type(alpha) is not int:
                alpha = _canonical_order(alpha)
            value = self.values[alpha] = self.compute(alpha)
        return value

    def local_value(self, alpha: Order) -> Number:
        """ε(α) in balls by the polynomial of all orders within ½ of a whole one, if it is offered.

        It is for searches, which ask for many orders near each other. Else it is the curve's ε(α).
        """
        if type(alpha) is int or not isinstance(alpha, Fraction) or alpha.denominator == 1:
            return self(alpha)
        middle = round(alpha)
        local = self.local(middle) if middle > 1 else None
        if local is None:
            return self(alpha)
        number = self.evaluation.ctx.number(alpha)
        return local.log(number - middle) / (number - 1)

    # Proved in docs/proofs/certificates.md, Lemma convex-cgf.
    @cached_property
    def shape(self) -> str | None:
        """The shape that the CGF is proved to have at whole orders: "convex", or None for none.

        Nothing is said of a curve of which a pinned theorem gives some part.
        """
        return "convex" if self.node.convex and not self.evaluation.pins(self.node) else None

    def using(self, ctx: Arithmetic) -> NodeCurve:
        """This curve in another arithmetic, or in balls at the precision now current."""
        return self.evaluation.using(ctx).curve(self.node)

    def of(self, node: Node) -> NodeCurve:
        """The curve of another node in the same evaluation."""
        return self.evaluation.curve(node)

    def remember(self, name: str) -> Remembered:
        """The table called `name` of values derived from this curve, kept as long as its own.

        A missing key gives None; who uses it writes what it computes. Between questions the limit
        on values may forget some.
        """
        table = self._tables.get(name)
        if table is None:
            key = self.evaluation.key._replace(derived=name)
            table = self._tables[name] = self.evaluation.memo(self.node, key)
        return table

    def excesses(self) -> Callable[[Order], Number]:
        """l ↦ e^{(l−1)ε(l)} − 1 at whole l, by a leaf's own formula if it has one; remembered."""
        ctx, values = self.evaluation.ctx, self.remember("excess")
        mechanism = self.node
        direct = mechanism._excess_in(ctx) if isinstance(mechanism, Mechanism) else None
        compute = direct or (lambda l: ctx.expm1((l - 1) * self(l)))
        if isinstance(mechanism, Mechanism):
            compute = mechanism._within_orders(ctx, compute)

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
        """A run of orders ↦ e^{(l−1)ε(l)} − 1 over it in balls, as a sum of exponentials.

        None where the node is no leaf that offers such a formula, or its curve is somewhere
        infinite.
        """
        mechanism = self.node
        if not isinstance(mechanism, Mechanism) or mechanism.excess(EXPONENTIALS) is None:
            return None
        if mechanism.finite_up_to != INFINITY:
            return None

        def over(orders: range) -> ExponentialSum | None:
            table = self.using(EXPONENTIALS).remember("excess")
            table.update(dict.fromkeys(orders))  # the formula is evaluated at each of them
            return over_run(mechanism.excess, orders)

        return over

    def dense(self, orders: range) -> list[Number] | None:
        """e^{(l−1)ε(l)} − 1 at each order of a run from 2 on; None where they are not cheap."""
        if not (isinstance(self.node, Mechanism) and self.node.is_cheap):
            return None
        table = self.remember("dense")
        if table[orders[-1]] is not None:
            values = [table[l] for l in orders]
            if all(value is not None for value in values):
                return values
        # The run begins at 2 each time, so that no value depends on earlier questions.
        run = range(2, orders.stop + _EXTRA_ORDERS)
        table.update(zip(run, self.node.excesses(self.evaluation.ctx), strict=False))
        return [table[l] for l in orders]

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order >= 2, in balls; None if not offered."""
        return None

    def compute(self, alpha: Order) -> Number:
        """ε(α), computed anew; the order is canonical, or an array of orders of one class."""
        raise NotImplementedError

    def claim(self, alpha: Order) -> Claim:
        """The claim about ε(α)."""
        return self.inferred(_canonical_order(alpha))[0]

    def inferred(self, alpha: Order, throughout: bool = False) -> tuple[Claim, bool]:
        """The claim about ε(α), and whether it is the same whatever values the curves have.

        It is not where several theorems answer, of which the values decide. It is about ε at every
        order of α's class where that is asked `throughout`: by a theorem that has a value at each
        of them, and not by a partial one.
        """
        raise NotImplementedError

    def _array(self, alpha: np.ndarray) -> LogNumber:
        """ε at a flat array of orders in [1, ∞], by groups that other theorems answer.

        These are 1, ∞, whole orders, those below 2 and those above; the caller has refused NaN.
        """
        whole = (alpha == np.floor(alpha)) & (alpha > 1) & np.isfinite(alpha)
        between = ~whole & np.isfinite(alpha) & (alpha > 1)
        parts = [(alpha == end, self(end)) for end in (1, INFINITY) if np.any(alpha == end)]
        parts += [
            (group, self.compute(alpha[group]))
            for group in (whole, between & (alpha < 2), between & (alpha > 2))
            if np.any(group)
        ]
        return LogNumber.from_parts(alpha.shape, parts)


@dataclass(eq=False, repr=False)
class LeafCurve(NodeCurve):
    """The curve of a mechanism, which its own formula gives.

    SoundnessError for a lower bound where an upper one is the goal, and the other way round.
    """

    node: Mechanism

    def __post_init__(self) -> None:
        """Refuse a curve of the kind opposite to the goal."""
        kind, goal = self.node.claim.kind, self.evaluation.goal
        if {kind, goal} == {Kind.LOWER, Kind.UPPER}:
            raise SoundnessError(
                f"{type(self.node).__name__}: found a curve of kind {kind}, needed an exact or "
                f"{goal} one for a bound of kind {goal}"
            )

    def compute(self, alpha: Order) -> Number:
        """ε(α) by the mechanism's formula, or a smaller bound that it has without a formula.

        DomainError where the formula of a class gives no real number at the order.
        """
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
        if (isinstance(alpha, float) and alpha == INFINITY) or self._sharper is None:
            return value
        try:
            return self.evaluation.ctx.minimum(value, self._sharper(alpha))
        except (LimitError, PrecisionError):
            return value

    @cached_property
    def _formula(self) -> Callable[[Order], Number]:
        """α ↦ ε(α) at 1 < α < ∞, ∞ beyond the orders at which it is finite."""
        ctx = self.evaluation.ctx
        function = self.node._within_orders(ctx, self.node.curve(ctx))
        if self.node._is_of_user:
            return lambda alpha: _checked_value(function(alpha), alpha)
        return function

    def _at_end(self, alpha: Order) -> Number:
        """ε(1) or ε(∞), which is ∞ where the curve is infinite from some order on."""
        ctx = self.evaluation.ctx
        if alpha == INFINITY and self.node.finite_up_to != INFINITY:
            return ctx.number(INFINITY)
        value = self.node.at_one(ctx) if alpha == 1 else self.node.at_infinity(ctx)
        return _checked_value(value, alpha) if self.node._is_of_user else value

    @cached_property
    def _sharper(self) -> Callable[[Order], Number] | None:
        """α ↦ a bound without a formula; None if there is none, and in formulas and float64.

        It raises LimitError or PrecisionError where it has no value.
        """
        return None if self.evaluation.skips_partial else self.node._sharper(self.evaluation.ctx)

    def _no_number(self, alpha: Order, value: object) -> DomainError:
        """The error of a formula that gives no number at an order; `value` is what it gave."""
        return DomainError(
            f"{type(self.node).__name__} at order {alpha}: found {value}, needed a number",
            remedy=(
                "bring the order in by ctx.number(alpha) before it meets a number, and state "
                "finite_up_to where the curve is infinite from some order on"
            ),
        )

    def inferred(self, alpha: Order, throughout: bool = False) -> tuple[Claim, bool]:
        """The leaf's own claim, which holds at every order."""
        return self.node.claim, True


def _canonical_order(alpha: Order) -> Order:
    """The order as an int where it is a whole fraction, so that 5/1 and 5 are one question."""
    if isinstance(alpha, Fraction | float):
        return int(alpha) if isinstance(alpha, Fraction) and alpha.denominator == 1 else alpha
    if isinstance(alpha, sympy.Basic) and alpha.is_Integer:
        return int(alpha)
    return alpha


def _checked_value(value: Number, alpha: Order) -> Number:
    """The value of a user's curve, as no divergence is negative or NaN.

    OrderError for NaN, DomainError for a value that is certainly negative or no number. Expressions
    and float64 are not checked.
    """
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

#: The arithmetics in which partial theorems answer too, though their proofs take time. Float64 is
#: for speed, and formulas need a value at every order.
NUMBERS = (BallArithmetic, MpmathArithmetic)


class CurveKey(NamedTuple):
    """The key of a table of a curve's values: all that changes them.

    `revision` is that of the register of theorems, and `variant` that of another evaluation's
    formulas. `derived` names a table of other values of the curve, such as its moments.
    """

    arithmetic: str
    bits: int
    goal: Kind
    by: By
    revision: int
    variant: Key = ()
    derived: str = ""


class Evaluation:
    """The curves of expressions in one arithmetic, for bounds of the kind `goal`.

    Upper bounds are the least, and lower bounds the largest, of what is proved, or what a pinned
    theorem gives. `memo(node, key)` is the table of the values of a node's curve under a key of all
    that changes them; new values are written into it. None remembers in this evaluation alone.
    """

    #: Part of the key: it differs between evaluations by different formulas.
    variant: Key = ()
    #: Does it use the theorems of formulas, which have a value at every order?
    is_of_formulas = False

    def __init__(
        self,
        ctx: Arithmetic,
        goal: Kind = Kind.UPPER,
        by: By = None,
        memo: Callable[[Node, Key], Remembered] | None = None,
    ) -> None:
        self.ctx: Any = ctx  # some theorems use methods that only one arithmetic has
        self.goal = goal
        self.by = by
        self.memo = memo or (lambda node, key: Remembered())
        #: Does it leave out partial theorems, as formulas and float64 do?
        self.skips_partial = self.is_of_formulas or not isinstance(ctx, NUMBERS)
        revision = theorem_registry.register.revision
        self.key = CurveKey(type(ctx).__name__, ctx.bits, goal, by, revision, self.variant)
        #: The key of a claim, beside the node and the class of the order.
        self.claim_key: Key = goal, by, self.skips_partial, self.variant, revision
        self._curves: dict[Node, NodeCurve] = {}
        self._default: Evaluation | None = None

    def curve(self, node: Node) -> NodeCurve:
        """The curve of a node, or of the node of the same curve that theorems are about; kept."""
        node = theorem_registry.theorem_node(node, self.by)
        curve: NodeCurve | None = self._curves.get(node)
        if curve is None:
            values = self.memo(node, self.key)
            curve = self._curves[node] = (
                LeafCurve(self, node, values)
                if isinstance(node, Mechanism)
                else OperationCurve(self, node, values)
            )
        return curve

    def default(self) -> Evaluation:
        """An evaluation as this one is, but by no pinned theorem."""
        if self.by is None:
            return self
        if self._default is None:
            self._default = self.with_theorem(self.ctx, None)
        return self._default

    def using(self, ctx: Arithmetic) -> Evaluation:
        """An evaluation as this one is, in `ctx` at the precision that `ctx` has now."""
        return self.with_theorem(ctx, self.by)

    def with_theorem(self, ctx: Arithmetic, by: By) -> Evaluation:
        """An evaluation of the same goal in the arithmetic `ctx`, by the pinned theorem `by`."""
        return Evaluation(ctx, self.goal, by, self.memo)

    def statement_for(self, theorem: Theorem, node: Node) -> Theorem:
        """The theorem as this evaluation uses it for a node; one that steers changes its bound."""
        return theorem

    def supports(self, curve: NodeCurve, alpha: Order) -> bool:
        """Is a curve of this evaluation known to be nowhere above the true one, and of convex CGF?

        An exact one is; an order search proves an optimum by such curves.
        """
        return curve.claim(alpha).kind is Kind.EXACT

    def theorem_node(self, node: Node) -> Node:
        """The node of the same curve that theorems are asked about."""
        return theorem_registry.theorem_node(node, self.by)

    def pins(self, node: Node) -> bool:
        """Does a pinned theorem replace the default anywhere in `node`?"""
        return self.by is not None and any(
            theorem_registry.named_about(self.by, below) for below in node.walk()
        )


@dataclass(eq=False, repr=False)
class OperationCurve(NodeCurve):
    """The curve of an operation: at each order the best value of the theorems that apply.

    For upper bounds it is the smallest value, for lower ones the largest.
    """

    #: The theorems that answer, by the class of the order.
    _theorems: dict[str | float, list[Theorem]] = field(default_factory=dict, init=False)
    #: The theorem whose value stood alone at an order, so that `best` need not compare.
    _sole_theorem: dict[Order, Theorem] = field(default_factory=dict, init=False)
    #: The bound of each theorem by its name, its curves and parameters read.
    _bounds: dict[str, Callable[[Order], Number]] = field(default_factory=dict, init=False)

    def theorems(self, alpha: Order) -> list[Theorem]:
        """The theorems whose best value is the answer at α; an error where none is proved there."""
        key = theorem_registry.order_class(alpha)
        if key not in self._theorems:
            if self._pinned:
                answering = theorem_registry.pinned(self._pinned, self.node, alpha)
            else:
                goal, with_partial = self.evaluation.goal, not self.evaluation.skips_partial
                answering = theorem_registry.bounding(self.node, alpha, goal, with_partial)
            self._theorems[key] = answering
        return self._theorems[key]

    def compute(self, alpha: Order) -> Number:
        """ε(α): the smallest value of the theorems that apply, or the largest for lower bounds.

        A sample of rate 1 has the curve of its mechanism, unless a theorem is pinned.
        """
        theorems = self.theorems(alpha)  # raises where nothing is proved
        if self._is_full_sample and not self._pinned:
            return self.evaluation.curve(self.node.children[0])(alpha)
        if len(theorems) == 1:
            return self.value_by(theorems[0], alpha)
        values = self._values(alpha)
        if len(values) == 1:
            theorem, value = values[0]
            if not isinstance(alpha, np.ndarray):
                self._sole_theorem[alpha] = theorem
            return value
        ctx = self.evaluation.ctx
        best = ctx.minimum if self.evaluation.goal is Kind.UPPER else ctx.maximum
        return best(*(value for _, value in values))

    @cached_property
    def _pinned(self) -> tuple[Theorem, ...]:
        """The theorems that `by` names and that are about this node."""
        by = self.evaluation.by
        return () if by is None else theorem_registry.named_about(by, self.node)

    @cached_property
    def _is_full_sample(self) -> bool:
        """Is it a sample of rate 1, whose curve is that of its mechanism?"""
        node = self.node
        return isinstance(node, Operation) and node.sampling_rate == 1 and node._is_one_step()

    def _values(self, alpha: Order) -> list[tuple[Theorem, Number]]:
        """The value of each theorem at α, up to the first tight one that has a value.

        A theorem that cannot be computed is left out; its error is raised where none can.
        """
        values, error, is_array = [], None, isinstance(alpha, np.ndarray)
        for theorem in self.theorems(alpha):
            try:
                values.append((theorem, self.value_by(theorem, alpha)))
            except (PrecisionError, LimitError, OrderError) as refusal:
                error = error or refusal
            else:
                if not is_array and theorem.is_tight(self.node, alpha):
                    break
        if error is not None and not values:
            raise error
        return values

    def value_by(self, theorem: Theorem, alpha: Order) -> Number:
        """The bound of one theorem at α, or at each order of an array.

        In an array the bound of a partial theorem is ∞ where it has no value, and a lower bound 0.
        DomainError where the bound takes other arguments than the operation has.
        """
        if theorem.partial and isinstance(alpha, np.ndarray):
            value_at = functools.partial(self._value_or_nothing, theorem)
            return order_by_order(self.evaluation.ctx, value_at)(alpha)
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

    def _value_or_nothing(self, theorem: Theorem, alpha: Order) -> Number:
        """The bound of a theorem at α; where it cannot be computed, ∞, or 0 for a lower bound."""
        try:
            return self.value_by(theorem, alpha)
        except (PrecisionError, LimitError, OrderError):
            is_lower = self.evaluation.goal is Kind.LOWER
            return self.evaluation.ctx.number(0 if is_lower else INFINITY)

    def _bound(self, theorem: Theorem) -> Callable[[Order], Number]:
        """α ↦ the bound of a theorem, its curves and parameters read once; 0 at the rate γ = 0.

        At an order where ε(α) of the mechanism is ∞, an upper bound by sums over whole orders is ∞
        too, and is not summed.
        """
        ctx, formula = self.evaluation.ctx, self.evaluation.statement_for(theorem, self.node).bound
        rate = self.node.sampling_rate
        if rate == 0:
            return lambda alpha: ctx.number(0)
        read = self._read(theorem)
        parameters = theorem.arguments(ctx, self.node)
        # Is it an upper bound by sums over the mechanism's curve at the whole orders up to α?
        over_orders = theorem.orders.whole and theorem.reads != "itself"
        sums = formula is theorem.bound and over_orders and theorem.kind is not Kind.LOWER
        if rate is None or not sums or self.node.children[0]._never_ends:
            return lambda alpha: formula(ctx, read, alpha, **parameters)

        mechanism = self.evaluation.curve(self.node.children[0])

        def finite(alpha: Order) -> Number:
            if type(alpha) is int and ctx.is_infinite(top := mechanism(alpha)):
                return top
            return formula(ctx, read, alpha, **parameters)

        return finite

    def local(self, middle: int) -> LocalProduct | None:
        """e^{(α−1)ε(α)} for all α within ½ of a whole order >= 2, in balls.

        None unless one theorem alone answers there and offers it, and at the rates 0 and 1.
        """
        if self.node.sampling_rate in (0, 1):
            return None
        memo = self.remember("local")
        entry: tuple[LocalProduct | None] | None = memo[middle]
        if entry is None:
            theorem, *others = self.theorems(middle + REACH)
            product = None
            if not others and theorem.local is not None:
                product = theorem.local(self._read(theorem), middle, **self.node.parameters())
            entry = memo[middle] = (product,)
        return entry[0]

    def _read(self, theorem: Theorem) -> NodeCurve | tuple[NodeCurve, ...]:
        """The curves that a theorem reads: the node's own, its mechanism's, or all parts'."""
        if theorem.reads == "itself":
            return self.evaluation.default().curve(self.node)
        parts = tuple(map(self.evaluation.curve, self.node.children))
        return parts[0] if "mechanism" in self.node._fields else parts

    def best(self, alpha: Order) -> Theorem:
        """The theorem whose value is ε(α), at one order; of several the one with the value."""
        theorems = self.theorems(alpha)
        if len(theorems) == 1:
            return theorems[0]
        answer = self(alpha)
        if alpha in self._sole_theorem:
            return self._sole_theorem[alpha]
        return min(self._values(alpha), key=lambda pair: _distance(pair[1], answer))[0]

    def inferred(self, alpha: Order, throughout: bool = False) -> tuple[Claim, bool]:
        """The claim about ε(α), and whether no value decides it: then it is remembered."""
        theorems = self.theorems(alpha)
        if throughout and any(theorem.partial for theorem in theorems):
            answering = theorem_registry.answering_always(theorems)
            return self._inferred_by(answering, alpha)[0], False
        key = theorem_registry.order_class(alpha), self._is_hull(alpha), self.evaluation.claim_key
        memo: dict[object, Claim] = self.node._derived("claims")
        if key in memo:
            return memo[key], True
        claim, is_settled = self._inferred_by(self.best(alpha), alpha)
        is_settled = is_settled and len(theorems) == 1
        if is_settled:
            memo[key] = claim
        return claim, is_settled

    def _is_hull(self, alpha: Order) -> bool:
        """Is the order a number up to which ε is the hull of its values at whole orders?"""
        return isinstance(alpha, int | Fraction) and alpha <= self.node._hull_up_to

    def _inferred_by(self, theorem: Theorem, alpha: Order) -> tuple[Claim, bool]:
        """The claim of a theorem at α, from the claims about the curves at the orders it reads."""
        is_hull, order_read = self._is_hull(alpha), alpha
        if is_hull or theorem.reads == "itself":
            order_read = at_least_two(floor_order(alpha))
        if theorem.orders.whole and theorem.reads != "itself":
            order_read = 2
        read = self._read(theorem)
        curves = read if isinstance(read, tuple) else (read,)
        throughout = order_read is not alpha and not is_hull
        inferred = [curve.inferred(order_read, throughout) for curve in curves]
        premises = [claim for claim, _ in inferred]
        statement = self.evaluation.statement_for(theorem, self.node)
        claim = statement.infer(self.node, premises, alpha)
        claims = [claim, *premises]
        claim = replace(
            claim,
            adjacency=self.node.claim.adjacency,
            theorems=tuple(dict.fromkeys(chain(*(source.theorems for source in claims)))),
            sources=tuple(dict.fromkeys(chain(*(source.sources for source in claims)))),
        )
        return claim, all(is_settled for _, is_settled in inferred)


def exact_pure(m: Node, by: By) -> Fraction | None:
    """The bound ε(∞) as the fraction that its formula gives, which balls never prove it to be.

    None where the formula gives no rational number, as for a function of the user's or an error.
    """
    try:
        value = Evaluation(SymbolicArithmetic(), Kind.UPPER, by).curve(m)(INFINITY)
    except SymacctError:  # a Python function has no formula
        return None
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sympy.Rational) else None


def _distance(a: Number, b: Number) -> float:
    """About |a − b| as a float, by which the theorem of the best value is picked; it only names.

    Of expressions it is 0 or 1, and of ∞ and another number ∞.
    """
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
# No ball proves that a number is 0.02, and not 0.0200000…: fractions do.

_AnyEnclosure = TypeVar("_AnyEnclosure", bound=Enclosure)


def as_decimal(
    enclosure: _AnyEnclosure, m: Node, alpha: Order, goal: Kind, by: By, factor: Fraction | int = 1
) -> _AnyEnclosure:
    """The enclosure of factor·ε(α), known to be a short decimal where fractions prove that.

    It is unchanged where they do not, as for 1/3, and where the enclosure is not certified.
    """
    decimal = enclosure.decimal() if enclosure.certified else None
    if decimal is None:
        return enclosure
    value = Fraction(0) if factor == 0 else in_fractions(m, alpha, goal, by)
    is_decimal = value is not None and value * factor == decimal  # 0.02, but not 1/3
    return enclosure.known_to_be(decimal) if is_decimal else enclosure


def in_fractions(m: Node, alpha: Order, goal: Kind, by: By) -> Fraction | None:
    """The bound ε(α) as a fraction, where its formula needs + − × ÷ alone; else None.

    A function of the user's is not called for it, and any error of a formula gives None.
    """
    if any(isinstance(below, Mechanism) and below._is_of_user for below in m.walk()):
        return None
    ctx: Any = RationalArithmetic()  # logarithms and powers raise NoFractionError
    node = theorem_registry.theorem_node(m, by)
    try:
        if not isinstance(node, Mechanism):
            value = Evaluation(ctx, goal, by).curve(node)(alpha)
        elif alpha in (1, INFINITY):
            value = node.at_one(ctx) if alpha == 1 else node.at_infinity(ctx)
        else:
            value = node._within_orders(ctx, node.curve(ctx))(alpha)
    except (NoFractionError, SymacctError, ArithmeticError, TypeError, ValueError):
        return None
    return Fraction(value) if isinstance(value, int | Fraction) else None
