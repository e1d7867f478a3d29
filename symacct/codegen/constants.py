"""Constants for float64: every part of a program that is known at generation, correctly rounded."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.codegen.ir import OPERATORS, Expr, Num, Op, Var, is_constant
from symacct.codegen.trace import Program
from symacct.kernel import limits
from symacct.kernel.answer import nearest_float
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, ends_of, precision, rational
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import text

#: A constant is first asked for at this many bits, which double until both ends round to one float.
#: It costs time alone.
_FIRST_BITS = 128
#: The comment beside a constant has its formula if that has at most this many characters. Only the
#: comment rests on it.
_LONGEST_TEXT = 60


@dataclass
class FloatProgram:
    """A program whose numbers are all float64.

    `constants` has, by name, the value of each constant that its formula does not show, and that
    formula for a comment, which is empty where it is long. `tables` has the tables' entries.
    """

    program: Program
    constants: dict[str, tuple[float, str]]
    tables: dict[str, tuple[float, ...]]


class _Rounder:
    """Replaces the largest constant parts of expressions by literals and named constants."""

    def __init__(self) -> None:
        self.constants: dict[str, tuple[float, str]] = {}
        self._names: dict[Expr, str] = {}

    def __call__(self, e: Expr) -> Expr:
        """Rebuild the expression with its constant parts rounded."""
        if is_constant(e):
            return self._constant(e)
        if isinstance(e, Op) and e.name == "ratio" and is_constant(e.args[1]):
            e = Op("div", e.args) if rounded(e.args[1]) else e
        changes: dict[str, Any] = {}
        for field in fields(e):  # type: ignore[arg-type]
            value = getattr(e, field.name)
            if isinstance(value, tuple):
                changes[field.name] = tuple(map(self, value))
            elif isinstance(value, Expr):
                changes[field.name] = self(value)
        return replace(e, **changes) if changes else e  # type: ignore[type-var]

    def _constant(self, e: Expr) -> Expr:
        """Return a float64 literal where the constant is one, or ±∞ or NaN; else a named constant.

        A named one is correctly rounded.
        """
        value = rounded(e)
        if not math.isfinite(value) or (isinstance(e, Num) and e.value == value):
            return Num(value)
        if e not in self._names:
            name = self._names[e] = f"c_{len(self._names) + 1}"
            words = in_words(e)
            self.constants[name] = value, words if len(words) <= _LONGEST_TEXT else ""
        return Var(self._names[e])


def in_float64(program: Program) -> FloatProgram:
    """Round the constants of a program, its conditions and its tables to float64.

    Raises PrecisionError for a constant that is not decided within the limit on bits.
    """
    rounder = _Rounder()
    functions = {
        name: replace(f, cases={kind: rounder(e) for kind, e in f.cases.items()})
        for name, f in program.functions.items()
    }
    conditions: list[Any] = [rounder(condition) for condition in program.conditions]
    tables = {name: tuple(map(rounded, entries)) for name, entries in program.tables.items()}
    settled = replace(program, functions=functions, conditions=conditions)
    return FloatProgram(settled, rounder.constants, tables)


@functools.lru_cache(maxsize=4096)
def rounded(e: Expr) -> float:
    """Round a constant to the nearest float64: its ball is narrowed until both ends round to one.

    It is ±∞ where the constant is. Raises PrecisionError within the limit on bits.
    """
    if isinstance(e, Num):
        return nearest_float(e.value)
    for bits in doubled(_FIRST_BITS):
        with precision(bits):
            ball = certain(e)
            if ball.is_finite():
                low, high = (nearest_float(rational(end)) for end in ends_of(ball))
                if low == high:
                    return low
            elif ball == arb("inf") or ball == arb("-inf"):
                return math.inf if ball > 0 else -math.inf
    raise PrecisionError(
        f"code: the constant {in_words(e)[:_LONGEST_TEXT]} is not decided to float64 within "
        f"{limits.current().bits} bits",
        remedy="raise the limit bits",
    )


def certain(e: Expr) -> arb:
    """Enclose a constant in a ball at the current precision."""
    if isinstance(e, Num):
        if e.value == -math.inf:
            return arb("-inf")
        return arb(BALL.number(e.value))
    assert isinstance(e, Op)  # noqa: S101  # constants are numbers and functions of them
    return _BALLS[e.name](*map(certain, e.args))


def _log(x: arb) -> arb:
    """Compute log x, which is −∞ at exactly 0."""
    return arb("-inf") if x == 0 else x.log()


#: The functions that enclose an operation of the code in balls, by its name.
_BALLS: dict[str, Callable[..., arb]] = {
    **OPERATORS,
    "ratio": operator.truediv,
    "power": lambda x, y: x**y,
    "pi": arb.pi,
    "floor": lambda x: x.floor(),
    "exp": lambda x: x.exp(),
    "expm1": lambda x: x.expm1(),
    "log": _log,
    "log1p": lambda x: x.log1p(),
    "sqrt": lambda x: x.sqrt(),
    "lesser": lambda a, b: a.min(b),
    "greater": lambda a, b: a.max(b),
    "log_add": lambda a, b: _log(a.exp() + b.exp()),
    "log1p_exp": lambda x: x.exp().log1p(),
    "log_expm1": lambda x: _log(x.expm1()),
    "log_exp_gap": lambda x: _log(BALL.exp_gap(x)),
    "log_power_gap": lambda gamma, x, lam: _log(BALL.power_gap(gamma, x, lam)),
    "log_entropy_gap": lambda gamma, x: _log(BALL.entropy_gap(gamma, x)),
    "log_binomial": lambda n, k: _log(BALL.binomial(int(n.unique_fmpz()), int(k.unique_fmpz()))),
}

#: The signs of operations in the comment beside a constant.
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "ratio": "/"}


def in_words(e: Expr) -> str:
    """Write a constant as a person does, for a comment; it is not code."""
    if isinstance(e, Num):
        return text(e.value) if isinstance(e.value, Fraction) else str(e.value)
    assert isinstance(e, Op)  # noqa: S101  # constants are numbers and functions of them
    parts = [in_words(part) for part in e.args]
    if e.name in _SIGNS:
        return f"({parts[0]} {_SIGNS[e.name]} {parts[1]})"
    return f"-{parts[0]}" if e.name == "neg" else f"{e.name}({', '.join(parts)})"
