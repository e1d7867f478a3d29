"""Draws that any machine makes the same: SHA-256 of a key and a counter, and no logarithm."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")
_FULL = 18  # digits that a double's 53 bits are drawn by


class Chance:
    """Numbers drawn from a key alone.

    A double is the one nearest to a decimal that was drawn, so that no rounding of powers and
    logarithms, which machines differ in, takes part.

    >>> Chance("seed", 1).whole(1, 6) == Chance("seed", 1).whole(1, 6)
    True
    """

    def __init__(self, *key: object) -> None:
        self._key = "/".join(map(str, key))
        self._drawn = 0

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        self._drawn += 1
        drawn = hashlib.sha256(f"{self._key}/{self._drawn}".encode()).digest()
        return low + int.from_bytes(drawn, "big") % (high - low + 1)

    def pick(self, values: Sequence[_T]) -> _T:
        """One of several values."""
        return values[self.whole(0, len(values) - 1)]

    def scale(self, low: int, high: int, digits: int | None = None) -> float:
        """A double in [10^low, 10^high), each power of ten as often as the other.

        It is near a decimal of so many digits; of 1 to 3, or with all of its bits, where none are
        said.
        """
        digits = digits or self.pick((1, 2, 3, 3, _FULL, _FULL))
        mantissa = self.whole(10 ** (digits - 1), 10**digits - 1)
        return float(f"{mantissa}e{self.whole(low, high - 1) - digits + 1}")

    def between(self, low: int, high: int, places: int | None = None) -> float:
        """A double between whole numbers, near a decimal of so many places, of 1 to 3 or of all."""
        places = places or self.pick((1, 2, 3, _FULL))
        return float(f"{self.whole(low * 10**places + 1, high * 10**places - 1)}e-{places}")
