"""Losses of Gaussian noise on samples of fixed size, of few nodes and wide cells."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

from flint import arb

from symacct.analysis.triangles import Bell, PlaneRule
from tests.remainders.rows import known, mp, normal, number, of_a_whole, refused, row
from tests.remainders.sampled_gaussian import ROUND, gaussian_sticks, tail_of, tilted


@row(
    "profile.losses.fixed_size:Gaussian noise",
    "decay_constants", "uninformative_mass", "_density", "end", "variation", "_power", "add",
    "quadrature_error", "tail_integral", "_tail",
)  # fmt: skip
def a_fixed_size_sample_of_gaussians(m):
    variance, gamma = Fraction(9, 4), Fraction(3, 8)
    part, s, g = m.FixedSizeGaussian(variance, gamma), mp.mpf(1.5), mp.mpf(3) / 8
    v2 = mp.mpf(2.25)

    def ratio(v):
        return 1 - g + g * mp.exp(v / v2)

    def tail(v, b):
        x = v + mp.mpf(0.5)
        if b <= 0:
            return tail_of(x / s)
        log_tilt = (b * b - b) / (2 * v2) + b * mp.log(g + (1 - g) * mp.exp(-v / v2))
        return tilted(log_tilt, (x - b) / s)

    yield part.uninformative_mass(), (1 - g) * (1 - 2 * tail_of(1 / (2 * s)))
    for v in (0.25, 3):
        yield part._density(arb(v)), normal(v + mp.mpf(0.5), 0, s)
    edges = [0.0, 0.5, 2.0]
    m.FixedSizeGaussian._edges = lambda _, top, finer: edges if finer == 8 else None
    for a, far in ((2.5, 1.25), (0.5, 2.0), (-0.5, 1.5)):
        frame = m._Frame(part, a, far)
        for v in (1.5, 4.0):
            yield frame.tail_integral(arb(v)) * ROUND, tail(v, a) + tail(v, 1 - a)
            losses, weights = [], []
            frame.add(arb(v), arb(0.5), losses, weights)
            loss = mp.log(ratio(v))
            for b, sign, found, weight in zip((a, 1 - a), (1, -1), losses, weights, strict=True):
                yield found, sign * loss
                yield weight, normal(v + mp.mpf(0.5), 0, s) / 2 * mp.exp(b * loss)
        # h = Q R^b/(log R)′, of which a cell bounds each factor at one of its ends.
        yield frame.end, 2 * normal(0.5, 0, s) / (g / v2)
        for b in (a, 1 - a):
            total = mp.zero
            for left, right in itertools.pairwise(edges):
                mass = tail_of((left + 0.5) / s) - tail_of((right + 0.5) / s)
                power = max(ratio(left) ** b, ratio(right) ** b)
                held = (1 - g) * mp.exp(-left / v2) / g + 1
                total += mass * power * (held * (right + 1.5) + abs(b + 1))
            rest = v2 * normal(2.5, 0, s) * ratio(2) ** b
            rest += (1 + max(b, 0) + abs(b + 1)) * tail(2, b)
            yield frame.variation(arb(b)) * ROUND, total + rest / g
        both = mp.fsum(number(frame.variation(arb(b)).mid()) for b in (a, 1 - a))
        [(mass, falls)] = m.FixedSizeGaussian(variance, gamma).decay_constants(a, arb(1))
        if a == -0.5:  # it is asked at any order
            yield mass, number(part.uninformative_mass().mid())
        yield falls, 2 * normal(0.5, 0, s) / (g / v2) + both
        # Gauss's rule on a panel, by what R^z is at most in its ellipse.
        for middle, half, rho in ((0.75, 0.75, 2.0), (3.0, 1.0, 1.5), (4.0, 1.0, 6.0)):
            reach, height = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
            theta = height / v2
            low = 1 - g + g * mp.exp((middle - reach) / v2) * mp.cos(theta)
            angle = mp.arg(1 - g + g * mp.exp((middle + reach + 1j * height) / v2))
            nearest = max(0, middle - reach + mp.mpf(0.5))
            exponent = far * angle * (1 + mp.mpf(2) ** -40) + (height**2 - nearest**2) / (2 * v2)
            grown = mp.fsum(
                mp.exp(max(b * mp.log(low), b * mp.log(ratio(middle + reach))) + exponent)
                for b in (a, 1 - a)
            ) / (s * mp.sqrt(2 * mp.pi))
            error = mp.mpf(64) / 15 * half * grown * mp.mpf(rho) ** -6 / (1 - mp.mpf(rho) ** -2)
            found = frame.quadrature_error(arb(middle), arb(half), arb(rho), 3)
            yield found, error
        yield refused(frame.quadrature_error(arb(1), arb(2), arb(6), 3))


@row(
    "profile.losses.fixed_size:equilateral triangles",
    "_curvature_bound_by", "decay_constants", "_halved", "hockey_stick", "_summed", "_aliases",
    "_off_midpoints", "_turned", "_nodes",
)  # fmt: skip
def an_equilateral_triangle(m):
    m._LEVELS, m._STARTS = 4, m._STARTS[:2]
    delta, gamma = Fraction(3, 2), Fraction(3, 8)
    part, d, g = m.Equilateral(delta, gamma), mp.mpf(1.5), mp.mpf(3) / 8
    rise, odds = mp.sqrt(3) / 2 * d, g / (1 - g)
    bells = [(0.5, (0.25, -0.5)), (-0.25, (-0.75, 1.25))]
    bound = SimpleNamespace(bells=[Bell(arb(c), tuple(map(arb, at))) for c, at in bells])

    # The bells times what bounds the second derivatives' share of what is integrated.
    for odd, a, t in ((gamma, 2.5, 0.5), (Fraction(1, 50), 1.5, 2.0)):
        some = m.Equilateral(delta, odd)
        o, first, second = number(odd / (1 - odd)), mp.zero, mp.zero
        for c, (z, y) in bells:
            logs = [(y * mp.sqrt(3) + sign * z) * d / 2 for sign in (1, -1)]
            share = min(2, o * mp.fsum(map(mp.exp, logs)))
            squares = min(2, o * o * mp.fsum(mp.exp(2 * x + d * d) for x in logs))
            bends = 1 + a * d * d / 2 + t * d * d * share
            first += mp.exp(c) * (4 * (z * z + 1) + (2 * a * a + t * t) * d * d * squares + bends)
            turned = 3 * (a * a + t * t / mp.mpf(2)) * d * d * squares
            second += mp.exp(c) * (4 * (y * y + 1) + turned + bends)
        for found, truth in zip(
            some._curvature_bound_by(bound, arb(a), arb(t)), (first, second), strict=True
        ):
            yield found, truth
    kept = m.Equilateral.curvature_bounds
    m.Equilateral.curvature_bounds = known((arb(3), arb(5)))
    cells = PlaneRule((0.5, 0.25), (1.0, 1.0), 0.0)
    yield m._off_midpoints(part, 2.0, 1.0, cells), (0.25 * 1.25 * 3 + 0.0625 * 5) / mp.mpf(8)
    m.Equilateral.curvature_bounds = kept

    # By parts: two laws tilted by X^b, and their tails in y.
    def halved(a, w, start):
        below, steep = mp.zero, mp.zero
        for share, mass, b in ((1 - w, 1 - g, 0), (w, g, a)):
            size = (share * (1 - g)) ** (1 - a) * mass**a * mp.exp((b * b - b) * d * d / 2)
            away = mp.sqrt(1 + (b * d / 2) ** 2) + d / 2
            mean = b * rise  # of y, whose e^{−ry} moves it by −r
            moved = mp.exp(rise**2 / 2 - rise * mean) * tail_of(start - mean + rise)
            steep += size * away * (tail_of(start - mean) + mp.exp(d * d / 2) / odds * moved)
            below += size * tail_of(mean - start)
        return below, steep

    for a, w, start in ((2.5, 0.25, 0.5), (1.5, 0.75, -1.0)):
        for found, truth in zip(
            part._halved(arb(a), arb(w), arb(start)), halved(a, mp.mpf(w), start), strict=True
        ):
            yield found, truth
    part_of = part.decay_constants(2.5, arb(3))
    shares = [mp.mpf(x) for x in m._SHARES]
    for (below, falls), start in zip(part_of, m._STARTS, strict=True):
        ways = [halved(2.5, w, mp.mpf(start)) for w in shares]
        yield below, min(one for one, _ in ways)
        yield falls, min(one for _, one in ways) * 2 / d + 7.5

    for y in (0.25, -0.25, 1.0):
        largest = gaussian_sticks(1 / delta**2, gamma, abs(y), False)
        least = max(0, -mp.expm1(y))
        found, most = part.hockey_stick(arb(y), False), max(1, mp.exp(y)) * largest
        yield from of_a_whole(found, least, most)
        yield found.upper() * arb(1, 1e-6), least + most
    yield part.hockey_stick(arb(0), False), g * mp.erf(d / mp.sqrt(8))

    # Levels of X and Y, of which beyond a level the bells hold what is integrated.
    def turned(turn, moment):
        levels = [mp.mpf(float(x)) for x in part.levels(turn)]
        shares = [g * mp.exp(x) / (1 - g + g * mp.exp(x)) for x in levels] + [mp.one]
        total = mp.exp(turn * shares[0]) * moment
        for log_x, share in zip(levels, shares[1:], strict=True):
            for c, (z, y) in bells:
                for start in (y * rise + z * d / 2, y * rise - z * d / 2):
                    beyond = mp.exp(c) * tail_of((log_x + d * d / 2 - start) / d)
                    total += mp.exp(turn * share) * beyond
        return total

    yield m._turned(part, bound, arb(1.5), arb(0.25)), turned(1.5, mp.mpf(0.25))
    rule = PlaneRule((0.5, 0.375), (0.5, 0.25), 0.0)
    theta = d / 2 * 0.5 + rise * 0.25
    kept, m._turned = m._turned, lambda part, bound, turn, moment: turn + 3 * moment
    asked = []
    m.shifted_planes = lambda *one: asked.append(one) or arb(0.25)
    found = m._aliases(part, 2.5, 1.25, bound, rule, arb(2))
    yield found, (5 * mp.tan(theta / 2) + 8) / 4
    (places, power, _), *_ = asked
    for place, truth in zip((*places, power), (d / 2, -d / 2, rise, 2.5), strict=True):
        yield place, truth
    for share in (1, 1.25):
        m.shifted_planes = known(arb(share))
        yield refused(m._aliases(part, 2.5, 1.25, bound, rule, arb(2)))
    m.shifted_planes = known(arb(0.25))
    rule = PlaneRule((0.5, 0.375), (1.0, 0.25), 0.0)
    found = m._aliases(part, 2.5, 1.25, bound, rule, arb(2))
    yield found, (5 * mp.tan((d / 2 + rise * 0.25) / 2) + 8) / 4
    rule = PlaneRule((0.5, 0.375), (0.5, 0.25), 0.0)
    for heights in ((1.75, 0.25), (0.25, 1.25)):
        wide = PlaneRule((0.5, 0.375), heights, 0.0)
        yield refused(m._aliases(part, 2.5, 1.25, bound, wide, arb(2)))
    m._turned = kept

    rows = [(-1, -2, 1), (2, 0, 3)]
    nodes = list(m._nodes(part, arb(2.5), rule, rows))
    places = [(i / mp.mpf(2), j * mp.mpf(3) / 8) for i, low, high in rows for j in range(low, high)]
    for (loss, weight), (z, y) in zip(nodes, places, strict=True):
        one, other = (
            1 - g + g * mp.exp(rise * y + sign * d / 2 * z - d * d / 2) for sign in (1, -1)
        )
        yield loss, mp.log(one / other)
        scale = mp.mpf(3) / 16 * normal(z) * normal(y)
        yield weight, scale * one ** mp.mpf(2.5) / other ** mp.mpf(1.5)
    m.rows_of = known(rows)
    left = SimpleNamespace(left_out=known(arb(0.25)))
    found = m._summed(part, 2.5, rule, left, lambda total: total)
    yield found.error, 0.5 + mp.fsum(number(w.mid()) for _, w in nodes)
