"""Mechanism: a leaf of the expression, with a curve of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symacct.arithmetic import LogNumber
from symacct.claims import EITHER, Adjacency, Claim, Kind, Source
from symacct.exact import order
from symacct.expr import Node


class Mechanism(Node):
    """A leaf. A subclass gives its kind, its source and the three parts of its curve."""

    kind: Kind = Kind.EXACT
    source: Source

    def curve(self, ctx: Any) -> Callable[[Any], Any]:
        """The function α ↦ ε(α) for 1 < α < ∞ in the arithmetic `ctx`, constants computed once.

        It is given exact orders; `ctx.number(alpha)` brings one in. A subclass gives this, or
        `excess` where the moment has a closed form.
        """
        excess = self.excess_in(ctx)
        if excess is None:
            raise NotImplementedError(f"{type(self).__name__} has neither curve nor excess")
        return lambda alpha: ctx.log1p(excess(alpha)) / (ctx.number(alpha) - 1)

    def excess(self, ctx: Any) -> Callable[[Any], Any] | None:
        """The function α ↦ e^{(α−1)ε(α)} − 1, where it is the simpler one."""
        return None

    def stable_excess(self, ctx: Any) -> Callable[[Any], Any] | None:
        """The same where nothing cancels, for arithmetics that round; `excess` unless given."""
        return self.excess(ctx)

    def excess_in(self, ctx: Any) -> Callable[[Any], Any] | None:
        """The form of the excess that this arithmetic needs."""
        return self.stable_excess(ctx) if ctx.rounds else self.excess(ctx)

    def at_one(self, ctx: Any) -> Any:
        """ε(1), the Kullback–Leibler bound."""
        raise NotImplementedError

    def at_infinity(self, ctx: Any) -> Any:
        """ε(∞), the pure-DP bound."""
        raise NotImplementedError

    def stated_adjacency(self) -> Adjacency:
        """The neighbouring relation the curve is stated for; open unless the leaf fixes it."""
        return EITHER

    def _infer(self) -> Claim:
        return Claim(self.kind, self.stated_adjacency(), sources=(self.source,))


def one_by_one(ctx: Any, curve: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A curve that decides something exactly at each order, made to take arrays of orders too."""

    def each(alpha: Any) -> Any:
        if isinstance(alpha, np.ndarray):
            parts = [(k, curve(order(one))) for k, one in enumerate(alpha)]
            return LogNumber.from_parts(alpha.shape, parts)
        return curve(alpha)

    return each
