"""Julia with nothing but Base."""

from __future__ import annotations

from typing import ClassVar

from symacct.codegen import source
from symacct.codegen.constants import FloatProgram
from symacct.codegen.targets.python import PythonWriter
from symacct.codegen.writer import INFIX, indented


class JuliaWriter(PythonWriter):
    """Float64."""

    name = "julia"
    language = "Julia, Base only"
    words: ClassVar[str] = (
        "baremodule begin break catch const continue do else elseif end export false finally "
        "for function global if import let local macro module quote return struct true try "
        "using while epsilon"
    )
    keyword = "function"
    nan = "NaN"
    infinity = "Inf"
    logarithm = "log_of"
    both = " && "
    choice = "({condition} ? {then} : {other})"
    entry = "{table}[Int({index}) + 1]"
    infix: ClassVar[dict[str, tuple[str, int]]] = {**INFIX, "ratio": INFIX["div"]}
    #: Julia raises where IEEE 754 has NaN.
    functions: ClassVar[dict[str, str]] = {
        **{"log": "log_of", "log1p": "log1p_of"},
        **{"sqrt": "root_of", "power": "power_of"},
    }

    @classmethod
    def document(cls, program: FloatProgram, facts: source.Facts) -> str:
        """The file of functions."""
        writer = cls(program.program)
        curves = writer.curves()
        taken = ", ".join(["alpha", *writer.arguments])
        reads = ", ".join(f"Float64({name})" for name in ["alpha", *writer.arguments])
        domain = f"(1.0 <= alpha <= {float(facts.max_order)!r} || alpha == Inf)"
        known = domain + source.conditions(writer, program.program.conditions, cls.both)
        main = f"{program.program.main}({taken})"
        parts = [
            source.comment("#", facts.lines),
            f"const MARGIN = {facts.margin}"
            + source.float_constants(program, "const {name} = {value!r}", "  # {text}"),
            *source.float_tables(writer, program, "const {name} = [", "]"),
            *source.needed(source.blocks("plain.jl", r"^function (\w+)\("), writer.used),
            *writer.helpers,
            *curves,
            '"epsilon at the Renyi order alpha; NaN outside the domain above."\n'
            f"function epsilon({taken})\n    {taken} = {reads}\n"
            f"    return {known} ? {main} : NaN\nend",
            '"epsilon moved to the sound side by MARGIN: measured, no bound."\n'
            f"function epsilon_with_margin({taken})\n"
            f"    return epsilon({taken}) * (1.0 {facts.sign} MARGIN)\nend",
        ]
        return "\n\n".join(parts) + "\n"

    def block(self, head: str, lines: list[str]) -> list[str]:
        return [head, *indented(lines), "end"]

    def function(self, name: str, arguments: list[str]) -> tuple[str, int]:
        return super().function(self.functions.get(name, name), arguments)
