"""Where E(K − S)₊ is summed: hyperbolas u = μ(1 − sin(α − iθ)), chosen in float64.

Between the angles `left` and `right` lies the strip around the one that is summed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from symacct.core import deadline
from symacct.core.errors import PrecisionError
from symacct.numerics.lognormal.transform import Floats, Lognormal
from symacct.numerics.sums.refine import rounded_down

_SCALES = [0.6, 1.0, 1.6, 2.5]  # of the saddle
_LEFT = np.array([0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.2])
_RIGHT = np.array([-0.7, -0.5, -0.35, -0.2, -0.1])
_FARTHEST, _STEP = 30.0, 0.15  # θ
_SPARE, _MOST = 6.0, 20_000  # nats, and nodes


class Hyperbola(NamedTuple):
    """2N+1 nodes of spacing h on the angle `angle`, to errors of about e^{log_error}.

    Beyond the last one the path goes on at the angle `tail`.
    """

    scale: float
    angle: float
    left: float
    right: float
    tail: float
    step: float
    last: int
    log_error: float
    log_largest: float

    @property
    def end(self) -> float:
        """θ where the strip ends, half a step beyond the last node."""
        return self.step * (self.last + 0.5)


def saddle(law: Lognormal, place: float, count: int) -> tuple[float, float]:
    """Where e^{uK}φ(u)^t/u² is least, u > 0, and its logarithm."""
    u = np.exp(law.log_places)
    values = place * u + count * law.about_log_phi(u) - 2 * law.log_places
    best = int(values.argmin())
    return float(u[best]), float(values[best])


def hyperbola(law: Lognormal, place: float, count: int, log_error: float) -> Hyperbola:
    """The one of the fewest nodes."""
    centre, _ = saddle(law, place, count)
    theta = np.arange(0.0, _FARTHEST, _STEP)
    found = []
    for scale in _SCALES:
        found.extend(_choices(law, place, count, log_error, rounded_down(scale * centre), theta))
    best = min(found, key=lambda x: x.last, default=None)
    if best is None or best.last > _MOST:
        raise PrecisionError(
            f"a sum of {count} lognormal variables: found no contour, needed a point nearer to "
            "its mean, or fewer digits"
        )
    return best


def _choices(
    law: Lognormal, place: float, count: int, log_error: float, scale: float, theta: Floats
) -> list[Hyperbola]:
    angles = np.concatenate([_RIGHT, _LEFT])
    rows = np.array([_log_sizes(law, place, count, scale, angle, theta) for angle in angles])
    beyond = np.maximum.accumulate(rows[:, ::-1], axis=1)[:, ::-1]
    goal, zero, found = log_error - _SPARE, len(_RIGHT), []
    for right in range(len(angles) - 1):
        deadline.check()
        for left in range(max(right + 1, zero), len(angles)):
            tails = [left, max(right, zero)]
            most = np.maximum(rows[right : left + 1].max(axis=0), beyond[tails].min(axis=0))
            ends = np.nonzero(most < goal)[0]
            if not len(ends):
                continue
            end = int(ends[0])
            tail = min(tails, key=lambda i: beyond[i, end])
            sides = [
                float(np.logaddexp.reduce(rows[i][: end + 1])) + math.log(_STEP)
                for i in (right, left)
            ]
            needs = [max(side - goal, 1.0) for side in sides]
            width = float(angles[left] - angles[right])
            step = rounded_down(2 * math.pi * width / sum(needs))
            angle = float(angles[right]) + width * needs[0] / sum(needs)
            last = math.ceil(theta[end] / step)
            middle = rows[right : left + 1, : end + 1].min(axis=0).max()
            found.append(
                Hyperbola(
                    scale,
                    rounded_down(angle),
                    rounded_down(float(angles[left])),
                    rounded_down(float(angles[right])),
                    rounded_down(float(angles[tail])),
                    step,
                    last,
                    log_error,
                    max(float(middle), float(rows[right, 0])),
                )
            )
    return found


def places(scale: float, angle: float, theta: Floats) -> tuple[Floats, Floats]:
    """u and log|du/dθ| − 2 log|u|."""
    turned = angle - 1j * theta
    u = scale * (1 - np.sin(turned))
    return u, np.log(scale * np.abs(np.cos(turned))) - 2 * np.log(np.abs(u))


def _log_sizes(
    law: Lognormal, place: float, count: int, scale: float, angle: float, theta: Floats
) -> Floats:
    with np.errstate(all="ignore"):
        u, log_weight = places(scale, angle, theta)
        bounds, _ = law.log_bounds(u, place, count)
        found = bounds + log_weight
    return np.where(np.isfinite(found) | (found == -np.inf), found, np.inf)
