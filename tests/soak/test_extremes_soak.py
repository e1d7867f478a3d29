"""Every mechanism × operation × question at parameters far outside the range of floats.

Half of the cases in each run, by SOAK_SEED.
"""

import os

import pytest

from tests import extremes
from tests.test_extremes import SAMPLERS, assert_is_printed

BLOCKS = 100
CASES = extremes.selection(len(extremes.cases()) // 2, int(os.environ.get("SOAK_SEED", "0")))


@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.OrderGridWarning")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_case_is_answered_or_refused_with_a_typed_error(block, record_property):
    failed = []
    for name, make, question in CASES[block::BLOCKS]:
        try:
            found = extremes.answer(make, question)
            if not isinstance(found, extremes.SymacctError) and not extremes.is_ordered(found):
                failed.append((name, question, found))
        except Exception as error:  # the others are tried all the same
            failed.append((name, question, error))
    record_property("progress", f"extremes, block {block}: {len(CASES[block::BLOCKS])} cases")
    assert not failed


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("end", [3, "1/3", "inf"])
@pytest.mark.parametrize("f", ["alpha/50", "Min(alpha/50, 3)", "1 - 1/(1 + alpha)", "3"])
def test_the_formula_of_every_curve_with_a_stated_end_is_printed(f, end, sampler):
    assert_is_printed(f, end, sampler)
