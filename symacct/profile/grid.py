"""Few runs of any pairs on a grid of losses: D(y) between two bounds, to some digits.

All runs of what was spread over the nodes are one product of polynomials; the grid is made finer
until the digits are there, or said to be out of reach (docs/proofs.md, section 16).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

import numpy as np
from flint import arb, ctx, fmpz_poly

from symacct.errors import PrecisionError
from symacct.forking import cached_property
from symacct.profile.cells import Cell, cells, reach
from symacct.profile.densities import DensityLoss
from symacct.profile.digits import accuracy, decided, log_of
from symacct.profile.laplace import LaplaceLoss
from symacct.profile.part import Floats, Part
from symacct.profile.roots import bracket, enclosed
from symacct.profile.spread import Spread, floor, of_cells, of_profile
from symacct.profile.whole_numbers import IntegerLoss
from symacct.progress import progress
from symacct.sums.refine import ball

_SPARE_BITS = 32
_TINY = 1e-290  # for what is lost of floats below it
_SPARE = 3.0  # e^{-this} of what is wanted is left out
_TILTS = [2.0 ** (j / 4) for j in range(-16, 40)]
_FIRST, _MOST = 2**9, 2**15  # steps of the widest law
_MOST_IN_ALL = 2**18
_TELLING = (2**9, 2**12)
_SETTLED, _LEAP = 2**12, 3  # steps from which on digits grow evenly; octaves at once
_MEAN_RATE, _SURE_RATE = 0.6, 0.4  # digits that a grid of half the step gives more
_LOG_GUESS, _GUESSES = -20.0, 4  # of δ, squared so often
_HALVINGS = 6
_FARTHEST = 2.0**9

Runs = Sequence[tuple[Part, int]]
Ends = tuple[arb, arb]
Spreads = tuple[tuple[Spread, int], ...]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Grid:
    """All the runs: D between the profile of what was spread, less what that adds at most, and

    the same with what was left out.
    """

    spreads: Spreads
    bits: int
    work: int

    @property
    def step(self) -> arb:
        return self.spreads[0][0].step

    @cached_property
    def first(self) -> arb:
        """The least total loss."""
        return sum((k * spread.first for spread, k in self.spreads), arb(0))

    def delta(self, y: arb) -> arb:
        """D(y)."""
        whole, fallen = self._beyond
        at, most = (y - self.first) / self.step, len(whole) - 1
        places = range(_node(at, most), _node(at.upper(), most) + 1)
        value = functools.reduce(arb.union, [whole[j] - y.exp() * fallen[j] for j in places])
        left_out = sum((k * spread.left_out for spread, k in self.spreads), arb(0))
        below = value - self._rounded_up - self._added(y)
        return below.max(arb(0)).union(value + left_out)

    @cached_property
    def _masses(self) -> list[int]:
        """Of all runs, times 2^bits and rounded up."""
        return self._product(self._others[0], self._own[0])

    @cached_property
    def _own(self) -> list[list[int]]:
        return [[max(0, _up(p, self.bits)) for p in one.masses] for one, _ in self.spreads]

    @cached_property
    def _others(self) -> list[list[int]]:
        """Of all runs but one of each kind."""
        found = []
        for i in range(len(self.spreads)):
            counts = [k - (i == j) for j, (_, k) in enumerate(self.spreads)]
            powers = [self._power(own, k) for own, k in zip(self._own, counts, strict=True) if k]
            found.append(functools.reduce(self._product, powers, [1 << self.bits]))
        return found

    def _power(self, masses: list[int], count: int) -> list[int]:
        if count == 1:
            return masses
        half = self._power(masses, count // 2)
        square = self._product(half, half)
        return self._product(square, masses) if count % 2 else square

    def _product(self, one: list[int], other: list[int]) -> list[int]:
        found = fmpz_poly(one) * fmpz_poly(other)
        return [-(-int(x) >> self.bits) for x in found.coeffs()]

    @cached_property
    def _rounded_up(self) -> arb:
        """How much more the masses are than those that were spread, at most."""
        true = arb(1)
        for spread, k in self.spreads:
            true *= sum(spread.masses, arb(0)).lower().max(arb(0)) ** k
        more: arb = arb(sum(self._masses)) / 2**self.bits - true
        return more.upper()

    @cached_property
    def _beyond(self) -> tuple[list[arb], list[arb]]:
        """Σ p and Σ pe^{−ℓ} over the nodes from each on."""
        whole, fallen = [arb(0)], [arb(0)]
        for j, mass in reversed(list(enumerate(self._masses))):
            p = arb(mass) / 2**self.bits
            whole.append(whole[-1] + p)
            fallen.append(fallen[-1] + p * (-self.first - self.step * j).exp())
        return whole[::-1], fallen[::-1]

    def _added(self, y: arb) -> arb:
        """Σ k_i E[e_i(y−L)], L the loss of all runs but one of that kind.

        By sums of float64, too small by a share of 2^{-52} for each term at most.
        """
        if y.rad() > self.step.lower():
            return arb("inf")
        total, start = arb(0), floor((y - self.first) / self.step) + 1
        for (_, k), masses, highest in zip(self.spreads, self._floats, self._highest, strict=True):
            at = np.maximum(start - np.arange(len(masses)) + self._moved, 0)
            inside = at < len(highest)
            found = arb(float(masses[inside] @ highest[at[inside]]))
            unlikely = self._far + len(masses) * arb(_TINY)
            total += k * (found * (1 + len(masses) * arb(2) ** -51) + unlikely * arb(highest.max()))
            total += k * len(masses) * arb(2) ** -1022  # of products below the range of float64
        return total.upper()

    @property
    def _moved(self) -> int:
        """By how many steps all losses together were moved at most; some more for balls."""
        return 3 + sum(k * spread.moved for spread, k in self.spreads)

    @property
    def _far(self) -> arb:
        """The P-mass that was moved by more."""
        return sum((k * spread.far for spread, k in self.spreads), arb(0))

    @cached_property
    def _floats(self) -> list[Floats]:
        return [_floats(row, self.bits) for row in self._others]

    @cached_property
    def _highest(self) -> list[Floats]:
        """The most that each e_i is within so many steps, from so many before its first node on."""
        return [
            _most_around([_float_above(x) for x in one.excess], self._moved)
            for one, _ in self.spreads
        ]

    def order(self, y: float) -> float:
        """About the order at which a moment bounds D(y) best; float64."""
        masses = _floats(self._masses, self.bits)
        losses = float(self.first.mid()) - y + float(self.step.mid()) * np.arange(len(masses))
        logs = np.log(np.maximum(masses, _TINY))

        def log_moment(tilt: float) -> float:
            return float(np.logaddexp.reduce(logs + tilt * losses))

        best: float = min(_TILTS, key=log_moment)
        return 1 + best


def _up(x: arb, bits: int) -> int:
    """x·2^bits, rounded up."""
    found = (x.upper() * arb(2) ** bits).upper().ceil().unique_fmpz()
    assert found is not None  # noqa: S101  # a whole number, and exact
    return int(found)


def _floats(masses: list[int], bits: int) -> Floats:
    return np.array([float(arb(x) / 2**bits) for x in masses])


def _float_above(x: arb) -> float:
    return math.nextafter(float(x.upper()), math.inf)


def _most_around(values: list[float], reach: int) -> Floats:
    """The largest value within so many places, the first one standing for all before it."""
    found = np.concatenate([np.full(2 * reach, values[0]), values, np.zeros(2 * reach)])
    width = 1
    while width < 2 * reach + 1:
        shift = min(width, 2 * reach + 1 - width)
        found, width = np.maximum(found[:-shift], found[shift:]), width + shift
    return found


def _node(at: arb, most: int) -> int:
    """The first node beyond this place, counted in steps."""
    return max(0, min(floor(at) + 1, most))


@dataclass(eq=False)
class Grids:
    """Grids for some runs, each finer than the one before; the last is kept."""

    runs: Runs
    reverse: bool
    _made: dict[tuple[int, int], Grid] = field(default_factory=dict)

    def delta(self, y: Callable[[], arb], digits: float) -> arb:
        """D(y) to so many digits."""

        def at(grid: Grid) -> arb:
            return grid.delta(y())

        log_delta = _LOG_GUESS
        for _ in range(_GUESSES):
            for found in self._roughly(at, log_delta):
                if found == 0:  # beyond all nodes, and none left out
                    return found
                most = log_of(found.upper)
            if most > log_delta:
                break
            log_delta *= 2
        return self.refined(at, most, digits)

    def root(self, delta: Fraction, digits: float, at_an_end: Callable[[arb], arb | None]) -> arb:
        """Where D is δ, to so many digits; D beyond the largest loss is told."""

        def at(grid: Grid) -> arb:
            def value(y: arb) -> arb:
                known = at_an_end(y)
                return grid.delta(y) if known is None else known

            found = bracket(value, ball(delta))
            return arb.nan() if found is None else enclosed(value, ball(delta), found)

        return self.refined(at, log_of(lambda: ball(delta)), digits)

    def is_within(self, y: Callable[[], arb], bound: Callable[[], arb]) -> bool | None:
        """Is D(y) <= the bound? None where two grids can't decide it."""

        def at(grid: Grid) -> bool | None:
            return decided(grid.delta(y()), bound())

        for told in self._roughly(at, log_of(bound)):
            if told is not None:
                return told
        return None

    def refined(self, ask: Callable[[Grid], arb], log_delta: float, digits: float) -> arb:
        """What is asked of a grid, for a δ of about e^{log_delta}, or PrecisionError."""
        need = self._need(log_delta, digits)
        steps = _FIRST
        while True:
            found = self._asked(ask, steps, need)
            known = max(0.0, accuracy(found))
            if known >= digits:
                return found
            left = math.log2(min(_MOST, _MOST_IN_ALL // self.count) / steps)
            if left < 1 or (steps >= _SETTLED and known + left < digits):
                had = math.floor(known + _SURE_RATE * max(left, 0.0))
                fewer = f"fewer than the {digits:.0f} worked with" if had else "a larger δ"
                raise PrecisionError(
                    f"the profile of {self.count} runs: found laws whose moments do not fall, and "
                    f"so a grid of losses, on which about {had} digits can be had; needed {fewer}, "
                    "or conversion='improved'"
                )
            steps *= 2 ** math.ceil(min(left, _LEAP, max((digits - known) / _MEAN_RATE, 1.0)))

    def _roughly(self, ask: Callable[[Grid], T], log_delta: float) -> Iterator[T]:
        """What two grids give that mostly tell whether D(y) is below e^{log_delta}."""
        need, most = self._need(log_delta, 3.0), _MOST_IN_ALL // self.count
        return (self._asked(ask, min(steps, most), need) for steps in _TELLING)

    def _asked(self, ask: Callable[[Grid], T], steps: int, need: int) -> T:
        with progress(f"a grid of {steps:,} losses"):
            grid = self._grid(steps, need)
            with ctx.workprec(grid.work):
                return ask(grid)

    def _need(self, log_delta: float, digits: float) -> int:
        return math.ceil(digits * math.log(10) + _SPARE - log_delta + math.log(self.count))

    @property
    def last(self) -> Grid | None:
        """The one that was asked last."""
        return next(iter(self._made.values()), None)

    @property
    def count(self) -> int:
        """Of all runs."""
        return sum(k for _, k in self.runs)

    def _grid(self, steps: int, need: int) -> Grid:
        """So many steps of the widest law, all but e^{−need} of each."""
        if self.count > (most := _MOST_IN_ALL // _FIRST):
            raise PrecisionError(
                f"the profile of {self.count:,} runs: found laws whose moments do not fall, needed "
                f"at most {most} runs for a grid of losses, noise of a density beside them, or "
                "conversion='improved'"
            )
        if (steps, need) not in self._made:
            bits = math.ceil(need / math.log(2)) + _SPARE_BITS
            work = bits + 2 * _MOST.bit_length()
            reaches = [_reach(part, self.reverse, float(need)) for part, _ in self.runs]
            farthest = max(float(abs(end).upper()) for ends in reaches for end in ends)
            if not farthest <= _FARTHEST:
                raise PrecisionError(
                    f"the profile of {self.count} runs: found losses beyond {_FARTHEST:.0f} to lay "
                    "a grid over, needed smaller ones, or conversion='improved'"
                )
            with ctx.workprec(work + math.ceil(2 * farthest / math.log(2))):
                spreads = self._spreads(reaches, steps, float(need))
            self._made = {(steps, need): Grid(spreads, bits, work)}
        return self._made[steps, need]

    def _spreads(self, reaches: list[Ends], steps: int, need: float) -> Spreads:
        step = _step(self.runs, reaches, steps)
        return tuple(
            (_spread(part, self.reverse, ends, step, need), k)
            for (part, k), ends in zip(self.runs, reaches, strict=True)
        )


def _step(runs: Runs, reaches: list[Ends], steps: int) -> arb:
    """Of the grid: a whole number of them lies between the atoms of Laplace noise."""
    widest = max(float((high - low).mid()) for low, high in reaches) / steps
    for (part, _), (low, high) in sorted(
        zip(runs, reaches, strict=True), key=lambda one: -one[0][1]
    ):
        if isinstance(part, LaplaceLoss):
            return (high - low) / math.ceil(float((high - low).mid()) / widest)
    return arb(widest)


def _spread(part: Part, reverse: bool, ends: Ends, step: arb, need: float) -> Spread:
    if isinstance(part, DensityLoss):
        found, left_out = cells(part, reverse, float(step), need)
        return of_cells(found, step, left_out)
    if isinstance(part, IntegerLoss):
        known, left_out = part.known(reverse, need)
        return of_cells([Cell(p, q, x.lower(), x.upper()) for p, q, x in known], step, left_out)
    return of_profile(part, reverse, ends, step)


def _reach(part: Part, reverse: bool, need: float) -> Ends:
    """Between what the loss is but for a P-mass of about e^{−need} at most."""
    if isinstance(part, DensityLoss):
        low, high = reach(part, reverse, need)
        return arb(low), arb(high)
    if isinstance(part, IntegerLoss):
        losses = [one.loss for one in part.known(reverse, need)[0]]
        return min(losses, key=float), max(losses, key=float)
    return -_top(part, not reverse, need, 1), _top(part, reverse, need, 0)


def _top(part: Part, reverse: bool, need: float, tilt: int) -> arb:
    """The largest loss, or from where on D(y)e^{−tilt·y} is below e^{−need}."""
    goal, largest = arb(-need).exp(), part.largest(reverse)

    def is_beyond(y: float) -> bool:
        return bool(part.hockey_stick(arb(y), reverse) * arb(-tilt * y).exp() < goal)

    low, high = 0.0, 2.0**-6
    while not is_beyond(high):
        if high > _FARTHEST or arb(high) > largest:
            return largest
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return arb(high).min(largest)
