"""Euler's number in what people read: SymPy's E is on no screen, in no text and in no document."""

import re

import pytest
import sympy
from click.testing import CliRunner

from symacct import Compose, Either, RandomizedResponse
from symacct.cli import main
from symacct.export.description import describe
from tests.command_lines import FINDING, GOOD
from tests.thinning import covering

WITH_E = [
    "RandomizedResponse.of_epsilon(1, k=4)",
    "RandomizedResponse.of_epsilon(1/2)",
    "Gaussian(exp(1))",
    "Gaussian(exp(1)*sigma)",
    "RandomizedResponse.of_epsilon(epsilon_0, k=3)",
    "Either(Gaussian(exp(2)), RandomizedResponse.of_epsilon(1), exp(1)/4)",
    "Gaussian(exp(1), sensitivity=exp(1)-exp(2))",
]
#: The letter alone; an author's initial has a full stop.
LETTER = re.compile(r"(?<![\w\\'])E(?![\w.'])")
#: Beside the good command line, what else is written of an expression.
MORE = {
    "statement": [["--form", "latex"], ["--form", "markdown"], ["--form", "short"]],
    "latex": [["--document"], ["--document", "--delta", "1e-5"]],
    "certificate": [["--form", "coq"]],
    "graph": [["--form", "mermaid"], ["--form", "dot"]],
    "explain": [["--delta", "1e-5"]],
    "compare": [["--delta", "1e-5"]],
    "cite": [["--delta", "1e-5"]],
}


def lines():
    """Every good command line of an expression, and of what is written of one."""
    for name, (*words,) in GOOD.items():
        if words and not words[0].startswith("--") and name not in (*FINDING, "falsify"):
            yield from ([name, *words, *more] for more in [[], ["--json"], *MORE.get(name, [])])


@covering()
@pytest.mark.parametrize("expression", WITH_E)
@pytest.mark.parametrize("line", list(lines()), ids=" ".join)
def test_no_output_has_the_letter_of_another_program(line, expression, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, _, *options = line
    ended = CliRunner().invoke(main, [name, expression, *options])
    assert ended.exit_code in (0, 2)
    assert ended.output
    assert not LETTER.search(ended.output)


@pytest.mark.parametrize(
    ("odds", "share", "answers"), [(3, "1/3", 4), (3, "1/7", None), (5, "3/9", 5), (1, "1/2", 4)]
)
def test_a_coin_before_one_bit_is_described_as_the_answers_that_it_stands_for(odds, share, answers):
    m = Either(Compose(), RandomizedResponse(sympy.Rational(odds, odds + 1)), share)
    said = describe(m)
    if answers is None:
        assert said.startswith("no mechanism at all with probability ")
    else:
        assert said.startswith(f"randomized response with {answers} answers ")
