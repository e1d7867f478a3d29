"""The command line: each verb answers, in text or JSON; an input error is one line and status 2."""

import json
import pathlib
import re
import shlex
import subprocess
import sys
from fractions import Fraction

import pytest
from click.testing import CliRunner

import symacct
from symacct import parse
from symacct.cli import main
from symacct.text import parse_open
from tests.independent import fraction

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


def test_rdp_rounds_up_to_the_digits_asked():
    text = answered("rdp", EXPR, "--alpha", "8", "--alpha", "5/2", "--alpha", "inf")
    assert f" {NODE.rdp(8).rounded_up(6)} " in text
    assert f" {NODE.rdp('5/2').rounded_up(6)} " in text
    assert "inf" in text
    assert "= exact" in text


def test_rdp_rounds_bounds_in_their_safe_direction():
    upper = answered("rdp", EXPR, "--alpha", "8", "--by", "ZW19-T5", "--digits", "12")
    assert NODE.rdp(8, by="ZW19-T5", digits=12).rounded_up() in upper
    assert "↓ upper" in upper
    assert "ZW19-T5" in upper
    lower = answered("rdp", EXPR, "--alpha", "8", "--by", "ZW19-T6", "--digits", "12")
    assert NODE.rdp(8, by="ZW19-T6", digits=12).rounded_down() in lower
    assert "↑ lower" in lower
    assert NODE.lower_bound(8).rounded_down(6) in answered("rdp", EXPR, "--alpha", "8", "--lower")


def test_rdp_in_json_encloses_the_value():
    document = as_json("rdp", EXPR, "--alpha", "8", "--alpha", "9", "--digits", "50")
    assert [row["alpha"] for row in document] == ["8", "9"]
    answer = NODE.rdp(8, digits=50)
    assert Fraction(document[0]["lower"]) <= fraction(answer.lower)
    assert fraction(answer.upper) <= Fraction(document[0]["upper"])
    assert document[0]["certified"] is True
    assert document[0]["claim"]["kind"] == "exact"
    assert document[0]["claim"]["adjacency"] == "add_remove"


@pytest.mark.parametrize("engine", ["mpmath", "float64"])
def test_other_engines_say_that_they_prove_nothing(engine):
    text = answered("rdp", EXPR, "--alpha", "8", "--engine", engine)
    assert "not certified" in text
    document = as_json("rdp", EXPR, "--alpha", "8", "--engine", engine)
    assert document[0]["certified"] is False


def test_epsilon_rounds_up():
    text = answered("epsilon", EXPR, "--delta", "1e-8", "--digits", "12")
    guarantee = NODE.epsilon("1e-8", digits=12)
    assert guarantee.epsilon.rounded_up() in text
    assert "rounded up" in text
    assert "proved" in text
    document = as_json("epsilon", EXPR, "--delta", "1e-8", "--digits", "12")
    assert Fraction(document["epsilon"]["upper"]) >= fraction(guarantee.epsilon.upper)
    assert document["delta"] == "1/100000000"
    assert document["kind"] == "exact"


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


def test_delta_rounds_up():
    guarantee = NODE.delta("1/2", digits=12)
    assert guarantee.delta.rounded_up() in answered(
        "delta", EXPR, "--epsilon", "0.5", "--digits", "12"
    )
    document = as_json("delta", EXPR, "--epsilon", "1/2", "--digits", "12")
    assert document["epsilon"] == "1/2"
    assert Fraction(document["delta"]["upper"]) >= fraction(guarantee.delta.upper)


def test_compare_lists_every_theorem_lower_bounds_first():
    text = answered("compare", "PoissonSubsample(Gaussian(5), 1/1000)", "--alpha", "8")
    for name in ("ZW19-T5", "ZW19-T6", "ZW19-T8"):
        assert name in text
    document = as_json("compare", "PoissonSubsample(Gaussian(5), 1/1000)", "--alpha", "8")
    kinds = [row["kind"] for row in document[1:] if "value" in row["values"][0]]
    assert kinds == sorted(kinds, key=["lower", "exact", "upper"].index)
    assert len(kinds) >= 4
    assert document[0]["theorem"] == "default"


def test_explain_names_theorem_source_and_claim():
    text = answered("explain", EXPR)
    for words in ("Compose, 600000 runs", "600000 × PoissonSubsample", "Gaussian(5)", "theorem",
                  "add_remove"):  # fmt: skip
        assert words in text
    document = as_json("explain", EXPR, "--alpha", "5")
    assert document["theorem"] == "MIR17-P1"
    assert document["parts"][0]["count"] == 600_000
    assert document["parts"][0]["parts"][0]["node"] == "Gaussian(5)"


VERBS = ["rdp", "epsilon", "delta", "compare", "explain"]
NEEDED = {"rdp": ["--alpha", "8"], "epsilon": ["--delta", "1e-5"], "delta": ["--epsilon", "1"],
          "compare": ["--alpha", "8"], "explain": []}  # fmt: skip


WRONG = [
    "Gauss(5)", "Gaussian(-5)", "Gaussian(5", "", "__import__('os')", "Gaussian(1e999999999)", "5",
    "(" * 10_000, "PoissonSubsample(PureDP(1, 'replace_one'), 1/2)",
]  # fmt: skip


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
@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_wrong_option_is_one_line_and_status_2(arguments, json_wanted):
    refused(*arguments, *(["--json"] if json_wanted else []))


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


def test_an_option_says_the_same_in_every_verb():
    said = {"--by": set(), "--also": set(), "--ask": set(), "--digits": set()}
    for verb in main.list_commands():
        for parameter in main.get_command(None, verb).params:
            for name in said.keys() & set(parameter.opts):
                said[name].add(parameter.help)
    assert {name: len(texts) for name, texts in said.items()} == {
        "--by": 1,
        "--also": 1,
        "--ask": 1,
        "--digits": 3,  # of an enclosure both ends have them, a certificate has at most 12
    }


def test_the_version():
    assert symacct.__version__ in answered("--version")


def test_it_runs_as_a_module_and_digits_survive_a_pipe():
    result = subprocess.run(
        [sys.executable, "-m", "symacct", "rdp", EXPR, "--alpha", "8", "--digits", "150"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert NODE.rdp(8, digits=150).rounded_up() in result.stdout


def test_the_best_proved_number_is_first_and_by_orders_is_below_it():
    sampled = "40*PoissonSubsample(Gaussian(3), 1/10)"
    node = parse(sampled)
    for name, given, sign in (("epsilon", "1e-5", "ε"), ("delta", "1", "δ")):
        other = {"epsilon": "--delta", "delta": "--epsilon"}[name]
        true = getattr(getattr(node, name)(given, 6, "exact"), name)
        by_orders = getattr(getattr(node, name)(given, 6, "improved"), name)
        text = answered(name, sampled, other, given, "--more")
        first = text.splitlines()[1]
        assert re.match(
            rf"│ report this +│ {sign} = {true.rounded()} at . = {given}  \(round", first
        )
        below = text.partition("by Rényi orders, for comparison\n")[2]
        assert re.search(rf"│ {sign} +│ {by_orders.rounded()}  \([\d.]+ times the number", below)
        assert "adding or removing one record" in text
        assert "between" not in text
        document = as_json(name, sampled, other, given, "--more")
        assert document[name]["value"] == true.rounded()
        assert document["by_orders"][name]["value"] == by_orders.rounded()
        assert document["kind"] == "exact"
        assert "by_orders" not in as_json(name, sampled, other, given)


def test_what_is_pinned_is_the_headline_with_the_true_number_beside_it():
    sampled = "40*PoissonSubsample(Gaussian(3), 1/10)"
    by_orders = parse(sampled).epsilon("1e-5", 6, "improved").epsilon.rounded()
    for pin in (["--conversion", "improved"], ["--by", "MTZ19-EXACT"]):
        text = answered("epsilon", sampled, "--delta", "1e-5", *pin, "--more")
        assert f"ε = {by_orders} at" in text.splitlines()[1]
        assert re.search(r"exact +│ [\d.e-]+; the answer is [\d.]+ times that", text)
    alone = answered("epsilon", sampled, "--delta", "1e-5", "--conversion", "exact", "--more")
    assert "times" not in alone


def test_what_rényi_orders_do_not_answer_the_exact_profile_may():
    text = answered("epsilon", "ApproximateDP(1, 1/10)", "--delta", "1/10")
    assert "report this" in text
    for wrong in ("2", "-1", "x"):
        assert "DomainError: delta" in run("epsilon", "Gaussian(1)", "--delta", wrong).output


def test_a_parameter_is_found_by_the_best_that_is_proved():
    for sign, expression in ((-1, "Gaussian(s)"), (1, "9*PoissonSubsample(Gaussian(3), s)")):
        words = ("calibrate", expression, "--epsilon", "1", "--delta", "1e-5", "--digits", "3")
        shown = re.search(r"│ s +│ (\S+) meets the target, (\S+) does not", answered(*words))
        meets, fails = map(Fraction, shown.groups())
        nodes = [parse_open(expression).subs({"s": value}) for value in (meets, fails)]
        epsilons = [one.epsilon("1e-5", conversion="exact").epsilon for one in nodes]
        assert epsilons[0] <= 1 < epsilons[1]
        by_orders = as_json(*words, "--conversion", "improved")
        assert sign * meets > sign * Fraction(by_orders["meets"])
        assert Fraction(as_json(*words)["meets"]) == meets


def test_where_it_is_not_known_there_is_a_bracket():
    """Of a curve alone nothing is known from below, of a part that has laws something is."""
    text = run("epsilon", "Gaussian(1) + ZCDP(1/10)", "--delta", "1e-5", "--more").output
    assert re.search(r"true ε +│ between 4\.37717 and", text)
    assert re.search(r"│ ε +│ 5\.25217", text.partition("by Rényi orders, for comparison")[2])
    text = run("epsilon", "ZCDP(1/10)", "--delta", "1e-5", "--more").output
    assert "ZCDP fixes only a bound on the Rényi curve" in " ".join(text.split())
    assert not re.search(r"│ exact +│", text)
    assert "times that" not in text
    rows = json.loads(
        run("compare", "Gaussian(1) + ZCDP(1/10)", "--delta", "1e-5", "--json").output
    )
    known = [row for row in rows if "value" in row["epsilon"]]
    assert rows[: len(known)] == known
    *values, least = [float(row["epsilon"]["value"]) for row in known]
    assert known[-1]["conversion"] == "lower bound"
    assert values == sorted(values)
    assert least < values[0]


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
