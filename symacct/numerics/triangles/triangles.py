"""The triangles that fixed-size sampling leaves, and how G = E[m^α n^{1−α}] changes along them.

|a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs.md, section 14).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx

from symacct.core.forking import cached_property
from symacct.numerics.normal.magnitude import LOG2
from symacct.numerics.sums.refine import ball, normal_tail, up_to, within
from symacct.numerics.triangles.drift import Drift, Powers
from symacct.numerics.triangles.lattice import Lattice, Power, triple_excess, triple_log_excess
from symacct.numerics.triangles.triple import Triple

_BITS = 24  # of the values that decide, and as many as their difference loses
_SLOPE_BITS = 30
_DERIVATIVES = 2  # of the slope by integrals, the last of them bounded
WIDE = Fraction(161, 144)  # a rational number just above √5/2


@dataclass(frozen=True)
class Triangles:
    """α, γ and δ of the family; 0 < γ < 1."""

    alpha: Fraction
    gamma: Fraction
    delta: Fraction

    def at(self, square: Fraction) -> Triple:
        """The triple with |b|² = B."""
        a = self.delta - square / (2 * self.delta)
        return Triple(self.alpha, self.gamma, a, -square / (2 * self.delta), self.delta**2 - a**2)

    @property
    def ends(self) -> tuple[Triple, Triple]:
        """p′ = q on a line, and the equilateral triangle."""
        return self.at(Fraction(0)), self.at(self.delta**2)

    @property
    def dominating(self) -> Triple:
        """|a|² = |a − b|² = (161/144)²δ², |b| = δ: at no B is G larger."""
        return self.isosceles(WIDE * self.delta, self.delta**2)

    def isosceles(self, apart: Fraction, square: Fraction) -> Triple:
        """|a| = |a − b| = apart, |b|² = square"""
        b = -square / (2 * apart)
        return Triple(self.alpha, self.gamma, apart + b, b, square - b**2)

    @cached_property
    def ends_in_floats(self) -> tuple[float, float]:
        """log(G − 1) at both ends; nothing rests on them."""
        first, last = (triple_log_excess(end) for end in self.ends)
        return first, last

    @cached_property
    def end_excesses(self) -> tuple[arb, arb]:
        """G − 1 at both ends."""
        return self.excess(Fraction(0)), self.excess(self.delta**2)

    def excess(self, square: Fraction, bits: int = _BITS) -> arb:
        """G(B) − 1 in few bits: along B it changes by about a share δ² of itself."""
        lost = 2 * max(0, self.delta.denominator.bit_length() - self.delta.numerator.bit_length())
        with ctx.workprec(bits + lost):
            return triple_excess(self.at(square))

    @property
    def factor(self) -> arb:
        """½α(α−1)γ²κ, by which the slope of G exceeds H."""
        alpha, gamma = self.alpha, self.gamma
        return ball(alpha * (alpha - 1) * gamma**2 * (1 - gamma) / 2)

    def steepest(self, square: Fraction) -> arb:
        """u(B) = ½α(α−1)γ²/κ · E[Y(Y−X)⁺]: at least dG/dB, and rising in B."""
        delta, b = ball(self.delta), ball(square)
        exchange = b.exp() * normal_tail(-(b + delta**2) / (2 * delta))
        exchange -= (b / 2).exp() * normal_tail((delta**2 - b) / (2 * delta))
        return self.factor / ball((1 - self.gamma) ** 2) * exchange


class OnAPiece(NamedTuple):
    """Balls that hold dG/dB and d²G/dB² at these B."""

    slope: arb
    bend: arb


def on_a_piece(triangles: Triangles, low: Fraction, high: Fraction) -> OnAPiece:
    """By Taylor's formula at the last B, from H = E[Y(Y−X)m^{α−1}n^{−α−1}].

    E[T] at B is at most e^{c(high−B)} times its value there, −c <= LT/T everywhere.
    """
    drift, derivatives = derivatives_of_slope(triangles.alpha)
    lattice = _lattice(triangles, high, derivatives, _SLOPE_BITS)
    found = lattice.expectations()
    with ctx.workprec(lattice.bits):
        value, first = (_sum(powers, found) for powers in derivatives[:-1])
        width = ball(high - low)
        most = largest_moduli(drift, derivatives[-1], found, width)
        slope = value + -first * up_to(width) + within(most * width**2 / 2)
        factor = triangles.factor
        return OnAPiece(factor * slope, factor * (first + within(most * width)))


def slope_at(triangles: Triangles, square: Fraction, bits: int) -> arb:
    """dG/dB at one B > 0, to so many bits of what its two parts have."""
    _, (powers, *_) = derivatives_of_slope(triangles.alpha)
    lattice = _lattice(triangles, square, [powers], bits)
    with ctx.workprec(lattice.bits):
        return triangles.factor * _sum(powers, lattice.expectations())


def _sum(powers: Powers, found: dict[Power, arb]) -> arb:
    return sum((ball(factor) * found[power] for power, factor in powers.items()), arb(0))


def largest_moduli(drift: Drift, powers: Powers, found: dict[Power, arb], width: arb) -> arb:
    """At least Σ|factor|E[T] on the piece of this width, by the expectations at its last B."""
    moduli = (
        abs(ball(factor)) * found[power] * (-ball(drift.least(power)) * width).exp()
        for power, factor in powers.items()
    )
    return sum(moduli, arb(0))


@lru_cache(maxsize=64)
def derivatives_of_slope(alpha: Fraction) -> tuple[Drift, list[Powers]]:
    """H and what it has for derivatives along B."""
    drift = Drift(alpha - 1, alpha + 1)
    found: list[Powers] = [{Power(q=2): Fraction(1), Power(p=1, q=1): Fraction(-1)}]
    for _ in range(_DERIVATIVES):
        found.append(drift.of(found[-1]))
    return drift, found


def _lattice(
    triangles: Triangles, square: Fraction, derivatives: Iterable[Powers], bits: int
) -> Lattice:
    """For all that stands in them, as fine as so many bits of G − 1 at the larger end ask for."""
    powers = tuple(dict.fromkeys(power for one in derivatives for power in one))
    alpha, gram = triangles.alpha, triangles.at(square).gram
    size = max(triangles.ends_in_floats) - float(triangles.factor.log().mid())
    spread = 2 * max(0.0, -math.log(triangles.delta))
    tolerance = size - bits * LOG2
    return Lattice(gram, triangles.gamma, alpha - 1, alpha + 1, powers, size + spread, tolerance)
