"""Every example of the README, of the pages and of the docstrings, run as printed."""

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import symacct
from symacct.cli import main

README = Path(__file__).parents[2] / "README.md"
PACKAGE = Path(symacct.__file__).parent
#: The modules with an example in a docstring.
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
    if path.stem != "opacus_accountant"  # which imports Opacus
]

PAGES = {
    "README.md": 5, "docs/index.md": 30, "docs/python.md": 20, "docs/papers.md": 5,
    "docs/questions.md": 50, "docs/theorems.md": 50,
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


#: Their blocks show what is printed line by line; a line "…" stands for lines that are left out.
SHOWN = sorted(
    page.relative_to(README.parent).as_posix()
    for page in [README, *(README.parent / "docs").glob("*.md")]
    if "```console" in page.read_text(encoding="utf-8")
)
#: Commands that take minutes, need what is not here, or write files.
NOT_RUN = r"verify|vectors|peers"


def transcripts(page):
    """(command, what is printed) of every block of a page."""
    text = (README.parent / page).read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for found in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, printed = found.partition("\n")
            if command.startswith("symacct ") and not re.match(rf"symacct ({NOT_RUN})", command):
                yield command.removeprefix("symacct "), printed.strip("\n")


TRANSCRIPTS = {found: page for page in SHOWN for found in transcripts(page)}


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{name}.md" for name in ("index", "questions", "python",
                                                          "command_line", "papers"))]
)  # fmt: skip
def test_a_long_number_in_the_prose_is_one_that_an_example_of_the_page_shows(page):
    """A number stands once, where it is run; tables of what others answer are dated."""
    text = (README.parent / page).read_text(encoding="utf-8")
    block = re.compile(r"```.*?```", re.S)
    prose = re.sub(r"`[^`]*`|^\|.*$", "", block.sub("", text), flags=re.M)
    told = [number.lstrip("0") for number in re.findall(r"\d*\.\d{4,}", prose)]
    assert [number for number in told if number not in " ".join(block.findall(text))] == []


def in_order(shown, lines):
    """Are these the lines shown, from the first to the last, but for those that "…" stands for?"""
    parts = "\n".join(lines).split("\n…")
    pattern = r"(?:\n.*)*".join(map(re.escape, parts))
    return re.fullmatch(pattern, "\n".join(shown)) is not None


@pytest.mark.parametrize(("arguments", "printed"), TRANSCRIPTS)
def test_the_transcripts_are_what_is_printed(arguments, printed, monkeypatch):
    """On a terminal of 80 columns; a check that finds something ends with status 1."""
    monkeypatch.chdir(README.parent)
    words = shlex.split(arguments)
    answer = CliRunner(env={"COLUMNS": "80"}).invoke(main, words)
    assert answer.exit_code <= (words[0] == "check"), answer.output
    shown = [line.rstrip() for line in answer.stdout.splitlines()]
    assert shown
    if printed:
        assert in_order(shown, printed.splitlines()), answer.stdout


def test_a_transcript_of_other_lines_is_seen():
    shown = ["a", "b", "c", "d"]
    assert in_order(shown, ["a", "b", "…", "d"])
    assert in_order(shown, ["a", "…"])
    assert in_order(shown, shown)
    for wrong in (["a", "b"], ["b", "…"], ["a", "c", "…"], ["a", "…", "x"], ["a", "…", "b", "a"]):
        assert not in_order(shown, wrong)
