"""D_α(P‖Q), one direction of a pair, and its closed form for finitely many outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symacct.exact import INFINITY, Exact


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
        terms = self._terms(ctx)

        def rdp(alpha: Any) -> Any:
            lam = ctx.number(alpha) - 1
            # Σ p = 1, so that what exceeds 1 is a sum of what each term exceeds p.
            excess = sum((p * ctx.expm1(lam * log) for p, log in terms), ctx.number(0))
            return ctx.log1p(excess) / lam

        return rdp

    def at_one(self, ctx: Any) -> Any:
        if not self._is_dominated():
            return ctx.number(INFINITY)
        return sum((p * log for p, log in self._terms(ctx)), ctx.number(0))

    def at_infinity(self, ctx: Any) -> Any:
        if not self._is_dominated():
            return ctx.number(INFINITY)
        return ctx.maximum(*(log for _, log in self._terms(ctx)))

    def _is_dominated(self) -> bool:
        """Is q > 0 wherever p > 0?"""
        return all(p == 0 or q != 0 for p, q in self.masses)

    def _terms(self, ctx: Any) -> list[tuple[Any, Any]]:
        """(p, log(p/q)) for every outcome of P; where p = q the logarithm is exactly 0."""
        return [
            (ctx.number(p), ctx.log1p(ctx.number((p - q) / q))) for p, q in self.masses if p != 0
        ]


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
