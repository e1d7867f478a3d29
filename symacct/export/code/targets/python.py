"""Python with nothing but the standard library."""

from __future__ import annotations

import keyword
from typing import ClassVar

from symacct.export.code.constants import FloatProgram
from symacct.export.code.source import (
    Facts,
    comment,
    conditions,
    float_constants,
    float_tables,
    joined,
    needed,
    python_functions,
)
from symacct.export.code.trace import Function
from symacct.export.code.writer import (
    Loop,
    Writer,
    branches,
    indented,
    is_complete,
    one_line,
)

#: Whether an order is of a class, by itself; and once the classes before it are dealt with.
TESTS = {
    "one": "alpha == 1.0",
    "infinite": "alpha == {inf}",
    "whole": "alpha >= 2.0 and alpha < {inf} and alpha == floor(alpha)",
    "below_two": "alpha > 1.0 and alpha < 2.0",
    "above_two": "alpha > 2.0 and alpha < {inf} and alpha != floor(alpha)",
    "finite": "alpha > 1.0 and alpha < {inf}",
    "fractional": "alpha > 1.0 and alpha < {inf} and alpha != floor(alpha)",
}
REMAINING_TESTS = {**TESTS, "whole": "alpha == floor(alpha)", "below_two": "alpha < 2.0"}


class PythonWriter(Writer):
    """float64 in plain Python."""

    name: ClassVar[str] = "python"
    language: ClassVar[str] = "Python, standard library only"
    words: ClassVar[frozenset[str]] = frozenset([*keyword.kwlist, *keyword.softkwlist, "math"])
    keyword = "def"
    nan = "math.nan"
    infinity = "math.inf"

    @classmethod
    def document(cls, program: FloatProgram, facts: Facts) -> str:
        """The module for Python alone."""
        writer = cls(program.program)
        curves, tables = writer.curves(), float_tables(writer, program, "(", ")")
        required = conditions(writer, program.program.conditions, " and ")
        taken = ", ".join(["alpha", *writer.arguments])
        reads = ", ".join(["float(alpha)", *(f"float({name})" for name in writer.arguments)])
        answer = f"""def epsilon({taken}):
    \"\"\"epsilon at the Renyi order alpha, a float; ValueError outside the domain above.\"\"\"
    {taken} = {reads}
    value = math.nan
    if (1.0 <= alpha <= MAX_ORDER or alpha == math.inf){required}:
        value = {program.program.main}({taken})
    if value != value:
        raise ValueError(f"epsilon has no value at order {{alpha!r}}: see the domain above")
    return value"""
        parts = [
            comment("#", facts.lines),
            "import math",
            settings(facts) + float_constants(program, "{name} = {value!r}", "  # {text}"),
            *tables,
            *needed(python_functions("plain.py"), writer.used),
            *writer.helpers,
            *curves,
            answer,
            with_margin(facts, taken),
        ]
        return joined(parts)

    def curve(self, function: Function) -> str:
        lines = [f"# {one_line(function.title)}"]
        tests = REMAINING_TESTS if is_complete(function) else TESTS
        *most, last = found = branches(function)
        for kind, e in most if is_complete(function) else found:
            lines += self.block(f"if {self.test(tests[kind])}", self.body(e))
        lines += self.body(last[1]) if is_complete(function) else [f"return {self.nan}"]
        return self.define(function.name, ["alpha", *self.arguments], lines)

    def test(self, text: str) -> str:
        """A condition on α in this language."""
        if "floor" in text:
            self.used.add("floor")
        return text.format(inf=self.infinity)

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """A function of these names."""
        return "\n".join(self.block(f"{self.keyword} {name}({', '.join(names)})", lines))

    def block(self, head: str, lines: list[str]) -> list[str]:
        """The lines further in, under their head."""
        return [f"{head}:", *indented(lines)]

    def entry(self, table: str, index: str) -> str:
        return f"{table}[int({index})]"

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        self.used.add("add_exp")
        lines = [
            *loop.before,
            f"{loop.index}, last = {loop.first}, {loop.last}",
            f"top, total = -{self.infinity}, 0.0",
        ]
        step = [f"{loop.index} += 1.0"]
        weight, x = "1.0", loop.log_term
        if loop.ratio is not None:
            self.used.add("rescaled")
            weight, x = "weight", f"{loop.log_term} + scale"
            lines.append("weight, scale = 1.0, 0.0")
            step.append(f"weight, scale = rescaled(weight * ({loop.ratio}), scale)")
        inside = [*loop.inside, f"top, total = add_exp(top, total, {weight}, {x})", *step]
        lines += self.block(f"while {loop.index} <= last", inside)
        lines.append(f"return top + {self.function('log', ['total'])[0]}")
        return self.define(name, names, lines)


def settings(facts: Facts) -> str:
    """The margin and the last order."""
    return f"MARGIN = {facts.margin}\nMAX_ORDER = {float(facts.max_order)!r}"


def with_margin(facts: Facts, taken: str) -> str:
    """The function that answers on the sound side."""
    return f"""def epsilon_with_margin({taken}):
    \"\"\"epsilon moved to the sound side by MARGIN: measured, no bound.\"\"\"
    return epsilon({taken}) * (1.0 {facts.sign} MARGIN)"""
