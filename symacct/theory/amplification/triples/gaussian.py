"""Gaussian noise of any dimension, fixed size, a record replaced: a triangle, found and proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from flint import arb

from symacct.analysis.triangles import (
    WIDE,
    BellMajorant,
    Triangles,
    Triple,
    lattice_of,
    plan,
    rows_of,
    triple_excess,
    triple_log_excess,
)
from symacct.analysis.worst_triangle import Place, highest, is_far_beyond, raised_end, worst
from symacct.kernel.arithmetic import (
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
)
from symacct.kernel.arithmetic.ball import nearest_rational, precision
from symacct.kernel.claims import REPLACE_ONE, Kind, Orders
from symacct.kernel.errors import DomainError, PrecisionError
from symacct.kernel.exact import Exact, Order, array_order
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.sums.balls import steered_by_floats, up_to
from symacct.kernel.sums.differences import GUARD_BITS
from symacct.kernel.theorem_registry import theorem
from symacct.mechanisms import ScalarGaussian
from symacct.operations.subsample import SubsampleWithoutReplacement
from symacct.theory.amplification.pairs import falling_in, rising_in_rate, shape_ratio
from symacct.theory.amplification.triples.gaussian_poisson import is_gaussian
from symacct.theory.rdp_curve import RDPCurve

_SHARED: dict[str, Any] = {
    "operation": SubsampleWithoutReplacement,
    "source": SYMACCT.at("docs/proofs.md, section 14, Gaussian noise"),
    "orders": Orders(1, above=True, infinite=False),
    "adjacency": REPLACE_ONE,
    "monotone": True,
    "partial": True,
    "takes_exact": True,
    "status": "proved",
}


def in_numbers(node: Node) -> str | None:
    """Gaussian noise in numbers, of a query that is not declared to be a real number.

    Which triangle is the worst is decided by the numbers.
    """
    if isinstance(node.mechanism, ScalarGaussian):  # type: ignore[attr-defined]
        return "on a line there is no triangle; TRIPLE-LINE is exact there"
    reason = is_gaussian(node)
    if reason is None and node.free_symbols:
        return (
            "found a symbol without a value, needed numbers: they decide which triangle is "
            "the worst"
        )
    return reason


def of_one_query(node: Node) -> str | None:
    """Gaussian noise, in numbers, on one query: nothing that came before chooses a triangle."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    reason = in_numbers(node)
    if reason is None and not mechanism.is_one_query:
        return (
            "it is about one query, fixed beforehand: where a record's moves may follow what came "
            f"before, no one triangle is the worst, got {type(mechanism).__name__}"
        )
    return reason


def of_vectors(node: Node) -> str | None:
    """Gaussian noise, in numbers, of which three records may make a triangle."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    reason = in_numbers(node)
    if reason is None and not mechanism.is_of_vectors:
        return f"needed answers that records move in any direction, got {type(mechanism).__name__}"
    return reason


@theorem(
    "TRIPLE-GAUSSIAN-LOWER",
    kind=Kind.LOWER,
    default=False,
    assumes="a Gaussian mechanism, of two dimensions or more, parameters that are numbers, "
    "$0 < γ < 1$ and a third record",
    applies=of_vectors,
    **_SHARED,
)
@rising_in_rate
def larger_end(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= log max{G(0), G(δ²)}/(α−1), with G as for TRIPLE-GAUSSIAN"""
    return _value(ctx, eps, alpha, gamma, _of_ends)


@rising_in_rate
def float_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """The larger end in float64, which orders are compared by."""
    return _value(ctx, eps, alpha, gamma, _of_ends_in_floats)


@rising_in_rate
def triangle_near(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, near: Order
) -> Number:
    """The triangle that is the worst at the order `near`, as far as float64 tells, at α."""

    def excess_of_one(ctx: Arithmetic, triangles: Triangles) -> Number:
        square = _square_of(replace(triangles, alpha=Fraction(near)), ctx.bits)
        return excess(ctx, triangles.at(square))

    return _value(ctx, eps, alpha, gamma, excess_of_one)


@theorem(
    "TRIPLE-GAUSSIAN",
    kind=Kind.EXACT,
    default=True,
    tight=True,
    steer=float_bound,
    below=triangle_near,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers, "
    "and a proof of the place of the maximum at this order, without which it gives no value; it is "
    "attained if $0 < γ < 1$ and there are two dimensions and a third record",
    applies=of_one_query,
    **_SHARED,
)
@rising_in_rate
def worst_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log max G(B)/(α−1) over 0 <= B <= δ² = (Δ/σ)², G(B) = E[m^α n^{1−α}],
    m = 1−γ+γX, n = 1−γ+γY, log X ~ N(−δ²/2, δ²), log Y ~ N(−B/2, B) with covariance B/2"""
    return _value(ctx, eps, alpha, gamma, _of_worst)


@theorem(
    "TRIPLE-GAUSSIAN-NEAR",
    kind=Kind.UPPER,
    default=True,
    steer=float_bound,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers",
    applies=of_one_query,
    **_SHARED,
)
@rising_in_rate
def raised_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log( 1 + (1+s)(max{G(0), G(δ²)} − 1) )/(α−1), with G as for TRIPLE-GAUSSIAN;
    s is one of 1/1000, 1/50, 3/20 and 1/2 for which no B in [0, δ²] gives more, and 0 for γ = 1"""
    return _value(ctx, eps, alpha, gamma, _of_raised)


@theorem(
    "TRIPLE-GAUSSIAN-UPPER",
    kind=Kind.UPPER,
    default=False,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers",
    applies=of_one_query,
    **_SHARED,
)
@rising_in_rate
def dominating_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log E[m^α n^{1−α}]/(α−1), m = 1−γ+γX, n = 1−γ+γY, log X ~ N(−Aδ²/2, Aδ²),
    log Y ~ N(−δ²/2, δ²) with covariance δ²/2, A = (161/144)² > 5/4, δ = Δ/σ"""
    if gamma == 1:
        return ctx.number(WIDE**2) * eps(alpha)
    return _value(ctx, eps, alpha, gamma, _of_dominating)


def _of_dominating(ctx: Arithmetic, triangles: Triangles) -> Number:
    return excess(ctx, triangles.dominating)


def _of_ends(ctx: Arithmetic, triangles: Triangles) -> Number:
    return ctx.maximum(*(excess(ctx, end) for end in triangles.ends))


def _of_ends_in_floats(ctx: Arithmetic, triangles: Triangles) -> Number:
    return ctx.exp(ctx.number(max(triangles.ends_in_floats)))


def _of_worst(ctx: Arithmetic, triangles: Triangles) -> Number:
    bits = ctx.bits + GUARD_BITS
    if is_far_beyond(triangles, bits):
        found = [(triangles.ends[0], arb(2) ** -bits)]
    else:
        found = [place.refined(bits) for place in _places(triangles)]
    return ctx.maximum(*(_at_most(ctx, excess(ctx, triple), share) for triple, share in found))


def _at_most(ctx: Arithmetic, value: Number, share: arb) -> Number:
    """Between a value and what is larger by this share; other arithmetics give the value."""
    return value * (1 + up_to(share)) if isinstance(ctx, BallArithmetic) else value


def _places(triangles: Triangles) -> tuple[Place, ...]:
    """Of which one is the worst."""
    places = _worst(triangles)
    if places is None:
        raise PrecisionError(
            f"TRIPLE-GAUSSIAN at order {triangles.alpha}: found no proof of which triangle is the "
            "worst",
            remedy="take TRIPLE-GAUSSIAN-NEAR",
        )
    return places


def _of_raised(ctx: Arithmetic, triangles: Triangles) -> Number:
    end, share = _raised_end(triangles)
    return excess(ctx, end) * ctx.number(1 + share)


@lru_cache(maxsize=4096)
def _worst(triangles: Triangles) -> tuple[Place, ...] | None:
    with precision(53):
        return worst(triangles)


@lru_cache(maxsize=4096)
def _square_of(triangles: Triangles, bits: int) -> Fraction:
    """|b|² of the worst triangle, as far as float64 tells, to half of the bits."""
    with precision(53):
        return highest(triangles, bits // 2)


@lru_cache(maxsize=4096)
def _raised_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    with precision(53):
        return raised_end(triangles)


@steered_by_floats
def _value(
    ctx: Arithmetic,
    eps: RDPCurve,
    alpha: Order,
    gamma: Exact,
    largest: Callable[[Arithmetic, Triangles], Number],
) -> Number:
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return eps(alpha)
    if isinstance(alpha, np.ndarray):
        found = [
            _value(ctx, eps, array_order(one), gamma, largest).value() for one in alpha.ravel()
        ]
        return ctx.number(np.reshape(np.array(found, dtype=np.float64), alpha.shape))

    def of_ratio(ratio: Fraction) -> Number:
        return largest(ctx, Triangles(Fraction(alpha), Fraction(gamma), 1 / ratio))

    ratio = shape_ratio(eps.node)
    is_ball = isinstance(ctx, BallArithmetic)
    value = falling_in(ratio, of_ratio) if is_ball else of_ratio(nearest_rational(ratio, ctx.bits))
    return ctx.log1p(value) / (ctx.number(alpha) - 1)


@singledispatch
def excess(ctx: Arithmetic, triple: Triple) -> Number:
    """E[m^α n^{1−α}] − 1 of one triangle."""
    raise DomainError(
        f"TRIPLE-GAUSSIAN: found {type(ctx).__name__}, needed balls or float64: which triangle is "
        "the worst is decided by numbers, so there is no one formula"
    )


@excess.register
def _(ctx: BallArithmetic, triple: Triple) -> Number:
    return triple_excess(triple)


@excess.register
def _(ctx: MpmathArithmetic, triple: Triple) -> Number:
    """By the nodes and weights of the balls, summed in mpmath with digits to spare."""
    nodes = _on_a_line(ctx, triple) if triple.on_a_line else _in_the_plane(ctx, triple)
    with ctx.mp.workprec(3 * ctx.bits):
        total = ctx.mp.fsum(nodes) - 1
    return +total


def _on_a_line(ctx: MpmathArithmetic, triple: Triple) -> Iterator[Number]:
    """hφ(z) m^α n^{1−α} at the nodes z = hi."""
    with precision(ctx.bits):
        rule = plan(triple, ctx.bits)
        rows = list(rows_of(rule, BellMajorant.best(triple, rule.log_tolerance)))
    mp = ctx.mp
    with mp.workprec(3 * ctx.bits):
        alpha, step = ctx.number(triple.alpha), mp.mpf(rule.steps[0])
        for i, _, _ in rows:
            z = step * i
            m, n = (_mixture(ctx, triple, t * t, ctx.number(t) * z) for t in (triple.a, triple.b))
            yield step * mp.npdf(z) * m**alpha * n ** (1 - alpha)


def _in_the_plane(ctx: MpmathArithmetic, triple: Triple) -> Iterator[Number]:
    """The rows over the nodes (hi, kj) of a·x and b·x."""
    with precision(ctx.bits):
        lattice = lattice_of(triple, ctx.bits)
        (h, k), (rows, places) = map(ctx.mp.mpf, lattice.steps), lattice.box
    mp, gram = ctx.mp, triple.gram
    with mp.workprec(3 * ctx.bits):
        alpha, (first, mixed, second) = ctx.number(triple.alpha), map(ctx.number, gram)
        double = 2 * ctx.number(gram.determinant)
        columns = [
            _mixture(ctx, triple, second, k * j) ** (1 - alpha)
            * mp.exp(-first * (k * j) ** 2 / double)
            for j in places
        ]
        scale = h * k / (mp.pi * mp.sqrt(2 * double))
        for i in rows:
            m, tie = _mixture(ctx, triple, first, h * i), 2 * mixed * h * k * i / double
            row = mp.polyval(columns[::-1], mp.exp(tie)) * mp.exp(tie * places[0])
            yield scale * m**alpha * mp.exp(-second * (h * i) ** 2 / double) * row


def _mixture(ctx: MpmathArithmetic, triple: Triple, square: Number, log_ratio: Number) -> Number:
    """1 − γ + γe^{log_ratio − square/2}"""
    gamma = ctx.number(triple.gamma)
    return 1 - gamma + gamma * ctx.mp.exp(ctx.number(log_ratio) - ctx.number(square) / 2)


@excess.register
def _(ctx: Float64Arithmetic, triple: Triple) -> LogNumber:
    return LogNumber(1.0, triple_log_excess(triple))
