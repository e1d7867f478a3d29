"""Sums of discrete Gaussian noise on one number: the exact curve, by the law of the sum.

Of all moves of at most Δ the one by ⌊Δ⌋ is the worst (docs/proofs.md, sections 21 and 32).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from symacct.arithmetic import BALL
from symacct.baselines.result import enclose
from symacct.core.claims import ABOVE_ONE, EITHER, Kind
from symacct.core.errors import OrderError, echo
from symacct.core.exact import INFINITY, Numeric, order
from symacct.core.sources import SYMACCT
from symacct.expressions.parameters import rational
from symacct.mechanisms import DiscreteGaussianSum
from symacct.profile.losses.integer_sum import SummedNoise
from symacct.results.enclosure import Bound


def discrete_sum_rdp(
    alpha: Numeric, sigma: Numeric, parties: Numeric, sensitivity: Numeric = 1, digits: int = 10
) -> Bound:
    """ε(α) of `DiscreteGaussianSum(sigma, parties, sensitivity)` itself, α > 1.

    >>> print(discrete_sum_rdp(2, "1/2", 10, digits=6))
    0.450987
    >>> from symacct import DiscreteGaussianSum
    >>> print(DiscreteGaussianSum("1/2", 10).rdp(2, digits=6))
    1.44959
    """
    at = order(alpha)
    if at in (1, INFINITY) or not isinstance(at, int | Fraction):
        raise OrderError(f"discrete_sum_rdp: found alpha = {echo(alpha)}, needed 1 < alpha < ∞")
    node = DiscreteGaussianSum(sigma, parties, sensitivity)
    noise = rational(node.sigma, "sigma")
    moved = int(rational(node.sensitivity, "sensitivity"))

    def value() -> arb:
        if moved == 0:
            return arb(0)
        a, law = BALL.number(at), SummedNoise(noise, node.parties, moved)
        # Above its tangent at P = Q, and no more than (P/Q)^α + α.
        excess = law.in_balls(lambda x: (a * x).expm1() - a * x.expm1(), at, False)
        return excess.log1p() / BALL.number(at - 1)

    place = SYMACCT.at("docs/proofs.md, section 32")
    return enclose(
        value, place, digits, "a sum of discrete Gaussians", Kind.EXACT, EITHER, ABOVE_ONE
    )
