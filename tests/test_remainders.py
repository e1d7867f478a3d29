"""Every remainder and every end of a ball counts: each is planted wrong here, and is seen.

A row is a module with what it says where its remainders are large: at few bits, with short
windows, on long pieces. It is asked as it is, when it must hold the truth, and once for every
remainder that is forgotten and every end that is turned round in it, when it must not.
"""

import functools
import importlib
import itertools
import sys
from fractions import Fraction
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_loader
from types import SimpleNamespace

import mpmath
import pytest
from flint import acb, arb, arb_poly, ctx

from symacct.numerics.densities import quadrature
from symacct.numerics.densities.jets import Jet
from symacct.numerics.triangles import triangles
from symacct.numerics.triangles.triple import Triple
from tests.soak.mutants import bounds, mutants

mp = mpmath.mp.clone()
mp.dps = 20
LITTLE = mp.mpf(10) ** -15
ROOM = "symacct.numerics"


class Copy(SourceLoader):
    """A module once more, from another text or from its own."""

    def __init__(self, original, text=None):
        self.path, self.text = original.__file__, text

    def get_filename(self, fullname):
        return self.path

    def get_data(self, path):
        if path != self.path:
            raise OSError(path)
        return open(path, "rb").read() if self.text is None else self.text.encode()


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
        importlib.import_module(f"{ROOM}.{name}")
        ROWS[name] = asked
        return asked

    return kept


def wrongs(name, text=None):
    """What a module says that is not so: (what it said, the truth)."""
    with ctx.workprec(64):
        said = list(ROWS[name](copied(f"{ROOM}.{name}", text)))
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


@row("densities.quadrature")
def windows_of_integrals(m):
    """E_Q[m log m] over windows of one deviation and less."""
    q, sigma = Fraction(9, 10), Fraction(2)

    def at(z):
        ratio = number(1 - q) + number(q) * mp.exp((2 * z - 1) / 8)
        return normal(z, 0, 2) * ratio * mp.log(ratio)

    truth = mp.quad(at, range(-24, 32, 8))
    for reach in (0.25, 0.5, 1.0):
        m.reach_of = lambda _, reach=reach: reach
        yield few_bits(m, lambda m: m.sampled_gaussian_kl(q, sigma), 0), truth


@row("densities.upper_half")
def windows_of_the_upper_half(m):
    """E_Q[(t^α − 1)(1 − t^{1−α}); L > 1]"""
    alpha, gamma, shift = Fraction(3), Fraction(9, 10), Fraction(3, 2)

    def at(x):
        t = number(1 - gamma) + number(gamma) * mp.exp(number(shift) * (x - number(shift) / 2))
        return normal(x) * (t**3 - 1) * (1 - t**-2)

    truth = mp.quad(at, [mp.mpf("0.75"), 4, 8, 12, 20])
    for bits in FEW:
        yield few_bits(m, lambda m: m.gaussian_upper_half(alpha, gamma, shift), bits), truth


@row("normal.opposite")
def windows_of_opposite_mixtures(m):
    gamma, delta = Fraction(1, 2), Fraction(3, 2)

    def at(x):
        u, w = (mp.exp(side * mp.mpf(3) / 2 * x - mp.mpf(9) / 8) / 2 for side in (1, -1))
        return normal(x) * (u - w) * mp.log((u + mp.mpf("0.5")) / (w + mp.mpf("0.5")))

    truth = mp.quad(at, [0, 2, 4, 8, 16])
    for bits in FEW:
        yield few_bits(m, lambda m: m.opposite_kl(gamma, delta), bits), truth


@row("sums.alternating")
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


@row("sums.theta")
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


@row("sums.local")
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


@row("sums.differences")
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


@row("normal.newton")
def newtons_series_of_few_terms(m):
    """At orders about a whole one, by 2 and 4 terms."""
    for middle, length in ((2, 2), (5, 2), (5, 4)):
        found = m.newton_local(middle, Fraction(1, 4), Fraction(1, 8), length)
        for t in (-0.5, 0.5):
            yield found(arb(t)), newtons_excess(middle + t)


@row("normal.chi")
def chi_divergences_by_wide_steps(m):
    """E[(e^{sx − s²/2} − 1)^l] by the widest steps, and a side of a sum by short windows."""
    for shift, l in itertools.product((Fraction(1), Fraction(1, 2)), (2, 4)):
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


@row("normal.normal_mixtures")
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


@row("densities.stretch")
def cut_integrals(m):
    """±t for a bound t of what lies beyond the first Y at which it is small."""
    stretch = SimpleNamespace(_starts=lambda: map(arb, (1, 2, 4)))
    for side in (-1, 1):
        _, rest = m.Stretch._cut(stretch, lambda y: (-y).exp(), arb(0.2))
        yield rest, side * mp.exp(-2)


@row("densities.supremum")
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


@row("normal.trapezoid")
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


@row("triangles.plane")
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


@row("triangles.triangles")
def slopes_along_long_pieces(m):
    shares = Fraction(1, 2), Fraction(1, 2048)
    for share, first in itertools.product(shares, range(4)):
        family, places, slopes = slopes_along(Fraction(3, 2), share)
        found = m.on_a_piece(family, places[first], places[-1])
        for slope in slopes[first:]:
            yield found.slope, slope
        for i in range(first, 4):
            yield found.bend, (slopes[i + 1] - slopes[i]) / number(places[1] - places[0])


#: What steers, costs time, or refuses: no number rests on it.
STEERING = {
    "sums.differences": ["0 < abs(log_moment).upper()"],
}


def planted():
    for name in ROWS:
        source = open(sys.modules[f"{ROOM}.{name}"].__file__).read()
        for description, text in mutants(source, bounds):
            if any(line in description for line in STEERING.get(name, ())):
                continue
            yield pytest.param(name, text, id=f"{name}:{description}")


@pytest.mark.parametrize("name", ROWS)
def test_what_is_said_with_large_remainders_holds_the_truth(name):
    assert not wrongs(name)


@pytest.mark.parametrize(("name", "text"), planted())
def test_what_is_forgotten_or_turned_round_is_seen(name, text):
    assert wrongs(name, text)
