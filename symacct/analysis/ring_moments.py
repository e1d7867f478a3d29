"""The mean of lognormal variables on a ring, of which near ones are correlated, has its moments.

Places 0, …, t−1 stand on a ring. The variable W_i of a place is e^{X_i − Var X_i/2} with normal X_i
of mean 0, and the covariance of two places depends on how far apart they are on the ring: it is
g_0, g_1, … at the distances 0, 1, …, and 0 from some distance on, the reach. The moment

E[(ΣW_i/t)^n] = n! t^{−n} Σ Π_i e^{g_0 k_i(k_i−1)/2}/k_i! Π_{i<j} e^{g_{d(i,j)} k_i k_j}

is a sum over all counts k_0 + … + k_{t−1} = n (docs/proofs/allocations.md, Lemma ring-moments).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import arb, arb_poly

from symacct.kernel import deadline
from symacct.kernel.memory import cached_property

#: An array of balls, none of them negative.
Balls: TypeAlias = np.ndarray
#: About how many balls a product of two polynomials of clusters costs as much as; it only steers.
_BALLS_OF_A_PRODUCT = 10


# Proved in docs/proofs/allocations.md, Lemma ring-moments.
def ring_moments(gram: Sequence[arb], size: int, most: int) -> list[arb]:
    """E[(ΣW_i/t)^n] in balls for n = 0, …, `most`, of t = `size` places.

    `gram` has g_0, g_1, … up to the reach.
    """
    ring = _Ring(tuple(gram), size, most)
    sums = ring.by_clusters() if _is_long(len(gram), size, most) else ring.around()
    return [math.factorial(n) * total for n, total in enumerate(sums)]


def cost(reach: int, size: int, most: int) -> int:
    """About how many products of balls `ring_moments` takes for g_0, …, g_{reach−1}; it steers."""
    if _is_long(reach, size, most):
        places = most * (reach - 1) + 1
        return places * math.comb(most + reach, reach) + _BALLS_OF_A_PRODUCT * most**3 // 6
    kept = min(size - 1, 2 * (reach - 1))
    return size * math.comb(most + kept + 2, kept + 2)


def _is_long(reach: int, size: int, most: int) -> bool:
    """Has the ring a gap of reach − 1 empty places, wherever up to `most` places are not empty?"""
    return size > most * (reach - 1)


@dataclass(frozen=True)
class _Ring:
    """The sum over the counts of places, without n!, at each total n."""

    gram: tuple[arb, ...]
    size: int
    most: int

    @cached_property
    def of_place(self) -> Balls:
        """The factor of a place, by its count."""
        counts = range(self.most + 1)
        return _balls(
            [(self.gram[0] * (k * (k - 1) // 2)).exp() / math.factorial(k) for k in counts]
        )

    @cached_property
    def of_two(self) -> list[Balls]:
        """The factors of two places at the distances 1, 2, … by the product of their counts."""
        products = range(self.most**2 // 4 + 1)
        return [_balls([(g * product).exp() for product in products]) for g in self.gram[1:]]

    def distance(self, first: int, second: int) -> int:
        """How far apart two places of the ring are."""
        apart = abs(first - second)
        return min(apart, self.size - apart)

    def around(self) -> list[arb]:
        """Place by place: one is kept as long as some later one is within its reach."""
        kept: list[int] = []
        states = _States.none(self)
        for place in range(self.size):
            distances = enumerate(self.distance(place, other) for other in kept)
            states = states.beside([(column, d) for column, d in distances if d < len(self.gram)])
            kept.append(place)
            for other in tuple(kept):
                later = range(place + 1, self.size)
                if all(self.distance(other, x) >= len(self.gram) for x in later):
                    states = states.without(kept.index(other))
                    kept.remove(other)
        sums = dict(zip(states.totals.tolist(), states.sums, strict=True))
        return [sums[n] / arb(self.size) ** n for n in range(self.most + 1)]

    def by_clusters(self) -> list[arb]:
        """By clusters, on a ring that is too long for one of them to close it.

        m of them, of the lengths q_1, …, q_m in their order, lie in tC(t−Q+m−1, m−1)/m ways around
        it, Q = Σq_i, each of which is counted where it begins with a given one of them.
        """
        clusters, size = self.clusters(), self.size
        sums = [arb(1)] + [arb(0)] * self.most
        powers = [arb_poly([1])] + [arb_poly()] * self.most
        for m in range(1, self.most + 1):
            deadline.check()
            powers = [
                sum((powers[n - k] * clusters[k] for k in range(1, n + 1)), arb_poly())
                for n in range(self.most + 1)
            ]
            longest = min(max(power.degree() for power in powers), size)
            ways = [
                math.prod((arb(size - q + j) / size for j in range(1, m)), start=arb(1))
                / math.factorial(m)
                for q in range(longest + 1)
            ]
            for n, power in enumerate(powers):
                sums[n] += sum(map(arb.__mul__, ways, power.coeffs()), arb(0))
        return sums

    def clusters(self) -> list[arb_poly]:
        """For n = 0, …, `most` the sums over clusters of the total n, at x^q by their length q.

        A cluster begins with a count above 0, and ends with the first gap of reach − 1 counts of 0,
        which belongs to it. Sums are multiplied by t^{1−n}.
        """
        rows: list[list[arb]] = [[] for _ in range(self.most + 1)]
        states, length = _States.none(self).beside([], least=1), 1
        while len(states.sums):
            if states.counts.shape[1] == len(self.gram):
                states = states.without(0)
            ended: np.ndarray = ~np.any(states.counts, axis=1)
            for n, total in zip(states.totals[ended].tolist(), states.sums[ended], strict=True):
                rows[n] += [arb(0)] * (length - len(rows[n]))
                rows[n].append(total / arb(self.size) ** (n - 1))
            states, columns = states.only(~ended), states.counts.shape[1]
            states = states.beside([(column, columns - column) for column in range(columns)])
            length += 1
        return [arb_poly(row) for row in rows]


@dataclass(frozen=True)
class _States:
    """Sums of terms, by the counts of some places that are kept and by the total so far."""

    ring: _Ring
    counts: np.ndarray
    totals: np.ndarray
    sums: Balls

    @classmethod
    def none(cls, ring: _Ring) -> _States:
        """The one state before the first place."""
        return cls(ring, np.zeros((1, 0), dtype=int), np.zeros(1, dtype=int), _balls([arb(1)]))

    def beside(self, distances: Sequence[tuple[int, int]], least: int = 0) -> _States:
        """One more place, with a count of at least `least`, kept as the last column.

        It meets the kept places of some columns, each at a distance.
        """
        deadline.check()
        choices = np.maximum(self.ring.most - self.totals + 1 - least, 0)
        rows = np.repeat(np.arange(len(choices)), choices)
        before = np.repeat(np.cumsum(choices) - choices, choices)
        count = np.arange(len(rows)) - before + least
        counts = self.counts[rows]
        sums = self.sums[rows] * self.ring.of_place[count]
        for column, distance in distances:
            product = counts[:, column] * count
            met = np.flatnonzero(product)
            sums[met] = sums[met] * self.ring.of_two[distance - 1][product[met]]
        counts = np.column_stack([counts, count])
        return _States(self.ring, counts, self.totals[rows] + count, sums)

    def without(self, column: int) -> _States:
        """The states in which one kept place is summed over."""
        keys = np.column_stack([self.totals, np.delete(self.counts, column, axis=1)])
        order = np.lexsort(keys.T)
        keys = keys[order]
        starts = np.flatnonzero(np.r_[True, np.any(keys[1:] != keys[:-1], axis=1)])
        sums = np.add.reduceat(self.sums[order], starts)
        return _States(self.ring, keys[starts, 1:], keys[starts, 0], sums)

    def only(self, chosen: np.ndarray) -> _States:
        """Some of the states."""
        return _States(self.ring, self.counts[chosen], self.totals[chosen], self.sums[chosen])


def _balls(values: Sequence[arb]) -> Balls:
    """An array of these balls."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
