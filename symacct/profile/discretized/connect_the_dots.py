"""A law's mass moved to the nodes of a grid of losses: a larger profile, and by how much at most.

Each piece of it goes to the nodes on either side, so that both laws keep their masses
(docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import arb

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import floor
from symacct.profile.discretized.cells import Tail
from symacct.profile.part import Part


class LineCell(NamedTuple):
    """The masses of P and Q, and between what the loss log(p/q) is."""

    p: arb
    q: arb
    low: arb
    high: arb


@dataclass(frozen=True, eq=False)
class DottedLaw:
    """The P-masses at the losses first + jh of a law whose profile is at least D − left_out.

    Between the nodes j−1 and j it is larger than D by at most excess[j]. All P-mass but
    `far_mass` was moved by at most so many steps.
    """

    first: arb
    step: arb
    masses: list[arb]
    excess: list[arb]
    left_out: arb
    far_mass: arb
    moved: int


def of_cells(found: list[LineCell], step: arb, left_out: arb) -> DottedLaw:
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
    return DottedLaw(step * first, step, masses, excess, left_out, arb(0), moved)


def of_profile(part: Part, reverse: bool, ends: tuple[arb, arb], step: arb) -> DottedLaw:
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
    below = abs(values[1] - 1 + places[1]) / step.expm1()
    return DottedLaw(first, step, masses, excess, abs(values[-1]), below, 1)


def of_tails(
    every: Sequence[Sequence[Tail]], losses: Sequence[arb], step: arb, left_out: arb
) -> DottedLaw:
    """The chords of the largest P(S) − aQ(S) over some sets S for each node.

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
    return [after - before for before, after in itertools.pairwise(values)]


def parallel(u: arb, v: arb) -> arb:
    """uv/(u+v) of numbers that are not negative, from above: it grows with both."""
    u, v = u.upper(), v.upper()
    return u * v / (u + v) if u > 0 and v > 0 else arb(0)
