"""The documentation site builds without a warning, and its tables name what there is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import symacct

ROOT = Path(__file__).parent.parent


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


def test_the_table_of_libraries_names_what_symacct_has():
    """The second column of docs/which.md: names of the package, or of a node."""
    page = (ROOT / "docs" / "which.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]*\|([^|]*)(?:\|[^|]*){5}\|$", page, re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`([A-Za-z_.]+)`", row)}
    assert len(names) > 25
    for name in names:
        owner = symacct
        for part in name.split("."):
            owner = getattr(owner, part)
