"""The hook of docs/clients/pre-commit.yaml in a repository whose peer imports its own package."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from symacct.cli import main

HOOK = Path(__file__).parents[2] / "docs" / "clients" / "pre-commit.yaml"
PACKAGE = "def gaussian(alpha, sigma):\n    return alpha / (2 * sigma**2)\n"
PEER = """
import json, sys
from myacct import gaussian
SUPPORTS = [{"mechanism": "Gaussian"}]
for line in sys.stdin:
    ask = json.loads(line)
    row = {"peer": "myacct", "supports": SUPPORTS}
    if ask["ask"] == "rdp":
        alpha = ask["alpha_float"]
        parts = ask["parts"]
        row = {"value": sum(p["count"] * gaussian(alpha, p["sigma_float"]) for p in parts)}
    print(json.dumps({"id": ask["id"], **row}), flush=True)
"""


@pytest.fixture
def root(tmp_path):
    """The root of a repository, with the baseline of a right accountant."""
    (tmp_path / "myacct").mkdir()
    (tmp_path / "myacct" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    (tmp_path / "my_peer.py").write_text(PEER, encoding="utf-8")
    known = {"peer": "myacct", "defects": [], "findings": [], "schema": 2}
    (tmp_path / "symacct-known.json").write_text(json.dumps(known), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(root, short, monkeypatch):
    """The hook's entry, as pre-commit runs it: at the root, without a shell."""
    (entry,) = re.findall(r"^ *entry: (.*)", HOOK.read_text(encoding="utf-8"), re.M)
    first, *words = shlex.split(entry)
    assert first == "symacct"
    words = [word.replace("python ", f"{shlex.quote(sys.executable)} ") for word in words]
    monkeypatch.chdir(root)
    # A package that is written twice in a second, to the same length, has the first one's bytecode.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return lambda: CliRunner().invoke(main, words)


def test_a_right_accountant_passes_and_a_wrong_one_does_not(root, run):
    done = run()
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "No finding." in done.stdout
    wrong = PACKAGE.replace("2 * sigma", "3 * sigma")
    (root / "myacct" / "__init__.py").write_text(wrong, encoding="utf-8")
    done = run()
    assert done.exit_code == 1
    assert "The answer is too small" in done.stdout


def test_a_package_that_is_elsewhere_is_named_with_the_remedy(root, run):
    (root / "src").mkdir()
    (root / "myacct").rename(root / "src" / "myacct")
    done = run()
    assert done.exit_code == 2
    for said in ("No module named 'myacct'", "pip install -e .", "PYTHONPATH"):
        assert said in done.stderr
