"""Every example of the README and of the docstrings, run as printed."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symacct

README = Path(__file__).parent.parent / "README.md"
MODULES = [
    info.name
    for info in pkgutil.walk_packages(symacct.__path__, "symacct.")
    if not info.name.endswith((".demo", ".cli"))
]


def python_examples():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert len(blocks) >= 3
    return "\n".join(blocks)


def test_the_python_examples_of_the_readme_print_what_it_says():
    parser = doctest.DocTestParser()
    test = parser.get_doctest(python_examples(), {}, "README.md", str(README), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(test)
    assert runner.tries > 10
    assert runner.failures == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def commands():
    """Each `$ symacct …` of the README with the digits it prints for ε."""
    pairs = re.findall(r"\$ symacct (.*)\n│ ε +│ ([\d.]+)", README.read_text())
    assert len(pairs) == 2
    return pairs


@pytest.mark.parametrize(("arguments", "epsilon"), commands())
def test_the_commands_of_the_readme_print_what_it_says(arguments, epsilon):
    words = re.findall(r'"[^"]*"|\S+', arguments)
    answer = subprocess.run(
        [sys.executable, "-m", "symacct.cli", *(word.strip('"') for word in words)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert epsilon in answer.stdout


def test_every_file_that_the_readme_links_exists():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target
