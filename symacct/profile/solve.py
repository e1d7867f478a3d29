"""δ(ε) and ε(δ) of one direction of a composition of known pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from symacct.errors import PrecisionError
from symacct.profile.contour import Contour
from symacct.profile.part import Line, Part
from symacct.profile.plan import plan, renyi_epsilon, renyi_log_delta, saddle, shape
from symacct.sums.refine import ball

_ATTEMPTS = 8
_NEWTON_STEPS = 40
_WIDENINGS = 12
_STEER_DIGITS = 2.0
_KEPT = 8  # contours; a second question often finds its nodes in the first

Runs = tuple[tuple[Part, int], ...]


@dataclass
class Direction:
    """The pairs (P_i, Q_i)^{k_i}, or all of them exchanged; contours it has summed before."""

    runs: Runs
    reverse: bool
    contours: list[Contour] = field(default_factory=list)

    @property
    def largest(self) -> arb:
        """The largest finite loss."""
        return sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))

    @property
    def lost(self) -> arb:
        """P(L = ∞) = 1 − Π (1 − d_i)^{k_i}."""
        kept = sum((k * (-part.lost(self.reverse)).log1p() for part, k in self.runs), arb(0))
        return -kept.expm1()

    def order(self, y: Callable[[], arb]) -> float:
        """1 + c for the c at which e^{−cy}M(c) is about least: the order a Rényi bound would use."""
        return 1 + saddle(self.runs, self.reverse, _middle(y)) if self.runs else math.inf

    # --- δ(ε)

    def delta(self, y: Callable[[], arb], digits: float) -> arb:
        """D(y) to `digits` digits; y is given as a ball at flint's current precision.

        Raises PrecisionError where they can't be had.
        """
        at, log_delta, wanted = _middle(y), None, digits
        for _ in range(_ATTEMPTS):
            value = self._delta(y, at, log_delta, wanted)
            if value.is_exact() or _digits(value) >= digits:
                return value
            if value > 0:
                log_delta = float(value.log().mid())
            wanted += 2 + max(0.0, digits - max(_digits(value), 0.0))
        raise _undecided(f"δ at ε = {at:.6g}", digits)

    def _delta(
        self, y: Callable[[], arb], at: float, log_delta: float | None, digits: float
    ) -> arb:
        with ctx.workprec(_bits(digits) + _extra_bits(log_delta)):
            if (exact := self._closed(y())) is not None:
                return exact
        for known in self.contours:
            with ctx.workprec(known.plan.bits):
                value = self.lost + known.delta(y())
            if _digits(value) >= digits:
                return value
        if log_delta is None:
            log_delta = renyi_log_delta(self.runs, self.reverse, at)
        contour = self._contour(at, log_delta, digits)
        with ctx.workprec(contour.plan.bits):
            return self.lost + contour.delta(y())

    def _closed(self, y: arb) -> arb | None:
        """D(y) where it has a closed form: no run, one run, or more than any loss."""
        if not self.runs:
            return arb(0)
        if y >= self.largest:
            return self.lost
        if self._is_closed:
            part = self.runs[0][0]
            if not self.reverse:
                return part.hockey_stick(y)
            return y.exp() * part.hockey_stick(-y) - y.expm1()
        return None

    def _contour(self, at: float, log_delta: float, digits: float) -> Contour:
        found = shape(self.runs, self.reverse, at)
        made = Contour(self.runs, plan(found, at, log_delta, digits), self.reverse)
        self.contours.insert(0, made)
        del self.contours[_KEPT:]
        return made

    # --- ε(δ)

    def epsilon(self, delta: Fraction, digits: float) -> arb:
        """The ε >= 0 with D(ε) = δ, proved by values on both sides; 0 where D(0) <= δ."""
        if self.is_within(arb, delta):
            return arb(0)
        at = self.steer_epsilon(delta)
        wanted = digits + 2
        for _ in range(_ATTEMPTS):
            found = self._enclosed(at, delta, wanted)
            if found is not None and (_digits(found) >= digits or found == 0):
                return found
            wanted += 4
        raise _undecided(f"ε at δ = {float(delta):.6g}", digits)

    def is_within(self, y: Callable[[], arb], delta: Fraction) -> bool:
        """Is D(y) <= δ? PrecisionError where balls can't decide it."""
        at, log_delta = _middle(y), math.log(delta) if delta else None
        for wanted in (3.0, 12.0, 40.0):
            value = self._delta(y, at, log_delta, wanted)
            with ctx.workprec(_bits(wanted) + 64):
                if value <= ball(delta) or value > ball(delta):
                    return bool(value <= ball(delta))
        raise _undecided(f"whether the profile at {at:.6g} is at most δ = {float(delta):.6g}", 40)

    def _enclosed(self, at: float, delta: Fraction, digits: float) -> arb | None:
        """An enclosure of the root next to `at`: D is above δ on its left end, below on its right."""
        log_delta = math.log(delta)
        closed = self._is_closed
        contour = None if closed else self._near(at, log_delta, digits)
        with ctx.workprec(_bits(digits) + 64 if contour is None else contour.plan.bits):
            lost, goal = self.lost, ball(delta)
            value = self._closed if contour is None else lambda y: lost + contour.delta(y)
            y, width = _root(value, goal, arb(at))
            for _ in range(_WIDENINGS):
                low, high = y - width, y + width
                if value(low) > goal and value(high) < goal:
                    return low.max(arb(0)).union(high)
                width *= 8
        return None

    @property
    def _is_closed(self) -> bool:
        return not self.runs or (len(self.runs) == 1 and self.runs[0][1] == 1)

    def _near(self, at: float, log_delta: float, digits: float) -> Contour:
        """A contour that may give D next to `at` to so many digits: a known one, or a new one."""
        for known in self.contours:
            with ctx.workprec(known.plan.bits):
                value = known.delta(arb(at))
            if _digits(value) >= digits:
                return known
        return self._contour(at, log_delta, digits)

    # --- about where the root is, in float64

    def steer_epsilon(self, delta: Fraction) -> float:
        """About the ε with D(ε) = δ > D(largest)."""
        if self._is_closed:
            return self._by_bisection(delta)
        log_delta = math.log(delta)
        y = renyi_epsilon(self.runs, self.reverse, log_delta)
        for _ in range(_ATTEMPTS):
            old, y = y, self._newton(y, log_delta)
            if abs(y - old) <= 1e-4 * abs(old):
                break
        return y

    def _newton(self, y: float, log_delta: float) -> float:
        """Newton steps for log D(y) = log δ on one set of nodes, while they are any good."""
        lost = float(self.lost.mid())
        guess = renyi_log_delta(self.runs, self.reverse, y)
        chosen = plan(shape(self.runs, self.reverse, y), y, guess, _STEER_DIGITS)
        order = -chosen.c if self.reverse else 1 + chosen.c
        line = Line(order, chosen.h, chosen.last)
        log_moment = sum(k * np.log(part.values(line)) for part, k in self.runs)
        s = chosen.c + 1j * chosen.h * np.arange(chosen.last + 1)
        log_term = (log_moment.conj() if self.reverse else log_moment) - np.log(s * (s + 1))
        share = np.full(chosen.last + 1, chosen.h / math.pi)
        share[0] /= 2
        for _ in range(_NEWTON_STEPS):
            terms = np.exp(log_term - s * y) * share
            value, slope = lost + terms.real.sum(), -(terms * s).real.sum()
            if not value > 0 or not slope < 0:
                return y * 0.9
            step = (math.log(value) - log_delta) * value / slope
            step = max(-0.3 * y, min(0.3 * y, step))
            y -= step
            if abs(step) <= 1e-9 * y:
                break
        return y

    def _by_bisection(self, delta: Fraction) -> float:
        """The root of a closed form, by doubling and halving."""
        with ctx.workprec(128):
            goal, low, high = ball(delta), arb(0), arb(1)
            while self._closed(high).mid() > goal:
                low, high = high, 2 * high
            for _ in range(80):
                middle = ((low + high) / 2).mid()
                if self._closed(middle).mid() > goal:
                    low = middle
                else:
                    high = middle
            return float(high)


def _root(value: Callable[[arb], arb], goal: arb, start: arb) -> tuple[arb, arb]:
    """About where value(y) = goal by secants of its logarithm, and how far off that may be."""

    def height(y: arb) -> arb:
        return (value(y) / goal).log()

    before, y = start.mid(), (start * (1 + arb(2) ** -20)).mid()
    old, new = height(before), height(y)
    slope = arb(-1)
    for _ in range(_NEWTON_STEPS):
        if not (new - old).mid() != 0 or not (y - before) != 0:
            break
        slope = ((new - old) / (y - before)).mid()
        step = (new / slope).mid()
        if not step.is_finite():
            break
        before, y, old = y, (y - step).mid(), new
        new = height(y)
        if not abs(step) > abs(new.rad() / slope) * 2 or abs(step) <= abs(y) * arb(2) ** (
            -ctx.prec + 8
        ):
            break
    return y, abs(new / slope).upper() * 2 + abs(y) * arb(2) ** (8 - ctx.prec)


def _middle(y: Callable[[], arb]) -> float:
    with ctx.workprec(64):
        return float(y().mid())


def _bits(digits: float) -> int:
    return math.ceil(digits * 3.33) + 64


def _extra_bits(log_delta: float | None) -> int:
    """Bits that a closed form may lose to cancellation where δ is small."""
    return 0 if log_delta is None else math.ceil(max(0.0, -log_delta) * 3)


def _digits(x: arb) -> float:
    """The significant digits that both ends share."""
    return x.rel_accuracy_bits() / 3.3219281 if x.is_finite() else -math.inf


def _undecided(what: str, digits: float) -> PrecisionError:
    return PrecisionError(
        f"{what}: {digits:.0f} digits not reached on the exact profile; ask for fewer, "
        "or for conversion='improved'"
    )
