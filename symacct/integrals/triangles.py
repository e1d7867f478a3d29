"""The largest E[m^α n^{1−α}] over the triangles that fixed-size sampling leaves, and a proof of it.

|a| = |a − b| = δ, |b|² = B in [0, δ²] (docs/proofs.md, section 14). Which B is the largest is
decided by balls of few bits:

- on a piece [B₁, B₂], G(B) <= G(B₁) + (B₂ − B₁) u(B₂), as dG/dB is at most u, which rises;
- on the piece at the better end the slope of G is shown to be that of a maximum there.

So either an end is proved to be the maximum, or it is to within a stated share of G − 1.
"""

from __future__ import annotations

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
from symacct.sums.refine import ball

_BITS = 16  # of the values that decide
_SLOPE_BITS = 80
_WIDE = Fraction(161, 144)  # a rational number just above √5/2
_PIECES = 32  # values asked for before a larger share is allowed
#: Shares of G − 1 by which the maximum may exceed the larger end; the last is proved for all.
SHARES = (
    Fraction(0),
    Fraction(1, 10**40),
    Fraction(1, 1000),
    Fraction(1, 50),
    Fraction(3, 20),
    Fraction(1, 2),
)


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
        """G(B) − 1 in few bits."""
        with ctx.workprec(_BITS):
            return triple_excess(self.at(square))

    def steepest(self, square: Fraction) -> arb:
        """u(B) = ½α(α−1)γ²/κ · E[Y(Y−X)⁺]: at least dG/dB, and rising in B."""
        delta, b = ball(self.delta), ball(square)
        root = arb(2).sqrt()

        def below(x: arb) -> arb:
            return (-x / root).erfc() / 2

        exchange = b.exp() * below((b + delta**2) / (2 * delta))
        exchange -= (b / 2).exp() * below((b - delta**2) / (2 * delta))
        factor = ball(self.alpha * (self.alpha - 1) * self.gamma**2 / (1 - self.gamma)) / 2
        return factor * exchange


def largest_end(triangles: Triangles) -> tuple[Triple, Fraction]:
    """The end with the larger value, and the least share of G − 1 that is proved to be enough."""
    top = triangles.delta**2
    values = {Fraction(0): triangles.excess(Fraction(0))}
    with ctx.workprec(_BITS):  # far beyond the jump no triangle need be looked at
        if ball(top) * triangles.steepest(top) <= values[Fraction(0)] * ball(SHARES[1]):
            return triangles.at(Fraction(0)), SHARES[1]
    values[top] = triangles.excess(top)
    best = top if values[top].mid() > values[Fraction(0)].mid() else Fraction(0)
    first, last = Fraction(0), top
    if best == top:
        last = _rising_from(triangles)
    else:
        first = _falling_to(triangles)
    with ctx.workprec(_BITS):
        for share in (SHARES[0], *SHARES[2:-1]):
            allowed = values[best].lower() * (1 + ball(share))
            if any(value > allowed for value in values.values() if share):
                continue
            if _stays_below(triangles, (first, last), allowed, values):
                return triangles.at(best), share
    return triangles.at(best), SHARES[-1]


def _stays_below(
    triangles: Triangles,
    span: tuple[Fraction, Fraction],
    allowed: arb,
    values: dict[Fraction, arb],
) -> bool:
    """Is G − 1 proved to be at most this on the span, by pieces from the left to the right?"""
    left, last = span
    most = len(values) + _PIECES
    while left < last:
        if left not in values:
            if len(values) >= most:
                return False
            values[left] = triangles.excess(left)
        right = _reach(triangles, left, last, allowed - values[left])
        if right is None:
            return False
        left = right
    return True


def _reach(triangles: Triangles, left: Fraction, last: Fraction, spare: arb) -> Fraction | None:
    """The farthest of some B up to which G cannot rise by more than the spare; None if none."""
    width = last - left
    for _ in range(12):
        right = left + width
        if ball(width) * triangles.steepest(right) <= spare:
            return right
        width /= 2
    return None


def _falling_to(triangles: Triangles) -> Fraction:
    """The largest of some B up to which G is proved to fall from B = 0 on; 0 if none."""
    top = triangles.delta**2
    for halvings in (4, 6, 8, 10):
        if slope(triangles, Fraction(0), top / 2**halvings) < 0:
            return top / 2**halvings
    return Fraction(0)


def _rising_from(triangles: Triangles) -> Fraction:
    """The least of some B from which on G is proved to rise up to δ²; δ² itself if none."""
    top = triangles.delta**2
    for share in (Fraction(7, 8), Fraction(31, 32)):
        if slope(triangles, share * top, top) > 0:
            return share * top
    return top


def slope(triangles: Triangles, low: Fraction, high: Fraction) -> arb:
    """A ball that holds H(B) = E[Y(Y−X) m^{α−1} n^{−α−1}], of the sign of dG/dB, for these B."""
    middle = triangles.at((low + high) / 2)
    rule = widest(replace(middle.floats, alpha=middle.floats.alpha + 2), 18.0, 0.0)
    with ctx.workprec(_SLOPE_BITS):
        square = ball(low).union(ball(high))
        delta, alpha = ball(triangles.delta), ball(triangles.alpha)
        b = -square / (2 * delta)
        # The other coordinate rises with B.
        rise = [ball(triangles.at(end).rise).sqrt() for end in (low, high)]
        places = (delta + b, b, rise[0].union(rise[1]))
        bound = _majorant(triangles, places, square)
        size = max(float(bell.log_factor.mid()) for bell in bound.bells)
        rule = replace(rule, log_tolerance=min(0.0, size) - 18)
        rows = list(rows_of(rule, bound))
        value, modulus = _sums(triangles, places, square, rule, rows)
        share = shifted_planes(places, alpha + 1, rule)
        if not share < 1:
            return arb.nan()
        lost = bound.left_out(rule, rows)
        error = lost + share * (modulus + lost) / (1 - share)
        return value + arb(0, error.abs_upper())


def _majorant(triangles: Triangles, places: tuple[arb, arb, arb], square: arb) -> Majorant:
    """Bells above φ Y(X+Y) m^{α−1} n^{−α−1}: n >= κ, and for α >= 2 m^{α−1} is at most

    w^{2−α}κ^{α−1} + (1−w)^{2−α}(γX)^{α−1}; for α < 2 without the factors in w.
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
    """h₁h₂ Σ of φ Y(Y−X) m^{α−1} n^{−α−1}, and of the same with Y + X."""
    a1, b1, r = places
    step, across = (arb(h) for h in rule.steps)
    kappa, gamma, delta = ball(1 - triangles.gamma), ball(triangles.gamma), ball(triangles.delta)
    lam, power = ball(triangles.alpha - 1), ball(triangles.alpha + 1)
    value, modulus = arb(0), arb(0)
    for i, first, last in rows:
        z = step * i
        ratio = (-delta * z + (delta**2 - square) / 2).exp()  # Y/X
        for j in range(first, last):
            y = across * j
            x = (a1 * z + r * y - delta**2 / 2).exp()
            other = (b1 * z + r * y - square / 2).exp()
            exponent = lam * (kappa + gamma * x).log() - power * (kappa + gamma * other).log()
            weight = other * x * (exponent - (z * z + y * y) / 2).exp()
            value += weight * (ratio - 1)
            modulus += weight * (ratio + 1)
    factor = step * across / (2 * arb.pi())
    return value * factor, modulus * factor
