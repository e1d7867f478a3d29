"""Sampling m of n records without replacement, γ = m/n, one record replaced."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from symacct.adversary.candidates.arrays import ArrayCurve
from symacct.adversary.candidates.finite import Candidates, Pair
from symacct.adversary.candidates.noise import concentration_rho
from symacct.adversary.schemes.poisson import (
    Attained,
    Mirrored,
    PairSampled,
    Pure,
    ResponseAttained,
)
from symacct.adversary.schemes.scheme import RATE, Scheme, both, largest_ratio, mixed
from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import Kind
from symacct.kernel.node import Node
from symacct.mechanisms import TCDP

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
    drawn = 5

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

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        rate = Fraction(2, 3)
        return {"gamma": rate if ctx is None else ctx.number(rate)}


class PureReplaced(Pure, Replaced):
    """P, Q and R against the curve of pure DP with ε(∞) = log of the largest ratio."""

    name = "without replacement, pure DP"


class TruncatedReplaced(Replaced):
    """P, Q and R against ρ-tCDP: D_α <= αε(∞)²/2 for ε(∞)-DP, so ρ is that, rounded up."""

    name = "without replacement, tCDP"
    numbers = (("gamma", 1e-6, 0.1),)

    def array_curves(self, c: Candidates) -> ArrayCurve:
        slope = np.log(largest_ratio(c.laws)[:, 0]) ** 2 / 2
        return ArrayCurve(lambda alpha: slope * alpha)

    def premise(self, c: Candidates) -> Node:
        return TCDP(concentration_rho(Fraction(largest_ratio(c.laws)[0, 0])), 10**9)


SCHEMES: tuple[Scheme, ...] = (
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
