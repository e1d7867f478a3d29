"""The same integrals by mpmath's quadrature: the second engine, nothing is certified."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from mpmath.ctx_mp import MPContext

from symacct.arithmetic import MpmathArithmetic, Number
from symacct.arithmetic.expression import evaluate
from symacct.integrals.expectations import Mass
from symacct.integrals.exponents import T
from symacct.integrals.sides import Kernel, Side, sides
from symacct.integrals.stretch import Integrand

_DEPTH = 40
_FARTHEST = 1 << 12


def plain_mass(ctx: MpmathArithmetic, kernel: Kernel) -> Number:
    """∫ e^log between the cuts."""
    zero = ctx.number(0)
    return plain_expectation(ctx, sides(kernel, kernel), Mass(), (zero, zero))


def plain_expectation(
    ctx: MpmathArithmetic, pieces: list[Side], integrand: Integrand, totals: tuple[Number, Number]
) -> Number:
    """The integral in mpmath's arithmetic `ctx`, stretch by stretch between powers of 2."""
    mp = ctx.mp
    with mp.workprec(ctx.bits + 20):
        total = mp.mpf(0)
        for side in pieces:
            logs = [_in_distance(ctx, log) for log in side.logs]

            def at(t: Number, logs: list[Callable[[Number], Number] | None] = logs) -> Number:
                values = [
                    -mp.inf if log is None else log(t) - shift
                    for log, shift in zip(logs, totals, strict=True)
                ]
                return integrand.plainly(mp, *values)

            total += _over(mp, at, side, abs(total))
        return +total


def _in_distance(
    ctx: MpmathArithmetic, log: sympy.Expr | None
) -> Callable[[Number], Number] | None:
    return None if log is None else lambda t: evaluate(ctx, log, {T: t})


def _over(mp: MPContext, at: Callable[[Number], Number], side: Side, so_far: Number) -> Number:
    """Outwards and inwards from T = 1 (or the middle) until a stretch no longer counts."""
    tolerance = mp.mpf(2) ** -(mp.prec - 16)
    extent = None if side.is_infinite else mp.mpf(side.extent.numerator) / side.extent.denominator  # type: ignore[union-attr]
    middle = mp.mpf(1) if extent is None else extent
    total = mp.mpf(0)
    if side.is_regular or side.is_infinite:
        total += _adaptive(mp, at, mp.mpf(0), middle, tolerance, so_far)
    else:
        total += _marching(mp, at, middle, mp.mpf(1) / 2, tolerance, so_far)
    if extent is None:
        total += _marching(mp, at, middle, mp.mpf(2), tolerance, so_far + abs(total))
    return total


def _marching(
    mp: MPContext,
    at: Callable[[Number], Number],
    start: Number,
    factor: Number,
    tolerance: Number,
    so_far: Number,
) -> Number:
    """Σ over stretches whose ends grow or shrink by the factor."""
    total, small = mp.mpf(0), 0
    for _ in range(_FARTHEST):
        end = start * factor
        part = _adaptive(mp, at, start, end, tolerance, so_far + abs(total))
        total += part if factor > 1 else -part
        small = small + 1 if abs(part) <= tolerance * (so_far + abs(total)) else 0
        if small == 3 + (total == 0) * 20:
            break
        start = end
    return total


def _adaptive(
    mp: MPContext,
    at: Callable[[Number], Number],
    low: Number,
    high: Number,
    tolerance: Number,
    scale: Number,
) -> Number:
    """∫ by Gauss–Legendre rules, halved until one of them agrees with its coarser ones."""
    total, pending = mp.mpf(0), [(low, high, 0)]
    while pending:
        a, b, depth = pending.pop()
        value, error = mp.quad(at, [a, b], error=True, method="gauss-legendre", maxdegree=5)
        if depth >= _DEPTH or error <= tolerance * (scale + abs(total) + abs(value)):
            total += value
        else:
            middle = (a + b) / 2
            pending += [(a, middle, depth + 1), (middle, b, depth + 1)]
    return total
