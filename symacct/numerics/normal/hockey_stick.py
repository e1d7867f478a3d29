"""The hockey-stick divergence of N(s, 1) from N(0, 1), and the ε at which it is δ."""

from __future__ import annotations

from flint import arb

from symacct.arithmetic import BALL
from symacct.core import deadline
from symacct.numerics.sums.refine import normal_tail

_WIDENINGS = 60


def hockey_stick(eps: arb, ratio: arb) -> arb:
    """Φ(s/2 − ε/s) − e^ε Φ(−s/2 − ε/s), s = Δ/σ (Balle and Wang 2018)."""
    return normal_tail(eps / ratio - ratio / 2) - eps.exp() * normal_tail(eps / ratio + ratio / 2)


def hockey_stick_inverse(delta: arb, ratio: arb) -> arb:
    """The ε >= 0 at which the falling function `hockey_stick` is δ; 0 where it starts below."""
    if hockey_stick(arb(0), ratio) <= delta:
        return arb(0)
    eps = _solved(delta.mid(), ratio.mid())
    width = abs(eps) * arb(2) ** (8 - BALL.bits) + delta.rad() + ratio.rad()
    for _ in range(_WIDENINGS):
        low = (eps - width).max(arb(0))
        if hockey_stick(eps + width, ratio) <= delta and hockey_stick(low, ratio) >= delta:
            return low.union(eps + width)
        width *= 4
    return arb(0, "inf")


def _solved(delta: arb, ratio: arb) -> arb:
    """A midpoint close to the root: doubling, bisection, then Newton steps on log δ."""
    high = ratio
    while hockey_stick(high, ratio).mid() > delta and high < arb(2) ** 60:
        deadline.check()
        high *= 2
    low = arb(0)
    for _ in range(40):
        middle = ((low + high) / 2).mid()
        if hockey_stick(middle, ratio).mid() > delta:
            low = middle
        else:
            high = middle
    eps = high.mid()
    for _ in range(20):
        value = hockey_stick(eps, ratio).mid()
        fall = (eps.exp() * normal_tail(eps / ratio + ratio / 2)).mid()
        step = (value * (value / delta).log() / fall).mid()
        if not step.is_finite():
            break
        eps = (eps + step).mid()
        if abs(step) <= abs(eps) * arb(2) ** (4 - BALL.bits):
            break
    return eps
