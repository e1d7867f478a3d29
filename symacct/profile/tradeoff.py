"""The trade-off curve of two laws from their profile: f(α) = sup_{x>0} 1 − H(x) − αx.

H(x) = ∫(p − xq)₊ is convex in x and falls by at most 1 for 1, so what is asked is the largest
value of a concave function. Lines through its values bound it between them and beyond.
"""

from __future__ import annotations

from bisect import insort
from contextlib import suppress
from copy import copy
from fractions import Fraction
from operator import attrgetter, methodcaller
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import rational
from symacct.kernel.claims import Kind
from symacct.kernel.errors import LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.kernel.sums.balls import ball, up_to, within_floats
from symacct.profile.answer import Profile
from symacct.profile.solve import CompositionProfile

_SPARE_BITS = 24
_MOST_POINTS, _BLUR = 400, 4
_PATIENT = 40  # points, from where on every other one halves a cell: where H bends, lines are slow
_FAR = 8  # times as large a slope: the middle of two is then that of their logarithms

_BEYOND = (
    "tradeoff: found numbers beyond the range of float64, in which a contour is chosen; needed "
    "smaller ones"
)


class TangentPoint(NamedTuple):
    """The line 1 − H(x) − αx of a slope x, at the level asked, less what is taken off."""

    x: Fraction
    value: arb


class HockeySticks:
    """H(x) = δ(log x) of a profile at slopes x >= 1, to so many digits or as the precision has."""

    def __init__(self, profile: Profile, digits: float | None = None) -> None:
        self.profile, self.directions, self.digits = profile, profile.directions, digits

    @cached_property
    def each_way(self) -> list[tuple[HockeySticks, HockeySticks]]:
        """H of each direction alone, and of its laws exchanged, where the tests are known."""
        tests = self.profile.tests
        if not tests:
            return [(self, self)]
        alone = [(self._of(way), way, _exchanged(way, tests)) for way in tests]
        return [(one, one if back is way else self._of(back)) for one, way, back in alone]

    @property
    def kind(self) -> Kind:
        """What is said of tests: a bound where the best one is not known to be that of a pair."""
        known = self.profile.claim.kind
        return Kind.UPPER if known is Kind.EXACT and not self.profile.tests else known

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
        every = self._largest(ball(x).log())
        found = [one.delta(lambda: ball(x).log(), self._digits) for one in every]
        return BALL.maximum(arb(0), *found)

    @property
    def _digits(self) -> float:
        return self.digits or (ctx.prec - _SPARE_BITS) / 3.33

    def _largest(self, y: arb) -> list[CompositionProfile]:
        """The directions that may be the largest: another may be 0 at y, and has no digit."""
        if len(self.directions) == 1:
            return self.directions
        about = [one.value_without_contour(y) for one in self.directions]
        least = BALL.maximum(arb(0), *(value.lower() for value in about if value.is_finite()))
        every = zip(self.directions, about, strict=True)
        return [one for one, value in every if not value < least]

    def is_tiny(self, x: Fraction, bound: arb) -> bool:
        """Is H(x) proved to be no more than so much, by a closed form or where a moment says so?

        Where it is 0 a closed form may never have any digit of it.
        """
        y, log_bound = float(ball(x).log().mid()), float(bound.log().mid())
        with suppress(PrecisionError, LimitError):
            return all(
                (one.closed is not None or one.runs.moments.log_delta(y) < log_bound)
                and one.is_within(lambda: ball(x).log(), lambda: bound)
                for one in self.directions
            )
        return False

    @property
    def gaussian_mu(self) -> arb | None:
        """The μ of Gaussian noise, where that is what all is."""
        every = [direction.runs.gaussian_ratio for direction in self.directions]
        ratios = [BALL.number(ratio) for ratio in every if ratio is not None]
        return BALL.maximum(*ratios).sqrt() if len(ratios) == len(every) else None

    @property
    def lost(self) -> arb:
        """The mass of what only one of the two laws can give, at most 1."""
        return BALL.maximum(arb(0), *(one.runs.mass_at_infinity for one in self.directions))

    def is_lost(self, share: Fraction) -> bool | None:
        """Is so much of the mass lost? None where H, which falls to it, is too blurred to tell."""
        every = [one.runs.exact_mass_at_infinity for one in self.directions]
        if self.lost >= ball(share) or any(one is not None and share <= one for one in every):
            return True
        blurred = self.lost * (1 + _BLUR * arb(10) ** -self._digits)
        return False if blurred < ball(share) else None

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
    if (is_told := below.is_lost(1 - alpha)) is not False:
        return arb(0) if is_told else arb.nan()
    return TangentSearch(height, alpha, below).largest()


def least_second_error(heights: HockeySticks, alpha: Fraction) -> arb:
    """The least error of the second kind of all tests of a level, in either direction.

    Where the tests are not known that of the convex hull of all their trade-off curves is less.
    """
    ways = heights.each_way
    return BALL.minimum(*(second_error(way, alpha, back) for way, back in ways))


@within_floats(_BEYOND)
@np.errstate(all="ignore")
def largest_power(height: HockeySticks, alpha: Fraction, below: HockeySticks | None = None) -> arb:
    """One less the least error of the second kind, to as many digits however small it is."""
    below = below or height
    if alpha == 0:
        return height.lost
    if (is_told := below.is_lost(1 - alpha)) is not False:
        return arb(1) if is_told else arb.nan()
    return best_test(height, alpha, below).power()


def best_test(height: HockeySticks, alpha: Fraction, below: HockeySticks) -> TangentSearch:
    """The search in which a small power keeps its digits, or a small error of the second kind.

    The power is small where neither H nor αx is above 1/8 at some slope x. H is asked at growing
    ones as long as it is large: where it is tiny it takes long.
    """
    octave, step = 0, 1
    while Fraction(2) ** octave <= 1 / (8 * alpha):
        deadline.check()
        if height(Fraction(2) ** octave) < arb(1) / 8:
            return TangentSearch(height, alpha, below, less=1, first=octave)
        octave, step = octave + step, 2 * step
    return TangentSearch(height, alpha, below)


def is_narrow(least: arb, most: arb, enough: arb) -> bool:
    """Are two ends as near as is enough, or as their balls can tell?"""
    return bool(most - least < enough or most.mid() - least.mid() < _BLUR * (most - least).rad())


class TangentSearch:
    """The largest of the lines: points around it, and what lines through them leave open.

    `less` is taken off all lines: without 1 those of slopes above 1 keep their digits. 2^`first`
    is the slope to begin at.
    """

    def __init__(
        self,
        height: HockeySticks,
        alpha: Fraction,
        below: HockeySticks | None = None,
        less: int = 0,
        first: int = 0,
    ) -> None:
        self.first = first
        self.known: dict[int, list[tuple[Fraction, arb]]] = {}
        self.height, self.alpha, self.below, self.less = height, alpha, below or height, less
        self.points = [TangentPoint(Fraction(0), arb(-less))]

    def largest(self) -> arb:
        """An enclosure of it, as narrow as the precision allows."""
        self._surround()
        while len(self.points) < _MOST_POINTS:
            deadline.check()
            best = self._best()
            cells = [self._above(best - 1), self._above(best)]
            above, top = BALL.maximum(*(most for most, _ in cells)), self.points[best].value
            if is_narrow(top, above, abs(above) * arb(2) ** (_SPARE_BITS - ctx.prec)):
                return top.union(above.max(self._outside(best)))
            where = max(cells, key=lambda cell: cell[0].mid())[1]
            self._add(where)
        level = ball(self.alpha).str(6, radius=False)
        raise PrecisionError(
            f"found no end of the search for the best test of level {level}, "
            "needed fewer digits or a larger level"
        )

    def power(self) -> arb:
        """One less the least error of the second kind."""
        return 1 - self.less - self.largest()

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
        level, most = ball(self.alpha), arb(2) ** -ctx.prec
        if x >= 1:
            fall = level * ball(x)
            return 1 - self.less - self._falling(self.height, x, fall * most) - fall
        rest = 1 - level
        return ball(x) * (rest - self._falling(self.below, 1 / x, rest * most)) - self.less

    def _falling(self, height: HockeySticks, x: Fraction, small: arb) -> arb:
        """H(x), or that it is no more than at a smaller slope, where that is as small.

        Far out H is so tiny that its digits take long, and no line shows them.
        """
        known = self.known.setdefault(id(height), [])
        for at, found in known:
            if at <= x and found < small:
                return found.union(arb(0))
        found = up_to(small.upper()) if height.is_tiny(x, small) else height(x)
        known.append((x, found))
        return found

    def _surround(self) -> None:
        """Points at growing ratios, until there are two on either side of the best."""
        self._add(Fraction(2) ** self.first)
        for side in (1, -1):
            power, step, beyond = self.first, 1, 0
            while beyond < 2:
                deadline.check()
                power, step = power + side * step, 2 * step
                self._add(Fraction(2) ** power)
                beyond = len(self.points) - 1 - self._best() if side > 0 else self._best() - 1

    def _above(self, left: int) -> tuple[arb, Fraction]:
        """What the function is at most between two points, and where to look next.

        That is where the lines beyond them meet, or of slopes far apart, or late, their middle.
        """
        before, u, v, after = self.points[left - 1 : left + 3]
        rise, fall = _slope(before, u), _slope(v, after)
        meet = u.x + rational(
            _clipped((v.value - u.value - fall * ball(v.x - u.x)) / (rise - fall))
        )
        middle = (u.x + v.x) / 2
        if not u.x < meet < v.x:
            meet = middle
        least = u.value.max(v.value)

        def most(x: Fraction) -> arb:
            """By the line from the left up to a place, and by that from the right beyond it."""
            by_left, by_right = u.value + rise * ball(x - u.x), v.value - fall * ball(v.x - x)
            return BALL.maximum(
                least, *([by_left] if x > u.x else []), *([by_right] if x < v.x else [])
            )

        above = min(map(most, (u.x, meet, v.x)), key=methodcaller("upper"))
        if v.x > _FAR * u.x:
            return above, u.x * Fraction(2) ** (_octaves(v.x / u.x) // 2)
        is_late = len(self.points) > _PATIENT and len(self.points) % 2
        return above, middle if is_late else meet

    def _outside(self, best: int) -> arb:
        """What the function is at most beyond the neighbours of a point.

        Past 1/α no line is above 0, of which `less` is taken off.
        """
        u, top, v = self.points[best - 1 : best + 2]
        at_zero = u.value - _slope(u, top) * ball(u.x)
        at_last = v.value + _slope(top, v) * (1 / ball(self.alpha) - ball(v.x))
        return at_zero.max(at_last)


def _slope(u: TangentPoint, v: TangentPoint) -> arb:
    return (v.value - u.value) / ball(v.x - u.x)


def _octaves(ratio: Fraction) -> int:
    """About its binary logarithm."""
    return ratio.numerator.bit_length() - ratio.denominator.bit_length()


def _clipped(x: arb) -> arb:
    return x if x.is_finite() else arb(0)
