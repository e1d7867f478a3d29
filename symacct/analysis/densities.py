"""Divergences, moments and largest ratios of two densities or discrete laws are certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, pairwise
from operator import sub
from typing import Any, NamedTuple, TypeVar

import numpy as np
from flint import acb, arb, ctx
from mpmath.ctx_mp import MPContext

from symacct.analysis.jets import (
    REMEMBERED,
    ComplexBalls,
    Evaluator,
    Germ,
    Germs,
    Jet,
    at_end,
    collected,
    constants,
    in_balls,
    in_distance,
    leading_exponent,
    multiplied_out,
    over_logarithm,
    real_value,
)
from symacct.kernel import deadline, symbols
from symacct.kernel.arithmetic import BALL, FLOAT64, LogNumber, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import log_sign, precision
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball, integral, steered_by_floats, up_to, within

# --- sides of the line
#
# The halves of the pieces of the line on which two densities are smooth, and their tails.
#
# The line is cut where a density starts, ends or has a corner. Each piece is taken from its middle
# towards its two ends, in the distance T from a finite end or towards an infinite one, so that what
# happens at an end is what happens for T → 0 or T → ∞: there a bound e^{g} of the integrand with
# dg/d(log y) <= −1 − s for y >= Y (y = T, or 1/T) gives ∫_Y^∞ e^g dy <= Y e^{g(Y)}/s.

Cut = Fraction | float
_LAST_DOUBLING = 2**24  # 2^_LAST_DOUBLING is the farthest place that is looked at
_SMALLEST_GROWTH = Fraction(1, 16)


@dataclass(frozen=True)
class Kernel:
    """A kernel is a density up to its constant: e^log between the end cuts, 0 elsewhere."""

    log: sympy.Expr
    cuts: tuple[Cut, ...]

    def covers(self, low: Cut, high: Cut) -> bool:
        """Is the density positive on this piece?"""
        return self.cuts[0] <= low and high <= self.cuts[-1]


@dataclass(frozen=True)
class Side:
    """A side is one half of a piece, x = origin ± T, with the logarithms of both densities in T."""

    logs: tuple[sympy.Expr | None, sympy.Expr | None]
    extent: Cut

    @property
    def is_infinite(self) -> bool:
        """Does T go to infinity?"""
        return self.extent == INFINITY

    @cached_property
    def exponents(self) -> tuple[sympy.Expr | None, ...]:
        """Return log p, log q and, where both are known, log p − log q, in T."""
        difference = None
        if None not in self.logs:
            difference = multiplied_out(self.logs[0] - self.logs[1])  # type: ignore[operator]
        return (*self.logs, difference)

    @cached_property
    def evaluators(self) -> tuple[Evaluator | None, ...]:
        """The three exponents as functions of T."""
        return tuple(
            log if log is None else in_balls(leading_exponent(log) if self.is_infinite else log)
            for log in self.exponents
        )

    @cached_property
    def evaluators_of_logarithm(self) -> tuple[Evaluator | None, ...]:
        """Make the evaluators for the densities of log T, what is small at the end set apart."""
        weights = (1, 1, 0)  # those of dT = T d(log T)
        return tuple(
            log if log is None else over_logarithm(collected(log), weight, self.is_infinite)
            for log, weight in zip(self.exponents, weights, strict=True)
        )

    def evaluators_for(
        self, powers: tuple[Fraction, Fraction] | None, of_logarithm: bool
    ) -> tuple[Evaluator | None, ...]:
        """The three exponents and, where both densities are, that of p^a q^b; a + b = 1."""
        logs = self.evaluators_of_logarithm if of_logarithm else self.evaluators
        if powers is None or None in self.logs:
            return (*logs, None)
        return (*logs, _blended(self, powers, of_logarithm))

    def is_positive(self, place: arb) -> bool:
        """Is the logarithm of each density a number at T = place?"""
        at_place = Jet(ComplexBalls(), acb(place), acb(1))
        return all(at(at_place).value.is_finite() for at in self.evaluators if at is not None)

    @cached_property
    def is_regular(self) -> bool:
        """Are both exponents finite on a closed interval that ends at T = 0?"""
        return not self.is_infinite and self.is_positive(up_to(arb(2) ** -20))

    def blend(self, a: Fraction, b: Fraction) -> sympy.Expr:
        """Return a log p + b log q, up to a constant; a density that is 0 does not count."""
        return _blend(self, a, b)

    def slopes(self, exponent: sympy.Expr, start: arb) -> list[Germ]:
        """y d/dy of e^exponent dT's exponent as a density in y >= start, two ways."""
        y = Germs(start).variable()
        return [evaluate(y).slope for evaluate in at_end(exponent, self.is_infinite, density=True)]

    def converges(self, exponent: sympy.Expr) -> bool:
        """Is ∫ e^exponent dT finite at the end? PrecisionError if neither is proved."""
        return _converges(self, exponent)

    # Proved in docs/proofs/sampling.md, Lemma power-tails.
    def tail(self, exponent: sympy.Expr, start: arb) -> arb:
        """Bound ∫ e^exponent dT over y >= start; ∞ where it is not proved there."""
        shares = [-1 - slope.supremum() for slope in self.slopes(exponent, start)]
        share = next((share for share in shares if share > 0), None)
        if share is None:
            return arb("inf")
        distance = start if self.is_infinite else 1 / start
        return self.value(exponent, start).exp() * distance / share

    def value(self, exponent: sympy.Expr, start: arb) -> arb:
        """The exponent at y = start."""
        distance = start if self.is_infinite else 1 / start
        return real_value(in_distance(exponent), distance)

    def at_end(self, expression: sympy.Expr) -> Evaluator:
        """The expression in T as a function of y."""
        return at_end(expression, self.is_infinite, density=False)[0]

    def growth(self, expression: sympy.Expr, start: arb) -> tuple[Fraction, arb]:
        """Return (k, h) with |d expression/d(log y)| <= h y^k for all y >= start, k > 0."""
        slope = self.at_end(expression)(Germs(start).variable()).slope
        size = abs(slope.low).max(abs(slope.high))
        power = max(slope.power, _SMALLEST_GROWTH)
        return power, size * start ** ball(slope.power - power)


@lru_cache(REMEMBERED)
def _blend(side: Side, a: Fraction, b: Fraction) -> sympy.Expr:
    total = sympy.Integer(0)
    for weight, log in zip((a, b), side.logs, strict=True):
        if weight and log is not None:
            total += sympy.Rational(weight.numerator, weight.denominator) * log
    return collected(total)


@lru_cache(REMEMBERED)
def _blended(side: Side, powers: tuple[Fraction, Fraction], of_logarithm: bool) -> Evaluator:
    log = side.blend(*powers)
    return over_logarithm(log, 1, side.is_infinite) if of_logarithm else in_balls(log)


@lru_cache(REMEMBERED)
def _converges(side: Side, exponent: sympy.Expr) -> bool:
    """Decide by the exponent's slope against log t, far out, if e^exponent has an integral.

    PrecisionError where neither is proved.
    """
    for doubling in doublings(0):
        slopes = side.slopes(exponent, arb(2) ** doubling)
        if any(slope.supremum() < -1 for slope in slopes):
            return True
        if any(slope.infimum() >= -1 for slope in slopes):
            return False
    raise PrecisionError(
        f"whether e^({exponent}) has a finite integral for {symbols.t} → "
        f"{'∞' if side.is_infinite else '0'}: found no proof",
        remedy=(
            "write the density as a sum or a "
            "product of exponentials and powers, that of e^x in place of x if e^x is in an exponent"
        ),
    )


def doublings(first: int) -> Iterator[int]:
    """Exponents of 2 from the first on, in steps that grow, up to a limit."""
    step = 4
    while first < _LAST_DOUBLING:
        deadline.check()
        yield first
        first, step = first + step // 4, step + max(1, step // 8)


def sides(first: Kernel, second: Kernel) -> list[Side]:
    """The halves of all pieces on which a density is positive."""
    halves: list[Side] = []
    for low, high in pairwise(_all_cuts(first, second)):
        logs = [k.log if k.covers(low, high) else None for k in (first, second)]
        if any(log is not None for log in logs):
            halves.extend(_halves(logs, low, high))
    return halves


def _all_cuts(*kernels: Kernel) -> list[Cut]:
    cuts = {cut for kernel in kernels for cut in kernel.cuts}
    low, high = min(cuts), max(cuts)
    inside = {c for kernel in kernels for c in corners(kernel.log) if low < c < high}
    return sorted(cuts | inside)


def corners(log: sympy.Expr) -> Iterator[Fraction]:
    """Yield where the argument of an Abs, or two of a Min or Max, change signs, if linear."""
    for node in log.atoms(sympy.Abs, sympy.Min, sympy.Max):
        pairs = [(node.args[0], sympy.Integer(0))]
        if not isinstance(node, sympy.Abs):
            pairs = list(combinations(node.args, 2))
        for left, right in pairs:
            line = _line(left - right)
            if line is not None and line[0]:
                yield -line[1] / line[0]


def _line(expression: sympy.Expr) -> tuple[Fraction, Fraction] | None:
    """(c, d) of cx + d with rational c and d."""
    flat = sympy.expand(expression)
    slope = flat.coeff(symbols.x, 1)
    rest = flat - slope * symbols.x
    if isinstance(slope, sympy.Rational) and isinstance(rest, sympy.Rational):
        return Fraction(int(slope.p), int(slope.q)), Fraction(int(rest.p), int(rest.q))
    return None


def _halves(logs: Iterable[sympy.Expr | None], low: Cut, high: Cut) -> list[Side]:
    if low == -INFINITY:
        middle = Fraction(0) if high == INFINITY else Fraction(high) - 1
    else:
        middle = Fraction(low) + 1 if high == INFINITY else Fraction(low + high) / 2
    settled = [log if log is None else _settled(log, middle, low, high) for log in logs]
    return [_half(settled, middle, end, sign) for end, sign in ((low, 1), (high, -1))]


def _half(logs: list[sympy.Expr | None], middle: Fraction, end: Cut, sign: int) -> Side:
    """Write a half in t, the distance from its end, or from the middle if that is infinite."""
    extent: Cut = INFINITY
    origin, step = middle, -sign * symbols.t
    if math.isfinite(end):
        origin, step = Fraction(end), sign * symbols.t
        extent = abs(middle - origin)
    place = sympy.Rational(origin.numerator, origin.denominator) + step
    moved = [log if log is None else log.xreplace({symbols.x: place}) for log in logs]
    side = Side((moved[0], moved[1]), extent)
    if side.is_infinite or side.is_regular:
        return side
    # What is singular at the end may show only when it is multiplied out.
    first, second = (log if log is None else collected(log) for log in moved)
    return Side((first, second), extent)


def _settled(log: sympy.Expr, middle: Fraction, low: Cut, high: Cut) -> sympy.Expr:
    """Replace each Abs, Min and Max of lines by what it is on a piece without corners inside."""
    at = sympy.Rational(middle.numerator, middle.denominator)

    def plain(node: sympy.Expr) -> sympy.Expr:
        """Settle the Abs, Min or Max at the top of a formula, its arguments first."""
        if not node.args:
            return node
        node = node.func(*map(plain, node.args))
        if isinstance(node, sympy.Abs) and _line(node.args[0]):
            return node.args[0] if node.args[0].xreplace({symbols.x: at}) >= 0 else -node.args[0]
        if isinstance(node, sympy.Min | sympy.Max) and all(
            _line(a - b) for a, b in combinations(node.args, 2)
        ):
            best = max if isinstance(node, sympy.Max) else min
            first = node.args[0]
            return best(node.args, key=lambda u: (u - first).xreplace({symbols.x: at}).expand())
        return node

    return plain(log)


# --- integrals over a side
#
# Integrals of functions of two densities over one side, certified.

_EVALUATIONS = 60_000  # of an integrand on one stretch
_MOST_OF_A_RULE = 500  # flint leaves out a rule whose evaluations would pass the limit
_BEND = 64  # from this Y on the logarithm of the distance is the variable
Evaluators = tuple[Evaluator | None, ...]
#: (coefficient, a, b): the integrand is at most the sum of coefficient · p^a q^b beyond a point.
Bounds = list[tuple[arb, Fraction, Fraction]]


class DensityLogs(NamedTuple):
    """Logs are log p, log q, log p − log q and a log p + b log q, as jets or balls.

    None without a density.
    """

    p: Any
    q: Any
    ratio: Any
    blend: Any


class Integrand:
    """An integrand is a function of two densities p and q: `combine` of its `parts`' values."""

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
    """A stretch is an integrand on one side, p and q divided by e^`shifts`."""

    side: Side
    integrand: Integrand
    shifts: tuple[arb, arb]

    # Proved in docs/proofs/sampling.md, Lemma mean-value-form.
    def at(self, evaluators: Evaluators, z: acb, analytic: bool) -> acb:
        """Evaluate the integrand over the ball z, by mean values where that is narrower."""
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
        """Evaluate the parts of the integrand at a jet, with the shifts taken off."""
        p, q, ratio, blend = (at if at is None else at(x) for at in evaluators)
        zero = acb(0)
        first, second = (Jet(x.sort, acb(shift), zero) for shift in self.shifts)
        if blend is not None and self.integrand.powers is not None:
            a, b = map(ball, self.integrand.powers)
            blend -= Jet(x.sort, acb(a * self.shifts[0] + b * self.shifts[1]), zero)
        moved = ratio and ratio - first + second
        logs = DensityLogs(p and p - first, q and q - second, moved, blend)
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
        """Integrate f over the side to about the tolerance; `envelope` bounds ∫ |f| at the end."""
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
        """Choose Y = 2^k beyond which a bound t is below the tolerance; the ball is [−t, t]."""
        for start in self._starts():
            tail = envelope(start)
            if tail <= tolerance:
                return start, within(tail)
        raise PrecisionError(
            "an integral: found no bound of its tail that falls fast enough, needed one",
            remedy="ask for fewer digits, or at another order",
        )

    def _starts(self) -> Iterator[arb]:
        start = 1 if self.side.is_infinite else max(1, math.ceil(2 / self.side.extent))
        return (arb(2) ** doubling for doubling in doublings(start.bit_length()))

    def rough_size(self) -> arb:
        """Estimate the size of the integral, mostly from below: it steers, nothing rests on it."""
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
    """Integrate a function of complex balls by flint, and refuse it after too many evaluations."""
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


# --- the largest ratio
#
# The supremum of log(p/q) by branch and bound, with what happens at the ends proved.

_BOXES = 40_000  # looked at before it is given up
_SUPREMUM_FARTHEST = 2**12  # 2^_FARTHEST is where a limit at an end is read off


# Proved in docs/proofs/sampling.md, Lemma log-ratio-supremum.
@steered_by_floats
def largest_log_ratio(sides: list[Side], bits: int) -> arb:
    """Enclose sup log(p/q), without constants, by branch and bound to `bits` bits.

    ∞ where that is proved, else PrecisionError.
    """
    sides = [side for side in sides if side.logs[0] is not None]
    if any(side.logs[1] is None for side in sides):
        return arb("inf")
    ends = [_end(side, bits) for side in sides]
    if any(top == arb("inf") for _, top in ends):
        return arb("inf")
    attained = arb("-inf")
    boxes = []
    for side, (start, top) in zip(sides, ends, strict=True):
        attained = attained.max(top)
        ratio = side.evaluators[2]
        assert ratio is not None  # noqa: S101  # both densities are positive here
        boxes.append((ratio, *_middle_part(side, start)))
    return _branch_and_bound(boxes, attained, bits)


def _middle_part(side: Side, start: arb) -> tuple[arb, arb]:
    """What lies before y = start, as an interval of T."""
    if side.is_infinite:
        return arb(0), start
    low = arb(0) if side.is_regular else 1 / start
    return low, ball(Fraction(side.extent))


def _end(side: Side, bits: int) -> tuple[arb, arb]:
    """Return Y and the supremum over y >= Y: −∞ where it is that at Y, ∞ where there is none."""
    if side.is_regular:
        return arb(1), arb("-inf")
    ratio = side.blend(Fraction(1), Fraction(-1))
    evaluate = side.at_end(ratio)
    first = 0 if side.is_infinite else max(1, math.ceil(2 / side.extent)).bit_length()
    for doubling in doublings(first):
        if doubling > _SUPREMUM_FARTHEST:
            break
        start = arb(2) ** doubling
        jet = evaluate(Germs(start).variable())
        if jet.slope.power >= 0 and jet.slope.low > 0:
            return start, arb("inf")
        if jet.slope.high <= 0:
            return start, arb("-inf")
        top = jet.value.supremum()
        here = side.value(ratio, start)
        if top - here < arb(2) ** -bits:
            return start, here.union(top)
    raise PrecisionError(
        "order ∞: found no proof of how the log-ratio of the densities goes on at an end of the "
        "support, needed one",
        remedy="ask at a finite order",
    )


def _branch_and_bound(boxes: Iterable[tuple[Evaluator, arb, arb]], attained: arb, bits: int) -> arb:
    """Compute the largest value over the boxes and `attained`, a value or a limit."""
    tolerance = arb(2) ** -bits
    pending, looked = [], 0
    for ratio, low, high in boxes:
        for end in (low, high):
            attained = attained.max(real_value(ratio, end))
        pending.append((ratio, low, high))
    over = attained
    while pending:
        deadline.check()
        ratio, low, high = pending.pop()
        looked += 1
        if looked > _BOXES:
            raise PrecisionError(
                f"order ∞: the supremum of the log-ratio was not found within {_BOXES:,} boxes",
                remedy="ask for fewer digits, or at a finite order",
            )
        middle = arb(((low + high) / 2).mid())
        attained = attained.max(real_value(ratio, middle))
        wide = ratio(Jet(ComplexBalls(), acb(low.union(high)), acb(1)))
        slope = wide.slope.real
        if slope >= 0 or slope <= 0:
            continue  # the largest value is at an end, which was looked at
        top = wide.value.real
        sharp = real_value(ratio, middle) + slope * (low.union(high) - middle)
        if not sharp.is_nan():
            top = sharp if top.is_nan() else top.min(sharp)
        if top <= attained:
            continue
        if top <= attained + tolerance:
            over = over.max(top)
            continue
        pending += [(ratio, low, middle), (ratio, middle, high)]
    return attained.union(over.max(attained))


# --- in float64
#
# What sampling makes of a pair of densities, in float64 on nodes that all orders share.
#
# Orders are compared by it, and no answer rests on it: nothing is said of how far it is off.

_BITS = 64
_REACH = 5.0  # of the double exponential rule, on both sides of 0
_FIRST, _LAST = 64, 4096  # steps of the coarsest and of the finest rule
_NOTHING = np.array([[-np.inf], [-np.inf], [0.0]])  # where a logarithm is not known
_ALIKE = 1e-13  # the difference of two logarithms of which the finer one is taken


@dataclass(frozen=True)
class DensityNodes:
    """Nodes have log(p/q) and the logarithms of q's weights, both densities summing to 1."""

    log_ratio: np.ndarray
    log_weight: np.ndarray

    def log_excess(self, gamma: float, power: float) -> float:
        """log(E_Q[(m/q)^β] − 1), m = (1−γ)q + γp, for β > 1 or β < 0."""
        numbers = (FLOAT64.number(np.asarray(x)) for x in (gamma, self.log_ratio, power - 1))
        gap = FLOAT64.power_gap(*numbers)
        return float((LogNumber(1.0, self.log_weight) * gap).total().log)


class Rules:
    """Rules have more and more nodes over the sides of two densities, positive together."""

    def __init__(self, sides: Iterable[Side]) -> None:
        self.sides = list(sides)
        #: Up to which power of p/q its mean is known to be finite.
        self.finite_to = Fraction(1)
        self._known: dict[int, DensityNodes] = {}

    def log_excess(self, gamma: float, power: float) -> float:
        """Compute log(E_Q[(m/q)^β] − 1) by the first rule that agrees with the one before.

        Or by the last one.
        """
        before = math.nan
        for steps in (2**k for k in range(_FIRST.bit_length() - 1, _LAST.bit_length())):
            value = self.nodes(steps).log_excess(gamma, power)
            if abs(value - before) <= _ALIKE * max(1.0, abs(value)):
                break
            before = value
        return value

    def nodes(self, steps: int) -> DensityNodes:
        """The rule of so many steps on each side."""
        if steps not in self._known:
            with precision(_BITS):
                parts = [_on(side, steps) for side in self.sides]
            log_p, log_q, log_ratio = np.concatenate(parts, axis=1)
            off = _log_total(log_p) - _log_total(log_q)
            self._known[steps] = DensityNodes(log_ratio - off, log_q - _log_total(log_q))
        return self._known[steps]


def _log_total(logs: np.ndarray) -> float:
    """log Σ e^x"""
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).sum()))


def _on(side: Side, steps: int) -> np.ndarray:
    """Compute log p and log q with the rule's weights, and log(p/q), at its nodes."""
    s = _REACH * ((2 * np.arange(steps) + 1) / steps - 1)
    if side.is_infinite:
        log_place = np.pi / 2 * np.sinh(s)
        log_weight = log_place + np.log(np.pi / 2 * np.cosh(s))
    else:
        away = np.pi * np.sinh(s)
        log_place = math.log(side.extent) - np.logaddexp(0.0, -away)
        log_weight = log_place - np.logaddexp(0.0, away) + np.log(np.pi * np.cosh(s))
    places = [arb(x).exp() for x in log_place]
    logs = np.array([[float(real_value(at, y)) for y in places] for at in side.evaluators if at])
    logs[:2] += log_weight
    return np.where(np.isfinite(logs).all(axis=0), logs, _NOTHING)


# --- expectations
#
# Divergences of a mixture m = (1−γ)q + γp from q, and moments of p/q, as certified integrals.
#
# With u = γ(p/q − 1), so that m = q(1+u) and E_Q[u] = 0 where p lives on q's support, each value
# but χ^l is the integral of a function that is nowhere negative:
#
#     E_Q[m^β/q^β] − 1 = E_Q[(1+u)^β − 1 − βu]   for β > 1, and for β < 0,
#     E_Q[(m/q) log(m/q)] = E_Q[(1+u) log(1+u) − u],   E_Q[log(q/m)] = E_Q[u − log(1+u)].
#
# Tails are bounded by ∫ p^a q^b: x^β and x log x are convex, so that m^β q^{1−β} <= (1−γ)q +
# γp^β q^{1−β}, and m >= (1−γ)q. docs/proofs/sampling.md, Lemma density-tails.

Value = TypeVar("Value", Jet, arb)  # of the functions: with a derivative, or alone
_ZERO, _ONE = Fraction(0), Fraction(1)
_ROUNDS = 6
_NEAR = 0.5  # the |u| up to which terms are summed as functions of u
_TILTS = tuple(Fraction(1, 2**k) for k in (3, 8, 16, 32, 64))


@dataclass(frozen=True)
class Mass(Integrand):
    """The mass is ∫ p."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        return [logs.p]

    def combine(self, parts: list[acb]) -> acb:
        return parts[0].exp()

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        return mp.exp(log_p)

    def bounds(self, side: Side) -> Bounds:
        return [(arb(1), _ONE, _ZERO)]


# Proved in docs/proofs/sampling.md, Lemma density-integrands.
@dataclass(frozen=True)
class MixtureIntegrand(Integrand):
    """A function of m = (1−γ)q + γp has 0 < γ <= 1."""

    gamma: Fraction

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        gamma = mp.mpf(self.gamma.numerator) / self.gamma.denominator
        if log_q == -mp.inf:
            return self.plain_beyond(mp, gamma) * mp.exp(log_p)
        u = gamma * mp.expm1(log_p - log_q)
        # Half of the digits are lost to the cancellation of the leading terms where u is small.
        with mp.workprec(2 * mp.prec + (max(0, -2 * mp.mag(u)) if u else 0)):
            log_m = mp.log1p(u) if u > -1 else -mp.inf
            return mp.exp(log_q) * self.function(u, log_m, mp.expm1, mp.mpf)

    def real(self, logs: DensityLogs) -> arb:
        """Where m is next to q, from what the logarithms are apart: the terms cancel to u²."""
        u: arb = ball(self.gamma) * logs.ratio.expm1()
        if not abs(u) < _NEAR:
            return super().real(logs)
        value: arb = logs.q.exp() * self.function(u, u.log1p(), BALL.expm1, arb)
        return value

    def function(
        self,
        u: Number,
        log_m: Number,
        expm1: Callable[[Number], Number],
        whole: Callable[[int], Number],
    ) -> Number:
        """The function of u = γ(p/q − 1) and log(1+u), over q; `whole` makes a number of an int."""
        raise NotImplementedError

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        """The expectation over p, where q is 0."""
        return mp.inf

    def log_mixture(self, log_ratio: Value) -> Value:
        """log(m/q)"""
        leads, rest = self.log_mean_ratio(log_ratio)
        return log_ratio + rest if leads else rest

    def log_mean_ratio(self, log_ratio: Value) -> tuple[bool, Value]:
        """(does p lead?, log(m/p) if so, else log(m/q)); either continues the real function."""
        if self.gamma == 1:
            return True, constant(log_ratio, 0)
        logs = [_log(share, ctx.prec) for share in self._shares]
        odds = log_ratio + constant(log_ratio, logs[0] - logs[1])
        leads = not middle(odds) < 0
        smaller = (-odds if leads else odds).exp()
        return leads, constant(odds, logs[not leads]) + (constant(odds, 1) + smaller).log()

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """γ and 1 − γ"""
        return self.gamma, 1 - self.gamma


@lru_cache(256)
def _log(x: Fraction, bits: int) -> arb:
    """log x at the current precision, which is `bits`."""
    return ball(x).log()


def constant(like: Value, value: int | arb) -> Value:
    """A constant among such jets or balls."""
    return Jet(like.sort, acb(value), acb(0)) if isinstance(like, Jet) else arb(value)


def middle(number: Value) -> arb:
    """The real middle of a jet's value, or of a ball."""
    value: arb = number.value.real if isinstance(number, Jet) else number
    return value.mid()


@dataclass(frozen=True)
class Excess(MixtureIntegrand):
    """The excess is E_Q[(m/q)^β] − 1 for β > 1, or for β < 0 and γ < 1."""

    power: Fraction

    @property
    def powers(self) -> tuple[Fraction, Fraction]:  # type: ignore[override]
        return self.power, 1 - self.power

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        # Where p leads, q(m/q)^β = p^β q^{1−β} (m/p)^β: near a pole of the moment this exponent
        # is a small rest of log p and log q, which balls do not cancel.
        leads, rest = self.log_mean_ratio(logs.ratio)
        raised = constant(logs.q, ball(self.power)) * rest
        return [(logs.blend if leads else logs.q) + raised, logs.q, logs.p]

    def combine(self, parts: list[acb]) -> acb:
        linear = ball(self.power * self.gamma)
        values = [part.exp() for part in parts]
        if len(values) == 1:  # q alone
            rest = ball(1 - self.gamma)
            return values[0] * ((rest ** ball(self.power) if rest > 0 else 0) - 1 + linear)
        if len(values) == 2:  # p alone lowers E_Q[u]; only β < 0 gets here
            return -linear * values[0]
        return values[0] - (1 - linear) * values[1] - linear * values[2]

    def function(
        self,
        u: Number,
        log_m: Number,
        expm1: Callable[[Number], Number],
        whole: Callable[[int], Number],
    ) -> Number:
        beta = whole(self.power.numerator) / whole(self.power.denominator)
        return (expm1(beta * log_m) if u > -1 else -1) - beta * u

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        return -gamma * mp.mpf(self.power.numerator) / self.power.denominator

    def bounds(self, side: Side) -> Bounds:
        rest, linear = ball(1 - self.gamma), abs(ball(self.power * self.gamma))
        if side.logs[1] is None:
            return [(linear, _ONE, _ZERO)]
        if side.logs[0] is None:
            return [(1 + linear + (0 if self.power > 0 else rest ** ball(self.power)), _ZERO, _ONE)]
        if self.power < 0:
            return [(rest ** ball(self.power), _ZERO, _ONE), (linear, _ONE, _ZERO)]
        return [(rest + linear, _ZERO, _ONE), (ball(self.gamma), self.power, 1 - self.power)]

    def covers(self, side: Side) -> list[Bounds]:
        """Bound β > 1 in two ways, one here and the other there.

        The second is by (a + b)^β <= θ^{1−β} a^β + (1−θ)^{1−β} b^β for θ = 1/β.
        """
        if self.power < 1 or self.gamma == 1 or None in side.logs:
            return [self.bounds(side)]
        beta, gamma = ball(self.power), ball(self.gamma)
        rest = (beta * (1 - gamma)) ** beta / beta
        lead = gamma**beta * (1 - 1 / beta) ** (1 - beta)
        small = [(rest + beta * gamma, _ZERO, _ONE), (lead, self.power, 1 - self.power)]
        return [self.bounds(side), small]

    def diverges(self, side: Side) -> bool:
        return (self.power > 0 and side.logs[1] is None) or super().diverges(side)


@dataclass(frozen=True)
class Entropy(MixtureIntegrand):
    """The entropy is E_Q[(m/q) log(m/q)], the Kullback–Leibler divergence of m from q."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.p is None:
            return [logs.q]
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            rest = 1 - gamma
            return q * ((rest * rest.log() if self.gamma < 1 else 0) + gamma)
        p = parts[1].exp()
        return ((1 - gamma) * q + gamma * p) * parts[2] - gamma * (p - q)

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        return ((1 + u) * log_m if u > -1 else 0) - u

    def bounds(self, side: Side) -> Bounds:
        """γ p log⁺(p/q) + γq, log r <= r^η/(eη); without a proof of that, see `tail`."""
        gamma = ball(self.gamma)
        plain = [(gamma, _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        tilt = self._tilt(side)
        if tilt is None:
            return plain
        return [*plain, (gamma / (ball(tilt) * arb(1).exp()), 1 + tilt, -tilt)]

    def _tilt(self, side: Side) -> Fraction | None:
        """An η for which p^{1+η} q^{−η} has a finite integral."""
        return next((eta for eta in _TILTS if side.converges(side.blend(1 + eta, -eta))), None)

    def diverges(self, side: Side) -> bool:
        if side.logs[1] is None:
            return True
        if side.is_regular or side.logs[0] is None or self._tilt(side) is not None:
            return False
        # Where log(p/q) < 0, p log(q/p) <= q/e: then this is finite, and not proved infinite.
        ratio = sympy.log(side.blend(_ONE, -_ONE))
        return not side.converges(collected(side.blend(_ONE, _ZERO) + ratio))

    def tail(self, side: Side, shifts: tuple[arb, arb], start: arb) -> arb:
        """Bound the integral past a point, without a tilt by the growth of log(p/q)."""
        total = super().tail(side, shifts, start)
        if side.logs[0] is None or self._tilt(side) is not None:
            return total
        # |dw/d(log y)| <= h y^k gives |w(y)| <= |w(Y)| + (h/k) y^k <= c y^k, w = log(p/q).
        ratio = side.blend(_ONE, -_ONE)
        power, scale = side.growth(ratio, start)
        at_start = abs(side.value(ratio, start) - shifts[0] + shifts[1])
        scale = scale / ball(power) + at_start * start ** -ball(power)
        sign = 1 if side.is_infinite else -1
        rising = sign * sympy.Rational(str(power)) * sympy.log(symbols.t)
        exponent = side.blend(_ONE, _ZERO) + rising
        weight = ball(self.gamma) * scale * (-shifts[0]).exp()
        return total + weight * side.tail(exponent, start)


@dataclass(frozen=True)
class ReverseEntropy(MixtureIntegrand):
    """The reverse entropy is E_Q[log(q/m)], the divergence of q from m; γ < 1."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            return -q * ((1 - gamma).log() + gamma)
        if len(parts) == 2:  # p alone
            return gamma * q
        return gamma * (parts[1].exp() - q) - q * parts[2]

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        return u - log_m

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        return gamma

    def bounds(self, side: Side) -> Bounds:
        gamma = ball(self.gamma)
        return [
            (coefficient, a, b)
            for coefficient, a, b, log in (
                (-(1 - gamma).log(), _ZERO, _ONE, side.logs[1]),
                (gamma, _ONE, _ZERO, side.logs[0]),
            )
            if log is not None
        ]


@dataclass(frozen=True)
class ChiDivergence(Integrand):
    """The χ-divergence is E_Q[(p/q − 1)^l] for a whole l >= 2."""

    l: int

    def parts(self, logs: DensityLogs) -> list[Jet]:
        return [logs.q] if logs.p is None else [logs.q, logs.ratio]

    def combine(self, parts: list[acb]) -> acb:
        step = parts[1].expm1() if len(parts) == 2 else acb(-1)
        return parts[0].exp() * step**self.l

    def bounds(self, side: Side) -> Bounds:
        plain = [(arb(1), _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        return [*plain, (arb(1), Fraction(self.l), Fraction(1 - self.l))]

    def diverges(self, side: Side) -> bool:
        return side.logs[1] is None or super().diverges(side)


LogTotals = Callable[[], tuple[arb, arb]]


@steered_by_floats
def expectation(pieces: list[Side], integrand: Integrand, log_totals: LogTotals, bits: int) -> arb:
    """Integrate to a relative accuracy of `bits` bits; ∞ where that is proved.

    `log_totals` are the logarithms of ∫p and ∫q at the current precision. PrecisionError where
    the accuracy is not reached: the value may be 0.
    """
    if any(integrand.diverges(side) for side in pieces):
        return arb("inf")
    working, size = bits + 40, None
    for _ in range(_ROUNDS):
        with ctx.workprec(working):
            shifts = log_totals()
            stretches = [Stretch(side, integrand, shifts) for side in pieces]
            if size is None:
                size = sum((stretch.rough_size() for stretch in stretches), arb(0))
            value = _total(stretches, integrand, size * arb(2) ** -(bits + 4))
        reached = max(-bits, value.rel_accuracy_bits()) if value.is_finite() else -bits
        if reached >= bits:
            return value
        size = abs(value.mid()) if reached > 4 else None
        working += max(bits - reached, working // 2)
    raise PrecisionError(
        f"an integral: found {max(reached, 0)} bits at a working precision of {working}, needed "
        f"{bits}; the value may be 0, or give the points where the densities are not smooth as "
        "cuts"
    )


# Proved in docs/proofs/sampling.md, Lemma density-constants.
@steered_by_floats
def mass(kernel: Kernel, bits: int) -> arb:
    """∫ e^log between the cuts, to a relative accuracy of `bits` bits; ∞ where that is proved."""
    zero = arb(0)
    return expectation(sides(kernel, kernel), Mass(), lambda: (zero, zero), bits)


def _total(stretches: list[Stretch], integrand: Integrand, tolerance: arb) -> arb:
    total = arb(0)
    for stretch in stretches:
        envelope = partial(integrand.tail, stretch.side, stretch.shifts)
        total += stretch.integral(envelope, tolerance)
    return total


# --- whole numbers
#
# The expectations of `expectations` for two laws on 0, 1, 2, …, by sums with proved tails.

_MOST_TERMS = 200_000
_FARTHEST_WHOLE = 2**64  # summit of the terms
_DISCRETE_ROUNDS = 8
_SPARE = 80  # bits: where some 40 are lost a second round would double the time
_MOST_LOST_BITS = 4096  # of a sum whose first terms cancel


@dataclass(frozen=True)
class Progression:
    """A progression has log p_k = log p_0 + k·log(step), − log k! if `factorial`; step > 0."""

    start: sympy.Expr
    step: Fraction
    factorial: bool

    def formula(self, k: int | sympy.Symbol) -> sympy.Expr:
        """log p_k."""
        log = self.start + k * sympy.log(sympy.Rational(self.step.numerator, self.step.denominator))
        return log - sympy.log(sympy.factorial(k)) if self.factorial else log

    @property
    def balls(self) -> tuple[arb, arb]:
        """log p_0 and the logarithm of the step, at flint's current precision."""
        if ctx.prec not in self._balls:
            self._balls[ctx.prec] = constants(self.start).real, ball(self.step).log()
        return self._balls[ctx.prec]

    @cached_property
    def _balls(self) -> dict[int, tuple[arb, arb]]:
        """By precision: to look them up by a step of 10,000 digits takes longer than a term."""
        return {}


@dataclass(frozen=True)
class ProgressionSeries:
    """Two progressions, both with factorials or both without, are summed term by term.

    p^a q^b with a + b = 1 has the quotients step_p^a step_q^b, over k + 1 with factorials: they
    do not rise, so that what follows a term is at most a geometric series. To an integrand it is
    the one side of a piece, y being k.
    """

    logs: tuple[Progression, Progression]
    is_regular = False

    def blend(self, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
        """p^a q^b"""
        return a, b

    def converges(self, powers: tuple[Fraction, Fraction]) -> bool:
        """Is Σ p^a q^b finite?"""
        first, second = self.logs
        if first.factorial:
            return True
        return log_sign(powers[0], first.step, powers[1], second.step) < 0

    # Proved in docs/proofs/sampling.md, Lemma ratio-sums.
    def tail(self, powers: tuple[Fraction, Fraction], start: int) -> arb:
        """A bound of Σ p^a q^b over k >= start; ∞ where the quotients are not below 1 yet."""
        quotient = self._rate(powers)
        if self.logs[0].factorial:
            quotient /= start + 1
        return self._term(powers, start) / (1 - quotient) if quotient < 1 else arb("inf")

    def head(self, powers: tuple[Fraction, Fraction], end: int) -> arb:
        """A bound of Σ p^a q^b over k < end; ∞ where the quotients are not above 1 there."""
        quotient = self._rate(powers)
        if self.logs[0].factorial:
            quotient /= end
        return self._term(powers, end) / (quotient - 1) if quotient > 1 else arb("inf")

    def _rate(self, powers: tuple[Fraction, Fraction]) -> arb:
        """The quotient of two terms of p^a q^b, times k + 1 with factorials."""
        (_, first), (_, second) = (log.balls for log in self.logs)
        return (ball(powers[0]) * first + ball(powers[1]) * second).exp()

    def _term(self, powers: tuple[Fraction, Fraction], k: int) -> arb:
        log_p, log_q = self._logs(k)
        return (ball(powers[0]) * log_p + ball(powers[1]) * log_q).exp()

    def _logs(self, k: int) -> list[arb]:
        """log p_k and log q_k."""
        shared = arb(k + 1).lgamma() if self.logs[0].factorial else arb(0)
        return [start + k * step - shared for start, step in (log.balls for log in self.logs)]

    def expectation(self, integrand: Integrand, bits: int) -> arb:
        """Sum the integrand to a relative accuracy of `bits` bits; ∞ where it diverges."""
        if integrand.diverges(self):  # type: ignore[arg-type]
            return arb("inf")
        working, most = bits + _SPARE, 16 * bits + _MOST_LOST_BITS
        for _ in range(_DISCRETE_ROUNDS):
            with ctx.workprec(working):
                value = self._total(integrand, bits)
            reached = max(-bits, value.rel_accuracy_bits())
            if reached >= bits:
                return value
            if working == most:
                break
            working = min(working + max(bits - reached, working // 2), most)
        raise PrecisionError(
            f"a sum: found {max(reached, 0)} bits at a working precision of {working}, needed "
            f"{bits}; the value may be 0"
        )

    def _total(self, integrand: Integrand, bits: int) -> arb:
        """Sum terms from k = 0 on, but for stretches that are proved to be small beside the sum."""
        steps = [part.balls[1] for part in self.logs]
        summits = self._summits(integrand)
        highest = max((abs(_at(integrand, self._logs(k)).mid()) for k in summits), default=arb(0))
        starts = [_before(summit, bits) for summit in summits]
        if sum(map(sub, summits, starts)) > _MOST_TERMS:
            raise _too_long()
        total, left_out, k, logs = arb(0), arb(0), 0, self._logs(0)
        for taken in range(_MOST_TERMS):
            if taken % 16 == 0:
                small = max(abs(total.mid()), highest) * arb(2) ** -(bits + 6)
                rest = self._between(integrand, k, None)
                if rest <= small:
                    return total + within(left_out + rest)
                # Where the sum is lost in its own rounding, more terms add nothing.
                for start in starts:
                    if start > k and (gap := self._between(integrand, k, start)) <= small:
                        left_out, k, logs = left_out + gap, start, self._logs(start)
                        break
            total += _at(integrand, logs)
            common = arb(k + 1).log() if self.logs[0].factorial else arb(0)
            logs = [log + step - common for log, step in zip(logs, steps, strict=True)]
            k += 1
        raise _too_long()

    def _summits(self, integrand: Integrand) -> list[int]:
        """List where the bounds of the integrand are largest, the farthest first.

        Without factorials there are none, as all terms fall.
        """
        if not self.logs[0].factorial:
            return []
        rates = [self._rate((a, b)) for _, a, b in integrand.bounds(self)]  # type: ignore[arg-type]
        if not all(rate < _FARTHEST_WHOLE for rate in rates):
            raise _too_long()
        return sorted({int(rate.mid().floor().fmpz()) for rate in rates}, reverse=True)

    def _between(self, integrand: Integrand, start: int, end: int | None) -> arb:
        """Bound the integrand's sum over start <= k < end, to ∞ without an end."""

        def power(a: Fraction, b: Fraction) -> arb:
            after = self.tail((a, b), start)
            return after if end is None else after.min(self.head((a, b), end))

        def total(bounds: Bounds) -> arb:
            return sum((c * power(a, b) for c, a, b in bounds), arb(0))

        first, *others = map(total, integrand.covers(self))  # type: ignore[arg-type]
        for other in others:
            first = first.min(other)
        return abs(first)

    def plain(self, ctx: MpmathArithmetic, integrand: Integrand) -> Number:
        """Sum in mpmath's arithmetic, to the last term that counts there."""
        starts = [ctx.number(log.start) for log in self.logs]
        steps = [ctx.log(ctx.number(log.step)) for log in self.logs]
        with ctx.mp.workprec(3 * ctx.bits):
            total, k = ctx.mp.mpf(0), 0
            while True:
                deadline.check()
                shared = ctx.mp.loggamma(k + 1) if self.logs[0].factorial else 0
                p, q = (a + k * b - shared for a, b in zip(starts, steps, strict=True))
                term = integrand.mp_value(ctx.mp, p, q)
                total += term
                k += 1
                if k > 64 and abs(term) * k <= abs(total) * ctx.mp.mpf(2) ** -(2 * ctx.bits):
                    return total
                if k > _MOST_TERMS:
                    raise PrecisionError("a sum: found too many terms, needed fewer")


def _too_long() -> PrecisionError:
    return PrecisionError(
        f"a sum: found more than {_MOST_TERMS:,} terms that count, needed fewer",
        remedy="take laws of smaller means",
    )


def _before(summit: int, bits: int) -> int:
    """From where on a law of Poisson's kind with this mean has all but 2^−bits of its mass."""
    return max(0, summit - 2 - math.isqrt(2 * (bits + 24) * (summit + 1)))


def _at(integrand: Integrand, logs: list[arb]) -> arb:
    """The integrand where log p and log q are these."""
    (log_p, log_q), (a, b) = logs, integrand.powers or (Fraction(0), Fraction(0))
    blend = ball(a) * log_p + ball(b) * log_q
    return integrand.real(DensityLogs(log_p, log_q, log_p - log_q, blend))


# --- by mpmath
#
# The integrals of densities by mpmath's quadrature: the second engine, nothing is certified.

_DEPTH = 40
_PIECES = 1 << 11  # of one stretch, each a rule of some hundred values
_PLAIN_FARTHEST = 1 << 12


def plain_mass(ctx: MpmathArithmetic, kernel: Kernel) -> Number:
    """∫ e^log between the cuts."""
    zero = ctx.number(0)
    return plain_expectation(ctx, sides(kernel, kernel), Mass(), (zero, zero))


def plain_expectation(
    ctx: MpmathArithmetic, pieces: list[Side], integrand: Integrand, totals: tuple[Number, Number]
) -> Number:
    """Integrate in mpmath's arithmetic `ctx`, stretch by stretch between powers of 2."""
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
    """A quadrature is ∫ at(T) dT in mpmath, to a tolerance relative to it and to `scale`."""

    def __init__(self, mp: MPContext, at: Callable[[Number], Number], tolerance: Number) -> None:
        self.mp, self.at, self.tolerance = mp, at, tolerance

    def over(self, side: Side, scale: Number) -> Number:
        """Integrate outwards and inwards from the middle until a stretch no longer counts."""
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
        """Sum over stretches whose ends grow or shrink by the factor."""
        total, small = self.mp.mpf(0), 0
        for _ in range(_PLAIN_FARTHEST):
            end = start * factor
            part = self.adaptive(start, end, scale + abs(total))
            total += part if factor > 1 else -part
            small = small + 1 if abs(part) <= self.tolerance * (scale + abs(total)) else 0
            if small == 3 + (total == 0) * 20:
                break
            start = end
        return total

    def adaptive(self, low: Number, high: Number, scale: Number) -> Number:
        """Integrate by Gauss–Legendre rules, halved until they agree; else PrecisionError."""
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
