"""SymPy, imported where a formula is first met: its import takes longer than most answers."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Kind(type):
    """A class of a module that is not imported, and then nothing is an instance of it."""

    module: str

    def __instancecheck__(cls, value: object) -> bool:
        return cls.module in sys.modules and isinstance(
            value, getattr(import_module(cls.module), cls.__name__)
        )


class Later(ModuleType):
    """A module that is imported when it is first asked for more than whether a value is its own.

    `kinds` names the classes that values are asked about; those of no other name stand for
    themselves before the import.
    """

    def __init__(self, name: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self._kinds = {kind: _Kind(kind, (), {"module": name}) for kind in kinds}

    def __getattr__(self, name: str) -> Any:
        if name in self._kinds and self.__name__ not in sys.modules:
            return self._kinds[name]
        module = import_module(self.__name__)
        vars(self).update(vars(module))  # from now on it is as quick as the module itself
        return getattr(module, name)


if TYPE_CHECKING:
    import sympy
else:
    sympy = Later("sympy", ("Basic", "Expr"))

__all__ = ["sympy"]
