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
        return cls.module in sys.modules and isinstance(value, cls._itself())

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return cls._itself()(*given, **named)

    def _itself(cls) -> Any:
        return getattr(import_module(cls.module), cls.__name__)


class Later(ModuleType):
    """A module that is imported when it is first asked for more than whether a value is its own.

    `kinds` names the classes that values are asked about: for each another stands until then.
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
    sympy = Later("sympy", ("Basic", "Expr", "Integer", "Rational", "Symbol"))

__all__ = ["sympy"]
