"""What is said of a peer, in sentences, collected once: a terminal, pytest and a page show it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from symacct.kernel import theorem_registry
from symacct.kernel.answer import rational_text
from symacct.kernel.errors import SymacctError
from symacct.results.screen import Part, Verbatim
from symacct.verify.asking.simplify import RIGHT_WITH
from symacct.verify.judging.bounds import decimal_text, is_float32
from symacct.verify.judging.explanation import EVERY
from symacct.verify.judging.verdict import Finding
from symacct.verify.peer.protocol import CONVERTED, LARGEST, Answer, Ask
from symacct.verify.reporting.defects import BOTH, SIDES, Defect, title
from symacct.verify.reporting.judgement import Judgement
from symacct.verify.reporting.report import Report, reproduce, value_for_json

# --- a defect in sentences


#: Digits of a truth in a sentence: as many as a float64 is sure of.
_DIGITS = 14
#: A float32 number that is off by a smaller share than this may be computed in float32.
_NEAR = 1e-5
#: How the note of a finding begins that shows from some order on.
_FROM_AN_ORDER = RIGHT_WITH.partition("{}")[0] + "α = "
#: What each kind of question asks for.
_MEANT = {
    "rdp": "the Rényi divergence ε(α) at α = {at}",
    "epsilon": "the ε at δ = {at}",
    "delta": "the δ at ε = {at}",
    "noise": "the least noise for ε = {within} and δ = {at}",
    "rate": "the largest sampling rate for ε = {within} and δ = {at}",
    "runs": "the largest number of runs for ε = {within} and δ = {at}",
    "rho": "the least ρ of zero-concentrated DP",
    "mu": "the least μ of Gaussian DP",
    "advantage": "the largest advantage of an attacker, δ(0),",
}
#: Where a cause lies, by the word that names it.
_PLACES = {
    "rounding to float64": "rounding to float64, where a moment is close to 1",
    "conversion from RDP": "the conversion from RDP to ε and δ, such as the sign of log δ or the "
    "division by α − 1; a wrong curve would be a defect of its own",
    "several runs": "the composition of several runs: no single run was found to be wrong",
    "several runs in a sample": "the runs that share one sample",
    "in a composition": "the composition of different mechanisms: none of them alone was found to "
    "be wrong",
    "depends on what was asked before": "something that is kept from one question to the next",
    "answers change by chance": "random numbers",
}


def sentences(defect: Defect) -> list[str]:
    """Lists what an engineer needs to mend a defect, but for the code that reproduces it.

    In this order: the question, what was answered and is true, the risk, the notes on the finding,
    and where there are any the likely cause and the usual repair.
    """
    finding = defect.shown
    lines = [
        f"The question: what is {_question(finding.ask)}?",
        " ".join((_answered(finding), *_true(finding), *_off(finding))),
        _risk(finding),
    ]
    if finding.verdict not in ("slow", "exception"):  # whose notes are in the answer
        notes = filter(None, finding.note.split("; "))
        lines += [f"{x[0].upper() if x[0].isascii() else x[0]}{x[1:]}." for x in notes]
    cause = _cause(defect)
    if cause:
        lines.append(f"Likely cause: {cause}.")
    if defect.advice:
        lines.append(defect.advice)
    return lines


def _question(ask: Ask) -> str:
    """Says what was asked of which expression, and in which way if it was not the usual one."""
    what = _MEANT[ask.kind].format(at=ask.at, within=ask.within)
    ways = ", ".join(f"{key} as {way}" for key, way in ask.how)
    more = [f"under {ask.adjacency.replace('_', '/')}"]
    more += [f"for datasets that differ in {ask.group} records"] if ask.group > 1 else []
    more += [f"among the orders {', '.join(ask.orders)}"] if ask.orders is not None else []
    more += [f"built with {ways}"] if ways else []
    return f"{what} of {ask.expression}, {', '.join(more)}"


def _answered(finding: Finding) -> str:
    """Says what the peer answered, and to an inconsistent finding's other question too."""
    if finding.verdict == "slow":
        waited = "and was not waited for any longer" if finding.answer.late else "to answer"
        return f"The peer took {finding.note or 'too long'} {waited}."
    if finding.verdict == "exception":
        return f"The peer has no number, but this error: {finding.note}."
    sentence = f"The peer answers {_number(finding.answer)}"
    if finding.other is None or finding.note:
        return f"{sentence}."
    ask, other = finding.other
    return f"{sentence}, and to the question “{_question(ask)}” it answers {_number(other)}."


def _number(answer: Answer) -> str:
    """The answer's number, without decimals if it is whole and below 10^15, or its error."""
    value = value_for_json(answer)
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**15:
        return f"{value:.0f}"
    return str(answer.error if value is None else value)


def _true(finding: Finding) -> list[str]:
    """States the truth, or the interval that it lies in; nothing where none is known."""
    truth = finding.truth
    if truth is None:
        return []
    low, high = (
        decimal_text(end, up, _DIGITS) for end, up in ((truth.lower, False), (truth.upper, True))
    )
    if low == high:
        return [f"The truth is {low}."]
    if truth.exact or finding.verdict != "loose":
        return [f"The truth lies between {low} and {high}."]
    # Of these the best of all Rényi orders is the measure, though the exact profile may prove less.
    by_orders = finding.ask.kind in CONVERTED and finding.ask.kind not in LARGEST
    best = "the best by Rényi orders is" if by_orders else "it is proved to be at most"
    return [f"The truth is at least {low}, and {best} {high}."]


def _off(finding: Finding) -> list[str]:
    """States by how much the answer is off, and in which direction; nothing within the truth."""
    value, truth = finding.answer.finite, finding.truth
    if value is None or truth is None or finding.verdict in ("slow", "exception"):
        return []
    small = value < truth.lower
    if not small and value <= truth.upper:
        return []
    end, side = (truth.lower, "small") if small else (truth.upper, "large")
    if end in (0, math.inf) or value <= 0:
        return [f"The answer is too {side}."]
    share = value / Fraction(end)
    what = "the truth" if truth.exact else "what is proved"
    if abs(share - 1) < Fraction(1, 10**4):
        gap = rational_text(abs(share - 1), 3, up=False)
        return [f"The answer is too {side} by a share of {gap} of {what}."]
    times = rational_text(share, 3, up=False)
    return [f"The answer is too {side}: it is {times} times {what}."]


def _risk(finding: Finding) -> str:
    """States whether users of the peer are at risk."""
    if finding.below and finding.beyond_rounding:
        return "Users of the peer are at risk: less privacy is left than such an answer promises."
    if finding.below:
        return "Rounding to float64 hardly puts a user at risk, but the answer is no guarantee."
    if finding.verdict == "loose":
        less = "fewer runs" if finding.ask.kind in LARGEST else "more noise"
        return f"No user is at risk: the guarantee holds, with {less} than needed."
    if finding.answer.finite is None:
        return "No user is at risk by a wrong number, as the peer gives no number to use."
    return "This answer puts no user at risk by itself, but other answers of the code may."


def _cause(defect: Defect) -> str:
    """Names the likeliest cause of the question shown, or where to look; "" if nothing is known."""
    finding = defect.shown
    if defect.remembers:
        return _PLACES[defect.cause]
    if finding.formula is not None:
        if finding.formula.startswith(EVERY):
            return finding.formula
        try:
            theorem_registry.named(finding.formula)
        except SymacctError:
            return f"{finding.formula}; the answer is what this mistake gives"
        return f"the answer is the value of the theorem {finding.formula}"
    if finding.verdict == "inf" and finding.ask.kind == "rdp" and _FROM_AN_ORDER in finding.note:
        return "exp overflows above 1.8e308; sum logarithms"
    if finding.form:
        return f"the numbers are {finding.form}"
    if finding.split:  # whose note says where most of it comes from
        return ""
    ratio = finding.ratio
    near = ratio is not None and 0 < abs(ratio - 1) < _NEAR
    if near and finding.answer.finite is not None and is_float32(finding.answer.finite):
        return "a float32 in the computation, as the answer is a float32 number"
    words = defect.cause.split(": ")
    known = (_PLACES[word] for word in words if word in _PLACES)
    if words[0] in (*SIDES, BOTH):
        where = title(": ".join(words[1:]))
        return next(known, f"this answer does not show it; look at the code for {where}")
    return next(known, "")


# --- the document


#: Defects that a terminal shows, and kinds of questions that it names of each.
_SHOWN, _KINDS = 25, 4


@dataclass(frozen=True)
class Section:
    """A defect in a report: its cause in the field's words, its sentences, what reproduces it."""

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
    """The report on one peer, in the order in which it is read."""

    report: Report
    overview: tuple[str, ...]
    sections: tuple[Section, ...]
    #: About questions without an answer in time, where they fail nothing.
    unanswered: str
    conclusion: str

    def _screen_(self) -> Iterator[Part]:
        """Yields the report for a terminal, with the defects that fail the peer in red."""
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
    """Writes the report on a peer from a judgement."""
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
    skipped = f"{report.skipped:,} questions were not asked: their kind ran out of time twice."
    lines = [_questions_line(report), *([skipped] if report.skipped else []), *report.cut]
    lines += [*report.incidents.quotes, judgement.against_the_baseline]
    overview = tuple(filter(None, lines))
    return ReportDocument(
        report, overview, tuple(sections), judgement.unanswered, judgement.conclusion
    )


def _questions_line(report: Report) -> str:
    """Counts the questions, the time, and the answers that are no finding, in one line."""
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


def _counted(number: int, noun: str, singular: str = "was", more: str = "were") -> str:
    """Writes how many there are, such as "1 answer was" or "2,000 answers were"."""
    return f"{number:,} {noun} {singular}" if number == 1 else f"{number:,} {noun}s {more}"


def too_little(report: Report) -> str:
    """Says in one line how much could be judged, of what too little, and how long would do."""
    gone = "; it was given up" if report.gone else ""
    few = ""
    if report.lacking:
        kinds = f"{len(report.lacking)} of {len(report.kinds)} kinds"
        needed = f"{report.per_kind} judged answers of each kind of question"
        few = f"; needed {needed}, found fewer of {kinds}"
    longer = seconds_needed(report)
    more = "" if longer is None else f"; --seconds {longer} would do for them"
    return f"{report.judged:,} of {report.answered:,} answers could be judged{few}{gone}{more}"


def seconds_needed(report: Report) -> int | None:
    """Estimates the seconds of work that judge enough, a multiple of 10; None if time is no lack.

    That is twice the time given, over the share that it judged of the answers needed.
    """
    offered = [kind for kind in report.kinds if not kind.refused]
    judged = sum(min(kind.judged, report.per_kind) for kind in offered)
    if not (report.lacking and report.cut and judged and report.given) or report.gone:
        return None
    longer = 2 * report.given * report.per_kind * len(offered) / judged
    return math.ceil(longer / 10) * 10


def lacking_rows(report: Report) -> list[tuple[str, str, str]]:
    """Lists (kind of question, answered, judged) of the kinds of which too few were judged."""
    return [(kind.name, f"{kind.answered:,}", f"{kind.judged:,}") for kind in report.lacking]
