"""Privacy profiles, where much is left out."""

import functools
import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import acb, arb, ctx

from symacct import laws
from symacct.kernel.arithmetic import BALL
from symacct.kernel.errors import PrecisionError
from symacct.mechanisms.pair import Overlap
from symacct.profile import few_laplace
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.laplace import LaplaceLoss
from tests.remainders.rows import at_least, mp, number, of_a_whole, row


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


@row("profile.losses.integer_noise:discrete Gaussian noise")
def tails_by_short_periods(m):
    law, sigma = summed_gaussians(), arb(1.5)
    m._FOURIER_BITS = 64
    for s, spare in itertools.product((1, 2, 4), (-43, -41, -36)):
        m._FOURIER_NATS = spare
        yield m.upper_tail(sigma, 3, s), mp.fsum(p for r, p in law.items() if r >= s)
    for last, bits in itertools.product((5, 9), (1, 2, 4)):
        m.ctx = SimpleNamespace(prec=bits)
        found = m._within_a_period(sigma, 3, 2, last)
        yield found, mp.fsum(p for r, p in law.items() if 2 <= r % (2 * last + 1) <= last)


@row("profile.losses.integer_noise:few runs of noise on whole numbers")
def outcomes_left_out(m):
    m._every = lambda *_: ([(arb(0.5), arb(0.25))], arb(0.125))
    yield from of_a_whole(m._profile((), False, arb(0)), 0.25, 0.125)


@row("profile.closed_form:one lattice")
def masses_rounded_up(m):
    """Both ends of what D may be, of masses that are 9/8 in all and of 1/4 that is cut off."""
    m._law = lambda *_: (SimpleNamespace(profile=lambda y: arb(0.5), bits=3), 9, 2)
    found = m.lattice_profile((), False, arb(0))
    yield from ((found, 0.125), (found, 0.75))


@row("profile.contours:the strategy")
def one_moment(m):
    runs = SimpleNamespace(
        mass_at_infinity=arb(0.125), moments=SimpleNamespace(lowest_shift=lambda *_: 2.0)
    )
    known = SimpleNamespace(runs=runs, _bounds={2.0: arb(-1)})
    found = m.Contours.moment_bound(known, lambda: arb(1), lambda: arb(1))
    yield from of_a_whole(found, 0, 0.125 + mp.exp(-3))


@row("profile.tradeoff:trade-offs")
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


@row("profile.runs:runs in one direction")
def the_largest_loss_in_a_ball(m):
    runs = SimpleNamespace(
        about_largest=arb(0), largest=arb(1), runs=(), mass_at_infinity=arb(0.125)
    )
    yield from of_a_whole(m.DirectedRuns.beyond_largest_loss(runs, arb(1, 0.25)), 0.125, 0.25)


@row("profile.runs:runs in one direction")
def the_least_delta_of_a_ball(m):
    runs = SimpleNamespace(exact_mass_at_infinity=None, mass_at_infinity=arb(0.125, 0.0625))
    yield at_least(arb(float(m.DirectedRuns._smallest_delta(runs))), mp.mpf("0.1875"))


@functools.cache
def straight_path(runs, c, y):
    """What some runs' panels come to by nodes enough, and how high they are."""
    path = few_laplace.Path(((LaplaceLoss(Fraction(1), Fraction(1, 2)), runs),), False, c, 64)
    with ctx.workprec(path.work):
        return path.panels, number(path._straight(arb(y)).mid())


@row("profile.few_laplace:the sum")
def panels_of_few_nodes(m):
    """By the saddle, and far from it, where the integrand is far larger at one end."""
    for runs, c, y in ((3, 2.0, 0.25), (10, 4.0, -9.0)):
        (panels, height, _), truth = straight_path(runs, c, y)
        for count in (2, 3, 4, 6):
            path = m.Path(((LaplaceLoss(Fraction(1), Fraction(1, 2)), runs),), False, c, 64)
            vars(path)["panels"] = panels, height, count
            with ctx.workprec(path.work):
                yield path._straight(arb(y)), truth


@row("profile.grids:cells")
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


@row("profile.selected:bounds of the best run")
def ends_of_one_run(m):
    def delta(epsilon):
        return arb(0.2, 0.1)

    yield arb(0).union(BALL.number(m._above(arb(1, 0.5)))), 1.5
    yield arb(0).union(m._gap(delta, arb(0.25))), 0.3
    for mean in (3, 5, 6, 7, 11):
        with ctx.workprec(4):
            share = m.share(laws.Poisson(mean), Fraction(1))
        yield BALL.number(share).union(arb(1)), mp.mpf(1) / mean
