"""Each hidden fault changes an answer to a question that its accountant offers, on its side."""

import io
import math
import runpy
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import HELLO_LINE, LARGEST
from symacct.verify.peer.reading import read_answer, read_hello, read_object
from tests.verify.edits import FAULTS as KNOWN
from tests.verify.hidden import BASES, FAULTS, RIGHT, right_text, text

ALLOWANCE, LOOSE = Fraction(1, 10**9), Fraction(101, 100)
ORACLE = Oracle()


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    """The hello and the answers of an accountant in this process."""

    def run(written, asks):
        program = tmp_path / "accountant.py"
        program.write_text(written, encoding="utf-8")
        lines = [HELLO_LINE, *(ask.line(i) for i, ask in enumerate(asks, 1))]
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        runpy.run_path(str(program))
        hello, *rows = (read_object(line.encode()) for line in capsys.readouterr().out.splitlines())
        answers = [
            read_answer(row, 0.0, ask.batch).of(ask) for ask, row in zip(asks, rows, strict=True)
        ]
        return read_hello(hello), answers

    return run


def differ(a, b):
    """Not equal, by more than rounding."""
    return abs(a.finite - b.finite) > ALLOWANCE * max(abs(a.finite), abs(b.finite))


def test_there_are_many_of_each_kind():
    kinds = [fault.kind for fault in FAULTS.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "unsound": 41,
        "loose": 12,
        "inconsistent": 9,
    }
    assert not FAULTS.keys() & KNOWN.keys()
    edited = {(old, new) for old, new, *_ in KNOWN.values()}
    assert not edited & {(fault.old, fault.new) for fault in FAULTS.values()}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_shows_at_its_question(name, asked):
    fault = FAULTS[name]
    _, right = asked(right_text(*BASES[fault.base]), fault.shown)
    hello, wrong = asked(text(name), fault.shown)
    ask, rows = fault.shown[-1], hello.supports
    assert all(any(row.offers(ask, part) for row in rows) for part in ask.parts)
    assert len(ask.parts) == 1 or hello.compose
    if fault.kind == "inconsistent":
        same = [i for i, one in enumerate(fault.shown) if one in (fault.shown[0], ask)]
        assert not any(differ(right[i], right[0]) for i in same)
        assert any(differ(wrong[i], wrong[0]) for i in same)
        return
    (found,), (truth,) = wrong, right
    assert not truth.error
    assert truth.finite > 0
    if fault.kind == "loose" and found.finite is None:
        assert found.error or found.value == math.inf
        return
    larger = (fault.kind == "loose") != (ask.kind in LARGEST)
    share = LOOSE if ask.kind != "rdp" else 1 + ALLOWANCE
    if fault.kind == "unsound":
        share = 1 + ALLOWANCE
    ratio = (
        found.finite / truth.finite
        if larger
        else truth.finite / max(found.finite, Fraction(1, 10**400))
    )
    assert ratio > share
    if fault.kind == "unsound":
        known = ORACLE.truth(replace(ask, parts=fault.witness or ask.parts))
        assert found.finite > known.upper if larger else found.finite < known.lower


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_accountant_answers_what_it_answered_or_refuses(name, asked):
    """Within rounding, an exact profile and the orders that are searched; never less than truth."""
    start, _ = RIGHT[name]
    written = right_text(*RIGHT[name])
    asks = [
        f.shown[-1] for f in FAULTS.values() if right_text(*BASES[f.base]) == right_text(start, [])
    ]
    asks = list(dict.fromkeys(asks))
    hello, answers = asked(written, asks)
    assert hello.supports
    assert sum(answer.finite is not None for answer in answers) >= len(asks) / 2
    _, before = asked(right_text(start, []), asks)
    for ask, answer, first in zip(asks, answers, before, strict=True):
        assert answer.error is None, (ask, answer.error)
        if answer.finite is not None and differ(answer, first):
            assert ask.kind in ("epsilon", "delta")
            assert ORACLE.truth(ask).lower <= answer.finite * (1 + ALLOWANCE)
            assert answer.finite <= first.finite * LOOSE
