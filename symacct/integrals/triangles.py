"""The largest E[m^α n^{1−α}] over the triangles that fixed-size sampling leaves, and a proof of it.

|a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs.md, section 14). Where the maximum is at an end,
B = 0 or B = δ², balls of few bits prove it:

- from the one end on the slope of G is shown to be negative, and up to the other positive;
- on what is left between, G(B) <= G(B₁) + (B − B₁)s, s the largest that the slope can be there.

Where it is not, G − 1 exceeds that of the larger end by a stated share at most.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx

from symacct.errors import PrecisionError
from symacct.forking import cached_property
from symacct.integrals.plane import (
    Bell,
    Majorant,
    Rule,
    Triple,
    rows_of,
    shifted_planes,
    triple_excess,
    widest,
)
from symacct.integrals.slopes import Slopes, slopes
from symacct.sums.refine import ball, normal_tail

_BITS = 24  # of the values that decide, and as many as their difference loses
_FEW_BITS = 8  # of a difference between two of them
_SLOPE_BITS = 80
_WIDE = Fraction(161, 144)  # a rational number just above √5/2
_APART = 1e-6  # of logarithms in float64 that differ beyond doubt
_PIECES = 200  # looked at before it is given up
_PIECES_NEAR = 48  # where only a share is lost by it
_FEW_PIECES, _FEW_NODES = 24, 4000  # of the slope by integrals: more would take seconds
_SOME_NODES = 40_000  # of G itself, where it is asked for again and again
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
        apart = _WIDE * self.delta
        b = -(self.delta**2) / (2 * apart)
        return Triple(self.alpha, self.gamma, apart + b, b, self.delta**2 - b**2)

    @cached_property
    def ends_in_floats(self) -> tuple[float, float]:
        """log(G − 1) at both ends; nothing rests on them."""
        first, last = (end.log_excess_in_floats() for end in self.ends)
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
    if triangles.ends[1].nodes(_BITS) <= _SOME_NODES:
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
                low, width = reached, 2 * width
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
        change = math.expm1(triple.log_excess_in_floats() - self.triangles.ends_in_floats[0])
        with ctx.workprec(_FEW_BITS - min(0, max(-2 * _BITS, math.frexp(change)[1]))):
            return triple_excess(triple)

    def _reach(self, low: Fraction, width: Fraction, high: Fraction, spare: arb) -> Fraction | None:
        """As far as the steepest rise allows, else the piece."""
        rights = (low + (high - low) * Fraction(2, 3) ** part for part in range(20))
        steepest = self.triangles.steepest
        far = next(
            (right for right in rights if ball(right - low) * steepest(right) <= spare), None
        )
        return far or super()._reach(low, width, high, spare)


def slope(triangles: Triangles, low: Fraction, high: Fraction) -> arb:
    """A ball that holds e^B − e^{B/2} + E[Y(Y−X)(g − 1)], g = m^{α−1} n^{−α−1}, for these B."""
    middle = triangles.at((low + high) / 2)
    small = max(0.0, -2 * math.log(middle.floats.a))
    rule = widest(replace(middle.floats, alpha=middle.floats.alpha + 2), 18.0 + small, 0.0)
    with ctx.workprec(_SLOPE_BITS):
        square = ball(low).union(ball(high))
        delta, alpha = ball(triangles.delta), ball(triangles.alpha)
        b = -square / (2 * delta)
        # The other coordinate rises with B.
        rise = [ball(triangles.at(end).rise).sqrt() for end in (low, high)]
        places = (delta + b, b, rise[0].union(rise[1]))
        bound = _majorant(triangles, places, square)
        size = max(float(bell.log_factor.mid()) for bell in bound.bells)
        rule = replace(rule, log_tolerance=min(0.0, size) - 18 - small)
        rows = list(rows_of(rule, bound))
        if sum(last - first for _, first, last in rows) > _FEW_NODES:
            return arb.nan()
        value, modulus = _sums(triangles, places, square, rule, rows)
        share = shifted_planes(places, alpha + 1, rule)
        if not share < 1:
            return arb.nan()
        first, second = square.exp(), (square / 2).exp()
        lost = bound.left_out(rule, rows)
        error = 2 * lost + share * ((modulus + lost) / (1 - share) + first + second)
        return first - second + value + arb(0, error.abs_upper())


def _majorant(triangles: Triangles, places: tuple[arb, arb, arb], square: arb) -> Majorant:
    """Bells above φ Y(X+Y) m^{α−1} n^{−α−1}: n >= κ, and for α >= 2 m^{α−1} is at most

    w^{2−α}κ^{α−1} + (1−w)^{2−α}(γX)^{α−1}; for α < 2 without the factors in w. Those with κ
    are above φ Y(X+Y) too.
    """
    a1, b1, r = places
    kappa, gamma = ball(1 - triangles.gamma), ball(triangles.gamma)
    lam, power = ball(triangles.alpha - 1), ball(triangles.alpha + 1)
    if triangles.alpha < 2:
        flat, steep = arb(0), arb(0)
    else:
        share = arb(1) / (2 * ball(triangles.alpha))
        flat, steep = -(lam - 1) * (1 - share).log(), -(lam - 1) * share.log()
    side = ball(triangles.delta) ** 2
    bells = []
    for first, t in ((-square, (2 * b1, 2 * r)), (-(square + side) / 2, (a1 + b1, 2 * r))):
        base = first - power * kappa.log()
        bells.append((base + flat + lam * kappa.log(), t))
        far = (t[0] + lam * a1, t[1] + lam * r)
        bells.append((base + steep + lam * (gamma.log() - side / 2), far))
    return Majorant(tuple(Bell(c + (t[0] ** 2 + t[1] ** 2) / 2, t) for c, t in bells))


def _sums(
    triangles: Triangles,
    places: tuple[arb, arb, arb],
    square: arb,
    rule: Rule,
    rows: list[tuple[int, int, int]],
) -> tuple[arb, arb]:
    """h₁h₂ Σ of φ Y(Y−X)(g − 1), and of φ Y(Y+X)g."""
    a1, b1, r = places
    step, across = (arb(h) for h in rule.steps)
    gamma, delta = ball(triangles.gamma), ball(triangles.delta)
    lam, power = ball(triangles.alpha - 1), ball(triangles.alpha + 1)
    value, modulus = arb(0), arb(0)
    for i, first, last in rows:
        z = step * i
        ratio = (-delta * z + (delta**2 - square) / 2).exp()  # Y/X
        for j in range(first, last):
            y = across * j
            x = (a1 * z + r * y - delta**2 / 2).exp()
            other = (b1 * z + r * y - square / 2).exp()
            m, n = (1 + gamma * (t - 1) for t in (x, other))
            exponent = lam * m.log() - power * n.log()
            weight = other * x * (-(z * z + y * y) / 2).exp()
            value += weight * (ratio - 1) * exponent.expm1()
            modulus += weight * (ratio + 1) * exponent.exp()
    factor = step * across / (2 * arb.pi())
    return value * factor, modulus * factor
