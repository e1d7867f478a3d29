"""The correct accountant of tests/verify at 10,000 points: no alarm."""

import sys

from symacct.verify import verify
from symacct.verify.questions import Extent
from tests.verify.defects import CORRECT


def test_no_alarm_on_ten_thousand_points():
    extent = Extent(9, 10, 14, 8000, 60, 5, 0, 1, 10**6)
    report = verify([sys.executable, str(CORRECT)], extent, seed=1)
    assert report.asked >= 10_000
    assert report.counts == {}
    assert not report.cut
