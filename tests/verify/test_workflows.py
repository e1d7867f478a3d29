"""The workflows that are there to be copied: what they install, and what they run."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from symacct.cli import main, verifying
from tests.verify.test_judgement import report

CLIENTS = Path(__file__).parents[2] / "docs" / "clients"
WORKFLOWS = sorted(CLIENTS.glob("symacct*.yml"))


@pytest.mark.parametrize("file", sorted(CLIENTS.glob("*.yml")), ids=lambda file: file.name)
def test_no_workflow_installs_a_name_that_a_stranger_could_register(file):
    text = file.read_text(encoding="utf-8")
    installed = re.findall(r"pip install (.*)", text)
    assert installed
    for what in installed:
        assert shlex.split(what.split(" #")[0])[0].startswith("."), what


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_the_command_of_a_workflow_is_one(file):
    (line,) = re.findall(r"run: >-\n((?: {10}.*\n)+)", file.read_text(encoding="utf-8"))
    program, verb, *words = shlex.split(line)
    assert (program, verb) == ("symacct", "verify")
    context = main.get_command(None, verb).make_context(verb, list(words))
    assert context.params["baseline"] is not None
    compiled = context.params["command"] == "./peer"
    assert (context.params["source"] is not None) is compiled


def test_the_two_differ_in_the_peer_alone():
    here, there = (file.read_text(encoding="utf-8").splitlines() for file in WORKFLOWS)
    assert len(WORKFLOWS) == 2
    differ = set(here) ^ set(there)
    assert all("peer" in line or "your accountant" in line for line in differ)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("source", [[], ["--source", "peer.cpp"]])
def test_alerts_that_github_would_not_show_are_announced(tmp_path, monkeypatch, compiled, source):
    """Of a compiled program, unless its source is named; a script is its own source."""
    monkeypatch.chdir(tmp_path)
    Path("peer.cpp").write_text("int main() {}\n", encoding="utf-8")
    Path("peer").write_bytes(b"\x7fELF\0" if compiled else b"#!/bin/sh\n")
    whole = replace(report(), command=["./peer"])
    monkeypatch.setattr(verifying, "verify", lambda *asked: whole)
    given = ["verify", "--command", "./peer", "--sarif", "out.sarif", *source]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    assert ("GitHub will show no alert" in done.stderr) is (compiled and not source)
