"""What was most likely meant, in messages about what is not there."""

import ast
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner

import symacct as sa
from symacct.cli import main
from symacct.testing import Checked
from symacct.text import parse_open

M = sa.PoissonSubsample(sa.Gaussian(2), "1/10")
SIGMA = sa.Gaussian(sympy.Symbol("sigma", positive=True))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: M.epsilon("1e-5", "exact"), "write conversion='exact'"),
        (lambda: M.get_epsilon(1e-5), r"write epsilon\(delta\), or report\(delta\)"),
        (lambda: M.get_rdp(2), r"write rdp\(alpha\)"),
        (lambda: sa.dp_sgd(600, 6, sigma=1.1, epochs=1), "did you mean noise_multiplier"),
        (lambda: sa.dp_sgd(600, lot_size=6, epochs=1), "did you mean batch_size"),
        (lambda: sa.Gaussian(noise_multiplier=2), "did you mean sigma"),
        (lambda: sa.plot_sweep(SIGMA, {"sigma": [1, 2]}, delta="1e-5"), "delta goes into over"),
        (lambda: sa.sweep(SIGMA, {"sigma": [1, 2]}, delta="1e-5"), "delta goes into over"),
        (lambda: sa.sweep(SIGMA, {"sigma": 1}, "rdp", alpha=8), "'alpha': '8'"),
        (lambda: parse_open("sum"), "found the name 'sum', needed a mechanism"),
        (lambda: parse_open("gaussian"), "did you mean Gaussian"),
        (lambda: parse_open("PoissonSampledGaussian(1.1, 0.01)"), "did you mean PoissonSubsample"),
        (lambda: parse_open("2Gaussian(5)"), r"did you mean 2\*Gaussian\(5\)"),
        (lambda: sa.parse("Gaussian(1.1f)"), r"did you mean Gaussian\(1\.1\)\?"),
        (lambda: sa.Gaussian("1.1f"), r"did you mean 1\.1\?"),
        (lambda: sa.parse("PoissonSubsample(Gaussian(2), 1/10, replace)"), "mean replace_one"),
    ],
)
def test_what_is_not_there_is_told_what_is(call, told):
    with pytest.raises((sa.SymacctError, AttributeError), match=told):
        call()


def test_a_star_is_proposed_after_a_number_or_a_letter_alone():
    """What stands before the name of a mechanism is mostly another library's word."""
    for before in ("Sampled", "My"):
        with pytest.raises(sa.ParseError) as raised:
            parse_open(f"{before}Gaussian(1.1, 0.01)")
        assert "*" not in str(raised.value)


def test_a_name_that_nothing_is_like_has_no_hint():
    with pytest.raises(AttributeError, match=r"has no attribute 'colour'$"):
        _ = M.colour
    assert not hasattr(M, "get_epsilon")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["vectors", "--only", "rdp_laplac", "--out", "x"], "did you mean rdp_laplace?"),
        (["verify", "opaccus"], "found 'opaccus'; did you mean opacus?"),
        (["verify", "opacus", "--baseline", "no.json"], "write it first with --json FILE"),
        (["epsilon", "sum", "--delta", "1e-5"], "found the name 'sum', needed a mechanism"),
        (["plot", "Gaussian(5)", "--orders", "2,3", "--out", "x.gif"],
         "needed .pgf or .pdf or .png or .svg"),
        (["dpsgd", "--n", "60000", "--sample-rate", "0.01", "--noise-multiplier", "1", "--epochs",
          "1", "--delta", "1e-5"], "needed --batch-size 600"),
        (["dpsgd", "--sample-rate=1/235", "--n", "60000"], "which is the rate times n"),
    ],
)  # fmt: skip
def test_the_command_says_so_in_one_line(words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    assert told in line


def test_a_delta_of_a_sweep_is_an_axis_of_one_value():
    asked = (["--delta", "1e-5"], ["--over", "delta=1e-5"])
    words = ["sweep", "Gaussian(sigma)", "--over", "sigma=1,2", "--conversion", "classic"]
    one, other = (CliRunner().invoke(main, [*words, *more]).stdout for more in asked)
    assert one == other
    twice = CliRunner().invoke(main, [*words, *asked[0], *asked[1]])
    assert "needed one of them" in twice.stderr


def test_no_message_writes_a_list_as_python_has_it():
    """No f-string has a constant of its module in it that is a tuple, a list or a mapping."""
    found = []
    for file in Path(sa.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        lists = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
            and isinstance(node.value, ast.Tuple | ast.List | ast.Set | ast.Dict)
        }
        found += [
            f"{file.name}:{node.lineno}: {node.value.id}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FormattedValue)
            and isinstance(node.value, ast.Name)
            and node.value.id in lists
        ]
    assert found == []


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (1.0, "known to 15 digits"),
        (1 + 5e-4, "known to 3 digits"),
        (1 + 2e-9, "known to 8 digits"),
        (1.25, "known up to a factor of 1.25"),
    ],
)
def test_how_well_a_truth_is_known_is_said_so_that_it_can_be_read(width, said):
    assert repr(Checked(11, width)) == f"11 values, each held to a truth that is {said}"
