"""Curves of mechanisms that float64 needs in another form than balls do: nothing may cancel.

E_Q[(P/Q)^α] − 1 = E_Q[(1+u)^α − 1 − αu] with u = P/Q − 1, which has the mean 0: a sum of terms that
are not negative, each of which the runtime's log_power_gap gives to full relative precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from symacct.exact import INFINITY
from symacct.export.code.ir import Op
from symacct.export.code.number import Traced, choose, logged
from symacct.mechanisms import TCDP, DistributionPair, ExponentialFamily, Laplace
from symacct.mechanisms.direction import FiniteDirection
from symacct.mechanisms.mechanism import Mechanism
from symacct.mechanisms.response import ResponsePair

Curve = Callable[[Any], Traced]


@singledispatch
def excess(mechanism: Mechanism, ctx: Any) -> Curve | None:
    """α ↦ e^{(α−1)ε(α)} − 1 where it has a form that does not cancel."""
    return None


@singledispatch
def relative_entropy(mechanism: Mechanism, ctx: Any) -> Traced:
    """ε(1)."""
    return mechanism.at_one(ctx)


@singledispatch
def pure_bound(mechanism: Mechanism, ctx: Any) -> Traced:
    """ε(∞)."""
    return mechanism.at_infinity(ctx)


@singledispatch
def curve(mechanism: Mechanism, ctx: Any) -> Curve:
    """α ↦ ε(α) for 1 < α < ∞."""
    rise = excess(mechanism, ctx)
    if rise is None:
        return mechanism.curve(ctx)
    return lambda alpha: ctx.log1p(rise(alpha)) / (alpha - 1)


def power_gap(gamma: Traced, x: Traced, alpha: Traced) -> Traced:
    """(1+u)^α − 1 − αu for u = γ(e^x − 1)."""
    if x.is_number(0):
        return x
    return logged(Op("log_power_gap", tuple(y.as_plain() for y in (gamma, x, alpha))))


def entropy_gap(gamma: Traced, x: Traced) -> Traced:
    """(1+u) log(1+u) − u for u = γ(e^x − 1)."""
    if x.is_number(0):
        return x
    return logged(Op("log_entropy_gap", (gamma.as_plain(), x.as_plain())))


# --- Laplace noise


def _second_gap(x: Traced) -> Traced:
    """e^x − 1 − x."""
    return logged(Op("log_expm2", (x.as_plain(),)))


@excess.register
def _(mechanism: Laplace, ctx: Any) -> Curve:
    """( α(e^{λs} − 1 − λs) + λ(e^{−αs} − 1 + αs) )/(2α−1): what cancels is αλs."""
    s = mechanism.shift(ctx)

    def rise(alpha: Traced) -> Traced:
        lam = alpha - 1
        return (alpha * _second_gap(lam * s) + lam * _second_gap(-(alpha * s))) / (2 * alpha - 1)

    return rise


@relative_entropy.register
def _(mechanism: Laplace, ctx: Any) -> Traced:
    return _second_gap(-mechanism.shift(ctx))


# --- two answers, finitely many outcomes


def over_answers(ctx: Any, mechanism: ResponsePair, gap: Callable[[Traced], Traced]) -> Traced:
    """(1−p) gap(t) + p gap(−t), t = log(p/(1−p)): an expectation under Q."""
    p, t = mechanism.truth_probability(ctx), mechanism.log_odds(ctx)
    rest = Traced((1 - p).as_plain(), low=0.0, high=1.0)
    return rest * gap(t) + p * gap(-t)


@excess.register
def _(mechanism: ResponsePair, ctx: Any) -> Curve:
    one = Traced.of(1)
    return lambda alpha: over_answers(ctx, mechanism, lambda x: power_gap(one, x, alpha))


@relative_entropy.register
def _(mechanism: ResponsePair, ctx: Any) -> Traced:
    return over_answers(ctx, mechanism, lambda x: entropy_gap(Traced.of(1), x))


@excess.register
def _(mechanism: DistributionPair, ctx: Any) -> Curve | None:
    if mechanism.masses is None:
        return None
    curves = [finite_excess(ctx, one) for one in _directions(mechanism)]
    return lambda alpha: ctx.maximum(*(rise(alpha) for rise in curves))


@relative_entropy.register
def _(mechanism: DistributionPair, ctx: Any) -> Traced:
    if mechanism.masses is None:
        return mechanism.at_one(ctx)
    return ctx.maximum(*(finite_entropy(ctx, one) for one in _directions(mechanism)))


@pure_bound.register
def _(mechanism: DistributionPair, ctx: Any) -> Traced:
    if mechanism.masses is None:
        return mechanism.at_infinity(ctx)
    return ctx.maximum(*(finite_supremum(ctx, one) for one in _directions(mechanism)))


def _directions(pair: DistributionPair) -> list[Any]:
    both = (False,) if pair.swap_symmetric else (False, True)
    return [pair.direction(reverse) for reverse in both]


def finite_excess(ctx: Any, direction: FiniteDirection) -> Curve:
    """α ↦ Σ q ((1+u)^α − 1 − αu), u = p/q − 1; ∞ where p > 0 = q somewhere."""
    if _is_infinite(direction):
        return lambda alpha: Traced.of(INFINITY)
    weigh = _over_outcomes(ctx, direction)
    return lambda alpha: weigh(lambda x: power_gap(Traced.of(1), x, alpha))


def finite_entropy(ctx: Any, direction: FiniteDirection) -> Traced:
    """Σ q ((1+u) log(1+u) − u)"""
    if _is_infinite(direction):
        return Traced.of(INFINITY)
    return _over_outcomes(ctx, direction)(lambda x: entropy_gap(Traced.of(1), x))


def finite_supremum(ctx: Any, direction: FiniteDirection) -> Traced:
    """max log(p/q)"""
    if _is_infinite(direction):
        return Traced.of(INFINITY)
    return ctx.log(ctx.number(max(p / q for p, q in direction.masses if q != 0)))


def _is_infinite(direction: FiniteDirection) -> bool:
    return any(p != 0 and q == 0 for p, q in direction.masses)


def _over_outcomes(
    ctx: Any, direction: FiniteDirection
) -> Callable[[Callable[[Traced], Traced]], Traced]:
    """gap ↦ Σ q gap(log(p/q)), outcomes where p = q left out: their gap is 0."""
    masses = [(p, q) for p, q in direction.masses if p != q]
    if not masses:
        return lambda gap: Traced.of(0)
    weights = ctx.table([ctx.number(q) for _, q in masses])
    logs = ctx.table([ctx.log(ctx.number(p / q)) for p, q in masses])
    return lambda gap: ctx.sum(lambda i: weights(i) * gap(logs(i)), 0, len(masses) - 1)


# --- bounds that end at an order


@curve.register
def _(mechanism: TCDP, ctx: Any) -> Curve:
    rho, omega = ctx.number(mechanism.rho), ctx.threshold(ctx.number(mechanism.omega), True)
    return lambda alpha: choose(">=", alpha, omega, ctx.number(INFINITY), rho * alpha)


@curve.register
def _(mechanism: ExponentialFamily, ctx: Any) -> Curve:
    smooth, flat = mechanism._branches(ctx)

    def inside(alpha: Traced) -> Traced:
        return flat if ctx.is_infinite(smooth) else ctx.minimum(alpha * smooth, flat)

    if mechanism.kappa == INFINITY:
        return inside
    last = ctx.number(mechanism.kappa) / ctx.number(mechanism.sensitivity) + 1
    edge = ctx.threshold(last, False)
    return lambda alpha: choose(">", alpha, edge, ctx.number(INFINITY), inside(alpha))
