"""No two rows of one answer have the same name, whatever is asked."""

import pytest
from click.testing import CliRunner

from symacct import Gaussian, PoissonSubsample
from symacct.cli import main
from symacct.kernel.accountant import noted
from symacct.papers.report import COMPARED, PrivacyReport
from symacct.results.terminal import print_pairs
from tests.command_lines import GOOD
from tests.thinning import covering

RUN = ["--n", "1000", "--batch-size", "10", "--delta", "1e-5", "--noise-multiplier", "2"]
LINES = [
    ["epsilon", "Gaussian(5)", "--delta", "1e-5"],
    ["epsilon", "RandomizedResponse.of_epsilon(1, k=4)", "--delta", "0"],
    ["epsilon", "10*SubsampleWithoutReplacement(Laplace(2), 1/10)", "--delta", "1e-5"],
    ["delta", "10*PoissonSubsample(Gaussian(2), 1/10)", "--epsilon", "1"],
    ["calibrate", *GOOD["calibrate"]],
    ["dpsgd", *RUN, "--sampling", "poisson", "--steps", "200"],
    ["dpsgd", *RUN, "--sampling", "shuffled", "--steps", "200", "--group", "2", "--runs", "2"],
    ["dpsgd", *RUN, "--sampling", "balls_and_bins", "--steps", "200", "--conversion", "improved"],
]


def rows_of(words, monkeypatch):
    """The title of a box and the name of a row, of all that a command prints.

    Rows below "by Rényi orders, for comparison" are about another number than those above.
    """
    names = []

    def keep(pairs, title=""):
        pairs = list(pairs)
        names.extend((title if title == COMPARED else "", name) for name, _ in pairs)
        return print_pairs(pairs, title)

    monkeypatch.setattr("symacct.results.terminal.print_pairs", keep)
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code in (0, 2), ended.output
    return names


@covering()
@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_no_name_stands_twice_in_one_answer(words, monkeypatch):
    names = rows_of(words, monkeypatch)
    names = [name for name in names if name[1] != "note"]  # of which there may be two
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    "m", [Gaussian(5), 9 * PoissonSubsample(Gaussian(3), "1/10"), Gaussian(2) + Gaussian(3)]
)
def test_what_is_not_final_is_said_once_and_in_one_word(m):
    late = noted(m.epsilon("1e-5", digits=6), "this is what is computed within 5 s")
    report = PrivacyReport(noted(late, "this is what is computed within 5 s"))
    assert str(report).count("his is what is computed") == 1
