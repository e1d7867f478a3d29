"""Counts of clones, where much is left out."""

from fractions import Fraction
from types import SimpleNamespace

from flint import arb

from symacct.kernel.exact import exact, sympy
from symacct.theory.amplification.shuffled import Clones, Steps
from tests.remainders.rows import mp, row


def binomial_tail(n, share, first):
    terms = (
        mp.binomial(n, k) * mp.mpf(share) ** k * (1 - mp.mpf(share)) ** (n - k)
        for k in range(max(first, 0), n + 1)
    )
    return mp.fsum(terms)


@row("analysis.coin_counts:tails of fair coins")
def tails_cut_at_once(m):
    m.BALL = SimpleNamespace(bits=-12)
    for count, k in ((20, 10), (20, 14), (20, 20), (21, 6), (9, 0)):
        at = m.FairTail(count, k)
        yield at.tail, binomial_tail(count, 0.5, k)
        at.move(count - 5, min(k, count - 5))
        yield at.tail, binomial_tail(count - 5, 0.5, at.k)


@row("analysis.coin_counts:a count moved to multiples of a step")
def moved_counts_cut_at_once(m):
    m.BALL, m.window = SimpleNamespace(bits=-12), lambda *_: (6, 14)
    moved = m.MovedCount(arb(0.25), 3, 30, 33)
    for count in (30, 31, 32):
        for place, tail in zip(moved.places, moved.tails, strict=True):
            yield tail, binomial_tail(count, 0.25, place)
        for place, chance in moved.chances():
            hat = mp.fsum(
                (binomial_tail(count, 0.25, k) - binomial_tail(count, 0.25, k + 1))
                * (1 - mp.mpf(abs(k - place)) / 3)
                for k in range(place - 2, place + 3)
                if k >= 0
            )
            yield chance + arb(0, 1e-15), hat
        moved.one_more()


def mean_of_signs(m, d, alpha):
    a = mp.mpf(alpha)
    terms = (
        mp.binomial(m, k) * (1 + d * (2 * k - m) / m) ** a * (1 - d * (2 * k - m) / m) ** (1 - a)
        for k in range(m + 1)
    )
    return mp.fsum(terms) / mp.mpf(2) ** m


@row("analysis.coin_counts:moments of a sum of signs")
def few_terms(m):
    signs = m.Signs(4)
    for tiny in (1, 0.1, 1e-3):
        signs.tiny = arb(tiny)
        yield signs._by_series(40, arb(0.5)), mean_of_signs(40, 0.5, 4)
    m.BALL = SimpleNamespace(bits=-1.5, number=arb)
    for count in (1, 2, 30, 31):
        yield signs._by_outcomes(count, arb(0.5)), mean_of_signs(count, 0.5, 4)


def delta(clones, n, y):
    """D(y), by all numbers m and x, for no clones of the third kind."""
    own, r = mp.mpf(clones.own.numerator) / clones.own.denominator, clones.clone
    r, a = mp.mpf(r.numerator) / r.denominator, mp.exp(y)
    other = 1 - own
    total = mp.mpf(0)
    for m in range(1, n + 1):
        chance = mp.binomial(n, m) * (2 * r) ** m * (1 - 2 * r) ** (n - m) / mp.mpf(2) ** m
        for x in range(m + 1):
            P, Q = own * x + other * (m - x), other * x + own * (m - x)
            total += chance * mp.binomial(m, x) * max(P - a * Q, 0) / (r * n)
    return total


@row("profile.losses.shuffled")
def counts_left_out(m):
    """δ where counts are left out, and where balls do not tell on which side of x the edge is."""
    clones = Clones(exact(sympy.log(3)), Fraction(3, 4), Fraction(1, 5))
    table = m.ClonesTable(m.ShuffledLoss(clones, 12, Steps(0, 1.0)))
    for y in (0, 0.25, 1, -0.5):
        yield table.profile(arb(y)), delta(clones, 12, y)
    for m_, x in ((6, 4), (8, 5)):  # where (1+e^y) b (2x−m) = (e^y−1) S
        z = mp.mpf(2 * x - m_) / (2 * m_)
        y = mp.log((1 + z) / (1 - z))
        near = arb(float(y), 1e-9)
        for inside in (-1e-9, 0, 1e-9):
            yield table.profile(near), delta(clones, 12, float(y) + inside)
    whole = table.rows
    for kept in (slice(3, 6), slice(0, 5)):
        table.rows = whole[kept]
        table.seen = sum((one.masses[-1] for one in table.rows), arb(0))
        for y in (0.25, 0.5):
            yield table.profile(arb(y)), delta(clones, 12, y)
