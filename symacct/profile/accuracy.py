"""How many digits a ball has, and the precision that so many need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flint import arb, ctx

from symacct.kernel.arithmetic.ball import doubled
from symacct.kernel.errors import LimitError, PrecisionError

_TELLING = (0.0, 3.0, 12.0, 40.0)  # digits of a value, one after the other
_MOSTLY_TELL = 3.0


def float_of(y: Callable[[], arb]) -> float:
    """About what is given as a ball at flint's current precision."""
    with ctx.workprec(64):
        return float(y().mid())


def log_float_of(x: Callable[[], arb]) -> float:
    """About its logarithm."""
    return float_of(lambda: x().log())


def bits_for(digits: float) -> int:
    """A precision for so many digits."""
    return math.ceil(digits * 3.33) + 64


def precisions(digits: float) -> Iterator[int]:
    """Bits at which to try, doubled up to the limit."""
    return doubled(bits_for(digits))


def accuracy(x: arb) -> float:
    """The significant digits that both ends share."""
    return (x.rel_accuracy_bits() - 1) / 3.3219281 if x.is_finite() else -math.inf


def decided(value: arb, most: arb) -> bool | None:
    """Is the value at most this? None where balls can't tell."""
    if value <= most:
        return True
    return False if value > most else None


def decided_by_digits(value: Callable[[float], arb], bound: Callable[[], arb]) -> bool | None:
    """Is a value, known to any digits, at most this bound? None where balls can't decide it."""
    for digits in _TELLING:
        try:
            found = value(digits)
        except (PrecisionError, LimitError):
            if digits <= _MOSTLY_TELL:
                raise
            return None  # of what hardly falls few digits are soon had, and many never
        with ctx.workprec(bits_for(digits) + 64):
            answer = decided(found, most := bound())
        if answer is not None or accuracy(found) > accuracy(most):
            return answer  # of a bound that is as wide no more digits can tell
    return None


def undecided(what: str, digits: float) -> PrecisionError:
    """The error where they can't be had."""
    return PrecisionError(
        f"{what}: {digits:.0f} digits not reached on the exact profile",
        remedy="ask for fewer, or for conversion improved",
    )


def at_digits(value: Callable[[], arb], digits: float, what: Callable[[], str]) -> arb:
    """A value at the precision that so many digits take; PrecisionError where none does."""
    for bits in precisions(digits):
        with ctx.workprec(bits):
            if accuracy(found := value()) >= digits or found.is_exact():
                return found
    raise undecided(what(), digits)
