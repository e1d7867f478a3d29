"""B(l): against forms without differences, against a plain table, and its errors."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import comb

import flint
import pytest
from flint import arb

from symacct import LimitError, PrecisionError, limits
from symacct.analysis.sampled_gaussian import GaussianChi
from symacct.kernel.sums import differences
from symacct.kernel.sums.differences import differences_at
from tests.kernel.sums import chi, curves
from tests.kernel.sums.curves import forward_differences
from tests.thinning import covering, some

BITS = 101


def two_point(low: Fraction, high: Fraction):
    """K_i of a ratio P/Q with the two values 1 + low and 1 + high, mean 1, and its chi^l."""
    weight = -low / (high - low)

    def true(order: int) -> Fraction:
        return weight * high**order + (1 - weight) * low**order

    def log_moment_at(_: int, i: int) -> arb:
        return curves.ball(weight * (1 + high) ** i + (1 - weight) * (1 + low) ** i).log()

    return log_moment_at, true


@pytest.fixture
def high_precision():
    """Balls of 12,000 bits for the reference side."""
    with flint.ctx.workprec(12000):
        yield


@pytest.mark.parametrize("p", ["0.6", "0.9"])
def test_randomized_response_equals_its_closed_form(p, high_precision):
    found = forward_differences(curves.randomized_response(p), 1000, BITS)
    for order, value in enumerate(found):
        assert value.overlaps(chi.randomized_response_chi(p, order)), order
        assert value.rel_accuracy_bits() >= BITS


@pytest.mark.parametrize("b", ["2", "1/2"])
def test_laplace_equals_the_integral_recurrence(b, high_precision):
    up_to = some(300, 1000)
    found = forward_differences(curves.laplace(b), up_to, BITS)
    expected = chi.laplace_chi(b, up_to)
    for order, (value, other) in enumerate(zip(found, expected, strict=True)):
        assert other.rel_accuracy_bits() >= BITS or order == 1
        assert value.overlaps(other), order
        assert value.rel_accuracy_bits() >= BITS


@covering()
@pytest.mark.parametrize("b", ["2", "1/2"])
@pytest.mark.parametrize("order", [2, 3, 40, 333])
def test_the_laplace_recurrence_equals_quadrature(b, order):
    with flint.ctx.workprec(3000):
        by_recurrence = chi.laplace_chi(b, order)[order]
    with flint.ctx.workprec(200):
        by_quadrature = chi.laplace_chi_by_quadrature(b, order)
    assert by_quadrature.rel_accuracy_bits() >= BITS
    assert by_quadrature.overlaps(by_recurrence)


@pytest.mark.parametrize("sigma", [1, 5, 20, 100])
def test_gaussian_equals_quadrature(sigma):
    orders = [2, 3, 10, 57, 200, 501, 1000]
    found = differences_at(curves.gaussian(sigma), orders, BITS)
    for order in orders:
        with flint.ctx.workprec(250):
            expected = chi.gaussian_chi(sigma, order)
        assert expected.rel_accuracy_bits() >= BITS
        assert found[order].overlaps(expected), order
        assert found[order].rel_accuracy_bits() >= BITS


@pytest.mark.parametrize("seed", range(some(12, 40)))
def test_contains_the_plain_table_at_ten_times_the_precision(seed):
    """Curves of any shape, not only CGFs: slopes, jumps, negative K, up to 140 orders."""
    rng = random.Random(seed)
    up_to, slope = rng.choice([5, 20, 70, 140]), rng.choice([0.01, 1, 30])
    logs = [Fraction(0)] * 2 + [Fraction(rng.uniform(-2, i) * slope) for i in range(2, up_to + 1)]
    found = forward_differences(lambda _, i: curves.ball(logs[i]), up_to, 60)
    with flint.ctx.workprec(3000):
        table = curves.difference_table([curves.ball(k).exp() for k in logs])
    for order, (value, expected) in enumerate(zip(found, table, strict=True)):
        assert value.contains(expected), order
        assert value.rel_accuracy_bits() >= 60


@pytest.mark.parametrize("order", [2, 3, 30, 63, 90, 200])
def test_omitted_terms_are_in_the_radius(order):
    """Exact moments: alternate 2^70 - 1 and 0 under a top too large to see them all."""
    precision = 100
    for height in range(70 + precision, 70 + precision + 2 * order + 4, 3):
        exact = [i % 2 * (2**70 - 1) for i in range(order)] + [2**height]
        true = sum((-1) ** (order - i) * comb(order, i) * m for i, m in enumerate(exact))
        with flint.ctx.workprec(precision):
            value = differences._transform([arb(m) for m in exact], [order])[order]
        assert value.contains(arb(true)), height


def test_each_precision_asks_each_order_from_2_once():
    asked = Counter()

    def counting(precision: int, i: int) -> arb:
        assert flint.ctx.prec == precision
        asked[precision, i] += 1
        return curves.laplace(2)(precision, i)

    forward_differences(counting, 150, BITS)
    # The largest order is looked at first: are there differences at all?
    assert {times for (_, i), times in asked.items() if i < 150} == {1}
    assert {times for (_, i), times in asked.items() if i == 150} == {2}
    by_precision = Counter(precision for precision, _ in asked)
    assert len(by_precision) > 1
    assert set(by_precision.values()) == {149}
    assert {i for _, i in asked} == set(range(2, 151))


def test_only_the_moments_below_the_largest_order_are_asked():
    asked = set()

    def counting(precision: int, i: int) -> arb:
        asked.add(i)
        return curves.gaussian(5)(precision, i)

    differences_at(counting, [8, 4], BITS)
    assert asked == set(range(2, 9))


def test_precision_grows_geometrically_to_the_limit():
    """χ is symmetric about 0: the third difference vanishes, which no ball shows."""
    seen = []
    log_moment_at, _ = two_point(Fraction(-1), Fraction(1))

    def counting(precision: int, i: int) -> arb:
        if precision not in seen:
            seen.append(precision)
        return log_moment_at(precision, i)

    with limits(bits=5000), pytest.raises(PrecisionError, match="zero or nearly so"):
        differences_at(counting, [3], 40)
    assert seen[-1] == 5000
    assert all(5 * a <= 4 * b + 4 for a, b in pairwise(seen[:-1]))


def test_moments_that_are_nearly_1_are_refused_at_once():
    asked = []

    def tiny(precision: int, i: int) -> arb:
        asked.append(i)
        return arb(2) ** -5000

    with pytest.raises(PrecisionError, match="within 2"):
        differences_at(tiny, [3000], 40)
    assert asked == [3000]


def test_odd_orders_may_vanish_when_they_are_not_asked():
    log_moment_at, true = two_point(Fraction(-1, 3), Fraction(1, 3))
    found = differences_at(log_moment_at, range(2, 101, 2), BITS)
    with flint.ctx.workprec(4000):
        assert all(found[order].contains(curves.ball(true(order))) for order in found)
    with limits(bits=4000), pytest.raises(PrecisionError, match=r"B\(3\)"):
        forward_differences(log_moment_at, 100, BITS)


def test_differences_of_the_zero_curve_are_exactly_zero():
    found = forward_differences(lambda p, i: arb(0), 1000, BITS)
    assert found[0] == 1
    assert all(ball == 0 for ball in found[1:])


def test_an_oracle_with_fixed_width_raises_and_names_the_order():
    def wide(_: int, i: int) -> arb:
        return arb(i * (i - 1)) / 50 + arb(0, 1) * arb(2) ** -110

    with limits(bits=3000), pytest.raises(PrecisionError, match=r"B\(\d+\): found no 101 bits"):
        forward_differences(wide, 60, BITS)


def test_an_infinite_moment_raises_and_names_the_first_order_it_spoils():
    def truncated(_: int, i: int) -> arb:
        return arb(i * (i - 1)) / 50 if i < 12 else arb.pos_inf()

    with limits(bits=3000), pytest.raises(PrecisionError, match=r"B\(12\)"):
        forward_differences(truncated, 30, BITS)
    assert len(forward_differences(truncated, 11, BITS)) == 12


def test_the_precision_of_flint_is_put_back():
    before = flint.ctx.prec
    forward_differences(curves.laplace(2), 30, BITS)
    with limits(bits=500), pytest.raises(PrecisionError):
        forward_differences(lambda p, i: arb(0, arb(2) ** -p), 4, BITS)
    assert flint.ctx.prec == before


def test_a_negative_order_is_refused():
    with pytest.raises(ValueError, match="-1"):
        differences_at(curves.gaussian(1), [-1, 3], BITS)
    with pytest.raises(LimitError, match="order of a difference: found 100,000,000"):
        differences_at(curves.gaussian(1), [10**8], BITS)


# --- one by one, of Gaussian noise


@covering()
@pytest.mark.parametrize("sigma", [1, 5, 20, 100])
@pytest.mark.parametrize("step", [None, 2.0, 0.01], ids=["its own", "coarse", "fine"])
def test_single_differences_of_gaussian_noise(sigma, step):
    """From whatever step it starts: one that is too coarse is halved until it is proved to do."""
    single = GaussianChi(Fraction(1, sigma), BITS)
    if step:
        single._use(step)
    for order in (2, 4, 10, 100):
        value = single(order)
        assert value.rel_accuracy_bits() >= BITS - 2
        with flint.ctx.workprec(200):
            assert value.overlaps(chi.gaussian_chi(sigma, order)), order


def test_single_differences_at_one_order_after_another_are_those_at_once():
    """Between them the grid changes with nothing; at s = 1/30, and l up to 3,000."""
    orders = [2, 30, 400, 1200, 3000]
    at_once = differences_at(curves.gaussian(30), orders, BITS)
    single = GaussianChi(Fraction(1, 30), BITS)
    for order in reversed(orders):
        assert single(order).overlaps(at_once[order])
