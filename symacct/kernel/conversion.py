"""Conversions say what a curve's value at one order means as (ε, δ), and answer such questions.

What may fail is taken out of δ before any of them is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from flint import arb

from symacct.kernel.answer import (
    Enclosure,
    Guarantee,
    first_bits,
    from_ball,
    given,
    given_above,
    to_ball,
    to_fraction,
)
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.arithmetic.ball import doubled, ends_of, precision, rational
from symacct.kernel.arithmetic.within_limits import bits
from symacct.kernel.claims import UNSTATED, Claim, Kind, Proof, Source, check_stated
from symacct.kernel.errors import (
    DomainError,
    InfiniteError,
    LimitError,
    OrderError,
    PrecisionError,
    SymacctError,
    echo,
    suggestion,
)
from symacct.kernel.evaluation import NodeCurve, exact_pure
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order
from symacct.kernel.memory import HOMES
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.parameters import By
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import STATUS_REMEDY, check_proved, check_status

if TYPE_CHECKING:
    from symacct.kernel.optimal_order import BestOrder

# --- conversions

#: (ctx, ε(α), α, δ or ε) ↦ ε or log δ.
Formula: TypeAlias = Callable[[Arithmetic, Number, Number, Number], Number]
#: What to write for a field of a conversion that is missing.
_REMEDIES = {
    "one_valley": "one_valley=True if (α−1)·ε(δ) and log δ(ε) are proved convex in α where the CGF "
    "is, else False",
    "status": STATUS_REMEDY,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Conversion:
    """ε(δ) and log δ(ε) from ε(α) at one finite order α > 1, in nats.

    The formulas are `epsilon(ctx, eps, alpha, delta)` and `log_delta(ctx, eps, alpha, epsilon)`,
    where `eps` is the curve's value. With `one_valley` it is proved that (α−1)·ε(δ) and log δ(ε)
    are convex in α where the CGF is: a search over orders then meets one valley, and can prove its
    bottom. Raises SoundnessError where `one_valley` or `status` is left out.
    """

    name: str
    source: Source
    epsilon: Formula
    log_delta: Formula
    one_valley: bool = UNSTATED
    #: "proved" as of a theorem; one of any other status never gives a guarantee.
    status: str = UNSTATED
    #: The name of a conversion that is never better at the same order. Its best order is found
    #: first and is then tried here as well.
    improves_on: str | None = None
    #: The name of an `OrderOne` whose answer is taken where it is smaller and no orders are listed.
    at_one: str | None = None

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", _REMEDIES, vars(self))
        check_status(f"conversion {self.name}", self.status)


class OrderOne(Conversion):
    """A conversion that reads ε(1), the Kullback–Leibler divergence, and no other order."""


#: (node, key, limit) ↦ the accountant's table of the node under the key.
Memory: TypeAlias = Callable[[Node, tuple[Hashable, ...], str], Any]


class LawsOfNode(Protocol):
    """What the laws of one mechanism prove of (ε, δ)."""

    #: May Rényi orders prove a smaller number than the laws, because these are only bounds?
    may_exceed_curve: bool

    def guarantee(self, asks_epsilon: bool, value: Fraction, digits: int) -> Guarantee:
        """The guarantee with the true ε, or δ, or with the smallest bound above it by the laws.

        Its kind says which.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeProfile:
    """ε(δ) and δ(ε) by the mechanism's laws, in the place of a conversion of one order.

    A subclass answers by the methods below. With `asks_epsilon` the value is δ, else ε.
    """

    name: str
    source: Source
    status: str = UNSTATED

    def __post_init__(self) -> None:
        check_stated(f"conversion {self.name}", {"status": STATUS_REMEDY}, vars(self))
        check_status(f"conversion {self.name}", self.status)

    def remembered(self, m: Node, memory: Memory) -> LawsOfNode:
        """What the laws of a mechanism prove; `memory` keeps it for later questions."""
        raise NotImplementedError

    def lower_bound(self, m: Node, asks_epsilon: bool, value: Fraction, digits: int) -> Enclosure:
        """A proved lower bound of the true ε, or δ, which is no guarantee."""
        raise NotImplementedError

    def refuse_pinned(self, orders: str | Iterable[Numeric] | None, by: object) -> None:
        """Raises an error where orders or theorems are named, which the laws do not read."""
        raise NotImplementedError


_conversions: dict[str, Conversion | WholeProfile] = {}
#: The names of the registers of HOMES that hold conversions begin with this word. One that is
#: opened only when it is asked for by name has its own, "conversion NAME".
_HOMES_PREFIX = "conversion"


def state(conversion: Conversion | WholeProfile) -> None:
    """Registers a conversion as its module is imported; DomainError for a name that is taken."""
    if conversion.name in _conversions:
        raise DomainError(f"conversion {conversion.name}: already registered, needed a new name")
    _conversions[conversion.name] = conversion


def register(conversion: Conversion | WholeProfile) -> None:
    """Register a conversion of your own; DomainError for a name that is taken."""
    conversions()  # those of the package are registered first, and keep their names
    state(conversion)


def forget(name: str) -> None:
    """Unregister a conversion, such as one of your own that you want to restate.

    DomainError for a name that no conversion has.
    """
    del _conversions[named(name).name]


#: The name that stands for whichever conversion proves the smallest number.
BEST = "best"


def conversions() -> list[Conversion | WholeProfile]:
    """Every registered conversion, those by Rényi orders first, then those by the laws.

    >>> conversions()[0].one_valley
    True
    """
    for register, homes in list(HOMES.items()):
        if register.startswith(_HOMES_PREFIX):
            homes.open()
    return sorted(
        _conversions.values(), key=lambda conversion: isinstance(conversion, WholeProfile)
    )


def of_one_order() -> list[Conversion]:
    """The registered conversions that have a formula at every finite order above 1.

    So neither those by the laws nor those that read the order 1 alone.
    """
    per_order = [conversion for conversion in conversions() if isinstance(conversion, Conversion)]
    return [conversion for conversion in per_order if not isinstance(conversion, OrderOne)]


def proved(name: str) -> Conversion | WholeProfile:
    """The conversion called `name`, for a guarantee; SoundnessError for one that is not proved."""
    conversion = named(name)
    check_proved(f"conversion {conversion.name}", conversion.status, "use one of symacct's own")
    return conversion


def named(name: str) -> Conversion | WholeProfile:
    """The registered conversion called `name`, whose module is imported if need be.

    DomainError for an unknown name, and for BEST, which stands for several.
    """
    try:
        HOMES.get(f"{_HOMES_PREFIX} {name}", HOMES[_HOMES_PREFIX]).open()
        return _conversions[name]
    except (KeyError, TypeError):
        if name == BEST:
            raise DomainError(
                f"conversion: found {BEST!r}, which is whichever of exact, improved and optimal "
                "proves the smallest number, needed one of them"
            ) from None
        names = (*(conversion.name for conversion in conversions()), BEST)
        needed = f"one of {', '.join(map(repr, names))}"
        raise DomainError(
            f"conversion: found {echo(name)}{suggestion(name, names, needed)}"
        ) from None


# --- questions

#: How a note begins where the curve answers a question about the exact profile.
_EXACT_REQUESTED = "conversion exact was asked for and"
#: How a note begins that gives what the exact profile proves, where that is the larger number.
EXACT_IS_LARGER = f"{_EXACT_REQUESTED} gives no less than"
#: Numbers of significant digits that the exact profile is asked for in turn, where those asked for
#: are out of reach. They end at 6, because a refusal of more digits takes long. Each answer is
#: proved; more cost time.
_FALLBACK_DIGITS = range(1, 7)


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """An (ε, δ) question: the node, the conversion, and the value of δ or of ε that is given."""

    m: Node
    by: By
    conversion: Conversion | WholeProfile
    #: Is ε asked for, because δ is given?
    asks_epsilon: bool
    #: The number that is given, δ or ε.
    value: Fraction

    @property
    def per_order(self) -> Conversion:
        """The question's conversion, which the caller knows to have a formula at each order."""
        assert isinstance(self.conversion, Conversion)  # noqa: S101  # the exact profile has none
        return self.conversion

    @property
    def given(self) -> str:
        """The name of what is given, for a message."""
        return "delta" if self.asks_epsilon else "epsilon"

    @property
    def key(self) -> tuple[object, ...]:
        """The memory's key of the question, beside the node, the orders and the digits."""
        # A fraction works its hash out anew each time, which takes as long as a sum.
        return self.by, self.conversion, self.asks_epsilon, *self.value.as_integer_ratio()

    def objective(self, eps: arb, alpha: Order) -> arb:
        """The ε, or the log δ, that the conversion proves of `eps` = ε(α), as a ball.

        ∞ where ε(α) is ∞. Where it is 0, at any order, the two laws are one: ε = 0, or log δ = −∞.
        """
        if BALL.is_infinite(eps):
            return arb("inf")
        if eps.is_zero():
            return arb(0 if self.asks_epsilon else "-inf")
        formula = self.per_order.epsilon if self.asks_epsilon else self.per_order.log_delta
        number: arb = formula(BALL, eps, BALL.number(alpha), BALL.number(self.value))
        return number

    def answer(self, ball: arb) -> arb:
        """The number asked, from the objective: clamped to ε >= 0 and δ <= 1."""
        if self.asks_epsilon:
            return arb(0) if ball < 0 else ball
        return arb(1) if ball > 0 else ball.exp()

    def is_answered_by(self, pure: arb) -> bool:
        """Is ε(∞) already all that was asked: δ = 0 given, or ε >= ε(∞) given?"""
        if self.asks_epsilon:
            return self.value == 0
        epsilon = BALL.number(self.value)
        if pure <= epsilon or pure > epsilon:
            return bool(pure <= epsilon)
        # Balls never decide an equality such as ε = ε₀ for PureDP(ε₀); exact numbers do.
        exact = exact_pure(self.m, self.by)
        return exact is not None and exact <= self.value

    def refuse_delta_zero(self) -> None:
        """InfiniteError for δ = 0 given, which no finite order answers; ε(∞) has been asked."""
        if self.asks_epsilon and not self.value:
            raise InfiniteError("delta: found 0, needed delta > 0, because ε(∞) is infinite")

    def with_exact_epsilon(self, guarantee: Guarantee) -> Guarantee:
        """The guarantee, whose ε at δ = 0 becomes an exact fraction where ε(∞) is one."""
        if not self.asks_epsilon or guarantee.kind is not Kind.EXACT:
            return guarantee
        if self.value or self.m.claim.kind is not Kind.EXACT:
            return guarantee
        return replace(guarantee, epsilon=guarantee.epsilon.known_to_be(exact_pure(self.m, None)))


def by_the_profile(
    exact_to: Callable[[int], Guarantee],
    digits: int,
    is_default: bool,
    by_the_curve: Callable[[], Guarantee] | None,
) -> Guarantee:
    """The exact profile's guarantee, or the curve's where `by_the_curve` is given and is smaller.

    Where the digits are out of reach and `is_default` or `by_the_curve` allows it, the guarantee
    has fewer digits; else the error is raised at once. A note says what could not be computed. Of a
    bound that is 0 the curve is not asked: nothing is smaller.
    """
    refusal: SymacctError | None = None
    answer: Guarantee | None = None
    try:
        answer = exact_to(digits)
    except InfiniteError as error:
        if by_the_curve is None:
            raise
        refusal = error
    except (PrecisionError, LimitError) as error:
        if not is_default and by_the_curve is None:
            raise
        answer = _with_fewer_digits(exact_to, digits, error)
        refusal = error if answer is None or answer.note else None
    if by_the_curve is not None and not (answer is not None and answer.asked.upper == 0):
        with suppress(*([PrecisionError, LimitError, InfiniteError] if answer else [])):
            of_curve = by_the_curve()
            if answer is None or of_curve.asked.upper < answer.asked.upper:
                return replace(of_curve, note=_note_of_curve(answer, refusal))
    if answer is None:
        assert refusal is not None  # noqa: S101  # else there is an answer
        raise refusal
    return answer


def _with_fewer_digits(
    exact_to: Callable[[int], Guarantee], digits: int, refusal: SymacctError
) -> Guarantee | None:
    """The exact profile's guarantee to as many of `_FALLBACK_DIGITS` as it has; None for none."""
    answer: Guarantee | None = None
    for count in _FALLBACK_DIGITS:
        if count >= digits or (answer is not None and answer.asked.digits >= count):
            continue
        try:
            answer = exact_to(count)
        except (PrecisionError, LimitError):
            break
    if answer is None:
        return None
    correct = max(answer.asked.digits_asked, math.floor(min(answer.asked.digits, digits)))
    name = "epsilon" if answer.epsilon is answer.asked else "delta"
    correct_number: dict[str, Any] = {name: replace(answer.asked, digits_asked=correct)}
    fewer = "one digit" if digits - correct == 1 else f"{digits - correct} digits"
    safe = f"the number is safe to report, with {fewer} fewer"
    note = f"{correct} digits are known of the {digits} asked for: {refusal.finding}; {safe}"
    return replace(answer, note=note if correct < digits else "", **correct_number)


def _note_of_curve(exact: Guarantee | None, refusal: SymacctError | None) -> str:
    """The note that says why the curve answers where the exact conversion was asked for."""
    if exact is not None:
        return f"{EXACT_IS_LARGER} {exact}"
    assert refusal is not None  # noqa: S101  # else there is an exact answer
    return f"{_EXACT_REQUESTED} was refused: {refusal.finding}"


def at_order_one(search: BestOrder, orders: str | Iterable[Numeric] | None = None) -> Guarantee:
    """The guarantee of a conversion that reads ε(1) alone.

    OrderError where it proves nothing at the value given, PrecisionError where balls do not decide
    that, DomainError where `orders` are named.
    """
    question = search.question
    if orders is not None:
        raise DomainError(
            f"orders: found some with the conversion {question.conversion.name!r}, which reads the "
            "order 1 alone",
            remedy="ask without orders",
        )
    with precision(search.search_bits):
        value = question.objective(search.curve()(1), 1)
    condition = f"{question.given} = {echo(question.value)}"
    if value == arb("inf"):
        raise OrderError(
            f"{echo(question.m)}: the order 1 gives no answer at {condition}, "
            "needed another conversion"
        )
    if not value < arb("inf"):
        raise PrecisionError(
            f"{echo(question.m)}: the bound from its order 1 cannot be told from {condition}",
            remedy="ask for one further from it",
        )
    return search.at(1, optimal=True)


def divergence_lower_bound(curve: NodeCurve, order: Order) -> arb:
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
        chord = eps + ((alpha - 1) * curve.local_value(order) - eps) / (alpha - 2)
        bound: arb = 3 * eps.expm1() ** 2 / (2 * chord.expm1())
        return bound
    except (OrderError, PrecisionError, LimitError):
        return arb(0)


def no_larger_at_one(best: Guarantee, search: BestOrder) -> Guarantee:
    """The best guarantee of a search, or that of the order 1 where it is proved no larger."""
    name = search.question.per_order.at_one
    if name is None or not best.asked.upper:
        return best
    question = replace(search.question, conversion=proved(name))
    order = 3 if best.alpha == INFINITY else max(3, best.alpha)
    try:
        # The lower bound reads an order that the search has evaluated, so it costs less than ε(1).
        for epsilon in (lambda curve: divergence_lower_bound(curve, order), lambda curve: curve(1)):
            with precision(search.search_bits):
                converted = question.objective(epsilon(search.curve()), 1)
            if question.answer(converted) >= arb(best.asked.upper):
                return best
        answer = at_order_one(search.asking(question))
        if answer.asked > best.asked:
            return best
    except OrderError:  # nothing is known at 1
        return best
    except (PrecisionError, LimitError):
        return replace(best, optimal=False)
    return replace(answer, optimal=best.optimal or answer.asked.upper == 0)


# --- parts that may fail

#: Bits up to which the probability that nothing fails is computed as a fraction; the power of a
#: longer one costs more than the balls that stand for it. It costs time alone.
_MOST_FRACTION_BITS = 4096
#: The proofs of what a mechanism costs that may fail: by itself, and below another operation.
_PROOF = Proof("FAILING", SYMACCT.at("docs/proofs/conversions.md, failing"))
FAILING_BELOW = Proof("FAILING-BELOW", SYMACCT.at("docs/proofs/conversions.md, failing-below"))
#: The most bits of a δ that the rest is asked for exactly. A longer one would slow down each
#: conversion, so it is rounded down and up. It costs time alone.
_MOST_DELTA_BITS = 512
#: Bits of a rounded δ beyond the digits asked: its rounding moves none of these digits. A guarantee
#: is sound for any: fewer lose digits.
_DELTA_GUARD_BITS = 64


@dataclass(frozen=True)
class Failures:
    """The parts of an expression that fail with δ_i, k_i times each, and the expression `rest`.

    With probability Π(1−δ_i)^k_i nothing fails, and then the expression is `rest`.
    """

    rest: Node
    parts: tuple[tuple[Exact, Count], ...]
    #: Is δ(ε) as large as that, if that of `rest` is attained? Below a sample it is less.
    attained: bool = True
    #: Does it fail by itself, whatever the data are? Else what fails is known of neighbours alone.
    by_itself: bool = True
    #: Does a failure show in the output? A function of the output may hide it, and then costs less.
    is_shown: bool = True

    @property
    def survival(self) -> Fraction | None:
        """Π(1−δ_i)^k_i, the probability of no failure; None where it is no short fraction."""
        if not all(isinstance(x, Fraction) and isinstance(k, int) for x, k in self.parts):
            return None
        if sum(bits(1 - delta) * count for delta, count in self.parts) > _MOST_FRACTION_BITS:
            return None
        return math.prod(((1 - delta) ** count for delta, count in self.parts), start=Fraction(1))

    def failure(self) -> arb:
        """1 − Π(1−δ_i)^k_i, the probability of a failure, in balls at the current precision."""
        logs = (count * (-BALL.number(delta)).log1p() for delta, count in self.parts)
        return -sum(logs, arb(0)).expm1()

    def delta_of_rest(self, delta: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        """1 − (1−δ)/Π(1−δ_i)^k_i, the δ left for the rest, rounded down and up.

        The two are one where it is a short fraction. InfiniteError where it is below 0, as then no
        finite ε is true; PrecisionError where balls do not tell it from 0.
        """
        accuracy = first_bits(digits) + _DELTA_GUARD_BITS
        survival = self.survival
        if survival is not None:
            exact = 1 - (1 - delta) / survival
            if exact < 0:
                raise self._below(delta)
            if bits(exact) <= _MOST_DELTA_BITS:
                return exact, exact
        for working in doubled(2 * accuracy):
            with precision(working):
                failure = self.failure()
                if BALL.number(delta) < failure:  # which may not be told from 1
                    raise self._below(delta)
                ball = (BALL.number(delta) - failure) / (1 - failure)
                if survival is not None:
                    ball = BALL.number(exact)
                if ball < 0:
                    raise self._below(delta)
                if ball > 0 and ball.rel_accuracy_bits() >= accuracy:
                    low, high = map(rational, ends_of(ball))
                    return low, high
        raise PrecisionError(
            f"delta: found {given(delta)}, needed one that can be told from {self.failure_text}, "
            "the probability of outcomes that only one of two neighbouring datasets can give"
        )

    def total_delta(self, delta: Enclosure, digits: int, claim: Claim) -> Enclosure:
        """1 − Π(1−δ_i)^k_i (1−δ), enclosed: the δ of the expression from that of the rest."""
        delta_fraction = to_fraction(delta.lower) if delta.lower == delta.upper else delta.exactly
        with precision(2 * (first_bits(digits) + _DELTA_GUARD_BITS)):
            failure = self.failure()
            ends = to_ball(delta.lower), to_ball(delta.upper)
            low, high = (failure + (1 - failure) * end for end in ends)
            total = from_ball(low.union(high), claim, digits, delta.certified)
        if delta_fraction is None or self.survival is None:
            return total
        return total.known_to_be(1 - self.survival * (1 - delta_fraction))

    def _below(self, delta: Fraction, needed: str = "at least") -> InfiniteError:
        """The error of a δ that is smaller than the probability of a failure."""
        return InfiniteError(
            f"delta: found {given(delta)}, needed {needed} {self.failure_text}, the probability "
            "of outcomes that only one of two neighbouring datasets can give"
        )

    @property
    def failure_text(self) -> str:
        """The probability of a failure, rounded up: no δ below it holds with a finite ε."""
        with precision(128):
            exact = None if self.survival is None else 1 - self.survival
            upper = min(rational(self.failure().upper()), Fraction(1)) if exact is None else exact
        return given_above(upper)

    def guarantee(
        self,
        question: EpsilonDelta,
        digits: int,
        guarantee_of_rest: Callable[[EpsilonDelta], Guarantee],
    ) -> Guarantee:
        """The guarantee of the expression, from those that `guarantee_of_rest` gives.

        Where the δ of the rest is rounded, a true ε lies between those of its two roundings.
        """
        if question.asks_epsilon:
            value_of_rest, high = self.delta_of_rest(question.value, digits)
            answer = self._of_rest(question, value_of_rest, guarantee_of_rest)
            enclosure: Enclosure = answer.epsilon
            if value_of_rest < high and answer.kind is Kind.EXACT:
                at_high = self._of_rest(question, high, guarantee_of_rest)
                if at_high.kind is Kind.EXACT:
                    enclosure = replace(enclosure, lower=at_high.epsilon.lower, exactly=None)
                else:  # as it may be where time runs out in between
                    answer = replace(answer, kind=Kind.UPPER)
        else:
            value_of_rest = question.value
            answer = self._of_rest(question, value_of_rest, guarantee_of_rest)
            enclosure = self.total_delta(answer.delta, digits, answer.delta.claim)
        claim = question.m.claim
        attained = self.attained and not self._is_of_larger_groups(question.m)
        kind = answer.kind if attained else Kind.UPPER
        proof = _PROOF if self.attained else FAILING_BELOW
        claim_with_proof = replace(answer.claim, adjacency=claim.adjacency).by(proof)
        total = replace(
            enclosure, claim=replace(enclosure.claim, kind=kind, adjacency=claim.adjacency)
        )
        note = f"of what does not fail, at {question.given} = {given(value_of_rest)}: {answer.note}"
        return replace(
            answer,
            epsilon=total if question.asks_epsilon else question.value,
            delta=question.value if question.asks_epsilon else total,
            kind=kind,
            claim=claim_with_proof,
            note=note if answer.note else "",
        )

    def _is_of_larger_groups(self, m: Node) -> bool:
        """Is the rest about larger groups of records, so that its answer is only a bound?"""
        return self.rest.claim.adjacency.group > m.claim.adjacency.group

    def _of_rest(
        self,
        question: EpsilonDelta,
        value: Fraction,
        guarantee_of_rest: Callable[[EpsilonDelta], Guarantee],
    ) -> Guarantee:
        """The guarantee of the rest at a value of δ or ε.

        Where nothing is left of δ for it, an InfiniteError speaks of the whole expression's δ.
        """
        try:
            return guarantee_of_rest(replace(question, m=self.rest, value=value))
        except InfiniteError:
            if question.asks_epsilon and value == 0:
                raise self._below(question.value, "more than") from None
            raise

    def lower(
        self,
        asks_epsilon: bool,
        value: Fraction,
        digits: int,
        bound_of_rest: Callable[[Node, Fraction], Enclosure],
    ) -> Enclosure:
        """The lower bound of the expression's ε or δ, from the one that `bound_of_rest` gives.

        ε is asked at the δ of the rest rounded up, where it is smaller.
        """
        if asks_epsilon:
            return bound_of_rest(self.rest, self.delta_of_rest(value, digits)[1])
        delta = bound_of_rest(self.rest, value)
        return self.total_delta(delta, digits, delta.claim)


#: What gives the failures of a node, or None; rules ask it of the nodes below.
FailuresOf: TypeAlias = Callable[[Node], Failures | None]


def failures(node: Node, *, bounded: bool = False) -> Failures | None:
    """The parts of an expression that may fail, and the rest of it; None where nothing may fail.

    A composition fails where one of its parts does, a post-processing where the mechanism does, and
    one of two mechanisms by a coin where that does on which the coin falls.
    An (ε, δ)-DP mechanism is an ε-DP one that fails with probability δ. What is below a sample
    or another operation that fails less is left there, unless `bounded` asks for it: what fails
    and the rest are then above the expression. Source: docs/proofs/conversions.md, failing and
    failing-below.

    >>> from symacct import ApproximateDP, Failing, Gaussian
    >>> failing = failures(2 * ApproximateDP(1, "1/9") + Failing(Gaussian(5), "1/7"))
    >>> print(failing.rest, failing.parts)
    Gaussian(5) + 2*PureDP(1) ((Fraction(1, 9), 2), (Fraction(1, 7), 1))
    """
    memo: dict[bool, Failures | None] = node._derived("failures")
    if bounded not in memo:
        found = failures_of(node, partial(failures, bounded=bounded))
        memo[bounded] = found if found is None or found.attained or bounded else None
    return memo[bounded]


@singledispatch
def failures_of(node: Node, below: FailuresOf) -> Failures | None:
    """The failures of a node by its class; an operation that may fail registers its rule here."""
    return None


@failures_of.register
def _(node: Compose, below: FailuresOf) -> Failures | None:
    """The failures of all parts, as often as each part runs, and the composition of the rest."""
    every = [(below(part) or Failures(part, ()), count) for part, count in node.terms.items()]
    parts = tuple((delta, count * times) for inner, count in every for delta, times in inner.parts)
    if not parts:
        return None
    remaining = [{inner.rest: count} for inner, count in every]
    rest = Compose(*({m: n} for run in remaining for m, n in run.items() if not m._tells_nothing))
    if rest.claim.adjacency.group != node.claim.adjacency.group:  # the part left out fixed it
        rest = Compose(*remaining)
    return Failures(
        rest,
        parts,
        attained=all(inner.attained for inner, _ in every),
        by_itself=all(inner.by_itself for inner, _ in every),
        is_shown=all(inner.is_shown for inner, _ in every),
    )


def failures_of_guarantee(guarantee: Guarantee, m: Node) -> Failures | None:
    """The failures of m that a guarantee takes out of its δ; None where it takes out none."""
    return failures(m, bounded=FAILING_BELOW.code in guarantee.claim.theorems)
