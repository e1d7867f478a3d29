"""Each direction of a record apart: sums and coins of which all parts see one pair of datasets.

Of add/remove neighbours one has the record. A sum of parts costs the larger of two sums: that of
the divergences of the law with the record from the law without it, and that of the other direction;
and so does a coin. Where one direction is the larger one in all parts, it is the sum of their
curves. The laws of two parts, one with the larger value in each direction, are never had at once
(docs/proofs/directions.md, Lemma direction-sums).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any

from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.claims import (
    ADD_REMOVE,
    ALL_ORDERS,
    EITHER,
    INTEGER_ORDERS,
    Kind,
    Pairs,
    Way,
    why_no_one_way,
)
from symacct.kernel.errors import DomainError, OrderError
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, Count
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, theorem
from symacct.laws.neighbours import law_of
from symacct.mechanisms.pair import DistributionPair, stated_pair
from symacct.operations.allocation import RandomAllocation
from symacct.operations.subsample import PoissonSubsample, Sampling
from symacct.theory.amplification.allocation import is_gaussian, is_laplace
from symacct.theory.amplification.allocation import log_moment as allocated_moment
from symacct.theory.amplification.elementary import composition
from symacct.theory.amplification.pairs import DirectionCurve, is_pair, sampled_directions
from symacct.theory.amplification.zw19 import log_moment, sampled_pure, sampled_pure_of_removal

#: The source of what is proved of both directions apart.
SECTION = SYMACCT.at("docs/proofs/directions.md, direction-sums")


def directed(eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """The largest D_α of the law with the record from the one without, or, `removed`, the other.

    In balls at the precision now current; `eps` is a curve in balls. OrderError where that
    direction is not known at this order.
    """
    larger = eps.node.attained.way_at(alpha)
    if larger is Way.EITHER or (larger is Way.ADDITION and not removed):
        return eps(alpha)
    return of_node(eps.node, eps, alpha, removed)


def why_not_directed(node: Node) -> str | None:
    """None if the direction of the addition is known at some orders; else the reason.

    At which orders it is, `directed` says by its OrderError.
    """
    if node.free_symbols:
        return "found a symbol without a value, needed numbers"
    if node.attained.way < Way.LARGER:
        return None
    return why_not(node)


# --- one direction of each sort of node


@singledispatch
def of_node(node: Node, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """D_α in one direction by the class of the node, where its curve is the larger of two.

    OrderError for a class that registers no rule, or where its rule knows nothing at the order.
    """
    raise OrderError(
        f"{type(node).__name__} at order {alpha}: the divergence of one direction is not known"
    )


@singledispatch
def why_not(node: Node) -> str | None:
    """None if the class of the node has a rule for its directions; else the reason, in words."""
    return f"the two directions of {type(node).__name__} are not known apart"


@why_not.register(DistributionPair)
def _(node: DistributionPair) -> str | None:
    """None: both directions of two known laws are known."""
    return None


@why_not.register(Compose)
def _(node: Compose) -> str | None:
    """None if they are known of each part."""
    return why_not_parts(node)


def why_not_parts(node: Node) -> str | None:
    """None if each part's direction of the addition is known at some orders."""
    return next(filter(None, map(why_not_directed, node.children)), None)


@why_not.register(RandomAllocation)
def _(node: RandomAllocation) -> str | None:
    """None for Gaussian and for Laplace noise, of which the moments of the mean are known."""
    if node.times > 1:
        return "one direction is known where a record draws one step"
    return is_gaussian(node) and is_laplace(node)


@why_not.register(Sampling)
def _(node: Sampling) -> str | None:
    """None for two laws that can be mixed, or where the mechanism's directions are known."""
    if stated_pair(node.mechanism) is not None:
        return is_pair(node)
    return why_not_directed(node.mechanism)


@of_node.register(DistributionPair)
def _(node: DistributionPair, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """D_α(P‖Q) of the two laws, or D_α(Q‖P)."""
    return node.direction(removed).at(BALL, alpha)


@of_node.register(Compose)
def _(node: Compose, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """The sum of the parts' divergences in this direction."""
    parts = [OneDirection(eps.of(part), removed) for part in node.terms]
    return composition(BALL, tuple(parts), alpha, node.terms)


@of_node.register(RandomAllocation)
def _(node: RandomAllocation, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """log E[S^α]/(α−1) of the mean ratio S, or with E[S^{1−α}] for the removal.

    OrderError at 1 and ∞, and for other noise.
    """
    inner = eps.of(node.mechanism)
    if node.steps == 1:
        return directed(inner, alpha, removed)
    if alpha in (1, INFINITY) or why_not(node) is not None:
        raise OrderError(f"RandomAllocation at order {alpha}: one direction is not known")
    power = 1 - alpha if removed else alpha
    return allocated_moment(inner, node.steps, power) / BALL.number(alpha - 1)


@of_node.register(Sampling)
def _(node: Sampling, eps: RDPCurve, alpha: Order, removed: bool) -> Number:
    """The divergence of a sample of one step under add/remove; OrderError for other samples."""
    if not node._is_one_step() or node._theorem_adjacency != ADD_REMOVE:
        raise OrderError(f"{type(node).__name__} at order {alpha}: one direction is not known")
    return _sampled(eps.of(node.mechanism), alpha, node.gamma, removed)


def _sampled(inner: RDPCurve, alpha: Order, gamma: Exact, removed: bool) -> Number:
    """D_α(m‖q), or D_α(q‖m) if `removed`, m = (1−γ)q + γp, p the mechanism's law with the record.

    In nats, in balls; the larger value where either of two laws may be that with the record.
    OrderError where the laws are not known and it is no addition of one pair at a whole order >= 2.
    """
    if gamma == 0:
        return BALL.number(0)
    if gamma == 1:
        return directed(inner, alpha, removed)
    rate = BALL.number(gamma)
    if isinstance(alpha, float) and alpha == INFINITY:
        of_sample = sampled_pure_of_removal if removed else sampled_pure
        return of_sample(BALL, directed(inner, alpha, removed), rate)
    if (pair := _as_pair(inner.node)) is not None:
        known = sampled_directions(pair, gamma, removed)
        return BALL.maximum(*(direction.at(BALL, alpha) for direction in known))
    whole = isinstance(alpha, int) and alpha > 1
    if removed or not whole or inner.node.attained.pairs > Pairs.ONE:
        raise OrderError(f"a sample at order {alpha}: the divergence of one direction is not known")
    moments = DirectionCurve(BALL, lambda l: directed(inner, l, False))
    return log_moment(BALL, moments, alpha, rate) / (alpha - 1)  # type: ignore[arg-type]


def _as_pair(mechanism: Node) -> DistributionPair | None:
    """The two laws of a mechanism as a pair, if they are known; else None."""
    if (pair := stated_pair(mechanism)) is not None:
        return pair
    laws = law_of(mechanism).two_laws
    return None if laws is None else DistributionPair(*laws)


class OneDirection:
    """One direction of a curve in balls, as the curve that a formula reads."""

    def __init__(self, eps: RDPCurve, removed: bool) -> None:
        self.eps, self.removed = eps, removed

    def __call__(self, alpha: Order) -> Number:
        return directed(self.eps, alpha, self.removed)


# --- the larger of both


def in_balls(
    ctx: Arithmetic, eps: Sequence[RDPCurve], value: Callable[[Sequence[RDPCurve]], Number]
) -> Number:
    """A value that is found in balls from curves in balls, in the arithmetic `ctx`.

    In mpmath it is the ball's midpoint, which proves nothing. DomainError in other arithmetics.
    """
    if isinstance(ctx, BallArithmetic):
        return value(eps)
    if isinstance(ctx, MpmathArithmetic):
        with precision(ctx.bits):
            enclosure = value([curve.using(BALL) for curve in eps])
            return ctx.number(INFINITY if BALL.is_infinite(enclosure) else rational(enclosure))
    raise DomainError(
        f"one direction: found {type(ctx).__name__}, needed balls or mpmath: which direction is "
        "the larger one the numbers say, so there is no one formula"
    )


# Proved in docs/proofs/directions.md, Lemma enclosed-directions.
def larger_of_directions(
    ctx: Arithmetic, eps: Sequence[RDPCurve], joined: Callable[[tuple[Any, ...]], Number]
) -> Number:
    """The larger of two sums, each `joined` of the parts' divergences in one direction, in balls.

    Where the addition's sum may be as large as that of the curves, which bounds both, it lies
    between the two; so the removal is asked only where it decides.
    """

    def larger(curves: Sequence[RDPCurve]) -> Number:
        every = joined(tuple(curves))
        added = joined(tuple(OneDirection(curve, False) for curve in curves))
        if BALL.is_infinite(added):
            return added
        if not added < every:  # the truth is between them
            return added.union(every)
        return added.max(joined(tuple(OneDirection(curve, True) for curve in curves)))

    return in_balls(ctx, eps, larger)


def has_two_directions(node: Node) -> str | None:
    """None if two parts may have their larger values in opposite directions, known apart.

    Else the reason: one direction is the larger one in all, or some part's are not known.
    """
    if why_no_one_way((part.attained for part in node.children), 1) is None:
        return "one direction is the larger one in all parts, so that their curves say all"
    return why_not_parts(node)


#: What theorems about both directions assume, in words.
TWO_DIRECTIONS = (
    "two parts whose larger directions may differ; numbers, and both directions of each part known "
    "at the order: of two laws, of noise in one of many steps, and of samples of these; without "
    "them it gives no value"
)


@theorem(
    "COMPOSE-DIRECTIONS",
    operation=Compose,
    kind=Kind.EXACT,
    source=SECTION,
    orders=ALL_ORDERS,
    adjacency=EITHER,
    assumes=TWO_DIRECTIONS,
    applies=has_two_directions,
    tight=True,
    partial=True,
    monotone=True,
    status="proved",
)
def sum_of_directions(
    ctx: Arithmetic, eps: tuple[RDPCurve, ...], alpha: Order, terms: Mapping[Node, Count]
) -> Number:
    """ε(α) = max{ Σ n_i D_α(P_i‖Q_i), Σ n_i D_α(Q_i‖P_i) }, P_i the law with the record"""
    return larger_of_directions(ctx, eps, lambda each: composition(BALL, each, alpha, terms))


def of_larger_direction(node: Node) -> str | None:
    """None if the mechanism's curve is the larger of two known directions; else the reason."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    if stated_pair(mechanism) is not None:
        return "of two laws PAIR-FINITE and PAIR-EXACT say all"
    if mechanism.attained.way < Way.LARGER:
        return "the mechanism's curve is that of one direction"
    return why_not_directed(mechanism) or (
        "found a symbol without a value, needed numbers" if node.free_symbols else None
    )


@theorem(
    "SAMPLE-DIRECTIONS",
    operation=PoissonSubsample,
    kind=Kind.EXACT,
    source=SECTION,
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="a mechanism whose curve is the larger of two directions; numbers, and both directions "
    "known at the order, as at $∞$; without them it gives no value",
    applies=of_larger_direction,
    tight=True,
    partial=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def sampled_directions_of(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) }, m = (1−γ)q + γp, p the law with the record; at ∞ the
    larger of log(1 + γ(e^{D(p‖q)} − 1)) and −log(1 − γ + γe^{−D(q‖p)})"""

    def value(curves: Sequence[RDPCurve]) -> Number:
        (inner,) = curves
        return BALL.maximum(*(_sampled(inner, alpha, gamma, removed) for removed in (False, True)))

    return in_balls(ctx, (eps,), value)


def of_one_larger_direction(node: Node) -> str | None:
    """None if the mechanism's curve is the larger direction of one pair; else the reason."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    if mechanism.attained.pairs > Pairs.ONE:
        return f"the curve of {type(mechanism).__name__} is not known to be that of one pair"
    return of_larger_direction(node)


@theorem(
    "ZW19-T6-ADDITION",
    operation=PoissonSubsample,
    kind=Kind.LOWER,
    source=SECTION,
    orders=INTEGER_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="one pair, of which the direction of the addition is known at the whole orders to $α$; "
    "numbers",
    applies=of_one_larger_direction,
    partial=True,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def sampled_addition(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= log( (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)D_l(p‖q)}
    )/(α−1), p the law with the record"""
    return in_balls(ctx, (eps,), lambda curves: _sampled(curves[0], alpha, gamma, False))
