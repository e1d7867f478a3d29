"""The command line: each verb answers, in text or JSON; an input error is one line and status 2."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

import symacct
from symacct import parse
from symacct.cli import main
from tests.thinning import covering

EXPR = "600000 * PoissonSubsample(Gaussian(5), 1/1000)"
NODE = parse(EXPR)


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def answered(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.exception is None
    return result.output


def as_json(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)  # a warning is on standard error


@pytest.mark.parametrize("engine", ["mpmath", "float64"])
def test_other_engines_say_that_they_prove_nothing(engine):
    text = answered("rdp", EXPR, "--alpha", "8", "--engine", engine)
    assert "not certified" in text
    document = as_json("rdp", EXPR, "--alpha", "8", "--engine", engine)
    assert document[0]["certified"] is False


def test_epsilon_takes_orders_conversion_and_theorem():
    arguments = ("epsilon", EXPR, "--delta", "1e-8", "--digits", "12")
    whole = as_json(*arguments, "--orders", "integer", "--conversion", "classic")
    wanted = NODE.epsilon("1e-8", digits=12, conversion="classic", orders="integer")
    stated = json.loads(json.dumps(wanted.as_dict()))
    assert {key: whole[key] for key in stated} == stated
    assert "by_orders" not in whole
    some = as_json(*arguments, "--orders", "2, 4,8.5,64")
    assert some["alpha"] in ("2", "4", "17/2", "64")
    by = as_json(*arguments, "--by", "ZW19-T5", "--orders", "integer")
    assert "ZW19-T5" in by["claim"]["theorems"]
    assert by["claim"]["kind"] == "upper"


VERBS = ["rdp", "epsilon", "delta", "compare", "explain"]
NEEDED = {"rdp": ["--alpha", "8"], "epsilon": ["--delta", "1e-5"], "delta": ["--epsilon", "1"],
          "compare": ["--alpha", "8"], "explain": []}  # fmt: skip


WRONG = [
    "Gauss(5)", "Gaussian(-5)", "Gaussian(5", "", "__import__('os')", "Gaussian(1e999999999)", "5",
    "(" * 10_000, "PoissonSubsample(PureDP(1, 'replace_one'), 1/2)",
]  # fmt: skip


@covering()
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("expr", WRONG, ids=range(len(WRONG)))
def test_a_wrong_expression_is_one_line_and_status_2(verb, expr):
    refused(verb, expr, *NEEDED[verb])


@pytest.mark.parametrize(
    "arguments",
    [
        ("rdp", EXPR, "--alpha", "0.5"),
        ("rdp", EXPR, "--alpha", "x"),
        ("rdp", EXPR, "--alpha", "nan"),
        ("rdp", EXPR, "--alpha", "2", "--by", "ZW19"),
        ("rdp", EXPR, "--alpha", "5/2", "--by", "ZW19-T8"),
        ("rdp", EXPR, "--alpha", "2", "--digits", "0"),
        ("rdp", EXPR, "--alpha", "2", "--digits", "1000000000"),
        ("rdp", "ZCDP(1)", "--alpha", "2", "--lower"),
        ("epsilon", EXPR, "--delta", "0"),
        ("epsilon", EXPR, "--delta", "1"),
        ("epsilon", EXPR, "--delta", "-1"),
        ("epsilon", EXPR, "--delta", "nan"),
        ("epsilon", EXPR, "--delta", "1e-5", "--conversion", "finest"),
        ("epsilon", EXPR, "--delta", "1e-5", "--orders", "x"),
        ("epsilon", EXPR, "--delta", "1e-5", "--orders", ""),
        ("epsilon", EXPR, "--delta", "1e-5", "--orders", "1"),
        ("epsilon", EXPR, "--delta", "1e-5", "--by", "ZW19-T6"),
        ("delta", EXPR, "--epsilon", "-1"),
        ("delta", EXPR, "--epsilon", "inf"),
        ("compare", EXPR, "--alpha", "0"),
        ("explain", EXPR, "--alpha", "0"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_one_line_and_status_2(arguments):
    refused(*arguments)


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert len(lines[0]) < 1000


@pytest.mark.parametrize(
    "arguments",
    [
        (), ("nonsense",), ("rdp",), ("rdp", EXPR), ("epsilon", EXPR), ("delta", EXPR),
        ("rdp", EXPR, "--alpha", "2", "--digits", "many"),
        ("rdp", EXPR, "--alpha", "2", "--engine", "fast"), ("rdp", EXPR, "--nonsense"),
        ("rdp", EXPR, "more", "--alpha", "2"),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_wrong_call_is_status_2_with_usage(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_every_verb_has_help(verb):
    for flag in ("-h", "--help"):
        text = answered(*([verb] if verb else []), flag)
        assert "Usage:" in text
        if verb:
            assert "EXPR says which mechanisms were run" in text


def examples_in_the_help(verb):
    """The command lines after "Example:" in the help, as a shell reads them."""
    (_, examples) = re.split(r"Examples?:\n", main.get_command(None, verb).epilog)
    lines = examples.split("\n\n")[0].replace("\\\n", " ").strip().split("\n")
    return [shlex.split(one) for one in lines]


@pytest.mark.parametrize("verb", main.list_commands())
def test_the_examples_in_the_help_work(verb, tmp_path, monkeypatch):
    papers = pathlib.Path("examples/papers.csv").read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "papers.csv").write_bytes(papers)
    for program, *words in examples_in_the_help(verb):
        assert (program, words[0]) == ("symacct", verb)
        if verb == "verify":  # installs a package: its options are what can be asked here
            main.get_command(None, verb).make_context(verb, words[1:])
            continue
        done = run(*words)
        # One of the numbers in examples/papers.csv is wrong in print.
        assert done.exit_code == (1 if "examples/papers.csv" in words else 0), done.output
        assert done.output or "--out" in words


def test_the_version():
    assert symacct.__version__ in answered("--version")


def test_it_runs_as_a_module_and_digits_survive_a_pipe():
    result = subprocess.run(
        [sys.executable, "-m", "symacct", "rdp", EXPR, "--alpha", "8", "--digits", "150"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert NODE.rdp(8, digits=150).rounded_up() in result.stdout


def test_where_it_is_not_known_there_is_a_bracket():
    """Nothing is known of a curve alone from below, and something of a part that has laws."""
    text = run("epsilon", "Gaussian(1) + ZCDP(1/10)", "--delta", "1e-5", "--more").output
    assert re.search(r"true ε +│ between 4\.37717 and", text)
    assert re.search(r"│ ε +│ 5\.25217", text.partition("by Rényi orders, for comparison")[2])
    text = run("epsilon", "ZCDP(1/10)", "--delta", "1e-5", "--more").output
    assert "ZCDP fixes only a bound on the Rényi curve" in " ".join(text.split())
    assert not re.search(r"│ exact +│", text)


def values(document):
    """The values of the answers in a JSON document, in their order."""
    for key, inside in document.items():
        if key == "value":
            yield inside
        elif isinstance(inside, dict) and key != "by_orders":
            yield from values(inside)


RUN = ["--n", "60000", "--batch-size", "256", "--epochs", "1", "--delta", "1e-5"]
REPORTING = [
    ["epsilon", "Gaussian(5)", "--delta", "1e-5"],
    ["delta", "Gaussian(5)", "--epsilon", "1"],
    ["dpsgd", *RUN, "--noise-multiplier", "1"],
    ["calibrate", "Gaussian(sigma)", "--epsilon", "1", "--delta", "1e-5"],
    ["sweep", "Gaussian(sigma)", "--over", "sigma=2", "--over", "delta=1e-5"],
]


@pytest.mark.parametrize("words", REPORTING, ids=lambda words: words[0])
@pytest.mark.parametrize("pinned", [[], ["--conversion", "improved"], ["--conversion", "best"]])
def test_the_first_number_of_a_json_document_is_the_one_to_report(words, pinned):
    shown = answered(*words, *pinned)
    document = as_json(*words, *pinned)
    [document] = document if isinstance(document, list) else [document]
    first, *others = values(document)
    assert re.search(rf"(report this +│ . = |│ ){re.escape(first)} ", shown)
    assert all(one == first for one in others)
