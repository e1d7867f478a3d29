"""Near the total variation: what the order 1 says, and adds to the best of the orders above it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from flint import arb

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.core.claims import Kind
from symacct.core.errors import DomainError, LimitError, OrderError, PrecisionError, echo
from symacct.core.exact import INFINITY, Numeric, Order
from symacct.rdp.curve import NodeCurve
from symacct.rdp.optimal_order import BestOrder
from symacct.rdp.question import EpsilonDelta
from symacct.results.enclosure import Guarantee
from symacct.theory.conversion import proved


def at_order_one(search: BestOrder, orders: str | Iterable[Numeric] | None = None) -> Guarantee:
    """The Guarantee of a conversion that reads the order 1 alone."""
    question = search.question
    if orders is not None:
        raise DomainError(
            f"orders: found some with the conversion {question.conversion.name!r}, which reads the "
            "order 1 alone; leave out orders="
        )
    value = _converted(search, question, _value)
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


def _converted(
    search: BestOrder, question: EpsilonDelta, epsilon: Callable[[NodeCurve], arb]
) -> arb:
    """What the conversion makes of ε(1), or of what it is at least, at few bits."""
    with precision(search.search_bits):
        return question.objective()(epsilon(search.curve()), 1)


def _value(curve: NodeCurve) -> arb:
    value: arb = curve(1)
    return value


def least_divergence(curve: NodeCurve, order: Order) -> arb:
    """ε(1) >= 3(e^{ε(2)}−1)²/(2(e^K−1)), K the chord of (α−1)ε(α) from 2 to `order` >= 3, at 3.

    0 where it is not known that one pair attains the curve there (docs/proofs.md, section 17).
    """
    if not all(node.one_pair for node in curve.node.walk()):
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
        for epsilon in (lambda curve: least_divergence(curve, order), _value):
            one = question.answer(_converted(search, question, epsilon))
            if one >= arb(found.asked.upper):
                return found
        answer = at_order_one(BestOrder(question, search.digits, search.evaluation))
        if answer.asked > found.asked:
            return found
    except OrderError:  # nothing is known at 1
        return found
    except (PrecisionError, LimitError):
        return replace(found, optimal=False)
    return replace(answer, optimal=found.optimal or answer.asked.upper == 0)
