"""Mechanisms whose worst pair is known: the sampled curve itself, at every real order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial, singledispatch, wraps
from typing import Any, cast

import numpy as np
from flint import arb

from symacct.analysis.sampled_gaussian import Known, sampled_gaussian_local
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import precision, rational_ends
from symacct.kernel.claims import ALL_ORDERS, FINITE_ORDERS, Kind
from symacct.kernel.errors import echo
from symacct.kernel.exact import INFINITY, Exact, Order, sympy
from symacct.kernel.node import Mechanism, Node, order_by_order
from symacct.kernel.sources import MTZ19, VEH14, WBK19
from symacct.kernel.sums.binomial_sums import Terms
from symacct.kernel.sums.local import LocalProduct
from symacct.kernel.theorem_registry import Bound, RDPCurve, rough_curve
from symacct.laws.law import FiniteDirection
from symacct.laws.neighbours import Shift, SwappedPair, law_of
from symacct.mechanisms.pair import (
    DistributionPair,
    MixtureDirection,
    as_noise,
    has_closed_form,
    largest_of,
    mixed,
    mixture,
    stated_pair,
    why_not_mixed,
)
from symacct.operations.subsample import SAMPLINGS
from symacct.theory.amplification.samples import of_a_record, of_fixed_samples
from symacct.theory.amplification.zw19 import log_sum, sampled_pure, sampled_pure_of_removal

# --- expectations over a sampled pair
#
# E_Q[m^α] − 1 and E_Q[m log m] for m = 1−γ+γP/Q of a known pair, in each arithmetic.
#
# Of noise with a density balls have proved formulas of their own (`analysis/`); mpmath integrates
# the definition, float64 and generated code sum it by one rule, and SymPy writes it down.

#: The arithmetics of numbers, in which an irrational rate is replaced by rational ones.
_NUMERIC = BallArithmetic | MpmathArithmetic | Float64Arithmetic


def sampled_mean(
    ctx: Arithmetic, mechanism: Mechanism, gamma: Exact, alpha: Order | None, near: Known
) -> Number:
    """E_Q[m^α] − 1 for real α > 1, or E_Q[m log m] where alpha is None, m = 1−γ+γP/Q.

    (P, Q) is the mechanism's worst pair, which the caller knows to be known. In balls γ is
    rational. What `near` keeps of the sampled Gaussian in balls at one order serves the next.
    """
    pair = cast(SwappedPair, law_of(mechanism).worst)
    if not isinstance(pair, Shift):
        return mean_of_gap(ctx, pair, gamma, alpha)
    if isinstance(ctx, BallArithmetic):
        return pair.sampled_in_balls(Fraction(gamma), alpha, near)
    return expectation(ctx, mechanism, gamma, alpha)


@singledispatch
def expectation(ctx: Arithmetic, mechanism: Mechanism, gamma: Exact, alpha: Order | None) -> Number:
    """`sampled_mean` of noise with a density, in an arithmetic that has no proved formula.

    Here by the arithmetic's quadrature; code targets register other ways.
    """
    return by_quadrature(ctx, mechanism, gamma, alpha)


def by_quadrature(
    ctx: Arithmetic, mechanism: Mechanism, gamma: Exact, alpha: Order | None
) -> Number:
    """`sampled_mean` as an integral, by the quadrature that the arithmetic has; no proof."""
    return mean_of_gap(ctx, cast(Shift, law_of(mechanism).worst), gamma, alpha)


def mean_of_gap(ctx: Arithmetic, pair: SwappedPair, gamma: Exact, alpha: Order | None) -> Number:
    """E_Q[(1+u)^α − 1 − αu], or E_Q[(1+u) log(1+u) − u] where alpha is None, u = γ(P/Q − 1).

    Where nothing is rounded it is written with m = 1 + u alone, for E_Q[u] = 0.
    """
    if isinstance(ctx, SymbolicArithmetic) and not pair.has_two_outcomes:
        mean = pair.mean(ctx, _written(ctx, gamma, alpha), alpha)
        return mean if alpha is None else mean - 1
    if isinstance(alpha, np.ndarray) and not pair.has_two_outcomes:
        return order_by_order(ctx, lambda order: mean_of_gap(ctx, pair, gamma, order))(alpha)
    rate = ctx.number(gamma)
    if pair.has_two_outcomes and not ctx.rounds:
        return pair.mean(ctx, _of_mixture(ctx, rate, alpha), alpha)
    if alpha is None:
        return pair.mean(ctx, lambda x: ctx.entropy_gap(rate, x), alpha)
    lam = ctx.number(alpha) - 1
    return pair.mean(ctx, lambda x: ctx.power_gap(rate, x, lam), alpha)


def _of_mixture(ctx: Arithmetic, rate: Number, alpha: Order | None) -> Callable[[Any], Number]:
    """log(P/Q) ↦ m^α − 1, or m log m where alpha is None, m = 1−γ+γP/Q, in numbers."""

    def value(log_ratio: Any) -> Number:
        log_m = ctx.log1p(rate * ctx.expm1(log_ratio))
        if alpha is None:
            return ctx.exp(log_m) * log_m
        return ctx.expm1(ctx.number(alpha) * log_m)

    return value


def _written(
    ctx: SymbolicArithmetic, gamma: Exact, alpha: Order | None
) -> Callable[[sympy.Expr], sympy.Expr]:
    """log(P/Q) ↦ m^α, or m log m where alpha is None, m = 1−γ+γP/Q, as it is printed."""

    def value(log_ratio: sympy.Expr) -> sympy.Expr:
        m = 1 - ctx.number(gamma) + ctx.number(gamma) * sympy.exp(log_ratio)
        return m * sympy.log(m) if alpha is None else m ** ctx.number(alpha)

    return value


def rising_in_rate(bound: Bound) -> Bound:
    """The bound, asked at rational rates alone: at an irrational one balls enclose what is between.

    It never falls in γ: D_f((1−γ)q + γp ‖ (1−γ)q + γp′) is convex in γ, never below 0, and 0 at
    γ = 0. Other arithmetics take the rational rate below. Symbols are passed on.
    """

    @wraps(bound)
    def between(ctx: Any, eps: Any, alpha: Any, gamma: Exact, **near: Any) -> Number:
        if isinstance(gamma, Fraction) or gamma.free_symbols or not isinstance(ctx, _NUMERIC):
            return bound(ctx, eps, alpha, gamma, **near)
        ends = (min(end, Fraction(1)) for end in rational_ends(gamma, ctx.bits))
        low, high = (bound(ctx, eps, alpha, end, **near) for end in ends)
        return low.union(high) if isinstance(ctx, BallArithmetic) else low

    return between


# --- pairs of laws
#
# Pairs of laws: the sampled curve itself, at every real order.
#
# A DistributionPair says that the outputs on two neighbouring datasets have the laws P and Q, and
# does not say which of the two datasets is the one with the record, unless with_record="P": then of
# the roles below there is one, in both directions, at every order. With the record x, the sampled
# output is a mixture over the samples S of the others: (1−γ)M(S) + γM(S∪{x}), and M(S) without it.
# D_α is jointly quasi-convex (VEH14 Theorem 13), so the worst S counts alone; either law may be
# M(S∪{x}); and D_α has two directions. The largest of these four divergences is attained where x
# is the only record, so it is the exact value. Where a symmetry swaps the laws there is one role,
# and the mixture from the law without the record is the larger direction (MTZ19 Theorem 5). At
# every order from 2 on the largest is one of the two from the mixture (docs/theorems.md,
# S22-POISSON, steps 4 and 5); at whole ones it is a sum over the moments of the pair.

#: Bits of the balls that prove which of several directions need not be computed to all digits. It
#: costs time alone.
_COMPARING_BITS = 32


def is_finite_pair(node: Node) -> str | None:
    """None if the mechanism is a pair of laws of finitely many outcomes; else the reason."""
    pair = stated_pair(node.mechanism)  # type: ignore[attr-defined]
    if pair is not None and pair.masses is not None:
        return None
    return "the mechanism is not given as a pair of finite distributions"


def is_pair(node: Node) -> str | None:
    """None if the mechanism is two laws whose mixture can be integrated or summed; else why not."""
    pair = stated_pair(node.mechanism)  # type: ignore[attr-defined]
    if pair is None:
        return "the mechanism is not given as a pair of distributions"
    if pair.masses is not None:
        return None
    needed = why_not_mixed(pair.P, pair.Q)
    return needed and f"found {echo(pair)}, needed {needed}"


def is_infinite_pair(node: Node) -> str | None:
    """None if it is two laws that can be mixed, not of finitely many outcomes; else the reason."""
    if is_finite_pair(node) is None:
        return "the pair is of finite distributions, which PAIR-FINITE-WOR is about"
    return is_pair(node)


@of_a_record(
    "PAIR-FINITE",
    kind=Kind.EXACT,
    source=VEH14.at("Definition 2 and Theorem 13"),
    orders=ALL_ORDERS,
    assumes="neighbouring datasets give the laws $P$ and $Q$, of finitely many outcomes, in any "
    "order",
    applies=is_finite_pair,
    tight=True,
    takes_exact=True,
)
def sampled_either_way(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P);
    over (P, Q) alone if P is stated to be the law with the record"""
    return largest_divergence(ctx, eps, alpha, gamma)


@of_fixed_samples(
    "PAIR-FINITE-WOR",
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11, its datasets with P and Q themselves"),
    orders=ALL_ORDERS,
    assumes="neighbouring datasets give the laws $P$ and $Q$, of finitely many outcomes, in any "
    "order",
    applies=is_finite_pair,
    takes_exact=True,
)
def replaced_record(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P),
    for the datasets [x,…,x,x′] and [x,…,x], whose samples give q unless they contain x′"""
    return largest_divergence(ctx, eps, alpha, gamma)


@of_fixed_samples(
    "PAIR-WOR",
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11, its datasets with P and Q themselves"),
    orders=ALL_ORDERS,
    assumes="neighbouring datasets give the laws $P$ and $Q$, which have infinitely many outcomes",
    applies=is_infinite_pair,
    takes_exact=True,
)
@rising_in_rate
def replaced_record_of_laws(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P),
    which is evaluated by certified integrals and sums"""
    return largest_divergence(ctx, eps, alpha, gamma)


# Proved in docs/proofs/sampling.md, Lemma four-divergences.
def largest_divergence(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """The largest of the four divergences of a sample of two laws at α, in any arithmetic.

    What does not depend on the order is remembered with the curve of the pair.
    """
    if gamma == 0 or gamma == 1:
        return eps(alpha) if gamma == 1 else ctx.number(0)
    pair = pair_of(eps)
    if isinstance(alpha, float) and alpha == INFINITY and pair.masses is None:
        return _largest_log_ratio(ctx, pair, gamma)
    if pair.masses is None and has_closed_form(pair.P, pair.Q) and not _has_one_role(pair):
        if ctx.is_infinite(eps(alpha)):
            return ctx.number(INFINITY)  # so is that of the mixture, m/q >= γp/q
        if isinstance(ctx, BallArithmetic) and isinstance(alpha, int) and alpha > 1:
            logs = [_log_moment(ctx, eps, role, gamma)(alpha) for role in _roles(pair)]
            return ctx.maximum(*logs) / (alpha - 1)
    known = eps.remember("sampled directions")
    if gamma not in known:
        directions = _directions(pair, gamma)
        known[gamma] = directions, [direction.curve(ctx) for direction in directions]
    directions, curves = known[gamma]
    if isinstance(alpha, int | float) and alpha in (1, INFINITY):
        return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))
    if pair.masses is None:
        return _largest_of(ctx, _leading_directions(ctx, eps, directions, alpha), alpha)
    return ctx.maximum(*(curve(alpha) for curve in curves))


def _largest_log_ratio(ctx: Arithmetic, pair: DistributionPair, gamma: Exact) -> Number:
    """The largest log-ratio of a mixture m = (1−γ)q + γp and q, in either direction.

    log(1 + γ(e^s − 1)) for m to q and −log(1 + γ(e^{−s} − 1)) for q to m, s the pair's log-ratios.
    """
    rate = ctx.number(gamma)

    def largest(*roles: DistributionPair) -> Number:
        return largest_of(ctx, (partial(role.direction().at_infinity, ctx) for role in roles))

    gained = sampled_pure(ctx, largest(*pair.roles), rate)
    if not _has_one_role(pair):
        return gained  # the other is nearer to 0
    lost = largest(pair.swapped())
    return ctx.maximum(gained, sampled_pure_of_removal(ctx, lost, rate))


def _has_one_role(pair: DistributionPair) -> bool:
    """Is P the law with the record, and no symmetry makes the mixture's the larger direction?"""
    return pair.with_record == "P" and not pair._swap_symmetric


def _rough_curve(node: Any) -> Callable[[Order], float] | None:
    """α ↦ about the sampled curve in floats, of laws that are integrated; it steers.

    None for laws whose curve takes no time, and for other mechanisms.
    """
    pair = stated_pair(node.mechanism)
    if pair is None:
        return None
    known = node._derived("rough curve")
    if "rough" not in known:  # with the node, which is then no longer kept than it was
        known["rough"] = _float_curve_of(node, pair, node.gamma)
    curve: Callable[[Order], float] | None = known["rough"]
    return curve


for _sampling in SAMPLINGS:
    rough_curve.register(_sampling)(_rough_curve)


def _float_curve_of(
    node: Node, pair: DistributionPair, gamma: Exact
) -> Callable[[Order], float] | None:
    """α ↦ the largest of the divergences of a sample in float64, by which orders are compared.

    None for laws with closed forms or without a rule in float64, and for a rate 0, 1 or irrational.
    """
    if is_pair(node) or pair.masses is not None or has_closed_form(pair.P, pair.Q):
        return None
    if not isinstance(gamma, Fraction) or not 0 < gamma < 1:
        return None
    directions = _directions(pair, gamma)
    if directions[0].overlap.rules is None:
        return None

    def at(alpha: Order) -> float:
        order = Fraction(cast(Fraction, alpha))
        every = order < 2 or _has_one_role(pair)
        values: list[float] = [
            d.float_divergence(order) for d in directions if every or not d.reverse
        ]
        return max(values)

    return at


def pair_of(eps: RDPCurve) -> DistributionPair:
    """The two laws whose curve is read, which the theorem's condition has found to be these."""
    return cast(DistributionPair, eps.node)


def _roles(pair: DistributionPair) -> tuple[bool, ...]:
    """For each role of the laws: is Q the law with the record? One where a symmetry swaps them."""
    return (False, True)[: len(pair.roles)]


def _log_moment(
    ctx: BallArithmetic, eps: RDPCurve, role: bool, gamma: Exact
) -> Callable[[int], arb]:
    """L(n) = log E_q[(m/q)^n] at whole n >= 1, by the moments of the pair:

    E_q[(m/q)^n] − 1 = Σ_{l>=2} C(n,l)(1−γ)^{n−l}γ^l (e^{(l−1)D_l(p‖q)} − 1).
    """
    terms, rate = _moments(ctx, eps, role), ctx.number(gamma)
    known: dict[int, arb] = eps.remember(f"logarithms of sampled moments, {role}, {gamma}")

    def at(n: int) -> arb:
        if n not in known:
            known[n] = ctx.number(0) if n == 1 else log_sum(ctx, terms, n, rate)
        return known[n]

    return at


def _moments(ctx: BallArithmetic, eps: RDPCurve, reverse: bool) -> Terms:
    """The terms e^{(l−1)D_l} − 1 of one direction of the pair, remembered with its curve."""
    known: dict[str, Terms] = eps.remember(f"moments of one direction, {reverse}")
    if "terms" not in known:
        known["terms"] = Terms(DirectionCurve(ctx, pair_of(eps).direction(reverse).curve(ctx)))
    return known["terms"]


class DirectionCurve:
    """D_l of one direction of a pair, remembered; its CGF (l−1)D_l is convex and 0 at 1."""

    shape = "convex"

    def __init__(self, ctx: BallArithmetic, at: Callable[[Order], Number]) -> None:
        self.ctx = ctx
        self._at = cache(at)

    def __call__(self, alpha: Order) -> arb:
        value: arb = self._at(alpha)
        return value

    def excesses(self) -> Callable[[Number], arb]:
        return lambda l: self.ctx.expm1((l - 1) * self(l))

    def exponentials(self) -> None:
        """Nothing is known of what makes it up."""

    def dense(self, orders: range) -> None:
        """Nothing is known of what it costs."""


def _leading_directions(
    ctx: Arithmetic, eps: RDPCurve, directions: list[MixtureDirection], alpha: Order
) -> list[MixtureDirection]:
    """The directions of which one is the largest: from order 2 on, the ones from the mixture.

    The closed forms at whole orders may show which of these two it is: L is convex and L(1) = 0,
    so that it lies below a chord between its ends and above the chord beyond them.
    """
    pair = pair_of(eps)
    if not isinstance(alpha, int | Fraction) or alpha < 2 or _has_one_role(pair):
        return directions
    mixed_first = [direction for direction in directions if not direction.reverse]
    if (
        len(mixed_first) == 1
        or not isinstance(ctx, BallArithmetic)
        or not has_closed_form(pair.P, pair.Q)
    ):
        return mixed_first
    first, second = (
        _around(_log_moment(ctx, eps, role, direction.gamma), Fraction(alpha))
        for role, direction in zip(_roles(pair), mixed_first, strict=True)
    )
    if first[1] < second[0]:
        return mixed_first[1:]
    return mixed_first[:1] if second[1] < first[0] else mixed_first


def _around(log_moment: Callable[[int], Any], alpha: Fraction) -> tuple[Any, Any]:
    """Balls that bound L(α), convex, from below and from above, by its values at whole orders."""
    floor = alpha.__floor__()
    share = BALL.number(alpha - floor)
    before, at, after = (log_moment(floor + step) for step in (-1, 0, 1))
    return at + share * (at - before), at + share * (after - at)


@singledispatch
def _largest_of(ctx: Arithmetic, directions: list[MixtureDirection], alpha: Order) -> Number:
    """The largest of some divergences at α, of which each takes time, in the arithmetic.

    Balls of _COMPARING_BITS prove which are not the largest, and those are left out.
    """
    if len(directions) > 1:
        values = []
        with precision(_COMPARING_BITS):
            for direction in directions:
                values.append(direction.at(BALL, alpha))
                if BALL.is_infinite(values[-1]):
                    return ctx.number(INFINITY)
            best = BALL.maximum(*values)
        directions = [d for d, value in zip(directions, values, strict=True) if not value < best]
    return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))


@_largest_of.register
def _(ctx: SymbolicArithmetic, directions: list[MixtureDirection], alpha: Order) -> Number:
    """In a formula the largest of all stands, as nothing is compared."""
    return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))


def _directions(pair: DistributionPair, gamma: Exact) -> list[Any]:
    """Both directions for each role of the laws; of densities one where a symmetry swaps them."""
    added = sampled_directions(pair, gamma, removed=False)
    if pair.masses is None and pair._swap_symmetric:
        return added
    return [*added, *sampled_directions(pair, gamma, removed=True)]


def sampled_directions(pair: DistributionPair, gamma: Exact, removed: bool) -> list[Any]:
    """m from q, m = (1−γ)q + γp, or q from m if `removed`, for each p that may have the record."""
    if pair.masses is None:
        return [mixed(role.P, role.Q, gamma)[removed] for role in pair.roles]
    pairs = [mixture(role.masses or (), gamma) for role in pair.roles]
    if removed:
        pairs = [[(q, m) for m, q in masses] for masses in pairs]
    return [FiniteDirection(masses) for masses in pairs]


# --- mechanisms with a known pair
#
# Mechanisms whose worst pair is known: the sampled curve itself, at every real order.
#
# If one pair (P, Q) dominates and an involution that preserves the measure swaps P and Q, then
# E_Q[m^α], m = (1−γ) + γP/Q, is at least the other direction (MTZ19 Theorem 5), so
# ε′(α) = log E_Q[m^α]/(α−1) for every real α > 1, and ε′(1) = E_Q[m log m].

#: What theorems about a swapped pair assume, in words.
_SWAPPED = "one pair $(P, Q)$ dominates, and an involution that preserves the measure swaps it"


def is_gaussian(node: Node) -> str | None:
    """None if the worst pair is N(Δ, σ²) against N(0, σ²); else the reason."""
    law = law_of(as_noise(node.mechanism))  # type: ignore[attr-defined]
    return "the mechanism is not the Gaussian one" if law.normal is None else None


# Proved in docs/proofs/pairs.md, Lemma base-pairs.
def has_known_pair(node: Node) -> str | None:
    """None if the worst pair is that of randomized response or of noise, or two laws; else why not.

    Gaussian noise has its own theorem.
    """
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if stated_pair(mechanism) is not None:
        return is_pair(node)
    law = law_of(mechanism)
    if law.worst is not None and law.normal is None:
        return None
    return "no closed form is known for the mechanism's worst pair"


def _sampled_gaussian_local(eps: RDPCurve, middle: int, gamma: Exact) -> LocalProduct | None:
    """E_Q[m^α] for all α within ½ of a whole order, at a rational γ and σ/Δ; None for others."""
    law = law_of(as_noise(eps.node))
    ratio = None if law.normal is None else law.normal.ratio
    if not isinstance(ratio, Fraction) or not isinstance(gamma, Fraction):
        return None
    local = sampled_gaussian_local(middle, gamma, ratio)
    return None if local is None else LocalProduct(1, local)


@of_a_record(
    "MTZ19-EXACT",
    kind=Kind.EXACT,
    source=MTZ19.at("Theorems 4 and 5, Corollary 7, Section 3.3"),
    orders=FINITE_ORDERS,
    assumes=_SWAPPED,
    applies=is_gaussian,
    local=_sampled_gaussian_local,
    tight=True,
    takes_exact=True,
)
@rising_in_rate
def sampled_gaussian(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_{z~N(0,σ²)}[ (1−γ+γe^{(2Δz−Δ²)/(2σ²)})^α ]/(α−1), for any real
    α > 1"""
    return from_pair(ctx, eps, alpha, gamma)


@of_a_record(
    "PAIR-EXACT",
    kind=Kind.EXACT,
    source=MTZ19.at(
        "Theorem 5, for randomized response, noise and laws that an involution swaps; "
        "VEH14 Theorem 13 for other laws"
    ),
    orders=ALL_ORDERS,
    assumes=f"{_SWAPPED}; or neighbouring datasets give two known laws, in any order "
    "unless the pair states the order",
    applies=has_known_pair,
    tight=True,
    takes_exact=True,
)
@rising_in_rate
def sampled_pair(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_Q[ (1−γ+γP/Q)^α ]/(α−1), for any real α > 1; for two known laws it is
    the largest of this, of log E_Q[ (1−γ+γP/Q)^{1−α} ]/(α−1), and of both with P and Q
    exchanged, unless P is stated to be the law with the record"""
    if law_of(as_noise(eps.node)).worst is None:
        return largest_divergence(ctx, eps, alpha, gamma)
    return from_pair(ctx, eps, alpha, gamma)


# Proved in docs/proofs/pairs.md, Lemma involution and docs/proofs/sampling.md, Lemma
# gaussian-order-one.
def from_pair(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """The sampled curve is the divergence of the worst pair's mixture m from Q.

    log E_Q[m^α]/(α−1), and E_Q[m log m] at α = 1, of the mechanism's worst pair.
    """
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return eps(alpha)
    if isinstance(alpha, float) and alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), ctx.number(gamma))
    mechanism = cast(Mechanism, as_noise(eps.node))
    near = eps.remember("grids") if isinstance(ctx, BallArithmetic) else {}
    if isinstance(alpha, int) and alpha == 1:
        return sampled_mean(ctx, mechanism, gamma, None, near)
    return ctx.log1p(sampled_mean(ctx, mechanism, gamma, alpha, near)) / (ctx.number(alpha) - 1)
