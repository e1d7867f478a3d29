"""A SymPy expression in x is evaluated over balls, with derivatives, and past a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, reduce
from operator import add, mul
from typing import Any

from flint import acb, arb, ctx

from symacct.kernel import symbols
from symacct.kernel.arithmetic.ball import BALL, ball
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import sympy

# --- values and derivatives
#
# A SymPy expression in x as a value with its derivative, over complex balls or over germs.
#
# One walk for both: `of(expression, x)` applies the rules of differentiation to a Jet, whose two
# parts are numbers of either sort. Over complex balls the expression is continued analytically from
# the real line, where every logarithm must be of a positive number: what is not, is not finite.

#: A complex ball that stands for no known value.
NAN = acb("nan")

#: The function of a jet that an expression states.
Evaluator = Callable[["Jet"], "Jet"]


@dataclass(slots=True, eq=False)
class Jet:
    """A jet is a number and its derivative; `sort` has the functions of the numbers."""

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
        """The power n, any whole number, of a base of either sign."""
        slope = self.sort.whole_power(self.value, n - 1) * self.slope
        return Jet(self.sort, self.sort.whole_power(self.value, n), self.sort.number(n) * slope)

    def power(self, c: Fraction) -> Jet:
        """The power c, of a positive base; not finite where that is not proved."""
        slope = self.sort.number(ball(c)) * self.sort.power(self.value, c - 1) * self.slope
        return Jet(self.sort, self.sort.power(self.value, c), slope)

    def exp(self) -> Jet:
        """e to the power of the jet."""
        value = self.sort.exp(self.value)
        return Jet(self.sort, value, value * self.slope)

    def log(self) -> Jet:
        """The logarithm of the jet; not finite unless its value is positive."""
        inverse = self.sort.whole_power(self.value, -1)
        return Jet(self.sort, self.sort.log(self.value), inverse * self.slope)

    def larger(self, other: Jet) -> Jet:
        """The larger of both jets; its slope is not finite where they may cross."""
        value, slope = self.sort.larger(self, other)
        return Jet(self.sort, value, slope)


@dataclass(frozen=True)
class ComplexBalls:
    """Complex balls are acb; with `analytic` what may not be analytic on the ball is not finite."""

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
        """log z; NaN where the ball meets the branch cut, from 0 to −∞."""
        if z.imag.contains(0) and not z.real > 0:
            return NAN
        return z.log(analytic=self.analytic)

    def larger(self, first: Jet, second: Jet) -> tuple[acb, acb]:
        """The value and the slope of the one with the larger real part; an unknown slope is NaN."""
        gap = (first.value - second.value).real
        if gap > 0 or gap < 0:
            winner = first if gap > 0 else second
            return winner.value, winner.slope
        return first.value.real_max(second.value, analytic=self.analytic), NAN

    def leads(self, first: acb, second: acb) -> bool:
        """Is the first the larger near the middle? Either answer is right, one converges."""
        return bool(first.real.mid() >= second.real.mid())


@dataclass(frozen=True)
class JetsOfBalls:
    """Jets over complex balls may be the numbers of other jets, which have second derivatives."""

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

    def larger(self, first: Jet, second: Jet) -> tuple[Jet, Jet]:
        """The value and the slope of the larger jet, NaN where balls do not show which it is."""
        gap = (first.value - second.value).value.real
        winner = first if gap > 0 else second
        return (winner.value, winner.slope) if gap > 0 or gap < 0 else (self.number(NAN),) * 2

    def leads(self, first: Jet, second: Jet) -> bool:
        return self.balls.leads(first.value, second.value)


def evaluator(expression: sympy.Expr, symbol: sympy.Symbol | None = None) -> Evaluator:
    """The function of a jet that the expression in `symbol`, x by default, states.

    DomainError for functions that no density has.
    """
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
    """The real part of the function's value at a real place, or over a ball of places."""
    value: arb = function(Jet(ComplexBalls(), acb(place), acb(1))).value.real
    return value


def constants(expression: sympy.Expr) -> acb:
    """The value of an expression without symbols."""
    return acb(evaluate(BALL, expression))


def _constant(expression: sympy.Expr) -> Evaluator:
    """The constant function of an expression without the symbol, its value kept by precision."""
    known: dict[int, Any] = {}

    def at(x: Jet) -> Jet:
        if ctx.prec not in known:
            known[ctx.prec] = evaluate(BALL, expression)
        return Jet(x.sort, x.sort.number(known[ctx.prec]), x.sort.number(0))

    return at


def _power(expression: sympy.Pow, symbol: sympy.Symbol) -> Evaluator:
    """The function of a power with a rational exponent; DomainError for another exponent."""
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
    """The function by which each SymPy operation forms its jet of those of its arguments."""
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
    """log f of f > 0, taken apart into those of its factors, powers and exponentials."""
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
    """The factors of f > 0, with a negative number's sign given to a sum or the symbol.

    Each factor is then taken to be positive.
    """
    factors = list(f.args)
    if factors[0].is_negative:
        for i, factor in enumerate(factors[1:], start=1):
            if isinstance(factor, sympy.Add | sympy.Symbol):
                factors[0], factors[i] = -factors[0], -factor
                break
    return factors


def log_parts(f: sympy.Expr) -> list[sympy.Expr]:
    """The logarithms of the terms of a sum of exponentials, each proved positive; else []."""
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
    """log Σ e^g as g_k + log(1 + Σ e^{g−g_k}), g_k the leading term at the middle of the ball.

    So the argument of the logarithm does not wind about 0.
    """
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
        unit = Jet(x.sort, x.sort.number(1), x.sort.number(0))
        others = [gaps[i, leader](x).exp() for i in range(len(plain)) if i != leader]
        return values[leader] + reduce(add, others, unit).log()

    return at


# --- germs at infinity
#
# What an expression does past a point: for all y >= Y it lies in [low, high]·y^power.

#: ∞, the upper end of a bound that is not known.
_INFINITE = arb("inf")
_ZERO = arb(0)
#: The power of y that an exponential is bounded by: a germ of e^g is y^±8 times an interval, where
#: g grows or falls. Higher powers hold only farther out. Each is a proved bound.
_EXPONENTIAL_POWER = 8


# Proved in docs/proofs/sampling.md, Lemma germs.
@dataclass(frozen=True)
class Germ:
    """A germ is numbers between low·y^power and high·y^power for all y >= start.

    The ends may be infinite.
    """

    start: arb
    power: Fraction
    low: arb
    high: arb

    def _scaled(self, power: Fraction) -> tuple[arb, arb]:
        """The ends for a `power` of y no lower than its own: y^{own − power} lies in (0, t].

        t is its value at the start.
        """
        if power == self.power:
            return self.low, self.high
        t = self.start ** ball(self.power - power)
        return _times(self.low, t).min(_ZERO), _times(self.high, t).max(_ZERO)

    def __add__(self, other: Germ) -> Germ:
        """The sum, bounded by intervals times the larger of both powers of y."""
        power = max(self.power, other.power)
        if self._is_zero() or other._is_zero():
            return other if self._is_zero() else self
        (a, b), (c, d) = self._scaled(power), other._scaled(power)
        return Germ(self.start, power, _sum(a, c, -_INFINITE), _sum(b, d, _INFINITE))

    def __neg__(self) -> Germ:
        return Germ(self.start, self.power, -self.high, -self.low)

    def __sub__(self, other: Germ) -> Germ:
        return self + -other

    def __mul__(self, other: Germ) -> Germ:
        """The product: powers add up, and the intervals' ends are multiplied."""
        ends = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = ends[0], ends[0]
        for end in ends[1:]:
            low, high = low.min(end), high.max(end)
        return Germ(self.start, self.power + other.power, low, high)

    def _is_zero(self) -> bool:
        return bool(self.low == 0) and bool(self.high == 0)

    def inverse(self) -> Germ:
        """1 over it; unbounded where it may be 0."""
        if self.low > 0 or self.high < 0:
            return Germ(self.start, -self.power, _reciprocal(self.high), _reciprocal(self.low))
        return Germ(self.start, -self.power, -_INFINITE, _INFINITE)

    def infimum(self) -> arb:
        """A lower bound for all y >= start."""
        return -(-self).supremum()

    def supremum(self) -> arb:
        """An upper bound for all y >= start; where the end's sign is not known, that of either."""
        if self.power == 0:
            return self.high
        at_start = _times(self.high, self.start ** ball(self.power))
        if self.high <= 0:
            return at_start if self.power > 0 else _ZERO
        return _INFINITE if self.power > 0 else at_start.max(_ZERO)


@dataclass(frozen=True)
class Germs:
    """Germs at `start` have these functions; a derivative is with respect to log y."""

    start: arb

    def number(self, value: int | arb) -> Germ:
        end = arb(value)
        return Germ(self.start, Fraction(0), end, end)

    def variable(self) -> Jet:
        """y itself."""
        y = Germ(self.start, Fraction(1), arb(1), arb(1))
        return Jet(self, y, y)

    def whole_power(self, f: Germ, n: int) -> Germ:
        """Bound the power n of a germ, of either sign."""
        if n < 0:
            return self.whole_power(f.inverse(), -n)
        if n == 0:
            return self.number(1)
        if f.low >= 0:
            return Germ(self.start, f.power * n, f.low**n, f.high**n)
        if n % 2 == 0:
            square = f * f
            square = Germ(self.start, square.power, square.low.max(_ZERO), square.high)
            return self.whole_power(square, n // 2)
        return f * self.whole_power(f, n - 1)

    def power(self, f: Germ, c: Fraction) -> Germ:
        """f^c from the ends of f raised to c; both are unknown for an f that may be negative."""
        if c < 0:
            return self.power(f.inverse(), -c)
        if not f.low >= 0:
            return Germ(self.start, f.power * c, -_INFINITE, _INFINITE)
        return Germ(self.start, f.power * c, f.low ** ball(c), f.high ** ball(c))

    def exp(self, f: Germ) -> Germ:
        """A germ of e^f: by powers of y where f falls or grows, else from e^inf f to e^sup f."""
        if f.power > 0 and f.low > 0:
            return self._growing(f)
        low, high = f.infimum().exp(), f.supremum().exp()
        if f.power > 0 and f.high < 0:
            # y^m e^{c y^p} falls once m <= −cp y^p.
            fall = -f.high * ball(f.power) * self.start ** ball(f.power)
            if fall >= _EXPONENTIAL_POWER:
                power = Fraction(-_EXPONENTIAL_POWER)
                return Germ(self.start, power, _ZERO, high * self.start**_EXPONENTIAL_POWER)
        return Germ(self.start, Fraction(0), low, high)

    def _growing(self, f: Germ) -> Germ:
        """A germ below e^f of a growing f > 0, by e^f >= f^n/n!; without an upper end."""
        n = max(1, int(_EXPONENTIAL_POWER / f.power))
        return Germ(self.start, f.power * n, f.low**n / arb(n + 1).gamma(), _INFINITE)

    def log(self, f: Germ) -> Germ:
        """log f from log c + p log y, as log y >= log(start) >= 0; an end is ∞ where unknown."""
        low = f.low.log() if f.low > 0 else -_INFINITE
        high = f.high.log() if f.high.is_finite() and f.high > 0 else _INFINITE
        rise = ball(f.power) * self.start.log()
        if f.power > 0:
            low, high = low + rise, _INFINITE
        elif f.power < 0:
            low, high = -_INFINITE, high + rise
        return Germ(self.start, Fraction(0), low, high)

    def larger(self, first: Jet, second: Jet) -> tuple[Germ, Germ]:
        """The value and the slope of the larger of two jets; hulls of both where it is open."""
        gap = first.value - second.value
        if gap.low >= 0 or gap.high <= 0:
            winner = first if gap.low >= 0 else second
            return winner.value, winner.slope
        value = _hull(first.value, second.value)
        return value, _hull(first.slope, second.slope)

    def leads(self, first: Germ, second: Germ) -> bool:
        """Is the first the larger from here on?"""
        return bool((first - second).low >= 0)


def _hull(first: Germ, second: Germ) -> Germ:
    """A germ that holds what either germ holds."""
    power = max(first.power, second.power)
    (a, b), (c, d) = first._scaled(power), second._scaled(power)
    return Germ(first.start, power, a.min(c), b.max(d))


def _times(a: arb, b: arb) -> arb:
    """The product, with 0·∞ = 0."""
    return _ZERO if a == 0 or b == 0 else a * b


def _sum(a: arb, b: arb, unknown: arb) -> arb:
    """The sum of two lower or two upper ends; the trivial bound where it is ∞ − ∞."""
    total = a + b
    return unknown if total.is_nan() else total


def _reciprocal(x: arb) -> arb:
    """1/x of an end that is not 0; 0 for ±∞."""
    return _ZERO if not x.is_finite() else 1 / x


# --- exponents
#
# The exponents of densities in the distance T from an end, as functions of balls and of germs.

#: So many exponents are remembered, of which each order of a pair has a few; it costs memory, and
#: saves time.
REMEMBERED = 4096
#: The T, or 1/T at a finite end, at which the largest term of a sum is taken for the leading one;
#: a wrong one costs sharpness, and no bound.
_FAR_PLACE = arb(2) ** 10


def multiplied_out(expression: sympy.Expr) -> sympy.Expr:
    """The terms multiplied out, so that equal ones cancel; what stands in functions is left."""
    return sympy.Add(*(term.expand(deep=False) for term in sympy.Add.make_args(expression)))


def collected(expression: sympy.Expr) -> sympy.Expr:
    """The expression multiplied out, with the multiples of each exponential together.

    So equal terms cancel.
    """
    flat = sympy.expand(expression)
    heads = flat.atoms(sympy.exp)
    return sympy.collect(flat, sorted(heads, key=str)) if heads else flat


def _leading_apart(log: sympy.Expr, infinite: bool) -> sympy.Expr:
    """The exponent with each log Σ t as log t of the term that leads at the end, and a rest.

    A sum whose leading term is not positive there is left as it is.
    """
    far = Jet(ComplexBalls(), acb(_FAR_PLACE if infinite else 1 / _FAR_PLACE), acb(1))

    def apart(node: sympy.log) -> sympy.Expr:
        total = node.args[0]
        if not isinstance(total, sympy.Add):
            return node
        values = [(evaluator(term, symbols.t)(far).value.real, term) for term in total.args]
        value, lead = max(values, key=lambda pair: abs(pair[0]).mid())
        if not value > 0:
            return node
        return log_of(lead) + sympy.log(sympy.expand(sympy.Add(*(t / lead for t in total.args))))

    return log.replace(lambda node: isinstance(node, sympy.log), apart)


def leading_exponent(log: sympy.Expr) -> sympy.Expr:
    """The exponent with the leading terms of logarithms of exponentials added up, valid at all T.

    So they may cancel.
    """
    sums = log.atoms(sympy.log)
    led = {log: _leading_apart(log, infinite=True) for log in sums if log_parts(log.args[0])}
    return multiplied_out(log.xreplace(led)) if led else log


def over_logarithm(log: sympy.Expr, weight: int, infinite: bool) -> Evaluator:
    """The exponent + weight·X as a function of X = log T, added up before balls see it.

    `infinite` says at which end terms lead.
    """
    apart = _leading_apart(log, infinite).xreplace({symbols.t: sympy.exp(symbols.x)})
    return evaluator(sympy.expand(apart, deep=False) + weight * symbols.x)


def in_balls(log: sympy.Expr) -> Evaluator:
    """The function of T; of a polynomial of degree 2 as a(T + h)² + c, sharp over a wide ball."""
    polynomial = log.as_poly(symbols.t)
    if polynomial is None or not 1 <= polynomial.degree() <= 2 or not log.is_real:
        return evaluator(log, symbols.t)
    a, b, c = (polynomial.coeff_monomial(symbols.t**k) for k in (2, 1, 0))
    if a:
        return _polynomial(a, b / (2 * a), c - b**2 / (4 * a))
    return _polynomial(a, b, c)


def _polynomial(a: sympy.Expr, b: sympy.Expr, c: sympy.Expr) -> Evaluator:
    """The function a(T + b)² + c, or bT + c where a is 0, of jets of balls."""
    known: dict[int, tuple[acb, ...]] = {}

    def at(x: Jet) -> Jet:
        if ctx.prec not in known:
            known[ctx.prec] = tuple(constants(coefficient) for coefficient in (a, b, c))
        zero = x.sort.number(0)
        first, second, third = (Jet(x.sort, x.sort.number(c), zero) for c in known[ctx.prec])
        if not a:
            return second * x + third
        return first * (x + second).whole_power(2) + third

    return at


@lru_cache(REMEMBERED)
def in_distance(exponent: sympy.Expr) -> Evaluator:
    """The exponent as a function of the distance T, remembered."""
    return evaluator(exponent, symbols.t)


@lru_cache(REMEMBERED)
def at_end(expression: sympy.Expr, infinite: bool, density: bool) -> tuple[Evaluator, ...]:
    """The expression in T as functions of y: with what leads at the end set apart, and as it is.

    They are one function where both forms are alike. y is T, or 1/T at a finite end, where a
    `density` takes in dT = dy/y².
    """
    turned = expression if infinite else collected(expression.xreplace({symbols.t: 1 / symbols.t}))
    if density and not infinite:
        turned -= 2 * sympy.log(symbols.t)
    apart = collected(_leading_apart(turned, infinite=True))
    return tuple(evaluator(formula, symbols.t) for formula in dict.fromkeys((apart, turned)))
