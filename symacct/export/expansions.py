"""Expansions of a curve near a point, with remainders where they are proved; closed-form optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from operator import methodcaller
from typing import Any, TypeAlias, cast

import flint
import sympy
from flint import arb, arb_series

from symacct.export.cards import card
from symacct.export.citation import claim_at
from symacct.export.formula import formula
from symacct.export.latex.display import typeset
from symacct.kernel import limits
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arithmetic import Number, SymbolicArithmetic
from symacct.kernel.arithmetic.ball import BALL, decide, precision
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.conversion import BEST
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import (
    DomainError,
    OrderError,
    PrecisionError,
    SoundnessError,
    SymacctError,
    echo,
)
from symacct.kernel.evaluation import Evaluation, LeafCurve, NodeCurve, OperationCurve
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    Numeric,
    Order,
    expression,
    is_infinite,
    text,
    typed_value,
    without_long_numbers,
    written,
)
from symacct.kernel.exact import (
    order as checked_order,
)
from symacct.kernel.memory import Remembered
from symacct.kernel.node import Mechanism, Node, as_node
from symacct.kernel.parameters import By
from symacct.kernel.sums.binomial_sums import Terms, binomial_sum
from symacct.kernel.symbols import alpha as ALPHA
from symacct.kernel.theorem_registry import Theorem, bounding, goal_of
from symacct.laws.neighbours import Shift, SwappedPair, law_of
from symacct.theory.amplification import triples
from symacct.theory.amplification.pairs import expectation

# --- series and their arithmetic
#
# Truncated series in t → 0+ with SymPy coefficients: an arithmetic in which theorems are expanded.
#
# A number is e^{growth} · (c_v t^v + … + c_{p−1} t^{p−1} + O(t^p)): `growth` is a polynomial in
# 1/t, so that e^{−s/t} can stand beside powers, smaller than all of them. What does not depend on
# the variable stays a SymPy expression, and is computed exactly as in a formula.

#: The variable of a series, which goes to 0 from above.
T = sympy.Dummy("t", positive=True)
#: Balls have this many bits where they show that a coefficient is not 0 at one point.
_TEST_BITS = 256


class Series:
    """A truncated series; `first` is the exponent of its first coefficient, which is not 0.

    `last` is the exponent of the O term, at most the terms of the arithmetic. A series without
    coefficients is O(t^last).
    """

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
        """The first coefficient; TooFewTerms where none is known at this many terms."""
        if not self.coefficients:
            raise TooFewTerms
        return self.coefficients[0]

    # --- sums

    def __add__(self, other: SeriesNumber) -> SeriesNumber:
        """Add two series up to the smaller O; of different growths the larger one is the sum."""
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
        """Multiply the series by a number that does not depend on t, and is not 0."""
        values = [factor * c for c in self.coefficients]
        return Series(self.ctx, self.first, values, self.last, self.growth)

    def __lt__(self, other: SeriesNumber) -> bool:
        """Refuse a comparison: which of two series is the smaller the arithmetic decides."""
        raise no_series("a comparison of two values, as in a convex hull")

    __le__ = __gt__ = __ge__ = __lt__

    # --- products

    def __mul__(self, other: SeriesNumber) -> SeriesNumber:
        """Multiply two series up to the smaller O of both, or a series with a number."""
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
        """Divide by a series, or by a number."""
        if isinstance(other, Series):
            return self * other**-1
        return self.ctx.scale(self, 1 / expression(other))

    def __rtruediv__(self, other: SeriesNumber) -> SeriesNumber:
        return self**-1 * other

    def __pow__(self, exponent: SeriesNumber) -> SeriesNumber:
        """Raise to a power by which t^v stays a whole power of t; NoSeriesError for another.

        The exponent does not depend on t.
        """
        exponent = expression(exponent)
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
        """Compute the coefficients of x, with self = c t^v (1 + x); x_0 = 0."""
        head = self.leading
        tail = [self[k] / head for k in range(self.first + 1, self.last)]
        return [sympy.S.Zero, *tail]

    # --- functions

    def log(self) -> SeriesNumber:
        """Expand growth + log(c) + log(1 + x); NoSeriesError where the first power is not t^0."""
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
        """Expand e^{growth + c} · e^{x}, the terms in 1/t being the growth.

        NoSeriesError where self has a growth of its own.
        """
        if self.growth != 0:
            raise no_series("an exponential of an exponential")
        growth = sympy.Add(*(self[k] * T**k for k in range(min(self.first, 0), 0)))
        values: list[sympy.Expr] = [sympy.S.One]
        for k in range(1, self.last):  # y = e^x has y′ = x′ y
            terms = (i * self[i] * values[k - i] for i in range(1, k + 1))
            values.append(sympy.Add(*terms) / k)
        values = [sympy.exp(self[0]) * c for c in values]
        return Series(self.ctx, 0, values, self.last, growth)


#: A number is a series if it depends on the variable, and an expression if it does not.
SeriesNumber: TypeAlias = Series | sympy.Expr


class TooFewTerms(Exception):  # caught where the number of terms is chosen
    """Everything cancelled at this many terms; more may tell."""


class NoSeriesError(OrderError):
    """A value has no expansion in powers at this point."""


def no_series(what: str) -> NoSeriesError:
    """Make the error that says what has no expansion in powers."""
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
        #: These stand behind coefficients that are written as symbols.
        self.named: dict[sympy.Expr, sympy.Expr] = {}
        if point is sympy.oo:
            self.value = Series(self, -1, [sympy.S.One], terms)
        else:
            self.value = Series(self, 0, [point, sympy.S.One], terms)

    def number(self, value: SeriesNumber) -> SeriesNumber:
        """The number itself, or its series where it has the variable."""
        value = super().number(value)
        if not value.has(self.variable):
            return value
        known = {symbol: symbol for symbol in value.free_symbols}
        return evaluate(self, value, known | {self.variable: self.value})

    def name(self, value: sympy.Expr) -> sympy.Expr:
        """Make a symbol that stands for a long coefficient until the end."""
        symbol = sympy.Dummy("c", real=True)
        self.named[symbol] = value
        return symbol

    def series(self, value: SeriesNumber) -> Series:
        """Return any number of this arithmetic as a series; NoSeriesError for an infinite one."""
        value = value if isinstance(value, Series) else self.number(value)
        if isinstance(value, Series):
            return value
        if value.is_infinite:
            raise no_series("an infinite value")
        return Series(self, 0, [value] if value != 0 else [], self.terms)

    def scale(self, series: Series, factor: SeriesNumber) -> SeriesNumber:
        """Multiply a series by a factor that is no Series yet; exactly 0 if the factor is."""
        factor = self.number(factor)
        if isinstance(factor, Series):
            return series * factor
        return sympy.S.Zero if factor == 0 else series.scaled(factor)

    def principal(self, growth: sympy.Expr) -> SeriesNumber:
        """Return a polynomial in 1/t as a series, or the number 0."""
        if growth == 0:
            return sympy.S.Zero
        poly = sympy.Poly(sympy.expand(growth.subs(T, 1 / T)), T)
        values = [poly.coeff_monomial(T**k) for k in range(poly.degree(), -1, -1)]
        return Series(self, -poly.degree(), values, self.terms)

    # --- functions

    def exp(self, x: SeriesNumber) -> SeriesNumber:
        """e^x of a series or a number."""
        return x.exp() if isinstance(x, Series) else super().exp(x)

    def expm1(self, x: SeriesNumber) -> SeriesNumber:
        """e^x − 1 of a series or a number."""
        return x.exp() - 1 if isinstance(x, Series) else super().expm1(x)

    def log(self, x: SeriesNumber) -> SeriesNumber:
        """log x of a series or a number."""
        return x.log() if isinstance(x, Series) else super().log(x)

    def log1p(self, x: SeriesNumber) -> SeriesNumber:
        """log(1 + x) of a series or a number."""
        return (1 + x).log() if isinstance(x, Series) else super().log1p(x)

    def sqrt(self, x: SeriesNumber) -> SeriesNumber:
        """√x, of a number with |x| replaced by ±x where the sign is known."""
        if isinstance(x, Series):
            return x ** sympy.Rational(1, 2)
        root = super().sqrt(x)
        signs = {size: sign(size.args[0]) for size in root.atoms(sympy.Abs)}
        return root.xreplace({size: s * size.args[0] for size, s in signs.items() if s})

    def power(self, x: SeriesNumber, y: SeriesNumber) -> SeriesNumber:
        """x^y, by e^{y log x} where the exponent is a series."""
        if not isinstance(x, Series) and not isinstance(y, Series):
            return super().power(x, y)
        if isinstance(y, Series):
            return self.exp(y * self.log(x))
        return x**y

    def binomial(self, n: SeriesNumber, k: SeriesNumber) -> SeriesNumber:
        """C(n, k) of numbers; NoSeriesError where one of them is a series."""
        if isinstance(n, Series) or isinstance(k, Series):
            raise no_series("a binomial of the variable")
        return sympy.expand_func(sympy.binomial(n, k))

    def sum(
        self, term: Callable[[int], SeriesNumber], first: int, last: SeriesNumber
    ) -> SeriesNumber:
        """Add term by term; up to a symbolic α while the l-th term is O(t^l), as powers of γ are.

        OrderError where it is not.
        """
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
        """Is it the number 0? A series is not, whatever its terms."""
        return not isinstance(x, Series) and super().is_zero(x)

    def is_infinite(self, x: SeriesNumber) -> bool:
        """Is it the number ∞? A series is not."""
        return not isinstance(x, Series) and super().is_infinite(x)

    # --- comparing

    def minimum(self, *xs: SeriesNumber) -> SeriesNumber:
        """The smallest near the point."""
        return self._best(xs, smaller=True)

    def maximum(self, *xs: SeriesNumber) -> SeriesNumber:
        """The largest near the point."""
        return self._best(xs, smaller=False)

    def _best(self, xs: tuple[SeriesNumber, ...], smaller: bool) -> SeriesNumber:
        """Choose the smallest (largest) near the point; Min or Max where constants do not tell."""
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
        """Is a < b for small t? False where both have one expansion as far as it is asked.

        Raises DomainError where that cannot be told, and NoSeriesError at a kink.
        """
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
        """Is the growth a above b for small t > 0? DomainError where symbols decide it."""
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
    """Write a bound for an error message, at most 60 characters of it."""
    text = f"{x.leading}·t^{x.first} + …" if isinstance(x, Series) else str(x)
    return text if len(text) <= 60 else f"{text[:57]}…"


def is_zero(value: sympy.Expr) -> bool:
    """Is a coefficient 0? One that differs from 0 at a point is not.

    The rest is multiplied out and simplified. A True is then proved, and False where SymPy does not
    see that it is 0.
    """
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
    """Decide the sign −1, 0 or 1, by balls for a constant, else by the symbols' assumptions.

    None stands for a sign that is not decided.
    """
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
    """Decide −1 for <= 0 and 1 for >= 0 at all whole orders α >= 2; None where undecided.

    It uses that min(a, b, …) is at most each of its parts. Of two bounds of which one is never the
    larger, that one is then taken.
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
    """An enclosure of the remainder cannot be had this way; there is then none."""


class Reciprocal:
    """1/x for a Taylor series x that may be 0; only quotients by it are numbers.

    `inverse` is x. Products with numbers and whole powers are reciprocals again; other operations
    raise Unproved or TypeError.
    """

    def __init__(self, inverse: Taylor) -> None:
        self.inverse = inverse

    def __rtruediv__(self, other: Taylor) -> Taylor:
        return other * self.inverse

    def __mul__(self, other: Taylor | Reciprocal) -> Reciprocal:
        """Multiply with a number; a series has no proved remainder here, and raises Unproved."""
        if isinstance(other, arb_series | Reciprocal):
            raise Unproved
        return Reciprocal(self.inverse / other)

    __rmul__ = __mul__

    def __truediv__(self, other: Taylor) -> Reciprocal:
        return Reciprocal(self.inverse * other)

    def __pow__(self, exponent: int) -> Reciprocal:
        return Reciprocal(self.inverse**exponent)


class TaylorArithmetic(PlainGaps):
    """Balls, and Taylor series of balls in x, where the variable is [low, high] + x.

    If `reciprocal`, it is 1/([low, high] + x). Coefficients enclose those at every point between.
    """

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
        """The number as a ball, or its Taylor series where it has the variable."""
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
        """x^y, by e^{y log x} where one of them is a series."""
        if isinstance(x, arb_series) or isinstance(y, arb_series):
            return (y * x.log()).exp()
        return BALL.power(x, y)

    binomial = staticmethod(BALL.binomial)

    def minimum(self, *xs: Taylor) -> Taylor:
        return BALL.minimum(*map(_no_series, xs))

    def maximum(self, *xs: Taylor) -> Taylor:
        return BALL.maximum(*map(_no_series, xs))

    def is_below(self, a: Taylor, b: Taylor) -> bool:
        raise Unproved  # which bound is the smaller all over an interval is not looked into

    def is_zero(self, x: Taylor) -> bool:
        """Is it the ball 0? A series is not."""
        return isinstance(x, arb) and BALL.is_zero(x)

    def is_infinite(self, x: Taylor) -> bool:
        return isinstance(x, arb) and BALL.is_infinite(x)


def _no_series(x: Taylor) -> arb:
    """Return a ball; Unproved for a series."""
    if isinstance(x, arb_series):
        raise Unproved
    ball: arb = x
    return ball


@expectation.register
def _(ctx: TaylorArithmetic, mechanism: Mechanism, gamma: Taylor, alpha: Order) -> Taylor:
    raise Unproved  # E_Q[(P/Q−1)^n m^{α−n}] over an interval of γ has no formula here


@contextmanager
def taylor_precision(bits: int, terms: int) -> Iterator[None]:
    """Compute balls at `bits` bits and Taylor series up to x^{terms−1}, in this thread only."""
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
    """Enclose f^{(power)}(ξ)/power! for all 0 <= ξ <= until, piece by piece.

    `value` computes f in an arithmetic, where the variable is ξ or, if `reciprocal`, 1/ξ. Raises
    Unproved where a piece has no finite enclosure.
    """
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


# --- the expansion of a curve
#
# In one of its variables: the theorem that rdp evaluates, as a series.

#: Two bounds whose integrals have no sign in SymPy are told apart at this order, next to 1.
_NEAR_ONE = 1 + Fraction(1, 10**6)
#: Balls have this many bits there.
_NEAR_BITS = 128


class Expanding(Evaluation):
    """An evaluation in series or Taylor balls that notes which theorem it expands.

    `typical` is an order near the point, by which theorems are looked up where the order is the
    variable; else None. `chosen` has the theorem of each node and order, or those to take.
    """

    def __init__(
        self,
        ctx: SeriesArithmetic | TaylorArithmetic,
        goal: Kind,
        by: By,
        typical: Fraction | None = None,
        chosen: dict[tuple[Node, Order], Theorem] | None = None,
    ) -> None:
        super().__init__(ctx, goal, by)
        self.typical = typical
        self.chosen: dict[tuple[Node, Order], Theorem] = {} if chosen is None else chosen

    def curve(self, node: Node) -> NodeCurve:
        """The curve of a node, a leaf's or an operation's, the same object each time."""
        if node not in self._curves:
            self._curves[node] = (
                ExpandedLeaf(self, node, Remembered())
                if isinstance(node, Mechanism)
                else ExpandedCurve(self, node, Remembered())
            )
        return self._curves[node]

    def default(self) -> Evaluation:
        """This evaluation without a pinned theorem."""
        if self.by is None:
            return self
        return Expanding(self.ctx, self.goal, None, self.typical, self.chosen)


class ExpandedLeaf(LeafCurve):
    """The curve of a mechanism; the values of a user's formula are series, not numbers to check."""

    def compute(self, alpha: Order) -> SeriesNumber:
        """The series of a leaf's ε(α), by its own formula at the order."""
        ctx, node = self.evaluation.ctx, self.node
        if node._is_of_user and alpha != INFINITY:
            return ctx.number(node.fields()["f"].xreplace({ALPHA: expression(alpha)}))
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            return node.at_one(ctx) if alpha == 1 else node.at_infinity(ctx)
        return node._within_orders(ctx, node.curve(ctx))(alpha)


class ExpandedCurve(OperationCurve):
    """The curve of an operation near a point: the bound that is the smallest there."""

    evaluation: Expanding

    def theorems(self, alpha: Order) -> list[Theorem]:
        """The theorem chosen at this order, or those at the typical one where the order is open."""
        chosen = self.evaluation.chosen.get((self.node, alpha))
        if chosen is not None:
            return [chosen]
        typical = self.evaluation.typical
        place = typical if typical is not None and isinstance(alpha, sympy.Expr) else alpha
        return super().theorems(place)

    def compute(self, alpha: Order) -> SeriesNumber:
        """Compute the smallest of the bounds that have a series; those that have none are left out.

        Raises the NoSeriesError of the last theorem where none has one.
        """
        best: tuple[SeriesNumber, Theorem] | None = None
        for theorem in self.theorems(alpha):
            try:
                value = self._value(theorem, alpha)
            except NoSeriesError as error:
                refused = error
                continue
            if best is None or self._is_better(value, best[0], theorem, best[1]):
                best = value, theorem
        if best is None:
            raise refused  # `theorems` never comes back empty
        self.evaluation.chosen[self.node, alpha] = best[1]
        return best[0]

    def _value(self, theorem: Theorem, alpha: Order) -> SeriesNumber:
        """Expand the bound of one theorem; NoSeriesError for one that joins whole orders."""
        if theorem.reads == "itself" and isinstance(alpha, sympy.Expr):
            typical = self.evaluation.typical
            if theorem.name != "WBK19-C10" or typical is None or typical > 2:
                raise no_series(f"{theorem.name}, which joins the values at whole orders")
            return self(2)  # K(0) = 0 and K(1) = ε(2) make ε(α) = ε(2) on all of (1, 2]
        return self.value_by(theorem, alpha)

    def _is_better(
        self, value: SeriesNumber, best: SeriesNumber, theorem: Theorem, known: Theorem
    ) -> bool:
        """Is this bound tighter than the best so far? What vanishes faster is less: none is < 0.

        Raises DomainError where it cannot be told. Next to order 1 balls at one order may decide.
        """
        ctx, upper = self.evaluation.ctx, self.evaluation.goal is Kind.UPPER
        if not ctx.inner and not ctx.is_infinite(value) and not ctx.is_infinite(best):
            series, other = ctx.series(value), ctx.series(best)
            if series.growth == other.growth == 0 and series.first != other.first:
                return bool((series.first > other.first) is upper)
        try:
            return bool(ctx.is_below(value, best) is upper)
        except DomainError:
            typical = self.evaluation.typical
            if typical is None or typical > 2 or self.node.free_symbols:
                raise
        # An integral has no sign in SymPy, but its number has one close by.
        with precision(_NEAR_BITS):
            near = OperationCurve(Evaluation(BALL, self.evaluation.goal), self.node, Remembered())
            values = near.value_by(theorem, _NEAR_ONE), near.value_by(known, _NEAR_ONE)
            return bool(values[0] < values[1]) is upper

    def best(self, alpha: Order) -> Theorem:
        """The theorem that was chosen for this order, which is the tightest near the point."""
        self(alpha)
        return self.evaluation.chosen[self.node, alpha]

    def inferred(self, alpha: Order, throughout: bool = False) -> tuple[Claim, bool]:
        """Infer what is claimed near the point; it is not remembered, as it may vary elsewhere."""
        theorem, at = self.best(alpha), alpha
        if theorem.reads == "itself" and isinstance(alpha, sympy.Expr):
            at = 2  # the only whole order that it reads
        return self._inferred_by(theorem, at)[0], False


@binomial_sum.register
def _(
    ctx: SeriesArithmetic,
    alpha: Order,
    u: SeriesNumber,
    v: SeriesNumber,
    terms: Terms,
    first: int = 2,
) -> SeriesNumber:
    """Add term by term; at a symbolic α where u does not depend on t, by the moments of l."""
    whole = isinstance(alpha, int)
    if whole or isinstance(u, Series) or isinstance(v, Series):

        def term(l: int) -> SeriesNumber:
            weight = ctx.binomial(alpha, l) * u**l * v ** (alpha - l)
            if isinstance(weight, Series) and not weight.coefficients:
                return weight  # beyond the terms kept, whatever its factor is
            return weight * terms(l)

        # Where u = O(t) the l-th term is O(t^l), and what comes after the last power is left out.
        powers = isinstance(u, Series) and u.first >= 1
        return ctx.sum(term, first, min(alpha, ctx.terms) if powers and whole else alpha)
    return _by_moments(ctx, alpha, expression(u), expression(v), terms, first)


def _by_moments(
    ctx: SeriesArithmetic, alpha: Order, u: SeriesNumber, v: SeriesNumber, terms: Terms, first: int
) -> SeriesNumber:
    """Σ_l C(α,l) u^l v^{α−l} p(l) = Σ_i a_i (α)_i u^i (u+v)^{α−i}, where p(l) = Σ_i a_i (l)_i

    NoSeriesError where a coefficient of the terms is no polynomial p in l.
    """
    index = sympy.Symbol("l", integer=True, positive=True)
    series = ctx.series(terms(index))

    def mean(coefficient: sympy.Expr) -> SeriesNumber:
        poly = sympy.Poly(sympy.expand(coefficient), index)
        if poly.is_zero:
            return sympy.S.Zero
        total: SeriesNumber = sympy.S.Zero
        for i in range(poly.degree() + 1):
            # The coefficient of (l)_i is the i-th forward difference at 0 over i!.
            difference = sum(
                (-1) ** (i - j) * sympy.binomial(i, j) * poly.eval(j) for j in range(i + 1)
            )
            weight = sympy.expand_func(sympy.ff(alpha, i)) * u**i * (u + v) ** (alpha - i)
            total += difference / sympy.factorial(i) * weight
        for l in range(first):
            total -= ctx.binomial(alpha, l) * u**l * v ** (alpha - l) * poly.eval(l)
        return sympy.expand(total)

    try:
        values = [mean(c) for c in series.coefficients]
    except sympy.PolynomialError:
        raise no_series(f"a sum up to {alpha} of terms that are no polynomials in l") from None
    return Series(ctx, series.first, values, series.last, series.growth)


@expectation.register
def _(
    ctx: SeriesArithmetic, mechanism: Mechanism, gamma: SeriesNumber, alpha: Order
) -> SeriesNumber:
    """E_Q[m^α] − 1, or E_Q[m log m] where `alpha` is None, with m = 1−γ+γP/Q

    It is expanded in γ or in the noise by χ^k, and in α at 1 and at ∞.
    """
    order = None if alpha is None else ctx.number(alpha)
    if not isinstance(order, Series):
        return _by_chi(ctx, mechanism, ctx.number(gamma), order)
    pair = cast(Shift, law_of(mechanism).worst)
    if order.first == 0:
        return _near_one(ctx, pair, expression(gamma))
    if pair.normal is None:
        return _far_laplace(ctx, 1 / ctx.number(pair.ratio), ctx.number(gamma), order)
    # The last term of the sum, up to a factor 1 + O(α e^{−αΔ²/σ²}).
    rate = mechanism.at_one(ctx)
    return ctx.exp(order * sympy.log(ctx.number(gamma)) + order * (order - 1) * rate)


def _by_chi(
    ctx: SeriesArithmetic, mechanism: Mechanism, gamma: SeriesNumber, order: SeriesNumber
) -> SeriesNumber:
    """Σ_{k>=2} C(α,k) γ^k χ^k, or Σ_{k>=2} (−1)^k γ^k χ^k/(k(k−1)), χ^k = E_Q[(P/Q−1)^k].

    Either γ or P/Q − 1 is O(t), the latter in every moment, so that the k-th term is O(t^k); the
    remainders of the Taylor formula are too, for all moments of P/Q are finite.
    """
    total: SeriesNumber = sympy.S.Zero
    for k in range(2, ctx.terms + 1):
        weight = sympy.Rational((-1) ** k, k * (k - 1)) if order is None else ctx.binomial(order, k)
        total = total + weight * (gamma**k * chi(ctx, mechanism, k))
    return total


def chi(ctx: SeriesArithmetic, mechanism: Mechanism, k: int) -> SeriesNumber:
    """Expand χ^k = Σ_{i=2}^{k} (−1)^{k−i} C(k,i) (e^{(i−1)ε(i)} − 1), k >= 1."""
    direct, curve = mechanism.excess(ctx), mechanism.curve(ctx)
    moment = direct or (lambda i: ctx.expm1((i - 1) * curve(i)))
    total: SeriesNumber = sympy.S.Zero
    for i in range(2, k + 1):
        total = total + (-1) ** (k - i) * sympy.binomial(k, i) * moment(i)
    return total


def _near_one(ctx: SeriesArithmetic, pair: Shift, gamma: sympy.Expr) -> SeriesNumber:
    """Σ_{k>=1} t^k E_Q[m log^k m]/k!, at α = 1 + t: the moments are analytic there."""
    z = sympy.Symbol("z", real=True)

    def mean(k: int) -> SeriesNumber:
        def value(log_ratio: SeriesNumber) -> SeriesNumber:
            m = 1 - gamma + gamma * sympy.exp(log_ratio)
            return m * sympy.log(m) ** k

        return pair.written(value, z=z)

    return _of_means(ctx, mean)


def _of_means(ctx: SeriesArithmetic, mean: Callable[[int], SeriesNumber]) -> Series:
    """Σ_{k>=1} t^k mean(k)/k!, each mean written by a symbol until the end."""
    values = [ctx.name(mean(k)) / sympy.factorial(k) for k in range(1, ctx.terms)]
    return Series(ctx, 1, values, ctx.terms)


@triples.expectation.register
def _(
    ctx: SeriesArithmetic, mechanism: Mechanism, alpha: Order, gamma: SeriesNumber
) -> SeriesNumber:
    """Σ_{k>=1} t^k E_Q[m L^k + (−L)^k; P > Q]/k!, L = log m, m = 1−γ+γP/Q, at α = 1 + t."""
    order = None if alpha is None else ctx.number(alpha)
    if cast(SwappedPair, law_of(mechanism).worst).has_two_outcomes:
        return triples.mean_of_psi(ctx, mechanism, alpha, gamma)
    if not isinstance(order, Series) or order.first != 0:
        raise no_series("an expectation over the outcomes where P > Q")

    def mean(k: int) -> sympy.Expr:
        return triples.above_one_of(
            mechanism, gamma, lambda m: m * sympy.log(m) ** k + (-sympy.log(m)) ** k
        )

    return _of_means(ctx, mean)


def _far_laplace(
    ctx: SeriesArithmetic, s: SeriesNumber, gamma: SeriesNumber, order: Series
) -> SeriesNumber:
    """m^α ( e^{−s}/2 + m e^{−2s}/(4γ) Σ_k (3/2)_k (m e^{−s}/γ)^k / (α+1)_{k+1} ), the largest m.

    Half of Q's mass beyond the second centre is an atom of the largest ratio m = 1−γ+γe^s; with
    y = 1−γ+γe^{s(2z−1)} the part between the centres is ∫ y^α (y−1+γ)^{−3/2} dy √γ e^{−s/2}/4,
    integrated by parts at its upper end. What is left out is smaller by a power e^{−cα}.
    """
    m = 1 - gamma + gamma * sympy.exp(s)
    ratio, total, factor = m * sympy.exp(-s) / gamma, ctx.series(sympy.exp(-s) / 2), sympy.S.One
    below: SeriesNumber = sympy.S.One
    for k in range(ctx.terms):
        below = below * (order + 1 + k)
        total = total + m * sympy.exp(-2 * s) / (4 * gamma) * factor / below
        factor *= (sympy.Rational(3, 2) + k) * ratio
    return ctx.exp(order * sympy.log(m)) * total


#: This many terms beyond those asked for are looked at, until the leading one is found. More take
#: longer before NoSeriesError.
_MORE_TERMS = 8
#: The O of a series that is exactly 0 has this exponent.
_EXACT = 10**9
#: A remainder's coefficient is enclosed by balls of this many bits.
_REMAINDER_BITS = 256
#: The ends of a remainder's coefficient have this many significant digits.
_REMAINDER_DIGITS = 10
#: A remainder's coefficient is enclosed over this many pieces of the interval: the fewer, the wider
#: the enclosure.
_PIECES = 16
#: A coefficient of more operations than these is left as it came: its factors take minutes.
_MOST_OPERATIONS = 250
#: A remainder is tried up to this order α: its series cost α operations.
_LARGEST_ORDER = 400


@dataclass(frozen=True)
class Remainder:
    """ε(α) − (the terms) = c·h^n, with c enclosed for all 0 <= h <= `until`

    h is the distance from the point, or 1/σ at the point σ = ∞; n is `power`.
    """

    coefficient: Enclosure
    until: Fraction
    power: int

    def __str__(self) -> str:
        ends = f"[{self.coefficient.rounded_down(4)}, {self.coefficient.rounded_up(4)}]"
        return f"c·h^{self.power} with c in {ends} for 0 <= h <= {text(self.until)}"


@dataclass(frozen=True)
class Expansion:
    """ε(α) near a point: terms and an O(·), the first term, a remainder where one is proved.

    `remainder` is None where no bound is proved, and the O(·) then bounds nothing by itself.
    """

    variable: sympy.Symbol
    at: sympy.Expr
    alpha: Order
    expression: sympy.Expr
    leading: sympy.Expr
    remainder: Remainder | None
    claim: Claim

    @property
    def terms(self) -> sympy.Expr:
        """The terms of the expression, without its O(·)."""
        return self.expression.removeO()

    def __str__(self) -> str:
        rest = str(self.remainder) if self.remainder else "only O(·), not bounded"
        return f"{written(self.expression)}\n  remainder: {rest}\n  claim: {self.claim}"

    def __repr__(self) -> str:
        return f"Expansion: {self}"

    def rows(self, write: Callable[[object], str] = written) -> list[tuple[str, str]]:
        """List the series, its first term, the remainder and the claim, formulas by `write`."""
        return [
            ("ε(α)", write(self.expression)),
            ("leading", write(self.leading)),
            ("remainder", str(self.remainder or "only O(·): no bound is proved")),
            ("claim", str(self.claim)),
        ]

    def _repr_html_(self) -> str:
        return card(self.rows(typeset))

    def as_dict(self) -> dict[str, Any]:
        """Return the expansion for JSON, formulas as SymPy's text."""
        rest = self.remainder
        return {
            "variable": str(self.variable),
            "at": "inf" if self.at is sympy.oo else written(self.at),
            "alpha": written(self.alpha),
            "expression": written(self.expression),
            "leading": written(self.leading),
            "remainder": rest
            and {
                "coefficient": rest.coefficient.as_dict(),
                "until": text(rest.until),
                "power": rest.power,
            },
            "claim": self.claim.as_dict(),
        }


@question(Node, "expansion")
def expansion(
    m: Node,
    variable: str | sympy.Symbol = "gamma",
    at: Numeric | None = None,
    order: int = 3,
    alpha: Numeric | None = None,
    by: By = None,
    within: Numeric | None = None,
) -> Expansion:
    """Expand ε(α) of `m` in powers of a variable near a point, up to O(·) of the `order`-th.

    `variable` is "alpha", a symbol of `m`, or the name of a parameter ("gamma", "sigma") that has
    one value in `m` and is set free. `at` is the point of the expansion, by default inf for sigma
    and b, 1 for alpha, and 0 for others. `order` is the power in the last term O(·). `alpha` is the
    Rényi order, by default the symbol alpha. `within` is the distance from the point up to which a
    remainder is proved. By default it goes up to the value that `m` has. There is a remainder at a
    whole order with numbers elsewhere. Raises OrderError where no expansion exists, and DomainError
    for a variable that is not there.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> from sympy import symbols
    >>> sigma, gamma = symbols("sigma gamma", positive=True)
    >>> expansion(PoissonSubsample(Gaussian(sigma), gamma)).expression
    alpha*gamma**2*(exp(sigma**(-2)) - 1)/2 + O(gamma**3)
    """
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 64:
        raise DomainError(f"order of the expansion: found {echo(order)}, needed 1 <= order <= 64")
    node = Evaluation(BALL, by=by).theorem_node(as_node(m, "expansion"))
    opened, symbol, former = _with_free_variable(node, variable)
    for part in opened.walk():
        if isinstance(part, Mechanism) and part._is_of_user and not part._has_one_formula:
            raise DomainError(
                "expansion: found a curve made of a Python function, whose derivatives are not "
                "known, needed one that is stated as a SymPy expression in alpha"
            )
    point = _point(symbol, at)
    if symbol != ALPHA and point not in (0, sympy.oo):
        opened.subs({symbol: point})  # DomainError where the parameter cannot be that
    order_asked = _order_of(symbol, alpha)
    inner = point is not sympy.oo and point != 0 and symbol != ALPHA
    if point is sympy.oo and former is not None:
        former = 1 / former
    problem = _Problem(opened, symbol, point, order_asked, by, inner)
    series, chosen, claim = problem.expanded(order)
    until = _until(former if within is None else within, point)
    coefficients, numbers = without_long_numbers(sympy.Tuple(*series.coefficients))
    series.coefficients = list(coefficients)
    formula = _as_expression(series, symbol, point, order)
    leading = _term(series, series.first, symbol, point) if coefficients else sympy.S.Zero
    with sympy.evaluate(not numbers):  # to put e^(10^9999) in takes as long as to work it out
        formula, leading = formula.xreplace(numbers), leading.xreplace(numbers)
    return Expansion(
        variable=symbol,
        at=point,
        alpha=order_asked,
        expression=formula,
        leading=leading,
        remainder=problem.remainder(chosen, until, order, claim),
        claim=claim,
    )


@dataclass(frozen=True)
class _Problem:
    """What is expanded: a node with the variable free in it, near a point, at an order α.

    `inner` says that the variable may lie on both sides of the point.
    """

    m: Node
    variable: sympy.Symbol
    point: sympy.Expr
    alpha: Order
    by: By
    inner: bool

    def expanded(self, order: int) -> tuple[Any, dict[Any, Any], Claim]:
        """Expand to O(t^order) and the leading term; return also the theorems chosen and the claim.

        More terms are computed until the leading one is there: NoSeriesError after `_MORE_TERMS`.
        """
        typical = None if self.variable != ALPHA else Fraction(3 if self.point == 1 else 5, 2)
        for terms in range(order, order + _MORE_TERMS + 1):
            # Some formulas divide by t, or by t²: more terms are carried than are asked for.
            ctx = SeriesArithmetic(self.variable, self.point, terms + 3, self.inner)
            evaluation = Expanding(ctx, goal_of(self.m, self.by), self.by, typical)
            try:
                curve = evaluation.curve(self.m)
                series = curve(self.alpha)
                if not isinstance(series, Series):
                    series = ctx.series(series)
                    if not series.coefficients:
                        series.last = _EXACT
                elif series.growth != 0:
                    raise no_series("a value that grows or falls faster than every power")
                if series.last >= order and (series.coefficients or series.last == _EXACT):
                    return series, evaluation.chosen, curve.claim(self.alpha)
            except TooFewTerms:
                continue
            except SymacctError:
                raise
            except (ValueError, ZeroDivisionError):  # flint's word for a quotient without a series
                raise no_series("a quotient that has no series there") from None
        raise no_series(f"nothing but 0 in the first {order + _MORE_TERMS} powers")

    def remainder(
        self, chosen: dict[Any, Any], until: Fraction | None, order: int, claim: Claim
    ) -> Remainder | None:
        """Enclose the remainder's coefficient where Taylor's formula proves one, else None.

        It needs numbers everywhere, a whole order, a variable that goes to 0 or ∞, and one theorem
        that gives the answer all over 0 <= h <= `until`.
        """
        numbers = isinstance(self.alpha, int) and self.m.free_symbols <= {self.variable}
        if until is None or not numbers or self.alpha > _LARGEST_ORDER or not claim.certified:
            return None
        if self.variable == ALPHA or self.point not in (0, sympy.oo):
            return None
        if self.by is None:
            goal = goal_of(self.m, None)
            operations = (node for node in self.m.walk() if not isinstance(node, Mechanism))
            bounds = (bounding(node, self.alpha, goal, with_partial=False) for node in operations)
            if any(len(theorems) > 1 for theorems in bounds):
                return None  # beyond the point another theorem may give the smaller bound

        def value(ctx: TaylorArithmetic) -> Number:
            evaluation = Expanding(ctx, goal_of(self.m, self.by), self.by, chosen=dict(chosen))
            coefficient = evaluation.curve(self.m)(self.alpha)
            if isinstance(coefficient, Reciprocal):
                raise Unproved
            return coefficient

        try:
            with taylor_precision(_REMAINDER_BITS, order + 1):
                ball = coefficient_over(
                    value, self.variable, until, order, self.point is sympy.oo, _PIECES
                )
        except (Unproved, TypeError, ValueError, ZeroDivisionError, PrecisionError):
            return None
        enclosure = from_ball(ball, claim, _REMAINDER_DIGITS, claim.certified, signed=True)
        return Remainder(enclosure, until, order)


# --- what is asked


def _with_free_variable(m: Node, variable: str | sympy.Symbol) -> tuple[Node, sympy.Symbol, Any]:
    """Free the variable in the node; return also its symbol, and the value that it had, or None.

    A name may be that of a symbol, of the order, or of a parameter that has one value in m:
    DomainError for any other.
    """
    name = variable.name if isinstance(variable, sympy.Symbol) else variable
    if not isinstance(name, str):
        raise DomainError(f"expansion: found {echo(variable)}, needed a symbol or its name")
    if name == ALPHA.name:
        return m, ALPHA, None
    free = [s for s in m.free_symbols if s.name == name]
    if free:
        return m, free[0], None
    values = {
        node.fields()[name]
        for node in m.walk()
        if isinstance(node.fields().get(name), Fraction | sympy.Expr)
    }
    if len(values) != 1:
        fault = "no such parameter" if not values else f"{len(values)} values of it"
        stated = [field for node in m.walk() for field in node.fields().items()]
        numbers = {name for name, value in stated if isinstance(value, Fraction)}
        known = sorted({"alpha", *(s.name for s in m.free_symbols), *numbers})
        raise DomainError(
            f"expansion in {echo(name)}: found {fault} in the expression, needed one of "
            f"{', '.join(known)} with one value",
            remedy="put a SymPy symbol where it is meant",
        )
    symbol = sympy.Symbol(name, positive=True)
    done: dict[Node, Node] = {}
    for node in m.walk():
        fields = {k: done.get(v, v) if isinstance(v, Node) else v for k, v in node.fields().items()}
        if isinstance(fields.get(name), Fraction | sympy.Expr):
            done[node] = type(node)(**{**fields, name: symbol})
        else:
            done[node] = node._rebuild(done, lambda x: x)
    return done[m], symbol, values.pop()


#: Parameters of these names are scales of noise: at their ∞ nothing is told.
_SCALES = {"sigma", "b", "scale"}


def _point(symbol: sympy.Symbol, at: Numeric | None) -> sympy.Expr:
    """Return the point of the expansion: by default ∞ for a scale of noise, 1 for α, else 0.

    DomainError for another point of α than 1 and ∞.
    """
    if at is None:
        if symbol == ALPHA:
            return sympy.S.One
        return sympy.oo if symbol.name in _SCALES else sympy.S.Zero
    if is_infinite(at):
        return sympy.oo
    point = expression(typed_value(at, "expansion, at"))
    if symbol == ALPHA and point != 1:
        raise DomainError(f"expansion in alpha: found the point {at}, needed 1 or inf")
    return point


def _order_of(symbol: sympy.Symbol, alpha: Numeric | None) -> Order:
    """Return the Rényi order of the expansion, which is open if the variable is the order itself.

    DomainError for an order that is given then, LimitError for too large a whole one.
    """
    if symbol == ALPHA:
        if alpha is not None:
            raise DomainError("expansion in alpha: found an order too, needed none")
        return ALPHA
    at = ALPHA if alpha is None else checked_order(alpha)
    if isinstance(at, int):
        limits.check("order", at, "order alpha")
    return at


def _until(value: Numeric | None, point: sympy.Expr) -> Fraction | None:
    """Return the distance, if one is given, up to which a remainder can be proved, else None.

    It can about 0 or ∞, up to a fraction. DomainError for a distance that is not > 0.
    """
    if value is None or (point != 0 and point is not sympy.oo):
        return None
    until = typed_value(value, "expansion, within")
    if not isinstance(until, Fraction):
        return None
    if until <= 0:
        raise DomainError(f"expansion, within: found {echo(value)}, needed a distance > 0")
    return until


# --- what is said


def _as_expression(
    series: Series, symbol: sympy.Symbol, point: sympy.Expr, order: int
) -> sympy.Expr:
    """Write the terms below t^order and O(t^order), or 0 for a series that is exactly 0."""
    if series.last == _EXACT:
        return sympy.S.Zero
    terms = [_term(series, k, symbol, point) for k in range(min(series.first, 0), order)]
    return sympy.Add(*terms) + sympy.Order(_power(symbol, point, order), (symbol, point))


def _power(symbol: sympy.Symbol, point: sympy.Expr, k: int) -> sympy.Expr:
    """Write t^k in the variable: (x − point)^k, or x^{−k} at ∞."""
    return (1 / symbol if point is sympy.oo else symbol - point) ** k


def _term(series: Series, k: int, symbol: sympy.Symbol, point: sympy.Expr) -> sympy.Expr:
    """Write the k-th term as a person would, with the same value."""
    value, power = series[k], _power(symbol, point, k)
    if value.count_ops() > _MOST_OPERATIONS:
        return (value * power).xreplace(series.ctx.named)  # factors would take minutes to find
    value, bases = _polynomial_in_exponentials(sympy.expand_log(sympy.expand(value), force=True))
    value = sympy.factor(sympy.cancel(value))
    if value.has(sympy.log) and not value.free_symbols - set(bases):
        value = sympy.logcombine(value.xreplace(bases), force=True)
    return (value * power).xreplace(bases).xreplace(series.ctx.named)


def _polynomial_in_exponentials(
    value: sympy.Expr,
) -> tuple[sympy.Expr, dict[sympy.Expr, sympy.Expr]]:
    """Write e^{ka}, e^{−a} … as powers of one symbol for e^a, so that factors are found fast.

    Returns the value and what each symbol stands for.
    """
    bases: dict[sympy.Expr, list[sympy.exp]] = {}
    for power in value.atoms(sympy.exp):
        known = next((b for b in bases if (power.args[0] / b).is_Rational), power.args[0])
        bases.setdefault(known, []).append(power)
    back: dict[sympy.Expr, sympy.Expr] = {}
    for base, powers in bases.items():
        ratios = [sympy.Rational(power.args[0] / base) for power in powers]
        step = sympy.gcd_list(ratios)
        symbol = sympy.Dummy(positive=True)
        back[symbol] = sympy.exp(step * base)
        value = value.xreplace(
            {power: symbol ** (r / step) for power, r in zip(powers, ratios, strict=True)}
        )
    return value, back


# --- the best order as a formula
#
# And its ε in closed form, where the curve is a line: ε(α) = ξ + ρα.


#: The improved conversion gives less at any order.
_SMALLER = "the best conversion gives a smaller number"


@dataclass(frozen=True, repr=False)
class Optimum:
    """The (ε, δ) that the best order gives by the classic conversion, as formulas.

    `claim` is that of the curve.
    """

    alpha: sympy.Expr
    epsilon: sympy.Expr
    delta: sympy.Expr
    conversion: str
    claim: Claim

    def __repr__(self) -> str:
        """Write ε and δ, the order, the conversion, and what is less than this."""
        numbers = f"ε = {written(self.epsilon)}, δ = {written(self.delta)}"
        how = f"at order {written(self.alpha)}, {self.conversion} conversion"
        return f"Optimum: {numbers} {how}; {_SMALLER}"

    def rows(self, write: Callable[[object], str] = written) -> list[tuple[str, str]]:
        """List the order, both numbers and the conversion, formulas by `write`."""
        return [
            ("order α", write(self.alpha)),
            ("ε", write(self.epsilon)),
            ("δ", write(self.delta)),
            ("conversion", self.conversion),
        ]

    def _repr_html_(self) -> str:
        below = [("smaller", _SMALLER), ("claim", str(self.claim))]
        return card([*self.rows(typeset), *below])

    def as_dict(self) -> dict[str, Any]:
        """Return the optimum for JSON, formulas as SymPy's text."""
        return {
            "alpha": written(self.alpha),
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
            "conversion": self.conversion,
            "claim": self.claim.as_dict(),
        }


@question(Node, "optimum")
def optimum(
    m: Node,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
    conversion: str = "classic",
) -> Optimum:
    """Find the best order, and the ε for a `delta` or the δ for an `epsilon`, in closed form.

    For ε(α) = ξ + ρα (Gaussian noise, zCDP, and n-fold sums of them) the classic conversion has
    α* = 1 + √(log(1/δ)/ρ), ε = ξ + ρ + 2√(ρ log(1/δ)), and for ε >= ξ + ρ
    α* = (ε−ξ+ρ)/(2ρ), δ = e^{−(ε−ξ−ρ)²/(4ρ)}. With neither given, δ is a symbol. The improved
    and the optimal conversion have no closed form. Raises DomainError where there is none, and
    SoundnessError for a lower bound.

    >>> from symacct import ZCDP
    >>> from sympy import Symbol
    >>> optimum(ZCDP(Symbol("rho", positive=True))).alpha
    1 + sqrt(log(1/delta))/sqrt(rho)
    """
    as_node(m, "optimum")
    if conversion == BEST or named_conversion(conversion).name != "classic":
        raise DomainError(
            f"optimum: found the conversion {echo(conversion)}, whose best order solves an "
            "equation without a closed form; needed classic, or numbers, which epsilon has"
        )
    if delta is not None and epsilon is not None:
        raise DomainError("optimum: found delta and epsilon, needed one of them")
    if m.claim.kind is Kind.LOWER:
        raise SoundnessError("optimum: found a lower bound, needed an exact curve or an upper one")
    claim = m.claim if m.free_symbols else claim_at(m)
    xi, rho = _line(m)
    if epsilon is None:
        return _for_delta(xi, rho, _positive_number(delta, "delta"), claim)
    return _for_epsilon(xi, rho, _positive_number(epsilon, "epsilon"), claim)


def _line(m: Node) -> tuple[sympy.Expr, sympy.Expr]:
    """Find ξ and ρ of a curve that is the line ε(α) = ξ + ρα; DomainError for any other."""
    for node in m.walk():
        if not node._has_one_formula:
            raise DomainError(
                f"optimum: found {type(node).__name__}, needed a curve that is a line ξ + ρα, as "
                "Gaussian noise and zCDP have",
                remedy="ask epsilon for numbers",
            )
    curve = sympy.expand(formula(m))
    rho = curve.diff(ALPHA)
    if rho.has(ALPHA):
        raise DomainError(
            f"optimum: found the curve {echo(curve)}, needed a line ξ + ρα",
            remedy="ask epsilon for numbers",
        )
    return sympy.simplify(curve - rho * ALPHA), sympy.factor(rho)


def _positive_number(value: Numeric | None, name: str) -> sympy.Expr:
    """Return a δ in (0, 1) or an ε >= 0, or the symbol of that name for None; else DomainError."""
    if value is None:
        return sympy.Symbol(name, positive=True)
    number = expression(typed_value(value, name))
    is_no_delta = number == 0 or (number - 1).is_nonnegative
    if number.is_nonnegative is False or (name == "delta" and is_no_delta):
        needed = "0 < delta < 1" if name == "delta" else "epsilon >= 0"
        raise DomainError(f"{name}: found {echo(value)}, needed {needed}")
    return number


def _for_delta(xi: sympy.Expr, rho: sympy.Expr, delta: sympy.Expr, claim: Claim) -> Optimum:
    """Minimize ξ + ρα + log(1/δ)/(α − 1) over α > 1."""
    if rho == 0:  # ε = ξ at every order: the conversion costs nothing as α → ∞
        return Optimum(sympy.oo, xi, delta, "classic", claim)
    cost = sympy.log(1 / delta)
    best = 1 + sympy.sqrt(cost / rho)
    return Optimum(best, xi + rho + 2 * sympy.sqrt(rho * cost), delta, "classic", claim)


def _for_epsilon(xi: sympy.Expr, rho: sympy.Expr, epsilon: sympy.Expr, claim: Claim) -> Optimum:
    """Minimize δ = e^{(α−1)(ξ+ρα−ε)} over α > 1; DomainError where no order gives δ < 1."""
    if rho == 0 or (epsilon - xi - rho).is_negative:
        raise DomainError(
            f"epsilon: found {echo(epsilon)}, needed at least ξ + ρ = {echo(xi + rho)} with ρ > 0 "
            "for an order above 1 that gives δ < 1"
        )
    best = (epsilon - xi + rho) / (2 * rho)
    delta = sympy.exp(-((epsilon - xi - rho) ** 2) / (4 * rho))
    return Optimum(best, epsilon, delta, "classic", claim)
