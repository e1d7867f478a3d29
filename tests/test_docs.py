"""The documentation site builds without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest

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
