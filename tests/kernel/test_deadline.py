"""The end of a question's time: looked at in every long loop, and nothing is left half known."""

from __future__ import annotations

import gc
import importlib
import inspect
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import FrameType

import pytest

import symacct as sa
from symacct.kernel import deadline
from symacct.kernel.accountant import Accountant
from symacct.kernel.arithmetic.ball import legendre
from symacct.kernel.attached import ANNOUNCED
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.limits import _in_force as in_force
from symacct.kernel.node import Node

LATE = 0.5  # seconds of processor time beyond the end
SHORT = 0.005  # seconds, a fraction of what any question of WAYS takes, even if asked before
THREADS = 8


@pytest.fixture(autouse=True, scope="module")
def _collections_are_of_a_question_s_own_objects() -> Iterator[None]:
    """What ten thousand tests before left takes half a second to look through for garbage."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def worked(seconds: float) -> float:
    """The processor time that a loop of looks ran, which ends it."""
    began = time.thread_time()
    with deadline.within(seconds), suppress(OutOfTimeError):
        while True:
            deadline.check()
    return time.thread_time() - began


def test_the_time_of_a_question_is_the_processors() -> None:
    with deadline.within(0.05):
        time.sleep(0.1)
        deadline.check()  # nothing was worked
    assert 0.05 <= worked(0.05) < 0.05 + LATE


def test_of_two_ends_the_first_one_counts() -> None:
    with deadline.within(0.05), deadline.within(60):
        assert deadline.remaining() <= 0.05
    with deadline.within(60):
        assert worked(0.05) < 0.05 + LATE
        deadline.check()
        assert 50 < deadline.remaining() <= 60
        with deadline.within(math.inf):
            assert deadline.remaining() <= 60
    assert deadline.remaining() == math.inf
    with pytest.raises(OutOfTimeError), deadline.within(0):
        deadline.check()


@pytest.mark.parametrize(("spent", "goes_on"), [(1.0, True), (3.0, False)])
def test_what_cannot_end_in_time_is_given_up_when_that_is_seen(
    monkeypatch: pytest.MonkeyPatch, spent: float, goes_on: bool
) -> None:
    """Of ten pieces, the first of which took so much of 10 seconds."""
    left = iter([10.0, 10.0 - spent])
    monkeypatch.setattr(deadline, "remaining", lambda: next(left))
    outlook = deadline.Outlook(10)
    if goes_on:
        outlook.advance(1)
    else:
        with pytest.raises(OutOfTimeError):
            outlook.advance(1)


def test_without_an_end_nothing_is_given_up() -> None:
    outlook = deadline.Outlook(1e9)
    assert worked(0.01) > 0
    outlook.advance(1)


def test_a_quadrature_of_mpmath_looks_at_the_time() -> None:
    sampled = sa.PoissonSubsample(sa.Gaussian("3/7"), "1/3", "replace_one")
    with deadline.within(0), pytest.raises(OutOfTimeError):
        sampled.rdp(3, engine="mpmath")


def test_an_end_is_no_answer_and_no_error() -> None:
    assert not issubclass(OutOfTimeError, Exception)
    with deadline.within(0), pytest.raises(OutOfTimeError):
        list(deadline.each([1, 2]))
    assert list(deadline.each([1, 2])) == [1, 2]


def test_another_thread_has_a_time_of_its_own() -> None:
    left: list[float] = []
    with deadline.within(0):
        other = threading.Thread(target=lambda: left.append(deadline.remaining()))
        other.start()
        other.join()
    assert left == [math.inf]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_the_end_holds_in_a_forked_process() -> None:
    """Whose clock of processor time begins anew."""
    while time.thread_time() < 0.2:
        pass
    with deadline.within(0.1):
        time.sleep(0.15)
        if (pid := os.fork()) == 0:
            os._exit(0 if deadline.remaining() <= 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


SAMPLED = "1000*PoissonSubsample(Gaussian(2), 1/100)"
QUARTIC = (
    'DistributionPair(Density("exp(-x**4)", mass="any"), Density("exp(-(x-1)**4)", mass="any"))'
)
Question = Callable[[Accountant, sa.Node], object]
#: ε(2) of SAMPLED: 1000 · log(1 + (exp(1/4) − 1)/100²), by Python's decimal.
AT_2 = "0.0284021383"


def exactly(digits: int) -> Question:
    return lambda of, m: of.epsilon(m, "1e-5", conversion="exact", digits=digits)


def by_orders(digits: int) -> Question:
    return lambda of, m: of.epsilon(m, "1e-5", conversion="optimal", digits=digits)


def rdp(alpha: str, digits: int) -> Question:
    return lambda of, m: of.rdp(m, alpha, digits=digits)


#: A question of each way to a number that takes some tenths of a second or more.
WAYS: dict[str, tuple[str, Question]] = {
    "orders": (SAMPLED, by_orders(300)),
    "contours": (SAMPLED, exactly(200)),
    "grids": ("7*PoissonSubsample(Laplace(2) + Laplace(3), 1/10)", exactly(5)),
    "closed form": ("60*Laplace(1)", exactly(10)),
    "ends of losses": ('30*PoissonSubsample(Laplace(2), "1/100")', exactly(10)),
    "lognormal": ("RandomAllocation(Gaussian(1), 100)", exactly(6)),
    "normal mixtures": ("GroupPrivacy(100*PoissonSubsample(Gaussian(2), 1/100), 3)", exactly(6)),
    "whole numbers": ("PoissonSubsample(DiscreteGaussian(100), 1/100)", rdp("5/2", 400)),
    "finite": (
        "40*DistributionPair([1/10, 3/10, 6/10], [1/5, 1/5, 3/5])"
        " + 9*DistributionPair([1/10, 1/10, 8/10], [1/7, 3/7, 3/7])",
        exactly(12),
    ),
    "allocations": ("RandomAllocation(PureDP(9/25), 60)", exactly(6)),
    "triangles": ("PoissonSubsample(Gaussian(1/2), 1/3, replace_one)", rdp("7/2", 300)),
    "densities": (QUARTIC, rdp("3", 60)),
    "series": ("PoissonSubsample(Skellam(50), 1/1000)", rdp("60", 800)),
    "differences": ("SubsampleWithoutReplacement(DiscreteGaussian(5), 1/1000)", rdp("300", 200)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_ends_soon_after_its_time_and_forgets_nothing_it_needs(way: str) -> None:
    """Given up again and again, an accountant answers at last as one that was asked once."""
    text, question = WAYS[way]
    given_up, accountant = 0, Accountant()
    for seconds in (0.0, 0.03, 0.15):
        began = time.thread_time()
        with suppress(OutOfTimeError), deadline.within(seconds):
            question(accountant, sa.parse(text))
            given_up -= 1
        given_up += 1
        assert time.thread_time() - began < seconds + LATE
    assert given_up > 0
    assert str(question(accountant, sa.parse(text))) == str(question(Accountant(), sa.parse(text)))


#: What a question is asked about, by the name of its parameter.
ASKED = {"alpha": "1/2", "lam": 7, "delta": "1e-6", "epsilon": 1, "omega": 4, "target": "python"}
#: Other values where a parameter means another thing.
OF_QUESTION: dict[str, dict[str, object]] = {
    **{key: {"alpha": 8} for key in ["rdp", "lower_bound"]},
    **{key: {"delta": "1e-6"} for key in ["optimum", "report", "statement"]},
    "expansion": {"variable": "alpha", "alpha": 8},
}
PUBLIC = sorted(
    name
    for name in {*vars(Node), *(name for names in ANNOUNCED["Node"].values() for name in names)}
    if not name.startswith("_") and inspect.isfunction(getattr(Node, name))
)
#: Values of a curve, which are asked for by name and run to their end.
OF_A_CURVE = ["cgf", "lower_bound", "rdp"]
#: A question of one number says so; (ε, δ) have a search of their own (tests/kernel/test_best.py).
NUMBERS = [
    name
    for name in PUBLIC
    if str(inspect.signature(getattr(Node, name)).return_annotation).split(" ")[0]
    in ("Enclosure", "Bound", "ErrorBound")
    and name not in OF_A_CURVE
]


def asked_of(m: sa.Node, name: str) -> object:
    """The answer of a node to its question of this name."""
    parameters = inspect.signature(getattr(Node, name)).parameters.values()
    needed = {x.name for x in parameters if x.default is x.empty} & ASKED.keys()
    how = {key: ASKED[key] for key in needed} | OF_QUESTION.get(name, {})
    return getattr(m, name)(**how)


def test_these_are_the_questions_of_one_number() -> None:
    lower = ["lower_delta", "lower_epsilon"]
    assert ["gdp", *lower, "tcdp", "tradeoff", "zcdp"] == NUMBERS


@pytest.mark.parametrize("name", NUMBERS)
def test_a_question_of_one_number_ends_with_its_time_in_one_plain_line(name: str) -> None:
    m = sa.PoissonSubsample(sa.Gaussian("7/3"), "1/99")
    with (
        in_force({"seconds": 0}),
        pytest.raises(sa.LimitError, match=rf"^{name}: found nothing .* within 0 s; needed more"),
    ):
        asked_of(m, name)
    with pytest.raises(OutOfTimeError), deadline.within(0):
        asked_of(m, name)


#: The questions of nodes that ask for no number of theirs.
OF_THE_NODE = {"subs", "for_group", "walk", "parameters", "convexify", "fields", "to_json"}


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in OF_THE_NODE])
@pytest.mark.parametrize(
    "text",
    [
        "PureDP(1000000)",
        "DiscreteGaussian(1/1000)",
        "Gaussian(1/250)",
        "RandomAllocation(Gaussian(1e50), 5)",
        "RandomAllocation(Gaussian(1e20), 5)",
    ],
)
def test_every_question_of_extreme_noise_ends_soon_after_its_time(text: str, name: str) -> None:
    for slow in ("symacct.kernel.symbols", "symacct.explore.plots", "matplotlib.pyplot"):
        importlib.import_module(slow)
    m = sa.parse(text)
    began = time.thread_time()
    with suppress(OutOfTimeError, sa.SymacctError), deadline.within(0.1):
        asked_of(m, name)
    assert time.thread_time() - began < 0.1 + LATE


def test_a_question_may_have_some_time_though_the_budget_is_over():
    """As the cheapest way has where one before it was longer than its share."""
    budget = deadline.Budget(0)
    assert budget.ask(1, deadline.remaining, 60) > 0
    assert budget.ask(1, deadline.remaining) == 0


class Trace:
    """What a debugger or a measurement of coverage sets: it is called for every line."""

    def __init__(self) -> None:
        self.lines = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> Trace:
        self.lines += event == "line"
        return self


@contextmanager
def traced() -> Iterator[Trace]:
    """A trace of this thread, and of those that begin in the block."""
    trace, before = Trace(), (sys.gettrace(), threading.gettrace())
    sys.settrace(trace)
    threading.settrace(trace)
    try:
        yield trace
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])  # type: ignore[arg-type]  # None is no trace


def is_stopped(way: str, accountant: Accountant) -> bool:
    """Is a question of this way given up when its time is over?"""
    text, question = WAYS[way]
    try:
        with deadline.within(SHORT):
            question(accountant, sa.parse(text))
    except OutOfTimeError:
        return True
    return False


def test_a_traced_question_is_stopped_and_the_trace_goes_on() -> None:
    with traced() as trace:
        assert is_stopped("contours", Accountant())
        assert sys.gettrace() is trace
        lines = trace.lines
        assert str(sa.Gaussian(5).rdp(2, digits=3)) == "0.04"
        assert trace.lines > lines


def in_threads(ways: Sequence[str]) -> list[bool]:
    """Is each way's question stopped, asked in a thread of its own at the same time?"""
    all_here = threading.Barrier(len(ways))

    def asked(way: str) -> bool:
        all_here.wait(timeout=60)
        return is_stopped(way, Accountant())

    with ThreadPoolExecutor(len(ways)) as pool:
        return list(pool.map(asked, ways))


def test_questions_of_all_ways_are_stopped_in_threads_traced_or_not() -> None:
    """And what they share is whole afterwards."""
    assert in_threads(["contours"] * THREADS) == [True] * THREADS
    with traced() as trace:
        assert in_threads(list(WAYS)) == [True] * len(WAYS)
    assert trace.lines > 0
    assert str(Accountant().rdp(sa.parse(SAMPLED), 2, digits=9)) == AT_2


def test_a_rule_of_too_many_nodes_is_refused_before_any_is_worked_out() -> None:
    with pytest.raises(sa.LimitError, match="nodes"):
        legendre(10**9, 64)
