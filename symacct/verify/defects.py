"""Findings of one cause counted as one defect: what a maintainer mends once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from symacct.verify.clusters import Cluster, about
from symacct.verify.protocol import Ask
from symacct.verify.verdict import VERDICTS, Finding

_BELOW = ("unsound", "negative", "zero")
#: What only shows that some value is wrong; it belongs to what says which.
_SYMPTOMS = ("jump", "inconsistent")
_SAME_FACTOR = 0.01  # relative, of the logarithm
Cause = tuple[str, ...]


@dataclass
class Defect:
    """Clusters of one cause, the first of them the worst."""

    cause: str
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def worst(self) -> Cluster:
        """The cluster to show first."""
        return self.clusters[0]

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
    wrong: dict[Cause, list[float]] = {}
    for cluster in given:
        if (curve := _curve(cluster.shown)) is not None:
            wrong.setdefault(curve, []).append(cluster.shown.severity)
    found: dict[Cause, Defect] = {}
    for cluster in given:
        cause = _cause(cluster.shown, wrong)
        found.setdefault(cause, Defect(": ".join(cause))).clusters.append(cluster)
    return list(found.values())


def _cause(found: Finding, wrong: dict[Cause, list[float]]) -> Cause:
    """What findings over mechanisms, orders, ways of writing and verdicts have in common.

    ε and δ that come from a wrong curve, and the laws that a wrong curve breaks, are not counted
    again beside it.
    """
    what = _what(found.ask)
    curve = (_side(found), *what)
    if not found.beyond_rounding:
        others = wrong.get(curve, [])
        off = any(math.isclose(found.severity, one, rel_tol=_SAME_FACTOR) for one in others)
        return curve if off else ("rounding to float64",)
    if found.before is not None or "after" in dict(found.ask.how):
        return ("depends on what was asked before",)
    if found.verdict in _SYMPTOMS:
        # The side that it is on itself, where that is one of the wrong ones.
        curves = sorted(wrong, key=lambda cause: cause[0] != curve[0])
        return _symptom(found, [cause for cause in curves if cause[1:] == what])
    if found.verdict == "exception":
        return "exception", found.note.split(":")[0]
    if found.verdict in ("nan", "inf", "slow"):
        return found.verdict, *what
    if found.ask.kind == "rdp" or curve in wrong:
        return curve
    share = (found.note.split(":")[0],) if found.split else what
    return _side(found), found.ask.kind, *share


def _symptom(found: Finding, curves: list[Cause]) -> Cause:
    if found.ask.how:
        return "written another way", *(f"{key} = {way}" for key, way in found.ask.how)
    return curves[0] if curves else (found.law or found.verdict, *_what(found.ask))


def _curve(found: Finding) -> Cause | None:
    """The cause of a value of a curve itself that is wrong beyond rounding."""
    plain = found.beyond_rounding and found.before is None and not found.ask.how
    numeric = found.verdict in (*_BELOW, "loose", "wrong-formula")
    return (
        (_side(found), *_what(found.ask)) if plain and numeric and found.ask.kind == "rdp" else None
    )


def _side(found: Finding) -> str:
    return "too small" if found.below or found.verdict in _BELOW else "too large"


def _what(ask: Ask) -> Cause:
    """How the parts are sampled, and the relation."""
    samplings = sorted({part.sampling.replace("_", " ") for part in ask.parts})
    return " + ".join(samplings), ask.adjacency.replace("_", "/")
