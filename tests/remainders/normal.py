"""Sums for Gaussian noise, by wide steps and few terms."""

import functools
import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import arb

from tests.remainders.rows import mp, normal, number, row


@functools.cache
def newtons_excess(alpha):
    """E[(1+u)^α] − 1 for u = (e^{x/2 − 1/8} − 1)/4"""

    def at(x):
        return normal(x) * (mp.mpf("0.75") + mp.exp(x / 2 - mp.mpf("0.125")) / 4) ** alpha

    return mp.quad(at, range(-12, 20, 4)) - 1


@functools.cache
def sampled_entropy(gamma, sigma, other):
    """∫ m log(m/n), m and n N(0, σ²) with a share γ of N(1, σ²) and of N(other, σ²)."""
    gamma, sigma = number(gamma), number(sigma)

    def at(x):
        m, n = ((1 - gamma) * normal(x, 0, sigma) + gamma * normal(x, c, sigma) for c in (1, other))
        return m * mp.log(m / n)

    return mp.quad(at, mp.linspace(-8 * sigma - 1, 8 * sigma + 1, 9))


@row("analysis.sampled_gaussian:small rates")
def series_of_few_moments(m):
    for gamma in (Fraction(1, 3), Fraction(1, 8)):
        for other in (0, -1):
            found = m.relative_entropy(gamma, Fraction(2), other, 3, 40)
            yield found, sampled_entropy(gamma, Fraction(2), other)


@row("analysis.sampled_gaussian:Newton's series")
def newtons_series_of_few_terms(m):
    """At orders about a whole one, by 2 and 4 terms."""
    for middle, length in ((2, 2), (5, 2), (5, 4)):
        found = m.newton_local(middle, Fraction(1, 4), Fraction(1, 8), length)
        for t in (-0.5, 0.5):
            yield found(arb(t)), newtons_excess(middle + t)
    # The least that 1+u may be, 1−γ, to the power α − N of the least order about a whole one.
    rest = m._remainder(arb(1), 2, arb(0.5), arb(1), 4)
    yield arb(0).union(rest), mp.mpf(2) ** (4 - mp.mpf("1.5"))


@row("analysis.sampled_gaussian:even χ-moments")
def chi_divergences_by_wide_steps(m):
    """E[(e^{sx − s²/2} − 1)^l] by the widest steps, and a side of a sum by short windows."""
    for shift, l in itertools.product((Fraction(1), Fraction(1, 2), Fraction(1, 4)), (2, 4)):
        s = number(shift)
        truth = mp.fsum(
            (-1) ** (l - i) * mp.binomial(l, i) * mp.exp(s**2 * i * (i - 1) / 2)
            for i in range(l + 1)
        )
        for step in (1.25, 1.5, 1.75, 2.0, 2.25):
            curve = m.GaussianChi(shift, 1)
            curve._use(step)
            yield curve(l), truth
        for side, bits in itertools.product((-1, 1), (-23, -22, -20)):
            curve = m.GaussianChi(shift, 1)
            curve.bits, curve.step = bits, 0.5
            t = [mp.mpf(side) * (2 * k + 1) / 4 for k in range(60)]
            terms = [mp.expm1(s * x) ** l * mp.exp(-((s / 2 + x) ** 2) / 2) for x in t]
            yield curve._side(l, side), mp.fsum(terms)
            peak = max(range(60), key=terms.__getitem__) / 2
            curve._peak = lambda *_, at=peak + 1: at  # more is left out before it than after
            yield curve._side(l, side), mp.fsum(terms)


@functools.cache
def mixtures():
    """∫ p^a q^{1−a} at 5/2 and ∫ p log(p/q) of the two mixtures below."""

    def densities(x):
        return (normal(x) + 2 * normal(x, 1)) / 3, (normal(x, -1) + normal(x, 1)) / 2

    def power(x):
        p, q = densities(x)
        return p ** mp.mpf("2.5") * q ** mp.mpf("-1.5")

    def entropy(x):
        p, q = densities(x)
        return p * mp.log(p / q)

    return [mp.quad(f, range(-16, 20, 4)) for f in (power, entropy)]


@row("analysis.normal_tails:the hockey-stick divergence")
def roots_from_bad_guesses(m):
    """The ε at which Gaussian noise has δ = 1/10, from a guess on either side of it."""

    def delta(eps):
        return mp.ncdf(0.5 - eps) - mp.exp(eps) * mp.ncdf(-0.5 - eps)

    truth = mp.findroot(lambda eps: delta(eps) - mp.mpf("0.1"), 1)
    for off in (0.75, 1.25):
        m._solved = lambda *_, off=off: arb(float(truth) * off)
        yield m.hockey_stick_inverse(arb(1) / 10, arb(1)), truth
    m._WIDENINGS = 0
    yield m.hockey_stick_inverse(arb(1) / 10, arb(1)).atan(), mp.atan(truth)


@row("analysis.normal_mixtures")
def mixtures_by_wide_steps(m):
    p = m.NormalParts((Fraction(1, 3), Fraction(2, 3)), (Fraction(0), Fraction(1)), Fraction(1))
    q = m.NormalParts((Fraction(1, 2), Fraction(1, 2)), (Fraction(-1), Fraction(1)), Fraction(1))
    power, entropy = mixtures()
    for step, reach in ((1.5, 9), (1.75, 9), (2.0, 9), (0.25, 2), (0.25, 3), (0.5, 4)):
        ends = -int(reach / step), int(reach / step) + 1
        m._strip = lambda *_, step=step, ends=ends, **__: m.TrapezoidStrip(step, 1.0, *ends)
        found = m.power_integral(p, q, Fraction(5, 2), 40)
        if found.is_finite():
            yield found, power
        yield m.relative_entropy(p, q, 40), entropy
    with mp.workdps(30):
        sigma = mp.mpf(1) / 3
        apart = mp.quad(
            lambda x: (
                (normal(x, 0, sigma) + 2 * normal(x, 1, sigma))
                / 3
                * mp.log(
                    2
                    * (normal(x, 0, sigma) + 2 * normal(x, 1, sigma))
                    / (3 * (normal(x, -1, sigma) + normal(x, 1, sigma)))
                )
            ),
            mp.linspace(-3, 4, 29),
        )
    scaled = (m.NormalParts(law.weights, law.means, Fraction(1, 9)).parts() for law in (p, q))
    yield m._entropy_far_apart(tuple(scaled)), apart


@functools.cache
def sampled_excess(alpha):
    """E[(2/3 + L/3)^α] − 1, L = e^{z − 1/2}"""

    def at(z):
        return normal(z) * (2 + mp.exp(z - mp.mpf("0.5"))) ** alpha / mp.mpf(3) ** alpha

    return mp.quad(at, range(-12, 20, 4)) - 1


@row("analysis.sampled_gaussian:trapezoids")
def trapezoids_by_wide_steps(m):
    q, sigma = Fraction(1, 3), Fraction(1)
    for step, reach in ((1.25, 12), (1.5, 12), (0.25, 3), (0.25, 4), (0.5, 5)):
        grid = m.TrapezoidGrid(step, 2.0, -int(reach / step), int(reach / step) + 4)
        guessed = m.guess(Fraction(3), q, sigma, 20)
        nodes = m.TrapezoidNodes((Fraction(3), Fraction(3)), q, sigma, guessed, grid)
        yield nodes.excess(Fraction(3)), sampled_excess(3)
    for bits in (1, 3, 5, 8):
        middle, guessed = 3, m.guess(Fraction(3), q, sigma, bits)
        grid = m.TrapezoidGrid(0.5, 2.0, -16, 24)
        nodes = m.TrapezoidNodes((Fraction(5, 2), Fraction(7, 2)), q, sigma, guessed, grid)
        found = nodes.local(middle)
        for t in (-0.5, -0.25, 0.25, 0.5):
            yield found(arb(t)), sampled_excess(middle + t)
    everywhere = []
    nodes._error = lambda excess: everywhere.append(excess) or excess
    nodes.local(middle)
    for t in (-0.5, 0.5):
        yield everywhere[0], sampled_excess(middle + t)
    m.ctx = SimpleNamespace(prec=3)
    for step in (1.25, 1.5, 2.0, 2.5):
        for found, shift in zip(m._theta_excess(step, arb(1)), (0, 1), strict=True):
            yield found, step * mp.fsum(normal(j * step - shift) for j in range(-20, 21)) - 1
