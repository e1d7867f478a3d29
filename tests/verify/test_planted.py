"""Every planted defect is caught; the correct accountant raises no alarm."""

import sys

import pytest

from symacct.verify import verify
from symacct.verify.asking import session
from symacct.verify.asking.questions import Extent
from symacct.verify.judging import truth
from symacct.verify.judging.truth import Oracle
from tests.verify.defects import CAUGHT, CORRECT, SAFE, planted
from tests.verify.exact_accountant import exact

SMALL = Extent(
    parameters=2,
    rates=3,
    orders=4,
    ends=4,
    bases=1,
    refinements=0,
    simplified=1,
    seconds=900,
)


#: Unsound, inconsistent, loose, wrong-formula; tests/verify/test_edges.py has an overflow, and the
#: soak has all.
CAUGHT_IN_A_SMALL_RUN = (
    "an absolute stopping test",
    "a count forgotten when repeated",
    "another formula from an order on",
    "a wrong conversion to δ",
)
#: Of a run so short: regions, switches and what only some numbers show are left to the soak.
SHORT = Extent(2, 2, 3, 4, 1, 0, 1, 900)
SHOWN_IN_A_SHORT_RUN = (
    "a part that stands twice counted once",
    "the order 1 taken for a small one",
    "half the sensitivity where a record adds nothing",
)
#: The same questions are asked of every one: their truths are found once.
ORACLE = Oracle()


@pytest.fixture(autouse=True)
def _one_oracle(monkeypatch):
    monkeypatch.setattr(session, "Oracle", lambda digits: ORACLE)
    monkeypatch.setattr(truth, "_LOWER_SIZE", 2**18)  # lower bounds that take longer: the soak


def planted_report(name, extent, folder):
    """A run of the accountant with the defect in it."""
    program = folder / "accountant.py"
    program.write_text(planted(name), encoding="utf-8")
    report = verify([sys.executable, str(program)], extent)
    assert CAUGHT[name] in report.counts
    assert report.unsound == (name not in SAFE)
    return report


@pytest.mark.parametrize("name", CAUGHT_IN_A_SMALL_RUN)
def test_a_planted_defect_is_caught(name, tmp_path):
    planted_report(name, SMALL, tmp_path)


@pytest.mark.parametrize("name", SHOWN_IN_A_SHORT_RUN)
def test_a_planted_defect_is_one_defect(name, tmp_path):
    (defect,) = planted_report(name, SHORT, tmp_path).defects
    assert len(defect.shown.ask.parts) <= 2


def test_mpmath_raises_no_alarm(tmp_path):
    assert_no_alarm(exact("1e-15"), SHORT, tmp_path)  # without noise: the soak


def assert_no_alarm(text, extent, folder):
    program = folder / "accountant.py"
    program.write_text(text, encoding="utf-8")
    report = verify([sys.executable, str(program)], extent, seed=1)
    assert report.counts == {}
    assert report.judged >= 0.98 * report.answered
    assert not report.cut
    return report


def test_the_correct_accountant_raises_no_alarm():
    report = verify([sys.executable, str(CORRECT)], SMALL)  # the soak asks ten thousand
    assert report.asked > 200
    assert report.counts == {}
    assert not report.cut
    assert not report.unsound
