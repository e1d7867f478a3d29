"""Losses and their moments, where much is left out."""

import functools
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb

from symacct.kernel.errors import PrecisionError
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from tests.remainders.rows import (
    mp,
    normal,
    number,
    of_a_whole,
    refused,
    row,
)


class Sampled(SimpleNamespace):
    """The product of one sample: randomized response of ¾, as a profile."""

    @staticmethod
    def _stick(b, reverse):
        return (0.75 - b * 0.25).max(arb(0)) + (0.25 - b * 0.75).max(arb(0))


def sampled_response(gamma, y, reverse):
    p, q = (mp.mpf(3) / 4, mp.mpf(1) / 4), (mp.mpf(1) / 4, mp.mpf(3) / 4)
    m = [q[i] + (p[i] - q[i]) * gamma for i in (0, 1)]
    first, second = (q, m) if reverse else (m, q)
    return mp.fsum(max(u - mp.exp(y) * v, 0) for u, v in zip(first, second, strict=True))


@row("profile.losses.noisy_sample:one sample")
def ends_of_a_sample(m):
    """Where balls do not tell whether any rate is left: e^y = 1/(1−γ), or 1 − γ."""
    part = Sampled(gamma=Fraction(1, 2))
    for y, reverse in ((mp.log(2), True), (-mp.log(2), False)):
        ball = arb(float(y), 0.25)
        found = m.OneSample.hockey_stick(part, ball, reverse)
        for inside in (-0.25, 0, 0.25):
            yield found, sampled_response(0.5, float(y) + inside, reverse)
        for end in (ball.lower(), ball.upper()):
            if reverse:
                yield found, max(0, 1 - mp.exp(number(end)) / 2)
            else:
                yield found, max(1 - mp.exp(number(end)), mp.exp(number(end)) - 0.5)


@row("profile.losses.density:monotone mixtures")
def thresholds_in_a_ball(m):
    """Q/2 + N(1, 1)/2 at losses about log ½, below which R never is."""
    pair = m.MonotoneMixture(arb(0.5), [(arb(0.5), arb(1))])
    for away in (0.05, 0.25):
        loss = mp.log(0.5) + away
        at = mp.log(2 * mp.exp(loss) - 1) + mp.mpf("0.5")
        q, p = mp.ncdf(-at), (mp.ncdf(-at) + mp.ncdf(1 - at)) / 2
        ball = arb(float(mp.log(0.5)), 0.5)
        yield pair.hockey_stick(ball, False), p - mp.exp(loss) * q
        yield pair.hockey_stick(-ball, True), 1 - q - mp.exp(-loss) * (1 - p)
        yield pair.hockey_stick(ball, False), 1 - mp.exp(mp.log(0.5) - away)
    yield pair._threshold(arb(0.25)), mp.log(2 * mp.exp(0.25) - 1) + 0.5
    for loss in (mp.mpf("0.25"), mp.mpf("1.5")):  # at one place, where all digits count
        for sign in (1, -1) if loss < 0.5 else (1,):
            at = mp.log(2 * mp.exp(sign * loss) - 1) + mp.mpf("0.5")
            q, p = mp.ncdf(-at), (mp.ncdf(-at) + mp.ncdf(1 - at)) / 2
            truth = p - mp.exp(loss) * q if sign > 0 else 1 - q - mp.exp(loss) * (1 - p)
            yield pair.hockey_stick(arb(float(loss)), sign < 0), truth


class Fake:
    """A part that a cache takes."""

    pair = SimpleNamespace(gamma=Fraction(1, 2), sides=None)
    pair.exchanged = pair


@row("profile.losses.density:the loss")
def ends_of_densities(m):
    m.monotone_mixture = lambda pair: None
    part = SimpleNamespace(pair=None, largest=lambda reverse: arb(1))
    yield from of_a_whole(m.DensityLoss.hockey_stick(part, arb(1, 0.25), False), 0, 0.25)

    m._ends, m._log_size = lambda *_: [(arb(0.125), arb(0.25))], lambda *_: math.inf
    for t in (0.5, 2.0):  # by parts |F(a+it)| is at most what an end has, and the rest over t
        yield m.DensityLoss.decay(part, 2.0, t, 0.125), mp.log(0.125 + 0.25 / t)

    def unproved(*_):
        raise PrecisionError("")

    m.largest_log_ratio = unproved
    yield from of_a_whole(m._largest(Fake(), True, 64), 0, mp.log(2))
    for angle in (mp.mpf(k) / 4 for k in range(-4, 4)):
        flat, steep = (m.RHO + 1 / m.RHO) / 2, (m.RHO - 1 / m.RHO) / 2
        box = m._box(arb(1), arb(4))
        yield box.real, 2.5 + 1.5 * flat * mp.cos(mp.pi * angle)
        yield box.imag, 1.5 * steep * mp.sin(mp.pi * angle)


@row("profile.losses.density:crossings")
def surpluses(m):
    pair = SimpleNamespace(charts=lambda *_: ([], arb(0.125)))
    yield from of_a_whole(m._surplus(pair, arb(0)), 0, 0.125)
    logs = [SimpleNamespace(value=acb(x)) for x in (arb(2).log(), arb(0))]
    m.mean_values = lambda densities, u: [jet.value for jet in densities(u)]
    chart = SimpleNamespace(densities=lambda u: logs)
    found = m._between(chart, arb(0), arb(0, 0.125), arb(1, 0.25), arb(2) ** -40)
    yield found, 1.375
    yield found, 0.625


@row("profile.losses.normal_mixtures")
def losses_about_the_least(m):
    """Of N(0, 1)/2 + N(1, 1)/2 against N(0, 1), whose loss is never below log ½."""
    half = Fraction(1, 2)
    part = m.NormalMixtures(((half, 0), (half, 1)), ((Fraction(1), 0),), Fraction(1))
    ball = arb(float(mp.log(0.5)), 0.25)
    for away in (-0.2, 0.1, 0.2):
        y = mp.log(0.5) + away
        at = mp.log(2 * mp.exp(y) - 1) + mp.mpf("0.5") if away > 0 else -mp.inf
        q, p = mp.ncdf(-at), (mp.ncdf(-at) + mp.ncdf(1 - at)) / 2
        yield part.hockey_stick(ball, False), p - mp.exp(y) * q
        yield part.hockey_stick(-ball, True), 1 - q - mp.exp(-y) * (1 - p)


@row("profile.losses.fixed_size:equilateral triangles")
def a_sample_off_the_line(m):
    """Between the value at 0 and what it falls by: 1 for each e^y."""
    part = m.Equilateral(Fraction(1), Fraction(1, 2))
    at_zero = mp.erf(1 / mp.sqrt(8)) / 2
    for y in (0.0625, 0.125):
        yield part.hockey_stick(arb(y), False), at_zero - mp.expm1(y)


@row("profile.losses.summed:the loss")
def samples_by_few_nodes(m):
    """E_Q[R^a] for Q Laplace noise."""
    part = LaplaceLoss(Fraction(2), Fraction(1, 2))

    def at(x, a):
        return ((1 + mp.exp(2 * x - 2)) / 2) ** a * mp.exp(-x) / 2

    for a, need in itertools.product((2, 3), (-4.0, -2.0, 0.0)):
        sample = part.sample(float(a), 0.0, need)
        ends = ((1 + mp.exp(-2)) / 2) ** a / 2 + ((1 + mp.exp(2)) / 2) ** a * mp.exp(-2) / 2
        yield (
            m.Sample(sample.losses, sample.weights, sample.error).moment,
            ends + mp.quad(lambda x, a=a: at(x, a), [0, 1, 2]),
        )


@functools.cache
def log_size_of_sampled(variance, power):
    """log |E_Q[R^z]| of Gaussian noise sampled at ½."""

    def at(x):
        ratio = (1 + mp.exp((2 * x - 1) / (2 * mp.mpf(variance)))) / 2
        return normal(x, 0, mp.sqrt(variance)) * ratio**power

    return mp.log(abs(mp.quad(at, range(-16, 20, 4))))


@row("profile.losses.many_gaussians")
def cells_of_variances(m):
    """log |Π F_i(a+it)| of two sampled Gaussians far apart, in one cell."""
    for variances in ((2, 1), (1, 0.5)):
        cell = [(SampledGaussian(Fraction(v), Fraction(1, 2)), 1) for v in variances]
        truth = mp.fsum(log_size_of_sampled(v, mp.mpc(2, 3)) for v in variances)
        yield m.ManyGaussians._cell_decay(cell, 2.0, 3.0, 1.0), truth


@row("profile.losses.two_sided_exponential", "log_values", "_moment", "hockey_stick", "log_decay")
def a_two_sided_exponential(m):
    """The density of L under Q is that of which all moments are α(α−1)/((α−z)(α−1+z))."""
    part, alpha = m.TwoSidedExponential(Fraction(5, 2)), mp.mpf(2.5)

    def moment(z):
        return alpha * (alpha - 1) / ((alpha - z) * (alpha - 1 + z))

    for z in (mp.mpc(1, 2), mp.mpc(-0.5, 1)):
        found = part._moment(acb(z.real, z.imag))
        yield found.real, mp.re(moment(z))
        yield found.imag, mp.im(moment(z))
    for z in (2.75, -1.75):
        yield refused(part._moment(acb(z)).real)
    line = m.OrderLine(1.0, 2.0, 1)
    for found, z in zip(part.log_values(line), (mp.mpc(1), mp.mpc(1, 2)), strict=True):
        yield arb(found.real, 1e-12), mp.log(abs(moment(z)))
        yield arb(found.imag, 1e-12), mp.arg(moment(z))
    yield arb(part.log_decay(1.0, 2.0), 1e-12), mp.log(abs(moment(mp.mpc(1, 2))))

    def density(loss):  # of L under Q, the inverse of those moments
        rate = -alpha if loss > 0 else alpha - 1
        return alpha * (alpha - 1) / (2 * alpha - 1) * mp.exp(rate * loss)

    for y in (0.5, -0.5):
        truth = mp.quad(
            lambda loss, y=y: density(loss) * (mp.exp(loss) - mp.exp(y)), [y, max(y, 0), 9, 60]
        )
        yield part.hockey_stick(arb(y), False), truth


@row("profile.losses.allocated_law")
def ends_of_an_allocation(m):
    """D of two runs of randomized response of ¾, by its four outcomes."""
    response = Atoms(((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))))
    law = m.AllocatedLaw(response, 2)
    for y in (-0.4, 0.0, 0.3):
        for reverse in (False, True):
            truth = mp.mpf(0)
            for mass, mean in ((1, 3), (6, mp.mpf(5) / 3), (9, mp.mpf(1) / 3)):
                gap = mean - mp.exp(mp.mpf(y))
                if reverse:
                    gap = 1 - mp.exp(mp.mpf(y)) * mean
                truth += mp.mpf(mass) / 16 * max(gap, 0)
            yield law.hockey_stick(arb(y), reverse), truth
