"""D(y) and its root for runs in one direction: by the cheapest strategy that can, then the next.

A closed form where there is one; else contours (`contours.py`), or grids of losses
(`grids.py`), or, beside few outcomes of finite parts, a sum over these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from flint import arb, ctx

from symacct.kernel.claims import Proof
from symacct.kernel.errors import PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball
from symacct.profile.closed_form import (
    ClosedForm,
    are_few,
    conditioned_profile,
    finite_and_others,
    proved_form,
)
from symacct.profile.contours import Contours
from symacct.profile.grids import Grids
from symacct.profile.moments import shift
from symacct.profile.part import Runs
from symacct.profile.proofs import AT_0, FINITE, LARGEST_LOSS
from symacct.profile.roots import accuracy, at_digits, bits_for, float_of, precisions, undecided
from symacct.profile.runs import DirectedRuns, Number, Strategy, by_the_cheapest

_FEW_NODES = 20_000  # that are summed in less than about a second
_TOGETHER = 50  # runs of densities, below which finite laws beside them are not asked one by one
_DIGIT, _SPARE_BITS = 3.33, 64  # bits of one, and those that a sum over outcomes has more
_LEAST = 3.0  # digits of what a sum over outcomes asks


@dataclass(eq=False)
class CompositionProfile:
    """The profile D of (P_i, Q_i)^{k_i}, or of all of them exchanged; what it asked before is kept.

    `first` is the same runs the other way round, where they are asked before; `two_ways` says
    whether both ways are asked.
    """

    pairs: Runs
    reverse: bool
    first: CompositionProfile | None = None
    two_ways: bool = False
    #: Where the last answer is proved.
    proof: Proof = LARGEST_LOSS

    @cached_property
    def runs(self) -> DirectedRuns:
        """The runs, and the ends of their loss."""
        return DirectedRuns(self.pairs, self.reverse)

    # --- the strategies

    @cached_property
    def strategies(self) -> list[Strategy]:
        """All that may do; a closed form alone, as nothing else tells more than its balls do."""
        if self.closed is not None:
            return [self.closed]
        found: list[Strategy] = [*self._given_finite, self.contours]
        if self.runs.are_atoms:
            found.append(self._few)
        if self.runs.decay_slowly:
            found.append(self.grids)
        return found

    @cached_property
    def closed(self) -> ClosedForm | None:
        """A closed form or a finite sum."""
        found = proved_form(self.pairs, self.reverse)
        return None if found is None else ClosedForm(self.runs, *found)

    @cached_property
    def contours(self) -> Contours:
        """The contours."""
        before = None if self.first is None else self.first.contours
        return Contours(self.runs, self.two_ways, before)

    @cached_property
    def grids(self) -> Grids:
        """The grids of losses."""
        return Grids(self.runs)

    @cached_property
    def _given_finite(self) -> list[Strategy]:
        """A sum over what few finite parts leave of the others, and contours that may be sooner."""
        if all(part.finite is None for part, _ in self.pairs) or self._is_for_a_grid:
            return []
        finite, others = finite_and_others(self.pairs)
        if not (others and are_few(finite, others)):
            return []
        ways = (self.reverse, not self.reverse)
        own, exchanged = (CompositionProfile(others, way) for way in ways)
        if own.closed is None and (own.runs.are_atoms or not own.runs.have_moments):
            return []
        formula = partial(
            conditioned_profile, finite, partial(_at_any, own, exchanged), self.reverse
        )
        if own.closed is not None:
            return [ClosedForm(self.runs, formula, FINITE)]
        return [self._few, ClosedForm(self.runs, formula, FINITE, _FEW_NODES + 1)]

    @cached_property
    def _few(self) -> Contours:
        """Contours of few nodes, which share those that are known."""
        return replace(self.contours, most_nodes=_FEW_NODES)

    @property
    def _is_for_a_grid(self) -> bool:
        """Would each question of a finite law need a contour of few runs of densities?"""
        return (
            self.runs.densities > 1
            and self.runs.count < _TOGETHER
            and bool(self.runs.mass_at_infinity == 0)
        )

    # --- the questions

    def order(self, y: Number) -> float:
        """1 + c of the nodes that were summed, or where e^{−cy}M(c) is about least."""
        middle = float_of(y)
        found = self.contours.order or self.grids.order(middle)
        if found is not None:
            return found
        is_inside = self.pairs and middle < float(self.runs.largest.mid()) * (1 - 1e-12)
        return 1 + shift(self.runs.moments.saddle(middle)) if is_inside else math.inf

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to `digits` digits.

        Raises PrecisionError or LimitError where they can't be had.
        """
        for bits in precisions(digits):
            with ctx.workprec(bits):
                at = y()
                end = self.runs.beyond_largest_loss(at)
                if end is None:
                    return self._proved(digits, lambda way: way.delta(y, digits))
                if end.is_exact() or accuracy(end) >= digits or self.runs.may_be_largest(at):
                    self.proof = LARGEST_LOSS
                    return end
        raise undecided(f"δ at ε = {float_of(y):.6g}", digits)

    def epsilon(self, delta: Fraction, digits: float) -> arb:
        """The least ε >= 0 with D(ε) <= δ, proved by values on both sides; 0 where D(0) <= δ."""
        self.proof = AT_0
        if (apart_by := self.runs.exact_total_variation) is not None and apart_by <= delta:
            return arb(0)
        is_above = self.runs.is_above_at_0(delta)
        within = self.is_within(arb, lambda: ball(delta)) if is_above is None else not is_above
        if within is None:
            raise undecided(f"whether the profile at 0 is at most δ = {float(delta):.6g}", 40)
        if within:
            return arb(0)
        if delta == self.runs.exact_mass_at_infinity:
            self.proof = LARGEST_LOSS
            return at_digits(lambda: self.runs.largest, digits, lambda: "the largest loss")
        return self._proved(digits, lambda way: way.root(delta, digits))

    def _proved(self, digits: float, ask: Callable[[Strategy], arb]) -> arb:
        """By the cheapest strategy that can, whose proof is noted."""

        def noted(way: Strategy) -> arb:
            found = ask(way)
            self.proof = way.proof
            return found

        return by_the_cheapest(self.strategies, digits, noted)

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) <= the bound? None where balls can't decide it."""
        with ctx.workprec(bits_for(0)):
            beyond = self.runs.beyond_largest_loss(y())
            if beyond is not None and beyond <= bound():
                return True
            if not bound() > 0 and self.closed is None:
                return None  # no sum is known to be 0
        return by_the_cheapest(self.strategies, 0, lambda way: way.is_within(y, bound))

    def value_without_contour(self, y: arb) -> arb:
        """D(y) without a contour, at flint's current precision; NaN where one is needed."""
        if self.closed is not None:
            return self.closed.value(y)
        end = self.runs.beyond_largest_loss(y)
        if end is not None:
            return end
        return self.contours.by_one_moment(lambda: y, lambda: arb(2) ** (-2 * ctx.prec))


# Proved in docs/proofs/pairs.md, Lemma reversal.
def _at_any(own: CompositionProfile, exchanged: CompositionProfile, y: arb) -> arb:
    """D(y) = 1 − e^y + e^y D′(−y) at any real y, or that it is tiny; NaN where bits are too few.

    By the pairs exchanged where that is sooner known, both before a contour: of all y that a sum
    asks, most lie far from where the loss mostly is.
    """
    value = own.value_without_contour(y)
    if not value.is_finite():
        value = y.exp() * exchanged.value_without_contour(-y) - y.expm1()
    if value.is_finite():
        return value
    with suppress(PrecisionError):
        return own.contours.delta(lambda: y, (ctx.prec - _SPARE_BITS) / _DIGIT + _LEAST)
    return arb.nan()
