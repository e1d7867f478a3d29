"""The likelihood ratio W of one run of Laplace noise, and its transform φ(u) = E e^{−uW}.

Without the record W = e^{−s} has the probability ½ and W = e^s the probability e^{−s}/2; between
them the density is ¼e^{−s/2}w^{−3/2}. With H(z) = 1 − √(πz) e^z erfc(√z)

φ(u) = ½(1 + H(ue^{−s})) e^{−ue^{−s}} + ½e^{−s}(1 − H(ue^s)) e^{−ue^s},

and |H(z)| <= H((Re √z)²) <= 1 for |arg z| < π (docs/proofs.md, section 30).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from flint import acb, arb, ctx

from symacct.arithmetic import BALL
from symacct.core.exact import Exact

Ball = TypeVar("Ball", arb, acb)

_FAR = 1e4  # where H is a small part of what bounds it, and erfc of a ball soon a wide one
_HALF = arb(0.5)
_EXTRA, _ROUNDS = 64, 8  # bits beyond those asked for, which are doubled


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
        """E W² − 1 = (2e^s + e^{−2s})/3 − 1, as a sum of which no term cancels."""
        s = BALL.number(self.shift)
        return (8 * (s / 2).sinh() ** 2 + (-s).expm1() ** 2) / 3

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

    def moments(self, n: int) -> list[arb]:
        """E[W^k], 0 <= k <= n."""
        s = BALL.number(self.shift)
        return [
            (k * ((k - 1) * s).exp() + (k - 1) * (-k * s).exp()) / (2 * k - 1) for k in range(n + 1)
        ]

    def weighted(self, log_u: arb, n: int, bits: int) -> list[arb]:
        """E[W^k e^{−uW}], 0 <= k <= n, to about so many bits where log u is exact."""
        extra = _EXTRA
        for _ in range(_ROUNDS):
            with ctx.workprec(bits + extra):
                found = self._weighted(log_u.exp(), n)
            if min(x.rel_accuracy_bits() for x in found) >= bits:
                break
            extra *= 2
        return found

    def _weighted(self, u: arb, n: int) -> list[arb]:
        """Both atoms, and ¼e^{−s/2} ∫ w^{k−3/2} e^{−uw} dw between them.

        The integral of k = n+1 is a difference of incomplete gamma functions; by parts each of the
        others follows from the next.
        """
        s = BALL.number(self.shift)
        low, high = (-u * self.low).exp(), (-u * self.high).exp()
        order = n + 1 - _HALF
        over, under = (
            (way * order * s).exp() * (u * (way * s).exp()).gamma_lower(order, regularized=2)
            for way in (1, -1)
        )
        between, found = order.gamma() * (over - under), []
        for k in range(n, -1, -1):
            order = k - _HALF
            between = u * between + (order * s).exp() * high - (-order * s).exp() * low
            between /= order
            atoms = (-k * s).exp() * low + ((k - 1) * s).exp() * high
            found.append(atoms / 2 + (-s / 2).exp() * between / 4)
        return found[::-1]
