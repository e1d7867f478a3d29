"""The worst triangle inside the family, by other sums: its value, its proof, its order."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from symacct import Accountant, Gaussian, Kind, SubsampleWithoutReplacement
from symacct.analysis.triangles import Triangles, triple_excess
from symacct.analysis.worst_triangle import (
    MeasuredRiseBounds,
    Summit,
    TriangleEnd,
    worst,
)
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.sums.order_search import root, saddle
from symacct.theory.amplification import triples
from tests.thinning import covering

# The largest Σ_l C(α,l)κ^{α−l}γ^l e^{l(l−1)δ²/2} E[(κ+γe^V)^{1−α}] − 1, V ~ N((l−1)B/2, B), over B,
# by trapezoidal sums in 60 digits of mpmath and parabolas through three B; δ² is 1/2 and 3.
LARGEST = {
    (50, "3.16e-6", "0.70710678118654752440084436210485"): "9.0556296187123002301018457e-9",
    (20, "2.79e-14", "1.7320508075688772935274463415059"): "6.5453570658606550870891827e-24",
}


@covering(lambda setting: {"inside"})
@pytest.mark.parametrize("setting", LARGEST)
def test_a_maximum_inside_to_twenty_four_digits(setting):
    triangles = Triangles(*map(Fraction, setting))
    with precision(90):
        found, truth = triples._of_worst(BALL, triangles), arb(LARGEST[setting])
        assert found.overlaps(truth * (1 + arb(0, 1e-23)))
        assert found.rel_accuracy_bits() > 80
    (place,) = triples._worst(triangles)
    assert isinstance(place, Summit)


def test_no_place_is_proved_that_is_not_the_highest(monkeypatch):
    """Were the line, or the equilateral triangle, or a bend that is none, taken for the maximum."""
    triangles = Triangles(*map(Fraction, (50, "3.16e-6", "0.7071")))
    with precision(53):
        for wrong in (Fraction(0), triangles.delta**2, triangles.delta**2 / 3):
            monkeypatch.setattr(MeasuredRiseBounds, "candidates", lambda _, at=wrong: [at])
            assert worst(triangles) is None


@pytest.mark.parametrize(("alpha", "share"), [("50.24", 0.1615), ("50.26", None)])
def test_a_summit_that_is_hardly_one_is_found(alpha, share):
    """By 10⁻⁴ of G(0) − 1, where secants of the slope alone stay at a square that was tried."""
    triangles = Triangles(*map(Fraction, (alpha, "3.16e-6", "0.7071")))
    with precision(53):
        (place,) = worst(triangles)
    if share is None:
        assert place.triple == triangles.ends[0]
    else:
        assert place.low < Fraction(share) * triangles.delta**2 < place.high


def test_a_summit_below_the_line_is_not_the_highest():
    """Were G(0) larger than all that is inside, a cell there would not hold the maximum."""
    looks = MeasuredRiseBounds(Triangles(*map(Fraction, (50, "3.16e-6", "0.7071"))))
    value = looks.value
    with precision(53):
        (summit,) = looks.candidates()
        assert looks.worst() is not None
        looks.value = lambda square: value(square) * (1 if square else arb("1.1"))
        looks.candidates = lambda: [summit]
        assert looks.worst() is None


def test_no_cell_is_proved_where_there_is_none():
    """At δ²/4 and 3δ²/4 G is convex, by 11.1 and δ = 1.69 it falls to the end δ²."""
    looks = MeasuredRiseBounds(Triangles(*map(Fraction, (50, "3.16e-6", "0.7071"))))
    falls = MeasuredRiseBounds(Triangles(*map(Fraction, ("11.1", "6.42e-8", "1.69"))))
    with precision(53):
        assert all(
            looks.place(looks.top * part) is None for part in (Fraction(1, 4), Fraction(3, 4))
        )
        assert isinstance(looks.place(looks.top), TriangleEnd)
        assert falls.place(falls.top) is None


def moment(alpha, gamma, delta, square):
    """E[m^α n^{1−α}] − 1 in float64, over steps of a twelfth of a deviation, as a mean of gaps."""
    a, b = delta - square / (2 * delta), -square / (2 * delta)
    rise = math.sqrt(max(0.0, delta**2 - a * a))
    z = np.arange(-12, alpha * delta + 12, 1 / 12)[:, None]
    w = np.arange(-12, alpha * rise + 12, 1 / 12)[None, :]
    u, v = (gamma * np.expm1(t * z + rise * w - (t * t + rise**2) / 2) for t in (a, b))
    s, weight = (u - v) / (1 + v), np.exp(-(z * z + w * w) / 2) * (1 + v)
    large = alpha * np.abs(np.log1p(s)) > 1
    tilt = alpha * np.log1p(np.where(large, s, 0)) - (z * z + w * w) / 2
    near = np.where(
        np.abs(alpha * s) < 1e-4, alpha * (alpha - 1) / 2 * s * s * (1 + (alpha - 2) * s / 3), 0
    )
    middle = np.expm1(alpha * np.log1p(np.where(large, 0, s))) - np.where(large, 0, alpha * s)
    far = (1 + v) * np.exp(tilt) - weight * (1 + alpha * s)
    total = np.where(large, far, weight * np.where(near > 0, near, middle))
    return float(np.sum(total)) / (2 * math.pi * 144)


def at_the_jump(alpha, sigma, off):
    """γ about where the far part of G and the near one are as large as each other."""
    near = math.log(alpha * (alpha - 1) / 2 * math.expm1(1 / sigma**2))
    return math.exp((near - alpha * (alpha - 1) / (2 * sigma**2)) / (alpha - 2) + off)


@settings(deadline=None, max_examples=2)
@given(
    st.fractions(8, 32, max_denominator=10),
    st.fractions(Fraction(9, 10), Fraction(3, 2), max_denominator=20),
    st.floats(-0.2, 0.2),
)
def test_about_the_jump_the_worst_is_found_and_nothing_is_above_it(alpha, sigma, off):
    gamma = Fraction(f"{at_the_jump(float(alpha), float(sigma), off):.3g}")
    triangles = Triangles(alpha, gamma, 1 / sigma)
    with precision(53):
        found = triples._of_worst(BALL, triangles)
    assert found.rel_accuracy_bits() > 40
    delta = 1 / float(sigma)
    values = [moment(float(alpha), float(gamma), delta, delta**2 * k / 20) for k in range(21)]
    assert max(values) <= float(found.upper()) * (1 + 1e-9)
    assert max(values) >= float(found.lower()) * 0.98


@pytest.mark.parametrize("seed", range(3))
def test_whatever_float64_proposes_nothing_is_proved_that_is_exceeded(seed, monkeypatch):
    """Places drawn at random, the true one and the ends among them, near the jump."""
    draw = random.Random(seed)
    alpha, sigma = Fraction(draw.randint(60, 300), 10), Fraction(draw.randint(9, 15), 10)
    gamma = Fraction(f"{at_the_jump(float(alpha), float(sigma), draw.uniform(-0.1, 0.2)):.3g}")
    triangles = Triangles(alpha, gamma, 1 / sigma)
    top = triangles.delta**2
    most = max(
        moment(float(alpha), float(gamma), 1 / float(sigma), float(top * k / 20)) for k in range(21)
    )
    with precision(53):
        honest = MeasuredRiseBounds(triangles).candidates()
        drawn = [top * Fraction(draw.randint(1, 63), 64) for _ in range(3)]
        for squares in [[0], [top], [0, top], *([square] for square in drawn), drawn, honest]:
            proposed = sorted(map(Fraction, squares))
            monkeypatch.setattr(MeasuredRiseBounds, "candidates", lambda _, at=proposed: at)
            places = MeasuredRiseBounds(triangles).worst() or ()
            found = [place.refined(40) for place in places]
            highest = [triple_excess(triple) * (1 + share) for triple, share in found]
            assert not highest or most <= max(float(x.upper()) for x in highest) * (1 + 1e-9)
        assert places


def epsilon_of(alpha, delta, square):
    """10⁷ runs at 1e-6 by one triangle, improved conversion."""
    spent = 1e7 * math.log1p(moment(alpha, 3.16e-6, delta, square)) - math.log(1e-6 * alpha)
    return spent / (alpha - 1) + math.log1p(-1 / alpha)


def test_an_optimum_at_a_summit_is_proved():
    """The order at which the curve of the triangle that is the worst there has its valley."""
    node = 10**7 * SubsampleWithoutReplacement(Gaussian("1.4142"), "3.16e-6")
    found = Accountant().epsilon(node, "1e-6", "improved", digits=10)
    assert found.optimal
    assert found.claim.kind is Kind.EXACT
    alpha, delta = float(found.alpha), 1 / 1.4142
    square = max(
        np.linspace(0.43, 0.45, 9) * delta**2, key=lambda square: epsilon_of(alpha, delta, square)
    )
    fixed = [epsilon_of(order, delta, square) for order in (alpha - 0.3, alpha, alpha + 0.3)]
    assert fixed[1] == pytest.approx(float(found.epsilon.upper), rel=1e-6)
    assert fixed[1] <= float(found.epsilon.upper) * (1 + 1e-9)
    assert fixed[0] > fixed[1] < fixed[2]


def test_a_root_by_secants_is_near_or_none():
    width = Fraction(1, 10**12)

    def found(f):
        return root(f, Fraction(3, 2), Fraction(1, 4), width)

    assert abs(float(found(lambda x: x * x - 2)) - math.sqrt(2)) < 1e-11
    assert found(lambda x: x * x - 1) is None  # too far
    assert found(lambda x: Fraction(x < 1.45) - Fraction(1, 2)) is None
    assert found(lambda x: Fraction(1)) is None


def test_a_saddle_is_where_a_valley_is_at_its_own_order():
    """f_c(α) = (α−c)², c = 3 + (order−4)/4: the order of c is c at α = 8/3; none where c jumps."""

    def family(order):
        return lambda alpha: ball(alpha - 3 - (order - 4) / 4) ** 2

    def jumping(order):
        return lambda alpha: ball(alpha - 2 - 2 * (order < 3)) ** 2

    with precision(90):
        near, width = Fraction(11, 4), Fraction(1, 10**12)
        assert abs(saddle(family, near, width, perspective=False) - Fraction(8, 3)) < width
        assert saddle(jumping, Fraction(299, 100), width, perspective=False) is None
