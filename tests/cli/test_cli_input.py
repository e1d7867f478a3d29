"""What a command line can hold besides good answers: each ends in one clear line; help is whole."""

import re

import click
import pytest
from click.testing import CliRunner

from symacct import SymacctError
from symacct.cli import main
from tests import command_lines
from tests.extremes import bounded
from tests.thinning import covering


def recorded(monkeypatch):
    """The messages of the errors that the command meets, as they are before it shows them."""
    told = []
    invoke = click.Group.invoke

    def record(self, ctx):
        try:
            return invoke(self, ctx)
        except (click.UsageError, SymacctError) as error:
            told.append(error.message if isinstance(error, click.UsageError) else str(error))
            raise

    monkeypatch.setattr(click.Group, "invoke", record)
    return told


def without(message, value):
    """What a message says beside the value that it repeats: what was needed, and the remedy."""
    long = {value, repr(value)[1:-1]} if len(value) > 100 else set()
    parts = [message]
    for shown in long:
        parts = [rest for part in parts for rest in part.split(shown)]
    return [part.rstrip(".") for part in parts]


COMMANDS = sorted(main.list_commands())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rdp", "Gaussian(\udcff)", "--alpha", "2"], "needed an argument that is text in UTF-8"),
        (["rdp", "Gaussian(5)\0", "--alpha", "2"], "needed an argument that is text in UTF-8"),
        (["check", "nowhere/file"], "nowhere/file"),
        (["check", "/"], "Is a directory"),
        (["plot", "Gaussian(5)", "--out", "nowhere/x.svg"], "No such file or directory"),
        (["reference", "Gaussian(5)", "--grid", "alpha=2", "--csv", "/"], "Is a directory"),
        (["rdp", "Gaussian(5)", "--alpha", "2", "--digits", "9" * 400], "needed at most 10,000"),
        (["rdp", "Gaussian(9**9999)*10", "--alpha", "1/" + "0" * 50], "denominator other than 0"),
        (["rdp", "Gaussian((9**9999)**9999)", "--alpha", "2"], "the limit is 65,536"),
        (["rdp", "9" * 30_000 + "*Gaussian(5)", "--alpha", "2"], "LimitError"),
    ],
)
def test_an_input_that_cannot_be_answered_is_one_clear_line(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    errors = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1
    assert says in errors[0]
    assert "Traceback" not in ended.stderr


def test_every_verb_has_a_good_command_line(tmp_path, monkeypatch):
    assert set(command_lines.GOOD) == set(COMMANDS)
    monkeypatch.chdir(tmp_path)
    for name in set(COMMANDS) - command_lines.FINDING:
        ended = CliRunner().invoke(main, [name, *command_lines.GOOD[name]])
        assert ended.exit_code == 0, (name, ended.output)


@covering(command_lines.shown)
@pytest.mark.parametrize(("name", "option", "value"), command_lines.options())
def test_any_value_of_any_option_ends_in_an_answer_or_in_one_clear_line(
    name, option, value, tmp_path, monkeypatch
):
    """Huge, tiny, negative, no number, nothing, long, in another script."""
    monkeypatch.chdir(tmp_path)
    told = recorded(monkeypatch)
    with bounded(120):
        ended = CliRunner().invoke(main, command_lines.words(name, option, value))
    assert ended.exception is None or isinstance(ended.exception, SystemExit)
    assert "Traceback" not in ended.output
    if ended.exit_code == 2:
        [line] = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
        assert len(line) < 2000
        assert all(words in line for message in told for words in without(message, value))
    else:
        assert ended.exit_code == 0 or (ended.exit_code, name) in ((1, "check"), (1, "falsify"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_is_whole_sentences(name):
    for paragraph in re.split(r"\n\s*\n", main.get_command(None, name).help.strip()):
        assert paragraph.rstrip().endswith((".", ":", "?")), paragraph


@pytest.mark.parametrize(
    "command",
    [
        ["table", "Gaussian(5)", "--form", "csv", "--alpha"],
        ["rdp", "Gaussian(5)", "--alpha"],
        ["compare", "PoissonSubsample(Gaussian(5), 1/10)", "--alpha"],
        ["latex", "Gaussian(5)", "--alpha"],
        ["epsilon", "Gaussian(5)", "--delta", "1e-5", "--orders"],
        ["plot", "Gaussian(5)", "--orders"],
        ["delta", "Gaussian(5)", "--epsilon"],
    ],
    ids=lambda command: " ".join(command),
)
def test_a_number_too_long_for_str_is_answered_or_refused(command, tmp_path, monkeypatch):
    """Python writes no whole number of more than 4,300 digits."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [*command, "9" * 4306])
    assert result.exit_code in (0, 2)
    assert result.exit_code == 0 or result.output.startswith("Error: ")


def left_out():
    """Each good command line without one of its options."""
    for verb, words in command_lines.GOOD.items():
        needs = {"vectors", "falsify", "reference", "verify", "plot", "expand"}.isdisjoint(
            [verb]
        )  # others take long
        for place, word in enumerate(words[:-1] if needs else ()):
            value = words[place + 1]
            if word.startswith("--") and not value.startswith("--") and word not in words[:place]:
                rest = [*words[:place], *words[place + 2 :]]
                yield [verb, *(rest if "--over" not in rest else words[:1])]


@pytest.mark.parametrize("words", list(left_out()), ids=" ".join)
def test_a_missing_option_is_named(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, words)
    if ended.exit_code == 2 and words[0] not in command_lines.FINDING:
        [line] = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
        left = set(command_lines.GOOD[words[0]]) - set(words)
        assert any(name.strip("-").partition("=")[0] in line for name in left), line


def test_calibrate_takes_the_relation_as_the_other_questions_do():
    target = ["--epsilon", "1", "--delta", "1e-2", "--digits", "2"]
    said = ["--adjacency", "replace_one"]
    for asked in (target, ["--advantage", "0.1", "--digits", "2"]):
        shown = CliRunner().invoke(main, ["calibrate", "Gaussian(sigma)", *asked, *said])
        assert shown.exit_code == 0, shown.output
        assert "replacing one" in shown.stdout or "replace_one" in shown.stdout
        sampled = "PoissonSubsample(Gaussian(sigma), 1/10)"
        refused = CliRunner().invoke(main, ["calibrate", sampled, *asked, *said])
        assert refused.exit_code == 2
        assert "AdjacencyError" in refused.stderr
