"""Findings of one cause counted as one defect: what a maintainer mends once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from symacct.verify.clusters import Cluster, about
from symacct.verify.protocol import Ask
from symacct.verify.verdict import VERDICTS, Finding

_BELOW = ("unsound", "negative", "zero")
#: What only shows that some value is wrong; it belongs to what says which.
_SYMPTOMS = ("jump", "inconsistent")
_SIDES = ("too small", "too large")
Cause = tuple[str, ...]


@dataclass
class Defect:
    """Clusters of one cause, the worst first."""

    cause: str
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def worst(self) -> Cluster:
        """The cluster to show: of those that fail, a plain value of a curve if there is one."""
        return min(self.clusters, key=_plainness)

    @property
    def shown(self) -> Finding:
        """The finding that shows it, at the simplest question known."""
        return self.worst.shown

    @property
    def below(self) -> bool:
        """Is an answer below what is proved?"""
        return any(cluster.shown.below for cluster in self.clusters)

    @property
    def verdict(self) -> str:
        """The worst verdict of them."""
        return min((c.shown.verdict for c in self.clusters), key=VERDICTS.index)

    @property
    def answers(self) -> int:
        """How many answers there were of it."""
        return sum(cluster.count for cluster in self.clusters)

    @property
    def about(self) -> list[str]:
        """What was asked: `rdp of Gaussian (poisson), add/remove, whole orders`, each once."""
        return list(dict.fromkeys(about(cluster.worst.ask) for cluster in self.clusters))


def grouped(clusters: Iterable[Cluster]) -> list[Defect]:
    """Clusters in the order given, one defect for each cause; none is left out."""
    given = list(clusters)
    wrong = {curve for cluster in given if (curve := _curve(cluster.shown)) is not None}
    found: dict[Cause, Defect] = {}
    for cluster in given:
        cause = _cause(cluster.shown, wrong)
        found.setdefault(cause, Defect(": ".join(cause))).clusters.append(cluster)
    return list(found.values())


def _plainness(cluster: Cluster) -> tuple[bool, bool, bool, int]:
    found = cluster.shown
    symptom = found.verdict in _SYMPTOMS or found.ask.kind != "rdp"
    return not found.below, not found.beyond_rounding, symptom, len(found.ask.parts)


def _cause(found: Finding, wrong: set[Cause]) -> Cause:
    """What findings over mechanisms, orders, ways of writing and verdicts have in common.

    What follows from a wrong curve is not counted again beside it: compositions of it, ε and δ,
    the laws that it breaks, its share of what rounding might explain.
    """
    how = dict(found.ask.how)
    # Inconsistent with itself in a new process, though no single question explains it.
    alone = found.verdict == "inconsistent" and not how and not found.law
    if found.before is not None or "after" in how or alone:
        return ("depends on what was asked before",)
    if found.verdict == "exception":
        return "exception", found.note.split(":")[0]
    whole, *single = _whats(found.ask)
    if found.verdict in ("nan", "inf", "slow"):
        return found.verdict, *whole
    if how and found.verdict == "inconsistent" and not _usual_is_too_small(found):
        return "written another way", *(f"{key} = {way}" for key, way in how.items())
    sides = [_side(found)] if found.verdict not in _SYMPTOMS else [_side(found), *_SIDES]
    for curve in ((side, *what) for side in sides for what in (*single, whole)):
        if curve in wrong:
            return curve
    return _alone(found, whole)


def _alone(found: Finding, what: Cause) -> Cause:
    """The cause of a finding on curves that are right."""
    if not found.beyond_rounding:
        return ("rounding to float64",)
    if found.verdict in _SYMPTOMS:
        return found.law or found.verdict, *what
    share = (found.note.split(":")[0],) if found.split else what
    return _side(found), found.ask.kind, *share


def _usual_is_too_small(found: Finding) -> bool:
    """Is it the usual way of writing that is wrong, and not the other?"""
    usual = None if found.other is None else found.other[1].finite
    return usual is not None and found.truth is not None and bool(usual < found.truth.lower)


def _curve(found: Finding) -> Cause | None:
    """The cause of a value of a curve itself that is wrong beyond rounding."""
    plain = found.beyond_rounding and found.before is None and not found.ask.how
    numeric = found.verdict in (*_BELOW, "loose", "wrong-formula")
    if not (plain and numeric and found.ask.kind == "rdp"):
        return None
    return _side(found), *_whats(found.ask)[0]


def _side(found: Finding) -> str:
    return _SIDES[0] if found.below or found.verdict in _BELOW else _SIDES[1]


def _whats(ask: Ask) -> list[Cause]:
    """How the parts are sampled, and the relation: of all together, and of each kind alone."""
    relation = ask.adjacency.replace("_", "/")
    single = [(s.replace("_", " "), relation) for s in sorted({p.sampling for p in ask.parts})]
    return [("in a composition",) if len(ask.parts) > 1 else single[0], *single]
