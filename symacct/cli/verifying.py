"""Is an accountant right? The command `verify`."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from symacct.cli.frame import InputError, findings_alone_are_1, main
from symacct.core.errors import SymacctError, echo, reason
from symacct.results.terminal import console, print_prose
from symacct.verify import FULL, QUICK, PeerError, Report, adapters, verify
from symacct.verify.judging.verdict import VERDICTS
from symacct.verify.peer import peers
from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting import accuracy, page
from symacct.verify.reporting.document import ReportDocument, document, lacking_rows, too_little
from symacct.verify.reporting.judgement import Judgement, KnownFindings, read

_SHOWN, _KINDS = 25, 4
_TIMEOUT = 10.0
_QUICK_TIMEOUT = 2.5
#: Told the reports and the peers that have none.
_SoFar = Callable[[list[Report], list[tuple[str, str]]], None]


@main.command("verify")
@click.argument("peer", required=False)
@click.option("--all", "every", is_flag=True, help="Test every bundled peer, one after another.")
@click.option("--command", help="Test a program that answers by the protocol of docs/protocol.md.")
@click.option("--python", help="The Python interpreter in which the peer is installed.")
@click.option("--install", is_flag=True, help="Install the peer in a temporary environment.")
@click.option("--version", help="The version of the peer that --install takes.")
@click.option("--quick", is_flag=True, help="Ask fewer questions, for less than thirty seconds.")
@click.option(
    "--seconds",
    type=click.FloatRange(1, 10**6),
    help="How many seconds of work the run may take.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the findings to FILE as JSON.")
@click.option("--html", "html_file", metavar="FILE", help="Write a page with plots to FILE.")
@click.option("--seed", default=0, show_default=True, help="The same seed asks the same questions.")
@click.option(
    "--fail-on",
    type=click.Choice(VERDICTS),
    help="Exit with status 1 at this verdict and at those listed before it. By default only a "
    "value below what is proved does so.",
)
@click.option(
    "--baseline", metavar="FILE", help="A file of an earlier --json. Only new findings fail."
)
@click.option(
    "--allowance", default="1e-9", show_default=True, help="The relative error that is tolerated."
)
@click.option(
    "--allow-rounding",
    is_flag=True,
    help="Do not fail by findings that rounding to float64 explains.",
)
@click.option(
    "--map",
    "map_file",
    metavar="FILE",
    help="Write the largest errors to FILE, as a table (.md) or as a picture.",
)
@click.option(
    "--replay",
    "replay_file",
    metavar="FILE",
    help="Ask the worst questions of earlier runs again. FILE keeps them.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    help="How many seconds one answer may take.",
)
@findings_alone_are_1()
def verify_command(
    json_file: str | None,
    html_file: str | None,
    fail_on: str | None,
    baseline: str | None,
    allow_rounding: bool,
    map_file: str | None,
    replay_file: str | None,
    **asked: Any,
) -> None:
    """Test another accountant against certified enclosures.

    PEER is the name of an accountant that symacct knows, such as opacus. It runs in the
    interpreter of --python, or in a temporary environment with --install. The exit status is 1 if
    a value is below what is proved, or has a verdict that --fail-on includes. It is 3 if too few
    answers could be judged.

    \b
    Example:
      symacct verify opacus --install --quick
    """
    try:
        known = {} if baseline is None else read(baseline)
        before = [] if replay_file is None else accuracy.replayed(replay_file)
        run = _Run(**asked, known=known, replayed=before)
        if run.every and (map_file or replay_file):
            raise PeerError("--map and --replay: found --all beside them, needed one PEER")
        if map_file is not None:
            accuracy.needs(map_file)
        files = json_file, html_file, map_file, replay_file
        for file in files:
            _writable(file)
        if html_file is not None:
            page.needs()

        def so_far(reports: list[Report], absent: list[tuple[str, str]]) -> None:
            """Write what is known by now: a run of all that is cut loses one peer."""
            _write(json_file, _as_json(reports, absent, run.every))

        reports, absent = run.all(so_far)
        for name, why in absent:
            click.echo(f"{name}: not run: {why}", err=True)
        judged = [
            Judgement(report, fail_on, known.get(report.peer, KnownFindings()), allow_rounding)
            for report in reports
        ]
        documents = [document(one) for one in judged]
        for shown in documents:
            print_document(shown)
        _map(map_file, reports)
        _write(replay_file, accuracy.grown(before, reports[0]) if replay_file else "")
        _write(html_file, page.page(documents, absent) if html_file else "")
        for file in dict.fromkeys(files):
            if file is not None:
                click.echo(f"written: {file}", err=True)
    except SymacctError as error:
        raise InputError(f"{type(error).__name__}: {error}") from None
    for one in judged:
        if not one.report.enough:
            _print_too_little(one.report)
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
    quick: bool
    seconds: float | None
    seed: int
    allowance: str
    timeout: float | None
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

        for name, value in (("--timeout", self.timeout), ("--seconds", self.seconds)):
            if value is not None and math.isnan(value):
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
        seconds = self.timeout or (_QUICK_TIMEOUT if self.quick else _TIMEOUT)
        extent = QUICK if self.quick else FULL
        extent = extent if self.seconds is None else replace(extent, seconds=self.seconds)
        with _progress() as shown:
            return verify(words, extent, self.seed, seconds, shown, self.allowance, self.asks)

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
                with _waiting(f"installing {needed}"):
                    installed = peers.throwaway(adapter, own, self.version)
                    made[needed] = stack.enter_context(installed)
            own = made[needed]
        return adapter.command(own)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    """(stage, asked) ↦ a line on standard error; nothing where that is not a terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda stage, asked: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task("starting the peer")

        def shown(stage: str, asked: int) -> None:
            if asked % 20 == 0:
                progress.update(task, description=f"{stage}: {asked:,} questions asked")

        yield shown


@contextlib.contextmanager
def _waiting(what: str) -> Iterator[None]:
    screen = console(stderr=True)
    if screen.is_terminal:
        with screen.status(what):
            yield
    else:
        yield


# --- reports


def _print_too_little(report: Report) -> None:
    """On standard error, what could be judged, and a table of the kinds that lack answers."""
    click.echo(f"{report.peer}: {too_little(report)}", err=True)
    rows = lacking_rows(report)
    if rows:
        table = Table("kind of question", "answered", "judged")
        for row in rows:
            table.add_row(*row)
        console(stderr=True).print(table)


def print_document(shown: ReportDocument) -> None:
    """What is said of a peer, its defects, those that fail it in red, and whether it fails."""
    for line in shown.overview:
        print_prose(line)
    if not shown.sections:
        click.echo("No finding.")
    for number, section in enumerate(shown.sections[:_SHOWN], 1):
        print_prose(f"\n{number}. {section.heading}", "bold red" if section.fails else "bold")
        for line in (*section.sentences, *section.seen(_KINDS), "To reproduce:"):
            print_prose(f"   {line}")
        console().print(Text(section.reproduce, style="dim"), soft_wrap=True)
    if len(shown.sections) > _SHOWN:
        rest = len(shown.sections) - _SHOWN
        click.echo(f"{rest} more defects: see --json or --html")
    if shown.unanswered:
        print_prose(f"\n{shown.unanswered}")
    failed = any(section.fails for section in shown.sections)
    print_prose(f"\n{shown.conclusion}", "bold red" if failed else "bold")


def _map(file: str | None, reports: list[Report]) -> None:
    """The accuracy of the one peer, as a table or a picture."""
    if file is None:
        return
    if file.endswith(".md"):
        _write(file, accuracy.table(reports[0]))
        return
    try:
        accuracy.draw(reports[0], file)
    except OSError as error:
        raise PeerError(f"--map: {echo(file)} cannot be written ({reason(error)})") from None


def _as_json(reports: list[Report], absent: list[tuple[str, str]], every: bool) -> str:
    if not every:
        return reports[0].to_json()
    rows = [report.as_dict() for report in reports]
    gone = [{"peer": name, "why": why} for name, why in absent]
    return json.dumps(
        {"peers": rows, "absent": gone}, indent=2, ensure_ascii=False, allow_nan=False
    )


def _writable(file: str | None) -> None:
    """PeerError before the run, not after it, for a report that could not be written."""
    if file is None:
        return
    path = Path(file)
    try:
        existed = path.exists()
        with path.open("a", encoding="utf-8"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        raise PeerError(
            f"report: found {echo(file)}, which cannot be written ({reason(error)})"
        ) from None


def _write(file: str | None, text: str) -> None:
    if file is not None:
        try:
            Path(file).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise PeerError(f"report: {echo(file)} cannot be written ({reason(error)})") from None
