"""What a theorem becomes on its way to code: expressions of real numbers, sums by logarithms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

#: What every language has an operator for, by the name of the operation.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
}


class Expr:
    """An expression of real numbers, of which the program's functions are made."""

    def parts(self) -> Iterator[Expr]:
        """Yield the expressions that this one is made of, in order."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Expr):
                    yield part


@dataclass(frozen=True)
class Num(Expr):
    """An exact rational number, or a float: ±∞, or NaN for no answer."""

    value: Fraction | float


@dataclass(frozen=True)
class Var(Expr):
    """An order, a parameter left open, or the index of a sum, by its name in the code."""

    name: str


@dataclass(frozen=True)
class Op(Expr):
    """A function of the runtime, or one of `OPERATORS`, of its arguments."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Compare(Expr):
    """Whether left < right, or another of < <= > >=; only as the condition of an If."""

    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class If(Expr):
    """`then` where the condition holds, and `other` elsewhere."""

    condition: Compare
    then: Expr
    other: Expr


@dataclass(frozen=True)
class Call(Expr):
    """ε of another node at an order; parameters left open are passed on."""

    function: str
    order: Expr


@dataclass(frozen=True)
class TableEntry(Expr):
    """An entry of a table of constants, counted from 0."""

    table: str
    index: Expr


@dataclass(frozen=True)
class RatioSum(Expr):
    """log Σ_{i=first}^{last} w_i e^{log_term(i)}, with w_first = 1 and w_i = ratio(i) w_{i−1}

    Without a ratio every w_i is 1. A sum of no terms is log 0 = −∞.
    """

    index: Var
    first: Expr
    last: Expr
    ratio: Expr | None
    log_term: Expr


@dataclass(frozen=True)
class UnitIntegral(Expr):
    """log ∫_0^1 e^{log_term(z)} dz, of a function smooth on each of `pieces` equal pieces

    Code for mpmath alone has it; in float64 an integral is a sum.
    """

    index: Var
    pieces: Expr
    log_term: Expr


@dataclass(frozen=True)
class Difference(Expr):
    """log Σ_{i=0}^{l} (−1)^{l−i} C(l,i) e^{(i−1)ε(i)} at an even order l

    Code for mpmath alone has it; it is NaN where the digits do not suffice.
    """

    function: str
    order: Expr


def walk(e: Expr) -> Iterator[Expr]:
    """Yield every expression inside `e`, itself first; what occurs twice comes twice."""
    stack = [e]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(part.parts())


def variables(e: Expr) -> frozenset[str]:
    """Find the names that stand free in `e`: indices of its own sums and integrals are bound."""
    if isinstance(e, Var):
        return frozenset({e.name})
    free: frozenset[str] = frozenset().union(*(variables(part) for part in e.parts()))
    bound = {e.index.name} if isinstance(e, RatioSum | UnitIntegral) else set()
    return free - bound


def is_constant(e: Expr) -> bool:
    """Is it made of numbers and functions alone, so that its value is known at generation?"""
    if isinstance(e, Op):
        return e.name not in MEASURES and all(map(is_constant, e.args))
    return isinstance(e, Num)


#: These functions depend on the precision of the numbers, and are no constants.
MEASURES = frozenset({"log_precision"})
