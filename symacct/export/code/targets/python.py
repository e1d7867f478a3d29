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
    one_line,
)


class PythonWriter(Writer):
    """float64 in plain Python."""

    name: ClassVar[str] = "python"
    language: ClassVar[str] = "Python, standard library only"
    words: ClassVar[frozenset[str]] = frozenset([*keyword.kwlist, *keyword.softkwlist, "math"])
    keyword = "def"
    nan = "math.nan"
    infinity = "math.inf"
    logarithm = "log"
    running = "while {index} <= last"

    @classmethod
    def document(cls, program: FloatProgram, facts: Facts) -> str:
        """The module for Python alone."""
        writer = cls(program.program)
        curves, tables = writer.curves(), float_tables(writer, program, "{name} = (", ")")
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
        lines = [f"# {one_line(function.title)}", *self.cases(function)]
        return self.define(function.name, ["alpha", *self.arguments], lines)

    def test(self, text: str) -> str:
        if "floor" in text:
            self.used.add("floor")
        return super().test(text)

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """A function of these names."""
        return "\n".join(self.block(f"{self.keyword} {name}({', '.join(names)})", lines))

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        self.used |= {"add_exp", self.logarithm}
        i, x, weight = loop.index, loop.log_term, "1.0"
        lines = [*loop.before, f"{i}, last = {loop.first}, {loop.last}"]
        lines += [f"top, total = -{self.infinity}, 0.0"]
        step = [f"{i} += 1.0"]
        if loop.ratio is not None:
            self.used.add("rescaled")
            weight, x = "weight", f"{x} + scale"
            lines.append("weight, scale = 1.0, 0.0")
            step.append(f"weight, scale = rescaled(weight * ({loop.ratio}), scale)")
        inside = [*loop.inside, *self.added(i, weight, x), *step]
        lines += self.block(self.running.format(index=i), inside)
        return self.define(name, names, [*lines, f"return top + {self.logarithm}(total)"])

    def added(self, index: str, weight: str, x: str) -> list[str]:
        """The statements that add a term to a sum."""
        return [f"top, total = add_exp(top, total, {weight}, {x})"]


def settings(facts: Facts) -> str:
    """The margin and the last order."""
    return f"MARGIN = {facts.margin}\nMAX_ORDER = {float(facts.max_order)!r}"


def with_margin(facts: Facts, taken: str) -> str:
    """The function that answers on the sound side."""
    return f"""def epsilon_with_margin({taken}):
    \"\"\"epsilon moved to the sound side by MARGIN: measured, no bound.\"\"\"
    return epsilon({taken}) * (1.0 {facts.sign} MARGIN)"""
