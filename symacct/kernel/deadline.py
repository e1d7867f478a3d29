"""The processor time of a question: its end, looked at and never imposed, and how it is shown."""

from __future__ import annotations

import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from symacct.kernel import limits
from symacct.kernel.errors import LimitError, ipython_shell
from symacct.kernel.memory import new_lock

# --- the end
#
# A question is asked `within` so many seconds; loops that may be long `check` whether these are
# over. Nothing is raised anywhere else, so that what is remembered is whole when a question is
# given up. A user's own function is looked into only where it reads a curve, and not at all what
# mpmath works out before a quadrature, which takes a second or two of the second engine.

T = TypeVar("T")
#: Times the time that is left, beyond which work foreseen by its first pieces is given up: a first
#: piece may be smaller, and then takes so much longer for its size. A larger factor wastes time, a
#: smaller one gives up work that would have ended in time.
_SURELY = 1.25


class OutOfTimeError(BaseException):
    """The time is over; like an interrupt it is no Exception, so that no code takes it for one."""


@dataclass
class _Deadline:
    """The end of so many seconds of a thread's processor time, counted from its making.

    A thread uses no more processor time than passes on the wall clock, which is quicker to read.
    So the processor's clock is not read before the wall clock shows `look`. In another thread or a
    forked process, which share the context and not the clock, the seconds are those of the wall.
    """

    seconds: float

    def __post_init__(self) -> None:
        """Start the clocks, of the thread's processor time and of the wall."""
        self._of = _current_thread()
        self._began = time.monotonic()
        self._end = time.thread_time() + self.seconds
        self.look = self._began + self.seconds

    def remaining(self) -> float:
        """The seconds of processor time that are left, at least 0; elsewhere those of the wall."""
        if _current_thread() == self._of:
            return max(0.0, self._end - time.thread_time())
        return max(0.0, self._began + self.seconds - time.monotonic())

    def check(self) -> None:
        """Raises OutOfTimeError from the end on."""
        now = time.monotonic()
        if now >= self.look:
            if not (left := self.remaining()):
                raise OutOfTimeError
            self.look = now + left


def _current_thread() -> tuple[int, int]:
    """The process and the thread that run, to which a clock of processor time belongs."""
    return os.getpid(), threading.get_ident()


_deadline: ContextVar[_Deadline | None] = ContextVar("symacct_deadline", default=None)


@contextmanager
def within(seconds: float | Fraction) -> Iterator[None]:
    """Limits the `with` block to so many seconds of this thread's processor time.

    After them a check raises OutOfTimeError, which is not caught here. A block within a block ends
    when the first of the two does.

    >>> with within(5), within(60):
    ...     remaining() <= 5
    True
    """
    left = min(float(seconds), remaining())
    token = _deadline.set(_Deadline(left) if left < math.inf else None)
    try:
        yield
    finally:
        _deadline.reset(token)


def check() -> None:
    """Raises OutOfTimeError where the time is over; it is cheap enough for an inner loop."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.check()


def each(items: Iterable[T]) -> Iterator[T]:
    """The items, with a check of the time before each."""
    for item in items:
        check()
        yield item


def remaining() -> float:
    """The seconds of processor time that are left, ∞ where nothing limits them."""
    deadline = _deadline.get()
    return math.inf if deadline is None else deadline.remaining()


class Outlook:
    """Looks ahead in work whose pieces take about as long for their size, of `total` in all.

    What cannot end in time is given up as soon as that is seen, so that the time is left to others.
    """

    def __init__(self, total: float) -> None:
        self._total, self._done, self._start = total, 0.0, remaining()

    def advance(self, size: float) -> None:
        """Raises OutOfTimeError where the time is over, or what is left is sure to overrun it."""
        check()
        self._done += size
        left = remaining()
        if left < math.inf:
            foreseen = (self._start - left) / self._done * (self._total - self._done)
            if foreseen > _SURELY * left:
                raise OutOfTimeError


class Budget:
    """A question's processor time, shared among the ways that are tried.

    Only a question that `ask` runs is ended by it, so that its answers can be compared and printed
    when the time is over.
    """

    def __init__(self, seconds: float) -> None:
        self._deadline = _Deadline(seconds)

    def remaining(self) -> float:
        """The seconds that are left, at least 0."""
        return self._deadline.remaining()

    def ask(
        self, share: float | Fraction, question: Callable[[], T], least_seconds: float = 0.0
    ) -> T | None:
        """The answer in a share of the time left, or in `least_seconds` if that is longer.

        None where the time runs out before. Errors of the question are raised.
        """
        with suppress(OutOfTimeError), within(max(float(share) * self.remaining(), least_seconds)):
            return question()
        return None


def in_half_the_time(question: Callable[[], T]) -> T | None:
    """The answer in half of the time that is left, so that a coarser one has the rest; None beyond.

    Errors of the question are raised.
    """
    return Budget(remaining()).ask(Fraction(1, 2), question)


#: More time that is proposed is so many times the seconds that were not enough. Only a message
#: rests on it.
_MORE_TIME_FACTOR = 3


def time_words() -> str:
    """The words for what the question's time allowed, or did not allow."""
    return f"computed within {limits.current().seconds} s"


def more_time() -> str:
    """The seconds that a note proposes, in words."""
    return f"{_MORE_TIME_FACTOR * limits.current().seconds} seconds"


def nothing_in_time(where: str = "") -> LimitError:
    """The refusal of a question of which nothing was proved in time."""
    return LimitError(
        f"found nothing that is {time_words()}; needed more time, {more_time()}", where=where
    )


@contextmanager
def one_question(what: str) -> Iterator[None]:
    """Limits the decorated function, a question of one number, to `limits(seconds=…)`.

    LimitError at their end. One that is asked within a shorter time of another ends with that one,
    by its OutOfTimeError. Its progress is shown.
    """
    seconds = limits.current().seconds
    is_part = remaining() <= seconds
    try:
        with progress(what), within(seconds):
            yield
    except OutOfTimeError:
        if is_part:
            raise
        raise nothing_in_time(what) from None


# --- progress
#
# A question that takes long shows a line where a person reads it, and removes it at the end.

#: Seconds before a line is shown: most answers are there by then. Only the screen rests on it.
_QUIET_SECONDS = 2.0
#: Seconds between two lines, short enough that a person sees them move. Only the screen rests on
#: it.
_PACE_SECONDS = 0.2
#: The terminal's codes to go back to the start of a line and erase it.
_ERASE_LINE = "\r\x1b[2K"
#: Shows a line in the place of the one before.
Show: TypeAlias = Callable[[str], None]


@dataclass(eq=False)
class _Task:
    """A task under way in words, with how much of it is done, of a total that may be None."""

    what: str
    total: int | None
    done: int
    #: The best answer so far, in words.
    so_far: str = ""
    started: float = field(default_factory=time.monotonic)

    def advance(self, count: int = 1) -> None:
        self.done += count

    def __str__(self) -> str:
        """What is done, how much of it, the seconds that it took, and the best answer so far."""
        share = "" if self.total is None else f" {self.done:,} of {self.total:,},"
        so_far = f"; so far {self.so_far}" if self.so_far else ""
        return f"{self.what}:{share} {time.monotonic() - self.started:.0f} s{so_far}"


def _on_terminal(line: str) -> None:
    sys.stderr.write(_ERASE_LINE + line)
    sys.stderr.flush()


class _Cell:
    """An output of a notebook's cell, made with the first line and emptied at the end."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def __call__(self, line: str) -> None:
        """Show a line in a notebook's cell, in the place of the line before."""
        content = {"text/plain": line}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


class _Pipe:
    """A standard error that is no terminal, to which a process writes one line and no more."""

    def __init__(self) -> None:
        self._is_said = False

    def __call__(self, line: str) -> None:
        """Print the first line alone, as what is written to a file stays."""
        if line and not self._is_said:
            self._is_said = True
            print(line, file=sys.stderr, flush=True)


_in_a_pipe = _Pipe()


class _Screen:
    """The tasks under way, of which one thread shows the innermost; it ends when there is none.

    A thread for each task would cost more than most questions do. In a forked child `_watching`
    stays as it was: a parent shows what its children do.
    """

    def __init__(self) -> None:
        self.tasks: list[_Task] = []
        self._lock = new_lock()
        self._watching = self._written = False
        self._show: Show = _on_terminal

    def begin(self, task: _Task, show: Show) -> None:
        """Put a task on top of those that are shown, and start the thread that writes lines."""
        with self._lock:
            self._show = self._show if self.tasks else show
            self.tasks.append(task)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, name="progress", daemon=True).start()

    def tell(self, so_far: str) -> None:
        """Keep the best answer so far of the innermost task, for the next line."""
        with self._lock:
            if self.tasks:
                self.tasks[-1].so_far = so_far

    def end(self, task: _Task) -> None:
        """Take a task off, and clear the line after the last one."""
        with self._lock:
            self.tasks.remove(task)
            if self._written and not self.tasks:
                self._write("")

    def _watch(self) -> None:
        """Write a line about the innermost task every 0.2 s, from 2 s on, until no task is left."""
        while self._watching:
            time.sleep(_PACE_SECONDS)
            with self._lock:
                self._watching = bool(self.tasks)
                if self.tasks and time.monotonic() - self.tasks[0].started >= _QUIET_SECONDS:
                    self._write(str(self.tasks[-1])[: shutil.get_terminal_size().columns - 1])

    def _write(self, line: str) -> None:
        """Show a line, or clear it for an empty one; errors of the screen are swallowed."""
        with suppress(Exception):  # what shows a question must not end it
            self._show(line)
        self._written = bool(line)


_screen = _Screen()


def tell_so_far(answer: str) -> None:
    """Shows the best answer so far, in words, in the line of the innermost task under way."""
    _screen.tell(answer)


@contextmanager
def progress(
    what: str, total: int | None = None, done: int = 0, wanted: bool = True, piped: bool = False
) -> Iterator[Callable[[int], None]]:
    """Shows a task while the `with` block or the decorated function runs; it gives advance(count).

    Of nested tasks the innermost is shown, on a terminal or in a notebook, after _QUIET_SECONDS and
    only if `wanted`. A `piped` one is shown in one line even where standard error is no terminal.
    """
    task = _Task(what, total, done)
    show = _shown_by() if wanted else None
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


def _shown_by() -> Show | None:
    """The function that shows a line on a terminal or in a notebook's cell; None elsewhere."""
    with suppress(AttributeError, ValueError):  # there is no standard error, or it is closed
        if sys.stderr.isatty():
            return _on_terminal
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython_shell(), "kernel"):
        return None
    return _Cell(ipython.display.display)
