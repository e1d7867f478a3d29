"""The proofs are lemmas with names: each is stated, cited where used, and attacked by tests."""

import re
from functools import cache
from pathlib import Path

from symacct import theorems
from symacct.kernel.sources import SYMACCT

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "proofs"
CHAPTERS = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_LIST = rf"{NAME}(?:(?:, {NAME})* and (?!docs/){NAME})?"
#: A citation: the chapter's path, the word in prose, and one name or several.
CITATION = re.compile(rf"docs/proofs/(\w+)\.md, (Lemmas? )?({_LIST})")
#: What a section of the former page was cited by.
NUMBERED = re.compile(
    r"proofs(?:\.md)?[\])]*, (?:sections? )?\d|Sections? \d+.{0,8} of docs/proofs"
)
#: Where a comment, a docstring or a string goes on in the next line.
_BREAK = re.compile(r'[ "]*\n\s*(?:#:? ?|f?")?\s*')
_LEMMA = re.compile(rf"^### Lemma ({NAME})\n(.*?)(?=^#{{1,3}} |\Z)", re.MULTILINE | re.DOTALL)
_BOX = re.compile(
    r"```\{admonition\} \S[^\n]*\n:class: lemma\n\n.+?\n```\n\n"
    r"\*Used by:\* ([^\n]+)\n\n\*Attacked by:\* ([^\n]+)\n",
    re.DOTALL,
)
_FILES = [
    path
    for folder, kinds in {
        "symacct": ("py", "pyi", "toml", "bib"),
        "tests": ("py",),
        "benchmarks": ("py", "md"),
        "checker": ("py", "md"),
        "docs": ("md", "py"),
        "notebooks": ("py", "ipynb"),
    }.items()
    for kind in kinds
    for path in (ROOT / folder).rglob(f"*.{kind}")
    if path not in (Path(__file__), ROOT / "docs" / "catalogue.md")  # which the build writes
    if FOLDER not in path.parents
] + [ROOT / "README.md"]


def _lemmas():
    """(chapter, text) of each lemma."""
    found = {}
    for path in CHAPTERS:
        for name, text in _LEMMA.findall(path.read_text(encoding="utf-8")):
            assert name not in found, f"two lemmas are called {name}"
            found[name] = path.stem, text
    return found


LEMMAS = _lemmas()


def _flat(path):
    return _BREAK.sub(" ", path.read_text(encoding="utf-8"))


@cache
def _cited(path):
    """(chapter, name) of each lemma that a file cites."""
    found = set()
    for chapter, word, names in CITATION.findall(_flat(path)):
        every = re.split(", | and ", names)
        # Prose may go on after the first name: "Lemma filter, and …".
        found |= {(chapter, name) for name in (every if word != "Lemma " else every[:1])}
    return found


def _box(name):
    box = _BOX.search(LEMMAS[name][1])
    assert box, f"Lemma {name} has no box, or no line of what uses and attacks it"
    return box


def test_there_are_chapters_of_lemmas():
    assert 8 <= len(CHAPTERS) <= 14
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```\{toctree\}.*?\n\n(.*?)\n```", index, re.DOTALL)
    assert sorted(listed[1].split("\n")) == [path.stem for path in CHAPTERS]
    for name, (chapter, _) in LEMMAS.items():
        assert len(name.split("-")) <= 4, name
        assert f"[{name}]({chapter}.md#lemma-{name})" in index


def test_a_lemma_has_a_box_and_says_what_uses_and_attacks_it():
    for name in LEMMAS:
        users, attackers = _box(name).groups()
        files = re.findall(r"`([\w/]+\.(?:py|toml))`(?: \((.*?)\))?", users)
        assert files or users == "none", (name, users)
        for shown, owners in files:
            path = ROOT / shown if shown.startswith("tests/") else ROOT / "symacct" / shown
            cited = (LEMMAS[name][0], name) in _cited(path)
            assert cited, f"{shown} does not cite Lemma {name}"
            text = path.read_text(encoding="utf-8")
            for owner in re.findall(r"`([\w.]+)`", owners):
                for part in owner.split("."):
                    assert re.search(rf"\b(?:def|class) {part}\b", text), (shown, owner)
        tests = re.findall(r"`(tests/[\w/]+\.py)`", attackers)
        assert tests or attackers == "none", (name, attackers)
        for shown in tests:
            assert Path(shown).name.startswith("test_"), shown
            assert "def test_" in (ROOT / shown).read_text(encoding="utf-8"), shown


def test_what_is_cited_is_a_lemma():
    assert sum(len(_cited(path)) for path in _FILES) > 200
    for path in _FILES:
        for chapter, name in _cited(path):
            assert LEMMAS.get(name, [""])[0] == chapter, (path, chapter, name)


def test_nothing_cites_a_section_by_its_number():
    for path in _FILES:
        assert not NUMBERED.search(_flat(path)), (path, NUMBERED.search(_flat(path)))
    for path in CHAPTERS:  # the sections of papers keep their numbers
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<!MTZ19 )\b[Ss]ections? \d", text), path


def test_chapters_link_to_lemmas_that_are_there():
    for path in [*CHAPTERS, FOLDER / "index.md"]:
        text = path.read_text(encoding="utf-8")
        for page, name in re.findall(rf"\]\((?:(\w+)\.md)?#lemma-({NAME})\)", text):
            assert LEMMAS[name][0] == (page or path.stem), (path, name)
        titles = re.findall(r"\[Lemma (.*?)\]\(\S*?#lemma-(.*?)\)", text)
        assert all(shown == name for shown, name in titles)


def test_the_sources_of_theorems_are_lemmas():
    """A place that is put together of parts is read whole."""
    places = [one.source.place for one in theorems() if one.source.key == SYMACCT.key]
    named = [place for place in places if place.startswith("docs/proofs/")]
    assert len(named) > 30
    for place in named:
        chapter, lemma = re.match(rf"docs/proofs/(\w+)\.md, ({NAME})", place).groups()
        assert LEMMAS[lemma][0] == chapter, place
