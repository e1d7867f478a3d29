"""Φ(−x) for arrays of floats, with a proved error: Taylor's polynomials about every 32nd."""

from __future__ import annotations

from functools import cache

import numpy as np
from flint import arb, ctx

from symacct.arithmetic.float64 import Array

#: The x beyond which Φ(−x) is taken for 0.
FARTHEST_TAIL = 12.0
#: Of values from Φ(−12) on.
RELATIVE_ERROR = 64 * 2.0**-53
_FARTHEST, _PARTS, _DEGREE = int(FARTHEST_TAIL), 32, 12
_BITS = 128


def upper_tail(x: Array) -> Array:
    """Φ(−x), off by RELATIVE_ERROR of it at most (docs/proofs.md, section 45); 0 for x > 12."""
    near = x <= _FARTHEST
    x = np.clip(x, -_FARTHEST, _FARTHEST)
    place = np.rint(_PARTS * x)
    beside, rows = x - place / _PARTS, place.astype(np.int64) + _PARTS * _FARTHEST
    table = _table()
    found = table[-1][rows]
    for coefficients in table[-2::-1]:
        found = found * beside + coefficients[rows]
    return np.where(near, found, 0.0)


@cache
def _table() -> Array:
    """The coefficients at each place, those of one power in a row.

    Φ(−c) and (−1)^i He_{i−1}(c) φ(c)/i!, by He_{i+1}(c) = c·He_i(c) − i·He_{i−1}(c).
    """
    with ctx.workprec(_BITS):
        found = []
        for n in range(-_PARTS * _FARTHEST, _PARTS * _FARTHEST + 1):
            c = arb(n) / _PARTS
            row, before, hermite = [(c / arb(2).sqrt()).erfc() / 2], arb(0), arb(1)
            scale = (-c * c / 2).exp() / (2 * arb.pi()).sqrt()
            for i in range(1, _DEGREE + 1):
                scale = -scale / i
                row.append(scale * hermite)
                before, hermite = hermite, c * hermite - (i - 1) * before
            found.append([float(x.mid()) for x in row])
    return np.array(found).T.copy()
