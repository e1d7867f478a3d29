"""All accountants in one run: installed once each, what is written, the table of docs/peers.md."""

import contextlib
import json

from click.testing import CliRunner

from benchmarks import peers_table
from symacct.cli import main, verifying
from symacct.verify import adapters
from symacct.verify.peer import peers
from tests.verify.test_judgement import HALVED, OTHERS, report


def test_the_table_is_written_anew_and_the_rest_is_kept():
    one = report(*HALVED, *OTHERS.values())
    gone = [{"peer": "q", "why": "pip install failed"}]
    once = peers_table.table({"peers": [one.as_dict()], "absent": gone})
    page = peers_table.page("# Peers\n\nbefore\n", once)
    assert page.startswith("# Peers\n\nbefore\n")
    assert "Not run: q (pip install failed)." in page
    row = next(line for line in page.split("\n") if line.startswith("| p |"))
    assert row.startswith("| p | 1 | 100 | 90 | ")
    assert row.count("|") == 11
    counted = [int(cell) for cell in row.strip("| ").split(" | ")[4:-1]]
    assert sum(counted) == sum(one.counts.values())  # every verdict has its column
    again = peers_table.page(page + "after\n", peers_table.table({"peers": [], "absent": []}))
    assert "before" in again
    assert "after" in again
    assert "| p |" not in again
    assert again.count(peers_table.BEGIN) == again.count(peers_table.END) == 1


def test_a_package_is_installed_once_for_all_its_adapters(tmp_path, monkeypatch):
    there, asked = [], []

    @contextlib.contextmanager
    def throwaway(adapter, python, version):
        assert adapter.requirements not in there
        there.append(adapter.requirements)
        yield f"python with {adapter.requirements[0]}"
        asked.append("gone")

    def verify(words, *rest):
        asked.append(words[0])
        return report(*HALVED)

    monkeypatch.setattr(peers, "throwaway", throwaway)
    monkeypatch.setattr(verifying, "verify", verify)
    file = tmp_path / "found.json"
    done = CliRunner().invoke(main, ["verify", "--all", "--install", "--json", str(file)])
    assert done.exit_code == 1, done.output
    needed = [one.requirements for one in adapters().values()]
    assert asked == [f"python with {first}" for first, *_ in needed] + ["gone"] * len(set(needed))
    assert len(json.loads(file.read_text(encoding="utf-8"))["peers"]) == len(needed) > len(there)


def test_every_file_that_was_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(verifying, "verify", lambda words, *rest: report(*HALVED))
    options = ["--json", "--html", "--map", "--replay"]
    places = [str(tmp_path / f"of{option}.md") for option in options]
    words = [word for pair in zip(options, places, strict=True) for word in pair]
    done = CliRunner().invoke(main, ["verify", "--command", "false", *words])
    assert done.exit_code == 1, done.output
    said = [line for line in done.stderr.splitlines() if line.startswith("written: ")]
    assert sorted(said) == sorted(f"written: {place}" for place in places)
    assert {str(one) for one in tmp_path.iterdir()} == set(places)
    assert "written" not in CliRunner().invoke(main, ["verify", "--command", "false"]).stderr


def test_a_run_of_all_that_is_cut_has_written_what_it_knew(tmp_path, monkeypatch):
    names, ran = list(adapters()), []

    def verify(words, *rest):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(words)
        return report(*HALVED)

    monkeypatch.setattr(verifying, "verify", verify)
    file = tmp_path / "found.json"
    done = CliRunner().invoke(main, ["verify", "--all", "--json", str(file)])
    assert done.exit_code not in (0, 1)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert len(found["peers"]) == 2
    gone = [(one["peer"], one["why"]) for one in found["absent"]]
    assert gone == [(name, "not reached yet") for name in names[2:]]
