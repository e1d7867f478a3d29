"""Composition, post-processing, groups, averages, scaled curves, other orders of one curve."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb

from symacct.adversary.candidates.arrays import ArrayCurve
from symacct.adversary.candidates.finite import Candidates, FiniteLaws, Law, Pair, excess
from symacct.adversary.candidates.noise import NOISES, concentration_rho
from symacct.adversary.schemes.scheme import (
    BOTH_SIDES,
    Scheme,
    Worded,
    both,
    evaluated,
    largest_ratio,
)
from symacct.adversary.schemes.thresholds import NoisyRecord
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import Order
from symacct.kernel.node import Node
from symacct.mechanisms import ZCDP, DistributionPair
from symacct.operations import GroupPrivacy, RandomAllocation


@dataclass(frozen=True)
class Itself(Scheme):
    """Any pair as the sampled mechanism itself: other orders of its own curve."""

    about: str = "PoissonSubsample"
    side: Kind = Kind.UPPER
    name: str = "other orders of the same curve"
    orders: tuple[Order, ...] = (Fraction(3, 2), Fraction(9, 4), Fraction(7, 2), Fraction(13, 2))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"gamma": Fraction(1, 2) if ctx is None else ctx.number(Fraction(1, 2))}


class AdaptiveComposition(Scheme):
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

    def array_curves(self, c: Candidates) -> tuple[ArrayCurve, ...]:
        return tuple(ArrayCurve.of_pairs(pairs) for pairs in self.bases(c))

    def premise(self, c: Candidates) -> tuple[Node, ...]:
        return tuple(FiniteLaws.of(pairs) for pairs in self.bases(c))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"terms": {"first": 1, "second": 1}}


class SideBySide(AdaptiveComposition):
    """Two mechanisms side by side, each curve attained by one pair in the same direction."""

    name = "composition of attained curves"
    side = Kind.LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2, 2, outcomes, outcomes)

    def bases(self, c: Candidates) -> list[list[Pair]]:
        p, q, p1, q1 = c.laws
        return [[(p, q)], [(p1, q1)]]

    def result(self, c: Candidates) -> list[Pair]:
        p, q, p1, q1 = c.laws
        whole = Candidates((p, q, p1, q1, p1, q1), c.numbers)
        return super().result(whole)


@dataclass(frozen=True)
class Coin(Worded):
    """One of two mechanisms by a coin that is told; attained where both point the same way."""

    words = "a coin told, {self.share} to {self.other}{attained}"
    share: Fraction = Fraction(1, 3)
    side: Kind = Kind.UPPER
    about: str = "Either"
    drawn = 4

    @property
    def other(self) -> Fraction:
        return 1 - self.share

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """The pairs of each of the two mechanisms."""
        p, q, p1, q1 = c.laws
        return [both((p, q)), both((p1, q1))] if self.side is Kind.UPPER else [[(p, q)], [(p1, q1)]]

    def result(self, c: Candidates) -> list[Pair]:
        p, q, p1, q1 = c.laws
        s = self.share if c.exact else float(self.share)

        def told(first: Law, second: Law) -> Law:
            return np.concatenate([s * first, (1 - s) * second], axis=1)

        return both((told(p, p1), told(q, q1)))

    def array_curves(self, c: Candidates) -> tuple[ArrayCurve, ...]:
        return tuple(ArrayCurve.of_pairs(pairs) for pairs in self.bases(c))

    def premise(self, c: Candidates) -> tuple[Node, ...]:
        return tuple(FiniteLaws.of(pairs) for pairs in self.bases(c))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"share": self.share}


class Channel(Scheme):
    """P and Q sent through a random function of the outcome."""

    name = "post-processing by a channel"
    about = "PostProcess"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (2 + outcomes)

    def result(self, c: Candidates) -> list[Pair]:
        p, q, *rows = c.laws

        def sent(law: Law) -> Law:
            first, *rest = (law[:, i : i + 1] * row for i, row in enumerate(rows))
            return sum(rest, start=first)

        return both((sent(p), sent(q)))


@dataclass(frozen=True)
class Chain(Worded):
    """Laws of datasets a step apart each: the two ends of a group."""

    words = "a chain of {self.size} steps"
    size: int = 2
    about: str = "GroupPrivacy"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (1 + self.size)

    def base(self, c: Candidates) -> list[Pair]:
        return both(*pairwise(c.laws))

    def result(self, c: Candidates) -> list[Pair]:
        return both((c.laws[0], c.laws[-1]))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"size": self.size}

    def operation(self, c: Candidates) -> Node:
        return GroupPrivacy(self.premise(c), self.size)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ConcentratedChain(Chain):
    """A chain against ρ-zCDP of its steps: ε(∞)-DP is that with ρ = ε(∞)²/2, rounded up."""

    words = "a chain of {self.size} steps, zCDP"

    def array_curves(self, c: Candidates) -> ArrayCurve:
        steps = [np.log(largest_ratio(pair)[:, 0]) for pair in pairwise(c.laws)]
        slope = np.maximum.reduce(steps) ** 2 / 2
        return ArrayCurve(lambda alpha: slope * alpha)

    def premise(self, c: Candidates) -> Node:
        largest = max(Fraction(largest_ratio(pair)[0, 0]) for pair in pairwise(c.laws))
        return ZCDP(concentration_rho(largest))


@dataclass(frozen=True)
class FarNoise(NoisyRecord):
    """Noise about two centres, each of a group's records having moved it by 1."""

    words = "{self.noise.name} moved by {self.size} records{attained}"
    about: str = "GroupPrivacy"
    size: int = 3

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return ((self.noise.scale, *self.noise.drawn),)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        return self.noise.curve(c.numbers[self.noise.scale][:, 0] / self.size, alpha)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        scale = c.number(self.noise.scale)
        pair = DistributionPair(self.noise.law(self.size, scale), self.noise.law(0, scale))
        return evaluated(pair, alpha)

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"size": self.size}

    def operation(self, c: Candidates) -> Node:
        return GroupPrivacy(self.premise(c), self.size)


@dataclass(frozen=True)
class Copies(Worded):
    """n runs of one mechanism, with n times its curve: of both directions, or of one pair."""

    words = "{self.n} runs of one mechanism{attained}"
    n: int = 2
    side: Kind = Kind.UPPER
    about: str = "Scale"

    def base(self, c: Candidates) -> list[Pair]:
        return super().base(c) if self.side is Kind.UPPER else [self.pair(c)]

    def result(self, c: Candidates) -> list[Pair]:
        p, q = (side_by_side(*[law] * self.n) for law in c.laws)
        return both((p, q))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"c": self.n if ctx is None else ctx.number(self.n)}


class Averages(Scheme):
    """p₁, p₂, q₁, q₂ and μ₁, μ₂, ν₁, ν₂ with D_α(p_i‖q_i) <= D_α(μ_i‖ν_i) for both i."""

    name = "averages of two pairs"
    names = ("p1", "p2", "q1", "q2", "mu1", "mu2", "nu1", "nu2")
    about = "average"
    drawn = 8

    def base(self, c: Candidates) -> list[Pair]:
        mu1, mu2, nu1, nu2 = c.laws[4:]
        return [(self.average(c, mu1, mu2), self.average(c, nu1, nu2))]

    def result(self, c: Candidates) -> list[Pair]:
        p1, p2, q1, q2 = c.laws[:4]
        return [(self.average(c, p1, p2), self.average(c, q1, q2))]

    def average(self, c: Candidates, a: Law, b: Law) -> Law:
        """(a + b)/2"""
        return (a + b) * (Fraction(1, 2) if c.exact else 0.5)

    def admits(self, c: Candidates, alpha: Order) -> Number:
        p1, p2, q1, q2, mu1, mu2, nu1, nu2 = c.laws
        first = excess(p1, q1, alpha) <= excess(mu1, nu1, alpha)
        return np.logical_and(first, excess(p2, q2, alpha) <= excess(mu2, nu2, alpha))


@dataclass(frozen=True)
class Allocated(Worded):
    """All outcomes of T steps, one of which, drawn at random, is of the other law."""

    words = "one of {self.steps} steps at random"
    steps: int = 2
    about: str = "RandomAllocation"

    def result(self, c: Candidates) -> list[Pair]:
        p, q = c.laws
        share = Fraction(1, self.steps) if c.exact else 1 / self.steps
        first, *rest = (
            share * side_by_side(*(p if i == step else q for i in range(self.steps)))
            for step in range(self.steps)
        )
        return both((sum(rest, start=first), side_by_side(*[q] * self.steps)))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        return {"steps": self.steps}

    def operation(self, c: Candidates) -> Node:
        return RandomAllocation(self.premise(c), self.steps)  # type: ignore[arg-type]


def side_by_side(*laws: Law) -> Law:
    """The law of independent outcomes, one of each law."""
    joint, *rest = laws
    for law in rest:
        joint = (joint[:, :, None] * law[:, None, :]).reshape(len(law), -1)
    return joint


SCHEMES: tuple[Scheme, ...] = (
    *(Allocated(steps) for steps in (2, 3)),
    AdaptiveComposition(),
    SideBySide(),
    *(Coin(share, side) for share in (Fraction(1, 3), Fraction(1, 100)) for side in BOTH_SIDES),
    Channel(),
    *(Chain(size) for size in (2, 3, 4)),
    ConcentratedChain(3),
    *(FarNoise(noise, side=side) for noise in NOISES for side in BOTH_SIDES),
    Copies(2, Kind.UPPER),
    Copies(3, Kind.LOWER),
)
