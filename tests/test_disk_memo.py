"""Curve values on disk: the same digits, no oracle call, and no trust in a damaged file."""

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from symacct import (
    Accountant,
    Curve,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    StorageError,
    StorageWarning,
    SubsampleWithoutReplacement,
    theorem,
)
from symacct.accountant import disk_memo
from symacct.core.claims import ADD_REMOVE, INTEGER_ORDERS, Kind, Source
from symacct.expressions import theorem_registry
from symacct.expressions.theorem_registry import always
from symacct.profile import Profile

STEP = PoissonSubsample(Gaussian(3), "1/50")
M = 1000 * STEP + 20 * Laplace(4)


def rows(file):
    with sqlite3.connect(file) as base:
        return base.execute("select count(*) from ball").fetchone()[0]


def test_a_second_accountant_calls_no_oracle_and_gives_the_same_bits(tmp_path):
    file = tmp_path / "memo.sqlite"
    first, second, bare = Accountant(memo=file), Accountant(memo=file), Accountant()
    for alpha in (2, 40, "7/2", "inf"):
        expected = bare.rdp(M, alpha)
        assert first.rdp(M, alpha) == expected
        again = second.rdp(M, alpha)
        assert (again.lower, again.upper) == (expected.lower, expected.upper)
    assert first.oracle_calls(STEP) == 4
    assert second.oracle_calls(STEP) == 0
    assert second.oracle_calls(M) == 0
    assert first.epsilon(M, "1e-6") == bare.epsilon(M, "1e-6")
    third = Accountant(memo=file)
    assert third.epsilon(M, "1e-6") == bare.epsilon(M, "1e-6")
    assert third.oracle_calls(STEP) == 0


def test_values_are_kept_apart_by_theorem_goal_and_precision(tmp_path):
    file = tmp_path / "memo.sqlite"
    questions = [
        lambda a: a.rdp(STEP, 6),
        lambda a: a.rdp(STEP, 6, by="ZW19-T5"),
        lambda a: a.rdp(STEP, 6, by="ZW19-T6"),
        lambda a: a.rdp(STEP, 6, digits=200),
        lambda a: a.lower_bound(STEP, 6),
        lambda a: a.rdp(PoissonSubsample(Gaussian(3), "1/49"), 6),
    ]
    for ask in questions:
        assert ask(Accountant(memo=file)) == ask(Accountant())
    for ask in questions:
        assert ask(Accountant(memo=file)) == ask(Accountant())


def test_another_version_is_another_memo(tmp_path, monkeypatch):
    file = tmp_path / "memo.sqlite"
    Accountant(memo=file).rdp(STEP, 6)
    monkeypatch.setattr("symacct.accountant.disk_memo.__version__", "0.0.1")
    older = Accountant(memo=file)
    older.rdp(STEP, 6)
    assert older.oracle_calls(STEP) == 1


def test_a_formula_put_right_finds_no_value_of_the_one_before(tmp_path):
    """A copy of the package, with another Gaussian curve under the same version."""
    package, file = tmp_path / "symacct", tmp_path / "memo.sqlite"
    # What the change must not be hidden by is compiled each time.
    compiled = shutil.ignore_patterns("gaussian.cpython*")
    shutil.copytree(Path(disk_memo.__file__).parents[1], package, ignore=compiled)
    formula = package / "mechanisms" / "gaussian.py"
    ask = (
        "from symacct import Accountant, Gaussian\n"
        f"a, m = Accountant(memo={str(file)!r}), Gaussian(5)\n"
        "print(a.rdp(m, 2), a.oracle_calls(m))"
    )

    def answers():
        command = [sys.executable, "-c", ask]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        value, calls = run.stdout.split()
        return float(value), int(calls)

    assert answers() == (0.04, 1)
    assert answers() == (0.04, 0)
    right = formula.read_text(encoding="utf-8")
    formula.write_text(right.replace("** 2 / 2", "** 2 / 4"), encoding="utf-8")
    assert answers() == (0.02, 1)
    formula.write_text(right, encoding="utf-8")
    assert answers() == (0.04, 0)


def test_the_digest_of_the_source_is_of_names_and_texts(tmp_path):
    def digest(files):
        package = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in files.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(text)
        return disk_memo.source_digest(package)

    files = {"a.py": "x = 1", "b/c.py": ""}
    others = [{"a.py": "x = 2", "b/c.py": ""}, {"a.py": "x = 1"}, {"a.py": "x = 1", "c.py": ""}]
    assert digest(files) == digest({**files, "README": "changed"})
    assert len({digest(one) for one in (files, *others)}) == 4


def test_the_source_is_read_only_where_a_memo_is_used():
    ask = "import symacct, symacct.accountant.disk_memo as d;"
    ask += "symacct.Accountant().rdp(symacct.Gaussian(5), 2);"
    ask += "print(d.source_digest.cache_info().currsize)"
    run = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0"


def test_what_python_code_decides_is_not_kept(tmp_path):
    file = tmp_path / "memo.sqlite"
    curve = Curve(lambda ctx, a: a / 50, kind="upper", adjacency="add_remove")
    Accountant(memo=file).rdp(PoissonSubsample(curve, "1/2"), 6)
    assert rows(file) == 0

    @theorem(
        "MINE-1",
        operation=PoissonSubsample,
        kind=Kind.UPPER,
        source=Source("user", "mine"),
        orders=INTEGER_ORDERS,
        adjacency=ADD_REMOVE,
        applies=always,
        monotone=True,
        status="proved",
    )
    def mine(ctx, eps, alpha, gamma):
        """ε′(α) <= ε(α)"""
        return eps(alpha)

    try:
        Accountant(memo=file).rdp(STEP, 6)
        assert rows(file) == 0
    finally:
        theorem_registry.forget("MINE-1")


@pytest.mark.parametrize(
    "content",
    [b"sigma,epsilon\n1,2\n" * 100, b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["text", "broken header"],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content):
    file = tmp_path / "memo.sqlite"
    file.write_bytes(content)
    with pytest.raises(StorageError, match="name another file"):
        Accountant(memo=file)
    assert file.read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "memo.sqlite"
    with sqlite3.connect(file) as base:
        base.execute("create table ball (flight text)")
    content = file.read_bytes()
    with pytest.raises(StorageError, match="something other than a memo"):
        Accountant(memo=file)
    assert file.read_bytes() == content
    with pytest.raises(StorageError, match="unable to open"):
        Accountant(memo=tmp_path / "no" / "folder.sqlite")


@pytest.mark.parametrize("change", ["value = '8' || value", "alpha = '8' || alpha"])
def test_a_row_that_was_tampered_with_is_noticed(tmp_path, change):
    file = tmp_path / "memo.sqlite"
    Accountant(memo=file).rdp(STEP, 6)
    with sqlite3.connect(file) as base:
        base.execute(f"update ball set {change}")  # noqa: S608  # a literal of this test
    with pytest.raises(StorageError, match="does not match its digest"):
        Accountant(memo=file).rdp(STEP, 6)


def test_a_full_disk_loses_no_answer(tmp_path):
    file = tmp_path / "memo.sqlite"
    accountant = Accountant(memo=file)
    accountant.rdp(STEP, 2)
    base = accountant._disk._base
    pages = base.execute("pragma page_count").fetchone()[0]
    base.execute(f"pragma max_page_count = {pages}")

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for alpha in range(3, 400):
            assert accountant.rdp(STEP, alpha, digits=8) == Accountant(8).rdp(STEP, alpha)
        accountant.epsilon(2 * STEP, "1e-5")
        accountant._disk.close()
    assert [warning.category for warning in said] == [StorageWarning]
    assert "full" in str(said[0].message)
    assert accountant.oracle_calls(STEP) >= 397
    assert Accountant(memo=file).rdp(STEP, 2) == Accountant().rdp(STEP, 2)


class Interrupting:
    """The connection of a memo, with an interrupt just after one statement is done."""

    def __init__(self, base, after):
        self.base, self.after = base, after

    def __getattr__(self, name):
        return getattr(self.base, name)

    def execute(self, statement, *values):
        done = self.base.execute(statement, *values)
        if statement == self.after:
            self.after = None
            raise KeyboardInterrupt
        return done


@pytest.mark.parametrize("after", ["begin immediate", "commit", "pragma data_version"])
def test_an_interrupt_leaves_no_transaction_open(tmp_path, after):
    file = tmp_path / "memo.sqlite"
    accountant = Accountant(memo=file)
    base = accountant._disk._base
    accountant._disk._base = Interrupting(base, after)
    with pytest.raises(KeyboardInterrupt):
        accountant.rdp(STEP, 5)
    assert not base.in_transaction
    assert accountant.rdp(STEP, 6) == Accountant().rdp(STEP, 6)
    other = Accountant(memo=file)
    other.rdp(STEP, 6)
    assert other.oracle_calls(STEP) == 0


def digested(key, alpha, value):
    return hashlib.sha256(b"\n".join((key, alpha, value))).digest()[:16]


FORGED = [
    (b"6", b"zz 0 0 0"),
    (b"6", b"0x1 0 0 0"),
    (b"6", b"1_0 0 0 0"),
    (b"6", b"nan"),
    (b"6", b"-inf"),
    (b"6", b"1 0 0"),
    (b"6.0", b"1 0 0 0"),
    (b"1/0", b"1 0 0 0"),
    (b"1/2", b"1 0 0 0"),
    (b"0", b"1 0 0 0"),
    (b"-5", b"1 0 0 0"),
    (b"\xff", b"1 0 0 0"),
    (b"6", b"\xff"),
]


@pytest.mark.parametrize(("alpha", "value"), FORGED)
def test_a_row_is_read_strictly_even_with_the_right_digest(tmp_path, alpha, value):
    file = tmp_path / "memo.sqlite"
    Accountant(memo=file).rdp(STEP, 6)
    with sqlite3.connect(file) as base:
        keys = base.execute("select distinct key from ball").fetchall()
        base.execute("delete from ball")
        rows = [(key, alpha, value, digested(key, alpha, value)) for (key,) in keys]
        base.executemany("insert into ball values (?, ?, ?, ?)", rows)
    with pytest.raises(StorageError, match="holds no order and value"):
        Accountant(memo=file).rdp(STEP, 6)


ENDLESS = """
import sys
from symacct import Accountant, Gaussian, PoissonSubsample
accountant = Accountant(memo=sys.argv[1])
for alpha in range(2, int(sys.argv[2])):
    accountant.rdp(PoissonSubsample(Gaussian(3), "1/50"), alpha)
"""


def test_two_processes_and_a_kill_leave_a_sound_memo(tmp_path):
    file = tmp_path / "memo.sqlite"
    command = [sys.executable, "-c", ENDLESS, file]
    killed = subprocess.Popen([*command, "100000"])
    other = subprocess.Popen([*command, "60"])
    assert other.wait(timeout=120) == 0
    deadline = time.monotonic() + 60
    while rows(file) < 100 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert rows(file) >= 58
    accountant = Accountant(memo=file)
    for alpha in range(2, 60):
        assert accountant.rdp(STEP, alpha) == Accountant().rdp(STEP, alpha)
    assert accountant.oracle_calls(STEP) == 0


def unasked(*_):
    raise AssertionError("the profile was asked again")


@pytest.mark.parametrize(
    "m", [M, 2 * PoissonSubsample(Laplace(2), "1/10"), RandomizedResponse("3/5")]
)
def test_answers_by_the_exact_profile_are_kept(tmp_path, monkeypatch, m):
    """The same bits of ε, δ and order, without a contour; apart by what was given and asked."""
    file = tmp_path / "memo.sqlite"
    first = Accountant(12, memo=file)
    epsilon, delta = first.epsilon(m, "1e-6", "exact"), first.delta(m, "1/3", "exact")
    finer = first.epsilon(m, "1e-6", "exact", digits=15)
    assert first.oracle_calls(m) == 0
    monkeypatch.setattr(Profile, "answer", unasked)
    second = Accountant(12, memo=file)
    assert second.epsilon(m, "1e-6", "exact") == epsilon
    assert second.delta(m, "1/3", "exact") == delta
    assert second.epsilon(m, "1e-6", "exact", digits=15) == finer
    assert str(finer.epsilon) != str(epsilon.epsilon)
    for other in (
        lambda: second.epsilon(m, "1e-7", "exact"),
        lambda: second.delta(m, "1/4", "exact"),
    ):
        with pytest.raises(AssertionError, match="asked again"):
            other()


@pytest.mark.parametrize("change", ["value = '8' || value", "alpha = '8' || alpha"])
def test_an_exact_answer_that_was_tampered_with_is_noticed(tmp_path, change):
    file = tmp_path / "memo.sqlite"
    Accountant(8, memo=file).epsilon(STEP, "1e-6", "exact")
    with sqlite3.connect(file) as base:
        assert rows(file) == 2  # the answer, and which proof it has
        base.execute(f"update ball set {change}")  # noqa: S608  # a literal of this test
    with pytest.raises(StorageError, match="does not match its digest"):
        Accountant(8, memo=file).epsilon(STEP, "1e-6", "exact")


def test_a_full_disk_loses_no_exact_answer(tmp_path):
    file = tmp_path / "memo.sqlite"
    accountant = Accountant(8, memo=file)
    accountant.epsilon(STEP, "1e-6", "exact")
    base = accountant._disk._base
    base.execute(f"pragma max_page_count = {base.execute('pragma page_count').fetchone()[0]}")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for k in range(3, 60):
            m = k * RandomizedResponse("11/20")
            assert accountant.epsilon(m, "1e-6", "exact") == Accountant(8).epsilon(
                m, "1e-6", "exact"
            )
    assert [warning.category for warning in said] == [StorageWarning]


def test_an_exact_answer_of_a_sample_of_fixed_size_is_kept_too(tmp_path, monkeypatch):
    """The glued profile's answer; the curve's, which may be smaller, is found from its values."""
    file, m = tmp_path / "memo.sqlite", 100 * SubsampleWithoutReplacement(Gaussian(2), "1/10")
    first = Accountant(6, memo=file).epsilon(m, "1e-5", "exact")
    monkeypatch.setattr(Profile, "answer", unasked)
    assert Accountant(6, memo=file).epsilon(m, "1e-5", "exact") == first
