"""What the printers share: few brackets, temporaries for what occurs twice, headers, tables."""

from __future__ import annotations

import ast
import functools
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING
from fractions import Fraction
from importlib import resources
from typing import Any, ClassVar

from symacct.codegen import ir
from symacct.codegen.constants import FloatProgram
from symacct.codegen.ir import Compare
from symacct.codegen.measure import Measured, box
from symacct.codegen.trace import CLASSES, IN_WORDS, Function, Program
from symacct.kernel.claims import Kind
from symacct.kernel.errors import divided

#: Text that is written binds so tightly: it is put in brackets where more is needed. The meaning of
#: the text rests on their order.
SUM, PRODUCT, UNARY, ATOM = 1, 2, 3, 4
#: These operations are written by a sign between their arguments.
INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
INDENT = "    "  # a level of the code that is written

#: One formula may serve these classes of orders together, by the name of their union.
_UNIONS = {("whole", "below_two", "above_two"): "finite", ("below_two", "above_two"): "fractional"}

#: Each tests whether an order is of a class; those that remain do so once the classes before it
#: are dealt with, where every class has a formula.
TESTS = {
    "one": "alpha == 1.0",
    "infinite": "alpha == {inf}",
    "whole": "alpha >= 2.0 and alpha < {inf} and alpha == floor(alpha)",
    "below_two": "alpha > 1.0 and alpha < 2.0",
    "above_two": "alpha > 2.0 and alpha < {inf} and alpha != floor(alpha)",
    "finite": "alpha > 1.0 and alpha < {inf}",
    "fractional": "alpha > 1.0 and alpha < {inf} and alpha != floor(alpha)",
}
#: The tests of orders in the code, where those before them have failed.
REMAINING_TESTS = {**TESTS, "whole": "alpha == floor(alpha)", "below_two": "alpha < 2.0"}


@dataclass
class Scope:
    """The function that is being written: its temporaries by expression, and its lines so far."""

    names: dict[ir.Expr, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class Writer:
    """A target: writes a program in the one language that its class knows."""

    #: Users call the target by this name.
    name: ClassVar[str]
    #: The header calls the language by this.
    language: ClassVar[str]
    #: Code answers up to this order where the user names none.
    usual_order: ClassVar[int] = 256
    #: Is its precision known only when the code runs?
    digits: ClassVar[bool] = False
    #: No argument may be named by one of these words.
    words: ClassVar[str] = ""
    infix: ClassVar[dict[str, tuple[str, int]]] = INFIX
    #: It writes "and", a choice and an entry of a table like this.
    both = " and "
    choice = "({then} if {condition} else {other})"
    entry = "{table}[int({index})]"
    #: These functions of the runtime have a name in the language; others keep theirs.
    functions: ClassVar[dict[str, str]] = {}
    #: NaN stands for no answer.
    nan = "nan"
    infinity = "inf"

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arguments = sorted(program.arguments.values())
        self.used: set[str] = set()  # functions of the runtime
        self.helpers: list[str] = []  # the text of sums
        self._loops: dict[ir.Expr, str] = {}

    @classmethod
    def document(cls, program: Any, facts: Any) -> str:
        """Write the whole text: header, runtime, curves, the answer."""
        raise NotImplementedError

    # --- expressions

    def text(self, e: ir.Expr, scope: Scope, level: int = 0) -> str:
        """Write the expression, in brackets where it binds less than `level`, or its temporary."""
        if e in scope.names:
            return scope.names[e]
        written, binding = self._written(e, scope)
        return f"({written})" if binding < level else written

    def _written(self, e: ir.Expr, scope: Scope) -> tuple[str, int]:
        """Write the expression by its sort, and return how tightly the text binds."""
        if isinstance(e, ir.Num):
            return self.number(e.value)
        if isinstance(e, ir.Var):
            return e.name, ATOM
        if isinstance(e, ir.Op):
            return self.operation(e, scope)
        if isinstance(e, ir.If):
            return self.choice.format(
                condition=self.compared(e.condition, scope),
                then=self.text(e.then, scope),
                other=self.text(e.other, scope),
            ), ATOM
        if isinstance(e, ir.Call):
            return self.call(e.function, [self.text(e.order, scope), *self.arguments]), ATOM
        if isinstance(e, ir.TableEntry):
            return self.entry.format(table=e.table, index=self.text(e.index, scope)), ATOM
        if isinstance(e, ir.Difference):
            return self.difference(e, scope), ATOM
        assert isinstance(e, ir.RatioSum | ir.UnitIntegral)  # noqa: S101  # Compare stands in an If only
        name = self._loop(e)
        return self.call(name, self.parameters(e)), ATOM

    def operation(self, e: ir.Op, scope: Scope) -> tuple[str, int]:
        """Write an operator or a function with its arguments."""
        if e.name in self.infix:
            sign, level = self.infix[e.name]
            left, right = self.text(e.args[0], scope, level), self.text(e.args[1], scope, level + 1)
            return f"{left} {sign} {right}", level
        if e.name == "neg":
            return f"-{self.text(e.args[0], scope, UNARY)}", UNARY
        return self.function(e.name, [self.text(part, scope) for part in e.args])

    def function(self, name: str, arguments: list[str]) -> tuple[str, int]:
        """Write a call of a runtime function, whose text then goes into the code."""
        self.used.add(name)
        return self.call(self.functions.get(name, name), arguments), ATOM

    def call(self, name: str, arguments: Iterable[str]) -> str:
        """Write a function with its arguments."""
        return f"{name}({', '.join(arguments)})"

    def number(self, value: Fraction | float) -> tuple[str, int]:
        """Write the literal of the nearest float64, NaN and ∞ among them, and how it binds."""
        value = float(value)
        if math.isnan(value):
            return self.nan, ATOM
        if math.isinf(value):
            return (self.infinity, ATOM) if value > 0 else (f"-{self.infinity}", UNARY)
        return repr(value), ATOM if value >= 0 else UNARY

    def compared(self, e: ir.Compare, scope: Scope) -> str:
        """Write a condition."""
        return f"{self.text(e.left, scope, 1)} {e.sign} {self.text(e.right, scope, 1)}"

    def difference(self, e: ir.Difference, scope: Scope) -> str:
        """Write a forward difference of a curve; TypeError for float64, which has a table."""
        raise TypeError("no forward differences in float64")

    # --- temporaries

    def shared(self, roots: list[ir.Expr], scope: Scope) -> None:
        """Write a temporary for whatever costs something and occurs more than once in the roots."""
        counts: Counter[ir.Expr] = Counter()
        order: dict[ir.Expr, None] = {}
        for root in roots:
            self._count(root, counts, order)
        for e in order:
            if counts[e] > 1 and _is_costly(e) and e not in scope.names:
                self.temporary(e, scope)

    def _count(self, e: ir.Expr, counts: Counter[ir.Expr], order: dict[ir.Expr, None]) -> None:
        """Count what occurs, parts before wholes; a sum's inside is a function of its own."""
        counts[e] += 1
        if counts[e] == 1:
            for part in _parts_here(e):
                self._count(part, counts, order)
        order.setdefault(e)

    def temporary(self, e: ir.Expr, scope: Scope) -> str:
        """Write a new local variable for the expression, and return its name."""
        text = self.text(e, scope)
        name = f"t_{len(scope.names) + 1}"
        scope.lines.append(self.assignment(name, text))
        scope.names[e] = name
        return name

    def assignment(self, name: str, text: str) -> str:
        """Write the statement that makes a local variable."""
        return f"{name} = {text}"

    # --- sums

    def _loop(self, e: ir.RatioSum | ir.UnitIntegral) -> str:
        """Name the function of a sum or an integral, which is written once."""
        name = self._loops.get(e)
        if name is None:
            name = self._loops[e] = f"sum_{len(self._loops) + 1}"
            text = (
                self.quadrature(name, e) if isinstance(e, ir.UnitIntegral) else self._sum(name, e)
            )
            self.helpers.append(text)
        return name

    def _sum(self, name: str, e: ir.RatioSum) -> str:
        """Write a sum as a function: first what is fixed, then a loop over terms and ratios."""
        inside = [e.log_term, *([e.ratio] if e.ratio is not None else [])]
        scope = Scope()
        for part in inside:
            for fixed in _fixed(part, e.index.name):
                if fixed not in scope.names:
                    self.temporary(fixed, scope)
        first, last = self.text(e.first, scope), self.text(e.last, scope)
        before, scope.lines = scope.lines, []
        ratio_scope = replace(scope, names=dict(scope.names), lines=[])
        self.shared([e.log_term], scope)
        log_term = self.text(e.log_term, scope)
        ratio = None if e.ratio is None else self.text(e.ratio, ratio_scope)
        loop = Loop(e.index.name, first, last, before, scope.lines, log_term, ratio)
        return self.loop(name, self.parameters(e), loop)

    def parameters(self, e: ir.Expr) -> list[str]:
        """List the variables that a sum's function takes: constants are known everywhere."""
        # Where another curve is called, the open parameters.
        calls = any(isinstance(part, ir.Call | ir.Difference) for part in ir.walk(e))
        known = ir.variables(e).union(self.arguments if calls else ())
        return sorted(n for n in known if not n.startswith("c_"))

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        """Write the function of a sum, which returns its logarithm."""
        raise NotImplementedError

    def quadrature(self, name: str, e: ir.UnitIntegral) -> str:
        """Write the function of an integral; TypeError for float64, which has sums."""
        raise TypeError("float64 integrates by sums")

    # --- functions of curves

    def curves(self) -> list[str]:
        """Write the functions of all curves, each after those that it calls."""
        return [self.curve(f) for f in reversed(self.program.functions.values())]

    def curve(self, function: Function) -> str:
        """Write the function of one curve."""
        raise NotImplementedError

    def cases(self, function: Function) -> list[str]:
        """Write the statements that return a curve's value at an order of any class.

        They return NaN in a class that has no formula.
        """
        complete = len(function.cases) == len(CLASSES)
        tests = REMAINING_TESTS if complete else TESTS
        *most, last = alternatives = branches(function)
        lines = []
        for kind, e in most if complete else alternatives:
            lines += self.block(f"if {self.test(tests[kind])}", self.body(e))
        return lines + self.body(last[1] if complete else ir.Num(math.nan))

    def test(self, text: str) -> str:
        """Write a condition on α in this language."""
        return text.format(inf=self.infinity).replace(" and ", self.both)

    def block(self, head: str, lines: list[str]) -> list[str]:
        """Indent the lines under their head."""
        return [f"{head}:", *indented(lines)]

    def body(self, e: ir.Expr) -> list[str]:
        """Write the statements that return an expression."""
        scope = Scope()
        self.shared([e], scope)
        return [*scope.lines, f"return {self.text(e, scope)}"]


@dataclass(frozen=True)
class Loop:
    """The written parts of a sum.

    `before` are statements ahead of the loop, and `inside` those in it ahead of the log-term. The
    ratio is None where all weights are 1.
    """

    index: str
    first: str
    last: str
    before: list[str]
    inside: list[str]
    log_term: str
    ratio: str | None


def branches(function: Function) -> list[tuple[str, ir.Expr]]:
    """List the classes of orders that have a formula with it, those of one formula together."""
    cases = function.cases
    alternatives: list[tuple[str, ir.Expr]] = []
    alternatives += [(kind, cases[kind]) for kind in ("one", "infinite") if kind in cases]
    rest: tuple[str, ...] = tuple(
        kind for kind in ("whole", "below_two", "above_two") if kind in cases
    )
    while rest:
        if rest in _UNIONS and len({cases[kind] for kind in rest}) == 1:
            alternatives.append((_UNIONS[rest], cases[rest[0]]))
            break
        alternatives.append((rest[0], cases[rest[0]]))
        rest = rest[1:]
    return alternatives


def one_line(text: str) -> str:
    """Take from a text what could end a comment, or run on, in any of the languages."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain.replace("/*", "/ *").replace("*/", "* /").replace("\\", "/").replace("??", "? ?")


def indented(lines: Iterable[str]) -> list[str]:
    """Indent the lines; a line may be a block of several."""
    return [INDENT + line if line else line for text in lines for line in text.split("\n")]


def _parts_here(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the parts that are computed where the expression stands: none of a sum's."""
    if not isinstance(e, ir.RatioSum | ir.UnitIntegral):
        yield from e.parts()


def _is_costly(e: ir.Expr) -> bool:
    """Is it more than a name, a number, or one sum or product of them?"""
    if isinstance(e, ir.Op):
        return e.name not in INFIX or any(isinstance(part, ir.Op) for part in e.args)
    return isinstance(e, ir.Call | ir.RatioSum | ir.UnitIntegral | ir.Difference | ir.If)


def _fixed(e: ir.Expr, index: str) -> Iterator[ir.Expr]:
    """Yield the largest costly parts in which the index does not occur."""
    if isinstance(e, ir.Compare) or index in ir.variables(e):
        for part in _parts_here(e):
            yield from _fixed(part, index)
    elif _is_costly(e):
        yield e


# --- headers, the runtime, constants
#
# The facts of the header, the parts of the runtime that are used, constants.

#: A line of the header has at most this many characters: with a comment's sign it is below 100.
#: Only the text rests on it.
_WIDTH = 96


@dataclass(frozen=True)
class Facts:
    """What the header says of a piece of code, and what its margin is.

    `margin` is a relative error as a float64 literal, empty for mpmath.
    """

    lines: tuple[str, ...]
    margin: str
    max_order: int
    kind: Kind

    @property
    def sign(self) -> str:
        """The sign of the sound side: "+" is up, and "-" is for a lower bound."""
        return "-" if self.kind is Kind.LOWER else "+"


def wrapped(label: str, text: str) -> list[str]:
    """Wrap a labelled paragraph of the header; no text can end the comment that it stands in."""
    label = f"{label:<11}: "
    return textwrap.wrap(
        one_line(text),
        _WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    ) or [label]


def evidence(measured: Measured, max_order: int, how: str) -> list[str]:
    """Say where each class of orders gets its value, in which domain and box, and its error.

    `how` says how the error was measured.
    """
    lines = []
    for kind, words in IN_WORDS.items():
        claim = measured.claims.get(kind)
        if claim is not None:
            names = ", ".join(claim.theorems) or "the mechanism's own curve"
            lines += wrapped("at", f"{words}: {claim.kind} ({claim.adjacency}), by {names}")
    lines += wrapped("domain", f"orders in [1, {max_order}] and ∞; elsewhere there is no answer")
    if any(measured.samples):
        ends = ", ".join(
            f"{name} in [{low}, {high}]" for name, (low, high) in box(measured.samples).items()
        )
        lines += wrapped("box", f"{ends}; outside it there is no answer")
    return [*lines, *wrapped("error", how)]


# --- the runtime


@functools.cache
def python_functions(name: str) -> dict[str, str]:
    """Read the functions of a Python runtime by name, in the order of its file."""
    text = _resource(name)
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


@functools.cache
def c_functions() -> dict[str, str]:
    """Read the functions of the C runtime by name, in order; a blank line ends each."""
    functions = {}
    for block in _resource("plain.c").split("\n\n"):
        match = re.search(r"^static \w+ (\w+)\(", block, re.MULTILINE)
        if match is not None:
            functions[match[1]] = block.strip()
    return functions


def _resource(name: str) -> str:
    """Read a file of the runtime."""
    files = resources.files("symacct.codegen.runtime")
    return files.joinpath(name).read_text(encoding="utf-8")


def needed(functions: dict[str, str], used: Iterable[str]) -> list[str]:
    """Return the text of the functions used and of those that they use, in order."""
    wanted, todo = set(), [name for name in used if name in functions]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += [w for w in re.findall(r"\w+", functions[name]) if w in functions]
    return [text for name, text in functions.items() if name in wanted]


# --- constants, tables, conditions


def float_constants(program: FloatProgram, line: str, remark: str) -> str:
    """Write the named constants, a line each, with a remark on what they are.

    `line` and `remark` are templates of the language. The text begins with a line's end, or is
    empty.
    """
    lines = []
    for name, (value, text) in program.constants.items():
        written = line.format(name=name, value=value)
        lines.append(written + (remark.format(text=one_line(text)) if text else ""))
    return "\n" + "\n".join(lines) if lines else ""


def float_tables(writer: Writer, program: FloatProgram, start: str, end: str) -> list[str]:
    """Write the tables of constants, each between `start`, which names it, and `end`."""
    tables = []
    for name, values in program.tables.items():
        entries = indented(f"{writer.number(value)[0]}," for value in values)
        tables.append("\n".join([start.format(name=name), *entries, end]))
    return tables


def conditions(writer: Writer, comparisons: list[Compare]) -> str:
    """Write what must hold of the parameters, each led in by the word for `and`."""
    scope = Scope()
    return "".join(f"{writer.both}{writer.compared(c, scope)}" for c in comparisons)


def joined(parts: Iterable[str]) -> str:
    """Join the parts of a Python module: two blank lines between those after the settings."""
    head, imports, settings, *rest = parts
    return "\n\n".join([head, imports, settings]) + "".join(f"\n\n\n{p}" for p in rest) + "\n"


def comment(lines: Iterable[str]) -> str:
    """Write lines of comment in Python."""
    return "\n".join(f"# {line}".rstrip() for line in lines)


def rounded_up(error: Fraction) -> str:
    """Round a number >= 0 up to a decimal of two digits."""
    return f"{divided(error, 2, ROUND_CEILING):.1e}" if error else "0.0"
