"""What fails a run: findings as bad as is named that an earlier run's JSON does not know."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symacct.kernel import parameters
from symacct.verify.judging.verdict import VERDICTS, Finding
from symacct.verify.peer.protocol import Ask
from symacct.verify.reporting.defects import SIDES, Cluster, Defect, title
from symacct.verify.reporting.report import Report, stored

#: A known finding is a new one where |log(value/truth)| is more than so many times as large at its
#: own question, or at any other. Smaller factors make more known findings fail again.
_WORSE, _WORSE_ELSEWHERE = 2.0, 1000.0
SMALL, LARGE = SIDES
#: The exit status without a verdict: too little could be judged, or symacct itself failed.
NOT_JUDGED = 3


@dataclass(frozen=True)
class KnownFinding:
    """One finding of a baseline; its severity is |log(value/truth)|, ∞ without such a number."""

    below: bool
    severity: float
    cause: str = ""
    worst: Ask | None = None
    beyond_rounding: bool = True


@dataclass(frozen=True)
class KnownFindings:
    """The findings of a baseline by their ids, `Cluster.identity`; none without a baseline."""

    by_id: Mapping[str, KnownFinding] = field(default_factory=dict)

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The questions to be asked again, each once: the worst ones without a way of writing."""
        worst = (entry.worst for entry in self.by_id.values())
        return tuple(dict.fromkeys(ask for ask in worst if ask is not None and not ask.how))

    def has(self, cluster: Cluster, cause: str, again: Mapping[Ask, Finding | None]) -> bool:
        """Is this finding of a known cause, and no worse than it was?

        Worse is what is off by twice as much where the same question was asked; elsewhere, as what
        is asked depends on the time, by a thousand times as much as all that is known of the cause.
        """
        recorded = self.by_id.get(cluster.identity)
        shown = cluster.shown
        small = shown.below or shown.short or (cluster.worst.ratio or math.inf) < 1
        side = SMALL if small else LARGE
        alike = [
            entry
            for entry in self.by_id.values()
            if entry.cause == cause  # on either side: what is derived may be on the other one
            or (
                _core(entry.cause) == _core(cause)
                and (side in entry.cause or not entry.cause.startswith("too "))
            )
        ]
        known = alike if recorded is None else [recorded, *alike]
        if not known or (cluster.shown.below and not any(entry.below for entry in known)):
            return False
        for entry in known:
            now = None if entry.worst is None else again.get(entry.worst)
            if (
                recorded is not None
                and entry is not recorded
                and now is not None
                and len(now.ask.parts) > 1
            ):
                continue  # a composition may be worse by another of its parts, and has its own kind
            if now is not None and _size(now.severity) > _WORSE * _size(entry.severity):
                return False
        if cluster.worst.ratio is None or not cluster.worst.beyond_rounding:
            return True
        if recorded is not None and recorded.worst in (None, cluster.worst.ask):
            return cluster.worst.severity <= _WORSE * recorded.severity
        most = max(_size(entry.severity) for entry in known)
        return _size(cluster.worst.severity) < _WORSE_ELSEWHERE * most

    def fixed(self, report: Report) -> list[str]:
        """Lists the known causes that no defect has and whose questions, asked again, are right."""
        there = {_core(defect.cause) for defect in report.defects}
        left: dict[str, bool] = {}
        for entry in self.by_id.values():
            clean = entry.worst in report.again and report.again[entry.worst] is None
            left[entry.cause] = (
                left.get(entry.cause, False) or not clean or _core(entry.cause) in there
            )
        return [cause for cause, still in left.items() if cause and not still]


def _size(severity: float) -> float:
    """|log(value/truth)|, at most log 1000: beyond a factor of a thousand nothing is worse."""
    return min(severity, math.log(1000))


def _core(cause: str) -> str:
    """A cause without its side and its relation, which runs of other lengths may word otherwise."""
    sided, _, rest = cause.partition(": ")
    return rest.split(": ")[0] if sided.startswith("too ") else cause


@dataclass(frozen=True)
class Judgement:
    """Decides whether a report fails, from a verdict on (None: only below what is proved).

    What is `known` fails nothing. With `allow_rounding` neither does a finding that rounding to
    float64 explains. DomainError for a `fail_on` that is none of VERDICTS.
    """

    report: Report
    fail_on: str | None = None
    known: KnownFindings = field(default_factory=KnownFindings)
    allow_rounding: bool = False

    def __post_init__(self) -> None:
        if self.fail_on is not None:
            parameters.one_of(self.fail_on, "fail_on", VERDICTS)

    def fails(self, cluster: Cluster, cause: str) -> bool:
        """Does this finding fail the run? Below every proof it does, whatever `fail_on` is.

        It does not if it is known, or is within what rounding excuses where that is allowed.
        """
        worse = () if self.fail_on is None else VERDICTS[: VERDICTS.index(self.fail_on) + 1]
        finding = cluster.shown
        if self.allow_rounding and not finding.beyond_rounding:
            return False
        return (finding.below or finding.verdict in worse) and not self.is_known(cluster, cause)

    def is_known(self, cluster: Cluster, cause: str) -> bool:
        """Does the baseline have this finding of this cause?"""
        return self.known.has(cluster, cause, self.report.again)

    @functools.cached_property
    def failing(self) -> list[Defect]:
        """The defects of which a finding fails, in the report's order."""
        return [d for d in self.report.defects if any(self.fails(c, d.cause) for c in d.clusters)]

    @property
    def against_the_baseline(self) -> str:
        """Counts known, new and fixed defects in one line; empty without a baseline."""
        if not self.known.by_id:
            return ""
        new = [
            d.cause
            for d in self.report.defects
            if not all(self.is_known(c, d.cause) for c in d.clusters)
        ]
        fixed = self.known.fixed(self.report)
        known = len(self.report.defects) - len(new)
        named = [
            f"{len(causes)} {what}" + (f" ({'; '.join(map(title, causes))})" if causes else "")
            for what, causes in (("new", new), ("fixed", fixed))
        ]
        return f"against the baseline: {known} known, {', '.join(named)}"

    @property
    def unanswered(self) -> str:
        """One line about slow answers that fail nothing and are not known; empty without any."""
        defects = self.report.defects
        slow = [(c, d.cause) for d in defects for c in d.clusters if c.shown.verdict == "slow"]
        passed = (pair for pair in slow if not self.fails(*pair) and not self.is_known(*pair))
        late = sum(cluster.count for cluster, _ in passed)
        if not late:
            return ""
        subject = f"{late:,} questions were" if late > 1 else "One question was"
        return f"{subject} not answered in time; --fail-on slow makes this a failure."

    @property
    def status(self) -> int:
        """The exit status: 1 for a finding that fails, 3 where too little could be judged, else 0.

        With nothing judged, only a finding below what is proved makes it 1.
        """
        failing = self.failing
        if any(defect.below for defect in failing) or (failing and self.report.judged):
            return 1
        return 0 if self.report.enough else NOT_JUDGED

    @property
    def conclusion(self) -> str:
        """Says in one line whether the run fails, and by which of the defects."""
        defects = self.report.defects
        numbers = [str(i) for i, defect in enumerate(defects, 1) if defect in self.failing]
        if self.status == NOT_JUDGED:
            return "No verdict: too little could be judged."
        if numbers:
            many = f"defect{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
            passes = not self.allow_rounding and not replace(self, allow_rounding=True).failing
            hint = "; it passes with --allow-rounding, as rounding to float64 explains all of this"
            return f"Failed by {many} of {len(defects)}{hint if passes else ''}."
        new = "new " if self.known.by_id else ""
        by = " by more than rounding to float64" if self.allow_rounding else ""
        worse = "" if self.fail_on is None else f" or has the verdict {self.fail_on} or a worse one"
        return f"Passed: no {new}defect is below what is proved{by}{worse}."


def read(file: str) -> dict[str, KnownFindings]:
    """Reads each peer's findings, by its name, from what `symacct verify --json` wrote."""

    def known_findings(row: Mapping[str, Any]) -> dict[str, KnownFindings]:
        return {
            report["peer"]: KnownFindings(
                {finding["id"]: _known(finding, report) for finding in report["findings"]}
            )
            for report in row.get("peers", [row])
        }

    return stored(file, "--json", known_findings)


def _known(row: Mapping[str, Any], report: Mapping[str, Any]) -> KnownFinding:
    """Reads one finding of a report's JSON; the cause is that of the defect that has its id."""
    ratio = row["worst_ratio"]
    number = math.nan if ratio is None else float(ratio)
    severity = abs(math.log(number)) if 0 < number < math.inf else math.inf
    causes = (d["cause"] for d in report.get("defects", ()) if row["id"] in d["findings"])
    question = row.get("worst_asked")
    worst = None if question is None else Ask.of(question["ask"], question)
    beyond = row.get("beyond_rounding") is not False
    return KnownFinding(row["below_proved"] is True, severity, next(causes, ""), worst, beyond)
