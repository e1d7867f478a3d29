"""Expectations over a lattice of the plane and how they change along B, by other sums."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_mp import MPContext

from symacct import (
    ZCDP,
    Accountant,
    Gaussian,
    Kind,
    PostProcess,
    SoundnessError,
    SubsampleWithoutReplacement,
)
from symacct.analysis import triangles as lattices
from symacct.analysis.triangles import (
    Drift,
    Gram,
    Lattice,
    Power,
    Triangles,
    derivatives_of_slope,
    largest_moduli,
    on_a_piece,
    triple_excess,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import EITHER
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.optimal_order import SteeringFromBelow
from tests.support import stated
from tests.thinning import covering, examples

# --- by independent coordinates, in float64, over steps of a twelfth of a deviation


def expectation(gram, gamma, mu, nu, power):
    """E[X^p Y^q m^μ n^{−ν} x^a y^b]"""
    first, mixed, second, gamma, mu, nu = map(float, (*gram, gamma, mu, nu))
    size, across = math.sqrt(first), math.sqrt(second - mixed**2 / first)
    far = (abs(mu) + power.p) * size + power.q * math.sqrt(second) + 12
    z, w = np.arange(-12, far, 1 / 12)[:, None], np.arange(-12, far, 1 / 12)[None, :]
    x = size * z - first / 2
    y = mixed / size * z + across * w - second / 2
    m, n = 1 + gamma * np.expm1(x), 1 + gamma * np.expm1(y)
    shares = (gamma * np.exp(x) / m) ** power.a * (gamma * np.exp(y) / n) ** power.b
    log_weight = power.p * x + power.q * y + mu * np.log(m) - nu * np.log(n) - (z * z + w * w) / 2
    return float(np.sum(np.exp(log_weight) * shares)) / (2 * math.pi * 144)


def triangle(delta, square):
    return Gram(delta**2, square / 2, square)


POWERS = (Power(), Power(q=2), Power(p=1, q=1, b=1), Power(q=2, a=2), Power(p=1, q=1, a=3, b=2))
GRAMS = {
    "equilateral": triangle(Fraction(1), Fraction(1)),
    "flat": triangle(Fraction(2), Fraction(1, 50)),
    "enlarged": Gram(Fraction(5, 4), Fraction(1, 2), Fraction(1)),
    "obtuse": Gram(Fraction(1), Fraction(-1, 3), Fraction(1, 4)),
}


@covering(lambda gram, gamma, mu, nu, bits: {(gram, bits), (gamma, bits)})
@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize(
    ("gamma", "mu", "nu"),
    [("1/10", "2", "4"), ("3/4", "7/2", "9/2"), ("1/1000", "1/2", "5/2"), ("2/5", "6", "1/3")],
)
@pytest.mark.parametrize("bits", [3, 12, 30])
def test_a_lattice_holds_the_expectation(gram, gamma, mu, nu, bits):
    """With few nodes too, where what is left out and the aliases are seen."""
    gram, (gamma, mu, nu) = GRAMS[gram], map(Fraction, (gamma, mu, nu))
    truths = {power: expectation(gram, gamma, mu, nu, power) for power in POWERS}
    size = math.log(max(truths.values()))
    lattice = Lattice(gram, gamma, mu, nu, POWERS, size, size - bits * math.log(2))
    for power, found in lattice.expectations().items():
        assert abs(float(found.mid()) - truths[power]) <= float(found.rad()) + 1e-11 * truths[power]
        assert float(found.rad()) <= 2 ** (4 - bits) * math.exp(size)


# --- along B

SETTINGS = st.tuples(
    st.fractions(Fraction(11, 10), 12, max_denominator=20),
    st.fractions(Fraction(1, 50), Fraction(19, 20), max_denominator=50),
    st.fractions(Fraction(1, 4), 1, max_denominator=8),
    st.fractions(Fraction(1, 8), Fraction(15, 16), max_denominator=16),
)


@examples(3, 10)
@given(SETTINGS, st.sampled_from([0, 1]))
def test_the_drift_is_the_derivative_along_b(setting, times):
    """Of the slope and its own derivative, by central differences."""
    alpha, gamma, delta, share = setting
    _, derivatives = derivatives_of_slope(alpha)
    step = share * delta**2 / 2000

    def value(powers, square):
        parts = [
            (
                float(factor),
                expectation(triangle(delta, square), gamma, alpha - 1, alpha + 1, power),
            )
            for power, factor in powers.items()
        ]
        return sum(f * e for f, e in parts), sum(abs(f) * e for f, e in parts)

    middle = share * delta**2
    (above, size), (below, _) = (value(derivatives[times], middle + s) for s in (step, -step))
    found, scale = value(derivatives[times + 1], middle)
    error = 1e-12 * size / float(step) + 1e-4 * scale
    assert abs((above - below) / (2 * float(step)) - found) < error


@examples(100, 300)
@given(
    st.fractions(Fraction(1, 20), 40, max_denominator=20),
    st.builds(Power, *(st.integers(0, most) for most in (2, 3, 4, 6))),
    st.fractions(0, 1, max_denominator=64),
    st.fractions(0, 1, max_denominator=64),
)
def test_nothing_falls_faster_along_b_than_stated(mu, power, x, y):
    """LT/T from the definition, X∂_X log T and Y∂_Y log T being linear in x and y."""
    drift = Drift(mu, mu + 2)
    p, q, a, b = power
    s, z = p + a + (mu - a) * x, q + b - (mu + 2 + b) * y
    bent = -(mu + 2 + b) * y * (1 - y)
    assert drift.minimum(power) <= (z * z - z + bent + s * z) / 2


def test_nothing_stated_is_far_too_low():
    drift = Drift(Fraction(5), Fraction(7))
    grid = [Fraction(k, 64) for k in range(65)]
    for power in (Power(q=2), Power(p=1, q=1), Power(p=1, q=1, a=2, b=3)):
        p, q, a, b = power
        ends = [
            (z * z - z - (7 + b) * y * (1 - y) + (p + a + (5 - a) * x) * z) / 2
            for x in grid
            for y in grid
            for z in [q + b - (7 + b) * y]
        ]
        assert 0 <= min(ends) - drift.minimum(power) < Fraction(1, 20)


@examples(8, 20)
@given(SETTINGS, st.sampled_from([2, 4, 16, 64]))
def test_the_slope_and_the_bend_on_a_piece_are_held(setting, pieces):
    """At both ends of a piece and inside it by sums in float64, and by their difference."""
    alpha, gamma, delta, share = setting
    high = share * delta**2
    low = high - delta**2 / pieces
    low = max(low, Fraction(0))
    triangles, slopes = Triangles(alpha, gamma, delta), []
    with precision(53):
        found = on_a_piece(triangles, low, high)
        slope, bend = (ball / triangles.factor for ball in found)
    for part in (Fraction(1, 100), Fraction(1, 2), Fraction(1)):
        square = low + part * (high - low)
        first, second = (
            expectation(triangle(delta, square), gamma, alpha - 1, alpha + 1, power)
            for power in (Power(q=2), Power(p=1, q=1))
        )
        spare = 1e-11 * (first + second)
        assert float(slope.lower()) - spare <= first - second <= float(slope.upper()) + spare
        slopes.append(first - second)
    mean = (slopes[2] - slopes[0]) / (0.99 * float(high - low))
    spare *= pieces / float(delta) ** 2
    assert float(bend.lower()) - spare <= mean <= float(bend.upper()) + spare


@examples(5, 12)
@given(SETTINGS, st.sampled_from([0, 1, 2]))
def test_moduli_are_largest_as_said(setting, times):
    alpha, gamma, delta, share = setting
    drift, derivatives = derivatives_of_slope(alpha)
    high, powers = share * delta**2, derivatives[times]

    def expectations(square):
        return {
            power: expectation(triangle(delta, square), gamma, alpha - 1, alpha + 1, power)
            for power in powers
        }

    last = {power: arb(value) for power, value in expectations(high).items()}
    for part in (0.1, 0.5, 0.9):
        width = part * float(high)
        most = float(largest_moduli(drift, powers, last, arb(width)).upper())
        there = expectations(float(high) - width)
        moduli = sum(abs(float(factor)) * there[power] for power, factor in powers.items())
        assert moduli <= most * (1 + 1e-9)


def test_a_falling_expectation_needs_its_growth():
    """E[T] of T = Y(Y−X)… falls along B where X pulls Y up: without e^{cw} the bound is missed."""
    drift, power = Drift(Fraction(10), Fraction(12)), Power(p=1, q=1)
    ends = [
        expectation(triangle(Fraction(1), square), Fraction(1, 10), 10, 12, power)
        for square in (Fraction(1, 4), Fraction(1))
    ]
    assert ends[0] > ends[1]
    most = largest_moduli(drift, {power: Fraction(1)}, {power: arb(ends[1])}, arb(0.75))
    assert ends[0] < float(most)


def test_what_the_sum_of_exponentials_leaves_out_is_bounded_point_by_point():
    """Three inequalities for κ²Y(Y−X)n^{−2}(1+s)^p, at seeded X, Y, x, p, K and k.

    See docs/proofs/triples.md, Lemma slope-series.
    """
    mp, draw = MPContext(), random.Random(14)
    mp.dps = 280  # the smallest are the 25th power of 10⁻⁹
    for _ in range(40):
        p, x = mp.mpf(draw.choice([4, 60]) * draw.random()), mp.mpf(10) ** draw.uniform(-4, 1)
        degree, (big, other) = draw.randrange(1, 26, 2), (draw.uniform(-12, 18) for _ in range(2))
        big, other, cut = mp.exp(big), mp.exp(other), draw.randrange(degree)
        m, n = 1 + x * big, 1 + x * other  # κ is left out
        s, last, spare = (m - n) / n, mp.binomial(p, degree), 1 + mp.mpf(10) ** -40
        rest = (1 + s) ** p - mp.fsum(mp.binomial(p, k) * s**k for k in range(degree))
        term = other * (other - big) * rest / n**2
        assert term * last <= 0
        power = max(p - degree, 0)
        bound = abs(last) * x**degree * other * abs(big - other) ** (degree + 1)
        assert abs(term) <= bound * m**power * spare
        series = [mp.binomial(power, i) * (x * big) ** i for i in range(int(power) + 1)]
        assert m**power <= (mp.fsum(series) + series[-1] * (x * big) ** (power % 1)) * spare
        kept = mp.fsum(mp.binomial(-cut - 2, j) * (x * other) ** j for j in range(degree - cut))
        left = mp.binomial(degree + 1, degree - cut) * (x * other) ** (degree - cut)
        assert abs(n ** (-cut - 2) - kept) <= left * spare


def test_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(lattices, "_MOST_LATTICE_NODES", 100)
    with pytest.raises(lattices.LimitError, match="more than 100 nodes"), ctx.workprec(53):
        triple_excess(Triangles(Fraction(3), Fraction(1, 10), Fraction(1)).ends[1])


# --- an optimum where two triangles change places


def log_excess_plus_one(alpha, square):
    """log G at σ = 1, γ = 1/1000"""
    if square == 0:
        z = np.arange(-12, alpha + 14, 1 / 100)
        terms = (1 + np.expm1(z - 0.5) / 1000) ** alpha * np.exp(-z * z / 2)
        return math.log(float(np.sum(terms)) / (100 * math.sqrt(2 * math.pi)))
    gram = triangle(Fraction(1), Fraction(square))
    return math.log(expectation(gram, Fraction(1, 1000), alpha, alpha - 1, Power()))


def epsilon_of(alpha, square):
    """10,000 runs at 1e-5 by one triangle, improved conversion."""
    lam = alpha - 1
    spent = 1e4 * log_excess_plus_one(alpha, square) - math.log(1e-5) - math.log(alpha)
    return spent / lam + math.log1p(-1 / alpha)


def test_an_optimum_at_a_kink_is_proved():
    """Where the line and the equilateral triangle are equally bad the curve bends."""
    node = 10_000 * SubsampleWithoutReplacement(Gaussian(1), "1/1000")
    found = Accountant().epsilon(node, "1e-5", "improved", digits=20)
    assert found.optimal
    assert found.claim.kind is Kind.EXACT
    low, high = 13.0, 13.5
    for _ in range(40):
        middle = (low + high) / 2
        line, other = (epsilon_of(middle, square) for square in (0, 1))
        low, high = (middle, high) if line < other else (low, middle)
    assert abs(float(found.alpha) - low) < 1e-7
    assert float(to_fraction(found.epsilon.upper)) == pytest.approx(line, rel=1e-8)
    assert epsilon_of(low - 1e-3, 1) > line < epsilon_of(low + 1e-3, 0)


@pytest.mark.parametrize(
    ("second", "order", "optimal"), [(1000, 10, False), (2500, 25, True), (3000, 30, False)]
)
def test_where_two_curves_cross_is_the_best_order_only_if_one_falls_and_one_rises(
    second, order, optimal
):
    """α/100 and α²/c cross at c/100; their valleys at 1e-5 are at 29.5 and at 17, 22.6 and 23.9."""

    def pieces(ctx, alpha):
        a = ctx.number(alpha)
        return a / 100, a * a / second

    def larger(ctx, eps, alpha, gamma):
        """ε′(α) = max{α/100, α²/c}"""
        return ctx.maximum(*pieces(ctx, alpha))

    def one_of_them(ctx, eps, alpha, gamma, near):
        return pieces(ctx, alpha)[near > order]

    def towards_the_crossing(ctx, eps, alpha, gamma):
        lam = ctx.number(alpha) - 1
        return 10**9 * (lam + (order - 1) ** 2 / lam)

    node = SubsampleWithoutReplacement(Gaussian(2), "1/9")
    steered = {"steer": towards_the_crossing, "below": one_of_them}
    with stated("TEST-CROSSING", larger, "TRIPLE-GAUSSIAN", **steered):
        found = Accountant().epsilon(node, "1e-5", by="TEST-CROSSING", digits=10)
    assert abs(found.alpha - order) < 1
    assert found.optimal is optimal


def test_what_is_below_the_curve_claims_no_more():
    """By one triangle a lower bound, of the sum too; the curve itself stays exact."""
    node = SubsampleWithoutReplacement(Gaussian(2), "1/9")
    for asked in (node, 10 * node, 10 * node + Gaussian(3)):
        proved = Evaluation(BALL)
        for evaluation, kind in (
            (SteeringFromBelow(proved, Fraction(3)), Kind.LOWER),
            (proved, Kind.EXACT),
        ):
            curve = evaluation.curve(asked)
            assert curve.claim(Fraction(7, 2)).kind is kind
            assert evaluation.supports(curve, Fraction(7, 2))
    with pytest.raises(SoundnessError, match="upper bound together with a lower one"):
        SteeringFromBelow(proved, Fraction(3)).curve(node + ZCDP("1/50")).claim(3)


@pytest.mark.parametrize("bent", [True, False])
def test_an_optimum_is_proved_by_sums_of_what_is_below_the_curve_alone(bent):
    """What an exact statement makes of a lower curve need not be of convex CGF."""
    node = 10 * SubsampleWithoutReplacement(Gaussian(2), "1/9")
    asked = PostProcess(node) if bent else node
    statement = {"operation": PostProcess, "adjacency": EITHER, "default": True, "tight": True}
    with stated("TEST-EXACT", lambda ctx, eps, alpha: eps(alpha), "TRIPLE-GAUSSIAN", **statement):
        found = Accountant().epsilon(asked, "1e-5", "improved", digits=8)
    assert found.optimal is not bent
