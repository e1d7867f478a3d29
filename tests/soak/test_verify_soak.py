"""The correct accountant of tests/verify at 10,000 points: no alarm; and answers at random."""

import resource

import pytest

from symacct.verify import FULL, QUICK
from symacct.verify.asking.questions import Extent
from tests.verify import planted
from tests.verify.defects import CORRECT, DEFECTS
from tests.verify.edits import NAMED
from tests.verify.exact_accountant import exact
from tests.verify.test_planted import assert_no_alarm, planted_report
from tests.verify.test_session import assert_random_answers_are_judged
from tests.verify.test_unchanged import assert_unchanged_passes
from tests.verify.test_verifying import assert_not_judged, command

NARROW = ("a region narrow in every parameter", "a region of two parameters")


TEXTS = {
    "float64": CORRECT.read_text(encoding="utf-8"),
    "mpmath": exact(),
    "mpmath and noise of 1e-15": exact("1e-15"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_alarm_on_ten_thousand_points(text, tmp_path):
    extent = Extent(9, 10, 14, 60, 5, 0, 1, 10**6, 2000)
    assert assert_no_alarm(text, extent, tmp_path).asked >= 10_000


@pytest.mark.parametrize("name", sorted(set(DEFECTS) - set(NARROW)))
def test_a_planted_defect_is_one_defect_in_a_quick_run(name, tmp_path):
    assert len(planted_report(name, QUICK, tmp_path).defects) == 1


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_region_is_found_in_a_full_run(name, tmp_path):
    assert len(planted_report(name, FULL, tmp_path).defects) == 1


@pytest.mark.parametrize("name", NAMED)
def test_a_planted_fault_is_found_and_named_in_a_quick_run(name, tmp_path):
    with planted.shared():
        row, _ = planted.seen(name, QUICK, tmp_path)
    assert row is not None
    assert row.named, row.cause
    assert row.minimal, row.question


#: Curves, conversions, memories, switches and forms; a run remembers another history each time.
UNCHANGED = (
    "an absolute stopping test",
    "log α missing",
    "one mechanism of two",
    "a switch at a small rate",
    "a sum of fifty terms",
    "a memo key without the rate",
    "all in float32",
    "a band in σ",
    "one run too few",
)


@pytest.mark.parametrize("name", UNCHANGED)
def test_an_unchanged_peer_passes_ten_times_of_ten(name, tmp_path):
    extent = Extent(2, 3, 4, 4, 1, 0, 6, 900)
    assert_unchanged_passes(name, extent, range(1, 11), tmp_path)


LINES = "sys.stdout.write('noise\\n' * 10**6); sys.stdout.flush()"


@pytest.mark.parametrize("then", ["", "; say({'error': 'no'})", "; sys.exit(1)"])
def test_a_million_lines_of_noise_for_each_question_are_no_verdict(then, tmp_path):
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert_not_judged(command(tmp_path, LINES + then), timeout="9")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun < 2**18  # KiB


@pytest.mark.parametrize("seed", range(2, 12))
def test_random_answers_are_judged_and_reported(seed):
    assert_random_answers_are_judged(seed, Extent(2, 2, 3, 3, 1, 2, 4, 900))
