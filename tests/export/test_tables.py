"""Tables and figures: every printed number is sound as printed."""

import csv
import io
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    Curve,
    DomainError,
    Gaussian,
    Kind,
    Laplace,
    OrderError,
    PoissonSubsample,
    PrecisionError,
    SymacctError,
    parse,
)
from symacct.cli import main
from symacct.export.figures import FORMATS, figure, matplotlib_module, save
from symacct.export.tables import siunitx_format, table
from tests import independent, support

STEP = parse("PoissonSubsample(Gaussian(5), 1/1000)")
ORDERS = [1, 2, "5/2", 8, 1000, "inf"]


def printed_in(tex):
    """The rows of the tabular, cell by cell."""
    body = tex.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [line.removesuffix(r" \\").split(" & ") for line in body.splitlines()]


@given(st.one_of(*support.LEAVES.values()), st.integers(1, 12), st.integers(2, 40))
def test_an_upper_bound_is_rounded_up_by_less_than_one_digit(m, digits, alpha):
    found = table(m, [alpha], digits)
    ((_, text),) = printed_in(found.latex())
    ((cell,),) = (column.cells for column in found.columns)
    if text == r"{$\infty$}":
        assert cell.value.upper == float("inf")
        return
    printed, low = Fraction(Decimal(text)), independent.fraction(cell.value.lower)
    try:
        exact = m.formula(alpha)
    except SymacctError:
        exact = None  # a Python function
    if exact is not None and exact.is_Rational:
        assert printed >= Fraction(int(exact.p), int(exact.q))
    else:
        assert printed >= independent.fraction(cell.value.upper)
    if printed:
        unit = Fraction(10) ** (Decimal(text).adjusted() - digits + 1)
        assert printed - low <= unit + abs(low) / 10 ** (digits + 2)


def test_a_lower_bound_is_rounded_down():
    upper, lower = table(STEP, [8], 4, ["ZW19-T5", "ZW19-T6"]).columns
    assert upper.cells[0].text == "1.813e-7"  # 1.81258…
    assert lower.cells[0].text == "1.632e-7"  # 1.63283…
    assert lower.cells[0].value.claim.kind is Kind.LOWER


def test_a_rational_value_is_printed_as_it_is():
    """Balls do not show that 1/25 is 0.04; its formula does."""
    assert [cell.text for cell in table(Gaussian(5), [2, 8]).columns[0].cells] == ["0.04", "0.16"]
    third = table(parse("ZCDP(1/3)"), [1, 3, 4], 3).columns[0].cells
    assert [cell.text for cell in third] == ["0.334", "1", "1.34"]
    tiny = table(Gaussian(50_000), [7], 3).columns[0].cells
    assert tiny[0].text == "1.4e-9"


def test_latex_for_booktabs_and_siunitx():
    tex = table(STEP, ORDERS, 4, ["ZW19-T5", "VEH14-T13"]).latex("100 % & more", "tab:x")
    assert r"\caption{100 {\%} {\&} more}" in tex
    assert r"\label{tab:x}" in tex
    assert r"\begin{tabular}{l S[table-format=1.3e-1] S[table-format=2.2]}" in tex
    assert printed_in(tex) == [
        ["1", "{--}", "0.02"],
        ["2", "4.082e-8", "0.04"],
        ["$5/2$", "{--}", "0.05"],
        ["8", "1.813e-7", "0.16"],
        ["1000", "1.309e1", "20"],
        [r"$\infty$", "{--}", r"{$\infty$}"],
    ]


def test_the_caption_says_how_numbers_are_rounded():
    for by, end in (
        ([], "rounded up."),
        (["ZW19-T6"], "rounded down."),
        (["ZW19-T6", "ZW19-T5"], "rounded up, that of lower bounds down."),
    ):
        assert table(STEP, [2], by=by).caption().endswith(end)
    trusted = table(Curve(lambda alpha: alpha / 9, kind="upper", adjacency="either"), [2])
    assert "Not certified" in trusted.caption()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(["1.25", "0.5"], "1.2"), (["12", "1.5e-8"], "2.1e-1"), (["inf"], "1.0"), (["3e12"], "1.0e2")],
)
def test_the_table_format_is_wide_enough(cells, expected):
    assert siunitx_format(cells) == expected


def test_csv_has_a_line_for_each_number():
    rows = list(csv.DictReader(io.StringIO(table(STEP, ORDERS, 8, ["ZW19-T5", "ZW19-T6"]).csv())))
    assert [row["alpha"] for row in rows] == ["2", "8", "1000"] * 2
    for row in rows:
        answer = STEP.rdp(int(row["alpha"]), by=row["bound"])
        down = row["rounded"] == "down"
        assert row["epsilon"] == (answer.rounded_down(8) if down else answer.rounded_up(8))
        assert row["kind"] == str(answer.claim.kind)
        assert row["certified"] == "True"


def test_bad_input_to_a_table():
    for m, alphas, more, error in (
        (STEP, [], {}, DomainError),
        (STEP, "2,4", {}, DomainError),
        (STEP, 3, {}, DomainError),
        (parse("Gaussian(sigma)", ["sigma"]), [2], {}, DomainError),
        (STEP, [2], {"by": "ZW19-T5"}, DomainError),
        (STEP, [2], {"by": ["ZW19-T99"]}, DomainError),
        (STEP, ["5/2"], {"by": ["ZW19-T5"]}, OrderError),
        (STEP, [2], {"digits": 0}, PrecisionError),
    ):
        with pytest.raises(error):
            table(m, alphas, **more)
    with pytest.raises(DomainError, match="label"):
        table(STEP, [2]).latex(label=r"}\input{x}")


# --- figures


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_figure_is_saved_by_its_suffix(suffix, tmp_path):
    drawn = figure(table(STEP, [2, "5/2", 8, "inf"], 6, ["ZW19-T5", "VEH14-T13"]))
    try:
        path = save(drawn, tmp_path / f"curves.{suffix}")
    except DomainError as error:
        if suffix != "pgf":
            raise
        pytest.skip(f"here is no LaTeX that works: {error}")
    assert path.stat().st_size > 1000
    if suffix == "pgf":
        assert path.read_text().startswith(r"\providecommand{\mathdefault}")


#: What may be called pdflatex; the missing package is said as LaTeX says it.
BROKEN = {
    "ends at once": "#!/bin/sh\nexit 1\n",
    "ends well": "#!/bin/sh\nexit 0\n",
    "lacks a package": '#!/bin/sh\nread line\necho "! LaTeX Error: pgf.sty not found."\n',
    "is no program": "\0\0",
    "has no interpreter": "#!/nowhere/sh\n",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_latex_that_fails_is_one_error_and_leaves_no_file(fault, tmp_path, monkeypatch):
    pdflatex = tmp_path / "pdflatex"
    pdflatex.write_text(BROKEN[fault])
    pdflatex.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    drawn = figure(table(STEP, [2, 4]))
    # matplotlib keeps a LaTeX that worked for the preamble: each fault has a preamble of its own.
    monkeypatch.setitem(matplotlib_module().rcParams, "pgf.preamble", f"% {fault}")
    with pytest.raises(DomainError, match=r"^figure: found a pdflatex that fails \(.*, or save as"):
        save(drawn, tmp_path / "curves.pgf")
    assert not (tmp_path / "curves.pgf").exists()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DomainError, match="found no pdflatex"):
        save(drawn, tmp_path / "curves.pgf")


def test_a_figure_draws_values_rounded_in_their_sound_direction():
    found = table(STEP, [2, 8, "inf"], 6, ["ZW19-T5", "ZW19-T6"])
    (axes,) = figure(found).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ZW19-T5", "ZW19-T6"]
    for line, column in zip(axes.lines, found.columns, strict=True):
        assert list(line.get_xdata()) == [2.0, 8.0]
        assert list(line.get_ydata()) == [float(cell.value) for cell in column.cells[:2]]


def test_the_legend_of_a_figure_hides_no_curve():
    drawn = figure(table(STEP, [2, 8, 64], 6, ["ZW19-T5", "ZW19-T6"]))
    drawn.draw_without_rendering()
    (axes,) = drawn.axes
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1
    assert axes.get_legend().get_window_extent().y1 <= drawn.bbox.y1


def test_bad_input_to_a_figure(tmp_path):
    drawn = figure(table(STEP, [2, 4]))
    with pytest.raises(DomainError, match="suffix"):
        save(drawn, tmp_path / "curves.docx")
    with pytest.raises(SymacctError, match="nowhere"):
        save(drawn, tmp_path / "nowhere" / "curves.png")
    with pytest.raises(DomainError, match="no finite, positive value"):
        figure(table(STEP, ["inf"]))


# --- the commands


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_the_command_latex():
    text = "n * PoissonSubsample(Gaussian(sigma), gamma)"
    done = run("latex", text, "--name", "gamma=q", "--alpha", "3")
    assert done.exit_code == 0
    assert r"\binom{3}{l} q^{l}" in done.output
    node = PoissonSubsample(Laplace(2), "1/9")
    assert run("latex", repr(node), "--by", "ZW19-T5").output.strip() == node.latex(by="ZW19-T5")
    document = run("latex", "Gaussian(5)", "--document", "--delta", "1e-5").output
    assert document.count(r"\section") == 4
    assert '"latex": "\\\\begin{align*}' in run("latex", "Gaussian(5)", "--json").output


def test_the_command_table(tmp_path):
    pinned = run("table", repr(STEP), "--alpha", "2", "--form", "csv", "--by", "ZW19-T5").output
    assert pinned == table(STEP, [2], by=["ZW19-T5"]).csv()
    also = run("table", repr(STEP), "--alpha", "2", "--form", "csv", "--also", "ZW19-T5").output
    assert also == table(STEP, [2]).csv() + pinned.splitlines()[1] + "\n"
    file = tmp_path / "x.png"
    options = ["--by", "ZW19-T5", "--caption", "{", "--figure", str(file)]
    tex = run("table", repr(STEP), "--alpha", "2,8", *options).output
    assert re.search(r"\\caption\{\{\\ensuremath\{\\lbrace", tex)
    assert file.exists()
