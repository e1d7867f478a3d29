"""Every remainder and every end of a ball counts: each is planted wrong here, and is seen.

A row is a module with what it says where its remainders are large: at few bits, with short
windows, on long pieces. It is asked as it is, when it must hold the truth, and once for every
remainder that is forgotten and every end that is turned round in it, when it must not.
"""

import functools
import importlib
import itertools
import math
import sys
from fractions import Fraction
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace

import mpmath
import pytest
from flint import acb, arb, arb_poly, ctx

import symacct
from symacct import laws
from symacct.arithmetic import BALL
from symacct.core.errors import PrecisionError
from symacct.mechanisms.mixtures import Overlap
from symacct.numerics.densities import quadrature
from symacct.numerics.densities.jets import Jet
from symacct.numerics.triangles import triangles
from symacct.numerics.triangles.triple import Triple
from symacct.profile.closed_form import few_laplace
from symacct.profile.losses.density.charts import DensityPair
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from tests.soak.mutants import bounds, mutants

mp = mpmath.mp.clone()
mp.dps = 20
LITTLE = mp.mpf(10) ** -15


class Copy(SourceLoader):
    """A module once more, from another text or from its own."""

    def __init__(self, original, text=None):
        self.path, self.text = original.__file__, text

    def get_filename(self, fullname):
        return self.path

    def get_data(self, path):
        if path != self.path:
            raise OSError(path)
        return Path(path).read_bytes() if self.text is None else self.text.encode()


def copied(name, text=None):
    """The module, apart from the one that others use: what steers it may be set."""
    module = module_from_spec(spec_from_loader(name, Copy(sys.modules[name], text)))
    module.__loader__.exec_module(module)
    return module


def number(x):
    """A ball's end in mpmath, to all its bits."""
    if isinstance(x, arb):
        mantissa, power = x.man_exp()
        return mp.ldexp(mp.mpf(int(mantissa)), int(power))
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def holds(found, truth):
    """Is the truth in a ball that says something?"""
    slack = LITTLE * abs(truth)
    return bool(
        found.is_finite()
        and number(found.lower()) <= truth + slack
        and number(found.upper()) >= truth - slack
    )


ROWS = {}


def row(name):
    def kept(asked):
        importlib.import_module(f"symacct.{name}")
        ROWS[name] = asked
        return asked

    return kept


def wrongs(name, text=None):
    """What a module says that is not so: (what it said, the truth)."""
    with ctx.workprec(64):
        said = list(ROWS[name](copied(f"symacct.{name}", text)))
    assert said
    return [(found, truth) for found, truth in said if not holds(found, truth)]


def few_bits(module, ask, bits):
    """What is said to so few bits: short windows, over which the integrals are sharp."""
    module.to_relative_accuracy = lambda evaluate: evaluate(bits)
    module.integrate = lambda f, points, _: quadrature.integrate(f, points, -40.0)
    module._bits = lambda *_: 64
    return ask(module)


FEW = (-9, -5, -2, 0)


def normal(x, mean=0, sigma=1):
    return mp.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * mp.sqrt(2 * mp.pi))


@functools.cache
def newtons_excess(alpha):
    """E[(1+u)^α] − 1 for u = (e^{x/2 − 1/8} − 1)/4"""

    def at(x):
        return normal(x) * (mp.mpf("0.75") + mp.exp(x / 2 - mp.mpf("0.125")) / 4) ** alpha

    return mp.quad(at, range(-12, 20, 4)) - 1


@row("numerics.densities.upper_half")
def windows_of_the_upper_half(m):
    """E_Q[(t^α − 1)(1 − t^{1−α}); L > 1]"""
    alpha, gamma, shift = Fraction(3), Fraction(9, 10), Fraction(3, 2)

    def at(x):
        t = number(1 - gamma) + number(gamma) * mp.exp(number(shift) * (x - number(shift) / 2))
        return normal(x) * (t**3 - 1) * (1 - t**-2)

    truth = mp.quad(at, [mp.mpf("0.75"), 4, 8, 12, 20])
    for bits in FEW:
        yield few_bits(m, lambda m: m.gaussian_upper_half(alpha, gamma, shift), bits), truth


@functools.cache
def sampled_entropy(gamma, sigma, other):
    """∫ m log(m/n), m and n N(0, σ²) with a share γ of N(1, σ²) and of N(other, σ²)."""
    gamma, sigma = number(gamma), number(sigma)

    def at(x):
        m, n = ((1 - gamma) * normal(x, 0, sigma) + gamma * normal(x, c, sigma) for c in (1, other))
        return m * mp.log(m / n)

    return mp.quad(at, mp.linspace(-8 * sigma - 1, 8 * sigma + 1, 9))


@row("numerics.normal.small_rate")
def series_of_few_moments(m):
    for gamma in (Fraction(1, 3), Fraction(1, 8)):
        for other in (0, -1):
            found = m.relative_entropy(gamma, Fraction(2), other, 3, 40)
            yield found, sampled_entropy(gamma, Fraction(2), other)


@row("numerics.sums.alternating")
def series_of_few_terms(m):
    """log 2, and ∫(1+x)^α dμ for the uniform law on [0, 1/2]."""
    for n in (1, 2, 3, 4):
        yield m.accelerated_sum([1 / arb(k + 1) for k in range(n)]), mp.log(2)
        yield m._plain_sum([1 / arb(k + 1) for k in range(n)], 1 / arb(n + 1)), mp.log(2)
    for alpha, tolerance in itertools.product((Fraction(5, 2), Fraction(17, 2)), (1.0, 0.1)):
        power = number(alpha) + 1
        moments = (arb(0.5) ** i / (i + 1) for i in itertools.count())
        found = m.binomial_integral(alpha, moments, arb(0.5), arb(tolerance))
        yield found, (mp.mpf("1.5") ** power - 1) / power * 2


@row("numerics.sums.theta")
def theta_of_few_terms(m):
    """At a precision of few bits, where a term is the last."""
    for sigma, x in itertools.product((0.25, 0.45, 0.5, 0.75), (Fraction(1, 3), Fraction(1, 2))):
        s = mp.mpf(sigma)

        def theta(at, s=s):
            return mp.fsum(mp.exp(-((k - number(at)) ** 2) / (2 * s * s)) for k in range(-9, 10))

        for bits in (2, 3, 4, 6):
            m.ctx = SimpleNamespace(prec=bits)
            found = m.log_theta_ratio(arb(sigma), x), m.theta_at_0(arb(sigma))
            if found[0].is_finite():
                yield found[0], mp.log(theta(0) / theta(x))
            yield found[1], theta(0)


@row("numerics.sums.local")
def products_of_polynomials(m):
    """At few bits the terms of a product are left out; its errors multiply."""
    for size, other_size in ((0, 0), (0.5, 0.25)):
        p = m.Local(arb_poly([5, 2, 1, 3]), arb(0, size))
        q = m.Local(arb_poly([4, 1, 4, 1]), arb(0, other_size))
        with ctx.workprec(4):
            found = p.times(q)
        for t, e, d in itertools.product(
            (-0.5, -0.25, 0.25, 0.5), (-size, size), (-other_size, other_size)
        ):
            one, other = 5 + 2 * t + t**2 + 3 * t**3 + e, 4 + t + 4 * t**2 + t**3 + d
            yield found(arb(t)), (1 + mp.mpf(one)) * (1 + mp.mpf(other)) - 1


@row("numerics.sums.differences")
def differences_of_few_terms(m):
    """Σ (−1)^{l−i} C(l,i) e^{K_i} at few bits, of which the first terms are left out."""
    for base, bits in itertools.product((3, 8, 40), (2, 3, 5, 8)):
        moments = [arb(base) ** (i * (i - 1) // 2) for i in range(9)]
        with ctx.workprec(bits):
            found = m._transform(moments, range(2, 9))
        for order, ball in found.items():
            truth = sum(
                (-1) ** (order - i) * mp.binomial(order, i) * mp.mpf(base) ** (i * (i - 1) // 2)
                for i in range(order + 1)
            )
            yield ball, truth
        for size in (arb(3, 2), arb(-3, 2), arb(4)):
            yield arb(0).union(arb(2) ** m._exponent(size)), number(abs(size).upper())


@row("numerics.normal.newton")
def newtons_series_of_few_terms(m):
    """At orders about a whole one, by 2 and 4 terms."""
    for middle, length in ((2, 2), (5, 2), (5, 4)):
        found = m.newton_local(middle, Fraction(1, 4), Fraction(1, 8), length)
        for t in (-0.5, 0.5):
            yield found(arb(t)), newtons_excess(middle + t)
    # The least that 1+u may be, 1−γ, to the power α − N of the least order about a whole one.
    rest = m._remainder(arb(1), 2, arb(0.5), arb(1), 4)
    yield arb(0).union(rest), mp.mpf(2) ** (4 - mp.mpf("1.5"))


@row("numerics.normal.chi")
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


@row("numerics.normal.hockey_stick")
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


@row("numerics.normal.normal_mixtures")
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


@row("numerics.densities.stretch")
def cut_integrals(m):
    """±t for a bound t of what lies beyond the first Y at which it is small."""
    stretch = SimpleNamespace(_starts=lambda: map(arb, (1, 2, 4)))
    for side in (-1, 1):
        _, rest = m.Stretch._cut(stretch, lambda y: (-y).exp(), arb(0.2))
        yield rest, side * mp.exp(-2)


@row("numerics.densities.supremum")
def suprema_to_few_bits(m):
    """Of polynomials on [0, 1], and of what goes on to ∞, to half a digit."""

    def polynomial(*factors):
        def at(x):
            total = Jet(x.sort, acb(0), acb(0))
            for factor in reversed(factors):
                total = total * x + Jet(x.sort, acb(factor), acb(0))
            return total

        return at

    for factors, top in (((0, 1, -1), 0.25), ((0, 0, 3, -4), 0.25), ((0, 3, -1.6), 1.40625)):
        for bits in (1, 2, 4):
            found = m._branch_and_bound([(polynomial(*factors), arb(0), arb(1))], arb(-9), bits)
            yield found, top
    germ = SimpleNamespace(power=-1, low=arb(1), high=arb(1), most=lambda: arb(1))
    side = SimpleNamespace(
        is_regular=False,
        is_infinite=True,
        blend=lambda *_: None,
        at_end=lambda _: lambda _: SimpleNamespace(slope=germ, value=germ),
        value=lambda _, y: 1 - 1 / y,
    )
    yield m._end(side, 2)[1], 1


@functools.cache
def sampled_excess(alpha):
    """E[(2/3 + L/3)^α] − 1, L = e^{z − 1/2}"""

    def at(z):
        return normal(z) * (2 + mp.exp(z - mp.mpf("0.5"))) ** alpha / mp.mpf(3) ** alpha

    return mp.quad(at, range(-12, 20, 4)) - 1


@row("numerics.normal.trapezoid")
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


@row("numerics.triangles.plane")
def lines_by_wide_steps(m):
    triple = Triple(Fraction(3), Fraction(1, 3), Fraction(1), Fraction(-1, 2), Fraction(0))

    def at(z):
        one, other = (
            mp.mpf(2) / 3 + mp.exp(t * z - t * t / 2) / 3 for t in (mp.one, mp.mpf("-0.5"))
        )
        return normal(z) * one**3 / other**2

    truth = mp.quad(at, range(-16, 24, 4)) - 1
    for step, tolerance in ((1.25, -30), (1.5, -30), (0.5, -2), (0.5, 0), (0.25, 1)):
        m.plan = lambda *_, step=step, tolerance=tolerance: m.PlaneRule(
            (step, 1.0), (1.0, 0.0), tolerance
        )
        yield few_bits(m, lambda m: m.line_excess(triple), 20), truth


@functools.cache
def slopes_along(delta, share):
    """Some B of a family of triangles, the last of them, and dG/dB there."""
    family = triangles.Triangles(Fraction(5, 2), Fraction(1, 2), delta)
    places = [delta**2 * (1 - share * k / 4) for k in (4, 3, 2, 1, 0)]
    slopes = [triangles.slope_at(family, square, 60) for square in places]
    return family, places, [number(slope.mid()) for slope in slopes]


@row("numerics.triangles.triangles")
def slopes_along_long_pieces(m):
    shares = Fraction(1, 2), Fraction(1, 2048)
    for share, first in itertools.product(shares, range(4)):
        family, places, slopes = slopes_along(Fraction(3, 2), share)
        found = m.on_a_piece(family, places[first], places[-1])
        for slope in slopes[first:]:
            yield found.slope, slope
        for i in range(first, 4):
            yield found.bend, (slopes[i + 1] - slopes[i]) / number(places[1] - places[0])


# --- profiles


@functools.cache
def summed_gaussians():
    """P(S = r) of three discrete Gaussians of σ = 3/2."""
    one = {k: mp.exp(-mp.mpf(2 * k * k) / 9) for k in range(-24, 25)}
    total = mp.fsum(one.values())
    law = {0: mp.one}
    for _ in range(3):
        found = {}
        for (r, p), (k, w) in itertools.product(law.items(), one.items()):
            found[r + k] = found.get(r + k, 0) + p * w / total
        law = found
    return law


@row("profile.closed_form.discrete_gaussian")
def tails_by_short_periods(m):
    law, sigma = summed_gaussians(), arb(1.5)
    m._SPARE_BITS = 64
    for s, spare in itertools.product((1, 2, 4), (-43, -41, -36)):
        m._SPARE = spare
        yield m.upper_tail(sigma, 3, s), mp.fsum(p for r, p in law.items() if r >= s)
    for last, bits in itertools.product((5, 9), (1, 2, 4)):
        m.ctx = SimpleNamespace(prec=bits)
        found = m._within_a_period(sigma, 3, 2, last)
        yield found, mp.fsum(p for r, p in law.items() if 2 <= r % (2 * last + 1) <= last)


def of_a_whole(found, known, missing):
    """What is known alone, and with all that is missing."""
    yield found, known
    yield found, known + missing


@row("profile.closed_form.integers")
def outcomes_left_out(m):
    m._every = lambda *_: ([(arb(0.5), arb(0.25))], arb(0.125))
    yield from of_a_whole(m._profile((), False, arb(0)), 0.25, 0.125)


@row("profile.closed_form.one_lattice")
def masses_rounded_down(m):
    m._law = lambda *_: (SimpleNamespace(profile=lambda y: arb(0.25)), arb(0.125))
    yield from of_a_whole(m.lattice_profile((), False, arb(0)), 0.25, 0.125)


@row("profile.fourier.contours")
def one_moment(m):
    runs = SimpleNamespace(
        mass_at_infinity=arb(0.125), moments=SimpleNamespace(least_shift=lambda *_: 2.0)
    )
    known = SimpleNamespace(runs=runs, _bounds={2.0: arb(-1)})
    found = m.Contours.by_one_moment(known, lambda: arb(1), lambda: arb(1))
    yield from of_a_whole(found, 0, 0.125 + mp.exp(-3))


@row("profile.tradeoff")
def undecided_outcomes(m):
    """H(x) from what it is a little above: it falls by 1 for 1 at most."""

    def at(x):
        if x == 2:
            raise PrecisionError("")
        return arb(0.25)

    m.ctx = SimpleNamespace(prec=3)
    found = m.HockeySticks.__call__(SimpleNamespace(_at=at), Fraction(2))
    yield from of_a_whole(found, 0.25, 0.25)
    search = SimpleNamespace(known={})  # of a height known to be small, what it is farther out
    height = FallingHeight()
    for x in (Fraction(1), Fraction(2)):
        found = m.TangentSearch._falling(search, height, x, arb(1))
        yield found, 1 / mp.mpf(4) ** int(x)
    tiny = FallingHeight(0.25)  # proved to be no more than a bound: as much as the bound, or none
    for x in (Fraction(3), Fraction(4)):
        found = m.TangentSearch._falling(SimpleNamespace(known={}), tiny, x, arb(0.125, 0.125))
        yield from ((found, 0), (found, 0.25))
    # Which direction is the largest is not told by balls that meet: both are asked.
    ways = [
        SimpleNamespace(value_without_contour=lambda y, near=near: near, delta=arb(delta))
        for near, delta in ((arb(0.5, 0.25), 0.25), (arb(0.375, 0.0625), 0.375))
    ]
    kept = m.HockeySticks._largest(SimpleNamespace(directions=ways), arb(0))
    yield BALL.maximum(arb(0), *(way.delta for way in kept)), 0.375


class FallingHeight(SimpleNamespace):
    def __init__(self, tiny=0.0):
        super().__init__(tiny=tiny)

    def is_tiny(self, x, bound):
        return bool(self.tiny)

    def __call__(self, x):
        return arb(4) ** -x.numerator


@row("profile.runs")
def the_largest_loss_in_a_ball(m):
    runs = SimpleNamespace(
        about_largest=arb(0), largest=arb(1), runs=(), mass_at_infinity=arb(0.125)
    )
    yield from of_a_whole(m.DirectedRuns.beyond_largest_loss(runs, arb(1, 0.25)), 0.125, 0.25)


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
def straight_path(runs, c, y):
    """What some runs' panels come to by nodes enough, and how high they are."""
    path = few_laplace.Path(((LaplaceLoss(Fraction(1), Fraction(1, 2)), runs),), False, c, 64)
    with ctx.workprec(path.work):
        return path.panels, number(path._straight(arb(y)).mid())


@row("profile.closed_form.few_laplace")
def panels_of_few_nodes(m):
    """By the saddle, and far from it, where the integrand is far larger at one end."""
    for runs, c, y in ((3, 2.0, 0.25), (10, 4.0, -9.0)):
        (panels, height, _), truth = straight_path(runs, c, y)
        for count in (2, 3, 4, 6):
            path = m.Path(((LaplaceLoss(Fraction(1), Fraction(1, 2)), runs),), False, c, 64)
            vars(path)["panels"] = panels, height, count
            with ctx.workprec(path.work):
                yield path._straight(arb(y)), truth


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


@row("profile.discretized.cells")
def masses_by_few_points(m):
    """All masses together are 1, and losses what they are, on panels by few points."""
    part = DensityLoss(
        DensityPair(Overlap(laws.Normal(0, 1), laws.Normal(1, "25/16")), Fraction(1, 2))
    )
    places = [-1.0, 0.0, 0.125]
    nodes = [arb(y) for y in places]
    for points in (16, 32):
        m._points = lambda *_, points=points: points
        m._integrals.cache_clear()
        for masses in zip(*m._between(part, nodes, 40.0)[0], strict=True):
            yield sum(masses, arb(0)), 1
        for one in m._integrals(part, 40.0, 64):

            def at(u, one=one):
                place = acb(one.middle + one.half * u)
                return number(one.panel.chart.loss(place).value.real.mid())

            for tiny in (0.0625, 2.0):
                for edges in m._cut(one, nodes, places, arb(tiny)):
                    for u, loss in edges:
                        yield loss, at(u)
                    for (u, low), (v, high) in itertools.pairwise(edges):
                        yield low.union(high), at((u + v) / 2)


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


@row("operations.truncated")
def tails_rounded_up(m):
    m._BITS = 2
    for first in (6, 8, 11):
        terms = [mp.binomial(20, a) * mp.mpf(3) ** (20 - a) / mp.mpf(4) ** 20 for a in range(21)]
        above, below = m.tails(20, Fraction(1, 4), first)
        yield above, mp.fsum(terms[first:])
        yield below, mp.fsum(terms[:first])
    yield arb(0).union(BALL.number(m._up(arb(1, 0.5), Fraction(1, 16)))), 1.5


@row("profile.best_of_runs")
def ends_of_one_run(m):
    def delta(epsilon):
        return arb(0.2, 0.1)

    yield arb(0).union(BALL.number(m._above(arb(1, 0.5)))), 1.5
    yield arb(0).union(m._gap(delta, arb(0.25))), 0.3
    for mean in (3, 5, 6, 7, 11):
        with ctx.workprec(4):
            share = m.share(laws.Poisson(mean), Fraction(1))
        yield BALL.number(share).union(arb(1)), mp.mpf(1) / mean


def lognormal(u):
    """φ(u) = E e^{−uW}, W = e^{Z − 1/2}."""
    return mp.quad(lambda z: normal(z) * mp.exp(-u * mp.exp(z - 0.5)), [-9, -4, 0, 4, 9])


@row("numerics.lognormal.transform")
def lognormal_from_above(m):
    m._BOUND_BITS, m._BOUND_NEED = 20, 1.0
    law = m.Lognormal(Fraction(1))
    for u in (0.5, 1, 3):
        yield law.log_above(arb(u)).union(arb(-99)), mp.log(lognormal(u))
    with ctx.workprec(64):
        for near in (4, 8, 16):
            (value,) = law.values([acb(1, 0.5)], [near])
            yield value.real, mp.re(lognormal(mp.mpc(1, 0.5)))


@row("numerics.lognormal.shortfall")
def shortfall_of_wide_pieces(m):
    law = sys.modules["symacct.numerics.lognormal.transform"].Lognormal(Fraction(1))
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


@row("numerics.lognormal.moments")
def lognormal_moments(m):
    m._SPARE, m._FEW_BITS = 0.0, 30
    law = sys.modules["symacct.numerics.lognormal.transform"].Lognormal(Fraction(1))
    for z in (Fraction(-1, 2), Fraction(-3), Fraction(1, 2), Fraction(5, 2)):
        for bits in (3, 5):
            found = m.LognormalMoments(law, 1, bits).moment(z)
            yield found, mp.exp(number(z * (z - 1) / 2))


#: What steers, costs time, or refuses: no number rests on it.
STEERING = {
    # The least place on which nodes are chosen; the last unit of 128 bits, and of 96.
    "numerics.lognormal.transform": [
        "(u * turn).real.lower()",
        "value.real.upper().log().upper()",
    ],
    "numerics.lognormal.shortfall": ["most.upper()"],
    # What is beyond the last place is far below the error wherever its bound is finite.
    "numerics.lognormal.moments": ["up_to(right)", "geometric_tail((theta * h * end)"],
    "profile.best_of_runs": ["rate.lower()"],
    "numerics.sums.differences": ["0 < abs(log_moment).upper()"],
    # D falls: of a ball of y what it is at the lower end, 1 − a, is more than at any other.
    "operations.truncated": ["cut.min(kept).lower()"],
    # What a line is high, of 64 bits, of which nodes are chosen so that it is far below the error.
    "profile.losses.normal_mixtures": ["(total * shrunk * (height ** 2 / 2).exp()).upper()"],
    "profile.losses.one_sample": ["up_to(rate * b.max(arb(0)))"],
}
#: What the tests of whole profiles and tests/test_bounds_of_balls.py see.
ELSEWHERE = {
    "numerics.lognormal.shortfall": [
        "within(off)",
        "rho.lower() \u2192",
        "(u * acb(0, -s * y).exp()).real.lower()",
    ],
    "profile.closed_form.few_laplace": [
        "within(split.moved)",
        "within(sample.error)",
        "inside.lower()",
        "inside.upper()",
        "left + self._off_ray",
    ],
    "profile.losses.density.crossings": ["low.union(high)"],
    "profile.losses.density.densities": ["arb(arc).union(arb(arc + 1))"],
    "profile.losses.density.monotone_mixture": ["left.union(right)"],
    "profile.tradeoff": ["top.union("],
    "profile.losses.sampled_gaussian.many": [
        "acb_within(self._error",
        "u.upper()",
        "theta.upper()",
    ],
}


#: Modules whose remainders and ends are seen in tests/test_bounds_of_balls.py and in those of
#: whole sums and profiles, as CONTRIBUTING.md records; three of their ends only steer.
HELD = {
    "numerics": {
        "densities.discrete", "densities.sides", "order_search",
        "sums.majorant", "sums.refine",
        "sums.truncation", "triangles.lattice", "triangles.slopes", "triangles.worst",
    },
    "profile": {
        "answer",  # its ends are last units of balls, rounded up where a pair is made of them
        "closed_form.binomial", "discretized.connect_the_dots", "discretized.grid",
        "fourier.alternatives", "fourier.contour", "fourier.starting", "gaussian_tradeoff",
        "losses.allocated", "losses.density.by_parts", "losses.laplace", "losses.laplace_ends",
        "losses.noisy_sample",
        "losses.sampled_gaussian.frame", "losses.sampled_gaussian.loss", "roots",
        "sums.power_sums",
    },
}  # fmt: skip


@pytest.mark.parametrize("room", HELD)
def test_every_module_that_bounds_is_a_row_or_known(room):
    top = Path(symacct.__file__).parent
    names = {
        ".".join(path.relative_to(top).with_suffix("").parts)
        for path in Path(top, room).rglob("*.py")
        if any(mutants(path.read_text(), bounds))
    }
    held = {f"{room}.{name}" for name in HELD[room]}
    assert names - set(ROWS) == held


def planted():
    for name in ROWS:
        source = Path(sys.modules[f"symacct.{name}"].__file__).read_text()
        for description, text in mutants(source, bounds):
            known = STEERING.get(name, []) + ELSEWHERE.get(name, [])
            if any(line in description for line in known):
                continue
            yield pytest.param(name, text, id=f"{name}:{description}")


@pytest.mark.parametrize("name", ROWS)
def test_what_is_said_with_large_remainders_holds_the_truth(name):
    assert not wrongs(name)


@pytest.mark.parametrize(("name", "text"), list(planted()))
def test_what_is_forgotten_or_turned_round_is_seen(name, text):
    assert wrongs(name, text)
