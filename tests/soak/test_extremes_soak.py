"""Every mechanism × operation × question at parameters far outside the range of floats."""

import pytest

from tests import extremes

BLOCKS = 200
CASES = extremes.cases()


@pytest.mark.filterwarnings("ignore::symacct.errors.OrderGridWarning")
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
