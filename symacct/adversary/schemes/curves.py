"""What is said of a curve itself: upper bounds that are raised, and conversions to (ε, δ)."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb

from symacct.adversary.candidates import ArrayCurve, Candidates, FiniteLaws
from symacct.adversary.schemes.samplings import Mirrored
from symacct.adversary.schemes.scheme import Scheme, evaluated
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.exact import Order
from symacct.kernel.node import Node

# --- curves that are only upper bounds
#
# Curves that are only upper bounds: raised at some orders above the curve of their laws.

#: The curve is raised up to this order, at which the bound is attacked.
_LAST = 8


class RaisedResponse(Mirrored):
    """Randomized response read through an upper bound of its curve, nondecreasing up to order 8.

    ε(3), ε(5), ε(7) are raised until B(4), B(6), B(8) are nearly 0, and even orders where B would
    be negative: the differences of a bound hide the moments of the curve.
    """

    name = "without replacement, a raised curve"
    names = ("P, x' sampled", "R, x alone")
    about = "SubsampleWithoutReplacement"
    orders = (_LAST,)
    outcomes = 2

    def raises(self, c: Candidates) -> dict[Order, Number]:
        """Compute by how much the curve is raised at each order, in float64 to nine decimals."""
        pairs = [(p.astype(float), q.astype(float)) for p, q in self.base(c)]
        base = ArrayCurve.of_pairs(pairs)
        raised: dict[Order, Number] = {}
        moments = [np.ones(len(c.laws[0]))] * 2
        moments += [np.exp((l - 1) * base(l)) for l in range(2, _LAST + 1)]
        for l in range(3, _LAST + 1):
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

    def array_curves(self, c: Candidates) -> ArrayCurve:
        """Return the curve of the pair, raised by `raises`, in float64."""
        return ArrayCurve.of_pairs(self.base(c), self.raises(c))

    def premise(self, c: Candidates) -> FiniteLaws:
        """Return the pair with the raised orders as exact fractions of nine decimals."""
        raises = {l: Fraction(round(float(x[0]) * 10**9), 10**9) for l, x in self.raises(c).items()}
        return FiniteLaws.of(self.base(c), {l: x for l, x in raises.items() if x > 0})

    def admits(self, c: Candidates, alpha: Order) -> Number:
        """Which candidates have a raised curve that does not fall from order to order?"""
        curve = self.array_curves(c)
        return np.logical_and.reduce([curve(l) <= curve(l + 1) for l in range(2, int(alpha))])

    def surely_admits(self, c: Candidates, alpha: Order) -> bool:
        """Does ε(l) provably not fall from one whole order to the next, up to α?"""
        node = self.premise(c)
        with precision(256):
            values = [evaluated(node, l) for l in range(2, int(alpha) + 1)]
            return all(a <= b for a, b in pairwise(values))

    def operation(self, c: Candidates) -> Node | None:
        return None  # the theorem refuses such a curve, and is asked for its formula all the same

    def laws(self, c: Candidates) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        """List the laws, and by how much each order is raised."""
        shown = super().laws(c)
        return (*shown, *((f"raise at {l}", (x,)) for l, x in self.premise(c).raised))


class RaisedCurve(Scheme):
    """An upper bound of a pair's curve, raised freely at the orders whose hull is claimed."""

    name = "a curve raised at whole orders"
    about = "Convexify"
    #: Convexify takes the hull of the whole orders from 2 to this one, all of which are raised.
    max_order = 5
    fixed = ("max_order",)
    numbers = tuple((f"raise {l}", 1e-4, 5.0) for l in range(2, max_order + 1))
    orders = (Fraction(3, 2), 2, Fraction(5, 2), 3, Fraction(7, 2), 4, 5)

    def array_curves(self, c: Candidates) -> ArrayCurve:
        """Return the largest D_α of the pairs, raised by the drawn numbers at whole orders."""
        return ArrayCurve.of_pairs(
            self.base(c), {l: c.numbers[f"raise {l}"][:, 0] for l in self._raised_orders}
        )

    def premise(self, c: Candidates) -> Node:
        """Return the pair with its curve raised at whole orders."""
        return FiniteLaws.of(self.base(c), {l: c.number(f"raise {l}") for l in self._raised_orders})

    @property
    def _raised_orders(self) -> range:
        """The orders at which the curve is raised."""
        return range(2, self.max_order + 1)


# --- the true ε and δ of a pair
#
# (ε, δ) of a pair of finite laws, exact in fractions since e^ε is one: for conversions.


class HockeyStick(Scheme):
    """The true δ(ε) of a pair: Σ max(0, P − e^ε Q), the larger of both directions.

    e^ε is drawn and is rational, so that δ is.
    """

    name = "δ of a pair at a given ε"
    about = "delta"
    numbers = (("e^epsilon", 1.01, 50.0),)
    orders = (Fraction(11, 10), Fraction(3, 2), 2, Fraction(5, 2), 3, 5, 8, 13)
    by_moments = False

    def delta(self, c: Candidates) -> Number:
        """Compute the true δ of each candidate, exactly for Fractions."""
        sums = [
            np.sum(np.maximum(p - c.numbers["e^epsilon"] * q, 0 * p), axis=1)
            for p, q in self.base(c)
        ]
        return np.maximum(sums[0], sums[1])

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        """Return ε = log of the drawn e^ε, in balls where the candidate is exact."""
        if ctx and c.exact:
            return {"epsilon": ctx.log(ctx.number(c.number("e^epsilon")))}
        return {"epsilon": np.log(c.numbers["e^epsilon"][:, 0])}

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Return δ, which is the truth itself, in float64."""
        return self.delta(c)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Return δ exactly, as a ball."""
        return ball(Fraction(self.delta(c)[0]))


class TrueEpsilon(HockeyStick):
    """The true ε of a pair at its δ: no ε′ < ε has the δ of ε while that is > 0."""

    name = "ε of a pair at its true δ"
    about = "epsilon"

    def admits(self, c: Candidates, alpha: Order) -> Number:
        """Which candidates have a δ above 0, as the statement needs?"""
        return self.delta(c) > 0

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        """Return δ, as the bound is given it."""
        delta = self.delta(c)
        return {"delta": ctx.number(Fraction(delta[0])) if ctx and c.exact else delta}

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Return ε, which was drawn by e^ε, in float64."""
        return np.log(c.numbers["e^epsilon"][:, 0])

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose ε, the log of the drawn e^ε."""
        return ball(c.number("e^epsilon")).log()
