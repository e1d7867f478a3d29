"""Poisson sampling under add/remove: the mixture (1−γ)Q + γP against Q, in both directions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symacct.adversary.candidates.finite import Candidates, FiniteLaws, Law, Pair, excess, fractions
from symacct.adversary.schemes.scheme import RATE, Scheme, both, largest_ratio, mixed, reversed_law
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.mechanisms import DistributionPair, RandomizedResponse


class OneRecord(Scheme):
    """P with the record, Q without: D_α of (1−γ)Q+γP and Q, both directions."""

    name = "Poisson, one record"
    names: tuple[str, ...] = ("P, with the record", "Q, without")
    about = "PoissonSubsample"
    numbers: tuple[tuple[str, float, float], ...] = (RATE,)

    def result(self, c: Candidates) -> list[Pair]:
        p, q = self.pair(c)
        return both((mixed(c.numbers["gamma"], p, q), q))


class RecordRemoved(OneRecord):
    """Only D_α(Q‖(1−γ)Q+γP): the direction that proofs find the harder one."""

    name = "Poisson, one record, the removal alone"

    def result(self, c: Candidates) -> list[Pair]:
        p, q = self.pair(c)
        return [(q, mixed(c.numbers["gamma"], p, q))]


class TwoRecords(OneRecord):
    """M(∅), M({a}), M({x}), M({a,x}): {a} against {a,x}, either record sampled with γ."""

    name = "Poisson, two records"
    names = ("M({})", "M({a})", "M({x})", "M({a,x})")
    drawn = 4

    def base(self, c: Candidates) -> list[Pair]:
        none, a, x, ax = c.laws
        return both((a, none), (x, none), (ax, a), (ax, x))

    def result(self, c: Candidates) -> list[Pair]:
        none, a, x, ax = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, mixed(rate, ax, x), mixed(rate, a, none)), mixed(rate, a, none)))


class Attained(OneRecord):
    """The curve is D_l(P‖Q), P with the record: what ZW19's proof of Theorem 6 constructs."""

    name = "Poisson, curve attained with the record added"
    side = Kind.LOWER

    def base(self, c: Candidates) -> list[Pair]:
        return [self.pair(c)]


class AttainedByRemoval(OneRecord):
    """One pair attains the curve, the one with the record removed in the first place."""

    name = "Poisson, curve attained with the record removed"
    side = Kind.LOWER

    def admits(self, c: Candidates, alpha: Order) -> Number:
        p, q = c.laws
        if alpha == INFINITY:
            return np.max(q / p, axis=1) >= np.max(p / q, axis=1)
        last = alpha if isinstance(alpha, int) else 2
        return np.logical_and.reduce(
            [excess(q, p, l) >= excess(p, q, l) for l in range(2, last + 1)]
        )


class SkewedRight(OneRecord):
    """ZW19's condition (4): E_Q[(P/Q−1)^l] >= 0 for odd 3 <= l <= α, both directions."""

    name = "Poisson, condition (4)"
    by_condition = True

    def admits(self, c: Candidates, alpha: Order) -> Number:
        odd = range(3, int(alpha) + 1, 2)
        moments = [np.sum(q * (p / q - 1) ** l, axis=1) >= 0 for l in odd for p, q in self.base(c)]
        return np.logical_and.reduce([np.ones(len(c.laws[0]), dtype=bool), *moments])


class Mirrored(OneRecord):
    """Q is P with its outcomes reversed: an involution swaps the pair."""

    name = "Poisson, a pair that reversing swaps"
    drawn = 1

    def pair(self, c: Candidates) -> Pair:
        return c.laws[0], reversed_law(c.laws[0])

    def premise(self, c: Candidates) -> Node:
        return FiniteLaws.of(self.base(c), symmetric=True)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return self.pair(c)


class Pure(Scheme):
    """The laws against randomized response with odds e^{ε(∞)}, which dominates them all."""

    def base(self, c: Candidates) -> list[Pair]:
        odds = largest_ratio(c.laws)
        p = odds / (1 + odds)
        law = np.concatenate([p, 1 - p], axis=1)
        return both((law, reversed_law(law)))

    def premise(self, c: Candidates) -> Node:
        return RandomizedResponse(Fraction(self.base(c)[0][0][0, 0]))


class PureRecord(Pure, OneRecord):
    """P and Q against the curve of pure DP with ε(∞) = log max P/Q."""

    name = "Poisson, pure DP"


class ResponseAttained(Mirrored):
    """Randomized response itself, where its sampled curve is said to be attained."""

    name = "Poisson, randomized response attained"
    side = Kind.LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)

    def premise(self, c: Candidates) -> Node:
        return RandomizedResponse(fractions(c.laws[0])[0])


class PairSampled(OneRecord):
    """P and Q as a DistributionPair, either of them with the record; Poisson sampling."""

    name = "Poisson, a pair in either role"
    names = ("P", "Q")

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, q), q), (mixed(rate, q, p), p))

    def premise(self, c: Candidates) -> Node:
        return DistributionPair(fractions(c.laws[0]), fractions(c.laws[1]))


SCHEMES: tuple[Scheme, ...] = (
    OneRecord(),
    RecordRemoved(),
    TwoRecords(),
    Mirrored(),
    PureRecord(),
    Attained(),
    Mirrored().called("Poisson, a pair that reversing swaps, attained", side=Kind.LOWER),
    ResponseAttained(),
    PairSampled(),
    PairSampled().called("Poisson, a pair in either role, attained", side=Kind.LOWER),
)
