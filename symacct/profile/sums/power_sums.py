"""Sums of powers Σ_j w_j r_j^n for many n at once, as products of matrices of powers.

Powers are formed by halving: rectangles would grow exponentially under repeated products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flint import acb, acb_mat, arb

from symacct.kernel import deadline
from symacct.kernel.sums.balls import acb_within
from symacct.profile.part import OrderLine

_ROWS = 256  # of a matrix product at once
_COLUMNS = 2048
_I = acb(0, 1)


def powers(x: acb, count: int) -> list[acb]:
    """x^0 … x^{count−1}."""
    found = [acb(1), x]
    for n in range(2, count):
        found.append(found[n // 2] * found[n - n // 2])
    return found[:count]


def power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    """Σ_j w_j r_j^n for 0 <= n < count; so many j at once."""
    return _by_columns(_power_sums, weights, ratios, count)


def real_power_sums(weights: list[arb], angles: list[arb], first: int, last: int) -> list[acb]:
    """Σ_j w_j e^{inθ_j} for first <= n <= last, all w_j and θ_j real; so many j at once."""
    turns = [acb(0, angle).exp() for angle in angles]
    if first:
        starts = [acb(0, angle * first).exp() for angle in angles]
        weighed = [w * start for w, start in zip(weights, starts, strict=True)]
        return _by_columns(_real_power_sums, weighed, turns, last - first + 1)
    return _by_columns(_real_power_sums, [acb(w) for w in weights], turns, last + 1)


def _by_columns(
    sums: Callable[[list[acb], list[acb], int], list[acb]],
    weights: list[acb],
    ratios: list[acb],
    count: int,
) -> list[acb]:
    total = sums(weights[:_COLUMNS], ratios[:_COLUMNS], count)
    for first in range(_COLUMNS, len(ratios), _COLUMNS):
        deadline.check()
        part = slice(first, first + _COLUMNS)
        found = sums(weights[part], ratios[part], count)
        total = [x + y for x, y in zip(total, found, strict=True)]
    return total


def sums_on_a_line(weights: list[arb], losses: list[arb], line: OrderLine, error: arb) -> list[acb]:
    """Σ w e^{inhℓ} for each node n of a line, with an error that may be as large as this."""
    h, disc = arb(line.h), acb_within(error)
    sums = real_power_sums(weights, [h * loss for loss in losses], line.first, line.last)
    return [value + disc for value in sums]


def _power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    small = max(1, math.isqrt(count))
    steps = _columns(ratios, small + 1)
    rows = _weighed(weights, steps[small], -(-count // small))
    inner = acb_mat(steps[:small]).transpose()
    sums: list[acb] = []
    for first in range(0, len(rows), _ROWS):
        sums.extend((acb_mat(rows[first : first + _ROWS]) * inner).entries())
    return sums[:count]


def _real_power_sums(weights: list[acb], turns: list[acb], count: int) -> list[acb]:
    """The n-th at n − m, n = gs + m ± i, 0 <= i <= m, s = 2m+1: real products give both signs."""
    small = math.isqrt((count - 1) // 2)
    steps = _columns(turns, small + 2)
    stride = _times(steps[small], steps[small + 1])
    rows = _weighed(_times(weights, steps[small]), stride, -(-count // (2 * small + 1)))
    inner = acb_mat(steps[: small + 1]).transpose()
    sums: list[acb] = []
    for first in range(0, len(rows), _ROWS):
        sums.extend(_both_signs(acb_mat(rows[first : first + _ROWS]), inner))
    return sums[:count]


def _both_signs(rows: acb_mat, columns: acb_mat) -> Iterator[acb]:
    """Σ z e^{−iθ} and Σ z e^{iθ} for each row of z, by products of real and imaginary parts."""
    deadline.check()
    real, imag, cosines, sines = rows.real, rows.imag, columns.real, columns.imag
    even = acb_mat(real * cosines) + acb_mat(imag * cosines) * _I
    odd = acb_mat(imag * sines) - acb_mat(real * sines) * _I
    for below, above in zip((even + odd).tolist(), (even - odd).tolist(), strict=True):
        yield from below[:0:-1]
        yield from above


def _times(xs: list[acb], ys: list[acb]) -> list[acb]:
    deadline.check()
    return [x * y for x, y in zip(xs, ys, strict=True)]


def _columns(ratios: list[acb], count: int) -> list[list[acb]]:
    """The n-th powers of all the ratios, for 0 <= n < count."""
    found = [[acb(1)] * len(ratios), ratios]
    for n in range(2, count):
        found.append(_times(found[n // 2], found[n - n // 2]))
    return found[:count]


def _weighed(weights: list[acb], ratios: list[acb], count: int) -> list[list[acb]]:
    """The powers of the ratios times the weights."""
    halves = _columns(ratios, count // 2 + 1)
    found = [weights]
    for n in range(1, count):
        found.append(_times(found[n // 2], halves[n - n // 2]))
    return found
