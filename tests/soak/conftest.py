"""The soak is collected only where it is named, `python -m pytest tests/soak`, and says how far."""

import os
from collections import Counter, defaultdict

import pytest

#: What became of the cases of a test over all its blocks: held, or vacuous where nothing was said.
BECAME = defaultdict(Counter)


def pytest_ignore_collect(collection_path, config):
    return True if not any("soak" in argument for argument in config.args) else None


def pytest_runtest_logreport(report):
    """What a block recorded of itself; in the one process that reports, not in xdist's workers."""
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        for name, value in report.user_properties:
            if name == "progress":
                print(f"\n{value}", end=" ", flush=True)
            elif name in ("held", "vacuous"):
                BECAME[report.nodeid.partition("[")[0]][name] += value


def pytest_terminal_summary(terminalreporter):
    for test, found in BECAME.items():
        terminalreporter.write_line(
            f"{test}: {found['held']:,} held, {found['vacuous']:,} were vacuous"
        )


def pytest_sessionfinish(session, exitstatus):
    """A law of which most cases said nothing has shown nothing."""
    shown = all(found["held"] > found["vacuous"] for found in BECAME.values())
    if exitstatus == pytest.ExitCode.OK and not shown:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
