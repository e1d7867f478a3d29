"""The protocol of an arithmetic: what a formula may ask of the numbers it does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from symacct.kernel.exact import Exact

#: A number of the arithmetic at hand, which alone knows its type: arb, mpf, LogNumber, Expr, …
Number: TypeAlias = Any


class Arithmetic(Protocol):
    """Numbers with + − × ÷ and whole powers, which a formula computes with, whichever they are.

    `certified` says that a value is proved: a ball that encloses it, a fraction, an expression.
    """

    certified: bool
    #: Do values lose digits where terms cancel, without showing it? Formulas then avoid that.
    rounds: bool

    @property
    def bits(self) -> int:
        """The working precision in bits; 0 where nothing is rounded."""

    def number(self, value: Exact | int | float | str) -> Number:
        """The number for an exact value (or an order); ∞ for `INFINITY`."""

    def pi(self) -> Number:
        """π."""

    def exp(self, x: Number) -> Number:
        """e^x, which is 0 at −∞ and ∞ at ∞."""

    def expm1(self, x: Number) -> Number:
        """e^x − 1 without cancellation at 0."""

    def log(self, x: Number) -> Number:
        """log x for x > 0."""

    def log1p(self, x: Number) -> Number:
        """log(1 + x) for x > −1, without cancellation at 0."""

    def exp_gap(self, x: Number) -> Number:
        """e^x − 1 − x without cancellation at 0."""

    def power_gap(self, gamma: Number, x: Number, lam: Number) -> Number:
        """(1+u)^{λ+1} − 1 − (λ+1)u for u = γ(e^x − 1), 0 <= γ <= 1, λ > 0.

        Without cancellation at u = 0. It is never negative.
        """

    def entropy_gap(self, gamma: Number, x: Number) -> Number:
        """(1+u) log(1+u) − u for u = γ(e^x − 1), 0 <= γ <= 1, without cancellation at u = 0."""

    def sqrt(self, x: Number) -> Number:
        """√x for x >= 0."""

    def power(self, x: Number, y: Number) -> Number:
        """x^y for x >= 0 and real y, 0^y = 0 for y > 0."""

    def binomial(self, n: Number, k: Number) -> Number:
        """C(n,k) for whole numbers 0 <= k, which is 0 for k > n."""

    def sum(self, term: Callable[[Number], Number], first: int, last: Number) -> Number:
        """Σ term(l) for first <= l <= last, 0 if there is none."""

    def minimum(self, *xs: Number) -> Number:
        """The smallest of one number or more; of balls that overlap one that encloses it."""

    def maximum(self, *xs: Number) -> Number:
        """The largest of one number or more; of balls that overlap one that encloses it."""

    def is_zero(self, x: Number) -> bool:
        """Is x known to be exactly 0? False for a ball that only contains it."""

    def is_infinite(self, x: Number) -> bool:
        """Is x known to be ∞? False for −∞ and for what is not known."""


class RuledArithmetic(Arithmetic, Protocol):
    """An arithmetic with quadrature rules of a fixed number of terms; no error is bounded."""

    def grid_nats(self) -> Number:
        """The number of nats by which the errors of a sum over a grid must be below the sum."""

    def long_sum(self, term: Callable[[Number], Number], last: Number) -> Number:
        """Σ term(i) for 0 <= i <= last, of terms that are not negative."""

    def integral(self, value: Callable[[Number], Number], pieces: Number) -> Number:
        """∫_0^1 value(z) dz of a function >= 0 that is smooth on each of so many equal pieces."""


class PlainGaps:
    """Gaps and sums as they are defined, for arithmetics in which cancellation does no harm.

    A ball shows what cancels, an expression is not evaluated, and mpmath takes more bits for it.
    """

    rounds = False

    def sum(self: Arithmetic, term: Callable[[int], Number], first: int, last: int) -> Number:
        """Σ term(l)"""
        return sum(map(term, range(first, last + 1)), self.number(0))

    def is_zero(self, x: Number) -> bool:
        """Is x exactly 0? Of a ball: is it 0 without a radius?"""
        return bool(x == 0)

    def exp_gap(self: Arithmetic, x: Number) -> Number:
        """e^x − 1 − x"""
        return self.expm1(x) - x

    def power_gap(self: Arithmetic, gamma: Number, x: Number, lam: Number) -> Number:
        """(1+u)^{λ+1} − 1 − (λ+1)u for u = γ(e^x − 1), which is λ at u = −1"""
        u = gamma * self.expm1(x)
        if self.is_zero(1 + u):
            return lam
        return (1 + u) * self.expm1(lam * self.log1p(u)) - lam * u

    def entropy_gap(self: Arithmetic, gamma: Number, x: Number) -> Number:
        """(1+u) log(1+u) − u for u = γ(e^x − 1), which is 1 at u = −1"""
        u = gamma * self.expm1(x)
        return -u if self.is_zero(1 + u) else (1 + u) * self.log1p(u) - u
