"""Thousands of broken lines and files, new ones in every run: each failure names its case."""

import random
import sys

import pytest

from tests.damaged import CHECKS, prepared
from tests.damaged.protocol import check_adapter
from tests.verify.test_adapters import NAMES, adapters, environment, folders  # noqa: F401

CASES = {
    "answer": 50_000,
    "judged": 20_000,
    "hello": 20_000,
    "session": 200,
    "sweep": 10_000,
    "paper": 10_000,
    "paper command": 3_000,
}


def drawn():
    """A seed of its own for every run."""
    return random.SystemRandom().randrange(2**40)


@pytest.mark.parametrize("name", CHECKS)
def test_broken_input_is_a_typed_error_or_the_right_answer(name, tmp_path, record_property):
    check, first = prepared(name, tmp_path), drawn()
    for seed in range(first, first + CASES[name]):
        try:
            check(seed)
        except Exception as error:
            raise AssertionError(f"python -m tests.damaged '{name}' {seed}") from error
    record_property("progress", f"{name}: {CASES[name]:,} cases from seed {first}")


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_answers_every_line(name, folders, record_property):  # noqa: F811
    command = [sys.executable, "-P", str(adapters()[name].script), name]
    first = drawn()
    for seed in range(first, first + 4):
        check_adapter(command, environment(folders[name]), seed, 500)
    record_property("progress", f"{name}: 4 × 500 lines from seed {first}")
