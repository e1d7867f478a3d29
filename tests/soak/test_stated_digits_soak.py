"""What float64 and mpmath state, held against balls in thousands of drawn cases."""

import os
import random

import pytest

from tests.laws.test_stated_digits import LEAVES, OPERATIONS, ORDERS, assert_draws_true

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "12"))
SEED = os.environ.get("SOAK_SEED", "stated")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_float64_states_what_is_true(leaf, operation):
    draw = random.Random(f"{SEED} {leaf} {operation}")
    for _ in range(ROUNDS):
        assert_draws_true("float64", leaf, operation, draw)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_mpmath_states_what_is_true(leaf, operation):
    draw = random.Random(f"{SEED} {operation} {leaf}")
    orders = {name: order for name, order in ORDERS.items() if name != "large"}
    for _ in range(ROUNDS // 6):
        assert_draws_true("mpmath", leaf, operation, draw, orders)
