"""Losses of Laplace noise, of few nodes."""

import functools
import itertools
from fractions import Fraction

from flint import acb, arb

from symacct.profile.losses.laplace import LaplaceLoss
from tests.remainders.rows import (
    known,
    mp,
    number,
    refused,
    row,
    sharp,
)


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
    for gamma in (Fraction(1, 8), Fraction(1, 3), Fraction(1)):
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
    "profile.losses.fixed_size:Laplace noise",
    "decay_constants", "uninformative_mass", "hockey_stick", "_laplace_sample", "_off",
)  # fmt: skip
def a_fixed_size_sample_of_laplace(m):
    s, gamma, a = Fraction(3, 2), Fraction(1, 3), 2.5
    part, g = m.FixedSizeLaplace(LaplaceLoss(s, gamma)), mp.mpf(1) / 3
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
        m._laplace_sample.cache_clear()
        sample = m._laplace_sample(part, a, 0.5, 0.0, 64)
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
