"""Brackets are halved by what a predicate says of their middle, or cut by golden sections."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from symacct.kernel import deadline

Place = TypeVar("Place", float, Fraction)
#: A value that is looked for, such as a float, a Fraction or an exact ball.
Value = TypeVar("Value", bound=Any)
#: (3 − √5)/2, the golden section, to the accuracy that steering needs.
GOLDEN = Fraction(381966, 1_000_000)


def halved(
    low: Place, high: Place, is_low: Callable[[Place], bool], times: int
) -> tuple[Place, Place]:
    """A bracket after so many halvings: `is_low` holds at each new low end, at no new high one."""
    for _ in range(times):
        deadline.check()
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low, high


def halved_whole(low: int, high: int, is_low: Callable[[int], bool]) -> int:
    """A whole number at which `is_low` holds and not at the next one, low <= it < high.

    `is_low` is not asked at both ends: it is taken to hold at `low`, and not at `high`.
    """
    while high - low > 1:
        deadline.check()
        middle = (low + high) // 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low


def golden_least(
    low: Place, high: Place, value: Callable[[Place], Value], times: int
) -> tuple[Place, Value]:
    """The least value that so many golden sections of a bracket meet, with its place.

    Of a function of one valley it is near the bottom. It steers: of several valleys one is found.
    """
    left, right = low + GOLDEN * (high - low), high - GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(times):
        deadline.check()
        if at_right < at_left:
            low, left, at_left = left, right, at_right
            right = high - GOLDEN * (high - low)
            at_right = value(right)
        else:
            high, right, at_right = right, left, at_left
            left = low + GOLDEN * (high - low)
            at_left = value(left)
    return (right, at_right) if at_right < at_left else (left, at_left)
