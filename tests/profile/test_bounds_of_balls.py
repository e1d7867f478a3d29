"""Bounds are bounds where balls are wide: upper ends that are taken at the lower one are seen."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest
import sympy
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import PoissonSubsample, laws
from symacct.adversary import search
from symacct.analysis import triangles, worst_triangle
from symacct.analysis.densities import Entropy, ReverseEntropy
from symacct.analysis.triangles import Gram
from symacct.kernel.arithmetic.ball import (
    acb_within,
    ceiling,
    ends_of,
    float_above,
    floor,
    normal_tail,
    up_to,
    within,
)
from symacct.kernel.errors import DomainError
from symacct.kernel.sums import differences
from symacct.kernel.sums.binomial_sums import Majorant, Weights, affine_sum, at_rates
from symacct.kernel.theorem_registry import always
from symacct.mechanisms import DiscreteGaussian, DiscreteLaplace, Skellam
from symacct.mechanisms.pair import MixtureDirection, Overlap
from symacct.profile import few_laplace, grids
from symacct.profile.losses import density, finite, laplace, summed
from symacct.profile.losses.density import RHO, DensityLoss, DensityPair, MonotoneMixture
from symacct.profile.losses.many_gaussians import log_most
from symacct.profile.pairs import products
from symacct.profile.roots import convex_root, enclosed
from tests.thinning import examples

mp = mpmath.mp.clone()
mp.dps = 30
LITTLE = mp.mpf(10) ** -12


def number(x):
    """A ball's end in mpmath, to all its bits."""
    mantissa, power = x.man_exp()
    return mp.ldexp(mp.mpf(int(mantissa)), int(power))


# --- an error that is a wide ball counts by its upper end

WIDE = arb(1, 0.9)


def off(values):
    return min(number(x.real.rad()) for x in values)


def test_a_sample_that_is_off_by_a_wide_ball_is_off_by_its_upper_end():
    """Of every part that adds the error of a sample to its moments."""
    known = SimpleNamespace(losses=[arb(1)], weights=[arb(1)], error=WIDE)
    line = SimpleNamespace(a=1.0, h=1.0, last=1, first=0, nodes=range(2))
    contour = SimpleNamespace(reverse=False)
    found = few_laplace.Path._moments_at(contour, known, [arb(1)], [arb(0.1)])
    assert off(found[0]) >= 1.9
    part = SimpleNamespace(sample=lambda *asked: known)
    assert off(summed.SummedLoss.transform(part, line, 10.0)) >= 1.9


# --- log F(a) of atoms, from what few outcomes give

NOISE = st.one_of(
    st.builds(DiscreteLaplace, st.integers(1, 4)),
    st.builds(DiscreteGaussian, st.integers(1, 4)),
    st.builds(Skellam, st.integers(1, 9)),
)


def masses(node):
    """(p, q) of a sum of the outcomes, in mpmath, by the definition of the law."""
    far = 60 if isinstance(node, Skellam) else 150
    k = range(-far, far + 1)
    if isinstance(node, DiscreteLaplace):
        weight = {j: mp.exp(-mp.mpf(abs(j)) / int(node.b)) for j in range(-far - 1, far + 1)}
    elif isinstance(node, DiscreteGaussian):
        grids = 2 * mp.mpf(int(node.sigma)) ** 2
        weight = {j: mp.exp(-mp.mpf(j * j) / grids) for j in range(-far - 1, far + 1)}
    else:
        weight = {j: mp.besseli(abs(j), int(node.mu)) for j in range(-far - 1, far + 1)}
    total = mp.fsum(weight.values())
    return [(weight[j - 1] / total, weight[j] / total) for j in k if weight[j] and weight[j - 1]]


@examples(6, 60)
@given(NOISE, st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 50)]), st.floats(-1, 3))
def test_what_bounds_the_moments_of_atoms_is_not_below_them(node, gamma, a):
    """|F(a+it)| <= F(a), at every t again and again about as large."""
    m = node if gamma == 1 else PoissonSubsample(node, gamma)
    (part,) = {part for product in products(m) for part, _ in product.runs}
    with ctx.workprec(64):
        bound = part.decay(a, 1.0, 0.25)
    rate = mp.mpf(gamma.numerator) / gamma.denominator
    truth = mp.log(mp.fsum(q * (1 - rate + rate * p / q) ** mp.mpf(a) for p, q in masses(node)))
    assert number(bound.upper()) >= truth - mp.mpf(10) ** -15


# --- who is asked whether a theorem applies


@pytest.mark.parametrize("reads", ["itself", "below"])
@pytest.mark.parametrize("by_condition", [False, True])
@pytest.mark.parametrize("applies", [always, lambda node: "never"])
def test_only_a_theorem_with_a_condition_on_the_operation_is_asked(
    monkeypatch, reads, by_condition, applies
):
    """The share of candidates it applies to: 1 unasked, else that of those it says yes to."""
    asked = []

    def why_not(node, alpha):
        asked.append(node)
        return None if node == 1 else "no"

    theorem = SimpleNamespace(applies=applies, reads=reads, why_not=why_not)
    scheme = SimpleNamespace(by_condition=by_condition)
    monkeypatch.setattr(search, "_operations", lambda scheme: [1, 2, 2, 2])
    share = search.Task(theorem, scheme, 2, None).suitable
    conditional = applies is not always and reads == "below" and not by_condition
    assert share == (0.25 if conditional else 1)
    assert asked == ([1, 2, 2, 2] if conditional else [])


# --- a bound from wide balls is one of every number in them

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=2)


def inside(x, share):
    """A number in a ball."""
    return (x.lower() + arb(share) * (x.upper() - x.lower())).mid()


def wide(low, high):
    ends = st.floats(low, high)
    return st.tuples(ends, ends).map(lambda ends: arb(ends[0]).union(arb(ends[1])))


@examples(16, 400)
@given(wide(1e-3, 1), wide(1e-3, 3), SHARES, st.sampled_from([-2.0, 0.5, 3.0]), st.floats(0, 5))
def test_the_bound_of_a_mixtures_logarithm_holds_in_the_balls(u, theta, shares, a, t):
    """|(1+ve^{iφ})^z| at the ends of the balls, and on the way to them."""
    bound = log_most(arb(a), t, u, theta)
    v, phi = (number(inside(x, share)) for x, share in zip((u, theta), shares, strict=True))
    turned = 1 + v * mp.expj(phi)
    if bound.is_finite():
        truth = a * mp.log(abs(turned)) + t * abs(mp.arg(turned))
        assert number(bound.upper()) >= truth - mp.mpf(10) ** -12


@examples(16, 400)
@given(wide(1e-3, 9), wide(1e-3, 9), SHARES)
def test_two_weights_side_by_side_hold_in_the_balls(u, v, shares):
    x, y = (number(inside(z, share)) for z, share in zip((u, v), shares, strict=True))
    assert number(grids.parallel(u, v).upper()) >= x * y / (x + y) - mp.mpf(10) ** -12


@examples(8, 200)
@given(wide(-9, 9), wide(-9, 9))
def test_the_nodes_of_cells_reach_beyond_their_losses(loss, other):
    """Whatever their balls hold, and so that both laws keep their masses."""
    step, cells = arb(0.25), []
    for low, high in (sorted((x.lower(), x.upper()), key=float) for x in (loss, other)):
        cells.append(grids.LineCell(arb(1), (-(low + high) / 2).exp(), low, high))
    found = grids.of_cells(cells, step, arb(0))
    last = found.first + step * (len(found.masses) - 1)
    assert all(found.first <= cell.low and cell.high <= last for cell in cells)
    assert all(cell.high - cell.low <= found.moved * step for cell in cells)


MASSES = st.builds(lambda x, share: arb(x, x * share), st.floats(1e-9, 1), st.floats(0, 0.25))


@examples(8, 200)
@given(st.lists(st.tuples(MASSES, MASSES), min_size=2, max_size=6), st.floats(1, 9))
def test_what_a_group_leaves_out_and_its_losses_hold_in_the_balls(laws, need):
    found = grids._kept(laws, need)
    kept = [cell.p for cell in found.cells]
    left = [p for p, _ in laws if not any(p is one for one in kept)]
    assert number(found.left_out.upper()) >= sum(number(p.upper()) for p in left) * (1 - LITTLE)
    for cell in found.cells:
        for p, q in ((cell.p.lower(), cell.q.upper()), (cell.p.upper(), cell.q.lower())):
            loss = mp.log(number(p) / number(q))
            low, high = number(cell.low), number(cell.high)
            assert low - mp.mpf(10) ** -9 <= loss <= high + mp.mpf(10) ** -9


def exactly(x):
    mantissa, power = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(power)


BALLS = st.builds(lambda x, size: arb(x, size), st.floats(-1e9, 1e9), st.floats(0, 1e3))


@examples(16, 400)
@given(BALLS)
def test_what_leaves_a_ball_is_rounded_to_its_side(x):
    """Ends, whole numbers and floats, in fractions; and the balls of what bounds say."""
    low, high = map(exactly, ends_of(x))
    assert (low, high) == (exactly(x.lower()), exactly(x.upper()))
    assert (floor(x), ceiling(x)) == (math.floor(low), math.ceil(high))
    assert high < Fraction(float_above(x)) <= high + Fraction(1, 10**6)
    assert grids._up(x, 20) >= high * 2**20
    assert grids._up(x.mid(), 20) == math.ceil(exactly(x.mid()) * 2**20)
    assert up_to(x).contains(0)
    assert up_to(x).contains(x)
    for part in (within(x), acb_within(x).real, acb_within(x).imag):
        assert part.contains(x)
        assert part.contains(-x)
    assert mp.mpf(2) ** differences._exponent(x) >= max(abs(number(x.lower())), number(x.upper()))


@examples(16, 400)
@given(wide(-2, 9), st.integers(0, 6))
def test_how_many_atoms_lie_below_a_ball(at, count):
    least, most = few_laplace.Path._below(SimpleNamespace(_counts=[count]), at)
    low, high = map(exactly, ends_of(at))
    assert least == sum(j < low for j in range(count + 1))
    assert most == sum(j <= high for j in range(count + 1))


@dataclass(frozen=True)
class BoundCase:
    """What one call says, and what lies in it: numbers of which some are next to its ends."""

    found: arb
    truths: list[object]


def rate_cases():
    """(u + v)³ by a sum that balls that reach 0 do not ask: it does not decrease in either."""
    curve = SimpleNamespace(
        first=1, moment=lambda _: arb(1), terms=SimpleNamespace(at=lambda *_: 1)
    )
    for u, v in itertools.product((arb(0.5, 0.25), arb(0.25)), (arb(0.25, 0.5), arb(0.25, 0.25))):
        found = at_rates(curve, 3, (u, v), lambda rates: sum(rates) ** 3)
        rates = itertools.product(*([max(x.lower(), arb(0)), x.upper()] for x in (u, v)))
        yield BoundCase(found, [sum(map(number, each)) ** 3 for each in rates])


class ConvexMoments(SimpleNamespace):
    """K(l) = l²/500, or l next to a line, known at cuts as a majorant knows it."""

    slope, interpolated = Majorant.slope, Majorant.interpolated

    def neighbours(self, left, right):
        return max(left - 10, 1), right + 10

    def anchor(self, left):
        return left


def moment_cases():
    def known(l):
        return arb(l) ** 2 / 500

    curve = ConvexMoments(moments={l: known(l) for l in (1, 30, 40, 50, 60)})
    for order, found in curve.interpolated((40, 50), (41, 49)).items():
        # As high as the chord and as low as the lines that go on from beside it: each is convex.
        chord = mp.mpf(1600 + 90 * (order - 40)) / 500
        beside = mp.mpf(max(1600 + 70 * (order - 40), 2500 - 110 * (50 - order))) / 500
        yield BoundCase(found, [chord, beside])


def affine_cases():
    """Σ C(α,l) 2^{−α} (e^{K_l} − s) where K is hardly a line, as its ball hides, or is steep."""
    low, middle, high, alpha = 800, 1000, 1200, 2000
    for heights, off, shift in (
        ((0.08, 0.08, 0.12), 0.01, 0),
        ((0.08, 0.12, 0.12), 0.01, 0),
        ((3, 6.5, 10), 0.002, 1),
    ):
        start, turn, end = heights
        curve = SimpleNamespace(
            first=2,
            terms=SimpleNamespace(factor=arb(1), shift=arb(shift)),
            chain=lambda run: [(low, middle), (middle, high)],
            is_affine=lambda *_: True,
            gap=lambda *_: arb(0),
            moments={low: arb(start), middle: arb(turn), high: arb(end, off)},
            slope=lambda *_, rise=end - start: arb(rise) / (high - low),
        )
        found = affine_sum(curve, Weights(alpha, (arb(0.5), arb(0.5))), (low, high))
        truth = mp.mpf(0)
        for l in range(low, high + 1):
            first, last = (start, turn) if l <= middle else (turn, end)
            log = first + (last - mp.mpf(first)) * ((l - low) % 200 or (l > low) * 200) / 200
            truth += mp.binomial(alpha, l) * mp.mpf(2) ** -alpha * (mp.exp(log) - shift)
        yield BoundCase(found, [truth])


NORMALS = Overlap(laws.Normal(0, 1), laws.Normal(1, "5/4"))


def normal_charts():
    """Charts of a pair whose loss −x²/2 + 8(x−1)²/25 + log(5/4) turns round, and the loss at u."""
    pair = DensityPair(NORMALS, Fraction(1))
    with ctx.workprec(53):
        return pair, pair.charts(((1.0, -60.0),))[0]


def at(chart, u):
    """(log q, L) at an exact place."""
    with ctx.workprec(90):
        found = chart.logs(acb(u))
        return number(found.q.value.real.mid()), number(found.loss.value.real.mid())


def places_in(low, high, count=40):
    return [(low + (high - low) * arb(i) / count).mid() for i in range(count + 1)]


def chart_cases():
    """∫g and ∫|ψ′| of cells as they come, and what one of them is at most at its places."""
    _, charts = normal_charts()
    for chart, a in itertools.product(charts, (1.5, -0.75)):
        edges = places_in(chart.low, chart.high, 12)
        for low, high in itertools.pairwise(edges):
            cell, _ = density._cell(chart, a, low, high, arb(2) ** -40)
            places = places_in(low, high, 64)
            g = [mp.exp(q + mp.mpf(a) * loss) for q, loss in (at(chart, u) for u in places)]
            width = number((high - low).mid()) / 64
            # Of a convex or a smooth g the lower sums are less than the integral.
            yield BoundCase(up_to(cell.mass), [width * sum(map(min, g, g[1:]))])
            if cell.variation.is_finite():
                psi = [number(density._psi(chart, a, u).mid()) for u in places]
                moved = sum(abs(y - x) for x, y in itertools.pairwise(psi))
                yield BoundCase(up_to(cell.variation), [moved * (1 - LITTLE)])


def panel_cases():
    """The ellipse on which q e^{aL} is bounded."""
    pair, _ = normal_charts()
    part = DensityLoss(pair)
    with ctx.workprec(64):
        for one in grids._integrals(part, 12.0, 64):
            chart, (low, high) = one.panel.chart, one.panel.ends
            sizes, far = ((1.0, 0.5), (-0.5, 0.0)), 2.0
            bound = density._log_most(chart, sizes, far, low, high)
            if bound == math.inf:
                continue
            for i in range(0, 64, 3):
                angle = arb.pi() * i / 64
                flat, steep = (RHO + 1 / RHO) / 2, (RHO - 1 / RHO) / 2
                half = (high - low) / 2
                place = acb(
                    (low + high) / 2 + half * flat * angle.cos(), half * steep * angle.sin()
                )
                log_q, loss = chart.logs(place)
                logs = [
                    log_q.value.real + a * loss.value.real + far * abs(loss.value.imag) - size
                    for a, size in sizes
                ]
                lower = min(0.0, bound) - 1000
                truths = [number(x.mid()) - LITTLE for x in logs]
                yield BoundCase(arb(lower).union(arb(bound)), truths)


CASES = {
    "rates that reach 0": rate_cases,
    "moments between cuts": moment_cases,
    "a run that is a line": affine_cases,
    "cells of charts": chart_cases,
    "panels": panel_cases,
}


@pytest.mark.parametrize("cases", CASES.values(), ids=CASES)
def test_what_is_said_of_wide_balls_holds_what_is_in_them(cases):
    """Of each function whose bound takes an end, against mpmath at the places inside."""
    with ctx.workprec(64):
        every = list(cases())
    assert every
    for case in every:
        assert not case.found.is_nan()
        for truth in case.truths:
            assert number(case.found.lower()) <= truth * (1 + LITTLE * mp.sign(truth))
            assert number(case.found.upper()) >= truth * (1 - LITTLE * mp.sign(truth))


@pytest.mark.parametrize("y", [0.05, 0.12, 0.2])
def test_the_intervals_above_a_loss_hold_all_that_is_above_it(y):
    """Also where balls decide nothing, and where y is a wide ball."""
    _, charts = normal_charts()
    for chart, radius in itertools.product(charts, (0.0, 0.01)):
        with ctx.workprec(53):
            found = list(density._positive(chart, arb(y, radius), chart.low, chart.high, 0))
        for u in places_in(chart.low, chart.high, 200):
            loss = at(chart, u)[1]
            if loss > y + radius + 1e-9:
                assert any(low <= u <= high or low.overlaps(u) for low, high in found)
            if loss < y - radius - 1e-9:
                assert not any(low < u < high for low, high in found)
        with ctx.workprec(53):
            [pair] = density._positive(chart, arb(y, 9), chart.low, chart.high, ctx.prec)
            slope = chart.logs(acb(chart.low.union(chart.high))).loss.slope.real
        held = any if slope > 0 or slope < 0 else all
        for u in places_in(chart.low, chart.high, 4)[1:-1]:
            if at(chart, u)[1] > y - 9:
                assert held(end.contains(u) for end in pair) or pair[0] < u < pair[1]


@examples(5, 100)
@given(st.floats(0.05, 3), st.floats(1e-6, 0.5), st.booleans(), st.sampled_from(["1/3", "1"]))
def test_the_profile_of_laplace_noise_next_to_its_end(shift, radius, reverse, gamma):
    """A ball that the end of the support lies in holds what is on either side of it."""
    part = laplace.LaplaceLoss(Fraction(shift), Fraction(gamma))
    with ctx.workprec(64):
        end = -part.largest(not reverse)
        for y in (end + arb(0, radius), part.largest(reverse) + arb(0, radius)):
            found = part.hockey_stick(y, reverse)
            for inside_y in ends_of(y):
                assert found.overlaps(part.hockey_stick(inside_y, reverse))


@examples(5, 100)
@given(st.floats(0.1, 3), st.floats(0.05, 0.9), st.floats(0.05, 2))
def test_a_threshold_of_normal_laws_is_enclosed(apart, weight, loss):
    """log(1−w + w e^{dx − d²/2}) = ℓ at x = (log((e^ℓ − 1 + w)/w) + d²/2)/d."""
    pair = MonotoneMixture(1 - arb(weight), [(arb(weight), arb(apart))])
    with ctx.workprec(64):
        found = pair._threshold(arb(loss))
    d, w = mp.mpf(apart), mp.mpf(weight)
    truth = (mp.log((mp.expm1(loss) + w) / w) + d**2 / 2) / d
    assert number(found.lower()) <= truth <= number(found.upper())


@examples(5, 100)
@given(st.floats(0.1, 2), st.floats(1e-9, 0.01))
def test_a_root_of_a_wide_function_holds_every_root(rate, width):
    """e^{−ry} = δ, the function known up to a share: the roots of all functions in it."""
    goal = arb(0.25)
    with ctx.workprec(64):
        found = convex_root(lambda y: (-rate * y).exp() * (1 + arb(0, width)), goal, arb(1))
    for share in (1 - width, 1 + width):
        root = -mp.log(mp.mpf(0.25) / mp.mpf(share)) / rate
        if found is not None:
            assert number(found.lower()) <= root * (1 + LITTLE)
            assert number(found.upper()) >= root * (1 - LITTLE)
    with ctx.workprec(64):
        ends = ends_of(enclosed(lambda y: (-rate * y).exp(), goal, (arb(0), arb(64) / rate)))
    assert number(ends[0]) < -mp.log(0.25) / rate < number(ends[1])


@pytest.mark.parametrize("x", [2.0, 4e3, 8e3, 1e7])
def test_a_tail_of_a_ball_is_as_wide_as_the_tails_of_its_ends(x):
    """However far: of flint's erfc of a ball not even the exponent is known at 10⁷."""
    with ctx.workprec(200), mp.workdps(60):
        low, high = (number(end) for end in ends_of(normal_tail(arb(x, 1e-30))))
        below, above = (mp.erfc((x + mp.mpf(off)) / mp.sqrt(2)) / 2 for off in (1e-30, -1e-30))
        assert low <= below < above <= high
        assert high - low < mp.mpf("1.01") * (above - below)


@pytest.mark.parametrize("spread", [0, 1])
def test_what_is_to_spare_below_an_end_is_at_most_the_rise_to_it(spread, monkeypatch):
    """Of two values that are wide balls: where the rise may be 0 nothing is to spare."""
    asked = []
    triangles = SimpleNamespace(
        ends_in_floats=(0.0, 1.0), end_excesses=(arb(1, spread), arb(2, spread))
    )
    looks = SimpleNamespace(
        triangles=triangles,
        top=Fraction(1),
        equilateral=lambda: SimpleNamespace(low=Fraction(1, 2)),
        stays_below=lambda low, high, spare: asked.append(spare),
    )
    assert worst_triangle.RiseBounds.worst_ends(looks) is None
    assert number(asked[0].upper()) <= (0 if spread else 1)


def test_what_is_to_spare_beside_a_summit_is_what_is_proved():
    """The least that the summit may be, less the most that an edge may be."""
    spared, half = [], Fraction(1, 2)
    looks = SimpleNamespace(
        candidates=lambda: [half],
        place=lambda square: SimpleNamespace(low=half, high=half),
        value=lambda square: arb(1, 0.5),
        top=Fraction(1),
        stays_below=lambda low, high, spare: spared.append(spare) or True,
    )
    assert worst_triangle.MeasuredRiseBounds.worst(looks)
    assert number(spared[0].lower()) < -0.99


@pytest.mark.parametrize("high", [triangles.Power(a=4), triangles.Power(b=4)], ids=str)
def test_what_turned_planes_grow_by_is_that_of_the_largest_power(high):
    """Of several powers together as much as of each alone."""

    def growth(*powers):
        gram = Gram(Fraction(1), Fraction(1, 2), Fraction(1))
        half = Fraction(1, 2)
        found = triangles.Lattice(gram, half, half, half, powers, 0.0, -9.0)
        vars(found)["heights"] = 1.0, 1.0
        return found.growth()

    alone = growth(high)
    assert alone > growth(triangles.Power())
    assert growth(triangles.Power(), high).overlaps(alone)
    assert growth(high, triangles.Power()).overlaps(alone)


def test_a_summit_bends_by_the_least_that_is_proved():
    looks = SimpleNamespace(
        width=Fraction(1, 4),
        top=Fraction(1),
        line=None,
        triangles=None,
        equilateral=lambda: SimpleNamespace(low=Fraction(1), high=Fraction(1)),
        piece=lambda low, high: SimpleNamespace(slope=arb(0), bend=arb(-1, 0.5)),
    )
    assert 0 < number(worst_triangle.MeasuredRiseBounds.place(looks, Fraction(1, 2)).bend) <= 0.5


# --- branches that no question had met


@pytest.mark.parametrize(("of", "limit"), [(Entropy, mp.inf), (ReverseEntropy, mp.mpf(1) / 3)])
def test_the_entropies_where_one_law_is_alone(of, limit):
    """Where q is 0: m log(m/q) is ∞, and q log(q/m) − q + m is what m is, γp."""
    gamma, log_mass = Fraction(1, 3), mp.mpf(-2)
    beyond = of(gamma).mp_value(mp, log_mass, -mp.inf)
    expected = limit * mp.exp(log_mass)
    assert beyond == expected or mp.almosteq(beyond, expected, mp.mpf(10) ** -25)


def test_a_rate_that_is_no_fraction_is_refused_in_words():
    with pytest.raises(DomainError, match="needed a rational number"):
        MixtureDirection(None, sympy.sqrt(2) / 10, False).question(Fraction(1, 2))


@pytest.mark.parametrize("sign", [-1, 1])
def test_an_irrational_mass_is_positive_by_its_own_sign(sign):
    assert finite.is_positive(sign * (sympy.sqrt(2) - 1)) is (sign > 0)
