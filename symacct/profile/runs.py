"""Runs in one direction have moments and a largest loss, and strategies answer for their profile.

Moments at real orders steer the search for a contour, in float64, and prove nothing. A shift s is
order 1 + s, or −s if reversed. K(s) = Σ k_i log F_i is log E_P[e^{sL}] over finite L, in nats, ∞
where a moment is infinite; y, ε and log δ are in nats too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.answer import given, given_above
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, rational, up_to
from symacct.kernel.claims import Proof
from symacct.kernel.errors import InfiniteError, LimitError, PrecisionError
from symacct.kernel.exact import Exact
from symacct.kernel.memory import cached_property
from symacct.profile.part import Factor, Floats, Part, PartRuns, Runs, merged, order_at
from symacct.profile.roots import precisions

# --- moments

#: So many shifts are looked at in an octave, far from the saddle and near it. They steer.
_COARSE, _FINE = 2, 8
#: So many coarse shifts are worked out at once, as one array. It costs time alone.
_BLOCK = 12
#: Shifts lie within so many octaves of 1. They steer: a farther one is not tried.
_FARTHEST = 60
#: So many fine shifts lie below the saddle and above it. They steer.
_BELOW, _ABOVE = 16, 28
#: Of more kinds of parts, at most so many of a class stand for their likes where moments are
#: estimated, and a contour multiplies the fewer factors that their class makes of all of them. More
#: take longer, fewer may lay a worse contour, and no bound rests on the number.
_KINDS = 24


@dataclass
class Moments:
    """Moments K(s) = Σ k_i log F_i and K″ are kept at the shifts s = 2^{j/2}, by blocks.

    About one of the shifts they are known more closely. `start` is a j near the last one that was
    looked for, `noisy` keeps the moments beside the last noise, and `room` in nats is what the
    largest loss is taken to be larger by, so that a step has no alias up to there.
    """

    runs: PartRuns
    reverse: bool
    blocks: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)
    fine: dict[int, tuple[Floats, Floats, Floats]] = field(default_factory=dict)
    noisy: dict[Part, Moments] = field(default_factory=dict)
    start: int = 0
    room: float = 0.0

    def with_noise(self, noise: Part) -> Moments:
        """Make the moments of these runs and of one more, which comes last; the last are kept."""
        if noise not in self.noisy:
            self.noisy = {noise: Moments((*self.runs, (noise, 1)), self.reverse)}
        return self.noisy[noise]

    @cached_property
    def exchanged(self) -> Moments:
        """The moments of the pairs exchanged."""
        return Moments(self.runs, not self.reverse)

    @cached_property
    def factors(self) -> tuple[tuple[Factor, int], ...]:
        """The factors whose product a contour sums: the runs, or merged ones of many kinds."""
        if len(self.runs) <= _KINDS:
            return tuple(self.runs)
        return tuple(merged(tuple(self.runs), lambda kind, same_class: kind.factors(same_class)))

    @cached_property
    def representatives(self) -> list[tuple[Part, float]]:
        """The runs, or of more than `_KINDS` some, with counts that stand for their likes."""
        return list(self.runs) if len(self.runs) <= _KINDS else list(_chosen(self.runs))

    @cached_property
    def largest(self) -> float:
        """The largest finite loss, and the room beyond it."""
        return self.room + sum(k * float(part.largest(self.reverse).mid()) for part, k in self.runs)

    def _at(self, shifts: Floats) -> tuple[Floats, Floats]:
        """Estimate K and K″ at some shifts, by the representatives."""
        orders = order_at(shifts, self.reverse)
        log_moments, variances = np.zeros(len(shifts)), np.zeros(len(shifts))
        for part, k in self.representatives:
            deadline.check()
            log_moment, variance = part.float_moments(orders)
            log_moments += k * log_moment
            variances += k * variance
        return log_moments, variances

    def _coarse(self, j: int) -> tuple[float, float]:
        """Return K and its second derivative at 2^{j/2}."""
        index, place = divmod(j, _BLOCK)
        if index not in self.blocks:
            first = index * _BLOCK
            self.blocks[index] = self._at(np.exp2(np.arange(first, first + _BLOCK) / _COARSE))
        log_moments, variances = self.blocks[index]
        return float(log_moments[place]), float(variances[place])

    def moments_around(self, middle: int) -> tuple[Floats, Floats, Floats]:
        """Return fine shifts about 2^{j/2}, j = `middle`, K and its second derivative at them."""
        if middle not in self.fine:
            places = middle / _COARSE + np.arange(-_BELOW, _ABOVE) / _FINE
            shifts = np.exp2(places)
            self.fine = {middle: (shifts, *self._at(shifts))}
        return self.fine[middle]

    def moments_beyond(self, middle: int, y: float, most: float) -> tuple[Floats, Floats, Floats]:
        """Return coarse shifts beyond the fine ones, K and K″, while K(s) − sy <= `most`."""
        first = middle + _COARSE * _ABOVE // _FINE
        known = ((j, self._coarse(j)) for j in range(first, _COARSE * _FARTHEST))
        rows = list(
            itertools.takewhile(
                lambda row: row[1] - row[0] * y <= most,
                ((shift(j), *values) for j, values in known),
            )
        )
        shifts, log_moments, variances = np.array(rows).reshape(-1, 3).T
        return shifts, log_moments, variances

    def saddle(self, y: float) -> int:
        """Search the j of the shift 2^{j/2} at which K(s) − sy − log s is about smallest."""
        return self._minimum(lambda s, log_moment: log_moment - s * y - math.log(s))[0]

    def renyi_epsilon(self, log_delta: float) -> float:
        """Estimate the smallest ε that real orders give for δ: an upper bound but for float64."""
        return self._renyi(log_delta)[1]

    def _renyi(self, log_delta: float) -> tuple[int, float]:
        """Search the j of the shift whose moment gives the smallest ε for δ, and that ε."""
        return self._minimum(lambda s, log_moment: (log_moment - log_delta + log_kernel(s)) / s)

    def saddle_epsilon(self, log_delta: float) -> float:
        """Estimate ε(δ) of many runs by the saddle point of the contour integral."""
        j, _ = self._renyi(log_delta)
        estimates = []
        for i in (j - 1, j, j + 1):
            s, (log_moment, variance) = shift(i), self._coarse(i)
            curved = math.log(2 * math.pi * (variance + s**-2 + (1 + s) ** -2)) / 2
            estimates.append((log_moment - curved - log_delta - math.log(s * (s + 1))) / s)
        return min(estimates)

    def log_delta(self, y: float) -> float:
        """Estimate the smallest log δ(y) that a moment gives: an upper bound but for float64.

        It is without P(L = ∞).
        """
        shifts, log_moments, _ = self.moments_around(self.saddle(y))
        log_deltas = log_moments - shifts * y + log_kernel(shifts)
        return float(np.nan_to_num(log_deltas, nan=math.inf).min())

    def lowest_shift(self, y: float, log_bound: float) -> float | None:
        """Estimate about the smallest shift whose moment bounds D(y) by e^{log_bound}.

        It is the cheapest to sum. None where no moment is estimated to do so.
        """

        def over(s: float, log_moment: float) -> float:
            return log_moment - s * y + float(log_kernel(s)) - log_bound

        j, smallest = self._minimum(over)
        if smallest > 0:
            return None
        while j > -_FARTHEST * _COARSE and over(shift(j - 1), self._coarse(j - 1)[0]) < -1:
            j -= 1
        return shift(j)

    def _minimum(self, objective: Callable[[float, float], float]) -> tuple[int, float]:
        """Minimise a function of (s, K(s)) with one valley over the shifts 2^{j/2}.

        It returns the j of the minimum, and the value, which is ∞ where no moment is finite. It
        begins near the last minimum that was found.
        """

        def at(j: int) -> float:
            log_moment, _ = self._coarse(j)
            return objective(shift(j), log_moment) if math.isfinite(log_moment) else math.inf

        j, step, most = self.start, 1, _FARTHEST * _COARSE
        while at(j) == math.inf and j > -most:  # moments end before
            j -= step
        here, there = at(j), at(j + step)
        if not there < here:
            step = -step
            there = at(j + step)
        while there < here and abs(j + step) <= most:
            j += step
            here, there = there, at(j + step)
        self.start = j if abs(j) < most else 0
        return j, here


def shift(j: int) -> float:
    """Return the shift 2^{j/2}."""
    return float(2.0 ** (j / _COARSE))


def log_kernel(s: float | Floats) -> Any:
    """Compute log of s^s/(1+s)^{1+s}, the largest (1−e^{−u})e^{−su} over u >= 0, in float64."""
    return s * np.log(s) - (1 + s) * np.log1p(s)


def _chosen(runs: PartRuns) -> Iterator[tuple[Part, float]]:
    """Choose the middle one of each group of like runs, with a count that keeps their log F(2).

    Likes are of one class and about one log F(2); a class has `_KINDS` groups at most.
    """
    sizes = [(float(part.float_moments(np.array([2.0]))[0][0]), part, k) for part, k in runs]
    sizes.sort(key=lambda row: (type(row[1]).__name__, row[0]))
    for _, same in itertools.groupby(sizes, key=lambda row: type(row[1])):
        kind = list(same)
        for some in np.array_split(np.arange(len(kind)), min(len(kind), _KINDS)):
            size, part, k = kind[some[len(some) // 2]]
            total = sum(kind[i][0] * kind[i][2] for i in some)
            yield part, total / size if size > 0 else float(k * len(some))


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
