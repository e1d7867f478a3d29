"""Reference tables: ends that enclose values found elsewhere; grids that do not fit say why."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from click.testing import CliRunner

import symacct
from symacct.cli import main
from symacct.explore.reference import reference_table
from symacct.kernel.errors import DomainError, LimitError


def run(*words: str):
    return CliRunner().invoke(main, ["reference", *words])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def laplace(b: Fraction, alpha: Fraction) -> mpmath.mpf:
    """Mironov 2017, Prop. 6, in mpmath."""
    with mpmath.workdps(80):
        a, r = (
            mpmath.mpf(alpha.numerator) / alpha.denominator,
            mpmath.mpf(b.denominator) / b.numerator,
        )
        moment = a / (2 * a - 1) * mpmath.exp((a - 1) * r)
        moment += (a - 1) / (2 * a - 1) * mpmath.exp(-a * r)
        return mpmath.log(moment) / (a - 1)


@pytest.mark.parametrize("digits", [1, 5, 50])
def test_ends_enclose_a_closed_form_and_differ_in_the_last_digit(digits):
    node = symacct.parse("Laplace(b)", ["b"])
    table = reference_table(node, {"b": ["1", "1/3"], "alpha": ["2", "5/2"]}, digits=digits)
    places = [(row["b"], row["alpha"]) for row in table.rows]
    assert places == [(b, alpha) for b in ("1", "1/3") for alpha in ("2", "5/2")]
    for row in table.rows:
        truth = Decimal(mpmath.nstr(laplace(Fraction(row["b"]), Fraction(row["alpha"])), 70))
        low, high = Decimal(row["lower"]), Decimal(row["upper"])
        assert low < truth < high
        # One unit in the last of the digits asked.
        assert high - low == Decimal(1).scaleb(truth.adjusted() - digits + 1)
        assert len(row["lower"].lstrip("0.").replace(".", "").partition("e")[0]) <= digits


def test_columns_stand_in_the_order_of_the_grid():
    node = symacct.parse("PoissonSubsample(Gaussian(sigma), gamma)", ["sigma", "gamma"])
    for names in (["sigma", "gamma"], ["gamma", "sigma"]):
        grid = {"alpha": ["2"], **{name: ["1/4", "1/2"] for name in names}}
        table = reference_table(node, grid, digits=3)
        assert table.axes == (*names, "alpha")
        assert [row[names[1]] for row in table.rows] == ["1/4", "1/2"] * 2


def test_exact_values_have_equal_ends():
    (row,) = reference_table(symacct.Gaussian(2), {"alpha": ["2"]}, digits=5).rows
    assert Decimal(row["lower"]) == Decimal(row["upper"]) == Decimal("0.25")


def test_epsilon_and_delta_enclose_each_other():
    node = symacct.parse("10 * PoissonSubsample(Gaussian(2), 1/100)")
    (row,) = reference_table(node, {"delta": ["1e-5"]}, "epsilon", 12, "improved").rows
    (back,) = reference_table(node, {"epsilon": [row["upper"]]}, "delta", 12, "improved").rows
    assert Decimal(back["lower"]) <= Decimal("1e-5")
    assert Decimal(back["upper"]) > Decimal("0.999999e-5")
    assert Fraction(row["order"]) > 1


def test_a_point_without_an_answer_is_a_row_with_an_error():
    good, bad = reference_table(symacct.Gaussian(2), {"alpha": ["2", "1/2"]}, digits=5).rows
    assert "error" not in good
    assert bad["error"].startswith("DomainError: order alpha")
    assert "lower" not in bad


@pytest.mark.parametrize(
    ("grid", "ask"),
    [
        ({"b": ["1"]}, "rdp"),
        ({"alpha": ["2"]}, "rdp"),
        ({"b": ["1"], "alpha": ["2"], "c": ["1"]}, "rdp"),
        ({"b": [], "alpha": ["2"]}, "rdp"),
        ({"b": ["1"], "alpha": ["2"]}, "epsilon"),
        ({"b": ["1"], "alpha": ["2"]}, "mu"),
    ],
)
def test_grids_that_do_not_fit_are_refused(grid, ask):
    with pytest.raises(DomainError, match=r"^(grid|ask|b): found"):
        reference_table(symacct.parse("Laplace(b)", ["b"]), grid, ask)


def test_grids_have_a_limit():
    with symacct.limits(points=3), pytest.raises(LimitError, match="points or entries: found 4"):
        reference_table(symacct.Gaussian(2), {"alpha": ["2", "3", "4", "5"]})


def test_command_prints_csv_and_writes_both(tmp_path):
    grid = ["Laplace(b)", "--grid", "b=1,2", "--grid", "alpha=2,3", "--digits", "20"]
    printed = run(*grid)
    files = [tmp_path / "t.csv", tmp_path / "t.json"]
    written = run(*grid, "--csv", str(files[0]), "--json", str(files[1]))
    assert (printed.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert files[0].read_text() == printed.stdout
    document = json.loads(files[1].read_text())
    assert document["expression"] == "Laplace(b)"
    assert document["digits"] == 20
    by_csv = [(row["b"], row["alpha"], row["lower"]) for row in rows_of(printed.stdout)]
    assert by_csv == [(row["b"], row["alpha"], row["lower"]) for row in document["rows"]]
    assert len(by_csv) == 4


@pytest.mark.parametrize(
    "words",
    [
        ["Gaussian(2)", "--grid", "sigma"],
        ["Gaussian(2)", "--grid", "sigma=1"],
        ["Gaussian(2)", "--ask", "epsilon"],
        ["Gaussian(2)", "--grid", "alpha=2", "--csv", "/no/where/t.csv"],
        ["Gaussian(2)", "--grid", "alpha=2.."],
        ["Gaussian(2)", "--grid", "alpha=2,nan"],
    ],
)
def test_bad_input_is_one_line(words):
    result = run(*words)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_table_with_an_error_in_a_cell_ends_with_1_and_says_so():
    """The rows that have an answer are printed all the same; ∞ and fractions are numbers."""
    result = run("Gaussian(b)", "--grid", "b=0,1/3", "--grid", "alpha=2,inf", "--digits", "5")
    assert result.exit_code == 1
    assert [row["lower"] for row in rows_of(result.stdout)] == ["", "", "9", "inf"]
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith("2 of 4 rows have an error in place of a value, such as DomainError: ")


def test_what_the_grid_does_not_name_has_common_values():
    said = CliRunner().invoke(main, ["reference", "Gaussian(5)", "--digits", "5"])
    assert said.exit_code == 0, said.output
    rows = said.output.splitlines()[1:]
    assert len(rows) == 12
    named = CliRunner().invoke(
        main, ["reference", "Gaussian(sigma)", "--grid", "sigma=5", "--digits", "5"]
    )
    assert [line.removeprefix("5,") for line in named.output.splitlines()[1:]] == rows
