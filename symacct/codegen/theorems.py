"""Theorems and curves as code needs them: no terms that cancel, conditions where it runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any, cast

from symacct.codegen.context import (
    MOST_TERMS,
    TABLE_BITS,
    CodeArithmetic,
    CodeCurve,
    DigitsArithmetic,
    Operand,
    Traced,
    UntraceableError,
    choose,
    logged,
    middle,
)
from symacct.codegen.ir import Num, Op, Var
from symacct.kernel.accountant import FormulaEvaluation
from symacct.kernel.answer import nearest_float
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import INFINITY, Exact
from symacct.kernel.node import Mechanism
from symacct.kernel.sums.binomial_sums import Terms, binomial_sum
from symacct.kernel.sums.hull import hull_of_curve
from symacct.kernel.theorem_registry import RDPCurve, Theorem, goal_of
from symacct.laws.law import FiniteDirection, Mean, expected, log_ratio
from symacct.laws.neighbours import LaplaceShift, NormalShift, SwappedPair, law_of
from symacct.mechanisms import DiscreteGaussian
from symacct.mechanisms.integer_noise import LatticeNoise, float_above
from symacct.mechanisms.pair import mixture
from symacct.mechanisms.skellam import over_differences
from symacct.operations import Compose, Convexify
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.acg16 import chosen_sum, double_factorial
from symacct.theory.amplification.pairs import by_quadrature, expectation
from symacct.theory.amplification.triples import expectation as dominated_expectation
from symacct.theory.amplification.triples import gaussian_log_moment as opposite_log_moment
from symacct.theory.amplification.triples import numbers, worst_directions
from symacct.theory.amplification.triples import relative_entropy as opposite_entropy
from symacct.theory.amplification.wbk19 import Branches, loss_spread, ternary_sum

Lowered = Callable[..., Traced]
Term = Callable[[Traced], Operand]
Rdp = Callable[[Traced], Traced]

#: NaN, which the code gives where the theorem says nothing.
NO_ANSWER = Traced.of(math.nan)
#: A condition on the order must hold by the size of its sides over this, for they are computed. A
#: larger number may be unsound where rounding decides.
_CONDITION_SLACK = 10**12
#: A hull in code has at most this many segments, one for each whole order of its table. More are
#: refused.
_MOST_SEGMENTS = 4096

#: A theorem of this name has a form for code, (ctx, eps, alpha, node, theorem) → ε′(α); all others
#: are traced as they are.
FORMS: dict[str, Lowered] = {}


def form(*names: str) -> Callable[[Lowered], Lowered]:
    """Register the decorated function as the form of these theorems."""

    def register(function: Lowered) -> Lowered:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return register


# --- binomial sums


def mixed(
    ctx: CodeArithmetic, alpha: Traced, u: Traced, v: Traced, term: Term, first: int
) -> Traced:
    """Write Σ_{l=first}^{α} C(α,l) u^l v^{α−l} term(l), by the ratio of one weight to the next.

    α has to be a whole order. Where v is 0 the last term alone is left.
    """
    if ctx.is_zero(u):
        return Traced.of(0)
    if ctx.is_zero(v):
        return choose("<", alpha, Traced.of(first), Traced.of(0), u**alpha * term(alpha))
    odds = u / v
    start = ctx.binomial(alpha, first) * u**first * v ** (alpha - first)
    return start * ctx.weighted_sum(term, first, alpha, lambda l: odds * ((alpha - l + 1) / l))


@binomial_sum.register
def _(
    ctx: CodeArithmetic, alpha: Traced, u: Operand, v: Operand, terms: Terms, first: int = 2
) -> Traced:
    """Write Σ_{l=first}^{α} C(α,l) u^l v^{α−l} t_l as a loop."""
    return mixed(ctx, alpha, Traced.of(u), Traced.of(v), terms, first)


@ternary_sum.register
def _(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, gamma: Operand, branches: Branches
) -> Traced:
    """Write Theorem 27's sum; in float64 it has no answer beyond the table of differences."""
    spread = loss_spread(ctx, cast(RDPCurve, eps))
    difference = ctx.differences(eps, branches.reach)
    end = ctx.minimum(alpha, ctx.max_order)

    def term(j: Traced) -> Traced:
        return Traced.of(branches.power(ctx, cast(RDPCurve, eps), spread, difference, j))

    start = ctx.binomial(alpha, 2) * gamma**2
    total = start * ctx.weighted_sum(term, 2, end, lambda j: gamma * ((alpha - j + 1) / j))
    return choose("<=", alpha, Traced.of(ctx.max_order), total, NO_ANSWER)


@form("ZW19-T11", "ZW19-T20")
def tau_terms(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Write Theorem 8's (5's) sum with ε(l) replaced by E except in τ terms at its ends.

    The theorem's option says whether these are at both ends or at the first alone. Below order 2τ
    no term is replaced.
    """
    tau, sides = dict(theorem.options).values()
    gamma, excess = ctx.number(node.gamma), eps.excesses()
    top = eps(alpha - tau if sides == 2 else alpha)
    general = theorem.name.startswith("ZW19-T20")

    def replaced(l: Traced) -> Traced:
        """e^{(l−1)E} − 1, with E = ε(l) in a term that is not replaced"""
        if tau == 0:
            return excess(l)
        middle = ctx.expm1((l - 1) * top)
        if sides == 2:
            middle = choose(">", l, alpha - tau, excess(l), middle)
        inner = choose("<=", l, Traced.of(tau), excess(l), middle)
        return choose("<", alpha, Traced.of(2 * tau), excess(l), inner)

    def term(l: Traced) -> Traced:
        return 3 * replaced(l) + 2 if general else replaced(l)

    total = mixed(ctx, alpha, gamma, 1 - gamma, term, 3 if general else 2)
    if general:
        keep = (1 - gamma) ** (alpha - 2)
        total = total + ctx.binomial(alpha, 2) * gamma**2 * keep * excess(Traced.of(2))
    return ctx.log1p(total) / (alpha - 1)


@form("MIR17-P1")
def composition(
    ctx: CodeArithmetic, eps: tuple[CodeCurve, ...], alpha: Traced, node: Compose, theorem: Theorem
) -> Traced:
    """Write Σ n_i ε_i(α) in the order of the parts' text, so that the code never varies."""
    parts = zip(eps, node.terms.values(), strict=True)
    ordered = sorted(parts, key=lambda part: repr(part[0].node))
    return _balanced_sum([count * curve(alpha) for curve, count in ordered])


def _balanced_sum(values: list[Traced]) -> Traced:
    """Add the values by halves, so that many of them are not deeply nested."""
    if len(values) < 2:
        return values[0] if values else Traced.of(0)
    half = len(values) // 2
    return _balanced_sum(values[:half]) + _balanced_sum(values[half:])


# --- known pairs


@expectation.register
def _(ctx: CodeArithmetic, mechanism: Mechanism, gamma: Exact, alpha: Operand | None) -> Traced:
    """Write the expectation as a quadrature, which code of normal noise has room for.

    UntraceableError where its grid is too long, for a rational σ/Δ.
    """
    noise = law_of(mechanism).normal
    scale = None if noise is None else ctx.number(noise.ratio).exact
    if scale is not None and alpha is not None:
        _check_grid(ctx.max_order, nearest_float(scale))
    return Traced.of(by_quadrature(ctx, mechanism, gamma, alpha))


def _check_grid(order: int, sigma: float) -> None:
    """Refuse a grid so long that code is of no use: a small σ/Δ (`sigma`), or large orders.

    Raises UntraceableError.
    """
    terms = (order / sigma + 20) * (1.6 + 2.6 / sigma) if sigma else math.inf
    if terms > MOST_TERMS:
        raise UntraceableError(
            f"a sum of {terms:,.0f} terms at fractional orders up to {order}, needed at most "
            f"{MOST_TERMS:,}",
            remedy="take a lower max_order, or ZW19-T8 for whole orders alone",
        )


@form("PAIR-FINITE", "PAIR-FINITE-WOR")
def finite_pair(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """max{ D_α(m‖q), D_α(q‖m) } over both roles of the laws, for a rate that is a number

    Raises UntraceableError for an open rate or open masses.
    """
    pair: Any = eps.node  # a DistributionPair, as `applies` has seen
    gamma = node.gamma
    if node._symbolic_parameters():
        raise UntraceableError(
            f"which of four divergences is the larger at the open rate {gamma}",
            remedy="put a number in its place, or pin S22-POISSON",
        )
    masses = [mixture(role.masses or (), gamma) for role in pair.roles]
    directions = [FiniteDirection(m) for m in masses]
    directions += [FiniteDirection([(q, m) for m, q in swapped]) for swapped in masses]
    return largest_of(ctx, directions, alpha)


def largest_of(ctx: CodeArithmetic, directions: list[FiniteDirection], alpha: Traced) -> Traced:
    """Write the largest D_α of several pairs of finite laws."""
    return ctx.maximum(*(direction.at(ctx, alpha) for direction in directions))


# --- theorems with conditions on the order


def where_it_holds(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Write the theorem's own bound, with NaN where the conditions of its regime do not hold.

    At γ = 0 it is 0. Conditions on numbers were decided before.
    """
    regime = theorem.regime
    assert regime is not None  # noqa: S101
    quantities = [
        ctx.number(quantity) for quantity in regime.quantities(node.mechanism, node.gamma)
    ]
    if ctx.is_zero(quantities[0]):  # the rate
        return Traced.of(0)
    conditions = [*regime.of_order(ctx, *quantities, alpha)]
    # Numbers were asked for theirs before; what is open is asked where the code runs.
    conditions += regime.of_node(ctx, *quantities) if node.free_symbols else []
    value = Traced.of(theorem.bound(ctx, eps, alpha, gamma=node.gamma))
    for condition in conditions:
        value = _where(ctx, condition.left, condition.right, value)
    return value


def _where(ctx: CodeArithmetic, left: Traced, right: Traced, value: Traced) -> Traced:
    """Write `value` where left <= right, and NaN elsewhere.

    Sides that the code computes have to differ by a little, since they are rounded.
    """
    if right.is_number(INFINITY):
        return value
    if not all(isinstance(side.plain, Var | Num) for side in (left, right)):
        left += (ctx.maximum(left, -left) + ctx.maximum(right, -right)) / _CONDITION_SLACK
    elif right.exact is not None:
        right = ctx.threshold(right, False)
    return choose("<=", left, right, value, NO_ANSWER)


@chosen_sum.register
def _(ctx: CodeArithmetic, alpha: Traced, term: Term) -> Traced:
    """Write Σ_{t=3}^{α} C(α,t) term(t), by the ratio of one weight to the next."""
    start = ctx.binomial(alpha, 3)
    return start * ctx.weighted_sum(term, 3, alpha, lambda t: (alpha - t + 1) / t)


@double_factorial.register
def _(n: Traced) -> Traced:
    return logged(Op("log_factorial2", (n.as_plain(),)))


# --- the projection


@form("WBK19-P35")
def projection(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Operand, node: Convexify, theorem: Theorem
) -> Traced:
    """Write the chord of (l−1, (l−1)ε(l)) over the hull's segment that holds α, eps beyond them.

    The corners are found by balls, and go into a table. Raises DomainError for too long a hull, and
    UntraceableError for open parameters, on which the corners depend.
    """
    segments = _segments(eps, node)
    if isinstance(alpha, float) or not segments:
        return eps(alpha)
    lefts, rights = (
        ctx.table([Traced.of(x) for x in column]) for column in zip(*segments, strict=True)
    )
    order = Traced.of(alpha)
    lam = order - 1
    if isinstance(alpha, int):  # at order 1 the limit of the hull over λ
        return eps(rights(Traced.of(0)) + 1)
    last = segments[-1][1]
    at = ctx.minimum(math.floor(lam), last - 1)
    left, right = lefts(at), rights(at)
    share = (lam - left) / (right - left)
    share = choose("<", share, Traced.of(1), share, Traced.of(1))
    zero = Traced.of(0)
    low = choose("<=", left, zero, zero, left * eps(ctx.maximum(left, 1) + 1))
    high = choose("<=", share, zero, zero, share * (right * eps(right + 1)))
    return choose(">", lam, Traced.of(last), eps(alpha), ((1 - share) * low + high) / lam)


def _segments(eps: CodeCurve, node: Convexify) -> list[tuple[int, int]]:
    """List for every whole λ below the last corner the two corners of the hull around [λ, λ+1].

    Corners are orders less 1. There are none where the hull has no segment. DomainError for many.
    """
    last = node.max_order
    if last > _MOST_SEGMENTS:
        raise DomainError(
            f"code of Convexify: found max_order = {last:,}, needed at most {_MOST_SEGMENTS:,}, "
            "because the corners of the hull go into a table"
        )
    if eps.node.free_symbols:
        raise UntraceableError(
            "the corners of a hull, which depend on the symbols",
            remedy="put numbers in their place",
        )
    with precision(TABLE_BITS):
        curve = FormulaEvaluation(BALL, goal_of(eps.node, None)).curve(eps.node)
        corners = [x for x, _ in hull_of_curve(BALL, curve, range(2, last + 1))]
    return [pair for pair in itertools.pairwise(corners) for _ in range(pair[1] - pair[0])]


# --- curves: loops over outcomes, bounds that end at an order


@expected.register
def _(ctx: CodeArithmetic, direction: FiniteDirection) -> Mean:
    """Write E_Q[gap(log P/Q)] as a loop over tables of the outcomes with P ≠ Q and Q > 0.

    gap(0) has to be 0. What Q = 0 adds is not in it.
    """
    masses = [(p, q) for p, q in direction.masses if p != q and q != 0]
    if not masses:
        return lambda gap: Traced.of(0)
    weights = ctx.table([ctx.number(q) for _, q in masses])
    logs = ctx.table([log_ratio(ctx, p, q) for p, q in masses])
    return lambda gap: ctx.sum(lambda i: weights(i) * gap(logs(i)), 0, len(masses) - 1)


@singledispatch
def leaf_curve(mechanism: Mechanism, ctx: CodeArithmetic) -> Rdp:
    """Return α ↦ ε(α) for 1 < α < ∞: the mechanism's own curve, traced."""
    return mechanism.curve(ctx)


def within(mechanism: Mechanism, ctx: CodeArithmetic, of_order: Rdp) -> Rdp:
    """Write a function of the order, and ∞ from the order on at which the curve is infinite."""
    if mechanism.finite_up_to == INFINITY:
        return of_order
    there, end = mechanism.is_finite_there, ctx.number(mechanism.finite_up_to)
    sign, edge = ">" if there else ">=", ctx.threshold(end, upwards=not there)
    return lambda alpha: choose(sign, alpha, edge, ctx.number(INFINITY), of_order(alpha))


# --- three laws


@form("TRIPLE-PURE", "TRIPLE-PURE-UPPER")
def pure_fixed_size(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Write the larger of two bounds in forms that do not cancel.

    Two answers are the mean of (1+u)^α − 1 − αu, and three the product that the theorem has.
    """
    gamma = node.gamma
    if ctx.is_zero(gamma) or ctx.is_infinite(eps(INFINITY)) or isinstance(alpha, float):
        return Traced.of(theorem.bound(ctx, eps, alpha, gamma=gamma))
    pure, rate = eps(INFINITY), ctx.number(gamma)
    e, step, log_u, _ = numbers(ctx, cast(RDPCurve, eps), gamma)
    if isinstance(alpha, int):
        gaps = ctx.entropy_gap(rate, pure) + e * ctx.entropy_gap(rate, -pure)
        return ctx.maximum(gaps / (e + 1), step * log_u / (e + 2))
    gaps = ctx.power_gap(rate, pure, alpha - 1) + e * ctx.power_gap(rate, -pure, alpha - 1)
    three = -(ctx.expm1(alpha * log_u) * ctx.expm1((1 - alpha) * log_u)) / (e + 2)
    return ctx.log1p(ctx.maximum(gaps / (e + 1), three)) / (alpha - 1)


@form("TRIPLE-GAUSSIAN", "TRIPLE-GAUSSIAN-NEAR", "TRIPLE-GAUSSIAN-LOWER", "TRIPLE-GAUSSIAN-UPPER")
def no_code(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Refuse the theorem, by UntraceableError: balls prove the worst triangle order by order."""
    raise UntraceableError(
        "a maximum that balls prove at each order",
        remedy="pin TRIPLE-DOMINATED for a bound above",
    )


@form("TRIPLE-FINITE", "TRIPLE-FINITE-ONE")
def finitely_many_laws(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Write the largest D_α over the triples of laws; UntraceableError for open parameters."""
    if node.free_symbols:
        raise UntraceableError(
            f"which of several triples of laws is the worst at the open numbers of {node}",
            remedy="put numbers in their place",
        )
    directions = worst_directions(eps.node, node.gamma, theorem.name)
    return largest_of(ctx, directions, alpha)


@dominated_expectation.register
def _(ctx: CodeArithmetic, mechanism: Mechanism, alpha: Traced | None, gamma: Operand) -> Traced:
    """E_Q[ψ(1−γ+γL); L > 1], L = P/Q, with ψ of the order α, or its limit where α is None"""
    rate = ctx.number(gamma)

    def value(log_ratio: Traced) -> Traced:
        """ψ at a loss log L > 0; that it is positive keeps the forms from cancelling"""
        loss = Traced(log_ratio.as_plain(), low=0.0)
        log_t = ctx.log1p(rate * ctx.expm1(loss))
        if alpha is None:
            return ctx.expm1(log_t) * log_t
        fall = Traced((-ctx.expm1((1 - alpha) * log_t)).as_plain(), low=0.0, high=1.0)
        return ctx.expm1(alpha * log_t) * fall

    pair = cast(SwappedPair, law_of(mechanism).worst)
    return _above_one(pair, ctx, value, Traced.of(1) if alpha is None else alpha)


@singledispatch
def _above_one(pair: SwappedPair, ctx: CodeArithmetic, value: Rdp, order: Traced) -> Traced:
    """Write E_Q[value(log(P/Q)); P > Q] of the mechanism's worst pair.

    `order` says how steep `value` is, for the length of the stretches.
    """
    return Traced.of(pair.mean(ctx, value, order, above_one=True))


@_above_one.register
def _(pair: LaplaceShift, ctx: CodeArithmetic, value: Rdp, order: Traced) -> Traced:
    """For Laplace noise: Gauss–Legendre rules on stretches, and the atom of the largest loss."""
    s = 1 / ctx.number(pair.ratio)
    inside = ctx.integral(
        lambda y: value(s * y) * ctx.exp(-(s * (1 + y) / 2)), s * (order + 1) // 3 + 1
    )
    return s * inside / 4 + value(s) * ctx.exp(-s) / 2


@_above_one.register
def _(pair: NormalShift, ctx: CodeArithmetic, value: Rdp, order: Traced) -> Traced:
    """For normal noise: Gauss–Legendre rules on stretches of [0, ∞) that is brought to [0, 1)."""
    s = 1 / ctx.number(pair.ratio)
    scale = order * s + 6

    def bell(share: Traced) -> Traced:
        beyond, weight = _to_infinity(share, scale)
        x = s / 2 + beyond
        return value(s * beyond) * ctx.exp(-(x * x / 2)) * weight

    return ctx.integral(bell, math.floor(scale * (1 + s)) + 8) / ctx.sqrt(2 * ctx.pi())


def _to_infinity(share: Traced, scale: Traced) -> tuple[Traced, Traced]:
    """Map [0, 1) to [0, ∞) by scale·x/(1−x), and return the place with its derivative.

    Digits then decide no length, as they would if [0, ∞) were cut.
    """
    rest = Traced((1 - share).as_plain(), low=0.0, high=1.0)
    return Traced((scale * share / rest).as_plain(), low=0.0), scale / (rest * rest)


@opposite_log_moment.register
def _(ctx: CodeArithmetic, alpha: Traced, gamma: Operand, shift: Operand) -> Traced:
    """Write log E[n (m/n)^α] of two opposite ends, as log(1 + the mean of gaps)."""
    return ctx.log1p(_at_opposite_ends(ctx, gamma, shift, alpha))


@opposite_entropy.register
def _(ctx: CodeArithmetic, gamma: Operand, shift: Operand) -> Traced:
    return _at_opposite_ends(ctx, gamma, shift, None)


def _at_opposite_ends(
    ctx: CodeArithmetic, gamma: Operand, shift: Operand, alpha: Traced | None
) -> Traced:
    """E[n gap(log m/n)] for x ~ N(0, 1), with m and n at ±`shift`, by Gauss–Legendre rules

    The gap is (m/n)^α − 1 − α(m/n − 1), or its limit at α = 1 where α is None. What is cut off is
    below the errors of the digits.
    """
    rate, delta = ctx.number(gamma), ctx.number(shift)
    order = Traced.of(1) if alpha is None else alpha
    reach, one = ctx.sqrt(2 * ctx.grid_nats()), Traced.of(1)
    length = 2 * reach + order * delta

    def bell(share: Traced) -> Traced:
        x = length * share - reach
        log_m, log_n = (
            ctx.log1p(rate * ctx.expm1(s * delta * x - delta * delta / 2)) for s in (1, -1)
        )
        log_r = log_m - log_n
        gap = ctx.entropy_gap(one, log_r) if alpha is None else ctx.power_gap(one, log_r, alpha - 1)
        # The length stands inside: mpmath integrates with more digits, which decide it.
        return ctx.exp(log_n - x * x / 2) * gap * length

    pieces = length * (1 + delta) // 2 + 1
    return ctx.integral(bell, pieces) / ctx.sqrt(2 * ctx.pi())


# --- noise on whole numbers
#
# Sums that end, tables of Bessel values.

#: Outcomes that no table has are this many nats below the rest: e^{−50} is nothing in float64.
_TABLE_NATS = 50.0


@leaf_curve.register
def _(mechanism: DiscreteGaussian, ctx: CodeArithmetic) -> Rdp:
    """αρ − (y²/(2σ²) − log(1 + Σ_{k>=1} e^{−k²/(2σ²)} (2 cosh(ky/σ²) − 2)/Θ(0)))/(α−1)

    Here y is the distance of αΔ from the whole numbers. From σ = 3/2 on what is taken off is below
    the last place of float64: Θ(y) and Θ(0) differ by at most 4e^{−2π²σ²} sin²(πy) of either.
    """
    sigma, rate = ctx.number(mechanism.sigma), mechanism.at_one(ctx)
    # With 1 more the root of float64's 100 is irrational: where it ends is decided for every σ.
    bell, reach = 1 / (2 * sigma**2), ctx.sqrt(2 * ctx.grid_nats() + 1) * sigma // 1 + 1

    def weight(k: Traced) -> Traced:
        return ctx.exp(-((k + 1) * (k + 1) * bell))

    def near(alpha: Traced) -> Traced:
        size = ctx.number(mechanism.sensitivity)
        above = alpha * size - alpha * size // 1
        y = ctx.minimum(above, 1 - above)
        tilt = 2 * y * bell
        pairs = ctx.long_sum(
            lambda k: weight(k) * (ctx.exp_gap((k + 1) * tilt) + ctx.exp_gap(-((k + 1) * tilt))),
            reach,
        )
        whole = 1 + 2 * ctx.long_sum(weight, reach)
        less = (y * y * bell - ctx.log1p(pairs / whole)) / (alpha - 1)
        return Traced.of(alpha * rate - less)

    if isinstance(ctx, DigitsArithmetic):
        return near
    edge = ctx.number(Fraction(3, 2))
    return lambda alpha: choose(">=", sigma, edge, alpha * rate, near(alpha))


@over_differences.register
def _(
    ctx: CodeArithmetic,
    noise: LatticeNoise,
    value: Rdp,
    power: Traced,
    above_one: bool,
) -> Traced:
    """Write a loop over tables of log Q and of the losses, for orders up to the largest asked for.

    Beyond it there is no answer. Raises UntraceableError for open parameters, and for mpmath.
    """
    if noise.free_symbols or isinstance(ctx, DigitsArithmetic):
        raise UntraceableError(
            "Bessel functions, of which code has tables for float64",
            remedy="put numbers in their place, and ask rdp with the engine mpmath for digits",
        )
    with precision(TABLE_BITS):
        kept = noise.outcomes(0.0, float_above(ctx.max_order), _TABLE_NATS)
        known = [
            (Traced.of(middle(q.log())), Traced.of(middle(x)))
            for k, (q, x) in zip(kept, noise.weighted_losses(kept), strict=True)
            if 2 * k != noise.sensitivity and (2 * k > noise.sensitivity or not above_one)
        ]
    weights, losses = (ctx.table(list(column)) for column in zip(*known, strict=True))

    def term(i: Traced) -> Traced:
        return Traced.of(logged(weights(i).as_plain()) * value(losses(i)))

    return choose(
        "<=",
        Traced.of(power),
        Traced.of(ctx.max_order),
        ctx.sum(term, 0, len(known) - 1),
        NO_ANSWER,
    )
