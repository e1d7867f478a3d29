"""NumPy: every function takes arrays of orders."""

from __future__ import annotations

from typing import ClassVar

from symacct.codegen.targets.python import PythonWriter
from symacct.codegen.trace import Function
from symacct.codegen.writer import branches, conditions, indented, one_line


class NumpyWriter(PythonWriter):
    """Code in Python for float64 arrays of NumPy."""

    name = "numpy"
    language = "Python with numpy"
    nan = "np.nan"
    infinity = "np.inf"
    logarithm = "np.log"
    imports = "import numpy as np"
    runtime = "vector.py"
    table = "{name} = np.array([", "])"
    running = "while np.any({index} <= last)"
    choice = "np.where({condition}, {then}, {other})"
    entry = "np.take({table}, np.asarray({index}).astype(int), mode='clip')"
    functions: ClassVar[dict[str, str]] = {
        **{name: f"np.{name}" for name in ("exp", "expm1", "log", "log1p", "sqrt", "floor")},
        "power": "np.power",
        "ratio": "np.divide",
        "lesser": "np.minimum",
        "greater": "np.maximum",
    }

    def answer(self, main: str, taken: str) -> str:
        """Write the body: it takes an array of orders, and answers NaN outside of the domain.

        Parameters left open are single numbers.
        """
        required = conditions(self, self.program.conditions)
        floats = "".join(f"\n    {name} = float({name})" for name in self.arguments)
        return f"""\
    \"\"\"epsilon at Renyi orders alpha, any array of them; NaN outside the domain above.\"\"\"
    alpha = np.asarray(alpha, dtype=np.float64){floats}
    known = ((alpha >= 1.0) & (alpha <= MAX_ORDER)) | (alpha == np.inf)
    if not (True{required}):
        known = np.zeros(alpha.shape, dtype=bool)
    with np.errstate(all="ignore"):
        return {main}({taken.replace("alpha", "np.where(known, alpha, np.nan)")})"""

    def curve(self, function: Function) -> str:
        """Write a curve as a function for each class of orders; `by_order` asks the right one."""
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

    def added(self, index: str, weight: str, x: str) -> list[str]:
        """Write the step of a sum, in which orders past their last term add nothing."""
        ended = f"x = np.where({index} <= last, {x}, -np.inf)"
        return [ended, *super().added(index, weight, "x")]
