"""What Gaussian noise on numbers costs where only comparisons of them are told."""

from __future__ import annotations

from collections.abc import Callable

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Mechanism


class GaussianComparison(Mechanism):
    """The smaller of two bounds: as if every noisy number were told, or by what is told."""

    kind = Kind.UPPER

    def every(self, ctx: Arithmetic) -> Number:
        """ε(α)/α if every noisy number were told."""
        raise NotImplementedError

    def bound_by_outcomes(self, ctx: Arithmetic) -> Callable[[Number], Number]:
        """α ↦ the bound by the outcomes that there are, for α >= 1."""
        raise NotImplementedError

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        every, told = self.every(ctx), self.bound_by_outcomes(ctx)
        return lambda alpha: ctx.minimum(ctx.number(alpha) * every, told(ctx.number(alpha)))

    def at_one(self, ctx: Arithmetic) -> Number:
        return ctx.minimum(self.every(ctx), self.bound_by_outcomes(ctx)(ctx.number(1)))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        return ctx.number(INFINITY)
