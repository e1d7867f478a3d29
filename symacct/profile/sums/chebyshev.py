"""Interpolation at Chebyshev's points; of sums over many terms whose losses hardly differ, too.

An ellipse with the foci ±1 and the half axes' sum ρ bounds the error (docs/proofs.md, section 16).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import acb, arb, arb_mat, fmpq

from symacct.numerics.sums.refine import acb_within
from symacct.profile.part import Floats, OrderLine
from symacct.profile.sums.power_sums import real_power_sums

_RATIOS = 2.0 ** np.arange(1, 25)  # of ellipses
_CHOICES = 32  # of how many terms are interpolated
_BESIDE = 2.0**-4  # of half an interval, on either side: the inverse cosine keeps its digits
_LEAST = 2.0**-20  # of a turn, that an interval has at least
_FEW = 48  # nodes
_TERM, _START = 3.0, 256.0  # what a term and an interpolation cost beside √n, for n nodes


def points(count: int) -> list[arb]:
    """The zeros of T_m."""
    return [arb.cos_pi_fmpq(fmpq(2 * j + 1, 2 * count)) for j in range(count)]


def shares(count: int) -> arb_mat:
    """What the value at a point adds to each coefficient: T_k(x_j)/m, twice that for k > 0."""
    scales = [(arb(1 if k == 0 else 2) / count).sqrt() for k in range(count)]
    rows = arb_mat.dct(count).transpose().tolist()
    return arb_mat([[x * scale for x, scale in zip(row, scales, strict=True)] for row in rows])


def off(most: arb, ratio: arb, count: int) -> arb:
    """4Mρ^{1−m}/(ρ−1), of what is analytic and at most M in the ellipse."""
    return 4 * most * ratio ** (1 - count) / (ratio - 1)


def enough(log_most: Floats, ratios: Floats) -> Floats:
    """How many points leave `off` about 1, by each ellipse."""
    return np.asarray((log_most + np.log(4 * ratios / (ratios - 1))) / np.log(ratios))


@dataclass(frozen=True)
class LossCluster:
    """The first `terms` of many, their losses between middle − half and middle + half."""

    terms: int
    points: int
    ratio: arb
    middle: arb
    half: arb

    def weights(self, weights: list[arb], losses: list[arb]) -> list[arb]:
        """Σ_j w_j P_k(ℓ_j) for each point, P_k the polynomial that is 1 there and 0 at the others.

        From Σ_j w_j T_n(x_j), the real part of Σ_j w_j e^{in arccos x_j}.
        """
        angles = [((loss - self.middle) / self.half).acos() for loss in losses]
        coefficients = real_power_sums(weights, angles, 0, self.points - 1)
        found = shares(self.points) * arb_mat([[x.real] for x in coefficients])
        return found.entries()

    def off(self, weights: list[arb], far: float) -> arb:
        """What Σ w e^{itℓ} is then off by, for |t| <= far: |e^{itℓ}| is e^{t|Im ℓ|}."""
        height = self.half * (self.ratio - 1 / self.ratio) / 2
        return off(sum(map(abs, weights), arb(0)) * (far * height).exp(), self.ratio, self.points)


def sums(weights: list[arb], losses: list[arb], goal: arb, line: OrderLine) -> list[acb]:
    """Σ w e^{inhℓ} on a line, worked out with an error of about `goal` if that costs less.

    The losses grow, the first of them often hardly: e^{itℓ} is interpolated between them.
    """
    chosen = cluster(weights, losses, goal, line) if len(line.nodes) >= _FEW else None
    if chosen is None:
        return _sums(weights, losses, line)
    first, rest = slice(chosen.terms), slice(chosen.terms, None)
    places = [chosen.middle + chosen.half * x for x in points(chosen.points)]
    few = chosen.weights(weights[first], losses[first])
    off = chosen.off(weights[first], line.h * line.last)
    disc = acb_within(off)
    return [x + disc for x in _sums(few + weights[rest], places + losses[rest], line)]


def _sums(weights: list[arb], losses: list[arb], line: OrderLine) -> list[acb]:
    h = arb(line.h)
    return real_power_sums(weights, [h * loss for loss in losses], line.first, line.last)


def cluster(
    weights: list[arb], losses: list[arb], goal: arb, line: OrderLine
) -> LossCluster | None:
    """The terms to interpolate, if that costs less; float64."""
    drop = float((sum(weights, arb(0)) / goal).log().mid())
    if not math.isfinite(drop):
        return None
    counts = np.unique(np.linspace(1, len(losses), _CHOICES).astype(int))
    spreads = np.array([float((losses[i - 1] - losses[0]).mid()) for i in counts])
    far = line.h * line.last
    halves = spreads / 2 * (1 + _BESIDE) + _LEAST / far
    growth = far * halves[:, None] * (_RATIOS - 1 / _RATIOS) / 2
    needed = np.maximum(np.ceil(enough(drop + growth, _RATIOS)), 2)
    few, nodes = needed.min(axis=1), math.sqrt(len(line.nodes))
    saved = counts * (nodes - np.sqrt(few) - _TERM) - few * (nodes + _TERM)
    i = int(saved.argmax())
    if not saved[i] > _START:
        return None
    ratio, middle = _RATIOS[needed[i].argmin()], float(losses[0].mid()) + spreads[i] / 2
    return LossCluster(int(counts[i]), int(few[i]), arb(ratio), arb(middle), arb(halves[i]))
