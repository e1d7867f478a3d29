"""The pair that dominates all mechanisms of one Rényi curve is made of δ(ε) at some places."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from symacct.kernel import deadline, limits
from symacct.kernel.answer import Enclosure, to_fraction
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball
from symacct.profile.hulls import pair_above
from symacct.profile.losses.finite import Atoms

_DIGITS, _BITS, _PLACES = 8, 96, 96
_LOG2 = Fraction(69, 100)  # log 2, rounded down
_BY_ORDERS = "improved"  # the conversion of a curve
#: What may be left of δ at the last place.
_LEFT = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20, 10))


def pair_of_curve(m: Node) -> Atoms:
    """Make a pair that dominates any two neighbouring laws of the node's curve, in both directions.

    InfiniteError where the curve gives no δ below 1.
    """
    with precision(_BITS):
        return Atoms(pair_above(_bounds(m)))


def _bounds(m: Node) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield (e^ε, δ) at places from 0 to where hardly any δ is left, and at ε(∞), rounded up."""
    last = _last(m)
    for i in deadline.each(range(_PLACES + 1)):
        place = last * i / _PLACES
        yield _power(place), to_fraction(m.delta(place, _DIGITS, _BY_ORDERS).delta.upper)
    largest = m.rdp(INFINITY, digits=_DIGITS).upper
    if largest < INFINITY:
        yield _power(to_fraction(largest)), Fraction(0)


def _last(m: Node) -> Fraction:
    """Compute ε at the smallest δ for which the curve gives it, to few digits."""
    *others, last_left = _LEFT
    for left in others:
        with suppress(PrecisionError, LimitError, InfiniteError):
            return _shortened(m.epsilon(left, _DIGITS, _BY_ORDERS).epsilon)
    return _shortened(m.epsilon(last_left, _DIGITS, _BY_ORDERS).epsilon)


def _shortened(epsilon: Enclosure) -> Fraction:
    return Fraction(epsilon.rounded_up())


def _power(epsilon: Fraction) -> Fraction:
    """Compute e^ε or a little more; LimitError where it is too long for sums of fractions."""
    limits.check("parameter_bits", math.ceil(epsilon / _LOG2), "e^ε of a curve alone, in bits")
    return rational(ball(epsilon).exp().upper())
