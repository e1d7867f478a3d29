"""Planted faults in a table: `python -m tests.verify.planted [--full] [NAME …]` prints it.

With `--kept FILE` each row is written as it comes, and a later run goes on from there. `--page`
writes the table of both modes from two such files into docs/evidence.md. With `--first` a run asks
no more once it has a finding, so that the share found at full length takes an hour and not a night;
what such a run names, and how minimal its question is, says nothing of a whole run. The faults
are those of tests/verify/edits.py, with `--hidden` those of tests/verify/hidden.py. The truths are
worked out once for all of them, and each run is charged for their cost.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import SymacctError
from symacct.verify import FULL, QUICK, verify
from symacct.verify.asking import session
from symacct.verify.judging.truth import Oracle
from tests.verify import hidden
from tests.verify.defects import CORRECT
from tests.verify.edits import FAULTS, RIGHT


def right(name):
    """The accountant after edits that leave it right."""
    return hidden.right_text(*(hidden.RIGHT.get(name) or (CORRECT, RIGHT[name])))


def text(name):
    """The accountant with the fault in it."""
    if name in hidden.FAULTS:
        return hidden.text(name)
    correct = CORRECT.read_text(encoding="utf-8")
    old, new, _ = FAULTS[name]
    assert correct.count(old) == 1, f"{name}: {correct.count(old)} places for it"
    return correct.replace(old, new)


class SharedOracle(Oracle):
    """Each number is worked out once; whoever asks for it again is charged what it cost."""

    numbers: ClassVar[dict] = {}

    def __init__(self, digits):
        super().__init__(digits)
        self.charged = 0.0

    def ask(self, what, *question, **how):
        key = what, *(str(word) for word in question), *sorted(how.items())
        if key in self.numbers:
            found, cost = self.numbers[key]
            self.charged += cost
            if isinstance(found, SymacctError):
                raise found
            return found
        begun = time.thread_time()
        try:
            found = super().ask(what, *question, **how)
        except SymacctError as error:
            found = error
        self.numbers[key] = found, time.thread_time() - begun
        if isinstance(found, SymacctError):
            raise found
        return found


class _ChargedSession(session.Session):
    def _working(self):
        clock = super()._working()
        return lambda: clock() + getattr(getattr(self, "oracle", None), "charged", 0.0)


class _FirstFinding(_ChargedSession):
    """Ends each stage that asks as soon as there is a finding; it is confirmed as in every run."""

    _FINAL = "simplifying", "confirming", "naming"

    def _in_time(self):
        super()._in_time()
        if self._stage not in self._FINAL and self.clusters.ranked():
            raise OutOfTimeError


@contextlib.contextmanager
def shared(kind=_ChargedSession):
    """One oracle for every run within."""
    own = session.Oracle, session.Session
    session.Oracle, session.Session = SharedOracle, kind
    try:
        yield
    finally:
        session.Oracle, session.Session = own


@dataclass(frozen=True)
class Seen:
    """What a run says of a fault."""

    verdict: str
    cause: str
    named: bool
    minimal: bool
    others: tuple
    question: str
    note: str
    fails: bool


def seen(name, extent, folder, seed=0):
    """The first defect of a run, or None."""
    program = Path(folder) / "accountant.py"
    program.write_text(text(name), encoding="utf-8")
    report = verify([sys.executable, str(program)], extent, seed, 2.5)
    if not report.defects:
        return None, report
    wanted = FAULTS[name][2] if name in FAULTS else ""  # no cause is asked of what is hidden
    named = [d for d in report.defects if wanted in d.cause]
    first = (named or report.defects)[0]
    found = first.shown
    question = f"{found.ask.kind}({found.ask.at}) of {found.ask.expression}"
    row = Seen(
        found.verdict,
        first.cause,
        bool(named) and bool(wanted or first.cause),
        minimal(found.ask),
        tuple(d.cause for d in report.defects if d is not first),
        question,
        found.note,
        report.unsound,
    )
    return row, report


def minimal(ask):
    """No more than two parts, no order too many, and numbers that a reader can type."""
    numbers = [ask.at, *(n for part in ask.parts for n in part.numbers)]
    if ask.kind == "rdp" and "." in ask.at:
        numbers[0] = f"{Decimal(ask.at) - 1:f}"  # 1.00000001 is as short as 0.00000001
    short = all(len(number.strip("0.").replace(".", "")) <= 6 for number in numbers)
    one_order = ask.orders is None or len(ask.orders) <= 2
    return len(ask.parts) <= 2 and one_order and short


def row_of(name, extent, folder):
    """What a run says of a fault, as a row of the table."""
    row, report = seen(name, extent, folder)
    if row is None:
        return f"| {name} | – ({report.asked:,} asked) | | | | |"
    said = f"{row.question} {row.note}".replace("|", "/").replace("\n", " ")[:150]
    cause = row.cause if row.named else f"no: {row.cause}"
    fails = "" if row.fails else " (sound)"
    return (
        f"| {name} | {row.verdict}{fails} | {cause} | {'yes' if row.minimal else 'no'} "
        f"| {'; '.join(row.others)} | {said} |"
    )


def table(names, extent, mode, kept=None, kind=_ChargedSession):
    """Rows of the table, printed as they are found; those in `kept` are not asked again."""
    head = f"| fault | {mode} | cause named | minimal | other defects | shown at |"
    print(f"{head}\n{'| --- ' * 6}|")
    lines = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
    known = {line.split("|")[1].strip(): line for line in lines}
    missed = 0
    with shared(kind), tempfile.TemporaryDirectory() as folder:
        for name in names:
            row = known.get(name) or row_of(name, extent, folder)
            if kept and name not in known:
                with kept.open("a", encoding="utf-8") as file:
                    print(row, file=file)
            missed += row.startswith(f"| {name} | –")
            print(row, flush=True)
    print(f"\n{len(names) - missed} of {len(names)} found")


BEGIN, END = "<!-- planted: begin -->", "<!-- planted: end -->"


def kept_rows(file):
    """The cells of each row that a run kept, by the fault."""
    lines = file.read_text(encoding="utf-8").splitlines()
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {name: rest for name, *rest in cells if name in FAULTS}


def cells_of(name, rows):
    """Verdict, cause and minimal; a fault without a cause of its own is in no list of causes."""
    if name not in rows:
        return ["not run", "", ""]
    verdict, cause, minimal_or_not, *_ = rows[name]
    if verdict.startswith("–"):
        return ["not found", "", ""]
    return [verdict, cause.removeprefix("no: "), minimal_or_not]


def counted(rows, mode):
    """One line on what a mode found, named and showed at a minimal question."""
    found = [name for name in rows if not rows[name][0].startswith("–")]
    to_name = [name for name in rows if FAULTS[name][2]]
    named = [name for name in to_name if name in found and not rows[name][1].startswith("no: ")]
    short = [name for name in found if rows[name][2] == "yes"]
    return (
        f"{mode}: {len(rows)} of {len(FAULTS)} faults were run. {len(found)} of them were found. "
        f"The cause was to be named for {len(to_name)} faults, and was named for {len(named)}. "
        f"{len(short)} faults were shown at a minimal question."
    )


def paged(text, quick, full):
    """The page with the table of both modes between its two marks."""
    head = "| fault | `--quick` | cause named | minimal | full | cause named | minimal |"
    lines = [
        f"| {' | '.join([name, *cells_of(name, quick), *cells_of(name, full)])} |"
        for name in FAULTS
        if name in quick or name in full
    ]
    said = [counted(quick, "`--quick`"), counted(full, "Full")]
    written = [BEGIN, "", *said, "", head, "| --- " * 7 + "|", *lines, "", END]
    before, rest = text.split(BEGIN)
    return before + "\n".join(written) + rest.split(END)[1]


def right_table(names, extent, runs):
    """Runs of each right accountant: alarms, questions, and how much was judged."""
    print(
        "| correct accountant | runs | alarms | no verdict | questions | judged |\n"
        + "| --- " * 6
        + "|"
    )
    with shared(), tempfile.TemporaryDirectory() as folder:
        for name in names:
            program = Path(folder) / "accountant.py"
            program.write_text(right(name), encoding="utf-8")
            command = [sys.executable, str(program)]
            reports = [verify(command, extent, seed, 2.5) for seed in range(runs)]
            alarms = [d.cause for report in reports for d in report.defects]
            silent = sum(not report.enough for report in reports)
            asked, judged = (
                sum(getattr(report, what) for report in reports) for what in ("asked", "judged")
            )
            said = f"{len(alarms)} {'; '.join(sorted(set(alarms)))}"
            print(f"| {name} | {runs} | {said} | {silent} | {asked:,} | {judged:,} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--first", action="store_true", help="ask no more after a finding")
    parser.add_argument("--right", action="store_true", help="right accountants, ten runs each")
    parser.add_argument("--hidden", action="store_true", help="those of tests/verify/hidden.py")
    parser.add_argument("--runs", type=int, default=10, help="of each right accountant")
    parser.add_argument("--kept", type=Path, help="a file of rows: those there are not asked again")
    named = {"type": Path, "nargs": 3, "metavar": ("PAGE", "QUICK", "FULL")}
    parser.add_argument("--page", **named, help="write the table of kept rows into a page")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.page:
        page, *kept = given.page
        text_of_page = page.read_text(encoding="utf-8")
        page.write_text(paged(text_of_page, *map(kept_rows, kept)), encoding="utf-8")
        sys.exit()
    if given.right:
        every = hidden.RIGHT if given.hidden else RIGHT
        right_table(given.names or list(every), FULL if given.full else QUICK, given.runs)
        sys.exit()
    table(
        given.names or list(hidden.FAULTS if given.hidden else FAULTS),
        FULL if given.full else QUICK,
        "full" if given.full else "quick",
        given.kept,
        _FirstFinding if given.first else _ChargedSession,
    )
