"""The protocol of an arithmetic: what a formula may ask of the numbers it does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from symacct.exact import Exact


class Arithmetic(Protocol):
    """Numbers with + − × ÷ and whole powers of their own, and these functions.

    A formula takes the arithmetic first, writes its rationals as `ctx.number("1/2")` or plain
    ints, and never asks which arithmetic it holds.
    """

    certified: bool

    @property
    def bits(self) -> int:
        """The working precision."""

    def number(self, value: Exact | int | float | str) -> Any:
        """The number for an exact value (or an order); ∞ for `INFINITY`."""

    def pi(self) -> Any: ...

    def exp(self, x: Any) -> Any: ...

    def expm1(self, x: Any) -> Any:
        """e^x − 1 without cancellation at 0."""

    def log(self, x: Any) -> Any: ...

    def log1p(self, x: Any) -> Any:
        """log(1 + x) without cancellation at 0."""

    def sqrt(self, x: Any) -> Any: ...

    def power(self, x: Any, y: Any) -> Any:
        """x^y for x >= 0 and real y, 0^y = 0 for y > 0."""

    def binomial(self, n: Any, k: Any) -> Any: ...

    def sum(self, term: Callable[[Any], Any], first: int, last: Any) -> Any:
        """Σ term(l) for first <= l <= last, 0 if there is none."""

    def minimum(self, *xs: Any) -> Any: ...

    def maximum(self, *xs: Any) -> Any: ...

    def is_zero(self, x: Any) -> bool:
        """Is x exactly 0?"""

    def is_infinite(self, x: Any) -> bool:
        """Is x exactly ∞?"""
