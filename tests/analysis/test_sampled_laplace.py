"""E_Q[m^α] − 1 of the sampled Laplace mechanism, and of randomized response through the API."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import acb, arb, ctx

from symacct import Accountant, PoissonSubsample, RandomizedResponse
from symacct.analysis.sampled_laplace import (
    _excess,
    sampled_laplace_excess,
    sampled_laplace_excess_by_quadrature,
    sampled_laplace_excess_by_series,
    sampled_laplace_kl,
)
from symacct.kernel.answer import to_fraction
from symacct.kernel.arithmetic.ball import ball
from tests.analysis.quadrature import (
    ALMOST,
    RATES,
    TINY,
    accurate,
    sampled_laplace_kl_by_quadrature,
)
from tests.thinning import covering

SCALES = (Fraction("0.05"), Fraction("0.5"), Fraction(2), Fraction(50), Fraction(1000))


@pytest.fixture(autouse=True)
def fifty_digits():
    with ctx.workdps(50):
        yield


@covering()
@pytest.mark.parametrize("b", SCALES)
@pytest.mark.parametrize("gamma", [*RATES, Fraction("0.3"), Fraction("0.7")])
def test_laplace_series_against_quadrature(gamma: Fraction, b: Fraction) -> None:
    for alpha in (
        1 + TINY,
        Fraction(3, 2),
        Fraction(5, 2) + Fraction(1, 10**20),
        Fraction(5, 2),
        Fraction(10),
        Fraction("63.9"),
        Fraction(2001, 2),
    ):
        one = sampled_laplace_excess_by_series(alpha, gamma, b)
        other = sampled_laplace_excess_by_quadrature(alpha, gamma, b)
        assert accurate(one)
        assert accurate(other)
        assert one.overlaps(other), alpha
    one, other = sampled_laplace_kl(gamma, b), sampled_laplace_kl_by_quadrature(gamma, b)
    assert accurate(one)
    assert accurate(other)
    assert one.overlaps(other)


@pytest.mark.parametrize("bits", [1, 4, 12, 40])
def test_laplace_coarse_enclosures_hold_the_truth(bits: int) -> None:
    for alpha, gamma, b in product(
        (Fraction(3, 2), Fraction(5, 2), Fraction("63.9"), Fraction("400.25")),
        (*RATES, Fraction("0.3"), Fraction("0.7")),
        SCALES,
    ):
        true = sampled_laplace_excess(alpha, gamma, b)
        with ctx.workprec(400):
            value = _excess(alpha, gamma, b, true.mid() * arb(2) ** -bits)
        assert value.contains(true)
        assert value.rel_accuracy_bits() >= bits - 5


def test_laplace_end_that_cannot_be_told_from_one() -> None:
    """γ/(1−γ) e^{1/b} = 1 to 80 digits: no value at 60 digits, and the right one in the end."""
    with ctx.workprec(600):
        scaled = (arb(10) ** 80 / (1 + arb(1).exp())).floor().unique_fmpz()
    gamma = Fraction(int(scaled), 10**80)
    ctx.dps = 60
    assert not _excess(Fraction(5, 2), gamma, Fraction(1), arb("1e-60")).is_finite()
    value = sampled_laplace_excess(Fraction(5, 2), gamma, Fraction(1))
    assert accurate(value)
    assert value.overlaps(sampled_laplace_excess_by_quadrature(Fraction(5, 2), gamma, Fraction(1)))


@covering()
@pytest.mark.parametrize("b", [Fraction("0.05"), Fraction(2)])
@pytest.mark.parametrize("gamma", [TINY, Fraction("0.3"), ALMOST])
@pytest.mark.parametrize("alpha", [Fraction("30000.3"), Fraction(10**6)])
def test_laplace_at_large_orders(alpha: Fraction, gamma: Fraction, b: Fraction) -> None:
    ctx.dps = 15
    one = sampled_laplace_excess(alpha, gamma, b)
    assert accurate(one)
    assert one.overlaps(sampled_laplace_excess_by_series(alpha, gamma, b))


@covering()
@pytest.mark.parametrize("order", [2, 3, 10, 50, 1200])
@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction("0.7")])
@pytest.mark.parametrize("b", SCALES)
def test_laplace_integer_orders_against_the_base_curve(
    order: int, gamma: Fraction, b: Fraction
) -> None:
    """Zhu–Wang 2019, Theorem 6, with e^{(l−1)ε(l)} of the Laplace mechanism."""
    value = sampled_laplace_excess(Fraction(order), gamma, b)
    with ctx.workprec(3 * ctx.prec):
        true = arb(-1)
        for k in range(order + 1):
            weight = arb(math.comb(order, k)) * ball(1 - gamma) ** (order - k) * ball(gamma) ** k
            true += weight * laplace_moment(k, b)
    assert value.overlaps(true)
    assert accurate(value)


def laplace_moment(k: int, b: Fraction) -> arb:
    """E_Q[(P/Q)^k] = k/(2k−1) e^{(k−1)/b} + (k−1)/(2k−1) e^{−k/b}."""
    up, down = ball((k - 1) / b).exp(), ball(-k / b).exp()
    return (k * up + (k - 1) * down) / (2 * k - 1)


@pytest.mark.parametrize("digits", [15, 300])
def test_laplace_accuracy_over_digits(digits: int) -> None:
    for alpha, gamma, b in product(
        (1 + TINY, Fraction(7, 2)), (TINY, Fraction(1, 2), ALMOST), SCALES
    ):
        ctx.dps = digits
        value, limit = sampled_laplace_excess(alpha, gamma, b), sampled_laplace_kl(gamma, b)
        assert accurate(value)
        assert accurate(limit)
        ctx.dps = digits + 20
        assert value.overlaps(sampled_laplace_excess(alpha, gamma, b))


def test_laplace_integrand_reports_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(
        "symacct.analysis.sampled_laplace.integrate",
        lambda f, points, tolerance: seen.append(f) or arb(0),
    )
    monkeypatch.setattr(
        "symacct.analysis.sampled_laplace.to_relative_accuracy", lambda evaluate: evaluate(50)
    )
    sampled_laplace_excess_by_quadrature(Fraction(5, 2), Fraction(1, 2), Fraction(2))
    [integrand] = seen
    around = acb(arb(0.9, 0.1), arb(math.pi, 0.1))
    assert not integrand(around, True).is_finite()
    assert integrand(around, False).is_finite()


def test_laplace_takes_huge_fractions_and_puts_the_precision_back() -> None:
    ctx.prec = 77
    case = (
        Fraction(10**40 * 5 // 2 + 1, 10**40),
        Fraction(10**50 + 7, 10**53),
        Fraction(10**30 + 1, 10**30),
    )
    assert accurate(sampled_laplace_excess(*case))
    assert ctx.prec == 77


# Randomized response: PAIR-EXACT, asked of an accountant


@pytest.mark.parametrize("digits", [15, 50, 300])
def test_response_against_ten_times_the_precision(digits: int) -> None:
    for alpha, gamma, p in product(
        (1, 1 + TINY, Fraction(2), Fraction("63.9"), Fraction(10**6)),
        (TINY, Fraction(1, 1000), ALMOST),
        (Fraction(1, 2) + Fraction(1, 10**9), Fraction("0.6"), Fraction("0.1"), ALMOST),
    ):
        sampled = PoissonSubsample(RandomizedResponse(p), gamma)
        found = Accountant(digits).rdp(sampled, alpha, by="PAIR-EXACT")
        assert found.digits >= digits
        with ctx.workdps(10 * digits + 100):
            mixtures = [ball(1 - gamma + gamma * r) for r in (p / (1 - p), (1 - p) / p)]
            pairs = list(zip((ball(1 - p), ball(p)), mixtures, strict=True))
            if alpha == 1:
                true = sum((w * m * m.log() for w, m in pairs), arb(0))
            else:
                moment = sum((w * m ** ball(Fraction(alpha)) for w, m in pairs), arb(0))
                true = moment.log() / ball(alpha - Fraction(1))
            lower, upper = (ball(to_fraction(end)) for end in (found.lower, found.upper))
            assert lower <= true.upper()
            assert true.lower() <= upper
