"""The digits asked for: a precision that is doubled until they are there."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from symacct.arithmetic.ball import doubled, precision
from symacct.core import limits
from symacct.core.claims import Claim
from symacct.core.errors import PrecisionError
from symacct.results.enclosure import relative_digits

GUARD_BITS = 32


def to_digits(
    value: Callable[[], tuple[arb, Claim]], digits: int, what: Callable[[], str], bits: int = 0
) -> tuple[arb, Claim, int]:
    """A ball with the digits asked, at a precision doubled until it has them."""
    ball = arb(0)
    for working in doubled(bits or first_bits(digits)):
        with precision(working):
            ball, claim = value()
            if ball.is_exact() or relative_digits(ball) >= digits:
                return ball, claim, working
    raise undecided(what(), digits, ball.is_nan())


def undecided(what: str, digits: int, is_none: bool = False) -> PrecisionError:
    """What to raise where the digits asked are beyond the limit on bits."""
    remedy = "ask for fewer digits, or raise the limit bits"
    if is_none:
        remedy = "the formula gave no number at all; in a class of your own state finite_up_to, in "
        remedy += "a theorem of your own orders that leave out those at which it divides by 0 or ∞"
    at = f"at {limits.current().bits:,} bits"
    return PrecisionError(f"{what}: {digits} digits not reached {at}", remedy=remedy)


def first_bits(digits: int) -> int:
    """The precision at which so many digits are first asked for."""
    return math.ceil(digits * math.log2(10)) + GUARD_BITS
