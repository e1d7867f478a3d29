"""One run of normal laws mixed to the right of one of them: the loss rises with the outcome.

M = (1−γ)Q + γP over Q is R(x) = Σ w e^{dx − d²/2}, d >= 0 the distances in deviations: what is
above a loss is a half-line, and D a difference of normal tails (docs/proofs.md, section 29).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from symacct.kernel import limits
from symacct.kernel.arithmetic import BALL
from symacct.kernel.sums.balls import up_to
from symacct.profile.losses.density.charts import DensityPair
from symacct.profile.part import Floats
from symacct.profile.roots import enclosed

_STEP, _REACH = 1 / 16, 12.0  # of a grid for steering, in deviations


@dataclass(frozen=True)
class MonotoneMixture:
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
        """Where log R is the loss: before one term alone is as much, after all are little."""
        ends = [(loss - w.log() + d**2 / 2) / d for w, d in self.others]
        each = ((loss.exp() - self.own) / len(ends) / loss.exp()).log()
        lows = [end + each / d for end, (_, d) in zip(ends, self.others, strict=True)]
        low, high = BALL.minimum(*lows) - 1, BALL.minimum(*ends) + 1
        return enclosed(lambda x: loss.exp() / self._ratio(x), arb(1), (low.mid(), high.mid()))

    def _ratio(self, x: arb) -> arb:
        return sum((w * (d * x - d**2 / 2).exp() for w, d in self.others), self.own)


def monotone_mixture(pair: DensityPair) -> MonotoneMixture | None:
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
    return MonotoneMixture(own, others) if others else None


def _tail(x: arb) -> arb:
    """Of N(0, 1), beyond x."""
    found: arb = (x / arb(2).sqrt()).erfc() / 2
    return found
