"""Bun, Dwork, Rothblum, Steinke 2018: truncated concentrated DP under sampling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind, Orders
from symacct.kernel.exact import INFINITY, Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import BDRS18
from symacct.kernel.theorem_registry import Inequality, RDPCurve, Regime
from symacct.laws.neighbours import law_of
from symacct.theory.amplification.mtz19 import noise_ratio
from symacct.theory.amplification.samples import of_fixed_samples


def truncated(mechanism: Node) -> tuple[Exact, Exact | float] | None:
    """(ρ, ω) with ε(α) <= ρα for α < ω, as is stated of the mechanism; None if nothing is."""
    law = law_of(mechanism)
    if law.line is not None and law.line.xi == 0:
        return law.line.rho, law.line.omega
    if law.normal is not None:
        return 1 / (2 * noise_ratio(mechanism) ** 2), INFINITY
    return None


def is_truncated(node: Node) -> str | None:
    """None if ρ-tCDP is stated of the mechanism; else the reason why it is not proved."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if truncated(mechanism) is not None:
        return None
    return f"ρ-tCDP is not stated for {type(mechanism).__name__}; wrap it as TCDP(rho, omega)"


def rate_and_stated(mechanism: Node, gamma: Exact) -> tuple[Exact | float, ...]:
    """The rate s, and ρ and ω with ε(α) <= ρα for α < ω; `is_truncated` has to hold."""
    known = truncated(mechanism)
    assert known is not None  # noqa: S101  # `applies` has looked
    return gamma, *known


def truncated_well(ctx: Arithmetic, s: Number, rho: Number, omega: Number) -> Iterator[Inequality]:
    """The conditions of Theorem 11 on the rate and the mechanism; none where s = 0."""
    if ctx.is_zero(s):
        return
    yield Inequality("$ρ > 0$", ctx.number(0), rho, strict=True)
    log, per_bit = -ctx.log(s), 1 / ctx.log(ctx.number(2))
    yield Inequality("$ρ <= 1/10$", 10 * rho, ctx.number(1))
    yield Inequality("$s <= 1/10$", s, ctx.number(Fraction(1, 10)))
    yield Inequality("$log(1/s) >= 3ρ(2 + log₂(1/ρ))$", 3 * rho * (2 - ctx.log(rho) * per_bit), log)
    yield Inequality("$ω >= log(1/s)/(2ρ)$", log, 2 * rho * omega)


def truncated_orders(
    ctx: Arithmetic, s: Number, rho: Number, omega: Number, alpha: Number
) -> Iterator[Inequality]:
    """The orders for which Theorem 11 is proved."""
    yield Inequality("$α < log(1/s)/(4ρ)$", 4 * rho * alpha, -ctx.log(s), strict=True)


#: The conditions on s, ρ and ω under which the theorem holds.
REGIME = Regime(("s", "ρ", "ω"), rate_and_stated, truncated_well, truncated_orders)


@of_fixed_samples(
    "BDRS18-T11",
    kind=Kind.UPPER,
    source=BDRS18.at("Theorem 11"),
    orders=Orders(1, above=True, infinite=False),
    assumes=f"$ε(α) <= ρα$ for $α < ω$, and with the rate $s$: {REGIME}",
    applies=REGIME.after(is_truncated),
    regime=REGIME,
    partial=True,
    takes_exact=True,
)
def truncated_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= 13 s²ρα for α < log(1/s)/(4ρ)"""
    REGIME.require("BDRS18-T11", eps.node, gamma, alpha)
    _, rho, _ = rate_and_stated(eps.node, gamma)
    return 13 * ctx.number(gamma) ** 2 * ctx.number(rho) * ctx.number(alpha)
