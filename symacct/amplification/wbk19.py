"""Wang, Balle, Kasiviswanathan 2019: sampling without replacement, replace-one adjacency."""

from __future__ import annotations

from typing import Any

from symacct.amplification.zw19 import log_moment, sampled_pure
from symacct.claims import EITHER, FINITE_ORDERS, INFINITE_ORDER, INTEGER_ORDERS, REPLACE_ONE, Kind
from symacct.exact import INFINITY
from symacct.sources import WBK19
from symacct.sums.binomial import binomial_sum
from symacct.theory import floor_order, larger_order, theorem


@theorem(
    "WBK19-T9",
    about="SubsampleWithoutReplacement",
    kind=Kind.UPPER,
    source=WBK19.at("Theorem 9"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
)
def general_bound(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """ε′(α) <= log( 1 + γ²C(α,2) min{4(e^{ε(2)}−1), e^{ε(2)} min{2, (e^{ε(∞)}−1)²}}
    + Σ_{j=3}^{α} γ^j C(α,j) e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} )/(α−1)"""
    pure = eps(INFINITY)
    if ctx.is_infinite(pure):

        def spread(j: Any) -> Any:
            return ctx.number(2)
    else:

        def spread(j: Any) -> Any:
            return ctx.minimum(ctx.number(2), ctx.expm1(pure) ** j)

    second = ctx.minimum(4 * ctx.expm1(eps(2)), ctx.exp(eps(2)) * spread(2))
    total = gamma**2 * ctx.binomial(alpha, 2) * second + binomial_sum(
        ctx,
        alpha,
        gamma,
        ctx.number(1),
        lambda j: ctx.exp((j - 1) * eps(j)) * spread(j),
        first=3,
    )
    return ctx.log1p(total) / (ctx.number(alpha) - 1)


@theorem(
    "WBK19-P11",
    about="SubsampleWithoutReplacement",
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11"),
    orders=INTEGER_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="the curve is attained by datasets [x,…,x,x′] and [x,…,x] at every order",
)
def lower_bound(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """ε′(α) >= α/(α−1) log(1−γ)
    + log( 1 + αγ/(1−γ) + Σ_{j=2}^{α} C(α,j)(γ/(1−γ))^j e^{(j−1)ε(j)} )/(α−1)"""
    # (1−γ)^α times the second logarithm's argument is A(α) of ZW19 Theorem 6, γ = 1 included.
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)


@theorem(
    "WBK19-L3",
    about="SubsampleWithoutReplacement",
    kind=Kind.EXACT,
    source=WBK19.at("Lemma 3"),
    orders=INFINITE_ORDER,
    adjacency=REPLACE_ONE,
    tight=True,
)
def pure_bound(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """ε′(∞) = log(1 + γ(e^{ε(∞)} − 1))"""
    return sampled_pure(ctx, eps(INFINITY), gamma)


@theorem(
    "WBK19-C10",
    about="PoissonSubsample SubsampleWithoutReplacement",
    kind=Kind.UPPER,
    source=WBK19.at("Corollary 10"),
    orders=FINITE_ORDERS,
    adjacency=EITHER,
    reads="itself",
)
def interpolation(ctx: Any, eps: Any, alpha: Any, gamma: Any) -> Any:
    """K(λ) <= (1−λ+⌊λ⌋) K(⌊λ⌋) + (λ−⌊λ⌋) K(⌊λ⌋+1), K(0) = 0; hence ε(α) <= ε(2) for α < 2"""
    below = floor_order(alpha)
    share = ctx.number(alpha - below)
    # K(0) = 0 whatever the curve at order 1, so order 2 stands in for it.
    low = ctx.number(below - 1) * eps(larger_order(below, 2))
    high = ctx.number(below) * eps(below + 1)
    if isinstance(alpha, int) and alpha == 1:
        return high  # the limit of K(λ)/λ <= K(1) at λ = 0
    return ((1 - share) * low + share * high) / ctx.number(alpha - 1)
