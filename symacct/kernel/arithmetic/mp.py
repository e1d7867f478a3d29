"""Numbers of mpmath in a context of their own: the second, independent engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from symacct.kernel import deadline
from symacct.kernel.arithmetic.context import Number, PlainGaps
from symacct.kernel.arithmetic.expression import evaluate
from symacct.kernel.exact import INFINITY, Numeric, exact


class MpmathArithmetic(PlainGaps):
    """Numbers of a private context of mpmath of `bits` bits, independent of mpmath's own context.

    Every operation rounds downwards, and what that adds up to is not known: nothing is proved.
    """

    certified = False
    rounds = True
    #: mpmath's sign of a direction: "f" downwards, to the floor, or "c" upwards.
    rounding = "f"

    def __init__(self, bits: int) -> None:
        self.mp = MPContext()
        self.mp.prec = bits
        self.mp._prec_rounding[1] = self.rounding
        self.exp, self.log, self.log1p = self.mp.exp, self.mp.log, self.mp.log1p
        self.sqrt, self.binomial = self.mp.sqrt, self.mp.binomial

    @property
    def bits(self) -> int:
        return int(self.mp.prec)

    def number(self, value: Numeric) -> Number:
        """The number rounded to the context's precision; a whole number exactly."""
        if isinstance(value, int):
            return self.mp.mpf(value)
        if value == INFINITY:
            return self.mp.inf
        value = exact(value)
        if isinstance(value, Fraction):
            return self.mp.mpf(value.numerator) / value.denominator
        return evaluate(self, value)

    def pi(self) -> Number:
        return +self.mp.pi

    def expm1(self, x: Number) -> Number:
        """e^x − 1 for a real x, at as many bits more as cancel."""
        lost = -self.mp.mag(x)
        if lost > self.bits:
            return self.mp.expm1(x)
        return self.mp.exp(x, prec=self.bits + max(lost, 0) + 10) - 1

    def exp_gap(self, x: Number) -> Number:
        """e^x − 1 − x, with twice the digits where its terms cancel."""
        return self._of_second_order(x, super().exp_gap, x)

    def power_gap(self, gamma: Number, x: Number, lam: Number) -> Number:
        """(1+u)^{λ+1} − 1 − (λ+1)u, with twice the digits where its terms cancel."""
        return self._of_second_order(gamma * self.expm1(x), super().power_gap, gamma, x, lam)

    def entropy_gap(self, gamma: Number, x: Number) -> Number:
        """(1+u) log(1+u) − u, with twice the digits where its terms cancel."""
        return self._of_second_order(gamma * self.expm1(x), super().entropy_gap, gamma, x)

    def _of_second_order(self, u: Number, gap: Callable[..., Number], *xs: Number) -> Number:
        """The value gap(*xs), worked out at 2·bits and 2·log₂(1/|u|) more where u is small.

        The terms of 1 and of u cancel in it, and what is left is of the second order in u.
        """
        spare = max(0, -2 * self.mp.mag(u)) if u and self.mp.isfinite(u) else 0
        with self.mp.workprec(2 * self.bits + spare):
            value = gap(*xs)
        return +value

    def power(self, x: Number, y: Number) -> Number:
        return x if x == 0 and y > 0 else self.mp.power(x, y)

    def log_gamma(self, x: Number) -> Number:
        return self.mp.loggamma(x)

    def digamma(self, x: Number) -> Number:
        return self.mp.digamma(x)

    def sum(self, term: Callable[[int], Number], first: int, last: int) -> Number:
        """Σ term(i) by mpmath's `fsum`, which rounds once."""
        return self.mp.fsum(term(i) for i in range(first, last + 1))

    def minimum(self, *xs: Number) -> Number:
        return min(xs)

    def maximum(self, *xs: Number) -> Number:
        return max(xs)

    def is_infinite(self, x: Number) -> bool:
        """Is the number ∞? False for −∞ and NaN."""
        return bool(x == self.mp.inf)


class UpwardMpmathArithmetic(MpmathArithmetic):
    """Numbers as of `MpmathArithmetic`, each operation rounded upwards.

    It does not bound a value from above either: a difference of such numbers may be too small.
    """

    rounding = "c"


def quadrature(mp: Any, integrand: Callable[[Any], Any], places: Iterable[Any], **how: Any) -> Any:
    """The quadrature by mpmath of an integrand between ascending places, in its context `mp`.

    The time is looked at for each value; no error is bounded. `how` are mpmath's options.
    """

    def looked(x: Any) -> Any:
        deadline.check()
        return integrand(x)

    return mp.quad(looked, places, **how)
