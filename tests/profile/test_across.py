"""Contours of exchanged pairs: against closed forms, quadrature and plain contours."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import symacct as sa
from symacct.kernel.arithmetic.ball import accuracy
from symacct.profile.contours import Contour, ExchangedContour, contour, moments_and_plan, plan
from symacct.profile.losses.sampled_gaussian import SampledGaussian
from symacct.profile.part import OrderLine
from symacct.profile.runs import Moments
from symacct.profile.solve import CompositionProfile
from tests.thinning import examples

RATES = st.integers(4, 10).map(lambda n: Fraction(1, 10**n))
VARIANCES = st.fractions(Fraction(1, 2), Fraction(20), max_denominator=10)


def across(part, k, y, log_delta, digits):
    """The profile at y by a contour of exchanged pairs, or None where another plan is better."""
    plain = Moments(((part, k),), False)
    try:
        moments, chosen = moments_and_plan(plain, y, log_delta, digits)
    except (sa.LimitError, sa.PrecisionError):
        return None
    made = contour(moments, chosen, y, plain)
    return made if isinstance(made, ExchangedContour) else None


@examples(5, 10)
@given(RATES, VARIANCES, st.floats(0.1, 8))
def test_one_run_has_its_closed_form(gamma, variance, times):
    part, y = SampledGaussian(gamma=gamma, variance=variance), float(gamma) * times
    with ctx.workprec(400):
        known = part.hockey_stick(arb(y), False)
    made = across(part, 1, y, float(known.log()), 6.0)
    if made is not None:
        with ctx.workprec(made.plan.bits):
            found = made.delta(arb(y))
        assert found.overlaps(known)


@settings(max_examples=3, deadline=None)
@given(RATES, VARIANCES, st.integers(1, 5), st.floats(0, 3))
def test_moments_at_low_orders_are_those_of_a_quadrature(gamma, variance, tenth, turn):
    a = -tenth / 10 / float(gamma)
    line = OrderLine(a, turn / float(gamma), 1)
    with ctx.workprec(120):
        found = SampledGaussian(gamma=gamma, variance=variance).transform(line, 30.0)
    with mpmath.workdps(18):
        v, g = (
            mpmath.mpf(variance.numerator) / variance.denominator,
            mpmath.mpf(1) / gamma.denominator,
        )

        def integrand(x):
            ratio = mpmath.log1p(g * mpmath.expm1((2 * x - 1) / (2 * v)))
            return mpmath.npdf(x, 0, mpmath.sqrt(v)) * mpmath.exp(
                mpmath.mpc(line.a, line.h) * ratio
            )

        wide = 12 * mpmath.sqrt(v)
        true = mpmath.quad(integrand, mpmath.linspace(-wide, wide + 1, 20))
    value = found[1]
    assert abs(float(value.real.mid()) - float(true.real)) < 1e-10
    assert abs(float(value.imag.mid()) - float(true.imag)) < 1e-10
    assert float(value.real.rad()) < 1e-10


@pytest.mark.parametrize(
    ("k", "gamma", "variance", "y", "delta"),
    [(2000, "1e-6", "0.49", 1.2e-4, 1e-5), (140, "8e-6", "1.21", 1e-3, 1e-10)],
)
def test_both_ways_agree(k, gamma, variance, y, delta):
    part = SampledGaussian(gamma=Fraction(gamma), variance=Fraction(variance))
    made = across(part, k, y, math.log(delta), 4.0)
    plain = Moments(((part, k),), False)
    other = Contour(plain.factors, plan(plain, y, math.log(delta), 2.0), False, y)
    with ctx.workprec(max(made.plan.bits, other.plan.bits)):
        assert made.delta(arb(y)).overlaps(other.delta(arb(y)))
        assert accuracy(made.delta(arb(y))) > 3
    assert 50 * made.plan.last < other.plan.last


@examples(3, 60)
@example(2, Fraction(1), Fraction(1, 10**8), -6.4)
@example(7, Fraction(144), Fraction(3, 10**9), -2.5)
@example(3, Fraction("0.2809"), Fraction(47, 10**9), -7.0)
@given(st.integers(2, 7), VARIANCES, RATES, st.floats(-9, -1))
def test_few_runs_of_which_one_rarely_jumps_take_few_nodes(k, variance, gamma, log_share):
    """Also where the last ones are to be tapered, and of rates at which no jump is on the grid."""
    part = SampledGaussian(gamma=gamma, variance=variance)
    share = 10**log_share * k * float(part.hockey_stick(arb(0), False))
    found = CompositionProfile(((part, k),), False)
    assert accuracy(found.epsilon(Fraction(share), 4)) >= 4
    assert found.contours.known[0].plan.last < 1500


@pytest.mark.parametrize(
    ("text", "delta", "known"),
    [
        ("2000*PoissonSubsample(Gaussian(.7), .000001)", "1e-5", 0.0001244984537408),
        ("1000*PoissonSubsample(Gaussian(1), .00000001)", "1e-12", 2.4175e-6),
        ("500*PoissonSubsample(Gaussian(1/2), .0001)", "1e-8", 2.51624),
    ],
)
def test_small_samples_are_answered(text, delta, known):
    found = sa.parse(text).epsilon(delta, conversion="exact", digits=4)
    assert float(found.epsilon) == pytest.approx(known, rel=1e-4)
