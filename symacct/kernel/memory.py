"""What is remembered in this process: records of which equal ones are one, and tables."""

from __future__ import annotations

import inspect
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, overload
from weakref import WeakKeyDictionary, WeakValueDictionary

# --- forked children
#
# What a forked child may not inherit: locks held by threads that are not in it.

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


class Homes:
    """Modules that fill a register when they are imported, which is when it is first read."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._lock, self._is_opening = new_lock(self._begin), False

    def _begin(self) -> None:
        self._is_opening = False

    def add(self, module: str) -> None:
        """A module's full name."""
        self._modules.append(module)

    def open(self) -> None:
        """Import the modules; other threads wait, and a module that reads meanwhile does not."""
        if not self._modules:
            return
        with self._lock:
            if self._is_opening:
                return
            self._is_opening = True
            try:
                for module in self._modules:
                    import_module(module)
                self._modules = []
            finally:
                self._is_opening = False


#: The homes of each register, by its name: `symacct/__init__` says which modules they are.
HOMES: defaultdict[str, Homes] = defaultdict(Homes)


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


# --- tables
#
# A table that forgets what was not read for longest, between questions and never within one.

#: Of a table: all that changes its values.
Key: TypeAlias = tuple[Hashable, ...]


class Remembered(dict[Any, Any]):
    """A dictionary in two generations: what is read in the older one is young again.

    `forget` ends a generation, so that a value that is not read in the next one goes. Looking up
    a young value costs what it does in a dictionary; `len`, `in` and iteration are about these.
    What is in neither is None: an error for each new value would cost more than to look it up.
    """

    older: dict[Any, Any] = {}  # noqa: RUF012  # none, until a generation ends: never written to

    def __missing__(self, key: Hashable) -> Any:
        value = self.older.pop(key, None)
        if value is not None:
            self[key] = value
        return value

    def all(self) -> Iterator[Any]:
        """The keys of both generations."""
        yield from self
        yield from (key for key in list(self.older) if key not in self)

    def forget(self, limit: int) -> None:
        """Keep at most `limit` values, the youngest."""
        if 2 * len(self) <= limit:
            if len(self) + len(self.older) > limit:
                for key in list(islice(self.older, len(self) + len(self.older) - limit)):
                    del self.older[key]
            return
        first = max(0, len(self) - limit)
        self.older = dict(islice(self.items(), first, None))
        self.clear()


# --- records
#
# Immutable records of their constructors' arguments, of which equal ones are one object.

_interning = new_lock()


class Interned:
    """A record whose class has a `__new__` that ends in `cls._intern(field=value, ...)`."""

    _fields: dict[str, Any]
    #: The names of the constructor's arguments with their defaults (`Parameter.empty` for none).
    constructor: ClassVar[dict[str, Any]] = {}
    _nodes: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()
    _kinds: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.partition(".")[0] != __name__.partition(".")[0]:
            HOMES["nodes"].open()  # the package's own have their names first
        if "__new__" in cls.__dict__:
            Interned._kinds[cls.__name__] = cls
            parameters = list(inspect.signature(cls.__new__).parameters.values())[1:]
            cls.constructor = {p.name: p.default for p in parameters}

    @classmethod
    def _intern(cls, **fields: object) -> Self:
        return cls._interned(tuple(fields.values()), **fields)

    @classmethod
    def _interned(cls, key: Hashable, **fields: object) -> Self:
        """The one record of this class and key."""
        with _interning:
            found = Interned._nodes.get((cls, key))
            if found is None:
                found = object.__new__(cls)
                found.__dict__["_fields"] = fields
                found._settle(fields)
                Interned._nodes[(cls, key)] = found
        return found

    def _settle(self, fields: dict[str, Any]) -> None:
        """What a new record knows of itself, from its fields."""
        raise NotImplementedError

    def _derived(self, what: str) -> dict[Any, Any]:
        """A table of what others derive from this record, which lasts as long as it does."""
        tables: dict[str, dict[Any, Any]] = self.__dict__.setdefault("_tables", {})
        return tables.setdefault(what, {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; build a new one, or use .subs()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def fields(self) -> dict[str, Any]:
        """The constructor's arguments, in order, in their exact form."""
        return dict(self._fields)
