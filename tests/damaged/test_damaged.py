"""Some hundreds of broken lines and files with fixed seeds; tests/soak draws thousands of others.

One case alone: `python -m tests.damaged NAME SEED`.
"""

import pytest

from tests.damaged import CHECKS, prepared

SEEDS = {
    "answer": 600,
    "judged": 300,
    "hello": 400,
    "session": 2,
    "sweep": 300,
    "paper": 400,
    "paper command": 60,
}


@pytest.mark.parametrize("name", CHECKS)
def test_broken_input_is_a_typed_error_or_the_right_answer(name, tmp_path):
    check = prepared(name, tmp_path)
    for seed in range(SEEDS[name]):
        check(seed)
