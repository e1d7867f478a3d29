"""Runs whose losses have a least value: D(y) between two laws on a lattice, by truncated powers.

B(a) = E_P[(a/R − 1)₊], R = p/q, is convex and 0 up to the least R; D(y) = 1 − e^y + B(e^y), and
that of (Q, P) is e^y B(e^{−y}). B lies between two functions with kinks on a lattice; those of all
runs are powers of polynomials, of which only what is below y counts (docs/proofs.md, section 16).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from flint import arb, ctx, fmpz, fmpz_poly

from symacct.arithmetic.ball import ceiling, ends_of, floor
from symacct.core.forking import cached_property
from symacct.numerics.sums.refine import ball, up_to
from symacct.profile.accuracy import accuracy, decided, float_of, log_float_of, undecided
from symacct.profile.discretized.connect_the_dots import parallel
from symacct.profile.fourier.starting import by_one_jump
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.part import Part
from symacct.profile.roots import bracket, enclosed
from symacct.profile.runs import DirectedRuns
from symacct.profile.strategy import CANNOT, Number
from symacct.results.progress import progress

_BLOCKS = 16  # that are cut into cells
_HALVINGS = 24  # of the range in which no loss counts
_CELLS, _MOST_CELLS, _NODES = 2**10, 2**13, 8  # nodes to a cell
_TELLING, _FEW_DIGITS = (2**8, 2**10), 2.0
_SPARE_BITS, _TINY = 16, 5.0
_BEFORE, _BEYOND = 0.98, 1.02  # of the root that the lattice before knows
_MORE, _RATE = 1.2, 2.0  # digits that ten times as many cells give
_LEAST, _LEAP, _SURELY = 1.5, 4.0, 1.6
_KEPT = 3
_MOST_DIGITS = 5.0
_MOST_NEED = 160  # nats: of a δ below 1e-60 each value takes longer than contours do
_LEAST_RATE = Fraction(1, 10**9)  # below which nearly all losses are closer than nodes are
_SPARED = 0.9  # of the digit more that is worked with than asked for

Runs = Sequence[tuple[Part, int]]


class LatticeLaw(NamedTuple):
    """P-masses times 2^bits at the nodes from the first on, for bounds of B from both sides.

    The one from below may be above B by `over`.
    """

    below: fmpz_poly
    above: fmpz_poly
    over: arb


def value(part: Part, y: arb) -> arb:
    """B(e^y)."""
    if y > 0:
        return part.hockey_stick(y, False) + y.expm1()
    return y.exp() * part.hockey_stick(-y, True)


def least(part: Part, tiny: arb) -> arb:
    """An exact loss up to which B is below this: the least, or nearer to 0."""
    low, high = -part.largest(True).mid(), arb(0)
    for _ in range(_HALVINGS):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if value(part, middle) < tiny else (low, middle)
    return low


def laid(part: Part, first: arb, step: arb, count: int, cells: int, bits: int) -> LatticeLaw:
    """One run on so many nodes, B known at the ends of some cells between them.

    Above are its chords, and between knots the chord less the gap to where the chords on either
    side meet is below; the hull of that is convex.
    """
    known = _knots(part, first, step, count, cells)
    places, values = map(list, zip(*known.values(), strict=True))
    apart = [after - before for before, after in itertools.pairwise(places)]
    slopes = [(w - v) / a for a, (v, w) in zip(apart, itertools.pairwise(values), strict=True)]
    kinks = [t - s for s, t in itertools.pairwise([arb(0), *slopes])]
    gaps = [a * parallel(u, v) for a, u, v in zip(apart, kinks, kinks[1:], strict=False)]
    gaps = [arb(0), *gaps, apart[-1] * kinks[-1], arb(0)]
    lower = [v - g.max(h) for v, (g, h) in zip(values, itertools.pairwise(gaps), strict=True)]
    start = 2 + max((j for j, v in enumerate(lower) if not v > 0), default=-1)
    lower[:start] = [arb(0)] * len(lower[:start])
    below, above = [fmpz(0)] * count, [fmpz(0)] * count
    hull, over = _hull(lower, places)
    rows = zip(known, places, kinks, hull, strict=False)
    for j, a, upper_kink, lower_kink in rows:
        above[j] = _whole(a * upper_kink * arb(2) ** bits, ceiling)
        below[j] = _whole(a * lower_kink * arb(2) ** bits, floor)
    return LatticeLaw(fmpz_poly(below), fmpz_poly(above), over)


def _knots(part: Part, first: arb, step: arb, count: int, cells: int) -> dict[int, tuple[arb, arb]]:
    """Points (a, B(a)) at the ends of cells; the cell whose chord is off by most is halved."""
    known: dict[int, tuple[arb, arb]] = {}

    def at(j: int) -> tuple[arb, arb]:
        if j not in known:
            y = first + step * j
            known[j] = y.exp(), value(part, y)
        return known[j]

    def halved(i: int, j: int) -> tuple[float, int, int, int]:
        (a, low), (b, middle), (c, high) = at(i), at((i + j) // 2), at(j)
        bend = (low * (c - b) + high * (b - a)) / (c - a) - middle
        return (-float(bend.mid()) * (j - i), i, (i + j) // 2, j)

    ends = sorted({count * b // _BLOCKS for b in range(_BLOCKS + 1)})
    pending = [halved(i, j) for i, j in itertools.pairwise(ends) if j - i > 1]
    heapq.heapify(pending)
    while pending and len(known) < cells:
        _, i, middle, j = heapq.heappop(pending)
        for cell in ((i, middle), (middle, j)):
            if cell[1] - cell[0] > 1:
                heapq.heappush(pending, halved(*cell))
    return dict(sorted(known.items()))


def _hull(values: list[arb], places: list[arb]) -> tuple[list[arb], arb]:
    """The kinks of the largest convex function that is nowhere above the chords of exact values.

    Also by how much it may be above them, as balls do not tell slopes apart.
    """
    kept, slopes, over = [0], [arb(0)], arb(0)
    for j in range(1, len(values)):
        while True:
            slope = (values[j] - values[kept[-1]]) / (places[j] - places[kept[-1]])
            if len(kept) == 1 or slope > slopes[-1]:
                break
            more = slope - slopes.pop()
            kept.pop()
            over += more.max(arb(0)) * (places[j] - places[kept[-1]])
        kept.append(j)
        slopes.append(slope)
    found = [arb(0)] * (len(values) - 1)
    for i, (s, t) in zip(kept, itertools.pairwise(slopes), strict=False):
        found[i] = t - s
    return found, over


def _whole(x: arb, rounded: Callable[[arb], int]) -> fmpz:
    if not x.is_finite():  # of losses that lie closer than the precision tells them apart
        raise undecided("a lattice of losses", _FEW_DIGITS)
    return fmpz(max(0, rounded(x)))


@dataclass(frozen=True, eq=False)
class LossLattice:
    """All runs, those of each part from a first loss on, on a lattice of losses `step` apart.

    Their masses are times 2^bits; B of one run is known at the ends of some cells.
    """

    runs: Runs
    firsts: tuple[arb, ...]
    step: arb
    count: int
    cells: int
    bits: int

    @property
    def work(self) -> int:
        """The precision that its masses are differences at."""
        return self.bits + 3 * self.count.bit_length() + _SPARE_BITS

    @cached_property
    def first(self) -> arb:
        """The least loss of all runs."""
        return sum((k * first for (_, k), first in self._each), arb(0))

    @property
    def _each(self) -> list[tuple[tuple[Part, int], arb]]:
        return list(zip(self.runs, self.firsts, strict=True))

    def delta(self, y: arb, reverse: bool) -> arb:
        """D(y), 0 <= y, or of (Q, P) if `reverse`."""
        if reverse:
            return y.exp() * self._below(-y)
        return (self._below(y) - y.expm1()).max(arb(0))

    def _below(self, y: arb) -> arb:
        """B(e^y) up to the last node, from there on that D is smaller than there."""
        at = (y - self.first) / self.step
        low, high = (max(floor(x), -1) for x in ends_of(at))
        if high >= self.count:
            last = self.first + self.step * (self.count - 1)
            most = self._between(self.count - 1, last) - last.expm1()
            return y.expm1() + up_to(most)
        return reduce(arb.union, (self._between(j, y) for j in range(low, high + 1)))

    def _between(self, j: int, y: arb) -> arb:
        if j < 0:
            return up_to(self._lost)
        over = (y - self.first - self.step * j).expm1()
        below, above = (values[j] + over * (values[j] + totals[j]) for totals, values in self._sums)
        return (below - self._over).union(above + self._lost)

    @cached_property
    def _lost(self) -> arb:
        """What the losses below the first nodes add at most: Π(1+B_i)^{k_i} − 1."""
        logs = (k * value(part, first).log1p() for (part, k), first in self._each)
        return sum(logs, arb(0)).expm1()

    @cached_property
    def _laws(self) -> list[LatticeLaw]:
        return [
            laid(part, first, self.step, self.count, self.cells, self.bits)
            for (part, _), first in self._each
        ]

    @cached_property
    def _over(self) -> arb:
        """By how much what is below may be above B of all runs: Σ k_i r_i Π max(1, m_i)^{k_i}."""
        total, grown = arb(0), arb(1)
        for (_, k), law in zip(self.runs, self._laws, strict=True):
            total += k * law.over
            grown *= (arb(law.below(fmpz(1))) / arb(2) ** self.bits).max(arb(1)) ** k
        return total * grown

    @cached_property
    def _sums(self) -> list[tuple[list[arb], list[arb]]]:
        """Σ p_i over i <= j and Σ p_i (e^{(j−i)h} − 1) at each node j, from both sides."""
        ones = fmpz_poly([1] * self.count)
        return [
            self._summed(self._product([law.below for law in self._laws], fmpz_poly())),
            self._summed(self._product([law.above for law in self._laws], ones)),
        ]

    def _product(self, masses: list[fmpz_poly], more: fmpz_poly) -> fmpz_poly:
        """Of all runs, rounded down and then one more or not."""
        one = fmpz(1) << self.bits

        def times(first: fmpz_poly, second: fmpz_poly) -> fmpz_poly:
            return (first * second).truncate(self.count) // one + more

        def power(first: fmpz_poly, k: int) -> fmpz_poly:
            if k == 1:
                return first
            half = power(first, k // 2)
            square = times(half, half)
            return times(square, first) if k % 2 else square

        counts = [k for _, k in self.runs]
        return reduce(times, map(power, masses, counts))

    def _summed(self, masses: fmpz_poly) -> tuple[list[arb], list[arb]]:
        rows = masses.coeffs()
        rows += [fmpz(0)] * (self.count - len(rows))
        grown, scale = self.step.expm1(), arb(2) ** -self.bits
        totals = list(itertools.accumulate(mass * scale for mass in rows))
        values = [arb(0)]
        for total in totals:
            values.append(values[-1] + grown * (values[-1] + total))
        return totals, values


@dataclass(eq=False)
class LossLattices:
    """Lattices for some runs, each of more cells; a few are kept."""

    runs: DirectedRuns
    _made: dict[tuple[float, int, int], LossLattice] = field(default_factory=dict)

    def cost(self, digits: float) -> float:
        """Little for few digits of few runs, all of sampled noise."""
        if digits > _MOST_DIGITS:
            return CANNOT
        can = all(
            isinstance(part, SampledGaussian) and part.gamma > _LEAST_RATE
            for part, _ in self.runs.runs
        )
        return _CELLS if can else CANNOT

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to so many digits."""

        def ask(lattice: LossLattice) -> arb:
            return lattice.delta(y(), self.runs.reverse)

        return self._refined(ask, float_of(y), digits, self.runs.moments.log_delta(float_of(y)))

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) <= the bound? PrecisionError where no lattice decides it."""
        for cells in _TELLING:
            lattice = self._lattice(float_of(y), cells, _FEW_DIGITS, log_float_of(bound))
            with ctx.workprec(lattice.work):
                told = decided(lattice.delta(y(), self.runs.reverse), bound())
            if told is not None:
                return told
        raise undecided(f"δ at ε = {float_of(y):.6g}", _FEW_DIGITS)

    def root(self, delta: Fraction, digits: float) -> arb:
        """Where D is δ, looked for up to twice where Σ k_i D_i is, then up to what moments tell."""

        def ask(lattice: LossLattice) -> arb:
            def value(y: arb) -> arb:
                return lattice.delta(y, self.runs.reverse)

            found = bracket(value, ball(delta))
            return arb.nan() if found is None else enclosed(value, ball(delta), found)

        log_delta = log_float_of(lambda: ball(delta))
        most = self.runs.moments.renyi_epsilon(log_delta)
        first = min(most, 2 * by_one_jump(self.runs.moments, delta, most))
        return self._refined(ask, first, digits, log_delta, most)

    def _refined(
        self,
        ask: Callable[[LossLattice], arb],
        y: float,
        digits: float,
        log_delta: float,
        most: float = 0.0,
    ) -> arb:
        """What is asked of a lattice up to y; or a root, then near to what the one before knows."""
        cells, digits, is_root = _CELLS, digits - _SPARED, most > 0
        ends = (0.0 if is_root else y, y)
        while True:
            lattice = self._lattice(ends[not self.runs.reverse], cells, digits, log_delta)
            with progress(f"a lattice of {lattice.count:,} losses"), ctx.workprec(lattice.work):
                found = ask(lattice)
            known = max(0.0, accuracy(found))
            if known >= digits:
                return found
            wanted = cells * _MORE * 10 ** ((digits - known) / _RATE)
            if is_root and not found.is_finite():
                if ends[1] == most:
                    raise undecided("a lattice of losses", digits)
                ends = ends[0], most
                continue
            if is_root:
                low, high = ends_of(found)
                ends = float(low), float(high)
            is_told = cells > _CELLS
            if cells == _MOST_CELLS or (is_told and wanted > _SURELY * _MOST_CELLS):
                raise undecided("a lattice of losses", digits)
            cells = min(_MOST_CELLS, math.ceil(min(max(wanted, _LEAST * cells), _LEAP * cells)))

    def _lattice(self, y: float, cells: int, digits: float, log_delta: float) -> LossLattice:
        """With B up to y, or up to −y of the pairs exchanged."""
        need = math.ceil(digits * math.log(10) - log_delta + math.log(self.runs.count))
        if need > _MOST_NEED:
            raise undecided("a lattice of losses", digits)
        key = (y, cells, need)
        if key not in self._made:
            count = _NODES * cells
            bits = math.ceil(need / math.log(2)) + count.bit_length() + _SPARE_BITS
            with ctx.workprec(bits + 3 * count.bit_length()):
                firsts = tuple(least(part, arb(-need - _TINY).exp()) for part, _ in self.runs.runs)
                first = sum(
                    (k * x for (_, k), x in zip(self.runs.runs, firsts, strict=True)), arb(0)
                )
                top = -arb(y) * _BEFORE if self.runs.reverse else arb(y) * _BEYOND
                step = ((top - first).max(-first / count) / (count - 2)).mid()
                bits += math.ceil(float((step * count).expm1().log()) / math.log(2))
            kept = [*self._made.items()][-_KEPT:]
            self._made = {
                **dict(kept),
                key: LossLattice(self.runs.runs, firsts, step, count, cells, bits),
            }
        return self._made[key]
