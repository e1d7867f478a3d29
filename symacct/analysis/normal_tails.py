"""Two normal laws have a hockey-stick divergence, and normal tails an array form."""

from __future__ import annotations

from functools import cache

import numpy as np
from flint import arb, ctx

from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import normal_tail
from symacct.kernel.arithmetic.float64 import Array

# --- the hockey-stick divergence
#
# The hockey-stick divergence of N(s, 1) from N(0, 1), and the ε at which it is δ.

#: The interval about a root is made four times as wide so often, before nothing is told of ε; each
#: end is proved. More take longer.
_WIDENINGS = 60


def hockey_stick(eps: arb, ratio: arb) -> arb:
    """δ = Φ(s/2 − ε/s) − e^ε Φ(−s/2 − ε/s) in a ball, s = `ratio` = Δ/σ > 0 (BW18), any real ε."""
    return normal_tail(eps / ratio - ratio / 2) - eps.exp() * normal_tail(eps / ratio + ratio / 2)


def hockey_stick_inverse(delta: arb, ratio: arb) -> arb:
    """The ε >= 0 in a ball at which the falling function `hockey_stick` is δ > 0.

    0 where δ(0) is proved to be at most δ; the whole line where no interval is proved.
    """
    if hockey_stick(arb(0), ratio) <= delta:
        return arb(0)
    eps = _solved(delta.mid(), ratio.mid())
    width = abs(eps) * arb(2) ** (8 - BALL.bits) + delta.rad() + ratio.rad()
    for _ in range(_WIDENINGS):
        low = (eps - width).max(arb(0))
        if hockey_stick(eps + width, ratio) <= delta and hockey_stick(low, ratio) >= delta:
            return low.union(eps + width)
        width *= 4
    return arb(0, "inf")


def _solved(delta: arb, ratio: arb) -> arb:
    """About the root, by doubling, bisection, then Newton steps on log δ: it steers."""
    high = ratio
    while hockey_stick(high, ratio).mid() > delta and high < arb(2) ** 60:
        deadline.check()
        high *= 2
    low = arb(0)
    for _ in range(40):
        middle = ((low + high) / 2).mid()
        if hockey_stick(middle, ratio).mid() > delta:
            low = middle
        else:
            high = middle
    eps = high.mid()
    for _ in range(20):
        value = hockey_stick(eps, ratio).mid()
        fall = (eps.exp() * normal_tail(eps / ratio + ratio / 2)).mid()
        step = (value * (value / delta).log() / fall).mid()
        if not step.is_finite():
            break
        eps = (eps + step).mid()
        if abs(step) <= abs(eps) * arb(2) ** (4 - BALL.bits):
            break
    return eps


# --- tails in float64
#
# Φ(−x) for arrays of floats, with a proved error: Taylor's polynomials about every 32nd.

#: Φ(−x) is taken for 0 beyond this x, in standard deviations, where it is below 2e−33. Lemma
#: float-tail rests on it, and so do the bounds of what `sampled_gaussian` leaves out beyond it.
FARTHEST_TAIL = 12.0
#: The proved relative error of `upper_tail` for x <= 12; it goes with the places and the degree.
#: Lemma float-tail proves it for these: a smaller one is unsound.
RELATIVE_ERROR = 64 * 2.0**-53
#: `FARTHEST_TAIL` as a whole number.
_FARTHEST = int(FARTHEST_TAIL)
#: Taylor's polynomials are about every 32nd, and of degree 12. `RELATIVE_ERROR` rests on both:
#: fewer places or a lower degree need a larger one.
_PLACES_PER_UNIT, _DEGREE = 32, 12
#: Bits of the balls that their coefficients are rounded from. `RELATIVE_ERROR` takes the
#: coefficients for correctly rounded: fewer than 100 may be unsound.
_TABLE_BITS = 128


def upper_tail(x: Array) -> Array:
    """Φ(−x) of an array without NaN, off by RELATIVE_ERROR of it at most; 0 for x > 12.

    For x < −12 it is Φ(12). See docs/proofs/grids.md, Lemma float-tail.
    """
    near = x <= _FARTHEST
    x = np.clip(x, -_FARTHEST, _FARTHEST)
    place = np.rint(_PLACES_PER_UNIT * x)
    beside = x - place / _PLACES_PER_UNIT
    rows = place.astype(np.int64) + _PLACES_PER_UNIT * _FARTHEST
    table = _table()
    tail = table[-1][rows]
    for coefficients in table[-2::-1]:
        tail = tail * beside + coefficients[rows]
    return np.where(near, tail, 0.0)


@cache
def _table() -> Array:
    """Taylor's coefficients of Φ(−x) at each place, those of one power in a row.

    Φ(−c) and (−1)^i He_{i−1}(c) φ(c)/i!, by He_{i+1}(c) = c·He_i(c) − i·He_{i−1}(c).
    """
    with ctx.workprec(_TABLE_BITS):
        rows = []
        for n in range(-_PLACES_PER_UNIT * _FARTHEST, _PLACES_PER_UNIT * _FARTHEST + 1):
            c = arb(n) / _PLACES_PER_UNIT
            row, before, hermite = [(c / arb(2).sqrt()).erfc() / 2], arb(0), arb(1)
            scale = (-c * c / 2).exp() / (2 * arb.pi()).sqrt()
            for i in range(1, _DEGREE + 1):
                scale = -scale / i
                row.append(scale * hermite)
                before, hermite = hermite, c * hermite - (i - 1) * before
            rows.append([float(x.mid()) for x in row])
    return np.array(rows).T.copy()
