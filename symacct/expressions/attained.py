"""What attains a curve: which pair of laws, and in which direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

import numpy as np

from symacct.core.exact import Order


class Pairs(IntEnum):
    """How many pairs of laws it takes, from what says the most to what says the least."""

    #: One, which dominates the mechanism, and which a measure-preserving involution swaps.
    SWAPPED = 0
    #: One, whatever the other records are: a law with the record and a law without it.
    ONE = 1
    #: Another one at another order, or one of datasets whose other records matter.
    SEVERAL = 2


class Way(IntEnum):
    """Which direction of a record added or removed it takes, likewise."""

    #: Either: D_α is as large of the law with the record from the one without it as the other way.
    EITHER = 0
    #: The law with the record, from the one without it.
    ADDITION = 1
    #: That from order 2 on, and the larger direction below.
    ADDITION_FROM_TWO = 2
    #: The larger direction, at each order.
    LARGER = 3


@dataclass(frozen=True)
class AttainedBy:
    """The pairs and the way by which a curve is attained, where it is exact or a lower bound.

    Of an upper bound it says whose curve it is; a `SWAPPED` pair then dominates the mechanism.

    >>> from symacct import Gaussian, Laplace, PoissonSubsample, RandomAllocation
    >>> (Gaussian(1) + PoissonSubsample(Laplace(1), "1/3")).attained == ADDED
    True
    >>> RandomAllocation(Laplace(1), 3).attained.way.name
    'LARGER'
    """

    pairs: Pairs
    way: Way

    @property
    def is_swapped(self) -> bool:
        """Does one pair dominate that an involution swaps (ZW19 Prop. 10, MTZ19 Thm 5)?"""
        return self.pairs is Pairs.SWAPPED

    @property
    def by_one_pair(self) -> bool:
        """Is it D_α(P‖Q) of one pair at every order, P the law with the record?"""
        return self.pairs <= Pairs.ONE and self.way <= Way.ADDITION

    def way_at(self, alpha: Order | np.ndarray) -> Way:
        """The direction at an order, or at the orders of an array."""
        if self.way is not Way.ADDITION_FROM_TWO:
            return self.way
        if isinstance(alpha, np.ndarray):
            return Way.ADDITION if bool(np.min(alpha) >= 2) else Way.LARGER
        known = isinstance(alpha, int | float | Fraction)
        return Way.ADDITION if known and alpha >= 2 else Way.LARGER

    def sampled(self) -> AttainedBy:
        """Of a sample that holds the record or not: (1−γ)Q + γP against Q.

        Of a swapped pair, and of several from order 2 on, the addition is the larger direction.
        """
        pairs = max(self.pairs, Pairs.ONE)
        if self.way is not Way.EITHER:
            return AttainedBy(pairs, self.way)
        return AttainedBy(pairs, Way.ADDITION if self.is_swapped else Way.ADDITION_FROM_TWO)


#: One pair that dominates, swapped by an involution: most noise.
SWAPPED = AttainedBy(Pairs.SWAPPED, Way.EITHER)
#: One pair at every order, in the direction of the addition: samples of such noise.
ADDED = AttainedBy(Pairs.ONE, Way.ADDITION)
#: One pair, in the direction that is the larger one at the order: two laws of which one is stated
#: to be that with the record.
LARGER = AttainedBy(Pairs.ONE, Way.LARGER)
#: One of several pairs, each of which may be that of either direction.
ANY_OF_SEVERAL = AttainedBy(Pairs.SEVERAL, Way.EITHER)
#: Nothing is known.
UNKNOWN = AttainedBy(Pairs.SEVERAL, Way.LARGER)


def together(parts: Iterable[AttainedBy]) -> AttainedBy:
    """What attains a sum, or a mean by a coin: the products of the parts' pairs."""
    parts = tuple(parts)
    pairs = max((part.pairs for part in parts), default=Pairs.SWAPPED)
    return AttainedBy(pairs, max((part.way for part in parts), default=Way.EITHER))


def why_no_one_way(parts: Iterable[AttainedBy], alpha: Order | np.ndarray) -> str | None:
    """None if one direction is the larger one in all parts at this order, else the reason.

    All parts see the same two datasets, and one of these is the one with the record.
    """
    ways = [part.way_at(alpha) for part in parts]
    if Way.LARGER not in ways or sum(way is not Way.EITHER for way in ways) < 2:
        return None
    return (
        "the parts may have their larger values in opposite directions, of a record added and of "
        "one removed, which no two datasets have at once"
    )
