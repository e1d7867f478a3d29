"""Pairs of laws: the sampled curve itself, at every real order.

A DistributionPair says that the outputs on two neighbouring datasets have the laws P and Q, and
does not say which of the two datasets is the one with the record, unless with_record="P": then of
the roles below there is one, in both directions, at every order. With the record x, the sampled
output is a mixture over the samples S of the others: (1−γ)M(S) + γM(S∪{x}), and M(S) without it.
D_α is jointly quasi-convex (VEH14 Theorem 13), so the worst S counts alone; either law may be
M(S∪{x}); and D_α has two directions. The largest of these four divergences is attained where x
is the only record, so it is the exact value. Where a symmetry swaps the laws there is one role,
and the mixture from the law without the record is the larger direction (MTZ19 Theorem 5). At
every order from 2 on the largest is one of the two from the mixture (docs/theorems.md,
S22-POISSON, steps 4 and 5); at whole ones it is a sum over the moments of the pair.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial, singledispatch
from typing import Any, cast

from flint import arb

from symacct.distributions.direction import FiniteDirection
from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, Number, SymbolicArithmetic
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import ADD_REMOVE, ALL_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.errors import echo
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import VEH14, WBK19
from symacct.kernel.sums.binomial_sums import Terms
from symacct.kernel.theorem_registry import rough_curve, theorem
from symacct.mechanisms.mixtures import MixtureDirection, has_closed_form, mixed, why_not_mixed
from symacct.mechanisms.pair import DistributionPair, largest_of, mixture
from symacct.operations.subsample import SAMPLINGS, SubsampleWithoutReplacement
from symacct.theory.amplification.poisson.sampled_pairs import rising_in_rate
from symacct.theory.amplification.poisson.zw19 import log_sum, sampled_pure
from symacct.theory.rdp_curve import RDPCurve

_FEW_BITS = 32


def is_finite_pair(node: Node) -> str | None:
    """The mechanism is given by the probabilities of finitely many outcomes."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if isinstance(mechanism, DistributionPair) and mechanism.masses is not None:
        return None
    return "the mechanism is not given as a pair of finite distributions"


def is_pair(node: Node) -> str | None:
    """The mechanism is given by two laws whose mixture can be integrated or summed."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if not isinstance(mechanism, DistributionPair):
        return "the mechanism is not given as a pair of distributions"
    if mechanism.masses is not None:
        return None
    needed = why_not_mixed(mechanism.P, mechanism.Q)
    return needed and f"found {echo(mechanism)}, needed {needed}"


def is_infinite_pair(node: Node) -> str | None:
    """The mechanism is given by two laws that are not of finitely many outcomes."""
    if is_finite_pair(node) is None:
        return "the pair is of finite distributions, which PAIR-FINITE-WOR is about"
    return is_pair(node)


@theorem(
    "PAIR-FINITE",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=VEH14.at("Definition 2 and Theorem 13"),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="neighbouring datasets give the laws $P$ and $Q$, of finitely many outcomes, in any "
    "order",
    applies=is_finite_pair,
    tight=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def sampled_either_way(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P);
    over (P, Q) alone if P is stated to be the law with the record"""
    return largest_divergence(ctx, eps, alpha, gamma)


@theorem(
    "PAIR-FINITE-WOR",
    operation=SubsampleWithoutReplacement,
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11, its datasets with P and Q themselves"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="neighbouring datasets give the laws $P$ and $Q$, of finitely many outcomes, in any "
    "order",
    applies=is_finite_pair,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def replaced_record(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P),
    for the datasets [x,…,x,x′] and [x,…,x], whose samples give q unless they contain x′"""
    return largest_divergence(ctx, eps, alpha, gamma)


@theorem(
    "PAIR-WOR",
    operation=SubsampleWithoutReplacement,
    kind=Kind.LOWER,
    source=WBK19.at("Proposition 11, its datasets with P and Q themselves"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="neighbouring datasets give the laws $P$ and $Q$, which have infinitely many outcomes",
    applies=is_infinite_pair,
    takes_exact=True,
    monotone=True,
    status="proved",
)
@rising_in_rate
def replaced_record_of_laws(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp, (p, q) = (P, Q) and (Q, P),
    which is evaluated by certified integrals and sums"""
    return largest_divergence(ctx, eps, alpha, gamma)


def largest_divergence(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """The largest divergence at α; what does not depend on the order is remembered."""
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
        return _largest_of(ctx, _that_count(ctx, eps, directions, alpha), alpha)
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
    least = -rate if ctx.is_infinite(lost) else rate * ctx.expm1(-lost)
    return ctx.maximum(gained, -ctx.log1p(least))


def _has_one_role(pair: DistributionPair) -> bool:
    """Is P the law with the record, and no symmetry makes the mixture's the larger direction?"""
    return pair.with_record == "P" and not pair.swap_symmetric


def _rough_curve(node: Any) -> Callable[[Order], float] | None:
    """About the same by floats, for the laws that are integrated; None for what takes no time."""
    if not isinstance(node.mechanism, DistributionPair):
        return None
    known = node._derived("rough curve")
    if "rough" not in known:  # with the node, which is then no longer kept than it was
        known["rough"] = _float_curve_of(node, node.mechanism, node.gamma)
    found: Callable[[Order], float] | None = known["rough"]
    return found


for _sampling in SAMPLINGS:
    rough_curve.register(_sampling)(_rough_curve)


def _float_curve_of(
    node: Node, pair: DistributionPair, gamma: Exact
) -> Callable[[Order], float] | None:
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
    """The two laws whose curve is read."""
    return cast(DistributionPair, eps.node)


def _roles(pair: DistributionPair) -> tuple[bool, ...]:
    """Is Q the law with the record? Both, or one where a symmetry swaps them."""
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
    """e^{(l−1)D_l} − 1 of one direction of the pair."""
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


def _that_count(
    ctx: Arithmetic, eps: RDPCurve, directions: list[MixtureDirection], alpha: Order
) -> list[MixtureDirection]:
    """The directions of which one is the largest: from order 2 on, the ones from the mixture.

    The closed forms at whole orders may show which of these two it is: L is convex and L(1) = 0,
    so that it lies below a chord between its ends and above the chord beyond them.
    """
    pair = pair_of(eps)
    if not isinstance(alpha, int | Fraction) or alpha < 2 or _has_one_role(pair):
        return directions
    found = [direction for direction in directions if not direction.reverse]
    if (
        len(found) == 1
        or not isinstance(ctx, BallArithmetic)
        or not has_closed_form(pair.P, pair.Q)
    ):
        return found
    first, second = (
        _around(_log_moment(ctx, eps, role, direction.gamma), Fraction(alpha))
        for role, direction in zip(_roles(pair), found, strict=True)
    )
    if first[1] < second[0]:
        return found[1:]
    return found[:1] if second[1] < first[0] else found


def _around(log_moment: Callable[[int], Any], alpha: Fraction) -> tuple[Any, Any]:
    """Bounds of L(α) from below and from above."""
    floor = alpha.__floor__()
    share = BALL.number(alpha - floor)
    before, at, after = (log_moment(floor + step) for step in (-1, 0, 1))
    return at + share * (at - before), at + share * (after - at)


@singledispatch
def _largest_of(ctx: Arithmetic, directions: list[MixtureDirection], alpha: Order) -> Number:
    """The largest of some divergences that take time: balls of few bits say which need not."""
    if len(directions) > 1:
        values = []
        with precision(_FEW_BITS):
            for direction in directions:
                values.append(direction.at(BALL, alpha))
                if BALL.is_infinite(values[-1]):
                    return ctx.number(INFINITY)
            best = BALL.maximum(*values)
        directions = [d for d, value in zip(directions, values, strict=True) if not value < best]
    return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))


@_largest_of.register
def _(ctx: SymbolicArithmetic, directions: list[MixtureDirection], alpha: Order) -> Number:
    return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))


def _directions(pair: DistributionPair, gamma: Exact) -> list[Any]:
    """Both directions for each role of the laws; of densities one where a symmetry swaps them."""
    added = sampled_directions(pair, gamma, removed=False)
    if pair.masses is None and pair.swap_symmetric:
        return added
    return [*added, *sampled_directions(pair, gamma, removed=True)]


def sampled_directions(pair: DistributionPair, gamma: Exact, removed: bool) -> list[Any]:
    """m from q, m = (1−γ)q + γp, or q from m if `removed`, for each p that may have the record."""
    if pair.masses is None:
        return [mixed(role.P, role.Q, gamma)[removed] for role in pair.roles]
    found = [mixture(role.masses or (), gamma) for role in pair.roles]
    return [FiniteDirection([(q, m) for m, q in one] if removed else one) for one in found]
