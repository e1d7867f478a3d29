"""Mironov, Talwar, Zhang 2019: the closed form for the sampled Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from symacct.amplification.gaussian_ratio import is_symbolic, noise_ratio, not_gaussian
from symacct.amplification.margins import are_numbers, failing, number, require_orders
from symacct.arithmetic import Arithmetic, Number
from symacct.claims import ADD_REMOVE, Kind, Orders
from symacct.exact import Exact, Order
from symacct.expr import Node
from symacct.operations.subsample import PoissonSubsample
from symacct.rdp_curve import RDPCurve
from symacct.sources import MTZ19
from symacct.theory import theorem


def in_the_regime(node: Node) -> str | None:
    """A Gaussian mechanism with q <= 1/5 and σ/Δ >= 4."""
    reason = not_gaussian(node)
    if reason is not None or is_symbolic(node):
        return reason
    q, sigma = node.gamma, noise_ratio(node.mechanism)  # type: ignore[attr-defined]
    failed = failing(
        [
            ("q <= 1/5", lambda: number(Fraction(1, 5) - q), False),
            ("σ/Δ >= 4", lambda: number(sigma - 4), False),
        ]
    )
    return None if failed is None else f"it needs {failed}, got q = {q}, σ/Δ = {sigma}"


def order_conditions(q: Exact, sigma: Exact, alpha: Order) -> Iterator[Any]:
    """The two conditions that tie α to q and σ, as margins."""
    if q == 0:
        return

    def log_ratio() -> Any:
        return (1 / (number(q) * number(alpha - 1))).log1p()

    def first() -> Any:
        s = number(sigma)
        return s**2 * log_ratio() / 2 - 2 * s.log() - number(alpha)

    def second() -> Any:
        s, a, log = number(sigma), number(alpha), log_ratio()
        right = s**2 * log**2 / 2 - number(5).log() - 2 * s.log()
        return right - a * (log + (number(q) * a).log() + 1 / (2 * s**2))

    yield "α <= σ²L/2 − 2 log σ with L = log(1 + 1/(q(α−1)))", first, False
    # L + log(qα) = log(qα + α/(α−1)) > 0: multiplying by the printed denominator keeps the sense.
    yield "α (L + log(qα) + 1/(2σ²)) <= σ²L²/2 − log 5 − 2 log σ", second, False


@theorem(
    "MTZ19-T11",
    operation=PoissonSubsample,
    kind=Kind.UPPER,
    source=MTZ19.at("Theorem 11"),
    orders=Orders(1, above=True, infinite=False),
    adjacency=ADD_REMOVE,
    assumes="a Gaussian mechanism, q <= 1/5, σ/Δ >= 4, and with L = log(1 + 1/(q(α−1))): "
    "α <= σ²L/2 − 2 log σ and α (L + log(qα) + 1/(2σ²)) <= σ²L²/2 − log 5 − 2 log σ, σ for σ/Δ",
    applies=in_the_regime,
    default=False,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def closed_form(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= 2q²αΔ²/σ²"""
    sigma = noise_ratio(eps.node)
    if are_numbers(sigma, gamma):
        require_orders("MTZ19-T11", alpha, lambda a: order_conditions(gamma, sigma, a))
    return 2 * ctx.number(gamma) ** 2 * ctx.number(alpha) / ctx.number(sigma) ** 2
