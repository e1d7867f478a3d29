"""The register of questions that a node or an answer is asked and a room above the kernel answers.

`m.latex()` is a method for convenience: how a formula looks is known above the expression. The
package attaches the names of such methods, and a module is imported when it is first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MethodType
from typing import Any, TypeVar

_Answer = TypeVar("_Answer", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)


class Question:
    """The place of a method in a class, until the module `home` is imported that has its function.

    LookupError where that module does not register the method.
    """

    def __init__(self, kind: type, name: str, home: str) -> None:
        self.kind, self.name, self.home = kind, name, home

    def __get__(self, owner: object, kind: type) -> Any:
        """Open the module that answers, which puts its function in the place of this.

        LookupError where it does not.
        """
        import_module(f"symacct.{self.home}")
        answer = vars(self.kind)[self.name]
        if answer is self:
            raise LookupError(f"symacct.{self.home} answers no question {self.name!r}")
        return answer if owner is None else MethodType(answer, owner)


def question(kind: type, name: str) -> Callable[[_Answer], _Answer]:
    """A decorator that makes a function the method `name` of the class `kind`.

    Its first parameter is the node or the answer that is asked.
    """

    def register(answer: _Answer) -> _Answer:
        setattr(kind, name, answer)
        return answer

    return register


#: Class name ↦ for each module of the package the names of the questions that it answers.
ANNOUNCED: dict[str, Mapping[str, Iterable[str]]] = {}


def answered(kind: _Class) -> _Class:
    """Attach to a class the questions that are announced for it."""
    attach(kind, ANNOUNCED.get(kind.__name__, {}))
    return kind


def attach(kind: type, homes: Mapping[str, Iterable[str]]) -> None:
    """Attach questions to a class, by the module of the package that answers them.

    Names that the class has itself stay as they are.
    """
    for home, names in homes.items():
        for name in set(names) - vars(kind).keys():
            setattr(kind, name, Question(kind, name, home))
