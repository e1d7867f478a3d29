"""Samplings under their less usual relation: Poisson with a record replaced, fixed size with one

added or removed; and the mechanisms that pure DP's worst triples come from.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from symacct.claims import ADD_REMOVE, REPLACE_ONE, Kind
from symacct.explore.attacks.finite import Candidates, Law, Pair
from symacct.explore.attacks.poisson import (
    Attained,
    Mirrored,
    MirroredAttained,
    OneRecord,
    PairSampled,
    PairSampledAttained,
    RecordRemoved,
    ResponseAttained,
)
from symacct.explore.attacks.replaced import Replaced
from symacct.explore.attacks.scheme import Scheme, both, largest_ratio, mixed, reversed_law
from symacct.mechanisms import PureDP


def left_out(scheme: Scheme) -> Scheme:
    """The scheme for samples of a fixed size: another record in the place of the one left out."""
    changed = copy.copy(scheme)
    changed.name = scheme.name.replace("Poisson", "fixed size, a record more or less")
    changed.about = "SubsampleWithoutReplacement"
    changed.relation = ADD_REMOVE
    return changed


class RecordReplaced(Replaced):
    """P has the old record in the sample, Q the new one, R neither: (P, R), (Q, R) adjacent."""

    name = "Poisson, a record replaced"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def base(self, c: Candidates) -> list[Pair]:
        p, q, r = c.laws
        return both((p, r), (q, r))


class RecordIgnored(Attained):
    """A record replaced by one that changes nothing: P with the record, Q without."""

    name = "Poisson, a record replaced by one that changes nothing, attained"
    relation = REPLACE_ONE


class PureClass(Replaced):
    """P, Q and R against the largest over all mechanisms with their ε(∞)."""

    name = "without replacement, all pure DP mechanisms"

    def premise(self, c: Candidates) -> Any:
        return pure_class(c, self.base(c))


class PureClassPoisson(RecordReplaced):
    """The same for Poisson sampling."""

    name = "Poisson, a record replaced, all pure DP mechanisms"

    def premise(self, c: Candidates) -> Any:
        return pure_class(c, self.base(c))


def pure_class(c: Candidates, pairs: list[Pair]) -> PureDP:
    """All mechanisms with ε(∞) = log of the largest ratio in the pairs."""
    return PureDP(_log(max(Fraction(np.max(p / q)) for p, q in pairs)))


def _log(ratio: Fraction) -> sympy.Expr:
    return sympy.log(sympy.Rational(ratio.numerator, ratio.denominator))


class FavouritesAttained(Replaced):
    """Two or three answers, of which each law favours its own by the odds of the one law drawn."""

    name = "without replacement, two or three answers, attained"
    names: tuple[str, ...] = ("randomized response",)
    side = Kind.LOWER

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        return (2,)

    def odds(self, c: Candidates) -> Any:
        """The larger probability over the smaller."""
        return largest_ratio((c.laws[0], reversed_law(c.laws[0])))

    def base(self, c: Candidates) -> list[Pair]:
        p = c.laws[0]
        return both((p, reversed_law(p)))

    def result(self, c: Candidates) -> list[Pair]:
        rate = c.numbers["gamma"]
        p, q, r = (favouring(i, self.odds(c)) for i in range(3))
        one, other = favouring(0, self.odds(c), 2), favouring(1, self.odds(c), 2)
        return [(mixed(rate, p, r), mixed(rate, q, r)), (mixed(rate, one, other), other)]

    def premise(self, c: Candidates) -> Any:
        return PureDP(_log(Fraction(self.odds(c)[0, 0])))


class AntitheticAttained(FavouritesAttained):
    """Three answers of which P favours one, Q another, and R has both more often by as much."""

    name = "Poisson, a record replaced, opposite answers, attained"
    about = "PoissonSubsample"
    relation = REPLACE_ONE

    def result(self, c: Candidates) -> list[Pair]:
        rate, e = c.numbers["gamma"], self.odds(c)
        weight = 1 / (e + 1)
        r = np.concatenate([weight, weight, 1 - 2 * weight], axis=1)
        p = np.concatenate([e * weight, weight / e, (1 - 2 * weight) / e], axis=1)
        q = np.concatenate([weight / e, e * weight, (1 - 2 * weight) / e], axis=1)
        return [(mixed(rate, p, r), mixed(rate, q, r))]


def favouring(answer: int, odds: Any, answers: int = 3) -> Law:
    """k-ary randomized response: one answer `odds` times as likely as each other one."""
    weights = [odds if i == answer else odds / odds for i in range(answers)]
    return np.concatenate(weights, axis=1) / (odds + answers - 1)


CROSSED: tuple[Scheme, ...] = (
    RecordReplaced(),
    RecordIgnored(),
    PureClass(),
    PureClassPoisson(),
    FavouritesAttained(),
    AntitheticAttained(),
    *map(
        left_out,
        (
            OneRecord(),
            RecordRemoved(),
            Mirrored(),
            Attained(),
            MirroredAttained(),
            ResponseAttained(),
            PairSampled(),
            PairSampledAttained(),
        ),
    ),
)
