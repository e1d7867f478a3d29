"""Immutable records of their constructors' arguments, of which equal ones are one object."""

from __future__ import annotations

import inspect
from collections.abc import Hashable
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from symacct.core.forking import new_lock

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
