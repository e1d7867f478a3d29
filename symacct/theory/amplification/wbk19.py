"""Wang, Balle, Kasiviswanathan 2019: sampling without replacement, replace-one adjacency."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple, cast

import numpy as np
from flint import arb, arb_poly

from symacct.analysis.sampled_gaussian import GaussianChi
from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import doubled, precision, up_to
from symacct.kernel.claims import (
    ALL_ORDERS,
    EITHER,
    FINITE_ORDERS,
    INFINITE_ORDER,
    INTEGER_ORDERS,
    Kind,
)
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node, order_by_order
from symacct.kernel.parameters import at_least_two, floor_order
from symacct.kernel.sources import WBK19
from symacct.kernel.sums.binomial_sums import Terms, binomial_sum
from symacct.kernel.sums.differences import GUARD_BITS, differences_at
from symacct.kernel.sums.hull import Point, chord_at, hull_of_curve
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.laws.neighbours import law_of
from symacct.operations.curves import Convexify
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement
from symacct.theory.amplification.samples import of_fixed_samples
from symacct.theory.amplification.tau_terms import is_nondecreasing
from symacct.theory.amplification.zw19 import has_one_pair, log_moment, sampled_pure

# --- ternary |χ|-divergences
#
# χ- and ternary |χ|-divergences of a mechanism: what sampling without replacement rests on.

#: A whole order l ↦ B(ε,l), the finite difference of the moments.
Differences = Callable[[Number], Number]

#: The value that σ/Δ and Δ/σ stay below, so that their squares are floats, by which nodes are
#: chosen. Others are refused.
_LARGEST_RATIO = Fraction(2**500)


def loss_spread(ctx: Arithmetic, eps: RDPCurve) -> Callable[[Order], Number]:
    """j ↦ min{2, (e^{ε(∞)} − 1)^j}, which is 2 where ε(∞) = ∞ (WBK19 Lemmas 18 and 19)."""
    pure = eps(INFINITY)
    two = ctx.number(2)
    if ctx.is_infinite(pure):
        return lambda j: two
    excess = ctx.expm1(pure)
    return lambda j: ctx.minimum(two, excess**j)


def ternary_power(
    ctx: Arithmetic, eps: RDPCurve, spread: Any, difference: Differences, j: Any
) -> Number:
    """ζ(j)^j = min{ 4√(B(ε,2⌊j/2⌋) B(ε,2⌈j/2⌉)), e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} }."""
    half = j // 2
    product = difference(2 * half) * difference(2 * (j - half))
    return ctx.minimum(4 * ctx.sqrt(product), ctx.exp((j - 1) * eps(j)) * spread(j))


def hoelder_power(
    ctx: Arithmetic, eps: RDPCurve, spread: Any, difference: Differences, j: Any
) -> Number:
    """ζ(j)^j of WBK19-R33: the smaller of `ternary_power` and e^{(j−1)ε(2j−1)} √B(ε,2j).

    The second is WBK19 Lemma 32 at u = v = 2.
    """
    third = ctx.exp((j - 1) * eps(2 * j - 1)) * ctx.sqrt(difference(2 * j))
    return ctx.minimum(ternary_power(ctx, eps, spread, difference, j), third)


@dataclass(frozen=True)
class TernaryTerms(Terms):
    """ζ(l)^l as terms of a sum: at most 4e^{L_l}, L_l = ½ log B(2⌊l/2⌋)B(2⌈l/2⌉), convex.

    L_l stands in the place of K_l. `difference` gives B at even orders, `power` the term itself.
    """

    factor: int = 4
    shift: None = None
    difference: Callable[[int], arb] = field(kw_only=True)
    power: Callable[[int], arb] = field(kw_only=True)

    def __call__(self, l: int) -> arb:
        return self.power(l)

    def at(self, l: int, log_moment: arb) -> arb:
        """The power of the term at a whole l."""
        return self.power(l)

    def dense(self, orders: range) -> None:
        """No term is cheap."""

    def log_moment(self, l: int) -> arb:
        """L_l, which bounds the term: t_l <= 4e^{L_l}."""
        product: arb = self.difference(2 * (l // 2)) * self.difference(2 * (l - l // 2))
        return product.log() / 2


class Branches(NamedTuple):
    """The function that bounds ζ(j)^j, which reads B at orders up to `reach` times j + 1."""

    power: Callable[..., Number]
    reach: int


@singledispatch
def differences(ctx: Arithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """l ↦ B(ε,l) = Σ_{i=0}^{l} (−1)^{l−i} C(l,i) e^{(i−1)ε(i)} at the even orders given.

    It is a signed sum, in which most digits cancel, so that each arithmetic that rounds finds it by
    more bits. Here the sum itself, for formulas: the terms i = 0 and 1 are 1 and −l.
    """

    def difference(l: Any) -> Any:
        rest = ctx.sum(
            lambda i: ctx.number(-1) ** i * ctx.binomial(l, i) * ctx.exp((i - 1) * eps(i)), 2, l
        )
        return 1 - l + rest

    return difference


@differences.register
def _(ctx: BallArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """In balls: relative radius 2^{−precision}, from values of the curve at the precision needed.

    Remembered with the curve. PrecisionError and LimitError as of `differences_at`.
    """
    bits = ctx.bits
    known = eps.remember("differences")
    curves: dict[int, Any] = {}

    def log_moment_at(bits: int, i: int) -> Any:
        if bits not in curves:
            curves[bits] = eps.using(BALL)
        return (i - 1) * curves[bits](i)

    missing = [l for l in orders if l not in known]
    if missing:
        known |= differences_at(log_moment_at, missing, bits)
    return known.__getitem__


def single_differences(ctx: BallArithmetic, eps: RDPCurve) -> Callable[[int], arb] | None:
    """l ↦ B(ε,l) at even orders in balls, each found without the others, of Gaussian noise.

    None for other mechanisms, and for a σ/Δ that is irrational or no float.
    """
    shift = law_of(eps.node).normal
    ratio = None if shift is None else shift.ratio
    if not isinstance(ratio, Fraction) or not 1 / _LARGEST_RATIO < ratio < _LARGEST_RATIO:
        return None
    known = eps.remember("single differences")
    if "of Gaussian" not in known:
        known["of Gaussian"] = GaussianChi(1 / ratio, ctx.bits)
    difference: GaussianChi = known["of Gaussian"]
    return difference


@differences.register
def _(ctx: MpmathArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """In mpmath: plain alternating sums, at precisions that are doubled until two agree."""
    known = eps.remember("differences")
    for l in orders:
        if l not in known:
            known[l] = ctx.number(_agreeing(ctx, eps, l))
    return known.__getitem__


@differences.register
def _(ctx: Float64Arithmetic, eps: RDPCurve, orders: Iterable[int]) -> Differences:
    """In float64, which cannot form these differences: certified ones, rounded."""
    with precision(ctx.bits + GUARD_BITS):
        balls = differences(BALL, eps.using(BALL), orders)
        known = {l: ctx.of_ball(balls(l)) for l in orders}
    return known.__getitem__


def _agreeing(ctx: MpmathArithmetic, eps: RDPCurve, l: int) -> Number:
    """B(l) in mpmath, once two precisions agree to all bits of `ctx`; else PrecisionError."""
    coarse: Any = None
    for bits in doubled(ctx.bits + GUARD_BITS):
        finer = MpmathArithmetic(bits)
        curve = eps.using(finer)
        moments = [finer.exp((i - 1) * curve(i)) for i in range(2, l + 1)]
        total, coefficient = finer.number((-1) ** l * (1 - l)), -l
        for i, moment in enumerate(moments, start=2):
            coefficient = -coefficient * (l - i + 1) // i
            total += (-1) ** l * coefficient * moment
        if coarse is not None and abs(total - coarse) <= abs(total) * finer.mp.mpf(2) ** -ctx.bits:
            return total
        coarse = total
    raise PrecisionError(
        f"B({l}): two precisions did not agree within {limits.current().bits} bits"
    )


# --- Theorem 9 for pure DP, summed up (the remark after it)


@of_fixed_samples(
    "WBK19-PURE",
    kind=Kind.UPPER,
    source=WBK19.at("the remark on pure DP after Theorem 9"),
    orders=INTEGER_ORDERS,
    assumes="a nondecreasing $ε$ and a finite $ε(∞)$; otherwise the bound is infinite",
    applies=is_nondecreasing,
    default=False,
)
def pure_remark(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= α/(α−1) log(1 + γ e^{ε(α)} (e^{ε(∞)} − 1))"""
    if ctx.is_zero(gamma):
        return ctx.number(0)
    pure, order = eps(INFINITY), ctx.number(alpha)
    if ctx.is_infinite(pure):
        return ctx.number(INFINITY)
    return order * ctx.log1p(gamma * ctx.exp(eps(alpha)) * ctx.expm1(pure)) / (order - 1)


# --- the theorems

#: The order up to which differences are formed before it is asked whether those beyond matter. It
#: costs time alone.
_FIRST_HEAD_ORDER = 64
#: The largest order up to which they are: differences up to twice it would take half a minute.
#: Beyond it a bound is given, or PrecisionError is raised.
_HEAD_LIMIT = 2048


def renyi_sum(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, first: int) -> Number:
    """Σ_{j=first}^{α} γ^j C(α,j) e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j}"""
    spread = loss_spread(ctx, eps)
    terms = Terms(eps, lambda j, excess: (1 + excess) * spread(j), factor=2, shift=None)
    return binomial_sum(ctx, alpha, gamma, ctx.number(1), terms, first)


@of_fixed_samples(
    "WBK19-T9",
    kind=Kind.UPPER,
    source=WBK19.at("Theorem 9"),
    orders=INTEGER_ORDERS,
    applies=always,
)
def general_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( 1 + γ²C(α,2) min{4(e^{ε(2)}−1), e^{ε(2)} min{2, (e^{ε(∞)}−1)²}}
    + Σ_{j=3}^{α} γ^j C(α,j) e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} )/(α−1)"""
    second = ctx.minimum(4 * ctx.expm1(eps(2)), ctx.exp(eps(2)) * loss_spread(ctx, eps)(2))
    rest = renyi_sum(ctx, eps, alpha, gamma, first=3)
    return ctx.log1p(gamma**2 * ctx.binomial(alpha, 2) * second + rest) / (ctx.number(alpha) - 1)


# Proved in docs/proofs/pairs.md, Lemma theorem-27.
def has_dominating_pair(node: Node) -> str | None:
    """None if the curve is that of one dominating pair: tight, and self-consistent (Def. 26).

    Of such a pair every convex divergence is the largest, |χ|^l for even l among them: Gaussian
    (Lemma 30), Laplace (ZW19 Thm 18), randomized response (it has one pair), pure DP as its
    post-processing, and compositions of these (the product pair dominates).
    """
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if mechanism.attained.is_swapped and mechanism.claim.kind is Kind.EXACT:
        return None
    return f"that one pair attains and dominates is not proved for {type(mechanism).__name__}"


@of_fixed_samples(
    "WBK19-T27",
    kind=Kind.UPPER,
    source=WBK19.at("Theorem 27"),
    orders=INTEGER_ORDERS,
    assumes="a curve that is tight and self-consistent: one dominating pair attains it",
    applies=has_dominating_pair,
    monotone=False,
)
def difference_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( 1 + Σ_{j=2}^{α} γ^j C(α,j) ζ(j)^j )/(α−1), with
    ζ(j)^j = min{ 4√(B(ε,2⌊j/2⌋) B(ε,2⌈j/2⌉)), e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j} },
    B(ε,l) = Σ_{i=0}^{l} (−1)^{l−i} C(l,i) e^{(i−1)ε(i)}"""
    total = ternary_sum(ctx, eps, alpha, gamma, Branches(ternary_power, 1))
    return ctx.log1p(total) / (ctx.number(alpha) - 1)


@of_fixed_samples(
    "WBK19-R33",
    kind=Kind.UPPER,
    source=WBK19.at("Theorem 27 with Remark 33"),
    orders=INTEGER_ORDERS,
    assumes="a curve that is tight and self-consistent: one dominating pair attains it",
    applies=has_dominating_pair,
    monotone=False,
    default=False,
)
def hoelder_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= log( 1 + Σ_{j=2}^{α} γ^j C(α,j) ζ(j)^j )/(α−1), where ζ(j)^j is the smaller
    of Theorem 27's and of e^{(j−1)ε(2j−1)} √B(ε,2j)"""
    total = ternary_sum(ctx, eps, alpha, gamma, Branches(hoelder_power, 2))
    return ctx.log1p(total) / (ctx.number(alpha) - 1)


@singledispatch
def ternary_sum(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, branches: Branches
) -> Number:
    """Σ_{j=2}^{α} γ^j C(α,j) ζ(j)^j, with each ζ(j)^j bounded from above; here every term of it."""
    largest = alpha if isinstance(alpha, int) else int(np.max(np.asarray(alpha)))
    return ternary_head(ctx, eps, alpha, gamma, largest, branches)


@ternary_sum.register
def _(
    ctx: SymbolicArithmetic, eps: RDPCurve, alpha: Order, gamma: Number, branches: Branches
) -> Number:
    """In formulas: the sum as it is written."""
    spread, difference = loss_spread(ctx, eps), differences(ctx, eps, ())

    def term(j: Any) -> Any:
        power = branches.power(ctx, eps, spread, difference, j)
        return ctx.binomial(alpha, j) * gamma**j * power

    return ctx.sum(term, 2, alpha)


@ternary_sum.register
def _(ctx: BallArithmetic, eps: RDPCurve, alpha: int, gamma: Number, branches: Branches) -> Number:
    """In balls: the first terms with differences, and past them Theorem 9's branch.

    That branch is taken where it is known to be the smaller one, or adds nothing that shows at this
    precision. Where each difference is found by itself, the sum is over the terms that count,
    wherever they are. PrecisionError where differences up to _HEAD_LIMIT do not do.
    """
    if alpha > _HEAD_LIMIT and not _is_steep(eps, _HEAD_LIMIT, alpha, branches):
        difference = single_differences(ctx, eps)
        if difference and difference(2) <= 1:
            return _terms_that_count(ctx, eps, alpha, gamma, branches, difference)
    last = min(alpha, _FIRST_HEAD_ORDER)
    while True:
        deadline.check()
        powers = ternary_powers(ctx, eps, last, branches)
        head = gamma**2 * arb_poly(_weighed(alpha, [powers[j] for j in range(2, last + 1)]))(gamma)
        if last == alpha:
            return head
        tail = renyi_sum(ctx, eps, alpha, gamma, first=last + 1)
        if tail * arb(2) ** ctx.bits <= head:
            return head + up_to(tail)
        if _is_steep(eps, last, alpha, branches):
            return head + tail
        if last == _HEAD_LIMIT:
            raise PrecisionError(
                f"WBK19-T27 at order {alpha}: found more than {_HEAD_LIMIT:,} differences that "
                "count, needed fewer",
                remedy="take WBK19-T9, or a smaller order or rate",
            )
        last = min(alpha, 2 * last)


def _weighed(alpha: int, powers: list[arb]) -> list[arb]:
    """C(α,j) ζ(j)^j from j = 2 on, the coefficients of γ^{j−2} in the sum over γ²."""
    count, terms = alpha, []
    for j, power in enumerate(powers, 2):
        count = count * (alpha - j + 1) // j
        terms.append(power * count)
    return terms


# Proved in docs/proofs/pairs.md, Lemma given-up-differences.
def _is_steep(eps: RDPCurve, last: int, alpha: int, branches: Branches) -> bool:
    """Is it proved that no branch with B is smaller than the one without, beyond the order `last`?

    (r−1)^l >= r^l − l r^{l−1} for even l: where K rises by log(2l) or more at each step,
    B(l) >= e^{K_l}/2.
    """
    rise = (last - 1) * eps(last) - (last - 2) * eps(last - 1)
    return eps.shape == "convex" and rise >= arb(2 * branches.reach * (alpha + 1)).log()


def _terms_that_count(
    ctx: BallArithmetic,
    eps: RDPCurve,
    alpha: int,
    gamma: Number,
    branches: Branches,
    difference: Callable[[int], arb],
) -> Number:
    """The whole sum, its terms between chords of log B but for those that show."""
    spread = loss_spread(ctx, eps)

    def power(j: int) -> Any:
        return branches.power(ctx, eps, spread, difference, j)

    terms = TernaryTerms(eps, difference=difference, power=power)
    return binomial_sum(ctx, alpha, gamma, ctx.number(1), terms)


def ternary_head(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number, last: int, branches: Branches
) -> Number:
    """Σ_{j=2}^{last} γ^j C(α,j) ζ(j)^j, from B at even orders."""
    powers = ternary_powers(ctx, eps, last, branches)
    orders = np.asarray(alpha, dtype=float) if isinstance(alpha, np.ndarray) else alpha
    total, weight = ctx.number(0), orders * gamma
    for j in range(2, last + 1):
        weight = weight * gamma * (orders - j + 1) / j  # 0 from the first j > α on
        total = total + weight * powers[j]
    return total


def ternary_powers(ctx: Arithmetic, eps: RDPCurve, last: int, branches: Branches) -> dict[int, Any]:
    """ζ(j)^j for 2 <= j <= last at least, remembered: it depends neither on α nor on γ."""
    known: dict[int, Any] = eps.remember(f"ternary powers {branches.reach}")
    missing = [j for j in range(2, last + 1) if j not in known]
    if missing:
        spread = loss_spread(ctx, eps)
        difference = differences(ctx, eps, range(2, branches.reach * last + 2, 2))
        known |= {j: branches.power(ctx, eps, spread, difference, j) for j in missing}
    return known


@of_fixed_samples(
    "WBK19-P11",
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11"),
    orders=INTEGER_ORDERS,
    assumes="a curve that the datasets $[x,…,x,x′]$ and $[x,…,x]$ attain at every order",
    applies=has_one_pair,
)
def lower_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) >= α/(α−1) log(1−γ)
    + log( 1 + αγ/(1−γ) + Σ_{j=2}^{α} C(α,j)(γ/(1−γ))^j e^{(j−1)ε(j)} )/(α−1)"""
    # (1−γ)^α times the second logarithm's argument is A(α) of ZW19 Theorem 6, γ = 1 included.
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)


@of_fixed_samples(
    "WBK19-L3",
    kind=Kind.EXACT,
    source=WBK19.at("Lemma 3"),
    orders=INFINITE_ORDER,
    tight=True,
    applies=always,
)
def pure_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(∞) = log(1 + γ(e^{ε(∞)} − 1))"""
    return sampled_pure(ctx, eps(INFINITY), gamma)


@theorem(
    "WBK19-C10",
    operation=(PoissonSubsample, SubsampleWithoutReplacement),
    kind=Kind.UPPER,
    source=WBK19.at("Corollary 10"),
    orders=FINITE_ORDERS,
    adjacency=EITHER,
    reads="itself",
    applies=always,
    monotone=True,
    status="proved",
)
def interpolation(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """K(λ) <= (1−λ+⌊λ⌋) K(⌊λ⌋) + (λ−⌊λ⌋) K(⌊λ⌋+1), K(0) = 0; hence ε(α) <= ε(2) for α < 2"""
    if type(alpha) is int and alpha > 1:
        return eps(alpha)
    below = floor_order(alpha)
    share = ctx.number(alpha - below)
    high = ctx.number(below) * eps(below + 1)
    if isinstance(alpha, int | Fraction) and alpha < 2:
        return high  # K(0) = 0 whatever the curve at order 1; at λ = 0 the limit of K(λ)/λ
    # In an array of orders, order 2 stands in for order 1 where K(0) = 0 is meant.
    low = ctx.number(below - 1) * eps(at_least_two(below))
    return ((1 - share) * low + share * high) / ctx.number(alpha - 1)


@theorem(
    "WBK19-P35",
    operation=Convexify,
    kind=Kind.UPPER,
    source=WBK19.at("Proposition 35"),
    orders=ALL_ORDERS,
    adjacency=EITHER,
    applies=always,
    monotone=True,
    status="proved",
)
def projection(ctx: Arithmetic, eps: RDPCurve, alpha: Order, max_order: int) -> Number:
    """K(λ) <= the lower convex hull at λ of (0, 0) and (l−1, (l−1)ε(l)), 2 <= l <= max_order"""
    if isinstance(alpha, np.ndarray):
        return order_by_order(ctx, lambda order: projection(ctx, eps, order, max_order))(alpha)
    if alpha > max_order:
        return eps(alpha)
    hull = _hull_around(ctx, eps, alpha, max_order)
    if alpha - 1 > hull[-1][0]:  # the curve is infinite from there on, perhaps everywhere
        return eps(alpha)
    if alpha == 1:
        return hull[1][1] / hull[1][0] if len(hull) > 1 else eps(1)
    return chord_at(hull, cast(Fraction, alpha) - 1, ctx.number) / ctx.number(alpha - 1)


def _hull_around(ctx: Arithmetic, eps: RDPCurve, alpha: Order, max_order: int) -> list[Point]:
    """The corners of P35's hull; where K is convex, (0, 0) and the two around α alone.

    Then all points are corners. Else the whole hull is remembered; LimitError for a `max_order`
    above the limit on hulls.
    """
    if eps.shape == "convex":
        around = {max(2, math.floor(alpha)), max(2, math.ceil(alpha))}
        return hull_of_curve(ctx, eps, sorted(around))
    known = eps.remember("hull")
    if max_order not in known:
        limits.check("hull", max_order, "Convexify, max_order")
        known[max_order] = hull_of_curve(ctx, eps, range(2, max_order + 1))
    corners: list[Point] = known[max_order]
    return corners
