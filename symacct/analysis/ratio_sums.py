"""Sums of independent ratios W >= 0, between two laws on a geometric grid, in float64 with a proof.

One law is above S = W₁ + … + W_t and one below it: E f(S) lies between their means of f for every
convex f >= 0 on [0, ∞), such as (S/t − a)₊ and (1 − aS/t)₊ (docs/proofs/allocations.md, Lemmas
sums-of-ratios and ratio-floats). What is said to steer proves nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.errors import PrecisionError
from symacct.kernel.memory import cached_property

#: A float64 of the layer below, an array.
Floats = np.ndarray

#: A rounding of float64 is off by this share at most, an elementary function by 8 of them. Lemma
#: ratio-floats adds these up: smaller ones are unsound.
_UNIT, _ELEMENTARY = 2.0**-53, 8
#: At most so many products are added to each other before they are added to all others. They count
#: as roundings: any number is sound, a larger one is quicker and widens the laws.
_LONGEST = 512
#: A product of two masses and a share takes so many roundings, and those that nobody counts. A
#: smaller number is unsound.
_FEW = 8
#: A mass below this is moved to 0 above, and left out below: products stay in float64's range. The
#: proof needs them there; a larger mass widens the laws.
_TINY = 1e-100
#: What such masses have for a mean is off by less than this where it is below float64's range. A
#: smaller one is unsound.
_UNDERFLOW = 1e-200
#: The share of a mass that goes to the upper node is at least this, so that it times two masses is
#: no less than 1e−260, which float64 has. It widens the law above; a smaller one is unsound.
_TINY_SHARE = 1e-60
#: Masses that are moved at an end are raised by this share, for the roundings of their sum. A
#: smaller factor is unsound.
_RAISED = 1 + 1e-9
#: Losses up to 2^10 are off by less than this in float64: what is farther from y is on its side. A
#: smaller one is unsound.
_NEAR = 1e-9
#: Places of shares closer to a node than float64 tells are taken in balls of so many bits. A place
#: that these do not tell from a node is refused by PrecisionError.
_BITS = 160
#: Roundings may add up to so many units: 2^{−13} of a mass. Sums of more are refused by
#: PrecisionError.
_MOST_UNITS = 2**40
#: A law has at most so many nodes. More take too long, and are refused by PrecisionError.
_MOST_NODES = 2**16


@dataclass(frozen=True, eq=False)
class Above:
    """A law above W has masses at the nodes x₀e^{h(first + k)}, and one at 0.

    `beyond` is the mean that was left out at the far end, and counts with the slope of f at ∞;
    `short` counts with its slope at 0. Masses are at least (1 − `units`·2^{−53}) times those that
    are proved.
    """

    first: int
    masses: Floats
    zero: float
    beyond: float
    short: float
    units: int

    @property
    def places(self) -> Floats:
        """Number the nodes in steps from x₀."""
        return self.first + np.arange(len(self.masses))


@dataclass(frozen=True, eq=False)
class Below:
    """A law below W has groups, each with its mass and its first moment.

    The k-th group lies about x₀e^{h(first + k + ½)}, which only steers. Masses and moments are
    right to a share `units`·2^{−53}, or 0.
    """

    first: int
    masses: Floats
    moments: Floats
    units: int


@dataclass(frozen=True, eq=False)
class Between:
    """Two laws between which a sum of `count` ratios lies, on nodes e^{h·k} times e^{`log_start`}.

    `step` is h, a power of two.
    """

    log_start: float
    step: float
    count: int
    above: Above
    below: Below

    # Proved in docs/proofs/allocations.md, Lemma ratio-floats.
    def call(self, y: float) -> tuple[float, float]:
        """Bound E(S/t − e^y)₊ from below and from above, t = `count`."""
        losses = self.losses
        kept = int(np.searchsorted(losses, y - _NEAR))
        masses, rise = self.above.masses[kept:], np.maximum(np.expm1(losses[kept:] - y), 0.0)
        grown = math.exp(y)
        whole = float(masses @ np.exp(losses[kept:] - y)) * grown
        units = self.above.units + len(losses) + self._units(y)
        high = float(masses @ rise) * grown + 2 * units * _UNIT * whole
        high += self.above.beyond / self.count
        p, q = self.below.moments / self.count, grown * self.below.masses
        over = p > q
        units = 2 * (self.below.units + len(p) + self._units(y))
        low = float((p[over] - q[over]).sum()) - units * _UNIT * float((p[over] + q[over]).sum())
        return max(low, 0.0), high * (1 + 2 * units * _UNIT)

    # Proved in docs/proofs/allocations.md, Lemma ratio-floats.
    def put(self, y: float) -> tuple[float, float]:
        """Bound E(1 − e^y S/t)₊ from below and from above, t = `count`."""
        losses = self.losses
        kept = int(np.searchsorted(losses, -y + _NEAR))
        masses, rise = self.above.masses[:kept], np.maximum(-np.expm1(losses[:kept] + y), 0.0)
        units = self.above.units + len(losses) + self._units(y)
        high = float(masses @ rise) + 2 * units * _UNIT * float(masses.sum()) + self.above.zero
        high += math.exp(y) / self.count * self.above.short
        p, q = math.exp(y) * (self.below.moments / self.count), self.below.masses
        over = q > p
        units = 2 * (self.below.units + len(p) + self._units(y))
        low = float((q[over] - p[over]).sum()) - units * _UNIT * float((p[over] + q[over]).sum())
        return max(low, 0.0), high * (1 + 2 * units * _UNIT)

    # Proved in docs/proofs/allocations.md, Lemma ratio-composition.
    def outcomes_above(self) -> tuple[Floats, Floats]:
        """Return q and log(x/t) of the nodes above, q raised by what it may be too small."""
        kept = self.above.masses > 0
        return self.above.masses[kept] * (1 + 4 * self.above.units * _UNIT), self.losses[kept]

    # Proved in docs/proofs/allocations.md, Lemma ratio-composition.
    def outcomes_below(self, is_call: bool) -> tuple[Floats, Floats, Floats]:
        """Return m/t, q and log(m/(tq)) of the groups below, changed so that a mean of f falls.

        For E(S/t − a)₊ m is too small and q too large, and else the other way round.
        """
        kept = (self.below.masses > 0) & (self.below.moments > 0)
        off = 4 * self.below.units * _UNIT * (1 if is_call else -1)
        p, q = self.below.moments[kept] / self.count, self.below.masses[kept]
        return p * (1 - off), q * (1 + off), np.log(p / q) - 2 * off

    # Proved in docs/proofs/allocations.md, Lemma ratio-composition.
    def left_out(self, is_call: bool, lost: float) -> float:
        """Bound by how much D exceeds the profile of `outcomes_above`, less P(L = ∞).

        For E(1 − aS/t)₊ that mass is at least `lost`, and part of the one at 0.
        """
        raised = _RAISED * (1 + 4 * self.above.units * _UNIT)
        if is_call:
            return self.above.beyond / self.count * raised
        nearest = float(self.losses[self.above.masses > 0][0])
        short = self.above.short / self.count * math.exp(-nearest)
        return max(self.above.zero * raised - lost, 0.0) * raised + short * raised

    @property
    def blur(self) -> float:
        """Bound by how much logarithms of nodes and groups are off, and masses by which share."""
        ends = (
            abs(self.log_start) + math.log(self.count) + float(np.abs(self.losses[[0, -1]]).max())
        )
        return 64 * _UNIT * (1 + ends)

    @property
    def losses(self) -> Floats:
        """log(x/t) at the nodes above, in float64."""
        return self.log_start - math.log(self.count) + self.step * self.above.places

    def _units(self, y: float) -> int:
        """Count the units of 2^{−53} by which exponentials of losses less y are off, and others."""
        largest = max(abs(float(x)) for x in (y, self.log_start, *self.losses[[0, -1]]))
        return 64 + math.ceil(8 * (largest + math.log(self.count)))


def single(
    log_start: float,
    step: float,
    above: Iterable[tuple[int, float]],
    ends: tuple[float, float, float],
    below: Iterable[tuple[float, float, float]],
) -> tuple[Above, Below]:
    """Make both laws of one ratio of exact floats.

    `above` has nodes with their masses, and `ends` is what it has of `zero`, `beyond` and `short`,
    all rounded up. `below` has groups by their mass and moment, both to a rounding or two, and
    about their logarithm.
    """
    nodes = list(above)
    first, last = min(k for k, _ in nodes), max(k for k, _ in nodes)
    check_nodes(last - first)
    masses, counts = np.zeros(last - first + 1), np.zeros(last - first + 1)
    for k, mass in nodes:
        masses[k - first] += mass
        counts[k - first] += 1
    groups = [
        (math.floor((place - log_start) / step), mass, moment) for mass, moment, place in below
    ]
    low = min((k for k, _, _ in groups), default=first)
    check_nodes(max((k for k, _, _ in groups), default=first) - low)
    kept = np.zeros((3, max((k for k, _, _ in groups), default=low) - low + 1))
    for k, mass, moment in groups:
        kept[:, k - low] += mass, moment, 1
    under = Below(low, kept[0], kept[1], _FEW + int(kept[2].max()))
    over = Above(first, masses, *ends, _FEW + int(counts.max()))
    return _without_tiny(over, log_start, step), _without_light(under)


def check_nodes(count: float) -> None:
    """Raise PrecisionError for more nodes than a law may have."""
    if count > _MOST_NODES:
        raise PrecisionError(f"found {count:,.0f} nodes of a sum of ratios, needed fewer")


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of independent ratios of one law, by halves: t runs are ⌊t/2⌋ and ⌈t/2⌉ of them.

    `step(n)` chooses the step of sums of n ratios, a power of two that does not rise with n; `rare`
    is about what is left out at each end.
    """

    log_start: float
    single: tuple[Above, Below]
    step: Callable[[int], float]
    rare: float

    def of(self, count: int) -> Between:
        """Enclose the sum of so many ratios. PrecisionError for so many that roundings add up."""
        high, low = self._above(count, count), self._below(count, count)
        if max(high.units, low.units) > _MOST_UNITS:
            raise PrecisionError(f"found {count:,} ratios, whose roundings add up, needed fewer")
        return Between(self.log_start, self.step(count), count, high, low)

    def _above(self, n: int, of: int) -> Above:
        """Return the law above n ratios, n or n − 1 being `of`, whose step all sums have."""
        known = self._known_above.get((n, of))
        if known is None:
            step, half = self.step(of), max(1, of // 2)
            if n == 1:
                known = _finer_above(self.single[0], round(self.step(1) / step))
            else:
                wide = self.step(half)
                parts = self._above(n // 2, half), self._above(n - n // 2, half)
                law = _sum_above(*parts, wide, round(wide / step))
                known = _cut_above(law, self.log_start, step, self.rare)
            self._known_above[n, of] = known
        return known

    def _below(self, n: int, of: int) -> Below:
        """Return the law below n ratios, as `_above` the one above."""
        known = self._known_below.get((n, of))
        if known is None:
            step, half = self.step(of), max(1, of // 2)
            if n == 1:
                known = _finer_below(self.single[1], round(self.step(1) / step))
            else:
                wide = self.step(half)
                parts = self._below(n // 2, half), self._below(n - n // 2, half)
                known = _cut_below(_sum_below(*parts, wide, round(wide / step)), self.rare)
            self._known_below[n, of] = known
        return known

    @cached_property
    def _known_above(self) -> dict[tuple[int, int], Above]:
        """The laws above that have been summed."""
        return {}

    @cached_property
    def _known_below(self) -> dict[tuple[int, int], Below]:
        """The laws below that have been summed."""
        return {}


# --- one sum


@dataclass(frozen=True, eq=False)
class _Shares:
    """Shares say where the sum of two nodes lies that are d = 0, 1, … steps apart, from the larger.

    It is between the `node`-th finer node and the next; `up` and `down` are shares that keep the
    mean, both rounded up.
    """

    node: np.ndarray
    up: Floats
    down: Floats


# Proved in docs/proofs/allocations.md, Lemma ratio-floats.
def _shares(step: float, finer: int, count: int) -> _Shares:
    """Share 1 + e^{−dh} between nodes h/`finer` apart, for d < `count`, in float64 or balls."""
    fine = step / finer
    with np.errstate(under="ignore"):
        places = np.log1p(np.exp(-step * np.arange(count))) / fine
    off = 4 * _ELEMENTARY * _UNIT * places
    node = np.floor(places)
    low, high = places - off - node, places + off - node
    up = np.expm1(high * fine) / math.expm1(fine)
    down = np.exp(np.maximum(low, 0.0) * fine) * (np.expm1((1 - low) * fine) / math.expm1(fine))
    raised = 1 + 64 * _UNIT
    up, down = np.maximum(up * raised, _TINY_SHARE), np.maximum(down * raised, 0.0)
    for d in np.flatnonzero(((low < 0) & (node > 0)) | (high >= 1)):
        node[d], up[d], down[d] = _share_in_balls(step, fine, int(d))
    return _Shares(node.astype(np.int64), up, down)


def _share_in_balls(step: float, fine: float, d: int) -> tuple[int, float, float]:
    """Share 1 + e^{−dh} between nodes that float64 does not tell; PrecisionError if balls don't."""
    with ctx.workprec(_BITS):
        place = (-arb(step) * d).exp().log1p() / arb(fine)
        node = int(float(place.lower().floor()))
        rest = place - node
        if not (rest > 0 and rest < 1):
            raise PrecisionError("found a sum of two ratios too close to a node")
        up = (rest * fine).expm1() / arb(fine).expm1()
        both = (math.nextafter(float(x.upper()), math.inf) for x in (up, 1 - up))
        return node, max(next(both), _TINY_SHARE), next(both)


# Proved in docs/proofs/allocations.md, Lemma sums-of-ratios.
def _sum_above(a: Above, b: Above, step: float, finer: int) -> Above:
    """Add two laws above, each sum of nodes shared by the finer nodes on either side of it."""
    shares = _shares(step, finer, _farthest(a, b) + 1)
    low, length = _range(a, b, shares.node, finer)
    masses, adds = np.zeros((finer, length)), 0
    for larger, smaller, first in _ways(a, b):
        for node, start, end in _stretches(shares.node, first):
            deadline.check()
            adds += 2
            for at, share in ((node, shares.down), (node + 1, shares.up)):
                place, inner = _inner(smaller.masses, share[start:end], start, smaller, larger)
                to = larger.first + place + at // finer - low
                kept = slice(place, place + len(inner))
                masses[at % finer, to : to + len(inner)] += larger.masses[kept] * inner
    zero = max(a.zero * b.zero, _TINY) if a.zero and b.zero else 0.0
    for law, other in ((a, b), (b, a)):
        if other.zero:
            # Half of a mass goes to twice its place or beyond, and as much as all of it to 0.
            place = law.first - low + int(shares.node[0]) // finer + 1
            alone = law.masses * other.zero
            before = min(max(-place, 0), len(alone))
            masses[0, 0] += float(alone[:before].sum()) * _RAISED / 2
            masses[0, place + before : place + len(alone)] += alone[before:] / 2
            zero += float(alone.sum()) * _RAISED
    whole = max(1.0, *(float(law.masses.sum()) + law.zero for law in (a, b)))
    beyond, short = (a.beyond + b.beyond) * whole * _RAISED, (a.short + b.short) * whole * _RAISED
    units = a.units + b.units + _LONGEST + adds + _FEW
    return Above(finer * low, masses.T.ravel(), zero, beyond, short, units)


# Proved in docs/proofs/allocations.md, Lemma sums-of-ratios.
def _sum_below(a: Below, b: Below, step: float, finer: int) -> Below:
    """Add two laws below, groups of about one place united."""
    with np.errstate(under="ignore"):
        places = np.log1p(np.exp(-step * np.arange(_farthest(a, b) + 1))) * (finer / step)
    nodes = np.floor(places + finer / 2).astype(np.int64)
    low, length = _range(a, b, nodes, finer)
    masses, moments = np.zeros((finer, length)), np.zeros((finer, length))
    ones, adds = np.ones(_LONGEST), 0
    for larger, smaller, first in _ways(a, b):
        for node, start, end in _stretches(nodes, first):
            deadline.check()
            adds += 1
            weights = ones[: end - start]
            place, inner = _inner(smaller.masses, weights, start, smaller, larger)
            _, inner_moments = _inner(smaller.moments, weights, start, smaller, larger)
            to, kept = larger.first + place + node // finer - low, slice(place, place + len(inner))
            row, into = node % finer, slice(to, to + len(inner))
            masses[row, into] += larger.masses[kept] * inner
            moments[row, into] += larger.moments[kept] * inner + larger.masses[kept] * inner_moments
    units = a.units + b.units + _LONGEST + adds + _FEW
    return Below(finer * low, masses.T.ravel(), moments.T.ravel(), units)


Law = TypeVar("Law", Above, Below)


def _ways(a: Law, b: Law) -> list[tuple[Law, Law, int]]:
    """List which law has the larger node, the other one, and the first difference of the nodes."""
    return [(b, a, 0), (a, b, 1)]


def _stretches(nodes: np.ndarray, first: int) -> Iterator[tuple[int, int, int]]:
    """Cut the differences from the first on where the node changes, or after so many of them."""
    changes = first + 1 + np.flatnonzero(np.diff(nodes[first:]))
    for start, end in itertools.pairwise([first, *changes.tolist(), len(nodes)]):
        for cut in range(start, end, _LONGEST):
            yield int(nodes[start]), cut, min(cut + _LONGEST, end)


def _inner(
    values: Floats, weights: Floats, start: int, smaller: Above | Below, larger: Above | Below
) -> tuple[int, Floats]:
    """Sum the smaller law's values at the larger one's nodes less d, weighed by d from `start` on.

    The first number is that of the larger one's first node which there is a sum for.
    """
    apart = larger.first - start - smaller.first  # of the first larger node, in the sum of products
    first, last = max(0, -apart), min(len(larger.masses), len(values) + len(weights) - 1 - apart)
    if first >= last:
        return 0, np.zeros(0)
    low = max(first + apart - len(weights) + 1, 0)
    kept = values[low : last + apart]
    sums = kept * weights if len(weights) == 1 else np.correlate(kept, weights[::-1], "full")
    return first, sums[first + apart - low : last + apart - low]


def _farthest(a: Above | Below, b: Above | Below) -> int:
    """Return the largest difference of two numbers of nodes."""
    return max(b.first + len(b.masses) - 1 - a.first, a.first + len(a.masses) - 1 - b.first, 0)


def _range(a: Above | Below, b: Above | Below, nodes: np.ndarray, finer: int) -> tuple[int, int]:
    """Return the first node that sums may go to, and how many there are, before they are finer.

    `nodes` are those of `_Shares`, which fall: the least sum is that of the farthest nodes.
    """
    low = max(a.first, b.first) + int(nodes[-1]) // finer
    last = max(a.first + len(a.masses), b.first + len(b.masses)) + int(nodes[0]) // finer + 3
    check_nodes(last - low)
    return low, last - low


# --- both ends, and finer grids


# Proved in docs/proofs/allocations.md, Lemma sums-of-ratios.
def _cut_above(law: Above, log_start: float, step: float, rare: float) -> Above:
    """Move what hardly counts: at the near end to 0 and the first node, at the far one to the last.

    Masses in between that are too small for products go to 0.
    """
    x = np.exp(log_start + step * law.places)
    before, moments = np.cumsum(law.masses), law.masses * x
    after = np.cumsum(moments[::-1])[::-1]
    first = min(int(np.count_nonzero(before < rare)), len(x) - 1)
    last = max(int(np.count_nonzero(after >= rare)) - 1, first)
    masses = law.masses[first : last + 1].copy()
    zero = law.zero + float(law.masses[:first].sum()) * _RAISED
    shares = np.exp(-step * np.arange(first, 0, -1))
    masses[0] += float((law.masses[:first] * shares).sum()) * _RAISED
    masses[-1] += float(law.masses[last + 1 :].sum()) * _RAISED
    beyond = law.beyond + float(moments[last + 1 :].sum()) * _RAISED
    units = law.units + _FEW
    kept = Above(law.first + first, masses, zero, beyond * _RAISED, law.short, units)
    return _without_tiny(kept, log_start, step)


# Proved in docs/proofs/allocations.md, Lemmas sums-of-ratios and ratio-floats.
def _without_tiny(law: Above, log_start: float, step: float) -> Above:
    """Move masses too small for products to 0, and raise the one at 0 where it is."""
    masses, zero, beyond = law.masses, law.zero, law.beyond
    tiny = (masses > 0) & (masses < _TINY)
    if tiny.any():
        moved = masses[tiny] * np.exp(log_start + step * law.places[tiny])
        beyond = (beyond + float(moved.sum())) * _RAISED + _UNDERFLOW
        zero += float(masses[tiny].sum()) * _RAISED
        masses = np.where(tiny, 0.0, masses)
    zero = max(zero * _RAISED, _TINY) if zero else 0.0
    return replace(law, masses=masses, zero=zero, beyond=beyond)


def _cut_below(law: Below, rare: float) -> Below:
    """Leave out groups at both ends that hardly count, and those too small for products."""
    first = int(np.count_nonzero(np.cumsum(law.masses) < rare))
    last = int(np.count_nonzero(np.cumsum(law.moments[::-1]) >= rare))
    if last <= first:
        return _without_light(law)
    kept = slice(first, last)
    return _without_light(Below(law.first + first, law.masses[kept], law.moments[kept], law.units))


def _without_light(law: Below) -> Below:
    """Leave out groups whose mass or moment is too small for products, but for one at 0."""
    kept = (law.masses >= _TINY) & ((law.moments >= _TINY) | (law.moments == 0))
    return Below(
        law.first, np.where(kept, law.masses, 0.0), np.where(kept, law.moments, 0.0), law.units
    )


def _finer_above(law: Above, finer: int) -> Above:
    """Return the same law on a grid so many times finer."""
    if finer == 1:
        return law
    check_nodes(finer * len(law.masses))
    masses = np.zeros(finer * (len(law.masses) - 1) + 1)
    masses[::finer] = law.masses
    return replace(law, first=finer * law.first, masses=masses)


def _finer_below(law: Below, finer: int) -> Below:
    """Return the same law with its groups about the middles of a grid so many times finer."""
    if finer == 1:
        return law
    kept = np.zeros((2, finer * (len(law.masses) - 1) + 1))
    kept[:, ::finer] = law.masses, law.moments
    return Below(finer * law.first + finer // 2, kept[0], kept[1], law.units)
