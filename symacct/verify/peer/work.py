"""Time by work: on a busy machine nothing ends earlier, and nothing is called slow."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], float]
#: So many seconds of the wall clock count as one of work where nobody works: all is bounded.
IDLE = 4.0


#: Does the system say what time its processes took?
TOLD = Path("/proc/self/stat").exists()


def of_process(pid: int) -> float | None:
    """Processor seconds of a process and of its children that ended; None of one that is gone."""
    row = _row(f"/proc/{pid}/stat")
    if row is None:
        return None
    # After the name, which may hold anything: its own and its children's, user and system.
    ticks = row.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / _ticks()


def _row(path: str) -> str | None:
    """A file of /proc, which is looked at for every answer."""
    try:
        file = os.open(path, os.O_RDONLY)
        try:
            return os.read(file, 4096).decode(errors="replace")
        finally:
            os.close(file)
    except OSError:
        return None


@functools.cache
def _ticks() -> int:
    return os.sysconf("SC_CLK_TCK")
