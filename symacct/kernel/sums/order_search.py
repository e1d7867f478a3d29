"""Where a function of the order is smallest: growing steps, then fits of its shape.

The functions searched have one valley where the CGF is convex. Nothing here proves a minimum
(`chord_floor` does, from three values); every order found gives a sound guarantee.
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
from symacct.kernel.answer import relative_digits
from symacct.kernel.arithmetic.ball import rational

# Objective: exact order > 1 → ball. Midpoints steer, balls prove.
Objective = Callable[[Any], arb]
_Order = TypeVar("_Order", bound=int | Fraction)

UNPROVED = 30  # bits of an order that is not proved to be the best
_MOST_HALVINGS = 400  # of λ: no search over orders goes nearer to 1
_CLOSE = 20  # halvings of λ: where a curve is infinite there, so it is taken to be at 1
_MOST_SECANTS = 20
_LEAST_BITS = 10  # of a value that steers
_NEARLY = 6  # bits of how far a root may be, to what the first secant goes through
_WIDELY = 16  # the part of λ by which a valley may have moved
_SHARE = fmpq(127, 256)  # less than the half, up to which one polynomial serves all orders
_HALF = fmpq(1, 2)
_NEAR_AN_END = 32  # the part of a segment that golden sections alone go to
_ROUGH = 2  # fits through orders far from the bottom
_NARROWER = (1, 2**8, 2**16)  # than what proves the bottom of most valleys
#: How far about a bottom to ask, further where balls do not tell the orders apart: times a width.
WIDER = (2, 8, 64, 2**10, 2**14, 2**18)
_GOLDEN = Fraction(381966, 1_000_000)  # (3 − √5)/2, to the accuracy that steering needs


def whole_valley(f: Objective, first: int, last: int, guess: int) -> int:
    """The whole order at the bottom of f's valley, asked at neighbours `whole_step` away too."""
    return _narrowed(f, *_bracket(f, first, last, min(max(guess, first), last)))


def is_steady(value: arb) -> bool:
    """Can orders be compared by it: is it known to some bits, or to be infinite?"""
    if value.is_finite():
        return bool(value.rel_accuracy_bits() >= _LEAST_BITS)
    return bool(value > 0 or value < 0)


def whole_valley_near(f: Objective, first: int, last: int, guess: int) -> int:
    """A whole order of least f where the guess is next to it."""
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
    """The bottom between the ends, f being no smaller there, by golden sections."""
    while max(high - middle, middle - low) > whole_step(middle):
        deadline.check()
        wide = high - middle if high - middle >= middle - low else low - middle
        probe = middle + (math.trunc(wide * _GOLDEN) or (1 if wide > 0 else -1))
        if below(f(probe), f(middle)):
            low, high = (middle, high) if probe > middle else (low, middle)
            middle = probe
        elif probe > middle:
            high = probe
        else:
            low = probe
    return lowest(f, (middle, low, high))


def whole_step(order: int) -> int:
    """How far from a valley's bottom the next order is that balls of this precision tell apart."""
    return max(1, order >> ctx.prec // 3)


def places(f: Objective, whole: int, perspective: bool) -> tuple[Fraction, Fraction, Fraction]:
    """Three orders around the bottom of f's valley; below order 2 λ is halved while f falls.

    How often is found by doubling, then by bisection: each order may cost a sum. A log δ, without
    `perspective`, that falls by no more than its own rounding leaves δ what it is.
    """
    if whole > 2:
        step = whole_step(whole)
        return Fraction(whole - step), Fraction(whole), Fraction(whole + step)

    def order(halvings: int) -> Fraction:
        return 1 + Fraction(1, 2**halvings)

    def is_low(halvings: int) -> bool:
        if halvings >= _MOST_HALVINGS:
            return True
        here, beside = f(order(halvings)), f(order(halvings + 1))
        if not here.is_finite():
            return halvings >= _CLOSE and not beside.is_finite()
        slack = arb(0) if perspective else arb(2) ** -ctx.prec
        return not below(beside + slack, here)

    most = 1
    while not is_low(most - 1):
        most *= 2
    found = bisect_left(range(most - 1), True, most // 2, key=is_low)
    return order(found + 1), order(found), 2 * order(found) - 1


def _bracket(f: Objective, first: int, last: int, guess: int) -> tuple[int, int, int]:
    """Orders low <= middle <= high with f(middle) no larger than at both, by growing steps."""
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

    `places` are three orders, the middle one no higher than the others. With `perspective` the
    fit is aλ + b + c/λ (an ε), else a parabola (a log δ). Orders are rounded well below `width`.
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
        if turn < _ROUGH and fitted is not None:
            # No further from the best order than about half the way to an end.
            left, right = best - _SHARE * (best - low), best + _SHARE * (high - best)
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
            probe = _rounded(best + _exact(_GOLDEN) * wide, grid)
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
    """The bottom of a valley, and a floor of f that has its digits: nearer in a narrow one."""
    for narrower in _NARROWER:
        best = real_valley(f, places, width / narrower, perspective)
        floor = floor_at(best, width / narrower)
        if floor is None or relative_digits(floor.union(f(best))) > digits:
            break
    return best, floor


def _lower_beside(f: Objective, order: fmpq, step: fmpq) -> fmpq | None:
    """An order a step away at which f is smaller, and certainly so."""
    beside, here = (near for near in (order - step, order + step) if near > 1), f(_fraction(order))
    return next((near for near in beside if f(_fraction(near)) < here), None)


@dataclass(frozen=True)
class _Midpoint:
    """The midpoint of f at an order, and λ in the arithmetic of the fit."""

    order: fmpq
    lam: arb
    value: arb


_height = attrgetter("value")


def _point(f: Objective, order: fmpq) -> _Midpoint:
    return _Midpoint(order, arb(order - 1).mid(), _middle(f(_fraction(order))))


def _fitted(points: list[_Midpoint], perspective: bool) -> fmpq | None:
    """The bottom of the fit through three points; None if it has none."""
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
    """An order between where f and g are about equal, f being above at the low end alone."""
    grid = _grid((high - low) / 2**ctx.prec)
    orders = [low, high]
    for _ in range(_MOST_SECANTS):
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
    """The order about `near` at which the one of the family that belongs to it has its valley.

    None where none is found: as where another one belongs to each side.
    """

    reach = (near - 1) / _WIDELY

    def off(order: Fraction) -> Fraction:
        step = (order - 1) / 2 ** (ctx.prec // 3)
        f, orders = family(order), [order - step, order, order + step]
        bottom = _fitted([_point(f, _exact(place)) for place in orders], perspective)
        return reach if bottom is None else min(max(_fraction(bottom) - order, -reach), reach)

    return root(off, near, reach, width)


def root(
    f: Callable[[Fraction], Fraction], near: Fraction, reach: Fraction, width: Fraction
) -> Fraction | None:
    """An order within `reach` at which f is nearly 0, by secants that halve it; None if not so."""
    grid = _grid(width)
    orders = [near, _on_grid(near + reach / 2**_NEARLY, grid)]
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
    """The best order of the segments between three; of one of them where f has one valley."""
    low, middle, high = places
    segments = [(low, middle), (middle, high)]
    if one_valley:
        falls = f(middle + (high - middle) / 2**20) < f(middle)
        segments = segments[1:] if falls else segments[:1]
    width = (middle - low) / 2**UNPROVED
    return lowest(f, (middle, *(_valley_of_a_segment(f, *ends, width) for ends in segments)))


def _valley_of_a_segment(f: Objective, low: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """The bottom between two orders, by fits where golden sections find it well inside."""
    reach = (high - low) / _NEAR_AN_END
    found = golden_valley(f, low, high, reach)
    left, right = found - 2 * reach, found + 2 * reach
    if low < left and right < high:
        return real_valley(f, (left, found, right), width, False)
    end, inward = (low, 4 * width) if left <= low else (high, -4 * width)
    if not below(f(end + inward), f(end)):
        return end
    return golden_valley(f, max(low, left), min(high, right), width)


def golden_valley(f: Objective, low: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """An order within about `width` of the bottom of any valley in [low, high]."""
    grid = _grid(width)
    left = _on_grid(low + _GOLDEN * (high - low), grid)
    right = _on_grid(high - _GOLDEN * (high - low), grid)
    while high - low > width and left < right:
        if below(f(right), f(left)):
            low, left = left, right
            right = _on_grid(high - _GOLDEN * (high - low), grid)
        else:
            high, right = right, left
            left = _on_grid(low + _GOLDEN * (high - low), grid)
    return lowest(f, (left, right))


# Proved in docs/proofs/certificates.md, Lemma three-orders.
def chord_floor(
    values: tuple[arb, arb, arb], places: tuple[arb, arb, arb], perspective: bool
) -> arb:
    """A proved lower bound of a valley's minimum from three places around it.

    With `perspective` the objective is M(λ)/λ for a convex M (an ε), else it is convex itself
    (a log δ). Outside the places the valley is higher; inside, the convex function lies above its
    chords continued from the other side.
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
    """The first of the orders than which f is smaller at no other, as far as midpoints tell."""
    best, *others = orders
    for order in others:
        if below(f(order), f(best)):
            best = order
    return best


def below(a: arb, b: arb) -> bool:
    """Is a smaller, as far as midpoints tell?"""
    if not a.is_finite():
        return False
    return not b.is_finite() or bool(a.mid() < b.mid())


def _middle(x: arb) -> arb:
    """The midpoint; a huge number where there is no finite value."""
    return x.mid() if x.is_finite() else arb(2) ** 4096


def _grid(width: Fraction) -> Fraction:
    return Fraction(1, 1 << (width.denominator // width.numerator).bit_length() + 4)


def _on_grid(x: Fraction, grid: Fraction) -> Fraction:
    return _fraction(_rounded(_exact(x), grid))


def _rounded(x: fmpq, grid: Fraction) -> fmpq:
    """The place on the grid next to x."""
    return fmpq((x * grid.denominator + _HALF).floor(), grid.denominator)


def _exact(x: Fraction) -> fmpq:
    """A fraction as the type in which arithmetic costs little."""
    return fmpq(x.numerator, x.denominator)


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
