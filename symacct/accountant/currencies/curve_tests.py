"""The profile that a Rényi curve implies, of a pair that dominates all that have the curve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from symacct.accountant.accountant import default_accountant
from symacct.accountant.currencies.tradeoff import known_profile
from symacct.arithmetic.ball import precision, rational
from symacct.core.claims import Claim, Kind
from symacct.core.errors import AssumptionError, InfiniteError, LimitError, PrecisionError
from symacct.core.exact import INFINITY
from symacct.core.sources import SYMACCT
from symacct.expressions.node import Node
from symacct.numerics.sums.refine import ball
from symacct.profile import Profile
from symacct.profile.dominating.hull import pair_above
from symacct.profile.dominating.products import PairProduct
from symacct.profile.losses.finite import Atoms
from symacct.results.enclosure import Enclosure, to_fraction

_SOURCE = SYMACCT.at("docs/proofs.md, section 41, of a curve alone")
_DIGITS, _BITS, _PLACES = 8, 96, 96
#: What may be left of δ at the last place.
_LEFT = tuple(Fraction(1, 2**bits) for bits in (100, 50, 33, 20, 10))


class CurveProfile(Profile):
    """What a Rényi curve alone implies."""


def profile_or_curve(m: Node, what: str) -> Profile:
    """The profile of a node, or where no dominating pair is known what its curve implies."""
    try:
        return known_profile(m, what)
    except AssumptionError:
        return profile_of_curve(m)


def profile_of_curve(m: Node) -> CurveProfile:
    """A profile above that of m, by values of δ(ε) from its Rényi curve at some places.

    InfiniteError where the curve gives no δ below 1.
    """
    with precision(_BITS):
        pair = Atoms(pair_above(_bounds(m)))
    claim = default_accountant().epsilon(m, _LEFT[-1], digits=_DIGITS).claim
    sources = (*claim.sources, _SOURCE)
    made = Claim(Kind.UPPER, claim.adjacency, sources=sources, certified=claim.certified)
    return CurveProfile([PairProduct(((pair, 1),), Kind.UPPER)], made)


def _bounds(m: Node) -> Iterator[tuple[Fraction, Fraction]]:
    """(e^ε, δ) at places from 0 to where hardly anything is left, and ε(∞), both rounded up."""
    accountant, last = default_accountant(), _last(m)
    for i in range(_PLACES + 1):
        place = last * i / _PLACES
        delta = accountant.delta(m, place, digits=_DIGITS).delta.upper
        yield _power(place), to_fraction(delta)
    largest = accountant.rdp(m, INFINITY, digits=_DIGITS).upper
    if largest < INFINITY:
        yield _power(to_fraction(largest)), Fraction(0)


def _last(m: Node) -> Fraction:
    """ε where as little is left of δ as the curve says, to few digits."""
    *others, least = _LEFT
    for left in others:
        with suppress(PrecisionError, LimitError, InfiniteError):
            return _shortened(default_accountant().epsilon(m, left, digits=_DIGITS).epsilon)
    return _shortened(default_accountant().epsilon(m, least, digits=_DIGITS).epsilon)


def _shortened(epsilon: Enclosure) -> Fraction:
    return Fraction(epsilon.rounded_up())


def _power(epsilon: Fraction) -> Fraction:
    """e^ε or a little more."""
    return rational(ball(epsilon).exp().upper())
