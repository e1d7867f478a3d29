"""Any (ε, δ)-DP mechanism, by the pair of four outcomes that is the worst of them."""

import math
from fractions import Fraction

import pytest

from symacct import (
    ApproximateDP,
    Gaussian,
    InfiniteError,
    Kind,
    PureDP,
    SubsampleWithoutReplacement,
)
from tests import independent
from tests.support import holds

MP = independent.context(60)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [("1/10", "1/1000", 7), ("2", "1/10", 4), ("1/50", "1e-9", 60)]
)
def test_runs_are_as_in_the_theorem_of_kairouz_oh_and_viswanath(epsilon, delta, k):
    """1 − (1−δ)^k (1−δ_i) at (k−2i)ε, δ_i the sum over what i runs or fewer told falsely."""
    e, d = (independent.number(MP, Fraction(x)) for x in (epsilon, delta))
    for i in range(k // 2 + 1):
        terms = (
            math.comb(k, l) * (MP.exp((k - l) * e) - MP.exp((k - 2 * i + l) * e)) for l in range(i)
        )
        lost = MP.fsum(terms) / (1 + MP.exp(e)) ** k
        found = (k * ApproximateDP(epsilon, delta)).delta(
            (k - 2 * i) * Fraction(epsilon), digits=20, conversion="exact"
        )
        assert found.kind is Kind.EXACT
        assert holds(found.delta, 1 - (1 - d) ** k * (1 - lost), 20, trusted=40)


def test_its_curve_is_infinite_and_says_so():
    m = ApproximateDP("1/10", "1e-6")
    assert [m.rdp(alpha).upper for alpha in (1, Fraction(3, 2), 2, "inf")] == [math.inf] * 4
    for conversion in ("improved", "optimal", "exact"):
        with pytest.raises(InfiniteError, match="at least"):
            (m + Gaussian(1)).epsilon("1e-7", conversion=conversion)


def test_beside_others_it_is_between_pure_dp_and_that_with_what_is_lost():
    """δ of the whole lies between δ₀ and δ + δ₀, δ₀ with PureDP in its place."""
    beside = 100 * Gaussian(20) + SubsampleWithoutReplacement(Gaussian(1), "1/50")
    least, found = (
        (m + beside).delta(1, digits=12, conversion="exact").delta
        for m in (PureDP("1/10"), ApproximateDP("1/10", "1e-6"))
    )
    assert least.upper < found.lower
    assert found.upper < least.upper + 1.000001e-6
