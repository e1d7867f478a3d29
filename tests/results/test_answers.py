"""How an answer is laid out: titles, the width of a pipe, an ε that says nothing, ρ, silence."""

import io
import re
import threading
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import pytest
from click.testing import CliRunner

from symacct import PureDP, parse
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


def test_what_renyi_orders_give_stands_below_a_title_of_its_own():
    text = "100*PoissonSubsample(Gaussian(2), 1/100)"
    number = parse(text).epsilon("1e-5", 6, "improved").epsilon.rounded()
    report = parse(text).report("1e-5")
    for short in (str(report), report._repr_html_()):
        assert COMPARED not in short
        assert number not in short
    above, title, below = report.details().partition(COMPARED)
    assert title
    assert number not in above
    assert number in below
    assert COMPARED not in parse("ZCDP(1/100)").report("1e-5").details()


@pytest.mark.parametrize(("columns", "most"), [("", 100), ("70", 70), ("160", 160)])
@pytest.mark.parametrize(
    "words",
    [
        ["epsilon", "1000*PoissonSubsample(Gaussian(2), 1/100)", *_DELTA],
        ["compare", "PoissonSubsample(Gaussian(5), 1/100)", "--alpha", "8"],
    ],
    ids=["epsilon", "compare"],
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


@pytest.mark.parametrize(
    ("text", "rho"),
    [
        ("Gaussian(5)", Fraction(1, 50)),
        ("3*Gaussian(5) + ZCDP(1/100)", Fraction(7, 100)),
    ],
)
def test_rho_of_a_line_is_in_the_answer(text, rho):
    (shown,) = re.findall(r"ρ of zCDP +│ (\S+) ", asked("epsilon", text, *_DELTA, "--more"))
    assert Fraction(shown) == rho


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
    monkeypatch.setattr(module, "_QUIET_SECONDS", 0)
    monkeypatch.setattr(module, "_PACE_SECONDS", 0.001)
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
