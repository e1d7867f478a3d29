"""Numbers that write down what is done to them, plainly or as their logarithm.

A `Traced` number holds an expression of its value, or one of its logarithm where the value may be
huge: e^x, powers, sums of those. Which of the two is decided here, from the signs that are known,
so a theorem written once for every arithmetic gives code in the log domain by itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from symacct.codegen.ir import Compare, Expr, If, Num, Op
from symacct.kernel.answer import nearest_float
from symacct.kernel.errors import SymacctError

INFINITE = math.inf
_EXACT_POWER = 64  # a power of a rational up to this one is formed exactly
_PLAIN_POWER = 4  # a power up to this one is no reason to take logarithms
ZERO, ONE = (Num(Fraction(n)) for n in (0, 1))


class UntraceableError(SymacctError):
    """A formula asked of a traced number what only a number can tell."""


class Traced:
    """A real number as an expression, plain or of its log; `low` and `high` tell its sign."""

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
        """An exact rational number or ±∞."""
        if isinstance(value, Traced):
            return value
        value = value if isinstance(value, float) else Fraction(value)
        size = nearest_float(value)
        return cls(Num(value), low=size, high=size)

    # --- the two forms

    def as_plain(self) -> Expr:
        """The expression of the number itself."""
        return self.plain if self.plain is not None else Op("exp", (self._log(),))

    def as_log(self) -> Expr:
        """The expression of its logarithm; log x of 1 − y becomes log1p(−y)."""
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
        """Is it held as its logarithm?"""
        return self.log is not None

    @property
    def exact(self) -> Fraction | None:
        """The rational number that it is, where it is known."""
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
        other = Traced.of(other)
        if self.exact is not None and other.exact is not None:
            return Traced.of(self.exact * other.exact)
        for one, rest in ((self, other), (other, self)):
            if one.is_number(0):
                return Traced.of(0)
            if one.is_number(1):
                return rest
            if one.is_number(-1):
                return -rest
            if one.is_number(INFINITE) and rest.low > 0:
                return one
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


#: What may stand beside a traced number.
Operand: TypeAlias = Traced | Fraction | int | float


def choose(sign: str, left: Traced, right: Traced, then: Traced, other: Traced) -> Traced:
    """`then` where left < right (or another sign), else `other`."""
    condition = Compare(sign, left.as_plain(), right.as_plain())
    low = min((x.low for x in (then, other) if x.low == x.low), default=0.0)  # NaN has no sign
    if (then.is_log or other.is_log) and low >= 0:
        return Traced(log=If(condition, then.as_log(), other.as_log()), low=low)
    return Traced(If(condition, then.as_plain(), other.as_plain()), low=low)


def lesser(xs: list[Traced], name: str = "lesser") -> Traced:
    """The smallest of the numbers, or the largest for the name "greater"."""
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
    """The number with this logarithm."""
    return Traced(log=log, low=low)


def apply(name: str, *xs: Traced, low: float = -INFINITE) -> Traced:
    """A function of the runtime."""
    return Traced(Op(name, tuple(x.as_plain() for x in xs)), low=low)


def _decided(yes: bool, no: bool) -> bool:
    if yes or no:
        return yes
    raise UntraceableError("which of two numbers is the larger")


def _negative(e: Expr) -> Expr:
    if isinstance(e, Num):
        return Num(-e.value)
    if isinstance(e, Op) and e.name == "neg":
        return e.args[0]
    if isinstance(e, Op) and e.name == "sub":
        return Op("sub", (e.args[1], e.args[0]))
    return Op("neg", (e,))


def _sum_of_logs(a: Expr, b: Expr) -> Expr:
    if Num(-INFINITE) in (a, b):
        return Num(-INFINITE)
    return b if a == ZERO else a if b == ZERO else Op("add", (a, b))


def _times(factor: Expr, log: Expr) -> Expr:
    return log if log == ZERO or factor == ONE else Op("mul", (factor, log))
