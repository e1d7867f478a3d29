"""Losses and their moments, where much is left out."""

import functools
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb

from symacct.core.errors import PrecisionError
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from tests.remainders.rows import known, mp, normal, number, of_a_whole, refused, row, sharp


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


@row("profile.losses.one_sample")
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


@row("profile.losses.density.monotone_mixture")
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


class Fake:
    """A part that a cache takes."""

    pair = SimpleNamespace(gamma=Fraction(1, 2), sides=None)
    pair.exchanged = pair


@row("profile.losses.density.densities")
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


@row("profile.losses.density.crossings")
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


@row("profile.losses.fixed_size.equilateral")
def a_sample_off_the_line(m):
    """Between the value at 0 and what it falls by: 1 for each e^y."""
    part = m.Equilateral(Fraction(1), Fraction(1, 2))
    at_zero = mp.erf(1 / mp.sqrt(8)) / 2
    for y in (0.0625, 0.125):
        yield part.hockey_stick(arb(y), False), at_zero - mp.expm1(y)


@row("profile.losses.summed")
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


@row("profile.losses.sampled_gaussian.many")
def cells_of_variances(m):
    """log |Π F_i(a+it)| of two sampled Gaussians far apart, in one cell."""
    for variances in ((2, 1), (1, 0.5)):
        cell = [(SampledGaussian(Fraction(v), Fraction(1, 2)), 1) for v in variances]
        truth = mp.fsum(log_size_of_sampled(v, mp.mpc(2, 3)) for v in variances)
        yield m.ManyGaussians._cell_decay(cell, 2.0, 3.0, 1.0), truth


def laplace_sticks(shift, gamma, y, reverse):
    """H of (1−γ)Q + γP and Q, Laplace noise of scale 1 about 0 and about s, by where L is y."""

    def beyond(x):
        return mp.exp(-x) / 2 if x > 0 else 1 - mp.exp(x) / 2

    s, g = number(shift), number(gamma)
    least, most = (mp.log(1 - g + g * mp.exp(end)) for end in (-s, s))
    loss = -y if reverse else mp.mpf(y)
    if loss < least:  # all of it is above, or none
        return mp.zero if reverse else -mp.expm1(y)
    if loss >= most:
        return -mp.expm1(y) if reverse else mp.zero
    x = (s + mp.log(1 + mp.expm1(loss) / g)) / 2
    q, p = beyond(x), (1 - g) * beyond(x) + g * beyond(x - s)
    return (1 - q) - mp.exp(y) * (1 - p) if reverse else p - mp.exp(y) * q


@functools.cache
def laplace_between(shift, gamma, start, power):
    """∫_{start}^s ½e^{−x}R^b dx"""

    def at(x):
        return mp.exp(-x) / 2 * (1 + number(gamma) * mp.expm1(2 * x - number(shift))) ** power

    return mp.quad(at, mp.linspace(start, number(shift), 5))


def gauss_error(half, most, rho, count):
    """What Gauss's rule is off by on half a length, by the ellipse of the half-axes' sum ρ."""
    return mp.mpf(64) / 15 * half * most * mp.mpf(rho) ** (-2 * count) / (1 - mp.mpf(rho) ** -2)


@row(
    "profile.losses.laplace",
    "_closed", "decay_constants", "frequencies", "amplitude_bounds", "hockey_stick", "largest",
    "_sample", "_most",
)  # fmt: skip
def laplace_between_its_atoms(m):
    s, a = Fraction(3, 2), 2.5
    for gamma in (Fraction(1, 3), Fraction(1)):
        part, g = m.LaplaceLoss(s, gamma), number(gamma)
        low, high = (mp.log(1 - g + g * mp.exp(end)) for end in (-1.5, 1.5))
        yield part.largest(False), high
        yield part.largest(True), -low
        for found, truth in zip(part.frequencies(), (low, high), strict=True):
            yield found, truth
        for y in (0.125, 0.5, 1.75, -0.125, -0.25, -1.75):
            for reverse in (False, True):
                found = part.hockey_stick(arb(y), reverse)
                yield found, laplace_sticks(s, gamma, y, reverse)
                yield sharp(found)
        for end in (-number(low), number(high), mp.log(1 - g) if gamma < 1 else mp.mpf(2)):
            for sign, reverse in itertools.product((-1, 1), (False, True)):
                found = part.hockey_stick(arb(float(sign * end), 0.25), reverse)
                for y in (sign * end - 0.24, sign * end + 0.24):
                    yield found, laplace_sticks(s, gamma, y, reverse)
        atoms = (mp.exp(a * low) + mp.exp(a * high - 1.5)) / 2
        # 2(h(0) + h(s)) of h = ½e^{−x}R^a/(log R)′, by that derivative
        falls = mp.zero
        for x, loss in ((0, low), (1.5, high)):
            rise = 2 * g * mp.exp(2 * x - mp.mpf(1.5)) / mp.exp(loss)
            falls += mp.exp(a * loss - x) / rise
        constants = part.decay_constants(a, arb(1))
        yield constants[0][0], atoms
        yield constants[0][1], falls
        if gamma == 1:
            yield constants[1][0], atoms
            yield constants[1][1], atoms / 2
        bounds = part.amplitude_bounds(a, 3.0, 3)
        ends = ((low, mp.mpf(0.5), 0), (high, mp.exp(-1.5) / 2, 1.5))
        for found, (loss, atom, x) in zip(bounds, ends, strict=True):
            rise = 2 * g * mp.exp(2 * x - mp.mpf(1.5)) / mp.exp(loss)
            density = mp.exp(-x) / 2 / rise  # of L
            for j in range(3):
                truth = density / mp.mpf(3) ** (j + 1) + (atom if j == 0 else 0)
                yield found[j], mp.exp(a * loss) * truth

        # R^{a+it} on the ellipse: log|R| and arg R by their bounds at its two ends.
        for power, far, rho in ((a, 2.0, 1.5), (-1.5, 0.5, 1.5), (a, 0.5, 2.2)):
            reach, theta = 0.75 * (rho + 1 / rho) / 2, 0.75 * (rho - 1 / rho)
            right, left = (mp.exp(sign * 2 * reach) * g for sign in (1, -1))
            most = max(power * mp.log(1 - g + right), power * mp.log(1 - g + left * mp.cos(theta)))
            angle = mp.arg(1 - g + right * mp.exp(1j * theta)) * (1 + mp.mpf(2) ** -40)
            truth = mp.exp(reach - 0.75 + most + far * angle) / 2
            yield m._most(part, power, far, arb(rho)), truth
            m._rule = known((rho, 12))
            m._sample.cache_clear()
            sample = m._sample(part, power, far, 0.0, 64)
            yield sample.error, gauss_error(0.75, truth, rho, 12)
            whole = sum(sample.weights, arb(0))
            truth = (mp.exp(power * low) + mp.exp(power * high - 1.5)) / 2
            truth += laplace_between(s, gamma, 0, power)
            yield whole + arb(0, sample.error.upper()), truth
            yield whole * arb(1, 1e-9), truth
            for x, loss in zip((0, 1.5), sample.losses, strict=False):
                yield loss, mp.log(1 + g * mp.expm1(2 * x - 1.5))
    yield refused(m._most(m.LaplaceLoss(s, Fraction(1, 3)), a, 1.0, arb(4)))
    for z in (mp.mpc(2, 1), mp.mpc(-1, 0.5)):
        found = part._closed(acb(z.real, z.imag))
        truth = (mp.exp(-1.5 * z) + mp.exp(1.5 * (z - 1))) / 2
        truth += (mp.exp(1.5 * (z - 1)) - mp.exp(-1.5 * z)) / (2 * z - 1) / 2
        yield found.real, truth.real
        yield found.imag, truth.imag


@row(
    "profile.losses.fixed_size.laplace",
    "decay_constants", "uninformative_mass", "hockey_stick", "_sample", "_off",
)  # fmt: skip
def a_fixed_size_sample_of_laplace(m):
    s, gamma, a = Fraction(3, 2), Fraction(1, 3), 2.5
    part, g = m.FixedSizeLaplace(s, gamma), mp.mpf(1) / 3
    apart = (1 - g) * -mp.expm1(-0.75)
    yield part.uninformative_mass(), apart
    for y in (0.25, 0.5):
        stick = laplace_sticks(s, gamma, y, False)
        yield part.hockey_stick(arb(y), False), stick
        yield part.hockey_stick(arb(-y), True), 1 - mp.exp(-y) + mp.exp(-y) * stick
    high = mp.log(1 - g + g * mp.exp(1.5))
    constants = part.decay_constants(a, arb(1))
    atoms, falls = apart, mp.zero
    for b in (a, 1 - a):
        atoms += mp.exp(b * high - 1.5) / 2
        for x, loss in ((0.75, 0), (1.5, high)):
            rise = 2 * g * mp.exp(2 * x - mp.mpf(1.5)) / mp.exp(loss)
            falls += mp.exp(b * loss - x) / rise
    yield constants[0][0], atoms
    yield constants[0][1], falls

    for rho, far in ((1.5, 2.0), (3.9, 0.5)):
        reach, theta = 1.5 * (rho + 1 / rho) / 8, 1.5 * (rho - 1 / rho) / 4
        edge, left = g * mp.exp(0.75 + 2 * reach), g * mp.exp(0.75 - 2 * reach) * mp.cos(theta)
        ends = mp.log(1 - g + edge), mp.log(1 - g + left)
        turned = far * mp.arg(1 - g + edge * mp.exp(1j * theta)) * (1 + mp.mpf(2) ** -40)
        most = mp.fsum(
            mp.exp(max(b * end for end in ends) + turned + reach - 1.125) / 2 for b in (a, 1 - a)
        )
        yield m._off(part, a, far, arb(rho), 3), gauss_error(1.5 / 4, most, rho, 3)
    yield refused(m._off(part, a, 1.0, arb(6), 3))
    truth = atoms + mp.fsum(laplace_between(s, gamma, 0.75, b) for b in (a, 1 - a))
    for count in (3, 12):
        m.FixedSizeLaplace._rule = known((2.0, count))
        m._sample.cache_clear()
        sample = m._sample(part, a, 0.5, 0.0, 64)
        yield sum(sample.weights, arb(0, sample.error.upper())), truth
    yield sum(sample.weights, arb(0)) * arb(1, 1e-9), truth
    yield sample.error, number(m._off(part, a, 0.5, arb(2), 12).mid())
    mean = sum((w * x for w, x in zip(sample.weights, sample.losses, strict=True)), arb(0))
    step = mp.mpf(10) ** -6
    slope = [
        mp.exp(b * high - 1.5) / 2 * high * sign
        + sign * (laplace_between(s, gamma, 0.75, b + step)
        - laplace_between(s, gamma, 0.75, b - step)) / (2 * step)
        for b, sign in ((a, 1), (1 - a, -1))
    ]  # fmt: skip
    yield mean * arb(1, 1e-6), mp.fsum(slope)
