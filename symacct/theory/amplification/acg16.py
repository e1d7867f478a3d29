"""Abadi et al. 2016, Lemma 3 in its explicit form: the first moments accountant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Any

from flint import fmpz

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ADD_REMOVE, INTEGER_ORDERS, Kind
from symacct.kernel.exact import Exact, Order, sympy
from symacct.kernel.sources import ACG16
from symacct.kernel.theorem_registry import Inequality, RDPCurve, Regime, theorem
from symacct.operations.subsample import PoissonSubsample
from symacct.theory.amplification.mtz19 import noise_ratio, not_gaussian, rate_and_noise


def fewer_than_noise(ctx: Arithmetic, q: Number, sigma: Number) -> Iterator[Inequality]:
    """The conditions of Lemma 3 on the rate q and on σ/Δ, written σ."""
    yield Inequality("$σ/Δ >= 1$", ctx.number(1), sigma)
    yield Inequality("$q < Δ/(16σ)$", 16 * q * sigma, ctx.number(1), strict=True)


def moments_orders(
    ctx: Arithmetic, q: Number, sigma: Number, alpha: Number
) -> Iterator[Inequality]:
    """The orders of the moments for which it is proved, where `fewer_than_noise` holds."""
    yield Inequality("$λ = α−1 <= σ² log(1/(qσ))$", alpha - 1, -(sigma**2) * ctx.log(q * sigma))


#: The conditions on q and σ/Δ under which the theorem holds.
REGIME = Regime(("q", "σ/Δ"), rate_and_noise, fewer_than_noise, moments_orders)


@theorem(
    "ACG16-L3",
    operation=PoissonSubsample,
    kind=Kind.UPPER,
    source=ACG16.at("Lemma 3, the sum that its proof bounds"),
    orders=INTEGER_ORDERS,
    adjacency=ADD_REMOVE,
    assumes=f"a Gaussian mechanism, {REGIME}, with $σ$ written for $σ/Δ$",
    applies=REGIME.after(not_gaussian),
    regime=REGIME,
    default=False,
    takes_exact=True,
    monotone=True,
    status="proved",
)
def explicit_form(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1)ε′(α) <= q²α(α−1)/((1−q)σ²) + Σ_{t=3}^{α} C(α,t) [ (2q)^t (t−1)!!/(2(1−q)^{t−1}σ^t)
    + q^t/((1−q)^t σ^{2t}) + (2q)^t e^{(t²−t)/(2σ²)} (σ^t (t−1)!! + t^t)/(2(1−q)^{t−1}σ^{2t}) ]"""
    REGIME.require("ACG16-L3", eps.node, gamma, alpha)
    q, sigma = ctx.number(gamma), ctx.number(noise_ratio(eps.node))
    order = ctx.number(alpha)
    keep, lam = 1 - q, order - 1

    def term(t: Any) -> Any:
        double, odds = double_factorial(t - 1), (2 * q) ** t / (2 * keep ** (t - 1) * sigma**t)
        near = odds * double + q**t / (keep**t * sigma ** (2 * t))
        grown = ctx.exp((t * t - t) / (2 * sigma**2))
        far = odds * grown * (double + ctx.number(1) * t**t / sigma**t)
        return near + far

    return (q**2 * (lam * order) / (keep * sigma**2) + chosen_sum(ctx, alpha, term)) / lam


@singledispatch
def chosen_sum(ctx: Arithmetic, alpha: Order, term: Callable[[Any], Any]) -> Number:
    """Σ_{t=3}^{α} C(α,t) term(t), term by term, for a whole or symbolic α"""
    return ctx.sum(lambda t: ctx.binomial(alpha, t) * term(t), 3, alpha)


@singledispatch
def double_factorial(n: Any) -> Any:
    """n!! = n(n−2)(n−4)… for a whole number n >= 1, or a symbol."""
    if isinstance(n, sympy.Expr):
        return sympy.factorial2(n)
    product = fmpz(1)
    for factor in range(n, 1, -2):
        product *= factor
    return int(product)
