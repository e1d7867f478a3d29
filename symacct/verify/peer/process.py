"""A peer as a child process: asked one line at a time, bounded in time and output, restarted."""

from __future__ import annotations

import contextlib
import math
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from symacct.kernel import parameters
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import DomainError, SymacctError, echo, reason
from symacct.kernel.exact import Numeric
from symacct.kernel.memory import new_lock
from symacct.kernel.parameters import positive
from symacct.verify.peer.protocol import HELLO_LINE, Answer, Ask, Hello
from symacct.verify.peer.reading import (
    Number,
    ProtocolError,
    is_answer_to,
    is_meant_for,
    line_needed,
    misplaced,
    printable,
    read_answer,
    read_hello,
    read_object,
    shown,
)

# --- what a peer did beside answering


#: The most quotes of each kind of incident: enough to see what it is.
_QUOTES = 5
_DIGITS = re.compile(r"\d+")  # incidents that differ in these alone are of one kind


@dataclass
class Incidents:
    """Counts what a peer did beside answering; quotes the first of each kind, once."""

    #: Lines that are no answer, answers to other questions, bad answers, ends and late answers.
    noise: int = 0
    out_of_order: int = 0
    malformed: int = 0
    ends: int = 0
    timeouts: int = 0
    quotes: list[str] = field(default_factory=list)

    def add(self, kind: str, quote: str) -> None:
        """Counts one of a kind, a field; quotes it if it is early and new by more than digits."""
        setattr(self, kind, getattr(self, kind) + 1)
        text = f"{kind.replace('_', ' ')}: {printable(quote, 200)}"
        alike = {_DIGITS.sub("", quote) for quote in self.quotes}
        if getattr(self, kind) <= _QUOTES and _DIGITS.sub("", text) not in alike:
            self.quotes.append(text)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


# --- time by work: on a busy machine nothing ends earlier, and nothing is called slow


Clock = Callable[[], float]
#: So many seconds of the wall clock count as one of work at least: an answer is waited for no more
#: than as many timeouts. With fewer, right peers on a busy machine are late.
IDLE = 4.0


#: Does the system say what time its processes took? If not, the wall clock counts as their work.
HAS_PROC = Path("/proc/self/stat").exists()


def processor_seconds(pid: int) -> float | None:
    """Processor seconds of a process and its ended children; None if it is gone, or no /proc."""
    try:
        row = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # After the name, which may hold anything: its own and its children's, user and system.
    ticks = row.rpartition(b")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


# --- the process


#: Seconds of the wall clock until the hello: imports of large packages take many.
HELLO_SECONDS = 60.0
#: Seconds that a child is idle before its hello until standard error says what is waited for.
_SILENT_SECONDS = 5.0
#: Seconds in which a child ends by itself once its standard input is closed, before it is killed.
GOODBYE_SECONDS = 2.0
#: Ends and hangs, or bad answers without a good one, of which one more gives the peer up.
MAX_ENDS = 20
_LONGEST = 10**6  # the largest timeout, in seconds
#: The most bytes of a line, and of noise before an answer; bytes of standard error that are kept.
_LINE_BYTES = 2**20
_NOISE_BYTES = 2**24
_STDERR_BYTES = 2**16
_PACE = 0.05  # seconds at most between two looks at the clocks, by which an end may be late


class PeerError(SymacctError):
    """A peer cannot be run: its command, its interpreter, or what it answers."""


class PeerGoneError(PeerError):
    """A peer ended too many times to go on."""


class _EndedError(Exception):
    """The child ended, closed its output, or wrote more than it may."""


@dataclass(frozen=True)
class _Child:
    """The child process and its three pipes, none of which blocks."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    @classmethod
    def start(cls, command: Sequence[str]) -> _Child:
        """Starts the command, without a shell, in its own group; OSError if it cannot be run."""
        pipe = subprocess.PIPE
        process = subprocess.Popen(  # noqa: S603  # the user's own command, no shell
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
        )
        pipes = [p for p in (process.stdin, process.stdout, process.stderr) if p is not None]
        for stream in pipes:
            os.set_blocking(stream.fileno(), False)
        return cls(process, *pipes)

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        return self.stdin, self.stdout, self.stderr


class Peer:
    """A running peer, used as a context manager; `hello` says what it may be asked.

    It starts at once: DomainError for a bad argument, PeerError or ProtocolError without a hello.
    An answer is late after `timeout` seconds of its work, or IDLE times as many of the wall clock.
    """

    def __init__(self, command: Sequence[str], timeout: Numeric = 10.0) -> None:
        self.command = _words(command)
        self.timeout = _seconds(timeout)
        #: When, by this clock, no answer is waited for any more.
        self.clock: Clock = time.monotonic
        self.until = math.inf
        self.incidents = Incidents()
        #: The times are read while another thread asks: none is read in the middle of a change.
        self._times = new_lock()
        self._child: _Child | None = None
        #: The seconds that all starts took, with the hello.
        self._starts = 0.0
        self._starting: float | None = None
        #: Processor seconds of children that are gone; of this one, when it had said hello.
        self._gone = self._before = self._last = 0.0
        self._answered = 0
        self._warnings: set[str] = set()
        self.hello = self._start()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def ask(self, ask: Ask) -> Answer:
        """Returns the answer to one question; a hang, an end and a bad line are answers too.

        After a hang or an end the next question starts the child anew. OutOfTimeError at `until`,
        whatever the peer does; PeerGoneError once MAX_ENDS is passed.
        """
        self._in_time()
        if self._child is None:
            self._restart()
        self._number += 1
        spent = self._stopwatch()
        try:
            row = self._exchange(
                ask.line(self._number),
                self._number,
                lambda: spent() >= self.timeout or self.clock() >= self.until,
            )
        except TimeoutError:
            seconds = spent()
            self._kill()
            self._in_time()
            if self._warnings and self.incidents.out_of_order and not self._answered:
                raise PeerGoneError("no answer has the id of its question") from None
            self.incidents.add("timeouts", ask.expression)
            return Answer(late=True, seconds=seconds)
        except _EndedError as ended:
            self._kill()
            self.incidents.add("ends", f"{ended} at {ask.expression}")
            return Answer(error=f"the peer ended: {ended}{self._last_words()}")
        except ProtocolError as error:
            return self._malformed(error, spent())
        return self._read(row, spent(), ask)

    @property
    def busy(self) -> float:
        """The processor seconds that its answers took; the wall clock's where no one can tell."""
        with self._times:
            now = 0.0 if self._starting is not None else self._used() - self._before
            return self._gone + max(0.0, now)

    @property
    def starts(self) -> float:
        """The seconds of the wall clock that all starts took, the one that goes on with them."""
        with self._times:
            begun = self._starting
            return self._starts + (0.0 if begun is None else time.monotonic() - begun)

    def _used(self) -> float:
        """Processor seconds of the child so far, 0 without one; the wall clock without /proc."""
        child = self._child
        if child is None:
            return 0.0
        if not HAS_PROC:
            return time.monotonic()
        used = processor_seconds(child.process.pid)
        self._last = self._last if used is None else used
        return self._last

    def _stopwatch(self) -> Callable[[], float]:
        """Returns a function: seconds of work from now on, at least the wall clock's over IDLE."""
        busy, wall = self.busy, time.monotonic()
        return lambda: max(self.busy - busy, (time.monotonic() - wall) / IDLE)

    def fresh(self) -> None:
        """Kills the child; the next question starts a new one, that knows nothing asked before."""
        self._kill()

    def close(self) -> None:
        """Closes the child's standard input, and kills it and its group after GOODBYE_SECONDS."""
        if self._child is None:
            return
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.process.wait(self._left(GOODBYE_SECONDS))
        self._kill()

    def _left(self, seconds: float) -> float:
        """So many seconds, or those to `until` if they are fewer; at least 0."""
        return max(0.0, min(seconds, self.until - self.clock()))

    def _in_time(self) -> None:
        if self.clock() >= self.until:
            raise OutOfTimeError

    # --- the child

    def _start(self) -> Hello:
        """Starts a child with empty buffers, and adds the seconds until its hello to `starts`."""
        self._number = 0
        self._unsent = b""
        self._buffer = bytearray()
        self._searched = 0  # of the buffer: no newline before
        self._noise_bytes = 0
        self._stderr = b""
        self._starting = time.monotonic()
        try:
            return self._greet()
        finally:
            with self._times:
                self._before = self._used()
                self._starts, self._starting = self.starts, None

    def _greet(self) -> Hello:
        """Starts the child and reads its hello, or raises PeerError with what came in its place."""
        try:
            self._child = _Child.start(self.command)
        except OSError as error:
            raise PeerError(
                f"peer command: found {echo(self.command[0])}, which cannot be run "
                f"({reason(error)}); needed a program that exists and may be executed"
            ) from None
        begun = time.monotonic()
        try:
            row = self._exchange(
                HELLO_LINE, 0, lambda: self._hello_is_overdue(time.monotonic() - begun)
            )
            return read_hello(row)
        except TimeoutError:
            self._kill()
            self._in_time()
            problem = f"no answer to the first question within {HELLO_SECONDS:g} s"
        except _EndedError as ended:
            problem = f"that it ended before its hello ({ended})"
        except ProtocolError:
            self._kill()
            raise
        self._kill()
        last_words = self._last_words()
        needed = "a program that answers by docs/verification.md"
        if "ModuleNotFoundError" in last_words:  # of what is not beside the peer, as under src/
            needed = (
                "that module: install it for the peer's interpreter (pip install -e .), "
                'or run it by "env PYTHONPATH=FOLDER …"'
            )
        raise PeerError(
            f"peer {' '.join(self.command)}: found {problem}{last_words}; needed {needed}"
        )

    def _hello_is_overdue(self, seconds: float) -> bool:
        """Is the hello overdue after `seconds`? Warns once of a child that is idle so long before.

        Never warns without /proc, where nobody can tell whether it imports or waits.
        """
        if seconds - self._used() >= _SILENT_SECONDS:
            why = (
                "does the peer flush its output after each line? (C: fflush(stdout); "
                "C++: std::endl; Python: print(..., flush=True))"
            )
            for quote in self.incidents.quotes:
                read = quote.partition(": ")[2].strip()
                why = f"it printed {read}, which is no answer; needed {line_needed(0)} on one line"
            self._warn(f"no answer to the first question for {_SILENT_SECONDS:g} s: {why}")
        return seconds >= HELLO_SECONDS

    def _warn(self, text: str) -> None:
        """Prints a text on standard error, at once; each text only once, also after restarts."""
        if text not in self._warnings:
            self._warnings.add(text)
            command = " ".join(" ".join(self.command).split())
            print(f"peer {command}: {text}", file=sys.stderr, flush=True)

    def _restart(self) -> None:
        """Starts another child, whose hello is read but not kept; PeerGoneError to give it up."""
        if self.incidents.ends + self.incidents.timeouts > MAX_ENDS:
            raise PeerGoneError(f"the peer ended or hung more than {MAX_ENDS} times")
        try:
            self._start()
        except (PeerError, ProtocolError) as error:
            raise PeerGoneError(f"the peer could not be started again: {error}") from None

    def _kill(self) -> None:
        """Kills the child with its group, and keeps its processor time and last words."""
        with self._times:
            self._gone, self._before, self._last = self.busy, 0.0, 0.0
            child, self._child = self._child, None
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)  # the child's own group
        child.process.wait()
        # Once: a process that left the group may go on writing.
        with contextlib.suppress(OSError):
            self._keep(_read(child.stderr) or b"")
        for stream in child.pipes:
            with contextlib.suppress(OSError):
                stream.close()

    # --- lines

    def _exchange(self, line: str, number: int, over: Callable[[], bool]) -> dict[str, Any]:
        """Writes a line and returns the object that answers it, counting what else comes before.

        TimeoutError once it is `over`, _EndedError at an end, ProtocolError for a bad answer.
        """
        self._unsent += line.encode() + b"\n"
        for text in self._lines(over):
            row = read_object(text)
            if row is None and not self._unsent and is_meant_for(text, number):
                line_text = shown(text.decode(errors="replace"))
                raise ProtocolError(f"found {line_text}, needed one JSON object")
            if row is None:
                self.incidents.add("noise", text.decode(errors="replace"))
            elif not self._unsent and is_answer_to(row, number):
                self._noise_bytes = 0
                return row
            else:
                self._misplaced(text, row, number)
            self._passed_over(text)
        raise AssertionError("unreachable: _lines ends by raising")

    def _misplaced(self, text: bytes, row: dict[str, Any], number: int) -> None:
        """Counts a row that answers no question, warning before the first answer, or raises.

        ProtocolError for an answer without an id, an echo, a hello with another id: none will come.
        """
        wrong = "" if self._unsent else misplaced(row, number)
        another = number and isinstance(row.get("id"), Number) and "ask" not in row
        if wrong and not another:
            raise ProtocolError(wrong)
        if "id" in row or self._unsent:
            self.incidents.add("out_of_order", f"id {shown(row.get('id'))}, asked {number}")
        else:
            self.incidents.add("noise", text.decode(errors="replace"))
        if wrong and not self._answered:
            self._warn(wrong)

    def _passed_over(self, text: bytes) -> None:
        """Adds to the noise since the last answer; _EndedError for too much."""
        self._noise_bytes += len(text) + 1
        if self._noise_bytes > _NOISE_BYTES:
            raise _EndedError(f"more than {_NOISE_BYTES >> 20} MiB of noise")

    def _lines(self, over: Callable[[], bool]) -> Iterator[bytes]:
        """Yields lines that are not empty, sending what is unsent; TimeoutError once it is over."""
        child = self._running()
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdin, selectors.EVENT_WRITE)
            for stream in (child.stdout, child.stderr):
                selector.register(stream, selectors.EVENT_READ)
            while True:
                end = self._buffer.find(b"\n", self._searched)
                if end < 0:
                    self._searched = len(self._buffer)
                    self._wait(selector, over)
                    continue
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                if line.strip():
                    yield line
                else:
                    self._passed_over(line)

    def _wait(self, selector: selectors.BaseSelector, over: Callable[[], bool]) -> None:
        """Moves once what the three pipes take; TimeoutError if it is `over` before."""
        if over():
            raise TimeoutError
        events = selector.select(_PACE)
        child = self._running()
        for stream in (key.fileobj for key, _ in events):
            if stream is child.stdin:
                self._send(child.stdin)
                if not self._unsent:
                    selector.unregister(stream)
            elif stream is child.stdout:
                self._take(_read(child.stdout))
            elif (data := _read(child.stderr)) is not None:
                self._keep(data)
                if not data:
                    selector.unregister(stream)

    def _running(self) -> _Child:
        assert self._child is not None  # noqa: S101  # lines are exchanged with a child only
        return self._child

    def _send(self, stream: IO[bytes]) -> None:
        """Writes what the pipe takes of the unsent lines; _EndedError where it is closed."""
        try:
            sent = os.write(stream.fileno(), self._unsent)
        except BlockingIOError:
            return
        except OSError:
            raise _EndedError(self._status()) from None
        self._unsent = self._unsent[sent:]

    def _take(self, data: bytes | None) -> None:
        """Adds to the buffer; _EndedError at the end (b"") and for a line of too many bytes."""
        if data is None:
            return
        if not data:
            raise _EndedError(self._status())
        self._buffer += data
        if len(self._buffer) > _LINE_BYTES and b"\n" not in self._buffer:
            raise _EndedError(f"more than {_LINE_BYTES >> 20} MiB in a line")

    def _keep(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-_STDERR_BYTES:]

    def _status(self) -> str:
        """How the child ended, in words; it is waited for up to GOODBYE_SECONDS."""
        try:
            code = self._running().process.wait(self._left(GOODBYE_SECONDS))
        except subprocess.TimeoutExpired:
            return "it closed its standard output"
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _last_words(self) -> str:
        """The last line of standard error, as the end of a message; empty without one."""
        lines = self._stderr.decode(errors="replace").split("\n")
        last = [line.strip() for line in lines if line.strip()][-1:]
        return f", stderr: {printable(last[0])}" if last else ""

    def _read(self, row: dict[str, Any], seconds: float, ask: Ask) -> Answer:
        """Reads a row as the answer to an ask; one that breaks the protocol counts as malformed."""
        try:
            answer = read_answer(row, seconds, ask.batch).of(ask)
        except ProtocolError as error:
            return self._malformed(error, seconds)
        self._answered += 1
        return answer

    def _malformed(self, error: ProtocolError, seconds: float) -> Answer:
        """A bad answer as an error; PeerGoneError after too many without a good one."""
        self.incidents.add("malformed", str(error))
        if not self._answered and self.incidents.malformed > MAX_ENDS:
            raise PeerGoneError(f"no answer is one of docs/verification.md: {error}") from None
        return Answer(error=f"malformed answer: {error}", seconds=seconds)


def _words(command: object) -> tuple[str, ...]:
    """The program and its arguments as text; DomainError for what no system can be given."""
    words = parameters.members(command, "peer command", "['python', 'peer.py']")
    if not words:
        raise DomainError("peer command: found an empty list, needed a program")
    for word in words:
        text = parameters.text(word, "peer command, a word")
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise DomainError(f"peer command: found {echo(text)}, which no program can be given")
    return tuple(words)


def _seconds(timeout: Numeric) -> float:
    """The timeout as a float; DomainError unless 0 < seconds <= 10⁶."""
    seconds = positive(timeout, "peer, timeout")
    if not isinstance(seconds, Fraction) or seconds > _LONGEST:
        raise DomainError(f"peer, timeout: found {echo(timeout)}, needed at most {_LONGEST} s")
    return float(seconds)


def _read(stream: IO[bytes]) -> bytes | None:
    """What is there; nothing (b"") at the end, None if the wake-up was spurious."""
    try:
        return os.read(stream.fileno(), 2**16)
    except BlockingIOError:
        return None
