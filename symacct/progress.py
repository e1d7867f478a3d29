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


_tasks: list[_Task] = []
_lock = new_lock()


@contextmanager
def progress(
    what: str, total: int | None = None, done: int = 0, wanted: bool = True
) -> Iterator[Callable[[int], None]]:
    """Gives advance(count); of what is nested the innermost is shown. It decorates, too."""
    task = _Task(what, total, done)
    if not (wanted and _is_watched()):
        yield task.advance
        return
    with _lock:
        first = not _tasks
        _tasks.append(task)
    over = threading.Event()
    writer = threading.Thread(target=_show, args=(over,), daemon=True) if first else None
    if writer is not None:
        writer.start()
    try:
        yield task.advance
    finally:
        with _lock:
            _tasks.remove(task)
        if writer is not None:
            over.set()
            writer.join()


def _is_watched() -> bool:
    """Is standard error a terminal? (A notebook says itself that it is busy, and keeps all.)"""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _show(over: threading.Event) -> None:
    """What is under way, until it is over."""
    if over.wait(_QUIET):
        return
    while not over.wait(_PACE):
        with _lock:
            line = str(_tasks[-1]) if _tasks else ""
        _write(f"{_ERASE}{line[: shutil.get_terminal_size().columns - 1]}")
    _write(_ERASE)


def _write(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
