"""The documentation site builds without a warning, and its tables name what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import symacct
from symacct.kernel.sources import SECTIONS

ROOT = Path(__file__).parents[2]


def test_the_site_builds_without_warnings(tmp_path):
    pytest.importorskip("sphinx", reason="Sphinx is an extra: symacct[docs]")
    pytest.importorskip("sphinx_click", reason="sphinx-click is an extra: symacct[docs]")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-qW", "--keep-going", "-b", "html", "docs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    catalogue = (tmp_path / "catalogue.html").read_text(encoding="utf-8")
    assert "ZW19-T8" in catalogue
    assert "WBK19-T27" in catalogue
    # What is written e^{(l−1)ε(l)} is set above the line, also within what is above the line.
    assert "e<sup>(l−1)ε(l)</sup>" in catalogue
    assert "e<sup>k<sub>i</sub></sup>" in (tmp_path / "proofs.html").read_text(encoding="utf-8")
    for page in ("catalogue", "theorems", "proofs", "python"):
        text = (tmp_path / f"{page}.html").read_text(encoding="utf-8")
        assert "^{" not in re.sub(r"<(pre|code).*?</\1>", "", text, flags=re.S), page
    # An option is typed as it is shown, and a cell knows its column.
    assert "–delta" not in (tmp_path / "command_line.html").read_text(encoding="utf-8")
    assert '<p class="label">assumes</p>' in (tmp_path / "theorems.html").read_text("utf-8")


def test_the_table_of_libraries_names_what_symacct_has():
    """The second column of docs/questions.md: names of the package, or of a node."""
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]*\|([^|]*)(?:\|[^|]*){5}\|$", page, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([A-Za-z_.]+)`", row)}
    assert len(names) > 25
    for name in names:
        owner = symacct
        for part in name.split("."):
            owner = getattr(owner, part)


def test_the_proofs_contents_are_their_sections():
    """In order and all of them; what refers to a section refers to one that is there."""
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert re.findall(r"^- \[(\d+\. .*?)\]\(#.*\)$", page, re.MULTILINE) == sections
    titles = [f"{number}. {title}" for number, title in SECTIONS.items()]
    assert sections == titles  # which BibTeX prints
    every = [*ROOT.glob("docs/*.md"), *ROOT.glob("symacct/**/*.py"), ROOT / "CHANGELOG.md"]
    for path in every:
        text = path.read_text(encoding="utf-8")
        for named in re.findall(r"proofs(?:\.md)?, sections? (\d+(?:(?:, | and )\d+)*)", text):
            assert all(int(n) in SECTIONS for n in re.findall(r"\d+", named)), (path, named)


def test_the_proofs_name_code_that_is_there():
    """The last line of a section: the modules and rooms of symacct/ that use it."""
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\*In the code:\* (.*)$", page, re.MULTILINE)
    assert len(lines) == len(re.findall(r"^## ", page, re.MULTILINE)) - 2  # notation; what is open
    for path in re.findall(r"`([^`]+)`", " ".join(lines)):
        assert (ROOT / "symacct" / path).exists(), path
