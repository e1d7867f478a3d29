"""The register of losses makes the privacy loss of laws that leaves declare.

Each loss has its own file, which is opened when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from symacct.kernel.errors import CurveAloneError
from symacct.laws.neighbours import Neighbours
from symacct.profile.part import Part

#: The file of `profile/losses/` that registers the loss of a law of this name.
FILES = {
    "AnyOfRange": "bounded_range",
    "FiniteMasses": "finite",
    "LaplaceShift": "laplace",
    "NormalShift": "gaussian",
    "TwoDensities": "normal_pair",
    "WholeNumberShift": "integer_noise",
}
L = TypeVar("L", bound=Neighbours)


class LossRegister:
    """The register holds what makes the privacy loss of two laws, by the class of the laws."""

    def __init__(self) -> None:
        self.makers: dict[type[Neighbours], Callable[[Any], Part]] = {}

    def register(self, law: type[L]) -> Callable[[Callable[[L], Part]], Callable[[L], Part]]:
        """Register what makes the loss of laws of this class, as a decorator.

        The first registration of a class stays, as a module may be loaded twice.
        """

        def state(make: Callable[[L], Part]) -> Callable[[L], Part]:
            self.makers.setdefault(law, make)
            return make

        return state

    def __call__(self, law: Neighbours) -> Part:
        """Make the loss of these laws, by the register of their class or of one above it.

        The file of a class is opened when its loss is first asked for. CurveAloneError, an
        AssumptionError, where neither the class of the laws nor any above it has a loss.
        """
        for kind in type(law).__mro__:
            if kind not in self.makers and kind.__name__ in FILES:
                import_module(f"symacct.profile.losses.{FILES[kind.__name__]}")
            if kind in self.makers:
                return self.makers[kind](law)
        raise CurveAloneError(type(law).__name__)


#: Makes the privacy loss of declared laws.
loss_of = LossRegister()
