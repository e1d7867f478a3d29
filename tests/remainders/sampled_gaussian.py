"""Losses of sampled Gaussian noise, of few nodes and short sums."""

import functools
import itertools
import sys
from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb

from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.laplace import LaplaceLoss
from tests.remainders.rows import (
    at_least,
    known,
    mp,
    normal,
    number,
    refused,
    row,
    sharp,
)


def tail_of(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def tilted(log_tilt, x):
    """e^m P(Z > x) by e^{−x²/2} min(1/2, 1/(x√(2π)))"""
    if x <= 0:
        return mp.exp(log_tilt)
    return mp.exp(log_tilt - x * x / 2) * min(mp.mpf(0.5), 1 / (x * mp.sqrt(2 * mp.pi)))


#: 1/√(2π) in balls is a little more.
ROUND = arb(1, 1e-9)


@row(
    "profile.losses.sampled_gaussian:frames",
    "__init__", "nodes", "error", "shrink", "_cosine", "_most", "outside_sum", "tail_sum",
    "_smaller", "_under_tangent", "tilted_beyond", "tilted_mass", "_under_chords", "_grown",
    "_exponential", "_tail", "transform",
)  # fmt: skip
def bounds_of_a_sampled_gaussian(m):
    for gamma in (0.375, 0.25):
        yield from bounds_of_a_frame(m, gamma)
    yield from sums_off_the_line(m)


def sums_off_the_line(m):
    part, line = m.SampledGaussian(Fraction(9, 4), Fraction(3, 8)), m.OrderLine(1.5, 0.75, 3, 2)
    for step, last in ((0.5, 24), (0.5, 8), (2.0, 6)):
        rule = m.LineRule(0.75, step, -last, last)
        for n, found in enumerate(rule.transform(part, line), 2):
            truth = moment_on_a_line(n)
            yield found.real, mp.re(truth)
            yield found.imag, mp.im(truth)
    yield sharp(m.LineRule(0.75, 0.1875, -64, 86).transform(part, line)[1].real)


def bounds_of_a_frame(m, gamma):
    variance, rest, s = 2.25, 1 - gamma, mp.mpf(1.5)

    def frame(a):
        return m.SampledFrame(arb(variance), arb(gamma), arb(rest), a)

    def log_ratio(x):
        return mp.log(rest + gamma * mp.exp((2 * x - 1) / (2 * variance)))

    rule = m.LineRule(0.75, 0.5, -3, 4)
    for a in (2.5, -1.5):
        nodes = zip(range(-3, 5), *frame(a).nodes(rule), strict=True)
        for j, found, weight in nodes:
            x = mp.mpc(j / mp.mpf(2), 0.75)
            loss = log_ratio(x)
            density = mp.exp(a * loss - x * x / (2 * variance)) / (2 * s * mp.sqrt(2 * mp.pi))
            for ball, truth in ((found, loss), (weight, density)):
                yield ball.real, truth.real
                yield ball.imag, truth.imag

    # How much larger |R_θ|^a may be than R^a.
    for angle in (0.5, 2.0):
        yield frame(2.5).shrink(arb(angle)), 1
        cosine, most = mp.cos(angle / mp.mpf(2)) ** -1.5, mp.mpf(rest) ** -1.5
        yield frame(-1.5).shrink(arb(angle)), min(cosine, most) if angle < 1.5 else cosine
    for a in (-0.5, -9.0):
        cosine, most = mp.cos(0.75) ** a, mp.mpf(rest) ** a
        yield frame(a).shrink(arb(1.5)), min(cosine, most)
    yield frame(-1.5)._grown(), mp.mpf(rest) ** -1.5
    yield frame(2.5)._grown(), rest + gamma * mp.exp(2.5 * 3.5 / (2 * variance))
    for j, found in enumerate(m._exponential(arb(1.5), 5)):
        yield found, mp.mpf(1.5) ** j / mp.factorial(j)
    yield m._tail(arb(2)) * ROUND, tilted(0, mp.mpf(2))

    # What is beyond a place, by laws that are tilted by chords, tangents or the largest slope.
    def beyond(a, right):
        w = (2 * right - 1) / (2 * variance)
        log_tilt = (a * a - a) / (2 * variance) + a * mp.log(gamma + rest * mp.exp(-w))
        return tilted(log_tilt, (right - a) / s)

    def chords(a, right, far):
        width, total = (far - right) / mp.mpf(8), mp.zero
        for i in range(8):
            x = right + width * i
            start, end = log_ratio(x), log_ratio(x + width)
            slope = a * (end - start) / width  # R^a <= e^{a·start + slope·(z − x)}
            log_tilt = a * start - slope * x + slope**2 * variance / 2
            total += tilted(log_tilt, (x - slope * variance) / s)
        return total

    def tangent(a, x, share):
        weighed = share * gamma * mp.exp((2 * x - 1) / (2 * variance))
        slope = a * weighed / (rest + weighed) / variance
        log_tilt = a * mp.log(rest + weighed) - slope * x + slope**2 * variance / 2
        return tilted(log_tilt, abs(x - slope * variance) / s)

    for right in (3.0, 5.0):
        yield frame(2.5).tilted_beyond(arb(right)) * ROUND, beyond(2.5, right)
    yield frame(2.5)._under_chords(arb(2.25), arb(6)) * ROUND, chords(2.5, mp.mpf(2.25), 6)
    yield refused(frame(6.5)._under_chords(arb(1), arb(9)))
    for x, share in ((2.5, 0.75), (0.25, 1.0), (-2.5, 1.0), (-6.0, 0.5)):
        found = frame(-1.5)._under_tangent(arb(x), arb(share))
        yield found * ROUND, tangent(-1.5, mp.mpf(x), share)
    yield refused(frame(-1.5)._under_tangent(arb(-0.125), arb(1)))
    mass = mp.exp((1.75**2 - 1.75) / (2 * variance))
    for left, right, x in ((-1.0, [], 1.75 - (0.5 - variance)), (0.5, [9.0], 1.75 - 1.625)):
        found = frame(1.75).tilted_mass(arb(1.75), arb(left), list(map(arb, right)))
        yield at_least(found, mass * tail_of(-x / s))
    for left, right, away in (
        (-1.0, [], 0.5 - variance - 1.75),
        (1.0, [2.0], 0.5 + variance - 1.75),
        (-1.0, [0.25, 0.5], 1.75 - (0.5 + variance / 4)),
        (-1.0, [9.0, 0.5], 1.75 - (0.5 + variance / 2)),
    ):
        found = frame(2.5).tilted_mass(arb(1.75), arb(left), list(map(arb, right)))
        yield found * ROUND, tilted(mp.log(mass), away / s)

    # The sums beyond both ends.
    def low(left):
        return tilted(0, -left / s)

    step = 0.5
    for a, left, right in ((2.5, -1.5, 3.0), (0.25, -1.0, 0.75)):
        found = frame(a).tail_sum(arb(left), arb(right), arb(step), arb(0.5))
        yield found * ROUND, low(mp.mpf(left)) + beyond(a, mp.mpf(right))
    found = frame(2.5).tail_sum(arb(-3.5), arb(2.25), arb(step), arb(0.5))
    yield found * ROUND, low(mp.mpf(-3.5)) + chords(2.5, mp.mpf(2.25), 6.5) + beyond(2.5, 6)
    for a, left, right in (
        (2.5, 0.0, 3.0),
        (2.5, -1.0, 0.5),
        (-1.5, 0.0, 3.0),
        (0.25, -0.125, 0.6),
    ):
        found = frame(a).tail_sum(arb(left), arb(right), arb(step), arb(0.5))
        if a == 0.25:
            yield found * ROUND, low(mp.mpf(left)) + beyond(a, mp.mpf(right))
        else:
            yield refused(found)
    for a, angle, left, right in (
        (-1.5, 0.5, -6.0, 2.5), (-1.5, 2.0, -2.0, 3.0), (-0.5, 1.25, -3.0, 1.0),
        (-1.5, 1.5, -0.125, 0.6), (-1.5, 0.5, -0.125, 0.6), (-1.5, 2.0, -0.125, 0.6),
    ):  # fmt: skip
        cosine = mp.cos(angle / mp.mpf(2)) ** a
        most = min(cosine, mp.mpf(rest) ** a) if angle < 1.57 else cosine
        slopes = [(cosine, 1), (1, mp.cos(angle))] if angle < 1.57 else [(cosine, 1)]
        truth = mp.zero
        for x, plain in ((left, mp.mpf(rest) ** a), (right, 1)):
            ways = [most * plain * tilted(0, abs(mp.mpf(x)) / s)]
            ways += [
                c * tangent(a, mp.mpf(x), share)
                for c, share in slopes
                if is_end(a, x, share, gamma)
            ]
            truth += min(ways)
        yield frame(a).tail_sum(arb(left), arb(right), arb(step), arb(angle)) * ROUND, truth

    # The error of a sum, by the strip's two edges.
    def grown(angle, a):
        return 1 if a > 0 else min(mp.cos(angle / 2) ** a, mp.mpf(rest) ** a)

    for a in (2.5, -1.5):
        for weights in ([acb(0.25, 1), acb(0.5, -1)], [acb(9)]):
            eta, step = mp.mpf(0.75), mp.mpf(0.5)
            one = frame(a)
            one.outside_sum = lambda rule, angle: angle
            left = mp.exp(eta**2 / (2 * variance)) * eta / variance
            edges = 1 + mp.exp(4 * eta**2 / (2 * variance)) * grown(2 * eta / variance, a)
            share = edges / mp.expm1(2 * mp.pi * eta / step)
            moment = abs(mp.fsum(number(w.real) for w in weights))
            yield one.error(rule, weights), left + share * (moment + left) / (1 - share)
        found = frame(a).outside_sum(rule, arb(0.25))
        yield found * ROUND, number(frame(a).tail_sum(arb(-1.5), arb(2), arb(0.5), arb(0.25)).mid())
    yield refused(frame(2.5).error(m.LineRule(0.125, 1.0, -3, 4), [acb(1)]))


def is_end(a, x, share, gamma, variance=2.25):
    """Is what is tangent at a place farther out falling?"""
    weighed = share * gamma * mp.exp((2 * mp.mpf(x) - 1) / (2 * variance))
    mean = a * weighed / (1 - gamma + weighed)
    return x > mean if x > 0 else x < mean


def gaussian_sticks(variance, gamma, y, reverse):
    """H of (1−γ)Q + γP and Q, N(0, σ²) and N(1, σ²), by where L is y."""
    g, s = number(gamma), mp.sqrt(number(variance))
    loss = -y if reverse else mp.mpf(y)
    if mp.exp(loss) <= 1 - g:
        return mp.zero if reverse else -mp.expm1(y)
    x = s * s * mp.log((mp.exp(loss) - 1 + g) / g) + 0.5
    q = tail_of(x / s)
    p = (1 - g) * q + g * tail_of((x - 1) / s)
    return (1 - q) - mp.exp(y) * (1 - p) if reverse else p - mp.exp(y) * q


@row(
    "profile.losses.sampled_gaussian:the loss",
    "frequencies", "hockey_stick", "largest", "_certain", "frame",
)  # fmt: skip
def a_sampled_gaussian(m):
    variance, gamma = Fraction(9, 4), Fraction(3, 8)
    part = m.SampledGaussian(variance, gamma)
    least = mp.log(mp.mpf(5) / 8)
    for frame, stated in ((part.frame(1.5), 2.25), (part.frame(1.5, arb(2)), 2)):
        yield frame.variance, mp.mpf(stated)
        yield frame.gamma, mp.mpf(3) / 8
        yield frame.rest, mp.mpf(5) / 8
    yield part.frequencies()[0], least
    yield part.largest(True), -least
    for y in (0.125, 1.75, -0.125, -0.25, -1.75):
        for reverse in (False, True):
            found = part.hockey_stick(arb(y), reverse)
            yield found, gaussian_sticks(variance, gamma, y, reverse)
            yield sharp(found)
    for reverse in (False, True):
        end = float(-least if reverse else least)
        for y in (end - 0.24, end + 0.24):
            found = part.hockey_stick(arb(end, 0.25), reverse)
            yield found, gaussian_sticks(variance, gamma, y, reverse)


@functools.cache
def moment_on_a_line(n):
    """E_Q[R^{3/2 + 3ni/4}] at σ = 3/2 and γ = 3/8"""
    z = mp.mpc(1.5, 0.75 * n)

    def at(x):
        ratio = (5 + 3 * mp.exp((2 * x - 1) / mp.mpf(4.5))) / 8
        return normal(x, 0, mp.mpf(1.5)) * ratio**z

    return mp.quad(at, range(-16, 24, 4))


@row(
    "profile.losses.sampled_gaussian:sums on the real line",
    "nodes", "error", "log_edge", "_height", "_rise",
)  # fmt: skip
def edges_of_a_strip(m):
    """E_Q[|R_θ|^a e^{t arg R_θ}] by cells of v, as its exponent's chords and slopes are."""
    variance, gamma = mp.mpf(2.25), mp.mpf(0.375)
    rest, odds = 1 - gamma, mp.log(gamma / (1 - gamma))
    theta, t = mp.mpf(0.75), 1.25
    places = (-1.0, -0.25, 0.0, 0.5)

    def mass(slope, left, right):  # what a tilted law has, as another row says
        return 1 + slope / 4 + left / 8 + sum(right) / 16

    for a in (2.5, -1.5):
        frame = sys.modules["symacct.profile.losses.sampled_gaussian"].SampledFrame(
            arb(2.25), arb(0.375), arb(0.625), a
        )
        frame.tilted_mass = mass
        heights = []
        for v in places:
            u = mp.exp(v)
            arg = t * mp.arg(1 + u * mp.exp(1j * theta))
            heights.append(arg if a < 0 else arg + a * mp.log(1 + u))
            yield m._height(frame, arb(0.75), arb(v).exp(), t), heights[-1]
        total = mp.exp(heights[0])
        for i, v in enumerate(places):
            right = places[i + 1 : i + 2]
            if v < 0:
                slope = (heights[i + 1] - heights[i]) / (right[0] - v)
            else:  # t arg′ at the place, and ap at the next
                u = mp.exp(v)
                slope = t * u * mp.sin(theta) / (1 + 2 * u * mp.cos(theta) + u * u)
                if a > 0:
                    slope += a / (1 + mp.exp(-right[0])) if right else a
                following = [arb(place).exp() for place in right]
                yield m._rise(frame, arb(0.75), arb(v).exp(), following, t), slope
            ends = [place - odds for place in right]
            total += mp.exp(heights[i] - slope * (v - odds)) * mass(slope, v - odds, ends)
        base = rest * mp.sin(theta) if a < 0 else rest
        edge = theta**2 * variance / 2 + a * mp.log(base) + mp.log(total)
        rule = m.Strip(0.0, 0.5, -4, 6, 0.75, places)
        yield m.log_edge(frame, rule, t), edge
        decay = mp.expm1(2 * mp.pi * theta * variance / 0.5)
        frame.outside_sum = lambda rule, angle: angle + 0.25
        yield m.error(frame, rule, t), 0.25 + 2 * mp.exp(edge) / decay
        for j, *found in zip(range(-4, 7), *m.nodes(frame, arb(0.5), -4, 6), strict=True):
            x = mp.mpf(j) / 2
            ratio = rest + gamma * mp.exp((2 * x - 1) / (2 * variance))
            yield found[0], normal(x, 0, mp.sqrt(variance)) / 2 * ratio**a
            yield found[1], mp.log(ratio)


@row(
    "profile.losses.noisy_sample:noise on a sample",
    "_highest",
    "_at",
    "_frame",
    "_nodes",
    "log_most",
    "_cells",
)
def noise_beside_losses(m):
    s, gamma, y = Fraction(3, 2), Fraction(3, 8), mp.mpf(0.75)
    g = mp.mpf(3) / 8
    runs = ((LaplaceLoss(s), 1), (GaussianLoss(Fraction(4, 9)), 1))
    part = m.NoisySample(runs, gamma)
    yield part._highest, 1.5
    log_c, rate = part._at(arb(0.75))
    c = 1 - g + g * mp.exp(y)
    yield log_c, mp.log(c)
    yield rate, g * mp.exp(y) / c
    log_c, frame = part._frame(arb(0.75), 2.5)
    yield log_c, mp.log(c)
    yield frame.gamma, g * mp.exp(y) / c
    yield frame.rest, (1 - g) / c
    asked = []
    m.sampled_gaussian = SimpleNamespace(
        edge=lambda angle: angle,
        log_edge=lambda frame, angle, far: asked.append(frame) or arb(angle) * far,
    )
    for rho in (1.25, 2.0):
        theta, reach = 1.5 * (rho - 1 / rho) / 2, 1.5 * (rho + 1 / rho) / 2
        found = part.log_most(0, 2.5, 1.25, rho)
        high = 1 - g + g * mp.exp(reach)
        variance = number(frame.variance.mid())
        truth = 1.25 * theta - mp.mpf(theta) ** 2 * variance / 2 + 2.5 * mp.log(high)
        yield found * arb(1, 1e-9), truth + (reach - 1.5) / 2 - mp.log(2)
        yield asked[-1].gamma, g * mp.exp(reach) / high
    yield arb(int(part.log_most(0, 2.5, 1.25, 4.0) is None)), 1

    m.NoisySample._rule = known((arb(0.25), 12, 1.5))
    part = m.NoisySample(((LaplaceLoss(s), 2), runs[1]), gamma)
    every, off = part._nodes(2.5, 1.25, 9.0)
    error = mp.mpf(64) / 15 * 0.75 * mp.exp(0.25) / (1 - mp.mpf(1.5) ** -2) * mp.mpf(1.5) ** -24
    yield off, 2 * error  # both laws have the mass 1
    for power in (0, 1):
        moment = (mp.exp(-1.5 * power) + mp.exp(1.5 * power - 1.5)) / 2
        moment += mp.quad(lambda x, b=power: mp.exp(b * (2 * x - 1.5) - x) / 2, [0, 1.5])
        found = sum((q * (loss * power).exp() for q, loss in every), arb(0))
        yield found * arb(1, 1e-9), moment**2
    m.NoisySample._rule = known((arb(0.25), 2, 1.5))  # by so few that they have not the mass 1
    mass = (1 + mp.exp(-1.5)) / 2
    mass += mp.fsum(mp.exp(-0.75 * (1 + sign / mp.sqrt(3))) for sign in (-1, 1)) * mp.mpf(3) / 8
    yield part._nodes(2.5, 1.25, 9.0)[1], error * mp.mpf(1.5) ** 20 * (1 + mass)
    m._FEWEST_CELLS, m._MOST_CELLS = 1, 4
    for fineness, count in ((0.5, 2), (2.0, 3), (9.0, 6)):
        cells = part._cells(s, fineness)
        ends = [mp.mpf(1.5) * i / count for i in range(count + 1)]
        truths = [(mp.mpf(0.5), -1.5, -1.5), (mp.exp(-1.5) / 2, 1.5, 1.5)]
        for x, z in itertools.pairwise(ends):
            truths.append(((mp.exp(-x) - mp.exp(-z)) / 2, 2 * x - 1.5, 2 * z - 1.5))
        for (mass, loss), (truth, low, high) in zip(cells, truths, strict=True):
            yield mass, truth
            yield loss, low
            yield loss, high
            yield loss.rad() * arb(1, 1e-6), (high - low) / 2
