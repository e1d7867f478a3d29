"""|F(a+it)| <= A + C/t for a pair of densities, by parts wherever the loss is not level.

With g = q(m/q)^a and ψ = g/L′, the density of the tilted loss, ∫ge^{itL} is
([ψe^{itL}] − ∫ψ′e^{itL})/(it) where L′ is not 0; next to where it is, A has all of ∫g
(docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import NamedTuple

from flint import acb, arb

from symacct.kernel import deadline
from symacct.profile.losses.density.charts import Chart
from symacct.profile.sums.tail_maximum import End

_EVEN = 2.0**-7  # of ψ is what it may vary by on a cell where it is not known to be monotone
_LEVEL = 1 / 16  # of g is how far off it may be on a cell where the loss is level
_LITTLE = 2.0**-10  # of F(a) is what may vary besides
_LEAST = 2.0**-24  # of F(a), which a cell need not be halved for
_MOST_CELLS = 4000
_TIMES = [2.0**j for j in range(20)]


class ChartInterval(NamedTuple):
    """An interval of a chart; bounds of ∫g and, ∞ where that is not told, of ∫|ψ′|."""

    chart: Chart
    low: arb
    high: arb
    mass: arb
    variation: arb


def ends(charts: list[Chart], a: float, left_out: arb, moment: arb) -> list[End]:
    """(A, C), each good at some t; F(a), about, says what matters."""
    cells = _cells(charts, a, moment)
    found = []
    for t in _TIMES:
        is_told = [cell.variation < t * cell.mass for cell in cells]
        rest = (cell.mass for cell, told in zip(cells, is_told, strict=True) if not told)
        apart, falling = _falling(cells, is_told, a)
        found.append((sum(rest, left_out + apart), falling))
    return found


def _cells(charts: list[Chart], a: float, moment: arb) -> list[ChartInterval]:
    """Halved until ψ is told on each, or hardly anything is on it."""
    pending = [(chart, chart.low, chart.high) for chart in reversed(charts)]
    found: list[ChartInterval] = []
    while pending:
        deadline.check()
        chart, low, high = pending.pop()
        cell, is_told = _cell(chart, a, low, high, moment * _LITTLE)
        if is_told or cell.mass < moment * _LEAST or len(found) + len(pending) > _MOST_CELLS:
            found.append(cell)
        else:
            middle = ((low + high) / 2).mid()
            pending += [(chart, middle, high), (chart, low, middle)]
    return found


def _cell(chart: Chart, a: float, low: arb, high: arb, little: arb) -> tuple[ChartInterval, bool]:
    """An interval, and would its halves tell little more? ψ′ = ψ((log q)′ + aL′ − L″/L′)."""
    log_q, loss = chart.logs_with_curvature(acb(low.union(high)))
    g = (log_q.value.value + arb(a) * loss.value.value).real.exp()
    width, slope = high - low, loss.slope.value.real
    mass = (width * g).upper()
    if not (slope > 0 or slope < 0):
        is_settled = slope == 0 and g.rad() < _LEVEL * g
        return ChartInterval(chart, low, high, mass, arb("inf")), bool(is_settled)
    steep = (log_q.slope.value.real + arb(a) * slope) - loss.slope.slope.real / slope
    if steep > 0 or steep < 0:
        change = abs(_psi(chart, a, high) - _psi(chart, a, low))
        return ChartInterval(chart, low, high, mass, change), True
    psi = g / abs(slope)
    variation = (width * psi * abs(steep)).upper()
    is_even = variation < _EVEN * psi or variation < little
    return ChartInterval(chart, low, high, mass, variation), bool(is_even)


def _falling(cells: list[ChartInterval], is_told: list[bool], a: float) -> tuple[arb, arb]:
    """The bound C: ∫|ψ′| where that is told, and |ψ| at both ends of each stretch of it.

    Before it, what the bound A has for joints of two charts.
    """
    total, joints = arb(0), defaultdict[tuple[object, ...], list[tuple[arb, arb]]](list)
    told = zip(cells, is_told, strict=True)
    for _, same in itertools.groupby(told, key=lambda one: id(one[0].chart)):
        own, was_told = list(same), False
        chart = own[0][0].chart
        for i, (cell, is_one) in enumerate(own):
            if is_one:
                total += cell.variation
            if is_one != was_told:
                if i == 0:
                    joints[_joint(chart, False)].append(_end(chart, a, cell.low, -1))
                else:
                    total += abs(_psi(chart, a, cell.low))
            was_told = is_one
        if was_told:
            joints[_joint(chart, True)].append(_end(chart, a, own[-1][0].high, 1))
    shares = [_joined(each) for each in joints.values()]
    return sum((x for x, _ in shares), arb(0)), total + sum((x for _, x in shares), arb(0))


def _joined(brackets: list[tuple[arb, arb]]) -> tuple[arb, arb]:
    """Of both brackets ±ψe^{itL} at a place the shares in A and C.

    |xe^{itL} + ye^{itM}| <= |x + y| + |y||e^{it(L−M)} − 1|: where balls don't tell L and M apart
    the second is little for each unit of t.
    """
    if len(brackets) == 2:
        (x, loss), (y, other) = brackets
        if loss.overlaps(other):
            return abs(y) * abs(loss - other), abs(x + y)
    return arb(0), sum((abs(x) for x, _ in brackets), arb(0))


def _psi(chart: Chart, a: float, u: arb) -> arb:
    log_q, loss = chart.logs(acb(u))
    value: arb = (log_q.value + arb(a) * loss.value).real.exp() / loss.slope.real
    return value


def _end(chart: Chart, a: float, u: arb, sign: int) -> tuple[arb, arb]:
    """±ψ at an end of a chart, and L there."""
    return sign * _psi(chart, a, u), chart.logs(acb(u)).loss.value.real


def _joint(chart: Chart, is_far: bool) -> tuple[object, ...]:
    """An end of a chart, one for both charts that end there; a piece's halves lie in turn."""
    side, sides = chart.side, chart.pair.sides
    i = next(i for i, one in enumerate(sides) if one is side)
    distance = chart.farthest if is_far else chart.nearest
    if distance == (0 if side.is_infinite else side.extent):
        return "middle", i // 2
    return ("cut", (i + 1) // 2) if distance == 0 else ("within", i, distance)
