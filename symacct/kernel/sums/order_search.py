"""Where a function of the order is smallest: growing steps, then fits of its shape.

The functions searched have one valley where the CGF is convex. Nothing here proves a minimum
(`chord_floor` does, from three values); every order found gives a sound guarantee.

Orders are compared by the midpoints of balls. A value that is not finite is the largest, but for
−∞, the log of δ = 0, which is the smallest.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Any, TypeVar

from flint import arb, ctx, fmpq

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import accuracy, rational
from symacct.kernel.sums.halving import GOLDEN

#: An exact order > 1 ↦ an ε or a log δ as a ball. Midpoints steer, balls prove.
Objective = Callable[[Any], arb]
_Order = TypeVar("_Order", bound=int | Fraction)

#: The bits to which an order is searched for that is not proved to be the best. More take longer;
#: the answer at any order is proved.
UNPROVED_BITS = 30
#: The largest number of times that λ = α − 1 is halved from 1 on; no search goes nearer to α = 1.
#: It saves time: a curve may have its best order nearer still, and then the bound is larger.
_MAX_HALVINGS = 400
#: The number of halvings of λ after which an infinite curve is taken to be infinite at α = 1 too.
#: It steers.
_INFINITE_HALVINGS = 20
#: The largest number of secants of a crossing, which take far fewer where they converge. They
#: steer.
_MAX_SECANTS = 20
#: The relative bits that a value needs, so that orders can be compared by it. It steers.
_STEERING_BITS = 10
#: The first secant of a root goes through a point 2^−6 of the reach away, so that it is local. It
#: steers.
_FIRST_SECANT_BITS = 6
#: A saddle is looked for within λ/16 of an order, by which its valley may have moved. It steers.
_SADDLE_DIVISOR = 16
#: The part of a segment that a rough fit may step, below the half up to which one polynomial serves
#: all orders. It steers.
_STEP_SHARE = fmpq(127, 256)
_HALF = fmpq(1, 2)
#: Golden sections alone narrow a segment to 1/32, to see whether its bottom is well inside. It
#: steers.
_END_DIVISOR = 32
#: The number of first fits that are taken to be through orders far from the bottom. They steer.
_ROUGH_FITS = 2
#: What the width in which a bottom is looked for is divided by, in turn, until the floor has its
#: digits; the first proves that of most valleys. Each floor is proved; more take longer.
_WIDTH_DIVISORS = (1, 2**8, 2**16)
#: The multiples of a width at which f is asked on both sides of a bottom; the next one is taken
#: where balls overlap. A wider one gives a lower floor, and fewer proved digits.
WIDTH_MULTIPLES = (2, 8, 64, 2**10, 2**14, 2**18)


def whole_valley(f: Objective, first: int, last: int, guess: int) -> int:
    """The whole order from `first` to `last` at the bottom of f's valley, to within `whole_step`.

    It steps from the guess in growing steps; of a function of several valleys it finds one.
    """
    return _narrowed(f, *_bracket(f, first, last, min(max(guess, first), last)))


def is_steady(value: arb) -> bool:
    """Has the value enough bits to compare orders by, or is it proved to be ∞ or −∞?"""
    if value.is_finite():
        return bool(value.rel_accuracy_bits() >= _STEERING_BITS)
    return bool(value > 0 or value < 0)


def whole_valley_near(f: Objective, first: int, last: int, guess: int) -> int:
    """The whole order from `first` to `last` at the bottom of f's valley, near the guess.

    Its first steps are `whole_step`, so that f is asked at few orders if the guess is good.
    """
    low = middle = high = guess
    step = whole_step(guess)
    while high == middle < last:  # upwards first: what a sum takes to the largest serves the others
        high = min(last, middle + step)
        if below(f(high), f(middle)):
            low, middle = middle, high
        step *= 2
    step = whole_step(guess)
    while low == middle > first:
        low = max(first, middle - step)
        if below(f(low), f(middle)):
            middle, high = low, middle
        step *= 2
    return _narrowed(f, low, middle, high)


def _narrowed(f: Objective, low: int, middle: int, high: int) -> int:
    """The whole order at the bottom of f, no smaller at the ends than in the middle, to a step."""
    while max(high - middle, middle - low) > whole_step(middle):
        deadline.check()
        wide = high - middle if high - middle >= middle - low else low - middle
        probe = middle + (math.trunc(wide * GOLDEN) or (1 if wide > 0 else -1))
        if below(f(probe), f(middle)):
            low, high = (middle, high) if probe > middle else (low, middle)
            middle = probe
        elif probe > middle:
            high = probe
        else:
            low = probe
    return lowest(f, (middle, low, high))


def whole_step(order: int) -> int:
    """The distance of whole orders about a bottom that balls of this precision tell apart.

    It is 1 up to about 2^{bits/3}, since f is flat about its bottom.
    """
    return max(1, order >> ctx.prec // 3)


def places(f: Objective, whole: int, perspective: bool) -> tuple[Fraction, Fraction, Fraction]:
    """Three ascending orders > 1 around the bottom of f's valley over all real orders.

    `whole` is the bottom over whole ones. Where it is 2, λ is halved while f falls; how often is
    found by doubling, then by bisection, as each order may cost a sum. A log δ, without
    `perspective`, that falls by no more than its own rounding leaves δ what it is.
    """
    if whole > 2:
        step = whole_step(whole)
        return Fraction(whole - step), Fraction(whole), Fraction(whole + step)

    def order(halvings: int) -> Fraction:
        return 1 + Fraction(1, 2**halvings)

    def is_low(halvings: int) -> bool:
        """Does one more halving not lower f? True at the last one; see _INFINITE_HALVINGS for ∞."""
        if halvings >= _MAX_HALVINGS:
            return True
        here, beside = f(order(halvings)), f(order(halvings + 1))
        if is_least(here):
            return True
        if not here.is_finite():
            return halvings >= _INFINITE_HALVINGS and not beside.is_finite()
        slack = arb(0) if perspective else arb(2) ** -ctx.prec
        return not below(beside + slack, here)

    bound = 1
    while not is_low(bound - 1):
        bound *= 2
    halvings = bisect_left(range(bound - 1), True, bound // 2, key=is_low)
    return order(halvings + 1), order(halvings), 2 * order(halvings) - 1


def _bracket(f: Objective, first: int, last: int, guess: int) -> tuple[int, int, int]:
    """Whole orders low <= middle <= high, by growing steps, f no larger in the middle than at both.

    At an end of [first, last] the middle is that end.
    """
    low, middle, high = first, guess, guess
    if below(f(first), f(middle)):
        low, middle, high = first, first, guess
    elif guess > first + 1:
        # Curves grow faster than the guess allows for, so the bottom is likely a little below.
        near = max(first + 1, guess - max(1, guess // 8))
        if below(f(near), f(guess)):
            return first, near, guess
        low = near
    step = max(1, guess // 4)
    while high == middle < last:
        high = min(middle + step, last)
        if below(f(high), f(middle)):
            low, middle = middle, high
            step *= 2
    return low, middle, high


def real_valley(
    f: Objective, places: tuple[Fraction, Fraction, Fraction], width: Fraction, perspective: bool
) -> Fraction:
    """An order within about `width` of the bottom of a smooth valley, by successive fits.

    `places` are three ascending orders, f finite at each and no higher in the middle; where it
    falls on below the first, that one is given back. With `perspective` the fit is aλ + b + c/λ (an
    ε), else a parabola (a log δ). Orders are rounded to a grid well below `width`.
    """
    low, best, high = map(_exact, places)
    close = _exact(width)
    if f(places[0]) < f(places[1]):
        return places[0]  # it falls on out of the three, as far as to order 1
    points, grid = [_point(f, order) for order in (best, low, high)], _grid(width)
    for turn in range(200):
        deadline.check()
        points.sort(key=_height)
        fitted = _fitted(points[:3], perspective)
        if turn < _ROUGH_FITS and fitted is not None:
            # No further from the best order than about half the way to an end.
            left, right = best - _STEP_SHARE * (best - low), best + _STEP_SHARE * (high - best)
            fitted = min(max(fitted, left), right)
        probe = best if fitted is None else _rounded(fitted, grid)
        tried = [point.order for point in points]
        if fitted is not None and abs(probe - best) < close:
            # A fit points at the order it has by chance too: as at the middle of two of one height.
            lower = _lower_beside(f, best, 2 * close)
            if lower is None or lower in tried:
                break
            probe = lower
        # A fit through orders far from the bottom may point out of the bracket, or back.
        elif not low < probe < high or probe in tried or turn % 16 == 15:
            wide = high - best if high - best > best - low else low - best
            probe = _rounded(best + _exact(GOLDEN) * wide, grid)
            if abs(probe - best) < close or probe in tried:
                break
        points.append(_point(f, probe))
        if points[-1].value < points[0].value:
            low, high = (best, high) if probe > best else (low, best)
            best = probe
        else:
            low, high = (low, probe) if probe > best else (probe, high)
    return _fraction(best)


def proved_valley(
    f: Objective,
    floor_at: Callable[[Fraction, Fraction], arb | None],
    places: tuple[Fraction, Fraction, Fraction],
    width: Fraction,
    perspective: bool,
    digits: int,
) -> tuple[Fraction, arb | None]:
    """The order at the bottom of a valley, and a proved lower bound of f, None if none is proved.

    `floor_at(order, width)` proves it. The order is searched for more closely, as _WIDTH_DIVISORS
    say, until the bound and f(order) share more than `digits` digits.
    """
    for divisor in _WIDTH_DIVISORS:
        best = real_valley(f, places, width / divisor, perspective)
        floor = floor_at(best, width / divisor)
        if floor is None or accuracy(floor.union(f(best))) > digits:
            break
    return best, floor


def _lower_beside(f: Objective, order: fmpq, step: fmpq) -> fmpq | None:
    """An order > 1 a step away at which f is certainly smaller; None if there is none."""
    beside, here = (near for near in (order - step, order + step) if near > 1), f(_fraction(order))
    return next((near for near in beside if f(_fraction(near)) < here), None)


@dataclass(frozen=True)
class _Midpoint:
    """The midpoint of f at an order, and λ = α − 1 as an exact ball, as a fit reads them."""

    order: fmpq
    lam: arb
    value: arb


_height = attrgetter("value")


def _point(f: Objective, order: fmpq) -> _Midpoint:
    """f at an order, for a fit."""
    return _Midpoint(order, arb(order - 1).mid(), _middle(f(_fraction(order))))


def _fitted(points: list[_Midpoint], perspective: bool) -> fmpq | None:
    """The order at the bottom of the fit through three points of distinct orders; None for none.

    With `perspective` the fit is aλ + b + c/λ, else a parabola; it may lie outside of the points.
    """
    x, y, z = (point.lam for point in points)
    p, q, r = (point.lam * point.value if perspective else point.value for point in points)
    first, second = (q - p) / (y - x), (r - q) / (z - y)
    a = ((second - first) / (z - x)).mid()
    if not a > 0:
        return None
    if perspective:
        square = (p - first * x + a * x * y).mid() / a
        bottom = square.sqrt() if square > 0 else None
    else:
        bottom = (x + y - first / a) / 2
    return None if bottom is None or not bottom.is_finite() else bottom.mid().fmpq() + 1


def crossing(f: Objective, g: Objective, low: Fraction, high: Fraction) -> Fraction:
    """An order in [low, high] at which f and g are nearly equal, by at most _MAX_SECANTS secants.

    f is larger than g at the low end, and smaller at the high one. The order steers.
    """
    grid = _grid((high - low) / 2**ctx.prec)
    orders = [low, high]
    for _ in range(_MAX_SECANTS):
        before, last = (_middle(f(order)) - _middle(g(order)) for order in orders)
        if (last - before).contains(0) or (f(orders[1]) - g(orders[1])).contains(0):
            break
        share = rational(last / (last - before))
        probe = _on_grid(orders[1] - share * (orders[1] - orders[0]), grid)
        orders = [orders[1], min(max(probe, low), high)]
    return orders[1]


def saddle(
    family: Callable[[Fraction], Objective], near: Fraction, width: Fraction, perspective: bool
) -> Fraction | None:
    """The order s at which `family(s)` has its bottom at s itself, to within `width`.

    It is looked for within λ/_SADDLE_DIVISOR of `near`; None where secants do not find it.
    """

    reach = (near - 1) / _SADDLE_DIVISOR

    def offset(order: Fraction) -> Fraction:
        """How far the bottom of the order's own function is from it, cut off at ±reach."""
        step = (order - 1) / 2 ** (ctx.prec // 3)
        f, orders = family(order), [order - step, order, order + step]
        bottom = _fitted([_point(f, _exact(place)) for place in orders], perspective)
        return reach if bottom is None else min(max(_fraction(bottom) - order, -reach), reach)

    return root(offset, near, reach, width)


def root(
    f: Callable[[Fraction], Fraction], near: Fraction, reach: Fraction, width: Fraction
) -> Fraction | None:
    """An order within `reach` of `near` at which |f| < width, by secants.

    None where a secant leaves the reach or does not halve |f|, so that it always ends.
    """
    grid = _grid(width)
    orders = [near, _on_grid(near + reach / 2**_FIRST_SECANT_BITS, grid)]
    values = [f(order) for order in orders]
    while abs(values[1]) >= width:
        change = values[1] - values[0]
        if not change:
            return None
        probe = _on_grid(orders[1] - values[1] * (orders[1] - orders[0]) / change, grid)
        if abs(probe - near) > reach:
            return None
        orders, values = [orders[1], probe], [values[1], f(probe)]
        if 2 * abs(values[1]) > max(abs(values[0]), 2 * width):
            return None
    return orders[1]


def edged_valley(
    f: Objective, places: tuple[Fraction, Fraction, Fraction], one_valley: bool
) -> Fraction:
    """The best order found between the outer two of three orders, of a function that has kinks.

    Each of the two segments is searched for a bottom of its own, inside or at an end; with
    `one_valley` only that into which f falls from the middle.
    """
    low, middle, high = places
    segments = [(low, middle), (middle, high)]
    if one_valley:
        falls = f(middle + (high - middle) / 2**20) < f(middle)
        segments = segments[1:] if falls else segments[:1]
    width = (middle - low) / 2**UNPROVED_BITS
    return lowest(f, (middle, *(_valley_of_a_segment(f, *ends, width) for ends in segments)))


def _valley_of_a_segment(f: Objective, low: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """The order at the bottom between two orders, to about `width`.

    By fits where golden sections find it well inside, as there f is smooth.
    """
    reach = (high - low) / _END_DIVISOR
    bottom = golden_valley(f, low, high, reach)
    left, right = bottom - 2 * reach, bottom + 2 * reach
    if low < left and right < high:
        return real_valley(f, (left, bottom, right), width, False)
    end, inward = (low, 4 * width) if left <= low else (high, -4 * width)
    if not below(f(end + inward), f(end)):
        return end
    return golden_valley(f, max(low, left), min(high, right), width)


def golden_valley(f: Objective, low: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """An order within about `width` of the bottom of a valley in [low, high], by golden sections.

    The valley may have kinks; of several one is found.
    """
    grid = _grid(width)
    left = _on_grid(low + GOLDEN * (high - low), grid)
    right = _on_grid(high - GOLDEN * (high - low), grid)
    while high - low > width and left < right:
        if below(f(right), f(left)):
            low, left = left, right
            right = _on_grid(high - GOLDEN * (high - low), grid)
        else:
            high, right = right, left
            left = _on_grid(low + GOLDEN * (high - low), grid)
    return lowest(f, (left, right))


# Proved in docs/proofs/certificates.md, Lemma three-orders.
def chord_floor(
    values: tuple[arb, arb, arb], places: tuple[arb, arb, arb], perspective: bool
) -> arb:
    """A proved lower bound, as a ball, of f over all λ > 0, from three λ around its minimum.

    With `perspective` f is M(λ)/λ for a convex M (an ε), else it is convex itself (a log δ); the
    caller has proved that, and that f at the outer `places` is no smaller than in the middle.
    Outside of them f is higher; inside, the convex function lies above its chords continued.
    """
    (left, middle, right), (f0, f1, f2) = places, values
    m0, m1, m2 = (f0 * left, f1 * middle, f2 * right) if perspective else (f0, f1, f2)
    floors = []
    for place, (xa, ma), (xb, mb) in (
        (left, (middle, m1), (right, m2)),
        (right, (left, m0), (middle, m1)),
    ):
        end = ma + (mb - ma) / (xb - xa) * (place - xa)
        floors.append(end / place if perspective else end)
    # A line over λ is monotone, so on each side the ends decide.
    return floors[0].min(floors[1]).min(f1)


def lowest(f: Objective, orders: Iterable[_Order]) -> _Order:
    """The first of the orders, of which there is one at least, with the smallest midpoint of f."""
    best, *others = orders
    for order in others:
        if below(f(order), f(best)):
            best = order
    return best


def below(a: arb, b: arb) -> bool:
    """Is the midpoint of a smaller than that of b? ∞ and NaN are the largest, −∞ the smallest."""
    if a.is_finite() and b.is_finite():
        return bool(a.mid() < b.mid())
    if a.is_finite() or is_least(a):
        return not is_least(b)
    return False


def is_least(x: arb) -> bool:
    """Is it −∞, the log of δ = 0, than which no objective is smaller?"""
    return not x.is_finite() and bool(x < 0)


def _middle(x: arb) -> arb:
    """The midpoint of an objective for a fit; 2^4096 where it is not finite."""
    return x.mid() if x.is_finite() else arb(2) ** 4096


def _grid(width: Fraction) -> Fraction:
    """The power of ½, at most 1/16 of a width, to whose multiples orders are rounded."""
    return Fraction(1, 1 << (width.denominator // width.numerator).bit_length() + 4)


def _on_grid(x: Fraction, grid: Fraction) -> Fraction:
    """The multiple of the grid, a power of ½, next to x."""
    return _fraction(_rounded(_exact(x), grid))


def _rounded(x: fmpq, grid: Fraction) -> fmpq:
    """The multiple of the grid, a power of ½, next to x; of two the larger."""
    return fmpq((x * grid.denominator + _HALF).floor(), grid.denominator)


def _exact(x: Fraction) -> fmpq:
    """A fraction as the type in which arithmetic costs little."""
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    """The rational number as a Fraction, which f is asked by."""
    return Fraction(int(x.p), int(x.q))
