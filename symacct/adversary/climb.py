"""The search: random candidates, then hill climbing on truth against bound, in float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb

from symacct.adversary.candidates.arrays import ARRAYS
from symacct.adversary.candidates.finite import Candidates
from symacct.adversary.schemes.scheme import Scheme
from symacct.kernel.arithmetic import BALL, Number
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Kind
from symacct.kernel.errors import NoNumberError, SymacctError
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.kernel.theorem_registry import Theorem, always

_POPULATION = 64
_KEPT = 8
_SPREADS = (0.1, 0.3, 1.0, 2.0, 4.0)
_LEAST = 1e-6  # no outcome is rarer
_BITS = 64
# Truths below this are left aside, so that not every climb ends where all divergences are tiny.
_FLOORS = (1e-9, 1e-9, 1e-4, 1e-2, 0.3)


@dataclass(frozen=True)
class Task:
    """One statement, one scheme, one order, one side."""

    theorem: Theorem
    scheme: Scheme
    alpha: Order
    side: Kind

    @property
    def suitable(self) -> float:
        """The share of a few candidates that the theorem applies to."""
        if self.theorem.applies is always or not self._asks:
            return 1
        asked = [self._holds_for(operation) for operation in _operations(self.scheme)]
        return sum(asked) / len(asked)

    def applies(self, c: Candidates) -> bool:
        """Does the theorem say that it applies to the operation on this candidate?"""
        return not self._asks or self._holds_for(self.scheme.operation(c))

    @property
    def _asks(self) -> bool:
        return self.theorem.reads != "itself" and not self.scheme.by_condition

    def _holds_for(self, operation: Node | None) -> bool:
        return operation is None or self.theorem.why_not(operation, self.alpha) is None

    def balls(self, c: Candidates) -> tuple[arb, arb] | None:
        """(truth, bound) of the exact candidate; None where there is nothing to compare."""
        if not self.applies(c):
            return None
        bound = self.bound(c)
        if not bound.is_finite() and not BALL.is_infinite(bound):
            return None
        truth = self.scheme.truth(c, self.alpha)
        return None if truth == 0 and bound == 0 else (truth, bound)

    def bound(self, c: Candidates) -> arb:
        """The theorem's own bound on the candidate's curve, as a ball."""
        theorem, premise, curve = self.theorem, self.scheme.premise(c), Evaluation(BALL).curve
        curves = tuple(map(curve, premise)) if isinstance(premise, tuple) else curve(premise)
        parameters = self.scheme.parameters(c, None if theorem.takes_exact else BALL)
        value: arb = theorem.bound(BALL, curves, self.alpha, **parameters, **dict(theorem.options))
        return value


@dataclass
class Found:
    """The best candidate of one climb."""

    score: float
    candidate: Candidates


def climb(ruler: Ruler, rng: np.random.Generator, rounds: int) -> tuple[Found | None, int]:
    """The best of `rounds` generations, and how many candidates were looked at."""
    scheme, ruler.floor = ruler.scheme, float(rng.choice(_FLOORS))
    size = _POPULATION if ruler.vectorised else scheme.slow_population
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
        order = np.argsort(-pool_scores, kind="stable")[:_KEPT]
        best, best_scores = pool[order], pool_scores[order]
    if not np.isfinite(best_scores[0]):
        return None, tried
    candidate = _decoded(scheme, sizes, best[:1])
    return Found(float(best_scores[0]), candidate), tried


def _first_points(
    scheme: Scheme, sizes: tuple[int, ...], count: int, rng: np.random.Generator
) -> tuple[Number, float]:
    """Points around a centre that laws with equally many outcomes share."""
    spread = float(rng.choice(_SPREADS))
    centre = 1.5 * rng.normal(size=max(sizes))
    middle = np.concatenate([*(centre[:size] for size in sizes), np.zeros(len(scheme.numbers))])
    width = np.concatenate([np.full(sum(sizes), spread), np.full(len(scheme.numbers), 2.0)])
    return middle + width * rng.normal(size=(count, len(middle))), spread


def _decoded(scheme: Scheme, sizes: tuple[int, ...], points: Number) -> Candidates:
    """Laws by softmax, numbers on their logarithmic scale."""
    laws, start = [], 0
    for size in sizes:
        block = points[:, start : start + size]
        weights = np.exp(block - np.max(block, axis=1, keepdims=True))
        weights = np.maximum(weights / np.sum(weights, axis=1, keepdims=True), _LEAST)
        laws.append(weights / np.sum(weights, axis=1, keepdims=True))
        start += size
    numbers = {}
    for i, (name, low, high) in enumerate(scheme.numbers):
        share = 1 / (1 + np.exp(-points[:, start + i : start + i + 1]))
        numbers[name] = np.exp(np.log(low) + share * (np.log(high) - np.log(low)))
    return Candidates(tuple(laws), numbers)


class Ruler:
    """Scores: log of truth over bound, or the reverse for a lower bound; above 0 is a violation."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.theorem, self.scheme, self.alpha = task.theorem, task.scheme, task.alpha
        self.floor = _FLOORS[0]
        self.sign = 1 if task.side is Kind.UPPER else -1
        #: Can the bound be evaluated on arrays of candidates? Else one by one, in balls.
        self.vectorised = (
            not task.theorem.takes_exact and task.suitable == 1 and self._runs_on_arrays()
        )

    def _runs_on_arrays(self) -> bool:
        with np.errstate(all="ignore"):
            try:
                return bool(self.values(samples(self.scheme, 3))[1].shape == (3,))
            except NoNumberError:
                raise
            except (TypeError, ValueError, AttributeError, KeyError, NotImplementedError):
                return False

    def __call__(self, c: Candidates) -> Number:
        if not self.vectorised:
            return np.array([self._one(c, row) for row in range(len(c.laws[0]))])
        with np.errstate(all="ignore"):
            truth, bound = self.values(c)
            score = self._compared(truth, bound)
            admitted = np.asarray(self.scheme.admits(c, self.alpha))
            return np.where(admitted & np.isfinite(score), score, -np.inf)

    def values(self, c: Candidates) -> tuple[Number, Number]:
        """Truth and bound of each candidate."""
        parameters = self.scheme.parameters(c, ARRAYS)
        options = dict(self.theorem.options)
        bound = self.theorem.bound(
            ARRAYS, self.scheme.array_curves(c), self.alpha, **parameters, **options
        )
        truth = self.scheme.array_truth(c, self.alpha)  # objects where a fraction is the order
        return np.asarray(truth, dtype=float), np.asarray(bound, dtype=float)

    def _compared(self, truth: Number, bound: Number) -> Number:
        """sign · (log g(truth) − log g(bound)), g(x) = e^{(α−1)x} − 1 where that is finite."""
        factor = 1.0
        if self.scheme.by_moments and self.alpha not in (1, INFINITY):
            factor = float(self.alpha) - 1
            truth, bound = np.expm1(factor * truth), np.expm1(factor * bound)
        # A bound that is not positive is the clearest violation.
        known = truth > self.floor
        gap = np.log(truth) - np.log(np.maximum(bound, 1e-30))
        return np.where(known, self.sign * gap, -np.inf)

    def _one(self, c: Candidates, row: int) -> float:
        """What is climbed, for one candidate, rounded, in balls of few bits."""
        one = c.one(row, 10**6)
        try:
            if not self.scheme.surely_admits(one, self.alpha):
                return -np.inf
            with precision(_BITS), np.errstate(all="ignore"):
                pair = self.task.balls(one)
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
    """The operation on each of a few candidates: every statement at every order asks of them."""
    drawn = [samples(scheme, 4, seed) for seed in range(8)]
    return [scheme.operation(c.one(i, 10**4)) for c in drawn for i in range(4)]


def samples(scheme: Scheme, count: int, seed: int = 0) -> Candidates:
    """A few candidates, always the same ones."""
    sizes = scheme.sizes(2)
    points, _ = _first_points(scheme, sizes, count, np.random.default_rng(seed))
    return _decoded(scheme, sizes, points)
