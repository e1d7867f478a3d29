"""An option by another name: the right one is told, and each that is told exists."""

import re

import click
import pytest

from symacct.cli import main
from symacct.cli.hints import _ALSO_CALLED, _BEFORE, _NOT_HERE, _VALUES
from tests.test_cli import run

COMMANDS = {name: main.get_command(None, name) for name in main.list_commands()}


def options(command):
    return {one: parameter for parameter in command.params for one in parameter.opts}


def test_the_output_form_is_one_option_in_every_command():
    for command in COMMANDS.values():
        assert not {"--format", "--target", "--language", "--output-format"} & set(options(command))
    forms = {name for name, command in COMMANDS.items() if "--form" in options(command)}
    assert forms == {"statement", "table", "graph", "code", "certificate", "dpsgd"}


@pytest.mark.parametrize(
    ("words", "old"),
    [
        (["table", "Gaussian(5)", "--alpha", "2", "--format", "csv"], "--format"),
        (["table", "Gaussian(5)", "--alpha", "2", "--format=csv"], "--format"),
        (["graph", "Gaussian(5)", "--format", "dot"], "--format"),
        (["code", "Gaussian(5)", "--target", "python", "--points", "20"], "--target"),
    ],
)
def test_a_name_of_before_answers_as_the_one_of_today_with_a_note(words, old):
    result, today = run(*words), run(*(word.replace(old, "--form") for word in words))
    assert result.exit_code == 0
    assert result.stdout == today.stdout
    assert result.stderr == f"Note: {old} is called --form in every command\n"


@pytest.mark.parametrize(("command", "option"), _NOT_HERE)
def test_what_a_command_has_not_is_said_in_words_that_are_true(command, option):
    known = options(COMMANDS[command])
    assert option not in known
    result = run(command, "Gaussian(5)", option, "1")
    assert result.exit_code == 2
    said = f"Error: No such option '{option}': {_NOT_HERE[command, option]}"
    assert result.stderr.startswith(said)
    for name in re.findall(r"symacct (\w+)", result.stderr):
        assert name in COMMANDS
    for name in re.findall(r"(?<!')--[a-z-]+", result.stderr):
        assert any(name in options(one) for one in COMMANDS.values())


@pytest.mark.parametrize("called", _ALSO_CALLED)
def test_another_name_is_told_the_option_of_ours(called):
    """In every command that has one of them, the first of these."""
    told = 0
    for name, command in COMMANDS.items():
        known = options(command)
        ours = [f"--{one}" for one in _ALSO_CALLED[called] if f"--{one}" in known]
        if f"--{called}" in known or (name, f"--{called}") in _NOT_HERE or not ours:
            continue
        assert f"Did you mean '{ours[0]}'?" in run(name, f"--{called}", "x").stderr
        told += 1
    assert told


@pytest.mark.parametrize("called", _VALUES)
def test_a_value_as_an_option_is_told_the_option_that_takes_it(called):
    option, value = _VALUES[called]
    told = 0
    for name, command in COMMANDS.items():
        parameter = options(command).get(option)
        if parameter is None or f"--{called}" in options(command):
            continue
        if isinstance(parameter.type, click.Choice) and value not in parameter.type.choices:
            continue
        if option == "--form" and not isinstance(parameter.type, click.Choice):
            continue
        assert f"Did you mean '{option} {value}'?" in run(name, f"--{called}").stderr
        told += 1
    assert told


def test_what_was_before_is_no_option_of_today():
    for old, new in _BEFORE.items():
        assert all(old not in options(command) for command in COMMANDS.values())
        assert any(new in options(command) for command in COMMANDS.values())
