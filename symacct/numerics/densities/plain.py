"""The integrals of densities by mpmath's quadrature: the second engine, nothing is certified."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath.ctx_mp import MPContext

from symacct.arithmetic import MpmathArithmetic, Number
from symacct.arithmetic.expression import evaluate
from symacct.arithmetic.mp import quadrature
from symacct.core import symbols
from symacct.core.errors import PrecisionError
from symacct.numerics.densities.expectations import Mass
from symacct.numerics.densities.sides import Kernel, Side, sides
from symacct.numerics.densities.stretch import Integrand

_DEPTH = 40
_PIECES = 1 << 11  # of one stretch, each a rule of some hundred values
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
        total, tolerance = mp.mpf(0), mp.mpf(2) ** -(mp.prec - 16)
        for side in pieces:

            def at(t: Number, side: Side = side) -> Number:
                values = [
                    -mp.inf if log is None else evaluate(ctx, log, {symbols.t: t}) - shift
                    for log, shift in zip(side.logs, totals, strict=True)
                ]
                return integrand.mp_value(mp, *values)

            total += Quadrature(mp, at, tolerance).over(side, abs(total))
        return +total


class Quadrature:
    """∫ at(T) dT in mpmath, to a tolerance relative to it and what else is added up, `scale`."""

    def __init__(self, mp: MPContext, at: Callable[[Number], Number], tolerance: Number) -> None:
        self.mp, self.at, self.tolerance = mp, at, tolerance

    def over(self, side: Side, scale: Number) -> Number:
        """Outwards and inwards from T = 1 (or the middle) until a stretch no longer counts."""
        mp = self.mp
        extent = Fraction(1 if side.is_infinite else side.extent)
        middle = mp.mpf(extent.numerator) / extent.denominator
        total = mp.mpf(0)
        if side.is_regular or side.is_infinite:
            total += self.adaptive(mp.mpf(0), middle, scale)
        else:
            total += self.stretch_sum(middle, mp.mpf(1) / 2, scale)
        if side.is_infinite:
            total += self.stretch_sum(middle, mp.mpf(2), scale + abs(total))
        return total

    def stretch_sum(self, start: Number, factor: Number, scale: Number) -> Number:
        """Σ over stretches whose ends grow or shrink by the factor."""
        total, small = self.mp.mpf(0), 0
        for _ in range(_FARTHEST):
            end = start * factor
            part = self.adaptive(start, end, scale + abs(total))
            total += part if factor > 1 else -part
            small = small + 1 if abs(part) <= self.tolerance * (scale + abs(total)) else 0
            if small == 3 + (total == 0) * 20:
                break
            start = end
        return total

    def adaptive(self, low: Number, high: Number, scale: Number) -> Number:
        """∫ by Gauss–Legendre rules, halved until they agree; else PrecisionError."""
        total, pending = self.mp.mpf(0), [(low, high, 0)]
        for _ in range(_PIECES):
            if not pending:
                return total
            a, b, depth = pending.pop()
            value, error = quadrature(
                self.mp, self.at, [a, b], error=True, method="gauss-legendre", maxdegree=5
            )
            if depth >= _DEPTH or error <= self.tolerance * (scale + abs(total) + abs(value)):
                total += value
            else:
                middle = (a + b) / 2
                pending += [(a, middle, depth + 1), (middle, b, depth + 1)]
        raise PrecisionError(
            f"an integral in mpmath: found no agreement on {_PIECES} pieces",
            remedy="ask the engine ball",
        )
