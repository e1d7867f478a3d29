"""Baselines and operations, at few bits."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import arb

from symacct import DiscreteGaussian, DiscreteLaplace, Laplace
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import LimitError
from tests.remainders.rows import mp, number, row


@row("baselines.result:sums and searches", "falling_sum")
def falling_weights_at_few_bits(m):
    """Weights 3^i/i! and factors 9/(9 + i), at so few bits that much is left out."""
    for bits, count in itertools.product((-10, -8, -5), (4, 7, 30)):
        m.BALL = SimpleNamespace(bits=bits)
        terms = [(arb(9) / (9 + i), arb(3) / (i + 1)) for i in range(count)]
        truth = (mp.mpf(3) ** i / mp.factorial(i) * 9 / (9 + i) for i in range(count))
        yield m.falling_sum(arb(1), terms), mp.fsum(truth)
    m.BALL = SimpleNamespace(bits=-9)
    yield m.falling_sum(arb(1), [(arb(1), arb(1) / 2)] * 50), 2 - mp.mpf(2) ** -49


@row("baselines.shuffle:counts of clones")
def counts_left_out(m):
    """δ where counts are left out of the window."""
    eps, local = Fraction(1, 2), Fraction(2)
    m.window = lambda *_: (0, 11)
    whole = number(m._summed(12, local, arb(0.25), eps).mid())
    for window in ((1, 6), (3, 5)):
        m.window = lambda *_, window=window: window
        yield m._summed(12, local, arb(0.25), eps), whole


@row("operations.recipes:truncated Poisson batches")
def tails_rounded_up(m):
    m._CHANCE_BITS = 2
    for first in (6, 8, 11):
        terms = [mp.binomial(20, a) * mp.mpf(3) ** (20 - a) / mp.mpf(4) ** 20 for a in range(21)]
        above, below = m.tails(20, Fraction(1, 4), first)
        yield above, mp.fsum(terms[first:])
        yield below, mp.fsum(terms[:first])
    yield arb(0).union(BALL.number(m._up(arb(1, 0.5), Fraction(1, 16)))), 1.5


@row("operations.thresholded:the chance that a key of one user shows", "_summed", "_geometric")
def a_chance_rounded_up(m):
    """Tails of which much is not summed, and chances of a few bits."""
    m._FIRST_NATS, m._REST_BITS = 0.5, 0
    for noise, scale in ((DiscreteGaussian(2), 2), (DiscreteGaussian(3), 3)):
        masses = [mp.exp(-mp.mpf(k * k) / (2 * scale**2)) for k in range(-60, 61)]
        for least in (1, 2, 5):
            try:
                tail = m._from(noise, least)
            except LimitError:  # of a window that never is enough
                tail = arb("nan")
            yield tail, mp.fsum(masses[60 + least :]) / mp.fsum(masses)
    for least in (1, 3, 8):
        yield m._from(DiscreteLaplace(2), least), mp.exp(-mp.mpf(least) / 2) / (1 + mp.exp(-0.5))
    m._NO_BITS = 3  # of tails that are far out nothing is summed
    masses = [mp.exp(-mp.mpf(k * k) / 8) for k in range(-60, 61)]
    for least in (8, 10, 12):
        yield m._from(DiscreteGaussian(2), least), mp.fsum(masses[60 + least :]) / mp.fsum(masses)
    m._NO_BITS, m._REST_BITS = 4096, 22
    m.doubled = lambda bits: [8, 16]
    for gap, keys in ((Fraction(3), 1), (Fraction(1), 5), (Fraction(10), 3)):
        p = mp.exp(-number(gap) / 2) / 2
        bound = m._chance(Laplace(2), gap, keys, True)
        yield arb(0).union(BALL.number(bound)), -mp.expm1(keys * mp.log1p(-p))
