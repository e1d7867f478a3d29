"""`code`: from an expression to the text of a function, or one clear error."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from symacct.codegen.constants import FloatProgram, in_float64
from symacct.codegen.context import CodeArithmetic, DigitsArithmetic
from symacct.codegen.ir import Compare, Num, Var
from symacct.codegen.measure import (
    DigitsMachine,
    Epsilon,
    FloatMachine,
    Measured,
    Point,
    Value,
    box,
    few_of,
    measured,
    orders,
    samples,
)
from symacct.codegen.runtime import digits
from symacct.codegen.targets import TARGETS
from symacct.codegen.targets.multiprecision import GUARD_DIGITS
from symacct.codegen.trace import Program, as_typed, trace
from symacct.codegen.writer import Facts, Writer, evidence, rounded_up, wrapped
from symacct.export.description import about
from symacct.kernel import limits, parameters
from symacct.kernel.answer import nearest_float
from symacct.kernel.attached import question
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.exact import Numeric, Order, exact
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import By, positive, whole
from symacct.kernel.theorem_registry import Theorem, all_named, theorems
from symacct.results.screen import Written
from symacct.version import __version__

#: The margin stated is this many times the largest relative error found, which is no bound.
_ERRORS_A_MARGIN = 8
#: The margin is at least this relative error: other math libraries round differently, and what the
#: code says of itself rests on it there.
_SMALLEST_MARGIN = Fraction(1, 10**14)
#: float64 is measured at whole orders up to this one, see `orders`. More take longer, and may find
#: a larger error.
_DENSE = 256
#: Code for mpmath is measured at these decimal digits: as many as a float has, and many more. The
#: margin that is stated for mpmath rests on these.
_MEASURED_DIGITS = (15, 50)
#: mpmath is measured at this many times fewer orders, at each precision. It costs time: fewer
#: points may miss a larger error.
_FEWER_POINTS = 5
#: Every language takes such a name: letters, digits, and single underscores between them.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", re.ASCII)
#: A name has at most so many characters, which C99 tells apart. A longer one is replaced.
_LONGEST_NAME = 31
#: These names stand for something else in the code, so a parameter of such a name is renamed.
_INTERNAL_NAMES = re.compile(
    r"(alpha|x|last|top|total|weight|scale|value|known|mpf?|np|[a-z]+_\d+)$"
)
#: Code for mpmath is measured at about this many samples of the parameters left open, where the
#: user names none. It costs time: fewer samples may miss a larger error.
_FEW_SAMPLES = 3

#: An accuracy lies between this and its inverse, for it is written as a float64 as well. Others are
#: refused.
_TINY = Fraction(1, 10**300)


@question(Node, "code")
def code(
    m: Node,
    target: str,
    by: By = None,
    *,
    max_order: int | None = None,
    accuracy: Numeric = "1e-11",
    points: int = 100,
    at: Mapping[str | sympy.Symbol, Iterable[Numeric]] | None = None,
) -> str:
    """Write the text of a function of α, in another language, that computes ε(α) in nats.

    `target` is "numpy", "mpmath", "python" (standard library only) or "c" (C99, <math.h>). The
    function needs no other file of ours. Its error is measured against certified values, and
    its header says where and how large it was; a measured error is no bound.
    `max_order` is the largest finite order that the function answers. `accuracy` is the largest
    relative error allowed in float64. Code for mpmath is measured to 2 digits less than it has.
    `points` is the number of orders at which the error is measured, for mpmath a fifth of it and
    20 at least. There may be some more.
    `at` gives values to open symbols, such as {"sigma": [1, 5]}; outside of their range the
    function gives no answer. Raises DomainError for a curve that cannot be written, and
    PrecisionError if the error is larger than allowed.

    >>> from symacct import Gaussian
    >>> "double rdp(double alpha)" in Gaussian(5).code("c")
    True
    """
    as_node(m, "code")
    if isinstance(target, str) and target.lower() in ("cpp", "c++"):
        raise DomainError(f'target: found {target!r}, needed c: C++ calls C code as extern "C"')
    writer = TARGETS[parameters.one_of(target, "target", TARGETS)]
    last = whole(writer.usual_order if max_order is None else max_order, "max_order", least=2)
    limits.check("order", last, "max_order")
    count = whole(points, "points", least=20)
    limits.check("points", count, "points")
    needed = positive(accuracy, "accuracy")
    if not isinstance(needed, Fraction) or not _TINY < needed < 1 / _TINY:
        raise DomainError(
            f"accuracy: found {echo(accuracy)}, needed a rational number such as 1e-11"
        )
    all_named(by)  # what is no theorem's name has no hash, perhaps
    names = _names(m)
    tried = samples(m, names, _chosen(names, at))
    if writer.digits:
        few = tried if at else few_of(tried, _FEW_SAMPLES)
        return Written(_Request(m, by, names, few, last).in_digits(writer, count))
    return Written(_Request(m, by, names, tried, last).in_float64(writer, count, needed))


@dataclass(frozen=True)
class _Request:
    """The code asked for: m's curve by the theorem `by`, up to the order `last`.

    `names` are the open symbols' names in the code, and `tried` the values of these at which the
    code is measured. Equal requests share one program and one measurement in float64.
    """

    m: Node
    by: By
    names: dict[sympy.Symbol, str]
    tried: list[Point]
    last: int

    def __hash__(self) -> int:
        return hash((self.m, self.by, self.last))

    def in_float64(self, writer: type[Writer], count: int, needed: Fraction) -> str:
        """Write code in float64, measured at about `count` orders, with its margin.

        Raises PrecisionError where the error, or an eighth of the smallest margin, is above
        `needed`.
        """
        program, result = _in_float64(self, count, needed, tuple(theorems()))
        margin = max(_ERRORS_A_MARGIN * result.error, _SMALLEST_MARGIN)
        if margin > _ERRORS_A_MARGIN * needed:
            raise PrecisionError(
                f"code: found a margin of {float(margin):.1e}, needed {float(needed):.1e}"
            )
        stated = rounded_up(margin)
        how = (
            f"{stated} is the margin, measured and no bound: the largest relative error of "
            f"{result.values} values{_of_box(result)} was {rounded_up(result.error)}, at "
            f"order {float(result.order):.7g}, by the same operations in Python's float64 "
            f"against certified enclosures; the margin is {_ERRORS_A_MARGIN} times that and at "
            f"least {float(_SMALLEST_MARGIN):.0e}, because other math libraries round differently"
        )
        facts = self.facts(writer.language, program.program, result, stated, how)
        return writer.document(program, facts)

    def in_digits(self, writer: type[Writer], count: int) -> str:
        """Write code for mpmath, measured at a few precisions to 10^(2 − digits).

        Raises PrecisionError where the error is larger.
        """
        program = self.traced(DigitsArithmetic)
        machine = DigitsMachine(program)
        alphas = orders(max(20, count // _FEWER_POINTS), self.last)
        for dps in _MEASURED_DIGITS:

            def epsilon(alpha: Order, point: Point, dps: int = dps) -> Value:
                with digits.mp.workdps(dps + GUARD_DIGITS):
                    value = machine.epsilon(alpha, point)
                with digits.mp.workdps(dps):
                    return +value

            with digits.alone():
                result = self.measured(epsilon, alphas, Fraction(1, 10 ** (dps - 2)))
        how = (
            f"10^(2-dps) is the margin, measured and no bound: no relative error of "
            f"{result.values} values{_of_box(result)} was larger, with "
            f"{', '.join(map(str, _MEASURED_DIGITS))} digits each, by the same operations against "
            "certified enclosures"
        )
        return writer.document(program, self.facts(writer.language, program, result, "", how))

    def traced(self, arithmetic: type[CodeArithmetic]) -> Program:
        """Trace the program, which has no answer outside the box of parameters measured."""
        program = trace(self.m, self.by, self.names, arithmetic, self.last)
        for name, ends in box(self.tried).items():
            low, high = map(Num, ends)
            program.conditions += [Compare(">=", Var(name), low), Compare("<=", Var(name), high)]
        return program

    def measured(self, epsilon: Epsilon, alphas: list[Order], accuracy: Fraction) -> Measured:
        """Measure the code's error at the orders; PrecisionError above `accuracy`."""
        return measured(self.m, self.by, self.names, epsilon, self.tried, alphas, accuracy)

    def facts(
        self, language: str, program: Program, result: Measured, margin: str, how: str
    ) -> Facts:
        """Collect what the header says; `margin` is a literal, `how` says how it was measured."""
        m, text = self.m, repr(self.m)
        leaves = [node for node in m.walk() if not node.children and node.claim.sources]
        labelled = [
            ("made by", f"symacct {__version__}"),
            ("expression", as_typed(m)),
            ("sha256", hashlib.sha256(text.encode()).hexdigest()),
            ("kind", f"{result.kind}: {_KINDS[str(result.kind)]}"),
            ("adjacency", about(m)),
            *([("pinned", f"by={theorem.name}") for theorem in all_named(self.by)]),
            *(("theorem", _cited(theorem)) for theorem in program.theorems),
            *(
                ("mechanism", leaf)
                for leaf in sorted(f"{as_typed(n)} ({n.claim.sources[0]})" for n in leaves)
            ),
            *(
                ("argument", f"{n}: the symbol {s}, > 0 and in the box")
                for s, n in self.names.items()
            ),
        ]
        lines = [
            f"Renyi differential privacy curve epsilon(alpha), in nats, for {language}.",
            *(line for label, words in labelled for line in wrapped(label, words)),
            *evidence(result, self.last, how),
        ]
        return Facts(tuple(lines), margin, self.last, result.kind)


@lru_cache(8)
def _in_float64(
    request: _Request, count: int, needed: Fraction, known: tuple[Theorem, ...]
) -> tuple[FloatProgram, Measured]:
    """Make the program in float64 and measure its error, once for every language.

    `known` is part of the key: with other theorems registered another one may be the best.
    """
    program = in_float64(request.traced(CodeArithmetic))
    machine = FloatMachine(program)

    def epsilon(alpha: Order, point: Point) -> Value:
        return machine.epsilon(float(alpha), point)

    return program, request.measured(epsilon, orders(count, request.last, _DENSE), needed)


def _of_box(result: Measured) -> str:
    """Say at how many points of the box the code was measured; empty without open parameters."""
    return f" at {len(result.samples)} points of the box" if any(result.samples) else ""


#: The header says of each kind what its numbers are.
_KINDS = {
    "exact": "the supremum over everything that fits the description",
    "upper": "an upper bound at some order at least, exact or upper at the others",
    "lower": "a LOWER bound: it guarantees nothing",
    "neither": "REFUTED: it is no bound",
}


def _cited(theorem: Theorem) -> str:
    """Name a theorem with its source, its statement and what it assumes, for the header."""
    statement = " ".join(theorem.statement.split())
    return f"{theorem.name} ({theorem.source}): {statement}. Assumes {theorem.assumes}."


def _names(m: Node) -> dict[sympy.Symbol, str]:
    """Name every open parameter in the code: its own name, if every language takes it.

    Another one is arg_1, arg_2 and so on, by its place among the sorted symbols.
    """
    names: dict[sympy.Symbol, str] = {}
    reserved = {word for target in TARGETS.values() for word in target.words.split()}
    for symbol in sorted(m.free_symbols, key=lambda s: (s.name, repr(s))):
        name = symbol.name
        taken = _INTERNAL_NAMES.match(name) or name in reserved or name in names.values()
        if taken or not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            name = f"arg_{len(names) + 1}"
        names[symbol] = name
    return names


def _chosen(
    names: Mapping[sympy.Symbol, str], at: Mapping[str | sympy.Symbol, Iterable[Numeric]] | None
) -> dict[str, tuple[Fraction, ...]]:
    """Return the user's sample values by the argument's name, rounded to the nearest float64.

    The code is measured at these floats. Raises DomainError for a symbol that is not open, for what
    is no list of rational numbers, and for a number that is beyond the range of float64.
    """
    known: dict[Any, str] = {**names, **{s.name: n for s, n in names.items()}}
    chosen = {}
    for key, listed in parameters.mapping(at, "at", "{'sigma': [1, 5]}").items():
        values = parameters.members(listed, f"at[{echo(key)}]", "[1, 5]")
        if not isinstance(key, str | sympy.Symbol) or key not in known:
            names_left_open = ", ".join(s.name for s in names) or "none is open"
            raise DomainError(
                f"at: found {echo(key)}, needed one of the open parameters: {names_left_open}"
            )
        numbers = tuple(exact(value, f"at[{echo(key)}]") for value in values)
        if not numbers or not all(isinstance(number, Fraction) for number in numbers):
            raise DomainError(
                f"at[{echo(key)}]: found {echo(values)}, needed a list of rational numbers"
            )
        name = f"at[{echo(key)}]"
        floats = [nearest_float(number) for number in numbers]
        for near, number in zip(floats, numbers, strict=True):
            if not math.isfinite(near) or (near == 0) is not (number == 0):
                found = f"{name}: found {echo(number)}"
                raise DomainError(f"{found}, needed numbers that float64 has room for")
        chosen[known[key]] = tuple(map(Fraction, floats))
    return chosen
