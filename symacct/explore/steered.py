"""About what an ε is, by what orders are compared by: where to begin, and nothing rests on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Kind
from symacct.kernel.conversion import Conversion, OrderOne, proved
from symacct.kernel.errors import DomainError, PrecisionError, echo
from symacct.kernel.evaluation import Evaluation, theorem_node
from symacct.kernel.exact import Numeric, Order
from symacct.kernel.node import Node
from symacct.kernel.optimal_order import Steering, is_steered, last_order, whole_valley
from symacct.kernel.parameters import given_delta
from symacct.kernel.question import EpsilonDelta
from symacct.kernel.sums import order_search

_BITS = 80
_ORDER = Fraction(1, 2**20)  # of α − 1, beside which an ε at its least is level


def steered_epsilon(
    m: Node, delta: Numeric, conversion: str, orders: str | Iterable[Numeric] | None, by: By
) -> float:
    """About ε(δ), in most of float64's digits.

    DomainError where orders are compared by the curve itself, which costs what the answer does,
    PrecisionError where float64 has no number.
    """
    m, made = theorem_node(m, by), proved(conversion)
    per_order = isinstance(made, Conversion) and not isinstance(made, OrderOne)
    if orders is not None or not per_order or not is_steered(m, by):
        raise DomainError(f"{echo(m)}: found no bound that is cheaper to compute than its curve")
    question = EpsilonDelta(m=m, by=by, conversion=made, given="delta", value=given_delta(delta))
    with precision(_BITS):
        curve, converted = Steering(Evaluation(BALL, Kind.UPPER, by)).curve(m), question.objective()

        def f(alpha: Order) -> arb:
            return converted(curve.among(alpha), alpha)

        whole = whole_valley(question, curve, f, 2, last_order(m))
        places = order_search.places(f, whole, perspective=True)
        best = order_search.real_valley(f, places, (places[1] - 1) * _ORDER, perspective=True)
        found = float(question.answer(f(best)))
    if not math.isfinite(found):
        raise PrecisionError(f"{echo(m)}: found {found} by float64, needed a number")
    return found
