"""Truncated series in t → 0+ with SymPy coefficients: an arithmetic in which theorems are expanded.

A number is e^{growth} · (c_v t^v + … + c_{p−1} t^{p−1} + O(t^p)): `growth` is a polynomial in 1/t,
so that e^{−s/t} can stand beside powers, smaller than all of them. What does not depend on the
variable stays a SymPy expression, and is computed exactly as in a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import methodcaller
from typing import TypeAlias

import flint
import sympy
from flint import arb, arb_series

from symacct.kernel.arithmetic import SymbolicArithmetic
from symacct.kernel.arithmetic.ball import BALL, decide, precision
from symacct.kernel.arithmetic.context import Number, PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import DomainError, OrderError
from symacct.kernel.exact import Exact, Order, expression, without_long_numbers
from symacct.kernel.node import Mechanism
from symacct.kernel.symbols import alpha as ALPHA
from symacct.theory.amplification.pairs import expectation

T = sympy.Dummy("t", positive=True)
_TEST_BITS = 256  # of balls that show that a coefficient is not 0 at one point


class Series:
    """A truncated series; `first` is the exponent of its first coefficient, which is not 0."""

    __slots__ = ("coefficients", "ctx", "first", "growth", "last")

    def __init__(
        self,
        ctx: SeriesArithmetic,
        first: int,
        coefficients: list[sympy.Expr],
        last: int,
        growth: sympy.Expr = sympy.S.Zero,
    ) -> None:
        self.ctx = ctx
        last = min(last, ctx.terms)
        coefficients = coefficients[: max(0, last - first)]
        while coefficients and is_zero(coefficients[0]):
            coefficients = coefficients[1:]
            first += 1
        self.first = first if coefficients else last
        self.coefficients = coefficients
        self.last = last  # the exponent of the O term
        self.growth = growth

    def __getitem__(self, exponent: int) -> sympy.Expr:
        place = exponent - self.first
        return self.coefficients[place] if 0 <= place < len(self.coefficients) else sympy.S.Zero

    def __iter__(self) -> Iterator[sympy.Expr]:
        """Never: SymPy's functions would read the coefficients without end."""
        raise no_series("a function that has no series here, as an integral over the variable")

    @property
    def leading(self) -> sympy.Expr:
        """The first coefficient; OrderError where none is known at this many terms."""
        if not self.coefficients:
            raise TooFewTerms
        return self.coefficients[0]

    # --- sums

    def __add__(self, other: SeriesNumber) -> SeriesNumber:
        other = self.ctx.series(other)
        if self.growth != other.growth:
            # The smaller one is beyond every power of t.
            return self if self.ctx.is_larger(self.growth, other.growth) else other
        first, last = min(self.first, other.first), min(self.last, other.last)
        total = [self[k] + other[k] for k in range(first, last)]
        return Series(self.ctx, first, total, last, self.growth)

    __radd__ = __add__

    def __neg__(self) -> Series:
        return self.scaled(-1)

    def __sub__(self, other: SeriesNumber) -> SeriesNumber:
        return self + -self.ctx.series(other)

    def __rsub__(self, other: SeriesNumber) -> SeriesNumber:
        return -self + other

    def scaled(self, factor: SeriesNumber) -> Series:
        """The series times a number that does not depend on t."""
        values = [factor * c for c in self.coefficients]
        return Series(self.ctx, self.first, values, self.last, self.growth)

    def __lt__(self, other: SeriesNumber) -> bool:
        """Which of two series is the smaller is asked of the arithmetic, near its point."""
        raise no_series("a comparison of two values, as in a convex hull")

    __le__ = __gt__ = __ge__ = __lt__

    # --- products

    def __mul__(self, other: SeriesNumber) -> SeriesNumber:
        if not isinstance(other, Series):
            return self.ctx.scale(self, other)
        first = self.first + other.first
        last = min(self.last + other.first, other.last + self.first)
        product = [
            sympy.Add(*(a * other[k - i] for i, a in enumerate(self.coefficients, self.first)))
            for k in range(first, min(last, self.ctx.terms))
        ]
        growth = self.growth + other.growth
        return Series(self.ctx, first, product, last, growth)

    __rmul__ = __mul__

    def __truediv__(self, other: SeriesNumber) -> SeriesNumber:
        if isinstance(other, Series):
            return self * other**-1
        return self.ctx.scale(self, 1 / expression(sympy.sympify(other)))

    def __rtruediv__(self, other: SeriesNumber) -> SeriesNumber:
        return self**-1 * other

    def __pow__(self, exponent: SeriesNumber) -> SeriesNumber:
        """Any whole power; any power at all where t^v stays a whole power of t."""
        exponent = expression(sympy.sympify(exponent))
        if exponent == 0:
            return sympy.S.One
        shift = self.first * exponent
        if not isinstance(shift, sympy.Integer):
            raise no_series(f"t^({shift})")
        head, rest = self.leading, self._rest()
        # p = (1+x)^e has (1+x) p′ = e x′ p.
        powers: list[sympy.Expr] = [sympy.S.One]
        for k in range(1, self.last - self.first):
            terms = ((exponent * i - (k - i)) * rest[i] * powers[k - i] for i in range(1, k + 1))
            powers.append(sympy.Add(*terms) / k)
        values = [head**exponent * c for c in powers]
        last = int(shift) + self.last - self.first
        return Series(self.ctx, int(shift), values, last, self.growth * exponent)

    def _rest(self) -> list[sympy.Expr]:
        """The coefficients of x, with self = c t^v (1 + x); x_0 = 0."""
        head = self.leading
        tail = [self[k] / head for k in range(self.first + 1, self.last)]
        return [sympy.S.Zero, *tail]

    # --- functions

    def log(self) -> SeriesNumber:
        """growth + log(c) + log(1 + x); a power of t has a logarithm but no series."""
        head = self.leading
        if self.first != 0:
            raise no_series(f"log(t^{self.first})")
        rest, values = self._rest(), [sympy.log(head)]
        # y = log(1+x) has (1+x) y′ = x′.
        for k in range(1, self.last):
            terms = (i * values[i] * rest[k - i] for i in range(1, k))
            values.append(rest[k] - sympy.Add(*terms) / k)
        return Series(self.ctx, 0, values, self.last) + self.ctx.principal(self.growth)

    def exp(self) -> SeriesNumber:
        """e^{growth + c} · e^{x}"""
        if self.growth != 0:
            raise no_series("an exponential of an exponential")
        growth = sympy.Add(*(self[k] * T**k for k in range(min(self.first, 0), 0)))
        values: list[sympy.Expr] = [sympy.S.One]
        for k in range(1, self.last):  # y = e^x has y′ = x′ y
            terms = (i * self[i] * values[k - i] for i in range(1, k + 1))
            values.append(sympy.Add(*terms) / k)
        values = [sympy.exp(self[0]) * c for c in values]
        return Series(self.ctx, 0, values, self.last, growth)


#: A number that depends on the variable, or an expression that does not.
SeriesNumber: TypeAlias = Series | sympy.Expr


class TooFewTerms(Exception):  # caught where the number of terms is chosen
    """Everything cancelled at this many terms; more may tell."""


class NoSeriesError(OrderError):
    """A value that has no expansion in powers."""


def no_series(what: str) -> NoSeriesError:
    """The error that says what has no expansion in powers."""
    return NoSeriesError(
        f"expansion: found {what}, needed powers of the variable: no expansion exists at this "
        "point",
        remedy="ask for another point or theorem, or ask rdp for the value",
    )


class SeriesArithmetic(SymbolicArithmetic):
    """Formulas in which one symbol is `point` + t (t → 0+), or 1/t where the point is ∞.

    Computes up to O(t^terms). At an `inner` point, where t may have either sign, two bounds that
    meet there have no common expansion; at an edge the one that is smaller for t > 0 counts.
    """

    def __init__(self, variable: sympy.Symbol, point: sympy.Expr, terms: int, inner: bool) -> None:
        super().__init__()
        self.variable = variable
        self.terms = terms
        self.inner = inner
        #: What stands behind a coefficient that is written as a symbol.
        self.named: dict[sympy.Expr, sympy.Expr] = {}
        if point is sympy.oo:
            self.value = Series(self, -1, [sympy.S.One], terms)
        else:
            self.value = Series(self, 0, [point, sympy.S.One], terms)

    def number(self, value: SeriesNumber) -> SeriesNumber:
        value = super().number(value)
        if not value.has(self.variable):
            return value
        known = {symbol: symbol for symbol in value.free_symbols}
        return evaluate(self, value, known | {self.variable: self.value})

    def name(self, value: sympy.Expr) -> sympy.Expr:
        """A symbol in the place of a long coefficient until the end."""
        symbol = sympy.Dummy("c", real=True)
        self.named[symbol] = value
        return symbol

    def series(self, value: SeriesNumber) -> Series:
        """Any number of this arithmetic as a series."""
        if isinstance(value, Fraction):
            value = expression(value)
        value = value if isinstance(value, Series) else self.number(sympy.sympify(value))
        if isinstance(value, Series):
            return value
        if value.is_infinite:
            raise no_series("an infinite value")
        return Series(self, 0, [value] if value != 0 else [], self.terms)

    def scale(self, series: Series, factor: SeriesNumber) -> SeriesNumber:
        """series · factor, for a factor that is no Series yet; exactly 0 if the factor is."""
        if isinstance(factor, Fraction):
            factor = expression(factor)
        factor = self.number(sympy.sympify(factor))
        if isinstance(factor, Series):
            return series * factor
        return sympy.S.Zero if factor == 0 else series.scaled(factor)

    def principal(self, growth: sympy.Expr) -> SeriesNumber:
        """A polynomial in 1/t as a series."""
        if growth == 0:
            return sympy.S.Zero
        poly = sympy.Poly(sympy.expand(growth.subs(T, 1 / T)), T)
        values = [poly.coeff_monomial(T**k) for k in range(poly.degree(), -1, -1)]
        return Series(self, -poly.degree(), values, self.terms)

    # --- functions

    def exp(self, x: SeriesNumber) -> SeriesNumber:
        return x.exp() if isinstance(x, Series) else super().exp(x)

    def expm1(self, x: SeriesNumber) -> SeriesNumber:
        return x.exp() - 1 if isinstance(x, Series) else super().expm1(x)

    def log(self, x: SeriesNumber) -> SeriesNumber:
        return x.log() if isinstance(x, Series) else super().log(x)

    def log1p(self, x: SeriesNumber) -> SeriesNumber:
        return (1 + x).log() if isinstance(x, Series) else super().log1p(x)

    def sqrt(self, x: SeriesNumber) -> SeriesNumber:
        if isinstance(x, Series):
            return x ** sympy.Rational(1, 2)
        root = super().sqrt(x)
        signs = {size: sign(size.args[0]) for size in root.atoms(sympy.Abs)}
        return root.xreplace({size: s * size.args[0] for size, s in signs.items() if s})

    def power(self, x: SeriesNumber, y: SeriesNumber) -> SeriesNumber:
        if not isinstance(x, Series) and not isinstance(y, Series):
            return super().power(x, y)
        if isinstance(y, Series):
            return self.exp(y * self.log(x))
        return x**y

    def binomial(self, n: SeriesNumber, k: SeriesNumber) -> SeriesNumber:
        if isinstance(n, Series) or isinstance(k, Series):
            raise no_series("a binomial of the variable")
        return sympy.expand_func(sympy.binomial(n, k))

    def sum(
        self, term: Callable[[int], SeriesNumber], first: int, last: SeriesNumber
    ) -> SeriesNumber:
        """Σ term by term; up to a symbolic α while the l-th term is O(t^l), as powers of γ are."""
        if isinstance(last, int | sympy.Integer):
            return sum((term(l) for l in range(first, int(last) + 1)), sympy.S.Zero)
        total: SeriesNumber = sympy.S.Zero
        for l in range(first, self.terms + 1):
            value = term(l)
            if not isinstance(value, Series) or value.first < min(l, self.terms):
                raise OrderError(
                    f"expansion: found a sum up to {last} in which {self.variable} does not "
                    "stand in powers that grow, needed a whole order alpha"
                )
            total = total + value
        return total

    def is_zero(self, x: SeriesNumber) -> bool:
        return not isinstance(x, Series) and super().is_zero(x)

    def is_infinite(self, x: SeriesNumber) -> bool:
        return not isinstance(x, Series) and super().is_infinite(x)

    # --- comparing

    def minimum(self, *xs: SeriesNumber) -> SeriesNumber:
        return self._best(xs, smaller=True)

    def maximum(self, *xs: SeriesNumber) -> SeriesNumber:
        return self._best(xs, smaller=False)

    def _best(self, xs: tuple[SeriesNumber, ...], smaller: bool) -> SeriesNumber:
        """The smallest (largest) near the point."""
        best = xs[0]
        for x in xs[1:]:
            if isinstance(x, Series) or isinstance(best, Series):
                best = x if self.is_below(x, best) is smaller else best
                continue
            # Of two constants the smaller one, where balls or assumptions tell.
            side = None if self.is_infinite(x) or self.is_infinite(best) else sign(x - best)
            if side is None:
                best = super().minimum(best, x) if smaller else super().maximum(best, x)
            elif side != 0 and (side < 0) is smaller:
                best = x
        return best

    def is_below(self, a: SeriesNumber, b: SeriesNumber) -> bool:
        """Is a < b for small t? DomainError where that cannot be told, or at a kink."""
        if self.is_infinite(a) or self.is_infinite(b):
            return self.is_infinite(b)
        difference = self.series(a) - self.series(b)
        if not difference.coefficients:
            return False  # the same expansion as far as it is asked
        if self.inner and difference.growth == 0 and difference.first > 0:
            raise no_series("a kink: two bounds that meet there")
        side = sign(difference.leading)
        if side is None:
            side = weak_sign(difference.leading)
        if side is None:
            raise DomainError(
                f"expansion: found two bounds, {shortened(a)} and {shortened(b)} with t the "
                f"distance in {self.variable}, and cannot tell which is smaller",
                remedy="pin a theorem, or put numbers for the other symbols",
            )
        return side < 0

    def is_larger(self, a: sympy.Expr, b: sympy.Expr) -> bool:
        """Is the growth a above b for small t?"""
        poly = sympy.Poly(sympy.expand((a - b).subs(T, 1 / T)), T)
        side = sign(poly.LC())
        if side is None:
            raise DomainError(
                f"expansion: found e^({a}) and e^({b}) with t = 1/{self.variable}, needed to know "
                "which is larger",
                remedy="put numbers for the other symbols",
            )
        return side > 0


def shortened(x: SeriesNumber) -> str:
    """A bound in an error message, at most a line of it."""
    text = f"{x.leading}·t^{x.first} + …" if isinstance(x, Series) else str(x)
    return text if len(text) <= 60 else f"{text[:57]}…"


def is_zero(value: sympy.Expr) -> bool:
    """Is a coefficient 0? What differs from 0 at one point is not, the rest is multiplied out."""
    if value.is_Atom:
        return bool(value == 0)
    place = {s: Fraction(k + 7, k + 5) for k, s in enumerate(sorted(value.free_symbols, key=str))}
    try:
        with precision(_TEST_BITS):
            balls = {symbol: BALL.number(number) for symbol, number in place.items()}
            if evaluate(BALL, value, balls) != 0:
                return False
    except (DomainError, ValueError):  # a head that balls do not know
        pass
    if value.has(sympy.Integral):
        return bool(sympy.expand(value) == 0)  # simplifying would try to solve it
    value, _ = without_long_numbers(value)
    return bool(sympy.expand(value) == 0) or bool(sympy.simplify(value) == 0)


def sign(value: sympy.Expr) -> int | None:
    """−1, 0 or 1, by certified balls for a constant, else by assumptions; None where undecided."""
    if not value.free_symbols:
        if value == 0:
            return 0
        below = decide(lambda x: True if x < 0 else False if x > 0 else None, value)
        return None if below is None else -1 if below else 1
    if value.has(sympy.Min, sympy.Max, sympy.Integral):
        return None  # SymPy would try to put numbers in, and take for ever
    # e^y − 1 > 0 for y > 0 is what decides most coefficients.
    rises: dict[sympy.Expr, sympy.Expr] = {}
    for power in value.atoms(sympy.exp):
        (y,) = power.args
        if y.is_positive or y.is_negative:
            above = rises.setdefault(abs(y), sympy.Dummy(positive=True))
            value = value.xreplace({power: 1 + above if y.is_positive else 1 / (1 + above)})
    for form in (sympy.expand(value), sympy.factor(value)):
        if form.is_positive or form.is_negative:
            return 1 if form.is_positive else -1
    return None


def weak_sign(value: sympy.Expr) -> int | None:
    """−1 for <= 0 and 1 for >= 0, α being a whole order and min(a, b, …) at most each of its parts.

    Of two bounds of which one is never the larger, that one is taken.
    """
    order = sympy.Dummy(nonnegative=True)
    value = sympy.expand(value.xreplace({ALPHA: 2 + order}))
    constant, rest = sympy.factor(value).as_independent(*value.free_symbols, as_Add=False)
    if rest.is_nonnegative and not constant.has(sympy.Min, sympy.Max):
        return sign(constant)
    for smallest in value.atoms(sympy.Min):
        factor = sympy.factor(value.coeff(smallest))
        for part in smallest.args:
            if is_zero(value.xreplace({smallest: part})):
                if factor.is_nonnegative:
                    return -1
                if factor.is_nonpositive:
                    return 1
    return None


#: A ball, or a Taylor series of balls.
Taylor: TypeAlias = Number


class Unproved(Exception):  # never leaves this package: there is then no remainder
    """The enclosure cannot be had this way."""


class Reciprocal:
    """1/x for a Taylor series x that may be 0: only quotients by it and its powers are numbers."""

    def __init__(self, inverse: Taylor) -> None:
        self.inverse = inverse

    def __rtruediv__(self, other: Taylor) -> Taylor:
        return other * self.inverse

    def __mul__(self, other: Taylor | Reciprocal) -> Reciprocal:
        if isinstance(other, arb_series | Reciprocal):
            raise Unproved
        return Reciprocal(self.inverse / other)

    __rmul__ = __mul__

    def __truediv__(self, other: Taylor) -> Reciprocal:
        return Reciprocal(self.inverse * other)

    def __pow__(self, exponent: int) -> Reciprocal:
        return Reciprocal(self.inverse**exponent)


class TaylorArithmetic(PlainGaps):
    """Balls, and Taylor series of balls in x, the variable being [low, high] + x, or its 1/x."""

    certified = True

    def __init__(
        self, variable: sympy.Symbol, low: Fraction, high: Fraction, reciprocal: bool
    ) -> None:
        self.variable = variable
        centre = arb_series([BALL.number(low).union(BALL.number(high)), 1])
        self.value = Reciprocal(centre) if reciprocal else centre

    @property
    def bits(self) -> int:
        return BALL.bits

    def number(self, value: Exact | int | float) -> Taylor:
        if isinstance(value, sympy.Expr) and value.has(self.variable):
            return evaluate(self, value, {self.variable: self.value})
        return BALL.number(value)

    pi = staticmethod(arb.pi)

    exp = staticmethod(methodcaller("exp"))
    log = staticmethod(methodcaller("log"))
    sqrt = staticmethod(methodcaller("sqrt"))

    def expm1(self, x: Taylor) -> Taylor:
        return x.exp() - 1 if isinstance(x, arb_series) else x.expm1()

    def log1p(self, x: Taylor) -> Taylor:
        return (1 + x).log() if isinstance(x, arb_series) else x.log1p()

    def power(self, x: Taylor, y: Taylor) -> Taylor:
        if isinstance(x, arb_series) or isinstance(y, arb_series):
            return (y * x.log()).exp()
        return BALL.power(x, y)

    binomial = staticmethod(BALL.binomial)

    def minimum(self, *xs: Taylor) -> Taylor:
        self._refuse_series(xs)
        return BALL.minimum(*xs)

    def maximum(self, *xs: Taylor) -> Taylor:
        self._refuse_series(xs)
        return BALL.maximum(*xs)

    def _refuse_series(self, xs: tuple[Taylor, ...]) -> None:
        if any(isinstance(x, arb_series) for x in xs):
            raise Unproved

    def is_below(self, a: Taylor, b: Taylor) -> bool:
        raise Unproved  # which bound is the smaller all over an interval is not looked into

    def is_zero(self, x: Taylor) -> bool:
        return isinstance(x, arb) and BALL.is_zero(x)

    def is_infinite(self, x: Taylor) -> bool:
        return isinstance(x, arb) and BALL.is_infinite(x)


@expectation.register
def _(ctx: TaylorArithmetic, mechanism: Mechanism, gamma: Taylor, alpha: Order) -> Taylor:
    raise Unproved  # E_Q[(P/Q−1)^n m^{α−n}] over an interval of γ has no formula here


@contextmanager
def taylor_precision(bits: int, terms: int) -> Iterator[None]:
    """Balls at `bits` bits and Taylor series up to x^{terms−1}, in this thread only."""
    with precision(bits):
        before = flint.ctx.cap
        flint.ctx.cap = terms
        try:
            yield
        finally:
            flint.ctx.cap = before


def coefficient_over(
    value: Callable[[TaylorArithmetic], Taylor],
    variable: sympy.Symbol,
    until: Fraction,
    power: int,
    reciprocal: bool,
    pieces: int,
) -> arb:
    """The hull of f^{(power)}(ξ)/power! for 0 <= ξ <= until, piece by piece."""
    hull: arb | None = None
    for piece in range(pieces):
        low, high = until * Fraction(piece, pieces), until * Fraction(piece + 1, pieces)
        series = value(TaylorArithmetic(variable, low, high, reciprocal))
        ball = series[power] if isinstance(series, arb_series) else arb(0)
        if not ball.is_finite():
            raise Unproved
        hull = ball if hull is None else hull.union(ball)
    assert hull is not None  # noqa: S101  # there is at least one piece
    return hull
