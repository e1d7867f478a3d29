"""What may fail of an expression, and an (ε, δ) question about it: δ without the failures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from flint import arb

from symacct.kernel.answer import (
    Enclosure,
    Guarantee,
    first_bits,
    from_ball,
    given,
    rational_text,
    to_ball,
    to_fraction,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, ends_of, precision, rational
from symacct.kernel.claims import Claim, Kind, Proof
from symacct.kernel.errors import InfiniteError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.parameters import bits
from symacct.kernel.question import EpsilonDelta
from symacct.kernel.sources import SYMACCT

# --- the parts that may fail
#
# The parts of an expression that may fail, and what it is where none of them does.

_EXACT_BITS = 4096  # up to which the probability that nothing fails is worked out as a fraction


@dataclass(frozen=True)
class Failures:
    """An expression in which nothing fails, and (δ_i, count) of the parts of it that may."""

    rest: Node
    parts: tuple[tuple[Exact, Count], ...]

    @property
    def kept(self) -> Fraction | None:
        """Π(1−δ_i)^k_i, that nothing fails, where it is a fraction that is not too long."""
        if not all(isinstance(x, Fraction) and isinstance(k, int) for x, k in self.parts):
            return None
        if sum(bits(1 - delta) * count for delta, count in self.parts) > _EXACT_BITS:
            return None
        return math.prod(((1 - delta) ** count for delta, count in self.parts), start=Fraction(1))


def failures(node: Node) -> Failures | None:
    """What may fail of an expression, and what it is otherwise; None where nothing may.

    A composition fails where one of its parts does, a post-processing where the mechanism does, and
    one of two mechanisms by a coin where that does on which the coin falls.
    An (ε, δ)-DP mechanism is an ε-DP one that fails with probability δ. What is below another
    operation, such as a sample, is left there. Source: docs/proofs.md, section 43.

    >>> from symacct import ApproximateDP, Failing, Gaussian
    >>> found = failures(2 * ApproximateDP(1, "1/9") + Failing(Gaussian(5), "1/7"))
    >>> print(found.rest, found.parts)
    Gaussian(5) + 2*PureDP(1) ((Fraction(1, 9), 2), (Fraction(1, 7), 1))
    """
    known: dict[str, Failures | None] = node._derived("failures")
    if "all" not in known:
        known["all"] = failures_of(node)
    return known["all"]


@singledispatch
def failures_of(node: Node) -> Failures | None:
    """What may fail of a node of this class; an operation that may fail registers its rule."""
    return None


@failures_of.register
def _(node: Compose) -> Failures | None:
    parts: list[tuple[Exact, Count]] = []
    rest = []
    for part, count in node.terms.items():
        below = failures(part)
        rest.append({below.rest if below else part: count})
        parts += [(delta, count * times) for delta, times in below.parts] if below else []
    if not parts:
        return None
    telling = Compose(*({m: n} for one in rest for m, n in one.items() if not m.tells_nothing))
    if telling.claim.adjacency.group != node.claim.adjacency.group:  # it would be about more
        telling = Compose(*rest)
    return Failures(telling, tuple(parts))


# --- questions about them
#
# An (ε, δ) question about what may fail: δ without the failures, asked of what is left.

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
