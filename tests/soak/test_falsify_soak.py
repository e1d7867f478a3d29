"""The adversary at length: every theorem and every conversion, from SOAK_SEED."""

import os

import pytest

from symacct import falsify, theorems
from symacct.kernel.conversion import of_one_order
from tests.adversary.test_falsify import COSTLY, PROVED, SOUND, STATED, WRONG

SEED = int(os.environ.get("SOAK_SEED", "1"))
BUDGET = 50_000
STATEMENTS = [t.name for t in PROVED] + [c.name for c in of_one_order()] + sorted(SOUND | STATED)


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_is_refuted(name):
    attack = falsify(name, budget=BUDGET // 5 if name in COSTLY else BUDGET, seed=SEED)
    assert not attack.refuted, f"a certified witness against a theorem:\n{attack}"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", WRONG)
def test_every_wrong_claim_is_refuted_from_every_seed(name, seed):
    assert falsify(name, budget=20_000, seed=seed).refuted


@pytest.mark.parametrize("name", [t.name for t in theorems() if t.name.startswith("S22")])
def test_what_holds_for_every_mechanism_is_attacked_hardest(name):
    assert not falsify(name, budget=400_000, seed=SEED + 1).refuted
