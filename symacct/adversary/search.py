"""The search climbs in float64 over every scheme and order, and decides in balls what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import cycle

import numpy as np
from flint import arb

from symacct.adversary.candidates import ARRAYS, Candidates
from symacct.adversary.outcome import Trial
from symacct.adversary.schemes import attacking
from symacct.adversary.schemes.scheme import Scheme
from symacct.kernel.answer import Enclosure, from_ball
from symacct.kernel.arithmetic import BALL, Number
from symacct.kernel.arithmetic.ball import ball, doubled, precision
from symacct.kernel.claims import Claim, Kind
from symacct.kernel.errors import NoNumberError, SymacctError
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import Theorem, always

# --- climbs
#
# Random candidates, then hill climbing on truth against bound, in float64.


@dataclass(frozen=True)
class SearchSteering:
    """Where the search looks, and how long: no verdict rests on any of it."""

    #: A generation has this many candidates where the bound is evaluated on arrays of them.
    population: int = 64
    #: This many of the best are parents of the next generation: more than one peak is climbed.
    parents: int = 8
    #: The logarithms of laws are drawn with one of these standard deviations: alike or far apart.
    spreads: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0, 4.0)
    #: No outcome has a smaller probability, so that moments of high orders stay within float64.
    rarest: float = 1e-6
    #: Truths, in nats, below one of these are left aside, one a climb: else every climb would end
    #: where all divergences are tiny.
    floors: tuple[float, ...] = (1e-9, 1e-9, 1e-4, 1e-2, 0.3)
    #: Balls of this many bits are climbed where no bound is evaluated on arrays.
    bits: int = 64
    #: The first proof has this many bits, which are doubled until truth and bound are apart.
    first_bits: int = 128
    #: A trial shows its numbers to this many significant digits.
    digits: int = 15
    #: A statement about whole orders is attacked at those of these orders that it speaks of.
    whole_orders: tuple[Order, ...] = (2, 3, 4, 5, 6, 8, 12)
    #: A statement about real orders is attacked at those of these orders that it speaks of.
    real_orders: tuple[Order, ...] = (
        1, Fraction(5, 4), Fraction(3, 2), 2, Fraction(5, 2), 3, Fraction(9, 2), 8, INFINITY,
    )  # fmt: skip
    #: A climb has this many generations, over which steps fall to a hundredth.
    rounds: int = 16
    #: A violation in sight is tried with small fractions first, which a reader can check by hand.
    denominators: tuple[int, ...] = (10, 30, 100, 1000, 10**4, 10**6)
    #: A proof is tried at once where the logarithm of truth over bound is above this: more than
    #: float64 loses of most truths.
    violation: float = 1e-9
    #: The score of a truth of ∞ above a finite bound: more than any logarithm of a float64 ratio.
    clearest: float = 2000.0
    #: This many of the best candidates of all climbs are decided, beside the nearest of each order.
    decided: int = 24


#: The numbers of the search, which no proof of a violation rests on.
STEERING = SearchSteering()


@dataclass(frozen=True)
class Task:
    """One statement, one scheme, one order, one side."""

    theorem: Theorem
    scheme: Scheme
    alpha: Order
    side: Kind

    @property
    def suitable(self) -> float:
        """The theorem applies to this share of a few candidates, from 0 to 1."""
        if self.theorem.applies is always or not self._asks:
            return 1
        holds = [self._holds_for(operation) for operation in _operations(self.scheme)]
        return sum(holds) / len(holds)

    def applies(self, c: Candidates) -> bool:
        """Does the theorem say that it applies to the operation on this candidate?"""
        return not self._asks or self._holds_for(self.scheme.operation(c))

    @property
    def _asks(self) -> bool:
        """Is the theorem asked whether it applies? Not where the scheme checks its condition."""
        return self.theorem.reads != "itself" and not self.scheme.by_condition

    def _holds_for(self, operation: Node | None) -> bool:
        """Does the theorem apply to the operation? It does to one that has no conditions (None)."""
        return operation is None or self.theorem.why_not(operation, self.alpha) is None

    def balls(self, c: Candidates) -> tuple[arb, arb] | None:
        """Enclose (truth, bound) of the exact candidate; None where there is nothing to compare.

        That is so where the theorem does not apply, the bound is no number, or both are 0.
        """
        if not self.applies(c):
            return None
        bound = self.bound(c)
        if not bound.is_finite() and not BALL.is_infinite(bound):
            return None
        truth = self.scheme.truth(c, self.alpha)
        return None if truth == 0 and bound == 0 else (truth, bound)

    def bound(self, c: Candidates) -> arb:
        """Enclose the theorem's own bound on the candidate's curve in a ball."""
        theorem, premise, curve = self.theorem, self.scheme.premise(c), Evaluation(BALL).curve
        curves = tuple(map(curve, premise)) if isinstance(premise, tuple) else curve(premise)
        parameters = self.scheme.parameters(c, None if theorem.takes_exact else BALL)
        value: arb = theorem.bound(BALL, curves, self.alpha, **parameters, **dict(theorem.options))
        return value


@dataclass
class Peak:
    """The best candidate of one climb, in float64, and its score."""

    score: float
    candidate: Candidates


def climb(ruler: Ruler, rng: np.random.Generator, rounds: int) -> tuple[Peak | None, int]:
    """Climb for `rounds` >= 1 generations; return the best of all candidates, and their number.

    The climb draws its floor, which it leaves in the ruler, its number of outcomes, 2 to 4, and its
    first points; the best 8 of all generations are the parents of the next one. None stands for no
    candidate with a score, as where none is admitted or each truth is at most the floor.
    """
    scheme, ruler.floor = ruler.scheme, float(rng.choice(STEERING.floors))
    size = STEERING.population if ruler.vectorised else scheme.slow_population
    sizes = scheme.sizes(int(rng.integers(2, 5)))
    points, spread = _first_points(scheme, sizes, size, rng)
    best, best_scores = points[:0], np.empty(0)
    tried = 0
    for generation in range(rounds):
        if generation:
            parents = best[rng.integers(0, len(best), size)]
            step = spread * 0.01 ** (generation / rounds)
            # Few coordinates move at a time where there are many.
            moved = rng.random(parents.shape) < max(0.3, 3 / parents.shape[1])
            points = parents + step * moved * rng.normal(size=parents.shape)
        scores = ruler(_decoded(scheme, sizes, points))
        tried += len(points)
        pool, pool_scores = np.vstack([best, points]), np.concatenate([best_scores, scores])
        order = np.argsort(-pool_scores, kind="stable")[: STEERING.parents]
        best, best_scores = pool[order], pool_scores[order]
    if not np.isfinite(best_scores[0]):
        return None, tried
    candidate = _decoded(scheme, sizes, best[:1])
    return Peak(float(best_scores[0]), candidate), tried


def _first_points(
    scheme: Scheme, sizes: tuple[int, ...], count: int, rng: np.random.Generator
) -> tuple[Number, float]:
    """Draw points around a centre that laws of equal size share, and return their spread."""
    spread = float(rng.choice(STEERING.spreads))
    centre = 1.5 * rng.normal(size=max(sizes))
    middle = np.concatenate([*(centre[:size] for size in sizes), np.zeros(len(scheme.numbers))])
    width = np.concatenate([np.full(sum(sizes), spread), np.full(len(scheme.numbers), 2.0)])
    return middle + width * rng.normal(size=(count, len(middle))), spread


def _decoded(scheme: Scheme, sizes: tuple[int, ...], points: Number) -> Candidates:
    """Read points as candidates: laws by softmax, numbers on their logarithmic scale."""
    laws, start = [], 0
    for size in sizes:
        block = points[:, start : start + size]
        weights = np.exp(block - np.max(block, axis=1, keepdims=True))
        weights = np.maximum(weights / np.sum(weights, axis=1, keepdims=True), STEERING.rarest)
        laws.append(weights / np.sum(weights, axis=1, keepdims=True))
        start += size
    numbers = {}
    for i, (name, low, high) in enumerate(scheme.numbers):
        share = 1 / (1 + np.exp(-points[:, start + i : start + i + 1]))
        numbers[name] = np.exp(np.log(low) + share * (np.log(high) - np.log(low)))
    return Candidates(tuple(laws), numbers)


class Ruler:
    """Scores candidates: log of truth over bound, or the reverse for a lower bound.

    A score above 0 is a violation as far as float64 tells; a proof decides.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.theorem, self.scheme, self.alpha = task.theorem, task.scheme, task.alpha
        self.floor = STEERING.floors[0]
        self.sign = 1 if task.side is Kind.UPPER else -1
        #: Can the bound be evaluated on arrays of candidates? Else one by one, in balls.
        self.vectorised = (
            not task.theorem.takes_exact and task.suitable == 1 and self._runs_on_arrays()
        )

    def _runs_on_arrays(self) -> bool:
        """Can truth and bound be evaluated on arrays? It is tried on three samples.

        Raises NoNumberError, the error of a user's function that gave no number.
        """
        with np.errstate(all="ignore"):
            try:
                return bool(self.values(samples(self.scheme, 3))[1].shape == (3,))
            except NoNumberError:
                raise
            except (TypeError, ValueError, AttributeError, KeyError, NotImplementedError):
                return False

    def __call__(self, c: Candidates) -> Number:
        """Score each candidate by the log of truth over bound; −∞ where one is not admitted.

        The sign is such that a violation has a score above 0.
        """
        if not self.vectorised:
            return np.array([self._in_balls(c, row) for row in range(len(c.laws[0]))])
        with np.errstate(all="ignore"):
            truth, bound = self.values(c)
            score = self._compared(truth, bound)
            admitted = np.asarray(self.scheme.admits(c, self.alpha))
            return np.where(admitted & np.isfinite(score), score, -np.inf)

    def values(self, c: Candidates) -> tuple[Number, Number]:
        """Compute truth and bound of each candidate, in float64."""
        parameters = self.scheme.parameters(c, ARRAYS)
        options = dict(self.theorem.options)
        bound = self.theorem.bound(
            ARRAYS, self.scheme.array_curves(c), self.alpha, **parameters, **options
        )
        truth = self.scheme.array_truth(c, self.alpha)  # objects where a fraction is the order
        return np.asarray(truth, dtype=float), np.asarray(bound, dtype=float)

    def _compared(self, truth: Number, bound: Number) -> Number:
        """sign · (log g(truth) − log g(bound)), g(x) = e^{(α−1)x} − 1 for a scheme by moments

        It is −∞ for a truth that is not above the floor. At order ∞ a truth of ∞ above a finite
        bound has the highest score; at another order ∞ is what float64 makes of a large truth.
        """
        factor = 1.0
        is_clearest = np.isposinf(truth) & np.isfinite(bound)
        if self.alpha != INFINITY or self.sign < 0:
            is_clearest = np.zeros_like(is_clearest)
        if self.scheme.by_moments and self.alpha not in (1, INFINITY):
            factor = float(self.alpha) - 1
            truth, bound = np.expm1(factor * truth), np.expm1(factor * bound)
        # A bound that is not positive is the clearest violation.
        known = truth > self.floor
        gap = np.log(truth) - np.log(np.maximum(bound, 1e-30))
        return np.where(is_clearest, STEERING.clearest, np.where(known, self.sign * gap, -np.inf))

    def _in_balls(self, c: Candidates, row: int) -> float:
        """Score one candidate, rounded to fractions, by the middles of balls of few bits.

        It is −∞ where there is no score, or an error of ours.
        """
        candidate = c.rounded(row, 10**6)
        try:
            if not self.scheme.surely_admits(candidate, self.alpha):
                return -np.inf
            with precision(STEERING.bits), np.errstate(all="ignore"):
                pair = self.task.balls(candidate)
                if pair is None:
                    return -np.inf
                truth, bound = (np.array(float(x.mid())) for x in pair)
                score = float(self._compared(truth, bound))
        except NoNumberError:  # of every candidate
            raise
        except (SymacctError, OverflowError, ZeroDivisionError):
            return -np.inf
        return score if np.isfinite(score) else -np.inf


@lru_cache(64)
def _operations(scheme: Scheme) -> list[Node | None]:
    """Make the operation on each of a few candidates, of which every statement is asked."""
    drawn = [samples(scheme, 4, seed) for seed in range(8)]
    return [scheme.operation(c.rounded(i, 10**4)) for c in drawn for i in range(4)]


def samples(scheme: Scheme, count: int, seed: int = 0) -> Candidates:
    """Draw a few candidates, always the same ones for a seed."""
    sizes = scheme.sizes(2)
    points, _ = _first_points(scheme, sizes, count, np.random.default_rng(seed))
    return _decoded(scheme, sizes, points)


# --- one exact candidate, decided in balls of growing precision


def decide(task: Task, c: Candidates) -> Trial | None:
    """Decide the exact candidate in balls of growing precision.

    Where the last precision does not decide, it is a tie. None stands for a candidate that the
    statement does not speak of, or where an error of ours stops the evaluation.
    """
    scheme = task.scheme
    if not scheme.surely_admits(c, task.alpha) or not task.applies(c):
        return None
    for bits in doubled(min(STEERING.first_bits, scheme.last_bits), scheme.last_bits):
        with precision(bits):
            try:
                pair = task.balls(c)
            except SymacctError:
                return None
            verdict = "" if pair is None else _verdict(*pair, task.side)
            if pair is not None and (verdict or bits == scheme.last_bits):
                return _trial(task, c, verdict or "tie", bits, *pair)
    return None


def _verdict(truth: arb, bound: arb, side: Kind) -> str:
    """Say what is proved: "refuted" or "holds" where the balls are apart, "" where they are not."""
    low, high = (truth, bound) if side is Kind.UPPER else (bound, truth)
    return "refuted" if low > high else "holds" if low < high else ""


def _trial(task: Task, c: Candidates, verdict: str, bits: int, truth: arb, bound: arb) -> Trial:
    """Make the trial, which states truth, bound and their ratios as enclosures."""
    scheme, alpha = task.scheme, task.alpha
    exact = Claim(Kind.EXACT, task.theorem.adjacency)

    def enclosed(x: arb, claim: Claim = exact) -> Enclosure:
        return from_ball(x, claim, STEERING.digits, True, signed=True)

    def divided(a: arb, b: arb) -> Enclosure | None:
        x = a / b
        return enclosed(x) if x.is_finite() else None

    ratio, moments = divided(bound, truth), None
    if scheme.by_moments and alpha not in (1, INFINITY):
        lam = ball(Fraction(alpha)) - 1
        moments = divided((lam * bound).expm1(), (lam * truth).expm1())
    return Trial(
        scheme=scheme.name,
        alpha=alpha,
        laws=scheme.laws(c),
        numbers=tuple((name, c.number(name)) for name in c.numbers),
        truth=enclosed(truth),
        bound=enclosed(bound, task.theorem.claim),
        verdict=verdict,
        bits=bits,
        ratio=ratio,
        moment_ratio=moments,
    )


# --- climbs over every scheme and order in turn, and proofs of what they find


def tasks(theorem: Theorem, chosen: tuple[Scheme, ...] | None) -> Iterator[Task]:
    """Yield a task for every scheme about the theorem, or every one chosen, at each of its orders.

    An exact theorem is attacked from both sides. A scheme none of whose few candidates the theorem
    applies to is left out.
    """
    sides = {Kind.EXACT: (Kind.UPPER, Kind.LOWER)}.get(theorem.kind, (theorem.kind,))
    for scheme in chosen if chosen is not None else attacking(theorem):
        side = theorem.kind if chosen is not None else scheme.side
        orders = scheme.orders or (
            STEERING.whole_orders if theorem.orders.whole else STEERING.real_orders
        )
        asking = [Task(theorem, scheme, alpha, side) for alpha in orders if alpha in theorem.orders]
        if side in sides and asking and asking[0].suitable:
            yield from asking


class Search:
    """Climbs over all tasks in turn until the budget is spent or a violation is proved.

    `budget` counts candidates, those evaluated one by one several times. The results stand in
    `witness`, `closest`, `tie` and `nearest`.
    """

    def __init__(self, tasks: list[Task], budget: int, rng: np.random.Generator) -> None:
        self.schemes = _in_turn(tasks[i] for i in rng.permutation(len(tasks)))
        self.tasks = max(1, len(tasks))
        self.budget = budget
        self.rng = rng
        self.rulers: dict[Task, Ruler] = {}
        self.tried: dict[str, int] = {}
        self.sides: set[Kind] = set()
        self.peaks: list[tuple[Task, Peak]] = []
        self.witness: Trial | None = None
        self.closest: Trial | None = None
        self.tie: Trial | None = None
        self.nearest: dict[Order, Trial] = {}

    def run(self) -> None:
        """Take turns until the budget is spent, one a scheme at least; then decide the nearest."""
        spent, turn = 0, 0
        while self.schemes and self.witness is None:
            if spent >= self.budget and turn >= len(self.schemes):
                break
            spent += self._take_turn(next(self.schemes[turn % len(self.schemes)]))
            turn += 1
        if self.witness is None:
            self.peaks.sort(key=lambda pair: -pair[1].score)
            for task, peak in self._worth_deciding():
                self._settle(task, peak)

    def _take_turn(self, task: Task) -> int:
        """Climb once, and return what that counts of the budget."""
        if task not in self.rulers:
            self.rulers[task] = Ruler(task)
        ruler = self.rulers[task]
        # Fewer generations where the budget would not reach every task.
        rounds = max(4, min(STEERING.rounds, self.budget // (64 * self.tasks)))
        peak, tried = climb(ruler, self.rng, rounds)
        self.tried[task.scheme.name] = self.tried.get(task.scheme.name, 0) + tried
        if peak is not None:
            self.sides.add(task.side)
            self.peaks.append((task, peak))
            if peak.score > STEERING.violation:
                self._settle(task, peak)
        return tried if ruler.vectorised else task.scheme.slow_cost * tried

    def _worth_deciding(self) -> list[tuple[Task, Peak]]:
        """List the nearest candidates of all, and the nearest of each order and scheme."""
        nearest: dict[tuple[Order, str], tuple[Task, Peak]] = {}
        for task, peak in self.peaks:
            nearest.setdefault((task.alpha, task.scheme.name), (task, peak))
        chosen = {id(peak): (task, peak) for task, peak in self.peaks[: STEERING.decided]}
        chosen |= {id(peak): (task, peak) for task, peak in nearest.values()}
        return list(chosen.values())

    def _settle(self, task: Task, peak: Peak) -> None:
        """Decide the candidate, from the smallest fractions on where a violation is in sight."""
        hopeful = peak.score > STEERING.violation
        for denominator in STEERING.denominators if hopeful else STEERING.denominators[-1:]:
            trial = decide(task, peak.candidate.rounded(0, denominator))
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
    """Repeat the tasks of each scheme without end."""
    by_scheme: dict[str, list[Task]] = {}
    for task in tasks:
        by_scheme.setdefault(task.scheme.name, []).append(task)
    return [cycle(same) for same in by_scheme.values()]


def _gap(trial: Trial) -> Number:
    """Measure how far the bound is from the truth: by how much their ratio may differ from 1.

    It is ∞ where there is no ratio.
    """
    ratio = trial.shown_ratio
    if ratio is None:
        return INFINITY
    return max(ratio.upper - 1, 1 - ratio.lower)
