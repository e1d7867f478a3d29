"""Each record in one of T runs of Laplace noise: the exact curve, by sums and by quadrature."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx

from symacct import Gaussian, Kind, Laplace, PrecisionError, RandomAllocation, VectorLaplace
from symacct.analysis.laplace_sums import LaplaceMoments, LaplaceRatio
from tests import independent
from tests.thinning import covering

MP = independent.context(30)


def mean_over(s, function):
    """E f(W): both atoms, and a quadrature over the loss between them."""
    between = MP.quad(lambda x: MP.exp(-x) / 2 * function(MP.exp(2 * x - s)), [0, s / 2, s])
    return (function(MP.exp(-s)) + MP.exp(-s) * function(MP.exp(s))) / 2 + between


def moment(shift, steps, z, bits=110):
    with ctx.workprec(bits):
        return LaplaceMoments(LaplaceRatio(Fraction(shift)), steps, bits).moment(Fraction(z))


def agree(found, value, digits=20):
    middle = MP.mpf(found.mid().str(40, radius=False))
    assert abs(middle - value) <= MP.mpf(float(found.rad())) + abs(value) * MP.mpf(10) ** -digits
    assert found.rel_accuracy_bits() > 75


@covering(lambda shift, z: {"a double integral"})
@pytest.mark.parametrize("z", ["-1/2", "3/2", "-7/2", "-30", "-1", "5/2", "41/4"])
@pytest.mark.parametrize("shift", ["1", "1/4", "3"])
def test_two_steps_by_quadrature(shift, z):
    s, order = independent.number(MP, Fraction(shift)), independent.number(MP, Fraction(z))
    value = mean_over(s, lambda w: mean_over(s, lambda v: (w + v) ** order))
    agree(moment(shift, 2, z), value)


def test_a_whole_order_is_a_closed_form_and_an_integral():
    for shift, steps, z in (("1", 10, 2), ("1/100", 1000, 3), ("3", 7, 5)):
        known = LaplaceMoments(LaplaceRatio(Fraction(shift)), steps, 100)
        with ctx.workprec(100):
            theta = arb(3)
            by_integral = known._integral(z + 3, theta) / theta.gamma()
        assert by_integral.overlaps(known.moment(Fraction(z)))
        assert by_integral.rel_accuracy_bits() > 75


def test_one_step_is_the_noise_and_each_further_one_costs_less():
    assert RandomAllocation(Laplace(2), 1).rdp("7/2").upper == Laplace(2).rdp("7/2").upper
    for alpha in ("3/2", 4):
        values = [RandomAllocation(Laplace(1), t).rdp(alpha, 9).upper for t in (1, 2, 9, 100)]
        assert values == sorted(values, reverse=True)
    vector = RandomAllocation(VectorLaplace(2), 5).rdp(3)
    assert vector.upper == RandomAllocation(Laplace(2), 5).rdp(3).upper


def test_no_epsilon_by_the_curve_is_below_the_exact_one():
    m = RandomAllocation(Laplace(1), 1000)
    by_curve = m.epsilon("1e-6", 6, conversion="improved").epsilon
    assert m.epsilon("1e-6", 6, conversion="exact").epsilon.upper < by_curve.lower
    assert by_curve.upper < 0.1213  # .9997 where only that the step is told was known


def test_orders_beyond_a_closed_form_are_refused():
    with pytest.raises(PrecisionError, match=r"ratios of Laplace noise: found the order 4999\.5"):
        RandomAllocation(Laplace(10), 1000).rdp("9999/2", by="ALLOCATION-LAPLACE")
    assert RandomAllocation(Laplace(10), 9).rdp(5000).claim.theorems == ("ALLOCATION-TOLD",)
    assert RandomAllocation(Gaussian(10), 9).rdp(1000).claim.theorems == ("ALLOCATION-GAUSSIAN",)


def test_many_runs_are_about_a_sum_of_their_variance():
    """E(S/t)^{−1} − 1 is the variance of one W over t, but for 1/t² of its third moment."""
    one = (2 * math.e + math.exp(-2)) / 3 - 1
    assert abs(float(moment(1, 10**6, -1) * 10**6 - 1) * 10**6 - one) < 1e-5


@pytest.mark.parametrize(("noise", "alpha"), [("1e9", "3/2"), ("1e30", "40")])
@pytest.mark.parametrize("steps", [2, 10**6])
def test_noise_that_hides_nearly_everything(noise, alpha, steps):
    """log E(S/t)^α is α(α−1)/2 times the variance s²/t, but for what s is small beside."""
    found = RandomAllocation(Laplace(noise), steps).rdp(alpha, digits=8)
    assert found.claim.kind is Kind.EXACT
    about = Fraction(alpha) / 2 / Fraction(noise) ** 2 / steps
    assert abs(Fraction(str(found)) / about - 1) < Fraction(1, 10**6)
