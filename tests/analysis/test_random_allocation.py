"""Each record in one of T steps of Gaussian noise: the exact curve, each way and the larger."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from symacct import (
    Gaussian,
    Kind,
    PrecisionError,
    RandomAllocation,
)
from symacct.analysis.lognormal import Line, Lognormal, LognormalMoments
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball
from symacct.theory.amplification import allocation
from tests import independent
from tests.thinning import covering

MP = independent.context(60)


def one_way(alpha, sigma, steps, added=False, bits=150):
    """D_α of the law with the record from that without, or `added` the reverse, as a ball."""
    z = 1 - Fraction(alpha) if added else Fraction(alpha)
    with ctx.workprec(bits):
        moment = LognormalMoments(Lognormal(1 / Fraction(sigma) ** 2), steps, bits).moment(z)
        order, at = (arb(x.numerator) / x.denominator for x in (Fraction(alpha), z))
        return (moment.log() - at * arb(steps).log()) / (order - 1)


@pytest.mark.parametrize(
    ("one_step", "added", "larger"),
    [(lambda _: 10, 6, 3), (lambda _: 10, 1, 1), (lambda a: 0 if a == 1 else 10, 6, 3)],
)
def test_the_larger_direction_is_answered(monkeypatch, one_step, added, larger):
    """Whichever it is: no question is known for which adding is, so two moments are made up."""
    logs = {3: arb(2), -2: arb(added)}
    monkeypatch.setattr(allocation, "log_moment", lambda eps, steps, z: logs[z])
    assert allocation.larger_direction(BALL, lambda a: arb(one_step(a)), 3, 5) == larger
    assert allocation.larger_direction(BALL, lambda a: ball(a - 1) / 2, 3, 5) == 1


@pytest.mark.parametrize(("alpha", "sigma"), [("3/2", "1"), ("9/2", "2"), ("6", "1/2")])
def test_two_steps_by_a_double_sum(alpha, sigma):
    """E[((W₁+W₂)/2)^z] in float64: the trapezoidal sum of what is smooth and falls."""
    order, s, each = float(Fraction(alpha)), 1 / float(Fraction(sigma)), []
    x = np.arange(-10, 22, 1 / 16)
    w, share = np.exp(s * x - s * s / 2), np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / 16
    for added in (False, True):
        z = 1 - order if added else order
        mean = share @ ((w[:, None] + w) / 2) ** z @ share
        each.append(np.log(mean) / (order - 1))
        found = one_way(alpha, sigma, 2, added)
        assert abs(float(found) - each[-1]) < 1e-10
        assert found.rel_accuracy_bits() > 120
    found = RandomAllocation(Gaussian(sigma), 2).rdp(alpha, digits=15)
    assert abs(float(found) - max(each)) < 1e-10
    assert found.claim.kind is Kind.EXACT


def test_orders_in_closed_form_are_those_of_the_integral():
    """Of one step both ways, and at whole orders of many."""
    for added in (False, True):
        assert one_way("7/2", 2, 1, added).overlaps(arb(7) / 16)
    for sigma, steps, z in ((2, 10, 2), (2, 1000, 3), ("1/2", 3, 2)):
        moments = LognormalMoments(Lognormal(1 / Fraction(sigma) ** 2), steps, 100)
        with ctx.workprec(100):
            theta = arb(3)
            by_integral = moments._integral(z + 3, theta) / theta.gamma()
            assert by_integral.overlaps(moments.moment(Fraction(z)))
            assert by_integral.rel_accuracy_bits() > 80


@pytest.mark.parametrize("square", ["1/100", "1", "16"])
def test_negative_moments_of_one_variable_steer_near_order_0_too(square):
    """log E[W^{−λ}] = s²λ(λ+1)/2, though most of its integral lies at very small u."""
    orders = np.array([0.001, 0.01, 0.05, 0.1, 0.5, 1.0, 3.0])
    found = Lognormal(Fraction(square)).log_negative_moments(orders, 1)
    assert found == pytest.approx(float(Fraction(square)) * orders * (orders + 1) / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("sigma", "steps", "z"), [(20, 10, "11/2"), (100, 2, "5/4"), (10, 10**6, "7/3")]
)
def test_between_whole_orders_by_their_differences_as_by_the_integral(sigma, steps, z):
    moments, order = LognormalMoments(Lognormal(Fraction(1, sigma**2)), steps, 90), Fraction(z)
    whole = math.floor(order)
    with ctx.workprec(90):
        between = moments._by_whole_orders(whole, order - whole)
        theta = whole + 3 - arb(order.numerator) / order.denominator
        assert between.overlaps(moments._integral(whole + 3, theta) / theta.gamma())
        assert between.rel_accuracy_bits() > 80


def test_where_differences_do_not_tell_an_integral_does():
    moments = LognormalMoments(Lognormal(Fraction(1)), 1000, 90)
    assert moments._by_whole_orders(2, Fraction(1, 2)) is None
    assert moments.moment(Fraction(5, 2)).rel_accuracy_bits() > 60


def test_the_curve_is_used_in_sums_at_its_best_order():
    """Three epochs: no order of a grid says less than the answer."""
    m = RandomAllocation(Gaussian(2), 16)
    found = (3 * m).epsilon("1e-5", 10, "improved")
    assert found.optimal
    assert found.claim.theorems == ("MIR17-P1", "ALLOCATION-GAUSSIAN")
    for alpha in (2, 9, 17, "181/10", 19, 40):
        order, log_delta = float(Fraction(alpha)), math.log(1e-5)
        spent = 3 * float(one_way(alpha, 2, 16, bits=60)) + math.log1p(-1 / order)
        assert spent - (log_delta + math.log(order)) / (order - 1) >= float(found.epsilon.lower)
    exact, improved = (m.epsilon("1e-5", 6, conversion=one) for one in ("exact", "improved"))
    assert exact.epsilon.upper < improved.epsilon.lower


@covering(lambda seed: {seed % 2})
@pytest.mark.parametrize("seed", range(12))
def test_epsilon_is_no_more_than_at_any_order(seed):
    """By the power series squared as often as there are doublings, in mpmath."""
    rng = random.Random(seed)
    doublings, epochs = rng.randint(1, 4), rng.randint(1, 3)
    sigma, delta = Fraction(rng.randint(8, 40), 10), Fraction(1, 10 ** rng.randint(2, 9))
    noise, d, steps = independent.number(MP, sigma), independent.number(MP, delta), 2**doublings
    weights = (MP.exp(MP.mpf(k * (k - 1)) / (2 * noise**2)) / MP.factorial(k) for k in range(65))
    series = np.array(list(weights), dtype=object)
    for _ in range(doublings):
        series = np.convolve(series, series)[:65]
    found = (epochs * RandomAllocation(Gaussian(sigma), steps)).epsilon(delta, 8, "improved")
    least = []
    for a in range(2, 65):
        spent = MP.log(series[a] * MP.factorial(a) / MP.mpf(steps) ** a) / (a - 1)
        least.append(epochs * spent + MP.log(MP.mpf(a - 1) / a) - (MP.log(a) + MP.log(d)) / (a - 1))
    assert found.epsilon.lower <= max(min(least), 0)
    # Between whole orders the CGF is convex, so that little more is to be had.
    assert found.epsilon.upper >= 0.9 * min(least)


def test_orders_of_hundreds_and_what_is_beyond():
    wide = RandomAllocation(Gaussian(10), 1000)
    found = wide.epsilon("1e-5", 6, "improved")
    assert 900 < found.alpha < 1000
    assert found.claim.theorems == ("ALLOCATION-GAUSSIAN",)
    assert wide.rdp(5000, digits=6).claim.theorems == ("ALLOCATION-TOLD",)
    with pytest.raises(PrecisionError, match="moment"):
        wide.rdp("9999/2", by="ALLOCATION-GAUSSIAN")


@pytest.mark.parametrize("sigma", ["1e155", "1e200", "1e324"])
def test_noise_beyond_float64_is_answered_without_the_integral(sigma):
    """Floats choose the integral's steps: it is refused, and what bounds the curve else answers."""
    found = RandomAllocation(Gaussian(sigma), 5).epsilon("1e-5", 6, "improved")
    assert (found.kind, found.epsilon.upper) == (Kind.UPPER, 0)


def test_so_little_noise_that_float64_has_no_variance_of_its_ratio():
    """e^{900} is no float: the sum of ratios is refused, and what is told answers."""
    m = RandomAllocation(Gaussian("1/30"), 10)
    with pytest.raises(PrecisionError, match="variance beyond float64"):
        m.rdp("5/2", 5, by="ALLOCATION-GAUSSIAN")
    assert m.rdp("5/2", 5).claim.theorems == ("ALLOCATION-TOLD",)


def test_mpmath_says_the_same():
    m = RandomAllocation(Gaussian(3), 7)
    for alpha in (2, "5/2"):
        plain, balls = m.rdp(alpha, 20, engine="mpmath"), m.rdp(alpha, 20)
        assert plain.lower <= balls.upper
        assert balls.lower <= plain.upper


@pytest.mark.parametrize("w", [0.25, 1.0])
def test_a_line_above_has_the_error_of_its_mirror_image(w):
    """What the transform is off by bounds both strips, e^{(y+w)²/2} and e^{(y−w)²/2}."""
    law = Lognormal(Fraction(1))
    above, below = (law._strip(Line(y, w, 0.5)) for y in (1.5, -1.5))
    assert above.overlaps(below)
    assert above > (arb(1.5 + w) ** 2 / 2).exp() / (4 * arb.pi() * w).exp()
