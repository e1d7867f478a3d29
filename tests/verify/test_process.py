"""A peer that hangs, ends, prints noise or answers out of order is reported; the run goes on."""

import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from symacct.verify import Peer, PeerError, ProtocolError, verify
from symacct.verify.asking.questions import Extent
from symacct.verify.peer import process
from symacct.verify.peer.process import MAX_ENDS, PeerGoneError
from symacct.verify.peer.protocol import HELLO_LINE, Ask, AskedPart
from symacct.verify.peer.reading import read_answer, read_object
from tests.verify.peers import HELLO, program

RIGHT = Fraction(1)


def ask(alpha="2"):
    return Ask("rdp", (AskedPart("Gaussian", (("sigma", "1"),)),), alpha)


def test_an_answer(tmp_path):
    with Peer(program(tmp_path, "say({'value': value})")) as peer:
        assert peer.ask(ask()).finite == RIGHT
        assert peer.incidents.as_dict() == {
            "noise": 0,
            "out_of_order": 0,
            "malformed": 0,
            "ends": 0,
            "timeouts": 0,
            "quotes": [],
        }


def test_noise_is_counted_and_quoted(tmp_path):
    body = "print('loading…'); print('[1, 2]'); print(''); say({'value': value})"
    with Peer(program(tmp_path, body)) as peer:
        assert [peer.ask(ask()).finite for _ in range(3)] == [RIGHT] * 3
        assert peer.incidents.noise == 6
        assert peer.incidents.quotes.count("noise: loading…") == 1


def test_another_id_is_no_answer(tmp_path):
    body = "say({'value': 7}, number + 1); say({'value': 8}, number - 1); say({'value': value})"
    with Peer(program(tmp_path, body)) as peer:
        assert peer.ask(ask()).finite == RIGHT
        assert peer.ask(ask()).finite == RIGHT
        assert peer.incidents.out_of_order == 4


def test_a_hang_ends_the_child_and_not_the_run(tmp_path):
    body = "time.sleep(100 if alpha == 3 else 0); say({'value': value})"
    with Peer(program(tmp_path, body), timeout=0.5) as peer:
        begun = time.monotonic()
        assert peer.ask(ask("3")).late
        assert time.monotonic() - begun < 5
        assert peer.ask(ask()).finite == RIGHT
        assert peer.incidents.timeouts == 1


def test_an_end_is_said_with_its_last_words(tmp_path):
    body = "if alpha == 3:\n    sys.exit('out of memory')\nsay({'value': value})"
    with Peer(program(tmp_path, body)) as peer:
        assert peer.ask(ask("3")).error == ("the peer ended: exit status 1, stderr: out of memory")
        assert peer.ask(ask()).finite == RIGHT
        assert peer.incidents.ends == 1


@pytest.mark.parametrize("before", ["loading {x}... ", "  0%|", "INFO: {'a': 1} ", '{"a": 1} '])
def test_an_answer_may_follow_other_words_on_its_line(tmp_path, before):
    body = f"""
        sys.stdout.write({before!r})
        say({{"value": value}})
    """
    with Peer(program(tmp_path, body)) as peer:
        assert peer.ask(ask()).finite == RIGHT
        assert peer.incidents.noise == 0


def test_a_signal_is_said(tmp_path):
    with Peer(program(tmp_path, "os.kill(os.getpid(), 9)")) as peer:
        assert "signal 9" in peer.ask(ask()).error


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("sys.stdout.write('x' * (3 << 20)); sys.stdout.flush(); time.sleep(9)", "MiB in a line"),
        ("\nwhile True:\n    print('noise' * 1000)", "MiB of noise"),
    ],
)
def test_output_is_bounded(tmp_path, body, said):
    with Peer(program(tmp_path, body)) as peer:
        assert said in peer.ask(ask()).error


def test_noise_before_each_answer_ends_no_child_that_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_NOISE_BYTES", 100)
    with Peer(program(tmp_path, "print('noise' * 15); say({'value': value})")) as peer:
        assert [peer.ask(ask()).finite for _ in range(4)] == [RIGHT] * 4
        assert peer.incidents.ends == 0


def test_a_flood_on_standard_error_does_not_block(tmp_path):
    body = "sys.stderr.write('x' * (1 << 22)); say({'value': value})"
    with Peer(program(tmp_path, body)) as peer:
        assert peer.ask(ask()).finite == RIGHT


@pytest.mark.parametrize("row", ["{}", "{'value': 'many'}", "{'value': 1, 'error': 'both'}"])
def test_a_malformed_answer_is_an_error(tmp_path, row):
    with Peer(program(tmp_path, f"say({row} if alpha == 3 else {{'value': value}})")) as peer:
        assert peer.ask(ask()).finite == RIGHT
        assert "malformed" in peer.ask(ask("3")).error
        assert peer.incidents.malformed == 1


@pytest.mark.parametrize(
    "bare", ["inf", "-inf", "Infinity", "-Infinity", "nan", "-nan", "NaN", "nan(0x8)", "-NAN(ind)"]
)
def test_what_other_languages_print_is_an_answer(bare):
    line = f'{{"id": 1, "value": {bare}, "claims": "inf"}}'
    answer = read_answer(read_object(line.encode()), 0.0)
    assert answer.finite is None
    assert answer.error is None
    assert answer.claims == "inf"
    assert str(answer.value) == str(float(bare.partition("(")[0]))


@pytest.mark.parametrize("rest", ['"value": 1.2.3}', '"value": 0.5', '"value": 1e}', "}"])
def test_a_line_with_the_right_id_that_is_no_json_is_a_bad_answer(tmp_path, rest):
    body = (
        f"print('{{\"id\": %d, {rest}' % number, flush=True) if alpha == 3 else say({{'value': 1}})"
    )
    with Peer(program(tmp_path, body), timeout=60) as peer:
        assert "malformed answer" in peer.ask(ask("3")).error
        assert peer.ask(ask()).finite == RIGHT
        assert (peer.incidents.malformed, peer.incidents.noise) == (1, 0)


def test_a_peer_that_never_answers_properly_ends_the_run(tmp_path):
    with Peer(program(tmp_path, "say({})")) as peer:
        assert all("malformed" in peer.ask(ask()).error for _ in range(MAX_ENDS))
        with pytest.raises(PeerGoneError, match="no answer"):
            peer.ask(ask())


def test_a_peer_that_keeps_ending_is_given_up(tmp_path):
    with Peer(program(tmp_path, "sys.exit(3)")) as peer:
        assert all("exit status 3" in peer.ask(ask()).error for _ in range(MAX_ENDS + 1))
        with pytest.raises(PeerGoneError):
            peer.ask(ask())


def test_a_peer_that_starts_only_once_does_not_lose_what_was_found(tmp_path):
    body = """
        open('started', 'a').close()
        say({'value': value / 2}) if alpha < 9 else sys.exit(1)
    """
    command = program(tmp_path, body)
    script = tmp_path / "peer.py"
    text = script.read_text(encoding="utf-8")
    once = f"import os, sys\nif os.path.exists({str(tmp_path / 'started')!r}):\n    sys.exit(7)\n"
    body_path = text.replace("'started'", repr(str(tmp_path / "started")))
    script.write_text(once + body_path, encoding="utf-8")
    report = verify(command, Extent(2, 1, 6, 0, 0, 0, 1, 30))
    assert report.unsound
    assert any("started again" in why for why in report.cut)


AHEAD = """
import sys, time
print('HELLO', flush=True)
sys.stdin.readline()
time.sleep(0.2)
for number in range(1, 1000):
    print('{"id": %d, "value": 1}' % number, flush=True)
time.sleep(100)
"""


def test_a_peer_that_does_not_read_cannot_block_the_question(tmp_path):
    script = tmp_path / "ahead.py"
    script.write_text(AHEAD.replace("HELLO", HELLO), encoding="utf-8")
    long = replace(ask(), parts=ask().parts * 3000)  # more than a pipe takes
    with Peer([sys.executable, str(script)], timeout=1.0) as peer:
        assert peer.ask(long).late
        assert peer.incidents.out_of_order > 0


def test_a_question_longer_than_a_pipe_is_answered(tmp_path):
    with Peer(program(tmp_path, "print('x' * (1 << 17)); say({'value': value})")) as peer:
        assert peer.ask(replace(ask(), parts=ask().parts * 3000)).finite == RIGHT


def test_each_byte_of_noise_is_looked_at_once(tmp_path, monkeypatch):
    body = "print('noise\\n' * 100_000 + 'x' * 1_000_000); say({'value': value})"
    searched = 0

    class Watched(bytearray):
        def find(self, wanted, start=0):
            nonlocal searched
            end = super().find(wanted, start)
            searched += (len(self) if end < 0 else end) - start
            return end

    monkeypatch.setattr("symacct.verify.peer.process.bytearray", Watched, raising=False)
    with Peer(program(tmp_path, body)) as peer:
        assert peer.ask(ask()).finite == RIGHT
    assert peer.incidents.noise == 100_001
    assert 1_500_000 <= searched < 1_600_000


@pytest.mark.parametrize(
    "line",
    [
        '"value": "+-inf"',
        '"value": [[[[]]]]',
        '"value": 1e999999999',
        '"value": 1, "claims": 3',
        '"value": 1, "seconds": -1',
        '"value": 1, "seconds": "nan"',
        '"value": 1, "reproduce": [3]',
        '"value": 1, "alpha": {}',
        '"value": 1, "claim": "ZW19-T8"',
        '"error": []',
        '"unsupported": null',
    ],
)
def test_a_field_of_another_type_is_a_bad_answer(line):
    with pytest.raises(ProtocolError, match="found"):
        read_answer(read_object(f'{{"id": 1, {line}}}'.encode()), 0.0)


def test_no_number_of_seconds_is_too_large():
    line = f'{{"id": 1, "value": 1, "seconds": 1{"0" * 400}}}'
    answer = read_answer(read_object(line.encode()), 2.0)
    assert (answer.finite, answer.seconds) == (RIGHT, 2.0)


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    body = "print('\\x1b[2J noise'); say({'error': '\\x1b]0;title\\x07'})"
    with Peer(program(tmp_path, body)) as peer:
        assert "\x1b" not in peer.ask(ask()).error
        assert peer.incidents.quotes
        assert "\x1b" not in peer.incidents.quotes[0]


def test_nothing_is_left_running(tmp_path):
    peer = Peer(program(tmp_path, "say({'value': value})"))
    process = peer._child.process
    peer.close()
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("hello", "error", "said"),
    [
        ("", PeerError, "ended before its hello"),
        ("{}", PeerError, "ended before its hello"),
        ('{"id": 0, "peer": "p"}', ProtocolError, "supports"),
        ('{"id": 0, "error": "ModuleNotFoundError: opacus"}', ProtocolError, "--install"),
    ],
)
def test_a_wrong_hello(tmp_path, hello, error, said):
    command = [sys.executable, "-c", f"print({hello!r}, flush=True)"]
    with pytest.raises(error, match=said):
        Peer(command)


@pytest.mark.parametrize("command", [["/no/such/program"], ["/"]])
def test_a_command_that_cannot_be_run(command):
    with pytest.raises(PeerError, match="cannot be run"):
        Peer(command)


PYTHON, SHELL, CPP = "python", "sh", "c++"
UNFLUSHED_CPP = r"""
#include <cstdio>
int main() { char c; while ((c = getchar()) != EOF) if (c == '\n') printf("%s\n", HELLO); }
"""


def in_language(folder, language, line):
    """A command that answers every question with the line; in C++ it does not flush."""
    if language == PYTHON:
        text = f"import sys\nfor _ in sys.stdin: print({line!r}, flush=True)"
        return [sys.executable, "-c", text]
    if language == SHELL:
        return ["sh", "-c", 'while read x; do echo "$0"; done', line]
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    source = folder / "peer.cpp"
    source.write_text(UNFLUSHED_CPP.replace("HELLO", json.dumps(line)), encoding="utf-8")
    subprocess.run([compiler, source, "-o", folder / "peer"], check=True)
    return [str(folder / "peer")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (HELLO.replace('"id": 0, ', ""), 'without an "id": {"peer": "p"'),
        (HELLO.replace('"id": 0', '"id": "0"'), 'with the id "0": {"id": "0"'),
        (HELLO.replace('"id": 0', '"id": 1'), 'with the id 1: {"id": 1'),
        (HELLO.replace('"id": 0', '"id": null'), 'with the id null: {"id": null'),
        (HELLO.replace('"id": 0, ', '"Id": 0, '), 'without an "id": {"Id": 0'),
        (HELLO_LINE, 'it echoes the question: found {"id": 0, "ask": "hello"'),
        (f"got {HELLO_LINE}", "it echoes the question"),
    ],
)
def test_a_hello_without_its_id_is_said_at_once(tmp_path, line, said):
    with pytest.raises(ProtocolError, match=re.escape(said)) as raised:
        Peer(in_language(tmp_path, SHELL, line))
    assert '{"id": 0, "peer": "NAME"' in str(raised.value)


def test_a_command_that_prints_what_it_reads_is_said_to_echo():
    with pytest.raises(ProtocolError, match="it echoes the question"):
        Peer(["cat"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("print('{\"value\": 1}', flush=True)", 'without an "id": {"value": 1}; needed'),
        ('print(\'{"id": "1", "value": 1}\', flush=True)', 'with the id "1"'),
        ("print(line, flush=True)", "it echoes the question"),
    ],
)
def test_a_later_answer_without_its_id_is_a_bad_answer_at_once(tmp_path, row, said):
    with Peer(program(tmp_path, row), timeout=60) as peer:
        assert said in peer.ask(ask()).error
        assert peer.incidents.malformed == 1


def test_a_peer_that_always_gives_the_same_id_is_told_so_and_given_up(tmp_path, capfd):
    peer = Peer(program(tmp_path, "say({'value': value}, 0)"), timeout=0.2)
    with peer, pytest.raises(PeerGoneError, match="has the id of its question"):
        peer.ask(ask())
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert 'with the id 0: {"id": 0, "value": 1.0}; needed the id' in said
    assert '{"id": 1, "value": …}' in said


@pytest.mark.parametrize(
    ("language", "line", "said"),
    [
        (CPP, HELLO, "does the peer flush its output after each line? (C: fflush(stdout); C++:"),
        (SHELL, "{", "it printed {, which is no answer; needed {"),
        (PYTHON, '{"level": "info"}', "which is no answer"),
    ],
)
def test_a_silent_peer_is_spoken_of_before_it_is_given_up(
    tmp_path, monkeypatch, capfd, language, line, said
):
    monkeypatch.setattr(process, "_SILENT_SECONDS", 0.5)
    monkeypatch.setattr(process, "HELLO_SECONDS", 1.5)
    with pytest.raises(PeerError, match=r"no answer to the first question within 1\.5 s"):
        Peer(in_language(tmp_path, language, line))
    found = capfd.readouterr().err
    assert found.count("\n") == 1
    assert "no answer to the first question for 0.5 s: " in found
    assert said in found


def test_a_run_with_every_kind_of_trouble_reaches_its_end(tmp_path):
    body = """
        print('noise')
        if alpha == 3:
            sys.exit(1)
        if alpha == 1024:
            time.sleep(100)
        if alpha == 64:
            say({})
        elif alpha == 8:
            say({'value': 'nan'})
        elif alpha == 2:
            say({'value': -1})
        else:
            say({'value': value})
    """
    extent = Extent(2, 1, 5, 0, 1, 0, 9, 60)
    report = verify(program(tmp_path, body, HELLO), extent, timeout=0.4)
    assert {"exception", "slow", "nan", "negative"} <= set(report.counts)
    assert report.unsound
    assert min(report.incidents.noise, report.incidents.ends, report.incidents.timeouts) > 0
