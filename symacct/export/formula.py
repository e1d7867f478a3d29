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
from symacct.kernel.arithmetic import BALL, Number
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic, check_numbers, with_indices
from symacct.kernel.arithmetic.within_limits import bits
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
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve
from symacct.kernel.exact import INFINITY, Numeric, Order, expression, order
from symacct.kernel.memory import Remembered, cached_property
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.parameters import By
from symacct.kernel.sums.hull import hull_of_curve
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem, all_named, goal_of
from symacct.operations import Convexify
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.wbk19 import Differences, differences

#: The order as a symbol for whole orders, and for the real ones between them.
WHOLE = sympy.Symbol(ALPHA.name, positive=True, integer=True)
REAL = sympy.Symbol(ALPHA.name, positive=True, integer=False)

#: The differences B are defined at this order.
INDEX = sympy.Symbol("l", positive=True, integer=True)
#: A formula of at most this many operations is written again rather than named.
SHORT = 10

#: Every curve that has values has one at this order.
_NEAR_ONE = 1 + Fraction(1, 2**20)
#: Balls have this many bits, which show the corners of a hull and whether a curve has a value.
_BITS = 128


@dataclass(frozen=True)
class Named:
    """What a name stands for: the curve of a node by the theorem `by`, or its differences B.

    `letter` is "epsilon" for the curve, and "B" for the differences.
    """

    node: Node
    by: By
    letter: str = "epsilon"


@dataclass
class Names:
    """The names given so far, and which curves get one.

    `kept` are the curves that are read by name, and `whole` is the one that is written, ε_M.
    """

    kept: frozenset[Named] = frozenset()
    whole: Named | None = None
    differences: bool = False  # whether B(ε,l) is read by name
    functions: dict[Named, Any] = field(default_factory=dict)
    #: The theorems that the formulas written so far rest on.
    theorems: dict[str, Theorem] = field(default_factory=dict)

    def function(self, named: Named) -> Number:
        """Return the name as a SymPy function of the order; new ones are numbered from 1 on."""
        if named not in self.functions:
            alike = [x for x in self.functions if x.letter == named.letter and x != self.whole]
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
    """Give B(ε,l) as a name where names are used, else the sum itself."""
    if not ctx.names.differences:
        plain: Differences = differences.dispatch(SymbolicArithmetic)(ctx, eps, orders)
        return plain
    named: Differences = ctx.names.function(Named(eps.node, eps.evaluation.by, "B"))
    return named


class Writing(Evaluation):
    """An evaluation in formulas; curves that `names` keeps are read by name.

    `open_order` is the symbol that the formula asked for is at, or None for what is read at several
    orders.
    """

    def __init__(
        self, goal: Kind, by: By, names: Names, ctx: WritingArithmetic | None = None
    ) -> None:
        super().__init__(ctx or WritingArithmetic(names), goal, by)
        self.names = names
        self.open_order: Any = None

    def curve(self, node: Node) -> NodeCurve:
        """The curve of a node, written by its name where the text keeps that, else in full."""
        node = self.theorem_node(node)
        named = Named(node, self.by)
        if named in self.names.kept or not node._has_formula:
            return NamedCurve(self, node, Remembered(), self.names.function(named))
        return self.body(node)

    def body(self, node: Node) -> NodeCurve:
        """Return the curve of the node itself, whatever its name.

        LimitError for a sample of parameters that are too long.
        """
        if node not in self._curves:
            if isinstance(node, Sampling):  # SymPy sorts what it adds up by its text
                stated = (x for below in node.walk() for x in below.parameters().values())
                sizes = (bits(x) for x in stated if isinstance(x, Fraction | sympy.Expr))
                what = "formula, bits of its parameters"
                limits.check("formula_bits", max(sizes, default=0), what)
            self._curves[node] = (
                WrittenLeaf(self, node, Remembered())
                if isinstance(node, Mechanism)
                else WrittenOperation(self, node, Remembered())
            )
        return self._curves[node]

    def default(self) -> Writing:
        """This writing without a pinned theorem."""
        return self if self.by is None else self._unpinned

    @cached_property
    def _unpinned(self) -> Writing:
        return Writing(self.goal, None, self.names, self.ctx)


@dataclass(eq=False, repr=False)
class NamedCurve(NodeCurve):
    """A curve that is read by its name; at 1 and ∞ its value is short and stands itself."""

    evaluation: Writing
    #: α ↦ its name at the order.
    function: Callable[[Number], Number]

    def compute(self, alpha: Order) -> Number:
        """The name of the curve at an order, as ε_M(α); its formula at 1 and ∞."""
        is_end = alpha == INFINITY or (alpha == 1 and self.node._has_formula)
        if not isinstance(alpha, sympy.Expr) and is_end:
            return self.evaluation.body(self.node)(alpha)
        return self.function(self.evaluation.ctx.number(alpha))

    def excesses(self) -> Number:
        """l ↦ e^{(l−1)ε(l)} − 1, written by the name of the curve."""
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def inferred(self, alpha: Order, throughout: bool = False) -> tuple[Claim, bool]:
        """What is claimed of the curve, as of its formula."""
        return self.evaluation.body(self.node).inferred(alpha, throughout)


class WrittenLeaf(LeafCurve):
    """The curve of a mechanism, with cases where its formula holds up to some order.

    Raises DomainError for a Python function, and OrderError for a formula that is no number >= 0 at
    the order, or whose end is not stated.
    """

    def excesses(self) -> Callable[[Order], Number]:
        """Write them by the curve where that has an end: their own formula does not show it."""
        if self.node.finite_up_to == INFINITY:
            return super().excesses()
        return lambda l: self.evaluation.ctx.expm1((l - 1) * self(l))

    def compute(self, alpha: Order) -> Number:
        """The formula of a leaf's ε(α), ∞ beyond `finite_up_to`.

        DomainError for a Python function, OrderError where the formula is no number >= 0.
        """
        node = self.node
        if not node._has_formula and alpha != INFINITY:
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
            last = self.evaluation.ctx.reach.get(alpha) or limits.current().order
            if ends_unstated(self, last):
                raise OrderError(
                    f"{node}: its curve is infinite from some order up to {last:,} on, so that no "
                    f"one formula holds at the open order {alpha}",
                    remedy="ask for it at a number such as 4, or state finite_up_to in a class of "
                    "your own",
                )
        return value if condition is True else sympy.Piecewise((value, condition), (sympy.oo, True))


class WrittenOperation(OperationCurve):
    """The curve of an operation; a hull has a formula where numbers tell which chord it is.

    The theorems that it reads are noted in the names.
    """

    evaluation: Writing

    def compute(self, alpha: Order) -> Number:
        """The formula of an operation's ε(α), a chord of whole orders for Convexify."""
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
        """The formula by one theorem, which the text then cites; OrderError where it has none."""
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
    """Return the condition on α under which the curve is finite: True, False or a SymPy one."""
    if isinstance(alpha, float) and alpha == INFINITY:
        return True
    at = ctx.reach.get(alpha, alpha)  # an index is below the edge where its last value is
    for place in (expression(at), expression(alpha)):
        holds = node._is_finite_at(place)
        if holds in (True, sympy.true) or (holds is sympy.false and place == alpha):
            return bool(holds)
    return holds


def ends_unstated(curve: NodeCurve, last: int) -> bool:
    """Has a leaf a value next to order 1 and none at order `last`, without stating its end?

    Only curves of users may be so: others state where they end.
    """
    node: Any = curve.node
    if node.finite_up_to != INFINITY or node.free_symbols or node._never_ends:
        return False
    return not _has_value(curve, last) and _has_value(curve, _NEAR_ONE)


def _has_value(curve: NodeCurve, alpha: Order) -> bool:
    """Is ε(α) a number >= 0? A limit, or digits that do not suffice, count as a number."""
    try:
        with precision(_BITS):
            value = curve.using(BALL)(alpha)
            return bool(value.is_finite()) and not value < 0
    except (LimitError, PrecisionError):
        return True
    except (OrderError, DomainError):
        return False


def _chord(eps: NodeCurve, alpha: Order, hull: Convexify) -> Number:
    """Write the projection's value: the chord of the hull over α, in terms of the curve below.

    At an open order it is the curve, if that is proved to be convex, and else an OrderError.
    """
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
    """List the orders of the hull's corners, or of the two about α where the CGF is convex.

    Order 1 is the corner at λ = 0. DomainError where symbols decide which corners there are.
    """
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
    """Write ε(α) as a SymPy expression, sums and binomials kept.

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
    """Write out every sum between whole numbers in a formula, term by term.

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
    """One expansion, which counts the terms of all its sums."""

    def __init__(self) -> None:
        self.terms = 0

    def __call__(self, e: sympy.Expr, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
        """Put values for parts of an expression, and write sums out by `_sum`."""
        if e in values:
            return values[e]
        if isinstance(e, sympy.Sum):
            return self._sum(e, values)
        if not e.args:
            return e
        return e.func(*(self(argument, values) for argument in e.args))

    def _sum(self, e: sympy.Sum, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
        """Write out a sum of limited length; DomainError unless both ends are whole numbers."""
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
    """What a name such as ε₁(α) stands for; None for a user's Python function."""

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
    #: The expression and the definitions rest on these, and so do other formulas named with it.
    theorems: tuple[Theorem, ...]

    def __str__(self) -> str:
        """Write the formula at its order, and each name's definition on a line."""
        lines = [f"epsilon({'oo' if self.order == INFINITY else self.order}) = {self.expression}"]
        for definition in self.definitions:
            what = "stated by the user" if definition.expression is None else definition.expression
            lines.append(f"{definition.name} = {what}")
        return "\n".join(lines)


def named_formulas(m: Node, alphas: Iterable[Numeric | None], by: By = None) -> list[Formula]:
    """Write formulas in which a curve that is read more than once has a name; None: at any order.

    The names are shared. An order at which no theorem speaks is left out; the first such error is
    raised if that is so at all of them. That of ∞ is asked before all others: any other error of it
    comes at once. Else it raises as `formula` does.

    >>> import sympy
    >>> from symacct import TCDP, SubsampleWithoutReplacement
    >>> rho = sympy.Symbol("rho", positive=True)
    >>> sampled = SubsampleWithoutReplacement(TCDP(rho, 9), "1/9")
    >>> print(*named_formulas(sampled, [None], by="BLOG-C24"))
    epsilon(alpha) = log(exp((alpha - 1)*epsilon_1(alpha))/9 + 8/9)/(alpha - 1)
    epsilon_1(alpha) = Piecewise((alpha*rho, alpha < 9), (oo, True))
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
    """Find the curves whose formula is long, and those with a choice of cases in them.

    Parts come first, and are counted by name. One without a formula at an open order is long.
    """
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
    """The formula at one order, and what the names stand for that it reads, directly or not.

    `definitions` maps each name at its order to what it stands for; None for a user's function.
    """

    def __init__(self, m: Node, at: Order, by: By, names: Names) -> None:
        self.at, self.names = at, names
        self.taken = _taken(m)
        self.writing = Writing(goal_of(m, by), by, names)
        self.curve = self.writing.body(m)
        self.main = self._written(self.writing, self.curve, at, at)
        self.definitions: dict[sympy.Expr, tuple[Named, sympy.Expr | None]] = {}
        self._define(self.main)

    def counts(self) -> Counter[Named]:
        """Count how often each name is read, in the formula and in the definitions."""
        expressions = [self.main, *(e for _, e in self.definitions.values() if e is not None)]
        return Counter(named for e in expressions for named, _ in self._reads(e))

    def formula(self) -> Formula:
        """Return the finished formula, with the one symbol alpha for every open order."""
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
        """Yield each name in the expression, with the order that it is read at."""
        meaning = {function: named for named, function in self.names.functions.items()}
        for part in sympy.preorder_traversal(e):
            if isinstance(part, AppliedUndef):
                yield meaning[part.func], part.args[0]

    def _define(self, e: sympy.Expr) -> None:
        """Define each name that the expression reads, and then what those definitions read.

        A name is defined at the orders of `_order_meant`. It is entered before its value is
        written, so that a curve that reads itself ends.
        """
        reads: dict[Named, list[Any]] = {}
        for named, at in self._reads(e):
            reads.setdefault(named, []).append(at)
        for named, orders in reads.items():
            is_open = set(orders) == {self.at}
            for at in dict.fromkeys(_order_meant(named, place) for place in orders):
                name = self.names.function(named)(at)
                if name not in self.definitions:
                    self.definitions[name] = (named, None)
                    value = self._value(named, at, at if is_open else None)
                    self.definitions[name] = (named, value)
                    if value is not None:
                        self._define(value)

    def _value(self, named: Named, at: Order, open_order: Order | None) -> sympy.Expr | None:
        """Write what a name stands for at an order; None for a user's Python function.

        `open_order` is that order if the name is read at the order asked alone, else None.
        """
        writing = self.writing if named.by == self.writing.by else self.writing.default()
        if named.letter == "B":
            sums = differences.dispatch(SymbolicArithmetic)
            written = sums(writing.ctx, writing.curve(named.node), ())
            return self._written(writing, written, at, None)
        if not named.node._has_formula:
            return None
        return self._written(writing, writing.body(named.node), at, open_order)

    def _written(
        self, writing: Writing, curve: Callable[[Any], Any], at: Order, open_order: Order | None
    ) -> sympy.Expr:
        """Write a curve at an order, finished; `open_order` is set in the evaluation."""
        writing.open_order = open_order
        return _finished(sympy.sympify(curve(at)), at, self.taken)


def _finished(e: sympy.Expr, at: Order, taken: frozenset[str]) -> sympy.Expr:
    """Name the indices of a formula, with none of the names `taken`.

    At a number as the order, a formula whose numbers are too long is refused.
    """
    if not isinstance(at, sympy.Expr):
        check_numbers(e)
    return with_indices(e, taken)


def _order_meant(named: Named, at: sympy.Expr) -> sympy.Expr:
    """Return the order at which a name is defined that is read at `at`.

    It is the symbol for whole or for real orders, or the number itself between whole ones; B is
    defined at l.
    """
    if named.letter == "B":
        return INDEX
    if at.is_integer:
        return WHOLE
    if at.is_Rational:
        return at
    return REAL if at.has(REAL) else ALPHA


def _order(m: Node, alpha: Numeric | None) -> Order:
    """Return the order asked for, by default the symbol alpha.

    Raises DomainError for an order below 1, and for a parameter that has the order's name.
    """
    as_node(m, "expression")
    at = order(ALPHA if alpha is None else alpha)
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
    """List the names that no index may have: those of the symbols and of the order."""
    return frozenset(symbol.name for symbol in m.free_symbols) | {ALPHA.name}
