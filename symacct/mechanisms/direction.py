"""D_α(P‖Q), one direction of a pair, and its closed form for finitely many outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from symacct import sizes
from symacct.arithmetic import BALL, Float64Arithmetic, LogNumber
from symacct.arithmetic.ball import precision
from symacct.exact import INFINITY, Exact
from symacct.sums.differences import GUARD_BITS, is_resolved


class Direction:
    """P against Q: the Rényi divergence at every order, in any arithmetic."""

    def curve(self, ctx: Any) -> Callable[[Any], Any]:
        """The function α ↦ D_α(P‖Q) for 1 < α < ∞; ∞ where the integral diverges."""
        raise NotImplementedError

    def at_one(self, ctx: Any) -> Any:
        """The Kullback–Leibler divergence E_P[log(P/Q)]."""
        raise NotImplementedError

    def at_infinity(self, ctx: Any) -> Any:
        """The essential supremum of log(P/Q)."""
        raise NotImplementedError

    def moment(self, l: int) -> Fraction | None:
        """E_Q[(P/Q)^l] for whole l >= 2, where it is known to be a rational number."""
        return None

    def at(self, ctx: Any, alpha: Any) -> Any:
        """D_α(P‖Q) at any order α ∈ [1, ∞]."""
        if isinstance(alpha, int | float) and alpha in (1, INFINITY):
            return self.at_one(ctx) if alpha == 1 else self.at_infinity(ctx)
        return self.curve(ctx)(alpha)


@dataclass(frozen=True)
class FiniteDirection(Direction):
    """Finitely many outcomes: D_α = log( Σ p (p/q)^{α−1} )/(α−1), ∞ where p > 0 = q somewhere.

    `masses` are the (p, q), exact; one that is no rational is a mixture, and positive.
    """

    masses: Sequence[tuple[Exact, Exact]]

    def curve(self, ctx: Any) -> Callable[[Any], Any]:
        if not self._is_dominated():
            return lambda alpha: ctx.number(INFINITY)
        excess = power_excess(ctx, self._terms)

        def rdp(alpha: Any) -> Any:
            lam = ctx.number(alpha - 1)
            return ctx.log1p(excess(lam)) / lam

        return rdp

    def at_one(self, ctx: Any) -> Any:
        if not self._is_dominated():
            return ctx.number(INFINITY)
        return relative_entropy(ctx, self._terms)

    def at_infinity(self, ctx: Any) -> Any:
        if not self._is_dominated():
            return ctx.number(INFINITY)
        return ctx.maximum(*(log for _, log in self._terms(ctx)))

    def _is_dominated(self) -> bool:
        """Is q > 0 wherever p > 0?"""
        return all(p == 0 or q != 0 for p, q in self.masses)

    def _terms(self, ctx: Any) -> list[tuple[Any, Any]]:
        """(p, log(p/q)) for every outcome of P; where p = q the logarithm is exactly 0."""
        return [(ctx.number(p), _log(ctx, p / q)) for p, q in self.masses if p != 0]


def _log(ctx: Any, ratio: Fraction) -> Any:
    """log r; near 1, and only there, from r − 1."""
    if 1 < 2 * ratio < 4:
        return ctx.log1p(ctx.number(ratio - 1))
    return ctx.log(ctx.number(ratio))


Terms = Callable[[Any], list[tuple[Any, Any]]]  # (p, log(p/q)) in an arithmetic


@singledispatch
def relative_entropy(ctx: Any, terms: Terms) -> Any:
    """Σ p log(p/q)"""
    return sum((p * log for p, log in terms(ctx)), ctx.number(0))


@relative_entropy.register
def _(ctx: Float64Arithmetic, terms: Terms) -> LogNumber:
    """Terms of both signs, whose sum is of the second order in p − q: a certified one, rounded."""
    limit, bits = sizes.current().bits, ctx.bits + GUARD_BITS
    while True:
        with precision(bits):
            value = relative_entropy(BALL, terms)
        if is_resolved(value, ctx.bits) or bits >= limit:
            return LogNumber.of(0) if value == 0 else LogNumber(1.0, float(value.log().mid()))
        bits = min(2 * bits, limit)


@singledispatch
def power_excess(ctx: Any, terms: Terms) -> Callable[[Any], Any]:
    """λ ↦ Σ p ((p/q)^λ − 1): as Σ p = 1, what Σ p (p/q)^λ exceeds 1."""
    parts = terms(ctx)
    return lambda lam: sum((p * ctx.expm1(lam * log) for p, log in parts), ctx.number(0))


@power_excess.register
def _(ctx: Float64Arithmetic, terms: Terms) -> Callable[[Any], LogNumber]:
    """λ Σ p log(p/q) + Σ p h(λ log(p/q)), h(x) = e^x − 1 − x >= 0: nothing cancels."""
    parts, entropy = terms(ctx), relative_entropy(ctx, terms)
    return lambda lam: sum((p * _above_tangent(ctx, lam * log) for p, log in parts), lam * entropy)


def _above_tangent(ctx: Float64Arithmetic, x: LogNumber) -> LogNumber:
    """e^x − 1 − x, by its series where the difference would cancel."""
    near = np.clip(x.value(), -0.5, 0.5)
    series = np.ones_like(near)
    for k in range(16, 2, -1):  # 2·0.5^15/17! is below half a unit in the last place
        series = 1 + series * near / k
    by_series, plain = x * x * (series / 2), ctx.expm1(x) - x
    small = np.abs(x.value()) <= 0.5
    return LogNumber(
        np.where(small, by_series.sign, plain.sign), np.where(small, by_series.log, plain.log)
    )


@dataclass(frozen=True)
class ConstantDirection(Direction):
    """D_α = log(ratio) at every order: Q restricted to an event of probability 1/ratio, or ∞."""

    ratio: Fraction | float

    def curve(self, ctx: Any) -> Callable[[Any], Any]:
        value = self.at_infinity(ctx)
        return lambda alpha: value

    def at_one(self, ctx: Any) -> Any:
        return self.at_infinity(ctx)

    def at_infinity(self, ctx: Any) -> Any:
        if self.ratio == INFINITY:
            return ctx.number(INFINITY)
        return ctx.log(ctx.number(self.ratio))

    def moment(self, l: int) -> Fraction | None:
        return None if self.ratio == INFINITY else Fraction(self.ratio) ** (l - 1)
