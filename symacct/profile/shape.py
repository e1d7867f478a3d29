"""The moments at real orders that the search for a contour reads: float64, which proves nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from symacct.forking import cached_property
from symacct.profile.many_gaussians import gathered
from symacct.profile.part import Factor, Floats, Part

Runs = Sequence[tuple[Part, int]]

_PER_OCTAVE = 8  # shifts that are looked at
_BLOCK = 32  # of them at once
_FARTHEST = 60  # octaves from 1
_AROUND = 28  # shifts on either side of the saddle
_KINDS = 24  # of parts that are told apart


@dataclass
class Moments:
    """K(s) = Σ k_i log F_i and its second derivative at the shifts s = 2^{j/8}, by blocks."""

    runs: Runs
    reverse: bool
    blocks: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    @cached_property
    def factors(self) -> tuple[tuple[Factor, int], ...]:
        """What a contour multiplies."""
        return gathered(self.runs)

    @cached_property
    def alike(self) -> list[tuple[Part, float]]:
        """The runs, or where there are many kinds of them some that stand for their likes."""
        return list(self.runs) if len(self.runs) <= _KINDS else list(_chosen(self.runs))

    @cached_property
    def largest(self) -> float:
        """The largest finite loss."""
        return sum(k * float(part.largest(self.reverse).mid()) for part, k in self.runs)

    def order(self, shift: float) -> float:
        """Re z where Re s = `shift`."""
        return -shift if self.reverse else 1 + shift

    def _block(self, index: int) -> tuple[Floats, Floats]:
        if index not in self.blocks:
            shifts = _shifts(index * _BLOCK, _BLOCK)
            orders = -shifts if self.reverse else 1 + shifts
            found = [(k, part.steer(orders)) for part, k in self.alike]
            log_moments, variances = np.zeros(_BLOCK), np.zeros(_BLOCK)
            for k, (log_moment, variance) in found:
                log_moments += k * log_moment
                variances += k * variance
            self.blocks[index] = log_moments, variances
        return self.blocks[index]

    def around(self, middle: int) -> tuple[Floats, Floats, Floats]:
        """Shifts about the middle one, K and its second derivative."""
        first, last = middle - _AROUND, middle + _AROUND
        indices = range(first // _BLOCK, last // _BLOCK + 1)
        blocks = zip(*map(self._block, indices), strict=True)
        log_moments, variances = (np.concatenate(block) for block in blocks)
        place = slice(first - indices[0] * _BLOCK, last - indices[0] * _BLOCK)
        return _shifts(first, last - first), log_moments[place], variances[place]

    def saddle(self, y: float) -> int:
        """The j of the shift at which K(s) − sy − log s is about least."""
        return self._least(lambda s, log_moment: log_moment - s * y - math.log(s))[0]

    def renyi_epsilon(self, log_delta: float) -> float:
        """About the least ε that the moments at real orders give for δ: never below the true."""
        return self._least(lambda s, log_moment: (log_moment - log_delta + _log_kernel(s)) / s)[1]

    def renyi_log_delta(self, y: float) -> tuple[float, float]:
        """The shift of the order at which, and about what, the least log δ for ε is by a moment."""
        j, found = self._least(lambda s, log_moment: log_moment - s * y + _log_kernel(s))
        return shift(j), found

    def _least(self, objective: Callable[[float, float], float]) -> tuple[int, float]:
        """Where a function of (s, K(s)) with one valley is least, to half an octave; its value."""

        def at(j: int) -> float:
            log_moment = float(self._block(j // _BLOCK)[0][j % _BLOCK])
            return objective(shift(j), log_moment) if math.isfinite(log_moment) else math.inf

        j, step = 0, _PER_OCTAVE // 2
        while at(j) == math.inf and j > -_FARTHEST * _PER_OCTAVE:  # moments end before
            j -= step
        here, there = at(j), at(j + step)
        if not there < here:
            step = -step
            there = at(j + step)
        while there < here and abs(j) < _FARTHEST * _PER_OCTAVE:
            j += step
            here, there = there, at(j + step)
        return j, here


def shift(j: int) -> float:
    """2^{j/8}."""
    return float(2.0 ** (j / _PER_OCTAVE))


def _shifts(first: int, count: int) -> Floats:
    return np.exp2(np.arange(first, first + count) / _PER_OCTAVE)


def _log_kernel(s: float) -> float:
    """log of s^s/(1+s)^{1+s}, the largest (1−e^{−u})e^{−su}."""
    return s * math.log(s) - (1 + s) * math.log1p(s)


def _chosen(runs: Runs) -> Iterator[tuple[Part, float]]:
    """The middle one of each so many of one class, for as many runs as have their log F(2)."""
    sizes = [(float(part.steer(np.array([2.0]))[0][0]), part, k) for part, k in runs]
    sizes.sort(key=lambda one: (type(one[1]).__name__, one[0]))
    for _, same in itertools.groupby(sizes, key=lambda one: type(one[1])):
        kind = list(same)
        for some in np.array_split(np.arange(len(kind)), min(len(kind), _KINDS)):
            size, part, k = kind[some[len(some) // 2]]
            total = sum(kind[i][0] * kind[i][2] for i in some)
            yield part, total / size if size > 0 else float(k * len(some))
