"""The table of all peers within a page, and the texts that maintainers can be sent."""

import contextlib
import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from click.testing import CliRunner

from symacct.cli import main, verifying
from symacct.verify import adapters
from symacct.verify.peer import peers
from symacct.verify.peer.protocol import Answer
from symacct.verify.reporting import standing
from tests.verify.test_judgement import HALVED, found, report


def test_the_table_is_written_anew_and_the_rest_is_kept():
    once = standing.table([report(*HALVED)], [("q", "pip install failed")])
    page = standing.page("# Peers\n\nbefore\n", once)
    assert page.startswith("# Peers\n\nbefore\n")
    assert "Not run: q (pip install failed)." in page
    row = next(line for line in page.split("\n") if line.startswith("| p |"))
    assert row.startswith("| p | 1 | 100 | 90 | ")
    assert row.count("|") == 11
    again = standing.page(page + "after\n", standing.table([], []))
    assert "before" in again
    assert "after" in again
    assert "| p |" not in again
    assert again.count(standing.BEGIN) == again.count(standing.END) == 1


def test_a_letter_says_what_was_asked_and_what_is_true(tmp_path):
    one = report(*HALVED)
    standing.write_letters(str(tmp_path / "new"), [one])
    files = sorted((tmp_path / "new").iterdir())
    assert len(files) == len(one.defects)
    text = files[0].read_text(encoding="utf-8")
    shown = one.defects[0].shown
    assert text.startswith("# p 1: too small: mechanisms with Poisson sampling, add/remove\n")
    for said in (shown.ask.expression, "The truth is 1.", "in 7 answers"):
        assert said in text
    assert "Users of the peer are at risk" in text


def test_what_no_lines_of_the_peer_show_goes_through_the_adapter_and_names_no_place_of_ours():
    slow = replace(found("slow", 0, note="2.5 s"), answer=Answer())
    own = replace(HALVED[0], answer=Answer(value=Fraction(1, 2), reproduce=("print(0.5)",)))
    one = report(slow, own)
    late, wrong = (standing.letter(one, d) for d in sorted(one.defects, key=lambda d: d.below))
    assert "took 2.5 s and was not waited for" in late
    assert "in one answer " in late
    ran = f"{Path(sys.executable).name} {Path(__file__).with_name('test_judgement.py').name}"
    assert f"To reproduce, ask `{ran}` by the line protocol:" in late
    assert late.count(ran) == 2
    assert str(Path(__file__).parent) not in late
    assert "To reproduce:\n\n```\nprint(0.5)\n```" in wrong


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
    page = tmp_path / "page.md"
    done = CliRunner().invoke(main, ["verify", "--all", "--install", "--tables", str(page)])
    assert done.exit_code == 1, done.output
    needed = [one.requirements for one in adapters().values()]
    assert asked == [f"python with {first}" for first, *_ in needed] + ["gone"] * len(set(needed))
    assert page.read_text(encoding="utf-8").count("| p | 1 |") == len(needed) > len(there)


def test_every_file_that_was_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(verifying, "verify", lambda words, *rest: report(*HALVED))
    options = ["--json", "--junit", "--sarif", "--tables", "--issues"]
    places = [str(tmp_path / f"of{option}") for option in options]
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
    page, said = tmp_path / "page.md", tmp_path / "said.json"
    files = ["--tables", str(page), "--json", str(said), "--issues", str(tmp_path / "letters")]
    done = CliRunner().invoke(main, ["verify", "--all", *files])
    assert done.exit_code not in (0, 1)
    text, found = page.read_text(encoding="utf-8"), json.loads(said.read_text(encoding="utf-8"))
    assert text.count("| p | 1 |") == len(found["peers"]) == 2
    gone = [(one["peer"], one["why"]) for one in found["absent"]]
    assert gone == [(name, "not reached yet") for name in names[2:]]
    assert f"Not run: {names[2]} (not reached yet)." in text
    assert list((tmp_path / "letters").iterdir())
