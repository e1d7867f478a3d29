"""A contour's nodes in float64: about where D(y) = δ, by Newton steps; it proves nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from symacct.profile.part import Floats

_STEPS = 40
_NEAR = 1e-9  # of y, about what float64 leaves


@dataclass(frozen=True)
class Rough:
    """D(y) = d + Re Σ e^{log_term − sy}, about; d is the mass lost."""

    shifts: Floats
    log_terms: Floats

    def root(self, y: float, log_delta: float, lost: float) -> tuple[float, float]:
        """Where log D(y) = log δ, next to y, and its slope there; NaN where D is no good."""
        slope = math.nan
        for _ in range(_STEPS):
            terms = np.exp(self.log_terms - self.shifts * y)
            value = lost + float(terms.real.sum())
            slope = -float((terms @ self.shifts).real)
            if not value > 0 or not slope < 0:
                return y, math.nan
            slope /= value
            step = max(-0.3 * y, min(0.3 * y, (math.log(value) - log_delta) / slope))
            y -= step
            if abs(step) <= _NEAR * y:
                break
        return y, slope
