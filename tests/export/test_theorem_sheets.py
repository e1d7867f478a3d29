"""What `symacct theorems NAME` says of a result: each command and each line of Python is run."""

import json
import re
import shlex
from dataclasses import replace

import pytest

import symacct as sa
from symacct import theorem, theorems
from symacct.export import theorem_sheets
from symacct.kernel.errors import DomainError
from symacct.theory import catalogue
from tests.cli.test_cli import run

ROWS = {row.call: row for row in catalogue.rows() if row.call}


@pytest.mark.parametrize("name", [one.name for one in theorems()])
def test_a_theorem_has_a_command_and_a_line_of_python_that_agree(name):
    sheet = theorem_sheets.sheet(ROWS[name])
    assert {"says", "assumes", "direction", "relation", "orders", "source", "proof"} <= set(sheet)
    words = shlex.split(sheet["command"])
    assert words[:2] == ["symacct", "rdp"]
    result = run(*words[1:], "--json")
    assert result.exit_code == 0, result.output
    (answer,) = json.loads(result.stdout)
    value = eval(sheet["Python"], {"sa": sa})  # noqa: S307  # a line of ours
    assert float(answer["upper"]) == pytest.approx(float(value.upper), rel=1e-6)
    assert name.partition(":")[0] in " ".join(answer["claim"]["theorems"])


@pytest.mark.parametrize("call", [call for call in ROWS if call.startswith("conversion:")])
def test_a_conversion_has_a_command_and_a_line_of_python_that_agree(call):
    sheet = theorem_sheets.sheet(ROWS[call])
    result = run(*shlex.split(sheet["command"])[1:], "--json")
    assert result.exit_code == 0
    value = eval(sheet["Python"], {"sa": sa})  # noqa: S307  # a line of ours
    assert value.conversion in (call.removeprefix("conversion:"), "total-variation")
    shown = json.loads(result.stdout)["epsilon"]["upper"]
    assert float(shown) == pytest.approx(float(value.epsilon.upper), rel=1e-6)


@pytest.mark.parametrize(
    "call", [call for call in ROWS if call.startswith("symacct.")], ids=lambda call: call[8:]
)
def test_another_call_has_a_line_of_python_that_runs(call, capsys):
    sheet = theorem_sheets.sheet(ROWS[call])
    assert "command" not in sheet
    exec(sheet["Python"], {"sa": sa})  # noqa: S102  # the example of its docstring
    capsys.readouterr()


def test_a_code_shows_the_whole_sheet():
    shown = " ".join(run("theorems", "zw19-t8").output.split())
    assert "condition 4" in shown
    assert "--by ZW19-T8" in shown
    (row,) = json.loads(run("theorems", "ZW19-T8", "--json").output)
    assert row["command"].startswith("symacct rdp")
    assert row["python"].startswith("sa.PoissonSubsample(")


@pytest.mark.parametrize(
    ("words", "call"),
    {
        "k-ary": "symacct.baselines.shuffled_responses",
        "shuffle": "symacct.baselines.shuffled",
        "randomised response": "symacct.baselines.shuffled_responses",
        "DP-FTRL": "symacct.band_mf",
        "local": "symacct.baselines.shuffled",
        "user-level": "GROUP-SENSITIVITY",
        "hyperparameter": "PS22-T2",
        "dpsgd": "MTZ19-EXACT",
        "f-dp": "symacct.Node.tradeoff",
    }.items(),
)  # fmt: skip
def test_words_of_the_field_find_what_is_called_otherwise(words, call):
    result = run("theorems", words, "--json")
    assert call in [row["call"] for row in json.loads(result.stdout)]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("words", "like"),
    [("suffled", "shuffled"), ("poisson xyzzyx", "poisson")],
)
def test_what_no_row_has_gives_the_nearest_and_a_note(words, like):
    result = run("theorems", words, "--json")
    assert result.stderr.startswith("Note: no result has")
    found = catalogue.about(words)
    assert [row["call"] for row in json.loads(result.stdout)] == [row.call for row in found]
    assert found
    assert all(like in row.text for row in found)


def test_what_is_like_nothing_is_refused():
    with pytest.raises(DomainError, match="needed a code, or words"):
        catalogue.about("xyzzyx")


UNPROVED = [row for row in catalogue.rows() if row.status != "proved"]


@pytest.mark.parametrize("row", UNPROVED, ids=lambda row: row.source)
def test_what_is_not_proved_is_no_guarantee_in_any_line(row):
    sheet = theorem_sheets.sheet(row)
    said = sheet.get("direction", "") + sheet["proof"]
    assert "guarantee" not in said
    assert "in the work itself" not in said
    assert ("refuted" if row.status == "refuted" else "not proved") in said + sheet["status"]
    assert sheet["proof"].startswith("none")
    assert "note" in sheet or "the note" not in sheet["proof"]
    assert ("--by" in sheet["status"]) == (row.call in {one.name for one in theorems()})


def test_the_witness_that_a_sheet_names_is_found():
    named = [
        theorem_sheets.sheet(row)["proof"].partition("symacct falsify ")[2] for row in UNPROVED
    ]
    assert "BLOG-C26" in named
    assert all(sa.falsify(name).refuted for name in named if name)


SIGNS = {"upper": "<=", "lower": ">=", "exact": "="}
SIGN = re.compile("<=|>=|[=≤≥]")


@pytest.mark.parametrize("theorem", theorems(), ids=lambda one: one.name)
def test_the_sign_of_a_theorem_is_that_of_its_kind(theorem):
    assert SIGN.search(theorem.statement)[0] == SIGNS[str(theorem.kind)]


@pytest.mark.parametrize("row", catalogue.rows(), ids=lambda row: f"{row.source}:{row.call}")
def test_no_row_of_a_bound_says_that_it_is_equal(row):
    """A row that begins with one letter or value and a sign has the sign of its kind."""
    begin = re.match(r"(?:\(α−1\) )?[εδ][′₁₂]?(?:\([αδ]\))? (<=|>=|=) ", row.says)
    assert begin is None or row.kind not in ("upper", "lower") or begin[1] == SIGNS[row.kind]


def test_a_formula_of_somebodys_own_has_the_sign_of_its_kind():
    def bound(ctx, eps, alpha, gamma):
        """ε′(α) = log(1 + γ(e^{ε(α)} − 1)), where 0 <= γ <= 1"""
        return eps(alpha)

    exact = theorem("ZW19-T8")
    for kind, sign in SIGNS.items():
        mine = replace(exact, bound=bound, kind=sa.Kind(kind)).statement
        assert mine == bound.__doc__.replace("=", sign, 1)
