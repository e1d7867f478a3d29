"""What is thinned out shows all that the whole shows."""

from itertools import chain, product

import pytest

from tests.support import BASES, LEAVES, SAMPLERS, SORTS, each_sort
from tests.thinning import thinned


def of_all(shown, cases):
    return set().union(*map(shown, cases))


@pytest.mark.parametrize("seed", range(5))
def test_a_part_shows_every_value_and_no_case_of_it_shows_nothing_new(seed):
    cases, shown = list(product(range(5), range(7), "ab")), lambda case: set(enumerate(case))
    part = thinned(cases, shown, seed)
    assert of_all(shown, part) == of_all(shown, cases)
    assert part == sorted(part) == thinned(cases, shown, seed)
    assert 7 <= len(part) <= 5 + 7 + 2 - 2  # the first shows three


def test_every_sampling_meets_every_sort_and_every_base_some_sampling():
    cases = list(product(SAMPLERS, BASES))
    part = thinned(cases, lambda case: each_sort(kind=case[0], base=case[1]), "")
    shown = of_all(lambda case: each_sort(kind=case[0], base=case[1]), part)
    assert {*product(SAMPLERS, [*SORTS, "operation"]), *BASES} == shown
    assert len(part) < len(cases) / 2


def test_every_leaf_is_of_one_sort():
    assert sorted(chain(*SORTS.values())) == sorted(LEAVES)
