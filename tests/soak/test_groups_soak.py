"""Groups at length: thousands of chains of random laws, new ones by SOAK_SEED."""

import os
import random

import pytest

from tests.laws.test_groups import assert_no_chain_exceeds

SEED = os.environ.get("SOAK_SEED", "0")


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_no_chain_of_random_laws_exceeds_a_bound(size):
    assert_no_chain_exceeds(size, random.Random(f"{SEED} {size}"), 2000)
