"""The code of a program, run as it is given out: that of plain Python, and that of mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from types import ModuleType
from typing import Any, ClassVar

from symacct.codegen.constants import FloatProgram
from symacct.codegen.runtime import digits, plain
from symacct.codegen.targets.multiprecision import MpmathWriter
from symacct.codegen.targets.python import PythonWriter
from symacct.codegen.trace import Program
from symacct.codegen.writer import Facts, Writer
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import Exact

#: How many values of one function are remembered: some hundred megabytes.
_MOST_VALUES = 10**6
_NO_HEADER = Facts((), margin="0.0", max_order=2**60, kind=Kind.EXACT)
#: What every module has of itself.
_OF_MODULES = {"__builtins__", "__doc__", "__name__"}


class Machine:
    """Runs the text of a target with the functions of its runtime that are in this library.

    What a function of the text has answered is remembered. No title is in the text: nothing that a
    user wrote but numbers, and names that are checked.
    """

    writer: ClassVar[type[Writer]]
    runtime: ClassVar[ModuleType]

    def __init__(self, program: FloatProgram | Program) -> None:
        known: dict[str, Any] = {}
        exec(self.writer.document(_untitled(program), _NO_HEADER), known)  # noqa: S102
        ours = vars(self.runtime)
        known.update({name: ours[name] for name in known.keys() & ours.keys() - _OF_MODULES})
        curves = {name: x for name, x in known.items() if name.startswith("eps_")}
        known.update({name: _remembered(curve) for name, curve in curves.items()})
        self._epsilon = known["epsilon"]

    def epsilon(self, alpha: Number, point: Mapping[str, Exact | float]) -> Number:
        """ε at an order, for these values of the parameters left open; NaN for no answer."""
        try:
            return self._epsilon(alpha, **point)
        except ValueError:
            return math.nan


class FloatMachine(Machine):
    """float64, as the Python target computes."""

    writer: ClassVar[type[Writer]] = PythonWriter
    runtime: ClassVar[ModuleType] = plain


class DigitsMachine(Machine):
    """Numbers of mpmath at `mp.dps` digits, as the mpmath target computes."""

    writer: ClassVar[type[Writer]] = MpmathWriter
    runtime: ClassVar[ModuleType] = digits


def _untitled(program: Any) -> Any:
    """The program without the expressions that its functions are of."""
    if isinstance(program, FloatProgram):
        return replace(program, program=_untitled(program.program))
    functions = {name: replace(f, title="") for name, f in program.functions.items()}
    return replace(program, functions=functions)


def _remembered(curve: Callable[..., Number]) -> Callable[..., Number]:
    """The curve with a memory of its values at each precision of mpmath."""
    values: dict[tuple[Number, ...], Number] = {}

    @wraps(curve)
    def value(*arguments: Number) -> Number:
        key = digits.mp.prec, *arguments
        if key not in values:
            if len(values) > _MOST_VALUES:
                values.clear()
            values[key] = curve(*arguments)
        return values[key]

    return value
