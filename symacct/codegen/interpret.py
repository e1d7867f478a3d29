"""A program run as it stands, unprinted, by the very functions that go into its text."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from symacct.codegen import ir
from symacct.codegen.constants import FloatProgram
from symacct.codegen.runtime import digits, plain
from symacct.codegen.trace import Program
from symacct.kernel.arithmetic import Number
from symacct.kernel.exact import Exact

Names = dict[str, Number]
Compiled = Callable[[Names], Number]

_MOST_VALUES = 10**6  # remembered

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
}
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Machine:
    """Runs a program in one sort of numbers, those of a runtime module."""

    runtime: Any

    def __init__(self, program: Program, constants: Mapping[str, Exact | float]) -> None:
        self.program = program
        self.constants = constants
        self._compiled: dict[ir.Expr, Compiled] = {}
        self._values: dict[tuple[object, ...], Number] = {}
        self._given: Names = {}

    def epsilon(self, alpha: Number, given: Mapping[str, Exact | float]) -> Number:
        """ε at an order, for these values of the parameters left open; NaN for no answer."""
        named = {**self.constants, **{k: self.number(v) for k, v in given.items()}}
        if named != self._given or len(self._values) > _MOST_VALUES:
            self._values.clear()
            self._given = named
        for condition in self.program.conditions:
            if not self.compiled(condition)(self._given):
                return self.number(math.nan)
        return self.call(self.program.main, self.number(alpha))

    def call(self, name: str, alpha: Number) -> Number:
        """A function of the program at an order, remembered."""
        key = self.question(name, alpha)
        if key not in self._values:
            kind = order_kind(alpha)
            case = self.program.functions[name].cases.get(kind)
            value = self.number(math.nan)
            if case is not None:
                value = self.compiled(case)({**self._given, "alpha": alpha})
            self._values[key] = value
        return self._values[key]

    def question(self, name: str, alpha: Number) -> tuple[object, ...]:
        """What the value of a call depends on."""
        return name, alpha

    def compiled(self, e: ir.Expr) -> Compiled:
        """The expression as a function of the values of its names."""
        if e not in self._compiled:
            self._compiled[e] = self._compile(e)
        return self._compiled[e]

    def number(self, value: Exact | float) -> Number:
        """A number of this machine."""
        raise NotImplementedError

    def entry(self, table: str, index: Number) -> Number:
        """An entry of a table."""
        raise NotImplementedError

    def sum(self, e: ir.RatioSum) -> Compiled:
        """The loop of a sum."""
        raise NotImplementedError

    def _compile(self, e: ir.Expr) -> Compiled:
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
        """What only some machines know."""
        raise TypeError(f"no {type(e).__name__} here")

    def _operation(self, e: ir.Op) -> Compiled:
        function = _OPERATORS.get(e.name) or getattr(self.runtime, e.name)
        arguments = [self.compiled(part) for part in e.args]
        if len(arguments) == 1:
            (only,) = arguments
            return lambda names: function(only(names))
        if len(arguments) == 2:
            left, right = arguments
            return lambda names: function(left(names), right(names))
        return lambda names: function(*(part(names) for part in arguments))


class FloatMachine(Machine):
    """float64, as the Python target computes."""

    runtime = plain

    def __init__(self, program: FloatProgram) -> None:
        super().__init__(program.program, {k: value for k, (value, _) in program.constants.items()})
        self.tables = program.tables

    def number(self, value: Exact | float) -> float:
        return float(value)

    def entry(self, table: str, index: float) -> float:
        return self.tables[table][int(index)]

    def sum(self, e: ir.RatioSum) -> Compiled:
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
    """Numbers of mpmath at `bits` bits, as the mpmath target computes at that precision."""

    runtime = digits

    def __init__(self, program: Program) -> None:
        super().__init__(program, {})

    def number(self, value: Exact | float) -> Number:
        if isinstance(value, float):
            return digits.mp.mpf(value)
        value = Fraction(value)
        return digits.mp.mpf(value.numerator) / value.denominator

    def _compile(self, e: ir.Expr) -> Compiled:
        if isinstance(e, ir.Num):  # at the precision of the moment, which differences raise
            return lambda names: self.number(e.value)
        if e == ir.Op("pi", ()):
            return lambda names: +digits.mp.pi
        return super()._compile(e)

    def question(self, name: str, alpha: Number) -> tuple[object, ...]:
        return name, alpha, digits.mp.prec

    def entry(self, table: str, index: Number) -> Number:
        return self.compiled(self.program.tables[table][int(index)])(self._given)

    def sum(self, e: ir.RatioSum) -> Compiled:
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
        if isinstance(e, ir.Difference):
            order = self.compiled(e.order)

            def curve(i: Number, *given: Number) -> Number:
                return self.call(e.function, i)

            def difference(names: Names) -> Number:
                given = tuple(value for _, value in sorted(self._given.items()))
                return self.runtime.log_difference(curve, given, order(names))

            return difference
        assert isinstance(e, ir.UnitIntegral)  # noqa: S101  # there are only these two
        pieces, log_term = self.compiled(e.pieces), self.compiled(e.log_term)
        return lambda names: self.runtime.log_integral(
            lambda z: log_term({**names, e.index.name: z}), pieces(names)
        )


def order_kind(alpha: Number) -> str:
    """The class of orders that decides which case of a function answers."""
    if alpha == 1:
        return "one"
    if alpha == math.inf:
        return "infinite"
    if alpha == math.floor(alpha):
        return "whole"
    return "below_two" if alpha < 2 else "above_two"
