"""What takes long says so: a line on standard error, gone when it is done, where a person reads."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from symacct.forking import new_lock

_QUIET = 2.0  # seconds before anything is shown
_PACE = 0.2  # seconds between two looks
_ERASE = "\r\x1b[2K"


@dataclass(eq=False)
class _Task:
    """Something under way, and how much of it is done."""

    what: str
    total: int | None
    done: int
    started: float = field(default_factory=time.monotonic)

    def advance(self, count: int = 1) -> None:
        self.done += count

    def __str__(self) -> str:
        share = "" if self.total is None else f" {self.done:,} of {self.total:,},"
        return f"{self.what}:{share} {time.monotonic() - self.started:.0f} s"


class _Screen:
    """What is under way, shown by one thread that ends when it finds nothing to show.

    A thread for each task would cost more than most questions do. In a forked child `_watching`
    stays as it was: a parent shows what its children do.
    """

    def __init__(self) -> None:
        self.tasks: list[_Task] = []
        self._lock = new_lock()
        self._watching = self._written = False

    def begin(self, task: _Task) -> None:
        with self._lock:
            self.tasks.append(task)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, name="progress", daemon=True).start()

    def end(self, task: _Task) -> None:
        with self._lock:
            self.tasks.remove(task)
            if self._written and not self.tasks:
                self._write("")

    def _watch(self) -> None:
        while self._watching:
            time.sleep(_PACE)
            with self._lock:
                self._watching = bool(self.tasks)
                if self.tasks and time.monotonic() - self.tasks[0].started >= _QUIET:
                    self._write(str(self.tasks[-1])[: shutil.get_terminal_size().columns - 1])

    def _write(self, line: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(_ERASE + line)
            sys.stderr.flush()
        self._written = bool(line)


_screen = _Screen()


@contextmanager
def progress(
    what: str, total: int | None = None, done: int = 0, wanted: bool = True
) -> Iterator[Callable[[int], None]]:
    """Gives advance(count); of what is nested the innermost is shown. It decorates, too."""
    task = _Task(what, total, done)
    if not (wanted and _is_watched()):
        yield task.advance
        return
    _screen.begin(task)
    try:
        yield task.advance
    finally:
        _screen.end(task)


def _is_watched() -> bool:
    """Is standard error a terminal? (A notebook says itself that it is busy, and keeps all.)"""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False
