"""Mironov, Talwar, Zhang 2019: the closed form for the sampled Gaussian mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import cast

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ADD_REMOVE, Kind, Orders
from symacct.kernel.exact import Exact, Order
from symacct.kernel.node import Node
from symacct.kernel.sources import MTZ19
from symacct.kernel.theorem_registry import Inequality, RDPCurve, Regime, theorem
from symacct.laws.neighbours import NormalShift, law_of
from symacct.operations.subsample import PoissonSubsample

# --- what such closed forms share
#
# What the closed-form theorems about the sampled Gaussian mechanism share.


def noise_ratio(mechanism: Node) -> Exact:
    """σ/Δ of Gaussian noise, which alone its bounds depend on; the caller knows that it is."""
    return cast(NormalShift, law_of(mechanism).normal).ratio


def not_gaussian(node: Node) -> str | None:
    """The reason why the mechanism below is not the Gaussian one; None if it is."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if law_of(mechanism).normal is not None:
        return None
    return f"it is about the Gaussian mechanism, got {type(mechanism).__name__}"


def rate_and_noise(mechanism: Node, gamma: Exact) -> tuple[Exact, Exact]:
    """The rate q = γ and σ/Δ of Gaussian noise."""
    return gamma, noise_ratio(mechanism)


# --- the closed form
#
# Mironov, Talwar, Zhang 2019: the closed form for the sampled Gaussian mechanism.


def few_and_noisy(ctx: Arithmetic, q: Number, sigma: Number) -> Iterator[Inequality]:
    """The conditions of Theorem 11 on the rate and on σ/Δ, written σ."""
    yield Inequality("$q <= 1/5$", q, ctx.number(Fraction(1, 5)))
    yield Inequality("$σ/Δ >= 4$", ctx.number(4), sigma)


def closed_form_orders(
    ctx: Arithmetic, q: Number, sigma: Number, alpha: Number
) -> Iterator[Inequality]:
    """The orders for which Theorem 11 is proved, where `few_and_noisy` holds and q > 0."""
    log = ctx.log1p(1 / (q * (alpha - 1)))
    right = sigma**2 * log / 2 - 2 * ctx.log(sigma)
    yield Inequality("$α <= σ²L/2 − 2 log σ$ with $L = log(1 + 1/(q(α−1)))$", alpha, right)
    # L + log(qα) = log(qα + α/(α−1)) > 0: multiplying by the printed denominator keeps the sense.
    left = alpha * (log + ctx.log(q * alpha) + 1 / (2 * sigma**2))
    right = sigma**2 * log**2 / 2 - ctx.log(ctx.number(5)) - 2 * ctx.log(sigma)
    yield Inequality("$α (L + log(qα) + 1/(2σ²)) <= σ²L²/2 − log 5 − 2 log σ$", left, right)


#: The conditions on q and σ/Δ under which the theorem holds.
REGIME = Regime(("q", "σ/Δ"), rate_and_noise, few_and_noisy, closed_form_orders)


@theorem(
    "MTZ19-T11",
    operation=PoissonSubsample,
    kind=Kind.UPPER,
    source=MTZ19.at("Theorem 11"),
    orders=Orders(1, above=True, infinite=False),
    adjacency=ADD_REMOVE,
    assumes=f"a Gaussian mechanism, {REGIME}, with $σ$ written for $σ/Δ$",
    applies=REGIME.after(not_gaussian),
    regime=REGIME,
    default=False,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def closed_form(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= 2q²αΔ²/σ²"""
    REGIME.require("MTZ19-T11", eps.node, gamma, alpha)
    sigma = noise_ratio(eps.node)
    return 2 * ctx.number(gamma) ** 2 * ctx.number(alpha) / ctx.number(sigma) ** 2
