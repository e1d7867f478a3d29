"""Baseline: an (ε, δ) statement that is not made from an RDP curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from symacct.kernel.accountant import certified_number
from symacct.kernel.answer import Bound, bound
from symacct.kernel.arithmetic import BALL
from symacct.kernel.claims import ALL_ORDERS, EITHER, Adjacency, Claim, Kind, Orders, Source
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Exact, Numeric
from symacct.kernel.parameters import nonnegative, positive

_LEAST_NOISE = Fraction(1, 1000)


@dataclass(frozen=True)
class Baseline:
    """(ε, δ)-DP by a published bound; a `status` of "conjecture" is no guarantee."""

    name: str
    epsilon: Bound
    delta: Bound
    source: Source
    status: str = "proved"

    @classmethod
    def of(
        cls,
        name: str,
        source: Source,
        digits: int,
        kind: Kind,
        epsilon: Callable[[], arb] | Fraction,
        delta: Callable[[], arb] | Fraction,
    ) -> Baseline:
        """Both numbers enclosed to these digits; of no kind, it is a conjecture."""
        sound = kind is not Kind.NEITHER
        eps, d = (
            enclose(value, source, digits, f"{name}, {letter}", kind, certified=sound)
            for letter, value in (("ε", epsilon), ("δ", delta))
        )
        return cls(name, eps, d, source, "proved" if sound else "conjecture")

    def __str__(self) -> str:
        trust = "" if self.status == "proved" else f" ({self.status})"
        return f"({self.epsilon.rounded(10)}, {self.delta.rounded(10)})-DP, {self.name}{trust}"


def enclose(
    value: Callable[[], arb] | Fraction,
    source: Source,
    digits: int,
    what: str,
    kind: Kind,
    adjacency: Adjacency = EITHER,
    orders: Orders = ALL_ORDERS,
    certified: bool = True,
) -> Bound:
    """The Bound of a number or a ball-valued formula, at a precision that gives the digits."""
    claim = Claim(kind, adjacency, orders, sources=(source,), certified=certified)
    ball = value if callable(value) else lambda: BALL.number(value)
    return bound(certified_number(lambda _: (ball(), claim), digits, what), kind)


def probability_or_zero(value: Numeric, name: str) -> Fraction:
    """A rational number in [0, 1); DomainError otherwise."""
    number = nonnegative(value, name)
    if not isinstance(number, Fraction) or number >= 1:
        raise DomainError(f"{name}: found {echo(value)}, needed a rational number in [0, 1)")
    return number


def noise_of(sigma: Numeric) -> Exact:
    """A standard deviation that is not next to 0, where sums would take long for no privacy."""
    noise = positive(sigma, "sigma")
    is_open = not isinstance(noise, Fraction) and noise.free_symbols
    if is_open or noise < _LEAST_NOISE:
        raise DomainError(f"sigma: found {echo(sigma)}, needed a number >= {_LEAST_NOISE}")
    return noise
