"""Sums of powers on a line and Chebyshev fits are certified."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from flint import acb, acb_mat, arb, arb_mat, ctx, fmpq

from symacct.kernel import deadline
from symacct.kernel.arithmetic.ball import acb_within
from symacct.profile.part import Floats, OrderLine, rounded_down

# --- power sums
#
# Sums of powers Σ_j w_j r_j^n for many n at once, as products of matrices of powers.
#
# Powers are formed by halving: rectangles would grow exponentially under repeated products.

#: A product of matrices has so many rows at most at once, so that the deadline is read between. It
#: costs time alone.
_ROWS = 256
#: The first product has so many, and tells how long all of them take. It steers the deadline.
_FIRST_ROWS = 64
#: Columns of one product: at least as many as flint's fast one takes. Powers times columns times
#: bits are at most so many that the product takes about half a second, for the time is looked at
#: between products.
_FEWEST_COLUMNS, _COLUMNS, _MOST_BITS = 128, 2048, 2**28
_I = acb(0, 1)


def powers(x: acb, count: int) -> list[acb]:
    """Compute x^0 … x^{count−1} by halving exponents."""
    powers_of_x = [acb(1), x]
    for n in range(2, count):
        powers_of_x.append(powers_of_x[n // 2] * powers_of_x[n - n // 2])
    return powers_of_x[:count]


def power_sums(weights: list[acb], ratios: list[acb], count: int) -> list[acb]:
    """Compute Σ_j w_j r_j^n for 0 <= n < count, for any complex numbers."""
    return _by_columns(_power_sums, weights, ratios, count)


def real_power_sums(weights: list[arb], angles: list[arb], first: int, last: int) -> list[acb]:
    """Compute Σ_j w_j e^{inθ_j} for first <= n <= last, all w_j and θ_j real."""
    turns = [acb(0, angle).exp() for angle in angles]
    if first:
        starts = [acb(0, angle * first).exp() for angle in angles]
        weighed = [w * start for w, start in zip(weights, starts, strict=True)]
        return _by_columns(_real_power_sums, weighed, turns, last - first + 1)
    return _by_columns(_real_power_sums, [acb(w) for w in weights], turns, last + 1)


def _by_columns(
    sums: Callable[[list[acb], list[acb], int, deadline.Outlook], list[acb]],
    weights: list[acb],
    ratios: list[acb],
    count: int,
) -> list[acb]:
    """Add up sums of powers over so many j at once as a matrix may have columns."""
    outlook = deadline.Outlook(len(ratios))
    columns = min(_COLUMNS, max(_FEWEST_COLUMNS, _MOST_BITS // (count * ctx.prec)))
    total = sums(weights[:columns], ratios[:columns], count, outlook)
    for first in range(columns, len(ratios), columns):
        part = slice(first, first + columns)
        column_sums = sums(weights[part], ratios[part], count, outlook)
        total = [x + y for x, y in zip(total, column_sums, strict=True)]
    return total


def _some_rows(rows: list[list[acb]], outlook: deadline.Outlook) -> Iterator[acb_mat]:
    """Yield the rows of a matrix, so many at once as one product takes, few of them first."""
    first, last = 0, _FIRST_ROWS
    while first < len(rows):
        some = rows[first:last]
        yield acb_mat(some)
        outlook.advance(len(some) / len(rows) * len(some[0]))
        first, last = last, last + _ROWS


def sums_on_a_line(weights: list[arb], losses: list[arb], line: OrderLine, error: arb) -> list[acb]:
    """Enclose Σ w e^{inhℓ} for each node n of a line, each within a disc of radius `error`.

    The weights hold e^{aℓ} already. Many terms are gathered where their losses lie close.
    """
    h, disc = arb(line.h), acb_within(error)
    if (cells := _cells_of(losses, line)) is not None:
        sums = _gathered(weights, losses, line, cells)
    else:
        sums = real_power_sums(weights, [h * loss for loss in losses], line.first, line.last)
    return [value + disc for value in sums]


def _power_sums(
    weights: list[acb], ratios: list[acb], count: int, outlook: deadline.Outlook
) -> list[acb]:
    """Compute Σ_j w_j r_j^n by one product of matrices: n = gs + m, rows g and columns m."""
    small = max(1, math.isqrt(count))
    steps = _columns(ratios, small + 1)
    rows = _weighed(weights, steps[small], -(-count // small))
    inner = acb_mat(steps[:small]).transpose()
    sums: list[acb] = []
    for some in _some_rows(rows, outlook):
        sums.extend((some * inner).entries())
    return sums[:count]


def _real_power_sums(
    weights: list[acb], turns: list[acb], count: int, outlook: deadline.Outlook
) -> list[acb]:
    """Compute Σ_j w_j e^{inθ_j} for 0 <= n < count and real θ_j, whose e^{iθ_j} are `turns`.

    n = gs + m ± i, 0 <= i <= m, s = 2m+1: products of real matrices serve both signs.
    """
    small = math.isqrt((count - 1) // 2)
    steps = _columns(turns, small + 2)
    stride = _times(steps[small], steps[small + 1])
    rows = _weighed(_times(weights, steps[small]), stride, -(-count // (2 * small + 1)))
    inner = acb_mat(steps[: small + 1]).transpose()
    cosines, sines = inner.real, inner.imag
    sums: list[acb] = []
    for some in _some_rows(rows, outlook):
        deadline.check()
        real, imag = some.real, some.imag
        even = acb_mat(real * cosines) + acb_mat(imag * cosines) * _I
        odd = acb_mat(imag * sines) - acb_mat(real * sines) * _I
        # Σ z e^{−iθ} and Σ z e^{iθ} of each row of z.
        for below, above in zip((even + odd).tolist(), (even - odd).tolist(), strict=True):
            sums += below[:0:-1] + above
    return sums[:count]


def _times(xs: list[acb], ys: list[acb]) -> list[acb]:
    """Multiply two lists number by number."""
    deadline.check()
    return [x * y for x, y in zip(xs, ys, strict=True)]


def _columns(ratios: list[acb], count: int) -> list[list[acb]]:
    """Compute the n-th powers of all the ratios, for 0 <= n < count, a column for each n."""
    columns = [[acb(1)] * len(ratios), ratios]
    for n in range(2, count):
        columns.append(_times(columns[n // 2], columns[n - n // 2]))
    return columns[:count]


def _weighed(weights: list[acb], ratios: list[acb], count: int) -> list[list[acb]]:
    """Compute the n-th powers of the ratios times the weights, for 0 <= n < count."""
    halves = _columns(ratios, count // 2 + 1)
    rows = [weights]
    for n in range(1, count):
        rows.append(_times(rows[n // 2], halves[n - n // 2]))
    return rows


# --- gathered terms
#
# Sums over many terms by the moments of the weights in cells, where losses lie close together.
#
# e^{itℓ} is Taylor's series about the middle of ℓ's cell, so a node sums over the cells and a few
# moments of each (docs/proofs/contours.md, Lemma gathered-terms).

#: At the farthest node e^{itℓ} turns over a cell by so many radians. What the moments leave out is
#: bounded: a wider cell takes more of them.
_TURN_OF_CELL = 1.0
#: Terms are gathered where there are so many of them for each moment of a cell: a moment takes part
#: of the time of a term, and so do the sums of fewer. It costs time alone.
_TERMS_FOR_A_MOMENT = 4


class Cells(NamedTuple):
    """Cells of losses have middles, the terms in their order, and where in it each cell ends.

    So many `moments` are taken of each; `ends` begins with 0.
    """

    middles: list[arb]
    order: list[int]
    ends: list[int]
    moments: int


def _cells_of(losses: list[arb], line: OrderLine) -> Cells | None:
    """Choose cells, with the moments that flint's precision takes; None where terms are too few."""
    places, far = np.array([float(loss.mid()) for loss in losses]), line.h * line.last
    if not far or not np.isfinite(places).all():
        return None
    width, low = rounded_down(_TURN_OF_CELL / far), rounded_down(float(places.min()))
    if not (float(places.max()) - low) / width < len(losses):
        return None
    numbers, cells = np.unique(np.floor((places - low) / width), return_inverse=True)
    moments, half = 1, _TURN_OF_CELL / 2
    while math.lgamma(moments + 1) - moments * math.log(half) < ctx.prec * math.log(2):
        moments += 1
    if _TERMS_FOR_A_MOMENT * moments * len(numbers) > len(losses):
        return None
    middles = [arb(low) + arb(width) * (arb(number) + arb(0.5)) for number in numbers.tolist()]
    ends = [0, *np.cumsum(np.bincount(cells)).tolist()]
    return Cells(middles, np.argsort(cells, kind="stable").tolist(), ends, moments)


# Proved in docs/proofs/contours.md, Lemma gathered-terms.
def _gathered(weights: list[arb], losses: list[arb], line: OrderLine, cells: Cells) -> list[acb]:
    """Enclose Σ w e^{itℓ} at t = nh by the cells' moments Σ w(ℓ − middle)^k."""
    h, spans = arb(line.h), list(itertools.pairwise(cells.ends))
    middles = [x for x, (i, j) in zip(cells.middles, spans, strict=True) for _ in range(i, j)]
    powers = [weights[i] for i in cells.order]
    away = [losses[i] - x for i, x in zip(cells.order, middles, strict=True)]
    turn = h * line.last * functools.reduce(arb.max, map(abs, away))
    left_out = sum(map(abs, powers), arb(0)) * turn**cells.moments
    disc = acb_within(left_out / math.factorial(cells.moments))
    angles, rows = [h * x for x in cells.middles], []
    for _ in range(cells.moments):
        deadline.check()
        sums = [sum(powers[i:j], arb(0)) for i, j in spans]
        rows.append(real_power_sums(sums, angles, line.first, line.last))
        powers = [x * y for x, y in zip(powers, away, strict=True)]
    values = []
    for n, row in zip(line.nodes, zip(*rows, strict=True), strict=True):
        value, it = acb(0), acb(0, h * n)
        for k in reversed(range(cells.moments)):
            value = row[k] + value * it / (k + 1)
        values.append(value + disc)
    return values


# --- Chebyshev fits
#
# Interpolation at Chebyshev's points.
#
# An ellipse with the foci ±1 and the half axes' sum ρ bounds the error (docs/proofs/losses.md,
# Lemma chebyshev).


def points(count: int) -> list[arb]:
    """Return the zeros of T_m, Chebyshev's points in (−1, 1), m = `count`, from the largest on."""
    return [arb.cos_pi_fmpq(fmpq(2 * j + 1, 2 * count)) for j in range(count)]


def shares(count: int) -> arb_mat:
    """Return the matrix from values at the points to coefficients: T_k(x_j)/m, twice for k > 0."""
    scales = [(arb(1 if k == 0 else 2) / count).sqrt() for k in range(count)]
    rows = arb_mat.dct(count).transpose().tolist()
    return arb_mat([[x * scale for x, scale in zip(row, scales, strict=True)] for row in rows])


def interpolation_error(most: arb, ratio: arb, count: int) -> arb:
    """Bound the error of interpolation at m points by 4Mρ^{1−m}/(ρ−1), ρ = `ratio` > 1.

    The function is analytic and at most M = `most` in the ellipse of the half axes' sum ρ.
    """
    return 4 * most * ratio ** (1 - count) / (ratio - 1)


def point_counts(log_most: Floats, ratios: Floats) -> Floats:
    """Estimate how many points leave an `interpolation_error` of 1, for M = e^{log_most}.

    For each of some ellipses; no whole numbers.
    """
    return np.asarray((log_most + np.log(4 * ratios / (ratios - 1))) / np.log(ratios))
