"""Python with nothing but the standard library."""

from __future__ import annotations

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

    nan = "math.nan"
    infinity = "math.inf"

    def curve(self, function: Function) -> str:
        lines = [f"# {one_line(function.title)}"]
        tests = REMAINING_TESTS if is_complete(function) else TESTS
        *most, last = found = branches(function)
        for kind, e in most if is_complete(function) else found:
            lines += [f"if {self.test(tests[kind])}:", *indented(self.body(e))]
        lines += self.body(last[1]) if is_complete(function) else [f"return {self.nan}"]
        return self.define(function.name, ["alpha", *self.arguments], lines)

    def test(self, text: str) -> str:
        """A condition on α in this language."""
        if "floor" in text:
            self.used.add("floor")
        return text.format(inf=self.infinity)

    def define(self, name: str, names: list[str], lines: list[str]) -> str:
        """A function of these names."""
        return "\n".join([f"def {name}({', '.join(names)}):", *indented(lines)])

    def entry(self, table: str, index: str) -> str:
        return f"{table}[int({index})]"

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        self.used |= {"add_exp", "log"}
        lines = [
            *loop.before,
            f"{loop.index}, last = {loop.first}, {loop.last}",
            "top, total = -math.inf, 0.0",
        ]
        step = [f"{loop.index} += 1.0"]
        weight, x = "1.0", loop.log_term
        if loop.ratio is not None:
            self.used.add("rescaled")
            weight, x = "weight", f"{loop.log_term} + scale"
            lines.append("weight, scale = 1.0, 0.0")
            step.append(f"weight, scale = rescaled(weight * ({loop.ratio}), scale)")
        inside = [*loop.inside, f"top, total = add_exp(top, total, {weight}, {x})", *step]
        lines += [f"while {loop.index} <= last:", *indented(inside), "return top + log(total)"]
        return self.define(name, names, lines)
