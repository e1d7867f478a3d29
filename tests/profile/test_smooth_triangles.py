"""One triangle is the worst of fixed-size samples where the hockey stick is made smooth."""

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from symacct import (
    Gaussian,
    Kind,
    NoisyDescent,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.analysis.worst_triangle import equilateral_order
from symacct.profile.losses.fixed_size import Equilateral
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.losses.two_sided_exponential import TwoSidedExponential
from symacct.profile.pairs import products
from symacct.profile.part import OrderLine
from symacct.profile.solve import CompositionProfile
from tests import independent

W = SubsampleWithoutReplacement
MP = independent.context(40)
KINDS = [("5", "1/1000"), ("11/10", "256/60000"), ("2", "1/100"), ("1", "1/10000"), ("20", ".01")]


def means(f, delta, gamma, a, b):
    """E_ν f(r) of the means a and b in the plane, by a fine lattice of nodes in float64."""
    reach = 9 + max(np.linalg.norm(a), np.linalg.norm(b))
    nodes = np.arange(-reach, reach, 0.05)
    first, second = nodes[:, None], nodes[None, :]
    q = np.exp(-(first**2 + second**2) / 2) * 0.05**2 / (2 * np.pi)
    m, n = (1 - gamma + gamma * np.exp(c[0] * first + c[1] * second - (c @ c) / 2) for c in (a, b))
    return float((q * n * f(m / n)).sum())


def drawn_triangle(draw, delta):
    """Two points at most δ from 0 and from each other."""
    while True:
        a, b = (np.array([draw.uniform(-delta, delta) for _ in range(2)]) for _ in range(2))
        if max(map(np.linalg.norm, (a, b, a - b))) <= delta:
            return a, b


def smoothed_stick(alpha, t):
    """E(λe^Λ − t)₊ less its tangent at 1."""
    scale = t / (2 * alpha - 1)

    def f(x):
        small = np.exp(alpha * np.minimum(np.log(x / t), 0)) * scale
        large = np.exp((1 - alpha) * np.maximum(np.log(x / t), 0)) * scale
        return np.where(x < t, small, x - t + large)

    step = 1e-6  # E_ν r = 1 = E_ν 1: an affine function taken off leaves what digits are of
    slope = (f(np.float64(1 + step)) - f(np.float64(1 - step))) / (2 * step)
    return lambda x: f(x) - f(np.float64(1)) - slope * (x - 1)


@pytest.mark.parametrize(("sigma", "gamma"), KINDS)
def test_no_triangle_is_worse_than_the_equilateral_one(sigma, gamma):
    sigma, gamma = Fraction(sigma), Fraction(gamma)
    alpha, delta = float(equilateral_order(gamma, 1 / sigma)), 1 / float(sigma)
    worst = delta * np.array([1, 0]), delta * np.array([0.5, 3**0.5 / 2])
    draw, seen = random.Random(7), []
    for _ in range(12):
        f = smoothed_stick(alpha, np.exp(draw.choice([0, -1, 1, 3]) * draw.random() * 0.01 * delta))
        most = means(f, delta, float(gamma), *worst)
        found = means(f, delta, float(gamma), *drawn_triangle(draw, delta))
        assert found <= most * (1 + 1e-6)
        seen.append(found < most * (1 - 1e-4))
    assert any(seen)  # they are told apart


@pytest.mark.parametrize(("sigma", "gamma"), KINDS[:3])
def test_at_a_larger_order_another_triangle_is_worse(sigma, gamma):
    """Nearly all of the order is had: a tenth above it p′ = q has the larger moment."""
    sigma, gamma = Fraction(sigma), Fraction(gamma)
    alpha, delta = 1.1 * float(equilateral_order(gamma, 1 / sigma)), 1 / float(sigma)
    half, rise = delta / 2, 3**0.5 / 2 * delta
    shift = np.array([-alpha * delta, 0.0])  # nodes where the moment is
    equilateral, line = (
        tilted_moment(alpha, float(gamma), a, b, shift)
        for a, b in [((delta, 0.0), (half, rise)), ((delta, 0.0), (0.0, 0.0))]
    )
    assert line > equilateral


def tilted_moment(alpha, gamma, a, b, shift):
    """E_q[m^α n^{1−α}] over a lattice from the law to where X^α has it."""
    reach = 9 + np.linalg.norm(shift)
    nodes = np.arange(-reach, reach, 0.1)
    first, second = nodes[:, None], nodes[None, :]
    logs = [
        np.logaddexp(
            np.log1p(-gamma),
            np.log(gamma) + c[0] * first + c[1] * second - (c[0] ** 2 + c[1] ** 2) / 2,
        )
        for c in (a, b)
    ]
    log_f = alpha * logs[0] + (1 - alpha) * logs[1] - (first**2 + second**2) / 2
    return float(np.exp(log_f).sum())


@pytest.mark.parametrize(
    ("sigma", "gamma", "k"), [("5", "1/1000", 600_000), ("2", "1/100", 10_000)]
)
def test_what_is_smoothed_is_above_runs_of_any_one_triangle(sigma, gamma, k):
    """Above the collinear ones, and above the equilateral ones, which others are a lower end by."""
    sigma, gamma = Fraction(sigma), Fraction(gamma)
    order, equal = equilateral_order(gamma, 1 / sigma), (Equilateral(1 / sigma, gamma), k)
    above, *others = (
        CompositionProfile(runs, False).epsilon(Fraction(1, 10**6), 3)
        for runs in (
            (equal, (TwoSidedExponential(order), 1)),
            (equal,),
            ((SampledGaussian(sigma**2, gamma), k),),
        )
    )
    assert all(above > other for other in others)


@pytest.mark.parametrize(
    "m",
    [
        300 * W(Gaussian(5), "1/1000") + 200 * W(Gaussian(4), "1/500") + Gaussian(20),
        300 * W(Gaussian(5), "1/1000") + 4 * RandomizedResponse("3/4"),
    ],
    ids=["unlike", "with others"],
)
def test_lower_and_upper_ends_are_a_few_percent_apart(m):
    found = m.epsilon("1e-6", digits=3, conversion="exact")
    assert found.kind is Kind.UPPER
    lower = m.lower_epsilon("1e-6", digits=3)
    assert lower.lower <= found.epsilon.upper <= 1.05 * lower.lower


@pytest.mark.parametrize(
    ("m", "is_smoothed"),
    [
        (2 * W(Gaussian(5), "1/1000"), True),
        (W(Gaussian(5), "1/1000"), False),  # one run is exact
        (2 * W(Gaussian(1), "9/10"), False),  # no order
        (2 * W(2 * Gaussian(5), "1/1000"), False),  # two queries on one sample
        (2 * W(NoisyDescent(5, 2), "1/1000"), False),
    ],
)
def test_it_is_for_several_runs_of_one_query_each(m, is_smoothed):
    [product] = products(m)
    assert (product.smoothed is not None) is is_smoothed


def test_its_factor_is_a_pair_whose_loss_is_a_two_sided_exponential():
    alpha, part = Fraction(7, 2), TwoSidedExponential(Fraction(7, 2))
    order = independent.number(MP, alpha)

    def density(x):
        rate = order if x > 0 else order - 1
        return order * (order - 1) / (2 * order - 1) * MP.exp(-rate * abs(x))

    with ctx.workprec(100):
        [moment] = part.transform(OrderLine(1.5, 0.25, 4, 4), 60.0)
        truth = MP.quad(lambda x: MP.exp((1.5 + 1j) * x) * density(x), [-MP.inf, 0, MP.inf])
        assert abs(moment.real - arb(MP.nstr(truth.real, 30))) < 1e-20
        assert abs(moment.imag - arb(MP.nstr(truth.imag, 30))) < 1e-20
        for y in (-1, 0, 2):
            stick = MP.quad(
                lambda x, y=y: max(MP.exp(x) - MP.exp(y), 0) * density(x),
                [*sorted({y, 0}), MP.inf] if y < 0 else [y, MP.inf],
            )
            assert abs(part.hockey_stick(arb(y), False) - arb(MP.nstr(stick, 30))) < 1e-12
        beyond = part.transform(OrderLine(3.75, 0.25, 0), 60.0)
        assert not beyond[0].is_finite()
        assert abs(part.decay(1.5, 2.0, 1.0).exp() - abs(part._moment(acb(1.5, 2)))) < 1e-20
