"""What sampling makes of two laws: D_α of (1−γ)Q + γP from Q, and back, in each arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import isqrt
from typing import Any

import numpy as np

from symacct.analysis.densities import (
    ChiDivergence,
    Entropy,
    Excess,
    Integrand,
    MixtureIntegrand,
    ProgressionSeries,
    ReverseEntropy,
    Rules,
    Side,
    expectation,
    largest_log_ratio,
    plain_expectation,
    sides,
)
from symacct.analysis.normal_mixtures import NormalParts, power_integral, relative_entropy
from symacct.kernel import symbols
from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    BallArithmetic,
    Float64Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import precision, rational
from symacct.kernel.arithmetic.symbolic import written
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact, Order, expression, sympy
from symacct.kernel.memory import cached_property
from symacct.kernel.node import Mechanism
from symacct.laws.density import Density, interval_of, no_integrals
from symacct.laws.direction import Direction
from symacct.laws.families import Laplace as LaplaceLaw
from symacct.laws.law import Law
from symacct.laws.normal import LogNormal, MultivariateNormal, Normal
from symacct.mechanisms.gaussian import Gaussian
from symacct.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class Overlap:
    """Two laws on one line: what is integrated or summed."""

    P: Law
    Q: Law

    @cached_property
    def is_equal(self) -> bool:
        """Are the two densities the same?"""
        P, Q = self.P.kernel, self.Q.kernel  # noqa: N806
        if P is None or Q is None:
            return self.P == self.Q
        ends = (P.cuts[0], P.cuts[-1]) == (Q.cuts[0], Q.cuts[-1])
        return ends and not sympy.expand(P.log - Q.log).has(symbols.x)

    @cached_property
    def sides(self) -> list[Side]:
        """The halves of the pieces on which a density is positive."""
        assert self.P.kernel is not None and self.Q.kernel is not None  # noqa: S101, PT018
        return sides(self.P.kernel, self.Q.kernel)

    @property
    def has_one_support(self) -> bool:
        """Are both densities positive on the same pieces?"""
        return all(None not in side.logs for side in self.sides)

    @cached_property
    def series(self) -> ProgressionSeries | None:
        """The sum over whole numbers, where the laws live there."""
        first, second = self.P.log_progression, self.Q.log_progression
        return None if first is None or second is None else ProgressionSeries((first, second))

    @cached_property
    def normal_parts(self) -> tuple[NormalParts, NormalParts] | None:
        """Both laws where they are mixtures of normal laws of one variance."""
        first, second = self.P.normal_parts, self.Q.normal_parts
        if first is None or second is None or first.variance != second.variance:
            return None
        return first, second

    @cached_property
    def rules(self) -> Rules | None:
        """What compares orders; None where another form than that of integrals is at hand."""
        if self.P.kernel is None or self.Q.kernel is None or self.normal_parts is not None:
            return None
        return Rules(self.sides) if self.has_one_support else None

    def log_totals(self, ctx: Arithmetic) -> tuple[Any, Any]:
        """The logarithms of the integrals of both kernels."""
        return self.P.log_total(ctx), self.Q.log_total(ctx)

    def in_balls(self, question: Integrand) -> Any:
        """The answer in balls at the current precision."""
        if self.series is not None:
            return self.series.expectation(question, BALL.bits)
        if self.normal_parts is not None and isinstance(question, MixtureIntegrand):
            return _over_normal_parts(*self.normal_parts, question)
        return expectation(self.sides, question, lambda: self.log_totals(BALL), BALL.bits)


def _over_normal_parts(p: NormalParts, q: NormalParts, question: MixtureIntegrand) -> Any:
    """E_Q of what is asked of m = (1−γ)q + γp."""
    mixed = p.mixed(q, question.gamma)
    if isinstance(question, Excess):
        return power_integral(mixed, q, question.power, BALL.bits) - 1
    pair = (mixed, q) if isinstance(question, Entropy) else (q, mixed)
    return relative_entropy(*pair, BALL.bits)


@dataclass(frozen=True)
class MixtureDirection(Direction):
    """D_α(m‖Q), m = (1−γ)Q + γP, or D_α(Q‖m) if `reverse`; 0 < γ <= 1."""

    overlap: Overlap
    gamma: Exact = Fraction(1)
    reverse: bool = False

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        if self.overlap.is_equal:
            return lambda alpha: ctx.number(0)

        def rdp(alpha: Order) -> Any:
            return ctx.log1p(_ask(ctx, self, self.power(alpha))) / ctx.number(alpha - 1)

        return rdp

    def power(self, alpha: Any) -> Any:
        """Of m/Q, in what is expected over Q."""
        return 1 - alpha if self.reverse else alpha

    def float_divergence(self, alpha: Fraction) -> float:
        """About D_α, by floats; ∞ where it is proved to be."""
        power, rules = self.power(alpha), self.overlap.rules
        assert rules is not None  # noqa: S101  # it is asked of pairs that have them
        if power > rules.finite_to:
            if any(self.question(power).diverges(side) for side in self.overlap.sides):
                return INFINITY
            rules.finite_to = power
        log_excess = rules.log_excess(float(self.gamma), float(power))
        return float(np.logaddexp(0.0, log_excess)) / float(alpha - 1)

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.number(0) if self.overlap.is_equal else _ask(ctx, self, None)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """log(1−γ+γe^s), s the supremum of log(P/Q); that of the pair itself where γ = 1."""
        if self.gamma != 1 or self.reverse:
            raise NotImplementedError("order ∞ is answered by the pair itself")
        if self.overlap.is_equal:
            return ctx.number(0)
        parts = self.overlap.normal_parts
        if parts is not None and parts[0].reaches_beyond(parts[1]):
            return ctx.number(INFINITY)
        return _largest(ctx, self.overlap)

    def chi(self, l: int) -> Any:
        """E_Q[(P/Q − 1)^l] in balls."""
        return BALL.number(0) if self.overlap.is_equal else self.overlap.in_balls(ChiDivergence(l))

    def question(self, power: Fraction | None) -> Integrand:
        """E[(m/q)^power] − 1, or the Kullback–Leibler divergence where that is None."""
        gamma = self.gamma
        if isinstance(gamma, sympy.Expr):
            raise DomainError(
                f"found the rate {gamma}, needed a rational number",
                remedy="put a number in its place, or ask for the formula",
            )
        if power is None:
            return ReverseEntropy(gamma) if self.reverse else Entropy(gamma)
        return Excess(gamma, power)


def has_closed_form(P: Law, Q: Law) -> bool:  # noqa: N803
    """Are both of one family, with a closed form for this pair?"""
    return type(P) is type(Q) and not isinstance(P, Density) and P.why_no_closed_form(Q) is None


def between(P: Law, Q: Law) -> Direction:  # noqa: N803
    """P against Q: in closed form within a family that has one, else by quadrature."""
    if has_closed_form(P, Q):
        return P.against(Q)
    return MixtureDirection(Overlap(P, Q))


def mixed(P: Law, Q: Law, gamma: Exact) -> list[MixtureDirection]:  # noqa: N803
    """The mixture from Q, and Q from the mixture."""
    overlap = Overlap(*one_dimensional(P, Q))
    return [MixtureDirection(overlap, gamma, reverse) for reverse in (False, True)]


def noise(P: Any, Q: Any) -> Mechanism | None:  # noqa: N803
    """The Gaussian or Laplace mechanism with this pair of laws, if it has rational parameters."""
    if type(P) is not type(Q) or P == Q or not P.is_swapped_with(Q):
        return None
    if isinstance(P, LaplaceLaw):
        return Laplace(P.scale / abs(P.mean - Q.mean))
    P, Q = one_dimensional(P, Q)  # noqa: N806
    if isinstance(P, Normal):
        variance = P.variance / (P.mean - Q.mean) ** 2
        roots = isqrt(variance.numerator), isqrt(variance.denominator)
        if (roots[0] ** 2, roots[1] ** 2) == (variance.numerator, variance.denominator):
            return Gaussian(Fraction(*roots))
    return None


def one_dimensional(P: Any, Q: Any) -> tuple[Any, Any]:  # noqa: N803
    """Normal laws of the same ratios: for log-normal ones, and N(±d/2, d), d = δᵀΣ⁻¹δ."""
    if isinstance(P, LogNormal) and isinstance(Q, LogNormal):
        return Normal(P.mean, P.variance), Normal(Q.mean, Q.variance)
    if isinstance(P, MultivariateNormal) and P.is_swapped_with(Q):
        distance = P.squared_distance(Q)
        if distance:
            return Normal(distance, distance), Normal(0, distance)
    return P, Q


def why_not_mixed(P: Law, Q: Law) -> str | None:  # noqa: N803
    """What two laws need to be integrated or summed, if they lack it."""
    P, Q = one_dimensional(P, Q)  # noqa: N806
    if P.kernel is not None and Q.kernel is not None:
        return None
    if type(P) is type(Q) and P.log_progression is not None:
        return None
    return "two densities on the line, or two Poisson or two geometric laws"


# --- in each arithmetic


@singledispatch
def _ask(ctx: Arithmetic, direction: MixtureDirection, power: Any) -> Number:
    """The excess of the moment, or the Kullback–Leibler divergence where power is None."""
    raise no_integrals(ctx)


@_ask.register
def _(ctx: BallArithmetic, direction: MixtureDirection, power: Any) -> Number:
    power = None if power is None else Fraction(power)
    return direction.overlap.in_balls(direction.question(power))


@_ask.register
def _(ctx: Float64Arithmetic, direction: MixtureDirection, power: Any) -> Number:
    power = None if power is None else Fraction(power)
    return ctx.from_balls(lambda: direction.overlap.in_balls(direction.question(power)))


@_ask.register
def _(ctx: MpmathArithmetic, direction: MixtureDirection, power: Any) -> Number:
    overlap = direction.overlap
    question = direction.question(None if power is None else Fraction(power))
    if overlap.series is not None:
        if question.diverges(overlap.series):  # type: ignore[arg-type]
            return ctx.number(INFINITY)
        return overlap.series.plain(ctx, question)
    if any(question.diverges(side) for side in overlap.sides):
        return ctx.number(INFINITY)
    return plain_expectation(ctx, overlap.sides, question, overlap.log_totals(ctx))


@_ask.register
def _(ctx: SymbolicArithmetic, direction: MixtureDirection, power: Any) -> Number:
    P: Any = direction.overlap.P  # noqa: N806
    Q: Any = direction.overlap.Q  # noqa: N806
    gamma = expression(direction.gamma)
    if direction.overlap.series is not None:
        k = sympy.Symbol("k", integer=True, nonnegative=True)
        p, q = (sympy.exp(law.log_progression.formula(k)) for law in (P, Q))
        span = (k, 0, sympy.oo)
        whole: Any = sympy.Sum
    else:
        if P.kernel.cuts[0] != Q.kernel.cuts[0] or P.kernel.cuts[-1] != Q.kernel.cuts[-1]:
            raise DomainError(
                f"formula: found {echo(P)} and {echo(Q)}, needed laws on the same interval"
            )
        p, q = (sympy.exp(law.kernel.log - law.log_total(ctx)) for law in (P, Q))
        span = interval_of(P.kernel)
        whole = written.Integral
    ratio = p / q if gamma == 1 else 1 - gamma + gamma * p / q
    if power is not None:
        return whole(q * ratio**power, span) - 1
    value = -q * sympy.log(ratio) if direction.reverse else q * ratio * sympy.log(ratio)
    return whole(value, span)


@singledispatch
def _largest(ctx: Arithmetic, overlap: Overlap) -> Number:
    """sup log(P/Q)."""
    raise no_integrals(ctx)


@_largest.register
def _(ctx: BallArithmetic, overlap: Overlap) -> Number:
    bits = ctx.bits
    with precision(2 * bits):
        largest = largest_log_ratio(overlap.sides, bits)
        if not largest.is_finite():
            return ctx.number(INFINITY)
        first, second = overlap.log_totals(ctx)
        return largest - first + second


@_largest.register
def _(ctx: Float64Arithmetic, overlap: Overlap) -> Number:
    return ctx.from_balls(lambda: _largest(BALL, overlap))


@_largest.register
def _(ctx: MpmathArithmetic, overlap: Overlap) -> Number:
    """A number read off the certified one: the search is the same in every arithmetic."""
    with precision(ctx.bits):
        value = _largest(BALL, overlap)
        if not value.is_finite():
            return ctx.number(INFINITY)
        return ctx.number(rational(value))


@_largest.register
def _(ctx: SymbolicArithmetic, overlap: Overlap) -> Number:
    raise DomainError(
        "formula: found order ∞ of a pair of densities, which has no formula",
        remedy="ask for its value",
    )
