"""What a terminal of 60, 80 or 120 columns shows of every verb; no number on it is ever cut.

The files in tests/screens are what is shown, looked at by eye: `python -m tests.cli.test_screens`
writes them anew, and the difference is to be read before it is committed.
"""

import contextlib
import io
import json
import os
import re
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symacct.cli import main
from symacct.cli.frame import show
from symacct.cli.group import JOBS
from symacct.results.terminal import print_pairs, print_table
from symacct.verify.judging.bounds import Truth
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.process import Incidents
from symacct.verify.peer.protocol import Answer, Ask, AskedPart
from symacct.verify.reporting.defects import Cluster
from symacct.verify.reporting.document import document
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.report import Report
from tests.thinning import covering

SCREENS = Path(__file__).parents[1] / "screens"
WIDTHS = (60, 80, 120)
STEP = "PoissonSubsample(Gaussian(5), 1/1000)"
RUN = f"600000 * {STEP}"
GRID = ["--over", "sigma=1,2,4", "--over", "delta=1e-5,1e-8"]
TRAINING = ["--n", "60000", "--batch-size", "256", "--epochs", "15", "--delta", "1e-5"]
PAPERS = ["examples/papers.csv", "--conversion", "classic"]

#: Each verb with a question, and how many lines of the answer are kept: some are long, or depend
#: on versions.
QUESTIONS = [
    (["rdp", STEP, "--alpha", "8", "--alpha", "5/2", "--alpha", "inf"], None),
    (["rdp", STEP, "--alpha", "8", "--digits", "70"], None),
    (["epsilon", RUN, "--delta", "1e-8"], None),
    (["delta", RUN, "--epsilon", "1", "--digits", "40"], None),
    (["dpsgd", *TRAINING, "--noise-multiplier", "1.1"], None),
    (["dpsgd", *TRAINING, "--target-epsilon", "1", "--digits", "3"], None),
    (["calibrate", "Gaussian(sigma)", "--epsilon", "1", "--delta", "1e-5"], None),
    (["sweep", "1000*PoissonSubsample(Gaussian(sigma), 1/100)", *GRID], None),
    (["optimum", "ZCDP(1/10)"], None),
    (["compare", "SubsampleWithoutReplacement(Laplace(2), 1/9)", "--alpha", "8"], None),
    (["compare", STEP, "--alpha", "8", "--alpha", "5/2"], None),
    (["compare", f"100*{STEP}", "--delta", "1e-5"], None),
    (["explain", RUN], None),
    (["explain", RUN, "--delta", "1e-8"], None),
    (["graph", RUN], None),
    (["plot", "Gaussian(5)", "--orders", "2,3"], None),
    (["expand", STEP, "--alpha", "8"], None),
    (["theorems"], 24),
    (["statement", "3516*PoissonSubsample(Gaussian(1.1), 256/60000)", "--delta", "1e-5"], 5),
    (["cite", STEP], 8),
    (["latex", "Gaussian(5)"], None),
    (["table", STEP, "--alpha", "2,4,8"], None),
    (["code", "Gaussian(5)", "--form", "python"], 1),
    (["reference", "Gaussian(5)", "--grid", "alpha=2,3", "--digits", "20"], None),
    (["check", *PAPERS], None),
    (["falsify", "ACG16-L3", "--budget", "50"], 1),
    (["risk", "Gaussian(5)"], None),
    (["certificate", "Gaussian(5)", "--delta", "1e-5"], 3),
    (["vectors", "--only", "rdp_randomized_response"], 1),
]


def shown(words, width):
    with mock.patch.dict(os.environ, {"COLUMNS": str(width)}):
        answer = CliRunner().invoke(main, words, terminal_width=width)
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    return answer.output


def peer_report():
    """A report with one finding, made by hand: an answer at half of the truth."""
    part = AskedPart("gaussian", (("sigma", "5"),), "poisson", "1/1000")
    ask = Ask("rdp", (part,), "8")
    truth = Truth(Fraction(163283, 10**12), Fraction(163284, 10**12), True)
    found = Finding("unsound", ask, Answer(Fraction(81642, 10**12)), truth, below=True)
    cluster = Cluster(found, probe=None, count=1234)
    return Report("a peer", "1.0", ["peer"], 4567, 8, 12.0, 0, [cluster], Incidents(), judged=9)


def shown_report(width):
    columns = mock.patch.dict(os.environ, {"COLUMNS": str(width)})
    with columns, contextlib.redirect_stdout(io.StringIO()) as out:
        show(document(Judgement(peer_report())))
    return out.getvalue()


def screen(width):
    parts = [f"$ symacct --help\n{shown(['--help'], width)}"]
    with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
        Path("examples").mkdir()
        Path(PAPERS[0]).write_bytes((SCREENS.parent.parent / PAPERS[0]).read_bytes())
        for words, kept in QUESTIONS:
            lines = shown(words, width).splitlines()[:kept]
            parts.append("\n".join([f"$ symacct {' '.join(words)}", *lines, ""]))
    parts.append(f"$ symacct verify …\n{shown_report(width)}")
    return "\n".join(re.sub(r" +$", "", part, flags=re.MULTILINE) for part in parts)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_screens_are_those_that_were_looked_at(width):
    assert screen(width) == (SCREENS / f"{width}.txt").read_text(encoding="utf-8")


def test_every_verb_is_on_the_screens_and_in_the_overview_once():
    listed = [name for names in JOBS.values() for name in names]
    assert sorted(listed) == sorted(main.list_commands())
    assert {words[0] for words, _ in QUESTIONS} | {"verify"} == set(listed)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_overview_cuts_no_line(width):
    text = shown(["--help"], width)
    assert "..." not in text.replace("[ARGS]...", "")
    assert max(map(len, text.splitlines())) <= width
    for listed in JOBS.values():
        for name, (_, line) in listed.items():
            assert main.get_command(None, name).get_short_help_str(1000) == line
            assert line in " ".join(text.split())


NUMBERS = [
    ["rdp", RUN, "--alpha", "8", "--alpha", "5/2"],
    ["rdp", STEP, "--alpha", "8", "--by", "ZW19-T6"],
    ["epsilon", RUN, "--delta", "1e-8"],
    ["delta", RUN, "--epsilon", "1/2"],
    ["compare", STEP, "--alpha", "8", "--alpha", "5/2"],
    ["compare", f"100*{STEP}", "--delta", "1e-5"],
    ["sweep", "1000*PoissonSubsample(Gaussian(sigma), 1/100)", *GRID],
    ["calibrate", "Gaussian(sigma)", "--epsilon", "1", "--delta", "1e-5"],
]


def numbers(document):
    """The numbers of a JSON document that are answers; of ratios five digits are shown."""
    if isinstance(document, list):
        for one in document:
            yield from numbers(one)
    elif isinstance(document, dict):
        for key, value in document.items():
            if key == "order" and "headline" in document:
                continue  # of a number beside the headline its value alone is shown
            if key in ("value", "order", "sigma", "meets", "fails") and isinstance(value, str):
                yield value
            elif key not in ("ratios", "guarantee"):
                yield from numbers(value)


@covering()
@pytest.mark.parametrize("digits", ["6", "60"])
@pytest.mark.parametrize("words", NUMBERS, ids=lambda words: words[0])
def test_every_number_of_the_json_is_on_the_screen(words, digits):
    if words[0] == "calibrate":
        digits = "12"  # a root to sixty digits takes long
    words = [*words, "--digits", digits]
    wanted = {decimal(text) for text in numbers(json.loads(shown([*words, "--json"], 80)))}
    assert len(wanted) > 0
    for width in WIDTHS:
        assert wanted <= set(shown(words, width).split())


def decimal(text):
    """A fraction as the decimal that is shown."""
    above, over, below = text.partition("/")
    return str(Decimal(above) / Decimal(below)) if over else text


WORDS = st.text("0123456789abc.[]…↓ε", min_size=1, max_size=70)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 6))
    row = st.lists(CELLS, min_size=columns, max_size=columns)
    return draw(row), draw(st.lists(row, max_size=4)), draw(st.integers(20, 160))


@settings(max_examples=150, deadline=None)
@given(tables())
@example((["ε", "k"], [["1" * 58, "2"]], 60))
def test_no_word_of_any_table_is_cut_and_no_line_too_long_but_by_a_word(drawn):
    headers, rows, width = drawn
    with mock.patch.dict(os.environ, {"COLUMNS": str(width)}):
        for print_it in (
            lambda: print_table(headers, rows),
            lambda: print_pairs([(headers[0], cell) for row in [headers, *rows] for cell in row]),
        ):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                print_it()
            lines = out.getvalue().splitlines()
            seen = [word for line in lines for word in line.split()]
            for row in rows:
                for word in " ".join(row).split():
                    assert word in seen
            for line in lines:
                assert len(line) <= width or len(line.split()) <= 1 or _is_label(line, headers)


def _is_label(line, headers):
    """A name alone on its line may be as long as it is."""
    return line.strip() in {header.strip() for header in headers}


if __name__ == "__main__":
    SCREENS.mkdir(exist_ok=True)
    for columns in WIDTHS:
        (SCREENS / f"{columns}.txt").write_text(screen(columns), encoding="utf-8")
