"""Contour integrals of the moments give δ(ε) and ε(δ), with all of their errors proved.

s = c + it is a place of a contour, c > 0 a shift (moments.py); t, c and the step h are in units of
an order, y in nats. `need` and `drop` are in nats: a moment may be off by e^{−need} F(a), and what
a plan leaves out is e^{−drop} of the δ that is guessed, e^{log_delta}. A plan is float64 and proves
nothing: the contour that is laid by it bounds what it leaves out.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np
from flint import acb, acb_mat, acb_poly, arb, arb_poly, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic.ball import accuracy, ball, up_to
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.halving import halved
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.part import (
    FactorRuns,
    Floats,
    OrderLine,
    Part,
    PartRuns,
    order_at,
    rounded_down,
)
from symacct.profile.proofs import CONTOURS
from symacct.profile.roots import (
    bits_for,
    convex_root,
    decided,
    decided_by_digits,
    float_of,
    log_float_of,
    undecided,
)
from symacct.profile.runs import CANNOT, DirectedRuns, Moments, Number, shift
from symacct.profile.sums import powers

# --- tapers
#
# The last nodes of a contour tapered, where a moment hardly falls but turns at known losses.
#
# Σ_{n>=N} a_n with a_n = Σ_J g_J(nh) w_J^n, |w_J| = 1 and g_J slow: with E a_n = a_{n+1} and
# q(X) = Π_J (X^m − w_J^m)^p it is [S(E)a_N + Σ_{n>=N} q(E)a_n]/q(1), S(X) = (q(X) − q(1))/(X − 1).
# The first term has deg q nodes; the second is small, as E^m − 1 is on g_J. The stride m keeps the
# weights small where w_J itself is near 1 (docs/proofs/contours.md, Lemma tapered-nodes).

T = TypeVar("T")

#: Bounds and estimates of tapers are worked out at this many bits. What a taper leaves out is
#: bounded by balls: of fewer bits they are wider.
_BITS = 64
#: A taper is for at most so many runs. For more the search would take longer than it saves.
_MOST_RUNS = 64
#: The moments of the runs of a taper turn at so many losses at most. For more the search would take
#: longer than it saves.
_MOST_LOSSES = 16
#: A taper begins at this node at the latest. The search for it takes time.
_MOST_FIRST = 2**18
#: So many nodes may be tapered even where fewer stand before them. It costs time: what is left out
#: is bounded.
_ALWAYS_TAPERED = 256
#: The order p of a taper is the first of these that leaves out little enough. What each leaves out
#: is bounded; more orders save nodes.
_ORDERS = (6, 9, 13, 19, 27, 38, 54)
#: The step is chosen from these shares of the longest one, so as not to be near an alias. Each step
#: has its bound; more of them save nodes.
_SHARES = (1.0, 0.9, 0.8, 0.7)
#: The stride m, in nodes, is chosen from these. What each leaves out is bounded; more of them save
#: nodes.
_STRIDES = tuple(sorted({round(2 ** (j / 2)) for j in range(28)}))
#: A taper's cost is estimated for this order, and for this need in nats. Both steer.
_LIKELY_ORDER = _LIKELY_NEED = 60.0


@dataclass(frozen=True)
class Taper:
    """A taper weights the last nodes s = c + inh, n >= `first`, on Re z = `a`.

    Its order is p, its stride m: each block of m nodes has one weight. The runs are those of the
    contour, whose losses J the moments turn at.
    """

    runs: PartRuns
    reverse: bool
    a: float
    h: float
    first: int
    order: int
    stride: int

    @cached_property
    def amplitudes(self) -> list[tuple[arb, arb_poly]]:
        """Return the losses J and series that bound |g_J^{(j)}|/j!, summed over the nodes."""
        with ctx.workprec(_BITS):
            turning = losses(self.runs, self.reverse)
            length = len(turning) * self.order + 1
            amplitudes = [self._kernel(length)]
            for part, count in self.runs:
                kinds = [
                    _powers(series, count, length)
                    for series in part.amplitude_bounds(self.a, self.start, length)
                ]
                products = [_product(chosen, count, length) for chosen in _choices(kinds, count)]
                amplitudes = [
                    (series * more).truncate(length) for series in amplitudes for more in products
                ]
        return list(zip(turning, amplitudes, strict=True))

    @property
    def start(self) -> float:
        """Im s of the first node that is tapered."""
        return self.first * self.h

    def _kernel(self, length: int) -> arb_poly:
        """Bound Σ_{n>=N} |(1/(s(s+1)))^{(j)}|/j! by (1+N)(j+1)t^{−j−2}.

        There |s| and |s+1| are at least nh >= t.
        """
        t = arb(self.start)
        return arb_poly([(1 + self.first) * (j + 1) * t ** (-j - 2) for j in range(length)])

    def left_out(self, y: arb, order: int) -> arb:
        """Bound |Σ_{n>=N} q(E)a_n/q(1)|, what tapering to an order of at most p leaves out.

        On g_J the factor (w_J E)^m − w_i^m is (w_J^m − w_i^m) + w_J^m(E^m − 1), and
        |(E^m−1)^j g| <= (mh)^j sup|g^{(j)}|.
        """
        with ctx.workprec(_BITS):
            turns = [self._turn(y - loss) for loss, _ in self.amplitudes]
            away = math.prod((abs(1 - turn) for turn in turns), start=arb(1)) ** order
            if not away > 0:
                return arb.pos_inf()
            total = arb(0)
            for index, (_, series) in enumerate(self.amplitudes):
                total += self._differences(turns, index, series, order)
            return total / away

    def _differences(self, turns: list[acb], index: int, series: arb_poly, order: int) -> arb:
        """Bound |q(E)| on one loss's g_J, a polynomial in differences that `series` bounds."""
        factor = arb_poly([0] * order + [1])
        for other, turn in enumerate(turns):
            if other != index:
                factor *= arb_poly([abs(turns[index] - turn), 1]) ** order
        total, scale = arb(0), arb(1)
        for j, coefficient in enumerate(factor.coeffs()):
            scale *= j * self.stride * arb(self.h) if j else 1
            total += coefficient * scale * series[j]
        return total

    def weights(self, y: arb) -> list[acb]:
        """Compute S_i/q(1), the weights of nodes N + i: 1 less q's coefficients up to i, over q(1).

        q has none but at the multiples of m, so that m nodes have the same.
        """
        q, whole = acb_poly([1]), acb(1)
        for loss in losses(self.runs, self.reverse):
            turn = self._turn(y - loss)
            q *= acb_poly([-turn, 1]) ** self.order
            whole *= (1 - turn) ** self.order
        rest, weights = acb(0), []
        for coefficient in reversed(q.coeffs()[1:]):
            rest += coefficient
            weights.extend([rest / whole] * self.stride)
        return weights[::-1]

    def exact_weights(self, y: arb) -> list[acb]:
        """Compute the weights to flint's current precision; powers of many turns lose some."""
        with ctx.workprec(ctx.prec + 3 * self.degree // self.stride):
            return self.weights(y)

    def rough_weights(self, y: float) -> Floats:
        """Estimate the weights in complex128."""
        with ctx.workprec(_BITS):
            return np.array([complex(weight.mid()) for weight in self.exact_weights(arb(y))])

    def cost(self, y: float) -> float:
        """Estimate what its nodes cost: their number times the nats that moments need beside it."""
        with ctx.workprec(_BITS):
            distances = self._distances(y)
        likely = max(self.stride / distance for distance in distances)
        need = _LIKELY_NEED + _LIKELY_ORDER * sum(math.log(2 / distance) for distance in distances)
        return (likely + self.stride * len(distances)) * need

    def log_weight(self, y: float) -> float:
        """Estimate log of the largest weight, which the nodes' errors grow by."""
        with ctx.workprec(_BITS):
            return self.order * sum(math.log(2 / distance) for distance in self._distances(y))

    def _distances(self, y: float) -> list[float]:
        """Estimate |1 − w_J^m| for each loss J: how far it is from an alias of y."""
        turns = (self._turn(arb(y) - loss) for loss in losses(self.runs, self.reverse))
        return [max(float(abs(1 - turn).mid()), 2.0**-_BITS) for turn in turns]

    def best(self, first: int, y: float, log_rest: float) -> Taper | None:
        """Taper from `first` on, to the smallest order that leaves out less than e^{log_rest}.

        None where no order does that with at most as many tapered nodes as there are before them,
        or 256 where those are fewer.
        """
        orders = [
            p for p in _ORDERS if replace(self, order=p).degree <= max(first, _ALWAYS_TAPERED)
        ]
        most = replace(self, first=first, order=max(orders, default=0))
        for order in orders:
            deadline.check()
            with ctx.workprec(_BITS):
                rest = most.left_out(arb(y), order)
            if rest.is_finite() and float(rest.log().mid()) < log_rest:
                return replace(most, order=order)
        return None

    @property
    def last(self) -> int:
        """The last node that is summed, deg q of them from the first on."""
        return self.first + self.degree - 1

    @property
    def degree(self) -> int:
        """The degree of q: how many nodes are tapered."""
        return self.order * self.stride * len(losses(self.runs, self.reverse))

    def _turn(self, y: arb) -> acb:
        """Compute e^{−imhy}: by how much a stride turns at a loss y away."""
        return acb(0, -arb(self.h) * self.stride * y).exp()


def shortest_taper(
    runs: PartRuns, reverse: bool, a: float, step: float, y: float, log_rest: float, most: int
) -> Taper | None:
    """Search the taper of the fewest nodes that leaves out e^{log_rest}, its step at most `step`.

    It is on Re z = a, for a y. None where no fewer than `most` nodes before it suffice, or the
    losses to turn at are none or too many.
    """
    if not 0 < how_many(runs) <= _MOST_LOSSES:
        return None
    cheapest = min(
        (
            Taper(runs, reverse, a, rounded_down(step * share), 1, 0, stride)
            for share, stride in itertools.product(_SHARES, _STRIDES)
        ),
        key=lambda taper: taper.cost(y),
    )
    low, high = 1, min(most, _MOST_FIRST)
    if cheapest.best(high, y, log_rest) is None:
        return None
    while high > 1.15 * low + 1:
        deadline.check()
        middle = math.isqrt(low * high) + 1
        low, high = (middle, high) if cheapest.best(middle, y, log_rest) is None else (low, middle)
    return cheapest.best(high, y, log_rest)


def how_many(runs: PartRuns) -> float:
    """Count the losses that the product of moments turns at; ∞ for many runs, 0 if not known."""
    if sum(k for _, k in runs) > _MOST_RUNS:
        return math.inf
    kinds = ((len(part.frequencies()), k) for part, k in runs)
    return math.prod(math.comb(k + most - 1, k) if most else 0 for most, k in kinds)


def losses(runs: PartRuns, reverse: bool) -> list[arb]:
    """List the losses at which the product of moments turns; [] where they are not known."""
    total_losses = [arb(0)]
    for part, count in runs:
        part_losses = [
            sum((times * loss for loss, times in chosen), arb(0))
            for chosen in _choices(part.frequencies(), count)
        ]
        total_losses = [loss + more for loss in total_losses for more in part_losses]
    return [-loss for loss in total_losses] if reverse else total_losses


def _choices(kinds: list[T], count: int) -> Iterator[list[tuple[T, int]]]:
    """Enumerate the multisets of `count` kinds, each as pairs (kind, how often)."""
    for chosen in itertools.combinations_with_replacement(range(len(kinds)), count):
        yield [(kinds[i], times) for i, times in Counter(chosen).items()]


def _powers(series: arb_poly, most: int, length: int) -> list[arb_poly]:
    """Compute the powers of a series up to the exponent `most`, which every choice shares."""
    powers = [arb_poly([1])]
    for _ in range(most):
        powers.append((powers[-1] * series).truncate(length))
    return powers


def _product(chosen: list[tuple[list[arb_poly], int]], count: int, length: int) -> arb_poly:
    """Multiply the chosen powers of series, and the number of orders in which the runs come."""
    ways, product = math.factorial(count), arb_poly([1])
    for series, times in chosen:
        ways //= math.factorial(times)
        product = (product * series[times]).truncate(length)
    return product * ways


# --- plans
#
# Where to sum: the line Re s = c, the step, the last node; float64, which proves nothing.

#: Nodes are worked out with so many bits more than what is needed of them. Where they are too few,
#: the ball is wider.
_SPARE = 28
#: The last node is found to within so many nodes. What is beyond it is bounded.
_WITHIN = 2
#: An estimate of the last node is first tried at this share of it. It steers.
_EARLIER = 0.95
#: Where D(−y) is to be told too, its aliases are to be below e^{−9−y} of δ. They steer: the aliases
#: are bounded.
_ACROSS_NATS = 9.0
#: A contour for both directions may have so many times the nodes of one. A larger factor takes
#: longer, and answers more often both ways at once.
_AS_MANY = 2.0
#: Of more nodes than these the later ones are worked out to fewer digits. It costs time alone.
_LONG = 250
#: From so many nodes for each loss to turn at a taper may need fewer, or another contour. It costs
#: time alone.
_MANY = 1000
#: A node costs the time of so many terms by itself. It steers, and foresees what is refused by the
#: limit "contour".
_NODE = 256


#: A node, and by how many nats less is needed from it on.
Fall = tuple[int, float]


@dataclass(frozen=True)
class Block:
    """A block is the nodes first <= n <= last, each to an error of about e^{−need} F(a).

    They are worked out at `bits` of precision.
    """

    first: int
    last: int
    need: float
    bits: int


@dataclass(frozen=True)
class ContourPlan:
    """A plan says where to sum, s = c + inh with 0 <= n <= last, and to what accuracy.

    The order `lam` = λ bounds the right aliases; ∞ where the loss is bounded and there are none.
    `across` is λ at −y, where the sum is to tell something too. The last nodes are tapered, or
    without a taper the rest is left out for its size.
    """

    c: float
    h: float
    last: int
    lam: float
    need: float
    bits: int
    taper: Taper | None = None
    falls: tuple[Fall, ...] = ()
    across: float | None = None

    @property
    def blocks(self) -> list[Block]:
        """Cut the nodes into blocks, each with the accuracy that it needs."""
        starts = [(0, 0.0), *self.falls]
        lasts = [first - 1 for first, _ in self.falls] + [self.last]
        return [
            Block(first, last, self.need - fall, self.bits - math.floor(fall / math.log(2)))
            for (first, fall), last in zip(starts, lasts, strict=True)
        ]


def plan(
    moments: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> ContourPlan:
    """Choose the cheapest contour that gives D(y), about e^{log_delta}, to so many digits.

    For both directions it also bounds D at −y, where that costs less than a contour of its own.
    LimitError where its terms have too many bits, PrecisionError where no line serves.
    """
    drop = digits * math.log(10) + 2
    chosen = _along(moments, y, log_delta, drop, two_ways)
    if chosen.last > _LONG and (most := _mild(moments)) < chosen.c:
        with suppress(PrecisionError):
            other = _along(moments, y, log_delta, drop, two_ways, most)
            chosen = min(chosen, other, key=lambda chosen_plan: chosen_plan.last**2 * chosen_plan.h)
    _refuse_large(moments, chosen)
    return chosen


def _mild(moments: Moments) -> float:
    """Estimate the c up to which densities hardly pile up at their largest loss.

    Moments beyond it fall late; ∞ where no part is a density.
    """
    order = np.array([order_at(0.0, moments.reverse)])
    densities = [part for part, _ in moments.representatives if part.is_density]
    return min(
        (float(part.float_moments(order)[1][0] ** -0.5) for part in densities), default=math.inf
    )


def _along(
    moments: Moments,
    y: float,
    log_delta: float,
    drop: float,
    two_ways: bool,
    most: float = math.inf,
) -> ContourPlan:
    """Plan a contour along the line Re s = c that costs about least, c up to `most`.

    What it leaves out is about e^{−drop} of the δ that is guessed, in nats below log_delta. For
    `two_ways` it tells D at −y too. PrecisionError where no line has aliases so small.
    """
    c, h, lam, t, gap = _cheapest(moments, y, log_delta, drop, most)
    across, h = _across(moments, y, log_delta, drop, c, h) if two_ways else (None, h)
    c, h = rounded_down(c), rounded_down(h)
    last, h, taper = _last_nodes(moments, y, log_delta - drop, c, h, t)
    count = sum(k for _, k in moments.runs)
    need = drop + math.log(count) + gap + 2 + (taper.log_weight(y) if taper else 0)
    bits = math.ceil(need / math.log(2)) + _SPARE + count.bit_length()
    falls = () if taper else tuple(_falls(moments, c, h, last, need))
    return ContourPlan(c, h, last, lam, need, bits, taper, falls, across)


def _cheapest(
    moments: Moments, y: float, log_delta: float, drop: float, most: float
) -> tuple[float, float, float, float, float]:
    """Choose the line Re s = c: c, h, λ, about where the moment has fallen, and log M(c)e^{−cy}/δ.

    It is looked for near the saddle, and far beyond it where that takes many nodes. Aliases are to
    be e^{−drop} of δ, and c is at most `most`. PrecisionError where no line serves.
    """
    saddle = moments.saddle(y)
    near = moments.moments_around(saddle)
    with suppress(PrecisionError):
        line = _cheapest_of(near, moments.largest - y, y, log_delta, drop, most)
        if line[3] < _MANY * line[1]:
            return line
    far = moments.moments_beyond(saddle, y, drop - log_delta)
    every = tuple(map(np.concatenate, zip(near, far, strict=True)))
    return _cheapest_of(every, moments.largest - y, y, log_delta, drop, most)


@np.errstate(all="ignore")  # a step without a bound is ∞ or NaN, and not taken
def _cheapest_of(
    known: tuple[Floats, ...],
    room: float,
    y: float,
    log_delta: float,
    drop: float,
    most: float,
) -> tuple[float, float, float, float, float]:
    """Choose the cheapest of some shifts, by K and its second derivative there.

    The largest loss is y + `room`, and c is at most `most`. Both aliases are to be below
    e^{log_delta − drop}: e^{−2πc/h} <= that, and e^{K(λ) − λy − 2π(λ−c)/h} <= that for the best
    λ > c. PrecisionError where no line does that.
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
    cost = np.maximum(over, drop) / h
    cost[~((over < 2 * goal) & (variances > 0) & (h > 0) & (shifts <= most))] = math.inf
    i = int(cost[:-1].argmin())
    if not cost[i] < math.inf:
        raise PrecisionError("the profile's contour: no line to sum along was found")
    t = math.sqrt(2 * max(over[i], 1.0) / variances[i])
    gap = max(float(over[i]) - goal - log_delta, 0.0)
    return float(shifts[i]), float(h[i]), float(lams[i]), t, gap


def _across(
    moments: Moments, y: float, log_delta: float, drop: float, c: float, h: float
) -> tuple[float | None, float]:
    """Choose λ and h for aliases at −y below e^{−9−y} of δ too.

    λ is None and h is left as it is where that takes too many nodes, or where the `drop` of the sum
    leaves too few nats at −y.
    """
    shifts, log_moments, _ = moments.moments_around(moments.saddle(y))
    goal = _ACROSS_NATS - log_delta + y
    if drop < 2 * c * y + y + _ACROSS_NATS:
        return None, h
    above = (shifts > c) & np.isfinite(log_moments)
    steps = 2 * math.pi * (shifts - c) / np.maximum(log_moments + shifts * y + goal, 1.0)
    i = int(np.where(above, steps, 0.0).argmax())
    if not above[i] or steps[i] < h / _AS_MANY:
        return None, h
    return float(shifts[i]), min(h, float(steps[i]))


def _last_nodes(
    moments: Moments, y: float, goal: float, c: float, h: float, t: float
) -> tuple[int, float, Taper | None]:
    """Choose the last node and the step, with a taper if that needs fewer nodes."""
    last = _last_node(moments, y, goal, c, h, t)
    if last <= _MANY or last <= _MANY * how_many(moments.runs):
        return last, h, None
    log_rest = goal + c * y - math.log(h / math.pi)
    taper = shortest_taper(
        moments.runs, moments.reverse, order_at(c, moments.reverse), h, y, log_rest, last
    )
    if taper is None or taper.last > last:
        return last, h, None
    return taper.last, taper.h, taper


def _last_node(moments: Moments, y: float, goal: float, c: float, h: float, t: float) -> int:
    """Search the last node, beyond which (Π B_i^{k_i}) e^{−cy}/(πt) is below e^goal.

    Where none within the limit of bits suffices it is one beyond, which `_refuse_large` refuses.
    """
    most, order = limits.current().contour / (_NODE * _BITS), order_at(c, moments.reverse)

    def exceeds_goal(t: float) -> bool:
        deadline.check()
        fallen = sum(k * part.log_decay(order, t) for part, k in moments.representatives)
        return fallen - c * y - math.log(math.pi * t) > goal

    low, guess = t / 2, t
    while exceeds_goal(t):
        if t > most * h:
            return math.ceil(min(t / h, 2.0**40))
        low, t = t, 1.5 * t
    if t == guess:  # often hardly too large
        low, t = (_EARLIER * t, t) if exceeds_goal(_EARLIER * t) else (low, _EARLIER * t)
    while t - low > max(0.04 * t, _WITHIN * h):
        middle = math.sqrt(low * t)
        low, t = (middle, t) if exceeds_goal(middle) else (low, middle)
    return max(8, math.ceil(t / h))


def _falls(moments: Moments, c: float, h: float, last: int, need: float) -> Iterator[Fall]:
    """Yield nodes, and the logarithm of by how much the product of moments is smaller there.

    Of the factors' falls the largest is not counted, as its own error stays. There are none where
    the nodes are few.
    """
    if last <= _LONG:
        return
    order = order_at(c, moments.reverse)
    start = [part.log_decay(order, 0.0) for part, _ in moments.representatives]
    for first in (last // 2, 3 * last // 4):
        fallen = [part.log_decay(order, first * h) for part, _ in moments.representatives]
        falls = [before - after for before, after in zip(start, fallen, strict=True)]
        total = sum(
            k * fall for fall, (_, k) in zip(falls, moments.representatives, strict=True)
        ) - max(falls)
        yield first, min(max(total, 0.0), need - 1)


def _refuse_large(moments: Moments, chosen: ContourPlan) -> None:
    """Raise LimitError for a contour of too many bits: nodes, the terms of each, their precision.

    They bound the time and the memory before either is taken.
    """
    gathered = [factor for factor, _ in moments.factors if factor.stands_for_many]
    others = len(moments.factors) - len(gathered)
    bits = 0
    for block in chosen.blocks:
        line = OrderLine(order_at(chosen.c, moments.reverse), chosen.h, block.last, block.first)
        terms = sum(factor.terms(line, block.need) for factor in gathered)
        if others:  # estimated by some parts where there are many kinds
            some = sum(part.terms(line, block.need) for part, _ in moments.representatives)
            terms += int(others / len(moments.representatives) * some)
        bits += len(line.nodes) * (_NODE + terms) * block.bits
    limits.check(
        "contour",
        bits,
        "bits of all terms of the exact profile (fewer digits and conversion improved need less)",
    )


# --- one contour
#
# The profile D(y) = H_{e^y}(P‖Q) of a composition by a trapezoidal sum over complex orders.
#
# D(y) = (1/2πi)∫ M(s) e^{−ys}/(s(s+1)) ds over Re s = c > 0, M(s) = Π F_i(1+s)^{k_i}; with P and Q
# exchanged F_i(−s). The sum with step h is Σ_m e^{2πmc/h} D(y + 2πm/h), so it is too large by at
# most two aliases; the nodes left out are bounded by the decay of F (docs/proofs/contours.md, Lemma
# complex-sum).

#: Bounds of what a sum leaves out are worked out at this many bits; of fewer they are wider.
_BOUND_BITS = 64
#: A polynomial of so many coefficients at most is evaluated by Horner's rule: each step turns a
#: rectangle, by which up to half a bit is lost, and no more of them are spared. It costs time: a
#: ball says what was lost.
_MOST_HORNER_COEFFICIENTS = 64
#: The moment at λ is a sum of so many terms at most, or else the bound is ∞. It saves time.
_MOST_TERMS = 2**18
#: The moment that bounds an alias is off by e^{−14} of it: its digits hardly matter, as it bounds
#: an error.
_ALIAS_NEED = 14.0
# The search for a root in float64, which steers:
#: A root in float64 is searched for by so many Newton steps at most: more may find a root that
#: fewer miss. They steer.
_STEPS = 40
#: The search in float64 ends at so many times its start, in nats, or at that part of it: the nodes
#: were chosen for the start, and farther off the sum is mostly its aliases. It steers.
_ROOT_RANGE = 4.0
#: A sum counts as lost in rounding where it is at most this share of Σ |terms|, some 90 roundings
#: of float64: an exponent of as many nats is off by so much. It steers.
_ROUNDING_SHARE = 1e-14
#: A step of this share of y is the last one, about what float64 leaves. It steers.
_NEAR = 1e-9


@dataclass(frozen=True)
class FloatContour:
    """A contour in float64 estimates D(y) = d + Re Σ e^{log_term − sy}, d = P(L = ∞).

    `shifts` are the s. The last terms are tapered as for y, or for −y if the `way` is −1.
    """

    shifts: Floats
    log_terms: Floats
    taper: Taper | None
    way: int = 1

    def terms(self, y: float) -> Floats:
        """Estimate the terms at y, the last ones tapered."""
        terms = np.exp(self.log_terms - self.shifts * y)
        if self.taper is not None:
            terms[-self.taper.degree :] *= self.taper.rough_weights(self.way * y)
        return terms

    def log_value(self, y: float) -> float:
        """Estimate log(D(y) − d); −∞ where rounding hides it."""
        terms = self.terms(y)
        return math.log(float(terms.real.sum())) if _is_above_rounding(terms) else -math.inf

    def root(self, start: float, log_delta: float, lost: float) -> tuple[float, float]:
        """Estimate the root of log D(y) = log δ by Newton steps from a start, with the slope there.

        `lost` is P(L = ∞). The slope of log D is NaN where D is lost in rounding or does not fall.
        """
        y, slope = start, math.nan
        for _ in range(_STEPS):
            terms = self.terms(y)
            total = float(terms.real.sum())
            if y == start and not _is_above_rounding(terms):
                break
            value = lost + total
            slope = -float((terms @ self.shifts).real)
            if not value > 0 or not slope < 0:
                return y, math.nan
            slope /= value
            step = max(-0.3 * y, min(0.3 * y, (math.log(value) - log_delta) / slope))
            y -= step
            if abs(step) <= _NEAR * y or not start < _ROOT_RANGE * y < _ROOT_RANGE**2 * start:
                break
        return y, slope


def _is_above_rounding(terms: Floats) -> bool:
    """Decide if the real part of a sum is above what rounding may have made of it."""
    return float(terms.real.sum()) > _ROUNDING_SHARE * float(np.abs(terms).sum())


# Proved in docs/proofs/contours.md, Lemma complex-integral.
@dataclass(frozen=True)
class Contour:
    """A contour encloses D(y) − P(L = ∞) of Π (P_i, Q_i)^{k_i}, or of the exchanged pairs.

    Its nodes are chosen for y about `at`; its enclosure holds at every y, and is wide elsewhere. It
    keeps its nodes.
    """

    runs: FactorRuns
    plan: ContourPlan
    reverse: bool
    at: float
    #: The bounds of `_log_right_alias` by λ.
    _aliases: dict[float, arb] = field(default_factory=dict, init=False, repr=False, compare=False)

    def delta(self, y: arb) -> arb:
        """Enclose D(y) − P(L = ∞) for any real y, at the plan's precision.

        The sum is taken at the middle of y, and widened by what D moves within the ball.
        """
        at = y.mid()
        value = self._sum(at)
        with ctx.workprec(_BOUND_BITS):
            above = self._left_out(at)
            below = self._left_alias + self._right_alias(at) + above
            if not y.is_exact():
                below, above = below + (moved := self._moved(y)), above + moved
        return (value - below).union(value + above)

    def _moved(self, y: arb) -> arb:
        """Bound how far D moves within the ball y, as −D′(y) <= P(L > y) <= min(1, M(c)e^{−cy}).

        A sum at a ball is wider, most of all with tapered nodes.
        """
        c = arb(self.plan.c)
        above = self.nodes[0].real * c * (c + 1) * (-c * y).exp()
        return y.rad() * above.min(arb(1))

    def _sum(self, y: arb) -> arb:
        """Compute (h/π) Re Σ' M(s)/(s(s+1)) e^{−sy}, half the first term, the last ones tapered."""
        c, h, taper = arb(self.plan.c), arb(self.plan.h), self.plan.taper
        turn = acb(0, -h * y).exp()
        total = self._untapered(turn)
        if taper is not None:
            last = zip(self.nodes[taper.first :], taper.exact_weights(y), strict=True)
            tapered = _polynomial([node * weight for node, weight in last])
            total += turn**taper.first * tapered(turn)
        return total.real * h / arb.pi() * (-c * y).exp()

    @cached_property
    def in_floats(self) -> FloatContour:
        """The contour's sum in float64, without P(L = ∞)."""
        plan = self.plan
        with ctx.workprec(_BOUND_BITS):
            largest = abs(self.nodes[0])
            terms = np.array([complex(node / largest) for node in self.nodes])
            terms[0] /= 2
            log_scale = float((largest * arb(plan.h) / arb.pi()).log())
        shifts = plan.c + 1j * plan.h * np.arange(plan.last + 1)
        with np.errstate(divide="ignore"):  # of nodes below the range of float64
            return FloatContour(shifts, np.log(terms) + log_scale, plan.taper)

    @cached_property
    def _untapered(self) -> Callable[[acb], acb]:
        """Return the polynomial of the nodes before the taper."""
        taper = self.plan.taper
        nodes = self.nodes if taper is None else self.nodes[: taper.first]
        return _polynomial([nodes[0] / 2, *nodes[1:]])

    @cached_property
    def nodes(self) -> list[acb]:
        """M(s)/(s(s+1)) at s = c + inh in balls, 0 <= n <= last, each block at its precision."""
        plan, nodes = self.plan, []
        for block in plan.blocks:
            line = OrderLine(order_at(plan.c, self.reverse), plan.h, block.last, block.first)
            with ctx.workprec(block.bits):
                c, h = arb(plan.c), arb(plan.h)
                for n, moment in zip(line.nodes, self._moments(line, block.need), strict=True):
                    deadline.check()
                    s = acb(c, h * n)
                    nodes.append((moment.conjugate() if self.reverse else moment) / (s * (s + 1)))
        return nodes

    def _moments(self, line: OrderLine, need: float) -> list[acb]:
        """Compute the product of all factors' moments on a line, each F to about e^{−need} F(a)."""
        product: list[acb] = []
        for part, count in self.runs:
            deadline.check()
            values = part.transform(line, need)
            raised = [value**count for value in deadline.each(values)]
            product = [x * y for x, y in zip(product, raised, strict=True)] if product else raised
        return product

    @cached_property
    def _left_alias(self) -> arb:
        """Bound Σ_{m<0} e^{2πmc/h} D(…) by 1/(e^{2πc/h} − 1)."""
        with ctx.workprec(_BOUND_BITS):
            return 1 / (2 * arb.pi() * arb(self.plan.c) / arb(self.plan.h)).expm1()

    def _right_alias(self, y: arb) -> arb:
        """Bound Σ_{m>0} e^{2πmc/h} D(y + 2πm/h), D without P(L = ∞).

        It is 0 where y + 2π/h is beyond the largest loss, and ∞ where nothing bounds it.
        """
        plan = self.plan
        lam = plan.across if plan.across is not None and y < 0 else plan.lam
        if lam < math.inf:
            return (self._log_right_alias(lam) - arb(lam) * y).exp()
        largest = sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))
        return arb(0) if y + 2 * arb.pi() / arb(plan.h) >= largest else arb("inf")

    def _log_right_alias(self, lam: float) -> arb:
        """Bound log C(λ) M(λ)/(e^{2π(λ−c)/h} − 1); times e^{−λy} it bounds the terms of m > 0."""
        if lam not in self._aliases:
            with ctx.workprec(_BOUND_BITS):
                falls = 2 * arb.pi() * (arb(lam) - arb(self.plan.c)) / arb(self.plan.h)
                most = log_chernoff(self.runs, lam, self.reverse)
                self._aliases[lam] = most - falls.expm1().log()
        return self._aliases[lam]

    def _left_out(self, y: arb) -> arb:
        """Bound the sum of the nodes beyond the last one, or what its taper leaves out."""
        plan = self.plan
        if plan.taper is None:
            return (self._log_left_out - arb(plan.c) * y).exp()
        scale = arb(plan.h) / arb.pi() * (-arb(plan.c) * y).exp()
        return scale * plan.taper.left_out(y, plan.taper.order)

    @cached_property
    def _log_left_out(self) -> arb:
        """Bound log Π B_i^{k_i}/(πhN), |F_i| <= B_i beyond the last node.

        Times e^{−cy} it bounds the rest: |s(s+1)| >= (nh)², and Σ_{n>N} n^{−2} <= 1/N.
        """
        plan = self.plan
        a, t = order_at(plan.c, self.reverse), (plan.last + 1) * plan.h
        with ctx.workprec(_BOUND_BITS):
            decays = (k * part.decay(a, t, 1 / (4 * k)) for part, k in self.runs)
            return sum(decays, arb(0)) - (arb.pi() * arb(plan.h) * plan.last).log()


def log_chernoff(runs: FactorRuns, lam: float, reverse: bool) -> arb:
    """Compute log C(λ)M(λ), C(λ) = λ^λ/(1+λ)^{1+λ}: D(y) − P(L = ∞) <= C(λ)M(λ)e^{−λy} for every y.

    As (1−e^{−u})₊ <= C(λ)e^{λu}. ∞ where the moments would be sums of too many terms.
    """
    line = OrderLine(order_at(lam, reverse), 1.0, 0)
    needs = [(part, k, _ALIAS_NEED + math.log(k)) for part, k in runs]
    if sum(part.terms(line, need) for part, _, need in needs) > _MOST_TERMS:
        return arb.pos_inf()
    log_moments = (k * part.transform(line, need)[0].real.log() for part, k, need in needs)
    x = arb(lam)
    return sum(log_moments, x * x.log() - (1 + x) * x.log1p())


def _polynomial(coefficients: list[acb]) -> Callable[[acb], acb]:
    """Make the function Σ a_n x^n on the unit circle, by a square of coefficients if they are many.

    Horner's rule lets rectangles grow, by some bits if they are few.
    """
    if len(coefficients) <= _MOST_HORNER_COEFFICIENTS:
        return acb_poly(coefficients)
    width = math.isqrt(len(coefficients) - 1) + 1
    padded = coefficients + [acb(0)] * (-len(coefficients) % width)
    rows = acb_mat(len(padded) // width, width, padded)

    def value(x: acb) -> acb:
        inner = powers(x, rows.ncols())
        outer = powers(inner[-1] * x, rows.nrows())
        value_at_x: acb = (acb_mat(1, len(outer), outer) * (rows * acb_mat(len(inner), 1, inner)))[
            0, 0
        ]
        return value_at_x

    return value


def float_nodes(
    runs: Sequence[tuple[Part, float]], reverse: bool, plan: ContourPlan
) -> FloatContour:
    """Estimate the sum of a plan in float64."""
    line = OrderLine(order_at(plan.c, reverse), plan.h, plan.last)
    log_moment = np.zeros(plan.last + 1, dtype=complex)
    for part, k in runs:
        log_moment += k * part.log_values(line)
    s = plan.c + 1j * plan.h * np.arange(plan.last + 1)
    log_terms = (log_moment.conj() if reverse else log_moment) - np.log(s * (s + 1))
    share = np.full(plan.last + 1, plan.h / math.pi)
    share[0] /= 2
    return FloatContour(s, log_terms + np.log(share), plan.taper)


# --- other contours
#
# Where a contour needs many nodes: one of the pairs exchanged, or beside a little Gaussian noise.
#
# The loss of noise of a small sample jumps rarely, so that M(c) grows fast and small orders are all
# there is; R >= 1 − γ, so that of the pairs exchanged D′ has moments at every order, and
# D(y) = 1 − e^y + e^y D′(−y).
#
# Where moments fall too slowly, with D_μ the profile beside noise of Δ/σ = μ, and r > 1,
#
# D_μ − e^{r²μ²/8}(D_{rμ} − D_μ)/(r−1) <= D <= D_μ (docs/proofs/contours.md, Lemma added-noise),
#
# so that the digits are few: they grow with the logarithm of the number of nodes.

#: An exchanged contour has no alias up to 5y, as a root is looked for up to 4y. A root beyond it is
#: found by a new contour. It costs time alone.
_ROOM = 5.0
#: Where more nodes are needed, fewer may do beside noise. It costs time alone.
_MANY_BESIDE = 20_000
#: Noise is for at most so many digits d, for which some 10^{d/2} nodes are enough. More are left to
#: the plain contour. It costs time alone.
_MOST_DIGITS = 13.0
#: The ratio r of both noises: a larger one bounds D from farther below, a smaller one divides by r
#: − 1 what both sums are off by. Lemma added-noise holds for any r > 1.
_NOISE_RATIO = Fraction(5, 4)
#: So many decimal digits are lost to that division: log₁₀ of 2/(r − 1) = 8, and a little. It
#: steers.
_DIGITS_LOST_TO_RATIO = 1.0
#: Noise is chosen to move D by this share of the error that is wanted. It steers.
_SHARE = 0.25
#: μ² is at least 2^{−200}. A smaller μ² is out of reach of the nodes. It steers.
_FINEST = 200


# Proved in docs/proofs/contours.md, Lemma exchanged-contour.
class ExchangedContour(Contour):
    """A contour of the exchanged pairs gives D(y) = 1 − e^y + e^y D′(−y); neither has P(L = ∞)."""

    def delta(self, y: arb) -> arb:
        """Enclose D(y) of the pairs that are not exchanged."""
        return y.exp() * super().delta(-y) - y.expm1()

    @cached_property
    def in_floats(self) -> FloatContour:
        """The sum in float64, which estimates D(y) = 1 − e^y + Re Σ e^{log_term + (s+1)y}."""
        exchanged = super().in_floats
        shifts = np.concatenate([[0, -1], -1 - exchanged.shifts])
        log_terms = np.concatenate([[0, math.pi * 1j], exchanged.log_terms])
        return FloatContour(shifts, log_terms, exchanged.taper, -1)


@dataclass(frozen=True)
class SmoothedContour(Contour):
    """A smoothed contour has a little Gaussian noise as its last run, of (Δ/σ)² = `noise` = μ²."""

    noise: Fraction

    def delta(self, y: arb) -> arb:
        """Enclose D(y) − P(L = ∞) of the runs without the noise."""
        above, wider = super().delta(y), self._wider.delta(y)
        r = ball(_NOISE_RATIO)
        most = (r * r * ball(self.noise) / 8).exp() / (r - 1) * (wider - above)
        return above - up_to(most.max(arb(0)))

    @cached_property
    def _wider(self) -> Contour:
        """Make the contour beside noise of rμ, at the same nodes.

        F(1+s) of noise is e^{s(s+1)μ²/2}, as F(−s) is.
        """
        noise = GaussianLoss(_NOISE_RATIO**2 * self.noise)
        wider = Contour((*self.runs[:-1], (noise, 1)), self.plan, self.reverse, self.at)
        with ctx.workprec(self.plan.bits):
            c, h = arb(self.plan.c), arb(self.plan.h)
            half = ball(self.noise * (_NOISE_RATIO**2 - 1) / 2)
            shifts = (acb(c, h * n) for n in range(len(self.nodes)))
            grown = [
                x * (s * (s + 1) * half).exp() for x, s in zip(self.nodes, shifts, strict=True)
            ]
        vars(wider)["nodes"] = grown
        return wider


def smoothed(
    moments: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> tuple[Moments, ContourPlan]:
    """Plan the contour of the fewest nodes, beside noise where without it they are too many.

    The moments are those of the runs, or of the runs and the noise. LimitError where both take too
    many bits, PrecisionError where no line serves. For `two_ways` see `plan`.
    """
    if digits > _MOST_DIGITS:
        return moments, plan(moments, y, log_delta, digits, two_ways)
    try:
        plain = plan(moments, y, log_delta, digits, two_ways)
    except LimitError as error:
        plain, refused = None, error
    if plain is not None and plain.last <= _MANY_BESIDE:
        return moments, plain
    with_noise = _beside_noise(moments, y, digits)
    try:
        smooth = plan(with_noise, y, log_delta, digits + _DIGITS_LOST_TO_RATIO, two_ways)
    except LimitError:
        if plain is None:
            raise refused from None
        return moments, plain
    if plain is not None and plain.last <= smooth.last:
        return moments, plain
    return with_noise, smooth


def _beside_noise(moments: Moments, y: float, digits: float) -> Moments:
    """Choose noise of which D_μ − D is a small share of the error that is wanted.

    It is about μ²/2 times the density of the loss at y, and that about c(c+1)D.
    """
    c = shift(moments.saddle(y))
    log_ratio = math.log(_SHARE / (c * (c + 1))) - digits * math.log(10)
    halvings = min(math.ceil(-log_ratio / math.log(2)), _FINEST)
    return moments.with_noise(GaussianLoss(Fraction(2) ** -halvings))


def moments_and_plan(
    plain: Moments, y: float, log_delta: float, digits: float, two_ways: bool = False
) -> tuple[Moments, ContourPlan]:
    """Plan the contour of the fewest nodes, of the exchanged pairs where the others need many.

    It returns the moments that are to be summed. LimitError or PrecisionError where all refuse.
    """
    refused: Exception | None = None
    try:
        chosen_moments, chosen = smoothed(plain, y, log_delta, digits, two_ways)
        if chosen.last <= _MANY:
            return chosen_moments, chosen
    except (LimitError, PrecisionError) as error:
        refused = error
    if all(part.jumps_rarely for part, _ in plain.runs):
        with suppress(LimitError, PrecisionError):
            log_kept = math.log(-math.expm1(-y)) if y > 0 else -math.inf
            log_other = float(np.logaddexp(log_delta - y, log_kept))
            more = (log_other + y - log_delta) / math.log(10)
            exchanged = replace(plain.exchanged, room=(_ROOM - 1) * y)
            other = plan(exchanged, -y, log_other, digits + more)
            if refused is not None or other.last < chosen.last:
                return exchanged, other
    if refused is not None:
        raise refused
    return chosen_moments, chosen


def contour(moments: Moments, chosen: ContourPlan, at: float, plain: Moments) -> Contour:
    """Make the contour that was planned: of the plain runs, exchanged, or beside noise."""
    if moments is plain:
        return Contour(moments.factors, chosen, moments.reverse, at)
    if moments.reverse != plain.reverse:
        return ExchangedContour(moments.factors, chosen, moments.reverse, at)
    ratio = moments.runs[-1][0].gaussian_ratio
    assert ratio is not None  # noqa: S101  # the noise stands last
    runs = (*plain.factors, moments.runs[-1])
    return SmoothedContour(runs, chosen, moments.reverse, at, Fraction(ratio))


# --- guesses of roots
#
# About where a profile is δ, in float64: where a contour is laid first.

#: Nodes are chosen anew at most so often for one estimate, and a bracket halved so often. They
#: steer.
_ROOT_ATTEMPTS, _HALVINGS = 8, 60
#: Nodes that steer are for so many digits: of fewer, orders are so large that three means refuse.
#: Their sums prove nothing.
_STEER_DIGITS = 3.0
#: A log δ that was guessed too large is lowered by 12 nats and a share of it: by 2 % at first, then
#: by 8 times the share before, and by half at most, for one that is guessed far too small takes too
#: many bits. What one run's loss has of it is the guess from half of it on. They steer.
_LOWER, _LOWER_SHARE, _SHARE_GROWTH, _LARGEST_SHARE, _NEAR_SUM = 12.0, 0.02, 8.0, 0.5, 2.0
#: Enclosures that steer have so many digits. More take longer.
_VALUED_DIGITS = 3.0
#: Both ends of a bracket are brought near to a place that is not told from the root by so many
#: values, of which those that tell nothing take a contour each. More take longer, and both ends are
#: decided.
_NARROWINGS = 10
#: At least this share of a bracket is cut off at each step. It steers.
_ASIDE = 0.1
#: Of more kinds of runs a saddle point is not trusted, as their contour is costly. It steers.
_FEW_KINDS = 8
#: Of so many runs at most, that jump rarely, one makes the loss. It steers.
_FEW_RUNS = 64
#: An estimate below this share of that by moments is taken instead, of runs that jump rarely. It
#: steers.
_TOO_FAR = 0.5
#: A normal loss is looked at up to so many deviations. It steers.
_FARTHEST = 16.0
#: Jumps are rare where Σ k_i D_i(0) is below 1; of more runs one makes the loss where its log is
#: below −4. They steer.
_RARE, _LOG_HARDLY_ANY = 1.0, -4.0

#: Encloses D(y) to so many digits of a bound: of y, the bound and the digits.
Roughly = Callable[[Number, Number, float], arb]


@dataclass
class RootBracket:
    """A bracket of the root of D = δ keeps the nearest places that enclosures put on either side.

    D(low) > δ >= D(high) is proved, `low` and `high` in nats; D(0) > δ is known. It has the
    `digits` that are asked where both ends share them.
    """

    roughly: Roughly
    delta: Fraction
    digits: float
    low: float = 0.0
    high: float = math.inf
    #: Was it brought near to a place that enclosures do not tell from the root?
    is_narrowed: bool = False

    def value(self, y: float) -> arb:
        """Enclose D(y) to about 3 digits of δ, and note on which side of the root y is."""
        goal = partial(ball, self.delta)
        value = self.roughly(partial(arb, y), goal, _VALUED_DIGITS)
        with ctx.workprec(bits_for(_VALUED_DIGITS)):
            is_within = decided(value, goal())
        if is_within:
            self.high = min(self.high, y)
        elif is_within is not None:
            self.low = max(self.low, y)
        return value

    @property
    def root(self) -> arb | None:
        """The root between both ends, where these share the digits; else None."""
        if not self.high < math.inf:
            return None
        root = arb(self.low).union(arb(self.high))
        return root if accuracy(root) >= self.digits else None

    def narrow_about(self, unknown: float) -> None:
        """Bring both ends near to a place that enclosures do not tell from the root, once."""
        left = right = unknown
        for _ in range(0 if self.is_narrowed else _NARROWINGS):
            if self.root is not None:
                break
            if left - self.low >= self.high - right:
                y = (self.low + left) / 2
                self.value(y)
                left = left if self.low == y else y
            else:
                y = (right + self.high) / 2
                self.value(y)
                right = right if self.high == y else y
        self.is_narrowed = True


def about_root(runs: DirectedRuns, bracket: RootBracket) -> float:
    """Estimate the ε with D(ε) = δ > P(L = ∞): by a saddle point where there are many runs.

    Else, for many kinds and for three means by contours in float64. PrecisionError or LimitError
    where these refuse, unless all runs are small samples.
    """
    delta = bracket.delta
    is_many = sum(k for _, k in runs.runs) > _FEW_RUNS and len(runs.runs) <= _FEW_KINDS
    is_plain = not any(part.refuses_far_orders for part, _ in runs.runs)
    is_sampled = all(part.jumps_rarely for part, _ in runs.runs)
    if is_many and is_plain and runs.mass_at_infinity == 0:
        most = runs.moments.saddle_epsilon(log_float_of(lambda: ball(delta)))
        if not is_sampled or _by_spread(runs.moments, delta) >= _TOO_FAR * most:
            return most
        plain = _of_samples(runs, delta, most)
        return plain if 0 < plain < _TOO_FAR * most else most
    try:
        return nearer_root(runs, bracket)
    except (PrecisionError, LimitError):
        if not is_sampled:
            raise
        most = runs.moments.renyi_epsilon(log_float_of(lambda: ball(delta)))
        return _of_samples(runs, delta, most)


def other_roots(runs: DirectedRuns, bracket: RootBracket) -> Iterator[float]:
    """Yield further estimates of the root, where the first one is no good.

    One beyond the bound by moments is of a D that is lost in float64. The last one may raise
    PrecisionError or LimitError.
    """
    most = runs.moments.renyi_epsilon(log_float_of(lambda: ball(bracket.delta)))
    with suppress(PrecisionError, LimitError):
        if (nearer := nearer_root(runs, bracket)) <= most:
            yield nearer
    yield valued_root(runs, bracket)


def nearer_root(runs: DirectedRuns, bracket: RootBracket) -> float:
    """Estimate where D is δ, by Newton steps from nodes to nodes in float64.

    Where D of few runs is lost in rounding it is one jump that decides if jumps are rare, else
    enclosures. PrecisionError or LimitError where no contour is found.
    """
    delta = bracket.delta
    log_delta, lost = log_float_of(lambda: ball(delta)), float(runs.mass_at_infinity.mid())
    y = runs.moments.renyi_epsilon(log_delta)
    for _ in range(_ROOT_ATTEMPTS):
        guess = runs.moments.log_delta(y)
        moments, chosen = smoothed(runs.moments, y, guess, _STEER_DIGITS)
        rough = float_nodes(moments.representatives, runs.reverse, chosen)
        resolution = guess - _STEER_DIGITS * math.log(10)
        if not rough.log_value(y) > resolution and sum(k for _, k in runs.runs) <= _FEW_RUNS:
            is_rare = _sum_of_runs(runs.moments, 0.0) < _RARE
            return (
                min(y, _single_jump_root(runs.moments, delta, y))
                if is_rare
                else valued_root(runs, bracket)
            )
        old, (y, slope) = y, rough.root(y, log_delta, lost)
        y = y if slope < 0 else 0.9 * y
        if abs(y - old) <= 1e-4 * abs(old):
            break
    return y


def valued_root(runs: DirectedRuns, bracket: RootBracket) -> float:
    """Estimate where D is δ by bracketing with enclosures of few digits, below float64 too.

    It ends where the bracket has its digits: enclosures have proved the root by then.
    """
    goal = log_float_of(lambda: ball(bracket.delta))
    most = min(bracket.high, runs.moments.renyi_epsilon(goal))
    low, high = (bracket.low, math.inf), (most, -math.inf)
    for _ in range(_HALVINGS):
        share = (low[1] / (low[1] - high[1])) if math.isfinite(low[1] - high[1]) else 0.5
        y = low[0] + min(max(share, _ASIDE), 1 - _ASIDE) * (high[0] - low[0])
        over = log_float_of(bracket.value(y).mid) - goal
        if abs(over) < 1 or bracket.root is not None:
            break
        if bracket.high < math.inf and y not in (bracket.low, bracket.high):
            bracket.narrow_about(y)
            break
        low, high = ((y, over), high) if over > 0 else (low, (y, over))
    return y


def _single_jump_root(moments: Moments, delta: Fraction, most: float) -> float:
    """Estimate ε where jumps are rare: the root of Σ k_i D_i(ε) = δ, D_i of one run.

    It is looked for from 0 to `most` nats.
    """

    def is_above(y: float) -> bool:
        with ctx.workprec(64):
            return bool(_sum_of_runs(moments, y) > ball(delta))

    return sum(halved(0.0, most, is_above, _HALVINGS)) / 2


def _of_samples(runs: DirectedRuns, delta: Fraction, most: float) -> float:
    """Estimate where D of small samples is δ: by their spread, or by one jump up to `most` nats."""
    moments = runs.moments
    return max(_by_spread(moments, delta), _single_jump_root(moments, delta, most))


def _by_spread(moments: Moments, delta: Fraction) -> float:
    """Estimate where D is δ of a normal loss of mean 0 and Q's variance σ².

    The root of σ(φ(x) − xΦ̄(x)) = δ at xσ.
    """
    spread = math.sqrt(
        sum(k * part.float_moments(np.zeros(1))[1][0] for part, k in moments.representatives)
    )
    goal = float(delta)

    def is_above(x: float) -> bool:
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return spread * (density - x * math.erfc(x / math.sqrt(2)) / 2) > goal

    return halved(0.0, _FARTHEST, is_above, _HALVINGS)[0] * spread


def about_log_delta(moments: Moments, y: float) -> float:
    """Estimate log D(y): by a moment, or by one run where one large loss is likelier than several.

    The moments of rare large losses are mostly those of the others, and tell little.
    """
    log_sum = _by_one_loss(moments, y)
    return moments.log_delta(y) if log_sum is None else log_sum


def _by_one_loss(moments: Moments, y: float) -> float | None:
    """Estimate log D(y) where one run's large loss makes it; None where several make it together.

    Of many runs they do, unless it is rare that any is large; and so they do where 2, 4, … losses
    that come to as much are likelier than one.
    """
    count = sum(k for _, k in moments.runs)
    if not all(part.jumps_rarely for part, _ in moments.runs):
        return None
    if count > _FEW_RUNS and not _log_sum_of_runs(moments, 0.0) < _LOG_HARDLY_ANY:
        return None
    log_sum, at_once = _log_sum_of_runs(moments, y), 2
    while at_once <= count:
        if not at_once * _log_sum_of_runs(moments, y / at_once) < log_sum:
            return None
        at_once *= 2
    return log_sum if log_sum < math.inf else None


def _log_sum_of_runs(moments: Moments, y: float) -> float:
    return log_float_of(lambda: _sum_of_runs(moments, y))


def _sum_of_runs(moments: Moments, y: float) -> arb:
    """Estimate Σ k_i D_i(y), D_i of one run."""
    with ctx.workprec(64):
        values = (
            k * part.hockey_stick(arb(y), moments.reverse) for part, k in moments.representatives
        )
        return sum(values, arb(0)).mid()


def next_guess(moments: Moments, y: float, log_delta: float, value: arb, misses: int) -> float:
    """Estimate log D(y) again, after a contour for `log_delta` gave this value.

    Where the value is not above 0, D is smaller: by a share that grows with the misses before,
    until what one run's loss alone has of it is near.
    """
    if not value.is_finite():
        return log_delta
    most = min(log_delta, float(value.upper().log()))
    if value > 0:
        return most
    log_sum = _log_sum_of_runs(moments, y)
    if _NEAR_SUM * most <= log_sum < most - _LOWER:
        return log_sum
    share = min(_LOWER_SHARE * _SHARE_GROWTH**misses, _LARGEST_SHARE)
    return (1 + share) * most - _LOWER


# --- the strategy
#
# δ(ε) and ε(δ) by contours: where one is laid, and what is known by those that were summed.

#: Contours of as many nodes as are needed are taken to cost so many. It steers: strategies are
#: asked in the order of their cost.
_MANY_NODES = 200_000
#: A contour is laid anew at most so often for one question, each for more digits or a smaller δ.
#: Then PrecisionError is raised.
_ATTEMPTS = 8
#: D's fall is counted on for so many digits of a root's place at most. It steers.
_FEW_DIGITS = 5.0
#: A place that is off by more than this share gave a contour of too few digits, if it gave no root.
#: It steers.
_FAR_SHARE = 0.1
#: A root is first looked for at this multiple of its estimate: to its right, but for float64. It
#: steers: both ends of the root are proved.
_RIGHT = 1 + 2.0**-44
#: The contours of one direction keep so many nodes: a second question often finds its own. They
#: cost memory, and save time.
_KEPT_NODES = 200_000


@dataclass(eq=False)
class Contours:
    """Contours keep those that were laid for some runs, and lay new ones as they are needed.

    The last one comes first. `exchanged` are those of the same pairs in the other direction, where
    they were asked before, and `two_ways` says whether both directions are asked. PrecisionError
    for a new one that takes more than `most_nodes`, or a taper, where `most_nodes` is finite.
    """

    proof = CONTOURS

    runs: DirectedRuns
    two_ways: bool = False
    exchanged: Contours | None = None
    most_nodes: float = math.inf
    known: list[Contour] = field(default_factory=list)
    _bounds: dict[float, arb] = field(default_factory=dict)

    def cost(self, digits: float) -> float:
        """Return the most nodes that may be summed, for any digits; `CANNOT` without moments."""
        return min(self.most_nodes, _MANY_NODES) if self.runs.have_moments else CANNOT

    @property
    def order(self) -> float | None:
        """The order 1 + c of the nodes that were summed last; None where these were exchanged."""
        plain = self.known and not isinstance(self.known[0], ExchangedContour)
        return 1 + self.known[0].plan.c if plain else None

    # --- δ(ε)

    def delta(self, y: Number, digits: float) -> arb:
        """Enclose D(y) to so many digits, by a contour that is known or by new ones.

        PrecisionError or LimitError where no contour has them.
        """
        at = float_of(y)
        for known in self._known(digits, at):
            value = self._summed(known, y)
            if accuracy(value) >= digits:
                return value
        log_delta, wanted = about_log_delta(self.runs.moments, at), digits
        for misses in range(_ATTEMPTS):
            value = self._new(at, log_delta, wanted, lambda made: self._summed(made, y))
            if accuracy(value) >= digits:
                return value
            log_delta = next_guess(self.runs.moments, at, log_delta, value, misses)
            if value > 0 or not value.is_finite():
                wanted += 2 + max(0.0, digits - max(accuracy(value), 0.0))
        raise undecided(f"δ at ε = {at:.6g}", digits)

    def _known(self, digits: float, at: float | None = None) -> Iterator[Contour]:
        """Yield the contours that were made for more than so many digits, those near `at` first."""
        made = self.known if at is None else sorted(self.known, key=lambda x: abs(x.at - at))
        return (known for known in tuple(made) if known.plan.need > digits * math.log(10))

    def _summed(self, contour: Contour, y: Number) -> arb:
        """Enclose D(y) by one contour, at its precision."""
        with ctx.workprec(contour.plan.bits):
            return self.runs.mass_at_infinity + contour.delta(y())

    def _new(self, at: float, log_delta: float, digits: float, use: Callable[[Contour], T]) -> T:
        """Lay a new contour for y = `at`, keep it, and return what `use` makes of it.

        Older ones go where their nodes are too many. Nothing is kept where `use` raises an error.
        """
        plain = self.runs.moments
        moments, chosen = moments_and_plan(plain, at, log_delta, digits, self.two_ways)
        if self.most_nodes < math.inf and (chosen.taper or chosen.last > self.most_nodes):
            raise PrecisionError(f"found {chosen.last} nodes, needed {self.most_nodes}")  # caught
        new_contour = contour(moments, chosen, at, plain)
        value = use(new_contour)
        self.known.insert(0, new_contour)
        while sum(known.plan.last for known in self.known[:-1]) > _KEPT_NODES:
            del self.known[-1]
        return value

    # --- bounds of D(y)

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Decide whether D(y) <= the bound, by one moment and known contours before a new one."""
        return decided_by_digits(lambda digits: self.roughly(y, bound, digits), bound)

    def roughly(self, y: Number, bound: Number, digits: float) -> arb:
        """Enclose D(y) to about so many digits of the bound; with 0 digits by one moment.

        A contour that is known serves where it decides. NaN where no moment tells anything.
        """
        with ctx.workprec(bits_for(digits)):
            value = self.runs.beyond_largest_loss(y())
            if value is not None:
                return value
        values, most = (self._summed(known, y) for known in self._known(digits)), bound()
        for value in itertools.chain(values, self._across(y) if not digits else ()):
            if decided(value, most) is not None:
                return value
        if not digits:
            return self.moment_bound(y, bound)
        return self._new(
            float_of(y), log_float_of(bound), digits, lambda made: self._summed(made, y)
        )

    def _across(self, y: Number) -> Iterator[arb]:
        """Yield D(y) = 1 − e^y + e^y D′(−y) by contours that the exchanged pairs have summed."""
        if (first := self.exchanged) is not None:
            for known in first.known:
                with ctx.workprec(known.plan.bits):
                    yield y().exp() * first._summed(known, lambda: -y()) - y().expm1()

    def moment_bound(self, y: Number, bound: Number) -> arb:
        """Enclose D(y) in [0, d + C(λ)M(λ)e^{−λy}] for a λ that makes it small.

        NaN where no λ puts it below the bound.
        """
        lam = self.runs.moments.lowest_shift(float_of(y), log_float_of(bound))
        if lam is None:
            return arb.nan()
        if lam not in self._bounds:
            most = log_chernoff(self.runs.moments.factors, lam, self.runs.reverse)
            self._bounds = {lam: most}
        return up_to(self.runs.mass_at_infinity + (self._bounds[lam] - arb(lam) * y()).exp())

    # --- ε(δ)

    def root(self, delta: Fraction, digits: float) -> arb:
        """Enclose the root of D = δ by a contour that is known, or by a new one near the root.

        P(L = ∞) < δ < D(0) is known. PrecisionError or LimitError where no contour has the digits.
        """
        for known in self._known(digits):
            root = self._on(known, delta)
            if root is not None and accuracy(root) >= digits:
                return root
        log_delta = log_float_of(lambda: ball(delta))
        bracket = RootBracket(self.roughly, delta, digits)
        at = about_root(self.runs, bracket)
        wanted = self._digits_for_root(at, digits)
        others = other_roots(self.runs, bracket)
        for _ in range(_ATTEMPTS):
            if bracket.root is not None:
                return bracket.root
            root = self._new(at, log_delta, wanted, lambda made: self._on(made, delta))
            if root is None:
                try:
                    place = next((y for y in others if y != at), at)
                except PrecisionError:  # of a δ, which nobody asked for
                    break
                is_far = abs(place - at) > _FAR_SHARE * at
                wanted = self._digits_for_root(place, digits) if is_far else wanted + 4
                at = place
                continue
            if accuracy(root) >= digits:
                return root
            wanted += 1 + digits - max(accuracy(root), 0.0)
            at = float(root.mid())
        raise undecided(f"ε at δ = {float(delta):.6g}", digits)

    def _digits_for_root(self, at: float, digits: float) -> float:
        """Estimate how many digits of D tell a root at about `at` to so many digits.

        Where cy is 10, y is known to a digit more than D; chords want it to 1 at least.
        """
        c = shift(self.runs.moments.saddle(at))
        fewer = math.log10(min(max(c * at, 1.0), 10.0**_FEW_DIGITS))
        return max(digits - fewer, 1 - math.log10(min(c, 1.0)))

    # Proved in docs/proofs/contours.md, Lemma root-bracket.
    def _on(self, contour: Contour, delta: Fraction) -> arb | None:
        """Enclose the root by one contour; None where that proves nothing."""
        with ctx.workprec(contour.plan.bits):
            lost, goal = self.runs.mass_at_infinity, ball(delta)

            def value(y: arb) -> arb:
                return lost + contour.delta(y)

            start, slope = contour.in_floats.root(contour.at, float(goal.log()), float(lost))
            if slope < 0:
                return convex_root(value, goal, arb(start * _RIGHT), arb(slope))
            return convex_root(value, goal, arb(contour.at))  # too much cancels for float64
