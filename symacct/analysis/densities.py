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
from symacct.kernel.arithmetic.ball import (
    ball,
    integral,
    log_sign,
    precision,
    steered_by_floats,
    up_to,
    within,
)
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.errors import PrecisionError
from symacct.kernel.exact import INFINITY, sympy
from symacct.kernel.memory import cached_property

# --- sides of the line
#
# The halves of the pieces of the line on which two densities are smooth, and their tails.
#
# The line is cut where a density starts, ends or has a corner. Each piece is taken from its middle
# towards its two ends, in the distance T from a finite end or towards an infinite one, so that what
# happens at an end is what happens for T → 0 or T → ∞: there a bound e^{g} of the integrand with
# dg/d(log y) <= −1 − s for y >= Y (y = T, or 1/T) gives ∫_Y^∞ e^g dy <= Y e^{g(Y)}/s.

#: A place where the line is cut: a rational number, or the float ±∞.
Cut = Fraction | float
#: Places up to 2^_LAST_DOUBLING are looked at, some hundred of them; a tail that is not bounded
#: before is refused by PrecisionError.
_LAST_DOUBLING = 2**24
#: The least power of y in a bound of growth, which has to be above 0: a slope of power 0 and less
#: is bounded by it as well. A larger one bounds as well, but less sharply.
_SMALLEST_GROWTH = Fraction(1, 16)


@dataclass(frozen=True)
class Kernel:
    """A kernel is a density up to its constant: e^log between the end cuts, 0 elsewhere."""

    log: sympy.Expr
    cuts: tuple[Cut, ...]

    def covers(self, low: Cut, high: Cut) -> bool:
        """Does the piece from low to high lie between the end cuts, so that the density is > 0?"""
        return self.cuts[0] <= low and high <= self.cuts[-1]


@dataclass(frozen=True)
class Side:
    """A side is one half of a piece, x = origin ± T, with the logarithms of both densities in T.

    A logarithm is None where that density is 0. `extent` is the largest T; y is T if that is ∞, and
    else 1/T, so that y → ∞ at the piece's end.
    """

    logs: tuple[sympy.Expr | None, sympy.Expr | None]
    extent: Cut

    @property
    def is_infinite(self) -> bool:
        """Does T go to infinity?"""
        return self.extent == INFINITY

    @cached_property
    def exponents(self) -> tuple[sympy.Expr | None, ...]:
        """log p, log q and log p − log q in T; None for what needs a density that is 0 here."""
        difference = None
        if None not in self.logs:
            difference = multiplied_out(self.logs[0] - self.logs[1])  # type: ignore[operator]
        return (*self.logs, difference)

    @cached_property
    def evaluators(self) -> tuple[Evaluator | None, ...]:
        """The three `exponents` as functions of a jet T."""
        return tuple(
            log if log is None else in_balls(leading_exponent(log) if self.is_infinite else log)
            for log in self.exponents
        )

    @cached_property
    def evaluators_of_logarithm(self) -> tuple[Evaluator | None, ...]:
        """The three `exponents` as functions of a jet log T, both densities times dT/d(log T).

        What leads at the end is set apart, so that balls do not cancel there.
        """
        weights = (1, 1, 0)  # those of dT = T d(log T)
        return tuple(
            log if log is None else over_logarithm(collected(log), weight, self.is_infinite)
            for log, weight in zip(self.exponents, weights, strict=True)
        )

    def evaluators_for(
        self, powers: tuple[Fraction, Fraction] | None, of_logarithm: bool
    ) -> tuple[Evaluator | None, ...]:
        """The three `exponents` and a log p + b log q as functions of T or log T, a, b = `powers`.

        a + b = 1. Both densities are those of log T where it is the variable, with the factor T.
        None for those that need a density that is 0 here, and for the fourth without powers.
        """
        logs = self.evaluators_of_logarithm if of_logarithm else self.evaluators
        if powers is None or None in self.logs:
            return (*logs, None)
        return (*logs, _blended(self, powers, of_logarithm))

    def is_positive(self, place: arb) -> bool:
        """Are the logarithms of the densities finite on the whole ball T = place?"""
        at_place = Jet(ComplexBalls(), acb(place), acb(1))
        return all(at(at_place).value.is_finite() for at in self.evaluators if at is not None)

    @cached_property
    def is_regular(self) -> bool:
        """Are both exponents finite on a closed interval that ends at T = 0?"""
        return not self.is_infinite and self.is_positive(up_to(arb(2) ** -20))

    def blend(self, a: Fraction, b: Fraction) -> sympy.Expr:
        """a log p + b log q in T; the term of a density that is 0 here is left out."""
        return _blend(self, a, b)

    def slopes(self, exponent: sympy.Expr, start: arb) -> list[Germ]:
        """y d/dy of the exponent of e^exponent dT as a density in y >= start, bound in two ways."""
        y = Germs(start).variable()
        return [evaluate(y).slope for evaluate in at_end(exponent, self.is_infinite, density=True)]

    def converges(self, exponent: sympy.Expr) -> bool:
        """Is ∫ e^exponent dT finite at the end? PrecisionError if neither is proved."""
        return _converges(self, exponent)

    # Proved in docs/proofs/sampling.md, Lemma power-tails.
    def tail(self, exponent: sympy.Expr, start: arb) -> arb:
        """An upper bound of ∫ e^exponent dT over y >= start; ∞ where none is proved from there."""
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
    """`Side.blend`, remembered for each order of a pair."""
    total = sympy.Integer(0)
    for weight, log in zip((a, b), side.logs, strict=True):
        if weight and log is not None:
            total += sympy.Rational(weight.numerator, weight.denominator) * log
    return collected(total)


@lru_cache(REMEMBERED)
def _blended(side: Side, powers: tuple[Fraction, Fraction], of_logarithm: bool) -> Evaluator:
    """The exponent of p^a q^b as a function of T, or of log T with dT/d(log T) in it."""
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
    """Exponents of 2 from the first on to 2²⁴, in steps that grow by an eighth."""
    step = 4
    while first < _LAST_DOUBLING:
        deadline.check()
        yield first
        first, step = first + step // 4, step + max(1, step // 8)


def sides(first: Kernel, second: Kernel) -> list[Side]:
    """The halves of all pieces on which a density is positive, from left to right."""
    halves: list[Side] = []
    for low, high in pairwise(sorted({*first.cuts, *second.cuts})):
        logs = [k.log if k.covers(low, high) else None for k in (first, second)]
        if any(log is not None for log in logs):
            for piece in _pieces(logs, low, high):
                halves.extend(_halves(*piece))
    return halves


#: Both logarithms, None where a density is 0, and the ends of a piece.
Piece = tuple[list[sympy.Expr | None], Cut, Cut]


def _pieces(logs: list[sympy.Expr | None], low: Cut, high: Cut) -> Iterator[Piece]:
    """A piece cut at all corners, with each Abs, Min and Max of lines replaced by what it is.

    What is replaced may leave a line in another, as in |(|x| − 1)|, which has corners of its own.
    """
    inside = {c for log in logs if log is not None for c in corners(log) if low < c < high}
    if inside:
        for left, right in pairwise([low, *sorted(inside), high]):
            yield from _pieces(logs, left, right)
        return
    middle = _middle(low, high)
    settled = [log if log is None else _settled(log, middle) for log in logs]
    if settled != logs:
        yield from _pieces(settled, low, high)
    else:
        yield logs, low, high


def corners(log: sympy.Expr) -> Iterator[Fraction]:
    """Where the argument of an Abs, or the difference of two of a Min or Max, is 0, if linear in x.

    `_settled` replaces no others. Of what is left an author gives the cuts: without them integrals
    are as sound, but slow or refused.
    """
    for node in log.atoms(sympy.Abs, sympy.Min, sympy.Max):
        pairs = [(node.args[0], sympy.Integer(0))]
        if not isinstance(node, sympy.Abs):
            pairs = list(combinations(node.args, 2))
        for left, right in pairs:
            line = _line(left - right)
            if line is not None and line[0] != 0:
                zero = sympy.radsimp(-line[1] / line[0])
                yield Fraction(int(zero.p), int(zero.q))


def _line(expression: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr] | None:
    """(c, d) of cx + d, a constant or with a rational zero −d/c; None for another expression."""
    flat = sympy.expand(expression)
    slope = flat.coeff(symbols.x, 1)
    rest = flat - slope * symbols.x
    if slope.has(symbols.x) or rest.has(symbols.x):
        return None
    is_known = slope == 0 or isinstance(sympy.radsimp(rest / slope), sympy.Rational)
    return (slope, rest) if is_known else None


def _middle(low: Cut, high: Cut) -> Fraction:
    """The middle of a piece, or 1 inside its finite end, or 0."""
    if low == -INFINITY:
        return Fraction(0) if high == INFINITY else Fraction(high) - 1
    return Fraction(low) + 1 if high == INFINITY else Fraction(low + high) / 2


def _halves(logs: list[sympy.Expr | None], low: Cut, high: Cut) -> list[Side]:
    """Both halves of a piece, from its middle."""
    middle = _middle(low, high)
    return [_half(logs, middle, end, sign) for end, sign in ((low, 1), (high, -1))]


def _half(logs: list[sympy.Expr | None], middle: Fraction, end: Cut, sign: int) -> Side:
    """The half in t, the distance from its end, or from the middle if that end is infinite.

    `sign` is 1 for the left half and −1 for the right one.
    """
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


def _settled(log: sympy.Expr, middle: Fraction) -> sympy.Expr:
    """Replace each Abs, Min and Max of lines, as it stands, by what it is about the middle.

    What holds another that is not settled yet is left, as its corners are not known.
    """
    at = sympy.Rational(middle.numerator, middle.denominator)

    def plain(node: sympy.Expr) -> sympy.Expr:
        """Settle the Abs, Min or Max at the top of a formula, or else what stands in it."""
        if isinstance(node, sympy.Abs) and _line(node.args[0]):
            return node.args[0] if node.args[0].xreplace({symbols.x: at}) >= 0 else -node.args[0]
        if isinstance(node, sympy.Min | sympy.Max) and all(
            _line(a - b) for a, b in combinations(node.args, 2)
        ):
            best = max if isinstance(node, sympy.Max) else min
            first = node.args[0]
            return best(node.args, key=lambda u: (u - first).xreplace({symbols.x: at}).expand())
        return node.func(*map(plain, node.args)) if node.args else node

    return plain(log)


# --- integrals over a side
#
# Integrals of functions of two densities over one side, certified.

#: Evaluations of an integrand on one stretch, some seconds; more are refused by PrecisionError.
_MOST_EVALUATIONS = 60_000
#: From this distance T on the logarithm of T is the variable of an integral to ∞. Integrals are
#: enclosed whatever it is; it costs time alone.
_LOG_FROM = 64
#: log p, log q, log p − log q and a log p + b log q as functions of a jet; None for unknown ones.
Evaluators = tuple[Evaluator | None, ...]
#: (coefficient, a, b): the integrand is at most the sum of coefficient · p^a q^b beyond a point.
Bounds = list[tuple[arb, Fraction, Fraction]]


class DensityLogs(NamedTuple):
    """Logs are log p, log q, log p − log q and a log p + b log q, as jets or balls.

    None stands for what needs a density that is 0 here, or powers that are not there.
    """

    p: Any
    q: Any
    ratio: Any
    blend: Any


class Integrand:
    """An integrand is a function of two densities p and q: `combine` of its `parts`' values.

    Both densities are divided by their integrals before.
    """

    #: (a, b): p^a q^b is in the function; its logarithm is then given to `parts` as one formula.
    powers: tuple[Fraction, Fraction] | None = None

    def parts(self, logs: DensityLogs) -> list[Any]:
        """Jets of which `combine` makes the function, each enclosed by mean values of its own."""
        raise NotImplementedError

    def combine(self, parts: list[acb]) -> acb:
        """The function from the values of its parts, continued analytically."""
        raise NotImplementedError

    def real(self, logs: DensityLogs) -> arb:
        """The function at a point, from real logarithms."""
        return self.combine([acb(part) for part in self.parts(logs)]).real

    def bounds(self, side: Side) -> Bounds:
        """Terms whose sum bounds the function's modulus everywhere on the side."""
        raise NotImplementedError

    def covers(self, side: Side) -> list[Bounds]:
        """Several such bounds, each of which holds everywhere; one is the smaller here or there."""
        return [self.bounds(side)]

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        """The function in mpmath, uncertified; a logarithm is −∞ where the density is 0."""
        raise NotImplementedError

    def diverges(self, side: Side) -> bool:
        """Is its integral over the side proved to be infinite? False where it is proved finite.

        PrecisionError where neither is proved.
        """
        return not side.is_regular and not all(
            side.converges(side.blend(a, b)) for _, a, b in self.bounds(side)
        )

    def tail(self, side: Side, shifts: tuple[arb, arb], start: arb) -> arb:
        """An upper bound of the modulus of the integral over y >= start, ∞ where none is proved.

        `shifts` are the logarithms of ∫p and ∫q.
        """
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
        """Enclose the integrand over the ball z, by mean values where that is narrower.

        Not finite where `analytic` is asked and not proved.
        """
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
        """∫ f(T) dT from low to high, to about the absolute tolerance."""
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        return integrate(lambda z, a: self.at(evaluators, z, a), low, high, tolerance)

    def by_logarithm(self, low: arb, high: arb, tolerance: arb) -> arb:
        """∫ f(T) dT = ∫ f(e^τ) e^τ dτ from T = low to high, the factor e^τ in both densities."""
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
        bend = start.min(arb(_LOG_FROM))
        rest += self.integral_between(arb(0), bend, tolerance)
        return rest + self.by_logarithm(bend, start, tolerance) if start > bend else rest

    def _cut(self, envelope: Callable[[arb], arb], tolerance: arb) -> tuple[arb, arb]:
        """Y = 2^k beyond which a bound t is below the tolerance, and the ball [−t, t].

        PrecisionError where there is none up to 2^_LAST_DOUBLING.
        """
        for start in self._starts():
            tail = envelope(start)
            if tail <= tolerance:
                return start, within(tail)
        raise PrecisionError(
            "an integral: found no bound of its tail that falls fast enough, needed one",
            remedy="ask for fewer digits, or at another order",
        )

    def _starts(self) -> Iterator[arb]:
        """Places Y = 2^k from which on the tail may be cut, all inside of the side."""
        start = 1 if self.side.is_infinite else max(1, math.ceil(2 / self.side.extent))
        return (arb(2) ** doubling for doubling in doublings(start.bit_length()))

    def rough_size(self) -> arb:
        """The size of the integral by f(T)·T at one T, mostly from below: it only steers."""
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
        """log|f(T)·T| at T = 2^doubling in float64, −∞ where it has no value: it only steers."""
        place = arb(2) ** ball(doubling)
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        value = abs((self.at(evaluators, acb(place), False).real * place).mid())
        return float(value.log()) if value.is_finite() and value > 0 else -math.inf


def integrate(at: Callable[[acb, bool], acb], low: arb, high: arb, tolerance: arb) -> arb:
    """∫ of a function of complex balls by flint, to about the absolute tolerance; certified.

    PrecisionError where `_MOST_EVALUATIONS` evaluations do not resolve it.
    """
    count = 0

    def counted(z: acb, analytic: bool) -> acb:
        nonlocal count
        count += 1
        return at(z, analytic)

    value = integral(
        counted, low, high, rel_tol=arb(0), abs_tol=tolerance.mid(), eval_limit=_MOST_EVALUATIONS
    )
    if count >= _MOST_EVALUATIONS - 1:  # from here on flint takes what is left as it is
        raise PrecisionError(
            f"an integral: not resolved with {_MOST_EVALUATIONS:,} evaluations",
            remedy=(
                "ask for fewer digits, "
                "or give the points where the densities are not smooth as cuts"
            ),
        )
    return value.real


def _width(z: acb) -> arb:
    """The radius of the real part and that of the imaginary one, added."""
    return z.real.rad() + z.imag.rad()


# --- the largest ratio
#
# The supremum of log(p/q) by branch and bound, with what happens at the ends proved.

#: Boxes that are looked at before a supremum is given up by PrecisionError, after some seconds.
_MOST_BOXES = 40_000
#: Up to 2^_LAST_LIMIT_DOUBLING a limit at an end is read off; beyond it PrecisionError is raised.
_LAST_LIMIT_DOUBLING = 2**12


# Proved in docs/proofs/sampling.md, Lemma log-ratio-supremum.
@steered_by_floats
def largest_log_ratio(sides: list[Side], bits: int) -> arb:
    """Enclose sup log(p/q) of the kernels, without their constants, to an absolute 2^−bits.

    ∞ where that is proved; PrecisionError where nothing is found. NaN only where the log-ratio has
    no value at some point.
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
    """The T before y = start, from low to high."""
    if side.is_infinite:
        return arb(0), start
    low = arb(0) if side.is_regular else 1 / start
    return low, ball(Fraction(side.extent))


def _end(side: Side, bits: int) -> tuple[arb, arb]:
    """Y and the supremum of log(p/q) over y >= Y: −∞ where the value at Y is it, ∞ where it is.

    PrecisionError where nothing is proved up to 2^_LAST_LIMIT_DOUBLING.
    """
    if side.is_regular:
        return arb(1), arb("-inf")
    ratio = side.blend(Fraction(1), Fraction(-1))
    evaluate = side.at_end(ratio)
    first = 0 if side.is_infinite else max(1, math.ceil(2 / side.extent)).bit_length()
    for doubling in doublings(first):
        if doubling > _LAST_LIMIT_DOUBLING:
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
    """Enclose the largest of the values over the boxes and of `attained`, to an absolute 2^−bits.

    `attained` is a value or a limit, −∞ for none. PrecisionError after `_MOST_BOXES` boxes.
    """
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
        if looked > _MOST_BOXES:
            raise PrecisionError(
                "order ∞: the supremum of the log-ratio was not found within "
                f"{_MOST_BOXES:,} boxes",
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

#: Bits of the balls that logarithms at nodes are rounded from. They steer.
_NODE_BITS = 64
#: The double exponential rule goes from −5 to 5 in its variable s, where its weights are e^{−230}.
#: The sum steers.
_RULE_REACH = 5.0
#: Steps of the coarsest and of the finest rule on each side, powers of 2. They steer.
_FEWEST_STEPS, _MOST_STEPS = 64, 4096
#: A node where a logarithm is not known counts as if both densities were 0. The sum steers.
_UNKNOWN_LOGS = np.array([[-np.inf], [-np.inf], [0.0]])
#: Two rules agree if their logarithms differ by this share, or by this much where they are below 1.
#: They steer.
_AGREEMENT = 1e-13


@dataclass(frozen=True)
class DensityNodes:
    """Nodes have log(p/q) and the logarithms of q times the weights, in float64.

    p and q are divided by their sums over the nodes.
    """

    log_ratio: np.ndarray
    log_weight: np.ndarray

    def log_excess(self, gamma: float, power: float) -> float:
        """log(E_Q[(m/q)^β] − 1) over these nodes, m = (1−γ)q + γp, for β > 1 or β < 0."""
        numbers = (FLOAT64.number(np.asarray(x)) for x in (gamma, self.log_ratio, power - 1))
        gap = FLOAT64.power_gap(*numbers)
        return float((LogNumber(1.0, self.log_weight) * gap).total().log)


class Rules:
    """Rules in float64 of more and more nodes over the sides of two densities, which steer.

    Both densities are positive on every side. The nodes of each rule are kept.
    """

    def __init__(self, sides: Iterable[Side]) -> None:
        self.sides = list(sides)
        #: E_Q[(m/q)^β] is known to be finite up to this β > 1, which callers raise.
        self.finite_to = Fraction(1)
        self._known: dict[int, DensityNodes] = {}

    def log_excess(self, gamma: float, power: float) -> float:
        """log(E_Q[(m/q)^β] − 1) by the first rule that agrees with the one before, or the finest.

        The caller has proved that it is finite, for β > 1 or β < 0.
        """
        before = math.nan
        exponents = range(_FEWEST_STEPS.bit_length() - 1, _MOST_STEPS.bit_length())
        for steps in (2**k for k in exponents):
            value = self.nodes(steps).log_excess(gamma, power)
            if abs(value - before) <= _AGREEMENT * max(1.0, abs(value)):
                break
            before = value
        return value

    def nodes(self, steps: int) -> DensityNodes:
        """The rule of so many steps on each side, which is kept."""
        if steps not in self._known:
            with precision(_NODE_BITS):
                parts = [_on(side, steps) for side in self.sides]
            log_p, log_q, log_ratio = np.concatenate(parts, axis=1)
            off = _log_total(log_p) - _log_total(log_q)
            self._known[steps] = DensityNodes(log_ratio - off, log_q - _log_total(log_q))
        return self._known[steps]


def _log_total(logs: np.ndarray) -> float:
    """log Σ e^x of an array."""
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).sum()))


def _on(side: Side, steps: int) -> np.ndarray:
    """log(wp), log(wq) and log(p/q) at the nodes of one side, w the weights: three rows."""
    s = _RULE_REACH * ((2 * np.arange(steps) + 1) / steps - 1)
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
    return np.where(np.isfinite(logs).all(axis=0), logs, _UNKNOWN_LOGS)


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

#: The number that a function is of, with a derivative, or alone.
Value = TypeVar("Value", Jet, arb)
_ZERO, _ONE = Fraction(0), Fraction(1)
#: Rounds of an integral, each in half as many bits again, before PrecisionError is raised.
_MOST_ROUNDS = 6
#: Up to this |u| terms are summed as functions of u = γ(p/q − 1), as they cancel to u². Both forms
#: are enclosures; it chooses the narrower one.
_SMALL_U = 0.5
#: The η that are tried in log r <= r^η/(eη), from the one of the lightest bound on. Each is a
#: proved bound, the first the sharpest.
_TILTS = tuple(Fraction(1, 2**k) for k in (3, 8, 16, 32, 64))


@dataclass(frozen=True)
class Mass(Integrand):
    """The mass is ∫ p."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        """log p."""
        return [logs.p]

    def combine(self, parts: list[acb]) -> acb:
        """p from its logarithm."""
        return parts[0].exp()

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        """p in mpmath."""
        return mp.exp(log_p)

    def bounds(self, side: Side) -> Bounds:
        """p itself."""
        return [(arb(1), _ONE, _ZERO)]


# Proved in docs/proofs/sampling.md, Lemma density-integrands.
@dataclass(frozen=True)
class MixtureIntegrand(Integrand):
    """A function of p and q whose integral is a mean over q of m/q, m = (1−γ)q + γp; 0 < γ <= 1."""

    gamma: Fraction

    def mp_value(self, mp: MPContext, log_p: Number, log_q: Number) -> Number:
        """q·f(m/q) in mpmath, f = `function`, with the digits that cancel added; unproved."""
        gamma = mp.mpf(self.gamma.numerator) / self.gamma.denominator
        if log_q == -mp.inf:
            return self.plain_beyond(mp, gamma) * mp.exp(log_p)
        u = gamma * mp.expm1(log_p - log_q)
        # Half of the digits are lost to the cancellation of the leading terms where u is small.
        with mp.workprec(2 * mp.prec + (max(0, -2 * mp.mag(u)) if u else 0)):
            log_m = mp.log1p(u) if u > -1 else -mp.inf
            return mp.exp(log_q) * self.function(u, log_m, mp.expm1, mp.mpf)

    def real(self, logs: DensityLogs) -> arb:
        """The function at a point, by u = γ(p/q − 1) where that is small: terms cancel to u²."""
        u: arb = ball(self.gamma) * logs.ratio.expm1()
        if not abs(u) < _SMALL_U:
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
        """The function over q, of u = γ(p/q − 1) and log(1+u).

        `expm1` and `whole`, which makes a number of an int, are those of the arithmetic.
        """
        raise NotImplementedError

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        """The function over p, where q is 0; ∞ unless a subclass says otherwise."""
        return mp.inf

    def log_mixture(self, log_ratio: Value) -> Value:
        """log(m/q) from log(p/q)."""
        leads, rest = self.log_mean_ratio(log_ratio)
        return log_ratio + rest if leads else rest

    def log_mean_ratio(self, log_ratio: Value) -> tuple[bool, Value]:
        """Whether γp leads in m at the middle, and log(m/p) if so, else log(m/q).

        Either choice continues the real function analytically.
        """
        if self.gamma == 1:
            return True, constant(log_ratio, 0)
        logs = [_log(share, ctx.prec) for share in self._shares]
        odds = log_ratio + constant(log_ratio, logs[0] - logs[1])
        leads = not middle(odds) < 0
        smaller = (-odds if leads else odds).exp()
        return leads, constant(odds, logs[not leads]) + (constant(odds, 1) + smaller).log()

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The shares γ and 1 − γ of p and q in m."""
        return self.gamma, 1 - self.gamma


@lru_cache(256)
def _log(x: Fraction, bits: int) -> arb:
    """log x at the current precision, which `bits` names so that it is remembered with it."""
    return ball(x).log()


def constant(like: Value, value: int | arb) -> Value:
    """The constant as a number like `like`: a jet of slope 0, or a ball."""
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
        """The logs of q(m/q)^β, q and p; of q alone, or of p twice, where the other one is 0."""
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        # Where p leads, q(m/q)^β = p^β q^{1−β} (m/p)^β: near a pole of the moment this exponent
        # is a small rest of log p and log q, which balls do not cancel.
        leads, rest = self.log_mean_ratio(logs.ratio)
        raised = constant(logs.q, ball(self.power)) * rest
        return [(logs.blend if leads else logs.q) + raised, logs.q, logs.p]

    def combine(self, parts: list[acb]) -> acb:
        """q(m/q)^β − (1 − βγ)q − βγp, from the exponentials of its parts."""
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
        """(1+u)^β − 1 − βu, as E_Q[u] = 0 makes its mean that of (m/q)^β − 1."""
        beta = whole(self.power.numerator) / whole(self.power.denominator)
        return (expm1(beta * log_m) if u > -1 else -1) - beta * u

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        """−βγ, as the power adds nothing where q is 0; only β < 0 gets here."""
        return -gamma * mp.mpf(self.power.numerator) / self.power.denominator

    def bounds(self, side: Side) -> Bounds:
        """Terms c p^a q^b, as m^β q^{1−β} <= (1−γ)q + γp^β q^{1−β} for β > 1."""
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
        """Is the integral over the side proved to be infinite? So it is for β > 1 where q is 0."""
        return (self.power > 0 and side.logs[1] is None) or super().diverges(side)


@dataclass(frozen=True)
class Entropy(MixtureIntegrand):
    """The entropy is E_Q[(m/q) log(m/q)], the Kullback–Leibler divergence of m from q."""

    def parts(self, logs: DensityLogs) -> list[Jet]:
        """log q, log p and log(m/q); log q alone where p is 0."""
        if logs.p is None:
            return [logs.q]
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        """m log(m/q) − γ(p − q), from the parts."""
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            rest = 1 - gamma
            return q * ((rest * rest.log() if self.gamma < 1 else 0) + gamma)
        p = parts[1].exp()
        return ((1 - gamma) * q + gamma * p) * parts[2] - gamma * (p - q)

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        """(1+u) log(1+u) − u"""
        return ((1 + u) * log_m if u > -1 else 0) - u

    def bounds(self, side: Side) -> Bounds:
        """γ p log⁺(p/q) + γq by log r <= r^η/(eη); without an η the first term is in `tail`."""
        gamma = ball(self.gamma)
        plain = [(gamma, _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        tilt = self._tilt(side)
        if tilt is None:
            return plain
        return [*plain, (gamma / (ball(tilt) * arb(1).exp()), 1 + tilt, -tilt)]

    def _tilt(self, side: Side) -> Fraction | None:
        """An η for which p^{1+η} q^{−η} is proved to have a finite integral; None if none does."""
        return next((eta for eta in _TILTS if side.converges(side.blend(1 + eta, -eta))), None)

    def diverges(self, side: Side) -> bool:
        """Is ∫ m log(m/q) over the side proved to be infinite? It is where q alone is 0."""
        if side.logs[1] is None:
            return True
        if side.is_regular or side.logs[0] is None or self._tilt(side) is not None:
            return False
        # Where log(p/q) < 0, p log(q/p) <= q/e: then this is finite, and not proved infinite.
        ratio = sympy.log(side.blend(_ONE, -_ONE))
        return not side.converges(collected(side.blend(_ONE, _ZERO) + ratio))

    def tail(self, side: Side, shifts: tuple[arb, arb], start: arb) -> arb:
        """An upper bound of the integral over y >= start; without a tilt by how log(p/q) grows."""
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
        """log q, log p and log(m/q); one density's log where the other one is 0, twice for p."""
        if logs.ratio is None:
            return [logs.p or logs.q] * (2 if logs.q is None else 1)
        return [logs.q, logs.p, self.log_mixture(logs.ratio)]

    def combine(self, parts: list[acb]) -> acb:
        """γ(p − q) − q log(m/q), from the parts."""
        gamma, q = ball(self.gamma), parts[0].exp()
        if len(parts) == 1:  # q alone
            return -q * ((1 - gamma).log() + gamma)
        if len(parts) == 2:  # p alone
            return gamma * q
        return gamma * (parts[1].exp() - q) - q * parts[2]

    def function(self, u: Number, log_m: Number, *_: Callable[..., Number]) -> Number:
        """u − log(1+u)"""
        return u - log_m

    def plain_beyond(self, mp: MPContext, gamma: Number) -> Number:
        """γ, as −q log(m/q) is 0 where q is."""
        return gamma

    def bounds(self, side: Side) -> Bounds:
        """−q log(1−γ) + γp, as m >= (1−γ)q."""
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
    """The χ-moment is E_Q[(p/q − 1)^l] for a whole l >= 2, of either sign for odd l."""

    l: int

    def parts(self, logs: DensityLogs) -> list[Jet]:
        """log q and log(p/q); log q alone where p is 0."""
        return [logs.q] if logs.p is None else [logs.q, logs.ratio]

    def combine(self, parts: list[acb]) -> acb:
        """q(p/q − 1)^l, from the parts."""
        step = parts[1].expm1() if len(parts) == 2 else acb(-1)
        return parts[0].exp() * step**self.l

    def bounds(self, side: Side) -> Bounds:
        """q + p^l q^{1−l}, as |x − 1|^l <= 1 + x^l for x >= 0."""
        plain = [(arb(1), _ZERO, _ONE)]
        if side.logs[0] is None:
            return plain
        return [*plain, (arb(1), Fraction(self.l), Fraction(1 - self.l))]

    def diverges(self, side: Side) -> bool:
        """Is the integral over the side proved to be infinite? So it is where q is 0."""
        return side.logs[1] is None or super().diverges(side)


#: () ↦ log ∫p and log ∫q at the current precision.
LogTotals = Callable[[], tuple[arb, arb]]


@steered_by_floats
def expectation(pieces: list[Side], integrand: Integrand, log_totals: LogTotals, bits: int) -> arb:
    """The integral over all pieces to a relative accuracy of `bits` bits; ∞ where that is proved.

    `log_totals` gives log ∫p and log ∫q at the current precision. PrecisionError where the
    accuracy is not reached: the value may be 0.
    """
    if any(integrand.diverges(side) for side in pieces):
        return arb("inf")
    working, size = bits + 40, None
    for _ in range(_MOST_ROUNDS):
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
    """The integral over all stretches, each to about the absolute tolerance."""
    total = arb(0)
    for stretch in stretches:
        envelope = partial(integrand.tail, stretch.side, stretch.shifts)
        total += stretch.integral(envelope, tolerance)
    return total


# --- whole numbers
#
# The expectations of `expectations` for two laws on 0, 1, 2, …, by sums with proved tails.

#: Terms of a sum, some seconds; more are refused by PrecisionError.
_MOST_TERMS = 200_000
#: The k at which a term may be largest; a farther one is refused by PrecisionError. It saves time,
#: as no sum gets there.
_LARGEST_SUMMIT = 2**64
#: Rounds of a sum, each in half as many bits again, before PrecisionError is raised.
_MOST_SUM_ROUNDS = 8
#: Bits of the first round beyond those asked for: some 40 are often lost, and a second round would
#: double the time.
_SPARE_BITS = 80
#: Bits that a sum whose first terms cancel may lose, beyond 16 times those asked for. More are
#: refused by PrecisionError.
_MOST_LOST_BITS = 4096


@dataclass(frozen=True)
class Progression:
    """A progression has log p_k = log p_0 + k·log(step), − log k! if `factorial`; step > 0."""

    start: sympy.Expr
    step: Fraction
    factorial: bool

    def formula(self, k: int | sympy.Symbol) -> sympy.Expr:
        """log p_k as an expression."""
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
        """`balls` by precision in bits, kept here: a cache would compare steps of 10,000 digits."""
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
        """The exponent of p^a q^b, which is known by its powers."""
        return a, b

    def converges(self, powers: tuple[Fraction, Fraction]) -> bool:
        """Is Σ p^a q^b finite, a + b = 1? It is decided exactly."""
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
        """A bound of Σ p^a q^b over k < end, end > 0; ∞ unless the quotients are above 1 there."""
        quotient = self._rate(powers)
        if self.logs[0].factorial:
            quotient /= end
        return self._term(powers, end) / (quotient - 1) if quotient > 1 else arb("inf")

    def _rate(self, powers: tuple[Fraction, Fraction]) -> arb:
        """The quotient of two terms of p^a q^b, times k + 1 with factorials."""
        (_, first), (_, second) = (log.balls for log in self.logs)
        return (ball(powers[0]) * first + ball(powers[1]) * second).exp()

    def _term(self, powers: tuple[Fraction, Fraction], k: int) -> arb:
        """p^a q^b at k."""
        log_p, log_q = self._logs(k)
        return (ball(powers[0]) * log_p + ball(powers[1]) * log_q).exp()

    def _logs(self, k: int) -> list[arb]:
        """log p_k and log q_k."""
        shared = arb(k + 1).lgamma() if self.logs[0].factorial else arb(0)
        return [start + k * step - shared for start, step in (log.balls for log in self.logs)]

    def expectation(self, integrand: Integrand, bits: int) -> arb:
        """Σ of the integrand to a relative accuracy of `bits` bits; ∞ where it diverges.

        PrecisionError where the accuracy is not reached: the value may be 0.
        """
        if integrand.diverges(self):  # type: ignore[arg-type]
            return arb("inf")
        working, most = bits + _SPARE_BITS, 16 * bits + _MOST_LOST_BITS
        for _ in range(_MOST_SUM_ROUNDS):
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
        """Σ over k = 0, 1, …, but for stretches proved to be small beside the sum, which widen it.

        PrecisionError after `_MOST_TERMS` terms.
        """
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
        """The k at which the bounds of the integrand are largest, the farthest first: they steer.

        Without factorials there are none, as all terms fall. PrecisionError beyond 2⁶⁴.
        """
        if not self.logs[0].factorial:
            return []
        rates = [self._rate((a, b)) for _, a, b in integrand.bounds(self)]  # type: ignore[arg-type]
        if not all(rate < _LARGEST_SUMMIT for rate in rates):
            raise _too_long()
        return sorted({int(rate.mid().floor().fmpz()) for rate in rates}, reverse=True)

    def _between(self, integrand: Integrand, start: int, end: int | None) -> arb:
        """An upper bound of Σ |integrand| over start <= k < end, to ∞ where `end` is None."""

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
        """Σ in mpmath, to the last term that counts; not certified. PrecisionError for too many."""
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
    """The error, to be raised, of a sum of too many terms."""
    return PrecisionError(
        f"a sum: found more than {_MOST_TERMS:,} terms that count, needed fewer",
        remedy="take laws of smaller means",
    )


def _before(summit: int, bits: int) -> int:
    """About the k from which on a Poisson law of this mean has all but 2^−bits of its mass."""
    return max(0, summit - 2 - math.isqrt(2 * (bits + 24) * (summit + 1)))


def _at(integrand: Integrand, logs: list[arb]) -> arb:
    """The integrand where log p and log q are these."""
    (log_p, log_q), (a, b) = logs, integrand.powers or (Fraction(0), Fraction(0))
    blend = ball(a) * log_p + ball(b) * log_q
    return integrand.real(DensityLogs(log_p, log_q, log_p - log_q, blend))


# --- by mpmath
#
# The integrals of densities by mpmath's quadrature: the second engine, nothing is certified.

#: Halvings of a piece, after which its value is taken as it is. Nothing is proved of it: mpmath
#: alone asks for it.
_MOST_HALVINGS = 40
#: Pieces of one stretch, each a rule of some hundred values; more are refused. Larger ones take
#: longer.
_MOST_PIECES = 1 << 11
#: Stretches of one side of the middle, each end at twice or at half the distance of the one before:
#: after so many what is farther is left out though it may count, as nothing here is certified. More
#: take longer.
_MOST_STRETCHES = 1 << 12


def plain_mass(ctx: MpmathArithmetic, kernel: Kernel) -> Number:
    """∫ e^log between the cuts, uncertified."""
    zero = ctx.number(0)
    return plain_expectation(ctx, sides(kernel, kernel), Mass(), (zero, zero))


def plain_expectation(
    ctx: MpmathArithmetic, pieces: list[Side], integrand: Integrand, totals: tuple[Number, Number]
) -> Number:
    """The integral in mpmath's arithmetic `ctx`, uncertified; `totals` are log ∫p and log ∫q."""
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
        """Sum over stretches whose ends grow or shrink by the factor, until 3 in a row are small.

        While the sum is 0, 23 have to be. After `_MOST_STRETCHES` of them it is taken as it is.
        """
        total, small = self.mp.mpf(0), 0
        for _ in range(_MOST_STRETCHES):
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
        for _ in range(_MOST_PIECES):
            if not pending:
                return total
            a, b, depth = pending.pop()
            value, error = quadrature(
                self.mp, self.at, [a, b], error=True, method="gauss-legendre", maxdegree=5
            )
            small = self.tolerance * (scale + abs(total) + abs(value))
            if depth >= _MOST_HALVINGS or error <= small:
                total += value
            else:
                middle = (a + b) / 2
                pending += [(a, middle, depth + 1), (middle, b, depth + 1)]
        raise PrecisionError(
            f"an integral in mpmath: found no agreement on {_MOST_PIECES} pieces",
            remedy="ask the engine ball",
        )
