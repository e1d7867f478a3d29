"""Interpolation at Chebyshev's points.

An ellipse with the foci ±1 and the half axes' sum ρ bounds the error (docs/proofs.md, section 16).
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat, fmpq

from symacct.profile.part import Floats


def points(count: int) -> list[arb]:
    """The zeros of T_m."""
    return [arb.cos_pi_fmpq(fmpq(2 * j + 1, 2 * count)) for j in range(count)]


def shares(count: int) -> arb_mat:
    """What the value at a point adds to each coefficient: T_k(x_j)/m, twice that for k > 0."""
    scales = [(arb(1 if k == 0 else 2) / count).sqrt() for k in range(count)]
    rows = arb_mat.dct(count).transpose().tolist()
    return arb_mat([[x * scale for x, scale in zip(row, scales, strict=True)] for row in rows])


def interpolation_error(most: arb, ratio: arb, count: int) -> arb:
    """4Mρ^{1−m}/(ρ−1), of what is analytic and at most M in the ellipse."""
    return 4 * most * ratio ** (1 - count) / (ratio - 1)


def point_counts(log_most: Floats, ratios: Floats) -> Floats:
    """How many points leave `interpolation_error` about 1, by each ellipse."""
    return np.asarray((log_most + np.log(4 * ratios / (ratios - 1))) / np.log(ratios))
