"""Where a function of the order is smallest: growing steps, then hyperbolas and parabolas.

The functions searched have one valley where the CGF is convex. Nothing here proves a minimum
(`chord_floor` does, from three values); every order found gives a sound guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

# Objective: exact order > 1 → ball. Midpoints steer, balls prove.
Objective = Callable[[Any], arb]

_GOLDEN = Fraction(381966, 1_000_000)  # (3 − √5)/2, to the accuracy that steering needs


def whole_valley(f: Objective, first: int, last: int, guess: int) -> int:
    """The whole order in [first, last] at the bottom of f's valley; the search starts at `guess`.

    f is asked at the result and at its neighbours, so that they can prove the minimum.
    """
    low, middle, high = _bracket(f, first, last, min(max(guess, first), last))
    probes = 0
    while high - low > 2:
        probes += 1
        # Every third probe is a golden section, so that a bad fit cannot hold up the search.
        bottom = None if probes % 3 == 0 else _hyperbola_bottom(f, low, middle, high)
        probe = _golden_probe(low, middle, high) if bottom is None else bottom
        if probe == middle:
            probe += 1 if high - middle > 1 else -1
        if _below(f(probe), f(middle)):
            low, high = (middle, high) if probe > middle else (low, middle)
            middle = probe
        elif probe > middle:
            high = probe
        else:
            low = probe
    return min({low, middle, high}, key=lambda n: float_or_inf(f(n)))


def _bracket(f: Objective, first: int, last: int, guess: int) -> tuple[int, int, int]:
    """Orders low <= middle <= high with f(middle) no larger than at both, by growing steps."""
    low, middle, high = first, guess, guess
    if _below(f(first), f(middle)):
        low, middle, high = first, first, guess
    step = max(1, guess // 4)
    while high == middle < last:
        high = min(middle + step, last)
        if _below(f(high), f(middle)):
            low, middle = middle, high
            step *= 2
    return low, middle, high


def _hyperbola_bottom(f: Objective, low: int, middle: int, high: int) -> int | None:
    """The bottom of aλ + b + c/λ through three orders, the shape where K is nearly quadratic."""
    places = [order - 1 for order in (low, middle, high)]
    values = [float_or_inf(f(order)) for order in (low, middle, high)]
    if not low < middle < high or not all(map(math.isfinite, values)):
        return None
    (x, y, z), (p, q, r) = places, values
    # Divided differences of λ·f = aλ² + bλ + c give a, and then c.
    first, second = (q * y - p * x) / (y - x), (r * z - q * y) / (z - y)
    a = (second - first) / (z - x)
    c = p * x - first * x + a * x * y
    if a <= 0 or c <= 0:
        return None
    bottom = 1 + round(math.sqrt(c / a))
    return bottom if low < bottom < high else None


def _golden_probe(low: int, middle: int, high: int) -> int:
    """An order inside the wider part of a bracket."""
    wide = high - middle if high - middle >= middle - low else low - middle
    step = int(wide * _GOLDEN)
    return middle + (step or (1 if wide > 0 else -1))


def real_valley(f: Objective, low: Fraction, high: Fraction, width: Fraction) -> Fraction:
    """An order in [low, high] within about `width` of the bottom of f's valley (Brent's method).

    Orders are rounded to a power of two well below `width`.
    """
    grid = Fraction(1, 1 << (width.denominator // width.numerator).bit_length() + 4)
    best = second = third = _on_grid(low + _GOLDEN * (high - low), grid)
    values = {best: _middle(f(best))}
    step = before = high - low
    while max(best - low, high - best) > width:
        centre = (low + high) / 2
        before, step = step, _parabola_step(best, second, third, values)
        inside = low < best + step < high
        if not inside or abs(step) >= abs(before) / 2:
            before = (low if best >= centre else high) - best
            step = _GOLDEN * before
        if abs(step) < width / 4:
            step = width / 4 if step > 0 or (step == 0 and best < centre) else -width / 4
        probe = _on_grid(best + step, grid)
        values[probe] = _middle(f(probe))
        if values[probe] <= values[best]:
            low, high = (best, high) if probe > best else (low, best)
            best, second, third = probe, best, second
        else:
            low, high = (probe, high) if probe < best else (low, probe)
            if second == best or values[probe] <= values[second]:
                second, third = probe, second
            elif third in (best, second) or values[probe] <= values[third]:
                third = probe
    return best


def _parabola_step(
    a: Fraction, b: Fraction, c: Fraction, values: dict[Fraction, Fraction]
) -> Fraction:
    """The step from a to the bottom of the parabola through three points; 0 if there is none."""
    if len({a, b, c}) < 3:
        return Fraction(0)
    r = (a - b) * (values[a] - values[c])
    q = (a - c) * (values[a] - values[b])
    curvature = 2 * (q - r)
    if curvature == 0:
        return Fraction(0)
    return _short((((a - b) * r) - ((a - c) * q)) / curvature)


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


def float_or_inf(x: arb) -> float:
    """The midpoint for steering; ∞ where there is no finite value."""
    return float(x.mid()) if x.is_finite() else float("inf")


def _below(a: arb, b: arb) -> bool:
    """Is a smaller, as far as midpoints tell?"""
    if not a.is_finite():
        return False
    return not b.is_finite() or bool(a.mid() < b.mid())


def _middle(x: arb) -> Fraction:
    """The exact midpoint; a huge number where there is no finite value."""
    if not x.is_finite():
        return Fraction(1 << 4096)
    mantissa, power = x.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(power)


def _on_grid(x: Fraction, grid: Fraction) -> Fraction:
    return round(x / grid) * grid


def _short(x: Fraction) -> Fraction:
    """x to about 200 bits: a step need not carry the values' full fractions."""
    excess = x.denominator.bit_length() - 200 + max(0, x.numerator.bit_length() - 200)
    if excess <= 0:
        return x
    scale = 1 << max(0, x.denominator.bit_length() - x.numerator.bit_length() + 200)
    return Fraction(x.numerator * scale // x.denominator, scale)
