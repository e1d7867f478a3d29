"""Finite laws: many candidates in float64 for a search, or one in exact rationals for a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import ADDED, SWAPPED, AttainedBy, Kind, Pairs, Source, Way
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Mechanism

#: An array (candidates, outcomes) of float64, or of Fractions for one candidate.
Law: TypeAlias = NDArray[Any]
Pair: TypeAlias = tuple[Law, Law]
#: The law of the one candidate.
Weights: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Candidates:
    """Laws of shape (candidates, outcomes), numbers of (candidates, 1): floats or Fractions."""

    laws: tuple[Law, ...]
    numbers: Mapping[str, Law]

    @property
    def exact(self) -> bool:
        """One candidate in Fractions?"""
        return bool(self.laws[0].dtype == object)

    def one(self, row: int, denominator: int) -> Candidates:
        """One candidate, rounded to fractions with about this denominator."""
        laws = tuple(_rounded(law[row], denominator) for law in self.laws)
        numbers = {
            name: np.array([[_near(float(x[row, 0]), denominator)]], dtype=object)
            for name, x in self.numbers.items()
        }
        return Candidates(laws, numbers)

    def number(self, name: str) -> Fraction:
        """A number of the one candidate."""
        return Fraction(self.numbers[name][0, 0])


def _rounded(law: Law, denominator: int) -> Law:
    """A law of positive rationals whose weights are whole numbers of about 1/denominator."""
    weights = [max(1, round(float(x) * denominator)) for x in law]
    total = sum(weights)
    return np.array([[Fraction(w, total) for w in weights]], dtype=object)


def _near(x: float, denominator: int) -> Fraction:
    """A fraction near x, never 0, with 1 − x kept positive for x < 1."""
    near = Fraction(x).limit_denominator(denominator)
    if near == 0:
        return Fraction(1, round(1 / x))
    if near == 1 and x < 1:
        return 1 - Fraction(1, round(1 / (1 - x)))
    return near


def fractions(law: Law) -> Weights:
    """The law of the one candidate."""
    return tuple(Fraction(x) for x in law[0])


def excess(p: Law, q: Law, alpha: Order) -> Number:
    """E_Q[(P/Q)^α] − 1 of each candidate; exact for Fractions and whole α."""
    if p.dtype == object:
        return np.sum(p**alpha * q ** (1 - alpha), axis=1) - 1
    u = p / q - 1
    # Σ Q u = 0, so αu may be taken off: nothing cancels where P and Q are close.
    return np.sum(q * (np.expm1(float(alpha) * np.log1p(u)) - float(alpha) * u), axis=1)


def divergence(p: Law, q: Law, alpha: Order) -> Number:
    """D_α(P‖Q) of each candidate in float64, 1 <= α <= ∞."""
    if alpha == INFINITY:
        return np.log(np.max(p / q, axis=1))
    if alpha == 1:
        return np.sum(p * np.log(p / q), axis=1)
    return np.log1p(excess(p, q, alpha)) / (float(alpha) - 1)


class FiniteLaws(Mechanism):
    """ε(α) = max D_α(P‖Q) over given pairs of finite laws, exact but for what is `raised`."""

    source = Source("falsify", "pairs of finite laws")
    pairs: tuple[tuple[Weights, Weights], ...]
    raised: tuple[tuple[Order, Fraction], ...]
    symmetric: bool

    @classmethod
    def of(
        cls,
        pairs: list[Pair],
        raised: Mapping[Order, Fraction] | None = None,
        symmetric: bool = False,
    ) -> FiniteLaws:
        """The mechanism of exact pairs; `symmetric`: reversing the outcomes swaps P and Q."""
        laws = tuple((fractions(p), fractions(q)) for p, q in pairs)
        return cls._intern(
            pairs=laws, raised=tuple(sorted((raised or {}).items())), symmetric=symmetric
        )

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return Kind.UPPER if self.raised else Kind.EXACT

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """P is the law with the record in each of the pairs."""
        if self.symmetric:
            return SWAPPED
        return ADDED if len(self.pairs) == 1 else AttainedBy(Pairs.SEVERAL, Way.ADDITION)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        raised = dict(self.raised)
        excesses = [_excess(ctx, p, q) for p, q in self.pairs]

        def eps(alpha: Order) -> Number:
            lam = ctx.number(alpha) - 1
            values = [ctx.log1p(excess(alpha)) / lam for excess in excesses]
            return ctx.maximum(*values) + ctx.number(raised.get(alpha, 0))

        return eps

    def at_one(self, ctx: Arithmetic) -> Number:
        sums = [
            sum((ctx.number(a) * ctx.log(ctx.number(a / b)) for a, b in _joint(p, q)), start=0)
            for p, q in self.pairs
        ]
        return ctx.maximum(*(ctx.number(0) + total for total in sums))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        largest = max(a / b for p, q in self.pairs for a, b in _joint(p, q))
        return ctx.log(ctx.number(largest))


def _joint(p: Weights, q: Weights) -> list[tuple[Fraction, Fraction]]:
    return [(a, b) for a, b in zip(p, q, strict=True) if a]


def _excess(ctx: Arithmetic, p: Weights, q: Weights) -> Callable[[Order], Number]:
    """α ↦ E_Q[(P/Q)^α] − 1: a rational number where α is whole."""
    ratios = [(a / b, b) for a, b in _joint(p, q)]
    exact = [(fmpq(*r.as_integer_ratio()), fmpq(*b.as_integer_ratio())) for r, b in ratios]

    def excess(alpha: Order) -> Number:
        if isinstance(alpha, int):
            total = sum((b * r**alpha for r, b in exact), start=fmpq(-1))
            # A Fraction would seek their greatest common divisor again, longer than all else.
            return ctx.number(int(total.p)) / int(total.q)
        order = ctx.number(alpha)
        powers = (ctx.number(b) * ctx.expm1(order * ctx.log(ctx.number(r))) for r, b in ratios)
        return sum(powers, start=ctx.number(0))

    return excess
