"""Every example of the README, of the pages and of the docstrings, run as printed."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import symacct
from symacct.cli import main

README = Path(__file__).parent.parent / "README.md"
MODULES = [
    info.name
    for info in pkgutil.walk_packages(symacct.__path__, "symacct.")
    if not info.name.endswith((".cli", ".opacus_accountant"))  # which imports Opacus
]


PAGES = {
    "README.md": 5, "docs/tour.md": 20, "docs/quick_start.md": 10, "docs/explore.md": 5,
    "docs/papers.md": 5, "docs/questions.md": 5, "docs/beyond.md": 10,
}  # fmt: skip


@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_the_python_examples_of_a_page_print_what_it_says(page, least):
    text = (README.parent / page).read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"```python\n(>>> .*?)```", text, re.S))
    test = doctest.DocTestParser().get_doctest(examples, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.tries >= least
    assert runner.failures == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_file_that_the_readme_links_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target


SHOWN = ("README.md", "docs/index.md", "docs/command_line.md", "docs/explore.md")
TRANSCRIPTS = [
    found
    for page in SHOWN
    for found in re.findall(
        r"\$ symacct (.*)\n((?:│.*\n)*)", (README.parent / page).read_text(encoding="utf-8")
    )
]


@pytest.mark.parametrize(("arguments", "printed"), list(dict.fromkeys(TRANSCRIPTS)))
def test_the_transcripts_print_these_lines(arguments, printed, monkeypatch):
    """On a terminal of 80 columns, as written; a check that finds something ends with status 1."""
    monkeypatch.chdir(README.parent)
    words = re.findall(r'"[^"]*"|\S+', arguments)
    answer = CliRunner(env={"COLUMNS": "80"}).invoke(main, [word.strip('"') for word in words])
    assert answer.exit_code <= (words[0] == "check"), answer.output
    shown = [line.rstrip() for line in answer.stdout.splitlines()]
    assert shown
    assert all(any(row.startswith(line) for row in shown) for line in printed.splitlines())
