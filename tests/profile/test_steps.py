"""The steps of a fast path, each against a plain one: sums of many terms, roots of a profile."""

import math
import random
from fractions import Fraction

import pytest
from flint import acb, arb, arb_mat, ctx
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from symacct import DiscreteGaussian, Laplace, PoissonSubsample
from symacct.profile.closed_form.dispatch import closed_form
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.sampled_gaussian.loss import SampledGaussian
from symacct.profile.losses.sampled_gaussian.real_line import nodes, strip
from symacct.profile.part import OrderLine
from symacct.profile.roots import convex_root
from symacct.profile.sums import chebyshev
from symacct.profile.sums.power_sums import real_power_sums
from tests.thinning import examples

BITS, I = 160, acb(0, 1)

# --- Σ w e^{inhℓ}: terms that hardly differ, interpolated


@examples(12, 100)
@given(
    st.fractions(Fraction(1, 4), 30, max_denominator=9),
    st.sampled_from([Fraction(1, 1000), Fraction(1, 50), Fraction(1, 5), Fraction(9, 10)]),
    st.one_of(st.floats(1, 20), st.floats(-12, -0.5)),
    st.floats(0.05, 1),
    st.integers(0, 30),
    st.integers(50, 120),
    st.floats(5, 70),
)
def test_few_points_stand_for_many_terms(variance, gamma, a, h, first, more, need):
    part, line = SampledGaussian(variance, gamma), OrderLine(a, h, first + more, first)
    with ctx.workprec(BITS):
        rule = strip(part, a, h * line.last, need)
        weights, losses = nodes(part.frame(a), arb(rule.step), rule.first, rule.last)
        goal = sum(weights) * arb(-need).exp()
        found = chebyshev.sums(weights, losses, goal, line)
        plain = real_power_sums(weights, [arb(h) * x for x in losses], first, line.last)
        for one, other in zip(found, plain, strict=True):
            assert one.overlaps(other)
            assert one.rad() < 4 * goal.upper() + 2 * other.rad()


def test_what_an_interpolation_is_known_to_be_off_by_is_about_what_it_is_off_by():
    """Of e^{itℓ} at one place between the points, by few of them."""
    with ctx.workprec(BITS):
        for points in (3, 5, 9):
            cluster = chebyshev.LossCluster(1, points, arb(8), arb(1), arb(1))
            for loss in (arb("0.3"), arb("1.99")):
                places = [cluster.middle + cluster.half * x for x in chebyshev.points(points)]
                shares = cluster.weights([arb(1)], [loss])
                off = abs(
                    sum((w * (I * x).exp() for w, x in zip(shares, places, strict=True)), arb(0))
                    - (I * loss).exp()
                )
                assert off < cluster.off([arb(1)], 1.0)
                assert cluster.off([arb(1)], 1.0) < 2000 * off


def test_polynomials_are_told_by_their_values_at_the_points():
    with ctx.workprec(BITS):
        points = chebyshev.points(4)
        values = arb_mat([[8 * x**3 - 6 * x + 5 for x in points]])
        assert [round(float(c.mid()), 12) for c in (values * chebyshev.shares(4)).entries()] == [
            5, 0, 0, 2
        ]  # fmt: skip


def test_a_long_line_of_orders_takes_fewer_terms():
    """Half of the nodes of x lie where R is about 1 − γ."""
    part, line = SampledGaussian(Fraction(121, 100), Fraction(1, 100)), OrderLine(5.75, 0.33, 400)
    with ctx.workprec(400):
        rule = strip(part, line.a, line.h * line.last, 250.0)
        weights, losses = nodes(part.frame(line.a), arb(rule.step), rule.first, rule.last)
        found = chebyshev.cluster(weights, losses, sum(weights) * arb(-250).exp(), line)
        assert found.terms > len(losses) / 3
        assert found.terms > 8 * found.points


# --- where a convex profile crosses δ


def test_a_root_by_chords_holds_the_root_whatever_blurs_the_values():
    """Values as balls about wrong middles, starts on either side, slopes that mislead."""
    chance, held = random.Random(1), 0
    for _ in range(300):
        profile = closed_form(((GaussianLoss(Fraction(chance.randint(1, 40), 10)), 1),), False)
        with ctx.workprec(BITS):
            root = arb(chance.uniform(0.05, 4))
            goal, blur = profile(root), 10.0 ** -chance.randint(1, 12)

            def value(y, profile=profile, blur=blur):
                exact = profile(y)
                off = exact * blur
                return (exact + off * chance.choice([-1, 1])) + off * arb(0, 1)

            start = root * chance.choice([0.5, 0.9, 1 - 1e-9, 1 + 1e-9, 1.1, 2])
            slope = -arb(chance.uniform(0.2, 5)) if chance.random() < 0.5 else None
            found = convex_root(value, goal, start, slope)
        if found is None:
            continue
        assert found.overlaps(root)
        held += found.rad() < math.sqrt(blur) * root
    assert held > 150


def test_a_root_by_chords_from_a_start_beside_it():
    """Two values next to each other tell little of a root far from both: another step is due."""
    profile = closed_form(((GaussianLoss(Fraction(1)), 1),), False)
    with ctx.workprec(BITS):
        root, goal = arb(2), profile(arb(2))
        for off in (0.7, 0.9, 0.95, 1.05, 1.3):
            for digits in (5, 7, 12):
                blur = arb(0, 10.0**-digits)
                found = convex_root(lambda y, blur=blur: profile(y) * (1 + blur), goal, root * off)
                assert found is not None
                assert found.overlaps(root)
                assert found.rad() < 20 * blur.rad()


def test_a_root_is_looked_for_at_finite_places_alone():
    """Of values next to 0 a ball tells no slope: integer noise has no D at no number."""
    profile, asked = closed_form(((GaussianLoss(Fraction(2)), 1),), False), []

    def value(y):
        asked.append(y)
        return profile(y) + arb(0, 1e-9)

    with ctx.workprec(BITS):
        for place in (3, 20, 1e6):
            for slope in (None, arb(-1), arb(0), arb.nan()):
                found = convex_root(value, profile(arb(3)), arb(place), slope)
                assert found is None or found.overlaps(arb(3))
    assert all(y.is_finite() for y in asked)


@pytest.mark.parametrize(
    ("m", "delta"),
    [
        (5 * DiscreteGaussian("1.21", 3), "1e-6"),
        (100 * PoissonSubsample(Laplace("41.5"), "0.106"), "1e-300"),
    ],
)
def test_a_root_whose_first_guess_is_far_off_is_found_by_another_way(m, delta):
    """δ at both ends of what is said of ε: a contour each, and no secants."""
    found = m.epsilon(delta, digits=4, conversion="exact").epsilon
    margin = mpf(1) / 10**4
    high = m.delta(found.upper * (1 + margin), digits=2, conversion="exact").delta
    low = m.delta(found.lower * (1 - margin), digits=2, conversion="exact").delta
    assert high.upper < mpf(delta) < low.lower
