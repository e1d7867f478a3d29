"""Sweeps: the same digits on every executor, and nothing lost or done twice."""

import csv
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from click.testing import CliRunner

from symacct import (
    ZCDP,
    Curve,
    DomainError,
    ExecutorError,
    Gaussian,
    LimitError,
    MissingPackageError,
    PoissonSubsample,
    Scale,
    StorageError,
    limits,
    sweep,
)
from symacct.cli import main
from symacct.explore import sweeps
from symacct.explore.grids import grid, whole_numbers
from symacct.explore.sweeps import source_digest
from symacct.kernel import exact

SIGMA, GAMMA = sympy.symbols("sigma gamma", positive=True)
STEP = PoissonSubsample(Gaussian(SIGMA), GAMMA)
GRID = {"sigma": ["1", "5/2", "4"], GAMMA: ["1/100", "1/10"], "delta": ["1e-5", "1e-6"] * 5}


def test_each_point_is_what_the_node_answers():
    over = {"sigma": [1, 2], GAMMA: "1/50", "delta": ["1e-5", "1e-8"]}
    swept = sweep(10 * STEP, over, digits=20, conversion="improved")
    places = [(r["sigma"], r["gamma"], r["delta"]) for r in swept]
    assert places == [(s, "1/50", d) for s in "12" for d in ("1e-5", "1e-8")]
    for record in swept:
        node = 10 * PoissonSubsample(Gaussian(record["sigma"]), "1/50")
        answer = node.epsilon(record["delta"], 20, "improved")
        assert record["value"] == answer.epsilon.rounded_up(20)
        assert record["lower"] == answer.epsilon.rounded_down(20)
        assert float(record["order"]) == pytest.approx(float(answer.alpha), rel=1e-11)


def test_orders_bounds_and_deltas_may_be_asked():
    rdp = sweep(Gaussian(SIGMA), {SIGMA: 2, "alpha": [2, "inf"]}, "rdp", digits=5)
    assert [r["value"] for r in rdp] == ["0.25", "inf"]
    lower = sweep(STEP, {SIGMA: 1, GAMMA: "1/2", "alpha": 3}, "rdp", by="ZW19-T6", digits=6)[0]
    node = PoissonSubsample(Gaussian(1), "1/2")
    assert lower["value"] == node.rdp(3, by="ZW19-T6").rounded_down(6)
    assert lower["kind"] == "lower"
    delta = sweep(Gaussian(SIGMA), {SIGMA: 1, "epsilon": 2}, "delta", digits=8, orders="integer")
    assert delta[0]["value"] == Gaussian(1).delta(2, orders="integer").delta.rounded_up(8)


def test_every_executor_gives_the_same_digits():
    here = list(sweep(STEP, GRID))
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        for executor in (threads, processes):
            assert list(sweep(STEP, GRID, executor=executor)) == here


def test_a_dask_cluster_gives_the_same_digits():
    distributed = pytest.importorskip("distributed", reason="Dask is an extra: symacct[cluster]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert list(sweep(STEP, GRID, executor=client.get_executor())) == list(sweep(STEP, GRID))


def test_a_point_without_an_answer_leaves_the_others_alone():
    swept = sweep(Gaussian(SIGMA), {SIGMA: [1, 0, 2], "alpha": ["2", "1/2"]}, "rdp")
    assert [("value" in record) for record in swept] == [True, False, False, False, True, False]
    assert swept[2]["error"].startswith("DomainError: Gaussian, sigma: found 0, needed > 0")
    assert swept[1]["error"].startswith("DomainError: order alpha: found '1/2'")
    assert len(swept.errors) == 4


class Counting(Executor):
    """Counts the tasks, runs them at once, and dies when told to."""

    def __init__(self, dies_after=10**9):
        self.points = []
        self.dies_after = dies_after

    def submit(self, fn, task):
        if len(self.points) >= self.dies_after:
            raise RuntimeError("the cluster is gone")
        self.points += json.loads(task)["questions"]
        future = Future()
        future.set_result(fn(task))
        return future


def test_what_a_dying_executor_did_is_kept_and_not_done_again(tmp_path):
    file = tmp_path / "results.jsonl"
    with pytest.raises(ExecutorError, match="the cluster is gone") as caught:
        sweep(STEP, GRID, executor=Counting(dies_after=50), file=file)
    assert "50 of 60 points are safe" in str(caught.value)
    assert len(caught.value.sweep) == 50
    again = Counting()
    swept = sweep(STEP, GRID, executor=again, file=file)
    assert len(again.points) == 10
    assert list(swept) == list(sweep(STEP, GRID))
    idle = Counting()
    assert list(sweep(STEP, GRID, executor=idle, file=file)) == list(swept)
    assert idle.points == []


def test_a_worker_process_that_dies_is_one_clear_error():
    with ProcessPoolExecutor(1) as executor:
        executor.submit(os.getpid).result()
        for pid in executor._processes:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(ExecutorError, match=r"0 of 60 points are safe in \.sweep"):
            sweep(STEP, GRID, executor=executor)


OVER = {"sigma": [f"{i}/10" for i in range(10, 20)], GAMMA: [f"{i}/1000" for i in range(1, 11)]}
#: A sweep that ends its process, without a word, once 25 of its points are in the file.
KILLED = """
import itertools, os, signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from symacct import sweep
from tests.explore.test_sweep import OVER, STEP

class Killing(ThreadPoolExecutor):
    def submit(self, work, /, *arguments):
        def task():
            if next(begun) == 2:  # one of four is done, of 25 points
                while not file.exists() or file.read_bytes().count(b"\\n") <= 25:
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*arguments)
        return super().submit(task)

begun = itertools.count()
file = Path(sys.argv[1])
with Killing(2) as executor:
    sweep(100 * STEP, {**OVER, "delta": "1e-5"}, executor=executor, file=file)
"""


def test_a_killed_and_resumed_sweep_keeps_the_same_lines(tmp_path):
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    child = subprocess.run([sys.executable, "-c", KILLED, killed], cwd=Path(__file__).parents[2])
    assert child.returncode == -signal.SIGKILL
    left = killed.read_bytes()
    assert 25 < left.count(b"\n") < 101
    killed.write_bytes(left + b'{"point": 99, "val')  # a line cut in the middle
    for file in (killed, whole):
        with ThreadPoolExecutor(2) as executor:
            sweep(100 * STEP, {**OVER, "delta": "1e-5"}, executor=executor, file=file)
    lines = [sorted(file.read_bytes().splitlines()) for file in (killed, whole)]
    assert lines[0] == lines[1]
    assert len(set(lines[1])) == 101


def test_a_foreign_or_corrupt_file_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "results.jsonl"
    sweep(Gaussian(SIGMA), {SIGMA: [1, 2], "alpha": 2}, "rdp", file=file)
    good = file.read_bytes()
    with pytest.raises(StorageError, match="another sweep"):
        sweep(Gaussian(SIGMA), {SIGMA: [1, 3], "alpha": 2}, "rdp", file=file)
    assert file.read_bytes() == good
    first, _, third = good.splitlines(keepends=True)
    for content, fault in [
        (b"sigma,epsilon\n1,2\n", "line 1 is no JSON object"),
        (b"no newline and no sweep", "its first line is not that of a sweep"),
        (first + b"\x00\xff garbage\n" + third, "line 2 does not match its digest"),
        (first + b'{"point": 7}\n', "line 2 does not match its digest"),
        (first + b"[" * 100_000 + b"\n", "line 2 does not match its digest"),
        (first + b"0" * (5 << 20) + b"\n", "a line is longer than"),
        (first + third.replace(b'"0.', b'"9.'), "line 2 does not match its digest"),
    ]:
        file.write_bytes(content)
        with pytest.raises(StorageError, match=fault):
            sweep(Gaussian(SIGMA), {SIGMA: [1, 2], "alpha": 2}, "rdp", file=file)
        assert file.read_bytes() == content
    with pytest.raises(StorageError, match="name another file"):
        sweep(Gaussian(SIGMA), {SIGMA: 1, "alpha": 2}, "rdp", file=tmp_path / "no" / "folder")


def test_a_row_of_another_sweep_is_no_row_of_this_one(tmp_path):
    """The digest is bound to the question: expression, grid, digits."""
    file, other = tmp_path / "results.jsonl", tmp_path / "other.jsonl"
    question = (Gaussian(SIGMA), {SIGMA: [1, 2], "alpha": 2}, "rdp")
    sweep(*question, file=file)
    others = [
        ((2 * Gaussian(SIGMA), *question[1:]), {}),
        ((question[0], {SIGMA: [1, 3], "alpha": 2}, "rdp"), {}),
        (question, {"digits": 11}),
    ]
    first, *_ = file.read_bytes().splitlines(keepends=True)
    for arguments, settings in others:
        other.unlink(missing_ok=True)
        sweep(*arguments, file=other, **settings)
        _, *rows = other.read_bytes().splitlines(keepends=True)
        file.write_bytes(first + b"".join(rows))
        with pytest.raises(StorageError, match="line 2 does not match its digest"):
            sweep(*question, file=file)


def test_without_a_damaged_line_its_point_is_computed_again(tmp_path):
    file = tmp_path / "results.jsonl"
    whole = sweep(STEP, GRID, file=file)
    first, _, *rest = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + b"".join(rest))
    again = Counting()
    assert list(sweep(STEP, GRID, executor=again, file=file)) == list(whole)
    assert len(again.points) == 1


def test_answers_of_another_state_of_the_formulas_are_not_taken(tmp_path, monkeypatch):
    file, over = tmp_path / "results.jsonl", {SIGMA: [1, 2], "alpha": 2}
    sweep(Gaussian(SIGMA), over, "rdp", file=file)
    monkeypatch.setattr("symacct.explore.sweeps.source_digest", lambda: "another")
    with pytest.raises(StorageError, match="another sweep"):
        sweep(Gaussian(SIGMA), over, "rdp", file=file)


def test_the_digest_of_the_source_is_of_names_and_texts(tmp_path):
    def digest(files):
        package = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in files.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(text)
        return source_digest(package)

    files = {"a.py": "x = 1", "b/c.py": ""}
    others = [{"a.py": "x = 2", "b/c.py": ""}, {"a.py": "x = 1"}, {"a.py": "x = 1", "c.py": ""}]
    assert digest(files) == digest({**files, "README": "changed"})
    assert len({digest(one) for one in (files, *others)}) == 4


def test_two_sweeps_do_not_write_one_file(tmp_path):
    file = tmp_path / "results.jsonl"

    class Meddling(Counting):
        def submit(self, fn, task):
            with pytest.raises(StorageError, match="another sweep is writing it"):
                sweep(STEP, GRID, file=file)
            return super().submit(fn, task)

    sweep(STEP, GRID, executor=Meddling(), file=file)


def test_tables(tmp_path, monkeypatch):
    swept = sweep(Gaussian(SIGMA), {SIGMA: [1, 0], "alpha": 2}, "rdp", digits=5)
    swept.to_csv(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["sigma"] == "1"
    assert rows[0]["value"] == "1"
    assert rows[1]["error"] == swept[1]["error"]
    with pytest.raises(StorageError, match="name another file"):
        swept.to_csv(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="pip install pandas"):
        swept.to_pandas()


@pytest.mark.parametrize(
    ("over", "ask"),
    [
        ({SIGMA: 1, "delta": "1e-5"}, "rho"),
        ({SIGMA: 1}, "epsilon"),
        ({"delta": "1e-5"}, "epsilon"),
        ({SIGMA: 1, "mu": 2, "delta": "1e-5"}, "epsilon"),
        ({SIGMA: [], "delta": "1e-5"}, "epsilon"),
        ({SIGMA: ["x"], "delta": "1e-5"}, "epsilon"),
        ({SIGMA: 1, 7: 2, "delta": "1e-5"}, "epsilon"),
    ],
)
def test_a_grid_that_does_not_fit_is_refused(over, ask):
    with pytest.raises(DomainError):
        sweep(Gaussian(SIGMA), over, ask)


def test_two_values_of_one_name_are_refused():
    asked = ["sweep", "Gaussian(sigma)", "--delta", "1e-5"]
    for over in (["sigma=1,2", "sigma=2,3"], ["sgma=1,2"], ["sigma"]):
        done = CliRunner().invoke(main, [*asked, *(f"--over={one}" for one in over)])
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output


def test_notes_of_counts_stand_in_the_order_of_the_axes():
    over = [f"--over={name}=1:4:3" for name in ("n", "j", "k")]
    text = "k*Gaussian(1) + n*Laplace(1) + j*Gaussian(2)"
    done = CliRunner().invoke(main, ["sweep", text, *over, "--ask=rdp", "--over=alpha=2"])
    assert re.findall(r"(\w) is a count", done.stderr) == ["n", "j", "k"], done.output


def test_a_grid_too_large_and_a_symbol_of_two_meanings_are_refused():
    with limits(points=5), pytest.raises(LimitError, match="grid, points: found 6"):
        sweep(Gaussian(SIGMA), {SIGMA: [1, 2, 3], "alpha": [2, 3]}, "rdp")
    with pytest.raises(DomainError, match="rename the symbol"):
        sweep(Gaussian(sympy.Symbol("delta")), {"delta": [1]}, "epsilon")
    for name in (*sweeps.COLUMNS, "point"):
        noise = Gaussian(sympy.Symbol(name, positive=True))
        with pytest.raises(DomainError, match=f"the symbol {name} .*rename the symbol"):
            sweep(noise, {name: [3, 2], "delta": ["1e-5"]})


def test_limits_reach_the_workers():
    task = {"limits": {"order": 3}, "settings": {"ask": "rdp", "digits": 5, "by": None}}
    m = PoissonSubsample(Gaussian(1), "1/2")
    asked = {**task, "expression": m.to_json(), "questions": [[["alpha", "4"]], [["alpha", "2"]]]}
    answer = json.loads(sweeps.answer(json.dumps(asked)))
    assert answer[0]["error"].startswith("LimitError")
    assert answer[1]["value"] == m.rdp(2, 5).rounded()
    small = json.loads(sweeps.answer(json.dumps({**asked, "limits": {"text_bytes": 10}})))
    assert [one["error"].partition(":")[0] for one in small] == 2 * ["LimitError"]


def test_what_has_no_text_is_the_answer_of_every_point():
    node = Scale(Curve(lambda ctx, alpha: ctx.number(0), "upper", "add_remove"), SIGMA)
    errors = [r["error"] for r in sweep(node, {SIGMA: ["1/2", 1], "alpha": 2}, "rdp")]
    assert len(errors) == 2
    assert "Python function" in errors[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1, 2,1/3", ["1", "2", "1/3"]),
        ("3..5", ["3", "4", "5"]),
        ("0:1:5", ["0", "1/4", "1/2", "3/4", "1"]),
        ("1:100:3:log", ["1", "10", "100"]),
        ("2e-9:5e-9:2:log", ["2e-9", "5e-9"]),
        ("0:1", [exact.text(Fraction(i, 20)) for i in range(21)]),
        ("1e-400:1e-396:3:log", ["1e-400", "1e-398", "1e-396"]),
    ],
)
def test_grids(text, values):
    assert grid(text) == values


def test_a_long_grid_without_a_count_is_twenty_places_by_logarithms():
    places = grid("1:1000")
    assert (places[0], places[-1], len(places)) == ("1", "1000", 20)
    logs = [math.log(float(x)) for x in places]
    steps = [b - a for a, b in itertools.pairwise(logs)]
    assert max(steps) - min(steps) < 1e-5
    assert whole_numbers(places)[:5] == ["1", "2", "3", "4", "6"]


@pytest.mark.parametrize("text", ["5..3", "0:1:1", "0:1:5:log", "a:b:3", "1..99999999"])
def test_bad_grids_are_refused(text):
    with pytest.raises((DomainError, LimitError), match=r"^(grid|found)"):
        grid(text)


def test_the_command(tmp_path):
    over = ["--over", "sigma=1,2", "--over", "gamma=1/10", "--over", "delta=1e-5"]
    arguments = ["sweep", "PoissonSubsample(Gaussian(sigma), gamma)", *over, "--digits", "6"]
    shown = CliRunner().invoke(main, [*arguments, "--csv", str(tmp_path / "t.csv")])
    assert shown.exit_code == 0, shown.output
    expected = PoissonSubsample(Gaussian(2), "1/10").epsilon("1e-5").epsilon.rounded_up(6)
    assert expected in shown.output
    assert expected in (tmp_path / "t.csv").read_text()
    read = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    assert read[1]["value"] == expected


def test_the_best_of_each_point_is_what_is_reported():
    """Whatever asks: the function, the command and its JSON."""
    grid = {"sigma": [1, 2], "gamma": ["1/10"], "delta": ["1e-5", "1e-8"]}
    best, by_orders = (
        sweep(9 * STEP, grid, digits=6, conversion=one) for one in ("best", "improved")
    )
    for one, other in zip(best, by_orders, strict=True):
        node = 9 * PoissonSubsample(Gaussian(one["sigma"]), one["gamma"])
        assert one["value"] == node.report(one["delta"]).epsilon.rounded()
        assert float(one["value"]) < float(other["value"])
        assert one["how"] == "exact profile"
        assert "order" not in one
        assert f"{one['value']}" in str(best._line(one))
    over = [f"--over={name}={','.join(map(str, values))}" for name, values in grid.items()]
    asked = ["sweep", "9*PoissonSubsample(Gaussian(sigma), gamma)", *over]
    documents = json.loads(CliRunner().invoke(main, [*asked, "--json"]).output)
    assert documents == list(best)
    (alone,) = sweep(ZCDP(SIGMA), {"sigma": 1, "delta": "1e-5"}, digits=6, conversion="best")
    assert alone["how"].startswith("order ")


def test_the_best_survives_a_table_and_a_file(tmp_path):
    grid, where = {"sigma": [1, 2], "delta": "1e-5"}, tmp_path / "kept.jsonl"
    asked = {"digits": 6, "conversion": "best", "file": where}
    found = sweep(Gaussian(SIGMA), grid, **asked)
    assert list(sweep(Gaussian(SIGMA), grid, **asked)) == list(found)
    found.to_csv(tmp_path / "t.csv")
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    for row, record in zip(rows, found, strict=True):
        assert (row["value"], row["how"]) == (record["value"], record["how"])
