"""Acceleration of alternating series of Hausdorff moments, and what rests on it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx

from symacct import PrecisionError
from symacct.analysis.series import (
    accelerated_sum,
    acceleration_weights,
    alternating_sum,
    binomial_integral,
)
from symacct.kernel.arithmetic.ball import ball, to_relative_accuracy
from tests.thinning import covering


@pytest.fixture(autouse=True)
def fifty_digits():
    with ctx.workdps(50):
        yield


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
def test_acceleration_encloses_and_meets_its_bound(n: int) -> None:
    cases = [
        ([1 / arb(k + 1) for k in range(n)], arb(2).log()),
        ([1 / arb(2 * k + 1) for k in range(n)], arb.pi() / 4),
        ([arb(1)] * n, arb(1) / 2),
        ([arb(1)] + [arb(0)] * (n - 1), arb(1)),
    ]
    for terms, true in cases:
        value = accelerated_sum(terms)
        assert value.contains(true)
        assert value.rad() <= 2.02 * true / (acceleration_weights(n)[0] - 1) + arb(2) ** -150


def test_acceleration_bound_is_attained() -> None:
    """At n = 1 the point mass at 1 has the largest error, S/T_1(3) = 1/6."""
    value = accelerated_sum([arb(1)])
    assert abs(value.mid() - 0.5) > arb("0.16")
    assert value.contains(0.5)


@pytest.mark.parametrize("tolerance", ["1e-3", "1e-20", "1e-45"])
def test_alternating_sum_reaches_its_tolerance(tolerance: str) -> None:
    for terms, true in (
        ((1 / arb(k) for k in range(1, 10**6)), arb(2).log()),
        ((arb(1) / 100**k for k in range(10**6)), arb(100) / 101),
    ):
        value = alternating_sum(terms, arb(tolerance))
        assert value.contains(true)
        assert value.rad() <= 2 * arb(tolerance)


def test_alternating_sum_takes_few_terms() -> None:
    slow = iter([1 / arb(k) for k in range(1, 500)])
    alternating_sum(slow, arb("1e-50"))
    assert 499 - len(list(slow)) <= 67
    fast = iter([arb(1) / 100**k for k in range(100)])
    alternating_sum(fast, arb("1e-50"))
    assert 100 - len(list(fast)) <= 27


@covering()
@pytest.mark.parametrize(
    "alpha", [Fraction(1, 3), Fraction(3, 2), Fraction(7), Fraction("63.9"), Fraction("500.25")]
)
@pytest.mark.parametrize("x", [2.0**-30, 2.0**-7, 0.703125, 1.0])
@pytest.mark.parametrize("tolerance", ["1e-2", "1e-40"])
def test_binomial_integral_of_a_point_mass(alpha: Fraction, x: float, tolerance: str) -> None:
    point = arb(x)
    with ctx.workprec(500):
        true = (1 + point) ** ball(alpha)
    value = binomial_integral(alpha, (point**k for k in range(10**6)), point, arb(tolerance) * true)
    assert value.contains(true)
    assert value.rad() <= 2 * arb(tolerance) * true


def test_accuracy_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(PrecisionError, match="bits wanted"):
        to_relative_accuracy(lambda bits: arb(0, 1))
