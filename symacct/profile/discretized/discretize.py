"""What is laid on a grid of losses: of some runs of a part, which laws, how far out and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from flint import arb

from symacct.profile.discretized.cells import cells, reach
from symacct.profile.discretized.connect_the_dots import Spread, of_cells, of_profile
from symacct.profile.discretized.grouped import MOST_OUTCOMES, Group, grouped
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.part import Part

FARTHEST = 2.0**9  # losses
_HALVINGS = 6
_OUTCOMES = 16  # of a group for each step, more of which hardly make its error less


class LaidLaw(NamedTuple):
    """How often it is run, between what its losses are, and how it is laid on nodes so far apart.

    The last field says whether both ends are atoms.
    """

    runs: int
    ends: tuple[arb, arb]
    laid: Callable[[arb], Spread]
    has_atoms: bool = False


def laws_of(part: Part, count: int, reverse: bool, need: float, steps: int) -> Iterator[LaidLaw]:
    """The laws of some runs of a part to lay over so many steps, but for a P-mass of e^{−need}."""
    if isinstance(part, Atoms | IntegerLoss):
        outcomes = min(_OUTCOMES * steps, MOST_OUTCOMES)
        for group, times in grouped(part, count, reverse, need, outcomes):
            low, high = (min(x.low for x in group.cells), max(x.high for x in group.cells))
            yield LaidLaw(times, (low, high), partial(_of_group, group))
    elif isinstance(part, DensityLoss):
        least, most = reach(part, reverse, need)
        yield LaidLaw(count, (arb(least), arb(most)), partial(_of_density, part, reverse, need))
    else:
        ends = -_top(part, not reverse, need, 1), _top(part, reverse, need, 0)
        laid = partial(of_profile, part, reverse, ends)
        yield LaidLaw(count, ends, laid, isinstance(part, LaplaceLoss))


def _of_group(group: Group, step: arb) -> Spread:
    return of_cells(group.cells, step, group.left_out)


def _of_density(part: DensityLoss, reverse: bool, need: float, step: arb) -> Spread:
    found, left_out = cells(part, reverse, float(step), need)
    return of_cells(found, step, left_out)


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
        if high > FARTHEST or arb(high) > largest:
            return largest
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_beyond(middle) else (middle, high)
    return arb(high).min(largest)
