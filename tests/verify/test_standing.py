"""The table of all peers within a page, and the texts that maintainers can be sent."""

from symacct.verify.reporting import standing
from tests.verify.test_judgement import HALVED, report


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
    assert text.startswith(f"# p 1: {one.defects[0].cause}")
    for said in (shown.ask.expression, "The exact value lies between 1 and 1.", "To reproduce:"):
        assert said in text
    assert "below what is proved" in text
