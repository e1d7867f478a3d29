"""The numbers of E[m^α n^{1−α}], m = κ + γe^{a·x − |a|²/2}, n = κ + γe^{b·x − |b|²/2}, x ~ N(0, I).

κ = 1 − γ; a and b lie on a line or in a plane. In float64 the excess over 1 is a sum over a grid,
which steers and proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from symacct.core.errors import LimitError
from symacct.core.forking import cached_property

_MOST_NODES = 2**24


class Gram(NamedTuple):
    """|a|², a·b and |b|²: variances and covariance of a·x and b·x."""

    first: Fraction
    mixed: Fraction
    second: Fraction

    @property
    def determinant(self) -> Fraction:
        """|a|²|b|² − (a·b)²"""
        return self.first * self.second - self.mixed**2


@dataclass(frozen=True)
class Triple:
    """α, γ, and the means a = (a₁, r), b = (b₁, r) of which r² is rational; r = 0 on a line."""

    alpha: Fraction
    gamma: Fraction
    a: Fraction
    b: Fraction
    rise: Fraction = Fraction(0)

    @property
    def on_a_line(self) -> bool:
        """Is the second coordinate 0?"""
        return self.rise == 0

    @cached_property
    def floats(self) -> Floats:
        """The triple in float64, which steers."""
        rates = float(self.gamma), float(1 - self.gamma)
        return Floats(float(self.alpha - 1), rates, float(self.a), float(self.b), self.height)

    @property
    def gram(self) -> Gram:
        """|a|², a·b and |b|²"""
        a, b, rise = self.a, self.b, self.rise
        return Gram(a * a + rise, a * b + rise, b * b + rise)

    @property
    def height(self) -> float:
        """r in float64."""
        return math.sqrt(float(self.rise))


@dataclass(frozen=True)
class Floats:
    """A triple in float64, by λ = α − 1, γ and κ; nothing that is proved rests on this."""

    lam: float
    rates: tuple[float, float]
    a: float
    b: float
    r: float

    @property
    def alpha(self) -> float:
        """λ + 1"""
        return self.lam + 1

    @property
    def squares(self) -> tuple[float, float]:
        """|a|² and |b|²"""
        return self.a**2 + self.r**2, self.b**2 + self.r**2

    @cached_property
    def peak(self) -> float:
        """α times what is largest of |a| and |b|, the reach of the integrand's maximum."""
        return self.alpha * math.sqrt(max(self.squares))

    @cached_property
    def log_excess(self) -> float:
        """log(E[…] − 1), about: the largest term of a grid, near both ends a fine one."""
        far, across = max(0.0, self.alpha * self.a), self.alpha * self.r
        z = _tried(far, 200 if self.r else 4000)
        y = _tried(across, 200) if self.r else np.zeros(1)
        return float(np.max(self._log_terms(z[:, None], y[None, :]))) - 0.9

    def log_entropy(self) -> float:
        """log E[m log(m/n)] for a pair on a line, by trapezoids about the means of 1, X² and Y²:

        what is summed rises in X at most as its square does, and so in Y (as it does for small γ).
        """
        step, reach = min(0.1, 0.4 / max(abs(self.a), abs(self.b))), 9.0
        places = 0.0, 2 * self.a, 2 * self.b
        low, high = min(places) - reach, max(places) + reach
        if (high - low) / step > _MOST_NODES:
            raise LimitError(
                f"a sampled Gaussian's integral: found more than {_MOST_NODES:,} nodes, which take "
                "too long",
                remedy="ask for more noise, or for an order above 1",
            )
        z = np.arange(low, high, step)
        return self.log_block(z, np.zeros(1)) + math.log(step / math.sqrt(2 * math.pi))

    def log_block(self, z: np.ndarray, y: np.ndarray) -> float:
        """log Σ of the integrand over these nodes."""
        return log_total(self._log_terms(z, y))

    def _log_terms(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        first, second = self.squares
        log_gap = log_gap_of(
            self.lam,
            self.rates,
            self.a * z + self.r * y - first / 2,
            self.b * z + self.r * y - second / 2,
        )
        return np.asarray(log_gap - (z * z + y * y) / 2)


def log_total(logs: np.ndarray) -> float:
    """log Σ e^l, from its largest term: one logarithm rounds, not one for each term."""
    top = np.max(logs)
    return float(top + np.log(np.sum(np.exp(logs - top))))


def _tried(far: float, most: int) -> np.ndarray:
    """Places near 0, near `far` and between, half a standard deviation apart where few do."""
    near = np.arange(-9, 9.1, 0.5)
    between = np.linspace(0.0, far, min(most, math.ceil(min(2 * far, most)) + 1))
    return np.unique(np.concatenate([near, far + near, between]))


def log_gap_of(
    lam: float, rates: tuple[float, float], log_x: np.ndarray, log_y: np.ndarray
) -> np.ndarray:
    """log( n (r^α − 1 − α(r−1)) ), r = m/n, or log( n (r log r − r + 1) ) at α = 1, in float64.

    The first is n (r(r^λ − 1) − λ(r−1)), and the second its quotient by λ as λ → 0.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_m, log_n = (_log_mixture(rates, x) for x in (log_x, log_y))
        u, w = (rates[0] * np.expm1(np.minimum(x, 700.0)) for x in (log_x, log_y))
        s = (u - w) / (1 + w)
        log_r = np.where(np.abs(s) < 0.5, np.log1p(s), log_m - log_n)
        alpha, slope = lam + 1, lam or 1.0
        growth = np.expm1(np.minimum(lam * log_r, 700.0)) if lam else log_r
        above = log_r + np.log(growth + slope * np.expm1(-np.maximum(log_r, 0.0)))
        above = np.where(lam * log_r < 700, above, alpha * log_r)
        below = np.log(np.exp(np.minimum(log_r, 0.0)) * growth - slope * s)
        series = 1 + (alpha - 2) * s / 3 * (1 + (alpha - 3) * s / 4 * (1 + (alpha - 4) * s / 5))
        small = np.log(alpha * slope / 2 * series) + 2 * np.log(np.abs(s))
        near = alpha * np.abs(s) < 2e-3
        gap = np.where(near, small, np.where(log_r > 0, above, below))
        return np.asarray(np.fmax(log_n + gap, -1e300))


def _log_mixture(rates: tuple[float, float], log_ratio: np.ndarray) -> np.ndarray:
    gamma, rest = rates
    if rest == 0:
        return log_ratio
    return np.logaddexp(math.log(rest), math.log(gamma) + log_ratio)
