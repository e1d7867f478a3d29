"""Masses at nodes as whole numbers, and products of them: rounded up, less both ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

from flint import fmpz, fmpz_poly

from symacct.kernel import deadline
from symacct.kernel.errors import PrecisionError


class Masses(NamedTuple):
    """The P-masses of some runs at the nodes from `first` on, rounded up, times 2^bits.

    `cut` is at least the mass of all other nodes.
    """

    first: int
    rising: list[Any]  # whole numbers, Python's or flint's
    cut: int


@dataclass(frozen=True)
class Products:
    """Products of masses, less what at either end comes to `most` at most, both times 2^bits."""

    bits: int
    most: int
    most_nodes: int
    refused: str  # what is said of more nodes

    def power(self, masses: Masses, count: int) -> Masses:
        """Of so many runs."""
        if count == 1:
            return masses
        half = self.power(masses, count // 2)
        square = self.product(half, half)
        return self.product(square, masses) if count % 2 else square

    def product(self, one: Masses, other: Masses) -> Masses:
        """Of both, less what at either end comes to `most` at most."""
        deadline.check()
        found = fmpz_poly(one.rising) * fmpz_poly(other.rising)
        more = fmpz_poly([1] * (len(one.rising) + len(other.rising) - 1))
        rising = (found // (fmpz(1) << self.bits) + more).coeffs()
        first, below = _run_of(rising, self.most)
        last, above = _run_of(rising[:first:-1], self.most)
        kept = rising[first : len(rising) - last]
        if len(kept) > self.most_nodes:
            raise PrecisionError(self.refused)
        # Of laws whose masses come to more than 1 it is to be taken times the masses of the others.
        cut = one.cut + other.cut + below + above
        return Masses(one.first + other.first + first, kept, cut)

    def of_many(self, every: list[Masses]) -> Masses:
        """Of all, the narrow ones first, by twos."""
        while len(every) > 1:
            every = sorted(every, key=lambda one: len(one.rising))
            every = [reduce(self.product, every[i : i + 2]) for i in range(0, len(every), 2)]
        return every[0]


def _run_of(masses: list[Any], most: int) -> tuple[int, int]:
    """The first so many that come to `most` at most, but one of all, and what they come to."""
    before = 0
    for i, total in enumerate(accumulate(masses)):
        if total > most or i == len(masses) - 1:
            return i, before
        before = total
    return 0, 0
