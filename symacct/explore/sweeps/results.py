"""A results file: a header and a line for each point; a kill at any moment loses no full line.

Each line ends in a digest of the header and of itself, so that what the disk, a tool or a slip of
the hand changed is no answer. It is no signature: who can write the file can write a digest.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from symacct.kernel import limits
from symacct.kernel.errors import StorageError, reason

try:
    import fcntl
except ImportError:  # not on Windows: there two sweeps must not share a file
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]
_DIGEST = b', "digest": "'


class ResultsFile:
    """Records by point as they come; a foreign, corrupt or busy file is left as it is."""

    def __init__(self, path: Path, header: Record) -> None:
        self.path = path
        self.records: dict[int, Record] = {}
        self._header = header
        self._question = hashlib.sha256(_line(header))
        self._file = self._opened()
        try:
            with self._told(lambda: "name another file"):
                self._read()
        except BaseException:
            self.close()
            raise

    def _opened(self) -> IO[bytes]:
        try:
            file = open(self.path, "a+b")  # noqa: SIM115  # it stays open for the whole sweep
        except OSError as error:
            raise StorageError(
                f"results file {self.path}: {reason(error)}", remedy="name another file"
            ) from None
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise StorageError(
                    f"results file {self.path}: another sweep is writing it",
                    remedy="wait for its end or name another file",
                ) from None
        return file

    def _read(self) -> None:
        """What an earlier run left; a last line without its end was cut by a kill: dropped."""
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._lines(), 1):
            if not line.endswith(b"\n"):
                if number == 1 and not line.startswith(b'{"symacct sweep"'):
                    raise self._foreign("its first line is not that of a sweep")
                self._file.truncate(whole)
                break
            whole += len(line)
            if number > 1:
                self._add(line, number)
            elif self._parsed(line, 1) != self._header:
                raise self._foreign("it holds another sweep: another expression, grid or question")
        if not whole:
            self._write([_line(self._header)])

    def _lines(self) -> Iterator[bytes]:
        """Line by line, none longer than ours may be."""
        most = max(len(_line(self._header)), limits.current().text_bytes)
        while line := self._file.readline(most + 1):
            if len(line) > most:
                raise self._foreign(f"a line is longer than {most:,} bytes")
            yield line

    def _add(self, line: bytes, number: int) -> None:
        content, _, digest = line.rpartition(_DIGEST)
        if digest != self._digest(content):
            raise self._foreign(
                f"line {number} does not match its digest (without that line, its point is "
                "computed again)"
            )
        record = self._parsed(content + b"}", number)
        point = record.pop("point", None)
        if type(point) is not int or not 0 <= point < self._header["points"]:
            raise self._foreign(f"line {number} is no record of a point")
        self.records[point] = record

    def _row(self, point: int, record: Record) -> bytes:
        content = _line({"point": point, **record}).removesuffix(b"}\n")
        return content + _DIGEST + self._digest(content)

    def _digest(self, content: bytes) -> bytes:
        """The end of a row: a digest of the question (the header) and of what the row says."""
        digest = self._question.copy()
        digest.update(content)
        return digest.hexdigest()[:32].encode() + b'"}\n'

    def _parsed(self, line: bytes, number: int) -> Record:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._foreign(f"line {number} is no JSON object")
        return value

    def _foreign(self, fault: str) -> StorageError:
        return StorageError(
            f"results file {self.path}: {fault}; nothing was changed in it",
            remedy="name another file, or remove this one",
        )

    def add(self, records: dict[int, Record]) -> None:
        """Append the records; they are on the disk when this returns."""
        self._write([self._row(point, record) for point, record in records.items()])
        self.records.update(records)

    @contextmanager
    def _told(self, remedy: Callable[[], str]) -> Iterator[None]:
        """What the system says is wrong with the file, as our error."""
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"results file {self.path}: {reason(error)}", remedy=remedy()
            ) from None

    def _write(self, lines: list[bytes]) -> None:
        before = os.fstat(self._file.fileno()).st_size
        safe = f"{len(self.records):,} of {self._header['points']:,} points are safe"
        room = "make room and run the same sweep again to go on"
        with self._told(lambda: f"{safe} in its first {before:,} bytes; {room}"):
            self._file.seek(0, os.SEEK_END)
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())

    def finish(self) -> None:
        """Put the lines into the order of the points, at one stroke."""
        ordered = [self._row(point, self.records[point]) for point in sorted(self.records)]
        content = b"".join([_line(self._header), *ordered])
        sorted_file = self.path.with_name(self.path.name + ".sorted")
        safe = "every point is safe in it, in the order of computation"
        with self._told(lambda: f"{safe}; run the same sweep again to put it in order"):
            self._file.seek(0)
            if self._file.read() == content:
                return
            try:
                with open(sorted_file, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(sorted_file, self.path)
            except OSError:
                with suppress(OSError):
                    sorted_file.unlink(missing_ok=True)
                raise

    def close(self) -> None:
        """Let go of the file; another sweep may use it."""
        with suppress(OSError):  # what could not be written was said, and closing tries it again
            self._file.close()


@functools.cache
def source_digest(package: Path = Path(__file__).parents[2]) -> str:
    """A digest of all that computes a value: every module of the package, by name and text.

    In a file's header it keeps answers of two states of the formulas apart.
    """
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        text = file.read_bytes()
        digest.update(f"{file.relative_to(package).as_posix()}\n{len(text)}\n".encode() + text)
    return digest.hexdigest()


def _line(record: Record) -> bytes:
    return json.dumps(record).encode() + b"\n"
