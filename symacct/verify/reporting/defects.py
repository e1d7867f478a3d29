"""Findings of one kind counted together, and those of one cause as what a maintainer mends once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from symacct.verify.judging.verdict import ALLOWANCE, CHANCE, SYMPTOM, VERDICTS, Finding, Probe
from symacct.verify.peer.protocol import ADJACENCIES, ASKED, ENDS, LARGEST, SAMPLINGS, Ask

# --- findings of one kind


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


# --- defects


_BELOW = ("unsound", "negative", "zero")
SIDES = ("too small", "too large")
Cause = tuple[str, ...]
Way = tuple[str, str]
BOTH, _CONVERSION = "too small and too large", "conversion from RDP"
_ENDS = (NEAR_1, BEYOND)
#: Causes that one mechanism may have alone.
_OF_A_MECHANISM = ("ε and δ", *(sampling.replace("_", " ") for sampling in SAMPLINGS))
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
_TYPED = ("numbers", "alpha")
_ROUNDING: Cause = ("rounding to float64",)
_HISTORY: Cause = ("depends on what was asked before",)
_RANDOM: Cause = ("answers change by chance",)
_NEAR_1_TERMS = (
    "The usual repair: where a moment is close to 1, compute what it is above 1 with expm1, and "
    "its logarithm with log1p."
)
_SUM_FROM_2 = (
    "The usual repair: compute what the moment is above 1 as the sum from l = 2 of "
    "C(α, l) (1−γ)^(α−l) γ^l expm1((l−1) ε(l)), and its logarithm with log1p."
)
_MORE_ORDERS = (
    "The usual repair: search more orders, and smaller and larger ones, such as 1.25, 1.5 and 1.75."
)
_DECLARE = (
    " A peer that lists the orders it searches (default_orders in its first line) gets a "
    "report that says whether the excess comes from these orders or from the code."
)


@dataclass
class Defect:
    """Clusters of one cause, the worst first."""

    cause: str
    clusters: list[Cluster] = field(default_factory=list)

    @property
    def worst(self) -> Cluster:
        """The cluster to show: of those that fail, a plain value of a curve if there is one.

        If the plainest has no formula, it is one whose formula explains half of the answers.
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
        """Is an answer below what is proved?"""
        return any(cluster.shown.below for cluster in self.clusters)

    @property
    def verdict(self) -> str:
        """The worst verdict of them."""
        return min((c.shown.verdict for c in self.clusters), key=VERDICTS.index)

    @property
    def advice(self) -> str:
        """How such a defect is usually mended; empty where that depends on the code."""
        found = self.shown
        if not found.beyond_rounding:
            sampled = any(part.sampling == "poisson" for part in found.ask.parts)
            return _SUM_FROM_2 if sampled else _NEAR_1_TERMS
        excess = found.note.split(":")[0]
        if found.split and ("order grid" in excess or "orders and series" in excess):
            declared = dict(found.split).get("order grid") is not None
            return _MORE_ORDERS if declared else _MORE_ORDERS + _DECLARE
        return ""

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
    causes = _Causes(given)
    found: dict[Cause, Defect] = {}
    for cluster in given:
        cause = causes.of(cluster)
        found.setdefault(cause, Defect(": ".join(cause))).clusters.append(cluster)
    for cause, defect in found.items():
        defect.cause = ": ".join((*cause, *_one_mechanism(cause, defect)))
    return sorted(found.values(), key=lambda defect: not defect.below)


def _one_mechanism(cause: Cause, defect: Defect) -> Cause:
    """The mechanism of a wrong curve, where it is one of those that are sampled alike."""
    about_a_curve = cause[0] in (*SIDES, BOTH) and cause[1] in _OF_A_MECHANISM
    parts = [cluster.worst.ask.parts for cluster in defect.clusters]
    alone = [one for one in parts if len(one) == 1]  # a composition has what its parts have
    names = {part.mechanism for one in alone or parts for part in one}
    return tuple(names) if about_a_curve and len(names) == 1 else ()


def _plainness(cluster: Cluster) -> tuple[bool, bool, bool, int, bool, bool]:
    found = cluster.shown
    symptom = found.verdict == SYMPTOM or found.ask.kind != "rdp"
    parts = len(found.ask.parts)
    rounds = not found.below, not found.beyond_rounding
    nothing = found.beyond_rounding and found.verdict in _BELOW[1:]
    return *rounds, symptom, parts, nothing, cluster.simple is None


class _Causes:
    """What findings over mechanisms, orders, ways of writing and verdicts have in common.

    What follows from a wrong curve is not counted again beside it: compositions of it, ε and δ,
    the laws that it breaks, its share of what rounding might explain.
    """

    def __init__(self, clusters: list[Cluster]) -> None:
        found = [cluster.shown for cluster in clusters]
        self.remembers = any(map(_changes, found))
        self.by_chance = any(one.law == CHANCE for one in found)
        every_curve = [one for one in found if _is_plain(one) and one.ask.kind == "rdp"]
        curves = [one for one in every_curve if one.beyond_rounding]
        others = [one for one in found if one.ask.kind in _ANSWERS and beyond(one.ask)]
        self.both = _on_both_sides([*every_curve, *others])
        self.relations = _relations([one for one in found if _is_plain(one)])
        self.inside = {
            _whats(one.ask)[0] for one in curves if region_of_orders(one.ask) not in _ENDS
        }
        self.kinds = {about(one.ask) for one in curves}
        self.wrong = {self._named(one, self._whats(one)[0]) for one in curves}
        #: Rounded to 0, as ε and δ are then: what is left of them says nothing of a conversion.
        self.vanished = {
            self._named(one, self._whats(one)[0])
            for one in every_curve
            if one.verdict == "zero" and not one.beyond_rounding
        }
        differs = [one for one in found if one.verdict == "inconsistent"]
        self.alike = _ways_handled_alike(one for one in found if one.ask.how)
        #: Types that are handled as another number where the usual way of writing is right.
        self.mistaken = {
            self._way(one) for one in differs if _types(one) and not _usual_may_be_wrong(one)
        }
        #: The sides on which ε and δ show that they are wrongly converted: noise follows them.
        own = [one for one in found if one.ask.kind in _ANSWERS]
        self.answers_both = {
            kind for kind in _ANSWERS if len({_side(o) for o in own if o.ask.kind == kind}) == 2
        }
        self.converts = {_side(one) for one in found if one.converted and one.ask.kind in ENDS}
        #: Of which a new process gives an answer again.
        self.stays = {self._of_itself(cluster) for cluster in clusters if cluster.alone}

    def of(self, cluster: Cluster) -> Cause:
        """The cause of a cluster; of a peer that remembers, only what a new process does too."""
        own = self._of_itself(cluster)
        if self.by_chance:
            return _RANDOM
        derived = cluster.shown.converted or (cluster.shown.law and own not in self.wrong)
        stays = own in self.stays and not derived
        return _HISTORY if self.remembers and not stays else own

    def _of_itself(self, cluster: Cluster) -> Cause:
        """The cause by the finding alone, before chance and what the peer remembers count."""
        found, how = cluster.shown, dict(cluster.shown.ask.how)
        whole = self._without_relation(_whats(found.ask)[0])
        if "after" in how or _changes(found):
            return _HISTORY
        if found.verdict == "exception":
            return "exception", found.note.split(":")[0]
        if found.form:
            return (found.form,)
        if found.verdict in ("nan", "inf", "slow"):
            return found.verdict, *whole[:1]
        if how and self._way(found) in self.mistaken:
            return self._way(found)
        if found.verdict != "inconsistent" or not how or _usual_may_be_wrong(found):
            for cause in self._curves(found):
                if cause in self.wrong:
                    return cause
                if found.verdict == "zero" and cause in self.vanished:
                    return _ROUNDING
        if how:
            return self._way(found)
        follows = found.converted and _side(found) in self.converts
        if found.ask.kind in _ANSWERS and not follows:
            both = found.ask.kind in self.answers_both
            return BOTH if both else _side_of_the_answer(found), _ANSWERS[found.ask.kind]
        return _by_itself(found, whole)

    def _way(self, found: Finding) -> Cause:
        """The way of writing, with all that are handled alike."""
        ways = {_named(way) for one in found.ask.how for way in self.alike[one]}
        return "written another way", ", ".join(sorted(ways))

    def _curves(self, found: Finding) -> Iterator[Cause]:
        """The wrong curves that a finding may be a consequence of, the likeliest first."""
        rounded = not (found.beyond_rounding or found.below) and about(found.ask) in self.kinds
        symptom = rounded or found.verdict == SYMPTOM
        ends = [(f"orders {region}",) for region in _ENDS] if symptom else []
        many = [("several runs",)] if any(part.count > 1 for part in found.ask.parts) else []
        whats = self._whats(found)[::-1]
        if many and many[0] not in whats:  # of ε and δ: before what several runs are a part of
            parts_of = (i for i, what in enumerate(whats) if what[0] in _OF_SEVERAL)
            place = next(parts_of, len(whats))
            whats[place:place] = many
        for what in [*whats, *ends]:
            yield self._named(found, what)
            if symptom:
                yield from ((side, *self._without_relation(what)) for side in SIDES)

    def _whats(self, found: Finding) -> list[Cause]:
        """What it is about; an end of the orders, where the curve is right between the ends."""
        region = region_of_orders(found.ask)
        whats = _whats(found.ask)
        if region in _ENDS and whats[0] not in self.inside:
            return [(f"orders {region}",), *whats]
        return whats

    def _named(self, found: Finding, what: Cause) -> Cause:
        return (BOTH if what in self.both else _side(found), *self._without_relation(what))

    def _without_relation(self, what: Cause) -> Cause:
        """The relation is no part of the cause where it is so under several."""
        return what[:1] if len(self.relations.get(what[0], ())) > 1 else what


def _ways_handled_alike(found: Iterable[Finding]) -> dict[Way, set[Way]]:
    """Ways of writing that one number answers somewhere: one cause wherever they are met."""
    answered: dict[object, set[Way]] = {}
    for one in found:
        answered.setdefault((one.ask.built(), one.answer.value), set()).update(one.ask.how)
    alike: dict[Way, set[Way]] = {}
    for ways in answered.values():
        joined = ways.union(*(alike.get(way, ()) for way in ways))
        alike.update(dict.fromkeys(joined, joined))
    return alike


def _named(way: Way) -> str:
    """The way of writing; a type is handled as it is, wherever it is met."""
    return way[1] if way[0] in _TYPED else " = ".join(way)


def _types(found: Finding) -> bool:
    """Is it about the type of a number?"""
    return bool(found.ask.how) and all(key in _TYPED for key, _ in found.ask.how)


def _by_itself(found: Finding, what: Cause) -> Cause:
    """The cause of a finding on curves that are right."""
    if not found.beyond_rounding:
        return _ROUNDING
    if found.verdict == SYMPTOM:
        return found.law or found.verdict, *what
    if found.split and "series" not in found.note.split(":")[0]:
        return _side(found), found.note.split(":")[0]  # the curve is right, so no series is wrong
    return _side(found), *((_CONVERSION,) if found.converted else ("ε and δ", *what))


def _relations(found: Iterable[Finding]) -> dict[str, set[Cause]]:
    """Under which relations each sampling is wrong."""
    under: dict[str, set[Cause]] = {}
    for one in found:
        sampling, *relation = _whats(one.ask)[0]
        under.setdefault(sampling, set()).add(tuple(relation))
    return under


def _on_both_sides(curves: Iterable[Finding]) -> set[Cause]:
    """What is too small here and too large there in questions of one kind: one code, one cause.

    What rounding alone puts on one side is not one with what another reason puts on the other.
    """
    kinds: dict[object, list[Finding]] = {}
    for one in curves:
        # Of groups and the like so little is asked that no region of orders tells them apart.
        kind = _whats(one.ask)[0] if beyond(one.ask) else about(one.ask)
        kinds.setdefault(kind, []).append(one)
    return {
        _whats(same[0].ask)[0]
        for same in kinds.values()
        if len({_side(one) for one in same if one.beyond_rounding}) == 2
    }


def _changes(found: Finding) -> bool:
    """Is it inconsistent with itself in a new process? No single question need explain it."""
    alone = found.verdict == "inconsistent" and not found.ask.how and found.law in ("", CHANCE)
    return alone or found.before is not None


def _usual_may_be_wrong(found: Finding) -> bool:
    """Is the usual way of writing below the truth, or neither of the two known to be wrong?"""
    usual, truth = None if found.other is None else found.other[1].finite, found.truth
    value = found.answer.finite
    if usual is None or truth is None or value is None:
        return False
    low = truth.lower * (1 - ALLOWANCE)
    return bool(usual < low) or (not truth.exact and bool(low <= value))


def _is_plain(found: Finding) -> bool:
    """Is it a wrong number, asked for in the usual way, that does not come from another?"""
    usual = found.before is None and not found.ask.how and not found.converted
    return usual and found.verdict in (*_BELOW, "loose", "wrong-formula")


def _side(found: Finding) -> str:
    """Does the answer say that too little is lost, or too much?"""
    largest = found.ask.kind in LARGEST
    small = found.below or found.short or (found.verdict in _BELOW and not largest)
    if found.verdict == SYMPTOM and found.ratio is not None:
        small = small or (found.ratio < 1) != largest
    return SIDES[0] if small else SIDES[1]


def _side_of_the_answer(found: Finding) -> str:
    """On which side of the truth it is: of a rate and of runs, too many say that too little is."""
    return SIDES[(_side(found) == SIDES[1]) != (found.ask.kind in LARGEST)]


def _whats(ask: Ask) -> list[Cause]:
    """How the parts are sampled, and the relation: of all together, and of each kind alone."""
    relation = ask.adjacency.replace("_", "/")
    single = [(s.replace("_", " "), relation) for s in sorted({p.sampling for p in ask.parts})]
    # ε and δ are hardly ever asked of a single run.
    more = ask.kind == "rdp" and any(part.count > 1 for part in ask.parts)
    several = [("several runs",)] if more else []
    inside = [("several runs in a sample",)] if any(part.inner > 1 for part in ask.parts) else []
    more_than_one = [("in a composition",)] if len(ask.parts) > 1 else []
    asked = [(what,) for what in beyond(ask)]
    return [*more_than_one, *asked, *inside, *several, *single]


_SAMPLED = {
    "none": "without sampling",
    "poisson": "with Poisson sampling",
    "without replacement": "with batches of a fixed size",
}


def title(cause: str) -> str:
    """A cause in the field's words, where it names a kind of sampling in the protocol's.

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
    """A mechanism in words, where the word names one."""
    return ASKED[word].called if word in ASKED else word
