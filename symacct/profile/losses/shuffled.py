"""Shuffled answers have a loss by how many answers are clones of one person's.

Given the number m of clones of the first two kinds, and the number of the third kind that sets S,
the densities of both laws are S ± bW, W the sum of m fair signs (theory/amplification/shuffled.py).
Losses and y are natural logarithms.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx, fmpz

from symacct.analysis.coin_counts import FairTail
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ends_of, floor, up_to
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.operations.shuffled import Shuffled
from symacct.profile.float_laws import BITS, UNIT, FloatLaw, check_nodes, nearest
from symacct.profile.part import Floats, Part, ProfileOnly, no_pair
from symacct.profile.proofs import SHUFFLED
from symacct.theory.amplification.shuffled import (
    CloneCounts,
    Clones,
    Steps,
    clones_below,
    clones_of,
)

#: By how much counts are moved: not at all of at most 500 people, and more of many pairs. Both laws
#: tell more than the truth, and so are sound: the coarser is quicker, and its ε larger.
_FINE, _COARSE = Steps(few=500, deviations=0.5), Steps(few=30, deviations=2.0)
#: No count is moved: what is moved tells more than the truth, and so is no lower bound.
_UNMOVED = Steps(few=10**7, deviations=0.0, of_many=0.0, block=0.0)
#: A float64 that is so near to a whole number, of at most 10⁷, is told from it by balls. It has to
#: be more than the float is off, some 2^{−28}: a smaller one is unsound.
_UNSURE = 2.0**-20
#: Ratios of floats are taken up to e to this power: either law is a difference of two floats.
#: Larger ones are left to balls, as the proof needs it.
_LARGEST_OF_FLOATS = 6.0
#: A float's loss is raised by this, which is more than its roundings can be. A smaller one is
#: unsound.
_LIFT = 2.0**-38
#: Roundings of a mass, beside those of its chance: a difference of floats has e^7 times as many. A
#: smaller number is unsound.
_ROUNDINGS = 2**14
#: What is left out is less than `rare` by e^{−5}, and so is each count's chance by 2^{−20}. It is
#: bounded, and added.
_SPARE_NATS, _NEGLIGIBLE = 5.0, 2.0**-20


@dataclass(frozen=True)
class ShuffledLoss(ProfileOnly):
    """n people's shuffled answers, of which one is that of the person, by `clones`."""

    clones: Clones
    n: int
    steps: Steps = _FINE

    symmetric = True
    is_costly = True
    proof = SHUFFLED

    def sampled(self, gamma: Exact) -> Part:
        """Raise AssumptionError: no pair is known of shuffled answers of a sample."""
        raise no_pair("found shuffled answers of a sample, needed those of all people")

    # --- float64: where to look

    @cached_property
    def spread(self) -> float:
        """Estimate the variance of L by that of 2bW."""
        own, clone = nearest(self.clones.own), nearest(self.clones.clone)
        beta = own * -math.expm1(-nearest(self.clones.log_ratio))
        return 2 * beta**2 / (clone * self.n)

    def float_moments(self, orders: Floats) -> tuple[Floats, Floats]:
        """Estimate log F and the variance of L as if L were normal, and at most its largest."""
        even = orders * (orders - 1) / 2 * self.spread
        largest = np.maximum(orders - 1, -orders) * nearest(self.clones.log_ratio)
        return np.minimum(even, np.maximum(largest, even)), np.full(len(orders), self.spread)

    def in_floats(self, reverse: bool, rare: float) -> ClonesInFloats | None:
        """Return the law in float64, u moved by more; None where no ratio of floats is near."""
        if nearest(self.clones.log_ratio) > _LARGEST_OF_FLOATS:
            return None
        with ctx.workprec(BITS):
            return ClonesInFloats(_table(replace(self, steps=_COARSE), BITS))

    # --- balls: what is proved

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """Compute D(y) over the counts m and u that are not negligible, and bound the others.

        P(x|m, u) − e^y Q is positive from some x on, which gives two binomial tails.
        """
        return _table(self, ctx.prec).profile(y)

    def largest(self, reverse: bool) -> arb:
        """Return the log ratio of the clones, either way round."""
        return BALL.number(self.clones.log_ratio)

    def exact_largest(self, reverse: bool) -> Exact:
        """Return the log ratio of the clones, either way round."""
        return self.clones.log_ratio

    def mass_at_infinity(self, reverse: bool) -> Exact:
        """Return 0: both laws have the same outcomes."""
        return Fraction(0)


# Proved in docs/proofs/mechanisms.md, Lemma clones-in-floats.
class ClonesInFloats:
    """The law in float64 is laid on nodes, row by row."""

    def __init__(self, table: ClonesTable) -> None:
        self.table, self.slope = table, float(table.slope)

    def on_nodes(self, step: float, rare: float) -> FloatLaw:
        """Lay each outcome's mass on the nodes on either side of its loss.

        Outcomes are left out whose chance is about `rare` together; what P lacks is in the bound.
        """
        largest = _LARGEST_OF_FLOATS + 1
        first = math.floor(-largest / step)
        count = math.ceil(largest / step) - first + 2
        check_nodes(count)
        masses, outcomes, longest = np.zeros(count), np.zeros(count), 0
        nats = -math.log(rare) + _SPARE_NATS
        for row in self.table.rows:
            deadline.check()
            kept = row.weights > rare * _NEGLIGIBLE
            if not kept.any():
                continue
            reach = min(math.ceil(math.sqrt(row.m * nats / 2)) + 1, row.m - row.m // 2)
            chances, sums = _fair(row.m, reach)
            longest = max(longest, len(chances))
            moved, s = self.slope * sums, row.floats[kept][:, None]
            p, q = s + moved, s - moved
            mass = (row.weights[kept][:, None] * chances * p).ravel()
            loss = (np.log(p / q) + _LIFT).ravel()
            places = np.floor(loss / step)
            at = (places - first).astype(np.int64)
            up = mass * (np.expm1(places * step - loss) / math.expm1(-step))
            masses += np.bincount(at, np.maximum(mass - up, 0.0), count)
            masses += np.bincount(at + 1, up, count)
            outcomes += np.bincount(at, minlength=count) + np.bincount(at + 1, minlength=count)
        relative = (4 * longest + 2 * float(outcomes.max()) + _ROUNDINGS) * UNIT
        total = float(masses.sum())
        short = max(0.0, 1 - total) + 2 * (relative + count * UNIT) * max(total, 1.0)
        return FloatLaw(arb(first * step), masses, short)


def _fair(m: int, reach: int) -> tuple[Floats, Floats]:
    """List P[Bin(m, ½) = x] and 2x − m for x at most `reach` from m/2, from its largest down.

    Each chance is a product of as many quotients as it is from the middle.
    """
    middle = (m + 1) // 2
    x = np.arange(middle + 1, min(middle + reach, m) + 1)
    start = float(arb(fmpz.bin_uiui(m, middle)) / arb(2) ** m)
    upper = start * np.concatenate([[1.0], np.cumprod((m - x + 1) / x)])
    sums = 2.0 * np.concatenate([[middle], x]) - m
    mirrored = slice(1 if sums[0] == 0 else 0, None)
    return np.concatenate([upper, upper[mirrored]]), np.concatenate([sums, -sums[mirrored]])


# Proved in docs/proofs/mechanisms.md, Lemmas three-clones and moved-clones.
def losses(node: Shuffled) -> list[ShuffledLoss]:
    """The losses for each two inputs; AssumptionError where no clones are known."""
    every = clones_of(node.mechanism)
    steps = _FINE if len(every) == 1 else _COARSE
    return [ShuffledLoss(clones, node.n, steps) for clones in every]


def losses_below(node: Shuffled) -> list[ShuffledLoss]:
    """The losses of some answers, as others have a third value; [] where none is known."""
    return [ShuffledLoss(clones, node.n, _UNMOVED) for clones in clones_below(node.mechanism)]


@lru_cache(32)
def _table(part: ShuffledLoss, bits: int) -> ClonesTable:
    """Make the table of the counts at flint's current precision, which is `bits`."""
    return ClonesTable(part)


class ClonesRow:
    """A number m of clones with the values of S, which rise, and sums of their chances."""

    def __init__(self, m: int, cells: list[tuple[arb, arb]]) -> None:
        self.m, self.densities = m, [density for density, _ in cells]
        self.floats = np.array([float(density) for density in self.densities])
        self.weights = np.array([float(chance) for _, chance in cells])
        #: Σ chance and Σ S·chance over the first cells, from none of them on.
        self.chances, self.masses = [arb(0)], [arb(0)]
        for density, chance in cells:
            self.chances.append(self.chances[-1] + chance)
            self.masses.append(self.masses[-1] + density * chance)

    def edges(self, pace: arb) -> list[tuple[int, int, int, bool]]:
        """List (k, i, j, False), P > e^y Q from the outcome k on, for the values S from i before j.

        P > e^y Q where x > m/2 + pace·S. Where balls do not tell whether x is there, (x, i, i+1,
        True) stands for this outcome alone.
        """
        near = self.m / 2 + float(pace.mid()) * self.floats
        ks = np.clip(np.floor(near) + 1, 0, self.m + 1)
        unsure = np.flatnonzero(np.abs(near - np.rint(near)) < _UNSURE)
        edges = []
        for i in unsure.tolist():
            edge = arb(self.m) / 2 + pace * self.densities[i]
            low, high = (floor(x) + 1 for x in ends_of(edge))
            ks[i] = min(max(high, 0), self.m + 1)
            if low < high and 0 <= low <= self.m:
                edges.append((low, i, i + 1, True))
        starts = [0, *(np.flatnonzero(np.diff(ks)) + 1).tolist(), len(ks)]
        return edges + [(int(ks[i]), i, j, False) for i, j in itertools.pairwise(starts)]


class ClonesTable:
    """The counts m of many clones, each with the values of S, from the largest m down."""

    def __init__(self, part: ShuffledLoss) -> None:
        """Sum the chances of the counts within what the precision asks."""
        counts = CloneCounts(part.clones, part.n, part.steps)
        self.rows = [ClonesRow(m, cells) for m, cells in counts.rows]
        self.slope, self.seen = counts.slope, counts.seen

    def profile(self, y: arb) -> arb:
        """Compute D(y); of what is left out 0 <= D <= the mass of P. NaN where balls are wide."""
        falling, rising = y.expm1(), (1 + y.exp()) * self.slope
        pace = falling / (2 * rising)
        if not pace.is_finite() or not pace.rad() * self.largest_density < _UNSURE / 4:
            return arb.nan()
        total, tail = arb(0), None
        for row in self.rows:
            deadline.check()
            for k, first, last, is_edge in row.edges(pace):
                if k > row.m:
                    continue
                tail = tail or FairTail(row.m, k)
                tail.move(row.m, k)
                chance = row.chances[last] - row.chances[first]
                mass = row.masses[last] - row.masses[first]
                if is_edge:  # the outcome k alone
                    value = (rising * (2 * k - row.m) * chance - falling * mass) * tail.mass
                    total += value.max(arb(0))
                else:
                    total += rising * k * chance * tail.mass - falling * mass * tail.tail
        return total + up_to((1 - self.seen).max(arb(0)))

    @cached_property
    def largest_density(self) -> float:
        """The largest S, in float64."""
        return max(float(row.floats[-1]) for row in self.rows)
