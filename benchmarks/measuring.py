"""A row of the benchmark, and how its figures are taken."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PEAK_OF_A_CHILD = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@dataclass
class Row:
    """One comparison: what was measured, against what, the figure and the target."""

    work: str
    against: str
    figure: float
    unit: str
    target: float
    at_least: bool
    note: str = ""

    @property
    def met(self) -> bool:
        return self.figure >= self.target if self.at_least else self.figure <= self.target

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        figure = f"{self.figure:.3g} {self.unit} ({sign} {self.target:g})"
        parts = [self.work, f"against {self.against}", self.note]
        shown = "; ".join(part for part in parts if part and part != "against –")
        return f"{'met' if self.met else 'MISSED':7}{figure:34}{shown}"


def seconds(call: Callable[[], Any], least: float = 0.2, most: int = 200) -> float:
    """The median processor time of a call, repeated until `least` seconds have been spent."""
    gc.collect()
    gc.freeze()  # what other rows have left is not looked through in this one
    times: list[float] = []
    while len(times) < 3 or (sum(times) < least and len(times) < most):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
        if times[0] > 5:
            break
    return statistics.median(times)


def peak(call: Callable[[], Any]) -> str:
    """What Python had allocated at most during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{most / 1e6:.2g} MB at most"


def whole_process(*words: str, times: int = 5) -> float:
    """The median processor time of a Python run to its end, its bytecode there before."""
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Nobody waits for the threads of BLAS, which turn idly for as long as the imports take.
    kept["OPENBLAS_NUM_THREADS"] = "1"
    place = {**kept, "PYTHONPYCACHEPREFIX": str(Path("out/bytecode").absolute())}
    spent: list[float] = []
    for _ in range(times + 1):
        child = subprocess.Popen([sys.executable, *words], env=place, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        assert status == 0, words
        spent.append(used.ru_utime + used.ru_stime)
    return statistics.median(spent[1:])


def resident(*words: str) -> str:
    """What such a run had in memory at most; a child begins with the peak of who started it."""
    small = [sys.executable, "-S", "-c", _PEAK_OF_A_CHILD, sys.executable, *words]
    most = subprocess.run(small, check=True, capture_output=True, text=True).stdout
    return f"{int(most) / 1e3:.0f} MB resident at most"
