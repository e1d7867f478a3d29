"""A table that forgets what was not read for longest, between questions and never within one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any, TypeAlias

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
