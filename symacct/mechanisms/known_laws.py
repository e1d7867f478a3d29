"""What a mechanism states of its laws, which theorems read: each family registers its own.

A class of mechanisms has what the nearest class above it has registered, so that a leaf of a known
family registers nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple

from symacct.kernel.arithmetic import (
    BALL,
    Arithmetic,
    MpmathArithmetic,
    Number,
    SymbolicArithmetic,
)
from symacct.kernel.arithmetic.ball import rational_ends
from symacct.kernel.exact import INFINITY, Exact, Order, sympy
from symacct.kernel.node import Node

#: log(P/Q) ↦ a number in the arithmetic that is asked.
Value = Callable[[Any], Number]


class WorstPair:
    """The pair (P, Q) that dominates a mechanism, and that an involution swaps: means over Q."""

    #: Is the query one number, so that all neighbours move it along one line?
    is_on_line = False
    #: Does the mechanism stand for all those that the pair dominates?
    is_whole_class = False
    #: Are there but two outcomes, whose sum is written as it stands?
    has_two_outcomes = False

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        """E_Q[value(log(P/Q))], over the outcomes with P > Q alone if `above_one`.

        0 <= value <= 1 + α + (P/Q)^α, where α = 2 stands for the one that is None.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Shift(WorstPair):
    """Noise with a density, and the same moved by Δ: the pair depends on the noise over Δ alone."""

    mechanism: Any
    is_on_line: bool = False

    @property
    def ratio(self) -> Exact:
        """The scale of the noise over Δ."""
        raise NotImplementedError

    def sampled_in_balls(
        self, gamma: Fraction, alpha: Order | None, near: dict[Any, Any]
    ) -> Number:
        """E_Q[m^α] − 1, or E_Q[m log m] where α is None, m = 1−γ+γP/Q.

        What is kept in `near` of one order serves the next one.
        """
        raise NotImplementedError

    def upper_half_in_balls(self, gamma: Fraction, alpha: Order | None) -> Number:
        """E_Q[(m^α − 1)(1 − m^{1−α}); P > Q], or E_Q[(m−1) log m; P > Q] where α is None."""
        raise NotImplementedError

    def mean(
        self, ctx: Arithmetic, value: Value, alpha: Order | None, above_one: bool = False
    ) -> Number:
        return _mean(ctx, self, value, 1 if alpha is None else alpha, above_one)

    def summed(self, ctx: Any, value: Value, alpha: Order) -> Number:
        """The mean over all outcomes by the rules that an arithmetic has (RuledArithmetic)."""
        raise NotImplementedError

    def integrated(
        self, ctx: MpmathArithmetic, value: Value, alpha: Order, above_one: bool
    ) -> Number:
        """The mean by mpmath's quadrature, of values that are not negative: nothing cancels."""
        raise NotImplementedError

    def written(self, value: Value, above_one: bool = False) -> sympy.Expr:
        """The mean as a formula, an integral over the noise's shape."""
        raise NotImplementedError


@singledispatch
def _mean(ctx: Any, shift: Shift, value: Value, alpha: Order, above_one: bool) -> Number:
    """E_Q[value(log(P/Q))], in each arithmetic."""
    return shift.summed(ctx, value, alpha)


@_mean.register
def _(ctx: MpmathArithmetic, shift: Shift, value: Value, alpha: Order, above_one: bool) -> Number:
    return shift.integrated(ctx, value, alpha, above_one)


@_mean.register
def _(
    ctx: SymbolicArithmetic, shift: Shift, value: Value, alpha: Order, above_one: bool
) -> sympy.Expr:
    return shift.written(value, above_one)


# Proved in docs/proofs/triples.md, Lemma irrational-rates and docs/proofs/directions.md, Lemma
# irrational-ratio.
def falling_in(ratio: Exact, value: Callable[[Fraction], Number]) -> Number:
    """A value that falls in the ratio: an irrational one's is between those of rational ones."""
    first, *other = map(value, rational_ends(ratio, BALL.bits))
    return first.union(*other) if other else first


@singledispatch
def worst_pair(mechanism: Node) -> WorstPair | None:
    """The pair that dominates the mechanism, where its means are known."""
    return None


@singledispatch
def two_laws(mechanism: Node) -> tuple[Any, Any] | None:
    """The laws of the mechanism with a record and without, where all numbers are rational."""
    return None


@singledispatch
def all_laws(mechanism: Node) -> tuple[tuple[Exact, ...], ...] | None:
    """The probabilities of each law that a mechanism may have, where they are finitely many."""
    return None


class StatedLine(NamedTuple):
    """ε(α) <= ξ + ρα for 1 < α < ω."""

    rho: Exact
    xi: Exact = Fraction(0)
    omega: Exact | float = INFINITY


@singledispatch
def stated_line(mechanism: Node) -> StatedLine | None:
    """The line that the mechanism's curve is stated to lie below."""
    return None
