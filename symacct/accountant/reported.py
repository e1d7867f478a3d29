"""The number to report: the smallest that is proved, the true one where it is known in time."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from symacct.accountant.accountant import Accountant
from symacct.core import arguments, limits
from symacct.core.claims import Adjacency, Kind
from symacct.core.errors import CurveAloneError, DomainError, InfiniteError, SymacctError, echo
from symacct.core.exact import Numeric
from symacct.core.pinning import By
from symacct.expressions.node import Node
from symacct.rdp.question import LARGER
from symacct.results.enclosure import Guarantee
from symacct.results.progress import progress
from symacct.results.rounding import given
from symacct.results.time_limit import OutOfTimeError, TimeBeside
from symacct.theory.conversion import BEST

#: Conversions: the usual one of a Rényi order, all that an order proves, and the exact profile.
#: BEST is whichever of the three proves the smallest number.
BY_ORDERS, CLOSEST, TRUE = "improved", "optimal", "exact"
#: What is asked of the exact profile where all digits took too long, and how much more time for it.
_FEW_DIGITS, _TIMES = 2, 2
#: The remedy of an error that the number by Rényi orders, which is reported then, does not need.
_REMEDY = re.compile(rf"(; use|,? or(?: for)?) conversion={BY_ORDERS!r}( for the bound.*)?$")


class OfAKind(Protocol):
    """What is answered by one conversion or another: true, or an upper bound of what is."""

    @property
    def kind(self) -> Kind: ...


_T = TypeVar("_T", bound=OfAKind)


@dataclass(frozen=True)
class Reported(Generic[_T]):
    """The best proved answer, with the one by Rényi orders and why there is no better one.

    `by_orders` is None where only the exact profile answers, or where a conversion was pinned.
    `not_exact` says in words why the exact profile is not the answer. `beside` is the
    time for everything that is found beside an answer. `in_time` is false where the exact
    profile was given up, or gave few digits, so that more time may prove a smaller number.
    """

    best: _T
    by_orders: _T | None
    not_exact: str
    beside: TimeBeside
    in_time: bool = True


def best(
    ask: Callable[[str], _T],
    against: Callable[[_T, _T | None], str],
    is_less: Callable[[_T, _T], bool],
    roughly: Callable[[], _T] | None = None,
) -> Reported[_T]:
    """What `ask` answers by the exact profile, or by Rényi orders where that is better.

    `against` says why the first is not the better one, or nothing; `is_less` compares two answers.
    The exact profile has `limits(report=…)` seconds, and `roughly`, a bound by it, twice as many
    where these were not enough. Where it is beaten, or only a bound, all that an order proves is
    asked for too: beside what the usual conversion has computed, that costs no more than it did.
    An error is raised where nothing answers. What takes long says so, in a pipe too.
    """
    seconds = limits.current().report
    then = "" if roughly is None else f", then {_TIMES * seconds} s for two"
    told = f"looking for the exact privacy profile, {seconds} s for all digits{then}"
    with progress(told, piped=True):
        return _best(ask, against, is_less, roughly)


def _best(
    ask: Callable[[str], _T],
    against: Callable[[_T, _T | None], str],
    is_less: Callable[[_T, _T], bool],
    roughly: Callable[[], _T] | None,
) -> Reported[_T]:
    by_orders, failed, untrue, late = None, None, None, ""
    try:
        by_orders = ask(BY_ORDERS)
    except SymacctError as error:
        failed = error

    @functools.cache
    def closest() -> _T | None:
        with contextlib.suppress(SymacctError):
            if by_orders is not None and is_less(closer := ask(CLOSEST), by_orders):
                return closer
        return by_orders

    seconds, reason = limits.current().report, ""
    for allowed, question in ((seconds, lambda: ask(TRUE)), (_TIMES * seconds, roughly)):
        if question is None:
            break
        time = TimeBeside(allowed)
        try:
            exact = time.ask(question)
        except OutOfTimeError:
            late = late or time.left_out(f"--conversion {TRUE}")
            continue
        except SymacctError as error:
            reason, untrue = _not_known(error), error
        else:
            known = by_orders if exact.kind is Kind.EXACT else closest()
            reason = against(exact, known)
            if not reason:
                return Reported(exact, by_orders, "", TimeBeside(), not late)
        break
    if by_orders is None:
        assert failed is not None  # noqa: S101  # there was no answer
        # That no finite answer is true says more than that no order gives one.
        raise untrue if isinstance(untrue, InfiniteError) else failed
    least = closest()
    assert least is not None  # noqa: S101  # as by_orders is there
    return Reported(least, least, late or reason, TimeBeside(), not late)


def _not_known(error: SymacctError) -> str:
    """Why the true number is not known, without the remedy that was taken: to ask by orders."""
    if isinstance(error, CurveAloneError):
        return (
            f"not known: {error.name} fixes only a bound on the Rényi curve; the number to report "
            "is a bound that follows from it"
        )
    said = str(error).removeprefix(f"conversion={TRUE!r}: ")
    return f"not known: {_REMEDY.sub('', said)}"


def pinned(answer: _T) -> Reported[_T]:
    """The answer by a conversion that was pinned, which is the author's decision."""
    return Reported(answer, None, "", TimeBeside())


def pinned_conversion(conversion: str | None, orders: object, by: By) -> str | None:
    """The conversion that answers alone, or None where the best that is proved is asked for.

    Orders or a theorem alone pin the one by Rényi orders; DomainError for them with "best".
    """
    is_pinned = orders is not None or by is not None
    if conversion == BEST and is_pinned:
        raise DomainError(
            f"conversion: found {BEST!r} with orders or a theorem, needed it alone, or another one"
        )
    if conversion is None:
        return BY_ORDERS if is_pinned else None
    return None if conversion == BEST else conversion


def reported(
    m: Node,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
    digits: int = 6,
    *,
    conversion: str | None = None,
    orders: str | list[str] | None = None,
    by: By = None,
    engine: str = "ball",
) -> Reported[Guarantee]:
    """The guarantee to report at this δ, or at this ε: one of the two is given.

    A conversion, orders or a theorem that is pinned is the author's decision: it is the answer.
    Raises DomainError for both of them, or none.

    >>> from symacct import Gaussian
    >>> print(reported(Gaussian(5), delta="1e-5").best.epsilon.rounded_up(5))
    0.72553
    """

    if (delta is None) == (epsilon is None):
        raise DomainError(
            f"found delta={echo(delta)} and epsilon={echo(epsilon)}, needed one of them"
        )
    digits = arguments.digits(digits)

    by_orders = Accountant(digits, engine)

    def ask(conversion: str, digits: int = digits) -> Guarantee:
        # Its own for the exact profile: what is given up half way is forgotten.
        accountant = Accountant(digits, engine) if conversion == TRUE else by_orders
        how: dict[str, Any] = {"conversion": conversion, "orders": orders, "by": by}
        if delta is not None:
            return accountant.epsilon(m, delta, **how)
        assert epsilon is not None  # noqa: S101  # one of the two is given
        return accountant.delta(m, epsilon, **how)

    if conversion := pinned_conversion(conversion, orders, by):
        return pinned(ask(conversion))

    def roughly() -> Guarantee:
        return _as_bound(ask(TRUE, _FEW_DIGITS), digits)

    found = best(ask, against, is_less, roughly if digits > _FEW_DIGITS else None)
    if found.best is not found.by_orders:
        return replace(found, best=replace(found.best, is_best=True))
    note = found.best.note if found.in_time else _late(found.best)
    said = replace(found.best, is_best=True, note=note)
    return replace(found, best=said, by_orders=said)


def under(found: Reported[Guarantee], adjacency: str | Adjacency) -> Reported[Guarantee]:
    """The answers with the relation said that the expression leaves open."""
    by_orders = found.by_orders and found.by_orders.under(adjacency)
    return replace(found, best=found.best.under(adjacency), by_orders=by_orders)


def best_guarantee(
    accountant: Accountant, m: Node, digits: int | None, orders: object, by: By, **given: Numeric
) -> Guarantee:
    """What the accountant answers by the conversion "best", with its digits and its engine."""
    digits = accountant.digits if digits is None else digits
    question: dict[str, Any] = {**given, "orders": orders, "by": by, "engine": accountant.engine}
    return reported(m, digits=digits, conversion=BEST, **question).best


def _late(g: Guarantee) -> str:
    """The note of a guarantee, and that more time may prove a smaller number."""
    return "; ".join(filter(None, [g.note, may_be_smaller(g, in_python(g))]))


def _as_bound(g: Guarantee, digits: int) -> Guarantee:
    """What few digits of the exact profile prove from above, with a note what more may prove."""
    name, notes = "epsilon" if g.epsilon is g.asked else "delta", [g.note]
    if g.kind is Kind.EXACT:
        notes.append(f"{_no_less(g)}{g.asked.rounded_down(3)} is true")
    claim = replace(g.asked.claim, kind=Kind.UPPER)
    bound = replace(g.asked, claim=claim, digits_asked=digits, exactly=None)
    asked: dict[str, Any] = {name: bound}
    found = replace(g, kind=Kind.UPPER, **asked)
    notes.append(may_be_smaller(found, in_python(found)))
    return replace(found, note="; ".join(filter(None, notes)))


def says_least(g: Guarantee) -> bool:
    """Does the note of the guarantee say what the true number is at least?"""
    return _no_less(g) in g.note


def _no_less(g: Guarantee) -> str:
    return f"no {asked_letter(g)} below "


def asked_letter(g: Guarantee) -> str:
    """ε or δ: the one that was asked for."""
    return "ε" if g.epsilon is g.asked else "δ"


def may_be_smaller(g: Guarantee, how: str) -> str:
    """A note that more time may prove a smaller number, and `how` that time is given."""
    return (
        f"a smaller {asked_letter(g)} may be provable: the exact profile takes longer than the "
        f"{limits.current().report} s for all digits; {how} lets it run to its end"
    )


def in_python(g: Guarantee) -> str:
    """What gives the exact profile more time than a report has: more of it, or all that it takes.

    >>> from symacct import Gaussian
    >>> print(in_python(Gaussian(5).epsilon("1e-5", digits=6)))
    `with symacct.limits(report=60):` gives it more, and \
m.epsilon('1e-5', conversion='exact', digits=6)
    """
    question = "epsilon" if g.epsilon is g.asked else "delta"
    more = 3 * limits.current().report
    return (
        f"`with symacct.limits(report={more}):` gives it more, and m.{question}"
        f"({given(g.given)!r}, conversion={TRUE!r}, digits={g.asked.digits_asked})"
    )


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
