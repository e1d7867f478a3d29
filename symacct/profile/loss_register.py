"""The losses by the laws that leaves declare, each from its own file, opened when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from symacct.kernel.errors import CurveAloneError
from symacct.kernel.memory import Homes
from symacct.laws.neighbours import Neighbours
from symacct.profile.part import Part

#: The file of `profile/losses/` that registers the loss of a law of this name.
_FILES = {
    "AnyApproximate": "finite",
    "AnyOfRange": "bounded_range",
    "AnyPure": "finite",
    "FinitePair": "finite",
    "LaplaceShift": "laplace",
    "NormalShift": "gaussian",
    "TwoDensities": "normal_pair",
    "WholeNumberShift": "integer_noise",
}
L = TypeVar("L", bound=Neighbours)


def _home(file: str) -> Homes:
    """The file, which fills the register when it is imported."""
    home = Homes()
    home.add(f"symacct.profile.losses.{file}")
    return home


homes = {law: _home(file) for law, file in _FILES.items()}


class LossRegister:
    """What makes the privacy loss of two laws, by the class of the laws."""

    def __init__(self) -> None:
        self._made: dict[type[Neighbours], Callable[[Any], Part]] = {}

    def register(self, law: type[L]) -> Callable[[Callable[[L], Part]], Callable[[L], Part]]:
        """State what makes the loss of laws of this class.

        The first statement stays: a copy of a module must not change what others have of it.
        """

        def state(make: Callable[[L], Part]) -> Callable[[L], Part]:
            self._made.setdefault(law, make)
            return make

        return state

    def __call__(self, law: Neighbours) -> Part:
        """The loss of these laws; CurveAloneError where their class has none, nor any above it."""
        for kind in type(law).__mro__:
            if kind not in self._made and kind.__name__ in homes:
                homes[kind.__name__].open()
            if kind in self._made:
                return self._made[kind](law)
        raise CurveAloneError(type(law).__name__)


loss_of = LossRegister()
