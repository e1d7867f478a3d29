"""A law's mass moved to the nodes of a grid of losses: a larger profile, and by how much at most.

Each piece of it goes to the nodes on either side, so that both laws keep their masses
(docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from flint import arb

from symacct.profile.discretized.cells import LineCell
from symacct.profile.part import Part


@dataclass(frozen=True, eq=False)
class Spread:
    """The P-masses at the losses first + jh of a law whose profile is at least D − left_out.

    Between the nodes j−1 and j it is larger than D by at most excess[j]. All P-mass but `far` was
    moved by at most so many steps.
    """

    first: arb
    step: arb
    masses: list[arb]
    excess: list[arb]
    left_out: arb
    far: arb
    moved: int


def of_cells(found: list[LineCell], step: arb, left_out: arb) -> Spread:
    """Each cell's masses go to the nodes on either side of its losses; both laws keep theirs."""
    lows = [floor(cell.low / step) for cell in found]
    ends = [(i, max(i + 1, -floor(-c.high / step))) for i, c in zip(lows, found, strict=True)]
    first, last = min(i for i, _ in ends), max(j for _, j in ends)
    grown = [(step * j).exp() for j in range(first, last + 1)]
    masses, excess = ([arb(0)] * len(grown) for _ in range(2))
    for cell, (low, high) in zip(found, ends, strict=True):
        i, j = low - first, high - first
        apart = grown[j] - grown[i]
        down, up = ((grown[j] * cell.q - cell.p) / apart, (cell.p - grown[i] * cell.q) / apart)
        masses[i] += grown[i] * down
        masses[j] += grown[j] * up
        more = apart * parallel(down, up)
        for n in range(i + 1, j + 1):
            excess[n] += more
    moved = max(j - i for i, j in ends)
    return Spread(step * first, step, masses, excess, left_out, arb(0), moved)


def of_profile(part: Part, reverse: bool, ends: tuple[arb, arb], step: arb) -> Spread:
    """The chords of D over a = e^y between nodes, from D(−∞) = 1 on.

    Nearby chords, which go on below D, bound by how much.
    """
    first, last = ends
    count = max(2, -floor((first - last) / step))
    losses = [first + step * j for j in range(count + 1)]
    places = [arb(0), *(y.exp() for y in losses)]
    values = [arb(1), *(part.hockey_stick(y, reverse) for y in losses)]
    apart = _differences(places)
    slopes = [v / a for v, a in zip(_differences(values), apart, strict=True)]
    weights = _differences([arb(-1), *slopes, arb(0)])
    masses = [a * q for a, q in zip(places[1:], weights[1:], strict=True)]
    excess = [
        a * parallel(u, v) for a, (u, v) in zip(apart, itertools.pairwise(weights), strict=True)
    ]
    below = (values[1] - 1 + places[1]).abs_upper() / step.expm1()
    return Spread(first, step, masses, excess, values[-1].abs_upper(), below, 1)


def _differences(values: list[arb]) -> list[arb]:
    return [after - before for before, after in itertools.pairwise(values)]


def parallel(u: arb, v: arb) -> arb:
    """uv/(u+v) of numbers that are not negative, from above: it grows with both."""
    u, v = u.upper(), v.upper()
    return (u * v / (u + v)).upper() if u > 0 and v > 0 else arb(0)


def floor(x: arb) -> int:
    return int(float(x.lower().floor()))
