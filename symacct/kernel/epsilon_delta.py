"""An (ε, δ) question, what a conversion makes of a value in answer to it, and what may fail."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any

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
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import doubled, ends_of, precision, rational
from symacct.kernel.claims import Claim, Kind, Proof
from symacct.kernel.conversion import Conversion, WholeProfile, proved
from symacct.kernel.errors import (
    DomainError,
    InfiniteError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
    echo,
)
from symacct.kernel.evaluation import NodeCurve, exact_pure
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.parameters import bits
from symacct.kernel.sources import SYMACCT

if TYPE_CHECKING:
    from symacct.kernel.optimal_order import BestOrder


# --- questions
#
# An (ε, δ) question, and what a conversion makes of a curve's value in answer to it.
#
# Also which answer is given where what was asked for is not to be had, and near the total
# variation: what the order 1 says, and adds to the best of the orders above it.

_ASKED = "conversion exact was asked for and"
#: How a note begins that gives what the exact profile proves, where that is the larger number.
LARGER = f"{_ASKED} gives no less than"
_FEWER = range(1, 7)  # digits, where those asked for are out of reach: more are refused late


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """An (ε, δ) question: the node, how to convert, and the number given."""

    m: Node
    by: By
    conversion: Conversion | WholeProfile
    given: str
    value: Fraction

    @property
    def per_order(self) -> Conversion:
        """The conversion, which has a formula at each order."""
        assert isinstance(self.conversion, Conversion)  # noqa: S101  # the exact profile has none
        return self.conversion

    @property
    def asks_epsilon(self) -> bool:
        """Is δ given?"""
        return self.given == "delta"

    @property
    def key(self) -> tuple[object, ...]:
        """All that the answer depends on, beside the node, the orders and the digits."""
        # A fraction works its hash out anew each time, which takes as long as a sum.
        return self.by, self.conversion, self.given, *self.value.as_integer_ratio()

    def objective(self) -> Callable[[arb, Order], arb]:
        """ε(α) and α ↦ what the conversion makes of it: an ε, or a log δ; ∞ where that is."""
        given, asks_epsilon = BALL.number(self.value), self.asks_epsilon
        formula = self.per_order.epsilon if asks_epsilon else self.per_order.log_delta

        def converted(eps: arb, alpha: Order) -> arb:
            if BALL.is_infinite(eps):
                return arb("inf")
            if eps.is_zero():  # at any order: the two laws are one
                return arb(0 if asks_epsilon else "-inf")
            found: arb = formula(BALL, eps, BALL.number(alpha), given)
            return found

        return converted

    def answer(self, ball: arb) -> arb:
        """The number asked, from the objective: clamped to ε >= 0 and δ <= 1."""
        if self.asks_epsilon:
            return arb(0) if ball < 0 else ball
        return arb(1) if ball > 0 else ball.exp()

    def is_answered_by(self, pure: arb) -> bool:
        """Is ε(∞) already all that was asked: δ = 0 given, or ε >= ε(∞) given?"""
        if self.asks_epsilon:
            return self.value == 0
        given = BALL.number(self.value)
        if pure <= given or pure > given:
            return bool(pure <= given)
        # Balls never decide an equality such as ε = ε₀ for PureDP(ε₀); exact numbers do.
        exact = exact_pure(self.m, self.by)
        return exact is not None and exact <= self.value

    def refuse_delta_zero(self) -> None:
        """InfiniteError for δ = 0, which no finite order answers."""
        if self.asks_epsilon and not self.value:
            raise InfiniteError("delta: found 0, needed delta > 0, because ε(∞) is infinite")

    def with_exact_epsilon(self, found: Guarantee) -> Guarantee:
        """The guarantee, with the ε of δ = 0 as the fraction that it is, where it is one."""
        if not self.asks_epsilon or found.kind is not Kind.EXACT:
            return found
        if self.value or self.m.claim.kind is not Kind.EXACT:
            return found
        return replace(found, epsilon=found.epsilon.known_to_be(exact_pure(self.m, None)))


def smaller(*asked: Callable[[], Guarantee]) -> Guarantee:
    """The least of the upper bounds that are finite and have digits; else the last one's error."""
    found: list[Guarantee] = []
    for ask in asked:
        try:
            found.append(ask())
        except (PrecisionError, LimitError, InfiniteError):
            if ask is asked[-1] and not found:
                raise
    return min(found, key=lambda guarantee: guarantee.asked.upper)


def by_the_profile(
    ask: Callable[[int], Guarantee],
    digits: int,
    is_default: bool,
    by_the_curve: Callable[[], Guarantee] | None,
) -> Guarantee:
    """The exact profile's answer, or the curve's where that is asked beside it and smaller.

    Where the digits are out of reach, those there are if no digits were asked for or there is a
    curve's answer beside, else the error at once. What was not had is said in words.
    """
    refused: SymacctError | None = None
    found: Guarantee | None = None
    try:
        found = ask(digits)
    except InfiniteError as error:
        if by_the_curve is None:
            raise
        refused = error
    except (PrecisionError, LimitError) as error:
        if not is_default and by_the_curve is None:
            raise
        found = _to_fewer(ask, digits, error)
        refused = error if found is None or found.note else None
    if by_the_curve is not None:
        with suppress(*([PrecisionError, LimitError, InfiniteError] if found else [])):
            other = by_the_curve()
            if found is None or other.asked.upper < found.asked.upper:
                return replace(other, note=_instead(found, refused))
    if found is None:
        assert refused is not None  # noqa: S101  # else it was found
        raise refused
    return found


def _to_fewer(ask: Callable[[int], Guarantee], digits: int, why: SymacctError) -> Guarantee | None:
    """To some digits, if there are any: each time to more, until they are refused."""
    found: Guarantee | None = None
    for few in _FEWER:
        if few >= digits or (found is not None and found.asked.digits >= few):
            continue
        try:
            found = ask(few)
        except (PrecisionError, LimitError):
            break
    if found is None:
        return None
    had = max(found.asked.digits_asked, math.floor(min(found.asked.digits, digits)))
    name = "epsilon" if found.epsilon is found.asked else "delta"
    shown: dict[str, Any] = {name: replace(found.asked, digits_asked=had)}
    fewer = "one digit" if digits - had == 1 else f"{digits - had} digits"
    safe = f"the number is safe to report, with {fewer} fewer"
    note = f"{had} digits are known of the {digits} asked for: {why.finding}; {safe}"
    return replace(found, note=note if had < digits else "", **shown)


def _instead(found: Guarantee | None, refused: SymacctError | None) -> str:
    """Why the curve answers where the exact conversion was asked for."""
    if found is not None:
        return f"{LARGER} {found}"
    assert refused is not None  # noqa: S101  # else it was found
    return f"{_ASKED} was refused: {refused.finding}"


def at_order_one(search: BestOrder, orders: str | Iterable[Numeric] | None = None) -> Guarantee:
    """The Guarantee of a conversion that reads the order 1 alone."""
    question = search.question
    if orders is not None:
        raise DomainError(
            f"orders: found some with the conversion {question.conversion.name!r}, which reads the "
            "order 1 alone",
            remedy="ask without orders",
        )
    value = _converted(search, question, lambda curve: curve(1))
    given = f"{question.given} = {echo(question.value)}"
    if value == arb("inf"):
        raise OrderError(
            f"{echo(question.m)}: the order 1 gives no answer at {given}, needed another conversion"
        )
    if not value < arb("inf"):
        raise PrecisionError(
            f"{echo(question.m)}: the bound from its order 1 cannot be told from {given}",
            remedy="ask for one further from it",
        )
    return search.at(1, optimal=True)


def _converted(
    search: BestOrder, question: EpsilonDelta, epsilon: Callable[[NodeCurve], arb]
) -> arb:
    """What the conversion makes of ε(1), or of what it is at least, at few bits."""
    with precision(search.search_bits):
        return question.objective()(epsilon(search.curve()), 1)


def least_divergence(curve: NodeCurve, order: Order) -> arb:
    """ε(1) >= 3(e^{ε(2)}−1)²/(2(e^K−1)), K the chord of (α−1)ε(α) from 2 to `order` >= 3, at 3.

    0 where it is not known that one pair attains the curve there (docs/proofs/conversions.md, Lemma
    divergence-below).
    """
    if not curve.node.attained.by_one_pair:
        return arb(0)
    try:
        if any(curve.claim(alpha).kind is not Kind.EXACT for alpha in (2, order)):
            return arb(0)
        alpha, eps = BALL.number(order), curve(2)
        chord = eps + ((alpha - 1) * curve.among(order) - eps) / (alpha - 2)
        least: arb = 3 * eps.expm1() ** 2 / (2 * chord.expm1())
        return least
    except (OrderError, PrecisionError, LimitError):
        return arb(0)


def no_larger_at_one(found: Guarantee, search: BestOrder) -> Guarantee:
    """What the search found, or what the order 1 says where that is proved no larger."""
    name = search.question.per_order.at_one
    if name is None or not found.asked.upper:
        return found
    question = replace(search.question, conversion=proved(name))
    order = 3 if found.alpha == INFINITY else max(3, found.alpha)
    try:
        # An order that the search has been at comes first.
        for epsilon in (lambda curve: least_divergence(curve, order), lambda curve: curve(1)):
            one = question.answer(_converted(search, question, epsilon))
            if one >= arb(found.asked.upper):
                return found
        answer = at_order_one(search.asking(question))
        if answer.asked > found.asked:
            return found
    except OrderError:  # nothing is known at 1
        return found
    except (PrecisionError, LimitError):
        return replace(found, optimal=False)
    return replace(answer, optimal=found.optimal or answer.asked.upper == 0)


# --- what may fail
#
# What may fail of an expression, and an (ε, δ) question about it: δ without the failures.

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
    operation, such as a sample, is left there. Source: docs/proofs/conversions.md, failing.

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

_PROOF = Proof("FAILING", SYMACCT.at("docs/proofs/conversions.md, failing"))
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
