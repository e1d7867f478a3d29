"""E_Q[m^α] − 1 of the sampled Gaussian at every real order: laws, references, a second way."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise, product

import pytest
from flint import acb, arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from symacct import Gaussian, PoissonSubsample
from symacct.analysis import sampled_gaussian
from symacct.analysis.normal_mixtures import sampled_relative_entropy
from symacct.analysis.sampled_gaussian import (
    Rim,
    TrapezoidNodes,
    _left_moments,
    _right_moments,
    excess_by_binomial,
    excess_by_series,
    guess,
    plan,
    sampled_gaussian_excess,
    split,
)
from symacct.analysis.sampled_laplace import integrate
from symacct.kernel.arithmetic.ball import ball, log_gaussian_excess
from tests import support
from tests.analysis.quadrature import (
    ALMOST,
    RATES,
    TINY,
    accurate,
    sampled_gaussian_excess_by_quadrature,
    sampled_gaussian_kl_by_quadrature,
    trapezoid,
)
from tests.independent import fraction
from tests.thinning import covering, examples, some

SIGMAS = (
    Fraction("0.05"),
    Fraction("0.3"),
    Fraction(1),
    Fraction(10),
    Fraction(300),
    Fraction(10**4),
)
WIDE = tuple(map(Fraction, ("3/2", "2", "5/2", "63.9", "1000.5", "30001/3", "1e5")))
ORDERS = (1 + TINY, 1 + Fraction(1, 10**6), *WIDE)


@pytest.fixture(autouse=True)
def fifty_digits():
    with ctx.workdps(50):
        yield


def series(alpha: Fraction, q: Fraction, sigma: Fraction, bits: int) -> arb:
    return excess_by_series(alpha, q, sigma, guess(alpha, q, sigma, bits))


def random_cases(
    count: int, seed: int, largest_order: float
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(α, q, σ) with log-uniform q, σ and α − 1."""
    rng = random.Random(seed)
    return [
        (
            1 + Fraction(10 ** rng.uniform(-6, math.log10(largest_order))),
            Fraction(10 ** rng.uniform(-9, -0.05)),
            Fraction(10 ** rng.uniform(-0.7, 3)),
        )
        for _ in range(count)
    ]


@covering()
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("q", RATES)
def test_corners_against_quadrature(q: Fraction, sigma: Fraction) -> None:
    for alpha in ORDERS[:-1]:
        one = sampled_gaussian_excess(alpha, q, sigma)
        other = sampled_gaussian_excess_by_quadrature(alpha, q, sigma)
        assert accurate(one)
        assert accurate(other)
        assert one.overlaps(other), alpha


def test_random_points_by_each_way() -> None:
    """By the binomial sum as well where the order is whole."""
    bits, count = ctx.prec + 5, some(24, 150)
    for i, (alpha, q, sigma) in enumerate(random_cases(count, seed=1, largest_order=200)):
        order = alpha if i % 2 else Fraction(max(2, round(alpha)))
        guessed = guess(order, q, sigma, bits)
        values = [
            trapezoid(order, q, sigma, bits),
            excess_by_series(order, q, sigma, guessed),
            sampled_gaussian_excess_by_quadrature(order, q, sigma),
        ]
        if order.denominator == 1:
            values.append(excess_by_binomial(order, q, sigma, guessed))
        for value in values:
            assert value.rel_accuracy_bits() >= ctx.prec - 4
            assert all(value.overlaps(other) for other in values)


@pytest.mark.parametrize("bits", [1, 3, 8, 20, 45])
def test_coarse_enclosures_hold_the_truth(bits: int) -> None:
    """At few bits the truncation errors dominate, so a missing one shows."""
    for alpha, q, sigma in random_cases(some(40, 150), seed=bits, largest_order=3000):
        true = sampled_gaussian_excess(alpha, q, sigma)
        coarse = trapezoid(alpha, q, sigma, bits)
        assert coarse.contains(true), (alpha, q, sigma)
        assert coarse.rel_accuracy_bits() >= bits - 3
        if alpha < 60:
            coarse = series(alpha, q, sigma, bits)
            assert coarse.contains(true), (alpha, q, sigma)
            assert coarse.rel_accuracy_bits() >= bits - 3


def widened(alpha: Fraction, q: Fraction, sigma: Fraction, factor: float) -> arb:
    """The trapezoidal enclosure with a step that is too wide by the factor."""
    guessed = guess(alpha, q, sigma, 40)
    grid = plan(guessed)
    step = grid.step * factor
    wide = replace(
        grid,
        step=step,
        angle=min(grid.angle, 2 * math.pi / step),
        first=math.floor(grid.first / factor),
        last=math.ceil(grid.last / factor) + 1,
    )
    return TrapezoidNodes((alpha, alpha), q, sigma, guessed, wide).excess(alpha)


@pytest.mark.parametrize("factor", [1.3, 2.0, 8.0, 20.0])
def test_strip_bound_covers_steps_that_are_too_wide(factor: float) -> None:
    """Or it says that it does not hold: what it must never do is to miss the truth."""
    finite, count = 0, some(24, 80)
    for alpha, q, sigma in random_cases(count, seed=5, largest_order=50):
        value = widened(alpha, q, sigma, factor)
        finite += value.is_finite()
        assert not value.is_finite() or value.contains(sampled_gaussian_excess(alpha, q, sigma))
    assert 4 * finite > 3 * count or factor > 2


def test_nodes_left_out_at_the_rim_are_in_the_radius() -> None:
    """A window cut down to where the terms still matter widens the ball, and truly so."""
    shown, count = 0, some(20, 60)
    for alpha, q, sigma in random_cases(count, seed=6, largest_order=10):
        guessed = guess(alpha, q, sigma, 100)
        grid = plan(guessed)
        true = sampled_gaussian_excess(alpha, q, sigma)
        right = math.ceil((float(alpha) + float(sigma)) / grid.step) + 2
        left = math.floor(-float(sigma) / grid.step)
        for cut in (replace(grid, first=left), replace(grid, last=right)):
            value = TrapezoidNodes((alpha, alpha), q, sigma, guessed, cut).excess(alpha)
            assert value.contains(true), (alpha, q, sigma, cut)
            missed = abs(value.mid() - true)
            rim = Rim((alpha, alpha), q, sigma).outside(cut)
            if missed > true * arb("1e-25"):
                shown += 1
                assert missed <= rim < 40 * missed
    assert 3 * shown > 2 * count


def test_blocks_left_out_inside_are_in_the_radius() -> None:
    """With a tolerance as large as the value the dropped blocks carry most of the error."""
    large = 0
    for alpha, q, sigma in product(
        (Fraction("63.9"), Fraction("400.5")), RATES, (Fraction("0.3"), Fraction(1), Fraction(5))
    ):
        guessed = guess(alpha, q, sigma, 100)
        grid = plan(guessed)
        rim = Rim((alpha, alpha), q, sigma)
        careless = replace(guessed, log_tolerance=guessed.log_excess + 7)
        for first, last in split(careless, grid)[1]:
            bound = rim.block(grid.step, first, last)
            true = block_sum(rim, grid.step, first, last)
            assert true <= bound
            large += bool(true * 1000 > bound)
    assert large > 100


def block_sum(rim: Rim, step: float, first: int, last: int) -> arb:
    """h Σ φ m^α over a block; a long one by its larger end, which is a lower bound."""
    inside = range(first, last) if last - first < 400 else (first, last - 1)
    total = arb(0)
    for j in inside:
        z = arb(step) * j
        total += (rim.log_power(z) - (z / rim.sigma) ** 2 / 2).exp()
    return total * arb(step) * rim.density


@pytest.mark.parametrize("digits", [15, 50, 300])
def test_relative_accuracy_and_agreement_over_digits(digits: int) -> None:
    for alpha, q, sigma in product(
        (1 + TINY, Fraction(5, 2), Fraction(7), Fraction("63.9")),
        (TINY, Fraction(1, 100), ALMOST),
        (Fraction("0.3"), Fraction(5), Fraction(10**4)),
    ):
        ctx.dps = digits
        value = sampled_gaussian_excess(alpha, q, sigma)
        assert accurate(value)
        ctx.dps = digits + 20
        assert value.overlaps(sampled_gaussian_excess(alpha, q, sigma))


def test_precision_is_put_back_and_parameters_may_be_huge_fractions() -> None:
    ctx.prec = 77
    case = (
        Fraction(10**40 * 5 // 2 + 1, 10**40),
        Fraction(10**50 + 7, 10**53),
        Fraction(10**30 + 1, 10**30),
    )
    assert accurate(sampled_gaussian_excess(*case))
    assert ctx.prec == 77
    assert accurate(sampled_relative_entropy(*case[1:]))
    assert ctx.prec == 77


@covering()
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("q", RATES)
def test_guessed_size_is_a_close_lower_bound(q: Fraction, sigma: Fraction) -> None:
    """Only time depends on it, but much of it: 20 nats are 29 bits."""
    for alpha in ORDERS:
        gap = sampled_gaussian_excess(alpha, q, sigma).log() - arb(
            log_gaussian_excess(alpha, q, sigma)
        )
        assert arb("-0.001") < gap < 20


@covering()
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("q", RATES)
def test_kl_is_the_limit_and_the_integral(q: Fraction, sigma: Fraction) -> None:
    found = sampled_relative_entropy(q, sigma)
    step = Fraction(1, 10**120)
    limit = sampled_gaussian_excess(1 + step, q, sigma) / ball(step)
    assert abs(limit / found - 1) < arb("1e-49")
    assert accurate(found)
    assert found.overlaps(sampled_gaussian_kl_by_quadrature(q, sigma))


@covering()
@pytest.mark.parametrize("sigma", [Fraction(1, 40), Fraction(1, 4), Fraction(1), Fraction(30)])
@pytest.mark.parametrize("q", [Fraction(1, 10**6), Fraction(1, 3), ALMOST])
def test_kl_of_opposite_shifts_is_flints_integral(q: Fraction, sigma: Fraction) -> None:
    """∫ m log(m/n) over ±(2c + 40), beyond which it is far below the digits."""
    rate, rest, c = ball(q), ball(1 - q), 1 / ball(sigma)

    def integrand(x: acb, analytic: bool) -> acb:
        m, n = (rest + rate * (s * c * x - c * c / 2).exp() for s in (1, -1))
        log_ratio = m.log(analytic=analytic) - n.log(analytic=analytic)
        return (m - n) * log_ratio * (-x * x / 2).exp()

    end = 2 * c + 40
    with ctx.workdps(25):
        whole = integrate(integrand, [arb(0), end / 9, end / 3, end], -80.0) / (2 * arb.pi()).sqrt()
    with ctx.workdps(15):
        found = sampled_relative_entropy(q, sigma, -1)
        assert accurate(found)
        assert abs(found / whole - 1) < arb("1e-14")


def test_all_terms_of_both_series_are_hausdorff_moments() -> None:
    """Differences (−1)^m Δ^m a_k of the alternating terms are nonnegative, as the proof says."""
    alpha, q, sigma = Fraction(5, 2), Fraction(1, 10), Fraction("0.7")
    for moments in (_left_moments(alpha, q, sigma), _right_moments(alpha, q, sigma)):
        binomial_abs, row = arb(1), []
        for i, moment in enumerate(islice(moments, 15)):
            row.append(binomial_abs * moment)
            binomial_abs *= abs(ball(alpha - i)) / (i + 1)
        row = row[3:]
        while row:
            assert all(term > 0 for term in row)
            row = [a - b for a, b in pairwise(row)]


@examples(20, 2_000)
@given(
    support.fractions(Fraction(1, 10**6), Fraction(1, 10), 10**6),
    support.fractions(Fraction(2), Fraction(50), 10),
    st.sampled_from([0, -1]),
    st.integers(20, 120),
)
def test_a_small_rates_moments_are_the_sums_over_nodes(rate, ratio, other, bits) -> None:
    n = sampled_gaussian.terms(rate, ratio, bits)
    assume(n is not None)
    with ctx.workprec(bits), pytest.MonkeyPatch.context() as patch:
        found = sampled_relative_entropy(rate, ratio, other)
        patch.setattr(sampled_gaussian, "terms", lambda *_: None)
        assert found.overlaps(sampled_relative_entropy(rate, ratio, other))
    assert found.rel_accuracy_bits() >= bits - 3


def test_a_rate_beyond_every_float_takes_two_moments() -> None:
    """γ²(e^{1/σ²} − 1)/2, which sums over nodes reach to 130,000 bits only."""
    rate = Fraction(1, 10**9999)
    assert sampled_gaussian.terms(rate, Fraction(5), 64) == 3
    value = sampled_relative_entropy(rate, Fraction(5))
    assert value.overlaps(ball(rate**2) * ball(Fraction(1, 25)).expm1() / 2)


@covering()
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize(("sigma", "gamma"), [("1/2", "1/4"), (2, "1/10")])
def test_order_one_by_another_engine(sigma, gamma, adjacency):
    m = PoissonSubsample(Gaussian(sigma), gamma, adjacency=adjacency)
    ball, other = m.rdp(1, digits=15), m.rdp(1, digits=15, engine="mpmath")
    assert abs(fraction(ball.upper) - fraction(other.upper)) < fraction(ball.upper) / 10**13
