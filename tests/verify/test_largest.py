"""The largest rate and the most runs, of an accountant that goes through RDP: more are unsound."""

import math
import sys
from fractions import Fraction

import pytest

from symacct.verify import verify
from symacct.verify.asking import session
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.truth import Oracle
from symacct.verify.judging.verdict import Judge
from symacct.verify.peer.protocol import Answer, Ask, AskedPart, Hello, Support
from tests.thinning import covering
from tests.verify.defects import CORRECT

EXTENT = Extent(1, 1, 2, 8, 1, 0, 0, 900, 0, 3)
ORACLE = Oracle()
#: Bisection: of rates by their logarithm, of runs after doubling.
_LARGEST = """\
def largest(ask):
    (part,), delta = ask["parts"], ask["delta_float"]
    name = "gamma_float" if ask["ask"] == "rate" else "count"

    def meets(x):
        filled = {**part, name: x}
        objective = lambda lam: epsilon_at(lam, lambda a: rdp([filled], a, given), delta)
        found = best(objective)  # none where the largest order is the best
        return (objective(2.0**MOST) if found is None else found) <= ask["epsilon_float"]

    if ask["ask"] == "rate":
        low, high = 1e-7, 1 - 1e-9
        if not meets(low):
            return {"unsupported": "rates below 1e-7"}
        while high / low > 1.001:
            middle = math.sqrt(low * high)
            low, high = (middle, high) if meets(middle) else (low, middle)
        return {"value": low}
    low, high = 0, 1
    while meets(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return {"value": low}


def given(part, name):
    return part[name + "_float"]


def answer(ask):
    if ask["ask"] in ("rate", "runs"):
        return largest(ask)
"""
_ROWS = (
    '        {"mechanism": "Gaussian", **ENDS, "order_one": True},\n',
    '        {"mechanism": "Gaussian", "asks": ["rdp", "epsilon", "runs"]},\n'
    '        {"mechanism": "Gaussian", "sampling": "poisson",'
    ' "asks": ["epsilon", "rate", "runs"]},\n'
    "    ],\n}\n_UNUSED = {\n    'rows': [\n",
)
#: (text, what replaces it, the cause that has to be named)
FAULTS = {
    "a rate that is twice too high": (
        'return {"value": low}\n    low',
        'return {"value": 2 * low}\n    low',
        "too large: largest rate",
    ),
    "a tenth of the rate": (
        'return {"value": low}\n    low',
        'return {"value": low / 10}\n    low',
        "too small: largest rate",
    ),
    "runs between two powers of two": (
        "    while high - low > 1:\n",
        "    low = high - 1\n    while high - low > 1:\n",
        "too large: largest number of runs",
    ),
    "the runs before the last doubling": (
        "    while high - low > 1:\n",
        "    while low == 0 and high - low > 1:\n",
        "too small: largest number of runs",
    ),
    "a conversion at 100 δ": (
        "- (math.log(delta) + math.log(alpha)) / lam",
        "- (math.log(100 * delta) + math.log(alpha)) / lam",
        "too small: conversion from RDP",  # of which the rates and the runs are a consequence
    ),
}


def text():
    found = CORRECT.read_text(encoding="utf-8")
    for old, new in (_ROWS, ("def answer(ask):\n", _LARGEST)):
        assert found.count(old) == 1, old
        found = found.replace(old, new)
    return found


def report(written, folder, monkeypatch):
    monkeypatch.setattr(session, "Oracle", lambda digits: ORACLE)
    program = folder / "accountant.py"
    program.write_text(written, encoding="utf-8")
    return verify([sys.executable, str(program)], EXTENT)


def test_a_right_accountant_raises_no_alarm(tmp_path, monkeypatch):
    found = report(text(), tmp_path, monkeypatch)
    assert found.counts == {}
    judged = {kind.name: kind.judged for kind in found.kinds}
    of_samples = "of Gaussian (poisson), add/remove"
    assert min(judged[f"{kind} {of_samples}"] for kind in ("rate", "runs")) >= 3


@covering(lambda name: {name == "a conversion at 100 δ"})
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_named(name, tmp_path, monkeypatch):
    old, new, cause = FAULTS[name]
    assert text().count(old) == 1
    found = report(text().replace(old, new), tmp_path, monkeypatch)
    assert [defect.cause for defect in found.defects] == [cause]
    assert found.unsound == ("too large" in cause or "conversion" in cause)


# --- verdicts


GAUSSIAN = AskedPart("Gaussian", (("sigma", "20"),), count=0)
SAMPLED = AskedPart("Gaussian", (("sigma", "1.1"),), "poisson", None, 1000)
RUNS = Ask("runs", (GAUSSIAN,), "1e-5", within="2")
RATE = Ask("rate", (SAMPLED,), "1e-5", within="2")


def verdict(ask, value, conversion="none"):
    hello = Hello("p", "1", (Support("Gaussian"),), conversion=conversion)
    found = Judge(ORACLE, hello).judge(ask, Answer(value=value))
    return found and (found.verdict, found.below)


def test_a_hundred_runs_are_the_most():
    """(σ μ)² for the largest μ that is (2, 10⁻⁵)-DP, by the normal distribution function."""

    def delta(mu):
        below = (math.erfc((2 / mu + sign * mu / 2) / math.sqrt(2)) / 2 for sign in (-1, 1))
        return next(below) - math.exp(2) * next(below)

    assert delta(math.sqrt(100) / 20) < 1e-5 < delta(math.sqrt(101) / 20)
    assert ORACLE.truth(RUNS).lower == ORACLE.truth(RUNS).upper == 100
    said = [verdict(RUNS, Fraction(n)) for n in (-1, 0, 97, 99, 100, 101)]
    loose, right, over = ("loose", False), None, ("unsound", True)
    assert said == [("negative", False), loose, loose, right, right, over]
    assert verdict(RUNS, math.inf) == ("inf", True)
    assert verdict(RUNS, Fraction("100.5")) is None  # which are a hundred


def test_no_run_at_all_is_the_most_where_one_is_too_many():
    ask = Ask("runs", (AskedPart("Gaussian", (("sigma", "1"),), count=0),), "1e-5", within="1")
    assert ORACLE.truth(ask).upper == 0
    assert [verdict(ask, Fraction(n)) for n in (0, 1)] == [None, ("unsound", True)]


def test_a_rate_is_held_to_the_exact_profile_or_to_what_its_conversion_allows():
    truth, rdp = ORACLE.truth(RATE), ORACLE.by_method(RATE, "improved", None)
    assert Fraction("0.01288") < truth.lower < truth.upper < Fraction("0.01289")
    assert Fraction("0.01163") < rdp.lower < rdp.upper < Fraction("0.01164")
    between = Fraction("0.0125")  # more than RDP allows, and less than is true
    assert verdict(RATE, between) == ("loose", False)
    assert verdict(RATE, between, "improved") == ("wrong-formula", False)
    assert verdict(RATE, rdp.lower, "improved") is None
    assert verdict(RATE, rdp.lower * Fraction(98, 100), "improved") == ("loose", False)
    for conversion in ("none", "improved"):
        assert verdict(RATE, Fraction("0.0129"), conversion) == ("unsound", True)
    everything = Ask("rate", (SAMPLED,), "1e-5", within="100000")
    assert ORACLE.truth(everything).lower == 1


@pytest.mark.parametrize("ask", [RUNS, RATE])
def test_a_question_is_said_and_kept_whole(ask):
    assert Ask.of(ask.kind, ask.parameters()) == ask
    assert ("count" in ask.parts[0].fields()) == (ask.kind == "rate")
    assert ("gamma" in ask.line(1).replace('Gaussian(1.1), gamma)"', "")) is False
    unknown = "n *" if ask.kind == "runs" else "gamma)"
    assert unknown in ask.expression
