"""Python with nothing but the standard library."""

from __future__ import annotations

import keyword
from typing import Any, ClassVar

from symacct.codegen.constants import FloatProgram
from symacct.codegen.trace import Function, Program
from symacct.codegen.writer import (
    Facts,
    Loop,
    Writer,
    comment,
    conditions,
    float_constants,
    float_tables,
    joined,
    needed,
    one_line,
    python_functions,
)


class PythonWriter(Writer):
    """Code in Python for float64, with the standard library alone."""

    name: ClassVar[str] = "python"
    language: ClassVar[str] = "Python, standard library only"
    words: ClassVar[str] = " ".join([*keyword.kwlist, *keyword.softkwlist, "math"])
    nan = "math.nan"
    infinity = "math.inf"
    logarithm = "log"
    running = "while {index} <= last"
    imports = "import math"
    runtime = "plain.py"
    table = "{name} = (", ")"
    #: What a value is multiplied by to be on the sound side, and how that is called.
    margin = "1.0 {sign} MARGIN", "MARGIN"

    @classmethod
    def document(cls, program: Any, facts: Facts) -> str:
        """Write the module."""
        traced: Program = program.program if isinstance(program, FloatProgram) else program
        writer, (margin, words) = cls(traced), cls.margin
        curves, tables = writer.curves(), writer.tables(program)
        taken = ", ".join(["alpha", *writer.arguments])
        parts = [
            comment(facts.lines),
            cls.imports,
            writer.settings(program, facts),
            *needed(python_functions(cls.runtime), writer.used),
            *tables,
            *writer.helpers,
            *curves,
            f"def epsilon({taken}):\n" + writer.answer(traced.main, taken),
            f"def epsilon_with_margin({taken}):\n"
            f'    """epsilon moved to the sound side by {words}: measured, no bound."""\n'
            f"    return epsilon({taken}) * ({margin.format(sign=facts.sign)})",
        ]
        return joined(parts)

    def settings(self, program: Any, facts: Facts) -> str:
        """Write the lines of numbers below the imports."""
        numbers = float_constants(program, "{name} = {value!r}", "  # {text}")
        return f"MARGIN = {facts.margin}\nMAX_ORDER = {float(facts.max_order)!r}{numbers}"

    def tables(self, program: Any) -> list[str]:
        """Write each table of constants."""
        return float_tables(self, program, *self.table)

    def answer(self, main: str, taken: str) -> str:
        """Write the body of the function that users call; ValueError outside of the domain."""
        required = conditions(self, self.program.conditions)
        reads = ", ".join(f"float({name})" for name in ["alpha", *self.arguments])
        return f"""\
    \"\"\"epsilon at the Renyi order alpha, a float; ValueError outside the domain above.\"\"\"
    {taken} = {reads}
    value = math.nan
    if (1.0 <= alpha <= MAX_ORDER or alpha == math.inf){required}:
        value = {main}({taken})
    if value != value:
        raise ValueError(f"epsilon has no value at order {{alpha!r}}: see the domain above")
    return value"""

    def curve(self, function: Function) -> str:
        """Write the function of a curve, below a comment with its title."""
        lines = [f"# {one_line(function.title)}", *self.cases(function)]
        return self.define(function.name, ["alpha", *self.arguments], lines)

    def test(self, text: str) -> str:
        """Write a condition, and ask for the import of `floor` where it has one."""
        if "floor" in text:
            self.used.add("floor")
        return super().test(text)

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """Write a function of these parameters."""
        return "\n".join(self.block(f"def {name}({', '.join(names)})", lines))

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        """Write a sum as a function that adds its terms by `add_exp` and returns the logarithm."""
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
        """Write the statements that add a term to a sum."""
        return [f"top, total = add_exp(top, total, {weight}, {x})"]
