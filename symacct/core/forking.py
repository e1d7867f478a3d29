"""What a forked child may not inherit: locks held by threads that are not in it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload
from weakref import WeakKeyDictionary

_locks: WeakKeyDictionary[Any, Callable[[], None]] = WeakKeyDictionary()
_V = TypeVar("_V")


def new_lock(reset: Callable[[], None] = lambda: None) -> Any:
    """A reentrant lock, freed and `reset` in a forked child if another thread holds it."""
    made = threading.RLock()
    _locks[made] = reset
    return made


def _renew() -> None:
    for lock, reset in list(_locks.items()):
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()
            reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


class cached_property(Generic[_V]):  # noqa: N801  # named as what it stands for
    """A functools.cached_property without the lock that it has up to Python 3.11."""

    def __init__(self, compute: Callable[[Any], _V]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, cls: type | None = None) -> cached_property[_V]: ...
    @overload
    def __get__(self, owner: object, cls: type | None = None) -> _V: ...
    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.compute(owner)
        return value
