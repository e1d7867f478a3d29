"""The formula of a curve, by the symbolic arithmetic: as it is, written out, or with names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from symacct.export.writing import REAL, WHOLE, Named, Names, Writing, has_formula
from symacct.kernel import limits
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic, check_numbers, with_indices
from symacct.kernel.claims import Claim
from symacct.kernel.errors import AssumptionError, DomainError, OrderError, SymacctError
from symacct.kernel.evaluation import Evaluation, goal_of
from symacct.kernel.exact import INFINITY, Numeric, Order, order
from symacct.kernel.node import Node, as_node
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem, all_named
from symacct.theory.amplification.wbk19 import differences

#: Operations in a formula up to which it is written again rather than named.
SHORT = 10

#: The order of the differences B.
INDEX = sympy.Symbol("l", positive=True, integer=True)


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
    writing.asked = at
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
        for one in self.definitions:
            what = "stated by the user" if one.expression is None else one.expression
            lines.append(f"{one.name} = {what}")
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
    whole, asked = Named(m, by), [_order(m, alpha) for alpha in alphas]
    if INFINITY in asked:
        with suppress(OrderError, AssumptionError):  # it is one that is left out
            _Draft(m, INFINITY, by, Names(frozenset(), whole, True))
    long, in_cases = _lengths(m, by)
    drafts: dict[Any, _Draft] = {}
    faults: list[SymacctError] = []
    for at in asked:
        try:
            drafts[at] = _Draft(m, at, by, Names(long | in_cases, whole, True))
        except (OrderError, AssumptionError) as error:
            faults.append(error)
    if not drafts:
        raise faults[0]
    repeated = {named for one in drafts.values() for named, n in one.counts().items() if n > 1}
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
        for name, (named, expression) in self.definitions.items():
            value = None if expression is None else expression.xreplace(plain)
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
        meaning = {function: named for named, function in self.names.given.items()}
        for one in sympy.preorder_traversal(e):
            if isinstance(one, AppliedUndef):
                yield meaning[one.func], one.args[0]

    def _define(self, e: sympy.Expr) -> None:
        """Define what is read in the expression, and then what is read there."""
        reads: dict[Named, list[Any]] = {}
        for named, at in self._reads(e):
            reads.setdefault(named, []).append(at)
        for named, orders in reads.items():
            for at in dict.fromkeys(_order_meant(named, one) for one in orders):
                name = self.names.function(named)(at)
                if name not in self.definitions:
                    self.definitions[name] = (named, None)
                    value = self._value(named, at, asked=at if set(orders) == {self.at} else None)
                    self.definitions[name] = (named, value)
                    if value is not None:
                        self._define(value)

    def _value(self, named: Named, at: Order, asked: Order | None) -> sympy.Expr | None:
        writing = self.writing if named.by == self.writing.by else self.writing.default()
        if named.letter == "B":
            sums = differences.dispatch(SymbolicArithmetic)
            return self._written(
                writing, sums(writing.ctx, writing.curve(named.node), ()), at, None
            )
        if not has_formula(named.node):
            return None
        return self._written(writing, writing.body(named.node), at, asked)

    def _written(
        self, writing: Writing, curve: Callable[[Any], Any], at: Order, asked: Order | None
    ) -> sympy.Expr:
        writing.asked = asked
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
