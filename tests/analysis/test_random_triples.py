"""Hundreds of random triples below the exact curves, and the sheet's values by a rule of ours.

`tests/soak/test_triples_soak.py` draws a hundred thousand of each kind.
"""

from fractions import Fraction

import numpy as np
import pytest
from mpmath.ctx_mp import MPContext

from symacct import (
    Accountant,
    Gaussian,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    SubsampleWithoutReplacement,
)
from tests import independent
from tests.analysis import random_triples
from tests.analysis.test_triples import COLLINEAR, EQUILATERAL, OPPOSITE
from tests.thinning import covering, some

ROUNDING = 1 + 1e-9
SCHEMES = {"fixed size": (SubsampleWithoutReplacement, 1), "Poisson": (PoissonSubsample, 2)}


def exact(scheme, sigma, gamma, alpha):
    """e^{(α−1)ε′(α)} − 1 by the exact theorem, rounded up; None where it says nothing."""
    node = SCHEMES[scheme][0](Gaussian(sigma), gamma, "replace_one")
    by = "TRIPLE-GAUSSIAN" if scheme == "fixed size" else "TRIPLE-GAUSSIAN-POISSON"
    try:
        found = Accountant(14).rdp(node, alpha, by=by)
    except PrecisionError:
        return None
    return float(np.expm1(float(alpha - 1) * float(found.upper)))


def assert_no_triple_is_above(chance, scheme, setting, count):
    """Random means in two to six dimensions; the largest excess over the exact one."""
    sigma, gamma, alpha = setting
    bound = exact(scheme, *setting)
    if bound is None:
        return None
    delta, apart = 1 / float(sigma), SCHEMES[scheme][1] / float(sigma)
    dimension = int(chance.integers(1, 7))
    a, b = random_triples.means(chance, count, dimension, delta, apart)
    found = random_triples.gaussian_excess(float(alpha), float(gamma), a, b)
    assert found.max() <= bound * ROUNDING, (scheme, setting, dimension)
    return float(found.max() / bound)


def assert_a_climb_ends_at_the_exact_curve(chance, scheme, setting):
    """The climber never passes the exact value and meets it to nine digits."""
    sigma, gamma, alpha = setting
    bound = exact(scheme, *setting)
    if bound is None:
        return None
    delta, apart = 1 / float(sigma), SCHEMES[scheme][1] / float(sigma)
    best = random_triples.climbed(chance, float(alpha), float(gamma), delta, apart, 16).max()
    assert bound * (1 - 1e-9) <= best <= bound * ROUNDING, (scheme, setting)
    return float(best / bound)


def assert_no_laws_are_above_theorem_2(chance, count, outcomes):
    """Random triples of laws, each with the ε₀ that it has; the largest share of the exact one."""
    p, other, q = random_triples.laws(chance, count, outcomes)
    pairs = ((p, q), (other, q), (p, other))
    largest = np.max([random_triples.log_odds(*pair) for pair in pairs], axis=0)
    alpha, gamma = 1 + chance.exponential(4, count), 10 ** chance.uniform(-4, 0, count)
    found = random_triples.finite_excess(alpha[:, None], gamma[:, None], p, other, q)
    nearest = 0.0
    for i in range(count):
        node = SubsampleWithoutReplacement(PureDP(Fraction(largest[i] * (1 + 1e-13))), gamma[i])
        bound = np.expm1(float(Accountant(12).cgf(node, alpha[i] - 1).upper))
        assert found[i] <= bound * ROUNDING, (i, largest[i], gamma[i], alpha[i])
        nearest = max(nearest, float(found[i] / bound))
    return nearest


SETTINGS = [
    (Fraction(1), Fraction(1, 10), Fraction(3)),
    (Fraction(2), Fraction(1, 3), Fraction(9, 2)),
    (Fraction(5), Fraction(1, 50), Fraction(9)),
    (Fraction(3, 2), Fraction(1, 1000), Fraction(5, 4)),
]


@covering()
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_no_random_triple_is_above_and_a_climb_gets_there(scheme, setting):
    chance = np.random.default_rng(len(scheme) + SETTINGS.index(setting))
    assert assert_no_triple_is_above(chance, scheme, setting, 100) <= ROUNDING
    assert assert_a_climb_ends_at_the_exact_curve(chance, scheme, setting) <= ROUNDING


@pytest.mark.parametrize(("outcomes", "near"), [(2, 0.999), (3, 0.999), (5, 0.7)])
def test_no_random_laws_are_above_theorem_2(outcomes, near):
    chance = np.random.default_rng(0)
    assert assert_no_laws_are_above_theorem_2(chance, 150, outcomes) > near


def plane_rule(setting, a, b, rise, step):
    """ε′(α) by the trapezoidal rule in the plane, mpmath: p at (a, rise), p′ at (b, rise)."""
    sigma, gamma, alpha = setting
    mp = MPContext()
    mp.dps = 42
    g, d, h = independent.number(mp, Fraction(gamma)), mp.one / sigma, mp.mpf(step)
    r = mp.sqrt(rise) * d
    rows = [mp.mpf(i) * h for i in range(-int(13 / step), int((13 + alpha / sigma) / step) + 1)]
    across = [mp.mpf(i) * h for i in range(-int(14 / step), int((14 + alpha / sigma) / step) + 1)]
    lift = [
        (mp.exp(r * y - r * r / 2), mp.exp(-y * y / 2)) for y in (across if rise else [mp.zero])
    ]
    total = mp.zero
    for z in rows:
        x, y = (mp.exp(t * d * z - (t * d) ** 2 / 2) for t in (a, b))
        row = mp.fsum(
            (1 - g + g * x * up) ** alpha * (1 - g + g * y * up) ** (1 - alpha) * weight
            for up, weight in lift
        )
        total += row * mp.exp(-z * z / 2)
    total *= (h / mp.sqrt(2 * mp.pi)) ** (2 if rise else 1)
    return mp.log(total) / (alpha - 1)


@pytest.mark.parametrize("setting", COLLINEAR)
def test_the_sheets_values_by_the_rule_in_the_plane(setting):
    """Twenty digits, in a soak at two steps; the worst triangle along p − p′, |p − p′| = 1."""
    half, square = Fraction(1, 2), Fraction(3, 4)
    for known, places in (
        (COLLINEAR, (1, 0, 0)),
        (OPPOSITE, (1, -1, 0)),
        (EQUILATERAL, (half, -half, square)),
    ):
        a, b, rise = (float(x) for x in places)
        for step in some(("0.25",), ("0.25", "0.2")):
            found = plane_rule(setting, a, b, rise, float(step))
            assert abs(found / found.context.mpf(known[setting]) - 1) < 1e-20, (places, step)
