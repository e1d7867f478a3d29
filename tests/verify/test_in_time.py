"""A run of `verify` ends when its time does, whoever is slow."""

import time
from dataclasses import replace

import pytest

from symacct import Accountant
from symacct.kernel import deadline
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import LimitError
from symacct.verify import Peer, verify
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import Ask, AskedPart
from tests.verify.peers import program

ASK = Ask("rdp", (AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.5"),), "2")


def endless():
    while True:
        deadline.check()
        sum(range(1000))


def after(seconds):
    return time.monotonic() + seconds


def test_a_number_may_take_so_long_and_the_rest_goes_on(monkeypatch):
    oracle = Oracle()
    oracle.longest = 0.1
    monkeypatch.setattr(Accountant, "rdp", lambda *question, **how: endless())
    with pytest.raises(LimitError, match=r"more than 0\.1 s"):
        oracle.ask("rdp")
    assert oracle.truth(ASK) is None
    monkeypatch.undo()
    assert oracle.truth(ASK) is None  # it is not asked for again and again
    assert Oracle().truth(ASK).exact


def test_the_end_of_all_is_no_limit_of_one_number(monkeypatch):
    oracle = Oracle()
    oracle.until = after(0.1)
    monkeypatch.setattr(Accountant, "rdp", lambda *question, **how: endless())
    with pytest.raises(OutOfTimeError):
        oracle.truth(ASK)
    monkeypatch.undo()
    oracle.until = after(60)
    assert oracle.truth(ASK).exact


def test_a_peer_is_not_waited_for_when_all_is_over(tmp_path):
    with Peer(program(tmp_path, "time.sleep(100)"), timeout=50) as peer:
        peer.until = after(0.2)
        for _ in range(2):
            with pytest.raises(OutOfTimeError):
                peer.ask(ASK)
        assert peer.incidents.timeouts == 0
        assert peer._child is None


EXTENT = Extent(9, 9, 14, 9, 5, 9, 60, 1.0, 9)


def test_a_run_ends_though_a_truth_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(Accountant, "rdp", lambda *question, **how: endless())
    assert verify(program(tmp_path, "say({'value': value / 2})"), EXTENT).cut


def test_a_run_ends_though_its_peer_does_not_answer(tmp_path):
    soon, ends = replace(EXTENT, seconds=0.2), after(40)  # idle seconds count a tenth
    report = verify(program(tmp_path, "time.sleep(100)"), soon, timeout=50)
    assert time.monotonic() < ends  # not one answer was waited for to its timeout
    assert report.cut
    assert report.counts == {}  # nor is what was not waited for called slow
