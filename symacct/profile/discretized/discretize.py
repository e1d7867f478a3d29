"""What is laid on a grid of losses: of some runs of a part, which laws, how far out and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from flint import arb

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import floor
from symacct.profile.discretized.cells import reach, tails
from symacct.profile.discretized.connect_the_dots import (
    DottedLaw,
    of_cells,
    of_profile,
    of_tails,
)
from symacct.profile.discretized.grouped import MOST_OUTCOMES, Group, grouped
from symacct.profile.float_laws import FARTHEST
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.part import Part

_HALVINGS = 6
_OUTCOMES = 16  # of a group for each step, more of which hardly make its error less


class LaidLaw(NamedTuple):
    """How often it is run, between what its losses are, and how it is laid on nodes so far apart.

    The last field says whether both ends are atoms.
    """

    runs: int
    ends: tuple[arb, arb]
    laid: Callable[[arb], DottedLaw]
    has_atoms: bool = False


def laws_of(part: Part, count: int, reverse: bool, need: float, steps: int) -> Iterator[LaidLaw]:
    """The laws of some runs of a part to lay over so many steps, but for a P-mass of e^{−need}."""
    if part.is_atomic:
        outcomes = min(_OUTCOMES * steps, MOST_OUTCOMES)
        for group, times in grouped(part, count, reverse, need, outcomes):
            low, high = (min(x.low for x in group.cells), max(x.high for x in group.cells))
            yield LaidLaw(times, (low, high), partial(_of_group, group))
    elif densities := part.density_pairs(reverse):
        every = [reach(one, way, need) for one, ways in densities for way in ways]
        ends = arb(min(low for low, _ in every)), arb(max(high for _, high in every))
        yield LaidLaw(count, ends, partial(_of_densities, densities, ends, need))
    else:
        ends = -_top(part, not reverse, need, 1), _top(part, reverse, need, 0)
        laid = partial(of_profile, part, reverse, ends)
        yield LaidLaw(count, ends, laid, part.ends_in_atoms)


def _of_group(group: Group, step: arb) -> DottedLaw:
    return of_cells(group.cells, step, group.left_out)


def _of_densities(
    densities: Sequence[tuple[DensityLoss, tuple[bool, ...]]],
    ends: tuple[arb, arb],
    need: float,
    step: arb,
) -> DottedLaw:
    """Of the largest one at each node."""
    low, high = (floor(end / step) for end in ends)
    if any(len(ways) > 1 for _, ways in densities):  # nodes that lie symmetrically serve both
        high = max(high, -low - 1)
        low = -high - 1
    losses = [step * j for j in range(low, high + 2)]
    found = [tails(part, ways, losses, need) for part, ways in densities]
    left_out = sum((off for _, off in found), arb(0))
    return of_tails([tail for every, _ in found for tail in every], losses, step, left_out)


def step_for(laws: list[LaidLaw], steps: int) -> arb:
    """Of the grid: a whole number of them lies between the atoms of Laplace noise."""
    widest = max(float((law.ends[1] - law.ends[0]).mid()) for law in laws) / steps
    for law in sorted(laws, key=lambda law: -law.runs):
        if law.has_atoms:
            between = law.ends[1] - law.ends[0]
            return between / math.ceil(float(between.mid()) / widest)
    return arb(widest)


def _top(part: Part, reverse: bool, need: float, tilt: int) -> arb:
    """The largest loss, or from where on D(y)e^{−tilt·y} is below e^{−need}."""
    goal, largest = arb(-need).exp(), part.largest(reverse)

    def is_beyond(y: float) -> bool:
        return bool(part.hockey_stick(arb(y), reverse) * arb(-tilt * y).exp() < goal)

    low, high = 0.0, 2.0**-6
    while not is_beyond(high):
        deadline.check()
        if high > FARTHEST or arb(high) > largest:
            return largest
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return arb(high).min(largest)
