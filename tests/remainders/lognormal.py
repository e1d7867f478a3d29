"""Sums of lognormal variables, by wide pieces."""

import math
import sys
from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb, ctx

from tests.remainders.rows import mp, normal, number, row


def lognormal(u):
    """φ(u) = E e^{−uW}, W = e^{Z − 1/2}."""
    return mp.quad(lambda z: normal(z) * mp.exp(-u * mp.exp(z - 0.5)), [-9, -4, 0, 4, 9])


@row("analysis.lognormal:the Laplace transform")
def lognormal_from_above(m):
    m._BOUND_BITS, m._BOUND_NEED = 20, 1.0
    law = m.Lognormal(Fraction(1))
    for u in (0.5, 1, 3):
        yield law.log_above(arb(u)).union(arb(-99)), mp.log(lognormal(u))
    with ctx.workprec(64):
        for near in (4, 8, 16):
            (value,) = law.values([acb(1, 0.5)], [near])
            yield value.real, mp.re(lognormal(mp.mpc(1, 0.5)))


@row("analysis.lognormal:the shortfall")
def shortfall_of_wide_pieces(m):
    law = sys.modules["symacct.analysis.lognormal"].Lognormal(Fraction(1))
    asked = m.Shortfall(law, 1, 8.0, SimpleNamespace(scale=1.0, log_error=-40.0))
    asked.__dict__["_tilt"] = lambda u: 0.0
    most = asked._log_most(acb(arb(1).union(arb(4)), arb(0)))
    yield most.union(arb(-99)), 32 + mp.log(lognormal(4))

    def largest(low, high, first, last):
        pieces = asked._along(arb(low), arb(high), arb(first), arb(last), arb(1))
        return max((piece.log_bound for piece in pieces), key=float).union(arb(-99))

    turned = mp.mpc(-0.5, -1)  # where all of it is the largest
    u = 1 - mp.sin(turned)
    truth = mp.log(abs(mp.exp(8 * u) * lognormal(u) / u**2 * mp.cos(turned)))
    yield largest(-0.5, -0.5, 0, 1), truth
    yield largest(0.5, -0.5, 1, 1), truth

    asked = m.Shortfall(law, 1, 0.0, asked.plan)
    asked.__dict__["_tilt"] = lambda u: 0.0
    for low, high, a in ((-0.5, 0.5, 0.5), (-0.9, 0.0, 0.0)):  # where the weight is the largest
        u = 1 - mp.sin(a)
        found = asked._piece(arb(low).union(arb(high)), arb(0), arb(1)).log_bound
        yield found.union(arb(-99)), mp.log(lognormal(u) * mp.cos(a) / u**2)


@row("analysis.lognormal:moments")
def lognormal_moments(m):
    m.LognormalMoments._need = property(lambda self: self.bits * math.log(2))
    law = sys.modules["symacct.analysis.lognormal"].Lognormal(Fraction(1))
    for z in (Fraction(-1, 2), Fraction(-3), Fraction(1, 2), Fraction(5, 2)):
        for bits in (3, 5):
            found = m.LognormalMoments(law, 1, bits).moment(z)
            yield found, mp.exp(number(z * (z - 1) / 2))
