"""Work that is given up when its time is over, wherever it is then."""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from symacct.core.deadline import OutOfTimeError as OutOfTimeError
from symacct.core.forking import new_lock

_PACE = 0.05  # seconds between two looks
_AGAIN = 0.5  # until it is raised again: something may have kept it
_T = TypeVar("_T")
Clock: TypeAlias = Callable[[], float]


class _Watch:
    """Raises in the threads whose time is over.

    One thread looks after all, and ends when it finds nothing to look after: a timer for each
    question would cost more than most questions do. No signal: those are the main thread's, and
    a test runner's.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._ends: dict[int, tuple[Clock, float]] = {}
        self._raised: set[int] = set()
        self._thread: threading.Thread | None = None
        self._others: Callable[[Any], object] = sys.__unraisablehook__

    def _unraisable(self, what: Any) -> None:
        """Nothing is said of what a weak reference's function or a finalizer kept: it comes again.

        Not at once, for that would be within this function; without the lock, which may be ours.
        """
        me = threading.get_ident()
        if not isinstance(what.exc_value, OutOfTimeError):
            self._others(what)
        elif me in self._ends:
            self._ends[me] = self._ends[me][0], -math.inf

    def begin(self, me: int, end: float, clock: Clock) -> None:
        if sys.unraisablehook != self._unraisable:
            self._others, sys.unraisablehook = sys.unraisablehook, self._unraisable
        with self._lock:
            self._ends[me] = clock, end
            if self._thread is None or not self._thread.is_alive():  # as in a forked child
                self._thread = threading.Thread(target=self._look, name="in time", daemon=True)
                self._thread.start()

    def end(self, me: int) -> None:
        with self._lock:
            self._ends.pop(me, None)
            raised = me in self._raised
            self._raised.discard(me)
        if raised:  # done all the same: what may be on its way is let come
            with contextlib.suppress(OutOfTimeError):
                _raise_in(me, OutOfTimeError)
                while True:
                    pass

    def _look(self) -> None:
        while self._thread is not None:
            time.sleep(_PACE)
            with self._lock:
                for thread, (clock, end) in list(self._ends.items()):
                    if (now := clock()) >= end and not _calls_a_weak_reference(thread):
                        self._ends[thread] = clock, now + _AGAIN
                        self._raised.add(thread)
                        _raise_in(thread, OutOfTimeError)
                self._thread = self._thread if self._ends else None


def _calls_a_weak_reference(thread: int) -> bool:
    """Is it within `weakref`, whose functions keep what is raised in them?"""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise it there between two instructions.

    It is never taken back: CPython 3.11 would go on looking for it, and a traced thread, as
    under a debugger or `coverage`, would do nothing else from then on.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


_watch = _Watch()


def before(end: float, question: Callable[[], _T], clock: Clock = time.monotonic) -> _T:
    """The answer; OutOfTimeError where there is none when the clock shows `end`."""
    me = threading.get_ident()
    if clock() >= end:
        raise OutOfTimeError
    _watch.begin(me, end, clock)
    try:
        try:
            return question()
        finally:
            _watch.end(me)
    finally:
        _watch.end(me)  # should the time be over within the first
