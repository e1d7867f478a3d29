"""Curve values on disk (SQLite), so that another process or another day need not repeat them."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from weakref import WeakSet

import flint
from flint import arb, fmpz

from symacct.core import arguments, exact
from symacct.core.errors import StorageError, StorageWarning, SymacctError, warn
from symacct.core.exact import INFINITY, Order
from symacct.core.lru_table import Key, Remembered
from symacct.expressions import theorem_registry
from symacct.expressions.node import Node
from symacct.text import to_json
from symacct.version import __version__

_APPLICATION = 0x73796D61  # "syma", in the header of the file
_FORMAT = 1
_RADIUS_BITS = 30  # of flint's radii
_WAIT = 60.0  # seconds for another process's transaction
_inherited: list[sqlite3.Connection] = []
_ROW_BYTES = 2**24
_ORDER = re.compile(rb"[1-9][0-9]{0,4000}(?:/[1-9][0-9]{0,4000})?|inf")
_BALL = re.compile(rb"-?[0-9a-f]+ -?[0-9a-f]{1,15} [0-9a-f]{1,8} -?[0-9a-f]{1,15}|inf")
_SCHEMA = """
create table if not exists ball (
    key blob not null, alpha text not null, value text not null, digest blob not null,
    primary key (key, alpha)
) without rowid
"""


class StoredTable(Remembered):
    """A curve's values by order: those read from the disk, and those computed since."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self.key = key
        self.saved: set[Any] = set()
        self.read: set[Any] = set()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]  # a table is itself, whatever is in it
        return id(self)

    def take(self, stored: dict[Any, arb]) -> None:
        """Add what the disk has and this table has not."""
        new = stored.keys() - self.keys()
        self.update((alpha, stored[alpha]) for alpha in new)
        self.read |= new
        self.saved |= stored.keys()

    def forget(self, limit: int) -> None:
        super().forget(limit)
        self.saved &= self.keys()
        self.read &= set(self.all())

    def unsaved(self) -> Iterator[Any]:
        """The orders whose values are not on the disk yet."""
        return (alpha for alpha in list(self) if alpha not in self.saved)


class DiskMemo:
    """Certified curve values in an SQLite file, for any number of processes at once.

    A value is found again only for the same expression, theorem, kind of bound, precision,
    version of flint and source text of symacct: what an older formula gave is not found. Each row
    carries a digest, which is no signature: who can write the file can write a digest. A
    transaction that a kill cuts off leaves no trace. Raises StorageError for a file that is foreign
    or corrupt. Where it can no longer be written, a disk being full, a StorageWarning says so once,
    and answers go on without it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = arguments.path(path, "memo")
        self._process = os.getpid()
        self._tables: WeakSet[StoredTable] = WeakSet()
        self._seen = 0  # the state of the file at the last refresh
        self._given_up = False
        with self._said():
            self._base = sqlite3.connect(
                self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False
            )
        self._base.text_factory = bytes  # what stands in a row is decoded here, if at all
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _ROW_BYTES)
        try:
            with self._said():
                self._prepare()
        except StorageError:
            self._base.close()
            raise

    @property
    def is_inherited(self) -> bool:
        """Was it opened by the process that this one was forked from?"""
        return self._process != os.getpid()

    def opened_again(self) -> DiskMemo:
        """The memo, opened by this process; SQLite forbids even closing what another one opened."""
        _inherited.append(self._base)
        return type(self)(self.path)

    def _prepare(self) -> None:
        with self._transaction():
            tables = self._base.execute("select count(*) from sqlite_master").fetchone()[0]
            found = [self._pragma("application_id"), self._pragma("user_version")]
            if tables and found != [_APPLICATION, _FORMAT]:
                raise self._error("it holds something other than a memo of this format")
            self._base.execute(f"pragma application_id = {_APPLICATION}")
            self._base.execute(f"pragma user_version = {_FORMAT}")
            self._base.execute(_SCHEMA)
        # Readers and a writer do not wait for each other, and a commit does not wait for the disk.
        self._base.execute("pragma journal_mode = wal")
        self._base.execute("pragma synchronous = normal")

    def _pragma(self, name: str) -> int:
        return int(self._base.execute(f"pragma {name}").fetchone()[0])

    def table(self, node: Node, key: Key) -> Remembered:
        """What is stored of a node's curve under an evaluation's key; nothing if it cannot be."""
        text = _key_text(node, key)
        if text is None or self._given_up:
            return Remembered()
        table = StoredTable(hashlib.sha256(text.encode()).digest())
        self._fill(table)
        self._tables.add(table)
        return table

    def _fill(self, table: StoredTable) -> None:
        with self._said():
            rows = self._base.execute(
                "select alpha, value, digest from ball where key = ?", (table.key,)
            ).fetchall()
        table.take(dict(self._row(table.key, *row) for row in rows))

    def refresh(self) -> None:
        """Take in what other processes have saved since the last time."""
        if self._given_up:
            return
        with self._said():
            seen = self._pragma("data_version")
        if seen != self._seen:
            self._seen = seen
            for table in list(self._tables):
                self._fill(table)

    def _row(self, key: bytes, alpha: bytes, value: bytes, digest: bytes) -> tuple[Order, arb]:
        """(order, ball); StorageError for anything but what `save` writes."""
        typed = isinstance(alpha, bytes) and isinstance(value, bytes)
        if not typed or digest != _digest(key, alpha, value):
            raise self._error("a row does not match its digest")
        try:
            if _ORDER.fullmatch(alpha) and _BALL.fullmatch(value):
                return exact.order(alpha.decode()), _read(value)
        except SymacctError:  # an order below 1, or beyond the limits in force
            pass
        raise self._error("a row holds no order and value")

    def save(self) -> None:
        """Write what was computed since the last time; where that fails, say so and give up."""
        try:
            if not self._given_up:
                self._save()
        except StorageError as error:
            self._given_up = True
            warn(f"{error}. Answers continue without the memo", StorageWarning)

    def _save(self) -> None:
        # What is saved is a part of the table, so equal lengths say that nothing is new.
        grown = [table for table in self._tables if len(table) > len(table.saved)]
        new = [(table, list(table.unsaved())) for table in grown]
        rows = []
        for table, orders in new:
            for order in orders:
                alpha, value = _order_text(order), _written(table[order])
                if alpha is not None and value is not None:
                    rows.append((table.key, alpha, value, _digest(table.key, alpha, value)))
        if not rows:
            return
        with self._said(), self._transaction():
            self._base.executemany(
                "insert or ignore into ball values (?, cast(? as text), cast(? as text), ?)", rows
            )
        for table, orders in new:
            table.saved.update(orders)

    def close(self) -> None:
        """Save, and close the file."""
        try:
            self.save()
        finally:
            self._base.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:  # around "begin" as well: an interrupt may come as soon as it has begun
            self._base.execute("begin immediate")
            yield
            self._base.execute("commit")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("rollback")
            raise

    @contextmanager
    def _said(self) -> Iterator[None]:
        """What SQLite says is wrong, as our error; of a corrupt schema not always in UTF-8."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._error(" ".join(str(error).split())) from None

    def _error(self, fault: str) -> StorageError:
        return StorageError(
            f"memo {self.path}: {fault}; name another file, or remove this one if it is a memo, "
            "because answers do not need it"
        )


def _key_text(node: Node, key: Key) -> str | None:
    """All that a table's values depend on, as text; None where a Python function is part of it.

    An answer by the exact profile stands at its order, under the digits and what was given.
    """
    arithmetic, bits, goal, by, *_ = key
    theorems = theorem_registry.theorems()
    ours = all(str(getattr(t.bound, "__module__", "")).startswith("symacct.") for t in theorems)
    if arithmetic != "BallArithmetic" or not ours:
        return None
    try:
        expression = to_json(node)
    except SymacctError:
        return None
    known = " ".join(sorted(t.name for t in theorems))
    parts = (__version__, source_digest(), flint.__version__, known, bits, goal, by, expression)
    return "\n".join(map(str, parts))


@functools.cache
def source_digest(package: Path = Path(__file__).parents[1]) -> str:
    """A digest of all that computes a value: every module of the package."""
    found = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        found.update(f"{file.relative_to(package).as_posix()}\n{len(text)}\n".encode() + text)
    return found.hexdigest()


def _digest(key: bytes, alpha: bytes, value: bytes) -> bytes:
    return hashlib.sha256(b"\n".join((key, alpha, value))).digest()[:16]


def _order_text(alpha: Order) -> bytes | None:
    text = b"inf" if alpha == INFINITY else exact.text(Fraction(alpha)).encode()
    return text if _ORDER.fullmatch(text) else None


def _written(value: arb) -> bytes | None:
    """A ball as text that gives back every bit (flint's radii have 30), or None."""
    if not value.is_finite():
        return b"inf" if value == arb("inf") else None
    mantissa, exponent = map(int, value.mid().man_exp())
    spread, scale = map(int, value.rad().man_exp())
    if spread:
        shift = _RADIUS_BITS - spread.bit_length()
        spread, scale = (spread << shift) - 1, scale - shift
    text = f"{mantissa:x} {exponent:x} {spread:x} {scale:x}".encode()
    if not _BALL.fullmatch(text):
        return None
    again = _read(text)
    same = again.mid() == value.mid() and again.rad() == value.rad()
    return text if same else None


def _read(text: bytes) -> arb:
    if text == b"inf":
        return arb("inf")
    mantissa, exponent, spread, scale = (fmpz(int(part, 16)) for part in text.split())
    return arb(arb((mantissa, exponent)), arb((spread, scale)))


def was_read(table: Remembered, alpha: Order) -> bool:
    """Does this value come from the disk?"""
    return isinstance(table, StoredTable) and alpha in table.read
