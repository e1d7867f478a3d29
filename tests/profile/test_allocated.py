"""The true (ε, δ) of random allocation: by quadrature, FFT, another contour, and all outcomes."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from symacct import (
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Kind,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
)
from symacct.analysis.lognormal import Lognormal, Shortfall, hyperbola
from symacct.profile.losses.allocated import AllocatedGaussian
from tests import independent
from tests.profile.laws import contains
from tests.support import holds
from tests.thinning import covering

MP = independent.context(30)


def sticks(sigma, steps, y, digits):
    """D(y) of a record removed, and of one added, to so many digits."""
    part = AllocatedGaussian(1 / Fraction(sigma) ** 2, steps)
    with ctx.workprec(math.ceil(3.33 * digits) + 64):
        place = arb(y.numerator) / y.denominator
        return [part.hockey_stick(place, reverse) for reverse in (False, True)]


def put(place, s):
    """E(k − W)₊ of one lognormal variable, in closed form; 0 where k <= 0."""
    if place <= 0:
        return MP.mpf(0)
    d = MP.log(place) / s
    return place * MP.ncdf(d + s / 2) - MP.ncdf(d - s / 2)


def put_of_two(place, s):
    """E(k − W₁ − W₂)₊ of two lognormal variables: of the second one by `put`, over the first."""
    end = (MP.log(place) + s * s / 2) / s
    cuts = [MP.mpf(-16), *(end - MP.mpf(2) ** -j for j in range(-3, 7) if end - 2.0**-j > -16)]
    return MP.quad(lambda z: put(place - MP.exp(s * z - s * s / 2), s) * MP.npdf(z), [*cuts, end])


@covering(lambda sigma, y: {sigma == "1"})
@pytest.mark.parametrize(("sigma", "y"), [("1", "17/4"), ("20", "1/10"), ("2/5", "3")])
def test_two_steps_by_quadrature(sigma, y):
    """E(K − W₁ − W₂)₊ by the second one's closed form, integrated over the first."""
    s, at = 1 / independent.number(MP, Fraction(sigma)), independent.number(MP, Fraction(y))
    removed = (put_of_two(2 * MP.exp(at), s) - 2 * MP.expm1(at)) / 2
    added = MP.exp(at) * put_of_two(2 * MP.exp(-at), s) / 2
    for found, value in zip(sticks(sigma, 2, Fraction(y), 30), (removed, added), strict=True):
        assert contains(found, value, 14)
        assert found.rel_accuracy_bits() > 90


@pytest.mark.parametrize(("sigma", "steps", "ys"), [(2, 16, (0.2, 0.4783)), (1, 8, (0.5, 1.0))])
def test_more_steps_by_convolution(sigma, steps, ys):
    """The density of S by a discrete Fourier transform, in float64."""
    s, size, step = 1 / sigma, 2**18, 1 / 512
    x = step * np.arange(1, size)
    density = np.exp(-((np.log(x) / s + s / 2) ** 2) / 2) / (x * s * math.sqrt(2 * math.pi))
    law = np.fft.irfft(np.fft.rfft(np.concatenate([[0.0], density * step])) ** steps)
    places = step * np.arange(size)
    for y in ys:
        place = steps * math.exp(y), steps * math.exp(-y)
        removed = float(np.sum(law * np.maximum(places - place[0], 0))) / steps
        added = math.exp(y) * float(np.sum(law * np.maximum(place[1] - places, 0))) / steps
        found = sticks(sigma, steps, Fraction(y), 20)
        # A trapezoidal sum over a corner is off by at most step²/12 times the density there.
        assert abs(float(found[0]) - removed) < step**2
        assert abs(float(found[1]) - added) < step**2
        assert removed > 100 * step**2 or y > 0.4


def test_a_thousand_steps_on_a_straight_line():
    """The equally spaced sum on Re u = c with its aliases, φ by plain sums, all in mpmath."""
    steps, y, c, length = 1000, MP.mpf("0.17172868444983946979890912565"), MP.mpf("0.04"), 2600
    place, h = steps * MP.exp(y), 2 * MP.pi / length
    lines = [
        (MP.exp(-(z * z) / 2), MP.exp(z - MP.mpf(1) / 2))
        for z in (MP.mpc(k, -7) / 10 for k in range(-130, 131))
    ]

    def node(n):
        u = MP.mpc(c, n * h)
        phi = sum(weight * MP.exp(-u * w) for weight, w in lines) / 10 / MP.sqrt(2 * MP.pi)
        return (MP.exp(u * place) * phi**steps / u**2).real

    total = (node(0) / 2 + sum(node(n) for n in range(1, 150))) * h / MP.pi
    q = MP.exp(-c * length)
    delta = (total - (place - steps) / (1 - q) - length * q / (1 - q) ** 2) / steps
    assert abs(delta * 10**6 - 1) < MP.mpf(10) ** -20


@pytest.mark.parametrize(("sigma", "steps", "ratio"), [(1, 4, 1.1), (1, 40, 0.9), (3, 9, 1.0)])
def test_what_a_coarse_sum_is_off_by(sigma, steps, ratio):
    """Steps too wide and windows too short: the ball is as wide as it must be, and holds it."""
    law, place = Lognormal(Fraction(1, sigma**2)), steps * ratio
    with ctx.workprec(200):
        fine = hyperbola(law, place, steps, -50.0)
        truth = Shortfall(law, steps, place, fine).value(arb(place))
        off = []
        for wider, shorter in ((1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (2, 2), (1, 4), (1, 8)):
            step, last = wider * fine.step, fine.last // (wider * shorter)
            coarse = fine._replace(step=step, last=max(last, 1))
            found = Shortfall(law, steps, place, coarse).value(arb(place))
            assert found.overlaps(truth)
            off.append(abs(float((found - truth).mid())))
        assert max(off) > 1e-5  # they are off


@pytest.mark.parametrize("ratio", [Fraction(1, 9), Fraction(1), Fraction(9)])
def test_what_a_coarse_transform_is_off_by(ratio):
    law, nodes = Lognormal(ratio), [acb(2, 0), acb(1, 3), acb(-1, 2), acb(0.01, 0.02)]
    with ctx.workprec(200):
        truth = law.values(nodes, [90.0] * 4)
        for need in (0.5, 1.0, 2.0, 5.0, 12.0, 30.0):
            for found, value in zip(law.values(nodes, [need] * 4), truth, strict=True):
                assert found.overlaps(value)
                assert abs(found.real.rad()) < math.exp(-need)
        for u in (1e-3, 0.4, 7.0):
            (value,) = law.values([acb(u)], [90.0])
            assert law.log_above(arb(u)) >= value.real.log()
            x, height, slope = law.chord(arb(u), arb(3 * u))
            for place in (u, 1.7 * u, 3 * u):
                (value,) = law.values([acb(place)], [90.0])
                assert height + slope * (arb(place) - x) >= value.real.log()


def test_two_epochs_by_all_pairs_of_sums():
    """In float64: the law of S on a grid, and the product of two of its values."""
    sigma, steps, y = 2, 16, 0.6
    s, size, step = 1 / sigma, 2**11, 1 / 32
    x = step * np.arange(1, size)
    density = np.exp(-((np.log(x) / s + s / 2) ** 2) / 2) / (x * s * math.sqrt(2 * math.pi))
    law = np.fft.irfft(np.fft.rfft(np.concatenate([[0.0], density * step])) ** steps)
    mean = step * np.arange(size) / steps
    ratios, shares = np.outer(mean, mean), np.outer(law, law)
    removed = float(np.sum(shares * np.maximum(ratios - math.exp(y), 0)))
    found = (2 * RandomAllocation(Gaussian(sigma), steps)).delta(y, digits=3, conversion="exact")
    assert found.kind is Kind.EXACT
    assert abs(float(found.delta) / removed - 1) < 2e-3


@pytest.mark.parametrize(
    ("sigma", "steps", "delta", "removed", "added"),
    [
        (1, 1000, "1e-6", "0.171728684449839469798909", "0.1494309548131119746885033"),
        (2, 16, "1e-5", "0.4783776372536132243380208", "0.456140722020609325918308"),
    ],
)
def test_the_larger_direction_is_the_guarantee(sigma, steps, delta, removed, added):
    found = RandomAllocation(Gaussian(sigma), steps).epsilon(delta, conversion="exact")
    assert found.kind is Kind.EXACT
    assert holds(found.epsilon, MP.mpf(removed), 24, trusted=24)
    part, most = AllocatedGaussian(Fraction(1, sigma**2), steps), Fraction(delta)
    for value, reverse in ((removed, False), (added, True)):
        with ctx.workprec(160):
            assert abs(part.hockey_stick(arb(value), reverse) / arb(float(most)) - 1) < 1e-14


def test_one_step_is_the_noise():
    same = RandomAllocation(Gaussian(3), 1).epsilon("1e-7", conversion="exact")
    assert same.epsilon.upper == Gaussian(3).epsilon("1e-7", conversion="exact").epsilon.upper


@covering(lambda seed: {seed % 3})
@pytest.mark.parametrize("seed", range(30))
def test_few_digits_hold_many(seed):
    """Contours for other digits lie elsewhere: their balls have the same number."""
    rng = random.Random(seed)
    sigma, steps = Fraction(rng.randint(3, 60), 10), int(10 ** rng.uniform(0.31, 5))
    wide = math.sqrt(math.log1p(math.expm1(float(1 / sigma**2)) / steps))
    y = Fraction(rng.uniform(-3, 6) * wide)
    few, many = sticks(sigma, steps, y, 4), sticks(sigma, steps, y, 25)
    for one, other in zip(few, many, strict=True):
        assert one.contains(other.mid()) or one.overlaps(other)
        assert other.rel_accuracy_bits() > 70
        assert one.rel_accuracy_bits() > 5


def test_both_directions_at_one_place():
    """D(y) of one direction and D(−y) of the other are one integral, less what is certain."""
    for y in (Fraction(1, 10), Fraction(-1, 8)):
        removed, _ = sticks(1, 50, y, 20)
        _, added = sticks(1, 50, -y, 20)
        with ctx.workprec(120):
            at = arb(y.numerator) / y.denominator
            assert (1 - at.exp() + at.exp() * added).overlaps(removed)


@pytest.mark.parametrize("seed", range(6))
def test_finite_laws_by_all_outcomes(seed):
    rng = np.random.default_rng(seed)
    p, q = ([Fraction(int(x), 100) for x in rng.multinomial(97, [1 / 3] * 3) + 1] for _ in "pq")
    steps = int(rng.integers(2, 5))
    laws = [[p if i == t else q for i in range(steps)] for t in (*range(steps), None)]
    *joint, without = [[math.prod(x) for x in itertools.product(*law)] for law in laws]
    mean = [sum(column) / steps for column in zip(*joint, strict=True)]
    m = RandomAllocation(DistributionPair(p, q, adjacency="add_remove", with_record="P"), steps)
    for epsilon in ("1/20", "1/10"):
        e = MP.exp(independent.number(MP, Fraction(epsilon)))
        both = ((mean, without), (without, mean))
        values = [
            sum(
                (max(independent.number(MP, x) - e * independent.number(MP, z), MP.mpf(0)))
                for x, z in zip(*pair, strict=True)
            )
            for pair in both
        ]
        found = m.delta(epsilon, conversion="exact")
        assert holds(found.delta, max(values), 25, trusted=27)
        assert found.kind is Kind.EXACT


def test_what_is_known_of_which_mechanism():
    either = RandomAllocation(FiniteMechanism([["1/2", "1/2"], ["1/3", "2/3"]]), 3)
    assert either.epsilon("1e-3", conversion="exact").kind is Kind.UPPER
    assert RandomAllocation(PureDP(1), 5).epsilon("1e-3", conversion="exact").kind is Kind.EXACT
    many = RandomAllocation(RandomizedResponse("3/4"), 10**5)
    assert 0 < many.epsilon("1e-4", conversion="exact", digits=1).epsilon.upper < 0.01


@pytest.mark.parametrize(("sigma", "y"), [("1/10", "89"), ("1/8", "57")])
def test_one_run_far_above_the_others_by_quadrature(sigma, y):
    """E(1 − K/(W₁+W₂))₊ with the record in the first of two runs, over both, in float64."""
    s, place = 1 / float(Fraction(sigma)), 2 * math.exp(float(Fraction(y)))
    (removed, added) = sticks(sigma, 2, Fraction(y), 12)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    value = 0.0
    for z in np.arange(-8, 8, 1 / 16):
        rest = place - math.exp(s * z - s * s / 2)
        least = (math.log(rest) - s * s / 2) / s
        ends = least + np.array([0, 0.1, 0.3, 1, 2, 4, 8])
        for low, high in itertools.pairwise(ends):
            x = (low + high) / 2 + (high - low) / 2 * nodes
            first = np.exp(s * x + s * s / 2)
            spent = np.exp(-(x * x + z * z) / 2) / (2 * math.pi) * (first - rest)
            value += np.sum(weights * spent / (first + place - rest)) * (high - low) / 32
    assert abs(float(removed) / value - 1) < 1e-8
    assert removed.rel_accuracy_bits() > 30
    assert added.upper() < removed.lower()


@pytest.mark.parametrize("y", [10, 20, 30, 50])
def test_a_record_added_to_one_of_two_runs_of_little_noise_is_between_its_bounds(y):
    """Where no contour answers: from above by the mean of the two losses."""
    square = Fraction(50)
    found = AllocatedGaussian(square, 2).hockey_stick(arb(y), True)
    assert contains(found, MP.exp(y) * put_of_two(2 * MP.exp(-y), MP.sqrt(50)) / 2)
    assert 0 < found.upper() < 1


def test_little_noise_has_the_digits_that_both_ends_share():
    m = RandomAllocation(Gaussian("1/10"), 10)
    found = m.epsilon("1e-5", conversion="exact")
    assert "digits are known of the 30 asked for" in found.note
    assert found.epsilon.digits > 14
    # A run that is told costs log 10 more, all but what the other nine add.
    told = Gaussian("1/10").epsilon("1e-5", 20, conversion="exact").epsilon
    assert abs(told.upper - MP.log(10) - found.epsilon.upper) < 1e-12
