"""The soak is collected only where it is named, `python -m pytest tests/soak`, and says how far."""

import os


def pytest_ignore_collect(collection_path, config):
    return True if not any("soak" in argument for argument in config.args) else None


def pytest_runtest_logreport(report):
    """What a block recorded of itself; in the one process that reports, not in xdist's workers."""
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        for name, value in report.user_properties:
            if name == "progress":
                print(f"\n{value}", end=" ", flush=True)
