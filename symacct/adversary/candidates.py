"""Finite laws: many candidates in float64 for a search, or one in exact rationals for a proof."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.context import PlainGaps
from symacct.kernel.claims import ADDED, SWAPPED, AttainedBy, Kind, Pairs, Source, Way
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Mechanism
from symacct.kernel.theorem_registry import RDPCurve
from symacct.theory.amplification.wbk19 import differences

#: An array (candidates, outcomes) of float64, or of Fractions for one candidate.
Law: TypeAlias = NDArray[Any]
Pair: TypeAlias = tuple[Law, Law]
#: The law of the one candidate.
Weights: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Candidates:
    """Laws of shape (candidates, outcomes), numbers of (candidates, 1).

    All are float64 for a search, or Fractions of one candidate for a proof.
    """

    laws: tuple[Law, ...]
    numbers: Mapping[str, Law]

    @property
    def exact(self) -> bool:
        """Is this one candidate in Fractions?"""
        return bool(self.laws[0].dtype == object)

    def rounded(self, row: int, denominator: int) -> Candidates:
        """Round one candidate to fractions of about this denominator; each law sums to 1 again."""
        laws = tuple(_rounded(law[row], denominator) for law in self.laws)
        numbers = {
            name: np.array([[_near(float(x[row, 0]), denominator)]], dtype=object)
            for name, x in self.numbers.items()
        }
        return Candidates(laws, numbers)

    def number(self, name: str) -> Fraction:
        """Return a number of the one candidate, exactly."""
        return Fraction(self.numbers[name][0, 0])


def _rounded(law: Law, denominator: int) -> Law:
    """Round a law to positive rationals of one denominator, about the one given."""
    weights = [max(1, round(float(x) * denominator)) for x in law]
    total = sum(weights)
    return np.array([[Fraction(w, total) for w in weights]], dtype=object)


def _near(x: float, denominator: int) -> Fraction:
    """Find a fraction near x > 0, which is never 0, nor 1 for an x < 1.

    Its denominator is at most the one given, unless that would make it 0 or 1.
    """
    near = Fraction(x).limit_denominator(denominator)
    if near == 0:
        return Fraction(1, round(1 / x))
    if near == 1 and x < 1:
        return 1 - Fraction(1, round(1 / (1 - x)))
    return near


def fractions(law: Law) -> Weights:
    """Return the law of the one candidate."""
    return tuple(Fraction(x) for x in law[0])


def excess(p: Law, q: Law, alpha: Order) -> Number:
    """Compute E_Q[(P/Q)^α] − 1 of each candidate; exact for Fractions and whole α.

    In float64 nothing cancels where P and Q are close, and no error is bounded.
    """
    if p.dtype == object:
        return np.sum(p**alpha * q ** (1 - alpha), axis=1) - 1
    u = p / q - 1
    # Σ Q u = 0, so αu may be taken off: nothing cancels where P and Q are close.
    return np.sum(q * (np.expm1(float(alpha) * np.log1p(u)) - float(alpha) * u), axis=1)


def divergence(p: Law, q: Law, alpha: Order) -> Number:
    """Compute D_α(P‖Q) of each candidate in float64, 1 <= α <= ∞, for P, Q > 0."""
    if alpha == INFINITY:
        return np.log(np.max(p / q, axis=1))
    if alpha == 1:
        return np.sum(p * np.log(p / q), axis=1)
    return np.log1p(excess(p, q, alpha)) / (float(alpha) - 1)


class FiniteLaws(Mechanism):
    """The mechanism whose curve is max D_α(P‖Q) over given pairs of finite laws, or above it.

    `raised` has by how much ε(α) is raised at some orders: the curve is then an upper bound. Q is
    positive in each pair.
    """

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
        """Make the mechanism of exact pairs; if `symmetric`, reversing outcomes swaps P and Q."""
        laws = tuple((fractions(p), fractions(q)) for p, q in pairs)
        return cls._intern(
            pairs=laws, raised=tuple(sorted((raised or {}).items())), symmetric=symmetric
        )

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        return Kind.UPPER if self.raised else Kind.EXACT

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """In each of the pairs P is the law with the record."""
        if self.symmetric:
            return SWAPPED
        return ADDED if len(self.pairs) == 1 else AttainedBy(Pairs.SEVERAL, Way.ADDITION)

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """Compute α ↦ the largest D_α of the pairs, raised by what the candidate adds at α."""
        raised = dict(self.raised)
        excesses = [_excess(ctx, p, q) for p, q in self.pairs]

        def eps(alpha: Order) -> Number:
            lam = ctx.number(alpha) - 1
            values = [ctx.log1p(excess(alpha)) / lam for excess in excesses]
            return ctx.maximum(*values) + ctx.number(raised.get(alpha, 0))

        return eps

    def at_one(self, ctx: Arithmetic) -> Number:
        """Compute the largest Kullback–Leibler divergence Σ a log(a/b) of the pairs, in nats."""
        sums = [
            sum((ctx.number(a) * ctx.log(ctx.number(a / b)) for a, b in _joint(p, q)), start=0)
            for p, q in self.pairs
        ]
        return ctx.maximum(*(ctx.number(0) + total for total in sums))

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """Compute the log of the largest ratio of two probabilities."""
        largest = max(a / b for p, q in self.pairs for a, b in _joint(p, q))
        return ctx.log(ctx.number(largest))


def _joint(p: Weights, q: Weights) -> list[tuple[Fraction, Fraction]]:
    """Pair the probabilities of each outcome that P has."""
    return [(a, b) for a, b in zip(p, q, strict=True) if a]


def _excess(ctx: Arithmetic, p: Weights, q: Weights) -> Callable[[Order], Number]:
    """Return α ↦ E_Q[(P/Q)^α] − 1, which is computed as a rational number where α is whole."""
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


# --- float64 arrays as an arithmetic
#
# A bound is evaluated on hundreds of candidates at once, for searching.


class ArrayArithmetic(PlainGaps):
    """Plain float64, elementwise: no bound on the error, only ever used to find candidates."""

    certified = False
    bits = 53

    def number(self, value: Number) -> Number:
        return value if isinstance(value, np.ndarray) else float(value)

    def pi(self) -> float:
        return math.pi

    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    sqrt = staticmethod(np.sqrt)
    power = staticmethod(np.power)

    def binomial(self, n: int, k: int) -> float:
        return float(math.comb(n, k))

    def minimum(self, *xs: Number) -> Number:
        return functools.reduce(np.minimum, xs)

    def maximum(self, *xs: Number) -> Number:
        return functools.reduce(np.maximum, xs)

    def is_zero(self, x: Number) -> bool:
        return bool(np.all(x == 0))

    def is_infinite(self, x: Number) -> bool:
        return bool(np.all(np.isposinf(x)))


#: The arithmetic of float64 arrays, in which the search evaluates bounds.
ARRAYS = ArrayArithmetic()


class ArrayCurve:
    """ε(α) of each candidate in float64 arrays, as a bound asks it of a curve; values are kept."""

    shape = None
    node = None

    def __init__(self, value: Callable[[Order], Number]) -> None:
        self._value = value
        self._values: dict[Order, Number] = {}
        self._tables: dict[str, dict[Any, Any]] = {}

    @classmethod
    def of_pairs(
        cls, pairs: list[Pair], raised: Mapping[Order, Number] | None = None
    ) -> ArrayCurve:
        """Make the curve ε(α) = max D_α(P‖Q) over the pairs, plus what is raised at α."""
        more = raised or {}
        return cls(
            lambda alpha: (
                functools.reduce(np.maximum, (divergence(p, q, alpha) for p, q in pairs))
                + more.get(alpha, 0.0)
            )
        )

    def __call__(self, alpha: Order) -> Number:
        """Compute the curve's values at an order, kept from then on."""
        if alpha not in self._values:
            self._values[alpha] = self._value(alpha)
        return self._values[alpha]

    def using(self, ctx: Arithmetic) -> ArrayCurve:
        return self

    def remember(self, what: str) -> dict[Any, Any]:
        return self._tables.setdefault(what, {})

    def excesses(self) -> Callable[[Order], Number]:
        """Return l ↦ e^{(l−1)ε(l)} − 1."""
        return lambda l: np.expm1((l - 1) * self(l))


@differences.register
def _(ctx: ArrayArithmetic, eps: RDPCurve, orders: Iterable[int]) -> Callable[[int], Number]:
    """Give the alternating sum of e^{(i−1)ε(i)} − 1, whose terms i = 0 and 1 vanish, for l >= 1.

    It is NaN where the curve shows itself to be that of no pair, by a negative sum.
    """
    excess = eps.excesses()

    def difference(l: int) -> Number:
        terms = [(-1) ** (l - i) * math.comb(l, i) * excess(i) for i in range(2, l + 1)]
        total, size = sum(terms), sum(np.abs(term) for term in terms)
        # Of a true curve it is not negative; one that is nearly 0 is only noise here.
        return np.where(total < -1e-9 * size, np.nan, np.maximum(total, 0.0))

    return difference
