"""What the texts of all targets share: the facts of the header, parts of the runtime, constants."""

from __future__ import annotations

import ast
import functools
import math
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

from symacct.codegen.constants import FloatProgram
from symacct.codegen.ir import Compare
from symacct.codegen.measure import Measured, box
from symacct.codegen.trace import IN_WORDS
from symacct.codegen.writer import Scope, Writer, indented, one_line
from symacct.kernel.claims import Kind

_WIDTH = 96


@dataclass(frozen=True)
class Facts:
    """What the header says of a piece of code."""

    lines: tuple[str, ...]
    margin: str
    max_order: int
    kind: Kind

    @property
    def sign(self) -> str:
        """The sound side: up, unless the curve is a lower bound."""
        return "-" if self.kind is Kind.LOWER else "+"


def wrapped(label: str, text: str) -> list[str]:
    """A labelled paragraph of the header; no text can end the comment that it stands in."""
    label = f"{label:<11}: "
    return textwrap.wrap(
        one_line(text),
        _WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    ) or [label]


def evidence(measured: Measured, max_order: int, how: str) -> list[str]:
    """Where each class of orders gets its value, and how large the error was."""
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
    """The functions of a Python runtime by name, in order."""
    text = _resource(name)
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


@functools.cache
def c_functions() -> dict[str, str]:
    """The functions of the C runtime by name, in order; a blank line ends each."""
    found = {}
    for block in _resource("plain.c").split("\n\n"):
        match = re.search(r"^static \w+ (\w+)\(", block, re.MULTILINE)
        if match is not None:
            found[match[1]] = block.strip()
    return found


def _resource(name: str) -> str:
    files = resources.files("symacct.codegen.runtime")
    return files.joinpath(name).read_text(encoding="utf-8")


def needed(functions: dict[str, str], used: Iterable[str]) -> list[str]:
    """The text of the functions used and of those that they use, in order."""
    wanted, todo = set(), [name for name in used if name in functions]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += [w for w in re.findall(r"\w+", functions[name]) if w in functions]
    return [text for name, text in functions.items() if name in wanted]


# --- constants, tables, conditions


def float_constants(program: FloatProgram, line: str, remark: str) -> str:
    """The named constants, a line each, with a remark on what they are."""
    lines = []
    for name, (value, text) in program.constants.items():
        written = line.format(name=name, value=value)
        lines.append(written + (remark.format(text=one_line(text)) if text else ""))
    return "\n" + "\n".join(lines) if lines else ""


def float_tables(writer: Writer, program: FloatProgram, start: str, end: str) -> list[str]:
    """The tables of constants, each between `start`, which names it, and `end`."""
    tables = []
    for name, values in program.tables.items():
        entries = indented(f"{writer.number(value)[0]}," for value in values)
        tables.append("\n".join([start.format(name=name), *entries, end]))
    return tables


def conditions(writer: Writer, given: list[Compare]) -> str:
    """What must hold of the parameters, each led in by the word for `and`."""
    scope = Scope()
    return "".join(f"{writer.both}{writer.compared(c, scope)}" for c in given)


def joined(parts: Iterable[str]) -> str:
    """A module of Python: two blank lines between its parts after the settings."""
    head, imports, settings, *rest = parts
    return "\n\n".join([head, imports, settings]) + "".join(f"\n\n\n{p}" for p in rest) + "\n"


def comment(lines: Iterable[str]) -> str:
    """Lines of comment in Python."""
    return "\n".join(f"# {line}".rstrip() for line in lines)


def rounded_up(error: Fraction) -> str:
    """A decimal of two digits that is not below the number."""
    if error == 0:
        return "0.0"
    exponent = math.floor(math.log10(error)) - 1
    digits = math.ceil(error / Fraction(10) ** exponent)
    return f"{digits / 10}e{exponent + 1}" if digits < 100 else f"1.0e{exponent + 2}"
