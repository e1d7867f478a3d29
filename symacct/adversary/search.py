"""The search: climbs over every scheme and order in turn, and proofs of what they find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import cycle

import numpy as np

from symacct.adversary.candidates.decide import decide
from symacct.adversary.candidates.outcome import Trial
from symacct.adversary.climb import Found, Ruler, Task, climb
from symacct.adversary.schemes.scheme import Scheme
from symacct.adversary.schemes.schemes import attacking
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.theorem_registry import Theorem

_WHOLE = (2, 3, 4, 5, 6, 8, 12)
_REAL = (1, Fraction(5, 4), Fraction(3, 2), 2, Fraction(5, 2), 3, Fraction(9, 2), 8)
_ROUNDS = 16  # generations of one climb
_DENOMINATORS = (10, 30, 100, 1000, 10**4, 10**6)
_VIOLATION = 1e-9  # a float64 score above which a proof is tried at once
_CHECKED = 24  # candidates taken from the search to the proof


def tasks(theorem: Theorem, chosen: tuple[Scheme, ...] | None) -> Iterator[Task]:
    """Every scheme that makes mechanisms the theorem speaks of, at every order it speaks of."""
    sides = {Kind.EXACT: (Kind.UPPER, Kind.LOWER)}.get(theorem.kind, (theorem.kind,))
    for scheme in chosen if chosen is not None else attacking(theorem):
        side = theorem.kind if chosen is not None else scheme.side
        orders = scheme.orders or (_WHOLE if theorem.orders.whole else (*_REAL, INFINITY))
        asked = [
            Task(theorem, scheme, alpha, side) for alpha in orders if theorem.orders.cover(alpha)
        ]
        if side in sides and asked and asked[0].suitable:
            yield from asked


class Search:
    """Climbs over all tasks in turn until the budget is spent or a violation is proved."""

    def __init__(self, tasks: list[Task], budget: int, rng: np.random.Generator) -> None:
        self.schemes = _in_turn(tasks[i] for i in rng.permutation(len(tasks)))
        self.tasks = max(1, len(tasks))
        self.budget = budget
        self.rng = rng
        self.rulers: dict[Task, Ruler] = {}
        self.tried: dict[str, int] = {}
        self.sides: set[Kind] = set()
        self.found: list[tuple[Task, Found]] = []
        self.witness: Trial | None = None
        self.closest: Trial | None = None
        self.tie: Trial | None = None
        self.nearest: dict[Order, Trial] = {}

    def run(self) -> None:
        spent, turn = 0, 0
        while self.schemes and self.witness is None:
            if spent >= self.budget and turn >= len(self.schemes):
                break
            spent += self._take_turn(next(self.schemes[turn % len(self.schemes)]))
            turn += 1
        if self.witness is None:
            self.found.sort(key=lambda pair: -pair[1].score)
            for task, found in self._worth_deciding():
                self._settle(task, found)

    def _take_turn(self, task: Task) -> int:
        """One climb; what it counts of the budget."""
        if task not in self.rulers:
            self.rulers[task] = Ruler(task)
        ruler = self.rulers[task]
        # Fewer generations where the budget would not reach every task.
        rounds = max(4, min(_ROUNDS, self.budget // (64 * self.tasks)))
        found, tried = climb(ruler, self.rng, rounds)
        self.tried[task.scheme.name] = self.tried.get(task.scheme.name, 0) + tried
        if found is not None:
            self.sides.add(task.side)
            self.found.append((task, found))
            if found.score > _VIOLATION:
                self._settle(task, found)
        return tried if ruler.vectorised else task.scheme.slow_cost * tried

    def _worth_deciding(self) -> list[tuple[Task, Found]]:
        """The nearest candidates over all, and the nearest of each order."""
        nearest: dict[tuple[Order, str], tuple[Task, Found]] = {}
        for task, found in self.found:
            nearest.setdefault((task.alpha, task.scheme.name), (task, found))
        chosen = {id(found): (task, found) for task, found in self.found[:_CHECKED]}
        chosen |= {id(found): (task, found) for task, found in nearest.values()}
        return list(chosen.values())

    def _settle(self, task: Task, found: Found) -> None:
        """Decide the candidate, from the smallest fractions on where a violation is in sight."""
        hopeful = found.score > _VIOLATION
        for denominator in _DENOMINATORS if hopeful else _DENOMINATORS[-1:]:
            trial = decide(task, found.candidate.one(0, denominator))
            if trial is None:
                continue
            if trial.verdict == "refuted":
                self.witness = trial
                return
            known = self.nearest.get(task.alpha)
            if known is None or _gap(trial) < _gap(known):
                self.nearest[task.alpha] = trial
            if trial.verdict == "tie":
                self.tie = self.tie or trial
            elif self.closest is None or _gap(trial) < _gap(self.closest):
                self.closest = trial


def _in_turn(tasks: Iterable[Task]) -> list[Iterator[Task]]:
    """The tasks of each scheme, over and over."""
    by_scheme: dict[str, list[Task]] = {}
    for task in tasks:
        by_scheme.setdefault(task.scheme.name, []).append(task)
    return [cycle(same) for same in by_scheme.values()]


def _gap(trial: Trial) -> Number:
    """How far the bound is from the truth: the ratio that says more, above or below 1."""
    ratio = trial.shown_ratio
    if ratio is None:
        return INFINITY
    return max(ratio.upper - 1, 1 - ratio.lower)
