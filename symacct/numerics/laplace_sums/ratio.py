"""The likelihood ratio W of one run of Laplace noise, and its transform φ(u) = E e^{−uW}.

Without the record W = e^{−s} has the probability ½ and W = e^s the probability e^{−s}/2; between
them the density is ¼e^{−s/2}w^{−3/2}. With H(z) = 1 − √(πz) e^z erfc(√z)

φ(u) = ½(1 + H(ue^{−s})) e^{−ue^{−s}} + ½e^{−s}(1 − H(ue^s)) e^{−ue^s},

and |H(z)| <= H((Re √z)²) <= 1 for |arg z| < π (docs/proofs.md, section 30).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from flint import acb, arb

from symacct.arithmetic import BALL
from symacct.core.exact import Exact

Ball = TypeVar("Ball", arb, acb)

_FAR = 1e4  # where H is a small part of what bounds it, and erfc of a ball soon a wide one
_HALF = arb(0.5)


def rest(z: Ball) -> Ball:
    """1 − H(z) = √(πz) e^z erfc(√z) = √z U(½, ½, z)."""
    root = z.sqrt()
    if abs(z) > _FAR:
        return root * z.hypgeom_u(_HALF, _HALF)
    return arb.pi().sqrt() * root * z.exp() * root.erfc()


def _most(z: arb) -> arb:
    """At least H(z), z > 0, which is below 1/(2z)."""
    return 1 - rest(z) if z < _FAR else 1 / (2 * z)


@dataclass(frozen=True)
class LaplaceRatio:
    """`shift` s = Δ/b > 0 of one run; all is worked out at flint's current precision."""

    shift: Exact

    @property
    def low(self) -> arb:
        """e^{−s}, the least W."""
        return (-BALL.number(self.shift)).exp()

    @property
    def high(self) -> arb:
        """e^s, the largest W."""
        return BALL.number(self.shift).exp()

    @property
    def width(self) -> arb:
        """e^s − e^{−s}."""
        return 2 * BALL.number(self.shift).sinh()

    @property
    def variance(self) -> arb:
        """E W² − 1 = (2e^s + e^{−2s})/3 − 1."""
        return (2 * self.high + self.low**2) / 3 - 1

    def amplitudes(self, u: Ball) -> tuple[Ball, Ball]:
        """What e^{−ue^{−s}} and e^{−ue^s} are multiplied by in φ(u)."""
        low, high = self.low, self.high
        return 1 - rest(u * low) / 2, low * rest(u * high) / 2

    def most(self, v: arb) -> tuple[arb, arb]:
        """What neither amplitude exceeds at any u with (Re √u)² >= v > 0."""
        low, high = self.low, self.high
        return (1 + _most(v * low)) / 2, low * (1 + _most(v * high)) / 2

    def transform(self, u: Ball) -> Ball:
        """φ(u), |arg u| < π."""
        first, last = self.amplitudes(u)
        return first * (-u * self.low).exp() + last * (-u * self.high).exp()
