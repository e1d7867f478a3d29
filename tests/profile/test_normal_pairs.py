"""Normal mixtures whose loss rises: the profile by their means, against independent sums."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import DistributionPair, Gaussian, PoissonSubsample, sample_with_replacement
from symacct.kernel.node import Node
from symacct.laws import Normal, NormalMixture
from symacct.mechanisms.pair import Overlap
from symacct.profile.losses.density import DensityLoss, DensityPair
from symacct.profile.losses.pointwise_maximum import PointwiseMaximum, largest_of
from symacct.profile.solve import CompositionProfile
from tests.thinning import examples


def pair(upper: dict[str, str], lower: dict[str, str], variance: str) -> Node:
    laws = [NormalMixture(list(law), list(law.values()), variance) for law in (upper, lower)]
    return DistributionPair(*laws, "add_remove", with_record="P")


def delta_of(node: Node, epsilon: str) -> float:
    return float(node.delta(epsilon, conversion="exact", digits=8))


def by_cells(upper: dict[str, str], lower: dict[str, str], variance: str, epsilon: str) -> float:
    """The larger hockey stick of one run by the masses of narrow cells, in float64."""
    size, y = math.sqrt(Fraction(variance)), float(Fraction(epsilon))
    laws = [
        [(float(Fraction(w)), NormalDist(float(Fraction(m)), size)) for m, w in law.items()]
        for law in (upper, lower)
    ]
    places = [i / 100 * size for i in range(-1200, 1201)]
    below = [[sum(w * one.cdf(x) for w, one in law) for x in places] for law in laws]
    masses = [[right - left for left, right in pairwise(law)] for law in below]
    return max(
        sum(max(0.0, p - math.exp(y) * q) for p, q in zip(one, other, strict=True))
        for one, other in (masses, masses[::-1])
    )


@pytest.mark.parametrize(
    ("upper", "lower", "variance"),
    [
        ({"1": "9/10", "2": "1/10"}, {"0": "1/2", "-1/3": "1/2"}, "2"),
        ({"0": "1/4", "1": "1/4", "5/2": "1/2"}, {"0": "1"}, "1"),
        ({"0": "1/3", "-2": "2/3"}, {"0": "1"}, "3"),
        ({"-1": "1/2", "-3/2": "1/2"}, {"1/2": "1/3", "0": "2/3"}, "3/2"),
    ],
)
def test_one_run_is_what_cells_of_float64_sum(
    upper: dict[str, str], lower: dict[str, str], variance: str
) -> None:
    node = pair(upper, lower, variance)
    told = by_cells(upper, lower, variance, "1/2")
    assert delta_of(node, "1/2") == pytest.approx(told, rel=1e-3)


@examples(4, 40)
@given(
    st.integers(1, 40), st.integers(1, 99), st.integers(1, 30), st.sampled_from((1, -1)), st.data()
)
def test_noise_moved_or_not_is_a_poisson_sample(
    runs: int, rate: int, sigma: int, sign: int, data: st.DataObject
) -> None:
    """However the pair is written: mirrored, moved, in other units."""
    moved = data.draw(st.integers(-3, 3))
    law = {f"{moved}": f"{100 - rate}/100", f"{moved + sign}": f"{rate}/100"}
    written = runs * pair(law, {f"{moved}": "1"}, f"{sigma**2}/9")
    sample = runs * PoissonSubsample(Gaussian(f"{sigma}/3"), f"{rate}/100")
    asked = {"conversion": "exact", "digits": 6}
    assert str(written.epsilon("1e-6", **asked).epsilon) == str(
        sample.epsilon("1e-6", **asked).epsilon
    )


def test_several_runs_are_the_moments_of_the_two_laws() -> None:
    """The trapezoidal rule over outcomes and over complex orders, in complex128."""
    weights, runs, y = (0.81, 0.18, 0.01), 6, 0.3
    x = np.linspace(-30, 45, 751)
    ratio = sum(w * np.exp((m * x - m * m / 2) / 4) for m, w in enumerate(weights))
    base = np.exp(-(x**2) / 8) / math.sqrt(8 * math.pi) * (x[1] - x[0])
    s = 4 + 1j * np.linspace(0, 120, 2401)
    moments = np.exp(np.outer(1 + s, np.log(ratio))) @ base
    terms = (moments**runs * np.exp(-s * y) / (s * (s + 1))).real
    told = np.trapezoid(terms, s.imag) / math.pi
    node = runs * pair({"0": "81/100", "1": "18/100", "2": "1/100"}, {"0": "1"}, "4")
    assert delta_of(node, "3/10") == pytest.approx(float(told), rel=1e-4)


def test_a_thousand_samples_with_replacement_are_exact_soon() -> None:
    node = 1000 * sample_with_replacement(Gaussian(4), 1000, 5)
    found = node.epsilon("1e-6", conversion="exact", digits=4)
    assert str(found.kind) == "exact"
    assert node.lower_epsilon("1e-6", digits=4).lower <= found.epsilon.upper
    by_orders = node.epsilon("1e-6", conversion="improved", digits=4)
    assert found.epsilon.upper < by_orders.epsilon.upper


@examples(3, 60)
@given(
    st.integers(1, 99), st.integers(1, 60), st.integers(-3, 3), st.sampled_from((1, -1)), st.data()
)
def test_either_way_round_the_larger_profile_is_known_by_moments(
    rate: int, variance: int, moved: int, sign: int, data: st.DataObject
) -> None:
    """However the pair is written; by normal tails of each way round."""
    spread, share = Fraction(variance, 10), Fraction(rate, 100)
    mixed = NormalMixture([moved, moved + 2 * sign], [1 - share, share], spread)
    laws = [mixed, Normal(moved, spread)][:: data.draw(st.sampled_from((1, -1)))]
    one = DensityLoss(DensityPair(Overlap(*laws)))
    every = frozenset({one, one.exchanged})
    known = largest_of(every)
    assert known.has_moments
    assert known.alternatives == PointwiseMaximum(every).alternatives
    assert known.sampled(Fraction(1, 3)) == PointwiseMaximum(every).sampled(Fraction(1, 3))
    y = arb(data.draw(st.integers(-40, 40))) / 16
    both = [part.hockey_stick(y, False) for part in every]
    value = known.hockey_stick(y, False)
    assert value.overlaps(both[0].max(both[1]))
    assert value.rad() < 1e-12


@pytest.mark.parametrize(
    ("upper", "lower"),
    [
        ({"0": "1/2", "1": "1/4", "2": "1/4"}, {"0": "1"}),
        ({"0": "1/2", "1": "1/2"}, {"0": "1/3", "-1": "2/3"}),
        ({"1/2": "1/2", "1": "1/2"}, {"0": "1"}),
    ],
)
def test_either_way_round_other_mixtures_are_their_maximum(
    upper: dict[str, str], lower: dict[str, str]
) -> None:
    one = DensityLoss(
        DensityPair(Overlap(*(NormalMixture(list(x), list(x.values()), 1) for x in (upper, lower))))
    )
    every = frozenset({one, one.exchanged})
    assert largest_of(every) == PointwiseMaximum(every)


def test_either_way_round_several_runs_are_those_of_a_grid() -> None:
    """Of the densities' maximum, which is laid on a grid."""
    one = DensityLoss(DensityPair(Overlap(NormalMixture([0, 1], ["4/5", "1/5"], 2), Normal(0, 2))))
    largest = PointwiseMaximum(frozenset({one, one.exchanged}))
    delta = Fraction(1, 1000)
    by_grid = CompositionProfile(((largest, 13),), False).epsilon(delta, 4)
    known = largest_of(largest.parts)
    assert by_grid.overlaps(CompositionProfile(((known, 13),), False).epsilon(delta, 4))
