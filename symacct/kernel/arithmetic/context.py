"""The protocol of an arithmetic: what a formula may ask of the numbers it does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from symacct.kernel.exact import Exact

#: A number of the arithmetic at hand, which alone knows its type: arb, mpf, LogNumber, Expr, …
Number: TypeAlias = Any


class Arithmetic(Protocol):
    """Numbers with + − × ÷ and whole powers: what a formula takes first, whichever they are."""

    certified: bool
    #: Is there a precision that stays as it is, so that nothing may cancel?
    rounds: bool

    @property
    def bits(self) -> int:
        """The working precision."""

    def number(self, value: Exact | int | float | str) -> Number:
        """The number for an exact value (or an order); ∞ for `INFINITY`."""

    def pi(self) -> Number: ...

    def exp(self, x: Number) -> Number: ...

    def expm1(self, x: Number) -> Number:
        """e^x − 1 without cancellation at 0."""

    def log(self, x: Number) -> Number: ...

    def log1p(self, x: Number) -> Number:
        """log(1 + x) without cancellation at 0."""

    def exp_gap(self, x: Number) -> Number:
        """e^x − 1 − x without cancellation at 0."""

    def power_gap(self, gamma: Number, x: Number, lam: Number) -> Number:
        """(1+u)^{λ+1} − 1 − (λ+1)u for u = γ(e^x − 1) and λ > 0, without cancellation at 0."""

    def entropy_gap(self, gamma: Number, x: Number) -> Number:
        """(1+u) log(1+u) − u for u = γ(e^x − 1), without cancellation at 0."""

    def sqrt(self, x: Number) -> Number: ...

    def power(self, x: Number, y: Number) -> Number:
        """x^y for x >= 0 and real y, 0^y = 0 for y > 0."""

    def binomial(self, n: Number, k: Number) -> Number: ...

    def sum(self, term: Callable[[Number], Number], first: int, last: Number) -> Number:
        """Σ term(l) for first <= l <= last, 0 if there is none."""

    def minimum(self, *xs: Number) -> Number: ...

    def maximum(self, *xs: Number) -> Number: ...

    def is_zero(self, x: Number) -> bool:
        """Is x exactly 0?"""

    def is_infinite(self, x: Number) -> bool:
        """Is x exactly ∞?"""


class RuledArithmetic(Arithmetic, Protocol):
    """An arithmetic with quadrature rules of a fixed number of terms."""

    def grid_nats(self) -> Number:
        """How many nats below a sum over a grid its errors must be."""

    def long_sum(self, term: Callable[[Number], Number], last: Number) -> Number:
        """Σ term(i) for 0 <= i <= last."""

    def integral(self, value: Callable[[Number], Number], pieces: Number) -> Number:
        """∫_0^1 value(z) dz of a function smooth on equally many pieces."""


class PlainGaps:
    """Gaps and sums as they are defined, for arithmetics in which cancellation does no harm."""

    rounds = False

    def sum(self: Arithmetic, term: Callable[[int], Number], first: int, last: int) -> Number:
        """Σ term(l)"""
        return sum(map(term, range(first, last + 1)), self.number(0))

    def is_zero(self, x: Number) -> bool:
        """Is x exactly 0?"""
        return bool(x == 0)

    def exp_gap(self: Arithmetic, x: Number) -> Number:
        """e^x − 1 − x"""
        return self.expm1(x) - x

    def power_gap(self: Arithmetic, gamma: Number, x: Number, lam: Number) -> Number:
        """(1+u)^{λ+1} − 1 − (λ+1)u for u = γ(e^x − 1)"""
        u = gamma * self.expm1(x)
        if self.is_zero(1 + u):
            return lam
        return (1 + u) * self.expm1(lam * self.log1p(u)) - lam * u

    def entropy_gap(self: Arithmetic, gamma: Number, x: Number) -> Number:
        """(1+u) log(1+u) − u for u = γ(e^x − 1)"""
        u = gamma * self.expm1(x)
        return -u if self.is_zero(1 + u) else (1 + u) * self.log1p(u) - u
