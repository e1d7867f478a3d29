"""mpmath at mp.dps digits: constants are computed when the code runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symacct.exact import text
from symacct.export.code.ir import Difference, Quadrature
from symacct.export.code.targets.python import PythonWriter
from symacct.export.code.writer import ATOM, PRODUCT, UNARY, Loop, Scope, indented


class MpmathWriter(PythonWriter):
    """mpf numbers."""

    nan = "mp.nan"
    infinity = "mp.inf"

    def number(self, value: Any) -> tuple[str, int]:
        if isinstance(value, float):
            return super().number(value)
        value = Fraction(value)
        top, _, bottom = text(abs(value)).partition("/")
        sign = "-" if value < 0 else ""
        if not bottom:
            return f"{sign}mpf({top})", UNARY if sign else ATOM
        return f"{sign}mpf({top}) / {bottom}", PRODUCT

    def function(self, name: str, arguments: list[str]) -> tuple[str, int]:
        return ("+mp.pi", UNARY) if name == "pi" else super().function(name, arguments)

    def entry(self, table: str, index: str) -> str:
        return f"{table}()[int({index})]"

    def difference(self, e: Difference, scope: Scope) -> str:
        self.used.add("log_difference")
        given = f"({''.join(f'{name}, ' for name in self.arguments).rstrip()})"
        return self.call("log_difference", [e.function, given, self.text(e.order, scope)])

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        self.used |= {"exp", "log"}
        lines = [*loop.before, f"{loop.index}, last = {loop.first}, {loop.last}", "total = mpf(0)"]
        weight, step = "", [f"{loop.index} += 1"]
        if loop.ratio is not None:
            lines.append("weight = mpf(1)")
            weight = "weight * "
            step.append(f"weight *= {loop.ratio}")
        inside = [*loop.inside, f"total += {weight}exp({loop.log_term})", *step]
        lines += [f"while {loop.index} <= last:", *indented(inside), "return log(total)"]
        return self.define(name, names, lines)

    def quadrature(self, name: str, e: Quadrature) -> str:
        self.used.add("log_integral")
        scope = Scope()
        pieces, value = self.text(e.pieces, scope), self.text(e.log_term, scope)
        line = f"return log_integral(lambda {e.index.name}: {value}, {pieces})"
        return self.define(name, self.parameters(e), [line])
