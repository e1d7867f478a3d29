"""Baseline: an (ε, δ) statement that is not made from an RDP curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from symacct.accountant import certified_number, default_accountant
from symacct.claims import EITHER, Adjacency, Claim, Kind, Source
from symacct.domains import nonnegative
from symacct.enclosure import Enclosure
from symacct.errors import DomainError, echo


@dataclass(frozen=True)
class Baseline:
    """(ε, δ)-DP by a published composition or tail bound; both ends are Enclosures.

    `status` is "proved", or "conjecture" for what must not be taken as a guarantee.
    """

    name: str
    epsilon: Enclosure
    delta: Enclosure
    source: Source
    status: str = "proved"

    def __str__(self) -> str:
        trust = "" if self.status == "proved" else f" ({self.status})"
        return (
            f"({self.epsilon.rounded_up(10)}, {self.delta.rounded_up(10)})-DP, {self.name}{trust}"
        )


def enclose(
    value: Callable[[], arb],
    source: Source,
    digits: int,
    what: str,
    kind: Kind = Kind.UPPER,
    adjacency: Adjacency = EITHER,
    certified: bool = True,
) -> Enclosure:
    """The Enclosure of a ball-valued formula, at a precision doubled until the digits are there."""
    claim = Claim(kind, adjacency, sources=(source,), certified=certified)
    ask = default_accountant("ball")
    return certified_number(ask, lambda accountant: (value(), claim), digits, what)


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
