"""Samples of fixed size, a record replaced: what dominates them, and what they have at least."""

import math
from fractions import Fraction
from functools import lru_cache
from unittest import mock

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Gaussian,
    Kind,
    Laplace,
    LimitError,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.analysis.triangles import BellMajorant
from symacct.kernel.answer import to_fraction
from symacct.profile.contours import Contours
from symacct.profile.losses.fixed_size import (
    Equilateral,
    FixedSizeGaussian,
    FixedSizeLaplace,
    _Frame,
    _turned,
    below,
)
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.summed import TransformOnLine
from symacct.profile.part import OrderLine
from symacct.profile.runs import DirectedRuns
from tests.profile.laws import MP, contains, contains_complex, mp
from tests.thinning import covering, examples, in_a_soak

W = SubsampleWithoutReplacement
BITS = 100

# --- the values of the sheet: by mpmath's sums below, and by an independent prototype to 5 digits
LARGE = 600_000 * W(Gaussian(5), "1/1000")


def test_the_bracket_of_the_sheet():
    found = LARGE.epsilon("1e-8", digits=8, conversion="exact")
    assert found.kind is Kind.UPPER
    assert 0.7927 < found.epsilon.upper < 0.7934
    curve = LARGE.epsilon("1e-8", digits=8, by="TRIPLE-GAUSSIAN").epsilon
    assert curve.rounded_up(6) == "0.840837"
    lower = LARGE.lower_epsilon("1e-8", digits=8)
    assert lower.lower > 0.7927099
    assert lower.claim.kind is Kind.LOWER


def test_the_answer_is_the_smallest_of_three():
    """14,062 steps: 3.0685 glued, 2.7844 by the exact curve, 2.6237 smoothed; at least 2.5651."""
    m = 14_062 * W(Gaussian("11/10"), "256/60000")
    found = m.epsilon("1e-5", digits=4, conversion="exact").epsilon.upper
    assert 2.565 < found < 2.63


@pytest.mark.parametrize(
    "m", [W(Gaussian(1), "1/10"), W(Gaussian(3), "1/2"), W(PureDP(1), "1/3")], ids=repr
)
def test_one_run_is_exact(m):
    """The collinear pair attains the glued one: the bracket is a point."""
    for epsilon in ("0", "1/10", "1/2"):
        upper = m.delta(epsilon, digits=12, conversion="exact")
        assert upper.kind is Kind.EXACT
        lower = m.lower_delta(epsilon, digits=12)
        assert lower.lower <= upper.delta.upper
        assert upper.delta.lower <= lower.upper


# --- the glued pair


class Glued:
    """E[(P/Q)^z] of the pair as it is defined: three kinds of outcome, integrated in x."""

    def __init__(self, sigma, gamma):
        self.sigma, self.gamma = mp(sigma), mp(gamma)

    def moment(self, z):
        rest = 1 - self.gamma
        half = MP.mpf(1) / 2

        def laws(x):
            q, p = MP.npdf(x, 0, self.sigma), MP.npdf(x, 1, self.sigma)
            mixed = rest * q + self.gamma * p, rest * p + self.gamma * q
            return (mixed[0], q) if x > half else (p, mixed[1])

        def term(x):
            p, q = laws(x)
            return q * MP.exp(z * MP.log(p / q))

        edge = (14 + abs(z.real if hasattr(z, "real") else z)) * self.sigma + 2
        cuts = [half - edge, *(half + i * edge / 8 for i in range(-7, 8)), half + edge]
        untold = rest * (MP.ncdf(half / self.sigma) - MP.ncdf(-half / self.sigma))
        with MP.workdps(30):
            return untold + MP.quad(term, cuts)


GLUED = [(Fraction(1), Fraction(1, 2)), (Fraction(25), Fraction(1, 1000)), ("1/4", Fraction(1, 5))]


@covering()
@pytest.mark.parametrize(("variance", "gamma"), GLUED)
@pytest.mark.parametrize("a", [1.5, 4.0])
def test_the_moments_of_the_glued_pair(variance, gamma, a):
    variance = Fraction(variance)
    part, law = FixedSizeGaussian(variance, gamma), Glued(math.sqrt(variance), gamma)
    known = {n: law.moment(MP.mpc(a, 6.0 * n)) for n in (0, 2)}
    for need in (1.0, 8.0, 40.0):
        with ctx.workprec(BITS):
            found = part.transform(OrderLine(a, 6.0, 2), need)
            for n, value in known.items():
                assert contains_complex(found[n], value)
                assert float(found[n].rad()) < 20 * math.exp(-need) * float(abs(found[0]).mid())


@pytest.mark.parametrize(("variance", "gamma"), GLUED)
def test_few_nodes_hold_the_moment(variance, gamma, monkeypatch):
    """With coarse rules the error bound is what matters."""
    variance = Fraction(variance)
    part, law = FixedSizeGaussian(variance, gamma), Glued(math.sqrt(variance), gamma)
    rule, known = FixedSizeGaussian._rule, [law.moment(MP.mpc(2)), law.moment(MP.mpc(2, 5))]
    for count in (2, 3, 5):

        def coarse(self, a, far, need, count=count):
            edges, ellipses, _ = rule(self, a, far, need)
            return edges, ellipses, [count] * len(ellipses)

        monkeypatch.setattr(FixedSizeGaussian, "_rule", coarse)
        with ctx.workprec(BITS + count):
            [value, other] = part.transform(OrderLine(2.0, 5.0, 1), 2.0)
            assert contains_complex(value, known[0])
            assert contains_complex(other, known[1])


# --- the equilateral pair


@lru_cache
def three_means(delta, gamma, z):
    """E_q[m^z n^{1−z}] by a plain sum over a fine grid of the plane, in mpmath."""
    delta, gamma = mp(delta), mp(gamma)
    rise, step = MP.sqrt(3) / 2 * delta, MP.mpf(1) / 3
    total = MP.mpc(0)
    with MP.workdps(20):
        for i in range(-30, 31):
            for j in range(-30, 46):
                x, y = i * step, j * step
                common = gamma * MP.exp(rise * y - delta**2 / 2)
                m, n = (1 - gamma + common * MP.exp(s * delta * x / 2) for s in (1, -1))
                weight = MP.exp(-(x * x + y * y) / 2)
                total += weight * MP.exp(z * MP.log(m) + (1 - z) * MP.log(n))
        return total * step**2 / (2 * MP.pi)


THREE = [(Fraction(1, 5), Fraction(1, 1000)), (Fraction(1, 2), Fraction(1, 10))]


@pytest.mark.parametrize(("delta", "gamma"), THREE)
def test_the_moments_of_three_means(delta, gamma):
    part = Equilateral(delta, gamma)
    known = {t: three_means(delta, gamma, MP.mpc(3, t)) for t in (0, 10)}
    for need in (1.0, 6.0, 30.0):
        with ctx.workprec(BITS):
            found = part.transform(OrderLine(3.0, 10.0, 1), need)
            for n, t in enumerate(known):
                assert contains_complex(found[n], known[t])
            assert float(found[0].rad()) < 20 * math.exp(-need)


# The curve's values at a whole order, by an independent two-dimensional rule, 24 digits.
@pytest.mark.parametrize(
    ("sigma", "gamma", "alpha", "known"),
    [
        (5, "1/1000", 8, "1.64863531822601403606790e-7"),
        (1, "1/1000", 3, "3.193384557610008419492906e-6"),
        (2, "1/10", 4, "5.792367847909567469283172e-3"),
    ],
)
def test_three_means_at_whole_orders(sigma, gamma, alpha, known):
    with ctx.workprec(150):
        [value] = Equilateral(Fraction(1, sigma), Fraction(gamma)).transform(
            OrderLine(float(alpha), 1.0, 0), 75.0
        )
        assert contains(value.real.log() / (alpha - 1), MP.mpf(known), 21)


@covering()
@pytest.mark.parametrize("wide", ["rule", "cells"])
@pytest.mark.parametrize("times", [1.0, 2.5, 4.0, 6.0])
def test_coarse_sums_over_the_plane_hold_the_moment(wide, times, monkeypatch):
    """By the trapezoidal rule and by midpoints, nothing left out: the bound of the steps counts."""
    part = Equilateral(Fraction(1, 2), Fraction(1, 10))
    fine, bound = part.rule(3.0, 10.0, 30.0)
    steps = [times * step for step in fine.steps]
    coarse = type(fine)((steps[0], steps[1]), fine.heights, fine.log_tolerance)
    narrow = type(fine)((1e-9, 1e-9), fine.heights, fine.log_tolerance)
    rules = {"rule": (narrow, bound), "cells": narrow}
    rules[wide] = (coarse, bound) if wide == "rule" else coarse
    for name, rule in rules.items():
        monkeypatch.setattr(Equilateral, name, lambda *_, rule=rule: rule)
    with ctx.workprec(BITS + int(times) + 7 * (wide == "rule")):
        found = part.transform(OrderLine(3.0, 10.0, 1), 30.0)
        for n, t in enumerate((0, 10)):
            known = three_means(part.delta, part.gamma, MP.mpc(3, t))
            assert not found[n].is_finite() or contains_complex(found[n], known)
        assert times > 1 or found[0].rad() < 1


@pytest.mark.parametrize("heights", [(0.3, 0.2), (1.0, 0.5), (0.1, 1.5)])
@pytest.mark.parametrize("t", [1.0, 20.0, 300.0])
def test_the_moved_planes_are_below_their_bound(heights, t):
    """∫φm^a n^{1−a}e^{t(|arg m|+|arg n|)} on the moved plane, by a sum in float64."""
    part, a = Equilateral(Fraction(1, 2), Fraction(1, 10)), 3.0
    bound = part.rule(a, t, 10.0)[1]
    x = np.arange(-9, 12, 0.1)
    z, y = x[:, None] + 1j * heights[0], x[None, :] + 1j * heights[1]
    common = 0.1 * np.exp(np.sqrt(3) / 4 * y - 0.125)
    m, n = (0.9 + common * np.exp(sign * z / 4) for sign in (1, -1))
    plain = [0.9 + 0.1 * np.exp(np.sqrt(3) / 4 * y.real - 0.125 + s * z.real / 4) for s in (1, -1)]
    weight = np.exp(-(z.real**2 + y.real**2) / 2) * plain[0] ** a * plain[1] ** (1 - a)
    turned = np.exp(t * (np.abs(np.angle(m)) + np.abs(np.angle(n))))
    total = float((weight * turned).sum() * 0.01 / (2 * np.pi))
    moment = float(weight.sum() * 0.01 / (2 * np.pi))
    theta = heights[0] / 4 + np.sqrt(3) / 4 * heights[1]
    with ctx.workprec(64):
        found = _turned(part, bound, arb(4 * t * float(np.tan(theta / 2))), arb(moment))
        assert total <= float(found)
        assert t > 1 or float(found) < 20 * total


def test_what_is_left_out_of_the_plane(monkeypatch):
    """With few rows and narrow steps the bound of the others counts."""
    part = Equilateral(Fraction(1, 2), Fraction(1, 10))
    fine, _ = part.rule(3.0, 10.0, 30.0)
    for tolerance in (-1.0, -3.0, -6.0):
        rule = type(fine)(fine.steps, fine.heights, tolerance + 8)
        bound = BellMajorant.best(part.triple(3.0), tolerance)
        monkeypatch.setattr(Equilateral, "rule", lambda *_, both=(rule, bound): both)
        with ctx.workprec(BITS - int(tolerance)):
            found = part.transform(OrderLine(3.0, 10.0, 1), 30.0)
            for n, t in enumerate((0, 10)):
                known = three_means(part.delta, part.gamma, MP.mpc(3, t))
                assert contains_complex(found[n], known)


def test_a_root_is_rounded_down():
    assert below(Fraction(4, 9)) == Fraction(2, 3)
    assert 0 < Fraction(1, 2) - below(Fraction(1, 2)) ** 2 < Fraction(1, 10**12)


# --- what is beyond a place

PARTS = [
    FixedSizeGaussian(Fraction(1), Fraction(1, 2)),
    FixedSizeGaussian(Fraction(25), Fraction(1, 1000)),
    Equilateral(Fraction(1, 5), Fraction(1, 1000)),
]


@pytest.mark.parametrize(("part", "t"), [(PARTS[0], 2.0), *((part, 20.0) for part in PARTS[1:])])
def test_the_decay_bounds_all_that_lies_beyond(part, t):
    a = 2.5
    with ctx.workprec(64):
        bound = part.decay(a, t, 1e-6).exp()
        moment = part.transform(OrderLine(a, 1.0, 0), 20.0)[0].real
        for factor in (1.0, 1.01, 1.3, 2.0, 7.0, 40.0):
            value = abs(part.transform(OrderLine(a, t * factor, 1), 20.0)[1])
            assert not value > bound
        # A bound that says nothing would pass as well.
        here = abs(part.transform(OrderLine(a, t, 1), 20.0)[1])
        assert (bound / moment).log() < 0.9 * (here / moment).log()


@covering()
@pytest.mark.parametrize("part", [*PARTS, Equilateral(Fraction(1), Fraction(1, 2))], ids=repr)
@pytest.mark.parametrize("a", [1.25, 4.0])
@pytest.mark.parametrize("t", [0.5, 4.0, 30.0, 100.0])
def test_the_bound_far_away(part, a, t):
    """A + C/t is above |F(a+it)| at every t, and the first A is what it tends to."""
    with ctx.workprec(64):
        moment = part.transform(OrderLine(a, 1.0, 0), 20.0)[0].real
        ends = part.decay_constants(a, moment)
        value = abs(part.transform(OrderLine(a, t, 1), 6.0)[1])
        assert not any(value > constant + falling / t for constant, falling in ends)
        assert ends[0][0] < moment
        assert (ends[0][1] / moment).log() < 14


@pytest.mark.parametrize(("delta", "gamma", "a"), [("10/11", "1/234", 6.7), ("1", "1/2", 2.0)])
@pytest.mark.parametrize("start", [-1.0, 0.5, 2.0])
def test_what_lies_below_and_above_a_line(delta, gamma, a, start):
    """∫g below it, ∫g(|z|+δ/2)(1 + odds e^{−ry}) above, on a fine grid; near where γX is small."""
    part, step = Equilateral(Fraction(delta), Fraction(gamma)), 0.02
    size, rate, rise = float(part.delta), float(part.gamma), math.sqrt(3) / 2 * float(part.delta)
    z, y = np.arange(-12, 14, step)[:, None], np.arange(-9, 16, step)[None, :]
    x, w = (np.exp(rise * y + sign * size / 2 * z - size**2 / 2) for sign in (1, -1))
    m, n = 1 - rate + rate * x, 1 - rate + rate * w
    g = np.exp(-(z * z + y * y) / 2) / (2 * math.pi) * m**a * n ** (1 - a) * step**2
    steep = g * (abs(z) + size / 2) * (1 + (1 - rate) / rate * np.exp(size**2 / 2 - rise * y))
    exact = float(g[:, y[0] < start].sum()), float(steep[:, y[0] >= start].sum())
    with ctx.workprec(64):
        halves = [part._halved(arb(a), arb(w), arb(start)) for w in (0.001, 0.01, 0.1, 0.5)]
    for i, known in enumerate(exact):
        bounds = [float(half[i].lower()) for half in halves]
        assert all(bound > known * (1 - 0.03) for bound in bounds)  # the grid's own share
        assert min(bounds) < 20 * known
    if rate < 0.01:
        assert min(float(half[0].upper()) for half in halves) < 1.2 * exact[0]


@pytest.mark.parametrize(("delta", "gamma", "a"), [("1/2", "1/20", 2.0), ("3", "1/100", 1.5)])
def test_the_variation_that_is_integrated_by_parts(delta, gamma, a):
    """∫∫|(g/L_z)_z| on a fine grid, by differences: what C has to be above."""
    part, step = Equilateral(Fraction(delta), Fraction(gamma)), 0.01
    size, rate, rise = float(part.delta), float(part.gamma), math.sqrt(3) / 2 * float(part.delta)
    z, y = np.arange(-14, 14, step)[:, None], np.arange(-12, 12, 0.1)[None, :]
    x, w = (np.exp(rise * y + sign * size / 2 * z - size**2 / 2) for sign in (1, -1))
    m, n = 1 - rate + rate * x, 1 - rate + rate * w
    g = np.exp(-(z * z + y * y) / 2) / (2 * math.pi) * m**a * n ** (1 - a)
    over = g / (size / 2 * (rate * x / m + rate * w / n))
    exact = float(abs(np.diff(over, axis=0)).sum() * 0.1)
    with ctx.workprec(64):
        moment = part.transform(OrderLine(a, 1.0, 0), 20.0)[0].real
        assert float(part.decay_constants(a, moment)[0][1].lower()) > exact * (1 - 1e-3)


@pytest.mark.skipif(not in_a_soak(), reason="four seconds of one number: in a soak")
def test_the_value_of_the_sheet_at_little_noise():
    """14,062 × (1.1, 256/60000): 2.5652 by an independent prototype to 5 digits."""
    m = 14_062 * W(Gaussian("11/10"), Fraction(256, 60000))
    assert 2.56515 < m.lower_epsilon("1e-5", digits=5).lower < 2.56525


@examples(24, 300)
@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0.05, 1)), min_size=2, max_size=6),
    st.floats(0.01, 4),
)
def test_a_curve_never_falls_below_what_is_to_come(drawn, start):
    """Few losses turn for ever: the bound is above all of a fine grid."""
    moment = sum(w for _, w in drawn)
    mean = sum(w * x for x, w in drawn) / moment
    bend = sum(w * (x - mean) ** 2 for x, w in drawn)

    def at(s):
        return abs(sum(w * complex(math.cos(s * x), math.sin(s * x)) for x, w in drawn))

    end = 40.0
    curve = TransformOnLine(lambda s: arb(at(s)), arb(moment), arb(bend * 1.000001), [])
    found = TransformOnLine(curve.at, curve.moment, curve.bend, [(arb(at(end)), arb(end * moment))])
    bound = float(found.largest_beyond(start))
    assert all(at(start + i * 0.01) <= bound * (1 + 1e-9) for i in range(int((end - start) * 100)))


def test_lower_is_not_above_the_collinear_curve_s_answer():
    """Three means take over where many small steps are taken, and say nothing where few are."""
    few = 100 * W(Gaussian(2), "1/10")
    assert to_fraction(few.lower_epsilon("1e-5", digits=6).upper) < Fraction("2.3375")
    assert few.epsilon("1e-5", digits=6, conversion="exact").epsilon.upper < 2.5409


# --- Laplace noise

LAPLACE = [("1", "1/10"), ("1/2", "1/100"), ("3", "1/3")]


@covering()
@pytest.mark.parametrize(("shift", "gamma"), LAPLACE)
@pytest.mark.parametrize("z", [(0, 0), (1, 0), (3, 2), (-2, 25)])
def test_the_glued_moment_of_laplace_noise(shift, gamma, z):
    """E over both halves of the line by mpmath, from the definition; F(0) = F(1) = 1."""
    s, g = mp(Fraction(shift)), mp(Fraction(gamma))

    def integrand(x):
        q, p = MP.exp(-abs(x)) / 2, MP.exp(-abs(x - s)) / 2
        one, other = ((1 - g) * q + g * p, q) if p > q else (p, (1 - g) * p + g * q)
        return other * MP.exp(MP.mpc(*z) * MP.log(one / other))

    exact = MP.quad(integrand, [-MP.inf, 0, s / 4, s / 2, 3 * s / 4, s, MP.inf])
    exact += (1 - g) * -MP.expm1(-s / 2)
    part = FixedSizeLaplace(LaplaceLoss(Fraction(shift), Fraction(gamma)))
    with ctx.workprec(BITS):
        sample = part.sample(float(z[0]), float(z[1]), 40.0)
        terms = (
            w * (acb(0, z[1]) * x).exp() for w, x in zip(sample.weights, sample.losses, strict=True)
        )
        found = sum(terms, acb(0)) + acb(arb(0, sample.error.upper()), arb(0, sample.error.upper()))
        ((constant, falling),) = part.decay_constants(float(z[0]), arb(1))
    assert contains_complex(found, exact)
    assert z[1] == 0 or abs(exact) < float((constant + falling / z[1]).mid())


@pytest.mark.parametrize(
    ("m", "delta"),
    [
        (W(Laplace(1), "1/10"), "1/1000"),
        (5 * W(Laplace(1), "1/10"), "1e-5"),
        (1000 * W(Laplace(2), "1/100"), "1e-5"),
        (10**5 * W(Laplace(5), "1/1000"), "1e-6"),
    ],
    ids=repr,
)
def test_laplace_noise_has_a_bracket(m, delta):
    """One run is exact; of several the smaller of the glued profile and the curve's answer."""
    found = m.epsilon(delta, digits=7, conversion="exact")
    lower = m.lower_epsilon(delta, digits=7)
    assert found.kind is (Kind.EXACT if "*" not in repr(m) else Kind.UPPER)
    assert 0.85 * float(found.epsilon) < lower.lower <= found.epsilon.upper
    assert found.epsilon.upper <= m.epsilon(delta, digits=7, conversion="improved").epsilon.upper


@covering()
@pytest.mark.parametrize("deviations", [1e-4, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize(("gamma", "a"), [("1/1000", 40.0), ("1/100", 8.0)])
def test_the_fall_planned_is_the_fall_proved(gamma, a, deviations):
    """Many runs together have fallen far long before one has."""
    part = Equilateral(Fraction(1, 5), Fraction(gamma))
    log_moment, variance = (float(x[0]) for x in part.float_moments(np.array([a])))
    t = deviations / math.sqrt(variance)
    planned = log_moment - part.log_decay(a, t)
    proved = log_moment - float(part.decay(a, t, deviations**2 / 100))
    assert planned / 2 <= proved <= 1.2 * planned


@pytest.mark.parametrize("far", [10.0, 1e3, 1.2e4])
def test_no_panel_takes_a_long_rule_however_fast_the_loss_turns(far):
    """The roots of a rule of thousands of nodes take longer than the sums over its nodes."""
    part = FixedSizeGaussian(Fraction(169, 100), Fraction(9, 20_000))
    edges, _, counts = part._rule(14.0, far, 30.0)
    assert max(counts) <= 80
    assert len(edges) == len(counts) + 1
    assert all(np.diff(edges) > 0)
    with ctx.workprec(BITS):
        moments = [part.sample(14.0, at, 30.0).moment for at in (0.0, far)]
        assert moments[0].overlaps(moments[1])
        assert moments[1].rad() < arb(-30).exp() * moments[1]


def test_dear_moments_are_refused_before_their_fall_is_tabled():
    """The table takes 120 sums over a plane of nodes, and no contour could use it."""
    runs = DirectedRuns(((Equilateral(Fraction(10, 57), Fraction(3, 25_000)), 6),), False)
    table = mock.patch("symacct.profile.losses.summed._height", side_effect=AssertionError)
    with table, pytest.raises(LimitError, match="nodes of its moments"):
        Contours(runs).root(Fraction(1, 10**10), 5)


@covering()
@pytest.mark.parametrize("k", [1, 200])
@pytest.mark.parametrize("base", [Gaussian(2), Laplace(2), RandomizedResponse("3/4")], ids=repr)
def test_a_record_added_is_as_in_a_poisson_sample(base, k):
    """Its place is another's if it is not there: one pair of laws, as at Rényi orders."""
    fixed, poisson = (k * sample(base, "1/20", "add_remove") for sample in (W, PoissonSubsample))
    found = fixed.epsilon("1e-5", digits=6, conversion="exact")
    assert found.kind is Kind.EXACT
    assert str(fixed.rdp(3)) == str(poisson.rdp(3))
    other = poisson.epsilon("1e-5", digits=6, conversion="exact")
    assert str(found.epsilon) == str(other.epsilon)


@pytest.mark.parametrize("ellipse", [1.5, 2.5])
@pytest.mark.parametrize("count", [2, 5])
def test_gauss_rule_on_a_panel_is_off_by_as_much_as_the_theorem_says(ellipse, count):
    """64M/15 · ρ^{−2n}/(1 − ρ^{−2}), M the largest modulus on the ellipse of a narrow panel."""
    part, a, middle, half = FixedSizeGaussian(Fraction(1), Fraction(1, 3)), 2, 1.0, 0.01

    def at(v):
        ratio = (2 + MP.exp(v)) / 3
        return MP.npdf(v + MP.mpf("0.5")) * (abs(ratio**a) + abs(ratio ** (1 - a)))

    turns = (MP.expjpi(MP.mpf(k) / 32) * ellipse for k in range(64))
    most = max(abs(at(middle + half * (u + 1 / u) / 2)) for u in turns)
    share = MP.mpf(ellipse) ** -2
    known = 64 * half * most * share**count / (1 - share) / 15
    frame = _Frame(part, float(a), 0.0)
    found = frame.quadrature_error(arb(middle), arb(half), arb(ellipse), count)
    assert float(known) <= float(found.mid()) <= 1.05 * float(known)


@pytest.mark.parametrize("gamma", ["1/2", "99/100"])
@pytest.mark.parametrize("t", [0.0, 1000.0])
def test_the_curvature_off_the_line_is_at_most_its_bound(gamma, t):
    """∫|f_zz| and ∫|f_yy| of f = φ m² n^{−1} (m/n)^{it}, by differences on a grid."""
    part, a = Equilateral(Fraction(1, 4), Fraction(gamma)), 2.0
    step = 2.0**-8
    places, little = np.arange(-6, 7, 0.125), step * np.arange(-1, 2)
    z, y = (places[:, None, None, None] + little[:, None], places[:, None, None] + little)
    log_m, log_n = part._log_laws(z, y)
    log_f = a * log_m + (1 - a) * log_n - (z * z + y * y) / 2 + 1j * t * (log_m - log_n)
    f = np.exp(log_f) / (2 * np.pi)
    bends = (
        (f[..., 0, 1] - 2 * f[..., 1, 1] + f[..., 2, 1]),
        (f[..., 1, 0] - 2 * f[..., 1, 1] + f[..., 1, 2]),
    )
    for bend, bound in zip(bends, part.curvature_bounds(a, t), strict=True):
        assert np.abs(bend).sum() * 0.125**2 / step**2 <= float(bound.mid())
