"""Baselines and operations, at few bits."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import arb

from symacct.kernel.arithmetic import BALL
from tests.remainders.rows import mp, number, row


@row("baselines.exponential_runs")
def outcomes_of_runs_left_out(m):
    """Σ_{i <= l} C(k,i) a^i (1−a)^{k−i} (1 − e^{ε′ + iε − kt}) at few bits."""
    runs, eps, k = m.BoundedRangeRuns(Fraction(1, 2), 12), Fraction(1), 12
    for bits, count in itertools.product((0.5, 1, 3), (5, 7, 9)):
        m.BALL = SimpleNamespace(number=BALL.number, bits=bits)
        t = number(runs._loss(count, eps))
        a = mp.expm1(t) / mp.expm1(0.5)
        yield (
            runs._sum(count, eps),
            mp.fsum(
                mp.binomial(k, i) * a**i * (1 - a) ** (k - i) * -mp.expm1(1 + mp.mpf(i) / 2 - k * t)
                for i in range(count + 1)
            ),
        )


@row("baselines.shuffle")
def binomial_tails_at_few_bits(m):
    """P[Bin(20, ½) >= k], and δ where counts are left out."""
    eps, local = Fraction(1, 2), Fraction(2)
    m.window = lambda *_: (0, 11)
    whole = number(m._summed(12, local, arb(0.25), eps).mid())
    for window in ((1, 6), (3, 5)):
        m.window = lambda *_, window=window: window
        yield m._summed(12, local, arb(0.25), eps), whole
    m.BALL = SimpleNamespace(bits=1, number=BALL.number)
    for k in (11, 13, 16):
        truth = mp.fsum(mp.binomial(20, a) for a in range(k, 21)) / 2**20
        yield m._tail(20, k, arb.bin_uiui(20, k) / arb(2) ** 20), truth


@row("operations.recipes:truncated Poisson batches")
def tails_rounded_up(m):
    m._BITS = 2
    for first in (6, 8, 11):
        terms = [mp.binomial(20, a) * mp.mpf(3) ** (20 - a) / mp.mpf(4) ** 20 for a in range(21)]
        above, below = m.tails(20, Fraction(1, 4), first)
        yield above, mp.fsum(terms[first:])
        yield below, mp.fsum(terms[:first])
    yield arb(0).union(BALL.number(m._up(arb(1, 0.5), Fraction(1, 16)))), 1.5
