"""The public surface is what was written down: names, signatures, answers, commands."""

import json
import random

import pytest

from tests.surface import commands, names, questions
from tests.surface.record import COMMANDS, EXPRESSIONS, NAMES, read
from tests.thinning import some

ROWS, LINES = read(EXPRESSIONS), read(COMMANDS)
AT_ONCE = 20  # rows of one test


def batches(rows, count):
    """So many of the rows, drawn anew by nobody: the same ones in every run."""
    drawn = random.Random(0).sample(rows, min(count, len(rows)))
    return [drawn[start : start + AT_ONCE] for start in range(0, len(drawn), AT_ONCE)]


def test_every_name_and_signature():
    assert names.names() == json.loads(NAMES.read_text(encoding="utf-8"))


def test_there_is_enough_of_it():
    assert len(ROWS) == 2000
    assert len(LINES) >= 300
    answered = sum("answers" in row for row in ROWS)
    assert answered > 1500
    kinds = {answer.split()[0] for row in ROWS for answer in row.get("answers", {}).values()}
    assert kinds == {"exact", "upper", "lower", "error"}


@pytest.mark.parametrize("rows", batches(ROWS, some(80, len(ROWS))), ids=lambda _: "rows")
def test_answers(rows):
    assert [fault for row in rows for fault in questions.faults(row)] == []


@pytest.mark.parametrize(
    "rows", batches(LINES, some(40, len(LINES))), ids=lambda r: " ".join(r[0]["command"])
)
def test_commands(rows):
    found = [commands.faults(tuple(row["command"]), row["answer"]) for row in rows]
    assert [fault for one in found for fault in one] == []


EXACT = {"kind": "exact", "low": "0.99", "high": "1.01", "about": "either"}


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ({}, {}, ""),
        ({}, {"kind": "upper", "high": "1.02"}, "exact no longer"),
        ({"kind": "upper"}, {"kind": "upper", "high": "1.02"}, "a larger bound"),
        ({"kind": "upper"}, {"kind": "upper", "low": "0.5", "high": "0.51"}, ""),
        ({}, {"low": "0.5", "high": "0.51"}, "below the truth"),
        ({}, {"low": "1.02", "high": "1.03"}, "above the truth"),
        ({"kind": "upper"}, {"low": "0.5", "high": "0.51"}, ""),
        ({"kind": "lower"}, {"kind": "lower", "low": "0.5"}, "a smaller lower bound"),
        ({"kind": "lower"}, {"kind": "lower", "low": "1"}, ""),
        ({}, {"about": "add_remove"}, "about another relation"),
        ({}, {"kind": "error", "name": "DomainError"}, "an error"),
        ({"kind": "error", "name": "DomainError"}, {}, "an answer, where none may be"),
        ({"kind": "error", "name": "LimitError"}, {}, ""),
    ],
)
def test_what_keeps_an_answer(was, now, why):
    before = EXACT | was
    assert questions.fault("rdp(5)", before, EXACT | now, {"rdp(5)": before}) == why


def test_a_lower_bound_holds_an_upper_one():
    """A bound of another question about the same number is read too."""
    answers = {
        "epsilon": EXACT | {"kind": "upper"},
        "lower_epsilon": EXACT | {"kind": "lower", "low": "0.9"},
    }
    now = EXACT | {"kind": "upper", "low": "0.8", "high": "0.89"}
    assert questions.fault("epsilon", answers["epsilon"], now, answers) == "below the truth"
