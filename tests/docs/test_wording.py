"""What a statement and a message say, in the words that their readers use."""

import re
import shlex

import click
import pytest
import sympy
from click.testing import CliRunner

from symacct import DistributionPair, DomainError, FiniteMechanism, Gaussian, laws
from symacct.cli import main
from symacct.export.description import describe
from symacct.papers.statement import FORMS
from tests.command_lines import GOOD

RUN = ["dpsgd", "--n", "1000", "--batch-size", "10", "--epochs", "2", "--delta", "1e-5"]


def answer(*words):
    return CliRunner().invoke(main, words)


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


def test_a_statement_says_what_the_number_is_before_rounding():
    exact, upper = Gaussian(5).epsilon("1e-5"), Gaussian(5).epsilon("1e-5", 6, "improved")
    assert "before rounding it is the smallest ε that is true." in exact.statement()
    assert "an upper bound on the smallest ε that is true." in upper.statement()
    assert "the smallest δ that is true." in Gaussian(5).report(epsilon=1).guarantee.statement()


@pytest.mark.parametrize(
    ("delta", "said"), [("1/1000", "about 1 record."), ("1/500", "2 records.")]
)
def test_one_record_is_no_records(delta, said):
    words = [*RUN[:-1], delta, "--noise-multiplier", "2"]
    assert said in " ".join(re.sub("[│─]", " ", answer(*words).output).split())


CHOICES = [
    (name, option, str(choice))
    for name in GOOD
    for option in main.get_command(None, name).params
    if isinstance(option, click.Option) and isinstance(option.type, click.Choice)
    for choice in option.type.choices
    if len(str(choice)) > 3
]


@pytest.mark.parametrize(("name", "option", "choice"), CHOICES, ids=str)
def test_a_misspelt_choice_is_told_all_that_there_are(name, option, choice):
    good = GOOD[name]
    ended = answer(name, *good, option.opts[0], choice[:-1])
    assert ended.exit_code == 2
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    assert f"'{choice[:-1]}' is not one of" in line
    assert all(f"'{one}'" in line for one in option.type.choices)


DENSITY = "exp(-Abs(x))/2"
GIVEN = sympy.exp(-sympy.Symbol("x"))


@pytest.mark.parametrize(
    ("P", "Q", "place"),
    [
        (DENSITY, DENSITY, "P"),
        (["1/2", "1/2"], DENSITY, "Q"),
        (GIVEN, [1], "P"),
    ],
)
def test_a_density_without_its_law_is_told_how_it_is_written(P, Q, place):  # noqa: N803
    with pytest.raises(DomainError, match=rf"^DistributionPair, {place}: .*laws\.Density\('exp"):
        DistributionPair(P, Q)


def test_a_pair_of_densities_is_said_in_few_words():
    m = DistributionPair(laws.Density(DENSITY), laws.Density("1/2", cuts=[-1, 1]))
    assert describe(m) == (
        "a mechanism whose answer is distributed as the law of density e^(-|x|)/2 on one of two "
        "neighbouring datasets and as the law of density 1/2 for -1 < x < 1 on the other, "
        "in either order"
    )


def test_laws_are_not_parameters_in_the_relation():
    m = FiniteMechanism([["1/2", "1/2"], ["1/4", "3/4"]])
    assert "whichever the mechanism's laws were stated for" in " ".join(
        str(m.report("1e-5")).split()
    )
    assert "laws were stated for" in m.statement("1e-5")
