"""Certified balls: python-flint's arb at flint's current precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import methodcaller

import flint
from flint import arb

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.errors import LimitError, PrecisionError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric, exact, sympy
from symacct.kernel.memory import new_lock

# flint's precision belongs to the process, so one certified evaluation runs at a time.
_flint = new_lock(flint.ctx.default)
_MOST_BITS = 2**31  # beyond it a number would not fit into memory


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Balls at `bits` bits within the block, in this thread only."""
    deadline.check()
    if bits > _MOST_BITS:
        raise PrecisionError(f"found a precision of {echo(bits)} bits, needed at most {_MOST_BITS}")
    with _flint:
        before, flint.ctx.prec = flint.ctx.prec, bits
        try:
            yield
        finally:
            flint.ctx.prec = before


def ends_of(x: arb) -> tuple[arb, arb]:
    """The lower and the upper end of a ball, each exact."""
    return x.lower(), x.upper()


def floor(x: arb) -> int:
    """The largest whole number that no number in a ball is below."""
    return _whole(x.lower().floor())


def ceiling(x: arb) -> int:
    """The smallest whole number that no number in a ball is above."""
    return _whole(x.upper().ceil())


def _whole(x: arb) -> int:
    mantissa, exponent = x.mid().man_exp()
    return int(mantissa) << int(exponent)


def float_above(x: arb) -> float:
    """A float64 that is above every number in a ball, hardly more than the largest of them."""
    return math.nextafter(float(x.upper()), math.inf)


def doubled(bits: int, most: int | None = None) -> Iterator[int]:
    """Precisions from this one on, each twice the last, up to the limit in force."""
    while bits <= (most or limits.current().bits):
        deadline.check()
        yield bits
        bits *= 2


class BallArithmetic(PlainGaps):
    """Balls of arb: every value encloses the true one, roundings included."""

    certified = True

    @property
    def bits(self) -> int:
        return int(flint.ctx.prec)

    def number(self, value: Numeric) -> arb:
        if isinstance(value, int):
            return arb(value)
        if isinstance(value, Fraction):
            return arb(value.numerator) / value.denominator  # sooner than by a fmpq, the same bits
        if value == INFINITY:
            return arb("inf")
        value = exact(value)
        return self.number(value) if isinstance(value, Fraction) else evaluate(self, value)

    pi = staticmethod(arb.pi)
    exp = staticmethod(methodcaller("exp"))
    expm1 = staticmethod(methodcaller("expm1"))
    log = staticmethod(methodcaller("log"))
    log1p = staticmethod(methodcaller("log1p"))
    sqrt = staticmethod(methodcaller("sqrt"))
    log_gamma = staticmethod(methodcaller("lgamma"))
    digamma = staticmethod(methodcaller("digamma"))

    def power(self, x: arb, y: arb) -> arb:
        return x if x == 0 and y > 0 else arb(x) ** y

    def binomial(self, n: int, k: int) -> arb:
        limits.check("order", n, "order alpha")
        return arb(flint.fmpz.bin_uiui(n, k))

    def minimum(self, least: arb, *others: arb) -> arb:
        for x in others:
            least = least.min(x)
        return least

    def maximum(self, most: arb, *others: arb) -> arb:
        for x in others:
            most = most.max(x)
        return most

    def is_infinite(self, x: arb) -> bool:
        return not x.is_finite() and bool(x > 0)


BALL = BallArithmetic()
_LONGEST = 2**30  # bits of a fraction


def rational(x: arb) -> Fraction:
    """The midpoint of a ball, a binary fraction; LimitError where it is too long for one.

    FLINT ends the process where an exponent is beyond a machine's words.
    """
    if not x.is_finite() or abs(int(x.mid().man_exp()[1])) >= _LONGEST:
        raise LimitError("found a number too far from 1 to be written as a fraction")
    found = x.mid().fmpq()
    return Fraction(int(found.p), int(found.q))


def rational_ends(value: Exact, bits: int) -> tuple[Fraction, ...]:
    """The rational number itself, else one below and one above, alike to more than twice the bits.

    What is monotone in a parameter lies, for an irrational one, between its values at the two.
    """
    if isinstance(value, Fraction):
        return (value,)
    for finer in doubled(2 * bits + 64, 64 * (bits + 64)):
        with precision(finer):
            ball = BALL.number(value)
            if ball.rel_accuracy_bits() > 2 * bits:
                return tuple(map(rational, ends_of(ball)))
    raise PrecisionError(
        f"found {echo(value)}, too near to 0 to compute", remedy="write it as a rational number"
    )


def nearest_rational(value: Exact, bits: int) -> Fraction:
    """The rational number itself, else one that agrees with it to more than twice the bits."""
    return rational_ends(value, bits)[0]


def decide(holds: Callable[[arb], bool | None], value: sympy.Expr) -> bool | None:
    """What balls of growing precision say of a constant by `holds`: True, False, or None."""
    for bits in doubled(64, 4096):
        with precision(bits):
            answer = holds(BALL.number(value))
        if answer is not None:
            return answer
    return None
