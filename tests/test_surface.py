"""The public surface is what was written down: names, signatures, answers, commands."""

import json
import random

import pytest

from symacct import parse
from tests.surface import commands, names, questions
from tests.surface.record import COMMANDS, EXPRESSIONS, NAMES, read
from tests.thinning import some

ROWS, LINES = read(EXPRESSIONS), read(COMMANDS)
AT_ONCE = 20  # rows of one test
#: Of the rows drawn those that take over a second, which a soak asks.
SLOW = {
    "2*PoissonSubsample(DiscreteGaussian(0.83, 1), 1/1000) + DiscreteGaussianSum(sqrt(2), 5) + "
    "ApproximateDP(1, 1e-6)",
    "3*(Either(SparseVector(5, 12, 2), Gaussian(7/10, 1/2), 6/10) + "
    "sample_with_replacement(Gaussian(sqrt(2)), 1000, 10))",
    "Failing(40*DiscreteGaussianSum(0.83, 6), 1e-6)",
    "GroupPrivacy(Scale(DistributionPair(laws.Normal(0, 1), laws.Normal(1, 1)), 1/3), 4) + "
    "sample_with_replacement(Gaussian(7/10), 1000, 10)",
    "NoisyDescent(1/2, 15, 1) + sample_with_replacement(Gaussian(5), 1000, 10) + "
    "sample_with_replacement(Gaussian(sqrt(2)), 1000, 10)",
}
#: Rows of the same leaves in the same operations, where no other row drawn has these.
INSTEAD = {
    "2*DiscreteGaussianSum(1/2, 3)",
    "3*Convexify(NoisyDescent(7/10, 37, 9/10), 10)",
    "Either(Failing(DiscreteGaussianSum(0.83, 1), 1e-6), TCDP(1/2, 29), 1/10)",
    "Failing(DiscreteGaussianSum(0.83, 5), 1e-7)",
}


def batches(rows, count):
    """So many of the rows, drawn anew by nobody: the same ones in every run."""
    drawn = random.Random(0).sample(rows, min(count, len(rows)))
    return at_once(drawn)


def at_once(drawn):
    """The rows of each test."""
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


def shown(node, within=()):
    """Each leaf, with each operation that it lies in."""
    if not node.children:
        return {(type(node), kind) for kind in within or (None,)}
    return {one for child in node.children for one in shown(child, (*within, type(node)))}


def asked(rows):
    """Each leaf, with each operation that it lies in, each question, and the kind of its answer."""
    return {
        (*one, question, answer.split()[0])
        for row in rows if "answers" in row
        for one in shown(parse(row["text"])) for question, answer in row["answers"].items()
    }  # fmt: skip


DRAWN = [row for rows in batches(ROWS, 80) for row in rows]
QUICK = [row for row in DRAWN if row["text"] not in SLOW]
QUICK += [row for row in ROWS if row["text"] in INSTEAD]


def test_what_is_asked_instead_of_slow_rows_is_as_much():
    assert len(QUICK) == 80 - len(SLOW) + len(INSTEAD)
    assert asked(DRAWN) <= asked(QUICK)


@pytest.mark.parametrize(
    "rows", some(at_once(QUICK), batches(ROWS, len(ROWS))), ids=lambda _: "rows"
)
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
