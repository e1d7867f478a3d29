"""What `symacct certificate` writes by default: the number to report, or a note of why not."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from symacct import parse
from symacct.accountant.accountant import asked_of
from symacct.cli import main

CHECKER = Path(__file__).parents[1] / "checker" / "check.py"


def checked(file):
    ended = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(file)], capture_output=True, text=True, timeout=60
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("Gaussian(5)", ""),
        ("20*RandomizedResponse(3/4)", ""),
        ("30*PoissonSubsample(Gaussian(2), 1/10)", ""),
        ("10*Laplace(3)", "by the exact profile"),
        ("ZCDP(1/10)", ""),
    ],
)
@pytest.mark.parametrize("asked", [("--delta", "1e-5"), ("--epsilon", "1/2")])
def test_the_headline_is_certified_or_a_note_says_why_not(expression, why, asked, tmp_path):
    file = tmp_path / "run.json"
    ended = CliRunner().invoke(main, ["certificate", expression, *asked, "--out", str(file)])
    assert ended.exit_code == 0, ended.stderr
    found = asked_of(parse(expression), digits=6, **{asked[0].strip("-"): asked[1]})
    document = json.loads(file.read_text(encoding="utf-8"))
    answer = found.by_orders if why else found.best
    claimed = document["epsilon" if asked[0] == "--delta" else "delta"]
    assert Fraction(claimed) == Fraction(answer.asked.rounded())
    assert ("Note: this certifies" in ended.stderr) == bool(why)
    if why:
        assert why in ended.stderr
        assert f"and not the {found.best.asked.rounded()} to report" in ended.stderr
    status, said = checked(file)
    assert (status, said.split(":")[0]) == (0, "proved")


def test_a_conversion_that_is_pinned_is_the_one(tmp_path):
    words = ["certificate", "Gaussian(5)", "--delta", "1e-5", "--conversion", "improved"]
    ended = CliRunner().invoke(main, words)
    assert json.loads(ended.stdout)["epsilon"] == "158863/200000"
    assert ended.stderr == ""


def test_coq_has_the_number_by_orders_and_a_note():
    words = ["certificate", "Gaussian(5)", "--delta", "1e-5", "--form", "coq"]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 0
    assert "this certifies ε = 0.794315 by Rényi orders, and not the 0.725522" in ended.stderr


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["one", "two"]])
def test_the_checker_says_how_it_is_used(words):
    ended = subprocess.run([sys.executable, CHECKER, *words], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stdout.startswith("cannot check: usage: python check.py FILE")
    assert ended.stderr == ""


def test_the_checker_is_one_short_file_of_the_standard_library():
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    imported = {
        line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))
    }
    assert imported <= sys.stdlib_module_names
