"""The same integrals by mpmath's quadrature: the second engine, nothing is certified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from symacct.arithmetic.expression import evaluate
from symacct.errors import PrecisionError
from symacct.integrals.expectations import Mass
from symacct.integrals.overlap import Kernel, Side, T, sides

_DEPTH = 40
_PIECES = 1 << 11  # of one stretch, each a rule of some hundred values
_FARTHEST = 1 << 12


def plain_mass(ctx: Any, kernel: Kernel) -> Any:
    """∫ e^log between the cuts."""
    zero = ctx.number(0)
    return plain_expectation(ctx, sides(kernel, kernel), Mass(), (zero, zero))


def plain_expectation(ctx: Any, pieces: list[Side], question: Any, totals: tuple[Any, Any]) -> Any:
    """The integral in mpmath's arithmetic `ctx`, stretch by stretch between powers of 2."""
    mp = ctx.mp
    with mp.workprec(ctx.bits + 20):
        total = mp.mpf(0)
        for side in pieces:
            logs = [_in_distance(ctx, log) for log in side.logs]

            def at(t: Any, logs: Any = logs) -> Any:
                values = [
                    -mp.inf if log is None else log(t) - shift
                    for log, shift in zip(logs, totals, strict=True)
                ]
                return question.plainly(mp, *values)

            total += _over(mp, at, side, abs(total))
        return +total


def _in_distance(ctx: Any, log: sympy.Expr | None) -> Callable[[Any], Any] | None:
    return None if log is None else lambda t: evaluate(ctx, log, {T: t})


def _over(mp: Any, at: Callable[[Any], Any], side: Side, so_far: Any) -> Any:
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


def _marching(mp: Any, at: Any, start: Any, factor: Any, tolerance: Any, so_far: Any) -> Any:
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


def _adaptive(mp: Any, at: Any, low: Any, high: Any, tolerance: Any, scale: Any) -> Any:
    """∫ by Gauss–Legendre rules, halved until one of them agrees with its coarser ones.

    PrecisionError where so many halves do not: of an integrand that is 0, or nearly so.
    """
    total, pending = mp.mpf(0), [(low, high, 0)]
    for _ in range(_PIECES):
        if not pending:
            return total
        a, b, depth = pending.pop()
        value, error = mp.quad(at, [a, b], error=True, method="gauss-legendre", maxdegree=5)
        if depth >= _DEPTH or error <= tolerance * (scale + abs(total) + abs(value)):
            total += value
        else:
            middle = (a + b) / 2
            pending += [(a, middle, depth + 1), (middle, b, depth + 1)]
    raise PrecisionError(
        f"an integral in mpmath: found no agreement on {_PIECES} pieces; ask engine='ball'"
    )
