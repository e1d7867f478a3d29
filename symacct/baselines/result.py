"""Baseline: an (ε, δ) statement that is not made from an RDP curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.accountant import certified_number, default_accountant
from symacct.claims import ALL_ORDERS, EITHER, Adjacency, Claim, Kind, Orders, Source
from symacct.domains import nonnegative
from symacct.enclosure import Bound, bound
from symacct.errors import DomainError, echo


@dataclass(frozen=True)
class Baseline:
    """(ε, δ)-DP by a published composition or tail bound; both numbers are Bounds.

    `status` is "proved", or "conjecture" for what must not be taken as a guarantee.
    """

    name: str
    epsilon: Bound
    delta: Bound
    source: Source
    status: str = "proved"

    def __str__(self) -> str:
        trust = "" if self.status == "proved" else f" ({self.status})"
        return f"({self.epsilon.rounded(10)}, {self.delta.rounded(10)})-DP, {self.name}{trust}"


def enclose(
    value: Callable[[], arb],
    source: Source,
    digits: int,
    what: str,
    kind: Kind,
    adjacency: Adjacency = EITHER,
    orders: Orders = ALL_ORDERS,
    certified: bool = True,
) -> Bound:
    """The Bound of a ball-valued formula, at a precision doubled until the digits are there."""
    claim = Claim(kind, adjacency, orders, sources=(source,), certified=certified)
    ask = default_accountant("ball")
    return bound(certified_number(ask, lambda accountant: (value(), claim), digits, what), kind)


def probability_or_zero(value: Any, name: str, below: int = 1) -> Fraction:
    """A rational number in [0, 1); DomainError otherwise."""
    number = nonnegative(value, name)
    if not isinstance(number, Fraction) or number >= below:
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number in [0, {below})")
    return number


def rational(value: Any, name: str) -> Fraction:
    """A rational number >= 0; DomainError otherwise."""
    number = nonnegative(value, name)
    if not isinstance(number, Fraction):
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number >= 0")
    return number
