"""An (ε, δ) question about what may fail: δ without the failures, asked of what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import doubled, ends_of, precision, rational
from symacct.core.claims import Claim, Kind, Proof
from symacct.core.errors import InfiniteError, PrecisionError
from symacct.core.sources import SYMACCT
from symacct.expressions.bounded import bits
from symacct.expressions.node import Node
from symacct.operations.failures import Failures, failures
from symacct.rdp.question import EpsilonDelta
from symacct.results.enclosure import Enclosure, Guarantee, from_ball, to_ball, to_fraction
from symacct.results.precision import first_bits
from symacct.results.rounding import given, rational_text

_PROOF = Proof("FAILING", SYMACCT.at("docs/proofs.md, section 43"))
_ASKED_BITS = 512  # of a δ that is asked as it is: a longer one is rounded, to either side
_GUARD_BITS = 64  # of a δ that is rounded, beyond the digits asked


class MayFail(Failures):
    """An expression that fails with probability 1 − Π(1−δ_i)^k_i and otherwise is `rest`."""

    def fails(self) -> arb:
        """1 − Π(1−δ_i)^k_i, in balls at flint's current precision."""
        logs = (count * (-BALL.number(delta)).log1p() for delta, count in self.parts)
        return -sum(logs, arb(0)).expm1()

    def left_of(self, delta: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        """1 − (1−δ)/Π(1−δ_i)^k_i, rounded down and up; InfiniteError where it is below 0."""
        enough = first_bits(digits) + _GUARD_BITS
        kept = self.kept
        if kept is not None:
            left = 1 - (1 - delta) / kept
            if left < 0:
                raise self._below(delta)
            if bits(left) <= _ASKED_BITS:
                return left, left
        for working in doubled(2 * enough):
            with precision(working):
                fails = self.fails()
                ball = (BALL.number(delta) - fails) / (1 - fails)
                if kept is not None:
                    ball = BALL.number(left)
                if ball < 0:
                    raise self._below(delta)
                if ball > 0 and ball.rel_accuracy_bits() >= enough:
                    low, high = map(rational, ends_of(ball))
                    return low, high
        raise PrecisionError(
            f"delta: found {given(delta)}, needed one that can be told from {self.least}, the "
            "probability of outcomes that only one of two neighbouring datasets can give"
        )

    def with_failures(self, delta: Enclosure, digits: int, claim: Claim) -> Enclosure:
        """1 − Π(1−δ_i)^k_i (1−δ): the δ of all, from that of the rest."""
        known = to_fraction(delta.lower) if delta.lower == delta.upper else delta.exactly
        with precision(2 * (first_bits(digits) + _GUARD_BITS)):
            fails = self.fails()
            ends = to_ball(delta.lower), to_ball(delta.upper)
            low, high = (fails + (1 - fails) * end for end in ends)
            found = from_ball(low.union(high), claim, digits, delta.certified)
        if known is None or self.kept is None:
            return found
        return found.known_to_be(1 - self.kept * (1 - known))

    def _below(self, delta: Fraction, needed: str = "at least") -> InfiniteError:
        return InfiniteError(
            f"delta: found {given(delta)}, needed {needed} {self.least}, the probability of "
            "outcomes that only one of two neighbouring datasets can give"
        )

    @property
    def least(self) -> str:
        """The probability of a failure, rounded up: the least δ there is."""
        with precision(128):
            least = rational(self.fails().upper()) if self.kept is None else 1 - self.kept
        return given(Fraction(rational_text(least, 6, up=True)))

    def guarantee(
        self, question: EpsilonDelta, digits: int, ask: Callable[[EpsilonDelta], Guarantee]
    ) -> Guarantee:
        """The answer for all of the expression, by those that `ask` gives for the rest."""
        if question.asks_epsilon:
            low, high = self.left_of(question.value, digits)
            found = self._of_rest(question, low, ask)
            number: Enclosure = found.epsilon
            if low < high and found.kind is Kind.EXACT:  # the true ε is between those of the two
                least = self._of_rest(question, high, ask)
                if least.kind is Kind.EXACT:
                    number = replace(number, lower=least.epsilon.lower, exactly=None)
                else:  # as it may be where time runs out in between
                    found = replace(found, kind=Kind.UPPER)
        else:
            low = question.value
            found = self._of_rest(question, low, ask)
            number = self.with_failures(found.delta, digits, found.delta.claim)
        claim = question.m.claim
        kind = Kind.UPPER if self._is_of_larger_groups(question.m) else found.kind
        told = replace(found.claim, adjacency=claim.adjacency).by(_PROOF)
        asked = replace(number, claim=replace(number.claim, kind=kind, adjacency=claim.adjacency))
        note = f"of what does not fail, at {question.given} = {given(low)}: {found.note}"
        return replace(
            found,
            epsilon=asked if question.asks_epsilon else question.value,
            delta=question.value if question.asks_epsilon else asked,
            kind=kind,
            claim=told,
            note=note if found.note else "",
        )

    def _is_of_larger_groups(self, m: Node) -> bool:
        """Is the rest about more records than the expression, whose answer it then bounds?"""
        return self.rest.claim.adjacency.group > m.claim.adjacency.group

    def _of_rest(
        self, question: EpsilonDelta, value: Fraction, ask: Callable[[EpsilonDelta], Guarantee]
    ) -> Guarantee:
        try:
            return ask(replace(question, m=self.rest, value=value))
        except InfiniteError:
            if question.asks_epsilon and value == 0:
                raise self._below(question.value, "more than") from None
            raise

    def lower(
        self,
        asks_epsilon: bool,
        value: Fraction,
        digits: int,
        ask: Callable[[Node, Fraction], Enclosure],
    ) -> Enclosure:
        """The lower bound for all of the expression, by the one that `ask` gives for the rest."""
        if asks_epsilon:
            return ask(self.rest, self.left_of(value, digits)[1])
        found = ask(self.rest, value)
        return self.with_failures(found, digits, found.claim)


def may_fail(m: Node) -> MayFail | None:
    """What may fail of an expression without open symbols; None where nothing may."""
    found = failures(m)
    return None if found is None else MayFail(found.rest, found.parts)
