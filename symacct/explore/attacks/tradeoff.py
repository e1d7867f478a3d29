"""(ε, δ) of a pair of finite laws, exact in fractions since e^ε is one: for conversions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from symacct.explore.attacks.finite import Candidates, Pair
from symacct.explore.attacks.scheme import Scheme, both
from symacct.sums.refine import ball


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
