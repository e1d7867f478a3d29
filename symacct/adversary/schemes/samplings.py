"""Samples: Poisson or of a fixed size, a record added, removed or replaced; finite laws."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import sympy

from symacct.adversary.candidates import (
    ArrayCurve,
    Candidates,
    FiniteLaws,
    Law,
    Pair,
    excess,
    fractions,
)
from symacct.adversary.schemes.noise import (
    GaussianNoise,
    NormalTriangles,
    OppositeNormals,
    concentration_rho,
)
from symacct.adversary.schemes.scheme import (
    BOTH_SIDES,
    LEFT_OUT,
    RATE,
    USUAL_RELATION,
    Scheme,
    both,
    largest_ratio,
    mixed,
    reversed_law,
)
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, Adjacency, Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.mechanisms import TCDP, DistributionPair, FiniteMechanism, PureDP, RandomizedResponse

# --- Poisson, a record more or less
#
# Poisson sampling under add/remove: the mixture (1−γ)Q + γP against Q, in both directions.


class OneRecord(Scheme):
    """P with the record, Q without: D_α of (1−γ)Q+γP and Q, both directions."""

    name = "Poisson, one record"
    names: tuple[str, ...] = ("P, with the record", "Q, without")
    about = "PoissonSubsample"
    numbers: tuple[tuple[str, float, float], ...] = (RATE,)

    def result(self, c: Candidates) -> list[Pair]:
        """List (1−γ)Q + γP against Q, both ways."""
        p, q = self.pair(c)
        return both((mixed(c.numbers["gamma"], p, q), q))


class RecordRemoved(OneRecord):
    """Only D_α(Q‖(1−γ)Q+γP): the direction that proofs find the harder one."""

    name = "Poisson, one record, the removal alone"

    def result(self, c: Candidates) -> list[Pair]:
        """List Q against (1−γ)Q + γP alone."""
        p, q = self.pair(c)
        return [(q, mixed(c.numbers["gamma"], p, q))]


class TwoRecords(OneRecord):
    """M(∅), M({a}), M({x}), M({a,x}): {a} against {a,x}, either record sampled with γ."""

    name = "Poisson, two records"
    names = ("M({})", "M({a})", "M({x})", "M({a,x})")
    drawn = 4

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of datasets that differ in one record, both ways."""
        none, a, x, ax = c.laws
        return both((a, none), (x, none), (ax, a), (ax, x))

    def result(self, c: Candidates) -> list[Pair]:
        """List the sample of {a, x} against that of {a}, both ways, each record with rate γ."""
        none, a, x, ax = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, mixed(rate, ax, x), mixed(rate, a, none)), mixed(rate, a, none)))


class Attained(OneRecord):
    """The curve is D_l(P‖Q), P with the record: what ZW19's proof of Theorem 6 constructs."""

    name = "Poisson, curve attained with the record added"
    side = Kind.LOWER

    def base(self, c: Candidates) -> list[Pair]:
        """List P against Q alone, in whose direction the curve is attained."""
        return [self.pair(c)]


class AttainedByRemoval(OneRecord):
    """One pair attains the curve, the one with the record removed in the first place."""

    name = "Poisson, curve attained with the record removed"
    side = Kind.LOWER

    def admits(self, c: Candidates, alpha: Order) -> Number:
        """Which candidates have D_l(Q‖P) >= D_l(P‖Q) for l from 2 to α, or at ∞?"""
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
        """Which candidates have E_Q[(P/Q − 1)^l] >= 0 at odd l, in both directions?"""
        odd = range(3, int(alpha) + 1, 2)
        moments = [np.sum(q * (p / q - 1) ** l, axis=1) >= 0 for l in odd for p, q in self.base(c)]
        return np.logical_and.reduce([np.ones(len(c.laws[0]), dtype=bool), *moments])


class Mirrored(OneRecord):
    """Q is P with its outcomes reversed: an involution swaps the pair."""

    name = "Poisson, a pair that reversing swaps"
    drawn = 1

    def pair(self, c: Candidates) -> Pair:
        """Return the drawn law, and the same with its outcomes reversed."""
        return c.laws[0], reversed_law(c.laws[0])

    def premise(self, c: Candidates) -> Node:
        """Return the pair as one that an involution swaps."""
        return FiniteLaws.of(self.base(c), symmetric=True)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        """List both laws, of which one was drawn."""
        return self.pair(c)


class Pure(Scheme):
    """The laws against randomized response with odds e^{ε(∞)}, which dominates them all."""

    def base(self, c: Candidates) -> list[Pair]:
        """List randomized response with the odds e^{ε(∞)} of the candidate's laws, both ways."""
        odds = largest_ratio(c.laws)
        p = odds / (1 + odds)
        law = np.concatenate([p, 1 - p], axis=1)
        return both((law, reversed_law(law)))

    def premise(self, c: Candidates) -> Node:
        """Return randomized response with the odds e^{ε(∞)}."""
        return RandomizedResponse(Fraction(self.base(c)[0][0][0, 0]))


class PureRecord(Pure, OneRecord):
    """P and Q against the curve of pure DP with ε(∞) = log max P/Q."""

    name = "Poisson, pure DP"


class ResponseAttained(Mirrored):
    """Randomized response itself, where its sampled curve is said to be attained."""

    name = "Poisson, randomized response attained"
    side = Kind.LOWER
    outcomes = 2

    def premise(self, c: Candidates) -> Node:
        """Return randomized response with the drawn probabilities."""
        return RandomizedResponse(fractions(c.laws[0])[0])


class PairSampled(OneRecord):
    """P and Q as a DistributionPair, either of them with the record; Poisson sampling."""

    name = "Poisson, a pair in either role"
    names = ("P", "Q")

    def result(self, c: Candidates) -> list[Pair]:
        """List the samples with either law as that with the record, both ways."""
        p, q = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, q), q), (mixed(rate, q, p), p))

    def premise(self, c: Candidates) -> Node:
        """Return the pair as a DistributionPair, either law with the record."""
        return DistributionPair(fractions(c.laws[0]), fractions(c.laws[1]))


#: The schemes about Poisson samples, a record added or removed.
POISSON: tuple[Scheme, ...] = (
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


# --- a fixed size, a record replaced
#
# Sampling m of n records without replacement, γ = m/n, one record replaced.

#: Datasets [x, …, x, x′] and [x, …, x]: P where x′ is sampled, R where x alone is.
ALL_BUT_ONE = {"about": "SubsampleWithoutReplacement", "names": ("P, x' sampled", "R, x alone")}


class Replaced(Scheme):
    """m of n = m/γ records, all but one alike: P has the old one, Q the new one, R neither."""

    name = "without replacement, all other records alike"
    names: tuple[str, ...] = ("P, old record sampled", "Q, new record sampled", "R, neither")
    about = "SubsampleWithoutReplacement"
    numbers: tuple[tuple[str, float, float], ...] = (RATE,)
    drawn = 3

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of the three laws, both ways."""
        p, q, r = c.laws
        return both((p, q), (p, r), (q, r))

    def result(self, c: Candidates) -> list[Pair]:
        """List (1−γ)R + γP against (1−γ)R + γQ, in both directions."""
        p, q, r = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, r), mixed(rate, q, r)))


class TwoOfThree(Scheme):
    """Two of three records, 1 replaced by 1': a law for each sample, adjacent if one is shared."""

    name = "without replacement, two of three records"
    names = ("M({1,2})", "M({1,3})", "M({2,3})", "M({1',2})", "M({1',3})")
    about = "SubsampleWithoutReplacement"
    drawn = 5
    gamma = Fraction(2, 3)
    fixed = ("gamma",)

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of samples that share a record, in both directions."""
        a12, a13, a23, b12, b13 = c.laws
        return both(
            (a12, a13), (a12, a23), (a13, a23), (b12, b13), (b12, a23), (b13, a23),
            (a12, b12), (a13, b13),
        )  # fmt: skip

    def result(self, c: Candidates) -> list[Pair]:
        """List the mean of the samples with record 1 against that with 1', both ways."""
        a12, a13, a23, b12, b13 = c.laws
        third = Fraction(1, 3) if c.exact else 1 / 3
        return both(((a12 + a13 + a23) * third, (b12 + b13 + a23) * third))


class PureReplaced(Pure, Replaced):
    """P, Q and R against the curve of pure DP with ε(∞) = log of the largest ratio."""

    name = "without replacement, pure DP"


class TruncatedReplaced(Replaced):
    """P, Q and R against ρ-tCDP: D_α <= αε(∞)²/2 for ε(∞)-DP, so ρ is that, rounded up."""

    name = "without replacement, tCDP"
    numbers = (("gamma", 1e-6, 0.1),)

    def array_curves(self, c: Candidates) -> ArrayCurve:
        """Return αε(∞)²/2 in float64."""
        slope = np.log(largest_ratio(c.laws)[:, 0]) ** 2 / 2
        return ArrayCurve(lambda alpha: slope * alpha)

    def premise(self, c: Candidates) -> Node:
        """Return ρ-tCDP, ρ = ε(∞)²/2 rounded up, for orders up to 10⁹."""
        return TCDP(concentration_rho(Fraction(largest_ratio(c.laws)[0, 0])), 10**9)


#: The schemes about samples of a fixed size, a record replaced.
REPLACED: tuple[Scheme, ...] = (
    Replaced(),
    TwoOfThree(),
    PureReplaced(),
    Mirrored().called("without replacement, a pair that reversing swaps", **ALL_BUT_ONE),
    # The curve is D_l(P‖R), as in WBK19 Prop. 11.
    Attained().called("without replacement, curve attained", **ALL_BUT_ONE),
    ResponseAttained().called("without replacement, randomized response attained", **ALL_BUT_ONE),
    TruncatedReplaced(),
    PairSampled().called(
        "without replacement, a pair in either role", about=Replaced.about, side=Kind.LOWER
    ),
)


# --- the less usual relation
#
# Samplings under their less usual relation, and the mechanisms of pure DP's worst triples.


def left_out(scheme: Scheme) -> Scheme:
    """Copy the scheme for samples of a fixed size, with another record for the one left out."""
    return scheme.called(
        scheme.name.replace("Poisson", LEFT_OUT),
        about="SubsampleWithoutReplacement",
        relation=ADD_REMOVE,
    )


class RecordReplaced(Replaced):
    """P has the old record in the sample, Q the new one, R neither: (P, R), (Q, R) adjacent."""

    name = "Poisson, a record replaced"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of each law with the record and the law without, both ways."""
        p, q, r = c.laws
        return both((p, r), (q, r))


class RecordZeroed(Replaced):
    """P has the record, O nothing in its place, R another record: (P, O), (R, O) adjacent."""

    name = "fixed size, a record zeroed out"
    names = ("P, with the record", "O, with nothing in its place", "R, with another record")
    relation = ZERO_OUT

    def base(self, c: Candidates) -> list[Pair]:
        p, o, r = c.laws
        return both((p, o), (r, o))


class ResponseZeroed(ResponseAttained):
    """Randomized response: the other record is as nothing in the place, or as the record."""

    name = "fixed size, a record zeroed out, randomized response"
    about = "SubsampleWithoutReplacement"
    side = Kind.UPPER
    relation = ZERO_OUT

    def result(self, c: Candidates) -> list[Pair]:
        """List both orders of the pairs with either of the two answers as the other record."""
        p, o = self.pair(c)
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, o), o), (p, mixed(rate, o, p)))


#: The other places of a sample that a record is zeroed out of are empty.
_PLACES_EMPTY = {
    "about": "SubsampleWithoutReplacement",
    "relation": ZERO_OUT,
    "names": ("P, with the record", "O, with nothing in its place"),
}


class PureClass(Scheme):
    """The laws against the largest over all mechanisms with their ε(∞)."""

    slow_population, slow_cost = 8, 2

    def premise(self, c: Candidates) -> Node:
        """Return ε-DP with ε = log of the largest ratio."""
        return PureDP(_log(max(Fraction(np.max(p / q)) for p, q in self.base(c))))


class PureClassReplaced(PureClass, Replaced):
    """P, Q and R, samples of a fixed size."""

    name = "without replacement, all pure DP mechanisms"


class PureClassPoisson(PureClass, RecordReplaced):
    """All pure DP mechanisms under Poisson sampling, a record replaced."""

    name = "Poisson, a record replaced, all pure DP mechanisms"


def _log(ratio: Fraction) -> sympy.Expr:
    """Return log of a ratio, exactly."""
    return sympy.log(sympy.Rational(ratio.numerator, ratio.denominator))


class FavouritesAttained(Replaced):
    """Two or three answers, of which each law favours its own by the odds of the one law drawn."""

    name = "without replacement, two or three answers, attained"
    slow_population, slow_cost = 8, 2
    names: tuple[str, ...] = ("randomized response",)
    side = Kind.LOWER
    drawn, outcomes = 1, 2

    def odds(self, c: Candidates) -> Number:
        """Compute the larger probability over the smaller."""
        return largest_ratio((c.laws[0], reversed_law(c.laws[0])))

    def base(self, c: Candidates) -> list[Pair]:
        """List randomized response against its mirror image, both ways."""
        p = c.laws[0]
        return both((p, reversed_law(p)))

    def result(self, c: Candidates) -> list[Pair]:
        """List the pairs that attain the bound of pure DP: of three answers, and of two answers."""
        rate = c.numbers["gamma"]
        p, q, r = (biased_response(i, self.odds(c)) for i in range(3))
        first, second = biased_response(0, self.odds(c), 2), biased_response(1, self.odds(c), 2)
        return [(mixed(rate, p, r), mixed(rate, q, r)), (mixed(rate, first, second), second)]

    def premise(self, c: Candidates) -> Node:
        """Return ε-DP with ε = log of the drawn odds."""
        return PureDP(_log(Fraction(self.odds(c)[0, 0])))


class AntitheticAttained(FavouritesAttained):
    """Three answers of which P favours one, Q another, and R has both more often by as much."""

    name = "Poisson, a record replaced, opposite answers"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def __init__(self, side: Kind) -> None:
        self.side = side
        self.name = f"{type(self).name}{', attained' * (side is Kind.LOWER)}"

    def result(self, c: Candidates) -> list[Pair]:
        """List the pair that attains the bound: P and Q favour one answer each, and R neither."""
        rate, e = c.numbers["gamma"], self.odds(c)
        weight = 1 / (e + 1)
        r = np.concatenate([weight, weight, 1 - 2 * weight], axis=1)
        p = np.concatenate([e * weight, weight / e, (1 - 2 * weight) / e], axis=1)
        q = np.concatenate([weight / e, e * weight, (1 - 2 * weight) / e], axis=1)
        return [(mixed(rate, p, r), mixed(rate, q, r))]


def biased_response(answer: int, odds: Number, answers: int = 3) -> Law:
    """Make k-ary randomized response: one answer is `odds` times as likely as each other one."""
    weights = [odds if i == answer else odds / odds for i in range(answers)]
    law: Law = np.concatenate(weights, axis=1) / (odds + answers - 1)
    return law


class AllLaws(Scheme):
    """Three laws, all that the mechanism has: the largest over the triples of them."""

    numbers = (RATE,)
    names = ("law 1", "law 2", "law 3")
    drawn = 3

    def __init__(self, about: str, relation: Adjacency, side: Kind) -> None:
        self.about, self.relation, self.side = about, relation, side
        self.name = f"{about}, {relation}, all laws known, {side}"

    def base(self, c: Candidates) -> list[Pair]:
        """List the ordered pairs of the mechanism's three laws."""
        return list(permutations(c.laws, 2))

    def result(self, c: Candidates) -> list[Pair]:
        """List (1−γ)q + γp against (1−γ)q + γo for all laws p ≠ o and q.

        Under add/remove q is one of both, as the record is missing from one of the datasets.
        """
        rate = c.numbers["gamma"]
        triples: Iterable[tuple[Law, Law, Law]] = product(c.laws, c.laws, c.laws)
        if self.relation == ADD_REMOVE:
            triples = ((p, o, q) for p, o, q in triples if q is p or q is o)
        return [(mixed(rate, p, q), mixed(rate, o, q)) for p, o, q in triples if p is not o]

    def premise(self, c: Candidates) -> Node:
        """Return the mechanism of exactly these three laws."""
        return FiniteMechanism(list(map(fractions, c.laws)))


#: The schemes about samples under the relation that is not their usual one.
CROSSED: tuple[Scheme, ...] = (
    RecordReplaced(),
    RecordZeroed(),
    ResponseZeroed(),
    Attained().called("fixed size, a record zeroed out, attained", **_PLACES_EMPTY),
    ResponseAttained().called(
        "fixed size, a record zeroed out, randomized response attained", **_PLACES_EMPTY
    ),
    # P with the record, Q with one in its place that changes nothing.
    Attained().called(
        "Poisson, a record replaced by one that changes nothing, attained", relation=REPLACE_ONE
    ),
    PureClassReplaced(),
    PureClassPoisson(),
    FavouritesAttained(),
    *map(AntitheticAttained, BOTH_SIDES),
    *(
        AllLaws(about, relation, side)
        for about in USUAL_RELATION
        for relation in USUAL_RELATION.values()
        for side in BOTH_SIDES
    ),
    *(OppositeNormals(GaussianNoise(), "PoissonSubsample", s, REPLACE_ONE) for s in BOTH_SIDES),
    *(NormalTriangles(GaussianNoise(), "SubsampleWithoutReplacement", s) for s in BOTH_SIDES),
    *(left_out(scheme) for scheme in POISSON if not isinstance(scheme, TwoRecords | PureRecord)),
)
