"""The integral of two halves, by few bits and short panels."""

import functools
import math
from fractions import Fraction

from flint import arb

from tests.remainders.rows import at_least, mp, number, row


@functools.cache
def both_halves(alpha, gamma, delta, low=0):
    """A(α) by quadrature of the densities, from `low` on; at 1 the limit of A(α)/(α−1)."""
    a, g, d = (number(x) for x in (alpha, gamma, delta))

    def gap(t, power):
        if a == 1:
            return t - 1 - mp.log(t) if power == 0 else t * mp.log(t) - (t - 1)
        return t**power - 1 - power * (t - 1)

    def at(v):
        opposite = (1 - g) * mp.exp(-(d**2) - d * v)
        seen = (opposite + g * mp.exp(d * v)) / (opposite + g)
        alone = 1 - g + g * mp.exp(d * v)
        return mp.npdf(v + d / 2) * ((opposite + g) * gap(seen, a) + gap(alone, 1 - a))

    return mp.quad(at, mp.linspace(low, low + 8 + a * d, 12))


CASES = ((Fraction(3), Fraction(1, 8), Fraction(1)), (Fraction(3, 2), Fraction(7, 8), Fraction(2)))


@row("analysis.halves", "_beyond")
def two_halves_of_few_bits(m):
    """Also by panels of few nodes, whose error is then most of the ball, and beyond a near end."""
    for case in CASES:
        yield m._halves(*case, 12, 40), both_halves(*case)
        at_one = (1, *case[1:])
        for top in (1, 3):
            rest = m._beyond(arb(2), arb(int(case[2])), arb(top))
            yield arb(0).union(rest), both_halves(*at_one, top)
        yield m._halves(*at_one, 12, 40), both_halves(*at_one)
        a, d = arb(case[0].numerator) / case[0].denominator, arb(int(case[2]))
        for top in (1, 3):
            far, (x, y) = m._beyond(a, d, arb(top)), map(number, (a, d))
            tilted = mp.exp((x * x - x) * y * y / 2) * mp.ncdf(x * y - top - y / 2)
            yield far, tilted + (x - 1) * mp.ncdf(y / 2 - top)
            yield arb(0).union(far), both_halves(*case, top)
        for count in (2, 4):
            m._nodes = lambda wanted, count=count: count
            yield m._halves(*case, 12, 40), both_halves(*case)
        m._nodes = lambda wanted: 8


@row("analysis.halves")
def errors_of_the_rule(m):
    """What two nodes of Gauss's rule are off by, as the lemma has it, on each panel of two."""
    m._top, m._nodes = (lambda *_: arb(2)), lambda wanted: 2
    for case in CASES:
        at, half = m.TwoHalves(*case), 0.5 / float(case[2])
        panels = math.ceil(1 / half)
        most = [at.bound(arb(half * (2 * i + 1)), arb(half), arb(3.5)) for i in range(panels)]
        rho, root = mp.mpf(3.5), mp.sqrt(2 * mp.pi)
        said = number(sum(most, arb(0)).lower()) * half * 64 / 15 * rho**-4 / (1 - rho**-2) / root
        beyond = number(m._beyond(at.order, at.delta, arb(2)).lower())
        found = m._halves(*case, 12, 40)
        yield at_least(found.rad() * (1 + 2**-20), said + beyond)
