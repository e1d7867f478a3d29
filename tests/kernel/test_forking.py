"""A child that is forked while other threads compute answers, and the same as the parent."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import mpmath
import pytest
import sympy

from symacct import (
    Accountant,
    Curve,
    DistributionPair,
    Gaussian,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    sweep,
)
from symacct.kernel.accountant import default_accountant
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.memory import _locks, cached_property, new_lock
from tests.thinning import covering, some

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning"),
]
_PATIENCE = 60  # seconds after which a child counts as hanging
_DIGITS = 60


def status_of(child):
    """Exit status of a forked child that runs `child()`; a negative signal where it hung."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_PATIENCE)
        status = 1
        try:
            status = 0 if child() else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


@contextmanager
def threads(*works):
    """The works over and over, each in a thread of its own, while the block runs."""
    over, failed = threading.Event(), []

    def run(work):
        number = 0
        while not over.is_set():
            try:
                work(number := number + 1)
            except BaseException as error:
                failed.append(error)
                return

    started = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for one in started:
        one.start()
    try:
        yield
    finally:
        over.set()
        for one in started:
            one.join(_PATIENCE)
    assert not failed


def busy():
    """Every lock there is: of interning, of flint's and mpmath's precision, of accountants."""
    own = Accountant()
    trusted = Curve(lambda a: mpmath.mpf(a) / 50, kind="upper", adjacency="add_remove")
    pair = lambda n: DistributionPair([f"{n}/{n + 1}", f"1/{n + 1}"], ["1/2", "1/2"])  # noqa: E731
    return (
        lambda n: PoissonSubsample(Gaussian(n), f"1/{n + 9}").rdp(40, digits=200),
        lambda n: own.rdp(SubsampleWithoutReplacement(Laplace(n), f"1/{n + 9}"), 30),
        lambda n: Accountant(digits=10 + n % 90).rdp(PoissonSubsample(trusted, "1/9"), 9),
        lambda n: pair(n).rdp(3),
        lambda n: Gaussian(n) + Laplace(n),
    )


def asked():
    m = 100 * PoissonSubsample(Gaussian(3), "1/50") + DistributionPair(
        ["1/3", "2/3"], ["1/2", "1/2"]
    )
    answer = m.rdp(12, digits=_DIGITS)
    return answer.lower, answer.upper


@covering()
def test_forks_while_threads_compute():
    expected, here = asked(), mpmath.mp.prec

    def child():
        default_accountant("ball").clear()
        m = PoissonSubsample(
            Curve(lambda a: mpmath.mpf(a) / 9, kind="upper", adjacency="add_remove"), "1/3"
        )
        m.rdp(3)
        return asked() == expected and mpmath.mp.prec in (53, here)

    with threads(*busy()):
        found = []
        for number in range(some(6, 20)):
            time.sleep(0.003 * number)
            found.append(status_of(child))
    assert found == [0] * len(found)


def held_in_another_thread(lock):
    """The lock, held by another thread until the block ends."""

    @contextmanager
    def held():
        taken, over = threading.Event(), threading.Event()

        def hold():
            with lock, precision(777) if lock in _locks else lock:
                taken.set()
                over.wait(_PATIENCE)

        holder = threading.Thread(target=hold, daemon=True)
        holder.start()
        assert taken.wait(_PATIENCE)
        try:
            yield
        finally:
            over.set()
            holder.join()

    return held()


def test_each_lock_is_free_in_a_child_whoever_held_it():
    expected, own = asked(), Accountant()
    locks = [lock for lock in list(_locks) if lock is not None]
    assert own._lock in locks

    def child():
        own.rdp(Gaussian(5), 2)
        return asked() == expected

    for lock in locks:
        with held_in_another_thread(lock):
            assert status_of(child) == 0


def test_a_lock_that_the_forking_thread_holds_is_still_its_own():
    lock, reset = new_lock(lambda: reset.append(1)), []

    def child():
        free = lock._is_owned() and not reset
        lock.release()
        return free and not lock._is_owned()

    with lock:
        assert status_of(child) == 0
        assert lock._is_owned()


def test_no_lock_is_made_that_a_child_does_not_get_free():
    """Locks come from new_lock, and functools.cached_property has one up to Python 3.11."""
    package = os.path.dirname(sys.modules["symacct"].__file__)
    for folder, _, files in os.walk(package):
        for name in files:
            if name.endswith(".py") and "runtime" not in folder and name != "memory.py":
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                assert "RLock(" not in text, name
                assert "threading.Lock(" not in text, name
                assert "functools import cached_property" not in text, name


def test_a_cached_property_is_computed_once():
    class Once:
        calls = 0

        @cached_property
        def value(self):
            """What it is."""
            self.calls += 1
            return self.calls

    one = Once()
    assert (one.value, one.value, one.calls) == (1, 1, 1)
    assert Once.value.__doc__ == "What it is."


def test_a_sweep_on_a_process_pool_while_threads_compute():
    m = PoissonSubsample(Gaussian(sympy.Symbol("sigma")), "1/50")
    over = {"sigma": [1, 2, 3], "delta": "1e-5"}
    alone = sweep(m, over)
    fork = multiprocessing.get_context("fork")
    with threads(*busy()), ProcessPoolExecutor(2, fork) as pool:
        found = sweep(m, over, executor=pool)
    assert list(found) == list(alone)
