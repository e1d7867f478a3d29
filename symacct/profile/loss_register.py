"""The losses by the laws that leaves declare, each from its own file, opened when it is needed."""

from __future__ import annotations

from functools import singledispatch

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


def _home(file: str) -> Homes:
    """The file, which fills the register when it is imported."""
    home = Homes()
    home.add(f"symacct.profile.losses.{file}")
    return home


homes = {law: _home(file) for law, file in _FILES.items()}


@singledispatch
def loss_of(law: Neighbours) -> Part:
    """The privacy loss of two laws; CurveAloneError where none is registered for their class.

    A law that is not registered yet is looked for in its home.
    """
    for kind in type(law).__mro__:
        if kind.__name__ in homes:
            homes[kind.__name__].open()
    if loss_of.dispatch(type(law)) is loss_of.dispatch(object):
        raise CurveAloneError(type(law).__name__)
    return loss_of(law)
