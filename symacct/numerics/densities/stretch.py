"""Integrals of functions of two densities over one side, certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from flint import acb, arb
from mpmath.ctx_mp import MPContext

from symacct.arithmetic import Number
from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.densities.jets import ComplexBalls, Evaluator, Jet
from symacct.numerics.densities.sides import Side, doublings
from symacct.numerics.sums.refine import ball, integral, within

_EVALUATIONS = 60_000  # of an integrand on one stretch
_MOST_OF_A_RULE = 500  # flint leaves out a rule whose evaluations would pass the limit
_BEND = 64  # from this Y on the logarithm of the distance is the variable
Evaluators = tuple[Evaluator | None, ...]
#: (coefficient, a, b): the integrand is at most the sum of coefficient · p^a q^b beyond a point.
Bounds = list[tuple[arb, Fraction, Fraction]]


class DensityLogs(NamedTuple):
    """log p, log q, log p − log q, a log p + b log q, as jets or balls; None without a density."""

    p: Any
    q: Any
    ratio: Any
    blend: Any


class Integrand:
    """A function of two densities p and q: `combine` of the values of its `parts`."""

    #: (a, b): p^a q^b is in the function; its logarithm is then given to `parts` as one formula.
    powers: tuple[Fraction, Fraction] | None = None

    def parts(self, logs: DensityLogs) -> list[Any]:
        """What the function is made of."""
        raise NotImplementedError

    def combine(self, parts: list[acb]) -> acb:
        """The function from the values of its parts."""
        raise NotImplementedError

    def real(self, logs: DensityLogs) -> arb:
        """The function at a point, from real logarithms."""
        return self.combine([acb(part) for part in self.parts(logs)]).real

    def bounds(self, side: Side) -> Bounds:
        """What bounds the function on the side."""
        raise NotImplementedError

    def covers(self, side: Side) -> list[Bounds]:
        """Each of these bounds it, one here and another there."""
        return [self.bounds(side)]

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        """The function in mpmath; a logarithm is −∞ where the density is 0."""
        raise NotImplementedError

    def diverges(self, side: Side) -> bool:
        """Is its integral over the side proved to be infinite?"""
        return not side.is_regular and not all(
            side.converges(side.blend(a, b)) for _, a, b in self.bounds(side)
        )

    def tail(self, side: Side, shifts: tuple[arb, arb], start: arb) -> arb:
        """A bound of the integral past a point."""
        total = arb(0)
        for coefficient, a, b in self.bounds(side):
            scale = (-ball(a) * shifts[0] - ball(b) * shifts[1]).exp()
            total += coefficient * scale * side.tail(side.blend(a, b), start)
        return total


@dataclass(frozen=True)
class Stretch:
    """An integrand on one side; `shifts` are the logarithms of what p and q are divided by."""

    side: Side
    integrand: Integrand
    shifts: tuple[arb, arb]

    def at(self, evaluators: Evaluators, z: acb, analytic: bool) -> acb:
        """The integrand over the ball z, its parts in mean value form where that is narrower."""
        parts = self._parts(evaluators, Jet(ComplexBalls(analytic), z, acb(1)))
        if not analytic:
            return self.integrand.combine([part.value for part in parts])
        middle = acb(z.real.mid(), z.imag.mid())
        centres = self._parts(evaluators, Jet(ComplexBalls(), middle, acb(1)))
        away = z - middle
        values = []
        for part, centre in zip(parts, centres, strict=True):
            sharp = centre.value + part.slope * away
            is_sharper = sharp.is_finite() and _width(sharp) < _width(part.value)
            # What is not finite is not known to be analytic, and stays so.
            values.append(sharp if is_sharper and part.value.is_finite() else part.value)
        return self.integrand.combine(values)

    def _parts(self, evaluators: Evaluators, x: Jet) -> list[Jet]:
        p, q, ratio, blend = (at if at is None else at(x) for at in evaluators)
        zero = acb(0)
        one, other = (Jet(x.sort, acb(shift), zero) for shift in self.shifts)
        if blend is not None and self.integrand.powers is not None:
            a, b = map(ball, self.integrand.powers)
            blend -= Jet(x.sort, acb(a * self.shifts[0] + b * self.shifts[1]), zero)
        logs = DensityLogs(p and p - one, q and q - other, ratio and ratio - one + other, blend)
        return self.integrand.parts(logs)

    def integral_between(self, low: arb, high: arb, tolerance: arb) -> arb:
        """∫ f(T) dT"""
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        return integrate(lambda z, a: self.at(evaluators, z, a), low, high, tolerance)

    def by_logarithm(self, low: arb, high: arb, tolerance: arb) -> arb:
        """∫ f(T) dT = ∫ f(e^τ) e^τ dτ, whose factor e^τ is in both densities."""
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=True)
        return integrate(lambda z, a: self.at(evaluators, z, a), low.log(), high.log(), tolerance)

    def integral(self, envelope: Callable[[arb], arb], tolerance: arb) -> arb:
        """∫ f over the side to about the tolerance; `envelope` bounds ∫ |f| at the end."""
        extent = self.side.extent
        if self.side.is_regular:
            return self.integral_between(arb(0), ball(Fraction(extent)), tolerance)
        start, rest = self._cut(envelope, tolerance)
        if not self.side.is_infinite:
            return rest + self.by_logarithm(1 / start, ball(Fraction(extent)), tolerance)
        bend = start.min(arb(_BEND))
        rest += self.integral_between(arb(0), bend, tolerance)
        return rest + self.by_logarithm(bend, start, tolerance) if start > bend else rest

    def _cut(self, envelope: Callable[[arb], arb], tolerance: arb) -> tuple[arb, arb]:
        """(Y, [−t, t] for a bound t of what lies beyond), Y = 2^k with t below the tolerance."""
        for start in self._starts():
            tail = envelope(start)
            if tail <= tolerance:
                return start, within(tail)
        raise PrecisionError(
            "an integral: found no bound of its tail that falls fast enough, needed one",
            remedy="ask for fewer digits, or at another order",
        )

    def _starts(self) -> Iterator[arb]:
        least = 1 if self.side.is_infinite else max(1, math.ceil(2 / self.side.extent))
        return (arb(2) ** doubling for doubling in doublings(least.bit_length()))

    def rough_size(self) -> arb:
        """About the size of the integral, mostly below it: it steers, nothing rests on it."""
        places = [Fraction(k, 3) for k in range(-60, 60)]
        if not self.side.is_infinite:
            top = math.log2(self.side.extent)
            places = [k for k in places if k < top] or [Fraction(math.floor(top))]
        best = max(places, key=self._rough_at)
        step = Fraction(1, 3)
        while step > Fraction(1, 2**12):
            deadline.check()
            step /= 2
            best = max((best - step, best, best + step), key=self._rough_at)
        return arb(self._rough_at(best)).exp() / 16

    def _rough_at(self, doubling: Fraction) -> float:
        """log of f(T)·T at T = 2^doubling."""
        place = arb(2) ** ball(doubling)
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        value = abs((self.at(evaluators, acb(place), False).real * place).mid())
        return float(value.log()) if value.is_finite() and value > 0 else -math.inf


def integrate(at: Callable[[acb, bool], acb], low: arb, high: arb, tolerance: arb) -> arb:
    count = 0

    def counted(z: acb, analytic: bool) -> acb:
        nonlocal count
        count += 1
        return at(z, analytic)

    value = integral(
        counted, low, high, rel_tol=arb(0), abs_tol=tolerance.mid(), eval_limit=_EVALUATIONS
    )
    if count >= _EVALUATIONS - _MOST_OF_A_RULE:
        raise PrecisionError(
            f"an integral: not resolved with {_EVALUATIONS:,} evaluations",
            remedy=(
                "ask for fewer digits, "
                "or give the points where the densities are not smooth as cuts"
            ),
        )
    return value.real


def _width(z: acb) -> arb:
    return z.real.rad() + z.imag.rad()
