"""What a statement and a message say, in the words that their readers use."""

import re
import shlex

import pytest
from click.testing import CliRunner

from symacct.cli import main
from symacct.papers.statement import FORMS
from tests.thinning import covering

RUN = ["dpsgd", "--n", "1000", "--batch-size", "10", "--epochs", "2", "--delta", "1e-5"]


def answer(*words):
    return CliRunner().invoke(main, words)


@covering()
@pytest.mark.parametrize("sampling", ["poisson", "without_replacement", "shuffled"])
@pytest.mark.parametrize("noise", ["1.1", "3/2", "2"])
def test_the_clipping_norm_is_mathematics_in_latex(sampling, noise):
    words = ["--noise-multiplier", noise, "--sampling", sampling, "--statement", "latex"]
    ended = answer(*RUN, *words)
    text = ended.stdout
    assert "norm of at most $C$," in text
    assert f"standard deviation ${noise} C$ was" in text
    assert not re.search(r"(?<![\w$ ])\s C\b(?!\$)", text)
    assert text.count("$") % 2 == 0


@pytest.mark.parametrize("form", FORMS)
def test_where_the_entries_of_cite_are_is_said_for_latex_alone(form):
    ended = answer("statement", "Gaussian(5)", "--delta", "1e-5", "--form", form)
    assert ("BibTeX" in ended.stderr) == (form == "latex")
    if form == "latex":
        [line] = [line for line in ended.stderr.splitlines() if "BibTeX" in line]
        command = shlex.split(line.partition(": symacct ")[2])
        entries = set(re.findall(r"^@\w+\{(\w+),", answer(*command).stdout, re.MULTILINE))
        assert set(re.findall(r"\\cite(?:\[\{.*?\}\])?\{(\w+)\}", ended.stdout)) == entries
