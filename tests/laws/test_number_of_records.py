"""What is stated for a number of records is below nothing that leaves another number of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    AdjacencyError,
    DistributionPair,
    DomainError,
    Gaussian,
    GroupPrivacy,
    RandomAllocation,
    SubsampleWithoutReplacement,
    dp_sgd,
    from_json,
    parse,
    sample_with_replacement,
    sampled_descent,
    truncated_poisson,
)
from symacct.export.description import premises
from symacct.kernel.claims import Relation
from tests.support import (
    OPERATIONS,
    PLAIN_OPERATIONS,
    SAMPLERS,
    TWO_STEPS,
    overlap,
    rates,
    sampling,
)
from tests.thinning import examples

NOISE = Gaussian(4)
#: Everything that is told how many records there are, with what is known of so many.
COUNTING = {
    "cut batches": truncated_poisson(NOISE, "1/10", 100, 12),
    "cut batches of all": truncated_poisson(NOISE, 1, 100, 12),
    "draws": sample_with_replacement(NOISE, 100, 3),
    "draws, a record replaced": sample_with_replacement(NOISE, 100, 3, "replace_one"),
    "a pair": DistributionPair(["1/2", "1/2"], ["1/3", "2/3"], records=7),
    "a fixed size, a record more": SubsampleWithoutReplacement(NOISE, "1/10", "add_remove"),
    "descent": sampled_descent(SubsampleWithoutReplacement(NOISE, "1/10", "add_remove"), 10**4, 1),
    "training": dp_sgd(
        n=100,
        batch_size=10,
        noise_multiplier=2,
        steps=9,
        sampling="without_replacement",
        adjacency="add_remove",
    ),
}
#: What leaves another number of records to the mechanism below.
LEAVING = {
    **{kind: lambda m, gamma, kind=kind: sampling(kind, m, gamma) for kind in SAMPLERS},
    "RandomAllocation": lambda m, gamma: RandomAllocation(m, 2 + int(9 * gamma)),
}


@pytest.mark.parametrize("leaving", LEAVING)
@pytest.mark.parametrize("name", COUNTING)
@given(gamma=rates, data=st.data())
@examples(1, 10)
def test_no_sampling_is_above_what_is_stated_for_a_number_of_records(name, leaving, gamma, data):
    """However deep it lies: below any operation that keeps the records there are, and as text."""
    counting = COUNTING[name]
    over = data.draw(st.sampled_from(sorted(set(PLAIN_OPERATIONS) - {"RandomAllocation"})))
    for below in (counting, data.draw(OPERATIONS[over](st.just(counting)))):
        with pytest.raises(DomainError, match="stated for a given number of records") as found:
            LEAVING[leaving](below, gamma)
        assert "needed a mechanism for any number" in str(found.value)
        for again in (parse(repr(below)), from_json(below.to_json())):
            assert again is below


@pytest.mark.parametrize("name", COUNTING)
def test_where_all_of_the_records_are_taken_their_number_stays(name):
    counting, answered = COUNTING[name], 0
    for kind in SAMPLERS:
        try:
            node = sampling(kind, counting, 1)
        except AdjacencyError:
            continue
        answered += 1
        all_of_it, alone = (m.rdp(3, digits=6) for m in (node, counting))
        assert overlap(all_of_it, alone) or (kind in TWO_STEPS and all_of_it.upper > alone.lower)
    assert answered


@pytest.mark.parametrize("name", COUNTING)
def test_a_group_says_of_which_of_its_steps_a_number_of_records_is(name):
    """Cut batches of more records may cost more or less, so that no step bounds the others."""
    counting = COUNTING[name]
    if name.startswith("cut batches"):
        with pytest.raises(DomainError, match="holds for 100 records alone") as found:
            GroupPrivacy(counting + NOISE, 2)
        assert "needed a mechanism for any number" in str(found.value)
        return
    group = GroupPrivacy(counting, 3)
    low, high = counting.sizes
    keeps_number = counting.adjacency.relation is Relation.REPLACE_ONE
    assert group.sizes == (low, high if keeps_number else high + 2)
    assert keeps_number is not any("the last step" in text for text in premises(group))


@pytest.mark.parametrize("relation", ["replace_one", "zero_out"])
def test_cut_batches_have_groups_where_the_number_of_records_is_the_same(relation):
    cut = truncated_poisson(NOISE, "1/10", 100, 12, relation)
    group = GroupPrivacy(cut, 2)
    assert group.sizes == cut.sizes
    assert not any("the last step" in text for text in premises(group))
    assert group.rdp(2, digits=6).lower > cut.rdp(2, digits=6).upper


@pytest.mark.parametrize("node", [*COUNTING.values()], ids=list(COUNTING))
def test_the_number_changes_no_curve_of_its_own(node):
    """It is what was done, not what is known of it."""
    plain = parse(repr(node).replace(", records=100", "").replace(", records=7", ""))
    for alpha in (2, "5/2"):
        assert node.rdp(alpha, digits=12).upper == plain.rdp(alpha, digits=12).upper
    assert node.claim.kind is plain.claim.kind
