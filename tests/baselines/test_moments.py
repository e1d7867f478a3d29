"""The blog's C(c₁, c₂): both ends of the enclosure and each bound on the way, by quadrature."""

import functools
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from symacct import DomainError, Kind, baselines
from symacct.baselines import moments
from symacct.baselines.moments import Region, _above, between
from symacct.kernel.arithmetic.ball import precision
from tests import independent
from tests.thinning import covering, some

F = Fraction
MP = independent.context(20)
constant = functools.cache(baselines.moment_constant)


def number(x):
    return independent.number(MP, x)


def log_moment(order, rate, sigma):
    """log E_{z~N(0,σ²)}[(1−r+re^{(2z−1)/(2σ²)})^λ] by its definition."""
    a, r, s = number(order), number(rate), number(sigma)
    points = sorted({-12 * s, -3 * s, MP.mpf(0), a / 2, a, a + 3 * s, a + 12 * s})
    return MP.log(
        MP.quad(
            lambda z: MP.npdf(z, 0, s) * (1 - r + r * MP.exp((2 * z - 1) / (2 * s * s))) ** a,
            points,
        )
    )


def ends(enclosure):
    return MP.make_mpf(enclosure.lower._mpf_), MP.make_mpf(enclosure.upper._mpf_)


CASES = [(F(1), F(1)), (F(1), F(2)), (F(1, 2), F(2)), (F(1), F(3)), (F(5), F(1))]


@pytest.mark.parametrize(("c1", "c2"), some(CASES[:3], CASES))
def test_the_lower_end_is_met_and_nothing_in_sight_is_above_the_upper_end(c1, c2):
    found = constant(c1, c2, digits=4)
    low, high = ends(found.log_value)
    assert found.log_value.claim.kind is Kind.EXACT
    assert found.log_value.certified
    assert high - low <= abs(low) * MP.mpf(10) ** -4
    assert found.order == c2 * found.sigma**2
    met = log_moment(found.order, c1 / found.sigma, found.sigma)
    assert abs(met - low) < MP.mpf(10) ** -10 * low
    # A fine grid about the place and a coarse one far out, by the definition.
    shares = [1 + F(i, 1000) for i in (-3, 1, 3)] + [F(1, 2), F(3, 2), F(3)]
    for share in shares:
        sigma = found.sigma * share
        if sigma > c1 and c2 * sigma**2 > 1:
            assert log_moment(c2 * sigma**2, c1 / sigma, sigma) <= high


def test_whole_orders_by_the_plain_sum_never_exceed_it():
    c1, c2 = F(1), F(3)
    high = ends(constant(c1, c2, digits=4).log_value)[1]
    sums = []
    for n in range(3, 120):
        r, s = c1 * MP.sqrt(number(c2) / n), number(c2) / n
        terms = [
            MP.binomial(n, j) * r**j * (1 - r) ** (n - j) * MP.exp(j * (j - 1) * s / 2)
            for j in range(n + 1)
        ]
        sums.append(MP.log(MP.fsum(terms)))
    assert max(sums) <= high
    assert max(sums) > high * MP.mpf("0.9999")  # whole orders come near


rates = st.fractions(F(1, 10), 1, max_denominator=10)


@settings(max_examples=12)
@given(st.sampled_from(CASES), st.fractions(1, 8, max_denominator=8), rates, rates)
def test_no_rate_order_and_noise_of_the_region_exceeds_it(constants, times, less_rate, less_order):
    c1, c2 = constants
    sigma = Region(c1, c2).first() * times
    order = 1 + (max(c2 * sigma**2, F(1)) - 1) * less_order
    rate = min(c1 / sigma, F(1)) * less_rate
    high = ends(constant(c1, c2, digits=4).log_value)[1]
    assert log_moment(order, rate, sigma) <= high


@settings(max_examples=25)
@given(
    st.sampled_from(CASES),
    st.fractions(1, 6, max_denominator=10),
    st.fractions(F(1, 20), 1, max_denominator=20),
    st.fractions(0, 1, max_denominator=7),
)
def test_the_bound_over_a_block_holds_inside_it(constants, start, width, share):
    region = Region(*constants)
    left = region.first() * start
    right = left * (1 + width)
    inside = left + (right - left) * share
    with precision(100):
        bound = region.over_block(left, right, region.log_moment(left) - 1)
        assert region.log_moment(inside).lower() <= bound.upper()


def test_the_bound_over_a_block_misses_by_the_square_of_its_width():
    region, gaps = Region(F(1), F(2)), []
    for width in (F(1, 8), F(1, 16), F(1, 32), F(1, 64)):
        left, right = 3 - width, 3 + width
        with precision(100):
            bound = region.over_block(left, right, region.log_moment(left) - 1)
            most = max(region.log_moment(left + (right - left) * F(i, 8)).mid() for i in range(9))
            gaps.append(float(bound - most))
    assert all(gap > 0 for gap in gaps)
    assert all(second < first / 3 for first, second in pairwise(gaps))


@covering()
@pytest.mark.parametrize(("c1", "c2"), CASES)
@pytest.mark.parametrize("sigma", [F(20), F(60), F(400)])
def test_the_tail_bound_is_above_all_that_follows_and_tends_to_the_limit(c1, c2, sigma):
    region = Region(c1, c2)
    with precision(100):
        bound = region.log_tail(sigma)
        assert bound > 0
        for times in (1, F(5, 4), 2, 8, 100):
            assert region.log_moment(sigma * times) <= bound
        far = region.log_tail(F(10**6))
    limit = (c1 * c2) ** 2 / 2
    assert float(limit) < float(far.mid()) < float(limit) * (1 + 1e-3)


def test_the_parts_of_the_tail_are_above_the_integrals_they_stand_for():
    """Z <= B, Z > B with tZ <= Y, and tZ > Y, each integrated by mpmath."""
    c1, c2, sigma, end = F(1), F(2), F(12), F(1)
    region, reach = Region(c1, c2), MP.mpf(7)
    order, rate, t = c2 * sigma**2, number(c1 / sigma), 1 / number(sigma)

    def part(low, high):
        return MP.quad(
            lambda z: MP.npdf(z) * (1 + rate * (MP.exp(t * z - t * t / 2) - 1)) ** int(order),
            mpmath_points(low, high),
        )

    with precision(120):
        slope = arb(2) * arb(1).expm1()
        centre = region.centre(sigma, arb(7))
        middle = _above(slope, arb(7))
        far = region.tail_integral(sigma, end)
    last = MP.mpf(int(end * sigma))
    truths = part(-15, reach), part(reach, last), part(last, 60)
    for bound, truth in zip((centre, middle, far), truths, strict=True):
        assert MP.mpf(bound.lower().str(25, radius=False)) >= truth
        assert truth > 0


def test_the_tail_bound_has_all_three_parts(monkeypatch):
    region, sigma, end, beyond = Region(F(1, 4), F(4)), F(5), F(1), 4
    steering = replace(moments.STEERING, ends=(end,), beyond=(beyond,))
    monkeypatch.setattr(moments, "STEERING", steering)
    with precision(100):
        slope = arb(1).expm1()
        far = region.tail_integral(sigma, end)
        known = region.centre(sigma, slope + beyond) + _above(slope, slope + beyond) + far
        assert known.overlaps(region.log_tail(sigma).exp())
        assert known > far > 10


def mpmath_points(low, high):
    return [MP.mpf(low) + (MP.mpf(high) - low) * i / 6 for i in range(7)]


def test_the_limit_of_the_blog_is_a_slip():
    """G → e^{c₁²c₂²/2} and not 0."""
    limit = constant(F(1), F(1), digits=4).log_limit
    assert limit == F(1, 2)
    gaps = [log_moment(s**2, F(1, s), F(s)) - number(limit) for s in (10, 40, 160)]
    assert all(0 < second < first / 3 for first, second in pairwise(gaps))


@pytest.mark.parametrize(
    ("c1", "c2"), [(0, 1), (1, 0), (-1, 1), ("inf", 1), (1, "1/0"), ("x", 1), (1, 100), (1000, 1)]
)
def test_constants_that_are_none_are_refused(c1, c2):
    with pytest.raises(DomainError):
        baselines.moment_constant(c1, c2)


@given(st.fractions(F(1, 100), 100), st.fractions(F(1, 10**6), 1, max_denominator=10**6))
def test_the_middle_of_a_block_is_inside_it_and_short(left, width):
    middle = between(left, left * (1 + width))
    assert left < middle < left * (1 + width)


def test_digits_out_of_reach_are_given_up_soon(monkeypatch):
    """At c₁ = 1e-3 log C is that of the limit to one part in 10⁶, over all noise from 10³ on."""
    asked = []

    def counted(*at):
        asked.append(at)
        return known(*at)

    known = moments.log_moment
    monkeypatch.setattr(moments, "log_moment", counted)
    found = baselines.moment_constant("1e-3", 1).log_value
    assert len(asked) < 6000  # of 35,000
    low, high = ends(found)
    assert low < MP.mpf("5.000005e-7") < high < MP.mpf("5.1e-7")
    assert found.digits < 8
