"""Where to sum: the line Re s = c, the step, the last node; float64, which proves nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from symacct.kernel import deadline, limits
from symacct.kernel.errors import PrecisionError
from symacct.profile.fourier.shape import Moments
from symacct.profile.fourier.taper import Taper, how_many, shortest_taper
from symacct.profile.part import Floats, OrderLine, rounded_down

_SPARE = 28  # bits
_WITHIN = 2  # nodes of the last one that is needed
_LESS = 0.95  # of about where the last one is
_TOLD = 9.0  # nats of what is told about −y
_AS_MANY = 2.0  # nodes, for that
_LONG = 250  # nodes, above which they need not all be worked out to as much
_MANY = 1000  # nodes for each loss to turn at, above which a taper may need fewer
_NODE = 256  # terms that a node costs by itself
_BITS = 64  # that a contour has at least


Fall = tuple[int, float]  # a node, and the logarithm of how much less is needed from it on


@dataclass(frozen=True)
class Block:
    """The nodes first <= n <= last, to an absolute error of about e^{−need} of each F(a)."""

    first: int
    last: int
    need: float
    bits: int


@dataclass(frozen=True)
class ContourPlan:
    """s = c + inh, 0 <= n <= last; the accuracy that is needed.

    The order λ bounds the right aliases; ∞ where the loss is bounded and there are none. The last
    nodes are tapered, or without a taper the rest is left out for its size.
    """

    c: float
    h: float
    last: int
    lam: float
    need: float
    bits: int
    taper: Taper | None = None
    falls: tuple[Fall, ...] = ()
    across: float | None = None  # the order λ at −y, where the sum is to tell something too

    @property
    def blocks(self) -> list[Block]:
        """All the nodes, in runs that need as much."""
        starts = [(0, 0.0), *self.falls]
        lasts = [first - 1 for first, _ in self.falls] + [self.last]
        return [
            Block(first, last, self.need - fall, self.bits - math.floor(fall / math.log(2)))
            for (first, fall), last in zip(starts, lasts, strict=True)
        ]


def plan(
    found: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> ContourPlan:
    """The cheapest contour that gives D(y), about e^{log_delta}, to so many digits.

    For both directions it also tells about −y, where that costs less than a contour of its own.
    """
    drop = digits * math.log(10) + 2
    chosen = _along(found, y, log_delta, drop, two_ways)
    if chosen.last > _LONG and (most := _mild(found)) < chosen.c:
        with suppress(PrecisionError):
            other = _along(found, y, log_delta, drop, two_ways, most)
            chosen = min(chosen, other, key=lambda one: one.last**2 * one.h)
    _refuse_large(found, chosen)
    return chosen


def _mild(found: Moments) -> float:
    """c up to which densities hardly pile up at their largest loss: there moments fall late."""
    order = np.array([found.order(0.0)])
    own = [part for part, _ in found.representatives if part.is_density]
    return min((float(part.float_moments(order)[1][0] ** -0.5) for part in own), default=math.inf)


def _along(
    found: Moments, y: float, log_delta: float, drop: float, two_ways: bool, most: float = math.inf
) -> ContourPlan:
    """On the line that about costs least, c up to `most`."""
    c, h, lam, t, gap = _cheapest(found, y, log_delta, drop, most)
    across, h = _across(found, y, log_delta, drop, c, h) if two_ways else (None, h)
    c, h = rounded_down(c), rounded_down(h)
    last, h, taper = _last_nodes(found, y, log_delta - drop, c, h, t)
    count = sum(k for _, k in found.runs)
    need = drop + math.log(count) + gap + 2 + (taper.log_weight(y) if taper else 0)
    bits = math.ceil(need / math.log(2)) + _SPARE + count.bit_length()
    falls = () if taper else tuple(_falls(found, c, h, last, need))
    return ContourPlan(c, h, last, lam, need, bits, taper, falls, across)


def _cheapest(
    found: Moments, y: float, log_delta: float, drop: float, most: float
) -> tuple[float, float, float, float, float]:
    """c, h, λ of the cheapest line Re s = c; about where the moment has fallen; log M(c)e^{−cy}/δ.

    Far beyond the saddle it is looked for where many nodes are needed near it.
    """
    saddle = found.saddle(y)
    near = found.moments_around(saddle)
    with suppress(PrecisionError):
        line = _cheapest_of(near, found.largest - y, y, log_delta, drop, most)
        if line[3] < _MANY * line[1]:
            return line
    far = found.moments_beyond(saddle, y, drop - log_delta)
    every = tuple(map(np.concatenate, zip(near, far, strict=True)))
    return _cheapest_of(every, found.largest - y, y, log_delta, drop, most)


def _cheapest_of(
    known: tuple[Floats, ...],
    room: float,
    y: float,
    log_delta: float,
    drop: float,
    most: float,
) -> tuple[float, float, float, float, float]:
    """The cheapest of shifts, with K and its second derivative, for a largest loss y + `room`.

    Both aliases are to be below e^{log_delta − drop}: e^{−2πc/h} <= that, and
    e^{K(λ) − λy − 2π(λ−c)/h} <= that for the best λ > c.
    """
    (shifts, log_moments, variances), goal = known, drop - log_delta
    over = np.nan_to_num(log_moments - shifts * y + goal, nan=math.inf, posinf=math.inf)
    away = shifts[None, :] - shifts[:, None]
    steps = np.where(over > 0, 2 * math.pi * away / over, np.inf)
    steps[~(away > 0)] = 0.0
    best = steps.argmax(axis=1)
    widest, lams = steps.max(axis=1), shifts[best]
    bounded = 2 * math.pi / room * (1 - 1e-6)
    lams, widest = np.where(widest < bounded, math.inf, lams), np.maximum(widest, bounded)
    h = np.minimum(2 * math.pi * shifts / (goal + 1), widest)
    # The last t hardly depends on c; a node costs terms by the digits it needs.
    with np.errstate(divide="ignore"):
        cost = np.maximum(over, drop) / h
    cost[~((over < 2 * goal) & (variances > 0) & (h > 0) & (shifts <= most))] = math.inf
    i = int(cost[:-1].argmin())
    if not cost[i] < math.inf:
        raise PrecisionError("the profile's contour: no line to sum along was found")
    t = math.sqrt(2 * max(over[i], 1.0) / variances[i])
    gap = max(float(over[i]) - goal - log_delta, 0.0)
    return float(shifts[i]), float(h[i]), float(lams[i]), t, gap


def _across(
    found: Moments, y: float, log_delta: float, drop: float, c: float, h: float
) -> tuple[float | None, float]:
    """λ and h for aliases below e^{−y}δ at −y too; h is left where that takes too many nodes."""
    shifts, log_moments, _ = found.moments_around(found.saddle(y))
    goal = _TOLD - log_delta + y
    if drop < 2 * c * y + y + _TOLD:
        return None, h
    above = (shifts > c) & np.isfinite(log_moments)
    steps = 2 * math.pi * (shifts - c) / np.maximum(log_moments + shifts * y + goal, 1.0)
    i = int(np.where(above, steps, 0.0).argmax())
    if not above[i] or steps[i] < h / _AS_MANY:
        return None, h
    return float(shifts[i]), min(h, float(steps[i]))


def _last_nodes(
    found: Moments, y: float, goal: float, c: float, h: float, t: float
) -> tuple[int, float, Taper | None]:
    """The last node, the step, the taper if that needs fewer."""
    last = _last_node(found, y, goal, c, h, t)
    if last <= _MANY or last <= _MANY * how_many(found.runs):
        return last, h, None
    log_rest = goal + c * y - math.log(h / math.pi)
    taper = shortest_taper(found.runs, found.reverse, found.order(c), h, y, log_rest, last)
    if taper is None or taper.last > last:
        return last, h, None
    return taper.last, taper.h, taper


def _last_node(found: Moments, y: float, goal: float, c: float, h: float, t: float) -> int:
    """The last node, so that the rest is below e^goal: (Π B_i^{k_i}) e^{−cy}/(πt).

    One beyond the limit where none below it will do.
    """
    most, order = limits.current().contour / (_NODE * _BITS), found.order(c)

    def too_much(t: float) -> bool:
        deadline.check()
        fallen = sum(k * part.log_decay(order, t) for part, k in found.representatives)
        return fallen - c * y - math.log(math.pi * t) > goal

    low, guess = t / 2, t
    while too_much(t):
        if t > most * h:
            return math.ceil(min(t / h, 2.0**40))
        low, t = t, 1.5 * t
    if t == guess:  # often hardly too large
        low, t = (_LESS * t, t) if too_much(_LESS * t) else (low, _LESS * t)
    while t - low > max(0.04 * t, _WITHIN * h):
        middle = math.sqrt(low * t)
        low, t = (middle, t) if too_much(middle) else (low, middle)
    return max(8, math.ceil(t / h))


def _falls(found: Moments, c: float, h: float, last: int, need: float) -> Iterator[Fall]:
    """From which nodes on the product of the moments is how much smaller, less the most of one."""
    if last <= _LONG:
        return
    order = found.order(c)
    start = [part.log_decay(order, 0.0) for part, _ in found.representatives]
    for first in (last // 2, 3 * last // 4):
        fallen = [part.log_decay(order, first * h) for part, _ in found.representatives]
        one = [before - after for before, after in zip(start, fallen, strict=True)]
        total = sum(
            k * fall for fall, (_, k) in zip(one, found.representatives, strict=True)
        ) - max(one)
        yield first, min(max(total, 0.0), need - 1)


def _refuse_large(found: Moments, chosen: ContourPlan) -> None:
    """LimitError for a contour of too many bits in all: nodes, the terms of each, their precision.

    They bound the time and the memory before either is taken.
    """
    bits = 0
    for block in chosen.blocks:
        line = OrderLine(found.order(chosen.c), chosen.h, block.last, block.first)
        bits += len(line.nodes) * (_NODE + _terms(found, line, block.need)) * block.bits
    limits.check(
        "contour",
        bits,
        "bits of all terms of the exact profile (fewer digits and conversion improved need less)",
    )


def _terms(found: Moments, line: OrderLine, need: float) -> int:
    """How many are summed for a node; about, where many kinds of parts are on their own."""
    many = [one for one, _ in found.factors if one.stands_for_many]
    together = sum(one.terms(line, need) for one in many)
    alone = len(found.factors) - len(many)
    if not alone:
        return together
    share = alone / len(found.representatives)
    return together + int(share * sum(part.terms(line, need) for part, _ in found.representatives))
