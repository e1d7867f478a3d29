"""Findings of one kind counted together, and those of one cause as what a maintainer mends once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from symacct.verify.judging.verdict import ALLOWANCE, CHANCE, SYMPTOM, VERDICTS, Finding, Probe
from symacct.verify.peer.protocol import ADJACENCIES, ENDS, LARGEST, SAMPLINGS, VALUES, Ask

# --- findings of one kind


#: The order beyond which many peers have no table. Orders on either side of it are counted apart.
_LARGE = 4096
#: The names of both ends of the axis of orders.
NEAR_1, BEYOND = "near 1", f"beyond {_LARGE}"


@dataclass
class Cluster:
    """Findings of one kind, and the probe that looks for it at another question."""

    worst: Finding
    probe: Probe
    #: How many findings were counted.
    count: int = 1
    #: What is shown in the place of the worst: at a simpler question, or completed.
    simple: Finding | None = None
    #: A new process, asked nothing else, gives the worst answer again; False if it was not tried.
    alone: bool = False
    #: The same in every run that finds the same kind.
    identity: str = ""

    @property
    def shown(self) -> Finding:
        """The finding to report."""
        return self.simple or self.worst

    @property
    def is_simpler(self) -> bool:
        """Is it shown at another question than the worst, and not after an earlier one?"""
        return self.shown.ask != self.worst.ask and self.shown.before is None

    def add(self, finding: Finding) -> None:
        """Count one more, and keep it if its severity is larger."""
        self.count += 1
        if finding.severity > self.worst.severity:
            self.worst = finding


class Clusters:
    """All findings of a run, counted by kind."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, ...], Cluster] = {}

    def note(self, finding: Finding | None, probe: Probe) -> None:
        """Count a finding, unless it is None, in the cluster of its kind, which keeps one probe."""
        if finding is None:
            return
        key = _key(finding)
        if key in self._of:
            self._of[key].add(finding)
        else:
            self._of[key] = Cluster(finding, probe, identity="/".join(filter(None, key)))

    def drop(self, cluster: Cluster) -> None:
        """Forget this cluster with all that it counted, as one that was not confirmed."""
        self._of = {key: c for key, c in self._of.items() if c is not cluster}

    def complete(self, finish: Callable[[Finding], Finding]) -> None:
        """Replace what is shown of each by what `finish` makes of it, the worst first."""
        for cluster in self.ranked():
            cluster.simple = finish(cluster.shown)

    def ranked(self) -> list[Cluster]:
        """Lists the clusters: those that fail a run first, then those beyond rounding, by size."""
        return sorted(self._of.values(), key=_rank)


def _key(finding: Finding) -> tuple[str, ...]:
    """What findings of one cluster have in common: verdict, side, rounding, question, error."""
    error = finding.note.split(":")[0] if finding.verdict == "exception" else ""
    below = "below" if finding.below else ""
    rounding = "" if finding.beyond_rounding else "rounding"
    return (finding.verdict, below, rounding, about(finding.ask, finding.law), error)


def _rank(cluster: Cluster) -> tuple[object, ...]:
    """Sorts clusters: `below`, beyond rounding, the worse verdict, the larger severity first."""
    finding = cluster.shown
    verdict = 0 if finding.below else VERDICTS.index(finding.verdict)
    return not finding.below, not finding.beyond_rounding, verdict, -cluster.worst.severity


def region(ask: Ask) -> tuple[object, ...]:
    """The key of questions that cost about as much: those that time out together are left out."""
    parts = tuple((part.mechanism, part.sampling) for part in ask.parts)
    how = dict(ask.how).get("count"), *beyond(ask)
    return ask.kind, parts, ask.adjacency, region_of_orders(ask), *how


def in_common(a: Ask, b: Ask) -> int:
    """Counts what two questions have in common: the place, and parameters part by part."""
    same = int(a.at == b.at)
    for part, other in zip(a.parts, b.parts, strict=False):
        same += (part.mechanism == other.mechanism) + 2 * (part.parameters == other.parameters)
        same += part.gamma == other.gamma
        if part.parameters and other.parameters:
            near = abs(Fraction(part.parameters[0][1]) / Fraction(other.parameters[0][1]) - 1)
            same += near < Fraction(1, 100)
    return same


def region_of_orders(ask: Ask) -> str:
    """Names the region of orders that an RDP question lies in; "" for another question."""
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
    """Names what a question has beside one record, one order and the sensitivity 1; mostly none."""
    another = any(part.sensitivity != "1" for part in ask.parts)
    features = {
        "several orders at once": ask.batch > 0,
        "groups of records": ask.group > 1,
        "another sensitivity": another,
    }
    return [what for what, holds in features.items() if holds]


def about(ask: Ask, law: str = "") -> str:
    """What a question is about, without its numbers, as text; a law stands for the orders."""
    parts = sorted({f"{part.mechanism} ({part.sampling.replace('_', ' ')})" for part in ask.parts})
    region = law or (region_of_orders(ask) and f"{region_of_orders(ask)} orders")
    how = (f"{key} = {way}" for key, way in ask.how)
    what = (f"{ask.kind} of {' + '.join(parts)}", ask.adjacency.replace("_", "/"), region, *how)
    what = (*what, *beyond(ask))
    return ", ".join(filter(None, what))


# --- defects


#: Verdicts of numbers that are too small.
_BELOW = ("unsound", "negative", "zero")
#: Whether the privacy loss that an answer claims is too small or too large.
SIDES = ("too small", "too large")
#: The words of a cause, side or sort first; joined by ": " they are `Defect.cause`.
Cause = tuple[str, ...]
#: A key of `Ask.how` with its value: one way of writing a question.
Way = tuple[str, str]
#: Words of causes, and the regions at the ends of the orders.
BOTH, _CONVERSION = "too small and too large", "conversion from RDP"
_ENDS = (NEAR_1, BEYOND)
#: Causes that one mechanism may have alone.
_OF_A_MECHANISM = ("ε and δ", *(sampling.replace("_", " ") for sampling in SAMPLINGS))
#: Causes that one run alone cannot have.
_OF_SEVERAL = ("several runs in a sample", "in a composition")
#: Of what is neither a curve nor ε or δ, the answer itself may be wrong.
_ANSWERS = {
    "noise": "least noise",
    "rate": "largest rate",
    "runs": "largest number of runs",
    "rho": "ρ of zCDP",
    "mu": "μ of Gaussian DP",
    "advantage": "advantage",
}
#: Keys of `Ask.how` that are about the type of a number.
_TYPED = ("numbers", "alpha")
#: Causes that name no part of a question.
_ROUNDING: Cause = ("rounding to float64",)
_HISTORY: Cause = ("depends on what was asked before",)
_RANDOM: Cause = ("answers change by chance",)
#: A repair near order 1, in words.
_NEAR_1_TERMS = (
    "The usual repair: where a moment is close to 1, compute what it is above 1 with expm1, and "
    "its logarithm with log1p."
)
#: A repair for sums that cancel, in words.
_SUM_FROM_2 = (
    "The usual repair: compute what the moment is above 1 as the sum from l = 2 of "
    "C(α, l) (1−γ)^(α−l) γ^l expm1((l−1) ε(l)), and its logarithm with log1p."
)
#: A repair for too few orders, in words.
_MORE_ORDERS = (
    "The usual repair: search more orders, and smaller and larger ones, such as 1.25, 1.5 and 1.75."
)
#: What a peer that lists its orders gets.
_DECLARE = (
    " A peer that lists the orders it searches (default_orders in its first line) gets a "
    "report that says whether the excess comes from these orders or from the code."
)


@dataclass
class Defect:
    """Clusters of one cause, in the order in which they were ranked; there is at least one."""

    cause: str
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def worst(self) -> Cluster:
        """Chooses the cluster to show: one that fails, of a plain value of a curve if there is one.

        If the plainest has no formula, it is one whose formula explains half of the answers, if
        that one fails, and is beyond rounding, just as much.
        """
        plainest = min(self.clusters, key=_plainness)
        if plainest.shown.formula or self.remembers:
            return plainest
        explained = Counter[str | None]()
        for cluster in self.clusters:
            explained[cluster.shown.formula] += cluster.count
        common = next((name for name, _ in explained.most_common() if name), None)
        if common is None or 2 * explained[common] < self.answers:
            return plainest
        alike = [cluster for cluster in self.clusters if cluster.shown.formula == common]
        other = min(alike, key=_plainness)
        return other if _plainness(other)[:2] == _plainness(plainest)[:2] else plainest

    @property
    def remembers(self) -> bool:
        """Do the answers depend on what was asked before? No formula explains them then."""
        return self.cause in (*_HISTORY, *_RANDOM)

    @property
    def shown(self) -> Finding:
        """The finding that shows it, at the simplest question known."""
        return self.worst.shown

    @property
    def below(self) -> bool:
        """Is an answer shown that is on the unsafe side of what is proved?"""
        return any(cluster.shown.below for cluster in self.clusters)

    @property
    def verdict(self) -> str:
        """The worst verdict of them."""
        return min((c.shown.verdict for c in self.clusters), key=VERDICTS.index)

    @property
    def advice(self) -> str:
        """Says how such a defect is usually mended; empty where that depends on the code."""
        finding = self.shown
        if not finding.beyond_rounding:
            sampled = any(part.sampling == "poisson" for part in finding.ask.parts)
            return _SUM_FROM_2 if sampled else _NEAR_1_TERMS
        excess = finding.note.split(":")[0]
        if finding.split and ("order grid" in excess or "orders and series" in excess):
            declared = dict(finding.split).get("order grid") is not None
            return _MORE_ORDERS if declared else _MORE_ORDERS + _DECLARE
        return ""

    @property
    def answers(self) -> int:
        """How many findings its clusters counted."""
        return sum(cluster.count for cluster in self.clusters)

    @property
    def about(self) -> list[str]:
        """What was asked: `rdp of Gaussian (poisson), add/remove, whole orders`, each once."""
        return list(dict.fromkeys(about(cluster.worst.ask) for cluster in self.clusters))


def grouped(clusters: Iterable[Cluster]) -> list[Defect]:
    """Groups all clusters into a defect for each cause, those below what is proved first."""
    given = list(clusters)
    causes = _Causes(given)
    defects: dict[Cause, Defect] = {}
    for cluster in given:
        cause = causes.of(cluster)
        defects.setdefault(cause, Defect(": ".join(cause))).clusters.append(cluster)
    for cause, defect in defects.items():
        defect.cause = ": ".join((*cause, *_mechanism_alone(cause, defect)))
    return sorted(defects.values(), key=lambda defect: not defect.below)


def _mechanism_alone(cause: Cause, defect: Defect) -> Cause:
    """The mechanism of a wrong curve where only one has it; nothing for all other causes."""
    about_a_curve = cause[0] in (*SIDES, BOTH) and cause[1] in _OF_A_MECHANISM
    parts = [cluster.worst.ask.parts for cluster in defect.clusters]
    alone = [group for group in parts if len(group) == 1]  # a composition has what its parts have
    names = {part.mechanism for group in alone or parts for part in group}
    return tuple(names) if about_a_curve and len(names) == 1 else ()


def _plainness(cluster: Cluster) -> tuple[bool, bool, bool, int, bool, bool]:
    """Sorts clusters by how plainly they show a defect, the plainest, which is shown, first."""
    finding = cluster.shown
    symptom = finding.verdict == SYMPTOM or finding.ask.kind != "rdp"
    parts = len(finding.ask.parts)
    rounds = not finding.below, not finding.beyond_rounding
    nothing = finding.beyond_rounding and finding.verdict in _BELOW[1:]
    return *rounds, symptom, parts, nothing, cluster.simple is None


class _Causes:
    """Finds the cause of each cluster from what all findings of a run have in common.

    What follows from a wrong curve is not counted again beside it: compositions of it, ε and δ,
    the laws that it breaks, its share of what rounding might explain.
    """

    def __init__(self, clusters: list[Cluster]) -> None:
        """Collects which curves are wrong, on which sides, and which ways of writing differ."""
        findings = [cluster.shown for cluster in clusters]
        self.remembers = any(map(_changes, findings))
        self.by_chance = any(finding.law == CHANCE for finding in findings)
        every_curve = [
            finding for finding in findings if _is_plain(finding) and finding.ask.kind == "rdp"
        ]
        curves = [finding for finding in every_curve if finding.beyond_rounding]
        others = [
            finding for finding in findings if finding.ask.kind in _ANSWERS and beyond(finding.ask)
        ]
        self.both = _on_both_sides([*every_curve, *others])
        self.relations = _relations([finding for finding in findings if _is_plain(finding)])
        self.inside = {
            _whats(finding.ask)[0]
            for finding in curves
            if region_of_orders(finding.ask) not in _ENDS
        }
        self.kinds = {about(finding.ask) for finding in curves}
        self.wrong = {self._named(finding, self._whats(finding)[0]) for finding in curves}
        #: Rounded to 0, as ε and δ are then: what is left of them says nothing of a conversion.
        self.vanished = {
            self._named(finding, self._whats(finding)[0])
            for finding in every_curve
            if finding.verdict == "zero" and not finding.beyond_rounding
        }
        differs = [finding for finding in findings if finding.verdict == "inconsistent"]
        self.alike = _ways_handled_alike(finding for finding in findings if finding.ask.how)
        #: Types that are handled as another number where the usual way of writing is right.
        self.mistaken = {
            self._way(finding)
            for finding in differs
            if _types(finding) and not _usual_may_be_wrong(finding)
        }
        #: Of ε and δ, those that are wrong on both sides.
        answers = [finding for finding in findings if finding.ask.kind in _ANSWERS]
        self.answers_both = {
            kind for kind in _ANSWERS if len({_side(o) for o in answers if o.ask.kind == kind}) == 2
        }
        #: The sides on which ε and δ show that they are wrongly converted: noise follows them.
        self.converts = {
            _side(finding) for finding in findings if finding.converted and finding.ask.kind in ENDS
        }
        #: Of which a new process gives an answer again.
        self.stays = {self._of_itself(cluster) for cluster in clusters if cluster.alone}

    def of(self, cluster: Cluster) -> Cause:
        """The cause of a cluster; memory or chance, unless a new process shows this cause too."""
        cause = self._of_itself(cluster)
        if self.by_chance:
            return _RANDOM
        derived = cluster.shown.converted or (cluster.shown.law and cause not in self.wrong)
        stays = cause in self.stays and not derived
        return _HISTORY if self.remembers and not stays else cause

    def _of_itself(self, cluster: Cluster) -> Cause:
        """Names the cause by the finding alone, before chance and memory count."""
        finding, how = cluster.shown, dict(cluster.shown.ask.how)
        whole = self._without_relation(_whats(finding.ask)[0])
        if "after" in how or _changes(finding):
            return _HISTORY
        if finding.verdict == "exception":
            return "exception", finding.note.split(":")[0]
        if finding.form:
            return (finding.form,)
        if finding.verdict in ("nan", "inf", "slow"):
            return finding.verdict, *whole[:1]
        if how and self._way(finding) in self.mistaken:
            return self._way(finding)
        if finding.verdict != "inconsistent" or not how or _usual_may_be_wrong(finding):
            for cause in self._curves(finding):
                if cause in self.wrong:
                    return cause
                if finding.verdict == "zero" and cause in self.vanished:
                    return _ROUNDING
        if how:
            return self._way(finding)
        follows = finding.converted and _side(finding) in self.converts
        if finding.ask.kind in _ANSWERS and not follows:
            both = finding.ask.kind in self.answers_both
            return BOTH if both else _side_of_the_answer(finding), _ANSWERS[finding.ask.kind]
        return _by_itself(finding, whole)

    def _way(self, finding: Finding) -> Cause:
        """The way of writing, with all that are handled alike."""
        ways = {_named(way) for pair in finding.ask.how for way in self.alike[pair]}
        return "written another way", ", ".join(sorted(ways))

    def _curves(self, finding: Finding) -> Iterator[Cause]:
        """Yields the wrong curves that a finding may be a consequence of, the likeliest first."""
        rounded = (
            not (finding.beyond_rounding or finding.below) and about(finding.ask) in self.kinds
        )
        symptom = rounded or finding.verdict == SYMPTOM
        ends = [(f"orders {region}",) for region in _ENDS] if symptom else []
        many = [("several runs",)] if any(part.count > 1 for part in finding.ask.parts) else []
        whats = self._whats(finding)[::-1]
        if many and many[0] not in whats:  # of ε and δ: before what several runs are a part of
            parts_of = (i for i, what in enumerate(whats) if what[0] in _OF_SEVERAL)
            place = next(parts_of, len(whats))
            whats[place:place] = many
        for what in [*whats, *ends]:
            yield self._named(finding, what)
            if symptom:
                yield from ((side, *self._without_relation(what)) for side in SIDES)

    def _whats(self, finding: Finding) -> list[Cause]:
        """Lists what a finding is about, most special first: an end of the orders if alone."""
        region = region_of_orders(finding.ask)
        whats = _whats(finding.ask)
        if region in _ENDS and whats[0] not in self.inside:
            return [(f"orders {region}",), *whats]
        return whats

    def _named(self, finding: Finding, what: Cause) -> Cause:
        """The cause of what is wrong on the finding's side, or on both."""
        return (BOTH if what in self.both else _side(finding), *self._without_relation(what))

    def _without_relation(self, what: Cause) -> Cause:
        """The first word of a cause alone where several relations have it; else the cause."""
        return what[:1] if len(self.relations.get(what[0], ())) > 1 else what


def _ways_handled_alike(findings: Iterable[Finding]) -> dict[Way, set[Way]]:
    """Maps each way of writing to all that somewhere gave one question the same wrong answer."""
    answered: dict[object, set[Way]] = {}
    for finding in findings:
        answered.setdefault((finding.ask.built(), finding.answer.value), set()).update(
            finding.ask.how
        )
    alike: dict[Way, set[Way]] = {}
    for ways in answered.values():
        joined = ways.union(*(alike.get(way, ()) for way in ways))
        alike.update(dict.fromkeys(joined, joined))
    return alike


def _named(way: Way) -> str:
    """The way of writing in words; of a type its name alone, of whatever number it is."""
    return way[1] if way[0] in _TYPED else " = ".join(way)


def _types(finding: Finding) -> bool:
    """Does its question differ from the usual one in the types of numbers, and in nothing else?"""
    return bool(finding.ask.how) and all(key in _TYPED for key, _ in finding.ask.how)


def _by_itself(finding: Finding, what: Cause) -> Cause:
    """The cause of a finding on curves that are right."""
    if not finding.beyond_rounding:
        return _ROUNDING
    if finding.verdict == SYMPTOM:
        return finding.law or finding.verdict, *what
    excess = finding.note.split(":")[0]
    if finding.split and "series" not in excess:  # the curve is right, so no series is wrong
        return _side(finding), excess
    return _side(finding), *((_CONVERSION,) if finding.converted else ("ε and δ", *what))


def _relations(findings: Iterable[Finding]) -> dict[str, set[Cause]]:
    """Maps the first feature of each finding, such as a sampling, to the relations it is under."""
    under: dict[str, set[Cause]] = {}
    for finding in findings:
        sampling, *relation = _whats(finding.ask)[0]
        under.setdefault(sampling, set()).add(tuple(relation))
    return under


def _on_both_sides(curves: Iterable[Finding]) -> set[Cause]:
    """Lists what is too small here and too large there in questions of one kind.

    What rounding alone puts on one side is not one with what another reason puts on the other.
    """
    kinds: dict[object, list[Finding]] = {}
    for finding in curves:
        # Of groups and the like so little is asked that no region of orders tells them apart.
        kind = _whats(finding.ask)[0] if beyond(finding.ask) else about(finding.ask)
        kinds.setdefault(kind, []).append(finding)
    return {
        _whats(same[0].ask)[0]
        for same in kinds.values()
        if len({_side(finding) for finding in same if finding.beyond_rounding}) == 2
    }


def _changes(finding: Finding) -> bool:
    """Does a new process answer the same question otherwise? No single one need explain it."""
    alone = (
        finding.verdict == "inconsistent" and not finding.ask.how and finding.law in ("", CHANCE)
    )
    return alone or finding.before is not None


def _usual_may_be_wrong(finding: Finding) -> bool:
    """Is the usual way of writing below the truth, or neither of the two known to be wrong?"""
    usual, truth = None if finding.other is None else finding.other[1].finite, finding.truth
    value = finding.answer.finite
    if usual is None or truth is None or value is None:
        return False
    low = truth.lower * (1 - ALLOWANCE)
    return bool(usual < low) or (not truth.exact and bool(low <= value))


def _is_plain(finding: Finding) -> bool:
    """Is it a wrong number, asked for in the usual way, that does not come from another?"""
    usual = finding.before is None and not finding.ask.how and not finding.converted
    return usual and finding.verdict in (*_BELOW, "loose", "wrong-formula")


def _side(finding: Finding) -> str:
    """Is the privacy loss that the answer claims too small or too large? Too many runs: small."""
    largest = finding.ask.kind in LARGEST
    small = finding.below or finding.short or (finding.verdict in _BELOW and not largest)
    if finding.verdict == SYMPTOM and finding.ratio is not None:
        small = small or (finding.ratio < 1) != largest
    return SIDES[0] if small else SIDES[1]


def _side_of_the_answer(finding: Finding) -> str:
    """On which side of the truth the answer itself is: too many runs are too large."""
    return SIDES[(_side(finding) == SIDES[1]) != (finding.ask.kind in LARGEST)]


def _whats(ask: Ask) -> list[Cause]:
    """Lists the features of a question that a cause may be named by, the most special first."""
    relation = ask.adjacency.replace("_", "/")
    single = [(s.replace("_", " "), relation) for s in sorted({p.sampling for p in ask.parts})]
    # ε and δ are hardly ever asked of a single run.
    more = ask.kind == "rdp" and any(part.count > 1 for part in ask.parts)
    several = [("several runs",)] if more else []
    inside = [("several runs in a sample",)] if any(part.inner > 1 for part in ask.parts) else []
    composed = [("in a composition",)] if len(ask.parts) > 1 else []
    features = [(what,) for what in beyond(ask)]
    return [*composed, *features, *inside, *several, *single]


#: The words for each sampling.
_SAMPLED = {
    "none": "without sampling",
    "poisson": "with Poisson sampling",
    "without replacement": "with batches of a fixed size",
}


def title(cause: str) -> str:
    """Writes a cause in the field's words, where it names a sampling in the protocol's.

    >>> title("too small: none: add/remove: Gaussian")
    'too small: Gaussian noise without sampling, add/remove'
    >>> title("too small: poisson: add/remove")
    'too small: mechanisms with Poisson sampling, add/remove'
    """
    words = cause.split(": ")
    place = next((i for i, word in enumerate(words) if word in _SAMPLED), None)
    if place is None:
        return cause
    rest = words[place + 1 :]
    relations = [word for word in rest if word.replace("/", "_") in ADJACENCIES]
    mechanisms = [_called(word) for word in rest if word not in relations]
    what = f"{' '.join(mechanisms) or 'mechanisms'} {_SAMPLED[words[place]]}"
    return ": ".join((*words[:place], ", ".join((what, *relations))))


def _called(word: str) -> str:
    """A mechanism in words, where the word names one; else the word."""
    return VALUES[word].called if word in VALUES else word
