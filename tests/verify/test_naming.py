"""What is asked early and beside, and how a defect is named: edges, moduli, digits, memories."""

import struct
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice

import pytest

from symacct.verify import verify
from symacct.verify.asking import questions
from symacct.verify.asking.history import History
from symacct.verify.asking.questions import Extent
from symacct.verify.asking.simplify import as_runs, bounded, simplest
from symacct.verify.judging import matching
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.explanation import explained, form
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Finding, Judge
from symacct.verify.peer.protocol import Answer, Ask, AskedPart, Hello, Support
from symacct.verify.reporting.document import sentences
from symacct.verify.reporting.report import Report
from tests.verify import planted
from tests.verify.defects import only
from tests.verify.peers import program
from tests.verify.test_judgement import report

ENDS = ("rdp", "epsilon", "delta")
HELLO = Hello(
    "p",
    "1",
    (Support("Gaussian", "poisson", asks=ENDS), Support("Laplace", asks=ENDS)),
    conversion="improved",
)
TRUTH = Truth(Fraction(1), Fraction(1), exact=True)


def gaussian(sigma="2", count=1, gamma=None):
    sampling = "none" if gamma is None else "poisson"
    return AskedPart("Gaussian", (("sigma", sigma),), sampling, gamma, count)


def test_the_first_twenty_questions_are_the_ends_of_training_runs():
    first = list(questions.usual(HELLO, 0))
    assert len(first) == 20
    epsilons = [ask for ask in first if ask.kind == "epsilon"]
    assert len(epsilons) >= 4
    asked = {(dict(p.parameters).get("sigma"), p.gamma, p.count) for a in epsilons for p in a.parts}
    assert {(sigma, gamma, runs) for sigma, gamma, runs, _ in questions.RUNS[:3]} <= asked
    assert {"rdp", "delta"} <= {ask.kind for ask in first}


@pytest.mark.parametrize("kind", ENDS)
def test_every_kind_has_questions_of_its_own(kind):
    asks = list(islice(questions.of_kind(HELLO, HELLO.supports[0], kind, 0), 30))
    assert {ask.kind for ask in asks} == {kind}
    assert len(set(asks)) == 30


@pytest.mark.parametrize(
    "ask",
    [
        Ask("rdp", (gaussian("0.7", 3, "0.01"),), "2.5"),
        Ask("epsilon", (gaussian("1.1", 1000, "0.01"),), "1e-5"),
        Ask("delta", (gaussian("1.1", 1000, "0.01"),), "1"),
    ],
)
def test_a_twin_loses_a_little_more(ask):
    """So that a memo which takes it for the question answers too little."""
    oracle = Oracle()
    least = oracle.truth(ask)
    twins = list(questions.twins(ask))
    assert len({twin.parts for twin in twins}) > 8
    for twin in twins:
        truth = oracle.truth(twin)
        assert truth.upper > least.upper * (1 + Fraction(1, 10**11))
        assert truth.lower < least.upper * Fraction(102, 100) or twin.parts[0].count == 4


def test_every_edge_is_bisected():
    """In the noise from 3 to 6, above a rate of 0.01, from the order 4 and from 65,536 runs on."""

    def probe(ask):
        (part,) = ask.parts
        sigma, gamma = Fraction(part.parameters[0][1]), Fraction(part.gamma)
        wrong = 3 < sigma < 6 and gamma > Fraction(1, 100) and int(ask.at) >= 4
        wrong = wrong and part.count >= 65_536
        return Finding("unsound", ask, Answer(value=Fraction(1, 2)), TRUTH) if wrong else None

    found = bounded(probe(Ask("rdp", (gaussian("4", 100_000, "0.5"),), "8")), probe)
    assert found.ask.parts[0].count == 65_536
    notes = found.note.split("; ")
    assert notes[0] == "the answer is right with runs = 65535 instead"
    assert notes[1].startswith("the answer is right with sigma = 3 or sigma = 6")
    assert 0.0097 < float(notes[2].split()[7]) <= 0.01
    assert notes[3:] == ["the answer is right with α = 3 instead"]


def test_an_overflow_is_named_and_where_it_begins_is_said_once():
    """A sum of exponentials is infinite from the order 39 on: log A is not."""

    def probe(ask):
        wrong = Fraction(ask.at) > 38
        return Finding("inf", ask, Answer(value=float("inf")), TRUTH) if wrong else None

    found = simplest(probe(Ask("rdp", (gaussian("1", gamma="0.5"),), "64")), probe, edges=90)
    assert (found.ask.at, found.note) == ("39", "the answer is right with α = 38 instead")
    (defect,) = report(found).defects
    assert sentences(defect)[-1] == "Likely cause: exp overflows above 1.8e308; sum logarithms."


def test_what_is_wrong_everywhere_has_no_edge():
    def probe(ask):
        return Finding("unsound", ask, Answer(value=Fraction(1, 2)), TRUTH)

    assert bounded(probe(Ask("rdp", (gaussian(),), "2")), probe).note == ""


@pytest.mark.parametrize(
    ("count", "runs", "said"),
    [
        (65_540, 4, "the answer is that of 4 of the 65,540 runs, their number modulo 65,536"),
        (70_000, 65_535, "the answer is that of 65,535 of the 70,000 runs"),
        (70_000, 70_000, ""),
        pytest.param(2, 10**5000, "", id="a multiple that is no number of runs"),
    ],
)
def test_a_count_that_is_another_is_named(count, runs, said):
    ask = Ask("rdp", (gaussian(count=count),), "2")
    one = Answer(value=Fraction("0.25"))
    answers = {replace(ask, parts=(gaussian(),)): one}
    found = Finding("unsound", ask, Answer(value=runs * one.value))
    assert as_runs(found, answers).note == said


def values():
    return [1 / Fraction(7**i) for i in range(1, 20)]


def test_how_numbers_are_written_is_seen_in_all_of_them():
    digits = [Fraction(f"{float(x):.6g}") for x in values()]
    singles = [Fraction(struct.unpack("f", struct.pack("f", x))[0]) for x in values()]
    doubles = [Fraction(float(x)) for x in values()]
    assert form(digits) == "printed with 6 digits"
    assert form(singles) == "computed in float32"
    assert form(doubles) is None
    assert form([*digits, doubles[0]]) is None
    assert form(digits[:5]) is None  # too few to tell


@pytest.mark.parametrize(
    ("gap", "written", "is_explained"),
    [
        ("1e-6", "printed with 6 digits", True),
        ("1e-4", "printed with 6 digits", False),
        ("1e-7", "computed in float32", True),
        ("1e-2", "computed in float32", False),
        ("1e-7", None, False),
    ],
)
def test_a_form_explains_what_it_can(gap, written, is_explained):
    value = 1 - Fraction(gap)
    found = Finding("unsound", Ask("rdp", (gaussian(),), "8"), Answer(value=value), TRUTH)
    assert explained(found, written, Oracle()).form == (written if is_explained else "")


def test_a_memory_is_found_backwards():
    """A peer that answers every question with what it answered first for that noise."""
    memo = {}

    def answer(ask):
        sigma = ask.parts[0].parameters[0][1]
        return Answer(value=memo.setdefault(sigma, Fraction(ask.at) / 2 / Fraction(sigma) ** 2))

    history = History(Judge(Oracle(), HELLO), answer, memo.clear)
    asks = [Ask("rdp", (gaussian("2"),), at) for at in ("2", "3", "5")]
    for ask in asks:
        history.note(ask, answer(ask))
    found = history.backwards(asks)
    assert [one.verdict for one in found] == ["inconsistent", "inconsistent"]
    assert all(one.before in asks and one.before != one.ask for one in found)
    honest = History(Judge(Oracle(), HELLO), lambda ask: Answer(value=Fraction(ask.at)), memo.clear)
    for ask in asks:
        honest.note(ask, Answer(value=Fraction(ask.at)))
    assert honest.backwards(asks) == []


def test_too_few_of_a_kind_are_no_verdict(tmp_path):
    """Of what is asked of one row nothing can be judged: no exit status 0."""
    program = tmp_path / "accountant.py"
    program.write_text(planted.CORRECT.read_text(encoding="utf-8"), encoding="utf-8")
    broken = program.read_text(encoding="utf-8").replace(
        '    epsilon = ask["epsilon_float"]\n', '    raise ValueError("no δ today")\n'
    )
    assert broken.count("no δ today") == 1
    program.write_text(broken, encoding="utf-8")
    report = verify([sys.executable, str(program)], Extent(1, 1, 1, 1, 0, 0, 1, 30, 0, 2))
    assert not report.enough
    assert {one.name for one in report.lacking} >= {"delta of Gaussian (poisson), add/remove"}
    assert all(one.judged == 0 for one in report.lacking)
    assert isinstance(report, Report)


SHOWN = ("2δ for δ", "a memo keyed by σ to three digits", "six digits printed")
SHORT = Extent(1, 1, 2, 2, 0, 0, 2, 60.0)


@pytest.mark.parametrize("name", SHOWN)
def test_a_planted_fault_is_named(name, tmp_path, monkeypatch):
    """In Gaussian noise on everything; in all that the accountant offers: the soak."""
    written = only(planted.text(name), 0)
    monkeypatch.setattr(planted, "text", lambda _: written)
    with planted.shared():
        row, _ = planted.seen(name, SHORT, tmp_path)
    assert row is not None
    assert row.named, row.cause
    assert row.minimal, row.question


@pytest.mark.parametrize(
    ("number", "said"),
    [("sigma", "the parameter of the noise"), ("gamma", "the sampling rate"), ("at", "the order")],
)
def test_a_number_rounded_to_float32_is_named(number, said):
    """By which one is rounded, wherever it is no float32; where it is one, nothing is."""
    oracle = Oracle()
    for sigma, gamma, at in (("1.1", "0.01", "2.1"), ("0.7", "0.3", "17.3")):
        given = {"sigma": sigma, "gamma": gamma, "at": at}
        exact = Fraction(struct.unpack("f", struct.pack("f", float(given[number])))[0])
        rounded = given | {number: f"{Decimal(float(exact)):f}"}
        ask, other = (
            Ask("rdp", (gaussian(one["sigma"], 1, one["gamma"]),), one["at"])
            for one in (given, rounded)
        )
        value = Fraction(float(oracle.truth(other).upper))
        assert matching.matched(oracle, ask, value) == f"{said} rounded to float32"
        assert "float32" not in str(matching.matched(oracle, other, value))


def test_a_peer_that_rounds_its_noise_to_float32_is_told_so(tmp_path):
    body = (
        "import struct; sigma = struct.unpack('f', struct.pack('f', sigma))[0]; "
        "say({'value': ask['parts'][0]['count'] * alpha / (2 * sigma * sigma)})"
    )
    defects = verify(program(tmp_path, body), Extent(2, 1, 6, 0, 0, 0, 4, 30)).defects
    assert defects
    for defect in defects:
        cause = "the parameter of the noise rounded to float32"
        assert any(cause in line for line in sentences(defect)), sentences(defect)
