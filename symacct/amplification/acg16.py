"""Abadi et al. 2016, Lemma 3 in its explicit form: the first moments accountant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
from flint import fmpz

from symacct.amplification.gaussian_ratio import is_symbolic, noise_ratio, not_gaussian
from symacct.amplification.margins import are_numbers, failing, number, require_orders
from symacct.arithmetic import Arithmetic, Number
from symacct.claims import ADD_REMOVE, INTEGER_ORDERS, Kind
from symacct.exact import Exact, Order
from symacct.expr import Node
from symacct.operations.subsample import PoissonSubsample
from symacct.rdp_curve import RDPCurve
from symacct.sources import ACG16
from symacct.theory import theorem


def in_the_regime(node: Node) -> str | None:
    """A Gaussian mechanism with σ/Δ >= 1 and q < Δ/(16σ)."""
    reason = not_gaussian(node)
    if reason is not None or is_symbolic(node):
        return reason
    q, sigma = node.gamma, noise_ratio(node.mechanism)  # type: ignore[attr-defined]
    failed = failing(
        [
            ("σ/Δ >= 1", lambda: number(sigma - 1), False),
            ("q < Δ/(16σ)", lambda: number(1 / (16 * sigma) - q), True),
        ]
    )
    return None if failed is None else f"it needs {failed}, got q = {q}, σ/Δ = {sigma}"


def order_conditions(q: Exact, sigma: Exact, alpha: Order) -> Iterator[Any]:
    """λ = α − 1 <= σ² log(1/(qσ)), as a margin."""
    if q != 0:
        yield (
            "λ = α−1 <= σ² log(1/(qσ))",
            lambda: -(number(sigma) ** 2) * number(q * sigma).log() - number(alpha - 1),
            False,
        )


@theorem(
    "ACG16-L3",
    operation=PoissonSubsample,
    kind=Kind.UPPER,
    source=ACG16.at("Lemma 3, the sum that its proof bounds"),
    orders=INTEGER_ORDERS,
    adjacency=ADD_REMOVE,
    assumes="a Gaussian mechanism, σ >= 1, q < 1/(16σ), α−1 <= σ² log(1/(qσ)), σ for σ/Δ",
    applies=in_the_regime,
    default=False,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def explicit_form(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1)ε′(α) <= q²α(α−1)/((1−q)σ²) + Σ_{t=3}^{α} C(α,t) [ (2q)^t (t−1)!!/(2(1−q)^{t−1}σ^t)
    + q^t/((1−q)^t σ^{2t}) + (2q)^t e^{(t²−t)/(2σ²)} (σ^t (t−1)!! + t^t)/(2(1−q)^{t−1}σ^{2t}) ]"""
    ratio = noise_ratio(eps.node)
    if are_numbers(ratio, gamma):
        require_orders("ACG16-L3", alpha, lambda a: order_conditions(gamma, ratio, a))
    q, sigma = ctx.number(gamma), ctx.number(ratio)
    keep, lam = 1 - q, ctx.number(alpha) - 1

    def term(t: Any) -> Any:
        double, odds = double_factorial(t - 1), (2 * q) ** t / (2 * keep ** (t - 1) * sigma**t)
        near = odds * double + q**t / (keep**t * sigma ** (2 * t))
        grown = ctx.exp((t * t - t) / (2 * sigma**2))
        far = odds * grown * (double + ctx.number(1) * t**t / sigma**t)
        return ctx.binomial(alpha, t) * (near + far)

    total = q**2 * (lam * (lam + 1)) / (keep * sigma**2) + ctx.sum(term, 3, alpha)
    return total / lam


def double_factorial(n: Any) -> Any:
    """n!! for a whole number or a symbol."""
    if isinstance(n, sympy.Expr):
        return sympy.factorial2(n)
    product = fmpz(1)
    for factor in range(n, 1, -2):
        product *= factor
    return int(product)
