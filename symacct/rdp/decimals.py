"""Values that are short decimals, 0.02 and not 0.0200000…: no ball shows that a number is one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeVar

from symacct.arithmetic.rational import NoFractionError, RationalArithmetic
from symacct.core.claims import Kind
from symacct.core.errors import SymacctError
from symacct.core.exact import INFINITY, Order
from symacct.core.pinning import By
from symacct.expressions.node import Node
from symacct.mechanisms.mechanism import Mechanism
from symacct.rdp.evaluation import Evaluation, theorem_node
from symacct.results.enclosure import Enclosure

_Found = TypeVar("_Found", bound=Enclosure)


def as_decimal(
    found: _Found, m: Node, alpha: Order, goal: Kind, by: By, factor: Fraction | int = 1
) -> _Found:
    """What was found of factor · ε(α), known to be the decimal of the digits asked that it is."""
    short = found.decimal() if found.certified else None
    if short is None:
        return found
    value = Fraction(0) if factor == 0 else in_fractions(m, alpha, goal, by)
    is_short = value is not None and value * factor == short  # 0.02, but not 1/3
    return found.known_to_be(short) if is_short else found


def in_fractions(m: Node, alpha: Order, goal: Kind, by: By) -> Fraction | None:
    """ε(α) where its formula needs + − × ÷ alone; None for any other, and for a user's function."""
    if any(isinstance(one, Mechanism) and one.is_of_user for one in m.walk()):
        return None
    ctx: Any = RationalArithmetic()  # what it has not of an arithmetic it refuses
    node = theorem_node(m, by)
    try:
        if not isinstance(node, Mechanism):
            value = Evaluation(ctx, goal, by).curve(node)(alpha)
        elif alpha in (1, INFINITY):
            value = node.at_one(ctx) if alpha == 1 else node.at_infinity(ctx)
        else:
            value = node.within(ctx, node.curve(ctx))(alpha)
    except (NoFractionError, SymacctError, ArithmeticError, TypeError, ValueError):
        return None
    return Fraction(value) if isinstance(value, int | Fraction) else None
