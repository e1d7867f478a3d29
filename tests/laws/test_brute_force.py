"""Curves, lower bounds and profiles against all laws of small mechanisms; brute_force.py."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from symacct import (
    DistributionPair,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    SubsampleWithoutReplacement,
)
from symacct.kernel.claims import Kind
from tests.laws.brute_force import (
    FLOATS,
    INFINITY,
    NUMBERS,
    Above,
    Below,
    Undecided,
    drawn,
    findings,
    profile_verdicts,
    renyi,
    verdict,
)
from tests.thinning import examples


def with_record(P, Q):  # noqa: N803
    return DistributionPair(P, Q, "add_remove", with_record="P")


BIASED, FAIR = ["9/10", "1/10"], ["1/2", "1/2"]

#: Each was called exact, or a lower bound, and was above what any mechanism attains.
ONCE_WRONG = {
    "both directions in a sum": with_record(BIASED, FAIR) + with_record(FAIR, BIASED),
    "allocation beside a sample": RandomAllocation(Laplace(1), 2)
    + PoissonSubsample(Laplace(1), "1/3"),
    "known record below two runs": PoissonSubsample(2 * with_record(BIASED, FAIR), "1/3"),
    "a record replaced by one of the same law": PoissonSubsample(
        with_record(["2/3", "1/3"], ["1/3", "2/3"]), "1/2", "replace_one"
    ),
    "sample of the addition": PoissonSubsample(RandomAllocation(Laplace(1), 2), "1/10"),
}


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_was_once_above_all_mechanisms(name):
    assert findings(ONCE_WRONG[name], at=(2, 5, INFINITY))[1] == []
    assert findings(ONCE_WRONG[name], profile_verdicts, at=(Fraction(1, 9),))[1] == []


@examples(1, 40)
@given(
    st.sampled_from(["12/5", "1", "5"]), st.sampled_from(["1/5", "1/3"]), st.sampled_from(["2/3"])
)
@example("12/5", "1/5", "1/2")
def test_a_sample_whose_worst_laws_are_others_at_each_order(epsilon, inner, outer):
    """Beside next to nothing, so that the two samples are not seen to be one."""
    sampled = SubsampleWithoutReplacement(PureDP(epsilon), inner) + PureDP("1e-12")
    node = SubsampleWithoutReplacement(sampled, outer)
    assert findings(node, at=(5,), most=40_000)[1] == [], node


@examples(12, 400)
@given(st.integers(0, 10**9))
def test_claims_against_all_mechanisms_of_a_description(seed):
    node = drawn(seed)
    assert findings(node, at=(2, 5, INFINITY))[1] == [], node


@examples(4, 150)
@given(st.integers(0, 10**9))
def test_exact_profiles_against_all_adaptive_choices(seed):
    node = drawn(seed, depth=2)
    assert findings(node, profile_verdicts, at=(Fraction(2, 5),))[1] == [], node


def test_profiles_are_compared():
    every = (findings(drawn(seed, depth=1), profile_verdicts, at=(0,))[0] for seed in range(9))
    counts = sum(every, Counter())
    assert counts["profile", "right"] > 3
    assert counts["lower", "right"] > 3


# --- the engine itself, against closed forms


@pytest.mark.parametrize("engine", [Below, Above])
def test_the_engine_finds_closed_forms(engine):
    """Randomized response, its composition, a Poisson sample: each has a sum of two terms."""
    p, gamma = Fraction(3, 4), Fraction(1, 2)
    one = p**3 / (1 - p) ** 2 + (1 - p) ** 3 / p**2
    mixed = [(1 - gamma) * q + gamma * x for x, q in ((p, 1 - p), (1 - p, p))]
    two = [m**3 / q**2 for m, q in zip(mixed, (1 - p, p), strict=True)]
    node = RandomizedResponse(p)
    for m, moment in ((node, one), (2 * node, one**2), (PoissonSubsample(node, gamma), sum(two))):
        found, number = renyi(m, 3, engine, NUMBERS), NUMBERS.number(moment)
        assert abs(found - NUMBERS.log(number) / 2) < 1e-40


def test_laplace_noise_is_between_its_merged_and_its_parted_losses():
    m = Laplace(1)
    s = NUMBERS.number(1)
    truth = NUMBERS.log(2 * NUMBERS.exp(s) / 3 + NUMBERS.exp(-2 * s) / 3)
    assert renyi(m, 2, Below, NUMBERS) < truth < renyi(m, 2, Above, NUMBERS)


def test_three_laws_of_a_replaced_record():
    """The laws that are attained, on a sample of fixed size: A = P, C = Q against A′ = C = Q."""
    m = SubsampleWithoutReplacement(PureDP(1), "1/2")
    assert abs(renyi(m, 2, Above, FLOATS) - 0.24022901391655502) < 1e-12


@pytest.mark.parametrize(
    ("kind", "value", "word"),
    [
        (Kind.UPPER, 0.9, "upper below what is attained"),
        (Kind.EXACT, 0.9, "exact below what is attained"),
        (Kind.EXACT, 2.1, "exact above what any mechanism attains"),
        (Kind.LOWER, 2.1, "lower above what any mechanism attains"),
        (Kind.EXACT, 1.5, "undecided"),
        (Kind.UPPER, 2.1, "right"),
        (Kind.LOWER, 0.9, "right"),
        (Kind.EXACT, 1.0, "right"),
    ],
)
def test_a_verdict_says_which_side_is_wrong(kind, value, word):
    assert verdict(kind, value, value, 1.0, 2.0, 1e-9) == word


def test_what_is_unknown_is_not_decided():
    with pytest.raises(Undecided):
        renyi(9 * DistributionPair(BIASED, FAIR), 2, Below, FLOATS)
