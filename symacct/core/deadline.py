"""The end of a question's time, which loops that may be long ask for."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction


class OutOfTimeError(BaseException):
    """The time is over: no answer, and nothing on its way takes it for one, as an interrupt."""


_end: ContextVar[float] = ContextVar("symacct_deadline", default=math.inf)


@contextmanager
def within(seconds: float | Fraction) -> Iterator[None]:
    token = _end.set(min(_end.get(), time.thread_time() + float(seconds)))
    try:
        yield
    finally:
        _end.reset(token)


def remaining() -> float:
    return max(0.0, _end.get() - time.thread_time())


def check() -> None:
    if time.thread_time() >= _end.get():
        raise OutOfTimeError
