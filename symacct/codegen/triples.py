"""The theorems about three laws, in the form that code needs."""

from __future__ import annotations

import math
from typing import cast

from symacct.codegen.context import CodeArithmetic, CodeCurve, Operand, Traced, UntraceableError
from symacct.codegen.theorems import form, largest_of
from symacct.kernel.exact import INFINITY
from symacct.kernel.node import Mechanism
from symacct.kernel.theorem_registry import RDPCurve, Theorem
from symacct.mechanisms import Gaussian
from symacct.mechanisms.integer_noise import IntegerNoise
from symacct.mechanisms.response import ResponsePair
from symacct.operations.subsample import Sampling
from symacct.theory.amplification.pairs import shape_ratio
from symacct.theory.amplification.triples import expectation as dominated_expectation
from symacct.theory.amplification.triples import gaussian_log_moment as opposite_log_moment
from symacct.theory.amplification.triples import numbers, of_answers, worst_directions
from symacct.theory.amplification.triples import relative_entropy as opposite_entropy


@form("TRIPLE-PURE", "TRIPLE-PURE-UPPER")
def pure_fixed_size(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """Two answers as the mean of (1+u)^α − 1 − αu, three as the product that the theorem has."""
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
    """Which triangle is the worst is proved by balls, order by order."""
    raise UntraceableError(
        "a maximum that balls prove at each order",
        remedy="pin TRIPLE-DOMINATED for a bound above",
    )


@form("TRIPLE-FINITE", "TRIPLE-FINITE-ONE")
def finitely_many_laws(
    ctx: CodeArithmetic, eps: CodeCurve, alpha: Traced, node: Sampling, theorem: Theorem
) -> Traced:
    """The largest over the triples of laws."""
    if node.free_symbols:
        raise UntraceableError(
            f"which of several triples of laws is the worst at the open numbers of {node}",
            remedy="put numbers in their place",
        )
    directions = worst_directions(eps.node, node.gamma, theorem.name)
    return largest_of(ctx, directions, alpha)


@dominated_expectation.register
def _(ctx: CodeArithmetic, mechanism: Mechanism, alpha: Traced | None, gamma: Operand) -> Traced:
    """E_Q[ψ(1−γ+γL); L > 1] by Gauss–Legendre rules on stretches short against the peak."""
    if isinstance(mechanism, ResponsePair):
        return Traced.of(of_answers(ctx, mechanism, alpha, gamma))
    rate = ctx.number(gamma)
    order = Traced.of(1) if alpha is None else alpha

    def value(log_ratio: Traced) -> Traced:
        log_t = ctx.log1p(rate * ctx.expm1(log_ratio))
        if alpha is None:
            return ctx.expm1(log_t) * log_t
        fall = Traced((-ctx.expm1((1 - alpha) * log_t)).as_plain(), low=0.0, high=1.0)
        return ctx.expm1(alpha * log_t) * fall

    if isinstance(mechanism, IntegerNoise):
        # The sign of every loss that is summed is known.
        return Traced.of(
            mechanism.expected(
                ctx, lambda x: value(Traced(x.as_plain(), low=0.0)), order, above_one=True
            )
        )
    s = 1 / ctx.number(shape_ratio(mechanism))
    if not isinstance(mechanism, Gaussian):
        inside = ctx.integral(
            # The sign of a node of the rule is known.
            lambda y: value(s * Traced(y.as_plain(), low=0.0)) * ctx.exp(-(s * (1 + y) / 2)),
            s * (order + 1) // 3 + 1,
        )
        return s * inside / 4 + value(s) * ctx.exp(-s) / 2
    scale = order * s + 6

    def bell(share: Traced) -> Traced:
        beyond, weight = _to_infinity(share, scale)
        x = s / 2 + beyond
        return value(s * beyond) * ctx.exp(-(x * x / 2)) * weight

    return ctx.integral(bell, math.floor(scale * (1 + s)) + 8) / ctx.sqrt(2 * ctx.pi())


def _to_infinity(share: Traced, scale: Traced) -> tuple[Traced, Traced]:
    """A place in [0, ∞) for one in [0, 1), and its derivative: no length that digits decide."""
    rest = Traced((1 - share).as_plain(), low=0.0, high=1.0)
    return Traced((scale * share / rest).as_plain(), low=0.0), scale / (rest * rest)


@opposite_log_moment.register
def _(ctx: CodeArithmetic, alpha: Traced, gamma: Operand, shift: Operand) -> Traced:
    return ctx.log1p(_at_opposite_ends(ctx, gamma, shift, alpha))


@opposite_entropy.register
def _(ctx: CodeArithmetic, gamma: Operand, shift: Operand) -> Traced:
    return _at_opposite_ends(ctx, gamma, shift, None)


def _at_opposite_ends(
    ctx: CodeArithmetic, gamma: Operand, shift: Operand, alpha: Traced | None
) -> Traced:
    """E[n gap(log m/n)] for x ~ N(0, 1), m and n at ±δ, by stretches of Gauss–Legendre rules."""
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
