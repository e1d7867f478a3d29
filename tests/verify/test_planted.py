"""Every planted defect is caught; the correct accountant raises no alarm."""

import sys
from dataclasses import replace

import pytest

from symacct.verify import session, truth, verify
from symacct.verify.questions import Extent
from symacct.verify.truth import Oracle
from tests.verify.defects import CAUGHT, CORRECT, DEFECTS, SAFE, planted

SMALL = Extent(
    parameters=3,
    rates=3,
    orders=4,
    random=40,
    ends=8,
    bases=1,
    refinements=0,
    simplified=1,
    seconds=900,
)


#: The same questions are asked of every one: their truths are found once, to what floats can show.
ORACLE = Oracle(digits=14)


@pytest.fixture(autouse=True)
def _one_oracle(monkeypatch):
    monkeypatch.setattr(session, "Oracle", lambda: ORACLE)
    monkeypatch.setattr(truth, "_LEAST_SIZE", 2**18)  # lower bounds that take longer: the soak


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_caught(name, tmp_path):
    program = tmp_path / "accountant.py"
    program.write_text(planted(name), encoding="utf-8")
    report = verify([sys.executable, str(program)], SMALL)
    assert CAUGHT[name] in report.counts
    assert report.unsound == (name not in SAFE)


def test_the_correct_accountant_raises_no_alarm():
    # The soak asks ten thousand. The time is no part of what is shown, so there is enough of it.
    extent = replace(SMALL, random=120, seconds=3600)
    report = verify([sys.executable, str(CORRECT)], extent)
    assert report.asked > 300
    assert report.counts == {}
    assert not report.cut
    assert not report.unsound
