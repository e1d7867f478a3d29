"""f-DP (Dong, Roth, Su 2022): how well an attacker can test who was in the data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symacct.kernel.accountant import certified_number, default_accountant, refuse_symbols
from symacct.kernel.answer import ErrorBound, error_bound
from symacct.kernel.attached import question
from symacct.kernel.claims import ALL_ORDERS, Kind
from symacct.kernel.deadline import one_question
from symacct.kernel.errors import AssumptionError, DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.parameters import rational
from symacct.kernel.sources import DRS22
from symacct.profile import Profile, profile
from symacct.profile.curve_pair import pair_of_curve
from symacct.profile.pairs import BoundedPair
from symacct.profile.proofs import OF_A_CURVE
from symacct.profile.tradeoff import HockeySticks, smallest_second_error


@question(Node, "tradeoff")
@one_question("tradeoff")
def tradeoff(m: Node, alpha: Numeric, digits: int = 30) -> ErrorBound:
    """Bound f(α), the least error of the second kind of a test of level α, from below.

    Either of two neighbours may be the one that is tested for; f-DP's trade-off function is
    the convex hull of f. From the exact privacy profile, or a bound of kind `upper` where no
    one pair is known to have the best test. Rounded downwards: an attacker does no better.
    Raises DomainError for α outside [0, 1], AssumptionError where no dominating pair is known.

    >>> from symacct import Laplace
    >>> print(Laplace(2).tradeoff("1/20", digits=6))
    0.917563
    """
    m, level = as_node(m, "tradeoff"), rational(alpha, "tradeoff, alpha")
    if level > 1:
        raise DomainError(f"tradeoff, alpha: found {echo(alpha)}, needed 0 <= alpha <= 1")
    refuse_symbols(m)
    known = known_profile(m, "tradeoff")
    heights = HockeySticks(nearest_first(known)[0])
    sources = (DRS22.at("trade-off functions"), *known.claim.sources)
    claim = replace(known.claim, kind=heights.kind, sources=sources)
    what = f"tradeoff of {echo(m)} at {echo(level)}"
    missed = certified_number(
        lambda _: (smallest_second_error(heights, level), claim), digits, what
    )
    return error_bound(missed)


def known_profile(m: Node, what: str) -> Profile:
    """Return the profile of a node; AssumptionError where no dominating pair is known.

    `what` begins the error's message.
    """
    try:
        return profile(m._rewritten)
    except AssumptionError:
        raise AssumptionError(
            f"{what}: found {echo(m)}, for which no dominating pair of laws is known; needed "
            "such a pair",
            remedy="symacct.risk gives the bounds on tests that a curve implies",
        ) from None


def nearest_first(known: Profile) -> list[Profile]:
    """List the profiles above the truth, first the one that floats see as the smaller at ε = 1.

    Each of them is sound by itself.
    """
    other = known.smoothed
    if other is None:
        return [known]
    at = False, Fraction(1)
    return [other, known] if other.about(*at) < known.about(*at) else [known, other]


# --- of a curve alone
#
# The profile that a Rényi curve implies, of a pair that dominates all that have the curve.

#: A curve is asked for an ε at this δ, only for the claim that comes with it. No number rests on
#: it.
_ANY_DELTA = Fraction(1, 2**10)
#: The ε that is asked only for its claim has so many digits. No number rests on them.
_DIGITS = 8


class CurveProfile(Profile):
    """The profile that a Rényi curve alone implies."""


def profile_or_curve(m: Node, what: str) -> Profile:
    """Return the profile of a node, or what its curve implies if no dominating pair is known."""
    try:
        return known_profile(m, what)
    except AssumptionError:
        return profile_of_curve(m)


def profile_of_curve(m: Node) -> CurveProfile:
    """Make a profile above that of m, by values of δ(ε) from its Rényi curve at some places.

    Raises InfiniteError where the curve gives no δ below 1.
    """
    pair = pair_of_curve(m)
    claim = default_accountant().epsilon(m, _ANY_DELTA, "improved", digits=_DIGITS).claim
    made = replace(claim, kind=Kind.UPPER, orders=ALL_ORDERS).by(OF_A_CURVE)
    return CurveProfile([BoundedPair.of_curve(pair, OF_A_CURVE)], made)
