"""Generated code held against certified values, before it is given out."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any, TypeAlias

import mpmath
import sympy

from symacct.codegen import ir
from symacct.codegen.constants import FloatProgram
from symacct.codegen.runtime import digits, plain
from symacct.codegen.trace import Program
from symacct.kernel.accountant import FormulaAccountant
from symacct.kernel.answer import Enclosure, to_fraction
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, PrecisionError, SymacctError
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.parameters import By

# --- the program run unprinted
#
# It is run as it stands, by the very functions that go into its text.

Names = dict[str, Number]
Compiled = Callable[[Names], Number]

#: A machine remembers at most this many values of calls, and then forgets all of them. It costs
#: memory, and saves time.
_MOST_VALUES = 10**6

#: The comparison of each sign.
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Machine:
    """Runs a program in one sort of numbers, by the functions of a runtime module.

    `constants` are the values of named constants. Values of calls are remembered at one point of
    the open parameters.
    """

    runtime: Any

    def __init__(self, program: Program, constants: Mapping[str, Exact | float]) -> None:
        self.program = program
        self.constants = constants
        self._compiled: dict[ir.Expr, Compiled] = {}
        self._values: dict[tuple[object, ...], Number] = {}
        self._point: Names = {}

    def epsilon(self, alpha: Number, point: Mapping[str, Exact | float]) -> Number:
        """Compute ε at an order, for these values of the parameters left open.

        NaN stands for no answer: outside the box, or in a class of orders that has no case. The
        largest order is not checked.
        """
        named = {**self.constants, **{k: self.number(v) for k, v in point.items()}}
        if named != self._point or len(self._values) > _MOST_VALUES:
            self._values.clear()
            self._point = named
        if not all(self.compiled(condition)(self._point) for condition in self.program.conditions):
            return self.number(math.nan)
        return self.call(self.program.main, self.number(alpha))

    def call(self, name: str, alpha: Number) -> Number:
        """Compute a function of the program at an order, and remember it; NaN without a case."""
        key = self.question(name, alpha)
        if key not in self._values:
            case = self.program.functions[name].cases.get(order_kind(alpha), ir.Num(math.nan))
            self._values[key] = self.compiled(case)({**self._point, "alpha": alpha})
        return self._values[key]

    def question(self, name: str, alpha: Number) -> tuple[object, ...]:
        """Return what the value of a call depends on at this point."""
        return name, alpha

    def compiled(self, e: ir.Expr) -> Compiled:
        """Compile the expression to a function of the values of its names, once."""
        if e not in self._compiled:
            self._compiled[e] = self._compile(e)
        return self._compiled[e]

    def number(self, value: Exact | float) -> Number:
        """Make a number of this machine, rounded to its precision."""
        raise NotImplementedError

    def entry(self, table: str, index: Number) -> Number:
        """Read an entry of a table, at an index counted from 0."""
        raise NotImplementedError

    def sum(self, e: ir.RatioSum) -> Compiled:
        """Compile the loop of a sum, which returns the logarithm of the sum."""
        raise NotImplementedError

    def _compile(self, e: ir.Expr) -> Compiled:
        """Make a function of the names' values that evaluates an expression as the code does."""
        if isinstance(e, ir.Num):
            value = self.number(e.value)
            return lambda names: value
        if isinstance(e, ir.Var):
            return operator.itemgetter(e.name)
        if isinstance(e, ir.Op):
            return self._operation(e)
        if isinstance(e, ir.Compare):
            holds = _SIGNS[e.sign]
            left, right = self.compiled(e.left), self.compiled(e.right)
            return lambda names: holds(left(names), right(names))
        if isinstance(e, ir.If):
            condition, then, other = map(self.compiled, (e.condition, e.then, e.other))
            return lambda names: then(names) if condition(names) else other(names)
        if isinstance(e, ir.Call):
            order = self.compiled(e.order)
            return lambda names: self.call(e.function, order(names))
        if isinstance(e, ir.TableEntry):
            index = self.compiled(e.index)
            return lambda names: self.entry(e.table, index(names))
        if isinstance(e, ir.RatioSum):
            return self.sum(e)
        return self.special(e)

    def special(self, e: ir.Expr) -> Compiled:
        """Compile what only some machines know; TypeError here."""
        raise TypeError(f"no {type(e).__name__} here")

    def _operation(self, e: ir.Op) -> Compiled:
        """Make the function of an operation: Python's own operator, or one of the runtime."""
        function = ir.OPERATORS.get(e.name) or getattr(self.runtime, e.name)
        arguments = [self.compiled(part) for part in e.args]
        if len(arguments) == 1:
            (only,) = arguments
            return lambda names: function(only(names))
        if len(arguments) == 2:
            left, right = arguments
            return lambda names: function(left(names), right(names))
        return lambda names: function(*(part(names) for part in arguments))


class FloatMachine(Machine):
    """Runs a program in float64, as the Python target computes."""

    runtime = plain

    def __init__(self, program: FloatProgram) -> None:
        super().__init__(program.program, {k: value for k, (value, _) in program.constants.items()})
        self.tables = program.tables

    def number(self, value: Exact | float) -> float:
        """The number in float64."""
        return float(value)

    def entry(self, table: str, index: float) -> float:
        """The entry of a table."""
        return self.tables[table][int(index)]

    def sum(self, e: ir.RatioSum) -> Compiled:
        """Make the loop of a sum in float64, log Σ weight·e^{log term}, by its largest term."""
        first, last, log_term = map(self.compiled, (e.first, e.last, e.log_term))
        ratio = None if e.ratio is None else self.compiled(e.ratio)
        index = e.index.name

        def loop(names: Names) -> Number:
            names = dict(names)
            i, end = first(names), last(names)
            top, total, weight, scale = -math.inf, 0.0, 1.0, 0.0
            while i <= end:
                names[index] = i
                top, total = self.runtime.add_exp(top, total, weight, log_term(names) + scale)
                i += 1.0
                if ratio is not None:
                    names[index] = i
                    weight, scale = self.runtime.rescaled(weight * ratio(names), scale)
            return top + self.runtime.log(total)

        return loop


class DigitsMachine(Machine):
    """Runs a program at the precision of `digits.mp`, as the mpmath target computes there."""

    runtime = digits

    def __init__(self, program: Program) -> None:
        super().__init__(program, {})

    def number(self, value: Exact | float) -> Number:
        """The number in mpmath, a fraction as a quotient at the precision of the moment."""
        if isinstance(value, float):
            return digits.mp.mpf(value)
        value = Fraction(value)
        return digits.mp.mpf(value.numerator) / value.denominator

    def _compile(self, e: ir.Expr) -> Compiled:
        """Make the function; numbers and π are made anew at each call, at its precision."""
        if isinstance(e, ir.Num):  # at the precision of the moment, which differences raise
            return lambda names: self.number(e.value)
        if e == ir.Op("pi", ()):
            return lambda names: +digits.mp.pi
        return super()._compile(e)

    def question(self, name: str, alpha: Number) -> tuple[object, ...]:
        """The curve, the order and the precision, by which values are remembered."""
        return name, alpha, digits.mp.prec

    def entry(self, table: str, index: Number) -> Number:
        """The entry of a table, computed at the precision of the moment."""
        return self.compiled(self.program.tables[table][int(index)])(self._point)

    def sum(self, e: ir.RatioSum) -> Compiled:
        """Make the loop of a sum in mpmath: log Σ weight·e^{log term}."""
        first, last, log_term = map(self.compiled, (e.first, e.last, e.log_term))
        ratio = None if e.ratio is None else self.compiled(e.ratio)
        index = e.index.name

        def loop(names: Names) -> Number:
            names = dict(names)
            i, end = first(names), last(names)
            total, weight = digits.mp.mpf(0), digits.mp.mpf(1)
            while i <= end:
                names[index] = i
                total += weight * self.runtime.exp(log_term(names))
                i += 1
                if ratio is not None:
                    names[index] = i
                    weight *= ratio(names)
            return self.runtime.log(total)

        return loop

    def special(self, e: ir.Expr) -> Compiled:
        """Make the function of a difference B(n), or of an integral over [0, 1], by the runtime."""
        if isinstance(e, ir.Difference):
            order = self.compiled(e.order)

            def curve(i: Number, *parameters: Number) -> Number:
                return self.call(e.function, i)

            def difference(names: Names) -> Number:
                parameters = tuple(value for _, value in sorted(self._point.items()))
                return self.runtime.log_difference(curve, parameters, order(names))

            return difference
        assert isinstance(e, ir.UnitIntegral)  # noqa: S101  # there are only these two
        pieces, log_term = self.compiled(e.pieces), self.compiled(e.log_term)
        return lambda names: self.runtime.log_integral(
            lambda z: log_term({**names, e.index.name: z}), pieces(names)
        )


def order_kind(alpha: Number) -> str:
    """Return the class of an order >= 1, which decides which case of a function answers."""
    if alpha == 1:
        return "one"
    if alpha == math.inf:
        return "infinite"
    if alpha == math.floor(alpha):
        return "whole"
    return "below_two" if alpha < 2 else "above_two"


# --- the comparison

#: Certified values have this many digits more than the accuracy that is measured. The measured
#: errors rest on it: of fewer digits they would be partly those of the truth.
_SPARE_DIGITS = 8
#: Multiples of the golden section spread evenly over [0, 1). They choose where the code is
#: measured, and no result rests on it.
_GOLDEN = (math.sqrt(5) - 1) / 2
#: Fractional orders are multiples of one over this: they are exact in float64. The measured errors
#: rest on it: other orders would be rounded first.
_GRAIN = 2**20

#: Parameters of these names are measured at these values where the user names none, and may be
#: left open between them. The values are exact in float64.
_BOXES: dict[str, tuple[Fraction, ...]] = {
    "gamma": (Fraction(1, 2**20), Fraction(1, 16), Fraction(3, 4)),
    "p": (Fraction(1, 16), Fraction(9, 16), Fraction(15, 16)),
    "omega": (Fraction(16), Fraction(64)),
    **dict.fromkeys(("rho", "xi", "epsilon"), (Fraction(1, 1024), Fraction(1, 16), Fraction(2))),
}
#: Any other parameter is measured at these values, exact in float64, where the user names none.
#: Outside of the first to the last, the code has no answer. A wider box takes longer to measure.
_USUAL_BOX = (Fraction(1, 2), Fraction(2), Fraction(128))

#: About this many combinations of values are measured where the user names none. More take longer,
#: and may find a larger error.
_USUAL_SAMPLES = 27
#: A user may name values with at most this many combinations. More are refused.
_MOST_SAMPLES = 1000
#: This many points inside the box are measured beside the combinations. More take longer, and may
#: find a larger error.
_INSIDE = 9

#: Orders around the worst one are tried this many times. More take longer, and may find a larger
#: error.
_REFINEMENTS = 3
#: Orders around the worst one are this far from it, up and down. They choose where the code is
#: measured, and no result rests on it.
_NEIGHBOURS = (Fraction(1, 4), Fraction(1, 2), 1, 2, 3, 5, 8)

#: Code answers with a float, or an mpf.
Value: TypeAlias = float | mpmath.mpf
Point = dict[str, Fraction]
Epsilon = Callable[[Order, Point], Value]


@dataclass(frozen=True)
class Measured:
    """The largest relative error that was found, and the order at which it was found.

    It is over `values` certified values, at all of the `samples`. `claims` has what is claimed at
    each class of orders. It is measured, and is no bound on other errors.
    """

    error: Fraction
    order: Order
    values: int
    samples: tuple[Point, ...]
    claims: dict[str, Claim]

    @property
    def kind(self) -> Kind:
        """The kind of the weakest answer: no bound at all, a lower or upper bound, or exact."""
        kinds = {claim.kind for claim in self.claims.values()}
        weak = (Kind.NEITHER, Kind.LOWER, Kind.UPPER)
        return next((kind for kind in weak if kind in kinds), Kind.EXACT)


def orders(count: int, max_order: int, dense: int = 8) -> list[Order]:
    """List orders in [1, max_order] and ∞: whole ones, and about `count` spread over log(α − 1).

    Of the whole orders up to `dense` it has all of the first quarter and every third of the others.
    Fractional orders are exact in float64. They begin at 1 + 2⁻²⁰.
    """
    whole = [*range(2, dense // 4 + 2), *range(dense // 4 + 2, dense + 1, 3)]
    fixed: list[Order] = [1, INFINITY, *(l for l in whole if l < max_order), max_order]
    fixed += [1 + Fraction(1, 2**k) for k in (1, 4, 10, 20)]
    chosen = dict.fromkeys(fixed)
    enough = len(chosen) + count - 8
    for k in range(1, 4 * count):
        if len(chosen) >= enough:
            break
        exponent = (k * _GOLDEN) % 1.0
        order = Fraction(round((1 + (max_order - 1) ** exponent) * _GRAIN), _GRAIN)
        if k % 4 == 0:  # between 1 and 2
            order = Fraction(round((1 + 2 ** (-8 * exponent)) * _GRAIN) - 1, _GRAIN)
        order = Fraction(round(order)) if k % 2 else order
        order = min(max(order, Fraction(1)), Fraction(max_order))
        chosen[int(order) if order == int(order) else order] = None
    return list(chosen)


def samples(
    m: Node, arguments: Mapping[sympy.Symbol, str], at: Mapping[str, Iterable[Fraction]]
) -> list[Point]:
    """List the values of the parameters left open at which the code is measured.

    They are the combinations of the values `at` that the user names, or of usual ones, and points
    inside their box. Those for which there is no such mechanism are left out. Raises DomainError
    for too many combinations. Without open parameters there is one sample, with no values.
    """
    if not arguments:
        return [{}]
    columns = [tuple(at.get(name, _usual(m, s))) for s, name in arguments.items()]
    count = math.prod(map(len, columns))
    if at and count > _MOST_SAMPLES:
        raise DomainError(
            f"at: found {count:,} combinations of values, needed at most {_MOST_SAMPLES}"
        )
    step = 1 + count // _USUAL_SAMPLES if not at else 1
    rows = [_row(columns, k) for k in range(0, count, step)]
    rows += [_inside(columns, k) for k in range(1, _INSIDE + 1)]
    named = [dict(zip(arguments.values(), row, strict=True)) for row in rows]
    named = [dict(row) for row in dict.fromkeys(tuple(point.items()) for point in named)]
    possible = []
    for point in named:
        with contextlib.suppress(SymacctError):
            substituted(m, arguments, point)
            possible.append(point)
    return possible


def _row(columns: list[tuple[Fraction, ...]], k: int) -> list[Fraction]:
    """Return the k-th combination of one value of each column, counted from 0."""
    row = []
    for column in columns:
        k, place = divmod(k, len(column))
        row.append(column[place])
    return row


def _inside(columns: list[tuple[Fraction, ...]], k: int) -> list[Fraction]:
    """Return the k-th of points that are evenly spread over the box, by logarithms."""
    shares = [(k * (index + 1) ** 0.5 * _GOLDEN) % 1.0 for index in range(len(columns))]
    ends = [(min(column), max(column)) for column in columns]
    return [between(low, high, share) for (low, high), share in zip(ends, shares, strict=True)]


def between(low: Fraction, high: Fraction, share: float) -> Fraction:
    """Interpolate low^{1−share} high^share, as a float64 that is not beyond the two ends.

    If `low` is not > 0, it is low + share (high − low). Both ends have to be float64.
    """
    first, last = float(low), float(high)
    if low > 0:
        near = Fraction(first ** (1 - share) * last**share)
    else:
        near = Fraction(first * (1 - share) + last * share)
    return min(max(near, low), high)


def box(tried: Sequence[Point]) -> dict[str, tuple[Fraction, Fraction]]:
    """Find the smallest and the largest value of each parameter left open, by its name."""
    return {
        name: (min(point[name] for point in tried), max(point[name] for point in tried))
        for name in (tried[0] if tried else {})
    }


def few_of(tried: list[Point], count: int) -> list[Point]:
    """Choose about `count` of the samples, and more if that takes: their box is the box of all."""
    ends = [pick(tried, key=itemgetter(name)) for name in box(tried) for pick in (min, max)]
    thinned = [*ends, *tried[:: 1 + len(tried) // count]][: max(count, len(ends))]
    return [point for k, point in enumerate(thinned) if point not in thinned[:k]]


def _usual(m: Node, symbol: sympy.Symbol) -> tuple[Fraction, ...]:
    """Choose usual values for a symbol, by the first parameter that it stands in."""
    for node in m.walk():
        for name, value in node.parameters().items():
            if isinstance(value, sympy.Expr) and symbol in value.free_symbols:
                return _BOXES.get(name, _USUAL_BOX)
    return _USUAL_BOX


def substituted(m: Node, arguments: Mapping[sympy.Symbol, str], point: Point) -> Node:
    """Put numbers for the parameters left open into the node; its errors where it cannot be."""
    return m.subs({symbol: point[name] for symbol, name in arguments.items()}) if point else m


def measured(
    m: Node,
    by: By,
    arguments: Mapping[sympy.Symbol, str],
    epsilon: Epsilon,
    tried: list[Point],
    alphas: list[Order],
    accuracy: Fraction,
) -> Measured:
    """Measure the error of `epsilon` at the orders `alphas`, and at more of them near the worst.

    Every order is asked at some sample, and every sample at twelve orders or more. Raises
    PrecisionError where a relative error is above `accuracy`, or code answers where there is no
    value or does not answer where there is one; DomainError without samples or values.
    """
    if not tried:
        raise DomainError(
            "code: found no values of the open parameters at which the expression is defined",
            remedy="pass some, such as at={'sigma': [1, 5]}",
        )
    comparison = _Comparison(by, epsilon, accuracy)
    nodes = [(point, substituted(m, arguments, point)) for point in tried]
    rounds = -(-len(nodes) * 12 // len(alphas))  # at least twelve orders for each sample
    pairs = list(zip(alphas * max(rounds, 1), itertools.cycle(nodes), strict=False))
    with progress("comparing with certified values", len(pairs)) as advance:
        for alpha, (point, node) in pairs:
            comparison.compare(alpha, point, node)
            advance(1)
    last = max(alpha for alpha in alphas if alpha != INFINITY)
    for _ in range(_REFINEMENTS):
        comparison.compare_around(last)
    if not comparison.values:
        raise DomainError(
            f"code: found no order at which the expression has a value, needed one in [1, {last}]"
        )
    worst = comparison.worst
    return Measured(worst[0], worst[1], comparison.values, tuple(tried), comparison.claims)


class _Comparison:
    """The largest error so far, and where it was.

    A value to be compared is asked to `_SPARE_DIGITS` digits more than `accuracy`.
    """

    def __init__(self, by: By, epsilon: Epsilon, accuracy: Fraction) -> None:
        digits = _SPARE_DIGITS + max(1, math.ceil(-math.log10(accuracy)))
        self.accountant = FormulaAccountant(digits)
        self.by = by
        self.epsilon = epsilon
        self.accuracy = accuracy
        self.worst: tuple[Fraction, Order, Point, Node | None] = (Fraction(0), 1, {}, None)
        self.values = 0
        self.claims: dict[str, Claim] = {}

    def compare(self, alpha: Order, point: Point, node: Node) -> None:
        """Compare one order; PrecisionError where the code is too far off.

        An order at which no certified value has the digits is passed over.
        """
        value = self.epsilon(alpha, point)
        try:
            certain: Enclosure = self.accountant.rdp(node, alpha, by=self.by)
        except PrecisionError:
            return
        except SymacctError as none:
            if value == value:
                raise _wrong(alpha, point, f"the value {value}, needed none: {none}") from None
            return
        if not certain.certified and certain.claim.certified:
            return
        error = relative_error(value, certain)
        if error is None or error > self.accuracy:
            fault = _fault(error, self.accuracy)
            raise _wrong(alpha, point, f"{value}, certified is {certain}{fault}")
        self.claims[order_kind(alpha)] = certain.claim
        self.values += 1
        if error > self.worst[0] or self.worst[3] is None:
            self.worst = error, alpha, point, node

    def compare_around(self, last: Order) -> None:
        """Compare orders near the worst one, at its sample.

        Where a sum passes from one peak to another, errors peak.
        """
        _, alpha, point, node = self.worst
        if node is None or alpha == INFINITY:
            return
        for step in _NEIGHBOURS:
            for near in (alpha - step, alpha + step):
                if 1 <= near <= last:
                    self.compare(int(near) if near == int(near) else near, point, node)


def relative_error(value: Value, certain: Enclosure) -> Fraction | None:
    """Bound |value − ε|/ε from above, exactly; None where one is infinite or NaN and not the other.

    None also stands for a value other than 0 where ε may be 0.
    """
    if certain.lower == INFINITY or value != value or abs(value) == INFINITY:
        return Fraction(0) if value == INFINITY == certain.lower else None
    low, high, computed = (_fraction(x) for x in (certain.lower, certain.upper, value))
    error = max(abs(computed - low), abs(computed - high))
    return error / low if low else (None if error else Fraction(0))


def _fraction(x: Value) -> Fraction:
    """Return a finite float or mpf exactly."""
    return Fraction(x) if isinstance(x, float) else to_fraction(x)


def _wrong(alpha: Order, point: Point, finding: str) -> PrecisionError:
    """Make the error of code that is wrong at an order and these values of the parameters."""
    values = "".join(f", {name} = {value}" for name, value in point.items())
    return PrecisionError(f"code at order {alpha}{values}: found {finding}")


def _fault(error: Fraction | None, needed: Fraction) -> str:
    """Say how far off the code is, for its error; None is an answer of the wrong sort."""
    if error is None:
        return "; symacct gives no code with such an answer"
    return (
        f", a relative error of {float(error):.1e}, needed at most {float(needed):.1e}; take a "
        "lower max_order, a larger accuracy=, or the target mpmath"
    )
