"""The end of the time that a question has, by the processor's clock: looked at, never imposed.

A question is asked `within` so many seconds; loops that may be long `check` whether these are over.
Nothing is raised anywhere else, so that what is remembered is whole when a question is given up.
A user's own function is looked into only where it reads a curve, and not at all what mpmath works
out before a quadrature, which takes a second or two of the second engine.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


class OutOfTimeError(BaseException):
    """The time is over: no answer, and nothing on its way takes it for one, as an interrupt."""


@dataclass
class _Deadline:
    """Seconds of a thread's processor time from now on.

    No thread uses more than passes on the wall, whose clock is read much sooner: the processor's
    is not read before `look`. In another thread or a forked process, which share the context and
    not the clock, the seconds are the wall's.
    """

    seconds: float

    def __post_init__(self) -> None:
        self._of = _here()
        self._began = time.monotonic()
        self._end = time.thread_time() + self.seconds
        self.look = self._began + self.seconds

    def remaining(self) -> float:
        """Seconds that are left."""
        if _here() == self._of:
            return max(0.0, self._end - time.thread_time())
        return max(0.0, self._began + self.seconds - time.monotonic())

    def check(self) -> None:
        """OutOfTimeError from the end on."""
        now = time.monotonic()
        if now >= self.look:
            if not (left := self.remaining()):
                raise OutOfTimeError
            self.look = now + left


def _here() -> tuple[int, int]:
    """This thread of this process, to which its clock of processor time belongs."""
    return os.getpid(), threading.get_ident()


_deadline: ContextVar[_Deadline | None] = ContextVar("symacct_deadline", default=None)


@contextmanager
def within(seconds: float | Fraction) -> Iterator[None]:
    """So many seconds of this thread's processor time for the `with` block.

    A block within a block ends when the first of the two does. Nothing is caught here.

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
    """OutOfTimeError where the time is over; cheap enough for an inner loop."""
    deadline = _deadline.get()
    if deadline is not None:
        deadline.check()


def each(items: Iterable[T]) -> Iterator[T]:
    """The items, with a look at the time before each."""
    for item in items:
        check()
        yield item


def remaining() -> float:
    """Seconds of processor time that are left, ∞ where nothing limits them."""
    deadline = _deadline.get()
    return math.inf if deadline is None else deadline.remaining()


class Budget:
    """A question's processor time, shared among the ways that it is tried by.

    Only what is asked by `ask` looks at it, so that what was found can be compared and printed when
    the time is over.
    """

    def __init__(self, seconds: float) -> None:
        self._deadline = _Deadline(seconds)

    def remaining(self) -> float:
        """Seconds that are left."""
        return self._deadline.remaining()

    def ask(
        self, share: float | Fraction, question: Callable[[], T], least: float = 0.0
    ) -> T | None:
        """The answer, within a share of the time that is left, or `least` seconds; else None."""
        with suppress(OutOfTimeError), within(max(float(share) * self.remaining(), least)):
            return question()
        return None
