"""What `symacct certificate` writes by default: the number to report, or a note of why not."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from symacct import parse
from symacct.cli import main
from symacct.kernel.accountant import asked_of
from tests.thinning import covering

CHECKER = Path(__file__).parents[2] / "checker" / "check.py"


def checked(file):
    ended = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(file)], capture_output=True, text=True, timeout=600
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("Gaussian(5)", ""),
        ("20*RandomizedResponse(3/4)", ""),
        ("10*Laplace(3)", "by the exact profile"),
        ("ZCDP(1/10)", ""),
    ],
)
@covering()
@pytest.mark.parametrize("asked", [("--delta", "1e-5"), ("--epsilon", "1/2")])
def test_the_headline_is_certified_or_a_note_says_why_not(expression, why, asked, tmp_path):
    file = tmp_path / "run.json"
    ended = CliRunner().invoke(main, ["certificate", expression, *asked, "--out", str(file)])
    assert ended.exit_code == 0, ended.stderr
    found = asked_of(parse(expression), digits=6, **{asked[0].strip("-"): asked[1]})
    document = json.loads(file.read_text(encoding="utf-8"))
    how = {"conversion": "improved"} if why else {}
    answer = asked_of(parse(expression), digits=6, **how, **{asked[0].strip("-"): asked[1]})
    claimed = document["epsilon" if asked[0] == "--delta" else "delta"]
    assert Fraction(claimed) == Fraction(answer.asked.rounded())
    assert ("Note: this certifies" in ended.stderr) == bool(why)
    if why:
        assert why in ended.stderr
        assert f"and not the {found.asked.rounded()} to report" in ended.stderr
    status, said = checked(file)
    assert (status, said.split(":")[0]) == (0, "proved")


def test_coq_has_the_number_by_orders_and_a_note():
    words = ["certificate", "Gaussian(5)", "--delta", "1e-5", "--form", "coq"]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 0
    assert "this certifies ε = 0.794315 by Rényi orders, and not the 0.725522" in ended.stderr


def said_of(tmp_path, **altered):
    """What the checker says of a certificate of which fields were altered."""
    document = json.loads((CHECKER.parent / "examples" / "laplace_fixed_size.json").read_text())
    file = tmp_path / "altered.json"
    file.write_text(json.dumps(document | altered))
    return subprocess.run([sys.executable, CHECKER, file], capture_output=True, text=True).stdout


@pytest.mark.parametrize("number", ["367267/500000", "734535/1000000", "07/10", "0.7", 1])
def test_the_checker_says_what_is_wrong_with_a_number(tmp_path, number):
    said = said_of(tmp_path, epsilon=number)
    if isinstance(number, str) and re.fullmatch("[1-9][0-9]*/[1-9][0-9]*", number):
        lowest = str(Fraction(number)) == number
        assert lowest or said == f"refuted: {number} is not in lowest terms\n"
    else:
        assert said == "refuted: no text p/q\n"


@pytest.mark.parametrize("more", [0, Fraction(1, 10**30)])
def test_the_checker_prints_the_claim_in_decimals_and_rounds_up(tmp_path, more):
    epsilon = Fraction(367267, 500000) + more
    said = said_of(tmp_path, epsilon=str(epsilon))
    printed, delta = re.search(r" is \(([\d.]+), ([\d.]+)\)-diff", said).groups()
    assert (Fraction(delta), len(printed) <= 14) == (Fraction(1, 10**6), True)
    assert 0 <= Fraction(printed) - epsilon < Fraction(1, 10**11)
    assert more or Fraction(printed) == epsilon
