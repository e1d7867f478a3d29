"""Random allocation, each record in one step of many: exactly, and by Feldman and Shenfeld."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from fractions import Fraction
from functools import singledispatch
from typing import cast

from flint import arb

from symacct.analysis.laplace_sums import LaplaceMoments, LaplaceRatio
from symacct.analysis.lognormal import Lognormal, LognormalMoments
from symacct.analysis.series import SumMoments
from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.claims import ABOVE_ONE, ADD_REMOVE, ALL_ORDERS, Kind
from symacct.kernel.errors import DomainError, OrderError, echo
from symacct.kernel.exact import Order, exact
from symacct.kernel.node import Node
from symacct.kernel.sources import FS25, SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.laws.neighbours import LaplaceShift, NormalShift, Shift, law_of
from symacct.operations.allocation import RandomAllocation, blocks

# --- moments of a mean of ratios
#
# Each record in one step of many, exactly: moments of a mean of ratios; docs/proofs/allocations.md,
# Lemma allocation-removal.

#: Bits of a moment beyond those of its logarithm, for the roundings of its sum. Where they are too
#: few, the ball is wider.
_GUARD_BITS = 16


def _is(kind: type[Shift], noise: str) -> Callable[[Node], str | None]:
    """The condition that the mechanism is noise whose worst pair is a shift of this kind."""

    def applies(node: Node) -> str | None:
        mechanism = node.mechanism  # type: ignore[attr-defined]
        law = law_of(mechanism)
        if not isinstance(law, kind) or not law.is_worst:
            return f"the moments are known for {noise} noise only, got {type(mechanism).__name__}"
        return "found a symbol without a value, needed numbers" if node.free_symbols else None

    applies.__doc__ = f"{noise} noise, in numbers."
    return applies


@singledispatch
def moments_of_mean(noise: Shift, steps: int) -> SumMoments:
    """The moments of the mean of `steps` independent ratios P/Q, drawn from Q, of the noise.

    They have as many bits beyond the current precision as a mean next to 1 loses. TypeError for
    noise of another kind.
    """
    raise TypeError(f"no moments of a mean for {type(noise).__name__}")


@moments_of_mean.register
def _(noise: NormalShift, steps: int) -> SumMoments:
    """Of Gaussian noise the ratios are lognormal."""
    law = Lognormal(exact(1 / noise.ratio**2))
    return LognormalMoments(law, steps, _bits(BALL.number(law.ratio).expm1(), steps))


@moments_of_mean.register
def _(noise: LaplaceShift, steps: int) -> SumMoments:
    """Of Laplace noise the ratios lie between e^{−s} and e^s, s = Δ/b."""
    law = LaplaceRatio(exact(1 / noise.ratio))
    return LaplaceMoments(law, steps, _bits(law.variance, steps))


def _bits(variance: arb, steps: int) -> int:
    """The bits of a mean of `steps` ratios of this variance, which is about 1 + variance/steps."""
    lost = float((steps / variance).log()) / math.log(2) if variance < steps else 0.0
    return BALL.bits + math.ceil(lost) + _GUARD_BITS


def why_blocks(node: Node, alpha: Order) -> str | None:
    """Why k of the steps are a bound: a record is taken to draw one of each of k blocks."""
    drawn = node.parameters()
    if drawn["times"] in (1, drawn["steps"]):
        return None
    return "a record in several steps is accounted for as if it drew one step of each block"


# Proved in docs/proofs/allocations.md, Lemma blocks.
def in_blocks(
    bound: Callable[[Arithmetic, RDPCurve, Order, int], Number],
    ctx: Arithmetic,
    eps: RDPCurve,
    alpha: Order,
    drawn: tuple[int, int],
) -> Number:
    """Sum the bound of one step over the blocks; `drawn` is the number of steps and of draws."""
    steps, times = drawn
    if times == 1:
        return bound(ctx, eps, alpha, steps)
    first, *rest = (count * bound(ctx, eps, alpha, size) for size, count in blocks(steps, times))
    return sum(rest, start=first)


is_gaussian = _is(NormalShift, "Gaussian")
is_laplace = _is(LaplaceShift, "Laplace")


@theorem(
    "ALLOCATION-GAUSSIAN",
    operation=RandomAllocation,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/allocations.md, lognormal-moments"),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes="Gaussian noise, and parameters that are numbers",
    applies=is_gaussian,
    tight=True,
    partial=True,
    monotone=True,
    status="proved",
    why_upper=why_blocks,
)
def gaussian(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int, times: int) -> Number:
    """ε′(α) = log max( E[S^α], E[S^{1−α}] )/(α−1), where S is the mean of T independent lognormal
    variables e^{N(−s²/2, s²)}, s = Δ/σ"""
    return in_blocks(larger_direction, ctx, eps, alpha, (steps, times))


@theorem(
    "ALLOCATION-LAPLACE",
    operation=RandomAllocation,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/allocations.md, laplace-ratio-moments"),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes="Laplace noise, and parameters that are numbers",
    applies=is_laplace,
    tight=True,
    partial=True,
    monotone=True,
    status="proved",
    why_upper=why_blocks,
)
def laplace(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int, times: int) -> Number:
    """ε′(α) = log max( E[S^α], E[S^{1−α}] )/(α−1), where S is the mean of T independent ratios
    e^{|X|−|X−s|}, X has the density e^{−|x|}/2, s = Δ/b"""
    return in_blocks(larger_direction, ctx, eps, alpha, (steps, times))


def larger_direction(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """The larger of both directions, by the moments of the mean ratio, at an order above 1.

    What adding costs is bounded by ε(1 + (α−1)/T): where that is no more than what removing costs,
    the other moment is not summed. DomainError in float64 and in formulas.
    """
    if steps == 1:
        return eps(alpha)
    if isinstance(ctx, BallArithmetic):
        removed = log_moment(eps, steps, alpha) / ctx.number(alpha - 1)
        if eps(1 + Fraction(alpha - 1) / steps) <= removed:  # what adding costs at most
            return removed
        return removed.max(log_moment(eps, steps, 1 - alpha) / ctx.number(alpha - 1))
    if isinstance(ctx, MpmathArithmetic):
        with precision(ctx.bits):
            value = larger_direction(BALL, eps.using(BALL), alpha, steps)
            return ctx.number(rational(value))
    raise DomainError(
        f"ALLOCATION: found {type(ctx).__name__}, needed balls or mpmath: an integral is summed "
        "where the numbers say, so there is no one formula"
    )


def log_moment(eps: RDPCurve, steps: int, z: Order) -> arb:
    """log E[S^z] of the mean ratio S for any real z, in balls at the precision now current.

    The moments are remembered with the curve of the mechanism, which has Gaussian or Laplace noise.
    """
    known = eps.remember("moments of a mean")
    if known[steps] is None:
        known[steps] = moments_of_mean(cast(Shift, law_of(eps.node)), steps)
    with precision(known[steps].bits):
        moment = known[steps].moment(Fraction(z))
        log_mean: arb = moment.log() - BALL.number(z) * arb(steps).log()
        return log_mean


# --- Feldman, Shenfeld 2025
#
# Feldman, Shenfeld 2025: each record in one step of many; docs/proofs/allocations.md, Lemma
# allocation-removal.

#: The largest order of FS25-DIRECT, which multiplies about its square of coefficients. Larger ones
#: are refused.
LAST_ORDER = 256
#: How many times the answer's bits mpmath's coefficients have: moments next to 1 lose some. Digits
#: of mpmath rest on it, and no proof.
_BITS_FACTOR = 4


@theorem(
    "ALLOCATION-TOLD",
    operation=RandomAllocation,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/allocations.md, released-step"),
    orders=ALL_ORDERS,
    adjacency=ADD_REMOVE,
    applies=always,
    monotone=True,
    status="proved",
)
def as_if_revealed(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int, times: int) -> Number:
    """ε′(α) <= k ε(α), as if the k steps of a record were revealed"""
    return eps(alpha) if times == 1 else times * eps(alpha)


@theorem(
    "FS25-DIRECT",
    operation=RandomAllocation,
    kind=Kind.UPPER,
    source=FS25.at(
        "the direct bounds of the authors' program; "
        "SYMACCT, docs/proofs/allocations.md, allocation-removal and allocation-addition"
    ),
    orders=ABOVE_ONE,
    adjacency=ADD_REMOVE,
    assumes=f"$α <= {LAST_ORDER}$",
    applies=always,
    monotone=True,
    partial=True,
    status="proved",
)
def direct(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int, times: int) -> Number:
    """ε′(α) <= max( ε(1 + (α−1)/T), log M(α)/(α−1) ), M(α) = α! T^{−α} [z^α] (Σ_k e^{(k−1)ε(k)}
    z^k/k!)^T at whole orders, log M a chord between them"""
    if not isinstance(alpha, int | Fraction):
        raise OrderError(
            "FS25-DIRECT: found a symbol without a value, needed numbers, because "
            "the order is the last term of sums"
        )
    if alpha > LAST_ORDER:
        raise OrderError(f"FS25-DIRECT: found {echo(alpha)}, needed an order up to {LAST_ORDER}")
    return in_blocks(direct_of_one, ctx, eps, alpha, (steps, times))


def direct_of_one(ctx: Arithmetic, eps: RDPCurve, alpha: Order, steps: int) -> Number:
    """Compute FS25-DIRECT where a record draws one step, at an order up to the last one."""
    below, above = math.floor(alpha), math.ceil(alpha)
    if ctx.is_infinite(eps(above)):
        return eps(above)
    part, (low, high) = ctx.number(alpha - below), log_moments(ctx, eps, steps, (below, above))
    removed = ((1 - part) * low + part * high) / ctx.number(alpha - 1)
    return ctx.maximum(removed, eps(1 + Fraction(alpha - 1) / steps))


def log_moments(ctx: Arithmetic, eps: RDPCurve, steps: int, orders: Iterable[int]) -> list[Number]:
    """log M(n) of FS25-DIRECT at these whole n >= 1, by the coefficients of h = f^T.

    f·h′ = T·f′·h and f(0) = 1, so that each follows from those before it, which are remembered.
    """
    known, excess, one = eps.remember("allocated"), eps.excesses(), ctx.number(1)
    terms, power = known[steps] or ([one, one], [one])
    known[steps] = terms, power

    def log_moment(order: int) -> Number:
        for n in range(len(power), order + 1):
            if n > 1:
                terms.append((1 + excess(n)) / math.factorial(n))
            parts = ((k * (steps + 1) - n) * terms[k] * power[n - k] for k in range(1, n + 1))
            power.append(sum(parts, ctx.number(0)) / n)
        return ctx.log(power[order] * math.factorial(order) / ctx.number(steps) ** order)

    # Moments are next to 1, which balls tell by themselves.
    with (
        ctx.mp.workprec(_BITS_FACTOR * ctx.bits)
        if isinstance(ctx, MpmathArithmetic)
        else nullcontext()
    ):
        return [ctx.number(0) if order == 1 else log_moment(order) for order in orders]
