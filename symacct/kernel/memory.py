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

from symacct.kernel.errors import DomainError

# --- forked children
#
# A forked child must not inherit a lock that is held by a thread which is not in it.

#: Each lock with what has to be done in the child if it was held when the process forked.
_locks: WeakKeyDictionary[Any, Callable[[], None]] = WeakKeyDictionary()
_V = TypeVar("_V")


def new_lock(reset: Callable[[], None] = lambda: None) -> Any:
    """A reentrant lock, freed in a forked child if another thread held it, and `reset` called."""
    lock = threading.RLock()
    _locks[lock] = reset
    return lock


def _renew_locks() -> None:
    """Frees and resets, in a forked child, the locks that threads of the parent hold."""
    for lock, reset in list(_locks.items()):
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()
            reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class Homes:
    """The modules that fill a register, which are imported when it is first read."""

    def __init__(self) -> None:
        self._modules: list[str] = []
        self._lock, self._is_opening = new_lock(self._begin), False

    def _begin(self) -> None:
        """Starts over in a forked child, in which nothing is being imported."""
        self._is_opening = False

    def add(self, module: str) -> None:
        """Adds a module by its full name."""
        self._modules.append(module)

    def open(self) -> None:
        """Imports the modules once; other threads wait, but a module being imported does not.

        After an error in a module, all are imported again at the next reading.
        """
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
    """A functools.cached_property without the lock that it has up to Python 3.11.

    Two threads may compute the value at once; the last one is kept in the owner's `__dict__`.
    """

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
        """Compute the value at the first access, and keep it in the owner's `__dict__`."""
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.compute(owner)
        return value


# --- tables

#: The key of a table: all that changes its values.
Key: TypeAlias = tuple[Hashable, ...]


class Remembered(dict[Any, Any]):
    """A dictionary that forgets, between questions, the values that were not read for longest.

    It has two generations. `forget` makes the young one the older one, and a value that is read
    from there is young again. `len`, `in` and iteration are about the young one, whose look-up
    costs as much as in a dictionary. A missing key gives None, because an error for each new value
    would take longer.
    """

    older: dict[Any, Any] = {}  # noqa: RUF012  # empty until a generation ends, never written to

    def __missing__(self, key: Hashable) -> Any:
        """Look among the older values, and keep the one found there as a new one; else None."""
        value = self.older.pop(key, None)
        if value is not None:
            self[key] = value
        return value

    def all(self) -> Iterator[Any]:
        """The keys of both generations, each once."""
        yield from self
        yield from (key for key in list(self.older) if key not in self)

    def forget(self, limit: int) -> None:
        """Forgets the values that were read or written longest ago, beyond `limit` of them.

        Where the young ones are over half the limit, they become the older ones, and those go.
        """
        if 2 * len(self) <= limit:
            if len(self) + len(self.older) > limit:
                for key in list(islice(self.older, len(self) + len(self.older) - limit)):
                    del self.older[key]
            return
        first = max(0, len(self) - limit)
        self.older = dict(islice(self.items(), first, None))
        self.clear()


# --- records

_interning = new_lock()


def _is_of_package(kind: type) -> bool:
    """Is the class of this package, and not of its user's?"""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


class Interned:
    """An immutable record of its constructor's arguments; equal ones are one object while it lives.

    A class has a `__new__` that ends in `cls._intern(field=value, ...)`.
    """

    _fields: dict[str, Any]
    #: The name of the register of `HOMES` that a new record reads; empty for none.
    _reads_register: ClassVar[str] = ""
    #: The names of the constructor's arguments with their defaults (`Parameter.empty` for none).
    _constructor: ClassVar[dict[str, Any]] = {}
    _nodes: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()
    _kinds: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(cls, **options: object) -> None:
        """Register a class with a constructor under its name, by which texts find it.

        DomainError for the name of a class of the package.
        """
        super().__init_subclass__(**options)
        name = cls.__name__
        if not _is_of_package(cls):
            HOMES["nodes"].open()  # the package's own have their names first
        if "__new__" in cls.__dict__:
            if not _is_of_package(cls) and name in cls._kinds and _is_of_package(cls._kinds[name]):
                raise DomainError(
                    f"class {name}: found the name of a class of the package, needed another one, "
                    "because a text names the class by it"
                )
            Interned._kinds[name] = cls
            parameters = list(inspect.signature(cls.__new__).parameters.values())[1:]
            cls._constructor = {p.name: p.default for p in parameters}

    @classmethod
    def _intern(cls, key: Hashable = None, /, **fields: object) -> Self:
        """The one record of this class with these fields, which are in exact form.

        They are hashable, or there is a `key` that is equal for equal records. A lock is held while
        a record is made, in which `_settle` runs; so the register that it reads is opened before.
        """
        if cls._reads_register:
            HOMES[cls._reads_register].open()
        key = tuple(fields.values()) if key is None else key
        with _interning:
            record = Interned._nodes.get((cls, key))
            if record is None:
                record = object.__new__(cls)
                record.__dict__["_fields"] = fields
                record._settle(fields)
                Interned._nodes[(cls, key)] = record
        return record

    def _settle(self, fields: dict[str, Any]) -> None:
        """Sets the attributes of a new record from its fields."""
        raise NotImplementedError

    def _derived(self, name: str) -> dict[Any, Any]:
        """The table of this name for values derived from the record, kept as long as it is.

        It never forgets, unlike the accountant's tables.
        """
        tables: dict[str, dict[Any, Any]] = self.__dict__.setdefault("_tables", {})
        return tables.setdefault(name, {})

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
