"""Curves that code needs in another form: loops over outcomes, bounds that end at an order."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch

from symacct.exact import INFINITY
from symacct.export.code.context import CodeArithmetic
from symacct.export.code.number import Traced, choose
from symacct.mechanisms import TCDP, ExponentialFamily
from symacct.mechanisms.direction import FiniteDirection, Mean, expected, log_ratio
from symacct.mechanisms.mechanism import Mechanism

Curve = Callable[[Traced], Traced]


@expected.register
def _(ctx: CodeArithmetic, direction: FiniteDirection) -> Mean:
    """A loop over tables of the outcomes."""
    masses = [(p, q) for p, q in direction.masses if p != q and q != 0]
    if not masses:
        return lambda gap: Traced.of(0)
    weights = ctx.table([ctx.number(q) for _, q in masses])
    logs = ctx.table([log_ratio(ctx, p, q) for p, q in masses])
    return lambda gap: ctx.sum(lambda i: weights(i) * gap(logs(i)), 0, len(masses) - 1)


@singledispatch
def curve(mechanism: Mechanism, ctx: CodeArithmetic) -> Curve:
    """α ↦ ε(α) for 1 < α < ∞."""
    return mechanism.curve(ctx)


@curve.register
def _(mechanism: TCDP, ctx: CodeArithmetic) -> Curve:
    rho, omega = ctx.number(mechanism.rho), ctx.threshold(ctx.number(mechanism.omega), True)
    return lambda alpha: choose(">=", alpha, omega, ctx.number(INFINITY), rho * alpha)


@curve.register
def _(mechanism: ExponentialFamily, ctx: CodeArithmetic) -> Curve:
    smooth, flat = mechanism.branches(ctx)

    def inside(alpha: Traced) -> Traced:
        return flat if ctx.is_infinite(smooth) else ctx.minimum(alpha * smooth, flat)

    if mechanism.kappa == INFINITY:
        return inside
    last = ctx.number(mechanism.kappa) / ctx.number(mechanism.sensitivity) + 1
    edge = ctx.threshold(last, False)
    return lambda alpha: choose(">", alpha, edge, ctx.number(INFINITY), inside(alpha))
