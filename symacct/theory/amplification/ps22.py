"""Papernot, Steinke 2022: the best of a random number of runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.symbolic import SymbolicArithmetic
from symacct.kernel.claims import ALL_ORDERS, EITHER, FINITE_ORDERS, Kind
from symacct.kernel.errors import OrderError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.parameters import at_least_two
from symacct.kernel.sources import PS22, SYMACCT
from symacct.kernel.sums import order_search
from symacct.kernel.theorem_registry import Condition, RDPCurve, theorem
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial, log_of_rate
from symacct.operations.repeat import RepeatAndSelect
from symacct.theory.amplification.groups import of_pure

# --- truncated negative binomial numbers
#
# Papernot, Steinke 2022: the best of a truncated negative binomial number of runs.
#
# docs/proofs/selection.md, Lemmas released-law and negative-binomial.

#: The orders j that the formula of PS22-T2 tries; those for Poisson and binomial runs try the first
#: two. A bound holds at whichever j it reads ε(j), but the theorems' statements print these.
_TRIED_ORDERS = tuple(2**k for k in range(1, 9))
#: The largest whole order that a search tries, and the one that it begins with. Any order gives a
#: proved bound.
_LAST_ORDER, _FIRST_ORDER = 2**9, 8
#: Bits of the balls in which orders are compared: a bound holds whichever order is found.
SEARCH_BITS = 80
#: The smallest order that is read: nearer to 1, ε says hardly more than what needs no curve at all.
#: Any order gives a proved bound.
NEAREST_ORDER = Fraction(65, 64)

#: (the curve in balls, an order) ↦ what is to be small.
Cost: TypeAlias = Callable[[RDPCurve, Order], arb]


def counted_by(law: type) -> Condition:
    """The condition that the number of runs is of this law, as a theorem's `applies`."""

    def applies(node: Node) -> str | None:
        runs = node.runs  # type: ignore[attr-defined]
        if isinstance(runs, law):
            return None
        return f"needed a {law.__name__} number of runs, got {type(runs).__name__}"

    return applies


#: The condition that the number of runs is truncated negative binomial.
NEGATIVE_BINOMIAL = counted_by(TruncatedNegativeBinomial)

#: The decorator of what is proved, from above, of the best of several runs.
upper_bound = functools.partial(
    theorem,
    operation=RepeatAndSelect,
    kind=Kind.UPPER,
    adjacency=EITHER,
    monotone=True,
    status="proved",
)


def refuse_formula(ctx: Arithmetic) -> None:
    """OrderError in formulas, for a bound in which numbers decide what is read or is finite."""
    if isinstance(ctx, SymbolicArithmetic):
        raise OrderError(
            "found a question for a formula, needed numbers, because they decide which orders "
            "are used",
            remedy="ask without by for a formula",
        )


def searched_order(eps: RDPCurve, what: object, cost: Cost) -> Order:
    """An order > 1 at which the cost is about smallest, remembered under `what` with the curve.

    It is searched for in balls of SEARCH_BITS, and steers: a bound holds whichever it is.
    """
    known = eps.remember("repeated")
    if what not in known:
        with precision(SEARCH_BITS):
            curve = eps.using(BALL)
            known[what] = lowest(lambda order: cost(curve, order))
    order: Order = known[what]
    return order


def lowest(f: order_search.Objective) -> Order:
    """The order at the bottom of f's valley, at least NEAREST_ORDER, up to _LAST_ORDER.

    It is a whole one where f raises an OrderError between them.
    """
    whole = order_search.whole_valley(f, 2, _LAST_ORDER, _FIRST_ORDER)
    try:
        order = order_search.real_valley(
            f, order_search.places(f, whole, True), Fraction(whole, 2**14), True
        )
    except OrderError:
        return whole
    return max(order, NEAREST_ORDER)


def pure(ctx: Arithmetic, eps: RDPCurve) -> Number | None:
    """ε(∞) where it is known and finite; else None."""
    try:
        t = eps(INFINITY)
    except OrderError:  # a curve of the user's own that does not say
        return None
    return None if ctx.is_infinite(t) else t


def log_mean(ctx: Arithmetic, runs: TruncatedNegativeBinomial) -> Number:
    """log E[K], E[K] = η(1−γ)/(γ(1−γ^η)); (1−γ)/(γ log(1/γ)) for η = 0"""
    log_gamma = log_of_rate(ctx, runs.gamma)
    odds = ctx.number((1 - runs.gamma) / runs.gamma)
    if runs.eta == 0:
        return ctx.log(odds / -log_gamma)
    eta = ctx.number(runs.eta)
    return ctx.log(eta * odds / -ctx.expm1(eta * log_gamma))


def log_ratio(ctx: Arithmetic, eps: RDPCurve, order: Order, gamma: Fraction) -> Number:
    """(1−1/j)ε(j) + log(1/γ)/j, above log (γ + (1−γ)y′)/(γ + (1−γ)y) for an event's chances"""
    j = ctx.number(order)
    return ((j - 1) * eps(order) - log_of_rate(ctx, gamma)) / j


def pure_log_ratio(ctx: Arithmetic, eps: RDPCurve, gamma: Fraction) -> Number:
    """log( (γ + e^t)/(1 + γe^t) ), t = ε(∞), a bound as `log_ratio` is; log(1/γ) where t is ∞"""
    t = pure(ctx, eps)
    if t is None:
        return -log_of_rate(ctx, gamma)
    rise = ctx.number(1 - gamma) * -ctx.expm1(-t) / (ctx.exp(-t) + ctx.number(gamma))
    return ctx.log1p(rise)


def read_at(
    ctx: Arithmetic,
    eps: RDPCurve,
    order: Order,
    runs: TruncatedNegativeBinomial,
    log: Number,
) -> Number:
    """ε(λ) + log E[K]/(λ−1) + (1+η)·log, the bound of Theorem 2 at the order λ > 1, or at ∞.

    `log` is a bound of log (γ + (1−γ)y′)/(γ + (1−γ)y), as `log_ratio` gives one.
    """
    value = eps(order)
    if ctx.is_infinite(value):
        return value
    value = value + ctx.number(runs.eta + 1) * log
    if isinstance(order, float) and order == INFINITY:
        return value
    return value + log_mean(ctx, runs) / (ctx.number(order) - 1)


@upper_bound(
    "PS22-T2",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs",
    applies=NEGATIVE_BINOMIAL,
)
def negative_binomial(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= ε(λ) + log E[K]/(λ−1) + (1+η) min{ log( (γ+e^t)/(1+γe^t) ),

    min_j ((1−1/j)ε(j) + log(1/γ)/j) }, λ = max(α, 2), t = ε(∞), j = 2, 4, 8, …, 256
    """
    ratios = [log_ratio(ctx, eps, order, runs.gamma) for order in _TRIED_ORDERS]
    ratio = ctx.minimum(pure_log_ratio(ctx, eps, runs.gamma), *ratios)
    return read_at(ctx, eps, at_least_two(alpha), runs, ratio)


@upper_bound(
    "PS22-T2-BEST",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs; $λ$ and $j$ are searched for",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
)
def negative_binomial_at_best(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= the bound of PS22-T2 at the best λ >= α and the best j"""
    return at_best(ctx, eps, alpha, runs, pure_log_ratio(ctx, eps, runs.gamma))


@upper_bound(
    "PS22-T2-PRINTED",
    source=PS22.at("Theorem 2"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs; $λ$ and $j$ are searched for, and "
    "$j = ∞$ is tried",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
    default=False,
)
def negative_binomial_as_printed(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= ε(λ) + log E[K]/(λ−1) + (1+η)((1−1/j)ε(j) + log(1/γ)/j) for the best λ >= α and
    j > 1"""
    return at_best(ctx, eps, alpha, runs, pure(ctx, eps))


def at_best(
    ctx: Arithmetic,
    eps: RDPCurve,
    alpha: Order,
    runs: TruncatedNegativeBinomial,
    pure_ratio: Number | None,
) -> Number:
    """The bound of Theorem 2 at the λ >= α that is searched for, with the least of some ratios.

    These are log(1/γ), that at the j searched for, and `pure_ratio`, a bound that needs no j, or
    None.
    """
    refuse_formula(ctx)
    lam = searched_order(
        eps, ("λ", runs), lambda curve, order: read_at(BALL, curve, order, runs, arb(0))
    )
    j = searched_order(
        eps, ("j", runs), lambda curve, order: log_ratio(BALL, curve, order, runs.gamma)
    )
    ratios = [-log_of_rate(ctx, runs.gamma), log_ratio(ctx, eps, j, runs.gamma)]
    ratios += [] if pure_ratio is None else [pure_ratio]
    return read_at(ctx, eps, max(alpha, lam), runs, ctx.minimum(*ratios))


@upper_bound(
    "REPEAT-PURE",
    source=SYMACCT.at("docs/proofs/selection.md, negative-binomial"),
    orders=ALL_ORDERS,
    assumes="a truncated negative binomial number of runs and a finite $ε(∞)$; otherwise the bound "
    "is infinite",
    applies=NEGATIVE_BINOMIAL,
)
def negative_binomial_pure(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + (1+η) log( (γ+e^t)/(1+γe^t) ) <= (2+η)t, t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    rest = ctx.number(runs.eta + 1) * pure_log_ratio(ctx, eps, runs.gamma)
    return of_pure(ctx, t + rest, alpha)


@upper_bound(
    "REPEAT-ALL",
    source=SYMACCT.at("docs/proofs/selection.md, all-outputs"),
    orders=FINITE_ORDERS,
    assumes="a truncated negative binomial number of runs, $(1−γ)e^{(α−1)ε(α)} < 1$",
    applies=NEGATIVE_BINOMIAL,
    partial=True,
)
def negative_binomial_all(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: TruncatedNegativeBinomial
) -> Number:
    """ε′(α) <= log E[e^{(α−1)ε(α)K}]/(α−1), E[K]ε(1) at 1: all outputs are
    revealed"""
    refuse_formula(ctx)
    if isinstance(alpha, int) and alpha == 1:
        return ctx.exp(log_mean(ctx, runs)) * eps(1)
    lam = ctx.number(alpha) - 1
    rise = ctx.number((1 - runs.gamma) / runs.gamma) * ctx.expm1(lam * eps(alpha))
    if not rise < 1:
        raise OrderError(
            f"REPEAT-ALL: found (1−γ)e^{{(α−1)ε(α)}} >= 1, or too near to tell, at order {alpha}, "
            "needed < 1",
            remedy="ask for a smaller order",
        )
    log_gamma = log_of_rate(ctx, runs.gamma)
    if runs.eta == 0:
        return ctx.log1p(ctx.log1p(-rise) / log_gamma) / lam
    eta = ctx.number(runs.eta)
    return ctx.log1p(-ctx.expm1(-eta * ctx.log1p(-rise)) / ctx.expm1(eta * log_gamma)) / lam


# --- Poisson numbers
#
# Papernot, Steinke 2022: the best of a Poisson number of runs; docs/proofs/selection.md, Lemma
# poisson-runs.

#: The ε(∞) in nats up to which e^t/(e^t − 1) is beyond 2^20, where no order is searched for. Any
#: order gives a proved bound: it saves time.
_FLATTEST = Fraction(1, 2**20)

#: The condition that the number of runs is Poisson.
POISSON = counted_by(Poisson)


def often_enough(node: Node) -> str | None:
    """None for a Poisson number of runs of mean at least 1, so that log μ >= 0; else the reason."""
    reason = POISSON(node)
    if reason is not None or node.runs.rate >= 1:  # type: ignore[attr-defined]
        return reason
    return f"needed a mean of at least 1, got {node.runs.rate}"  # type: ignore[attr-defined]


def poisson_excess_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order) -> Number:
    """c_j = λ/(j−1) ((1−1/λ)(1−1/j))^j e^{(j−1)ε(j)}, λ = `lam` > 1 and j = `order` > 1

    At least (λ−1)y′ − λy, where y and y′ are the probabilities of one event of one run under two
    neighbouring datasets, whichever event it is.
    """
    j, number = ctx.number(order), ctx.number(lam)
    shrink = j * (ctx.log1p(-1 / number) + ctx.log1p(-1 / j))
    return number / (j - 1) * ctx.exp((j - 1) * eps(order) + shrink)


def poisson_pure_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order) -> Number:
    """((λ−1)e^t − λ)/(e^t + 1), t = ε(∞), above (λ−1)y′ − λy where it is >= 0; λ−1 at t = ∞"""
    t, less = pure(ctx, eps), ctx.number(lam) - 1
    if t is None:
        return less
    shrunk = ctx.exp(-t)
    return (less * -ctx.expm1(-t) - shrunk) / (shrunk + 1)


def even_order(eps: RDPCurve) -> Order:
    """About e^t/(e^t−1), t = ε(∞), from where on c > 0; 2 where that is no order of a search."""
    known = eps.remember("repeated")
    if "even" not in known:
        with precision(SEARCH_BITS):
            t = pure(BALL, eps.using(BALL))
            if t is None or not t > BALL.number(_FLATTEST):
                known["even"] = 2
            else:
                known["even"] = max(NEAREST_ORDER, rational(-1 / (-t).expm1()))
    order: Order = known["even"]
    return order


def bound_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, mean: Number, growths: list[Number]
) -> Number:
    """log( 1 + E[K] e^{min{max(0, g), g_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1), the bound at one λ > 1.

    `mean` is E[K], and `growths` are g, which holds where it is not negative, and then the g_j.
    """
    lam = ctx.number(order) - 1
    rise = ctx.expm1(lam * eps(order))
    if not isinstance(ctx, SymbolicArithmetic):
        growths = [ctx.minimum(*growths)]  # of one that is far too large there is no e^x
    first, *rest = map(ctx.exp, growths)
    factors = [ctx.maximum(ctx.number(1), first), *rest]
    # The smallest of whole bounds, which a page has room for, and not an exponent of them.
    return ctx.minimum(*(ctx.log1p(mean * factor * rise) / lam for factor in factors))


def poisson_bound_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, excesses: list[Number], runs: Poisson
) -> Number:
    """log( 1 + μ e^{μ min{max(0, c), c_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1)"""
    mu = ctx.number(runs.rate)
    return bound_at(
        ctx, eps, order, mu, [mu * c for c in (poisson_pure_excess(ctx, eps, order), *excesses)]
    )


@upper_bound(
    "PS22-T6",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs, which may be 0",
    applies=POISSON,
)
def poisson(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= log( 1 + μ e^{μ min{max(0, c), min_j c_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1),

    λ = max(α, 2), c = ((λ−1)e^t − λ)/(e^t + 1), t = ε(∞), and
    c_j = λ/(j−1) ((1−1/λ)(1−1/j))^j e^{(j−1)ε(j)}, j = 2, 4
    """
    lam = at_least_two(alpha)
    excesses = [poisson_excess_at(ctx, eps, lam, order) for order in _TRIED_ORDERS[:2]]
    return poisson_bound_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "PS22-T6-BEST",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs, which may be 0; $λ$ and $j$ are searched for",
    applies=POISSON,
    partial=True,
)
def poisson_at_best(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= the least bound of Theorem 6 at λ = α, where c = 0 and at the best λ >= α, with the
    best j"""
    refuse_formula(ctx)
    best: Order = NEAREST_ORDER  # where log μ is not positive there is no valley
    if runs.rate > 1:
        best = searched_order(
            eps, runs, lambda curve, lam: poisson_printed(BALL, curve, lam, runs, eps)
        )
    tried = {max(alpha, lam) for lam in (NEAREST_ORDER, best, even_order(eps))}
    return ctx.minimum(*(poisson_at(ctx, eps, lam, runs) for lam in sorted(tried)))


@upper_bound(
    "PS22-T6-PRINTED",
    source=PS22.at("Theorem 6"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs of mean at least 1; $j$ is searched for",
    applies=often_enough,
    partial=True,
    default=False,
)
def poisson_as_printed(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= ε(α) + (μ min{max(0, c), c_j} + log μ)/(α−1), α > 1 and the best j"""
    refuse_formula(ctx)
    if alpha == 1:
        raise OrderError("PS22-T6-PRINTED: found the order 1, needed one above, as it is printed")
    return poisson_printed(ctx, eps, alpha, runs, eps)


def poisson_printed(
    ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Poisson, memory: RDPCurve
) -> Number:
    """ε(λ) + (μ min{max(0, c), c_j} + log μ)/(λ−1), where log μ is not negative a bound"""
    mu = ctx.number(runs.rate)
    excess = ctx.minimum(poisson_pure_excess(ctx, eps, lam), best_excess(ctx, eps, lam, memory))
    return eps(lam) + (mu * ctx.maximum(ctx.number(0), excess) + ctx.log(mu)) / (
        ctx.number(lam) - 1
    )


def poisson_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Poisson) -> Number:
    """The bound of Theorem 6 at this λ, with the j that is searched for."""
    return poisson_bound_at(ctx, eps, lam, [best_excess(ctx, eps, lam, eps)], runs)


def best_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order, memory: RDPCurve) -> Number:
    """c_j at the j that is searched for, which the curve `memory` keeps"""
    j = searched_order(
        memory, ("j", lam), lambda curve, order: poisson_excess_at(BALL, curve, lam, order)
    )
    return poisson_excess_at(ctx, eps, lam, j)


@upper_bound(
    "REPEAT-POISSON-PURE",
    source=SYMACCT.at("docs/proofs/selection.md, poisson-runs"),
    orders=ALL_ORDERS,
    assumes="a Poisson number of runs and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=POISSON,
)
def poisson_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + μ tanh(t/2), t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    share = -ctx.expm1(-t) / (ctx.exp(-t) + 1)
    return of_pure(ctx, t + ctx.number(runs.rate) * share, alpha)


@upper_bound(
    "REPEAT-POISSON-ALL",
    source=SYMACCT.at("docs/proofs/selection.md, all-outputs"),
    orders=FINITE_ORDERS,
    assumes="a Poisson number of runs",
    applies=POISSON,
)
def poisson_all(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Poisson) -> Number:
    """ε′(α) <= μ (e^{(α−1)ε(α)} − 1)/(α−1), με(1) at 1: all outputs are revealed"""
    mu = ctx.number(runs.rate)
    if isinstance(alpha, int) and alpha == 1:
        return mu * eps(1)
    lam = ctx.number(alpha) - 1
    return mu * ctx.expm1(lam * eps(alpha)) / lam


# --- binomial numbers
#
# The best of those of n runs that are made, each with one probability; docs/proofs/selection.md,
# Lemma binomial-runs.

#: The condition that the number of runs is binomial.
BINOMIAL = counted_by(Binomial)


def binomial_excess_at(
    ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order, runs: Binomial
) -> Number:
    """θ (log(1/(1−θ))/θ)^j c_j of a Poisson number, above λ log p − (λ−1) log p′"""
    theta = ctx.number(runs.theta)
    steepness = ctx.log(-log_of_rate(ctx, 1 - runs.theta) / theta)
    poisson = poisson_excess_at(ctx, eps, lam, order)
    return theta * ctx.exp(ctx.number(order) * steepness) * poisson


def ratio_at(ctx: Arithmetic, eps: RDPCurve, lam: Order, order: Order, runs: Binomial) -> Number:
    """(λ−1)((1−1/j)ε(j) + log(1/(1−θ))/j), above λ log p − (λ−1) log p′, as p <= 1"""
    return (ctx.number(lam) - 1) * log_ratio(ctx, eps, order, 1 - runs.theta)


def binomial_pure_excess(ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Binomial) -> Number:
    """λ log p − (λ−1) log p′ at p = 1 − θ/(1+e^t), p′ = 1 − θe^t/(1+e^t), t = ε(∞)"""
    ratio = (ctx.number(lam) - 1) * pure_log_ratio(ctx, eps, 1 - runs.theta)
    t = pure(ctx, eps)
    if t is None:
        return ratio
    shrunk = ctx.exp(-t)
    return ratio + ctx.log1p(-ctx.number(runs.theta) * shrunk / (1 + shrunk))


def binomial_bound_at(
    ctx: Arithmetic, eps: RDPCurve, order: Order, excesses: list[Number], runs: Binomial
) -> Number:
    """log( 1 + nθ e^{(n−1) min{max(0, c), excesses}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1), λ = `order`

    c is `binomial_pure_excess`.
    """
    others, mean = ctx.number(runs.n - 1), ctx.number(runs.n * runs.theta)
    exponents = [binomial_pure_excess(ctx, eps, order, runs), *excesses]
    # Of one run nothing is raised to a power, also where an excess is infinite.
    growths = [others * c for c in exponents] if runs.n > 1 else [others]
    return bound_at(ctx, eps, order, mean, growths)


@upper_bound(
    "REPEAT-BINOMIAL",
    source=SYMACCT.at("docs/proofs/selection.md, binomial-runs"),
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs, which may be 0",
    applies=BINOMIAL,
)
def binomial(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= log( 1 + nθ e^{(n−1) min{max(0, c), c_j, r_j}} (e^{(λ−1)ε(λ)} − 1) )/(λ−1),

    λ = max(α, 2), κ = log(1/(1−θ)), c = λ log(1 − θ/(1+e^t)) − (λ−1) log(1 − θe^t/(1+e^t)),
    t = ε(∞), c_j = λθ/(j−1) ((1−1/λ)(1−1/j)κ/θ)^j e^{(j−1)ε(j)} and
    r_j = (λ−1)((1−1/j)ε(j) + κ/j), j = 2, 4
    """
    lam = at_least_two(alpha)
    excesses = [
        at(ctx, eps, lam, order, runs)
        for at in (binomial_excess_at, ratio_at)
        for order in _TRIED_ORDERS[:2]
    ]
    return binomial_bound_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "REPEAT-BINOMIAL-BEST",
    source=SYMACCT.at("docs/proofs/selection.md, binomial-runs and chosen-orders"),
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs, which may be 0; $λ$ and $j$ are searched for",
    applies=BINOMIAL,
    partial=True,
)
def binomial_at_best(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= the least bound of REPEAT-BINOMIAL at λ = α and at the best λ >= α, with the best
    j"""
    refuse_formula(ctx)
    best: Order = NEAREST_ORDER  # where log E[K] is not positive there is no valley
    if runs.n * runs.theta > 1:
        best = searched_order(
            eps, runs, lambda curve, lam: binomial_at(BALL, curve, lam, runs, eps)
        )
    tried = {max(alpha, lam) for lam in (NEAREST_ORDER, best)}
    return ctx.minimum(*(binomial_at(ctx, eps, lam, runs, eps) for lam in sorted(tried)))


def binomial_at(
    ctx: Arithmetic, eps: RDPCurve, lam: Order, runs: Binomial, memory: RDPCurve
) -> Number:
    """The bound of REPEAT-BINOMIAL at this λ, with the two j that searches on `memory` found.

    `memory` is the curve that keeps them; `eps` is that curve or the same in other balls.
    """
    j = searched_order(
        memory,
        ("j", lam, runs),
        lambda curve, order: binomial_excess_at(BALL, curve, lam, order, runs),
    )
    gamma = 1 - runs.theta
    i = searched_order(
        memory, ("j", gamma), lambda curve, order: log_ratio(BALL, curve, order, gamma)
    )
    excesses = [binomial_excess_at(ctx, eps, lam, j, runs), ratio_at(ctx, eps, lam, i, runs)]
    return binomial_bound_at(ctx, eps, lam, excesses, runs)


@upper_bound(
    "REPEAT-BINOMIAL-PURE",
    source=SYMACCT.at("docs/proofs/selection.md, binomial-runs"),
    orders=ALL_ORDERS,
    assumes="a binomial number of runs and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=BINOMIAL,
)
def binomial_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= log( (e^{αs} + e^{(1−α)s})/(1 + e^s) )/(α−1), which is s at ∞,

    s = t + (n−1) log( (1−θ+e^t)/(1+(1−θ)e^t) ) <= nt, t = ε(∞)
    """
    t = eps(INFINITY)
    if ctx.is_infinite(t):
        return t
    rest = ctx.number(runs.n - 1) * pure_log_ratio(ctx, eps, 1 - runs.theta)
    return of_pure(ctx, t + rest, alpha)


@upper_bound(
    "REPEAT-BINOMIAL-ALL",
    source=SYMACCT.at("docs/proofs/selection.md, all-outputs"),
    orders=FINITE_ORDERS,
    assumes="a binomial number of runs",
    applies=BINOMIAL,
)
def binomial_all(ctx: Arithmetic, eps: RDPCurve, alpha: Order, runs: Binomial) -> Number:
    """ε′(α) <= n log(1 + θ(e^{(α−1)ε(α)} − 1))/(α−1), nθε(1) at 1: all outputs are
    revealed"""
    if isinstance(alpha, int) and alpha == 1:
        return ctx.number(runs.n * runs.theta) * eps(1)
    lam = ctx.number(alpha) - 1
    return (
        ctx.number(runs.n) * ctx.log1p(ctx.number(runs.theta) * ctx.expm1(lam * eps(alpha))) / lam
    )
