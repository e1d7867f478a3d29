"""Composition, post-processing, groups, averages, scaled curves, runs of which one is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, ClassVar

import numpy as np
from flint import arb

from symacct.adversary.candidates import (
    ARRAYS,
    ArrayCurve,
    Candidates,
    Law,
    Pair,
    divergence,
    excess,
    fractions,
)
from symacct.adversary.schemes.noise import NOISES, NoisyRecord, concentration_rho
from symacct.adversary.schemes.scheme import (
    BOTH_SIDES,
    RATE,
    Scheme,
    TwoMechanisms,
    Worded,
    both,
    evaluated,
    largest_ratio,
)
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from symacct.mechanisms import ZCDP, DistributionPair, FiniteMechanism


@dataclass(frozen=True)
class Itself(Scheme):
    """Any pair as the sampled mechanism itself: other orders of its own curve."""

    about: str = "PoissonSubsample"
    side: Kind = Kind.UPPER
    name: str = "other orders of the same curve"
    orders: tuple[Order, ...] = (Fraction(3, 2), Fraction(9, 4), Fraction(7, 2), Fraction(13, 2))
    gamma: Fraction = Fraction(1, 2)
    fixed = ("gamma",)


class AdaptiveComposition(TwoMechanisms):
    """A second mechanism chosen by the answer of the first: the joint law of both answers."""

    name = "adaptive composition"
    about = "Compose"
    terms: ClassVar[dict[str, int]] = {"first": 1, "second": 1}
    fixed = ("terms",)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2, 2, *(outcomes,) * 4)

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """List the pairs of the first mechanism, and those of the second after either answer."""
        p, q, p1, q1, p2, q2 = c.laws
        return [both((p, q)), both((p1, q1), (p2, q2))]

    def result(self, c: Candidates) -> list[Pair]:
        """List the joint laws, both ways: the second pair depends on the first answer."""
        p, q, p1, q1, p2, q2 = c.laws

        def joint(start: Law, after_first: Law, after_second: Law) -> Law:
            return np.concatenate([start[:, :1] * after_first, start[:, 1:] * after_second], axis=1)

        return both((joint(p, p1, p2), joint(q, q1, q2)))


class SideBySide(AdaptiveComposition):
    """Two mechanisms side by side, each curve attained by one pair in the same direction."""

    name = "composition of attained curves"
    side = Kind.LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2, 2, outcomes, outcomes)

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """List one pair of each mechanism, in one direction."""
        p, q, p1, q1 = c.laws
        return [[(p, q)], [(p1, q1)]]

    def result(self, c: Candidates) -> list[Pair]:
        """List the joint laws, both ways, where the second pair is the same after each answer."""
        p, q, p1, q1 = c.laws
        whole = Candidates((p, q, p1, q1, p1, q1), c.numbers)
        return super().result(whole)


@dataclass(frozen=True)
class Coin(Worded, TwoMechanisms):
    """One of two mechanisms by a coin that is told; attained where both point the same way."""

    words = "a coin told, {self.share} to {self.other}{attained}"
    share: Fraction = Fraction(1, 3)
    side: Kind = Kind.UPPER
    about: str = "Either"
    drawn = 4
    fixed = ("share",)

    @property
    def other(self) -> Fraction:
        return 1 - self.share

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """List the pairs of each mechanism, in one direction where the curve is attained."""
        p, q, p1, q1 = c.laws
        return [both((p, q)), both((p1, q1))] if self.side is Kind.UPPER else [[(p, q)], [(p1, q1)]]

    def result(self, c: Candidates) -> list[Pair]:
        """List the laws of the coin with the answer of the mechanism that it chose, both ways."""
        p, q, p1, q1 = c.laws
        s = self.share if c.exact else float(self.share)

        def with_coin(first: Law, second: Law) -> Law:
            return np.concatenate([s * first, (1 - s) * second], axis=1)

        return both((with_coin(p, p1), with_coin(q, q1)))


class Channel(Scheme):
    """P and Q sent through a random function of the outcome, a law for each outcome."""

    name = "post-processing by a channel"
    about = "PostProcess"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (2 + outcomes)

    def result(self, c: Candidates) -> list[Pair]:
        """List the laws after the channel, both ways: a law of the output for each outcome."""
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
    fixed = ("size",)

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * (1 + self.size)

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of datasets a step apart, both ways."""
        return both(*pairwise(c.laws))

    def result(self, c: Candidates) -> list[Pair]:
        """List the pair of both ends of the chain, both ways."""
        return both((c.laws[0], c.laws[-1]))


@dataclass(frozen=True)
class ConcentratedChain(Chain):
    """A chain against ρ-zCDP of its steps: ε(∞)-DP is that with ρ = ε(∞)²/2, rounded up."""

    words = "a chain of {self.size} steps, zCDP"

    def array_curves(self, c: Candidates) -> ArrayCurve:
        """Return αε²/2, ε the largest log ratio of two laws a step apart."""
        steps = [np.log(largest_ratio(pair)[:, 0]) for pair in pairwise(c.laws)]
        slope = np.maximum.reduce(steps) ** 2 / 2
        return ArrayCurve(lambda alpha: slope * alpha)

    def premise(self, c: Candidates) -> Node:
        """Return the zCDP of the largest log ratio of two laws a step apart."""
        largest = max(Fraction(largest_ratio(pair)[0, 0]) for pair in pairwise(c.laws))
        return ZCDP(concentration_rho(largest))


@dataclass(frozen=True)
class FarNoise(NoisyRecord):
    """Noise about two centres, each of a group's records having moved it by 1."""

    words = "{self.noise.name} moved by {self.size} records{attained}"
    about: str = "GroupPrivacy"
    size: int = 3
    fixed = ("size",)

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return ((self.noise.scale, *self.noise.drawn),)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Compute the curve of the noise at a scale `size` times smaller, in float64."""
        return self.noise.curve(c.numbers[self.noise.scale][:, 0] / self.size, alpha)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose D_α of the noise moved by `size` from the noise at 0, by their integral."""
        scale = c.number(self.noise.scale)
        pair = DistributionPair(self.noise.law(self.size, scale), self.noise.law(0, scale))
        return evaluated(pair, alpha)


@dataclass(frozen=True)
class Copies(Worded):
    """c runs of one mechanism, with c times its curve: of both directions, or of one pair."""

    words = "{self.c} runs of one mechanism{attained}"
    c: int = 2
    side: Kind = Kind.UPPER
    about: str = "Scale"
    fixed = ("c",)

    def base(self, c: Candidates) -> list[Pair]:
        """List the pair both ways, in one direction where the curve is attained."""
        return super().base(c) if self.side is Kind.UPPER else [self.pair(c)]

    def result(self, c: Candidates) -> list[Pair]:
        """List the laws of c independent runs, both ways."""
        p, q = (side_by_side(*[law] * self.c) for law in c.laws)
        return both((p, q))


class Averages(Scheme):
    """p₁, p₂, q₁, q₂ and μ₁, μ₂, ν₁, ν₂ with D_α(p_i‖q_i) <= D_α(μ_i‖ν_i) for both i."""

    name = "averages of two pairs"
    names = ("p1", "p2", "q1", "q2", "mu1", "mu2", "nu1", "nu2")
    about = "average"
    drawn = 8

    def base(self, c: Candidates) -> list[Pair]:
        """List the mean of μ₁ and μ₂ against that of ν₁ and ν₂."""
        mu1, mu2, nu1, nu2 = c.laws[4:]
        return [(self.average(c, mu1, mu2), self.average(c, nu1, nu2))]

    def result(self, c: Candidates) -> list[Pair]:
        """List the mean of p₁ and p₂ against that of q₁ and q₂."""
        p1, p2, q1, q2 = c.laws[:4]
        return [(self.average(c, p1, p2), self.average(c, q1, q2))]

    def average(self, c: Candidates, a: Law, b: Law) -> Law:
        """(a + b)/2, exactly for Fractions"""
        return (a + b) * (Fraction(1, 2) if c.exact else 0.5)

    def admits(self, c: Candidates, alpha: Order) -> Number:
        """Which candidates have D_α(p_i‖q_i) <= D_α(μ_i‖ν_i) for both i?"""
        p1, p2, q1, q2, mu1, mu2, nu1, nu2 = c.laws
        first = excess(p1, q1, alpha) <= excess(mu1, nu1, alpha)
        return np.logical_and(first, excess(p2, q2, alpha) <= excess(mu2, nu2, alpha))


@dataclass(frozen=True)
class Allocated(Worded):
    """All outcomes of T steps, some of which, drawn at random, are of the other law."""

    words = "{self.times} of {self.steps} steps at random"
    steps: int = 2
    times: int = 1
    about: str = "RandomAllocation"
    fixed = ("steps", "times")

    def result(self, c: Candidates) -> list[Pair]:
        """List the law of all steps with the record in some, against none, both ways."""
        p, q = c.laws
        choices = list(combinations(range(self.steps), self.times))
        share = Fraction(1, len(choices)) if c.exact else 1 / len(choices)
        first, *rest = (
            share * side_by_side(*(p if i in drawn else q for i in range(self.steps)))
            for drawn in choices
        )
        return both((sum(rest, start=first), side_by_side(*[q] * self.steps)))


@dataclass(frozen=True)
class InAnyOrder(Worded):
    """The answers of n people in an order drawn at random, each by one of three laws."""

    words = "the answers of {self.n} people in any order"
    n: int = 2
    about: str = "Shuffled"
    drawn = 3
    fixed = ("n",)

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs of the three laws, both ways."""
        return both(*combinations(c.laws, 2))

    def result(self, c: Candidates) -> list[Pair]:
        """List the pairs of laws of both answers in any order, the other person's law fixed."""
        half = Fraction(1, 2) if c.exact else 0.5
        answers = [
            [half * (side_by_side(law, x) + side_by_side(x, law)) for law in c.laws] for x in c.laws
        ]
        return both(*(pair for laws in answers for pair in combinations(laws, 2)))

    def premise(self, c: Candidates) -> Node:
        """Return the mechanism of all three laws, any of which another person may have."""
        return FiniteMechanism(list(map(fractions, c.laws)))


def side_by_side(*laws: Law) -> Law:
    """Make the law of independent outcomes, one of each law."""
    joint, *rest = laws
    for law in rest:
        joint = (joint[:, :, None] * law[:, None, :]).reshape(len(law), -1)
    return joint


#: The schemes about operations that sample nothing, but for repetitions.
SCHEMES: tuple[Scheme, ...] = (
    *(Allocated(steps) for steps in (2, 3)),
    Allocated(3, 2),
    InAnyOrder(),
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


# --- the best of a random number of runs
#
# The best of a random number of runs: the law of what is told, from its generating function.


@dataclass(frozen=True, eq=False)
class Counts:
    """The parameters of the laws of many candidates at once, where one candidate has one law.

    Those that a law does not have are None.
    """

    eta: Fraction | None = None
    n: Fraction | None = None
    gamma: Any = None
    rate: Any = None
    theta: Any = None


@dataclass(frozen=True)
class Repeated(Scheme):
    """The best outcome of a random number of runs; outcomes are in their order, worst first.

    The number of runs is truncated negative binomial if `eta` (η) is given, binomial if `n` is, and
    else Poisson. The truth is the larger of both directions, by balls.
    """

    eta: Fraction | None = None
    n: Fraction | None = None
    about: str = "RepeatAndSelect"
    side: Kind = Kind.UPPER
    slow_population, slow_cost = 4, 48

    @property
    def name(self) -> str:  # type: ignore[override]
        """The scheme's name by the law of the number of runs."""
        if self.n is not None:
            return f"the best of those made of {self.n}"
        return "the best of Poisson runs" if self.eta is None else f"the best run, η = {self.eta}"

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        """The parameter of that law which is drawn, and its range."""
        if self.n is not None:
            return (("theta", 0.001, 0.999),)
        return (("rate", 0.05, 30.0),) if self.eta is None else (RATE,)

    def counts(self, c: Candidates) -> Any:
        """Return the law of the number of runs, or those of all candidates."""
        if not c.exact:
            return Counts(self.eta, self.n, **{name: x[:, 0] for name, x in c.numbers.items()})
        if self.n is not None:
            return Binomial(self.n, c.number("theta"))
        if self.eta is None:
            return Poisson(c.number("rate"))
        return TruncatedNegativeBinomial(self.eta, c.number("gamma"))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Any]:
        """Return the law of the number of runs."""
        return {"runs": self.counts(c)}

    def best_outcomes(self, ctx: Arithmetic, law: Iterable[Number], runs: Any) -> list[Number]:
        """Compute the chance of no run at all, and then of each outcome being the best one."""
        below = [ctx.number(0)]
        for share in law:
            below.append(below[-1] + share)
        chances = [self.generating(ctx, x, runs) for x in below]
        return [chances[0], *(high - low for low, high in pairwise(chances))]

    def generating(self, ctx: Arithmetic, x: Number, runs: Any) -> Number:
        """E[x^K], K the number of runs"""
        if self.n is not None:
            return ctx.exp(ctx.number(self.n) * ctx.log1p(ctx.number(runs.theta) * (x - 1)))
        if self.eta is None:
            return ctx.exp(ctx.number(runs.rate) * (x - 1))
        gamma = ctx.number(runs.gamma)
        log, log_gamma = ctx.log1p(-(1 - gamma) * x), ctx.log(gamma)
        if self.eta == 0:
            return log / log_gamma
        eta = ctx.number(self.eta)
        return ctx.expm1(-eta * log) / ctx.expm1(-eta * log_gamma)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Compute the larger D_α of the best outcome's two laws in float64."""
        p, q = (self._arrays(c, law) for law in self.pair(c))
        with np.errstate(all="ignore"):
            return np.maximum(divergence(p, q, alpha), divergence(q, p, alpha))

    def _arrays(self, c: Candidates, law: Law) -> Law:
        """Compute the law of the best outcome of each candidate; no run may be an outcome."""
        chances = self.best_outcomes(ARRAYS, np.asarray(law, dtype=float).T, self.counts(c))
        kept = chances if self.eta is None else chances[1:]
        return np.stack([np.broadcast_to(x, len(law)) for x in kept], axis=1)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose the larger D_α of the best outcome's two laws, by outcomes in balls."""
        laws = [[BALL.number(x) for x in law[0]] for law in self.pair(c)]
        p, q = (
            self.best_outcomes(BALL, law, self.counts(c))[self.eta is not None :] for law in laws
        )
        return BALL.maximum(_divergence(p, q, alpha), _divergence(q, p, alpha))


def _divergence(p: list[arb], q: list[arb], alpha: Order) -> arb:
    """Enclose D_α(P‖Q), 1 <= α <= ∞, of two laws whose outcomes have balls of positive numbers.

    The laws have to sum to 1: the formula takes that off. A ball that holds 0 makes it NaN.
    """
    logs = [(a / b).log() for a, b in zip(p, q, strict=True)]
    if alpha == INFINITY:
        return BALL.maximum(*logs)
    if alpha == 1:
        return sum((a * log for a, log in zip(p, logs, strict=True)), arb(0))
    lam = BALL.number(alpha) - 1
    rise = sum((a * (lam * log).expm1() for a, log in zip(p, logs, strict=True)), arb(0))
    return rise.log1p() / lam


#: The schemes about the best of several runs, one for each law of their number.
REPEATED = (
    Repeated(),
    *(Repeated(Fraction(eta)) for eta in ("0", "1", "-1/2", "5/2")),
    *(Repeated(n=Fraction(n)) for n in (1, 2, 20)),
)
