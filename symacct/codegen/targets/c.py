"""C99 with <math.h>."""

from __future__ import annotations

import re
from typing import ClassVar

from symacct.codegen.constants import FloatProgram
from symacct.codegen.ir import Expr
from symacct.codegen.trace import Function, Program
from symacct.codegen.writer import (
    INFIX,
    Facts,
    Loop,
    Scope,
    Writer,
    c_functions,
    float_constants,
    float_tables,
    indented,
    needed,
    one_line,
)


class CWriter(Writer):
    """Code in C for numbers of type double."""

    name = "c"
    language = "C99, <math.h> only"
    words: ClassVar[str] = (
        "auto break case char const continue default do double else enum extern float for goto "
        "if inline int long register restrict return short signed sizeof static struct switch "
        "typedef union unsigned void volatile while main rdp fabs pow epsilon margin a "
        # and of C++, which may compile the file
        "and bitand bitor bool catch class compl delete explicit export false friend mutable "
        "namespace new not operator or private protected public template this throw true try "
        "typeid typename using virtual xor"
    )
    nan = "NAN"
    infinity = "INFINITY"
    both = " && "
    choice = "({condition} ? {then} : {other})"
    entry = "{table}[(int) ({index})]"
    #: C divides by 0 as IEEE 754 has it.
    infix: ClassVar[dict[str, tuple[str, int]]] = {**INFIX, "ratio": INFIX["div"]}
    functions: ClassVar[dict[str, str]] = {"power": "pow"}

    @classmethod
    def document(cls, program: FloatProgram, facts: Facts) -> str:
        """Write the C99 file, which C++ compiles too."""
        writer = cls(program.program)
        curves = writer.curves()
        scope = Scope()
        required = [writer.compared(condition, scope) for condition in program.program.conditions]
        taken = ["alpha", *writer.arguments]
        takes, passes = ", ".join(f"double {name}" for name in taken), ", ".join(taken)
        domain = f"((alpha >= 1.0 && alpha <= {float(facts.max_order)!r}) || alpha == INFINITY)"
        known = " && ".join([domain, *required])
        answer = f"""/* epsilon at the Renyi order alpha; NAN outside the domain above. */
double rdp({takes}) {{
    return {known} ? {program.program.main}({passes}) : NAN;
}}"""
        side = f"""/* epsilon moved to the sound side by the margin: measured, no bound. */
double rdp_with_margin({takes}) {{
    return rdp({passes}) * (1.0 {facts.sign} margin);
}}"""
        numbers = float_constants(
            program, "static const double {name} = {value!r};", " /* {text} */"
        )
        tables = float_tables(writer, program, "static const double {name}[] = {{", "};")
        prototypes = [
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            f"double rdp({takes});",
            f"double rdp_with_margin({takes});",
            "#ifdef __cplusplus",
            "}",
            "#endif",
        ]
        parts = [
            "/*\n" + "\n".join(f" * {line}".rstrip() for line in facts.lines) + "\n */",
            "#include <math.h>",
            "\n".join(prototypes),
            f"static const double margin = {facts.margin};{numbers}",
            *tables,
            *needed(c_functions(), writer.used),
            "\n".join(writer.declared),
            *writer.helpers,
            *curves,
            answer,
            side,
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.declared: list[str] = []

    def signature(self, name: str, names: list[str]) -> str:
        """Write the head of a function."""
        return f"static double {name}({', '.join(f'double {n}' for n in names) or 'void'})"

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """Write a function of these parameters, which is declared ahead of all others."""
        head = self.signature(name, names)
        self.declared.append(f"{head};")
        words = set(re.findall(r"\w+", "\n".join(lines)))
        lines = [*(f"(void) {name};" for name in names if name not in words), *lines]
        return "\n".join(self.block(head, lines))

    def curve(self, function: Function) -> str:
        """Write the function of a curve, below a comment with its title."""
        text = self.define(function.name, ["alpha", *self.arguments], self.cases(function))
        return f"/* {one_line(function.title)} */\n{text}"

    def test(self, text: str) -> str:
        """Write a condition in brackets."""
        return f"({super().test(text)})"

    def block(self, head: str, lines: list[str]) -> list[str]:
        """Write lines between braces, after a head."""
        return [f"{head} {{", *indented(lines), "}"]

    def body(self, e: Expr) -> list[str]:
        """Write the lines of a function, the last with its semicolon."""
        *lines, last = super().body(e)
        return [*lines, f"{last};"]

    def assignment(self, name: str, text: str) -> str:
        """Write the declaration of a constant double."""
        return f"const double {name} = {text};"

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        """Write a sum as a C function that adds terms by `add_exp` and returns the logarithm."""
        self.used.add("add_exp")
        i = loop.index
        start = [f"double {i} = {loop.first}, last = {loop.last};"]
        start += ["double top = -INFINITY, total = 0.0;"]
        step = [f"{i} += 1.0;"]
        weight, x = "1.0", loop.log_term
        if loop.ratio is not None:
            self.used.add("rescale")
            weight, x = "weight", f"{loop.log_term} + scale"
            start.append("double weight = 1.0, scale = 0.0;")
            step += [f"weight = weight * ({loop.ratio});", "rescale(&weight, &scale);"]
        inside = [*loop.inside, f"add_exp(&top, &total, {weight}, {x});", *step]
        lines = [*loop.before, *start, *self.block(f"while ({i} <= last)", inside)]
        return self.define(name, names, [*lines, "return top + log(total);"])
