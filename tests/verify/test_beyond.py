"""Noise, rates, runs, ρ, μ, groups, sensitivities, streams, discrete noise and batches as asked."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from symacct import parse
from symacct.verify import ProtocolError, verify
from symacct.verify.asking import session
from symacct.verify.asking.covering import covering as covered
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.truth import Oracle, node
from symacct.verify.peer.protocol import BUDGETED, HELLO_LINE, KINDS, Ask, AskedPart
from symacct.verify.peer.reading import Number, read_answer, read_hello, read_object
from tests.thinning import covering

CORRECT = Path(__file__).with_name("budget_accountant.py")
EXTENT = Extent(2, 1, 4, 24, 1, 0, 4, 900, covered=20)
#: The same questions are asked of every one: their truths are found once.
ORACLE = Oracle()
#: (text, what replaces it, the causes that have to be named)
FAULTS = {
    "noise for 2δ": (
        "/ largest_mu(epsilon, delta)",
        "/ largest_mu(epsilon, 2 * delta)",
        ["too small: least noise"],
    ),
    "noise for one run": ('math.sqrt(part["count"]) /', "1 /", ["too small: least noise"]),
    "the classic formula for noise": (
        'return moved * math.sqrt(part["count"]) / largest_mu(epsilon, delta)',
        "return moved * math.sqrt(2 * part['count'] * math.log(1.25 / delta)) / epsilon",
        ["too small and too large: least noise"],
    ),
    "runs for 2δ": (
        "allowed = (largest_mu(epsilon, delta)",
        "allowed = (largest_mu(epsilon, 2 * delta)",
        ["too large: largest number of runs"],
    ),
    "one run too many": (
        "return math.floor(",
        "return 1 + math.floor(",
        ["too large: largest number of runs"],
    ),
    "runs counted by the noise": (
        'part["sigma_float"]) ** 2\n',
        'part["sigma_float"])\n',
        ["too small: largest number of runs"],
    ),
    "twice ρ": (
        "** 2 / 2\n\n\n# --- the protocol",
        "** 2\n\n\n# --- the protocol",
        ["too large: ρ of zCDP"],
    ),
    "ρ without the runs": (
        "return mu_of(parts, group) ** 2 / 2",
        "return mu_of(parts, group) ** 2 / 2 / parts[0]['count']",
        ["too small: ρ of zCDP"],
    ),
    "μ² for μ": (
        'return {"value": mu_of(parts, group)}',
        'return {"value": mu_of(parts, group) ** 2}',
        ["too small and too large: μ of Gaussian DP"],
    ),
    "twice the advantage": (
        'return {"value": delta_of(mu_of(parts, group), 0.0)}',
        'return {"value": 2 * delta_of(mu_of(parts, group), 0.0)}',
        ["too large: advantage"],
    ),
    "a group of k as k runs": (
        "    return moved**2",
        "    return moved**2 / group",
        ["too small: groups of records"],
    ),
    "the sensitivity not squared": (
        "    return moved**2",
        "    return moved**2 / part.get('sensitivity_float', 1)",
        ["too small and too large: another sensitivity"],
    ),
    "a tree one level too low": (
        'return int(part["steps"]).bit_length()',
        "return max(1, int(part['steps']).bit_length() - 1)",
        ["too small: none: add/remove: TreeAggregation"],
    ),
    "rows for columns": (
        'zip(*part["strategy_float"], strict=True)',
        'part["strategy_float"]',
        ["too small and too large: none: add/remove: MatrixMechanism"],
    ),
    "the continuous law for the discrete one": (
        "    return (math.log1p(-t) - math.log1p(t) + total) / (alpha - 1)",
        "    lam, s = alpha - 1, moved / b\n"
        "    less = math.log1p(lam / alpha * math.exp(-(2 * alpha - 1) * s))\n"
        "    return s + (math.log(alpha / (2 * alpha - 1)) + less) / lam",
        ["too small: none: add/remove: DiscreteLaplace"],
    ),
    "orders sorted before they are answered": (
        'orders = ask["orders_float"]',
        'orders = sorted(ask["orders_float"])',
        ["too small and too large: several orders at once"],
    ),
    "the first order for all": (
        'orders = ask["orders_float"]',
        'orders = ask["orders_float"][:1] * len(ask["orders"])',
        ["too small and too large: several orders at once"],
    ),
}


@pytest.fixture(autouse=True)
def _one_oracle(monkeypatch):
    monkeypatch.setattr(session, "Oracle", lambda digits: ORACLE)


def report(text, folder):
    program = folder / "accountant.py"
    program.write_text(text, encoding="utf-8")
    return verify([sys.executable, str(program)], EXTENT)


def test_a_right_accountant_raises_no_alarm(tmp_path):
    found = report(CORRECT.read_text(encoding="utf-8"), tmp_path)
    assert found.counts == {}
    assert not found.cut
    assert found.judged > 0.98 * found.answered
    judged = {kind.name.split()[0]: kind.judged for kind in found.kinds}
    assert min(judged[kind] for kind in ("noise", "runs", "rho", "mu", "advantage")) > 4


#: One of each kind of question; the soak has all.
SHOWN = {
    "noise for 2δ": "noise",
    "noise for one run": "noise",
    "the classic formula for noise": "noise",
    "runs for 2δ": "runs",
    "one run too many": "runs",
    "runs counted by the noise": "runs",
    "twice ρ": "ρ",
    "ρ without the runs": "ρ",
    "orders sorted before they are answered": "batch",
    "the first order for all": "batch",
}


@covering(lambda name: {SHOWN.get(name, name)})
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_named(name, tmp_path):
    right = CORRECT.read_text(encoding="utf-8")
    old, new, causes = FAULTS[name]
    assert right.count(old) == 1
    found = report(right.replace(old, new), tmp_path)
    assert [defect.cause for defect in found.defects] == causes
    below = "too large" if "largest" in causes[0] else "too small"  # of runs too many
    assert found.unsound == any(below in cause for cause in causes)
    shown = found.defects[0].shown.ask
    assert len(shown.parts) == 1
    assert len(shown.orders or ()) <= 2


def test_noise_is_too_little_only_where_its_own_epsilon_is_too_much():
    ask = Ask("noise", (AskedPart("Gaussian", ()),), "1e-5", within="1")
    truth = ORACLE.truth(ask)
    assert (truth.lower, truth.upper) == (Fraction("3.730631"), Fraction("3.730632"))
    answers = (Fraction(1), truth.lower, truth.upper, Fraction(5))
    share = Fraction(1, 10**9)
    assert [ORACLE.overspent(ask, noise, share) for noise in answers] == [True, True, False, False]


def asked():
    """Questions of every kind, to the accountant that answers all of them."""
    done = subprocess.run(
        [sys.executable, str(CORRECT)],
        input=HELLO_LINE,
        capture_output=True,
        text=True,
        check=True,
    )
    hello = read_hello(read_object(done.stdout.encode()))
    return list(dict.fromkeys(covered(hello, EXTENT, 1)))


def test_a_report_keeps_every_question():
    asks = asked()
    assert {ask.kind for ask in asks} == set(KINDS) - {"rate"}  # tests/verify/test_largest.py
    assert any(ask.batch for ask in asks)
    for ask in asks:
        assert Ask.of(ask.kind, json.loads(json.dumps(ask.parameters()))) == ask


def test_the_expression_is_what_is_judged():
    curves = [ask for ask in asked() if ask.kind not in BUDGETED]
    assert {ask.group for ask in curves} == {1, 2, 3, 10}
    for ask in curves[::7]:
        stated = parse(ask.expression).rdp(3, digits=12)
        assert str(stated) == str(node(ask).rdp(3, digits=12)), ask.expression


def test_the_order_asked_for_is_one_of_the_batch():
    part = AskedPart("Gaussian", (("sigma", "1"),))
    row = Ask("rdp", (part,), "2", orders=("3", "2")).parameters()
    with pytest.raises(ValueError, match="one of the orders"):
        Ask.of("rdp", {**row, "alpha": "4"})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"mechanism": "TreeAggregation", "sampling": "poisson"}, "a stream that is not sampled"),
        ({"mechanism": "PureDP", "sensitivity": True}, "'sensitivity' of PureDP"),
        ({"mechanism": "Skellam", "asks": ["noise"]}, "'noise' of Skellam"),
    ],
)
def test_a_hello_that_offers_what_is_not_defined_is_told_so(row, said):
    with pytest.raises(ProtocolError, match=re.escape(said)):
        read_hello({"peer": "p", "supports": [row]})


def test_a_batch_is_answered_by_as_many_values():
    for row in ({"values": ["1"]}, {"value": "1"}, {"values": ["1", "2", "3"]}):
        with pytest.raises(ProtocolError, match="values"):
            read_answer({"id": Number("1"), **row}, 0.0, batch=2)
    with pytest.raises(ProtocolError, match="'value'"):
        read_answer({"id": Number("1"), "values": ["1", "2"]}, 0.0)
