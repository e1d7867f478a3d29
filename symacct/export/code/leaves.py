"""Curves that code needs in another form: loops over outcomes, bounds that end at an order."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch

from symacct.arithmetic.ball import precision
from symacct.exact import INFINITY
from symacct.export.code.context import CodeArithmetic, DigitsArithmetic, middle
from symacct.export.code.number import Traced, UntraceableError, choose, logged
from symacct.mechanisms import TCDP, DiscreteGaussian, ExponentialFamily, Skellam
from symacct.mechanisms.direction import FiniteDirection, Mean, expected, log_ratio
from symacct.mechanisms.integer_noise import float_above
from symacct.mechanisms.mechanism import Mechanism
from symacct.mechanisms.skellam import over_differences

_TABLE_BITS = 160
_TABLE_NATS = 50.0

Curve = Callable[[Traced], Traced]
NO_ANSWER = Traced.of(math.nan)


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


@curve.register
def _(mechanism: DiscreteGaussian, ctx: CodeArithmetic) -> Curve:
    """αρ − (y²/(2σ²) − log(1 + Σ_{k>=1} e^{−k²/(2σ²)} (2 cosh(ky/σ²) − 2)/Θ(0)))/(α−1)

    with y the distance of αΔ from the whole numbers. From σ = 3/2 on what is taken off is below
    the last place of float64: Θ(y) and Θ(0) differ by at most 4e^{−2π²σ²} sin²(πy) of either.
    """
    sigma, rate = ctx.number(mechanism.sigma), mechanism.at_one(ctx)
    bell, reach = 1 / (2 * sigma**2), ctx.sqrt(2 * ctx.grid_nats()) * sigma // 1 + 1

    def weight(k: Traced) -> Traced:
        return ctx.exp(-((k + 1) * (k + 1) * bell))

    def near(alpha: Traced) -> Traced:
        size = ctx.number(mechanism.sensitivity)
        above = alpha * size - alpha * size // 1
        y = ctx.minimum(above, 1 - above)
        tilt = 2 * y * bell
        pairs = ctx.long_sum(
            lambda k: weight(k) * (ctx.exp_gap((k + 1) * tilt) + ctx.exp_gap(-((k + 1) * tilt))),
            reach,
        )
        whole = 1 + 2 * ctx.long_sum(weight, reach)
        less = (y * y * bell - ctx.log1p(pairs / whole)) / (alpha - 1)
        return Traced.of(alpha * rate - less)

    if isinstance(ctx, DigitsArithmetic):
        return near
    edge = ctx.number(Fraction(3, 2))
    return lambda alpha: choose(">=", sigma, edge, alpha * rate, near(alpha))


@over_differences.register
def _(
    ctx: CodeArithmetic,
    noise: Skellam,
    value: Callable[[Traced], Traced],
    power: Traced,
    above_one: bool,
) -> Traced:
    """A loop over tables of log Q and of the losses, for orders up to the largest asked for."""
    if noise.free_symbols or isinstance(ctx, DigitsArithmetic):
        raise UntraceableError(
            "Bessel functions, of which code has tables for float64; replace the symbols by "
            '.subs({...}), and ask m.rdp(alpha, engine="mpmath") for digits'
        )
    with precision(_TABLE_BITS):
        kept = noise.outcomes(0.0, float_above(ctx.max_order), _TABLE_NATS)
        known = [
            (Traced.of(middle(q.log())), Traced.of(middle(x)))
            for k, (q, x) in zip(kept, noise.weighed(kept), strict=True)
            if 2 * k != noise.sensitivity and (2 * k > noise.sensitivity or not above_one)
        ]
    weights, losses = (ctx.table(list(column)) for column in zip(*known, strict=True))

    def term(i: Traced) -> Traced:
        return Traced.of(logged(weights(i).as_plain()) * value(losses(i)))

    return choose(
        "<=",
        Traced.of(power),
        Traced.of(ctx.max_order),
        ctx.sum(term, 0, len(known) - 1),
        NO_ANSWER,
    )
