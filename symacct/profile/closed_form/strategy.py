"""δ(ε) and ε(δ) where D(y) is a closed form or a finite sum."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from symacct.kernel.claims import Proof
from symacct.kernel.sums.balls import ball
from symacct.profile.accuracy import (
    accuracy,
    at_digits,
    bits_for,
    decided_by_digits,
    float_of,
    precisions,
    undecided,
)
from symacct.profile.roots import Value, before_the_end, crossing
from symacct.profile.runs import DirectedRuns
from symacct.profile.strategy import Number


@dataclass(eq=False)
class ClosedForm:
    """D as a function of y at flint's current precision; it takes about so many nodes' time."""

    runs: DirectedRuns
    formula: Value
    proof: Proof
    nodes: float = 0.0

    def cost(self, digits: float) -> float:
        """About as many nodes as a value takes the time of: its digits are cheap."""
        return self.nodes

    def value(self, y: arb) -> arb:
        """D(y); NaN where more bits are needed."""
        end = self.runs.beyond_largest_loss(y)
        return self.formula(y) if end is None else end

    def delta(self, y: Number, digits: float) -> arb:
        """D(y) to so many digits, at growing precision."""
        return at_digits(lambda: self.value(y()), digits, lambda: f"δ at ε = {float_of(y):.6g}")

    def is_within(self, y: Number, bound: Number) -> bool | None:
        """Is D(y) at most the bound?"""

        def roughly(digits: float) -> arb:
            with ctx.workprec(bits_for(digits)):
                return self.value(y())

        return decided_by_digits(roughly, bound)

    def root(self, delta: Fraction, digits: float) -> arb:
        """Between points at which balls decide, at growing precision."""
        found = None
        for bits in (bits_for(0), *precisions(digits)):  # at few first: many are asked for seldom
            with ctx.workprec(bits):
                goal = ball(delta)
                if self.runs.have_an_end:  # a moment costs more than a value of D
                    found = before_the_end(self.formula, goal, found, self.runs.largest)
                else:
                    found = crossing(self.formula, goal, found, self.runs.about_root)
            if found is not None and accuracy(found) >= digits:
                return found
        raise undecided(f"ε at δ = {float(delta):.6g}", digits)
