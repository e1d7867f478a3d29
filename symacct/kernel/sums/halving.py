"""Brackets are halved by what a predicate says of their middle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from symacct.kernel import deadline

Place = TypeVar("Place", float, Fraction)


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
