"""Is an accountant right? The command `verify`."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import click

from symacct.cli.frame import File, Like, command, findings_alone_are_1, print_note, show
from symacct.kernel.deadline import progress, tell_so_far
from symacct.kernel.errors import SymacctError, echo, reason
from symacct.verify import FULL, QUICK, PeerError, Report, adapters, verify
from symacct.verify.judging.verdict import VERDICTS
from symacct.verify.peer import peers
from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting import accuracy, page
from symacct.verify.reporting.document import document, lacking_rows, too_little
from symacct.verify.reporting.judgement import Judgement, KnownFindings, read

_TIMEOUT, _QUICK_TIMEOUT = 10.0, 2.5  # seconds of one answer, where nothing else is said
_PACE = 20  # questions between two lines of progress
#: Told the reports and the peers that have none.
_SoFar = Callable[[list[Report], list[tuple[str, str]]], None]


@command("verify", prints_json=False, epilog=None)
@findings_alone_are_1()
def verify_command(
    peer: str | None = None,
    /,
    every: Annotated[bool, Like(names=("--all",))] = False,
    command: str | None = None,
    python: str | None = None,
    install: bool = False,
    version: str | None = None,
    quick: bool = False,
    seconds: Annotated[float | None, Like(type=click.FloatRange(1, 10**6))] = None,
    json: File = None,
    html: File = None,
    seed: int = 0,
    fail_on: Annotated[str | None, click.Choice(VERDICTS)] = None,
    baseline: File = None,
    allowance: str = "1e-9",
    allow_rounding: bool = False,
    map_file: Annotated[str | None, Like(names=("--map",), metavar="FILE")] = None,
    replay: File = None,
    timeout: Annotated[float | None, click.FloatRange(0.1, 3600)] = None,
) -> None:
    """Test another accountant against certified enclosures.

    PEER is the name of an accountant that symacct knows, such as opacus. It runs in the
    interpreter of --python, or in a temporary environment with --install. The exit status is 1 if
    a value is below what is proved, or has a verdict that --fail-on includes. It is 3 if too few
    answers could be judged.

    \b
    Example:
      symacct verify opacus --install --quick
    \f
    every: Test every bundled peer, one after another.
    command: Test a program that answers by the protocol of docs/protocol.md.
    python: The Python interpreter in which the peer is installed.
    install: Install the peer in a temporary environment.
    version: The version of the peer that --install takes.
    quick: Ask fewer questions, for less than thirty seconds.
    seconds: How many seconds of work the run may take.
    json: Write the findings to FILE as JSON.
    html: Write a page with plots to FILE.
    seed: The same seed asks the same questions.
    fail_on: Exit with status 1 at this verdict and at those listed before it. By default only a
        value below what is proved does so.
    baseline: A file of an earlier --json. Only new findings fail.
    allowance: The relative error that is tolerated.
    allow_rounding: Do not fail by findings that rounding to float64 explains.
    map_file: Write the largest errors to FILE, as a table (.md) or as a picture.
    replay: Ask the worst questions of earlier runs again. FILE keeps them.
    timeout: How many seconds one answer may take.
    """
    known = {} if baseline is None else read(baseline)
    before = [] if replay is None else accuracy.replayed(replay)
    extent = QUICK if quick else FULL
    run = _Run(
        peer, every, command, python, install, version,
        extent if seconds is None else replace(extent, seconds=seconds), seed, allowance,
        timeout or (_QUICK_TIMEOUT if quick else _TIMEOUT), known, before,
    )  # fmt: skip
    if every and (map_file or replay):
        raise PeerError("--map and --replay: found --all beside them, needed one PEER")
    if map_file is not None:
        accuracy.needs(map_file)
    files = json, html, map_file, replay
    for file in files:
        _writable(file)
    if html is not None:
        page.needs()

    def so_far(reports: list[Report], absent: list[tuple[str, str]]) -> None:
        """Write what is known by now: a run of all that is cut loses one peer."""
        _write(json, _as_json(reports, absent, every))

    reports, absent = run.all(so_far)
    for name, why in absent:
        print_note(f"{name}: not run: {why}")
    judged = [
        Judgement(report, fail_on, known.get(report.peer, KnownFindings()), allow_rounding)
        for report in reports
    ]
    documents = [document(one) for one in judged]
    for said in documents:
        show(said)
    if map_file is not None:
        with _as_a_fault(map_file):
            if map_file.endswith(".md"):
                _write(map_file, accuracy.table(reports[0]))
            else:
                accuracy.draw(reports[0], map_file)
    _write(replay, accuracy.grown(before, reports[0]) if replay else "")
    _write(html, page.page(documents, absent) if html else "")
    for file in dict.fromkeys(files):
        if file is not None:
            print_note(f"written: {file}")
    for one in judged:
        if not one.report.enough:
            print_note(f"{one.report.peer}: {too_little(one.report)}")
            for kind, answered, seen in lacking_rows(one.report):
                print_note(f"  {kind}: {answered} answered, {seen} judged")
    raise SystemExit(min((one.status for one in judged if one.status), default=0))


@dataclass(frozen=True)
class _Run:
    """What is asked to be verified, and how; PeerError for what does not go together."""

    peer: str | None
    every: bool
    command: str | None
    python: str | None
    install: bool
    version: str | None
    extent: Any
    seed: int
    allowance: str
    timeout: float
    known: Mapping[str, KnownFindings]
    replayed: Sequence[accuracy.Worst]

    def __post_init__(self) -> None:
        if (self.peer is not None) + self.every + (self.command is not None) != 1:
            known = ", ".join(adapters()) or "none"
            raise PeerError(f"needed one of PEER ({known}), --command or --all")
        if self.version is not None and not self.install:
            raise PeerError("--version: needed --install beside it, to install that version")
        if self.install and self.command is not None:
            raise PeerError(
                "--install: found --command beside it, needed PEER, whose packages are known"
            )
        if self.version is not None and self.every:
            raise PeerError("--version: found --all beside it, needed one PEER")
        for name, value in (("--timeout", self.timeout), ("--seconds", self.extent.seconds)):
            if math.isnan(value):
                raise PeerError(f"{name}: found nan, needed a number of seconds")

    def all(self, so_far: _SoFar) -> tuple[list[Report], list[tuple[str, str]]]:
        """A report for each peer; with several, one that cannot be run is said and left out.

        `so_far` is told after each of them what there is by then.
        """
        reports: list[Report] = []
        absent: list[tuple[str, str]] = []
        made: dict[str, str] = {}
        with contextlib.ExitStack() as stack:
            if not self.every:
                reports = [self.one(self.words(self.peer, stack, made))]
                so_far(reports, absent)
                return reports, absent
            left = list(adapters())
            while left:
                name = left.pop(0)
                try:
                    reports.append(self.one(self.words(name, stack, made)))
                except SymacctError as error:
                    kind = "" if isinstance(error, PeerError) else f"{type(error).__name__}: "
                    absent.append((name, f"{kind}{error}"))
                so_far(reports, [*absent, *((name, "not reached yet") for name in left)])
        return reports, absent

    def one(self, words: Sequence[str]) -> Report:
        """The report on one peer."""

        def shown(stage: str, asked: int) -> None:
            if asked % _PACE == 0:
                tell_so_far(f"{stage}, {asked:,} questions asked")

        with progress("verify"):
            return verify(
                words, self.extent, self.seed, self.timeout, shown, self.allowance, self.asks
            )

    def asks(self, peer: str) -> tuple[Ask, ...]:
        """What the baseline knows of a peer, and the worst cases: to be asked again."""
        worst = (one.ask for one in self.replayed)
        return tuple(dict.fromkeys((*self.known.get(peer, KnownFindings()).asks, *worst)))

    def words(
        self, name: str | None, stack: contextlib.ExitStack, made: dict[str, str]
    ) -> list[str]:
        """The words to run; with --install in an environment of what pip has to install for it.

        An environment is made once for all adapters of a package, and is gone with the stack.
        """
        if self.command is not None:
            return peers.words(self.command)
        adapter, own = peers.adapter(str(name)), peers.interpreter(self.python)
        if self.install:
            needed = " ".join(adapter.requirements)
            if needed not in made:
                with progress(f"installing {needed}"):
                    installed = peers.throwaway(adapter, own, self.version)
                    made[needed] = stack.enter_context(installed)
            own = made[needed]
        return adapter.command(own)


def _as_json(reports: list[Report], absent: list[tuple[str, str]], every: bool) -> str:
    if not every:
        return reports[0].to_json()
    rows = [report.as_dict() for report in reports]
    gone = [{"peer": name, "why": why} for name, why in absent]
    return json.dumps(
        {"peers": rows, "absent": gone}, indent=2, ensure_ascii=False, allow_nan=False
    )


@contextlib.contextmanager
def _as_a_fault(of: str) -> Iterator[None]:
    """PeerError for a report that cannot be written."""
    try:
        yield
    except OSError as error:
        raise PeerError(f"report: {echo(of)} cannot be written ({reason(error)})") from None


def _writable(file: str | None) -> None:
    """PeerError before the run, not after it, for a report that could not be written."""
    if file is None:
        return
    path = Path(file)
    with _as_a_fault(file):
        existed = path.exists()
        with path.open("a", encoding="utf-8"):
            pass
        if not existed:
            path.unlink()


def _write(file: str | None, text: str) -> None:
    if file is not None:
        with _as_a_fault(file):
            Path(file).write_text(text + "\n", encoding="utf-8")
