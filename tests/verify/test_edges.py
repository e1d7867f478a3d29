"""Where a defect ends: every place that a report calls right is asked again, and is right."""

import re
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.asking.simplify import bounded
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.matching import claimed
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import ALLOWANCE, LOOSE, Finding
from symacct.verify.peer.process import Peer
from symacct.verify.peer.protocol import Answer, Ask, AskedPart
from tests.thinning import covering
from tests.verify import planted
from tests.verify.peers import program

EXTENT = Extent(2, 2, 6, 4, 1, 0, 6, 60, covered=16)
HELLO = (
    '{"id": 0, "peer": "p", "version": "1", "conversion": "improved", "supports": [{"mechanism": '
    '"Gaussian", "orders": "integer", "max_order": MOST, "asks": ["rdp", "epsilon"]}]}'
)
#: A Gaussian's curve, and its ε by the best of all orders, of which `more` is added in the middle.
BODY = """
import math
if ask["ask"] == "rdp":
    say({"value": value * (1 + ERROR)})
else:
    rho, delta = ask["parts"][0]["count"] / (2 * sigma * sigma), ask["delta_float"]
    def at(i):
        a = 1 + math.exp(i / 200)
        return rho * a + MORE * math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1)
    say({"value": max(0.0, min(map(at, range(-3000, 2000))))})
"""
PEERS = {
    "wrong from the order 100 on": (256, "0.01 * (alpha >= 100)", 1),
    "wrong below the order 30": (256, "0.01 * (alpha < 30)", 1),
    "an error of rounding": (64, "-1e-15 / value * (alpha < 50)", 1),
    "a conversion that clamps": (256, "0", 3),
    "wrong at much noise": (4096, "0.5 * (sigma > 7)", 1),
}
#: Faults with an edge in the noise, the rate, the order or the runs.
EDGED = (
    "overflow to inf",
    "one mechanism of two",
    "another formula from an order on",
    "overflow",
    "an absolute stopping test",
    "a count forgotten when repeated",
)
ORACLE = Oracle()


def said_to_be_right(report):
    """(ask, the words) for each place that some finding of the report calls right."""
    for cluster in report.clusters:
        ask, note = cluster.shown.ask, cluster.shown.note
        for places in re.findall(r"right with (.*?) instead", note):
            for place in places.split(" or "):
                yield at(ask, *place.split(" = ")), note


def at(ask, name, value):
    (part,) = ask.parts
    if name == "α":
        return replace(ask, at=value)
    first = {"parameters": ((name, value), *part.parameters[1:])}
    change = {"γ": {"gamma": value}, "runs": {"count": int(Fraction(value))}}.get(name, first)
    return replace(ask, parts=(replace(part, **change),))


def assert_all_right(command, report):
    """Each of them is within what the peer's own first line offers, and is right when asked."""
    places = list(said_to_be_right(report))
    with Peer(command, 10) as peer:
        for ask, note in places:
            assert any(row.offers(ask, ask.parts[0]) for row in peer.hello.supports), note
            answer, truth = peer.ask(ask), ORACLE.truth(ask)
            value = answer.finite
            assert value, (ask, note)
            assert truth.lower > 0, (ask, note)
            if ask.kind == "rdp":
                assert truth.lower * (1 - ALLOWANCE) <= value, (ask, note)
                named = claimed(ORACLE, ask, answer.claims or "")
                assert value <= max(named or (truth.upper,)) * (1 + ALLOWANCE), (ask, note)
            else:
                best = ORACLE.by_method(ask, "improved", None)
                assert truth.lower * (1 - ALLOWANCE) <= value <= best.upper * LOOSE, (ask, note)
    return len(places)


@pytest.mark.parametrize("name", PEERS)
def test_what_is_called_right_is_right(tmp_path, name):
    most, error, more = PEERS[name]
    body = BODY.replace("ERROR", error).replace("MORE", str(more))
    command = program(tmp_path, body, HELLO.replace("MOST", str(most)))
    report = verify(command, EXTENT)
    assert report.defects
    assert (assert_all_right(command, report) > 0) == name.startswith("wrong"), name


@covering(lambda name: {EDGED.index(name) % 2})
@pytest.mark.parametrize("name", EDGED)
def test_what_is_called_right_of_a_planted_fault_is_right(tmp_path, name):
    path = tmp_path / "accountant.py"
    path.write_text(planted.text(name), encoding="utf-8")
    command = [sys.executable, str(path)]
    report = verify(command, EXTENT)
    assert report.defects
    assert_all_right(command, report)


PART = AskedPart("Gaussian", (("sigma", "4"),), "none", None, 1)


def wrong(ask):
    """Wrong from 3 to 6; nothing is known to be right outside."""
    if not 3 < Fraction(ask.parts[0].parameters[0][1]) < 6:
        return None
    truth = Truth(Fraction(1), Fraction(1), exact=True)
    return Finding("unsound", ask, Answer(value=Fraction(1, 2)), truth)


def test_no_finding_is_not_right_yet():
    ask = Ask("rdp", (PART,), "8")
    assert "right with sigma = 3 or" in bounded(wrong(ask), wrong).note
    assert bounded(wrong(ask), wrong, lambda ask: False).note == ""


def test_an_error_of_rounding_has_no_edge():
    ask = Ask("rdp", (PART,), "8")
    assert bounded(replace(wrong(ask), beyond_rounding=False), wrong).note == ""


def test_the_fewest_runs_that_are_shown_have_the_same_verdict():
    """Too small from 64 runs on, and only loose from 8 on: what is shown stays too small."""
    truth = Truth(Fraction(1), Fraction(1), exact=True)

    def probe(ask):
        runs = ask.parts[0].count
        if runs < 8:
            return None
        value, verdict = (Fraction(1, 2), "unsound") if runs >= 64 else (Fraction(2), "loose")
        return Finding(verdict, ask, Answer(value=value), truth, below=runs >= 64)

    worst = probe(Ask("rdp", (replace(PART, count=200),), "8"))
    shown = bounded(worst, probe)
    assert (shown.verdict, shown.below) == ("unsound", True)
    assert "right with runs = 7 instead" in shown.note
