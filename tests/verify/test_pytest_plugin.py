"""`pytest --symacct PEER`, as another suite would run it."""

import os
import shlex
import subprocess
import sys

import pytest

from tests.verify.peers import program


def suite(tmp_path, body, *options):
    """pytest's (status, output) in a folder of another project, with this plugin alone."""
    words = shlex.join(program(tmp_path, body))
    command = [sys.executable, "-m", "pytest", "-p", "symacct.pytest_plugin", "--symacct", words]
    done = subprocess.run(
        [*command, "--symacct-quick", "-p", "no:cacheprovider", *options],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("say({'value': value})", 0, "1 passed"),
        ("say({'value': value / 2})", 1, "too small: none: add/remove"),
        ("say({'error': 'no'})", 1, "answers could be judged"),
    ],
)
def test_a_peer_is_one_test_of_a_suite(tmp_path, body, status, said):
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n", encoding="utf-8")
    found, output = suite(tmp_path, body, "-k", "symacct or own")
    assert found == status, output
    assert said in output or status == 0
    assert ("2 passed" if status == 0 else "1 failed, 1 passed") in output
    assert "symacct/pytest_plugin.py" not in output


def test_what_fails_is_named(tmp_path):
    body = "say({'value': 2 * value})"
    assert suite(tmp_path, body, "--symacct-fail-on", "loose")[0] == 1
