"""The arithmetic that writes code: what a theorem computes with it is an expression of code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Protocol

import sympy
from flint import arb

from symacct.codegen.ir import (
    Difference,
    Expr,
    Num,
    Op,
    RatioSum,
    TableEntry,
    UnitIntegral,
    Var,
    variables,
)
from symacct.codegen.number import Operand, Traced, UntraceableError, apply, choose, lesser, logged
from symacct.kernel.accountant import FormulaEvaluation
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.evaluation import goal_of
from symacct.kernel.exact import INFINITY, exact
from symacct.kernel.node import Node
from symacct.theory.amplification import wbk19

_SMALL_BINOMIAL = 3  # C(n, k) up to this k is written out
_NODES = 16  # of a Gauss–Legendre rule; its error on a piece is below 1e-16 of the value
_TABLE_BITS = 160
_LONGEST_TABLE = 10_000
MOST_TERMS = 200_000  # of a sum over a grid
#: Errors of a sum over a grid, in nats below its value.
_FLOAT_NATS = 50


class CodeCurve(Protocol):
    """The curve that a theorem reads: asked at an order it gives a call of its function."""

    node: Node

    def __call__(self, alpha: Operand) -> Traced: ...

    def excesses(self) -> Callable[[Operand], Traced]:
        """l ↦ e^{(l−1)ε(l)} − 1."""

    def function_name(self) -> str:
        """The name of its function in the code."""


class CodeArithmetic:
    """Numbers that are expressions (see `Traced`), for targets in float64.

    `arguments` are the parameters left open, with their names in the code, each > 0; `rates` are
    the expressions known to lie below 1. `max_order` ends the tables that some theorems need.
    """

    certified = False
    rounds = True
    bits = 53

    def __init__(
        self, arguments: Mapping[sympy.Symbol, str], rates: set[sympy.Expr], max_order: int
    ) -> None:
        tiny = math.ulp(0.0)
        self.arguments = {s: Traced(Var(name), low=tiny) for s, name in arguments.items()}
        self.rates = rates
        self.max_order = max_order
        self.tables: dict[str, tuple[Expr, ...]] = {}
        self._depth = 0

    # --- the protocol of an arithmetic

    def number(self, value: Operand | sympy.Expr) -> Traced:
        if isinstance(value, Traced):
            return value
        if isinstance(value, int | Fraction):
            return Traced.of(value)
        if value == INFINITY:
            return Traced.of(INFINITY)
        value = exact(value)
        if isinstance(value, Fraction):
            return Traced.of(value)
        result: Traced = evaluate(self, value, self.arguments)
        if value in self.rates:
            return Traced(result.as_plain(), low=max(result.low, 0.0), high=1.0)
        return result

    def pi(self) -> Traced:
        return Traced(Op("pi", ()), low=3.0, high=4.0)

    def exp(self, x: Operand) -> Traced:
        x = Traced.of(x)
        return logged(x.as_plain(), low=1.0 if x.low >= 0 else 0.0)

    def expm1(self, x: Operand) -> Traced:
        x = Traced.of(x)
        if x.low >= 0:
            return logged(Num(-INFINITY) if x.is_number(0) else Op("log_expm1", (x.as_plain(),)))
        return apply("expm1", x, low=-1.0)

    def log(self, x: Operand) -> Traced:
        x = Traced.of(x)
        return Traced(x.as_log(), low=0.0 if x.low >= 1 else -INFINITY)

    def log1p(self, x: Operand) -> Traced:
        x = Traced.of(x)
        if x.is_log:
            return Traced(Op("log1p_exp", (x.as_log(),)), low=0.0)
        return apply("log1p", x, low=0.0 if x.low >= 0 else -INFINITY)

    def exp_gap(self, x: Operand) -> Traced:
        return logged(Op("log_exp_gap", (Traced.of(x).as_plain(),)))

    def power_gap(self, gamma: Operand, x: Operand, lam: Operand) -> Traced:
        parts = (Traced.of(part).as_plain() for part in (gamma, x, lam))
        return logged(Op("log_power_gap", tuple(parts)))

    def entropy_gap(self, gamma: Operand, x: Operand) -> Traced:
        return logged(Op("log_entropy_gap", (Traced.of(gamma).as_plain(), Traced.of(x).as_plain())))

    def sqrt(self, x: Operand) -> Traced:
        x = Traced.of(x)
        if x.is_log:
            return logged(Op("mul", (Num(Fraction(1, 2)), x.as_log())))
        return apply("sqrt", x, low=0.0)

    def power(self, x: Operand, y: Operand) -> Traced:
        return Traced.of(x) ** y

    def binomial(self, n: Operand, k: Operand) -> Traced:
        n, k = Traced.of(n), Traced.of(k)
        if k.exact is None or k.exact > _SMALL_BINOMIAL:
            return logged(Op("log_binomial", (n.as_plain(), k.as_plain())))
        product = Traced.of(1)
        for i in range(int(k.exact)):
            product = product * (n - i)
        result = product / math.factorial(int(k.exact))
        return Traced(result.as_plain(), low=max(result.low, 0.0))

    def sum(self, term: Callable[[Traced], Operand], first: Operand, last: Operand) -> Traced:
        return self.weighted_sum(term, first, last, None)

    def minimum(self, *xs: Operand) -> Traced:
        return lesser([Traced.of(x) for x in xs])

    def maximum(self, *xs: Operand) -> Traced:
        return lesser([Traced.of(x) for x in xs], "greater")

    def is_zero(self, x: Operand) -> bool:
        return Traced.of(x).is_number(0)

    def is_infinite(self, x: Operand) -> bool:
        return Traced.of(x).is_number(INFINITY)

    # --- what code has beside it

    @contextmanager
    def index(self, low: float = 0.0) -> Iterator[tuple[Var, Traced]]:
        """A variable for the index of a sum, named by how deep it stands: equal sums are equal."""
        self._depth += 1
        try:
            variable = Var(f"i_{self._depth}")
            yield variable, Traced(variable, low=low)
        finally:
            self._depth -= 1

    def weighted_sum(
        self,
        term: Callable[[Traced], Operand],
        first: Operand,
        last: Operand,
        ratio: Callable[[Traced], Traced] | None,
    ) -> Traced:
        """Σ_{i=first}^{last} w_i term(i), w_first = 1, w_i = ratio(i) w_{i−1}."""
        first, last = Traced.of(first), Traced.of(last)
        with self.index(first.low) as (name, i):
            value = Traced.of(term(i))
            step = None if ratio is None else ratio(i).as_plain()
        if value.low < 0:
            raise UntraceableError("the sum of terms that may be negative")
        return logged(RatioSum(name, first.as_plain(), last.as_plain(), step, value.as_log()))

    def table(self, entries: list[Traced]) -> Callable[[Traced], Traced]:
        """A table of constants; gives the entry at an index counted from 0."""
        values = tuple(entry.as_plain() for entry in entries)
        names = {entries: name for name, entries in self.tables.items()}
        name = names.get(values) or f"table_{len(self.tables) + 1}"
        self.tables[name] = values
        low = min(entry.low for entry in entries)
        return lambda i: Traced(TableEntry(name, i.as_plain()), low=low)

    def threshold(self, value: Traced, upwards: bool) -> Traced:
        """The edge of a domain, rounded so that no order on its far side passes for a near one."""
        if value.exact is None:
            slack = Fraction(2**50 + (1 if upwards else -1), 2**50)
            return value if upwards else value * slack
        nearest = float(value.exact)
        if upwards and Fraction(nearest) < value.exact:
            nearest = math.nextafter(nearest, INFINITY)
        if not upwards and Fraction(nearest) > value.exact:
            nearest = math.nextafter(nearest, 0.0)
        return Traced.of(Fraction(nearest))

    def grid_nats(self) -> Traced:
        """How many nats below a sum over a grid its errors must be."""
        return Traced.of(_FLOAT_NATS)

    def long_sum(self, term: Callable[[Traced], Traced], last: Traced) -> Traced:
        """Σ term(i) for 0 <= i <= last; no answer where open parameters make that too long."""
        total = self.sum(term, 0, last)
        if variables(last.as_plain()) <= {"alpha"}:
            return total
        return choose("<=", last, Traced.of(MOST_TERMS), total, Traced.of(math.nan))

    def integral(self, value: Callable[[Traced], Traced], pieces: Traced) -> Traced:
        """∫_0^1 value(z) dz of a function smooth on equally many pieces, by Gauss–Legendre."""
        nodes, weights = (self.table(column) for column in _legendre())

        def piece(k: Traced) -> Traced:
            return self.weighted_sum(
                lambda i: weights(i) * value((k + nodes(i)) / pieces), 0, _NODES - 1, None
            )

        return self.weighted_sum(piece, 0, pieces - 1, None) / pieces

    def differences(self, eps: CodeCurve, reach: int) -> Callable[[Traced], Traced]:
        """l ↦ B(ε,l) at even l up to `reach` times max_order + 1: float64 cannot form them."""
        if eps.node.free_symbols:
            raise UntraceableError(
                "the forward differences of Theorem 27, which float64 cannot form",
                remedy=("put numbers in their place, pin a theorem, or take the target mpmath"),
            )
        last = reach * self.max_order
        if last > _LONGEST_TABLE:
            raise UntraceableError(
                f"a table of differences up to order {last:,}, needed at most {_LONGEST_TABLE:,}",
                remedy="take a lower max_order, or pin a theorem",
            )
        orders = range(2, last + 2, 2)
        with precision(_TABLE_BITS):
            curve = FormulaEvaluation(BALL, goal_of(eps.node, None)).curve(eps.node)
            balls = wbk19.differences(BALL, curve, orders)
            logs = [Traced.of(middle(balls(l).log())) for l in orders]
        entry = self.table(logs)
        return lambda l: logged(entry(l / 2 - 1).as_plain())


class DigitsArithmetic(CodeArithmetic):
    """Code for mpmath, whose precision is known only when the code runs."""

    def threshold(self, value: Traced, upwards: bool) -> Traced:
        return value

    def grid_nats(self) -> Traced:
        return Traced(Op("log_precision", ()), low=1.0)

    def integral(self, value: Callable[[Traced], Traced], pieces: Traced) -> Traced:
        with self.index() as (name, z):
            return logged(UnitIntegral(name, pieces.as_plain(), value(z).as_log()))

    def differences(self, eps: CodeCurve, reach: int) -> Callable[[Traced], Traced]:
        name = eps.function_name()
        return lambda l: logged(Difference(name, l.as_plain()))


def middle(ball: arb) -> Fraction | float:
    """The midpoint of a narrow ball, exactly."""
    return rational(ball) if ball.is_finite() else INFINITY


def _legendre() -> tuple[list[Traced], list[Traced]]:
    """Nodes and weights of the Gauss–Legendre rule on [0, 1]."""
    nodes, weights = [], []
    with precision(_TABLE_BITS):
        for k in range(_NODES):
            node, weight = arb.legendre_p_root(_NODES, k, weight=True)
            nodes.append(Traced.of(middle((1 + node) / 2)))
            weights.append(Traced.of(middle(weight / 2)))
    return nodes, weights
