"""Sums of independent ratios lie between two laws on a geometric grid: against fractions."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct.analysis import ratio_sums
from symacct.analysis.ratio_sums import Sums
from symacct.kernel.errors import PrecisionError
from tests.thinning import examples

#: A float64 above a number that is one, whatever rounding made of it.
UP = 1 + 1e-14


def laws(outcomes, step):
    """Both laws of a ratio of these (q, w), the nodes being e^{k·step}, shared in float64."""
    nodes, groups = [], []
    for q, w in outcomes:
        k = math.floor(math.log(w) / step)
        low, high = math.exp(step * k), math.exp(step * (k + 1))
        up = min(max((w - low) / (high - low), 0.0), 1.0)
        nodes += [(k, q * (1 - up) * UP + 1e-14 * q), (k + 1, q * up * UP + 1e-14 * q)]
        groups.append((q, q * w, math.log(w)))
    return ratio_sums.single(0.0, step, nodes, (0.0, 0.0, 0.0), groups)


def sums(outcomes, count, step, rare=1e-30):
    return Sums(0.0, laws(outcomes, step), lambda n: step / 2 ** (n.bit_length() // 2), rare).of(
        count
    )


def truth(outcomes, count, y):
    """E(S/t − e^y)₊ and E(1 − e^y S/t)₊ by all outcomes of all ratios."""
    call = put = 0.0
    for every in itertools.product(outcomes, repeat=count):
        mass = math.prod(q for q, _ in every)
        mean = sum(w for _, w in every) / count
        call += mass * max(mean - math.exp(y), 0.0)
        put += mass * max(1 - math.exp(y) * mean, 0.0)
    return call, put


@st.composite
def ratios(draw):
    """Two to four values of W with E W = 1, as (q, w)."""
    masses = draw(st.lists(st.integers(1, 9), min_size=2, max_size=4))
    weights = draw(st.lists(st.integers(1, 40), min_size=len(masses), max_size=len(masses)))
    q, p = ([Fraction(x, sum(each)) for x in each] for each in (masses, weights))
    return [(float(b), float(a / b)) for a, b in zip(p, q, strict=True)]


@examples(25, 400)
@given(ratios(), st.integers(1, 6), st.integers(2, 6), st.floats(-1.0, 2.0))
def test_sums_of_finite_ratios_are_enclosed(outcomes, count, fine, y):
    law = sums(outcomes, count, 2.0**-fine)
    for (low, high), true in zip((law.call(y), law.put(y)), truth(outcomes, count, y), strict=True):
        assert low <= true * (1 + 1e-12)
        assert true <= high * (1 + 1e-12) + 1e-15


def test_a_finer_grid_is_nearer_by_the_square_of_its_step():
    outcomes = [(0.5, 0.3), (0.3, 1.3), (0.2, 2.3)]
    gaps = []
    for fine in (3, 5, 7):
        low, high = sums(outcomes, 9, 2.0**-fine).call(0.2)
        gaps.append(high - low)
    assert gaps[0] > 8 * gaps[1] > 64 * gaps[2] > 0


def test_cuts_at_both_ends_are_counted():
    outcomes = [(0.899, 0.5), (0.1, 4.0), (0.001, 150.5)]
    sharp, cut = (sums(outcomes, 8, 2.0**-6, rare) for rare in (1e-30, 1e-3))
    assert len(cut.above.masses) < len(sharp.above.masses)
    assert cut.above.beyond > 0
    assert cut.above.zero > 0
    for y in (-0.3, 0.0, 0.5, 2.0):
        for ends, near in ((cut.call(y), sharp.call(y)), (cut.put(y), sharp.put(y))):
            assert ends[0] <= near[0] * (1 + 1e-12)
            assert near[1] <= ends[1] * (1 + 1e-12)


def test_the_mean_and_the_mass_are_kept():
    law = sums([(0.5, 0.3), (0.3, 1.3), (0.2, 2.3)], 13, 2.0**-5)
    assert sum(law.above.masses) == pytest.approx(1, abs=1e-10)
    assert sum(law.below.masses) == pytest.approx(1, abs=1e-10)
    assert sum(law.below.moments) == pytest.approx(13, rel=1e-10)
    assert law.above.masses @ np.exp(law.losses) == pytest.approx(1, rel=1e-10)


def test_shares_keep_the_mean_and_are_not_too_small():
    for step, finer in ((2.0**-3, 1), (2.0**-8, 2), (2.0**-12, 4)):
        shares = ratio_sums._shares(step, finer, 2000)
        fine = step / finer
        d = np.arange(2000)
        place = np.exp(fine * shares.node) * (shares.down + shares.up * np.exp(fine))
        assert np.all(shares.down + shares.up >= 1)
        assert place == pytest.approx(1 + np.exp(-step * d), rel=1e-9)


def test_roundings_are_counted():
    """A number to the nearest float, and in an inner sum one rounding for each product."""
    between = 1 + Fraction(1, 2**53)
    assert abs(Fraction(float(between)) - between) <= Fraction(ratio_sums._UNIT) * between
    step = 2.0**-5
    for law, add in zip(
        laws([(0.5, 0.3), (0.3, 1.3), (0.2, 2.3)], step),
        (ratio_sums._sum_above, ratio_sums._sum_below),
        strict=True,
    ):
        assert add(law, law, step, 1).units > 2 * law.units + ratio_sums._LONGEST


def test_a_place_that_floats_do_not_tell_is_shared_by_balls():
    node, up, down = ratio_sums._share_in_balls(2.0**-4, 2.0**-5, 7)
    shares = ratio_sums._shares(2.0**-4, 2, 8)
    assert (node, up, down) == pytest.approx((shares.node[7], shares.up[7], shares.down[7]))


def test_too_many_nodes_are_refused():
    with pytest.raises(PrecisionError, match="nodes of a sum of ratios"):
        sums([(0.5, 1e-9), (0.5, 2.0)], 2, 2.0**-14)


def test_masses_whose_products_no_float_tells_are_counted():
    tiny = [(0, 1.0), (4000, 1e-200)]
    law = Sums(
        0.0,
        ratio_sums.single(0.0, 2.0**-6, tiny, (0.0, 0.0, 0.0), [(1.0, 1.0, 0.0)]),
        lambda n: 2.0**-6,
        1e-300,
    ).of(2)
    moved = 1e-200 * math.exp(4000 * 2.0**-6)
    assert law.above.zero >= 1e-100
    assert 2 * moved <= law.above.beyond <= 3 * moved
    assert law.above.masses[law.above.masses > 0].min() >= 1e-100


def test_beyond_all_places_only_what_was_moved_counts():
    law = sums([(0.5, 0.3), (0.5, 1.7)], 2, 2.0**-6)
    assert law.call(100.0)[1] <= law.above.beyond


def test_what_is_left_out_counts_for_its_roundings():
    law = sums([(0.5, 0.3), (0.5, 1.7)], 2, 2.0**-6)
    rough = replace(law, above=replace(law.above, beyond=1.0, zero=1.0, short=0.0, units=2**40))
    assert rough.left_out(True, 0.0) >= 0.5 * (1 + 2.0**-12)
    assert rough.left_out(False, 1.0) >= 2.0**-12
