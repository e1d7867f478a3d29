"""Two hypothesis profiles: the same few examples every time, and new ones for the soak."""

import gc
import os
import signal

from hypothesis import HealthCheck, Phase, settings

from tests.thinning import pytest_collection_modifyitems  # noqa: F401

# xdist tells its workers how wide its own terminal is; piped tables are as wide as a page. What
# else a shell says of its terminal, its encoding and its warnings is no business of the tests.
for name in (
    "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE",
    "TTY_INTERACTIVE", "TERM", "PYTHONWARNINGS", "PYTHONIOENCODING", "PYTHONUTF8", "MPLBACKEND",
):  # fmt: skip
    os.environ.pop(name, None)
# A shell's background job ignores Ctrl-C, and so do its children: tests send it to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Numpy starts a thread for each core in each of the hundred processes, and they wait busily.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# gmpy2 is here for tests/evidence/vector_checks.py alone: what is tested does without it.
os.environ.update(MPMATH_NOGMPY="1", SYMPY_GROUND_TYPES="python")

settings.register_profile(
    "laws",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=3,
    # Shrinking a failing product of laws takes longer than reading it.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# `--hypothesis-profile=soak --hypothesis-seed=N`, as `python -m tests.soak` runs it.
settings.register_profile(
    "soak", settings.get_profile("laws"), derandomize=False, database=None, max_examples=30
)
settings.load_profile("laws")


# What is collected stays: the collector need not look at ten thousand tests again and again.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
    from symacct.kernel import deadline  # after what is set above

    # A slow machine must not write into what a test compares; tests/results/test_answers.py asks
    # for it.
    deadline._in_a_pipe._is_said = True


SETTINGS = "_hypothesis_internal_use_settings"


def pytest_runtest_setup(item):
    """Each run of a law starts from the settings that the law states.

    Hypothesis 6.170 makes those of a parametrized test from those of its run before, in a chain
    that is asked to its end: RecursionError from about the 900th run on.
    """
    law = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
    if hasattr(law, SETTINGS):
        vars(law).setdefault("_stated_settings", getattr(law, SETTINGS))
        setattr(law, SETTINGS, law._stated_settings)
