"""Samplings under their less usual relation, and the mechanisms of pure DP's worst triples."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import comb

import numpy as np
import sympy
from flint import acb, arb, ctx

from symacct.adversary.candidates.finite import Candidates, Law, Pair, fractions
from symacct.adversary.candidates.noise import GaussianNoise
from symacct.adversary.schemes import poisson
from symacct.adversary.schemes.poisson import Attained, PureRecord, TwoRecords
from symacct.adversary.schemes.replaced import Replaced
from symacct.adversary.schemes.scheme import (
    BOTH_SIDES,
    LEFT_OUT,
    RATE,
    USUAL_RELATION,
    Scheme,
    both,
    largest_ratio,
    mixed,
    reversed_law,
)
from symacct.adversary.schemes.thresholds import NoisyRecord
from symacct.kernel.arithmetic import Number
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Adjacency, Kind
from symacct.kernel.exact import Order
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball, integral, up_to
from symacct.mechanisms import FiniteMechanism, PureDP


def left_out(scheme: Scheme) -> Scheme:
    """The scheme for samples of a fixed size: another record in the place of the one left out."""
    return scheme.called(
        scheme.name.replace("Poisson", LEFT_OUT),
        about="SubsampleWithoutReplacement",
        relation=ADD_REMOVE,
    )


class RecordReplaced(Replaced):
    """P has the old record in the sample, Q the new one, R neither: (P, R), (Q, R) adjacent."""

    name = "Poisson, a record replaced"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def base(self, c: Candidates) -> list[Pair]:
        p, q, r = c.laws
        return both((p, r), (q, r))


class PureClass(Scheme):
    """The laws against the largest over all mechanisms with their ε(∞)."""

    slow_population, slow_cost = 8, 2

    def premise(self, c: Candidates) -> Node:
        return PureDP(_log(max(Fraction(np.max(p / q)) for p, q in self.base(c))))


class PureClassReplaced(PureClass, Replaced):
    """P, Q and R, samples of a fixed size."""

    name = "without replacement, all pure DP mechanisms"


class PureClassPoisson(PureClass, RecordReplaced):
    """All pure DP mechanisms under Poisson sampling, a record replaced."""

    name = "Poisson, a record replaced, all pure DP mechanisms"


def _log(ratio: Fraction) -> sympy.Expr:
    return sympy.log(sympy.Rational(ratio.numerator, ratio.denominator))


class FavouritesAttained(Replaced):
    """Two or three answers, of which each law favours its own by the odds of the one law drawn."""

    name = "without replacement, two or three answers, attained"
    slow_population, slow_cost = 8, 2
    names: tuple[str, ...] = ("randomized response",)
    side = Kind.LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)

    def odds(self, c: Candidates) -> Number:
        """The larger probability over the smaller."""
        return largest_ratio((c.laws[0], reversed_law(c.laws[0])))

    def base(self, c: Candidates) -> list[Pair]:
        p = c.laws[0]
        return both((p, reversed_law(p)))

    def result(self, c: Candidates) -> list[Pair]:
        rate = c.numbers["gamma"]
        p, q, r = (biased_response(i, self.odds(c)) for i in range(3))
        one, other = biased_response(0, self.odds(c), 2), biased_response(1, self.odds(c), 2)
        return [(mixed(rate, p, r), mixed(rate, q, r)), (mixed(rate, one, other), other)]

    def premise(self, c: Candidates) -> Node:
        return PureDP(_log(Fraction(self.odds(c)[0, 0])))


class AntitheticAttained(FavouritesAttained):
    """Three answers of which P favours one, Q another, and R has both more often by as much."""

    name = "Poisson, a record replaced, opposite answers"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def __init__(self, side: Kind) -> None:
        self.side = side
        self.name = f"{type(self).name}{', attained' * (side is Kind.LOWER)}"

    def result(self, c: Candidates) -> list[Pair]:
        rate, e = c.numbers["gamma"], self.odds(c)
        weight = 1 / (e + 1)
        r = np.concatenate([weight, weight, 1 - 2 * weight], axis=1)
        p = np.concatenate([e * weight, weight / e, (1 - 2 * weight) / e], axis=1)
        q = np.concatenate([weight / e, e * weight, (1 - 2 * weight) / e], axis=1)
        return [(mixed(rate, p, r), mixed(rate, q, r))]


def biased_response(answer: int, odds: Number, answers: int = 3) -> Law:
    """k-ary randomized response: one answer `odds` times as likely as each other one."""
    weights = [odds if i == answer else odds / odds for i in range(answers)]
    law: Law = np.concatenate(weights, axis=1) / (odds + answers - 1)
    return law


class AllLaws(Scheme):
    """Three laws, all that the mechanism has: the largest over the triples of them."""

    numbers = (RATE,)
    names = ("law 1", "law 2", "law 3")

    def __init__(self, about: str, relation: Adjacency, side: Kind) -> None:
        self.about, self.relation, self.side = about, relation, side
        self.name = f"{about}, {relation}, all laws known, {side}"

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (outcomes,) * 3

    def base(self, c: Candidates) -> list[Pair]:
        return list(permutations(c.laws, 2))

    def result(self, c: Candidates) -> list[Pair]:
        rate = c.numbers["gamma"]
        triples: Iterable[tuple[Law, Law, Law]] = product(c.laws, c.laws, c.laws)
        if self.relation == ADD_REMOVE:
            triples = ((p, o, q) for p, o, q in triples if q is p or q is o)
        return [(mixed(rate, p, q), mixed(rate, o, q)) for p, o, q in triples if p is not o]

    def premise(self, c: Candidates) -> Node:
        return FiniteMechanism(list(map(fractions, c.laws)))


class OppositeNormals(NoisyRecord):
    """Poisson sampling of Gaussian noise, records that move the mean by 1 in opposite directions.

    The truth is the definition by flint's integration: for m = κ+γe^x, n = κ+γe^{−x−δ²} it is
    E[n(r^α − 1 − α(r−1))], r = m/n, or E[n(r log r − r + 1)] at order 1.
    """

    words = "Poisson, a record replaced, normal laws at opposite ends, {self.side}"
    slow_population, slow_cost, last_bits = 8, 2, 128

    def __init__(self, side: Kind) -> None:
        super().__init__(GaussianNoise(), "PoissonSubsample", side, REPLACE_ONE)

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        rate, shift = c.numbers["gamma"], 1 / c.numbers["sigma"]
        a, z = float(alpha), np.linspace(-12, 12, 2000) + np.zeros_like(shift)
        z = z + np.maximum(z, 0) / 12 * (a - 1) * shift  # as far to the right as the peak needs
        m, n = (1 + rate * np.expm1(s * shift * z - shift**2 / 2) for s in (1, -1))
        s = m / n - 1
        rise = np.expm1(a * np.log1p(s)) - a * s if a > 1 else (1 + s) * np.log1p(s) - s
        weights = np.gradient(z, axis=1) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        total = np.sum(weights * n * rise, axis=1)
        return np.log1p(total) / (a - 1) if a > 1 else total

    def truth(self, c: Candidates, alpha: Order) -> arb:
        rate, shift = ball(c.number("gamma")), 1 / ball(c.number("sigma"))
        order = ball(Fraction(alpha))
        reach = (2 * arb(2).log() * (ctx.prec + 40)).sqrt() + shift * (order + 2)

        def integrand(z: acb, analytic: bool) -> acb:
            m, n = (1 + rate * (s * shift * z - shift**2 / 2).expm1() for s in (1, -1))
            log_m, log_n = m.log(analytic=analytic), n.log(analytic=analytic)
            bell = (-z * z / 2).exp()
            if alpha == 1:
                return bell * (m * (log_m - log_n) - m + n)
            power = (order * log_m + (1 - order) * log_n).exp()
            return bell * (power - order * m - (1 - order) * n)

        ends = [-reach.mid(), arb(0), reach.mid()]
        total = sum((integral(integrand, *two).real for two in pairwise(ends)), arb(0))
        total /= (2 * arb.pi()).sqrt()
        return total if alpha == 1 else total.log1p() / (order - 1)


class NormalTriangles(NoisyRecord):
    """Fixed size, three normal laws: on a line with the third one, and at the same distances.

    At whole orders E[m^α n^{1−α}] is a binomial sum over the powers of X of E[n^{1−α}] under
    log Y ~ N(l c − B/2, B): integrals over the line.
    """

    words = "without replacement, three normal laws, {self.side}"
    orders = (2, 3, 5)
    slow_population, slow_cost, last_bits = 2, 30, 64

    def __init__(self, side: Kind) -> None:
        super().__init__(GaussianNoise(), "SubsampleWithoutReplacement", side)

    @property
    def numbers(self) -> tuple[tuple[str, float, float], ...]:  # type: ignore[override]
        return (RATE, ("sigma", 0.8, 20.0))

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        raise NotImplementedError("one by one, in balls")

    def truth(self, c: Candidates, alpha: Order) -> arb:
        rate, square = ball(c.number("gamma")), 1 / ball(c.number("sigma")) ** 2
        ends = (arb(0), square)
        moments = [_by_powers(int(alpha), rate, square, side) for side in ends]
        return moments[0].max(moments[1]).log() / (int(alpha) - 1)


def _by_powers(alpha: int, rate: arb, square: arb, side: arb) -> arb:
    """Σ_l C(α,l)κ^{α−l}γ^l e^{l(l−1)A/2} E[(κ+γe^V)^{1−α}], V ~ N(lB/2 − B/2, B)."""
    width, reach = side.sqrt(), (2 * arb(2).log() * (ctx.prec + 20)).sqrt().mid()
    total = arb(0)
    for l in range(alpha + 1):
        centre = (l - 1) * side / 2

        def integrand(t: acb, analytic: bool, centre: arb = centre) -> acb:
            n = 1 + rate * (centre + width * t).expm1()
            exponent: acb = (1 - alpha) * n.log(analytic=analytic) - t * t / 2
            return exponent.exp()

        halves = ((-reach, arb(0)), (arb(0), reach))
        mean = sum((integral(integrand, *ends).real for ends in halves), arb(0))
        beyond = (1 - rate) ** (1 - alpha) * (reach / arb(2).sqrt()).erfc()
        mean = mean / (2 * arb.pi()).sqrt() + up_to(beyond)
        weight = arb(comb(alpha, l)) * (1 - rate) ** (alpha - l) * rate**l
        total += weight * (l * (l - 1) * square / 2).exp() * mean
    return total


SCHEMES: tuple[Scheme, ...] = (
    RecordReplaced(),
    # P with the record, Q with one in its place that changes nothing.
    Attained().called(
        "Poisson, a record replaced by one that changes nothing, attained", relation=REPLACE_ONE
    ),
    PureClassReplaced(),
    PureClassPoisson(),
    FavouritesAttained(),
    *map(AntitheticAttained, BOTH_SIDES),
    *(
        AllLaws(about, relation, side)
        for about in USUAL_RELATION
        for relation in USUAL_RELATION.values()
        for side in BOTH_SIDES
    ),
    *map(OppositeNormals, BOTH_SIDES),
    *map(NormalTriangles, BOTH_SIDES),
    *(left_out(one) for one in poisson.SCHEMES if not isinstance(one, TwoRecords | PureRecord)),
)
