"""What a project keeps beside its code: how it is cited, its hooks, its forms, its changelog."""

import re
import shlex
import tomllib
from datetime import date
from pathlib import Path

import pytest

import symacct

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extras: symacct[docs]")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_file_has_the_version_of_the_package():
    cited = yaml.safe_load(read("CITATION.cff"))
    assert {"authors", "cff-version", "message", "title"} <= set(cited)
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert cited["version"] == symacct.__version__
    assert cited["authors"] == [{"name": "The symacct developers"}]
    assert all(isinstance(cited[key], str) for key in ("message", "title", "abstract", "license"))
    assert all(isinstance(word, str) for word in cited["keywords"])


def test_the_version_and_its_day_are_those_of_the_changelog_and_of_the_metadata():
    cited = yaml.safe_load(read("CITATION.cff"))
    date.fromisoformat(cited["date-released"])
    assert f"\n## {cited['version']} ({cited['date-released']})\n" in read("CHANGELOG.md")
    assert f"license = {cited['license']}\n" in read("setup.cfg")


def test_the_hooks_are_those_of_make_lint_and_nothing_is_fetched():
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))
    assert [place["repo"] for place in hooks["repos"]] == ["local"]
    linted = re.search(r"^lint: .*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)[1]
    programs = [shlex.split(line.replace("$(BIN)", ".venv/bin")) for line in linted.splitlines()]
    entries = [shlex.split(hook["entry"]) for hook in hooks["repos"][0]["hooks"]]
    assert len(entries) == len(programs)
    for entry, program in zip(entries, programs, strict=True):
        wanted = [word for word in program if word != "."]
        assert [word for word in entry if word != "--force-exclude"] == wanted
    for hook in hooks["repos"][0]["hooks"]:
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert hook["language"] == "system"
    tools = tomllib.loads(read("pyproject.toml"))["tool"]
    assert {Path(entry[0]).name for entry in entries} <= set(tools)


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")))
def test_a_form_for_issues_has_a_head_with_its_name_and_what_it_is_about(form):
    _, head, body = form.read_text(encoding="utf-8").split("---\n", 2)
    assert set(yaml.safe_load(head)) == {"name", "about"}
    assert "**" in body


def test_the_help_of_make_names_every_target():
    text = read("Makefile")
    targets = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    named = re.findall(r'^\t@echo "  make ([\w-]+) ', text, re.MULTILINE)
    assert sorted(named) == sorted(set(targets) - {"help"})
    assert set(re.findall(r"^([\w-]+)(?: [\w-]+)*:(?!=)", text, re.MULTILINE)) >= set(named) - {
        "soak"
    }


def test_the_changelog_has_groups_of_at_most_ten_lines():
    for release in read("CHANGELOG.md").split("\n## ")[1:]:
        head, *groups = release.split("\n### ")
        for group in groups:
            title, *lines = group.strip().splitlines()
            assert len([line for line in lines if line]) <= 10, (head.split()[0], title)


def test_contributing_says_only_how_to_work_here():
    assert len(read("CONTRIBUTING.md")) < 8000


def test_the_page_on_the_tests_names_every_file_and_each_folder_that_is_no_room():
    named = set(re.findall(r"`(\w+(?:/|\.py))`", read("tests/README.md")))
    rooms = {f"{path.parent.name}/" for path in (ROOT / "symacct").glob("*/__init__.py")}
    places = {path.name for path in (ROOT / "tests").glob("*.py")} - {"__init__.py"}
    places |= {f"{path.name}/" for path in (ROOT / "tests").glob("[!_.]*/")} - rooms
    assert places - named == set()
    tests = {path.name for path in (ROOT / "tests").rglob("*.py")}
    files = {path.name for path in (ROOT / "symacct").rglob("*.py")} | tests
    assert {name for name in named if name.endswith(".py")} - files == set()
    assert {name for name in named if name.endswith("/")} - places - rooms == set()
