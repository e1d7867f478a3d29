"""The line cut into small cells: the masses of two densities in each, and their losses there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from flint import acb, arb, arb_mat, arb_poly, ctx

from symacct.numerics.sums.refine import within
from symacct.profile.losses.density.densities import RHO, DensityLoss, Panel, pieces
from symacct.profile.sums import chebyshev

_PLACES = 8  # of a panel
_FINE = 4  # cells to a step of the grid, at least
_TOGETHER = 32  # cells for which one bound of the slope of the loss is worked out
_ROUND = 16  # points, so that few rules serve many panels
_FEW_BITS = 64
_LOST = 1.3  # bits a point, of coefficients of powers that cancel
_SPARE = 30.0  # e^{−this} less than what is left out are errors of the masses
_SHORTEST = 2.0**-30  # of a panel


class LineCell(NamedTuple):
    """The masses of P and Q, and between what the loss log(p/q) is."""

    p: arb
    q: arb
    low: arb
    high: arb


def reach(part: DensityLoss, reverse: bool, need: float) -> tuple[float, float]:
    """About the least and the largest loss of the cells; float64."""
    panels, _, _ = pieces(part, reverse, need)
    found = [float(_loss(panel, place).mid()) for panel in panels for place in _some_places(panel)]
    low, high = min(found), max(found)
    return (-high, -low) if reverse else (low, high)


def _some_places(panel: Panel) -> Iterator[arb]:
    low, high = panel.ends
    return (low + (high - low) * i / _PLACES for i in range(_PLACES + 1))


def cells(part: DensityLoss, reverse: bool, step: float, need: float) -> tuple[list[LineCell], arb]:
    """All of them but for a P-mass of about e^{−need} at most, and a bound of that."""
    found = [
        cell for one in _integrals(part, reverse, need, ctx.prec) for cell in _of_panel(one, step)
    ]
    if reverse:
        found = [LineCell(q, p, -high, -low) for p, q, low, high in found]
    return found, pieces(part, reverse, need).left_out


class Integrals(NamedTuple):
    """Polynomials in u from −1 to 1 on a panel whose differences are masses of m and q.

    They are worked out with so many bits and off by at most `off` per unit of u.
    """

    panel: Panel
    middle: arb
    half: arb
    both: list[arb_poly]
    off: arb
    bits: int


@lru_cache(16)
def _integrals(part: DensityLoss, reverse: bool, need: float, bits: int) -> list[Integrals]:
    """Of the polynomials that agree with the densities at Chebyshev's points, on every panel."""
    panels, _, size = pieces(part, reverse, need)
    counts = [_points(panel, need + _SPARE) for panel in panels]
    with ctx.workprec(_enough(bits, max(counts))):
        part.pair.shifts()  # once for all panels
    return [_integral(*each, size, bits) for each in zip(panels, counts, strict=True)]


def _points(panel: Panel, need: float) -> int:
    """At which a panel's densities are asked for errors of e^{−need} of its masses, about."""
    need += max(abs(float(_loss(panel, place).mid())) for place in _some_places(panel))
    return _ROUND * max(1, math.ceil((panel.log_most + need) / math.log(RHO) / _ROUND))


def _enough(bits: int, count: int) -> int:
    return bits + math.ceil(_LOST * count)


def _integral(panel: Panel, count: int, size: float, bits: int) -> Integrals:
    bits = _enough(bits, count)
    with ctx.workprec(bits):
        low, high = panel.ends
        middle, half = (low + high) / 2, (high - low) / 2
        values = []
        for u in chebyshev.points(count):
            logs = panel.chart.logs(acb(middle + half * u))
            log_q, loss = logs.q.value.real, logs.loss.value.real
            values.append([half * (log_q + loss).exp(), half * log_q.exp()])
        columns = (chebyshev.shares(count).transpose() * arb_mat(values)).transpose().tolist()
        off = half * chebyshev.off(panel.most(size), arb(RHO), count)
        both = [_in_powers(column).integral() for column in columns]
        return Integrals(panel, middle, half, both, off, bits)


def _in_powers(coefficients: list[arb]) -> arb_poly:
    """Σ c_k T_k by Clenshaw's b_k = c_k + 2u b_{k+1} − b_{k+2}: it is b_0 − u b_1."""
    u, after, last = arb_poly([0, 1]), arb_poly(), arb_poly()
    for c in reversed(coefficients[1:]):
        after, last = c + 2 * u * after - last, after
    return coefficients[0] + u * after - last


def _of_panel(one: Integrals, step: float) -> Iterator[LineCell]:
    """On each the loss is within what its slope allows of what it is at one place."""
    for first, last, slope in _slow(one, step):
        with ctx.workprec(one.bits):
            every = max(1, math.ceil(_FINE * float(slope * one.half * (last - first)) / step))
            width = (last - first) / every
            edges = [first + width * j for j in range(every)] + [last]
            known = [[whole(u) for whole in one.both] for u in edges]
            wide, radius = slope * one.half * width, within(one.off * width)
            for u, before, after in zip(edges, known, known[1:], strict=False):
                p, q = (b - a + radius for a, b in zip(before, after, strict=True))
                loss = _mean(p, q)
                if not loss.rad() < wide:
                    loss = _loss(one.panel, one.middle + one.half * (u + width / 2))
                yield LineCell(p, q, (loss - wide).lower(), (loss + wide).upper())


def _slow(one: Integrals, step: float) -> Iterator[tuple[arb, arb, arb]]:
    """Parts of [−1, 1] on which the loss changes by few steps, and a bound of |L′| on each."""
    pending = [(arb(-1), arb(1))]
    while pending:
        first, last = pending.pop()
        slope = _steepest(one.panel, one.middle + one.half * first.union(last))
        if slope * one.half * (last - first) * _FINE < _TOGETHER * step or last - first < _SHORTEST:
            yield first, last, slope
        else:
            centre = (first + last) / 2
            pending += [(centre, last), (first, centre)]


def _steepest(panel: Panel, u: arb) -> arb:
    """A bound of |L′| over u."""
    with ctx.workprec(_FEW_BITS):
        slope: arb = panel.chart.logs(acb(u)).loss.slope.real
        return abs(slope).upper()


def _mean(p: arb, q: arb) -> arb:
    """log(p/q) of a cell, which is the loss somewhere in it."""
    with ctx.workprec(_FEW_BITS):
        return (p / q).log()


def _loss(panel: Panel, place: arb) -> arb:
    with ctx.workprec(_FEW_BITS):
        loss: arb = panel.chart.logs(acb(place)).loss.value.real
        return loss
