"""Every planted defect is caught; the correct accountant raises no alarm."""

import sys
from dataclasses import replace

import pytest

from symacct.verify import session, truth, verify
from symacct.verify.questions import Extent
from symacct.verify.truth import Oracle
from tests.thinning import covering
from tests.verify.defects import CAUGHT, CORRECT, FORMULAS, SAFE, planted
from tests.verify.exact_accountant import exact

#: Of a run so short: regions, switches and what only some numbers show are left to the soak.
SHORT = Extent(2, 3, 4, 0, 10, 2, 0, 1, 900)
SHOWN_IN_A_SHORT_RUN = (
    "a best order remembered",
    "a memo that is full",
    "computed in float32",
    "Decimal orders taken for fractional ones",
    "a part that stands twice counted once",
    "two runs taken for one",
    "the order 1 taken for a small one",
    "orders cut off at 4096",
    "a negative ε taken for a positive one",
    "half the sensitivity where a record adds nothing",
    "twice the sensitivity where a record is replaced",
    "a composition inside a sample taken for one run",
    "only powers of two searched",
)
#: The same questions are asked of every one: their truths are found once, to what floats can show.
ORACLE = Oracle(digits=14)


@pytest.fixture(autouse=True)
def _one_oracle(monkeypatch):
    monkeypatch.setattr(session, "Oracle", lambda: ORACLE)
    monkeypatch.setattr(truth, "_LEAST_SIZE", 2**12)  # lower bounds that take longer: the soak


def planted_report(name, extent, folder):
    """A run of the accountant with the defect in it."""
    program = folder / "accountant.py"
    program.write_text(planted(name), encoding="utf-8")
    report = verify([sys.executable, str(program)], extent)
    assert CAUGHT[name] in report.counts
    assert report.unsound == (name not in SAFE)
    return report


def verdict_on(name):
    """Of the defects that are found alike one is planted here, in the soak every one."""
    return {(CAUGHT[name], name in SAFE)}


@covering(verdict_on)
@pytest.mark.parametrize("name", FORMULAS)
def test_a_planted_defect_is_caught(name, tmp_path):
    planted_report(name, SHORT, tmp_path)


@covering(verdict_on)
@pytest.mark.parametrize("name", SHOWN_IN_A_SHORT_RUN)
def test_a_planted_defect_is_one_defect(name, tmp_path):
    (defect,) = planted_report(name, SHORT, tmp_path).defects
    assert len(defect.shown.ask.parts) <= 2


@pytest.mark.parametrize("noise", ["0", "1e-15"])
def test_mpmath_raises_no_alarm(noise, tmp_path):
    assert_no_alarm(exact(noise), SHORT, tmp_path)


def assert_no_alarm(text, extent, folder):
    program = folder / "accountant.py"
    program.write_text(text, encoding="utf-8")
    report = verify([sys.executable, str(program)], extent, seed=1)
    assert report.counts == {}
    assert report.judged >= 0.98 * report.answered
    assert not report.cut
    return report


def test_the_correct_accountant_raises_no_alarm():
    # The soak asks ten thousand. The time is no part of what is shown, so there is enough of it.
    extent = replace(SHORT, random=40, seconds=3600)
    report = verify([sys.executable, str(CORRECT)], extent)
    assert report.asked > 300
    assert report.counts == {}
    assert not report.cut
    assert not report.unsound
