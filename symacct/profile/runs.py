"""Runs in one direction have ends of their loss, and strategies answer for their profile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from flint import arb, ctx

from symacct.kernel.answer import given, given_above
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import rational
from symacct.kernel.claims import Proof
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball, up_to
from symacct.profile.moments import Moments
from symacct.profile.part import Runs
from symacct.profile.roots import precisions

# --- strategies
#
# What every way to a profile answers: at what cost it can, and then the numbers.

#: The cost of a strategy that can't answer.
CANNOT = math.inf

T = TypeVar("T")
#: Makes a number as a ball at flint's current precision, whatever that is when it is called.
Number = Callable[[], arb]


class Strategy(Protocol):
    """A strategy is a way to the profile D of some runs in one direction.

    `digits` are significant ones, y is in nats. What it can't compute it refuses with
    PrecisionError or LimitError.
    """

    @property
    def proof(self) -> Proof:
        """The lemma that proves the numbers."""

    def cost(self, digits: float) -> float:
        """Estimate the time for so many digits, in nodes of a contour; `CANNOT` without any."""

    def delta(self, y: Number, digits: float) -> arb:
        """Enclose D(y) to so many digits."""

    def root(self, delta: Fraction, digits: float) -> arb:
        """Enclose the y >= 0 with D(y) = δ to so many digits, P(L = ∞) < δ < D(0)."""

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Decide whether D(y) is at most the bound; None where balls can't."""


def by_the_cheapest(
    strategies: Iterable[Strategy], digits: float, ask: Callable[[Strategy], T]
) -> tuple[T, Strategy]:
    """Ask the cheapest strategy that can answer, and the next one where it refuses.

    The second value is the strategy that answered. Where all refuse, the error is that of the last
    one, which had the most to spend; PrecisionError where none can answer at any cost.
    """
    priced = ((way.cost(digits), way) for way in strategies)
    able = sorted((x for x in priced if x[0] < CANNOT), key=lambda x: x[0])
    if not able:
        raise PrecisionError(
            "found a composition whose profile no method gives",
            where="conversion exact",
            remedy="take fewer runs, or conversion improved",
        )
    *others, last = able
    for _, strategy in others:
        with suppress(PrecisionError, LimitError):
            return ask(strategy), strategy
    return ask(last[1]), last[1]


# --- runs in one direction
#
# The runs of known pairs in one direction, and the ends of their privacy loss.

#: P(L = ∞) of at most so many runs that lose mass is a fraction, of more a ball. It costs time, and
#: comparisons with equal shares are decided for fractions alone.
_EXACT_RUNS = 1000


def total_mass_at_infinity(runs: Runs, reverse: bool) -> arb:
    """Compute P(L = ∞) = 1 − Π (1 − d_i)^{k_i}."""
    kept = (k * (-BALL.number(part.mass_at_infinity(reverse))).log1p() for part, k in runs)
    return -sum(kept, arb(0)).expm1()


@dataclass(frozen=True, eq=False)
class DirectedRuns:
    """Directed runs are the pairs (P_i, Q_i)^{k_i}, or all of them exchanged."""

    runs: Runs
    reverse: bool

    @cached_property
    def moments(self) -> Moments:
        """The moments at real orders, in float64."""
        return Moments(self.runs, self.reverse)

    @property
    def count(self) -> int:
        """How many runs there are in all."""
        return sum(k for _, k in self.runs)

    @cached_property
    def densities(self) -> int:
        """Count the runs whose losses have densities that are asked for point by point."""
        return sum(k for part, k in self.runs if part.is_density)

    @property
    def gaussian_ratio(self) -> Exact | None:
        """(Δ/σ)² where all is one query with Gaussian noise, on all of the data; else None."""
        return self.runs[0][0].gaussian_ratio if self.count == 1 else None

    @property
    def decay_slowly(self) -> bool:
        """May moments of some part not fall, or too slowly for a contour of few runs?"""
        return any(part.decays_slowly for part, _ in self.runs)

    @property
    def are_atoms(self) -> bool:
        """Are the losses all atoms? No moment of them falls."""
        return all(part.is_atomic for part, _ in self.runs)

    @property
    def have_moments(self) -> bool:
        """Are there moments at complex orders, which a contour sums?"""
        return all(part.has_moments for part, _ in self.runs)

    @property
    def are_costly(self) -> bool:
        """Does a value of some part's profile take as long as thousands of other parts' values?"""
        return any(part.is_costly for part, _ in self.runs)

    @property
    def have_an_end(self) -> bool:
        """Is there a largest loss, near which D falls like a power of what is left?

        So it is said of densities with a largest loss, and of losses that say so.
        """
        cheap = self.densities or any(part.has_an_end for part, _ in self.runs)
        return bool(cheap and self.largest.is_finite())

    def about_root(self, log_delta: float) -> float:
        """Estimate ε(e^{log_delta}): by the part itself where one run is all, else by moments."""
        epsilon = None
        if len(self.runs) == 1 and self.count == 1:
            epsilon = self.runs[0][0].about_root(log_delta, self.reverse)
        return self.moments.saddle_epsilon(log_delta) if epsilon is None else epsilon

    # --- ends of the loss

    @property
    def largest(self) -> arb:
        """The largest finite loss in nats, a ball at flint's current precision; ∞ without any."""
        return sum((k * part.largest(self.reverse) for part, k in self.runs), arb(0))

    @cached_property
    def about_largest(self) -> arb:
        """The largest finite loss at 64 bits: a ball that encloses it."""
        with ctx.workprec(64):
            return self.largest

    def may_be_largest(self, y: arb) -> bool:
        """Do balls leave open whether y is the largest loss?"""
        return not y < self.about_largest and bool(self.largest.overlaps(y))

    def is_beyond(self, y: Fraction) -> bool:
        """Decide exactly if y is at least the largest loss; False where that is no fraction."""
        ends = [(part.exact_largest(self.reverse), k) for part, k in self.runs]
        known = [(Fraction(end), k) for end, k in ends if isinstance(end, Fraction)]
        return len(known) == len(ends) and y >= sum(k * end for end, k in known)

    def beyond_largest_loss(self, y: arb) -> arb | None:
        """Enclose D(y) where no finite loss is certainly above y; None where one is.

        Where balls can't tell, D is at most how far y may be before the end above P(L = ∞).
        """
        if y < self.about_largest:
            return None
        left = self.largest - y
        if left > 0 and self.runs:
            return None
        return self.mass_at_infinity + up_to(left.max(arb(0)))  # for −D′ <= 1

    # --- what only one of two neighbouring datasets gives

    @property
    def mass_at_infinity(self) -> arb:
        """P(L = ∞), a ball at flint's current precision."""
        exact = self.exact_mass_at_infinity
        return total_mass_at_infinity(self.runs, self.reverse) if exact is None else ball(exact)

    @cached_property
    def exact_mass_at_infinity(self) -> Fraction | None:
        """P(L = ∞) as a fraction; None where it is none, or is of more than 1000 runs."""
        losing = [(part.mass_at_infinity(self.reverse), k) for part, k in self.runs]
        losing = [(lost, k) for lost, k in losing if lost != 0]
        if any(lost == 1 for lost, _ in losing):
            return Fraction(1)
        if sum(k for _, k in losing) > _EXACT_RUNS:
            return None
        if not all(isinstance(lost, Fraction) for lost, _ in losing):
            return None
        return 1 - math.prod(((1 - lost) ** k for lost, k in losing), start=Fraction(1))

    def refuse_delta_below_mass_at_infinity(self, delta: Fraction) -> None:
        """Raise InfiniteError if no finite ε has this δ.

        It is below P(L = ∞), or it is 0 and there is no largest loss. Where balls can't tell δ from
        P(L = ∞) nothing is raised.
        """
        if (
            delta == 0
            and self.mass_at_infinity == 0
            and not self.about_largest.is_finite()
            and self.runs
        ):
            raise InfiniteError(
                "delta: found 0, needed delta > 0, because the privacy loss has no largest value"
            )
        if self.exact_mass_at_infinity is None or self.exact_mass_at_infinity > delta:
            for bits in precisions(20):
                with ctx.workprec(bits):
                    if self.mass_at_infinity > ball(delta):
                        raise InfiniteError(
                            f"delta: found {given(delta)}, needed at least "
                            f"{self._smallest_delta()}, the probability of outcomes that only one "
                            "of two neighbouring datasets can give"
                        )
                    if self.mass_at_infinity < ball(delta):
                        return

    def _smallest_delta(self) -> str:
        """Write P(L = ∞) rounded up, the smallest δ with a finite ε."""
        smallest = self.exact_mass_at_infinity
        if smallest is None:
            smallest = min(rational(self.mass_at_infinity.upper()), Fraction(1))
        return given_above(smallest)

    # --- D(0), the total variation

    @cached_property
    def exact_total_variation(self) -> Fraction | None:
        """D(0) as a fraction, of one run of a finite pair of fractions; None of others."""
        return self.runs[0][0].exact_total_variation if self.count == 1 else None

    def is_above_at_0(self, delta: Fraction) -> bool | None:
        """Decide whether D(0) > δ by the total variations of single runs.

        It is where that of one run is, and it is not where all add up to no more; None between.
        """
        with ctx.workprec(64):
            variations = [(k, part.hockey_stick(arb(0), self.reverse)) for part, k in self.runs]
            if any(variation > ball(delta) for _, variation in variations):
                return True
            return (
                False
                if sum((k * variation for k, variation in variations), arb(0)) <= ball(delta)
                else None
            )
