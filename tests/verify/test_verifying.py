"""The command, its reports, its exit status, and one clear line for every wrong input."""

import json
import shlex
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from symacct import Accountant, parse
from symacct.cli import main
from symacct.kernel.errors import DomainError
from symacct.testing import UndecidedError, UnsoundError, assert_sound
from symacct.verify import adapters
from symacct.verify.peer.peers import pinned
from symacct.verify.reporting.report import decimal_text
from tests.verify.peers import program

pytestmark = pytest.mark.usefixtures("short")
KEYS = [
    "verdict",
    "call",
    "expression",
    "parameters",
    "peer_value",
    "truth_lower",
    "truth_upper",
    "ratio",
    "formula_matched",
    "reproduce",
]


def run(*arguments):
    return CliRunner().invoke(main, ["verify", *arguments])


def command(tmp_path, body, **other):
    return shlex.join(program(tmp_path, body, **other))


def test_json_has_the_fields_of_the_issue(tmp_path):
    file = tmp_path / "report.json"
    words = command(tmp_path, "say({'value': value * 0.9 if alpha > 2 else value})")
    result = run("--command", words, "--quick", "--json", str(file))
    assert result.exit_code == 1, result.output
    report = json.loads(file.read_text(encoding="utf-8"))
    assert list(report)[:4] == ["peer", "version", "asked", "findings"]
    for found in report["findings"]:
        assert list(found)[: len(KEYS)] == KEYS
    worst = report["findings"][0]
    assert worst["verdict"] == "unsound"
    assert worst["expression"] == "Gaussian(1)"
    assert worst["ratio"] == pytest.approx(0.9)
    assert float(worst["truth_lower"]) <= 1.5 <= float(worst["truth_upper"])
    assert worst["peer_value"] == pytest.approx(1.35)
    assert worst["call"] == "rdp(alpha=3)"
    assert "unsound" in result.output


def test_the_reproducing_line_shows_the_value(tmp_path):
    file = tmp_path / "report.json"
    run("--command", command(tmp_path, "say({'value': value / 2})"), "--quick", "--json", str(file))
    worst = json.loads(file.read_text(encoding="utf-8"))["findings"][0]
    out = subprocess.run(
        ["/bin/sh", "-c", worst["reproduce"]],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert json.loads(out.stdout.splitlines()[-1])["value"] == worst["peer_value"]


def test_exit_status_0_for_a_right_peer(tmp_path):
    words = command(tmp_path, "say({'value': value})")
    result = run("--command", words, "--quick", "--fail-on", "loose")
    assert result.exit_code == 0, result.output
    assert "No finding." in result.output


def test_a_run_fails_at_the_verdict_named(tmp_path):
    words = command(tmp_path, "say({'value': 2 * value})")
    result = run("--command", words, "--quick", "--fail-on", "loose")
    assert result.exit_code == 1, result.output
    assert "loose" in result.output


def test_a_verdict_that_there_is_not_is_a_usage_error():
    result = run("--command", "true", "--fail-on", "wrong")
    assert (result.exit_code, "'wrong' is not one of 'unsound'" in result.output) == (2, True)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))


def test_the_page_is_whole_and_escapes_everything(tmp_path):
    file = tmp_path / "report.html"
    evil = "<script>alert(1)</script>"
    hello = json.dumps(
        {"id": 0, "peer": evil, "version": evil, "supports": [{"mechanism": "Gaussian"}]}
    )
    wrong = f"{{'value': value / 2, 'reproduce': [{evil!r}]}}"
    body = f"say({{'error': {evil!r}}} if alpha == 3 else {wrong})"
    result = run("--command", command(tmp_path, body, hello=hello), "--quick", "--html", str(file))
    assert result.exit_code == 1, result.output
    text = file.read_text(encoding="utf-8")
    assert text.count("<script") == 1  # the page's own, which filters and copies
    assert "&lt;script&gt;" in text
    tags = Tags()
    tags.feed(text)
    assert not [a for _, a in tags.seen if a.get("src", "data:").split(":")[0] != "data"]
    assert any(tag == "img" for tag, _ in tags.seen)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "needed one of PEER"),
        (["no-such-peer"], "needed one of"),
        (["--command", "/no/such/program"], "cannot be run"),
        (["--command", "'"], "cannot be split"),
        (["--command", ""], "needed a program"),
        (["--command", f"{sys.executable} -c 'print(1)'"], "ended before its hello"),
        (["opacus", "--python", "/no/such/python"], "needed a Python interpreter"),
        (["opacus", "--version", "1.0"], "--install"),
        (["opacus", "--install", "--version", "1.0; rm"], "needed a version"),
        (["--command", "x", "--install"], "needed PEER"),
        (["opacus", "--all"], "needed one of PEER"),
        (["--command", "true", "--json", "/no/such/folder/report.json"], "cannot be written"),
        (["--command", "true", "--html", "/"], "cannot be written"),
        (["--command", "true", "--map", "/no/such/folder/x.md"], "cannot be written"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert "Traceback" not in result.output


UNJUDGED = [
    "say({'result': 1})",
    "say({'value': 'nan'})",
    "say({'error': 'out of memory'})",
    "say({'unsupported': 'everything'})",
    "sys.exit(1)",
]


@pytest.mark.parametrize("body", UNJUDGED)
def test_a_peer_that_cannot_be_judged_is_neither_right_nor_wrong(tmp_path, body):
    assert_not_judged(command(tmp_path, body))


def test_a_peer_of_noise_alone_is_neither_right_nor_wrong(tmp_path):
    assert_not_judged(command(tmp_path, "print('noise\\n' * 100, flush=True)"), timeout="0.1")


def assert_not_judged(words, timeout="0.5"):
    result = run("--command", words, "--quick", "--timeout", timeout)
    assert result.exit_code == 3, result.output
    assert "answers could be judged" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("field", ['"mechanism": []', '"max_order": -5', '"min_order": "1e3000"'])
def test_a_hello_of_nonsense_is_one_line_and_exit_status_2(tmp_path, field):
    row = '{"mechanism": "Gaussian", "max_order": 9, ' + field + "}"
    hello = '{"id": 0, "peer": "p", "supports": [' + row + "]}"
    result = run("--command", command(tmp_path, "say({'value': 1})", hello=hello), "--quick")
    assert result.exit_code == 2
    assert "docs/verification.md" in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_defect_of_ours_and_an_interrupt_are_no_finding(monkeypatch):
    def defect(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr("symacct.cli.verifying.verify", defect)
    assert run("--command", "true").exit_code == 3

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("symacct.cli.verifying.verify", interrupt)
    assert run("--command", "true").exit_code == 130


def test_a_report_that_cannot_be_written_is_said_before_the_run(tmp_path):
    words = command(tmp_path, "open('asked', 'w'); say({'value': value})")
    assert run("--command", words, "--json", str(tmp_path)).exit_code == 2
    assert not (tmp_path / "asked").exists()


def test_adapters_have_requirements_and_a_name():
    for name, adapter in adapters().items():
        assert "_" not in name
        assert adapter.requirements
        assert adapter.command("python")[:2] == ["python", "-I"]


def test_a_version_pins_the_first_requirement():
    assert pinned("dp-accounting>=0.4", "0.6.0") == "dp-accounting==0.6.0"


def test_bounds_are_printed_outwards():
    third = Fraction(1, 3)
    assert decimal_text(third, up=False) == "0.33333333333333333333"
    assert decimal_text(third, up=True) == "0.33333333333333333334"
    tiny = third / 10**40
    assert Fraction(decimal_text(tiny, up=False)) < tiny < Fraction(decimal_text(tiny, up=True))


# --- symacct.testing


def gaussian(alpha):
    return alpha / 50


def test_three_lines_in_an_accountants_own_suite():
    assert assert_sound(gaussian, "Gaussian(5)") == 11
    with pytest.raises(UnsoundError, match=r"rdp\(8.0\).*0.5 of the truth"):
        assert_sound(lambda alpha: gaussian(alpha) / (2 if alpha == 8 else 1), "Gaussian(5)")
    with pytest.raises(UnsoundError, match=r"times .*, allowed "):
        assert_sound(lambda alpha: 2 * gaussian(alpha), "Gaussian(5)", loose=1.5)
    with pytest.raises(UnsoundError, match="nan"):
        assert_sound(lambda alpha: float("nan"), "Gaussian(5)")


@pytest.mark.parametrize(
    ("value", "expression", "what", "message"),
    [
        (-1.0, "Gaussian(1000)", {"what": "delta", "at": [1000]}, "negative where .* at least 0;"),
        (-1e300, "Gaussian(1e100)", {"at": [2]}, "negative where the truth is at least 9.9e-201;"),
        (0.0, "Gaussian(5)", {"at": [2]}, "found 0.0, 0 of the truth;"),
        (0.0399999998, "Gaussian(5)", {"at": [2]}, "5e-09 of the truth too little;"),
    ],
)
def test_a_value_that_is_no_share_of_the_truth_is_unsound(value, expression, what, message):
    """It is negative where the lower bound is 0 or next to it, or it is 0 itself."""
    with pytest.raises(UnsoundError, match=message):
        assert_sound(lambda argument: value, expression, **what)


def test_how_wide_the_bracket_is():
    """Of zCDP only the bound is known: what is below it is neither right nor wrong."""
    open_below = "PoissonSubsample(ZCDP(1), 1/10)"
    high = float(Accountant().rdp(parse(open_below), 8).upper)
    assert assert_sound(gaussian, "Gaussian(5)").width == 1
    assert assert_sound(lambda alpha: high * (1 + 1e-12), open_below, at=[8]).width == float("inf")
    with pytest.raises(UndecidedError, match=r"truth is in \[0, .* no more than 2 times apart"):
        assert_sound(lambda alpha: high / 2, open_below, at=[8])


def test_a_lower_bound_alone_proves_no_value():
    below = "Curve('alpha/50', kind='lower', adjacency='either')"
    with pytest.raises(UnsoundError, match=r"the truth is in \[0\.03\d+, inf\]"):
        assert_sound(lambda alpha: alpha / 60, below, at=[2])
    with pytest.raises(UndecidedError, match=r"the truth is in \[0\.03\d+, inf\]"):
        assert_sound(lambda alpha: 100 * alpha, below, at=[2])
    assert assert_sound(lambda alpha: float("inf"), below, at=[2]).width == float("inf")


def test_nothing_asked_is_nothing_shown():
    with pytest.raises(DomainError, match="at: found no argument"):
        assert_sound(lambda alpha: 0.0, "Gaussian(5)", at=[])


def test_the_author_says_how_wide_a_bracket_may_be():
    fixed = "20 * SubsampleWithoutReplacement(Gaussian(1), 1/10)"
    asked = {"what": "epsilon", "at": ["1e-5"]}
    checked = assert_sound(lambda delta: 100, fixed, **asked)
    assert 1.01 < checked.width < 2
    least = parse(fixed).epsilon("1e-5", conversion="exact")
    inside = float(least.epsilon) / 1.001
    assert assert_sound(lambda delta: inside, fixed, **asked).width == checked.width
    with pytest.raises(UndecidedError, match=r"more than 1\.005 times apart"):
        assert_sound(lambda delta: inside, fixed, **asked, width=1.005)


def test_epsilon_is_held_to_the_truth_and_to_a_conversion():
    assert assert_sound(lambda delta: 4.4, "Gaussian(1)", what="epsilon", at=["1e-5"]) == 1
    with pytest.raises(UnsoundError):
        assert_sound(lambda delta: 4.3, "Gaussian(1)", what="epsilon", at=["1e-5"])
    with pytest.raises(UnsoundError):
        assert_sound(
            lambda delta: 4.4, "Gaussian(1)", what="epsilon", at=["1e-5"], conversion="improved"
        )


def test_with_a_conversion_the_truth_is_what_that_gives():
    """dp_accounting 0.6.0 finds 4.728387 on a grid of orders; the exact ε is 4.377."""
    asked = {"what": "epsilon", "at": ["1e-5"], "conversion": "improved"}
    said = r"by the improved conversion: .* in \[4\.72838\d+, 4\.72838\d+\]"
    with pytest.raises(UnsoundError, match=said):
        assert_sound(lambda delta: 4.4, "Gaussian(1)", **asked)
    assert assert_sound(lambda delta: 4.7284, "Gaussian(1)", **asked, loose=1.05) == 1
    with pytest.raises(UnsoundError, match=r"times .*, allowed 1\.05"):
        assert_sound(lambda delta: 4.97, "Gaussian(1)", **asked, loose=1.05)


def test_what_is_too_large_is_told_by_how_much_and_what_was_allowed():
    with pytest.raises(UnsoundError, match=r"1\.20 times the truth, allowed 1\.1;"):
        assert_sound(lambda alpha: 0.024 * alpha, "Gaussian(5)", loose=1.1)
    with pytest.raises(UnsoundError, match=r"1\.10001 times the truth, allowed 1\.1;"):
        assert_sound(lambda alpha: 0.0220002 * alpha, "Gaussian(5)", at=[2], loose=1.1)
    with pytest.raises(UnsoundError, match=r"found inf, allowed 1\.1 times"):
        assert_sound(lambda alpha: float("inf"), "Gaussian(5)", at=[2], loose=1.1)
    assert assert_sound(lambda alpha: float("inf"), "Gaussian(5)", at=[2]) == 1


def test_no_bound_may_be_below_the_truth():
    with pytest.raises(DomainError, match=r"loose: found 0\.9, needed >= 1"):
        assert_sound(lambda alpha: alpha, "Gaussian(5)", loose=0.9)
