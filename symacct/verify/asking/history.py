"""Answers that depend on what was asked before: found by asking a new process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

from symacct.kernel.answer import nearest_float
from symacct.verify.judging.verdict import CHANCE, SYMPTOM, Finding, Judge
from symacct.verify.peer.protocol import Answer, Ask, Exchange
from symacct.verify.reporting.defects import Cluster, in_common

#: Earlier questions tried for one answer that changed, and in a run: each starts the peer anew.
_CULPRITS, _ALL_CULPRITS = 12, 40
#: Repetitions of a question in each of two processes: a chance that is rarer is taken for a memory.
_REPEATED = 5


class History:
    """Records every question with its first answer; finds answers that depend on earlier ones."""

    def __init__(
        self, judge: Judge, ask: Callable[[Ask], Answer], fresh: Callable[[], None]
    ) -> None:
        self._judge, self._ask, self._fresh = judge, ask, fresh
        #: Every question with its first answer, in the order that they were asked.
        self.answers: dict[Ask, Answer] = {}
        self._culprits_left = _ALL_CULPRITS
        self._random: bool | None = None

    def note(self, ask: Ask, answer: Answer) -> None:
        """Remember the first answer to a question; later ones are dropped."""
        self.answers.setdefault(ask, answer)

    def is_right(self, ask: Ask) -> bool:
        """Is there an answer that is right, for a reason that only its formula gives?

        False of what was not asked yet, or has no truth.
        0 where the truth is 0, ∞ where it is beyond float64, and the most that there is (δ = 1, the
        rate 1) are right whatever formula gave them.
        """
        answer = self.answers.get(ask)
        if answer is None or not answer.finite or self._judge.judge(ask, answer) is not None:
            return False
        truth = self._judge.oracle.truth(ask)
        clamped = answer.finite == 1 and ask.kind in ("delta", "rate", "advantage")
        judged = (ask, answer.value) in self._judge.judged
        return judged and truth is not None and truth.lower > 0 and not clamped

    def agree(self, a: Answer, b: Answer, allowance: Fraction | None = None) -> bool:
        """Are the two values equal but for a share (the judge's allowance) of the larger?

        Answers without a value agree, whatever their errors; ∞ and nan each with itself alone.
        """
        share = self._judge.allowance if allowance is None else allowance
        if a.finite is None or b.finite is None:
            return a.finite is b.finite and str(a.value) == str(b.value)
        return abs(a.finite - b.finite) <= share * max(abs(a.finite), abs(b.finite))

    def backwards(self, asks: Iterable[Ask]) -> list[Finding]:
        """Asks what had a value again, backwards in a new process: at most two findings."""
        chosen = [ask for ask in asks if self.answers[ask].value is not None]
        self._fresh()
        now = [(ask, self._ask(ask)) for ask in reversed(chosen)]
        changed = [(ask, a) for ask, a in now if not self.agree(a, self.answers[ask])]
        return [self._traced(ask, (self.answers[ask], again)) for ask, again in changed[:2]]

    def _traced(self, ask: Ask, two: tuple[Answer, Answer]) -> Finding:
        """Describes two unlike answers, held against a third of a process asked nothing else."""
        self._fresh()
        alone = self._ask(ask)
        later = next((answer for answer in two if not self.agree(answer, alone)), two[0])
        finding = self._judge.judge(ask, later) or Finding("inconsistent", ask, later)
        return replace(
            self.inconsistency(finding, (ask, later), alone), before=self.culprit(ask, alone)
        )

    def changed(
        self, first: list[Cluster], rest: list[Cluster]
    ) -> dict[int, tuple[Exchange, Answer]]:
        """Collects ((ask, answer then), answer now) by id(cluster) where a new process differs.

        One process for each of the first, one for all the rest; slow findings are not asked again.
        Sets `alone` of each cluster, True for those of the first that did not change.
        """
        changes = {}
        self._fresh()
        for cluster in [*first, *rest]:
            if cluster.worst.verdict == "slow":
                continue
            if cluster in first:
                self._fresh()
            change = self._otherwise(cluster.worst)
            cluster.alone = change is None and cluster in first
            if change is not None:
                changes[id(cluster)] = change
        return changes

    def _otherwise(self, finding: Finding) -> tuple[Exchange, Answer] | None:
        """((ask, answer then), answer now) of the first of its questions that differs, or None."""
        two = [finding.other] if finding.other and finding.verdict == SYMPTOM else []
        for ask, answer in [(finding.ask, finding.answer), *two]:
            if not self.agree(again := self._ask(ask), answer):
                return (ask, answer), again
        return None

    def by_chance(self, ask: Ask) -> bool:
        """Has one question, repeated in a new process, other answers in another?

        Only the first call asks, and its answer stands for all questions of the run.
        What only remembers, or counts what it was asked, answers both processes alike.
        """
        if self._random is None:
            self._random = self._repeated(ask) != self._repeated(ask)
        return self._random

    def _repeated(self, ask: Ask) -> list[Fraction | str | None]:
        """The answers of a new process to one question, asked again and again."""
        self._fresh()
        values = [self._ask(ask).value for _ in range(_REPEATED)]
        # NaN is not equal to itself; a fraction may have too many digits to be written.
        return [str(value) if isinstance(value, float) else value for value in values]

    def inconsistency(self, finding: Finding, was: Exchange, alone: Answer) -> Finding:
        """Makes the finding "inconsistent", by chance (the law CHANCE) or by the peer's memory."""
        ask, later = was
        if self.by_chance(ask):
            law = CHANCE
            note = f"two new processes, asked this {_REPEATED} times each, give different answers"
        else:
            law = ""
            first, second = answer_text(alone), answer_text(later)
            note = f"asked first, the peer answers {first}, and later {second}"
        return replace(
            finding, verdict="inconsistent", ask=ask, answer=later, note=note, other=(ask, alone),
            law=law, truth=self._judge.oracle.truth(ask),
        )  # fmt: skip

    def culprit(self, ask: Ask, alone: Answer) -> Ask | None:
        """Searches an earlier question after which the answer is not that when asked `alone`.

        Those most like it first; None where none of _CULPRITS is, or none of those that the run's
        _ALL_CULPRITS leave, and where answers change by chance.
        """
        if self._random:
            return None
        asks = [a for a in self.answers if a != ask]
        for earlier in sorted(asks, key=lambda a: -in_common(a, ask))[:_CULPRITS]:
            if not self._culprits_left:
                break
            self._culprits_left -= 1
            self._fresh()
            self._ask(earlier)
            if not self.agree(self._ask(ask), alone):
                return earlier
        return None


def answer_text(answer: Answer) -> str:
    """The value as the nearest float's text, or the error, "None" where there is neither."""
    return repr(nearest_float(answer.value)) if answer.value is not None else str(answer.error)
