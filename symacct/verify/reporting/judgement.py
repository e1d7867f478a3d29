"""What fails a run: findings as bad as is named that an earlier run's JSON does not know."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from symacct.core import arguments
from symacct.core.errors import SymacctError, echo, reason
from symacct.verify.judging.verdict import VERDICTS
from symacct.verify.reporting.clusters import Cluster
from symacct.verify.reporting.defects import Defect
from symacct.verify.reporting.report import Report

_MOST_BYTES = 2**26
#: A known finding is a new one once it is off by twice as much, in |log(value/truth)|.
_WORSE = 2.0
#: The exit status where too little could be judged, and of a defect of symacct itself.
NOT_JUDGED = 3


class BaselineError(SymacctError):
    """A file is not the JSON report of an earlier run."""


@dataclass(frozen=True)
class KnownFinding:
    """What a finding was when it was accepted."""

    below: bool
    severity: float


@dataclass(frozen=True)
class KnownFindings:
    """Known findings by their ids."""

    found: Mapping[str, KnownFinding] = field(default_factory=dict)

    def has(self, cluster: Cluster) -> bool:
        """Is this finding known, and no worse than it was?"""
        known = self.found.get(cluster.identity)
        if known is None or (cluster.shown.below and not known.below):
            return False
        return cluster.worst.ratio is None or cluster.worst.severity <= _WORSE * known.severity


@dataclass(frozen=True)
class Judgement:
    """A report, the verdict from which on a finding fails it (None: only below what is proved)."""

    report: Report
    fail_on: str | None = None
    known: KnownFindings = field(default_factory=KnownFindings)

    def __post_init__(self) -> None:
        if self.fail_on is not None:
            arguments.one_of(self.fail_on, "fail_on", VERDICTS)

    def fails(self, cluster: Cluster) -> bool:
        """Is this finding as bad as that, and not known?"""
        worse = () if self.fail_on is None else VERDICTS[: VERDICTS.index(self.fail_on) + 1]
        found = cluster.shown
        return (found.below or found.verdict in worse) and not self.known.has(cluster)

    @functools.cached_property
    def failing(self) -> list[Defect]:
        """The defects of which a finding fails."""
        return [d for d in self.report.defects if any(map(self.fails, d.clusters))]

    @property
    def status(self) -> int:
        """The exit status: 1 for a finding that fails, 3 where too little could be judged."""
        failing = self.failing
        if any(defect.below for defect in failing) or (failing and self.report.judged):
            return 1
        return 0 if self.report.enough else NOT_JUDGED


def read(file: str) -> dict[str, KnownFindings]:
    """The findings in what `symacct verify --json` wrote, of each peer."""
    try:
        with Path(file).open("rb") as stream:
            text = stream.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise BaselineError(f"baseline {echo(file)}: found more than {_MOST_BYTES >> 20} MiB")
        row = json.loads(text)
        return {
            report["peer"]: KnownFindings(
                {found["id"]: _known(found) for found in report["findings"]}
            )
            for report in row.get("peers", [row])
        }
    except OSError as error:
        raise BaselineError(f"baseline {echo(file)}: cannot be read ({reason(error)})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BaselineError(
            f"baseline {echo(file)}: found {type(error).__name__} {echo(error)}, "
            "needed the JSON that `symacct verify --json` writes"
        ) from None


def _known(row: Mapping[str, object]) -> KnownFinding:
    ratio = row["worst_ratio"]
    number = math.nan if ratio is None else float(ratio)  # type: ignore[arg-type]  # text: inf
    severity = abs(math.log(number)) if 0 < number < math.inf else math.inf
    return KnownFinding(row["below_proved"] is True, severity)
