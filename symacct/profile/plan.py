"""Where to sum: the line Re s = c, the step, the last node; float64, which proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symacct import sizes
from symacct.errors import PrecisionError
from symacct.profile.part import Floats, Line, Part, short
from symacct.profile.taper import Taper, tapered

_SHIFTS = 56  # candidates for c and λ
_MANY = 1000  # nodes, above which a taper may need fewer
_NODE = 256  # terms that a node costs by itself
Runs = Sequence[tuple[Part, int]]

_BITS = 64  # that a contour has at least


@dataclass(frozen=True)
class Plan:
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


@dataclass(frozen=True)
class Shape:
    """K(s) = Σ k_i log F_i and its second derivative at real shifts s, for one direction."""

    runs: Runs
    reverse: bool
    shifts: Floats
    log_moments: Floats
    variances: Floats
    largest: float

    @property
    def count(self) -> int:
        """How many runs there are."""
        return sum(k for _, k in self.runs)

    def log_left_out(self, c: float, t: float) -> float:
        """log of the product of the decays from t on."""
        order = self.order(c)
        return sum(k * part.log_decay(order, t) for part, k in self.runs)

    def order(self, shift: float) -> float:
        """Re z where Re s = `shift`."""
        return -shift if self.reverse else 1 + shift


def shape(runs: Runs, reverse: bool, y: float) -> Shape:
    """The moments around the saddle."""
    middle = saddle(runs, reverse, y)
    shifts = np.geomspace(middle / 12, middle * 12, _SHIFTS)
    largest = sum(k * float(part.largest(reverse).mid()) for part, k in runs)
    return Shape(runs, reverse, shifts, *_moments(runs, reverse, shifts), largest)


def saddle(runs: Runs, reverse: bool, y: float) -> float:
    """About where K(s) − sy − log s is least."""
    return _least(lambda s, log_moment: log_moment - s * y - math.log(s), runs, reverse)[0]


def renyi_epsilon(runs: Runs, reverse: bool, log_delta: float) -> float:
    """About the least ε that the moments at real orders give for δ: never below the true one."""
    return _least(
        lambda s, log_moment: (log_moment - log_delta + _log_kernel(s)) / s, runs, reverse
    )[1]


def renyi_log_delta(runs: Runs, reverse: bool, y: float) -> tuple[float, float]:
    """The shift of the order at which, and about what, the least log δ for ε is by a moment."""
    return _least(lambda s, log_moment: log_moment - s * y + _log_kernel(s), runs, reverse)


def _log_kernel(s: float) -> float:
    """log of s^s/(1+s)^{1+s}, the largest (1−e^{−u})e^{−su}."""
    return s * math.log(s) - (1 + s) * math.log1p(s)


def _least(
    objective: Callable[[float, float], float], runs: Runs, reverse: bool
) -> tuple[float, float]:
    """Where a function of (s, K(s)) with one valley is least, within a factor of 1.4; its value."""

    def at(s: float) -> float:
        log_moment = float(_moments(runs, reverse, np.array([s]))[0][0])
        return objective(s, log_moment) if math.isfinite(log_moment) else math.inf

    s, factor = 1.0, math.sqrt(2)
    here, there = at(s), at(s * factor)
    if not there < here:
        factor = 1 / factor
        there = at(s * factor)
    while there < here and 2**-60 < s < 2**60:
        s *= factor
        here, there = there, at(s * factor)
    return s, here


def _moments(runs: Runs, reverse: bool, shifts: Floats) -> tuple[Floats, Floats]:
    orders = -shifts if reverse else 1 + shifts
    log_moments, variances = np.zeros_like(shifts), np.zeros_like(shifts)
    for part, count in runs:
        log_moment, variance = part.steer(orders)
        log_moments = log_moments + count * log_moment
        variances = variances + count * variance
    return log_moments, variances


def plan(found: Shape, y: float, log_delta: float, digits: float) -> Plan:
    """The cheapest contour that gives D(y), about e^{log_delta}, to so many digits."""
    drop = digits * math.log(10) + 5
    best = min(_candidates(found, y, log_delta, drop), default=None)
    if best is None:
        raise PrecisionError("the profile's contour: no line to sum along was found")
    _, c, h, lam, t = best
    c, h = short(c), short(h)
    last, h, taper = _last_nodes(found, y, log_delta - drop, c, h, t)
    index = int(np.searchsorted(found.shifts, c))
    gap = float(np.interp(c, found.shifts, found.log_moments)) - c * y - log_delta
    need = drop + math.log(found.count) + max(gap, 0.0) + 3 + (taper.log_weight(y) if taper else 0)
    bits = math.ceil(need / math.log(2)) + 40 + found.count.bit_length() + index.bit_length()
    chosen = Plan(c, h, last, lam, need, bits, taper)
    _refuse_large(found, chosen)
    return chosen


def _candidates(
    found: Shape, y: float, log_delta: float, drop: float
) -> list[tuple[float, float, float, float, float]]:
    """(cost, c, h, λ, t) for each line Re s = c, t about where the moment has fallen enough.

    Both aliases are to be below e^{log_delta − drop}: e^{−2πc/h} <= that, and
    e^{K(λ) − λy − 2π(λ−c)/h} <= that for the best λ > c.
    """
    shifts, goal = found.shifts, drop - log_delta
    exponent = found.log_moments - shifts * y
    candidates = []
    for i, c in enumerate(shifts[:-1]):
        gap = exponent[i] + goal
        if not gap < 2 * goal or not found.variances[i] > 0:
            continue
        right = exponent[i + 1 :] + goal
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(right > 0, 2 * math.pi * (shifts[i + 1 :] - c) / right, np.inf)
        steps[np.isnan(steps)] = 0.0
        best = int(np.argmax(steps))
        widest, lam = float(steps[best]), float(shifts[i + 1 + best])
        if widest < (bounded := 2 * math.pi / (found.largest - y) * (1 - 1e-6)):
            widest, lam = bounded, math.inf
        h = min(2 * math.pi * c / (goal + 1), widest)
        t = math.sqrt(2 * max(gap, 1.0) / found.variances[i])
        if h > 0:
            # The last t hardly depends on c; a node costs terms by the digits it needs.
            candidates.append((max(gap, drop) / h, float(c), h, lam, t))
    return candidates


def _last_nodes(
    found: Shape, y: float, goal: float, c: float, h: float, t: float
) -> tuple[int, float, Taper | None]:
    """The last node, the step, the taper if that needs fewer."""
    last = _last_node(found, y, goal, c, h, t)
    if last <= _MANY:
        return last, h, None
    log_rest = goal + c * y - math.log(h / math.pi)
    taper = tapered(found.runs, found.reverse, found.order(c), h, y, log_rest)
    if taper is None or taper.last > last:
        return last, h, None
    return taper.last, taper.h, taper


def _last_node(found: Shape, y: float, goal: float, c: float, h: float, t: float) -> int:
    """The last node, so that the rest is below e^goal: (Π B_i^{k_i}) e^{−cy}/(πt).

    One beyond the limit where none below it will do.
    """
    most = sizes.current().contour / (_NODE * _BITS)

    def too_much(t: float) -> bool:
        return found.log_left_out(c, t) - c * y - math.log(math.pi * t) > goal

    low = t / 2
    while too_much(t):
        if t > most * h:
            return math.ceil(min(t / h, 2.0**40))
        low, t = t, 1.5 * t
    while t > 1.04 * low:
        middle = math.sqrt(low * t)
        low, t = (middle, t) if too_much(middle) else (low, middle)
    return max(8, math.ceil(t / h))


def _refuse_large(found: Shape, chosen: Plan) -> None:
    """LimitError for a contour of too many bits in all: nodes, the terms of each, their precision.

    They bound the time and the memory before either is taken.
    """
    line = Line(found.order(chosen.c), chosen.h, chosen.last)
    terms = sum(part.terms(line, chosen.need) for part, _ in found.runs)
    sizes.check(
        "contour",
        (chosen.last + 1) * (_NODE + terms) * chosen.bits,
        "bits of all terms of the exact profile (fewer digits and conversion='improved' need less)",
    )
