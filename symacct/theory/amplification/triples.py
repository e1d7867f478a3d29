"""The largest Rényi divergence of a sampled mechanism, as that of three laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial, singledispatch
from itertools import permutations, product
from typing import Any, cast

import numpy as np
from flint import arb

from symacct.analysis.normal_mixtures import sampled_relative_entropy
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
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    LogNumber,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import (
    LOG2,
    nearest_rational,
    precision,
    steered_by_floats,
    up_to,
)
from symacct.kernel.arithmetic.mp import quadrature
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.claims import (
    ALL_ORDERS,
    FINITE_ORDERS,
    INTEGER_ORDERS,
    REPLACE_ONE,
    Kind,
    Orders,
)
from symacct.kernel.errors import DomainError, PrecisionError
from symacct.kernel.exact import INFINITY, Exact, Order, array_order, expression, sympy
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.sums.differences import GUARD_BITS
from symacct.kernel.theorem_registry import Bound, RDPCurve, always, theorem
from symacct.laws.law import FiniteDirection
from symacct.laws.neighbours import Shift, SwappedPair, falling_in, law_of
from symacct.mechanisms.finite import alike_once
from symacct.operations.subsample import (
    SAMPLINGS,
    one_query,
)
from symacct.theory.amplification.mtz19 import noise_ratio
from symacct.theory.amplification.pairs import from_pair, rising_in_rate
from symacct.theory.amplification.samples import of_a_record, of_fixed_samples, of_poisson_replaced
from symacct.theory.amplification.zw19 import has_one_pair, log_moment, sampled_pure

# --- formulas that cancel
#
# A formula whose leading terms cancel, evaluated in each arithmetic to all of its digits.

#: (arithmetic, the mechanism's curve in it, α, γ) ↦ a number >= 0 in it.
Formula = Callable[[Any, Any, Any, Any], Any]


def carefully(
    ctx: Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> Number:
    """The formula's value: a ball says how many digits it lost, and an expression loses none.

    In mpmath it is found with four times the bits, and in float64 it is a certified value, rounded.
    """
    if isinstance(ctx, MpmathArithmetic):
        return _with_digits_to_spare(ctx, formula, eps, alpha, gamma)
    if isinstance(ctx, Float64Arithmetic):
        return _rounded(ctx, formula, eps, alpha, gamma)
    return formula(ctx, eps, alpha, gamma)


def _with_digits_to_spare(
    ctx: MpmathArithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> Number:
    """The formula in mpmath with four times the bits, rounded: nearly squares lose half of them."""
    finer = MpmathArithmetic(4 * ctx.bits)
    return ctx.mp.mpf(1) * ctx.mp.make_mpf(formula(finer, eps.using(finer), alpha, gamma)._mpf_)


def _rounded(
    ctx: Float64Arithmetic, formula: Formula, eps: RDPCurve, alpha: Order, gamma: Exact
) -> LogNumber:
    """The formula at one order or at each of an array, from balls to float64 with its error."""
    if isinstance(alpha, np.ndarray):
        values = [_rounded(ctx, formula, eps, array_order(value), gamma) for value in alpha.ravel()]
        parts = zip(*((value.sign, value.log, value.error) for value in values), strict=True)
        return LogNumber(*(np.reshape(part, alpha.shape) for part in parts))
    return ctx.from_balls(lambda: formula(BALL, eps.using(BALL), alpha, gamma))


# --- a dominating pair
#
# Fixed size, a record replaced, from one pair that dominates all neighbours: one expectation.


def has_dominating_pair(node: Node) -> str | None:
    """None if one pair dominates and its expectations are known; else the reason."""
    mechanism = one_query(node.mechanism)  # type: ignore[attr-defined]
    if law_of(mechanism).worst is None:
        return (
            "it is computed for noise, Gaussian compositions, randomized response and pure DP, "
            f"got {type(mechanism).__name__}"
        )
    return None


@of_fixed_samples(
    "TRIPLE-DOMINATED",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/triples.md, dominated-triples"),
    orders=FINITE_ORDERS,
    assumes="one pair $(P, Q)$ dominates every neighbouring pair, in either order",
    applies=has_dominating_pair,
    monotone=False,
    takes_exact=True,
)
@rising_in_rate
def above_one(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) <= log( 1 + E_Q[ψ(1−γ+γL); L > 1] ), L = P/Q, ψ(t) = (t^α − 1)(1 − t^{1−α})"""
    if gamma == 0:
        return ctx.number(0)
    value = carefully(ctx, _expected, eps, alpha, gamma)
    if isinstance(alpha, int) and alpha == 1:
        return value
    return ctx.log1p(value) / (ctx.number(alpha) - 1)


def _expected(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """E_Q[ψ(1−γ+γL); L > 1] of the query whose curve is read, ψ at α = 1 being (t−1) log t."""
    return expectation(ctx, one_query(eps.node), None if alpha == 1 else alpha, gamma)


def psi(ctx: Arithmetic, alpha: Order, log_t: Any) -> Number:
    """ψ(t) = (t^α − 1)(1 − t^{1−α}) by log t, and (t−1) log t where α is None; never negative."""
    if alpha is None:
        return ctx.expm1(log_t) * log_t
    order = ctx.number(alpha)
    return -(ctx.expm1(order * log_t) * ctx.expm1((1 - order) * log_t))


@singledispatch
def expectation(ctx: Arithmetic, mechanism: Node, alpha: Order | None, gamma: Exact) -> Number:
    """E_Q[ψ(1−γ+γL); L > 1], L = P/Q of the mechanism's worst pair; α None stands for 1"""
    return mean_of_psi(ctx, mechanism, alpha, gamma)


def mean_of_psi(ctx: Arithmetic, mechanism: Node, alpha: Order | None, gamma: Exact) -> Number:
    """E_Q[ψ(1−γ+γL); L > 1] by the sum or the integral: 0 <= ψ(t) <= t^α, or t² for α = 1."""
    rate = ctx.number(gamma)

    def value(log_ratio: Any) -> Number:
        return psi(ctx, alpha, ctx.log1p(rate * ctx.expm1(log_ratio)))

    return cast(SwappedPair, law_of(mechanism).worst).mean(ctx, value, alpha, above_one=True)


@expectation.register
def _(ctx: BallArithmetic, mechanism: Node, alpha: Order | None, gamma: Fraction) -> Number:
    """In balls: by the certified integral of noise, or by the sum over two answers."""
    pair = law_of(mechanism).worst
    if isinstance(pair, Shift):
        return pair.upper_half_in_balls(gamma, alpha)
    return mean_of_psi(ctx, mechanism, alpha, gamma)


@expectation.register
def _(ctx: SymbolicArithmetic, mechanism: Node, alpha: Order | None, gamma: Exact) -> Number:
    """In formulas: with ψ as it is printed, in t and not in log t."""
    pair = cast(SwappedPair, law_of(mechanism).worst)
    if pair.has_two_outcomes:
        return mean_of_psi(ctx, mechanism, alpha, gamma)
    order, rate = None if alpha is None else ctx.number(alpha), ctx.number(gamma)

    def value(log_ratio: sympy.Expr) -> sympy.Expr:
        return written_psi(order, 1 - rate + rate * sympy.exp(log_ratio))

    return pair.mean(ctx, value, alpha, above_one=True)


def written_psi(order: Any, t: sympy.Expr) -> sympy.Expr:
    """ψ(t) as it is printed, as an expression of t; order None stands for α = 1."""
    return (t - 1) * sympy.log(t) if order is None else (t**order - 1) * (1 - t ** (1 - order))


def above_one_of(
    mechanism: Node, gamma: Exact, value: Callable[[sympy.Expr], sympy.Expr]
) -> sympy.Expr:
    """E_Q[value(1−γ+γL); L > 1] as an unevaluated integral over the noise's shape."""
    rate = expression(gamma)
    shift = cast(Shift, law_of(mechanism).worst)
    return shift.written(lambda x: value(1 - rate + rate * sympy.exp(x)), above_one=True)


# --- finitely many laws
#
# Mechanisms given by all of their laws: the largest over finitely many triples.

#: The probabilities of the outcomes, in one order for all laws.
Law = tuple[Any, ...]
#: (p, p′, q): the law with either of two records, and that without both.
FiniteTriple = tuple[Law, Law, Law]


def has_finitely_many_laws(node: Node) -> str | None:
    """None if all laws of the mechanism are known and are finitely many; else the reason."""
    if law_of(node.mechanism).all_laws is not None:  # type: ignore[attr-defined]
        return None
    return "the mechanism is not given by all of its laws; FiniteMechanism states one that is"


@theorem(
    "TRIPLE-FINITE",
    operation=SAMPLINGS,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/triples.md, three-laws"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    assumes="finitely many laws, any two of which are those of neighbours; it is attained if "
    "$0 < γ < 1$ and there is a third record",
    applies=has_finitely_many_laws,
    monotone=True,
    default=True,
    tight=True,
    takes_exact=True,
    status="proved",
)
def record_replaced(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max D_α( (1−γ)q + γp ‖ (1−γ)q + γp′ ) over the laws p, p′ and q"""
    return largest(ctx, eps, alpha, gamma, "TRIPLE-FINITE")


@of_a_record(
    "TRIPLE-FINITE-ONE",
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/triples.md, three-laws"),
    orders=ALL_ORDERS,
    assumes="finitely many laws, any two of which are those of neighbours",
    applies=has_finitely_many_laws,
    tight=True,
    takes_exact=True,
)
def record_added_or_removed(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = max{ D_α(m‖q), D_α(q‖m) } over m = (1−γ)q + γp and the laws p and q"""
    return largest(ctx, eps, alpha, gamma, "TRIPLE-FINITE-ONE")


def largest(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, name: str) -> Number:
    """The largest D_α over the triples that the theorem `name` is about, 1 <= α <= ∞.

    What does not depend on the order is remembered with the mechanism's curve.
    """
    if gamma == 0:
        return ctx.number(0)
    known = eps.remember(f"triples of laws, {name}")
    if gamma not in known:
        directions = worst_directions(eps.node, gamma, name)
        known[gamma] = directions, [direction.curve(ctx) for direction in directions]
    directions, curves = known[gamma]
    if isinstance(alpha, int | float) and alpha in (1, INFINITY):
        return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))
    return ctx.maximum(*(curve(alpha) for curve in curves))


def worst_directions(mechanism: Any, gamma: Exact, name: str) -> list[FiniteDirection]:
    """The pairs of mixtures of which one is the worst.

    They are of any three laws for TRIPLE-FINITE, and of two for TRIPLE-FINITE-ONE.
    """
    triples = _any_three if name == "TRIPLE-FINITE" else _one_is_the_third
    laws = cast(tuple[Law, ...], law_of(mechanism).all_laws)
    return [FiniteDirection(masses) for masses in mixtures(triples(laws), gamma)]


def _any_three(laws: tuple[Law, ...]) -> Iterator[FiniteTriple]:
    """All triples (p, p′, q) of laws with p and p′ at different places."""
    return ((p, other, q) for (p, other), q in product(permutations(laws, 2), laws))


def _one_is_the_third(laws: tuple[Law, ...]) -> Iterator[FiniteTriple]:
    """All triples (p, q, q) and (q, p, q): a record is added, or removed."""
    for p, q in permutations(laws, 2):
        yield from ((p, q, q), (q, p, q))


def mixtures(triples: Iterable[FiniteTriple], gamma: Exact) -> tuple[Any, ...]:
    """(m, n) at every outcome, m = (1−γ)q + γp and n = (1−γ)q + γp′, of each triple once."""

    def mixed(triple: FiniteTriple) -> tuple[tuple[Any, Any], ...]:
        return tuple(
            (q + gamma * (p - q), q + gamma * (other - q))
            for p, other, q in zip(*triple, strict=True)
        )

    return alike_once(map(mixed, triples))


# --- Gaussian noise, Poisson sampling
#
# Gaussian noise, Poisson sampling, a record replaced: the two records at opposite ends.


def is_gaussian(node: Node) -> str | None:
    """None for the Gaussian mechanism, of which two normal laws are not all; else the reason."""
    shift = law_of(node.mechanism).normal  # type: ignore[attr-defined]
    return None if shift is not None else "the mechanism is not the Gaussian one"


@of_poisson_replaced(
    "TRIPLE-GAUSSIAN-POISSON",
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/triples.md, gaussian-poisson-triples"),
    orders=FINITE_ORDERS,
    assumes="a Gaussian mechanism, of any dimension; it is attained if $0 < γ < 1$",
    applies=is_gaussian,
    tight=True,
    takes_exact=True,
)
@rising_in_rate
def at_opposite_ends(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_{x~N(0,1)}[ (1−γ+γe^{δx−δ²/2})^α (1−γ+γe^{−δx−δ²/2})^{1−α} ]/(α−1),
    δ = Δ/σ, any real α > 1"""
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return 4 * eps(alpha)
    shift = 1 / noise_ratio(eps.node)
    if isinstance(alpha, int) and alpha == 1:
        return relative_entropy(ctx, gamma, shift)
    return gaussian_log_moment(ctx, alpha, gamma, shift) / (ctx.number(alpha) - 1)


@singledispatch
def gaussian_log_moment(ctx: Arithmetic, alpha: Order, gamma: Any, shift: Any) -> Number:
    """(α−1) ε′(α) of TRIPLE-GAUSSIAN-POISSON in numbers, by `excess`; `shift` is δ = Δ/σ."""
    return _log_moment(ctx, alpha, gamma, 1 / shift, lambda ctx, of: excess(ctx, of.opposite))


@singledispatch
def relative_entropy(ctx: Arithmetic, gamma: Number, shift: Any) -> Number:
    """ε′(1) = E[m log(m/n)] of TRIPLE-GAUSSIAN-POISSON; `shift` is δ. TypeError without a rule."""
    raise TypeError(f"no expectation for {type(ctx).__name__}")


@relative_entropy.register
def _(ctx: BallArithmetic, gamma: Fraction, shift: Fraction) -> Number:
    """In balls: by a certified integral; of an irrational δ between those of rational ones."""
    return falling_in(1 / shift, lambda ratio: sampled_relative_entropy(gamma, ratio, -1))


@gaussian_log_moment.register
def _(ctx: SymbolicArithmetic, alpha: Order, gamma: Number, shift: Any) -> Number:
    """In formulas: the log of an unevaluated integral."""
    order = ctx.number(alpha)
    return ctx.log(_integral(ctx, gamma, shift, lambda m, n: m**order * n ** (1 - order)))


@relative_entropy.register
def _(ctx: SymbolicArithmetic, gamma: Number, shift: Any) -> Number:
    """In formulas: an unevaluated integral."""
    return _integral(ctx, gamma, shift, lambda m, n: m * sympy.log(m / n))


def _integral(ctx: SymbolicArithmetic, gamma: Number, shift: Any, value: Any) -> sympy.Expr:
    """E[value(m, n)] over a standard normal x, unevaluated, for the two records at ±δ."""
    x = sympy.Dummy("z", real=True)
    rate, delta = ctx.number(gamma), ctx.number(shift)
    m, n = (1 - rate + rate * sympy.exp(s * delta * x - delta**2 / 2) for s in (1, -1))
    density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
    return written.Integral(density * value(m, n), (x, -sympy.oo, sympy.oo))


@relative_entropy.register
def _(ctx: MpmathArithmetic, gamma: Fraction, shift: Fraction) -> Number:
    """In mpmath: by its own quadrature of E[m log(m/n) − u + w], never negative; no proof.

    u = m − 1 and w = n − 1. The bits are 3 times as many, and x goes from −√(4·bits) to √(4·bits) +
    shift.
    """
    mp = ctx.mp
    with mp.workprec(3 * ctx.bits):
        rate, delta = ctx.number(gamma), ctx.number(shift)
        reach = mp.sqrt(4 * ctx.bits)
        low, high = -reach, reach + delta

        def integrand(x: Any) -> Any:
            u, w = (rate * mp.expm1(s * delta * x - delta**2 / 2) for s in (1, -1))
            gap = (1 + u) * (mp.log1p(u) - mp.log1p(w)) - u + w
            return mp.exp(-x * x / 2) * gap

        places = mp.linspace(low, high, int((high - low) * (1 + delta) / 4) + 4)
        total = quadrature(mp, integrand, places, method="gauss-legendre") / mp.sqrt(2 * mp.pi)
    return +total


@relative_entropy.register
def _(ctx: Float64Arithmetic, gamma: Fraction, shift: Fraction) -> Number:
    """In float64: by the nodes that the proof in balls would take, without its bound."""
    a = Fraction(float(shift))
    return LogNumber(1.0, Triple(Fraction(1), gamma, a, -a).floats.log_entropy())


# --- Gaussian noise, fixed size
#
# Gaussian noise of any dimension, fixed size, a record replaced: a triangle, found and proved.

#: The decorator of what is proved of Gaussian noise at one order, by numbers.
_of_gaussian = partial(
    of_fixed_samples,
    source=SYMACCT.at("docs/proofs/triples.md, gaussian-triangles"),
    orders=Orders(1, above=True, infinite=False),
    partial=True,
    takes_exact=True,
)


def in_numbers(node: Node) -> str | None:
    """None for Gaussian noise in numbers, of a query not declared to be real; else the reason.

    Which triangle is the worst is decided by the numbers.
    """
    shift = law_of(node.mechanism).normal  # type: ignore[attr-defined]
    if shift is None:
        return is_gaussian(node)
    if shift.is_on_line:
        return "on a line there is no triangle; TRIPLE-LINE is exact there"
    if node.free_symbols:
        return (
            "found a symbol without a value, needed numbers: they decide which triangle is "
            "the worst"
        )
    return None


def of_one_query(node: Node) -> str | None:
    """None for Gaussian noise, in numbers, on one query fixed beforehand; else the reason."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    reason = in_numbers(node)
    if reason is None and not mechanism.is_one_query:
        return (
            "it is about one query, fixed beforehand: where a record's moves may follow what came "
            f"before, no one triangle is the worst, got {type(mechanism).__name__}"
        )
    return reason


def of_vectors(node: Node) -> str | None:
    """None for Gaussian noise in numbers of which three records make a triangle; else why not."""
    mechanism: Any = node.mechanism  # type: ignore[attr-defined]
    reason = in_numbers(node)
    if reason is None and not mechanism.is_of_vectors:
        return f"needed answers that records move in any direction, got {type(mechanism).__name__}"
    return reason


@_of_gaussian(
    "TRIPLE-GAUSSIAN-LOWER",
    kind=Kind.LOWER,
    default=False,
    assumes="a Gaussian mechanism, of two dimensions or more, parameters that are numbers, "
    "$0 < γ < 1$ and a third record",
    applies=of_vectors,
)
@rising_in_rate
def larger_end(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) >= log max{G(0), G(δ²)}/(α−1), with G as for TRIPLE-GAUSSIAN"""
    return _gaussian_value(ctx, eps, alpha, gamma, _of_ends)


@rising_in_rate
def float_bound(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """The bound of TRIPLE-GAUSSIAN-LOWER in float64, by which orders are compared."""
    return _gaussian_value(ctx, eps, alpha, gamma, _of_ends_in_floats)


@rising_in_rate
def triangle_near(
    ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, near: Order
) -> Number:
    """The divergence at α of the triangle that is the worst at `near`, as far as float64 tells.

    It is nowhere above TRIPLE-GAUSSIAN, being that of one of the triangles.
    """

    def excess_of_one(ctx: Arithmetic, triangles: Triangles) -> Number:
        square = _square_of(replace(triangles, alpha=Fraction(near)), ctx.bits)
        return excess(ctx, triangles.at(square))

    return _gaussian_value(ctx, eps, alpha, gamma, excess_of_one)


@_of_gaussian(
    "TRIPLE-GAUSSIAN",
    kind=Kind.EXACT,
    tight=True,
    steer=float_bound,
    below=triangle_near,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers, "
    "and a proof of the place of the maximum at this order, without which it gives no value; it is "
    "attained if $0 < γ < 1$ and there are two dimensions and a third record",
    applies=of_one_query,
)
@rising_in_rate
def worst_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log max G(B)/(α−1) over 0 <= B <= δ² = (Δ/σ)², G(B) = E[m^α n^{1−α}],
    m = 1−γ+γX, n = 1−γ+γY, log X ~ N(−δ²/2, δ²), log Y ~ N(−B/2, B) with covariance B/2"""
    return _gaussian_value(ctx, eps, alpha, gamma, _of_worst)


@_of_gaussian(
    "TRIPLE-GAUSSIAN-NEAR",
    kind=Kind.UPPER,
    steer=float_bound,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers",
    applies=of_one_query,
)
@rising_in_rate
def raised_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log( 1 + (1+s)(max{G(0), G(δ²)} − 1) )/(α−1), with G as for TRIPLE-GAUSSIAN;
    s is one of 1/1000, 1/50, 3/20 and 1/2 for which no B in [0, δ²] gives more, and 0 for γ = 1"""
    return _gaussian_value(ctx, eps, alpha, gamma, _of_raised)


@_of_gaussian(
    "TRIPLE-GAUSSIAN-UPPER",
    kind=Kind.UPPER,
    default=False,
    assumes="one Gaussian query, fixed beforehand, of any dimension, parameters that are numbers",
    applies=of_one_query,
)
@rising_in_rate
def dominating_triangle(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) <= log E[m^α n^{1−α}]/(α−1), m = 1−γ+γX, n = 1−γ+γY, log X ~ N(−Aδ²/2, Aδ²),
    log Y ~ N(−δ²/2, δ²) with covariance δ²/2, A = (161/144)² > 5/4, δ = Δ/σ"""
    if gamma == 1:
        return ctx.number(WIDE**2) * eps(alpha)
    return _gaussian_value(ctx, eps, alpha, gamma, _of_dominating)


def _of_dominating(ctx: Arithmetic, triangles: Triangles) -> Number:
    """G − 1 of the triangle that is above all, though no three records make it."""
    return excess(ctx, triangles.dominating)


def _of_ends(ctx: Arithmetic, triangles: Triangles) -> Number:
    """max{G(0), G(δ²)} − 1."""
    return ctx.maximum(*(excess(ctx, end) for end in triangles.ends))


def _of_ends_in_floats(ctx: Arithmetic, triangles: Triangles) -> Number:
    """max{G(0), G(δ²)} − 1 in float64, unproved, as a number of the arithmetic."""
    return ctx.exp(ctx.number(max(triangles.ends_in_floats)))


def _of_worst(ctx: Arithmetic, triangles: Triangles) -> Number:
    """max G(B) − 1, in balls with what a place may lack; PrecisionError where none is proved."""
    bits = ctx.bits + GUARD_BITS
    if is_far_beyond(triangles, bits):
        candidates = [(triangles.ends[0], arb(2) ** -bits)]
    else:
        candidates = [place.refined(bits) for place in _places(triangles)]
    return ctx.maximum(*(_at_most(ctx, excess(ctx, triple), share) for triple, share in candidates))


def _at_most(ctx: Arithmetic, value: Number, share: arb) -> Number:
    """The ball from a value to (1 + share) times it; other arithmetics give the value."""
    return value * (1 + up_to(share)) if isinstance(ctx, BallArithmetic) else value


def _places(triangles: Triangles) -> tuple[Place, ...]:
    """The places of B near which the worst is proved to be; PrecisionError without a proof."""
    places = _worst(triangles)
    if places is None:
        raise PrecisionError(
            f"TRIPLE-GAUSSIAN at order {triangles.alpha}: found no proof of which triangle is the "
            "worst",
            remedy="take TRIPLE-GAUSSIAN-NEAR",
        )
    return places


def _of_raised(ctx: Arithmetic, triangles: Triangles) -> Number:
    """(1+s)(max{G(0), G(δ²)} − 1), above G(B) − 1 for every B."""
    end, share = _raised_end(triangles)
    return excess(ctx, end) * ctx.number(1 + share)


@lru_cache(maxsize=4096)
def _worst(triangles: Triangles) -> tuple[Place, ...] | None:
    """The places of B near which the worst is proved to be, at 53 bits; None without a proof."""
    with precision(53):
        return worst(triangles)


@lru_cache(maxsize=4096)
def _square_of(triangles: Triangles, bits: int) -> Fraction:
    """B = |b|² of the worst triangle, as far as float64 tells, to half of the bits; no proof."""
    with precision(53):
        return highest(triangles, bits // 2)


@lru_cache(maxsize=4096)
def _raised_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    """The larger end, and the share s by which it is raised above all B, proved at 53 bits."""
    with precision(53):
        return raised_end(triangles)


def _gaussian_value(
    ctx: Arithmetic,
    eps: RDPCurve,
    alpha: Order,
    gamma: Exact,
    largest: Callable[[Arithmetic, Triangles], Number],
) -> Number:
    """log(1 + largest(…))/(α−1), as `_log_moment` has it; ε(α) for γ = 1."""
    if gamma == 0:
        return ctx.number(0)
    if gamma == 1:
        return eps(alpha)
    ratio = noise_ratio(eps.node)
    return _log_moment(ctx, alpha, gamma, ratio, largest) / (ctx.number(alpha) - 1)


@steered_by_floats
def _log_moment(
    ctx: Arithmetic,
    alpha: Order,
    gamma: Exact,
    ratio: Exact,
    largest: Callable[[Arithmetic, Triangles], Number],
) -> Number:
    """log(1 + largest(…)), `largest` giving G − 1 of the triangles; `ratio` is σ/Δ.

    In balls an irrational σ/Δ lies between rational ones; elsewhere a near one is taken.
    PrecisionError where numbers are beyond the floats that choose an integral's steps.
    """
    if isinstance(alpha, np.ndarray):
        values = [
            _log_moment(ctx, array_order(order), gamma, ratio, largest).value()
            for order in alpha.ravel()
        ]
        return ctx.number(np.reshape(np.array(values, dtype=np.float64), alpha.shape))

    def of_ratio(ratio: Fraction) -> Number:
        return largest(ctx, Triangles(Fraction(alpha), Fraction(gamma), 1 / ratio))

    is_ball = isinstance(ctx, BallArithmetic)
    value = falling_in(ratio, of_ratio) if is_ball else of_ratio(nearest_rational(ratio, ctx.bits))
    return ctx.log1p(value)


@singledispatch
def excess(ctx: Arithmetic, triple: Triple) -> Number:
    """G − 1 = E[m^α n^{1−α}] − 1 of one triangle; DomainError in formulas."""
    raise DomainError(
        f"TRIPLE-GAUSSIAN: found {type(ctx).__name__}, needed balls or float64: which triangle is "
        "the worst is decided by numbers, so there is no one formula"
    )


@excess.register
def _(ctx: BallArithmetic, triple: Triple) -> Number:
    """In balls: by a lattice rule with a proved bound of its error."""
    return triple_excess(triple)


@excess.register
def _(ctx: MpmathArithmetic, triple: Triple) -> Number:
    """In mpmath: by the nodes that the proof in balls takes for `ctx.bits` bits, without its bound.

    The terms are summed at 3 times the bits, and more by those that 1 cancels where the excess is
    small.
    """
    nodes = _on_a_line(ctx, triple) if triple.on_a_line else _in_the_plane(ctx, triple)
    with ctx.mp.workprec(_working_bits(ctx, triple)):
        total = ctx.mp.fsum(nodes) - 1
    return +total


def _working_bits(ctx: MpmathArithmetic, triple: Triple) -> int:
    """3 times the bits of mpmath, and as many more as G − 1 is estimated to be below 1."""
    return 3 * ctx.bits + max(0, math.ceil(-triple.floats.log_excess / LOG2))


def _on_a_line(ctx: MpmathArithmetic, triple: Triple) -> Iterator[Number]:
    """The terms hφ(z) m^α n^{1−α} at the nodes z = hi of the trapezoidal rule on a line."""
    with precision(ctx.bits):
        rule = plan(triple, ctx.bits)
        rows = list(rows_of(rule, BellMajorant.best(triple, rule.log_tolerance)))
    mp = ctx.mp
    with mp.workprec(_working_bits(ctx, triple)):
        alpha, step = ctx.number(triple.alpha), mp.mpf(rule.steps[0])
        for i, _, _ in rows:
            z = step * i
            m, n = (_mixture(ctx, triple, t * t, ctx.number(t) * z) for t in (triple.a, triple.b))
            yield step * mp.npdf(z) * m**alpha * n ** (1 - alpha)


def _in_the_plane(ctx: MpmathArithmetic, triple: Triple) -> Iterator[Number]:
    """The sums over j of the rule's terms at the nodes (hi, kj) of a·x and b·x, for each i."""
    with precision(ctx.bits):
        lattice = lattice_of(triple, ctx.bits)
        (h, k), (rows, places) = map(ctx.mp.mpf, lattice.steps), lattice.box
    mp, gram = ctx.mp, triple.gram
    with mp.workprec(_working_bits(ctx, triple)):
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
    """In float64: by a lattice rule without a bound; LimitError for too many nodes."""
    return LogNumber(1.0, triple_log_excess(triple))


# --- symmetric log-concave noise
#
# Symmetric log-concave noise on a real-valued query: the record replaced is the third one.

#: The decorator of what is proved of noise on one number.
_of_one_number = partial(
    of_fixed_samples,
    kind=Kind.EXACT,
    source=SYMACCT.at("docs/proofs/triples.md, line-noise"),
    assumes="a real-valued query with Laplace or Gaussian noise; it is attained if "
    "$0 < γ < 1$ and there is a third record",
    tight=True,
)


def is_on_the_line(node: Node) -> str | None:
    """None for Laplace noise, or Gaussian noise declared to be on a line; else the reason."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    pair = law_of(mechanism).worst
    if pair is not None and pair.is_on_line:
        return None
    return (
        "it is about noise on a real-valued query: Laplace(b), or ScalarGaussian(sigma) for "
        f"Gaussian noise, got {type(mechanism).__name__}"
    )


@_of_one_number("TRIPLE-LINE", orders=FINITE_ORDERS, applies=is_on_the_line, takes_exact=True)
@rising_in_rate
def on_the_line(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """ε′(α) = log E_Q[ (1−γ+γP/Q)^α ]/(α−1), where Q is the noise and P is Q moved by Δ"""
    return from_pair(ctx, eps, alpha, gamma)


@_of_one_number("TRIPLE-LINE-WHOLE", orders=INTEGER_ORDERS, applies=is_on_the_line)
def at_whole_orders(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) = log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)}"""
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)


# --- pure DP
#
# Pure DP: the triples whose ratios are as far from each other as ε₀ allows.
#
# With e = e^{ε₀}, u = 1−γ+γe, v = 1−γ+γ/e the largest moment is that of two or three answers, in
# closed form at every real order (docs/proofs/triples.md, Lemmas pure-fixed-size and pure-poisson).


def is_pure(node: Node) -> str | None:
    """None if the mechanism stands for all ε₀-DP ones; else the reason."""
    pair = law_of(node.mechanism).worst  # type: ignore[attr-defined]
    if pair is not None and pair.is_whole_class:
        return None
    return "what is largest over all ε₀-DP mechanisms need not be attained by this one"


def is_no_class(node: Node) -> str | None:
    """None if the mechanism does not stand for all ε₀-DP ones; else the reason."""
    return "for all ε₀-DP mechanisms there is an exact theorem" if is_pure(node) is None else None


def _states(name: str, scheme: Any, place: str, reads: str) -> Callable[[Bound], Bound]:
    """A decorator that registers a bound as exact for all ε₀-DP mechanisms, and as upper for each.

    The two are called `name` and `name`-UPPER. With ε₀ the class of mechanisms grows, so that the
    bound rises with the curve.
    """
    shared = {
        "source": SYMACCT.at(f"docs/proofs/triples.md, {place}"),
        "orders": ALL_ORDERS,
        "takes_exact": True,
    }
    exact = scheme(
        name,
        kind=Kind.EXACT,
        assumes=f"all $ε₀$-DP mechanisms, for {reads} neighbours; it is attained for $0 < γ < 1$",
        applies=is_pure,
        tight=True,
        **shared,
    )
    upper = scheme(
        f"{name}-UPPER",
        kind=Kind.UPPER,
        assumes=f"a finite $ε(∞)$, for {reads} neighbours; otherwise there is no bound",
        applies=is_no_class,
        **shared,
    )
    return lambda bound: upper(exact(bound))


@_states("TRIPLE-PURE", of_fixed_samples, "pure-fixed-size", "replace-one")
def of_fixed_size(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) = log max{ (u^α + e v^α)/(e+1), (u^α + u^{1−α} + e(1−γ) + γ)/(e+2) },
    e = e^{ε(∞)}, u = 1−γ+γe, v = 1−γ+γ/e"""
    return _pure_value(ctx, eps, alpha, gamma, _FIXED_SIZE)


@_states("TRIPLE-PURE-POISSON", of_poisson_replaced, "pure-poisson", "add/remove")
def of_poisson(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact) -> Number:
    """(α−1) ε′(α) = log( (u^α v^{1−α} + v^α u^{1−α} + (e−1)v)/(e+1) ),
    e = e^{ε(∞)}, u = 1−γ+γe, v = 1−γ+γ/e"""
    return _pure_value(ctx, eps, alpha, gamma, _POISSON)


class FixedSize:
    """The worst triple for samples of fixed size, of two or three answers, by e, u, v of `numbers`.

    `excess` and `relative_entropy` are its moment − 1 and its divergence at α = 1.
    """

    def excess(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """max{ u^α − 1 + e(v^α − 1), (e+1)/(e+2) (u^α − 1)(u^α − u)/u^α }/(e+1)"""
        e, step, log_u, log_v = numbers(ctx, eps, gamma)
        order = ctx.number(alpha)
        rise = ctx.expm1(order * log_u)
        two = (rise + e * ctx.expm1(order * log_v)) / (e + 1)
        three = rise * (rise - step) / ((rise + 1) * (e + 2))
        return ctx.maximum(two, three)

    def moment(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """max{ (u^α + e v^α)/(e+1), (u^α + u^{1−α} + e(1−γ) + γ)/(e+2) }, as it is printed."""
        e, u, v = printed(ctx, eps, gamma)
        order = ctx.number(alpha)
        two = (u**order + e * v**order) / (e + 1)
        three = (u**order + u ** (1 - order) + e * (1 - gamma) + gamma) / (e + 2)
        return ctx.maximum(two, three)

    def relative_entropy(
        self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number
    ) -> Number:
        """max{ (u log u + e v log v)/(e+1), (u−1) log u/(e+2) }"""
        e, step, log_u, log_v = numbers(ctx, eps, gamma)
        two = (ctx.exp(log_u) * log_u + e * ctx.exp(log_v) * log_v) / (e + 1)
        return ctx.maximum(two, step * log_u / (e + 2))

    def largest_ratio(self, ctx: Arithmetic, eps: RDPCurve, gamma: Number) -> Number:
        """log u"""
        return numbers(ctx, eps, gamma)[2]


class AntitheticCoupling:
    """The worst triple for Poisson samples: the one ratio is e where the other is 1/e.

    Its moment − 1, divergence at 1 and largest ratio by the e, u and v of `numbers`.
    """

    def excess(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """v (1 − t^{1−α})(t^α − 1)/(e+1), t = u/v"""
        e, _, log_u, log_v = numbers(ctx, eps, gamma)
        order, log_t = ctx.number(alpha), log_u - log_v
        rise = -(ctx.expm1((1 - order) * log_t) * ctx.expm1(order * log_t))
        return ctx.exp(log_v) * rise / (e + 1)

    def moment(self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
        """(u^α v^{1−α} + v^α u^{1−α} + (e−1)v)/(e+1), as it is printed."""
        e, u, v = printed(ctx, eps, gamma)
        order = ctx.number(alpha)
        there, back = u**order * v ** (1 - order), v**order * u ** (1 - order)
        return (there + back + (e - 1) * v) / (e + 1)

    def relative_entropy(
        self, ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number
    ) -> Number:
        """(u − v) log(u/v)/(e+1)"""
        e, _, log_u, log_v = numbers(ctx, eps, gamma)
        log_t = log_u - log_v
        return ctx.exp(log_v) * ctx.expm1(log_t) * log_t / (e + 1)

    def largest_ratio(self, ctx: Arithmetic, eps: RDPCurve, gamma: Number) -> Number:
        """log(u/v)"""
        _, _, log_u, log_v = numbers(ctx, eps, gamma)
        return log_u - log_v


#: The worst triples of pure DP, for samples of a fixed size and for Poisson samples.
_FIXED_SIZE, _POISSON = FixedSize(), AntitheticCoupling()


def numbers(ctx: Arithmetic, eps: RDPCurve, gamma: Exact) -> tuple[Any, Any, Any, Any]:
    """e = e^{ε(∞)}, u − 1, log u and log v, u = 1−γ+γe and v = 1−γ+γ/e.

    Without cancellation for small γ or ε(∞), which is finite.
    """
    if isinstance(ctx, SymbolicArithmetic):
        e, u, v = printed(ctx, eps, gamma)
        return e, u - 1, ctx.log(u), ctx.log(v)
    pure = eps(INFINITY)
    rise = ctx.expm1(pure)
    e, step = rise + 1, ctx.number(gamma) * rise
    # Where γ = 1 the other is −ε₀, which 1 + (e^{−ε₀} − 1) would lose.
    return e, step, ctx.log1p(step), -pure if gamma == 1 else ctx.log1p(-step / e)


def printed(ctx: Arithmetic, eps: RDPCurve, gamma: Exact) -> tuple[Any, Any, Any]:
    """e = e^{ε(∞)}, u = 1−γ+γe and v = 1−γ+γ/e, as they are printed."""
    e, rate = ctx.exp(eps(INFINITY)), ctx.number(gamma)
    return e, 1 - rate + rate * e, 1 - rate + rate / e


def _pure_value(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Exact, worst: Any) -> Number:
    """ε′(α) of the triple whose ratios are as far from each other as ε(∞) allows, 1 <= α <= ∞.

    ∞ where ε(∞) is infinite and γ > 0.
    """
    if gamma == 0:
        return ctx.number(0)
    if ctx.is_infinite(eps(INFINITY)):
        return ctx.number(INFINITY)
    if isinstance(alpha, float) and alpha == INFINITY:
        return worst.largest_ratio(ctx, eps, gamma)
    if isinstance(alpha, int) and alpha == 1:
        return carefully(ctx, worst.relative_entropy, eps, alpha, gamma)
    if isinstance(ctx, SymbolicArithmetic):
        log_moment = ctx.log(worst.moment(ctx, eps, alpha, ctx.number(gamma)))
    else:
        log_moment = ctx.log1p(carefully(ctx, worst.excess, eps, alpha, gamma))
    return log_moment / (ctx.number(alpha) - 1)


# --- any mechanism, Poisson sampling
#
# Poisson sampling under replace-one, any mechanism: through the law without either record.


@of_poisson_replaced(
    "TRIPLE-ANY-POISSON",
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/triples.md, any-poisson; S22, tight subsampled RDP"),
    orders=INTEGER_ORDERS,
    assumes="$ε$ bounds both directions, as it does for add/remove neighbours",
    applies=always,
)
def through_neither(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) <= ( log A(2α) + α log A(2α−1)/(α−1) )/(2α−1),
    A(n) = (1−γ)^{n−1}(nγ−γ+1) + Σ_{l=2}^{n} C(n,l)(1−γ)^{n−l}γ^l e^{(l−1)ε(l)}"""
    there, back = (log_moment(ctx, eps, n, gamma) for n in (2 * alpha, 2 * alpha - 1))
    order = ctx.number(alpha)
    return (there + order * back / (order - 1)) / (2 * order - 1)


def has_record_without_effect(node: Node) -> str | None:
    """None if one pair attains the curve, and another record may change nothing; else the reason.

    No record does where it is stated that the dataset has one law with any record.
    """
    if node._has_one_law_of_record:
        return "found a stated law with the record, needed one that may change nothing"
    return has_one_pair(node)


@of_poisson_replaced(
    "TRIPLE-LOWER-POISSON",
    kind=Kind.LOWER,
    source=SYMACCT.at("docs/proofs/triples.md, any-poisson; ZW19, Theorem 6"),
    orders=Orders(2, whole=True),
    assumes="the same as ZW19-T6, and another record that changes nothing",
    applies=has_record_without_effect,
)
def of_one_record(ctx: Arithmetic, eps: RDPCurve, alpha: Order, gamma: Number) -> Number:
    """ε′(α) >= log A(α)/(α−1),
    A(α) = (1−γ)^{α−1}(αγ−γ+1) + Σ_{l=2}^{α} C(α,l)(1−γ)^{α−l}γ^l e^{(l−1)ε(l)};
    ε′(∞) >= log(1 + γ(e^{ε(∞)} − 1))"""
    if isinstance(alpha, float) and alpha == INFINITY:
        return sampled_pure(ctx, eps(INFINITY), gamma)
    return log_moment(ctx, eps, alpha, gamma) / (ctx.number(alpha) - 1)
