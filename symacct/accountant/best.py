"""The smallest number that is proved within a question's time, by whichever conversion proves it.

A question has `limits(seconds=…)` seconds of processor time for all that it asks. What is proved by
then is the answer, and a note says so where more time may prove a smaller number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from symacct.core import limits
from symacct.core.claims import Kind
from symacct.core.deadline import Budget
from symacct.core.errors import CurveAloneError, InfiniteError, LimitError, SymacctError
from symacct.core.pinning import By
from symacct.rdp.question import LARGER
from symacct.results.enclosure import Guarantee
from symacct.results.progress import progress, tell_so_far
from symacct.theory.conversion import BEST

#: Conversions: the usual one of a Rényi order, all that an order proves, and the exact profile.
BY_ORDERS, CLOSEST, TRUE = "improved", "optimal", "exact"
#: Digits of a screen, those that the exact profile is asked for first, and where these take long.
SCREEN_DIGITS, _SOME_DIGITS, _FEW_DIGITS = 6, 4, 2
_MORE_TIME = 3  # times the seconds that a note proposes
#: Shares of the time that is left, of each way when it is its turn; the rest is for the last one.
_EXACT = _BY_ORDERS = _ROUGHLY = Fraction(1, 2)
_OTHER = Fraction(3, 4)
_ALL = Fraction(1)
#: Seconds of a few orders, though a way before them was longer than its share: half of the one that
#: a question may be late by.
_LEAST = 0.5


class OfAKind(Protocol):
    """What is answered by one conversion or another: true, or an upper bound of what is."""

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
    `against` says why an exact answer is not the better of two, or nothing, and `shown` is a short
    text of an answer for the line of progress.
    """

    exact: tuple[Callable[[], _T], ...]
    roughly: Callable[[], _T]
    by_orders: Callable[[], _T]
    by_few_orders: Callable[[], _T]
    closest: Callable[[], _T]
    others: Callable[[bool], Iterable[Callable[[], _T | None]]]
    against: Callable[[_T, _T | None], str]
    is_less: Callable[[_T, _T], bool]
    shown: Callable[[_T], str]


@dataclass(frozen=True)
class Best(Generic[_T]):
    """The best answer that is proved, why the exact profile does not give it, and what time did.

    `in_time` is false where more time may prove a better one.
    """

    answer: _T
    not_exact: str = ""
    in_time: bool = True


def best(ways: Ways[_T]) -> Best[_T]:
    """The best answer that is proved within the question's time; an error where there is none.

    The exact profile comes first, as it is mostly the least; where it is a bound, orders do too.
    Where its time is over a few orders come next: they are cheap, and the first of them may take
    all that is left.
    """
    seconds = limits.current().seconds
    with progress(f"looking for the smallest number proved in {seconds} s", piped=True):
        return _Search(ways, Budget(seconds)).best()


class _Search(Generic[_T]):
    """The ways that are tried, each in its share of the question's time, and what they gave."""

    def __init__(self, ways: Ways[_T], budget: Budget) -> None:
        self.ways, self.budget = ways, budget
        #: Did each way that was tried end before its time?
        self.in_time = True

    def best(self) -> Best[_T]:
        ways = self.ways
        exact, untrue = self._exactly()
        if exact is not None and exact.kind is Kind.EXACT and not ways.against(exact, None):
            return Best(exact)
        if exact is None and untrue is None:
            few, _ = self._tried(_ALL, ways.by_few_orders, _LEAST)
            known = self._less(few, self._others(False))
            by_orders, refused = self._tried(_BY_ORDERS, ways.by_orders)
            exact, untrue = self._tried(_ROUGHLY, ways.roughly)
        else:
            by_orders, refused = self._by_orders()
            known = self._others(exact is not None)
        if by_orders is not None:
            closest, _ = self._tried(_ALL, ways.closest)
            known = self._less(self._less(by_orders, closest), known)
        if exact is not None:
            not_exact = ways.against(exact, known)
            if not not_exact:
                return Best(exact, "", self.in_time)
        else:
            not_exact = f"not {late()}" if untrue is None else _not_known(untrue)
        if known is not None:
            return Best(known, not_exact, self.in_time)
        # That no finite answer is true says more than that no order gives one.
        if isinstance(untrue, InfiniteError) or (untrue is not None and refused is None):
            raise untrue
        raise refused or LimitError(
            f"found nothing that is {late()}; needed more time, {_more_time()}"
        )

    def _others(self, has_profile: bool) -> _T | None:
        """The best of the bounds that are about few expressions, if any is about this one."""
        least: _T | None = None
        for other in self.ways.others(has_profile):
            found, _ = self._tried(_OTHER, other)
            least = self._less(found, least)
        return least

    def _exactly(self) -> tuple[_T | None, SymacctError | None]:
        """The exact profile's answer to as many digits as are had, or the error that refuses it."""
        first, *others = self.ways.exact
        found, refused = self._tried(_EXACT, first)
        for more in others:
            if found is None:
                break
            tell_so_far(self.ways.shown(found))
            better, _ = _tried(functools.partial(self.budget.ask, _EXACT, more))
            if better is None:
                break
            found = better
        return found, refused

    def _by_orders(self) -> tuple[_T | None, SymacctError | None]:
        """What Rényi orders give, or where they are out of time a few of them."""
        found, refused = self._tried(_BY_ORDERS, self.ways.by_orders)
        if found is None and refused is None:
            found, refused = self._tried(_ALL, self.ways.by_few_orders, _LEAST)
        return found, refused

    def _tried(
        self, share: Fraction, way: Callable[[], _T | None], least: float = 0.0
    ) -> tuple[_T | None, SymacctError | None]:
        """The answer, or the error that refuses it; neither where its time is over."""
        ended = False

        def question() -> _T | None:
            nonlocal ended
            found = way()
            ended = True
            return found

        found, refused = _tried(lambda: self.budget.ask(share, question, least))
        self.in_time = self.in_time and (ended or refused is not None)
        return found, refused

    def _less(self, one: _T | None, other: _T | None) -> _T | None:
        """The better of two answers, of which each may not be there."""
        if one is None or other is None:
            return other if one is None else one
        return other if self.ways.is_less(other, one) else one


def _tried(question: Callable[[], _S | None]) -> tuple[_S | None, SymacctError | None]:
    """The answer, or the error that refuses it."""
    try:
        return question(), None
    except SymacctError as error:
        return None, error


def late() -> str:
    """What is said of what was not found in the question's time."""
    return f"computed within {limits.current().seconds} s"


def _more_time() -> str:
    return f"{_MORE_TIME * limits.current().seconds} seconds"


def _not_known(error: SymacctError) -> str:
    """Why the true number is not known; the remedy was taken, which is to ask by orders."""
    if isinstance(error, CurveAloneError):
        return (
            f"not known: {error.name} fixes only a bound on the Rényi curve; the number to report "
            "is a bound that follows from it"
        )
    return f"not known: {error.finding}"


def pinned_conversion(conversion: str, orders: object, by: By) -> str:
    """The conversion asked for; orders or a theorem pin BY_ORDERS in the place of BEST."""
    is_pinned = orders is not None or by is not None
    return BY_ORDERS if conversion == BEST and is_pinned else conversion


def best_guarantee(
    ask: Callable[[str, int], Guarantee],
    by_few_orders: Callable[[], Guarantee],
    others: Callable[[bool], Iterable[Callable[[], Guarantee | None]]],
    digits: int,
    are_asked: bool,
) -> Guarantee:
    """The guarantee with the smallest number that is proved within the question's time.

    `ask` is asked by a conversion to so many digits, and `others` are bounds by no conversion.
    Fewer digits than `digits` are noted where `are_asked` says that somebody asked for them.
    """

    counts = sorted({min(count, digits) for count in (_SOME_DIGITS, SCREEN_DIGITS, digits)})
    found = best(
        Ways(
            exact=tuple(functools.partial(ask, TRUE, count) for count in counts),
            roughly=lambda: ask(TRUE, min(_FEW_DIGITS, digits)),
            by_orders=lambda: ask(BY_ORDERS, digits),
            by_few_orders=by_few_orders,
            closest=lambda: ask(CLOSEST, digits),
            others=others,
            against=against,
            is_less=is_less,
            shown=lambda g: f"{g.letter} = {g.asked.rounded(SCREEN_DIGITS)}",
        )
    )
    answer, had = found.answer, found.answer.asked.digits_asked
    if answer.conversion == TRUE and had < min(digits, SCREEN_DIGITS):
        answer = _as_bound(answer, digits)
        found = replace(found, in_time=False)
    elif answer.conversion == TRUE and had < digits and are_asked:
        answer = _of_fewer(answer, digits)
    answer = replace(answer, is_best=True, not_exact=found.not_exact)
    return answer if found.in_time else noted(answer, may_be_smaller(answer))


def noted(g: Guarantee, note: str) -> Guarantee:
    """The guarantee with one more thing to know about its number, said once."""
    return g if note in g.note else replace(g, note="; ".join(filter(None, [g.note, note])))


def may_be_smaller(g: Guarantee) -> str:
    """A note that more time may prove a smaller number, and how it is given."""
    return (
        f"this is what is {late()}; {_more_time()} may prove a smaller {g.letter}, and "
        f"conversion {TRUE} runs to its end"
    )


def _of_fewer(g: Guarantee, digits: int) -> Guarantee:
    """The exact profile's guarantee to fewer digits than were asked for."""
    had = g.asked.digits_asked
    note = f"{had} digits of the {digits} asked for are {late()}; the number is safe to report"
    return noted(g, note)


def _as_bound(g: Guarantee, digits: int) -> Guarantee:
    """What few digits of the exact profile prove from above, with a note what is true at least."""
    name = "epsilon" if g.epsilon is g.asked else "delta"
    claim = replace(g.asked.claim, kind=Kind.UPPER)
    bound = replace(g.asked, claim=claim, digits_asked=digits, exactly=None)
    asked: dict[str, Any] = {name: bound}
    found = replace(g, kind=Kind.UPPER, **asked)
    if g.kind is not Kind.EXACT:
        return found
    return noted(found, f"{_no_less(g)}{g.asked.rounded_down(3)} is true")


def says_least(g: Guarantee) -> bool:
    """Does the note of the guarantee say what the true number is at least?"""
    return _no_less(g) in g.note


def _no_less(g: Guarantee) -> str:
    return f"no {g.letter} below "


#: In the place of LARGER where nobody asked for the exact conversion.
_ONLY = "not known: the pairs that dominate prove only"


def against(exact: Guarantee, by_orders: Guarantee | None) -> str:
    """Why the exact profile's guarantee is not to be reported, or nothing where it is.

    It has to be proved, of the same neighbours, and no larger than the other.
    """
    if not (exact.needs_no_order and exact.asked.certified and exact.claim.certified):
        return exact.note.replace(LARGER, _ONLY) or "the exact profile is not certified"
    if by_orders is None:
        return ""
    if exact.claim.adjacency != by_orders.claim.adjacency:
        return f"the exact profile is that under {exact.claim.adjacency}"
    if is_less(by_orders, exact):
        return f"the dominating pair gives no less than {exact.asked.rounded(6)}"
    return ""


def is_less(one: Guarantee, than: Guarantee) -> bool:
    """Is it less in the digits that are printed? Ends beyond differ by how far each was found."""
    a, b = one.asked, than.asked
    same = a.exactly is not None and a.exactly == b.exactly
    return bool(not same and a.upper < b.upper and a.rounded() != b.rounded())
