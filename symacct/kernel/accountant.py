"""Accountant: answers in balls, mpmath or float64, by whichever conversion proves the most."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, overload
from weakref import WeakKeyDictionary

import mpmath
import numpy as np
from flint import arb

from symacct.kernel import limits, parameters, theorem_registry
from symacct.kernel.answer import Enclosure, Guarantee, first_bits, from_ball, to_digits, undecided
from symacct.kernel.arithmetic import (
    BALL,
    FLOAT64,
    Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
    UpwardMpmathArithmetic,
)
from symacct.kernel.arithmetic.ball import doubled, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import (
    BEST,
    EXACT_IS_LARGER,
    Conversion,
    EpsilonDelta,
    Failures,
    OrderOne,
    WholeProfile,
    at_order_one,
    by_the_profile,
    failures,
    no_larger_at_one,
)
from symacct.kernel.conversion import proved as proved_conversion
from symacct.kernel.deadline import (
    Budget,
    more_time,
    nothing_in_time,
    progress,
    tell_so_far,
    time_words,
)
from symacct.kernel.errors import (
    AssumptionError,
    CurveAloneError,
    DomainError,
    InfiniteError,
    LimitError,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
)
from symacct.kernel.evaluation import CurveKey, Evaluation, NodeCurve, as_decimal
from symacct.kernel.exact import (
    INFINITY,
    Numeric,
    Order,
    OrderArray,
    array_order,
    order,
    typed_value,
)
from symacct.kernel.memory import Key, Remembered, new_lock
from symacct.kernel.node import Node, as_node
from symacct.kernel.optimal_order import BestOrder
from symacct.kernel.parameters import By, given_delta, rational
from symacct.kernel.theorem_registry import goal_of, theorem_node

# --- the smallest number in time
#
# A question has `limits(seconds=…)` seconds of processor time for all that it asks. What is proved
# by then is the answer, and a note says so where more time may prove a smaller number.

#: Names of three conversions: the usual one of a Rényi order, all that an order proves, and the
#: exact profile.
BY_ORDERS, CLOSEST, TRUE = "improved", "optimal", "exact"
#: Significant digits that a screen shows. More take longer to prove.
SCREEN_DIGITS = 6


@dataclass(frozen=True)
class _Schedule:
    """The constants of the search for the best answer in time; every bound is sound without them.

    A share is the part of the time left that a way gets when it is its turn. What it does not use
    is left to the ways after it, so the last one may take all.
    """

    #: The shares of the exact profile, of all Rényi orders, of the exact profile asked again, of it
    #: to few digits, and of other bounds; what answers last, or must answer, may take all. They
    #: divide the time alone: each way's answer is proved.
    exact: Fraction = Fraction(3, 5)
    by_orders: Fraction = Fraction(1, 2)
    again: Fraction = Fraction(3, 4)
    roughly: Fraction = Fraction(1, 2)
    other: Fraction = Fraction(3, 4)
    all: Fraction = Fraction(1)
    #: Seconds that a few orders get even if a way before them overran its share: half of the second
    #: by which an answer may be late.
    least_seconds: float = 0.5
    #: Significant digits that the exact profile is asked for first; 4 are had in little time. It
    #: costs time alone.
    first_digits: int = 4
    #: Significant digits that the exact profile is asked for where the first ones take long. More
    #: take longer, and may not be had in time.
    rough_digits: int = 2
    #: Significant digits of a bound by a few orders, which is not the best one. More would only
    #: take longer.
    few_order_digits: int = 4


#: The shares and digits of the search for the best answer; bounds are sound without them.
_SCHEDULE = _Schedule()


class OfAKind(Protocol):
    """An answer that is exact, or an upper bound of the exact one."""

    @property
    def kind(self) -> Kind: ...


_T = TypeVar("_T", bound=OfAKind)
_S = TypeVar("_S")


@dataclass(frozen=True)
class Ways(Generic[_T]):
    """How an answer is asked for, and how two answers compare.

    `exact` ask the exact profile, each for more digits than the one before, and `roughly` asks for
    few, where the first of them is out of time. `by_orders` asks by Rényi orders, and
    `by_few_orders` tries some of them while there is time, one at least, where either is out of
    time. `closest` asks for all that an order proves. `others` lists ways to a bound that are about
    few expressions, or where the exact profile is not known; None says that one proves nothing.
    `against` says why an exact answer is not the better of two, or nothing, `is_least` whether
    nothing is smaller than an answer, `is_below_orders` whether no Rényi order proves less than an
    exact one, and `shown` is a short text of it for the line of progress.
    """

    exact: tuple[Callable[[], _T], ...]
    roughly: Callable[[], _T]
    by_orders: Callable[[], _T]
    by_few_orders: Callable[[], _T]
    closest: Callable[[], _T]
    others: Callable[[bool], Iterable[Callable[[], _T | None]]]
    against: Callable[[_T, _T | None], str]
    is_less: Callable[[_T, _T], bool]
    is_least: Callable[[_T], bool]
    is_below_orders: Callable[[_T], bool]
    shown: Callable[[_T], str]


@dataclass(frozen=True)
class Best(Generic[_T]):
    """The best answer that is proved, and why the exact profile does not give it.

    `in_time` is false where more time may prove a better one.
    """

    answer: _T
    not_exact: str = ""
    in_time: bool = True


def best(ways: Ways[_T]) -> Best[_T]:
    """The best answer that is proved within the question's time; an error where there is none.

    The exact profile comes first, because its number is mostly the smallest. Where it is only an
    upper bound, Rényi orders are asked as well, unless none proves less. Where its time is over, a
    few orders come next: they are cheap, and the first of them may take all the time that is left.
    """
    seconds = limits.current().seconds
    with progress(f"looking for the smallest number proved in {seconds} s", piped=True):
        return _Search(ways, Budget(seconds)).best()


class _Search(Generic[_T]):
    """A search for the best answer, which tries each way in its share of the question's time."""

    def __init__(self, ways: Ways[_T], budget: Budget) -> None:
        self.ways, self.budget = ways, budget
        #: Did each way that was tried end before its time?
        self.in_time = True

    def best(self) -> Best[_T]:
        """The best answer of all ways in the time left; the error of the one that refuses if none.

        LimitError where no way refused and none was in time.
        """
        ways = self.ways
        exact, refusal = self._exactly(_SCHEDULE.exact)
        if exact is not None and self._is_smallest(exact):
            return Best(exact)
        by_orders, order_refusal = None, None
        if exact is None and refusal is None:
            by_few_orders, _ = self._by_few_orders()
            bound = self._less(by_few_orders, self._others(False))
            by_orders, order_refusal = self._attempt(_SCHEDULE.by_orders, ways.by_orders)
            exact, refusal = self._exactly_again()
            if exact is not None and self._is_smallest(exact):
                return Best(exact)
            if exact is None and refusal is None:
                exact, refusal = self._attempt(_SCHEDULE.roughly, ways.roughly)
        else:
            if exact is None or ways.against(exact, None) or not ways.is_below_orders(exact):
                by_orders, order_refusal = self._by_orders()
            bound = self._others(exact is not None)
        if by_orders is not None:
            closest, _ = self._attempt(_SCHEDULE.all, ways.closest)
            bound = self._less(self._less(by_orders, closest), bound)
        if exact is not None:
            not_exact = ways.against(exact, bound)
            if not not_exact:
                return Best(exact, "", self.in_time)
        else:
            not_exact = f"not {time_words()}" if refusal is None else _unknown_reason(refusal)
        if bound is not None:
            return Best(bound, not_exact, self.in_time)
        # That no finite answer is true says more than that no order gives one.
        if isinstance(refusal, InfiniteError) or (refusal is not None and order_refusal is None):
            raise refusal
        raise order_refusal or nothing_in_time()

    def _others(self, has_profile: bool) -> _T | None:
        """The smallest bound of `ways.others`, which are about few expressions; None for none."""
        smallest: _T | None = None
        for way in self.ways.others(has_profile):
            bound, _ = self._attempt(_SCHEDULE.other, way)
            smallest = self._less(bound, smallest)
        return smallest

    def _is_smallest(self, exact: _T) -> bool:
        """Is nothing smaller than this answer of the exact profile, which has its digits?"""
        is_true_number = exact.kind is Kind.EXACT or self.ways.is_least(exact)
        return is_true_number and not self.ways.against(exact, None)

    def _exactly(self, share: Fraction) -> tuple[_T | None, SymacctError | None]:
        """The exact profile's answer to as many digits as time allows, or the error it raised.

        The first digits have a share of the time left; neither where it is over before them.
        """
        first, *further = self.ways.exact
        answer, refusal = self._attempt(share, first)
        for to_more_digits in further:
            if answer is None or self.ways.is_least(answer):
                break
            tell_so_far(self.ways.shown(answer))
            question = functools.partial(self.budget.ask, _SCHEDULE.exact, to_more_digits)
            better, _ = _attempt(question)
            if better is None:
                break
            answer = better
        return answer, refusal

    def _exactly_again(self) -> tuple[_T | None, SymacctError | None]:
        """The exact profile's answer, or its error, in more time than it had; neither for less.

        What needs more than its share ends early, so that the others may leave more than it had.
        """
        if self.budget.remaining() <= _SCHEDULE.exact * limits.current().seconds:
            return None, None
        return self._exactly(_SCHEDULE.again)

    def _by_orders(self) -> tuple[_T | None, SymacctError | None]:
        """The answer by Rényi orders, or by a few of them where all are out of time."""
        answer, refusal = self._attempt(_SCHEDULE.by_orders, self.ways.by_orders)
        return self._by_few_orders() if answer is None and refusal is None else (answer, refusal)

    def _by_few_orders(self) -> tuple[_T | None, SymacctError | None]:
        """The answer by a few Rényi orders, in all the time that is left."""
        return self._attempt(_SCHEDULE.all, self.ways.by_few_orders, _SCHEDULE.least_seconds)

    def _attempt(
        self, share: Fraction, way: Callable[[], _T | None], least_seconds: float = 0.0
    ) -> tuple[_T | None, SymacctError | None]:
        """A way's answer in a share of the time left, or its error; neither where time ran out.

        Neither too where a way proves nothing. It keeps in `in_time` whether time ran out.
        """
        ended = False

        def question() -> _T | None:
            nonlocal ended
            answer = way()
            ended = True
            return answer

        answer, refusal = _attempt(lambda: self.budget.ask(share, question, least_seconds))
        self.in_time = self.in_time and (ended or refusal is not None)
        return answer, refusal

    def _less(self, first: _T | None, second: _T | None) -> _T | None:
        """The smaller of two answers, the other where one is missing; None for none."""
        if first is None or second is None:
            return second if first is None else first
        return second if self.ways.is_less(second, first) else first


def _attempt(question: Callable[[], _S | None]) -> tuple[_S | None, SymacctError | None]:
    """The answer to a question and None, or None and the error of ours that it raised."""
    try:
        return question(), None
    except SymacctError as error:
        return None, error


def _unknown_reason(error: SymacctError) -> str:
    """Why the true number is not known, without the error's remedy, which was already taken."""
    if isinstance(error, CurveAloneError):
        return (
            f"not known: {error.name} fixes only a bound on the Rényi curve; the number to report "
            "is a bound that follows from it"
        )
    return f"not known: {error.finding}"


def pinned_conversion(conversion: str, orders: object, by: By) -> str:
    """The name of the conversion to use: BEST with orders or a theorem pinned is BY_ORDERS."""
    is_pinned = orders is not None or by is not None
    return BY_ORDERS if conversion == BEST and is_pinned else conversion


def best_guarantee(
    guarantee_by: Callable[[str, int], Guarantee],
    by_few_orders: Callable[[], Guarantee],
    others: Callable[[bool], Iterable[Callable[[], Guarantee | None]]],
    digits: int,
    are_requested: bool,
) -> Guarantee:
    """The guarantee with the smallest number that is proved within the question's time.

    `guarantee_by` takes a conversion's name and a number of digits, and `others` are bounds by no
    conversion. A note says where there are fewer than `digits`, if `are_requested`.
    """
    first = _SCHEDULE.first_digits
    counts = sorted({min(count, digits) for count in (first, SCREEN_DIGITS, digits)})
    result = best(
        Ways(
            exact=tuple(functools.partial(guarantee_by, TRUE, count) for count in counts),
            roughly=lambda: guarantee_by(TRUE, min(_SCHEDULE.rough_digits, digits)),
            by_orders=lambda: guarantee_by(BY_ORDERS, digits),
            by_few_orders=by_few_orders,
            closest=lambda: guarantee_by(CLOSEST, digits),
            others=others,
            against=against,
            is_less=is_less,
            is_least=lambda g: g.asked.upper == 0,
            is_below_orders=lambda g: g.needs_no_order and g.optimal,
            shown=lambda g: f"{g.letter} = {g.asked.rounded(SCREEN_DIGITS)}",
        )
    )
    answer = result.answer
    # 0 has all digits.
    digits_had = digits if answer.asked.upper == 0 else answer.asked.digits_asked
    if answer.conversion == TRUE and digits_had < min(digits, SCREEN_DIGITS):
        answer = _as_upper_bound(answer, digits)
        result = replace(result, in_time=False)
    elif answer.conversion == TRUE and digits_had < digits and are_requested:
        answer = _with_fewer_digits(answer, digits)
    answer = replace(answer, is_best=True, not_exact=result.not_exact)
    return answer if result.in_time else noted(answer, may_be_smaller(answer))


def noted(g: Guarantee, note: str) -> Guarantee:
    """The guarantee with one more note about its number, unless it has that note."""
    return g if note in g.note else replace(g, note="; ".join(filter(None, [g.note, note])))


def may_be_smaller(g: Guarantee) -> str:
    """A note that more time may prove a smaller number, and how it is given."""
    return (
        f"this is what is {time_words()}; {more_time()} may prove a smaller {g.letter}, and "
        f"conversion {TRUE} runs to its end"
    )


def _with_fewer_digits(g: Guarantee, digits: int) -> Guarantee:
    """The exact profile's guarantee with a note that it has fewer digits than were asked for."""
    digits_had = g.asked.digits_asked
    note = (
        f"{digits_had} digits of the {digits} asked for are {time_words()}; "
        "the number is safe to report"
    )
    return noted(g, note)


def _as_upper_bound(g: Guarantee, digits: int) -> Guarantee:
    """The upper bound that few digits of the exact profile prove; a note gives its lower end."""
    name = "epsilon" if g.epsilon is g.asked else "delta"
    claim = replace(g.asked.claim, kind=Kind.UPPER)
    bound = replace(g.asked, claim=claim, digits_asked=digits, exactly=None)
    number: dict[str, Any] = {name: bound}
    upper = replace(g, kind=Kind.UPPER, **number)
    if g.kind is not Kind.EXACT:
        return upper
    return noted(upper, f"{_lower_bound_words(g)}{g.asked.rounded_down(3)} is true")


def notes_lower_bound(g: Guarantee) -> bool:
    """Does the note of the guarantee give a lower bound of the true number?"""
    return _lower_bound_words(g) in g.note


def _lower_bound_words(g: Guarantee) -> str:
    return f"no {g.letter} below "


#: How the note of EXACT_IS_LARGER begins where nobody asked for the exact conversion.
_UNASKED_EXACT_IS_LARGER = "not known: the pairs that dominate prove only"


def against(exact: Guarantee, by_orders: Guarantee | None) -> str:
    """Why the exact profile's guarantee is not to be reported, or nothing where it is.

    It is reported if it is proved, is about the same neighbours, and is no larger than the other.
    """
    if not (exact.needs_no_order and exact.asked.certified and exact.claim.certified):
        reason = exact.note.replace(EXACT_IS_LARGER, _UNASKED_EXACT_IS_LARGER)
        return reason or "the exact profile is not certified"
    if by_orders is None:
        return ""
    if exact.claim.adjacency != by_orders.claim.adjacency:
        return f"the exact profile is that under {exact.claim.adjacency}"
    if is_less(by_orders, exact):
        return f"the dominating pair gives no less than {exact.asked.rounded(6)}"
    return ""


def is_less(first: Guarantee, second: Guarantee) -> bool:
    """Is the first number less in the digits that are printed?

    Digits beyond them differ by the precision at which each number was computed.
    """
    a, b = first.asked, second.asked
    same = a.exactly is not None and a.exactly == b.exactly
    return bool(not same and a.upper < b.upper and a.rounded() != b.rounded())


# --- accountants

#: The names of the engines, the one that certifies first.
ENGINES = ("ball", "mpmath", "float64")
#: What the argument orders= may be.
Asked: TypeAlias = str | Iterable[Numeric] | None
#: Bits of the ends of a float64 answer, many more than a double's 53, so that e^x adds no error.
#: Its error bar is no proof.
_FLOAT_END_BITS = 256
#: The relative error that a float64 answer states at least, however few operations made it. A
#: smaller one would be a bolder claim, of an engine that proves nothing.
_LEAST_FLOAT_ERROR = 2.0**-40
#: The tables of a curve whose entries are oracle calls: ε(α), its moments, and moments in a run.
_ORACLE_TABLES = ("", "excess", "dense")


class Accountant:
    """An accountant answers questions about expressions and remembers every curve value.

    `digits` is the default number of significant digits. `engine` is "ball" (certified), "mpmath"
    (an independent computation, not certified) or "float64" (fast, not certified). With "float64"
    some theorems, such as TRIPLE-GAUSSIAN, answer by an upper bound, because the proof for each
    order would take long. An answer never depends on earlier questions: a stored value is found
    again only if everything that could change it is the same. Raises DomainError for digits that
    are no whole number, LimitError for too many, and DomainError for another engine.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> accountant = Accountant(digits=12)
    >>> print(accountant.rdp(PoissonSubsample(Gaussian(5), "1/1000"), 100))
    2.04884750703e-6
    """

    #: The class of the evaluations whose values this accountant remembers.
    _evaluation: type[Evaluation] = Evaluation

    def __init__(self, digits: int = 30, engine: str = "ball") -> None:
        self.digits = parameters.digits(digits)
        self.engine = parameters.one_of(engine, "engine", ENGINES)
        self._memo: WeakKeyDictionary[Node, dict[Key, Remembered]] = WeakKeyDictionary()
        self._lock = new_lock()
        self._touched: dict[int, tuple[Remembered, str]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what a pickle gives back: the settings alone."""
        return type(self), (self.digits, self.engine)

    # --- remembering

    def oracle_calls(self, m: Node) -> int:
        """The number of distinct orders at which m's curve was evaluated and is still remembered.

        The polynomial that is summed once for all orders near a whole order is not counted, and
        neither are the values that are read from it.
        """
        with self._lock:
            tables = self._memo.get(as_node(m, "oracle_calls")._rewritten, {}).items()
            counted = [
                table
                for key, table in tables
                if isinstance(key, CurveKey) and not key.variant and key.derived in _ORACLE_TABLES
            ]
            return len({alpha for t in counted for alpha in t.all()})

    def clear(self) -> None:
        """Forget every value."""
        with self._asking():
            self._memo.clear()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """A lock around one question, so that one thread asks at a time.

        At the end of the outermost question each table it touched is cut to its limit in force.
        """
        is_nested = self._lock._is_owned()  # a question within a question forgets nothing
        with self._lock:
            try:
                yield
            finally:
                if not is_nested:
                    for table, limit in self._touched.values():
                        table.forget(getattr(limits.current(), limit))
                    self._touched.clear()

    def _table(self, node: Node, key: Key, limit: str = "values") -> Remembered:
        """The table of a node under a key of all that changes its values, made if there is none.

        It is kept as long as the node, and cut to the limit called `limit` after the question.
        """
        tables = self._memo.get(node)
        if tables is None:
            tables = self._memo[node] = {}
        table = tables.get(key)
        if table is None:
            table = tables[key] = Remembered()
        self._touched[id(table)] = table, limit
        return table

    def curve(self, m: Node, by: By = None) -> NodeCurve:
        """m's curve in balls at flint's current precision, its values remembered.

        Its kind is upper, or lower where `by` or the node's claim is.
        """
        return self._evaluation(BALL, goal_of(m, by), by, self._table).curve(m)

    # --- questions about the curve

    @overload
    def rdp(
        self, m: Node, alpha: Numeric, by: By = None, digits: int | None = None
    ) -> Enclosure: ...
    @overload
    def rdp(
        self, m: Node, alpha: OrderArray, by: By = None, digits: int | None = None
    ) -> np.ndarray: ...
    def rdp(
        self, m: Node, alpha: Numeric | OrderArray, by: By = None, digits: int | None = None
    ) -> Enclosure | np.ndarray:
        """ε(α) in nats as an Enclosure, for one order α ∈ [1, ∞]; see `Node.rdp`.

        With engine "float64" `alpha` may be an array of orders, and the answer is one of floats.
        """
        goal = goal_of(m, by)
        if self.engine == "float64" and isinstance(alpha, np.ndarray | list | tuple | range):
            return self._array(m, alpha, goal, by)
        return self._enclose(m, order(alpha), goal, by, digits)

    def cgf(self, m: Node, lam: Numeric, by: By = None, digits: int | None = None) -> Enclosure:
        """K(λ) = λ ε(λ+1) in nats as an Enclosure, for λ >= 0, or λ = −1, where it is 0.

        DomainError for another λ; AssumptionError at −1 where ε(1) is infinite.
        """
        if typed_value(lam, "lam") == -1:
            return self._at_minus_one(m, digits)
        factor = rational(lam, "lam")
        return self._enclose(m, order(factor + 1), goal_of(m, by), by, digits, factor)

    def _at_minus_one(self, m: Node, digits: int | None) -> Enclosure:
        """K(−1) = log Q(P > 0), 0 as P and Q have one support; AssumptionError unless ε(1) < ∞."""
        at_one = self._enclose(m, 1, goal_of(m, None), None, digits)
        if at_one.upper == INFINITY:
            raise AssumptionError(
                f"lam = -1: found ε(1) = ∞ for {echo(m)}, needed a finite ε(1): if the privacy "
                "loss may be infinite, K(-1) is not known to be 0"
            )
        zero = self._enclose(m, 1, goal_of(m, None), None, digits, 0)
        return replace(zero, claim=replace(zero.claim, kind=Kind.EXACT))

    def lower_bound(self, m: Node, alpha: Numeric, digits: int | None = None) -> Enclosure:
        """The largest proved lower bound of ε(α), of kind `lower` even if it is the exact value.

        SoundnessError where a part is about larger groups of records, whose curve is then no bound.
        """
        as_node(m, "lower_bound")
        bound = self._enclose(m, order(alpha), Kind.LOWER, None, digits)
        if bound.claim.kind not in (Kind.EXACT, Kind.LOWER):
            raise SoundnessError(
                f"lower_bound: found {echo(m)}, a part of which is about larger groups of records "
                "than the whole, needed parts about the same neighbours",
                remedy="ask rdp instead",
            )
        return replace(bound, claim=replace(bound.claim, kind=Kind.LOWER))

    def _enclose(
        self,
        m: Node,
        alpha: Order,
        goal: Kind,
        by: By,
        digits: int | None,
        factor: Fraction | int = 1,
    ) -> Enclosure:
        """An enclosure of factor·ε(α) to the digits, in the accountant's arithmetic.

        `digits` None stands for the accountant's. For factor = 0 it is 0, whatever ε(α) is.
        """
        refuse_symbols(m, alpha)
        digits = self.digits if digits is None else parameters.digits(digits)
        by_engine = {"ball": self._by_balls, "mpmath": self._by_mpmath, "float64": self._by_float64}
        with self._asking():
            return by_engine[self.engine](m, alpha, goal, by, digits, factor)

    def _by_balls(
        self, m: Node, alpha: Order, goal: Kind, by: By, digits: int, factor: Fraction | int
    ) -> Enclosure:
        """A proved enclosure of factor · ε(α), at a precision doubled until it has the digits."""

        def value() -> tuple[arb, Claim]:
            curve = self._evaluation(BALL, goal, by, self._table).curve(m)
            ball = curve(alpha) if factor else arb(0)  # K(0) = 0, whatever ε(1) is
            return (ball if factor == 1 else ball * BALL.number(factor)), curve.claim(alpha)

        ball, claim, _ = to_digits(value, digits, lambda: f"{echo(m)} at order {echo(alpha)}")
        enclosure = from_ball(ball, claim, digits, claim.certified)
        return as_decimal(enclosure, m, alpha, goal, by, factor)

    def _by_mpmath(
        self, m: Node, alpha: Order, goal: Kind, by: By, digits: int, factor: Fraction | int
    ) -> Enclosure:
        """factor·ε(α) where two mpmath precisions agree to the digits; not a proof.

        PrecisionError where none do up to the limit on bits.
        """
        coarse: Number = None
        # In turn, for what is lost in a rounding downwards is not in one upwards.
        directions = itertools.cycle((MpmathArithmetic, UpwardMpmathArithmetic))
        for bits in doubled(first_bits(digits)):
            ctx = next(directions)(bits)
            curve = self._evaluation(ctx, goal, by, self._table).curve(m)
            fine = curve(alpha) if factor else ctx.number(0)
            if ctx.is_infinite(fine):
                return _uncertified(fine, fine, curve.claim(alpha), digits)
            fine = fine * ctx.number(factor)
            if coarse is not None and fine >= 0:
                error = abs(fine - coarse)
                if fine == coarse or error <= abs(fine) * ctx.number(Fraction(1, 10**digits)) / 2:
                    return _uncertified(fine - error, fine + error, curve.claim(alpha), digits)
            coarse = fine
        raise undecided(f"{echo(m)} at order {alpha}", digits)

    def _by_float64(
        self, m: Node, alpha: Order, goal: Kind, by: By, digits: int, factor: Fraction | int
    ) -> Enclosure:
        """factor · ε(α) in float64, of about 12 digits less what cancels; not a proof."""
        curve = self._evaluation(FLOAT64, goal, by, self._table).curve(m)
        value = curve(alpha) if factor else FLOAT64.number(0)
        if not FLOAT64.is_infinite(value):
            value = value * FLOAT64.number(factor)
        return _uncertified(*_ends(value), curve.claim(alpha), digits)

    def _array(self, m: Node, alphas: OrderArray, goal: Kind, by: By) -> np.ndarray:
        """ε at an array of orders in float64, of any shape; ∞ where the curve is infinite.

        NaN where no digit is known. DomainError for NaN, an order below 1, and an empty array.
        """
        refuse_symbols(m)
        orders = np.asarray(alphas, dtype=np.float64)
        if orders.size == 0 or np.isnan(orders).any() or (orders < 1).any():
            raise DomainError("order alpha: found NaN, an order below 1 or none, needed 1 <= alpha")
        with self._lock:
            curve = self._evaluation(FLOAT64, goal, by, self._table).curve(m)
            values = np.array(curve(orders.ravel()).known())
            for i in np.flatnonzero(np.isnan(values)):  # an array gives NaN where a term is ∞
                at_order = curve(array_order(orders.flat[i]))
                values[i] = INFINITY if FLOAT64.is_infinite(at_order) else at_order.known()
            return values.reshape(orders.shape)

    # --- (ε, δ)

    def epsilon(
        self,
        m: Node,
        delta: Numeric,
        conversion: str = BEST,
        orders: Asked = None,
        by: By = None,
        digits: int | None = None,
    ) -> Guarantee:
        """The Guarantee with the smallest ε for δ ∈ [0, 1); see `Node.epsilon`."""
        return self._ask(m, True, given_delta(delta), conversion, orders, by, digits)

    def delta(
        self,
        m: Node,
        epsilon: Numeric,
        conversion: str = BEST,
        orders: Asked = None,
        by: By = None,
        digits: int | None = None,
    ) -> Guarantee:
        """The Guarantee with the smallest δ for ε >= 0; see `Node.delta`."""
        fraction = rational(epsilon, "epsilon")
        return self._ask(m, False, fraction, conversion, orders, by, digits)

    def _ask(
        self,
        m: Node,
        asks_epsilon: bool,
        value: Fraction,
        conversion: str,
        orders: Asked,
        by: By,
        digits: int | None,
    ) -> Guarantee:
        """The guarantee by the named conversion, or the best one that is proved in time.

        SoundnessError for a lower bound or a theorem that is not proved, and DomainError for open
        symbols or an engine that certifies nothing: no conversion makes a guarantee of these.
        """
        conversion = pinned_conversion(conversion, orders, by)
        pinned = None if conversion == BEST else proved_conversion(conversion)
        usual = pinned or proved_conversion(BY_ORDERS)
        question = EpsilonDelta(
            m=m, by=by, conversion=usual, asks_epsilon=asks_epsilon, value=value
        )
        refuse_symbols(as_node(m, "epsilon"))
        if goal_of(m, by) is Kind.LOWER:
            raise SoundnessError(
                f"{echo(m)}: found only a lower bound, which guarantees nothing; "
                "needed an exact curve or an upper bound"
            )
        for theorem in theorem_registry.all_named(by):
            remedy = "ask without by, or ask rdp for the number"
            theorem_registry.check_proved(theorem.name, theorem.status, remedy)
        if self.engine != "ball":
            raise DomainError(
                f"engine: found {echo(self.engine)}, needed 'ball': a guarantee has to be certified"
            )
        is_default, digits = digits is None, self.digits if digits is None else digits
        digits = parameters.digits(digits)
        if pinned is not None:
            return self._guarantee(question, orders, digits, is_default)
        return self._best(question, digits, is_default)

    def lower_epsilon(self, m: Node, delta: Numeric, digits: int | None = None) -> Enclosure:
        """A proved lower bound of the true ε(δ), of kind `lower`; see `Node.lower_epsilon`."""
        return self._lower(m, True, given_delta(delta), digits)

    def lower_delta(self, m: Node, epsilon: Numeric, digits: int | None = None) -> Enclosure:
        """A proved lower bound of the true δ(ε), of kind `lower`; see `Node.lower_epsilon`."""
        return self._lower(m, False, rational(epsilon, "epsilon"), digits)

    def _lower(self, m: Node, asks_epsilon: bool, value: Fraction, digits: int | None) -> Enclosure:
        """A lower bound of the true ε(δ), or of the true δ(ε), by the exact profile."""
        m = as_node(m, "lower_epsilon")
        refuse_symbols(m)
        digits = self.digits if digits is None else parameters.digits(digits)
        if (parts := failures(m)) is not None and parts.is_shown:
            return parts.lower(
                asks_epsilon, value, digits, lambda m, at: self._lower(m, asks_epsilon, at, digits)
            )
        with self._asking(), precision(first_bits(digits)):
            exact = proved_conversion(TRUE)
            assert isinstance(exact, WholeProfile)  # noqa: S101  # it is registered as that
            return exact.lower_bound(m._rewritten, asks_epsilon, value, digits)

    def _best(self, question: EpsilonDelta, digits: int, is_default: bool) -> Guarantee:
        """The guarantee with the smallest number proved in time, remembered under the limits."""

        def guarantee_by(conversion: str, digits: int) -> Guarantee:
            by_conversion = replace(question, conversion=proved_conversion(conversion))
            return self._guarantee(by_conversion, None, digits, True)

        def by_few_orders() -> Guarantee:
            few = replace(question, m=theorem_node(question.m, question.by))
            return self._search(few, min(digits, _SCHEDULE.few_order_digits)).over_few_orders()

        def others(has_profile: bool) -> Iterator[Callable[[], Guarantee | None]]:
            arguments_of_way = question.m, question.value, min(digits, SCREEN_DIGITS)
            for way in question.m._ways(has_profile):
                bound = way.epsilon if question.asks_epsilon else way.delta
                yield functools.partial(bound, *arguments_of_way)

        def answer() -> Guarantee:
            return best_guarantee(guarantee_by, by_few_orders, others, digits, not is_default)

        return self._remembered(question.m, (question.key, BEST, digits, is_default), answer)

    def _guarantee(
        self, question: EpsilonDelta, orders: Asked, digits: int, is_default: bool
    ) -> Guarantee:
        """The guarantee by the question's conversion; remembered unless orders are listed."""
        if orders is not None and not isinstance(orders, str):
            with self._asking():
                return self._answer(question, orders, digits, is_default).of(question.m)
        key = (*question.key, orders, digits, is_default)
        return self._remembered(
            question.m, key, lambda: self._answer(question, orders, digits, is_default)
        )

    def _remembered(
        self, m: Node, question_key: Key, compute: Callable[[], Guarantee]
    ) -> Guarantee:
        """The guarantee, computed once for all questions of this key under these limits."""
        with self._asking():
            key = ("guarantees", limits.current(), theorem_registry.register.revision)
            answers = self._table(m, key, "answers")
            guarantee: Guarantee | None = answers[question_key]
            if guarantee is None:
                # What is remembered of a node must not keep it alive.
                guarantee = answers[question_key] = replace(compute(), mechanism=None)
            return guarantee.of(m)

    def _answer(
        self, question: EpsilonDelta, orders: Asked, digits: int, is_default: bool = False
    ) -> Guarantee:
        """The guarantee by the question's conversion, computed anew.

        The failures of an expression are taken out of δ first. A conversion of Rényi orders looks
        for the best order, and the exact profile is compared with the curve where it may be larger.
        """
        if (parts := failures(question.m)) is not None:
            return parts.guarantee(
                question, digits, lambda rest: self._answer(rest, orders, digits, is_default)
            )
        if (parts := failures(question.m, bounded=True)) is not None:
            return self._no_larger_than_its_failures(parts, question, orders, digits, is_default)
        return self._of_what_does_not_fail(question, orders, digits, is_default)

    # Proved in docs/proofs/conversions.md, Lemma failing-below.
    def _no_larger_than_its_failures(
        self,
        parts: Failures,
        question: EpsilonDelta,
        orders: Asked,
        digits: int,
        is_default: bool,
    ) -> Guarantee:
        """The guarantee of an expression that fails below a sample, by what is proved of it.

        No order has a finite ε. The exact profile may have a pair of the whole, which is compared
        with the bound by the failures unless it is exact.
        """

        def by_failures() -> Guarantee:
            return parts.guarantee(
                question, digits, lambda rest: self._answer(rest, orders, digits, is_default)
            )

        if isinstance(question.conversion, Conversion):
            return by_failures()
        try:
            whole = self._of_what_does_not_fail(question, orders, digits, is_default)
        except (AssumptionError, InfiniteError):  # no pair is known of the whole
            return by_failures()
        except (PrecisionError, LimitError):  # or not to these digits
            with contextlib.suppress(SymacctError):
                return by_failures()
            raise
        if (whole.kind is not Kind.EXACT or whole.note) and whole.asked.upper != 0:
            with contextlib.suppress(SymacctError):
                if (bound := by_failures()).asked.upper < whole.asked.upper:
                    return bound
        return whole

    def _of_what_does_not_fail(
        self, question: EpsilonDelta, orders: Asked, digits: int, is_default: bool
    ) -> Guarantee:
        """The guarantee by the curve or the exact profile of the expression as it stands."""
        by = question.by
        if (m := theorem_node(question.m, by)) is not question.m:
            question = replace(question, m=m)
        if isinstance(question.conversion, Conversion):
            search = self._search(question, digits)
            if isinstance(question.conversion, OrderOne):
                return at_order_one(search, orders)
            best = search.answer(orders)
            is_unpinned = orders is None or isinstance(orders, str)
            return no_larger_at_one(best, search) if is_unpinned else best
        exact = question.conversion
        exact.refuse_pinned(orders, question.by)
        laws = exact.remembered(question.m, self._table)
        by_curve = replace(question, conversion=proved_conversion(BY_ORDERS))
        return by_the_profile(
            lambda digits: question.with_exact_epsilon(
                laws.guarantee(question.asks_epsilon, question.value, digits)
            ),
            digits,
            is_default,
            (lambda: self._answer(by_curve, None, digits)) if laws.may_exceed_curve else None,
        )

    def _search(self, question: EpsilonDelta, digits: int) -> BestOrder:
        """The search for the order at which the question's conversion proves the least ε or δ."""
        return BestOrder(
            question,
            digits,
            lambda: self._evaluation(BALL, Kind.UPPER, question.by, self._table),
        )


def certified_number(
    value: Callable[[Accountant], tuple[arb, Claim]], digits: int, what: str, signed: bool = False
) -> Enclosure:
    """The Enclosure of a number computed from the default accountant's curves, to the digits.

    `value` gives a ball and its claim at the current precision, which is doubled until the ball has
    the digits; PrecisionError about `what` if it never has. Unless `signed`, the number is >= 0.
    """
    digits, accountant = parameters.digits(digits), default_accountant()
    with accountant._asking():
        ball, claim, _ = to_digits(lambda: value(accountant), digits, lambda: what)
    return from_ball(ball, claim, digits, claim.certified, signed)


_default_accountants = {engine: Accountant(engine=engine) for engine in ENGINES}


def default_accountant(engine: str = "ball") -> Accountant:
    """The accountant that the questions asked of a node go to, one for each engine.

    DomainError for an unknown engine.
    """
    return _default_accountants[parameters.one_of(engine, "engine", ENGINES)]


def asked_of(
    m: Node, delta: Numeric | None = None, epsilon: Numeric | None = None, **how: Any
) -> Guarantee:
    """The default accountant's guarantee at this δ, or at this ε: one of the two is given.

    `how` is that of `Node.epsilon`. Raises DomainError for both of them, or none.
    """
    if (delta is None) == (epsilon is None):
        raise DomainError(
            f"found delta={echo(delta)} and epsilon={echo(epsilon)}, needed one of them"
        )
    accountant = default_accountant()
    if delta is not None:
        return accountant.epsilon(m, delta, **how)
    assert epsilon is not None  # noqa: S101  # one of the two is given
    return accountant.delta(m, epsilon, **how)


def refuse_symbols(m: Node, alpha: Order = 2) -> None:
    """DomainError for an expression or an order with a symbol left open."""
    symbols = sorted(map(str, as_node(m, "expression").free_symbols))
    if not isinstance(alpha, int | float | Fraction):
        symbols += sorted(map(str, alpha.free_symbols)) or [str(alpha)]
    if symbols:
        raise DomainError(
            f"found the free symbol {', '.join(symbols)}, needed a number",
            remedy="put a number in its place, or ask for the formula",
        )


def _uncertified(low: mpmath.mpf, high: mpmath.mpf, claim: Claim, digits: int) -> Enclosure:
    """The enclosure of [max(low, 0), high], whose claim is not certified."""
    low, high = (mpmath.mp.make_mpf(x._mpf_) for x in (low, high))
    return Enclosure(max(low, mpmath.mpf(0)), high, replace(claim, certified=False), False, digits)


def _ends(x: LogNumber) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The ends of a LogNumber >= 0 by its error, at least _LEAST_FLOAT_ERROR.

    0 and ∞ where the error is infinite, or the number negative, so that nothing is known.
    """
    mp = MpmathArithmetic(_FLOAT_END_BITS).mp
    log, error = mp.mpf(float(x.log)), mp.mpf(max(float(x.error), _LEAST_FLOAT_ERROR))
    if not mp.isfinite(float(x.error)) or x.sign < 0:
        return mp.zero, mp.inf
    return mp.exp(log - error), mp.exp(log + error)


# --- the numbers of a formula


class FormulaEvaluation(Evaluation):
    """An evaluation by the theorems that formulas and code use: each has a value at every order."""

    variant = ("stating",)
    is_of_formulas = True

    def with_theorem(self, ctx: Arithmetic, by: By) -> Evaluation:
        """The evaluation in formulas with another pinned theorem."""
        return FormulaEvaluation(ctx, self.goal, by, self.memo)


class FormulaAccountant(Accountant):
    """An accountant of the certified values of formulas and code, which may lie above `rdp`'s."""

    _evaluation = FormulaEvaluation
