"""The fuzzers at length, from seeds that SOAK_SEED draws, and which are printed.

`python -m tests.soak.test_fuzz_soak any_text SEED` runs the cases of a seed again.
"""

import os
import random
import sys

import pytest

from symacct import from_json, parse
from tests import fuzzing
from tests.test_fuzz import assert_ends_well

#: How many cases a block has, and what is asked of each.
KINDS = {
    fuzzing.any_text: (2000, lambda text: fuzzing.check(parse, text)),
    fuzzing.any_document: (1000, lambda text: fuzzing.check(from_json, text)),
    fuzzing.any_command: (150, assert_ends_well),
}
BLOCKS = 10


def run(kind, seed):
    """What fails of the cases of one seed."""
    count, ask = KINDS[kind]
    failed = []
    for case in fuzzing.cases(kind, seed, count):
        try:
            ask(case)
        except Exception as error:
            failed.append(f"{case!a}: {type(error).__name__} {str(error)[:200]!a}")
    return failed


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_fuzz(kind, block, record_property, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(f"{os.environ.get('SOAK_SEED', 0)} {kind.__name__} {block}")
    seed = draw.randrange(10**12)
    failed = run(kind, seed)
    found = f"seed {seed}, {KINDS[kind][0]} cases, {len(failed)} failed"
    record_property("progress", f"{kind.__name__:24} block {block + 1:>2}/{BLOCKS}: {found}")
    assert not failed, f"seed {seed}\n" + "\n".join(failed[:20])


if __name__ == "__main__":
    print("\n".join(run(getattr(fuzzing, sys.argv[1]), int(sys.argv[2]))) or "nothing failed")
