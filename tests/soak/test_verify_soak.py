"""The correct accountant of tests/verify at 10,000 points: no alarm; and answers at random."""

import sys

import pytest

from symacct.verify import FULL, QUICK, verify
from symacct.verify.questions import Extent
from tests.verify.defects import CORRECT, DEFECTS
from tests.verify.test_planted import planted_report
from tests.verify.test_session import assert_random_answers_are_judged

NARROW = ("a region narrow in every parameter", "a region of two parameters")


def test_no_alarm_on_ten_thousand_points():
    extent = Extent(9, 10, 14, 8000, 60, 5, 0, 1, 10**6)
    report = verify([sys.executable, str(CORRECT)], extent, seed=1)
    assert report.asked >= 10_000
    assert report.counts == {}
    assert not report.cut


@pytest.mark.parametrize("name", sorted(set(DEFECTS) - set(NARROW)))
def test_a_planted_defect_is_one_defect_in_a_quick_run(name, tmp_path):
    assert len(planted_report(name, QUICK, tmp_path).defects) == 1


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_region_is_found_in_a_full_run(name, tmp_path):
    assert len(planted_report(name, FULL, tmp_path).defects) == 1


@pytest.mark.parametrize("seed", range(2, 12))
def test_random_answers_are_judged_and_reported(seed):
    assert_random_answers_are_judged(seed, random_points=60)
