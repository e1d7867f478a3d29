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
    for working in doubled(bits or first_bits(digits)):
        with precision(working):
            ball, claim = value()
            if ball.is_exact() or relative_digits(ball) >= digits:
                return ball, claim, working
    raise undecided(what(), digits)


def undecided(what: str, digits: int) -> PrecisionError:
    """What to raise where the digits asked are beyond the limit on bits."""
    return PrecisionError(
        f"{what}: {digits} digits not reached at {limits.current().bits:,} bits; "
        "ask for fewer digits, or raise symacct.limits(bits=...)"
    )


def first_bits(digits: int) -> int:
    """The precision at which so many digits are first asked for."""
    return math.ceil(digits * math.log2(10)) + GUARD_BITS
