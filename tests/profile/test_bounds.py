"""Each bound against what it bounds, with plans so bad that the bounds are what matters."""

import itertools
import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from symacct.mechanisms import DiscreteGaussian, Skellam
from symacct.profile.contours import Contour, ContourPlan, Taper
from symacct.profile.losses import laplace
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.sampled_gaussian import (
    LineRule,
    SampledGaussian,
    Strip,
    error,
    log_edge,
    nodes,
    strip,
)
from symacct.profile.losses.summed import SummedLoss
from symacct.profile.part import OrderLine
from symacct.profile.solve import CompositionProfile
from symacct.profile.sums import (
    _cells_of,
    _gathered,
    power_sums,
    real_power_sums,
    sums_on_a_line,
)
from tests.profile.laws import MP, SampledLaplace, contains, contains_complex, mp
from tests.profile.laws import SampledGaussian as Normal
from tests.thinning import covering, examples

BITS = 100
PLACES = (-6.0, -3.0, -1.0, 0.0, 2.0)
I = acb(0, 1)

# --- Theorem 2: the sum with step h, its two aliases and what is left out

steps = st.floats(0.5, 20)
orders = st.floats(0.2, 6)


def gaussian_profile(ratio, y):
    s = MP.sqrt(mp(ratio))
    return MP.ncdf(s / 2 - y / s) - MP.exp(y) * MP.ncdf(-s / 2 - y / s)


@examples(40, 600)
@given(
    st.fractions(Fraction(1, 20), 4, max_denominator=20),
    st.fractions(-1, 4, max_denominator=8),
    orders,
    steps,
    st.integers(1, 60),
    st.floats(0.1, 8),
)
def test_any_contour_holds_the_profile_of_a_gaussian(ratio, y, c, h, last, beyond):
    plan = ContourPlan(c, h, last, c + beyond, 60.0, BITS)
    with ctx.workprec(BITS):
        found = Contour(((GaussianLoss(ratio), 1),), plan, False, 0.0).delta(arb(float(y)))
        assert contains(found, gaussian_profile(ratio, MP.mpf(float(y))), 25)


@examples(25, 300)
@given(st.floats(0.5, 3), st.floats(0.1, 2), st.integers(3, 30))
def test_any_contour_holds_the_profile_of_finite_laws_and_noise(c, h, last):
    """Lost mass: a pair of which P alone has an outcome, beside Gaussian noise."""
    lossy = Atoms(((Fraction(1, 10), Fraction(0)), (Fraction(9, 10), Fraction(1))))
    ratio, y = Fraction(1, 4), 0.3
    plan = ContourPlan(c, h, last, c + 1, 60.0, BITS)
    with ctx.workprec(BITS):
        runs = ((lossy, 1), (GaussianLoss(ratio), 1))
        found = Contour(runs, plan, False, 0.0).delta(arb(y))
        # Given the other outcome, which P has with probability 9/10, the loss is log(9/10) more.
        share = MP.mpf(9) / 10
        known = share * gaussian_profile(ratio, MP.mpf(y) - MP.log(share))
        assert contains(found, known, 25)


@examples(16, 200)
@given(
    st.floats(0.5, 5),
    st.floats(1, 30),
    st.integers(4, 40),
    st.floats(0.2, 6),
    st.floats(0, 39),
    st.booleans(),
)
def test_any_contour_holds_the_profile_of_a_sampled_gaussian(c, h, last, beyond, fall, reverse):
    """However few digits the last nodes are worked out to."""
    part, law = SampledGaussian(Fraction(1), Fraction(1, 3)), Normal(1, Fraction(1, 3))
    plan = ContourPlan(c, h, last, c + beyond, 40.0, BITS, falls=((last // 2, fall),))
    with ctx.workprec(BITS):
        found = Contour(((part, 1),), plan, reverse, 0.0).delta(arb(0.125))
        assert contains(found, law.one_run_closed(MP.mpf("0.125"), reverse), 25)


TAPERED = {
    "gaussian": (SampledGaussian(Fraction(1), Fraction(1, 3)), Normal(1, Fraction(1, 3))),
    "little": (SampledGaussian(Fraction(1, 4), Fraction(1, 10)), Normal(0.5, Fraction(1, 10))),
    "laplace": (LaplaceLoss(Fraction(1, 2), Fraction(1, 3)), SampledLaplace("0.5", Fraction(1, 3))),
    "much": (LaplaceLoss(Fraction(2), Fraction(1, 10)), SampledLaplace(2, Fraction(1, 10))),
    "all": (LaplaceLoss(Fraction(1)), SampledLaplace(1, 1)),
}


@examples(40, 600)
@given(
    st.sampled_from(sorted(TAPERED)),
    st.floats(0.3, 3),
    st.floats(0.05, 3),
    st.integers(1, 60),
    st.integers(1, 9),
    st.integers(1, 5),
    st.booleans(),
)
def test_any_taper_holds_the_profile_of_one_run(name, c, h, first, order, stride, reverse):
    """With few nodes what is left out is what the ball consists of."""
    part, law = TAPERED[name]
    taper = Taper(((part, 1),), reverse, -c if reverse else 1 + c, h, first, order, stride)
    plan = ContourPlan(c, h, taper.last, c + 2, 40.0, BITS, taper)
    with ctx.workprec(BITS):
        found = Contour(((part, 1),), plan, reverse, 0.0).delta(arb(0.125))
        assert contains(found, law.one_run_closed(MP.mpf("0.125"), reverse), 14)


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("stride", [1, 10])
def test_a_taper_is_near_what_it_bounds(runs, stride):
    """One that says nothing would pass as well: twice the nodes are better by a power."""
    part = SampledGaussian(Fraction(1, 4), Fraction(1, 10))
    tapers = [Taper(((part, runs),), False, 2.0, 0.1, first, 12, stride) for first in (400, 800)]
    with ctx.workprec(64):
        near, far = (float(taper.left_out(arb(1), 12).log()) for taper in tapers)
    assert near - far > 10 * math.log(2)


def test_a_stride_keeps_the_weights_small():
    """Next to the loss that the moments turn at."""
    part, y, weights = SampledGaussian(Fraction(1), Fraction(1, 10_000)), 0.001, []
    for stride in (1, 1000):
        taper = Taper(((part, 2),), False, 9.0, 1.5, 10_000, 8, stride)
        with ctx.workprec(200):
            weights.append(max(float(abs(weight).log()) for weight in taper.weights(arb(y))))
        assert taper.log_weight(y) >= weights[-1]
    assert weights[0] > 40 > 3 > weights[1]


@covering()
@pytest.mark.parametrize("t", [0.02, 20.0])
@pytest.mark.parametrize("a", [1.5, -0.75])
def test_the_slow_factor_of_a_sampled_gaussian(a, t):
    part, law = SampledGaussian(Fraction(1, 4), Fraction(1, 3)), Normal(0.5, Fraction(1, 3))
    low = MP.log(MP.mpf(2) / 3)
    with ctx.workprec(64):
        [series] = part.amplitude_bounds(a, t, 4)
        found = MP.taylor(lambda x: law.moment(MP.mpc(a, x)) * MP.expj(-low * x), t, 3)
        for j, value in enumerate(found):
            assert abs(value) <= mp(series[j].upper())


@pytest.mark.parametrize("name", ["laplace", "much"])
@pytest.mark.parametrize("a", [1.5])
def test_the_slow_factors_of_laplace_noise(name, a):
    """The density's part at an end is an integral upwards from it, with v^j/j! for a derivative."""
    part, law = TAPERED[name]
    shift, gamma = law.shift, law.gamma
    first = MP.exp(-shift / 2) * MP.sqrt(gamma) / 4

    def density(loss):
        return first * MP.exp(loss) * (MP.exp(loss) - 1 + gamma) ** MP.mpf("-1.5")

    with ctx.workprec(64), MP.workdps(15):
        for t in (0.5,):
            for series, loss, sign, atom in zip(
                part.amplitude_bounds(a, t, 5),
                law.ends(False),
                (1, -1),
                (0.5, MP.exp(-shift) / 2),
                strict=True,
            ):
                for j in (0, 1, 4):

                    def inner(w, loss=loss, t=t, j=j):
                        v = MP.mpc(0, w)
                        value = density(loss + v) * MP.exp(v * MP.mpc(a, t))
                        return value * v**j / MP.factorial(j) * MP.mpc(0, 1)

                    found = sign * MP.quad(inner, [0, 1 / t, 4 / t, 20 / t, 60 / t])
                    found = MP.exp(a * loss) * (found + (atom if j == 0 else 0))
                    assert abs(found) <= mp(series[j].upper())


# --- moments

GAUSSIANS = [
    (Fraction(1), Fraction(1, 2)),
    (Fraction(4), Fraction(1, 100)),
    (Fraction(1, 4), "1/5"),
]


@covering()
@pytest.mark.parametrize(("variance", "gamma"), GAUSSIANS)
@pytest.mark.parametrize("a", [1.5, 0.5, 4.0, -0.75, -3.0])
def test_a_coarse_sum_over_real_x_holds_the_moment(variance, gamma, a):
    part, sigma = SampledGaussian(variance, Fraction(gamma)), math.sqrt(variance)
    law, t = Normal(sigma, Fraction(gamma)), 6.0
    wanted = {u: law.moment(MP.mpc(a, u)) for u in (0.0, 2.0, t)}
    rules = 0
    for angle, coarse, reach in itertools.product((0.4, 1.5, 2.9), (0.1, 0.3, 0.6), (2, 4, 9)):
        step = coarse * min(sigma, sigma**2)
        first = math.floor(-reach * sigma / step)
        last = math.ceil((max(a, 0.5) + reach * sigma) / step) + 1
        rule = Strip(0.0, step, first, last, angle, PLACES)
        with ctx.workprec(BITS):
            frame = part.frame(a)
            weights, losses = nodes(frame, arb(rule.step), rule.first, rule.last)
            bound = error(frame, rule, t)
            rules += bool(bound < 1)
            for u, known in wanted.items():
                total = sum(
                    w * (arb(u) * x * I).exp() for w, x in zip(weights, losses, strict=True)
                )
                off = abs(MP.mpc(mp(total.real.mid()), mp(total.imag.mid())) - known)
                assert not bound.is_finite() or off <= mp(bound.upper()) * MP.mpf("1.000001")
    assert rules > 3


@examples(150, 600)
@given(
    st.sampled_from([*GAUSSIANS, (Fraction(25), "1/1000")]),
    st.floats(-6, 12).filter(lambda a: abs(a) > 0.01),
    st.one_of(st.floats(0, 60), st.floats(60, 3000)),
    st.floats(0.05, 3.1),
    # On a grid, as they are chosen: a chord between neighbouring floats is wider than any bound.
    st.sets(st.integers(-384, -3).map(lambda k: k / 32), max_size=6),
    st.sets(st.integers(3, 160).map(lambda k: k / 32), max_size=3),
)
@example(  # slopes of 49,000, whose tail is e^{−4.8·10⁹}
    (Fraction(1, 4), "1/5"), 0.418590003, 2036.8992953, 3.1, {-4.59375, -1.0625}, {2.75, 3.75}
)
def test_the_edge_of_a_strip_is_bounded(case, a, t, angle, below, above):
    """Against a plain sum of e^{θ²σ²/2} Q|R_θ|^a e^{t arg R_θ}."""
    variance, gamma = float(case[0]), float(Fraction(case[1]))
    x = np.linspace(-12 - 6 * variance, 40 + 12 * variance, 20_001)
    w = (2 * x - 1) / (2 * variance) + np.log(gamma)
    log_r = np.log((1 - gamma) * np.exp(-np.maximum(w, 0)) + np.exp(np.minimum(w, 0) + 1j * angle))
    exponent = a * (log_r.real + np.maximum(w, 0)) + t * log_r.imag - x * x / (2 * variance)
    top = exponent.max()
    known = top + math.log(np.exp(exponent - top).sum() * (x[1] - x[0]))
    known += angle**2 * variance / 2 - math.log(2 * math.pi * variance) / 2
    with ctx.workprec(64):
        frame = SampledGaussian(case[0], Fraction(case[1])).frame(a)
        rule = Strip(0.0, 1.0, 0, 0, angle, (*sorted(below), 0.0, *sorted(above)))
        assert known <= float(log_edge(frame, rule, t)) + 1e-9


@examples(16, 400)
@given(
    st.fractions(Fraction(1, 40), 300, max_denominator=90),
    st.one_of(
        st.fractions(Fraction(1, 10**6), Fraction(999, 1000)),
        st.integers(7, 20).map(lambda n: Fraction(1, 10**n)),
    ),
    st.one_of(st.floats(0.01, 60), st.floats(-12, -0.01)),
    st.floats(2, 120),
)
@example(Fraction(144), Fraction(3, 10**9), -3e9, 16.0)  # all of the mass is below the places
@example(Fraction(69, 58), Fraction(809, 17_000_000), 15.795, 14.095)  # chords of another end fell
def test_one_order_and_a_line_agree(variance, gamma, a, need):
    part = SampledGaussian(variance, gamma)
    with ctx.workprec(BITS + 240):
        line = OrderLine(a, 1.0, 0)
        (alone,) = part.transform(line, need)
        assert alone.overlaps(part.rule(a, need + 60).transform(part, line)[0])
        assert alone.real.rad() < 20 * math.exp(-need) * alone.real


@examples(10, 100)
@given(
    st.fractions(Fraction(1, 4), 30, max_denominator=9),
    st.fractions(Fraction(1, 1000), Fraction(9, 10)),
    st.one_of(st.floats(1, 60), st.floats(-12, -0.5)),
    st.floats(0.1, 3),
    st.integers(0, 25),
    st.integers(0, 40),
    st.floats(2, 60),
)
@example(Fraction(1, 4), Fraction(183, 5000), 32.2, 1.02, 0, 11, 27.4)  # F(a) is e^1900
def test_the_real_line_and_a_line_above_it_agree(variance, gamma, a, h, first, more, need):
    """And neither is much wider than was asked for."""
    part, line = SampledGaussian(variance, gamma), OrderLine(a, h, first + more, first)
    with ctx.workprec(BITS + 60):
        on = strip(part, a, h * line.last, need).transform(part, line)
        off = part.rule(a, need).transform(part, line)
        [known] = part.transform(OrderLine(a, h, 0), 20.0)
        for one, other in zip(on, off, strict=True):
            assert one.overlaps(other)
            assert one.rad() < 40 * math.exp(-need) * abs(known)


@pytest.mark.parametrize("a", [8.0, 30.0, 166.0])
def test_what_lies_beyond_a_node_far_below_a(a):
    """The chord's tail, and beyond a the tilted one, against a plain sum."""
    part = SampledGaussian(Fraction(25), Fraction(1, 1000))
    tight = 0
    for right in (6, 20, 60, 100, 105, 110):
        for step in (0.5, 2.0):
            rule = LineRule(0.0, step, math.floor(-110 / step), math.ceil(right / step))
            x = step * (rule.last + 1 + np.arange(int(2000 / step)))
            log_r = np.logaddexp(math.log(0.999), math.log(0.001) + (2 * x - 1) / 50)
            exponent = a * log_r - x * x / 50
            known = math.log(
                step / math.sqrt(50 * math.pi) * np.exp(exponent - exponent.max()).sum()
            )
            known += exponent.max()
            with ctx.workprec(64):
                found = part.frame(a).outside_sum(rule, arb(0)).log()
            assert not found.is_finite() or known <= float(found) + 1e-9
            tight += found.is_finite() and float(found) < known + 6
    assert tight >= 3


@pytest.mark.parametrize("a", [-3.0, 0.3, 0.5, 4.0])
@pytest.mark.parametrize("s", [0.1, 2.0, 40.0])
def test_laplace_noise_far_out_is_known_without_nodes(a, s):
    """Where a closed form is, Gauss's rule bounds it, and hardly more."""
    part = LaplaceLoss(Fraction(7, 5))
    with ctx.workprec(BITS):
        found, bound = part.modulus(a, s, s, 40.0), SummedLoss.modulus(part, a, s, s, 40.0)
        assert not bound < found
        assert bound < found + arb(-35).exp() * part.transform(OrderLine(a, 1.0, 0), 40.0)[0].real


def test_sums_of_powers_by_several_products():
    """Of more columns, and of more rows, than one product takes."""
    count, terms = 20_000, 300
    with ctx.workprec(BITS):
        weights = [arb(j % 7 - 3) / 8 for j in range(terms)]
        angles = [arb(j * j % 101) / 50 for j in range(terms)]
        turns = [acb(0, x).exp() for x in angles]
        found = real_power_sums(weights, angles, 0, count - 1)
        again = power_sums([acb(w) for w in weights], turns, count)
        assert len(found) == len(again) == count
        for n in (0, 1, 140, 141, 9023, 9024, 12_799, 12_800, count - 1):
            known = sum(
                (w * (x * n * I).exp() for w, x in zip(weights, angles, strict=True)), acb(0)
            )
            assert found[n].overlaps(known)
            assert again[n].overlaps(known)


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(-1, 1)), min_size=1, max_size=9),
    st.floats(0.01, 4),
    st.integers(0, 30),
    st.integers(1, 40),
)
def test_gathered_terms(terms, h, first, more):
    """Of few terms, each of which is repeated, and moved a little."""
    with ctx.workprec(BITS):
        near = [(w, x + j / 1000) for w, x in terms for j in range(60)]
        weights, losses = [arb(w) for w, _ in near], [arb(x) for _, x in near]
        line = OrderLine(1.5, h, first + more, first)
        with mock.patch("symacct.profile.sums._TERMS_FOR_A_MOMENT", 0):
            cells = _cells_of(losses, line)
        if cells is None:  # the losses are too far apart
            return
        found = _gathered(weights, losses, line, cells)
        for n, value in zip(line.nodes, found, strict=True):
            turns = [(x * n * h * I).exp() for x in losses]
            known = sum((w * turn for w, turn in zip(weights, turns, strict=True)), acb(0))
            assert value.overlaps(known)
            assert value.real.rad() < 1e-20


def test_many_terms_are_gathered_before_they_are_summed():
    """30,000 losses in 40 cells: of them there are fewer sums than of the terms."""
    losses = [arb(j) / 2**20 for j in range(30_000)]
    summed = []

    def noted(weights, angles, first, last):
        summed.append(len(weights))
        return real_power_sums(weights, angles, first, last)

    with ctx.workprec(BITS), mock.patch("symacct.profile.sums.real_power_sums", noted):
        sums = sums_on_a_line([arb(1)] * len(losses), losses, OrderLine(2.0, 10.0, 134), arb(0))
    assert sum(summed) < len(losses) / 4
    ratio = (arb(10 * 77) / 2**20 * I).exp()
    assert sums[77].overlaps((1 - ratio ** len(losses)) / (1 - ratio))


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(-3, 3)), min_size=1, max_size=5),
    st.integers(0, 30),
    st.integers(0, 40),
)
def test_sums_of_powers(terms, first, more):
    with ctx.workprec(BITS):
        weights, angles = [arb(w) for w, _ in terms], [arb(x) for _, x in terms]
        turns = [acb(0, x).exp() for x in angles]
        found = real_power_sums(weights, angles, first, first + more)
        again = power_sums([acb(w) for w in weights], turns, first + more + 1)[first:]
        assert len(found) == len(again) == more + 1
        for n, (one, other) in enumerate(zip(found, again, strict=True), start=first):
            known = sum(
                (w * (x * n * I).exp() for w, x in zip(weights, angles, strict=True)), acb(0)
            )
            assert one.overlaps(known)
            assert other.overlaps(known)
            assert max(one.rad(), other.rad()) < 1e-20


@covering()
@pytest.mark.parametrize(("variance", "gamma"), GAUSSIANS)
@pytest.mark.parametrize("a", [1.5, 4.0, -0.75, -3.0])
def test_the_decay_bounds_all_that_lies_beyond(variance, gamma, a):
    part = SampledGaussian(variance, Fraction(gamma))
    law = Normal(math.sqrt(variance), Fraction(gamma))
    for t in (0.5, 4.0, 25.0):
        with ctx.workprec(64):
            bound = mp(part.decay(a, t, 0.01).upper())
        for beyond in (1.0, 1.02, 1.5, 3.0):
            assert MP.log(abs(law.moment(MP.mpc(a, t * beyond)))) <= bound
        # A bound that says nothing would pass as well.
        assert bound <= part.log_decay(a, t) + 0.02


LAPLACES = [("1/2", "1"), ("1/2", "1/3"), ("2", "1/10"), ("1/20", "1/2")]


@covering()
@pytest.mark.parametrize(("shift", "gamma"), LAPLACES)
@pytest.mark.parametrize("a", [1.5, 4.0, -0.75, -3.0])
def test_the_moments_of_laplace_noise(shift, gamma, a):
    part = LaplaceLoss(Fraction(shift), Fraction(gamma))
    law = SampledLaplace(Fraction(shift), Fraction(gamma))
    with ctx.workprec(BITS):
        for need in (1.0, 10.0, 60.0):
            found = part.transform(OrderLine(a, 3.0, 6), need)
            for n in (0, 1, 6):
                known = law.moment(MP.mpc(a, 3.0 * n))
                assert contains_complex(found[n], known)
                assert float(found[n].rad()) < 20 * math.exp(-need) * float(abs(law.moment(a)))


@covering()
@pytest.mark.parametrize(("shift", "gamma"), LAPLACES)
@pytest.mark.parametrize("a", [1.5, -0.75, -3.0])
def test_few_nodes_of_gauss_s_rule_hold_the_moment(shift, gamma, a, monkeypatch):
    part = LaplaceLoss(Fraction(shift), Fraction(gamma))
    law = SampledLaplace(Fraction(shift), Fraction(gamma))
    for ellipse in (1.2, 2.0, 4.0, 8.0):
        for count in (2, 3, 5):
            monkeypatch.setattr("symacct.profile.losses.laplace._rule", lambda *_: (ellipse, count))  # noqa: B023
            laplace._sample.cache_clear()
            with ctx.workprec(BITS):
                sample = part.sample(a, 9.0, 1.0)
                for t in (0.0, 9.0):
                    terms = [
                        w * (arb(t) * loss * I).exp()
                        for w, loss in zip(sample.weights, sample.losses, strict=True)
                    ]
                    total = sum(terms)
                    off = abs(
                        MP.mpc(mp(total.real.mid()), mp(total.imag.mid()))
                        - law.moment(MP.mpc(a, t))
                    )
                    assert not sample.error.is_finite() or off <= mp(sample.error.upper())


@covering()
@pytest.mark.parametrize(("shift", "gamma"), LAPLACES)
@pytest.mark.parametrize("a", [1.5, -1.25, 12.0])
@pytest.mark.parametrize("turns", [0.2, 1.5, 3.0, 5.0, 40.0])
def test_the_decay_of_laplace_noise_bounds_all_that_lies_beyond(shift, gamma, a, turns):
    part = LaplaceLoss(Fraction(shift), Fraction(gamma))
    log_weights, losses = part.floats(0.0, 1.0)
    terms = np.exp(log_weights + a * losses)
    width = losses.max() - losses.min()
    with ctx.workprec(64):
        bound = float(part.decay(a, turns / width, 0.01).upper())
        steps = [(turns + i * 0.25) / width for i in range(400)]
        heights = np.abs(np.exp(1j * np.outer(steps, losses)) @ terms)
        assert math.log(max(heights)) <= bound + 1e-9
        assert bound <= math.log(sum(terms)) + 1e-12


PARTS = [
    SampledGaussian(Fraction(1), Fraction(1, 3)),
    GaussianLoss(Fraction(1, 2)),
    LaplaceLoss(Fraction(1, 2)),
    LaplaceLoss(Fraction(3), Fraction(1, 10)),
    Atoms(((Fraction(1, 3), Fraction(1, 2)), (Fraction(2, 3), Fraction(1, 2))), Fraction(1, 4)),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda p: type(p).__name__)
def test_both_laws_have_mass_one(part):
    with ctx.workprec(BITS):
        for a in (1.0, 0.0):
            [value] = part.transform(OrderLine(a, 1.0, 0), 60.0)
            assert value.real.overlaps(arb(1))
            assert value.rad() < 1e-20


@pytest.mark.parametrize("part", PARTS, ids=lambda p: type(p).__name__)
def test_exchanging_the_laws_is_reversal(part):
    """H_a(Q‖P) = 1 − a + a H_{1/a}(P‖Q)."""
    with ctx.workprec(BITS):
        for y in (0.0, 0.05, 0.5, -0.3):
            forward, backward = part.hockey_stick(arb(-y), False), part.hockey_stick(arb(y), True)
            assert backward.overlaps(arb(y).exp() * forward - arb(y).expm1())


@covering()
@pytest.mark.parametrize("order", [-9.0, 5.0, 24.7, 40.0])
@pytest.mark.parametrize("gamma", [Fraction(1, 10), Fraction(1, 1000)])
@pytest.mark.parametrize("noise", [DiscreteGaussian(3), DiscreteGaussian(1), Skellam(9)], ids=str)
def test_a_moment_of_sampled_noise_on_whole_numbers_has_its_digits(noise, gamma, order):
    """Where the noise alone has a moment that is larger by many orders of magnitude."""
    found = IntegerLoss(noise, gamma).transform(OrderLine(order, 1.0, 0), 14.0)[0].real
    reach = range(-300, 300)
    with MP.workdps(40):
        weights = [mass_of(noise, k) for k in reach]
        moved = [mass_of(noise, k - 1) for k in reach]
        g = mp(gamma)
        expected = sum(
            q * ((1 - g) + g * p / q) ** mp(order) for q, p in zip(weights, moved, strict=True)
        )
        expected /= sum(weights)
    assert contains(found, expected, 12)
    assert found.rel_accuracy_bits() > 18


def mass_of(noise, k):
    """Q(k), but for a factor."""
    if isinstance(noise, Skellam):
        return MP.besseli(abs(k), mp(noise.mu))
    return MP.exp(-(mp(k) ** 2) / (2 * mp(noise.sigma) ** 2))


@pytest.mark.parametrize("taper", [False, True])
def test_the_profile_of_a_ball_holds_that_of_its_ends(taper):
    part = SampledGaussian(Fraction(1), Fraction(1, 100 if taper else 2))
    direction = CompositionProfile(((part, 3 if taper else 30),), False)
    middle, digits = (0.22, 14.0) if taper else (8.0, 20.0)
    direction.contours.delta(lambda: arb(middle), digits)
    contour = direction.contours.known[0]
    assert (contour.plan.taper is not None) is taper
    with ctx.workprec(contour.plan.bits):
        for radius in (1e-3, 1e-12, 1e-25):
            y = arb(middle, radius)
            low, high = (contour.delta(end) for end in (y.lower(), y.upper()))
            found = contour.delta(y)
            assert found.contains(low.mid())
            assert found.contains(high.mid())
            # A chance bounds the slope: tapered sums at a ball were wider. Radii have 30 bits.
            assert found.rad() <= low.rad() + high.rad() + 1.000001 * radius
