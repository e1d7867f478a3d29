"""What every way to a profile answers: at what cost it can, and then the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Protocol, TypeVar

from flint import arb

from symacct.kernel.claims import Proof
from symacct.kernel.errors import LimitError, PrecisionError

CANNOT = math.inf

T = TypeVar("T")
Number = Callable[[], arb]  # a ball at flint's current precision


class Strategy(Protocol):
    """A way to the profile D of some runs in one direction.

    What it can't give it refuses with PrecisionError or LimitError.
    """

    @property
    def proof(self) -> Proof:
        """Where it is proved that the numbers are right."""

    def cost(self, digits: float) -> float:
        """About how many nodes of a contour take as long as so many digits do; or `CANNOT`."""

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to so many digits."""

    def root(self, delta: Fraction, digits: float) -> arb:
        """Where D is δ, to so many digits."""

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) at most the bound? None where balls can't decide it."""


def by_the_cheapest(
    strategies: Iterable[Strategy], digits: float, ask: Callable[[Strategy], T]
) -> T:
    """What the cheapest strategy that can gives, or the next one where it refuses.

    Where all refuse, the error is the last one's, which had the most to spend.
    """
    priced = ((one.cost(digits), one) for one in strategies)
    able = sorted((x for x in priced if x[0] < CANNOT), key=lambda x: x[0])
    if not able:
        raise PrecisionError(
            "found a composition whose profile no method gives",
            where="conversion exact",
            remedy="take fewer runs, or conversion improved",
        )
    *others, last = able
    for _, strategy in others:
        with suppress(PrecisionError, LimitError):
            return ask(strategy)
    return ask(last[1])
