"""The pair that dominates all mechanisms of one Rényi curve is made of δ(ε) at some places."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from symacct.kernel import deadline, limits
from symacct.kernel.answer import Enclosure, to_fraction
from symacct.kernel.arithmetic.ball import ball, precision, rational
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Node
from symacct.profile.hulls import at_smallest, pair_above
from symacct.profile.losses.finite import Atoms

#: The curve's δ(ε) is asked to 8 digits at so many places, and worked with at 96 bits. More places
#: make the pair a nearer bound.
_DIGITS, _BITS, _PLACES = 8, 96, 96
#: log 2, rounded down, so that the bits of e^ε are rounded up. A limit rests on it, and no bound.
_LOG2 = Fraction(69, 100)
#: The conversion that answers for a curve.
_BY_ORDERS = "improved"
#: The last place is ε at the first of these δ that the curve has. The pair dominates wherever it
#: ends: a smaller δ brings it nearer.
_LAST_DELTAS = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20, 10))


def pair_of_curve(m: Node) -> Atoms:
    """Make a pair that dominates any two neighbouring laws of the node's curve, in both directions.

    It is a bound, made of δ(ε) rounded up at some places. InfiniteError where the curve gives no
    ε(2^{−10}), and LimitError where e^ε is too long for fractions.
    """
    with precision(_BITS):
        return Atoms(pair_above(_bounds(m)))


def _bounds(m: Node) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield (e^ε, δ) at places from 0 to where hardly any δ is left, and at ε(∞), rounded up."""
    last = at_smallest(
        lambda delta: _shortened(m.epsilon(delta, _DIGITS, _BY_ORDERS).epsilon), _LAST_DELTAS
    )
    for i in deadline.each(range(_PLACES + 1)):
        place = last * i / _PLACES
        yield _power(place), to_fraction(m.delta(place, _DIGITS, _BY_ORDERS).delta.upper)
    largest = m.rdp(INFINITY, digits=_DIGITS).upper
    if largest < INFINITY:
        yield _power(to_fraction(largest)), Fraction(0)


def _shortened(epsilon: Enclosure) -> Fraction:
    """Round ε up to the few digits that it is printed with."""
    return Fraction(epsilon.rounded_up())


def _power(epsilon: Fraction) -> Fraction:
    """Compute e^ε or a little more; LimitError where it is too long for sums of fractions."""
    limits.check("parameter_bits", math.ceil(epsilon / _LOG2), "e^ε of a curve alone, in bits")
    return rational(ball(epsilon).exp().upper())
