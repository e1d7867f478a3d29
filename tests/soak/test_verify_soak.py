"""The correct accountant of tests/verify at 10,000 points: no alarm; and answers at random."""

import sys

import pytest

from symacct.verify import verify
from symacct.verify.questions import Extent
from tests.verify.defects import CORRECT
from tests.verify.test_session import assert_random_answers_are_judged


def test_no_alarm_on_ten_thousand_points():
    extent = Extent(9, 10, 14, 8000, 60, 5, 0, 1, 10**6)
    report = verify([sys.executable, str(CORRECT)], extent, seed=1)
    assert report.asked >= 10_000
    assert report.counts == {}
    assert not report.cut


@pytest.mark.parametrize("seed", range(2, 12))
def test_random_answers_are_judged_and_reported(seed):
    assert_random_answers_are_judged(seed, random_points=60)
