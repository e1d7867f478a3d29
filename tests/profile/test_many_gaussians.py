"""Many sampled Gaussians of one rate at once: bounds by brute force, balls against balls."""

import functools
import itertools
import math
import operator
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from flint import acb, arb, ctx
from hypothesis import assume, example, given
from hypothesis import strategies as st

import symacct as sa
from symacct.profile.losses import many_gaussians
from symacct.profile.losses.many_gaussians import (
    ManyGaussians,
    RealLineGrid,
    log_most,
    merged_runs,
)
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.part import OrderLine
from tests.profile.laws import MP
from tests.thinning import covering, examples

BITS = 140
FACTORS = functools.partial(functools.reduce, operator.mul)
SIGMAS = st.sets(st.fractions(1, Fraction(19, 10), max_denominator=40), min_size=2, max_size=5)
RATES = st.sampled_from([Fraction(1, 1000), Fraction(1, 50), Fraction(1, 3), Fraction(9, 10)])
ORDERS = st.one_of(st.floats(1.01, 9), st.floats(-8, -0.2))


def many(sigmas, scale, gamma, counts=(1,)):
    """Runs whose σ differ by at most a factor of two."""
    counts = [counts[i % len(counts)] for i in range(len(sigmas))]
    parts = [SampledGaussian((scale * s) ** 2, gamma) for s in sorted(sigmas, reverse=True)]
    return ManyGaussians(tuple(zip(parts, counts, strict=True)))


def one_by_one(runs, line, need):
    columns = [[x**k for x in part.transform(line, need)] for part, k in runs.runs]
    return [FACTORS(row) for row in zip(*columns, strict=True)]


@examples(10, 400)
@given(
    SIGMAS,
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(5), Fraction(40)]),
    RATES,
    ORDERS,
    st.floats(0, 40).map(lambda t: round(t, 6)),
    st.integers(0, 20),
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.floats(2, 60),
)
def test_interpolated_moments_are_those_of_the_parts(
    sigmas, scale, gamma, a, t, first, counts, need
):
    """And not much wider than was asked for."""
    runs, line = many(sigmas, scale, gamma, counts), OrderLine(a, t / 24, first + 4, first)
    with ctx.workprec(BITS):
        grid = runs.grid(line, need)
        assume(grid is not None and grid.points * len(grid.nodes) < 20_000)
        known = one_by_one(runs, line, need + 10)
        largest = one_by_one(runs, OrderLine(a, 0.0, 0), 20.0)[0]
        for one, other in zip(runs.interpolated_transform(grid, line), known, strict=True):
            assert one.overlaps(other)
            assert one.rad() < 1000 * sum(counts) * math.exp(-need) * largest.real


@examples(10, 400)
@given(SIGMAS, RATES, ORDERS, st.floats(0, 12), st.integers(1, 9), st.floats(1.05, 6))
def test_few_points_hold_the_moment(sigmas, gamma, a, t, points, ratio):
    """On a grid that is fine."""
    runs, line = many(sigmas, Fraction(1), gamma), OrderLine(a, t / 2, 2)
    grid = RealLineGrid(0.2, -60, math.ceil(5 * max(a, 0) + 60), 1.5 / runs.high, points, ratio)
    with ctx.workprec(BITS):
        found = runs.interpolated_transform(grid, line)
        for ball, known in zip(found, one_by_one(runs, line, 60.0), strict=True):
            assert not ball.is_finite() or ball.overlaps(known)


def test_the_error_of_two_points_is_of_their_bound_s_size():
    """A bound that says nothing would pass as well."""
    runs, line = many([1, Fraction(19, 10)], Fraction(1), Fraction(1, 5)), OrderLine(3.0, 2.0, 1)
    off, bound = 0.0, math.inf
    with ctx.workprec(BITS):
        [_, known] = one_by_one(runs, line, 60.0)
        for ratio in (1.3, 1.7, 2.2, 3.0, 4.0):
            [_, ball] = runs.interpolated_transform(RealLineGrid(0.2, -60, 70, 2.0, 2, ratio), line)
            bound = min(bound, float(ball.rad()))
            off = float(abs(acb(ball.real.mid(), ball.imag.mid()) - known).mid())
    assert 0 < off < bound < 3000 * off


@pytest.mark.parametrize("a", [3.0, -2.0])
@pytest.mark.parametrize("gamma", [Fraction(1, 50), Fraction(2, 3)])
def test_the_size_of_a_term(a, gamma):
    """Against |R^z| at the corners of boxes, Im log R followed from Im s = 0 on."""
    runs, tight = many([1, Fraction(19, 10)], Fraction(1), gamma), 0
    boxes = itertools.product(
        (-4, -1, 0, 1, 2, 6), (0.0, 0.4, 0.75, 1.5), (0.0, 0.3), (0.0, 0.1, 0.4)
    )
    for (node, left, wide, tall), t in itertools.product(boxes, (0.0, 8.0)):
        z, grid = 0.75 * node, RealLineGrid(0.75, node, node, 1.0, 2, 2.0)
        with ctx.workprec(64):
            frame = runs.frame(arb(runs.high), a)
            bound = runs.largest_sum(grid, frame, t, arb(left), arb(left + wide), arb(tall))
        s = np.array([left, left + wide]) + 1j * tall * np.linspace(0, 1, 200)[:, None]
        log_r = np.log(1 - float(gamma) + float(gamma) * np.exp(s * z - s * s / 2))
        sizes = a * log_r[-1].real + t * abs(np.unwrap(log_r.imag, axis=0)[-1]) - z * z / 2
        known = sizes.max() + math.log(0.75) - math.log(2 * math.pi) / 2
        assert not bound.is_finite() or known <= float(bound.log().upper()) + 1e-9
        tight += float(bound.log()) < known + 0.01
    assert a < 0 or tight > 60


@examples(16, 1000)
@given(SIGMAS, RATES, ORDERS, st.floats(0, 30), st.floats(0.05, 3.1), st.floats(-3, 9))
def test_the_edge_of_a_strip(sigmas, gamma, a, t, theta, end):
    """Against plain sums of |QR^z| at Im Z = height, at the least and at the largest s."""
    runs = many(sigmas, Fraction(1), gamma)
    height = theta / runs.high
    with ctx.workprec(64):
        bound = float(runs.edge(runs.frame(arb(runs.high), a), end, arb(height), t).log())
    x = np.linspace(-16, end, 20_001)
    for s in (runs.low, runs.high):
        z = x + 1j * height
        log_r = np.log(1 - float(gamma) + float(gamma) * np.exp(s * z - s * s / 2))
        exponent = a * log_r.real + t * np.abs(log_r.imag) + (height**2 - x * x) / 2
        top = exponent.max()
        known = top + math.log(
            np.exp(exponent - top).sum() * (x[1] - x[0]) / math.sqrt(2 * math.pi)
        )
        assert known <= bound + 1e-3


def test_nodes_left_out_below():
    runs, line = many([1, Fraction(19, 10)], Fraction(1), Fraction(1, 5)), OrderLine(3.0, 2.0, 1)
    with ctx.workprec(BITS):
        known = one_by_one(runs, line, 60.0)
        for first in (-10, -15):
            found = runs.interpolated_transform(RealLineGrid(0.2, first, 50, 2.0, 80, 2.0), line)
            for ball, true in zip(found, known, strict=True):
                assert ball.overlaps(true)
                assert not ball.contains(acb(ball.real.mid() + 0.2))


@examples(16, 1000)
@given(
    SIGMAS, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(5)]), RATES, st.floats(1, 200)
)
def test_nodes_left_out_of_low_orders_at_every_noise(sigmas, scale, gamma, a):
    """To the right R^−a is largest where s is least, to the left where it is largest."""
    runs, step = many(sigmas, scale, gamma), 2.0**-4
    last = math.ceil(runs.high / step)
    grid = RealLineGrid(step, -200, last, 1.0, 4, 2.0)
    with ctx.workprec(64), mock.patch.object(ManyGaussians, "strip_error", return_value=arb(0)):
        found = float(runs._off_the_integral(grid, runs.frame(arb(runs.high), -a), 0.0).upper())
    z = step * np.r_[-600:-200, last + 1 : last + 400]
    for s in (runs.low, runs.high):
        log_r = np.logaddexp(math.log(1 - gamma), math.log(gamma) + s * z - s * s / 2)
        left_out = np.exp(-(z**2) / 2 - a * log_r).sum() * step / math.sqrt(2 * math.pi)
        assert left_out < found * (1 + 1e-9)


@covering()
@pytest.mark.parametrize("a", [2.5, -1.5])
@pytest.mark.parametrize(("last", "step"), [(1, 0.9), (2, 0.9), (3, 0.9), (9, 0.9), (9, 1.4)])
def test_a_sum_to_a_node_is_an_integral_to_half_a_step_beyond(a, last, step):
    """Up to what bounds it, for a strip that is neither too low nor too high."""
    runs, t, s = many([1, Fraction(19, 10)], Fraction(1), Fraction(1, 5)), 3.0, 1
    z, gamma = MP.mpc(a, t), MP.mpf(1) / 5

    def integrand(x):
        return MP.npdf(x) * MP.exp(
            z * MP.log(1 - gamma + gamma * MP.exp(s * x - MP.mpf(s * s) / 2))
        )

    end = step * (last + 0.5)
    cuts = [-14 + (end + 14) * i / 20 for i in range(21)]
    total = step * sum(integrand(MP.mpf(step) * j) for j in range(-16, last + 1))
    off = float(abs(total - MP.quad(integrand, cuts)))
    bounds = []
    for height in (0.2, 0.4, 0.7, 1.0, 1.3, 1.7):
        with ctx.workprec(64):
            grid = RealLineGrid(step, -16, last, height, 2, 2.0)
            bounds.append(runs.strip_error(grid, runs.frame(arb(runs.high), a), t))
    assert all(off <= float(bound) for bound in bounds)
    assert a < 0 or any(float(bound) < 500 * off for bound in bounds)


@examples(100, 20_000)
@given(
    st.floats(-9, 9),
    st.floats(0, 50),
    st.floats(1e-6, 30),
    st.floats(0, 3.3),
    st.floats(0, 1),
    st.floats(-1, 1),
)
@example(0.0, 50.0, 0.5, 3.0, 1.0, 2 * math.pi / 9)  # arg is arcsin v
def test_the_most_of_a_power(a, t, u, theta, part, turn):
    """Against |(1+ve^{iφ})^z| inside."""
    with ctx.workprec(80):
        bound = log_most(arb(a), t, arb(u), arb(theta))
        assert bound.is_finite() == (theta < math.pi or u < 1)
        one = 1 + arb(u) * part * acb(0, arb(theta) * turn).exp()
        assume(theta < math.pi / 2 or abs(one) > 1e-9)
        around = np.unwrap(
            np.angle(1 + u * part * np.exp(1j * theta * turn * np.linspace(0, 1, 999)))
        )
        assert a * float(abs(one).log()) + t * abs(around[-1]) <= float(bound.upper()) + 1e-9


@examples(8, 300)
@given(
    SIGMAS, RATES, ORDERS, st.floats(0.5, 20), st.lists(st.integers(1, 9), min_size=1, max_size=3)
)
@example({Fraction(6, 5), Fraction(41, 40), Fraction(24, 13)}, Fraction(9, 10), 7.34, 7.34, [1])
def test_the_decay_of_many_is_that_of_each(sigmas, gamma, a, t, counts):
    runs = many(sigmas, Fraction(1), gamma, counts)
    with ctx.workprec(64):
        bound = runs.decay(a, t, 0.01)
        for beyond in (1.0, 1.1, 2.5):
            [moment] = one_by_one(runs, OrderLine(a, t * beyond, 1, 1), 30.0)
            assert not moment.abs_lower() > bound.upper().exp()
        apart = sum((k * part.decay(a, t, 0.01) for part, k in runs.runs), arb(0))
        assert bound <= apart + 0.05 * abs(apart) + 0.1


def test_which_runs_are_gathered():
    """One rate, a factor of two in σ, and enough of them."""
    near = [(SampledGaussian(Fraction(100 + i) ** 2, Fraction(1, 9)), 2) for i in range(60)]
    far = [(SampledGaussian(Fraction(1 + i) ** 2, Fraction(1, 9)), 1) for i in range(4)]
    other = [(SampledGaussian(Fraction(100 + i) ** 2, Fraction(1, 8)), 1) for i in range(20)]
    found = merged_runs([*near, *far, *other])
    [one] = [part for part, _ in found if isinstance(part, ManyGaussians)]
    assert sorted(one.runs, key=str) == sorted(near, key=str)
    assert len(found) == 1 + len(far) + len(other)


def test_a_composition_of_many_asks_few_moments(monkeypatch):
    """The answer is that of the parts one by one, which are not asked one by one."""
    noises = [Fraction(i, 80) for i in range(400, 700)]
    node = sa.Compose(*(3 * sa.PoissonSubsample(sa.Gaussian(s), "1/50") for s in noises))
    asked = []
    transform = SampledGaussian.transform
    monkeypatch.setattr(
        SampledGaussian, "transform", lambda *of: asked.append(of) or transform(*of)
    )
    together = sa.Accountant(20).epsilon(node, "1e-6", "exact").epsilon
    assert not asked
    monkeypatch.setattr(many_gaussians, "_MANY_RUNS", 1000)
    apart = sa.Accountant(20).epsilon(node, "1e-6", "exact").epsilon
    assert asked
    assert max(together.lower, apart.lower) <= min(together.upper, apart.upper)
    assert str(together) == str(apart)
