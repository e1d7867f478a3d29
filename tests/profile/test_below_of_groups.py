"""A lower bound is about the neighbours that the node is about, whatever it reads of groups."""

import pytest

from symacct import (
    Gaussian,
    GroupPrivacy,
    Kind,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    SubsampleWithoutReplacement,
    risk,
)

SAMPLED = PoissonSubsample(Gaussian(2), "1/10")
REPLACED = PoissonSubsample(Gaussian(2), "1/10", "replace_one")
PAIR = GroupPrivacy(SAMPLED, 2)


def all_of(mechanism):
    """A record replaced in a sample of everything."""
    return PoissonSubsample(mechanism, 1, "replace_one")


@pytest.mark.parametrize(
    ("m", "same"),
    [
        (all_of(SAMPLED), REPLACED),
        (all_of(3 * SAMPLED), 3 * REPLACED),
        (2 * all_of(SAMPLED + Gaussian(3)), 2 * REPLACED + 2 * all_of(Gaussian(3))),
        (all_of(Gaussian(2)), Gaussian(2, 2)),
        (all_of(Laplace(2)), Laplace(2, 2)),
    ],
    ids=repr,
)
def test_a_record_replaced_is_one_removed_and_one_added(m, same):
    """Of a group of two both may be removed, which costs more on Poisson samples."""
    found, truth = (one.epsilon("1e-5", 8, "exact") for one in (m, same))
    assert found.kind is truth.kind is Kind.EXACT
    assert found.epsilon.upper == truth.epsilon.upper
    assert truth.epsilon.lower * 0.9999 < m.lower_epsilon("1e-5", 8).lower <= truth.epsilon.upper


@pytest.mark.parametrize(
    "m",
    [
        PoissonSubsample(PAIR, 1),
        RandomAllocation(PAIR, 1),
        2 * PoissonSubsample(PAIR, 1),
        PoissonSubsample(PAIR, "1/2"),
    ],
    ids=repr,
)
def test_an_operation_about_one_record_reads_a_group_as_a_bound(m):
    """It is about one record, of which the mechanism tells no more than SAMPLED does."""
    runs = 2 if m == 2 * PoissonSubsample(PAIR, 1) else 1
    assert m.claim.adjacency.group == 1
    truth = (runs * SAMPLED).epsilon("1e-5", 8, "exact").epsilon
    assert m.lower_epsilon("1e-5", 8).lower <= truth.upper


@pytest.mark.parametrize("m", [NoisyMax(1), PermuteAndFlip(1), PureDP(1), GroupPrivacy(SAMPLED, 7)])
def test_what_only_dominates_is_no_lower_bound(m):
    """The pair of two steps may be one that no record has."""
    found = all_of(m).epsilon("1e-5", 6, "exact")
    assert found.kind is Kind.UPPER
    assert all_of(m).lower_epsilon("1e-5", 6).lower < found.epsilon.lower / 2


def test_beside_triangles_it_is_about_one_record_too():
    """Of a record replaced one is removed and one added, never two removed: .812 for .461."""
    noise = 20 * SubsampleWithoutReplacement(Gaussian(50), "1/1000")
    truth = (noise + REPLACED).epsilon("1e-5", 6, "exact").epsilon
    assert (noise + PAIR).lower_epsilon("1e-5", 6).lower <= truth.upper


def test_a_regret_is_compared_with_what_is_below_even_if_it_is_gaussian():
    """Of PostProcess(Gaussian(1)) nothing need be told: μ = √2 may grant more than N(1) has."""
    found = risk(Gaussian(1) + PostProcess(Gaussian(1))).regret
    assert found.upper == pytest.approx(0.0687875, rel=1e-5)  # on a grid of slopes, in floats
