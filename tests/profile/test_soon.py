"""What answers soon: what a grid leaves out, where ε is 0, and in how many ways runs fall out."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from unittest import mock

import hypothesis.strategies as st
import pytest
from flint import arb, ctx
from hypothesis import example, given
from mpmath import mp

from symacct import (
    Accountant,
    DiscreteGaussian,
    Either,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    laws,
    limits,
)
from symacct.kernel.answer import to_fraction
from symacct.mechanisms.pair import Overlap
from symacct.profile.answer import profile
from symacct.profile.contours import Contours, RootBracket, valued_root
from symacct.profile.grids import Grids, laws_of, step_for
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.finite import multinomial_laws
from symacct.profile.losses.pointwise_maximum import PointwiseMaximum
from tests.thinning import examples

SAMPLES = (PoissonSubsample, SubsampleWithoutReplacement)


@examples(1, 30)
@given(st.integers(1, 9), st.integers(60, 200), st.integers(30, 50), st.integers(16, 48))
@example(3, 67, 50, 32)
def test_no_more_is_left_out_than_was_said(weight, variance, need, steps):
    """However close to a node the ends of the panels lie."""
    spread, share = Fraction(variance, 100), Fraction(weight, 10)
    mixed = laws.NormalMixture([0, 1], [share, 1 - share], spread)
    pair = DensityPair(Overlap(mixed, laws.Normal(0, spread)))
    both = PointwiseMaximum(frozenset({DensityLoss(pair), DensityLoss(pair.exchanged)}))
    with ctx.workprec(140):
        (law,) = laws_of(both, 2, False, float(need), steps)
        assert law.laid(step_for([law], steps)).left_out < 4 * arb(-need).exp()


@pytest.mark.parametrize("runs", [10**6, 10**8, 2147483659, 10**20])
def test_an_epsilon_that_is_huge_takes_few_bits(runs):
    """ε is up to 10²⁴, and that of BW18 by mpmath."""
    with limits(bits=228):
        noise = runs * Gaussian("1/10", sensitivity=20)
        bound = Accountant(14).epsilon(noise, "0.03", conversion="exact").epsilon
    with mp.workdps(90):
        mu = 200 * mp.sqrt(runs)
        above, below = (
            mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
            for e in (bound.lower, bound.upper)
        )
        assert below <= mp.mpf("0.03") <= above


@st.composite
def little_samples(draw):
    """Some runs of one sample each, and the sum of their total variations."""
    noise = draw(st.sampled_from([Gaussian(2), Laplace(3), RandomizedResponse("3/4")]))
    rate, count = Fraction(1, draw(st.integers(2, 10**4))), draw(st.integers(2, 40))
    one = draw(st.sampled_from(SAMPLES))(noise, rate)
    return count * one, count * to_fraction(one.delta(0, conversion="exact").delta.upper)


@examples(6, 60)
@given(little_samples(), st.fractions(Fraction(1, 100), 2, max_denominator=100))
def test_where_epsilon_is_0_without_a_contour(asked, share):
    """What one run each tells of D(0) is true, and enough where they add up to less than δ."""
    node, most = asked
    runs, given_delta = profile(node).directions[0].runs, share * most
    with mock.patch.object(Contours, "root", side_effect=AssertionError):
        if share > 1:
            found = Accountant().epsilon(node, given_delta, conversion="exact", digits=4)
            assert found.epsilon.upper == 0
    if (is_above := runs.is_above_at_0(given_delta)) is not None:
        whole = node.delta(0, conversion="exact", digits=3).delta
        end = to_fraction(whole.upper if is_above else whole.lower)
        assert (end > given_delta) == is_above


@examples(8, 60)
@given(st.integers(1, 4), st.integers(1, 5))
def test_all_ways_that_runs_fall_out(outcomes, runs):
    """By every sequence of them."""
    primes = (2, 3, 5, 7)[:outcomes]  # so that a product tells the counts
    known = Counter(map(math.prod, itertools.product(primes, repeat=runs)))
    found = multinomial_laws([(arb(p), arb(1)) for p in primes], runs)
    whole = sorted((int(p.unique_fmpz()), int(q.unique_fmpz())) for p, q in found)
    assert whole == sorted((value * times, times) for value, times in known.items())


@pytest.mark.parametrize("blurred", [0.0, 2e-6, 3e-4])
def test_a_bracket_of_values_proves_the_root_and_ends(blurred):
    """D jumps at 3, about which values within `blurred` tell nothing: no more digits are had."""
    asked = []

    def roughly(y, bound, digits):
        asked.append(at := float(y()))
        value = 1 if at < 3 else 1e-30
        return arb(0.5, 0.5) if abs(at - 3) < blurred else arb(value, value / 8)

    runs = mock.Mock(**{"moments.renyi_epsilon": lambda log_delta: 7.0})
    bracket = RootBracket(roughly, Fraction(1, 10**9), 5)
    valued_root(runs, bracket)
    assert bracket.low <= 3 <= bracket.high
    assert (bracket.root is not None) == (blurred < 1e-4)
    assert len(asked) < 50
    count = len(asked)
    valued_root(runs, bracket)  # what is known is not looked for again
    assert len(asked) <= count + 1


def test_a_loss_that_ends_in_a_jump_takes_few_contours():
    """Eight Laplace losses end at 8/0.61, where D falls from 10^-8 to less than 10^-15."""
    node = 8 * Either(Gaussian(19), Laplace("0.61"), "4/10")
    with mock.patch.object(Contours, "_new", autospec=True, side_effect=Contours._new) as new:
        found = Accountant().epsilon(node, "2e-13", conversion="exact", digits=4)
    assert new.call_count < 20
    lower, upper = to_fraction(found.epsilon.lower), to_fraction(found.epsilon.upper)
    assert lower < 8 / Fraction("0.61") < upper
    assert found.epsilon.digits >= 4


def test_no_digits_are_added_for_a_place_that_was_far_from_the_root():
    """Moments bound ε by 2.25, floats put it at 3.19; values find .99, where few digits do."""
    node = 980 * PoissonSubsample(DiscreteGaussian(1), "0.00094")
    with (
        mock.patch.object(Grids, "root", side_effect=AssertionError),
        mock.patch.object(Contours, "_new", autospec=True, side_effect=Contours._new) as new,
    ):
        found = Accountant().epsilon(node, "2e-13", conversion="exact", digits=4)
    assert new.call_count <= 4
    assert found.epsilon.rounded() == "0.9940"


def test_all_ways_of_more_outcomes_than_python_recurses():
    """Two runs of 2000 outcomes that are equally likely."""
    found = multinomial_laws([(arb(1) / 2000, arb(1) / 2000)] * 2000, 2)
    assert len(found) == math.comb(2001, 2)
    assert sum((p for p, _ in found), arb(0)).contains(1)
