"""Condition (4): the signs of the odd χ-divergences, against sums and closed forms of our own."""

import json
import random
from fractions import Fraction
from math import comb

import mpmath
import pytest

from symacct import (
    ZCDP,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomizedResponse,
    SoundnessError,
    check_odd_chi,
    laws,
)
from tests.thinning import some

MP = mpmath.mp.clone()
MP.dps = 200


def test_a_divergence_that_is_0_is_no_violation():
    """Nothing is sampled at γ = 0: P = Q, and every χ^l is 0."""
    report = check_odd_chi(PoissonSubsample(Gaussian(5), 0))
    assert (report.holds, report.first_violation) == (None, None)
    assert "in one direction only" in report.reason


def finite(seed, size=None):
    rng = random.Random(seed)  # not for secrets
    size = size or rng.randrange(2, 5)
    counts = [[rng.randrange(1, 9) for _ in range(size)] for _ in "PQ"]
    return DistributionPair(*([Fraction(c, sum(row)) for c in row] for row in counts))


def chi(masses, l):
    return sum((p - q) ** l / q ** (l - 1) for p, q in masses)


def first_violation(pair, up_to):
    for l in range(3, up_to + 1, 2):
        for direction, sign in (("P‖Q", 1), ("Q‖P", -1)):
            value = chi([(p, q)[::sign] for p, q in pair.masses], l)
            if value < 0:
                return l, direction, value
    return None


@pytest.mark.parametrize("seed", range(some(20, 60)))
def test_finite_pairs_are_decided_as_the_sums_are(seed):
    pair = finite(seed)
    report, found = check_odd_chi(pair, 15), first_violation(pair, 15)
    assert report.holds == (found is None)
    if found is not None:
        l, direction, value = found
        assert (report.first_violation.l, report.first_violation.direction) == (l, direction)
        enclosure = report.first_violation.value
        number = MP.mpf(value.numerator) / value.denominator
        assert enclosure.lower <= number * (1 - MP.mpf(10) ** -100)
        assert number * (1 + MP.mpf(10) ** -100) <= enclosure.upper
        assert enclosure.upper < 0


@pytest.mark.parametrize("seed", range(some(20, 60)))
def test_what_is_proved_for_all_orders_holds_far_beyond(seed):
    pair = finite(seed)
    report = check_odd_chi(pair, 5)
    if report.proved_for_all_orders:
        assert report.holds
        assert first_violation(pair, 61) is None


def test_finite_pairs_are_decided_for_all_orders_in_the_end():
    """Where no outcome decides it, a large enough order does: none of these stays open."""
    for seed in range(some(20, 60)):
        report = check_odd_chi(finite(seed), 201)
        assert report.holds is False or report.proved_for_all_orders, report


def test_a_violation_that_comes_late_is_foretold():
    # The largest |P/Q − 1| has P < Q, and prevails at l = 15.
    pair = DistributionPair(["1/13", "3/13", "9/13"], ["3/13", "9/26", "11/26"])
    early, late = check_odd_chi(pair, 13), check_odd_chi(pair, 15)
    assert early.holds
    assert not early.proved_for_all_orders
    assert "fails at some larger l" in early.reason
    assert late.holds is False
    assert late.first_violation.l == 15


@pytest.mark.parametrize(
    "m",
    [
        Gaussian(5),
        Laplace("1/2"),
        RandomizedResponse("9/10"),
        PureDP(2),
        3 * Gaussian(5) + Laplace(2),
        PostProcess(Laplace(1)),
        DistributionPair(["1/2", "1/3", "1/6"], ["1/3", "1/2", "1/6"]),
        DistributionPair(laws.Normal(0, 2), laws.Normal(1, 2)),
        DistributionPair(laws.Beta(2, 3), laws.Beta(3, 2)),
    ],
    ids=repr,
)
def test_where_a_symmetry_swaps_the_pair_it_is_proved_for_all_orders(m):
    report = check_odd_chi(m, 3)
    assert report.holds
    assert report.proved_for_all_orders
    assert report.first_violation is None
    assert "symmetry" in report.reason
    assert "every order" in str(report)


def poisson_chi(first, second, l):
    """ZW19: E_Q[(P/Q)^j] = exp(λ₁^j/λ₂^{j−1} − jλ₁ + (j−1)λ₂)."""
    a, b = (MP.mpf(x.numerator) / x.denominator for x in (first, second))
    return MP.fsum(
        (-1) ** (l - j) * comb(l, j) * MP.exp(a**j / b ** (j - 1) - j * a + (j - 1) * b)
        for j in range(l + 1)
    )


@pytest.mark.parametrize(
    ("first", "second"), [("9/10", 1), ("99/100", 1), ("999999/1000000", 1), ("19/5", 4)]
)
def test_two_poisson_laws_of_which_one_is_slightly_smaller_fail_at_3(first, second):
    first, second = Fraction(first), Fraction(second)
    pair = DistributionPair(laws.Poisson(first), laws.Poisson(second))
    for m, direction in ((pair, "P‖Q"), (pair.swapped(), "Q‖P")):
        report = check_odd_chi(m, 9)
        found, value = report.first_violation, poisson_chi(first, second, 3)
        assert report.holds is False
        assert (found.l, found.direction) == (3, direction)
        assert value < 0
        assert found.value.lower <= value <= found.value.upper
        assert found.value.digits >= 19


@pytest.mark.parametrize(("first", "second"), [(3, 1), (1, "1/2")])
def test_poisson_signs_are_those_of_the_printed_sum(first, second):
    first, second = Fraction(first), Fraction(second)
    expected = all(
        poisson_chi(x, y, l) > 0
        for x, y in ((first, second), (second, first))
        for l in (3, 5, 7, 9)
    )
    report = check_odd_chi(DistributionPair(laws.Poisson(first), laws.Poisson(second)), 9)
    assert report.holds == expected


def test_a_divergence_that_is_exactly_0_is_no_violation():
    # Under Exponential(1) the ratio 2e^{−x} − 1 is uniform on [−1, 1]: every odd χ is 0.
    report = check_odd_chi(DistributionPair(laws.Exponential(2), laws.Exponential(1)), 25)
    assert report.holds
    # And from order 2 on the other direction's moments are infinite.
    uniform = DistributionPair(laws.Uniform(0, 1), laws.Uniform(0, 2))
    assert check_odd_chi(uniform, 9).holds


def test_infinite_moments_hold_for_good():
    report = check_odd_chi(DistributionPair([1, 0], [0, 1]), 3)
    assert report.holds
    wider = DistributionPair(["1/2", "1/4", "1/4"], ["1/2", "1/2", 0])
    report = check_odd_chi(wider, 9)
    back = [(q, p) for p, q in wider.masses]
    assert report.holds == all(chi(back, l) >= 0 for l in (3, 5, 7, 9))


def test_two_normals_of_unequal_variance_fail():
    pair = DistributionPair(laws.Normal(0, 1), laws.Normal(0, 2))
    found = check_odd_chi(pair, 5).first_violation
    with mpmath.workdps(30):
        value = mpmath.quad(
            lambda x: (
                (mpmath.npdf(x) / mpmath.npdf(x, 0, mpmath.sqrt(2)) - 1) ** 3
                * mpmath.npdf(x, 0, mpmath.sqrt(2))
            ),
            [-40, -9, -3, 0, 3, 9, 40],
        )
    assert (found.l, found.direction) == (3, "P‖Q")
    assert abs(found.value.upper - value) < 1e-15


def test_a_curve_is_checked_for_the_pair_that_attains_it_only():
    report = check_odd_chi(
        Curve("alpha/50", kind="exact", adjacency="either", at_infinity="inf"), 9
    )
    assert report.holds is None
    assert "in one direction only" in report.reason
    assert "undecided" in str(report)
    # log E_Q[r^j] = log(1 + 1/100) at j = 2 and hardly more at 3: a skew to the left.
    falling = Curve("log(101/100)*2/alpha", kind="exact", adjacency="either", at_infinity="inf")
    assert check_odd_chi(falling, 9).holds is False


@pytest.mark.parametrize(
    "m", [ZCDP("1/2"), 2 * finite(0), PoissonSubsample(finite(0), "1/2")], ids=repr
)
def test_a_curve_of_no_single_pair_is_refused(m):
    with pytest.raises(SoundnessError):
        check_odd_chi(m, 9)


@pytest.mark.parametrize("up_to", [2, 0, -1, "7/2", 2.5, "x"])
def test_the_last_order_is_a_whole_number_from_3(up_to):
    with pytest.raises(DomainError, match="check_odd_chi"):
        check_odd_chi(Gaussian(5), up_to)


def test_a_report_is_text_and_json():
    report = check_odd_chi(DistributionPair(["9/10", "1/10"], ["3/5", "2/5"]), 5)
    assert "fails: chi^3 = -0.09375" in str(report)
    document = json.loads(json.dumps(report.as_dict()))
    assert (document["holds"], document["first_violation"]["l"]) == (False, 3)
    assert document["first_violation"]["chi"]["value"].startswith("-0.09375")
