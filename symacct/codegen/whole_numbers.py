"""Noise on whole numbers in the form that code needs: sums that end, tables of Bessel values."""

from __future__ import annotations

from fractions import Fraction

from symacct.codegen.context import (
    CodeArithmetic,
    DigitsArithmetic,
    Traced,
    UntraceableError,
    choose,
    logged,
    middle,
)
from symacct.codegen.theorems import NO_ANSWER, Rdp, leaf_curve
from symacct.kernel.arithmetic.ball import precision
from symacct.mechanisms import DiscreteGaussian
from symacct.mechanisms.integer_noise import LatticeNoise, float_above
from symacct.mechanisms.skellam import over_differences

_TABLE_BITS = 160
_TABLE_NATS = 50.0


@leaf_curve.register
def _(mechanism: DiscreteGaussian, ctx: CodeArithmetic) -> Rdp:
    """αρ − (y²/(2σ²) − log(1 + Σ_{k>=1} e^{−k²/(2σ²)} (2 cosh(ky/σ²) − 2)/Θ(0)))/(α−1)

    Here y is the distance of αΔ from the whole numbers. From σ = 3/2 on what is taken off is below
    the last place of float64: Θ(y) and Θ(0) differ by at most 4e^{−2π²σ²} sin²(πy) of either.
    """
    sigma, rate = ctx.number(mechanism.sigma), mechanism.at_one(ctx)
    # With 1 more the root of float64's 100 is irrational: where it ends is decided for every σ.
    bell, reach = 1 / (2 * sigma**2), ctx.sqrt(2 * ctx.grid_nats() + 1) * sigma // 1 + 1

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
    noise: LatticeNoise,
    value: Rdp,
    power: Traced,
    above_one: bool,
) -> Traced:
    """A loop over tables of log Q and of the losses, for orders up to the largest asked for."""
    if noise.free_symbols or isinstance(ctx, DigitsArithmetic):
        raise UntraceableError(
            "Bessel functions, of which code has tables for float64",
            remedy="put numbers in their place, and ask rdp with the engine mpmath for digits",
        )
    with precision(_TABLE_BITS):
        kept = noise.outcomes(0.0, float_above(ctx.max_order), _TABLE_NATS)
        known = [
            (Traced.of(middle(q.log())), Traced.of(middle(x)))
            for k, (q, x) in zip(kept, noise.weighted_losses(kept), strict=True)
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
