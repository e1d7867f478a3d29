"""Each record in one of t runs of Laplace noise, drawn at random: dP/dQ = S/t, S a sum of ratios.

H_a(P‖Q) = E(S/t − a)₊ and H_a(Q‖P) = E(1 − aS/t)₊ by the expected shortfall of S, in balls
(docs/proofs.md, section 30).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from symacct.analysis.laplace_sums import Bent, LaplaceRatio, Straight
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import up_to
from symacct.profile.losses.allocated import AllocationLoss
from symacct.profile.part import Floats
from symacct.profile.written_laws import Write, WrittenLaws, allocated, laplaces

_GUARD, _LEAST = 32, 10  # bits of those asked for that are not needed, and those that are
_SPARE, _ATTEMPTS = 3.0, 6  # nats
_NATS = 2.0  # for each bit: what is smaller is told with more bits only
_TRIED = (
    (500, 100),
    (5000, 500),
    (20_000, 3000),
)  # nodes of a line, ratios that may be the largest on the other
_ORDERS = 1 + np.geomspace(1e-3, 1e6, 200)
_WIDE, _ROUNDED = 1.0, 4.0  # of log S's deviation, and nats: what shares a line
_SMALL = 1e-9


@dataclass(frozen=True)
class AllocatedLaplace(AllocationLoss):
    """`shift` = Δ/b > 0 of a run, and t = `steps` > 1."""

    shift: Exact
    steps: int

    has_an_end = True
    is_costly = True

    def in_latex(self, write: Write) -> WrittenLaws:
        return allocated(*laplaces(self.shift, write), self.steps)

    # --- float64: where to look

    @property
    def spread(self) -> float:
        s = float(self.shift)
        variance = (2 * math.expm1(s) + math.expm1(-2 * s)) / 3
        return math.log1p(variance / self.steps)

    def log_moments(self, z: Floats) -> Floats:
        """As if S were lognormal, or one W all of it; never beyond W's own."""
        even, told = z * (z - 1) / 2 * self.spread, self._told(z)
        jump = np.where(z > 1, told - (z - 1) * math.log(self.steps), -np.inf)
        outside = np.minimum(np.logaddexp(even, jump), told)
        return np.asarray(np.where((z > 0) & (z < 1), np.maximum(even, told), outside))

    def _told(self, z: Floats) -> Floats:
        """log E[W^z]."""
        s = float(self.shift)
        x = np.maximum(np.abs(2 * z - 1) * s / 2, _SMALL)
        fallen = -np.expm1(-2 * x)
        return np.asarray(x - s / 2 + np.log1p(-fallen / 2 + s * fallen / (4 * x)))

    def _log_about(self, y: float, reverse: bool) -> float:
        """At least about log D(y), by the best moment."""
        log_moments = self.log_moments(1 - _ORDERS if reverse else _ORDERS)
        above = _ORDERS - 1
        kernel = above * np.log(above) - _ORDERS * np.log(_ORDERS)
        return min(float((log_moments - above * y + kernel).min()), 0.0)

    # --- balls: what is proved

    @cached_property
    def ratio(self) -> LaplaceRatio:
        """The law of W."""
        return LaplaceRatio(self.shift)

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """NaN where more bits are needed."""
        wanted, floor = max(ctx.prec - _GUARD, _LEAST), -_NATS * ctx.prec
        log_delta, before = self._log_about(float(y.mid()), reverse), -math.inf
        for _ in range(_ATTEMPTS):
            log_delta = max(log_delta, floor)
            value = self._within(y, reverse, log_delta, wanted)
            told = value.rel_accuracy_bits()
            if told >= wanted or told <= before or log_delta == floor:
                break
            before = told
            log_delta = min(log_delta, float(abs(value).upper().log())) - _SPARE
        return value

    def _within(self, y: arb, reverse: bool, log_delta: float, wanted: int) -> arb:
        """D(y) of about e^{log_delta} to so many bits."""
        t, about = self.steps, float(y.mid())
        log_error = log_delta - wanted * math.log(2) - _SPARE + math.log(t)
        lost = math.ceil(max(abs(about) - log_delta, 0.0) / math.log(2))
        with ctx.workprec(ctx.prec + lost):
            if reverse:
                a = y.exp()
                value = a * self._shortfall(t / a, log_error - about) / t
            else:
                value = (self._shortfall(t * y.exp(), log_error) - t * y.expm1()) / t
        return +value

    def _shortfall(self, place: arb, log_error: float) -> arb:
        """E(K − S)₊ to an error of about e^{log_error}."""
        t, ratio = self.steps, self.ratio
        low, high = place - t * ratio.low, t * ratio.high - place
        least = arb(log_error).exp()
        if not low > least:
            return up_to(low.max(arb(0)))
        if not high > least:
            return place - t + up_to(high.max(arb(0)))
        found = self._way(place.mid(), log_error).value(place)
        trivial = up_to(low)
        return trivial if found.rad() > trivial.rad() else found

    def _way(self, place: arb, log_error: float) -> Straight | Bent:
        rounded = _ROUNDED * (
            math.floor(log_error / _ROUNDED) - 1
        )  # less what a place far off loses
        straight = _laid(self, self._cell(place), rounded)
        if straight.real * abs(float(place - straight.place)) > _ROUNDED:
            straight = Straight(self.ratio, self.steps, place, log_error)
        bent = Bent(self.ratio, self.steps, place, log_error)
        for nodes, ends in _TRIED:
            if straight.cost <= nodes:
                return straight
            if bent.ends <= ends:
                return bent
        raise PrecisionError(
            f"random allocation of {self.steps} runs at b/Δ = {1 / float(self.shift):.4g}: "
            "found its profile too long a sum, needed fewer digits, or fewer runs"
        )

    def _cell(self, place: arb) -> int:
        """Places that share a line: their logarithms are about so many deviations."""
        return round(math.log(float(place) / self.steps) / (_WIDE * math.sqrt(self.spread)))

    def largest(self, reverse: bool) -> arb:
        """s, either way round: where all runs have the largest ratio, or all the least."""
        return BALL.number(self.shift)

    def exact_largest(self, reverse: bool) -> Exact | None:
        return self.shift


@lru_cache(64)
def _laid(part: AllocatedLaplace, cell: int, log_error: float) -> Straight:
    """The line for all places of a cell."""
    place = part.steps * math.exp(cell * _WIDE * math.sqrt(part.spread))
    return Straight(part.ratio, part.steps, arb(place), log_error)
