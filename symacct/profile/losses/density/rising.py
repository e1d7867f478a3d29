"""One run of normal laws mixed to the right of one of them: the loss rises with the outcome.

M = (1−γ)Q + γP over Q is R(x) = Σ w e^{dx − d²/2}, d >= 0 the distances in deviations: what is
above a loss is a half-line, and D a difference of normal tails (docs/proofs.md, section 29).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from symacct.arithmetic import BALL
from symacct.core import limits
from symacct.numerics.sums.refine import up_to
from symacct.profile.losses.density.charts import DensityPair
from symacct.profile.part import Floats

_NEWTON_STEPS, _WIDENINGS = 100, 12
_STEP, _REACH = 1 / 16, 12.0  # of a grid for steering, in deviations


@dataclass(frozen=True)
class Rising:
    """The weight w of Q itself, and (w, d) of the normal laws to the right of it."""

    own: arb
    others: list[tuple[arb, arb]]

    def hockey_stick(self, y: arb, reverse: bool) -> arb:
        """M(x > t) − e^y Q(x > t), R(t) = e^y; Q(x < t) − e^y M(x < t), R(t) = e^{−y}."""
        loss, sign = (-y, -1) if reverse else (y, 1)
        above = loss.exp() - self.own
        if not above > 0:  # R is never below `own`
            off = up_to(above.max(arb(0)) * (1 + y.exp()))
            return off if reverse else off - y.expm1()
        at = self._threshold(loss)
        tails = [(self.own, arb(0)), *self.others]
        mixed = sum((w * _tail(sign * (at - d)) for w, d in tails), arb(0))
        q = _tail(sign * at)
        found: arb = q - y.exp() * mixed if reverse else mixed - y.exp() * q
        return found.max(arb(0))

    def floats(self, least: float, most: float) -> tuple[Floats, Floats]:
        """log of Q's masses, and the losses, on an even grid for orders between; float64."""
        tails = [(self.own, arb(0)), *self.others] if self.own > 0 else self.others
        logs = np.array([float(w.log()) for w, _ in tails])[:, None]
        apart = np.array([float(d) for _, d in tails])[:, None]
        first, last = apart.max() * min(least, 0.0) - _REACH, apart.max() * max(most, 0.0) + _REACH
        limits.check("order", math.ceil((last - first) / _STEP), "nodes of a mixture")
        x = np.arange(first, last, _STEP)
        losses = np.logaddexp.reduce(logs + apart * (x - apart / 2))
        return math.log(_STEP / math.sqrt(2 * math.pi)) - x**2 / 2, losses

    def largest(self, reverse: bool) -> arb:
        """∞, and on the other side −log w of Q itself, far to the left."""
        return -self.own.log() if reverse and self.own > 0 else arb("inf")

    def _threshold(self, loss: arb) -> arb:
        """Where log R is the loss: convex and rising, it is met from the right by Newton steps."""
        x = min(((loss - w.log() + d**2 / 2) / d for w, d in self.others), key=float).mid()
        for _ in range(_NEWTON_STEPS):
            height, slope = self._log_ratio(x)
            step = ((height - loss) / slope).mid()
            x = (x - step).mid()
            if not abs(step) > (1 + abs(x)) * arb(2) ** (8 - ctx.prec):
                break
        width = ((1 + abs(x)) * arb(2) ** (10 - ctx.prec)).mid()
        for _ in range(_WIDENINGS):
            left, right = (x - width).mid(), (x + width).mid()
            if self._log_ratio(left)[0] < loss and self._log_ratio(right)[0] > loss:
                return left.union(right)
            width *= 16
        return arb.nan()

    def _log_ratio(self, x: arb) -> tuple[arb, arb]:
        """log R(x) and its derivative."""
        terms = [(w * (d * x - d**2 / 2).exp(), d) for w, d in self.others]
        total = sum((t for t, _ in terms), self.own)
        return total.log(), sum((t * d for t, d in terms), arb(0)) / total


def rising(pair: DensityPair) -> Rising | None:
    """At flint's current precision, mirrored where all lie to the left; None for other pairs."""
    parts = pair.overlap.normal_parts
    if parts is None:
        return None
    p, q = parts
    apart = [mean - q.means[0] for mean in p.means]
    if p.variance != q.variance or len(q.means) > 1 or min(apart) < 0 < max(apart):
        return None
    gamma, deviation = BALL.number(pair.gamma), BALL.number(p.variance).sqrt()
    own, others = 1 - gamma, []
    for weight, distance in zip(p.weights, apart, strict=True):
        share = gamma * BALL.number(weight)
        if distance == 0:
            own += share
        else:
            others.append((share, BALL.number(abs(distance)) / deviation))
    return Rising(own, others) if others else None


def _tail(x: arb) -> arb:
    """Of N(0, 1), beyond x."""
    found: arb = (x / arb(2).sqrt()).erfc() / 2
    return found
