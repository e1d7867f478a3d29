"""Two densities cut at the places where their loss is that of a node: the masses beyond each."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from flint import acb, arb, arb_mat, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.sums.balls import within
from symacct.profile.losses.density.densities import RHO, DensityLoss, Panel, pieces
from symacct.profile.sums import chebyshev

_PLACES = 8  # of a panel
_ROUND = 16  # points, so that few rules serve many panels
_FEW_BITS = 64
_LOST = 1.3  # bits a point, of coefficients of powers that cancel
_SPARE = 30.0  # e^{−this} less than what is left out are errors of the masses
_NEWTON_STEPS = 60


class Tail(NamedTuple):
    """P(S) and Q(S), S where the loss is beyond a node."""

    p: arb
    q: arb


def reach(part: DensityLoss, reverse: bool, need: float) -> tuple[float, float]:
    """About the least and the largest loss that occurs; float64."""
    panels = pieces(part, need).panels
    found = [float(_loss(panel, place).mid()) for panel in panels for place in _some_places(panel)]
    low, high = min(found), max(found)
    return (-high, -low) if reverse else (low, high)


def _some_places(panel: Panel) -> Iterator[arb]:
    low, high = panel.ends
    return (low + (high - low) * i / _PLACES for i in range(_PLACES + 1))


def tails(
    part: DensityLoss, ways: Sequence[bool], losses: Sequence[arb], need: float
) -> tuple[list[list[Tail]], arb]:
    """Tails of sets on which the loss is above each of the rising losses, nearly; one way or both.

    D is at most so much above P(S) − e^yQ(S) there, about e^{−need}. Both ways they lie
    symmetrically.
    """
    nodes = [-y for y in reversed(losses)] if ways[0] else losses
    between, off = _between(part, nodes, need)
    found = []
    for reverse in ways:
        own = [Tail(q, p) for p, q in reversed(between)] if reverse else between
        beyond = itertools.accumulate(own[:0:-1], lambda x, y: Tail(x.p + y.p, x.q + y.q))
        found.append(list(beyond)[::-1])
    return found, off


def _between(part: DensityLoss, nodes: Sequence[arb], need: float) -> tuple[list[Tail], arb]:
    """The masses where the loss is between two nodes, or before the first or beyond the last."""
    places = [y.mid() for y in nodes]  # exact, as all comparisons with them are
    found, astray = [Tail(arb(0), arb(0))] * (len(nodes) + 1), arb(0)
    for one in _integrals(part, need, ctx.prec):
        with ctx.workprec(one.bits):
            for edges in _cut(one, nodes, places, arb(-need).exp()):
                beyond = [[whole(u) for whole in one.both] for u, _ in edges]
                stretches = zip(itertools.pairwise(edges), itertools.pairwise(beyond), strict=True)
                for ((first, low), (last, high)), (before, after) in stretches:
                    radius = within(one.interpolation_error * (last - first))
                    p, q = (y - x + radius for x, y in zip(before, after, strict=True))
                    i = bisect.bisect(places, ((low + high) / 2).mid())
                    found[i] = Tail(found[i].p + p, found[i].q + q)
                    if i > 0:
                        astray = astray.max(nodes[i - 1] - low.min(high))
                    if i < len(nodes):
                        astray = astray.max(low.max(high) - nodes[i])
    return found, pieces(part, need).left_out + astray.expm1()


class Integrals(NamedTuple):
    """Polynomials in u from −1 to 1 on a panel whose differences are masses of m and q.

    They are worked out with so many bits and off by at most `interpolation_error` per
    unit of u; the loss but for `astray`.
    """

    panel: Panel
    middle: arb
    half: arb
    both: list[arb_poly]
    loss: arb_poly
    astray: arb
    interpolation_error: arb
    bits: int


@lru_cache(16)
def _integrals(part: DensityLoss, need: float, bits: int) -> list[Integrals]:
    """Of the polynomials that agree with the densities at Chebyshev's points, on every panel."""
    panels, _, size = pieces(part, need)
    counts = [_points(panel, need + _SPARE) for panel in panels]
    with ctx.workprec(_enough(bits, max(counts))):
        part.pair.shifts()  # once for all panels
    return [_integral(*each, size, bits) for each in zip(panels, counts, strict=True)]


def _points(panel: Panel, need: float) -> int:
    """At which a panel's densities are asked for errors of e^{−need} of its masses, about."""
    need += max(abs(float(_loss(panel, place).mid())) for place in _some_places(panel))
    return _ROUND * max(1, math.ceil((max(panel.log_most, 0.0) + need) / math.log(RHO) / _ROUND))


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
            values.append([half * (log_q + loss).exp(), half * log_q.exp(), loss])
        columns = (chebyshev.shares(count).transpose() * arb_mat(values)).transpose().tolist()
        off = half * chebyshev.interpolation_error(panel.most(size), arb(RHO), count)
        p, q, loss = map(_in_powers, columns)
        astray = chebyshev.interpolation_error(panel.most_of_loss(), arb(RHO), count)
        return Integrals(panel, middle, half, [p.integral(), q.integral()], loss, astray, off, bits)


def _in_powers(coefficients: list[arb]) -> arb_poly:
    """Σ c_k T_k by Clenshaw's b_k = c_k + 2u b_{k+1} − b_{k+2}: it is b_0 − u b_1."""
    u, after, last = arb_poly([0, 1]), arb_poly(), arb_poly()
    for c in reversed(coefficients[1:]):
        after, last = c + 2 * u * after - last, after
    return coefficients[0] + u * after - last


Edge = tuple[arb, arb]  # a place, and the loss there


def _cut(
    one: Integrals, nodes: Sequence[arb], places: Sequence[arb], tiny: arb
) -> Iterator[list[Edge]]:
    """Parts of [−1, 1] on which the loss is monotone, or hardly changes, cut at the nodes."""
    pending = [(arb(-1), arb(1))]
    while pending:
        deadline.check()
        first, last = pending.pop()
        over = acb(one.middle + one.half * first.union(last))
        slope = one.panel.chart.loss(over).slope.real * one.half
        change = abs(slope * (last - first))
        edges = [(u, one.loss(u) + within(one.astray)) for u in (first, last)]
        if change < tiny:
            level = edges[0][1] + within(change)
            yield [(first, level), (last, level)]
        elif slope > 0 or slope < 0:
            low, high = sorted(loss.mid() for _, loss in edges)
            inside = range(bisect.bisect(places, low), bisect.bisect_left(places, high))
            yield _crossed(one, nodes, inside, edges, tiny)
        else:
            centre = (first + last) / 2
            pending += [(centre, last), (first, centre)]


def _crossed(
    one: Integrals, nodes: Sequence[arb], inside: range, edges: Sequence[Edge], tiny: arb
) -> list[Edge]:
    """Both edges and between them those at some nodes, the middle one first.

    Newton's steps of the polynomial begin the nearer.
    """
    first, last = edges
    if not inside:
        return [first, last]
    middle = len(inside) // 2
    y, slope = nodes[inside[middle]], one.loss.derivative()
    (a, begun), (b, ended) = first, last
    u = (a + (b - a) * (y - begun) / (ended - begun)).mid()
    for _ in range(_NEWTON_STEPS):
        if not a < u < b:
            u = ((a + b) / 2).mid()
        loss = one.loss(u)
        if abs(y - loss) < tiny:
            break
        a, b = (u, b) if (loss < y) == (begun < ended) else (a, u)
        u = (u + (y - loss) / slope(u)).mid()
    edge = u, loss + within(one.astray)
    sides = [inside[:middle], inside[middle + 1 :]]
    if ended < begun:
        sides.reverse()
    before = _crossed(one, nodes, sides[0], (first, edge), tiny)
    return before[:-1] + _crossed(one, nodes, sides[1], (edge, last), tiny)


def _loss(panel: Panel, place: arb) -> arb:
    with ctx.workprec(_FEW_BITS):
        loss: arb = panel.chart.loss(acb(place)).value.real
        return loss
