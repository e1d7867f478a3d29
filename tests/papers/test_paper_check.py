"""The paper file: every verdict against values that are known without symacct; its lines."""

import json
import os
import re
import warnings
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from symacct import Gaussian, Kind, LimitError, ParseError, limits
from symacct.cli import main
from symacct.papers import paper_check
from symacct.papers.paper_check import (
    PaperEntry,
    Verdict,
    check,
    check_entry,
    entries,
    judged,
    printed_number,
)

EXAMPLE = Path(__file__).parents[2] / "examples" / "papers.csv"
TRUE, LOOSE, ROUNDED, WRONG, UNDECIDED, MALFORMED = Verdict


def judge(printed="0.16", **more):
    """A number with its verdict, by default of ε(8) of Gaussian(5), which is 8/50 = 0.16."""
    fields = {"expression": "Gaussian(5)", "ask": "rdp", "given": "8", "source": "here"} | more
    return check_entry(PaperEntry(printed=printed, **fields))


def verdict(printed, **more):
    return judge(printed, **more).verdict


# --- verdicts

# ε(8) of RandomizedResponse(0.9) at ∞ is log 9 = 2.197224577…
LOG9 = {"expression": "RandomizedResponse(0.9)", "given": "inf"}
# and ε(7) of Gaussian(5) is 0.14, ε(7) of Gaussian(3) is 7/18 = 0.38888…

VERDICTS = [
    ("2.198", "safe", TRUE),  # rounded up, as a guarantee is
    ("2.197", "safe", ROUNDED),  # its digits are right, but it is below the value
    ("2.199", "safe", LOOSE),
    ("2.196", "safe", WRONG),
    ("2.2", "safe", TRUE),
    ("3", "safe", TRUE),
    ("2", "safe", ROUNDED),
    ("2.197", "nearest", TRUE),  # nearest, and below
    ("2.198", "nearest", TRUE),  # rounded up, the safe direction
    ("2.196", "nearest", WRONG),
    ("2.199", "nearest", WRONG),
    ("2.2", "nearest", TRUE),
    ("2.1", "nearest", ROUNDED),
    ("2", "nearest", TRUE),
    ("3", "nearest", TRUE),
    ("1", "nearest", WRONG),
    ("4", "nearest", WRONG),
    ("2.198", "upper", TRUE),
    ("2.197", "upper", ROUNDED),
    ("2.199", "upper", LOOSE),
    ("1", "upper", WRONG),
    ("1", "lower", LOOSE),
    ("2.197", "lower", TRUE),
    ("2.198", "lower", ROUNDED),
    # log 9 = 2.1972245773362193|8279049047384505140929|49 by mpmath
    ("2.19722457733621938279049047384505140929", "nearest", TRUE),
    ("2.19722457733621938279049047384505140930", "nearest", TRUE),
    ("2.19722457733621938279049047384505140931", "nearest", WRONG),
    ("2.19722457733621938279049047384505140928", "nearest", WRONG),
    ("2.1972245773362194", "nearest", TRUE),
    ("2.1972245773362193", "nearest", ROUNDED),
    ("2.1972e0", "nearest", TRUE),
    ("0.22e1", "nearest", TRUE),
    ("3", "at most", TRUE),
    ("2.1", "at most", WRONG),
    ("1", "at least", TRUE),
    ("2.2", "at least", WRONG),
]


@pytest.mark.parametrize(("printed", "direction", "expected"), VERDICTS)
def test_the_verdict_on_a_printed_logarithm(printed, direction, expected):
    assert verdict(printed, direction=direction, **LOG9) is expected


EXACT = [
    ("0.16", "nearest", TRUE),
    ("0.16", "upper", TRUE),
    ("0.16", "lower", TRUE),
    ("0.160000", "upper", TRUE),
    ("0.2", "nearest", TRUE),
    ("0.1", "nearest", ROUNDED),
    ("0.17", "upper", LOOSE),
    ("0.15", "lower", LOOSE),
    ("0.16", "at most", TRUE),
    ("0.16", "at least", TRUE),
    ("0.159999999999999999999999999999", "at least", TRUE),
    ("0.159999999999999999999999999999", "at most", WRONG),
]


@pytest.mark.parametrize(("printed", "direction", "expected"), EXACT)
def test_a_value_that_is_the_printed_number_is_decided(printed, direction, expected):
    assert verdict(printed, direction=direction) is expected


@pytest.mark.parametrize(
    ("printed", "direction", "said"),
    [
        ("2.19", "safe", "rounded down; the guarantee is 2.20"),
        ("2.19", "upper", "rounded down; the guarantee is 2.20"),
        ("2.1972245", "safe", "rounded down; the guarantee is 2.1972246"),
        ("219e-2", "safe", "rounded down; the guarantee is 2.20"),
        ("2", "safe", "rounded down; the guarantee is 3"),
        ("2.20", "lower", "rounded up; the lower bound is 2.19"),
        ("2.1", "nearest", "rounded down; the nearest number is 2.2"),
    ],
)
def test_what_is_rounded_to_the_unsafe_side_is_told_the_safe_number(printed, direction, said):
    found = judge(printed, direction=direction, **LOG9)
    assert found.verdict is ROUNDED
    assert found.reason == f"its digits are right, but {said}"
    safe = judge(said.split()[-1], direction=direction, **LOG9)
    assert safe.verdict is TRUE


@pytest.mark.parametrize("places", [-10, 0, 3, 30, 5000])
def test_a_guarantee_of_any_size_that_is_rounded_down_is_told_the_safe_one(places):
    printed, safe = (f"{n}e{-places}" for n in (275, 276))
    noise = {"expression": f"Curve('275316*alpha/10**{places + 3}', 'upper', 'either')"}
    found = judge(printed, given="1", **noise)
    assert found.verdict is ROUNDED
    told = found.reason.split()[-1]
    assert Fraction(told) == Fraction(safe)
    assert verdict(told, given="1", **noise) is TRUE


@given(
    st.fractions(Fraction(1, 10**6), 10**4, max_denominator=10**9),
    st.integers(0, 6),
)
def test_rounding_a_number_correctly_is_never_held_against_it(number, decimals):
    unit = Fraction(1, 10**decimals)
    down, up = number // unit * unit, -(-number // unit) * unit
    near = round(number / unit) * unit
    right = [("nearest", near), ("nearest", up), ("upper", up), ("lower", down), ("safe", up)]
    for direction, printed in right:
        assert judged(direction, printed, unit, number, number, Kind.EXACT)[0] is TRUE
    assert judged("nearest", down, unit, number, number, Kind.LOWER)[0] is TRUE
    assert judged("safe", down, unit, number, number, Kind.LOWER)[0] is TRUE
    if down != up:
        assert judged("safe", down, unit, number, number, Kind.EXACT)[0] is ROUNDED
        assert judged("safe", up, unit, number, number, Kind.LOWER)[0] is ROUNDED
        assert judged("upper", down, unit, number, number, Kind.EXACT)[0] is ROUNDED
        assert judged("lower", up, unit, number, number, Kind.EXACT)[0] is ROUNDED
        assert judged("upper", up + unit, unit, number, number, Kind.EXACT)[0] is LOOSE
        assert judged("lower", down - unit, unit, number, number, Kind.EXACT)[0] is LOOSE
        assert judged("upper", down - unit, unit, number, number, Kind.EXACT)[0] is WRONG
        assert judged("nearest", up + unit, unit, number, number, Kind.EXACT)[0] is WRONG


def test_an_enclosure_across_a_boundary_does_not_decide():
    unit = Fraction(1, 100)
    low, high = Fraction(1259, 1000), Fraction(1261, 1000)
    assert judged("upper", Fraction(126, 100), unit, low, high, Kind.EXACT) is None
    assert judged("nearest", Fraction(126, 100), unit, low, high, Kind.EXACT)[0] is TRUE
    low, high = Fraction(1), Fraction(2)  # the number between is a bound of one of them alone
    assert judged("upper", Fraction(3, 2), unit, low, high, Kind.EXACT) is None


def test_what_stays_undecided_is_said_to_be():
    # An irrational number that is a hair's breadth, 10⁻³⁰⁰, off the printed one.
    hair = "Curve('alpha*(4/25 + sqrt(2)/10**300)', 'upper', 'either')"
    found = judge("0.16", expression=hair, given="1", direction="upper")
    assert found.verdict is UNDECIDED
    assert "agrees with a rounding boundary" in found.reason


def test_guarantees_and_deltas_are_checked_too():
    sampled = "10000 * PoissonSubsample(Gaussian(4), 0.01)"
    epsilon = {"expression": sampled, "ask": "epsilon", "given": "1e-5", "conversion": "classic"}
    assert verdict("1.2584", **epsilon) is TRUE
    assert verdict("1.2583", **epsilon) is ROUNDED
    assert verdict("1.2582", **epsilon) is WRONG
    delta = {"expression": "Gaussian(2)", "ask": "delta", "given": "1", "conversion": "classic"}
    # classic: δ = exp(−(ε−ρ)²/(4ρ)), ρ = 1/8
    assert verdict("0.2163", **delta) is TRUE
    assert verdict("0.2161", **delta) is WRONG


def test_what_is_called_loose_is_true_in_the_direction_that_is_named():
    """And a bound from the wrong side is not: below an upper bound nothing is proved."""
    bound = {"expression": "PoissonSubsample(Gaussian(1), 1/10)", "given": "2"}
    upper, lower = {**bound, "by": "ZW19-T5"}, {**bound, "by": "ZW19-T6"}
    for kind, printed, direction, expected in (
        (upper, "9", "safe", LOOSE), (upper, "9", "upper", LOOSE), (upper, "0.001", "lower", WRONG),
        (lower, "0.001", "safe", LOOSE), (lower, "0.001", "lower", LOOSE),
        (lower, "9", "upper", WRONG), (lower, "9", "safe", WRONG), (upper, "0.001", "safe", WRONG),
    ):  # fmt: skip
        found = judge(printed, direction=direction, **kind)
        assert found.verdict is expected, (printed, direction)
        if expected is LOOSE:
            named = re.search(r'direction "(at \w+)"', found.reason)[1]
            assert verdict(printed, direction=named, **kind) is TRUE


@pytest.mark.parametrize(("sign", "given"), [("delta", "1e-5"), ("epsilon", "1")])
def test_a_number_of_another_conversion_is_told_which(sign, given):
    """It is judged by the best proved; a number by Rényi orders is true, and not rounded."""
    asks = {"delta": Gaussian(5).epsilon, "epsilon": Gaussian(5).delta}[sign]
    number = asks(given, digits=6, conversion="improved").asked.rounded()
    asked = ["check", "Gaussian(5)", f"--{sign}", given, "--prints", number]
    told = CliRunner(env={"COLUMNS": "200"}).invoke(main, asked)
    assert told.exit_code == 0
    assert "true but loose" in told.output
    assert f"improved gives {number} (true as printed)" in " ".join(told.output.split())
    assert CliRunner().invoke(main, [*asked, "--direction", "at most"]).exit_code == 0


def test_a_lower_bound_is_safe_when_rounded_down():
    bound = {"expression": "PoissonSubsample(Gaussian(1), 1/10)", "by": "ZW19-T6", "given": "2"}
    # log(1 + (e − 1)/100)/1 = 0.0170368…
    assert verdict("0.01703", **bound) is TRUE
    assert verdict("0.01705", **bound) is WRONG


# --- the example


def test_the_example_has_one_wrong_number_and_says_which():
    found = list(check(EXAMPLE.read_text(), conversion="classic"))
    assert len(found) >= 9
    wrong = [one for one in found if one.verdict is not TRUE]
    assert [(one.entry.source, one.entry.printed, one.verdict) for one in wrong] == [
        ("line 3", "2.55", WRONG),
        ("line 4", "1.19", ROUNDED),
    ]


# --- the lines of a file

GOOD = "Laplace(2),0,0.5\n"
LOOSELY = "Laplace(2),0,0.7\n"


@pytest.mark.parametrize("text", ["", "\n\n", "EXPR,delta,printed\n"])
def test_a_file_of_no_line_is_one_clear_error(text):
    with pytest.raises(ParseError, match="needed at least one") as caught:
        entries(text)
    assert "\n" not in str(caught.value)


NO_NUMBERS = ["about 1", "-1", ".", "", "e5", "1e99999"]
MALFORMED_LINES = [
    *(f"Laplace(2),0,{printed}" for printed in NO_NUMBERS),
    "Laplace(2),0.5",
    "Laplace(2)\x1b[2J,0,0.5",
    "Laplace(2)\ud800,0,0.5",
    f"Laplace(2),{'1' * 100_000},0.5",
    "__import__('os'),0,0.5",
    "Gaussian(-1),0,0.5",
]


@pytest.mark.parametrize("broken", MALFORMED_LINES, ids=ascii)
def test_a_malformed_line_is_named_and_the_others_are_judged(broken):
    first, middle, last = check(f"{GOOD}{broken}\n{LOOSELY}")
    assert (first.verdict, middle.verdict, last.verdict) == (TRUE, MALFORMED, LOOSE)
    assert (middle.place, middle.source) == (2, "line 2")


def test_what_is_the_same_for_all_lines_is_said_once():
    text = "3516*PoissonSubsample(Gaussian(1.1), 256/60000),1e-5,1.28\n"
    (found,) = check(text, conversion="improved", direction="nearest")
    assert (found.verdict, found.entry.conversion) == (TRUE, "improved")
    (found,) = check(text, by="WBK19-T27")
    assert (found.verdict, found.source) == (MALFORMED, "line 1")
    assert found.reason.startswith("AssumptionError")


def test_a_file_too_long_is_refused():
    with pytest.raises(LimitError), limits(text_bytes=10):
        entries(GOOD)


def test_printed_numbers_keep_their_digits():
    assert printed_number("1.20") == (Fraction(6, 5), Fraction(1, 100))
    assert printed_number(".04") == (Fraction(1, 25), Fraction(1, 100))
    assert printed_number("12e2") == (Fraction(1200), Fraction(100))
    assert printed_number("3.0e-8") == (Fraction(3, 10**8), Fraction(1, 10**9))


# --- the command


def run(tmp_path, text, *options):
    path = tmp_path / "paper.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["check", str(path), *options])


def test_the_exit_status_tells_true_from_wrong_from_bad_input(tmp_path):
    assert run(tmp_path, GOOD).exit_code == 0
    assert run(tmp_path, f"{GOOD}Laplace(2),0,0.4").exit_code == 1
    assert run(tmp_path, f"{GOOD}{LOOSELY}").exit_code == 0  # true but loose
    for text in ("", b"\xff\xfe"):
        answer = run(tmp_path, text)
        assert answer.exit_code == 2
        assert answer.stderr.count("\n") == 1
    mixed = run(tmp_path, f"{GOOD}{LOOSELY}Laplace(2)")
    assert mixed.exit_code == 2
    assert "1 of 3 numbers are true as printed" in mixed.output
    assert "found 'Laplace(2)'" in mixed.output
    assert CliRunner().invoke(main, ["check", str(tmp_path / "none.csv")]).exit_code == 2


LINES = """EXPR,delta,printed
PureDP(1),0,1.0
"Laplace(2, sensitivity=1)", "0", 0.5

Laplace(2, sensitivity=1) + PureDP(1/3),0,0.834
PureDP(2/3),0,0.7
PureDP(2/3),0,0.66
PureDP(1),0
PureDP(1),0,about 1
"""


def test_a_file_of_lines_is_checked_line_by_line(tmp_path):
    """The commas of an expression need no quotes; a line that is none is named, and the others are
    judged."""
    found = list(check(LINES))
    assert [one.verdict for one in found] == [
        TRUE, TRUE, TRUE, TRUE, ROUNDED, MALFORMED, MALFORMED,
    ]  # fmt: skip
    assert found[2].entry.source == "line 5"
    path = tmp_path / "mine.csv"
    for kept, status in ((range(5), 0), (range(7), 1), (range(9), 2)):
        path.write_text("\n".join(LINES.splitlines()[n] for n in kept), encoding="utf-8")
        shown = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["check", str(path)])
        assert shown.exit_code == status, shown.output
    assert "line 7" in shown.output


def test_no_more_of_a_file_is_read_than_is_allowed(monkeypatch):
    monkeypatch.setattr(Path, "read_text", None)
    for path in filter(os.path.exists, ("/dev/zero", "/dev/full")):
        answer = CliRunner().invoke(main, ["check", path])
        assert (answer.exit_code, "LimitError" in answer.output) == (2, True)


def test_the_table_and_the_json_say_the_same(tmp_path):
    text = f"{GOOD}RandomizedResponse(0.6),0,0.4\n{LOOSELY}"
    assert "1 of 3 numbers are true as printed" in run(tmp_path, text).output
    document = json.loads(run(tmp_path, text, "--json").output)
    assert [Verdict(one["verdict"]) for one in document] == [TRUE, ROUNDED, LOOSE]
    assert all(Fraction(one["value"]["lower"]) <= Fraction(1, 2) for one in document)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["3516*PoissonSubsample(Gaussian(1.1), 256/60000)", "--delta", "1e-5", "1.14"], 0),
        (["3516*PoissonSubsample(Gaussian(1.1), 256/60000)", "--delta", "1e-5", "1.13"], 1),
        (["Gaussian(5)", "--alpha", "8", "0.16"], 0),
        (["Gaussian(5)", "--alpha", "8", "0.17"], 0),
        (["Laplace(2)", "--epsilon", "1/2", "0"], 0),
        (["Gaussian(5)", "0.17"], 2),
        (["Gaussian(5)", "--alpha", "8", "x"], 2),
        (["Gaussian(sigma)", "--alpha", "8", "1"], 2),
    ],
)
def test_one_number_is_checked_without_a_file(words, status):
    *question, printed = words
    answer = CliRunner().invoke(main, ["check", *question, "--prints", printed])
    assert answer.exit_code == status, answer.output


@pytest.mark.parametrize("asked", ["Gaussian(5)", "examples/papers.csv"])
def test_a_question_without_its_number_is_refused(asked):
    refused = CliRunner().invoke(main, ["check", asked, "--delta", "1e-5"])
    assert (refused.exit_code, "--prints" in refused.stderr or "number" in refused.stderr) == (
        2,
        True,
    )


def test_the_file_in_the_documentation_is_read_and_each_number_in_it_is_true(tmp_path):
    text = Path("docs/papers.md").read_text()
    (block,) = re.findall(r"```text\n(EXPR.*?)```", text, re.DOTALL)
    result = run(tmp_path, block)
    assert result.exit_code == 0, result.output
    assert "3 of 3 numbers are true as printed\n" in result.output


@pytest.mark.parametrize(
    ("expr", "exact"),
    [
        ("DiscreteGaussian(10)", "0.01"),
        ("Gaussian(5)", "0.04"),
        ("3*DiscreteGaussian(10) + Gaussian(5)", "0.07"),
        ("Scale(DiscreteGaussian(2), 3)", "0.75"),
    ],
)
def test_an_exact_value_is_shown_exact_whatever_is_printed(expr, exact):
    for printed in (exact, "0.001"):
        found = judge(printed, expression=expr, given="2")
        assert found.value.rounded(6) == exact


def test_a_warning_names_its_line(monkeypatch):
    monkeypatch.setattr(paper_check, "check_entry", lambda entry: warnings.warn("so", stacklevel=2))
    with pytest.warns(UserWarning, match=r"^entry 2 line 2: so"):
        assert len(list(check(GOOD * 2))) == 2
