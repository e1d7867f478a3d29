"""IntegerNoise: what noise on whole numbers shares, whose worst pair is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline, limits
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.arithmetic.ball import within
from symacct.kernel.errors import LimitError, PrecisionError, echo
from symacct.kernel.exact import Exact, Order
from symacct.kernel.node import Mechanism
from symacct.laws.neighbours import WholeNumberShift

#: The smallest scale of noise, and 1 over the largest: its square is still a float. Other scales
#: are refused.
_LEAST_SCALE = 1e-100
#: More outcomes are not summed one by one in balls, which would take long: LimitError.
_MOST_OUTCOMES = 100_000


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
        """E_Q[value(log(P/Q))], over the outcomes with P > Q alone if `above_one`.

        The caller guarantees 0 <= value <= 1 + power + (P/Q)^power, by which balls bound the rest.
        """
        raise NotImplementedError

    @property
    def first_above_one(self) -> int:
        """The least outcome k with P(k) > Q(k)."""
        return first_above_one(self.sensitivity)


def first_above_one(size: int) -> int:
    """The least k that is more likely where symmetric unimodal noise is moved by `size` > 0."""
    return size // 2 + 1


class IntegerSums:
    """Certified sums in balls over whole numbers, each with a loss of its own.

    A subclass chooses a window of outcomes in float64, gives its masses and losses, and bounds the
    rest; P is Q moved by `sensitivity`.
    """

    sensitivity: int

    def in_balls(self, value: Callable[[arb], arb], power: Order, above_one: bool) -> arb:
        """E_Q[value(log(P/Q))] in balls, or over P > Q alone; what is left out is in the radius.

        The caller guarantees 0 <= value <= 1 + power + (P/Q)^power.
        """
        most = float_above(power)
        every = self.outcomes(0.0, most, ctx.prec * math.log(2))
        first = first_above_one(self.sensitivity)
        kept = every[max(0, first - every[0]) :] if above_one else every
        total = sum((q * value(x) for q, x in deadline.each(self.weighted_losses(kept))), arb(0))
        return total + within((1 + arb(most)) * self.left_out(most, every))

    def law_latex(self, write: Callable[[Exact], str]) -> tuple[str, tuple[str, ...]] | None:
        """The law of the noise in LaTeX, with sentences that say how it is read; None for none.

        `write` writes a number.
        """
        return None

    def outcomes(self, least: float, most: float, need: float) -> range:
        """The outcomes beyond which Q(P/Q)^a, a = 0 and least <= a <= most, is about e^{−need}.

        Chosen in float64, which steers; LimitError for too many.
        """
        raise NotImplementedError

    def weighted_losses(self, kept: range) -> list[tuple[arb, arb]]:
        """Q(k) and log(P(k)/Q(k)) for each of the outcomes in balls; LimitError for too many."""
        raise NotImplementedError

    def in_floats(self, kept: range) -> tuple[np.ndarray, np.ndarray]:
        """log Q(k) and log(P(k)/Q(k)) for each of them, in float64, which proves nothing."""
        raise NotImplementedError

    def left_out(self, a: float, kept: range) -> arb:
        """An upper bound of Σ Q(1 + (P/Q)^a) over all outcomes outside of `kept`."""
        raise NotImplementedError


class LatticeNoise(IntegerSums, IntegerNoise):
    """Integer noise of which every outcome has a loss of its own, summed in a window."""

    @property
    def neighbours(self) -> WholeNumberShift:
        """The noise, and that noise moved by Δ."""
        return WholeNumberShift(self, of_query=bool(self.noise_scale))


def check_terms(kept: range) -> None:
    """Raise LimitError for more outcomes than are summed one by one in balls."""
    if len(kept) > _MOST_OUTCOMES:
        raise LimitError(
            f"noise on whole numbers: found {len(kept):,} outcomes that count, needed at most "
            f"{_MOST_OUTCOMES:,}",
            remedy="take less noise or a smaller order, or the continuous noise",
        )


def float_above(power: Order) -> float:
    """A float > max(power, 1), rounded up; LimitError for a power above the limit "order"."""
    limits.check("order", math.ceil(power), "orders of a sum over whole numbers")
    return math.nextafter(float(max(power, 1)), math.inf)


def scale_in_float(scale: Exact, what: str) -> float:
    """The scale of noise in float64, which steers; PrecisionError outside of 1e−100 to 1e100."""
    value = float(BALL.number(scale).mid())
    if not _LEAST_SCALE < value < 1 / _LEAST_SCALE:
        raise PrecisionError(
            f"{what}: found {echo(scale)}, needed a number between {_LEAST_SCALE} and "
            f"{1 / _LEAST_SCALE}, because the outcomes that count are chosen in float64"
        )
    return value
