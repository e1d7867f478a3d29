"""The largest E[m^α n^{1−α}] over the triangles that fixed-size sampling leaves, and a proof of it.

|a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs.md, section 14). Where the maximum is at an end,
B = 0 or B = δ², balls of few bits prove it:

- from the one end on the slope of G is shown to be negative, and up to the other positive;
- on what is left between, G(B) <= G(B₁) + (B − B₁)s, s the largest that the slope can be there.

Where it is not, G − 1 exceeds that of the larger end by a stated share at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, ctx

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
from symacct.sums.refine import ball, normal_tail

_BITS = 24  # of the values that decide, and as many as their difference loses
_SLOPE_BITS = 80
_WIDE = Fraction(161, 144)  # a rational number just above √5/2
_PIECES = 24  # balls of the slope asked for before it is given up
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
    looks = Looks(triangles)
    first, last = looks.ends
    high = triangles.delta**2 if last < first else looks.rising_from()
    if not looks.stays_below(high, first.lower().max(last.lower())):
        return None
    pairs = zip(((first, last), (last, first)), triangles.ends, strict=True)
    return tuple(end for (value, other), end in pairs if not value < other)


def raised_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    """The larger end, and the least share of G − 1 that is proved to be enough."""
    looks = Looks(triangles)
    first, last = looks.ends
    best = triangles.ends[1 if last.mid() > first.mid() else 0]
    most = first.lower().max(last.lower())
    for share in SHARES[:-1]:
        if looks.stays_below(triangles.delta**2, most * (1 + ball(share))):
            return best, share
    return best, SHARES[-1]


def _reach(triangles: Triangles, left: Fraction, last: Fraction, spare: arb) -> Fraction | None:
    """The farthest of some B up to which G cannot rise by more than the spare; None if none."""
    width = last - left
    for _ in range(12):
        right = left + width
        if ball(width) * triangles.steepest(right) <= spare:
            return right
        width /= 2
    return None


class Looks:
    """What is proved of G along B, by some balls of its slope."""

    def __init__(self, triangles: Triangles) -> None:
        self.triangles = triangles
        self.values: dict[Fraction, arb] = {}
        self.left = _PIECES

    @property
    def ends(self) -> tuple[arb, arb]:
        """G − 1 at B = 0 and at B = δ²."""
        return self.value(Fraction(0)), self.value(self.triangles.delta**2)

    def slope(self, low: Fraction, high: Fraction) -> arb:
        """The slope of G on the piece; anything once too many were asked for."""
        self.left -= 1
        if self.left < 0:
            return arb.nan()
        return self.triangles.factor * slope(self.triangles, low, high)

    def rising_from(self) -> Fraction:
        """The least of some B from which on G is proved to rise."""
        top = self.triangles.delta**2
        high, width = top, top / 4
        while high > 0 and width >= _NARROWEST * top:
            if self.slope(max(high - width, Fraction(0)), high) > 0:
                high = max(high - width, Fraction(0))
            else:
                width /= 2
        return high

    def stays_below(self, high: Fraction, allowed: arb) -> bool:
        """Is G on [0, high] proved to be at most what is allowed or G(0), by pieces?"""
        low, width = Fraction(0), high / 4
        while low < high:
            width = min(width, high - low)
            reached = self._reach(low, high, allowed) or self._falls_or_stays(low, width, allowed)
            if reached:
                low, width = reached, 2 * width
            elif self.left < 0 or width < _NARROWEST * high:
                return False
            else:
                width /= 4
        return True

    def _reach(self, low: Fraction, high: Fraction, allowed: arb) -> Fraction | None:
        """How far G cannot have risen to what is allowed, by its steepest rise."""
        return _reach(self.triangles, low, high, allowed - self.value(low))

    def _falls_or_stays(self, low: Fraction, width: Fraction, allowed: arb) -> Fraction | None:
        """The piece's end, if its slope is negative or too small to rise to what is allowed."""
        slope = self.slope(low, low + width)
        if slope < 0 or self.value(low) + ball(width) * slope <= allowed:
            return low + width
        return None

    def value(self, square: Fraction) -> arb:
        """G(B) − 1, remembered."""
        if square not in self.values:
            self.values[square] = self.triangles.excess(square)
        return self.values[square]


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
