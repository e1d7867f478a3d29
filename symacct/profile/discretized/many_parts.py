"""An upper bound of the profile of many different parts: one grid for all, made finer in time.

D is at most the profile of what is on the nodes, and what each law's profile falls short
(docs/proofs.md, section 45). Nothing is asked of each part beside all the others, as the grids do
that prove digits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball
from symacct.profile.accuracy import log_float_of
from symacct.profile.discretized.float_laws import laid
from symacct.profile.discretized.masses import Masses, Products
from symacct.profile.discretized.nodes import Nodes
from symacct.profile.float_laws import FloatLaw
from symacct.profile.roots import bracket, enclosed
from symacct.profile.runs import DirectedRuns

_LEFT_OUT = 2.0**-20  # of δ, for all that is left out
_SPARE_BITS = 20
_FIRST = 1  # steps of a deviation of all runs, times the root of their number
_FINER, _PASSES = (8, 4, 2), 6  # times; how often
_WORTH = 2e-4  # of what is found, which a grid half as fine is then off by
_SOME = 16  # runs, by which a deviation is told
_MOST_NODES = 2**19
_LOG_GUESS = -12.0  # of δ
_DEEPEST = 40.0  # −log of the least δ that is above what floats lose
_GROWN = 1 + 2.0**-20  # of masses that are rounded up in products
_ROUND = 1.25  # times as long as it is thought to take
_SHARE = 0.95  # of the time left


@dataclass(frozen=True, eq=False)
class UpperProfile:
    """All runs on nodes `step` apart, for a δ of about e^{log_delta}."""

    runs: DirectedRuns
    step: float
    log_delta: float

    @cached_property
    def bits(self) -> int:
        """Of masses, at most 2^{−bits} of which are rounded up at each node."""
        return _SPARE_BITS + math.ceil(self._nats / math.log(2))

    @cached_property
    def _nats(self) -> float:
        """−log of what one law or one product leaves out."""
        return math.log(4 * self.runs.count / _LEFT_OUT) - self.log_delta

    @cached_property
    def _laws(self) -> list[tuple[FloatLaw, int]]:
        rare = math.exp(-self._nats)
        found: list[tuple[FloatLaw, int]] = []
        for part, k in self.runs.runs:
            deadline.check()
            found += laid(part, k, self.runs.reverse, self.step, rare)
        return found

    @cached_property
    def _composed(self) -> tuple[Nodes, arb]:
        """The law of all runs on the nodes, and what D may be above its profile."""
        most = math.ceil(2.0**self.bits * math.exp(-self._nats))
        products = Products(
            self.bits, most, _MOST_NODES, "found too many nodes of a grid of losses"
        )
        every, first, short, mass = [], arb(0), arb(0), arb(1)
        for law, k in self._laws:
            deadline.check()
            rising = [int(x) for x in np.ceil(np.ldexp(law.masses, self.bits)).tolist()]
            every.append(products.power(Masses(0, rising, 0), k))
            first += k * law.first
            short += k * arb(law.short)
            mass *= (arb(sum(rising)) / arb(2) ** self.bits).max(arb(1)) ** k
        masses = products.of_many(every)
        nodes = Nodes(
            first + masses.first * arb(self.step), arb(self.step), masses.rising, self.bits
        )
        return nodes, mass * (short + _GROWN * arb(masses.cut) / arb(2) ** self.bits)

    def value(self, y: arb) -> arb:
        """An upper bound of D(y)."""
        nodes, short = self._composed
        return (nodes.profile(y) + short).min(arb(1))

    def root(self, delta: Fraction) -> arb:
        """An upper bound of the least y >= 0 with D(y) <= δ; ∞ where this proves none."""
        goal = ball(delta)
        if self.value(arb(0)) <= goal:
            return arb(0)
        found = bracket(self.value, goal)
        return arb("inf") if found is None else enclosed(self.value, goal, found).upper()


def epsilon_above(directions: list[DirectedRuns], delta: Fraction) -> arb:
    """An upper bound of the largest ε(δ) of some runs, as near as there is time for."""
    log_delta = log_float_of(lambda: ball(delta)) if delta else -math.inf
    if log_delta < -_DEEPEST:
        return arb("inf")
    return _nearer(directions, lambda _: log_delta, lambda one: one.root(delta))


def delta_above(directions: list[DirectedRuns], epsilon: Fraction) -> arb:
    """An upper bound of the largest δ(ε) of some runs, as near as there is time for.

    ∞ where a moment tells that it is below what floats lose.
    """
    if max(_log_delta_at_most(runs, float(epsilon)) for runs in directions) < -_DEEPEST:
        return arb("inf")

    def log_delta(known: arb) -> float:
        return max(float(known.log()), -_DEEPEST) if known < 1 else _LOG_GUESS

    return _nearer(directions, log_delta, lambda one: one.value(ball(epsilon)))


def _nearer(
    directions: list[DirectedRuns],
    log_delta: Callable[[arb], float],
    ask: Callable[[UpperProfile], arb],
) -> arb:
    """The largest that is asked of grids, that of the largest made finer while there is time.

    `log_delta` is about log δ, by what is known so far.
    """
    step = _first_step(directions)
    asked = [_Asked(runs, step, log_delta, ask) for runs in directions]
    for one in asked:
        one.ask_again(1)
    in_time = deadline.within(_SHARE * deadline.remaining())
    with suppress(deadline.OutOfTimeError, PrecisionError), in_time:
        for _ in range(_PASSES * len(asked)):
            largest = max(asked, key=lambda one: float(one.best))
            if (finer := largest.finer()) == 1:
                break
            largest.ask_again(finer)
    return BALL.maximum(*(one.best for one in asked))


@dataclass(eq=False)
class _Asked:
    """What is known of some runs: the best, on how fine a grid, and how long it took."""

    runs: DirectedRuns
    step: float
    log_delta: Callable[[arb], float]
    ask: Callable[[UpperProfile], arb]
    best: arb = field(default_factory=lambda: arb("inf"))
    gained: arb = field(default_factory=lambda: arb("inf"))
    took: float = 0.0
    took_before: float = 0.0

    def ask_again(self, finer: int) -> None:
        """Of a grid with a step so much shorter."""
        began, self.step = time.thread_time(), self.step / finer
        one = UpperProfile(self.runs, self.step, self.log_delta(self.best))
        with ctx.workprec(2 * one.bits + 64):
            found = self.ask(one)
        self.gained, self.best = self.best - found, self.best.min(found)
        self.took_before, self.took = self.took, time.thread_time() - began

    def finer(self) -> int:
        """How much finer a grid may be in the time left; 1 where it is not worth it.

        The time of a pass has a part for the runs alone, so the second one is just begun.
        """
        if not self.gained > _WORTH * self.best:
            return 1
        grown = max(self.took - self.took_before, 0.0) if self.took_before else 0.0
        fit = (n for n in _FINER if _ROUND * (self.took + n * grown) <= deadline.remaining())
        return next(fit, 1)


def _log_delta_at_most(runs: DirectedRuns, epsilon: float) -> float:
    """About what a moment proves; ∞ where none is had."""
    with suppress(PrecisionError, LimitError):
        return runs.moments.log_delta(epsilon)
    return math.inf


def _first_step(directions: list[DirectedRuns]) -> float:
    """A power of two: a spread loss is about as far off as a step, that of n runs √n times it.

    By the direction whose loss is spread the most: of another one no more is asked than that it is
    no larger, and where it is, its own grid is made finer.
    """
    steps = _FIRST * math.sqrt(max(runs.count for runs in directions))
    return 2.0 ** math.floor(math.log2(max(map(_deviation, directions)) / steps))


def _deviation(runs: DirectedRuns) -> float:
    """About that of the loss of all runs, by some of them; float64."""
    some = runs.runs[:: -(-len(runs.runs) // _SOME)]
    order = np.array([0.0 if runs.reverse else 1.0])
    variance = sum(k * float(part.float_moments(order)[1][0]) for part, k in some)
    scale = math.sqrt(variance * len(runs.runs) / len(some))
    return scale if 0 < scale < math.inf else 1.0
