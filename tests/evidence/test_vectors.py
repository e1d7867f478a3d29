"""Test vectors: a sample is made again, the files fit schema and checksums, runners find faults."""

import functools
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from symacct.cli import main
from symacct.evidence.vectors import FILES, count_of, line, write
from symacct.evidence.vectors.answers import both_forms, outward
from symacct.kernel.errors import DomainError, PrecisionError
from tests.thinning import some

ROOT = Path(__file__).parents[2] / "vectors"
EACH = some(5, 12)  # questions of a file that are made again
MOST_BYTES = 8_000_000
#: What the issue asks vectors to be for.
REASONS = {
    "near order 1", "cancellation", "underflow", "huge count", "rate next to 1", "relation",
    "sensitivity", "fractional order", "small delta", "unlike parts", "epsilon 0",
}  # fmt: skip


@functools.cache
def lines(file):
    """The questions of a file, as it has them."""
    text = (ROOT / f"{file}.json").read_text(encoding="utf-8")
    return [one.removesuffix(",") for one in text.splitlines() if one.startswith('{"n":')]


@functools.cache
def document(file):
    return json.loads((ROOT / f"{file}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FILES)
def test_a_sample_is_made_again_byte_by_byte(file):
    draw = random.Random(f"{os.environ.get('SOAK_SEED', 'sample')} {file}")
    assert len(lines(file)) == count_of(file) == document(file)["count"]
    for number in draw.sample(range(count_of(file)), EACH):
        assert line(file, number) == lines(file)[number]


def test_the_questions_do_not_depend_on_the_hash_seed_or_what_was_asked_before():
    program = "from symacct.evidence.vectors import line\nprint(line('rdp_compositions', 700))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout.decode()
        for seed in ("1", "2")
    }
    assert found == {lines("rdp_compositions")[700] + "\n"}


@pytest.mark.parametrize("file", FILES)
def test_a_file_fits_the_schema(file):
    schema = json.loads((ROOT / "schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    questions = document(file)["questions"]
    shown = random.Random(file).sample(questions, some(150, len(questions)))
    jsonschema.validate({**document(file), "questions": shown}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document(file), "questions": [{"n": 0}]}, schema)


def test_the_checksums_are_of_the_files():
    listed = dict(
        reversed(row.split("  ")) for row in (ROOT / "SHA256SUMS").read_text().splitlines()
    )
    assert listed.keys() == {path.name for path in ROOT.glob("*.json")}
    assert listed.keys() == {"schema.json", *(f"{file}.json" for file in FILES)}
    for name, stated in listed.items():
        assert hashlib.sha256((ROOT / name).read_bytes()).hexdigest() == stated


def test_there_are_twenty_thousand_questions_for_every_reason_in_a_few_megabytes():
    found = Counter(
        tag for file in FILES for one in document(file)["questions"] for tag in one["tags"]
    )
    assert sum(map(count_of, FILES)) >= 20_000
    assert min(found[reason] for reason in REASONS) >= 100
    assert sum(path.stat().st_size for path in ROOT.rglob("*") if path.is_file()) < MOST_BYTES


@pytest.mark.parametrize("file", FILES)
def test_ends_are_neighbours_and_both_forms_one_double(file):
    for question in document(file)["questions"]:
        low, high = (Fraction(question[end]) for end in ("lower", "upper"))
        assert low == high == 0 or 0 < high - low <= 2 * high / 10**29
        for decimal, hexadecimal in doubles(question):
            assert float(decimal) == float.fromhex(hexadecimal)


def doubles(value):
    """Each [decimal, base 16] within a question."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(x, str) for x in value):
        if value[1].startswith("0x"):
            yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from doubles(one)


# --- how numbers are written


ENDS = {
    Fraction(2, 3): ("6.66666666666666666666666666666e-1", "6.66666666666666666666666666667e-1"),
    Fraction(5, 4): ("1.24999999999999999999999999999e0", "1.25000000000000000000000000001e0"),
    Fraction(1): ("9.99999999999999999999999999999e-1", "1.00000000000000000000000000001e0"),
    Fraction(0): ("0", "0"),
}


@pytest.mark.parametrize("digits", [0, 3, 40])
@pytest.mark.parametrize("truth", ENDS, ids=str)
def test_ends_depend_on_the_number_and_not_on_the_enclosure(truth, digits):
    def asked(wanted):
        slack = truth / 10 ** (wanted + digits)
        return truth - slack, truth + slack / 3

    assert outward(asked) == outward(lambda wanted: (truth, truth)) == ENDS[truth]


def test_an_enclosure_that_stays_wide_is_no_answer():
    with pytest.raises(PrecisionError):
        outward(lambda digits: (Fraction(1), Fraction(2)))
    with pytest.raises(PrecisionError):
        outward(lambda digits: (Fraction(0), Fraction(1, 10**digits)))


@pytest.mark.parametrize(
    ("x", "forms"),
    [
        (0.1, ["0.1", "0x1.999999999999ap-4"]),
        (64.0, ["64", "0x1p+6"]),
        (5e-324, ["5e-324", "0x0.0000000000001p-1022"]),
        (float("inf"), ["Infinity", "Infinity"]),
    ],
)
def test_both_forms_of_a_double(x, forms):
    assert both_forms(x) == forms


# --- the command


def test_the_command_writes_a_file_again_with_schema_and_checksums(tmp_path):
    words = ["vectors", "--out", str(tmp_path), "--only", "rdp_laplace"]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    for name in ("rdp_laplace.json", "schema.json"):
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    assert len((tmp_path / "SHA256SUMS").read_text().splitlines()) == 2
    ran = CliRunner().invoke(main, ["vectors", "--out", str(tmp_path / "schema.json")])
    assert ran.exit_code == 2
    assert "cannot be written" in ran.output


def test_another_seed_asks_other_questions():
    assert line("rdp_laplace", 3, "another") != lines("rdp_laplace")[3]
    with pytest.raises(DomainError, match="rdp_gaussian"):
        write(ROOT, ["no_such_file"])


# --- the runners

RUNNERS = ROOT / "runners"
#: How each is compiled, if it is, and what runs it.
LANGUAGES = {
    "py": ([], [sys.executable, "{source}"]),
    "js": ([], ["node", "{source}"]),
    "c": (["gcc", "-Wall", "-Werror", "{source}", "-o", "{made}", "-lm"], ["{made}"]),
    "cpp": (["g++", "-std=c++17", "-Wall", "-Werror", "{source}", "-o", "{made}"], ["{made}"]),
}
#: What stands in each of them, and a fault in its place.
SQUARE, FAULT = "(k * k - k) * s * s", "(k * k - k + 1) * s * s"


def run(language, source, made, file):
    """How a runner ends, and the lines it prints; skipped where what it needs is missing."""
    build, words = (
        [word.format(source=source, made=made) for word in each] for each in LANGUAGES[language]
    )
    needed = (build or words)[0]
    if not shutil.which(needed):
        pytest.skip(f"{needed} is not installed")
    if build:
        subprocess.run(build, check=True)
    ended = subprocess.run([*words, file], capture_output=True, text=True)
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_runner_is_short_and_finds_a_fault_and_nothing_else(language, tmp_path):
    source, made = RUNNERS / f"runner.{language}", tmp_path / "made"
    text = source.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 50
    file = str(ROOT / "rdp_poisson_gaussian.json")
    status, said = run(language, source, made, file)
    assert (status, len(said)) == (0, 1), said[:3]
    asked, answered, outside = (int(said[0].split(", ")[k].split()[0]) for k in range(3))
    assert (asked, outside) == (count_of("rdp_poisson_gaussian"), 0)
    assert answered > 1500
    assert text.count(SQUARE) == 1
    faulty = tmp_path / f"faulty.{language}"
    faulty.write_text(text.replace(SQUARE, FAULT), encoding="utf-8")
    status, said = run(language, faulty, made, file)
    assert status == 1
    assert len(said) > 1000
    assert said[0].startswith("outside: n=")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_runner_that_asked_nothing_it_can_answer_does_not_pass(language, tmp_path):
    source, made = RUNNERS / f"runner.{language}", tmp_path / "made"
    status, said = run(language, source, made, str(ROOT / "rdp_laplace.json"))
    assert status == 2
    assert ", 0 answered, 0 outside" in said[0]
