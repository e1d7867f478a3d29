"""Some hundreds of random texts, documents and command lines; tests/soak draws thousands of new."""

import pytest
from click.testing import CliRunner

from symacct import from_json, parse
from symacct.cli import main
from tests import fuzzing


@pytest.mark.parametrize(
    ("kind", "read", "count", "accepted"),
    [(fuzzing.any_text, parse, 600, 60), (fuzzing.any_document, from_json, 300, 5)],
)
def test_what_is_read_is_an_expression_or_a_typed_error(kind, read, count, accepted):
    found = [fuzzing.check(read, text) for text in fuzzing.cases(kind, 0, count)]
    assert accepted < sum(found) < count - 50  # the generator draws both sorts


def test_a_command_line_ends_in_an_answer_or_in_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in fuzzing.cases(fuzzing.any_command, 0, 150):
        assert_ends_well(words)


def assert_ends_well(words):
    """Exit status 0; or 2, and one line that begins with Error."""
    ended = CliRunner().invoke(main, words)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), words
    assert ended.exit_code in (0, 2), words
    if ended.exit_code:
        lines = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
        assert len(lines) == 1, words
        ended.stderr.encode()
