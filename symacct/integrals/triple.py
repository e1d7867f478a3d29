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

from symacct.forking import cached_property


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
        """The same in float64, which steers."""
        alpha, gamma, a, b = map(float, (self.alpha, self.gamma, self.a, self.b))
        return Floats(alpha, gamma, a, b, self.height)

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
    """A triple in float64; nothing rests on what is computed here."""

    alpha: float
    gamma: float
    a: float
    b: float
    r: float

    @property
    def lam(self) -> float:
        """α − 1, kept away from 0."""
        return max(self.alpha - 1, 1e-200)

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

    def log_sum(self, step: float) -> float:
        """The same by a grid of this step, in blocks."""
        reach = 9.0
        low, high = min(0.0, self.alpha * self.a), max(0.0, self.alpha * self.a)
        z = _steps(low - reach, high + reach, step)
        y = _steps(-reach, self.alpha * self.r + reach, step) if self.r else np.zeros(1)
        total = -np.inf
        for rows in np.array_split(z, len(z) * len(y) // 2**17 + 1):
            total = np.logaddexp(total, self.log_block(rows[:, None], y[None, :]))
        return float(total) + math.log(step / math.sqrt(2 * math.pi)) * (2 if self.r else 1)

    def log_block(self, z: np.ndarray, y: np.ndarray) -> float:
        """log Σ of the integrand over these nodes."""
        return float(np.logaddexp.reduce(self._log_terms(z, y).ravel()))

    def _log_terms(self, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        first, second = self.squares
        log_gap = log_gap_of(
            self.alpha,
            self.gamma,
            self.a * z + self.r * y - first / 2,
            self.b * z + self.r * y - second / 2,
        )
        return np.asarray(log_gap - (z * z + y * y) / 2)


def _tried(far: float, most: int) -> np.ndarray:
    """Places near 0, near `far` and between, half a standard deviation apart where few do."""
    near = np.arange(-9, 9.1, 0.5)
    between = np.linspace(0.0, far, min(most, math.ceil(min(2 * far, most)) + 1))
    return np.unique(np.concatenate([near, far + near, between]))


def _steps(low: float, high: float, step: float) -> np.ndarray:
    return np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step


def log_gap_of(alpha: float, gamma: float, log_x: np.ndarray, log_y: np.ndarray) -> np.ndarray:
    """log( n (r^α − 1 − α(r−1)) ), r = m/n, or log( n (r log r − r + 1) ) at α = 1, in float64."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        log_m, log_n = (_log_mixture(gamma, x) for x in (log_x, log_y))
        u, w = (gamma * np.expm1(np.minimum(x, 700.0)) for x in (log_x, log_y))
        s = (u - w) / (1 + w)
        log_r = np.where(np.abs(s) < 0.5, np.log1p(s), log_m - log_n)
        lam = alpha - 1
        if lam:
            growth = alpha * log_r
            plain = np.log(np.expm1(np.minimum(growth, 700.0)) - alpha * s)
            plain = np.where(growth > 40, growth, plain)
        else:
            plain = np.where(log_r > 40, log_r + np.log(log_r), np.log((1 + s) * log_r - s))
        series = 1 + (alpha - 2) * s / 3 * (1 + (alpha - 3) * s / 4 * (1 + (alpha - 4) * s / 5))
        small = np.log(alpha * (lam or 1.0) / 2 * series) + 2 * np.log(np.abs(s))
        near = alpha * np.abs(s) < 2e-3
        return np.asarray(np.fmax(log_n + np.where(near, small, plain), -1e300))


def _log_mixture(gamma: float, log_ratio: np.ndarray) -> np.ndarray:
    if gamma == 1:
        return log_ratio
    return np.logaddexp(math.log1p(-gamma), math.log(gamma) + log_ratio)
