"""Averages of pairs: what the blog's Conjecture 1 is about."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symacct.arithmetic import Number
from symacct.exact import Order
from symacct.explore.attacks.finite import Candidates, Law, Pair, excess
from symacct.explore.attacks.scheme import Scheme


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
