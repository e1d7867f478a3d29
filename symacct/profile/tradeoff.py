"""Trade-off functions, and the smallest μ of μ-GDP, follow from the exact profile.

f(α) is the smallest error of the second kind at the level α, slopes are x = e^ε, and H(x) = δ(ε).
Enclosures are balls at flint's current precision, unless digits are asked.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from fractions import Fraction
from itertools import pairwise
from operator import attrgetter, methodcaller
from typing import NamedTuple

from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import ball, normal_tail, rational, up_to, within_floats
from symacct.kernel.claims import Kind
from symacct.kernel.errors import DomainError, LimitError, PrecisionError
from symacct.kernel.memory import cached_property
from symacct.profile.answer import Profile
from symacct.profile.solve import CompositionProfile

# --- trade-offs
#
# The trade-off curve of two laws from their profile: f(α) = sup_{x>0} 1 − H(x) − αx.
#
# H(x) = ∫(p − xq)₊ is convex in x and falls by at most 1 for 1, so what is asked is the largest
# value of a concave function. Lines through its values bound it between them and beyond.

#: An answer has so many bits less than flint's precision, as balls lose some. Where fewer are
#: spared, more answers are refused.
_SPARE_BITS = 24
#: The search ends with a PrecisionError at so many points, or at slopes of so many octaves. They
#: cost time.
_MOST_POINTS, _MOST_OCTAVES = 400, 2**18
#: Two ends are as near as balls tell where they are so many radii apart. The search ends there, and
#: the answer is the ball of both: a larger number saves time, and widens it.
_RADII_APART = 4
#: From so many points on every other one halves a cell: where H bends, lines are slow. It steers.
_POINTS_BEFORE_HALVING = 40
#: Between slopes this many times apart the next one is the middle of their logarithms. It steers.
_RATIO_OF_FAR_SLOPES = 8

#: What the PrecisionError says where float64 is left.
_BEYOND = (
    "tradeoff: found numbers beyond the range of float64, in which a contour is chosen; needed "
    "smaller ones"
)


class TangentPoint(NamedTuple):
    """A tangent is the line of slope −x at the level α: 1 − H(x) − αx, less an offset."""

    x: Fraction
    value: arb


class HockeySticks:
    """H(x) = δ(log x) of a profile, at slopes x >= 1, is the largest of its directions.

    It is asked to `digits` significant digits, or else to flint's precision less a reserve.
    """

    def __init__(self, profile: Profile, digits: float | None = None) -> None:
        self.profile, self.directions, self.digits = profile, profile.directions, digits

    @cached_property
    def each_way(self) -> list[tuple[HockeySticks, HockeySticks]]:
        """List H of each direction alone, and of its laws exchanged, where the tests are known."""
        tests = self.profile.tests
        if not tests:
            return [(self, self)]
        alone = [(self._of(way), way, _exchanged(way, tests)) for way in tests]
        return [(sticks, sticks if back is way else self._of(back)) for sticks, way, back in alone]

    @property
    def kind(self) -> Kind:
        """Return the kind of what is said of tests: UPPER where the best one may be of no pair."""
        known = self.profile.claim.kind
        return Kind.UPPER if known is Kind.EXACT and not self.profile.tests else known

    def _of(self, direction: CompositionProfile) -> HockeySticks:
        """Make H of one direction alone."""
        alone = copy(self)
        alone.directions = [direction]
        return alone

    def __call__(self, x: Fraction) -> arb:
        """Compute H(x), from a little above x where balls cannot tell which outcomes count.

        H falls by at most 1 for 1, which the ball is widened by.
        """
        try:
            return self._at(x)
        except PrecisionError:
            step = x / 2**ctx.prec
            return self._at(x + step) + up_to(ball(step))

    def _at(self, x: Fraction) -> arb:
        """Compute H(x) as the largest of the directions that may be; PrecisionError if refused."""
        directions = self._largest(ball(x).log())
        values = [direction.delta(lambda: ball(x).log(), self._digits) for direction in directions]
        return BALL.maximum(arb(0), *values)

    @property
    def _digits(self) -> float:
        """The digits that a direction is asked for."""
        return self.digits or (ctx.prec - _SPARE_BITS) / 3.33

    def _largest(self, y: arb) -> list[CompositionProfile]:
        """Keep the directions that may be the largest: another may be 0 at y, and has no digit."""
        if len(self.directions) == 1:
            return self.directions
        about = [direction.value_without_contour(y) for direction in self.directions]
        largest_lower = BALL.maximum(
            arb(0), *(value.lower() for value in about if value.is_finite())
        )
        valued = zip(self.directions, about, strict=True)
        return [direction for direction, value in valued if not value < largest_lower]

    def is_tiny(self, x: Fraction, bound: arb) -> bool:
        """Decide if H(x) is proved to be at most `bound`; False proves nothing.

        It is asked of a closed form, which may never have a digit where H is 0, or where a moment
        is estimated to prove it.
        """
        y, log_bound = float(ball(x).log().mid()), float(bound.log().mid())
        with suppress(PrecisionError, LimitError):
            return all(
                (direction.closed is not None or direction.runs.moments.log_delta(y) < log_bound)
                and direction.is_within(lambda: ball(x).log(), lambda: bound)
                for direction in self.directions
            )
        return False

    @property
    def gaussian_mu(self) -> arb | None:
        """The μ = Δ/σ of the only query, with Gaussian noise on all of the data; else None."""
        every = [direction.runs.gaussian_ratio for direction in self.directions]
        ratios = [BALL.number(ratio) for ratio in every if ratio is not None]
        return BALL.maximum(*ratios).sqrt() if len(ratios) == len(every) else None

    @property
    def lost(self) -> arb:
        """The largest P(L = ∞) of the directions."""
        return BALL.maximum(
            arb(0), *(direction.runs.mass_at_infinity for direction in self.directions)
        )

    def is_lost(self, share: Fraction) -> bool | None:
        """Decide if P(L = ∞) is at least `share`; None where H has too few digits to tell."""
        masses = [mass.runs.exact_mass_at_infinity for mass in self.directions]
        if self.lost >= ball(share) or any(mass is not None and share <= mass for mass in masses):
            return True
        blurred = self.lost * (1 + _RADII_APART * arb(10) ** -self._digits)
        return False if blurred < ball(share) else None

    @property
    def largest_loss(self) -> arb:
        """The largest finite loss of the directions; ∞ where one has none."""
        return BALL.maximum(*(direction.runs.largest for direction in self.directions))


def _exchanged(way: CompositionProfile, known: list[CompositionProfile]) -> CompositionProfile:
    """Return the runs with their laws exchanged; `way` itself where a symmetry swaps them."""
    if all(part.symmetric for part, _ in way.pairs):
        return way
    for other in known:
        if other.pairs == way.pairs and other.reverse is not way.reverse:
            return other
    return CompositionProfile(way.pairs, not way.reverse, way)


@within_floats(_BEYOND)
def second_error(height: HockeySticks, alpha: Fraction, below: HockeySticks | None = None) -> arb:
    """Compute the smallest error of the second kind at the level α, 0 <= α <= 1.

    `below` is H of the laws exchanged; without it both directions are one profile. NaN where balls
    can't tell whether the error is 0.
    """
    below = below or height
    if alpha == 0:
        return 1 - height.lost
    if (is_lost := below.is_lost(1 - alpha)) is not False:
        return arb(0) if is_lost else arb.nan()
    return TangentSearch(height, alpha, below).largest()


def smallest_second_error(heights: HockeySticks, alpha: Fraction) -> arb:
    """Compute the smallest error of the second kind of all tests of a level, in any direction.

    Where the tests are not known that of the convex hull of all their trade-off curves is smaller.
    """
    ways = heights.each_way
    return BALL.minimum(*(second_error(way, alpha, back) for way, back in ways))


@within_floats(_BEYOND)
def largest_power(height: HockeySticks, alpha: Fraction, below: HockeySticks | None = None) -> arb:
    """Compute the power 1 − f(α) of the best test, to as many digits however small it is.

    `below` is H of the laws exchanged. NaN where balls can't tell whether the power is 1.
    """
    below = below or height
    if alpha == 0:
        return height.lost
    if (is_lost := below.is_lost(1 - alpha)) is not False:
        return arb(1) if is_lost else arb.nan()
    return best_test(height, alpha, below).power()


def best_test(height: HockeySticks, alpha: Fraction, below: HockeySticks) -> TangentSearch:
    """Search so that a small power, or a small error of the second kind, keeps its digits.

    The power is small where neither H nor αx is above 1/8 at some slope x. H is asked at growing
    ones as long as it is large: where it is tiny it takes long.
    """
    octave, step = 0, 1
    while (slope := _power_of_two(octave)) <= 1 / (8 * alpha):
        deadline.check()
        if height(slope) < arb(1) / 8:
            return TangentSearch(height, alpha, below, offset=1, first=octave)
        octave, step = octave + step, 2 * step
    return TangentSearch(height, alpha, below)


def is_narrow(lower: arb, upper: arb, tolerance: arb) -> bool:
    """Decide if two ends are as near as the tolerance, or as their balls can tell."""
    return bool(
        upper - lower < tolerance
        or upper.mid() - lower.mid() < _RADII_APART * (upper - lower).rad()
    )


class TangentSearch:
    """The search for f(α) = sup_x 1 − H(x) − αx bounds the sup by lines through its points.

    `offset` is taken off all lines: with 1 those of slopes above 1 keep their digits. 2^`first` is
    the slope to begin at. What `is_tiny` proved is remembered, and read at larger slopes.
    """

    def __init__(
        self,
        height: HockeySticks,
        alpha: Fraction,
        below: HockeySticks | None = None,
        offset: int = 0,
        first: int = 0,
    ) -> None:
        """Begin with the line of slope 0."""
        self.first = first
        self.known: dict[int, list[tuple[Fraction, arb]]] = {}
        self.height, self.alpha, self.below, self.offset = height, alpha, below or height, offset
        self.points = [TangentPoint(Fraction(0), arb(-offset))]

    def largest(self) -> arb:
        """Enclose f(α) less the offset, to flint's precision less a reserve, or as balls can tell.

        PrecisionError at 400 points.
        """
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
        """Enclose 1 − f(α)."""
        return 1 - self.offset - self.largest()

    @property
    def best(self) -> TangentPoint:
        """The point of the largest line that was asked for."""
        return self.points[self._best()]

    def _add(self, x: Fraction) -> None:
        """Put the line of a slope among the points."""
        insort(self.points, TangentPoint(x, self._line(x)), key=attrgetter("x"))

    def _best(self) -> int:
        """Find the index of the largest line by its middle."""
        return max(range(len(self.points)), key=lambda i: self.points[i].value.mid())

    def _line(self, x: Fraction) -> arb:
        """Compute 1 − H(x) − αx less the offset; for x < 1 by H of the laws exchanged.

        There it is x(1 − H(1/x) − α).
        """
        level, most = ball(self.alpha), arb(2) ** -ctx.prec
        if x >= 1:
            fall = level * ball(x)
            return 1 - self.offset - self._falling(self.height, x, fall * most) - fall
        rest = 1 - level
        return ball(x) * (rest - self._falling(self.below, 1 / x, rest * most)) - self.offset

    def _falling(self, height: HockeySticks, x: Fraction, small: arb) -> arb:
        """Compute H(x); below `small`, enclose it by 0 and `small` or a smaller slope's H.

        Far out H is so tiny that its digits take long, and no line shows them.
        """
        known = self.known.setdefault(id(height), [])
        for slope, value in known:
            if slope <= x and value < small:
                return value.union(arb(0))
        value = up_to(small.upper()) if height.is_tiny(x, small) else height(x)
        known.append((x, value))
        return value

    def _surround(self) -> None:
        """Add points at growing ratios till two are on each side of the best, or PrecisionError."""
        self._add(_power_of_two(self.first))
        for side in (1, -1):
            power, step, beyond = self.first, 1, 0
            while beyond < 2:
                deadline.check()
                power, step = power + side * step, 2 * step
                if abs(power) > _MOST_OCTAVES:
                    raise PrecisionError(
                        f"found the best test at a slope beyond 2^{side * _MOST_OCTAVES}, needed "
                        "one nearer to 1, as more noise has"
                    )
                self._add(_power_of_two(power))
                beyond = len(self.points) - 1 - self._best() if side > 0 else self._best() - 1

    # Proved in docs/proofs/currencies.md, Lemma best-threshold.
    def _above(self, left: int) -> tuple[arb, Fraction]:
        """Bound the function between the points `left` and `left` + 1, and choose the next slope.

        That is where the lines beyond them meet, or of slopes far apart, or late, their middle.
        """
        before, u, v, after = self.points[left - 1 : left + 3]
        rise, fall = _slope(before, u), _slope(v, after)
        meet = u.x + rational(_finite((v.value - u.value - fall * ball(v.x - u.x)) / (rise - fall)))
        middle = (u.x + v.x) / 2
        if not u.x < meet < v.x:
            meet = middle
        lower = u.value.max(v.value)

        def most(x: Fraction) -> arb:
            """By the line from the left up to a place, and by that from the right beyond it."""
            by_left, by_right = u.value + rise * ball(x - u.x), v.value - fall * ball(v.x - x)
            return BALL.maximum(
                lower, *([by_left] if x > u.x else []), *([by_right] if x < v.x else [])
            )

        above = min(map(most, (u.x, meet, v.x)), key=methodcaller("upper"))
        if v.x > _RATIO_OF_FAR_SLOPES * u.x:
            return above, u.x * _power_of_two(_octaves(v.x / u.x) // 2)
        is_late = len(self.points) > _POINTS_BEFORE_HALVING and len(self.points) % 2
        return above, middle if is_late else meet

    def _outside(self, best: int) -> arb:
        """Bound the function beyond the neighbours of a point.

        Past 1/α no line is above 0, of which `offset` is taken off.
        """
        u, top, v = self.points[best - 1 : best + 2]
        at_zero = u.value - _slope(u, top) * ball(u.x)
        at_last = v.value + _slope(top, v) * (1 / ball(self.alpha) - ball(v.x))
        return at_zero.max(at_last)


def _slope(left: tuple[Fraction, arb], right: tuple[Fraction, arb]) -> arb:
    """Compute the slope of the chord between two points (x, y)."""
    (x, low), (far, high) = left, right
    return (high - low) / ball(far - x)


def _power_of_two(octave: int) -> Fraction:
    """Return 2^octave by a shift, which is sooner than a power of many octaves."""
    return Fraction(1 << octave) if octave >= 0 else Fraction(1, 1 << -octave)


def _octaves(ratio: Fraction) -> int:
    """Estimate the binary logarithm of a ratio to 1."""
    return ratio.numerator.bit_length() - ratio.denominator.bit_length()


# --- Gaussian trade-offs
#
# The Gaussian trade-off curves below that of a profile: the nearest, and how far it is below.
#
# f is the largest of the lines 1 − H(x) − xα, and G_μ(α) = Φ(Φ⁻¹(1−α) − μ) is convex and its own
# inverse. It is below a polygon of such lines where it is below its corners: values of H at growing
# slopes x bound μ from above, and from below, as f is under the chords between the lines. Where f
# is its own inverse too, slopes from 1 on are enough. Of a pair of laws whose directions differ f
# is that of one direction, and its inverse that of the other (docs/proofs/directions.md, Lemma
# directed-tests).

#: The searches for μ, and for the largest excess over G_μ, end at so many slopes, at each of which
#: H is computed once: μ is then refused by a PrecisionError, and the excess is a wide ball.
_MOST_SLOPES = 600
#: The first cell is cut into so many, and slopes beyond lie about as near. It steers: all between
#: is bounded.
_FIRST_CELLS = 8
#: What lies beyond the last slope is small where it is this share of the excess at it. A smaller
#: share takes more slopes, and what is beyond is bounded.
_SMALL_SHARE = arb(2) ** -12
#: An excess has its digits, or as many places and 4 more. More take longer.
_MORE_PLACES = 4
#: What the PrecisionError of a search for μ says where float64 is left.
_GAUSSIAN_BEYOND = (
    "gdp: found numbers beyond the range of float64, in which a contour is chosen; needed smaller "
    "ones, or a larger least_error"
)


class SlopePoint(NamedTuple):
    """A slope point has H(x) = δ(log x), its `height`, at a slope x > 0."""

    x: Fraction
    height: arb


class _Corner(NamedTuple):
    """A corner of two lines is an error of the first kind, and 1 less that of the second."""

    alpha: arb
    power: arb


class _Met(NamedTuple):
    """A corner has its place, the μ of the Gaussian curve through it, and a fraction above μ."""

    place: _Corner
    mu: arb
    height: Fraction


# Proved in docs/proofs/currencies.md, Lemmas smallest-mu and mu-with-error.
@within_floats(_GAUSSIAN_BEYOND)
def smallest_mu(height: HockeySticks, least_error: Fraction, digits: int) -> arb:
    """Compute the smallest μ with f >= G_μ where both errors are at least `least_error`.

    That is for every direction. If `least_error` is 0, μ is ∞ where f(0) < 1 or there is no largest
    loss, and the largest H answers for all: their f's convex hull is above G_μ where each of them
    is. DomainError for a `least_error` that both errors can't be above.
    """
    if height.gaussian_mu is not None:
        return height.gaussian_mu
    if not least_error:
        return _smallest_of_hull(height, least_error, digits)
    values = []
    for way, back in height.each_way:
        if way is back:
            values.append(_smallest_of_hull(way, least_error, digits))
        elif not way.directions[0].reverse:  # the inverse of the other: below both or neither
            values.append(_smallest_of_arc(way, back, least_error, digits))
    return BALL.maximum(*values)


def _smallest_of_hull(height: HockeySticks, least_error: Fraction, digits: int) -> arb:
    """Compute the smallest μ of an f that is its own inverse, from slope −1 to the steepest.

    Where H(1) may be 0, it is between 0 and what H(1) allows.
    """
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
    """Compute the smallest μ of one direction, between the places of the smallest errors."""
    total = height(Fraction(1))
    if not total > 0:
        return arb(0).union(_of_powers_above(total.upper(), least_error))
    _refuse_large(least_error, (1 - total) / 2, "half of what the best test's errors sum to")

    def both_sides(x: Fraction) -> arb:
        """Compute H(x), for x < 1 by that of the laws exchanged."""
        return height(x) if x >= 1 else 1 - ball(x) + ball(x) * below(1 / x)

    steep, first = _tangent(height, least_error, below)
    turned, there = _tangent(below, least_error, height)
    flat = min(1 / turned, steep)
    last = _Corner(1 - there.power, 1 - there.alpha)
    at_flat, at_steep = (SlopePoint(x, both_sides(x)) for x in (flat, steep))
    return _Polygon(at_flat, at_steep, first, last).smallest(both_sides, digits)


def _refuse_large(least_error: Fraction, centre: arb, what: str) -> None:
    """Raise DomainError unless `least_error` is certainly less than `centre`, which is `what`."""
    if not ball(least_error) < centre:
        raise DomainError(
            f"least_error: found {float(least_error):.6g}, needed less than "
            f"{float(centre.mid()):.6g}, {what}"
        )


def _tangent(
    height: HockeySticks, alpha: Fraction, below: HockeySticks
) -> tuple[Fraction, _Corner]:
    """Return the slope of a line that touches f at α, and the place."""
    search = best_test(height, alpha, below)
    power = search.power()
    return search.best.x, _Corner(ball(alpha), power)


def _of_powers_above(gain: arb, least_error: Fraction) -> arb:
    """Bound μ of a test whose power is above its level by at most `gain`.

    It is the largest at the smallest level, and ∞ at the level 0.
    """
    if gain == 0:
        return arb(0)
    level = ball(least_error)
    return gaussian_quantile(level) - gaussian_quantile(level + gain) if level > 0 else arb("inf")


def gaussian_quantile(tail: arb) -> arb:
    """Compute the z with P(Z > z) = tail for a standard normal Z."""
    return arb(2).sqrt() * (2 * tail).erfcinv()


def gaussian_hockey_stick(mu: arb, x: arb) -> arb:
    """Compute H(x) of N(μ, 1) against N(0, 1), μ > 0."""
    at = x.log() / mu
    return normal_tail(at - mu / 2) - x * normal_tail(at + mu / 2)


def _apart(corner: _Corner) -> arb:
    """Compute the μ of the Gaussian curve through a place."""
    return gaussian_quantile(corner.alpha) - gaussian_quantile(corner.power)


class _Polygon:
    """A polygon has lines of slopes from a flat to a steep one, and places of f at its ends."""

    def __init__(self, flat: SlopePoint, steep: SlopePoint, first: _Corner, last: _Corner) -> None:
        self.points = [flat] if steep.x == flat.x else [flat, steep]
        self.first, self.last = first, last

    def smallest(self, height: Callable[[Fraction], arb], digits: int) -> arb:
        """Compute the smallest μ with f >= G_μ at every place of f from the first to the last.

        It is the largest of the μ whose Gaussian curve goes through one of them. `height` is H, by
        which more lines are laid; PrecisionError where `_MOST_SLOPES` do not give the digits.
        """
        flat = self.points[0]
        line = _Corner(self.last.alpha, flat.height + ball(flat.x) * self.last.alpha)
        lower = _apart(self.last)
        upper = lower.max(_apart(line))
        if self.first.alpha > 0:
            lower, end = lower.max(_apart(self.first)), self.points[-1]
            line = _Corner(self.first.alpha, end.height + ball(end.x) * self.first.alpha)
            upper = upper.max(_apart(line))
        self.corners = [self._corner(*pair) for pair in pairwise(self.points)]
        while self.corners and len(self.points) < _MOST_SLOPES:
            deadline.check()
            widest = max(range(len(self.corners)), key=lambda i: self.corners[i].height)
            lower = lower.max(_finite(_apart(self._chord(widest))))
            above, tolerance = upper.max(self.corners[widest].mu), lower * arb(10) ** -(digits + 1)
            if is_narrow(lower, above, tolerance) or above.is_nan():
                return lower.union(above)
            self._split(height, widest)
        if not self.corners:
            return lower.union(upper)
        raise PrecisionError(
            f"gdp: {digits} digits not reached at {_MOST_SLOPES} slopes",
            remedy=(
                "ask for fewer digits: for a nearly Gaussian mechanism only a few can be found"
            ),
        )

    def _corner(self, low: SlopePoint, high: SlopePoint) -> _Met:
        """Compute where the lines of two slopes meet, and the μ there."""
        alpha = (low.height - high.height) / ball(high.x - low.x)
        corner = _Corner(alpha, low.height + ball(low.x) * alpha)
        mu = _apart(corner)
        return _Met(corner, mu, _height(mu))

    def _chord(self, i: int) -> _Corner:
        """Return a place that f is not above, over a corner: on the chord between the next ones.

        f touches each line between two corners, and falls: it is not above the left one either.
        """
        right = self.last if i == 0 else self.corners[i - 1].place
        left = self.first if i == len(self.corners) - 1 else self.corners[i + 1].place
        alpha = self.corners[i].place.alpha
        rise = (right.power - left.power) / (right.alpha - left.alpha)
        gain = rise * (alpha - left.alpha)
        return _Corner(alpha, left.power + gain if gain.is_finite() else left.power)

    def _split(self, height: Callable[[Fraction], arb], i: int) -> None:
        """Lay more slopes between two points."""
        low, high = self.points[i].x, self.points[i + 1].x
        parts = _FIRST_CELLS if len(self.points) == 2 else 2
        ratio = (ball(high) / ball(low)).log() / parts
        slopes = [rational((ball(low) * (part * ratio).exp()).mid()) for part in range(1, parts)]
        self.points[i + 1 : i + 1] = [SlopePoint(x, height(x)) for x in slopes]
        between = self.points[i : i + parts + 1]
        self.corners[i : i + 1] = [self._corner(*pair) for pair in pairwise(between)]


# Proved in docs/proofs/currencies.md, Lemma mu-regret.
@within_floats(_GAUSSIAN_BEYOND)
def largest_regret(height: HockeySticks, mu: arb, digits: int) -> arb:
    """Compute the largest (H_μ(x) − H(x))/(1+x), H_μ the Gaussian profile; 0 where none is above 0.

    By so much an attacker's best guess is right more often under G_μ than under f, at some prior.
    The ball may be wide where the two nearly touch everywhere.
    """
    return _Excess(height, mu).largest(digits) if mu > 0 else arb(0)


class _Excess:
    """The excess of H_μ over H is bounded by values at growing slopes x >= 1.

    Between two of them H_μ is below its chord, and H above two lines.
    """

    def __init__(self, height: HockeySticks, mu: arb) -> None:
        self.height, self.mu = height, mu
        self.points = [SlopePoint(Fraction(1), height(Fraction(1)))]
        #: The slope of a line that H is above and meets at 1, of the test of equal errors.
        self.first = -(1 - self.points[0].height) / 2
        self.known: dict[tuple[bool, tuple[Fraction, ...]], tuple[arb, Fraction]] = {}

    def largest(self, digits: int) -> arb:
        """Enclose the largest excess, to so many digits, or to as many places and a few more.

        It is wider where that takes too many slopes.
        """
        self._reach(arb(10) ** -(digits + _MORE_PLACES))
        while len(self.points) < _MOST_SLOPES:
            deadline.check()
            lower = BALL.maximum(arb(0), *map(self._share, self.points))
            cells = [self._above(i) for i in range(len(self.points) - 1)]
            above, x = max(cells, key=lambda cell: _height(cell[0]))
            above = above.max(self._beyond())
            tolerance = lower.max(arb(10) ** -_MORE_PLACES) * arb(10) ** -(digits + 1)
            if is_narrow(lower, above, tolerance):
                break
            insort(self.points, SlopePoint(x, self.height(x)))
        return lower.union(above.max(lower))  # wide, where the two curves nearly touch everywhere

    def _reach(self, tolerance: arb) -> None:
        """Add points at equal ratios, until what lies beyond is small."""
        ratio = rational(((self.mu / 2 + 4) * self.mu / _FIRST_CELLS).exp().upper())
        while not self._beyond() < tolerance.max(_SMALL_SHARE * self._share(self.points[-1])):
            deadline.check()
            x = self.points[-1].x * ratio
            self.points.append(SlopePoint(x, self.height(x)))

    def _beyond(self) -> arb:
        """Bound the excess beyond the last point, by H_μ alone."""
        x = ball(self.points[-1].x)
        return gaussian_hockey_stick(self.mu, x) / (1 + x)

    def _share(self, point: SlopePoint) -> arb:
        """Compute the excess over 1 + x at a point."""
        x = ball(point.x)
        return (gaussian_hockey_stick(self.mu, x) - point.height) / (1 + x)

    def _above(self, i: int) -> tuple[arb, Fraction]:
        """Bound the excess between a point and the next one, and choose the next slope there.

        It is remembered by the points that the bound reads.
        """
        beside = i == 0, tuple(point.x for point in self.points[max(0, i - 1) : i + 3])
        if beside not in self.known:
            self.known[beside] = self._between(i, self.points[i], self.points[i + 1])
        return self.known[beside]

    def _between(self, i: int, u: SlopePoint, v: SlopePoint) -> tuple[arb, Fraction]:
        """Bound the excess between two points by H_μ's chord and the lines that H is above."""
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


def _height(mu: arb) -> Fraction:
    """Round up to a fraction to compare by; 2^64 for what is no number, so that it comes first."""
    return rational(mu.upper()) if mu.is_finite() else Fraction(2) ** 64


def _finite(x: arb) -> arb:
    """Return x, or 0 where it is no number."""
    return x if x.is_finite() else arb(0)
