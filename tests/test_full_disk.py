"""Whatever writes a file says in one error that it could not, and loses nothing that was safe."""

import builtins
import errno
import io
import os
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner

from symacct import Gaussian, StorageError, SymacctError, sweep
from symacct.cli import main
from symacct.explore import sweeps
from symacct.export.figures import FORMATS, figure, save
from symacct.export.tables import table

GRID = {"sigma": [1, 2, 3], "delta": "1e-5"}
NODE = Gaussian(sympy.Symbol("sigma", positive=True))
ACTS = ("read", "readline", "write", "flush", "seek", "truncate", "close")


class Failing:
    """A disk that is full from its n-th act on: the file's own calls and the system's."""

    def __init__(self, after, fault):
        self.left, self.fault = after, fault

    def act(self):
        self.left -= 1
        if self.left < 0:
            raise OSError(self.fault, os.strerror(self.fault)) if self.fault else OSError()

    def open(self, path, *how, **rest):
        self.act()
        return _File(self, builtins.open(path, *how, **rest))

    def called(self, function):
        def call(*given):
            self.act()
            return function(*given)

        return call


class _File:
    def __init__(self, disk, file):
        self._disk, self._file = disk, file

    def __getattr__(self, name):
        found = getattr(self._file, name)
        return self._disk.called(found) if name in ACTS else found

    def __enter__(self):
        return self

    def __exit__(self, *fault):
        self.close()


@pytest.mark.parametrize("fault", [errno.ENOSPC, 0])
def test_a_sweep_says_what_is_safe_whatever_act_fails(fault, tmp_path, monkeypatch):
    """The n-th call that reaches the disk fails, and all after it, for each n."""
    right = list(sweep(NODE, GRID, digits=6))
    failures = []
    for after in range(1000):
        file = tmp_path / f"{after}.jsonl"
        disk = Failing(after, fault)
        with monkeypatch.context() as patched:
            patched.setattr(sweeps, "open", disk.open, raising=False)
            patched.setattr(sweeps.os, "fsync", disk.called(os.fsync))
            try:
                assert list(sweep(NODE, GRID, digits=6, file=file)) == right
            except StorageError as error:
                failures.append(str(error))
        assert list(sweep(NODE, GRID, digits=6, file=file)) == right  # there is room again
        if disk.left >= 0:
            break
    assert len(failures) > 8
    assert all(said.startswith("results file ") and "None" not in said for said in failures)


WRITTEN = [
    ("sweep", "--file", "x.jsonl"), ("sweep", "--csv", "x.csv"), ("plot", "--out", "x.svg"),
    ("plot", "--out", "x.png"), ("table", "--figure", "x.pdf"), ("reference", "--csv", "x.csv"),
    ("reference", "--json", "x.json"), ("verify", "--json", "x.json"), ("verify", "--html", "x"),
    ("certificate", "--out", "x.json"),
]  # fmt: skip
VERBS = {
    "sweep": ["Gaussian(sigma)", "--over", "sigma=1", "--over", "delta=1e-5"],
    "plot": ["Gaussian(5)", "--orders", "2,4"],
    "table": ["Gaussian(5)", "--alpha", "2,4"],
    "reference": ["Gaussian(5)", "--grid", "alpha=2"],
    "certificate": ["Gaussian(5)", "--delta", "1e-5"],
    "verify": ["--command", "false"],
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(("verb", "option", "name"), WRITTEN)
def test_every_file_that_a_verb_writes(verb, option, name, tmp_path):
    (tmp_path / name).symlink_to("/dev/full")
    ended = CliRunner().invoke(main, [verb, *VERBS[verb], option, str(tmp_path / name)])
    assert ended.exit_code == 2
    [line] = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    assert verb == "verify" or "space" in line or "longer than" in line


@pytest.mark.parametrize("suffix", [one for one in FORMATS if one != "pgf"])
def test_a_figure_and_a_table_that_cannot_be_written(suffix, tmp_path, monkeypatch):
    drawn = figure(table(Gaussian(5), [2, 4]))
    swept = sweep(NODE, GRID, digits=6)
    for path in (f"a\0.{suffix}", tmp_path / "nowhere" / f"x.{suffix}"):
        for write in (lambda to: save(drawn, to), swept.to_csv):
            with pytest.raises(SymacctError, match=r"path of a file|No such file"):
                write(path)

    def full(*given, **how):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(io, "open", full)
    with pytest.raises(StorageError, match="No space left"):
        save(drawn, tmp_path / f"x.{suffix}")
