"""The last nodes of a contour tapered, where a moment hardly falls but turns at known losses.

Σ_{n>=N} a_n with a_n = Σ_J g_J(nh) w_J^n, |w_J| = 1 and g_J slow: with E a_n = a_{n+1} and
q(X) = Π_J (X^m − w_J^m)^p it is [S(E)a_N + Σ_{n>=N} q(E)a_n]/q(1), S(X) = (q(X) − q(1))/(X − 1).
The first term has deg q nodes; the second is small, as E^m − 1 is on g_J. The stride m keeps the
weights small where w_J itself is near 1 (docs/proofs.md, section 16).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from flint import acb, acb_poly, arb, arb_poly, ctx

from symacct.kernel import deadline
from symacct.kernel.memory import cached_property
from symacct.profile.part import Floats, PartRuns, rounded_down

T = TypeVar("T")

_BITS = 64
_MOST_RUNS = 64
_MOST_LOSSES = 16  # of all runs
_MOST_FIRST = 2**18
_LEAST = 256  # nodes that are tapered in any case
_ORDERS = (6, 9, 13, 19, 27, 38, 54)
_SHARES = (1.0, 0.9, 0.8, 0.7)  # of a step, so as not to be near an alias
_STRIDES = tuple(sorted({round(2 ** (j / 2)) for j in range(28)}))
_LIKELY_ORDER = _LIKELY_NEED = 60.0


@dataclass(frozen=True)
class Taper:
    """Nodes s = c + inh, n >= `first`, on Re z = `a`, to the order p, with the stride m."""

    runs: PartRuns
    reverse: bool
    a: float
    h: float
    first: int
    order: int
    stride: int

    @cached_property
    def amplitudes(self) -> list[tuple[arb, arb_poly]]:
        """The losses, and series with bounds of |g_J^{(j)}|/j! summed over the nodes."""
        with ctx.workprec(_BITS):
            turning = losses(self.runs, self.reverse)
            length = len(turning) * self.order + 1
            found = [self._kernel(length)]
            for part, count in self.runs:
                kinds = [
                    _powers(series, count, length)
                    for series in part.amplitude_bounds(self.a, self.start, length)
                ]
                own = [_product(chosen, count, length) for chosen in _choices(kinds, count)]
                found = [(series * more).truncate(length) for series in found for more in own]
        return list(zip(turning, found, strict=True))

    @property
    def start(self) -> float:
        """Im s of the first of them."""
        return self.first * self.h

    def _kernel(self, length: int) -> arb_poly:
        """Σ_{n>=N} |(1/(s(s+1)))^{(j)}|/j! <= (1+N)(j+1)t^{−j−2}, as |s|, |s+1| >= nh >= t."""
        t = arb(self.start)
        return arb_poly([(1 + self.first) * (j + 1) * t ** (-j - 2) for j in range(length)])

    def left_out(self, y: arb, order: int) -> arb:
        """An upper bound of |Σ_{n>=N} q(E)a_n/q(1)| to an order that is at most p.

        On g_J the factor (w_J E)^m − w_i^m is (w_J^m − w_i^m) + w_J^m(E^m − 1), and
        |(E^m−1)^j g| <= (mh)^j sup|g^{(j)}|.
        """
        with ctx.workprec(_BITS):
            turns = [self._turn(y - loss) for loss, _ in self.amplitudes]
            away = math.prod((abs(1 - turn) for turn in turns), start=arb(1)) ** order
            if not away > 0:
                return arb.pos_inf()
            total = arb(0)
            for own, (_, series) in enumerate(self.amplitudes):
                total += self._differences(turns, own, series, order)
            return total / away

    def _differences(self, turns: list[acb], own: int, series: arb_poly, order: int) -> arb:
        factor = arb_poly([0] * order + [1])
        for other, turn in enumerate(turns):
            if other != own:
                factor *= arb_poly([abs(turns[own] - turn), 1]) ** order
        total, scale = arb(0), arb(1)
        for j, coefficient in enumerate(factor.coeffs()):
            scale *= j * self.stride * arb(self.h) if j else 1
            total += coefficient * scale * series[j]
        return total

    def weights(self, y: arb) -> list[acb]:
        """S_i/q(1), of the node N + i: one less the share of q's coefficients up to i.

        q has none but at the multiples of m, so that m nodes have the same.
        """
        q, whole = acb_poly([1]), acb(1)
        for loss in losses(self.runs, self.reverse):
            turn = self._turn(y - loss)
            q *= acb_poly([-turn, 1]) ** self.order
            whole *= (1 - turn) ** self.order
        rest, found = acb(0), []
        for coefficient in reversed(q.coeffs()[1:]):
            rest += coefficient
            found.extend([rest / whole] * self.stride)
        return found[::-1]

    def exact_weights(self, y: arb) -> list[acb]:
        """The weights to flint's current precision, of which the powers of many turns take some."""
        with ctx.workprec(ctx.prec + 3 * self.degree // self.stride):
            return self.weights(y)

    def rough_weights(self, y: float) -> Floats:
        """The weights in complex128."""
        with ctx.workprec(_BITS):
            return np.array([complex(weight.mid()) for weight in self.exact_weights(arb(y))])

    def cost(self, y: float) -> float:
        """About what its nodes come to: their number, and the digits that the weights cost."""
        with ctx.workprec(_BITS):
            distances = self._distances(y)
        likely = max(self.stride / distance for distance in distances)
        need = _LIKELY_NEED + _LIKELY_ORDER * sum(math.log(2 / distance) for distance in distances)
        return (likely + self.stride * len(distances)) * need

    def log_weight(self, y: float) -> float:
        """log of the largest that a weight may be, about."""
        with ctx.workprec(_BITS):
            return self.order * sum(math.log(2 / distance) for distance in self._distances(y))

    def _distances(self, y: float) -> list[float]:
        turns = (self._turn(arb(y) - loss) for loss in losses(self.runs, self.reverse))
        return [max(float(abs(1 - turn).mid()), 2.0**-_BITS) for turn in turns]

    def best(self, first: int, y: float, log_rest: float) -> Taper | None:
        """From `first` on, to the least order that will do, of no more nodes than before it."""
        orders = [p for p in _ORDERS if replace(self, order=p).degree <= max(first, _LEAST)]
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
        """The last node."""
        return self.first + self.degree - 1

    @property
    def degree(self) -> int:
        """deg q."""
        return self.order * self.stride * len(losses(self.runs, self.reverse))

    def _turn(self, y: arb) -> acb:
        return acb(0, -arb(self.h) * self.stride * y).exp()


def shortest_taper(
    runs: PartRuns, reverse: bool, a: float, step: float, y: float, log_rest: float, most: int
) -> Taper | None:
    """The taper of the fewest nodes that leaves out e^{log_rest}, for a step of at most `step`.

    None where no fewer than `most` are found to do.
    """
    if not 0 < how_many(runs) <= _MOST_LOSSES:
        return None
    found = min(
        (
            Taper(runs, reverse, a, rounded_down(step * share), 1, 0, stride)
            for share, stride in itertools.product(_SHARES, _STRIDES)
        ),
        key=lambda taper: taper.cost(y),
    )
    low, high = 1, min(most, _MOST_FIRST)
    if found.best(high, y, log_rest) is None:
        return None
    while high > 1.15 * low + 1:
        deadline.check()
        middle = math.isqrt(low * high) + 1
        low, high = (middle, high) if found.best(middle, y, log_rest) is None else (low, middle)
    return found.best(high, y, log_rest)


def how_many(runs: PartRuns) -> float:
    """How many losses there are to turn at, counted before they are listed; ∞ for many runs."""
    if sum(k for _, k in runs) > _MOST_RUNS:
        return math.inf
    kinds = ((len(part.frequencies()), k) for part, k in runs)
    return math.prod(math.comb(k + most - 1, k) if most else 0 for most, k in kinds)


def losses(runs: PartRuns, reverse: bool) -> list[arb]:
    """Where the product of the moments turns, at flint's current precision; [] if not known."""
    found = [arb(0)]
    for part, count in runs:
        own = [
            sum((times * loss for loss, times in chosen), arb(0))
            for chosen in _choices(part.frequencies(), count)
        ]
        found = [loss + more for loss in found for more in own]
    return [-loss for loss in found] if reverse else found


def _choices(kinds: list[T], count: int) -> Iterator[list[tuple[T, int]]]:
    """Every way to choose `count` of the kinds, an order of them apart: (kind, how often)."""
    for chosen in itertools.combinations_with_replacement(range(len(kinds)), count):
        yield [(kinds[i], times) for i, times in Counter(chosen).items()]


def _powers(series: arb_poly, most: int, length: int) -> list[arb_poly]:
    """Up to the largest exponent, which every choice shares."""
    found = [arb_poly([1])]
    for _ in range(most):
        found.append((found[-1] * series).truncate(length))
    return found


def _product(chosen: list[tuple[list[arb_poly], int]], count: int, length: int) -> arb_poly:
    """Π of the series, times how many orders of the runs there are."""
    ways, product = math.factorial(count), arb_poly([1])
    for powers, times in chosen:
        ways //= math.factorial(times)
        product = (product * powers[times]).truncate(length)
    return product * ways
