"""The number to report: the smallest that is proved, the true one where it is known in time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from symacct.accountant.accountant import Accountant
from symacct.core import arguments, limits
from symacct.core.claims import Kind
from symacct.core.errors import CurveAloneError, DomainError, InfiniteError, SymacctError, echo
from symacct.core.exact import Numeric
from symacct.core.pinning import By
from symacct.expressions.node import Node
from symacct.rdp.question import LARGER
from symacct.results.enclosure import Guarantee
from symacct.results.time_limit import OutOfTimeError, TimeBeside
from symacct.theory.conversion import BEST

#: Conversions: by Rényi orders, and by the exact profile. BEST is whichever of the two is better.
BY_ORDERS, TRUE = "improved", "exact"
#: What is asked of the exact profile where all digits took too long, and how much more time for it.
_FEW_DIGITS, _TIMES = 2, 2
#: The remedy of an error that the number by Rényi orders, which is reported then, does not need.
_REMEDY = re.compile(rf"(; use|,? or(?: for)?) conversion={BY_ORDERS!r}( for the bound.*)?$")
_T = TypeVar("_T")


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
    roughly: Callable[[], _T] | None = None,
) -> Reported[_T]:
    """What `ask` answers by the exact profile, or by Rényi orders where that is better.

    `against` says why the first is not the better one, or nothing. The exact profile has
    `limits(report=…)` seconds, and `roughly`, a bound by it, twice as many where these were not
    enough. An error is raised where neither answers.
    """
    by_orders, failed, untrue, late = None, None, None, ""
    try:
        by_orders = ask(BY_ORDERS)
    except SymacctError as error:
        failed = error
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
            reason = against(exact, by_orders)
            if not reason:
                return Reported(exact, by_orders, "", TimeBeside(), not late)
        break
    if by_orders is None:
        assert failed is not None  # noqa: S101  # there was no answer
        # That no finite answer is true says more than that no order gives one.
        raise untrue if isinstance(untrue, InfiniteError) else failed
    return Reported(by_orders, by_orders, late or reason, TimeBeside(), not late)


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

    def ask(conversion: str, digits: int = digits) -> Guarantee:
        accountant = Accountant(digits, engine)  # its own: what is given up half way is forgotten
        how: dict[str, Any] = {"conversion": conversion, "orders": orders, "by": by}
        if delta is not None:
            return accountant.epsilon(m, delta, **how)
        assert epsilon is not None  # noqa: S101  # one of the two is given
        return accountant.delta(m, epsilon, **how)

    if conversion := pinned_conversion(conversion, orders, by):
        return pinned(ask(conversion))

    def roughly() -> Guarantee:
        return _as_bound(ask(TRUE, _FEW_DIGITS), digits)

    found = best(ask, against, roughly if digits > _FEW_DIGITS else None)
    return found if found.in_time or found.best is not found.by_orders else _late(found)


def best_guarantee(
    accountant: Accountant, m: Node, digits: int | None, orders: object, by: By, **given: Numeric
) -> Guarantee:
    """What the accountant answers by the conversion "best", with its digits and its engine."""
    digits = accountant.digits if digits is None else digits
    question: dict[str, Any] = {**given, "orders": orders, "by": by, "engine": accountant.engine}
    return reported(m, digits=digits, conversion=BEST, **question).best


def _late(found: Reported[Guarantee]) -> Reported[Guarantee]:
    """What was found, with a note that more time may prove a smaller number."""
    note = "; ".join(
        filter(None, [found.best.note, may_be_smaller(found.best, "conversion='exact'")])
    )
    said = replace(found.best, note=note)
    return replace(found, best=said, by_orders=said)


def _as_bound(g: Guarantee, digits: int) -> Guarantee:
    """What few digits of the exact profile prove from above, with a note what more may prove."""
    name, notes = "epsilon" if g.epsilon is g.asked else "delta", [g.note]
    if g.kind is Kind.EXACT:
        notes.append(f"{_no_less(g)}{g.asked.rounded_down(3)} is true")
    notes.append(may_be_smaller(g, f"conversion={TRUE!r}"))
    claim = replace(g.asked.claim, kind=Kind.UPPER)
    bound = replace(g.asked, claim=claim, digits_asked=digits, exactly=None)
    note = "; ".join(filter(None, notes))
    asked: dict[str, Any] = {name: bound}
    return replace(g, kind=Kind.UPPER, note=note, **asked)


def says_least(g: Guarantee) -> bool:
    """Does the note of the guarantee say what the true number is at least?"""
    return _no_less(g) in g.note


def _no_less(g: Guarantee) -> str:
    return f"no {asked_letter(g)} below "


def asked_letter(g: Guarantee) -> str:
    """ε or δ: the one that was asked for."""
    return "ε" if g.epsilon is g.asked else "δ"


def may_be_smaller(g: Guarantee, how: str) -> str:
    """A note that more time may prove a smaller number, and `how` to ask for it."""
    return (
        f"a smaller {asked_letter(g)} may be provable: {how} takes longer than the "
        f"{limits.current().report} s given to it here; ask again with it to let it run to its end"
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
    one, other = exact.asked, by_orders.asked
    same = one.exactly is not None and one.exactly == other.exactly
    # Ends beyond the digits that are printed differ by how far each was worked out.
    if not same and one.upper > other.upper and one.rounded() != other.rounded():
        return f"the dominating pair gives no less than {exact.asked.rounded(6)}"
    return ""
