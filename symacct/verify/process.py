"""A peer as a child process: asked one line at a time, bounded in time and output, restarted."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from symacct.errors import SymacctError
from symacct.verify.protocol import (
    HELLO_LINE,
    Answer,
    Ask,
    Hello,
    ProtocolError,
    printable,
    read_answer,
    read_hello,
    read_object,
)

HELLO_SECONDS = 60.0
GOODBYE_SECONDS = 2.0
MAX_ENDS = 20
_LINE_BYTES = 2**20
_NOISE_BYTES = 2**24
_STDERR_BYTES = 2**16
_QUOTES = 5


class PeerError(SymacctError):
    """A peer cannot be run: its command, its interpreter, or what it answers."""


class PeerGoneError(PeerError):
    """A peer ended too many times to go on."""


@dataclass
class Incidents:
    """What a peer did beside answering; the first of each kind are quoted."""

    noise: int = 0
    out_of_order: int = 0
    malformed: int = 0
    ends: int = 0
    timeouts: int = 0
    quotes: list[str] = field(default_factory=list)

    def add(self, kind: str, quote: str) -> None:
        """Count one, and quote it if it is among the first."""
        setattr(self, kind, getattr(self, kind) + 1)
        if getattr(self, kind) <= _QUOTES:
            self.quotes.append(f"{kind.replace('_', ' ')}: {printable(quote, 200)}")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


class _EndedError(Exception):
    """The child ended, or wrote more than it may."""


class Peer:
    """A running peer. Use as a context manager; `hello` says what it may be asked."""

    def __init__(self, command: Sequence[str], timeout: float = 10.0) -> None:
        self.command = tuple(command)
        self.timeout = timeout
        self.incidents = Incidents()
        self._process: subprocess.Popen[bytes] | None = None
        self._answered = 0
        self.hello = self._start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def ask(self, ask: Ask) -> Answer:
        """The answer to one question; a hang or an end is an answer too, and a fresh child."""
        if self._process is None:
            self._restart()
        self._number += 1
        begun = time.monotonic()
        try:
            row = self._exchange(ask.line(self._number), self._number, self.timeout)
        except TimeoutError:
            self.incidents.add("timeouts", ask.expression)
            self._kill()
            return Answer(late=True, seconds=time.monotonic() - begun)
        except _EndedError as ended:
            self._kill()
            self.incidents.add("ends", f"{ended} at {ask.expression}")
            return Answer(error=f"the peer ended: {ended}{self._last_words()}")
        return self._read(row, time.monotonic() - begun)

    def fresh(self) -> None:
        """A new child for the next question: nothing asked before can matter."""
        self._kill()

    def close(self) -> None:
        """Close the child's standard input, give it two seconds, end it."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GOODBYE_SECONDS)
        self._kill()

    # --- the child

    def _start(self) -> Hello:
        self._number = 0
        self._buffer = b""
        self._noise_bytes = 0
        self._stderr: deque[bytes] = deque()
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the user's own command, no shell
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise PeerError(
                f"peer command: found {self.command[0]!r}, which cannot be run "
                f"({error.strerror}); needed a program that exists and may be executed"
            ) from None
        for stream in (self._process.stdout, self._process.stderr):
            os.set_blocking(stream.fileno(), False)  # type: ignore[union-attr]
        return self._greet()

    def _greet(self) -> Hello:
        try:
            return read_hello(self._exchange(HELLO_LINE, 0, HELLO_SECONDS))
        except TimeoutError:
            found = f"no answer to the hello within {HELLO_SECONDS:g} s"
        except _EndedError as ended:
            found = f"that it ended before its hello ({ended})"
        except ProtocolError:
            self._kill()
            raise
        self._kill()
        raise PeerError(
            f"peer {' '.join(self.command)}: found {found}{self._last_words()}; "
            "needed a program that speaks docs/protocol.md"
        )

    def _restart(self) -> None:
        if self.incidents.ends + self.incidents.timeouts > MAX_ENDS:
            raise PeerGoneError(f"the peer ended or hung more than {MAX_ENDS} times")
        try:
            self._start()
        except (PeerError, ProtocolError) as error:
            raise PeerGoneError(f"the peer could not be started again: {error}") from None

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # our own child's group, made at its start
        process.wait()
        with contextlib.suppress(OSError):
            self._keep(process.stderr.read() or b"")  # type: ignore[union-attr]
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    # --- lines

    def _exchange(self, line: str, number: int, seconds: float) -> dict[str, Any]:
        """Write a line, return the object that answers it."""
        assert self._process is not None  # noqa: S101
        deadline = time.monotonic() + seconds
        try:
            self._process.stdin.write(line.encode() + b"\n")  # type: ignore[union-attr]
        except OSError:
            raise _EndedError(self._status()) from None
        for text in self._lines(deadline):
            row = read_object(text)
            if row is None:
                self._noise_bytes += len(text)
                if self._noise_bytes > _NOISE_BYTES:
                    raise _EndedError(f"more than {_NOISE_BYTES >> 20} MiB of noise")
                self.incidents.add("noise", text.decode(errors="replace"))
            elif row.get("id") != number:
                self.incidents.add("out_of_order", f"id {row.get('id')!r}, asked {number}")
            else:
                return row
        raise AssertionError("unreachable: _lines ends by raising")

    def _lines(self, deadline: float) -> Iterator[bytes]:
        """Lines of standard output until the deadline; keeps the end of standard error."""
        assert self._process is not None  # noqa: S101
        stdout, stderr = self._process.stdout, self._process.stderr
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
            selector.register(stderr, selectors.EVENT_READ)  # type: ignore[arg-type]
            while True:
                *lines, self._buffer = self._buffer.split(b"\n")
                for i, line in enumerate(lines):
                    if line.strip():
                        # What is left of this batch is kept for the next question.
                        rest = b"\n".join([*lines[i + 1 :], self._buffer])
                        self._buffer = rest
                        yield line
                        break
                else:
                    self._wait(selector, stdout, deadline)

    def _wait(self, selector: selectors.BaseSelector, stdout: Any, deadline: float) -> None:
        left = deadline - time.monotonic()
        events = selector.select(left) if left > 0 else []
        if not events:
            raise TimeoutError
        for key, _ in events:
            data = _read(key.fileobj)  # type: ignore[arg-type]
            if data is None:
                continue
            if key.fileobj is not stdout:
                self._keep(data)
                if not data:
                    selector.unregister(key.fileobj)
            elif not data:
                raise _EndedError(self._status())
            else:
                self._buffer += data
                if len(self._buffer) > _LINE_BYTES and b"\n" not in self._buffer[-len(data) :]:
                    raise _EndedError(f"more than {_LINE_BYTES >> 20} MiB in a line")

    def _keep(self, data: bytes) -> None:
        self._stderr.append(data)
        while sum(map(len, self._stderr)) > _STDERR_BYTES and len(self._stderr) > 1:
            self._stderr.popleft()

    def _status(self) -> str:
        assert self._process is not None  # noqa: S101
        try:
            code = self._process.wait(GOODBYE_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its standard output"
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _last_words(self) -> str:
        lines = b"".join(self._stderr)[-_STDERR_BYTES:].decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-1:]
        return f", stderr: {printable(last[0])}" if last else ""

    def _read(self, row: dict[str, Any], seconds: float) -> Answer:
        try:
            answer = read_answer(row, seconds)
        except ProtocolError as error:
            self.incidents.add("malformed", str(error))
            if not self._answered and self.incidents.malformed > MAX_ENDS:
                raise ProtocolError(f"no answer is one of docs/protocol.md: {error}") from None
            return Answer(error=f"malformed answer: {error}", seconds=seconds)
        self._answered += 1
        return answer


def _read(stream: IO[bytes]) -> bytes | None:
    """What is there; nothing (b"") at the end, None if the wake-up was spurious."""
    try:
        return os.read(stream.fileno(), 2**16)
    except BlockingIOError:
        return None
