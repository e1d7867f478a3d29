"""Schemes: which finite laws a statement speaks of, which curve it reads, what it bounds.

A scheme draws laws and numbers, names the pairs whose curve the bound reads (`base`) and the pairs
whose larger divergence is the truth (`result`). An upper bound is attacked with the curve of all
neighbouring pairs, a lower one with the curve of the pair that is said to attain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, fmpq

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.claims import Kind
from symacct.evaluation import Evaluation
from symacct.exact import INFINITY
from symacct.explore.attacks.arrays import ArrayCurve
from symacct.explore.attacks.finite import (
    Candidates,
    FiniteLaws,
    Law,
    Pair,
    divergence,
    excess,
    fractions,
)
from symacct.expr import Node, kinds
from symacct.mechanisms import TCDP, DistributionPair, Gaussian, RandomizedResponse
from symacct.sums.refine import ball

RATE = ("gamma", 0.001, 1.0)
UPPER, LOWER = Kind.UPPER, Kind.LOWER


def both(*pairs: Pair) -> list[Pair]:
    """The pairs in both orders."""
    return [ordered for p, q in pairs for ordered in ((p, q), (q, p))]


def mixed(rate: Any, p: Law, q: Law) -> Law:
    """(1−γ)Q + γP"""
    return (1 - rate) * q + rate * p


def reversed_law(p: Law) -> Law:
    """The outcomes in the opposite order."""
    return p[:, ::-1]


def largest_ratio(laws: tuple[Law, ...]) -> Any:
    """The largest P/Q over all ordered pairs of the laws: e^{ε(∞)}, shape (candidates, 1)."""
    stacked = np.stack(laws)
    return np.max(np.max(stacked, axis=0) / np.min(stacked, axis=0), axis=1, keepdims=True)


class Scheme:
    """How candidates of one kind are made; see the module."""

    name: str
    about: str
    side: Kind = UPPER
    #: (name, smallest, largest) of the numbers drawn, on a logarithmic scale.
    numbers: tuple[tuple[str, float, float], ...] = ()
    #: The orders this scheme can be asked at: None for whatever the theorem speaks of.
    orders: tuple[Any, ...] | None = None
    #: Divergences are compared by e^{(α−1)ε} − 1, which says more where they are large.
    by_moments = True
    #: The assumption is checked by `admits`, not by asking the theorem whether it applies.
    by_condition = False
    #: What the laws are called.
    names: tuple[str, ...] = ()

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        """The number of outcomes of each law."""
        raise NotImplementedError

    def base(self, c: Candidates) -> list[Pair]:
        """The pairs whose largest divergence is the ε(l) that the bound reads."""
        raise NotImplementedError

    def result(self, c: Candidates) -> list[Pair]:
        """The pairs whose largest divergence the statement bounds."""
        raise NotImplementedError

    def admits(self, c: Candidates, alpha: Any) -> Any:
        """Which candidates meet the assumptions of the statement."""
        return True

    def surely_admits(self, c: Candidates, alpha: Any) -> bool:
        """Does the exact candidate meet them, proved?"""
        return bool(np.all(self.admits(c, alpha)))

    # --- what the bound reads

    def array_curves(self, c: Candidates) -> Any:
        """The curve or curves, for the search."""
        return ArrayCurve.of_pairs(self.base(c))

    def premise(self, c: Candidates) -> Any:
        """The mechanism or mechanisms whose curve is read, for the proof."""
        return FiniteLaws.of(self.base(c))

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        """The operation's parameters, as the bound is given them."""
        return {name: _plain(c, name, ctx) for name, _, _ in self.numbers if name == "gamma"}

    def operation(self, c: Candidates) -> Node | None:
        """The operation on the premise, to ask a theorem whether it applies."""
        if self.about not in ("PoissonSubsample", "SubsampleWithoutReplacement"):
            return None  # only theorems about sampling have conditions on the mechanism
        return kinds()[self.about](self.premise(c), self.parameters(c, None)["gamma"])

    # --- what is true

    def array_truth(self, c: Candidates, alpha: Any) -> Any:
        """The truth of each candidate in float64."""
        return np.max([divergence(p, q, alpha) for p, q in self.result(c)], axis=0)

    def truth(self, c: Candidates, alpha: Any) -> arb:
        """The truth of the exact candidate as a ball."""
        return evaluated(FiniteLaws.of(self.result(c)), alpha)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        """The laws of the exact candidate to show, in the order of `names`."""
        return c.laws

    def laws(self, c: Candidates) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        """The same, named."""
        names = self.names or tuple(f"law {i + 1}" for i in range(len(c.laws)))
        return tuple(zip(names, map(fractions, self.shown(c)), strict=True))


def evaluated(node: Node, alpha: Any) -> arb:
    """The value of a node's curve at the current precision."""
    return Evaluation(BALL).curve(node)(alpha)


def _plain(c: Candidates, name: str, ctx: Any) -> Any:
    """A number: an array of one axis in float64, exact or in the arithmetic otherwise."""
    if not c.exact:
        return c.numbers[name][:, 0]
    return c.number(name) if ctx is None else ctx.number(c.number(name))


# --- Poisson sampling, add/remove


class OneRecord(Scheme):
    """P with the record, Q without: D_α of (1−γ)Q+γP and Q, both directions."""

    name = "Poisson, one record"
    names: tuple[str, ...] = ("P, with the record", "Q, without")
    about = "PoissonSubsample"
    numbers: tuple[tuple[str, float, float], ...] = (RATE,)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes, outcomes)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[1]))

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws[:2]
        return both((mixed(c.numbers["gamma"], p, q), q))


class RecordRemoved(OneRecord):
    """Only D_α(Q‖(1−γ)Q+γP): the direction that proofs find the harder one."""

    name = "Poisson, one record, the removal alone"

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws[:2]
        return [(q, mixed(c.numbers["gamma"], p, q))]


class TwoRecords(OneRecord):
    """M(∅), M({a}), M({x}), M({a,x}): {a} against {a,x}, either record sampled with γ."""

    name = "Poisson, two records"
    names = ("M({})", "M({a})", "M({x})", "M({a,x})")

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 4

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
    side = LOWER

    def base(self, c: Candidates) -> list[Pair]:
        return [(c.laws[0], c.laws[1])]


class AttainedByRemoval(OneRecord):
    """One pair attains the curve, the one with the record removed in the first place."""

    name = "Poisson, curve attained with the record removed"
    side = LOWER

    def admits(self, c: Candidates, alpha: Any) -> Any:
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

    def admits(self, c: Candidates, alpha: Any) -> Any:
        odd = range(3, int(alpha) + 1, 2)
        moments = [np.sum(q * (p / q - 1) ** l, axis=1) >= 0 for l in odd for p, q in self.base(c)]
        return np.logical_and.reduce([np.ones(len(c.laws[0]), dtype=bool), *moments])


class Mirrored(OneRecord):
    """Q is P with its outcomes reversed: an involution swaps the pair."""

    name = "Poisson, a pair that reversing swaps"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], reversed_law(c.laws[0])))

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws[0], reversed_law(c.laws[0])
        return both((mixed(c.numbers["gamma"], p, q), q))

    def premise(self, c: Candidates) -> Any:
        return FiniteLaws.of(self.base(c), symmetric=True)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return c.laws[0], reversed_law(c.laws[0])


class MirroredAttained(Mirrored):
    """The same for a value that is said to be attained."""

    name = "Poisson, a pair that reversing swaps, attained"
    side = LOWER


def response_pairs(c: Candidates) -> list[Pair]:
    """Randomized response with odds e^{ε(∞)}: it dominates every law of the candidate."""
    odds = largest_ratio(c.laws)
    p = odds / (1 + odds)
    law = np.concatenate([p, 1 - p], axis=1)
    return both((law, reversed_law(law)))


class PureRecord(OneRecord):
    """P and Q against the curve of pure DP with ε(∞) = log max P/Q."""

    name = "Poisson, pure DP"

    def base(self, c: Candidates) -> list[Pair]:
        return response_pairs(c)

    def premise(self, c: Candidates) -> Any:
        return RandomizedResponse(Fraction(self.base(c)[0][0][0, 0]))


class ResponseAttained(OneRecord):
    """Randomized response itself, where its sampled curve is said to be attained."""

    name = "Poisson, randomized response attained"
    side = LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], reversed_law(c.laws[0])))

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws[0], reversed_law(c.laws[0])
        return both((mixed(c.numbers["gamma"], p, q), q))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return c.laws[0], reversed_law(c.laws[0])

    def premise(self, c: Candidates) -> Any:
        return RandomizedResponse(fractions(c.laws[0])[0])


class GaussianRecord(OneRecord):
    """Gaussian noise seen through a threshold t: P(z > t) under N(1, σ²) and N(0, σ²), rounded

    towards each other, so that the pair is a post-processing of the Gaussian one.
    """

    name = "Poisson, Gaussian noise through a threshold"
    numbers = (RATE, ("sigma", 0.3, 20.0), ("threshold + 5", 0.05, 20.0))

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)  # not used: the laws follow from the numbers

    def pair(self, c: Candidates) -> Pair:
        """The laws of the two answers."""
        if c.exact:
            sigma = c.number("sigma")
            cut = (c.number("threshold + 5") - 5) / sigma
            p, q = _normal_tail(cut - 1 / sigma, up=False), _normal_tail(cut, up=True)
            q = min(q, p)
            return (
                np.array([[p, 1 - p]], dtype=object),
                np.array([[q, 1 - q]], dtype=object),
            )
        sigma = c.numbers["sigma"]
        cut = (c.numbers["threshold + 5"] - 5) / sigma
        tail = np.vectorize(lambda x: min(max(math.erfc(x / math.sqrt(2)) / 2, 1e-12), 1 - 1e-12))
        p, q = tail(cut - 1 / sigma), tail(cut)
        return np.concatenate([p, 1 - p], axis=1), np.concatenate([q, 1 - q], axis=1)

    def result(self, c: Candidates) -> list[Pair]:
        p, q = self.pair(c)
        return both((mixed(c.numbers["gamma"], p, q), q))

    def array_curves(self, c: Candidates) -> Any:
        sigma = c.numbers["sigma"][:, 0]
        return ArrayCurve(lambda alpha: alpha / (2 * sigma**2))

    def premise(self, c: Candidates) -> Any:
        return Gaussian(c.number("sigma"))

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return self.pair(c)


def _normal_tail(x: Fraction, up: bool) -> Fraction:
    """P(z > x) of a standard normal, rounded up or down to 40 bits but kept inside (0, 1)."""
    with precision(128):
        value = ((ball(x) / arb(2).sqrt()).erfc() / 2) * arb(2) ** 40
        whole = _whole(value.upper().ceil() if up else value.lower().floor())
    return Fraction(min(max(whole, 1), 2**40 - 1), 2**40)


def _whole(x: arb) -> int:
    """The integer that a ball is."""
    found = x.unique_fmpz()
    assert found is not None  # noqa: S101  # an end that was rounded to one is exact
    return int(found)


# --- sampling without replacement, replace-one


class Replaced(Scheme):
    """m of n = m/γ records, all but one alike: P has the old record in the sample, Q the new one,

    R neither. They are mutually adjacent; D_α of (1−γ)R+γP and (1−γ)R+γQ.
    """

    name = "without replacement, all other records alike"
    names: tuple[str, ...] = ("P, old record sampled", "Q, new record sampled", "R, neither")
    about = "SubsampleWithoutReplacement"
    numbers: tuple[tuple[str, float, float], ...] = (RATE,)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 3

    def base(self, c: Candidates) -> list[Pair]:
        p, q, r = c.laws
        return both((p, q), (p, r), (q, r))

    def result(self, c: Candidates) -> list[Pair]:
        p, q, r = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, r), mixed(rate, q, r)))


class TwoOfThree(Scheme):
    """Two of three records, 1 replaced by 1': a law for each sample, adjacent if one is shared."""

    name = "without replacement, two of three records"
    names = ("M({1,2})", "M({1,3})", "M({2,3})", "M({1',2})", "M({1',3})")
    about = "SubsampleWithoutReplacement"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 5

    def base(self, c: Candidates) -> list[Pair]:
        a12, a13, a23, b12, b13 = c.laws
        return both(
            (a12, a13), (a12, a23), (a13, a23), (b12, b13), (b12, a23), (b13, a23),
            (a12, b12), (a13, b13),
        )  # fmt: skip

    def result(self, c: Candidates) -> list[Pair]:
        a12, a13, a23, b12, b13 = c.laws
        third = Fraction(1, 3) if c.exact else 1 / 3
        return both(((a12 + a13 + a23) * third, (b12 + b13 + a23) * third))

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        rate = Fraction(2, 3)
        return {"gamma": rate if ctx is None else ctx.number(rate)}


class PureReplaced(Replaced):
    """P, Q and R against the curve of pure DP with ε(∞) = log of the largest ratio."""

    name = "without replacement, pure DP"

    def base(self, c: Candidates) -> list[Pair]:
        return response_pairs(c)

    def premise(self, c: Candidates) -> Any:
        return RandomizedResponse(Fraction(self.base(c)[0][0][0, 0]))


class ReplacedAttained(Replaced):
    """The curve is D_l(P‖R), attained by datasets [x, …, x, x′] and [x, …, x] (WBK19 Prop. 11)."""

    name = "without replacement, curve attained"
    names = ("P, x' sampled", "R, x alone")
    side = LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 2

    def base(self, c: Candidates) -> list[Pair]:
        return [(c.laws[0], c.laws[1])]

    def result(self, c: Candidates) -> list[Pair]:
        p, r = c.laws
        return both((mixed(c.numbers["gamma"], p, r), r))


class MirroredReplaced(ReplacedAttained):
    """A pair that reversing swaps, the same at every record but one."""

    name = "without replacement, a pair that reversing swaps"
    side = UPPER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], reversed_law(c.laws[0])))

    def result(self, c: Candidates) -> list[Pair]:
        p, r = c.laws[0], reversed_law(c.laws[0])
        return both((mixed(c.numbers["gamma"], p, r), r))

    def premise(self, c: Candidates) -> Any:
        return FiniteLaws.of(self.base(c), symmetric=True)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        return c.laws[0], reversed_law(c.laws[0])


class RaisedResponse(MirroredReplaced):
    """Randomized response read through an upper bound of its curve, nondecreasing up to order 8.

    ε(3), ε(5), ε(7) are raised until B(4), B(6), B(8) are nearly 0, and even orders where B would
    be negative: the differences of a bound hide the moments of the curve.
    """

    name = "without replacement, a raised curve"
    orders = (8,)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)

    def raises(self, c: Candidates) -> dict[int, Any]:
        """How far the curve is raised at each order, in float64 to nine decimals."""
        pairs = [(p.astype(float), q.astype(float)) for p, q in self.base(c)]
        base, raised = ArrayCurve.of_pairs(pairs), {}
        moments = [np.ones(len(c.laws[0]))] * 2
        moments += [np.exp((l - 1) * base(l)) for l in range(2, self.orders[0] + 1)]
        for l in range(3, self.orders[0] + 1):
            even = l + l % 2
            # What is left of B(even) without the term of order l, which is −even·m_l or m_l.
            rest = sum(
                (-1) ** i * math.comb(even, i) * moments[i] for i in range(even + 1) if i != l
            )
            wanted = rest / even * (1 - 1e-6) if l % 2 else -rest * (1 + 1e-6)
            step = np.log(np.maximum(wanted, moments[l])) / (l - 1) - base(l)
            raised[l] = np.round(np.maximum(step, 0), 9)
            moments[l] = np.exp((l - 1) * (base(l) + raised[l]))
        return raised

    def array_curves(self, c: Candidates) -> Any:
        return ArrayCurve.of_pairs(self.base(c), self.raises(c))

    def premise(self, c: Candidates) -> Any:
        raises = {l: Fraction(round(float(x[0]) * 10**9), 10**9) for l, x in self.raises(c).items()}
        return FiniteLaws.of(self.base(c), {l: x for l, x in raises.items() if x > 0})

    def admits(self, c: Candidates, alpha: Any) -> Any:
        curve = self.array_curves(c)
        return np.logical_and.reduce([curve(l) <= curve(l + 1) for l in range(2, alpha)])

    def surely_admits(self, c: Candidates, alpha: Any) -> bool:
        node = self.premise(c)
        with precision(256):
            values = [evaluated(node, l) for l in range(2, alpha + 1)]
            return all(a <= b for a, b in pairwise(values))

    def operation(self, c: Candidates) -> Node | None:
        return None  # the theorem refuses such a curve, and is asked for its formula all the same

    def laws(self, c: Candidates) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        shown = super().laws(c)
        return (*shown, *((f"raise at {l}", (x,)) for l, x in self.premise(c).raised))


class TruncatedReplaced(Replaced):
    """P, Q and R against ρ-tCDP: D_α <= αε(∞)²/2 for ε(∞)-DP, so ρ is that, rounded up."""

    name = "without replacement, tCDP"
    numbers = (("gamma", 1e-6, 0.1),)

    def array_curves(self, c: Candidates) -> Any:
        slope = np.log(largest_ratio(c.laws)[:, 0]) ** 2 / 2
        return ArrayCurve(lambda alpha: slope * alpha)

    def premise(self, c: Candidates) -> Any:
        with precision(128):
            square = ball(Fraction(largest_ratio(c.laws)[0, 0])).log() ** 2 / 2
            rho = _whole((square * 10**9).upper().ceil())
        return TCDP(Fraction(max(rho, 1), 10**9), 10**9)


class NormalTriangle(Scheme):
    """Three normal laws in the plane, variance σ², means at mutual distance 1: Gaussian noise.

    P and Q hold the old and the new record, R neither. With A = E_R[((P−Q)/R)²] = 2x² − 2x and
    C = E_Q[((P−Q)/R)²] = x⁶ − x⁴, x = e^{1/(2σ²)}, the inequality of Cauchy and Schwarz gives
    e^{D₂} − 1 = γ²E[(P−Q)²/((1−γ)R+γQ)] >= γ²A²/((1−γ)A+γC), which stands for the truth.
    """

    name = "without replacement, three normal laws in the plane"
    about = "SubsampleWithoutReplacement"
    numbers = (RATE, ("sigma", 0.3, 20.0))
    orders = (2,)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)  # not used: the laws follow from σ

    def array_curves(self, c: Candidates) -> Any:
        sigma = c.numbers["sigma"][:, 0]
        return ArrayCurve(lambda alpha: alpha / (2 * sigma**2))

    def premise(self, c: Candidates) -> Any:
        return Gaussian(c.number("sigma"))

    def array_truth(self, c: Candidates, alpha: Any) -> Any:
        rate, sigma = c.numbers["gamma"][:, 0], c.numbers["sigma"][:, 0]
        return np.log1p(_triangle(np.exp(1 / (2 * sigma**2)), rate))

    def truth(self, c: Candidates, alpha: Any) -> arb:
        x = (1 / (2 * ball(c.number("sigma")) ** 2)).exp()
        return _triangle(x, ball(c.number("gamma"))).log1p()

    def laws(self, c: Candidates) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        return ()


def _triangle(x: Any, rate: Any) -> Any:
    """γ²A²/((1−γ)A+γC)"""
    spread, skew = 2 * x * (x - 1), x**4 * (x**2 - 1)
    return rate**2 * spread**2 / ((1 - rate) * spread + rate * skew)


class PairSampled(OneRecord):
    """P and Q as a DistributionPair, either of them with the record; Poisson sampling."""

    name = "Poisson, a pair in either role"
    names = ("P", "Q")

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws
        rate = c.numbers["gamma"]
        return both((mixed(rate, p, q), q), (mixed(rate, q, p), p))

    def premise(self, c: Candidates) -> Any:
        return DistributionPair(fractions(c.laws[0]), fractions(c.laws[1]))


class PairSampledAttained(PairSampled):
    """The same for a value that is said to be attained."""

    name = "Poisson, a pair in either role, attained"
    side = LOWER


class PairReplaced(PairSampled):
    """P and Q as a DistributionPair; all records alike but one."""

    name = "without replacement, a pair in either role"
    about = "SubsampleWithoutReplacement"
    side = LOWER


# --- other operations


@dataclass(frozen=True)
class Itself(Scheme):
    """Any pair as the sampled mechanism itself: other orders of its own curve."""

    about: str = "PoissonSubsample"
    side: Kind = UPPER
    name: str = "other orders of the same curve"
    orders: tuple[Any, ...] = (Fraction(3, 2), Fraction(9, 4), Fraction(7, 2), Fraction(13, 2))

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes, outcomes)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[1]))

    def result(self, c: Candidates) -> list[Pair]:
        return self.base(c)

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        return {"gamma": Fraction(1, 2) if ctx is None else ctx.number(Fraction(1, 2))}


class Adaptive(Scheme):
    """A second mechanism chosen by the answer of the first: the joint law of both answers."""

    name = "adaptive composition"
    about = "Compose"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2, 2, *(outcomes,) * 4)

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """The pairs of each of the two mechanisms."""
        p, q, p1, q1, p2, q2 = c.laws
        return [both((p, q)), both((p1, q1), (p2, q2))]

    def result(self, c: Candidates) -> list[Pair]:
        p, q, p1, q1, p2, q2 = c.laws

        def joint(first: Law, one: Law, two: Law) -> Law:
            return np.concatenate([first[:, :1] * one, first[:, 1:] * two], axis=1)

        return both((joint(p, p1, p2), joint(q, q1, q2)))

    def array_curves(self, c: Candidates) -> Any:
        return tuple(ArrayCurve.of_pairs(pairs) for pairs in self.bases(c))

    def premise(self, c: Candidates) -> Any:
        return tuple(FiniteLaws.of(pairs) for pairs in self.bases(c))

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        return {"terms": {"first": 1, "second": 1}}


class Product(Adaptive):
    """Two mechanisms side by side, each curve attained by one pair in the same direction."""

    name = "composition of attained curves"
    side = LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2, 2, outcomes, outcomes)

    def bases(self, c: Candidates) -> list[list[Pair]]:
        p, q, p1, q1 = c.laws
        return [[(p, q)], [(p1, q1)]]

    def result(self, c: Candidates) -> list[Pair]:
        p, q, p1, q1 = c.laws
        whole = Candidates((p, q, p1, q1, p1, q1), c.numbers)
        return super().result(whole)


class Channel(Scheme):
    """P and Q sent through a random function of the outcome."""

    name = "post-processing by a channel"
    about = "PostProcess"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (2 + outcomes)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[1]))

    def result(self, c: Candidates) -> list[Pair]:
        p, q, *rows = c.laws

        def sent(law: Law) -> Law:
            return sum(law[:, i : i + 1] * row for i, row in enumerate(rows))

        return both((sent(p), sent(q)))


@dataclass(frozen=True)
class Chain(Scheme):
    """Laws of datasets a step apart each: the two ends of a group of 2^c."""

    c: int = 1
    about: str = "GroupPrivacy"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"a chain of {2**self.c} steps"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (2**self.c + 1)

    def base(self, c: Candidates) -> list[Pair]:
        return both(*pairwise(c.laws))

    def result(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[-1]))

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        return {"c": self.c}


class RaisedCurve(Scheme):
    """An upper bound of a pair's curve, raised freely at the orders 2 to 5."""

    name = "a curve raised at whole orders"
    about = "Convexify"
    numbers = tuple((f"raise {l}", 1e-4, 5.0) for l in range(2, 6))
    orders = (Fraction(3, 2), 2, Fraction(5, 2), 3, Fraction(7, 2), 4, 5)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes, outcomes)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[1]))

    def result(self, c: Candidates) -> list[Pair]:
        return self.base(c)

    def array_curves(self, c: Candidates) -> Any:
        return ArrayCurve.of_pairs(
            self.base(c), {l: c.numbers[f"raise {l}"][:, 0] for l in range(2, 6)}
        )

    def premise(self, c: Candidates) -> Any:
        return FiniteLaws.of(self.base(c), {l: c.number(f"raise {l}") for l in range(2, 6)})

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        return {"max_order": 5}


# --- RDP ⇒ (ε, δ)


class HockeyStick(Scheme):
    """δ(ε) of a pair is Σ max(0, P − e^ε Q), the larger of both directions; e^ε is rational."""

    name = "δ of a pair at a given ε"
    about = "delta"
    numbers = (("e^epsilon", 1.01, 50.0),)
    orders = (Fraction(11, 10), Fraction(3, 2), 2, Fraction(5, 2), 3, 5, 8, 13)
    by_moments = False

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes, outcomes)

    def base(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[1]))

    def delta(self, c: Candidates) -> Any:
        """The true δ of each candidate."""
        sums = [
            np.sum(np.maximum(p - c.numbers["e^epsilon"] * q, 0 * p), axis=1)
            for p, q in self.base(c)
        ]
        return np.maximum(sums[0], sums[1])

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        if not c.exact:
            return {"epsilon": np.log(c.numbers["e^epsilon"][:, 0])}
        return {"epsilon": ctx.log(ctx.number(c.number("e^epsilon")))}

    def array_truth(self, c: Candidates, alpha: Any) -> Any:
        return self.delta(c)

    def truth(self, c: Candidates, alpha: Any) -> arb:
        return ball(Fraction(self.delta(c)[0]))


class TrueEpsilon(HockeyStick):
    """The same read backwards: at the true δ of e^ε, no ε′ < ε will do while δ > 0."""

    name = "ε of a pair at its true δ"
    about = "epsilon"

    def admits(self, c: Candidates, alpha: Any) -> Any:
        return self.delta(c) > 0

    def parameters(self, c: Candidates, ctx: Any) -> dict[str, Any]:
        delta = self.delta(c)
        return {"delta": ctx.number(Fraction(delta[0])) if c.exact else delta}

    def array_truth(self, c: Candidates, alpha: Any) -> Any:
        return np.log(c.numbers["e^epsilon"][:, 0])

    def truth(self, c: Candidates, alpha: Any) -> arb:
        rational = c.number("e^epsilon")
        return arb(fmpq(rational.numerator, rational.denominator)).log()


# --- a statement about averages


class Averages(Scheme):
    """p₁, p₂, q₁, q₂ and μ₁, μ₂, ν₁, ν₂ with D_α(p_i‖q_i) <= D_α(μ_i‖ν_i) for both i."""

    name = "averages of two pairs"
    names = ("p1", "p2", "q1", "q2", "mu1", "mu2", "nu1", "nu2")
    about = "average"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 8

    def base(self, c: Candidates) -> list[Pair]:
        mu1, mu2, nu1, nu2 = c.laws[4:]
        return [(self.average(c, mu1, mu2), self.average(c, nu1, nu2))]

    def result(self, c: Candidates) -> list[Pair]:
        p1, p2, q1, q2 = c.laws[:4]
        return [(self.average(c, p1, p2), self.average(c, q1, q2))]

    def average(self, c: Candidates, a: Law, b: Law) -> Law:
        """(a + b)/2"""
        return (a + b) * (Fraction(1, 2) if c.exact else 0.5)

    def admits(self, c: Candidates, alpha: Any) -> Any:
        p1, p2, q1, q2, mu1, mu2, nu1, nu2 = c.laws
        first = excess(p1, q1, alpha) <= excess(mu1, nu1, alpha)
        return np.logical_and(first, excess(p2, q2, alpha) <= excess(mu2, nu2, alpha))


#: Which schemes attack a statement about an operation; the search asks which of them apply.
SCHEMES: tuple[Scheme, ...] = (
    OneRecord(),
    RecordRemoved(),
    TwoRecords(),
    Mirrored(),
    PureRecord(),
    GaussianRecord(),
    Attained(),
    MirroredAttained(),
    ResponseAttained(),
    Replaced(),
    TwoOfThree(),
    PureReplaced(),
    MirroredReplaced(),
    ReplacedAttained(),
    TruncatedReplaced(),
    NormalTriangle(),
    PairSampled(),
    PairSampledAttained(),
    PairReplaced(),
    Adaptive(),
    Product(),
    Channel(),
    Chain(1),
    Chain(2),
    RaisedCurve(),
    HockeyStick(),
    TrueEpsilon(),
    Averages(),
)

#: More than the package can prove of a mechanism, but what the theorem's own condition allows.
BY_CONDITION: dict[str, Scheme] = {"ZW19-T8": SkewedRight(), "ZW19-T11": SkewedRight()}
