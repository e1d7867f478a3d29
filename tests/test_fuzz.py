"""Some hundreds of random texts, documents and command lines; a soak draws thousands."""

import os

import pytest
from click.testing import CliRunner

from symacct import from_json, parse
from symacct.cli import main
from tests import fuzzing
from tests.thinning import covering, every, some

SEED, BLOCKS = 10 * int(os.environ.get("SOAK_SEED", "0")), range(some(1, 10))


@covering(every)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    ("kind", "read", "count", "accepted"),
    [
        (fuzzing.any_text, parse, some(600, 2000), 60),
        (fuzzing.any_document, from_json, some(300, 1000), 5),
    ],
)
def test_what_is_read_is_an_expression_or_a_typed_error(kind, read, count, accepted, block):
    found = [fuzzing.check(read, text) for text in fuzzing.cases(kind, SEED + block, count)]
    assert accepted < sum(found) < count - 50  # the generator draws both sorts


@covering(every)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_command_line_ends_in_an_answer_or_in_one_clear_line(block, tmp_path, monkeypatch):
    """Exit status 0; or 2, and one line that begins with Error."""
    monkeypatch.chdir(tmp_path)
    for words in fuzzing.cases(fuzzing.any_command, SEED + block, some(100, 150)):
        ended = CliRunner().invoke(main, words)
        assert ended.exception is None or isinstance(ended.exception, SystemExit), words
        assert ended.exit_code in (0, 2), words
        if ended.exit_code:
            lines = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
            assert len(lines) == 1, words
            ended.stderr.encode()
