"""Π (low_i + high_i)^{k_i}, as far as its terms' total losses lie on one side of some place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from operator import mul

from flint import acb, arb_poly, fmpz

Terms = list[tuple[acb, acb]]


def ways(counts: Sequence[int]) -> int:
    """How many sums of terms are taken at a node: those of the kind run most often are sums."""
    return math.prod(k + 1 for k in sorted(counts)[:-1])


def side(terms: Terms, counts: list[int], below: list[int], aside: int) -> acb:
    """Σ Π_i C(k_i,j_i) low_i^{k_i−j_i} high_i^{j_i}; of the last kind the j below these, or others.

    One of them for each way in which the kinds before it fall.
    """
    *others, (low, high) = terms
    *before, count = counts
    if aside < 0:
        low, high, below = high, low, [count + 1 - n for n in below]
    if not others:
        return low**count * _first_ways(count, below[0])(high / low)
    firsts = [acb(1)]
    for (first, last), k in zip(others, before, strict=True):
        own = _powers(first, last, k, k + 1)
        firsts = [x * term for x in firsts for term in own]
    sums = list(itertools.accumulate(_powers(low, high, count, max(below)), initial=acb(0)))
    return sum((x * sums[n] for x, n in zip(firsts, below, strict=True)), acb(0))


def _powers(first: acb, second: acb, count: int, length: int) -> list[acb]:
    """C(k,j) x^{k−j} y^j for j < length."""
    down = list(itertools.accumulate(itertools.repeat(first, count), mul, initial=acb(1)))
    up = itertools.accumulate(itertools.repeat(second, length - 1), mul, initial=acb(1))
    ways = _binomials(count)[:length]
    return [n * x * y for n, x, y in zip(ways, reversed(down), up, strict=False)]


@lru_cache(64)
def _binomials(count: int) -> list[fmpz]:
    return [fmpz(math.comb(count, j)) for j in range(count + 1)]


@lru_cache(64)
def _first_ways(count: int, length: int) -> arb_poly:
    """Σ C(k,j) x^j over j < length."""
    return arb_poly(_binomials(count)[:length])
