"""A run: asks a peer all that is to be asked, gathers and confirms the findings, and reports."""

from __future__ import annotations

import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import islice

from symacct.kernel.answer import nearest_float
from symacct.kernel.deadline import OutOfTimeError
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import probability, rational, whole
from symacct.verify.asking import covering, questions
from symacct.verify.asking.history import History, answer_text
from symacct.verify.asking.questions import FULL, Extent
from symacct.verify.asking.simplify import as_runs, nearby, other_side, simplest
from symacct.verify.judging import matching
from symacct.verify.judging.explanation import explained, form, with_factor
from symacct.verify.judging.truth import DIGITS, Oracle
from symacct.verify.judging.verdict import (
    ALLOWANCE,
    LOOSE,
    Finding,
    Judge,
    explained_by_rounding,
    sum_law,
)
from symacct.verify.peer.process import Clock, Peer, PeerGoneError
from symacct.verify.peer.protocol import Answer, Ask, Exchange, Hello
from symacct.verify.reporting.defects import Clusters, about, grouped, region
from symacct.verify.reporting.report import PlottedError, Report

#: What a run calls after each answer, with the stage's name and the number of answers so far.
Progress = Callable[[str, int], None]
#: Questions sent before their turn; late answers after which a `region` is left; kinds of finding
#: around which, and on whose other side, more is asked.
_AHEAD, _HANGS, _REFINED = 16, 2, 12
#: Questions asked again in a new process; of each row, that get twins; of each kind of composition,
#: that are asked with another field.
_BACKWARDS, _TWINS, _MIXED = 30, 2, 2
#: The most questions to the edges of a defect, and the first defects that these are looked for.
_EDGES, _BOUNDED = 120, 4
#: So many of the first findings are confirmed in a new process each, the others in one.
_STARTS = 6
#: The shares of a run's time, from its begin, at which stages end at the latest: those not named
#: at the first. They rise; what a stage leaves, the next one has.
_ASKING = 0.7
_STAGES = {"refining": 0.75, "simplifying": 0.92, "confirming": 0.96, "naming": 0.98}
#: Another wrong answer, which a named mistake has to explain, is looked for among so many.
_ALIKE = 40
#: So many seconds of the wall clock count as one of work at least: no peer that sleeps goes on for
#: ever, and no machine on which a tenth of a processor is free ends a run.
_IDLE = 10.0
#: The share of the run's time that our own work on one number may take, and a second at least;
#: beyond, the number has no truth and its answer is not judged.
_LONGEST = 0.005


class Session:
    """The state of a run: its report, the findings so far, and the time that is left."""

    def __init__(
        self,
        peer: Peer,
        extent: Extent,
        seed: int = 0,
        progress: Progress = lambda stage, count: None,
        allowance: Fraction = ALLOWANCE,
        known: tuple[Ask, ...] = (),
    ) -> None:
        """Prepares the report, the clock, the oracle and the judge that all stages share.

        What a baseline has `known` is asked before all else.
        """
        self.peer, self.extent, self.seed, self.progress = peer, extent, seed, progress
        self.allowance, self.known = allowance, known
        self.report = Report(
            self.hello.peer, self.hello.version, peer.command, 0, 0, 0.0, seed, [], peer.incidents,
            allowance=allowance, per_kind=extent.per_kind, given=extent.seconds,
        )  # fmt: skip
        self.clusters = Clusters()
        #: Answers on the grid, and to a baseline's RDP of one part, which are plotted.
        self.points: list[Exchange] = []
        #: The stages that ended before they had asked all.
        self.short: list[str] = []
        self.clock = self._working()
        self.oracle = Oracle(max(DIGITS, len(str(int(1 / self.allowance))) + 4))
        self.oracle.clock = self.peer.clock = self.clock
        self.oracle.longest = max(1.0, _LONGEST * self.extent.seconds)
        self.peer.until = self._ends_at("naming")
        self.judge = Judge(self.oracle, self.hello, self.allowance)
        self._worker = ThreadPoolExecutor(1)
        self._hangs: Counter[object] = Counter()
        self._stage = "usual"
        self.history = History(self.judge, self._answer_to, self.peer.fresh)
        self._sizes = questions.whole_sizes()

    @property
    def composed(self) -> list[str]:
        """The kinds of which compositions are judged: those asked, or offered if time was short."""
        kinds = {ask.kind for ask in self.history.answers if len(set(ask.parts)) > 1}
        offered = covering.composed(self.hello) if self.extent.covered else []
        return [kind for kind in offered if kind in kinds or self.short]

    @property
    def hello(self) -> Hello:
        return self.peer.hello

    def run(self) -> None:
        """Runs every stage; a peer that is gone for good, or the end of the time, ends it early."""
        drawn = self.hello, self.extent, self.seed
        first = questions.usual(self.hello, self.seed, self.extent.per_kind)
        stages = {
            "knowing": self._know,
            "usual": lambda: self._judged(first),
            "covering": lambda: self._judged(covering.covering(*drawn)),
            "points": lambda: self._judged(questions.points(*drawn), self.points),
            "structure": self._compositions,
            "remembering": self._remembering,
            "searching": self._search,
            "refining": self._refine,
            "simplifying": self._simplify,
            "confirming": self._confirm,
        }
        try:
            for self._stage, stage in stages.items():
                self._until_its_end(stage)
        except PeerGoneError as gone:
            self.report.cut.append(str(gone))
            self.report.gone = True
        finally:
            self._worker.shutdown(wait=True, cancel_futures=True)
        self._stage = "naming"
        self._until_its_end(lambda: self.clusters.complete(self._completed))
        if self.short:
            names, many = ", ".join(self.short), len(self.short)
            cut = f"{many} stages of the run were" if many > 1 else "One stage of the run was"
            self.report.cut.append(f"{cut} cut short, because the time was used up: {names}.")

    def _completed(self, finding: Finding) -> Finding:
        """Completes a finding with its formula, the form of the numbers, and the runs it counts."""
        answers = self.history.answers
        plain = [a.finite for ask, a in answers.items() if not ask.how and a.finite is not None]
        beside = self._beside(finding)
        whole = self.judge.complete(finding, beside)
        if not beside and whole.ask.kind == "rdp":  # one point alone fits too many formulas
            whole = replace(whole, formula=None)
        finding = explained(whole, form(plain), self.oracle)
        finding = as_runs(self._of_the_conversion(finding), answers)
        return with_factor(finding, answers, self.oracle.known)

    def _beside(self, finding: Finding) -> list[tuple[Ask, Fraction]]:
        """Searches another wrong RDP of the kind, at numbers of many digits first; [] for none."""
        kind, question = about(finding.ask), finding.ask
        known = [ask for ask in self.history.answers if about(ask) == kind and ask != question]
        if question.kind != "rdp" or question.batch:
            return []
        known.sort(key=lambda ask: (self._is_rounded(ask), -len(ask.expression) - len(ask.at)))
        for ask in known[:_ALIKE]:
            answer = self.history.answers[ask]
            other = self.judge.judge(ask, answer)
            alike = other is not None and other.verdict == finding.verdict
            if alike and answer.finite is not None and len(ask.parts) == len(question.parts):
                return [(ask, answer.finite)]
        return []

    def _is_rounded(self, ask: Ask) -> bool:
        """May rounding alone change the digits of the answer by which formulas are told apart?"""
        value = self.history.answers[ask].finite
        return value is None or explained_by_rounding(ask, matching.SAME * value, value)

    def _of_the_conversion(self, finding: Finding) -> Finding:
        """Where the curves are right, no series is wrong but the conversion's formula."""
        wrong = any(cluster.worst.ask.kind == "rdp" for cluster in self.clusters.ranked())
        source = "conversion's formula" if self.points and not wrong else "series"
        note = finding.note.replace("series", source) if finding.split else finding.note
        return replace(finding, note=note)

    def _until_its_end(self, stage: Callable[[], None]) -> None:
        """Runs as much of a stage as there is time for; one that ends early is noted in `short`."""
        try:
            self._in_time()
            stage()
        except OutOfTimeError:
            self.short.append(self._stage)

    def _ends_at(self, stage: str) -> float:
        """The seconds of the run's clock at which a stage ends."""
        return _STAGES.get(stage, _ASKING) * self.extent.seconds

    def _working(self) -> Clock:
        """Returns a clock of work from now on, ours and the peer's, without the peer's starts.

        Idle ones count for less, and no more starts are left out than there is time in all.
        """
        peer, most = self.peer, self.extent.seconds
        ours, busy, wall, starts = time.process_time(), peer.busy, time.monotonic(), peer.starts

        def clock() -> float:
            work = time.process_time() - ours + peer.busy - busy
            idle = time.monotonic() - wall - min(peer.starts - starts, most)
            return max(work, idle / _IDLE)

        return clock

    # --- asking

    def _stream(self, asks: Iterable[Ask]) -> Iterator[Exchange]:
        """Yields answers in the asks' order, but to hopeless ones; the peer works _AHEAD of us."""
        pending: deque[tuple[Ask, Future[Answer]]] = deque()
        try:
            for ask in asks:
                if self._hopeless(ask):
                    self.report.skipped += 1
                    continue
                pending.append((ask, self._worker.submit(self.peer.ask, ask)))
                if len(pending) > _AHEAD:
                    yield from self._first(pending)
            while pending:
                yield from self._first(pending)
        finally:
            for _, future in pending:
                future.cancel()

    def _first(self, pending: deque[tuple[Ask, Future[Answer]]]) -> Iterator[Exchange]:
        """Yields the first pending answer, unless its kind ran out of time."""
        self._in_time()
        ask, future = pending.popleft()
        if self._hopeless(ask) and future.cancel():
            self.report.skipped += 1
            return
        counted = self._counted(ask, future)
        for other, waiting in pending:
            if self._hopeless(other):
                waiting.cancel()
        yield counted

    def _hopeless(self, ask: Ask) -> bool:
        """Did so many answers of this question's `region` come late that it is not asked on?"""
        return bool(self._hangs) and self._hangs[region(ask)] >= _HANGS

    def _counted(self, ask: Ask, future: Future[Answer]) -> Exchange:
        """Waits for an answer, counts it, and keeps it in the history; PeerGoneError if it is."""
        answer = future.result()
        self.report.asked += 1
        self.history.note(ask, answer)
        if answer.late:
            self._hangs[region(ask)] += 1
        self.report.unsupported += answer.unsupported is not None
        self.progress(self._stage, self.report.asked)
        return ask, answer

    def _answer_to(self, ask: Ask) -> Answer:
        """Asks at once, even what was asked before; OutOfTimeError at the end of the stage."""
        self._in_time()
        return self._counted(ask, self._worker.submit(self.peer.ask, ask))[1]

    def _in_time(self) -> None:
        """OutOfTimeError from the end of the stage on; the oracle's work ends there too."""
        self.oracle.until = self._ends_at(self._stage)
        if self.clock() >= self.oracle.until:
            raise OutOfTimeError

    # --- stages

    def _know(self) -> None:
        """Asks what a baseline knows, as far as the peer offers it."""
        for ask, answer in self._stream(filter(self.hello.offers, self.known)):
            self.report.again[ask] = self.judge.judge(ask, answer)
            self.points += [(ask, answer)] if ask.kind == "rdp" and len(ask.parts) == 1 else []
            self.clusters.note(self.report.again[ask], self._probe)

    def _remembering(self) -> None:
        """Asks near twins in one process, and the same questions backwards in a new one."""
        chosen = questions.of_every_kind(self.history.answers)
        self._fill_kinds()
        rows = questions.of_every_kind(self.history.answers, questions.row_of)
        for ask in rows[: _TWINS * len(self.hello.supports)]:
            self._judged([ask, *questions.twins(ask)])
        kinds = questions.of_every_kind(
            self.history.answers, lambda ask: (ask.kind, questions.row_of(ask))
        )
        for ask in kinds[: len(self.judge.kinds)]:
            self._judged([ask, *questions.others(ask)])
        mixed = questions.of_every_kind(self.history.answers, lambda ask: ask.kind, many=True)
        for ask in mixed[: _MIXED * len(self.composed)]:
            self._judged([ask, *questions.others(ask)])
        for finding in self.history.backwards(chosen[:_BACKWARDS]):
            self.clusters.note(finding, lambda ask: None)  # it is about several questions

    def _fill_kinds(self) -> None:
        """Asks of every row and kind until `per_kind` are judged, at most three times as many."""
        for row, kind in self.judge.kinds:
            asks = questions.of_kind(self.hello, row, kind, self.seed)
            for ask in islice(asks, 3 * self.extent.per_kind):
                if self.judge.count(row, kind).judged >= self.extent.per_kind:
                    break
                if not self._hopeless(ask):
                    self.clusters.note(self._probe(ask), self._probe)

    def _search(self) -> None:
        """Asks where training lies."""
        before = self.report.asked
        try:
            self._judged(questions.training(self.hello, self.extent, self.seed))
        finally:
            self.report.searched = self.report.asked - before

    def _judged(self, asks: Iterable[Ask], kept: list[Exchange] | None = None) -> None:
        """Asks what the peer offers of it, and notes the findings; the answers are `kept`."""
        for ask, answer in self._stream(filter(self.hello.offers, asks)):
            if kept is not None:
                kept.append((ask, answer))
            for finding in self.judge.every(ask, answer):
                self.clusters.note(finding, self._probe)

    def _compositions(self) -> None:
        """Asks plain questions, each in every other way of writing it, and of its single runs."""
        for base in questions.compositions(self.hello, self.extent, self.seed):
            self.clusters.note(self._probe(base), self._probe)
            for variant in questions.variants(self.hello, base, self._sizes):
                if self._hopeless(variant):
                    continue
                finding = self._variant(variant)
                self.clusters.note(
                    finding, self._variant if finding and finding.ask.how else self._probe
                )
            self.clusters.note(self._sum(base), self._sum)

    def _refine(self) -> None:
        """Asks around the worst of each kind, and on the other side of what is not too small."""
        chance = random.Random(self.seed + 3)  # noqa: S311
        kinds = "unsound", "loose", "zero", "negative", "wrong-formula"
        numeric = [c for c in self.clusters.ranked() if c.worst.verdict in kinds]
        for cluster in [c for c in numeric if not c.worst.ask.how][:_REFINED]:
            worst = cluster.worst.ask
            self._judged(nearby(worst, chance) for _ in range(self.extent.refinements))
        # What is too large here, or differs, may be too small on the other side.
        for cluster in [c for c in self.clusters.ranked() if not c.worst.below][:_REFINED]:
            self._judged(other_side(cluster.worst.ask))

    def _simplify(self) -> None:
        """Confirms the worst of each kind in a new process, and makes its question simple."""
        defects = grouped(self.clusters.ranked())
        first = [defect.worst for defect in defects]
        rest = [c for defect in defects for c in defect.clusters if c is not defect.worst]
        changed = self.history.changed(first[:_STARTS], [*first[_STARTS:], *rest])
        most = self.report.asked + self.extent.probes
        for cluster in [*first, *rest][: self.extent.simplified]:
            self._in_time()
            if self.report.asked >= most:
                break
            if cluster.worst.verdict == "slow":
                ask = cluster.worst.ask
                finding = self.judge.judge(ask, self._answer_to(ask))
                if finding is None or finding.verdict != "slow":
                    self.clusters.drop(cluster)  # the machine was busy once
            elif id(cluster) in changed:
                was, alone = changed[id(cluster)]
                simple = self.history.inconsistency(cluster.worst, was, alone)
                cluster.simple = replace(simple, before=self.history.culprit(was[0], alone))
            else:
                edges = _EDGES if cluster in first[:_BOUNDED] else 0
                worst, probe = cluster.worst, cluster.probe
                cluster.simple = simplest(worst, probe, edges=edges, right=self.history.is_right)

    def _confirm(self) -> None:
        """Asks simpler questions again in a new process; one that shows nothing is dropped."""
        self.peer.fresh()
        simpler = [(c, c.simple) for c in self.clusters.ranked() if c.simple and c.is_simpler]
        for cluster, _ in simpler:
            cluster.simple = None
        for cluster, simple in simpler:
            again = cluster.probe(simple.ask)
            if again is not None and again.verdict == simple.verdict:
                cluster.simple = simple

    # --- single questions

    def _probe(self, ask: Ask) -> Finding | None:
        """The finding at one question."""
        return self.judge.judge(ask, self._answer_to(ask)) if self.hello.offers(ask) else None

    def _variant(self, ask: Ask) -> Finding | None:
        """Judges one expression written another way against the usual way, asking both.

        The usual way's own finding, or None, where they agree, or where it is wrong alone or as
        much; else "inconsistent", or "exception" where only this way fails. None where a number is
        missing, or grids may move both of what is right.
        """
        usual = ask.built()
        if not (questions.sensible(ask) and self.hello.offers(ask)):
            return None
        second, first = self._answer_to(ask), self._answer_to(usual)
        if first.unsupported is not None or second.unsupported is not None or second.late:
            return None
        if second.error is not None and first.error is None:
            return Finding("exception", ask, second, note=second.error, other=(usual, first))
        if first.value is None or second.value is None:
            return None
        if self.history.agree(first, second):
            return self.judge.judge(usual, first)
        sides = [self.judge.judge(usual, first), self.judge.judge(ask, second)]
        if sides[0] is not None and (sides[1] is None or self._as_good(sides[0], sides[1])):
            return sides[0]  # it is the usual way that is wrong
        if sides == [None, None] and self._discretizes(ask):
            return None
        way = ", ".join(f"{key} = {value}" for key, value in ask.how)
        note = f"the usual way gives {answer_text(first)}, {way} gives {answer_text(second)}"
        return Finding(
            "inconsistent",
            ask,
            second,
            self.oracle.truth(ask),
            below=any(side is not None and side.below for side in sides),
            note=note,
            other=(usual, first),
        )

    def _discretizes(self, ask: Ask) -> bool:
        """Is it ε or δ of what is no RDP, on a grid that the way of writing may move?"""
        return ask.kind != "rdp" and self.hello.conversion in (None, "none")

    def _as_good(self, usual: Finding, other: Finding) -> bool:
        """Are both ε or δ of one verdict, and, where they come from RDP, equal to 1 %?"""
        if usual.ask.kind == "rdp" or usual.verdict != other.verdict:
            return False
        return self._discretizes(usual.ask) or self.history.agree(
            usual.answer, other.answer, LOOSE - 1
        )

    def _sum(self, ask: Ask) -> Finding | None:
        """Judges RDP of a composition against its single runs; None if one, or not offered."""
        is_single = sum(part.count for part in ask.parts) == 1
        if ask.kind != "rdp" or is_single or not self.hello.offers(ask):
            return None
        runs = [(single, self._answer_to(single)) for single in questions.sums(ask)]
        return sum_law(ask, self._answer_to(ask), runs, self.allowance)


# --- the whole


#: Seconds of work for one answer: the slowest right peers take two.
_TIMEOUT = 10.0
#: The most points that a report plots: more would hide each other.
_MAX_POINTS = 5000


def verify(
    command: Sequence[str],
    extent: Extent = FULL,
    seed: int = 0,
    timeout: Numeric = _TIMEOUT,
    progress: Callable[[str, int], None] = lambda stage, count: None,
    allowance: Numeric = ALLOWANCE,
    known: Callable[[str], Iterable[Ask]] = lambda peer: (),
) -> Report:
    """Returns a Report on the program that `command` runs; or raises PeerError, ProtocolError.

    One `extent` (FULL or QUICK) and `seed` ask the same questions again. An answer may take
    `timeout` seconds of work, and be off the truth by the share 0 < `allowance` < 1; `progress` is
    called after each. What is `known` of a peer, by its name, is asked first.
    """
    if not isinstance(extent, Extent):
        raise DomainError(f"verify, extent: found {echo(extent)}, needed FULL or QUICK")
    if not callable(progress):
        raise DomainError(f"verify, progress: found {echo(progress)}, needed a function")
    probability(allowance, "verify, allowance")
    allowed = rational(allowance, "verify, allowance")
    seed, begun = whole(seed, "verify, seed"), time.monotonic()
    with Peer(command, timeout) as peer:
        session = Session(peer, extent, seed, progress, allowed, tuple(known(peer.hello.peer)))
        session.run()
    report, judge = session.report, session.judge
    report.seconds, report.worked = time.monotonic() - begun, session.clock()
    report.clusters = session.clusters.ranked()
    report.answered, report.judged = len(judge.answered), len(judge.judged)
    report.undecided, report.within_rounding = len(judge.undecided), len(judge.within_rounding)
    report.worst_within = judge.worst_within
    report.kinds = [judge.count(*kind) for kind in judge.kinds]
    report.kinds += [judge.count_composed(kind) for kind in session.composed]
    points = (_point(session, *exchange) for exchange in session.points[:_MAX_POINTS])
    report.points = [point for point in points if point is not None]
    return report


def _point(session: Session, ask: Ask, answer: Answer) -> PlottedError | None:
    """Computes how far an RDP answer is from the truth; None where a share says nothing."""
    truth = session.oracle.known(ask)
    if truth is None or answer.finite is None or truth.upper in (0, math.inf) or not truth.lower:
        return None
    end = truth.lower if answer.finite < truth.lower else truth.upper
    inside = truth.lower <= answer.finite <= truth.upper
    try:
        error = 0.0 if inside else float(answer.finite / Fraction(end) - 1)
    except OverflowError:
        return None
    unit = Fraction(math.ulp(nearest_float(Fraction(end))))
    ulps = 0.0 if inside else nearest_float(abs(answer.finite - Fraction(end)) / unit)
    return PlottedError(ask, error, ulps)
