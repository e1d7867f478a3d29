"""The trade-off curve of two laws from their profile: f(α) = sup_{x>0} 1 − H(x) − αx.

H(x) = ∫(p − xq)₊ is convex in x and falls by at most 1 for 1, so what is asked is the largest
value of a concave function. Lines through its values bound it between them and beyond.
"""

from __future__ import annotations

from bisect import insort
from copy import copy
from fractions import Fraction
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import rational
from symacct.core.errors import PrecisionError
from symacct.core.forking import cached_property
from symacct.numerics.sums.refine import ball, up_to, within_floats
from symacct.profile.answer import Profile
from symacct.profile.solve import CompositionProfile

_SPARE_BITS = 24
_MOST_POINTS, _BLUR = 400, 4

_BEYOND = (
    "tradeoff: found numbers beyond the range of float64, in which a contour is chosen; needed "
    "smaller ones"
)


class TangentPoint(NamedTuple):
    """The line 1 − H(x) − αx of a slope x, at the level asked."""

    x: Fraction
    value: arb


class HockeySticks:
    """H(x) = δ(log x) of a profile at slopes x >= 1, to so many digits or as the precision has."""

    def __init__(self, profile: Profile, digits: float | None = None) -> None:
        self.profile, self.directions, self.digits = profile, profile.directions, digits

    @cached_property
    def each_way(self) -> list[tuple[HockeySticks, HockeySticks]]:
        """H of each direction alone, and of its laws exchanged, where all are of one pair."""
        if self.profile.of_many:
            return [(self, self)]
        ways = [(way, _exchanged(way, self.directions)) for way in self.directions]
        return [(self._of(way), self._of(back)) for way, back in ways]

    def _of(self, direction: CompositionProfile) -> HockeySticks:
        alone = copy(self)
        alone.directions = [direction]
        return alone

    def __call__(self, x: Fraction) -> arb:
        """From a little above where balls cannot tell which outcomes count."""
        try:
            return self._at(x)
        except PrecisionError:
            step = x / 2**ctx.prec
            return self._at(x + step) + up_to(ball(step))

    def _at(self, x: Fraction) -> arb:
        digits = self.digits or (ctx.prec - _SPARE_BITS) / 3.33
        found = [one.delta(lambda: ball(x).log(), digits) for one in self.directions]
        return BALL.maximum(arb(0), *found)

    @property
    def lost(self) -> arb:
        """The mass of what only one of the two laws can give, at most 1."""
        return BALL.maximum(arb(0), *(one.runs.mass_at_infinity for one in self.directions))

    @property
    def largest_loss(self) -> arb:
        """The largest loss that both can give."""
        return BALL.maximum(*(one.runs.largest for one in self.directions))


def _exchanged(way: CompositionProfile, known: list[CompositionProfile]) -> CompositionProfile:
    """The runs the other way round; `way` itself where an involution exchanges the laws."""
    if all(part.symmetric for part, _ in way.pairs):
        return way
    for other in known:
        if other.pairs == way.pairs and other.reverse is not way.reverse:
            return other
    return CompositionProfile(way.pairs, not way.reverse, way)


@within_floats(_BEYOND)
@np.errstate(all="ignore")
def second_error(height: HockeySticks, alpha: Fraction, below: HockeySticks | None = None) -> arb:
    """The least error of the second kind at the level α, 0 <= α <= 1, at flint's precision.

    `below` is H of the laws exchanged; without it both directions are one profile.
    """
    below = below or height
    if alpha == 0:
        return 1 - height.lost
    if ball(alpha) >= 1 - below.lost:
        return arb(0)
    return TangentSearch(height, alpha, below).largest()


def is_narrow(least: arb, most: arb, enough: arb) -> bool:
    """Are two ends as near as is enough, or as their balls can tell?"""
    return bool(most - least < enough or most.mid() - least.mid() < _BLUR * (most - least).rad())


class TangentSearch:
    """The largest of the lines: points around it, and what lines through them leave open."""

    def __init__(
        self, height: HockeySticks, alpha: Fraction, below: HockeySticks | None = None
    ) -> None:
        self.height, self.alpha, self.below = height, alpha, below or height
        self.points = [TangentPoint(Fraction(0), arb(0))]

    def largest(self) -> arb:
        """An enclosure of it, as narrow as the precision allows."""
        self._surround()
        while len(self.points) < _MOST_POINTS:
            best = self._best()
            cells = [self._above(best - 1), self._above(best)]
            above, top = BALL.maximum(*(most for most, _ in cells)), self.points[best].value
            if is_narrow(top, above, above * arb(2) ** (_SPARE_BITS - ctx.prec)):
                return top.union(above.max(self._outside(best)))
            where = max(cells, key=lambda cell: cell[0].mid())[1]
            self._add(where)
        raise PrecisionError("tradeoff: no end of the search")

    @property
    def best(self) -> TangentPoint:
        """The largest of the lines that were asked for."""
        return self.points[self._best()]

    def _add(self, x: Fraction) -> None:
        insort(self.points, TangentPoint(x, self._line(x)), key=attrgetter("x"))

    def _best(self) -> int:
        return max(range(len(self.points)), key=lambda i: self.points[i].value.mid())

    def _line(self, x: Fraction) -> arb:
        """1 − H(x) − αx; below 1 x(1 − H(1/x) − α), H that of the laws exchanged."""
        level = ball(self.alpha)
        if x >= 1:
            return 1 - self.height(x) - level * ball(x)
        return ball(x) * (1 - self.below(1 / x) - level)

    def _surround(self) -> None:
        """Points at growing ratios, until there are two on either side of the best."""
        self._add(Fraction(1))
        for side in (1, -1):
            power, step, beyond = 0, 1, 0
            while beyond < 2:
                power, step = power + side * step, 2 * step
                self._add(Fraction(2) ** power)
                beyond = len(self.points) - 1 - self._best() if side > 0 else self._best() - 1

    def _above(self, left: int) -> tuple[arb, Fraction]:
        """What the function is at most between two points, and where the lines beyond them meet."""
        before, u, v, after = self.points[left - 1 : left + 3]
        rise, fall = _slope(before, u), _slope(v, after)
        meet = u.x + rational(
            _clipped((v.value - u.value - fall * ball(v.x - u.x)) / (rise - fall))
        )
        if not u.x < meet < v.x:
            meet = (u.x + v.x) / 2
        by_left, by_right = u.value + rise * ball(meet - u.x), v.value - fall * ball(v.x - meet)
        return BALL.maximum(u.value, v.value, by_left, by_right), meet

    def _outside(self, best: int) -> arb:
        """What the function is at most beyond the neighbours of a point; past 1/α it is below 0."""
        u, top, v = self.points[best - 1 : best + 2]
        at_zero = u.value - _slope(u, top) * ball(u.x)
        at_last = v.value + _slope(top, v) * (1 / ball(self.alpha) - ball(v.x))
        return at_zero.max(at_last)


def _slope(u: TangentPoint, v: TangentPoint) -> arb:
    return (v.value - u.value) / ball(v.x - u.x)


def _clipped(x: arb) -> arb:
    return x if x.is_finite() else arb(0)
