"""Evaluation as writing: what differs from numbers when a curve is written down.

A symbol for the order stands for many orders at once. Where a mechanism says nothing beyond some
order the formula has cases; where numbers decide which formula counts, there is an error; and a
curve may be left as a name, which is written once and read wherever it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy

from symacct.kernel import limits
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL, Number, SymbolicArithmetic
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import DomainError, LimitError, OrderError, PrecisionError, SymacctError
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve
from symacct.kernel.exact import INFINITY, Order, expression
from symacct.kernel.memory import Remembered, cached_property
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.parameters import bits
from symacct.kernel.sums.hull import hull_of_curve
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem
from symacct.mechanisms import Curve, DistributionPair
from symacct.mechanisms.pair import Overlap
from symacct.operations import Convexify
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.wbk19 import Differences, differences

#: The order as a symbol for whole orders, and for the real ones between them.
WHOLE = sympy.Symbol(ALPHA.name, positive=True, integer=True)
REAL = sympy.Symbol(ALPHA.name, positive=True, integer=False)

_NEAR_ONE = 1 + Fraction(1, 2**20)
_BITS = 128  # enough to see which corners a hull has


@dataclass(frozen=True)
class Named:
    """What a name stands for: the curve of a node, or its differences B; under `by` or not."""

    node: Node
    by: By
    letter: str = "epsilon"


def _bits_below(node: Node) -> int:
    """The bits of the largest parameter: SymPy sorts what it adds up by its text."""
    stated = (x for below in node.walk() for x in below.parameters().values())
    return max((bits(x) for x in stated if isinstance(x, Fraction | sympy.Expr)), default=0)


@dataclass
class Names:
    """The names given so far, and which curves get one; `whole` is the one that is written."""

    kept: frozenset[Named] = frozenset()
    whole: Named | None = None
    differences: bool = False  # whether B(ε,l) is read by name
    given: dict[Named, Any] = field(default_factory=dict)
    #: The theorems that the formulas written so far rest on.
    theorems: dict[str, Theorem] = field(default_factory=dict)

    def function(self, named: Named) -> Number:
        """The name as a SymPy function of the order."""
        if named not in self.given:
            alike = [one for one in self.given if one.letter == named.letter and one != self.whole]
            number = "M" if named == self.whole else len(alike) + 1
            # B(l) >= 0 for even l, where it is read.
            known = {"nonnegative": True} if named.letter == "B" else {"real": True}
            self.given[named] = sympy.Function(f"{named.letter}_{number}", **known)
        return self.given[named]


class WritingArithmetic(SymbolicArithmetic):
    """The symbolic arithmetic of one formula, with the names it uses."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names


@differences.register
def _(ctx: WritingArithmetic, eps: NodeCurve, orders: Iterable[int]) -> Differences:
    """B(ε,l) as a name where names are used, else the sum itself."""
    if not ctx.names.differences:
        plain: Differences = differences.dispatch(SymbolicArithmetic)(ctx, eps, orders)
        return plain
    named: Differences = ctx.names.function(Named(eps.node, eps.evaluation.by, "B"))
    return named


class Writing(Evaluation):
    """An evaluation in formulas for the open order `asked`; curves in `names` by name."""

    def __init__(
        self, goal: Kind, by: By, names: Names, ctx: WritingArithmetic | None = None
    ) -> None:
        super().__init__(ctx or WritingArithmetic(names), goal, by)
        self.names = names
        self.asked: Any = None

    def curve(self, node: Node) -> NodeCurve:
        node = self.theorem_node(node)
        named = Named(node, self.by)
        if named in self.names.kept or not has_formula(node):
            return NamedCurve(self, node, Remembered(), self.names.function(named))
        return self.body(node)

    def body(self, node: Node) -> NodeCurve:
        """The curve of the node itself, whatever its name."""
        if node not in self._curves:
            if isinstance(node, Sampling):
                limits.check("formula_bits", _bits_below(node), "formula, bits of its parameters")
            self._curves[node] = (
                WrittenLeaf(self, node, Remembered())
                if isinstance(node, Mechanism)
                else WrittenOperation(self, node, Remembered())
            )
        return self._curves[node]

    def default(self) -> Writing:
        if self.by is None:
            return self
        return self._unpinned

    @cached_property
    def _unpinned(self) -> Writing:
        return Writing(self.goal, None, self.names, self.ctx)


class NamedCurve(NodeCurve):
    """A curve that is read by its name; at 1 and ∞ its value is short and stands itself."""

    evaluation: Writing

    def __init__(
        self,
        evaluation: Writing,
        node: Node,
        values: Remembered,
        function: Callable[[Number], Number],
    ) -> None:
        super().__init__(evaluation, node, values)
        self.function = function

    def compute(self, alpha: Order) -> Number:
        body = self.evaluation.body(self.node)
        if isinstance(alpha, float) and alpha == INFINITY:
            return body(alpha)
        if isinstance(alpha, int) and alpha == 1 and has_formula(self.node):
            return body(alpha)
        return self.function(self.evaluation.ctx.number(alpha))

    def excesses(self) -> Number:
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def claim(self, alpha: Order) -> Claim:
        return self.evaluation.body(self.node).claim(alpha)


class WrittenLeaf(LeafCurve):
    """The curve of a mechanism, with the orders at which its formula holds."""

    def excesses(self) -> Callable[[Order], Number]:
        """By the curve where that has an end: a formula of their own does not show it."""
        if self.node.finite_up_to == INFINITY:
            return super().excesses()
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def compute(self, alpha: Order) -> Number:
        node = self.node
        if not has_formula(node) and alpha != INFINITY:
            raise DomainError(
                "Curve: found a Python function, which has no formula",
                remedy="state the curve as a SymPy expression in alpha",
            )
        condition = _edge(node, self.evaluation.ctx, alpha)
        if condition is False:
            return sympy.oo
        value = sympy.sympify(super().compute(alpha))
        if value.is_negative or value.has(sympy.I, sympy.nan, sympy.zoo):
            raise OrderError(
                f"{node}: undefined at order {alpha}, where its formula is no number >= 0",
                remedy="state finite_up_to where it is infinite from some order on",
            )
        if isinstance(alpha, sympy.Expr) and value != sympy.oo:
            _require_finite(self, alpha, self.evaluation.ctx.reach.get(alpha))
        return value if condition is True else sympy.Piecewise((value, condition), (sympy.oo, True))


class WrittenOperation(OperationCurve):
    """The curve of an operation; a hull has a formula where numbers tell which chord it is."""

    evaluation: Writing

    def compute(self, alpha: Order) -> Number:
        if isinstance(self.node, Convexify):
            (theorem,) = self.theorems(2)
            self.evaluation.names.theorems[theorem.name] = theorem
            return _chord(self.evaluation.curve(self.node.mechanism), alpha, self.node)
        value = super().compute(alpha)
        if value == sympy.oo and isinstance(alpha, sympy.Expr):
            for child in self.node.children:
                self.evaluation.curve(child)(alpha)  # which has no formula, perhaps, and says why
        return value

    def value_by(self, theorem: Theorem, alpha: Order) -> Number:
        tau = dict(theorem.options).get("tau", 0)
        if tau and isinstance(alpha, sympy.Expr) and alpha != self.evaluation.asked:
            raise OrderError(
                f"{theorem.name} has a formula of its own below order {2 * tau}, and here it is "
                f"read at the open order {alpha}",
                remedy="ask at a number, or pin another theorem",
            )
        self.evaluation.names.theorems[theorem.name] = theorem
        return super().value_by(theorem, alpha)


def has_formula(node: Node) -> bool:
    """Can the node's own curve be written down? A Python function of the user's may not."""
    if not isinstance(node, Curve) or node.is_formula:
        return True
    if node.is_mpmath_callable:
        return False
    try:
        value = node.curve(SymbolicArithmetic())(WHOLE)
    except (SymacctError, TypeError, ValueError, AttributeError):
        return False  # it decides by numbers, or calls functions of its own
    return isinstance(value, sympy.Expr)


def _edge(node: Mechanism, ctx: WritingArithmetic, alpha: Order) -> Number:
    """The condition on α under which the mechanism says something; True where it always does."""
    if isinstance(alpha, float) and alpha == INFINITY:
        return True
    at = ctx.reach.get(alpha, alpha)  # an index is below the edge where its last value is
    for order in (expression(at), expression(alpha)):
        holds = node.is_finite_at(order)
        if holds in (True, sympy.true) or (holds is sympy.false and order == alpha):
            return bool(holds)
    return holds


def _require_finite(curve: LeafCurve, alpha: sympy.Expr, reach: int | None) -> None:
    """OrderError where the curve is not stated to end at an order that α may pass, and does."""
    node, last = curve.node, reach or limits.current().order
    if ends_unstated(curve, last):
        raise OrderError(
            f"{node}: its curve is infinite from some order up to {last:,} on, so that no one "
            f"formula holds at the open order {alpha}",
            remedy=(
                "ask for it at a number such as 4, or state finite_up_to in a class of your own"
            ),
        )


def ends_unstated(curve: NodeCurve, last: int) -> bool:
    """Has a leaf a value next to the order 1, and at the last one none, nor said so?"""
    node: Any = curve.node
    if node.finite_up_to != INFINITY or node.free_symbols:
        return False
    is_of_laws = isinstance(node, DistributionPair) and node.masses is None
    if is_of_laws and Overlap(node.P, node.Q).normal_parts is not None:
        return False
    return not _has_value(curve, last) and _has_value(curve, _NEAR_ONE)


def _has_value(curve: NodeCurve, alpha: Order) -> bool:
    """Is ε(α) a number >= 0, as far as balls of few bits tell?"""
    try:
        with precision(_BITS):
            value = curve.using(BALL)(alpha)
            return bool(value.is_finite()) and not value < 0
    except (LimitError, PrecisionError):
        return True
    except (OrderError, DomainError):
        return False


def _chord(eps: NodeCurve, alpha: Order, hull: Convexify) -> Number:
    """The projection's value: the chord of the hull over α, written with the curve below."""
    if isinstance(alpha, sympy.Expr):
        if alpha.is_integer and eps.shape == "convex":
            return eps(alpha)
        raise OrderError(
            f"Convexify: found the open order {alpha}, needed a number: which chord of the hull "
            "counts is decided by numbers",
            remedy="ask at a number such as 7/2, or for the formula of the mechanism below",
        )
    if alpha > hull.max_order:
        return eps(alpha)
    corners = _corners(eps, alpha, hull)
    if alpha > corners[-1]:
        return eps(alpha)
    if alpha == 1:
        return eps(corners[1]) if len(corners) > 1 else eps(1)
    right = next(corner for corner in corners if corner >= alpha)
    if alpha == right:
        return eps(alpha)
    left = max(corner for corner in corners if corner < alpha)
    share = Fraction(Fraction(alpha) - left, right - left)
    number = eps.evaluation.ctx.number
    low = (left - 1) * eps(left) if left > 1 else 0  # K(0) = 0
    high = (right - 1) * eps(right)
    return (number(1 - share) * low + number(share) * high) / number(alpha - 1)


def _corners(eps: NodeCurve, alpha: Order, hull: Convexify) -> list[int]:
    """The orders of the hull's corners about α; (0, 0) is that of order 1."""
    if eps.shape == "convex":
        right = max(2, -int(-alpha // 1))
        return [right - 1, right] if eps(right) != sympy.oo else [right - 1]
    if hull.free_symbols:
        names = ", ".join(sorted(map(str, hull.free_symbols)))
        raise DomainError(
            f"Convexify: found the free symbol {names}, needed numbers: they decide which chord "
            "of the hull counts",
            remedy="put a number in its place",
        )
    with precision(_BITS):
        curve = eps.using(BALL)
        orders = range(2, hull.max_order + 1)
        return [x + 1 for x, _ in hull_of_curve(BALL, curve, orders)]
