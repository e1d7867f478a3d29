"""A composition's profile D(y) and its root come from the cheapest strategy that can answer.

That is a closed form where there is one; else contours (`contours.py`), or grids of losses
(`grids.py`), or, beside few outcomes of finite parts, a sum over these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import arb, ctx

from symacct.kernel.arithmetic.ball import accuracy, ball
from symacct.kernel.claims import Proof
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import LazyModule
from symacct.kernel.memory import cached_property
from symacct.profile.closed_form import (
    ClosedForm,
    are_few,
    conditioned_profile,
    finite_and_others,
    proved_form,
)
from symacct.profile.contours import Contours
from symacct.profile.part import Runs
from symacct.profile.proofs import AT_0, FINITE, LARGEST_LOSS
from symacct.profile.roots import at_digits, bits_for, float_of, precisions, undecided
from symacct.profile.runs import DirectedRuns, Number, Strategy, by_the_cheapest, shift

if TYPE_CHECKING:
    from symacct.profile import grids as loss_grids
else:  # which compositions of densities and sampled noise do not need
    loss_grids = LazyModule("symacct.profile.grids")

#: A contour of so many nodes is summed in less than about a second. It chooses the strategy that
#: takes the least time.
_FEW_NODES = 20_000
#: Beside fewer runs of densities than these, finite laws are laid on the grid with them. It chooses
#: the strategy that takes the least time.
_TOGETHER = 50
#: A decimal digit is so many bits, and a sum over outcomes has 64 bits more than its digits take.
#: Where they are too few, the ball is wider.
_DIGIT, _SPARE_BITS = 3.33, 64
#: At so many bits an ε that is not told from the largest loss is answered by an enclosure that
#: holds either way, of whatever digits. A largest loss of 1e-300 takes 1000 bits; more are spent on
#: no law that is met in practice. It costs time.
_TIE_BITS = 4096
#: A sum over outcomes asks values of so many digits more than its own. Where they are too few, the
#: ball is wider.
_SPARE_DIGITS = 3.0


@dataclass(eq=False)
class CompositionProfile:
    """The profile D of (P_i, Q_i)^{k_i}, or of all of them exchanged, keeps what it has summed.

    `first` is the profile of the same runs in the other direction, where that is asked before;
    `two_ways` says whether both directions are asked. y and ε are in nats, `digits` significant.
    """

    pairs: Runs
    reverse: bool
    first: CompositionProfile | None = None
    two_ways: bool = False
    #: What proves the last answer; another question changes it.
    proof: Proof = LARGEST_LOSS

    @cached_property
    def runs(self) -> DirectedRuns:
        """The runs, and the ends of their loss."""
        return DirectedRuns(self.pairs, self.reverse)

    # --- the strategies

    @cached_property
    def strategies(self) -> list[Strategy]:
        """List the strategies that may answer: a closed form alone, where there is one.

        No other strategy knows more of D than the balls of a closed form.
        """
        if self.closed is not None:
            return [self.closed]
        strategies: list[Strategy] = [*self._given_finite, self.contours]
        if self.runs.are_atoms:
            strategies.append(self._few)
        if self.runs.decay_slowly:
            strategies.append(self.grids)
        return strategies

    @cached_property
    def closed(self) -> ClosedForm | None:
        """Return the strategy of a closed form or a finite sum, if there is one."""
        form = proved_form(self.pairs, self.reverse)
        return None if form is None else ClosedForm(self.runs, *form)

    @cached_property
    def contours(self) -> Contours:
        """The contours, which know those of the other direction."""
        before = None if self.first is None else self.first.contours
        return Contours(self.runs, self.two_ways, before)

    @cached_property
    def grids(self) -> loss_grids.Grids:
        """The grids of losses."""
        return loss_grids.Grids(self.runs)

    @cached_property
    def _given_finite(self) -> list[Strategy]:
        """List strategies that sum the others' profile over the outcomes of few finite parts.

        Contours of few nodes come first where the others have no closed form. [] where there are no
        such parts, too many outcomes, or a grid is sooner.
        """
        if all(part.finite is None for part, _ in self.pairs) or self._is_for_a_grid:
            return []
        finite, others = finite_and_others(self.pairs)
        if not (others and are_few(finite, others)):
            return []
        ways = (self.reverse, not self.reverse)
        forward, exchanged = (CompositionProfile(others, way) for way in ways)
        if forward.closed is None and (forward.runs.are_atoms or not forward.runs.have_moments):
            return []
        formula = partial(
            conditioned_profile, finite, partial(_at_any, forward, exchanged), self.reverse
        )
        if forward.closed is not None:
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
        """Return the order 1 + c of the nodes that were summed; else estimate the saddle point's.

        It is ∞ where y is beyond the largest loss.
        """
        middle = float_of(y)
        order = self.contours.order
        if order is None and self.runs.decay_slowly:
            order = self.grids.order(middle)
        if order is not None:
            return order
        is_inside = self.pairs and middle < float(self.runs.largest.mid()) * (1 - 1e-12)
        return 1 + shift(self.runs.moments.saddle(middle)) if is_inside else math.inf

    def delta(self, y: Number, digits: float) -> arb:
        """Enclose D(y) to so many digits.

        At or beyond the largest loss it is P(L = ∞). PrecisionError or LimitError where no strategy
        reaches the digits.
        """
        for bits in precisions(digits):
            with ctx.workprec(bits):
                at = y()
                end = self.runs.beyond_largest_loss(at)
                if end is None:
                    return self._proved(digits, lambda way: way.delta(y, digits))
                is_tie = bits >= _TIE_BITS and end.is_finite() and self.runs.may_be_largest(at)
                if end.is_exact() or accuracy(end) >= digits or is_tie:
                    self.proof = LARGEST_LOSS
                    return end
        raise undecided(f"δ at ε = {float_of(y):.6g}", digits)

    def epsilon(self, delta: Fraction, digits: float) -> arb:
        """Compute the smallest ε >= 0 with D(ε) <= δ, proved by values on both sides.

        It is 0 where D(0) <= δ, and the largest loss where δ is just the mass P(L = ∞). δ is known
        not to be below that (`refuse_delta_below_mass_at_infinity`). PrecisionError or LimitError
        where no strategy reaches the digits.
        """
        self.proof = AT_0
        if (apart_by := self.runs.exact_total_variation) is not None and apart_by <= delta:
            return arb(0)
        # Where no finite loss is above 0, D(0) = P(L = ∞), which balls can't tell from an equal δ;
        # both directions have one D(0), the total variation.
        both_ways = self.runs, DirectedRuns(self.pairs, not self.reverse)
        if any(delta == way.exact_mass_at_infinity and way.largest <= 0 for way in both_ways):
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
        """Ask the cheapest strategy that can answer, and note where its answer is proved."""
        value, strategy = by_the_cheapest(self.strategies, digits, ask)
        self.proof = strategy.proof
        return value

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Decide whether D(y) is at most the bound; None where balls can't.

        PrecisionError or LimitError where every strategy refuses.
        """
        with ctx.workprec(bits_for(0)):
            beyond = self.runs.beyond_largest_loss(y())
            if beyond is not None and beyond <= bound():
                return True
            if not bound() > 0 and self.closed is None:
                return None  # no sum is known to be 0
        return by_the_cheapest(self.strategies, 0, lambda way: way.is_within(y, bound))[0]

    def value_without_contour(self, y: arb) -> arb:
        """Compute D(y) without a contour, at flint's current precision; NaN where one is needed."""
        if self.closed is not None:
            return self.closed.value(y)
        end = self.runs.beyond_largest_loss(y)
        if end is not None:
            return end
        return self.contours.moment_bound(lambda: y, lambda: arb(2) ** (-2 * ctx.prec))


# Proved in docs/proofs/pairs.md, Lemma reversal.
def _at_any(forward: CompositionProfile, exchanged: CompositionProfile, y: arb) -> arb:
    """Compute D(y) at any real y, by D(y) = 1 − e^y + e^y D′(−y) where that is sooner known.

    D′ is the profile of the exchanged pairs. Both are tried before a contour: of all y that a sum
    over outcomes asks, most lie far from where the loss mostly is. NaN where bits are too few.
    """
    value = forward.value_without_contour(y)
    if not value.is_finite():
        value = y.exp() * exchanged.value_without_contour(-y) - y.expm1()
    if value.is_finite():
        return value
    with suppress(PrecisionError):
        return forward.contours.delta(lambda: y, (ctx.prec - _SPARE_BITS) / _DIGIT + _SPARE_DIGITS)
    return arb.nan()
