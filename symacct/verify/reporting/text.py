"""A report as plain text: each defect in full, and what lacks for a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable

from symacct.verify.judging.bounds import share_text
from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.prose import sentences, title
from symacct.verify.reporting.report import Report, call, reproduce


def too_little(report: Report) -> str:
    """One line: what could be judged, where that is not enough for a verdict, and what would do."""
    gone = "; it was given up" if report.gone else ""
    few = ""
    if report.lacking:
        kinds = f"{len(report.lacking)} of {len(report.kinds)} kinds"
        needed = f"{report.least} judged answers of each kind of question"
        few = f"; needed {needed}, found fewer of {kinds}"
    longer = seconds_needed(report)
    more = "" if longer is None else f"; --seconds {longer} would do for them"
    return f"{report.judged:,} of {report.answered:,} answers could be judged{few}{gone}{more}"


def seconds_needed(report: Report) -> int | None:
    """About how many seconds of work it takes to judge enough; None where time is not what lacks.

    From how many of the answers needed were judged in the time given, of which the questions of
    every kind have a half.
    """
    offered = [one for one in report.kinds if not one.refused]
    found = sum(min(one.judged, report.least) for one in offered)
    if not (report.lacking and report.cut and found and report.given) or report.gone:
        return None
    longer = 2 * report.given * report.least * len(offered) / found
    return math.ceil(longer / 10) * 10


def lacking_rows(report: Report) -> list[tuple[str, str, str]]:
    """(kind of question, answered, judged) of those of which too few were judged."""
    return [(one.name, f"{one.answered:,}", f"{one.judged:,}") for one in report.lacking]


def shown_in_full(report: Report, defects: Iterable[Defect]) -> str:
    """A paragraph for each defect."""
    return "\n\n".join(f"{said(defect)}\n{_in_full(defect, report)}" for defect in defects)


def _in_full(defect: Defect, report: Report) -> str:
    """All that is said of a defect, a line each, and what reproduces it."""
    shown = reproduce(defect.shown, report.command)
    return "\n".join((*sentences(defect), "To reproduce:", shown))


def said(defect: Defect) -> str:
    """One line: how many answers, at which question the worst is shown, and by how much."""
    found = defect.worst.shown
    share, truth = "", found.truth
    if truth is not None and truth.exact and found.ratio is not None:
        share = share_text(found.ratio, truth.lower)
    by = share and f", {share}"
    many = f"{defect.answers:,} answers, such as" if defect.answers > 1 else "one answer,"
    return f"{title(defect.cause)}: {many} {call(found.ask)} of {found.ask.expression}{by}"
