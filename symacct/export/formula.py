"""The formula of a curve, by the symbolic arithmetic: as it is, written out, or with names.

A symbol for the order stands for many orders at once. Where a mechanism says nothing beyond some
order the formula has cases; where numbers decide which formula counts, there is an error; and a
curve may be left as a name, which is written once and read wherever it is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from symacct.kernel import limits
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL, Number
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic, check_numbers, with_indices
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import (
    AssumptionError,
    DomainError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
)
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve, goal_of
from symacct.kernel.exact import INFINITY, Numeric, Order, expression, order
from symacct.kernel.memory import Remembered, cached_property
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.parameters import bits
from symacct.kernel.sums.hull import hull_of_curve
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem, all_named
from symacct.operations import Convexify
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.wbk19 import Differences, differences

#: The order as a symbol for whole orders, and for the real ones between them.
WHOLE = sympy.Symbol(ALPHA.name, positive=True, integer=True)
REAL = sympy.Symbol(ALPHA.name, positive=True, integer=False)

#: The order of the differences B.
INDEX = sympy.Symbol("l", positive=True, integer=True)
#: Operations in a formula up to which it is written again rather than named.
SHORT = 10

_NEAR_ONE = 1 + Fraction(1, 2**20)  # an order at which every curve with values has one
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
    functions: dict[Named, Any] = field(default_factory=dict)
    #: The theorems that the formulas written so far rest on.
    theorems: dict[str, Theorem] = field(default_factory=dict)

    def function(self, named: Named) -> Number:
        """The name as a SymPy function of the order."""
        if named not in self.functions:
            alike = [
                known_name
                for known_name in self.functions
                if known_name.letter == named.letter and known_name != self.whole
            ]
            number = "M" if named == self.whole else len(alike) + 1
            # B(l) >= 0 for even l, where it is read.
            known = {"nonnegative": True} if named.letter == "B" else {"real": True}
            self.functions[named] = sympy.Function(f"{named.letter}_{number}", **known)
        return self.functions[named]


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
    """An evaluation in formulas for the open order `open_order`; curves in `names` by name."""

    def __init__(
        self, goal: Kind, by: By, names: Names, ctx: WritingArithmetic | None = None
    ) -> None:
        super().__init__(ctx or WritingArithmetic(names), goal, by)
        self.names = names
        self.open_order: Any = None

    def curve(self, node: Node) -> NodeCurve:
        node = self.theorem_node(node)
        named = Named(node, self.by)
        if named in self.names.kept or not node.has_formula:
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
        if isinstance(alpha, int) and alpha == 1 and self.node.has_formula:
            return body(alpha)
        return self.function(self.evaluation.ctx.number(alpha))

    def excesses(self) -> Number:
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def inferred(self, alpha: Order) -> tuple[Claim, bool]:
        return self.evaluation.body(self.node).inferred(alpha)


class WrittenLeaf(LeafCurve):
    """The curve of a mechanism, with the orders at which its formula holds."""

    def excesses(self) -> Callable[[Order], Number]:
        """By the curve where that has an end: a formula of their own does not show it."""
        if self.node.finite_up_to == INFINITY:
            return super().excesses()
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def compute(self, alpha: Order) -> Number:
        node = self.node
        if not node.has_formula and alpha != INFINITY:
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
        if tau and isinstance(alpha, sympy.Expr) and alpha != self.evaluation.open_order:
            raise OrderError(
                f"{theorem.name} has a formula of its own below order {2 * tau}, and here it is "
                f"read at the open order {alpha}",
                remedy="ask at a number, or pin another theorem",
            )
        self.evaluation.names.theorems[theorem.name] = theorem
        return super().value_by(theorem, alpha)


def _edge(node: Mechanism, ctx: WritingArithmetic, alpha: Order) -> Number:
    """The condition on α under which the mechanism says something; True where it always does."""
    if isinstance(alpha, float) and alpha == INFINITY:
        return True
    at = ctx.reach.get(alpha, alpha)  # an index is below the edge where its last value is
    for place in (expression(at), expression(alpha)):
        holds = node.is_finite_at(place)
        if holds in (True, sympy.true) or (holds is sympy.false and place == alpha):
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
    if node.finite_up_to != INFINITY or node.free_symbols or node.never_ends:
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


@question(Node, "formula")
def formula(m: Node, alpha: Numeric | None = None, by: By = None) -> sympy.Expr:
    """ε(α) as a SymPy expression, sums and binomials kept.

    Without an order the formula is in `symacct.symbols.alpha`, which stands for a whole order
    wherever the theorem used holds at whole orders; a symbol declared `integer=False` stands for
    the real orders between. Where an integral is the definition it is left as one; a curve that
    is a Python function is left as a function ε₁. Bring numbers in with mpmath: SymPy's own value
    of a Sum can be wrong. Raises as `rdp` does, and where no one formula holds.

    >>> import sympy
    >>> from symacct import Gaussian
    >>> formula(Gaussian(sympy.Symbol("sigma", positive=True)))
    alpha/(2*sigma**2)
    """
    at = _order(m, alpha)
    writing = Writing(goal_of(m, by), by, Names())
    writing.open_order = at
    return _finished(writing.body(writing.theorem_node(m))(at), at, _taken(m))


def expanded(formula: sympy.Expr) -> sympy.Expr:
    """The formula with every sum between whole numbers written out, term by term.

    Raises DomainError for a sum up to an open order, LimitError for too many terms.

    >>> import sympy
    >>> from symacct import Gaussian, PoissonSubsample
    >>> gamma = sympy.Symbol("gamma", positive=True)
    >>> formula = PoissonSubsample(Gaussian(1), gamma).formula(3)
    >>> formula.has(sympy.Sum), expanded(formula).has(sympy.Sum)
    (True, False)
    """
    return _Expansion()(formula, {})


class _Expansion:
    """One expansion, its terms counted."""

    def __init__(self) -> None:
        self.terms = 0

    def __call__(self, e: sympy.Expr, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
        if e in values:
            return values[e]
        if isinstance(e, sympy.Sum):
            return self._sum(e, values)
        if not e.args:
            return e
        return e.func(*(self(argument, values) for argument in e.args))

    def _sum(self, e: sympy.Sum, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
        """The sum with its terms written out, which are counted against the limit of nodes."""
        ((index, *ends),) = e.limits
        first, last = (self(end, values) for end in ends)
        if not (first.is_Integer and last.is_Integer):
            raise DomainError(
                f"found a sum from {first} to {last}, needed whole numbers to write it out",
                remedy="ask for the formula at a whole order such as 4",
            )
        self.terms += max(0, int(last) - int(first) + 1)
        limits.check("nodes", self.terms, "expanded, terms of sums")
        orders = map(sympy.Integer, range(int(first), int(last) + 1))
        return sympy.Add(*(self(e.function, {**values, index: l}) for l in orders))


# --- formulas with definitions


@dataclass(frozen=True)
class Definition:
    """What a name such as ε₁(α) stands for; nothing for a user's Python function."""

    name: sympy.Expr
    expression: sympy.Expr | None
    node: Node


@dataclass(frozen=True)
class Formula:
    """ε(α) at one order, in terms of names that are defined in the order of their use."""

    order: Order
    expression: sympy.Expr
    definitions: tuple[Definition, ...]
    claim: Claim
    #: What is used in the expression and the definitions, and in other formulas named with it.
    theorems: tuple[Theorem, ...]

    def __str__(self) -> str:
        lines = [f"epsilon({'oo' if self.order == INFINITY else self.order}) = {self.expression}"]
        for definition in self.definitions:
            what = "stated by the user" if definition.expression is None else definition.expression
            lines.append(f"{definition.name} = {what}")
        return "\n".join(lines)


def named_formula(m: Node, alpha: Numeric | None = None, by: By = None) -> Formula:
    """The formula in which a curve that is read more than once has a name, and is written once.

    >>> import sympy
    >>> from symacct import TCDP, SubsampleWithoutReplacement
    >>> rho = sympy.Symbol("rho", positive=True)
    >>> print(named_formula(SubsampleWithoutReplacement(TCDP(rho, 9), "1/9"), by="BLOG-C24"))
    epsilon(alpha) = log(exp((alpha - 1)*epsilon_1(alpha))/9 + 8/9)/(alpha - 1)
    epsilon_1(alpha) = Piecewise((alpha*rho, alpha < 9), (oo, True))
    """
    return named_formulas(m, [alpha], by)[0]


def named_formulas(m: Node, alphas: Iterable[Numeric | None], by: By = None) -> list[Formula]:
    """The formulas at several orders, names shared; an order that has none is left out.

    That of ∞ is asked before all others: it is short, and an error that it has comes at once.
    """
    all_named(by)  # before it becomes the key of a cache
    m = Evaluation(BALL, by=by).theorem_node(m)
    whole, orders = Named(m, by), [_order(m, alpha) for alpha in alphas]
    if INFINITY in orders:
        with suppress(OrderError, AssumptionError):  # it is one that is left out
            _Draft(m, INFINITY, by, Names(frozenset(), whole, True))
    long, in_cases = _lengths(m, by)
    drafts: dict[Any, _Draft] = {}
    faults: list[SymacctError] = []
    for at in orders:
        try:
            drafts[at] = _Draft(m, at, by, Names(long | in_cases, whole, True))
        except (OrderError, AssumptionError) as error:
            faults.append(error)
    if not drafts:
        raise faults[0]
    repeated = {named for draft in drafts.values() for named, n in draft.counts().items() if n > 1}
    names = Names(long & repeated | in_cases, whole, True)
    return [_Draft(m, at, by, names).formula() for at in drafts]


def _lengths(m: Node, by: By) -> tuple[frozenset[Named], frozenset[Named]]:
    """The curves whose formula is long, names put below; and those with a choice in them."""
    long: set[Named] = set()
    in_cases: set[Named] = set()
    for pinned in dict.fromkeys((by, None)):
        for node in m.walk():
            if node is m and pinned == by and by is not None:
                continue  # nothing reads it
            names = Names(frozenset(long | in_cases), differences=True)
            try:
                written = Writing(goal_of(m, by), pinned, names).body(node)(WHOLE)
            except SymacctError:
                long.add(Named(node, pinned))  # it has none at an open order, or there is an error
                continue
            is_long = written.count_ops() > SHORT or written.has(sympy.Sum)
            if written.has(sympy.Piecewise) or (is_long and written.has(sympy.Min, sympy.Max)):
                in_cases.add(Named(node, pinned))
            elif is_long:
                long.add(Named(node, pinned))
    return frozenset(long), frozenset(in_cases)


class _Draft:
    """The formula at one order, and what the names stand for that it reads, directly or not."""

    def __init__(self, m: Node, at: Order, by: By, names: Names) -> None:
        self.at, self.names = at, names
        self.taken = _taken(m)
        self.writing = Writing(goal_of(m, by), by, names)
        self.curve = self.writing.body(m)
        self.main = self._written(self.writing, self.curve, at, at)
        self.definitions: dict[sympy.Expr, tuple[Named, sympy.Expr | None]] = {}
        self._define(self.main)

    def counts(self) -> Counter[Named]:
        """How often each name is read."""
        expressions = [self.main, *(e for _, e in self.definitions.values() if e is not None)]
        return Counter(named for e in expressions for named, _ in self._reads(e))

    def formula(self) -> Formula:
        """The finished formula, every open order the one symbol alpha."""
        plain = {WHOLE: ALPHA, REAL: ALPHA}
        definitions: dict[sympy.Expr, Definition] = {}
        for name, (named, meaning) in self.definitions.items():
            value = None if meaning is None else meaning.xreplace(plain)
            name = name.xreplace(plain)
            definitions.setdefault(name, Definition(name, value, named.node))
        return Formula(
            self.at,
            self.main.xreplace(plain),
            tuple(definitions.values()),
            self.curve.claim(self.at),
            tuple(self.names.theorems.values()),
        )

    def _reads(self, e: sympy.Expr) -> Iterator[tuple[Named, Any]]:
        """Each name in the expression, and the order it is read at."""
        meaning = {function: named for named, function in self.names.functions.items()}
        for part in sympy.preorder_traversal(e):
            if isinstance(part, AppliedUndef):
                yield meaning[part.func], part.args[0]

    def _define(self, e: sympy.Expr) -> None:
        """Define what is read in the expression, and then what is read there."""
        reads: dict[Named, list[Any]] = {}
        for named, at in self._reads(e):
            reads.setdefault(named, []).append(at)
        for named, orders in reads.items():
            for at in dict.fromkeys(_order_meant(named, place) for place in orders):
                name = self.names.function(named)(at)
                if name not in self.definitions:
                    self.definitions[name] = (named, None)
                    value = self._value(
                        named, at, open_order=at if set(orders) == {self.at} else None
                    )
                    self.definitions[name] = (named, value)
                    if value is not None:
                        self._define(value)

    def _value(self, named: Named, at: Order, open_order: Order | None) -> sympy.Expr | None:
        writing = self.writing if named.by == self.writing.by else self.writing.default()
        if named.letter == "B":
            sums = differences.dispatch(SymbolicArithmetic)
            return self._written(
                writing, sums(writing.ctx, writing.curve(named.node), ()), at, None
            )
        if not named.node.has_formula:
            return None
        return self._written(writing, writing.body(named.node), at, open_order)

    def _written(
        self, writing: Writing, curve: Callable[[Any], Any], at: Order, open_order: Order | None
    ) -> sympy.Expr:
        writing.open_order = open_order
        return _finished(sympy.sympify(curve(at)), at, self.taken)


def _finished(e: sympy.Expr, at: Order, taken: frozenset[str]) -> sympy.Expr:
    """The formula with its indices named, if it can be written down; of any length if open."""
    if not isinstance(at, sympy.Expr):
        check_numbers(e)
    return with_indices(e, taken)


def _order_meant(named: Named, at: sympy.Expr) -> sympy.Expr:
    """The order at which a name is defined that is read at `at`: one symbol for all open orders."""
    if named.letter == "B":
        return INDEX
    if at.is_integer:
        return WHOLE
    if at.is_Rational:
        return at
    return REAL if at.has(REAL) else ALPHA


def _order(m: Node, alpha: Numeric | None) -> Order:
    """The order asked for, where no parameter has the name of the order."""
    as_node(m, "expression")
    if alpha is None:
        alpha = ALPHA
    at = order(alpha)
    if not isinstance(at, sympy.Expr):
        return at
    if at.is_positive is False or (at - 1).is_negative:
        raise DomainError(f"order alpha: found {alpha}, needed 1 <= alpha <= ∞")
    named = {symbol.name for symbol in at.free_symbols}
    for symbol in m.free_symbols - at.free_symbols:
        if symbol.name in named:
            raise DomainError(
                f"found a parameter called {symbol.name}, the name of the order",
                remedy="rename it, or ask at a number",
            )
    return at


def _taken(m: Node) -> frozenset[str]:
    """The names that no index may have."""
    return frozenset(symbol.name for symbol in m.free_symbols) | {ALPHA.name}
