"""Code for mpmath at mp.dps digits: constants are computed when the code runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symacct.codegen.ir import Difference, UnitIntegral
from symacct.codegen.targets.python import PythonWriter
from symacct.codegen.writer import (
    ATOM,
    PRODUCT,
    UNARY,
    Facts,
    Loop,
    Scope,
    conditions,
    indented,
)
from symacct.kernel.exact import text

#: The code computes with this many decimal digits more than it answers with. The digits of answers
#: rest on it: the code has no proof, and is measured.
GUARD_DIGITS = 20


class MpmathWriter(PythonWriter):
    """Code in Python for numbers of mpmath."""

    name = "mpmath"
    language = "Python with mpmath"
    usual_order = 64
    digits = True
    nan = "mp.nan"
    infinity = "mp.inf"
    imports = "from mpmath import mp"
    runtime = "digits.py"
    margin = "1 {sign} mpf(10) ** (2 - mp.dps)", "the margin above"
    entry = "{table}()[int({index})]"

    def settings(self, program: Any, facts: Facts) -> str:
        """Write the lines below the import, with what the runtime keeps of differences."""
        known = "known_differences, known_moments = {}, {}\n"
        known = known if "log_difference" in self.used else ""
        return f"mpf = mp.mpf\n{known}MAX_ORDER = {facts.max_order}"

    def tables(self, program: Any) -> list[str]:
        """Write each table as a function that computes it once for each precision."""
        tables = []
        for name, entries in program.tables.items():
            scope = Scope()
            values = [f"{self.text(entry, scope)}," for entry in entries]
            lines = ["return (", *indented(values), ")"]
            tables.append(f"@at_precision\n{self.define(name, [], lines)}")
            self.used.add("at_precision")
        return tables

    def answer(self, main: str, taken: str) -> str:
        """Write the body of the function that users call; ValueError outside of the domain."""
        required = conditions(self, self.program.conditions)
        reads = ", ".join(f"mp.convert({name})" for name in ["alpha", *self.arguments])
        return f"""\
    \"\"\"epsilon at the Renyi order alpha, to mp.dps digits; ValueError outside the domain.\"\"\"
    with mp.workdps(mp.dps + {GUARD_DIGITS}):
        {taken} = {reads}
        value = mp.nan
        if (1 <= alpha <= MAX_ORDER or alpha == mp.inf){required}:
            value = {main}({taken})
    if mp.isnan(value):
        raise ValueError(f"epsilon has no value at order {{alpha}}: see the domain above")
    return +value"""

    def number(self, value: Fraction | float) -> tuple[str, int]:
        """Write a fraction as a quotient of mpf, and how tightly that binds."""
        if isinstance(value, float):
            return super().number(value)
        value = Fraction(value)
        top, _, bottom = text(abs(value)).partition("/")
        sign = "-" if value < 0 else ""
        if not bottom:
            return f"{sign}mpf({top})", UNARY if sign else ATOM
        return f"{sign}mpf({top}) / {bottom}", PRODUCT

    def function(self, name: str, arguments: list[str]) -> tuple[str, int]:
        """Write the call of a function, and π at the precision of the moment."""
        return ("+mp.pi", UNARY) if name == "pi" else super().function(name, arguments)

    def difference(self, e: Difference, scope: Scope) -> str:
        """Write the call of log B(order), the differences of a function of the code."""
        self.used.add("log_difference")
        parameters = f"({''.join(f'{name}, ' for name in self.arguments).rstrip()})"
        return self.call("log_difference", [e.function, parameters, self.text(e.order, scope)])

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        """Write a sum that adds its terms as they are, since no number of mpmath overflows."""
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

    def quadrature(self, name: str, e: UnitIntegral) -> str:
        """Write the function of an integral over [0, 1], by mpmath's quadrature on pieces."""
        self.used.add("log_integral")
        scope = Scope()
        pieces, value = self.text(e.pieces, scope), self.text(e.log_term, scope)
        line = f"return log_integral(lambda {e.index.name}: {value}, {pieces})"
        return self.define(name, self.parameters(e), [line])
