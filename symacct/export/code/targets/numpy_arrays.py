"""NumPy: every function takes arrays of orders."""

from __future__ import annotations

from typing import ClassVar

from symacct.export.code.ir import If
from symacct.export.code.targets.python import PythonWriter
from symacct.export.code.trace import Function
from symacct.export.code.writer import Loop, Scope, branches, indented, one_line


class NumpyWriter(PythonWriter):
    """float64 arrays."""

    nan = "np.nan"
    infinity = "np.inf"
    functions: ClassVar[dict[str, str]] = {
        **{name: f"np.{name}" for name in ("exp", "expm1", "log", "log1p", "sqrt", "floor")},
        "power": "np.power",
        "ratio": "np.divide",
        "lesser": "np.minimum",
        "greater": "np.maximum",
    }

    def curve(self, function: Function) -> str:
        taken = ["alpha", *self.arguments]
        blocks, cases = [], []
        for kind, e in branches(function):
            name = f"{function.name}_{kind}"
            blocks.append(self.define(name, taken, self.body(e)))
            self.used |= {"by_order", f"is_{kind}"}
            if self.arguments:
                name = f"lambda a: {self.call(name, ['a', *self.arguments])}"
            cases.append(f"(is_{kind}, {name}),")
        lines = [f"# {one_line(function.title)}", "return by_order("]
        lines += [*indented(["alpha,", *cases]), ")"]
        return "\n\n\n".join([*blocks, self.define(function.name, taken, lines)])

    def conditional(self, e: If, scope: Scope) -> str:
        condition = self.compared(e.condition, scope)
        return f"np.where({condition}, {self.text(e.then, scope)}, {self.text(e.other, scope)})"

    def entry(self, table: str, index: str) -> str:
        return f"np.take({table}, np.asarray({index}).astype(int), mode='clip')"

    def loop(self, name: str, names: list[str], loop: Loop) -> str:
        self.used.add("add_exp")
        lines = [
            *loop.before,
            f"{loop.index}, last = {loop.first}, {loop.last}",
            "top, total = -np.inf, 0.0",
        ]
        step = [f"{loop.index} += 1.0"]
        weight, x = "1.0", loop.log_term
        if loop.ratio is not None:
            self.used.add("rescaled")
            weight, x = "weight", f"{loop.log_term} + scale"
            lines.append("weight, scale = 1.0, 0.0")
            step.append(f"weight, scale = rescaled(weight * ({loop.ratio}), scale)")
        inside = [
            *loop.inside,
            f"x = np.where({loop.index} <= last, {x}, -np.inf)",
            f"top, total = add_exp(top, total, {weight}, x)",
            *step,
        ]
        lines += [f"while np.any({loop.index} <= last):", *indented(inside)]
        return self.define(name, names, [*lines, "return top + np.log(total)"])
