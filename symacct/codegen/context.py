"""Numbers that write down what is done to them, and the arithmetic that is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Protocol, TypeAlias

import sympy
from flint import arb

from symacct.codegen.ir import (
    Compare,
    Difference,
    Expr,
    If,
    Num,
    Op,
    RatioSum,
    TableEntry,
    UnitIntegral,
    Var,
    variables,
)
from symacct.kernel.accountant import FormulaEvaluation
from symacct.kernel.answer import nearest_float
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import SymacctError
from symacct.kernel.exact import INFINITY, exact
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import goal_of
from symacct.theory.amplification import wbk19

# --- numbers, plain or as their logarithm
#
# A `Traced` number holds an expression of its value, or one of its logarithm where the value may be
# huge: e^x, powers, sums of those. Which of the two is decided here, from the signs that are known,
# so a theorem written once for every arithmetic gives code in the log domain by itself.

#: ∞ in float64, as the range of a traced number has it.
INFINITE = math.inf
#: A power of a rational number up to this one is formed exactly. A larger one makes longer numbers
#: in the text, and no result rests on it.
_EXACT_POWER = 64
#: A power up to this one is no reason to take logarithms. The range of float64 rests on it: powers
#: of larger ones overflow sooner.
_PLAIN_POWER = 4
ZERO, ONE = (Num(Fraction(n)) for n in (0, 1))


class UntraceableError(SymacctError):
    """A formula asked a traced number for what only numbers can tell: there is no code for it."""


class Traced:
    """A real number as an expression, plain or of its log; it lies between `low` and `high`.

    The two bounds tell its sign, and decide comparisons. A number held as its log is >= 0.
    """

    __slots__ = ("high", "log", "low", "plain")

    def __init__(
        self,
        plain: Expr | None = None,
        log: Expr | None = None,
        low: float = -INFINITE,
        high: float = INFINITE,
    ) -> None:
        self.plain = plain
        self.log = log
        self.low = max(low, 0.0) if plain is None else low
        self.high = high

    @classmethod
    def of(cls, value: Operand) -> Traced:
        """Make a traced number of an exact rational number or a float, which is ±∞ or NaN."""
        if isinstance(value, Traced):
            return value
        value = value if isinstance(value, float) else Fraction(value)
        size = nearest_float(value)
        return cls(Num(value), low=size, high=size)

    # --- the two forms

    def as_plain(self) -> Expr:
        """Write the number itself as an expression."""
        return self.plain if self.plain is not None else Op("exp", (self._log(),))

    def as_log(self) -> Expr:
        """Write its logarithm as an expression; that of 1 − y is log1p(−y)."""
        if self.log is not None:
            return self.log
        plain = self.as_plain()
        if plain == ZERO:
            return Num(-INFINITE)
        if isinstance(plain, Num) and not math.isfinite(plain.value) and plain.value != -INFINITE:
            return plain
        if plain == ONE:
            return ZERO
        if isinstance(plain, Op) and plain.name == "sub" and plain.args[0] == ONE:
            return Op("log1p", (_negative(plain.args[1]),))
        return Op("log", (plain,))

    def _log(self) -> Expr:
        assert self.log is not None  # noqa: S101  # one of the two forms is there
        return self.log

    @property
    def is_log(self) -> bool:
        """Is the number held as its logarithm?"""
        return self.log is not None

    @property
    def exact(self) -> Fraction | None:
        """The rational number that it is; None where it is an expression, ±∞ or NaN."""
        if isinstance(self.plain, Num) and isinstance(self.plain.value, Fraction):
            return self.plain.value
        return None

    def is_number(self, value: float) -> bool:
        """Is it known to be exactly this number?"""
        if self.plain is not None:
            return isinstance(self.plain, Num) and self.plain.value == value
        return value == 0 and self.log == Num(-INFINITE)

    # --- arithmetic

    def __neg__(self) -> Traced:
        return Traced(_negative(self.as_plain()), low=-self.high, high=-self.low)

    def __add__(self, other: Operand) -> Traced:
        """A sum of numbers >= 0 is held as a logarithm if one of them is. ∞ absorbs the other."""
        other = Traced.of(other)
        if self.exact is not None and other.exact is not None:
            return Traced.of(self.exact + other.exact)
        if self.is_number(0):
            return other
        if other.is_number(0):
            return self
        if self.is_number(INFINITE) or other.is_number(INFINITE):
            return Traced.of(INFINITE)
        low, high = self.low + other.low, self.high + other.high
        if self.is_log and other.is_number(-1):
            # e^x − 1 without cancellation at 0.
            return Traced(Op("expm1", (self._log(),)), low=low, high=high)
        if (self.is_log or other.is_log) and min(self.low, other.low) >= 0:
            return Traced(log=Op("log_add", (self.as_log(), other.as_log())), low=low, high=high)
        right = other.plain
        if isinstance(right, Op) and right.name == "neg":
            grown = right.args[0]
            if self.is_number(1) and isinstance(grown, Op) and grown.name == "exp":
                return Traced(Op("neg", (Op("expm1", grown.args),)), low=low, high=high)
            return Traced(Op("sub", (self.as_plain(), right.args[0])), low=low, high=high)
        if other.exact is not None and other.exact < 0:
            return Traced(Op("sub", (self.as_plain(), Num(-other.exact))), low=low, high=high)
        return Traced(Op("add", (self.as_plain(), other.as_plain())), low=low, high=high)

    def __radd__(self, other: Operand) -> Traced:
        return Traced.of(other) + self

    def __sub__(self, other: Operand) -> Traced:
        return self + -Traced.of(other)

    def __rsub__(self, other: Operand) -> Traced:
        return Traced.of(other) + -self

    def __mul__(self, other: Operand) -> Traced:
        """A product of numbers >= 0 is held as a logarithm if one of them is; 0·∞ is 0."""
        other = Traced.of(other)
        if self.exact is not None and other.exact is not None:
            return Traced.of(self.exact * other.exact)
        for factor, rest in ((self, other), (other, self)):
            if factor.is_number(0):
                return Traced.of(0)
            if factor.is_number(1):
                return rest
            if factor.is_number(-1):
                return -rest
            if factor.is_number(INFINITE) and rest.low > 0:
                return factor
        positive = min(self.low, other.low) >= 0
        low = -INFINITE
        if positive:  # 0·∞ is 0 here
            low = self.low * other.low if self.low and other.low else 0.0
        if (self.is_log or other.is_log) and positive:
            return Traced(log=_sum_of_logs(self.as_log(), other.as_log()), low=low)
        return Traced(Op("mul", (self.as_plain(), other.as_plain())), low=low)

    def __rmul__(self, other: Operand) -> Traced:
        return Traced.of(other) * self

    def __truediv__(self, other: Operand) -> Traced:
        """A quotient of numbers >= 0 is held as a logarithm if one of them is.

        Where the divisor may be 0, it is the function `ratio`, which divides as IEEE 754 does.
        """
        other = Traced.of(other)
        if other.exact == 1 or (self.is_number(INFINITE) and other.low > 0):
            return self
        if self.exact is not None and other.exact:
            return Traced.of(self.exact / other.exact)
        positive = min(self.low, other.low) >= 0
        low = 0.0 if positive else -INFINITE
        if (self.is_log or other.is_log) and positive:
            difference = Op("sub", (self.as_log(), other.as_log()))
            return Traced(log=difference)
        # Where the divisor may be 0, ±∞ and NaN come as IEEE 754 has them, in every language.
        name = "div" if other.low > 0 else "ratio"
        return Traced(Op(name, (self.as_plain(), other.as_plain())), low=low)

    def __rtruediv__(self, other: Operand) -> Traced:
        return Traced.of(other) / self

    def __pow__(self, other: Operand) -> Traced:
        """A power is formed by `_whole_power`, or held as y log x; UntraceableError for x < 0."""
        exponent = Traced.of(other)
        power = exponent.exact
        if power is not None and power.denominator == 1:
            return self._whole_power(int(power))
        if self.is_number(1):
            return self
        if self.low < 0:
            raise UntraceableError("a power of a number that may be negative")
        return Traced(log=_times(exponent.as_plain(), self.as_log()))

    def __rpow__(self, other: Operand) -> Traced:
        return Traced.of(other) ** self

    def _whole_power(self, n: int) -> Traced:
        """Form x^n: exactly of a rational for small n, by log x of an x >= 0, else as it stands."""
        if n == 0:
            return Traced.of(1)
        if n == 1:
            return self
        if self.exact is not None and abs(n) <= _EXACT_POWER and (self.exact or n > 0):
            return Traced.of(self.exact**n)
        if n < 0:
            return 1 / self._whole_power(-n)
        if self.is_log or (n > _PLAIN_POWER and self.low >= 0):
            return Traced(log=_times(Num(Fraction(n)), self.as_log()), low=self.low**n)
        low = 0.0 if n % 2 == 0 else -INFINITE
        low = self.low**n if self.low >= 0 else low
        return Traced(Op("power", (self.as_plain(), Num(Fraction(n)))), low=low)

    def __floor__(self) -> Traced:
        """Write ⌊x⌋, as a number where both ends of x show it."""
        low, high = (math.floor(x) if math.isfinite(x) else x for x in (self.low, self.high))
        if low == high:
            return Traced.of(int(low))
        return Traced(Op("floor", (self.as_plain(),)), low=low, high=high)

    def __floordiv__(self, other: Operand) -> Traced:
        return math.floor(self / other)

    # --- comparisons that bounds decide

    def __lt__(self, other: Operand) -> bool:
        other = Traced.of(other)
        return _decided(self.high < other.low, self.low >= other.high)

    def __ge__(self, other: Operand) -> bool:
        return not self < other

    def __gt__(self, other: Operand) -> bool:
        return Traced.of(other) < self

    def __le__(self, other: Operand) -> bool:
        return not Traced.of(other) < self

    def __bool__(self) -> bool:
        raise UntraceableError("whether a number is 0")

    __hash__ = None  # type: ignore[assignment]  # no key of a table: `remember` is not for these


#: These may stand beside a traced number.
Operand: TypeAlias = Traced | Fraction | int | float


def choose(sign: str, left: Traced, right: Traced, then: Traced, other: Traced) -> Traced:
    """Write the choice of `then` where left < right (or another sign), and of `other` elsewhere.

    A NaN, which stands for no answer, has no part in the sign of the result.
    """
    condition = Compare(sign, left.as_plain(), right.as_plain())
    low = min((x.low for x in (then, other) if x.low == x.low), default=0.0)  # NaN has no sign
    if (then.is_log or other.is_log) and low >= 0:
        return Traced(log=If(condition, then.as_log(), other.as_log()), low=low)
    return Traced(If(condition, then.as_plain(), other.as_plain()), low=low)


def lesser(xs: list[Traced], name: str = "lesser") -> Traced:
    """Write the smallest of the numbers, or the largest for the name "greater".

    ∞, or −∞ for the largest, is left out; where one is −∞ (∞) so is the result.
    """
    neutral = INFINITE if name == "lesser" else -INFINITE
    if any(x.is_number(-neutral) for x in xs):
        return Traced.of(-neutral)
    xs = [x for x in xs if not x.is_number(neutral)] or [Traced.of(neutral)]
    result = xs[0]
    for x in xs[1:]:
        low = min(result.low, x.low) if name == "lesser" else max(result.low, x.low)
        if (result.is_log or x.is_log) and min(result.low, x.low) >= 0:
            result = Traced(log=Op(name, (result.as_log(), x.as_log())), low=low)
        else:
            result = Traced(Op(name, (result.as_plain(), x.as_plain())), low=low)
    return result


def logged(log: Expr, low: float = 0.0) -> Traced:
    """Make the number with this logarithm, which is at least `low`."""
    return Traced(log=log, low=low)


def apply(name: str, *xs: Traced, low: float = -INFINITE) -> Traced:
    """Apply a function of the runtime, whose value is at least `low`."""
    return Traced(Op(name, tuple(x.as_plain() for x in xs)), low=low)


def _decided(yes: bool, no: bool) -> bool:
    """Return `yes` where the bounds decide a comparison; UntraceableError where they do not."""
    if yes or no:
        return yes
    raise UntraceableError("which of two numbers is the larger")


def _negative(e: Expr) -> Expr:
    """Write −e: a number, a negation and a difference are turned over, all else gets a sign."""
    if isinstance(e, Num):
        return Num(-e.value)
    if isinstance(e, Op) and e.name == "neg":
        return e.args[0]
    if isinstance(e, Op) and e.name == "sub":
        return Op("sub", (e.args[1], e.args[0]))
    return Op("neg", (e,))


def _sum_of_logs(a: Expr, b: Expr) -> Expr:
    """Write a + b of two logarithms, −∞ where one is and without a 0."""
    if Num(-INFINITE) in (a, b):
        return Num(-INFINITE)
    return b if a == ZERO else a if b == ZERO else Op("add", (a, b))


def _times(factor: Expr, log: Expr) -> Expr:
    return log if log == ZERO or factor == ONE else Op("mul", (factor, log))


# --- the arithmetic
#
# What a theorem computes with it is an expression of code.

#: C(n, k) is written out as a product up to this k. Only the text rests on it, and the last digits.
_SMALL_BINOMIAL = 3
#: A Gauss–Legendre rule has this many nodes: its error on a piece is below 1e-16 of the value. The
#: digits of integrals rest on it: the code has no proof, and is measured.
_NODES = 16
#: What goes into a table is computed at this many bits, three times those that float64 keeps. The
#: digits of tables rest on it.
TABLE_BITS = 160
#: A table of differences goes at most up to this order: each is an entry of the text. Larger ones
#: are refused.
_LONGEST_TABLE = 10_000
#: A sum over a grid has at most this many terms, for code with more of them is of no use. More are
#: refused.
MOST_TERMS = 200_000
#: Errors of a sum over a grid in float64 are to be this many nats below its value: e^−50 is 2e-22.
#: The digits of such sums rest on it: the code has no proof, and is measured.
_FLOAT_NATS = 50


class CodeCurve(Protocol):
    """The curve that a theorem reads: asked at an order it gives a call of its function."""

    node: Node

    def __call__(self, alpha: Operand) -> Traced: ...

    def excesses(self) -> Callable[[Operand], Traced]:
        """Return l ↦ e^{(l−1)ε(l)} − 1."""

    def function_name(self) -> str:
        """Name its function in the code."""


class CodeArithmetic:
    """Numbers that are expressions (see `Traced`), for targets in float64.

    `arguments` are the parameters left open, with their names in the code, each > 0. `rates` are
    the expressions known to lie between 0 and 1. `max_order` ends the tables that some theorems
    need; beyond it these have no answer. Nothing is certified: the code is measured instead.
    """

    certified = False
    rounds = True
    bits = 53

    def __init__(
        self, arguments: Mapping[sympy.Symbol, str], rates: set[sympy.Expr], max_order: int
    ) -> None:
        tiny = math.ulp(0.0)
        self.arguments = {s: Traced(Var(name), low=tiny) for s, name in arguments.items()}
        self.rates = rates
        self.max_order = max_order
        self.tables: dict[str, tuple[Expr, ...]] = {}
        self._depth = 0

    # --- the protocol of an arithmetic

    def number(self, value: Operand | sympy.Expr) -> Traced:
        """Trace a number: a rational is a literal, a formula an expression, a rate one below 1."""
        if isinstance(value, Traced):
            return value
        if isinstance(value, int | Fraction):
            return Traced.of(value)
        if value == INFINITY:
            return Traced.of(INFINITY)
        value = exact(value)
        if isinstance(value, Fraction):
            return Traced.of(value)
        result: Traced = evaluate(self, value, self.arguments)
        if value in self.rates:
            return Traced(result.as_plain(), low=max(result.low, 0.0), high=1.0)
        return result

    def pi(self) -> Traced:
        return Traced(Op("pi", ()), low=3.0, high=4.0)

    def exp(self, x: Operand) -> Traced:
        x = Traced.of(x)
        return logged(x.as_plain(), low=1.0 if x.low >= 0 else 0.0)

    def expm1(self, x: Operand) -> Traced:
        """Write e^x − 1, of an x >= 0 as a logarithm, so that it may be of any size."""
        x = Traced.of(x)
        if x.low >= 0:
            return logged(Num(-INFINITY) if x.is_number(0) else Op("log_expm1", (x.as_plain(),)))
        return apply("expm1", x, low=-1.0)

    def log(self, x: Operand) -> Traced:
        x = Traced.of(x)
        return Traced(x.as_log(), low=0.0 if x.low >= 1 else -INFINITY)

    def log1p(self, x: Operand) -> Traced:
        """Write log(1 + x), from log x where that is what is known."""
        x = Traced.of(x)
        if x.is_log:
            return Traced(Op("log1p_exp", (x.as_log(),)), low=0.0)
        return apply("log1p", x, low=0.0 if x.low >= 0 else -INFINITY)

    def exp_gap(self, x: Operand) -> Traced:
        return logged(Op("log_exp_gap", (Traced.of(x).as_plain(),)))

    def power_gap(self, gamma: Operand, x: Operand, lam: Operand) -> Traced:
        parts = (Traced.of(part).as_plain() for part in (gamma, x, lam))
        return logged(Op("log_power_gap", tuple(parts)))

    def entropy_gap(self, gamma: Operand, x: Operand) -> Traced:
        return logged(Op("log_entropy_gap", (Traced.of(gamma).as_plain(), Traced.of(x).as_plain())))

    def sqrt(self, x: Operand) -> Traced:
        """Write √x, as half of log x where that is what is known."""
        x = Traced.of(x)
        if x.is_log:
            return logged(Op("mul", (Num(Fraction(1, 2)), x.as_log())))
        return apply("sqrt", x, low=0.0)

    def power(self, x: Operand, y: Operand) -> Traced:
        return Traced.of(x) ** y

    def binomial(self, n: Operand, k: Operand) -> Traced:
        """C(n, k), as a product for a whole k up to 3, else as the exponential of its logarithm."""
        n, k = Traced.of(n), Traced.of(k)
        if k.exact is None or k.exact > _SMALL_BINOMIAL:
            return logged(Op("log_binomial", (n.as_plain(), k.as_plain())))
        product = Traced.of(1)
        for i in range(int(k.exact)):
            product = product * (n - i)
        result = product / math.factorial(int(k.exact))
        return Traced(result.as_plain(), low=max(result.low, 0.0))

    def sum(self, term: Callable[[Traced], Operand], first: Operand, last: Operand) -> Traced:
        return self.weighted_sum(term, first, last, None)

    def minimum(self, *xs: Operand) -> Traced:
        return lesser([Traced.of(x) for x in xs])

    def maximum(self, *xs: Operand) -> Traced:
        return lesser([Traced.of(x) for x in xs], "greater")

    def is_zero(self, x: Operand) -> bool:
        return Traced.of(x).is_number(0)

    def is_infinite(self, x: Operand) -> bool:
        return Traced.of(x).is_number(INFINITY)

    # --- what code has beside it

    @contextmanager
    def index(self, low: float = 0.0) -> Iterator[tuple[Var, Traced]]:
        """Give a variable for the index of a sum, which is at least `low`.

        It is named by how deep it stands, so that equal sums are equal expressions.
        """
        self._depth += 1
        try:
            variable = Var(f"i_{self._depth}")
            yield variable, Traced(variable, low=low)
        finally:
            self._depth -= 1

    def weighted_sum(
        self,
        term: Callable[[Traced], Operand],
        first: Operand,
        last: Operand,
        ratio: Callable[[Traced], Traced] | None,
    ) -> Traced:
        """Write Σ_{i=first}^{last} w_i term(i), w_first = 1, w_i = ratio(i) w_{i−1}.

        Without a ratio every w_i is 1. UntraceableError for terms that may be negative.
        """
        first, last = Traced.of(first), Traced.of(last)
        with self.index(first.low) as (name, i):
            value = Traced.of(term(i))
            step = None if ratio is None else ratio(i).as_plain()
        if value.low < 0:
            raise UntraceableError("the sum of terms that may be negative")
        return logged(RatioSum(name, first.as_plain(), last.as_plain(), step, value.as_log()))

    def table(self, entries: list[Traced]) -> Callable[[Traced], Traced]:
        """Keep a table of constants, and return the function that reads its entry at an index.

        Indices count from 0. A table of the same entries is kept once.
        """
        values = tuple(entry.as_plain() for entry in entries)
        names = {entries: name for name, entries in self.tables.items()}
        name = names.get(values) or f"table_{len(self.tables) + 1}"
        self.tables[name] = values
        low = min(entry.low for entry in entries)
        return lambda i: Traced(TableEntry(name, i.as_plain()), low=low)

    def threshold(self, value: Traced, upwards: bool) -> Traced:
        """Return the edge of a domain such that no order on its far side passes for a near one.

        A rational edge is rounded up where orders from it on are beyond (`upwards`), and down where
        it is the last one within: both tests are then exact for orders in float64. An edge that the
        code computes is lowered by 2⁻⁵⁰ of itself where it is the last one within.
        """
        if value.exact is None:
            return value if upwards else value * Fraction(2**50 - 1, 2**50)
        nearest = float(value.exact)
        if upwards and Fraction(nearest) < value.exact:
            nearest = math.nextafter(nearest, INFINITY)
        if not upwards and Fraction(nearest) > value.exact:
            nearest = math.nextafter(nearest, 0.0)
        return Traced.of(Fraction(nearest))

    def grid_nats(self) -> Traced:
        """Return how many nats below a sum over a grid its errors must be."""
        return Traced.of(_FLOAT_NATS)

    def long_sum(self, term: Callable[[Traced], Traced], last: Traced) -> Traced:
        """Write Σ term(i) for 0 <= i <= last; NaN where open parameters make that too long."""
        total = self.sum(term, 0, last)
        if variables(last.as_plain()) <= {"alpha"}:
            return total
        return choose("<=", last, Traced.of(MOST_TERMS), total, Traced.of(math.nan))

    def integral(self, value: Callable[[Traced], Traced], pieces: Traced) -> Traced:
        """Write ∫_0^1 value(z) dz by a Gauss–Legendre rule on each of `pieces` equal pieces.

        The function has to be >= 0, and smooth on each piece.
        """
        nodes, weights = (self.table(column) for column in _legendre())

        def piece(k: Traced) -> Traced:
            return self.weighted_sum(
                lambda i: weights(i) * value((k + nodes(i)) / pieces), 0, _NODES - 1, None
            )

        return self.weighted_sum(piece, 0, pieces - 1, None) / pieces

    def differences(self, eps: CodeCurve, reach: int) -> Callable[[Traced], Traced]:
        """Return l ↦ B(ε,l), read from a table at even l up to `reach` times max_order.

        float64 cannot form them, so balls do. UntraceableError for open parameters, and for a table
        that is too long.
        """
        if eps.node.free_symbols:
            raise UntraceableError(
                "the forward differences of Theorem 27, which float64 cannot form",
                remedy=("put numbers in their place, pin a theorem, or take the target mpmath"),
            )
        last = reach * self.max_order
        if last > _LONGEST_TABLE:
            raise UntraceableError(
                f"a table of differences up to order {last:,}, needed at most {_LONGEST_TABLE:,}",
                remedy="take a lower max_order, or pin a theorem",
            )
        orders = range(2, last + 2, 2)
        with precision(TABLE_BITS):
            curve = FormulaEvaluation(BALL, goal_of(eps.node, None)).curve(eps.node)
            balls = wbk19.differences(BALL, curve, orders)
            logs = [Traced.of(middle(balls(l).log())) for l in orders]
        entry = self.table(logs)
        return lambda l: logged(entry(l / 2 - 1).as_plain())


class DigitsArithmetic(CodeArithmetic):
    """The arithmetic of code for mpmath, whose precision is known only when the code runs.

    Edges, integrals and differences are computed there, at that precision.
    """

    def threshold(self, value: Traced, upwards: bool) -> Traced:
        """The number as it is: code in mpmath compares at its own precision."""
        return value

    def grid_nats(self) -> Traced:
        """Write the nats that the precision of the moment asks of a grid."""
        return Traced(Op("log_precision", ()), low=1.0)

    def integral(self, value: Callable[[Traced], Traced], pieces: Traced) -> Traced:
        """Write the integral over [0, 1] by the runtime's quadrature on pieces."""
        with self.index() as (name, z):
            return logged(UnitIntegral(name, pieces.as_plain(), value(z).as_log()))

    def differences(self, eps: CodeCurve, reach: int) -> Callable[[Traced], Traced]:
        """l ↦ log B(l) by the runtime, from the curve's function."""
        name = eps.function_name()
        return lambda l: logged(Difference(name, l.as_plain()))


def middle(ball: arb) -> Fraction | float:
    """Return the midpoint of a narrow ball, exactly; ∞ for a ball that is not finite."""
    return rational(ball) if ball.is_finite() else INFINITY


def _legendre() -> tuple[list[Traced], list[Traced]]:
    """Compute the nodes and weights of the Gauss–Legendre rule on [0, 1], in increasing index."""
    nodes, weights = [], []
    with precision(TABLE_BITS):
        for k in range(_NODES):
            node, weight = arb.legendre_p_root(_NODES, k, weight=True)
            nodes.append(Traced.of(middle((1 + node) / 2)))
            weights.append(Traced.of(middle(weight / 2)))
    return nodes, weights
