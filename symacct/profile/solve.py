"""δ(ε) and ε(δ) of one direction of a composition of known pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeVar

from flint import arb, ctx

from symacct.core.errors import InfiniteError, LimitError, PrecisionError
from symacct.core.forking import cached_property
from symacct.numerics.sums.refine import ball
from symacct.profile.accuracy import (
    about,
    accuracy,
    bits_for,
    decided,
    log_of,
    precisions,
    to_digits,
    undecided,
)
from symacct.profile.closed_form.beside import Others
from symacct.profile.closed_form.dispatch import (
    apart,
    are_few,
    chance_lost,
    closed_form,
    exactly_apart,
    exactly_lost,
    given,
)
from symacct.profile.discretized.grid import Grids
from symacct.profile.discretized.lattice import LossLattices
from symacct.profile.fourier.across import Across, contour, planned
from symacct.profile.fourier.contour import Contour, log_chernoff
from symacct.profile.fourier.shape import Moments, shift
from symacct.profile.fourier.starting import about_root, closed_root, next_guess, other_roots
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.part import Part
from symacct.profile.roots import Value, convex_root

_ATTEMPTS, _SOON = 8, 20_000  # nodes
_FEW_DIGITS = 5.0  # of a root's place that D's fall is counted on for
_RIGHT = 1 + 2.0**-44  # of y: beyond what float64 leaves
_KEPT_NODES = 200_000  # of all contours of a direction: a second question often finds its nodes
_TOGETHER = 50  # runs of densities, below which finite laws beside them are not asked one by one
_EITHER_WAY = 200  # runs, below which both a contour and a grid may do
_FEW_RUNS = 8  # below which a grid mostly gives few digits sooner
_OF_A_GRID = 6.0  # digits
_TELLING = 3.0  # digits, which mostly decide whether D is within a bound

Runs = tuple[tuple[Part, int], ...]
T = TypeVar("T")


@dataclass
class CompositionProfile:
    """The pairs (P_i, Q_i)^{k_i}, or all of them exchanged; contours it has summed before."""

    runs: Runs
    reverse: bool
    contours: list[Contour] = field(default_factory=list)
    bounds: dict[float, arb] = field(default_factory=dict)
    exchanged: CompositionProfile | None = None  # the other one of the same runs, asked before
    is_first: bool = False  # of two
    together: bool = False  # finite parts with the others, none given
    hurried: bool = False  # only by contours of few nodes

    @cached_property
    def moments(self) -> Moments:
        """At real orders, in float64."""
        return Moments(self.runs, self.reverse)

    @property
    def closed(self) -> Value | None:
        """D(y) where it has a closed form or is a finite sum."""
        if self._given is None:
            return self._closed_form
        return None if self.together else self._given

    @cached_property
    def _closed_form(self) -> Value | None:
        return closed_form(self.runs, self.reverse)

    @cached_property
    def _given(self) -> partial[arb] | None:
        """A sum over what few finite parts leave of the others."""
        finite, others = apart(self.runs)
        if not (finite and others and are_few(finite, others)) or self._is_for_a_grid:
            return None
        own, exchanged = (
            CompositionProfile(others, way) for way in (self.reverse, not self.reverse)
        )
        if own.is_all_atoms:
            return None
        return partial(given, finite, Others(own, exchanged), self.reverse)

    def _given_or_together(self, ask: Callable[[], T]) -> T:
        """What is asked, by that sum or by contours of all runs: first by what is soon had."""
        if self._given is None:
            return ask()
        is_soon = self._given.args[1].direction.closed is not None
        *first, last = [(True, True), (False, False), (True, False)][is_soon:]
        try:
            for self.together, self.hurried in first:
                with suppress(PrecisionError, LimitError):
                    return ask()
            self.together, self.hurried = last
            return ask()
        finally:
            self.hurried = False

    def _without_contour(self, y: arb) -> arb | None:
        """D(y) where no finite loss is above y, or where it has a closed form."""
        value = self._at_an_end(y)
        return self.closed(y) if value is None and self.closed is not None else value

    def easily(self, y: arb) -> arb:
        """D(y) without a contour, at flint's current precision; NaN where one is needed."""
        if (value := self._without_contour(y)) is not None:
            return value
        return self._by_one_moment(lambda: y, lambda: arb(2) ** (-2 * ctx.prec))

    @cached_property
    def grids(self) -> Grids:
        """Grids of losses for the same runs."""
        return Grids(self.runs, self.reverse)

    @cached_property
    def lattices(self) -> LossLattices:
        """Lattices of losses for the same runs."""
        return LossLattices(self.moments)

    @property
    def largest(self) -> arb:
        """The largest finite loss."""
        return sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))

    @cached_property
    def _about_largest(self) -> arb:
        """The largest loss to few digits."""
        with ctx.workprec(64):
            return self.largest

    @property
    def lost(self) -> arb:
        """P(L = ∞) = 1 − Π (1 − d_i)^{k_i}."""
        exact = self._exactly_lost
        return chance_lost(self.runs, self.reverse) if exact is None else ball(exact)

    @cached_property
    def _exactly_lost(self) -> Fraction | None:
        return exactly_lost(self.runs, self.reverse)

    def order(self, y: Callable[[], arb]) -> float:
        """1 + c of the nodes that were summed, or where e^{−cy}M(c) is about least."""
        if self.contours and not isinstance(self.contours[0], Across):
            return 1 + self.contours[0].plan.c
        middle = about(y)
        if (last := self.grids.last) is not None:
            return last.order(middle)
        is_inside = self.runs and middle < float(self.largest.mid()) * (1 - 1e-12)
        return 1 + shift(self.moments.saddle(middle)) if is_inside else math.inf

    # --- δ(ε)

    def delta(self, y: Callable[[], arb], digits: float) -> arb:
        """D(y) to `digits` digits; y is given as a ball at flint's current precision.

        Raises PrecisionError where they can't be had.
        """
        return self._given_or_together(lambda: self._delta(y, digits))

    def _delta(self, y: Callable[[], arb], digits: float) -> arb:
        for bits in precisions(digits):
            with ctx.workprec(bits):
                value = self._without_contour(y())
            if value is None:
                return self._either(
                    lambda: self.by_contour(y, digits),
                    lambda losses: losses.delta(y, digits),
                    digits,
                )
            with ctx.workprec(bits):
                at = y()
                is_last = not at < self._about_largest and self.largest.overlaps(at)
            if is_last or value.is_exact() or accuracy(value) >= digits:
                return value
        raise undecided(f"δ at ε = {about(y):.6g}", digits)

    def _either(
        self,
        by_contour: Callable[[], T],
        on: Callable[[Grids | LossLattices], T],
        digits: float = 0,
    ) -> T:
        """By a contour or, where moments hardly fall, on a grid; the other where that fails.

        A lattice first, where cheap; of few densities or of atoms the grid's error, which tells it.
        """
        if self.lattices.are_cheap(digits):
            with suppress(PrecisionError, LimitError):
                return on(self.lattices)
        if self.closed is not None or not self._hardly_fall:
            return by_contour()
        count, ways = self.grids.count, {True: lambda: on(self.grids), False: by_contour}
        is_few = self._densities > 0 and count < _FEW_RUNS
        first = is_few and digits < _OF_A_GRID
        refused: dict[bool, Exception] = {}
        for way in (first, not first) if count < _EITHER_WAY or self.is_all_atoms else (first,):
            try:
                return ways[way]()
            except (PrecisionError, LimitError) as error:
                refused[way] = error
        raise refused[is_few or self.is_all_atoms]

    @property
    def _hardly_fall(self) -> bool:
        """May moments of some part not fall, or too slowly for a contour of few runs?"""
        return any(part.hardly_falls for part, _ in self.runs)

    @cached_property
    def _densities(self) -> int:
        """Of how many runs the losses have densities that are asked for point by point."""
        return sum(k for part, k in self.runs if isinstance(part, DensityLoss))

    @property
    def _is_for_a_grid(self) -> bool:
        """Would each question of a finite law need a contour of few runs of densities?"""
        return self._densities > 1 and self.grids.count < _TOGETHER and self.lost == 0

    @cached_property
    def is_all_atoms(self) -> bool:
        """Are the losses all atoms, and too many for a finite sum? No moment of them falls."""
        return self.closed is None and all(
            isinstance(part, Atoms | IntegerLoss) for part, _ in self.runs
        )

    def _at_an_end(self, y: arb) -> arb | None:
        """D(y) where no finite loss is above y, as far as balls tell."""
        if y < self._about_largest:
            return None
        left = self.largest - y
        if left > 0 and self.runs:
            return None
        return self.lost + arb(0).union(left.upper().max(arb(0)))  # for −D′ <= 1

    def by_contour(self, y: Callable[[], arb], digits: float) -> arb:
        at = about(y)
        for known in self._known(digits, at):
            value = self._summed(known, y)
            if accuracy(value) >= digits:
                return value
        log_delta, wanted = self.moments.log_delta(at), digits
        for _ in range(_ATTEMPTS):
            value = self._new(at, log_delta, wanted, lambda made: self._summed(made, y))
            if accuracy(value) >= digits:
                return value
            log_delta = next_guess(self, at, log_delta, value)
            if value > 0 or not value.is_finite():
                wanted += 2 + max(0.0, digits - max(accuracy(value), 0.0))
        raise undecided(f"δ at ε = {at:.6g}", digits)

    def _known(self, digits: float, at: float | None = None) -> Iterator[Contour]:
        """The contours that were made for so many digits, those next to a place first.

        After the first time they are asked by `again`.
        """
        made = self.contours if at is None else sorted(self.contours, key=lambda x: abs(x.at - at))
        for known in tuple(made):
            if known.plan.need > digits * math.log(10):
                self.contours = [x.again if x is known else x for x in self.contours]
                yield known

    def _summed(self, contour: Contour, y: Callable[[], arb]) -> arb:
        with ctx.workprec(contour.plan.bits):
            return self.lost + contour.delta(y())

    def _new(self, at: float, log_delta: float, digits: float, use: Callable[[Contour], T]) -> T:
        """What a new contour gives, which is then kept."""
        moments, chosen = planned(self.moments, at, log_delta, digits, self.is_first)
        if self.hurried and (chosen.taper is not None or chosen.last > _SOON):
            raise LimitError(f"found {chosen.last} nodes, needed {_SOON}")  # and caught
        made = contour(moments, chosen, at, self.moments)
        found = use(made)
        self.contours.insert(0, made)
        while sum(known.plan.last for known in self.contours[:-1]) > _KEPT_NODES:
            del self.contours[-1]
        return found

    # --- ε(δ)

    def refuse_lost(self, delta: Fraction) -> None:
        """InfiniteError where no finite ε goes with δ."""
        if delta == 0 and self.lost == 0 and not self._about_largest.is_finite() and self.runs:
            raise InfiniteError(
                "delta: found 0, needed delta > 0, for the privacy loss has no largest value"
            )
        if self._exactly_lost is None or self._exactly_lost > delta:
            for bits in precisions(20):
                with ctx.workprec(bits):
                    if self.lost > ball(delta):
                        raise InfiniteError(
                            f"delta: found {float(delta):.6g}, needed at least "
                            f"{float(self.lost.upper()):.6g}, the probability of what only one of "
                            "two neighbouring datasets can give"
                        )
                    if self.lost < ball(delta):
                        return

    def epsilon(self, delta: Fraction, digits: float) -> arb:
        """The least ε >= 0 with D(ε) <= δ, proved by values on both sides; 0 where D(0) <= δ."""
        if (apart_by := exactly_apart(self.runs)) is not None and apart_by <= delta:
            return arb(0)
        within = False if self._is_above_at_0(delta) else self.is_within(arb, lambda: ball(delta))
        if within is None:
            raise undecided(f"whether the profile at 0 is at most δ = {float(delta):.6g}", 40)
        if within:
            return arb(0)
        if delta == self._exactly_lost:
            return to_digits(lambda: self.largest, digits, "the largest loss")
        return self._given_or_together(lambda: self._epsilon(delta, digits))

    def _epsilon(self, delta: Fraction, digits: float) -> arb:
        found = (
            closed_root(self, bool(self._densities), delta, digits)
            if self.closed
            else self._either(
                lambda: self._root(delta, digits),
                lambda losses: losses.root(delta, digits, self._at_an_end),
                digits,
            )
        )
        if found is None:
            raise undecided(f"ε at δ = {float(delta):.6g}", digits)
        return found

    def _is_above_at_0(self, delta: Fraction) -> bool:
        """Is D(0) > δ for one run of one part? So it is then for all."""
        with ctx.workprec(64):
            ones = (part.hockey_stick(arb(0), self.reverse) for part, _ in self.runs)
            return any(one > ball(delta) for one in ones)

    def is_within(self, y: Callable[[], arb], bound: Callable[[], arb]) -> bool | None:
        """Is D(y) <= the bound? None where balls can't decide it."""
        with ctx.workprec(bits_for(0)):
            beyond = self._at_an_end(y())
            if beyond is not None and beyond <= bound():
                return True
            if not bound() > 0 and self.closed is None:
                return None  # no sum is known to be 0
        return self._either(
            lambda: self._is_within_by_contour(y, bound), lambda losses: losses.is_within(y, bound)
        )

    def _is_within_by_contour(self, y: Callable[[], arb], bound: Callable[[], arb]) -> bool | None:
        for wanted in (0.0, 3.0, 12.0, 40.0):
            try:
                value = self.roughly(y, bound, wanted)
            except (PrecisionError, LimitError):
                if wanted <= _TELLING:
                    raise
                return None  # of what hardly falls few digits are soon had, and many never
            with ctx.workprec(bits_for(wanted) + 64):
                told = decided(value, most := bound())
            if told is not None or accuracy(value) > accuracy(most):
                return told  # of a bound that is as wide no more digits can tell
        return None

    def roughly(self, y: Callable[[], arb], bound: Callable[[], arb], digits: float) -> arb:
        """D(y), to so many digits of the bound; with none wanted, by one moment."""
        with ctx.workprec(bits_for(digits) + 64):
            value = self._without_contour(y())
            if value is not None:
                return value
        asked, most = (self._summed(known, y) for known in self._known(digits)), bound()
        for value in itertools.chain(asked, self._across(y) if not digits else ()):
            if decided(value, most) is not None:
                return value
        if not digits:
            return self._by_one_moment(y, bound)
        return self._new(about(y), log_of(bound), digits, lambda made: self._summed(made, y))

    def _across(self, y: Callable[[], arb]) -> Iterator[arb]:
        """D(y) = 1 − e^y + e^y D′(−y) by the contours that the pairs exchanged have summed."""
        if (first := self.exchanged) is not None:
            for known in first.contours:
                with ctx.workprec(known.plan.bits):
                    yield y().exp() * first._summed(known, lambda: -y()) - y().expm1()

    def _by_one_moment(self, y: Callable[[], arb], bound: Callable[[], arb]) -> arb:
        """[0, d + C(λ)M(λ)e^{−λy}] for a λ that makes it small; NaN if not below the bound."""
        lam = self.moments.least_shift(about(y), log_of(bound))
        if lam is None:
            return arb.nan()
        if lam not in self.bounds:
            self.bounds = {lam: log_chernoff(self.moments.factors, lam, self.reverse)}
        return arb(0).union(self.lost + (self.bounds[lam] - arb(lam) * y()).exp())

    def _root(self, delta: Fraction, digits: float) -> arb | None:
        """By contours: one that is known, or a new one next to about where the root is."""
        for known in self._known(digits):
            found = self._on(known, delta)
            if found is not None and accuracy(found) >= digits:
                return found
        log_delta, at = log_of(lambda: ball(delta)), about_root(self, delta)
        # Where cy is 10, y is known to a digit more than D; chords want it to 1 at least.
        c = shift(self.moments.saddle(at))
        fewer = math.log10(min(max(c * at, 1.0), 10.0**_FEW_DIGITS))
        wanted = max(digits - fewer, 1 - math.log10(min(c, 1.0)))
        others = other_roots(self, delta)
        for _ in range(_ATTEMPTS):
            found = self._new(at, log_delta, wanted, lambda made: self._on(made, delta))
            if found is None:
                try:
                    at, wanted = next((y for y in others if y != at), at), wanted + 4
                except PrecisionError:  # of a δ, which nobody asked for
                    return None
                continue
            if accuracy(found) >= digits:
                return found
            wanted += 1 + digits - max(accuracy(found), 0.0)
            at = float(found.mid())
        return None

    def _on(self, contour: Contour, delta: Fraction) -> arb | None:
        """An enclosure of the root by one contour, or None."""
        with ctx.workprec(contour.plan.bits):
            lost, goal = self.lost, ball(delta)

            def value(y: arb) -> arb:
                return lost + contour.delta(y)

            start, slope = contour.rough.root(contour.at, float(goal.log()), float(lost))
            if slope < 0:
                return convex_root(value, goal, arb(start * _RIGHT), arb(slope))
            return convex_root(value, goal, arb(contour.at))  # too much cancels for float64
