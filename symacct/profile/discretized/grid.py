"""Runs of any pairs on a grid of losses: D(y) between two bounds, to some digits.

All runs of what was spread over the nodes are one product of polynomials, of which both ends that
hardly ever occur are left out; the grid is made finer until the digits are there, or said to be out
of reach (docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import ceiling, float_above, floor
from symacct.kernel.deadline import progress
from symacct.kernel.errors import PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball
from symacct.profile.accuracy import accuracy, decided, log_float_of
from symacct.profile.discretized.connect_the_dots import DottedLaw
from symacct.profile.discretized.discretize import laws_of, step_for
from symacct.profile.discretized.masses import Masses, Products
from symacct.profile.discretized.nodes import Nodes
from symacct.profile.float_laws import FARTHEST
from symacct.profile.part import Floats, Part
from symacct.profile.proofs import GRIDS
from symacct.profile.roots import bracket, enclosed
from symacct.profile.runs import DirectedRuns
from symacct.profile.strategy import CANNOT, Number

_SPARE_BITS = 32
_TINY = 1e-290  # for what is lost of floats below it
_SPARE = 3.0  # e^{-this} of what is wanted is left out
_TILTS = [2.0 ** (j / 4) for j in range(-16, 40)]
_FIRST, _MOST = 2**9, 2**15  # steps of the widest law
_MOST_DEAR = 2**12  # where a value takes half a millisecond
_MOST_OF_OUTCOMES = 2**17  # where no integral nor profile is worked out for each step
_MOST_IN_ALL, _MOST_RUNS = 2**19, 2**17
_TELLING = (2**9, 2**12)
_FEW_RUNS, _FEW_DIGITS = 8, 6.0  # of densities: mostly sooner had than by a contour
_MANY_RUNS = 200  # from which on contours do
_MOST_DIGITS = 14.0  # of what is on a grid, whose error is about the square of its step
_TOLD = 8.0  # for which a grid is laid that tells how many there are
_SETTLED, _LEAP = 2**12, 3  # steps from which on digits grow evenly; octaves at once
_MEAN_RATE, _SURE_RATE = 0.6, 0.4  # digits that a grid of half the step gives more
_LOG_GUESS, _GUESSES = -20.0, 4  # of δ, squared so often
_SPARED = 0.9  # of the digit more that is worked with than asked for

_REFUSED = (
    "the profile of {:,} runs: found laws whose moments do not fall, needed {} of them for a grid "
    "of losses, or noise of a density beside them"
)

Spreads = tuple[tuple[DottedLaw, int], ...]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Grid:
    """All the runs on one grid, with bounds of D on both sides.

    D lies between the profile of what was spread, less what spreading adds at most, and that
    profile with the mass that was left out.
    """

    spreads: Spreads
    need: int
    bits: int
    work: int

    @property
    def step(self) -> arb:
        return self.spreads[0][0].step

    @cached_property
    def first(self) -> arb:
        """The least total loss of those kept."""
        least = sum((k * spread.first for spread, k in self.spreads), arb(0))
        return least + self.step * self._masses.first

    def delta(self, y: arb) -> arb:
        """D(y)."""
        value = self._nodes.profile(y)
        left_out = sum((k * spread.left_out for spread, k in self.spreads), self._cut(self._masses))
        below = value - self._rounded_up - self._added(y)
        return below.max(arb(0)).union(value + left_out)

    @cached_property
    def _masses(self) -> Masses:
        """Of all runs."""
        return self._products.product(self._others[0], self._own[0])

    @property
    def width(self) -> int:
        """The nodes of all runs."""
        return len(self._masses.rising)

    @cached_property
    def _own(self) -> list[Masses]:
        rows = ([max(0, _up(p, self.bits)) for p in one.masses] for one, _ in self.spreads)
        return [Masses(0, row, 0) for row in rows]

    @cached_property
    def _others(self) -> list[Masses]:
        """Of all runs but one of each kind."""
        found = []
        for i in range(len(self.spreads)):
            deadline.check()
            counts = [k - (i == j) for j, (_, k) in enumerate(self.spreads)]
            powers = [
                self._products.power(own, k) for own, k in zip(self._own, counts, strict=True) if k
            ]
            found.append(reduce(self._products.product, powers, Masses(0, [1 << self.bits], 0)))
        return found

    @cached_property
    def _products(self) -> Products:
        """Of masses that leave out e^{−need} at most at either end."""
        refused = _REFUSED.format(sum(k for _, k in self.spreads), "fewer")
        most = _up(arb(-self.need).exp(), self.bits)
        return Products(self.bits, most, _MOST_IN_ALL, refused)

    def _cut(self, masses: Masses) -> arb:
        cut: arb = arb(masses.cut) / 2**self.bits
        return cut

    @cached_property
    def _rounded_up(self) -> arb:
        """How much more the masses are than those that were spread, at most."""
        true = arb(1)
        for spread, k in self.spreads:
            true *= sum(spread.masses, arb(0)).max(arb(0)) ** k
        more: arb = arb(sum(self._masses.rising) + self._masses.cut) / 2**self.bits - true
        return more

    @cached_property
    def _nodes(self) -> Nodes:
        return Nodes(self.first, self.step, self._masses.rising, self.bits)

    def _added(self, y: arb) -> arb:
        """Σ k_i E[e_i(y−L)], L the loss of all runs but one of that kind.

        By sums of float64, too small by a share of 2^{-52} for each term at most.
        """
        if y.rad() > self.step:
            return arb("inf")
        total, start = arb(0), floor((y - self.first) / self.step) + 1 + self._masses.first
        rows = zip(self.spreads, self._others, self._floats, self._highest, strict=True)
        for (_, k), others, masses, highest in rows:
            at = start - others.first - np.arange(len(masses)) + self._moved
            inside = at < len(highest)
            found = arb(float(masses[inside] @ highest[np.maximum(at[inside], 0)]))
            unlikely = self._far_mass + self._cut(others) + len(masses) * arb(_TINY)
            total += k * (found * (1 + len(masses) * arb(2) ** -51) + unlikely * arb(highest.max()))
            total += k * len(masses) * arb(2) ** -1022  # of products below the range of float64
        return total

    @cached_property
    def _moved(self) -> int:
        """How far in steps all losses together were moved but for `_far_mass`, and more for balls.

        By Hoeffding's inequality where that is less than all moves one way.
        """
        moves = sum(k * spread.moved for spread, k in self.spreads)
        squares = sum(k * spread.moved**2 for spread, k in self.spreads)
        widest = max(spread.moved for spread, _ in self.spreads) * self.step
        drift = squares * self.step * widest.exp() / 2
        likely = drift + (2 * squares * arb(self.need)).sqrt()
        return 3 + min(moves, ceiling(likely))

    @property
    def _far_mass(self) -> arb:
        """The P-mass that was moved by more."""
        further = sum((k * spread.far_mass for spread, k in self.spreads), arb(0))
        return further + 2 * arb(-self.need).exp()

    @cached_property
    def _floats(self) -> list[Floats]:
        return [_floats(others.rising, self.bits) for others in self._others]

    @cached_property
    def _highest(self) -> list[Floats]:
        """The most that each e_i is within so many steps, from so many before its first node on."""
        return [
            _most_around([float_above(x) for x in one.excess], self._moved)
            for one, _ in self.spreads
        ]

    def order(self, y: float) -> float:
        """About the order at which a moment bounds D(y) best; float64."""
        masses = _floats(self._masses.rising, self.bits)
        losses = float(self.first.mid()) - y + float(self.step.mid()) * np.arange(len(masses))
        logs = np.log(np.maximum(masses, _TINY))

        def log_moment(tilt: float) -> float:
            return float(np.logaddexp.reduce(logs + tilt * losses))

        best: float = min(_TILTS, key=log_moment)
        return 1 + best


def _up(x: arb, bits: int) -> int:
    """x·2^bits, rounded up."""
    return ceiling(x * arb(2) ** bits)


def _floats(masses: list[Any], bits: int) -> Floats:
    scale = arb(2) ** -bits
    return np.array([float(arb(x) * scale) for x in masses])


def _most_around(values: list[float], reach: int) -> Floats:
    """The largest value within so many places, the first one standing for all before it."""
    found = np.concatenate([np.full(2 * reach, values[0]), values, np.zeros(2 * reach)])
    width = 1
    while width < 2 * reach + 1:
        deadline.check()
        shift = min(width, 2 * reach + 1 - width)
        found, width = np.maximum(found[:-shift], found[shift:]), width + shift
    return found


@dataclass(eq=False)
class Grids:
    """Grids for some runs, each finer than the one before; the last is kept."""

    proof = GRIDS

    runs: DirectedRuns
    _made: dict[tuple[int, int], Grid] = field(default_factory=dict)

    def cost(self, digits: float) -> float:
        """Little for few digits of few runs; the last way where moments hardly fall.

        Of sampled noise on whole numbers few digits are sooner had than by a contour, of other
        atoms than by one of many nodes, and a bound than by a moment of the order that makes it
        small. Of what is averaged over another's loss a contour is soon had, or soon refused. Each
        value of a mixture is at a place that is searched for.
        """
        if any(self._loses_unseen(part) for part, _ in self.runs.runs):
            return CANNOT
        is_averaged = any(part.is_averaged for part, _ in self.runs.runs)
        is_alone = self.runs.are_atoms or is_averaged or not self.runs.have_moments
        if not (self.count < _MANY_RUNS or is_alone):
            return CANNOT
        if digits >= _FEW_DIGITS:
            return _MOST_IN_ALL
        is_slow = any(part.is_searched for part, _ in self.runs.runs)
        is_few = self.count < _FEW_RUNS and not is_averaged and not is_slow
        if self.runs.are_atoms and self.count < _MANY_RUNS:
            parts = (part for part, _ in self.runs.runs)
            # Of noise on whole numbers, which a symmetry exchanges unless it is sampled.
            is_sampled = any(part.finite is None and not part.symmetric for part in parts)
            return _FIRST if is_few or is_sampled or not digits else _MOST_OF_OUTCOMES
        return _MOST if is_few else _MOST_IN_ALL

    def _loses_unseen(self, part: Part) -> bool:
        """Has it an infinite loss that is not apart from what is laid on nodes?"""
        return part.finite is None and part.mass_at_infinity(self.runs.reverse) != 0

    def _profile(self, grid: Grid, y: arb) -> arb:
        """D(y), with what has an infinite loss, of which nothing is on the nodes."""
        return self.runs.mass_at_infinity + grid.delta(y)

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to so many digits."""

        def at(grid: Grid) -> arb:
            return self._profile(grid, y())

        log_delta = _LOG_GUESS
        for _ in range(_GUESSES):
            for found in self._roughly(at, log_delta):
                if found == 0:  # beyond all nodes, and none left out
                    return found
                most = log_float_of(found.upper)
            if most > log_delta:
                break
            log_delta *= 2
        return self.refined(at, most, digits)

    def root(self, delta: Fraction, digits: float) -> arb:
        """Where D is δ, to so many digits: each grid begins where the one before proved it."""
        found: tuple[arb, arb] | None = None

        def at(grid: Grid) -> arb:
            nonlocal found

            def value(y: arb) -> arb:
                known = self.runs.beyond_largest_loss(y)
                return self._profile(grid, y) if known is None else known

            found = found or bracket(value, ball(delta))
            if found is None:
                return arb.nan()
            root = enclosed(value, ball(delta), found)
            found = root.lower(), root.upper()
            return root

        return self.refined(at, log_float_of(lambda: ball(delta)), digits)

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) <= the bound? None where two grids can't decide it."""

        def at(grid: Grid) -> bool | None:
            return decided(self._profile(grid, y()), bound())

        for told in self._roughly(at, log_float_of(bound)):
            if told is not None:
                return told
        return None

    def refined(self, ask: Callable[[Grid], arb], log_delta: float, digits: float) -> arb:
        """What is asked of a grid, for a δ of about e^{log_delta}, or PrecisionError.

        Of more digits than any grid has, one coarse grid tells how many there are.
        """
        is_told = digits > _MOST_DIGITS
        need = self._need(log_delta, _TOLD if is_told else digits)
        steps = _FIRST
        while True:
            deadline.check()
            found = self._asked(ask, steps, need)
            known = max(0.0, accuracy(found))
            if known >= digits - _SPARED:
                return found
            left = math.log2(self._finest / steps)
            if left < 1 or is_told or (steps >= _SETTLED and known + left < digits - _SPARED):
                had = math.floor(known + _SURE_RATE * max(left, 0.0))
                fewer = f"fewer than the {digits:.0f} worked with" if had else "a larger δ"
                raise PrecisionError(
                    f"the profile of {self.count} runs: found laws whose moments do not fall, "
                    f"so that a grid of losses gives about {had} digits, needed {fewer}",
                    remedy="use conversion improved",
                )
            wanted = max(1, math.ceil((digits - _SPARED - known) / _MEAN_RATE))
            steps *= 2 ** min(math.floor(left), _LEAP, wanted)

    def _roughly(self, ask: Callable[[Grid], T], log_delta: float) -> Iterator[T]:
        """What two grids give that mostly tell whether D(y) is below e^{log_delta}."""
        need = self._need(log_delta, 3.0)
        return (self._asked(ask, min(steps, self._finest), need) for steps in _TELLING)

    def _asked(self, ask: Callable[[Grid], T], steps: int, need: int) -> T:
        with progress(f"a grid of {steps:,} losses"):
            grid = self._grid(steps, need)
            with ctx.workprec(grid.work):
                return ask(grid)

    def _need(self, log_delta: float, digits: float) -> int:
        need = math.ceil(digits * math.log(10) + _SPARE - log_delta + math.log(self.count))
        return max(need, 1)

    @property
    def _finest(self) -> int:
        """The most steps, as far as the grid that was made last tells."""
        if not self._made:
            return _FIRST
        (steps, _), made = next(iter(self._made.items()))
        most = _MOST_DEAR if self.runs.are_costly else _MOST
        most = _MOST_OF_OUTCOMES if self.runs.are_atoms else most
        return max(_FIRST, min(most, steps * _MOST_IN_ALL // made.width))

    def order(self, y: float) -> float | None:
        """About the order at which a moment bounds D(y) best, by the grid that was asked last."""
        return next((grid.order(y) for grid in self._made.values()), None)

    @property
    def count(self) -> int:
        """Of all runs."""
        return self.runs.count

    def _grid(self, steps: int, need: int) -> Grid:
        """So many steps of the widest law, all but e^{−need} of each."""
        if self.count > _MOST_RUNS:
            raise PrecisionError(_REFUSED.format(self.count, f"{_MOST_RUNS:,}"))
        if (steps, need) not in self._made:
            bits = math.ceil(need / math.log(2)) + _SPARE_BITS
            work = bits + 2 * _MOST_OF_OUTCOMES.bit_length()
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
            self._made = {(steps, need): Grid(spreads, need, bits, work)}
        return self._made[steps, need]
