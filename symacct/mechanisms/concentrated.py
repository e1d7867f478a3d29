"""Zero-concentrated and truncated concentrated differential privacy."""

from __future__ import annotations

from collections.abc import Callable

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Adjacency, Kind
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.exact import INFINITY, Exact, Numeric, Order
from symacct.kernel.node import STATED_OF_IT, AskedValues, Mechanism
from symacct.kernel.parameters import above_one, nonnegative
from symacct.kernel.sources import BDRS18, BS16
from symacct.laws.neighbours import StatedLine


class ZCDP(Mechanism):
    """A (ξ, ρ)-zCDP mechanism: ε(α) <= ξ + ρα for every α > 1.

    `rho` and `xi` are at least 0, in nats, as ε(α) is. `adjacency` says for which neighbours the
    bound holds. Raises DomainError for other parameters. Source: BS16, Definition 1.1.

    >>> print(ZCDP("1/50").rdp(8, digits=3))
    0.16
    """

    rho: Exact
    xi: Exact
    adjacency: Adjacency
    kind = Kind.UPPER
    convex = True  # K(λ) = λξ + λ(λ+1)ρ
    _steepest_up_to = INFINITY  # ξ/α + ρ
    asked = AskedValues(
        called="zCDP",
        parameters=("rho", "xi"),
        values=("0.1", "1", "1e-8", "100"),
        harmless="1e-8",
        simple=("1", "0.1", "0.01"),
        typical=(1e-4, 1),
        drawn=(1e-8, 100),
        covered=((1e-5, 1e-3), (1e-3, 0.03), (0.03, 0.5), (0.5, 5)),
        rho=lambda rho: rho,
        rest=("0",),
        rest_covered=("0", "0.25", "1"),
        is_scale=False,
    )
    words = "a zero-concentrated differentially private mechanism ($ρ = {rho}$, $ξ = {xi}$)"
    _has_one_formula = True
    source = BS16.at("Definition 1.1")
    premises = (STATED_OF_IT,)

    def __new__(cls, rho: Numeric, xi: Numeric = 0, adjacency: str | Adjacency = "either") -> ZCDP:
        return cls._intern(
            rho=nonnegative(rho, "ZCDP, rho"),
            xi=nonnegative(xi, "ZCDP, xi"),
            adjacency=named_adjacency(adjacency),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ ξ + ρα"""
        xi, rho = ctx.number(self.xi), ctx.number(self.rho)
        return lambda alpha: xi + rho * ctx.number(alpha)

    def at_one(self, ctx: Arithmetic) -> Number:
        """ξ + ρ"""
        return ctx.number(self.xi) + ctx.number(self.rho)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞, and ξ for ρ = 0"""
        return ctx.number(self.xi if self.rho == 0 else INFINITY)

    @property
    def neighbours(self) -> StatedLine:
        """Any mechanism with ε(α) <= ξ + ρα at every order."""
        return StatedLine(self.rho, self.xi)


class TCDP(Mechanism):
    """A ρ-tCDP mechanism up to ω: ε(α) <= ρα for 1 < α < ω, and no finite bound beyond.

    `rho` >= 0 is in nats, as ε(α) is, and `omega` is above 1. `adjacency` says for which neighbours
    the bound holds. Raises DomainError for other parameters. Source: BDRS18, Definition 1.

    >>> print(TCDP("1/50", 10).rdp(8, digits=3))
    0.16
    """

    rho: Exact
    omega: Exact
    adjacency: Adjacency
    kind = Kind.UPPER
    convex = True  # K(λ) = λ(λ+1)ρ below ω − 1, ∞ from there on

    @property
    def _steepest_up_to(self) -> Order:  # type: ignore[override]
        return self.omega

    @property
    def finite_up_to(self) -> Exact:  # type: ignore[override]
        return self.omega

    words = "a truncated concentrated differentially private mechanism ($ρ = {rho}$, $ω = {omega}$)"
    source = BDRS18.at("Definition 1")
    premises = (STATED_OF_IT,)

    def __new__(cls, rho: Numeric, omega: Numeric, adjacency: str | Adjacency = "either") -> TCDP:
        return cls._intern(
            rho=nonnegative(rho, "TCDP, rho"),
            omega=above_one(omega, "TCDP, omega"),
            adjacency=named_adjacency(adjacency),
        )

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ ρα, at orders below ω"""
        rho = ctx.number(self.rho)
        return lambda alpha: rho * ctx.number(alpha)

    def at_one(self, ctx: Arithmetic) -> Number:
        """ρ"""
        return ctx.number(self.rho)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞: nothing is stated from ω on."""
        return ctx.number(INFINITY)

    @property
    def neighbours(self) -> StatedLine:
        """Any mechanism with ε(α) <= ρα for 1 < α < ω."""
        return StatedLine(self.rho, omega=self.omega)
