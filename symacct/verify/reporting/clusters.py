"""Findings of one kind counted together: the worst of them, and the simplest that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symacct.verify.asking.simplify import Probe
from symacct.verify.judging.verdict import VERDICTS, Finding
from symacct.verify.peer.protocol import Ask

_LARGE = 4096
#: Both ends of the axis of orders.
NEAR_1, BEYOND = "near 1", f"beyond {_LARGE}"


@dataclass
class Cluster:
    """Findings of one kind, and how to look for the same at another question."""

    worst: Finding
    probe: Probe
    count: int = 1
    simple: Finding | None = None
    #: A new process, asked nothing else, gives the worst answer again.
    alone: bool = False
    #: The same in every run that finds the same kind.
    identity: str = ""

    @property
    def shown(self) -> Finding:
        """The finding to report."""
        return self.simple or self.worst

    @property
    def is_simpler(self) -> bool:
        """Is it shown at another question than the worst, which says all?"""
        return self.shown.ask != self.worst.ask and self.shown.before is None

    def add(self, found: Finding) -> None:
        """Count one more, and keep the worse."""
        self.count += 1
        if found.severity > self.worst.severity:
            self.worst = found


class Clusters:
    """All that was found."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, ...], Cluster] = {}

    def __len__(self) -> int:
        return len(self._of)

    def note(self, found: Finding | None, probe: Probe) -> None:
        """Count a finding, if it is one."""
        if found is None:
            return
        key = _key(found)
        if key in self._of:
            self._of[key].add(found)
        else:
            self._of[key] = Cluster(found, probe, identity="/".join(filter(None, key)))

    def drop(self, cluster: Cluster) -> None:
        """Forget a cluster that was not confirmed."""
        self._of = {key: c for key, c in self._of.items() if c is not cluster}

    def complete(self, finish: Callable[[Finding], Finding]) -> None:
        """Replace what is shown of each by its completed form."""
        for cluster in self.ranked():
            cluster.simple = finish(cluster.shown)

    def ranked(self) -> list[Cluster]:
        """What fails a run first, then what rounding does not explain, then the worst."""
        return sorted(self._of.values(), key=_rank)


def _key(found: Finding) -> tuple[str, ...]:
    """What findings have in common that are counted as one."""
    error = found.note.split(":")[0] if found.verdict == "exception" else ""
    below, rounding = "below" * found.below, "" if found.beyond_rounding else "rounding"
    return (found.verdict, below, rounding, about(found.ask, found.law), error)


def _rank(cluster: Cluster) -> tuple[object, ...]:
    found = cluster.shown
    verdict = 0 if found.below else VERDICTS.index(found.verdict)
    return not found.below, not found.beyond_rounding, verdict, -cluster.worst.severity


def region(ask: Ask) -> tuple[object, ...]:
    """Questions that are alike in what they cost."""
    parts = tuple((part.mechanism, part.sampling) for part in ask.parts)
    how = dict(ask.how).get("count"), *beyond(ask)
    return ask.kind, parts, ask.adjacency, region_of_orders(ask), *how


def in_common(a: Ask, b: Ask) -> int:
    """How much two questions have in common."""
    same = int(a.at == b.at)
    for part, other in zip(a.parts, b.parts, strict=False):
        same += (part.mechanism == other.mechanism) + 2 * (part.parameters == other.parameters)
        same += part.gamma == other.gamma
        if part.parameters and other.parameters:
            near = abs(Fraction(part.parameters[0][1]) / Fraction(other.parameters[0][1]) - 1)
            same += near < Fraction(1, 100)
    return same


def region_of_orders(ask: Ask) -> str:
    """Where on the axis of orders an RDP question lies."""
    if ask.kind != "rdp":
        return ""
    alpha = Fraction(ask.at)
    if alpha < Fraction(11, 10):
        return NEAR_1
    if alpha > _LARGE:
        return BEYOND
    if alpha.denominator == 1:
        return "whole" if alpha <= 64 else "whole, large"
    return "fractional" if alpha <= 64 else "fractional, large"


def beyond(ask: Ask) -> list[str]:
    """What a question is about beside one record, one order and the sensitivity 1."""
    another = any(part.sensitivity != "1" for part in ask.parts)
    said = {
        "several orders at once": ask.batch > 0,
        "groups of records": ask.group > 1,
        "another sensitivity": another,
    }
    return [what for what, holds in said.items() if holds]


def about(ask: Ask, law: str = "") -> str:
    """What a question is about, without its numbers; a law is not about one region of orders."""
    parts = sorted({f"{part.mechanism} ({part.sampling.replace('_', ' ')})" for part in ask.parts})
    region = law or (region_of_orders(ask) and f"{region_of_orders(ask)} orders")
    how = (f"{key} = {way}" for key, way in ask.how)
    what = (f"{ask.kind} of {' + '.join(parts)}", ask.adjacency.replace("_", "/"), region, *how)
    what = (*what, *beyond(ask))
    return ", ".join(filter(None, what))
