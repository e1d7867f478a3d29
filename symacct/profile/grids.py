"""Laws on a grid of losses give the profile, by cells and their convolution.

Losses and steps are in nats, `need` too: what is left out is about e^{−need}. Masses are P's, of
the direction that is asked. An estimate is float64 and steers; the rest is proved.
"""

from __future__ import annotations

import bisect
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from flint import acb, arb, arb_mat, arb_poly, ctx, fmpz, fmpz_poly

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import (
    accuracy,
    ball,
    ceiling,
    ends_of,
    float_above,
    floor,
    within,
)
from symacct.kernel.deadline import progress
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.exact import LazyModule
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.halving import halved
from symacct.profile import sums
from symacct.profile.float_laws import BITS, FARTHEST, FloatLaw, nodes
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.part import Floats, Part
from symacct.profile.proofs import GRIDS
from symacct.profile.roots import bracket, decided, enclosed, log_float_of
from symacct.profile.runs import CANNOT, DirectedRuns, Number

if TYPE_CHECKING:
    from symacct.profile.losses import density
    from symacct.profile.losses.density import DensityLoss, Panel
else:
    density = LazyModule("symacct.profile.losses.density")

# --- nodes
#
# P-masses at equally spaced losses, and their profile: two sums from each node on.

#: So many nodes are summed at once; it costs time alone.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes are masses times 2^bits at the losses first + j·step."""

    first: arb
    step: arb
    masses: list[Any]  # whole numbers, Python's or flint's
    bits: int

    def profile(self, y: arb) -> arb:
        """Compute Σ p(1 − e^{y−ℓ}) over ℓ > y, from the best node where balls can't decide.

        It is the profile's value without P(L = ∞).
        """
        at = (y - self.first) / self.step
        lowest, highest = map(self._place, ends_of(at))
        return BALL.maximum(*(self._beyond(j, y) for j in range(lowest, highest + 1)))

    def _place(self, at: arb) -> int:
        """Return the first node beyond a place that is counted in steps; it steers alone.

        Any node gives at most the profile, and the best one gives it.
        """
        return max(0, min(int(float(at.floor())) + 1, len(self.masses)))

    def _beyond(self, j: int, y: arb) -> arb:
        """Compute Σ p(1 − e^{y−ℓ}) over the nodes from the j-th on."""
        block, place = divmod(j, _BLOCK)
        whole, fallen = self._blocks
        rest, x = arb_poly(self.masses[j : (block + 1) * _BLOCK]), (-self.step).exp()
        far = rest(x) + x ** (_BLOCK - place) * fallen[block + 1]
        near = (y - self.first - self.step * j).exp()
        return (rest(1) + whole[block + 1] - near * far) / arb(2) ** self.bits

    @cached_property
    def _blocks(self) -> tuple[list[arb], list[arb]]:
        """Compute Σ p and Σ pe^{−ih} over the nodes from each block on, i from its first."""
        x = (-self.step).exp()
        falls, whole, fallen = x**_BLOCK, [arb(0)], [arb(0)]
        for first in range(len(self.masses) // _BLOCK * _BLOCK, -1, -_BLOCK):
            block = arb_poly(self.masses[first : first + _BLOCK])
            whole.append(whole[-1] + block(1))
            fallen.append(block(x) + falls * fallen[-1])
        return whole[::-1], fallen[::-1]


# --- masses
#
# Masses at nodes as whole numbers, and products of them: rounded up, less both ends.


class Masses(NamedTuple):
    """Masses are the P-masses of some runs at the nodes from `first` on, rounded up, times 2^bits.

    `cut` is at least the mass of all other nodes, times 2^bits too.
    """

    first: int
    rising: list[Any]  # whole numbers, Python's or flint's
    cut: int

    def stretched(self, stride: int) -> Masses:
        """Return the same masses on a grid so many times finer."""
        rising = [0] * (stride * (len(self.rising) - 1) + 1)
        rising[::stride] = self.rising
        return Masses(stride * self.first, rising, self.cut)


@dataclass(frozen=True)
class Products:
    """Products of masses leave out at either end what sums to `most` at most, masses times 2^bits.

    More than `most_nodes` are refused by a PrecisionError that says `refused`.
    """

    bits: int
    most: int
    most_nodes: float = math.inf
    refused: str = ""

    def power(self, masses: Masses, count: int) -> Masses:
        """Compute the masses of `count` >= 1 runs."""
        if count == 1:
            return masses
        half = self.power(masses, count // 2)
        square = self.product(half, half)
        return self.product(square, masses) if count % 2 else square

    def product(self, first_masses: Masses, second_masses: Masses) -> Masses:
        """Multiply two laws' masses, rounded up, less what at either end sums to `most` at most.

        PrecisionError where too many nodes are left.
        """
        deadline.check()
        product = fmpz_poly(first_masses.rising) * fmpz_poly(second_masses.rising)
        more = fmpz_poly([1] * (len(first_masses.rising) + len(second_masses.rising) - 1))
        rising = (product // (fmpz(1) << self.bits) + more).coeffs()
        first, below = _run_of(rising, self.most)
        last, above = _run_of(rising[:first:-1], self.most)
        kept = rising[first : len(rising) - last]
        if len(kept) > self.most_nodes:
            raise PrecisionError(self.refused)
        # Of laws whose masses come to more than 1 it is to be taken times the masses of the others.
        cut = first_masses.cut + second_masses.cut + below + above
        return Masses(first_masses.first + second_masses.first + first, kept, cut)

    def of_many(self, every: list[Masses]) -> Masses:
        """Multiply the masses of one or more laws by twos, the narrow ones first."""
        while len(every) > 1:
            every = sorted(every, key=lambda masses: len(masses.rising))
            every = [reduce(self.product, every[i : i + 2]) for i in range(0, len(every), 2)]
        return every[0]


def _run_of(masses: list[Any], most: int) -> tuple[int, int]:
    """Count the first masses that sum to `most` at most, and sum them; the last is not counted.

    Both are whole numbers, masses times the 2^bits of `Products`.
    """
    before = 0
    for i, total in enumerate(accumulate(masses)):
        if total > most or i == len(masses) - 1:
            return i, before
        before = total
    return 0, 0


# --- cells
#
# Two densities cut at the places where their loss is that of a node: the masses beyond each.

#: The loss is looked at in so many places of a panel, to estimate its ends. They steer.
_PLACES = 8
#: Chebyshev points are multiples of this number, so that few rules serve many panels. It costs time
#: alone.
_MULTIPLE_OF_POINTS = 16
#: Losses at some places are worked out at so many bits. They steer, but for the least loss of a
#: triangle, whose ball is rounded down.
_FEW_BITS = 64
#: Coefficients of powers lose so many bits for each point, as they cancel. Where they are too few,
#: the ball is wider.
_BITS_LOST_PER_POINT = 1.3
#: Errors of the masses are asked to be e^{−30} of what is left out. What they come to is bounded:
#: fewer widen the profile.
_CELL_SPARE_NATS = 30.0
#: The place of a node's loss is looked for by at most so many steps; its radius is proved.
_NEWTON_STEPS = 60


class Tail(NamedTuple):
    """A tail is P(S) and Q(S), S where the loss is beyond a node."""

    p: arb
    q: arb


def reach(part: DensityLoss, reverse: bool, need: float) -> tuple[float, float]:
    """Estimate the smallest and the largest loss of a pair of densities, in float64."""
    panels = density.pieces(part, need).panels
    losses = [float(_loss(panel, place).mid()) for panel in panels for place in _some_places(panel)]
    low, high = min(losses), max(losses)
    return (-high, -low) if reverse else (low, high)


def _some_places(panel: Panel) -> Iterator[arb]:
    """Yield evenly spaced places of a panel, both ends among them."""
    low, high = panel.ends
    return (low + (high - low) * i / _PLACES for i in range(_PLACES + 1))


# Proved in docs/proofs/grids.md, Lemma density-cells.
def tails(
    part: DensityLoss, ways: Sequence[bool], losses: Sequence[arb], need: float
) -> tuple[list[list[Tail]], arb]:
    """Compute tails of sets on which the loss is nearly above each of the rising losses.

    In one direction or both, by `ways`, True for the exchanged one; then the losses lie
    symmetrically about 0. D is at most the second number above P(S) − e^yQ(S) there, about
    e^{−need}.
    """
    nodes = [-y for y in reversed(losses)] if ways[0] else losses
    between, off = _between(part, nodes, need)
    tails_of_ways = []
    for reverse in ways:
        between_nodes = [Tail(q, p) for p, q in reversed(between)] if reverse else between
        beyond = itertools.accumulate(between_nodes[:0:-1], lambda x, y: Tail(x.p + y.p, x.q + y.q))
        tails_of_ways.append(list(beyond)[::-1])
    return tails_of_ways, off


def _between(part: DensityLoss, nodes: Sequence[arb], need: float) -> tuple[list[Tail], arb]:
    """Compute the masses where the loss lies between two nodes, and bound their error."""
    places = [y.mid() for y in nodes]  # exact, as all comparisons with them are
    masses, astray = [Tail(arb(0), arb(0))] * (len(nodes) + 1), arb(0)
    for integrals in _integrals(part, need, ctx.prec):
        with ctx.workprec(integrals.bits):
            for edges in _cut(integrals, nodes, places, arb(-need).exp()):
                beyond = [[whole(u) for whole in integrals.both] for u, _ in edges]
                stretches = zip(itertools.pairwise(edges), itertools.pairwise(beyond), strict=True)
                for ((first, low), (last, high)), (before, after) in stretches:
                    radius = within(integrals.interpolation_error * (last - first))
                    p, q = (y - x + radius for x, y in zip(before, after, strict=True))
                    i = bisect.bisect(places, ((low + high) / 2).mid())
                    masses[i] = Tail(masses[i].p + p, masses[i].q + q)
                    if i > 0:
                        astray = astray.max(nodes[i - 1] - low.min(high))
                    if i < len(nodes):
                        astray = astray.max(low.max(high) - nodes[i])
    return masses, density.pieces(part, need).left_out + astray.expm1()


class Integrals(NamedTuple):
    """Integrals of m and q over a panel are polynomials in u from −1 to 1.

    Their differences are masses, worked out with so many bits and off by at most
    `interpolation_error` per unit of u; the loss is off by at most `astray`.
    """

    panel: Panel
    middle: arb
    half: arb
    both: list[arb_poly]
    loss: arb_poly
    astray: arb
    interpolation_error: arb
    bits: int


@lru_cache(16)
def _integrals(part: DensityLoss, need: float, bits: int) -> list[Integrals]:
    """Integrate on every panel polynomials that agree with the densities at Chebyshev's points.

    `bits` is flint's current precision, for the memory.
    """
    panels, _, size = density.pieces(part, need)
    counts = [_points(panel, need + _CELL_SPARE_NATS) for panel in panels]
    with ctx.workprec(_working_bits(bits, max(counts))):
        part.pair.shifts()  # once for all panels
    return [_integral(*each, size, bits) for each in zip(panels, counts, strict=True)]


def _points(panel: Panel, need: float) -> int:
    """Count the points of a panel for errors of about e^{−need} of its masses."""
    need += max(abs(float(_loss(panel, place).mid())) for place in _some_places(panel))
    points = (max(panel.log_most, 0.0) + need) / math.log(density.RHO)
    return _MULTIPLE_OF_POINTS * max(1, math.ceil(points / _MULTIPLE_OF_POINTS))


def _working_bits(bits: int, count: int) -> int:
    """Return the bits that polynomials of so many points are worked with."""
    return bits + math.ceil(_BITS_LOST_PER_POINT * count)


def _integral(panel: Panel, count: int, size: float, bits: int) -> Integrals:
    """Integrate the polynomials that interpolate m, q and the loss on one panel."""
    bits = _working_bits(bits, count)
    with ctx.workprec(bits):
        low, high = panel.ends
        middle, half = (low + high) / 2, (high - low) / 2
        values = []
        for u in sums.points(count):
            logs = panel.chart.logs(acb(middle + half * u))
            log_q, loss = logs.q.value.real, logs.loss.value.real
            values.append([half * (log_q + loss).exp(), half * log_q.exp(), loss])
        columns = (sums.shares(count).transpose() * arb_mat(values)).transpose().tolist()
        off = half * sums.interpolation_error(panel.most(size), arb(density.RHO), count)
        p, q, loss = map(_in_powers, columns)
        astray = sums.interpolation_error(panel.most_of_loss(), arb(density.RHO), count)
        return Integrals(panel, middle, half, [p.integral(), q.integral()], loss, astray, off, bits)


def _in_powers(coefficients: list[arb]) -> arb_poly:
    """Write Σ c_k T_k in powers, by Clenshaw's b_k = c_k + 2u b_{k+1} − b_{k+2}: b_0 − u b_1."""
    u, after, last = arb_poly([0, 1]), arb_poly(), arb_poly()
    for c in reversed(coefficients[1:]):
        after, last = c + 2 * u * after - last, after
    return coefficients[0] + u * after - last


#: A place u of a panel, and the loss there.
Edge = tuple[arb, arb]


def _cut(
    integrals: Integrals, nodes: Sequence[arb], places: Sequence[arb], tiny: arb
) -> Iterator[list[Edge]]:
    """Cut [−1, 1] into parts where the loss is monotone, or hardly changes, and at the nodes.

    It hardly changes where that is by less than `tiny`. Each part is yielded as its edges.
    """
    pending = [(arb(-1), arb(1))]
    while pending:
        deadline.check()
        first, last = pending.pop()
        over = acb(integrals.middle + integrals.half * first.union(last))
        slope = integrals.panel.chart.loss(over).slope.real * integrals.half
        change = abs(slope * (last - first))
        edges = [(u, integrals.loss(u) + within(integrals.astray)) for u in (first, last)]
        if change < tiny:
            level = edges[0][1] + within(change)
            yield [(first, level), (last, level)]
        elif slope > 0 or slope < 0:
            low, high = sorted(loss.mid() for _, loss in edges)
            inside = range(bisect.bisect(places, low), bisect.bisect_left(places, high))
            yield _crossed(integrals, nodes, inside, edges, tiny)
        else:
            centre = (first + last) / 2
            pending += [(centre, last), (first, centre)]


def _crossed(
    integrals: Integrals, nodes: Sequence[arb], inside: range, edges: Sequence[Edge], tiny: arb
) -> list[Edge]:
    """Return both edges, and between them a place u of each node `inside`, with its proved loss.

    By Newton's steps, the middle node first: it leaves the others shorter intervals to begin in.
    """
    first, last = edges
    if not inside:
        return [first, last]
    middle = len(inside) // 2
    y, slope = nodes[inside[middle]], integrals.loss.derivative()
    (a, begun), (b, ended) = first, last
    u = (a + (b - a) * (y - begun) / (ended - begun)).mid()
    for _ in range(_NEWTON_STEPS):
        if not a < u < b:
            u = ((a + b) / 2).mid()
        loss = integrals.loss(u)
        if abs(y - loss) < tiny:
            break
        a, b = (u, b) if (loss < y) == (begun < ended) else (a, u)
        u = (u + (y - loss) / slope(u)).mid()
    edge = u, loss + within(integrals.astray)
    sides = [inside[:middle], inside[middle + 1 :]]
    if ended < begun:
        sides.reverse()
    before = _crossed(integrals, nodes, sides[0], (first, edge), tiny)
    return before[:-1] + _crossed(integrals, nodes, sides[1], (edge, last), tiny)


def _loss(panel: Panel, place: arb) -> arb:
    """Compute the loss at a place of a panel, at few bits."""
    with ctx.workprec(_FEW_BITS):
        loss: arb = panel.chart.loss(acb(place)).value.real
        return loss


# --- connected dots
#
# A law's mass moved to the nodes of a grid of losses: a larger profile, and by how much at most.
#
# Each piece of it goes to the nodes on either side, so that both laws keep their masses
# (docs/proofs/grids.md, Lemma cells).


class LineCell(NamedTuple):
    """A cell has the masses of P and Q, and two ends of the loss log(p/q)."""

    p: arb
    q: arb
    low: arb
    high: arb


@dataclass(frozen=True, eq=False)
class DottedLaw:
    """A dotted law has its P-masses at the losses first + jh, and its profile is an upper bound.

    It is at least D − left_out, and between the nodes j−1 and j larger than D by at most excess[j];
    D is without P(L = ∞). All P-mass but `far_mass` was moved by at most `moved` steps.
    """

    first: arb
    step: arb
    masses: list[arb]
    excess: list[arb]
    left_out: arb
    far_mass: arb
    moved: int


def of_cells(cells: list[LineCell], step: arb, left_out: arb) -> DottedLaw:
    """Move each cell's masses to the nodes on either side of its losses; both laws keep theirs."""
    lows = [floor(cell.low / step) for cell in deadline.each(cells)]
    ends = [(i, max(i + 1, -floor(-c.high / step))) for i, c in zip(lows, cells, strict=True)]
    first, last = min(i for i, _ in ends), max(j for _, j in ends)
    grown = [(step * j).exp() for j in deadline.each(range(first, last + 1))]
    masses, excess = ([arb(0)] * len(grown) for _ in range(2))
    for cell, (low, high) in deadline.each(zip(cells, ends, strict=True)):
        i, j = low - first, high - first
        apart = grown[j] - grown[i]
        down, up = ((grown[j] * cell.q - cell.p) / apart, (cell.p - grown[i] * cell.q) / apart)
        masses[i] += grown[i] * down
        masses[j] += grown[j] * up
        more = apart * parallel(down, up)
        for n in range(i + 1, j + 1):
            excess[n] += more
    moved = max(j - i for i, j in ends)
    return DottedLaw(step * first, step, masses, excess, left_out, arb(0), moved)


# Proved in docs/proofs/grids.md, Lemma chords.
def of_profile(part: Part, reverse: bool, ends: tuple[arb, arb], step: arb) -> DottedLaw:
    """Lay the chords of D over a = e^y between nodes, from D(−∞) = 1 on.

    Nearby chords, which go on below D, bound by how much they exceed it. The nodes begin at the
    first of `ends` and reach the second one at least; what is beyond them is left out, and bounded.
    """
    first, last = ends
    count = max(2, -floor((first - last) / step))
    losses = [first + step * j for j in deadline.each(range(count + 1))]
    places = [arb(0), *(y.exp() for y in deadline.each(losses))]
    values = [arb(1), *(part.hockey_stick(y, reverse) for y in deadline.each(losses))]
    apart = _differences(places)
    slopes = [v / a for v, a in zip(_differences(values), apart, strict=True)]
    weights = _differences([arb(-1), *slopes, arb(0)])
    masses = [a * q for a, q in zip(places[1:], weights[1:], strict=True)]
    excess = [
        a * parallel(u, v) for a, (u, v) in zip(apart, itertools.pairwise(weights), strict=True)
    ]
    below = abs(values[1] - 1 + places[1]) / step.expm1()
    return DottedLaw(first, step, masses, excess, abs(values[-1]), below, 1)


# Proved in docs/proofs/grids.md, Lemma lines-below.
def lines_below(
    part: Part, reverse: bool, ends: tuple[arb, arb], step: arb
) -> list[tuple[arb, arb]]:
    """List P- and Q-masses of a pair whose profile is the largest of lines below D.

    A line goes through D at a place, lowered by what the chords about it leave open. Places are
    half a step apart. [] where P(L = ∞) is not 0.
    """
    if part.mass_at_infinity(reverse) != 0:
        return []
    (first, last), half = ends, step / 2
    losses = [first + half * j for j in deadline.each(range(2 - floor((first - last) / half)))]
    places = [arb(0), *(y.exp() for y in deadline.each(losses))]
    values = [arb(1), *(part.hockey_stick(y, reverse) for y in deadline.each(losses))]
    apart = _differences(places)
    slopes = [arb(-1), *(v / a for v, a in zip(_differences(values), apart, strict=True)), arb(0)]
    lines = [(arb(1), arb(-1))]
    for j in deadline.each(range(1, len(places) - 1)):
        before, left, right, after = slopes[j - 1 : j + 3]
        slope = ((left + right) / 2).mid()
        if not (left <= slope and slope <= right):
            continue
        off = BALL.maximum(
            apart[j] * _share_above(slope - left, after - slope, after - right),
            apart[j - 1] * _share_above(right - slope, slope - before, left - before),
        )
        _keep(lines, ((values[j] - off - slope * places[j]).lower(), slope))
    _keep(lines, (arb(0), arb(0)))
    return [(b - d, t - s) for (b, s), (d, t) in itertools.pairwise(lines)]


def _share_above(u: arb, w: arb, v: arb) -> arb:
    """Bound uv/(u+w) of nonnegative numbers, v <= w, from above; 0 where u is 0."""
    u, v = u.upper().max(arb(0)), v.upper().max(arb(0))
    share: arb = u * v / (u + w.lower().max(v)) if u > 0 and v > 0 else arb(0)
    return share


def _keep(lines: list[tuple[arb, arb]], line: tuple[arb, arb]) -> None:
    """Append a line b + sa of a larger slope, and drop those that the others leave no place."""

    def crossing(first: tuple[arb, arb], second: tuple[arb, arb]) -> arb:
        return (first[0] - second[0]) / (second[1] - first[1])

    if not line[1] > lines[-1][1]:
        return
    while len(lines) > 1 and not crossing(lines[-2], lines[-1]) < crossing(lines[-1], line):
        lines.pop()
    lines.append(line)


def of_tails(
    every: Sequence[Sequence[Tail]], losses: Sequence[arb], step: arb, left_out: arb
) -> DottedLaw:
    """Lay the chords of the largest P(S) − aQ(S) over some sets S for each node.

    A line P(S) − aQ(S) is nowhere above the profile: those of both nodes bound how far it is below
    the chord between them.
    """
    kept, apart = [Tail(arb(1), arb(1))], arb(0)
    places = [arb(0), *(y.exp() for y in losses)]
    for a, choice in zip(places[1:], zip(*every, strict=True), strict=True):
        values = [p - a * q for p, q in choice]
        best = max(range(len(values)), key=lambda i: float(values[i].mid()))
        kept.append(choice[best])
        apart = BALL.maximum(apart, *(value - values[best] for value in values))
    masses, excess = [arb(0)] * len(places), []
    ends = zip(itertools.pairwise(places), itertools.pairwise(kept), strict=True)
    for j, ((low, high), (before, after)) in enumerate(ends):
        p, q = before.p - after.p, before.q - after.q
        up = (p - low * q) / (high - low)
        masses[j] += low * (q - up)
        masses[j + 1] += high * up
        excess.append((high - low) * parallel(q - up, up))
    last = kept[-1]
    masses[-1] += places[-1] * last.q
    left_out += apart + abs(last.p - places[-1] * last.q)
    far_mass = abs(1 - kept[1].p)
    return DottedLaw(losses[0], step, masses[1:], excess, left_out, far_mass, 1)


def _differences(values: list[arb]) -> list[arb]:
    """Return each value less the one before it."""
    return [after - before for before, after in itertools.pairwise(values)]


def parallel(u: arb, v: arb) -> arb:
    """Bound uv/(u+v) of nonnegative numbers from above: it grows with both."""
    u, v = u.upper(), v.upper()
    return u * v / (u + v) if u > 0 and v > 0 else arb(0)


# --- groups of cells
#
# Runs of what has outcomes, some at a time: all their sums lie close, as those of a density do.

#: Runs that are taken together have about so many outcomes at most, unless one run has more. Longer
#: lists take longer, and the grid errs less.
MOST_OUTCOMES = 50_000


class Group(NamedTuple):
    """A group has a cell for each outcome of some runs, and the P-mass of those left out."""

    cells: list[LineCell]
    left_out: arb


def grouped(
    part: Part, count: int, reverse: bool, need: float, most: int = MOST_OUTCOMES
) -> Iterator[tuple[Group, int]]:
    """Group all runs by one size, or by two, with the number of groups of each.

    A group leaves out about e^{−need} for every run of it, and has about `most` outcomes.
    """
    size = _together(len(_single_run(part, reverse, need, ctx.prec).cells), count, most)
    groups = -(-count // size)
    base, longer = divmod(count, groups)
    for runs, times in ((base + 1, longer), (base, groups - longer)):
        if times:
            yield _group(part, runs, reverse, need, ctx.prec), times


def _together(outcomes: int, count: int, most: int) -> int:
    """Count the most runs whose outcomes together are at most `most`; one at least."""
    size = 1
    while size < count and math.comb(outcomes + size, size + 1) <= most:
        size += 1
    return size


@lru_cache(8)
def _single_run(part: Part, reverse: bool, need: float, bits: int) -> Group:
    """Make the group of one run, `bits` being flint's current precision."""
    known, left_out = part.outcomes_but_for(need, reverse)
    kept = _kept(known, need)
    return Group(kept.cells, kept.left_out + left_out)


@lru_cache(8)
def _group(part: Part, runs: int, reverse: bool, need: float, bits: int) -> Group:
    """Make the group of some runs, `bits` being flint's current precision."""
    cells, left_out = _single_run(part, reverse, need, bits)
    if runs == 1:
        return Group(cells, left_out)
    kept = _kept(multinomial_laws([(p, q) for p, q, _, _ in cells], runs), need)
    return Group(kept.cells, kept.left_out + runs * left_out)


def _kept(laws: list[tuple[arb, arb]], need: float) -> Group:
    """Keep all outcomes but for a share e^{−need} of their P-mass at most, need > 0."""
    negligible = arb(-need).exp() * sum((p for p, _ in laws), arb(0)) / max(len(laws), 1)
    cells, left_out = [], arb(0)
    for p, q in deadline.each(laws):
        if p < negligible:
            left_out += p
        else:
            loss = (p / q).log()
            cells.append(LineCell(p, q, *ends_of(loss)))
    return Group(cells, left_out)


# --- the law of a loss
#
# What is laid on a grid of losses: of some runs of a part, which laws, how far out and how.

#: The end of a profile that is laid is brought nearer by so many halvings. More take longer, and
#: save nodes.
_HALVINGS = 6
#: The least loss is rounded down to a whole number of these shares of a nat. Grids of nearby
#: questions share their nodes for that; any number is sound.
_PLACES_OF_AN_END = 2**20
#: A group has so many outcomes for each step of the grid: more hardly make its error less. What
#: grouping adds is bounded.
_OUTCOMES_PER_STEP = 16


class LaidLaw(NamedTuple):
    """A laid law says how often it is run, its smallest and largest loss, and how it is laid.

    `laid` makes the dotted law for a step, and `has_atoms` says whether both ends are atoms.
    Of a profile or of densities `groups` lists for a step P- and Q-masses of a pair below the pair.
    `below` makes a dotted law of another pair, whose profile is at most D, which bounds D from
    below; where there is none `laid` does.
    """

    runs: int
    ends: tuple[arb, arb]
    laid: Callable[[arb], DottedLaw]
    has_atoms: bool = False
    groups: Callable[[arb], list[tuple[arb, arb]]] | None = None
    below: Callable[[arb], DottedLaw] | None = None


def laws_of(part: Part, count: int, reverse: bool, need: float, steps: int) -> Iterator[LaidLaw]:
    """Yield the laws of some runs to lay over so many steps, but for a P-mass of e^{−need}.

    Outcomes are grouped, densities are cut at the nodes, and of other losses the profile is laid.
    """
    if (law := part.on_grid(count, reverse, need)) is not None:
        yield law
    elif part.is_atomic:
        outcomes = min(_OUTCOMES_PER_STEP * steps, MOST_OUTCOMES)
        for group, times in grouped(part, count, reverse, need, outcomes):
            low, high = (min(x.low for x in group.cells), max(x.high for x in group.cells))
            laid = partial(of_cells, group.cells, left_out=group.left_out)
            yield LaidLaw(times, (low, high), laid)
    elif densities := part.density_pairs(reverse):
        every = [reach(loss, way, need) for loss, ways in densities for way in ways]
        ends = arb(min(low for low, _ in every)), arb(max(high for _, high in every))
        laid = partial(_of_densities, densities, ends, need)
        groups = partial(_groups_of_density, *densities[0], ends, need)
        yield LaidLaw(count, ends, laid, groups=groups)
    else:
        low, high = -_top(part, not reverse, need, 1), _top(part, reverse, need, 0)
        if (
            low.is_finite() and not part.ends_in_atoms
        ):  # a place at which balls tell that no loss is below
            low = arb(floor(low * _PLACES_OF_AN_END)) / _PLACES_OF_AN_END
        ends = low, high
        laid = partial(of_profile, part, reverse, ends)
        groups = partial(lines_below, part, reverse, ends)
        yield LaidLaw(count, ends, laid, part.ends_in_atoms, groups)


def _of_densities(
    densities: Sequence[tuple[DensityLoss, tuple[bool, ...]]],
    ends: tuple[arb, arb],
    need: float,
    step: arb,
) -> DottedLaw:
    """Lay the largest of some densities' profiles at each node."""
    low, high = (floor(end / step) for end in ends)
    if any(len(ways) > 1 for _, ways in densities):  # nodes that lie symmetrically serve both
        high = max(high, -low - 1)
        low = -high - 1
    losses = [step * j for j in range(low, high + 2)]
    tails_of_pairs = [tails(part, ways, losses, need) for part, ways in densities]
    left_out = sum((off for _, off in tails_of_pairs), arb(0))
    return of_tails([tail for every, _ in tails_of_pairs for tail in every], losses, step, left_out)


def _groups_of_density(
    loss: DensityLoss, ways: tuple[bool, ...], ends: tuple[arb, arb], need: float, step: arb
) -> list[tuple[arb, arb]]:
    """List the masses between nodes of a pair of densities, one of those whose D is the largest."""
    low, high = (floor(end / step) for end in ends)
    every, _ = tails(loss, ways[:1], [step * j for j in range(low, high + 2)], need)
    return [(a.p - b.p, a.q - b.q) for a, b in itertools.pairwise(every[0])]


def step_for(laws: list[LaidLaw], steps: int) -> arb:
    """Choose a step by which the widest law has about so many.

    A whole number of it lies between both ends of the law that is run most often, of those whose
    ends are atoms.
    """
    widest = max(float((law.ends[1] - law.ends[0]).mid()) for law in laws) / steps
    for law in sorted(laws, key=lambda law: -law.runs):
        if law.has_atoms:
            between = law.ends[1] - law.ends[0]
            return between / math.ceil(float(between.mid()) / widest)
    return arb(widest)


def _top(part: Part, reverse: bool, need: float, tilt: int) -> arb:
    """Estimate the largest loss, or where D(y)e^{−tilt·y} falls below e^{−need} before it.

    `of_profile` bounds what lies beyond.
    """
    goal, largest = arb(-need).exp(), part.largest(reverse)

    def is_beyond(y: float) -> bool:
        return bool(part.hockey_stick(arb(y), reverse) * arb(-tilt * y).exp() < goal)

    low, high = 0.0, 2.0**-6
    while not is_beyond(high):
        deadline.check()
        if high > FARTHEST or arb(high) > largest:
            return largest
        low, high = high, 2 * high
    _, high = halved(low, high, lambda y: not is_beyond(y), _HALVINGS)
    return arb(high).min(largest)


# --- laws in float64
#
# Runs of a loss laid on a grid in float64, by its law in floats or else in balls.

#: The outcomes of a loss without a law in floats are grouped as for a grid of so many steps. What
#: grouping adds is bounded.
_STEPS_OF_GROUPS = 2**9


def laid(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    """Yield the laws of some runs in float64 with their counts; about `rare` lies beyond each.

    The profile of each is at least D − `short`, P(L = ∞) counted. PrecisionError for losses that
    are too far out, or too many nodes.
    """
    law = part.in_floats(reverse, rare)
    if law is None:
        yield from _in_balls(part, runs, reverse, step, rare)
    else:
        yield law.on_nodes(step, rare), runs


def _in_balls(
    part: Part, runs: int, reverse: bool, step: float, rare: float
) -> Iterator[tuple[FloatLaw, int]]:
    """Lay in balls the laws of a loss that is not known in float64, and round them up to it."""
    with ctx.workprec(BITS):
        lost = float_above(BALL.number(part.mass_at_infinity(reverse)))
        for law in laws_of(part, runs, reverse, -math.log(rare), _STEPS_OF_GROUPS):
            low, high = (float(end.mid()) for end in law.ends)
            nodes(low, high, step)
            dotted = law.laid(arb(step))
            masses = np.array([max(0.0, float_above(x)) for x in dotted.masses])
            # What one group of runs loses is at most what all runs together lose.
            short = float_above(dotted.left_out) + runs * lost
            yield FloatLaw(dotted.first, masses, short), law.runs


# --- one grid
#
# Runs of any pairs on a grid of losses: D(y) between two bounds, to some digits.
#
# All runs of what was spread over the nodes are one product of polynomials, of which both ends that
# hardly ever occur are left out; the grid is made finer until the digits are there, or said to be
# out of reach (docs/proofs/grids.md, Lemma loss-grid).

#: Masses have so many bits more than e^{−need} has. Masses are rounded up or down as a bound needs:
#: fewer bits widen it.
_SPARE_BITS = 32
#: A mass below this counts as this where an excess is bounded in float64. The proof counts it for
#: every node: a smaller one is unsound where float64 has no digits for it.
_TINY = 1e-290
#: What is left out is e^{−3} of what the digits ask. It is bounded, and added.
_SPARE_NATS = 3.0
#: The order that a grid tells of is chosen from these, less 1. They steer.
_TILTS = [2.0 ** (j / 4) for j in range(-16, 40)]
#: The widest law has so many steps on the first grid, and so many at most. Every grid is proved:
#: more steps take longer, and err less.
_FIRST_STEPS, _MOST_STEPS = 2**9, 2**15
#: The widest law has fewer steps at most where a value of a profile takes half a millisecond, and
#: more where every law is of outcomes, which ask no profile at all. They cost time.
_MOST_STEPS_OF_COSTLY, _MOST_STEPS_OF_OUTCOMES = 2**12, 2**17
#: All runs together have so many nodes at most, and are so many at most. More are refused by a
#: PrecisionError.
_MOST_NODES_IN_ALL, _MOST_RUNS = 2**19, 2**17
#: Two grids of so many steps decide comparisons. Each comparison is proved; finer grids decide
#: more, and take longer.
_DECIDING_STEPS = (2**9, 2**12)
#: Fewer runs than these to fewer digits than these are sooner had than by a contour.
_FEW_RUNS, _FEW_DIGITS = 8, 6.0
#: From so many runs on contours are sooner had, where there are moments. It costs time alone.
_MANY_RUNS = 200
#: More digits are refused by a PrecisionError: the error is about the square of the step.
_MOST_DIGITS = 14.0
#: A grid is laid for so many digits where more are asked than grids have, to tell how many there
#: are. They steer.
_PROBE_DIGITS = 8.0
#: From so many steps on digits grow evenly, and the next grid has at most 2^3 times as many. They
#: choose the next grid: every grid is proved.
_SETTLED_STEPS, _MOST_OCTAVES = 2**12, 3
#: A grid of half the step has about 0.6 digits more, and 0.4 in an error's estimate. They choose
#: the next grid: every grid is proved.
_MEAN_DIGITS_PER_OCTAVE, _SURE_DIGITS_PER_OCTAVE = 0.6, 0.4
#: log δ(ε) is first taken to be −20, and doubled up to so often. Both steer.
_LOG_GUESS, _GUESSES = -20.0, 4
#: Callers work with a digit more than was asked, of which 0.9 may be missing. A larger share would
#: print digits that are not proved to be there.
_DIGITS_SPARED = 0.9

#: What is said of too many runs, or nodes, of these runs: their count, and how many are needed.
_REFUSED = (
    "the profile of {:,} runs: found laws whose moments do not fall, needed {} of them for a grid "
    "of losses, or noise of a density beside them"
)

#: Laws on one lattice, and how often each is run.
Spreads = tuple[tuple[DottedLaw, int], ...]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid holds all the runs on one lattice of losses, with bounds of D on both sides.

    D lies between the profile of what was spread, less what spreading adds at most, and that
    profile with the mass that was left out. It is without P(L = ∞). `bits` are those of masses,
    `work` those that it is to be asked at. Where some law has another one below, a grid of these,
    `below`, bounds D from below.
    """

    spreads: Spreads
    need: int
    bits: int
    work: int
    below: Grid | None = None

    @property
    def step(self) -> arb:
        """The step of the lattice, in nats."""
        return self.spreads[0][0].step

    @cached_property
    def first(self) -> arb:
        """The least total loss of those kept."""
        lowest = sum((k * spread.first for spread, k in self.spreads), arb(0))
        return lowest + self.step * self._masses.first

    def delta(self, y: arb) -> arb:
        """Enclose D(y), less P(L = ∞)."""
        value = self._nodes.profile(y)
        left_out = sum((k * spread.left_out for spread, k in self.spreads), self._cut(self._masses))
        if self.below is None:
            low = value - self._rounded_up - self._added(y)
        else:
            low = self.below.delta(y).lower()
        return low.max(arb(0)).union(value + left_out)

    @cached_property
    def _masses(self) -> Masses:
        """Compute the masses of all runs."""
        return self._products.product(self._others[0], self._single_runs[0])

    @property
    def width(self) -> int:
        """The nodes of all runs."""
        return len(self._masses.rising)

    @cached_property
    def _single_runs(self) -> list[Masses]:
        """Round the masses of one run of each law up to whole numbers."""
        rows = ([max(0, _up(p, self.bits)) for p in spread.masses] for spread, _ in self.spreads)
        return [Masses(0, row, 0) for row in rows]

    @cached_property
    def _others(self) -> list[Masses]:
        """Compute for each kind the masses of all runs but one of that kind."""
        others = []
        for i in range(len(self.spreads)):
            deadline.check()
            counts = [k - (i == j) for j, (_, k) in enumerate(self.spreads)]
            powers = [
                self._products.power(masses, k)
                for masses, k in zip(self._single_runs, counts, strict=True)
                if k
            ]
            others.append(reduce(self._products.product, powers, Masses(0, [1 << self.bits], 0)))
        return others

    @cached_property
    def _products(self) -> Products:
        """The products of masses that leave out e^{−need} at most at either end."""
        refused = _REFUSED.format(sum(k for _, k in self.spreads), "fewer")
        most = _up(arb(-self.need).exp(), self.bits)
        return Products(self.bits, most, _MOST_NODES_IN_ALL, refused)

    def _cut(self, masses: Masses) -> arb:
        """Return the mass that was cut off."""
        cut: arb = arb(masses.cut) / 2**self.bits
        return cut

    @cached_property
    def _rounded_up(self) -> arb:
        """Bound how much larger the masses are than those that were spread."""
        true = arb(1)
        for spread, k in self.spreads:
            true *= sum(spread.masses, arb(0)).max(arb(0)) ** k
        more: arb = arb(sum(self._masses.rising) + self._masses.cut) / 2**self.bits - true
        return more

    @cached_property
    def _nodes(self) -> Nodes:
        """The masses of all runs at their losses."""
        return Nodes(self.first, self.step, self._masses.rising, self.bits)

    def _added(self, y: arb) -> arb:
        """Bound Σ k_i E[e_i(y−L)], L the loss of all runs but one of that kind.

        By sums of float64, too small by a share of 2^{-52} for each term at most. ∞ where y is
        wider than a step.
        """
        if y.rad() > self.step:
            return arb("inf")
        total, start = arb(0), floor((y - self.first) / self.step) + 1 + self._masses.first
        rows = zip(self.spreads, self._others, self._floats, self._highest, strict=True)
        for (_, k), others, masses, highest in rows:
            excess = arb(_met(masses, highest, start - others.first + self._moved))
            unlikely = self._far_mass + self._cut(others) + len(masses) * arb(_TINY)
            total += k * (
                excess * (1 + len(masses) * arb(2) ** -51) + unlikely * arb(highest.max())
            )
            total += k * len(masses) * arb(2) ** -1022  # of products below the range of float64
        return total

    @cached_property
    def _moved(self) -> int:
        """Bound in steps how far all losses together were moved but for `_far_mass`.

        By Hoeffding's inequality where that is less than all moves one way, and more for balls.
        """
        moves = sum(k * spread.moved for spread, k in self.spreads)
        squares = sum(k * spread.moved**2 for spread, k in self.spreads)
        widest = max(spread.moved for spread, _ in self.spreads) * self.step
        drift = squares * self.step * widest.exp() / 2
        likely = drift + (2 * squares * arb(self.need)).sqrt()
        return 3 + min(moves, ceiling(likely))

    @property
    def _far_mass(self) -> arb:
        """Bound the P-mass that was moved farther."""
        further = sum((k * spread.far_mass for spread, k in self.spreads), arb(0))
        return further + 2 * arb(-self.need).exp()

    @cached_property
    def _floats(self) -> list[Floats]:
        """The masses of `_others` in float64."""
        return [_floats(others.rising, self.bits) for others in self._others]

    @cached_property
    def _highest(self) -> list[Floats]:
        """Compute for each e_i its largest value within so many steps of each place."""
        return [
            _most_around([float_above(x) for x in spread.excess], self._moved)
            for spread, _ in self.spreads
        ]

    def order(self, y: float) -> float:
        """Estimate in float64 the order at which a moment bounds D(y) best."""
        masses = _floats(self._masses.rising, self.bits)
        losses = float(self.first.mid()) - y + float(self.step.mid()) * np.arange(len(masses))
        logs = np.log(np.maximum(masses, _TINY))

        def log_moment(tilt: float) -> float:
            return float(np.logaddexp.reduce(logs + tilt * losses))

        best: float = min(_TILTS, key=log_moment)
        return 1 + best


def _up(x: arb, bits: int) -> int:
    """Round x·2^bits up to a whole number."""
    return ceiling(x * arb(2) ** bits)


def _floats(masses: list[Any], bits: int) -> Floats:
    """Return masses that are times 2^bits in float64."""
    scale = arb(2) ** -bits
    return np.array([float(arb(x) * scale) for x in masses])


def _met(masses: Floats, highest: Floats, place: int) -> float:
    """Compute Σ_i masses[i] highest[place − i]: the first stands for all before it, 0 is beyond.

    By slices, as the places fall by one. Bounds rest on it: `_added` adds what floats round away.
    """
    near = max(0, place + 1 - len(highest))
    far = min(max(near, place + 1), len(masses))
    window = highest[max(place + 1 - far, 0) : max(place + 1 - near, 0)][::-1]
    return float(masses[near:far] @ window[: far - near] + masses[far:].sum() * highest[0])


def _most_around(values: list[float], reach: int) -> Floats:
    """Compute the largest value within `reach` places of each.

    The first one stands for all before it, and there is 0 after the last.
    """
    largest = np.concatenate([np.full(2 * reach, values[0]), values, np.zeros(2 * reach)])
    width = 1
    while width < 2 * reach + 1:
        deadline.check()
        shift = min(width, 2 * reach + 1 - width)
        largest, width = np.maximum(largest[:-shift], largest[shift:]), width + shift
    return largest


@dataclass(eq=False)
class Grids:
    """Grids answer for some runs, each finer than the one before; the last one laid is kept."""

    proof = GRIDS

    runs: DirectedRuns
    _made: dict[tuple[int, int], Grid] = field(default_factory=dict)

    def cost(self, digits: float) -> float:
        """Estimate the cost, in nodes of a contour; `CANNOT` for many runs that have moments.

        Few digits of few runs are cheap, but for losses that are averaged, or searched for at each
        value. So are those of sampled noise on whole numbers, and comparisons of atoms, `digits` 0.
        """
        if any(self._loses_unseen(part) for part, _ in self.runs.runs):
            return CANNOT
        is_averaged = any(part.is_averaged for part, _ in self.runs.runs)
        is_alone = self.runs.are_atoms or is_averaged or not self.runs.have_moments
        if not (self.count < _MANY_RUNS or is_alone):
            return CANNOT
        if digits >= _FEW_DIGITS:
            return _MOST_NODES_IN_ALL
        is_slow = any(part.is_searched for part, _ in self.runs.runs)
        is_few = self.count < _FEW_RUNS and not is_averaged and not is_slow
        if self.runs.are_atoms and self.count < _MANY_RUNS:
            parts = (part for part, _ in self.runs.runs)
            # Of noise on whole numbers, which a symmetry exchanges unless it is sampled.
            is_sampled = any(part.finite is None and not part.symmetric for part in parts)
            is_cheap = is_few or is_sampled or not digits
            return _FIRST_STEPS if is_cheap else _MOST_STEPS_OF_OUTCOMES
        return _MOST_STEPS if is_few else _MOST_NODES_IN_ALL

    def _loses_unseen(self, part: Part) -> bool:
        """Has a part an infinite loss that is counted in what is laid, and would count twice?"""
        return part.finite is None and part.mass_at_infinity(self.runs.reverse) != 0

    def _profile(self, grid: Grid, y: arb) -> arb:
        """Enclose D(y): what is on the nodes, and P(L = ∞), which is not."""
        return self.runs.mass_at_infinity + grid.delta(y)

    def delta(self, y: Number, digits: float) -> arb:
        """Enclose D(y) to so many digits; PrecisionError where no grid has them."""

        def at(grid: Grid) -> arb:
            return self._profile(grid, y())

        log_delta = _LOG_GUESS
        for _ in range(_GUESSES):
            for value in self._roughly(at, log_delta):
                if value == 0:  # beyond all nodes, and none left out
                    return value
                most = log_float_of(value.upper)
            if most > log_delta:
                break
            log_delta *= 2
        return self.refined(at, most, digits)

    def root(self, delta: Fraction, digits: float) -> arb:
        """Enclose the root of D = δ to so many digits; PrecisionError where no grid has them."""
        ends: tuple[arb, arb] | None = None

        def at(grid: Grid) -> arb:
            """Enclose the root on one grid, from the bracket of the one before; NaN if none is."""
            nonlocal ends

            def value(y: arb) -> arb:
                known = self.runs.beyond_largest_loss(y)
                return self._profile(grid, y) if known is None else known

            ends = ends or bracket(value, ball(delta))
            if ends is None:
                return arb.nan()
            root = enclosed(value, ball(delta), ends)
            ends = root.lower(), root.upper()
            return root

        return self.refined(at, log_float_of(lambda: ball(delta)), digits)

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Decide if D(y) is at most the bound; None where two grids can't."""

        def at(grid: Grid) -> bool | None:
            return decided(self._profile(grid, y()), bound())

        for decision in self._roughly(at, log_float_of(bound)):
            if decision is not None:
                return decision
        return None

    def refined(self, ask: Callable[[Grid], arb], log_delta: float, digits: float) -> arb:
        """Refine a grid until `ask` has the digits, for a δ of about e^{log_delta}.

        PrecisionError where no grid has them, which says how many there are. Of more than 14 that
        is told by one coarse grid.
        """
        is_beyond_grids = digits > _MOST_DIGITS
        need = self._need(log_delta, _PROBE_DIGITS if is_beyond_grids else digits)
        steps = _FIRST_STEPS
        while True:
            deadline.check()
            value = self._at_grid(ask, steps, need)
            known = max(0.0, accuracy(value))
            if known >= digits - _DIGITS_SPARED:
                return value
            left = math.log2(self._finest / steps)
            if (
                left < 1
                or is_beyond_grids
                or (steps >= _SETTLED_STEPS and known + left < digits - _DIGITS_SPARED)
            ):
                had = math.floor(known + _SURE_DIGITS_PER_OCTAVE * max(left, 0.0))
                fewer = f"fewer than the {digits:.0f} worked with" if had else "a larger δ"
                raise PrecisionError(
                    f"the profile of {self.count} runs: found laws whose moments do not fall, "
                    f"so that a grid of losses gives about {had} digits, needed {fewer}",
                    remedy="use conversion improved",
                )
            missing = digits - _DIGITS_SPARED - known
            wanted = max(1, math.ceil(missing / _MEAN_DIGITS_PER_OCTAVE))
            steps *= 2 ** min(math.floor(left), _MOST_OCTAVES, wanted)

    def _roughly(self, ask: Callable[[Grid], T], log_delta: float) -> Iterator[T]:
        """Ask two grids, which mostly decide if D(y) is below e^{log_delta}."""
        need = self._need(log_delta, 3.0)
        return (self._at_grid(ask, min(steps, self._finest), need) for steps in _DECIDING_STEPS)

    def _at_grid(self, ask: Callable[[Grid], T], steps: int, need: int) -> T:
        """Lay a grid, or take the one that is kept, and ask it at its precision."""
        with progress(f"a grid of {steps:,} losses"):
            grid = self._grid(steps, need)
            with ctx.workprec(grid.work):
                return ask(grid)

    def _need(self, log_delta: float, digits: float) -> int:
        """Choose how little each run leaves out, for so many digits of e^{log_delta}."""
        need = math.ceil(digits * math.log(10) + _SPARE_NATS - log_delta + math.log(self.count))
        return max(need, 1)

    @property
    def _finest(self) -> int:
        """Bound the steps of a grid by its width, as far as the last grid tells."""
        if not self._made:
            return _FIRST_STEPS
        (steps, _), made = next(iter(self._made.items()))
        most = _MOST_STEPS_OF_COSTLY if self.runs.are_costly else _MOST_STEPS
        most = _MOST_STEPS_OF_OUTCOMES if self.runs.are_atoms else most
        return max(_FIRST_STEPS, min(most, steps * _MOST_NODES_IN_ALL // made.width))

    def order(self, y: float) -> float | None:
        """Estimate the order at which a moment bounds D(y) best, by the grid that was asked last.

        None before any.
        """
        return next((grid.order(y) for grid in self._made.values()), None)

    @property
    def count(self) -> int:
        """The number of all runs."""
        return self.runs.count

    def _grid(self, steps: int, need: int) -> Grid:
        """Lay a grid of so many steps of the widest law, with all but e^{−need} of each law.

        PrecisionError for more runs than 2^17, or losses beyond 512 nats.
        """
        if self.count > _MOST_RUNS:
            raise PrecisionError(_REFUSED.format(self.count, f"{_MOST_RUNS:,}"))
        if (steps, need) not in self._made:
            bits = math.ceil(need / math.log(2)) + _SPARE_BITS
            work = bits + 2 * _MOST_STEPS_OF_OUTCOMES.bit_length()
            with ctx.workprec(work):
                every = (
                    laws_of(part, k, self.runs.reverse, float(need), steps)
                    for part, k in self.runs.runs
                )
                laws = list(itertools.chain(*every))
            farthest = max(float(abs(end)) for law in laws for end in law.ends)
            if not farthest <= FARTHEST:
                raise PrecisionError(
                    f"the profile of {self.count} runs: found losses beyond {FARTHEST:.0f} to lay "
                    "a grid over, needed smaller ones",
                    remedy="use conversion improved",
                )
            with ctx.workprec(work + math.ceil(2 * farthest / math.log(2))):
                step = step_for(laws, steps)
                spreads = tuple((law.laid(step), law.runs) for law in laws)
                below = tuple(((law.below or law.laid)(step), law.runs) for law in laws)
            is_apart = any(law.below is not None for law in laws)
            under = Grid(below, need, bits, work) if is_apart else None
            self._made = {(steps, need): Grid(spreads, need, bits, work, under)}
        return self._made[steps, need]


# --- many different parts
#
# An upper bound of the profile of many different parts: one grid for all, made finer in time.
#
# D is at most the profile of what is on the nodes, and what each law's profile falls short
# (docs/proofs/grids.md, Lemma many-parts). Nothing is asked of each part beside all the others, as
# the grids do that prove digits.

#: All that is left out is about this share of δ. It is bounded, and added: a larger share is
#: quicker, and raises ε.
_SHARE_LEFT_OUT = 2.0**-20
#: Masses have so many bits more than what one law leaves out. They are rounded up, so that any
#: number is sound: of fewer ε is larger.
_MANY_SPARE_BITS = 20
#: The first grid has so many steps in a deviation of all runs, times the root of their number. Each
#: grid gives a proved bound; a finer one takes longer.
_STEPS_OF_DEVIATION = 1
#: The next grid is finer by the first of these factors that there is time for, at most so often for
#: each direction.
_FINER, _PASSES = (8, 4, 2), 6
#: Another grid is worth while where the last one made the bound smaller by this share at least. A
#: smaller share takes longer, and brings ε nearer.
_SHARE_WORTH_A_PASS = 2e-4
#: The deviation of all runs is estimated by about so many kinds of them. They steer.
_KINDS_FOR_DEVIATION = 16
#: All runs together have so many nodes at most; more are refused by a PrecisionError.
_MOST_NODES = 2**19
#: log δ(ε) is first taken to be this. It steers.
_MANY_LOG_GUESS = -12.0
#: Nothing is asked for a δ below e^{−40}: what float64 loses is not below it. A smaller δ is
#: refused by PrecisionError.
_DEEPEST_NATS = 40.0
#: What is cut off of products counts by this factor more, as masses are rounded up. A smaller
#: factor is unsound.
_GROWTH_OF_CUTS = 1 + 2.0**-20
#: A pass is begun where 1.25 times the time that it is thought to take is left. A larger factor
#: ends passes sooner, a smaller one overruns the time.
_TIME_FACTOR = 1.25
#: Passes end at this share of the time left, for what is asked after them. A larger share brings ε
#: nearer, and may leave no time for them.
_SHARE_OF_TIME = 0.95


# Proved in docs/proofs/grids.md, Lemma grid-products.
@dataclass(frozen=True, eq=False)
class UpperProfile:
    """An upper profile has all runs on nodes `step` apart, for a δ of about e^{log_delta}.

    Its values are upper bounds whatever δ is; the step is a power of two, in nats.
    """

    runs: DirectedRuns
    step: float
    log_delta: float

    @cached_property
    def bits(self) -> int:
        """Choose the bits of masses, of which rounding adds at most 2^{−bits} at each node."""
        return _MANY_SPARE_BITS + math.ceil(self._nats / math.log(2))

    @cached_property
    def _nats(self) -> float:
        """−log of what one law or one product leaves out."""
        return math.log(4 * self.runs.count / _SHARE_LEFT_OUT) - self.log_delta

    @cached_property
    def _laws(self) -> list[tuple[FloatLaw, int]]:
        """Lay the law of each part in float64, with its count."""
        rare = math.exp(-self._nats)
        laws: list[tuple[FloatLaw, int]] = []
        for part, k in self.runs.runs:
            deadline.check()
            laws += laid(part, k, self.runs.reverse, self.step, rare)
        return laws

    @cached_property
    def _composed(self) -> tuple[Nodes, arb]:
        """Compose the law of all runs on the nodes, and bound by how much D exceeds its profile."""
        most = math.ceil(2.0**self.bits * math.exp(-self._nats))
        products = Products(
            self.bits, most, _MOST_NODES, "found too many nodes of a grid of losses"
        )
        every, first, short, mass = [], arb(0), arb(0), arb(1)
        for law, k in self._laws:
            deadline.check()
            rising = [int(x) for x in np.ceil(np.ldexp(law.masses, self.bits)).tolist()]
            every.append(products.power(Masses(0, rising, 0), k))
            first += k * law.first
            short += k * arb(law.short)
            mass *= (arb(sum(rising)) / arb(2) ** self.bits).max(arb(1)) ** k
        masses = products.of_many(every)
        nodes = Nodes(
            first + masses.first * arb(self.step), arb(self.step), masses.rising, self.bits
        )
        return nodes, mass * (short + _GROWTH_OF_CUTS * arb(masses.cut) / arb(2) ** self.bits)

    def value(self, y: arb) -> arb:
        """Bound D(y) from above, by 1 at most."""
        nodes, short = self._composed
        return (nodes.profile(y) + short).min(arb(1))

    def root(self, delta: Fraction) -> arb:
        """Bound the smallest y >= 0 with D(y) <= δ from above; ∞ where this proves none."""
        goal = ball(delta)
        if self.value(arb(0)) <= goal:
            return arb(0)
        ends = bracket(self.value, goal)
        return arb("inf") if ends is None else enclosed(self.value, goal, ends).upper()


def epsilon_above(directions: list[DirectedRuns], delta: Fraction) -> arb:
    """Bound the largest ε(δ) of some directions from above, as near as there is time for.

    ∞ for a δ below e^{−40}, which float64 does not tell.
    """
    log_delta = log_float_of(lambda: ball(delta)) if delta else -math.inf
    if log_delta < -_DEEPEST_NATS:
        return arb("inf")
    return _nearer(directions, lambda _: log_delta, lambda profile: profile.root(delta))


def delta_above(directions: list[DirectedRuns], epsilon: Fraction) -> arb:
    """Bound the largest δ(ε) of some directions from above, as near as there is time for.

    Where ε is beyond the largest loss of a direction, its δ is the mass at infinity. ∞ where a
    moment tells that all others are below e^{−40}, which float64 does not tell.
    """
    with ctx.workprec(_FEW_BITS):
        ends = {runs: runs.beyond_largest_loss(ball(epsilon)) for runs in directions}
    known = [end for end in ends.values() if end is not None]
    inside = [runs for runs, end in ends.items() if end is None]
    if inside:
        if max(_log_delta_at_most(runs, float(epsilon)) for runs in inside) < -_DEEPEST_NATS:
            return arb("inf")
        known.append(_nearer(inside, _log_of, lambda profile: profile.value(ball(epsilon))))
    return BALL.maximum(*known)


def _log_of(delta: arb) -> float:
    """log δ for the next grid, by the bound that is known so far."""
    return max(float(delta.log()), -_DEEPEST_NATS) if delta < 1 else _MANY_LOG_GUESS


def _nearer(
    directions: list[DirectedRuns],
    log_delta: Callable[[arb], float],
    ask: Callable[[UpperProfile], arb],
) -> arb:
    """Refine the grid of the largest bound while there is time, and return the largest bound.

    Each direction has one grid whatever time is left. `log_delta` estimates log δ by the bound
    that is known so far.
    """
    step = _first_step(directions)
    refinements = [_Refinement(runs, step, log_delta, ask) for runs in directions]
    for refinement in refinements:
        refinement.ask_again(1)
    in_time = deadline.within(_SHARE_OF_TIME * deadline.remaining())
    with suppress(deadline.OutOfTimeError, PrecisionError), in_time:
        for _ in range(_PASSES * len(refinements)):
            largest = max(refinements, key=lambda refinement: float(refinement.best))
            if (finer := largest.finer()) == 1:
                break
            largest.ask_again(finer)
    return BALL.maximum(*(refinement.best for refinement in refinements))


@dataclass(eq=False)
class _Refinement:
    """A refinement keeps of one direction the best bound, and its last grid's step and time.

    Times are seconds of the thread; `gained` is by how much the last grid made the bound smaller.
    """

    runs: DirectedRuns
    step: float
    log_delta: Callable[[arb], float]
    ask: Callable[[UpperProfile], arb]
    best: arb = field(default_factory=lambda: arb("inf"))
    gained: arb = field(default_factory=lambda: arb("inf"))
    took: float = 0.0
    took_before: float = 0.0

    def ask_again(self, finer: int) -> None:
        """Bound again, by a grid whose step is so much shorter."""
        began, self.step = time.thread_time(), self.step / finer
        profile = UpperProfile(self.runs, self.step, self.log_delta(self.best))
        with ctx.workprec(2 * profile.bits + 64):
            bound = self.ask(profile)
        self.gained, self.best = self.best - bound, self.best.min(bound)
        self.took_before, self.took = self.took, time.thread_time() - began

    def finer(self) -> int:
        """Choose how much finer a grid may be in the time left; 1 where it is not worth it.

        The time of a pass has a part for the runs alone, so the second one is just begun.
        """
        if not self.gained > _SHARE_WORTH_A_PASS * self.best:
            return 1
        grown = max(self.took - self.took_before, 0.0) if self.took_before else 0.0
        left = deadline.remaining() / _TIME_FACTOR
        fit = (n for n in _FINER if self.took + n * grown <= left)
        return next(fit, 1)


def _log_delta_at_most(runs: DirectedRuns, epsilon: float) -> float:
    """Estimate an upper bound of log δ(ε) by moments; ∞ for none."""
    with suppress(PrecisionError, LimitError):
        return runs.moments.log_delta(epsilon)
    return math.inf


def _first_step(directions: list[DirectedRuns]) -> float:
    """Choose a power of two: a spread loss is about a step off, that of n runs √n of them.

    By the direction whose loss is spread the most: of another one no more is asked than that it is
    no larger, and where it is, its own grid is made finer.
    """
    steps = _STEPS_OF_DEVIATION * math.sqrt(max(runs.count for runs in directions))
    return 2.0 ** math.floor(math.log2(max(map(_deviation, directions)) / steps))


def _deviation(runs: DirectedRuns) -> float:
    """Estimate the deviation of the loss of all runs by some of them; 1 where that is no number."""
    some = runs.runs[:: -(-len(runs.runs) // _KINDS_FOR_DEVIATION)]
    order = np.array([0.0 if runs.reverse else 1.0])
    variance = sum(k * float(part.float_moments(order)[1][0]) for part, k in some)
    scale = math.sqrt(variance * len(runs.runs) / len(some))
    return scale if 0 < scale < math.inf else 1.0
