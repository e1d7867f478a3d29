"""Sums of powers Σ_j w_j r_j^n for many n at once, as products of matrices of powers.

Powers are formed by halving: rectangles would grow exponentially under repeated products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from flint import acb, acb_mat, arb, arb_mat

_ROWS = 256  # of a matrix product at once
_COLUMNS = 2048


def powers(x: acb, count: int) -> list[acb]:
    """x^0 … x^{count−1}."""
    found = [acb(1), x]
    for n in range(2, count):
        found.append(found[n // 2] * found[n - n // 2])
    return found[:count]


def power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    """Σ_j w_j r_j^n for 0 <= n < count, as products of matrices of powers; so many j at once."""
    sums: list[acb] = []
    for first in range(0, len(ratios), _COLUMNS):
        part = slice(first, first + _COLUMNS)
        found = _power_sums(weights[part], ratios[part], count)
        sums = [x + y for x, y in zip(sums, found, strict=True)] if sums else found
    return sums


def _power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    small = max(1, math.isqrt(count))
    steps = _columns(ratios, small + 1)
    giants = _columns(steps[small], -(-count // small))
    inner = acb_mat([list(row) for row in zip(*steps[:small], strict=True)])
    sums: list[acb] = []
    for first in range(0, len(giants), _ROWS):
        rows = [
            [w * g for w, g in zip(weights, giant, strict=True)]
            for giant in giants[first : first + _ROWS]
        ]
        sums.extend((acb_mat(rows) * inner).entries())
    return sums[:count]


def _columns(ratios: list[acb], count: int) -> list[list[acb]]:
    """The n-th powers of all the ratios, for 0 <= n < count."""
    found = [[acb(1)] * len(ratios), ratios]
    for n in range(2, count):
        half, rest = found[n // 2], found[n - n // 2]
        found.append([x * y for x, y in zip(half, rest, strict=True)])
    return found[:count]



def real_power_sums(weights: list[arb], turns: list[acb], count: int) -> list[acb]:
    """Σ_j w_j r_j^n for 0 <= n < count, real w_j and |r_j| = 1; so many j at once."""
    sums: list[acb] = []
    for first in range(0, len(turns), _COLUMNS):
        part = slice(first, first + _COLUMNS)
        found = _real_power_sums(weights[part], turns[part], count)
        sums = [x + y for x, y in zip(sums, found, strict=True)] if sums else found
    return sums


def _real_power_sums(weights: list[arb], turns: list[acb], count: int) -> list[acb]:
    """n = gs ± i, 0 <= i <= m, s = 2m+1: four real products give both signs."""
    small = math.isqrt(count // 2)
    steps = _columns(turns, small + 2)
    stride = [x * y for x, y in zip(steps[small], steps[small + 1], strict=True)]
    giants = _columns(stride, -(-(count + small) // (2 * small + 1)))
    inner = [[x.real for x in step] for step in steps[: small + 1]]
    inner += [[x.imag for x in step] for step in steps[: small + 1]]
    columns = arb_mat([list(row) for row in zip(*inner, strict=True)])
    sums: list[acb] = []
    for first in range(0, len(giants), _ROWS):
        for row in _real_products(weights, giants[first : first + _ROWS], columns):
            sums.extend(row)
    return sums[small : small + count]


def _real_products(
    weights: list[arb], giants: list[list[acb]], columns: arb_mat
) -> Iterator[list[acb]]:
    """The sums for n = gs − m … gs + m, for each g."""
    rows = [[w * x.real for w, x in zip(weights, giant, strict=True)] for giant in giants]
    rows += [[w * x.imag for w, x in zip(weights, giant, strict=True)] for giant in giants]
    found = (arb_mat(rows) * columns).tolist()
    half = columns.ncols() // 2
    for real, imag in zip(found[: len(giants)], found[len(giants) :], strict=True):
        cc, cs, sc, ss = real[:half], real[half:], imag[:half], imag[half:]
        below = [acb(p + q, r - s) for p, q, r, s in zip(cc, ss, sc, cs, strict=True)]
        above = [acb(p - q, r + s) for p, q, r, s in zip(cc, ss, sc, cs, strict=True)]
        yield below[:0:-1] + above
