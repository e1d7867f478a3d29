"""Near the total variation: what the order 1 adds to the best of the orders above it."""

from __future__ import annotations

from dataclasses import replace

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.best_order import BestOrder
from symacct.conversion import proved
from symacct.enclosure import Guarantee
from symacct.errors import LimitError, OrderError, PrecisionError


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
        with precision(search.search_bits):
            first = question.answer(question.objective(one.curve()(1), 1))
            if first >= BALL.number(found.asked.upper):
                return found
        answer = one.answer(None)
        if answer.asked > found.asked:
            return found
    except OrderError:  # nothing is known at 1
        return found
    except (PrecisionError, LimitError):
        return replace(found, optimal=False)
    return replace(answer, optimal=found.optimal or answer.asked.upper == 0)
