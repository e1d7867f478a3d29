"""δ(ε) and ε(δ) by contours: where one is laid, and what is known by those that were summed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from flint import arb, ctx

from symacct.kernel.errors import PrecisionError
from symacct.kernel.sums.balls import ball, up_to
from symacct.profile.accuracy import (
    accuracy,
    bits_for,
    decided,
    decided_by_digits,
    float_of,
    log_float_of,
    undecided,
)
from symacct.profile.fourier.alternatives import ExchangedContour, contour, moments_and_plan
from symacct.profile.fourier.contour import Contour, log_chernoff
from symacct.profile.fourier.shape import shift
from symacct.profile.fourier.starting import about_log_delta, about_root, next_guess, other_roots
from symacct.profile.proofs import CONTOURS
from symacct.profile.roots import convex_root
from symacct.profile.runs import DirectedRuns
from symacct.profile.strategy import CANNOT, Number

_MANY_NODES = 200_000  # what contours of as many as are needed are taken to cost
_ATTEMPTS = 8
_FEW_DIGITS = 5.0  # of a root's place that D's fall is counted on for
_RIGHT = 1 + 2.0**-44  # of y: beyond what float64 leaves
_KEPT_NODES = 200_000  # of all contours of a direction: a second question often finds its nodes

T = TypeVar("T")


@dataclass(eq=False)
class Contours:
    """The contours that were laid for some runs, the last one first; new ones as they are needed.

    `exchanged` are those of the same pairs the other way round, where they were asked before, and
    `two_ways` says whether both ways are asked. Of new ones that take more than `most_nodes`, or
    tapered ones, none is laid where that is said.
    """

    proof = CONTOURS

    runs: DirectedRuns
    two_ways: bool = False
    exchanged: Contours | None = None
    most_nodes: float = math.inf
    known: list[Contour] = field(default_factory=list)
    _bounds: dict[float, arb] = field(default_factory=dict)

    def cost(self, digits: float) -> float:
        """As many nodes as may be summed, whatever the digits, where there are moments."""
        return min(self.most_nodes, _MANY_NODES) if self.runs.have_moments else CANNOT

    @property
    def order(self) -> float | None:
        """The order 1 + c of the nodes that were summed last."""
        plain = self.known and not isinstance(self.known[0], ExchangedContour)
        return 1 + self.known[0].plan.c if plain else None

    # --- δ(ε)

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to so many digits."""
        at = float_of(y)
        for known in self._known(digits, at):
            value = self._summed(known, y)
            if accuracy(value) >= digits:
                return value
        log_delta, wanted = about_log_delta(self.runs.moments, at), digits
        for _ in range(_ATTEMPTS):
            value = self._new(at, log_delta, wanted, lambda made: self._summed(made, y))
            if accuracy(value) >= digits:
                return value
            log_delta = next_guess(self.runs.moments, at, log_delta, value)
            if value > 0 or not value.is_finite():
                wanted += 2 + max(0.0, digits - max(accuracy(value), 0.0))
        raise undecided(f"δ at ε = {at:.6g}", digits)

    def _known(self, digits: float, at: float | None = None) -> Iterator[Contour]:
        """The contours that were made for so many digits, those next to a place first."""
        made = self.known if at is None else sorted(self.known, key=lambda x: abs(x.at - at))
        return (known for known in tuple(made) if known.plan.need > digits * math.log(10))

    def _summed(self, contour: Contour, y: Number) -> arb:
        with ctx.workprec(contour.plan.bits):
            return self.runs.mass_at_infinity + contour.delta(y())

    def _new(self, at: float, log_delta: float, digits: float, use: Callable[[Contour], T]) -> T:
        """What a new contour gives, which is then kept."""
        plain = self.runs.moments
        moments, chosen = moments_and_plan(plain, at, log_delta, digits, self.two_ways)
        if self.most_nodes < math.inf and (chosen.taper or chosen.last > self.most_nodes):
            raise PrecisionError(f"found {chosen.last} nodes, needed {self.most_nodes}")  # caught
        made = contour(moments, chosen, at, plain)
        found = use(made)
        self.known.insert(0, made)
        while sum(known.plan.last for known in self.known[:-1]) > _KEPT_NODES:
            del self.known[-1]
        return found

    # --- bounds of D(y)

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) <= the bound? By one moment and what is known before a new contour."""
        return decided_by_digits(lambda digits: self.roughly(y, bound, digits), bound)

    def roughly(self, y: Number, bound: Number, digits: float) -> arb:
        """D(y), to so many digits of the bound; with none wanted, by one moment."""
        with ctx.workprec(bits_for(digits)):
            value = self.runs.beyond_largest_loss(y())
            if value is not None:
                return value
        asked, most = (self._summed(known, y) for known in self._known(digits)), bound()
        for value in itertools.chain(asked, self._across(y) if not digits else ()):
            if decided(value, most) is not None:
                return value
        if not digits:
            return self.by_one_moment(y, bound)
        return self._new(
            float_of(y), log_float_of(bound), digits, lambda made: self._summed(made, y)
        )

    def _across(self, y: Number) -> Iterator[arb]:
        """D(y) = 1 − e^y + e^y D′(−y) by the contours that the pairs exchanged have summed."""
        if (first := self.exchanged) is not None:
            for known in first.known:
                with ctx.workprec(known.plan.bits):
                    yield y().exp() * first._summed(known, lambda: -y()) - y().expm1()

    def by_one_moment(self, y: Number, bound: Number) -> arb:
        """[0, d + C(λ)M(λ)e^{−λy}] for a λ that makes it small; NaN if not below the bound."""
        lam = self.runs.moments.least_shift(float_of(y), log_float_of(bound))
        if lam is None:
            return arb.nan()
        if lam not in self._bounds:
            most = log_chernoff(self.runs.moments.factors, lam, self.runs.reverse)
            self._bounds = {lam: most}
        return up_to(self.runs.mass_at_infinity + (self._bounds[lam] - arb(lam) * y()).exp())

    # --- ε(δ)

    def root(self, delta: Fraction, digits: float) -> arb:
        """By a contour that is known, or a new one next to about where the root is."""
        for known in self._known(digits):
            found = self._on(known, delta)
            if found is not None and accuracy(found) >= digits:
                return found
        log_delta = log_float_of(lambda: ball(delta))
        at = about_root(self.runs, self.roughly, delta)
        # Where cy is 10, y is known to a digit more than D; chords want it to 1 at least.
        c = shift(self.runs.moments.saddle(at))
        fewer = math.log10(min(max(c * at, 1.0), 10.0**_FEW_DIGITS))
        wanted = max(digits - fewer, 1 - math.log10(min(c, 1.0)))
        others = other_roots(self.runs, self.roughly, delta)
        for _ in range(_ATTEMPTS):
            found = self._new(at, log_delta, wanted, lambda made: self._on(made, delta))
            if found is None:
                try:
                    at, wanted = next((y for y in others if y != at), at), wanted + 4
                except PrecisionError:  # of a δ, which nobody asked for
                    break
                continue
            if accuracy(found) >= digits:
                return found
            wanted += 1 + digits - max(accuracy(found), 0.0)
            at = float(found.mid())
        raise undecided(f"ε at δ = {float(delta):.6g}", digits)

    def _on(self, contour: Contour, delta: Fraction) -> arb | None:
        """An enclosure of the root by one contour, or None."""
        with ctx.workprec(contour.plan.bits):
            lost, goal = self.runs.mass_at_infinity, ball(delta)

            def value(y: arb) -> arb:
                return lost + contour.delta(y)

            start, slope = contour.in_floats.root(contour.at, float(goal.log()), float(lost))
            if slope < 0:
                return convex_root(value, goal, arb(start * _RIGHT), arb(slope))
            return convex_root(value, goal, arb(contour.at))  # too much cancels for float64
