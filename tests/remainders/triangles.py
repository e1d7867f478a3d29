"""Expectations over triangles of normal laws, by wide steps."""

import functools
import itertools
from fractions import Fraction

from symacct.numerics.triangles import triangles
from symacct.numerics.triangles.triple import Triple
from tests.remainders.rows import few_bits, mp, normal, number, row


@row("numerics.triangles.plane")
def lines_by_wide_steps(m):
    triple = Triple(Fraction(3), Fraction(1, 3), Fraction(1), Fraction(-1, 2), Fraction(0))

    def at(z):
        one, other = (
            mp.mpf(2) / 3 + mp.exp(t * z - t * t / 2) / 3 for t in (mp.one, mp.mpf("-0.5"))
        )
        return normal(z) * one**3 / other**2

    truth = mp.quad(at, range(-16, 24, 4)) - 1
    for step, tolerance in ((1.25, -30), (1.5, -30), (0.5, -2), (0.5, 0), (0.25, 1)):
        m.plan = lambda *_, step=step, tolerance=tolerance: m.PlaneRule(
            (step, 1.0), (1.0, 0.0), tolerance
        )
        yield few_bits(m, lambda m: m.line_excess(triple), 20), truth


@functools.cache
def slopes_along(delta, share):
    """Some B of a family of triangles, the last of them, and dG/dB there."""
    family = triangles.Triangles(Fraction(5, 2), Fraction(1, 2), delta)
    places = [delta**2 * (1 - share * k / 4) for k in (4, 3, 2, 1, 0)]
    slopes = [triangles.slope_at(family, square, 60) for square in places]
    return family, places, [number(slope.mid()) for slope in slopes]


@row("numerics.triangles.triangles")
def slopes_along_long_pieces(m):
    shares = Fraction(1, 2), Fraction(1, 2048)
    for share, first in itertools.product(shares, range(4)):
        family, places, slopes = slopes_along(Fraction(3, 2), share)
        found = m.on_a_piece(family, places[first], places[-1])
        for slope in slopes[first:]:
            yield found.slope, slope
        for i in range(first, 4):
            yield found.bend, (slopes[i + 1] - slopes[i]) / number(places[1] - places[0])
