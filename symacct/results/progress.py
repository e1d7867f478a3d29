"""What takes long says so in a line, gone when it is done, where a person reads it."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from symacct.core.errors import ipython_shell
from symacct.core.forking import new_lock

_QUIET = 2.0  # seconds before anything is shown
_PACE = 0.2  # seconds between two looks
_ERASE = "\r\x1b[2K"
#: Shows a line in the place of the one before.
Show: TypeAlias = Callable[[str], None]


@dataclass(eq=False)
class _Task:
    """Something under way, and how much of it is done."""

    what: str
    total: int | None
    done: int
    #: The best answer so far, in words.
    so_far: str = ""
    started: float = field(default_factory=time.monotonic)

    def advance(self, count: int = 1) -> None:
        self.done += count

    def __str__(self) -> str:
        share = "" if self.total is None else f" {self.done:,} of {self.total:,},"
        so_far = f"; so far {self.so_far}" if self.so_far else ""
        return f"{self.what}:{share} {time.monotonic() - self.started:.0f} s{so_far}"


def _on_terminal(line: str) -> None:
    sys.stderr.write(_ERASE + line)
    sys.stderr.flush()


class _Cell:
    """An output of a notebook's cell, which is made with the first line and empty in the end."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def __call__(self, line: str) -> None:
        shown = {"text/plain": line}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


class _Pipe:
    """Standard error that nobody watches: one line in a process says why it is silent so long."""

    def __init__(self) -> None:
        self._is_said = False

    def __call__(self, line: str) -> None:
        if line and not self._is_said:
            self._is_said = True
            print(line, file=sys.stderr, flush=True)


_in_a_pipe = _Pipe()


class _Screen:
    """What is under way, shown by one thread that ends when it finds nothing to show.

    A thread for each task would cost more than most questions do. In a forked child `_watching`
    stays as it was: a parent shows what its children do.
    """

    def __init__(self) -> None:
        self.tasks: list[_Task] = []
        self._lock = new_lock()
        self._watching = self._written = False
        self._show: Show = _on_terminal

    def begin(self, task: _Task, show: Show) -> None:
        with self._lock:
            self._show = self._show if self.tasks else show
            self.tasks.append(task)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, name="progress", daemon=True).start()

    def tell(self, so_far: str) -> None:
        with self._lock:
            if self.tasks:
                self.tasks[-1].so_far = so_far

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
        with suppress(Exception):  # what shows a question must not end it
            self._show(line)
        self._written = bool(line)


_screen = _Screen()


def tell_so_far(answer: str) -> None:
    """Have the line of what is under way show the best answer so far."""
    _screen.tell(answer)


@contextmanager
def progress(
    what: str, total: int | None = None, done: int = 0, wanted: bool = True, piped: bool = False
) -> Iterator[Callable[[int], None]]:
    """Gives advance(count); of what is nested the innermost is shown. It decorates, too.

    What is `piped` says so in one line even where no person reads along.
    """
    task = _Task(what, total, done)
    show = _watched() if wanted else None
    if show is None and piped:
        show = _in_a_pipe
    if show is None:
        yield task.advance
        return
    _screen.begin(task, show)
    try:
        yield task.advance
    finally:
        _screen.end(task)


def _watched() -> Show | None:
    """How a line is shown where a person reads it: a terminal, or what a Jupyter kernel runs."""
    with suppress(AttributeError, ValueError):  # there is no standard error, or it is closed
        if sys.stderr.isatty():
            return _on_terminal
    if not hasattr(ipython_shell(), "kernel"):
        return None
    return _Cell(sys.modules["IPython"].display.display)
