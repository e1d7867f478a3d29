"""SymPy, imported where a formula is first met: its import takes longer than most answers."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Kind(type):
    """A class of a module that is not imported, and then nothing is an instance of it."""

    later: LazyModule

    def __instancecheck__(cls, value: object) -> bool:
        return cls.later.__name__ in sys.modules and isinstance(value, cls._itself())

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return cls._itself()(*given, **named)

    def _itself(cls) -> Any:
        return getattr(cls.later.imported(), cls.__name__)


class LazyModule(ModuleType):
    """A module that is imported when it is first asked for more than whether a value is its own.

    `kinds` names the classes that values are asked about: for each another stands until then.
    """

    def __init__(self, name: str, kinds: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        vars(self).update({kind: _Kind(kind, (), {"later": self}) for kind in kinds})
        self._is_open = False

    def imported(self) -> ModuleType:
        """The module; from now on this is as quick as the module itself."""
        module = import_module(self.__name__)
        if not self._is_open:
            vars(self).update(vars(module))
            self._is_open = True
        return module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.imported(), name)


if TYPE_CHECKING:
    import sympy
else:
    sympy = LazyModule("sympy", ("Basic", "Expr", "Integer", "Rational", "Symbol"))

__all__ = ["sympy"]
