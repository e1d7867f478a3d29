"""Exponential families: WBK19 Proposition 38 and Remark 39 against families worked out by hand."""

from fractions import Fraction

import mpmath
import pytest
import sympy

from symacct import (
    DistributionPair,
    DomainError,
    ExponentialFamily,
    Gaussian,
    Kind,
    laws,
)
from tests.support import overlap

INFINITY = float("inf")


def is_exactly(enclosure, value):
    """Does the enclosure hold the value, 29 digits tight?"""
    return enclosure >= value * (1 - Fraction(1, 10**29)) and enclosure <= value * (
        1 + Fraction(1, 10**29)
    )


def test_the_gaussian_mechanism_is_one_of_them():
    """η = x/σ², A = σ²η²/2: L = σ² everywhere, and η moves by 1/σ²; the bound is attained."""
    for sigma in (1, 5, Fraction(3, 2)):
        family = ExponentialFamily(sigma**2, sensitivity=1 / Fraction(sigma) ** 2)
        for alpha in (1, "3/2", 2, 17, "inf"):
            assert overlap(family.rdp(alpha), Gaussian(sigma).rdp(alpha))
        assert family.rdp(2).claim.kind is Kind.UPPER


def test_the_smaller_branch_counts_within_the_radius_and_nothing_beyond():
    family = ExponentialFamily(L=2, B=3, kappa=6, sensitivity="1/2")
    expected = {1: Fraction(1, 4), 2: Fraction(1, 2), 12: 3, 13: 3}
    for alpha, value in expected.items():
        assert is_exactly(family.rdp(alpha), value)
    for alpha in (13 + Fraction(1, 10**30), 14, 10**6, "inf"):
        assert family.rdp(alpha).lower == INFINITY


def test_without_a_radius_the_flat_branch_is_pure_privacy():
    assert is_exactly(ExponentialFamily(L="inf", B=2).rdp("inf"), 4)
    assert is_exactly(ExponentialFamily(L=1, B=2).rdp(10**6), 4)
    assert ExponentialFamily(L=1).rdp("inf").lower == INFINITY
    assert ExponentialFamily(L=0).rdp("inf").upper == 0
    assert ExponentialFamily(L="inf").rdp(2).lower == INFINITY


def test_the_radius_is_a_premise_only_beside_a_constant():
    assert len(ExponentialFamily(L="inf", kappa=3).premises) == 1
    assert "this for" in ExponentialFamily(L=1, kappa=3).premises[-1]
    assert "both for" in ExponentialFamily(L=1, B=2, kappa=3).premises[-1]


def test_symbols_are_kept():
    L, delta = sympy.symbols("L Delta", positive=True)
    formula = ExponentialFamily(L, sensitivity=delta).formula(3)
    assert sympy.simplify(formula - 3 * L * delta**2 / 2) == 0


def test_the_curve_is_an_upper_bound_for_poisson_laws():
    """A(η) = e^η: L(κ) = B(κ) = λe^κ around η = log λ, with κ the distance in η."""
    rate, step = Fraction(2), sympy.log(sympy.Rational(5, 4))
    neighbours = [laws.Poisson(rate * Fraction(5, 4)), laws.Poisson(rate * Fraction(4, 5))]
    # Of the two laws the one with the larger rate has the larger A″; it bounds both datasets.
    largest = rate * Fraction(5, 4)
    for other in neighbours:
        pair = DistributionPair(laws.Poisson(rate), other)
        family = ExponentialFamily.over_radii(
            L=f"{largest}*exp(kappa)", sensitivity=step, adjacency="either"
        )
        for alpha in (1, Fraction(3, 2), 2, 5, 9):
            bound = family.rdp(alpha, 20)
            assert bound.upper >= pair.rdp(alpha, 20).lower
            kappa = max(alpha - 1, 1) * step
            fixed = ExponentialFamily(L=largest * sympy.exp(kappa), kappa=kappa, sensitivity=step)
            # Each constant at its own radius is no worse than one radius for both.
            assert bound.lower <= fixed.rdp(alpha, 20).upper


def test_the_best_radius_is_the_smallest_that_the_order_needs():
    """((α−1)L((α−1)Δ) + L(Δ))Δ²/2 and (B((α−1)Δ) + B(Δ))Δ, written out in mpmath."""
    family = ExponentialFamily.over_radii(L="exp(kappa)", B="3 + kappa**2", sensitivity="1/2")
    mp = mpmath.mp.clone()
    mp.dps = 40
    for alpha in (1, Fraction(5, 4), 2, 5, 12):
        a, d = mp.mpf(Fraction(alpha).numerator) / Fraction(alpha).denominator, mp.mpf(1) / 2
        smooth = ((a - 1) * mp.exp((a - 1) * d) + mp.exp(d)) * d**2 / 2
        flat = (3 + ((a - 1) * d) ** 2 + 3 + d**2) * d
        answer = family.rdp(alpha, 25)
        assert abs(answer.upper - min(smooth, flat)) < mp.mpf(10) ** -24
    with pytest.raises(DomainError, match="neither"):
        ExponentialFamily.over_radii()
