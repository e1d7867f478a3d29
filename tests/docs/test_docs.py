"""The documentation site builds without a warning, and its tables name what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import symacct

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
    sums = (tmp_path / "proofs" / "sums.html").read_text(encoding="utf-8")
    assert "e<sup>k<sub>i</sub></sup>" in sums
    assert '<div class="lemma admonition">' in sums
    proofs = [f"proofs/{path.stem}" for path in (ROOT / "docs" / "proofs").glob("*.md")]
    for page in ("catalogue", "theorems", "python", *proofs):
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
