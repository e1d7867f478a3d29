"""The largest E[m^α n^{1−α}] over the triangles that fixed-size sampling leaves, and a proof of it.

|a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs.md, section 14). Where the maximum is at an end,
B = 0 or B = δ², balls of few bits prove it:

- from the one end on the slope of G is shown to be negative, and up to the other positive;
- on what is left between, G(B) <= G(B₁) + (B − B₁)s, s the largest that the slope can be there.

Where it is not, G − 1 exceeds that of the larger end by a stated share at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from symacct.errors import PrecisionError
from symacct.forking import cached_property
from symacct.integrals.drift import Drift, Powers
from symacct.integrals.lattice import (
    Lattice,
    Power,
    lattice_of,
    triple_excess,
    triple_log_excess,
)
from symacct.integrals.magnitude import LOG2
from symacct.integrals.slopes import Slopes, slopes
from symacct.integrals.triple import Triple
from symacct.sums.refine import ball, normal_tail, within

_BITS = 24  # of the values that decide, and as many as their difference loses
_FEW_BITS = 8  # of a difference between two of them
_SLOPE_BITS = 30
_DERIVATIVES = 2  # of the slope by integrals, the last of them bounded
_WIDE = Fraction(161, 144)  # a rational number just above √5/2
_APART = 1e-6  # of logarithms in float64 that differ beyond doubt
_PIECES = 200  # looked at before it is given up
_PIECES_NEAR = 48  # where only a share is lost by it
_FEW_PIECES = 60  # of the slope by integrals: more would take seconds
_SOME_NODES = 100_000  # of G itself, where it is asked for again and again
_NARROWEST = Fraction(1, 2**14)  # of the range, a piece that is tried
#: Shares of G − 1 by which the maximum may exceed the larger end; the last is proved for all.
SHARES = (Fraction(1, 1000), Fraction(1, 50), Fraction(3, 20), Fraction(1, 2))


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
        return self.wide(_WIDE * self.delta, self.delta**2)

    def above(self, low: Fraction, high: Fraction) -> Triple:
        """|a|² = |a − b|² >= δ² + (high − low)/4, |b|² = high: at no B of the piece is G larger."""
        return self.wide(self.delta + (high - low) / (8 * self.delta), high)

    def wide(self, apart: Fraction, square: Fraction) -> Triple:
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

    def excess(self, square: Fraction) -> arb:
        """G(B) − 1 in few bits: along B it changes by about a share δ² of itself."""
        lost = 2 * max(0, self.delta.denominator.bit_length() - self.delta.numerator.bit_length())
        with ctx.workprec(_BITS + lost):
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


def is_far_beyond(triangles: Triangles, bits: int) -> bool:
    """Is B = 0 proved to be the maximum to `bits` bits of G − 1, no triangle being looked at?"""
    rise = ball(triangles.delta**2) * triangles.steepest(triangles.delta**2)
    return bool(rise * arb(2) ** bits <= triangles.excess(Fraction(0)))


def worst_ends(triangles: Triangles) -> tuple[Triple, ...] | None:
    """The ends of which one is proved to be the maximum; None if neither is."""
    found = (looks.worst_ends() for looks in ways_of_looking(triangles))
    return next((ends for ends in found if ends), None)


def raised_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    """The larger end, and the least share of G − 1 that is proved to be enough."""
    ways = list(ways_of_looking(triangles))
    first, last = triangles.end_excesses
    best, most = (1, last.lower()) if last > first else (0, first.lower())
    for share in SHARES[:-1]:
        spare = most * (1 + ball(share)) - first
        if any(looks.stays_below(triangles.delta**2, spare, _PIECES_NEAR) for looks in ways):
            return triangles.ends[best], share
    if not (last > first or first > last):
        raise PrecisionError(
            f"TRIPLE-GAUSSIAN-NEAR at order {triangles.alpha}: found two ends that cannot be told "
            "apart, needed another order, or another theorem"
        )
    return triangles.ends[best], SHARES[-1]


def ways_of_looking(triangles: Triangles) -> Iterator[Looks]:
    """By a sum of exponentials, which is quick, and by integrals."""
    found = slopes(triangles.alpha, triangles.gamma, triangles.delta)
    if found is not None:
        yield Looks(triangles, found)
    if lattice_of(triangles.ends[1], _BITS).nodes <= _SOME_NODES:
        yield LooksByIntegrals(triangles)


class Looks:
    """What is proved of G along B by its slope on some pieces."""

    def __init__(self, triangles: Triangles, slopes: Slopes) -> None:
        self.triangles = triangles
        self.slopes = slopes
        self.factor = triangles.factor / ball((1 - triangles.gamma) ** 2)

    def worst_ends(self) -> tuple[Triple, ...] | None:
        """The ends of which one is proved to be the maximum; None if neither is."""
        first, last = self.triangles.ends_in_floats
        top = self.triangles.delta**2
        if last <= first and self.stays_below(top, arb(0)):
            return self.triangles.ends[:1]
        if last < first - _APART:
            return None
        rise = self.triangles.end_excesses[1] - self.triangles.end_excesses[0]
        if not self.stays_below(self.rising_from(), rise.lower().max(arb(0))):
            return None
        return self.triangles.ends[1 if rise > 0 else 0 :]

    def bounds(self, low: Fraction, high: Fraction) -> tuple[arb, arb]:
        """At least and at most what the slope of G is on the piece."""
        least, most = self.slopes.over(low, high)
        return self.factor * least, self.factor * most

    def risen(self, square: Fraction) -> arb:
        """At most G(B) − G(0)."""
        return self.factor * self.slopes.risen(square)

    def rising_from(self) -> Fraction:
        """The least of some B from which on G is proved to rise."""
        top = self.triangles.delta**2
        high, width = top, top / 4
        self.left = _PIECES
        while high > 0 and width >= _NARROWEST * top and self.left > 0:
            self.left -= 1
            low = max(high - width, Fraction(0))
            if self.bounds(low, high)[0] > 0:
                high = low
            else:
                width /= 2
        return high

    def stays_below(self, high: Fraction, spare: arb, pieces: int = _PIECES) -> bool:
        """Is G − G(0) on [0, high] proved to be at most what is to spare, by so many pieces?"""
        low, width = Fraction(0), high / 4
        self.left = pieces
        while low < high and self.left > 0:
            self.left -= 1
            width = min(width, high - low)
            reached = self._reach(low, width, high, spare - self.risen(low) if low else spare)
            if reached is not None:
                low, width = reached, 2 * (reached - low)
            elif width < _NARROWEST * high:
                return False
            else:
                width /= 4
        return low >= high

    def _reach(self, low: Fraction, width: Fraction, high: Fraction, spare: arb) -> Fraction | None:
        """The end of the piece, if G nowhere on it rises by more than what is to spare."""
        rise = ball(width) * self.bounds(low, low + width)[1]
        return low + width if rise.max(arb(0)) <= spare else None


class LooksByIntegrals(Looks):
    """The same by balls of the slope's integral, and of G itself between the pieces."""

    def __init__(self, triangles: Triangles) -> None:
        self.triangles = triangles
        self.asked = 0
        self.values: dict[Fraction, arb] = {}

    def bounds(self, low: Fraction, high: Fraction) -> tuple[arb, arb]:
        self.asked += 1
        if self.asked > _FEW_PIECES:
            return arb.nan(), arb.nan()
        found = self.triangles.factor * slope(self.triangles, low, high)
        return found.lower(), found.upper()

    def risen(self, square: Fraction) -> arb:
        if square not in self.values:
            self.values[square] = self._value(square)
        return self.values[square] - self.triangles.end_excesses[0]

    def _value(self, square: Fraction) -> arb:
        """G(B) − 1, to so many bits that it can be told from G(0) − 1."""
        triple = self.triangles.at(square)
        change = math.expm1(triple_log_excess(triple) - self.triangles.ends_in_floats[0])
        with ctx.workprec(_FEW_BITS - min(0, max(-2 * _BITS, math.frexp(change)[1]))):
            return triple_excess(triple)

    def _reach(self, low: Fraction, width: Fraction, high: Fraction, spare: arb) -> Fraction | None:
        """As far as the steepest rise allows; the piece, if one triple above it is low enough."""
        rights = (low + (high - low) * Fraction(2, 3) ** part for part in range(20))
        steepest = self.triangles.steepest
        far = next(
            (right for right in rights if ball(right - low) * steepest(right) <= spare), None
        )
        if far is not None and far >= low + width:
            return far
        if low and self._is_below(low, low + width, spare):
            return low + width
        return far or super()._reach(low, width, high, spare)

    def _is_below(self, low: Fraction, high: Fraction, spare: arb) -> bool:
        """Is a triple that is above all of the piece above its low end by no more than this?"""
        with ctx.workprec(_FEW_BITS):
            largest = triple_excess(self.triangles.above(low, high))
        return bool(largest <= self.values[low] + spare)


def slope(triangles: Triangles, low: Fraction, high: Fraction) -> arb:
    """A ball that holds H = E[Y(Y−X)m^{α−1}n^{−α−1}] for these B, by Taylor's formula at the last.

    E[T] at B is at most e^{c(high−B)} times its value there, −c <= LT/T everywhere.
    """
    drift, derivatives = derivatives_of_slope(triangles.alpha)
    lattice = _lattice(triangles, high, derivatives)
    found = lattice.expectations()
    *kept, rest = derivatives
    with ctx.workprec(lattice.bits):
        width, total = ball(high - low), arb(0)
        for n, powers in enumerate(kept):
            value = sum((ball(factor) * found[power] for power, factor in powers.items()), arb(0))
            back = arb(0).union(-width) if n else arb(1)
            total += value * back**n / math.factorial(n)
        most = largest_moduli(drift, rest, found, width)
        return total + within(most * width ** len(kept) / math.factorial(len(kept)))


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


def _lattice(triangles: Triangles, square: Fraction, derivatives: Iterable[Powers]) -> Lattice:
    """For all that stands in them, as fine as G − 1 at the larger end asks for."""
    powers = tuple(dict.fromkeys(power for one in derivatives for power in one))
    alpha, gram = triangles.alpha, triangles.at(square).gram
    size = max(triangles.ends_in_floats) - float(triangles.factor.log().mid())
    spread = 2 * max(0.0, -math.log(triangles.delta))
    tolerance = size - _SLOPE_BITS * LOG2
    return Lattice(gram, triangles.gamma, alpha - 1, alpha + 1, powers, size + spread, tolerance)
