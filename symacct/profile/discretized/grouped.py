"""Runs of what has outcomes, some at a time: all their sums lie close, as those of a density do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx

from symacct.kernel.arithmetic.ball import ends_of
from symacct.profile.discretized.connect_the_dots import LineCell
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.part import Part

MOST_OUTCOMES = 50_000  # of the runs that are taken together


class Group(NamedTuple):
    """Each outcome of some runs is a cell; the P-mass of those left out."""

    cells: list[LineCell]
    left_out: arb


def grouped(
    part: Part, count: int, reverse: bool, need: float, most: int = MOST_OUTCOMES
) -> Iterator[tuple[Group, int]]:
    """All runs in groups of one size, or of two, and how many there are of each.

    A group leaves out about e^{−need} for every run of it, and has about `most` outcomes.
    """
    size = _together(len(_own(part, reverse, need, ctx.prec).cells), count, most)
    groups = -(-count // size)
    base, longer = divmod(count, groups)
    for runs, times in ((base + 1, longer), (base, groups - longer)):
        if times:
            yield _group(part, runs, reverse, need, ctx.prec), times


def _together(outcomes: int, count: int, most: int) -> int:
    """The most runs that have few outcomes."""
    size = 1
    while size < count and math.comb(outcomes + size, size + 1) <= most:
        size += 1
    return size


@lru_cache(8)
def _own(part: Part, reverse: bool, need: float, bits: int) -> Group:
    """One run's, `bits` being flint's current precision."""
    known, left_out = part.outcomes_but_for(need, reverse)
    found = _kept(known, need)
    return Group(found.cells, found.left_out + left_out)


@lru_cache(8)
def _group(part: Part, runs: int, reverse: bool, need: float, bits: int) -> Group:
    own, left_out = _own(part, reverse, need, bits)
    if runs == 1:
        return Group(own, left_out)
    found = _kept(multinomial_laws([(p, q) for p, q, _, _ in own], runs), need)
    return Group(found.cells, found.left_out + runs * left_out)


def _kept(laws: list[tuple[arb, arb]], need: float) -> Group:
    """All of them but for a share e^{−need} of their P-mass at most, need > 0."""
    least = arb(-need).exp() * sum((p for p, _ in laws), arb(0)) / max(len(laws), 1)
    cells, left_out = [], arb(0)
    for p, q in laws:
        if p < least:
            left_out += p
        else:
            loss = (p / q).log()
            cells.append(LineCell(p, q, *ends_of(loss)))
    return Group(cells, left_out)
