"""What is said of a peer, collected once: a terminal, pytest and a page show it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from symacct.results.screen import Part, Verbatim
from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.prose import sentences, title
from symacct.verify.reporting.report import Report, reproduce

_SHOWN, _KINDS = 25, 4  # defects on a screen, and kinds of questions of each


@dataclass(frozen=True)
class Section:
    """A defect: its cause in the field's words, what is said of it, and what reproduces it."""

    defect: Defect
    title: str
    sentences: tuple[str, ...]
    reproduce: str
    fails: bool

    @property
    def heading(self) -> str:
        """The cause, the verdict at the question shown, and how many answers there were of it."""
        many = f"{self.defect.answers:,} answer{'s' * (self.defect.answers != 1)}"
        return f"{self.title} ({self.defect.shown.verdict}, {many})"

    def seen(self, most: int) -> list[str]:
        """One line that names `most` of the kinds of questions; none if there is one kind."""
        kinds = self.defect.about
        if len(kinds) < 2:
            return []
        more = f"; and {len(kinds) - most} more" if len(kinds) > most else ""
        return [f"It is seen in {len(kinds)} kinds of questions: {'; '.join(kinds[:most])}{more}."]

    @property
    def text(self) -> str:
        """All that is said of the defect, a line each."""
        return "\n".join((self.heading, *self.sentences, "To reproduce:", self.reproduce))


@dataclass(frozen=True)
class ReportDocument:
    """What is said of one peer, in the order in which it is read."""

    report: Report
    overview: tuple[str, ...]
    sections: tuple[Section, ...]
    #: About questions without an answer in time, where they fail nothing.
    unanswered: str
    conclusion: str

    def _screen_(self) -> Iterator[Part]:
        """What is said, the defects that fail the peer in red, and whether it fails."""
        yield from self.overview
        if not self.sections:
            yield "No finding."
        for number, section in enumerate(self.sections[:_SHOWN], 1):
            yield f"\n{number}. {section.heading}", "bold red" if section.fails else "bold"
            lines = (*section.sentences, *section.seen(_KINDS), "To reproduce:")
            yield from (f"   {line}" for line in lines)
            yield Verbatim(section.reproduce, is_dim=True)
        if (rest := len(self.sections) - _SHOWN) > 0:
            yield f"{rest} more defects: see --json or --html"
        if self.unanswered:
            yield f"\n{self.unanswered}"
        fails = any(section.fails for section in self.sections)
        yield f"\n{self.conclusion}", "bold red" if fails else "bold"


def document(judgement: Judgement) -> ReportDocument:
    """What a judgement says of a peer."""
    report = judgement.report
    sections = (
        Section(
            defect,
            title(defect.cause),
            tuple(sentences(defect)),
            reproduce(defect.shown, report.command),
            defect in judgement.failing,
        )
        for defect in report.defects
    )
    lines = (*_overview(report), judgement.against_the_baseline)
    overview = tuple(filter(None, lines))
    return ReportDocument(
        report, overview, tuple(sections), judgement.unanswered, judgement.conclusion
    )


def _overview(report: Report) -> list[str]:
    """What was asked in which time, what was left out, and what was odd about the peer."""
    skipped = f"{report.skipped:,} questions were not asked: their kind ran out of time twice."
    left_out = [skipped] if report.skipped else []
    return [_asked(report), *left_out, *report.cut, *report.incidents.quotes]


def _asked(report: Report) -> str:
    took = f"in {report.seconds:.0f} s"
    if report.worked is not None and report.given is not None:
        took += f" ({report.worked:.0f} of {report.given:.0f} s of work)"
    lines = [f"{report.peer} {report.version}: {_counted(report.asked, 'question')} asked {took}."]
    if report.unsupported:
        lines.append(f"The peer does not offer {report.unsupported:,} of them.")
    if report.within_rounding:
        answers = _counted(report.within_rounding, "answer", "is", "are")
        share = f"{float(report.allowance):.0e}".replace("e-0", "e-")
        lines.append(f"{answers} below the truth by at most {share} of it, which is no finding.")
    return " ".join(lines)


def _counted(number: int, noun: str, one: str = "was", more: str = "were") -> str:
    return f"{number:,} {noun} {one}" if number == 1 else f"{number:,} {noun}s {more}"


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
