"""Sums of discrete Gaussian noise on one number: the exact curve, by the law of the sum.

Of all moves of at most Δ the one by ⌊Δ⌋ is the worst (docs/proofs/mechanisms.md, Lemmas
integer-noise and one-coordinate).
"""

from __future__ import annotations

from symacct.baselines.result import enclose, finite_order
from symacct.kernel.answer import Bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import ABOVE_ONE, EITHER, Kind
from symacct.kernel.exact import Numeric
from symacct.kernel.sources import SYMACCT
from symacct.mechanisms import DiscreteGaussianSum


def discrete_sum_rdp(
    alpha: Numeric, sigma: Numeric, parties: Numeric, sensitivity: Numeric = 1, digits: int = 10
) -> Bound:
    """ε(α) in nats of `DiscreteGaussianSum(sigma, parties, sensitivity)`, of many outcomes too.

    Exact, for 1 < α < ∞. Raises DomainError, OrderError, LimitError.

    >>> print(discrete_sum_rdp(2, "1/2", 10, digits=6))
    0.450987
    """
    at = finite_order(alpha, "discrete_sum_rdp")
    node = DiscreteGaussianSum(sigma, parties, sensitivity)
    place = SYMACCT.at("docs/proofs/mechanisms.md, one-coordinate")
    what = "a sum of discrete Gaussians"
    return enclose(
        lambda: node._of_one_number(BALL)(at), place, digits, what, Kind.EXACT, EITHER, ABOVE_ONE
    )
