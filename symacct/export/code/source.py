"""The text of generated code: what it is about, the runtime it needs, the curves, the answer."""

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
from typing import Any

from symacct.claims import Kind
from symacct.export.code.constants import FloatProgram
from symacct.export.code.ir import Compare
from symacct.export.code.measure import Measured, box
from symacct.export.code.targets import CWriter, MpmathWriter, NumpyWriter, PythonWriter
from symacct.export.code.trace import IN_WORDS, Program
from symacct.export.code.writer import Scope, Writer, indented, one_line

_WIDTH = 96


@dataclass(frozen=True)
class Facts:
    """What the header says of a piece of code."""

    lines: tuple[str, ...]
    margin: str
    max_order: int
    kind: Kind
    measured: Measured

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
def _python_functions(name: str) -> dict[str, str]:
    """The functions of a Python runtime by name, in order."""
    text = _resource(f"{name}.py")
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }


@functools.cache
def _c_functions() -> dict[str, str]:
    """The functions of the C runtime by name, each with its comment."""
    blocks = _resource("plain.c").split("\n\n")
    found = {}
    for block in blocks:
        match = re.search(r"^static \w+ (\w+)\(", block, re.MULTILINE)
        if match is not None:
            found[match[1]] = block.strip()
    return found


def _resource(name: str) -> str:
    files = resources.files("symacct.export.code.runtime")
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


# --- Python, NumPy, mpmath


def python(program: FloatProgram, facts: Facts) -> str:
    """The module for Python alone."""
    writer = PythonWriter(program.program)
    curves, tables = writer.curves(), _float_tables(writer, program, "(", ")")
    conditions = _conditions(writer, program.program.conditions, " and ")
    taken = ", ".join(["alpha", *writer.arguments])
    reads = ", ".join(["float(alpha)", *(f"float({name})" for name in writer.arguments)])
    answer = f"""def epsilon({taken}):
    \"\"\"epsilon at the Renyi order alpha, a float; ValueError outside the domain above.\"\"\"
    {taken} = {reads}
    value = math.nan
    if (1.0 <= alpha <= MAX_ORDER or alpha == math.inf){conditions}:
        value = {program.program.main}({taken})
    if value != value:
        raise ValueError(f"epsilon has no value at order {{alpha!r}}: see the domain above")
    return value"""
    parts = [
        _comment("#", facts.lines),
        "import math",
        _settings(facts) + _float_constants(program, "{name} = {value!r}", "  # {text}"),
        *tables,
        *needed(_python_functions("plain"), writer.used),
        *writer.helpers,
        *curves,
        answer,
        _side(facts, taken),
    ]
    return _joined(parts)


def numpy(program: FloatProgram, facts: Facts) -> str:
    """The module for NumPy."""
    writer = NumpyWriter(program.program)
    curves = writer.curves()
    tables = _float_tables(writer, program, "np.array([", "])")
    conditions = _conditions(writer, program.program.conditions, " and ")
    taken = ", ".join(["alpha", *writer.arguments])
    floats = "".join(f"\n    {name} = float({name})" for name in writer.arguments)
    answer = f"""def epsilon({taken}):
    \"\"\"epsilon at Renyi orders alpha, any array of them; NaN outside the domain above.\"\"\"
    alpha = np.asarray(alpha, dtype=np.float64){floats}
    known = ((alpha >= 1.0) & (alpha <= MAX_ORDER)) | (alpha == np.inf)
    if not (True{conditions}):
        known = np.zeros(alpha.shape, dtype=bool)
    with np.errstate(all="ignore"):
        return {program.program.main}({taken.replace("alpha", "np.where(known, alpha, np.nan)")})"""
    parts = [
        _comment("#", facts.lines),
        "import numpy as np",
        _settings(facts) + _float_constants(program, "{name} = {value!r}", "  # {text}"),
        *tables,
        *needed(_python_functions("vector"), writer.used),
        *writer.helpers,
        *curves,
        answer,
        _side(facts, taken),
    ]
    return _joined(parts)


def mpmath(program: Program, facts: Facts, guard: int) -> str:
    """The module for mpmath."""
    writer = MpmathWriter(program)
    curves = writer.curves()
    tables = [_lazy_table(writer, name, entries) for name, entries in program.tables.items()]
    writer.used |= {"at_precision"} if tables else set()
    conditions = _conditions(writer, program.conditions, " and ")
    taken = ", ".join(["alpha", *writer.arguments])
    reads = ", ".join(f"mp.convert({name})" for name in ["alpha", *writer.arguments])
    answer = f"""def epsilon({taken}):
    \"\"\"epsilon at the Renyi order alpha, to mp.dps digits; ValueError outside the domain.\"\"\"
    with mp.workdps(mp.dps + {guard}):
        {taken} = {reads}
        value = mp.nan
        if (1 <= alpha <= MAX_ORDER or alpha == mp.inf){conditions}:
            value = {program.main}({taken})
    if mp.isnan(value):
        raise ValueError(f"epsilon has no value at order {{alpha}}: see the domain above")
    return +value"""
    known = "known_differences, known_moments = {}, {}\n" if "log_difference" in writer.used else ""
    side = f"""def epsilon_with_margin({taken}):
    \"\"\"epsilon moved to the sound side by the margin above: measured, no bound.\"\"\"
    return epsilon({taken}) * (1 {facts.sign} mpf(10) ** (2 - mp.dps))"""
    parts = [
        _comment("#", facts.lines),
        "from mpmath import mp",
        "mpf = mp.mpf\n" + known + f"MAX_ORDER = {facts.max_order}",
        *needed(_python_functions("digits"), writer.used),
        *tables,
        *writer.helpers,
        *curves,
        answer,
        side,
    ]
    return _joined(parts)


def _lazy_table(writer: MpmathWriter, name: str, entries: tuple[Any, ...]) -> str:
    scope = Scope()
    values = [f"{writer.text(entry, scope)}," for entry in entries]
    lines = ["return (", *indented(values), ")"]
    return f"@at_precision\n{writer.define(name, [], lines)}"


def _settings(facts: Facts) -> str:
    return f"MARGIN = {facts.margin}\nMAX_ORDER = {float(facts.max_order)!r}"


def _side(facts: Facts, taken: str) -> str:
    return f"""def epsilon_with_margin({taken}):
    \"\"\"epsilon moved to the sound side by MARGIN: measured, no bound.\"\"\"
    return epsilon({taken}) * (1.0 {facts.sign} MARGIN)"""


def _float_constants(program: FloatProgram, line: str, remark: str) -> str:
    lines = []
    for name, (value, text) in program.constants.items():
        written = line.format(name=name, value=value)
        lines.append(written + (remark.format(text=one_line(text)) if text else ""))
    return "\n" + "\n".join(lines) if lines else ""


def _float_tables(writer: Writer, program: FloatProgram, start: str, end: str) -> list[str]:
    return [
        "\n".join([f"{name} = {start}", *indented(_entries(writer, values)), end])
        for name, values in program.tables.items()
    ]


def _entries(writer: Writer, values: Iterable[float]) -> list[str]:
    return [f"{writer.number(value)[0]}," for value in values]


def _conditions(writer: Writer, conditions: list[Compare], both: str) -> str:
    scope = Scope()
    return "".join(f"{both}{writer.compared(c, scope)}" for c in conditions)


def _joined(parts: Iterable[str]) -> str:
    head, imports, settings, *rest = parts
    return "\n\n".join([head, imports, settings]) + "".join(f"\n\n\n{p}" for p in rest) + "\n"


def _comment(sign: str, lines: Iterable[str]) -> str:
    return "\n".join(f"{sign} {line}".rstrip() for line in lines)


# --- C


def c(program: FloatProgram, facts: Facts) -> str:
    """The C99 file."""
    writer = CWriter(program.program)
    curves = writer.curves()
    scope = Scope()
    conditions = [writer.compared(condition, scope) for condition in program.program.conditions]
    taken = ["alpha", *writer.arguments]
    takes, passes = ", ".join(f"double {name}" for name in taken), ", ".join(taken)
    domain = f"((alpha >= 1.0 && alpha <= {float(facts.max_order)!r}) || alpha == INFINITY)"
    known = " && ".join([domain, *conditions])
    answer = f"""/* epsilon at the Renyi order alpha; NAN outside the domain above. */
double rdp({takes}) {{
    return {known} ? {program.program.main}({passes}) : NAN;
}}"""
    side = f"""/* epsilon moved to the sound side by the margin: measured, no bound. */
double rdp_with_margin({takes}) {{
    return rdp({passes}) * (1.0 {facts.sign} margin);
}}"""
    numbers = _float_constants(program, "static const double {name} = {value!r};", " /* {text} */")
    tables = [
        "\n".join(
            [
                f"static const double {name}[] = {{",
                *indented(_entries(writer, values)),
                "};",
            ]
        )
        for name, values in program.tables.items()
    ]
    prototypes = [f"double rdp({takes});", f"double rdp_with_margin({takes});"]
    parts = [
        "/*\n" + "\n".join(f" * {line}".rstrip() for line in facts.lines) + "\n */",
        "#include <math.h>",
        "\n".join(prototypes),
        f"static const double margin = {facts.margin};{numbers}",
        *tables,
        *needed(_c_functions(), writer.used),
        "\n".join(writer.declared),
        *writer.helpers,
        *curves,
        answer,
        side,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def rounded_up(error: Fraction) -> str:
    """A decimal of two digits that is not below the number."""
    if error == 0:
        return "0.0"
    exponent = math.floor(math.log10(error)) - 1
    digits = math.ceil(error / Fraction(10) ** exponent)
    return f"{digits / 10}e{exponent + 1}" if digits < 100 else f"1.0e{exponent + 2}"
