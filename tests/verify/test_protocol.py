"""The line protocol of docs/verification.md is what is spoken: its example peers, its fields."""

import json
import math
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from symacct import parse
from symacct.verify import Peer, ProtocolError, verify
from symacct.verify.asking.questions import Extent, random_order
from symacct.verify.peer.protocol import AT, HOW, KINDS, MECHANISMS, Ask, AskedPart, Support
from symacct.verify.peer.reading import Number, read_answer, read_hello, read_number, read_object

PAGE = (Path(__file__).parents[2] / "docs" / "verification.md").read_text(encoding="utf-8")
TINY = Extent(2, 2, 3, 2, 1, 0, 1, 30)
SAMPLED = AskedPart("Gaussian", (("sigma", "5"),), "poisson", "1/1000", 600_000)


def example(language):
    (text,) = re.findall(
        rf"```{language}\n(.*?)```",
        PAGE.split(
            f"## A peer in {language.title()}" if language == "python" else "## A peer in shell"
        )[1],
        re.DOTALL,
    )[:1]
    return text


@pytest.mark.parametrize("language", ["python", "sh"])
def test_the_example_peers_of_the_page_are_right(language, tmp_path):
    runner = sys.executable if language == "python" else shutil.which("sh")
    program = tmp_path / "peer"
    program.write_text(example(language), encoding="utf-8")
    assert len(example(language).splitlines()) <= 24
    with Peer([runner, str(program)]) as peer:
        ask = Ask("rdp", (AskedPart("Gaussian", (("sigma", "5"),), count=3),), "5/2")
        assert abs(peer.ask(ask).finite - Fraction(3, 20)) < Fraction(1, 10**15)
    report = verify([runner, str(program)], TINY)
    assert report.asked > 10
    assert set(report.counts) <= {"loose"}  # the classic conversion, a grid that ends at 64


CLIENTS = Path(__file__).parents[2] / "docs" / "clients"
STRICT = ["-Wall", "-Wextra", "-Werror", "-o", "{program}"]
BUILT = {
    "C": ("peer.c", "gcc", [*STRICT, "{source}", "-lm"]),
    "C++": ("peer.c", "g++", [*STRICT, "-std=c++17", "-x", "c++", "{source}"]),
    "Rust": ("peer.rs", "rustc", ["-D", "warnings", "-o", "{program}", "{source}"]),
    "JavaScript": ("peer.js", "node", None),
}


@pytest.mark.parametrize("language", BUILT)
def test_the_peers_in_other_languages_are_right(language, tmp_path):
    name, tool, options = BUILT[language]
    found, source = shutil.which(tool), CLIENTS / name
    if found is None:
        pytest.skip(f"needs {tool}")
    assert len(source.read_text(encoding="utf-8").splitlines()) < 40
    command = [found, str(source)]
    if options is not None:
        command = [str(tmp_path / "program")]
        words = [word.format(program=command[0], source=source) for word in options]
        subprocess.run([found, *words], check=True, cwd=tmp_path)
    with Peer(command) as peer:
        alone = Ask("rdp", (AskedPart("Gaussian", (("sigma", "5"),), count=3),), "5/2")
        assert abs(peer.ask(alone).finite - Fraction(3, 20)) < Fraction(1, 10**15)
        assert peer.ask(replace(alone, kind="epsilon", at="1e-5")).unsupported == "only rdp"
    report = verify(command, TINY)
    assert report.enough
    assert report.counts == {}
    assert (report.incidents.noise, report.incidents.malformed) == (0, 0)


def test_the_page_names_every_field_and_value():
    names = [
        *KINDS,
        *AT.values(),
        *MECHANISMS,
        *HOW,
        *(way for ways in HOW.values() for way in ways),
    ]
    names += [name for fields in MECHANISMS.values() for name in fields]
    assert [name for name in names if f"`{name}`" not in PAGE and f'"{name}"' not in PAGE] == []


def test_an_ask_says_the_same_as_text_and_as_fields():
    ask = Ask(
        "rdp", (SAMPLED, AskedPart("Laplace", (("b", "0.1"),))), "5/2", how=(("count", "repeat"),)
    )
    row = json.loads(ask.line(17))
    assert row["id"] == 17
    assert parse(row["expression"]) is parse(
        "600000 * PoissonSubsample(Gaussian(5), 1/1000) + Laplace(1/10)"
    )
    assert (row["alpha"], row["alpha_float"]) == ("5/2", 2.5)
    assert row["parts"][0]["gamma_float"] == 0.001
    assert row["parts"][0]["count"] == 600_000
    assert row["how"] == {"count": "repeat"}
    assert "\n" not in ask.line(17)


def test_sampling_without_replacement_has_its_sizes():
    part = AskedPart("Gaussian", (("sigma", "5"),), "without_replacement", "0.002")
    assert {"sample_size": 1, "dataset_size": 500}.items() <= part.line().items()


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (Number("3"), Fraction(3)),
        ("1.5e-3", Fraction(3, 2000)),
        ("-0.25", Fraction(-1, 4)),
        ("inf", float("inf")),
        ("-Infinity", float("-inf")),
    ],
)
def test_values_are_read_exactly(value, exact):
    assert read_number(value) == exact


@pytest.mark.parametrize(
    "value", [None, True, [1], {}, "1.5x", "", "1e999999999", "__import__('os')"]
)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ProtocolError, match="needed a number"):
        read_number(value)


@pytest.mark.parametrize(
    "line",
    [
        b"noise",
        b"[1]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5000,
        b'{"id": 1}{"id": 2}',
        b"null",
    ],
)
def test_lines_that_are_no_objects(line):
    assert read_object(line) is None


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"peer": "p"},
        {"peer": "p", "supports": []},
        {"peer": "p", "supports": [{"mechanism": "Cauchy"}]},
        {"peer": "p", "supports": [{"mechanism": "Gaussian", "sampling": "sometimes"}]},
        {"peer": "p", "supports": [{"mechanism": "Gaussian", "asks": ["everything"]}]},
        {"peer": "p", "supports": [{"mechanism": "Gaussian"}], "conversion": "mine"},
        {"peer": "p", "supports": [{"mechanism": "Gaussian"}], "default_orders": ["x"]},
        {"peer": "p", "supports": [{"mechanism": "Gaussian"}], "how": []},
        {"error": "ImportError"},
    ],
)
def test_a_wrong_hello_is_one_error(row):
    with pytest.raises(ProtocolError, match="needed"):
        read_hello(row)


ORDERS = [
    {"max_order": "-5"},
    {"max_order": "1"},
    {"min_order": "9", "max_order": "5"},
    {"min_order": "4097"},
    {"min_order": "1e3000"},
    {"min_order": "inf"},
    {"min_order": "0.5"},
    {"orders": "integer", "max_order": "1.5"},
    {"orders": "integer", "min_order": "2.1", "max_order": "2.9"},
]


@pytest.mark.parametrize("orders", ORDERS)
def test_a_row_that_takes_no_order_is_no_row(orders):
    with pytest.raises(ProtocolError, match="needed an order"):
        read_hello({"peer": "p", "supports": [{"mechanism": "Gaussian", **orders}]})


@pytest.mark.parametrize("least", ["1", "3/2", "2.9", "600", "4096"])
@pytest.mark.parametrize("most", ["1.00001", "2.9", "3", "700", "1e5", None])
@pytest.mark.parametrize("kind", ["real", "integer"])
def test_every_order_drawn_is_one_that_the_row_takes(least, most, kind):
    most = None if most is None else Fraction(most)
    for sampling in ("none", "without_replacement"):
        row = Support("Gaussian", sampling, "add_remove", kind, ("rdp",), Fraction(least), most)
        whole = max(2, math.ceil(row.min_order))
        if most is not None and most < (whole if kind == "integer" else row.min_order):
            continue
        for seed in range(30):
            assert row.takes(Fraction(random_order(row, random.Random(seed))))


@pytest.mark.parametrize("row", [{"id": 1}, {"value": 1, "error": "x"}, {"value": []}])
def test_a_wrong_answer_is_one_error(row):
    with pytest.raises(ProtocolError, match="needed"):
        read_answer(row, 0.0)
