"""The notes of paper/: what they state is computed, and what they name is there."""

import re
from pathlib import Path

import pytest

from paper import build

NOTES = [build.HERE / f"{name}.tex" for name in build.NOTES]
# Of a setting or a year; a result has more digits, or a fraction's sign.
LONGEST = 4


def text(note):
    return re.sub(r"(?m)(?<!\\)%.*$", "", note.read_text())


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_no_result_is_typed(note):
    numbers = re.findall(r"\d+\.\d+", text(note))
    assert [x for x in numbers if len(x.replace(".", "").lstrip("0")) > LONGEST] == []


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem)
def test_what_is_cited_is_in_a_bibliography(note):
    sources = Path(build.sa.__file__).parent / "kernel" / "sources.bib"
    entries = (build.HERE / "references.bib").read_text() + sources.read_text()
    known = set(re.findall(r"@\w+\{(\w+)", entries))
    cited = {key for keys in re.findall(r"\\cite[tp](?:\[[^]]*\])?\{([^}]*)\}", text(note))
             for key in keys.split(",")}  # fmt: skip
    assert cited
    assert cited <= known


def test_every_value_that_a_note_asks_for_is_made():
    asked = {key for note in NOTES for key in re.findall(r"\\val\{([\w-]+)\}", text(note))}
    made = Path(build.__file__).read_text()
    families = [re.escape(key).replace(r"\{key\}", r"\w+") for key in
                re.findall(r'yield f?"([\w{}-]+)"', made)]  # fmt: skip
    assert {key for key in asked if not any(re.fullmatch(f, key) for f in families)} == set()


def test_the_two_directions_are_those_of_the_library():
    truth = build.sa.RandomizedResponse("3/5")
    run = 2 * build.sa.PoissonSubsample(truth, "1/2")
    level = build.arb(51) / 50
    larger = run.delta(str(level.log().str(25, radius=False)), conversion="exact", digits=12).delta
    shown = dict(build.directions())
    assert shown == {"order-removed": "$243/2500$", "order-added": "$21/200$"}
    assert abs(float(larger.upper) - 21 / 200) < 1e-9


def test_ends_share_digits_and_then_differ():
    assert build.both_ends("1.19999", "1.20000") == "$1._{19999}^{20000}$"
    assert build.both_ends("1.234", "1.234") == "$1.234_{}^{}$"
