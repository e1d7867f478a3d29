"""How an answer is laid out: titles, the width of a pipe, an ε that says nothing, ρ, silence."""

import io
import json
import math
import re
import subprocess
import sys
import threading
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest
from click.testing import CliRunner

from symacct import DomainError, Gaussian, PureDP, parse
from symacct.cli import main
from symacct.kernel import deadline as module
from symacct.kernel.deadline import progress
from symacct.papers.report import COMPARED

_DELTA = ("--delta", "1e-5")


def asked(*arguments: str, **environment: str) -> str:
    """What a command prints, without its notes."""
    run = CliRunner(env=environment).invoke(main, arguments)
    assert run.exit_code == 0, run.output
    return run.stdout


@pytest.mark.parametrize("text", ["Gaussian(5)", "100*PoissonSubsample(Gaussian(2), 1/100)"])
def test_what_renyi_orders_give_stands_below_a_title_of_its_own(text):
    number = parse(text).epsilon("1e-5", 6, "improved").epsilon.rounded()
    shown, report = asked("epsilon", text, *_DELTA, "--more"), parse(text).report("1e-5")
    for short in (asked("epsilon", text, *_DELTA), str(report), report._repr_html_()):
        assert COMPARED not in short
        assert number not in short
    for whole in (shown, report.details()):
        above, title, below = whole.partition(COMPARED)
        assert title
        assert number not in above
        assert number in below
        assert "order α" not in above
        assert "order α" in below


def test_what_is_by_renyi_orders_itself_is_not_compared_with_them():
    assert COMPARED not in asked("epsilon", "ZCDP(1/100)", *_DELTA, "--more")
    assert COMPARED not in parse("ZCDP(1/100)").report("1e-5").details()


def test_the_true_number_says_that_no_smaller_one_is():
    assert "No smaller ε is true" in asked("epsilon", "Gaussian(5)", *_DELTA)
    assert "No smaller δ is true" in asked("delta", "Gaussian(5)", "--epsilon", "1")
    assert "No smaller" not in asked("epsilon", "ZCDP(1/100)", *_DELTA)


@pytest.mark.parametrize(("columns", "most"), [("", 100), ("70", 70), ("160", 160)])
@pytest.mark.parametrize(
    "words",
    [
        ["epsilon", "1000*PoissonSubsample(Gaussian(2), 1/100)", *_DELTA],
        ["compare", "PoissonSubsample(Gaussian(5), 1/100)", "--alpha", "8"],
        ["dpsgd", "--n", "60000", "--batch-size", "256", "--noise-multiplier", "1.1", "--epochs",
         "15", *_DELTA],
    ],
    ids=["epsilon", "compare", "dpsgd"],
)  # fmt: skip
def test_a_table_in_a_pipe_is_as_wide_as_a_page(words, columns, most):
    lines = [line for line in asked(*words, COLUMNS=columns).splitlines() if line[:1] in "┌│├└┃"]
    assert lines
    assert max(map(len, lines)) <= most


@pytest.mark.parametrize("epsilon", [23, "23.1", 24, 700, 10**6])
def test_an_epsilon_that_says_next_to_nothing_says_so(epsilon):
    """The power is true: 10^power < e^ε < 10^(power+1), and from 10 on it is said."""
    report = PureDP(epsilon).report(0)
    with mpmath.workdps(60):
        power = int(mpmath.floor(mpmath.mpf(str(epsilon)) / mpmath.log(10)))
    assert bool(report.large_epsilon) == (power >= 10)
    if power >= 10:
        assert f"e^ε is above 10^{power}:" in report.large_epsilon
        assert report.as_dict()["large_epsilon"] == report.large_epsilon
        assert "next to nothing" in " ".join(str(report).split())


def test_an_epsilon_that_was_asked_about_is_no_answer():
    assert Gaussian(5).report(epsilon=40).large_epsilon == ""


def test_the_note_of_a_huge_epsilon_is_beside_a_statement_too():
    run = CliRunner().invoke(main, ["statement", "Gaussian(1/550)", *_DELTA])
    assert "e^ε is above 10^66705" in run.stderr
    assert "next to nothing" not in run.stdout


@pytest.mark.parametrize(
    ("text", "rho"),
    [
        ("Gaussian(5)", Fraction(1, 50)),
        ("ZCDP(1/100)", Fraction(1, 100)),
        ("3*Gaussian(5) + ZCDP(1/100)", Fraction(7, 100)),
        ("Gaussian(5, 2)", Fraction(4, 50)),
    ],
)
def test_rho_of_a_line_is_in_the_answer(text, rho):
    (shown,) = re.findall(r"ρ of zCDP +│ (\S+) ", asked("epsilon", text, *_DELTA, "--more"))
    assert Fraction(shown) == rho
    (shown,) = re.findall(r"ρ of zCDP +│ (\S+) ", asked("risk", text))
    assert Fraction(shown) == rho


def test_rho_is_not_searched_for_beside_an_answer():
    text = "100*PoissonSubsample(Gaussian(2), 1/100)"
    assert "ρ of zCDP" not in asked("epsilon", text, *_DELTA, "--more")
    assert "ρ of zCDP" not in parse(text).report("1e-5").details()


@pytest.mark.parametrize(
    "text",
    ["RandomizedResponse.of_epsilon(1, k)", "TreeAggregation(2, k)", "DiscreteGaussian(2, k)"],
)
def test_a_whole_number_without_a_value_is_refused_with_a_remedy(text):
    with pytest.raises(DomainError, match=r"parameter without a value.*one expression for each"):
        parse(text, symbols=["k"])


def test_explain_says_why_it_is_about_order_2():
    explained = str(Gaussian(5).explain())
    assert "at order 2, the first whole one, because nothing was asked" in explained
    assert "because" not in str(Gaussian(5).explain(2))


@pytest.fixture
def pipe(monkeypatch):
    """Standard error in a pipe, and what shows progress without its patience."""
    screen, seen = io.StringIO(), threading.Event()
    stream = SimpleNamespace(
        write=lambda text: (screen.write(text), seen.set()), flush=lambda: None,
        isatty=lambda: False, getvalue=screen.getvalue,
    )  # fmt: skip
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream, modules={}))
    monkeypatch.setattr(module, "_in_a_pipe", module._Pipe())
    monkeypatch.setattr(module, "_QUIET", 0)
    monkeypatch.setattr(module, "_PACE", 0.001)
    return stream, seen


def test_in_a_pipe_one_line_says_what_takes_so_long(pipe):
    stream, seen = pipe
    for _ in range(2):
        with progress("outside", piped=True), progress("inside"):
            assert seen.wait(10)
    assert re.fullmatch(r"outside: 0 s\n+", stream.getvalue())


def test_what_no_person_waits_for_is_silent_in_a_pipe(pipe):
    stream, seen = pipe
    with progress("outside"):
        assert not seen.wait(0.05)
    assert stream.getvalue() == ""


def test_the_number_to_report_is_looked_for_aloud():
    """In a process of its own, whose patience is nothing, by a command and by Python."""
    ask = (
        "import sys; from symacct.kernel import deadline; deadline._QUIET = 0; "
        "deadline._PACE = .001; from symacct.cli import main; import symacct; "
    )
    text = "100*PoissonSubsample(Gaussian(2), 1/100)"
    asked = [
        f"main.main({['epsilon', text, *_DELTA]!r}, standalone_mode=False)",
        f"symacct.parse({text!r}).statement('1e-5')",
    ]
    for question in asked:
        run = subprocess.run(
            [sys.executable, "-c", ask + question], capture_output=True, text=True, check=True
        )
        told = "looking for the smallest number proved in 5 s"
        assert run.stderr.count(told) == 1


def test_json_has_no_width(tmp_path):
    found = json.loads(asked("epsilon", "Gaussian(5)", *_DELTA, "--json"))
    assert math.isclose(float(found["epsilon"]["value"]), 0.725522)


def test_no_delta_is_refused_once_where_expressions_are_compared():
    run = CliRunner().invoke(main, ["compare", "Gaussian(1)", "--delta", "2"])
    assert run.exit_code == 2
    assert run.output.count("found '2', needed 0 <= delta < 1") == 1


def test_a_comparison_without_an_answer_is_no_empty_table():
    shown = asked("compare", "Gaussian(1)", "--delta", "0")
    assert "has no answer" in shown
    assert "┃" not in shown


def test_a_sweep_names_the_conversion_of_each_number():
    words = ("sweep", "ZCDP(rho)", "--over", "rho=1/100", "--over", "delta=1e-5")
    assert "order 29.5 by the mechanism's own curve, optimal conversion" in asked(
        *words, COLUMNS="160"
    )
