"""Near the total variation: what the order 1 says, and adds to the best of the orders above it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flint import arb

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.best_order import BestOrder
from symacct.conversion import proved
from symacct.enclosure import Guarantee
from symacct.errors import DomainError, LimitError, OrderError, PrecisionError, echo
from symacct.exact import Numeric


def at_order_one(search: BestOrder, orders: str | Iterable[Numeric] | None = None) -> Guarantee:
    """The Guarantee of a conversion that reads the order 1 alone."""
    question = search.question
    if orders is not None:
        raise DomainError(
            f"orders: found some with the conversion {question.conversion.name!r}, which reads the "
            "order 1 alone; leave out orders="
        )
    value = _first(search)
    given = f"{question.given} = {echo(question.value)}"
    if value == arb("inf"):
        raise OrderError(
            f"{echo(question.m)}: its order 1 says nothing at {given}, needed another conversion"
        )
    if not value < arb("inf"):
        raise PrecisionError(
            f"{echo(question.m)}: what its order 1 says cannot be told from {given}; needed one "
            "further from it"
        )
    return search.at(1, optimal=True)


def _first(search: BestOrder) -> arb:
    """What the conversion makes of ε(1), at few bits."""
    with precision(search.search_bits):
        return search.question.objective(search.curve()(1), 1)


def no_larger_at_one(found: Guarantee, search: BestOrder) -> Guarantee:
    """What the search found, or what the order 1 says where that is proved to be no larger.

    What was found stays the best only where it is proved to be no larger in its turn.
    """
    name = search.question.per_order.at_one
    if name is None or found.asked.upper == 0:
        return found
    question = replace(search.question, conversion=proved(name))
    one = BestOrder(question, search.digits, search.evaluation)
    try:
        if question.answer(_first(one)) >= BALL.number(found.asked.upper):
            return found
        answer = at_order_one(one)
        if answer.asked > found.asked:
            return found
    except OrderError:  # nothing is known at 1
        return found
    except (PrecisionError, LimitError):
        return replace(found, optimal=False)
    return replace(answer, optimal=found.optimal or answer.asked.upper == 0)
