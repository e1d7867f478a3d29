"""A report for machines: JUnit for a CI's test page, SARIF for its list of alerts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from symacct.verify.judging.bounds import share_text
from symacct.verify.judging.verdict import VERDICTS
from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.prose import sentences, title
from symacct.verify.reporting.report import Report, call, reproduce
from symacct.version import __version__

_SARIF = "2.1.0"
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_XML = {**dict.fromkeys(range(32)), 9: 9, 10: 10, 13: 13, 0xFFFE: None, 0xFFFF: None}


def junit(judgements: Sequence[Judgement]) -> str:
    """A suite for each peer, a case for each defect: failed if one of its findings fails."""
    root = ElementTree.Element("testsuites", name="symacct verify")
    for judgement in judgements:
        _suite(root, judgement)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(root: ElementTree.Element, judgement: Judgement) -> None:
    report, failing = judgement.report, judgement.failing
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(report.peer))
    enough = _case(suite, report, "enough was judged")
    if not report.enough:
        error = ElementTree.SubElement(enough, "error", message=too_little(report))
        rows = lacking_rows(report)
        error.text = _xml("\n".join(f"{name}: {n} answered, {m} judged" for name, n, m in rows))
    for defect in report.defects:
        case = _case(suite, report, title(defect.cause))
        if defect in failing:
            failure = ElementTree.SubElement(case, "failure", type=defect.verdict)
            failure.set("message", _xml(said(defect)))
            failure.text = _xml(_in_full(defect, report))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(failing)))
    suite.set("errors", str(int(not report.enough)))
    suite.set("time", f"{report.seconds:.1f}")


def _case(suite: ElementTree.Element, report: Report, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_xml(report.peer), name=_xml(name))


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


def _xml(text: str) -> str:
    """Without the characters that no XML document may have."""
    return text.translate(_XML)


def sarif(judgements: Sequence[Judgement], source: str | None = None) -> str:
    """SARIF 2.1.0: a run for each peer, a result for each defect.

    A result points at the `source`; without one at the peer's own file, if the command names a text
    file below the working directory, and else nowhere.
    """
    runs = [
        _run(judgement, source or own_file(judgement.report.command)) for judgement in judgements
    ]
    row = {"$schema": _SCHEMA, "version": _SARIF, "runs": runs}
    return json.dumps(row, indent=2, ensure_ascii=False)


def _run(judgement: Judgement, file: str | None) -> dict[str, Any]:
    report, failing = judgement.report, judgement.failing
    driver = {
        "name": "symacct verify",
        "version": __version__,
        "rules": [{"id": verdict} for verdict in VERDICTS],
    }
    results = [_result(defect, report, defect in failing, file) for defect in report.defects]
    done = {"executionSuccessful": report.enough}
    return {"tool": {"driver": driver}, "invocations": [done], "results": results}


def _result(defect: Defect, report: Report, fails: bool, file: str | None) -> dict[str, Any]:
    return {
        "ruleId": defect.verdict,
        "level": "error" if fails else "note",
        "message": {
            "text": f"{report.peer} {report.version}: {said(defect)}\n{_in_full(defect, report)}"
        },
        "locations": [] if file is None else [{"physicalLocation": _place(file, defect)}],
        "partialFingerprints": {"cause/v1": f"{report.peer}: {defect.cause}"},
    }


def _place(file: str, defect: Defect) -> dict[str, Any]:
    return {"artifactLocation": {"uri": file}, "region": {"startLine": _line(file, defect)}}


def _line(file: str, defect: Defect) -> int:
    """The first line of the peer's file that speaks of what is asked; 1 where none does."""
    ask = defect.shown.ask
    words = (ask.kind, *(part.mechanism for part in ask.parts))
    words = words if ask.kind != "rdp" else (*words[1:], ask.kind)
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").lower().split("\n")
    except OSError:
        return 1
    found = (i for word in words for i, line in enumerate(lines, 1) if word.lower() in line)
    return next(found, 1)


def own_file(command: Sequence[str]) -> str | None:
    """The last word of the command that is a text file below here, as a path from here."""
    here = Path.cwd()
    paths = [Path(word).absolute() for word in reversed(command)]
    inside = (path for path in paths if path.is_relative_to(here) and _is_text(path))
    return next((path.relative_to(here).as_posix() for path in inside), None)


def _is_text(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return b"\0" not in stream.read(4096)
    except OSError:  # no file, or none that can be read
        return False
