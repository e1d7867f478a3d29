"""The profile of the parts that stand beside finite ones, at each y − ℓ that these leave."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb, ctx

from symacct.core.errors import PrecisionError

if TYPE_CHECKING:  # which asks it
    from symacct.profile.solve import CompositionProfile

_DIGIT = 3.33  # bits
_SPARE_BITS = 64
_LEAST = 3.0  # digits


@dataclass(frozen=True)
class Others:
    """D(y) of these parts; of the same pairs exchanged it is D′, where that is sooner known."""

    direction: CompositionProfile
    exchanged: CompositionProfile

    def __call__(self, y: arb) -> arb:
        """D(y) = 1 − e^y + e^y D′(−y) for any y, at flint's current precision, or that it is tiny;

        NaN where more bits are needed. Both ways before a contour: many y lie far from where the
        loss of these parts mostly is.
        """
        value = self.direction.easily(y)
        if not value.is_finite():
            value = y.exp() * self.exchanged.easily(-y) - y.expm1()
        if value.is_finite():
            return value
        with suppress(PrecisionError):
            return self.direction.by_contour(lambda: y, (ctx.prec - _SPARE_BITS) / _DIGIT + _LEAST)
        return arb.nan()
