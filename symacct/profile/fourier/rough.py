"""A contour's nodes in float64: about where D(y) = δ, by Newton steps; it proves nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symacct.profile.fourier.plan import ContourPlan
from symacct.profile.fourier.taper import Taper
from symacct.profile.part import Floats, OrderLine, Part

_STEPS = 40
_FAR = 4.0  # times the y that the nodes were chosen for
_NOISE = 1e-14  # of the largest terms
_NEAR = 1e-9  # of y, about what float64 leaves


@dataclass(frozen=True)
class Rough:
    """D(y) = d + Re Σ e^{log_term − sy}, the last ones tapered, about; d is the mass lost."""

    shifts: Floats
    log_terms: Floats
    taper: Taper | None

    def terms(self, y: float) -> Floats:
        """What is summed."""
        terms = np.exp(self.log_terms - self.shifts * y)
        if self.taper is not None:
            terms[self.taper.first :] *= self.taper.rough_weights(y)
        return terms

    def log_value(self, y: float) -> float:
        """log(D(y) − d), −∞ where float64 does not tell it from 0."""
        terms = self.terms(y)
        value = float(terms.real.sum())
        return math.log(value) if value > _NOISE * float(np.abs(terms).sum()) else -math.inf

    def root(self, start: float, log_delta: float, lost: float) -> tuple[float, float]:
        """Where log D(y) = log δ, next to a start, and its slope there; NaN where D is no good."""
        y, slope = start, math.nan
        for _ in range(_STEPS):
            terms = self.terms(y)
            total = float(terms.real.sum())
            if y == start and not total > _NOISE * float(np.abs(terms).sum()):
                break
            value = lost + total
            slope = -float((terms @ self.shifts).real)
            if not value > 0 or not slope < 0:
                return y, math.nan
            slope /= value
            step = max(-0.3 * y, min(0.3 * y, (math.log(value) - log_delta) / slope))
            y -= step
            if abs(step) <= _NEAR * y or not start < _FAR * y < _FAR**2 * start:
                break
        return y, slope


def sketched(runs: Sequence[tuple[Part, float]], reverse: bool, plan: ContourPlan) -> Rough:
    """The nodes of a plan, all of them worked out in float64."""
    order = -plan.c if reverse else 1 + plan.c
    line = OrderLine(order, plan.h, plan.last)
    log_moment = np.zeros(plan.last + 1, dtype=complex)
    for part, k in runs:
        log_moment += k * part.log_values(line)
    s = plan.c + 1j * plan.h * np.arange(plan.last + 1)
    log_terms = (log_moment.conj() if reverse else log_moment) - np.log(s * (s + 1))
    share = np.full(plan.last + 1, plan.h / math.pi)
    share[0] /= 2
    return Rough(s, log_terms + np.log(share), plan.taper)
