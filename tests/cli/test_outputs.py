"""Where an answer is written: to any encoding and width, to a device that is full, to nobody."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from symacct.cli import main
from tests.command_lines import FINDING, GOOD
from tests.thinning import some

VERBS = sorted(GOOD.keys() - FINDING)
QUICK = ["rdp", "Gaussian(5)", "--alpha", "2"]


def asked(*words, charset="utf-8", **environment):
    return CliRunner(charset=charset, env=environment).invoke(main, list(words))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_answers_in_every_encoding(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = asked(verb, *GOOD[verb])
    for charset in some(["ascii"], ["ascii", "cp437"]):
        plain = asked(verb, *GOOD[verb], charset=charset)
        assert plain.exception is None
        assert plain.exit_code == whole.exit_code
        digits = [sign for sign in whole.stdout if sign in "0123456789"]
        kept = [sign for sign in plain.stdout if sign in "0123456789"]
        assert len(kept) >= len(digits)


def test_a_sign_that_the_encoding_lacks_is_escaped():
    text = asked(*QUICK, charset="latin-1").stdout
    assert "order \\u03b1" in text
    assert "0.04" in text


def test_json_is_the_same_in_every_encoding():
    words = ["statement", "Gaussian(5)", "--delta", "1e-5", "--json"]
    documents = [json.loads(asked(*words, charset=one).stdout) for one in ("utf-8", "ascii")]
    assert documents[0] == documents[1]
    assert not json.dumps(documents[0], ensure_ascii=False).isascii()


@pytest.mark.parametrize("words", [QUICK, ["explain", "Gaussian(5)"], ["--help"]], ids=" ".join)
def test_a_screen_in_ascii_does_not_fail(words):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = ended(*words, stdout=subprocess.PIPE, errors="replace", env=environment)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert words is not QUICK or "0.04" in shown.stdout


def test_an_error_in_ascii_is_one_line():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    said = ended(*QUICK[:2], "--alpha", "²", errors="replace", env=environment)
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1


WIDTHS = ["0", "-1", "", " ", "²", "x", "1", "2", "7", "1_0", "9" * 12, "9" * 30, "9" * 5000]


@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: width[:40])
@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
def test_any_width_shows_every_number(width, variable):
    for words in (QUICK, ["explain", "PoissonSubsample(Gaussian(5), 1/1000000007)"]):
        shown = asked(*words, **{variable: width})
        assert shown.exit_code == 0
        assert ("0.04" if words is QUICK else "1/1000000007") in shown.stdout


def ended(*words, **how):
    """The verb as a process of its own."""
    command = [sys.executable, "-m", "symacct", *words]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, **how)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [QUICK, ["theorems", "--json"], ["--help"]], ids=" ".join)
def test_a_full_device_is_one_clear_line(words):
    with open("/dev/full", "w") as full:
        said = ended(*words, stdout=full)
    assert (said.returncode, said.stderr) == (
        2, "Error: standard output: No space left on device\n"
    )  # fmt: skip


def test_a_closed_pipe_is_quiet():
    reading, writing = os.pipe()
    os.close(reading)
    said = ended("theorems", stdout=writing)
    os.close(writing)
    assert said.returncode != 0
    assert said.stderr == ""


@pytest.mark.parametrize("verb", VERBS)
def test_a_device_that_takes_nothing_is_one_clear_line(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def full(*text):
        raise OSError(28, "No space left on device")

    with CliRunner().isolation() as (_, errors, _):
        monkeypatch.setattr(sys.stdout, "write", full)
        with pytest.raises(SystemExit) as stopped:
            main([verb, *GOOD[verb]])
        said = errors.getvalue().decode().splitlines()
    assert stopped.value.code == 2
    assert said[-1] == "Error: standard output: No space left on device"
