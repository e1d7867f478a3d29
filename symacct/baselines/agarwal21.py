"""Agarwal, Kairouz, Liu 2021: what is proved of Skellam noise on vectors of whole numbers."""

from __future__ import annotations

from flint import arb

from symacct.baselines.result import enclose
from symacct.kernel.answer import Bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import EITHER, INTEGER_ORDERS, Kind
from symacct.kernel.errors import OrderError, echo
from symacct.kernel.exact import INFINITY, Numeric, order
from symacct.kernel.parameters import positive
from symacct.kernel.sources import AKL21


def skellam_bound(
    alpha: Numeric, mu: Numeric, l1: Numeric = 1, l2: Numeric = 1, digits: int = 30
) -> Bound:
    """ε(α) <= αΔ₂²/(2μ) + min( ((2α−1)Δ₂² + 6Δ₁)/(4μ²), 3Δ₁/(2μ) ) in nats, at whole α >= 2.

    For a vector whose ℓ1 and ℓ2 norms change by at most Δ₁ and Δ₂, with Skellam noise of variance
    μ on every coordinate; `Skellam` itself is the exact curve of one coordinate. Raises DomainError
    unless `mu`, `l1` and `l2` are positive, and OrderError for another order.

    >>> print(skellam_bound(2, 25, digits=5))
    0.043601
    """
    at = order(alpha)
    if not isinstance(at, int) or at < 2 or at == INFINITY:
        raise OrderError(f"skellam_bound: found order {echo(alpha)}, needed a whole order >= 2")
    variance, first, second = (
        positive(value, f"skellam_bound, {name}")
        for name, value in (("mu", mu), ("l1", l1), ("l2", l2))
    )

    def value() -> arb:
        m, d1, d2 = (BALL.number(x) for x in (variance, first, second))
        more = BALL.minimum(((2 * at - 1) * d2**2 + 6 * d1) / (4 * m**2), 3 * d1 / (2 * m))
        return at * d2**2 / (2 * m) + more

    return enclose(
        value,
        AKL21.at("Corollary 3.6"),
        digits,
        f"skellam_bound at order {echo(at)}",
        Kind.UPPER,
        EITHER,
        INTEGER_ORDERS,
    )
