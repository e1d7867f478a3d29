"""Bun, Dwork, Rothblum, Steinke 2018: truncated concentrated DP under sampling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from symacct.amplification.gaussian_ratio import noise_ratio
from symacct.amplification.margins import are_numbers, failing, number, require_orders
from symacct.arithmetic import Arithmetic, Number
from symacct.claims import REPLACE_ONE, Kind, Orders
from symacct.exact import INFINITY, Exact, Order
from symacct.expr import Node
from symacct.mechanisms import TCDP, ZCDP, Gaussian
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.rdp_curve import RDPCurve
from symacct.sources import BDRS18
from symacct.theory import theorem


def truncated(mechanism: Node) -> tuple[Exact, Any] | None:
    """(ρ, ω) such that ε(α) <= ρα for α < ω is what is stated of the mechanism; None if nothing."""
    if isinstance(mechanism, TCDP):
        return mechanism.rho, mechanism.omega
    if isinstance(mechanism, ZCDP) and mechanism.xi == 0:
        return mechanism.rho, INFINITY
    if isinstance(mechanism, Gaussian):
        return 1 / (2 * noise_ratio(mechanism) ** 2), INFINITY
    return None


def in_the_regime(node: Node) -> str | None:
    """A ρ-tCDP mechanism up to ω and a rate s that satisfy the theorem's four conditions."""
    mechanism, s = node.mechanism, node.gamma  # type: ignore[attr-defined]
    known = truncated(mechanism)
    if known is None:
        return f"ρ-tCDP is not stated for {type(mechanism).__name__}; wrap it as TCDP(rho, omega)"
    rho, omega = known
    if not are_numbers(rho, s) or s == 0:
        return None
    failed = failing(regime(rho, omega, s))
    return None if failed is None else f"it needs {failed}, got ρ = {rho}, ω = {omega}, s = {s}"


def regime(rho: Any, omega: Any, s: Any) -> Iterator[Any]:
    """The conditions on ρ, ω and the rate s, as margins; the first ones make the rest defined."""
    yield "ρ > 0", lambda: number(rho), True
    yield "ρ <= 1/10", lambda: number(Fraction(1, 10) - rho), False
    yield "s <= 1/10", lambda: number(Fraction(1, 10) - s), False
    yield (
        "log(1/s) >= 3ρ(2 + log₂(1/ρ))",
        lambda: -number(s).log() - 3 * number(rho) * (2 - number(rho).log() / number(2).log()),
        False,
    )
    if omega != INFINITY:
        yield (
            "ω >= log(1/s)/(2ρ)",
            lambda: number(omega) + number(s).log() / (2 * number(rho)),
            False,
        )


@theorem(
    "BDRS18-T11",
    operation=SubsampleWithoutReplacement,
    kind=Kind.UPPER,
    source=BDRS18.at("Theorem 11"),
    orders=Orders(1, above=True, infinite=False),
    adjacency=REPLACE_ONE,
    assumes="ε(α) <= ρα for α < ω, ρ and s = γ in (0, 1/10], log(1/s) >= 3ρ(2 + log₂(1/ρ)), "
    "ω >= log(1/s)/(2ρ), and α < log(1/s)/(4ρ)",
    applies=in_the_regime,
    default=False,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def truncated_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= 13 s²ρα for α < log(1/s)/(4ρ)"""
    known = truncated(eps.node)
    assert known is not None  # noqa: S101  # `applies` has looked
    rho, _ = known
    if are_numbers(rho, gamma) and gamma != 0:
        require_orders(
            "BDRS18-T11",
            alpha,
            lambda a: [
                (
                    "α < log(1/s)/(4ρ)",
                    lambda: -number(gamma).log() / (4 * number(rho)) - number(a),
                    True,
                )
            ],
        )
    return 13 * ctx.number(gamma) ** 2 * ctx.number(rho) * ctx.number(alpha)
