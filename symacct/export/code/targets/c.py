"""C99 with <math.h>."""

from __future__ import annotations

import re
from typing import ClassVar

from symacct.export.code.ir import Expr, If, Op
from symacct.export.code.targets.python import REMAINING_TESTS, TESTS
from symacct.export.code.trace import Function
from symacct.export.code.writer import (
    Loop,
    Scope,
    Writer,
    branches,
    indented,
    is_complete,
    one_line,
)


class CWriter(Writer):
    """double."""

    nan = "NAN"
    infinity = "INFINITY"
    functions: ClassVar[dict[str, str]] = {"power": "pow"}

    def __init__(self, program: object) -> None:
        super().__init__(program)  # type: ignore[arg-type]
        self.declared: list[str] = []

    def signature(self, name: str, names: list[str]) -> str:
        """The head of a function."""
        return f"static double {name}({', '.join(f'double {n}' for n in names) or 'void'})"

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """A function of these names, which is declared as well."""
        head = self.signature(name, names)
        self.declared.append(f"{head};")
        words = set(re.findall(r"\w+", "\n".join(lines)))
        lines = [*(f"(void) {name};" for name in names if name not in words), *lines]
        return "\n".join([f"{head} {{", *indented(lines), "}"])

    def curve(self, function: Function) -> str:
        lines = []
        tests = REMAINING_TESTS if is_complete(function) else TESTS
        *most, last = found = branches(function)
        for kind, e in most if is_complete(function) else found:
            test = tests[kind].format(inf=self.infinity).replace(" and ", " && ")
            lines += [f"if ({test}) {{", *indented(self.body(e)), "}"]
        lines += self.body(last[1]) if is_complete(function) else [f"return {self.nan};"]
        text = self.define(function.name, ["alpha", *self.arguments], lines)
        return f"/* {one_line(function.title)} */\n{text}"

    def body(self, e: Expr) -> list[str]:
        *lines, last = super().body(e)
        return [*lines, f"{last};"]

    def assignment(self, name: str, text: str) -> str:
        return f"const double {name} = {text};"

    def operation(self, e: Op, scope: Scope) -> tuple[str, int]:
        # C divides by 0 as IEEE 754 has it.
        return super().operation(Op("div", e.args) if e.name == "ratio" else e, scope)

    def conditional(self, e: If, scope: Scope) -> str:
        condition = self.compared(e.condition, scope)
        return f"({condition} ? {self.text(e.then, scope)} : {self.text(e.other, scope)})"

    def entry(self, table: str, index: str) -> str:
        return f"{table}[(int) ({index})]"

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
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
        lines = [*loop.before, *start, f"while ({i} <= last) {{", *indented(inside), "}"]
        return self.define(name, names, [*lines, "return top + log(total);"])
