"""The steps of a fast path, each against a plain one: sums of many terms, roots of a profile."""

import math
import random
from fractions import Fraction

import pytest
from flint import acb, arb, ctx
from mpmath import mpf

from symacct import DiscreteGaussian, Laplace, PoissonSubsample
from symacct.profile.closed_form import proved_form
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.roots import before_the_end, convex_root

BITS, I = 160, acb(0, 1)


def test_a_root_by_chords_holds_the_root_whatever_blurs_the_values():
    """Values as balls about wrong middles, starts on either side, slopes that mislead."""
    chance, held = random.Random(1), 0
    for _ in range(300):
        profile, _ = proved_form(((GaussianLoss(Fraction(chance.randint(1, 40), 10)), 1),), False)
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
    profile, _ = proved_form(((GaussianLoss(Fraction(1)), 1),), False)
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
    (profile, _), asked = proved_form(((GaussianLoss(Fraction(2)), 1),), False), []

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


@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize("log_goal", [-3, -30, -300])
def test_a_root_before_the_end_is_held_where_balls_do_not_tell_how_near_it_is(power, log_goal):
    """(1 − y)^p, blurred by 2^{−50}: where that is more than the goal, the end is the other end."""
    with ctx.workprec(BITS):
        goal = arb(10) ** log_goal
        root, blur = 1 - goal.root(power), arb(0, 2.0**-50)
        found = before_the_end(lambda y: (1 - y) ** power + blur, goal, None, arb(1))
        assert found.contains(root.mid()) or found.overlaps(root)
        assert found.upper() <= 1.0001
        assert found.rad() < 2 ** (-25 / power)  # places are doubled
        again = before_the_end(lambda y: (1 - y) ** power, goal, found, arb(1))
        assert again.overlaps(root)
        assert again.rad() <= found.rad()


def test_a_chord_that_ends_far_away_takes_no_digit_from_a_root():
    """Secants from 54,000 nats before it pass it by 4·10⁷: a chord to there tells nothing."""
    profile, _ = proved_form(((GaussianLoss(Fraction(40_000 * 2147483659)), 1),), False)
    with ctx.workprec(228):
        root = convex_root(profile, arb(3) / 100, arb("42949690557034.625"))
        assert root is not None
        assert root.rel_accuracy_bits() > 150
        assert profile(root.lower()) >= arb(3) / 100 >= profile(root.upper())
