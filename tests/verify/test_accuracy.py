"""The map of a peer's accuracy, and the file of worst cases that grows."""

import json

import pytest

from symacct.verify.peer.process import Incidents
from symacct.verify.peer.protocol import Ask, AskedPart
from symacct.verify.reporting.accuracy import boxes, grown, replayed, table
from symacct.verify.reporting.report import PlottedError, Report, StoredError


def point(sigma, alpha, ulps, gamma=None):
    part = AskedPart("Gaussian", (("sigma", sigma),), "poisson" if gamma else "none", gamma)
    return PlottedError(Ask("rdp", (part,), alpha), 0.0, ulps)


def report(*points):
    return Report("p", "1", ["p"], 1, 0, 1.0, 0, [], Incidents(), points=list(points))


POINTS = (
    point("1", "2", 3.0),
    point("9", "3", 40.0),  # one box with the first
    point("10", "2", 5.0),
    point("1", "2", 1.0, "0.01"),
    point("1", "1.5", 0.0),
)


def test_each_box_has_its_worst():
    found = {box: one.ulps for box, one in boxes(POINTS).items()}
    assert found == {
        ("Gaussian, none", 0, None, 0): 40.0,
        ("Gaussian, none", 1, None, 0): 5.0,
        ("Gaussian, poisson", 0, -2, 0): 1.0,
        ("Gaussian, none", 0, None, -1): 0.0,
    }


def test_the_table_has_the_worst_first_with_its_question():
    rows = [row for row in table(report(*POINTS)).split("\n") if "`" in row]
    assert "| 40 | `Gaussian(9)`, α = 3 |" in rows[0]
    assert len(rows) == 4


def test_worst_cases_are_kept_and_grow(tmp_path):
    file = tmp_path / "worst.json"
    assert replayed(str(file)) == []
    file.write_text(grown([], report(*POINTS[:2])), encoding="utf-8")
    first = replayed(str(file))
    assert [one.ask for one in first] == [POINTS[1].ask]
    assert list(boxes(first)) == list(boxes(POINTS[:2]))
    # What is better now stays; what is worse, or in a new box, comes in.
    file.write_text(grown(first, report(POINTS[0], *POINTS[2:])), encoding="utf-8")
    assert {one.ulps for one in replayed(str(file))} == {40.0, 5.0, 1.0, 0.0}
    worse = point("2", "2", 99.0)
    file.write_text(grown(replayed(str(file)), report(worse)), encoding="utf-8")
    assert 99.0 in {one.ulps for one in replayed(str(file))}
    assert len(json.loads(file.read_text(encoding="utf-8"))["worst"]) == 4


@pytest.mark.parametrize("text", ["", "[]", '{"worst": [{}]}', '{"worst": 3}'])
def test_what_is_no_replay_file_is_said(tmp_path, text):
    file = tmp_path / "worst.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(StoredError, match="needed the JSON"):
        replayed(str(file))
