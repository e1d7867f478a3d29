"""(ε, δ) of a pair of finite laws, exact in fractions since e^ε is one: for conversions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from symacct.adversary.candidates.finite import Candidates
from symacct.adversary.schemes.scheme import Scheme
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.exact import Order
from symacct.kernel.sums.balls import ball


class HockeyStick(Scheme):
    """δ(ε) of a pair is Σ max(0, P − e^ε Q), the larger of both directions; e^ε is rational."""

    name = "δ of a pair at a given ε"
    about = "delta"
    numbers = (("e^epsilon", 1.01, 50.0),)
    orders = (Fraction(11, 10), Fraction(3, 2), 2, Fraction(5, 2), 3, 5, 8, 13)
    by_moments = False

    def delta(self, c: Candidates) -> Number:
        """The true δ of each candidate."""
        sums = [
            np.sum(np.maximum(p - c.numbers["e^epsilon"] * q, 0 * p), axis=1)
            for p, q in self.base(c)
        ]
        return np.maximum(sums[0], sums[1])

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        if ctx and c.exact:
            return {"epsilon": ctx.log(ctx.number(c.number("e^epsilon")))}
        return {"epsilon": np.log(c.numbers["e^epsilon"][:, 0])}

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        return self.delta(c)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        return ball(Fraction(self.delta(c)[0]))


class TrueEpsilon(HockeyStick):
    """The profile read backwards: at the true δ of e^ε, no ε′ < ε will do while δ > 0."""

    name = "ε of a pair at its true δ"
    about = "epsilon"

    def admits(self, c: Candidates, alpha: Order) -> Number:
        return self.delta(c) > 0

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        delta = self.delta(c)
        return {"delta": ctx.number(Fraction(delta[0])) if ctx and c.exact else delta}

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        return np.log(c.numbers["e^epsilon"][:, 0])

    def truth(self, c: Candidates, alpha: Order) -> arb:
        return ball(c.number("e^epsilon")).log()
