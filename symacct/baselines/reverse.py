"""Zhu, Wang 2019, Appendix A: A₂ = E_Q[(1−γ+γP/Q)^{1−α}], of one direction alone."""

from __future__ import annotations

from flint import arb

from symacct.kernel.accountant import certified_number
from symacct.kernel.answer import Enclosure
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import ADD_REMOVE, FINITE_ORDERS, Claim, Kind
from symacct.kernel.errors import DomainError, OrderError
from symacct.kernel.exact import INFINITY, Numeric, is_infinite, order
from symacct.kernel.parameters import nonnegative, rate
from symacct.kernel.sources import ZW19

#: The work that proves it.
_SOURCE = ZW19.at("Appendix A, (5) and the line below")
#: The claim of `reverse_moment_bound`.
_CLAIM = Claim(Kind.UPPER, ADD_REMOVE, FINITE_ORDERS, sources=(_SOURCE,))


def reverse_moment_bound(
    alpha: Numeric, gamma: Numeric, epsilon: Numeric = INFINITY, digits: int = 30
) -> Enclosure:
    """The upper bound on A₂ of a mechanism with ε(∞) = `epsilon` nats, sampled at rate γ; α >= 1.

    Raises DomainError for γ = 1 with no finite ε(∞), where nothing bounds A₂, and OrderError for
    α = ∞.

    >>> print(reverse_moment_bound(3, "1/2", digits=10))
    4.000000000
    """
    alpha, gamma = order(alpha), rate(gamma, "reverse_moment_bound, gamma")
    pure = None if is_infinite(epsilon) else nonnegative(epsilon, "reverse_moment_bound, epsilon")
    if alpha == INFINITY:
        raise OrderError("reverse_moment_bound: found alpha = ∞, needed a finite order")
    if gamma == 1 and pure is None:
        raise DomainError("reverse_moment_bound: found gamma = 1 and no finite ε(∞), needed one")

    def moment() -> arb:
        """(1−γ)^{1−α}, or (1−γ(1−e^{−ε(∞)}))^{1−α} where ε(∞) is known."""
        lost = BALL.number(gamma)
        if pure is not None:
            lost = -lost * (-BALL.number(pure)).expm1()
        return (-(BALL.number(alpha) - 1) * (-lost).log1p()).exp()

    return certified_number(lambda _: (moment(), _CLAIM), digits, "reverse moment")
