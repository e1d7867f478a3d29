"""A SymPy expression in x as a value with its derivative, over complex balls or over germs.

One walk for both: `of(expression, x)` applies the rules of differentiation to a Jet, whose two
parts are numbers of either sort. Over complex balls the expression is continued analytically from
the real line, where every logarithm must be of a positive number: what is not, is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from operator import add, mul
from typing import Any

from flint import acb, arb, ctx

from symacct.arithmetic.ball import BALL
from symacct.arithmetic.expression import evaluate
from symacct.core import symbols
from symacct.core.errors import DomainError
from symacct.core.lazy_import import sympy
from symacct.numerics.sums.refine import ball

NAN = acb("nan")

Evaluator = Callable[["Jet"], "Jet"]


@dataclass(slots=True, eq=False)
class Jet:
    """A number and its derivative; `sort` has the functions of the numbers."""

    sort: Any
    value: Any
    slope: Any

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.sort, self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.sort, self.value - other.value, self.slope - other.slope)

    def __neg__(self) -> Jet:
        return Jet(self.sort, -self.value, -self.slope)

    def __mul__(self, other: Jet) -> Jet:
        slope = self.slope * other.value + self.value * other.slope
        return Jet(self.sort, self.value * other.value, slope)

    def whole_power(self, n: int) -> Jet:
        """The power n, of a base of either sign."""
        slope = self.sort.whole_power(self.value, n - 1) * self.slope
        return Jet(self.sort, self.sort.whole_power(self.value, n), self.sort.number(n) * slope)

    def power(self, c: Fraction) -> Jet:
        """The power c, of a positive base."""
        slope = self.sort.number(ball(c)) * self.sort.power(self.value, c - 1) * self.slope
        return Jet(self.sort, self.sort.power(self.value, c), slope)

    def exp(self) -> Jet:
        """e to it."""
        value = self.sort.exp(self.value)
        return Jet(self.sort, value, value * self.slope)

    def log(self) -> Jet:
        """The logarithm of the jet; not finite unless its value is positive."""
        inverse = self.sort.whole_power(self.value, -1)
        return Jet(self.sort, self.sort.log(self.value), inverse * self.slope)

    def larger(self, other: Jet) -> Jet:
        """The larger of both."""
        value, slope = self.sort.larger(self, other)
        return Jet(self.sort, value, slope)


@dataclass(frozen=True)
class ComplexBalls:
    """Complex balls of acb; `analytic` is what flint's integration asks of an integrand."""

    analytic: bool = False

    def number(self, value: int | arb) -> acb:
        return acb(value)

    def constant(self, value: arb) -> Jet:
        """A number whose derivative is 0."""
        return Jet(self, acb(value), acb(0))

    def whole_power(self, z: acb, n: int) -> acb:
        return z**n

    def power(self, z: acb, c: Fraction) -> acb:
        return (acb(ball(c)) * self.log(z)).exp()

    def exp(self, z: acb) -> acb:
        return z.exp()

    def log(self, z: acb) -> acb:
        if z.imag.contains(0) and not z.real > 0:
            return NAN
        return z.log(analytic=self.analytic)

    def larger(self, one: Jet, other: Jet) -> tuple[acb, acb]:
        gap = (one.value - other.value).real
        if gap > 0 or gap < 0:
            winner = one if gap > 0 else other
            return winner.value, winner.slope
        return one.value.real_max(other.value, analytic=self.analytic), NAN

    def leads(self, one: acb, other: acb) -> bool:
        """Is the first the larger near the middle? Either answer is right, one converges."""
        return bool(one.real.mid() >= other.real.mid())


@dataclass(frozen=True)
class JetsOfBalls:
    """Jets over complex balls as the numbers of other jets: these have second derivatives."""

    balls: ComplexBalls = ComplexBalls()

    def number(self, value: int | arb | acb) -> Jet:
        return Jet(self.balls, acb(value), acb(0))

    def constant(self, value: arb) -> Jet:
        """A number whose derivatives are 0."""
        return Jet(self, self.number(value), self.number(0))

    def whole_power(self, z: Jet, n: int) -> Jet:
        return z.whole_power(n)

    def power(self, z: Jet, c: Fraction) -> Jet:
        return z.power(c)

    def exp(self, z: Jet) -> Jet:
        return z.exp()

    def log(self, z: Jet) -> Jet:
        return z.log()

    def larger(self, one: Jet, other: Jet) -> tuple[Jet, Jet]:
        gap = (one.value - other.value).value.real
        winner = one if gap > 0 else other
        return (winner.value, winner.slope) if gap > 0 or gap < 0 else (self.number(NAN),) * 2

    def leads(self, one: Jet, other: Jet) -> bool:
        return self.balls.leads(one.value, other.value)


def evaluator(expression: sympy.Expr, symbol: sympy.Symbol | None = None) -> Evaluator:
    """The function of a Jet that the expression in x states; DomainError for a head not known."""
    symbol = symbols.x if symbol is None else symbol
    if not expression.has(symbol):
        return _constant(expression)
    if expression == symbol:
        return lambda x: x
    if isinstance(expression, sympy.log) and (parts := log_parts(expression.args[0])):
        return _log_of_sum(parts, symbol)
    if isinstance(expression, sympy.Pow):
        return _power(expression, symbol)
    arguments = [evaluator(argument, symbol) for argument in expression.args]
    combine = _combinations().get(expression.func)
    if combine is None:
        raise DomainError(
            f"found {expression.func.__name__} in a density, needed +, *, /, powers, exp, log, "
            "sqrt, cosh, sinh, tanh, Abs, Min and Max of formulas, gamma of constants"
        )
    return lambda x: combine(*(argument(x) for argument in arguments))


def real_value(function: Evaluator, place: arb) -> arb:
    """The function at a real place."""
    found: arb = function(Jet(ComplexBalls(), acb(place), acb(1))).value.real
    return found


def constants(expression: sympy.Expr) -> acb:
    """The value of an expression without symbols."""
    return acb(evaluate(BALL, expression))


def _constant(expression: sympy.Expr) -> Evaluator:
    known: dict[int, Any] = {}

    def at(x: Jet) -> Jet:
        if ctx.prec not in known:
            known[ctx.prec] = evaluate(BALL, expression)
        return Jet(x.sort, x.sort.number(known[ctx.prec]), x.sort.number(0))

    return at


def _power(expression: sympy.Pow, symbol: sympy.Symbol) -> Evaluator:
    base, exponent = expression.args
    if not isinstance(exponent, sympy.Rational):
        raise DomainError(f"found {expression} in a density, needed rational exponents")
    inner = evaluator(base, symbol)
    if isinstance(exponent, sympy.Integer):
        n = int(exponent)
        return lambda x: inner(x).whole_power(n)
    c = Fraction(int(exponent.p), int(exponent.q))
    return lambda x: inner(x).power(c)


@cache
def _combinations() -> dict[Any, Callable[..., Jet]]:
    """What each head of an expression makes of its arguments."""
    return {
        sympy.Add: lambda *jets: reduce(add, jets),
        sympy.Mul: lambda *jets: reduce(mul, jets),
        sympy.exp: lambda jet: jet.exp(),
        sympy.log: lambda jet: jet.log(),
        sympy.Abs: lambda jet: jet.larger(-jet),
        sympy.Max: lambda *jets: reduce(lambda a, b: a.larger(b), jets),
        sympy.Min: lambda *jets: -reduce(lambda a, b: a.larger(b), [-jet for jet in jets]),
    }


# --- logarithms


def log_of(f: sympy.Expr) -> sympy.Expr:
    """log f for f > 0, with the logarithms of products, powers and exponentials taken apart."""
    if isinstance(f, sympy.exp):
        return f.args[0]
    if isinstance(f, sympy.Mul) and f.args[0] is not sympy.S.NegativeOne:
        return sympy.Add(*(log_of(factor) for factor in _positive_factors(f)))
    if isinstance(f, sympy.Pow):
        base, exponent = f.args
        if exponent.is_Integer and exponent % 2 == 0 and not log_parts(base):
            return exponent / 2 * sympy.log(base**2)
        return exponent * log_of(base)
    return sympy.log(f)


def _positive_factors(f: sympy.Mul) -> list[sympy.Expr]:
    """The factors of f, a sign in front given to one that may be negative itself."""
    factors = list(f.args)
    if factors[0].is_negative:
        for i, factor in enumerate(factors[1:], start=1):
            if isinstance(factor, sympy.Add | sympy.Symbol):
                factors[0], factors[i] = -factors[0], -factor
                break
    return factors


def log_parts(f: sympy.Expr) -> list[sympy.Expr]:
    """The logarithms of the terms of a sum of exponentials, each positive; else []."""
    if not isinstance(f, sympy.Add) or not f.has(sympy.exp):
        return []
    parts = []
    for term in f.args:
        rest = [factor for factor in sympy.Mul.make_args(term) if not isinstance(factor, sympy.exp)]
        if not all(factor.is_positive for factor in rest):
            return []
        parts.append(log_of(term))
    return parts


def _log_of_sum(parts: list[sympy.Expr], symbol: sympy.Symbol) -> Evaluator:
    """log Σ e^g = g_k + log(1 + Σ e^{g−g_k}), k the term that leads: nothing winds about 0."""
    plain = [evaluator(part, symbol) for part in parts]
    gaps = {
        (i, k): evaluator(sympy.expand(part - top), symbol)
        for k, top in enumerate(parts)
        for i, part in enumerate(parts)
        if i != k
    }

    def at(x: Jet) -> Jet:
        leader, values = 0, [g(x) for g in plain]
        for i in range(1, len(values)):
            if not x.sort.leads(values[leader].value, values[i].value):
                leader = i
        one = Jet(x.sort, x.sort.number(1), x.sort.number(0))
        others = [gaps[i, leader](x).exp() for i in range(len(plain)) if i != leader]
        return values[leader] + reduce(add, others, one).log()

    return at
