"""The halves of the pieces of the line on which two densities are smooth, and their tails.

The line is cut where a density starts, ends or has a corner. Each piece is taken from its middle
towards its two ends, in the distance T from a finite end or towards an infinite one, so that what
happens at an end is what happens for T → 0 or T → ∞: there a bound e^{g} of the integrand with
dg/d(log y) <= −1 − s for y >= Y (y = T, or 1/T) gives ∫_Y^∞ e^g dy <= Y e^{g(Y)}/s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

from flint import acb, arb

from symacct.core import deadline, symbols
from symacct.core.errors import PrecisionError
from symacct.core.exact import INFINITY
from symacct.core.forking import cached_property
from symacct.core.lazy_import import sympy
from symacct.numerics.densities.exponents import (
    REMEMBERED,
    at_end,
    collected,
    in_balls,
    in_distance,
    leading_exponent,
    multiplied_out,
    over_logarithm,
)
from symacct.numerics.densities.germs import Germ, Germs
from symacct.numerics.densities.jets import ComplexBalls, Evaluator, Jet, real_value
from symacct.numerics.sums.refine import ball, up_to

Cut = Fraction | float
_LAST_DOUBLING = 2**24  # 2^_LAST_DOUBLING is the farthest place that is looked at
_LEAST_GROWTH = Fraction(1, 16)


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
    """One half of a piece, x = origin ± T; `logs` are the two densities' exponents, or None."""

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
        return tuple(
            log if log is None else in_balls(leading_exponent(log) if self.is_infinite else log)
            for log in self.exponents
        )

    @cached_property
    def evaluators_of_logarithm(self) -> tuple[Evaluator | None, ...]:
        """The evaluators for the densities of log T, what is small at the end set apart."""
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
        """a log p + b log q, up to a constant; a density that is 0 does not count."""
        return _blend(self, a, b)

    def slopes(self, exponent: sympy.Expr, start: arb) -> list[Germ]:
        """y d/dy of e^exponent dT's exponent as a density in y >= start, two ways."""
        y = Germs(start).variable()
        return [evaluate(y).slope for evaluate in at_end(exponent, self.is_infinite, density=True)]

    def converges(self, exponent: sympy.Expr) -> bool:
        """Is ∫ e^exponent dT finite at the end? PrecisionError if neither is proved."""
        return _converges(self, exponent)

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
        return real_value(in_distance(exponent), distance)

    def at_end(self, expression: sympy.Expr) -> Evaluator:
        """The expression in T as a function of y."""
        return at_end(expression, self.is_infinite, density=False)[0]

    def growth(self, expression: sympy.Expr, start: arb) -> tuple[Fraction, arb]:
        """(k, h) with |d expression/d(log y)| <= h y^k for all y >= start, k > 0."""
        slope = self.at_end(expression)(Germs(start).variable()).slope
        size = abs(slope.low).max(abs(slope.high))
        power = max(slope.power, _LEAST_GROWTH)
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
    for doubling in doublings(0):
        slopes = side.slopes(exponent, arb(2) ** doubling)
        if any(slope.most() < -1 for slope in slopes):
            return True
        if any(slope.least() >= -1 for slope in slopes):
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
            return node.args[0] if node.args[0].xreplace({symbols.x: at}) >= 0 else -node.args[0]
        if isinstance(node, sympy.Min | sympy.Max) and all(
            _line(a - b) for a, b in combinations(node.args, 2)
        ):
            best = max if isinstance(node, sympy.Max) else min
            first = node.args[0]
            return best(node.args, key=lambda one: (one - first).xreplace({symbols.x: at}).expand())
        return node

    return plain(log)
