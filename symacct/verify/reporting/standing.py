"""How all accountants stand: a table with their versions, and a text to send for each defect."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.prose import sentences, title
from symacct.verify.reporting.report import Report, reproduce
from symacct.version import __version__

#: What stands between these two lines of a page is written anew; the rest of it is kept.
BEGIN, END = "<!-- verify --all: begin -->", "<!-- verify --all: end -->"
_BELOW = ("unsound", "negative", "zero")
_NO_NUMBER = ("nan", "inf", "exception", "slow")
_LAWS = ("inconsistent", "jump")


def table(reports: Sequence[Report], absent: Sequence[tuple[str, str]]) -> str:
    """What a run found of each peer, in Markdown, with versions and the day."""
    head = (
        "| peer | version | questions | judged | below the truth | nan, inf, exception, slow "
        "| loose | laws, jumps, ways of writing | another formula | defects |"
    )
    rows = [head, "| --- " * 10 + "|", *map(_row, reports)]
    gone = [f"Not run: {name} ({why})." for name, why in absent]
    day = datetime.now(UTC).date().isoformat()
    given = max((report.given or 0 for report in reports), default=0)
    said = (
        f"`symacct verify --all` of symacct {__version__} wrote this table on {day}. Each peer had "
        f"at most {given:g} s of work. The columns count answers."
    )
    return "\n".join([BEGIN, "", said, "", *rows, "", *gone, END])


def _row(report: Report) -> str:
    def counted(*verdicts: str) -> str:
        return f"{sum(report.counts.get(verdict, 0) for verdict in verdicts):,}"

    own = (
        report.peer, report.version, f"{report.asked:,}", f"{report.judged:,}", counted(*_BELOW),
        counted(*_NO_NUMBER), counted("loose"), counted(*_LAWS), counted("wrong-formula"),
        str(len(report.defects)),
    )  # fmt: skip
    return f"| {' | '.join(own)} |"


def page(text: str, written: str) -> str:
    """The page with the new table in the place of the old one, or after all else."""
    old = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if old.search(text):
        return old.sub(lambda _: written, text, count=1)
    return f"{text.rstrip()}\n\n{written}\n".lstrip()


def letter(report: Report, defect: Defect) -> str:
    """The text of an issue for the maintainers: what is asked, what is said, what is true."""
    command = [Path(word).name if Path(word).is_absolute() else word for word in report.command]
    shown = reproduce(defect.shown, command)
    lines = [f"# {report.peer} {report.version}: {title(defect.cause)}", "", *sentences(defect)]
    answers = "one answer" if defect.answers == 1 else f"{defect.answers:,} answers"
    # Errors and what takes too long have no lines of the peer's own, nor has a program of another.
    lined = shown.startswith("printf ")
    through = f", ask `{shlex.join(command)}` by the line protocol" if lined else ""
    seen = "; ".join(defect.about[:4])
    lines += [
        "",
        f"To reproduce{through}:",
        "",
        "```",
        shown,
        "```",
        "",
        f"It was seen in {answers} ({seen}). The bounds are certified by ball "
        f"arithmetic (symacct {__version__}).",
        "",
    ]
    return "\n".join(lines)


def write_letters(folder: str, reports: Sequence[Report]) -> None:
    """A file for each defect of each peer; OSError where the folder takes none."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for report in reports:
        for number, defect in enumerate(report.defects, 1):
            name = re.sub(
                r"[^A-Za-z0-9._-]+", "-", f"{report.peer}-{number}-{title(defect.cause)}"
            )[:80]
            (place / f"{name}.md").write_text(letter(report, defect), encoding="utf-8")
