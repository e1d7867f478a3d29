"""Integrals of two densities of one real variable, certified, with proved tails.

The line is cut where a density starts, ends or has a corner. Each piece is taken from its middle
towards its two ends, in the distance T from a finite end or towards an infinite one, so that what
happens at an end is what happens for T → 0 or T → ∞: there a bound e^{g} of the integrand with
dg/d(log y) <= −1 − s for y >= Y (y = T, or 1/T) gives ∫_Y^∞ e^g dy <= Y e^{g(Y)}/s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, Protocol

import sympy
from flint import acb, arb, ctx

from symacct.errors import PrecisionError
from symacct.exact import INFINITY
from symacct.forking import cached_property
from symacct.integrals.germs import Germ, Germs
from symacct.integrals.jets import ComplexBalls, Evaluator, Jet, X, constants, evaluator, log_of
from symacct.sums.refine import ball, integral, within

#: The distance from a finite end of a piece, or towards an infinite one.
T = sympy.Symbol("t", positive=True)

Cut = Fraction | float
_LAST_DOUBLING = 2**24  # 2^_LAST_DOUBLING is the farthest place that is looked at
_EVALUATIONS = 60_000  # of an integrand on one stretch
_FAR = arb(2) ** 10  # where a sum shows which of its terms leads
_REMEMBERED = 4096  # exponents, of which each order of a pair has a few
_LEAST_GROWTH = Fraction(1, 16)
_BEND = 64  # from this Y on the logarithm of the distance is the variable


@dataclass(frozen=True)
class Kernel:
    """A density up to its constant: e^log between the first and the last cut, 0 elsewhere."""

    log: sympy.Expr
    cuts: tuple[Cut, ...]

    def covers(self, low: Cut, high: Cut) -> bool:
        """Is the density positive on this piece?"""
        return self.cuts[0] <= low and high <= self.cuts[-1]


@dataclass(frozen=True)
class Side:
    """One half of a piece, x = origin ± T: for 0 < T < extent, or from T = 0 to infinity.

    `logs` are the exponents of the two densities in T; None where one is 0.
    """

    logs: tuple[sympy.Expr | None, sympy.Expr | None]
    extent: Cut

    @property
    def is_infinite(self) -> bool:
        """Does T go to infinity?"""
        return self.extent == INFINITY

    @cached_property
    def exponents(self) -> tuple[sympy.Expr | None, ...]:
        """log p, log q and, where both are, log p − log q, in T."""
        difference = None
        if None not in self.logs:
            difference = multiplied_out(self.logs[0] - self.logs[1])  # type: ignore[operator]
        return (*self.logs, difference)

    @cached_property
    def evaluators(self) -> tuple[Evaluator | None, ...]:
        """The three exponents as functions of T."""
        return tuple(log if log is None else _in_balls(log) for log in self.exponents)

    @cached_property
    def evaluators_of_logarithm(self) -> tuple[Evaluator | None, ...]:
        """The same for the densities of log T, what is small at the end set apart."""
        weights = (1, 1, 0)  # those of dT = T d(log T)
        return tuple(
            log if log is None else _of_logarithm(collected(log), weight, self.is_infinite)
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
        return not self.is_infinite and self.is_positive(arb(0).union(arb(2) ** -20))

    def blend(self, a: Fraction, b: Fraction) -> sympy.Expr:
        """a log p + b log q, up to a constant; a density that is 0 does not count."""
        total = sympy.Integer(0)
        for weight, log in zip((a, b), self.logs, strict=True):
            if weight and log is not None:
                total += sympy.Rational(weight.numerator, weight.denominator) * log
        return collected(total)

    def slopes(self, exponent: sympy.Expr, start: arb) -> list[Germ]:
        """y d/dy of the exponent of e^exponent dT as a density in y, for all y >= start.

        Each of two ways of writing the exponent gives an enclosure; either may be the narrower.
        """
        y = Germs(start).variable()
        return [evaluate(y).slope for evaluate in _at_end(exponent, self.is_infinite, density=True)]

    def goes(self, exponent: sympy.Expr) -> bool:
        """Is ∫ e^exponent dT finite at the end? PrecisionError if neither is proved."""
        return _goes(self, exponent)

    def tail(self, exponent: sympy.Expr, start: arb) -> arb:
        """A bound of ∫ e^exponent dT over y >= start; infinite where it is not proved there."""
        shares = [-1 - slope.most() for slope in self.slopes(exponent, start)]
        share = next((share for share in shares if share > 0), None)
        if share is None:
            return arb("inf")
        distance = start if self.is_infinite else 1 / start
        return self.value(exponent, start).exp() * distance / share

    def value(self, exponent: sympy.Expr, start: arb) -> arb:
        """The exponent at y = start."""
        distance = start if self.is_infinite else 1 / start
        return _in_distance(exponent)(Jet(ComplexBalls(), acb(distance), acb(1))).value.real

    def at_end(self, expression: sympy.Expr) -> Evaluator:
        """The expression in T as a function of y."""
        return _at_end(expression, self.is_infinite, density=False)[0]

    def growth(self, expression: sympy.Expr, start: arb) -> tuple[Fraction, arb]:
        """(k, h) with |d expression/d(log y)| <= h y^k for all y >= start, k > 0."""
        slope = self.at_end(expression)(Germs(start).variable()).slope
        size = abs(slope.low).max(abs(slope.high))
        power = max(slope.power, _LEAST_GROWTH)
        return power, size * start ** ball(slope.power - power)


def _leading_apart(log: sympy.Expr, infinite: bool) -> sympy.Expr:
    """The same, each log Σ t as log of the term t that leads far out, and log of a small rest."""
    far = Jet(ComplexBalls(), acb(_FAR if infinite else 1 / _FAR), acb(1))

    def apart(node: sympy.log) -> sympy.Expr:
        total = node.args[0]
        if not isinstance(total, sympy.Add):
            return node
        values = [(evaluator(term, T)(far).value.real, term) for term in total.args]
        value, lead = max(values, key=lambda one: abs(one[0]).mid())
        if not value > 0:
            return node
        return log_of(lead) + sympy.log(sympy.expand(sympy.Add(*(t / lead for t in total.args))))

    return log.replace(lambda node: isinstance(node, sympy.log), apart)


@lru_cache(_REMEMBERED)
def _blended(side: Side, powers: tuple[Fraction, Fraction], of_logarithm: bool) -> Evaluator:
    log = side.blend(*powers)
    return _of_logarithm(log, 1, side.is_infinite) if of_logarithm else _in_balls(log)


def _of_logarithm(log: sympy.Expr, weight: int, infinite: bool) -> Evaluator:
    """Of X = log T, the weight times X added: what cancels is gone before balls see it."""
    apart = _leading_apart(log, infinite).xreplace({T: sympy.exp(X)})
    return evaluator(sympy.expand(apart, deep=False) + weight * X)


def _in_balls(log: sympy.Expr) -> Evaluator:
    """As `evaluator`; a polynomial of degree 2 as a(T + h)² + c, sharp over a wide ball."""
    polynomial = log.as_poly(T)
    if polynomial is None or not 1 <= polynomial.degree() <= 2 or not log.is_real:
        return evaluator(log, T)
    a, b, c = (polynomial.coeff_monomial(T**k) for k in (2, 1, 0))
    if a:
        return _polynomial(a, b / (2 * a), c - b**2 / (4 * a))
    return _polynomial(a, b, c)


def _polynomial(a: sympy.Expr, b: sympy.Expr, c: sympy.Expr) -> Evaluator:
    """a(T + b)² + c, or bT + c where a is 0, of jets of balls."""
    known: dict[int, tuple[acb, ...]] = {}

    def at(x: Jet) -> Jet:
        if ctx.prec not in known:
            known[ctx.prec] = tuple(constants(one) for one in (a, b, c))
        first, second, third = known[ctx.prec]
        if not a:
            return Jet(x.sort, second * x.value + third, second * x.slope)
        away = x.value + second
        return Jet(x.sort, first * away**2 + third, 2 * first * away * x.slope)

    return at


@lru_cache(_REMEMBERED)
def _in_distance(exponent: sympy.Expr) -> Evaluator:
    return evaluator(exponent, T)


@lru_cache(_REMEMBERED)
def _at_end(expression: sympy.Expr, infinite: bool, density: bool) -> tuple[Evaluator, ...]:
    """The expression in y, what leads at the end set apart, and as it is.

    A density takes dT = dy/y² in at a finite end, where T = 1/y.
    """
    turned = expression if infinite else collected(expression.xreplace({T: 1 / T}))
    if density and not infinite:
        turned -= 2 * sympy.log(T)
    apart = collected(_leading_apart(turned, infinite=True))
    return tuple(evaluator(one, T) for one in dict.fromkeys((apart, turned)))


@lru_cache(_REMEMBERED)
def _goes(side: Side, exponent: sympy.Expr) -> bool:
    for doubling in doublings(0):
        slopes = side.slopes(exponent, arb(2) ** doubling)
        if any(slope.most() < -1 for slope in slopes):
            return True
        if any(slope.least() >= -1 for slope in slopes):
            return False
    raise PrecisionError(
        f"whether e^({exponent}) has a finite integral for {T} → "
        f"{'∞' if side.is_infinite else '0'}: found no proof; write the density as a sum or a "
        "product of exponentials and powers"
    )


def multiplied_out(expression: sympy.Expr) -> sympy.Expr:
    """The terms multiplied out, so that equal ones cancel; what stands in functions is left."""
    return sympy.Add(*(term.expand(deep=False) for term in sympy.Add.make_args(expression)))


def collected(expression: sympy.Expr) -> sympy.Expr:
    """Multiplied out, the multiples of each exponential together: what cancels is gone."""
    flat = sympy.expand(expression)
    heads = flat.atoms(sympy.exp)
    return sympy.collect(flat, sorted(heads, key=str)) if heads else flat


def doublings(first: int) -> Iterator[int]:
    """Exponents of 2 from the first on, in steps that grow, up to a limit."""
    step = 4
    while first < _LAST_DOUBLING:
        yield first
        first, step = first + step // 4, step + max(1, step // 8)


# --- cutting


def sides(first: Kernel, second: Kernel) -> list[Side]:
    """The halves of all pieces on which a density is positive."""
    found: list[Side] = []
    for low, high in pairwise(_all_cuts(first, second)):
        logs = [k.log if k.covers(low, high) else None for k in (first, second)]
        if any(log is not None for log in logs):
            found.extend(_halves(logs, low, high))
    return found


def _all_cuts(*kernels: Kernel) -> list[Cut]:
    cuts = {cut for kernel in kernels for cut in kernel.cuts}
    low, high = min(cuts), max(cuts)
    inside = {c for kernel in kernels for c in corners(kernel.log) if low < c < high}
    return sorted(cuts | inside)


def corners(log: sympy.Expr) -> Iterator[Fraction]:
    """Where the argument of an Abs, or two of a Min or Max, change signs, if that is linear."""
    for node in log.atoms(sympy.Abs, sympy.Min, sympy.Max):
        pairs = [(node.args[0], sympy.Integer(0))]
        if not isinstance(node, sympy.Abs):
            pairs = list(combinations(node.args, 2))
        for one, other in pairs:
            line = _line(one - other)
            if line is not None and line[0]:
                yield -line[1] / line[0]


def _line(expression: sympy.Expr) -> tuple[Fraction, Fraction] | None:
    """(c, d) of cx + d with rational c and d."""
    flat = sympy.expand(expression)
    slope = flat.coeff(X, 1)
    rest = flat - slope * X
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
    extent: Cut = INFINITY
    origin, step = middle, -sign * T
    if math.isfinite(end):
        origin, step = Fraction(end), sign * T
        extent = abs(middle - origin)
    place = sympy.Rational(origin.numerator, origin.denominator) + step
    moved = [log if log is None else log.xreplace({X: place}) for log in logs]
    side = Side((moved[0], moved[1]), extent)
    if side.is_infinite or side.is_regular:
        return side
    # What is singular at the end may show only when it is multiplied out.
    one, other = (log if log is None else collected(log) for log in moved)
    return Side((one, other), extent)


def _settled(log: sympy.Expr, middle: Fraction, low: Cut, high: Cut) -> sympy.Expr:
    """Each Abs, Min and Max of lines by what it is on the piece, which has no corner inside."""
    at = sympy.Rational(middle.numerator, middle.denominator)

    def plain(node: sympy.Expr) -> sympy.Expr:
        if not node.args:
            return node
        node = node.func(*map(plain, node.args))
        if isinstance(node, sympy.Abs) and _line(node.args[0]):
            return node.args[0] if node.args[0].xreplace({X: at}) >= 0 else -node.args[0]
        if isinstance(node, sympy.Min | sympy.Max) and all(
            _line(a - b) for a, b in combinations(node.args, 2)
        ):
            best = max if isinstance(node, sympy.Max) else min
            first = node.args[0]
            return best(node.args, key=lambda one: (one - first).xreplace({X: at}).expand())
        return node

    return plain(log)


# --- integrating


class Integrand(Protocol):
    """A function of two densities: `combine` of the values of its `parts`."""

    @property
    def powers(self) -> tuple[Fraction, Fraction] | None:
        """The a and b of `log_blend`, a log p + b log q."""

    def parts(
        self, log_p: Jet | None, log_q: Jet | None, log_ratio: Jet | None, log_blend: Jet | None
    ) -> list[Jet]:
        """Exponents and logarithms of which it is made; log p is None where p is 0."""

    def combine(self, parts: list[acb]) -> acb:
        """The integrand from the values of the parts."""


@dataclass(frozen=True)
class Stretch:
    """An integrand on one side; `shifts` are the logarithms of what p and q are divided by."""

    side: Side
    integrand: Integrand
    shifts: tuple[arb, arb]

    def at(self, evaluators: Any, z: acb, analytic: bool) -> acb:
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

    def _parts(self, evaluators: Any, x: Jet) -> list[Jet]:
        p, q, ratio, blend = (at if at is None else at(x) for at in evaluators)
        zero = acb(0)
        one, other = (Jet(x.sort, acb(shift), zero) for shift in self.shifts)
        if blend is not None and self.integrand.powers is not None:
            a, b = map(ball, self.integrand.powers)
            blend -= Jet(x.sort, acb(a * self.shifts[0] + b * self.shifts[1]), zero)
        return self.integrand.parts(
            p and p - one, q and q - other, ratio and ratio - one + other, blend
        )

    def plainly(self, low: arb, high: arb, tolerance: arb) -> arb:
        """∫ f(T) dT"""
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        return _integrate(lambda z, a: self.at(evaluators, z, a), low, high, tolerance)

    def by_logarithm(self, low: arb, high: arb, tolerance: arb) -> arb:
        """∫ f(T) dT = ∫ f(e^τ) e^τ dτ, whose factor e^τ is in both densities."""
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=True)
        return _integrate(lambda z, a: self.at(evaluators, z, a), low.log(), high.log(), tolerance)

    def integral(self, envelope: Callable[[arb], arb], tolerance: arb) -> arb:
        """∫ f over the side to about the tolerance; the radius is rigorous.

        `envelope` bounds ∫ |f| over y >= start.
        """
        extent = self.side.extent
        if self.side.is_regular:
            return self.plainly(arb(0), ball(Fraction(extent)), tolerance)
        start, rest = self._cut(envelope, tolerance)
        if not self.side.is_infinite:
            return rest + self.by_logarithm(1 / start, ball(Fraction(extent)), tolerance)
        bend = start.min(arb(_BEND))
        rest += self.plainly(arb(0), bend, tolerance)
        return rest + self.by_logarithm(bend, start, tolerance) if start > bend else rest

    def _cut(self, envelope: Callable[[arb], arb], tolerance: arb) -> tuple[arb, arb]:
        """(Y, [−t, t] for a bound t of what lies beyond), Y = 2^k with t below the tolerance."""
        for start in self._starts():
            tail = envelope(start)
            if tail <= tolerance:
                return start, within(tail)
        raise PrecisionError(
            "an integral: found no bound of its tail that falls fast enough, needed one; "
            "ask for fewer digits, or at another order"
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
            step /= 2
            best = max((best - step, best, best + step), key=self._rough_at)
        return arb(self._rough_at(best)).exp() / 16

    def _rough_at(self, doubling: Fraction) -> float:
        """log of f(T)·T at T = 2^doubling."""
        place = arb(2) ** ball(doubling)
        evaluators = self.side.evaluators_for(self.integrand.powers, of_logarithm=False)
        value = (self.at(evaluators, acb(place), False).real * place).abs_upper()
        return float(value.log()) if value.is_finite() and value > 0 else -math.inf


def _integrate(at: Any, low: arb, high: arb, tolerance: arb) -> arb:
    count = 0

    def counted(z: acb, analytic: bool) -> acb:
        nonlocal count
        count += 1
        return at(z, analytic)

    value = integral(
        counted, low, high, rel_tol=arb(0), abs_tol=tolerance.mid(), eval_limit=_EVALUATIONS
    )
    if count >= _EVALUATIONS:
        raise PrecisionError(
            f"an integral: not resolved with {_EVALUATIONS:,} evaluations; ask for fewer digits, "
            "or give the points where the densities are not smooth as cuts"
        )
    return value.real


def _width(z: acb) -> arb:
    return z.real.rad() + z.imag.rad()
