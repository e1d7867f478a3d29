"""What takes too long is given up where it is; a run ends when its time does, whoever is slow."""

import contextlib
import subprocess
import sys
import threading
import time
import weakref

import pytest

from symacct import Accountant
from symacct.core.errors import LimitError
from symacct.results import time_limit
from symacct.results.time_limit import OutOfTimeError, before
from symacct.verify import Peer, verify
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import Ask, AskedPart
from tests.verify.peers import program

ASK = Ask("rdp", (AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.5"),), "2")


def endless():
    while True:
        sum(range(1000))


def after(seconds):
    return time.monotonic() + seconds


def test_an_answer_in_time_is_the_answer():
    assert before(after(60), lambda: 7) == 7
    with pytest.raises(ValueError, match="its own"):
        before(after(60), lambda: (_ for _ in ()).throw(ValueError("its own")))


def test_what_has_no_end_is_ended():
    with pytest.raises(OutOfTimeError):
        before(after(0.1), endless)
    assert before(after(60), lambda: sum(range(10**6))) == 499999500000  # nothing is left behind


def test_what_is_swallowed_on_its_way_is_raised_again():
    """As by whatever a weak reference calls, or a finalizer."""

    def swallowing():
        with contextlib.suppress(OutOfTimeError):
            endless()
        endless()

    with pytest.raises(OutOfTimeError):
        before(after(0.1), swallowing)
    assert before(after(60), lambda: 7) == 7


def test_what_is_on_its_way_comes_before_the_answer(monkeypatch):
    """Only where it was raised in this thread, and once."""
    came, watch = [], time_limit._Watch()

    def come(thread, error):
        came.append(thread)
        raise error

    monkeypatch.setattr(time_limit, "_raise_in", come)
    watch.end(7)
    assert not came
    watch._raised.add(7)
    watch.end(7)
    watch.end(7)
    assert came == [7]


TRACED = """
import sys, time
from symacct.results.time_limit import OutOfTimeError, before

def busy():
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        pass

sys.settrace(lambda *_: lambda *_: None)
before(time.monotonic() + 60, busy)
busy()
for end in (0.1, 0.299, 0.3, 0.301):
    try:
        before(time.monotonic() + end, busy)
    except OutOfTimeError:
        pass
    busy()
"""


def test_a_traced_program_goes_on_afterwards():
    """CPython 3.11 does not end where an exception is taken back that had not been raised yet."""
    subprocess.run([sys.executable, "-c", TRACED], check=True, timeout=100)


class Watched:
    """Something a weak reference may be to."""


def test_nothing_is_raised_or_said_in_what_a_weak_reference_calls(monkeypatch):
    said = []
    monkeypatch.setattr("sys.unraisablehook", said.append)
    values = weakref.WeakValueDictionary()

    def forgetting():
        while True:
            values[0] = Watched()  # which is gone at once, and a function of weakref's called

    def slow(_):
        time.sleep(0.3)
        sum(range(1000))

    def finalizing():
        kept = weakref.ref(one := Watched(), slow)
        del one
        assert kept() is None
        endless()

    for work in (forgetting, finalizing):
        with pytest.raises(OutOfTimeError):
            before(after(0.1), work)
    assert not said


def test_what_is_over_is_not_begun():
    with pytest.raises(OutOfTimeError):
        before(after(-1), pytest.fail)


def test_each_thread_has_its_own_time():
    ended = []

    def work(seconds):
        try:
            before(after(seconds), lambda: time.sleep(0.4))
        except OutOfTimeError:
            ended.append(seconds)

    threads = [threading.Thread(target=work, args=(seconds,)) for seconds in (0.05, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [0.05]


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


EXTENT = Extent(9, 9, 14, 500, 9, 5, 9, 60, 1.0, 9)


def test_a_run_ends_though_a_truth_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(Accountant, "rdp", lambda *question, **how: endless())
    assert verify(program(tmp_path, "say({'value': value / 2})"), EXTENT).cut


def test_a_run_ends_though_its_peer_does_not_answer(tmp_path):
    report = verify(program(tmp_path, "time.sleep(100)"), EXTENT, timeout=50)
    assert report.cut
    assert report.counts == {}  # nor is what was not waited for called slow
