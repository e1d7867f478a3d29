"""The workflows that are there to be copied: what they install, and what they run."""

import re
import shlex
from pathlib import Path

import pytest

from symacct.cli import main

CLIENTS = Path(__file__).parents[2] / "docs" / "clients"
WORKFLOWS = sorted(CLIENTS.glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_no_workflow_installs_a_name_that_a_stranger_could_register(file):
    text = file.read_text(encoding="utf-8")
    installed = re.findall(r"pip install (.*)", text)
    assert installed
    for what in installed:
        assert shlex.split(what.split(" #")[0])[0].startswith("."), what


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_the_command_of_a_workflow_is_one(file):
    (line,) = re.findall(r"run: (symacct verify .*)", file.read_text(encoding="utf-8"))
    _, verb, *words = shlex.split(line)
    context = main.get_command(None, verb).make_context(verb, list(words))
    assert context.params["command"] == "python my_peer.py"
    assert (context.params["baseline"] is not None) is (file.name == "symacct.yml")
