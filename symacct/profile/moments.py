"""Moments at real orders steer the search for a contour, in float64, and prove nothing.

A shift s is order 1 + s, or −s if reversed. K(s) = Σ k_i log F_i is log E_P[e^{sL}] over finite L,
in nats, ∞ where a moment is infinite; y, ε and log δ are in nats too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symacct.kernel import deadline
from symacct.kernel.memory import cached_property
from symacct.profile.part import Factor, Floats, Part, PartRuns, merged, order_at

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

        def epsilon(s: float, log_moment: float, variance: float) -> float:
            curved = math.log(2 * math.pi * (variance + s**-2 + (1 + s) ** -2)) / 2
            return (log_moment - curved - log_delta - math.log(s * (s + 1))) / s

        j, _ = self._renyi(log_delta)
        return min(epsilon(shift(i), *self._coarse(i)) for i in (j - 1, j, j + 1))

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
