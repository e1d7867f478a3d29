"""Expectations over triangles of normal laws, by wide steps."""

import functools
import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

from flint import arb, ctx

from symacct.analysis import triangles
from symacct.analysis.triangles import Gram, Triple
from symacct.kernel.arithmetic.ball import ball
from tests.remainders.rows import at_least, few_bits, known, mp, normal, number, refused, row


@row("analysis.triangles:nodes of a line or a plane")
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


@row("analysis.triangles:families of triangles")
def slopes_along_long_pieces(m):
    shares = Fraction(1, 2), Fraction(1, 2048)
    for share, first in itertools.product(shares, range(4)):
        family, places, slopes = slopes_along(Fraction(3, 2), share)
        found = m.on_a_piece(family, places[first], places[-1])
        for slope in slopes[first:]:
            yield found.slope, slope
        for i in range(first, 4):
            yield found.bend, (slopes[i + 1] - slopes[i]) / number(places[1] - places[0])


def log_at(bell, gram, at):
    """log of e^c e^{−(w−t)·G⁻¹(w−t)/2}, of two variances and what ties them."""
    u, v = (arb(x) - t for x, t in zip(at, bell.centre, strict=True))
    first, mixed, second = (arb(x.numerator) / x.denominator for x in gram)
    bend = second * u * u - 2 * mixed * u * v + first * v * v
    return bell.log_factor - bend / (2 * (first * second - mixed * mixed))


@row(
    "analysis.triangles:nodes of a line or a plane",
    "line_excess", "discretisation", "shifted_planes", "_outside", "_tail", "weighted", "_square",
    "left_out",
)  # fmt: skip
def bounds_of_nodes_in_a_plane(m):
    triple = Triple(Fraction(3), Fraction(1, 3), Fraction(1), Fraction(-1, 2), Fraction(0))
    m.to_relative_accuracy = lambda evaluate: evaluate(20)
    m.plan = known(m.PlaneRule((0.5, 1.0), (1.0, 0.0), -1.0))
    # |T − I| <= ρI + lost, of T = 2, lost = ¼ and ρ = ½, has these for its largest and least I.
    kept = m._weighted_sum, m.BellMajorant.left_out, m.discretisation
    m._weighted_sum, m.BellMajorant.left_out = known(arb(2)), known(arb(0.25))
    for share, ends in ((arb(0.5), (3.5, -1.5)), (arb(0.25), (2, 0))):
        m.discretisation = known(share)
        for end in ends:
            yield m.line_excess(triple), end
    for share in (1, 1.5):
        m.discretisation = known(arb(share))
        yield refused(m.line_excess(triple))
    m._weighted_sum, m.BellMajorant.left_out, m.discretisation = kept

    # docs/proofs/triples.md, Lemma plane-lattice: Poisson's summation, and how much larger m^μ
    # n^{−ν} is on moved planes.
    for heights, steps in (((0.5, 0.75), (1.0, 1.25)), ((0.5, 0.0), (1.0, 1.0))):
        rule = m.PlaneRule(steps, heights, -9.0)
        for a, b, r in ((1, -0.5, 0.75), (0.5, 2, 0.25)):
            places = arb(a), arb(b), arb(r)
            waves = [
                2 / mp.expm1(2 * mp.pi * d / h) for d, h in zip(heights, steps, strict=True) if d
            ]
            angle = abs(b) * heights[0] + r * heights[1]
            growth = (heights[0] ** 2 + heights[1] ** 2) / mp.mpf(2)
            off = mp.exp(growth) / mp.cos(angle / 2) ** 2.5
            yield (
                m.shifted_planes(places, arb(2.5), rule),
                off * (mp.fprod(1 + wave for wave in waves) - 1),
            )
    for heights, *places in (((2.0, 0.0), 2, 1, 0), ((1.0, 0.0), 1, 4, 0), ((0.6, 0.8), 4, 0, 1)):
        rule = m.PlaneRule((1.0, 1.0), heights, -9.0)
        yield refused(m.shifted_planes(tuple(map(arb, places)), arb(2), rule))
    rule = m.PlaneRule((1.0, 1.0), (0.5, 0.0), -9.0)
    wave = 2 / mp.expm1(mp.pi)
    yield m.discretisation(triple, rule), wave * mp.exp(0.125) / mp.cos(0.125) ** 2

    # The bells: m^α is at most two terms, and n at least κ, or γY.
    for gamma in (Fraction(2, 5), Fraction(3, 4)):
        one = Triple(Fraction(5, 2), gamma, Fraction(5, 4), Fraction(-1, 2), Fraction(1, 4))
        g, w = number(gamma), mp.exp(math.log(0.25))
        bells = m.BellMajorant.weighted(one, math.log(0.25)).bells
        for x in ((0.5, -1.0), (1.5, 0.25)):
            big, small = (mp.exp(c * x[0] + x[1] / 2 - (c * c + 0.25) / 2) for c in (1.25, -0.5))
            below = g * small if gamma > Fraction(1, 2) else 1 - g
            parts = w**-1.5 * (1 - g) ** 2.5, (1 - w) ** -1.5 * (g * big) ** 2.5
            for bell, part in zip(bells, parts, strict=True):
                square = sum((arb(c) - t) ** 2 for c, t in zip(x, bell.centre, strict=True))
                found = (bell.log_factor - square / 2).exp()
                yield (
                    found,
                    part * below**-1.5 * mp.exp(-(x[0] ** 2 + x[1] ** 2) / 2),
                )

    # h₁h₂ Σ of a bell over nodes in no row: a side is at most an integral, a row at most 1 + h.
    def tail(x, step):
        return mp.erfc(x / mp.sqrt(2)) / 2 if x > 0 else 1 + mp.mpf(step)

    half = arb(0.5)
    bell = m.Bell(arb(1.5), (arb(0.25), half))
    flat = m.PlaneRule((0.5, 1.0), (1.0, 0.0), 9.0)
    for span, place in (((-2, 4), (1.25, 1.25)), ((1, 3), (-0.25, 0.75)), ((-3, 0), (1.75, -0.75))):
        m._span = lambda _, *asked, span=span: {(1.0, 0.5): span}[asked]
        sides = mp.fsum(tail(x, 0.5) for x in place)
        yield m._outside(bell, flat, []), mp.exp(1.5) * sides
    m._span = known((0, 0))
    yield m._outside(bell, flat, []), mp.exp(1.5) * 1.5
    plane = m.PlaneRule((0.5, 0.25), (1.0, 1.0), 9.0)
    rows = [(-2, -1, 6), (-1, 0, 7), (0, -2, 8), (3, -3, 9)]
    found = 1.25 * (2 * tail(1.25, 0.5) + (normal(0.25) + normal(0.75)) / 2)  # no row 1 nor 2
    for i, low, high in rows:
        sides = tail(0.5 - low / mp.mpf(4), 0.25) + tail((high - 1) / mp.mpf(4) - 0.5, 0.25)
        found += normal(i / mp.mpf(2) - 0.25) / 2 * sides
    yield m._outside(bell, plane, rows), mp.exp(1.5) * found
    yield m.BellMajorant((bell, bell)).left_out(plane, rows), 2 * mp.exp(1.5) * found


@row(
    "analysis.triangles:nodes of a lattice",
    "_sums", "_values", "_error", "_lost", "_shifted", "growth", "_outside", "denominator",
    "_bells", "_bell", "_dot",
)  # fmt: skip
def bounds_of_a_lattice(m):
    gram = Gram(Fraction(3, 2), Fraction(1, 4), Fraction(2))
    first, mixed, second = map(number, gram)
    determinant = first * second - mixed**2
    inverse = mp.matrix([[first, mixed], [mixed, second]]) ** -1

    def lattice(gamma=Fraction(2, 5), mu=Fraction(5, 2), powers=((1, 2, 4, 1),), **known):
        powers = tuple(m.Power(*power) for power in powers)
        made = m.Lattice(gram, gamma, mu, Fraction(3, 2), powers, 0.0, -9.0)
        vars(made).update(known)
        return made

    # |T − I| <= ρI + lost, of T = −2 (as x and y may have any sign of a sum), lost = ¼ and ρ = ½.
    for share, reach in ((0.5, 2.5), (0.25, 1)):
        found = lattice(_shifted=arb(share), _lost={(1, 2): arb(0.25)})
        for end in (-reach, reach):
            yield found._error(found.powers[0], arb(-2)), end
    for share in (1, 1.5):
        vars(found)["_shifted"] = arb(share)
        yield refused(found._error(found.powers[0], arb(2)))

    # Poisson's summation, and how much larger what is integrated is on moved planes.
    heights, steps = (0.75, 0.5), (1.25, 1.0)
    one, other = (2 / mp.expm1(2 * mp.pi * d / h) for d, h in zip(heights, steps, strict=True))
    for mu, powers in ((Fraction(5, 2), ((1, 2, 4, 1),)), (Fraction(1, 2), ((0, 0, 0, 0),) * 2)):
        found = lattice(mu=mu, powers=powers, heights=heights, steps=steps)
        moved = second * 0.75**2 + 2 * mixed * 0.75 * 0.5 + first * 0.5**2
        turns = max(0, powers[0][2] - mu), mp.mpf(1.5) + powers[0][3]
        grown = mp.exp(moved / (2 * determinant))
        for turn, height in zip(turns, heights, strict=True):
            grown /= mp.cos(height / mp.mpf(2)) ** number(turn)
        yield found.growth(), grown
        yield found._shifted, grown * (one + other + one * other)
    for high in ((4.0, 1.0), (1.0, 4.0)):
        yield refused(lattice(heights=high).growth())

    # Each bell is a term of the majorant times the density, and together they are νn.
    for gamma, mu in itertools.product((Fraction(2, 5), Fraction(3, 4)), (2.5, 1.0, 0.5)):
        found, g, w = lattice(gamma, Fraction(mu)), number(gamma), mp.exp(-0.75)
        for at in ((0.5, -1.0), (2.0, 0.25)):
            x, y = (mp.exp(u - square / 2) for u, square in zip(at, (first, second), strict=True))
            away = mp.matrix(at)
            density = -(away.T * inverse * away)[0] / 2
            below = g * y if gamma > Fraction(1, 2) else 1 - g
            spare = max(mu - 1, 0)
            parts = (1 - g) ** mu / w**spare, (g * x) ** mu / (1 - w) ** spare
            bells = found._bells(3, 2, -0.75)
            truths = [x**3 * y**2 * part / below**1.5 for part in parts]
            bells += found.denominator
            truths += [1.5 * (1 - g), 1.5 * g * y]
            for bell, truth in zip(bells, truths, strict=True):
                yield log_at(bell, gram, at), mp.log(truth) + density

    # hk Σ over the nodes outside: a side is at most an integral, along it 1 and a term.
    def tail(x, step):
        return mp.erfc(x / mp.sqrt(2)) / 2 if x > 0 else 1 + mp.mpf(step)

    box = range(-1, 4), range(-5, 2)
    for mean in (0.25, 2.0):
        bell = m.LatticeBell(arb(0.5), (arb(mean), arb(-0.5)))
        found = lattice(box=box, steps=(0.5, 0.25), bells={(1, 2): [bell, bell]})
        lost = 0
        for axis, (step, across) in enumerate(((0.5, 0.25), (0.25, 0.5))):
            size, centre = mp.sqrt((first, second)[axis]), (mean, -0.5)[axis]
            along = 1 + across * size / mp.sqrt(2 * mp.pi * determinant)
            for away in (centre - step * box[axis][0], step * box[axis][-1] - centre):
                lost += along * tail(away / size, step / size)
        yield found._outside(bell), mp.exp(0.5) * lost
        yield found._lost[1, 2], 2 * mp.exp(0.5) * lost

    # The sum over a box, node by node.
    found = lattice(powers=((0, 0, 0, 0), (1, 2, 3, 1)), box=box, steps=(0.5, 0.25))
    with ctx.workprec(90):
        sums = found._sums()
    for power, total in sums.items():
        truth = mp.zero
        for i, j in itertools.product(*box):
            u, v = i / mp.mpf(2), j / mp.mpf(4)
            x, y = mp.mpf(2) / 5 * mp.exp(u - first / 2), mp.mpf(2) / 5 * mp.exp(v - second / 2)
            one, other = mp.mpf(3) / 5 + x, mp.mpf(3) / 5 + y
            bend = (second * u * u - 2 * mixed * u * v + first * v * v) / (2 * determinant)
            term = one ** mp.mpf(2.5) / other ** mp.mpf(1.5) * mp.exp(-bend)
            term *= (x / one) ** power.a * (y / other) ** power.b
            truth += term * (2.5 * x) ** power.p * (2.5 * y) ** power.q
        yield total, truth / 8 / (2 * mp.pi * mp.sqrt(determinant))


@functools.cache
def moment_of_two(i, j, b=Fraction(3, 4)):
    """E[X^i Y^j], log X ~ N(−δ²/2, δ²), log Y ~ N(−B/2, B), covariance B/2, of δ² = 3/4."""
    return mp.exp(i * (i - 1) * mp.mpf(3) / 8 + (j * (j - 1) + i * j) * number(b) / 2)


@functools.cache
def expanded_slope(degree, b):
    """−Σ C(p,k) C(−k−2,j) x^{k+j} E[Y^{j+1}(X−Y)^{k+1}] of p = 7/2 and x = 1/3"""
    return -mp.fsum(
        mp.binomial(3.5, k) * mp.binomial(-k - 2, j) / mp.mpf(3) ** (k + j)
        * mp.binomial(k + 1, i) * (-1) ** (k + 1 - i) * moment_of_two(i, j + k + 2 - i, b)
        for k in range(degree) for j in range(degree - k) for i in range(k + 2)
    )  # fmt: skip


@functools.cache
def expanded_rise(degree):
    """Its integral from 1/8 to 3/8."""
    return mp.quad(lambda b: expanded_slope(degree, b), [mp.mpf(1) / 8, mp.mpf(3) / 8])


@row(
    "analysis.triangles:slopes",
    "over", "rise_between", "binomials", "moment", "left_out", "cut", "_weights",
    "_last", "_both", "_power_of_x",
)  # fmt: skip
def slopes_of_few_terms(m):
    power, x, top = Fraction(7, 2), Fraction(1, 3), Fraction(3, 4)
    series = m.SlopeSeries(power, x, top)
    p, y, moment = mp.mpf(3.5), mp.mpf(1) / 3, moment_of_two

    for degree in (1, 3, 5):
        left = mp.fsum(
            abs(mp.binomial(p, k)) * mp.binomial(degree + 1, degree - k) * y**degree
            * (moment(k + 1, degree - k + 1) + moment(0, degree + 2))
            for k in range(degree)
        )  # fmt: skip
        yield series.left_out(degree), left
        q = max(0, p - degree)  # (1+xX)^q, by its whole powers and at most 1 + (xX)^f of the rest
        parts = [(mp.binomial(q, i) * y**i, i) for i in range(int(q) + 1)]
        if q:
            parts.append((parts[-1][0] * y ** (q - int(q)), q))
        last = abs(mp.binomial(p, degree)) * y**degree
        last *= mp.fsum(
            part * (moment(i + degree + 1, 1) + moment(i, degree + 2)) for part, i in parts
        )
        yield series._last(degree), last
        found = series.cut(degree, arb(0.25))
        above = mp.binomial(p, degree) < 0
        yield found.above, 0.25 + last * above
        yield found.below, 0.25 + last * (not above)

        exact = m.Slopes(found.weights, arb(0), arb(0), 64)
        low, high = Fraction(1, 8), Fraction(3, 8)
        for b in (low, high):
            yield exact.over(b, b)[0], expanded_slope(degree, b)
        rise = expanded_rise(degree)
        yield exact.rise_between(low, high), rise
        wide = m.Slopes(found.weights, arb(0.25), arb(0.5), 64)
        yield wide.rise_between(low, high), rise + mp.mpf(1) / 8
        for b in (low, high):
            least, most = wide.over(b, b)
            yield least, expanded_slope(degree, b) - 0.25
            yield most, expanded_slope(degree, b) + 0.5
    found = m.SlopeSeries(Fraction(1, 2), x, top).cut(1, arb(0.25))  # a coefficient of 1/2
    yield found.above, 0.25
    yield found.below, 0.25 + (moment(2, 1) + moment(0, 3)) / 6
    series = m.SlopeSeries(Fraction(5000), x, top)
    yield refused(series._last(1))
    # By Taylor's formula of so many terms, whose last is bounded where it is asked.
    taylor = [mp.mpf(4) ** n / mp.factorial(n) for n in range(5)]
    for rate in (1, 2):
        growth = m.Slopes({Fraction(rate): arb(1)}, arb(0), arb(0), 64)
        least, most = growth.over(Fraction(-4, rate), Fraction(4, rate))
        rounded = arb(1, 1e-6)
        yield most * rounded, mp.fsum(taylor[:4]) + mp.exp(4) * taylor[4]
        yield least * rounded, 1 - mp.fsum(taylor[1:4]) - mp.exp(4) * taylor[4]


def linear(slope, top):
    """What is known of G that rises by so much along B."""
    return SimpleNamespace(
        top=Fraction(top), width=Fraction(top, 4), factor=arb(2), exponentials=None,
        bounds=lambda low, high: (arb(slope), arb(slope)), triangles=None,
    )  # fmt: skip


@row(
    "analysis.worst_triangle",
    "refined", "is_far_beyond", "bounds", "rise", "rise_between", "stays_below",
    "by_slope", "raised_end",
)  # fmt: skip
def what_rises_by_as_much_as_is_to_spare(m):
    def so(said, truth):
        return arb(int(bool(said))), int(truth)

    # A parabola that bends by 2 and has the slope 3 rises on by 9/4.
    m.turning, m.slope_at = known(Fraction(1)), known(arb(3))
    triangles = SimpleNamespace(at=known("it"), excess=known(arb(0.5)))
    summit = m.Summit(triangles, Fraction(0), Fraction(2), arb(2))
    found, share = summit.refined(40)
    yield so(found == "it", True)
    yield share, 4.5
    yield m.TriangleEnd("it", Fraction(0), Fraction(0)).refined(40)[1], 0
    for excess, far in ((216, True), (215, False)):
        steep = SimpleNamespace(
            delta=Fraction(3),
            steepest=lambda b: ball(b) / 3,
            excess=lambda b, e=excess: e - ball(b),
        )
        yield so(m.is_far_beyond(steep, 3), far)

    # The slope is κ^{-2}·factor times the sum's; without one it is at most the steepest.
    looks = linear(1, 8)
    looks.triangles = SimpleNamespace(steepest=lambda high: ball(high) * 3)
    least, most = m.RiseBounds.bounds(looks, Fraction(1), Fraction(2))
    yield refused(least)
    yield most, 6
    looks.rise = lambda low, high: m.RiseBounds.rise(looks, low, high)
    for slope, rise in ((3, 6), (-3, 0)):
        looks.bounds = known((arb(9), arb(slope)))
        yield looks.rise(Fraction(1), Fraction(3)), rise
        yield m.RiseBounds.rise_between(looks, Fraction(1), Fraction(3)), rise
    looks.exponentials = SimpleNamespace(
        over=lambda low, high: (ball(low) + 1, ball(high)),
        rise_between=lambda low, high: ball(high - low) * 5,
    )
    least, most = m.RiseBounds.bounds(looks, Fraction(1), Fraction(3))
    yield least, 4
    yield most, 6
    yield m.RiseBounds.rise_between(looks, Fraction(1), Fraction(4)), 30

    # G with the slope 3, by pieces of the width 2, 4 and 2, and as much to spare as it rises.
    looks = m.RiseBounds.__new__(m.RiseBounds)
    vars(looks).update(top=Fraction(8), width=Fraction(2), exponentials=None)
    for slope, spare, pieces, below in (
        (3, 24, 3, True), (3, 24, 2, False), (3, 23, 200, False), (3, 6, 200, False),
        (0, 0, 3, True), (-1, 0, 3, True), (-1, -0.25, 3, False), (1, 0, 200, False),
    ):  # fmt: skip
        looks.bounds = known((arb(slope), arb(slope)))
        yield so(looks.stays_below(Fraction(0), Fraction(8), arb(spare), pieces), below)
    yield so(looks.stays_below(Fraction(8), Fraction(8), arb(-1)), True)

    # The same G where it is measured; then by its slope alone, in pieces that fit.
    looks = m.MeasuredRiseBounds.__new__(m.MeasuredRiseBounds)
    vars(looks).update(top=Fraction(8), width=Fraction(2), exponentials=None, integrated_pieces=0)
    for slope, spare, right in ((3, 24, 8), (3, 15, 5), (3, 9, Fraction(125, 64)), (3, 0.25, 0)):
        looks.bounds = known((arb(slope), arb(slope)))
        yield ball(looks.proved_end(Fraction(0), Fraction(8), arb(spare))), right
    for slope, spare, right, width in ((3, 6, 2, 4), (3, 7, 2, 4), (3, 5, 0, 2), (-3, 0, 2, 4)):
        looks.width, looks.piece = Fraction(2), known(m.OnAPiece(arb(slope), arb(0)))
        end, rise = looks.by_slope(Fraction(5), Fraction(13), arb(spare))
        yield ball(end), 5 + right
        yield rise, slope * right
        yield ball(looks.width), width
    looks.width, looks.piece = Fraction(2), known(m.OnAPiece(arb(2, 1), arb(0)))
    end, rise = looks.by_slope(Fraction(0), Fraction(1), arb(3.25))
    yield ball(end), 1
    yield at_least(rise, 3)
    for slope, seen, spare, below in ((3, 3, 24, True), (3, 3, 23, False), (9, 3, 25, True)):
        looks.bounds, looks.width = known((arb(slope), arb(slope))), Fraction(2)
        looks.piece, looks.value = known(m.OnAPiece(arb(seen), arb(0))), lambda b: ball(b) * 3
        yield so(looks.stays_below(Fraction(0), Fraction(8), arb(spare)), below)

    # What has risen along an integral is not to spare for the sum that goes on from there.
    looks.bounds = lambda low, high: (arb(3), arb(3) if low >= 2 else arb.pos_inf())
    looks.width, looks.piece = Fraction(2), known(m.OnAPiece(arb(3), arb(0)))
    yield so(looks.stays_below(Fraction(0), Fraction(8), arb(19)), False)

    # The larger end, and the least share of what it is that is to spare above the other.
    m._is_quick, m.MeasuredRiseBounds = known(False), None
    for first, last, spare, nth in (
        (2, 1, 0.0015, 0),
        (1, 2, 1.03, 1),
        (1, 2, 1.2, 2),
        (1, 2, 2, 3),
    ):
        asked = []

        def below(low, high, given, pieces, spare=spare, asked=asked):
            asked.append(given)
            return (low, high) == (0, 9) and given >= spare

        m.RiseBounds = known(SimpleNamespace(stays_below=below))
        triangles = SimpleNamespace(
            end_excesses=(arb(first), arb(last)), delta=Fraction(3), ends=("first", "last")
        )
        end, found = m.raised_end(triangles)
        yield so(end == ("last" if last > first else "first"), True)
        yield ball(found), m.SHARES[nth]
        for one, given in zip(m.SHARES, asked, strict=False):
            yield given, max(first, last) * (1 + number(one)) - first
