"""The best of a random number of runs: the law of what is told, from its generating function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb

from symacct.adversary.candidates.arrays import ARRAYS
from symacct.adversary.candidates.finite import Candidates, Law, divergence
from symacct.adversary.schemes.scheme import RATE, Scheme
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.exact import INFINITY, Order
from symacct.kernel.node import Node
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from symacct.operations import RepeatAndSelect
from symacct.operations.repeat import Runs


@dataclass(frozen=True, eq=False)
class Counts:
    """The parameters of many laws at once, in place of the law of one candidate."""

    eta: Fraction | None = None
    n: Fraction | None = None
    gamma: Any = None
    rate: Any = None
    theta: Any = None


@dataclass(frozen=True)
class Repeated(Scheme):
    """The outcomes in their order from worst to best.

    The number of runs is Poisson where neither η is given, of truncated negative binomial laws, nor
    n, of binomial ones.
    """

    eta: Fraction | None = None
    n: Fraction | None = None
    about: str = "RepeatAndSelect"
    side: Kind = Kind.UPPER
    slow_population, slow_cost = 4, 48

    @property
    def name(self) -> str:  # type: ignore[override]
        if self.n is not None:
            return f"the best of those made of {self.n}"
        return "the best of Poisson runs" if self.eta is None else f"the best run, η = {self.eta}"

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        if self.n is not None:
            return (("theta", 0.001, 0.999),)
        return (("rate", 0.05, 30.0),) if self.eta is None else (RATE,)

    def counts(self, c: Candidates) -> Any:
        """The law of the number of runs, or those of all candidates."""
        if not c.exact:
            return Counts(self.eta, self.n, **{name: x[:, 0] for name, x in c.numbers.items()})
        if self.n is not None:
            return Binomial(self.n, c.number("theta"))
        if self.eta is None:
            return Poisson(c.number("rate"))
        return TruncatedNegativeBinomial(self.eta, c.number("gamma"))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Any]:
        return {"runs": self.counts(c)}

    def operation(self, c: Candidates) -> Node:
        premise: Any = self.premise(c)
        runs: Runs = self.counts(c)
        return RepeatAndSelect(premise, runs)

    def told(self, ctx: Arithmetic, law: Iterable[Number], runs: Any) -> list[Number]:
        """The chances that each outcome is the best one, after that of no run at all."""
        below = [ctx.number(0)]
        for share in law:
            below.append(below[-1] + share)
        chances = [self.generating(ctx, x, runs) for x in below]
        return [chances[0], *(high - low for low, high in pairwise(chances))]

    def generating(self, ctx: Arithmetic, x: Number, runs: Any) -> Number:
        """E[x^K]"""
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
        p, q = (self._arrays(c, law) for law in self.pair(c))
        with np.errstate(all="ignore"):
            return np.maximum(divergence(p, q, alpha), divergence(q, p, alpha))

    def _arrays(self, c: Candidates, law: Law) -> Law:
        told = self.told(ARRAYS, np.asarray(law, dtype=float).T, self.counts(c))
        kept = told if self.eta is None else told[1:]
        return np.stack([np.broadcast_to(x, len(law)) for x in kept], axis=1)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        laws = [[BALL.number(x) for x in law[0]] for law in self.pair(c)]
        p, q = (self.told(BALL, law, self.counts(c))[self.eta is not None :] for law in laws)
        return BALL.maximum(_divergence(p, q, alpha), _divergence(q, p, alpha))


def _divergence(p: list[arb], q: list[arb], alpha: Order) -> arb:
    """D_α of laws in balls, outcome by outcome."""
    logs = [(a / b).log() for a, b in zip(p, q, strict=True)]
    if alpha == INFINITY:
        return BALL.maximum(*logs)
    if alpha == 1:
        return sum((a * log for a, log in zip(p, logs, strict=True)), arb(0))
    lam = BALL.number(alpha) - 1
    rise = sum((a * (lam * log).expm1() for a, log in zip(p, logs, strict=True)), arb(0))
    return rise.log1p() / lam


SCHEMES = (
    Repeated(),
    *(Repeated(Fraction(eta)) for eta in ("0", "1", "-1/2", "5/2")),
    *(Repeated(n=Fraction(n)) for n in (1, 2, 20)),
)
