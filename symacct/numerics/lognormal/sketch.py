"""E(K − S)₊ on a hyperbola in float64, to choose where it is asked for in balls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from symacct.core.forking import cached_property
from symacct.numerics.lognormal.plan import Hyperbola, places
from symacct.numerics.lognormal.transform import Floats, Lognormal

_REACH, _STEP = 12.0, 0.1  # of a line, and the spacing on it in units of 1/s at most
_ASIDE = 0.4  # of an angle, by which a line is off one on which nothing falls
_NOISE = 1e-15


@dataclass(frozen=True, eq=False)
class Sketch:
    """The nodes of a plan."""

    law: Lognormal
    count: int
    place: float
    plan: Hyperbola

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        """u, and log of its term without e^{uK}."""
        plan, law = self.plan, self.law
        u, _ = places(plan.scale, plan.angle, plan.step * np.arange(plan.last + 1))
        _, y = law.log_bounds(u, self.place, self.count)
        least = (np.angle(u) - math.pi / 2 + _ASIDE) / law.s
        y = np.maximum(y, np.maximum(least, 0.0))[:, None]
        x = np.arange(-_REACH, _REACH, min(_STEP, _STEP / law.s))
        z = x - 1j * y
        exponents = -(z**2) / 2 - u[:, None] * np.exp(law.s * z - law.s**2 / 2)
        phi = np.exp(exponents).sum(axis=1) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
        slope = plan.scale * np.cos(plan.angle - 1j * plan.step * np.arange(plan.last + 1))
        shares = np.full(u.size, plan.step / math.pi)
        shares[0] /= 2
        return u, self.count * np.log(phi) + np.log(slope / u**2 * shares)

    def value(self, place: float) -> tuple[float, float]:
        """E(K − S)₊ and about how much of it is rounding."""
        u, logs = self._terms
        with np.errstate(all="ignore"):
            terms = np.exp(logs + u * place)
        noise = _NOISE * (1 + self.count) * float(np.abs(terms).max())
        return float(terms.real.sum()), noise
