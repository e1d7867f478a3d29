"""The Gaussian trade-off curves below that of a profile: the nearest, and how far it is below.

f is the largest of the lines 1 − H(x) − xα, and G_μ(α) = Φ(Φ⁻¹(1−α) − μ) is convex and its own
inverse. It is below a polygon of such lines where it is below its corners: values of H at growing
slopes x bound μ from above, and from below, as f is under the chords between the lines. Where f is
its own inverse too, slopes from 1 on are enough. Of a pair of laws whose directions differ f is
that of one direction, and its inverse that of the other (docs/proofs.md, section 42).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import rational
from symacct.kernel.errors import DomainError, PrecisionError
from symacct.kernel.sums.balls import ball, normal_tail, within_floats
from symacct.profile.tradeoff import HockeySticks, best_test, is_narrow

_MOST_POINTS, _FIRST_CELLS = 600, 8
_SMALL, _MORE_PLACES = arb(2) ** -12, 4
_BEYOND = (
    "gdp: found numbers beyond the range of float64, in which a contour is chosen; needed smaller "
    "ones, or a larger least_error"
)


class SlopePoint(NamedTuple):
    """H(x) = δ(log x) at a slope x > 0."""

    x: Fraction
    height: arb


class _Corner(NamedTuple):
    """Where two lines meet: an error of the first kind, and one less that of the second."""

    alpha: arb
    power: arb


class _Met(NamedTuple):
    """Where two lines meet, the μ of the Gaussian curve through it, and a fraction above that."""

    place: _Corner
    mu: arb
    height: Fraction


@within_floats(_BEYOND)
@np.errstate(all="ignore")
def smallest_mu(height: HockeySticks, least_error: Fraction, digits: int) -> arb:
    """The least μ with f >= G_μ where both errors are at least `least_error`, of every direction.

    ∞ where f(0) < 1, or nothing is known of its slope at 0, and all errors are asked for. Then the
    convex hull of all f is above G_μ where each of them is, and their largest H is the hull's.
    """
    if height.gaussian_mu is not None:
        return height.gaussian_mu
    if not least_error:
        return _smallest_of_hull(height, least_error, digits)
    found = []
    for way, back in height.each_way:
        if way is back:
            found.append(_smallest_of_hull(way, least_error, digits))
        elif not way.directions[0].reverse:  # the inverse of the other: below both or neither
            found.append(_smallest_of_arc(way, back, least_error, digits))
    return BALL.maximum(*found)


def _smallest_of_hull(height: HockeySticks, least_error: Fraction, digits: int) -> arb:
    """Of an f that is its own inverse, from its slope −1 to the steepest one."""
    middle = SlopePoint(Fraction(1), height(Fraction(1)))
    centre = (1 - middle.height) / 2  # where f(α) = α, and the slope is −1
    if not middle.height > 0:
        return arb(0).union(_of_powers_above(middle.height.upper(), least_error))
    touched = _Corner(centre, 1 - centre)
    if least_error:
        _refuse_large(least_error, centre, "at which both errors of the best test are equal")
        steep, first = _tangent(height, least_error, height)
        x = max(steep, Fraction(1))
        return _Polygon(middle, SlopePoint(x, height(x)), first, touched).smallest(height, digits)
    largest = height.largest_loss
    if not largest.is_finite() or not bool(height.lost == 0):
        return arb("inf")
    end = SlopePoint(rational(largest.exp().upper()), arb(0))
    return _Polygon(middle, end, _Corner(arb(0), arb(0)), touched).smallest(height, digits)


def _smallest_of_arc(
    height: HockeySticks, below: HockeySticks, least_error: Fraction, digits: int
) -> arb:
    """Of one direction, from where the error of one kind is the least to where the other is."""
    total = height(Fraction(1))
    if not total > 0:
        return arb(0).union(_of_powers_above(total.upper(), least_error))
    _refuse_large(least_error, (1 - total) / 2, "half of what the best test's errors sum to")

    def both_sides(x: Fraction) -> arb:
        """H, at slopes below 1 by that of the laws exchanged."""
        return height(x) if x >= 1 else 1 - ball(x) + ball(x) * below(1 / x)

    steep, first = _tangent(height, least_error, below)
    turned, there = _tangent(below, least_error, height)
    flat = min(1 / turned, steep)
    last = _Corner(1 - there.power, 1 - there.alpha)
    at_flat, at_steep = (SlopePoint(x, both_sides(x)) for x in (flat, steep))
    return _Polygon(at_flat, at_steep, first, last).smallest(both_sides, digits)


def _refuse_large(least_error: Fraction, centre: arb, what: str) -> None:
    """DomainError for errors of which both need not be had at once."""
    if not ball(least_error) < centre:
        raise DomainError(
            f"least_error: found {float(least_error):.6g}, needed less than "
            f"{float(centre.mid()):.6g}, {what}"
        )


def _tangent(
    height: HockeySticks, alpha: Fraction, below: HockeySticks
) -> tuple[Fraction, _Corner]:
    """The slope of a line that touches f at α, and the place."""
    search = best_test(height, alpha, below)
    power = search.power()
    return search.best.x, _Corner(ball(alpha), power)


def _of_powers_above(gain: arb, least_error: Fraction) -> arb:
    """At most the μ of a test whose power is above its level by no more than so much.

    It is the largest at the least level.
    """
    if gain == 0:
        return arb(0)
    level = ball(least_error)
    return gaussian_quantile(level) - gaussian_quantile(level + gain) if level > 0 else arb("inf")


def gaussian_quantile(tail: arb) -> arb:
    """The z with P(Z > z) = tail for a standard normal Z."""
    return arb(2).sqrt() * (2 * tail).erfcinv()


def gaussian_hockey_stick(mu: arb, x: arb) -> arb:
    """H(x) of N(μ, 1) from N(0, 1)."""
    at = x.log() / mu
    return normal_tail(at - mu / 2) - x * normal_tail(at + mu / 2)


def _apart(corner: _Corner) -> arb:
    """The μ of the Gaussian curve through a place."""
    return gaussian_quantile(corner.alpha) - gaussian_quantile(corner.power)


class _Polygon:
    """Lines of slopes from a flat one to a steep one, and the places of f at the ends."""

    def __init__(self, flat: SlopePoint, steep: SlopePoint, first: _Corner, last: _Corner) -> None:
        self.points = [flat] if steep.x == flat.x else [flat, steep]
        self.first, self.last = first, last

    def smallest(self, height: Callable[[Fraction], arb], digits: int) -> arb:
        """The least μ of all places of f from the first to the last."""
        flat = self.points[0]
        line = _Corner(self.last.alpha, flat.height + ball(flat.x) * self.last.alpha)
        least = _apart(self.last)
        most = least.max(_apart(line))
        if self.first.alpha > 0:
            least, end = least.max(_apart(self.first)), self.points[-1]
            line = _Corner(self.first.alpha, end.height + ball(end.x) * self.first.alpha)
            most = most.max(_apart(line))
        self.corners = [self._corner(*pair) for pair in pairwise(self.points)]
        while self.corners and len(self.points) < _MOST_POINTS:
            deadline.check()
            widest = max(range(len(self.corners)), key=lambda i: self.corners[i].height)
            least = least.max(_finite(_apart(self._chord(widest))))
            above, enough = most.max(self.corners[widest].mu), least * arb(10) ** -(digits + 1)
            if is_narrow(least, above, enough) or above.is_nan():
                return least.union(above)
            self._split(height, widest)
        if not self.corners:
            return least.union(most)
        raise PrecisionError(
            f"gdp: {digits} digits not reached at {_MOST_POINTS} slopes",
            remedy=(
                "ask for fewer digits: for a nearly Gaussian mechanism only a few can be found"
            ),
        )

    def _corner(self, low: SlopePoint, high: SlopePoint) -> _Met:
        """Where the lines of two slopes meet, and the μ there."""
        alpha = (low.height - high.height) / ball(high.x - low.x)
        corner = _Corner(alpha, low.height + ball(low.x) * alpha)
        mu = _apart(corner)
        return _Met(corner, mu, _height(mu))

    def _chord(self, i: int) -> _Corner:
        """A place that f is not above, over a corner: on the chord between the next ones.

        f touches each line between two corners, and falls: it is not above the left one either.
        """
        right = self.last if i == 0 else self.corners[i - 1].place
        left = self.first if i == len(self.corners) - 1 else self.corners[i + 1].place
        alpha = self.corners[i].place.alpha
        rise = (right.power - left.power) / (right.alpha - left.alpha)
        gain = rise * (alpha - left.alpha)
        return _Corner(alpha, left.power + gain if gain.is_finite() else left.power)

    def _split(self, height: Callable[[Fraction], arb], i: int) -> None:
        low, high = self.points[i].x, self.points[i + 1].x
        parts = _FIRST_CELLS if len(self.points) == 2 else 2
        ratio = (ball(high) / ball(low)).log() / parts
        slopes = [rational((ball(low) * (part * ratio).exp()).mid()) for part in range(1, parts)]
        self.points[i + 1 : i + 1] = [SlopePoint(x, height(x)) for x in slopes]
        between = self.points[i : i + parts + 1]
        self.corners[i : i + 1] = [self._corner(*pair) for pair in pairwise(between)]


@within_floats(_BEYOND)
@np.errstate(all="ignore")
def largest_regret(height: HockeySticks, mu: arb, digits: int) -> arb:
    """The largest (H_μ(x) − H(x))/(1+x), H_μ being the Gaussian profile; 0 where none is above 0.

    By which the best guess of an attacker is right more often under G_μ than under f, at any prior.
    """
    return _Excess(height, mu).largest(digits) if mu > 0 else arb(0)


class _Excess:
    """Values at growing slopes; between them H_μ is below its chord, H above the lines beside."""

    def __init__(self, height: HockeySticks, mu: arb) -> None:
        self.height, self.mu = height, mu
        self.points = [SlopePoint(Fraction(1), height(Fraction(1)))]
        #: The slope of a line that H is above and meets at 1, of the test of equal errors.
        self.first = -(1 - self.points[0].height) / 2
        self.known: dict[tuple[bool, tuple[Fraction, ...]], tuple[arb, Fraction]] = {}

    def largest(self, digits: int) -> arb:
        """An enclosure of it, to so many digits, or to as many places and a few more.

        It is wider where that takes too many slopes.
        """
        self._reach(arb(10) ** -(digits + _MORE_PLACES))
        while len(self.points) < _MOST_POINTS:
            deadline.check()
            least = BALL.maximum(arb(0), *map(self._share, self.points))
            cells = [self._above(i) for i in range(len(self.points) - 1)]
            above, x = max(cells, key=lambda cell: _height(cell[0]))
            above = above.max(self._beyond())
            enough = least.max(arb(10) ** -_MORE_PLACES) * arb(10) ** -(digits + 1)
            if is_narrow(least, above, enough):
                break
            insort(self.points, SlopePoint(x, self.height(x)))
        return least.union(above.max(least))  # wide, where the two curves nearly touch everywhere

    def _reach(self, enough: arb) -> None:
        """Points at equal ratios, until what lies beyond is small."""
        ratio = rational(((self.mu / 2 + 4) * self.mu / _FIRST_CELLS).exp().upper())
        while not self._beyond() < enough.max(_SMALL * self._share(self.points[-1])):
            deadline.check()
            x = self.points[-1].x * ratio
            self.points.append(SlopePoint(x, self.height(x)))

    def _beyond(self) -> arb:
        """What it is at most beyond the last point."""
        x = ball(self.points[-1].x)
        return gaussian_hockey_stick(self.mu, x) / (1 + x)

    def _share(self, point: SlopePoint) -> arb:
        x = ball(point.x)
        return (gaussian_hockey_stick(self.mu, x) - point.height) / (1 + x)

    def _above(self, i: int) -> tuple[arb, Fraction]:
        """What it is at most between two points, a linear function over another one; and where."""
        beside = i == 0, tuple(point.x for point in self.points[max(0, i - 1) : i + 3])
        if beside not in self.known:
            self.known[beside] = self._between(i, self.points[i], self.points[i + 1])
        return self.known[beside]

    def _between(self, i: int, u: SlopePoint, v: SlopePoint) -> tuple[arb, Fraction]:
        rise = _slope(self.points[i - 1], u) if i else self.first
        fall = _slope(v, self.points[i + 2]) if i + 2 < len(self.points) else arb(0)
        width = ball(v.x - u.x)
        off = (v.height - u.height - fall * width) / (rise - fall)
        meet = u.x + rational(off.mid()) if off.is_finite() else u.x
        if not u.x < meet < v.x:
            meet = (u.x + v.x) / 2
        left, right = ball(meet - u.x), ball(v.x - meet)
        line = (u.height + rise * left).min(v.height - fall * right)
        ends = [gaussian_hockey_stick(self.mu, ball(point.x)) for point in (u, v)]
        chord = ends[0] + (ends[1] - ends[0]) * left / width
        between = (chord - line) / (1 + ball(meet))
        return BALL.maximum(self._share(u), self._share(v), between), meet


def _slope(u: SlopePoint, v: SlopePoint) -> arb:
    return (v.height - u.height) / ball(v.x - u.x)


def _height(mu: arb) -> Fraction:
    """By which the widest is found: what is no number comes first."""
    return rational(mu.upper()) if mu.is_finite() else Fraction(2) ** 64


def _finite(mu: arb) -> arb:
    return mu if mu.is_finite() else arb(0)
