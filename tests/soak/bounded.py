"""The plugin of a soak's runs: a shuffled order, an end to their time, and what they found."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

LONGEST = 1800  # s that a test may take, of its own processor time
FOUND = Path(__file__).with_name("found.txt")


def found():
    """(seed, test) of every failure that was kept."""
    lines = FOUND.read_text().splitlines() if FOUND.exists() else []
    return [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in lines]


def test_of(nodeid):
    """The test that a case is of."""
    return nodeid.partition("[")[0]


def pytest_collection_modifyitems(items):
    """One case of every test, then a second of every test: a soak that is cut short meets them all.

    In another order each time.
    """
    random.Random(os.environ["SOAK_SEED"]).shuffle(items)
    met, turns = Counter(), {}
    for item in items:
        turns[item] = met[test_of(item.nodeid)]
        met[test_of(item.nodeid)] += 1
    items.sort(key=turns.__getitem__)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call():
    """What hangs ends its worker, in C too, which names the test; another worker goes on.

    Not by ITIMER_PROF, the timer that a test sets for its own questions (tests/extremes.py).
    """
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def pytest_runtest_setup():
    if time.time() > float(os.environ["SOAK_UNTIL"]):
        pytest.skip("SOAK_MINUTES are over")


def pytest_terminal_summary(terminalreporter):
    """How far it came: of a test without a turn nothing has been shown."""
    stats = terminalreporter.stats
    ran = stats.get("passed", []) + stats.get("failed", [])
    met = {test_of(report.nodeid) for report in ran}
    waiting = {test_of(report.nodeid) for report in stats.get("skipped", [])} - met
    terminalreporter.write_line(f"soak: {len(ran):,} cases of {len(met):,} tests ran")
    for test in sorted(waiting):
        terminalreporter.write_line(f"soak: {test} had no turn, or skipped itself")


def pytest_sessionfinish(session, exitstatus):
    """Nor does it end well."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or exitstatus != pytest.ExitCode.OK:  # a worker, or it has failed already
        return
    if not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_runtest_logreport(report):
    """Keep what a law met; the long checks say themselves which case it was."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    if alone and report.when == "call" and report.failed and "hypothesis" in report.keywords:
        seed = int(os.environ["SOAK_SEED"])
        if (seed, report.nodeid) not in found():
            with FOUND.open("a") as file:
                file.write(f"{seed} {report.nodeid}\n")
