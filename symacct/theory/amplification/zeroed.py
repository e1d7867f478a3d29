"""A record zeroed out of a sample of fixed size: what is proved of its Rényi curve.

Another record stands in the sample where the zeroed one does not, one step from nothing and two
steps from the record (docs/proofs/triples.md, Lemma zeroed-triples).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial, singledispatch
from typing import Any

import numpy as np

from symacct.analysis import halves as analysis
from symacct.analysis.triangles import Triple
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import nearest_rational
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import (
    ABOVE_ONE,
    ALL_ORDERS,
    FINITE_ORDERS,
    ZERO_OUT,
    Kind,
    Orders,
)
from symacct.kernel.exact import INFINITY, Exact, Order, array_order, sympy
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.laws.neighbours import falling_in
from symacct.operations.group import GroupPrivacy
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.theory.amplification.mtz19 import noise_ratio
from symacct.theory.amplification.triples import excess, is_gaussian
from symacct.theory.amplification.zw19 import has_one_pair, log_moment, sampled_pure

#: The decorator of what is proved of a record zeroed out of samples of a fixed size.
of_zeroed = partial(
    theorem,
    operation=SubsampleWithoutReplacement,
    adjacency=ZERO_OUT,
    source=SYMACCT.at("docs/proofs/triples.md, zeroed-triples"),
    monotone=True,
    takes_exact=True,
    status="proved",
)


@of_zeroed("ZERO-OUT-TOLD", kind=Kind.UPPER, orders=FINITE_ORDERS, applies=always)
def as_if_told(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log(1 + γ(e^{(α−1)ε(α)} − 1))/(α−1), as if it were told whether the record is in
    the sample, which is γε(1) at 1"""
    if gamma in (0, 1):
        return eps(alpha) if gamma == 1 else ctx.number(0)
    rate, value = ctx.number(gamma), eps(alpha)
    if ctx.is_infinite(value):
        return value
    if isinstance(alpha, int) and alpha == 1:
        return rate * value
    lam = ctx.number(alpha) - 1
    return ctx.log1p(rate * ctx.expm1(lam * value)) / lam


@of_zeroed("ZERO-OUT-PURE", kind=Kind.UPPER, orders=ALL_ORDERS, applies=always)
def never_worse_than_pure(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log(1 + γ(e^{ε(∞)} − 1)/(γ + (1−γ)e^{−ε(∞)}))"""
    if gamma == 0:
        return ctx.number(0)
    pure, rate = eps(INFINITY), ctx.number(gamma)
    return ctx.log1p(rate * ctx.expm1(pure) / (rate + (1 - rate) * ctx.exp(-pure)))


@of_zeroed("ZERO-OUT-TWO-STEPS", kind=Kind.UPPER, orders=FINITE_ORDERS, applies=always)
def by_a_replaced_record(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= the curve of a record replaced in the sample, of the mechanism for groups of 2"""
    return eps.of(SubsampleWithoutReplacement(two_steps(eps.node), gamma))(alpha)


@of_zeroed(
    "ZERO-OUT-LOWER",
    kind=Kind.LOWER,
    orders=Orders(2, whole=True),
    assumes="one pair attains the curve at every order, $ε(l) = D_l(P‖Q)$ with $P$ the law with "
    "the record, and all other places may be empty",
    applies=has_one_pair,
)
def other_places_empty(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)},
    which is log(1 + γ(e^{ε(∞)} − 1)) at ∞"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), ctx.number(gamma))
    return log_moment(ctx, eps, alpha, ctx.number(gamma)) / (ctx.number(alpha) - 1)


def two_steps(mechanism: Node) -> Node:
    """The mechanism for records two steps apart: noise of twice the sensitivity, or a group."""
    if isinstance(mechanism, Compose):
        return Compose({two_steps(part): count for part, count in mechanism.terms.items()})
    return mechanism.for_group(2) or GroupPrivacy(mechanism, 2)


# --- Gaussian noise


def in_numbers(node: Node) -> str | None:
    """None for Gaussian noise in numbers; else the reason."""
    if node.free_symbols:
        return "found a symbol without a value, needed numbers"
    return is_gaussian(node)


@of_zeroed(
    "ZERO-OUT-GAUSSIAN-LOWER",
    kind=Kind.LOWER,
    orders=ABOVE_ONE,
    partial=True,
    assumes="a Gaussian mechanism, parameters that are numbers, and another record",
    applies=in_numbers,
)
def opposite_records(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= log E[m^α n^{1−α}]/(α−1), m = 1−γ+γX, n = 1−γ+γY, X = e^{2δz−2δ²},
    Y = e^{δz−δ²/2}, z ~ N(0, 1), δ = Δ/σ: the other record is the opposite one"""
    if gamma in (0, 1):
        return eps(alpha) if gamma == 1 else ctx.number(0)
    if isinstance(alpha, np.ndarray):
        return _each(ctx, alpha, lambda order: opposite_records(ctx, eps, order, gamma))

    def of_ratio(ratio: Fraction) -> Number:
        return excess(ctx, Triple(Fraction(alpha), Fraction(gamma), 2 / ratio, 1 / ratio))

    ratio = noise_ratio(eps.node)
    is_ball = isinstance(ctx, BallArithmetic)
    value = falling_in(ratio, of_ratio) if is_ball else of_ratio(nearest_rational(ratio, ctx.bits))
    return ctx.log1p(value) / (ctx.number(alpha) - 1)


@of_zeroed(
    "ZERO-OUT-GAUSSIAN",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/triples.md, zeroed-gaussian"),
    orders=FINITE_ORDERS,
    assumes="a Gaussian mechanism, of any dimension",
    applies=is_gaussian,
    tight=True,
)
def by_halves(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log( 1 + ∫_0^∞ φ(v+δ/2)[(w+γ)f_α(R) + f_{1−α}(S)] dv )/(α−1), δ = Δ/σ,
    w = (1−γ)e^{−δ²−δv}, R = (w+γe^{δv})/(w+γ), S = 1−γ+γe^{δv}, f_a(t) = t^a − 1 − a(t−1),
    which at 1 is ∫_0^∞ φ(v+δ/2)[(w+γ)(R log R − R + 1) + S − 1 − log S] dv"""
    if gamma in (0, 1):
        return eps(alpha) if gamma == 1 else ctx.number(0)
    value = halves(ctx, alpha, gamma, 1 / noise_ratio(eps.node))
    if isinstance(alpha, int) and alpha == 1:
        return value
    return ctx.log1p(value) / (ctx.number(alpha) - 1)


def _each(ctx: Any, alpha: np.ndarray, value: Any) -> Number:
    """The values in float64 at each order of an array."""
    values = [value(array_order(order)) for order in alpha.ravel()]
    parts = zip(*((x.sign, x.log, x.error) for x in values), strict=True)
    return LogNumber(*(np.reshape(part, alpha.shape) for part in parts))


@singledispatch
def halves(ctx: Arithmetic, alpha: Order, gamma: Exact, shift: Exact) -> Number:
    """The integral of ZERO-OUT-GAUSSIAN; `shift` is δ = Δ/σ. TypeError without a rule."""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


@halves.register
def _(ctx: BallArithmetic, alpha: Order, gamma: Exact, shift: Exact) -> Number:
    """In balls: by a certified integral to where a proved bound of the rest is small."""
    return analysis.halves(alpha, gamma, shift)


@halves.register
def _(ctx: Float64Arithmetic, alpha: Order, gamma: Exact, shift: Exact) -> Number:
    """In float64: by Gauss's rule, without a bound of its error."""
    rate, delta, orders = float(gamma), float(shift), np.asarray(alpha)
    logs = [analysis.log_halves(float(order), rate, delta) for order in orders.ravel()]
    return LogNumber(1.0, np.reshape(np.array(logs), orders.shape))


@halves.register
def _(ctx: MpmathArithmetic, alpha: Order, gamma: Exact, shift: Exact) -> Number:
    """In mpmath: by its own quadrature, whose error is not bounded."""
    mp = ctx.mp
    with mp.workprec(3 * ctx.bits):
        order, rate, delta = ctx.number(alpha), ctx.number(gamma), ctx.number(shift)
        top = max(order, 2) * delta + mp.sqrt(4 * ctx.bits)

        def gaps(seen: Any, alone: Any) -> tuple[Any, Any]:
            if alpha == 1:
                return seen * mp.exp(seen) - mp.expm1(seen), mp.expm1(alone) - alone
            both = ((order, seen), (1 - order, alone))
            with_it, without = (mp.expm1(a * x) - a * mp.expm1(x) for a, x in both)
            return with_it, without

        def integrand(v: Any) -> Any:
            grown = mp.exp(delta * v)
            opposite = (1 - rate) * mp.exp(-delta * (delta + v))
            seen = mp.log1p(rate * (grown - 1) / (opposite + rate))
            alone = mp.log1p(rate * (grown - 1))
            with_it, without = gaps(seen, alone)
            return mp.npdf(v + delta / 2) * ((opposite + rate) * with_it + without)

        places = mp.linspace(0, top, int(top * (1 + delta) / 4) + 4)
        total = quadrature(mp, integrand, places, method="gauss-legendre")
    return +total


@halves.register
def _(ctx: SymbolicArithmetic, alpha: Order, gamma: Exact, shift: Exact) -> Number:
    """In formulas: an unevaluated integral."""
    v = sympy.Dummy("z", real=True)
    order, rate, delta = (ctx.number(x) for x in (alpha, gamma, shift))
    grown, opposite = sympy.exp(delta * v), (1 - rate) * sympy.exp(-delta * (delta + v))

    def gap(t: Any, a: Any) -> Any:
        return t**a - 1 - a * (t - 1)

    seen, alone = (opposite + rate * grown) / (opposite + rate), 1 - rate + rate * grown
    if alpha == 1:
        value = (opposite + rate) * (seen * ctx.log(seen) - seen + 1) + alone - 1 - ctx.log(alone)
    else:
        value = (opposite + rate) * gap(seen, order) + gap(alone, 1 - order)
    density = sympy.exp(-((v + delta / 2) ** 2) / 2) / sympy.sqrt(2 * sympy.pi)
    return written.Integral(density * value, (v, 0, sympy.oo))
