"""The laws of the privacy loss by other means: mpmath's quadrature, sums over every outcome."""

import functools
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
from flint import ctx

MP = mpmath.mp.clone()
MP.dps = 50


def mp(x):
    """A Fraction, or a ball's midpoint with all its bits, as an mpf."""
    if isinstance(x, Fraction | int | str | float):
        return MP.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else MP.mpf(x)
    mantissa, power = x.man_exp()
    return MP.ldexp(int(mantissa), int(power))


def contains(ball, value, rounding=40):
    """Does a ball contain an mpf that is known to so many digits?"""
    with ctx.workprec(400):
        low, high = mp(ball.lower()), mp(ball.upper())
    slack = abs(value) * MP.mpf(10) ** -rounding
    return low - slack <= value <= high + slack


def contains_complex(ball, value):
    """Does a complex ball contain an mpc that is known to forty digits?"""
    value = MP.mpc(value)
    return contains(ball.real, value.real) and contains(ball.imag, value.imag)


class SampledNoise:
    """(1−γ)Q + γP against Q, for the log-density ratio of P and Q and the density of Q."""

    def __init__(self, log_ratio, density, gamma, cuts):
        self.log_ratio, self.density, self.gamma, self.cuts = log_ratio, density, mp(gamma), cuts
        # The same moments are asked for every rule that is tried.
        remembered = functools.cache(lambda z, bits: type(self).moment(self, z))
        self.moment = lambda z: remembered(z, MP.prec)

    def ratio(self, x):
        return 1 - self.gamma + self.gamma * MP.exp(self.log_ratio(x))

    def moment(self, z):
        """E_Q[R^z]."""
        return MP.quad(lambda x: self.density(x) * MP.exp(z * MP.log(self.ratio(x))), self.cuts)

    def one_run(self, y, reverse):
        """D(y) as ∫ (p − e^y q)₊ or ∫ (q − e^y p)₊."""
        grown = MP.exp(y)

        def surplus(x):
            p, q = self.ratio(x), 1
            return self.density(x) * max((q - grown * p) if reverse else (p - grown * q), 0)

        return MP.quad(surplus, self._cut_at(-y if reverse else y))

    def two_runs(self, y, reverse):
        """D₂(y) = E_P[D₁(y − L)], or with the laws exchanged; cut where D₁ has an end."""

        def inner(x):
            p = self.ratio(x)
            loss = -MP.log(p) if reverse else MP.log(p)
            weight = 1 if reverse else p
            return self.density(x) * weight * self.one_run_closed(y - loss, reverse)

        ends = [y - end if not reverse else end - y for end in self.ends(reverse)]
        places = [
            self.where(MP.log((MP.exp(e) - 1 + self.gamma) / self.gamma))
            for e in ends
            if MP.exp(e) > 1 - self.gamma
        ]
        low, *_, high = self.outer
        cuts = {low, high, *(x for x in (*self.outer, *places) if low < x < high)}
        with MP.workdps(25):
            return MP.quad(inner, sorted(cuts))

    def _cut_at(self, y):
        inside = MP.exp(y) - 1 + self.gamma
        if inside <= 0:
            return self.cuts
        place = self.where(MP.log(inside / self.gamma))
        cuts = [c for c in (*self.cuts, place) if self.cuts[0] <= c <= self.cuts[-1]]
        return sorted(set(cuts))


class SampledGaussian(SampledNoise):
    def __init__(self, sigma, gamma):
        self.sigma = mp(sigma)
        edge = 22 * self.sigma
        grid = [-edge + i * edge / 8 for i in range(17)]
        cuts = sorted({*grid, *(g + 1 for g in grid), MP.mpf(0), MP.mpf(1) / 2, MP.mpf(1)})
        self.outer = [-10 * self.sigma, MP.mpf(0), 1 + 11 * self.sigma]
        super().__init__(
            lambda x: (2 * x - 1) / (2 * self.sigma**2),
            lambda x: MP.npdf(x, 0, self.sigma),
            gamma,
            cuts,
        )

    def moment(self, z):
        """E_Q[R^z] by a sum along Im x = σ²/2, on either side of which R has no zero."""
        a, t = MP.mpf(z.real), MP.mpf(getattr(z, "imag", 0))
        # Off by e^{−2πd/h + td/σ²}, d = 2.6σ² the way from this line to the nearest zero.
        nodes = 12 if abs(t) < 10 else 24
        variance, step = self.sigma**2, min(self.sigma**2, self.sigma) / nodes
        edge = 16 * self.sigma
        total, power = MP.mpc(0), MP.mpc(a, abs(t))
        for j in range(int(-edge / step), int((max(a, 0) + edge) / step)):
            loss, exponent = self._node(step, j, MP.prec)
            total += MP.exp(power * loss - exponent)
        total *= step / MP.sqrt(2 * MP.pi * variance)
        return total if t >= 0 else MP.conj(total)

    @functools.cache  # noqa: B019  # there are a few of these laws
    def _node(self, step, j, bits):
        """log R and x²/2σ² at a node, which are those of every order."""
        x = MP.mpc(step * j, self.sigma**2 / 2)
        return MP.log(self.ratio(x)), x * x / (2 * self.sigma**2)

    def ends(self, reverse):
        """The losses at which there is an end: that where x is least."""
        return [MP.log(1 - self.gamma) * (-1 if reverse else 1)]

    def where(self, log_ratio):
        return log_ratio * self.sigma**2 + MP.mpf(1) / 2

    def one_run_closed(self, y, reverse):
        """The normal distribution function on both sides of the threshold."""
        sign = -1 if reverse else 1
        inside = MP.exp(sign * y) - 1 + self.gamma
        if inside <= 0:
            return MP.mpf(0) if reverse else 1 - MP.exp(y)
        x, g = self.where(MP.log(inside / self.gamma)), self.gamma

        def below(at, mean):
            return MP.ncdf((at - mean) / self.sigma)

        if reverse:
            return below(x, 0) - MP.exp(y) * ((1 - g) * below(x, 0) + g * below(x, 1))
        # 1 − Φ(u) = Φ(−u) keeps the digits.
        over = [MP.ncdf((mean - x) / self.sigma) for mean in (0, 1)]
        return (1 - g) * over[0] + g * over[1] - MP.exp(y) * over[0]


class SampledLaplace(SampledNoise):
    def __init__(self, shift, gamma):
        self.shift = mp(shift)
        s = self.shift
        super().__init__(
            lambda x: min(max(2 * x - s, -s), s),
            lambda x: MP.exp(-abs(x)) / 2,
            gamma,
            [-MP.inf, 0, s / 2, s, MP.inf],
        )
        self.outer = [-MP.inf, MP.mpf(0), s, MP.inf]

    def ends(self, reverse):
        """The least and the largest loss."""
        return [(-1 if reverse else 1) * MP.log(self.ratio(x)) for x in (MP.mpf(0), self.shift)]

    def where(self, log_ratio):
        return (log_ratio + self.shift) / 2

    def moment(self, z):
        low, high = (MP.log(self.ratio(x)) for x in (MP.mpf(0), self.shift))
        ends = MP.exp(z * low) / 2 + MP.exp(-self.shift + z * high) / 2
        inside = MP.quad(
            lambda x: MP.exp(-x + z * MP.log(self.ratio(x))) / 2,
            MP.linspace(0, self.shift, 5),
        )
        return ends + inside

    def one_run_closed(self, y, reverse):
        """Laplace's distribution function on both sides of the threshold."""
        low, high = sorted(self.ends(reverse))
        if y >= high:
            return MP.mpf(0)
        if y <= low:
            return 1 - MP.exp(y)
        x = self.where(MP.log((MP.exp(-y if reverse else y) - 1 + self.gamma) / self.gamma))

        def above(at, mean):
            tail = MP.exp(-abs(at - mean)) / 2
            return tail if at > mean else 1 - tail

        q, p = above(x, 0), above(x, self.shift)
        p = (1 - self.gamma) * q + self.gamma * p
        return (1 - q) - MP.exp(y) * (1 - p) if reverse else p - MP.exp(y) * q


def plain_contour(law, count, y, c, h, last):
    """D(y) of `count` runs with the laws exchanged, by plain sums over x and s = c + inh."""
    points = [MP.mpf("0.55") * j + MP.mpf("0.1") for j in range(-165, 170)]
    logs = [MP.log(law.ratio(x)) for x in points]
    terms = [
        MP.mpc(MP.mpf("0.55") * law.density(x) * MP.exp(-c * loss))
        for x, loss in zip(points, logs, strict=True)
    ]
    turns = [MP.expj(-h * loss) for loss in logs]
    total = MP.mpf(0)
    for n in range(last + 1):
        s = MP.mpc(c, n * h)
        term = (MP.fsum(terms) ** count * MP.exp(-s * y) / (s * (s + 1))).real
        total += term / 2 if n == 0 else term
        terms = [a * b for a, b in zip(terms, turns, strict=True)]
    return total * h / MP.pi


class Spread:
    """D of k sampled Gaussian runs from above: each run's mass spread to a grid of losses.

    Both laws keep their masses, and H_a = E_Q[(P/Q − a)₊] is convex in the ratio. float64.
    """

    def __init__(self, sigma, gamma, count, points):
        def mass(x, mean):  # above x
            return 0.5 * math.erfc((x - mean) / (sigma * math.sqrt(2)))

        low, top = math.log1p(-gamma), (2 * (1 + 9 * sigma) - 1) / (2 * sigma**2)
        step = (np.logaddexp(low, math.log(gamma) + top) - low) / points
        ratios = np.exp(low + step * np.arange(points + 1))
        x = [0.5 + sigma**2 * math.log((r - 1 + gamma) / gamma) for r in ratios[1:]]
        q = -np.diff([1.0, *(mass(place, 0) for place in x)])
        shifted = -np.diff([1.0, *(mass(place, 1) for place in x)])
        p = (1 - gamma) * q + gamma * shifted
        upper = (p - ratios[:-1] * q) / np.diff(ratios)
        masses = np.append((q - upper) * ratios[:-1], 0.0)
        masses[1:] += upper * ratios[1:]
        length = 2 ** math.ceil(math.log2(count * (points + 1)))
        self.masses = np.fft.irfft(np.fft.rfft(masses, length) ** count, length)
        self.losses = count * low + step * np.arange(length)
        self.tail_sum = count * ((1 - gamma) * mass(x[-1], 0) + gamma * mass(x[-1], 1))

    def delta(self, y):
        return float(self.masses @ -np.expm1(np.minimum(y - self.losses, 0.0))) + self.tail_sum


def rare_jumps(variance, gamma, count):
    """D of `count` runs by two grids: a function of δ that holds D(ε) against it.

    What is spread is off by the square of the step.
    """
    fine, coarse = (
        Spread(math.sqrt(variance), float(gamma), count, points) for points in (2**15, 2**14)
    )

    def is_near(epsilon, delta):
        high = fine.delta(epsilon)
        return delta * (1 - 1e-6) < high < delta * (1 + 1e-5) + coarse.delta(epsilon) - high

    return fine.delta(0.0), is_near


def finite_profile(runs, y, reverse):
    """Σ (p − e^y q)₊ over every outcome of every run; runs of [(p, q), …] in fractions."""
    grown = MP.exp(mp(y))
    total = MP.mpf(0)
    for outcome in itertools.product(*runs):
        p = math.prod((p for p, _ in outcome), start=Fraction(1))
        q = math.prod((q for _, q in outcome), start=Fraction(1))
        p, q = (q, p) if reverse else (p, q)
        total += max(mp(p) - grown * mp(q), MP.mpf(0))
    return total
