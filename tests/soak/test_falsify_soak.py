"""The adversary at length: every theorem and every conversion, several seeds."""

import pytest

from symacct import falsify, theorems
from symacct.conversion import of_one_order
from tests.test_falsify import PROVED, SOUND, STATED, WRONG

SEEDS = (1, 2)
BUDGET = 200_000
STATEMENTS = [t.name for t in PROVED] + [c.name for c in of_one_order()] + sorted(SOUND | STATED)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_is_refuted(name, seed):
    attack = falsify(name, budget=BUDGET, seed=seed)
    assert not attack.refuted, f"a certified witness against a theorem:\n{attack}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_claim_is_refuted_from_every_seed(name, seed):
    assert falsify(name, budget=20_000, seed=seed).refuted


@pytest.mark.parametrize("name", [t.name for t in theorems() if "S22" in t.name])
@pytest.mark.parametrize("seed", [10, 11])
def test_what_holds_for_every_mechanism_is_attacked_hardest(name, seed):
    assert not falsify(name, budget=1_000_000, seed=seed).refuted
