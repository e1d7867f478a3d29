"""The profile that a Rényi curve implies, of a pair that dominates all that have the curve."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symacct.accountant.currencies.tradeoff import known_profile
from symacct.kernel.accountant import default_accountant
from symacct.kernel.claims import ALL_ORDERS, Kind
from symacct.kernel.errors import AssumptionError
from symacct.kernel.node import Node
from symacct.profile import Profile
from symacct.profile.curve_pair import pair_of_curve
from symacct.profile.products import BoundedPair
from symacct.profile.proofs import OF_A_CURVE

_ANY, _DIGITS = Fraction(1, 2**10), 8  # a δ of which the curve tells an ε, and its digits


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
    pair = pair_of_curve(m)
    claim = default_accountant().epsilon(m, _ANY, "improved", digits=_DIGITS).claim
    made = replace(claim, kind=Kind.UPPER, orders=ALL_ORDERS).by(OF_A_CURVE)
    return CurveProfile([BoundedPair.of_curve(pair, OF_A_CURVE)], made)
