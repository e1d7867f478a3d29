"""Runs whose losses lie on one lattice, and several mechanisms on one sample: by brute force."""

import random
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import sympy
from flint import arb, ctx

from symacct import (
    DiscreteGaussian,
    DiscreteLaplace,
    DistributionPair,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    Skellam,
    limits,
)
from symacct.kernel.arithmetic.ball import accuracy
from symacct.profile.closed_form import lattice_profile, proved_form, share_lattice
from symacct.profile.grids import Grids
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.integer_noise import several_runs
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.losses.noisy_sample import OneSample
from symacct.profile.pairs import products
from symacct.profile.runs import DirectedRuns
from symacct.profile.solve import CompositionProfile
from tests import independent
from tests.support import holds
from tests.thinning import some

MP = independent.context(50)


def losses(noise):
    """The loss of every outcome that counts, and its mass under P."""
    size = noise.sensitivity
    if isinstance(noise, DiscreteGaussian):
        sigma, reach = Fraction(noise.sigma), int(18 * noise.sigma) + 1
        weight = {
            k: MP.exp(-MP.mpf(k * k) / (2 * MP.mpf(sigma.numerator**2) / sigma.denominator**2))
            for k in range(-reach, reach + 1)
        }
        total = MP.fsum(weight.values())
        return {
            Fraction(2 * k * size + size**2) / (2 * sigma**2): w / total for k, w in weight.items()
        }
    scale, reach = Fraction(noise.b), int(110 * noise.b) + 1
    weight = {
        k: MP.exp(-abs(k) * independent.number(MP, 1 / scale)) for k in range(-reach, reach + 1)
    }
    total, found = MP.fsum(weight.values()), {}
    for k, w in weight.items():
        loss = (abs(k + size) - abs(k)) / scale
        found[loss] = found.get(loss, 0) + w / total
    return found


def convolved(runs):
    """The law of the total loss under P, as fractions, by convolution one run after the other."""
    found = {Fraction(0): MP.mpf(1)}
    for noise, count in runs:
        own = losses(noise)
        for _ in range(count):
            after = {}
            for x, p in found.items():
                for loss, q in own.items():
                    if (mass := p * q) > MP.mpf(10) ** -34:
                        after[x + loss] = after.get(x + loss, 0) + mass
            found = after
    return found


def drawn(seed):
    draw = random.Random(seed)

    def noise():
        if draw.random() < 0.6:
            return DiscreteGaussian(Fraction(draw.randint(2, 6), 2), draw.randint(1, 3))
        return DiscreteLaplace(Fraction(draw.randint(2, 6), 2), draw.randint(1, 4))

    runs = [(noise(), draw.randint(1, 2)) for _ in range(draw.randint(2, 3))]
    return runs, Fraction(draw.randint(0, 30), 10)


@pytest.mark.parametrize("seed", range(some(2, 40)))
def test_unlike_integer_noise_is_a_convolution(seed):
    """To twenty digits, for any noise whose losses are linear in the outcome, or cut off."""
    runs, y = drawn(seed)
    law = convolved(runs)
    m = sum((k * noise for noise, k in runs[1:]), runs[0][1] * runs[0][0])
    found = m.delta(y, digits=20, conversion="exact")
    known = MP.fsum(p * -MP.expm1(independent.number(MP, y - x)) for x, p in law.items() if x > y)
    assert found.kind is Kind.EXACT
    assert holds(found.delta, known, 20, trusted=24)


@pytest.mark.parametrize("m", [7 * DiscreteGaussian(3, 2), 40 * DiscreteGaussian("1/3")])
def test_one_kind_is_its_fourier_sum(m):
    ((part, count),) = products(m)[0].runs
    with ctx.workprec(160):
        for y in (arb(0), arb("0.5"), arb(4)):
            known = several_runs(part.noise, count, y)
            for reverse in (False, True):
                found = lattice_profile(((part, count),), reverse, y)
                assert found.overlaps(known)
                assert accuracy(found) > 20


def test_what_is_on_one_lattice():
    """Noise of rational parameters; no sample of it, no answers of another loss."""
    noise, laplace = DiscreteGaussian(3), DiscreteLaplace(2, 3)
    for m, is_so in (
        (2 * noise + DiscreteGaussian("1/2"), True),
        (2 * noise + 3 * laplace, True),
        (3 * DiscreteGaussian(sympy.sqrt(2)) + DiscreteGaussian(3 * sympy.sqrt(2)), True),
        (noise + DiscreteGaussian(sympy.sqrt(sympy.pi)), False),
        (noise + PoissonSubsample(noise, "1/2"), False),
        (noise + Skellam(3), False),
        (noise + RandomizedResponse("3/5"), False),
        (noise + DiscreteGaussian("100000.001"), False),  # too many nodes
    ):
        assert share_lattice(products(m)[0].runs) is is_so, m


def test_all_digits_of_unlike_noise_at_once():
    """The question of a user: 20 runs of one scale and 5 of another, also beside answers."""
    m = 20 * DiscreteGaussian(10) + 5 * DiscreteGaussian(20)
    few, many = (m.epsilon("1e-5", digits=n, conversion="exact").epsilon for n in (4, 30))
    assert few.lower <= many.upper
    assert many.lower <= few.upper
    assert many.digits >= 30
    law, y = np.ones(1), float(many.upper)
    for sigma, count, stride in ((10, 20, 4), (20, 5, 1)):
        k = np.arange(-12 * sigma, 12 * sigma + 1)
        one = np.zeros(stride * (len(k) - 1) + 1)
        one[::stride] = np.exp(-(k**2) / (2 * sigma**2)) / np.exp(-(k**2) / (2 * sigma**2)).sum()
        for _ in range(count):
            law = np.convolve(law, one)
    loss = (np.arange(len(law)) - len(law) // 2) / 400 + 20 / 200 + 5 / 800
    delta = (law * np.maximum(-np.expm1(y - loss), 0)).sum()
    assert delta == pytest.approx(1e-5, rel=1e-10)
    beside = (m + RandomizedResponse("3/5")).epsilon("1e-5", digits=20, conversion="exact")
    assert beside.epsilon.lower > many.upper


def test_a_place_that_balls_leave_open_by_more_than_one_output_is_no_number():
    """At few bits y does not say which outputs of much noise count: D is the largest over all."""
    noise, y = DiscreteGaussian(10**12), arb(3) / 2**40
    with ctx.workprec(30):
        assert several_runs(noise, 2, y).is_nan()
    with ctx.workprec(200):
        value = several_runs(noise, 2, y)
        assert value.rel_accuracy_bits() > 100
        assert several_runs(noise, 2, arb(y, y * arb(2) ** -38)).is_nan()  # some ten outputs


def five(draw):
    """Two laws on five outcomes, not far apart."""
    p, q = ([draw.randint(80, 120) for _ in range(5)] for _ in range(2))
    return DistributionPair(*([Fraction(x, sum(law)) for x in law] for law in (p, q)))


@pytest.mark.parametrize("seed", range(some(1, 20)))
def test_many_runs_of_many_outcomes(seed):
    """Beyond the outcomes that are summed: few digits between the bounds; no more are tried."""
    draw = random.Random(seed)
    m = draw.randint(100, 2000) * five(draw)
    assert proved_form(products(m)[0].runs, False) is None
    found = m.epsilon("1e-5", digits=4, conversion="exact").epsilon
    assert found.digits >= 4
    assert m.lower_epsilon("1e-5", digits=4).lower <= found.upper
    assert found.upper <= m.epsilon("1e-5", digits=4).epsilon.upper
    more = m.epsilon("1e-5", digits=30, conversion="exact")
    assert found.digits <= more.epsilon.digits < 30
    assert re.search(r"gives about . digits", more.note)


def test_few_outcomes_by_contour_and_one_by_one():
    """What a contour gives of few runs holds what their outcomes come to."""
    pair = five(random.Random(7))
    exact = (12 * pair).delta("1/8", digits=20, conversion="exact").delta
    with limits(outcomes=100):
        few = (12 * pair).delta("1/8", digits=3, conversion="exact").delta
    assert few.lower <= exact.upper
    assert exact.lower <= few.upper
    assert few.digits < 20


def mixed(product, gamma, epsilon):
    """γH_b(P‖Q) and (1−a(1−γ))H_c(Q‖P) in mpmath, of a profile that is its own exchanged."""
    a, rate = MP.exp(independent.number(MP, epsilon)), independent.number(MP, gamma)
    straight = rate * product(MP.log(1 + (a - 1) / rate))
    left = 1 - a * (1 - rate)
    other = left * product(MP.log(rate * a / left)) if left > 0 else MP.mpf(0)
    return max(straight, other)


def gaussian_and_laplace(sigma, b):
    """D(y) of Gaussian beside Laplace noise, by quadrature over the output of the latter."""
    mu, s = 1 / independent.number(MP, sigma), 1 / independent.number(MP, b)

    def gaussian(y):
        return MP.ncdf(mu / 2 - y / mu) - MP.exp(y) * MP.ncdf(-mu / 2 - y / mu)

    def product(y):
        ends = gaussian(y - s) / 2 + MP.exp(-s) / 2 * gaussian(y + s)
        return ends + MP.quad(lambda x: MP.exp(-x) / 2 * gaussian(y - s + 2 * x), [0, s])

    return product


@pytest.mark.parametrize("seed", range(some(2, 20)))
def test_two_mechanisms_on_one_sample(seed):
    """One run has all digits, by quadrature."""
    draw = random.Random(seed)
    sigma, b = (Fraction(draw.randint(4, 20), 4) for _ in range(2))
    gamma, epsilon = Fraction(draw.randint(1, 9), 10), Fraction(draw.randint(1, 10), 20)
    m = PoissonSubsample(Gaussian(sigma) + Laplace(b), gamma)
    found = m.delta(epsilon, digits=20, conversion="exact")
    assert found.kind is Kind.EXACT
    assert holds(found.delta, mixed(gaussian_and_laplace(sigma, b), gamma, epsilon), 20, 25)


def test_several_runs_of_two_mechanisms_on_one_sample():
    """Between a run of each alone and the bound of the curve; Gaussian ones are one Gaussian."""
    m = 10 * PoissonSubsample(Gaussian(2) + Laplace(10), "1/10")
    found = m.epsilon("1e-4", digits=2, conversion="exact").epsilon
    alone = (10 * PoissonSubsample(Gaussian(2), "1/10")).epsilon("1e-4", conversion="exact")
    assert alone.epsilon.upper < found.lower
    assert found.upper <= m.epsilon("1e-4", digits=4, conversion="improved").epsilon.upper
    most = m.epsilon("1e-4", digits=30, conversion="exact").epsilon
    assert found.lower <= most.lower <= most.upper <= found.upper
    (product,) = products(m)
    known = Grids(DirectedRuns(product.runs, False)).root(Fraction(1, 10**4), 2)
    assert float(known.lower()) <= most.upper  # on a grid, which asks no moment
    assert most.lower <= float(known.upper())


def test_runs_on_one_sample_that_are_one_noise():
    """One run of Laplace noise, whose sampled pair has a profile in closed form of its own."""
    rate = Fraction(1, 3)
    one, known = OneSample(((LaplaceLoss(Fraction(2)), 1),), rate), LaplaceLoss(Fraction(2), rate)
    with ctx.workprec(200):
        for reverse in (False, True):
            for y in ("-3", "-0.3", "0", "0.2", "1"):
                value = one.hockey_stick(arb(y), reverse)
                assert value.overlaps(known.hockey_stick(arb(y), reverse))
                assert value.rad() < 1e-30
            assert one.largest(reverse).overlaps(known.largest(reverse))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(2, 3), Fraction(1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_outcomes_that_one_law_lacks_on_a_shared_sample(rate, reverse):
    """Beside randomized response, all of it one finite pair: its ends, and what lies before them.

    An outcome without the record's law has the loss log(1−γ) for γ < 1, and none for γ = 1.
    """
    failing = Atoms(
        tuple((Fraction(p, 50), Fraction(q, 50)) for p, q in [(1, 0), (0, 2), (49, 48)])
    )
    answer = Atoms(((Fraction(51, 100), Fraction(49, 100)), (Fraction(49, 100), Fraction(51, 100))))
    runs = ((failing, 1), (answer, 2))
    one, known = OneSample(runs, rate), Atoms.joint(runs).sampled(rate)
    assert one.mass_at_infinity(reverse) == known.mass_at_infinity(reverse)
    assert one.largest(reverse).overlaps(known.largest(reverse))
    direct, expected = (CompositionProfile(((part, 1),), reverse) for part in (one, known))
    for y in ("0.01", "0.05", "0.1", "0.5", "1.09", "2"):
        value, exact = (way.delta(partial(arb, y), 8) for way in (direct, expected))
        assert value.overlaps(exact)
