"""Zero-concentrated and truncated concentrated differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symacct.arithmetic import Arithmetic, Number
from symacct.claims import Adjacency, Kind
from symacct.claims import adjacency as named_adjacency
from symacct.domains import above_one, nonnegative
from symacct.exact import INFINITY, Exact, Numeric, Order
from symacct.mechanisms.mechanism import Mechanism, order_by_order
from symacct.sources import BDRS18, BS16


class ZCDP(Mechanism):
    """A (ξ, ρ)-zCDP mechanism: ε(α) <= ξ + ρα for every α > 1.

    `rho` and `xi` are >= 0, in nats; DomainError otherwise.

    >>> print(ZCDP("1/50").rdp(8, digits=3))
    0.160
    """

    rho: Exact
    xi: Exact
    adjacency: Adjacency
    kind = Kind.UPPER
    convex = True  # K(λ) = λξ + λ(λ+1)ρ
    steepest_up_to = INFINITY  # ξ/α + ρ
    source = BS16.at("Definition 1.1")

    def __new__(cls, rho: Numeric, xi: Numeric = 0, adjacency: str | Adjacency = "either") -> ZCDP:
        return cls._intern(
            rho=nonnegative(rho, "ZCDP, rho"),
            xi=nonnegative(xi, "ZCDP, xi"),
            adjacency=named_adjacency(adjacency),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        xi, rho = ctx.number(self.xi), ctx.number(self.rho)
        return lambda alpha: xi + rho * ctx.number(alpha)

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.number(self.xi) + ctx.number(self.rho)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        return ctx.number(self.xi if self.rho == 0 else INFINITY)


class TCDP(Mechanism):
    """A ρ-tCDP mechanism up to ω: ε(α) <= ρα for 1 < α < ω, and no finite bound beyond.

    `rho` >= 0 in nats, `omega` > 1; DomainError otherwise.

    >>> print(TCDP("1/50", 10).rdp(8, digits=3))
    0.160
    """

    rho: Exact
    omega: Exact
    adjacency: Adjacency
    kind = Kind.UPPER
    convex = True  # K(λ) = λ(λ+1)ρ below ω − 1, ∞ from there on

    @property
    def steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.omega

    source = BDRS18.at("Definition 1")

    def __new__(cls, rho: Numeric, omega: Numeric, adjacency: str | Adjacency = "either") -> TCDP:
        return cls._intern(
            rho=nonnegative(rho, "TCDP, rho"),
            omega=above_one(omega, "TCDP, omega"),
            adjacency=named_adjacency(adjacency),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        rho = ctx.number(self.rho)

        def rdp(alpha: Order) -> Any:
            return ctx.number(INFINITY) if self._beyond(alpha) else rho * ctx.number(alpha)

        return order_by_order(ctx, rdp)

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.number(self.rho)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        return ctx.number(INFINITY)

    def _beyond(self, alpha: Order) -> bool:
        """Is α >= ω? A symbolic order or ω is taken to lie below."""
        try:
            return bool(alpha >= self.omega)
        except (TypeError, ValueError):
            return False
