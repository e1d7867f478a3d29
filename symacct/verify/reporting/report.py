"""What a run found: its JSON document, and the lines that a terminal and a page show."""

from __future__ import annotations

import functools
import json
import math
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from symacct.kernel.errors import SymacctError, echo, reason
from symacct.verify.judging.bounds import decimal_text
from symacct.verify.judging.verdict import ALLOWANCE, VERDICTS, Count, Finding
from symacct.verify.peer.process import Incidents
from symacct.verify.peer.protocol import AT, HELLO_LINE, Answer, Ask
from symacct.verify.reporting.defects import Cluster, Defect, grouped
from symacct.version import __version__

#: Bytes of the longest file that is read: larger than any that a run writes.
_MOST_BYTES = 2**26
_T = TypeVar("_T")
#: The format of the JSON document, in docs/verification.md; one more when a field changes or goes.
SCHEMA = 2


@dataclass(frozen=True)
class PlottedError:
    """One answer to a question of one mechanism, and how far it is from the truth, 0 within it."""

    ask: Ask
    #: Relative to the truth, negative where it is below.
    error: float
    #: In units in the last place of the truth.
    ulps: float = 0.0

    @property
    def alpha(self) -> float:
        """The order."""
        return float(Fraction(self.ask.at))

    @property
    def scale(self) -> float:
        """The first parameter of the mechanism."""
        return float(Fraction(self.ask.parts[0].parameters[0][1]))

    @property
    def gamma(self) -> float | None:
        """The sampling rate; None where nothing is sampled."""
        part = self.ask.parts[0]
        return None if part.gamma is None else float(Fraction(part.gamma))


@dataclass
class Report:
    """Everything that a run learned about a peer; no text is written before it is asked for."""

    peer: str
    version: str
    command: Sequence[str]
    asked: int
    unsupported: int
    seconds: float
    seed: int
    clusters: list[Cluster]
    incidents: Incidents
    #: Answers other than "unsupported", confirmations included, and those held against a truth.
    answered: int = 0
    judged: int = 0
    #: The share of the truth up to which an answer is taken to be right.
    allowance: Fraction = ALLOWANCE
    #: Given up, having ended, hung or talked nonsense too often.
    gone: bool = False
    #: Answers below the truth by no more than the rounding allowance, and the largest share.
    within_rounding: int = 0
    worst_within: float = 0.0
    #: Not asked, being of a kind that ran out of time twice.
    skipped: int = 0
    #: Questions of the search where training lies.
    searched: int = 0
    cut: list[str] = field(default_factory=list)
    #: Answers between a lower bound and the best proved one.
    undecided: int = 0
    #: How much of each kind of question was judged, and how much is the least.
    kinds: list[Count] = field(default_factory=list)
    per_kind: int = 0
    #: The seconds of work that it took, and might have taken.
    worked: float | None = None
    given: float | None = None
    points: list[PlottedError] = field(default_factory=list)
    #: What a baseline knows, asked again: the findings now.
    again: dict[Ask, Finding | None] = field(default_factory=dict)

    @property
    def unsound(self) -> bool:
        """Is a value below what is proved? The command's exit status is then 1."""
        return any(cluster.shown.below for cluster in self.clusters)

    @property
    def enough(self) -> bool:
        """Half of the answers judged, `per_kind` of each kind, and the peer there to the end?"""
        half = self.judged > 0 and self.answered <= 2 * self.judged
        return half and not self.gone and not self.lacking

    @property
    def lacking(self) -> list[Count]:
        """The kinds of question of which too few could be judged."""
        return [kind for kind in self.kinds if kind.judged < self.per_kind and not kind.refused]

    @functools.cached_property
    def defects(self) -> list[Defect]:
        """The findings by their causes, the worst first; computed once, from the clusters then."""
        return grouped(self.clusters)

    @property
    def counts(self) -> dict[str, int]:
        """How many answers there were of each verdict that has any, the worst verdict first."""
        totals: Counter[str] = Counter()
        for cluster in self.clusters:
            totals[cluster.shown.verdict] += cluster.count
        return {verdict: totals[verdict] for verdict in VERDICTS if totals[verdict]}

    def as_dict(self) -> dict[str, Any]:
        """Returns the JSON document as a dict."""
        return {
            "peer": self.peer,
            "version": self.version,
            "asked": self.asked,
            "findings": [finding_as_dict(c, self.command) for c in self.clusters],
            "defects": [defect_as_dict(defect) for defect in self.defects],
            "schema": SCHEMA,
            "symacct": __version__,
            "allowance": float(self.allowance),
            "unsound": self.unsound,
            "counts": self.counts,
            "unsupported": self.unsupported,
            "answered": self.answered,
            "judged": self.judged,
            "undecided": self.undecided,
            "kinds": [vars(kind) for kind in self.kinds],
            "enough": self.enough,
            "skipped": self.skipped,
            "searched": self.searched,
            "below_within_rounding": {"answers": self.within_rounding, "most": self.worst_within},
            "incidents": self.incidents.as_dict(),
            "complete": not self.cut,
            "cut": self.cut,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "seconds_worked": None if self.worked is None else round(self.worked, 1),
            "seconds_given": self.given,
        }

    def to_json(self) -> str:
        """The document as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def defect_as_dict(defect: Defect) -> dict[str, Any]:
    """Writes one defect for JSON, by the ids of its findings."""
    return {
        "cause": defect.cause,
        "advice": defect.advice,
        "verdict": defect.verdict,
        "below_proved": defect.below,
        "answers": defect.answers,
        "about": defect.about,
        "findings": [cluster.identity for cluster in defect.clusters],
    }


def finding_as_dict(cluster: Cluster, command: Sequence[str]) -> dict[str, Any]:
    """Writes one finding for JSON, at the simplest question that shows it."""
    finding = cluster.shown
    truth = finding.truth
    row: dict[str, Any] = {
        "verdict": finding.verdict,
        "call": call(finding.ask),
        "expression": finding.ask.expression,
        "parameters": finding.ask.parameters(),
        "peer_value": value_for_json(finding.answer),
        "truth_lower": None if truth is None else decimal_text(truth.lower, up=False),
        "truth_upper": None if truth is None else decimal_text(truth.upper, up=True),
        "ratio": finite_or_text(finding.ratio),
        "formula_matched": finding.formula,
        "reproduce": reproduce(finding, command),
        "claims": finding.answer.claims,
        "beyond_rounding": finding.beyond_rounding,
        "below_proved": finding.below,
        "answers": cluster.count,
        "worst_ratio": finite_or_text(cluster.worst.ratio),
        "worst_expression": cluster.worst.ask.expression,
        "worst_call": call(cluster.worst.ask),
        "worst_asked": {"ask": cluster.worst.ask.kind, **cluster.worst.ask.parameters()},
        "note": finding.note,
        "id": cluster.identity,
    }
    if finding.other is not None:
        ask, answer = finding.other
        row["other"] = {"call": call(ask), "expression": ask.expression}
        row["other"]["peer_value"] = value_for_json(answer)
    if finding.before is not None:
        row["before"] = {"call": call(finding.before), "expression": finding.before.expression}
    if finding.split:
        row["excess"] = {name: finite_or_text(share) for name, share in finding.split}
    return row


def call(ask: Ask) -> str:
    """The question, without its expression: rdp(alpha=5/2, count=repeat)."""
    at = AT.get(ask.kind, "")
    ways = (f"{key} as {way}" if key == at else f"{key}={way}" for key, way in ask.how)
    given = [*([f"{at}={ask.at}"] if at else []), *ways]
    given += [] if ask.within is None else [f"epsilon={ask.within}"]
    if ask.orders is not None:
        given.append(f"orders={' '.join(ask.orders)}")
    return f"{ask.kind}({', '.join(given)})"


def reproduce(finding: Finding, command: Sequence[str]) -> str:
    """Writes lines that show the finding in the peer alone: its own code, or a shell's line.

    The code is what its answers gave. The other or earlier question of a finding stands first.
    """
    asks = [] if finding.before is None else [finding.before]
    if finding.verdict == "inconsistent" and finding.other is not None:
        other_ask, other = finding.other
        if other.reproduce and finding.answer.reproduce and finding.before is None:
            return "\n".join([*other.reproduce, *_going_on(other, finding.answer)])
        if finding.before is None:
            asks.append(other_ask)
    elif finding.answer.reproduce:
        return "\n".join(finding.answer.reproduce)
    asks.append(finding.ask)
    lines = [HELLO_LINE, *(ask.line(i + 1) for i, ask in enumerate(asks))]
    return f"printf '%s\\n' {shlex.join(lines)} | {shlex.join(command)}"


def _going_on(first: Answer, second: Answer) -> list[str]:
    """The second's lines without the imports that the first's began with."""
    known = {line for line in first.reproduce if line.startswith(("import ", "from "))}
    return [line for line in second.reproduce if line not in known]


def value_for_json(answer: Answer) -> float | str | None:
    """The peer's value or None: a number, or text for inf, nan and what is beyond float64."""
    if answer.finite is not None:
        try:
            value = float(answer.finite)
        except OverflowError:
            return decimal_text(answer.finite, up=True)
        return value if value or not answer.finite else decimal_text(answer.finite, up=True)
    return None if answer.value is None else str(answer.value)


def finite_or_text(x: float | None) -> float | str | None:
    """x for JSON; inf and nan, which it does not have, as text."""
    return x if x is None or math.isfinite(x) else str(x)


class StoredError(SymacctError):
    """A file is not what an earlier run wrote."""


def stored(file: str, option: str, read: Callable[[Any], _T]) -> _T:
    """Reads by `read` the JSON that an earlier run wrote by this option.

    StoredError for a file that cannot be read, is too long, or is other data, at which `read` may
    raise ValueError, KeyError, TypeError or AttributeError.
    """
    try:
        with Path(file).open("rb") as stream:
            text = stream.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise StoredError(f"{echo(file)}: found more than {_MOST_BYTES >> 20} MiB")
        return read(json.loads(text))
    except OSError as error:
        hint = f"write it first with {option} FILE" if isinstance(error, FileNotFoundError) else ""
        problem = f"{echo(file)}: cannot be read ({reason(error)})"
        raise StoredError(problem, remedy=hint) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoredError(
            f"{echo(file)}: found {type(error).__name__} {echo(error)}, "
            f"needed the JSON that `symacct verify {option}` wrote"
        ) from None
