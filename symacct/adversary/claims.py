"""Claims known or suspected to be wrong: what the adversary must refute, each by a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from symacct.adversary.candidates import Candidates, Pair
from symacct.adversary.schemes.curves import HockeyStick, RaisedResponse, TrueEpsilon
from symacct.adversary.schemes.operations import Averages, Itself
from symacct.adversary.schemes.samplings import AttainedByRemoval, OneRecord, Replaced, SkewedRight
from symacct.adversary.schemes.scheme import USUAL_RELATION, Scheme
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import (
    EITHER,
    FINITE_ORDERS,
    INFINITE_ORDER,
    INTEGER_ORDERS,
    Kind,
    Orders,
    Source,
)
from symacct.kernel.exact import Order
from symacct.kernel.node import kinds
from symacct.kernel.theorem_registry import Bound, RDPCurve, Theorem, always, full_names
from symacct.theory.amplification import wbk19, zw19
from symacct.theory.amplification.wbk19 import loss_spread
from symacct.theory.conversion import bbghs20


@dataclass(frozen=True)
class Claimed:
    """A statement under attack, and the schemes that attack it."""

    theorem: Theorem
    schemes: tuple[Scheme, ...]


#: Statements under attack by their names, which `falsify` takes besides those of theorems.
CLAIMS: dict[str, Claimed] = {}


def conjectured(
    name: str, bound: Bound, about: str, kind: Kind, source: Source, orders: Orders
) -> Theorem:
    """Make a statement about the operation `about` under its usual relation, a conjecture.

    `about` names a class of operations; "epsilon" and "delta" are conversions, of no class.
    """
    about_class = [cast(type, kinds()[about])] if about in kinds() else []
    return Theorem(
        name=name,
        operation=(about,),
        classes=full_names(about_class),
        kind=kind,
        source=source,
        orders=orders,
        adjacency=USUAL_RELATION.get(about, EITHER),
        applies=always,
        monotone=False,
        status="conjecture",
        bound=bound,
    )


def claimed(
    name: str,
    place: str,
    *schemes: Scheme,
    kind: Kind = Kind.UPPER,
    orders: Orders = INTEGER_ORDERS,
) -> Callable[[Bound], Bound]:
    """Put a wrong bound on the list `CLAIMS`; it never enters the register of theorems.

    It is about the operation of the first of the schemes that attack it.
    """

    def enlist(bound: Bound) -> Bound:
        source = Source("claim", place)
        theorem = conjectured(name, bound, schemes[0].about, kind, source, orders)
        CLAIMS[name] = Claimed(theorem, schemes)
        return bound

    return enlist


@claimed("BLOG-CONJECTURE-1", "BLOG, Conjecture 1", Averages())
def average_of_pairs(ctx: Arithmetic, eps: RDPCurve, alpha: Order) -> Number:
    """D_λ(avg p_i‖avg q_i) <= D_λ(avg μ_i‖avg ν_i) if D_λ(p_i‖q_i) <= D_λ(μ_i‖ν_i) for all i"""
    return eps(alpha)


@claimed("T8-WITHOUT-REPLACEMENT", "ZW19, Theorem 8, used under replace-one", Replaced())
def poisson_formula(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log A(α)/(α−1) for sampling without replacement"""
    return zw19.tight_bound(ctx, eps, alpha, gamma)


@claimed("T8-SHIFTED", "ZW19, Theorem 8, with ε(l−1) for ε(l)", SkewedRight())
def shifted(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( 1 + Σ_{l=2}^{α} b_l (e^{(l−1)ε(l−1)} − 1) )/(α−1)"""
    excess = ctx.sum(
        lambda l: (
            ctx.binomial(alpha, l)
            * gamma**l
            * (1 - gamma) ** (alpha - l)
            * ctx.expm1((l - 1) * eps(l - 1))
        ),
        2,
        alpha,
    )
    return ctx.log1p(excess) / (ctx.number(alpha) - 1)


@claimed("T9-WITHOUT-THE-4", "WBK19, Theorem 9, the 4 of its second term dropped", Replaced())
def without_the_four(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( 1 + γ²C(α,2) min{e^{ε(2)}−1, e^{ε(2)} min{2, (e^{ε(∞)}−1)²}}
    + Σ_{j=3}^{α} γ^j C(α,j) e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} )/(α−1)"""
    second = ctx.minimum(ctx.expm1(eps(2)), ctx.exp(eps(2)) * loss_spread(ctx, eps)(2))
    rest = wbk19.renyi_sum(ctx, eps, alpha, gamma, first=3)
    return ctx.log1p(gamma**2 * ctx.binomial(alpha, 2) * second + rest) / (ctx.number(alpha) - 1)


@claimed("T27-ON-AN-UPPER-BOUND", "WBK19, Theorem 27, on a raised curve", RaisedResponse())
def differences_of_a_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= Theorem 27's value on an upper bound of the curve that is also nondecreasing"""
    return wbk19.difference_bound(ctx, eps, alpha, gamma)


@claimed("P11-AS-UPPER", "WBK19, Proposition 11, as an upper bound", Replaced())
def lower_as_upper(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= the value of Proposition 11, which is a lower bound"""
    return wbk19.lower_bound(ctx, eps, alpha, gamma)


@claimed("T6-AS-UPPER", "ZW19, Theorem 6, as an upper bound without condition (4)", OneRecord())
def lower_as_upper_poisson(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= the value of Theorem 6 for every mechanism, which S22 states to be true"""
    return zw19.lower_bound(ctx, eps, alpha, gamma)


class _OneSided(OneRecord):
    """The bound reads D_l(P‖Q) only, P with the record; the truth is of both directions."""

    name = "Poisson, one direction of the curve"

    def base(self, c: Candidates) -> list[Pair]:
        """List P against Q alone."""
        return [self.pair(c)]


@claimed("T6-AS-UPPER-ONE-SIDED", "ZW19, Theorem 6, from one direction's curve", _OneSided())
def one_sided_as_upper(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= the value of Theorem 6 on the curve D_l(P‖Q) alone, where P has the record"""
    return zw19.lower_bound(ctx, eps, alpha, gamma)


@claimed(
    "T6-FROM-A-REMOVAL",
    "ZW19, Theorem 6, for a curve attained with the record removed",
    AttainedByRemoval(),
    kind=Kind.LOWER,
)
def attained_by_removal(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) >= log A(α)/(α−1) where one pair attains the curve and its second law has the record"""
    return zw19.lower_bound(ctx, eps, alpha, gamma)


@claimed(
    "L4-FROM-A-REMOVAL",
    "ZW19, Lemma 4, as attained where the removal attains ε(∞)",
    AttainedByRemoval(),
    kind=Kind.LOWER,
    orders=INFINITE_ORDER,
)
def pure_by_removal(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(∞) >= log(1 + γ(e^{ε(∞)} − 1)) where the second law
    of the pair that attains ε(∞) has the record"""
    return zw19.pure_bound(ctx, eps, alpha, gamma)


@claimed("T3-AS-UPPER", "VEH14, Theorem 3, as an upper bound", Itself(), orders=Orders(2))
def lower_order_as_upper(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε(α) <= ε(⌊α⌋), a lower bound"""
    return eps(int(alpha))


# --- the improved conversion, one sign at a time

#: The schemes that attack the improved conversion, by the ε and by the δ that it gives.
_TO_EPSILON, _TO_DELTA = TrueEpsilon(), HockeyStick()


@claimed("IMPROVED-FLIPPED", "CKS20, log((α−1)/α) subtracted", _TO_EPSILON, orders=FINITE_ORDERS)
def flipped(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Number) -> Number:
    """ε(δ) <= ε(α) − log((α−1)/α) − (log δ + log α)/(α−1): larger, so sound and looser"""
    order = ctx.number(alpha)
    right = bbghs20.epsilon(ctx, eps(alpha), order, delta)
    return right + 2 * ctx.log1p(1 / (order - 1))


@claimed("IMPROVED-FORGOTTEN", "CKS20, log((α−1)/α) left out", _TO_EPSILON, orders=FINITE_ORDERS)
def forgotten(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Number) -> Number:
    """ε(δ) <= ε(α) − (log δ + log α)/(α−1): larger, so sound and looser"""
    order = ctx.number(alpha)
    return bbghs20.epsilon(ctx, eps(alpha), order, delta) + ctx.log1p(1 / (order - 1))


@claimed("IMPROVED-TWICE", "CKS20, log((α−1)/α) taken twice", _TO_EPSILON, orders=FINITE_ORDERS)
def taken_twice(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Number) -> Number:
    """ε(δ) <= ε(α) + 2 log((α−1)/α) − (log δ + log α)/(α−1)"""
    order = ctx.number(alpha)
    return bbghs20.epsilon(ctx, eps(alpha), order, delta) - ctx.log1p(1 / (order - 1))


@claimed("IMPROVED-PLUS", "CKS20, the last term added", _TO_EPSILON, orders=FINITE_ORDERS)
def last_term_added(ctx: Arithmetic, eps: RDPCurve, alpha: Order, delta: Number) -> Number:
    """ε(δ) <= ε(α) + log((α−1)/α) + (log δ + log α)/(α−1)"""
    order = ctx.number(alpha)
    right = bbghs20.epsilon(ctx, eps(alpha), order, delta)
    return right + 2 * (ctx.log(delta) + ctx.log(order)) / (order - 1)


@claimed("IMPROVED-DELTA-FLIPPED", "CKS20, (1−1/α)^{−α}", _TO_DELTA, orders=FINITE_ORDERS)
def delta_flipped(ctx: Arithmetic, eps: RDPCurve, alpha: Order, epsilon: Number) -> Number:
    """δ(ε) <= e^{(α−1)(ε(α)−ε)}/(α−1) · (1−1/α)^{−α}: larger, so sound and looser"""
    order = ctx.number(alpha)
    right = bbghs20.log_delta(ctx, eps(alpha), order, epsilon)
    return ctx.exp(right + 2 * order * ctx.log1p(1 / (order - 1)))


@claimed("IMPROVED-DELTA-TIMES", "CKS20, times α−1", _TO_DELTA, orders=FINITE_ORDERS)
def delta_times(ctx: Arithmetic, eps: RDPCurve, alpha: Order, epsilon: Number) -> Number:
    """δ(ε) <= e^{(α−1)(ε(α)−ε)} (α−1) (1−1/α)^α"""
    order = ctx.number(alpha)
    right = bbghs20.log_delta(ctx, eps(alpha), order, epsilon)
    return ctx.exp(right + 2 * ctx.log(order - 1))
