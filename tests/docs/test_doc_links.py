"""What the pages link to is in a clone, and what they count is what there is."""

import re
from pathlib import Path

import pytest

from symacct.verify import adapters

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [ROOT / folder / "README.md" for folder in ("checker", "tests")]
PAGES += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "proofs").glob("*.md"))
#: Made by the build of the documentation alone.
BUILT = {"docs/catalogue.md", "docs/contributing.md"}
NUMBERS = ["five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]  # from 5 on


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_of_a_clone(page):
    if page.relative_to(ROOT).as_posix() in BUILT:
        pytest.skip("made by the build")
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not re.match("[a-z]+:", target):
            place = (page.parent / target).resolve()
            assert place.relative_to(ROOT).as_posix() not in BUILT - {"docs/contributing.md"}
            assert place.exists(), (page.name, target)


def test_the_pages_agree_on_how_many_accountants_were_checked():
    packages = {one.requirements[0].partition("=")[0] for one in adapters().values()}
    said = NUMBERS[len({re.split("[<>=!\\[ ]", name)[0] for name in packages}) - 5]
    for page, words in {
        "index.md": "[what it found in {}](peers.md)",
        "peers.md": "finds in {} accountants",
        "verification.md": "what was found in {} accountants",
    }.items():
        assert words.format(said) in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_the_checker_counts_its_examples():
    count = len(list((ROOT / "checker" / "examples").glob("*.json")))
    assert f"{NUMBERS[count - 5]} kinds" in (ROOT / "checker" / "README.md").read_text("utf-8")
