"""`pytest --symacct PEER`, as another suite would run it."""

import os
import shlex
import subprocess
import sys

from tests.verify.peers import program


def suite(tmp_path, bodies, *options):
    """pytest's (status, output) in a folder of another project, with this plugin alone."""
    peers = []
    for number, body in enumerate(bodies):
        (folder := tmp_path / str(number)).mkdir()
        peers += ["--symacct", shlex.join(program(folder, body))]
    command = [sys.executable, "-m", "pytest", "-p", "symacct.testing.pytest_plugin", *peers]
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


def test_each_peer_is_one_test_of_a_suite(tmp_path):
    """One that is right, one that is not, and one of which nothing can be said."""
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n", encoding="utf-8")
    bodies = [
        f"say({answer})"
        for answer in ("{'value': value}", "{'value': value / 2}", "{'error': 'no'}")
    ]
    status, output = suite(tmp_path, bodies, "-k", "symacct or own")
    assert status == 1, output
    assert "2 failed, 2 passed" in output
    assert "too small: Gaussian noise without sampling, add/remove" in output
    assert "answers could be judged" in output
    assert "symacct/testing/pytest_plugin.py" not in output


def test_what_fails_is_named(tmp_path):
    bodies = ["say({'value': 2 * value})"]
    assert suite(tmp_path, bodies, "--symacct-fail-on", "loose")[0] == 1
