"""IntegerNoise: what noise on whole numbers shares, whose worst pair is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.errors import LimitError, PrecisionError, echo
from symacct.kernel.exact import Exact, Order
from symacct.kernel.node import Mechanism
from symacct.kernel.sums.balls import within
from symacct.laws.neighbours import WholeNumberShift

#: The smallest scale of noise, and 1 over the largest: its square is still a float.
_LEAST_SCALE = 1e-100
#: The most outcomes that are summed one by one in balls.
_MOST_TERMS = 100_000


class IntegerNoise(Mechanism):
    """A whole-number query plus symmetric log-concave noise: the worst neighbours are Δ apart.

    Q is the noise and P the noise moved by Δ (docs/proofs/mechanisms.md, Lemma integer-noise).
    """

    sensitivity: int
    premises = (
        "the query is one whole number, and one record changes it by no more than its sensitivity",
    )

    def expected(
        self,
        ctx: Arithmetic,
        value: Callable[[Number], Number],
        power: Order,
        above_one: bool = False,
    ) -> Number:
        """E_Q[value(log(P/Q))] of 0 <= value <= 1 + power + (P/Q)^power, or over P/Q > 1 alone."""
        raise NotImplementedError

    @property
    def first_above_one(self) -> int:
        """The least k with P > Q."""
        return first_above_one(self.sensitivity)


def first_above_one(size: int) -> int:
    """The least k that is more likely where symmetric log-concave noise is moved by `size`."""
    return size // 2 + 1


class IntegerSums:
    """Sums in balls over whole numbers of which every one has a loss of its own."""

    sensitivity: int

    def in_balls(self, value: Callable[[arb], arb], power: Order, above_one: bool) -> arb:
        """`expected` in balls: over the outcomes that count, and a bound of what is left out."""
        most = float_above(power)
        every = self.outcomes(0.0, most, ctx.prec * math.log(2))
        first = first_above_one(self.sensitivity)
        kept = every[max(0, first - every[0]) :] if above_one else every
        total = sum((q * value(x) for q, x in deadline.each(self.weighted_losses(kept))), arb(0))
        return total + within((1 + arb(most)) * self.left_out(most, every))

    def law_latex(self, write: Callable[[Exact], str]) -> tuple[str, tuple[str, ...]] | None:
        """The law of the noise in LaTeX, where `write` writes a number, and how it is read."""
        return None

    def outcomes(self, least: float, most: float, need: float) -> range:
        """The outcomes beyond which Q(P/Q)^a, a = 0 and least <= a <= most, is about e^{−need}."""
        raise NotImplementedError

    def weighted_losses(self, kept: range) -> list[tuple[arb, arb]]:
        """Q(k) and log(P(k)/Q(k)) for each of the outcomes that are kept."""
        raise NotImplementedError

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """log Q(k) and log(P(k)/Q(k)) for each of them, in float64, which proves nothing."""
        raise NotImplementedError

    def left_out(self, a: float, kept: range) -> arb:
        """A bound of Σ Q(1 + (P/Q)^a) over the other outcomes."""
        raise NotImplementedError


class LatticeNoise(IntegerSums, IntegerNoise):
    """Noise of a mechanism's own."""

    @property
    def neighbours(self) -> WholeNumberShift:
        """The noise, and moved by Δ."""
        return WholeNumberShift(self, of_query=bool(self.noise_scale))


def check_terms(kept: range) -> None:
    """LimitError for more outcomes than are summed one by one in balls."""
    if len(kept) > _MOST_TERMS:
        raise LimitError(
            f"noise on whole numbers: found {len(kept):,} outcomes that count, needed at most "
            f"{_MOST_TERMS:,}",
            remedy="take less noise or a smaller order, or the continuous noise",
        )


def float_above(power: Order) -> float:
    """A float >= max(power, 1), LimitError for an order whose outcomes would be too many."""
    limits.check("order", math.ceil(power), "orders of a sum over whole numbers")
    return math.nextafter(float(max(power, 1)), math.inf)


def scale_in_float(scale: Exact, what: str) -> float:
    """About the scale of the noise; PrecisionError where floats can't choose what counts by it."""
    value = float(BALL.number(scale).mid())
    if not _LEAST_SCALE < value < 1 / _LEAST_SCALE:
        raise PrecisionError(
            f"{what}: found {echo(scale)}, needed a number between {_LEAST_SCALE} and "
            f"{1 / _LEAST_SCALE}, because the outcomes that count are chosen in float64"
        )
    return value
